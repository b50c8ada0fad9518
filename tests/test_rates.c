/* test_rates.c - what filters say of themselves against what they do: eb_stat's
 * and eb_predict's rates on streams of distinct keys, for every kind.
 *
 * Each case is run RUNS times on different keys.  A rate agrees if it is within
 * 4 standard errors plus the model's bias of what was measured.  The error is
 * the larger of the binomial one of all trials and the one between the runs,
 * since trials in one run share its cells.  The bias allowed is the same for all
 * kinds: formulas are mean-field and blocks here have only thousands of cells. */
#include "suite.h"
#include <math.h>

enum { RUNS = 4, PROBES = 4000, CELLS_MAX = 40000, GAPS = 2, POINTS = 3 };
static const double bias_relative = 0.04, bias_absolute = 0.001;
static const double points[POINTS] = {1.0 / 16, 1.0 / 2, 2}; /* keys for each cell */
static const double gaps[GAPS] = {1.0 / 20, 1.0 / 5};        /* the same */

typedef struct rate { /* a share, measured in several runs */
    double sum, squares, trials;
    int runs;
} rate;

static void rate_run(rate *r, double hits, double trials) {
    r->sum += hits / trials;
    r->squares += hits / trials * (hits / trials);
    r->trials += trials;
    r->runs++;
}

static double rate_mean(const rate *r) {
    return r->sum / r->runs;
}

static double rate_error(const rate *r, double expected) {
    const double mean = rate_mean(r);
    const double between = fmax(0, r->squares / r->runs - mean * mean) / (r->runs - 1);
    const double binomial = fmax(expected, mean) * (1 - fmin(expected, mean)) / r->trials;
    return sqrt(fmax(between, binomial));
}

static void rate_agrees(const char *spec, const char *what, double at, const rate *r,
                        double expected) {
    const double error = rate_error(r, expected);
    const double allowed = 4 * error + bias_relative * expected + bias_absolute;
    if (fabs(rate_mean(r) - expected) <= allowed) return;
    print_error("%s: %s at %.0f keys: measured %.6f, expected %.6f; allowed 4 x %.6f plus bias\n",
                spec, what, at, rate_mean(r), expected, error);
    fail();
}

/* Kinds whose formulas are not held to this at the ends of their options' ranges:
 * choosy's field treats a line of 512 bits as a large one, which fails where
 * nearly no key, or every key, is let in. */
static const char *const moderate[] = {"choosy"};

static bool has_formula(const suite_case *c) {
    for (size_t i = 0; i < SUITE_COUNT(moderate); i++)
        if (c->extreme && strcmp(c->kind->info.name, moderate[i]) == 0) return false;
    return true;
}

typedef struct measured {
    rate fpr[POINTS], mean_fpr[POINTS], fill[POINTS], fnr[GAPS];
    double stat_fpr[POINTS];                   /* mean over the runs */
    double keys[POINTS], gap[GAPS], end[GAPS]; /* end: keys when repeats are tested, on average */
} measured;

/* A stream of distinct keys with values as a uniform profile has them. */
typedef struct source {
    const eb_filter *f;
    uint64_t state, drawn;
} source;

static eb_hash draw(source *s, uint64_t *value) {
    const uint64_t values = (uint64_t)s->f->p.value_max - s->f->p.value_min + 1;
    *value = s->f->p.value_min + (uint32_t)suite_below(&s->state, values);
    const uint64_t caps = eb_caps(s->f);
    if ((caps & EB_CAN_COUNT) && (caps & (EB_USES_TIME | EB_NO_FALSE_NEGATIVES)))
        *value = s->f->p.value_min; /* larger counts fade later and join counters: keys come once */
    return suite_key(s->f, ebi_mix(s->state + s->drawn++));
}

/* Adds `until - added` keys; how many were said to be seen? */
static double feed(eb_filter *f, source *s, double n) {
    double seen_sum = 0;
    while (n > 0) {
        enum { STEP = 1000 };
        eb_hash hash[STEP];
        uint64_t value[STEP];
        uint8_t seen[STEP];
        const size_t now = (size_t)fmin(n, STEP);
        for (size_t i = 0; i < now; i++) hash[i] = draw(s, &value[i]);
        const eb_batch batch = A_BATCH(now, hash, value, NULL);
        OK(calls_add(f, &batch, seen));
        for (size_t i = 0; i < now; i++) seen_sum += seen[i];
        n -= (double)now;
    }
    return seen_sum;
}

