/* paper_001.c - "Weighted Bloom Filter": real filters with classes, and the list of
 * experiments.  What agrees and what does not: docs/papers/001.md. */
#include "paper_001.h"
#include <math.h>

enum { W_BATCH = 256, W_ASKED = 1600000 }; /* keys asked for in a run, as many in each class */

typedef struct w_run {
    eb_filter *f;
    lab_rng random;
} w_run;

/* Adds, or asks for, so many keys of a class; returns how many were seen. */
static uint64_t w_keys(w_run *w, uint32_t class_number, uint64_t count, bool add) {
    uint64_t hash[W_BATCH], seen_in_all = 0;
    uint64_t value[W_BATCH];
    uint8_t seen[W_BATCH];
    for (int i = 0; i < W_BATCH; i++) value[i] = class_number;
    for (uint64_t at = 0; at < count; at += W_BATCH) {
        const eb_batch b = A_BATCH(count - at < W_BATCH ? count - at : W_BATCH, hash, value, NULL);
        for (size_t i = 0; i < b.n; i++) hash[i] = lab_random(&w->random);
        const eb_status s = add ? calls_add(w->f, &b, seen) : calls_ask(w->f, &b, seen);
        if (s) lab_die("a batch failed: %s", eb_status_name(s));
        for (size_t i = 0; i < b.n; i++) seen_in_all += seen[i];
    }
    return seen_in_all;
}

static void w_open(w_run *w, const uint8_t *k, size_t n, double bits, uint64_t seed) {
    char spec[200];
    eb_error err;
    int at = snprintf(spec, sizeof spec, "weighted:cells=%.0f,seed=%llu,class_bits=", round(bits),
                      (unsigned long long)seed);
    for (size_t c = 0; c < n; c++)
        at += snprintf(spec + at, sizeof spec - (size_t)at, "%s%u", c ? ":" : "", k[c]);
    if (eb_new(&w->f, spec, NULL, &err)) lab_die("%s: %s", spec, err.text);
    w->random.state = lab_mix(seed + 1);
}

static uint64_t w_members(const eb_class *c) {
    return (uint64_t)(c->members + 0.5);
}

/* Adds the members of all classes, or asks for the same again. */
static uint64_t w_all_members(w_run *w, const eb_class *classes, size_t n, uint64_t seed,
                              bool add) {
    uint64_t seen = 0;
    w->random.state = lab_mix(seed + 1);
    for (size_t c = 0; c < n; c++) seen += w_keys(w, (uint32_t)c + 1, w_members(&classes[c]), add);
    return seen;
}

/* One run: its false positive rate, with the binomial error of the keys asked for. */
static p001_sample w_one(const eb_class *classes, size_t n, const uint8_t *k, double bits,
                         uint64_t seed) {
    w_run w;
    p001_sample out = {0};
    double queries = 0, variance = 0;
    w_open(&w, k, n, bits, seed);
    (void)w_all_members(&w, classes, n, seed, true);
    for (size_t c = 0; c < n; c++) out.members += w_members(&classes[c]);
    out.missed = out.members - w_all_members(&w, classes, n, seed, false);
    eb_stats s = {.size = sizeof s};
    calls_stat(w.f, &s);
    out.fill = s.fill;
    for (size_t c = 0; c < n; c++) queries += classes[c].queries;
    for (size_t c = 0; c < n; c++) {
        const double share = classes[c].queries / queries, rate = pow(s.fill, k[c]);
        if (rate < 1e-4) {
            out.fpr += share * rate;
            continue;
        }
        const uint64_t asked = W_ASKED / n, seen = w_keys(&w, (uint32_t)c + 1, asked, false);
        out.fpr += share * (double)seen / (double)asked;
        variance += share * share * rate * (1 - rate) / (double)asked;
    }
    out.error = sqrt(variance);
    eb_free(w.f);
    return out;
}

p001_sample p001_simulate(const lab_options *o, const eb_class *classes, size_t n, const uint8_t *k,
                          double bits) {
    p001_sample sum = {0};
    double squares = 0;
    for (unsigned i = 0; i < o->seeds; i++) {
        const p001_sample one = w_one(classes, n, k, bits, o->seed + i);
        sum.fill += one.fill / o->seeds;
        sum.fpr += one.fpr / o->seeds;
        sum.members += one.members;
        sum.missed += one.missed;
        squares += one.error * one.error;
    }
    sum.error = sqrt(squares) / o->seeds;
    return sum;
}

double p001_plain(double bits_per_member, unsigned *k) {
    double best = 1;
    for (unsigned each = 1; each <= EB_CLASS_K_MAX; each++) {
        const double fpr = pow(1 - exp(-(double)each / bits_per_member), each);
        if (fpr < best) best = fpr, *k = each;
    }
    return best;
}

static const lab_experiment p001_experiments[] = {
    {"figure1", "Figure 1: improvement by two classes, and its greatest value", p001_run_figure1},
    {"profiles", "Zipf queries, members likely or unlikely popular: eq. (5), corrected rule",
     p001_run_profiles},
    {"measured", "some of these with real filters of eight classes", p001_run_measured},
    {"rounding", "what whole numbers of bits cost", p001_run_rounding},
    {"hot", "classes without false negatives: true frequencies, hot lists", p001_run_hot},
    {"surface", "the surface of Figure 1 as CSV", p001_run_surface},
    {"skew", "improvement against the skew of the queries as CSV", p001_run_skew},
    {0}};

const lab_paper lab_paper_001 = {"001", "the weighted filter", p001_experiments, "surface", 1, 3};
