/* test_predict_costs.c - predictions and plans take bounded work, whatever they are asked: counted
 * in basic blocks (FLAVOUR=steps, see test_decay_costs.c).  Other flavours run the same calls,
 * which would not end in the life of the test if one of them were linear in the stream. */
#include "suite.h"
#include <math.h>
#include <unistd.h>

enum {
    LIFE = 300,                  /* seconds, then the test is ended by a signal */
    PREDICTION_STEPS = 24000000, /* some 50 ms */
    PLAN_STEPS = 50000000,       /* 0.1 s */
    HOSTILE_STEPS = 400000000
};
static uint64_t steps;

void __sanitizer_cov_trace_pc(void); /* the compiler calls it */
void __sanitizer_cov_trace_pc(void) {
    steps++;
}

static void predict_all(const char *spec) {
    static const double items[] = {1e4, 1e18}, parts[] = {1, 1e-6};
    static const double gaps[] = {0, 1e3}, zipfs[] = {0, 1.1};
    for (size_t i = 0; i < 2 * 2 * 2 * 2; i++) {
        const double n = items[i % 2];
        const eb_workload w = {.size = sizeof w,
                               .items = n,
                               .distinct = ceil(n * parts[i / 2 % 2]),
                               .gap = gaps[i / 4 % 2],
                               .zipf = zipfs[i / 8]};
        eb_prediction p = {.size = sizeof p};
        suite_at("%s items %g distinct %g gap %g zipf %g", spec, w.items, w.distinct, w.gap,
                 w.zipf);
        steps = 0;
        OK(eb_predict(spec, &w, NULL, 1, &p, NULL));
        HOLDS(steps <= PREDICTION_STEPS);
    }
}

static void predict_case(const suite_case *c) {
    predict_all(c->spec);
}

static void predictions_are_bounded(void **state) {
    (void)state;
    SUITE_LONG();
    static const char *const extreme[] = {
        "importance:width=8,delete=random,memory=64M",
        "importance:width=8,delete=random,k=4,fade=0.01,memory=64M",
        "importance:width=8,policy=h,memory=1M",
        "importance:width=8,policy=hb,memory=4M,shards=4",
        "stable:width=8,delete=random,memory=64M",
        "stable:width=1,delete=random,k=3,fade=0.00001,memory=1K",
        "spectral:memory=1M,span=512",
        "spectral:memory=64K,span=64,update=plain,shards=8",
        "spectral_rm:memory=64K",
        "dyadic:bits=64,memory=64K,span=512",
        "decay:factor=0.999,mode=basic,memory=64K,shards=4",
        "window:window=1e9,mode=rotate",
        "choosy:k=12,tolerance=-0.99,memory=1K",
    };
    for (size_t i = 0; i < SUITE_COUNT(extreme); i++) {
        char spec[EB_SPEC_MAX];
        eb_error err;
        suite_at("%s", extreme[i]);
        if (calls_resolve(extreme[i], spec, &err) != EB_OK) fail_msg("%s", err.text);
        predict_all(spec);
    }
    suite_each_base(predict_case);
}

static void plans_are_bounded(void **state) {
    (void)state;
    static const double items[] = {1e3, 1e9, 1e18}, parts[] = {1, 1e-3}, bytes[] = {4096, 1e12};
    for (size_t i = 0; i < 3 * 2 * 2; i++) {
        const eb_workload w = {.size = sizeof w,
                               .items = items[i % 3],
                               .distinct = ceil(items[i % 3] * parts[i / 3 % 2])};
        const eb_goal g = {.size = sizeof g,
                           .load = &w,
                           .max_fpr = 0.01,
                           .max_bytes = bytes[i / 6],
                           .prefer = EB_FEWEST_MISSES};
        eb_offer o = {.size = sizeof o};
        size_t n;
        suite_at("items %g distinct %g bytes %g", w.items, w.distinct, g.max_bytes);
        steps = 0;
        (void)eb_plan(&g, &o, 1, &n, NULL);
        HOLDS(steps <= PLAN_STEPS);
    }
}

/* Streams whose order and skew are told: sizes and rates are searched for. */
static void plans_for_skewed_streams_are_bounded(void **state) {
    (void)state;
    static const eb_prefer prefer[] = {EB_SMALLEST, EB_FEWEST_FALSE, EB_FEWEST_MISSES};
    static const double distinct[] = {1e5, 1e9};
    for (size_t i = 0; i < 3 * 2; i++) {
        const eb_workload w = {.size = sizeof w,
                               .items = 10 * distinct[i / 3],
                               .distinct = distinct[i / 3],
                               .zipf = 0.8,
                               .order = EB_ORDER_SHUFFLED};
        const eb_goal g = {.size = sizeof g,
                           .load = &w,
                           .max_fpr = 1e-4,
                           .max_fnr = 0.2,
                           .max_bytes = prefer[i % 3] == EB_SMALLEST ? 0 : w.distinct,
                           .prefer = prefer[i % 3]};
        eb_offer o = {.size = sizeof o};
        size_t n;
        suite_at("prefer %d distinct %g", (int)g.prefer, w.distinct);
        steps = 0;
        (void)eb_plan(&g, &o, 1, &n, NULL);
        HOLDS(steps <= PLAN_STEPS);
    }
}

