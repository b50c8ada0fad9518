/* test_query.c - estimates beyond the minimum, and operations on counting filters:
 * bounds hold, averages are right with the error they state, combined filters
 * bound combined counts, and what would be wrong is refused with a reason. */
#include "query/query.h"
#include "suite.h"
#include <math.h>

enum { KEYS = 1000, OCCURRENCES = 100000, RUNS = 200 };

typedef struct world { /* keys with known counts */
    eb_hash hash[KEYS];
    uint64_t count[KEYS];
} world;

static void make_world(world *w, double theta, uint64_t seed) {
    double sum = 0;
    for (int i = 1; i <= KEYS; i++) sum += pow(i, -theta);
    for (int i = 0; i < KEYS; i++) {
        w->hash[i] = ebi_mix(ebi_mix(seed) + (uint64_t)i);
        w->count[i] = (uint32_t)fmax(1, round(OCCURRENCES / sum * pow(i + 1, -theta)));
    }
}

static eb_filter *filled(const char *spec, const world *w) {
    eb_filter *const f = suite_new(spec);
    const eb_batch all = A_BATCH(KEYS, w->hash, w->count, NULL);
    OK(eb_add_batch(f, &all, NULL));
    return f;
}

static const char MS[] = "spectral:update=plain,k=5,cells=7140,span=0,store=u32";
static const char MI[] = "spectral:update=conservative,k=5,cells=7140,span=0,store=u32";
static const char SHARDED[] = "spectral:update=plain,k=5,cells=1785,span=0,store=u32,shards=4";
static const char WINDOWED[] = "spectral:update=plain,k=5,cells=7140,span=500,store=u32";
static const char RMX[] = "spectral_rm:k=5,cells=7140,span=0,store=u32";
static const char RM[] = "spectral_rm:method=rm,k=5,cells=7140,span=0,store=u32";

/* One key */

static void bounds_of(const char *spec) {
    static world w;
    double low = 0, promised = 0;
    eb_estimate e = {.size = sizeof e};
    suite_at("%s", spec);
    for (uint64_t seed = 1; seed <= 10; seed++) {
        make_world(&w, 0.5, seed);
        eb_filter *const f = filled(spec, &w);
        for (size_t i = 0; i < KEYS; i++) {
            OK(eb_estimate_batch(f, SUITE_ONE(w.hash[i]), &e, NULL));
            HOLDS(e.upper >= (double)w.count[i] && e.lower <= e.upper && e.lower >= 0);
            low += e.lower <= (double)w.count[i];
            HOLDS(e.confidence >= .99);
            promised += e.confidence;
        }
        eb_free(f);
    }
    HOLDS(low >= promised);
}

static void bounds_hold(void **state) {
    (void)state;
    SUITE_LONG();
    static const char *const specs[] = {MS, MI, SHARDED, WINDOWED, RMX, RM};
    for (size_t i = 0; i < SUITE_COUNT(specs); i++) bounds_of(specs[i]);
}

/* Of keys that came once, in single counters, the bound fails exactly where two of them meet, and
 * the promise leaves half as much again for luck.  Those that meet come in pairs, hence the 2. */
static void the_lower_bound_promises_what_it_can(void **state) {
    (void)state;
    SUITE_LONG();
    enum { SEEDS = 20 };
    static world w;
    double failed = 0, conceded = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        make_world(&w, 0.5, seed);
        for (int i = 0; i < KEYS; i++) w.count[i] = 1;
        eb_filter *const f = filled("spectral:update=plain,k=1,cells=400000,span=0,store=u32", &w);
        for (size_t i = 0; i < KEYS; i++) {
            eb_estimate e = {.size = sizeof e};
            OK(eb_estimate_batch(f, SUITE_ONE(w.hash[i]), &e, NULL));
            HOLDS(e.lower == e.count && e.confidence >= .99);
            failed += e.lower > (double)w.count[i];
            conceded += 1 - e.confidence;
        }
        eb_free(f);
    }
    NEAR(failed, conceded / 1.5, 4.5 * sqrt(2 * conceded) + conceded / 4);
}

/* Counters hold dozens of other arrivals.  Strangers, whose counts are nothing but that, seldom
 * have a lower bound above 0, but not never, or the bound would be lower than it must. */
static void the_lower_bound_is_near_the_noise(void **state) {
    (void)state;
    enum { STRANGERS = 20000 };
    static const char *const specs[] = {
        "spectral:update=plain,k=3,cells=1500,span=0,store=u32",
        "spectral:update=plain,k=3,cells=375,span=0,store=u32,shards=4"};
    static world w;
    make_world(&w, 0.5, 7);
    for (size_t i = 0; i < SUITE_COUNT(specs); i++) {
        static eb_hash hash[STRANGERS];
        static eb_estimate e[STRANGERS];
        eb_filter *const f = filled(specs[i], &w);
        double failed = 0, conceded = 0, noise = 0;
        for (uint64_t j = 0; j < STRANGERS; j++) {
            hash[j] = ebi_mix(UINT64_C(1) << 40 | j);
            e[j].size = sizeof e[j];
        }
        OK(eb_estimate_batch(f, SUITE_KEYS(hash, STRANGERS), e, NULL));
        for (size_t j = 0; j < STRANGERS; j++) {
            failed += e[j].lower > 0;
            conceded += 1 - e[j].confidence;
            noise += e[j].count / STRANGERS;
        }
        suite_at("%s: %g of %g, noise %g", specs[i], failed, conceded, noise);
        HOLDS(noise > 32 && failed <= conceded && failed >= conceded / 4);
        eb_free(f);
    }
}

