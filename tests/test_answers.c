/* test_answers.c - predictions without silence: every kind answers the common questions with a
 * number and its accuracy or with bounds, says what it cannot use, and is right on streams that no
 * formula was fitted to. */
#include "math/probability.h"
#include "suite.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All wrong answers are shown, not the first only. */
static unsigned wrong_answers;

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
    wrong_answers++;
}

static const eb_workload questions[] = {
    {.size = sizeof(eb_workload)},
    {.size = sizeof(eb_workload), .items = 60000},
    {.size = sizeof(eb_workload), .distinct = 20000},
    {.size = sizeof(eb_workload), .gap = 3000},
    {.size = sizeof(eb_workload), .items = 60000, .distinct = 20000},
    {.size = sizeof(eb_workload), .items = 60000, .zipf = 1},
    {.size = sizeof(eb_workload), .items = 60000, .gap = 3000},
    {.size = sizeof(eb_workload), .distinct = 20000, .zipf = 1},
    {.size = sizeof(eb_workload), .items = 60000, .distinct = 20000, .zipf = 1},
    {.size = sizeof(eb_workload), .items = 60000, .distinct = 20000, .gap = 3000},
};

/* A number inside its bounds, with an accuracy; or bounds that exclude something. */
static bool answers(double rate, double low, double high, double accuracy) {
    if (!(low >= 0 && low <= high && high <= 1)) return false;
    if (isnan(rate)) return low > 0 || high < 1;
    return accuracy > 0 && rate >= low && rate <= high;
}

/* Endless streams fill what does not forget: nothing but that can be said. */
static bool is_full(const suite_case *c, const eb_workload *w) {
    return w->items == 0 && w->distinct == 0 && !(suite_caps(c) & EB_FORGETS);
}

static void asks(const suite_case *c) {
    for (size_t i = 0; i < SUITE_COUNT(questions); i++) {
        eb_prediction p = {.size = sizeof p};
        char spec[EB_SPEC_MAX];
        (void)snprintf(spec, sizeof spec, "%s:memory=1M", c->kind->info.name);
        OK(eb_predict(spec, &questions[i], NULL, 1, &p, NULL));
        if (!answers(p.mean_fnr, p.fnr_low, p.fnr_high, p.accuracy))
            complain("%s, question %zu: misses: %g in %g..%g: predict must fill mean_fnr, or "
                     "fnr_low and fnr_high",
                     spec, i, p.mean_fnr, p.fnr_low, p.fnr_high);
        if (!answers(p.mean_fpr, p.fpr_low, p.fpr_high, p.accuracy) && !is_full(c, &questions[i]))
            complain("%s, question %zu: false positives: %g in %g..%g: predict must fill mean_fpr, "
                     "or fpr_low and fpr_high",
                     spec, i, p.mean_fpr, p.fpr_low, p.fpr_high);
    }
}

static void every_question_has_an_answer(void **state) {
    (void)state;
    wrong_answers = 0;
    suite_each_base(asks);
    HOLDS(wrong_answers == 0);
}

/* A rate with a formula lies within its accuracy: above and below. */
static void bounds_are_as_wide_as_the_accuracy(void **state) {
    (void)state;
    eb_prediction p = {.size = sizeof p};
    const eb_workload w = {.size = sizeof w, .distinct = 100000};
    OK(eb_predict("bloom:memory=64K", &w, NULL, 1, &p, NULL));
    HOLDS(p.accuracy > 0);
    NEAR(p.fpr_low, p.mean_fpr / (1 + p.accuracy), 1e-9);
    NEAR(p.fpr_high, p.mean_fpr * (1 + p.accuracy), 1e-9);
}

