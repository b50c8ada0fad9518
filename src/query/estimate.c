/* estimate.c - what counters tell beyond their minimum: unbiased estimates, lower bounds, sums and
 * averages over keys, the sum of squares and the size of joins.
 *
 * A part of w = m/k counters has every key once.  The counter of a key of count f is f plus noise
 * with mean (F1-f)/w.  So (C - F1/w) / (1-1/w) is right on average, in each of the k parts.  The
 * noise has the variance (F2-f^2)(1/w)(1-1/w) (not F1/w, as in the paper); for n keys and k parts
 * together, F2 n / m.  The squares of counters add up to F2 + (F1^2-F2)/w on average in each part,
 * which gives F2.
 *
 * Where counters join (store=wide), a group of g cells is one sum, and two keys meet in it g times
 * as often.  Keys x and y meet if their cells are within the largest group that x, y or the cell
 * they fell on needs, in either filter.  What keys need themselves follows from the groups:
 * estimate_own_levels.  On average this is the same as if a part had fewer counters, and w is then
 * that number. */
#include "math/probability.h"
#include "query.h"
#include <math.h>

/* Reasons to refuse a question */

eb_status ebi_query_counts(const eb_filter *f, eb_error *err) {
    if (f->kind->counted) return EB_OK;
    return ebi_fail(err, EB_ENOTSUP,
                    "%s filters do not show counters to queries: use spectral or spectral_rm",
                    f->kind->info.name);
}

eb_status ebi_query_linear(const eb_filter *f, eb_error *err) {
    EBI_TRY(ebi_query_counts(f, err));
    if (ebi_query_open(f, 0).linear) return EB_OK;
    if (ebi_is_sealed(f))
        return ebi_fail(err, EB_ENOTSUP, "counters of a product, maximum or minimum are not sums");
    return ebi_fail(
        err, EB_ENOTSUP,
        "with update=conservative counters are not sums of their keys: use update=plain");
}

eb_status ebi_query_sums(const ebi_counting *c, eb_error *err) {
    if (ebi_counting_is_sums(c)) return EB_OK;
    return ebi_fail(err, EB_ENOTSUP,
                    "keys were removed before the filter was frozen, so its counters are only "
                    "bounds: ask before freezing");
}

eb_status ebi_query_uniform(const eb_filter *f, eb_error *err) {
    EBI_TRY(ebi_query_linear(f, err));
    const ebi_counting c = ebi_query_open(f, 0);
    uint64_t saturated = 0;
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        const ebi_counting shard = ebi_query_open(f, i);
        saturated += ebi_counting_saturated(&shard) + (*shard.total == EBI_COUNTER_MAX);
    }
    if (saturated > 0)
        return ebi_fail(
            err, EB_ENOTSUP,
            "%llu counters or sums are saturated, so averages are wrong: use more counter_bits=",
            (unsigned long long)saturated);
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        const ebi_counting shard = ebi_query_open(f, i);
        EBI_TRY(ebi_query_sums(&shard, err));
    }
    if (c.window == c.n) return EB_OK;
    return ebi_fail(err, EB_ENOTSUP, "span=%llu makes the noise of counters uneven: use span=0",
                    (unsigned long long)c.window);
}

eb_status ebi_query_equal(const eb_filter *a, const eb_filter *b, eb_error *err) {
    char left[EB_SPEC_MAX], right[EB_SPEC_MAX];
    EBI_TRY(ebi_query_counts(a, err));
    (void)ebi_spec_thawed(a, left, sizeof left);
    (void)ebi_spec_thawed(b, right, sizeof right);
    if (strcmp(left, right) == 0) return EB_OK;
    return ebi_fail(err, EB_EMISMATCH, "filters differ: %.220s and %.220s", left, right);
}

/* One key.  The noise of a key's counters is at least d if all k counters have at least d from
 * other keys.  The probability of that is the product of the shares of counters that hold at least
 * d.  This assumes nothing about frequencies, and also holds for filters that are full.  The shares
 * come from a sample of evenly spaced counters.  The confidence is that of the method: before the
 * hashes are drawn, a bound is right with that probability. */

