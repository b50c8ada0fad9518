/* test_importance.c - stable and importance-aware filters against the closed forms
 * of their chains: the long-run share of zeros, false positives, false negatives
 * by class and gap, and the guarantee of the sweep. */
#include "suite.h"
#include <math.h>

/* A stream of fresh keys with uniform importance; now and then the key of `gap`
 * arrivals ago is looked up (and not added again). */
typedef struct run_result {
    double zeros, fpr;
    double missed[8], asked[8]; /* by importance, 1..7 */
    double fresh;
} run_result;

enum { CELLS = 43690, ARRIVALS = 1200000, WARM_UP = 400000, EVERY = 8 };

static eb_hash key_of(uint64_t i) {
    return ebi_mix(i + UINT64_C(0x123456789));
}

static uint32_t importance_of(uint64_t i, uint32_t high) {
    return 1 + (uint32_t)(ebi_mix(key_of(i)) % high);
}

static run_result run(const char *spec, uint64_t gap, uint32_t high, uint64_t arrivals) {
    run_result r = {0};
    eb_filter *const f = suite_new(spec);
    for (uint64_t i = 0; i < arrivals; i++) {
        const eb_hash h = key_of(i);
        const uint64_t value = importance_of(i, high);
        const eb_batch one = A_BATCH(1, &h, &value, NULL);
        uint8_t seen;
        if (i > WARM_UP && i % EVERY == 0) {
            const eb_hash old = key_of(i - gap - 1);
            const uint32_t class = importance_of(i - gap - 1, high);
            calls_test(f, &old, 1, &seen);
            r.asked[class % 8]++;
            r.missed[class % 8] += !seen;
        }
        OK(calls_add(f, &one, &seen));
        if (i > WARM_UP) {
            r.fresh++;
            r.fpr += seen;
        }
    }
    eb_stats s = {.size = sizeof s};
    calls_stat(f, &s);
    r.zeros = 1 - s.fill;
    r.fpr /= r.fresh;
    eb_free(f);
    return r;
}

/* Successive arrivals see nearly the same cells, so the mean false positive rate
 * varies more than independent draws would: the fill wanders with the standard
 * deviation of its zeros, over the m/P arrivals in which cells are renewed. */
static double fpr_error(double fpr, double v0, double k, double renewals) {
    const double slope = k * fpr / (1 - v0);
    return sqrt(fpr * (1 - fpr) / (ARRIVALS - WARM_UP)) +
           slope * sqrt(v0 * (1 - v0) / CELLS / renewals);
}

typedef struct expected {
    const char *options;
    double v0, fpr;
} expected;

static void rates_agree(const expected *e, const char *base) {
    char spec[300];
    (void)snprintf(spec, sizeof spec, "%s,%s", base, e->options);
    const run_result r = run(spec, 5000, 7, ARRIVALS);
    const eb_workload w = {.size = sizeof w};
    eb_prediction p = {.size = sizeof p};
    OK(eb_predict(spec, &w, NULL, 1, &p, NULL));
    NEAR(1 - p.fill, e->v0, 1e-4); /* the readings' closed forms have distinct cells */
    NEAR(r.zeros, e->v0, 5 * sqrt(e->v0 * (1 - e->v0) / CELLS) + 1e-4);
    NEAR(r.fpr, e->fpr, 5 * fpr_error(e->fpr, e->v0, 5, 50) + 1e-4);
}

