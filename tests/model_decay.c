/* model_decay.c - the time-decaying filter with one plain number for each counter,
 * all of which fade at the end of every era. */
#include "model.h"
#include <math.h>
#include <stdlib.h>

typedef struct decay {
    unsigned k, fraction, each;
    bool halves, conservative;
    uint64_t factor, period; /* millionths */
    uint64_t lines, era;
    uint64_t *counter; /* 128 for each line; some are never used */
    uint64_t power[65];
    bool still; /* fading changes nothing any more */
} decay;

static void *make(const char *spec, uint64_t rng) {
    decay *const t = model_zeros(1, sizeof *t);
    (void)rng;
    t->k = (unsigned)model_int(spec, "k");
    const bool packed = model_is(spec, "store", "packed");
    t->fraction = (unsigned)model_int(spec, "fraction") + (packed ? 4 : 0);
    t->halves = model_is(spec, "mode", "era");
    t->conservative = model_is(spec, "update", "conservative");
    t->factor = model_millionths(spec, "factor");
    t->period = model_millionths(spec, "period");
    const bool digits = model_is(spec, "mode", "optimised");
    t->each = packed ? 120 : 480 / (digits ? 32 : (unsigned)model_int(spec, "width"));
    t->lines = model_int(spec, "cells") / t->each;
    t->counter = model_zeros(128 * t->lines, sizeof *t->counter);
    for (int i = 0; i <= 64; i++) t->power[i] = (uint64_t)ceill(exp2l(i / 64.0L) * 4294967296.0L);
    return t;
}

static uint64_t place_of(const decay *t, uint64_t hash, unsigned i) {
    const uint64_t part = t->lines / t->k;
    for (unsigned j = 0; j < i; j++) hash = hash * UINT64_C(0xd1342543de82ef95) + 1;
    const uint64_t line = i * part + model_scale(hash, part);
    return 128 * line + model_scale(hash * part, t->each);
}

static uint64_t faded(const decay *t, uint64_t c) {
    if (t->halves) return c <= 2 ? 0 : c / 2 + c % 2;
    return (c * t->factor + 999999) / 1000000;
}

static void fade_to(decay *t, uint64_t era) {
    for (; t->era < era && !t->still; t->era++) {
        t->still = true;
        for (uint64_t i = 0; i < 128 * t->lines; i++) {
            const uint64_t less = faded(t, t->counter[i]);
            t->still = t->still && less == t->counter[i];
            t->counter[i] = less;
        }
    }
    t->era = era;
}

static uint64_t least(const decay *t, uint64_t hash) {
    uint64_t m = UINT64_MAX;
    for (unsigned i = 0; i < t->k; i++) {
        const uint64_t c = t->counter[place_of(t, hash, i)];
        if (c < m) m = c;
    }
    return m;
}

/* Counters that fading leaves as they are count nothing. */
static bool test(const void *twin, uint64_t hash) {
    const decay *const t = twin;
    const uint64_t m = least(t, hash);
    return t->halves ? m > 0 : faded(t, m) < m;
}

static uint64_t weight(const decay *t, uint64_t passed) {
    if (!t->halves) return UINT64_C(1) << t->fraction;
    uint64_t f = (uint64_t)((long double)passed / (long double)t->period * 1048576);
    f += f > 0;
    const uint64_t step = f / 16384, within = f % 16384;
    uint64_t power = t->power[step];
    if (within > 0) power += (t->power[step + 1] - power) * within / 16384 + 1;
    const uint64_t whole = power << t->fraction;
    return (whole >> 32) + ((whole & UINT32_MAX) > 0);
}

static bool add(void *twin, model_key key) {
    decay *const t = twin;
    const uint64_t ticks = key.time * 1000000; /* tests stay below 2^44 */
    fade_to(t, ticks / t->period);
    const bool before = test(t, key.hash);
    const uint64_t more = weight(t, ticks % t->period) * key.value;
    const uint64_t goal = least(t, key.hash) + more;
    for (unsigned i = 0; i < t->k; i++) {
        uint64_t *const c = &t->counter[place_of(t, key.hash, i)];
        if (!t->conservative)
            *c += more;
        else if (*c < goal)
            *c = goal;
    }
    t->still = false;
    return before;
}

static uint64_t cell(const void *twin, uint64_t place) {
    return ((const decay *)twin)->counter[place];
}

static void drop(void *twin) {
    free(((decay *)twin)->counter);
    free(twin);
}

const model_kind model_decay = {
    .name = "decay", .make = make, .add = add, .test = test, .cell = cell, .free = drop};
