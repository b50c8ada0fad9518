/* test_join.c - sizes of joins by products of counters and by samples, against known values. */
#include "suite.h"
#include <everbloom/experimental.h>
#include <math.h>

/* Two streams of TUPLES with Zipf counts over the same DISTINCT keys: ranked alike, or each in its
 * own order. */
enum { DISTINCT = 10000, TUPLES = 50000, SEEDS = 20 };

typedef struct streams {
    eb_hash hash[DISTINCT];
    uint64_t a[DISTINCT], b[DISTINCT];
    double join;
} streams;

static void shuffle(uint64_t *x, size_t n, uint64_t *random) {
    for (size_t i = n - 1; i > 0; i--) {
        const size_t j = suite_below(random, i + 1);
        const uint64_t other = x[i];
        x[i] = x[j];
        x[j] = other;
    }
}

static void make_streams(streams *s, double theta, bool alike, uint64_t seed) {
    uint64_t random = ebi_mix(seed);
    double sum = 0;
    for (int i = 1; i <= DISTINCT; i++) sum += pow(i, -theta);
    for (int i = 0; i < DISTINCT; i++) {
        s->hash[i] = ebi_mix(random + (uint64_t)i);
        s->a[i] = s->b[i] = (uint64_t)fmax(1, round(TUPLES / sum * pow(i + 1, -theta)));
    }
    if (!alike) shuffle(s->b, DISTINCT, &random);
    s->join = 0;
    for (int i = 0; i < DISTINCT; i++) s->join += (double)s->a[i] * (double)s->b[i];
}

/* n tuples without replacement: a partial shuffle of all of them. */
static eb_hash *sample(const streams *s, const uint64_t *count, size_t n, uint64_t seed) {
    static uint64_t tuple[2 * TUPLES];
    size_t all = 0;
    eb_hash *const out = malloc(n * sizeof *out);
    HOLDS(out != NULL);
    for (uint64_t i = 0; i < DISTINCT; i++)
        for (uint64_t c = 0; c < count[i]; c++) tuple[all++] = i;
    for (size_t i = 0; i < n; i++) {
        const size_t j = i + suite_below(&seed, all - i);
        const uint64_t other = tuple[i];
        tuple[i] = tuple[j];
        tuple[j] = other;
        out[i] = s->hash[tuple[i]];
    }
    return out;
}

static eb_filter *filled(const streams *s, const uint64_t *count) {
    eb_filter *const f = suite_new("spectral:update=plain,k=5,cells=71425,span=0,store=u32");
    const eb_batch all = A_BATCH(DISTINCT, s->hash, count, NULL);
    OK(eb_add_batch(f, &all, NULL));
    return f;
}

typedef struct spread {
    double sum, squares, error;
} spread;

static void take(spread *s, double x, double error) {
    s->sum += x / SEEDS;
    s->squares += x * x / SEEDS;
    s->error += error / SEEDS;
}

static double deviation(const spread *s) {
    return sqrt(fmax(0, s->squares - s->sum * s->sum) * SEEDS / (SEEDS - 1));
}

typedef struct outcome {
    spread product, published, all;
} outcome;

static void one_run(outcome *o, double theta, bool alike, uint64_t seed) {
    static streams s;
    make_streams(&s, theta, alike, seed);
    eb_filter *const f = filled(&s, s.a), *const g = filled(&s, s.b);
    const size_t m1 = eb_join_sample_size(TUPLES);
    const size_t m2 = (size_t)(sqrt(TUPLES) + log(TUPLES));
    eb_hash *const a = sample(&s, s.a, m1, seed + 1000), *const b =
                                                             sample(&s, s.b, m1, seed + 2000);
    eb_join j = {.size = sizeof j};
    OK(eb_join_size(f, g, &j, NULL));
    take(&o->product, j.join / s.join, j.error / s.join);
    const eb_join_samples published = {a, b, m1, m1, m2}, all = {a, b, m1, m1, 0};
    OK(eb_join_sampled(f, g, &published, &j, NULL));
    take(&o->published, j.join / s.join, j.error / s.join);
    HOLDS(j.upper >= s.join);
    OK(eb_join_sampled(f, g, &all, &j, NULL));
    take(&o->all, j.join / s.join, j.error / s.join);
    free(a);
    free(b);
    eb_free(f);
    eb_free(g);
}

/* Known from 60 runs of the published sizes of samples: mean and deviation of estimate / truth by
 * samples, and the deviation by products of counters.  Deviations of so few runs are known to a
 * third. */
static void sizes_of_joins_are_as_known(void **state) {
    (void)state;
    SUITE_LONG();
    static const struct {
        double theta;
        bool alike;
        double mean, sd, product_sd;
    } known[] = {{.75, true, 1.001, .020, .002},
                 {1.25, true, 1.000, .0005, .0005},
                 {.25, false, 1.016, .027, .004},
                 {1.25, false, 1.02, .23, 2.8}};
    for (size_t i = 0; i < SUITE_COUNT(known); i++) {
        outcome o = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            one_run(&o, known[i].theta, known[i].alike, seed);
        suite_at("skew %g, %s order", known[i].theta, known[i].alike ? "the same" : "another");
        const double tolerance = 4 * sqrt(1.0 / SEEDS + 1.0 / 60);
        NEAR(o.published.sum, known[i].mean, tolerance * known[i].sd + .001);
        NEAR(deviation(&o.published), known[i].sd, .45 * known[i].sd + .0005);
        NEAR(o.product.sum, 1, tolerance * known[i].product_sd);
        NEAR(deviation(&o.product), known[i].product_sd, .45 * known[i].product_sd + .0005);
        HOLDS(deviation(&o.all) < .6 * known[i].sd); /* all tuples of the sample are better */
        HOLDS(o.all.error > .5 * deviation(&o.all) && o.published.error > .5 * known[i].sd);
        if (!known[i].alike) /* whoever chooses by the stated errors chooses well */
            HOLDS((o.product.error < o.all.error) == (known[i].theta < 1));
    }
}