/* Streams that nobody tuned for, in filters from roomy to overfull, in several stores: of all keys
 * at most as many have less than their lower bound as was conceded; and in a roomy filter the bound
 * is the count. */

enum { STRANGE = 3000 };

static uint64_t strange_count(int stream, size_t i, uint64_t *random) {
    switch (stream) {
    case 0: /* bursts: most keys rarely, some in bursts of many sizes */
        return suite_below(random, 10) > 0 ? 1 : UINT64_C(1) << suite_below(random, 14);
    case 1: /* one key is half of everything */
        return i == 0 ? 4 * STRANGE : 1 + suite_below(random, 3);
    case 2: /* all alike */
        return 20;
    default: /* two sorts of keys */
        return i % 2 == 0 ? 1000 : 3;
    }
}

static void strange_bounds(const char *spec, int stream, uint64_t seed, double *low,
                           double *promised, double *exact) {
    static eb_hash hash[STRANGE];
    static eb_estimate e[STRANGE];
    static uint64_t count[STRANGE], left[STRANGE];
    uint64_t random = ebi_mix((uint64_t)stream + 77 * seed);
    eb_filter *const f = suite_new(spec);
    uint64_t waiting = 0;
    for (size_t i = 0; i < STRANGE; i++) {
        hash[i] = suite_random(&random);
        left[i] = count[i] = strange_count(stream, i, &random);
        waiting += left[i] > 0;
        e[i].size = sizeof e[i];
    }
    while (waiting > 0) /* in turns of random length: as conservative counters like it least */
        for (size_t i = 0; i < STRANGE; i++) {
            const uint64_t some = ebi_min(left[i], 1 + suite_below(&random, 40));
            if (some == 0) continue;
            OK(eb_add_batch(f, &A_BATCH(1, &hash[i], &some, NULL), NULL));
            left[i] -= some;
            waiting -= left[i] == 0;
        }
    OK(eb_estimate_batch(f, SUITE_KEYS(hash, STRANGE), e, NULL));
    for (size_t i = 0; i < STRANGE; i++) {
        HOLDS(e[i].upper >= (double)count[i] && e[i].confidence >= .99);
        *low += e[i].lower > (double)count[i];
        *promised += 1 - e[i].confidence;
        *exact += e[i].lower == (double)count[i];
    }
    eb_free(f);
}

static void confidence_is_kept_on_strange_streams(void **state) {
    (void)state;
    SUITE_LONG();
    static const char *const forms[] = {"update=plain", "update=conservative",
                                        "update=plain,store=u32", "update=plain,span=512"};
    static const unsigned cells[] = {300000, 30000, 12000, 5000, 1500};
    double low = 0, promised = 0;
    for (size_t form = 0; form < SUITE_COUNT(forms); form++)
        for (size_t size = 0; size < SUITE_COUNT(cells); size++)
            for (int stream = 0; stream < 4; stream++) {
                double few = 0, conceded = 0, exact = 0;
                for (unsigned seed = 1; seed <= 4; seed++) {
                    char spec[200];
                    (void)snprintf(spec, sizeof spec, "spectral:cells=%u,%s,seed=%u%s", cells[size],
                                   forms[form], seed, strstr(forms[form], "span") ? "" : ",span=0");
                    suite_at("%s, stream %d", spec, stream);
                    strange_bounds(spec, stream, seed, &few, &conceded, &exact);
                }
                /* keys that are too low come in groups, where a large one sits */
                HOLDS(few <= conceded + 6 * sqrt(4 * conceded + 4));
                HOLDS(size > 0 || exact > 3.9 * STRANGE);
                low += few;
                promised += conceded;
            }
    HOLDS(low <= promised);
}

/* Known from 50 runs: .8088 recur (deviation of a run .0137), .0016 (.0015) of which
 * are wrong; of the others about .16. */
static void a_single_minimum_is_suspect(void **state) {
    (void)state;
    SUITE_LONG();
    enum { SEEDS = 20 };
    static world w;
    double recurring = 0, recurring_wrong = 0, single_wrong = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        make_world(&w, 0.5, seed);
        eb_filter *const f = filled(MS, &w);
        for (size_t i = 0; i < KEYS; i++) {
            eb_estimate e = {.size = sizeof e};
            OK(eb_estimate_batch(f, SUITE_ONE(w.hash[i]), &e, NULL));
            recurring += !e.single;
            recurring_wrong += !e.single && e.count != (double)w.count[i];
            single_wrong += e.single && e.count != (double)w.count[i];
        }
        eb_free(f);
    }
    const double tolerance = 4 * sqrt(1.0 / SEEDS + 1.0 / 50), all = SEEDS * KEYS;
    NEAR(recurring / all, .8088, tolerance * .0137);
    NEAR(recurring_wrong / recurring, .0016, tolerance * .0015);
    NEAR(single_wrong / (all - recurring), .16, .03);
}

