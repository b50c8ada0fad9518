/* p000_chain.c - every policy at K = 5, P = 10 in the long run: share of zero
 * cells, false positives, and MC's false negatives by class and gap.
 *
 * The expected numbers are closed forms (docs/papers/000.md), worked out apart from
 * the library's theory and from these runs; "predicted" is eb_predict. */
#include "paper_000.h"
#include <math.h>
#include <string.h>

typedef struct chain_case {
    const char *name, *spec; /* spec: after the cells, without low and high */
    double v0, fpr;          /* importance uniform in 1..7 */
    double v0_wide;          /* in 1..50, mapped to 1..7 */
} chain_case;

static const chain_case chain_cases[] = {
    {"SBF", "stable:k=5,fade=10,width=3,delete=random", 0.05852, 0.7397, 0.0585},
    {"2C, max rule", "importance:k=5,fade=10,policy=2c,delete=random", 0.10842, 0.5634, 0.1104},
    {"2C, Algorithm 1 as printed", "importance:k=5,fade=10,policy=2c,raise=printed", 0.07593,
     0.6738, 0.0765},
    {"2C, overwriting", "importance:k=5,fade=10,policy=2c,raise=overwrite", 0.16041, 0.4172,
     0.1631},
    {"MC", "importance:k=5,fade=10,policy=mc,delete=random", 0.17986, 0.3711, 0.1841},
    {"H", "importance:k=5,fade=10,policy=h", 0.36749, 0.1012, 0.3764},
    {"HB", "importance:k=5,fade=10,policy=hb", 0.01401, 0.9319, 0.0148}};
enum { CHAIN_CASES = sizeof chain_cases / sizeof chain_cases[0], CHAIN_CLASSES = 7 };

static p000_probe chain_probe(const lab_options *o, const chain_case *c, uint32_t high) {
    p000_probe p = {.high = high, .arrivals = p000_scaled(o, 360000)};
    const bool slow = !strcmp(c->name, "HB"); /* settles after about 4 m arrivals */
    p.warm_up = p000_scaled(o, (slow ? 8.0 : 3.0) * P000_CELLS);
    snprintf(p.name, sizeof p.name, "%s", c->name);
    snprintf(p.spec, sizeof p.spec, "%s,cells=%llu", c->spec,
             (unsigned long long)p000_scaled(o, P000_CELLS));
    if (c->spec[0] == 'i')
        snprintf(p.spec + strlen(p.spec), sizeof p.spec - strlen(p.spec), ",low=1,high=%u", high);
    return p;
}

/* 4 standard errors, the expected number's last digit, and the model's own K/m. */
static double chain_limit(const lab_options *o, double want, double error, double digit) {
    return 4 * error + digit / 2 + want * 5 * o->scale / P000_CELLS;
}

static void chain_rows(lab_options *o, lab_table *t, const p000_probe *p, const chain_case *c) {
    char what[120];
    const bool wide = p->high > CHAIN_CLASSES;
    const double want = wide ? c->v0_wide : c->v0, digit = wide ? 1e-4 : 1e-5;
    const double error = p000_error_of(&p->zeros), fpr_error = p000_error_of(&p->fpr);
    snprintf(what, sizeof what, "%s|V0|%.5f", p->name, 1 - p000_predict(p->spec, 0, 0, 0).fill);
    lab_check_row(o, t, what,
                  (lab_check){want, p000_mean_of(&p->zeros), error,
                              chain_limit(o, want, error, digit), wide ? 4 : 5});
    if (wide) return;
    snprintf(what, sizeof what, "%s|FPR|%.5f", p->name, p000_predict(p->spec, 0, 0, 0).fpr);
    lab_check_row(o, t, what,
                  (lab_check){c->fpr, p000_mean_of(&p->fpr), fpr_error,
                              chain_limit(o, c->fpr, fpr_error, 1e-4), 4});
}

