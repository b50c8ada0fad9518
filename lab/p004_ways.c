/* p004_ways.c - ways of counting: the library's filters, and two that it does not have.
 *
 * As published: no windows, counters of 32 bits. */
#include "paper_004.h"
#include <math.h>
#include <stdlib.h>

const char *const p004_names[P004_POLICIES] = {"MS",     "MI",  "RM",   "RM+Bf",
                                               "RM+Bf*", "TRM", "RM-X", "MI-"};

static void ways_must(eb_status s, const char *what) {
    if (s) lab_die("%s failed: %s", what, eb_status_name(s));
}

static eb_filter *ways_open(const char *spec) {
    eb_filter *f;
    eb_error err;
    if (eb_new(&f, spec, NULL, &err)) lab_die("%s: %s", spec, err.text);
    return f;
}

/* A filter of the library */

static void ways_add(void *state, const eb_hash *h, size_t n) {
    const eb_batch b = A_BATCH(n, h, NULL, NULL);
    ways_must(eb_add_batch(state, &b, NULL), "adding");
}

static void ways_remove(void *state, eb_hash h, uint64_t times) {
    const eb_batch one = A_BATCH(1, &h, &times, NULL);
    ways_must(eb_remove_batch(state, &one, NULL), "removing");
}

static void ways_count(const void *state, const eb_hash *h, size_t n, double *count) {
    calls_count(state, h, n, count);
}

static void ways_release(void *state) {
    eb_free(state);
}

p004_way p004_way_of(const char *spec) {
    return (p004_way){ways_open(spec), ways_add, ways_remove, ways_count, ways_release};
}

/* RM+Bf*: counters, second counters, and a Bloom filter that marks the keys of the second ones.
 * A key with a single minimum is marked and gets that minimum added there; from then on its own
 * adds and removals go to both, and the smaller estimate counts. */

typedef struct star {
    eb_filter *first, *second, *marks;
} star;

static bool star_marked(const star *s, eb_hash h) {
    uint8_t seen;
    h = lab_mix(~h);
    calls_test(s->marks, &h, 1, &seen);
    return seen;
}

static void star_mark(star *s, eb_hash h) {
    h = lab_mix(~h);
    ways_add(s->marks, &h, 1);
}

static double star_second(const star *s, eb_hash h) {
    double count;
    h = lab_mix(h);
    calls_count(s->second, &h, 1, &count);
    return count;
}

static void star_raise_second(star *s, eb_hash h, uint64_t times) {
    h = lab_mix(h);
    const eb_batch one = A_BATCH(1, &h, &times, NULL);
    ways_must(eb_add_batch(s->second, &one, NULL), "adding");
}

static void star_add(void *state, const eb_hash *h, size_t n) {
    star *const s = state;
    for (size_t i = 0; i < n; i++) {
        eb_estimate e = {.size = sizeof e};
        ways_add(s->first, h + i, 1);
        if (star_marked(s, h[i])) {
            star_raise_second(s, h[i], 1);
            continue;
        }
        const eb_batch one = eb_batch_hashes(&h[i], 1);
        ways_must(eb_estimate_batch(s->first, &one, &e, NULL), "estimating");
        if (!e.single) continue;
        star_raise_second(s, h[i], (uint64_t)e.upper);
        star_mark(s, h[i]);
    }
}

static void star_remove(void *state, eb_hash h, uint64_t times) {
    star *const s = state;
    ways_remove(s->first, h, times);
    if (!star_marked(s, h)) return;
    times = (uint64_t)fmin((double)times,
                           star_second(s, h)); /* a key that is marked by chance has none */
    if (times > 0) ways_remove(s->second, lab_mix(h), times);
}

static void star_count(const void *state, const eb_hash *h, size_t n, double *count) {
    const star *const s = state;
    calls_count(s->first, h, n, count);
    for (size_t i = 0; i < n; i++)
        if (star_marked(s, h[i])) count[i] = fmin(count[i], star_second(s, h[i]));
}

static void star_release(void *state) {
    star *const s = state;
    eb_free(s->first);
    eb_free(s->second);
    eb_free(s->marks);
    free(s);
}