/* The dearest of 8000 random goals for all kinds, ends of all numbers among them. */
static void hostile_plans_are_bounded(void **state) {
    (void)state;
    SUITE_LONG();
    enum { COUNTS = EB_CAN_COUNT };
    static const struct {
        double items, distinct, zipf, gap;
        eb_order order;
        eb_prefer prefer;
        double fpr, fnr, bytes;
        uint64_t caps;
        const char *options;
    } hostile[] = {
        {1e9, 1e6, 2, 0, 0, EB_SMALLEST, 0.01, 0.1, 0, 0, NULL},
        {1e9, 1e8, 0, 0, EB_ORDER_PASSES, EB_SMALLEST, 1e-300, 0.2, 0, 0, NULL},
        {1e18, 1e12, 0, 0, EB_ORDER_PASSES, EB_FEWEST_FALSE, 0.06, 0.0017, 1e9, 0, "shards=8"},
        {1e9, 1e6, 0, 0, 0, EB_SMALLEST, 1e-300, 0.1, 0, 0, NULL},
        {4.77e11, 6.96e7, 0.27, 0, 0, EB_SMALLEST, 8.4e-7, 5.7e-6, 0, 0, "shards=32"},
        {187562, 245, 0, 0, 0, EB_SMALLEST, 1e-300, 0.0094, 0, 0, "shards=4"},
        {0, 150267, 100, 0, EB_ORDER_SHUFFLED, EB_SMALLEST, 5.2e-7, 0.078, 0, 0, NULL},
        {8.2e8, 2.7e8, 100, 0, EB_ORDER_SHUFFLED, EB_FEWEST_FALSE, 0.064, 0.0017, 1.8e6, 0, NULL},
        {1.1e7, 1201, 1.53, 0, EB_ORDER_SHUFFLED, EB_FEWEST_FALSE, 0.015, 0, 1.4e11, 0, "shards=8"},
        {86257, 1301, 0, 0, 0, EB_FEWEST_FALSE, 4.7e-8, 2e-5, 5.8e7, 0, "shards=64"},
        {7.4e11, 1.8e9, 0, 0, EB_ORDER_SHUFFLED, EB_SMALLEST, 5.8e-8, 0.053, 0, 0, NULL},
        {1e18, 1e18, 0, 0, EB_ORDER_SHUFFLED, EB_SMALLEST, 0.9, 0.18, 4.2e9, 0, NULL},
        {2.3e12, 1.4e11, 0, 0, EB_ORDER_SHUFFLED, EB_FEWEST_FALSE, 0.999, 0, 5.3e5, 0, "shards=16"},
        {1.2e15, 1.4e11, 0.18, 0, 0, EB_SMALLEST, 0.999, 1e-3, 0, COUNTS, NULL},
        {1.5e13, 9.4e11, 1.3, 0, EB_ORDER_SHUFFLED, EB_SMALLEST, 0.9, 0.02, 0, 0, "shards=32"},
        {1.3e11, 1.7e10, 2.1, 23, 0, EB_SMALLEST, 0.9, 9.7e-6, 0, 0, NULL},
        {1e9, 1e7, 0, 0, 0, EB_FEWEST_MISSES, 1e-300, 0, 1e6, 0, "shards=256"},
    };
    for (size_t i = 0; i < SUITE_COUNT(hostile); i++) {
        const eb_workload w = {.size = sizeof w,
                               .items = hostile[i].items,
                               .distinct = hostile[i].distinct,
                               .zipf = hostile[i].zipf,
                               .gap = hostile[i].gap,
                               .order = hostile[i].order};
        const eb_goal g = {.size = sizeof g,
                           .load = &w,
                           .options = hostile[i].options,
                           .prefer = hostile[i].prefer,
                           .max_fpr = hostile[i].fpr,
                           .max_fnr = hostile[i].fnr,
                           .max_bytes = hostile[i].bytes,
                           .caps = hostile[i].caps,
                           .all_kinds = 1};
        eb_offer o = {.size = sizeof o};
        eb_error err;
        size_t n;
        steps = 0;
        const eb_status status = eb_plan(&g, &o, 1, &n, &err);
        suite_at("goal %zu: status %d, %.0f million steps", i, (int)status, (double)steps / 1e6);
        HOLDS(status == EB_OK || status == EB_ELIMIT);
        HOLDS(steps <= HOSTILE_STEPS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_bounded),
        cmocka_unit_test(plans_are_bounded),
        cmocka_unit_test(plans_for_skewed_streams_are_bounded),
        cmocka_unit_test(hostile_plans_are_bounded),
    };
    alarm(LIFE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