enum {
    ESTIMATE_SAMPLE = 1 << 14,
    ESTIMATE_BUCKETS = 1024 /* of counters: exact below 32, then 16 for each power of two */
};
static const double estimate_risk = 0.01; /* the probability that the lower bound is too high */
static const double estimate_margin =
    1.5; /* a filter's keys are not independent, and a sample has errors */
static const double estimate_windows = 2; /* what k counters near each other have in common */

/* With few windows, one large key fills all of one, which the shares of all counters do not show.
 * Then the only lower bound is 0. */
static bool estimate_knows_noise(const ebi_counting *c) {
    enum { ESTIMATE_WINDOWS_LEAST = 8 };
    return c->window == c->n || c->n / c->window >= ESTIMATE_WINDOWS_LEAST;
}

static unsigned estimate_bucket(uint64_t count) {
    if (count < 32) return (unsigned)count;
    const unsigned e = ebi_log2(count);
    return 16 * (e - 4) + (unsigned)(count >> (e - 4));
}

static uint64_t estimate_bucket_start(unsigned bucket) {
    return bucket < 32 ? bucket : (uint64_t)(16 + bucket % 16) << (bucket / 16 - 1);
}

/* Shares for each level of joined counters.  A key that made its group large has the noise of all
 * its cells, so the share is that of groups with so many cells, whether joined or added up here. */
typedef struct estimate_law {
    double share[EBI_WIDE_LEVELS + 1][ESTIMATE_BUCKETS + 1]; /* of those that hold that or more */
    double uneven; /* windows differ: how much more often all k counters are large */
} estimate_law;

static void estimate_count(const ebi_counting *c, uint64_t i, estimate_law *law) {
    assert(i < c->n);
    ebi_wide_word w;
    law->share[0][estimate_bucket(ebi_counting_get(c, i))]++;
    if (!c->joins || !c->linear) return;
    ebi_counting_word(c, i / EBI_WIDE_CELLS, &w);
    for (unsigned level = 1; level <= EBI_WIDE_LEVELS; level++) {
        const unsigned first = (unsigned)(i % EBI_WIDE_CELLS) >> level << level;
        uint64_t sum = w.value[first];
        for (unsigned at = first; w.level[first] < level; at += 1u << w.level[at]) {
            if (at == first) sum = 0;
            if (at >= first + (1u << level)) break;
            sum += w.value[at];
        }
        law->share[level][estimate_bucket(ebi_min(sum, EBI_COUNTER_MAX))]++;
    }
}

static void estimate_law_of(const ebi_counting *c, estimate_law *law) {
    assert(c->k >= 1 && c->n > 0);
    const uint64_t sample = ebi_min(c->n, ESTIMATE_SAMPLE);
    memset(law, 0, sizeof *law);
    for (uint64_t i = 0; i < sample; i++) estimate_count(c, c->n / sample * i, law);
    for (unsigned level = 0; level <= EBI_WIDE_LEVELS; level++)
        for (unsigned i = ESTIMATE_BUCKETS; i-- > 0;)
            law->share[level][i] += law->share[level][i + 1];
    for (unsigned level = 0; level <= EBI_WIDE_LEVELS; level++)
        for (unsigned i = 0; i < ESTIMATE_BUCKETS; i++) law->share[level][i] /= (double)sample;
    law->uneven = c->window == c->n ? 1 : estimate_windows;
}

/* The risk that the noise of a key in k groups of these levels is in this bucket or larger. */
static double estimate_chance(const ebi_counting *c, const estimate_law *law, const unsigned *level,
                              unsigned bucket) {
    assert(c->k >= 1 && c->n > 0);
    double all = estimate_margin * law->uneven;
    for (unsigned j = 0; j < c->k; j++) all *= law->share[level[j]][bucket];
    return all;
}

/* The least noise whose risk is small enough; and that risk. */
static uint64_t estimate_reach(const ebi_counting *c, const estimate_law *law,
                               const unsigned *level, double *risk) {
    assert(c->k >= 1 && c->n > 0);
    unsigned low = 0, high = ESTIMATE_BUCKETS; /* the risk is too large at low, not at high */
    while (high - low > 1) {
        const unsigned middle = low + (high - low) / 2;
        if (estimate_chance(c, law, level, middle) > estimate_risk)
            low = middle;
        else
            high = middle;
    }
    *risk = estimate_chance(c, law, level, high);
    return estimate_bucket_start(high);
}

