/* test_predict_costs.c - predictions and plans take bounded work, whatever they are asked: counted
 * in basic blocks (FLAVOUR=steps, see test_decay_costs.c).  Other flavours run the same calls,
 * which would not end in the life of the test if one of them were linear in the stream. */
#include "suite.h"
#include <math.h>
#include <unistd.h>

enum {
    LIFE = 300,                  /* seconds, then the test is ended by a signal */
    PREDICTION_STEPS = 24000000, /* some 50 ms */
    PLAN_STEPS = 160000000
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_bounded),
        cmocka_unit_test(plans_are_bounded),
        cmocka_unit_test(plans_for_skewed_streams_are_bounded),
    };
    alarm(LIFE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
