/* join.c - estimates how many pairs a join of two streams has, from a counting filter and a sample
 * of each: bifocal sampling (Ganguly, Gibbons, Matias and Silberschatz, 1996) with counting filters
 * in place of indexes (Cohen and Matias, 2003, 5.4).
 *
 * A key is dense in a stream of N tuples if it occurs at least tau = N ln(N) / n times, where n is
 * the size of the sample.  Such a key is in the sample with probability 1 - 1/N. There are three
 * sorts of pairs:
 *
 *     sparse in A           a tuple of B has f_A of them; B's sample stands for all of B
 *     dense in A, sparse    a tuple of A has f_B of them; A's sample stands for all of A
 *       in B
 *     dense in both         f_A f_B for each key; all of them are in the samples
 *
 * All counts come from the filters, also those that decide what is dense, so that every key is in
 * exactly one sort.  The stated error has two parts: the deviation of the sums of sampled terms,
 * and the mean excess of the filters' counts, which is measured by asking for keys that were never
 * added. */
#include "query.h"
#include <math.h>
#include <stdlib.h>

enum { JOIN_STRANGERS = 1024 };

typedef struct join_side {
    const eb_filter *f;
    const eb_hash *sample;
    size_t n;
    double tuples, dense; /* keys with at least this count are dense */
} join_side;

static join_side join_open(const eb_filter *f, const eb_hash *sample, size_t n) {
    join_side s = {.f = f, .sample = sample, .n = n};
    for (uint64_t i = 0; i < ebi_shards(f); i++) s.tuples += (double)*ebi_query_open(f, i).total;
    s.dense = s.tuples * log(fmax(s.tuples, 3)) / (double)n;
    return s;
}

static double join_count(const join_side *s, eb_hash h) {
    return fmin(ebi_count(s->f, h), (double)EBI_COUNTER_MAX);
}

/* The sum, over tuples of one stream, of their counts in the other where these are sparse, from the
 * first n tuples of the sample.  With own_dense, only over tuples that are dense in their own
 * stream. */
static double join_sparse(const join_side *from, size_t n, const join_side *other, bool own_dense,
                          double *variance) {
    assert(variance != NULL);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        double term = join_count(other, from->sample[i]);
        if (term >= other->dense) term = 0;
        if (own_dense && join_count(from, from->sample[i]) < from->dense) term = 0;
        sum += term;
        squares += term * term;
    }
    const double mean = sum / (double)n;
    *variance +=
        from->tuples * from->tuples * fmax(0, squares / (double)n - mean * mean) / (double)n;
    return from->tuples * mean;
}

/* How much too high a count is on average. */
static double join_excess(const join_side *s) {
    double sum = 0;
    for (uint64_t i = 0; i < JOIN_STRANGERS; i++) sum += join_count(s, ebi_mix(ebi_mix(i + 1)));
    return sum / JOIN_STRANGERS;
}

static int join_order(const void *a, const void *b) {
    const eb_hash x = *(const eb_hash *)a, y = *(const eb_hash *)b;
    return (x > y) - (x < y);
}

static double join_dense(const join_side *a, const join_side *b, eb_hash *both, size_t n) {
    double sum = 0;
    qsort(both, n, sizeof *both, join_order);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && both[i] == both[i - 1]) continue;
        const double x = join_count(a, both[i]), y = join_count(b, both[i]);
        if (x >= a->dense && y >= b->dense) sum += x * y;
    }
    return sum;
}

static eb_status join_dense_of_samples(const join_side *a, const join_side *b, double *sum,
                                       eb_error *err) {
    const eb_allocator *const mem = &a->f->mem;
    const size_t size = (a->n + b->n) * sizeof(eb_hash);
    eb_hash *const both = ebi_alloc(mem, size);
    if (!both) return ebi_fail(err, EB_ENOMEM, "no memory for %zu bytes of samples", size);
    memcpy(both, a->sample, a->n * sizeof *both);
    memcpy(both + a->n, b->sample, b->n * sizeof *both);
    *sum = join_dense(a, b, both, a->n + b->n);
    ebi_release(mem, both, size);
    return EB_OK;
}

/* An upper bound that is certain, if the filters allow it. */
static double join_upper(const eb_filter *a, const eb_filter *b) {
    double sum = 0;
    if (ebi_query_equal(a, b, NULL) != EB_OK || ebi_query_linear(a, NULL) != EB_OK) return INFINITY;
    for (uint64_t i = 0; i < ebi_shards(a); i++) {
        const ebi_counting x = ebi_query_open(a, i), y = ebi_query_open(b, i);
        double least;
        (void)ebi_query_products(&x, &y, &least);
        sum += least;
    }
    return sum;
}

eb_status eb_join_sampled(const eb_filter *a, const eb_filter *b, const eb_join_samples *s,
                          eb_join *out, eb_error *err) {
    EBI_CHECK_SIZE(out, eb_join, err);
    eb_join j = {.size = sizeof j};
    double variance = 0, dense = 0;
    EBI_TRY(ebi_query_same_hashes(a, b, err));
    if (s->a_n == 0 || s->b_n == 0)
        return ebi_fail(err, EB_EINVAL, "samples must have 1 tuple or more");
    const join_side x = join_open(a, s->a, s->a_n), y = join_open(b, s->b, s->b_n);
    EBI_TRY(join_dense_of_samples(&x, &y, &dense, err));
    const size_t sparse = s->sparse_n > 0 ? s->sparse_n : SIZE_MAX;
    j.join = dense + join_sparse(&y, ebi_min_size(sparse, y.n), &x, false, &variance) +
             join_sparse(&x, ebi_min_size(sparse, x.n), &y, true, &variance);
    const double excess = y.tuples * join_excess(&x) + x.tuples * join_excess(&y);
    j.error = sqrt(variance + excess * excess);
    j.upper = join_upper(a, b);
    *out = j;
    return EB_OK;
}

size_t eb_join_sample_size(double tuples) {
    const double delta = log(fmax(tuples, 3));
    return (size_t)ceil(delta * (sqrt(fmax(tuples, 1)) + delta));
}