static unsigned estimate_level(const ebi_counting *c, uint64_t i) {
    assert(i < c->n);
    ebi_wide_word w;
    if (!c->joins) return 0;
    ebi_counting_word(c, i / EBI_WIDE_CELLS, &w);
    return w.level[i % EBI_WIDE_CELLS];
}

static eb_hash estimate_inner(const eb_filter *f, eb_hash h) {
    return f->shard_bits == 0 ? h : ebi_inner_hash(h);
}

static void estimate_key(const eb_filter *f, eb_hash h, const estimate_law *law, eb_estimate *out) {
    const ebi_counting c = ebi_query_open(f, eb_shard_of(f, h));
    uint64_t pos[EBI_COUNTING_K_MAX], counter[EBI_COUNTING_K_MAX];
    eb_estimate e = {.size = sizeof e};
    ebi_counting_positions(&c, estimate_inner(f, h), pos);
    const uint64_t least = ebi_counting_minimum(&c, pos, counter);
    unsigned times = 0;
    for (unsigned j = 0; j < c.k; j++) times += counter[j] == least;
    e.count = ebi_count(f, h);
    e.upper = eb_caps(f) & EB_NO_FALSE_NEGATIVES ? e.count : ebi_counter_count(least);
    e.confidence = 1;
    if (law && least < EBI_COUNTER_MAX && !ebi_is_sealed(f) && estimate_knows_noise(&c)) {
        unsigned level[EBI_COUNTING_K_MAX];
        double risk;
        for (unsigned j = 0; j < c.k; j++) level[j] = c.linear ? estimate_level(&c, pos[j]) : 0;
        const uint64_t reach = estimate_reach(&c, law, level, &risk);
        e.lower = fmin(least >= reach ? (double)(least - (reach - 1)) : 0, e.upper);
        e.confidence = 1 - risk;
    }
    e.single = times == 1;
    *out = e;
}

/* The batch with hashes: its own, or those of its keys in *made, which the caller must free.  Times
 * have no meaning in filters that do not forget. */
static eb_status estimate_open(const eb_filter *f, const eb_batch *b, eb_batch *with,
                               eb_hash **made, eb_error *err) {
    EBI_CHECK_SIZE(b, eb_batch, err);
    *with = *b;
    *made = NULL;
    if (b->n == 0 || b->hash) return EB_OK;
    if (!b->keys) return ebi_fail(err, EB_EINVAL, "a batch of %zu keys needs keys or hashes", b->n);
    uint64_t bytes;
    *made = ebi_mul(b->n, sizeof **made, &bytes) ? ebi_alloc(&f->mem, bytes) : NULL;
    if (!*made) return ebi_fail(err, EB_ENOMEM, "no memory for the hashes of %zu keys", b->n);
    with->hash = *made;
    const eb_status status = eb_hash_keys(f, b->keys, b->n, *made, err);
    if (status != EB_OK) ebi_release(&f->mem, *made, bytes);
    return status;
}

static void estimate_close(const eb_filter *f, const eb_batch *b, eb_hash *made) {
    ebi_release(&f->mem, made, b->n * sizeof *made);
}

/* Filters that keep keys are certain of their answers. */
static eb_status estimate_kept(const eb_filter *f, const eb_batch *b, eb_estimate *out,
                               eb_error *err) {
    if (b->n > 0) EBI_CHECK_SIZE(out, eb_estimate, err);
    for (size_t i = 0; i < b->n; i++) {
        const uint8_t *const block = ebi_shard(f, eb_shard_of(f, b->hash[i]));
        const double count = ebi_count(f, b->hash[i]);
        const double lower = f->kind->keeping->lower(&f->p, block, ebi_head_of(block)->clock,
                                                     estimate_inner(f, b->hash[i]));
        out[i] = (eb_estimate){
            .size = sizeof out[i], .count = count, .lower = lower, .upper = count, .confidence = 1};
    }
    return EB_OK;
}

