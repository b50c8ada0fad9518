/* test_spectrum.c - what eb_predict says of counts against what filters do: shares
 * of wrong counts and sizes of errors for each policy, and the bits that counters
 * need in each store.
 *
 * A stream has KEYS keys that come MEAN times each on average, by Zipf's law, in
 * random order.  A share agrees within 4.5 standard errors plus the bias that
 * spectrum.h admits; a size, whose spread depends on few large errors, within
 * twice that. */
#include "math/probability.h"
#include "math/spectrum.h"
#include "suite.h"
#include <math.h>
#include <stdlib.h>

enum { KEYS = 20000, PART = 64, K = 5 };

typedef struct stream {
    double theta;
    size_t records;
    uint32_t count[KEYS];
    uint16_t *key;
} stream;

static eb_hash hash_of(size_t key) {
    return ebi_mix(UINT64_C(0x9E3779B97F4A7C15) * (key + 1));
}

static stream *make_stream(double theta, double mean) {
    stream *const s = calloc(1, sizeof *s);
    double sum = 0;
    uint64_t random = 1;
    assert_non_null(s);
    s->theta = theta;
    for (int i = 1; i <= KEYS; i++) sum += pow(i, -theta);
    for (int i = 0; i < KEYS; i++) {
        s->count[i] = (uint32_t)fmax(1, round(KEYS * mean / sum * pow(i + 1, -theta)));
        s->records += s->count[i];
    }
    s->key = calloc(s->records, sizeof *s->key);
    assert_non_null(s->key);
    for (size_t i = 0, at = 0; i < KEYS; i++)
        for (uint32_t j = 0; j < s->count[i]; j++) s->key[at++] = (uint16_t)i;
    for (size_t i = s->records; i > 1; i--) {
        const size_t j = suite_below(&random, i);
        const uint16_t other = s->key[j];
        s->key[j] = s->key[i - 1];
        s->key[i - 1] = other;
    }
    return s;
}

static void free_stream(stream *s) {
    free(s->key);
    free(s);
}

static eb_filter *fed(const char *spec, const stream *s) {
    eb_filter *const f = suite_new(spec);
    for (size_t at = 0; at < s->records; at += PART) {
        eb_hash h[PART];
        const eb_batch b = A_BATCH(s->records - at < PART ? s->records - at : PART, h, NULL, NULL);
        for (size_t i = 0; i < b.n; i++) h[i] = hash_of(s->key[at + i]);
        OK(eb_add_batch(f, &b, NULL));
    }
    return f;
}

static eb_prediction predicted(const char *spec, const stream *s) {
    eb_prediction p = {.size = sizeof p};
    const eb_workload w = {
        .size = sizeof w, .items = (double)s->records, .distinct = KEYS, .zipf = s->theta};
    OK(eb_predict(spec, &w, NULL, 1, &p, NULL));
    return p;
}

/* Errors */

typedef struct policy {
    const char *spec;       /* with room for the number of first counters */
    double first;           /* that many of all: gamma is for all of them */
    double bias, bias_size; /* size 0: no formula */
} policy;

static void errors_agree(const policy *p, double gamma, const stream *s) {
    char spec[200];
    double wrong = 0, squares = 0, beyond = 0;
    (void)snprintf(spec, sizeof spec, p->spec, floor(KEYS * p->first / gamma) * K);
    suite_at("%s, gamma %g, theta %g", spec, gamma, s->theta);
    eb_filter *const f = fed(spec, s);
    const eb_prediction e = predicted(spec, s);
    for (size_t i = 0; i < KEYS; i++) {
        const eb_hash h = hash_of(i);
        double count;
        calls_count(f, &h, 1, &count);
        wrong += count != s->count[i];
        squares += (count - s->count[i]) * (count - s->count[i]);
        beyond += count - s->count[i] > e.error_bound;
    }
    eb_free(f);
    wrong /= KEYS;
    const double error = 4.5 * sqrt(wrong * (1 - wrong) / KEYS), size = sqrt(squares / KEYS);
    print_message("%-46.46s gamma %-4g theta %-3g: wrong %.4f (%.4f), error %.3f (%.3f)\n", spec,
                  gamma, s->theta, wrong, e.wrong, size, e.error);
    NEAR(wrong, e.wrong, error + p->bias * e.wrong);
    if (p->bias_size > 0)
        NEAR(size, e.error, size * (2 * error / wrong) + p->bias_size * e.error);
    else
        HOLDS(isnan(e.error));
    HOLDS(beyond / KEYS <= exp(-K));
}

