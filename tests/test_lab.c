/* test_lab.c - the laboratory's own tools, on which all its verdicts rest: random
 * numbers and streams with the laws they claim, truth, rates, the measures of the
 * experiments on counts, and the rules by which a number agrees or differs. */
#include "../lab/paper_002.h"
#include "../lab/paper_004.h"
#include "suite.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

/* How far counts are from what is expected of them: with n classes the sum of the
 * squares is n on average, with a deviation of sqrt(2n).  Five of them is never chance,
 * and five below is too even to be drawn at random. */
static void counts_agree(const double *count, const double *expected, size_t n) {
    double chi = 0;
    for (size_t i = 0; i < n; i++)
        chi += (count[i] - expected[i]) * (count[i] - expected[i]) / expected[i];
    const double free = (double)n - 1;
    NEAR(chi, free, 5 * sqrt(2 * free));
}

static void counts_are_even(const double *count, size_t n) {
    double *const even = lab_alloc(n, sizeof *even), sum = 0;
    for (size_t i = 0; i < n; i++) sum += count[i];
    for (size_t i = 0; i < n; i++) even[i] = sum / (double)n;
    counts_agree(count, even, n);
    free(even);
}

/* Random numbers and threads */

static void random_numbers_are_even(void **state) {
    (void)state;
    enum { CLASSES = 100, DRAWS = 100000 };
    double below[CLASSES] = {0}, unit[CLASSES] = {0}, pairs[CLASSES] = {0};
    lab_rng r = {7};
    for (int i = 0; i < DRAWS; i++) {
        below[lab_below(&r, CLASSES)]++;
        unit[(size_t)(lab_unit(&r) * CLASSES)]++;
        pairs[10 * lab_below(&r, 10) + lab_below(&r, 10)]++;
    }
    counts_are_even(below, CLASSES);
    counts_are_even(unit, CLASSES);
    counts_are_even(pairs, CLASSES);
}

static int by_size(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void different_ids_have_different_hashes(void **state) {
    (void)state;
    enum { IDS = 200000 };
    uint64_t *const h = lab_alloc(IDS, sizeof *h);
    for (uint64_t i = 0; i < IDS; i++) h[i] = lab_mix(i + lab_mix(9));
    qsort(h, IDS, sizeof *h, by_size);
    for (size_t i = 1; i < IDS; i++) HOLDS(h[i] != h[i - 1]);
    free(h);
}

static void count_job(void *ctx, size_t i) {
    ((unsigned *)ctx)[i]++; /* each job has a place of its own */
}

static void every_job_runs_once(void **state) {
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads *= 2) {
        unsigned done[1000] = {0};
        lab_parallel(threads, SUITE_COUNT(done), count_job, done);
        for (size_t i = 0; i < SUITE_COUNT(done); i++) HOLDS(done[i] == 1);
    }
}

/* Streams */

enum { STREAM = 60000 };

static uint64_t *ids_of(lab_stream *s) { /* all of them, in uneven parts; frees the stream */
    const uint64_t records = lab_stream_records(s);
    uint64_t *const ids = lab_alloc(records, sizeof *ids);
    size_t at = 0;
    for (size_t cap = 1, n; (n = lab_stream_next(s, ids + at, cap)) > 0; cap = cap % 700 + 13)
        at += n;
    HOLDS(at == records);
    for (size_t i = 0; i < at; i++) HOLDS(ids[i] < lab_stream_ids(s));
    lab_stream_free(s);
    return ids;
}

static void copies_are_of_all_keys_alike(void **state) {
    (void)state;
    enum { KEYS = 500, TENTHS = 10 };
    uint64_t *const ids = ids_of(lab_stream_copies(STREAM, KEYS, 3));
    double copies[KEYS], first[TENTHS] = {0};
    for (size_t i = 0; i < KEYS; i++) copies[i] = -1;
    for (size_t i = 0; i < STREAM; i++) copies[ids[i]]++;
    for (size_t i = 0; i < KEYS; i++) HOLDS(copies[i] >= 0);
    counts_are_even(copies, KEYS);
    for (size_t i = 0; i < STREAM; i++) first[i * TENTHS / STREAM] += ids[i] < KEYS / 2;
    for (size_t i = 0; i < TENTHS; i++) NEAR(first[i], STREAM / 20, 5 * sqrt(STREAM / 40.0));
    free(ids);
}

