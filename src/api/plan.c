/* plan.c - eb_plan: finds the specs that meet a goal, by asking the predictions of each kind.
 *
 * The planner knows no kind by name.  A kind takes part through its option table: those of the
 * options memory, fpr, distinct, share, window and a few others that it has are set from the goal,
 * the rest is resolved, and predict() says how good the filter would be.  What is wanted is solved
 * for:
 *
 *     EB_SMALLEST        memory is raised until the bounds hold, then narrowed down to 1 %
 *     EB_FEWEST_MISSES   all of the memory, and all false positives that are allowed
 *     EB_FEWEST_FALSE    all of the memory; the wanted fpr is lowered while the bound on misses
 * holds
 *
 * If the order of the stream is given, rates are those over the whole stream.  Otherwise the bound
 * on false positives must hold in any order and with any skew (most_fpr), and misses are compared
 * on several streams: shuffled ones and those with repeats nearby.  For each stream the ratio of a
 * filter's misses to the fewest of all filters is computed, and the filter whose worst ratio is
 * least wins. docs/decisions/planning.md has the reasons. */
#include "plan.h"
#include "math/probability.h"
#include <math.h>

enum { PLAN_KINDS_MAX = 32, PLAN_BYTES_MIN = 1024 };
static const double plan_bytes_max = 1099511627776.0;

/* The best offer of one kind */

/* How far an offer is above the bounds, as logarithms: above 0 it breaks one. */
typedef struct plan_excess {
    double fpr, fnr; /* NAN: unknown */
} plan_excess;

typedef struct plan_size { /* a size, or a rate, that was tried */
    double at;
    plan_excess excess;
    bool keeps, never; /* the bounds hold; they hold at no size, because the kind has no bound on
                          false positives */
} plan_size;

static plan_size plan_try(const ebi_plan_spec *given, const eb_goal *g, double bytes, bool rough,
                          ebi_plan_offer *o) {
    plan_size tried = {.at = bytes, .excess = {NAN, NAN}};
    ebi_plan_spec s = *given;
    s.a.rough = rough;
    if (!ebi_plan_ask(&s, g, bytes, g->max_fpr, o)) return tried;
    tried.never = isnan(o->most_fpr);
    tried.keeps = ebi_plan_keeps(g, o);
    /* An exact search aims at the bounds, a rough one at where it takes them for kept. */
    const double aim = rough ? ebi_plan_rounding(o) : 1;
    tried.excess.fpr = log(o->most_fpr / (g->max_fpr * aim));
    tried.excess.fnr = g->max_fnr > 0 ? log(o->most_fnr / (g->max_fnr * aim)) : -INFINITY;
    return tried;
}

/* Above 0: how far `of` is above the bound that `low` breaks the most. */
static double plan_above(const plan_size *low, const plan_size *of) {
    return low->excess.fnr > low->excess.fpr ? of->excess.fnr : of->excess.fpr;
}

/* Where a line through the excesses crosses 0: 0 at the lower size, 1 at the upper one. */
static double plan_cut(const plan_size *low, const plan_size *high) {
    assert(low->at <= high->at);
    const double below = plan_above(low, low), above = plan_above(low, high);
    return below / (below - above);
}

/* That point, a little higher, but well inside; else the middle. */
static double plan_between(const plan_size *low, const plan_size *high) {
    const double cut = plan_cut(low, high), ratio = high->at / low->at;
    if (!(cut > 0 && cut < 1)) return low->at * sqrt(ratio);
    const double at = (low->at + (high->at - low->at) * cut) * 1.003;
    return fmax(low->at * pow(ratio, 0.1), fmin(high->at / 1.008, at));
}

/* The next size to try after two that are too small: where a line through the logarithms crosses 0,
 * which is rather too far. */
static double plan_beyond(const plan_size *before, const plan_size *low, double usual) {
    enum { PLAN_STEP_MAX = 8 };
    const double from = plan_above(low, before), to = plan_above(low, low);
    const double power = to / (from - to);
    if (!(before->at > 0 && power > 0)) return low->at * usual;
    const double step = pow(low->at / before->at, power);
    return low->at * fmax(usual, fmin(step, PLAN_STEP_MAX));
}

