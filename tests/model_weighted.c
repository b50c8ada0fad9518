/* model_weighted.c - the weighted Bloom filter with one bool for each bit, without
 * a hot list (an empty one names nobody) and with bits that stay as the spec says. */
#include "model.h"
#include <stdlib.h>

typedef struct weighted {
    uint64_t cells, k[8], fewest;
    bool hot, *bit;
} weighted;

static void *make(const char *spec, uint64_t rng) {
    weighted *const t = model_zeros(1, sizeof *t);
    (void)rng;
    t->cells = model_int(spec, "cells");
    t->hot = model_int(spec, "hot") > 0;
    t->fewest = 32;
    for (uint64_t i = 0; i < 8; i++) {
        t->k[i] = model_entry(spec, "class_bits", i);
        if (t->k[i] != 0 && t->k[i] < t->fewest) t->fewest = t->k[i];
    }
    t->bit = model_zeros(t->cells, sizeof *t->bit);
    return t;
}

static bool all_set(const weighted *t, uint64_t hash, uint64_t k) {
    for (unsigned i = 0; i < k; i++)
        if (!t->bit[model_position(hash, i, t->cells)]) return false;
    return true;
}

static bool test(const void *twin, uint64_t hash) {
    const weighted *const t = twin;
    return all_set(t, hash, t->hot ? t->k[0] : t->fewest);
}

static bool add(void *twin, model_key key) {
    weighted *const t = twin;
    const uint64_t k = t->k[t->hot ? 0 : key.value - 1];
    const bool seen = all_set(t, key.hash, k);
    for (unsigned i = 0; i < k; i++) t->bit[model_position(key.hash, i, t->cells)] = true;
    return seen;
}

static void drop(void *twin) {
    free(((weighted *)twin)->bit);
    free(twin);
}

const model_kind model_weighted = {
    .name = "weighted", .make = make, .add = add, .test = test, .free = drop};