static eb_status estimate_counted(const eb_filter *f, const eb_batch *b, eb_estimate *out,
                                  eb_error *err) {
    EBI_TRY(ebi_query_counts(f, err));
    if (b->n > 0) EBI_CHECK_SIZE(out, eb_estimate, err);
    estimate_law law;
    for (uint32_t shard = 0; shard < ebi_shards(f) && b->n > 0; shard++) {
        const ebi_counting c = ebi_query_open(f, shard);
        estimate_law_of(&c, &law);
        for (size_t i = 0; i < b->n; i++)
            if (eb_shard_of(f, b->hash[i]) == shard) estimate_key(f, b->hash[i], &law, &out[i]);
    }
    return EB_OK;
}

eb_status eb_estimate_batch(const eb_filter *f, const eb_batch *b, eb_estimate *out,
                            eb_error *err) {
    eb_batch with;
    eb_hash *made;
    EBI_TRY(estimate_open(f, b, &with, &made, err));
    const eb_status status =
        f->kind->keeping ? estimate_kept(f, &with, out, err) : estimate_counted(f, &with, out, err);
    estimate_close(f, b, made);
    return status;
}

/* Sums */

/* The counts, by the level of the groups they are in. */
static void estimate_levels(const ebi_counting *c, double mass[EBI_WIDE_LEVELS + 1]) {
    assert(c->k >= 1 && c->n > 0);
    for (unsigned level = 0; level <= EBI_WIDE_LEVELS; level++) mass[level] = 0;
    for (uint64_t i = 0; i < ebi_counting_words_of(c); i++) {
        ebi_wide_word w;
        ebi_counting_word(c, i, &w);
        for (unsigned cell = 0; cell < EBI_WIDE_CELLS; cell += 1u << w.level[cell])
            mass[w.level[cell]] += (double)w.value[cell] / c->k;
    }
}

/* What the groups of two filters hold, where each is as large as the larger of the two. */
typedef struct estimate_groups {
    double cells[EBI_WIDE_LEVELS + 1]; /* share of cells in groups of each level */
    double a[EBI_WIDE_LEVELS + 1], b[EBI_WIDE_LEVELS + 1]; /* counts of each filter in them */
} estimate_groups;

static void estimate_groups_of(const ebi_counting *a, const ebi_counting *b, estimate_groups *g) {
    assert(a->k == b->k);
    const uint64_t words = ebi_counting_words_of(a);
    memset(g, 0, sizeof *g);
    for (uint64_t i = 0; i < words; i++) {
        ebi_wide_word x, y;
        ebi_counting_pair(a, b, i, &x, &y);
        for (unsigned cell = 0; cell < EBI_WIDE_CELLS; cell += 1u << x.level[cell]) {
            const unsigned level = x.level[cell];
            g->cells[level] += (double)(1u << level) / (double)(words * EBI_WIDE_CELLS);
            g->a[level] += (double)x.value[cell] / a->k;
            g->b[level] += (double)y.value[cell] / b->k;
        }
    }
}

/* Converts counts by the level of the groups they are in to counts by the level that their own keys
 * need.  A key that needs less than a level may still be in such a group because of its
 * neighbours. */
static void estimate_own_levels(const double *cells, double *mass) {
    double below = 0, found = 0, own = 0, all = 0;
    for (int l = 0; l <= EBI_WIDE_LEVELS; l++) all += mass[l];
    for (int l = 0; l < EBI_WIDE_LEVELS; l++) {
        below += cells[l];
        found += mass[l];
        const double least = below > 0 ? fmax(own, fmin(all, found / below)) : 0;
        mass[l] = least - own;
        own = least;
    }
    mass[EBI_WIDE_LEVELS] = all - own;
}

double ebi_query_width(const ebi_counting *a, const ebi_counting *b) {
    estimate_groups g;
    double all = 0, meet = 0;
    if (!a->joins) return (double)a->part;
    estimate_groups_of(a, b, &g);
    estimate_own_levels(g.cells, g.a);
    estimate_own_levels(g.cells, g.b);
    for (int l = 0; l <= EBI_WIDE_LEVELS; l++)
        for (int m = 0; m <= EBI_WIDE_LEVELS; m++)
            for (int there = 0; there <= EBI_WIDE_LEVELS; there++) {
                const int level = l > m ? l : m;
                all += g.a[l] * g.b[m] * g.cells[there];
                meet += g.a[l] * g.b[m] * g.cells[there] * (1 << (there > level ? there : level));
            }
    return meet > 0 ? (double)a->part * all / meet : (double)a->part;
}

