/* p001_profiles.c - queries by Zipf's law, members that are likely or unlikely among
 * the popular: what eq. (5) of the paper, and the corrected rule, gain over a plain
 * filter.
 *
 * N = 20000 kinds of keys by popularity, frequency rank^-s, likelihood x of being a
 * member proportional to rank^t but at most 1/2, n = 500 members expected, m/n = 8.
 * r = (1-x) f, normalised, is the share of queries for non-members (eq. 10).
 *
 *   eq. (5)      k = (m/n) ln 2 + log2 r - sum (x/n) log2 r
 *   corrected    k = max(0, log2(r/(C x))), C such that sum x k = m ln 2 */
#include "paper_001.h"
#include <math.h>
#include <stdlib.h>

enum { PRO_N = 20000, PRO_MEMBERS = 500, PRO_RULES = 7 };
#define PRO_BITS 8.0 /* a member */

typedef struct profile {
    double s, t;
    double r[PRO_N], x[PRO_N], k[PRO_N];
} profile;

/* x = min(1/2, c rank^t) with sum n */
static void pro_members(profile *p) {
    double low = 0, high = 1e9;
    for (int step = 0; step < 200; step++) {
        const double c = step < 30 ? sqrt(fmax(low, 1e-9) * high) : (low + high) / 2;
        double sum = 0;
        for (int i = 0; i < PRO_N; i++) sum += p->x[i] = fmin(0.5, c * pow(i + 1, p->t));
        *(sum < PRO_MEMBERS ? &low : &high) = c;
    }
}

static profile *pro_new(double s, double t) {
    profile *p = lab_alloc(1, sizeof *p);
    double others = 0, sum = 0;
    p->s = s;
    p->t = t;
    pro_members(p);
    for (int i = 0; i < PRO_N; i++) others += (1 - p->x[i]) * pow(i + 1, -s);
    for (int i = 0; i < PRO_N; i++) {
        const double f = pow(i + 1, -s);
        sum += p->r[i] = (1 - p->x[i]) * f / (p->x[i] * f + others);
    }
    for (int i = 0; i < PRO_N; i++) p->r[i] /= sum;
    return p;
}

static double pro_divergence(const profile *p) { /* of x/n from uniform */
    double sum = 0;
    for (int i = 0; i < PRO_N; i++)
        sum += p->x[i] / PRO_MEMBERS * log(p->x[i] / PRO_MEMBERS * PRO_N);
    return exp(sum);
}

/* False positive rate with bits p->k */
static double pro_fpr(const profile *p) {
    double set = 0, fpr = 0;
    for (int i = 0; i < PRO_N; i++) set += p->x[i] * p->k[i];
    const double log_q = log(1 - exp(-set / (PRO_BITS * PRO_MEMBERS)));
    for (int i = 0; i < PRO_N; i++) fpr += p->r[i] * exp(p->k[i] * log_q);
    return fpr;
}

static void pro_round(profile *p) {
    for (int i = 0; i < PRO_N; i++) p->k[i] = p->k[i] < 0.5 ? 0 : floor(p->k[i] + 0.5);
}

static double pro_eq7(const profile *p) {
    double sum = log(PRO_N) - PRO_BITS * log(2) * log(2);
    for (int i = 0; i < PRO_N; i++) sum += p->x[i] / PRO_MEMBERS * log(p->r[i]);
    return exp(sum);
}

static void pro_eq5(profile *p) {
    double mean = 0;
    for (int i = 0; i < PRO_N; i++) mean += p->x[i] / PRO_MEMBERS * log2(p->r[i]);
    for (int i = 0; i < PRO_N; i++) p->k[i] = PRO_BITS * log(2) + log2(p->r[i]) - mean;
}

static void pro_corrected(profile *p) {
    double low = -100, high = 100; /* log2 C */
    for (int step = 0; step < 100; step++) {
        const double c = (low + high) / 2;
        double sum = 0;
        for (int i = 0; i < PRO_N; i++)
            sum += p->x[i] * (p->k[i] = fmax(0, log2(p->r[i] / p->x[i]) - c));
        *(sum > PRO_BITS * PRO_MEMBERS * log(2) ? &low : &high) = c;
    }
}

/* k bits on the average: the fraction by a hash of the key. */
static double pro_hash_rounding(const profile *p) {
    double fpr = 0;
    for (int i = 0; i < PRO_N; i++) {
        const double part = p->k[i] - floor(p->k[i]);
        fpr += p->r[i] * exp2(-floor(p->k[i])) * (1 - part / 2);
    }
    return fpr;
}

