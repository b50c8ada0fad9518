/* plan.c - the spec that meets a goal, by asking each filter's formulas.
 *
 * The planner knows no filter by name.  A kind takes part through its option
 * table: whichever of the wishes memory, fpr, items, distinct and share it has
 * are filled from the goal, the spec is resolved, and predict() says how well it
 * would do.  A wish for memory is a limit and a wish for rates is a bound:
 *
 *   bytes given   among the kinds that keep the bounds, the lowest rate of false
 *                 negatives, then of false positives, then the smaller filter
 *   bytes 0       the smallest filter that keeps the bounds
 *
 * Rates are those over the whole stream (mean_fpr, mean_fnr), so a workload that
 * says what the stream is (items and distinct, or a gap) is needed. */
#include "filter.h"
#include <math.h>
#include <stdio.h>

typedef struct plan_offer { /* what one kind can do */
    char spec[EB_SPEC_MAX];
    double bytes;
    eb_prediction rates;
} plan_offer;

static bool plan_add_wish(char *spec, size_t cap, const eb_kind_info *info, const char *key,
                          double value) {
    size_t i = 0;
    while (info->options[i].key && strcmp(info->options[i].key, key) != 0) i++;
    if (!info->options[i].key || !(value > 0)) return true;
    const size_t len = strlen(spec);
    const int more =
        snprintf(spec + len, cap - len, "%c%s=%.9g", strchr(spec, ':') ? ',' : ':', key, value);
    return more > 0 && (size_t)more < cap - len;
}

static bool plan_wishes(char *spec, size_t cap, const eb_kind_info *info, const eb_goal *g,
                        double bytes) {
    const double distinct = g->load->distinct, items = g->load->items;
    const double share = distinct > 0 && items > 0 ? distinct / items : 0;
    (void)snprintf(spec, cap, "%s", info->name);
    return plan_add_wish(spec, cap, info, "memory", floor(bytes)) &&
           plan_add_wish(spec, cap, info, "fpr", g->fpr) &&
           plan_add_wish(spec, cap, info, "items", distinct) &&
           plan_add_wish(spec, cap, info, "distinct", distinct) &&
           plan_add_wish(spec, cap, info, "share", share);
}

/* false: the kind cannot be made so, or has no formula for this workload */
static bool plan_ask(const eb_kind_info *info, const eb_goal *g, double bytes, plan_offer *o) {
    char wishes[EB_SPEC_MAX];
    o->bytes = bytes;
    o->rates.size = sizeof o->rates;
    return plan_wishes(wishes, sizeof wishes, info, g, bytes) &&
           eb_resolve(wishes, o->spec, sizeof o->spec, NULL) == EB_OK &&
           eb_predict(o->spec, g->load, &o->rates, NULL) == EB_OK && !isnan(o->rates.mean_fpr) &&
           !isnan(o->rates.mean_fnr);
}

static bool plan_keeps(const eb_goal *g, const plan_offer *o) {
    const double rounding = 1 + 1e-3; /* kinds solve their own formulas to this much */
    return (!(g->fpr > 0) || o->rates.mean_fpr <= g->fpr * rounding) &&
           (!(g->fnr > 0) || o->rates.mean_fnr <= g->fnr * rounding);
}

enum { PLAN_BYTES_MIN = 1024 };
static const double plan_bytes_max = 1099511627776.0;

/* The smallest size at which the kind keeps the bounds, to 1 %. */
static bool plan_shrink(const eb_kind_info *info, const eb_goal *g, plan_offer *best) {
    plan_offer o;
    double high = PLAN_BYTES_MIN;
    while (!(plan_ask(info, g, high, &o) && plan_keeps(g, &o))) {
        high *= 2;
        if (high > plan_bytes_max) return false;
    }
    *best = o;
    for (double low = high / 2; high / low > 1.01 && high > PLAN_BYTES_MIN;) {
        const double middle = floor(sqrt(low * high));
        if (plan_ask(info, g, middle, &o) && plan_keeps(g, &o)) {
            high = middle;
            *best = o;
        } else {
            low = middle;
        }
    }
    return true;
}

static bool plan_better(const eb_goal *g, const plan_offer *a, const plan_offer *b) {
    if (!(g->bytes > 0)) return a->bytes < b->bytes;
    if (a->rates.mean_fnr != b->rates.mean_fnr) return a->rates.mean_fnr < b->rates.mean_fnr;
    return a->rates.mean_fpr < b->rates.mean_fpr;
}

static eb_status plan_check(const eb_goal *g, eb_error *err) {
    if (!g->load || !(g->load->gap > 0 || (g->load->items > 0 && g->load->distinct > 0)))
        return ebi_fail(err, EB_EINVAL,
                        "a plan needs a workload: items and distinct, or the gap between repeats");
    if (!(g->fpr >= 0 && g->fpr < 1) || !(g->fnr >= 0 && g->fnr < 1))
        return ebi_fail(err, EB_EINVAL, "wanted rates must be 0..1, not fpr=%g and fnr=%g", g->fpr,
                        g->fnr);
    if (!(g->bytes >= 0 && g->bytes <= plan_bytes_max))
        return ebi_fail(err, EB_EINVAL, "bytes must be 0..%.0f, not %g", plan_bytes_max, g->bytes);
    if (g->bytes == 0 && (g->fpr == 0 || g->fnr == 0))
        return ebi_fail(err, EB_EINVAL, "a plan without a size needs both fpr and fnr");
    return EB_OK;
}

eb_status eb_plan(const eb_goal *goal, char *spec, size_t cap, eb_prediction *out, eb_error *err) {
    eb_goal g = {.size = sizeof g};
    memcpy(&g, goal, ebi_min(goal->size, sizeof g));
    EB_TRY(plan_check(&g, err));
    plan_offer best = {{0}, 0, {0}}, o;
    for (size_t i = 0; i < ebi_registry_size; i++) {
        const eb_kind_info *const info = &ebi_registry[i].kind->info;
        if ((info->caps & g.caps) != g.caps) continue;
        if (info->caps & ~g.caps & EB_KEYS_ARE_NUMBERS) continue; /* only for those who ask */
        const bool made = g.bytes > 0 ? plan_ask(info, &g, g.bytes, &o) && plan_keeps(&g, &o)
                                      : plan_shrink(info, &g, &o);
        if (made && (best.spec[0] == '\0' || plan_better(&g, &o, &best))) best = o;
    }
    if (best.spec[0] == '\0')
        return ebi_fail(err, EB_EINVAL, "no kind of filter keeps these bounds on this workload");
    if (strlen(best.spec) >= cap)
        return ebi_fail(err, EB_EINVAL, "the buffer must have %d bytes, not %zu", EB_SPEC_MAX, cap);
    memcpy(spec, best.spec, strlen(best.spec) + 1);
    ebi_give(out, &best.rates, sizeof best.rates);
    return EB_OK;
}
