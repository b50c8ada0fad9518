/* p000_figure18.c - Figure 18: the share of cells that are zero, against arrivals.
 *
 * All keys are distinct, importance is uniform in 1..50.  The expected numbers are
 * the chain followed from the empty filter; a plain filter has (1-1/m)^(5n).  While
 * H is nearly empty it does not find a unit to take within its 256 tries and takes
 * fewer than P: for some time it has fewer zeros than the chain. */
#include "paper_000.h"
#include <math.h>
#include <stdlib.h>

enum { FIG18_POINTS = 6, FIG18_FILTERS = 7 };
static const double fig18_at[FIG18_POINTS] = {1000, 5000, 10000, 20000, 50000, 200000};
static const struct {
    p000_kind kind;
    double zeros[FIG18_POINTS]; /* expected; 0 for HB: only predicted */
} fig18_filters[FIG18_FILTERS] = {{P000_BF, {.9626, .8264, .6829, .4663, .1485, .0005}},
                                  {P000_BF_THIRD, {.8919, .5643, .3184, .1014, .0033, 0}},
                                  {P000_SBF, {.8919, .5643, .3190, .1143, .0586, .0585}},
                                  {P000_2C, {.8919, .5691, .3446, .1692, .1106, .1104}},
                                  {P000_MC, {.8937, .5943, .3921, .2341, .1843, .1841}},
                                  {P000_H, {.9482, .7833, .6451, .4963, .3878, .3764}},
                                  {P000_HB, {0}}};

#define FIG18_H_BIAS 0.01

enum { FIG18_STEPS = 100 }; /* points of the curve; a step is 2000 arrivals */

typedef struct fig18_work {
    const lab_options *o;
    p000_mean point[FIG18_FILTERS][FIG18_POINTS], curve[FIG18_FILTERS][FIG18_STEPS + 1];
} fig18_work;

static void fig18_note(p000_mean *m, const eb_filter *f) {
    eb_stats s = {.size = sizeof s};
    calls_stat(f, &s);
    m->sum += 1 - s.fill;
    m->squares += (1 - s.fill) * (1 - s.fill);
    m->count++;
}

static void fig18_run(fig18_work *w, size_t i, uint64_t seed) {
    char spec[P000_SPEC], seeded[P000_SPEC + 40];
    eb_filter *f;
    eb_error err;
    lab_rng random = {lab_mix(seed)};
    const uint64_t step = p000_scaled(w->o, 2000), all = p000_scaled(w->o, 200000);
    p000_spec(spec, fig18_filters[i].kind, P000_HIGH, w->o);
    snprintf(seeded, sizeof seeded, "%s,seed=%llu", spec, (unsigned long long)seed);
    if (eb_new(&f, seeded, NULL, &err)) lab_die("%s: %s", seeded, err.text);
    for (uint64_t n = 1; n <= all; n++) {
        const uint64_t hash = lab_random(&random);
        const uint64_t value =
            fig18_filters[i].kind >= P000_2C ? 1 + (uint32_t)lab_below(&random, P000_HIGH) : 1;
        if (eb_add_batch(f, &A_BATCH(1, &hash, &value, NULL), NULL)) lab_die("adding a key failed");
        for (int p = 0; p < FIG18_POINTS; p++)
            if (n == p000_scaled(w->o, fig18_at[p])) fig18_note(&w->point[i][p], f);
        if (n % step == 0) fig18_note(&w->curve[i][n / step], f);
    }
    eb_free(f);
}

static void fig18_job(void *ctx, size_t i) {
    fig18_work *w = ctx;
    for (unsigned seed = 0; seed < w->o->seeds; seed++) fig18_run(w, i, w->o->seed + seed);
}

static fig18_work *fig18_measure(const lab_options *o) {
    fig18_work *w = lab_alloc(1, sizeof *w);
    w->o = o;
    lab_parallel(o->threads, FIG18_FILTERS, fig18_job, w);
    return w;
}

static eb_prediction fig18_predict(const lab_options *o, size_t i, double arrivals) {
    char spec[P000_SPEC];
    p000_spec(spec, fig18_filters[i].kind, P000_HIGH, o);
    return p000_predict(spec, arrivals / o->scale, 0, 0);
}

/* The readings of one run differ by chance as a binomial share of its cells would. */
static double fig18_error(const lab_options *o, size_t i, double zeros) {
    const double cells = fig18_filters[i].kind == P000_BF ? P000_BITS : P000_CELLS;
    return sqrt(fmax(zeros * (1 - zeros), 1e-6) / cells * o->scale / o->seeds);
}

void p000_run_figure18(lab_options *o) {
    fig18_work *w = fig18_measure(o);
    lab_table *t = lab_checks_new("filter|arrivals|predicted", "expected");
    for (size_t i = 0; i < FIG18_FILTERS; i++)
        for (int p = 0; p < FIG18_POINTS; p++) {
            const double model = 1 - fig18_predict(o, i, fig18_at[p]).fill;
            const bool given = fig18_filters[i].kind != P000_HB;
            const double want = given ? fig18_filters[i].zeros[p] : model;
            const double error = fig18_error(o, i, want);
            const double bias = fig18_filters[i].kind == P000_H ? FIG18_H_BIAS : 0.001;
            char what[80];
            snprintf(what, sizeof what, "%s|%.0f|%.4f", p000_names[fig18_filters[i].kind],
                     fig18_at[p], model);
            lab_check_row(
                o, t, what,
                (lab_check){want, p000_mean_of(&w->point[i][p]), error, bias + 4 * error, 4});
            lab_promise(o, fabs(model - want) <= 0.001 + 5 * o->scale / P000_CELLS,
                        "Figure 18, %s: predicted is %.4f, not %.4f", what, model, want);
        }
    lab_table_print(t, o);
    free(w);
}

void p000_run_zeros(lab_options *o) {
    fig18_work *w = fig18_measure(o);
    puts("filter,arrivals,measured,predicted");
    for (size_t i = 0; i < FIG18_FILTERS; i++)
        for (int s = 0; s <= FIG18_STEPS; s++)
            printf("%s,%d,%.6f,%.6f\n",
                   fig18_filters[i].kind == P000_BF_THIRD ? "BF/3"
                                                          : p000_names[fig18_filters[i].kind],
                   2000 * s, s ? p000_mean_of(&w->curve[i][s]) : 1,
                   s ? 1 - fig18_predict(o, i, 2000.0 * s).fill : 1);
    free(w);
}
