/* model_lru.c - move-to-front lists as plain arrays of fingerprints. */
#include "model.h"
#include <stdlib.h>

typedef struct lru {
    uint64_t buckets;
    unsigned w, b;
    uint64_t *slot; /* b for each bucket, newest first, 0: empty */
} lru;

static void *make(const char *spec, uint64_t rng) {
    (void)rng;
    lru *const t = model_zeros(1, sizeof *t);
    t->w = (unsigned)model_int(spec, "w");
    t->b = (unsigned)model_int(spec, "b");
    t->buckets = model_int(spec, "cells") / t->b;
    t->slot = model_zeros(t->buckets * t->b, sizeof *t->slot);
    return t;
}

static uint64_t *list_of(const lru *t, uint64_t hash) {
    return t->slot + model_scale(hash, t->buckets) * t->b;
}

/* The low w + 8 bits of the hash, at most 32, scaled to 1..2^w-1. */
static uint64_t print_of(const lru *t, uint64_t hash) {
    const unsigned bits = t->w <= 24 ? t->w + 8 : 32;
    return 1 + model_scale(hash << (64 - bits), (UINT64_C(1) << t->w) - 1);
}

static unsigned find(const uint64_t *list, unsigned b, uint64_t print) { /* b: not there */
    unsigned i = 0;
    while (i < b && list[i] != print) i++;
    return i;
}

static bool test(const void *twin, uint64_t hash) {
    const lru *const t = twin;
    return find(list_of(t, hash), t->b, print_of(t, hash)) < t->b;
}

static bool add(void *twin, model_key key) {
    const lru *const t = twin;
    uint64_t *const list = list_of(t, key.hash);
    const uint64_t print = print_of(t, key.hash);
    const unsigned at = find(list, t->b, print);
    for (unsigned i = at < t->b ? at : t->b - 1; i > 0; i--) list[i] = list[i - 1];
    list[0] = print;
    return at < t->b;
}

static uint64_t cell(const void *twin, uint64_t i) {
    return ((const lru *)twin)->slot[i];
}

static void drop(void *twin) {
    free(((lru *)twin)->slot);
    free(twin);
}

const model_kind model_lru = {
    .name = "lru", .make = make, .add = add, .test = test, .cell = cell, .free = drop};