static void every_policy_settles_where_its_chain_says(void **state) {
    (void)state;
    SUITE_LONG();
    static const expected cases[] = {
        {"policy=2c,delete=random", 0.10842, 0.5634},
        {"policy=2c,raise=printed", 0.07593, 0.6738},
        {"policy=2c,raise=overwrite", 0.16041, 0.4172},
        {"policy=mc,delete=random", 0.17986, 0.3711},
        {"policy=mc,delete=run", 0.17986, 0.3711},
        {"policy=h", 0.36749, 0.1012},
        {"policy=hb", 0.01401, 0.9319},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        rates_agree(&cases[i], "importance:cells=43690,width=3,k=5,fade=10,low=1,high=7");
}

static void stable_settles_where_deng_and_rafiei_say(void **state) {
    (void)state;
    static const expected cases[] = {{"delete=random", 0.05852, 0.7397},
                                     {"delete=run", 0.05852, 0.7397}};
    for (size_t i = 0; i < 2; i++) rates_agree(&cases[i], "stable:cells=43690,width=3,k=5,fade=10");
}

static void important_keys_are_missed_less(void **state) {
    (void)state;
    static const double fnr[8] = {0, .5499, .3751, .1868, .0678, .0187, .0041, .0007};
    const char *const spec =
        "importance:cells=43690,width=3,k=5,fade=10,low=1,high=7,delete=random";
    const run_result r = run(spec, 5000, 7, ARRIVALS);
    for (int v = 1; v <= 7; v++) {
        const double sd = sqrt(fnr[v] * (1 - fnr[v]) / r.asked[v]);
        const eb_workload w = {.size = sizeof w, .gap = 5000, .value = v};
        eb_prediction p = {.size = sizeof p};
        OK(eb_predict(spec, &w, NULL, 1, &p, NULL));
        NEAR(p.fnr, fnr[v], 2e-4);
        NEAR(r.missed[v] / r.asked[v], fnr[v], 5 * sd + 2e-4);
    }
}

/* No key of value v is missed while fewer than (v-1) m/P keys came since; the
 * sweep has only whole cells to give, hence one arrival of grace. */
static void the_sweep_never_misses_within_its_window(void **state) {
    (void)state;
    SUITE_LONG();
    const char *const spec = "importance:cells=43690,width=3,k=2,fade=11.785,low=1,high=7";
    for (int v = 2; v <= 7; v++) {
        const uint64_t window = (uint64_t)((v - 1) * CELLS / 11.785) - 1;
        const run_result r = run(spec, window, 7, WARM_UP + 200000);
        for (int u = v; u <= 7; u++) HOLDS(r.missed[u] == 0 && r.asked[u] > 3000);
        const run_result later = run(spec, window + CELLS / 23, 7, WARM_UP + 200000);
        HOLDS(later.missed[v] > 0);
    }
}

static void stable_sweep_keeps_a_gap_of_15000(void **state) {
    (void)state;
    const char *const spec = "stable:cells=65536,width=2,k=2,fade=8.401";
    const run_result near = run(spec, 15000, 7, ARRIVALS), far = run(spec, 18000, 7, ARRIVALS);
    double missed = 0, asked = 0;
    for (int v = 1; v <= 7; v++) {
        HOLDS(near.missed[v] == 0 && near.asked[v] > 10000);
        missed += far.missed[v];
        asked += far.asked[v];
    }
    NEAR(near.fpr, 0.2, 0.005);
    NEAR(missed / asked, 0.3344, 5 * sqrt(0.3344 * 0.6656 / asked));
}

/* A filter is found for each width, and the chain that found it has the wanted rate. */
static void each_width_can_be_planned(void **state) {
    (void)state;
    for (int width = 1; width <= 4; width++) {
        char spec[100], want[20];
        (void)snprintf(spec, sizeof spec, "importance:memory=16K,fpr=0.2,gap=9000,width=%d", width);
        (void)snprintf(want, sizeof want, ",width=%d,", width);
        eb_filter *const f = suite_new(spec);
        eb_prediction p = {.size = sizeof p};
        suite_at("%s", eb_spec(f));
        OK(eb_predict(eb_spec(f), &(eb_workload){.size = sizeof(eb_workload)}, NULL, 1, &p, NULL));
        HOLDS(strstr(eb_spec(f), want));
        NEAR(p.fpr, 0.2, 0.001);
        eb_free(f);
    }
}

static void thresholds_are_importances(void **state) {
    (void)state;
    for (int at = 0; at <= 8; at++) {
        char spec[100];
        eb_filter *f = NULL;
        eb_error err = {.text = ""};
        (void)snprintf(spec, sizeof spec, "importance:k=2,fade=10,low=2,high=7,map=threshold,at=%d",
                       at);
        const eb_status status = eb_new(&f, spec, NULL, &err);
        suite_at("%s: %s", spec, err.text);
        HOLDS(status == (at >= 2 && at <= 7 ? EB_OK : EB_ESPEC));
        HOLDS(status == EB_OK || at == 0 || strstr(err.text, "at must be 2..7, not "));
        eb_free(f);
    }
}

static void planned_filters_have_the_wanted_rate(void **state) {
    (void)state;
    SUITE_LONG();
    static const char *const specs[] = {
        "importance:memory=16K,fpr=0.2,gap=10000,low=1,high=7",
        "importance:memory=16K,fpr=0.2,gap=10000,low=1,high=7,delete=random",
        "importance:memory=16K,fpr=0.2,gap=20000,low=1,high=7,profile=1:1:1:1",
        "importance:memory=16K,fpr=0.2,low=1,high=7",
        "stable:memory=16K,fpr=0.2",
    };
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        const run_result r = run(specs[i], 10000, 7, ARRIVALS);
        NEAR(r.fpr, 0.2, 0.002); /* 1 % */
    }
}

static void zero_share_grows_as_figure_18_says(void **state) {
    (void)state;
    SUITE_LONG();
    static const struct {
        const char *options;
        double after[6]; /* 1000, 5000, 10000, 20000, 50000, 200000 arrivals */
    } curves[] = {
        {"policy=mc,delete=random", {.8937, .5943, .3921, .2341, .1843, .1841}},
        {"policy=2c,delete=random", {.8919, .5691, .3446, .1692, .1106, .1104}},
        {"policy=h", {.9482, .7833, .6451, .4963, .3878, .3764}},
    };
    static const double items[6] = {1000, 5000, 10000, 20000, 50000, 200000};
    for (size_t c = 0; c < 3; c++) {
        char spec[300];
        (void)snprintf(spec, sizeof spec,
                       "importance:cells=43690,width=3,k=5,fade=10,low=1,high=50,%s",
                       curves[c].options);
        for (int i = 0; i < 6; i++) {
            const eb_workload w = {.size = sizeof w, .items = items[i]};
            eb_prediction p = {.size = sizeof p};
            OK(eb_predict(spec, &w, NULL, 1, &p, NULL));
            NEAR(1 - p.fill, curves[c].after[i], 0.005);
        }
        const eb_workload w = {.size = sizeof w};
        eb_prediction p = {.size = sizeof p};
        const run_result r = run(spec, 0, 50, WARM_UP + 1);
        OK(eb_predict(spec, &w, NULL, 1, &p, NULL));
        NEAR(r.zeros, 1 - p.fill, 5 * sqrt(p.fill * (1 - p.fill) / CELLS) + 1e-4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_settles_where_its_chain_says),
        cmocka_unit_test(stable_settles_where_deng_and_rafiei_say),
        cmocka_unit_test(important_keys_are_missed_less),
        cmocka_unit_test(the_sweep_never_misses_within_its_window),
        cmocka_unit_test(stable_sweep_keeps_a_gap_of_15000),
        cmocka_unit_test(each_width_can_be_planned),
        cmocka_unit_test(thresholds_are_importances),
        cmocka_unit_test(planned_filters_have_the_wanted_rate),
        cmocka_unit_test(zero_share_grows_as_figure_18_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