static double pro_weigh(const profile *p, unsigned rule) {
    eb_class *c = lab_alloc(PRO_N, sizeof *c);
    uint8_t *k = lab_alloc(PRO_N, 1);
    double fpr, plain;
    for (int i = 0; i < PRO_N; i++) c[i] = (eb_class){1, p->x[i], p->r[i]};
    if (eb_weigh(c, PRO_N, PRO_BITS * PRO_MEMBERS, rule, k, &fpr, &plain, NULL))
        lab_die("weighing a profile failed");
    free(k);
    free(c);
    return fpr;
}

/* Improvements over the best plain filter with a whole k. */
static void pro_improvements(profile *p, double out[PRO_RULES]) {
    unsigned k;
    const double plain = p001_plain(PRO_BITS, &k);
    out[0] = plain / pro_eq7(p);
    pro_eq5(p);
    pro_round(p);
    out[1] = plain / pro_fpr(p);
    pro_corrected(p);
    out[2] = plain / pro_fpr(p);
    out[5] = plain / pro_hash_rounding(p);
    pro_round(p);
    out[3] = plain / pro_fpr(p);
    out[4] = plain / pro_weigh(p, EB_WEIGH_BEST);
    out[6] = plain / pro_weigh(p, EB_WEIGH_PAPER);
}

static const char *const pro_rules[PRO_RULES] = {"eq. (7)",
                                                 "eq. (5), rounded",
                                                 "corrected, real",
                                                 "corrected, nearest",
                                                 "best integers (`eb_weigh`)",
                                                 "corrected, rounded by a hash",
                                                 "eq. (5) (`eb_weigh`)"};

typedef struct pro_row {
    double s, t, divergence, want[PRO_RULES];
} pro_row;

static const pro_row pro_rows[] = {{0.6, 0, 1, {1.36, 1.34, 1.36, 1.34, 1.34, 1.31, 1.34}},
                                   {0.8, 0, 1, {1.99, 1.94, 1.99, 1.94, 1.95, 1.90, 1.94}},
                                   {1.0, 0, 1, {3.88, 3.80, 3.88, 3.80, 3.80, 3.73, 3.80}},
                                   {1.2, 0, 1, {10.77, 10.58, 10.77, 10.58, 10.58, 10.37, 10.58}},
                                   {1.0, 1, 1.21, {6.59, 6.51, 8.00, 7.84, 7.84, 7.68, 6.51}},
                                   {1.0, -0.5, 1.30, {1.28, 1.24, 1.66, 1.62, 1.62, 1.59, 1.24}},
                                   {1.0, -1, 2.82, {0.46, 0.47, 1.30, 1.27, 1.28, 1.24, 0.47}},
                                   {0.8, -0.8, 2.04, {0.52, 0.51, 1.07, 1.05, 1.06, 1.01, 0.51}}};
enum { PRO_ROWS = sizeof pro_rows / sizeof pro_rows[0] };

static void pro_check(lab_options *o, lab_table *t, const pro_row *row) {
    double got[PRO_RULES];
    char what[120];
    profile *p = pro_new(row->s, row->t);
    pro_improvements(p, got);
    snprintf(what, sizeof what, "%.1f|%+.1f|exp(KL)", row->s, row->t);
    lab_check_row(o, t, what, (lab_check){row->divergence, pro_divergence(p), NAN, 0.0051, 3});
    for (int i = 0; i < PRO_RULES; i++) { /* the library's search (4) was not the expected one's */
        snprintf(what, sizeof what, "%.1f|%+.1f|%s", row->s, row->t, pro_rules[i]);
        lab_check_row(o, t, what,
                      (lab_check){row->want[i], got[i], NAN, i == 4 ? 0.01 : 0.0051, 3});
    }
    lab_promise(o, got[4] >= 1, "s=%g, t=%g: the corrected rule is no worse than a plain filter",
                row->s, row->t);
    if (row->t <= -0.8) lab_promise(o, got[1] < 0.6, "s=%g, t=%g: eq. (5) loses", row->s, row->t);
    free(p);
}

void p001_run_profiles(lab_options *o) {
    lab_table *t = lab_checks_new("s|t|improvement", "expected");
    for (size_t i = 0; i < PRO_ROWS; i++) pro_check(o, t, &pro_rows[i]);
    lab_table_print(t, o);
}

/* Real filters have eight classes: by price r/x, so that the dear ones share the least members. */

enum { PRO_COPIES = 10 }; /* keys that each kind of key stands for */

