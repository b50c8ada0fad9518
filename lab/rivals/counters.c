/* counters.c - rivals that count every key in d rows of 32-bit counters.
 *
 * cms: the answer is the least of a key's counters, and only those that are not above it are
 * raised. csketch: a key adds +1 or -1 to a counter of each row; the answer is the median of what
 * the rows say. */
#include "rivals.h"
#include <stdlib.h>

enum { COUNTERS_ROWS = 16 };

typedef struct counters {
    unsigned d;
    uint64_t width;
    int32_t *cell;
} counters;

static uint64_t counters_at(const counters *f, unsigned row, uint64_t hash, int *sign) {
    lab_rng r = {hash ^ lab_mix(row + 1)};
    *sign = lab_random(&r) >> 63 ? 1 : -1;
    return row * f->width + lab_below(&r, f->width);
}

static int32_t counters_least(const counters *f, uint64_t hash) {
    int32_t least = INT32_MAX;
    for (unsigned row = 0; row < f->d; row++) {
        int sign;
        const int32_t c = f->cell[counters_at(f, row, hash, &sign)];
        if (c < least) least = c;
    }
    return least;
}

static void counters_min_add(void *state, const eb_batch *b, uint8_t *seen) {
    counters *const f = state;
    for (size_t i = 0; i < b->n; i++) {
        const int32_t before = counters_least(f, b->hash[i]);
        seen[i] = before > 0;
        for (unsigned row = 0; row < f->d; row++) {
            int sign;
            int32_t *const c = f->cell + counters_at(f, row, b->hash[i], &sign);
            if (*c == before) ++*c;
        }
    }
}

static void counters_min_count(const void *state, const uint64_t *hash, size_t n, double *count) {
    for (size_t i = 0; i < n; i++) count[i] = counters_least(state, hash[i]);
}

static double counters_median(const counters *f, uint64_t hash) {
    int32_t v[COUNTERS_ROWS] = {0};
    for (unsigned row = 0; row < f->d; row++) {
        int sign;
        const int32_t c = f->cell[counters_at(f, row, hash, &sign)] * sign;
        unsigned i = row;
        for (; i > 0 && v[i - 1] > c; i--) v[i] = v[i - 1];
        v[i] = c;
    }
    const unsigned half = f->d / 2;
    return f->d % 2 ? v[half] : ((double)v[half - 1] + v[half]) / 2;
}

static void counters_sketch_add(void *state, const eb_batch *b, uint8_t *seen) {
    counters *const f = state;
    for (size_t i = 0; i < b->n; i++) {
        seen[i] = counters_median(f, b->hash[i]) >= 1;
        for (unsigned row = 0; row < f->d; row++) {
            int sign;
            int32_t *const c = f->cell + counters_at(f, row, b->hash[i], &sign);
            *c += sign;
        }
    }
}

static void counters_sketch_count(const void *state, const uint64_t *hash, size_t n,
                                  double *count) {
    for (size_t i = 0; i < n; i++) count[i] = counters_median(state, hash[i]);
}

static void counters_free(void *state) {
    free(((counters *)state)->cell);
    free(state);
}

static lab_subject counters_new(const rival_spec *s, unsigned d) {
    counters *const f = lab_alloc(1, sizeof *f);
    f->d = (unsigned)rival_option(s, "d", d, 1, COUNTERS_ROWS);
    f->width = s->memory / sizeof *f->cell / f->d;
    f->cell = lab_alloc(f->width * f->d, sizeof *f->cell);
    return (lab_subject){
        .state = f, .release = counters_free, .bytes = f->width * f->d * sizeof *f->cell};
}

lab_subject rival_count_min(const rival_spec *s) {
    lab_subject f = counters_new(s, 4);
    f.add = counters_min_add;
    f.count = counters_min_count;
    return f;
}

lab_subject rival_count_sketch(const rival_spec *s) {
    lab_subject f = counters_new(s, 5);
    f.add = counters_sketch_add;
    f.count = counters_sketch_count;
    return f;
}
