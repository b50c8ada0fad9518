/* estimate.c - what counters tell beyond their minimum: bounds and sums.
 *
 * A part of w = m/k counters holds every key once.  The counter of a key of count f
 * is f plus noise of mean (F1-f)/w, so (C - F1/w) / (1-1/w) is right on average, in
 * each of the k parts.  The noise has the variance (F2-f^2)(1/w)(1-1/w) (not F1/w,
 * as the paper has it): n keys and k parts together F2 n / m.  Squares of counters
 * add up to F2 + (F1^2-F2)/w on average in each part, which gives F2. */
#include "query.h"
#include "theory/theory.h"
#include <math.h>

static_assert(EB_COUNTER_MAX == (uint64_t)EB_COUNT_FULL, "as the public header says");

/* Reasons */

eb_status ebi_query_counts(const eb_filter *f, eb_error *err) {
    if (f->kind->counters) return EB_OK;
    return ebi_fail(err, EB_ENOTSUP, "%s filters have no counters: use spectral or spectral_rm",
                    f->kind->info.name);
}

eb_status ebi_query_linear(const eb_filter *f, eb_error *err) {
    EB_TRY(ebi_query_counts(f, err));
    if (ebi_query_open(f, 0).linear) return EB_OK;
    if (ebi_is_sealed(f))
        return ebi_fail(err, EB_ENOTSUP, "counters of a product, maximum or minimum are no sums");
    return ebi_fail(err, EB_ENOTSUP,
                    "with policy=mi counters are no sums of their keys: use policy=ms");
}

eb_status ebi_query_uniform(const eb_filter *f, eb_error *err) {
    EB_TRY(ebi_query_linear(f, err));
    const eb_counting c = ebi_query_open(f, 0);
    uint64_t saturated = 0;
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        const eb_counting shard = ebi_query_open(f, i);
        saturated += ebi_counting_saturated(&shard) + (*shard.total == EB_COUNTER_MAX);
    }
    if (saturated > 0)
        return ebi_fail(
            err, EB_ENOTSUP,
            "%llu counters or sums are saturated, so averages are wrong: use more bits=",
            (unsigned long long)saturated);
    if (c.window == c.n) return EB_OK;
    return ebi_fail(err, EB_ENOTSUP, "window=%llu makes the noise of counters uneven: use window=0",
                    (unsigned long long)c.window);
}

eb_status ebi_query_never_low(const eb_filter *f, eb_error *err) {
    const unsigned caps = eb_caps(f), wanted = EB_CAN_COUNT | EB_NO_FALSE_NEGATIVES;
    if ((caps & wanted) == wanted && !(caps & EB_USES_TIME)) return EB_OK;
    return ebi_fail(err, EB_ENOTSUP, "%s: counts of this filter may be too low: use %s",
                    f->kind->info.name, "spectral, or spectral_rm with policy=rmx");
}

eb_status ebi_query_equal(const eb_filter *a, const eb_filter *b, eb_error *err) {
    char left[EB_SPEC_MAX], right[EB_SPEC_MAX];
    EB_TRY(ebi_query_counts(a, err));
    (void)ebi_spec_thawed(a, left, sizeof left);
    (void)ebi_spec_thawed(b, right, sizeof right);
    if (strcmp(left, right) == 0) return EB_OK;
    return ebi_fail(err, EB_EMISMATCH, "filters differ: %.220s and %.220s", left, right);
}

/* One key.  By Markov's inequality the noise of a counter is d or more with the probability
 * mean/d at most; k counters in different parts are independent.  d is e times the mean or, since
 * noise comes in whole numbers, the next whole number above: 1 if the mean is small. */

static eb_hash estimate_inner(const eb_filter *f, eb_hash h) {
    return f->shard_bits == 0 ? h : ebi_inner_hash(h);
}