static void uniform_draws_are_even(void **state) {
    (void)state;
    enum { KEYS = 300 };
    uint64_t *const ids = ids_of(lab_stream_uniform(STREAM, KEYS, 4));
    double count[KEYS] = {0};
    for (size_t i = 0; i < STREAM; i++) count[ids[i]]++;
    counts_are_even(count, KEYS);
    free(ids);
}

static void a_share_of_the_records_is_new(void **state) {
    (void)state;
    static const double fresh = 0.3, error = 5 * 0.46 / 245; /* sqrt(fresh (1 - fresh) / STREAM) */
    const lab_gap near = {LAB_EXPONENTIAL, 5, 0};
    lab_stream *const streams[] = {lab_stream_earlier(STREAM, fresh, 5),
                                   lab_stream_gaps(STREAM, fresh, near, 6),
                                   lab_stream_depths(STREAM, fresh, near, 7)};
    for (size_t i = 0; i < SUITE_COUNT(streams); i++) {
        uint64_t *const ids = ids_of(streams[i]), next = 0;
        suite_at("stream %zu", i);
        for (size_t j = 0; j < STREAM; j++) {
            HOLDS(ids[j] <= next);
            next += ids[j] == next;
        }
        NEAR((double)next / STREAM, fresh, error);
        free(ids);
    }
}

/* How many different keys came since this one did; the ids of a stream so far. */
static size_t depth_at(const uint64_t *ids, size_t t) {
    size_t different = 0;
    for (size_t i = t; i-- > 0 && ids[i] != ids[t];) {
        bool again = false;
        for (size_t j = i + 1; j < t && !again; j++) again = ids[j] == ids[i];
        different += !again;
    }
    return different;
}

static void repeats_are_at_the_depths_drawn(void **state) {
    (void)state;
    enum { RECORDS = 12000, DEPTHS = 20 };
    const lab_gap law = {LAB_UNIFORM, DEPTHS, 0};
    uint64_t *const ids = ids_of(lab_stream_depths(RECORDS, 0.2, law, 8)), next = 0;
    double depth[DEPTHS] = {0};
    for (size_t t = 0; t < RECORDS; t++) {
        const bool fresh = ids[t] == next;
        next += fresh;
        if (fresh || next < DEPTHS) continue;
        const size_t d = depth_at(ids, t);
        HOLDS(d < DEPTHS);
        depth[d]++;
    }
    counts_are_even(depth, DEPTHS);
    free(ids);
}

/* Draws fall into classes as the integral of the density says. */
static void gaps_have_their_density(void **state) {
    (void)state;
    enum { CLASSES = 40, DRAWS = 200000, STEPS = 2000 };
    static const lab_gap laws[] = {
        {LAB_UNIFORM, 40, 0}, {LAB_EXPONENTIAL, 12, 0}, {LAB_PARETO, 2, 1.5}};
    for (size_t i = 0; i < SUITE_COUNT(laws); i++) {
        double count[CLASSES + 1] = {0}, expected[CLASSES + 1] = {0}, sum = 0;
        lab_rng r = {i};
        suite_at("law %zu", i);
        for (int j = 0; j < DRAWS; j++) count[(size_t)fmin(CLASSES, lab_gap_draw(&laws[i], &r))]++;
        for (int j = 0; j < CLASSES * STEPS; j++) {
            const double part = lab_gap_density(&laws[i], (j + 0.5) / STEPS) / STEPS * DRAWS;
            expected[j / STEPS] += part;
            sum += part;
        }
        expected[CLASSES] = DRAWS - sum; /* and beyond */
        const size_t first = laws[i].law == LAB_PARETO ? 2 : 0, beyond = i > 0;
        HOLDS(first == 0 || count[0] + count[1] == 0);
        counts_agree(count + first, expected + first, CLASSES + beyond - first);
    }
}

static void lists_come_as_they_are(void **state) {
    (void)state;
    uint32_t *const list = lab_alloc(STREAM, sizeof *list);
    for (uint32_t i = 0; i < STREAM; i++) list[i] = i * i % 1000;
    uint64_t *const ids = ids_of(lab_stream_list(list, STREAM, 1000, 0));
    for (uint32_t i = 0; i < STREAM; i++) HOLDS(ids[i] == i * i % 1000);
    free(ids);
}

