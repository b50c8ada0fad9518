/* test_soft.c - counters that fade and join: no count is too low by more than the filter says,
 * whatever is added, removed and merged; and what was only designed is run here: thousands of adds
 * and removals in turn, merging, counts beyond 2^44.
 * EVERBLOOM_OPERATIONS=1e9 asks for that many counts in the search for low ones. */
#include "decay_help.h"
#include "model.h"
#include <math.h>

enum { KEYS = 1500, BATCH = 64, ASKED = 512 };

static double operations(double usual) {
    const char *const wanted = getenv("EVERBLOOM_OPERATIONS");
    return wanted ? strtod(wanted, NULL) : usual;
}

typedef struct truth { /* of each key, what is left of its arrivals at time 0 */
    double halflife, count[KEYS];
} truth;

static double weight_at(const truth *t, uint64_t time) {
    return exp2((double)time / t->halflife);
}

/* Times are counted from the last change of scale, so that weights stay numbers. */
static void rescale(truth *t, double factor) {
    for (size_t i = 0; i < KEYS; i++) t->count[i] *= factor;
}

static void none_is_too_low(const eb_filter *f, const double *count, double weight,
                            const eb_hash *hash, size_t n) {
    static double got[KEYS];
    const ebi_decay d = opened(f);
    const double epsilon = ebi_decay_epsilon(&d);
    calls_count(f, hash, n, got);
    for (size_t i = 0; i < n; i++) {
        const double low = count[i] / weight * (1 - 1 / 32768.0) - epsilon;
        if (got[i] >= low) continue;
        print_error("key %zu: %.9f, at least %.9f\n", i, got[i], low);
        fail();
    }
}

/* The i-th key comes half as often as the one before, or any key does. */
static size_t draw_key(uint64_t *random) {
    if (suite_below(random, 2) == 0) return suite_below(random, KEYS);
    return (size_t)ebi_ctz(suite_random(random) | UINT64_C(1) << 20);
}

/* A stream in which a fifth of the arrivals is taken back later, and which is counted in one filter
 * and, dealt out, in two. */
typedef struct course {
    eb_filter *one, *half[2];
    truth all;
    uint64_t random, time, scale; /* scale: when rescaled last */
    eb_hash hash[KEYS];
    struct {
        size_t key;
        uint64_t value, time;
        int half;
    } back[256]; /* to be taken back */
    size_t waiting;
    bool removes;
} course;

static void course_open(course *c, const char *spec, bool removes) {
    *c = (course){.random = 5, .removes = removes};
    c->one = suite_new(spec);
    c->half[0] = suite_new(spec);
    c->half[1] = suite_new(spec);
    c->all.halflife = stats_of(c->one).halflife;
    for (size_t i = 0; i < KEYS; i++) c->hash[i] = key_of(i);
}

static void course_close(course *c) {
    eb_free(c->one);
    eb_free(c->half[0]);
    eb_free(c->half[1]);
}

static double course_weight(course *c) {
    const double passed = (double)(c->time - c->scale) / c->all.halflife;
    if (passed > 60) {
        rescale(&c->all, exp2(-passed));
        c->scale = c->time;
    }
    return weight_at(&c->all, c->time - c->scale);
}

static void course_add(course *c) {
    const size_t key = draw_key(&c->random);
    const uint64_t value = suite_below(&c->random, 40) == 0 ? 300 : 1;
    const int half = (int)suite_below(&c->random, 2);
    c->time += suite_below(&c->random, 3000) == 0 ? 5000 : suite_below(&c->random, 3);
    c->all.count[key] += course_weight(c) * (double)value;
    OK(add_at(c->one, c->hash[key], value, c->time));
    OK(add_at(c->half[half], c->hash[key], value, c->time));
    if (c->removes && c->waiting < SUITE_COUNT(c->back) && suite_below(&c->random, 5) == 0) {
        c->back[c->waiting].key = key;
        c->back[c->waiting].value = value;
        c->back[c->waiting].half = half;
        c->back[c->waiting++].time = c->time;
    }
}

static void course_take_back(course *c) {
    if (c->waiting == 0 || suite_below(&c->random, 5) > 0) return;
    const size_t i = suite_below(&c->random, c->waiting);
    const eb_batch one = A_BATCH(1, &c->hash[c->back[i].key], &c->back[i].value, &c->back[i].time);
    const double then = (double)c->back[i].time - (double)c->scale;
    double *const left = &c->all.count[c->back[i].key];
    OK(eb_remove_batch(c->one, &one, NULL));
    OK(eb_remove_batch(c->half[c->back[i].half], &one, NULL));
    *left = fmax(0, *left - (double)c->back[i].value * exp2(then / c->all.halflife));
    c->back[i] = c->back[--c->waiting];
}

