/* p004_codes.c - Figure 10: how many bits counters take in each code.
 *
 * The counters are those of minimum selection with k = 5 and gamma = 0.7, laid out
 * here as plain numbers: what counts is their lengths.  `line` and `sai` are what
 * filters of the library need, header and all, so that nothing saturates. */
#include "paper_004.h"
#include <math.h>
#include <stdlib.h>

enum { CODES_KEYS = 140000, CODES_K = 5 };

static double codes_log(double c) {
    return c > 1 ? ceil(log2(c)) : 0;
}

static double codes_elias(double c) {
    const double digits = floor(log2(c + 1));
    return digits + 2 * floor(log2(digits + 1)) + 1;
}

/* 0 is 0, 1 is 10, and 11 goes before the delta code of what is more than 1. */
static double codes_steps(double c) {
    return c < 2 ? c + 1 : 2 + codes_elias(c - 2);
}

/* Lengths in unary, digits of d bits. */
static double codes_digits(double c, int d) {
    return 1 + (1 + d) * floor(log2(c * (exp2(d) - 1) + 1) / d + 1e-9);
}

typedef struct codes_bits {
    double mean_log, entropy, elias, steps, digits, total;
} codes_bits;

static double codes_entropy(uint64_t *counter, size_t m) {
    enum { SEEN = 1 << 16 };
    uint64_t *const times = lab_alloc(SEEN, sizeof *times);
    double sum = 0;
    for (size_t i = 0; i < m; i++)
        times[counter[i] < SEEN ? counter[i] : SEEN - 1 - counter[i] % 4096]++;
    for (size_t i = 0; i < SEEN; i++)
        if (times[i]) sum -= (double)times[i] * log2((double)times[i] / (double)m);
    free(times);
    return sum / (double)m;
}

static codes_bits codes_of(uint64_t *counter, size_t m) {
    codes_bits b = {0};
    double digits[5] = {0};
    for (size_t i = 0; i < m; i++) {
        const double c = (double)counter[i];
        b.mean_log += codes_log(c);
        b.elias += codes_elias(c);
        b.steps += codes_steps(c);
        b.total += c;
        for (int d = 1; d <= 4; d++) digits[d] += codes_digits(c, d);
    }
    b.digits = fmin(fmin(digits[1], digits[2]), fmin(digits[3], digits[4])) / (double)m;
    b.mean_log /= (double)m;
    b.elias /= (double)m;
    b.steps /= (double)m;
    b.entropy = codes_entropy(counter, m);
    return b;
}

static codes_bits codes_measure(const lab_options *o, double mean, double theta) {
    const size_t part = (size_t)(CODES_KEYS / .7), m = part * CODES_K;
    uint64_t *const count = lab_alloc(CODES_KEYS, sizeof *count);
    uint64_t *const counter = lab_alloc(m, sizeof *counter);
    lab_rng random = {lab_mix(o->seed)};
    p004_zipf(count, CODES_KEYS, CODES_KEYS * mean, theta);
    for (size_t i = 0; i < CODES_KEYS; i++)
        for (size_t j = 0; j < CODES_K; j++)
            counter[j * part + lab_below(&random, part)] += count[i];
    const codes_bits b = codes_of(counter, m);
    free(counter);
    free(count);
    return b;
}

double p004_least_bits(const char *store, double cells, unsigned k, const eb_batch *all) {
    double bits = 32;
    for (double step = 16; step > 0.01; step /= 2) {
        char spec[120];
        eb_filter *f;
        eb_stats s = {.size = sizeof s};
        snprintf(spec, sizeof spec,
                 "spectral:update=plain,store=%s,span=0,k=%u,cells=%.0f,counter_bits=%.4f", store,
                 k, cells, bits - step);
        if (eb_new(&f, spec, NULL, NULL)) continue; /* below what the store takes at all */
        if (eb_add_batch(f, all, NULL)) lab_die("adding failed");
        calls_stat(f, &s);
        if (s.saturated == 0) bits -= step;
        eb_free(f);
    }
    return bits;
}

