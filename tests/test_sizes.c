/* test_sizes.c - a structure whose size is not the one that the library knows is refused, and then
 * neither read nor written. */
#include "suite.h"
#include <everbloom/experimental.h>

typedef eb_status call(void *structure);

static eb_filter *counting, *ranges;

static eb_status call_stat(void *s) {
    return eb_stat(counting, EB_STAT_CELLS, s, NULL);
}
static eb_status call_add(void *b) {
    return eb_add_batch(counting, b, NULL);
}
static eb_status call_ask(void *b) {
    return eb_ask_batch(counting, b, NULL);
}
static eb_status call_remove(void *b) {
    return eb_remove_batch(counting, b, NULL);
}
static eb_status call_workload(void *w) {
    eb_prediction p;
    EB_INIT(p);
    return eb_predict("bloom:memory=4K", w, NULL, 1, &p, NULL);
}
static eb_status call_prediction(void *p) {
    const eb_workload w = {.size = sizeof w, .items = 10};
    return eb_predict("bloom:memory=4K", &w, NULL, 1, p, NULL);
}
static eb_status call_spec_info(void *info) {
    return eb_spec_describe("bloom:memory=4K", info, NULL);
}
static eb_status call_goal(void *goal) {
    eb_offer o;
    size_t n;
    EB_INIT(o);
    return eb_plan(goal, &o, 1, &n, NULL);
}
static eb_status call_offer(void *offer) {
    const eb_workload w = {.size = sizeof w, .items = 2000, .distinct = 1000};
    const eb_goal goal = {
        .size = sizeof goal, .load = &w, .max_bytes = 65536, .prefer = EB_FEWEST_MISSES};
    size_t n;
    return eb_plan(&goal, offer, 1, &n, NULL);
}
static eb_status call_estimate(void *e) {
    const eb_hash h = 1;
    return eb_estimate_batch(counting, SUITE_ONE(h), e, NULL);
}
static eb_status call_sum(void *s) {
    const eb_hash h = 1;
    return eb_sum_batch(counting, SUITE_KEYS(&h, 1), s, NULL);
}
static eb_status call_average(void *a) {
    const eb_hash h = 1;
    return eb_average_batch(counting, counting, SUITE_KEYS(&h, 1), a, NULL);
}
static eb_status call_moments(void *m) {
    return eb_moments_of(counting, m, NULL);
}
static eb_status call_join(void *j) {
    return eb_join_size(counting, counting, j, NULL);
}
static eb_status call_lengths(void *l) {
    return eb_lengths_of(counting, l, NULL);
}
static eb_status call_range(void *r) {
    return eb_range_count(ranges, 0, 9, r, NULL);
}
static eb_status call_quantile(void *q) {
    return eb_range_quantile(ranges, 0.5, q, NULL);
}
static eb_status call_top(void *list) {
    eb_filter *const f = suite_new("top:memory=2K");
    const eb_status status = eb_top(f, list, NULL);
    eb_free(f);
    return status;
}

static const struct {
    const char *name;
    size_t size;
    call *call;
} structures[] = {
    {"eb_stats", sizeof(eb_stats), call_stat},
    {"eb_spec_info", sizeof(eb_spec_info), call_spec_info},
    {"eb_batch", sizeof(eb_batch), call_add},
    {"eb_batch", sizeof(eb_batch), call_ask},
    {"eb_batch", sizeof(eb_batch), call_remove},
    {"eb_workload", sizeof(eb_workload), call_workload},
    {"eb_prediction", sizeof(eb_prediction), call_prediction},
    {"eb_goal", sizeof(eb_goal), call_goal},
    {"eb_offer", sizeof(eb_offer), call_offer},
    {"eb_estimate", sizeof(eb_estimate), call_estimate},
    {"eb_sum", sizeof(eb_sum), call_sum},
    {"eb_average", sizeof(eb_average), call_average},
    {"eb_moments", sizeof(eb_moments), call_moments},
    {"eb_join", sizeof(eb_join), call_join},
    {"eb_lengths", sizeof(eb_lengths), call_lengths},
    {"eb_range", sizeof(eb_range), call_range},
    {"eb_quantile", sizeof(eb_quantile), call_quantile},
    {"eb_top_list", sizeof(eb_top_list), call_top},
};

static void unknown_sizes_are_refused(void **state) {
    (void)state;
    enum { ROOM = 2048 };
    counting = suite_new("spectral:update=plain,cells=1000");
    ranges = suite_new("dyadic:memory=64K");
    const uint64_t value = 5;
    OK(calls_add_numbers(ranges, &value, NULL, 1, NULL));
    for (size_t i = 0; i < SUITE_COUNT(structures); i++) {
        const size_t known = structures[i].size;
        const size_t sizes[] = {0,         1,         8,
                                known - 1, known + 1, known - 8,
                                known + 8, SIZE_MAX,  (size_t)0x7777777777777777};
        suite_at("%s", structures[i].name);
        HOLDS(known + 8 <= ROOM);
        for (size_t j = 0; j < SUITE_COUNT(sizes); j++) {
            _Alignas(16) uint8_t bytes[ROOM], before[ROOM];
            memset(bytes, 0x77, sizeof bytes);
            memcpy(bytes, &sizes[j], sizeof sizes[j]);
            memcpy(before, bytes, sizeof bytes);
            GIVES(EB_ESIZE, structures[i].call(bytes));
            HOLDS(memcmp(bytes, before, sizeof bytes) == 0);
        }
        _Alignas(16) uint8_t zero[ROOM] = {0};
        memcpy(zero, &known, sizeof known);
        HOLDS(structures[i].call(zero) != EB_ESIZE);
    }
    eb_free(counting);
    eb_free(ranges);
}

static void a_goal_has_a_workload_with_a_size(void **state) {
    (void)state;
    const eb_workload forgotten = {.items = 1000, .distinct = 1000};
    const eb_goal goal = {
        .size = sizeof goal, .load = &forgotten, .max_fpr = 0.01, .max_bytes = 65536, .prefer = 2};
    eb_goal copy = goal;
    GIVES(EB_ESIZE, call_goal(&copy));
}

static void errors_have_512_bytes(void **state) {
    (void)state;
    eb_error err;
    eb_stats s = {.size = 3};
    eb_filter *const f = suite_new("bloom:memory=4K");
    HOLDS(sizeof err == 512);
    memset(&err, 0x77, sizeof err);
    GIVES(EB_ESIZE, eb_stat(f, EB_STAT_CELLS, &s, &err));
    HOLDS(err.status == EB_ESIZE && err.reserved == 0 && err.at == EB_NOWHERE);
    HOLDS(strstr(err.text, "eb_stats") && strstr(err.text, "not 3"));
    eb_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_sizes_are_refused),
        cmocka_unit_test(a_goal_has_a_workload_with_a_size),
        cmocka_unit_test(errors_have_512_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
