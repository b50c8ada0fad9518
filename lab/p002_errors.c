/* p002_errors.c - Claim 1, and how far estimates are above the truth: plain and conservative
 * updates, and windows of epochs. */
#include "paper_002.h"
#include <math.h>
#include <stdlib.h>

typedef struct error_row {
    double cells_per_key, factor;
    double over[2]; /* mean, plain and conservative */
    size_t under;   /* by more than epsilon */
    double epsilon;
} error_row;

typedef struct error_job {
    const lab_options *o;
    error_row *rows;
} error_job;

static void measure_errors(const p002_stream *s, const eb_filter *f, error_row *r, double *over) {
    eb_stats st = {.size = sizeof st};
    calls_stat(f, &st);
    r->epsilon = st.too_low;
    for (uint32_t i = 0; i < s->keys; i++) {
        const eb_hash h = p002_hash(s, i);
        double count;
        calls_count(f, &h, 1, &count);
        *over += (count - s->count[i]) / (double)s->keys;
        r->under += count < s->count[i] * (1 - 1e-9) - st.too_low;
    }
}

static void error_run(void *ctx, size_t i) {
    const error_job *const job = ctx;
    error_row *const r = &job->rows[i];
    for (unsigned seed = 0; seed < job->o->seeds; seed++) {
        p002_stream s = p002_open(job->o, 1, r->factor, r->cells_per_key, job->o->seed + seed);
        eb_filter *f[2] = {p002_filter(&s, "mode=era"),
                           p002_filter(&s, "mode=era,update=conservative")};
        double over[2] = {0, 0};
        for (size_t e = p002_epochs(&s); e > 0; e--) {
            p002_epoch(&s);
            for (int j = 0; j < 2; j++) p002_feed(&s, f[j]);
        }
        for (int j = 0; j < 2; j++) {
            measure_errors(&s, f[j], r, &over[j]);
            r->over[j] += over[j] / job->o->seeds;
            eb_free(f[j]);
        }
        p002_close(&s);
    }
}

void p002_run_errors(lab_options *o) {
    error_row rows[] = {{3, .5, {0}, 0, 0}, {3, .9, {0}, 0, 0}, {3, .97, {0}, 0, 0},
                        {6, .5, {0}, 0, 0}, {6, .9, {0}, 0, 0}, {6, .97, {0}, 0, 0}};
    enum { ROWS = sizeof rows / sizeof *rows };
    lab_parallel(o->threads, ROWS, error_run, &(error_job){o, rows});
    lab_table *t = lab_table_new("counters a key|factor|plain: mean too high by|conservative|times "
                                 "less|too low by more than epsilon|epsilon");
    for (size_t i = 0; i < ROWS; i++) {
        const error_row *const r = &rows[i];
        const double less = r->over[0] / r->over[1];
        lab_table_row(t, "%.0f|%.2f|%.4f|%.4f|%.1f|%zu|%.4f", r->cells_per_key, r->factor,
                      r->over[0], r->over[1], less, r->under, r->epsilon);
        lab_promise(o, r->under == 0, "no key is too low by more than epsilon");
        lab_promise(o, less > 1.4, "conservative updates make errors smaller by 1.4 or more");
    }
    lab_table_print(t, o);
}

void p002_run_error_curves(lab_options *o) {
    enum { POINTS = 10, ROWS = 2 * POINTS };
    error_row rows[ROWS] = {{0}};
    for (size_t i = 0; i < ROWS; i++) {
        rows[i].cells_per_key = i < POINTS ? 3 : 6;
        rows[i].factor = 1 - 0.5 * pow(0.03 / 0.5, (double)(i % POINTS) / (POINTS - 1));
    }
    lab_parallel(o->threads, ROWS, error_run, &(error_job){o, rows});
    puts("cells,factor,plain,conservative");
    for (size_t i = 0; i < ROWS; i++)
        printf("%.0f,%.4f,%.6f,%.6f\n", rows[i].cells_per_key, rows[i].factor, rows[i].over[0],
               rows[i].over[1]);
}

