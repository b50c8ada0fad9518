/* test_markov.c - chains of cells: closed forms, published and simulated numbers, and a small
 * simulation here.  The filter of most numbers: 43690 cells of 3 bits, K = 5, P = 10. */
#include "math/probability.h"
#include "suite.h"
#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { TOP = 7, CELLS = 43690 };
enum classes { ONE, TWO, ALL }; /* all of the top class; 3 and 7; 1..7 */

/* Importances 1..count, each as frequent, mapped to classes 1..TOP, or to two of them. */
static void set_classes(ebi_chain *c, enum classes classes, int count) {
    double share[TOP + 1] = {0};
    if (classes == ONE) return;
    for (int i = 0; i < count; i++) {
        const int v = 1 + i * TOP / count;
        share[classes == ALL ? v : v <= TOP / 2 ? TOP / 2 : TOP] += 1;
    }
    ebi_chain_classes(c, share);
}

static ebi_chain paper_chain(ebi_chain_rule rule, enum classes classes, int count) {
    ebi_chain c;
    ebi_chain_init(&c, rule, CELLS, 5, 10, TOP);
    c.distinct = false;
    set_classes(&c, classes, count);
    return c;
}

static void settled_values(void **state) {
    (void)state;
    static const struct {
        ebi_chain_rule rule;
        enum classes classes;
        double zero, fpr, zero50; /* importance 1..7; zero50: importance 1..50 */
    } want[] = {
        {EBI_CHAIN_MAX, ONE, 0.05852, 0.7397, 0.0585},
        {EBI_CHAIN_MAX, TWO, 0.10842, 0.5634, 0.1104},
        {EBI_CHAIN_PROMOTE, TWO, 0.07593, 0.6738, 0.0765},
        {EBI_CHAIN_OVERWRITE, TWO, 0.16041, 0.4172, 0.1631},
        {EBI_CHAIN_MAX, ALL, 0.17986, 0.3711, 0.1841},
        {EBI_CHAIN_RECIPROCAL, ALL, 0.36749, 0.1012, 0.3764},
        {EBI_CHAIN_PROBES, ALL, 0.01401, 0.9319, 0.0148},
    };
    for (size_t i = 0; i < COUNT(want); i++) {
        const ebi_chain c = paper_chain(want[i].rule, want[i].classes, TOP);
        const ebi_chain c50 = paper_chain(want[i].rule, want[i].classes, 50);
        NEAR(ebi_chain_stationary(&c, NULL), want[i].zero, 1e-5);
        NEAR(ebi_chain_fpr(&c, INFINITY), want[i].fpr, 1e-4);
        NEAR(ebi_chain_stationary(&c50, NULL), want[i].zero50, 1e-4);
    }
}

static void shares_add_up_and_the_walk_reaches_them(void **state) {
    (void)state;
    for (int rule = EBI_CHAIN_MAX; rule <= EBI_CHAIN_RECIPROCAL; rule++) {
        if (rule == EBI_CHAIN_SWEEP) continue;
        const ebi_chain c =
            paper_chain((ebi_chain_rule)rule, rule == EBI_CHAIN_PROMOTE ? TWO : ALL, TOP);
        double share[TOP + 1], sum = 0;
        const double zero = ebi_chain_stationary(&c, share);
        for (int j = 0; j <= TOP; j++) sum += share[j];
        NEAR(sum, 1, 1e-14);
        NEAR(share[0], zero, 1e-15);
        /* Two balances leave out a deletion and a setting of one cell in one arrival. */
        const bool rough = rule == EBI_CHAIN_PROMOTE || rule == EBI_CHAIN_RECIPROCAL;
        const double tolerance = rough ? 10. / CELLS * zero : 1e-10;
        NEAR(ebi_chain_zero(&c, 1e12), zero, tolerance);
        NEAR(ebi_chain_zero(&c, 0), 1, 0);
        NEAR(ebi_chain_zero_of(&c, TOP, 1e12, INFINITY), zero, tolerance);
    }
}

static void one_class_is_the_stable_filter(void **state) {
    (void)state;
    for (int levels = 1; levels <= 255; levels = 2 * levels + 1) {
        ebi_chain c;
        ebi_chain_init(&c, EBI_CHAIN_MAX, 1e6, 4, 9, levels);
        const double zero = pow(1 + 1 / (9 * (1. / 4 - 1e-6)), -levels);
        NEAR(ebi_chain_stationary(&c, NULL) / zero, 1, 1e-12);
        const double fpr = pow(1 - zero, 4);
        if (levels < 30) NEAR(ebi_chain_deletes_for(&c, fpr), 9, 1e-6);
    }
}

