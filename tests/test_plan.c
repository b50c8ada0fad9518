/* test_plan.c - the planner: no kind that could do better is left out, for random goals. */
#include "suite.h"
#include <math.h>

typedef struct goal {
    eb_workload load;
    eb_goal want;
} goal;

static double random_power(uint64_t *state, double low, double high) { /* evenly in logarithms */
    const double u = (double)suite_below(state, 1 << 20) / (1 << 20);
    return low * pow(high / low, u);
}

static void random_goal(uint64_t *state, goal *g) {
    const double distinct = floor(random_power(state, 1e4, 1e8));
    const double items = floor(distinct * random_power(state, 1.001, 100));
    g->load = (eb_workload){
        .size = sizeof g->load, .items = items, .distinct = distinct, .order = EB_ORDER_SHUFFLED};
    g->want = (eb_goal){.size = sizeof g->want,
                        .load = &g->load,
                        .max_fpr = random_power(state, 1e-4, 0.2),
                        .max_bytes = floor(2048 + distinct * random_power(state, 0.05, 2)),
                        .prefer = EB_FEWEST_MISSES,
                        .all_kinds = 1};
}

/* What a user would write who knows the kind: the goal in its options, numbers as they print. */
static bool wishes(const eb_kind_info *info, const goal *g, char *spec, size_t cap) {
    int n = snprintf(spec, cap, "%s:memory=%.0f", info->name, g->want.max_bytes);
    for (const eb_option *o = info->options; o->key; o++) {
        if (strcmp(o->key, "fpr") == 0)
            n += snprintf(spec + n, cap - (size_t)n, ",fpr=%.9f", g->want.max_fpr);
        else if (strcmp(o->key, "distinct") == 0)
            n += snprintf(spec + n, cap - (size_t)n, ",distinct=%.0f", g->load.distinct);
        else if (strcmp(o->key, "share") == 0)
            n += snprintf(spec + n, cap - (size_t)n, ",share=%.6f",
                          fmax(1e-6, g->load.distinct / g->load.items));
    }
    return n > 0 && (size_t)n < cap;
}

static void no_kind_does_better(const goal *g) {
    char spec[EB_SPEC_MAX];
    eb_offer planned = {.size = sizeof planned};
    size_t n;
    const eb_kind_info *const *const kinds = eb_kinds(&n);
    const bool any = eb_plan(&g->want, &planned, 1, &n, NULL) == EB_OK;
    for (size_t i = 0; i < n; i++) {
        eb_prediction p = {.size = sizeof p};
        if (kinds[i]->caps & EB_KEYS_ARE_NUMBERS) continue;
        HOLDS(wishes(kinds[i], g, spec, sizeof spec));
        if (eb_predict(spec, &g->load, NULL, 1, &p, NULL) != EB_OK) continue;
        if (!(p.mean_fpr <= g->want.max_fpr) || isnan(p.mean_fnr)) continue;
        suite_at("plan for items %.0f, distinct %.0f, fpr %g, %.0f bytes: %s misses %g, %s %g",
                 g->load.items, g->load.distinct, g->want.max_fpr, g->want.max_bytes,
                 any ? planned.spec : "none", planned.mean_fnr, spec, p.mean_fnr);
        HOLDS(any && planned.mean_fnr <= p.mean_fnr + 1e-4);
    }
}

static void plans_leave_no_kind_out(void **state) {
    (void)state;
    SUITE_LONG();
    goal papers = {.load = {.size = sizeof papers.load,
                            .items = 3e6,
                            .distinct = 552820,
                            .order = EB_ORDER_SHUFFLED}};
    papers.want = (eb_goal){.size = sizeof papers.want,
                            .load = &papers.load,
                            .max_fpr = 0.1,
                            .max_bytes = 138 << 10,
                            .prefer = EB_FEWEST_MISSES};
    no_kind_does_better(&papers);
    uint64_t random = 1;
    for (int i = 0; i < 4; i++) {
        goal g;
        random_goal(&random, &g);
        no_kind_does_better(&g);
    }
}

/* Unless told the order, a plan keeps its bound in any order, and more room or a laxer wish misses
 * no more, on any of the streams that it weighs. */
