/* test_decay_use.c - time-decaying filters in use: predictions, conservative update,
 * removals, options, bytes from outside.
 */
#include "decay_help.h"
#include "model.h"
#include <math.h>

/* Keys by Zipf's law */

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
    OK(eb_predict(text, &endless, NULL, 1, &p, NULL));
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
        excess = stats_of(f).too_high;
        eb_free(f);
    }
    sample_agrees(&fill, p.fill, bias);
    sample_agrees(&fpr, p.fpr, 4 * bias);
    sample_agrees(&error, p.error, 0.03 + 2 * excess); /* rounding comes on top of the formula */
    HOLDS(p.wrong == p.fpr && p.error < p.error_bound);
}

/* Keys that come again, by Zipf's law, after 16 half-lives: what all of them count too much, at
 * moments spread over an era. */
typedef struct again {
    const char *spec;
    double halflife, zipf;
} again;

static double excess_square(const eb_filter *f, const zipf *z, const double *came, double left,
                            uint64_t run) {
    double squares = 0;
    for (size_t i = 0; i < z->n; i++) {
        const double more = count_of(f, key_of(run << 32 | i)) - left * came[i];
        squares += more * more / (double)z->n;
    }
    return squares;
}

static void run_again(const again *a, const zipf *z, uint64_t run, sample *fill, sample *square) {
    eb_filter *const f = suite_new(a->spec);
    double *const came = model_zeros(z->n, sizeof *came); /* as seen from time 0 */
    uint64_t random = run + 1, time = 0;
    double squares = 0, filled = 0;
    for (int phase = 0; phase < PHASES; phase++) {
        const double until = a->halflife * (16 + (phase + 0.5) / PHASES);
        for (; (double)time < until; time++) {
            const uint64_t key = zipf_draw(z, &random);
            OK(add_at(f, key_of(run << 32 | key), 1, time));
            came[key] += exp2((double)time / a->halflife);
        }
        filled += stats_of(f).fill / PHASES;
        squares += excess_square(f, z, came, exp2(-(double)(time - 1) / a->halflife), run) / PHASES;
    }
    sample_add(fill, filled);
    sample_add(square, squares);
    free(came);
    eb_free(f);
}

static void predictions_of_keys_that_come_again_agree(void **state) {
    enum { KEYS = 1000, RUNS = 12 };
    static const again runs[] = {
        {"decay:cells=2400,k=4,mode=basic,factor=0.965936,period=100,fraction=12", 2000, 0},
        {"decay:cells=2400,k=4,mode=basic,factor=0.965936,period=100,fraction=12", 2000, 0.8},
        {"decay:cells=2400,k=4,mode=basic,factor=0.965936,period=100,fraction=12", 2000, 1.1},
        {"decay:cells=1500,k=2,mode=basic,factor=0.965936,period=25,fraction=12", 500, 0.6}};
    (void)state;
    SUITE_LONG();
    for (size_t i = 0; i < SUITE_COUNT(runs); i++) {
        const eb_workload load = {.size = sizeof load, .distinct = KEYS, .zipf = runs[i].zipf};
        eb_prediction p = {.size = sizeof p};
        zipf z = zipf_new(KEYS, runs[i].zipf);
        sample fill = {0}, square = {0};
        suite_at("%s, Zipf %g", runs[i].spec, runs[i].zipf);
        OK(eb_predict(runs[i].spec, &load, NULL, 1, &p, NULL));
        for (uint64_t run = 0; run < RUNS; run++) run_again(&runs[i], &z, run, &fill, &square);
        sample_agrees(&fill, p.fill, 0.01);
        sample_agrees(&square, p.error * p.error, 0.03); /* steps of the sum; rounding */
        HOLDS(p.error < p.error_bound && p.wrong == p.fpr);
        free(z.up_to);
    }
}

/* Zipf's law without a number of keys, and conservative updates, have no formula for errors of
 * counts; rates then have bounds. */