/* A group that is in two parts may hold a key of either. */
double ebi_query_products(const ebi_counting *a, const ebi_counting *b, double *least) {
    double part[EBI_COUNTING_K_MAX + 1] = {0}, sum = 0;
    for (uint64_t i = 0; i < ebi_counting_words_of(a); i++) {
        ebi_wide_word x, y;
        ebi_counting_pair(a, b, i, &x, &y);
        for (unsigned cell = 0; cell < EBI_WIDE_CELLS; cell += 1u << x.level[cell]) {
            const double product = (double)x.value[cell] * (double)y.value[cell];
            const uint64_t first = i * EBI_WIDE_CELLS + cell,
                           last = first + (1u << x.level[cell]) - 1;
            for (uint64_t j = first / a->part; j <= ebi_min(last / a->part, a->k); j++)
                part[j] += product;
            sum += product;
        }
    }
    *least = part[0];
    for (unsigned j = 1; j < a->k; j++) *least = fmin(*least, part[j]);
    return sum;
}

double ebi_query_f2(const ebi_counting *c) {
    const double f1 = (double)*c->total, w = ebi_query_width(c, c);
    double least;
    const double squares = ebi_query_products(c, c, &least) / c->k;
    return fmax(f1, (squares - f1 * f1 / w) / (1 - 1 / w));
}

eb_status eb_moments_of(const eb_filter *f, eb_moments *out, eb_error *err) {
    EBI_CHECK_SIZE(out, eb_moments, err);
    eb_moments m = {.size = sizeof m};
    double variance = 0;
    EBI_TRY(ebi_query_uniform(f, err));
    for (uint64_t shard = 0; shard < ebi_shards(f); shard++) {
        const ebi_counting c = ebi_query_open(f, shard);
        const double f2 = ebi_query_f2(&c);
        m.f1 += (double)*c.total;
        m.f2 += f2;
        variance += 2 * f2 * f2 / (ebi_query_width(&c, &c) * c.k);
    }
    m.f2_error = sqrt(variance);
    *out = m;
    return EB_OK;
}

static double estimate_median(double *x, unsigned n) {
    assert(n > 0);
    for (unsigned i = 1; i < n; i++)
        for (unsigned j = i; j > 0 && x[j - 1] > x[j]; j--) {
            const double other = x[j];
            x[j] = x[j - 1];
            x[j - 1] = other;
        }
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* What other keys leave on average in a group, by its level. */
static void estimate_noise(const ebi_counting *c, double noise[EBI_WIDE_LEVELS + 1]) {
    assert(c->k >= 1 && c->n > 0);
    double mass[EBI_WIDE_LEVELS + 1] = {(double)*c->total};
    if (c->joins) estimate_levels(c, mass);
    for (int l = 0; l <= EBI_WIDE_LEVELS; l++) {
        noise[l] = 0;
        for (int m = 0; m <= EBI_WIDE_LEVELS; m++)
            noise[l] += mass[m] * (1 << (l > m ? l : m)) / (double)c->part;
    }
}

/* Adds the keys of a shard to the sums of each part. */
static void estimate_add_keys(const eb_filter *f, uint64_t shard, const eb_hash *h, size_t n,
                              double *sums, double *variance) {
    const ebi_counting c = ebi_query_open(f, shard);
    const double w = ebi_query_width(&c, &c);
    double noise[EBI_WIDE_LEVELS + 1];
    estimate_noise(&c, noise);
    size_t keys = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t pos[EBI_COUNTING_K_MAX], counter[EBI_COUNTING_K_MAX];
        if (eb_shard_of(f, h[i]) != shard) continue;
        ebi_counting_positions(&c, estimate_inner(f, h[i]), pos);
        (void)ebi_counting_minimum(&c, pos, counter);
        for (unsigned j = 0; j < c.k; j++)
            sums[j] += ((double)counter[j] - noise[estimate_level(&c, pos[j])]) / (1 - 1 / w);
        keys++;
    }
    *variance += ebi_query_f2(&c) * (double)keys / (w * c.k);
}

