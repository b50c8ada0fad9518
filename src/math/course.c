/* course.c - the chains of markov.c over long times, in a bounded number of steps.
 *
 * markov.c follows arrivals one after the other, which takes too long for a billion of them.  This
 * file treats time as continuous and solves the same equations with an implicit method whose steps
 * grow, so that a billion arrivals take a few hundred steps.  Compared with the exact chain, shares
 * of zeros are within 0.3 % if an arrival touches less than a hundredth of the cells
 * (tests/test_markov.c).
 *
 * The equations.  With Z_j = P(cell < j), j = 1..levels, and Z = 1 above the top, an arrival
 * changes Z by
 *
 *       Z_j' = a_j (Z_{j+1} - Z_j) - up_j Z_j + g_j + e_j Z_half
 *
 * where a is the probability to lose 1 and not be set, and up the probability to be set to j or
 * more. g and e are 0 except for two rules.  Each Z depends only on the one above, so an implicit
 * step is one pass from the top down.  The method is L-stable, has two stages and is of second
 * order.  The first step is a fraction of the fastest rate's time, and each further step is a
 * twentieth longer.  For the rule that takes units by the weights of all cells, the rates change
 * from step to step.
 *
 * What becomes of cells that were just set to a class follows from the transposed equations, for
 * all classes at once: P(0 after the gap) = sum of w_j Z_j, where w begins as 1 at j = 1. */
#include "probability.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum { COURSE_STATES = EBI_CHAIN_MAX_LEVELS + 2, COURSE_STEPS = 4000 };
#define COURSE_GROWTH 0.05
#define COURSE_FIRST 0.02                   /* times the time of the fastest rate */
#define COURSE_STILL 1e-11                  /* stop when a step moves less than this */
#define COURSE_GAMMA 0.29289321881345247560 /* 1 - sqrt(1/2) */

typedef struct course {
    const ebi_chain *c;
    double down[COURSE_STATES], out[COURSE_STATES];   /* a, and a + up */
    double given[COURSE_STATES], half[COURSE_STATES]; /* g, e */
    double fastest;
} course;

/* The share of units that a probe finds: the sum of x_j / j. */
static double course_weight(const ebi_chain *c, const double *z) {
    double sum = 0;
    for (int j = 1; j <= c->levels; j++) sum += fmax(0, z[j + 1] - z[j]) / j;
    return sum;
}

static void course_rates(course *m, const ebi_chain *c, double weight) {
    const double k = ebi_chain_set_rate(c);
    const bool by_value = c->rule == EBI_CHAIN_PROBES || c->rule == EBI_CHAIN_RECIPROCAL;
    double p = ebi_chain_clear_rate(c);
    if (c->rule == EBI_CHAIN_RECIPROCAL) p = weight > 0 ? p / weight : 0;
    *m = (course){.c = c};
    for (int j = 1; j <= c->levels; j++) {
        const bool all = c->rule == EBI_CHAIN_OVERWRITE || c->rule == EBI_CHAIN_PROMOTE;
        const double up = all ? k : k * c->tail[j];
        m->down[j] = (by_value ? fmin(1, p / j) : p) * (1 - up);
        m->out[j] = m->down[j] + up;
        if (c->rule == EBI_CHAIN_OVERWRITE) m->given[j] = k * (1 - c->tail[j]);
        if (c->rule == EBI_CHAIN_PROMOTE && j > c->half) m->half[j] = k * (1 - c->tail[c->levels]);
        m->fastest = fmax(m->fastest, m->out[j]);
    }
}

static void course_slope(const course *m, const double *z, double *dz) {
    const int levels = m->c->levels;
    for (int j = 1; j <= levels; j++)
        dz[j] = m->down[j] * z[j + 1] - m->out[j] * z[j] + m->given[j] + m->half[j] * z[m->c->half];
    dz[levels + 1] = 0;
}

/* Solves x - h A x = r for x, in place.  Where rows need the value at half, x = r + more times that
 * value. */