static void what_has_no_formula_is_unknown(void **state) {
    const eb_workload load = {.size = sizeof load, .zipf = 1};
    const eb_workload different = {.size = sizeof different};
    eb_prediction p = {.size = sizeof p};
    (void)state;
    OK(eb_predict("decay:memory=64K", &load, NULL, 1, &p, NULL));
    HOLDS(isnan(p.error) && isnan(p.wrong));
    HOLDS(p.fpr_low <= p.mean_fpr && p.mean_fpr <= p.fpr_high);
    OK(eb_predict("decay:memory=64K,update=conservative", &different, NULL, 1, &p, NULL));
    HOLDS(!isnan(p.fill) && isnan(p.error) && isnan(p.wrong) && p.error_bound > 0);
}

static void predictions_agree(void **state) {
    (void)state;
    prediction_holds("decay:cells=11200,halflife=100", 100, 0.01);
    prediction_holds("decay:cells=11200,halflife=1000", 1000, 0.01);
    prediction_holds("decay:cells=11200,k=2,halflife=3000", 3000, 0.01);
    prediction_holds("decay:cells=11928,k=3,halflife=300", 300, 0.01);
}

/* Options */

static void conservative_update_errs_less(void **state) {
    (void)state;
    eb_filter *const plain = suite_new("decay:memory=2K,halflife=500");
    eb_filter *const careful = suite_new("decay:memory=2K,halflife=500,update=conservative");
    uint64_t random = 8;
    double sums[2] = {0, 0};
    const eb_stats fine = stats_of(plain);
    for (uint64_t i = 0; i < 20000; i++) {
        const eb_hash h = key_of(suite_below(&random, 1000));
        OK(add_at(plain, h, 1, i));
        OK(add_at(careful, h, 1, i));
        const double most = count_of(plain, h); /* whose counters may be longer: finer */
        HOLDS(count_of(careful, h) <= most * (1 + fine.too_high) + fine.too_low);
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
    static const char *const specs[] = {"decay:memory=16K,halflife=100",
                                        "decay:memory=16K,mode=basic,factor=0.9,period=20"};
    for (size_t s = 0; s < SUITE_COUNT(specs); s++) {
        enum { N = 2000 };
        eb_filter *const f = suite_new(specs[s]), *const without = suite_new(specs[s]);
        suite_at("%s", specs[s]);
        for (uint64_t i = 0; i < N; i++) {
            OK(add_at(f, key_of(i % 50), 2, i));
            if (i % 3 != 0) OK(add_at(without, key_of(i % 50), 2, i));
        }
        OK(eb_advance(without, N - 1, NULL));
        for (uint64_t i = 0; i < N; i += 3) {
            const eb_hash h = key_of(i % 50);
            const uint64_t two = 2;
            const eb_batch one = A_BATCH(1, &h, &two, &i);
            OK(eb_remove_batch(f, &one, NULL));
        }
        for (uint64_t key = 0; key < 50; key++) {
            const double left = count_of(f, key_of(key)), right = count_of(without, key_of(key));
            HOLDS(left >= right - 2 * stats_of(f).too_low && left <= right * 1.02 + 0.3);
        }
        const eb_hash fresh = key_of(99);
        const uint64_t late = N;
        GIVES(EB_EVALUE, eb_remove_batch(f, &A_BATCH(1, &fresh, NULL, NULL), NULL));
        GIVES(EB_ETIME, eb_remove_batch(f, &A_BATCH(1, &fresh, NULL, &late), NULL));
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
        OK(eb_advance(many, now, NULL));
        for (size_t i = 0; i < n; i++) {
            hash[i] = key_of(suite_below(&random, 60));
            time[i] = now - ebi_min(now, suite_below(&random, 40));
        }
        eb_filter *one = NULL;
        OK(eb_clone(&one, many, NULL, NULL));
        eb_status status = EB_OK;
        for (size_t i = 0; i < n && status == EB_OK; i++)
            status = eb_remove_batch(one, &A_BATCH(1, hash + i, NULL, time + i), NULL);
        uint8_t *const before = malloc(ebi_bytes(many));
        HOLDS(before != NULL);
        memcpy(before, many->block, ebi_bytes(many));
        GIVES(status, eb_remove_batch(many, &A_BATCH(n, hash, NULL, time), NULL));
        HOLDS(memcmp(many->block, status == EB_OK ? one->block : before, ebi_bytes(many)) == 0);
        taken += status == EB_OK;
        refused += status == EB_EVALUE;
        free(before);
        eb_free(one);
    }
    HOLDS(taken > ROUNDS / 10 && refused > ROUNDS / 10);
    eb_free(many);
}

static void removal_calls_are_all_or_nothing(void **state) {
    (void)state;
    removal_calls_equal_single_keys("decay:cells=224,k=2,halflife=50");
    removal_calls_equal_single_keys("decay:cells=224,k=2,halflife=11,shards=2");
    removal_calls_equal_single_keys("decay:mode=basic,cells=120,k=2,factor=0.9,period=9");
    removal_calls_equal_single_keys(
        "decay:mode=optimised,cells=90,k=2,large=90,factor=0.9,period=9");
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
        {"decay:fraction=4", "mode=basic"},
        {"decay:large=4", "mode=optimised"},
        {"decay:mode=basic,large=4", "mode=optimised"},
        {"decay:cells=100", "multiple of 224"},
        {"decay:cells=100,mode=basic", "multiple of 60"},
        {"decay:mode=optimised,memory=2K,large=1e6", "too small"},
        {"decay:mode=optimised,cells=6e9", "5e8"},
    };
    for (size_t i = 0; i < SUITE_COUNT(bad); i++) {
        char spec[EB_SPEC_MAX];
        eb_error err = {.text = ""};
        suite_at("%s", bad[i].spec);
        GIVES(EB_ESPEC, calls_resolve(bad[i].spec, spec, &err));
        HOLDS(strstr(err.text, bad[i].word) != NULL);
    }
}

