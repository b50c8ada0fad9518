/* paper_002.c - "Time-Decaying Bloom Filters for Data Streams with Skewed Distributions": the
 * streams, and the list of experiments.  What agrees and what does not: docs/papers/002.md. */
#include "paper_002.h"
#include <math.h>
#include <stdlib.h>

/* Counters: a multiple of what every store needs. */
enum { P002_CELLS = 3360, P002_BATCH = 512 };

/* Columns of equal height, each shared by at most two keys (Walker's alias method). */
static void stream_aliases(p002_stream *s) {
    double sum = 0;
    uint32_t *const small = lab_alloc(s->keys, sizeof *small);
    uint32_t *const large = lab_alloc(s->keys, sizeof *large);
    size_t smalls = 0, larges = 0;
    for (size_t i = 0; i < s->keys; i++) sum += s->pass[i] = pow((double)i + 1, -s->zipf);
    for (size_t i = 0; i < s->keys; i++) {
        s->pass[i] *= (double)s->keys / sum;
        if (s->pass[i] < 1)
            small[smalls++] = (uint32_t)i;
        else
            large[larges++] = (uint32_t)i;
    }
    while (smalls > 0 && larges > 0) {
        const uint32_t a = small[--smalls], b = large[larges - 1];
        s->other[a] = b;
        s->pass[b] -= 1 - s->pass[a];
        if (s->pass[b] < 1) small[smalls++] = large[--larges];
    }
    while (larges > 0) s->pass[large[--larges]] = 1;
    while (smalls > 0) s->pass[small[--smalls]] = 1;
    free(small);
    free(large);
}

p002_stream p002_open(const lab_options *o, double zipf, double factor, double bits_per_key,
                      uint64_t seed) {
    p002_stream s = {.keys = (size_t)(50000 / o->scale),
                     .arrivals = (size_t)(200000 / o->scale),
                     .zipf = zipf,
                     .factor = factor,
                     .seed = seed,
                     .random = {lab_mix(seed + 1)}};
    s.cells = P002_CELLS * (size_t)fmax(1, round((double)s.keys * bits_per_key / P002_CELLS));
    s.pass = lab_alloc(s.keys, sizeof *s.pass);
    s.other = lab_alloc(s.keys, sizeof *s.other);
    s.arrived = lab_alloc(s.arrivals, sizeof *s.arrived);
    s.count = lab_alloc(s.keys, sizeof *s.count);
    stream_aliases(&s);
    return s;
}

void p002_close(p002_stream *s) {
    free(s->pass);
    free(s->other);
    free(s->arrived);
    free(s->count);
}

void p002_epoch(p002_stream *s) {
    for (size_t i = 0; i < s->keys; i++) s->count[i] *= s->factor;
    for (size_t i = 0; i < s->arrivals; i++) {
        const uint32_t column = (uint32_t)lab_below(&s->random, s->keys);
        const bool own = lab_unit(&s->random) < s->pass[column];
        s->arrived[i] = own ? column : s->other[column];
        s->count[s->arrived[i]]++;
    }
}

size_t p002_epochs(const p002_stream *s) {
    return (size_t)ceil(4 / (1 - s->factor)) + 4;
}

uint64_t p002_hash(const p002_stream *s, uint32_t key) {
    return lab_mix(key + lab_mix(s->seed));
}

eb_filter *p002_filter(const p002_stream *s, const char *options) {
    char spec[P002_SPEC];
    eb_filter *f;
    eb_error err;
    snprintf(spec, sizeof spec, "decay:k=%d,cells=%zu,factor=%g,period=%zu,seed=%llu,%s", P002_K,
             s->cells, s->factor, s->arrivals, (unsigned long long)s->seed, options);
    if (eb_new(&f, spec, NULL, &err)) lab_die("%s: %s", spec, err.text);
    return f;
}

/* Epoch e of the stream has the times e * arrivals .. (e+1) * arrivals - 1, all the same period. */
void p002_feed(const p002_stream *s, eb_filter *f) {
    eb_stats st = {.size = sizeof st};
    calls_stat(f, &st);
    const uint64_t start = st.adds / s->arrivals * s->arrivals;
    for (size_t at = 0; at < s->arrivals; at += P002_BATCH) {
        eb_hash hash[P002_BATCH];
        uint64_t time[P002_BATCH];
        const size_t n = s->arrivals - at < P002_BATCH ? s->arrivals - at : P002_BATCH;
        for (size_t i = 0; i < n; i++) {
            hash[i] = p002_hash(s, s->arrived[at + i]);
            time[i] = start;
        }
        const eb_status status = eb_add_batch(f, &A_BATCH(n, hash, NULL, time), NULL);
        if (status) lab_die("a batch failed: %s", eb_status_name(status));
    }
}

static const lab_experiment p002_experiments[] = {
    {"memory", "Figure 3: bits a counter, basic and optimised, by skew and decay factor",
     p002_run_memory},
    {"space", "section 4.3: the space formula, and what it leaves out", p002_run_space},
    {"creation", "section 5: the time to create the filters", p002_run_creation},
    {"costs", "single adds while eras pass, beside controls", p002_run_costs},
    {"carry", "section 4: the two rules for a full counter", p002_run_carry},
    {"rounding", "whole numbers that fade: what rounding does", p002_run_rounding},
    {"lazy", "fading when needed against fading at once", p002_run_lazy},
    {"errors", "Claim 1, and how far estimates are too high, plain and conservative",
     p002_run_errors},
    {"windows", "a window of epochs: sum of minima against minimum of sums", p002_run_windows},
    {"memory-curves", "bits a counter against the decay factor as CSV", p002_run_memory_curves},
    {"error-curves", "errors against the decay factor as CSV", p002_run_error_curves},
    {0}};

const lab_paper lab_paper_002 = {
    "002", "time-decaying filters", p002_experiments, "memory-curves", 1, 3};