static void course_merge(const course *c, double weight) {
    eb_filter *both;
    OK(eb_clone(&both, c->half[0], NULL, NULL));
    OK(eb_merge(both, c->half[1], 1, NULL));
    OK(eb_advance(both, c->time, NULL));
    none_is_too_low(both, c->all.count, weight, c->hash, KEYS);
    HOLDS(both->kind->check(&both->p, both->block, NULL) == EB_OK);
    eb_free(both);
}

static void run(const char *spec, double checks) {
    course c;
    suite_at("%s", spec);
    course_open(&c, spec, !strstr(spec, "conservative"));
    for (double done = 0, step = 0; done < checks; done += ASKED, step++) {
        const size_t from = suite_below(&c.random, KEYS - ASKED);
        for (int i = 0; i < BATCH; i++) {
            course_add(&c);
            if (c.removes) course_take_back(&c);
        }
        const double weight = course_weight(&c);
        none_is_too_low(c.one, c.all.count + from, weight, c.hash + from, ASKED);
        if (c.removes && fmod(step, 200) == 0) course_merge(&c, weight);
    }
    HOLDS(c.one->kind->check(&c.one->p, c.one->block, NULL) == EB_OK);
    HOLDS(stats_of(c.one).saturated == 0);
    course_close(&c);
}

/* From nearly empty to so full that most counters have joined. */
static void nothing_is_too_low(void **state) {
    (void)state;
    SUITE_LONG();
    static const char *const specs[] = {
        "decay:memory=2K,halflife=900",
        "decay:memory=8K,halflife=20000",
        "decay:memory=64K,halflife=900",
        "decay:memory=2K,halflife=900,update=conservative",
        "decay:memory=8K,halflife=20000,update=conservative",
        "decay:memory=64K,halflife=77.7,update=conservative",
    };
    for (size_t i = 0; i < SUITE_COUNT(specs); i++)
        run(specs[i], operations(1e7) / SUITE_COUNT(specs));
}

/* A key that has its counters for itself: they join as it grows, and fall apart as it fades. */
static void large_counts_are_right(void **state) {
    (void)state;
    eb_filter *const f = suite_new("decay:memory=4K,halflife=1000");
    double sum = 0;
    for (int i = 0; i < 70000; i++) OK(add_at(f, key_of(1), 1, 0));
    HOLDS(count_of(f, key_of(1)) == 70000);
    sum = 70000;
    for (int i = 0; i < 50000; i++, sum += UINT32_MAX)
        OK(add_at(f, key_of(1), UINT32_MAX, 0)); /* beyond 2^47 */
    HOLDS(count_of(f, key_of(1)) >= sum && count_of(f, key_of(1)) <= sum * (1 + 1e-9));
    HOLDS(stats_of(f).saturated == 0);
    for (uint64_t era = 1; era < 52; era++) {
        OK(eb_advance(f, 1000 * era, NULL));
        const double left = ldexp(sum, -(int)era), count = count_of(f, key_of(1));
        HOLDS(count >= left - 0.125 && count <= left * (1 + 1e-9) + 0.125);
    }
    OK(add_at(f, key_of(2), 1, 60000)); /* in other lines, or not: the first is gone */
    HOLDS(count_of(f, key_of(1)) == 0 && count_of(f, key_of(2)) == 1);
    for (int i = 0; i < 140000; i++) OK(add_at(f, key_of(1), UINT32_MAX, 60000));
    HOLDS(stats_of(f).saturated > 0); /* 2^49 is the most, and is told */
    eb_free(f);
}

/* After everything was taken back, nothing is left. */
static void cycles_leave_nothing(void **state) {
    (void)state;
    eb_filter *const f = suite_new("decay:memory=2K,halflife=1e6");
    enum { N = 300, CYCLES = 3000 };
    for (uint64_t cycle = 0; cycle < CYCLES; cycle++) {
        const uint64_t time = cycle;
        for (uint64_t i = 0; i < 20; i++)
            OK(add_at(f, key_of((cycle * 7 + i) % N), 1 + (i % 5) * 100, time));
        for (uint64_t i = 0; i < 20; i++) {
            const eb_hash h = key_of((cycle * 7 + i) % N);
            const uint64_t value = 1 + (i % 5) * 100;
            const eb_batch one = A_BATCH(1, &h, &value, &time);
            OK(eb_remove_batch(f, &one, NULL));
        }
    }
    double most = 0;
    for (uint64_t i = 0; i < N; i++) most = fmax(most, count_of(f, key_of(i)));
    /* each removal leaves what its rounding down left: less than 1/16 of an arrival */
    HOLDS(most <= CYCLES * 20.0 / 16);
    eb_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_too_low),
        cmocka_unit_test(large_counts_are_right),
        cmocka_unit_test(cycles_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
