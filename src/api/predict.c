/* predict.c - eb_predict: the error rates of a filter on a stream, at one place or as a curve.  The
 * formulas are the kinds' own and are for one shard; this file combines them for all shards and
 * adds bounds. */
#include "filter.h"
#include "math/probability.h"
#include <math.h>

eb_status ebi_predict_check(const eb_workload *w, eb_error *err) {
    const struct {
        const char *name;
        double value;
    } fields[] = {{"items", w->items}, {"distinct", w->distinct}, {"zipf", w->zipf},
                  {"gap", w->gap},     {"rate", w->rate},         {"value", w->value}};
    for (size_t i = 0; i < EBI_COUNT_OF(fields); i++)
        if (!(fields[i].value >= 0 && fields[i].value <= 1e18))
            return ebi_fail(err, EB_EINVAL, "%s must be 0..1e18, not %g", fields[i].name,
                            fields[i].value);
    if (w->items > 0 && w->distinct > w->items)
        return ebi_fail(err, EB_EINVAL, "distinct must be at most items (%g), not %g", w->items,
                        w->distinct);
    if (w->order > EB_ORDER_PASSES || w->reserved != 0)
        return ebi_fail(err, EB_EINVAL, "order must be 0..%d and reserved 0, not %u and %u",
                        EB_ORDER_PASSES, (unsigned)w->order, (unsigned)w->reserved);
    if (w->order == EB_ORDER_PASSES && (!(w->distinct > 0) || w->gap > 0 || w->zipf > 0))
        return ebi_fail(err, EB_EINVAL,
                        "passes need distinct, and have neither gap (%g) nor zipf (%g)", w->gap,
                        w->zipf);
    return EB_OK;
}

/* A repeat cannot be further away than the stream is long. */
static void predict_limit_gap(eb_workload *w) {
    if (w->items > 0 && w->gap > w->items) w->gap = w->items;
}

/* The keys between a key and its repeat are distributed over the shards at random.  A shard gets a
 * binomial number of them, so misses are averaged over that distribution. */
static void predict_misses(const ebi_kind *kind, const ebi_params *p, const eb_workload *load,
                           double shards, eb_prediction *full) {
    enum { PREDICT_QUANTILES = 8, PREDICT_FEW = 2 };
    const bool rough = ebi_asks_roughly(full);
    const int n = rough ? PREDICT_FEW : PREDICT_QUANTILES;
    const double deviation = sqrt(load->gap * (1 - 1 / shards));
    if (shards <= 1 || !(load->gap > 0) || isnan(full->fnr)) return;
    if (ebi_caps_of(kind, p) & EB_NO_FALSE_NEGATIVES) return;
    if (deviation < 1e-3 * load->gap) return;
    full->fnr = full->mean_fnr = 0;
    for (int i = 0; i < n; i++) {
        eb_workload at = *load;
        eb_prediction one = {.size = rough ? EBI_ASK_ROUGH_MISSES : EBI_ASK_MISSES};
        at.gap += deviation * ebi_normal_upper_quantile((i + 0.5) / n);
        at.gap = fmax(at.gap, 1e-9); /* 0 would mean something else */
        predict_limit_gap(&at);
        kind->predict(p, &at, &one);
        full->fnr += one.fnr / n;
        full->mean_fnr += one.mean_fnr / n;
    }
}

static void predict_round_rate(double *rate) { /* sums of shares may be just outside 0..1 */
    if (*rate < 0) *rate = 0;
    if (*rate > 1) *rate = 1;
}

static void predict_unknown(eb_prediction *p) {
    *p = (eb_prediction){.size = sizeof *p};
    p->fpr = p->fnr = p->fill = p->settles_after = p->mean_fpr = p->mean_fnr = NAN;
    p->wrong = p->error = p->error_bound = p->bits = p->most_fpr = p->accuracy = NAN;
    p->fpr_low = p->fpr_high = p->fnr_low = p->fnr_high = NAN;
}

/* Bounds on a rate: a formula with its accuracy, or what the kind guarantees, or what holds for all
 * rates. */
static void predict_bounds(double rate, double accuracy, double *low, double *high) {
    assert(!(accuracy < 0));
    if (isnan(*low)) *low = isnan(rate) ? 0 : rate / (1 + accuracy);
    if (isnan(*high)) *high = isnan(rate) ? 1 : fmin(1, rate * (1 + accuracy));
    *low = fmin(*low, rate); /* averaging over shards moves a rate after its bounds; a rate that is
                                NAN does not */
    *high = fmax(*high, rate);
}

