/* markov.c - the life of one cell that holds 0..levels, loses 1 now and then, and is set by
 * arriving keys.  From it follow the false positives of filters that fade (the share of cells that
 * are not zero) and their false negatives (how likely the cell of a key is zero again after a gap).
 * Long streams are left to course.c.
 *
 * Per arrival a cell loses 1 with probability p = P/cells.  Then it is set with probability k,
 * which is 1-(1-1/cells)^K, or K/cells for distinct cells, to a class that is >= j with probability
 * Q_j (tail[j]).  Let Z_j = P(cell < j).  In the long run the flows across each boundary j are
 * equal:
 *
 *       up k Q_j Z_j, down p (1 - k Q_j) (Z_{j+1} - Z_j)      (max rule; others below)
 *
 * This gives Z_j from Z_{j+1}, beginning with Z_{levels+1} = 1.  The share of zeros is Z_1.
 *
 * Finite times use uniformisation.  An arrival touches a cell with probability at most s =
 * 1-(1-k)(1-p), so n arrivals are Binomial(n, s) steps of a chain that moves 1/s times as fast.
 * Its steps are sums of flows, never small differences of large numbers.  It stands still after a
 * few hundred steps, so the cost does not depend on n.  It grows with levels^2 (1 + K/P).
 *
 * The cyclic sweep visits each cell every T = cells/P arrivals.  Looking back from now, j visits
 * ago only classes > j still count, and the time since the last visit is uniform in [0, T). */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "probability.h"

enum { MARKOV_STATES = EBI_CHAIN_MAX_LEVELS + 1, MARKOV_WORK = 200000 };
#define MARKOV_STILL 1e-15       /* stop when a step moves less than this */
#define MARKOV_SLOPE_STILL 1e-12 /* the same for the equation of the reciprocal rule */
#define MARKOV_SLOPE_STEP 0.8    /* step times fastest rate; stable below 2.7 */
#define MARKOV_TINY 1e-17

void ebi_chain_init(ebi_chain *c, ebi_chain_rule rule, double cells, double hashes, double deletes,
                    int levels) {
    assert(levels >= 1 && levels <= EBI_CHAIN_MAX_LEVELS);
    *c = (ebi_chain){.rule = rule,
                     .cells = cells,
                     .hashes = hashes,
                     .deletes = deletes,
                     .levels = levels,
                     .half = levels / 2,
                     .distinct = true};
    for (int j = 0; j <= levels; j++) c->tail[j] = 1;
}

void ebi_chain_classes(ebi_chain *c, const double *share) {
    double sum = 0;
    for (int v = c->levels; v >= 1; v--) c->tail[v] = sum += share[v];
    assert(sum > 0);
    for (int v = 1; v <= c->levels; v++) c->tail[v] /= sum;
}

/* The probability that an arrival sets a given cell.  Kept below 1, so that log(1 - rate)
 * exists. */
double ebi_chain_set_rate(const ebi_chain *c) {
    const double k = c->hashes / c->cells;
    return fmin(1 - 1e-9, c->distinct ? k : ebi_one_minus_pow1m(1 / c->cells, c->hashes));
}

/* The probability that an arrival takes 1 from a given cell that is not zero. */
double ebi_chain_clear_rate(const ebi_chain *c) {
    return fmin(1, c->deletes / c->cells);
}

/* --- the long run ---------------------------------------------------------------------------- */

/* Z[levels+1] = 1 down to Z[1] for the max rule, where a cell of value j loses 1 with probability p
 * (or p/j). */
static void markov_max(const ebi_chain *c, double p, bool reciprocal, double *z) {
    assert(p >= 0);
    const double k = ebi_chain_set_rate(c);
    for (int j = c->levels; j >= 1; j--) {
        const double up = k * c->tail[j];
        const double down = (reciprocal ? p / j : p) * (1 - up);
        z[j] = up > 0 ? z[j + 1] * (down / (down + up)) : z[j + 1];
    }
}

/* Algorithm 1 as published.  Above `half`, a low class raises cells unless they are below half, so
 * Z_j - u Z_half grows by 1+r from one boundary to the next (u is the share of the low class). */
