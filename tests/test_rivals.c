/* test_rivals.c - the laboratory's rivals against models that are as slow and plain as their
 * definitions, and the comparison itself: what it says was wrong is what was wrong. */
#include "compare.h"
#include "rivals/rivals.h"
#include "suite.h"
#include <math.h>
#include <string.h>

enum { RECORDS = 20000, KEYS = 3000 };

static lab_subject rival(const char *spec) {
    lab_subject s;
    suite_at("%s", spec);
    HOLDS(lab_rival_new(spec, 7, &s));
    return s;
}

/* Some keys are popular, most are rare. */
static uint64_t next_key(uint64_t *rng) {
    const uint64_t u = suite_below(rng, KEYS), v = suite_below(rng, KEYS);
    return lab_mix(u * v / KEYS + 1);
}

static bool add_to(const lab_subject *s, uint64_t hash) {
    uint8_t seen;
    s->add(s->state, &A_BATCH(1, &hash, NULL, NULL), &seen);
    return seen;
}

static double count_of(const lab_subject *s, uint64_t hash) {
    double count;
    s->count(s->state, &hash, 1, &count);
    return count;
}

static uint64_t place_of(uint64_t hash, uint64_t row, uint64_t width) {
    lab_rng r = {hash ^ lab_mix(row + 1)};
    return lab_below(&r, width);
}

/* Slices as rows of bytes that move down when they grow older. */
static void slices_grow_older(void **state) {
    (void)state;
    enum { K = 4, L = 3, SLICES = K + L, BITS = 1024 * 8 / SLICES / 64 * 64 };
    const lab_subject s = rival("apbf:memory=1K,k=4,l=3");
    static uint8_t slice[SLICES][BITS];
    unsigned name[SLICES]; /* which hash function a slice has */
    uint64_t rng = 3, inserted = 0, wrong = 0;
    const uint64_t most = (uint64_t)(BITS * log(2) / K);
    for (unsigned i = 0; i < SLICES; i++) name[i] = i;
    for (int t = 0; t < RECORDS; t++) {
        const uint64_t h = next_key(&rng);
        bool known = false, changed = false;
        for (unsigned first = 0; first <= L; first++) {
            unsigned set = 0;
            for (unsigned i = first; i < first + K; i++)
                set += slice[i][place_of(h, name[i], BITS)];
            known |= set == K;
        }
        for (unsigned i = 0; i < K; i++) {
            uint8_t *const bit = &slice[i][place_of(h, name[i], BITS)];
            changed |= !*bit;
            *bit = 1;
        }
        wrong += add_to(&s, h) != known;
        inserted += changed;
        if (inserted < most) continue;
        const unsigned oldest = name[SLICES - 1];
        memmove(slice[1], slice[0], sizeof slice - sizeof slice[0]);
        memmove(name + 1, name, sizeof name - sizeof name[0]);
        memset(slice[0], 0, sizeof slice[0]);
        name[0] = oldest;
        inserted = 0;
    }
    HOLDS(wrong == 0);
    s.release(s.state);
}

/* Every bucket as the list of all its insertions: the last b are in it. */
static void queues_drop_the_oldest(void **state) {
    (void)state;
    enum { B = 4, W = 16, N = 512 * 8 / (B * W) };
    const lab_subject s = rival("fifo:memory=512,b=4,w=16");
    uint64_t *const log_of[1] = {lab_alloc((size_t)N * RECORDS, sizeof(uint64_t))};
    static size_t n[N];
    uint64_t rng = 4, wrong = 0;
    for (int t = 0; t < RECORDS; t++) {
        const uint64_t h = next_key(&rng);
        lab_rng r = {h};
        const uint64_t at = lab_below(&r, N), print = 1 + lab_below(&r, (1 << W) - 1);
        bool known = false;
        for (size_t i = n[at]; i > 0 && i + B > n[at]; i--)
            known |= log_of[0][at * RECORDS + i - 1] == print;
        if (!known) log_of[0][at * RECORDS + n[at]++] = print;
        wrong += add_to(&s, h) != known;
    }
    HOLDS(wrong == 0);
    free(log_of[0]);
    s.release(s.state);
}

/* A bucket of b slots, any of which goes: a key that has just come is known; it survives another
 * insertion into its full bucket with 1 - 1/b. */
