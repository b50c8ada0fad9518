/* test_aging.c - the filter of ages: counts against exact ones for every function, joined buckets,
 * idle filters, and that passing time costs nothing.
 *
 * EVERBLOOM_TEST_EVENTS=10000000 makes each random stream that long. */
#include "model.h"
#include "suite.h"
#include <math.h>

enum { KEYS = 300, EPOCHS = 4096, PERIOD = 50 };

typedef struct run {
    const char *spec;
    enum { WINDOW, CHORDAL, POLYGONAL, POLY, POLYEXP } decay;
    uint64_t window;
    double power, factor;
    double excess; /* the share that joined buckets may add */
} run;

static const run runs[] = {
    {"aging:memory=64K,by=window,epochs=8", WINDOW, 8, 0, 0, 0},
    {"aging:memory=64K,by=window,epochs=1,update=conservative", WINDOW, 1, 0, 0, 0},
    {"aging:memory=64K,by=chordal,epochs=20", CHORDAL, 20, 0, 0, 0},
    {"aging:memory=64K,by=polygonal,epochs=24,heights=100:50:20", POLYGONAL, 24, 0, 0, 0},
    {"aging:memory=256K,by=polyexp,epochs=100,power=2,factor=0.8", POLYEXP, 100, 2, 0.8, 0},
    {"aging:memory=64K,by=poly,epochs=1000,power=1", POLY, 1000, 1, 0, 0.25},
    {"aging:memory=64K,by=poly,epochs=3000,power=0.5,detail=1", POLY, 3000, 0.5, 0, 0.41422},
    {"aging:memory=64K,by=poly,epochs=300,power=2,detail=8,update=conservative", POLY, 300, 2, 0,
     0.265625},
};

static double g_of(const run *r, uint64_t age) {
    const double x = (double)age, part = x / (double)r->window * 3;
    if (age >= r->window) return 0;
    switch (r->decay) {
    case CHORDAL:
        return 1 - x / (double)r->window;
    case POLYGONAL: /* 100:50:20 */
        return part < 1 ? 1 - 0.5 * part : part < 2 ? 0.8 - 0.3 * part : 0.6 - 0.2 * part;
    case POLY:
        return pow(1 + x, -r->power);
    case POLYEXP: {
        const double peak = fmax(r->power / -log(r->factor), 1);
        return pow((1 + x) / peak, r->power) * pow(r->factor, 1 + x - peak);
    }
    default:
        return 1;
    }
}

/* What came of each key in each epoch, as far back as any window reaches. */
typedef struct truth {
    uint64_t now;
    uint32_t *came; /* KEYS x EPOCHS, a ring */
    double *g;
} truth;

static void truth_to(truth *t, uint64_t now) {
    for (uint64_t e = 1; e <= ebi_min(now - t->now, EPOCHS); e++)
        for (size_t key = 0; key < KEYS; key++) t->came[key * EPOCHS + (t->now + e) % EPOCHS] = 0;
    t->now = now;
}

static double truth_of(const truth *t, const run *r, size_t key) {
    double sum = 0;
    for (uint64_t age = 0; age < r->window && age <= t->now; age++)
        sum += t->g[age] * t->came[key * EPOCHS + (t->now - age) % EPOCHS];
    return sum;
}

static eb_hash key_of(uint64_t i) {
    return ebi_mix(i + UINT64_C(0xa9e5));
}

static double count_of(const eb_filter *f, uint64_t key) {
    const eb_hash h = key_of(key);
    double count;
    calls_count(f, &h, 1, &count);
    return count;
}

static eb_stats stats_of(const eb_filter *f) {
    eb_stats s = {.size = sizeof s};
    calls_stat(f, &s);
    return s;
}

static truth truth_new(const run *r) {
    truth t = {0, model_zeros(KEYS * EPOCHS, sizeof *t.came), model_zeros(r->window, sizeof *t.g)};
    for (uint64_t age = 0; age < r->window; age++) t.g[age] = g_of(r, age);
    return t;
}

/* Never too low; and a key that has all counters for itself is counted exactly, unless buckets are
 * joined. */
static void compare(const eb_filter *f, const truth *t, const run *r, size_t key, bool alone) {
    const double exact = truth_of(t, r, key), count = count_of(f, key);
    const double most = alone && r->excess == 0 ? exact * (1 + 1e-12) : INFINITY;
    if (count >= exact * (1 - 1e-12) && count <= most) return;
    print_error("%s: key %zu: %.12g, exactly %.12g\n", r->spec, key, count, exact);
    fail();
}