static void markov_promote(const ebi_chain *c, double *z) {
    const double k = ebi_chain_set_rate(c), p = ebi_chain_clear_rate(c);
    const double grow = 1 + k / (p * (1 - k));
    const double low = (1 - c->tail[c->levels]) / grow;
    const int h = c->half;
    z[h + 1] = 1 / (low + (1 - low) * pow(grow, c->levels - h));
    for (int j = h; j >= 1; j--) z[j] = z[j + 1] / grow;
    double part = z[h + 1] * (1 - low);
    for (int j = h + 2; j <= c->levels; j++) {
        part *= grow;
        z[j] = low * z[h + 1] + part;
    }
}

static void markov_overwrite(const ebi_chain *c, double *z) {
    const double k = ebi_chain_set_rate(c), down = ebi_chain_clear_rate(c) * (1 - k);
    for (int j = c->levels; j >= 1; j--)
        z[j] = (down * z[j + 1] + k * (1 - c->tail[j])) / (k + down);
}

/* The units that an arrival adds to a cell in the long run, if a probe hits it with probability
 * p. */
static double markov_gain(double p, const void *context) {
    const ebi_chain *c = context;
    double z[MARKOV_STATES + 1], sum = 0;
    z[c->levels + 1] = 1;
    markov_max(c, p, true, z);
    for (int j = 1; j <= c->levels; j++) sum += c->tail[j] * z[j];
    return ebi_chain_set_rate(c) * sum;
}

/* The probe rate that takes exactly P units per arrival; INFINITY if the filter runs empty. */
static double markov_probe_rate(const ebi_chain *c) {
    const double wanted = ebi_chain_clear_rate(c), most = 1e12 * (ebi_chain_set_rate(c) + wanted);
    if (markov_gain(most, c) <= wanted) return INFINITY;
    return ebi_bisect(markov_gain, c, 0, most, wanted);
}

static void markov_reciprocal(const ebi_chain *c, double *z) {
    const double rate = markov_probe_rate(c);
    if (isinf(rate))
        for (int j = 1; j <= c->levels; j++) z[j] = 1;
    else
        markov_max(c, rate, true, z);
}

/* The stationary shares of the values.  Returns that of 0. */
static double markov_stationary(const ebi_chain *c, double *x) {
    double z[MARKOV_STATES + 1];
    z[0] = 0;
    z[c->levels + 1] = 1;
    switch (c->rule) {
    case EBI_CHAIN_PROMOTE:
        markov_promote(c, z);
        break;
    case EBI_CHAIN_OVERWRITE:
        markov_overwrite(c, z);
        break;
    case EBI_CHAIN_PROBES:
        markov_max(c, ebi_chain_clear_rate(c), true, z);
        break;
    case EBI_CHAIN_RECIPROCAL:
        markov_reciprocal(c, z);
        break;
    default:
        markov_max(c, ebi_chain_clear_rate(c), false, z);
        break;
    }
    for (int j = 0; j <= c->levels; j++) x[j] = z[j + 1] - z[j];
    return z[1];
}

/* --- finite times: flows of one arrival ------------------------------------------------------ */

/* Adds to dx what deletion does to the shares x.  A cell of value j loses 1 with probability p or
 * p/j. */
static void markov_delete(const ebi_chain *c, double p, bool reciprocal, const double *x,
                          double *dx) {
    assert(p >= 0);
    for (int j = 1; j <= c->levels; j++) {
        const double flow = (reciprocal ? p / j : p) * x[j];
        dx[j] -= flow;
        dx[j - 1] += flow;
    }
}

/* Adds to dx what setting does to x, by a share k of arrivals with this tail of classes. */
static void markov_insert_max(int levels, double k, const double *tail, const double *x,
                              double *dx) {
    assert(levels >= 1 && k >= 0);
    double below = x[0];
    dx[0] -= k * tail[1] * x[0];
    for (int j = 1; j <= levels; j++) {
        dx[j] += k * ((tail[j] - tail[j + 1]) * below - tail[j + 1] * x[j]);
        below += x[j];
    }
}

static void markov_insert_overwrite(int levels, double k, const double *tail, const double *x,
                                    double *dx) {
    assert(levels >= 1 && k >= 0);
    for (int j = 0; j <= levels; j++) dx[j] += k * ((tail[j] - tail[j + 1]) - x[j]);
}