static double probe(const eb_filter *f, source *s) {
    eb_hash hash[PROBES];
    uint64_t value[PROBES];
    uint8_t seen[PROBES];
    double sum = 0;
    for (size_t i = 0; i < PROBES; i++) hash[i] = draw(s, &value[i]);
    const eb_batch batch = A_BATCH(PROBES, hash, value, NULL);
    OK(calls_ask(f, &batch, seen));
    for (size_t i = 0; i < PROBES; i++) sum += seen[i];
    return sum;
}

/* PROBES more keys, each tested again when gap others came after it. */
static double forgotten(eb_filter *f, source *s, size_t gap) {
    const size_t n = gap + PROBES;
    eb_hash *const hash = malloc(n * sizeof *hash);
    uint64_t *const value = malloc(n * sizeof *value);
    double missed = 0;
    HOLDS(hash && value);
    for (size_t i = 0; i < n; i++) {
        hash[i] = draw(s, &value[i]);
        const eb_batch one = A_BATCH(1, hash + i, value + i, NULL);
        OK(calls_add(f, &one, NULL));
        if (i < gap) continue;
        const eb_batch old = A_BATCH(1, hash + i - gap, value + i - gap, NULL);
        uint8_t seen;
        OK(calls_ask(f, &old, &seen));
        missed += !seen;
    }
    free(hash);
    free(value);
    return missed;
}

static void one_run(eb_filter *f, uint64_t seed, measured *m) {
    source s = {f, ebi_mix(seed), 0};
    double added = 0, seen = 0;
    for (int i = 0; i < POINTS; i++) {
        eb_stats stats = {.size = sizeof stats};
        seen += feed(f, &s, m->keys[i] - added);
        added = m->keys[i];
        calls_stat(f, &stats);
        rate_run(&m->fpr[i], probe(f, &s), PROBES);
        rate_run(&m->mean_fpr[i], seen, added);
        rate_run(&m->fill[i], (double)stats.cells_used, (double)stats.cells);
        m->stat_fpr[i] += stats.fpr / RUNS;
    }
    for (int i = 0; i < GAPS; i++)
        rate_run(&m->fnr[i], forgotten(f, &s, (size_t)m->gap[i]), PROBES);
}

static void compare(const suite_case *c, const measured *m) {
    for (int i = 0; i < POINTS; i++) {
        const eb_workload load = {.size = sizeof load, .items = m->keys[i]};
        eb_prediction p = {.size = sizeof p};
        OK(eb_predict(c->spec, &load, NULL, 1, &p, NULL));
        rate_agrees(c->spec, "fpr of eb_stat", m->keys[i], &m->fpr[i], m->stat_fpr[i]);
        if (!has_formula(c)) continue;
        if (!isnan(p.fpr)) rate_agrees(c->spec, "fpr", m->keys[i], &m->fpr[i], p.fpr);
        if (!isnan(p.fill)) rate_agrees(c->spec, "fill", m->keys[i], &m->fill[i], p.fill);
        if (!isnan(p.mean_fpr))
            rate_agrees(c->spec, "mean fpr", m->keys[i], &m->mean_fpr[i], p.mean_fpr);
    }
    for (int i = 0; i < GAPS && has_formula(c); i++) {
        const eb_workload load = {.size = sizeof load, .items = m->end[i], .gap = m->gap[i]};
        eb_prediction p = {.size = sizeof p};
        OK(eb_predict(c->spec, &load, NULL, 1, &p, NULL));
        if (!isnan(p.fnr)) rate_agrees(c->spec, "fnr", m->gap[i], &m->fnr[i], p.fnr);
    }
}

