/* test_range_bounds.c - intervals of dyadic filters in the worst cases: forged snapshots, arrays
 * whose parts are full, and times in bursts, where a plain histogram is hard to beat. */
#include "suite.h"
#include <everbloom/experimental.h>

/* Whatever bytes are loaded, answers make sense.  Checksums are right, and either parts are those
 * of their sum and contradict the counters below, or they are not and the snapshot is refused. */

enum { FORGED_HEADS = 2 * 64, FORGED_PARTS = 8, FORGED_COUNTERS = 400 };

static uint8_t *forged_at(uint8_t *bytes, size_t offset) { /* in the block, behind its heads */
    uint32_t start;
    memcpy(&start, bytes + 20, sizeof start);
    return bytes + start + FORGED_HEADS + offset;
}

static void forge(uint8_t *bytes, size_t len, uint64_t *random, uint64_t more) {
    const uint64_t most = UINT64_C(1) << suite_below(random, 40);
    uint64_t sum = suite_below(random, most) + 1;
    uint16_t parts[FORGED_PARTS] = {0};
    parts[suite_below(random, FORGED_PARTS)] = (uint16_t)(sum > 9000 ? UINT16_MAX : sum);
    parts[suite_below(random, FORGED_PARTS)] = (uint16_t)(sum > 9000 ? UINT16_MAX : sum);
    if (sum <= 9000) { /* nothing is full: the parts add up */
        sum = 0;
        for (size_t i = 0; i < FORGED_PARTS; i++) sum += parts[i];
    }
    sum += more;
    memcpy(forged_at(bytes, 0), &sum, sizeof sum);
    memcpy(forged_at(bytes, 64), parts, sizeof parts);
    for (size_t i = 0; i < FORGED_COUNTERS; i++) { /* behind the store's own line */
        const uint32_t counter = (uint32_t)suite_below(random, 1 + most % 100000);
        uint8_t *const at = forged_at(bytes, (size_t)64 * 3 + 4 * i);
        HOLDS(at + sizeof counter <= bytes + len);
        memcpy(at, &counter, sizeof counter);
    }
    suite_fix_sums(bytes, len);
}

static void makes_sense(const eb_filter *f, uint64_t *random) {
    enum { LOW = 1000, HIGH = 1000 + 4095 };
    for (int i = 0; i < 100; i++) {
        const uint64_t from = LOW + suite_below(random, 4096);
        const uint64_t to = from + suite_below(random, HIGH - from + 1);
        eb_range r = {.size = sizeof r};
        eb_quantile o = {.size = sizeof o};
        OK(eb_range_count(f, from, to, &r, NULL));
        HOLDS(0 <= r.lower && r.lower <= r.upper);
        if (eb_range_quantile(f, (double)suite_below(random, 101) / 100, &o, NULL)) continue;
        HOLDS(LOW <= o.lower && o.lower <= o.value && o.value <= o.upper && o.upper <= HIGH);
    }
}

static void forged_counts_give_answers_that_make_sense(void **state) {
    (void)state;
    eb_filter *const f = suite_new("dyadic:bits=12,low=1000,top=3,cells=400,k=2");
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    uint64_t random = 12;
    for (int i = 0; i < 300; i++) {
        eb_filter *g = NULL;
        suite_at("forgery %d", i);
        forge(bytes, len, &random, 0);
        OK(eb_load(&g, bytes, len, NULL, NULL, NULL));
        makes_sense(g, &random);
        eb_free(g);
    }
    free(bytes);
    eb_free(f);
}

static void sums_that_are_not_those_of_their_parts_are_refused(void **state) {
    (void)state;
    eb_filter *const f = suite_new("dyadic:bits=12,top=3,cells=400"), *g = NULL;
    const uint64_t values[3] = {1, 2000, 4095};
    OK(calls_add_numbers(f, values, NULL, 3, NULL));
    for (uint64_t sum = 0; sum < 8; sum++) {
        size_t len;
        uint8_t *const bytes = suite_bytes(f, &len);
        memcpy(forged_at(bytes, 0), &sum, sizeof sum);
        suite_fix_sums(bytes, len);
        GIVES(sum == 3 ? EB_OK : EB_EFORMAT, eb_load(&g, bytes, len, NULL, NULL, NULL));
        if (sum == 3) eb_free(g);
        free(bytes);
    }
    eb_free(f);
}

/* Parts that are full: what their sum leaves is all that is known.  Intervals hold, before and
 * after merging and removing; one full part of eight costs nothing. */

static void full_parts_of(const char *spec, size_t full, bool exact) {
    enum { VALUES = 256 };
    eb_filter *const f = suite_new(spec), *other;
    uint64_t count[VALUES], random = 31;
    double before[VALUES + 1] = {0};
    suite_at("%s, %zu full", spec, full);
    for (uint64_t v = 0; v < VALUES; v++) {
        count[v] = 1 + suite_below(&random, 50) + (v % 7 == 0 && v / 7 < full ? 70000 : 0);
        OK(calls_add_numbers(f, &v, &count[v], 1, NULL));
    }
    OK(eb_clone(&other, f, NULL, NULL));
    OK(eb_merge(f, other, 1, NULL));
    for (uint64_t v = 0; v < VALUES; v++) {
        const uint64_t less = suite_below(&random, 2 * count[v]) + 1;
        OK(calls_remove_numbers(f, &v, &less, 1, NULL));
        before[v + 1] = before[v] + (double)(2 * count[v] - less);
    }
    for (uint64_t a = 0; a < VALUES; a++)
        for (uint64_t b = a; b < VALUES; b++) {
            eb_range r = {.size = sizeof r};
            OK(eb_range_count(f, a, b, &r, NULL));
            const double want = before[b + 1] - before[a];
            HOLDS(0 <= r.lower && r.lower <= want && want <= r.upper);
            HOLDS(!exact || r.lower == r.upper);
        }
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    eb_filter *again = NULL;
    OK(eb_load(&again, bytes, len, NULL, NULL, NULL));
    HOLDS(suite_equal(f, again));
    free(bytes);
    eb_free(f);
    eb_free(other);
    eb_free(again);
}

