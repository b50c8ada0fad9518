/* p004_index.c - Figures 13 to 15: the string-array index in bits.
 *
 * The report's test: m counters, and ten times as many increments of random ones.
 * N is the sum of ceil(log2 C), slack half a bit a counter.  Its index took 2 to
 * 2.5 N bits more; a hash table would take log2 m bits a key besides its counts.
 * How fast it is (Figures 11 and 12) is measured by the benchmark. */
#include "paper_004.h"
#include <math.h>
#include <stdlib.h>

/* The mean of ceil(log2 C) for C of Poisson's law with mean 10 */
static double index_plain(void) {
    double p = exp(-10), sum = 0;
    for (int c = 1; c < 60; c++) {
        p *= 10.0 / c;
        sum += c > 1 ? p * ceil(log2(c)) : 0;
    }
    return sum;
}

static double index_keys(double m) { /* the mean of log2 of 1..m */
    return lgamma(m + 1) / log(2) / m;
}

void p004_run_index(lab_options *o) {
    static const double sizes[] = {1000, 10000, 100000};
    const double n = index_plain(), slack = 0.5;
    lab_table *const t =
        lab_table_new("counters|N|published: N, slack, index|`sai`|N + slack + 1.2 N|`line`|"
                      "besides counts: published|`sai`|hash table, at least");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const double m = sizes[i];
        const size_t adds = (size_t)(10 * m);
        eb_hash *const hash = lab_alloc(adds, sizeof *hash);
        const eb_batch all = A_BATCH(adds, hash, NULL, NULL);
        lab_rng random = {lab_mix(o->seed)};
        for (size_t j = 0; j < adds; j++) hash[j] = lab_random(&random);
        const double sai = p004_least_bits("sai", m, 1, &all);
        const double line = p004_least_bits("line", m, 1, &all);
        lab_table_row(t, "%.0f|%.2f|%.1f to %.1f|%.2f|%.2f|%.2f|%.1f to %.1f|%.2f|%.2f", m, n,
                      3 * n + slack, 3.5 * n + slack, sai, 2.2 * n + slack, line, 2 * n, 2.5 * n,
                      sai - n, index_keys(m));
        lab_promise(o, sai <= 2.2 * n + slack, "sai needs %.2f bits, at most %.2f", sai,
                    2.2 * n + slack);
        lab_promise(o, line <= 6.7, "line needs %.2f bits, at most 6.7", line);
        free(hash);
    }
    lab_table_print(t, o);
}
