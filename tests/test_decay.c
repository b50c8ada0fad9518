/* test_decay.c - time-decaying filters: lazy fading against a sweep, counts against
 * the exact decayed counts, the two modes of the paper against each other, what
 * happens when there is no room, and that time costs nothing.
 *
 * EVERBLOOM_TEST_EVENTS=10000000 makes each random stream that long. */
#include "decay_help.h"
#include "model.h"
#include <math.h>

/* Key 0 comes in half of all arrivals, key 1 in a quarter, ...; or uniformly. */
static uint64_t draw_key(uint64_t *random, uint64_t keys) {
    if (suite_below(random, 2) == 0) return suite_below(random, keys);
    const uint64_t bits = suite_random(random) | UINT64_C(1) << 63;
    return ebi_min((uint64_t)ebi_ctz(bits), keys - 1);
}

static uint64_t draw_gap(uint64_t *random) {
    switch (suite_below(random, 100)) {
    case 0:
        return suite_below(random, 400);
    case 1:
        return 63;
    default:
        return suite_below(random, 3);
    }
}

/* Lazy equals swept */

static void cells_equal(const eb_filter *f, const model *m) {
    const ebi_decay d = opened(f);
    const uint64_t era = era_of(f);
    for (uint64_t line = 0; line < d.lines; line++)
        for (uint64_t slot = 0; slot < d.each; slot++)
            HOLDS(ebi_decay_get(&d, line << EBI_SLOT_BITS | slot, era) ==
                  model_cell(m, line << EBI_SLOT_BITS | slot));
}

static const char *const swept[] = {
    "decay:cells=1120,halflife=50",
    "decay:cells=1120,halflife=700,update=conservative",
    "decay:cells=448,k=2,halflife=20000",
    "decay:cells=448,k=2,halflife=3.7,update=conservative",
    "decay:cells=600,mode=basic,factor=0.9,period=10",
    "decay:cells=600,mode=basic,factor=0.999,period=1,update=conservative",
    "decay:cells=600,mode=basic,factor=0.5,period=3.5,fraction=1",
    "decay:cells=600,mode=optimised,large=8000,factor=0.9,period=10",
    "decay:cells=600,mode=optimised,large=8000,factor=0.3,period=1,fraction=0",
    "decay:cells=600,mode=optimised,large=8000,factor=0.95,period=5,update=conservative",
};

static void lazy_is_swept(const char *text) {
    char spec[EB_SPEC_MAX];
    eb_filter *const f = suite_new(text);
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(f));
    model *const m = model_new(spec);
    uint64_t random = 1, time = 0;
    suite_at("%s", text);
    for (int i = 0; i < 6000; i++) {
        const eb_hash h = key_of(draw_key(&random, 300));
        const uint32_t value = 1 + (uint32_t)suite_below(&random, 3);
        time += draw_gap(&random);
        OK(add_at(f, h, value, time));
        (void)model_add(m, h, value, time);
        if (i % 500 == 0) cells_equal(f, m);
    }
    cells_equal(f, m);
    HOLDS(stats_of(f).saturated == 0 && stats_of(f).cells_used > 0);
    model_free(m);
    eb_free(f);
}

static void lazy_fading_equals_a_sweep(void **state) {
    (void)state;
    for (size_t i = 0; i < SUITE_COUNT(swept); i++) lazy_is_swept(swept[i]);
}

/* The same filter, with all its lines brought up to date whenever time passes. */
static void freshening_changes_no_counter(void **state) {
    (void)state;
    for (size_t s = 0; s < SUITE_COUNT(swept); s++) {
        const char *const text = swept[s];
        eb_filter *const lazy = suite_new(text), *const busy = suite_new(text);
        const ebi_decay d = opened(busy), e = opened(lazy);
        uint64_t random = 2, time = 0;
        suite_at("%s", text);
        for (int i = 0; i < 3000; i++) {
            const eb_hash h = key_of(draw_key(&random, 300));
            time += draw_gap(&random);
            OK(eb_advance(busy, time, NULL));
            for (uint64_t line = 0; line < d.lines; line++)
                ebi_decay_freshen(&d, line, era_of(busy));
            OK(add_at(busy, h, 1, time));
            OK(add_at(lazy, h, 1, time));
        }
        for (uint64_t line = 0; line < d.lines; line++) {
            ebi_decay_freshen(&d, line, era_of(busy));
            ebi_decay_freshen(&e, line, era_of(lazy));
        }
        HOLDS(memcmp(d.state, e.state, sizeof(uint64_t) * 3) == 0);
        HOLDS(d.mode == EBI_DECAY_OPTIMISED || memcmp(d.line, e.line, d.lines * EBI_LINE) == 0);
        eb_free(lazy);
        eb_free(busy);
    }
}