/* As many levels as there may be: nothing is cleared down to zero yet, so zeros are those of a
 * plain filter, although the two classes have no closed form. */
static void the_largest_cells_begin_as_bits(void **state) {
    (void)state;
    static const double items[] = {1, 1000, 100000};
    double share[256] = {[200] = 1, [255] = 1};
    ebi_chain c;
    ebi_chain_init(&c, EBI_CHAIN_MAX, 1e6, 4, 9, 255);
    ebi_chain_classes(&c, share);
    for (size_t i = 0; i < COUNT(items); i++)
        NEAR(ebi_chain_zero(&c, items[i]), pow(1 - 1e-6, 4 * items[i]), 1e-6);
}

/* Share of zeros after n arrivals of fresh keys, for importance 1..50 (figure 18). */
static void zeros_over_time(void **state) {
    (void)state;
    static const struct {
        double n, zero[5]; /* bits of a Bloom filter, one class, two, all, reciprocal */
    } want[] = {
        {1000, {.8919, .8919, .8919, .8937, .9482}},  {5000, {.5643, .5643, .5691, .5943, .7833}},
        {10000, {.3184, .3190, .3446, .3921, .6451}}, {20000, {.1014, .1143, .1692, .2341, .4963}},
        {50000, {.0033, .0586, .1106, .1843, .3878}}, {200000, {0, .0585, .1104, .1841, .3764}},
    };
    ebi_chain c[5] = {
        paper_chain(EBI_CHAIN_MAX, ONE, 50),        paper_chain(EBI_CHAIN_MAX, ONE, 50),
        paper_chain(EBI_CHAIN_MAX, TWO, 50),        paper_chain(EBI_CHAIN_MAX, ALL, 50),
        paper_chain(EBI_CHAIN_RECIPROCAL, ALL, 50),
    };
    c[0].deletes = 0;
    for (size_t i = 0; i < COUNT(want); i++)
        for (size_t j = 0; j < COUNT(c); j++)
            NEAR(ebi_chain_zero(&c[j], want[i].n), want[i].zero[j], j == 4 ? 1e-3 : 1e-4);
}

static void misses_by_class(void **state) {
    (void)state;
    static const double want[] = {.5499, .3751, .1868, .0678, .0187, .0041, .0007};
    const ebi_chain c = paper_chain(EBI_CHAIN_MAX, ALL, TOP);
    for (int v = 1; v <= TOP; v++) NEAR(ebi_chain_fnr(&c, v, 5000, INFINITY), want[v - 1], 1e-4);
    for (int v = 1; v <= TOP; v++)
        NEAR(ebi_chain_fnr(&c, v, 1e12, INFINITY), 1 - pow(1 - .17986, 5), 5e-5);
}

/* P(T_0+...+T_{v-1} <= gap) for geometric stages, arrival by arrival. */
static double slow_stages(const ebi_chain *c, int v, int gap) {
    long double at[TOP + 1] = {1};
    const long double k = 1 - powl(1 - 1 / (long double)c->cells, c->hashes);
    const long double p = c->deletes / c->cells;
    for (int t = 0; t < gap; t++)
        for (int i = v - 1; i >= 0; i--) {
            const long double leave = 1 - (1 - k * c->tail[i + 1]) * (1 - p);
            at[i + 1] += at[i] * leave;
            at[i] -= at[i] * leave;
        }
    return (double)at[v];
}

static void walks_equal_slow_stages(void **state) {
    (void)state;
    static const int gap[] = {0, 3, 40, 700, 5000, 90000};
    ebi_chain c[] = {paper_chain(EBI_CHAIN_MAX, ONE, TOP), paper_chain(EBI_CHAIN_MAX, TWO, TOP),
                     paper_chain(EBI_CHAIN_MAX, ALL, TOP)};
    for (size_t i = 0; i < COUNT(c); i++)
        for (int v = 1; v <= TOP; v++)
            for (size_t g = 0; g < COUNT(gap); g++) {
                const double zero = ebi_chain_stationary(&c[i], NULL);
                const double want = zero * slow_stages(&c[i], v, gap[g]);
                NEAR(ebi_chain_zero_of(&c[i], v, gap[g], INFINITY), want, 1e-9 * want + 1e-300);
                NEAR(ebi_chain_zero_of(&c[i], v, gap[g], 1e9), want, 1e-9 * want + 1e-300);
            }
}