/* Averages: the mean of (estimate - truth) / error is 0, its mean square 1. */

typedef struct scores {
    double sum, squares;
} scores;

static void score(scores *s, double estimate, double truth, double error) {
    const double z = (estimate - truth) / error;
    s->sum += z / RUNS;
    s->squares += z * z / RUNS;
}

static void standard(scores s, double most) {
    NEAR(s.sum, 0, 4.5 / sqrt(RUNS));
    NEAR(sqrt(s.squares), most, 0.25);
}

static void sums_of(const char *spec, size_t keys) {
    static world w;
    scores mean = {0, 0}, median = {0, 0}, f2 = {0, 0};
    suite_at("%s, %zu keys", spec, keys);
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        double truth = 0, squares = 0;
        eb_sum s = {.size = sizeof s};
        eb_moments m = {.size = sizeof m};
        make_world(&w, 0.5, seed);
        eb_filter *const f = filled(spec, &w);
        for (size_t i = 0; i < KEYS; i++) squares += (double)w.count[i] * (double)w.count[i];
        for (size_t i = 0; i < keys; i++) truth += (double)w.count[KEYS / 2 + i];
        OK(eb_sum_batch(f, SUITE_KEYS(w.hash + KEYS / 2, keys), &s, NULL));
        OK(eb_moments_of(f, &m, NULL));
        HOLDS(s.upper >= truth);
        score(&mean, s.sum, truth, s.error);
        score(&median, s.median, truth, s.error);
        score(&f2, m.f2, squares, m.f2_error);
        eb_free(f);
    }
    standard(mean, 1);
    HOLDS(fabs(median.sum) < 0.5); /* skewed noise: medians of sums are a little low */
    NEAR(f2.sum, 0, 4.5 / sqrt(RUNS));
    NEAR(sqrt(f2.squares), 1, 0.35);
}

static void sums_are_right_on_average(void **state) {
    (void)state;
    sums_of(MS, 10);
    sums_of(MS, 100);
    sums_of(SHARDED, 100);
    sums_of(RMX, 100);
}

/* Two errors of two standard errors each: more than nine in ten intervals hold the truth. */
static void averages_lie_in_their_interval(void **state) {
    (void)state;
    enum { AMONG = 100 };
    static world w;
    int held = 0;
    eb_average a = {.size = sizeof a};
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        double sum = 0, count = 0;
        uint64_t value[KEYS];
        make_world(&w, 0.5, seed);
        for (size_t i = 0; i < KEYS; i++) value[i] = w.count[i] * (10 + (uint32_t)(i % 7));
        for (size_t i = 0; i < AMONG; i++)
            sum += (double)value[i * 10], count += (double)w.count[i * 10];
        eb_hash among[AMONG];
        for (size_t i = 0; i < AMONG; i++) among[i] = w.hash[i * 10];
        eb_filter *const counts = filled(MS, &w), *const sums = suite_new(MS);
        OK(eb_add_batch(sums, &A_BATCH(KEYS, w.hash, value, NULL), NULL));
        OK(eb_average_batch(sums, counts, SUITE_KEYS(among, AMONG), &a, NULL));
        HOLDS(a.lower <= a.average && a.average <= a.upper && a.lower > 8 && a.upper < 20);
        held += a.lower <= sum / count && sum / count <= a.upper;
        eb_free(counts);
        eb_free(sums);
    }
    HOLDS(held >= RUNS * 9 / 10);
    eb_error err = {.text = ""};
    eb_filter *const f = suite_new(MS), *const mi = suite_new(MI);
    eb_filter *const seeded = suite_new("spectral:update=plain,cells=7140,span=0,seed=4");
    OK(eb_average_batch(f, f, SUITE_KEYS(w.hash, 1), &a, &err));
    HOLDS(isnan(a.average) && a.lower == 0 && isinf(a.upper));
    GIVES(EB_EMISMATCH, eb_average_batch(f, seeded, SUITE_KEYS(w.hash, 1), &a, &err));
    GIVES(EB_ENOTSUP, eb_average_batch(mi, mi, SUITE_KEYS(w.hash, 1), &a, &err));
    eb_free(f);
    eb_free(mi);
    eb_free(seeded);
}

static void joins_are_right_on_average(void **state) {
    (void)state;
    static world a, b;
    scores s = {0, 0};
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        double truth = 0;
        eb_join j = {.size = sizeof j};
        make_world(&a, 0.5, seed);
        make_world(&b, 0.5, seed);
        for (size_t i = 0; i < KEYS / 2; i++) b.hash[i] = ebi_mix(b.hash[i]); /* others */
        eb_filter *const f = filled(MS, &a), *const g = filled(MS, &b);
        for (size_t i = KEYS / 2; i < KEYS; i++) truth += (double)a.count[i] * (double)b.count[i];
        OK(eb_join_size(f, g, &j, NULL));
        HOLDS(j.upper >= truth);
        score(&s, j.join, truth, j.error);
        eb_free(f);
        eb_free(g);
    }
    standard(s, 1);
}