static void markov_insert_promote(const ebi_chain *c, double k, const double *tail, const double *x,
                                  double *dx) {
    const double high = tail[c->levels];
    for (int i = 0; i < c->levels; i++) {
        const double flow = k * x[i];
        dx[i] -= flow;
        dx[c->half] += i < c->half ? (1 - high) * flow : 0;
        dx[c->levels] += i < c->half ? high * flow : flow;
    }
}

static void markov_insert(const ebi_chain *c, double k, const double *tail, const double *x,
                          double *dx) {
    if (c->rule == EBI_CHAIN_OVERWRITE)
        markov_insert_overwrite(c->levels, k, tail, x, dx);
    else if (c->rule == EBI_CHAIN_PROMOTE)
        markov_insert_promote(c, k, tail, x, dx);
    else
        markov_insert_max(c->levels, k, tail, x, dx);
}

/* dx becomes the change of x by one arrival: deletion, then setting. */
static void markov_arrival(const ebi_chain *c, double p, bool reciprocal, const double *x,
                           double *dx) {
    double after[MARKOV_STATES];
    memset(dx, 0, sizeof(double) * (size_t)(c->levels + 1));
    markov_delete(c, p, reciprocal, x, dx);
    for (int j = 0; j <= c->levels; j++) after[j] = x[j] + dx[j];
    markov_insert(c, ebi_chain_set_rate(c), c->tail, after, dx);
}

/* Moves x by n arrivals. false: that would take too long. */
static bool markov_walk(const ebi_chain *c, double p, bool reciprocal, double n, double *x) {
    assert(n >= 0);
    const int states = c->levels + 1;
    const double k = ebi_chain_set_rate(c), s = k + p - k * p;
    double sum[MARKOV_STATES] = {0}, dx[MARKOV_STATES], moved = 1, weight = 1, step = 0;
    for (; step <= n; step++) {
        if (step * states > MARKOV_WORK) return false;
        weight = ebi_binom_pmf(n, s, step);
        for (int j = 0; j < states; j++) sum[j] += weight * x[j];
        if (moved <= MARKOV_STILL) break;
        if (step > n * s && step >= states && weight <= MARKOV_TINY * sum[0]) break;
        markov_arrival(c, p, reciprocal, x, dx);
        moved = 0;
        for (int j = 0; j < states; j++) {
            x[j] = fmax(0, x[j] + dx[j] / s);
            moved = fmax(moved, fabs(dx[j] / s));
        }
    }
    const double rest = ebi_binom_ge(n, s, step + 1);
    for (int j = 0; j < states; j++) x[j] = sum[j] + rest * x[j];
    return true;
}

/* The change of the shares per arrival if P units are taken by weights 1/value. */
static void markov_reciprocal_slope(const ebi_chain *c, const double *x, double *dx) {
    double weight = 0;
    for (int j = 1; j <= c->levels; j++) weight += x[j] / j;
    markov_arrival(c, weight > 0 ? ebi_chain_clear_rate(c) / weight : 0, true, x, dx);
}

static void markov_reciprocal_stage(const ebi_chain *c, const double *x, double h, const double *d,
                                    double *out) {
    double at[MARKOV_STATES];
    for (int j = 0; j <= c->levels; j++) at[j] = fmax(0, x[j] + h * d[j]);
    markov_reciprocal_slope(c, at, out);
}

/* One Runge-Kutta step of h arrivals; d1 is the slope at x.  Returns how far the shares moved. */
static double markov_reciprocal_step(const ebi_chain *c, double h, const double *d1, double *x) {
    double d2[MARKOV_STATES], d3[MARKOV_STATES], d4[MARKOV_STATES], moved = 0;
    markov_reciprocal_stage(c, x, h / 2, d1, d2);
    markov_reciprocal_stage(c, x, h / 2, d2, d3);
    markov_reciprocal_stage(c, x, h, d3, d4);
    for (int j = 0; j <= c->levels; j++) {
        const double dx = h / 6 * (d1[j] + 2 * d2[j] + 2 * d3[j] + d4[j]);
        x[j] = fmax(0, x[j] + dx);
        moved = fmax(moved, fabs(dx));
    }
    return moved;
}

