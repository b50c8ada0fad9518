/* lru_predict.c - predicts the error rates of lru for a stream. */
#include "lru.h"
#include "math/probability.h"
#include <math.h>

/* The keys between a key and its repeat fall on its bucket as a Poisson number, whatever their
 * order. */

static double lru_missed(double per_bucket, const void *b) {
    assert(per_bucket >= 0);
    return ebi_poisson_ge(per_bucket, *(const double *)b);
}

/* The distinct keys a bucket gets until a share `missed` of the repeats is missed. */
double ebi_lru_reach(double b, double missed) {
    assert(b >= 1 && missed > 0 && missed < 1);
    return ebi_bisect(lru_missed, &b, 1e-3, 3 * b + 10, missed);
}

/* The mean number of slots in use in a bucket that got `per_bucket` distinct keys. */
static double lru_mean_used(double per_bucket, double b) {
    assert(per_bucket >= 0 && b >= 1);
    const double before = b >= 2 ? per_bucket * ebi_poisson_le(per_bucket, b - 2) : 0;
    return before + b * ebi_poisson_ge(per_bucket, b);
}

static double lru_fill(double per_bucket, const void *b) {
    return lru_mean_used(per_bucket, *(const double *)b) / *(const double *)b;
}

/* The share of repeats that are missed if their distance is uniform on 0..reach keys a bucket. */
static double lru_missed_uniform(double reach, double b) {
    assert(reach >= 0);
    if (reach <= 0) return 0;
    const double missed = ebi_poisson_ge(reach, b) - b / reach * ebi_poisson_ge(reach, b + 1);
    return fmax(missed, 0);
}

/* D keys once each and `copies` uniform copies of each on average, shuffled.  A repeat and its
 * predecessor have a share x of the stream or more between them with probability (1-x)^2 e^(-copies
 * x).  The distinct keys between them are then D times this: */
static double lru_distance(double x, const void *copies) {
    return 1 - (1 - x) * exp(-*(const double *)copies * x);
}

static double lru_missed_shuffled(double reach, double copies, double b) {
    enum { LRU_PREDICT_STEPS = 512 };
    const double sure = b + 10 * sqrt(b) + 20; /* with so many keys a bucket no list keeps a key */
    const double end = reach <= sure ? 1 : ebi_bisect(lru_distance, &copies, 0, 1, sure / reach);
    double missed = 0, before = 1;
    for (int i = 0; i < LRU_PREDICT_STEPS; i++) {
        const double x = end * (i + 1) / LRU_PREDICT_STEPS,
                     middle = end * (i + 0.5) / LRU_PREDICT_STEPS;
        const double after = (1 - x) * (1 - x) * exp(-copies * x);
        missed += (before - after) * ebi_poisson_ge(reach * lru_distance(middle, &copies), b);
        before = after;
    }
    return missed + before;
}

static double lru_mean_fill(double reach, double b) { /* while the stream's keys arrive */
    assert(reach >= 0);
    enum { LRU_PREDICT_STEPS = 256 };
    double sum = 0;
    for (int i = 0; i < LRU_PREDICT_STEPS; i++)
        sum += lru_fill(reach * (i + 0.5) / LRU_PREDICT_STEPS, &b) / LRU_PREDICT_STEPS;
    return sum;
}

typedef struct lru_list {
    double b, buckets, fpr;
} lru_list;

/* Repeats at a gap, in a full list without a duel.  With probability `fpr` a new key is taken for
 * one of the b that are there.  Then it is not inserted, and does not push keys back that are
 * before that one.  A key on its way from the front to the end has on average half of the others
 * behind it, so it survives b (1 + fpr/2) others.  A key that was lost may also be taken for
 * another. */
static double lru_missed_at_gap(double per_bucket, double b, double fpr) {
    const double lives = b * (1 + fpr / 2), whole = floor(lives);
    const double missed = (whole + 1 - lives) * ebi_poisson_ge(per_bucket, whole) +
                          (lives - whole) * ebi_poisson_ge(per_bucket, whole + 1);
    return missed * (1 - fpr);
}