static void untold(const goal *g, eb_offer *p, double near[3]) {
    static const double gaps[] = {0, 1e-3, 1e-1};
    size_t n;
    *p = (eb_offer){.size = sizeof *p};
    OK(eb_plan(&g->want, p, 1, &n, NULL));
    suite_at("items %.0f, distinct %.0f, fpr %g, %.0f bytes: %s", g->load.items, g->load.distinct,
             g->want.max_fpr, g->want.max_bytes, p->spec);
    HOLDS(p->most_fpr <= g->want.max_fpr * 1.001);
    for (int i = 0; i < 3; i++) {
        eb_workload w = g->load;
        eb_prediction there = {.size = sizeof there};
        w.gap = gaps[i] * w.distinct;
        OK(eb_predict(p->spec, &w, NULL, 1, &there, NULL));
        near[i] = there.mean_fnr;
    }
}

static void more_room_is_never_worse(void **state) {
    (void)state;
    uint64_t random = 2;
    for (int i = 0; i < (suite_quick() ? 5 : 40); i++) {
        goal g;
        eb_offer p;
        double missed[3], lax[3], room[3];
        random_goal(&random, &g);
        g.load.order = EB_ORDER_UNKNOWN;
        g.load.distinct = fmin(g.load.distinct, 1e6); /* quicker */
        untold(&g, &p, missed);
        g.want.max_fpr *= 1.5;
        untold(&g, &p, lax);
        g.want.max_bytes *= 1.5;
        untold(&g, &p, room);
        for (int j = 0; j < 3; j++) HOLDS(lax[j] <= missed[j] + 1e-9 && room[j] <= lax[j] + 1e-9);
    }
}

/* Room for all keys: then none is missed, whatever the order. */
static void where_all_keys_fit_none_is_missed(void **state) {
    (void)state;
    goal g = {.load = {.size = sizeof g.load, .items = 1e7, .distinct = 1e6}};
    g.want = (eb_goal){.size = sizeof g.want,
                       .load = &g.load,
                       .max_fpr = 0.01,
                       .max_bytes = 1 << 20,
                       .prefer = EB_FEWEST_MISSES};
    eb_offer p;
    double missed[3];
    untold(&g, &p, missed);
    HOLDS(p.mean_fnr == 0);
    g.want.max_bytes = 1 << 18;
    untold(&g, &p, missed);
    HOLDS(p.mean_fnr > 0.1 && missed[1] < 0.001); /* near repeats are what is left to find */
}

/* Draws by Zipf's law: a filter that leaves keys out finds the popular ones, and misses half as
 * many repeats as one that forgets. */
static void told_skew_is_used(void **state) {
    (void)state;
    goal g = {.load = {.size = sizeof g.load,
                       .items = 3276800,
                       .distinct = 420846,
                       .zipf = 1,
                       .order = EB_ORDER_SHUFFLED}};
    g.want = (eb_goal){.size = sizeof g.want,
                       .load = &g.load,
                       .max_fpr = 0.01,
                       .max_bytes = 1 << 18,
                       .prefer = EB_FEWEST_MISSES};
    eb_offer o[4] = {{.size = sizeof o[0]}};
    size_t n;
    OK(eb_plan(&g.want, o, 4, &n, NULL));
    HOLDS(n >= 2 && o[0].most_fpr <= g.want.max_fpr);
    HOLDS(o[0].mean_fnr < 0.025 && o[1].mean_fnr > 0.05);
}

