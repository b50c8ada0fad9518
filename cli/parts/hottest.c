/* hottest.c - see hottest.h: a heap of ranks and a table of hashes over the same keys. */
#include "hottest.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void hottest_open(hottest *h, size_t room) {
    *h = (hottest){.room = room, .n_slots = 2 * room + 1, .watermark = -INFINITY};
    h->keys = cli_alloc(room * sizeof *h->keys);
    h->heap = cli_alloc(room * sizeof *h->heap);
    h->slots = cli_alloc(h->n_slots * sizeof *h->slots);
    memset(h->keys, 0, room * sizeof *h->keys);
    memset(h->slots, 0, h->n_slots * sizeof *h->slots);
}

void hottest_close(hottest *h) {
    for (size_t i = 0; i < h->n; i++) free(h->keys[i].bytes);
    free(h->keys);
    free(h->heap);
    free(h->slots);
    *h = (hottest){0};
}

/* ---- Hashes. */

static size_t home(const hottest *h, eb_hash hash) {
    return (size_t)(hash % h->n_slots);
}

static size_t after(const hottest *h, size_t slot) {
    return slot + 1 == h->n_slots ? 0 : slot + 1;
}

/* The slot of a hash, or the empty one that ends the search. */
static size_t find(const hottest *h, eb_hash hash) {
    size_t slot = home(h, hash);
    while (h->slots[slot] && h->keys[h->slots[slot] - 1].hash != hash) slot = after(h, slot);
    return slot;
}

/* Empties a slot; later ones of the same run move back, so that searches still find them. */
static void empty(hottest *h, size_t hole) {
    for (size_t at = after(h, hole); h->slots[at]; at = after(h, at)) {
        const size_t wanted = home(h, h->keys[h->slots[at] - 1].hash);
        const size_t from_wanted = (at + h->n_slots - wanted) % h->n_slots;
        const size_t from_hole = (at + h->n_slots - hole) % h->n_slots;
        if (from_wanted < from_hole) continue;
        h->slots[hole] = h->slots[at];
        hole = at;
    }
    h->slots[hole] = 0;
}

/* ---- Ranks. */

static void put(hottest *h, size_t at, size_t key) {
    h->heap[at] = key;
    h->keys[key].at = at;
}

static void sink(hottest *h, size_t at) {
    const size_t key = h->heap[at];
    for (size_t child; (child = 2 * at + 1) < h->n; at = child) {
        if (child + 1 < h->n && h->keys[h->heap[child + 1]].rank < h->keys[h->heap[child]].rank)
            child++;
        if (h->keys[h->heap[child]].rank >= h->keys[key].rank) break;
        put(h, at, h->heap[child]);
    }
    put(h, at, key);
}

static void rise(hottest *h, size_t at) {
    const size_t key = h->heap[at];
    for (; at > 0 && h->keys[h->heap[(at - 1) / 2]].rank > h->keys[key].rank; at = (at - 1) / 2)
        put(h, at, h->heap[(at - 1) / 2]);
    put(h, at, key);
}

void hottest_rank_again(hottest *h, const double *rank) {
    for (size_t i = 0; i < h->n; i++) h->keys[i].rank = rank[i];
    for (size_t at = h->n / 2; at-- > 0;) sink(h, at);
}

/* ---- Marks. */

void hot_marks_open(hot_marks *m, uint64_t life) {
    *m = (hot_marks){.span = life / (HOT_MARKS - 1) + 1};
}

void hot_marks_put(hot_marks *m, uint64_t time, double count) {
    const uint64_t now = time / m->span;
    if (now - m->newest >= HOT_MARKS)
        memset(m->most, 0, sizeof m->most);
    else
        for (uint64_t i = m->newest; i++ < now;) m->most[i % HOT_MARKS] = 0;
    m->newest = now;
    m->most[now % HOT_MARKS] = fmax(m->most[now % HOT_MARKS], count);
}

double hot_marks_most(const hot_marks *m, uint64_t time) {
    const uint64_t now = time / m->span;
    double most = 0;
    for (uint64_t i = 0; i < HOT_MARKS && i <= m->newest; i++)
        if (now - (m->newest - i) < HOT_MARKS)
            most = fmax(most, m->most[(m->newest - i) % HOT_MARKS]);
    return most;
}

/* ---- Keys. */

static void write_key(hottest *h, size_t number, eb_hash hash, eb_key key, double rank) {
    hot_key *const k = &h->keys[number];
    k->hash = hash;
    k->rank = rank;
    k->bytes = cli_grow(k->bytes, &k->cap, key.len + 1);
    memcpy(k->bytes, key.p, key.len);
    k->len = key.len;
    h->slots[find(h, hash)] = number + 1;
}

void hottest_offer(hottest *h, eb_hash hash, eb_key key, double rank) {
    const size_t found = h->slots[find(h, hash)];
    if (found) {
        hot_key *const k = &h->keys[found - 1];
        k->rank = rank;
        rise(h, k->at);
        sink(h, k->at);
    } else if (h->n < h->room) {
        write_key(h, h->n, hash, key, rank);
        put(h, h->n, h->n);
        rise(h, h->n++);
    } else if (rank <= h->keys[h->heap[0]].rank) {
        h->watermark = fmax(h->watermark, rank);
    } else {
        const size_t least = h->heap[0];
        h->watermark = fmax(h->watermark, h->keys[least].rank);
        empty(h, find(h, h->keys[least].hash));
        write_key(h, least, hash, key, rank);
        sink(h, 0);
    }
}