static void tables_replace_any(void **state) {
    (void)state;
    const lab_subject s = rival("qht:memory=256,b=4,w=24");
    enum { N = 256 * 8 / (4 * 24), TRIALS = 20000 };
    uint64_t rng = 5, kept = 0;
    for (int t = 0; t < 4000; t++) add_to(&s, suite_random(&rng)); /* all buckets are full */
    for (int t = 0; t < TRIALS; t++) {
        const uint64_t h = suite_random(&rng);
        uint64_t other;
        add_to(&s, h);
        HOLDS(add_to(&s, h));
        do other = suite_random(&rng);
        while (place_of(other ^ lab_mix(1), 0, N) != place_of(h ^ lab_mix(1), 0, N));
        add_to(&s, other);
        kept += add_to(&s, h);
    }
    const double want = 0.75, error = sqrt(want * (1 - want) / TRIALS);
    NEAR((double)kept / TRIALS, want, 4.5 * error);
    s.release(s.state);
}

static void counters_are_those_of_the_definition(void **state) {
    (void)state;
    enum { D = 4, WIDTH = 2048 / 4 / D };
    const lab_subject least = rival("cms:memory=2K,d=4");
    static double truth[KEYS + 1], min_cell[D][WIDTH];
    uint64_t rng = 6;
    for (int t = 0; t < RECORDS; t++) {
        const uint64_t id = suite_below(&rng, KEYS) * suite_below(&rng, KEYS) / KEYS;
        const uint64_t h = lab_mix(id + 1);
        double low = INFINITY;
        size_t at[D];
        for (unsigned i = 0; i < D; i++) {
            lab_rng r = {h ^ lab_mix(i + 1)};
            (void)lab_random(&r);
            at[i] = lab_below(&r, WIDTH);
            low = fmin(low, min_cell[i][at[i]]);
        }
        for (unsigned i = 0; i < D; i++) min_cell[i][at[i]] = fmax(min_cell[i][at[i]], low + 1);
        HOLDS(add_to(&least, h) == (low > 0));
        HOLDS(count_of(&least, h) == low + 1);
        HOLDS(low + 1 >= ++truth[id]);
    }
    least.release(least.state);
}

/* Unbiased: over all keys the errors of one row cancel, and the median of roomy rows is exact. */
static void sketches_are_unbiased(void **state) {
    (void)state;
    const lab_subject one = rival("csketch:memory=2K,d=1"), roomy = rival("csketch:memory=4M,d=5");
    static double truth[KEYS];
    uint64_t rng = 8;
    double sum = 0, squares = 0, n = 0;
    for (int t = 0; t < RECORDS; t++) {
        const uint64_t id = suite_below(&rng, KEYS);
        truth[id]++;
        (void)add_to(&one, lab_mix(id + 1));
        (void)add_to(&roomy, lab_mix(id + 1));
    }
    for (uint64_t id = 0; id < KEYS; id++) {
        const double off = count_of(&one, lab_mix(id + 1)) - truth[id];
        sum += off;
        squares += off * off;
        n++;
        HOLDS(count_of(&roomy, lab_mix(id + 1)) == truth[id]);
    }
    NEAR(sum / n, 0, 4.5 * sqrt(squares) / n);
    HOLDS(squares > n); /* one row of 512 counters has errors */
    one.release(one.state);
    roomy.release(roomy.state);
}

/* A plain array, searched for the key and for the least. */
static void space_saving_is_a_sorted_list(void **state) {
    (void)state;
    enum { ROOM = 2048 / 24 };
    const lab_subject s = rival("spacesaving:memory=2K");
    static double truth[KEYS + 1];
    double counts[ROOM] = {0}, all = 0;
    uint64_t rng = 9;
    for (int t = 0; t < RECORDS; t++) {
        const uint64_t id = suite_below(&rng, KEYS) * suite_below(&rng, KEYS) / KEYS;
        const uint64_t h = lab_mix(id + 1);
        const double before = count_of(&s, h);
        const bool there = add_to(&s, h);
        truth[id]++;
        /* Which of several least ones goes is free; the counts as a set are not. */
        unsigned at = 0;
        for (unsigned i = 1; i < ROOM && !there; i++)
            if (counts[i] < counts[at]) at = i;
        for (unsigned i = 0; i < ROOM && there; i++)
            if (counts[i] == before) at = i;
        HOLDS(counts[at] == before);
        counts[at]++;
        HOLDS(count_of(&s, h) == counts[at] && counts[at] >= truth[id]);
    }
    for (unsigned i = 0; i < ROOM; i++) all += counts[i];
    HOLDS(all == RECORDS);
    s.release(s.state);
}

