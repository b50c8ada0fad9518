/* p003_theory.c - the paper's recurrences beside its own measurements.
 *
 * Equations 3.27/3.28 (RSBF), 4.3 (BSBF), 4.5 (BSBFSD) and 5.2 (RLBSBF), with
 * x = X^(1/k) the probability that a bit is 1, give at each record
 *
 *     RSBF     x += (1-X)(1-x)/m after phase 1, where x = 1 - (1-1/s)^m
 *     BSBF     x += (1-X)(1-x)/s
 *     BSBFSD   x += (1-X)(1-x/k)/s
 *     RLBSBF   x += (1-X)(1-x^2)/s      (expected load x s)
 *
 * and the rates X for new records, 1-X for repeats.  They are followed here in
 * steps of many records; new records arrive as in shuffled copies. */
#include "paper_003.h"
#include <math.h>

enum { THEORY_STEPS = 100000 };

static double theory_gain(int kind, double k, double x, double m, double s) {
    const double distinct = 1 - pow(x, k);
    switch (kind) {
    case P003_RSBF:
        return m < s ? (1 - x) / s : distinct * (1 - x) / m;
    case P003_BSBF:
        return distinct * (1 - x) / s;
    case P003_BSBFSD:
        return distinct * (1 - x / k) / s;
    default:
        return distinct * (1 - x * x) / s;
    }
}

/* Mean rates over the stream, in percent, as the recurrences have them. */
static void theory_recurrence(const p003_table *t, const p003_row *r, int column, double rate[2]) {
    const double k = p003_k(t, column), s = r->megabytes * 0x1p23 / k;
    const double copies = (1 - t->share) / t->share, step = t->records / THEORY_STEPS;
    double x = 0, fresh = 0, fp = 0, fn = 0;
    for (int i = 0; i < THEORY_STEPS; i++) {
        const double time = (i + 0.5) / THEORY_STEPS;
        const double y = t->share * exp(-copies * time) * (1 + copies * (1 - time));
        x += 0.5 * step * theory_gain(p003_kind(t, column), k, x, time * t->records, s);
        fresh += y;
        fp += y * pow(x, k);
        fn += (1 - y) * (1 - pow(x, k));
        x = fmin(1, x + 0.5 * step * theory_gain(p003_kind(t, column), k, x, time * t->records, s));
    }
    rate[LAB_FPR] = 100 * fp / fresh;
    rate[LAB_FNR] = 100 * fn / (THEORY_STEPS - fresh);
}

static eb_prediction theory_corrected(const p003_table *t, const p003_row *r, int column) {
    char spec[P003_SPEC];
    eb_error err;
    const eb_workload load = {
        .size = sizeof load, .items = t->records, .distinct = t->records * t->share};
    eb_prediction p = {.size = sizeof p};
    p003_spec(spec, p003_kind(t, column), p003_k(t, column), r->megabytes * 0x1p23, 0);
    if (eb_predict(spec, &load, NULL, 1, &p, &err)) lab_die("%s: %s", spec, err.text);
    return p;
}

static void theory_row(lab_table *out, const p003_table *t, const p003_row *r, int column) {
    double old[2];
    if (p003_kind(t, column) == P003_SBF) return; /* the paper gives none */
    theory_recurrence(t, r, column, old);
    const eb_prediction p = theory_corrected(t, r, column);
    lab_table_row(out, "%u|%u|%s|%u|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f", t->number, r->megabytes,
                  p003_names[p003_kind(t, column)], p003_k(t, column), r->fpr[column], old[LAB_FPR],
                  100 * p.mean_fpr, r->fnr[column], old[LAB_FNR], 100 * p.mean_fnr);
}

void p003_run_theory(lab_options *o) {
    lab_table *out = lab_table_new("table|MB|filter|k|FPR %|recurrence|corrected|FNR %|recurrence|"
                                   "corrected");
    for (int t = 0; t < P003_TABLES; t++)
        for (int r = 0; r < P003_ROWS && p003_tables[t].row[r].megabytes; r++)
            for (int c = 0; c < P003_COLUMNS; c++)
                if (t < 3 || p003_tables[t].number == 9)
                    theory_row(out, &p003_tables[t], &p003_tables[t].row[r], c);
    lab_table_print(out, o);
}
