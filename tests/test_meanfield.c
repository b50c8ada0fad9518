/* test_meanfield.c - filters that clear random bits: the measured tables of the de-duplication
 * paper, the limits of endless streams, and a small simulation with a fixed gap.
 *
 * Tables in percent.  Left out are cells that the paper measured with a generator that cannot reach
 * the whole array: the stable filter at 512 MB, and k = 1 at 512 MB. */
#include "math/meanfield.h"
#include "suite.h"
#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define CLOSE(got, want, relative) NEAR(got, want, (relative) * (want))

enum { RULES = 5 };
static const double megabyte = 8 * 1048576.; /* bits */

/* Tables 1-3: one rule, memory 8, 128, 512 MB, k = 1..5; 1e9 records, 60 % distinct. */
static const struct {
    ebi_fade_rule rule;
    double fpr_fnr[3][5][2];
} by_k[] = {
    {EBI_FADE_BSBF,
     {{{75.979, 9.20901},
       {35.4924, 59.0297},
       {15.2961, 82.0828},
       {6.95161, 91.5512},
       {3.28054, 95.7754}},
      {{21.0883, 9.83893},
       {11.9472, 34.7514},
       {6.67181, 59.2496},
       {3.47978, 75.1262},
       {1.76989, 84.1857}},
      {{6.46215, 3.34108},
       {1.82011, 13.5658},
       {0.777613, 27.7512},
       {0.386642, 43.4681},
       {0.205833, 56.9057}}}},
    {EBI_FADE_BSBFSD,
     {{{75.9827, 9.209}, {78.6056, 7.818}, {81.2512, 6.4065}, {83.3572, 5.3588}, {85.0294, 4.5864}},
      {{21.0876, 9.8405},
       {15.5928, 17.7438},
       {15.2615, 22.9224},
       {16.4467, 26.2752},
       {18.2903, 28.3608}},
      {{6.4618, 3.3399}, {1.9692, 6.8855}, {1.0095, 9.9011}, {0.688, 12.6723}, {0.559, 15.1324}}}},
    {EBI_FADE_RLBSBF,
     {{{81.4726, 5.3103},
       {52.9291, 40.466},
       {30.2439, 66.0585},
       {17.3562, 80.3262},
       {10.1282, 88.3195}},
      {{22.8676, 2.4337},
       {16.3554, 15.0161},
       {12.3957, 35.6592},
       {8.56757, 55.2835},
       {5.5645, 69.3118}},
      {{6.6563, 0.2553},
       {2.07884, 1.98971},
       {1.0555, 6.1959},
       {0.6773, 13.3911},
       {0.4828, 23.2844}}}},
};

