/* p002_costs.c - what single adds cost in time, while eras pass: is one slow because of the filter?
 *
 * Each turn of the loop times an add to each filter, and two controls: nothing at all, and four
 * random bytes of as much memory, read and written.  A machine that interrupts programs does so
 * to all of them, in proportion to the time they take: then the slow ones in a second of work are
 * the same for all.  In steps of the program, which nothing interrupts: tests/test_decay_costs.c.
 */
#include "paper_002.h"
#include <stdlib.h>
#include <time.h>

enum { NOTHING, LINES, FIRST, FILTERS = 2, ROWS = FIRST + FILTERS, MEMORY = 4 << 20 };
static const char *const names[ROWS] = {"nothing", "4 random bytes", "decay:halflife=100000",
                                        "aging:period=100000"};

typedef struct costs_job {
    eb_filter *filter[FILTERS];
    uint8_t *bytes;
    double *ns[ROWS];
    size_t n;
} costs_job;

static double costs_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void touch_bytes(const costs_job *job, uint64_t x) {
    for (int i = 0; i < P002_K; i++) job->bytes[(x = lab_mix(x)) % MEMORY]++;
}

static void add_once(eb_filter *f, eb_hash hash, uint64_t time) {
    if (eb_add_batch(f, &A_BATCH(1, &hash, NULL, &time), NULL)) lab_die("an add failed");
}

/* Every page of a new block costs a fault when it is first written: that is done before. */
static void costs_warm(const costs_job *job) {
    for (uint64_t i = 0; i < MEMORY / 32; i++) {
        for (int j = 0; j < FILTERS; j++) add_once(job->filter[j], lab_mix(i), 0);
        touch_bytes(job, i);
    }
}

static void costs_measure(const costs_job *job, uint64_t seed) {
    lab_rng random = {seed};
    for (size_t i = 0; i < job->n; i++) {
        const eb_hash hash = lab_mix(lab_below(&random, 200000));
        double at[ROWS + 1] = {costs_now(), costs_now()};
        touch_bytes(job, hash);
        at[FIRST] = costs_now();
        for (int j = 0; j < FILTERS; j++) {
            add_once(job->filter[j], hash, i + 1);
            at[FIRST + j + 1] = costs_now();
        }
        for (int j = 0; j < ROWS; j++) job->ns[j][i] = at[j + 1] - at[j];
    }
}

static size_t above(const double *sorted, size_t n, double limit) {
    size_t from = n;
    while (from > 0 && sorted[from - 1] > limit) from--;
    return n - from;
}

static void costs_print(const lab_options *o, const costs_job *job) {
    lab_table *const t = lab_table_new("an add to|median ns|99.9 % within|above 10 medians, %|"
                                       "above 10 of the largest median, in a second of work");
    double largest = 0;
    for (int j = 0; j < ROWS; j++) {
        qsort(job->ns[j], job->n, sizeof **job->ns, p002_by_size);
        if (job->ns[j][job->n / 2] > largest) largest = job->ns[j][job->n / 2];
    }
    for (int j = 0; j < ROWS; j++) {
        const double *const ns = job->ns[j], median = ns[job->n / 2];
        double seconds = 0;
        for (size_t i = 0; i < job->n; i++) seconds += (ns[i] < 10 * median ? ns[i] : median) / 1e9;
        lab_table_row(t, j < FIRST ? "*%s*|%.0f|%.0f|%.3f|%.0f" : "`%s`|%.0f|%.0f|%.3f|%.0f",
                      names[j], median, ns[job->n - job->n / 1000 - 1],
                      100 * (double)above(ns, job->n, 10 * median) / (double)job->n,
                      (double)above(ns, job->n, 10 * largest) / seconds);
    }
    lab_table_print(t, o);
}

void p002_run_costs(lab_options *o) {
    costs_job job = {.bytes = lab_alloc(MEMORY, 1), .n = (size_t)(1000000 / o->scale)};
    for (int j = 0; j < ROWS; j++) job.ns[j] = lab_alloc(job.n, sizeof **job.ns);
    for (int j = 0; j < FILTERS; j++) {
        char spec[P002_SPEC];
        eb_error err;
        snprintf(spec, sizeof spec, "%s,memory=%d,seed=1", names[FIRST + j], MEMORY);
        if (eb_new(&job.filter[j], spec, NULL, &err)) lab_die("%s: %s", spec, err.text);
    }
    costs_warm(&job);
    costs_measure(&job, o->seed);
    costs_print(o, &job);
    for (int j = 0; j < ROWS; j++) free(job.ns[j]);
    for (int j = 0; j < FILTERS; j++) eb_free(job.filter[j]);
    free(job.bytes);
}