static void closed_transient_equals_the_walk(void **state) {
    (void)state;
    ebi_chain closed, walked;
    ebi_chain_init(&closed, EBI_CHAIN_MAX, 5000, 3, 4.5, 15);
    walked = closed;
    walked.tail[15] = 1 - 1e-13; /* not exactly one class: no closed form */
    for (double n = 1; n < 1e12; n *= 9)
        NEAR(ebi_chain_zero(&closed, n), ebi_chain_zero(&walked, n), 1e-10);
    for (double gap = 1; gap < 1e12; gap *= 9)
        NEAR(ebi_chain_zero_of(&closed, 15, gap, INFINITY),
             ebi_chain_zero_of(&walked, 15, gap, INFINITY), 1e-10);
}

static void sweep_guarantees_a_window(void **state) {
    (void)state;
    ebi_chain c;
    ebi_chain_init(&c, EBI_CHAIN_SWEEP, 65536, 2, 8.401, 3); /* 16 KB, 2 bits a cell */
    NEAR(ebi_chain_fpr(&c, INFINITY), 0.2, 1e-4);
    NEAR(ebi_chain_deletes_for(&c, 0.2), 8.401, 1e-3);
    assert_true(ebi_chain_fnr(&c, 3, 15000, INFINITY) == 0);
    assert_true(ebi_chain_fnr(&c, 3, 15601, INFINITY) < 1e-3);
    NEAR(ebi_chain_fnr(&c, 3, 18000, INFINITY), 0.3344, 1e-4);
    NEAR(ebi_chain_zero(&c, 1e9), ebi_chain_stationary(&c, NULL), 1e-15);
    ebi_chain_init(&c, EBI_CHAIN_SWEEP, CELLS, 2, 11.785, TOP);
    set_classes(&c, ALL, TOP);
    NEAR(ebi_chain_fpr(&c, INFINITY), 0.2, 1e-4);
    for (int v = 4; v <= TOP; v++) assert_true(ebi_chain_fnr(&c, v, 10000, INFINITY) == 0);
    NEAR(ebi_chain_fnr(&c, 3, 10000, INFINITY), 0.6344, 2e-3);
    /* Half full is best for a window of (v-1) cells/P keys: memory 1.4427 d (v-1/2)/(v-1) log2(1/e)
     * bits a key. */
    ebi_chain_init(&c, EBI_CHAIN_SWEEP, 1e6, 7, 1, 3);
    c.deletes = ebi_chain_deletes_for(&c, 0.01);
    NEAR(2 * c.cells / (2 * c.cells / c.deletes), 23.9, 0.3);
}

static void deletes_for_a_rate(void **state) {
    (void)state;
    static const struct {
        enum classes classes;
        int count;
        double deletes;
    } want[] = {{ONE, 7, 24.7}, {TWO, 50, 18.4}, {ALL, 50, 13.6}, {ALL, 7, 13.8}};
    for (size_t i = 0; i < COUNT(want); i++) {
        ebi_chain c = paper_chain(EBI_CHAIN_MAX, want[i].classes, want[i].count);
        c.deletes = ebi_chain_deletes_for(&c, 0.2);
        NEAR(c.deletes, want[i].deletes, 0.05);
        NEAR(ebi_chain_fpr(&c, INFINITY), 0.2, 1e-9);
    }
    ebi_chain c;
    ebi_chain_init(&c, EBI_CHAIN_MAX, 65536, 2, 1, 3);
    NEAR(ebi_chain_deletes_for(&c, 0.2), 9.155, 1e-3);
}