static void run_against_truth(const run *r, uint64_t n, size_t keys) {
    eb_filter *const f = suite_new(r->spec);
    truth t = truth_new(r);
    uint64_t random = 1, time = 0;
    suite_at("%s", r->spec);
    HOLDS(stats_of(f).too_high > r->excess - 1e-4 && stats_of(f).too_high < r->excess + 0.02);
    for (uint64_t i = 0; i < n; i++) {
        const size_t key = (size_t)suite_below(&random, keys);
        const uint64_t value = 1 + (uint32_t)suite_below(&random, 3);
        time += suite_below(&random, 1000) == 0 ? suite_below(&random, 60 * PERIOD)
                                                : suite_below(&random, 8);
        const eb_hash h = key_of(key);
        OK(eb_add_batch(f, &A_BATCH(1, &h, &value, &time), NULL));
        truth_to(&t, time / PERIOD);
        t.came[key * EPOCHS + t.now % EPOCHS] += (uint32_t)value;
        if (i % 64 == 0) compare(f, &t, r, (size_t)suite_below(&random, keys), keys == 1);
    }
    for (size_t key = 0; key < keys; key++) compare(f, &t, r, key, keys == 1);
    HOLDS(f->kind->check(&f->p, f->block, NULL) == EB_OK);
    free(t.came);
    free(t.g);
    eb_free(f);
}

static run with_period(const run *r, char spec[200]) {
    run full = *r;
    (void)snprintf(spec, 200, "%s,period=%d", r->spec, PERIOD);
    full.spec = spec;
    return full;
}

static void counts_are_never_too_low(void **state) {
    (void)state;
    const char *const wish = getenv("EVERBLOOM_TEST_EVENTS");
    const uint64_t n = wish ? strtoull(wish, NULL, 10) : 70000;
    for (size_t i = 0; i < SUITE_COUNT(runs); i++) {
        char spec[200];
        const run r = with_period(&runs[i], spec);
        run_against_truth(&r, n, KEYS);
    }
}

static void a_key_alone_is_counted_exactly(void **state) {
    (void)state;
    for (size_t i = 0; i < SUITE_COUNT(runs); i++) {
        char spec[200];
        const run r = with_period(&runs[i], spec);
        run_against_truth(&r, 20000, 1);
    }
}

/* Counts of any size, in one filter and dealt out to two: whatever epochs end, records are swept or
 * filters merged, none is too low. */

enum { MANY = 1500, ASKED = 512, AGES = 8 };

typedef struct course {
    eb_filter *one, *half[2];
    uint64_t random, time, now;
    eb_hash hash[MANY];
    double came[AGES][MANY];
} course;

static void course_to(course *c, uint64_t epoch) {
    for (uint64_t e = c->now + 1; e <= epoch && e <= c->now + AGES; e++)
        memset(c->came[e % AGES], 0, sizeof c->came[0]);
    if (epoch > c->now + AGES) memset(c->came, 0, sizeof c->came);
    c->now = epoch;
}

static void course_add(course *c) {
    const size_t key = suite_below(&c->random, suite_below(&c->random, MANY) + 1);
    const uint64_t value =
        suite_below(&c->random, 30) == 0 ? suite_below(&c->random, 1 << 20) + 1 : 1;
    const uint64_t draw = suite_below(&c->random, 200000);
    c->time += draw == 0   ? UINT64_C(50) << 36
               : draw < 20 ? 20 * PERIOD
                           : suite_below(&c->random, 2);
    course_to(c, c->time / PERIOD);
    c->came[c->now % AGES][key] += (double)value;
    const eb_batch b = A_BATCH(1, &c->hash[key], &value, &c->time);
    OK(eb_add_batch(c->one, &b, NULL));
    OK(eb_add_batch(c->half[suite_below(&c->random, 2)], &b, NULL));
}

static void course_check(const course *c, const eb_filter *f, size_t from, size_t n) {
    static double got[MANY];
    calls_count(f, c->hash + from, n, got);
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t age = 0; age < AGES; age++) sum += c->came[age][from + i];
        HOLDS(got[i] >= sum);
    }
}

