/* bench.h - what the files of everbloom-bench share: options, clock, medians. */
#ifndef EB_BENCH_H
#define EB_BENCH_H
#include "calls.h"
#include "workload.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHUNK = 16384, ROUNDS = 31, ROUNDS_MAX = 256, QUICK_ROUNDS = 3, BATCH = 64 };
static const uint64_t ABSENT = (uint64_t)1 << 62; /* key numbers from here on are never added */

typedef struct bench_options {
    const char *only; /* rows whose spec contains this */
    FILE *raw;
    int rounds;
    bool large, kinds, counters, lines, single, hashing, growth;
} bench_options;

static inline double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline double thread_ns(void) { /* that this thread ran */
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline _Noreturn void bench_die(const char *what, const char *why) {
    fprintf(stderr, "everbloom-bench: %s: %s\n", what, why);
    exit(2);
}

static inline int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double quantile(const double *x, int n, double q) {
    double sorted[ROUNDS_MAX];
    memcpy(sorted, x, (size_t)n * sizeof *x);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    return sorted[(int)(q * (n - 1) + 0.5)];
}

static inline double median(const double *x, int n) {
    return quantile(x, n, 0.5);
}

/* Half the distance between the quartiles, as a share of the median. */
static inline double spread(const double *x, int n) {
    return (quantile(x, n, 0.75) - quantile(x, n, 0.25)) / 2 / median(x, n);
}

/* A block as the library takes it: huge pages where the system gives them. */
uint64_t *block_new(size_t bytes);

/* lines.c: filters against touching the same number of lines. */
void lines_bench(const bench_options *o);

/* single.c: one key a call. */
void single_bench(const bench_options *o);

/* hashing.c: keys to hashes. */
void hashing_bench(const bench_options *o);

/* growth.c: Bloom filters that grow.  Returns the number of broken promises. */
int growth_bench(void);

/* rival.c: `bloom` against libbloom.  Returns the number of failed checks. */
void rival_title(void);
int rival_bench(const bench_options *o, const char *memory, size_t bytes);

/* counters.c: stores of counters.  Returns the number of failed checks. */
int counters_bench(const bench_options *o);
#endif