/* Long steps against the walk, which takes all: for every rule, some classes, times and gaps. */
static void courses_equal_walks(void **state) {
    (void)state;
    static const ebi_chain_rule rules[] = {EBI_CHAIN_MAX, EBI_CHAIN_PROMOTE, EBI_CHAIN_OVERWRITE,
                                           EBI_CHAIN_PROBES, EBI_CHAIN_RECIPROCAL};
    for (size_t r = 0; r < SUITE_COUNT(rules); r++) {
        const ebi_chain c = paper_chain(rules[r], rules[r] == EBI_CHAIN_PROMOTE ? TWO : ALL, TOP);
        double zero[EBI_CHAIN_MAX_LEVELS + 1];
        for (double n = CELLS / 50.; n < 1e8; n *= 5) {
            const double exact = ebi_chain_zero(&c, n);
            suite_at("rule %d after %.0f", (int)rules[r], n);
            NEAR(ebi_course_zero(&c, n), exact, 3e-3 * exact + 1e-4);
            for (double gap = n / 100; gap <= n; gap *= 9.7) {
                ebi_course_lost(&c, gap, n, zero);
                for (int v = 1; v <= c.levels; v++) {
                    if (!(c.tail[v] > c.tail[v + 1])) continue;
                    const double lost = ebi_chain_zero_of(&c, v, gap, n);
                    NEAR(zero[v], lost, 5e-3 * lost + 1e-3);
                }
            }
        }
    }
}

static void settling_time(void **state) {
    (void)state;
    const ebi_chain c = paper_chain(EBI_CHAIN_MAX, ALL, TOP);
    const double n = ebi_chain_settles(&c, 0.005), limit = ebi_chain_zero(&c, INFINITY);
    assert_true(ebi_chain_zero(&c, 1.003 * n) - limit <= 0.005);
    assert_true(ebi_chain_zero(&c, 0.997 * n) - limit > 0.005);
    assert_true(n > 0.7 * CELLS && n < 1.3 * CELLS);
    const ebi_chain probes = paper_chain(EBI_CHAIN_PROBES, ALL, TOP);
    assert_true(ebi_chain_settles(&probes, 0.001) < 4.5 * CELLS);
}

static void a_filter_that_runs_empty(void **state) {
    (void)state;
    ebi_chain c = paper_chain(EBI_CHAIN_RECIPROCAL, ALL, TOP);
    c.deletes = 21; /* more than K E[class] = 20 units an arrival */
    NEAR(ebi_chain_zero(&c, INFINITY), 1, 0);
    NEAR(ebi_chain_zero(&c, 1e9), 1, 0);
    NEAR(ebi_chain_fpr(&c, INFINITY), 0, 0);
}

static void every_cell_is_set(void **state) {
    (void)state;
    for (int rule = EBI_CHAIN_MAX; rule <= EBI_CHAIN_SWEEP; rule++) {
        ebi_chain c;
        ebi_chain_init(&c, (ebi_chain_rule)rule, 16, 16, 2, 3);
        NEAR(ebi_chain_zero(&c, 1000), 0, 1e-9);
        NEAR(ebi_chain_fpr(&c, INFINITY), 1, 1e-8);
    }
}

/* --- a simulation of every rule --------------------------------------------------------------- */

enum { SIM_CELLS = 3000, SIM_K = 3, SIM_P = 4, SIM_LEVELS = 3, SIM_GAP = 900, SIM_ROUNDS = 400 };

typedef struct sim {
    ebi_chain_rule rule;
    uint64_t seed;
    unsigned next; /* of the sweep */
    uint8_t cell[SIM_CELLS];
    unsigned key[SIM_GAP + 1][SIM_K];
    int class[SIM_GAP + 1];
} sim;

static unsigned sim_below(sim *s, unsigned n) {
    s->seed += 0x9E3779B97F4A7C15u;
    uint64_t z = s->seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (unsigned)(((z ^ (z >> 31)) >> 32) * n >> 32);
}

static int sim_take(sim *s) {
    const unsigned i = s->rule == EBI_CHAIN_SWEEP ? s->next++ % SIM_CELLS : sim_below(s, SIM_CELLS);
    const bool reciprocal = s->rule == EBI_CHAIN_PROBES || s->rule == EBI_CHAIN_RECIPROCAL;
    if (!s->cell[i] || (reciprocal && sim_below(s, s->cell[i]))) return 0;
    s->cell[i]--;
    return 1;
}

static void sim_delete(sim *s) {
    int taken = 0;
    for (int i = 0; i < SIM_P; i++) taken += sim_take(s);
    if (s->rule == EBI_CHAIN_RECIPROCAL)
        for (int tries = 0; taken < SIM_P && tries < 100 * SIM_CELLS; tries++) taken += sim_take(s);
}

static uint8_t sim_set(const sim *s, int cell, int v) {
    if (s->rule == EBI_CHAIN_OVERWRITE) return (uint8_t)v;
    if (s->rule == EBI_CHAIN_PROMOTE && v < SIM_LEVELS && cell >= v) return SIM_LEVELS;
    return (uint8_t)(cell > v ? cell : v);
}