static eb_sum estimate_sum(const eb_filter *f, const eb_hash *h, size_t n) {
    const unsigned k = ebi_query_open(f, 0).k;
    double sums[EBI_COUNTING_K_MAX] = {0}, variance = 0;
    eb_sum s = {.size = sizeof s};
    for (uint64_t shard = 0; shard < ebi_shards(f); shard++)
        estimate_add_keys(f, shard, h, n, sums, &variance);
    for (unsigned j = 0; j < k; j++) s.sum += sums[j] / k;
    for (size_t i = 0; i < n; i++) {
        eb_estimate e;
        estimate_key(f, h[i], NULL, &e);
        s.upper += e.upper;
    }
    s.error = sqrt(variance);
    s.median = estimate_median(sums, k);
    return s;
}

eb_status eb_sum_batch(const eb_filter *f, const eb_batch *b, eb_sum *out, eb_error *err) {
    eb_batch with;
    eb_hash *made;
    EBI_CHECK_SIZE(out, eb_sum, err);
    EBI_TRY(ebi_query_uniform(f, err));
    EBI_TRY(estimate_open(f, b, &with, &made, err));
    *out = estimate_sum(f, with.hash, with.n);
    estimate_close(f, b, made);
    return EB_OK;
}

/* Whether equal hashes mean equal keys in both filters. */
eb_status ebi_query_same_hashes(const eb_filter *a, const eb_filter *b, eb_error *err) {
    EBI_TRY(ebi_query_counts(a, err));
    EBI_TRY(ebi_query_counts(b, err));
    if (a->p.opt[EBI_O_HASH] == b->p.opt[EBI_O_HASH] &&
        a->p.opt[EBI_O_SEED] == b->p.opt[EBI_O_SEED] &&
        memcmp(a->p.secret, b->p.secret, sizeof a->p.secret) == 0)
        return EB_OK;
    return ebi_fail(err, EB_EMISMATCH, "filters must have the same seed: %llu and %llu differ",
                    (unsigned long long)a->p.opt[EBI_O_SEED],
                    (unsigned long long)b->p.opt[EBI_O_SEED]);
}

eb_status eb_average_batch(const eb_filter *sums, const eb_filter *counts, const eb_batch *b,
                           eb_average *out, eb_error *err) {
    EBI_CHECK_SIZE(out, eb_average, err);
    eb_sum s = {.size = sizeof s}, c = {.size = sizeof c};
    eb_average a = {.size = sizeof a};
    EBI_TRY(ebi_query_same_hashes(sums, counts, err));
    EBI_TRY(eb_sum_batch(sums, b, &s, err));
    EBI_TRY(eb_sum_batch(counts, b, &c, err));
    const double sum = fmax(0, fmin(s.sum, s.upper)), count = fmax(0, fmin(c.sum, c.upper));
    const double most = fmin(c.upper, c.sum + 2 * c.error), least = count - 2 * c.error;
    a.average = count > 0 ? sum / count : NAN;
    a.lower = most > 0 ? fmax(0, sum - 2 * s.error) / most : 0;
    a.upper = least > 0 ? fmin(s.upper, s.sum + 2 * s.error) / least : INFINITY;
    *out = a;
    return EB_OK;
}

eb_status eb_join_size(const eb_filter *a, const eb_filter *b, eb_join *out, eb_error *err) {
    EBI_CHECK_SIZE(out, eb_join, err);
    eb_join j = {.size = sizeof j};
    double variance = 0;
    EBI_TRY(ebi_query_equal(a, b, err));
    EBI_TRY(ebi_query_uniform(a, err));
    EBI_TRY(ebi_query_uniform(b, err));
    for (uint64_t shard = 0; shard < ebi_shards(a); shard++) {
        const ebi_counting x = ebi_query_open(a, shard), y = ebi_query_open(b, shard);
        const double w = ebi_query_width(&x, &y), all = (double)*x.total * (double)*y.total;
        double least;
        const double products = ebi_query_products(&x, &y, &least) / x.k;
        const double join = (products - all / w) / (1 - 1 / w);
        j.join += join;
        j.upper += least;
        variance += (ebi_query_f2(&x) * ebi_query_f2(&y) + join * join) / (w * x.k);
    }
    j.error = sqrt(variance);
    *out = j;
    return EB_OK;
}

/* Mathematics */

double eb_count_error_rate(double counters, unsigned k, double distinct) {
    return distinct > 1 ? pow(ebi_one_minus_pow1m(1 / counters, k * (distinct - 1)), k) : 0;
}
