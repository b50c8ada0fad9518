/* decay_predict.c - predicts the errors of time-decaying filters, for a stream with one tick
 * between keys.
 *
 * Which counters are in use.  A single arrival keeps its counters above zero for D eras: they are
 * in use in era E if it came in an era after E - D. With mode=era, two keys that came in the era
 * before and share a counter keep it in use, too, because their sum lives an era longer.  Sums of
 * more keys, and keys that come again, live longer still; this is neglected.
 *
 * How much others add to a counter, after the filter has settled.  Arrivals have the rate r =
 * 1/(counters of a part) a tick, and each counts 2^-age/halflife.  With t = r halflife / ln 2 the
 * sum has Dickman's distribution with parameter t: x f(x) = t (F(x) - F(x-1)), and F(x) = e^(-gamma
 * t) x^t / Gamma(1+t) for x <= 1.  A count is too high by the least of k such sums.  Counters round
 * up, which comes on top (eb_stats: excess).
 *
 * Keys that come again, by Zipf's law or equally often.  Each arrival is one of `distinct` keys,
 * key i with probability p_i.  The count of a key has Dickman's distribution with parameter p_i
 * halflife / ln 2.  If this is large, it is close to a normal one with half of it as variance.  A
 * counter has the sum of the keys that share it, which are a Poisson number (math/spectrum.h). */
#include "decay.h"
#include "math/probability.h"
#include "math/spectrum.h"
#include <math.h>

enum {
    DECAY_PREDICT_MILLION = 1000000,
    DECAY_PREDICT_PHASES = 16,
    DECAY_PREDICT_STEPS = 64,
    DECAY_PREDICT_GRID = 128,
    DECAY_PREDICT_GRID_MAX = 1 << 16
};
#define DECAY_PREDICT_EULER_GAMMA 0.5772156649015329
static const double decay_predict_unit = 32; /* an arrival is this many steps of a sum */
static const double decay_predict_heavy =
    16; /* larger counts of keys are approximated by two values */

typedef struct decay_predicted {
    const ebi_decay *d;
    double counters;   /* of a part */
    double era;        /* in ticks */
    double lifetime;   /* D */
    ebi_spectrum keys; /* keys that come again; distinct is 0 if all are different */
    bool finite;       /* the stream has an end: */
    ebi_repeats stream;
    double gap, fresh; /* repeats come after so many records; then so many are new; or 0 */
} decay_predicted;

static double decay_predict_lifetime(const ebi_decay *d) {
    const bool at_start = d->period == DECAY_PREDICT_MILLION; /* all arrivals begin an era */
    const ebi_moment at = {0, d->mode == EBI_DECAY_ERA && !at_start ? 1u << 19 : 0};
    uint64_t eras = 0;
    const uint64_t weight = ebi_decay_weight(d, at, 1);
    for (uint64_t c = d->mode == EBI_DECAY_ERA ? ebi_soft_field(weight, 0) : weight; c > d->floor;
         eras++)
        c = ebi_decay_lapse(d, c, 1);
    return (double)eras;
}

/* The number of different keys among the last n arrivals. */
static double decay_predict_distinct(const decay_predicted *m, double n) {
    assert(n >= 0);
    const ebi_spectrum *const s = &m->keys;
    double sum = 0;
    if (m->gap > 0) return n - fmax(0, n - m->gap) * (1 - m->fresh);
    if (s->distinct == 0) return n;
    if (m->finite) return ebi_repeats_distinct(&m->stream, n);
    for (size_t i = 0; i < s->classes; i++)
        sum += s->keys[i] * ebi_one_minus_pow1m(s->count[i] / s->f1, n);
    return sum;
}

/* The share of counters in use after n keys, at this phase of an era. */
static double decay_predict_fill(const decay_predicted *m, double n) {
    assert(n >= 0);
    const double first =
        (floor(n / m->era) - m->lifetime + 1) * m->era; /* what came then is there */
    const double there = n - fmax(first, 0);
    const double before = m->d->mode == EBI_DECAY_ERA ? fmax(fmin(first, m->era), 0) : 0;
    const double each = 1 / m->counters, keys = decay_predict_distinct(m, there);
    const double pair = (decay_predict_distinct(m, there + before) - keys) * each;
    const double unused = 1 - ebi_one_minus_pow1m(each, keys);
    return 1 - unused * exp(-pair) * (1 + pair);
}

