/* model_decay.c - the time-decaying filter with one plain number for each counter,
 * all of which fade at the end of every era. */
#include "model.h"
#include <math.h>
#include <stdlib.h>

typedef struct decay {
    unsigned k, fraction, each;
    bool conservative, joins; /* joins: mode=era */
    uint64_t factor, period;  /* millionths */
    uint64_t lines, era;
    uint64_t *counter; /* 128 for each line; some are never used */
    unsigned *size;    /* mode=era: cells in the group of a cell: 1, 2, 4 or 8 */
    uint64_t power[65];
    bool still; /* fading changes nothing any more */
} decay;

static void *make(const char *spec, uint64_t rng) {
    decay *const t = model_zeros(1, sizeof *t);
    (void)rng;
    t->k = (unsigned)model_int(spec, "k");
    t->joins = model_is(spec, "mode", "era");
    t->fraction = t->joins ? 15 : (unsigned)model_int(spec, "fraction");
    t->conservative = model_is(spec, "update", "conservative");
    t->factor = model_millionths(spec, "factor");
    t->period = model_millionths(spec, "period");
    t->each = t->joins ? 56 : 15;
    t->lines = model_int(spec, "cells") / t->each;
    t->counter = model_zeros(128 * t->lines, sizeof *t->counter);
    t->size = model_zeros(128 * t->lines, sizeof *t->size);
    for (uint64_t i = 0; i < 128 * t->lines; i++) t->size[i] = 1;
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
    return (c * t->factor + 999999) / 1000000;
}

/* Counters that join: how many of the smallest units a group of so many cells counts in, and how
 * many of those it holds.  Every cell of a group has the group's value, in 2^-15 arrivals. */
static uint64_t grain(unsigned size) {
    return size == 1 ? 1 << 11 : size == 2 ? 1 << 7 : size == 4 ? 1 << 3 : 1;
}

static long double holds(unsigned size) {
    return exp2l(8.0L * size);
}

static uint64_t grains(uint64_t value, unsigned size) { /* rounded up */
    return value / grain(size) + (value % grain(size) > 0);
}

static uint64_t first_of(uint64_t place, unsigned size) {
    return place - place % size;
}

static void set_group(decay *t, uint64_t place, unsigned size, uint64_t value) {
    const uint64_t first = first_of(place, size);
    for (uint64_t i = first; i < first + size; i++) {
        t->size[i] = size;
        t->counter[i] = grains(value, size) * grain(size);
    }
}

static void put(decay *t, uint64_t place, uint64_t value) {
    if (!t->joins) {
        t->counter[place] = value;
        return;
    }
    unsigned size = t->size[place];
    while (size < 8 && (long double)grains(value, size) >= holds(size)) {
        uint64_t other = first_of(place, size) ^ size, end = other + size;
        while (other < end) {
            if (!t->conservative)
                value += t->counter[other];
            else if (t->counter[other] > value)
                value = t->counter[other];
            other += t->size[other];
        }
        size *= 2;
    }
    set_group(t, place, size, value);
}

/* A group is halved, and falls apart where half of the room is enough. */
static void fade_group(decay *t, uint64_t first) {
    const unsigned whole = t->size[first];
    unsigned size = whole;
    uint64_t value = (grains(t->counter[first], size) + 1) / 2 * grain(size);
    while (size > 1 && (long double)grains(value, size / 2) < holds(size / 2) / 2) size /= 2;
    if (grains(value, size) == 1) value = 0;
    for (uint64_t i = first; i < first + whole; i += size) set_group(t, i, size, value);
}

static void fade_groups(decay *t) {
    for (uint64_t i = 0; i < 128 * t->lines;) {
        const unsigned size = t->size[i];
        if (t->counter[i] > 0) t->still = false;
        fade_group(t, i);
        i += size;
    }
}

static void fade_to(decay *t, uint64_t era) {
    for (; t->era < era && !t->still; t->era++) {
        t->still = true;
        if (t->joins) {
            fade_groups(t);
            continue;
        }
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
    return t->joins ? m > 0 : faded(t, m) < m;
}

static uint64_t weight(const decay *t, uint64_t passed) {
    if (!t->joins) return UINT64_C(1) << t->fraction;
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
        const uint64_t place = place_of(t, key.hash, i);
        if (!t->conservative)
            put(t, place, t->counter[place] + more);
        else if (t->counter[place] < goal)
            put(t, place, goal);
    }
    t->still = false;
    return before;
}

static uint64_t cell(const void *twin, uint64_t place) {
    return ((const decay *)twin)->counter[place];
}

static void drop(void *twin) {
    free(((decay *)twin)->counter);
    free(((decay *)twin)->size);
    free(twin);
}

const model_kind model_decay = {
    .name = "decay", .make = make, .add = add, .test = test, .cell = cell, .free = drop};