/* The smallest size at which the kind keeps the bounds, to 1 %: first searched roughly, then
 * exactly in steps of 1 %.  These limit how many sizes are tried. */
enum { PLAN_GROWING = 16, PLAN_CUTTING = 12, PLAN_FINISHING = 6, PLAN_LINE = 64 };

/* Whether another size between the two is worth a look.  Most kinds consist of lines. */
static bool plan_may_cut(const plan_size *low, const plan_size *high) {
    return low->at > 0 && high->at / low->at > 1.01 && high->at - low->at > PLAN_LINE;
}

/* 0: there is none. */
static double plan_roughly(const ebi_plan_spec *s, const eb_goal *g, double from, double most) {
    ebi_plan_offer o;
    plan_size before = {.at = 0}, low = before, high = plan_try(s, g, from, true, &o);
    double step = from > PLAN_BYTES_MIN ? 1.4 : 8; /* where nothing is known of the least */
    for (int i = 0; i < PLAN_GROWING && !high.keeps && !high.never && high.at < most; i++) {
        before = low;
        low = high;
        high = plan_try(s, g, fmin(plan_beyond(&before, &low, step *= 1.2), most), true, &o);
    }
    if (!high.keeps) return 0;
    for (int i = 0; i < PLAN_CUTTING && plan_may_cut(&low, &high); i++) {
        const double next = i % 3 < 2 ? plan_between(&low, &high) : sqrt(low.at * high.at);
        const plan_size at = plan_try(s, g, next, true, &o);
        *(at.keeps ? &high : &low) = at;
    }
    return high.at;
}

/* The size from which on the kind keeps the bounds, exactly: to 1 %, and then once more between the
 * two last sizes. */
static bool plan_finely(const ebi_plan_spec *s, const eb_goal *g, double at, double most,
                        ebi_plan_offer *best) {
    const double step = 1.01;
    ebi_plan_offer o;
    plan_size before = {.at = 0}, low = before, high = before;
    bool last = false;
    for (int i = 0; i < PLAN_FINISHING && at > 0 && at <= most; i++) {
        const plan_size now = plan_try(s, g, at, false, &o);
        if (!now.keeps) before = low;
        *(now.keeps ? &high : &low) = now;
        if (now.keeps) *best = o;
        if (last) break;
        if (high.at > 0 && low.at > 0) {
            const double cut = plan_cut(&low, &high);
            last = high.at <= low.at * step * 1.0001;
            if (high.at - low.at <= PLAN_LINE || (last && !(cut > 0.1 && cut < 0.95))) break;
            at = last ? low.at + (high.at - low.at) * cut : plan_between(&low, &high);
        } else if (high.at > 0) {
            at = fmin(at / step, at - PLAN_LINE);
        } else {
            at = fmax(plan_beyond(&before, &low, step), at + PLAN_LINE);
        }
    }
    return high.at > 0;
}

static bool plan_smallest(const ebi_plan_spec *s, const eb_goal *g, ebi_plan_offer *best) {
    const double most = g->max_bytes > 0 ? g->max_bytes : plan_bytes_max;
    const double sure = ebi_plan_least_bytes(g, g->max_fpr, g->max_fnr);
    const bool any = g->max_bytes > 0 && plan_try(s, g, most, false, best).keeps;
    if (g->max_bytes > 0 && !any) return false; /* nor with less */
    const double at = plan_roughly(s, g, fmin(fmax(PLAN_BYTES_MIN, sure), most), most);
    return plan_finely(s, g, at, most, best) || any;
}