/* Who forgets misses by gap and skew: an answer that does not change must say so. */
static void minds(const suite_case *c) {
    static const uint32_t bit[] = {EB_UNUSED_ZIPF, EB_UNUSED_GAP, EB_UNUSED_DISTINCT};
    if (!(c->kind->info.caps & EB_FORGETS)) return;
    for (size_t i = 0; i < SUITE_COUNT(bit); i++) {
        eb_workload w = {.size = sizeof w, .items = 600000, .distinct = 200000}, other = w;
        eb_prediction p = {.size = sizeof p}, q = p;
        char spec[EB_SPEC_MAX];
        if (bit[i] == EB_UNUSED_ZIPF) other.zipf = 1;
        if (bit[i] == EB_UNUSED_GAP) other.gap = 20000;
        if (bit[i] == EB_UNUSED_DISTINCT) other.distinct = 300000;
        (void)snprintf(spec, sizeof spec, "%s:memory=64K", c->kind->info.name);
        OK(eb_predict(spec, &w, NULL, 1, &p, NULL));
        OK(eb_predict(spec, &other, NULL, 1, &q, NULL));
        const bool same = p.mean_fnr == q.mean_fnr && p.fpr_high == q.fpr_high;
        const bool sure = p.mean_fnr == 0 && q.mean_fnr == 0; /* nothing is forgotten so soon */
        if (same && !sure && !(q.unused & bit[i]))
            complain("%s, unused %u: %g both times", spec, (unsigned)bit[i], p.mean_fnr);
    }
}

static void what_is_not_used_is_said(void **state) {
    (void)state;
    wrong_answers = 0;
    suite_each_base(minds);
    HOLDS(wrong_answers == 0);
}

/* Streams: key of record i. */

enum { RECORDS = 60000 };

typedef struct stream_law { /* the first was there when bounds were chosen, the others came after */
    uint64_t distinct, gap, seed;
    double zipf;
    unsigned memory; /* in tenths of what specs say */
} stream_law;
static const stream_law laws[] = {
    {20000, 3000, 4711, 0.9, 10}, {11000, 700, 12, 0.6, 5}, {40000, 10000, 13, 1.15, 20}};
static const stream_law *law = laws;

static void shuffle(uint64_t *key, uint64_t *rng) {
    for (size_t i = RECORDS - 1; i > 0; i--) {
        const size_t j = suite_below(rng, i + 1);
        const uint64_t other = key[j];
        key[j] = key[i];
        key[i] = other;
    }
}

static void shuffled(uint64_t *key, uint64_t *rng, eb_workload *w) {
    for (size_t i = 0; i < RECORDS; i++)
        key[i] = i < law->distinct ? i : suite_below(rng, law->distinct);
    shuffle(key, rng);
    w->distinct = (double)law->distinct;
}

/* Ranks by inversion; the number of those that came is told. */
static void skewed(uint64_t *key, uint64_t *rng, eb_workload *w) {
    enum { KEYS = 40000 };
    static double upto[KEYS];
    static uint8_t met[KEYS];
    memset(met, 0, sizeof met);
    w->zipf = law->zipf;
    for (size_t i = 0; i < KEYS; i++)
        upto[i] = (i ? upto[i - 1] : 0) + pow((double)i + 1, -w->zipf);
    for (size_t i = 0; i < RECORDS; i++) {
        const double u = (double)suite_below(rng, 1u << 30) / (1u << 30) * upto[KEYS - 1];
        size_t low = 0, high = KEYS - 1;
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (upto[middle] < u)
                low = middle + 1;
            else
                high = middle;
        }
        key[i] = low;
        w->distinct += !met[low];
        met[low] = 1;
    }
}

/* Every second record is that of `gap` before, once there is one. */
static void apart(uint64_t *key, uint64_t *rng, eb_workload *w) {
    const size_t gap = 2 * law->gap + 1;
    uint64_t next = 0;
    (void)rng;
    for (size_t i = 0; i < RECORDS; i++) key[i] = i % 2 == 1 && i >= gap ? key[i - gap] : next++;
    w->distinct = (double)next;
    w->gap = (double)gap;
}

typedef void make_stream(uint64_t *key, uint64_t *rng, eb_workload *w);