/* Bytes from outside */

static bool survives(const uint8_t *bytes, size_t len) { /* false: it is refused */
    eb_filter *f = NULL;
    const eb_status status = eb_load(&f, bytes, len, NULL, NULL, NULL);
    HOLDS(status == EB_OK || status == EB_EFORMAT);
    for (uint64_t i = 0; f && i < 20; i++)
        (void)add_at(f, key_of(i), 100, ebi_head_of(f->block)->clock + 50);
    eb_free(f);
    return status == EB_OK;
}

static void forged_counters_are_refused_or_work(void **state) {
    (void)state;
    static const char *const specs[] = {
        "decay:cells=224,k=2,halflife=50",
        "decay:mode=optimised,cells=90,k=2,large=60,factor=0.9,period=50",
        "decay:mode=basic,cells=90,k=2,factor=0.9,period=50"};
    for (size_t s = 0; s < SUITE_COUNT(specs); s++) {
        eb_filter *const f = suite_new(specs[s]);
        size_t len;
        suite_at("%s", specs[s]);
        for (uint64_t i = 0; i < 40; i++) OK(add_at(f, key_of(i % 7), 200, 3 * i));
        uint8_t *const bytes = suite_bytes(f, &len);
        const size_t start = len - ebi_bytes(f);
        const size_t reserved = sizeof(ebi_block_head) + offsetof(ebi_decay_state, reserved);
        for (size_t i = start; i < len; i++)
            for (unsigned bit = 0; bit < 8; bit++) {
                bytes[i] = (uint8_t)(bytes[i] ^ 1u << bit);
                suite_fix_sums(bytes, len);
                const bool loads = survives(bytes, len);
                HOLDS(!loads || i < start + reserved ||
                      i >= start + sizeof(ebi_block_head) + sizeof(ebi_decay_state));
                bytes[i] = (uint8_t)(bytes[i] ^ 1u << bit);
            }
        free(bytes);
        eb_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_agree),
        cmocka_unit_test(predictions_of_keys_that_come_again_agree),
        cmocka_unit_test(what_has_no_formula_is_unknown),
        cmocka_unit_test(conservative_update_errs_less),
        cmocka_unit_test(removed_arrivals_leave_the_rest),
        cmocka_unit_test(removal_calls_are_all_or_nothing),
        cmocka_unit_test(half_lives_and_factors_agree),
        cmocka_unit_test(bad_options_are_explained),
        cmocka_unit_test(forged_counters_are_refused_or_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
