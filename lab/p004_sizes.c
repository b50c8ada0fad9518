/* p004_sizes.c - sections 5.4 and 5.5: how many pairs a join has, and how many values lie in a
 * range. */
#include "paper_004.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sizes of joins: 10000 keys, 50000 tuples in each relation */

enum { SIZE_KEYS = 10000, SIZE_TUPLES = 50000 };

typedef struct size_relation {
    uint64_t count[SIZE_KEYS];
    uint64_t *tuple; /* a shuffle of all of them */
    size_t tuples;
    eb_filter *filter;
    eb_hash *sample;
} size_relation;

static void size_swap(uint64_t *x, size_t i, size_t j) {
    const uint64_t other = x[i];
    x[i] = x[j];
    x[j] = other;
}

static void size_fill(size_relation *r, const eb_hash *hash, double theta, bool mixed, size_t n,
                      lab_rng *random) {
    const char *const spec = "spectral:update=plain,k=5,cells=71425,span=0,store=u32";
    const eb_batch all = A_BATCH(SIZE_KEYS, hash, r->count, NULL);
    p004_zipf(r->count, SIZE_KEYS, SIZE_TUPLES, theta);
    for (size_t i = SIZE_KEYS - 1; mixed && i > 0; i--)
        size_swap(r->count, i, lab_below(random, i + 1));
    r->tuples = 0;
    for (size_t i = 0; i < SIZE_KEYS; i++) r->tuples += r->count[i];
    r->tuple = lab_alloc(r->tuples, sizeof *r->tuple);
    for (size_t i = 0, at = 0; i < SIZE_KEYS; i++)
        for (uint64_t c = 0; c < r->count[i]; c++) r->tuple[at++] = (uint64_t)i;
    r->sample = lab_alloc(n, sizeof *r->sample);
    for (size_t i = 0; i < n; i++) {
        size_swap(r->tuple, i, i + lab_below(random, r->tuples - i));
        r->sample[i] = hash[r->tuple[i]];
    }
    if (eb_new(&r->filter, spec, NULL, NULL) || eb_add_batch(r->filter, &all, NULL))
        lab_die("no filter");
}

static void size_free(size_relation *r) {
    free(r->tuple);
    free(r->sample);
    eb_free(r->filter);
}

/* Bifocal sampling as published: labels and dense pairs from the samples alone, exact counts
 * where they are looked up. */
static double size_published(const size_relation *r, const size_relation *s, size_t m1, size_t m2) {
    const double delta = log(SIZE_TUPLES), tau_r = (double)r->tuples / (double)m2,
                 tau_s = (double)s->tuples / (double)m2;
    double left = 0, right = 0, dense = 0;
    uint64_t *const a = lab_alloc(2 * SIZE_KEYS, sizeof *a), *const b = a + SIZE_KEYS;
    for (size_t i = 0; i < m2; i++) {
        const uint64_t x = s->tuple[i], y = r->tuple[i];
        if ((double)r->count[x] < tau_r) left += (double)r->count[x];
        if ((double)r->count[y] >= tau_r && (double)s->count[y] < tau_s)
            right += (double)s->count[y];
    }
    for (size_t i = 0; i < m1; i++) {
        a[r->tuple[i]]++;
        b[s->tuple[i]]++;
    }
    for (size_t i = 0; i < SIZE_KEYS; i++)
        if ((double)a[i] >= delta && (double)b[i] >= delta) dense += (double)a[i] * (double)b[i];
    free(a);
    return left * (double)s->tuples / (double)m2 + right * (double)r->tuples / (double)m2 +
           dense * (double)r->tuples / (double)m1 * (double)s->tuples / (double)m1;
}

typedef struct size_job {
    double theta;
    bool alike;
    uint64_t seed;
    double *published, *filters, *all, *product, *chosen;
} size_job;

static void size_run(void *ctx, size_t i) {
    const size_job *const job = ctx;
    lab_rng random = {lab_mix(job->seed + i)};
    eb_hash *const hash = lab_alloc(SIZE_KEYS, sizeof *hash);
    size_relation *const r = lab_alloc(2, sizeof *r), *const s = r + 1;
    const size_t m1 = eb_join_sample_size(SIZE_TUPLES);
    const size_t m2 = (size_t)(sqrt(SIZE_TUPLES) + log(SIZE_TUPLES));
    eb_join product = {.size = sizeof product}, few = product, all = product;
    double truth = 0;
    for (size_t k = 0; k < SIZE_KEYS; k++) hash[k] = lab_random(&random);
    size_fill(r, hash, job->theta, false, m1, &random);
    size_fill(s, hash, job->theta, !job->alike, m1, &random);
    for (size_t k = 0; k < SIZE_KEYS; k++) truth += (double)r->count[k] * (double)s->count[k];
    const eb_join_samples some = {r->sample, s->sample, m1, m1, m2};
    const eb_join_samples every = {r->sample, s->sample, m1, m1, 0};
    if (eb_join_size(r->filter, s->filter, &product, NULL) ||
        eb_join_sampled(r->filter, s->filter, &some, &few, NULL) ||
        eb_join_sampled(r->filter, s->filter, &every, &all, NULL))
        lab_die("no size of a join");
    job->published[i] = size_published(r, s, m1, m2) / truth;
    job->filters[i] = few.join / truth;
    job->all[i] = all.join / truth;
    job->product[i] = product.join / truth;
    job->chosen[i] = (product.error < all.error ? product.join : all.join) / truth;
    size_free(r);
    size_free(s);
    free(r);
    free(hash);
}

