/* p000_planner.c - equal FPR: the planner, which the paper left to future work.
 *
 * First the numbers of a search that was made apart from the library: for widths of
 * 1..4 bits and K = 1..10 the P that gives an FPR of 20 % in 16 KB, and the least
 * loss, which is the expected weight of forgotten keys as a share of all weight.
 * Then what the library chooses by itself (wishes fpr and gap) for importance 1..50,
 * and what that measures. */
#include "paper_000.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLAN_FPR 0.2

typedef struct plan_best {
    char spec[EB_SPEC_MAX];
    double loss, p, top; /* top: FNR of the highest class */
    unsigned m, k;
} plan_best;

static void plan_resolve(char out[EB_SPEC_MAX], const char *spec) {
    eb_error err;
    if (calls_resolve(spec, out, &err)) lab_die("%s: %s", spec, err.text);
}

static double plan_option(const char *spec, const char *key) {
    const char *at = strstr(spec, key);
    return at ? strtod(at + strlen(key), NULL) : 0;
}

/* Loss with importance uniform in 1..high.  The weight of v is v, or, for classes that stand for
 * equal slices of a range that begins at 0, the middle of the slice: v - 1/2. */
static double plan_loss(const char *spec, unsigned high, bool classes, double gap) {
    double sum = 0, all = 0;
    if (!strncmp(spec, "stable", 6)) return p000_predict(spec, 0, gap, 0).fnr;
    for (unsigned v = 1; v <= high; v++) {
        const double weight = classes ? v - 0.5 : v;
        sum += weight * p000_predict(spec, 0, gap, v).fnr;
        all += weight;
    }
    return sum / all;
}

/* The best K for cells of this many bits; kind: how the spec begins.  classes: importance is the
 * cell value, 1..M. */
static plan_best plan_width(const lab_options *o, const char *kind, unsigned width, bool classes,
                            double gap) {
    plan_best best = {.loss = INFINITY};
    const unsigned top = (1u << width) - 1;
    for (unsigned k = 1; k <= 10; k++) {
        char spec[P000_SPEC], full[EB_SPEC_MAX];
        int n = snprintf(spec, sizeof spec, "%s,memory=%llu,width=%u,k=%u,fpr=%g", kind,
                         p000_memory(o), width, k, PLAN_FPR);
        if (classes) snprintf(spec + n, sizeof spec - (size_t)n, ",low=1,high=%u", top);
        plan_resolve(full, spec);
        const double loss = plan_loss(full, top, classes, gap / o->scale);
        if (loss >= best.loss) continue;
        best = (plan_best){.loss = loss, .p = plan_option(full, ",fade="), .m = top, .k = k};
        best.top = p000_predict(full, 0, gap / o->scale, top).fnr;
        snprintf(best.spec, sizeof best.spec, "%s", full);
    }
    return best;
}

static plan_best plan_widths(const lab_options *o, const char *kind, bool classes, double gap) {
    plan_best best = plan_width(o, kind, 1, classes, gap);
    for (unsigned width = 2; width <= 4; width++) {
        const plan_best one = plan_width(o, kind, width, classes, gap);
        if (one.loss < best.loss) best = one;
    }
    return best;
}

/* The search's numbers */

#define PLAN_SBF "stable:delete=random"
#define PLAN_MC "importance:delete=random"

static void plan_check(lab_options *o, lab_table *t, const char *what, double want, double got) {
    lab_check_row(o, t, what, (lab_check){want, got, NAN, 0.0005 + 0.002 * want, 4});
}

static void plan_check_best(lab_options *o, lab_table *t, const char *what, double want,
                            plan_best b) {
    char text[120];
    snprintf(text, sizeof text, "%s: M=%u, K=%u, P=%.3f", what, b.m, b.k, b.p);
    plan_check(o, t, text, want, b.loss);
}

static void plan_table(lab_options *o) {
    lab_table *t = lab_checks_new("loss at FPR 20 %", "expected");
    plan_check_best(o, t, "gap 2000, SBF", 0, plan_widths(o, PLAN_SBF, false, 2000));
    plan_check_best(o, t, "gap 2000, MC", 0.0204, plan_width(o, PLAN_MC, 4, true, 2000));
    plan_check_best(o, t, "gap 5000, SBF", 0.0169, plan_widths(o, PLAN_SBF, false, 5000));
    plan_check_best(o, t, "gap 5000, SBF", 0.0277, plan_width(o, PLAN_SBF, 3, false, 5000));
    const plan_best mc5 = plan_widths(o, PLAN_MC, true, 5000);
    plan_check_best(o, t, "gap 5000, MC", 0.0881, mc5);
    plan_check(o, t, "gap 5000, the same MC: FNR of its top class", 0.0014, mc5.top);
    plan_check_best(o, t, "gap 5000, HB", 0.136,
                    plan_width(o, "importance:policy=hb", 3, true, 5000));
    plan_check_best(o, t, "gap 10000, SBF", 0.2510, plan_widths(o, PLAN_SBF, false, 10000));
    plan_check_best(o, t, "gap 10000, SBF", 0.337, plan_width(o, PLAN_SBF, 3, false, 10000));
    plan_check_best(o, t, "gap 10000, MC", 0.2407, plan_widths(o, PLAN_MC, true, 10000));
    const plan_best mc10 = plan_width(o, PLAN_MC, 3, true, 10000);
    plan_check_best(o, t, "gap 10000, MC", 0.260, mc10);
    plan_check(o, t, "gap 10000, the same MC: FNR of its top class", 0.048, mc10.top);
    lab_table_print(t, o);
}