static void nothing_is_too_low(void **state) {
    (void)state;
    SUITE_LONG();
    static const char *const specs[] = {"aging:memory=32K,epochs=8,period=50",
                                        "aging:memory=256K,epochs=8,period=50,update=conservative"};
    const char *const wanted = getenv("EVERBLOOM_OPERATIONS");
    const double checks = (wanted ? strtod(wanted, NULL) : 1e7) / SUITE_COUNT(specs);
    static course c;
    for (size_t s = 0; s < SUITE_COUNT(specs); s++) {
        c = (course){.random = 3 + s};
        c.one = suite_new(specs[s]);
        for (int i = 0; i < 2; i++) c.half[i] = suite_new(specs[s]);
        for (size_t i = 0; i < MANY; i++) c.hash[i] = key_of(i);
        suite_at("%s", specs[s]);
        for (double done = 0, step = 0; done < checks; done += ASKED, step++) {
            for (int i = 0; i < 64; i++) course_add(&c);
            course_check(&c, c.one, suite_below(&c.random, MANY - ASKED), ASKED);
            if (s > 0 || fmod(step, 200) > 0) continue;
            eb_filter *both;
            OK(eb_clone(&both, c.half[0], NULL, NULL));
            OK(eb_merge(both, c.half[1], 1, NULL));
            OK(eb_advance(both, c.time, NULL));
            course_check(&c, both, 0, MANY);
            HOLDS(both->kind->check(&both->p, both->block, NULL) == EB_OK);
            eb_free(both);
        }
        HOLDS(stats_of(c.one).saturated == 0);
        eb_free(c.one);
        for (int i = 0; i < 2; i++) eb_free(c.half[i]);
    }
}

/* What is counted now is exact; what was counted is too high by less than 2^-10. */
static void large_counts_are_right(void **state) {
    (void)state;
    eb_filter *const f = suite_new("aging:memory=64K,period=1000");
    const eb_hash h = key_of(1);
    const uint64_t most = UINT32_MAX;
    uint64_t now = 0;
    for (int i = 0; i < 70000; i++) OK(eb_add_batch(f, &A_BATCH(1, &h, NULL, &now), NULL));
    HOLDS(count_of(f, 1) == 70000);
    double sum = 70000;
    for (int i = 0; i < 60000; i++, sum += (double)most)
        OK(eb_add_batch(f, &A_BATCH(1, &h, &most, &now), NULL));
    HOLDS(count_of(f, 1) == sum && sum > 0x1p47 && stats_of(f).saturated == 0);
    OK(eb_advance(f, 27999, NULL));
    HOLDS(count_of(f, 1) >= sum && count_of(f, 1) < sum * (1 + 1.0 / 1024));
    for (int i = 0; i < 5537; i++)
        OK(eb_add_batch(f, &A_BATCH(1, &h, &most, &(uint64_t){27999}), NULL));
    for (int i = 0; i < 60000; i++)
        OK(eb_add_batch(f, &A_BATCH(1, &h, &most, &(uint64_t){27999}), NULL));
    HOLDS(stats_of(f).saturated > 0); /* 2^48 in an epoch, and it is told */
    eb_free(f);
}

/* Old arrivals of a joined bucket count as its youngest epoch, no more: an arrival of any age. */
static void joined_buckets_add_a_stated_share(void **state) {
    (void)state;
    for (size_t i = 0; i < SUITE_COUNT(runs); i++) {
        const run *const r = &runs[i];
        char spec[200];
        if (r->decay != POLY) continue;
        (void)snprintf(spec, sizeof spec, "%s,period=1", r->spec);
        suite_at("%s", spec);
        double most = 0;
        for (uint64_t start = 1000; start < 1030; start++) {
            eb_filter *const f = suite_new(spec);
            const eb_hash h = key_of(0);
            OK(eb_add_batch(f, &A_BATCH(1, &h, NULL, &start), NULL));
            for (uint64_t age = 0; age < r->window; age += 1 + age / 50) {
                OK(eb_advance(f, start + age, NULL));
                const double share = count_of(f, 0) / g_of(r, age) - 1;
                HOLDS(share >= -1e-12 && share <= r->excess + 1e-4);
                most = fmax(most, share);
            }
            OK(eb_advance(f, start + 2 * r->window, NULL));
            HOLDS(count_of(f, 0) == 0);
            eb_free(f);
        }
        HOLDS(most > r->excess / 2);
    }
}

