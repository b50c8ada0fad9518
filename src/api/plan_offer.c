/* plan_offer.c - what one kind can do in so much memory: the options that follow from a goal, the
 * rates that predict() then gives, and whether they keep the bounds. */
#include "math/probability.h"
#include "plan.h"
#include <math.h>

/* An unknown stream may be one of these: shuffled, or with gaps of this share of its keys. */
static const double plan_offer_gaps[EBI_PLAN_STREAMS] = {0, 1e-3, 1e-2, 1e-1, 0.3};
static const double plan_offer_useless =
    0.99; /* fpr + fnr of a filter that is hardly better than guessing */

/* A set: keys that are added once, before others are asked for.  Both rates are those at the end.
 */
static bool plan_offer_is_set(const eb_goal *g) {
    return g->at_end && g->load->distinct > 0 && !(g->load->items > g->load->distinct) &&
           !(g->load->gap > 0) && !(g->window > 0);
}

bool ebi_plan_is_told(const eb_workload *w) {
    return w->order == EB_ORDER_SHUFFLED || w->gap > 0;
}

/* Whether misses on this stream count.  If repeats are recent, the shuffled stream does not.  The
 * keys of a set are not repeated. */
bool ebi_plan_counts(const eb_goal *g, size_t stream) {
    if (plan_offer_is_set(g)) return stream == 0;
    return g->load->order != EB_ORDER_RECENT || plan_offer_gaps[stream] > 0;
}

/* Options that follow from the goal */

/* Sets the option of this name, if the kind has it and it is not set, to the nearest value that it
 * can have.  The prediction tells whether that is good enough. */
static void plan_offer_wish(ebi_plan_spec *s, const char *key, double value) {
    assert(value >= 0 && isfinite(value));
    const size_t i = ebi_spec_option(s->kind, key);
    if (i == EBI_OPTIONS_MAX || s->a.given[i] || !(value > 0)) return;
    const bool ok = ebi_spec_set_nearest(s->kind, i, value, &s->p, &s->a);
    assert(ok);
    (void)ok;
}

static void plan_offer_choose(ebi_plan_spec *s, const char *key, const char *choice) {
    const size_t i = ebi_spec_option(s->kind, key);
    if (i == EBI_OPTIONS_MAX || s->a.given[i]) return;
    eb_error pair;
    (void)ebi_fail(&pair, EB_OK, "%s=%s", key, choice);
    const eb_status ok = ebi_spec_pairs(s->kind, pair.text, &s->p, &s->a, NULL);
    assert(ok == EB_OK);
    (void)ok;
}

/* Whether sizes or rates are tried until one keeps the bounds.  Options for a skewed stream take
 * too long to resolve for that. */
static bool plan_offer_searches(const eb_goal *g) {
    return g->prefer == EB_SMALLEST || g->prefer == EB_FEWEST_FALSE;
}

/* A kind that asks for the share of new keys plans for a shuffled stream, unless told otherwise,
 * and its fpr= is the mean over the stream. */
static bool plan_offer_shuffles(const ebi_kind *kind) {
    return ebi_spec_option(kind, "share") < EBI_OPTIONS_MAX;
}

static bool plan_offer_has_window(const ebi_kind *kind) {
    return ebi_spec_option(kind, "window") < EBI_OPTIONS_MAX;
}

static void plan_offer_wishes(ebi_plan_spec *s, const eb_goal *g, double bytes, double fpr) {
    const eb_workload *const w = g->load;
    const size_t cells = ebi_spec_option(s->kind, "cells");
    if (!s->a.given[cells]) plan_offer_wish(s, "memory", floor(bytes));
    const bool passes = w->order == EB_ORDER_PASSES,
               shuffled = w->order == EB_ORDER_SHUFFLED && !(w->gap > 0) &&
                          (!(w->zipf > 0) || !plan_offer_searches(g));
    if (!plan_offer_shuffles(s->kind) || shuffled || passes) plan_offer_wish(s, "fpr", fpr);
    if (shuffled && w->zipf > 0 && fpr > 0) plan_offer_choose(s, "order", "any");
    /* If all repeats are at one gap, a duel has nothing to learn. */
    if (w->gap > 0) plan_offer_choose(s, "keep", "recent");
    plan_offer_wish(s, "distinct", w->distinct);
    if (passes) /* as long as keys are new, all of them are */
        plan_offer_wish(s, "share", 1);
    else if (w->distinct > 0 && w->items > 0)
        plan_offer_wish(s, "share", w->distinct / w->items);
    /* A key and its repeat are one record further apart than there are records between them. */
    if (!(g->window > 0) && w->gap > 0 && plan_offer_has_window(s->kind)) {
        plan_offer_wish(s, "window", ceil(w->gap) + 1);
        plan_offer_choose(s, "refresh", "yes");
        plan_offer_choose(s, "mode", fpr >= 0.05 ? "rotate" : "elastic");
    }
    if (!(g->window > 0)) return;
    plan_offer_wish(s, "window", ceil(g->window));
    if (w->rate > 0) {
        plan_offer_choose(s, "unit", "time");
        if (ebi_spec_option(s->kind, "window") < EBI_OPTIONS_MAX)
            plan_offer_wish(s, "items", ceil(g->window * w->rate));
    }
}

