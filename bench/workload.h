/* workload.h - streams whose truth is known: numbered items, new or repeated.
 *
 * An item is a number; items are numbered in the order in which they first
 * appear, so the largest number so far plus one is the count of distinct items,
 * and a repeat is any smaller number.  How far back a repeat reaches is the gap
 * law.  The same seed gives the same stream. */
#ifndef EB_WORKLOAD_H
#define EB_WORKLOAD_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* A bijection of the 64-bit numbers that looks random (Steele, Lea and Flood's
 * finaliser): item numbers become distinct ids, counters become random draws. */
static inline uint64_t workload_mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* A random 64-bit number turned into one below n. */
static inline uint64_t workload_below(uint64_t random, uint64_t n) {
    return (uint64_t)((unsigned __int128)random * n >> 64);
}

typedef enum workload_gap {
    GAP_UNIFORM, /* any earlier item, all alike */
    GAP_RECENT,  /* uniform in the logarithm of the distance: mostly near, sometimes far */
    GAP_FIXED    /* always the same distance */
} workload_gap;

typedef struct workload {
    uint64_t state;    /* of the generator */
    uint64_t distinct; /* items so far */
    double repeats;    /* share of the stream that repeats an earlier item */
    workload_gap gap;
    uint64_t distance; /* for GAP_FIXED */
} workload;

static inline double workload_uniform(workload *w) {
    return (double)(workload_mix(w->state++) >> 11) * 0x1p-53;
}

/* The distance, in distinct items, from the newest item to the one repeated. */
static inline uint64_t workload_reach(workload *w) {
    const double u = workload_uniform(w);
    const double n = (double)w->distinct;
    switch (w->gap) {
    case GAP_FIXED:
        return w->distance < w->distinct ? w->distance : w->distinct - 1;
    case GAP_RECENT:
        return (uint64_t)exp(u * log(n)) - 1;
    case GAP_UNIFORM:
        break;
    }
    return (uint64_t)(u * n);
}

/* The next item of the stream. */
static inline uint64_t workload_next(workload *w) {
    const bool repeat = workload_uniform(w) < w->repeats;
    if (!repeat || w->distinct == 0) return w->distinct++;
    const uint64_t reach = workload_reach(w);
    return w->distinct - 1 - (reach < w->distinct ? reach : w->distinct - 1);
}
#endif