static void plan_deletes(lab_options *o) {
    static const struct {
        const char *what, *spec;
        double p;
    } want[] = {{"SBF", "stable:delete=random,width=3", 24.7},
                {"2C, importance 1..50", "importance:delete=random,policy=2c,low=1,high=50", 18.4},
                {"MC, importance 1..50", "importance:delete=random,low=1,high=50", 13.6},
                {"MC, importance 1..7", "importance:delete=random,low=1,high=7", 13.8}};
    lab_table *t = lab_checks_new("P that gives FPR 20 % with K = 5, M = 7", "expected");
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        char spec[P000_SPEC], full[EB_SPEC_MAX];
        snprintf(spec, sizeof spec, "%s,k=5,fpr=%g,cells=%llu", want[i].spec, PLAN_FPR,
                 (unsigned long long)p000_scaled(o, P000_CELLS));
        plan_resolve(full, spec);
        lab_check_row(o, t, want[i].what,
                      (lab_check){want[i].p, plan_option(full, ",fade="), NAN, 0.051, 2});
    }
    lab_table_print(t, o);
}

/* Maps: four classes of weights 1, 3, 5, 7, M = 7, every map that does not fall. */

static double plan_map_loss(const lab_options *o, const unsigned f[4], unsigned k, double gap) {
    char spec[P000_SPEC], full[EB_SPEC_MAX];
    double loss = 0;
    snprintf(spec, sizeof spec,
             "importance:delete=random,k=%u,fpr=%g,cells=%llu,low=1,high=4,map=table,"
             "table=%u:%u:%u:%u",
             k, PLAN_FPR, (unsigned long long)p000_scaled(o, P000_CELLS), f[0], f[1], f[2], f[3]);
    plan_resolve(full, spec);
    for (unsigned v = 1; v <= 4; v++)
        loss += (2 * v - 1) / 16.0 * p000_predict(full, 0, gap / o->scale, v).fnr;
    return loss;
}

static double plan_best_map(const lab_options *o, double gap, unsigned best[4]) {
    double least = INFINITY;
    unsigned f[4];
    for (f[3] = 7, f[2] = 1; f[2] <= 7; f[2]++)
        for (f[1] = 1; f[1] <= f[2]; f[1]++)
            for (f[0] = 1; f[0] <= f[1]; f[0]++) {
                const double loss = plan_map_loss(o, f, 2, gap);
                if (loss < least) least = loss, memcpy(best, f, sizeof f);
            }
    return least;
}

static void plan_maps(lab_options *o) {
    static const struct {
        double gap, best, linear, equal;
    } want[] = {{5000, 0.0259, 0.0707, 0.0277},
                {10000, 0.2065, 0.268, 0.337},
                {20000, 0.496, 0.654, 0.765}};
    static const unsigned linear[4] = {2, 4, 5, 7}, equal[4] = {7, 7, 7, 7};
    lab_table *t = lab_checks_new("map of four classes, K = 2", "expected");
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        unsigned f[4];
        char what[80];
        const double least = plan_best_map(o, want[i].gap, f);
        snprintf(what, sizeof what, "gap %.0f, best of all maps: (%u,%u,%u,%u)", want[i].gap, f[0],
                 f[1], f[2], f[3]);
        plan_check(o, t, what, want[i].best, least);
        snprintf(what, sizeof what, "gap %.0f, linear (2,4,5,7)", want[i].gap);
        plan_check(o, t, what, want[i].linear, plan_map_loss(o, linear, 2, want[i].gap));
        snprintf(what, sizeof what, "gap %.0f, SBF (7,7,7,7)", want[i].gap);
        plan_check(o, t, what, want[i].equal, plan_map_loss(o, equal, 2, want[i].gap));
    }
    lab_table_print(t, o);
}

/* What the library chooses, measured */

enum { PLAN_DESIGNS = 7, PLAN_GAPS = 5 };
static const char *const plan_designs[PLAN_DESIGNS] = {
    "SBF, random", "SBF, sweep",         "MC linear, random", "MC linear, sweep",
    "HB linear",   "MC planned, random", "MC planned, sweep"};
static const double plan_gaps[PLAN_GAPS] = {2000, 5000, 10000, 20000, 40000};

static void plan_design(char out[EB_SPEC_MAX], const lab_options *o, int design, double gap) {
    static const char *const how[PLAN_DESIGNS] = {NULL,
                                                  NULL,
                                                  "delete=random,map=linear",
                                                  "delete=sweep,map=linear",
                                                  "policy=hb,map=linear",
                                                  "delete=random",
                                                  "delete=sweep"};
    char spec[P000_SPEC];
    if (!how[design]) {
        const plan_best b = plan_widths(o, design ? "stable:delete=sweep" : PLAN_SBF, false, gap);
        snprintf(out, EB_SPEC_MAX, "%s", b.spec);
        return;
    }
    snprintf(spec, sizeof spec, "importance:memory=%llu,fpr=%g,gap=%.0f,low=1,high=50,%s",
             p000_memory(o), PLAN_FPR, gap / o->scale, how[design]);
    plan_resolve(out, spec);
}

