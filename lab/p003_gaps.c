/* p003_gaps.c - endless streams: half of the records are new keys, the others
 * repeat the key of an earlier record, 16 MB for 1e9 records.
 *
 * Each design is run at several settings; its FNR at a given FPR is read off the
 * line through its best points (FPR on a logarithmic scale).  The first fifth of
 * a stream is not counted: the filters are filling up.  The bound knows the law
 * of the gaps and every key's history. */
#include "paper_003.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

enum { GAPS_STREAMS = 5, GAPS_TARGETS = 4, GAPS_DESIGNS = 7, GAPS_POINTS = 96 };
static const double gaps_targets[GAPS_TARGETS] = {0.01, 0.02, 0.05, 0.10};

typedef struct gaps_stream {
    const char *name;
    lab_gap gap;                /* in records of a stream of 1e9 */
    double words[GAPS_TARGETS]; /* FNR % expected of lru words at the targets */
} gaps_stream;

static const gaps_stream gaps_streams[GAPS_STREAMS] = {
    {"uniform to 2.5e7", {LAB_UNIFORM, 2.5e7, 0}, {20.66, 14.86, 8.55, 4.90}},
    {"uniform to 1e8", {LAB_UNIFORM, 1e8, 0}, {73.57, 69.77, 63.32, 56.32}},
    {"exponential mean 1.25e7", {LAB_EXPONENTIAL, 1.25e7, 0}, {18.94, 14.86, 10.26, 7.18}},
    {"Pareto 1 from 2.5e5", {LAB_PARETO, 2.5e5, 1}, {0.98, 0.84, 0.68, 0.56}},
    {"Pareto 0.5 from 2.5e5", {LAB_PARETO, 2.5e5, 0.5}, {8.35, 7.55, 6.54, 5.65}},
};

static const char *const gaps_designs[GAPS_DESIGNS] = {
    "SBF 1 bit", "SBF 2 bits", "stable (sweep)", "BSBF", "RLBSBF", "lru word", "lru line"};
enum { GAPS_WORD = 5 };

typedef struct gaps_point {
    int design;
    unsigned w, b; /* lru only */
    lab_rates rates;
} gaps_point;

typedef struct gaps_run {
    const lab_options *o;
    gaps_point *point; /* seeds times GAPS_POINTS */
    size_t points;     /* of one seed */
} gaps_run;

static lab_gap gaps_law(const lab_options *o, size_t stream) {
    lab_gap g = gaps_streams[stream].gap;
    g.scale /= o->scale;
    return g;
}

static double gaps_bits(const lab_options *o) {
    return 16 * 0x1p23 / o->scale;
}

/* Subjects */

typedef struct gaps_list {
    lab_subject subject[GAPS_POINTS];
    gaps_point *point;
    size_t n;
    unsigned long long bits, seed;
} gaps_list;

__attribute__((format(printf, 5, 6))) static void gaps_add(gaps_list *l, int design, unsigned w,
                                                           unsigned b, const char *format, ...) {
    char spec[P003_SPEC];
    va_list args;
    va_start(args, format);
    vsnprintf(spec, sizeof spec, format, args);
    va_end(args);
    if (l->n == GAPS_POINTS) lab_die("too many settings");
    l->point[l->n] = (gaps_point){.design = design, .w = w, .b = b};
    l->subject[l->n++] = lab_filter(gaps_designs[design], spec);
}

static void gaps_add_stable(gaps_list *l) {
    static const double fpr[] = {0.008, 0.016, 0.035, 0.08, 0.2, 0.35};
    static const unsigned first_k[] = {1, 2, 2};
    static const char *const how[] = {"width=1,delete=random", "width=2,delete=random",
                                      "width=2,delete=sweep"};
    for (int d = 0; d < 3; d++)
        for (unsigned k = first_k[d]; k <= 4; k++)
            for (size_t i = 0; i < sizeof fpr / sizeof fpr[0]; i++)
                gaps_add(l, d, 0, 0, "stable:cells=%llu,%s,k=%u,fpr=%g,seed=%llu",
                         l->bits / (d ? 2 : 1), how[d], k, fpr[i], l->seed);
}

static void gaps_add_all(gaps_list *l) {
    static const unsigned line_w[] = {10, 12, 14, 16};
    gaps_add_stable(l);
    for (unsigned k = 1; k <= 8; k++)
        gaps_add(l, 3, 0, 0, "bsbf:cells=%llu,k=%u,seed=%llu", l->bits / k * k, k, l->seed);
    for (unsigned k = 2; k <= 12; k += 2)
        gaps_add(l, 4, 0, 0, "rlbsbf:cells=%llu,k=%u,seed=%llu", l->bits / k * k, k, l->seed);
    for (unsigned w = 6; w <= 12; w++) {
        const unsigned b = 64 / w;
        gaps_add(l, GAPS_WORD, w, b, "lru:cells=%llu,bucket=word,print_bits=%u,slots=%u,seed=%llu",
                 l->bits / 64 * b, w, b, l->seed);
    }
    for (size_t i = 0; i < sizeof line_w / sizeof line_w[0]; i++) {
        const unsigned w = line_w[i], b = 4 * (128 / w);
        gaps_add(l, GAPS_WORD + 1, w, b,
                 "lru:cells=%llu,bucket=line,print_bits=%u,slots=%u,seed=%llu", l->bits / 512 * b,
                 w, b, l->seed);
    }
}