/* Under the reciprocal rule a cell's rates depend on all cells, so the shares follow a differential
 * equation instead of a chain.  The first arrival meets an empty filter.  The step length follows
 * the fastest rate, which is high while few cells are set.  A filter that runs empty is empty after
 * every arrival. */
static bool markov_reciprocal_walk(const ebi_chain *c, double n, double *x) {
    assert(n >= 0);
    double d[MARKOV_STATES] = {0};
    if (isinf(markov_probe_rate(c))) return true;
    markov_insert(c, fmin(n, 1) * ebi_chain_set_rate(c), c->tail, x, d);
    for (int j = 0; j <= c->levels; j++) x[j] += d[j];
    double t = 1, moved = 1;
    for (int i = 0; t < n && moved > MARKOV_SLOPE_STILL; i++) {
        double weight = 0;
        if (4 * i * c->levels > MARKOV_WORK) return false;
        for (int j = 1; j <= c->levels; j++) weight += x[j] / j;
        const double h = fmin(
            n - t, MARKOV_SLOPE_STEP / (ebi_chain_set_rate(c) + ebi_chain_clear_rate(c) / weight));
        markov_reciprocal_slope(c, x, d);
        moved = markov_reciprocal_step(c, h, d, x);
        t += h;
    }
    return true;
}

/* --- the cyclic sweep ------------------------------------------------------------------------ */

/* The expected number of arrivals that keep a cell from being 0 (as a logarithm), looking back n
 * arrivals, for a cell last visited theta sweeps ago. */
static double markov_sweep_hits(const ebi_chain *c, double n, double theta) {
    const double sweep = c->cells / c->deletes, k = ebi_chain_set_rate(c);
    double sum = 0, left = n / sweep;
    for (int j = 1; j <= c->levels && left > 0; j++) {
        const double part = fmin(left, j == 1 ? theta : 1);
        sum -= log1p(-k * c->tail[j]) * part;
        left -= part;
    }
    return sum * sweep;
}

/* The integral of exp(-hits) over theta in [from, to], where hits is linear. */
static double markov_sweep_piece(const ebi_chain *c, double n, double from, double to) {
    assert(from <= to);
    if (to <= from) return 0;
    const double first = markov_sweep_hits(c, n, from), last = markov_sweep_hits(c, n, to);
    const double rise = last - first;
    const double mean = fabs(rise) > 1e-12 ? -expm1(-rise) / rise : 1 - rise / 2;
    return (to - from) * exp(-first) * mean;
}

/* P(cell is 0 and its last visit was at most `upto` sweeps ago), n arrivals after empty.  The hits
 * are linear except for a bend where the n arrivals end exactly at a visit. */
static double markov_sweep_zero(const ebi_chain *c, double n, double upto) {
    assert(n >= 0);
    const double sweeps = n * c->deletes / c->cells;
    const double bend = isinf(sweeps) ? upto : fmin(upto, sweeps - floor(sweeps));
    return markov_sweep_piece(c, n, 0, bend) + markov_sweep_piece(c, n, bend, upto);
}

/* --- the public functions -------------------------------------------------------------------- */

static void markov_check(const ebi_chain *c) {
    assert(c->cells >= 1 && c->hashes > 0 && c->deletes >= 0);
    assert(c->levels >= 1 && c->levels <= EBI_CHAIN_MAX_LEVELS);
    assert(c->rule != EBI_CHAIN_PROMOTE || (c->half >= 1 && c->half < c->levels));
    assert(c->rule != EBI_CHAIN_SWEEP || c->deletes > 0);
    (void)c;
}

double ebi_chain_stationary(const ebi_chain *c, double *share) {
    double x[MARKOV_STATES];
    markov_check(c);
    if (c->rule == EBI_CHAIN_SWEEP) {
        assert(!share);
        return markov_sweep_zero(c, INFINITY, 1);
    }
    return markov_stationary(c, share ? share : x);
}

/* Whether there is a closed formula: one class and the max rule.  Looking back, each arrival ends a
 * stage with probability s, and the stage ends with a deletion with probability q. */