/* Truth, rates and runs */

static void truth_knows_what_came(void **state) {
    (void)state;
    enum { IDS = 300, RECORDS = 2000 };
    lab_truth *const truth = lab_truth_new(IDS);
    lab_rng r = {11};
    bool came[IDS] = {false};
    for (size_t at = 0, n; at < RECORDS; at += n) {
        uint64_t ids[50];
        uint8_t first[50];
        n = 1 + lab_below(&r, 50);
        for (size_t i = 0; i < n; i++) ids[i] = lab_below(&r, IDS);
        lab_truth_first(truth, ids, n, first);
        for (size_t i = 0; i < n; i++) {
            HOLDS(first[i] == !came[ids[i]]);
            came[ids[i]] = true;
        }
    }
    lab_truth_free(truth);
}

static void rates_are_shares_of_what_they_say(void **state) {
    (void)state;
    static const uint8_t first[] = {1, 1, 1, 1, 0, 0, 0, 0, 0, 0};
    static const uint8_t seen[] = {1, 0, 0, 0, 1, 1, 1, 0, 0, 1};
    lab_rates r = {0}, twice = {0};
    HOLDS(lab_rate_of(&r, LAB_FPR) == 0 && lab_error_of(&r, LAB_FNR) == 0);
    lab_rates_count(&r, first, seen, SUITE_COUNT(first));
    HOLDS(r.distinct == 4 && r.false_positives == 1 && r.repeats == 6 && r.false_negatives == 2);
    lab_rates_pool(&twice, &r);
    lab_rates_pool(&twice, &r);
    NEAR(lab_rate_of(&twice, LAB_FPR), 0.25, 1e-12);
    NEAR(lab_rate_of(&twice, LAB_FNR), 1 / 3.0, 1e-12);
    NEAR(lab_error_of(&twice, LAB_FPR), sqrt(0.25 * 0.75 / 8), 1e-12);
    NEAR(lab_error_of(&twice, LAB_FNR), sqrt(2 / 9.0 / 12), 1e-12);
}

/* A subject that says of every hash that it was seen, or that it was not. */
typedef struct parrot {
    uint8_t says;
    size_t records, points;
} parrot;

static void parrot_add(void *state, const eb_batch *b, uint8_t *seen) {
    parrot *const p = state;
    memset(seen, p->says, b->n);
    p->records += b->n;
}

static void parrot_release(void *state) {
    (void)state;
}

static void parrot_point(void *ctx, uint64_t records, const lab_subject *subjects, size_t count) {
    parrot *const p = ctx;
    HOLDS(records == 1000 * ++p->points && count == 2);
    HOLDS(subjects[0].rates.distinct + subjects[0].rates.repeats + 2500 == records ||
          records <= 2500);
}

static void runs_compare_with_the_truth(void **state) {
    (void)state;
    enum { RECORDS = 20000, WARM_UP = 2500 };
    parrot yes = {.says = 1}, no = {.says = 0};
    lab_subject subjects[] = {{.state = &yes, .add = parrot_add, .release = parrot_release},
                              {.state = &no, .add = parrot_add, .release = parrot_release}};
    uint64_t *const ids = ids_of(lab_stream_uniform(RECORDS, 15000, 12));
    uint8_t *const first = lab_alloc(RECORDS, 1);
    lab_truth *const truth = lab_truth_new(15000);
    size_t distinct = 0;
    lab_truth_first(truth, ids, RECORDS, first);
    for (size_t i = WARM_UP; i < RECORDS; i++) distinct += first[i];
    const lab_watch watch = {WARM_UP, 1000, parrot_point, &yes};
    lab_run(lab_stream_uniform(RECORDS, 15000, 12), subjects, 2, &watch);
    HOLDS(yes.records == RECORDS && no.records == RECORDS && yes.points == RECORDS / 1000);
    const lab_rates y = subjects[0].rates, n = subjects[1].rates;
    HOLDS(y.distinct == distinct && y.false_positives == distinct && y.false_negatives == 0);
    HOLDS(n.repeats == RECORDS - WARM_UP - distinct && n.false_negatives == n.repeats);
    HOLDS(n.false_positives == 0);
    lab_truth_free(truth);
    free(first);
    free(ids);
}