/* Never too low: exact decayed counts */

enum { KEYS = 2000 };
typedef struct truth { /* of each key, as of its last arrival */
    long double count[KEYS];
    uint64_t since[KEYS];
    long double halflife, factor, period; /* period 0: fades all the time */
} truth;

static long double left_after(const truth *t, uint64_t then, uint64_t now) {
    if (t->period == 0) return exp2l(-(long double)(now - then) / t->halflife);
    const long double periods =
        floorl((long double)now / t->period) - floorl((long double)then / t->period);
    return powl(t->factor, periods);
}

static long double truth_at(const truth *t, uint64_t key, uint64_t now) {
    return t->count[key] * left_after(t, t->since[key], now);
}

static void truth_add(truth *t, uint64_t key, uint32_t value, uint64_t now) {
    t->count[key] = truth_at(t, key, now) + value;
    t->since[key] = now;
}

static void not_too_low(const eb_filter *f, const truth *t, uint64_t key, uint64_t now,
                        double epsilon) {
    const double low = (double)(truth_at(t, key, now) * (1 - 1 / 32768.0L)) - epsilon;
    const double count = count_of(f, key_of(key));
    if (count >= low) return;
    print_error("key %llu at %llu: %.9f, at least %.9f\n", (unsigned long long)key,
                (unsigned long long)now, count, low);
    fail();
}

static uint64_t events(void) { /* of each run */
    const char *const wish = getenv("EVERBLOOM_TEST_EVENTS");
    return wish ? strtoull(wish, NULL, 10) : 70000;
}

static void run_against_truth(const char *text, uint64_t n, long double factor,
                              long double period) {
    eb_filter *const f = suite_new(text);
    truth *const t = model_zeros(1, sizeof *t);
    const double epsilon = stats_of(f).too_low;
    uint64_t random = 3, now = 0;
    suite_at("%s", text);
    t->halflife = (long double)stats_of(f).halflife;
    t->factor = factor;
    t->period = period;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t key = draw_key(&random, KEYS), other = suite_below(&random, KEYS);
        const uint32_t value = suite_below(&random, 50) == 0 ? 200 : 1;
        now += suite_below(&random, 2000) == 0 ? 20000 : suite_below(&random, 3);
        OK(add_at(f, key_of(key), value, now));
        truth_add(t, key, value, now);
        if (i % 8 == 0) not_too_low(f, t, key, now, epsilon);
        if (i % 8 == 4) not_too_low(f, t, other, now, epsilon);
    }
    for (uint64_t key = 0; key < KEYS; key++) not_too_low(f, t, key, now, epsilon);
    free(t);
    eb_free(f);
}

static void counts_are_never_too_low(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        long double factor, period;
    } runs[] = {
        {"decay:memory=16K,halflife=1000", 0, 0},
        {"decay:memory=2K,halflife=3000", 0, 0}, /* most counters are joined */
        {"decay:memory=2K,halflife=200000,update=conservative", 0, 0},
        {"decay:memory=16K,halflife=33.25,update=conservative", 0, 0},
        {"decay:memory=32K,mode=basic,factor=0.9,period=100", 0.9L, 100},
        {"decay:memory=32K,mode=basic,factor=0.99,period=7,update=conservative", 0.99L, 7},
        {"decay:memory=16K,mode=basic,fraction=0,factor=0.5,period=1000", 0.5L, 1000},
        {"decay:memory=64K,mode=optimised,factor=0.95,period=50", 0.95L, 50},
        {"decay:memory=64K,mode=optimised,factor=0.9,period=500,update=conservative", 0.9L, 500},
        {"decay:memory=32K,mode=optimised,large=100,factor=0.9,period=500", 0.9L, 500},
    };
    for (size_t i = 0; i < SUITE_COUNT(runs); i++)
        run_against_truth(runs[i].spec, events(), runs[i].factor, runs[i].period);
}