typedef struct pro_sorted {
    double price;
    int i;
} pro_sorted;

static int pro_by_price(const void *a, const void *b) {
    const double x = ((const pro_sorted *)a)->price, y = ((const pro_sorted *)b)->price;
    return (x > y) - (x < y);
}

/* Fills classes and returns how many there are. */
static size_t pro_classes(const profile *p, const lab_options *o,
                          eb_class classes[EB_CLASSES_MAX]) {
    static const double left[EB_CLASSES_MAX] = {0.5,      0.25,     0.125,     1 / 16.0,
                                                1 / 64.0, 1 / 512., 1 / 8192., -1};
    pro_sorted *list = lab_alloc(PRO_N, sizeof *list);
    double members = 0;
    size_t n = 0;
    for (int i = 0; i < PRO_N; i++) list[i] = (pro_sorted){p->r[i] / p->x[i], i};
    qsort(list, PRO_N, sizeof *list, pro_by_price);
    for (int i = 0, cut = 0; i < PRO_N; i++) {
        const int at = list[i].i, before = cut;
        while (1 - members / PRO_MEMBERS < left[cut]) cut++;
        n += i == 0 || cut > before;
        members += p->x[at];
        classes[n - 1].keys += PRO_COPIES / o->scale;
        classes[n - 1].members += PRO_COPIES * p->x[at] / o->scale;
        classes[n - 1].queries += p->r[at];
    }
    free(list);
    return n;
}

static void pro_measured_row(lab_options *o, lab_table *t, const pro_row *row, unsigned rule) {
    eb_class classes[EB_CLASSES_MAX] = {{0}};
    uint8_t k[EB_CLASSES_MAX], plain_k[EB_CLASSES_MAX];
    char bits[40] = "", what[160];
    double fpr, plain;
    unsigned each;
    profile *p = pro_new(row->s, row->t);
    const size_t n = pro_classes(p, o, classes);
    const double all = PRO_BITS * PRO_MEMBERS * PRO_COPIES / o->scale;
    if (eb_weigh(classes, n, all, rule, k, &fpr, &plain, NULL)) lab_die("weighing classes failed");
    (void)p001_plain(PRO_BITS, &each);
    int at = 0;
    for (size_t c = 0; c < n; c++) {
        plain_k[c] = (uint8_t)each;
        at += snprintf(bits + at, sizeof bits - (size_t)at, "%s%u", c ? ":" : "", k[c]);
    }
    const p001_sample weighted = p001_simulate(o, classes, n, k, all);
    const p001_sample same = p001_simulate(o, classes, n, plain_k, all);
    const double got = same.fpr / weighted.fpr;
    const double error = got * hypot(same.error / same.fpr, weighted.error / weighted.fpr);
    snprintf(what, sizeof what, "%.1f|%+.1f|%s|%s", row->s, row->t,
             rule == EB_WEIGH_PAPER ? "eq. (5)" : "corrected", bits);
    /* Members are whole keys and the fill is one sample: 2 % at this size. */
    lab_check_row(
        o, t, what,
        (lab_check){plain / fpr, got, error, 4 * error + 0.02 * sqrt(o->scale) * plain / fpr, 3});
    lab_promise(o, weighted.missed + same.missed == 0, "s=%g, t=%g: no member is missed", row->s,
                row->t);
    free(p);
}

void p001_run_measured(lab_options *o) {
    lab_table *t = lab_checks_new("s|t|rule|bits of the classes", "expected");
    for (size_t i = 2; i < PRO_ROWS; i++)
        for (unsigned rule = EB_WEIGH_BEST; rule <= EB_WEIGH_PAPER; rule++)
            pro_measured_row(o, t, &pro_rows[i], rule);
    lab_table_print(t, o);
}

/* Improvements by eq. (5) and by the corrected rule, both to the nearest integers. */
void p001_run_skew(lab_options *o) {
    static const double t[] = {1, 0, -0.5, -1};
    unsigned k;
    const double plain = p001_plain(PRO_BITS, &k);
    (void)o;
    puts("t,s,eq5,corrected");
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
        for (double s = 0; s <= 1.301; s += 0.05) {
            profile *p = pro_new(s, t[i]);
            pro_eq5(p);
            pro_round(p);
            const double paper = plain / pro_fpr(p);
            pro_corrected(p);
            pro_round(p);
            printf("%g,%.2f,%.4f,%.4f\n", t[i], s, paper, plain / pro_fpr(p));
            free(p);
        }
}
