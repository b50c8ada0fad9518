/* compare.h - any filters on any stream, against the exact truth. */
#ifndef EVERBLOOM_LAB_COMPARE_H
#define EVERBLOOM_LAB_COMPARE_H
#include "lab.h"

enum { COMPARE_FILTERS = 32, COMPARE_GAPS = 7, COMPARE_FIFTHS = 5 };

typedef enum compare_law { /* of importance, 1..100, the same for all records of a key */
                           COMPARE_EQUAL,   /* all have 1 */
                           COMPARE_UNIFORM, /* 1..100 */
                           COMPARE_SKEWED,  /* 1 + 99 u^4: few are important */
} compare_law;

typedef struct compare_plan {
    const char *stream;
    const char *filter[COMPARE_FILTERS]; /* specs, of ours or of rivals */
    size_t filters;
    double slots;     /* what names of streams are scaled by */
    uint64_t records; /* at most */
    compare_law law;
} compare_plan;

typedef struct compare_share { /* how many of how many */
    uint64_t wrong, all;
} compare_share;

typedef struct compare_result { /* of one filter and one seed, or pooled */
    compare_share fpr, fnr;
    compare_share gap[COMPARE_GAPS];            /* missed repeats, after up to 10^(i+1) records */
    compare_share fifth[COMPARE_FIFTHS];        /* missed repeats, the least important keys first */
    double weight, weight_missed, weight_error; /* the last: sum of squares */
    uint64_t keys, counts_wrong, counts_low;
    double squares, hot_squares, hot_keys; /* of errors of counts: all keys, the 1000 hottest */
    double seconds;
    uint64_t bytes, records;
    bool counts, full;
    uint64_t caps;
} compare_result;

/* A rate with its standard error: the larger of the binomial one and the scatter of the seeds. */
typedef struct compare_rate {
    double rate, error;
} compare_rate;

/* Results [filter * seeds + seed], to be freed. */
compare_result *lab_compare(const lab_options *o, const compare_plan *plan);

typedef compare_rate compare_measure(const compare_result *r); /* of one seed: the binomial error */
compare_measure compare_fpr, compare_fnr, compare_weighted, compare_top_fifth;
compare_rate compare_of(const compare_result *r, unsigned seeds, compare_measure *measure);
/* -1, 0, +1: a is lower, alike, higher, by more than three standard errors of the difference. */
int compare_order(compare_rate a, compare_rate b);

/* The command: runs the plan, prints tables, counts promises. */
void lab_compare_print(lab_options *o, const compare_plan *plan);
/* Writes the stream, a key on each line; with importance behind a tab unless all are alike. */
void lab_compare_write(const lab_options *o, const compare_plan *plan, FILE *out);
#endif
