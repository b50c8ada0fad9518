/* test_decay.c - time-decaying filters: lazy fading against a sweep, counts against
 * the exact decayed counts, the two modes of the paper against each other, what
 * happens when there is no room, and that time costs nothing.
 *
 * EVERBLOOM_TEST_EVENTS=10000000 makes each random stream that long, and memory is tried at full
 * size. */
#include "filter/decay.h"
#include "model.h"
#include "suite.h"
#include <math.h>

static eb_decay opened(const eb_filter *f) {
    return ebi_decay_open(&f->p, f->block);
}

static uint64_t era_of(const eb_filter *f) {
    const eb_decay d = opened(f);
    return ebi_decay_moment(&d, ebi_head_of(f->block)->clock).era;
}

static eb_stats stats_of(const eb_filter *f) {
    eb_stats s = {.size = sizeof s};
    eb_stat(f, &s);
    return s;
}

static double count_of(const eb_filter *f, eb_hash h) {
    double count;
    eb_count_batch(f, &h, 1, &count);
    return count;
}

static eb_status add_at(eb_filter *f, eb_hash h, uint32_t value, uint64_t time) {
    const eb_batch one = {1, &h, &value, &time};
    return eb_add_batch(f, &one, NULL);
}

static eb_hash key_of(uint64_t i) {
    return ebi_mix(i + UINT64_C(0x5eed));
}

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
    const eb_decay d = opened(f);
    const uint64_t era = era_of(f);
    for (uint64_t line = 0; line < d.lines; line++)
        for (uint64_t slot = 0; slot < d.each; slot++)
            HOLDS(ebi_decay_get(&d, line << EB_SLOT_BITS | slot, era) ==
                  model_cell(m, line << EB_SLOT_BITS | slot));
}

static const char *const swept[] = {
    "decay:cells=1200,room=400,halflife=50",
    "decay:cells=1200,room=400,halflife=50,update=conservative",
    "decay:cells=2400,room=2400,width=8,halflife=7.5",
    "decay:cells=2400,room=2400,width=8,fraction=8,halflife=31",
    "decay:cells=600,room=400,width=32,fraction=10,halflife=1",
    "decay:cells=1200,room=400,k=1,fraction=0,halflife=13.000001",
    "decay:cells=1200,room=400,factor=0.97,period=2",
    "decay:cells=4800,store=packed,halflife=50",
    "decay:cells=4800,store=packed,halflife=7.5,update=conservative",
    "decay:cells=4800,store=packed,k=2,fraction=4,halflife=31",
    "decay:cells=600,mode=basic,width=32,factor=0.9,period=10",
    "decay:cells=600,mode=basic,width=32,factor=0.999,period=1,update=conservative",
    "decay:cells=1200,mode=basic,width=16,factor=0.5,period=3.5,fraction=1",
    "decay:cells=600,mode=optimised,room=8000,factor=0.9,period=10",
    "decay:cells=600,mode=optimised,room=8000,factor=0.3,period=1,fraction=0",
    "decay:cells=600,mode=optimised,room=8000,factor=0.95,period=5,update=conservative",
};

