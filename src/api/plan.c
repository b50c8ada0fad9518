/* plan.c - the spec that meets a goal, by asking each filter's formulas.
 *
 * The planner knows no filter by name.  A kind takes part through its option
 * table: whichever of the wishes memory, fpr, distinct and share it has are set
 * from the goal, as values, the rest is settled, and predict() says how well it
 * would do.  A wish for memory is a limit and a wish for rates is a bound:
 *
 *   bytes given   among the kinds that keep the bounds, the fewest missed repeats
 *   bytes 0       the smallest filter that keeps the bounds
 *
 * A stream whose order is told is taken at its word: rates are those over the
 * whole stream.  Else the bound on false positives must hold in any order and
 * with any skew (most_fpr), and misses are weighed over several streams: shuffled
 * ones and those whose repeats are near.  On each, a filter has so many times the
 * misses of the best one there; the filter with the least worst ratio is taken.
 * docs/decisions/planning.md has the reasons. */
#include "filter.h"
#include <math.h>

/* Streams that an unknown one may be: shuffled, or with gaps of such a share of its keys. */
static const double plan_gaps[] = {0, 1e-3, 1e-2, 1e-1};
enum { PLAN_STREAMS = EBI_COUNT_OF(plan_gaps), PLAN_KINDS_MAX = 32 };

typedef struct plan_offer { /* what one kind can do */
    ebi_params p;
    char spec[EB_SPEC_MAX];
    double bytes;
    eb_prediction rates;
    double missed[PLAN_STREAMS];
    double regret; /* the worst ratio of its misses to the least of all offers */
} plan_offer;

static bool plan_is_told(const eb_workload *w) {
    return w->order == EB_ORDER_SHUFFLED || w->gap > 0;
}

/* Set the option of this name, if the kind has it.  false: not in its range. */
static bool plan_wish(const ebi_kind *kind, const char *key, double value, ebi_params *p,
                      ebi_args *a) {
    const eb_option *const options = kind->info.options;
    size_t i = 0;
    while (options[i].key && strcmp(options[i].key, key) != 0) i++;
    return !options[i].key || !(value > 0) || ebi_spec_set(kind, i, value, p, a);
}

/* Rates and shares have ranges that are not the goal's: a laxer bound is kept by the kind's most,
 * and a share of a millionth stands for all that are smaller. */
static double plan_share(const eb_workload *w) {
    const double least = 1e-6;
    return w->distinct > 0 && w->items > 0 ? fmax(least, w->distinct / w->items) : 0;
}

static bool plan_wishes(const ebi_kind *kind, const eb_goal *g, double bytes, ebi_params *p,
                        ebi_args *a) {
    const double lax = 0.5;
    memset(p, 0, sizeof *p);
    memset(a, 0, sizeof *a);
    return plan_wish(kind, "memory", floor(bytes), p, a) &&
           plan_wish(kind, "fpr", fmin(g->fpr, lax), p, a) &&
           plan_wish(kind, "distinct", g->load->distinct, p, a) &&
           plan_wish(kind, "share", plan_share(g->load), p, a);
}

/* false: the kind cannot be made so, or has no formula for this workload */
static bool plan_ask(const ebi_kind *kind, const eb_goal *g, double bytes, plan_offer *o) {
    ebi_args a;
    o->bytes = bytes;
    if (!plan_wishes(kind, g, bytes, &o->p, &a) || ebi_spec_settle(kind, &o->p, &a, NULL) != EB_OK)
        return false;
    (void)ebi_spec_print(kind, &o->p, o->spec, sizeof o->spec);
    ebi_predict(kind, &o->p, g->load, &o->rates);
    return !isnan(o->rates.mean_fpr) && !isnan(o->rates.mean_fnr);
}

/* What an offer that keeps the bounds misses if the stream is another one. */
static void plan_look_around(const ebi_kind *kind, const eb_goal *g, plan_offer *o) {
    const bool never = (kind->info.caps & EB_NO_FALSE_NEGATIVES) != 0;
    for (size_t i = 0; i < PLAN_STREAMS && !plan_is_told(g->load); i++) {
        eb_workload near = *g->load;
        eb_prediction there = {.mean_fnr = 0};
        near.gap = plan_gaps[i] * near.distinct;
        if (!never) ebi_predict(kind, &o->p, &near, &there);
        o->missed[i] = isnan(there.mean_fnr) ? o->rates.mean_fnr : there.mean_fnr;
    }
}

static bool plan_keeps(const eb_goal *g, const plan_offer *o) {
    const double rounding = 1 + 1e-3; /* kinds solve their own formulas to this much */
    const double fpr = plan_is_told(g->load) ? o->rates.mean_fpr : o->rates.most_fpr;
    return (!(g->fpr > 0) || fpr <= g->fpr * rounding) &&
           (!(g->fnr > 0) || o->rates.mean_fnr <= g->fnr * rounding);
}

