/* p000_probe.c - long streams of fresh keys with importance, and questions about
 * keys that came an exact number of arrivals ago.
 *
 * Key i of a run has hash lab_mix(i + salt); its importance is another hash of it,
 * so nothing is remembered.  Every arrival is fresh: each "seen" is a false
 * positive.  Every question is about a key that came: each "not seen" is a false
 * negative. */
#include "paper_000.h"
#include <math.h>
#include <stdlib.h>

enum { PROBE_BLOCKS = 24, PROBE_LOOKS = 6 }; /* blocks of a run, looks at the zeros in each */

static uint32_t probe_importance(uint64_t hash, uint32_t high) {
    lab_rng r = {hash};
    return 1 + (uint32_t)lab_below(&r, high);
}

static bool probe_add(eb_filter *f, uint64_t hash, uint32_t high) {
    const uint64_t value = probe_importance(hash, high);
    const eb_batch one = A_BATCH(1, &hash, &value, NULL);
    uint8_t seen;
    const eb_status s = calls_add(f, &one, &seen);
    if (s) lab_die("adding a key failed: %s", eb_status_name(s));
    return seen;
}

static void probe_ask(const eb_filter *f, p000_probe *p, uint64_t added, uint64_t salt) {
    for (size_t g = 0; g < P000_GAPS && p->gap[g]; g++) {
        const uint64_t hash = lab_mix(added - 1 - p->gap[g] + salt);
        const uint64_t value = probe_importance(hash, p->high);
        uint8_t seen;
        calls_test(f, &hash, 1, &seen);
        p->asked[g][value]++;
        p->missed[g][value] += !seen;
    }
}

static double probe_zeros(const eb_filter *f) {
    eb_stats s = {.size = sizeof s};
    calls_stat(f, &s);
    return 1 - s.fill;
}

static void probe_note(p000_mean *m, double value) {
    m->sum += value;
    m->squares += value * value;
    m->count++;
}

static void probe_block(eb_filter *f, p000_probe *p, uint64_t *at, uint64_t salt) {
    const uint64_t length = p->arrivals / PROBE_BLOCKS, look = length / PROBE_LOOKS;
    double seen = 0, zeros = 0, looks = 0;
    for (uint64_t i = 1; i <= length; i++) {
        seen += probe_add(f, lab_mix((*at)++ + salt), p->high);
        probe_ask(f, p, *at, salt);
        if (i % look == 0) zeros += probe_zeros(f), looks++;
    }
    probe_note(&p->fpr, seen / (double)length);
    probe_note(&p->zeros, zeros / looks);
}

static void probe_run(p000_probe *p, uint64_t seed) {
    char spec[P000_SPEC + 40];
    eb_filter *f;
    eb_error err;
    const uint64_t salt = lab_mix(seed + 1);
    uint64_t at = 0;
    snprintf(spec, sizeof spec, "%s,seed=%llu", p->spec, (unsigned long long)seed);
    if (eb_new(&f, spec, NULL, &err)) lab_die("%s: %s", spec, err.text);
    while (at < p->warm_up) (void)probe_add(f, lab_mix(at++ + salt), p->high);
    for (int b = 0; b < PROBE_BLOCKS; b++) probe_block(f, p, &at, salt);
    eb_free(f);
}

/* Several seeds */

typedef struct probe_work {
    const lab_options *o;
    p000_probe *run; /* seeds for each probe */
} probe_work;

static void probe_job(void *ctx, size_t i) {
    const probe_work *w = ctx;
    probe_run(&w->run[i], w->o->seed + i % w->o->seeds);
}

static void probe_pool_mean(p000_mean *into, const p000_mean *from) {
    into->sum += from->sum;
    into->squares += from->squares;
    into->count += from->count;
}

static void probe_pool(p000_probe *into, const p000_probe *from) {
    probe_pool_mean(&into->zeros, &from->zeros);
    probe_pool_mean(&into->fpr, &from->fpr);
    for (size_t g = 0; g < P000_GAPS; g++)
        for (size_t v = 0; v <= P000_HIGH; v++) {
            into->asked[g][v] += from->asked[g][v];
            into->missed[g][v] += from->missed[g][v];
        }
}

void p000_probe_all(const lab_options *o, p000_probe *probes, size_t count) {
    probe_work w = {o, lab_alloc(count * o->seeds, sizeof *w.run)};
    for (size_t i = 0; i < count * o->seeds; i++) w.run[i] = probes[i / o->seeds];
    lab_parallel(o->threads, count * o->seeds, probe_job, &w);
    for (size_t i = 0; i < count * o->seeds; i++) probe_pool(&probes[i / o->seeds], &w.run[i]);
    free(w.run);
}

double p000_mean_of(const p000_mean *m) {
    return m->sum / m->count;
}

double p000_error_of(const p000_mean *m) {
    const double mean = p000_mean_of(m);
    return sqrt(fmax(0, m->squares / m->count - mean * mean) / (m->count - 1));
}

double p000_fnr(const p000_probe *p, size_t g, uint32_t from, uint32_t to, bool weighted) {
    double missed = 0, asked = 0;
    for (uint32_t v = from; v <= to; v++) {
        missed += (weighted ? v : 1) * (double)p->missed[g][v];
        asked += (weighted ? v : 1) * (double)p->asked[g][v];
    }
    return asked > 0 ? missed / asked : 0;
}

double p000_fnr_error(const p000_probe *p, size_t g, uint32_t from, uint32_t to, bool weighted) {
    double variance = 0, asked = 0;
    for (uint32_t v = from; v <= to; v++) {
        const double weight = weighted ? v : 1, n = (double)p->asked[g][v];
        const double rate = n > 0 ? (double)p->missed[g][v] / n : 0;
        variance += weight * weight * n * rate * (1 - rate);
        asked += weight * n;
    }
    return asked > 0 ? sqrt(variance) / asked : 0;
}