static p004_way star_new(const p004_size *z, uint64_t seed) {
    star *const s = lab_alloc(1, sizeof *s);
    char spec[200];
    snprintf(spec, sizeof spec, "spectral:update=plain,store=u32,span=0,k=%u,cells=%.0f,seed=%llu",
             z->k, z->first, (unsigned long long)seed);
    s->first = ways_open(spec);
    snprintf(spec, sizeof spec, "spectral:update=plain,store=u32,span=0,k=%u,cells=%.0f,seed=%llu",
             z->k, z->second, (unsigned long long)seed);
    s->second = ways_open(spec);
    snprintf(spec, sizeof spec, "bloom:k=%u,cells=%.0f,seed=%llu", z->k, z->first + z->second,
             (unsigned long long)seed);
    s->marks = ways_open(spec);
    return (p004_way){s, star_add, star_remove, star_count, star_release};
}

/* Minimal increase with removals, which lower all counters of a key that are above 0 */

enum { LOWERED_K_MAX = 16 };
typedef struct lowered {
    unsigned k;
    uint64_t part;
    uint64_t counter[];
} lowered;

static uint64_t *lowered_at(lowered *s, eb_hash h, uint64_t *at[LOWERED_K_MAX]) {
    uint64_t *least = NULL;
    lab_rng random = {h};
    for (unsigned j = 0; j < s->k; j++) {
        at[j] = s->counter + j * s->part + lab_below(&random, s->part);
        if (!least || *at[j] < *least) least = at[j];
    }
    return least;
}

static void lowered_add(void *state, const eb_hash *h, size_t n) {
    uint64_t *at[LOWERED_K_MAX];
    lowered *const s = state;
    for (size_t i = 0; i < n; i++) {
        const uint64_t least = *lowered_at(s, h[i], at);
        for (unsigned j = 0; j < s->k; j++) *at[j] += *at[j] == least;
    }
}

static void lowered_remove(void *state, eb_hash h, uint64_t times) {
    uint64_t *at[LOWERED_K_MAX];
    lowered *const s = state;
    (void)lowered_at(s, h, at);
    for (unsigned j = 0; j < s->k; j++) *at[j] -= *at[j] < times ? *at[j] : times;
}

static void lowered_count(const void *state, const eb_hash *h, size_t n, double *count) {
    const lowered *const s = state;
    for (size_t i = 0; i < n; i++) {
        lab_rng random = {h[i]};
        count[i] = INFINITY;
        for (unsigned j = 0; j < s->k; j++)
            count[i] =
                fmin(count[i], (double)s->counter[j * s->part + lab_below(&random, s->part)]);
    }
}

static p004_way lowered_new(const p004_size *z) {
    const uint64_t part = (uint64_t)(z->first / z->k);
    lowered *const s = lab_alloc(1, sizeof *s + z->k * part * sizeof *s->counter);
    s->k = z->k;
    s->part = part;
    return (p004_way){s, lowered_add, lowered_remove, lowered_count, free};
}

/* All of them */

p004_way p004_way_new(p004_policy policy, const p004_size *z, uint64_t seed) {
    static const char *const option[P004_POLICIES] = {
        "update=plain", "update=conservative", "method=rm",  "method=rm+bf",
        NULL,           "method=trm",          "method=rmx", NULL};
    char spec[200];
    if (policy == P004_RM_BF_STAR) return star_new(z, seed);
    if (policy == P004_MI_LOWERED) return lowered_new(z);
    const bool second = policy != P004_MS && policy != P004_MI;
    const int at =
        snprintf(spec, sizeof spec, "spectral%s:%s,store=u32,span=0,k=%u,cells=%.0f,seed=%llu",
                 second ? "_rm" : "", option[policy], z->k, z->first, (unsigned long long)seed);
    if (second) snprintf(spec + at, sizeof spec - (size_t)at, ",second=%.0f", z->second);
    return p004_way_of(spec);
}

p004_size p004_size_of(p004_policy policy, size_t keys, unsigned k, double gamma) {
    const double m = (double)keys * k / gamma;
    const bool alone = policy == P004_MS || policy == P004_MI || policy == P004_MI_LOWERED;
    p004_size z = {.k = k, .first = m, .second = 0};
    if (policy == P004_RMX) {
        z.second = 16 * (double)(keys / 8);
    } else if (!alone) {
        z.first = m * 2 / 3;
        z.second = round(m / 3 / k) * k;
    }
    z.first = round(z.first / k) * k;
    return z;
}