/* Tables 4-9: memory 64, 128, 256, 512 MB; SBF (P = 4), RSBF, BSBF, BSBFSD, RLBSBF; k = 2. */
static const struct {
    double items, distinct;
    double fpr_fnr[4][5][2];
} by_rule[] = {
    {6.95e+08,
     0.15,
     {{{1.9319, 53.2681}, {2.6276, 35.9014}, {3.2569, 8.7547}, {3.5475, 3.3299}, {3.7064, 1.3453}},
      {{0.7414, 37.7853}, {0.8903, 23.126}, {1.0128, 3.888}, {1.053, 1.7048}, {1.0821, 0.3773}},
      {{0.2384, 23.893}, {0.2637, 13.5047}, {0.2822, 1.8199}, {0.2881, 0.8551}, {0.2924, 0.101}},
      {{0.0688, 12.9392}, {0.0719, 7.3674}, {0.0747, 0.8794}, {0.0753, 0.4267}, {0.0759, 0.0262}}}},
    {6.95e+08,
     0.6,
     {{{6.7672, 70.832},
       {12.2408, 52.8855},
       {16.0723, 39.9809},
       {22.4491, 19.9394},
       {22.7214, 20.2164}},
      {{4.3075, 57.9713},
       {6.7265, 39.2682},
       {8.0154, 28.6708},
       {9.7951, 14.7555},
       {10.4734, 9.8051}},
      {{2.0861, 42.0788}, {2.7654, 25.7648}, {3.0816, 17.7509}, {3.4335, 9.0574}, {3.6588, 3.4843}},
      {{0.8151, 24.2902},
       {0.9189, 15.2035},
       {0.9779, 9.8819},
       {1.0331, 4.9892},
       {1.0775, 1.0236}}}},
    {6.95e+08,
     0.9,
     {{{8.5028, 73.134},
       {16.3502, 55.0285},
       {20.6486, 45.7102},
       {31.104, 24.1625},
       {30.1024, 26.8786}},
      {{6.3252, 61.1759},
       {10.6716, 41.9224},
       {11.9222, 36.5123},
       {15.7484, 20.3118},
       {16.6894, 16.4363}},
      {{3.5908, 45.4987}, {5.0678, 28.179}, {5.3168, 25.3195}, {6.3016, 13.8078}, {6.8635, 7.0784}},
      {{1.6058, 26.6313},
       {1.8497, 16.9302},
       {1.8911, 15.3766},
       {2.0783, 8.1061},
       {2.2248, 2.3059}}}},
    {1e+09,
     0.15,
     {{{2.9156, 60.8981}, {4.2891, 43.1705}, {5.5775, 13.7096}, {6.3441, 4.6175}, {6.6755, 2.5795}},
      {{1.2608, 45.9566}, {1.6079, 29.554}, {1.9023, 5.9096}, {2.0181, 2.4357}, {2.093, 0.74}},
      {{0.4413, 30.8269}, {0.5059, 18.1142}, {0.5572, 2.6956}, {0.5727, 1.2296}, {0.5849, 0.2026}},
      {{0.1341, 17.1336},
       {0.1431, 10.2015},
       {0.1506, 1.2846},
       {0.1526, 0.6139},
       {0.1543, 0.0535}}}},
    {1e+09,
     0.6,
     {{{7.8507, 75.7271},
       {15.0561, 58.6734},
       {20.7283, 44.9042},
       {31.3858, 21.0835},
       {30.044, 25.7526}},
      {{5.6378, 65.2456},
       {9.5676, 46.6885},
       {11.9472, 34.7514},
       {15.5928, 17.7438},
       {16.3554, 15.0161}},
      {{3.1629, 50.5726},
       {4.5557, 32.6139},
       {5.2369, 23.2001},
       {6.0937, 11.9067},
       {6.5378, 6.2079}},
      {{1.4504, 30.2739},
       {1.6747, 20.277},
       {1.82011, 13.5658},
       {1.9692, 6.8855},
       {2.0788, 1.9897}}}},
    {1e+09,
     0.9,
     {{{9.2617, 77.5273},
       {18.6342, 60.3738},
       {25.0083, 49.2073},
       {40.5501, 23.8819},
       {36.7959, 31.0134}},
      {{7.5909, 68.0553},
       {13.8357, 49.2204},
       {16.4207, 41.7178},
       {23.192, 22.89},
       {23.5977, 22.2474}},
      {{5.0231, 54.0293},
       {7.7876, 35.2653},
       {8.3846, 31.2527},
       {10.4808, 17.2991},
       {11.3415, 11.5338}},
      {{2.7427, 32.8335},
       {3.2263, 22.3998},
       {3.33317, 20.2695},
       {3.7953, 10.8729},
       {4.1133, 4.2852}}}},
};

typedef struct errors {
    int cells;
    double sum[2], worst[2]; /* of FPR and FNR, relative */
} errors;

static void compare(errors *e, const ebi_fade *f, const ebi_stream *s, const double *want) {
    const ebi_rates got = ebi_fade_rates(f, s, true);
    const double error[2] = {fabs(100 * got.mean_fpr / want[0] - 1),
                             fabs(100 * got.mean_fnr / want[1] - 1)};
    e->cells++;
    for (int i = 0; i < 2; i++) {
        e->sum[i] += error[i];
        e->worst[i] = fmax(e->worst[i], error[i]);
    }
}

static void compare_tables_by_k(errors *e) {
    static const double memory[] = {8, 128, 512};
    const ebi_stream s = {1e9, 0.6, 0};
    for (size_t t = 0; t < COUNT(by_k); t++)
        for (int m = 0; m < 3; m++)
            for (int k = 1; k <= 5; k++) {
                const ebi_fade f = {by_k[t].rule, memory[m] * megabyte, k, 0, false};
                if (k == 1 && m == 2) continue;
                compare(&e[f.rule], &f, &s, by_k[t].fpr_fnr[m][k - 1]);
            }
}