static void size_row(lab_options *o, lab_table *t, const char *join, const char *way,
                     double expected, double sd, const double *x) {
    char what[120];
    p004_cell c = {.published = NAN, .expected = expected, .sd = sd, .digits = 3};
    p004_spread(x, sizeof *x, o->seeds, &c.got, &c.got_sd);
    c.sd = fmax(c.sd, c.got_sd);
    snprintf(what, sizeof what, "%s: %s", join, way);
    p004_cell_row(o, t, what, &c);
}

void p004_run_sizes(lab_options *o) {
    static const struct {
        const char *name;
        double theta;
        bool alike;
        double published, published_sd, filters, filters_sd, product, product_sd;
    } rows[] = {{"same order, skew 0.75", .75, true, .991, .071, 1.001, .020, 1, .002},
                {"same order, skew 1.25", 1.25, true, .998, .028, 1.000, .001, 1, .001},
                {"other order, skew 0.25", .25, false, NAN, 0, 1.016, .027, 1.000, .004},
                {"other order, skew 1.25", 1.25, false, NAN, 0, 1.02, .23, .57, 2.8}};
    double *const x = lab_alloc(5 * o->seeds, sizeof *x);
    lab_table *const t = p004_cells_new("estimate / size of the join");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_job job = {rows[i].theta, rows[i].alike,    o->seed,          x,
                        x + o->seeds,  x + 2 * o->seeds, x + 3 * o->seeds, x + 4 * o->seeds};
        lab_parallel(o->threads, o->seeds, size_run, &job);
        size_row(o, t, rows[i].name, "as published", rows[i].published, rows[i].published_sd,
                 job.published);
        size_row(o, t, rows[i].name, "with filters", rows[i].filters, rows[i].filters_sd,
                 job.filters);
        size_row(o, t, rows[i].name, "products", rows[i].product, rows[i].product_sd, job.product);
        size_row(o, t, rows[i].name, "filters, all tuples sampled", NAN, 0, job.all);
        size_row(o, t, rows[i].name, "by stated error", NAN, 0, job.chosen);
    }
    lab_table_print(t, o);
    free(x);
}

/* Ranges: 200000 values, 5000 different ones among 65536 */

enum { RANGE_WIDTH = 16, RANGE_DOMAIN = 1 << RANGE_WIDTH, RANGE_KEYS = 5000, RANGE_QUERIES = 2000 };

typedef struct range_job {
    unsigned top;
    uint64_t length, seed;
    double *wrong, *excess, *width;
} range_job;

static double range_nodes(const uint64_t *count, unsigned top) {
    double nodes = 0;
    for (unsigned level = top + 1; level <= RANGE_WIDTH; level++) {
        uint64_t last = UINT64_MAX;
        for (uint64_t v = 0; v < RANGE_DOMAIN; v++) {
            if (count[v] == 0 || v >> (RANGE_WIDTH - level) == last) continue;
            last = v >> (RANGE_WIDTH - level);
            nodes++;
        }
    }
    return nodes;
}

static eb_filter *range_filter(const uint64_t *count, unsigned top, uint64_t seed) {
    char spec[160];
    eb_filter *f;
    snprintf(spec, sizeof spec, "dyadic:bits=16,top=%u,span=0,cells=%.0f,seed=%llu", top,
             range_nodes(count, top) * 5 / .7, (unsigned long long)seed);
    if (eb_new(&f, spec, NULL, NULL)) lab_die("no filter %s", spec);
    for (uint64_t v = 0; v < RANGE_DOMAIN; v++)
        if (count[v] > 0 && calls_add_numbers(f, &v, &count[v], 1, NULL)) lab_die("adding failed");
    return f;
}

/* As published: a spectral filter whose keys are the nodes of all levels below the root. */

typedef struct range_node {
    uint64_t prefix, level;
} range_node;