/* The same keys again and again, and room for half of them: what is kept is found in each pass. */
static void told_passes_are_used(void **state) {
    (void)state;
    goal g = {
        .load = {
            .size = sizeof g.load, .items = 122880, .distinct = 61440, .order = EB_ORDER_PASSES}};
    g.want = (eb_goal){.size = sizeof g.want,
                       .load = &g.load,
                       .max_fpr = 1e-4,
                       .max_bytes = 1 << 16,
                       .prefer = EB_FEWEST_MISSES};
    eb_offer o = {.size = sizeof o};
    size_t n;
    OK(eb_plan(&g.want, &o, 1, &n, NULL));
    HOLDS(o.mean_fpr <= g.want.max_fpr && o.mean_fnr < 0.5);
    eb_error err;
    const eb_workload bad[] = {
        {.size = sizeof bad[0], .items = 2e5, .order = EB_ORDER_PASSES},
        {.size = sizeof bad[0], .distinct = 1e5, .gap = 1e4, .order = EB_ORDER_PASSES},
        {.size = sizeof bad[0], .distinct = 1e5, .zipf = 1, .order = EB_ORDER_PASSES}};
    for (size_t i = 0; i < SUITE_COUNT(bad); i++) {
        g.want.load = &bad[i];
        g.want.window = 1000; /* a workload by itself */
        HOLDS(eb_plan(&g.want, &o, 1, &n, &err) == EB_EINVAL && strstr(err.text, "passes need"));
    }
}

/* In the quantity that is wanted, nothing gets worse with more memory or a laxer bound. */
static bool first_offer(const goal *g, eb_offer *o) {
    size_t n;
    *o = (eb_offer){.size = sizeof *o};
    return eb_plan(&g->want, o, 1, &n, NULL) == EB_OK;
}

static double wanted(const goal *g, const eb_offer *o) {
    if (g->want.prefer == EB_SMALLEST) return o->bytes;
    return g->want.prefer == EB_FEWEST_FALSE ? o->most_fpr : o->mean_fnr;
}

static void a_laxer_wish_is_never_worse(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int i = 0; i < (suite_quick() ? 6 : 18); i++) {
        goal g;
        eb_offer strict, lax;
        random_goal(&random, &g);
        g.load.order = i % 2 == 0 ? EB_ORDER_SHUFFLED : EB_ORDER_UNKNOWN;
        g.want.all_kinds = 0;
        g.want.prefer = 1 + (uint32_t)i % 3;
        if (g.want.prefer != EB_FEWEST_MISSES) g.want.max_fnr = random_power(&random, 1e-3, 0.5);
        if (g.want.prefer == EB_SMALLEST) g.want.max_bytes = 0;
        const bool any = first_offer(&g, &strict);
        g.want.max_bytes *= random_power(&random, 1.001, 2);
        g.want.max_fpr = fmin(0.9, g.want.max_fpr * random_power(&random, 1.001, 2));
        g.want.max_fnr = fmin(0.9, g.want.max_fnr * random_power(&random, 1.001, 2));
        const bool still = first_offer(&g, &lax);
        suite_at("goal %d, prefer %u, distinct %.0f, items %.0f: %s, then %s", i,
                 (unsigned)g.want.prefer, g.load.distinct, g.load.items, any ? strict.spec : "none",
                 still ? lax.spec : "none");
        if (!any) continue;
        HOLDS(still);
        HOLDS(wanted(&g, &lax) <= wanted(&g, &strict) * 1.02 + 1e-5);
    }
}

/* Wishes that nobody can keep */

static void impossible_wishes_get_what_is_possible(void **state) {
    (void)state;
    eb_workload w = {.size = sizeof w, .items = 1e9, .distinct = 5e8};
    eb_goal g = {.size = sizeof g,
                 .load = &w,
                 .max_bytes = 1 << 20,
                 .max_fpr = 1e-3,
                 .max_fnr = 0.01,
                 .prefer = EB_FEWEST_MISSES};
    eb_offer o = {.size = sizeof o};
    eb_error err;
    size_t n;
    GIVES(EB_ELIMIT, eb_plan(&g, &o, 1, &n, &err));
    HOLDS(strstr(err.text, "1.0M") && strstr(err.text, " would with ") &&
          strstr(err.text, "no structure whatever"));
    g.max_fnr = 0; /* nothing that knows more than a coin is left */
    w.order = EB_ORDER_SHUFFLED;
    g.max_bytes = 4096;
    GIVES(EB_ELIMIT, eb_plan(&g, &o, 1, &n, &err));
    g.caps = EB_CAN_COUNT | EB_KEYS_ARE_NUMBERS | EB_USES_TIME;
    GIVES(EB_ELIMIT, eb_plan(&g, &o, 1, &n, &err));
    HOLDS(strstr(err.text, "capabilities"));
    g.caps = 0;
    g.options = "sed=7";
    GIVES(EB_ESPEC, eb_plan(&g, &o, 1, &n, &err));
    g.options = "seed=7,shards=2";
    g.max_bytes = 1 << 30;
    OK(eb_plan(&g, &o, 1, &n, &err));
    HOLDS(strstr(o.spec, "seed=7") && strstr(o.spec, "shards=2"));
    g.prefer = 0;
    GIVES(EB_EINVAL, eb_plan(&g, &o, 1, &n, &err));
}

