/* p004_measure.c - runs of a case with several seeds, and the rows that report them. */
#include "paper_004.h"
#include <math.h>
#include <stdlib.h>

enum { MEASURE_BATCH = 100, MEASURE_PHASES = 10 };

/* Feeding */

static void measure_add(p004_world *w, const p004_way *way, size_t at, size_t n) {
    eb_hash h[MEASURE_BATCH];
    for (size_t i = 0; i < n; i++) {
        w->now[w->order[at + i]]++;
        h[i] = w->hash[w->order[at + i]];
    }
    way->add(way->state, h, n);
}

static void measure_remove(p004_world *w, const p004_way *way, size_t key, uint64_t times) {
    if (times == 0) return;
    w->now[key] -= times;
    way->remove(way->state, w->hash[key], times);
}

static void measure_delete_some(p004_world *w, const p004_way *way) {
    for (size_t i = 0; i < w->keys / 20; i++) {
        const size_t key = lab_below(&w->random, w->keys);
        measure_remove(w, way, key, w->now[key]);
    }
}

void p004_feed(p004_world *w, const p004_way *way, p004_phases phases) {
    const size_t window = w->records / 5, phase = w->records / MEASURE_PHASES;
    for (size_t at = 0, n; at < w->records; at += n) {
        n = w->records - at < MEASURE_BATCH ? w->records - at : MEASURE_BATCH;
        measure_add(w, way, at, n);
        if (phases == P004_DELETIONS && (at + n) / phase > at / phase) measure_delete_some(w, way);
        for (size_t i = 0; phases == P004_WINDOW && i < n; i++)
            if (at + i >= window) measure_remove(w, way, w->order[at + i - window], 1);
    }
}

p004_errors p004_compare(const p004_world *w, const p004_way *way) {
    p004_errors e = {0, 0, 0};
    for (size_t i = 0; i < w->keys; i++) {
        double count;
        way->count(way->state, &w->hash[i], 1, &count);
        const double off = count - (double)w->now[i];
        e.ratio += off != 0;
        e.low += off < 0;
        e.size += off * off;
    }
    e.ratio /= (double)w->keys;
    e.low /= (double)w->keys;
    e.size = sqrt(e.size / (double)w->keys);
    return e;
}

/* Runs */

p004_case p004_usual(p004_policy policy, double gamma, double theta) {
    p004_case c = {.policy = policy, .keys = 1000, .records = 100000, .theta = theta};
    c.size = p004_size_of(policy, c.keys, 5, gamma);
    return c;
}

typedef struct measure_job {
    const p004_case *c;
    const uint64_t *count;
    uint64_t seed;
    p004_errors *errors; /* of each run */
} measure_job;

static void measure_one(void *ctx, size_t i) {
    const measure_job *const job = ctx;
    const uint64_t seed = job->seed + i;
    p004_world w = p004_world_new(job->count, job->c->keys, job->c->order, seed);
    const p004_way way = p004_way_new(job->c->policy, &job->c->size, seed);
    p004_feed(&w, &way, job->c->phases);
    job->errors[i] = p004_compare(&w, &way);
    way.release(way.state);
    p004_world_free(&w);
}

void p004_spread(const double *x, size_t bytes, unsigned n, double *mean, double *sd) {
    const size_t step = bytes / sizeof *x;
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < n; i++) sum += x[i * step];
    *mean = sum / n;
    for (unsigned i = 0; i < n; i++) squares += (x[i * step] - *mean) * (x[i * step] - *mean);
    *sd = n > 1 ? sqrt(squares / (n - 1)) : 0;
}

p004_result p004_run(const lab_options *o, const p004_case *c) {
    uint64_t *const zipf = lab_alloc(c->keys, sizeof *zipf);
    p004_errors *const e = lab_alloc(o->seeds, sizeof *e);
    measure_job job = {c, c->count ? c->count : zipf, o->seed, e};
    p004_result r;
    if (!c->count) p004_zipf(zipf, c->keys, c->records, c->theta);
    lab_parallel(o->threads, o->seeds, measure_one, &job);
    p004_spread(&e->ratio, sizeof *e, o->seeds, &r.mean.ratio, &r.sd.ratio);
    p004_spread(&e->size, sizeof *e, o->seeds, &r.mean.size, &r.sd.size);
    p004_spread(&e->low, sizeof *e, o->seeds, &r.mean.low, &r.sd.low);
    free(e);
    free(zipf);
    return r;
}

/* Reports */

lab_table *p004_cells_new(const char *what) {
    char columns[200];
    snprintf(columns, sizeof columns, "%s|published|expected|measured|sd of a run|verdict", what);
    return lab_table_new(columns);
}

static void measure_number(char *text, size_t cap, double x, int digits) {
    if (isnan(x))
        snprintf(text, cap, "-");
    else
        snprintf(text, cap, "%.*f", digits, x);
}

void p004_cell_row(lab_options *o, lab_table *t, const char *what, const p004_cell *c) {
    char published[32], expected[32];
    const double sd = c->sd > 0 ? c->sd : c->got_sd;
    const double limit = 4 * sd * sqrt(1.0 / o->seeds + 1 / 50.0) + pow(10, -c->digits);
    const bool known = !isnan(c->expected), kept = known && fabs(c->got - c->expected) <= limit;
    measure_number(published, sizeof published, c->published, c->digits);
    measure_number(expected, sizeof expected, c->expected, c->digits);
    lab_table_row(t, "%s|%s|%s|%.*f|%.*f|%s", what, published, expected, c->digits, c->got,
                  c->digits, c->got_sd,
                  !known ? "-"
                  : kept ? "agrees"
                         : "DIFFERS");
    if (known)
        lab_promise(o, kept, "%s is %.*f, within %.*f of %.*f", what, c->digits, c->got,
                    c->digits + 1, limit, c->digits, c->expected);
}
