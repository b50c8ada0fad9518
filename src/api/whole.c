/* whole.c - operations on whole filters: merge, statistics, prediction, the
 * list of kinds. */
#include "filter.h"
#include "theory/theory.h"
#include <math.h>

static void whole_merge_shard(eb_filter *into, const eb_filter *from, uint64_t i) {
    uint8_t *const a = ebi_shard(into, i), *const b = ebi_shard(from, i);
    if (ebi_is_frozen(from))
        into->kind->merge_from(&into->p, a, &from->p, b);
    else
        into->kind->merge(&into->p, a, b);
}

eb_status eb_merge(eb_filter *into, const eb_filter *from, eb_error *err) {
    char a[EB_SPEC_MAX], b[EB_SPEC_MAX];
    (void)ebi_spec_thawed(into, a, sizeof a);
    (void)ebi_spec_thawed(from, b, sizeof b);
    if (into->flags & EB_FLAG_VIEW)
        return ebi_fail(err, EB_EREADONLY, "cannot merge into a read-only view");
    if (ebi_is_frozen(into))
        return ebi_fail(err, EB_EREADONLY, "cannot merge into a frozen filter: thaw it first");
    if (ebi_is_sealed(into) || ebi_is_sealed(from))
        return ebi_fail(err, EB_EREADONLY,
                        "cannot merge the outcome of an operation: its counters are no sums");
    if (strcmp(a, b) != 0)
        return ebi_fail(err, EB_EMISMATCH, "filters differ: %.220s and %.220s", a, b);
    if (!(eb_caps(into) & EB_CAN_MERGE))
        return ebi_fail(err, EB_ENOTSUP, "%s filters%s cannot be merged", into->kind->info.name,
                        into->kind->info.caps & EB_CAN_MERGE ? " with these options" : "");
    for (uint64_t i = 0; i < ebi_shards(into); i++) {
        eb_head *const head = ebi_head(ebi_shard(into, i));
        const eb_head *const other = ebi_head_of(ebi_shard(from, i));
        whole_merge_shard(into, from, i);
        head->items += other->items;
        if (into->kind->info.caps & EB_USES_TIME)
            head->clock = ebi_max(head->clock, other->clock);
        else
            head->clock = head->items;
    }
    return EB_OK;
}

void eb_stat(const eb_filter *f, eb_stats *out) {
    eb_stats sum = {.size = sizeof sum, .bytes = sizeof *f + ebi_bytes(f)};
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        eb_stats one = {.size = sizeof one};
        const eb_head *const head = ebi_head_of(ebi_shard(f, i));
        f->kind->stat(&f->p, ebi_shard(f, i), &one);
        sum.items += head->items;
        sum.cells += one.cells;
        sum.cells_used += one.cells_used;
        sum.clock = f->kind->info.caps & EB_USES_TIME ? ebi_max(sum.clock, head->clock) : sum.items;
        sum.fpr += one.fpr / (double)ebi_shards(f);
        sum.saturated += one.saturated;
        sum.window = i == 0 ? one.window : fmin(sum.window, one.window);
    }
    if (f->kind->fading) {
        eb_faded_counts faded;
        f->kind->fading(&f->p, &faded);
        sum.halflife = faded.halflife;
        sum.epsilon = faded.epsilon;
        sum.excess = faded.excess;
    }
    sum.fill = (double)sum.cells_used / (double)sum.cells;
    ebi_give(out, &sum, sizeof sum);
}

double eb_faded(const eb_filter *f, double period) {
    eb_faded_counts faded;
    if (!f->kind->fading || !(period > 0)) return 0;
    f->kind->fading(&f->p, &faded);
    if (faded.halflife > 0) return 1 - exp2(-period / faded.halflife);
    return faded.weight > 0 ? period / faded.weight : 0;
}