static void wanted_rates_are_rates(void **state) {
    (void)state;
    static const double good[] = {0.01, 0.5}, bad[] = {-0.1, 1, 2, NAN};
    const eb_workload w = {.size = sizeof w, .items = 1e5, .distinct = 5e4};
    for (size_t i = 0; i < 2 * SUITE_COUNT(good) * SUITE_COUNT(bad); i++) {
        const double one = good[i / 2 % 2], other = bad[i / 4];
        const eb_goal g = {.size = sizeof g,
                           .load = &w,
                           .max_fpr = i % 2 ? one : other,
                           .max_fnr = i % 2 ? other : one,
                           .prefer = EB_SMALLEST};
        eb_offer o = {.size = sizeof o};
        eb_error err;
        size_t n;
        GIVES(EB_EINVAL, eb_plan(&g, &o, 1, &n, &err));
        HOLDS(strstr(err.text, "wanted rates must be 0..1"));
    }
}

/* Offers come best first, keep all bounds, and are what their specs predict. */
static void offers_are_in_order(void **state) {
    (void)state;
    enum { MOST = 20 };
    uint64_t random = 4;
    for (int i = 0; i < 8; i++) {
        goal g;
        eb_offer o[MOST] = {{.size = sizeof o[0]}};
        size_t n;
        random_goal(&random, &g);
        g.load.distinct = fmin(g.load.distinct, 1e6);
        OK(eb_plan(&g.want, o, MOST, &n, NULL));
        HOLDS(n > 1);
        for (size_t j = 0; j < n; j++) {
            eb_prediction p = {.size = sizeof p};
            OK(eb_predict(o[j].spec, &g.load, NULL, 1, &p, NULL));
            HOLDS(o[j].mean_fpr <= g.want.max_fpr * 1.001 && o[j].bytes <= g.want.max_bytes);
            HOLDS((isnan(p.mean_fpr) ? p.fpr_high : p.mean_fpr) == o[j].mean_fpr);
            HOLDS(p.mean_fnr == o[j].mean_fnr);
            HOLDS(j == 0 || o[j].mean_fnr >= o[j - 1].mean_fnr);
        }
    }
}

/* Who is told how much memory a wish needs can take that much, and not much less. */
static void needs_are_enough_and_no_more(void **state) {
    (void)state;
    SUITE_LONG();
    static const char *const wishes[] = {
        "bloom:distinct=1e6,fpr=0.001",
        "bloom:distinct=1e6,fpr=0.001,layout=line",
        "lru:remember=1e6",
        "lru:remember=1e6,shards=4",
        "window:window=1e6,fpr=1e-4",
        "window:window=1e6,fpr=0.01,mode=rotate",
        "window:window=60000,unit=time,items=1e6,fpr=0.001,shards=4"};
    for (size_t i = 0; i < SUITE_COUNT(wishes); i++) {
        char spec[EB_SPEC_MAX];
        eb_spec_info info = {.size = sizeof info};
        eb_error err;
        (void)snprintf(spec, sizeof spec, "%s,memory=64K", wishes[i]);
        GIVES(EB_ESPEC, eb_spec_describe(spec, &info, &err));
        const char *const need = strstr(err.text, "memory must be at least ");
        const double bytes = need ? strtod(strpbrk(need, "0123456789"), NULL) : 0;
        suite_at("%s: %s", spec, err.text);
        (void)snprintf(spec, sizeof spec, "%s,memory=%.0f", wishes[i], bytes);
        OK(eb_spec_describe(spec, &info, &err));
        (void)snprintf(spec, sizeof spec, "%s,memory=%.0f", wishes[i], 0.95 * bytes);
        GIVES(EB_ESPEC, eb_spec_describe(spec, &info, &err));
    }
}

