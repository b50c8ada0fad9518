/* run.c - drives one stream through filters side by side, against the truth.
 *
 * All subjects see the same records; the hash of an id is the same for all. */
#include "lab.h"
#include <stdlib.h>
#include <string.h>

enum { RUN_BATCH = 1024 };

static void run_filter_add(void *state, const eb_batch *b, uint8_t *seen) {
    const eb_status s = calls_add(state, b, seen);
    if (s) lab_die("adding a batch failed: %s", eb_status_name(s));
}

static void run_filter_release(void *state) {
    eb_free(state);
}

static double run_filter_load(const void *state) {
    eb_stats s = {.size = sizeof s};
    calls_stat(state, &s);
    return s.fill;
}

lab_subject lab_filter(const char *name, const char *spec) {
    eb_filter *f;
    eb_error err;
    if (eb_new(&f, spec, NULL, &err)) lab_die("%s: %s", spec, err.text);
    lab_subject s = {
        .state = f, .add = run_filter_add, .release = run_filter_release, .load = run_filter_load};
    snprintf(s.name, sizeof s.name, "%s", name);
    return s;
}

static size_t run_batch_size(const lab_watch *w, uint64_t at) {
    uint64_t n = RUN_BATCH;
    if (at < w->warm_up && w->warm_up - at < n) n = w->warm_up - at;
    if (w->interval && w->interval - at % w->interval < n) n = w->interval - at % w->interval;
    return (size_t)n;
}

static void run_batch(lab_subject *subjects, size_t count, const uint64_t *hash, size_t n,
                      const uint8_t *first, bool counted) {
    uint8_t seen[RUN_BATCH];
    const eb_batch b = A_BATCH(n, hash, NULL, NULL);
    for (size_t k = 0; k < count; k++) {
        subjects[k].add(subjects[k].state, &b, seen);
        if (counted) lab_rates_count(&subjects[k].rates, first, seen, n);
    }
}

void lab_run(lab_stream *s, lab_subject *subjects, size_t count, const lab_watch *watch) {
    static const lab_watch none = {0};
    const lab_watch *w = watch ? watch : &none;
    const uint64_t salt = lab_stream_salt(s);
    uint64_t ids[RUN_BATCH], at = 0;
    uint8_t first[RUN_BATCH];
    lab_truth *truth = lab_truth_new(lab_stream_ids(s));
    for (size_t n; (n = lab_stream_next(s, ids, run_batch_size(w, at)));) {
        lab_truth_first(truth, ids, n, first);
        for (size_t i = 0; i < n; i++) ids[i] = lab_mix(ids[i] + salt);
        run_batch(subjects, count, ids, n, first, at >= w->warm_up);
        at += n;
        if (w->interval && at % w->interval == 0) w->point(w->ctx, at, subjects, count);
    }
    lab_truth_free(truth);
    lab_stream_free(s);
    for (size_t k = 0; k < count; k++) subjects[k].release(subjects[k].state);
}