static void predict_finish(const ebi_kind *kind, const ebi_params *p, double shards,
                           eb_prediction *out) {
    const double usual = 0.05; /* what the tests of rates allow if a kind says nothing */
    /* A filter that never forgets is filled by distinct keys alone, in any order. */
    if ((ebi_caps_of(kind, p) & EB_NO_FALSE_NEGATIVES) && isnan(out->most_fpr))
        out->most_fpr = out->mean_fpr;
    double *const rates[] = {&out->fpr,      &out->fnr,   &out->fill,    &out->mean_fpr,
                             &out->mean_fnr, &out->wrong, &out->most_fpr};
    for (size_t i = 0; i < EBI_COUNT_OF(rates); i++) predict_round_rate(rates[i]);
    if (isnan(out->accuracy) && !(isnan(out->mean_fpr) && isnan(out->mean_fnr)))
        out->accuracy = usual;
    predict_bounds(out->mean_fpr, out->accuracy, &out->fpr_low, &out->fpr_high);
    predict_bounds(out->mean_fnr, out->accuracy, &out->fnr_low, &out->fnr_high);
    out->settles_after *= shards;
    out->items *= shards;
    out->size = sizeof *out;
}

static eb_workload predict_of_shard(const eb_workload *w, double shards) {
    assert(shards >= 1);
    eb_workload load = *w;
    if (w->order == EB_ORDER_PASSES) load.gap = load.distinct;
    predict_limit_gap(&load);
    load.items /= shards;
    load.distinct /= shards;
    load.gap /= shards;
    load.rate /= shards;
    return load;
}

/* What the kind misses of repeats at a gap, or NAN. */
static double predict_missed_at(const ebi_kind *kind, const ebi_params *p, const eb_workload *load,
                                double gap, bool rough) {
    eb_workload at = *load;
    eb_prediction one;
    predict_unknown(&one);
    one.size = rough ? EBI_ASK_ROUGH_MISSES : EBI_ASK_MISSES;
    at.gap = gap;
    kind->predict(p, &at, &one);
    return isnan(one.fnr_high) ? one.mean_fnr : one.fnr_high;
}

/* For a kind that knows what it misses at a gap, but not on this stream: the mean over the stream's
 * gaps.  These are counted in records, because each record changes cells in such kinds. */
static const double predict_farthest = 1e18; /* of an endless stream without a number of keys */
static void predict_from_gaps(const ebi_kind *kind, const ebi_params *p, const eb_workload *load,
                              eb_prediction *out) {
    const double groups = kind->timed ? 16 : 4; /* filters with a window forget abruptly */
    ebi_repeats r;
    ebi_gap gaps[EBI_GAPS];
    double done = 0, weight = 0, records = 0, missed = 0, high = 0, last = 0;
    /* If almost all keys are new, the few repeats are spread over the stream. */
    const double distinct = load->distinct > 0 ? load->distinct : load->items;
    size_t n = 1;
    if (!isnan(out->mean_fnr) || load->gap > 0) return;
    if (distinct > 0) {
        ebi_repeats_of(&r, load->items, distinct, load->zipf, p->laws);
        n = ebi_repeats_gaps(&r, false, gaps);
    } else {
        gaps[0] = (ebi_gap){1, predict_farthest, predict_farthest};
    }
    for (size_t i = 0; i < n; i++) {
        weight += gaps[i].weight;
        records += gaps[i].weight * log(gaps[i].records);
        if (i + 1 < n && done + weight < (round(done * groups) + 1) / groups) continue;
        const double at_gap =
            predict_missed_at(kind, p, load, exp(records / weight), ebi_asks_roughly(out));
        if (isnan(at_gap)) return;
        high += (done > 0 ? last : 0) * at_gap; /* earlier groups are not farther than this one */
        missed += weight * at_gap;
        last = weight;
        done += weight;
        weight = records = 0;
    }
    if (n == 0) return;
    high = kind->timed ? missed : high + last; /* of the farthest group, all */
    out->mean_fnr = missed;
    if (isnan(out->fnr)) out->fnr = missed;
    if (!isnan(out->mean_fpr)) out->unused &= ~(uint32_t)EB_UNUSED_ZIPF;
    out->accuracy = 0.2;
    out->fnr_high = fmin(1, 1.2 * high + 0.02);
    out->fnr_low = fmax(0, missed / 3 - 0.02); /* popular keys are refreshed */
}