/* The probability that a key from `gap` ago is forgotten when the n-th key comes, over all phases
 * of an era. */
static double decay_predict_forgotten(const decay_predicted *m, double gap) {
    assert(gap >= 0);
    const double eras = gap / m->era - m->lifetime + 1; /* 0: at the phase that lives longest */
    return fmin(fmax(eras, 0), 1);
}

/* Dickman's distribution, on the grid 1/DECAY_PREDICT_GRID, 2/DECAY_PREDICT_GRID, ... */
typedef struct decay_dickman {
    double t, F;
    size_t i;
    double below[DECAY_PREDICT_GRID + 1]; /* F(x - 1), a ring */
} decay_dickman;

static double decay_dickman_next(decay_dickman *d) {
    static const double step = 1.0 / DECAY_PREDICT_GRID;
    const double t = d->t, x = (double)++d->i * step;
    if (d->i <= DECAY_PREDICT_GRID) {
        d->F = exp(t * log(x) - DECAY_PREDICT_EULER_GAMMA * t - lgamma(1 + t));
    } else { /* Heun's rule for F' = t (F(x) - F(x-1)) / x */
        const double x0 = x - step,
                     old = d->below[(d->i - 1 - DECAY_PREDICT_GRID) % (DECAY_PREDICT_GRID + 1)];
        const double next = d->below[(d->i - DECAY_PREDICT_GRID) % (DECAY_PREDICT_GRID + 1)];
        const double slope = t * (d->F - old) / x0;
        d->F += step * (slope + t * (d->F + step * slope - next) / x) / 2;
    }
    return d->below[d->i % (DECAY_PREDICT_GRID + 1)] = d->F;
}

static size_t decay_dickman_end(double t) {
    return (size_t)fmin((2 + t + 12 * sqrt(t)) * DECAY_PREDICT_GRID, DECAY_PREDICT_GRID_MAX);
}

/* The root of the mean square of the least of k sums by other keys, all different. */
static double decay_predict_error(double t, unsigned k) {
    assert(t >= 0 && k >= 1);
    decay_dickman d = {.t = t};
    double square = 0;
    for (size_t i = decay_dickman_end(t); i > 0; i--) {
        const double above = fmax(1 - decay_dickman_next(&d), 0);
        square += 2 * (double)d.i / DECAY_PREDICT_GRID * pow(above, k) / DECAY_PREDICT_GRID;
    }
    return sqrt(square);
}

/* Adds the distribution of a key's count with this parameter to `law`, with this weight. */
static void decay_predict_key(ebi_sum *law, double t, double weight) {
    const double spread = sqrt(t / 2);
    decay_dickman d = {.t = t};
    double before = 0;
    if (t > decay_predict_heavy) {
        ebi_sum_give(law, decay_predict_unit * (t - spread), weight / 2);
        ebi_sum_give(law, decay_predict_unit * (t + spread), weight / 2);
        return;
    }
    for (size_t i = decay_dickman_end(t); i > 0; i--, before = d.F) {
        const double p = decay_dickman_next(&d) - before,
                     x = ((double)d.i - 0.5) / DECAY_PREDICT_GRID;
        ebi_sum_give(law, decay_predict_unit * x, weight * fmax(p, 0));
    }
}

/* The same for keys that come again. mass: the sum of all counts. */
static double decay_predict_error_of_keys(const decay_predicted *m, double mass) {
    const ebi_spectrum *const s = &m->keys;
    ebi_sum one = {{0}}, sum;
    double above = 1, square = 0;
    for (size_t i = 0; i < s->classes; i++)
        decay_predict_key(&one, mass * s->count[i] / s->f1, s->keys[i] / s->distinct);
    ebi_sum_of_law(&sum, &one, s->distinct / m->counters);
    for (size_t i = 0; i < EBI_SUM_VALUES; i++) {
        const double rest = fmax(above - sum.p[i], 0), x = ebi_sum_value(i) / decay_predict_unit;
        square += x * x * (pow(above, m->d->k) - pow(rest, m->d->k));
        above = rest;
    }
    return sqrt(square);
}