static eb_status whole_check_workload(const eb_workload *w, eb_error *err) {
    const struct {
        const char *name;
        double value;
    } fields[] = {
        {"items", w->items}, {"distinct", w->distinct}, {"zipf", w->zipf}, {"gap", w->gap}};
    for (size_t i = 0; i < EB_COUNT_OF(fields); i++)
        if (!(fields[i].value >= 0 && fields[i].value <= 1e18))
            return ebi_fail(err, EB_EINVAL, "%s must be 0..1e18, not %g", fields[i].name,
                            fields[i].value);
    if (w->items > 0 && w->distinct > w->items)
        return ebi_fail(err, EB_EINVAL, "distinct must be at most items (%g), not %g", w->items,
                        w->distinct);
    return EB_OK;
}

/* A repeat cannot be further away than the stream is long. */
static void whole_limit_gap(eb_workload *w) {
    if (w->items > 0 && w->gap > w->items) w->gap = w->items;
}

/* The keys between a repeat and its first are dealt to the shards by chance: a
 * shard sees a binomial number of them, so misses are averaged over its law. */
static void whole_predict_misses(const eb_kind *kind, const eb_params *p, const eb_workload *load,
                                 double shards, eb_prediction *full) {
    enum { QUANTILES = 8 };
    if (shards <= 1 || !(load->gap > 0) || isnan(full->fnr)) return;
    const double deviation = sqrt(load->gap * (1 - 1 / shards));
    full->fnr = full->mean_fnr = 0;
    for (int i = 0; i < QUANTILES; i++) {
        eb_workload at = *load;
        eb_prediction one = *full;
        at.gap += deviation * ebi_normal_upper_quantile((i + 0.5) / QUANTILES);
        at.gap = fmax(at.gap, 1e-9); /* 0 would mean something else */
        whole_limit_gap(&at);
        kind->predict(p, &at, &one);
        full->fnr += one.fnr / QUANTILES;
        full->mean_fnr += one.mean_fnr / QUANTILES;
    }
}

static void whole_round_rate(double *rate) { /* sums of shares may end just outside */
    if (*rate < 0) *rate = 0;
    if (*rate > 1) *rate = 1;
}

static void whole_unknown(eb_prediction *p) {
    p->fpr = p->fnr = p->fill = p->settles_after = p->mean_fpr = p->mean_fnr = NAN;
    p->wrong = p->error = p->error_bound = p->bits = NAN;
}

eb_status eb_predict(const char *spec, const eb_workload *w, eb_prediction *out, eb_error *err) {
    const eb_kind *kind;
    eb_params p;
    EB_TRY(ebi_spec_parse(spec, &kind, &p, err));
    eb_workload load = {.size = sizeof load};
    memcpy(&load, w, ebi_min(w->size, sizeof load));
    EB_TRY(whole_check_workload(&load, err));
    whole_limit_gap(&load);
    const double shards = (double)p.opt[EB_O_SHARDS];
    load.items /= shards;
    load.distinct /= shards;
    load.gap /= shards;
    eb_prediction full = {.size = sizeof full};
    whole_unknown(&full);
    kind->predict(&p, &load, &full);
    whole_predict_misses(kind, &p, &load, shards, &full);
    double *const rates[] = {&full.fpr,      &full.fnr,      &full.fill,
                             &full.mean_fpr, &full.mean_fnr, &full.wrong};
    for (size_t i = 0; i < EB_COUNT_OF(rates); i++) whole_round_rate(rates[i]);
    full.settles_after *= shards;
    ebi_give(out, &full, sizeof full);
    return EB_OK;
}

const eb_kind_info *const *eb_kinds(size_t *n) {
    static const eb_kind_info *const infos[] = {
#define EB_KIND(name, number) &ebi_kind_##name.info,
#include "filter/kinds.def"
#undef EB_KIND
    };
    *n = EB_COUNT_OF(infos);
    return infos;
}

unsigned eb_caps(const eb_filter *f) {
    return f->kind->caps ? f->kind->caps(&f->p) : f->kind->info.caps;
}

bool eb_cells_view_of(const eb_filter *f, eb_cells_view *v) {
    return f->shard_bits == 0 && f->kind->view && f->kind->view(&f->p, f->block, v);
}