/* Zipf's law */

static void zipf_draws_have_their_chances(void **state) {
    (void)state;
    static const double skews[] = {0, 0.5, 1, 1.5};
    for (size_t i = 0; i < SUITE_COUNT(skews); i++) {
        const lab_options o = {.scale = 100};
        p002_stream s = p002_open(&o, skews[i], 1, 4, i);
        double *const expected = lab_alloc(s.keys, sizeof *expected), sum = 0;
        size_t n = 0, epochs = 100;
        suite_at("skew %g", skews[i]);
        for (size_t e = 0; e < epochs; e++) p002_epoch(&s);
        for (size_t k = 0; k < s.keys; k++) sum += pow((double)k + 1, -skews[i]);
        for (size_t k = 0; k < s.keys; k++)
            expected[k] = pow((double)k + 1, -skews[i]) / sum * (double)(epochs * s.arrivals);
        while (n < s.keys && expected[n] >= 10) n++; /* rarer keys are taken together */
        for (size_t k = n + 1; k < s.keys; k++) {
            expected[n] += expected[k];
            s.count[n] += s.count[k];
        }
        HOLDS(n > 100);
        counts_agree(s.count, expected, n + (n < s.keys));
        free(expected);
        p002_close(&s);
    }
}

static void zipf_counts_follow_the_formula(void **state) {
    (void)state;
    uint64_t count[1000];
    p004_zipf(count, 4, 100, 1); /* 100 / (1 + 1/2 + 1/3 + 1/4) = 48 */
    HOLDS(count[0] == 48 && count[1] == 24 && count[2] == 16 && count[3] == 12);
    p004_zipf(count, 1000, 100000, 0);
    for (int i = 0; i < 1000; i++) HOLDS(count[i] == 100);
    p004_zipf(count, 1000, 100000, 2);
    HOLDS(count[999] == 1); /* and not 0.06 */
    NEAR((double)count[0], 100000 / 1.6439346, 1);
}

/* Worlds of counts */

enum { WORLD = 200 };

static void every_order_has_the_same_keys(void **state) {
    (void)state;
    uint64_t count[WORLD];
    p004_zipf(count, WORLD, 20000, 0.7);
    for (p004_order order = P004_MIXED; order <= P004_PALINDROME; order++) {
        p004_world w = p004_world_new(count, WORLD, order, 3);
        uint64_t came[WORLD] = {0};
        suite_at("order %d", (int)order);
        for (size_t i = 0; i < w.records; i++) came[w.order[i]]++;
        HOLDS(memcmp(came, count, sizeof came) == 0);
        p004_world_free(&w);
    }
}

static void mixed_keys_come_at_any_time(void **state) {
    (void)state;
    enum { TENTHS = 10 };
    uint64_t count[WORLD];
    double times[TENTHS] = {0};
    p004_zipf(count, WORLD, 20000, 1);
    for (uint64_t seed = 0; seed < 20; seed++) {
        p004_world w = p004_world_new(count, WORLD, P004_MIXED, seed);
        for (size_t i = 0; i < w.records; i++) times[i * TENTHS / w.records] += w.order[i] == 0;
        p004_world_free(&w);
    }
    counts_are_even(times, TENTHS);
}

/* A way of counting that is exact, but for so much. */
typedef struct ledger {
    const p004_world *w;
    double count[WORLD], off[WORLD];
} ledger;

static size_t ledger_key(const ledger *l, eb_hash h) {
    for (size_t i = 0; i < WORLD; i++)
        if (l->w->hash[i] == h) return i;
    fail_msg("a hash that is no key's");
    return 0;
}

static void ledger_add(void *state, const eb_hash *h, size_t n) {
    ledger *const l = state;
    for (size_t i = 0; i < n; i++) l->count[ledger_key(l, h[i])]++;
}

static void ledger_remove(void *state, eb_hash h, uint64_t times) {
    ledger *const l = state;
    l->count[ledger_key(l, h)] -= (double)times;
}

static void ledger_count(const void *state, const eb_hash *h, size_t n, double *count) {
    const ledger *const l = state;
    for (size_t i = 0; i < n; i++) {
        const size_t key = ledger_key(l, h[i]);
        count[i] = l->count[key] + l->off[key];
    }
}