static uint64_t plan_offer_caps(const ebi_plan_spec *s) {
    return ebi_caps_of(s->kind, &s->p);
}

/* Resolves the options.  All wanted capabilities must be there; some kinds have more of them with
 * update=plain. */
static bool plan_offer_settle(ebi_plan_spec *s, const eb_goal *g) {
    const ebi_plan_spec before = *s;
    const uint64_t caps = g->caps;
    if (ebi_spec_settle(s->kind, &s->p, &s->a, NULL) != EB_OK) return false;
    if ((plan_offer_caps(s) & caps) == caps) return true;
    *s = before;
    plan_offer_choose(s, "update", "plain");
    return ebi_spec_settle(s->kind, &s->p, &s->a, NULL) == EB_OK &&
           (plan_offer_caps(s) & caps) == caps;
}

/* Rates */

static double plan_offer_known(double rate, double at_most) { /* if there is no formula, a bound */
    return isnan(rate) ? at_most : rate;
}

/* Whether the kind guarantees to find every repeat within a window. */
static bool plan_offer_promises(const ebi_kind *kind, const eb_goal *g) {
    return g->window > 0 && plan_offer_has_window(kind);
}

/* The accuracy to which kinds solve their own formulas. */
double ebi_plan_rounding(const ebi_plan_offer *o) {
    return o->rough ? 1 + 2e-2 : 1 + 1e-3;
}

static bool plan_offer_keeps_fpr(const eb_goal *g, const ebi_plan_offer *o) {
    return !(g->max_fpr > 0) || o->most_fpr <= g->max_fpr * ebi_plan_rounding(o);
}

/* A filter that grows keeps its rate however many keys come. */
static double plan_offer_grown_fpr(const ebi_plan_offer *o, const eb_goal *g, size_t ask) {
    eb_workload ever = *g->load;
    eb_prediction r;
    ever.items = ever.distinct = 1e18;
    ebi_predict(o->kind, &o->p, &ever, ask, &r);
    return plan_offer_known(r.fpr, 1);
}

/* Misses on further streams are not computed if the bound on false positives is broken. */
static void plan_offer_predict(ebi_plan_offer *o, const eb_goal *g) {
    const size_t ask = o->rough ? EBI_ASK_ROUGH : EBI_ASK_PLAN;
    const bool promised = plan_offer_promises(o->kind, g);
    eb_prediction r;
    ebi_predict(o->kind, &o->p, g->load, ask, &r);
    o->fpr = g->at_end ? plan_offer_known(r.fpr, 1) : plan_offer_known(r.mean_fpr, r.fpr_high);
    /* A window filter is for goals that say how long the window is, or how far apart repeats
     * are. */
    const bool unasked = !promised && !(g->load->gap > 0) && plan_offer_has_window(o->kind);
    o->fnr = promised               ? 0
             : unasked              ? 1
             : plan_offer_is_set(g) ? plan_offer_known(r.fnr, 1)
                                    : plan_offer_known(r.mean_fnr, r.fnr_high);
    /* What bounds the mean in any order is due to cells that fill with distinct keys alone. */
    const bool by_distinct = g->at_end && !isnan(r.most_fpr);
    o->most_fpr = ebi_plan_is_told(g->load) || by_distinct ? o->fpr : r.most_fpr;
    if (ebi_caps_of(o->kind, &o->p) & EB_GROWS) o->most_fpr = plan_offer_grown_fpr(o, g, ask);
    o->most_fnr = ebi_plan_is_told(g->load) ? o->fnr : 0;
    if (!plan_offer_keeps_fpr(g, o)) return;
    for (size_t i = 0; i < EBI_PLAN_STREAMS && !ebi_plan_is_told(g->load); i++) {
        eb_workload near = *g->load;
        near.gap = plan_offer_gaps[i] * fmax(near.distinct, 1);
        o->missed[i] = o->fnr;
        if (near.gap > 0 && !promised && !unasked && !plan_offer_is_set(g) &&
            !(o->kind->info.caps & EB_NO_FALSE_NEGATIVES)) {
            ebi_predict(o->kind, &o->p, &near, ask, &r);
            o->missed[i] = plan_offer_known(r.mean_fnr, r.fnr_high);
        }
        if (ebi_plan_counts(g, i)) o->most_fnr = fmax(o->most_fnr, o->missed[i]);
    }
}

/* The memory that any data structure needs */

/* Bits for each key that is remembered: D(1-fnr || fpr). */
static double plan_offer_bits(double fpr, double fnr) {
    assert(!(fpr < 0) && !(fnr < 0));
    return fpr + fnr < 1 ? ebi_kl_bernoulli_bits(1 - fnr, fpr) : 0;
}