static void full_parts_keep_their_promise(void **state) {
    (void)state;
    SUITE_LONG();
    full_parts_of("dyadic:bits=8,top=8,cells=64", 0, true);
    full_parts_of("dyadic:bits=8,top=8,cells=64", 1, true);
    full_parts_of("dyadic:bits=8,top=8,cells=64", 2, false);
    full_parts_of("dyadic:bits=8,top=5,cells=900", 9, false);
    full_parts_of("dyadic:bits=8,top=2,cells=300", 9, false);
    full_parts_of("dyadic:bits=8,top=6,cells=300,shards=4", 30, false);
}

/* Bursty times, as real-time logs have them, against a plain histogram of 32-bit counters in the
 * same memory, which is certain, too.  Ends of ranges are any times, or times of the stream. */

enum { BURST_BITS = 20, BURST_TIMES = 1000000, BURST_RANGES = 1001 };

static void burst_times(uint64_t *times) {
    enum { BURSTS = 2000, SECONDS = 120 };
    uint64_t start[BURSTS], random = 71;
    for (size_t i = 0; i < BURSTS; i++)
        start[i] = suite_below(&random, (1 << BURST_BITS) - SECONDS);
    for (size_t i = 0; i < BURST_TIMES; i++) {
        const uint64_t after = suite_below(&random, SECONDS) * suite_below(&random, SECONDS);
        times[i] = suite_below(&random, 50) == 0
                       ? suite_below(&random, 1 << BURST_BITS)
                       : start[suite_below(&random, BURSTS)] + after / SECONDS;
    }
}

typedef struct histogram {
    uint64_t each; /* values for a counter */
    uint32_t counter[1 << BURST_BITS];
} histogram;

static void histogram_fill(histogram *h, uint64_t memory, const uint64_t *times) {
    const uint64_t counters = memory / sizeof *h->counter;
    memset(h, 0, sizeof *h);
    h->each = ((UINT64_C(1) << BURST_BITS) + counters - 1) / counters;
    for (size_t i = 0; i < BURST_TIMES; i++) h->counter[times[i] / h->each]++;
}

static double histogram_width(const histogram *h, uint64_t from, uint64_t to) {
    const uint64_t first = from / h->each, last = to / h->each;
    const bool begins = from % h->each == 0, ends = (to + 1) % h->each == 0;
    if (first == last) return begins && ends ? 0 : h->counter[first];
    return (begins ? 0.0 : h->counter[first]) + (ends ? 0.0 : h->counter[last]);
}

static int burst_order(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double burst_median(double *widths) {
    qsort(widths, BURST_RANGES, sizeof *widths, burst_order);
    return widths[BURST_RANGES / 2];
}

static void burst_compare(const eb_filter *f, const histogram *h, const uint64_t *times,
                          const char *name) {
    static double ours[BURST_RANGES], theirs[BURST_RANGES];
    uint64_t random = 72;
    for (size_t i = 0; i < BURST_RANGES; i++) {
        const uint64_t a = times ? times[suite_below(&random, BURST_TIMES)]
                                 : suite_below(&random, 1 << BURST_BITS);
        const uint64_t b = times ? times[suite_below(&random, BURST_TIMES)]
                                 : suite_below(&random, 1 << BURST_BITS);
        eb_range r = {.size = sizeof r};
        OK(eb_range_count(f, ebi_min(a, b), ebi_max(a, b), &r, NULL));
        ours[i] = r.upper - r.lower;
        theirs[i] = histogram_width(h, ebi_min(a, b), ebi_max(a, b));
        HOLDS(ours[i] <= theirs[i]); /* not in the median only */
    }
    const double our = burst_median(ours), their = burst_median(theirs);
    print_message("%s, ends %s: median width %.0f, of a histogram %.0f\n", name,
                  times ? "of the stream" : "anywhere", our, their);
    HOLDS(our <= their);
}

static void bursty_times_are_told_as_well_as_by_a_histogram(void **state) {
    (void)state;
    SUITE_LONG();
    static const char *const memory[] = {"64K", "512K", "2M"};
    static const uint64_t bytes[] = {64 << 10, 512 << 10, 2 << 20};
    static uint64_t times[BURST_TIMES];
    static histogram h;
    burst_times(times);
    for (size_t i = 0; i < SUITE_COUNT(memory); i++) {
        char spec[80];
        (void)snprintf(spec, sizeof spec, "dyadic:bits=%d,memory=%s", BURST_BITS, memory[i]);
        suite_at("%s", spec);
        eb_filter *const f = suite_new(spec);
        HOLDS(ebi_bytes(f) <= bytes[i]);
        OK(calls_add_numbers(f, times, NULL, BURST_TIMES, NULL));
        histogram_fill(&h, bytes[i], times);
        burst_compare(f, &h, NULL, memory[i]);
        burst_compare(f, &h, times, memory[i]);
        eb_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forged_counts_give_answers_that_make_sense),
        cmocka_unit_test(sums_that_are_not_those_of_their_parts_are_refused),
        cmocka_unit_test(full_parts_keep_their_promise),
        cmocka_unit_test(bursty_times_are_told_as_well_as_by_a_histogram),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
