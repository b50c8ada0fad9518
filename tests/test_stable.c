/* test_stable.c - the Stable Bloom filter at the paper's and the project's
 * numbers: limits, and the guarantee of the sweep. */
#include "suite.h"
#include <math.h>

enum { STEP = 1000 };

static void feed_fresh(eb_filter *f, uint64_t *next, uint64_t n) {
    eb_hash h[STEP];
    for (; n > 0; n -= STEP) {
        for (size_t i = 0; i < STEP; i++) h[i] = ebi_mix((*next)++);
        OK(eb_add_batch(f, &A_BATCH(STEP, h, NULL, NULL), NULL));
    }
}

static double fresh_seen(const eb_filter *f, uint64_t *next, int probes) {
    double seen_sum = 0;
    for (int i = 0; i < probes; i++) {
        const eb_hash h = ebi_mix((*next)++);
        uint8_t seen;
        calls_test(f, &h, 1, &seen);
        seen_sum += seen;
    }
    return seen_sum / probes;
}

/* 43690 cells of 3 bits, K = 5, P = 10: 0.0585 of the cells zero, FPR 0.740.  Over
 * 200000 probes the error of a rate of 0.74 is 0.001. */
static void published_limits_are_reached(void **state) {
    (void)state;
    static const char *const policies[] = {"random", "run"};
    for (size_t i = 0; i < SUITE_COUNT(policies); i++) {
        char spec[EB_SPEC_MAX];
        (void)snprintf(spec, sizeof spec, "stable:cells=43690,width=3,k=5,fade=10,delete=%s",
                       policies[i]);
        eb_filter *const f = suite_new(spec);
        eb_stats s = {.size = sizeof s};
        uint64_t next = 1;
        feed_fresh(f, &next, 874000); /* 20 for each cell */
        calls_stat(f, &s);
        suite_at("%s: %.4f of the cells zero", spec, 1 - s.fill);
        HOLDS(fabs(1 - s.fill - 0.0585) < 0.002);
        HOLDS(fabs(s.fpr - 0.740) < 0.005);
        HOLDS(fabs(fresh_seen(f, &next, 200000) - 0.740) < 0.005);
        eb_free(f);
    }
}

/* Not one repeat is missed for (M-1) m/P arrivals: 15603 here. */
static void the_sweep_keeps_its_guarantee(void **state) {
    (void)state;
    enum { GAP = 15000, TESTS = 100000 };
    eb_filter *const f = suite_new("stable:cells=65536,width=2,k=2,fade=8.401,delete=sweep");
    uint64_t next = 1;
    HOLDS(GAP < 2 * 65536 / 8.401);
    feed_fresh(f, &next, 300000);
    for (int i = 0; i < TESTS; i++) {
        const eb_hash fresh = ebi_mix(next++), old = ebi_mix(next - 1 - GAP);
        uint8_t seen;
        calls_test(f, &old, 1, &seen);
        HOLDS(seen);
        OK(eb_add_batch(f, &A_BATCH(1, &fresh, NULL, NULL), NULL));
    }
    const double fpr = fresh_seen(f, &next, 200000);
    suite_at("FPR %.4f", fpr);
    HOLDS(fabs(fpr - 0.20) < 0.005);
    eb_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_limits_are_reached),
        cmocka_unit_test(the_sweep_keeps_its_guarantee),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