/* Operations */

static void a_window_slides_by_panes(void **state) {
    (void)state;
    enum { PANES = 5 };
    static const char *const specs[] = {MS, SHARDED, RMX};
    for (size_t i = 0; i < SUITE_COUNT(specs); i++) {
        static world w[PANES];
        eb_filter *pane[PANES], *const all = suite_new(specs[i]), *const last = suite_new(specs[i]);
        suite_at("%s", specs[i]);
        for (uint64_t p = 0; p < PANES; p++) {
            make_world(&w[p], 0.5, 7 + p % 2);
            pane[p] = filled(specs[i], &w[p]);
            OK(eb_merge(all, pane[p], 1, NULL));
        }
        for (size_t p = 0; p + 1 < PANES; p++) OK(eb_merge(all, pane[p], -1, NULL));
        OK(eb_merge(last, pane[PANES - 1], 1, NULL));
        double left[KEYS], right[KEYS];
        calls_count(all, w[PANES - 1].hash, KEYS, left);
        calls_count(last, w[PANES - 1].hash, KEYS, right);
        for (size_t j = 0; j < KEYS; j++)
            HOLDS(left[j] >= (double)w[PANES - 1].count[j] &&
                  (specs[i] == RMX || left[j] == right[j]));
        eb_filter *before;
        OK(eb_clone(&before, all, NULL, NULL));
        GIVES(EB_EVALUE, eb_merge(all, pane[1], -1, NULL)); /* not in there */
        HOLDS(suite_equal(all, before));
        eb_free(before);
        for (size_t p = 0; p < PANES; p++) eb_free(pane[p]);
        eb_free(all);
        eb_free(last);
    }
}

static double combined(double a, double b, eb_combination how) {
    return how == EB_PRODUCT ? a * b : how == EB_MAXIMUM ? fmax(a, b) : fmin(a, b);
}

static void combinations_of(const char *spec, eb_combination how) {
    static world a, b;
    make_world(&a, 0.5, 3);
    make_world(&b, 1, 3);
    eb_filter *const f = filled(spec, &a), *const g = filled(spec, &b), *both, *loaded;
    OK(eb_combine(&both, f, g, how, NULL, NULL));
    double x[KEYS], y[KEYS], z[KEYS];
    calls_count(f, a.hash, KEYS, x);
    calls_count(g, a.hash, KEYS, y);
    calls_count(both, a.hash, KEYS, z);
    for (size_t i = 0; i < KEYS; i++) {
        HOLDS(z[i] >= combined((double)a.count[i], (double)b.count[i], how));
        HOLDS(how == EB_MAXIMUM || z[i] >= combined(x[i], y[i], how)); /* asking both is better */
    }
    size_t len;
    uint8_t *const bytes = suite_bytes(both, &len);
    OK(eb_load(&loaded, bytes, len, NULL, NULL, NULL));
    const eb_batch one = A_BATCH(1, a.hash, NULL, NULL);
    GIVES(EB_EREADONLY, eb_add_batch(loaded, &one, NULL));
    GIVES(EB_EREADONLY, eb_merge(f, loaded, 1, NULL));
    free(bytes);
    eb_free(loaded);
    eb_free(f);
    eb_free(g);
    eb_free(both);
}

static void combinations_bound_combined_counts(void **state) {
    (void)state;
    static const char *const specs[] = {MS, MI, SHARDED, WINDOWED};
    for (size_t i = 0; i < SUITE_COUNT(specs); i++) {
        suite_at("%s", specs[i]);
        combinations_of(specs[i], EB_PRODUCT);
        combinations_of(specs[i], EB_MAXIMUM);
        combinations_of(specs[i], EB_MINIMUM);
    }
}

static void a_folded_filter_is_one_of_half_the_size(void **state) {
    (void)state;
    static world w;
    make_world(&w, 0.5, 4);
    eb_filter *const f = filled(MS, &w), *half, *quarter, *eighth = NULL;
    eb_filter *const direct = filled("spectral:update=plain,k=5,cells=3570,span=0,store=u32", &w);
    OK(ebi_fold(&half, f, NULL, NULL));
    HOLDS(suite_equal(half, direct));
    eb_error err = {.text = ""};
    OK(ebi_fold(&quarter, half, NULL, &err));
    GIVES(EB_EINVAL, ebi_fold(&eighth, quarter, NULL, &err)); /* 357 counters a part */
    HOLDS(eighth == NULL && strstr(err.text, "even"));
    eb_filter *const mi = filled(MI, &w), *mi_half;
    OK(ebi_fold(&mi_half, mi, NULL, NULL));
    double count[KEYS];
    calls_count(mi_half, w.hash, KEYS, count);
    for (size_t i = 0; i < KEYS; i++) HOLDS(count[i] >= (double)w.count[i]);
    eb_free(f);
    eb_free(half);
    eb_free(quarter);
    eb_free(direct);
    eb_free(mi);
    eb_free(mi_half);
}

/* Refusals */

typedef struct refusal {
    const char *spec, *reason;
} refusal;

