/* model_choosy.c - the choosy Bloom filter with one int for each bit; prices and the share of new
 * keys in exact integers. */
#include "model.h"
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

typedef struct choosy {
    unsigned k;
    int64_t s; /* millionths */
    uint64_t xmax, lines;
    uint64_t r;           /* of 2^62 */
    uint64_t retry, tick; /* millionths; keys that came */
    int *bit;
} choosy;

static void *make(const char *spec, uint64_t rng) {
    (void)rng;
    choosy *const t = model_zeros(1, sizeof *t);
    t->k = (unsigned)model_int(spec, "k");
    t->s = (int64_t)model_millionths(spec, "tolerance");
    t->xmax = model_millionths(spec, "max_fill");
    t->retry = strstr(spec, "retry=") ? model_millionths(spec, "retry") : 0;
    t->lines = model_int(spec, "cells") / 512;
    t->r = UINT64_C(1) << 62;
    t->bit = model_zeros(t->lines * 512, sizeof *t->bit);
    return t;
}

static uint64_t mix(uint64_t x) { /* what a generator in this state draws next */
    uint64_t state = x - UINT64_C(0x9E3779B97F4A7C15);
    return model_draw(&state);
}

static int *place(const choosy *t, uint64_t hash, unsigned i) {
    const uint64_t fields = i < 6 ? mix(hash) : mix(mix(hash));
    return &t->bit[model_scale(hash, t->lines) * 512 + (fields >> (9 * (i % 6))) % 512];
}

static int zeros(const choosy *t, uint64_t hash) {
    int n = 0;
    for (unsigned i = 0; i < t->k; i++) n += *place(t, hash, i) == 0;
    return n;
}

static bool test(const void *twin, uint64_t hash) {
    return zeros(twin, hash) == 0;
}

static int used(const choosy *t, uint64_t hash) {
    int n = 0;
    for (unsigned i = 0; i < 512; i++) n += t->bit[model_scale(hash, t->lines) * 512 + i];
    return n;
}

/* zeros <= k(1-x) + s + u + 0.2(1/R-1), every term rounded down to millionths, R to 32 bits. */
static bool is_cheap(const choosy *t, uint64_t hash, int price, int load) {
    const int64_t average = (int64_t)t->k * (512 - load) * 1000000 / 512;
    const int64_t u = (int64_t)(mix(hash) >> 56) * 1000000 / 256;
    const int64_t over = price * INT64_C(1000000) - average - t->s - u;
    const int64_t share = (int64_t)(t->r >> 30);
    return over <= 0 || over * share <= 200000 * ((INT64_C(1) << 32) - share);
}

/* A refused key is taken in after all: with a share of 1 always, but for a coin of all ones. */
static bool is_lucky(const choosy *t, uint64_t hash) {
    const uint64_t coin = (hash + t->tick * 0x9e3779b97f4a7c15u) * 0xd1342543de82ef95u;
    return (coin >> 32) * 1000000 + 1000000 <= t->retry << 32;
}

static bool add(void *twin, model_key key) {
    choosy *const t = twin;
    const int price = zeros(t, key.hash), load = used(t, key.hash);
    const uint64_t step = (UINT64_C(1) << 62) / (4 * t->lines);
    t->r -= (uint64_t)((wide)t->r * step >> 62);
    if (price > 0) t->r += step;
    if (price > 0 && (uint64_t)(load + price) * 1000000 <= t->xmax * 512 &&
        (is_cheap(t, key.hash, price, load) || is_lucky(t, key.hash)))
        for (unsigned i = 0; i < t->k; i++) *place(t, key.hash, i) = 1;
    t->tick++;
    return price == 0;
}

static uint64_t cell(const void *twin, uint64_t i) {
    return (uint64_t)((const choosy *)twin)->bit[i];
}

static void drop(void *twin) {
    free(((choosy *)twin)->bit);
    free(twin);
}

const model_kind model_choosy = {
    .name = "choosy", .make = make, .add = add, .test = test, .cell = cell, .free = drop};
