/* test_decay_costs.c - no add waits for a sweep: what single adds cost while eras pass, in steps
 * of the program instead of time, so that no other program and no interrupt is part of it.
 *
 * FLAVOUR=steps compiles the library so that every basic block says that it is run; other flavours
 * have nothing to count, and these tests are skipped.  Where a compiler makes vectors of a loop, it
 * does not here, so that halving a line looks dearer than it is.  In time, beside controls that do
 * nothing and that touch lines: everbloom-lab 002 costs. */
#include "decay_help.h"
#include <math.h>

enum { KEYS = 20000, ADDS = 150000, ALMOST_ALL = ADDS - ADDS / 1000 };
static uint32_t steps;

void __sanitizer_cov_trace_pc(void); /* the compiler calls it */
void __sanitizer_cov_trace_pc(void) {
    steps++;
}

static int skip_unless_counted(void **state) {
    (void)state;
    steps = 0;
    eb_free(suite_new("bloom:memory=1K"));
    if (steps == 0) skip();
    return 0;
}

static int by_size(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Zipf's law with a skew of 1, nearly: the logarithm of a key is uniform. */
static eb_hash drawn(uint64_t *random, bool skewed) {
    const double u = (double)(suite_random(random) >> 11) * 0x1p-53;
    return key_of((uint64_t)(skewed ? exp(u * log(KEYS)) : u * KEYS));
}

/* Adds that take the most steps, and nearly the most, in medians. */
typedef struct costs {
    double most, almost;
} costs;

static costs costs_of(const char *spec, bool skewed) {
    eb_filter *const f = suite_new(spec);
    uint32_t *const cost = calloc(ADDS, sizeof *cost);
    uint64_t random = 11;
    HOLDS(cost != NULL);
    for (uint64_t i = 0; i < ADDS; i++) {
        const eb_hash h = drawn(&random, skewed);
        steps = 0;
        OK(add_at(f, h, 1, i));
        cost[i] = steps;
    }
    qsort(cost, ADDS, sizeof *cost, by_size);
    const double median = cost[ADDS / 2];
    const costs c = {cost[ADDS - 1] / median, cost[ALMOST_ALL] / median};
    print_message("%s%s: median %.0f steps, 99.9 %% within %.1f medians, all within %.1f\n", spec,
                  skewed ? ", skewed" : "", median, c.almost, c.most);
    free(cost);
    eb_free(f);
    return c;
}

/* With seldom eras the median add finds lines that are up to date, and is the shortest. */
static void no_add_takes_ten_medians(void **state) {
    static const char *const specs[] = {
        "decay:memory=400K,halflife=40000", "decay:memory=400K,halflife=1000",
        "decay:memory=400K,halflife=40000,update=conservative", "aging:memory=1M,period=20000"};
    if (skip_unless_counted(state)) return;
    for (size_t i = 0; i < SUITE_COUNT(specs); i++) {
        suite_at("%s", specs[i]);
        HOLDS(costs_of(specs[i], false).most <= 10);
        HOLDS(costs_of(specs[i], true).most <= 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_add_takes_ten_medians),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