/* Without a wish for others: kinds that answer a question, that nobody takes for counting, and that
 * keep a window if there is one to keep, or everything if it is known how much that is. */
static void offers_are_of_recommended_kinds(void **state) {
    (void)state;
    enum { MOST = 20 };
    static const double windows[] = {0, 1e4, 1e4};
    for (size_t i = 0; i < SUITE_COUNT(windows); i++) {
        const eb_workload w = {
            .size = sizeof w, .gap = 1e4, .items = i == 2 ? 1e6 : 0, .distinct = i == 2 ? 1e5 : 0};
        eb_goal g = {.size = sizeof g,
                     .load = &w,
                     .window = windows[i],
                     .max_bytes = 1 << 20,
                     .max_fpr = 0.01,
                     .prefer = EB_FEWEST_MISSES};
        eb_offer o[MOST] = {{.size = sizeof o[0]}};
        size_t n;
        OK(eb_plan(&g, o, MOST, &n, NULL));
        HOLDS(n >= 1);
        for (size_t j = 0; j < n; j++) {
            suite_at("window %g: %s", windows[i], o[j].spec);
            HOLDS(o[j].kind->question && !(o[j].kind->caps & EB_CAN_COUNT));
            HOLDS(!(windows[i] > 0) || strstr(o[j].spec, "window=") ||
                  (w.items > 0 && (o[j].kind->caps & EB_NO_FALSE_NEGATIVES)));
        }
    }
}

/* Curves: their last point is the prediction for the stream, and a kind that only fills up has at
 * each place what a stream would have that ends there. */
static void curve_of(const suite_case *c) {
    enum { POINTS = 130 };
    const eb_workload w = {.size = sizeof w, .items = 1e6, .distinct = 2e5};
    eb_prediction curve[POINTS] = {{.size = sizeof curve[0]}}, end = {.size = sizeof end};
    double items[POINTS];
    for (int i = 0; i < POINTS; i++) items[i] = w.items * (i + 1) / POINTS;
    OK(eb_predict(c->spec, &w, items, POINTS, curve, NULL));
    OK(eb_predict(c->spec, &w, NULL, 1, &end, NULL));
    HOLDS(curve[POINTS - 1].items == end.items);
    const double at_end[] = {curve[POINTS - 1].fpr, curve[POINTS - 1].mean_fpr,
                             curve[POINTS - 1].mean_fnr, curve[POINTS - 1].fill};
    const double alone[] = {end.fpr, end.mean_fpr, end.mean_fnr, end.fill};
    for (size_t i = 0; i < SUITE_COUNT(alone); i++)
        HOLDS(isnan(alone[i]) == isnan(at_end[i]) &&
              (isnan(alone[i]) || fabs(at_end[i] - alone[i]) <= 0.01 * alone[i] + 1e-9));
    for (int i = 0; i < POINTS; i++) {
        HOLDS(fabs(curve[i].items - items[i]) <= 1e-6 * items[i]);
        HOLDS(curve[i].fpr_low >= 0 && curve[i].fpr_low <= curve[i].fpr_high);
        HOLDS(curve[i].fnr_low <= curve[i].fnr_high && curve[i].fnr_high <= 1);
    }
}