/* Joins by key: R and S hold KEYS keys each, half of them both.  Known from 50 runs: the share of
 * R's keys whose product is wrong is .0748 (deviation of a run .006) by the product of filters,
 * .0450 (.005) by the product of two counts, .0332 (.004) by R's exact count and S's filter. */
enum { KEYS = 1000 };

typedef struct shares {
    double product, minima, exact;
} shares;

static void make_relation(eb_hash *hash, uint64_t *count, uint64_t first, uint64_t *random) {
    double sum = 0;
    for (int i = 1; i <= KEYS; i++) sum += pow(i, -.5);
    for (uint64_t i = 0; i < KEYS; i++) {
        hash[i] = ebi_mix(first + i);
        count[i] = (uint64_t)fmax(1, round(100000 / sum * pow((double)i + 1, -.5)));
    }
    shuffle(count, KEYS, random);
}

static eb_filter *relation_filter(const eb_hash *hash, const uint64_t *count) {
    eb_filter *const f = suite_new("spectral:update=plain,k=5,cells=7142,span=0,store=u32");
    OK(eb_add_batch(f, &A_BATCH(KEYS, hash, count, NULL), NULL));
    return f;
}

static void joined_keys_of(uint64_t seed, shares *wrong) {
    eb_hash hash[KEYS], other[KEYS];
    uint64_t f_r[KEYS], f_s[KEYS];
    double r[KEYS], s[KEYS], rs[KEYS];
    uint64_t random = ebi_mix(seed);
    const uint64_t first = random;
    make_relation(hash, f_r, first, &random);
    make_relation(other, f_s, first + KEYS / 2, &random);
    eb_filter *const f = relation_filter(hash, f_r), *const g = relation_filter(other, f_s), *both;
    OK(eb_combine(&both, f, g, EB_PRODUCT, NULL, NULL));
    calls_count(f, hash, KEYS, r);
    calls_count(g, hash, KEYS, s);
    calls_count(both, hash, KEYS, rs);
    for (size_t i = 0; i < KEYS; i++) {
        const double truth = i < KEYS / 2 ? 0 : (double)f_r[i] * (double)f_s[i - KEYS / 2];
        HOLDS(rs[i] >= r[i] * s[i] && r[i] * s[i] >= (double)f_r[i] * s[i] &&
              (double)f_r[i] * s[i] >= truth);
        wrong->product += (rs[i] != truth) / (double)(SEEDS * KEYS);
        wrong->minima += (r[i] * s[i] != truth) / (double)(SEEDS * KEYS);
        wrong->exact += ((double)f_r[i] * s[i] != truth) / (double)(SEEDS * KEYS);
    }
    eb_free(f);
    eb_free(g);
    eb_free(both);
}

static void errors_of_joined_keys_are_as_known(void **state) {
    (void)state;
    const double tolerance = 4 * sqrt(1.0 / SEEDS + 1.0 / 50);
    shares wrong = {0, 0, 0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) joined_keys_of(seed, &wrong);
    NEAR(wrong.product, .0748, tolerance * .006);
    NEAR(wrong.minima, .0450, tolerance * .005);
    NEAR(wrong.exact, .0332, tolerance * .004);
}

/* Refusals */

static void bad_samples_are_refused(void **state) {
    (void)state;
    const eb_hash h[1] = {5};
    eb_error err = {.text = ""};
    eb_join j = {.size = sizeof j};
    eb_filter *const f = suite_new("spectral:cells=100"), *const bloom = suite_new("bloom");
    eb_filter *const other = suite_new("spectral:cells=100,seed=3");
    const eb_join_samples one = {h, h, 1, 1, 0}, none = {h, h, 1, 0, 0};
    GIVES(EB_EMISMATCH, eb_join_sampled(f, other, &one, &j, &err));
    HOLDS(strcmp(err.text, "filters must have the same seed: 0 and 3 differ") == 0);
    GIVES(EB_EINVAL, eb_join_sampled(f, f, &none, &j, &err));
    GIVES(EB_ENOTSUP, eb_join_sampled(f, bloom, &one, &j, &err));
    OK(eb_join_sampled(f, f, &one, &j, &err));
    HOLDS(j.join == 0 && isinf(j.upper)); /* update=conservative: no certain bound from counters */
    eb_filter *poor = NULL;
    suite_memory m;
    suite_memory_init(&m, 3, 0xa5);
    OK(eb_new(&poor, "spectral:cells=100", &m.allocator, NULL));
    GIVES(EB_ENOMEM, eb_join_sampled(poor, f, &one, &j, &err));
    eb_free(poor);
    HOLDS(m.blocks == 0);
    eb_free(f);
    eb_free(bloom);
    eb_free(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_joins_are_as_known),
        cmocka_unit_test(errors_of_joined_keys_are_as_known),
        cmocka_unit_test(bad_samples_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