/* With one key in a bucket counts are exact; a rare key hardly moves a large count. */
static void heavy_keys_stay(void **state) {
    (void)state;
    const lab_subject roomy = rival("heavykeeper:memory=4M"),
                      tight = rival("heavykeeper:memory=768,d=2");
    uint64_t rng = 10;
    for (uint64_t id = 1; id <= 20; id++)
        for (uint64_t i = 0; i < 500; i++) {
            (void)add_to(&roomy, lab_mix(id));
            (void)add_to(&tight, lab_mix(id));
        }
    for (uint64_t id = 1; id <= 20; id++) HOLDS(count_of(&roomy, lab_mix(id)) == 500);
    for (int t = 0; t < RECORDS; t++) (void)add_to(&tight, suite_random(&rng));
    unsigned found = 0;
    for (uint64_t id = 1; id <= 20; id++) {
        HOLDS(count_of(&tight, lab_mix(id)) <= 500);
        found += count_of(&tight, lab_mix(id)) >= 450;
    }
    HOLDS(found >= 15); /* 64 buckets a row: some two of the 20 share both */
    roomy.release(roomy.state);
    tight.release(tight.state);
}

/* The comparison */

static void what_is_wrong_is_counted(void **state) {
    (void)state;
    lab_options o = {.seeds = 2, .seed = 3, .threads = 1};
    const compare_plan plan = {.stream = "loop:2",
                               .filter = {"lru:memory=8K,keep=recent",
                                          "bloom:memory=64K,distinct=5000", "spectral:memory=64K"},
                               .filters = 3,
                               .slots = 1000,
                               .records = 20000,
                               .law = COMPARE_UNIFORM};
    compare_result *const r = lab_compare(&o, &plan);
    for (unsigned i = 0; i < 2; i++) { /* a loop of 2000 keys in 120 lines of 20 */
        HOLDS(r[i].records == 20000 && r[i].fpr.all == 2000 && r[i].fnr.all == 18000);
        HOLDS(r[i].gap[3].all == 18000 && r[i].gap[3].wrong == r[i].fnr.wrong);
        HOLDS(r[2 + i].fnr.wrong == 0 && r[2 + i].weight_missed == 0);
        HOLDS(r[4 + i].keys == 2000 && r[4 + i].counts_low == 0);
        uint64_t fifths = 0;
        for (unsigned k = 0; k < COMPARE_FIFTHS; k++) fifths += r[i].fifth[k].wrong;
        HOLDS(fifths == r[i].fnr.wrong);
    }
    const compare_rate lru = compare_of(r, 2, compare_fnr),
                       none = compare_of(r + 2, 2, compare_fnr);
    HOLDS(none.rate == 0 && compare_order(none, lru) == -1 && compare_order(lru, lru) == 0);
    HOLDS(lru.error > 0);
    free(r);
}

static void errors_come_from_the_seeds(void **state) {
    (void)state;
    compare_result r[4] = {0};
    for (unsigned i = 0; i < 4; i++) {
        r[i].fnr.all = 1000000;
        r[i].fnr.wrong = 100000 * (1 + i % 2); /* 10 and 20 %: far more than the binomial error */
    }
    const compare_rate all = compare_of(r, 4, compare_fnr), one = compare_of(r, 1, compare_fnr);
    NEAR(all.rate, 0.15, 1e-12);
    NEAR(all.error, 0.05 / sqrt(3), 1e-9);
    NEAR(one.error, sqrt(0.1 * 0.9 / 1e6), 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_grow_older),
        cmocka_unit_test(queues_drop_the_oldest),
        cmocka_unit_test(tables_replace_any),
        cmocka_unit_test(counters_are_those_of_the_definition),
        cmocka_unit_test(sketches_are_unbiased),
        cmocka_unit_test(space_saving_is_a_sorted_list),
        cmocka_unit_test(heavy_keys_stay),
        cmocka_unit_test(what_is_wrong_is_counted),
        cmocka_unit_test(errors_come_from_the_seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
