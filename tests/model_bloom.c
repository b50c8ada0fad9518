/* model_bloom.c - the Bloom filter with one int for each bit; growing filters as a list of them. */
#include "model.h"
#include <stdlib.h>

typedef struct bloom { /* one filter, or one part of a growing one */
    unsigned k;
    uint64_t cells, array; /* array: of a position */
    bool parts, line;
    uint64_t limit, grow, keys; /* limit 0: none; keys that were new to it */
    uint64_t hash_times;        /* what a hash is multiplied with */
    int *bit;
    unsigned number; /* among the parts */
    struct bloom *next;
} bloom;

static void *make(const char *spec, uint64_t rng) {
    (void)rng;
    bloom *const t = model_zeros(1, sizeof *t);
    t->k = (unsigned)model_int(spec, "k");
    t->cells = model_int(spec, "cells");
    t->array = t->cells / t->k;
    t->parts = model_is(spec, "layout", "parts");
    t->line = model_is(spec, "layout", "line");
    t->limit = model_int_or_0(spec, "limit");
    t->grow = model_int_or_0(spec, "grow");
    t->hash_times = 1;
    t->bit = model_zeros(t->cells, sizeof *t->bit);
    return t;
}

static bloom *after(const bloom *t) {
    bloom *const next = model_zeros(1, sizeof *next);
    *next = *t;
    next->number++;
    /* k, k + 1, k + 2, k + 2, then four times k + 3, eight times k + 4...; lines twice as many. */
    if ((next->number & t->number) == 0) next->k += t->line ? 2 : 1;
    next->array = t->array * t->grow;
    next->cells = next->array * next->k;
    if (t->line) next->cells = (next->cells + 511) / 512 * 512;
    next->limit = t->limit * t->grow;
    next->keys = 0;
    next->hash_times = t->hash_times * UINT64_C(0x9e3779b97f4a7c15);
    next->bit = model_zeros(next->cells, sizeof *next->bit);
    return next;
}

static uint64_t place(const bloom *t, uint64_t hash, unsigned i) {
    hash *= t->hash_times;
    if (t->line)
        return 512 * model_position(hash, 0, t->cells / 512) + model_position(hash, i + 1, 512);
    if (!t->parts) return model_position(hash, i, t->cells);
    const uint64_t part = t->cells / t->k;
    return i * part + model_position(hash, i, part);
}

static bool has(const bloom *t, uint64_t hash) {
    for (unsigned i = 0; i < t->k; i++)
        if (t->bit[place(t, hash, i)] == 0) return false;
    return true;
}

static bool test(const void *twin, uint64_t hash) {
    for (const bloom *t = twin; t; t = t->next)
        if (has(t, hash)) return true;
    return false;
}

static bool add(void *twin, model_key key) {
    bloom *t = twin;
    if (test(twin, key.hash)) return true;
    while (t->next) t = t->next;
    if (t->grow > 0 && t->keys == t->limit) t = t->next = after(t);
    t->keys++;
    for (unsigned i = 0; i < t->k; i++) t->bit[place(t, key.hash, i)] = 1;
    return false;
}

static uint64_t cell(const void *twin, uint64_t i) { /* of the first part */
    return (uint64_t)((const bloom *)twin)->bit[i];
}

static void drop(void *twin) {
    for (bloom *t = twin, *next; t; t = next) {
        next = t->next;
        free(t->bit);
        free(t);
    }
}

const model_kind model_bloom = {
    .name = "bloom", .make = make, .add = add, .test = test, .cell = cell, .free = drop};