/* One key has its counters for itself: what rounding alone adds. */
static void rounding_adds_little(void **state) {
    (void)state;
    eb_filter *const f = suite_new("decay:memory=4K,halflife=100");
    truth *const t = model_zeros(1, sizeof *t);
    const double ulp = ldexp(1, -4);
    uint64_t random = 4, now = 0;
    t->halflife = 100;
    for (int i = 0; i < 20000; i++) {
        now += suite_below(&random, 8);
        OK(add_at(f, key_of(0), 1, now));
        truth_add(t, 0, 1, now);
        const double exact = (double)truth_at(t, 0, now), count = count_of(f, key_of(0));
        HOLDS(count <= exact * (1 + ulp + 1 / 16384.0) + 2 * ulp);
        HOLDS(count >= exact * (1 - 1 / 32768.0));
    }
    free(t);
    eb_free(f);
}

/* 2^f between two 64ths is on the straight line between them, rounded up: at every place of an era,
 * an arrival counts no less than that and at most a unit more. */
static void weights_are_rounded_up(void **state) {
    (void)state;
    enum { TICKS = 1 << 20, STEP = TICKS / 64 };
    eb_filter *const f = suite_new("decay:memory=4K,halflife=1048576");
    const ebi_decay d = opened(f);
    for (uint64_t t = 1, i = 0; t < TICKS;
         t++, i = (t + 1) / STEP) { /* a place is known to a tick */
        const long double from = exp2l((long double)i / 64), rise = exp2l(1 / 64.0L) - 1;
        const long double within = (long double)((t + 1) % STEP) / STEP;
        const long double exact = ldexpl(from * (1 + rise * within), EBI_SOFT_FRACTION);
        const uint64_t weight = ebi_decay_weight(&d, ebi_decay_moment(&d, t), 1);
        if ((long double)weight >= exact && (long double)weight < exact + 1.001L) continue;
        fail_msg("at %llu: %llu for %.9Lf", (unsigned long long)t, (unsigned long long)weight,
                 exact);
    }
    eb_free(f);
}

/* So are those of half-lives whose ticks do not all have a place of their own, which are cut to
 * 2^-20 of an era. */
static void weights_of_long_half_lives_are_near(void **state) {
    (void)state;
    static const char *const halflives[] = {"9000000", "1e10", "8e12"};
    for (size_t i = 0; i < SUITE_COUNT(halflives); i++) {
        char spec[60];
        (void)snprintf(spec, sizeof spec, "decay:memory=4K,halflife=%s", halflives[i]);
        eb_filter *const f = suite_new(spec);
        const ebi_decay d = opened(f);
        const uint64_t halflife = (uint64_t)strtod(halflives[i], NULL);
        for (uint64_t part = 0; part < 1000; part++) {
            const uint64_t now = halflife / 1000 * part + part;
            const double exact = ldexp(exp2((double)now / (double)halflife), EBI_SOFT_FRACTION);
            const double weight = (double)ebi_decay_weight(&d, ebi_decay_moment(&d, now), 1);
            suite_at("%s at %llu: %g, not %g", spec, (unsigned long long)now, weight, exact);
            HOLDS(weight >= exact && weight <= exact * (1 + 0x1p-15) + 1);
        }
        eb_free(f);
    }
}

/* The modes of the paper */