/* The fewest false positives at which it keeps the bound on misses, to a twentieth. */
static bool plan_fewest_false(const ebi_plan_spec *given, const eb_goal *g, ebi_plan_offer *best) {
    const double most = g->max_fpr > 0 ? g->max_fpr : 0.5, step = 1.05;
    ebi_plan_spec s = *given;
    ebi_plan_offer o;
    if (!ebi_plan_ask(&s, g, g->max_bytes, most, best) || !ebi_plan_keeps(g, best)) return false;
    if (ebi_spec_option(s.kind, "fpr") == EBI_OPTIONS_MAX) return true;
    double low = 1e-9, high = most;
    s.a.rough = true;
    while (high / low > step) {
        const double middle = sqrt(low * high);
        const bool keeps = ebi_plan_ask(&s, g, g->max_bytes, middle, &o) && ebi_plan_keeps(g, &o);
        *(keeps ? &high : &low) = middle;
    }
    s.a.rough = false;
    for (int i = 0; i < PLAN_FINISHING && high < most; i++, high *= step) {
        if (!ebi_plan_ask(&s, g, g->max_bytes, high, &o) || !ebi_plan_keeps(g, &o)) continue;
        if (o.most_fpr <= best->most_fpr) *best = o;
        return true;
    }
    return true;
}

static bool plan_kind(const ebi_plan_spec *s, const eb_goal *g, ebi_plan_offer *o) {
    if (g->prefer == EB_SMALLEST) return plan_smallest(s, g, o);
    if (g->prefer == EB_FEWEST_FALSE) return plan_fewest_false(s, g, o);
    return ebi_plan_ask(s, g, g->max_bytes, g->max_fpr, o) && ebi_plan_keeps(g, o);
}

/* All kinds */

static bool plan_may(const ebi_kind *kind, const eb_goal *g) {
    const uint64_t caps = kind->info.caps;
    const bool remembers = (caps & EB_NO_FALSE_NEGATIVES) && g->load->items > 0;
    if ((caps & g->caps) != g->caps) return false;
    if (caps & ~g->caps & EB_KEYS_ARE_NUMBERS) return false; /* only if the goal asks for it */
    if (!g->all_kinds && (!kind->info.question || (caps & ~g->caps & EB_CAN_COUNT))) return false;
    return !(g->window > 0) || remembers || ebi_spec_option(kind, "window") < EBI_OPTIONS_MAX;
}

/* Sets the options that the goal gives. false: the kind does not have all of them. */
static bool plan_given(const ebi_kind *kind, const eb_goal *g, ebi_plan_spec *s, eb_error *err) {
    *s = (ebi_plan_spec){.kind = kind};
    return !g->options || !*g->options ||
           ebi_spec_pairs(kind, g->options, &s->p, &s->a, err) == EB_OK;
}

static void plan_regrets(const eb_goal *g, ebi_plan_offer *offers, size_t n) {
    const double few = 1e-4; /* misses that do not matter */
    for (size_t s = 0; s < EBI_PLAN_STREAMS && !ebi_plan_is_told(g->load); s++) {
        double least = 1;
        if (!ebi_plan_counts(g, s)) continue;
        for (size_t i = 0; i < n; i++) least = fmin(least, offers[i].missed[s]);
        for (size_t i = 0; i < n; i++)
            offers[i].regret = fmax(offers[i].regret, (offers[i].missed[s] + few) / (least + few));
    }
}

/* Negative: a comes first. */
static int plan_compare(const eb_goal *g, const ebi_plan_offer *a, const ebi_plan_offer *b) {
    const double of_a[] = {a->bytes, a->regret, a->fnr, a->most_fpr};
    const double of_b[] = {b->bytes, b->regret, b->fnr, b->most_fpr};
    static const int orders[][4] = {{0, 2, 3, 1}, {1, 2, 3, 0}, {3, 2, 0, 1}};
    const int *const order = orders[g->prefer - EB_SMALLEST];
    for (int i = 0; i < 4; i++) {
        const double x = of_a[order[i]], y = of_b[order[i]];
        if (x < y || x > y) return x < y ? -1 : 1;
        if (isnan(x) != isnan(y)) return isnan(y) ? -1 : 1;
    }
    return 0;
}

/* Orders the offers, the best first. */
static void plan_sort(const eb_goal *g, ebi_plan_offer *offers, size_t n) {
    plan_regrets(g, offers, n);
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && plan_compare(g, &offers[j], &offers[j - 1]) < 0; j--) {
            const ebi_plan_offer o = offers[j];
            offers[j] = offers[j - 1];
            offers[j - 1] = o;
        }
}