/* A window of the last epochs, each with counters of its own */

enum { WINDOW = 8 };

typedef struct ring {
    uint32_t *plain[WINDOW], *conservative[WINDOW];
    double *truth;
} ring;

static void ring_add(const p002_stream *s, uint32_t *plain, uint32_t *conservative, uint32_t key) {
    uint64_t x = p002_hash(s, key), at[P002_K];
    uint32_t least = UINT32_MAX;
    for (int j = 0; j < P002_K; j++, x = lab_mix(x)) {
        at[j] = x % s->cells;
        plain[at[j]]++;
        least = conservative[at[j]] < least ? conservative[at[j]] : least;
    }
    for (int j = 0; j < P002_K; j++)
        if (conservative[at[j]] == least) conservative[at[j]]++;
}

typedef struct ring_count {
    double min_of_sums, sum_of_min, conservative;
} ring_count;

static ring_count ring_ask(const p002_stream *s, const ring *r, uint32_t key) {
    ring_count c = {INFINITY, 0, 0};
    uint64_t x = p002_hash(s, key), at[P002_K];
    for (int j = 0; j < P002_K; j++, x = lab_mix(x)) at[j] = x % s->cells;
    for (int j = 0; j < P002_K; j++) {
        double sum = 0;
        for (int e = 0; e < WINDOW; e++) sum += r->plain[e][at[j]];
        c.min_of_sums = fmin(c.min_of_sums, sum);
    }
    for (int e = 0; e < WINDOW; e++) {
        uint32_t plain = UINT32_MAX, conservative = UINT32_MAX;
        for (int j = 0; j < P002_K; j++) {
            plain = r->plain[e][at[j]] < plain ? r->plain[e][at[j]] : plain;
            if (r->conservative[e][at[j]] < conservative) conservative = r->conservative[e][at[j]];
        }
        c.sum_of_min += plain;
        c.conservative += conservative;
    }
    return c;
}

static void ring_run(lab_options *o, lab_table *t, double cells_per_key) {
    p002_stream s = p002_open(o, 1, 0.5, cells_per_key, o->seed);
    ring r = {.truth = lab_alloc(s.keys, sizeof *r.truth)};
    ring_count over = {0, 0, 0};
    size_t under = 0;
    for (int e = 0; e < WINDOW; e++) {
        r.plain[e] = lab_alloc(s.cells, sizeof **r.plain);
        r.conservative[e] = lab_alloc(s.cells, sizeof **r.conservative);
        p002_epoch(&s);
        for (size_t i = 0; i < s.arrivals; i++) {
            r.truth[s.arrived[i]]++;
            ring_add(&s, r.plain[e], r.conservative[e], s.arrived[i]);
        }
    }
    for (uint32_t i = 0; i < s.keys; i++) {
        const ring_count c = ring_ask(&s, &r, i);
        over.min_of_sums += (c.min_of_sums - r.truth[i]) / (double)s.keys;
        over.sum_of_min += (c.sum_of_min - r.truth[i]) / (double)s.keys;
        over.conservative += (c.conservative - r.truth[i]) / (double)s.keys;
        under += c.conservative < r.truth[i] || c.sum_of_min < r.truth[i];
    }
    lab_table_row(t, "%.0f|%.3f|%.3f|%.3f|%zu", cells_per_key, over.min_of_sums, over.sum_of_min,
                  over.conservative, under);
    lab_promise(o, under == 0, "no key is counted too low in a window");
    lab_promise(o, over.conservative < over.sum_of_min && over.sum_of_min < over.min_of_sums,
                "sums of minima are better, conservative ones best");
    for (int e = 0; e < WINDOW; e++) free(r.plain[e]), free(r.conservative[e]);
    free(r.truth);
    p002_close(&s);
}

void p002_run_windows(lab_options *o) {
    lab_table *t = lab_table_new("counters a key and epoch|minimum of sums|sum of minima|the same, "
                                 "conservative|keys too low");
    for (int cells = 1; cells <= 8; cells *= 2) ring_run(o, t, cells);
    lab_table_print(t, o);
}