static void optimised_counters_equal_basic_ones(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"decay:mode=basic,cells=60000,fraction=0,factor=0.9,period=3000",
         "decay:mode=optimised,cells=60000,large=100000,fraction=0,factor=0.9,period=3000"},
        {"decay:mode=basic,cells=60000,fraction=4,factor=0.5,period=3000",
         "decay:mode=optimised,cells=60000,large=100000,fraction=4,factor=0.5,period=3000"},
    };
    for (size_t p = 0; p < SUITE_COUNT(pairs); p++) {
        eb_filter *const basic = suite_new(pairs[p][0]), *const digits = suite_new(pairs[p][1]);
        const ebi_decay a = opened(basic), b = opened(digits);
        uint64_t random = 5;
        for (uint64_t epoch = 0; epoch < 30; epoch++) {
            for (int i = 0; i < 3000; i++) {
                const eb_hash h = key_of(draw_key(&random, 20000));
                OK(add_at(basic, h, 1, epoch * 3000));
                OK(add_at(digits, h, 1, epoch * 3000));
            }
            for (uint64_t line = 0; line < a.lines; line++)
                for (uint64_t place = line << EBI_SLOT_BITS; place < (line << EBI_SLOT_BITS) + 15;
                     place++)
                    HOLDS(ebi_decay_get(&a, place, epoch) == ebi_decay_get(&b, place, epoch));
        }
        HOLDS(stats_of(digits).saturated == 0 && b.state->used > 0);
        HOLDS(count_of(basic, key_of(0)) > 255); /* three digits at least */
        eb_free(basic);
        eb_free(digits);
    }
}

/* No room */

static void a_full_pool_saturates_whole_counters(void **state) {
    (void)state;
    eb_filter *const f = suite_new("decay:mode=optimised,cells=75,k=1,fraction=0,large=3,"
                                   "factor=0.5,period=1000");
    const ebi_decay d = opened(f);
    OK(add_at(f, key_of(1), 4095, 0)); /* fff: two digits of the pool */
    HOLDS(d.state->used == 2 && count_of(f, key_of(1)) == 4095);
    uint64_t other = 2;
    while (count_of(f, key_of(other)) > 0) other++;
    OK(add_at(f, key_of(other), 255, 0)); /* the third */
    HOLDS(d.state->used == 3 && d.state->saturated == 0);
    OK(add_at(f, key_of(1), 1, 0)); /* would be 1000: every digit carries, none is free */
    HOLDS(d.state->saturated == 1 && count_of(f, key_of(1)) >= 4096);
    HOLDS(d.state->used == 1 && count_of(f, key_of(other)) == 255);
    OK(add_at(f, key_of(other), 1, 0)); /* 100: its digits came back */
    HOLDS(d.state->used == 2 && count_of(f, key_of(other)) == 256);
    OK(add_at(f, key_of(1), 1, 0));
    HOLDS(stats_of(f).saturated == 1);
    HOLDS(f->kind->check(&f->p, f->block, NULL) == EB_OK);
    eb_free(f);
}

static void saturated_counters_stay_so(void **state) {
    (void)state;
    eb_filter *const f = suite_new("decay:mode=basic,cells=75,k=1,fraction=0,factor=0.5,period=10");
    OK(add_at(f, key_of(1), UINT32_MAX - 1, 0));
    HOLDS(stats_of(f).saturated == 0 && count_of(f, key_of(1)) == UINT32_MAX - 1.0);
    OK(add_at(f, key_of(1), 1, 0));
    HOLDS(stats_of(f).saturated == 1 && count_of(f, key_of(1)) >= 4294967295.0);
    OK(eb_advance(f, 1000, NULL));
    OK(add_at(f, key_of(1), 1, 1000));
    HOLDS(stats_of(f).saturated == 1 && count_of(f, key_of(1)) >= 4294967295.0);
    HOLDS(f->kind->check(&f->p, f->block, NULL) == EB_OK);
    eb_free(f);
}

/* Time */

static void idle_filters_come_to_zero(void **state) {
    (void)state;
    for (size_t i = 0; i < SUITE_COUNT(swept); i++) {
        eb_filter *const f = suite_new(swept[i]);
        suite_at("%s", swept[i]);
        for (uint64_t j = 0; j < 500; j++) OK(add_at(f, key_of(j % 100), 3, 0));
        HOLDS(stats_of(f).cells_used > 0);
        OK(eb_advance(f, 1000000, NULL));
        HOLDS(stats_of(f).cells_used == 0 && stats_of(f).fpr == 0);
        for (uint64_t j = 0; j < 100; j++) HOLDS(count_of(f, key_of(j)) == 0);
        eb_free(f);
    }
}