/* What each kind that the goal allows can do, the best first.  Returns how many can.  If only the
 * smallest is wanted, only kinds that are smaller than those before them. */
static size_t plan_offers(const eb_goal *goal, bool only_smallest, ebi_plan_offer *offers,
                          size_t *asked) {
    eb_goal now = *goal;
    const eb_goal *const g = &now;
    ebi_laws laws = {.repeats = {.items = 0}};
    size_t n = 0;
    *asked = 0;
    assert(ebi_registry_size <= PLAN_KINDS_MAX);
    for (size_t i = 0; i < ebi_registry_size; i++) {
        ebi_plan_spec s;
        if (!plan_may(ebi_registry[i].kind, g) || !plan_given(ebi_registry[i].kind, g, &s, NULL))
            continue;
        ++*asked;
        s.p.laws = &laws;
        n += plan_kind(&s, g, &offers[n]);
        if (only_smallest && n > 0)
            now.max_bytes = offers[n - 1].bytes; /* must be smaller than this */
    }
    for (size_t i = 0; i < n; i++) offers[i].p.laws = NULL;
    plan_sort(g, offers, n);
    return n;
}

/* With all of the memory, the bound on misses changes no offer: it only forbids some.  If it
 * forbids all, *nearest is how many there are without it, else 0. */
static size_t plan_fewest_misses(const eb_goal *goal, ebi_plan_offer *offers, size_t *asked,
                                 size_t *nearest) {
    eb_goal any = *goal;
    size_t kept = 0;
    any.max_fnr = 0;
    const size_t n = plan_offers(&any, false, offers, asked);
    for (size_t i = 0; i < n; i++)
        if (ebi_plan_keeps_fnr(goal, &offers[i])) offers[kept++] = offers[i];
    *nearest = kept == 0 ? n : 0;
    for (size_t i = 0; i < kept; i++) offers[i].regret = 1;
    plan_sort(goal, offers, kept);
    return kept;
}

/* Errors */

static eb_status plan_check(const eb_goal *g, eb_error *err) {
    if (!g->load || !(g->load->gap > 0 || g->window > 0 || g->load->distinct > 0))
        return ebi_fail(
            err, EB_EINVAL,
            "a plan needs a workload: distinct keys, the gap between repeats, or a window");
    if (!(g->max_fpr >= 0 && g->max_fpr < 1) || !(g->max_fnr >= 0 && g->max_fnr < 1))
        return ebi_fail(err, EB_EINVAL, "wanted rates must be 0..1, not max_fpr=%g and max_fnr=%g",
                        g->max_fpr, g->max_fnr);
    if (!(g->max_bytes >= 0 && g->max_bytes <= plan_bytes_max))
        return ebi_fail(err, EB_EINVAL, "max_bytes must be 0..%.0f, not %g", plan_bytes_max,
                        g->max_bytes);
    if (!(g->window >= 0 && g->window <= 1e18))
        return ebi_fail(err, EB_EINVAL, "window must be 0..1e18, not %g", g->window);
    if (g->at_end > 1 || g->reserved != 0)
        return ebi_fail(err, EB_EINVAL, "at_end must be 0 or 1 and reserved 0, not %u and %u",
                        (unsigned)g->at_end, (unsigned)g->reserved);
    if (g->prefer < EB_SMALLEST || g->prefer > EB_FEWEST_FALSE)
        return ebi_fail(err, EB_EINVAL, "prefer must be %d..%d, not %u", EB_SMALLEST,
                        EB_FEWEST_FALSE, (unsigned)g->prefer);
    if (g->prefer != EB_SMALLEST && g->max_bytes == 0)
        return ebi_fail(err, EB_EINVAL,
                        "the fewest errors need max_bytes: else wish for the smallest");
    if (g->prefer == EB_SMALLEST && g->max_fpr == 0)
        return ebi_fail(err, EB_EINVAL, "the smallest filter needs max_fpr");
    if (g->prefer == EB_SMALLEST && g->max_fnr == 0 && !(g->window > 0) &&
        !(g->caps & EB_NO_FALSE_NEGATIVES))
        return ebi_fail(err, EB_EINVAL,
                        "the smallest filter needs max_fnr, a window, or EB_NO_FALSE_NEGATIVES");
    return EB_OK;
}