static void compare_tables_by_rule(errors *e) {
    for (size_t t = 0; t < COUNT(by_rule); t++)
        for (int m = 0; m < 4; m++)
            for (int rule = 0; rule < RULES; rule++) {
                const ebi_stream s = {by_rule[t].items, by_rule[t].distinct, 0};
                const ebi_fade f = {(ebi_fade_rule)rule, 64 * (1 << m) * megabyte, 2, 4, false};
                if (rule == EBI_FADE_SBF && m == 3) continue;
                compare(&e[rule], &f, &s, by_rule[t].fpr_fnr[m][rule]);
            }
}

/* The tables were measured once, with four to six digits; the bounds are what was reached, plus a
 * little.  RSBF has an excess at small memory that no reading of the paper explains. */
static void tables_are_predicted(void **state) {
    (void)state;
    static const double mean[RULES][2] = {
        {0.0012, 0.0005}, {0.005, 0.0025}, {0.0015, 0.002}, {0.001, 0.0035}, {0.0006, 0.0035}};
    static const double worst[RULES][2] = {
        {0.005, 0.001}, {0.022, 0.0075}, {0.008, 0.0105}, {0.003, 0.014}, {0.003, 0.011}};
    errors e[RULES] = {{0}};
    compare_tables_by_k(e);
    compare_tables_by_rule(e);
    for (int rule = 0; rule < RULES; rule++)
        for (int i = 0; i < 2; i++) {
            NEAR(e[rule].sum[i] / e[rule].cells, 0, mean[rule][i]);
            NEAR(e[rule].worst[i], 0, worst[rule][i]);
        }
    assert_int_equal(e[EBI_FADE_SBF].cells, 18);
    assert_int_equal(e[EBI_FADE_RLBSBF].cells, 38);
}

static void limits_of_endless_streams(void **state) {
    (void)state;
    static const struct {
        ebi_fade_rule rule;
        double fpr[4]; /* k = 2..5, percent */
    } want[] = {
        {EBI_FADE_RSBF, {25, 12.5, 6.25, 3.125}},
        {EBI_FADE_BSBF, {38.2, 16.1, 7.2, 3.4}},
        {EBI_FADE_RLBSBF, {57.0, 31.8, 18.1, 10.5}},
        {EBI_FADE_BSBFSD, {100, 100, 100, 100}},
    };
    for (size_t i = 0; i < COUNT(want); i++)
        for (int k = 2; k <= 5; k++)
            for (double distinct = 0.1; distinct <= 1; distinct += 0.45) {
                const ebi_stream s = {INFINITY, distinct, 0};
                const ebi_fade f = {want[i].rule, 1e9, k, 0, false};
                const ebi_rates got = ebi_fade_rates(&f, &s, true);
                NEAR(100 * got.fpr, want[i].fpr[k - 2], 0.06);
                NEAR(got.fpr + got.fnr, 1, 1e-9); /* ancient repeats are fresh keys */
                assert_true((got.settles == 0) == (want[i].rule == EBI_FADE_BSBFSD));
            }
    const ebi_stream s = {INFINITY, 1, 0};
    const ebi_fade sbf = {EBI_FADE_SBF, 1e9, 2, 4, false},
                   bsbf1 = {EBI_FADE_BSBF, 1e9, 1, 0, false};
    CLOSE(ebi_fade_rates(&sbf, &s, true).load, 1. / 3, 1e-12);
    CLOSE(ebi_fade_rates(&bsbf1, &s, true).fpr, 1, 1e-12);
}

/* One bit, stable filter, fresh keys: load = (1-e^(-3t))/3 with t = K records/bits, K = 2, P = 4.
 */
static void settling_of_the_stable_filter(void **state) {
    (void)state;
    const ebi_stream s = {INFINITY, 1, 0};
    const ebi_fade f = {EBI_FADE_SBF, 1e9, 2, 4, false};
    const double t = -log(1 - sqrt(0.95)) / 3;
    CLOSE(ebi_fade_rates(&f, &s, true).settles, t * 0.5e9, 0.005);
    const ebi_stream finite = {0.5e9, 1, 0};
    CLOSE(ebi_fade_rates(&f, &finite, true).load, -expm1(-3) / 3, 1e-6);
}

/* Both methods on streams that are rather long for their filter.  relax.c takes no account of keys
 * that set a bit, are forgotten and come again: that matters with many copies, the less the longer
 * the stream is. */