eb_status eb_estimate_key(const eb_filter *f, eb_hash h, eb_estimate *out, eb_error *err) {
    EB_TRY(ebi_query_counts(f, err));
    const eb_counting c = ebi_query_open(f, eb_shard_of(f, h));
    const bool windows = c.window != c.n;
    uint64_t pos[EB_COUNTING_K_MAX], counter[EB_COUNTING_K_MAX];
    eb_estimate e = {.size = sizeof e};
    ebi_counting_positions(&c, estimate_inner(f, h), pos);
    const uint64_t least = ebi_counting_minimum(&c, pos, counter);
    const double reach = windows ? (double)(c.n - c.window + 1) / c.k : (double)c.part;
    const double noise = (double)*c.total / reach;
    unsigned times = 0;
    for (unsigned j = 0; j < c.k; j++) times += counter[j] == least;
    eb_count_batch(f, &h, 1, &e.count);
    e.upper = eb_caps(f) & EB_NO_FALSE_NEGATIVES ? e.count : (double)least;
    e.lower = fmax(0, ceil((double)least - exp(1) * noise));
    e.confidence = 1 - pow(noise / ((double)least - e.lower + 1), windows ? 1 : c.k);
    if (least == EB_COUNTER_MAX || ebi_is_sealed(f)) e.lower = 0;
    e.lower = fmin(e.lower, e.upper);
    if (e.lower == 0) e.confidence = 1;
    e.single = times == 1;
    ebi_give(out, &e, sizeof e);
    return EB_OK;
}

/* Sums */

double ebi_query_products(const eb_counting *a, const eb_counting *b, double *least) {
    double sum = 0;
    *least = INFINITY;
    for (unsigned j = 0; j < a->k; j++) {
        double part = 0;
        for (uint64_t i = j * a->part; i < (j + 1) * a->part; i++)
            part += (double)ebi_counting_get(a, i) * (double)ebi_counting_get(b, i);
        sum += part;
        *least = fmin(*least, part);
    }
    return sum;
}

double ebi_query_f2(const eb_counting *c) {
    const double f1 = (double)*c->total, w = (double)c->part;
    double least;
    const double squares = ebi_query_products(c, c, &least) / c->k;
    return fmax(f1, (squares - f1 * f1 / w) / (1 - 1 / w));
}

eb_status eb_moments_of(const eb_filter *f, eb_moments *out, eb_error *err) {
    eb_moments m = {.size = sizeof m};
    double variance = 0;
    EB_TRY(ebi_query_uniform(f, err));
    for (uint64_t shard = 0; shard < ebi_shards(f); shard++) {
        const eb_counting c = ebi_query_open(f, shard);
        const double f2 = ebi_query_f2(&c);
        m.f1 += (double)*c.total;
        m.f2 += f2;
        variance += 2 * f2 * f2 / ((double)c.part * c.k);
    }
    m.f2_error = sqrt(variance);
    ebi_give(out, &m, sizeof m);
    return EB_OK;
}

static double estimate_median(double *x, unsigned n) {
    for (unsigned i = 1; i < n; i++)
        for (unsigned j = i; j > 0 && x[j - 1] > x[j]; j--) {
            const double other = x[j];
            x[j] = x[j - 1];
            x[j - 1] = other;
        }
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* Add the keys of a shard to the sums of each part. */
static void estimate_add_keys(const eb_filter *f, uint64_t shard, const eb_hash *h, size_t n,
                              double *sums, double *variance) {
    const eb_counting c = ebi_query_open(f, shard);
    const double w = (double)c.part, noise = (double)*c.total / w;
    size_t keys = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t pos[EB_COUNTING_K_MAX], counter[EB_COUNTING_K_MAX];
        if (eb_shard_of(f, h[i]) != shard) continue;
        ebi_counting_positions(&c, estimate_inner(f, h[i]), pos);
        (void)ebi_counting_minimum(&c, pos, counter);
        for (unsigned j = 0; j < c.k; j++) sums[j] += ((double)counter[j] - noise) / (1 - 1 / w);
        keys++;
    }
    *variance += ebi_query_f2(&c) * (double)keys / (w * c.k);
}

