/* paper_000.h - what the experiments on the importance-aware filter share. */
#ifndef EVERBLOOM_LAB_PAPER_000_H
#define EVERBLOOM_LAB_PAPER_000_H
#include "lab.h"

/* The paper's setting: 16 KB, cells of 3 bits, K = 5, P = 10, importance 1..50. */
enum { P000_BITS = 131072, P000_WIDTH = 3, P000_CELLS = P000_BITS / P000_WIDTH, P000_HIGH = 50 };
enum { P000_SPEC = 300 };

static inline uint64_t p000_scaled(const lab_options *o, double count) {
    return (uint64_t)(count / o->scale + 0.5);
}
/* memory= for cells of 16 KB (0.05 % less), the library's own needs around them. */
unsigned long long p000_memory(const lab_options *o);

/* The filters that the tables compare, with K = 5 and P = 10. */
typedef enum p000_kind {
    P000_BF_THIRD, /* one bit in place of each cell */
    P000_BF,       /* all bits */
    P000_SBF,
    P000_2C,
    P000_2C_PRINTED,
    P000_MC,
    P000_H,
    P000_HB,
    P000_KINDS
} p000_kind;
extern const char *const p000_names[P000_KINDS];
void p000_spec(char spec[P000_SPEC], p000_kind kind, unsigned high, const lab_options *o);

/* Probes: fresh keys whose importance is uniform in 1..high, and questions about
 * the key of so many arrivals ago (which is not added again).  Runs of several
 * seeds add up.  Errors of means come from the spread between blocks, since
 * successive arrivals see nearly the same cells. */
enum { P000_GAPS = 8 };
typedef struct p000_mean {
    double sum, squares, count;
} p000_mean;
typedef struct p000_probe {
    char name[64], spec[P000_SPEC];
    uint32_t high;
    uint64_t arrivals, warm_up;
    uint64_t gap[P000_GAPS]; /* keys strictly between; ends with 0 */
    p000_mean zeros, fpr;
    uint64_t asked[P000_GAPS][P000_HIGH + 1], missed[P000_GAPS][P000_HIGH + 1];
} p000_probe;
/* Runs all probes with every seed; the results of a probe are over all seeds. */
void p000_probe_all(const lab_options *o, p000_probe *probes, size_t count);
double p000_mean_of(const p000_mean *m);
double p000_error_of(const p000_mean *m);
/* FNR of importances from..to at the probe's gap number g; weighted: by importance. */
double p000_fnr(const p000_probe *p, size_t g, uint32_t from, uint32_t to, bool weighted);
double p000_fnr_error(const p000_probe *p, size_t g, uint32_t from, uint32_t to, bool weighted);

eb_prediction p000_predict(const char *spec, double items, double gap, double value);

/* Experiments. */
void p000_run_chain(lab_options *o);
void p000_run_figure18(lab_options *o);
void p000_run_tables(lab_options *o);
void p000_run_fitted(lab_options *o);
void p000_run_synthetic(lab_options *o);
void p000_run_planner(lab_options *o);
void p000_run_sweep(lab_options *o);
void p000_run_zeros(lab_options *o);
void p000_run_arrays(lab_options *o);
void p000_run_gap_curves(lab_options *o);
void p000_run_horizon(lab_options *o);
#endif