/* A sentence, built piece by piece. ebi_fail writes numbers independently of the locale. */
typedef struct plan_text {
    char text[sizeof((eb_error *)0)->text];
    size_t len;
} plan_text;

static void plan_append(plan_text *t, const char *piece) {
    const size_t n = ebi_min_size(strlen(piece), sizeof t->text - 1 - t->len);
    memcpy(t->text + t->len, piece, n);
    t->text[t->len += n] = '\0';
}

#define PLAN_SAY(t, ...)                                                                           \
    do {                                                                                           \
        eb_error piece_;                                                                           \
        (void)ebi_fail(&piece_, EB_ELIMIT, __VA_ARGS__);                                           \
        plan_append(t, piece_.text);                                                               \
    } while (0)

static void plan_say_size(plan_text *t, double bytes) {
    static const char *const units[] = {" bytes", "K", "M", "G", "T", "P", "E"};
    size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < EBI_COUNT_OF(units); unit++) bytes /= 1024;
    PLAN_SAY(t, bytes < 100 && unit > 0 ? "%.1f%s" : "%.0f%s", bytes, units[unit]);
}

static void plan_say_bounds(plan_text *t, const eb_goal *g) {
    const char *join = "";
    const struct {
        const char *words;
        double value;
    } bounds[] = {{"fpr=", g->max_fpr}, {"fnr=", g->max_fnr}, {"a window of ", g->window}};
    for (size_t i = 0; i < EBI_COUNT_OF(bounds); i++) {
        if (!(bounds[i].value > 0)) continue;
        PLAN_SAY(t, "%s%s%g", join, bounds[i].words, bounds[i].value);
        join = " and ";
    }
    if (!*join) plan_append(t, "rates that are better than chance");
    if (g->max_bytes > 0) {
        plan_append(t, " in ");
        plan_say_size(t, g->max_bytes);
    }
    if (g->load->order == EB_ORDER_PASSES)
        PLAN_SAY(t, " for the same %g keys again and again", g->load->distinct);
    else if (g->load->gap > 0)
        PLAN_SAY(t, " for repeats %g keys apart", g->load->gap);
    else if (g->load->distinct > 0)
        PLAN_SAY(t, " for %g distinct keys", g->load->distinct);
}

/* There is no offer.  Says what would be possible: more memory, or more misses in that memory, for
 * which there are `nearest` offers. */
static eb_status plan_impossible(const eb_goal *g, ebi_plan_offer *offers, size_t asked,
                                 size_t nearest, eb_error *err) {
    plan_text t = {.len = 0}, in_that = {.len = 0};
    eb_goal other = *g;
    size_t ignored;
    if (asked == 0)
        return ebi_fail(err, EB_ELIMIT,
                        "no %skind of filter has all capabilities and options asked for",
                        g->all_kinds ? "" : "recommended ");
    other.max_fnr = 0;
    other.prefer = EB_FEWEST_MISSES;
    if (g->prefer != EB_FEWEST_MISSES && g->max_bytes > 0 && g->max_fnr > 0)
        nearest = plan_offers(&other, false, offers, &ignored);
    if (nearest > 0)
        PLAN_SAY(&in_that, "; in that memory the least fnr is %.3g (%s)", offers[0].most_fnr,
                 offers[0].kind->info.name);
    plan_append(&t, "no kind of filter keeps ");
    plan_say_bounds(&t, g);
    other = *g;
    other.max_bytes = 0;
    other.prefer = EB_SMALLEST;
    if (other.max_fpr == 0) other.max_fpr = 0.5;
    if (other.max_fnr == 0 && !(g->window > 0)) other.max_fnr = 0.5;
    if (g->max_bytes > 0 && plan_offers(&other, true, offers, &ignored) > 0) {
        PLAN_SAY(&t, "; %s would with ", offers[0].kind->info.name);
        plan_say_size(&t, offers[0].bytes);
        if (g->max_fnr == 0 && offers[0].most_fnr > 0)
            PLAN_SAY(&t, " and fnr=%.2g", offers[0].most_fnr);
    }
    plan_append(&t, in_that.text);
    const double least =
        ebi_plan_least_bytes(g, g->max_fpr > 0 ? g->max_fpr : 0.5, g->max_fnr > 0 ? g->max_fnr : 0);
    if (least > 0 && (g->max_fnr > 0 || g->window > 0)) {
        plan_append(&t, "; no structure whatever can with less than ");
        plan_say_size(&t, least);
    }
    return ebi_fail(err, EB_ELIMIT, "%s", t.text);
}

