/* growth.c - the table of docs/decisions/growth.md: what a Bloom filter that grows costs and keeps.
 *
 * Keys are added until there are so many times the first limit; then a million keys are asked that
 * were never added.  Bits a key are those of all memory at that moment, beside those of a filter
 * that was made for as many keys. */
#include "bench.h"

enum { GROWTH_FIRST = 10000, GROWTH_ASKED = 1000000 };

static void growth_hashes(uint64_t from, size_t n, eb_hash *hash) {
    for (size_t i = 0; i < n; i++) hash[i] = workload_mix(from + i);
}

static uint64_t growth_ask(const eb_filter *f) {
    static eb_hash hash[CHUNK];
    static uint8_t seen[CHUNK];
    uint64_t found = 0;
    for (size_t done = 0, n; done < GROWTH_ASKED; done += n) {
        n = GROWTH_ASKED - done < CHUNK ? GROWTH_ASKED - done : CHUNK;
        growth_hashes(ABSENT + done, n, hash);
        calls_test(f, hash, n, seen);
        for (size_t i = 0; i < n; i++) found += seen[i];
    }
    return found;
}

static void growth_add(eb_filter *f, size_t keys) {
    static eb_hash hash[CHUNK];
    eb_error err;
    for (size_t done = 0, n; done < keys; done += n) {
        n = keys - done < CHUNK ? keys - done : CHUNK;
        growth_hashes(done, n, hash);
        const eb_batch b = eb_batch_hashes(hash, n);
        calls_must(eb_add_batch(f, &b, &err), &err);
    }
}

/* Bits a key of a plain filter for so many keys. */
static double growth_right_size(double fpr, size_t keys) {
    char spec[EB_SPEC_MAX];
    eb_spec_info info = {.size = sizeof info};
    eb_error err;
    double cells;
    snprintf(spec, sizeof spec, "bloom:distinct=%zu,fpr=%g", keys, fpr);
    calls_must(eb_spec_describe(spec, &info, &err), &err);
    calls_must(eb_spec_get(info.canonical, "cells", NULL, 0, &cells, &err), &err);
    return cells / (double)keys;
}

/* Returns 1 if the promise was broken. */
static int growth_row(double fpr, unsigned grow, unsigned times) {
    const size_t keys = (size_t)times * GROWTH_FIRST;
    char spec[EB_SPEC_MAX];
    eb_filter *f;
    eb_error err;
    eb_stats stats = {.size = sizeof stats};
    snprintf(spec, sizeof spec, "bloom:limit=%d,fpr=%g,grow=%u", GROWTH_FIRST, fpr, grow);
    if (eb_new(&f, spec, NULL, &err)) bench_die(spec, err.text);
    growth_add(f, keys);
    calls_must(eb_stat(f, 0, &stats, &err), &err);
    const double rate = (double)growth_ask(f) / GROWTH_ASKED;
    const double bits = 8 * (double)stats.bytes / (double)keys,
                 right = growth_right_size(fpr, keys);
    printf("| %g | %u | %u | %llu | %.5f | %.1f | %.1f | %.2f |\n", fpr, grow, times,
           (unsigned long long)stats.parts, rate, bits, right, bits / right);
    eb_free(f);
    return rate > fpr + 5 * sqrt(fpr / GROWTH_ASKED);
}

int growth_bench(void) {
    static const struct {
        double fpr;
        unsigned grow, times;
    } rows[] = {{0.01, 1, 10},  {0.01, 1, 50},  {0.01, 2, 10},   {0.01, 2, 100}, {0.01, 4, 100},
                {0.001, 1, 50}, {0.001, 2, 10}, {0.001, 2, 100}, {0.001, 4, 100}};
    int broken = 0;
    puts("| fpr | grow | times the first limit | parts | false positives | bits a key | filter of "
         "the "
         "right size | ratio |\n| --- | --- | --- | --- | --- | --- | --- | --- |");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        broken += growth_row(rows[i].fpr, rows[i].grow, rows[i].times);
    return broken;
}