static void lazy_is_swept(const char *text) {
    char spec[EB_SPEC_MAX];
    eb_filter *const f = suite_new(text);
    (void)eb_spec(f, spec, sizeof spec);
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

/* Packed lines that are full: coarser, and with counters in the spill table. */
static const char *const crowded[] = {
    "decay:cells=240,k=2,store=packed,room=4000,fraction=4,halflife=3000",
    "decay:cells=120,k=1,store=packed,room=4000,fraction=6,halflife=2000",
    "decay:cells=120,k=1,store=packed,room=4000,fraction=8,halflife=900,update=conservative",
};

/* The same filter, with all its lines brought up to date whenever time passes. */
static void freshening_changes_no_counter(void **state) {
    (void)state;
    for (size_t s = 0; s < SUITE_COUNT(swept) + SUITE_COUNT(crowded); s++) {
        const bool full = s >= SUITE_COUNT(swept);
        const char *const text = full ? crowded[s - SUITE_COUNT(swept)] : swept[s];
        eb_filter *const lazy = suite_new(text), *const busy = suite_new(text);
        const eb_decay d = opened(busy), e = opened(lazy);
        uint64_t random = 2, time = 0, most = 0;
        suite_at("%s", text);
        for (int i = 0; i < 3000; i++) {
            const eb_hash h = key_of(draw_key(&random, 300));
            most = ebi_max(most, d.state->used);
            time += draw_gap(&random);
            OK(eb_advance(busy, time));
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
        HOLDS(most > 0 || !full);
        HOLDS(d.mode == EB_DECAY_OPTIMISED || memcmp(d.line, e.line, d.lines * d.stride) == 0);
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
    const double epsilon = stats_of(f).epsilon;
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
        {"decay:memory=16K,halflife=33.25,update=conservative", 0, 0},
        {"decay:memory=8K,width=8,halflife=3000", 0, 0},
        {"decay:memory=8K,width=8,fraction=0,halflife=100,update=conservative", 0, 0},
        {"decay:memory=8K,store=packed,halflife=3000", 0, 0},         /* coarser lines, spills */
        {"decay:memory=4K,store=packed,room=0,halflife=20000", 0, 0}, /* saturates */
        {"decay:memory=16K,store=packed,halflife=100,update=conservative", 0, 0},
        {"decay:memory=16K,room=0,halflife=20000", 0, 0}, /* saturates */
        {"decay:memory=32K,width=32,fraction=10,factor=0.9,period=100", 0, 0},
        {"decay:memory=32K,mode=basic,width=32,factor=0.9,period=100", 0.9L, 100},
        {"decay:memory=32K,mode=basic,width=32,factor=0.99,period=7,update=conservative", 0.99L, 7},
        {"decay:memory=16K,mode=basic,width=16,fraction=0,factor=0.5,period=1000", 0.5L, 1000},
        {"decay:memory=64K,mode=optimised,factor=0.95,period=50", 0.95L, 50},
        {"decay:memory=64K,mode=optimised,factor=0.9,period=500,update=conservative", 0.9L, 500},
        {"decay:memory=32K,mode=optimised,room=100,factor=0.9,period=500", 0.9L, 500},
    };
    for (size_t i = 0; i < SUITE_COUNT(runs); i++)
        run_against_truth(runs[i].spec, events(), runs[i].factor, runs[i].period);
}

/* One key has its counters for itself: what rounding alone adds. */
static void rounding_adds_little(void **state) {
    (void)state;
    for (unsigned fraction = 2; fraction <= 10; fraction += 2) {
        char spec[100];
        (void)snprintf(spec, sizeof spec, "decay:memory=4K,fraction=%u,halflife=100", fraction);
        eb_filter *const f = suite_new(spec);
        truth *const t = model_zeros(1, sizeof *t);
        const double ulp = ldexp(1, -(int)fraction);
        uint64_t random = 4, now = 0;
        suite_at("%s", spec);
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
}

/* Memory */

typedef struct zipf {
    size_t n;
    double *up_to; /* the share of the first i + 1 keys */
} zipf;

static zipf zipf_new(size_t n, double skew) {
    zipf z = {n, model_zeros(n, sizeof *z.up_to)};
    double sum = 0;
    for (size_t i = 0; i < n; i++) z.up_to[i] = sum += pow((double)(i + 1), -skew);
    for (size_t i = 0; i < n; i++) z.up_to[i] /= sum;
    return z;
}

static uint64_t zipf_draw(const zipf *z, uint64_t *random) {
    const double x = ldexp((double)(suite_random(random) >> 11), -53);
    size_t low = 0, high = z->n - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (z->up_to[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* 5.77 counters and 4 arrivals an epoch for each of n keys, until they neither
 * grow nor fade; the paper's filter spends 16 bits on a counter. */
static void nine_bits_do(size_t n, double skew, double lambda) {
    char spec[200];
    const size_t lines = n * 5770 / (4 * 120 * 1000) + 1;
    const double halflife = log(0.5) / log(lambda);
    const uint64_t ticks = 4 * n, epochs = (uint64_t)(6 * halflife) + 6;
    (void)snprintf(spec, sizeof spec, "decay:cells=%zu,store=packed,factor=%g,period=%llu",
                   480 * lines, lambda, (unsigned long long)ticks);
    eb_filter *const f = suite_new(spec);
    const zipf z = zipf_new(n, skew);
    uint64_t random = 10;
    suite_at("skew %g, %s", skew, spec);
    for (uint64_t i = 0; i < epochs * ticks; i += 64) {
        eb_hash h[64];
        uint64_t time[64];
        for (uint64_t j = 0; j < 64; j++) {
            h[j] = key_of(zipf_draw(&z, &random));
            time[j] = (i + j) / ticks * ticks;
        }
        OK(eb_add_batch(f, &(eb_batch){64, h, NULL, time}, NULL));
    }
    const eb_stats s = stats_of(f);
    HOLDS(s.saturated == 0);
    HOLDS(8 * (double)f->p.span <= 9.0 * (double)s.cells + 8 * 256);
    free(z.up_to);
    eb_free(f);
}

static void packed_counters_take_nine_bits(void **state) {
    (void)state;
    static const double rows[][2] = {{0.8, 0.5}, {0.8, 0.9}, {0.8, 0.95}, {1, 0.5},
                                     {1, 0.8},   {1, 0.95},  {1.2, 0.9},  {1.2, 0.95}};
    const size_t n = getenv("EVERBLOOM_TEST_EVENTS") ? 50000 : 4000;
    for (size_t i = 0; i < SUITE_COUNT(rows); i++) nine_bits_do(n, rows[i][0], rows[i][1]);
}

/* Predictions: an endless stream of different keys, one a tick, looked at in all phases of an era.
 * Keys that never came are asked for: what they count is what others add. */

enum { PHASES = 16, PROBES = 2000, REPEATS = 4 };

typedef struct sample {
    double sum, squares, n;
} sample;

static void sample_add(sample *s, double x) {
    s->sum += x;
    s->squares += x * x;
    s->n++;
}

static void sample_agrees(const sample *s, double expected, double bias) {
    const double mean = s->sum / s->n;
    const double error = sqrt(fmax(0, s->squares / s->n - mean * mean) / (s->n - 1));
    NEAR(mean, expected, 4 * error + bias * expected + 0.0005);
}

static void look_around(const eb_filter *f, uint64_t *fresh, sample *fill, sample *fpr,
                        double *squares) {
    double hits = 0;
    for (int i = 0; i < PROBES; i++) {
        const double count = count_of(f, key_of(--*fresh));
        hits += count > 0;
        *squares += count * count / PROBES;
    }
    sample_add(fpr, hits / PROBES);
    sample_add(fill, stats_of(f).fill);
}

/* bias: of sums of several keys, which live longer than the formula says. */
static void prediction_holds(const char *text, uint64_t era, double bias) {
    const eb_workload endless = {.size = sizeof endless};
    eb_prediction p = {.size = sizeof p};
    sample fill = {0}, fpr = {0}, error = {0};
    double excess = 0;
    suite_at("%s", text);
    OK(eb_predict(text, &endless, &p, NULL));
    for (uint64_t run = 0; run < REPEATS; run++) {
        eb_filter *const f = suite_new(text);
        uint64_t key = run << 32, fresh = UINT64_MAX - (run << 32), time = 0;
        double squares = 0;
        const uint64_t start = (uint64_t)p.settles_after / era * era + 2 * era;
        for (int phase = 0; phase < PHASES; phase++) {
            const uint64_t until = start + (2 * (uint64_t)phase + 1) * era / (2 * PHASES);
            while (time < until) OK(add_at(f, key_of(key++), 1, ++time));
            look_around(f, &fresh, &fill, &fpr, &squares);
        }
        sample_add(&error, sqrt(squares / PHASES));
        excess = stats_of(f).excess;
        eb_free(f);
    }
    sample_agrees(&fill, p.fill, bias);
    sample_agrees(&fpr, p.fpr, 4 * bias);
    sample_agrees(&error, p.error, 0.03 + 2 * excess); /* rounding comes on top of the formula */
    HOLDS(p.wrong == p.fpr && p.error < p.error_bound);
}

static void predictions_agree(void **state) {
    (void)state;
    prediction_holds("decay:cells=12000,room=400,halflife=100", 100, 0.01);
    prediction_holds("decay:cells=12000,room=400,halflife=1000", 1000, 0.01);
    prediction_holds("decay:cells=12000,room=400,k=2,halflife=3000", 3000, 0.01);
    prediction_holds("decay:cells=12240,store=packed,k=3,fraction=2,halflife=300", 300, 0.01);
    prediction_holds("decay:cells=12000,room=400,fraction=3,halflife=500", 500, 0.02);
}

/* The modes of the paper */

static void optimised_counters_equal_basic_ones(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"decay:mode=basic,width=32,cells=60000,fraction=0,factor=0.9,period=3000",
         "decay:mode=optimised,cells=60000,room=100000,fraction=0,factor=0.9,period=3000"},
        {"decay:mode=basic,width=32,cells=60000,fraction=4,factor=0.5,period=3000",
         "decay:mode=optimised,cells=60000,room=100000,fraction=4,factor=0.5,period=3000"},
    };
    for (size_t p = 0; p < SUITE_COUNT(pairs); p++) {
        eb_filter *const basic = suite_new(pairs[p][0]), *const digits = suite_new(pairs[p][1]);
        const eb_decay a = opened(basic), b = opened(digits);
        uint64_t random = 5;
        for (uint64_t epoch = 0; epoch < 30; epoch++) {
            for (int i = 0; i < 3000; i++) {
                const eb_hash h = key_of(draw_key(&random, 20000));
                OK(add_at(basic, h, 1, epoch * 3000));
                OK(add_at(digits, h, 1, epoch * 3000));
            }
            for (uint64_t line = 0; line < a.lines; line++)
                for (uint64_t place = line << EB_SLOT_BITS; place < (line << EB_SLOT_BITS) + 15;
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
    eb_filter *const f = suite_new("decay:mode=optimised,cells=75,k=1,fraction=0,room=3,"
                                   "factor=0.5,period=1000");
    const eb_decay d = opened(f);
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

static void saturated_era_counters_fade(void **state) {
    (void)state;
    eb_filter *const f = suite_new("decay:cells=120,k=1,room=0,halflife=10");
    OK(add_at(f, key_of(1), 1000, 0)); /* 256000: above 16 bits */
    HOLDS(stats_of(f).saturated == 1 && count_of(f, key_of(1)) == 1024);
    for (uint64_t era = 1; era <= 17; era++) {
        OK(eb_advance(f, 10 * era));
        HOLDS(count_of(f, key_of(1)) == ldexp(1, 10 - (int)era));
    }
    OK(eb_advance(f, 180));
    HOLDS(count_of(f, key_of(1)) == 0 && stats_of(f).cells_used == 0);
    OK(add_at(f, key_of(1), 1, 180)); /* as if nothing had been */
    HOLDS(count_of(f, key_of(1)) == 1 && stats_of(f).saturated == 1);
    for (int i = 0; i < 40; i++) OK(add_at(f, key_of(1), UINT32_MAX, 180));
    HOLDS(count_of(f, key_of(1)) >= 40.0 * UINT32_MAX || stats_of(f).saturated > 1);
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
        OK(eb_advance(f, 100000));
        HOLDS(stats_of(f).cells_used == 0 && stats_of(f).fpr == 0);
        for (uint64_t j = 0; j < 100; j++) HOLDS(count_of(f, key_of(j)) == 0);
        eb_free(f);
    }
}

static uint64_t lines_changed(const eb_decay *d, const uint8_t *before) {
    uint64_t n = 0;
    for (uint64_t line = 0; line < d->lines; line++)
        n += memcmp(d->line + line * d->stride, before + line * d->stride, d->stride) != 0;
    return n;
}

/* An add writes k lines, whatever time has passed; passing time writes none. */
static void time_costs_nothing(void **state) {
    (void)state;
    static const uint64_t eras[] = {0, 1, 2, 43, 44, 45, 1000, 1000000000, 3000000000};
    for (size_t i = 0; i < SUITE_COUNT(eras); i++) {
        eb_filter *const f = suite_filled("decay:memory=64K,halflife=20", 3000, 6);
        const eb_decay d = opened(f);
        uint8_t *const before = malloc(d.lines * d.stride);
        HOLDS(before != NULL);
        const uint64_t now = ebi_head_of(f->block)->clock + 20 * eras[i];
        memcpy(before, d.line, d.lines * d.stride);
        OK(eb_advance(f, now));
        HOLDS(lines_changed(&d, before) == 0);
        OK(add_at(f, key_of(1), 1, now));
        HOLDS(lines_changed(&d, before) <= d.k && lines_changed(&d, before) > 0);
        HOLDS(eras[i] < 45 || (stats_of(f).cells_used == d.k && count_of(f, key_of(1)) >= 1));
        free(before);
        eb_free(f);
    }
}

/* Jumps that stamps of 32 bits cannot hold, by hand and against the same stream
 * from time 0. */
static void stamps_do_not_wrap(void **state) {
    (void)state;
    static const uint64_t starts[] = {UINT64_C(1) << 31, (UINT64_C(1) << 32) - 2, UINT64_C(1) << 32,
                                      UINT64_C(1) << 33, UINT64_C(1) << 62};
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
        OK(eb_advance(f, UINT64_MAX));
        HOLDS(stats_of(f).cells_used == 0);
        OK(add_at(f, key_of(3), 2, UINT64_MAX));
        HOLDS(count_of(f, key_of(3)) == 2 && count_of(f, key_of(0)) == 0);
        eb_free(f);
        eb_free(zero);
    }
}

/* Options */

static void conservative_update_errs_less(void **state) {
    (void)state;
    eb_filter *const plain = suite_new("decay:memory=4K,halflife=500");
    eb_filter *const careful = suite_new("decay:memory=4K,halflife=500,update=conservative");
    uint64_t random = 8;
    double sums[2] = {0, 0};
    for (uint64_t i = 0; i < 20000; i++) {
        const eb_hash h = key_of(suite_below(&random, 1000));
        OK(add_at(plain, h, 1, i));
        OK(add_at(careful, h, 1, i));
        HOLDS(count_of(careful, h) <= count_of(plain, h));
        sums[0] += count_of(plain, h);
        sums[1] += count_of(careful, h);
    }
    HOLDS(sums[1] < 0.9 * sums[0]);
    HOLDS(eb_caps(plain) & EB_CAN_MERGE && eb_caps(plain) & EB_CAN_REMOVE);
    HOLDS(!(eb_caps(careful) & (EB_CAN_MERGE | EB_CAN_REMOVE)));
    eb_free(plain);
    eb_free(careful);
}

/* What is taken back is gone, and nobody else loses anything. */
static void removed_arrivals_leave_the_rest(void **state) {
    (void)state;
    static const char *const specs[] = {
        "decay:memory=16K,halflife=100",
        "decay:memory=16K,mode=basic,width=32,factor=0.9,period=20"};
    for (size_t s = 0; s < SUITE_COUNT(specs); s++) {
        enum { N = 2000 };
        eb_filter *const f = suite_new(specs[s]), *const without = suite_new(specs[s]);
        suite_at("%s", specs[s]);
        for (uint64_t i = 0; i < N; i++) {
            OK(add_at(f, key_of(i % 50), 2, i));
            if (i % 3 != 0) OK(add_at(without, key_of(i % 50), 2, i));
        }
        OK(eb_advance(without, N - 1));
        for (uint64_t i = 0; i < N; i += 3) {
            const eb_hash h = key_of(i % 50);
            const uint32_t two = 2;
            const eb_batch one = {1, &h, &two, &i};
            OK(eb_remove_batch(f, &one));
        }
        for (uint64_t key = 0; key < 50; key++) {
            const double left = count_of(f, key_of(key)), right = count_of(without, key_of(key));
            HOLDS(left >= right - 2 * stats_of(f).epsilon && left <= right * 1.02 + 0.3);
        }
        const eb_hash fresh = key_of(99);
        const uint64_t late = N;
        GIVES(EB_EINVAL, eb_remove_batch(f, &(eb_batch){1, &fresh, NULL, NULL}));
        GIVES(EB_EINVAL, eb_remove_batch(f, &(eb_batch){1, &fresh, NULL, &late}));
        eb_free(f);
        eb_free(without);
    }
}

/* A call takes all its keys or none, exactly as one by one: repeats in the call count, and so do
 * counters that keys share. */
static void removal_calls_equal_single_keys(const char *text) {
    enum { N = 150, ROUNDS = 300 };
    eb_filter *const many = suite_new(text);
    uint64_t random = 9, taken = 0, refused = 0;
    suite_at("%s", text);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        eb_hash hash[N];
        uint64_t time[N];
        const size_t n = 1 + suite_below(&random, N);
        const uint64_t now = ebi_head_of(many->block)->clock + suite_below(&random, 30);
        for (size_t i = 0; i < n; i++) OK(add_at(many, key_of(suite_below(&random, 60)), 1, now));
        OK(eb_advance(many, now));
        for (size_t i = 0; i < n; i++) {
            hash[i] = key_of(suite_below(&random, 60));
            time[i] = now - ebi_min(now, suite_below(&random, 40));
        }
        eb_filter *one = NULL;
        OK(eb_clone(&one, many, NULL));
        eb_status status = EB_OK;
        for (size_t i = 0; i < n && status == EB_OK; i++)
            status = eb_remove_batch(one, &(eb_batch){1, hash + i, NULL, time + i});
        uint8_t *const before = malloc(ebi_bytes(many));
        HOLDS(before != NULL);
        memcpy(before, many->block, ebi_bytes(many));
        GIVES(status, eb_remove_batch(many, &(eb_batch){n, hash, NULL, time}));
        HOLDS(memcmp(many->block, status == EB_OK ? one->block : before, ebi_bytes(many)) == 0);
        taken += status == EB_OK;
        refused += status == EB_EINVAL;
        free(before);
        eb_free(one);
    }
    HOLDS(taken > ROUNDS / 10 && refused > ROUNDS / 10);
    eb_free(many);
}

static void removal_calls_are_all_or_nothing(void **state) {
    (void)state;
    removal_calls_equal_single_keys("decay:cells=240,k=2,room=40,halflife=50");
    removal_calls_equal_single_keys(
        "decay:cells=240,k=2,width=8,room=6,halflife=50"); /* saturates */
    removal_calls_equal_single_keys("decay:cells=240,k=2,width=8,room=0,halflife=11,shards=2");
    removal_calls_equal_single_keys("decay:cells=240,k=2,store=packed,room=4,halflife=50");
    removal_calls_equal_single_keys("decay:mode=basic,cells=120,k=2,factor=0.9,period=9");
    removal_calls_equal_single_keys(
        "decay:mode=optimised,cells=90,k=2,room=90,factor=0.9,period=9");
}

static void half_lives_and_factors_agree(void **state) {
    (void)state;
    eb_filter *const a = suite_new("decay:memory=4K,factor=0.9,period=10");
    eb_filter *const b = suite_new("decay:memory=4K,mode=basic,factor=0.9,period=10");
    eb_filter *const c = suite_new("decay:memory=4K,halflife=64");
    eb_filter *const spectral = suite_new("spectral:memory=4K");
    NEAR(stats_of(a).halflife, 10 * log(0.5) / log(0.9), 1e-6);
    HOLDS(stats_of(a).halflife >= 10 * log(0.5) / log(0.9));
    NEAR(eb_faded(a, 10), 0.1, 1e-7);
    NEAR(eb_faded(b, 10), 0.1, 1e-12);
    HOLDS(stats_of(c).halflife == 64 && eb_faded(c, 64) == 0.5 && eb_faded(c, 0) == 0);
    HOLDS(eb_faded(spectral, 10) == 0 && stats_of(spectral).halflife == 0);
    /* 5 arrivals in each period of 10: the normalised estimate comes to 5 */
    for (uint64_t i = 0; i < 2000; i++) OK(add_at(b, key_of(1), 1, 2 * i));
    NEAR(count_of(b, key_of(1)) * eb_faded(b, 10), 5, 0.1);
    eb_free(a);
    eb_free(b);
    eb_free(c);
    eb_free(spectral);
}

static void bad_options_are_explained(void **state) {
    (void)state;
    static const struct {
        const char *spec, *word;
    } bad[] = {
        {"decay:halflife=5,factor=0.5", "halflife"},
        {"decay:mode=basic,factor=0.9999", "0.01..0.999"},
        {"decay:factor=0.000001,period=1", "half-life"},
        {"decay:factor=0.999999,period=9000000000000", "half-life"},
        {"decay:width=4", "width"},
        {"decay:mode=optimised,width=8", "width"},
        {"decay:mode=basic,room=4", "room"},
        {"decay:mode=basic,store=packed", "store"},
        {"decay:store=packed,width=16", "width"},
        {"decay:cells=100", "multiple of 120"},
        {"decay:memory=2K,room=1e6", "too small"},
        {"decay:mode=optimised,cells=6e9", "5e8"},
    };
    for (size_t i = 0; i < SUITE_COUNT(bad); i++) {
        char spec[EB_SPEC_MAX];
        eb_error err = {EB_OK, ""};
        suite_at("%s", bad[i].spec);
        GIVES(EB_ESPEC, eb_resolve(bad[i].spec, spec, sizeof spec, &err));
        HOLDS(strstr(err.text, bad[i].word) != NULL);
    }
}

/* Bytes from outside */

static void survive(const uint8_t *bytes, size_t len) {
    eb_filter *f = NULL;
    const eb_status status = eb_load(&f, bytes, len, NULL, NULL);
    HOLDS(status == EB_OK || status == EB_EFORMAT);
    for (uint64_t i = 0; f && i < 20; i++)
        (void)add_at(f, key_of(i), 100, ebi_head_of(f->block)->clock + 50);
    eb_free(f);
}

static void forged_counters_are_refused_or_work(void **state) {
    (void)state;
    static const char *const specs[] = {
        "decay:cells=240,k=2,width=8,fraction=0,room=12,halflife=50",
        "decay:cells=120,k=2,width=16,room=4,halflife=50",
        "decay:cells=240,k=2,store=packed,room=8,halflife=50",
        "decay:mode=optimised,cells=90,k=2,room=60,factor=0.9,period=50",
        "decay:mode=basic,cells=90,k=2,width=32,factor=0.9,period=50"};
    for (size_t s = 0; s < SUITE_COUNT(specs); s++) {
        eb_filter *const f = suite_new(specs[s]);
        size_t len;
        suite_at("%s", specs[s]);
        for (uint64_t i = 0; i < 40; i++) OK(add_at(f, key_of(i % 7), 200, 3 * i));
        uint8_t *const bytes = suite_bytes(f, &len);
        const size_t start = len - ebi_bytes(f);
        for (size_t i = start; i < len; i++)
            for (unsigned bit = 0; bit < 8; bit++) {
                bytes[i] = (uint8_t)(bytes[i] ^ 1u << bit);
                suite_fix_sums(bytes, len);
                survive(bytes, len);
                bytes[i] = (uint8_t)(bytes[i] ^ 1u << bit);
            }
        free(bytes);
        eb_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lazy_fading_equals_a_sweep),
        cmocka_unit_test(freshening_changes_no_counter),
        cmocka_unit_test(counts_are_never_too_low),
        cmocka_unit_test(rounding_adds_little),
        cmocka_unit_test(packed_counters_take_nine_bits),
        cmocka_unit_test(predictions_agree),
        cmocka_unit_test(optimised_counters_equal_basic_ones),
        cmocka_unit_test(a_full_pool_saturates_whole_counters),
        cmocka_unit_test(saturated_era_counters_fade),
        cmocka_unit_test(idle_filters_come_to_zero),
        cmocka_unit_test(time_costs_nothing),
        cmocka_unit_test(stamps_do_not_wrap),
        cmocka_unit_test(conservative_update_errs_less),
        cmocka_unit_test(removed_arrivals_leave_the_rest),
        cmocka_unit_test(removal_calls_are_all_or_nothing),
        cmocka_unit_test(half_lives_and_factors_agree),
        cmocka_unit_test(bad_options_are_explained),
        cmocka_unit_test(forged_counters_are_refused_or_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