static double codes_store(const lab_options *o, const char *store, double mean, double theta) {
    uint64_t *const count = lab_alloc(CODES_KEYS, sizeof *count);
    eb_hash *const hash = lab_alloc(CODES_KEYS, sizeof *hash);
    const eb_batch all = A_BATCH(CODES_KEYS, hash, count, NULL);
    lab_rng random = {lab_mix(o->seed)};
    p004_zipf(count, CODES_KEYS, CODES_KEYS * mean, theta);
    for (size_t i = 0; i < CODES_KEYS; i++) hash[i] = lab_random(&random);
    const double bits = p004_least_bits(store, floor(CODES_KEYS / .7) * CODES_K, CODES_K, &all);
    free(hash);
    free(count);
    return bits;
}

typedef struct codes_line {
    double mean, theta, entropy, mean_log, elias, steps, digits; /* expected */
    double line_most;                                            /* promised */
} codes_line;

static bool codes_near(double got, double expected) {
    return fabs(got - expected) <= 0.03 * expected + 0.02;
}

void p004_run_figure10(lab_options *o) {
    static const codes_line lines[] = {
        {1, 1, 1.78, .26, 2.61, 1.90, 2.16, 0},     {2, 1, 1.94, .33, 2.67, 2.03, 2.24, 2.7},
        {10, 0, 1.59, 2.18, 4.69, 5.70, 4.13, 0},   {10, 1, 2.80, .88, 3.15, 3.03, 2.86, 3.6},
        {100, .5, 4.90, 3.63, 6.53, 7.51, 6.26, 0}, {100, 1, 4.39, 2.72, 5.39, 6.30, 5.17, 7.2}};
    lab_table *const t = lab_table_new(
        "mean count, skew|entropy|log C|Elias|steps|digits|expected: log C|Elias|steps|digits|"
        "`line` needs|predicted|`sai` needs|predicted|verdict");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const codes_line *const l = &lines[i];
        const codes_bits b = codes_measure(o, l->mean, l->theta);
        const double line = codes_store(o, "line", l->mean, l->theta);
        const double sai = codes_store(o, "sai", l->mean, l->theta);
        double predicted[2];
        for (int s = 0; s < 2; s++) {
            char spec[120];
            eb_prediction p = {.size = sizeof p};
            const eb_workload load = {.size = sizeof load,
                                      .items = CODES_KEYS * l->mean,
                                      .distinct = CODES_KEYS,
                                      .zipf = l->theta};
            snprintf(spec, sizeof spec, "spectral:update=plain,store=%s,span=0,cells=1000000",
                     s ? "sai" : "line");
            if (eb_predict(spec, &load, NULL, 1, &p, NULL)) lab_die("predicting failed");
            predicted[s] = p.bits;
        }
        const bool agrees = codes_near(b.mean_log, l->mean_log) && codes_near(b.elias, l->elias) &&
                            codes_near(b.steps, l->steps) && codes_near(b.digits, l->digits);
        lab_table_row(t,
                      "%g, %g|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f|%s",
                      l->mean, l->theta, b.entropy, b.mean_log, b.elias, b.steps, b.digits,
                      l->mean_log, l->elias, l->steps, l->digits, line, predicted[0], sai,
                      predicted[1], agrees ? "agrees" : "DIFFERS");
        lab_promise(o, agrees, "mean %g, skew %g: lengths of codes", l->mean, l->theta);
        lab_promise(o, l->line_most == 0 || line <= l->line_most,
                    "mean %g: line needs %.2f bits, at most %.1f", l->mean, line, l->line_most);
    }
    lab_table_print(t, o);
}

void p004_run_codes(lab_options *o) {
    puts("mean,log,entropy,elias,steps,digits");
    for (double mean = 1; mean < 130; mean *= 1.35) {
        const codes_bits b = codes_measure(o, mean, 0.5);
        printf("%g,%.4f,%.4f,%.4f,%.4f,%.4f\n", mean, b.mean_log, b.entropy, b.elias, b.steps,
               b.digits);
    }
}