eb_status eb_sum_keys(const eb_filter *f, const eb_hash *h, size_t n, eb_sum *out, eb_error *err) {
    EB_TRY(ebi_query_uniform(f, err));
    const unsigned k = ebi_query_open(f, 0).k;
    double sums[EB_COUNTING_K_MAX] = {0}, variance = 0;
    eb_sum s = {.size = sizeof s};
    for (uint64_t shard = 0; shard < ebi_shards(f); shard++)
        estimate_add_keys(f, shard, h, n, sums, &variance);
    for (unsigned j = 0; j < k; j++) s.sum += sums[j] / k;
    for (size_t i = 0; i < n; i++) {
        eb_estimate e = {.size = sizeof e};
        EB_TRY(eb_estimate_key(f, h[i], &e, err));
        s.upper += e.upper;
    }
    s.error = sqrt(variance);
    s.median = estimate_median(sums, k);
    ebi_give(out, &s, sizeof s);
    return EB_OK;
}

/* The same hashes must name the same keys in both. */
eb_status ebi_query_same_hashes(const eb_filter *a, const eb_filter *b, eb_error *err) {
    EB_TRY(ebi_query_counts(a, err));
    EB_TRY(ebi_query_counts(b, err));
    if (a->p.opt[EB_O_HASH] == b->p.opt[EB_O_HASH] && a->p.opt[EB_O_SEED] == b->p.opt[EB_O_SEED] &&
        memcmp(a->p.key, b->p.key, sizeof a->p.key) == 0)
        return EB_OK;
    return ebi_fail(err, EB_EMISMATCH, "filters must have the same seed: %llu and %llu differ",
                    (unsigned long long)a->p.opt[EB_O_SEED],
                    (unsigned long long)b->p.opt[EB_O_SEED]);
}

eb_status eb_average_keys(const eb_filter *sums, const eb_filter *counts, const eb_hash *h,
                          size_t n, eb_average *out, eb_error *err) {
    eb_sum s = {.size = sizeof s}, c = {.size = sizeof c};
    eb_average a = {.size = sizeof a};
    EB_TRY(ebi_query_same_hashes(sums, counts, err));
    EB_TRY(eb_sum_keys(sums, h, n, &s, err));
    EB_TRY(eb_sum_keys(counts, h, n, &c, err));
    const double sum = fmax(0, fmin(s.sum, s.upper)), count = fmax(0, fmin(c.sum, c.upper));
    const double most = fmin(c.upper, c.sum + 2 * c.error), least = count - 2 * c.error;
    a.average = count > 0 ? sum / count : NAN;
    a.lower = most > 0 ? fmax(0, sum - 2 * s.error) / most : 0;
    a.upper = least > 0 ? fmin(s.upper, s.sum + 2 * s.error) / least : INFINITY;
    ebi_give(out, &a, sizeof a);
    return EB_OK;
}

eb_status eb_join_size(const eb_filter *a, const eb_filter *b, eb_join *out, eb_error *err) {
    eb_join j = {.size = sizeof j};
    double variance = 0;
    EB_TRY(ebi_query_equal(a, b, err));
    EB_TRY(ebi_query_uniform(a, err));
    EB_TRY(ebi_query_uniform(b, err));
    for (uint64_t shard = 0; shard < ebi_shards(a); shard++) {
        const eb_counting x = ebi_query_open(a, shard), y = ebi_query_open(b, shard);
        const double w = (double)x.part, all = (double)*x.total * (double)*y.total;
        double least;
        const double products = ebi_query_products(&x, &y, &least) / x.k;
        const double join = (products - all / w) / (1 - 1 / w);
        j.join += join;
        j.upper += least;
        variance += (ebi_query_f2(&x) * ebi_query_f2(&y) + join * join) / (w * x.k);
    }
    j.error = sqrt(variance);
    ebi_give(out, &j, sizeof j);
    return EB_OK;
}

/* Mathematics */

double eb_count_error_rate(double counters, unsigned k, double distinct) {
    return distinct > 1 ? pow(ebi_one_minus_pow1m(1 / counters, k * (distinct - 1)), k) : 0;
}

double eb_count_error_bound(double counters, unsigned k, double items) {
    return exp(1) * k * items / counters;
}
