/* paper_001.h - what the experiments on the weighted filter share. */
#ifndef EVERBLOOM_LAB_PAPER_001_H
#define EVERBLOOM_LAB_PAPER_001_H
#ifndef EB_STATIC_ONLY
#define EB_STATIC_ONLY /* for experimental.h: all of this is linked statically */
#endif
#include "lab.h"
#include <everbloom/experimental.h>

/* A real filter with these classes: members are added, fresh keys of each class asked for. */
typedef struct p001_sample {
    double fill; /* share of bits that are set */
    double fpr;  /* over all queries: shares of the classes times their rates */
    double error;
    uint64_t members, missed; /* asked for again, and not found */
} p001_sample;
/* n classes, members rounded; rates below 1e-4 are taken from the fill.  The means over the seeds
 * of o; error: of fpr. */
p001_sample p001_simulate(const lab_options *o, const eb_class *classes, size_t n, const uint8_t *k,
                          double bits);

/* False positive rate of the best filter with the same k for all, for so many bits a member. */
double p001_plain(double bits_per_member, unsigned *k);

/* Experiments. */
void p001_run_figure1(lab_options *o);
void p001_run_profiles(lab_options *o);
void p001_run_measured(lab_options *o);
void p001_run_rounding(lab_options *o);
void p001_run_hot(lab_options *o);
void p001_run_surface(lab_options *o);
void p001_run_skew(lab_options *o);
#endif
