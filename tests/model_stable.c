/* model_stable.c - the Stable Bloom filter with one int for each cell. */
#include "model.h"
#include <stdlib.h>

enum { MILLION = 1000000 };

typedef struct stable {
    unsigned k;
    int top; /* what an arrival sets its cells to */
    uint64_t cells, p;
    enum { SWEEP, RUN, RANDOM } policy;
    int *cell;
    uint64_t rng, next, carried;
} stable;

static void *make(const char *spec, uint64_t rng) {
    stable *const t = model_zeros(1, sizeof *t);
    t->k = (unsigned)model_int(spec, "k");
    t->top = (1 << model_int(spec, "width")) - 1;
    t->cells = model_int(spec, "cells");
    t->p = model_millionths(spec, "p");
    t->policy = model_is(spec, "delete", "sweep") ? SWEEP
                : model_is(spec, "delete", "run") ? RUN
                                                  : RANDOM;
    t->cell = model_zeros(t->cells, sizeof *t->cell);
    t->rng = rng;
    return t;
}

static void take_one(stable *t, uint64_t i) {
    if (t->cell[i] > 0) t->cell[i]--;
}

/* P with its fraction rounded up as often as the fraction says. */
static uint64_t rounded(stable *t) {
    const uint64_t fraction = t->p % MILLION;
    if (fraction == 0) return t->p / MILLION;
    return t->p / MILLION + (model_below(&t->rng, MILLION) < fraction ? 1 : 0);
}

static void sweep(stable *t) {
    for (t->carried += t->p; t->carried >= MILLION; t->carried -= MILLION) {
        take_one(t, t->next);
        t->next = (t->next + 1) % t->cells;
    }
}

static void run(stable *t) {
    uint64_t i = model_below(&t->rng, t->cells);
    for (uint64_t n = rounded(t); n > 0; n--, i = (i + 1) % t->cells) take_one(t, i);
}

static void random_cells(stable *t) {
    for (uint64_t n = rounded(t); n > 0; n--) take_one(t, model_below(&t->rng, t->cells));
}

static bool test(const void *twin, uint64_t hash) {
    const stable *const t = twin;
    for (unsigned i = 0; i < t->k; i++)
        if (t->cell[model_position(hash, i, t->cells)] == 0) return false;
    return true;
}

static bool add(void *twin, model_key key) {
    stable *const t = twin;
    const bool seen = test(twin, key.hash);
    if (t->policy == SWEEP) sweep(t);
    if (t->policy == RUN) run(t);
    if (t->policy == RANDOM) random_cells(t);
    for (unsigned i = 0; i < t->k; i++) t->cell[model_position(key.hash, i, t->cells)] = t->top;
    return seen;
}

static uint64_t cell(const void *twin, uint64_t i) {
    return (uint64_t)((const stable *)twin)->cell[i];
}

static void drop(void *twin) {
    free(((stable *)twin)->cell);
    free(twin);
}

const model_kind model_stable = {"stable", make, add, test, cell, drop};