static void decay_predict_counts(const decay_predicted *m, const eb_workload *w,
                                 eb_prediction *out) {
    const double n = w->items > 0 ? w->items : INFINITY;
    const double half = m->era * log(0.5) / log((double)m->d->factor / DECAY_PREDICT_MILLION);
    const double mass = half / log(2) * -expm1(-n / half * log(2)); /* the sum of all counts */
    out->error_bound = exp(1) * mass / m->counters;
    if (m->d->conservative) return; /* fewer counts are wrong, and by less */
    out->wrong = out->fpr;
    if (n < 8 * half) return; /* it has not settled */
    out->error = m->keys.distinct > 0 ? decay_predict_error_of_keys(m, mass)
                                      : decay_predict_error(mass / m->counters, m->d->k);
}

/* If the number of keys is not given, all are new and have no frequencies. */
static void decay_predict_spectrum(const eb_workload *w, ebi_spectrum *s, eb_prediction *out) {
    static const double very_long = 1e30; /* so that even the rarest key occurs often */
    *s = (ebi_spectrum){0};
    if (w->distinct >= 1 && !(w->items > 0 && w->distinct >= w->items))
        ebi_spectrum_zipf(s, w->distinct, w->distinct * very_long, w->zipf);
    else if (w->zipf > 0)
        out->unused |= EB_UNUSED_ZIPF;
}

/* The mean over new keys, as they come.  Most come early, unless repeats come at a gap. */
static void decay_predict_mean(const decay_predicted *m, const eb_workload *w, eb_prediction *out) {
    const double all = decay_predict_distinct(m, w->items);
    double before = 0;
    out->mean_fpr = w->items > 0 ? 0 : out->fpr;
    for (int i = 0; i < DECAY_PREDICT_STEPS && w->items > 0; i++) {
        const double share = (i + 1.0) / DECAY_PREDICT_STEPS;
        const double so_far = decay_predict_distinct(m, w->items * share) / all;
        const double x = w->items * (i + 0.5) / DECAY_PREDICT_STEPS;
        out->mean_fpr += (so_far - before) * pow(decay_predict_fill(m, x), m->d->k);
        before = so_far;
    }
    if (w->gap > 0) out->accuracy = 0.4;
}

void ebi_decay_predict(const ebi_decay *d, const eb_workload *w, ebi_laws *laws,
                       eb_prediction *out) {
    decay_predicted m = {.d = d,
                         .counters = (double)d->part * d->each,
                         .era = (double)d->period / DECAY_PREDICT_MILLION,
                         .lifetime = decay_predict_lifetime(d)};
    if (m.lifetime == 0) return; /* a key that comes once is lost: the fraction has few digits */
    decay_predict_spectrum(w, &m.keys, out);
    m.finite = m.keys.distinct > 0 && w->items > 0;
    if (m.finite) ebi_repeats_of(&m.stream, w->items, w->distinct, w->zipf, laws);
    if (m.finite && w->gap > 0 && w->gap < w->items) { /* there are no repeats in the first gap */
        m.gap = w->gap;
        m.fresh = fmax(0, w->distinct - w->gap) / (w->items - w->gap);
    }
    out->fill = out->fpr = out->mean_fpr = 0;
    for (int i = 0; i < DECAY_PREDICT_PHASES;
         i++) { /* an endless stream is at any phase of an era */
        const double fill =
            w->items > 0 ? decay_predict_fill(&m, w->items)
                         : decay_predict_fill(
                               &m, (m.lifetime + 2 + (i + 0.5) / DECAY_PREDICT_PHASES) * m.era);
        out->fill += fill / DECAY_PREDICT_PHASES;
        out->fpr += pow(fill, d->k) / DECAY_PREDICT_PHASES;
    }
    if (!ebi_asks_misses(out) || !(w->gap > 0)) decay_predict_mean(&m, w, out);
    if (w->zipf > 0 && m.keys.distinct > 0 && !ebi_asks_misses(out)) {
        /* Keys are drawn from more than those that occur, which makes them less uneven. */
        eb_workload even = *w;
        eb_prediction most = {.size = EBI_ASK_MISSES};
        even.zipf = 0;
        ebi_decay_predict(d, &even, NULL, &most);
        out->fpr_low = out->mean_fpr / 1.1;
        out->fpr_high = fmax(out->mean_fpr, most.mean_fpr);
    }
    if (w->gap > 0) out->fnr = out->mean_fnr = decay_predict_forgotten(&m, w->gap) * (1 - out->fpr);
    out->settles_after = m.lifetime * m.era;
    if (out->size == EBI_ASK_ALL && !(out->unused & EB_UNUSED_ZIPF))
        decay_predict_counts(&m, w, out);
}
