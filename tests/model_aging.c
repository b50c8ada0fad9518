/* model_aging.c - the filter of ages with a list for each cell of what came in which epoch. */
#include "model.h"
#include <stdlib.h>

typedef struct visit {
    uint64_t epoch, count;
} visit;

typedef struct cell {
    visit *visits;
    size_t n, cap;
} cell;

typedef struct aging {
    unsigned k;
    bool joins, conservative;
    uint64_t period, window, detail, cells, now;
    cell *cell;
} aging;

static void *make(const char *spec, uint64_t rng) {
    aging *const t = model_zeros(1, sizeof *t);
    (void)rng;
    t->k = (unsigned)model_int(spec, "k");
    t->joins = model_is(spec, "by", "poly");
    t->conservative = model_is(spec, "update", "conservative");
    t->period = model_int(spec, "period");
    t->window = model_int(spec, "epochs");
    t->detail = model_int(spec, "detail");
    t->cells = model_int(spec, "cells");
    t->cell = model_zeros(t->cells, sizeof *t->cell);
    return t;
}

static cell *cell_of(const aging *t, uint64_t hash, unsigned i) {
    const uint64_t first = t->cells * i / t->k, end = t->cells * (i + 1) / t->k;
    for (unsigned j = 0; j < i; j++) hash = hash * UINT64_C(0xd1342543de82ef95) + 1;
    return &t->cell[first + model_scale(hash, end - first)];
}

/* The last epoch of the bucket of an epoch: of the largest of 1, 2, 4, ... epochs, starting at a
 * multiple of its size, that is so old that it may be joined. */
static uint64_t last_of(const aging *t, uint64_t epoch) {
    uint64_t last = epoch;
    for (uint64_t size = 2; t->joins && t->detail * size < t->window; size *= 2) {
        const uint64_t end = epoch / size * size + size - 1;
        if (end > t->now || t->now - end < t->detail * size) break;
        last = end;
    }
    return last;
}

static uint64_t bucket_sum(const aging *t, const cell *c, uint64_t last) {
    uint64_t sum = 0;
    for (size_t i = c->n; i-- > 0;)
        if (last_of(t, c->visits[i].epoch) == last) sum += c->visits[i].count;
    return sum;
}

static uint64_t least(const aging *t, uint64_t hash, uint64_t last) {
    uint64_t m = UINT64_MAX;
    for (unsigned i = 0; i < t->k; i++) {
        const uint64_t sum = bucket_sum(t, cell_of(t, hash, i), last);
        if (sum < m) m = sum;
    }
    return m;
}

static bool test(const void *twin, uint64_t hash) {
    const aging *const t = twin;
    const cell *const c = cell_of(t, hash, 0);
    for (size_t i = c->n; i-- > 0;) {
        const uint64_t last = last_of(t, c->visits[i].epoch);
        if (t->now - last < t->window && least(t, hash, last) > 0) return true;
    }
    return false;
}

static visit *visit_now(const aging *t, cell *c) {
    if (c->n > 0 && c->visits[c->n - 1].epoch == t->now) return &c->visits[c->n - 1];
    if (c->n == c->cap) {
        c->cap = 2 * c->cap + 4;
        visit *const more = model_zeros(c->cap, sizeof *more);
        for (size_t i = 0; i < c->n; i++) more[i] = c->visits[i];
        free(c->visits);
        c->visits = more;
    }
    c->visits[c->n] = (visit){t->now, 0};
    return &c->visits[c->n++];
}

static bool add(void *twin, model_key key) {
    aging *const t = twin;
    t->now = key.time / t->period;
    const bool before = test(t, key.hash);
    const uint64_t goal = least(t, key.hash, t->now) + key.value;
    for (unsigned i = 0; i < t->k; i++) {
        visit *const v = visit_now(t, cell_of(t, key.hash, i));
        if (!t->conservative)
            v->count += key.value;
        else if (v->count < goal)
            v->count = goal;
    }
    return before;
}

static void drop(void *twin) {
    aging *const t = twin;
    for (uint64_t i = 0; i < t->cells; i++) free(t->cell[i].visits);
    free(t->cell);
    free(t);
}

const model_kind model_aging = {
    .name = "aging", .make = make, .add = add, .test = test, .free = drop};