static p004_errors errors_of(p004_phases phases, const double *off, size_t offs, double *left) {
    uint64_t count[WORLD];
    p004_zipf(count, WORLD, 20000, 0.5);
    p004_world w = p004_world_new(count, WORLD, P004_MIXED, 5);
    ledger l = {.w = &w};
    memcpy(l.off, off, offs * sizeof *off);
    const p004_way way = {&l, ledger_add, ledger_remove, ledger_count, NULL};
    p004_feed(&w, &way, phases);
    const p004_errors e = p004_compare(&w, &way);
    *left = 0;
    for (size_t i = 0; i < WORLD; i++) *left += l.count[i] / (double)w.records;
    p004_world_free(&w);
    return e;
}

static void errors_are_measured_as_they_are(void **state) {
    (void)state;
    static const double off[] = {3, -4, 0, 12};
    for (p004_phases phases = P004_INSERTS; phases <= P004_WINDOW; phases++) {
        double left;
        suite_at("phases %d", (int)phases);
        p004_errors e = errors_of(phases, off, 0, &left);
        HOLDS(e.ratio == 0 && e.size == 0 && e.low == 0);
        e = errors_of(phases, off, SUITE_COUNT(off), &left);
        NEAR(e.ratio, 3.0 / WORLD, 1e-12);
        NEAR(e.low, 1.0 / WORLD, 1e-12);
        NEAR(e.size, 13 / sqrt(WORLD), 1e-12); /* 9 + 16 + 144 = 169 */
        if (phases == P004_INSERTS) HOLDS(left > 0.9999);
        if (phases == P004_DELETIONS) NEAR(left, 0.76, 0.08); /* the mean of 0.95^1 to 0.95^10 */
        if (phases == P004_WINDOW) NEAR(left, 0.2, 0.001);
    }
}

static void means_and_deviations(void **state) {
    (void)state;
    const p004_errors runs[] = {{1, 10, 0}, {2, 10, 0}, {3, 10, 0}, {6, 10, 0}};
    double mean, sd;
    p004_spread(&runs[0].ratio, sizeof *runs, 4, &mean, &sd);
    NEAR(mean, 3, 1e-12);
    NEAR(sd, sqrt(14 / 3.0), 1e-12);
    p004_spread(&runs[0].size, sizeof *runs, 4, &mean, &sd);
    HOLDS(mean == 10 && sd == 0);
    p004_spread(&runs[0].ratio, sizeof *runs, 1, &mean, &sd);
    HOLDS(mean == 1 && sd == 0);
}

/* Verdicts */

/* What a table prints, in one string that the next call overwrites. */
static const char *printed(lab_table *t, const lab_options *o) {
    static char text[2000];
    FILE *const file = tmpfile();
    HOLDS(file != NULL && fflush(stdout) == 0);
    const int out = dup(STDOUT_FILENO);
    HOLDS(dup2(fileno(file), STDOUT_FILENO) >= 0);
    lab_table_print(t, o);
    HOLDS(dup2(out, STDOUT_FILENO) >= 0 && close(out) == 0);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    (void)fclose(file);
    return text;
}