/* The bytes without which no data structure keeps the rates.  For means over a stream of n keys:
 * after a share x of them, both rates are on average at most 1 / (1-x) times the means.  D is
 * convex, so memory >= n D(..) (1-x) / ln(1/x), and the best x gives the bound.  0: no bound is
 * known. */
double ebi_plan_least_bytes(const eb_goal *g, double fpr, double fnr) {
    const eb_workload *const w = g->load;
    double best = 0;
    if (w->zipf > 0 && fnr > 0) return 0; /* rare keys need not be remembered */
    if (g->window > 0)
        return g->window * (w->rate > 0 ? w->rate : 1) * plan_offer_bits(fpr, fnr) / 8;
    if (w->gap > 0 && w->order != EB_ORDER_PASSES) return w->gap * plan_offer_bits(fpr, fnr) / 8;
    if (plan_offer_is_set(g)) return w->distinct * plan_offer_bits(fpr, fnr) / 8;
    for (double x = 0.05; x < 1; x += 0.05) {
        const double f = fpr / (1 - x), m = fnr / (1 - x);
        best = fmax(best, w->distinct * plan_offer_bits(f, m) * (1 - x) / log(1 / x) / 8);
    }
    return best;
}

/* Whether the memory is too small to be better than guessing: less than ebi_plan_least_bytes finds
 * for rates that add up to plan_offer_useless. */
static bool plan_offer_is_hopeless(const eb_goal *g, double bytes) {
    const eb_workload *const w = g->load;
    const bool spread = !(w->zipf > 0) && !(w->gap > 0) && !(g->window > 0);
    return spread && 8 * bytes < 1e-5 * w->distinct;
}

/* Whether the goal gives options that only some kinds have. */
static bool plan_offer_has_own(const ebi_plan_spec *given) {
    for (size_t i = EBI_O_OWN; i < EBI_OPTIONS_MAX; i++)
        if (given->a.given[i]) return true;
    return false;
}

/* false: the kind cannot do it, or is of no use */
static bool plan_offer_ask_once(const ebi_plan_spec *given, const eb_goal *g, double bytes,
                                double fpr, ebi_plan_offer *o) {
    ebi_plan_spec s = *given;
    if (plan_offer_is_hopeless(g, bytes)) return false;
    plan_offer_wishes(&s, g, bytes, fpr);
    if (!plan_offer_settle(&s, g)) { /* its own wish may be stricter than a bound on the mean */
        s = *given;
        plan_offer_wishes(&s, g, bytes, 0);
        if (!plan_offer_settle(&s, g)) return false;
    }
    /* Values (classes, importance) are only used if the goal asks for them. */
    const uint64_t unasked = plan_offer_caps(&s) & ~g->caps;
    if ((unasked & EB_USES_VALUE) && !(plan_offer_caps(&s) & EB_CAN_COUNT) &&
        !plan_offer_has_own(given) && !g->all_kinds)
        return false;
    *o = (ebi_plan_offer){.kind = s.kind, .p = s.p, .rough = s.a.rough, .regret = 1};
    o->bytes = (double)s.p.span * (double)s.p.opt[EBI_O_SHARDS] + EBI_OVERHEAD;
    plan_offer_predict(o, g);
    return true;
}

/* The same, with a stricter wish where the kind's wish is for the mean and the bound for the end.
 */
bool ebi_plan_ask(const ebi_plan_spec *given, const eb_goal *g, double bytes, double fpr,
                  ebi_plan_offer *o) {
    enum { PLAN_OFFER_STRICTER = 6 };
    const bool may = g->at_end && fpr > 0 && plan_offer_shuffles(given->kind);
    for (int i = 0; i < PLAN_OFFER_STRICTER; i++) {
        if (!plan_offer_ask_once(given, g, bytes, fpr, o)) return false;
        if (!may || plan_offer_keeps_fpr(g, o)) break;
        fpr *= 0.9995 * g->max_fpr / o->most_fpr;
    }
    return true;
}

bool ebi_plan_keeps_fnr(const eb_goal *g, const ebi_plan_offer *o) {
    return !(g->max_fnr > 0) || o->most_fnr <= g->max_fnr * ebi_plan_rounding(o);
}

/* Whether it is better than guessing on one of the streams that it may get. */
static bool plan_offer_is_useful(const eb_goal *g, const ebi_plan_offer *o) {
    double least = o->fnr;
    for (size_t i = 0; i < EBI_PLAN_STREAMS && !ebi_plan_is_told(g->load); i++)
        if (ebi_plan_counts(g, i)) least = fmin(least, o->missed[i]);
    return o->fpr + least < plan_offer_useless;
}

bool ebi_plan_keeps(const eb_goal *g, const ebi_plan_offer *o) {
    return plan_offer_keeps_fpr(g, o) && ebi_plan_keeps_fnr(g, o) && plan_offer_is_useful(g, o) &&
           (!(g->max_bytes > 0) || o->bytes <= g->max_bytes);
}