static void course_solve(const course *m, double h, double *r) {
    const int levels = m->c->levels, half = m->c->half;
    const bool coupled = m->c->rule == EBI_CHAIN_PROMOTE;
    double more[COURSE_STATES] = {0};
    for (int j = levels; j >= 1; j--) {
        const double inverse = 1 / (1 + h * m->out[j]);
        r[j] = (r[j] + h * m->down[j] * r[j + 1]) * inverse;
        if (!coupled || j < half) continue;
        more[j] = h * (m->down[j] * more[j + 1] + m->half[j]) * inverse;
        if (j > half) continue;
        const double at_half = r[j] / (1 - more[j]);
        for (int i = levels; i >= half; i--) r[i] += more[i] * at_half;
    }
}

typedef void course_apply(const course *m, const double *x, double *dx);
typedef void course_invert(const course *m, double h, double *r);

/* Makes one step of h arrivals and returns the largest change. */
static double course_step(const course *m, double h, double *z, course_apply *slope,
                          course_invert *solve) {
    assert(h > 0);
    double first[COURSE_STATES], at[COURSE_STATES], second[COURSE_STATES], moved = 0;
    const int n = m->c->levels + 1;
    slope(m, z, first);
    solve(m, COURSE_GAMMA * h, first);
    for (int j = 1; j <= n; j++) at[j] = z[j] + (1 - COURSE_GAMMA) * h * first[j];
    slope(m, at, second);
    solve(m, COURSE_GAMMA * h, second);
    for (int j = 1; j <= n; j++) {
        const double next = z[j] + h * ((1 - COURSE_GAMMA) * first[j] + COURSE_GAMMA * second[j]);
        const double kept = fmax(0, fmin(1, next));
        moved = fmax(moved, fabs(kept - z[j]));
        z[j] = kept;
    }
    return moved;
}

typedef struct course_clock {
    double t, end;
    int steps;
} course_clock;

static double course_next(course_clock *k, double fastest) {
    double h = fmax(COURSE_FIRST / fastest, COURSE_GROWTH * k->t);
    if (k->t + 1.5 * h > k->end) h = k->end - k->t;
    k->t += h;
    k->steps++;
    return h;
}

/* Takes z from empty to n arrivals.  The first arrival meets empty cells, which have no weights. */
static void course_begin(const ebi_chain *c, double n, double *z, course_clock *k) {
    assert(n > 0);
    *k = (course_clock){.end = n};
    for (int j = 1; j <= c->levels + 1; j++) z[j] = 1;
    if (c->rule != EBI_CHAIN_RECIPROCAL) return;
    k->t = fmin(1, n);
    for (int j = 1; j <= c->levels; j++) z[j] = 1 - k->t * ebi_chain_set_rate(c) * c->tail[j];
}

static double course_fpr(const ebi_chain *c, const double *z) {
    return ebi_pow1m(z[1], c->hashes);
}

typedef struct course_sums { /* sums over a course */
    double fpr;              /* an integral */
    double limit, eps, settled;
} course_sums;

static void course_go(const ebi_chain *c, double n, double *z, course_sums *s) {
    course_clock k;
    course m;
    course_begin(c, n, z, &k);
    course_rates(&m, c, course_weight(c, z));
    double moved = 1, weight = course_weight(c, z), last_weight = weight;
    while (k.t < n && moved > COURSE_STILL && k.steps < COURSE_STEPS) {
        if (c->rule == EBI_CHAIN_RECIPROCAL) /* the rates in the middle of the step */
            course_rates(&m, c, fmax(weight / 2, weight + (weight - last_weight) / 2));
        const double before = course_fpr(c, z), was = fabs(z[1] - s->limit), from = k.t;
        const double h = course_next(&k, m.fastest);
        moved = course_step(&m, h, z, course_slope, course_solve);
        last_weight = weight;
        weight = course_weight(c, z);
        s->fpr += h * (before + course_fpr(c, z)) / 2;
        const double off = fabs(z[1] - s->limit);
        if (off > s->eps)
            s->settled = k.t;
        else if (was > s->eps)
            s->settled = from + h * (was - s->eps) / (was - off);
    }
    if (k.t < n && !isinf(n)) s->fpr += (n - k.t) * course_fpr(c, z);
}