static void chain_stationary(lab_options *o) {
    p000_probe probe[2 * CHAIN_CASES];
    for (size_t i = 0; i < CHAIN_CASES; i++) {
        probe[i] = chain_probe(o, &chain_cases[i], CHAIN_CLASSES);
        probe[CHAIN_CASES + i] = chain_probe(o, &chain_cases[i], P000_HIGH);
    }
    p000_probe_all(o, probe, 2 * CHAIN_CASES);
    lab_say(o, "Importance uniform in 1..7 (cell values 1..7):");
    lab_table *t = lab_checks_new("filter|rate|predicted", "expected");
    for (size_t i = 0; i < CHAIN_CASES; i++) chain_rows(o, t, &probe[i], &chain_cases[i]);
    lab_table_print(t, o);
    lab_say(o, "Importance uniform in 1..50 (f = 1 + floor((imp-1) 7/50)):");
    t = lab_checks_new("filter|rate|predicted", "expected");
    for (size_t i = 0; i < CHAIN_CASES; i++)
        chain_rows(o, t, &probe[CHAIN_CASES + i], &chain_cases[i]);
    lab_table_print(t, o);
}

/* False negatives of MC */

static const double chain_gaps[] = {1000, 2000, 5000, 10000, 20000, 50000};
enum { CHAIN_GAPS = sizeof chain_gaps / sizeof chain_gaps[0], CHAIN_5000 = 2 };
static const double chain_fnr[CHAIN_CLASSES + 1] = {0,     .5499, .3751, .1868,
                                                    .0678, .0187, .0041, .0007};

static p000_probe chain_mc(const lab_options *o) {
    p000_probe p = chain_probe(o, &chain_cases[4], CHAIN_CLASSES);
    for (size_t g = 0; g < CHAIN_GAPS; g++) p.gap[g] = p000_scaled(o, chain_gaps[g]);
    p000_probe_all(o, &p, 1);
    return p;
}

static double chain_model(const p000_probe *p, size_t gap, uint32_t class_number) {
    return p000_predict(p->spec, 0, (double)p->gap[gap], class_number).fnr;
}

static void chain_false_negatives(lab_options *o) {
    const p000_probe p = chain_mc(o);
    lab_say(o, "FNR of MC by class, the repeat after 5000 other keys:");
    lab_table *t = lab_checks_new("class|predicted", "expected");
    for (uint32_t v = 1; v <= CHAIN_CLASSES; v++) {
        char what[60];
        const double error = p000_fnr_error(&p, CHAIN_5000, v, v, false);
        snprintf(what, sizeof what, "%u|%.4f", v, chain_model(&p, CHAIN_5000, v));
        lab_check_row(o, t, what,
                      (lab_check){chain_fnr[v], p000_fnr(&p, CHAIN_5000, v, v, false), error,
                                  chain_limit(o, 1, error, 1e-4), 4});
    }
    lab_table_print(t, o);
    double worst = 0;
    for (size_t g = 0; g < CHAIN_GAPS; g++)
        for (uint32_t v = 1; v <= CHAIN_CLASSES; v++) {
            const double off = fabs(p000_fnr(&p, g, v, v, false) - chain_model(&p, g, v));
            worst = fmax(worst, off);
            lab_promise(o, off <= chain_limit(o, 1, p000_fnr_error(&p, g, v, v, false), 0) + 1e-4,
                        "MC, class %u, gap %g: FNR is %g off its formula", v, chain_gaps[g], off);
        }
    lab_say(o,
            "Over gaps of 1000 to 50000 and all classes the measured FNR is at most %.4f from "
            "`eb_predict`.",
            worst);
}

void p000_run_chain(lab_options *o) {
    chain_stationary(o);
    chain_false_negatives(o);
}

/* FNR against gap, as CSV: random deletion beside the sweep at the same P. */
void p000_run_gap_curves(lab_options *o) {
    const p000_probe p = chain_mc(o);
    puts("what,class,gap,fnr");
    for (uint32_t v = 1; v <= CHAIN_CLASSES; v++) {
        for (size_t g = 0; g < CHAIN_GAPS; g++)
            printf("measured,%u,%g,%.6f\n", v, chain_gaps[g], p000_fnr(&p, g, v, v, false));
        for (double gap = 100; gap < 6e4; gap *= 1.06) {
            char sweep[P000_SPEC];
            snprintf(sweep, sizeof sweep, "importance:k=5,fade=10,low=1,high=7,cells=%llu",
                     (unsigned long long)p000_scaled(o, P000_CELLS));
            printf("random,%u,%.0f,%.6f\n", v, gap, p000_predict(p.spec, 0, gap / o->scale, v).fnr);
            printf("sweep,%u,%.0f,%.6f\n", v, gap, p000_predict(sweep, 0, gap / o->scale, v).fnr);
        }
    }
}