static bool markov_is_closed(const ebi_chain *c) {
    return c->rule == EBI_CHAIN_MAX && c->tail[c->levels] >= 1;
}

static double markov_closed_zero(const ebi_chain *c, double n) {
    assert(n >= 0);
    const double k = ebi_chain_set_rate(c), p = ebi_chain_clear_rate(c), s = k + p - k * p,
                 q = p * (1 - k) / s;
    return pow(q, c->levels) * ebi_binom_ge(n, s, c->levels) + ebi_binom_sum_q(n, s, q, c->levels);
}

/* Whether walking n arrivals for each class would take too long. */
static bool markov_is_long(const ebi_chain *c, double n) {
    const double steps =
        c->levels + n * (ebi_chain_set_rate(c) + ebi_chain_clear_rate(c)); /* a lower bound */
    return steps * c->levels * c->levels > MARKOV_WORK;
}

/* x becomes the shares n arrivals after empty; n may be INFINITY. false: it would take too long. */
static bool markov_shares(const ebi_chain *c, double n, double *x) {
    if (isinf(n)) {
        markov_stationary(c, x);
        return true;
    }
    memset(x, 0, sizeof(double) * (size_t)(c->levels + 1));
    x[0] = 1;
    if (c->rule == EBI_CHAIN_RECIPROCAL)
        return !markov_is_long(c, n) && markov_reciprocal_walk(c, n, x);
    return markov_walk(c, ebi_chain_clear_rate(c), c->rule == EBI_CHAIN_PROBES, n, x);
}

/* The rule that takes whole units may leave nothing. */
static bool markov_is_empty(const ebi_chain *c) {
    return c->rule == EBI_CHAIN_RECIPROCAL && isinf(markov_probe_rate(c));
}

double ebi_chain_zero(const ebi_chain *c, double n) {
    markov_check(c);
    assert(n >= 0);
    double x[MARKOV_STATES];
    if (c->rule == EBI_CHAIN_SWEEP) return markov_sweep_zero(c, n, 1);
    if (!isinf(n) && markov_is_closed(c)) return markov_closed_zero(c, n);
    if (markov_is_empty(c)) return 1;
    return markov_shares(c, n, x) ? x[0] : ebi_course_zero(c, n);
}

/* x becomes the distribution of a cell from these shares after it was set to class v. */
static void markov_put(const ebi_chain *c, int v, double *x) {
    assert(v >= 0 && v <= c->levels);
    double tail[MARKOV_STATES + 1] = {0}, dx[MARKOV_STATES] = {0};
    for (int j = 0; j <= v; j++) tail[j] = 1;
    markov_insert(c, 1, tail, x, dx);
    for (int j = 0; j <= c->levels; j++) x[j] = fmax(0, x[j] + dx[j]);
}

/* The reciprocal rule keeps the probe rate of the end of the gap, which is exact once the filter
 * has settled.  Negative: it would take too long. */
static double markov_rate_after(const ebi_chain *c, double n) {
    assert(n >= 0);
    if (c->rule != EBI_CHAIN_RECIPROCAL) return ebi_chain_clear_rate(c);
    double x[MARKOV_STATES], weight = 0;
    if (!markov_shares(c, n, x)) return -1;
    for (int j = 1; j <= c->levels; j++) weight += x[j] / j;
    return weight > 0 ? fmin(1, ebi_chain_clear_rate(c) / weight) : 1;
}

static bool markov_is_closed_for(const ebi_chain *c, int v, double n) {
    return c->rule == EBI_CHAIN_SWEEP || (isinf(n) && markov_is_closed(c) && v == c->levels);
}

static double markov_closed_zero_of(const ebi_chain *c, int v, double gap, double n) {
    double x[MARKOV_STATES];
    if (c->rule != EBI_CHAIN_SWEEP)
        return markov_stationary(c, x) *
               ebi_binom_ge(gap, 1 - (1 - ebi_chain_set_rate(c)) * (1 - ebi_chain_clear_rate(c)),
                            v);
    const double upto = gap * c->deletes / c->cells - (v - 1);
    return markov_sweep_zero(c, n, fmax(0, fmin(1, upto)));
}

