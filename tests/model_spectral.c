/* model_spectral.c - the spectral Bloom filter with one plain number for each
 * counter. */
#include "model.h"
#include <stdlib.h>

typedef struct spectral {
    unsigned k;
    bool conservative;
    uint64_t cells, window, *counter;
} spectral;

static void *make(const char *spec, uint64_t rng) {
    spectral *const t = model_zeros(1, sizeof *t);
    (void)rng;
    t->k = (unsigned)model_int(spec, "k");
    t->conservative = model_is(spec, "policy", "mi");
    t->cells = model_int(spec, "cells");
    t->window = model_int(spec, "window");
    t->counter = model_zeros(t->cells, sizeof *t->counter);
    return t;
}

static uint64_t *counter_of(const spectral *t, uint64_t hash, unsigned i) {
    return &t->counter[model_counter(t->cells, t->window, t->k, hash, i)];
}

static uint64_t least(const spectral *t, uint64_t hash) {
    uint64_t m = UINT64_MAX;
    for (unsigned i = 0; i < t->k; i++)
        if (*counter_of(t, hash, i) < m) m = *counter_of(t, hash, i);
    return m;
}

static uint64_t count(const void *twin, uint64_t hash) {
    return least(twin, hash);
}

static bool test(const void *twin, uint64_t hash) {
    return least(twin, hash) > 0;
}

static bool add(void *twin, model_key key) {
    spectral *const t = twin;
    const uint64_t before = least(t, key.hash), goal = before + key.value;
    for (unsigned i = 0; i < t->k; i++) {
        uint64_t *const c = counter_of(t, key.hash, i);
        if (!t->conservative)
            *c += key.value;
        else if (*c < goal)
            *c = goal;
    }
    return before > 0;
}

static void take(void *twin, model_key key) {
    const spectral *const t = twin;
    for (unsigned i = 0; i < t->k; i++) *counter_of(t, key.hash, i) -= key.value;
}

static void drop(void *twin) {
    free(((spectral *)twin)->counter);
    free(twin);
}

const model_kind model_spectral = {.name = "spectral",
                                   .make = make,
                                   .add = add,
                                   .test = test,
                                   .free = drop,
                                   .count = count,
                                   .remove = take};