double ebi_course_zero(const ebi_chain *c, double n) {
    assert(n >= 0);
    double z[COURSE_STATES];
    course_sums s = {0};
    course_go(c, n, z, &s);
    return z[1];
}

double ebi_course_mean_fpr(const ebi_chain *c, double n) {
    assert(n > 0);
    double z[COURSE_STATES];
    course_sums s = {0};
    assert(n > 0 && !isinf(n));
    course_go(c, n, z, &s);
    return fmin(1, s.fpr / n);
}

double ebi_course_settles(const ebi_chain *c, double limit, double eps) {
    assert(eps > 0);
    double z[COURSE_STATES];
    course_sums s = {.limit = limit, .eps = eps};
    course_go(c, INFINITY, z, &s);
    return ceil(s.settled);
}

/* The slope of the transposed equations.  The last element is the coefficient of 1. */
static void course_slope_back(const course *m, const double *w, double *dw) {
    const int levels = m->c->levels;
    dw[levels + 1] = 0;
    for (int j = 1; j <= levels; j++) {
        dw[j] = (j > 1 ? m->down[j - 1] * w[j - 1] : 0) - m->out[j] * w[j];
        dw[levels + 1] += m->given[j] * w[j];
    }
    dw[levels + 1] += m->down[levels] * w[levels];
}

static void course_solve_back(const course *m, double h, double *r) {
    const int levels = m->c->levels;
    for (int j = 1; j <= levels; j++) {
        r[j] = (r[j] + (j > 1 ? h * m->down[j - 1] * r[j - 1] : 0)) / (1 + h * m->out[j]);
        r[levels + 1] += h * m->given[j] * r[j];
    }
    r[levels + 1] += h * m->down[levels] * r[levels];
}

static void course_run(const course *m, double n, double *z, bool back) {
    assert(n >= 0);
    course_clock k = {.end = n};
    double moved = 1;
    while (k.t < n && moved > COURSE_STILL && k.steps < COURSE_STEPS)
        moved =
            course_step(m, course_next(&k, m->fastest), z, back ? course_slope_back : course_slope,
                        back ? course_solve_back : course_solve);
}

/* Two classes: a cell below half becomes half, all others become the top. */
static void course_lost_promoted(const course *m, double gap, const double *z, double *zero) {
    const ebi_chain *const c = m->c;
    double low[COURSE_STATES] = {0}, high[COURSE_STATES] = {0};
    for (int j = c->half + 1; j <= c->levels; j++) low[j] = z[c->half];
    low[c->levels + 1] = high[c->levels + 1] = 1;
    course_run(m, gap, low, false);
    course_run(m, gap, high, false);
    for (int v = 1; v <= c->levels; v++) zero[v] = v <= c->half ? low[1] : high[1];
}

void ebi_course_lost(const ebi_chain *c, double gap, double n, double *zero) {
    assert(gap >= 0 && gap <= n);
    double z[COURSE_STATES], w[COURSE_STATES] = {0};
    course m;
    course_sums s = {0};
    course_go(c, n, z, &s); /* uses the rates at the end of the gap, like markov.c */
    course_rates(&m, c, course_weight(c, z));
    if (n - gap < n) course_go(c, n - gap, z, &s);
    if (c->rule == EBI_CHAIN_PROMOTE) {
        course_lost_promoted(&m, gap, z, zero);
        return;
    }
    w[1] = 1;
    course_run(&m, gap, w, true);
    double sum = w[c->levels + 1];
    for (int v = c->levels; v >= 1; v--) {
        zero[v] = fmax(0, fmin(1, sum));
        sum += w[v] * (c->rule == EBI_CHAIN_OVERWRITE ? 1 : z[v]);
    }
}
