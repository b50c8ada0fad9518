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
    for (int i = 0; i < 40; i++) {
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_leave_no_kind_out),
        cmocka_unit_test(more_room_is_never_worse),
        cmocka_unit_test(where_all_keys_fit_none_is_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