static eb_filter *range_tree(const uint64_t *count, uint64_t seed) {
    char spec[160];
    eb_filter *f;
    snprintf(spec, sizeof spec, "spectral:update=plain,store=u32,k=5,span=0,cells=%.0f,seed=%llu",
             range_nodes(count, 0) * 5 / .7, (unsigned long long)seed);
    if (eb_new(&f, spec, NULL, NULL)) lab_die("no filter %s", spec);
    for (uint64_t v = 0; v < RANGE_DOMAIN; v++)
        for (uint64_t level = 1; level <= RANGE_WIDTH && count[v] > 0; level++) {
            const range_node node = {v >> (RANGE_WIDTH - level), level};
            eb_hash h;
            calls_hash(f, &(eb_key){&node, sizeof node}, 1, &h);
            if (eb_add_batch(f, &A_BATCH(1, &h, &count[v], NULL), NULL)) lab_die("adding failed");
        }
    return f;
}

/* The sum of the nodes that make up the values from `first` until `end`. */
static double range_cover(const eb_filter *f, uint64_t first, uint64_t end) {
    double sum = 0;
    for (uint64_t level = RANGE_WIDTH; level > 0; level--, first >>= 1, end >>= 1) {
        const range_node ends[2] = {{first, level}, {end - 1, level}};
        if (first < end && first % 2 == 1) {
            sum += calls_count_of(f, &ends[0], sizeof ends[0]);
            first++;
        }
        if (first < end && end % 2 == 1) {
            sum += calls_count_of(f, &ends[1], sizeof ends[1]);
            end--;
        }
    }
    return sum;
}

static eb_range range_published(const eb_filter *f, uint64_t from, uint64_t to, double all) {
    const double outside = range_cover(f, 0, from) + range_cover(f, to + 1, RANGE_DOMAIN);
    return (eb_range){.lower = fmax(0, all - outside), .upper = range_cover(f, from, to + 1)};
}

static void range_values(uint64_t *count, lab_rng *random) {
    uint64_t zipf[RANGE_KEYS];
    p004_zipf(zipf, RANGE_KEYS, 200000, 1);
    for (size_t i = 0; i < RANGE_KEYS;) {
        uint64_t *const at = &count[lab_below(random, RANGE_DOMAIN)];
        if (*at == 0) *at = zipf[i++];
    }
}

static void range_run(void *ctx, size_t i) {
    const range_job *const job = ctx;
    lab_rng random = {lab_mix(job->seed + i)};
    uint64_t *const count = lab_alloc(RANGE_DOMAIN, sizeof *count);
    double *const before = lab_alloc(RANGE_DOMAIN + 1, sizeof *before);
    range_values(count, &random);
    for (size_t v = 0; v < RANGE_DOMAIN; v++) before[v + 1] = before[v] + (double)count[v];
    eb_filter *const f = job->top > 0 ? range_filter(count, job->top, job->seed + i)
                                      : range_tree(count, job->seed + i);
    for (int q = 0; q < RANGE_QUERIES; q++) {
        const uint64_t from = lab_below(&random, RANGE_DOMAIN - job->length + 1);
        const double truth = before[from + job->length] - before[from];
        eb_range r = {.size = sizeof r};
        if (job->top == 0)
            r = range_published(f, from, from + job->length - 1, before[RANGE_DOMAIN]);
        else if (eb_range_count(f, from, from + job->length - 1, &r, NULL))
            lab_die("no answer");
        if (r.lower > truth || r.upper < truth) lab_die("an interval without the truth");
        job->wrong[i] += (r.upper != truth) / (double)RANGE_QUERIES;
        job->excess[i] += (r.upper - truth) / RANGE_QUERIES;
        job->width[i] += (r.upper - r.lower) / RANGE_QUERIES;
    }
    eb_free(f);
    free(before);
    free(count);
}

void p004_run_ranges(lab_options *o) {
    static const struct {
        unsigned top;
        uint64_t length;
        double wrong, wrong_sd, excess, excess_sd;
    } rows[] = {{0, 16, .13, .006, .96, .07},   {0, 256, .23, .014, 1.9, .13},
                {0, 4096, .33, .028, 3.0, .36}, {0, 32768, .48, .07, 4.6, .9},
                {10, 16, NAN, 0, NAN, 0},       {10, 256, NAN, 0, NAN, 0},
                {10, 4096, NAN, 0, NAN, 0},     {10, 32768, NAN, 0, NAN, 0}};
    lab_table *const t = p004_cells_new("ranges");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double *const x = lab_alloc(3 * o->seeds, sizeof *x);
        char name[80];
        range_job job = {rows[i].top, rows[i].length, o->seed, x, x + o->seeds, x + 2 * o->seeds};
        lab_parallel(o->threads, o->seeds, range_run, &job);
        snprintf(name, sizeof name, "%s, length %llu", rows[i].top ? "exact top" : "as published",
                 (unsigned long long)rows[i].length);
        size_row(o, t, name, "wrong", rows[i].wrong, rows[i].wrong_sd, job.wrong);
        size_row(o, t, name, "excess", rows[i].excess, rows[i].excess_sd, job.excess);
        size_row(o, t, name, "width of the interval", NAN, 0, job.width);
        free(x);
    }
    lab_table_print(t, o);
}
