/* top.c - rivals that count the frequent keys.
 *
 * spacesaving: a table of keys with counts; a key that is not in it takes the place of the least,
 * and its count.  A key that is not in the table has at most the least count: that is the answer.
 * Kept as a heap with an index (linear probing); memory is 24 bytes a key, as if the index had two
 * places for each.
 *
 * heavykeeper: d rows of buckets with a 16-bit fingerprint and a count.  A key adds to buckets that
 * hold its fingerprint, and takes one from others with probability 1.08^-count; a bucket at 0 is
 * free.  The answer is the largest count among its own.  A bucket is counted as six bytes. */
#include "rivals.h"
#include <math.h>
#include <stdlib.h>

typedef struct saving_entry {
    uint64_t key;
    uint64_t count;
} saving_entry;

typedef struct saving {
    uint64_t room, used, slots; /* slots: of the index, a power of two */
    saving_entry *heap;         /* the least first */
    uint32_t *index;            /* place in the heap + 1, or 0 */
} saving;

static uint64_t saving_find(const saving *f, uint64_t key) { /* slot of the index */
    uint64_t i = lab_mix(key) & (f->slots - 1);
    while (f->index[i] && f->heap[f->index[i] - 1].key != key) i = (i + 1) & (f->slots - 1);
    return i;
}

/* Takes a slot out: later ones that would not be found any more move up. */
static void saving_forget(saving *f, uint64_t hole) {
    const uint64_t mask = f->slots - 1;
    f->index[hole] = 0;
    for (uint64_t i = (hole + 1) & mask; f->index[i]; i = (i + 1) & mask) {
        const uint64_t home = lab_mix(f->heap[f->index[i] - 1].key) & mask;
        if (((i - home) & mask) < ((i - hole) & mask)) continue;
        f->index[hole] = f->index[i];
        f->index[i] = 0;
        hole = i;
    }
}

static void saving_swap(saving *f, uint64_t a, uint64_t b) {
    const uint64_t slot_a = saving_find(f, f->heap[a].key), slot_b = saving_find(f, f->heap[b].key);
    const saving_entry e = f->heap[a];
    f->heap[a] = f->heap[b];
    f->heap[b] = e;
    f->index[slot_a] = (uint32_t)b + 1;
    f->index[slot_b] = (uint32_t)a + 1;
}

static void saving_sink(saving *f, uint64_t i) {
    for (;;) {
        uint64_t least = i;
        for (uint64_t c = 2 * i + 1; c <= 2 * i + 2 && c < f->used; c++)
            if (f->heap[c].count < f->heap[least].count) least = c;
        if (least == i) return;
        saving_swap(f, i, least);
        i = least;
    }
}

static void saving_rise(saving *f, uint64_t i) {
    for (; i > 0 && f->heap[i].count < f->heap[(i - 1) / 2].count; i = (i - 1) / 2)
        saving_swap(f, i, (i - 1) / 2);
}

static void saving_add(void *state, const eb_batch *b, uint8_t *seen) {
    saving *const f = state;
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t key = b->hash[i], slot = saving_find(f, key);
        seen[i] = f->index[slot] != 0;
        if (f->index[slot]) {
            f->heap[f->index[slot] - 1].count++;
            saving_sink(f, f->index[slot] - 1);
        } else if (f->used < f->room) {
            f->heap[f->used] = (saving_entry){key, 1};
            f->index[slot] = (uint32_t)++f->used;
            saving_rise(f, f->used - 1);
        } else {
            saving_forget(f, saving_find(f, f->heap[0].key));
            f->heap[0] = (saving_entry){key, f->heap[0].count + 1};
            f->index[saving_find(f, key)] = 1;
            saving_sink(f, 0);
        }
    }
}

static void saving_count(const void *state, const uint64_t *hash, size_t n, double *count) {
    const saving *const f = state;
    for (size_t i = 0; i < n; i++) {
        const uint32_t at = f->index[saving_find(f, hash[i])];
        count[i] = at                   ? (double)f->heap[at - 1].count
                   : f->used == f->room ? (double)f->heap[0].count
                                        : 0;
    }
}

static void saving_free(void *state) {
    free(((saving *)state)->heap);
    free(((saving *)state)->index);
    free(state);
}

lab_subject rival_space_saving(const rival_spec *s) {
    saving *const f = lab_alloc(1, sizeof *f);
    const uint64_t each = sizeof *f->heap + 2 * sizeof *f->index;
    f->room = s->memory / each;
    f->slots = 2;
    while (f->slots < f->room + f->room / 2) f->slots *= 2;
    f->heap = lab_alloc(f->room, sizeof *f->heap);
    f->index = lab_alloc(f->slots, sizeof *f->index);
    return (lab_subject){.state = f,
                         .add = saving_add,
                         .count = saving_count,
                         .release = saving_free,
                         .bytes = f->room * each};
}

typedef struct keeper_bucket {
    uint16_t print;
    uint32_t count;
} keeper_bucket;

typedef struct keeper {
    unsigned d;
    uint64_t width;
    lab_rng rng;
    keeper_bucket *bucket;
} keeper;

enum { KEEPER_BYTES = 6 };

static keeper_bucket *keeper_at(const keeper *f, unsigned row, uint64_t hash) {
    lab_rng r = {hash ^ lab_mix(row + 1)};
    return f->bucket + row * f->width + lab_below(&r, f->width);
}

static uint64_t keeper_count_of(const keeper *f, uint64_t hash) {
    uint64_t most = 0;
    for (unsigned row = 0; row < f->d; row++) {
        const keeper_bucket *const b = keeper_at(f, row, hash);
        if (b->count > most && b->print == (uint16_t)hash) most = b->count;
    }
    return most;
}

static void keeper_put(keeper *f, keeper_bucket *b, uint16_t print) {
    if (b->count > 0 && b->print == print) {
        b->count++;
    } else if (b->count == 0 || lab_unit(&f->rng) < pow(1.08, -(double)b->count)) {
        if (b->count > 1)
            b->count--;
        else
            *b = (keeper_bucket){print, 1};
    }
}

static void keeper_add(void *state, const eb_batch *b, uint8_t *seen) {
    keeper *const f = state;
    for (size_t i = 0; i < b->n; i++) {
        seen[i] = keeper_count_of(f, b->hash[i]) > 0;
        for (unsigned row = 0; row < f->d; row++)
            keeper_put(f, keeper_at(f, row, b->hash[i]), (uint16_t)b->hash[i]);
    }
}

static void keeper_count(const void *state, const uint64_t *hash, size_t n, double *count) {
    for (size_t i = 0; i < n; i++) count[i] = (double)keeper_count_of(state, hash[i]);
}

static void keeper_free(void *state) {
    free(((keeper *)state)->bucket);
    free(state);
}

lab_subject rival_heavy_keeper(const rival_spec *s) {
    keeper *const f = lab_alloc(1, sizeof *f);
    f->d = (unsigned)rival_option(s, "d", 2, 1, 8);
    f->width = s->memory / KEEPER_BYTES / f->d;
    f->rng.state = s->seed;
    f->bucket = lab_alloc(f->width * f->d, sizeof *f->bucket);
    return (lab_subject){.state = f,
                         .add = keeper_add,
                         .count = keeper_count,
                         .release = keeper_free,
                         .bytes = f->width * f->d * KEEPER_BYTES};
}