/* Negative: it would take too long. */
static double markov_walk_zero_of(const ebi_chain *c, int v, double gap, double n) {
    const bool reciprocal = c->rule == EBI_CHAIN_PROBES || c->rule == EBI_CHAIN_RECIPROCAL;
    const double rate = markov_rate_after(c, n);
    double x[MARKOV_STATES];
    if (rate < 0 || !markov_shares(c, n - gap, x)) return -1;
    markov_put(c, v, x);
    return markov_walk(c, rate, reciprocal, gap, x) ? x[0] : -1;
}

void ebi_chain_zeros_of(const ebi_chain *c, double gap, double n, double *zero) {
    markov_check(c);
    assert(gap >= 0 && gap <= n && !isinf(gap));
    const bool empty = markov_is_empty(c);
    const bool walks = empty || !markov_is_long(c, isinf(n) ? gap : n);
    if (!walks && c->rule != EBI_CHAIN_SWEEP) ebi_course_lost(c, gap, n, zero);
    for (int v = 1; v <= c->levels; v++) {
        if (markov_is_closed_for(c, v, n))
            zero[v] = markov_closed_zero_of(c, v, gap, n);
        else if (walks && c->tail[v] > c->tail[v + 1])
            zero[v] = empty ? gap > 0 : ebi_chain_zero_of(c, v, gap, n);
    }
}

double ebi_chain_zero_of(const ebi_chain *c, int v, double gap, double n) {
    double zero[MARKOV_STATES];
    markov_check(c);
    assert(v >= 1 && v <= c->levels && gap >= 0 && gap <= n && !isinf(gap));
    if (markov_is_closed_for(c, v, n)) return markov_closed_zero_of(c, v, gap, n);
    const double walked = markov_walk_zero_of(c, v, gap, n);
    if (walked >= 0) return walked;
    ebi_course_lost(c, gap, n, zero);
    return zero[v];
}

double ebi_chain_fpr(const ebi_chain *c, double n) {
    assert(n >= 0);
    return ebi_pow1m(fmin(1, ebi_chain_zero(c, n)), c->hashes);
}

double ebi_chain_fnr(const ebi_chain *c, int v, double gap, double n) {
    assert(v >= 1 && v <= c->levels && gap >= 0);
    return ebi_one_minus_pow1m(fmin(1, ebi_chain_zero_of(c, v, gap, n)), c->hashes);
}

static double markov_zero_after(double n, const void *context) {
    return ebi_chain_zero(context, floor(n));
}

double ebi_chain_settles(const ebi_chain *c, double eps) {
    assert(eps > 0);
    const double limit = ebi_chain_zero(c, INFINITY);
    if (markov_is_empty(c)) return 1;
    if (c->rule != EBI_CHAIN_SWEEP && !markov_is_closed(c))
        return ebi_course_settles(c, limit, eps);
    return ceil(ebi_bisect(markov_zero_after, c, 0, 1e15, limit + eps));
}

static double markov_fpr_after(double n, const void *context) {
    return ebi_chain_fpr(context, n);
}

double ebi_chain_mean_fpr(const ebi_chain *c, double n) {
    assert(n > 0);
    if (c->rule == EBI_CHAIN_SWEEP || markov_is_closed(c))
        return ebi_mean(markov_fpr_after, c, 0, n);
    return markov_is_empty(c) ? 0 : ebi_course_mean_fpr(c, n);
}

static double markov_zero_with(double deletes, const void *context) {
    ebi_chain c = *(const ebi_chain *)context;
    c.deletes = deletes;
    return ebi_chain_stationary(&c, NULL);
}

double ebi_chain_deletes_for(const ebi_chain *c, double fpr) {
    assert(fpr > 0 && fpr < 1);
    const double zero = -expm1(log(fpr) / c->hashes), least = 1e-6 * c->hashes;
    if (markov_is_closed(c) && c->distinct) {
        const double ratio = expm1(-log(zero) / c->levels); /* k/(p(1-k)) */
        return fmax(least, fmin(c->cells, 1 / (ratio * (1 / c->hashes - 1 / c->cells))));
    }
    return ebi_bisect(markov_zero_with, c, least, c->cells, zero);
}
