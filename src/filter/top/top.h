/* top.h - what the files of the top filter share: top.c (the filter), top_list.c (counts that stay
 * or halve) and top_ages.c (counts by age). */
#ifndef EBI_TOP_H
#define EBI_TOP_H
#include "cells/sets.h"
#include "filter/counting/counting.h"
#include "filter/fading/aging.h"
#include "filter/fading/decay/decay.h"

enum {
    EBI_TOP_LIST = EBI_O_OWN,
    EBI_TOP_KEY_BYTES,
    EBI_TOP_BY,
    EBI_TOP_HALFLIFE,
    EBI_TOP_EPOCHS,
    EBI_TOP_PERIOD,
    EBI_TOP_POWER,
    EBI_TOP_HEIGHTS,
    EBI_TOP_DETAIL
};
enum {
    EBI_TOP_BY_NO,
    EBI_TOP_BY_HALF,
    EBI_TOP_BY_AGE
}; /* and further values: those of the kind aging */
enum { EBI_TOP_K = 3, EBI_TOP_AGING_K = 4, EBI_TOP_MILLION = 1000000 };

typedef struct ebi_top_words { /* a segment of filters with time */
    uint64_t first;            /* 1 + the time of the first key; 0: there is none */
    uint64_t base;             /* by age: the epoch that stamps of sets count from */
    uint64_t total, era;       /* by=half: the sum of all counts, as of that era */
    uint64_t reserved[4];
} ebi_top_words;
static_assert(sizeof(ebi_top_words) == 64, "one cache line");

typedef struct ebi_top {
    const ebi_params *p;
    bool halves, ages; /* neither: counts stay */
    ebi_sets sets;
    ebi_counting_words *state;  /* the light part of counts that stay */
    ebi_counting light;         /* and its counters */
    ebi_decay fading;           /* the light part of counts that halve */
    ebi_top_words *words;       /* NULL: counts stay */
    ebi_params aging, tally;    /* by age: the filter that counts, and one for all keys together */
    uint8_t *counts, *together; /* their blocks */
} ebi_top;

ebi_top ebi_top_open(const ebi_params *p, const uint8_t *block);

EBI_INLINE uint8_t *ebi_top_set_of(const ebi_top *t, eb_hash h) {
    return ebi_set_at(&t->sets, eb_scale(h, t->sets.n));
}

/* The keys of two sets, the largest upper counts first.  Among equal ones, the smallest hash comes
 * first. */
typedef struct ebi_top_union {
    unsigned n;
    ebi_set_entry e[2 * EBI_SET_ENTRIES];
} ebi_top_union;
void ebi_top_union_put(ebi_top_union *u, ebi_set_entry e);

/* How a top filter counts: top_list.c for counts that stay or halve, top_ages.c for counts by
 * age. */
typedef struct ebi_top_way {
    void (*add)(const ebi_top *t, const ebi_batch *b, uint8_t *seen, double *after);
    double (*upper)(const ebi_top *t, eb_hash h, uint64_t time);
    double (*lower)(const ebi_top *t, eb_hash h, uint64_t time);
    bool (*entry)(const ebi_top *t, uint64_t at, uint64_t time,
                  ebi_kept *out); /* false: it is free */
    double (*rest)(const ebi_top *t, uint64_t set, uint64_t time);
    double (*total)(const ebi_top *t, uint64_t time); /* the sum of all counts */
    void (*merge)(const ebi_top *into, const ebi_top *from, uint64_t time);
    bool (*check)(const ebi_top *t, uint64_t time);
    void (*stat)(const ebi_top *t, uint64_t time, eb_stats *out);
    void (*predict)(const ebi_top *t, const eb_workload *w, eb_prediction *out);
} ebi_top_way;
extern const ebi_top_way ebi_top_list_way, ebi_top_ages_way;
#endif
