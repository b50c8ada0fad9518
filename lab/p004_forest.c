/* p004_forest.c - Figure 7: the elevations of the Forest Cover Type data.
 *
 * The data are not at hand.  What the report says of them is kept: 581012 records
 * and 1978 distinct values, in a hill with a long slope to the left as its Figure
 * 7a shows.  Heights are drawn around the published mean of the column's two
 * humps; counts follow the density, at least 1 each. */
#include "paper_004.h"
#include <math.h>

enum { FOREST_KEYS = 1978, FOREST_LOW = 1859 };
#define FOREST_RECORDS 581012.0

/* Two normal humps: most of the forest near 3000 m, the rest lower. */
static double forest_density(double height) {
    const double main = (height - 3030) / 210, lower = (height - 2480) / 260;
    return exp(-main * main / 2) + 0.17 * exp(-lower * lower / 2);
}

static void forest_counts(uint64_t *count) {
    double sum = 0;
    for (int i = 0; i < FOREST_KEYS; i++) sum += forest_density(FOREST_LOW + i);
    for (int i = 0; i < FOREST_KEYS; i++)
        count[i] = (uint64_t)fmax(1, round(FOREST_RECORDS / sum * forest_density(FOREST_LOW + i)));
}

static p004_result forest_run(const lab_options *o, p004_policy policy, double gamma) {
    uint64_t count[FOREST_KEYS];
    forest_counts(count);
    const p004_case c = {.policy = policy,
                         .size = p004_size_of(policy, FOREST_KEYS, 5, gamma),
                         .keys = FOREST_KEYS,
                         .count = count};
    return p004_run(o, &c);
}

static const p004_policy forest_policies[] = {P004_MS, P004_MI, P004_RM, P004_RMX};
enum { FOREST_POLICIES = sizeof forest_policies / sizeof *forest_policies };

void p004_run_figure7(lab_options *o) {
    static const double gammas[] = {.25, .5, .7, 1, 1.5};
    lab_table *const t = lab_table_new("gamma|E_b|MS|MI|RM|RM-X|E_add MS|MI|RM|RM-X");
    for (size_t g = 0; g < sizeof gammas / sizeof *gammas; g++) {
        p004_result r[FOREST_POLICIES];
        const double m = FOREST_KEYS * 5 / gammas[g];
        const double bloom = eb_count_error_rate(m, 5, FOREST_KEYS);
        for (int i = 0; i < FOREST_POLICIES; i++)
            r[i] = forest_run(o, forest_policies[i], gammas[g]);
        lab_table_row(t, "%g|%.4f|%.4f|%.4f|%.4f|%.4f|%.1f|%.1f|%.1f|%.1f", gammas[g], bloom,
                      r[0].mean.ratio, r[1].mean.ratio, r[2].mean.ratio, r[3].mean.ratio,
                      r[0].mean.size, r[1].mean.size, r[2].mean.size, r[3].mean.size);
        const double limit = 4 * r[0].sd.ratio / sqrt(o->seeds) + 0.0005;
        lab_promise(o, fabs(r[0].mean.ratio - bloom) <= limit, "gamma %g: MS is wrong as E_b says",
                    gammas[g]);
        lab_promise(o, r[1].mean.ratio <= r[0].mean.ratio && r[1].mean.size <= r[0].mean.size,
                    "gamma %g: MI is better than MS", gammas[g]);
        lab_promise(o, r[3].mean.ratio <= r[0].mean.ratio && r[3].mean.size <= r[0].mean.size,
                    "gamma %g: RM-X is better than MS", gammas[g]);
        lab_promise(o, r[2].mean.ratio > r[0].mean.ratio,
                    "gamma %g: RM with the same counters is wrong more often than MS", gammas[g]);
    }
    lab_table_print(t, o);
}

void p004_run_forest(lab_options *o) {
    static const double gammas[] = {.25, .35, .5, .6, .7, .85, 1, 1.25, 1.5, 2};
    uint64_t count[FOREST_KEYS];
    forest_counts(count);
    puts("what,x,ratio,size");
    for (int i = 0; i < FOREST_KEYS; i += 6)
        printf("count,%d,%llu,0\n", FOREST_LOW + i, (unsigned long long)count[i]);
    for (int i = 0; i < FOREST_POLICIES; i++)
        for (size_t g = 0; g < sizeof gammas / sizeof *gammas; g++) {
            const p004_result r = forest_run(o, forest_policies[i], gammas[g]);
            printf("%s,%g,%.6f,%.6f\n", p004_names[forest_policies[i]], gammas[g], r.mean.ratio,
                   r.mean.size);
        }
}