static void gaps_job(void *ctx, size_t i) {
    gaps_run *all = ctx, *r = &all[i / all->o->seeds];
    const size_t seed = i % r->o->seeds, stream = (size_t)(r - all);
    gaps_list *l = lab_alloc(1, sizeof *l);
    l->point = r->point + seed * GAPS_POINTS;
    l->bits = (unsigned long long)gaps_bits(r->o);
    l->seed = r->o->seed + seed;
    gaps_add_all(l);
    const uint64_t records = (uint64_t)round(1e9 / r->o->scale);
    const lab_watch watch = {.warm_up = records / 5};
    lab_run(lab_stream_gaps(records, 0.5, gaps_law(r->o, stream), l->seed), l->subject, l->n,
            &watch);
    for (size_t k = 0; k < l->n; k++) l->point[k].rates = l->subject[k].rates;
    if (seed == 0) r->points = l->n;
    free(l);
}

static gaps_run *gaps_measure(const lab_options *o) {
    gaps_run *r = lab_alloc(GAPS_STREAMS, sizeof *r);
    for (int i = 0; i < GAPS_STREAMS; i++)
        r[i] = (gaps_run){o, lab_alloc((size_t)o->seeds * GAPS_POINTS, sizeof(gaps_point)), 0};
    lab_parallel(o->threads, (size_t)GAPS_STREAMS * o->seeds, gaps_job, r);
    for (int i = 0; i < GAPS_STREAMS; i++)
        for (size_t k = GAPS_POINTS; k < (size_t)o->seeds * GAPS_POINTS; k++)
            lab_rates_pool(&r[i].point[k % GAPS_POINTS].rates, &r[i].point[k].rates);
    return r;
}

static void gaps_free(gaps_run *r) {
    for (int i = 0; i < GAPS_STREAMS; i++) free(r[i].point);
    free(r);
}

/* Reading a curve */

static int gaps_by_fpr(const void *a, const void *b) {
    const double x = ((const double *)a)[0], y = ((const double *)b)[0];
    return (x > y) - (x < y);
}

/* The points of a design that no other point beats in both rates, by FPR. */
static size_t gaps_curve(const gaps_run *r, int design, double curve[GAPS_POINTS][2]) {
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < r->points; i++)
        if (r->point[i].design == design) {
            curve[n][0] = lab_rate_of(&r->point[i].rates, LAB_FPR);
            curve[n++][1] = lab_rate_of(&r->point[i].rates, LAB_FNR);
        }
    qsort(curve, n, sizeof curve[0], gaps_by_fpr);
    for (size_t i = 0; i < n; i++)
        if (curve[i][0] > 0 && (!kept || curve[i][1] < curve[kept - 1][1])) {
            curve[kept][0] = curve[i][0];
            curve[kept++][1] = curve[i][1];
        }
    return kept;
}

static double gaps_read(double curve[GAPS_POINTS][2], size_t n, double fpr) {
    for (size_t i = 0; i + 1 < n; i++) {
        if (fpr < curve[i][0] || fpr > curve[i + 1][0]) continue;
        const double part = log(fpr / curve[i][0]) / log(curve[i + 1][0] / curve[i][0]);
        return curve[i][1] + part * (curve[i + 1][1] - curve[i][1]);
    }
    return NAN; /* no setting on either side */
}

/* Reports */

static void gaps_print_cell(char *text, size_t size, double fnr[GAPS_TARGETS]) {
    size_t at = 0;
    for (int i = 0; i < GAPS_TARGETS; i++) {
        if (isnan(fnr[i]))
            at += (size_t)snprintf(text + at, size - at, "%s-", i ? " / " : "");
        else
            at += (size_t)snprintf(text + at, size - at, "%s%.2f", i ? " / " : "", 100 * fnr[i]);
    }
}

static void gaps_check_words(lab_options *o, int stream, const double fnr[GAPS_TARGETS]) {
    for (int i = 0; i < GAPS_TARGETS; i++) {
        const double want = gaps_streams[stream].words[i];
        lab_promise(o, fabs(100 * fnr[i] - want) <= 0.05 * want,
                    "%s: FNR of lru words at FPR %g %% is %.3f, within 5 %% of %.2f",
                    gaps_streams[stream].name, 100 * gaps_targets[i], 100 * fnr[i], want);
    }
}