/* Points that are put between others are near those that are asked for alone. */
static void points_of(const suite_case *c) {
    enum { POINTS = 64 };
    static const double zipf[] = {0, 1, 0}, gap[] = {0, 0, 20000};
    for (size_t q = 0; q < SUITE_COUNT(zipf); q++) {
        const eb_workload w = {
            .size = sizeof w, .items = 1e6, .distinct = 2e5, .zipf = zipf[q], .gap = gap[q]};
        eb_prediction curve[POINTS] = {{.size = sizeof curve[0]}}, one = {.size = sizeof one};
        double items[POINTS];
        /* One integration of the whole stream is not many of its beginnings: choosy's are 6 % off
         * where few keys have come. */
        const double allowed = c->kind->curve ? 0.06 : 0.02;
        for (int i = 0; i < POINTS; i++) items[i] = w.items * (i + 1) / POINTS;
        OK(eb_predict(c->spec, &w, items, POINTS, curve, NULL));
        for (int i = 3; i < POINTS; i += 5) {
            OK(eb_predict(c->spec, &w, &items[i], 1, &one, NULL));
            suite_at("%s, zipf %g, gap %g, point %d: %g and %g, %g and %g", c->spec, w.zipf, w.gap,
                     i, curve[i].mean_fpr, one.mean_fpr, curve[i].mean_fnr, one.mean_fnr);
            const double there[] = {curve[i].mean_fpr, curve[i].mean_fnr, curve[i].fill};
            const double alone[] = {one.mean_fpr, one.mean_fnr, one.fill};
            for (size_t j = 0; j < SUITE_COUNT(alone); j++)
                HOLDS(isnan(alone[j]) == isnan(there[j]) &&
                      (isnan(alone[j]) || fabs(there[j] - alone[j]) <= allowed * alone[j] + 1e-6));
        }
    }
}

static void points_of_curves_are_predictions(void **state) {
    (void)state;
    SUITE_LONG();
    suite_each_base(points_of);
}

static void curves_end_where_predictions_are(void **state) {
    (void)state;
    SUITE_LONG();
    suite_each_base(curve_of);
}

static void bad_curves_are_refused(void **state) {
    (void)state;
    const eb_workload w = {.size = sizeof w, .items = 100};
    eb_prediction p[2] = {{.size = sizeof p[0]}};
    const double bad[][2] = {{0, 1}, {2, 1}, {1, 101}, {NAN, 5}, {-1, 5}};
    for (size_t i = 0; i < SUITE_COUNT(bad); i++)
        GIVES(EB_EINVAL, eb_predict("bloom:memory=4K", &w, bad[i], 2, p, NULL));
    GIVES(EB_EINVAL, eb_predict("bloom:memory=4K", &w, NULL, 2, p, NULL));
    OK(eb_predict("bloom:memory=4K", &w, bad[0], 0, p, NULL));
}

/* Shares of new keys have any number of digits; options have few.  A kind is not left out for it.
 */
static void any_share_of_new_keys_is_planned_for(void **state) {
    (void)state;
    uint64_t random = 8;
    for (int i = 0; i < 20; i++) {
        const eb_workload w = {.size = sizeof w,
                               .items = 3e6,
                               .distinct = (double)(400000 + suite_below(&random, 400000)),
                               .order = EB_ORDER_SHUFFLED};
        const eb_goal g = {.size = sizeof g,
                           .load = &w,
                           .max_fpr = 0.1,
                           .max_bytes = w.distinct / 4,
                           .prefer = EB_FEWEST_MISSES};
        enum { OFFERS = 16 };
        eb_offer o[OFFERS] = {{.size = sizeof *o}};
        size_t n, choosy = 0;
        suite_at("%.0f of 3e6 keys are new", w.distinct);
        OK(eb_plan(&g, o, OFFERS, &n, NULL));
        for (size_t j = 0; j < n; j++) choosy += strncmp(o[j].spec, "choosy:", 7) == 0;
        HOLDS(choosy == 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_leave_no_kind_out),
        cmocka_unit_test(any_share_of_new_keys_is_planned_for),
        cmocka_unit_test(more_room_is_never_worse),
        cmocka_unit_test(where_all_keys_fit_none_is_missed),
        cmocka_unit_test(told_skew_is_used),
        cmocka_unit_test(told_passes_are_used),
        cmocka_unit_test(a_laxer_wish_is_never_worse),
        cmocka_unit_test(impossible_wishes_get_what_is_possible),
        cmocka_unit_test(wanted_rates_are_rates),
        cmocka_unit_test(offers_are_in_order),
        cmocka_unit_test(offers_are_of_recommended_kinds),
        cmocka_unit_test(needs_are_enough_and_no_more),
        cmocka_unit_test(curves_end_where_predictions_are),
        cmocka_unit_test(points_of_curves_are_predictions),
        cmocka_unit_test(bad_curves_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
