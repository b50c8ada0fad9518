/* model_stable.c - the Stable Bloom filter with one int for each cell. */
#include "model_fading.h"

static void *make(const char *spec, uint64_t rng) {
    return model_fading_new(spec, rng, sizeof(model_fading));
}

static bool add(void *twin, model_key key) {
    model_fading *const t = twin;
    const bool seen = model_fading_test(twin, key.hash);
    model_fading_arrival(t);
    for (unsigned i = 0; i < t->k; i++) t->cell[model_position(key.hash, i, t->cells)] = t->top;
    return seen;
}

const model_kind model_stable = {.name = "stable",
                                 .make = make,
                                 .add = add,
                                 .test = model_fading_test,
                                 .cell = model_fading_cell,
                                 .free = model_fading_free};