static void idle_filters_come_to_zero(void **state) {
    (void)state;
    for (size_t i = 0; i < SUITE_COUNT(runs); i++) {
        char spec[200];
        const run r = with_period(&runs[i], spec);
        eb_filter *const f = suite_filled(r.spec, 2000, 3);
        const uint64_t now = stats_of(f).clock;
        suite_at("%s", r.spec);
        HOLDS(stats_of(f).cells_used > 0);
        OK(eb_advance(f, now + 2 * r.window * PERIOD, NULL));
        HOLDS(stats_of(f).cells_used == 0 && stats_of(f).fpr == 0);
        for (uint64_t key = 0; key < 100; key++) HOLDS(count_of(f, key) == 0);
        eb_free(f);
    }
}

/* An add writes k records, whatever time has passed; passing time writes none. */
static void time_costs_nothing(void **state) {
    (void)state;
    static const uint64_t epochs[] = {0, 1, 2, 27, 28, 60, 1000, 1000000000};
    for (size_t i = 0; i < SUITE_COUNT(epochs); i++) {
        eb_filter *const f = suite_filled("aging:memory=64K,period=20", 3000, 6);
        const size_t bytes = ebi_bytes(f);
        const uint64_t now = stats_of(f).clock + 20 * epochs[i], stride = 64;
        uint8_t *const before = malloc(bytes);
        HOLDS(before != NULL);
        memcpy(before, f->block, bytes);
        OK(eb_advance(f, now, NULL));
        HOLDS(memcmp(before + 64, f->block + 64, bytes - 64) == 0);
        const eb_hash h = key_of(1);
        OK(eb_add_batch(f, &A_BATCH(1, &h, NULL, &now), NULL));
        size_t changed = 0;
        for (size_t at = 128; at + stride <= bytes; at += stride)
            changed += memcmp(before + at, f->block + at, stride) != 0;
        HOLDS(changed > 0 && changed <= 4);
        HOLDS(epochs[i] < 28 || stats_of(f).cells_used == 4);
        free(before);
        eb_free(f);
    }
}

/* A key that comes once a tick has the rate 1, by every function of age. */
static void normalised_counts_are_rates(void **state) {
    (void)state;
    for (size_t i = 0; i < SUITE_COUNT(runs); i++) {
        char spec[200];
        (void)snprintf(spec, sizeof spec, "%s,period=10", runs[i].spec);
        suite_at("%s", spec);
        eb_filter *const f = suite_new(spec);
        const uint64_t end = 10 * runs[i].window + 9;
        for (uint64_t t = 0; t <= end; t++) {
            const eb_hash h = key_of(0);
            OK(eb_add_batch(f, &A_BATCH(1, &h, NULL, &t), NULL));
        }
        const double rate = count_of(f, 0) * eb_faded(f, 1);
        HOLDS(rate >= 1 - 1e-5 && rate <= (1 + runs[i].excess) * (1 + 1e-5));
        NEAR(eb_faded(f, 30), 30 * eb_faded(f, 1), 1e-12);
        eb_free(f);
    }
}

/* Sums of minima err less than minima of sums: the same stream in one bucket. */
static void a_sum_of_minima_errs_less(void **state) {
    (void)state;
    eb_filter *const ring = suite_new("aging:cells=512,epochs=8,period=1000");
    eb_filter *const one = suite_new("aging:cells=512,epochs=1,period=8000");
    uint64_t random = 5;
    double sums[2] = {0, 0};
    for (uint64_t i = 0; i < 8000; i++) {
        const eb_hash h = key_of(suite_below(&random, 2000));
        OK(eb_add_batch(ring, &A_BATCH(1, &h, NULL, &i), NULL));
        OK(eb_add_batch(one, &A_BATCH(1, &h, NULL, &i), NULL));
    }
    for (uint64_t key = 0; key < 2000; key++) {
        sums[0] += count_of(ring, key);
        sums[1] += count_of(one, key);
    }
    HOLDS(sums[0] < 0.9 * sums[1] && sums[0] >= 8000);
    eb_free(ring);
    eb_free(one);
}

/* The sum over epochs of the least of a key's counters, from an array of all of them.  Counters
 * stay below 1024, so that closed ones are exact. */
enum { PLAIN_CELLS = 100, PLAIN_WINDOW = 11 };
typedef struct plain {
    uint64_t k;
    uint64_t came[PLAIN_CELLS][PLAIN_WINDOW]; /* by epoch modulo the window */
} plain;

