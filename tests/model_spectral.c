/* model_spectral.c - the spectral Bloom filter with one plain number for each
 * counter; or, with store=wide, with the slow twin of that store. */
#include "model.h"
#include "model_wide.h"
#include <stdlib.h>

typedef struct spectral {
    unsigned k;
    bool conservative;
    uint64_t cells, window, *counter;
    wide_twin *wide; /* or NULL */
} spectral;

static void *make(const char *spec, uint64_t rng) {
    spectral *const t = model_zeros(1, sizeof *t);
    (void)rng;
    t->k = (unsigned)model_int(spec, "k");
    t->conservative = model_is(spec, "update", "conservative");
    t->cells = model_int(spec, "cells");
    t->window = model_int(spec, "span");
    t->counter = model_zeros(t->cells, sizeof *t->counter);
    if (model_is(spec, "store", "wide")) t->wide = twin_new(t->cells, !t->conservative);
    return t;
}

static uint64_t place_of(const spectral *t, uint64_t hash, unsigned i) {
    return model_counter(t->cells, t->window, t->k, hash, i);
}

static uint64_t *counter_of(const spectral *t, uint64_t hash, unsigned i) {
    return &t->counter[place_of(t, hash, i)];
}

static uint64_t least(const spectral *t, uint64_t hash) {
    uint64_t m = UINT64_MAX;
    for (unsigned i = 0; i < t->k; i++) {
        const uint64_t c =
            t->wide ? twin_get(t->wide, place_of(t, hash, i)) : *counter_of(t, hash, i);
        if (c < m) m = c;
    }
    return m;
}

static void add_wide(const spectral *t, model_key key) {
    uint64_t at[16];
    for (unsigned i = 0; i < t->k; i++) at[i] = place_of(t, key.hash, i);
    (t->conservative ? twin_lift : twin_raise)(t->wide, at, t->k, key.value);
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
    if (t->wide) add_wide(t, key);
    for (unsigned i = 0; i < t->k && !t->wide; i++) {
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
    for (unsigned i = 0; i < t->k && !t->wide; i++) *counter_of(t, key.hash, i) -= key.value;
    for (unsigned i = 0; i < t->k && t->wide; i++)
        twin_sub(t->wide, place_of(t, key.hash, i), key.value);
}

static void drop(void *twin) {
    free(((spectral *)twin)->counter);
    twin_free(((spectral *)twin)->wide);
    free(twin);
}

const model_kind model_spectral = {.name = "spectral",
                                   .make = make,
                                   .add = add,
                                   .test = test,
                                   .free = drop,
                                   .count = count,
                                   .remove = take};