static void refused(eb_status status, eb_status want, const eb_error *err, const char *reason) {
    GIVES(want, status);
    HOLDS(err->status == want && strstr(err->text, reason));
}

static void what_would_be_wrong_is_refused(void **state) {
    (void)state;
    static const refusal cases[] = {
        {MI, "update=conservative"}, {WINDOWED, "span=500"}, {"bloom", "bloom"}};
    for (size_t i = 0; i < SUITE_COUNT(cases); i++) {
        eb_error err = {.text = ""};
        eb_filter *const f = suite_new(cases[i].spec);
        eb_sum s = {.size = sizeof s};
        eb_join j = {.size = sizeof j};
        eb_moments m = {.size = sizeof m};
        const eb_hash h = 1;
        suite_at("%s", cases[i].spec);
        refused(eb_sum_batch(f, SUITE_KEYS(&h, 1), &s, &err), EB_ENOTSUP, &err, cases[i].reason);
        refused(eb_moments_of(f, &m, &err), EB_ENOTSUP, &err, cases[i].reason);
        refused(eb_join_size(f, f, &j, &err), EB_ENOTSUP, &err, cases[i].reason);
        if (i != 1)
            refused(eb_merge(f, f, -1, &err), EB_ENOTSUP, &err, i == 0 ? "update=plain" : "bloom");
        eb_free(f);
    }
    eb_error err = {.text = ""};
    eb_moments m = {.size = sizeof m};
    static world w;
    make_world(&w, 0.5, 5);
    eb_filter *const full =
        filled("spectral:update=plain,k=5,cells=500,span=0,store=line,counter_bits=3", &w);
    refused(eb_moments_of(full, &m, &err), EB_ENOTSUP, &err, "saturated");
    eb_free(full);
    eb_filter *const ms = suite_new(MS), *const mi = suite_new(MI), *const rm = suite_new(RM), *out;
    refused(eb_merge(ms, mi, -1, &err), EB_EMISMATCH, &err, "differ");
    refused(eb_merge(rm, rm, -1, &err), EB_ENOTSUP, &err, "cannot be merged");
    refused(eb_combine(&out, rm, rm, EB_PRODUCT, NULL, &err), EB_ENOTSUP, &err, "spectral_rm");
    refused(ebi_fold(&out, rm, NULL, &err), EB_ENOTSUP, &err, "folded");
    eb_free(ms);
    eb_free(mi);
    eb_free(rm);
}

/* Counts beyond the largest number are reported, and no averages are made of them. */
static void overflow_is_reported(void **state) {
    (void)state;
    static const char *const stores[] = {"u32", "line", "sai"};
    for (size_t i = 0; i < SUITE_COUNT(stores); i++) {
        char spec[100];
        const eb_hash h = 7;
        const uint64_t most = UINT32_MAX;
        eb_error err = {.text = ""};
        eb_moments m = {.size = sizeof m};
        eb_stats s = {.size = sizeof s};
        (void)snprintf(spec, sizeof spec, "spectral:update=plain,k=5,cells=500,store=%s",
                       stores[i]);
        eb_filter *const f = suite_new(spec), *frozen;
        suite_at("%s", spec);
        for (int j = 0; j <= 1 << 16; j++) OK(eb_add_batch(f, &A_BATCH(1, &h, &most, NULL), NULL));
        OK(ebi_freeze(&frozen, f, NULL, NULL));
        calls_stat(f, &s);
        HOLDS(s.saturated == 5);
        calls_stat(frozen, &s);
        HOLDS(s.saturated == 5);
        refused(eb_moments_of(f, &m, &err), EB_ENOTSUP, &err, "saturated");
        refused(eb_moments_of(frozen, &m, &err), EB_ENOTSUP, &err, "saturated");
        eb_free(f);
        eb_free(frozen);
    }
}