static double lru_missed_at(double gap, const void *context) {
    const lru_list *const l = context;
    return lru_missed_at_gap(gap / l->buckets, l->b, l->fpr);
}

static void lru_predict_skewed(const ebi_params *p, const eb_workload *w, double distinct,
                               eb_prediction *out) {
    const lru_list list = {ebi_lru_b(p), (double)p->derived[EBI_LRU_BUCKETS], out->fpr};
    ebi_repeats r;
    ebi_repeats_of(&r, w->items, distinct, w->zipf, p->laws);
    out->fnr = ebi_repeats_mean(&r, true, false, lru_missed_at, &list);
    out->mean_fnr = ebi_repeats_mean(&r, false, false, lru_missed_at, &list);
    if (ebi_lru_leaders(p) > 0 && !ebi_lru_is_ranked(p) && out->mean_fnr > 1e-6) {
        const ebi_lru_gain gain = ebi_lru_skewed(p, &r, ebi_asks_roughly(out));
        out->fnr *= gain.at_end;
        out->mean_fnr *= gain.mean;
    }
    out->fnr_low = out->mean_fnr / 1.15; /* when the winner changes is chance */
    out->fnr_high = fmin(1, out->mean_fnr * 1.15);
}

/* Misses are in the few lines that overflow; how many these are depends on chance. */
static void lru_spread(double reach, double buckets, double b, eb_prediction *out) {
    const double over = buckets * ebi_poisson_ge(reach, b + 1);
    const double spread = 0.05 + 3 / sqrt(over + 1);
    out->fnr_low = out->mean_fnr / (1 + spread);
    out->fnr_high = fmin(1, out->mean_fnr * (1 + spread));
}

static void lru_predict_misses(const ebi_params *p, const eb_workload *w, double distinct,
                               eb_prediction *out) {
    const double b = ebi_lru_b(p), buckets = (double)p->derived[EBI_LRU_BUCKETS];
    const double reach = distinct / buckets;
    if (w->gap > 0) {
        out->fnr = out->mean_fnr = lru_missed_at_gap(fmin(w->gap, distinct) / buckets, b, out->fpr);
        /* The duel may keep other keys than the last ones, but not more than there are slots. */
        if (ebi_lru_leaders(p) > 0)
            out->fnr_low = fmin(out->mean_fnr / 1.05, fmax(0, 1 - b * buckets / w->gap));
    } else if (isinf(distinct)) {
        out->fnr = out->mean_fnr = 1;
    } else if (w->zipf > 0) {
        lru_predict_skewed(p, w, distinct, out);
    } else {
        out->fnr = lru_missed_uniform(reach, b);
        out->mean_fnr =
            w->items > 0 ? lru_missed_shuffled(reach, w->items / distinct - 1, b) : out->fnr;
        lru_spread(reach, buckets, b, out);
    }
}

void ebi_lru_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    const double b = ebi_lru_b(p), buckets = (double)p->derived[EBI_LRU_BUCKETS];
    const double distinct = w->distinct > 0 ? w->distinct : w->items > 0 ? w->items : INFINITY;
    const double full = b / (double)ebi_ones((unsigned)p->opt[EBI_LRU_W]);
    const double records = w->items > 0 ? w->items / distinct : 1; /* for each distinct key */
    out->fill = isinf(distinct) ? 1 : lru_fill(distinct / buckets, &b);
    out->fpr = full * out->fill;
    out->mean_fpr = full * (w->items > 0 ? lru_mean_fill(distinct / buckets, b) : out->fill);
    out->settles_after = records * buckets * ebi_bisect(lru_fill, &b, 1e-3, 10 * b + 10, 0.999);
    out->most_fpr = full;
    lru_predict_misses(p, w, distinct, out);
}
