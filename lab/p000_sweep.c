/* p000_sweep.c - equal FPR: a pointer that sweeps over the cells instead of random
 * deletion.  A key of cell value v is found for certain while fewer than (v-1) m/P
 * keys came since. */
#include "paper_000.h"
#include <math.h>

enum { SWEEP_CLASSES = 7 };

static p000_probe sweep_probe(const lab_options *o, const char *spec, double cells) {
    p000_probe p = {.high = SWEEP_CLASSES,
                    .arrivals = p000_scaled(o, 360000),
                    .warm_up = p000_scaled(o, 200000)};
    snprintf(p.spec, sizeof p.spec, "%s,cells=%llu", spec,
             (unsigned long long)p000_scaled(o, cells));
    return p;
}

static void sweep_check(lab_options *o, lab_table *t, const char *what, double want,
                        const p000_probe *p, size_t g, uint32_t from, uint32_t to) {
    const double error = p000_fnr_error(p, g, from, to, false);
    const double limit = want > 0 ? 4 * error + 0.0006 * o->scale : 0;
    lab_check_row(o, t, what, (lab_check){want, p000_fnr(p, g, from, to, false), error, limit, 4});
}

static void sweep_check_fpr(lab_options *o, lab_table *t, const char *what, const p000_probe *p) {
    const double error = p000_error_of(&p->fpr);
    lab_check_row(o, t, what,
                  (lab_check){0.2, p000_mean_of(&p->fpr), error, 4 * error + 0.0005 * o->scale, 4});
}

enum { SWEEP_SBF, SWEEP_MC, SWEEP_MC_RANDOM, SWEEP_RANDOM, SWEEP_RUN, SWEEP_PROBES };

static void sweep_setup(const lab_options *o, p000_probe p[SWEEP_PROBES]) {
    p[SWEEP_SBF] = sweep_probe(o, "stable:width=2,k=2,fade=8.401", P000_BITS / 2);
    p[SWEEP_MC] = sweep_probe(o, "importance:k=2,fade=11.785,low=1,high=7", P000_CELLS);
    p[SWEEP_MC_RANDOM] =
        sweep_probe(o, "importance:k=2,fade=11.785,low=1,high=7,delete=random", P000_CELLS);
    p[SWEEP_RANDOM] = sweep_probe(o, "stable:width=3,k=2,fpr=0.2,delete=random", P000_CELLS);
    p[SWEEP_RUN] = sweep_probe(o, "stable:width=3,k=2,fpr=0.2,delete=run", P000_CELLS);
    p[SWEEP_SBF].gap[0] = p000_scaled(o, 15000);
    p[SWEEP_SBF].gap[1] = p000_scaled(o, 18000);
    p[SWEEP_MC].gap[0] = p[SWEEP_MC_RANDOM].gap[0] = p000_scaled(o, 10000);
    p[SWEEP_RANDOM].gap[0] = p[SWEEP_RUN].gap[0] = p000_scaled(o, 5000);
}

static void sweep_numbers(lab_options *o, const p000_probe p[SWEEP_PROBES]) {
    static const double random[SWEEP_CLASSES + 1] = {[4] = .35, [5] = .19, [6] = .085, [7] = .033};
    char what[80];
    lab_table *t = lab_checks_new("rate", "expected");
    sweep_check_fpr(o, t, "SBF, sweep, M=3, K=2, P=8.401: FPR", &p[SWEEP_SBF]);
    sweep_check(o, t, "the same: FNR at gap 15000", 0, &p[SWEEP_SBF], 0, 1, 7);
    sweep_check(o, t, "the same: FNR at gap 18000", 0.3344, &p[SWEEP_SBF], 1, 1, 7);
    sweep_check_fpr(o, t, "MC, sweep, M=7, K=2, P=11.785: FPR", &p[SWEEP_MC]);
    sweep_check(o, t, "the same: FNR of class 3 at gap 10000", 0.6344, &p[SWEEP_MC], 0, 3, 3);
    sweep_check(o, t, "the same: FNR of classes 4-7 at gap 10000", 0, &p[SWEEP_MC], 0, 4, 7);
    for (uint32_t v = 4; v <= SWEEP_CLASSES; v++) {
        const double error = p000_fnr_error(&p[SWEEP_MC_RANDOM], 0, v, v, false);
        snprintf(what, sizeof what, "MC, random, the same P: FNR of class %u at gap 10000", v);
        lab_check_row(o, t, what,
                      (lab_check){random[v], p000_fnr(&p[SWEEP_MC_RANDOM], 0, v, v, false), error,
                                  4 * error + (v < 6 ? 0.005 : 0.0005), 4});
    }
    sweep_check_fpr(o, t, "SBF, random cells, M=7, K=2: FPR", &p[SWEEP_RANDOM]);
    sweep_check(o, t, "the same: FNR at gap 5000", 0.0277, &p[SWEEP_RANDOM], 0, 1, 7);
    sweep_check_fpr(o, t, "SBF, a run of cells, M=7, K=2: FPR", &p[SWEEP_RUN]);
    sweep_check(o, t, "the same: FNR at gap 5000", 0.0277, &p[SWEEP_RUN], 0, 1, 7);
    lab_table_print(t, o);
}

/* Just inside and just outside the window of each class. */
static void sweep_windows(lab_options *o) {
    p000_probe p[SWEEP_CLASSES + 1];
    const double turn = (double)p000_scaled(o, P000_CELLS) / 11.785;
    for (int v = 2; v <= SWEEP_CLASSES; v++) {
        p[v] = sweep_probe(o, "importance:k=2,fade=11.785,low=1,high=7", P000_CELLS);
        p[v].arrivals /= 3;
        p[v].gap[0] = (uint64_t)((v - 1) * turn) - 1;
        p[v].gap[1] = (uint64_t)((v - 0.9) * turn);
    }
    p000_probe_all(o, p + 2, SWEEP_CLASSES - 1);
    lab_table *t = lab_table_new("class v|window (v-1) m/P|asked inside|missed inside|FNR a tenth "
                                 "of a turn outside|predicted|verdict");
    for (uint32_t v = 2; v <= SWEEP_CLASSES; v++) {
        const bool kept = p[v].missed[0][v] == 0 && p[v].missed[1][v] > 0;
        lab_table_row(t, "%u|%.0f|%llu|%llu|%.4f|%.4f|%s", v, (v - 1) * turn,
                      (unsigned long long)p[v].asked[0][v], (unsigned long long)p[v].missed[0][v],
                      p000_fnr(&p[v], 1, v, v, false),
                      p000_predict(p[v].spec, 0, (double)p[v].gap[1], v).fnr,
                      kept ? "agrees" : "DIFFERS");
        lab_promise(o, kept, "the sweep misses no key of class %u inside its window", v);
    }
    lab_table_print(t, o);
}

void p000_run_sweep(lab_options *o) {
    p000_probe p[SWEEP_PROBES];
    sweep_setup(o, p);
    p000_probe_all(o, p, SWEEP_PROBES);
    sweep_numbers(o, p);
    sweep_windows(o);
}