/* Full counters say INFINITY through every door, and what is certain stays a number. */
static void full_filter_tells_nothing(const char *spec) {
    enum { FULL_BATCH = 1024, FULL_BATCHES = 256 };
    static eb_key key[FULL_BATCH];
    const uint64_t most = UINT32_MAX, now = 1;
    double count = 0, counts[2] = {0, 0};
    bool seen = false;
    eb_stats stats = {.size = sizeof stats};
    for (size_t i = 0; i < FULL_BATCH; i++) key[i] = (eb_key){"7", 1};
    const eb_keys keys = eb_keys_array(EB_STRING, key);
    eb_filter *const f = suite_new(spec);
    eb_batch b = eb_batch_keys(&keys, FULL_BATCH);
    suite_at("%s", spec);
    b.value = &most;
    b.time = &now;
    b.flags = EB_SAME_VALUE | EB_SAME_TIME;
    for (int i = 0; i < FULL_BATCHES; i++) OK(eb_add_batch(f, &b, NULL));
    calls_stat(f, &stats);
    HOLDS(stats.saturated > 0);
    OK(eb_ask(f, "7", 1, &seen, &count, NULL));
    HOLDS(seen && count == INFINITY);
    b.n = 2;
    b.count = counts;
    OK(eb_add_batch(f, &b, NULL));
    HOLDS(counts[0] == INFINITY && counts[1] == INFINITY);
    b.value = NULL;
    OK(eb_ask_batch(f, &b, NULL));
    HOLDS(counts[0] == INFINITY && counts[1] == INFINITY);
    OK(eb_ask(f, "8", 1, NULL, &count, NULL));
    HOLDS(count == 0);
    if (eb_caps(f) & EB_KEYS_ARE_NUMBERS) {
        eb_range r = {.size = sizeof r};
        OK(eb_range_count(f, 5, 7, &r, NULL));
        HOLDS(r.upper == INFINITY && isfinite(r.lower));
        OK(eb_range_count(f, 8, 200, &r, NULL));
        HOLDS(r.lower <= r.upper);
    } else if (!(eb_caps(f) & EB_USES_TIME)) {
        eb_hash h;
        eb_estimate e = {.size = sizeof e};
        OK(eb_hash_keys(f, &keys, 1, &h, NULL));
        const bool shows = f->kind->counted || f->kind->keeping;
        GIVES(shows ? EB_OK : EB_ENOTSUP, eb_estimate_batch(f, SUITE_ONE(h), &e, NULL));
        HOLDS(!shows || (e.count == INFINITY && e.upper == INFINITY && isfinite(e.lower)));
    }
    if (eb_caps(f) & EB_KEEPS_KEYS) {
        eb_top_key best;
        eb_top_list list = {.size = sizeof list, .keys = &best, .cap = 1};
        OK(eb_top(f, &list, NULL));
        HOLDS(list.n == 1 && best.count == INFINITY && isfinite(best.lower));
    }
    eb_free(f);
}

static void full_counters_tell_nothing(void **state) {
    (void)state;
    SUITE_LONG();
    size_t n, counting = 0;
    const eb_kind_info *const *const kinds = eb_kinds(&n);
    for (size_t i = 0; i < n; i++) {
        char spec[64];
        if (!(kinds[i]->caps & EB_CAN_COUNT)) continue;
        (void)snprintf(spec, sizeof spec, "%s:memory=64K", kinds[i]->name);
        full_filter_tells_nothing(spec);
        counting++;
    }
    HOLDS(counting >= 6);
    full_filter_tells_nothing("spectral:memory=64K,store=line,shards=4");
    full_filter_tells_nothing("decay:memory=64K,mode=basic");
    full_filter_tells_nothing("decay:memory=64K,mode=optimised");
    full_filter_tells_nothing("top:memory=64K,halflife=1e6");
}

/* Keys and their hashes get the same answers, in every layout; a key of the wrong type is named. */
static void questions_take_keys(void **state) {
    (void)state;
    enum { ASKED = 300 };
    static int64_t number[ASKED];
    static eb_hash hash[ASKED];
    static eb_estimate a[ASKED], b[ASKED];
    static const char *const specs[] = {"spectral:memory=16K,update=plain,span=0,shards=4",
                                        "top:memory=16K"};
    for (int i = 0; i < ASKED; i++) number[i] = i * i;
    const eb_keys keys = eb_keys_column(EB_I64, number, sizeof *number);
    for (size_t i = 0; i < SUITE_COUNT(specs); i++) {
        suite_memory m;
        suite_memory_init(&m, 0, 0xa5);
        eb_filter *f;
        OK(eb_new(&f, specs[i], &m.allocator, NULL));
        suite_at("%s", specs[i]);
        const eb_batch named = eb_batch_keys(&keys, ASKED), hashed = eb_batch_hashes(hash, ASKED);
        for (int again = 0; again < 3; again++) OK(eb_add_batch(f, &named, NULL));
        OK(eb_hash_keys(f, &keys, ASKED, hash, NULL));
        a[0].size = b[0].size = sizeof a[0];
        OK(eb_estimate_batch(f, &named, a, NULL));
        OK(eb_estimate_batch(f, &hashed, b, NULL));
        HOLDS(memcmp(a, b, sizeof a) == 0 && a[7].count >= 3 && m.blocks == 2);
        if (i == 0) {
            eb_sum x = {.size = sizeof x}, y = x;
            OK(eb_sum_batch(f, &named, &x, NULL));
            OK(eb_sum_batch(f, &hashed, &y, NULL));
            HOLDS(memcmp(&x, &y, sizeof x) == 0 && x.upper >= 3 * ASKED);
        }
        eb_error err;
        const eb_key bytes[] = {{"1", 1}, {"2", 1}};
        const eb_keys wrong = eb_keys_array(EB_BYTES, bytes);
        const eb_batch refused_keys = eb_batch_keys(&wrong, 2), none = eb_batch_make(NULL, NULL, 2);
        GIVES(EB_EKEY, eb_estimate_batch(f, &refused_keys, a, &err));
        HOLDS(err.at == 0 && m.blocks == 2);
        GIVES(EB_EINVAL, eb_estimate_batch(f, &none, a, NULL));
        m.fail_at = m.calls + 1;
        GIVES(EB_ENOMEM, eb_estimate_batch(f, &named, a, NULL));
        eb_free(f);
        HOLDS(m.blocks == 0);
    }
}