static void rates_agree(const suite_case *c) {
    static const char *const alike[] = {"shards=4,", "seed=", "hash="}; /* change no rate */
    for (size_t i = 0; i < SUITE_COUNT(alike); i++)
        if (strstr(c->text, alike[i])) return;
    eb_filter *const f = suite_new(c->spec);
    eb_stats stats = {.size = sizeof stats};
    measured m = {.end = {0}};
    calls_stat(f, &stats);
    const bool few = c->kind->counted && stats.cells < 256; /* the estimate supposes many keys */
    if (stats.cells <= CELLS_MAX && !few) {
        for (int i = 0; i < POINTS; i++) m.keys[i] = floor((double)stats.cells * points[i]);
        double added = m.keys[POINTS - 1];
        for (int i = 0; i < GAPS; i++) {
            m.gap[i] = floor((double)stats.cells * gaps[i]);
            m.end[i] = added + m.gap[i] + PROBES / 2;
            added += m.gap[i] + PROBES;
        }
        for (uint64_t run = 1; run <= RUNS; run++) {
            one_run(f, run, &m);
            (void)eb_clear(f, NULL);
        }
        compare(c, &m);
    }
    eb_free(f);
}

static void rates_are_as_predicted(void **state) {
    (void)state;
    SUITE_LONG();
    suite_each_near(rates_agree);
}

/* Workloads that make no sense */

static void bad_workloads(const suite_case *c) {
    const eb_workload bad[] = {
        {sizeof bad[0], -1, 0, 0, 0, 0, 0, 0, 0},       {sizeof bad[0], NAN, 0, 0, 0, 0, 0, 0, 0},
        {sizeof bad[0], INFINITY, 0, 0, 0, 0, 0, 0, 0}, {sizeof bad[0], 10, 11, 0, 0, 0, 0, 0, 0},
        {sizeof bad[0], 10, -1, 0, 0, 0, 0, 0, 0},      {sizeof bad[0], 10, 5, -0.1, 0, 0, 0, 0, 0},
        {sizeof bad[0], 10, 5, NAN, 0, 0, 0, 0, 0},     {sizeof bad[0], 10, 5, 0, -1, 0, 0, 0, 0},
        {sizeof bad[0], 10, 5, 0, 1e19, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < SUITE_COUNT(bad); i++) {
        eb_prediction p = {.size = sizeof p, .fpr = 42};
        eb_error err = {.text = ""};
        GIVES(EB_EINVAL, eb_predict(c->spec, &bad[i], NULL, 1, &p, &err));
        HOLDS(p.fpr == 42 && strstr(err.text, " must be "));
    }
}

static void bad_workloads_are_refused(void **state) {
    (void)state;
    suite_each_base(bad_workloads);
}

/* Predictions are rates for any workload, near and far from any stream. */
static void predictions_are_rates(const suite_case *c) {
    static const double items[] = {0, 1, 10, 1e3, 1e6, 1e12, 1e18}, parts[] = {0, 1, 0.5, 1e-3};
    static const double gap[] = {0, 1, 1e3, 1e9};
    for (size_t i = 0; i < SUITE_COUNT(items); i++)
        for (size_t j = 0; j < SUITE_COUNT(parts); j++)
            for (size_t k = 0; k < SUITE_COUNT(gap); k++) {
                const eb_workload w = {.size = sizeof w,
                                       .items = items[i],
                                       .distinct = ceil(items[i] * parts[j]),
                                       .gap = gap[k]};
                eb_prediction p = {.size = sizeof p};
                OK(eb_predict(c->spec, &w, NULL, 1, &p, NULL));
                const double rates[] = {p.fpr, p.fnr, p.fill, p.mean_fpr, p.mean_fnr};
                for (size_t r = 0; r < SUITE_COUNT(rates); r++)
                    HOLDS(isnan(rates[r]) || (rates[r] >= 0 && rates[r] <= 1));
                HOLDS(p.settles_after >= 0 || isnan(p.settles_after));
            }
}

static void predictions_are_between_0_and_1(void **state) {
    (void)state;
    SUITE_LONG();
    suite_each_base(predictions_are_rates);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_as_predicted),
        cmocka_unit_test(bad_workloads_are_refused),
        cmocka_unit_test(predictions_are_between_0_and_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
