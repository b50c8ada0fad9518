/* test_decay_costs.c - what single adds cost, as histograms of the processor time of a thread,
 * while eras pass: no add may wait for a sweep.  Printed for people to read; what is asserted is
 * that an add touches k lines, however many eras have passed, which time_costs_nothing does.
 *
 * EVERBLOOM_TEST_EVENTS=10000000 makes the streams that long. */
#include "decay_help.h"
#include <time.h>

enum { BUCKETS = 24, STEPS = 2 }; /* two for each power of 2, from 16 ns */

static uint64_t thread_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t floor_of(unsigned bucket) { /* least nanoseconds in it */
    const uint64_t base = UINT64_C(16) << (bucket / STEPS);
    return bucket == 0 ? 0 : base + base / STEPS * (bucket % STEPS);
}

static unsigned bucket_of(uint64_t ns) {
    unsigned bucket = 0;
    while (bucket + 1 < BUCKETS && ns >= floor_of(bucket + 1)) bucket++;
    return bucket;
}

static void print_histogram(const char *spec, const uint64_t *counts, uint64_t n) {
    uint64_t up_to = 0, median = 0;
    for (unsigned i = 0; i < BUCKETS; i++) {
        if (up_to <= n / 2 && up_to + counts[i] > n / 2) median = floor_of(i);
        up_to += counts[i];
    }
    print_message("%s: %llu adds, median about %llu ns\n", spec, (unsigned long long)n,
                  (unsigned long long)median);
    for (unsigned i = 0; i < BUCKETS; i++)
        if (counts[i] > 0)
            print_message("  from %8llu ns: %10llu%s\n", (unsigned long long)floor_of(i),
                          (unsigned long long)counts[i],
                          floor_of(i) > 10 * median ? "  above 10 medians" : "");
}

/* An era ends every 10000 adds; a sweep of these lines would take some 100 medians. */
static void measure(const char *spec, uint64_t n) {
    eb_filter *const f = suite_new(spec);
    uint64_t counts[BUCKETS] = {0}, random = 11;
    for (uint64_t i = 0; i < n; i++) {
        const eb_hash h = key_of(suite_below(&random, 200000));
        const uint64_t start = thread_ns();
        OK(add_at(f, h, 1, i));
        counts[bucket_of(thread_ns() - start)]++;
    }
    print_histogram(spec, counts, n);
    eb_free(f);
}

static void costs_of_adds(void **state) {
    (void)state;
    const char *const wish = getenv("EVERBLOOM_TEST_EVENTS");
    const uint64_t n = wish ? strtoull(wish, NULL, 10) : 50000;
    measure("decay:memory=4M,halflife=10000", n);
    measure("decay:memory=4M,store=packed,halflife=10000", n);
    measure("aging:memory=4M,period=10000", n);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(costs_of_adds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