static void predict_point(const ebi_kind *kind, const ebi_params *p, const eb_workload *load,
                          size_t ask, eb_prediction *out) {
    predict_unknown(out);
    out->size = ask;
    out->items = load->items;
    kind->predict(p, load, out);
    predict_from_gaps(kind, p, load, out);
    predict_misses(kind, p, load, (double)p->opt[EBI_O_SHARDS], out);
}

void ebi_predict(const ebi_kind *kind, const ebi_params *p, const eb_workload *w, size_t ask,
                 eb_prediction *out) {
    const double shards = (double)p->opt[EBI_O_SHARDS];
    const eb_workload load = predict_of_shard(w, shards);
    predict_point(kind, p, &load, ask, out);
    predict_finish(kind, p, shards, out);
}

/* Curves */

enum {
    PREDICT_PLACES = 4,
    PREDICT_PARTS = 4,
    PREDICT_POINTS = 100,
    PREDICT_NUMBERS =
        (offsetof(eb_prediction, unused) - offsetof(eb_prediction, items)) / sizeof(double)
};

typedef struct predict_stream { /* of one shard */
    eb_workload load;
    ebi_repeats repeats;
    double shards;
} predict_stream;

static void predict_open(predict_stream *s, const ebi_params *p, const eb_workload *w) {
    s->shards = (double)p->opt[EBI_O_SHARDS];
    s->load = predict_of_shard(w, s->shards);
    if (w->distinct > 0)
        ebi_repeats_of(&s->repeats, s->load.items, s->load.distinct, w->zipf, NULL);
}

/* A workload's first x records. */
static eb_workload predict_prefix(const predict_stream *s, double x) {
    assert(x >= 0);
    const eb_workload *const w = &s->load;
    eb_workload so_far = *w;
    so_far.items = x / s->shards;
    if (w->distinct > 0) so_far.distinct = ebi_repeats_distinct(&s->repeats, so_far.items);
    if (w->distinct > 0 && w->gap > 0 && w->items > 0)
        so_far.distinct = so_far.items * w->distinct / w->items;
    if (w->order == EB_ORDER_PASSES) so_far.distinct = w->distinct;
    so_far.distinct = fmin(so_far.distinct, so_far.items);
    predict_limit_gap(&so_far);
    return so_far;
}

/* A point of a curve interpolated from two others: as a power of the records, or linearly if that
 * is not possible. */
static void predict_between(const eb_prediction *a, const eb_prediction *b, double items,
                            eb_prediction *out) {
    assert(a->items <= items && items <= b->items);
    const double *const from = (const double *)(const void *)&a->items;
    const double *const to = (const double *)(const void *)&b->items;
    double *const at = (double *)(void *)&out->items;
    const double way = b->items - a->items, line = way > 0 ? (items - a->items) / way : 1;
    const double power = way > 0 ? log(items / a->items) / log(b->items / a->items) : 1;
    *out = *b;
    for (size_t i = 0; i < PREDICT_NUMBERS; i++)
        at[i] = from[i] > 0 && to[i] > 0 ? from[i] * pow(to[i] / from[i], power)
                                         : from[i] + (to[i] - from[i]) * line;
    out->items = items;
}

/* Whether all numbers agree to half a percent.  With the middle known, a quarter of that error
 * remains. */
static bool predict_agree(const eb_prediction *a, const eb_prediction *b) {
    const double *const x = (const double *)(const void *)&a->items;
    const double *const y = (const double *)(const void *)&b->items;
    for (size_t i = 0; i < PREDICT_NUMBERS; i++)
        if (isnan(x[i]) != isnan(y[i]) || fabs(x[i] - y[i]) > 0.005 * fabs(y[i]) + 1e-9)
            return false;
    return a->unused == b->unused;
}

/* The numbers about counts take long: they are computed at four places and interpolated. */
static void predict_counts(const ebi_kind *kind, const ebi_params *p, const predict_stream *s,
                           const double *items, size_t n, eb_prediction *out) {
    eb_prediction last = {.wrong = 0}, next;
    size_t done = 0;
    for (size_t place = 1; place <= PREDICT_PLACES; place++) {
        const size_t i = (n * place - 1) / PREDICT_PLACES;
        if (i < done) continue;
        const eb_workload w = predict_prefix(s, items[i]);
        predict_point(kind, p, &w, EBI_ASK_ALL, &next);
        for (size_t j = done; j <= i; j++) {
            const double from = done > 0 ? items[done - 1] : 0;
            const double share = items[i] > from ? (items[j] - from) / (items[i] - from) : 1;
            out[j].wrong = last.wrong + (next.wrong - last.wrong) * share;
            out[j].error = last.error + (next.error - last.error) * share;
            out[j].error_bound = last.error_bound + (next.error_bound - last.error_bound) * share;
            out[j].bits = done > 0 ? last.bits + (next.bits - last.bits) * share : next.bits;
        }
        last = next;
        done = i + 1;
    }
}