/* So are counters that found no room, wherever they go from there: frozen, thawed, merged. */
static void saturation_is_not_forgotten(void **state) {
    (void)state;
    static const char *const changes[] = {"frozen=no,store=u32,counter_bits=64",
                                          "frozen=no,store=line,counter_bits=64",
                                          "frozen=no,store=sai,counter_bits=64"};
    static const char *const kinds[] = {"spectral:update=plain",
                                        "spectral_rm:method=rm,second=1000"};
    static world w;
    make_world(&w, 0.5, 5);
    for (size_t i = 0; i < SUITE_COUNT(kinds) * SUITE_COUNT(changes); i++) {
        char spec[120];
        eb_filter *frozen, *thawed;
        eb_error err = {.text = ""};
        eb_moments m = {.size = sizeof m};
        eb_sum sum = {.size = sizeof sum};
        eb_stats full = {.size = sizeof full}, still = full;
        const eb_hash h = 7;
        const size_t store = i / 2;
        (void)snprintf(spec, sizeof spec, "%s,k=5,cells=2000,span=0,store=line,counter_bits=3",
                       kinds[i % 2]);
        eb_filter *const f = filled(spec, &w);
        suite_at("%s, %s", spec, changes[store]);
        calls_stat(f, &full);
        HOLDS(full.saturated > 0);
        OK(ebi_freeze(&frozen, f, NULL, NULL));
        OK(eb_convert(&thawed, frozen, changes[store], NULL, NULL));
        calls_stat(thawed, &still);
        HOLDS(still.saturated == full.saturated);
        refused(eb_moments_of(thawed, &m, &err), EB_ENOTSUP, &err, "saturated");
        refused(eb_sum_batch(thawed, SUITE_KEYS(&h, 1), &sum, &err), EB_ENOTSUP, &err, "saturated");
        if (eb_caps(thawed) & EB_CAN_MERGE) {
            char same[EB_SPEC_MAX];
            (void)snprintf(same, sizeof same, "%s", eb_spec(thawed));
            eb_filter *const into = suite_new(same);
            OK(eb_merge(into, thawed, 1, NULL));
            refused(eb_moments_of(into, &m, &err), EB_ENOTSUP, &err, "saturated");
            eb_free(into);
        }
        eb_free(f);
        eb_free(frozen);
        eb_free(thawed);
    }
}

static void operations_survive_a_failing_allocator(void **state) {
    (void)state;
    eb_filter *const f = suite_new(MS), *out = NULL;
    for (size_t fail_at = 1; fail_at <= 2; fail_at++) {
        suite_memory m;
        suite_memory_init(&m, fail_at, 0xa5);
        GIVES(EB_ENOMEM, eb_combine(&out, f, f, EB_PRODUCT, &m.allocator, NULL));
        HOLDS(out == NULL && m.blocks == 0);
        suite_memory_init(&m, fail_at, 0xa5);
        GIVES(EB_ENOMEM, ebi_fold(&out, f, &m.allocator, NULL));
        HOLDS(out == NULL && m.blocks == 0);
    }
    eb_free(f);
}

static void mathematics_agrees_with_known_values(void **state) {
    (void)state;
    static const double known[][2] = {
        {1, .1007}, {.83, .0569}, {.7, .0322}, {.625, .0216}, {.5, .0094}};
    for (size_t i = 0; i < SUITE_COUNT(known); i++)
        NEAR(eb_count_error_rate(KEYS * 5 / known[i][0], 5, KEYS), known[i][1], 2e-4);
}

/* Merging with a weight is adding the other stream so often, and taking it out again. */
static void a_stream_is_merged_with_a_weight(void **state) {
    static const char *const specs[] = {"spectral:update=plain,k=5,cells=5000,store=u32",
                                        "spectral:update=plain,k=5,cells=4096,store=wide",
                                        "spectral:update=plain,k=3,cells=2000,store=u32,shards=4",
                                        "spectral:update=plain,k=5,cells=4000,store=line"};
    (void)state;
    for (size_t i = 0; i < SUITE_COUNT(specs); i++) {
        eb_filter *const a = suite_filled(specs[i], 300, 1), *const b =
                                                                 suite_filled(specs[i], 200, 2);
        eb_filter *before, *model;
        suite_at("%s", specs[i]);
        HOLDS(eb_caps(a) & EB_CAN_SCALE);
        OK(eb_clone(&before, a, NULL, NULL));
        OK(eb_clone(&model, a, NULL, NULL));
        for (int times = 0; times < 3; times++) OK(eb_merge(model, b, 1, NULL));
        OK(eb_merge(a, b, 3, NULL));
        HOLDS(suite_equal(a, model));
        OK(eb_merge(a, b, 0, NULL));
        HOLDS(suite_equal(a, model));
        OK(eb_merge(a, b, -3, NULL));
        if (!strstr(specs[i], "line")) { /* lines have no room for so much */
            OK(eb_merge(a, b, 100000, NULL));
            OK(eb_merge(a, b, -100000, NULL));
        }
        /* Cells that have joined stay joined. */
        HOLDS(strstr(specs[i], "wide") || suite_same_cells(a, before));
        GIVES(EB_EVALUE, eb_merge(b, a, -1, NULL));
        GIVES(EB_EVALUE, eb_merge(b, b, -2, NULL));
        GIVES(EB_EVALUE, eb_merge(b, a, INT64_MIN, NULL));
        eb_free(a);
        eb_free(b);
        eb_free(before);
        eb_free(model);
    }
    eb_filter *const mi = suite_new(MI), *const bloom = suite_new("bloom:memory=1K");
    HOLDS(!(eb_caps(mi) & EB_CAN_SCALE) && !(eb_caps(bloom) & EB_CAN_SCALE));
    GIVES(EB_ENOTSUP, eb_merge(mi, mi, 2, NULL));
    GIVES(EB_ENOTSUP, eb_merge(bloom, bloom, 2, NULL));
    eb_free(mi);
    eb_free(bloom);
}