static void inside(const char *spec, const eb_workload *w, double events, double trials, double low,
                   double high, const char *what) {
    const double rate = events / trials, likely = fmax(rate, low);
    const double error = 4.5 * sqrt(fmax(likely * (1 - likely), 1 / trials) / trials);
    if (rate < low - error || rate > high + error)
        complain("%s, zipf %g, gap %g: %s: %g of %g, not in %g..%g", spec, w->zipf, w->gap, what,
                 rate, trials, low, high);
}

static void measure(const char *spec_at_one, make_stream *make) {
    char spec[EB_SPEC_MAX];
    const char *const size = strstr(spec_at_one, "memory=") + strlen("memory=");
    const char *const rest = strchr(size, 'K');
    (void)snprintf(spec, sizeof spec, "%.*s%lu%s", (int)(size - spec_at_one), spec_at_one,
                   strtoul(size, NULL, 10) * law->memory / 10, rest);
    static uint64_t key[RECORDS];
    static uint8_t met[RECORDS];
    eb_workload w = {.size = sizeof w, .items = RECORDS};
    eb_prediction p = {.size = sizeof p};
    uint64_t rng = law->seed;
    double wrong = 0, missed = 0, fresh = 0;
    make(key, &rng, &w);
    memset(met, 0, sizeof met);
    eb_filter *const f = suite_new(spec);
    const uint64_t caps = eb_caps(f), values = f->p.value_max - f->p.value_min + UINT64_C(1);
    OK(eb_predict(spec, &w, NULL, 1, &p, NULL));
    for (uint64_t i = 0; i < RECORDS; i++) {
        const eb_hash h = ebi_mix(key[i] + law->seed * 99);
        const uint64_t value = caps & EB_CAN_COUNT ? 1 : f->p.value_min + h % values, time = i;
        const eb_batch b = A_BATCH(1, &h, caps & EB_USES_VALUE ? &value : NULL,
                                   caps & EB_USES_TIME ? &time : NULL);
        uint8_t seen;
        OK(calls_add(f, &b, &seen));
        fresh += !met[key[i]];
        wrong += seen && !met[key[i]];
        missed += !seen && met[key[i]];
        met[key[i]] = 1;
    }
    inside(spec, &w, missed, RECORDS - fresh, p.fnr_low, p.fnr_high, "misses");
    inside(spec, &w, wrong, fresh, p.fpr_low, p.fpr_high, "false positives");
    eb_free(f);
}

static void rates_are_inside_their_bounds(void **state) {
    (void)state;
    SUITE_LONG();
    wrong_answers = 0;
    static const char *const specs[] = {
        "bloom:memory=24K",
        "lru:memory=24K,fpr=0.01",
        "lru:memory=24K,keep=recent",
        "window:memory=24K",
        "choosy:memory=24K,fpr=0.01",
        "choosy:memory=10K,fpr=0.01,distinct=20000,order=any",
        "stable:memory=24K",
        "stable:memory=24K,width=3",
        "importance:memory=24K",
        "rsbf:memory=24K",
        "bsbf:memory=24K",
        "bsbfsd:memory=24K",
        "rlbsbf:memory=24K",
        "spectral:memory=64K",
        "decay:memory=64K,halflife=10000",
        "aging:memory=256K,period=1000,epochs=16",
    };
    for (size_t i = 0; i < SUITE_COUNT(specs) * SUITE_COUNT(laws); i++) {
        const char *const spec = specs[i / SUITE_COUNT(laws)];
        law = &laws[i % SUITE_COUNT(laws)];
        measure(spec, shuffled);
        measure(spec, skewed);
        measure(spec, apart);
    }
    HOLDS(wrong_answers == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_question_has_an_answer),
        cmocka_unit_test(bounds_are_as_wide_as_the_accuracy),
        cmocka_unit_test(what_is_not_used_is_said),
        cmocka_unit_test(rates_are_inside_their_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