/* 4 sd sqrt(1/20 + 1/50), and what the last digit hides: 0.0106 + 0.0001 for sd = 0.01. */
static void numbers_agree_within_four_deviations(void **state) {
    (void)state;
    static const struct {
        p004_cell cell;
        const char *verdict;
    } rows[] = {
        {{NAN, 0.1, 0.01, 0.1106, 1, 4}, "agrees"},  {{NAN, 0.1, 0.01, 0.1108, 1, 4}, "DIFFERS"},
        {{NAN, 0.1, 0.01, 0.0894, 1, 4}, "agrees"},  {{NAN, 0.1, 0.01, 0.0892, 1, 4}, "DIFFERS"},
        {{NAN, 0.1, 0, 0.1106, 0.01, 4}, "agrees"},  {{NAN, 0.1, 0, 0.1108, 0.01, 4}, "DIFFERS"},
        {{NAN, 0.1, 0, 0.1002, 0, 4}, "DIFFERS"},    {{NAN, 0.1, 0, 0.10005, 0, 4}, "agrees"},
        {{NAN, NAN, 0.01, 0.5, 1, 4}, "| - |\n"},    {{0.1, NAN, 0.01, 0.1, 1, 4}, "| - |\n"},
        {{0.5, 0.1, 0.01, 0.1, 1, 4}, "agrees"},     {{0.1, 0.5, 0.01, 0.1, 1, 4}, "DIFFERS"},
        {{NAN, 0.1, 0.01, NAN, 0.01, 4}, "DIFFERS"},
    };
    unsigned kept = 0, broken = 0;
    lab_options o = {.seeds = 20, .format = LAB_MD};
    for (size_t i = 0; i < SUITE_COUNT(rows); i++) {
        lab_table *const t = p004_cells_new("what");
        suite_at("row %zu", i);
        p004_cell_row(&o, t, "it", &rows[i].cell);
        HOLDS(strstr(printed(t, &o), rows[i].verdict) != NULL);
        kept += *rows[i].verdict == 'a';
        broken += *rows[i].verdict == 'D';
        HOLDS(o.kept == kept && o.broken == broken);
    }
}

static void checks_keep_to_their_limit(void **state) {
    (void)state;
    static const struct {
        lab_check check;
        bool kept;
    } rows[] = {{{2, 2.5, 0.1, 0.5, 2}, true},
                {{2, 1.5, NAN, 0.5, 2}, true},
                {{2, 2.501, 0.1, 0.5, 2}, false},
                {{2, 1.499, 0.1, 0.5, 2}, false},
                {{2, NAN, 0.1, 0.5, 2}, false}};
    for (size_t i = 0; i < SUITE_COUNT(rows); i++) {
        lab_options o = {.format = LAB_TEXT};
        lab_table *const t = lab_checks_new("what", "published");
        suite_at("row %zu", i);
        lab_check_row(&o, t, "it", rows[i].check);
        HOLDS(o.kept == rows[i].kept && o.broken == !rows[i].kept);
        HOLDS(strstr(printed(t, &o), rows[i].kept ? "agrees" : "DIFFERS") != NULL);
    }
}

static void tables_print_in_three_formats(void **state) {
    (void)state;
    static const char *const texts[] = {
        "key   count\nx         7\nlong     12\n\n", "key,count\nx,7\nlong,12\n",
        "| key | count |\n| --- | ---: |\n| x | 7 |\n| long | 12 |\n\n"};
    static const lab_format formats[] = {LAB_TEXT, LAB_CSV, LAB_MD};
    for (size_t i = 0; i < SUITE_COUNT(formats); i++) {
        const lab_options o = {.format = formats[i]};
        lab_table *const t = lab_table_new("key|count");
        lab_table_row(t, "%s|%d", "x", 7);
        lab_table_row(t, "%s|%d", "long", 12);
        assert_string_equal(printed(t, &o), texts[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_numbers_are_even),
        cmocka_unit_test(different_ids_have_different_hashes),
        cmocka_unit_test(every_job_runs_once),
        cmocka_unit_test(copies_are_of_all_keys_alike),
        cmocka_unit_test(uniform_draws_are_even),
        cmocka_unit_test(a_share_of_the_records_is_new),
        cmocka_unit_test(repeats_are_at_the_depths_drawn),
        cmocka_unit_test(gaps_have_their_density),
        cmocka_unit_test(lists_come_as_they_are),
        cmocka_unit_test(truth_knows_what_came),
        cmocka_unit_test(rates_are_shares_of_what_they_say),
        cmocka_unit_test(runs_compare_with_the_truth),
        cmocka_unit_test(zipf_draws_have_their_chances),
        cmocka_unit_test(zipf_counts_follow_the_formula),
        cmocka_unit_test(every_order_has_the_same_keys),
        cmocka_unit_test(mixed_keys_come_at_any_time),
        cmocka_unit_test(errors_are_measured_as_they_are),
        cmocka_unit_test(means_and_deviations),
        cmocka_unit_test(numbers_agree_within_four_deviations),
        cmocka_unit_test(checks_keep_to_their_limit),
        cmocka_unit_test(tables_print_in_three_formats),
    };
    return cmocka_run_group_tests_name("lab", tests, NULL, NULL);
}
