/* model_bits.c - rsbf, bsbf, bsbfsd and rlbsbf with one int for each bit, and the
 * sum of each part's. */
#include "model.h"
#include <stdlib.h>

enum { PROBES = 64 }; /* of rule=printed, before it gives up finding a set bit */

typedef struct bits {
    unsigned k;
    uint64_t size, records, rng, pstar; /* size: bits of a part; pstar in millionths */
    bool printed, text;
    int *bit;
    uint64_t load[32];
} bits;

static void *make(const char *spec, uint64_t rng) {
    bits *const t = model_zeros(1, sizeof *t);
    t->k = (unsigned)model_int(spec, "k");
    t->size = model_int(spec, "cells") / t->k;
    t->rng = rng;
    t->bit = model_zeros(t->size * t->k, sizeof *t->bit);
    return t;
}

static void *make_rsbf(const char *spec, uint64_t rng) {
    bits *const t = make(spec, rng);
    t->text = model_is(spec, "rule", "text");
    t->printed = t->text || model_is(spec, "rule", "printed");
    t->pstar = model_millionths(spec, "pstar");
    return t;
}

/* Where part j has the bit that belongs to a hash, or to a draw taken as one. */
static uint64_t place(const bits *t, uint64_t hash, unsigned j) {
    return j * t->size + model_position(hash, j, t->size);
}

static void put(bits *t, uint64_t at, int value) {
    if (t->bit[at] != value) t->load[at / t->size] += value ? 1 : UINT64_MAX;
    t->bit[at] = value;
}

static void put_all(bits *t, uint64_t hash, int value) {
    for (unsigned j = 0; j < t->k; j++) put(t, place(t, hash, j), value);
}

static bool test(const void *twin, uint64_t hash) {
    const bits *const t = twin;
    for (unsigned j = 0; j < t->k; j++)
        if (t->bit[place(t, hash, j)] == 0) return false;
    return true;
}

/* Algorithm 1, third phase */
static void swap(bits *t, uint64_t hash, uint64_t draw) {
    uint64_t own = draw;
    for (unsigned j = 0; j < t->k; j++) {
        uint64_t probe = place(t, draw, j);
        if (t->bit[place(t, hash, j)] == 1) continue;
        for (int tried = 1; t->bit[probe] == 0 && tried < PROBES && t->load[j] > 0; tried++)
            probe = j * t->size + model_below(&own, t->size);
        put(t, probe, 0);
        put(t, place(t, hash, j), 1);
    }
}

static void add_printed(bits *t, uint64_t hash, uint64_t draw) {
    uint64_t own = draw;
    if (t->records < t->size) {
        put_all(t, hash, 1);
    } else if (t->size * 1000000 <= t->pstar * t->records) {
        swap(t, hash, draw);
    } else if (model_below(&own, t->records) < t->size) {
        put_all(t, hash, 1);
        put_all(t, draw, 0);
    }
}

static bool add_rsbf(void *twin, model_key key) {
    bits *const t = twin;
    const bool seen = test(t, key.hash);
    const uint64_t draw = model_draw(&t->rng);
    t->records++;
    if (t->printed) {
        if (!seen || !t->text) add_printed(t, key.hash, draw);
    } else {
        put_all(t, draw, 0);
        put_all(t, key.hash, 1);
    }
    return seen;
}

static bool add_bsbf(void *twin, model_key key) {
    bits *const t = twin;
    const bool seen = test(t, key.hash);
    const uint64_t draw = model_draw(&t->rng);
    if (!seen) {
        put_all(t, draw, 0);
        put_all(t, key.hash, 1);
    }
    return seen;
}

static bool add_bsbfsd(void *twin, model_key key) {
    bits *const t = twin;
    const bool seen = test(t, key.hash);
    const uint64_t draw = model_draw(&t->rng);
    if (!seen) {
        const uint64_t part = model_position(draw, 0, t->k);
        put(t, part * t->size + model_position(draw, 1, t->size), 0);
        put_all(t, key.hash, 1);
    }
    return seen;
}

static bool add_rlbsbf(void *twin, model_key key) {
    bits *const t = twin;
    const bool seen = test(t, key.hash);
    const uint64_t draw = model_draw(&t->rng);
    uint64_t own = draw;
    for (unsigned j = 0; j < t->k && !seen; j++)
        if (model_below(&own, t->size) < t->load[j]) put(t, place(t, draw, j), 0);
    if (!seen) put_all(t, key.hash, 1);
    return seen;
}

static uint64_t cell(const void *twin, uint64_t i) {
    return (uint64_t)((const bits *)twin)->bit[i];
}

static void drop(void *twin) {
    free(((bits *)twin)->bit);
    free(twin);
}

const model_kind model_rsbf = {
    .name = "rsbf", .make = make_rsbf, .add = add_rsbf, .test = test, .cell = cell, .free = drop};
const model_kind model_bsbf = {
    .name = "bsbf", .make = make, .add = add_bsbf, .test = test, .cell = cell, .free = drop};
const model_kind model_bsbfsd = {
    .name = "bsbfsd", .make = make, .add = add_bsbfsd, .test = test, .cell = cell, .free = drop};
const model_kind model_rlbsbf = {
    .name = "rlbsbf", .make = make, .add = add_rlbsbf, .test = test, .cell = cell, .free = drop};