enum { PLAN_BYTES_MIN = 1024 };
static const double plan_bytes_max = 1099511627776.0;

/* The smallest size at which the kind keeps the bounds, to 1 %. */
static bool plan_shrink(const ebi_kind *kind, const eb_goal *g, plan_offer *best) {
    plan_offer o;
    double high = PLAN_BYTES_MIN;
    while (!(plan_ask(kind, g, high, &o) && plan_keeps(g, &o))) {
        high *= 2;
        if (high > plan_bytes_max) return false;
    }
    *best = o;
    for (double low = high / 2; high / low > 1.01 && high > PLAN_BYTES_MIN;) {
        const double middle = floor(sqrt(low * high));
        if (plan_ask(kind, g, middle, &o) && plan_keeps(g, &o)) {
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
    if (a->regret != b->regret) return a->regret < b->regret;
    if (a->rates.mean_fnr != b->rates.mean_fnr) return a->rates.mean_fnr < b->rates.mean_fnr;
    return a->rates.mean_fpr < b->rates.mean_fpr;
}

/* Streams that need not be looked at: of recent ones the shuffled one. */
static bool plan_counts(const eb_workload *w, size_t stream) {
    return w->order != EB_ORDER_RECENT || plan_gaps[stream] > 0;
}

static void plan_regrets(const eb_goal *g, plan_offer *offers, size_t n) {
    const double few = 1e-4; /* misses that nobody will regret */
    for (size_t s = 0; s < PLAN_STREAMS && !plan_is_told(g->load); s++) {
        double least = 1;
        if (!plan_counts(g->load, s)) continue;
        for (size_t i = 0; i < n; i++) least = fmin(least, offers[i].missed[s]);
        for (size_t i = 0; i < n; i++)
            offers[i].regret = fmax(offers[i].regret, (offers[i].missed[s] + few) / (least + few));
    }
}

/* What each kind that the goal allows can do; returns how many can. */
static size_t plan_offers(const eb_goal *g, plan_offer *offers) {
    size_t n = 0;
    assert(ebi_registry_size <= PLAN_KINDS_MAX);
    for (size_t i = 0; i < ebi_registry_size; i++) {
        const ebi_kind *const kind = ebi_registry[i].kind;
        const unsigned caps = kind->info.caps;
        plan_offer *const o = &offers[n];
        if ((caps & g->caps) != g->caps) continue;
        if (caps & ~g->caps & EB_KEYS_ARE_NUMBERS) continue; /* only for those who ask */
        *o = (plan_offer){.regret = 0};
        if (g->bytes > 0 ? !(plan_ask(kind, g, g->bytes, o) && plan_keeps(g, o))
                         : !plan_shrink(kind, g, o))
            continue;
        plan_look_around(kind, g, o);
        n++;
    }
    plan_regrets(g, offers, n);
    return n;
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

static eb_status plan_impossible(const eb_goal *g, eb_error *err) {
    if (g->fpr > 0 && !(g->fnr > 0))
        return ebi_fail(err, EB_ELIMIT, "no kind of filter keeps fpr=%g in %.0f bytes here", g->fpr,
                        g->bytes);
    return ebi_fail(err, EB_ELIMIT, "no kind of filter keeps fpr=%g and fnr=%g in %.0f bytes here",
                    g->fpr, g->fnr, g->bytes > 0 ? g->bytes : plan_bytes_max);
}

eb_status eb_plan(const eb_goal *goal, char *spec, size_t cap, eb_prediction *out, eb_error *err) {
    EBI_CHECK_SIZE(goal, eb_goal, err);
    EBI_CHECK_SIZE(out, eb_prediction, err);
    if (goal->load) EBI_CHECK_SIZE(goal->load, eb_workload, err);
    const eb_goal g = *goal;
    EBI_TRY(plan_check(&g, err));
    EBI_TRY(ebi_predict_check(g.load, err));
    plan_offer offers[PLAN_KINDS_MAX];
    const size_t n = plan_offers(&g, offers);
    if (n == 0) return plan_impossible(&g, err);
    plan_offer best = offers[0];
    for (size_t i = 1; i < n; i++)
        if (plan_better(&g, &offers[i], &best)) best = offers[i];
    if (strlen(best.spec) >= cap)
        return ebi_fail(err, EB_EINVAL, "the buffer must have %d bytes, not %zu", EB_SPEC_MAX, cap);
    memcpy(spec, best.spec, strlen(best.spec) + 1);
    *out = best.rates;
    return EB_OK;
}
