/* predict.c - what mathematics says of a filter on a stream: a kind's formulas for one shard, put
 * together for all of them. */
#include "filter.h"
#include "math/probability.h"
#include <math.h>

eb_status ebi_predict_check(const eb_workload *w, eb_error *err) {
    const struct {
        const char *name;
        double value;
    } fields[] = {
        {"items", w->items}, {"distinct", w->distinct}, {"zipf", w->zipf}, {"gap", w->gap}};
    for (size_t i = 0; i < EBI_COUNT_OF(fields); i++)
        if (!(fields[i].value >= 0 && fields[i].value <= 1e18))
            return ebi_fail(err, EB_EINVAL, "%s must be 0..1e18, not %g", fields[i].name,
                            fields[i].value);
    if (w->items > 0 && w->distinct > w->items)
        return ebi_fail(err, EB_EINVAL, "distinct must be at most items (%g), not %g", w->items,
                        w->distinct);
    if (w->order > EB_ORDER_RECENT || w->reserved != 0)
        return ebi_fail(err, EB_EINVAL, "order must be 0..%d and reserved 0, not %u and %u",
                        EB_ORDER_RECENT, (unsigned)w->order, (unsigned)w->reserved);
    return EB_OK;
}

/* A repeat cannot be further away than the stream is long. */
static void predict_limit_gap(eb_workload *w) {
    if (w->items > 0 && w->gap > w->items) w->gap = w->items;
}

/* The keys between a repeat and its first are dealt to the shards by chance: a
 * shard sees a binomial number of them, so misses are averaged over its law. */
static void predict_misses(const ebi_kind *kind, const ebi_params *p, const eb_workload *load,
                           double shards, eb_prediction *full) {
    enum { PREDICT_QUANTILES = 8 };
    const double deviation = sqrt(load->gap * (1 - 1 / shards));
    if (shards <= 1 || !(load->gap > 0) || isnan(full->fnr)) return;
    if (kind->info.caps & EB_NO_FALSE_NEGATIVES) return;
    if (deviation < 1e-3 * load->gap) return;
    full->fnr = full->mean_fnr = 0;
    for (int i = 0; i < PREDICT_QUANTILES; i++) {
        eb_workload at = *load;
        eb_prediction one = {.size = 0}; /* misses only */
        at.gap += deviation * ebi_normal_upper_quantile((i + 0.5) / PREDICT_QUANTILES);
        at.gap = fmax(at.gap, 1e-9); /* 0 would mean something else */
        predict_limit_gap(&at);
        kind->predict(p, &at, &one);
        full->fnr += one.fnr / PREDICT_QUANTILES;
        full->mean_fnr += one.mean_fnr / PREDICT_QUANTILES;
    }
}

static void predict_round_rate(double *rate) { /* sums of shares may end just outside */
    if (*rate < 0) *rate = 0;
    if (*rate > 1) *rate = 1;
}

static void predict_unknown(eb_prediction *p) {
    p->fpr = p->fnr = p->fill = p->settles_after = p->mean_fpr = p->mean_fnr = NAN;
    p->wrong = p->error = p->error_bound = p->bits = p->most_fpr = NAN;
}

void ebi_predict(const ebi_kind *kind, const ebi_params *p, const eb_workload *w,
                 eb_prediction *out) {
    const double shards = (double)p->opt[EBI_O_SHARDS];
    eb_workload load = *w;
    predict_limit_gap(&load);
    load.items /= shards;
    load.distinct /= shards;
    load.gap /= shards;
    *out = (eb_prediction){.size = sizeof *out};
    predict_unknown(out);
    kind->predict(p, &load, out);
    predict_misses(kind, p, &load, shards, out);
    /* Who never forgets is filled by distinct keys alone, however they come. */
    if ((kind->info.caps & EB_NO_FALSE_NEGATIVES) && isnan(out->most_fpr))
        out->most_fpr = out->mean_fpr;
    double *const rates[] = {&out->fpr,      &out->fnr,   &out->fill,    &out->mean_fpr,
                             &out->mean_fnr, &out->wrong, &out->most_fpr};
    for (size_t i = 0; i < EBI_COUNT_OF(rates); i++) predict_round_rate(rates[i]);
    out->settles_after *= shards;
}

eb_status eb_predict(const char *spec, const eb_workload *w, eb_prediction *out, eb_error *err) {
    const ebi_kind *kind;
    ebi_params p;
    EBI_CHECK_SIZE(w, eb_workload, err);
    EBI_CHECK_SIZE(out, eb_prediction, err);
    EBI_TRY(ebi_spec_parse(spec, &kind, &p, err));
    EBI_TRY(ebi_predict_check(w, err));
    ebi_predict(kind, &p, w, out);
    return EB_OK;
}