static void errors_are_as_predicted(void **state) {
    (void)state;
    SUITE_LONG();
    static const policy policies[] = {
        {"spectral:update=plain,store=u32,span=0,cells=%.0f", 1, .02, .05},
        {"spectral:update=plain,store=u32,span=512,cells=%.0f", 1, .03, .06},
        {"spectral:update=conservative,store=u32,span=0,cells=%.0f", 1, .1, .1},
        {"spectral_rm:method=rmx,store=u32,span=0,second=40000,cells=%.0f", 1, .08, .25},
        {"spectral_rm:method=rm,store=u32,span=0,second=70000,cells=%.0f", 1, .05, 0},
        {"spectral_rm:method=rm+bf,store=u32,span=0,second=70000,cells=%.0f", 1, .05, 0},
    };
    static const double thetas[] = {0, .5, 1, 1.5};
    for (size_t t = 0; t < SUITE_COUNT(thetas); t++) {
        stream *const s = make_stream(thetas[t], 30);
        for (size_t i = 0; i < SUITE_COUNT(policies); i++) {
            errors_agree(&policies[i], .7, s);
            errors_agree(&policies[i], 1.2, s);
        }
        free_stream(s);
    }
}

/* Far more keys than counters: all counts rise together. */
static void overfull_tables_are_as_predicted(void **state) {
    (void)state;
    static const policy policies[] = {
        {"spectral:update=plain,store=u32,span=0,cells=%.0f", 1, .01, .05},
        {"spectral:update=conservative,store=u32,span=0,cells=%.0f", 1, .1, .3},
    };
    static const double thetas[] = {0, 1};
    for (size_t t = 0; t < SUITE_COUNT(thetas); t++) {
        stream *const s = make_stream(thetas[t], 30);
        for (size_t i = 0; i < SUITE_COUNT(policies); i++) {
            errors_agree(&policies[i], 5, s);
            errors_agree(&policies[i], 20, s);
        }
        free_stream(s);
    }
}

/* Fewer entries than keys that want one */
static void a_small_side_table_costs_what_is_predicted(void **state) {
    (void)state;
    static const policy tables[] = {
        {"spectral_rm:method=rmx,store=u32,span=0,second=1000,cells=%.0f", 1, .15, .1},
        {"spectral_rm:method=rmx,store=u32,span=0,second=2000,cells=%.0f", 1, .15, .1},
    };
    stream *const s = make_stream(.5, 30);
    for (size_t i = 0; i < SUITE_COUNT(tables); i++) errors_agree(&tables[i], .7, s);
    free_stream(s);
}

/* Bits */

static uint64_t saturated_with(const char *store, double window, double bits, const stream *s) {
    char spec[200];
    eb_stats stats = {.size = sizeof stats};
    (void)snprintf(spec, sizeof spec,
                   "spectral:update=plain,store=%s,span=%g,cells=%.0f,counter_bits=%.6f", store,
                   window, floor(KEYS / .7) * K, bits);
    eb_filter *const f = fed(spec, s);
    calls_stat(f, &stats);
    eb_free(f);
    return stats.saturated;
}

/* With 4 % more nothing saturates; with a tenth less something does. */
static void bits_agree(const char *store, double window, double mean, double theta) {
    char spec[200];
    stream *const s = make_stream(theta, mean);
    (void)snprintf(spec, sizeof spec, "spectral:update=plain,store=%s,span=%g,cells=%.0f", store,
                   window, floor(KEYS / .7) * K);
    const double bits = predicted(spec, s).bits;
    const uint64_t more = saturated_with(store, window, 1.04 * bits, s);
    const uint64_t less = saturated_with(store, window, fmax(0.9 * bits, 8.1 * (*store == 'u')), s);
    print_message("%-4s window %-3g mean %-3g theta %g: %.3f bits; with less %llu saturate\n",
                  store, window, mean, theta, bits, (unsigned long long)less);
    HOLDS(more == 0 && less > 0);
    free_stream(s);
}

static void bits_are_as_predicted(void **state) {
    (void)state;
    SUITE_LONG();
    static const double means[] = {2, 10, 40};
    for (size_t i = 0; i < SUITE_COUNT(means); i++) {
        bits_agree("line", 0, means[i], 1);
        bits_agree("sai", 0, means[i], 1);
    }
    bits_agree("line", 512, 2, 1);
    bits_agree("line", 512, 10, 1);
    bits_agree("line", 512, 40, 1);
    bits_agree("line", 0, 10, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_as_predicted),
        cmocka_unit_test(overfull_tables_are_as_predicted),
        cmocka_unit_test(a_small_side_table_costs_what_is_predicted),
        cmocka_unit_test(bits_are_as_predicted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