static uint64_t lines_changed(const ebi_decay *d, const uint8_t *before) {
    uint64_t n = 0;
    for (uint64_t line = 0; line < d->lines; line++)
        n += memcmp(d->line + line * EBI_LINE, before + line * EBI_LINE, EBI_LINE) != 0;
    return n;
}

/* An add writes k lines, whatever time has passed; passing time writes none. */
static void time_costs_nothing(void **state) {
    (void)state;
    static const uint64_t eras[] = {0, 1, 2, 43, 44, 45, 1000, 500000000, 3000000000};
    static const char *const specs[] = {"decay:memory=64K,halflife=20",
                                        "decay:memory=64K,mode=basic,factor=0.5,period=20"};
    for (size_t i = 0; i < 2 * SUITE_COUNT(eras); i++) {
        const uint64_t passed = eras[i / 2];
        if (i % 2 == 0 && passed >= UINT64_C(1) << 29) continue; /* then all lines are swept */
        eb_filter *const f = suite_filled(specs[i % 2], 3000, 6);
        const ebi_decay d = opened(f);
        uint8_t *const before = malloc(d.lines * EBI_LINE);
        HOLDS(before != NULL);
        const uint64_t now = ebi_head_of(f->block)->clock + 20 * passed;
        memcpy(before, d.line, d.lines * EBI_LINE);
        OK(eb_advance(f, now, NULL));
        HOLDS(lines_changed(&d, before) == 0);
        OK(add_at(f, key_of(1), 1, now));
        HOLDS(lines_changed(&d, before) <= d.k && lines_changed(&d, before) > 0);
        HOLDS(passed < 45 || (stats_of(f).cells_used == d.k && count_of(f, key_of(1)) >= 1));
        free(before);
        eb_free(f);
    }
}

/* Jumps that stamps of 29 bits cannot hold, by hand and against the same stream
 * from time 0. */
static void stamps_do_not_wrap(void **state) {
    (void)state;
    static const uint64_t starts[] = {(UINT64_C(1) << 29) - 2, UINT64_C(1) << 30, UINT64_C(1) << 31,
                                      (UINT64_C(1) << 32) - 2, UINT64_C(1) << 32, UINT64_C(1) << 33,
                                      UINT64_C(1) << 62};
    for (size_t i = 0; i < SUITE_COUNT(starts); i++) {
        eb_filter *const f = suite_new("decay:memory=4K,halflife=1");
        eb_filter *const zero = suite_new("decay:memory=4K,halflife=1");
        uint64_t random = 7, time = 0;
        OK(add_at(f, key_of(0), 1000, 1));
        HOLDS(count_of(f, key_of(0)) == 1000);
        for (int j = 0; j < 2000; j++) {
            const eb_hash h = key_of(draw_key(&random, 100));
            time += draw_gap(&random);
            OK(add_at(f, h, 1, starts[i] + time));
            OK(add_at(zero, h, 1, time));
            HOLDS(count_of(f, h) == count_of(zero, h));
            HOLDS(j % 100 != 0 || f->kind->check(&f->p, f->block, NULL) == EB_OK);
        }
        HOLDS(stats_of(f).cells_used == stats_of(zero).cells_used);
        OK(eb_advance(f, UINT64_MAX, NULL));
        HOLDS(stats_of(f).cells_used == 0);
        OK(add_at(f, key_of(3), 2, UINT64_MAX));
        HOLDS(count_of(f, key_of(3)) == 2 && count_of(f, key_of(0)) == 0);
        eb_free(f);
        eb_free(zero);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lazy_fading_equals_a_sweep),
        cmocka_unit_test(freshening_changes_no_counter),
        cmocka_unit_test(counts_are_never_too_low),
        cmocka_unit_test(rounding_adds_little),
        cmocka_unit_test(weights_are_rounded_up),
        cmocka_unit_test(weights_of_long_half_lives_are_near),
        cmocka_unit_test(optimised_counters_equal_basic_ones),
        cmocka_unit_test(a_full_pool_saturates_whole_counters),
        cmocka_unit_test(saturated_counters_stay_so),
        cmocka_unit_test(idle_filters_come_to_zero),
        cmocka_unit_test(time_costs_nothing),
        cmocka_unit_test(stamps_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
