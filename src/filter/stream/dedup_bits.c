/* dedup_bits.c - sizes, checks, statistics and predictions of rsbf, bsbf, bsbfsd and rlbsbf. */
#include "dedup_bits.h"
#include <math.h>

eb_status ebi_parts_resolve(ebi_params *p, const ebi_args *a, const char *kind, ebi_fade_rule rule,
                            ebi_fpr_of *fpr_of, eb_error *err) {
    const bool by_fpr = a->given[EBI_O_PARTS_FPR];
    const double fpr = a->real[EBI_O_PARTS_FPR];
    p->derived[EBI_PARTS_RULE] = rule;
    if (a->given[EBI_O_PARTS] && by_fpr)
        return ebi_fail(err, EB_ESPEC, "%s: give k or fpr, not both", kind);
    if (!a->given[EBI_O_PARTS]) {
        uint64_t k = by_fpr ? 1 : 2;
        while (by_fpr && k < EBI_K_MAX && fpr_of(p, (double)k) > fpr) k++;
        p->opt[EBI_O_PARTS] = k;
    }
    return ebi_size_cells(p, a, kind, 1, p->opt[EBI_O_PARTS], ebi_parts_loads_bytes(p), err);
}

static eb_status dedup_parts_damaged(eb_error *err, const char *how) {
    return ebi_fail(err, EB_EFORMAT, "damaged filter: %s", how);
}

eb_status ebi_parts_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    const uint64_t *const load = ebi_parts_loads(block);
    const uint8_t *const bits = ebi_parts_bits(p, block);
    const uint64_t k = p->opt[EBI_O_PARTS], s = ebi_parts_size(p);
    if (!ebi_tail_is_zero((const uint8_t *)load, 64 * k, ebi_parts_loads_bytes(p)))
        return dedup_parts_damaged(err, "there is something after its last load");
    if (!ebi_tail_is_zero(bits, k * s, p->span - sizeof(ebi_block_head) - ebi_parts_loads_bytes(p)))
        return dedup_parts_damaged(err, "bits are set after its last cell");
    for (uint64_t j = 0; j < k; j++) {
        if (load[j] != ebi_bits_count(bits, j * s, (j + 1) * s))
            return dedup_parts_damaged(err, "a load is not the number of bits set in its part");
        if (load[j] > ebi_head_of(block)->items)
            return dedup_parts_damaged(err, "more bits are set than its keys can set");
    }
    return EB_OK;
}

void ebi_parts_stat(const ebi_params *p, const uint8_t *block, eb_stats *s) {
    const uint64_t *const load = ebi_parts_loads(block);
    s->cells = p->opt[EBI_O_CELLS];
    s->fpr = 1;
    for (uint64_t j = 0; j < p->opt[EBI_O_PARTS]; j++) {
        s->cells_used += load[j];
        s->fpr *= (double)load[j] / (double)ebi_parts_size(p);
    }
}

bool ebi_parts_view(const ebi_params *p, const uint8_t *block, eb_cells_view *v) {
    const uint64_t s = ebi_parts_size(p);
    *v = (eb_cells_view){ebi_parts_bits(p, block), s, s, ebi_parts_k(p), 1};
    return true;
}

/* Formulas */

/* For a bounded set of keys in an endless stream: after this many rounds it has settled. */
enum { DEDUP_PARTS_LONG = 100 };

/* If a gap is given, there are at least a few repeats. */
static const double dedup_parts_rare = 1e-6;

static ebi_stream dedup_parts_stream(const eb_workload *w) {
    const double most = w->gap > 0 ? 1 - dedup_parts_rare : 1;
    if (w->items > 0)
        return (ebi_stream){w->items, w->distinct > 0 ? fmin(w->distinct / w->items, most) : most,
                            w->gap};
    if (w->distinct > 0)
        return (ebi_stream){w->distinct * DEDUP_PARTS_LONG, 1.0 / DEDUP_PARTS_LONG, w->gap};
    return (ebi_stream){INFINITY, most, w->gap};
}

static ebi_fade dedup_parts_filter(const ebi_params *p, double bits, double k, bool rough) {
    assert(k >= 1 && p->derived[EBI_PARTS_RULE] <= EBI_FADE_RLBSBF);
    return (ebi_fade){(ebi_fade_rule)p->derived[EBI_PARTS_RULE], bits, (int)k, 0, rough};
}

void ebi_parts_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    if (w->zipf > 0) { /* repeats are nearer than without skew, and fewer keys are new at a time */
        eb_workload even = *w;
        eb_prediction r = {.size = ebi_asks_roughly(out) ? EBI_ASK_ROUGH_MISSES : EBI_ASK_MISSES,
                           .mean_fnr = 1};
        even.zipf = 0;
        if (w->gap > 0) ebi_parts_predict(p, &even, &r);
        out->fnr_high = r.mean_fnr;
        even.items = w->items > 0 ? w->items : w->distinct * DEDUP_PARTS_LONG;
        even.distinct = even.gap = 0; /* if all keys were new, the filter would be fuller */
        if (!ebi_asks_misses(out)) ebi_parts_predict(p, &even, &r);
        out->fpr_high = r.fpr;
        out->unused |= EB_UNUSED_ZIPF;
        return;
    }
    const ebi_fade filter = dedup_parts_filter(p, (double)p->opt[EBI_O_CELLS],
                                               (double)p->opt[EBI_O_PARTS], ebi_asks_roughly(out));
    const ebi_stream stream = dedup_parts_stream(w);
    const ebi_rates r = ebi_fade_rates(&filter, &stream, ebi_asks_rates(out));
    out->fill = r.load;
    out->fpr = r.fpr;
    out->fnr = r.fnr;
    out->mean_fpr = w->items > 0 ? r.mean_fpr : r.fpr;
    out->mean_fnr = w->items > 0 ? r.mean_fnr : r.fnr;
    out->settles_after = r.settles;
    if (w->gap > 0) out->accuracy = 0.4; /* too high if the stream has only a few gaps in it */
}

double ebi_parts_fpr_endless(const ebi_params *p, double k) {
    const ebi_fade filter = dedup_parts_filter(p, 64 * k, k, false);
    const ebi_stream fresh = {INFINITY, 1, 0};
    return ebi_fade_rates(&filter, &fresh, false).fpr;
}

double ebi_parts_fpr_full(const ebi_params *p, double k) {
    assert(k >= 1);
    (void)p;
    return pow(1 - exp(-1), k);
}
