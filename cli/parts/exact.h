/* exact.h - counts of the first keys beside a filter, exact as long as they are few.
 *
 * A small table of hashes and counts stands beside the filter of count.  While all keys fit into
 * it, answers come from it; when they do not, it is given up, and the filter answers, which has
 * counted from the beginning. */
#ifndef EVERBLOOM_EXACT_H
#define EVERBLOOM_EXACT_H
#include "cli.h"

typedef struct exact_counts exact_counts;
/* Beside a new filter.  NULL: its counts cannot be had so.  The table takes as many bytes as the
 * filter, rounded up to a power of two, at most EXACT_MOST. */
enum { EXACT_MOST = 1 << 20 };
exact_counts *exact_open(const eb_filter *f);
void exact_add(exact_counts *e, const eb_batch *b); /* what the filter was given; NULL: nothing */
/* As of the last key.  False: there were too many keys. */
bool exact_count(const exact_counts *e, eb_hash h, double *count);
void exact_close(exact_counts *e);
#endif
