/* weigh.h - which keys of a query log deserve more bits, and how many. */
#ifndef EVERBLOOM_WEIGH_H
#define EVERBLOOM_WEIGH_H
#include "keytable.h"
#include <everbloom/experimental.h>

/* Keys with at least `threshold` queries are in the hot list.  Class 2 begins there, and each
 * further class when the frequency has doubled `width` times more; all other keys are of class 1.
 */
typedef struct weigh_plan {
    uint64_t threshold, width, hot; /* hot 0: no list */
    size_t n;                       /* classes */
    eb_class classes[EB_CLASSES_MAX];
    uint8_t k[EB_CLASSES_MAX];
    double fpr;
} weigh_plan;

typedef struct weigh_task {
    const keytable *sample;
    const char *memory;
    double members;     /* of the filter to be */
    bool members_known; /* which keys of the sample are among them */
    double max_hot;
} weigh_task;

/* The list and the bits that let the expected false positive rate be least; and the best bloom
 * filter in the same memory. */
void weigh_solve(const weigh_task *task, weigh_plan *best, weigh_plan *plain);
/* 1..n; 0: not in the list, hence of class 1. */
uint32_t weigh_class(const weigh_plan *plan, const weigh_task *task, const table_key *key);
/* weighted:memory=...,class_bits=...,hot=...; cap bytes. */
void weigh_spec(const weigh_task *task, const weigh_plan *plan, char *spec, size_t cap);
#endif