static uint64_t *plain_counter(plain *t, eb_hash h, uint64_t i, uint64_t epoch) {
    const uint64_t first = PLAIN_CELLS * i / t->k, end = PLAIN_CELLS * (i + 1) / t->k;
    for (uint64_t j = 0; j < i; j++) h = eb_next(h);
    return &t->came[first + eb_scale(h, end - first)][epoch % PLAIN_WINDOW];
}

static double plain_count(plain *t, eb_hash h) {
    double sum = 0;
    for (uint64_t epoch = 0; epoch < PLAIN_WINDOW; epoch++) {
        uint64_t least = UINT64_MAX;
        for (uint64_t i = 0; i < t->k; i++) least = ebi_min(least, *plain_counter(t, h, i, epoch));
        sum += (double)least;
    }
    return sum;
}

static void counts_are_sums_of_minima(void **state) {
    (void)state;
    for (uint64_t k = 1; k <= 5; k++) {
        char spec[100];
        plain t = {.k = k};
        uint64_t random = k, epoch = 1;
        (void)snprintf(spec, sizeof spec, "aging:cells=%d,epochs=%d,period=1,k=%llu", PLAIN_CELLS,
                       PLAIN_WINDOW, (unsigned long long)k);
        suite_at("%s", spec);
        eb_filter *const f = suite_new(spec);
        for (int n = 0; n < 5000; n++) {
            const bool passes = suite_below(&random, 20) == 0;
            epoch += passes;
            for (size_t i = 0; passes && i < PLAIN_CELLS; i++) t.came[i][epoch % PLAIN_WINDOW] = 0;
            const eb_hash h = key_of(suite_below(&random, 60));
            const uint64_t value = 1 + suite_below(&random, 6);
            OK(eb_add_batch(f, &A_BATCH(1, &h, &value, &epoch), NULL));
            for (uint64_t i = 0; i < k; i++) *plain_counter(&t, h, i, epoch) += value;
            const uint64_t asked = suite_below(&random, 60);
            HOLDS(count_of(f, asked) == plain_count(&t, key_of(asked)));
        }
        eb_free(f);
    }
}

/* Different keys, one a tick: counters in use and the rate of fresh keys that are seen, in runs
 * with other keys. */
static void prediction_holds(const char *spec, double n) {
    enum { RUNS = 25 };
    const eb_workload load = {.size = sizeof load, .items = n};
    eb_prediction p = {.size = sizeof p};
    double fill[2] = {0, 0}, fpr[2] = {0, 0}; /* sums and sums of squares */
    suite_at("%s", spec);
    OK(eb_predict(spec, &load, NULL, 1, &p, NULL));
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        eb_filter *const f = suite_new(spec);
        for (uint64_t i = 0; i < (uint64_t)n; i++) {
            const eb_hash h = key_of(seed << 32 | i);
            OK(eb_add_batch(f, &A_BATCH(1, &h, NULL, NULL), NULL));
        }
        const eb_stats s = stats_of(f);
        fill[0] += s.fill / RUNS;
        fill[1] += s.fill * s.fill / RUNS;
        fpr[0] += s.fpr / RUNS;
        fpr[1] += s.fpr * s.fpr / RUNS;
        eb_free(f);
    }
    NEAR(fill[0], p.fill, 4 * sqrt((fill[1] - fill[0] * fill[0]) / (RUNS - 1)) + 0.002 * p.fill);
    NEAR(fpr[0], p.fpr, 4 * sqrt((fpr[1] - fpr[0] * fpr[0]) / (RUNS - 1)) + 0.01 * p.fpr);
}

static void predictions_agree(void **state) {
    (void)state;
    prediction_holds("aging:cells=2000,epochs=10,period=100", 1750);
    prediction_holds("aging:cells=2001,k=2,epochs=5,period=300", 4000);
    prediction_holds("aging:cells=2000,by=poly,epochs=100,period=20", 5000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_never_too_low),
        cmocka_unit_test(a_key_alone_is_counted_exactly),
        cmocka_unit_test(nothing_is_too_low),
        cmocka_unit_test(large_counts_are_right),
        cmocka_unit_test(joined_buckets_add_a_stated_share),
        cmocka_unit_test(idle_filters_come_to_zero),
        cmocka_unit_test(time_costs_nothing),
        cmocka_unit_test(normalised_counts_are_rates),
        cmocka_unit_test(a_sum_of_minima_errs_less),
        cmocka_unit_test(counts_are_sums_of_minima),
        cmocka_unit_test(predictions_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