static eb_status plan_bad_options(const eb_goal *g, eb_error *err) {
    ebi_plan_spec s;
    for (size_t i = 0; g->options && i < ebi_registry_size; i++)
        if (plan_given(ebi_registry[i].kind, g, &s, NULL)) return EB_OK;
    return g->options && !plan_given(ebi_registry[0].kind, g, &s, err) ? EB_ESPEC : EB_OK;
}

static double plan_lines(const ebi_plan_offer *o) {
    const size_t k = ebi_spec_option(o->kind, "k");
    if (o->kind->lines) return o->kind->lines(&o->p);
    return k < EBI_OPTIONS_MAX ? (double)o->p.opt[k] : 1;
}

static void plan_write(const ebi_plan_offer *o, const eb_workload *w, eb_offer *out) {
    *out = (eb_offer){.size = sizeof *out,
                      .kind = &o->kind->info,
                      .bytes = o->bytes,
                      .mean_fpr = o->fpr,
                      .mean_fnr = o->fnr,
                      .most_fpr = isnan(o->most_fpr) ? 1 : o->most_fpr,
                      .most_fnr = o->most_fnr,
                      .regret = o->regret,
                      .lines = plan_lines(o),
                      .error = NAN};
    if (o->kind->info.caps & EB_CAN_COUNT) { /* takes long, so only for those that are offered */
        eb_prediction r;
        ebi_predict(o->kind, &o->p, w, EBI_ASK_ALL, &r);
        out->error = r.error;
    }
    const size_t len = ebi_spec_print(o->kind, &o->p, out->spec, sizeof out->spec);
    const ebi_kind *kind;
    ebi_params p;
    assert(len < sizeof out->spec && ebi_spec_parse(out->spec, &kind, &p, NULL) == EB_OK);
    (void)len, (void)kind, (void)p;
}

eb_status eb_plan(const eb_goal *goal, eb_offer *out, size_t cap, size_t *n, eb_error *err) {
    EBI_CHECK_SIZE(goal, eb_goal, err);
    if (cap > 0) EBI_CHECK_SIZE(out, eb_offer, err);
    if (goal->load) EBI_CHECK_SIZE(goal->load, eb_workload, err);
    EBI_TRY(plan_check(goal, err));
    EBI_TRY(ebi_predict_check(goal->load, err));
    EBI_TRY(plan_bad_options(goal, err));
    ebi_plan_offer offers[PLAN_KINDS_MAX];
    eb_workload load = *goal->load;
    eb_goal g = *goal;
    g.load = &load;
    if (load.order == EB_ORDER_PASSES) load.gap = load.distinct;
    if (load.distinct > 0 && !(load.items > 0 || load.gap > 0 || g.window > 0)) {
        load.items = load.distinct;
        g.at_end = 1;
    }
    size_t asked, nearest = 0;
    const size_t found = g.prefer == EB_FEWEST_MISSES
                             ? plan_fewest_misses(&g, offers, &asked, &nearest)
                             : plan_offers(&g, false, offers, &asked);
    if (found == 0) return err ? plan_impossible(&g, offers, asked, nearest, err) : EB_ELIMIT;
    *n = ebi_min_size(found, cap);
    for (size_t i = 0; i < *n; i++) plan_write(&offers[i], &load, &out[i]);
    return EB_OK;
}