static bool spec_has(const eb_filter *f, const char *part) {
    char spec[EB_SPEC_MAX];
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(f));
    return strstr(spec, part) != NULL;
}

static void a_filter_is_converted(void **state) {
    static const char *const refused_changes[] = {"",
                                                  "k=3",
                                                  "frozen",
                                                  "frozen=gamma",
                                                  "store=u32",
                                                  "cells=7",
                                                  "frozen=no",
                                                  "frozen=line,frozen=line",
                                                  "cells=2500,frozen=line",
                                                  "frozen=line,",
                                                  "frozen=line,store=u32"};
    eb_filter *const f =
        suite_filled("spectral:update=plain,k=5,cells=5000,span=0,store=u32", 500, 1);
    eb_filter *out, *model;
    eb_error err;
    (void)state;
    OK(eb_convert(&out, f, "frozen=line", NULL, NULL));
    OK(ebi_freeze(&model, f, NULL, NULL));
    HOLDS(suite_equal(out, model));
    eb_free(model);
    OK(eb_convert(&model, out, "frozen=no", NULL, NULL));
    HOLDS(suite_equal(model, f));
    eb_free(model);
    OK(eb_convert(&model, out, "frozen=no,store=line,counter_bits=20", NULL, NULL));
    HOLDS(spec_has(model, "store=line") && spec_has(model, "counter_bits=20"));
    eb_free(model);
    eb_free(out);
    OK(eb_convert(&out, f, "cells=2500", NULL, NULL));
    OK(ebi_fold(&model, f, NULL, NULL));
    HOLDS(suite_equal(out, model));
    eb_free(model);
    eb_free(out);
    for (size_t i = 0; i < SUITE_COUNT(refused_changes); i++) {
        suite_at("%s", refused_changes[i]);
        err.text[0] = 0;
        HOLDS(eb_convert(&out, f, refused_changes[i], NULL, &err) != EB_OK && out == NULL &&
              err.text[0]);
    }
    GIVES(EB_EINVAL, eb_convert(&out, f, NULL, NULL, NULL));
    eb_free(f);
}

/* The median of k rows errs little more than their mean, and far less than one row. */
static void medians_are_of_all_rows(void **state) {
    (void)state;
    enum { ADDED = 20000, ASKED = 2000 };
    eb_filter *const f = suite_new(MS);
    double mean = 0, median = 0;
    for (uint64_t i = 0; i < ADDED; i++) {
        const eb_hash key = ebi_mix(i + 1);
        OK(eb_add_batch(f, SUITE_ONE(key), NULL));
    }
    for (uint64_t i = 0; i < ASKED; i++) {
        const eb_hash key = ebi_mix(i + 1);
        eb_sum s = {.size = sizeof s};
        OK(eb_sum_batch(f, SUITE_ONE(key), &s, NULL));
        mean += (s.sum - 1) * (s.sum - 1) / ASKED;
        median += (s.median - 1) * (s.median - 1) / ASKED;
    }
    suite_at("mean squares off: %g, of the median %g", mean, median);
    HOLDS(median < 2 * mean); /* of five normal ones 1.44, of one row 5 */
    eb_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_are_of_all_rows),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(the_lower_bound_promises_what_it_can),
        cmocka_unit_test(the_lower_bound_is_near_the_noise),
        cmocka_unit_test(confidence_is_kept_on_strange_streams),
        cmocka_unit_test(a_single_minimum_is_suspect),
        cmocka_unit_test(sums_are_right_on_average),
        cmocka_unit_test(averages_lie_in_their_interval),
        cmocka_unit_test(joins_are_right_on_average),
        cmocka_unit_test(a_window_slides_by_panes),
        cmocka_unit_test(combinations_bound_combined_counts),
        cmocka_unit_test(a_folded_filter_is_one_of_half_the_size),
        cmocka_unit_test(what_would_be_wrong_is_refused),
        cmocka_unit_test(overflow_is_reported),
        cmocka_unit_test(full_counters_tell_nothing),
        cmocka_unit_test(questions_take_keys),
        cmocka_unit_test(saturation_is_not_forgotten),
        cmocka_unit_test(operations_survive_a_failing_allocator),
        cmocka_unit_test(a_stream_is_merged_with_a_weight),
        cmocka_unit_test(a_filter_is_converted),
        cmocka_unit_test(mathematics_agrees_with_known_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