typedef struct predict_points { /* of a curve, ascending */
    const ebi_kind *kind;
    const ebi_params *p;
    const predict_stream *stream;
    const double *items;
    size_t n;
    eb_prediction *out;
} predict_points;

static void predict_ask(const predict_points *c, size_t i, eb_prediction *out) {
    const eb_workload w = predict_prefix(c->stream, c->items[i]);
    predict_point(c->kind, c->p, &w, EBI_ASK_RATES, out);
}

/* The points between two known ones: computes the middle, and if it is where both sides suggest,
 * interpolates the others. */
static void predict_rates_between(const predict_points *c, size_t from, size_t to) {
    if (to - from < 2) return;
    const size_t middle = from + (to - from) / 2;
    const double shards = c->stream->shards;
    eb_prediction guess;
    predict_ask(c, middle, &c->out[middle]);
    predict_between(&c->out[from], &c->out[to], c->items[middle] / shards, &guess);
    if (to - from > c->n / PREDICT_POINTS && !predict_agree(&guess, &c->out[middle])) {
        predict_rates_between(c, from, middle);
        predict_rates_between(c, middle, to);
        return;
    }
    for (size_t i = from + 1; i < to; i++) {
        const size_t low = i < middle ? from : middle, high = i < middle ? middle : to;
        if (i != middle)
            predict_between(&c->out[low], &c->out[high], c->items[i] / shards, &c->out[i]);
    }
}

/* Computes some points, at most a few hundred, and interpolates the others. */
static void predict_rates(const predict_points *c) {
    size_t from = 0;
    predict_ask(c, 0, &c->out[0]);
    for (size_t part = 1; part <= PREDICT_PARTS; part++) {
        const size_t to = (c->n - 1) * part / PREDICT_PARTS;
        if (to == from) continue;
        predict_ask(c, to, &c->out[to]);
        predict_rates_between(c, from, to);
        from = to;
    }
}

static void predict_curve(const ebi_kind *kind, const ebi_params *p, const eb_workload *w,
                          const double *items, size_t n, eb_prediction *out) {
    predict_stream s;
    predict_open(&s, p, w);
    for (size_t i = 0; i < n; i++) {
        predict_unknown(&out[i]);
        out[i].items = items[i] / s.shards;
    }
    if (!kind->curve || !(w->items > 0) || !kind->curve(p, &s.load, out, n))
        predict_rates(&(predict_points){kind, p, &s, items, n, out});
    if (kind->info.caps & EB_CAN_COUNT) predict_counts(kind, p, &s, items, n, out);
    for (size_t i = 0; i < n; i++) predict_finish(kind, p, s.shards, &out[i]);
}

static eb_status predict_check_points(const eb_workload *w, const double *items, size_t n,
                                      eb_error *err) {
    for (size_t i = 0; i < n; i++)
        if (!(items[i] > 0 && items[i] <= 1e18) || (i > 0 && items[i] < items[i - 1]) ||
            (w->items > 0 && items[i] > w->items))
            return ebi_fail(err, EB_EINVAL,
                            "point %zu of a curve must be above 0, not below the one before it and "
                            "not beyond items (%g), not %g",
                            i, w->items, items[i]);
    return EB_OK;
}

eb_status eb_predict(const char *spec, const eb_workload *load, const double *items, size_t n,
                     eb_prediction *out, eb_error *err) {
    const ebi_kind *kind;
    ebi_params p;
    EBI_CHECK_SIZE(load, eb_workload, err);
    if (!items && n != 1)
        return ebi_fail(err, EB_EINVAL, "a prediction without items is one point, not %zu", n);
    if (n == 0) return EB_OK;
    EBI_CHECK_SIZE(out, eb_prediction, err);
    EBI_TRY(ebi_spec_parse(spec, &kind, &p, err));
    EBI_TRY(ebi_predict_check(load, err));
    if (!items) {
        ebi_predict(kind, &p, load, EBI_ASK_ALL, out);
        return EB_OK;
    }
    EBI_TRY(predict_check_points(load, items, n, err));
    predict_curve(kind, &p, load, items, n, out);
    return EB_OK;
}
