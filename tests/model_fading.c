/* model_fading.c - cells that count down, slowly. */
#include "model_fading.h"
#include <stdlib.h>

enum { MILLION = 1000000 };

model_fading *model_fading_new(const char *spec, uint64_t rng, size_t size) {
    model_fading *const t = model_zeros(1, size);
    t->k = (unsigned)model_int(spec, "k");
    t->top = (1 << model_int(spec, "width")) - 1;
    t->cells = model_int(spec, "cells");
    t->p = model_millionths(spec, "fade");
    t->policy = model_is(spec, "delete", "sweep") ? SWEEP
                : model_is(spec, "delete", "run") ? RUN
                                                  : RANDOM;
    t->cell = model_zeros(t->cells, sizeof *t->cell);
    t->rng = rng;
    return t;
}

static void take_one(model_fading *t, uint64_t i) {
    if (t->cell[i] > 0) t->cell[i]--;
}

uint64_t model_fading_rounded(model_fading *t) {
    const uint64_t fraction = t->p % MILLION;
    if (fraction == 0) return t->p / MILLION;
    return t->p / MILLION + (model_below(&t->rng, MILLION) < fraction ? 1 : 0);
}

static void sweep(model_fading *t) {
    for (t->carried += t->p; t->carried >= MILLION; t->carried -= MILLION) {
        take_one(t, t->next);
        t->next = (t->next + 1) % t->cells;
    }
}

static void run(model_fading *t) {
    uint64_t i = model_below(&t->rng, t->cells);
    for (uint64_t n = model_fading_rounded(t); n > 0; n--, i = (i + 1) % t->cells) take_one(t, i);
}

static void random_cells(model_fading *t) {
    for (uint64_t n = model_fading_rounded(t); n > 0; n--)
        take_one(t, model_below(&t->rng, t->cells));
}

void model_fading_arrival(model_fading *t) {
    if (t->policy == SWEEP) sweep(t);
    if (t->policy == RUN) run(t);
    if (t->policy == RANDOM) random_cells(t);
}

bool model_fading_test(const void *twin, uint64_t hash) {
    const model_fading *const t = twin;
    for (unsigned i = 0; i < t->k; i++)
        if (t->cell[model_position(hash, i, t->cells)] == 0) return false;
    return true;
}

uint64_t model_fading_cell(const void *twin, uint64_t i) {
    return (uint64_t)((const model_fading *)twin)->cell[i];
}

void model_fading_free(void *twin) {
    free(((model_fading *)twin)->cell);
    free(twin);
}
