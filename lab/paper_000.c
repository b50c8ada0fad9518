/* paper_000.c - "Importance-aware Bloom Filter for Managing Set Membership Queries
 * on Streaming Data": the filters of its tables, and the list of experiments.
 *
 * How the text is read, and what is wrong in it: docs/papers/000.md. */
#include "paper_000.h"

const char *const p000_names[P000_KINDS] = {"BF, 1/3 of the bits", "BF", "SBF", "2C",
                                            "2C as printed",       "MC", "H",   "HB"};

void p000_spec(char spec[P000_SPEC], p000_kind kind, unsigned high, const lab_options *o) {
    static const char *const how[P000_KINDS] = {[P000_2C] = "policy=2c,delete=random",
                                                [P000_2C_PRINTED] = "policy=2c,raise=printed",
                                                [P000_MC] = "policy=mc,delete=random",
                                                [P000_H] = "policy=h",
                                                [P000_HB] = "policy=hb"};
    const unsigned long long cells = p000_scaled(o, P000_CELLS), bits = p000_scaled(o, P000_BITS);
    if (kind <= P000_BF)
        snprintf(spec, P000_SPEC, "bloom:k=5,layout=one,cells=%llu",
                 kind == P000_BF ? bits : cells);
    else if (kind == P000_SBF)
        snprintf(spec, P000_SPEC, "stable:k=5,fade=10,width=3,delete=random,cells=%llu", cells);
    else
        snprintf(spec, P000_SPEC, "importance:k=5,fade=10,width=3,low=1,high=%u,cells=%llu,%s",
                 high, cells, how[kind]);
}

unsigned long long p000_memory(const lab_options *o) {
    return p000_scaled(o, P000_BITS / 8) + 640;
}

eb_prediction p000_predict(const char *spec, double items, double gap, double value) {
    const eb_workload w = {.size = sizeof w, .items = items, .gap = gap, .value = value};
    eb_prediction p = {.size = sizeof p};
    eb_error err;
    if (eb_predict(spec, &w, NULL, 1, &p, &err)) lab_die("%s: %s", spec, err.text);
    return p;
}

static const lab_experiment p000_experiments[] = {
    {"chain", "stationary zeros, FPR, FNR by class of every policy at K=5, P=10", p000_run_chain},
    {"figure18", "Figure 18: share of zero cells against arrivals", p000_run_figure18},
    {"tables", "Table II, equal P: the published rates beside a stream that gives them",
     p000_run_tables},
    {"synthetic", "equal P: FP, FN, wFP, wFN on the three synthetic distributions",
     p000_run_synthetic},
    {"planner", "equal FPR: what the planner chooses and what that measures", p000_run_planner},
    {"sweep", "equal FPR: cyclic sweep against random deletion", p000_run_sweep},
    {"zeros", "Figure 18 as CSV", p000_run_zeros},
    {"arrays", "I_fp and I_fn by importance (Figures 10-17) as CSV", p000_run_arrays},
    {"fitted", "Figures 3-8: errors by importance on the stream of Table II, as CSV",
     p000_run_fitted},
    {"gap-curves", "FNR against gap by class as CSV", p000_run_gap_curves},
    {"horizon", "wFNR of planned filters against gap as CSV", p000_run_horizon},
    {0}};

const lab_paper lab_paper_000 = {
    "000", "importance-aware filters (2C, MC, H)", p000_experiments, "zeros", 1, 3};