static void methods_agree_where_they_meet(void **state) {
    (void)state;
    for (int rule = 0; rule < RULES; rule++)
        for (double distinct = 0.15; distinct < 1; distinct += 0.4) {
            const ebi_fade f = {(ebi_fade_rule)rule, 2e7, 2, 4, false};
            const ebi_stream s = {9e8, distinct, 0};
            ebi_rates renewal = {0}, relax = {0};
            ebi_fade_renewal(&f, &s, &renewal);
            ebi_fade_relax(&f, &s, 1, &relax);
            const double bias = distinct < 0.5 ? 1 : 0.1;
            CLOSE(relax.mean_fpr, renewal.mean_fpr, 0.02 * bias + 0.002);
            CLOSE(relax.mean_fnr, renewal.mean_fnr, 0.07 * bias + 0.002);
            CLOSE(relax.load, renewal.load, 0.02 * bias + 0.002);
        }
}

/* --- a simulation with a fixed gap -------------------------------------------------------------
 */

enum { SIM_BITS = 16384, SIM_GAP = 12000, SIM_RECORDS = 1200000 };

typedef struct sim {
    uint64_t seed;
    uint8_t bit[2][SIM_BITS];
    unsigned load[2];
    unsigned key[SIM_GAP][2];
} sim;

static unsigned sim_below(sim *s, unsigned n) {
    s->seed += 0x9E3779B97F4A7C15u;
    uint64_t z = s->seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (unsigned)(((z ^ (z >> 31)) >> 32) * n >> 32);
}

static void sim_write(sim *s, int part, unsigned at, uint8_t value) {
    s->load[part] += (unsigned)value - s->bit[part][at];
    s->bit[part][at] = value;
}

static void sim_insert(sim *s, ebi_fade_rule rule, const unsigned *key) {
    const int only = rule == EBI_FADE_BSBFSD ? (int)sim_below(s, 2) : -1;
    for (int i = 0; i < 2; i++) {
        const unsigned at = sim_below(s, SIM_BITS);
        const bool clear =
            rule == EBI_FADE_RLBSBF ? sim_below(s, SIM_BITS) < s->load[i] : only < 0 || only == i;
        if (clear) sim_write(s, i, at, 0);
    }
    for (int i = 0; i < 2; i++) sim_write(s, i, key[i], 1);
}

static void sim_run(ebi_fade_rule rule, double share_new) {
    sim s = {.seed = 99};
    double wrong[2] = {0}, records[2] = {0}, load = 0;
    for (unsigned t = 0; t < SIM_RECORDS; t++) {
        unsigned *key = s.key[t % SIM_GAP];
        const bool repeat = t >= SIM_GAP && sim_below(&s, 1000) >= 1000 * share_new;
        if (!repeat)
            for (int i = 0; i < 2; i++) key[i] = sim_below(&s, SIM_BITS);
        const bool seen = s.bit[0][key[0]] && s.bit[1][key[1]];
        records[repeat] += 1;
        wrong[repeat] += seen != repeat;
        if (t >= SIM_RECORDS / 2) load += (s.load[0] + s.load[1]) / 1. / SIM_BITS / SIM_RECORDS;
        if (!seen || rule <= EBI_FADE_RSBF) sim_insert(&s, rule, key);
    }
    const ebi_fade f = {rule, 2 * SIM_BITS, 2, 2, false};
    const ebi_stream finite = {SIM_RECORDS, share_new, SIM_GAP};
    const ebi_rates got = ebi_fade_rates(&f, &finite, true);
    /* The sample's own error is 0.1 to 0.3 %; small partitions add some tenths. */
    CLOSE(got.mean_fpr, wrong[0] / records[0], 0.02);
    CLOSE(got.mean_fnr, wrong[1] / records[1], 0.02);
    if (rule != EBI_FADE_BSBFSD) CLOSE(got.load, load, 0.01);
    const ebi_stream endless = {INFINITY, share_new, SIM_GAP};
    if (rule != EBI_FADE_BSBFSD) CLOSE(ebi_fade_rates(&f, &endless, true).fpr, got.fpr, 0.002);
}

static void simulation_with_a_gap(void **state) {
    (void)state;
    for (int rule = EBI_FADE_RSBF; rule < RULES; rule++) {
        sim_run((ebi_fade_rule)rule, 0.3);
        sim_run((ebi_fade_rule)rule, 0.8);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_predicted),
        cmocka_unit_test(limits_of_endless_streams),
        cmocka_unit_test(settling_of_the_stable_filter),
        cmocka_unit_test(methods_agree_where_they_meet),
        cmocka_unit_test(simulation_with_a_gap),
    };
    return cmocka_run_group_tests_name("meanfield", tests, NULL, NULL);
}
