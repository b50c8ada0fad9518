/* model_lru.c - lists of fingerprints as plain arrays; with keep=adaptive, leaders in three copies
 * that decide where the other lists insert; with keep=important in five, and where depends on how
 * many keys are less important.  lru.c has the rules. */
#include "model.h"
#include <math.h>
#include <stdlib.h>

enum { EXPERTS = 5, CLASSES = 16, HIT = 1024 };

typedef struct lru {
    uint64_t buckets, leaders, tick;
    unsigned w, b;
    uint64_t *slot; /* b for each bucket, then b for each further copy of a leader; 0: empty */
    bool ranked;
    uint64_t low, high, met[CLASSES], counted; /* importance */
    double rank[CLASSES];                      /* whole sixteenths */
    unsigned experts, home, winner;
    int64_t score[EXPERTS], limit, lead, drift;
} lru;

static void make_duel(lru *t) {
    const double fpr = (double)t->b / (double)((UINT64_C(1) << t->w) - 1);
    const int64_t d = (int64_t)t->leaders;
    const bool often = fpr >= 0.01; /* false hits are as common as true ones in a small sample */
    t->limit = (d < 2 ? 8 : 4 * d) * HIT;
    t->lead = d * HIT / 4;
    if (t->lead < 3 * HIT / 2) t->lead = 3 * HIT / 2;
    if (often && t->lead < 2 * HIT) t->lead = 2 * HIT;
    if (d == 1) t->lead = 3 * HIT;
    for (unsigned e = 1; e < t->experts && !t->ranked; e++) t->score[e] = -(d < 3 ? 3 : d) * HIT;
    t->drift = 1 + (int64_t)(256 * fpr + 0.5);
}

static void *make(const char *spec, uint64_t rng) {
    (void)rng;
    lru *const t = model_zeros(1, sizeof *t);
    t->w = (unsigned)model_int(spec, "print_bits");
    t->b = (unsigned)model_int(spec, "slots");
    t->buckets = model_int(spec, "cells") / t->b;
    t->ranked = model_is(spec, "keep", "important");
    t->experts = t->ranked ? 5 : 3;
    t->home = t->winner = t->ranked ? 1 : 0;
    if (model_is(spec, "keep", "adaptive") && t->buckets >= 64)
        t->leaders = t->buckets < 1536 ? 1 : t->buckets < 196608 ? t->buckets / 768 : 256;
    if (t->ranked) {
        t->leaders = t->buckets < 768 ? 1 : t->buckets < 98304 ? t->buckets / 384 : 256;
        t->low = model_int(spec, "low");
        t->high = model_int(spec, "high");
        for (unsigned c = 0; c < CLASSES; c++) t->rank[c] = c;
    }
    t->slot = model_zeros((t->buckets + t->leaders * (t->experts - 1)) * t->b, sizeof *t->slot);
    if (t->leaders > 0) make_duel(t);
    return t;
}

/* Expert e's copy of a list. */
static uint64_t *list_of(const lru *t, uint64_t hash, unsigned e) {
    const uint64_t i = model_scale(hash, t->buckets);
    if (i >= t->leaders || e == 0) return t->slot + i * t->b;
    return t->slot + (t->buckets + i * (t->experts - 1) + e - 1) * t->b;
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

static unsigned class_of(const lru *t, uint64_t value) {
    return (unsigned)((value - t->low) * CLASSES / (t->high - t->low + 1));
}

/* Where expert e inserts into a full list. */
static unsigned insert_at(const lru *t, unsigned e, uint64_t hash, uint64_t value) {
    const uint64_t coin = (hash + t->tick * 0x9e3779b97f4a7c15u) * 0xd1342543de82ef95u;
    if (t->ranked) {
        const unsigned rank = (unsigned)t->rank[class_of(t, value)], last = t->b - 1;
        if (e == 4) return rank >= 12 || coin < UINT64_C(1) << 59 ? 0 : last;
        const unsigned tenths[] = {0, 3, 6, 10};
        return last * tenths[e] * (16 - rank) / 160;
    }
    if (e == 1) return (t->b - 1) * 6 / 10;
    return e == 2 && coin >= UINT64_C(1) << 59 ? t->b - 1 : 0;
}

static bool put(const lru *t, uint64_t hash, uint64_t value, unsigned e) {
    uint64_t *const list = list_of(t, hash, e);
    const uint64_t print = print_of(t, hash);
    const unsigned at = find(list, t->b, print);
    const unsigned from = at < t->b ? at : t->b - 1;
    const unsigned to = at < t->b || list[t->b - 1] == 0 ? 0 : insert_at(t, e, hash, value);
    for (unsigned i = from; i > to; i--) list[i] = list[i - 1];
    list[to] = print;
    return at < t->b;
}

static void judge(lru *t, const bool *hit, int64_t worth) {
    int64_t most = INT64_MIN;
    for (unsigned e = 0; e < t->experts; e++) {
        t->score[e] += (hit[e] ? worth : 0) - (e != t->home ? t->drift : 0);
        if (t->score[e] > most) most = t->score[e];
    }
    for (unsigned e = 0; e < t->experts; e++) {
        t->score[e] -= most;
        if (t->score[e] < -t->limit) t->score[e] = -t->limit;
    }
    unsigned best = 0;
    while (t->score[best] != 0) best++;
    if (t->score[t->winner] + t->lead < 0) t->winner = best;
}

/* Every 256 keys at leaders, how many are less important than the middle of a class. */
static void learn(lru *t, uint64_t value) {
    uint64_t all = 0, below = 0;
    t->met[class_of(t, value)]++;
    if (++t->counted < 256) return;
    t->counted = 0;
    for (unsigned c = 0; c < CLASSES; c++) all += t->met[c];
    for (unsigned c = 0; c < CLASSES; c++) {
        t->rank[c] = floor(16 * ((double)below + (double)t->met[c] / 2) / (double)all);
        below += t->met[c];
        if (all > 32768) t->met[c] /= 2;
    }
}

static bool add(void *twin, model_key key) {
    lru *const t = twin;
    bool hit[EXPERTS] = {false}, seen;
    if (model_scale(key.hash, t->buckets) < t->leaders) {
        for (unsigned e = 0; e < t->experts; e++) hit[e] = put(t, key.hash, key.value, e);
        seen = hit[t->winner];
        judge(t, hit, t->ranked ? (int64_t)(UINT64_C(2) * HIT * key.value / t->high) : HIT);
        if (t->ranked) learn(t, key.value);
    } else {
        seen = put(t, key.hash, key.value, t->winner);
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
