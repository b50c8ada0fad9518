/* health.h - does a filter still keep what it promised?  Filters that fill up, and counters that
 * overflow. */
#ifndef EVERBLOOM_HEALTH_H
#define EVERBLOOM_HEALTH_H
#include "cli.h"

/* ---- Filters that never forget fill up.  Their plan: as many keys as k bits a key serve best. */
typedef struct health {
    bool watched, told;
    double fill;  /* share of the bits that are set when it goes beyond its plan */
    uint64_t due; /* new keys until the next look at the cells */
} health;
void health_open(health *h, const eb_filter *f);
/* After so many new keys in all: warns, once, when the filter is beyond its plan. */
void health_watch(health *h, const eb_filter *f, uint64_t new_keys);
/* What is known of both, for --stats and info. */
void health_report(report *r, const eb_filter *f, const eb_stats *stats);

/* ---- Counters that overflowed.  Warns and returns STATUS_NO, or STATUS_YES. */
int counters_verdict(const eb_filter *f);
/* No filter counts higher. */
#define COUNT_MOST 281474976710655.0
/* The count to print: INFINITY if it cannot be true, since no more than `total` was added. */
double count_or_infinity(double count, double total);
/* As far as a filter knows it: INFINITY if its counts may be of values, which it does not add up.
 */
double total_of_filter(const eb_filter *f);
/* With as many digits as it has; inf. */
void print_count(FILE *to, double count);
#endif
