/* model_bloom.c - the Bloom filter with one int for each bit. */
#include "model.h"
#include <stdlib.h>

typedef struct bloom {
    unsigned k;
    uint64_t cells;
    bool parts;
    int *bit;
} bloom;

static void *make(const char *spec, uint64_t rng) {
    (void)rng;
    bloom *const t = model_zeros(1, sizeof *t);
    t->k = (unsigned)model_int(spec, "k");
    t->cells = model_int(spec, "cells");
    t->parts = model_is(spec, "layout", "parts");
    t->bit = model_zeros(t->cells, sizeof *t->bit);
    return t;
}

static uint64_t place(const bloom *t, uint64_t hash, unsigned i) {
    if (!t->parts) return model_position(hash, i, t->cells);
    const uint64_t part = t->cells / t->k;
    return i * part + model_position(hash, i, part);
}

static bool test(const void *twin, uint64_t hash) {
    const bloom *const t = twin;
    for (unsigned i = 0; i < t->k; i++)
        if (t->bit[place(t, hash, i)] == 0) return false;
    return true;
}

static bool add(void *twin, model_key key) {
    bloom *const t = twin;
    const bool seen = test(twin, key.hash);
    for (unsigned i = 0; i < t->k; i++) t->bit[place(t, key.hash, i)] = 1;
    return seen;
}

static uint64_t cell(const void *twin, uint64_t i) {
    return (uint64_t)((const bloom *)twin)->bit[i];
}

static void drop(void *twin) {
    free(((bloom *)twin)->bit);
    free(twin);
}

const model_kind model_bloom = {
    .name = "bloom", .make = make, .add = add, .test = test, .cell = cell, .free = drop};
