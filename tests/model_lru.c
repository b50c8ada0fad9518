/* model_lru.c - lists of fingerprints as plain arrays; with keep=adaptive, leaders in three copies
 * that decide where the other lists insert.  lru.c has the rules. */
#include "model.h"
#include <stdlib.h>

enum { EXPERTS = 3, HIT = 1024 };

typedef struct lru {
    uint64_t buckets, leaders, tick;
    unsigned w, b;
    uint64_t *slot; /* b for each bucket, then b for each further copy of a leader; 0: empty */
    unsigned winner;
    int64_t score[EXPERTS], limit, lead, drift;
} lru;

static void make_duel(lru *t) {
    const double fpr = (double)t->b / (double)((UINT64_C(1) << t->w) - 1);
    const int64_t d = (int64_t)t->leaders;
    const bool often = fpr >= 0.01; /* false hits are as common as true ones in a small sample */
    t->limit = (often && d < 2 ? 8 : 4 * d) * HIT;
    t->lead = d * HIT / 4;
    if (t->lead < 3 * HIT / 2) t->lead = 3 * HIT / 2;
    if (often && t->lead < 2 * HIT) t->lead = 2 * HIT;
    for (unsigned e = 1; e < EXPERTS; e++) t->score[e] = -(d < 3 ? 3 : d) * HIT;
    t->drift = 1 + (int64_t)(256 * fpr + 0.5);
}

static void *make(const char *spec, uint64_t rng) {
    (void)rng;
    lru *const t = model_zeros(1, sizeof *t);
    t->w = (unsigned)model_int(spec, "print_bits");
    t->b = (unsigned)model_int(spec, "slots");
    t->buckets = model_int(spec, "cells") / t->b;
    if (model_is(spec, "keep", "adaptive") && t->buckets >= 64)
        t->leaders = t->buckets < 1536 ? 1 : t->buckets < 196608 ? t->buckets / 768 : 256;
    t->slot = model_zeros((t->buckets + t->leaders * (EXPERTS - 1)) * t->b, sizeof *t->slot);
    if (t->leaders > 0) make_duel(t);
    return t;
}

/* Expert e's copy of a list. */
static uint64_t *list_of(const lru *t, uint64_t hash, unsigned e) {
    const uint64_t i = model_scale(hash, t->buckets);
    if (i >= t->leaders || e == 0) return t->slot + i * t->b;
    return t->slot + (t->buckets + i * (EXPERTS - 1) + e - 1) * t->b;
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
    return find(list_of(t, hash, t->winner), t->b, print_of(t, hash)) < t->b;
}

/* Where expert e inserts into a full list. */
static unsigned insert_at(const lru *t, unsigned e, uint64_t hash) {
    const uint64_t coin = (hash + t->tick * 0x9e3779b97f4a7c15u) * 0xd1342543de82ef95u;
    if (e == 1) return (t->b - 1) * 6 / 10;
    return e == 2 && coin >= UINT64_C(1) << 59 ? t->b - 1 : 0;
}

static bool put(const lru *t, uint64_t hash, unsigned e) {
    uint64_t *const list = list_of(t, hash, e);
    const uint64_t print = print_of(t, hash);
    const unsigned at = find(list, t->b, print);
    const unsigned from = at < t->b ? at : t->b - 1;
    const unsigned to = at < t->b || list[t->b - 1] == 0 ? 0 : insert_at(t, e, hash);
    for (unsigned i = from; i > to; i--) list[i] = list[i - 1];
    list[to] = print;
    return at < t->b;
}

static void judge(lru *t, const bool *hit) {
    int64_t most = INT64_MIN;
    for (unsigned e = 0; e < EXPERTS; e++) {
        t->score[e] += (hit[e] ? HIT : 0) - (e > 0 ? t->drift : 0);
        if (t->score[e] > most) most = t->score[e];
    }
    for (unsigned e = 0; e < EXPERTS; e++) {
        t->score[e] -= most;
        if (t->score[e] < -t->limit) t->score[e] = -t->limit;
    }
    unsigned best = 0;
    while (t->score[best] != 0) best++;
    if (t->score[t->winner] + t->lead < 0) t->winner = best;
}

static bool add(void *twin, model_key key) {
    lru *const t = twin;
    bool hit[EXPERTS], seen;
    if (model_scale(key.hash, t->buckets) < t->leaders) {
        for (unsigned e = 0; e < EXPERTS; e++) hit[e] = put(t, key.hash, e);
        seen = hit[t->winner];
        judge(t, hit);
    } else {
        seen = put(t, key.hash, t->winner);
    }
    t->tick++;
    return seen;
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