/* d, K, P and the map, from a canonical spec */
static void plan_describe(char out[120], const char *spec) {
    const char *table = strstr(spec, "map=table") ? strstr(spec, ",table=") + 7 : NULL;
    char map[60] = "";
    if (table) snprintf(map, sizeof map, ", f = %.*s", (int)strcspn(table, ","), table);
    snprintf(out, 120, "M=%.0f, K=%.0f, P=%.3f%s", exp2(plan_option(spec, ",width=")) - 1,
             plan_option(spec, ":k="), plan_option(spec, ",fade="), map);
}

static p000_probe plan_probe(const lab_options *o, int design, double gap) {
    p000_probe p = {.high = P000_HIGH, .arrivals = p000_scaled(o, 150000)};
    char spec[EB_SPEC_MAX];
    plan_design(spec, o, design, gap);
    /* Without the seed, which the runs give. */
    const char *seed = strstr(spec, ",seed=");
    snprintf(p.spec, sizeof p.spec, "%.*s", (int)(seed - spec), spec);
    p.warm_up = p000_scaled(o, 4.0 * P000_BITS / plan_option(spec, ",width="));
    p.gap[0] = p000_scaled(o, gap);
    return p;
}

static void plan_row(lab_options *o, lab_table *t, const p000_probe *p, int design, double gap) {
    char text[120];
    const double model = plan_loss(p->spec, P000_HIGH, false, (double)p->gap[0]);
    const double loss = p000_fnr(p, 0, 1, P000_HIGH, true), fpr = p000_mean_of(&p->fpr);
    const double error = p000_fnr_error(p, 0, 1, P000_HIGH, true);
    plan_describe(text, p->spec);
    const bool right =
        fabs(fpr - PLAN_FPR) <= 0.01 * PLAN_FPR + 3 * p000_error_of(&p->fpr) * (o->scale > 1);
    const bool near = fabs(loss - model) <= 4 * error + 0.0013 * sqrt(o->scale);
    lab_table_row(t, "%.0f|%s|%s|%.4f|%.4f|%.4f|%.4f|%+.4f|%.4f|%.4f|%.4f|%s", gap,
                  plan_designs[design], text, fpr, p000_error_of(&p->fpr), model, loss,
                  loss - model, error, p000_fnr(p, 0, 1, 10, false), p000_fnr(p, 0, 41, 50, false),
                  right && near ? "agrees" : "DIFFERS");
    lab_promise(o, right, "gap %.0f, %s: FPR %.5f is within 1 %% of 20 %%", gap,
                plan_designs[design], fpr);
    lab_promise(o, near, "gap %.0f, %s: loss %.4f, not %.4f", gap, plan_designs[design], loss,
                model);
}

static void plan_measured(lab_options *o) {
    p000_probe probe[PLAN_GAPS * PLAN_DESIGNS];
    for (int i = 0; i < PLAN_GAPS * PLAN_DESIGNS; i++)
        probe[i] = plan_probe(o, i % PLAN_DESIGNS, plan_gaps[i / PLAN_DESIGNS]);
    p000_probe_all(o, probe, PLAN_GAPS * PLAN_DESIGNS);
    lab_table *t = lab_table_new("gap|design|chosen|FPR|error|loss predicted|measured|difference|"
                                 "error|FNR of 1-10|FNR of 41-50|verdict");
    for (int i = 0; i < PLAN_GAPS * PLAN_DESIGNS; i++)
        plan_row(o, t, &probe[i], i % PLAN_DESIGNS, plan_gaps[i / PLAN_DESIGNS]);
    lab_table_print(t, o);
}

void p000_run_planner(lab_options *o) {
    const double scale = o->scale;
    o->scale = 1; /* what is only computed is computed at the published size */
    plan_deletes(o);
    plan_table(o);
    plan_maps(o);
    o->scale = scale;
    lab_say(o, "The library's planner, importance uniform in 1..50, 16 KB, FPR 20 %%:");
    plan_measured(o);
}

void p000_run_horizon(lab_options *o) {
    puts("design,gap,loss,top");
    static const char *const short_names[PLAN_DESIGNS] = {
        "SBF", "SBF sweep", "MC linear", "MC linear sweep", "HB", "MC planned", "MC planned sweep"};
    for (int design = 0; design < PLAN_DESIGNS; design++)
        for (double gap = 1000; gap < 6.5e4; gap *= 1.12) {
            char spec[EB_SPEC_MAX];
            plan_design(spec, o, design, gap);
            printf("%s,%.0f,%.6f,%.6f\n", short_names[design], gap,
                   plan_loss(spec, P000_HIGH, false, gap / o->scale),
                   p000_predict(spec, 0, gap / o->scale, P000_HIGH).fnr);
        }
}