static void gaps_design_row(lab_options *o, lab_table *t, const gaps_run *r, int design) {
    char cell[GAPS_STREAMS][60];
    for (int s = 0; s < GAPS_STREAMS; s++) {
        double curve[GAPS_POINTS][2], fnr[GAPS_TARGETS];
        const size_t n = gaps_curve(&r[s], design, curve);
        for (int i = 0; i < GAPS_TARGETS; i++) fnr[i] = gaps_read(curve, n, gaps_targets[i]);
        gaps_print_cell(cell[s], sizeof cell[s], fnr);
        if (design == GAPS_WORD) gaps_check_words(o, s, fnr);
    }
    lab_table_row(t, "%s|%s|%s|%s|%s|%s", gaps_designs[design], cell[0], cell[1], cell[2], cell[3],
                  cell[4]);
}

static void gaps_other_rows(const lab_options *o, lab_table *t) {
    char expected[GAPS_STREAMS][60], bound[GAPS_STREAMS][60];
    for (int s = 0; s < GAPS_STREAMS; s++) {
        double want[GAPS_TARGETS], least[GAPS_TARGETS];
        lab_demand d =
            lab_demand_of_gaps((uint64_t)(0.6e9 / o->scale), 0.5, gaps_law(o, (size_t)s), o->seed);
        for (int i = 0; i < GAPS_TARGETS; i++) {
            want[i] = gaps_streams[s].words[i] / 100;
            least[i] = lab_bound_demand(&d, gaps_bits(o), gaps_targets[i]);
        }
        lab_demand_free(&d);
        gaps_print_cell(expected[s], sizeof expected[s], want);
        gaps_print_cell(bound[s], sizeof bound[s], least);
    }
    lab_table_row(t, "lru word, expected|%s|%s|%s|%s|%s", expected[0], expected[1], expected[2],
                  expected[3], expected[4]);
    lab_table_row(t, "bound|%s|%s|%s|%s|%s", bound[0], bound[1], bound[2], bound[3], bound[4]);
}

/* A full bucket answers "seen" to a new key with probability b / (2^w - 1). */
static void gaps_check_fpr(lab_options *o, const gaps_run *r) {
    lab_table *t = lab_table_new("bucket|w|b|FPR % of the formula|measured|off by %|error %");
    for (size_t i = 0; i < r->points; i++) {
        const gaps_point *p = &r->point[i];
        if (p->design < GAPS_WORD) continue;
        const double want = p->b / (exp2(p->w) - 1), fpr = lab_rate_of(&p->rates, LAB_FPR);
        const double error = lab_error_of(&p->rates, LAB_FPR) / want;
        lab_table_row(t, "%s|%u|%u|%.4f|%.4f|%+.2f|%.2f", gaps_designs[p->design], p->w, p->b,
                      100 * want, 100 * fpr, 100 * (fpr / want - 1), 100 * error);
        if (p->design == GAPS_WORD)
            lab_promise(o, fabs(fpr / want - 1) <= fmax(0.02, 4 * error),
                        "lru words with w=%u: FPR %.4f %% within 2 %% of %.4f %%", p->w, 100 * fpr,
                        100 * want);
    }
    lab_table_print(t, o);
}

void p003_run_gaps(lab_options *o) {
    gaps_run *r = gaps_measure(o);
    lab_table *t =
        lab_table_new("FNR % at FPR 1 / 2 / 5 / 10 %|uniform gaps to 2.5e7|uniform to 1e8"
                      "|exponential, mean 1.25e7|Pareto a=1 from 2.5e5|Pareto a=0.5 from "
                      "2.5e5");
    for (int d = 0; d < GAPS_DESIGNS; d++) gaps_design_row(o, t, r, d);
    gaps_other_rows(o, t);
    lab_table_print(t, o);
    gaps_check_fpr(o, &r[0]);
    gaps_free(r);
}

void p003_run_gap_curves(lab_options *o) {
    gaps_run *r = gaps_measure(o);
    puts("stream,design,fpr,fnr");
    for (int s = 0; s < GAPS_STREAMS; s++) {
        for (int d = 0; d < GAPS_DESIGNS; d++) {
            double curve[GAPS_POINTS][2];
            const size_t n = gaps_curve(&r[s], d, curve);
            for (size_t i = 0; i < n; i++)
                printf("%d,%s,%.6f,%.6f\n", s + 1, gaps_designs[d], 100 * curve[i][0],
                       100 * curve[i][1]);
        }
        lab_demand d =
            lab_demand_of_gaps((uint64_t)(0.6e9 / o->scale), 0.5, gaps_law(o, (size_t)s), o->seed);
        for (double fpr = 0.002; fpr < 0.3; fpr *= 1.25)
            printf("%d,bound,%.6f,%.6f\n", s + 1, 100 * fpr,
                   100 * lab_bound_demand(&d, gaps_bits(o), fpr));
        lab_demand_free(&d);
    }
    gaps_free(r);
}
