/* rivals.h - filters and counters of others, written from their papers' descriptions, to be
 * compared with ours at equal memory.  They are for accuracy, not for speed.
 *
 * A rival's spec is its name and options: apbf:memory=64K,k=4,l=3.  Numbers may end in K or M. */
#ifndef EVERBLOOM_LAB_RIVALS_H
#define EVERBLOOM_LAB_RIVALS_H
#include "lab.h"

typedef struct rival_spec { /* what a rival is made of */
    const char *options;    /* behind the colon, or "" */
    uint64_t memory, seed;
} rival_spec;

/* The number of an option, else the default; dies if it is out of range. */
uint64_t rival_option(const rival_spec *s, const char *key, uint64_t def, uint64_t min,
                      uint64_t max);

typedef struct lab_rival {
    const char *name, *options, *help;
    lab_subject (*make)(const rival_spec *s);
} lab_rival;
extern const lab_rival lab_rivals[]; /* ends with a NULL name */

/* False: no rival has this name. */
bool lab_rival_new(const char *spec, uint64_t seed, lab_subject *out);

/* dedup.c: seen before? */
lab_subject rival_apbf(const rival_spec *s);
lab_subject rival_qht(const rival_spec *s);
lab_subject rival_fifo(const rival_spec *s);
/* counters.c: how often? */
lab_subject rival_count_min(const rival_spec *s);
lab_subject rival_count_sketch(const rival_spec *s);
/* top.c: how often do the frequent ones come? */
lab_subject rival_space_saving(const rival_spec *s);
lab_subject rival_heavy_keeper(const rival_spec *s);
#endif
