/* p004_worlds.c - keys with known counts, and the orders in which they come. */
#include "paper_004.h"
#include <math.h>
#include <stdlib.h>

void p004_zipf(uint64_t *count, size_t keys, double records, double theta) {
    double sum = 0;
    for (size_t i = 1; i <= keys; i++) sum += pow((double)i, -theta);
    for (size_t i = 0; i < keys; i++)
        count[i] = (uint64_t)fmax(1, round(records / sum * pow((double)i + 1, -theta)));
}

static size_t world_give(p004_world *w, size_t at, size_t key, uint64_t times) {
    while (times-- > 0) w->order[at++] = (uint64_t)key;
    return at;
}

/* All of a key at once, the most frequent first. */
static void world_grouped(p004_world *w) {
    size_t at = 0;
    for (size_t i = 0; i < w->keys; i++) at = world_give(w, at, i, w->count[i]);
}

/* Rounds of all keys that still have something to give. */
static void world_round_robin(p004_world *w) {
    size_t at = 0;
    for (uint64_t round = 0; at < w->records; round++)
        for (size_t i = 0; i < w->keys; i++) at = world_give(w, at, i, round < w->count[i]);
}

/* Half of each key, then the other half in reverse. */
static void world_palindrome(p004_world *w) {
    size_t at = 0;
    for (size_t i = 0; i < w->keys; i++) at = world_give(w, at, i, w->count[i] - w->count[i] / 2);
    for (size_t i = w->keys; i-- > 0;) at = world_give(w, at, i, w->count[i] / 2);
}

static void world_mixed(p004_world *w) {
    world_grouped(w);
    for (size_t i = w->records; i > 1; i--) {
        const size_t j = lab_below(&w->random, i);
        const uint64_t other = w->order[j];
        w->order[j] = w->order[i - 1];
        w->order[i - 1] = other;
    }
}

p004_world p004_world_new(const uint64_t *count, size_t keys, p004_order order, uint64_t seed) {
    static void (*const fill[])(p004_world *) = {world_mixed, world_grouped, world_round_robin,
                                                 world_palindrome};
    p004_world w = {.keys = keys, .random = {lab_mix(seed)}};
    w.count = lab_alloc(keys, sizeof *w.count);
    w.now = lab_alloc(keys, sizeof *w.now);
    w.hash = lab_alloc(keys, sizeof *w.hash);
    for (size_t i = 0; i < keys; i++) {
        w.count[i] = count[i];
        w.records += count[i];
        w.hash[i] = lab_mix(lab_mix(~seed) + i);
    }
    w.order = lab_alloc(w.records, sizeof *w.order);
    fill[order](&w);
    return w;
}

void p004_world_free(p004_world *w) {
    free(w->count);
    free(w->now);
    free(w->hash);
    free(w->order);
}
