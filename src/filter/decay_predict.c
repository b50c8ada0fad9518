/* decay_predict.c - what mathematics says of time-decaying filters, for a stream with one tick a
 * key.
 *
 * A lone arrival keeps its counters above zero for D eras: it is there at an era E if it came in an
 * era after E - D.  So a counter is in use if one of the keys of the last D eras has it; in era
 * mode also if two keys of the era before have, whose sum lives an era longer.  Sums of more, and
 * of keys that come again, live longer still, which is left out; so do packed counters in lines
 * so full that they have lost binary digits.
 *
 * How much others add to a counter, when all has settled: arrivals at the rate r = 1/(counters of a
 * part) a tick, each counting 2^-age/halflife.  With t = r halflife / ln 2 that sum has Dickman's
 * law with the parameter t: x f(x) = t (F(x) - F(x-1)), and F(x) = e^(-gamma t) x^t / Gamma(1+t)
 * for x <= 1.  A count is too high by the least of k such sums; the law is of whole numbers no
 * more, so rounding up comes on top (eb_stats: excess). */
#include "decay.h"
#include "theory/theory.h"
#include <math.h>

enum { MILLION = 1000000, PHASES = 16, STEPS = 64, GRID = 128, GRID_MAX = 1 << 16 };
#define EULER_GAMMA 0.5772156649015329

typedef struct predicted {
    const eb_decay *d;
    double counters; /* of a part */
    double era;      /* in ticks */
    double lifetime; /* D */
} predicted;

static double predict_lifetime(const eb_decay *d) {
    const bool at_start = d->period == MILLION; /* all arrivals begin an era */
    const eb_moment at = {0, d->mode == EB_DECAY_ERA && !at_start ? 1u << 19 : 0};
    uint64_t eras = 0;
    for (uint64_t c = ebi_decay_weight(d, at, 1); c > d->floor; eras++)
        c = ebi_decay_lapse(d, c, 1);
    return (double)eras;
}

/* Different keys among the last n arrivals. */
static double predict_distinct(const eb_workload *w, double n) {
    if (!(w->distinct > 0) || w->distinct >= w->items) return n;
    return w->distinct * ebi_one_minus_pow1m(1 / w->distinct, n);
}

/* The share of counters in use after n keys, n at this part of an era. */
static double predict_fill(const predicted *m, const eb_workload *w, double n) {
    const double first =
        (floor(n / m->era) - m->lifetime + 1) * m->era; /* what came then is there */
    const double there = n - fmax(first, 0);
    const double before = m->d->mode == EB_DECAY_ERA ? fmax(fmin(first, m->era), 0) : 0;
    const double each = 1 / m->counters, pair = predict_distinct(w, before) * each;
    const double unused = 1 - ebi_one_minus_pow1m(each, predict_distinct(w, there));
    return 1 - unused * exp(-pair) * (1 + pair);
}

/* A key that came `gap` ago: is it forgotten when the n-th comes?  Over all phases of an era. */
static double predict_forgotten(const predicted *m, double gap) {
    const double eras = gap / m->era - m->lifetime + 1; /* 0: at a phase that lives longest */
    return fmin(fmax(eras, 0), 1);
}

/* The root of the mean square of the least of k sums by others. */
static double predict_error(double t, unsigned k) {
    static const double step = 1.0 / GRID;
    const double end = fmin(2 + t + 12 * sqrt(t), (double)GRID_MAX / GRID);
    const size_t n = (size_t)(end * GRID);
    double below[GRID + 1] = {0}; /* F(x - 1), a ring */
    double F = 0, square = 0;
    for (size_t i = 1; i <= n; i++) {
        const double x = (double)i * step;
        if (i <= GRID) {
            F = exp(t * log(x) - EULER_GAMMA * t - lgamma(1 + t));
        } else { /* Heun's rule for F' = t (F(x) - F(x-1)) / x */
            const double x0 = x - step, old = below[(i - 1 - GRID) % (GRID + 1)];
            const double next = below[(i - GRID) % (GRID + 1)];
            const double slope = t * (F - old) / x0;
            F += step * (slope + t * (F + step * slope - next) / x) / 2;
        }
        below[i % (GRID + 1)] = F;
        square += 2 * x * pow(fmax(1 - F, 0), k) * step;
    }
    return sqrt(square);
}

static void predict_counts(const predicted *m, const eb_workload *w, eb_prediction *out) {
    const double n = w->items > 0 ? w->items : INFINITY;
    const double half = m->era * log(0.5) / log((double)m->d->factor / MILLION);
    const double mass = half / log(2) * -expm1(-n / half * log(2)); /* of all counts */
    const bool settled = n > 8 * half, distinct = !(w->distinct > 0) || w->distinct >= w->items;
    out->wrong = out->fpr;
    out->error_bound = exp(1) * mass / m->counters;
    if (settled && distinct) out->error = predict_error(mass / m->counters, m->d->k);
}

void ebi_decay_predict(const eb_decay *d, const eb_workload *w, eb_prediction *out) {
    const predicted m = {.d = d,
                         .counters = (double)d->part * d->each,
                         .era = (double)d->period / MILLION,
                         .lifetime = predict_lifetime(d)};
    if (w->zipf > 0) return;
    out->fill = out->fpr = out->mean_fpr = 0;
    for (int i = 0; i < PHASES; i++) { /* an endless stream is at any phase of an era */
        const double fill =
            w->items > 0 ? predict_fill(&m, w, w->items)
                         : predict_fill(&m, w, (m.lifetime + 2 + (i + 0.5) / PHASES) * m.era);
        out->fill += fill / PHASES;
        out->fpr += pow(fill, d->k) / PHASES;
    }
    for (int i = 0; i < STEPS; i++)
        out->mean_fpr += w->items > 0
                             ? pow(predict_fill(&m, w, w->items * (i + 0.5) / STEPS), d->k) / STEPS
                             : out->fpr / STEPS;
    if (w->gap > 0) out->fnr = out->mean_fnr = predict_forgotten(&m, w->gap) * (1 - out->fpr);
    out->settles_after = m.lifetime * m.era;
    predict_counts(&m, w, out);
}
