/* p000_streams.h - finite streams of keys with importance, and error counts by importance. */
#ifndef EVERBLOOM_LAB_P000_STREAMS_H
#define EVERBLOOM_LAB_P000_STREAMS_H
#include "paper_000.h"

typedef enum p000_law { P000_EQUAL, P000_PROPORTIONAL, P000_INVERSE, P000_SKEWED } p000_law;
typedef struct p000_stream {
    p000_law law;    /* how often an importance occurs */
    double skew;     /* SKEWED: importance is 50 u^skew, rounded up, u uniform */
    double records;  /* at the published size */
    double fresh;    /* share of the records that are new keys */
    double nearness; /* a repeat at record t reaches back t u^nearness; 0: to any earlier key */
} p000_stream;

typedef struct p000_counts {
    uint64_t distinct, false_positives, repeats, false_negatives;
} p000_counts;
typedef struct p000_tally {
    p000_counts of[P000_HIGH + 1]; /* by importance, from 1 */
} p000_tally;

/* Every kind on every stream, all seeds together: tally [stream * P000_KINDS + kind]; free() it. */
p000_tally *p000_measure(const lab_options *o, const p000_stream *streams, size_t count);

/* Wrong answers as a share of all queries (the paper's way), or false positives of the distinct
 * and false negatives of the repeated ones; weighted: queries count by their importance. */
typedef enum p000_share { P000_OF_ALL, P000_OF_OWN } p000_share;
double p000_rate(const p000_tally *t, lab_rate which, p000_share share, bool weighted, int from,
                 int to);
double p000_rate_error(const p000_tally *t, lab_rate which, p000_share share, bool weighted,
                       int from, int to);

/* Rows of CSV: name, filter, importance, its share of all queries, wrong answers counted both ways.
 * Tallies of all kinds, in tenths of the range of importance. */
void p000_put_arrays(const char *name, const p000_tally *of_kinds);
#endif