/* A fresh key arrives at time t; its class is 1 or 3, or 1..3. */
static void sim_arrive(sim *s, unsigned t) {
    const unsigned slot = t % (SIM_GAP + 1), draw = sim_below(s, 3);
    const int v = s->rule == EBI_CHAIN_PROMOTE ? (draw ? SIM_LEVELS : 1) : 1 + (int)draw;
    sim_delete(s);
    s->class[slot] = v;
    for (int i = 0; i < SIM_K; i++) {
        const unsigned at = s->key[slot][i] = sim_below(s, SIM_CELLS);
        s->cell[at] = sim_set(s, s->cell[at], v);
    }
}

static bool sim_missed(const sim *s, unsigned slot) {
    for (int i = 0; i < SIM_K; i++)
        if (!s->cell[s->key[slot][i]]) return true;
    return false;
}

/* Bounds: five standard errors of the sample, and three times K/cells for the model. */
static void sim_compare(double got, double want, double sample) {
    const double bias = 3.0 * SIM_K / SIM_CELLS;
    NEAR(got, want, 5 * sqrt(want * (1 - want) / sample) + bias * want + 5 / sample);
}

static void sim_run(ebi_chain_rule rule) {
    sim s = {.rule = rule, .seed = 12345};
    ebi_chain c;
    double share[] = {0, 1, rule == EBI_CHAIN_PROMOTE ? 0 : 1, rule == EBI_CHAIN_PROMOTE ? 2 : 1};
    double zeros = 0, misses[SIM_LEVELS + 1] = {0}, keys[SIM_LEVELS + 1] = {0};
    ebi_chain_init(&c, rule, SIM_CELLS, SIM_K, SIM_P, SIM_LEVELS);
    ebi_chain_classes(&c, share);
    c.distinct = false;
    unsigned t = 0;
    for (; t < SIM_CELLS / 3; t++) sim_arrive(&s, t);
    for (int i = 0; i < SIM_CELLS; i++) zeros += !s.cell[i];
    sim_compare(zeros / SIM_CELLS, ebi_chain_zero(&c, t), SIM_CELLS);
    for (; t < 10 * SIM_CELLS; t++) sim_arrive(&s, t);
    zeros = 0;
    for (int round = 0; round < SIM_ROUNDS; round++) {
        for (int i = 0; i < SIM_CELLS; i++, t++) {
            sim_arrive(&s, t);
            const unsigned old = (t + 1) % (SIM_GAP + 1); /* SIM_GAP arrivals since */
            keys[s.class[old]]++;
            misses[s.class[old]] += sim_missed(&s, old);
        }
        for (int i = 0; i < SIM_CELLS; i++) zeros += !s.cell[i];
    }
    sim_compare(zeros / SIM_CELLS / SIM_ROUNDS, ebi_chain_zero(&c, INFINITY),
                (double)SIM_CELLS * SIM_ROUNDS);
    for (int v = 1; v <= SIM_LEVELS; v++)
        if (keys[v] > 0)
            sim_compare(misses[v] / keys[v], ebi_chain_fnr(&c, v, SIM_GAP, INFINITY), keys[v]);
}

static void simulation_agrees(void **state) {
    (void)state;
    SUITE_LONG();
    for (int rule = EBI_CHAIN_MAX; rule <= EBI_CHAIN_RECIPROCAL; rule++)
        sim_run((ebi_chain_rule)rule);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settled_values),
        cmocka_unit_test(shares_add_up_and_the_walk_reaches_them),
        cmocka_unit_test(one_class_is_the_stable_filter),
        cmocka_unit_test(the_largest_cells_begin_as_bits),
        cmocka_unit_test(zeros_over_time),
        cmocka_unit_test(misses_by_class),
        cmocka_unit_test(walks_equal_slow_stages),
        cmocka_unit_test(closed_transient_equals_the_walk),
        cmocka_unit_test(sweep_guarantees_a_window),
        cmocka_unit_test(deletes_for_a_rate),
        cmocka_unit_test(courses_equal_walks),
        cmocka_unit_test(settling_time),
        cmocka_unit_test(a_filter_that_runs_empty),
        cmocka_unit_test(every_cell_is_set),
        cmocka_unit_test(simulation_agrees),
    };
    return cmocka_run_group_tests_name("markov", tests, NULL, NULL);
}
