/* test_bloom.c - Bloom filters that are full, that grow, and with one cache line a key: rates that
 * were promised, measured; docs/decisions/growth.md has the figures of more of them. */
#include "suite.h"
#include <math.h>

static eb_hash key_of(uint64_t seed, uint64_t i) {
    return ebi_mix(ebi_mix(seed) + i);
}

/* Adds keys from..to-1 of a seed; their number that was new. */
static uint64_t add_keys(eb_filter *f, uint64_t seed, uint64_t from, uint64_t to) {
    enum { N = 1000 };
    eb_hash h[N];
    uint8_t seen[N];
    uint64_t fresh = 0;
    for (uint64_t i = from; i < to; i += N) {
        const size_t n = (size_t)ebi_min(N, to - i);
        for (size_t j = 0; j < n; j++) h[j] = key_of(seed, i + j);
        eb_batch b = eb_batch_hashes(h, n);
        b.seen = seen;
        OK(eb_add_batch(f, &b, NULL));
        for (size_t j = 0; j < n; j++) fresh += !seen[j];
    }
    return fresh;
}

/* How many of n keys that were never added are seen. */
static uint64_t false_positives(const eb_filter *f, uint64_t seed, uint64_t n) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        const eb_hash h = key_of(seed + 1000000, i);
        uint8_t seen;
        calls_test(f, &h, 1, &seen);
        sum += seen;
    }
    return sum;
}

static double bytes_of(const char *spec) {
    ebi_params p;
    HOLDS(suite_parse(spec, &p));
    return (double)p.span;
}

/* Full */

static void a_full_filter_names_the_key(void **state) {
    (void)state;
    eb_filter *const f = suite_new("bloom:limit=100,fpr=1e-6");
    HOLDS(add_keys(f, 1, 0, 90) == 90);
    eb_hash h[40];
    uint8_t seen[40];
    memset(seen, 7, sizeof seen);
    for (uint64_t i = 0; i < 40; i++) h[i] = key_of(1, i % 2 ? i : 90 + i / 2); /* half are known */
    eb_batch b = eb_batch_hashes(h, 40);
    b.seen = seen;
    eb_error err;
    GIVES(EB_EFULL, eb_add_batch(f, &b, &err));
    HOLDS(err.at == 20 && strstr(err.text, "key 20"));
    for (size_t i = 0; i < 20; i++) HOLDS(seen[i] == i % 2); /* those before it were added */
    eb_stats s = {.size = sizeof s};
    calls_stat(f, &s);
    HOLDS(s.new_keys == 100 && s.capacity == 100 && s.adds == 110 && s.parts == 1);
    uint8_t again;
    const eb_batch one = {.size = sizeof one, .n = 1, .hash = h + 1, .seen = &again};
    OK(eb_add_batch(f, &one, NULL)); /* a key that is there is no new one */
    bool found;
    GIVES(EB_EFULL, eb_add(f, "a new key", 9, &found, &err));
    HOLDS(err.at == 0);
    OK(eb_clear(f, NULL));
    HOLDS(add_keys(f, 2, 0, 100) == 100);
    eb_free(f);
}

/* Growing */

/* To `times` its first limit: all keys are there, few others are, and new_keys says how many. */
static void grow_to(const char *spec, uint64_t limit, double fpr, uint64_t times, uint64_t asked) {
    suite_at("%s to %llu times", spec, (unsigned long long)times);
    eb_filter *const f = suite_new(spec);
    const uint64_t n = limit * times, fresh = add_keys(f, 1, 0, n);
    eb_stats s = {.size = sizeof s};
    calls_stat(f, &s);
    HOLDS(s.new_keys == fresh && s.capacity >= fresh && s.parts > 1);
    HOLDS(add_keys(f, 1, 0, n) == 0);
    const double wrong = (double)false_positives(f, 1, asked) / (double)asked;
    const double error = 4 * sqrt(fpr / (double)asked);
    HOLDS(wrong <= fpr + error && s.fpr <= fpr);
    NEAR(wrong, s.fpr, 4 * sqrt(s.fpr / (double)asked) + 1e-9);
    /* Keys that were taken for others while it grew: fewer than the promise, too. */
    HOLDS((double)(n - fresh) <= fpr * (double)n + 4 * sqrt(fpr * (double)n));
    eb_workload w = {.size = sizeof w, .items = (double)n};
    eb_prediction p = {.size = sizeof p};
    OK(eb_predict(spec, &w, NULL, 1, &p, NULL));
    NEAR(p.fpr, s.fpr, 0.2 * s.fpr);
    eb_free(f);
}

/* Few keys need fewer cells than there must be: then it is a few more, and not k too few. */
static void the_least_filters_grow(void **state) {
    (void)state;
    static const char *const rates[] = {"0.5", "0.3", "0.1", "0.01"};
    for (size_t i = 0; i < SUITE_COUNT(rates); i++) {
        char spec[60];
        (void)snprintf(spec, sizeof spec, "bloom:limit=1,fpr=%s,grow=2", rates[i]);
        eb_filter *const f = suite_new(spec);
        suite_at("%s", eb_spec(f));
        HOLDS(f->p.opt[EBI_O_CELLS] >= 64 && f->p.opt[EBI_O_CELLS] < 80);
        eb_free(f);
    }
}

static void growing_keeps_the_rate(void **state) {
    (void)state;
    grow_to("bloom:limit=1000,fpr=0.01,grow=2", 1000, 0.01, 100, 100000);
    grow_to("bloom:limit=1000,fpr=0.001,grow=4", 1000, 0.001, 100, 100000);
    grow_to("bloom:limit=2000,fpr=0.01,grow=1", 2000, 0.01, 50, 50000);
    grow_to("bloom:distinct=64,fpr=0.05,grow=2", 64, 0.05, 100, 50000);
    grow_to("bloom:limit=1000,fpr=0.01,grow=2,layout=line", 1000, 0.01, 100, 100000);
    grow_to("bloom:limit=1000,fpr=0.001,grow=4,layout=line", 1000, 0.001, 100, 100000);
    grow_to("bloom:limit=2000,fpr=0.01,grow=1,layout=line", 2000, 0.01, 50, 50000);
}

/* Random limits, rates and factors: the mean of the rates beside the mean of the promises. */
static void random_limits_keep_the_rate(void **state) {
    (void)state;
    SUITE_LONG();
    const char *const more = getenv("EVERBLOOM_OPERATIONS");
    const int filters = more ? 10000 : 200;
    uint64_t random = 11;
    double promised = 0, measured = 0;
    for (int i = 0; i < filters; i++) {
        char spec[200];
        const uint64_t limit = 1 + suite_below(&random, 60), grow = 1 + suite_below(&random, 4);
        const double fpr = exp(log(0.001) + (double)suite_below(&random, 1000) / 1000 * log(100));
        (void)snprintf(spec, sizeof spec, "bloom:limit=%llu,grow=%llu,fpr=%.6f,seed=%d%s",
                       (unsigned long long)limit, (unsigned long long)grow, fpr, i,
                       i % 2 ? ",layout=line" : "");
        suite_at("%s", spec);
        eb_filter *const f = suite_new(spec);
        (void)add_keys(f, (uint64_t)i, 0, limit * (1 + suite_below(&random, 40)));
        eb_stats s = {.size = sizeof s};
        calls_stat(f, &s);
        promised += fpr;
        measured += s.fpr;
        HOLDS(s.fpr < 3 * fpr); /* few keys: single filters differ */
        eb_free(f);
    }
    HOLDS(measured < promised);
}

static void is_one_filter(const char *spec) {
    eb_filter *const f = suite_new(spec), *copy, *loaded;
    suite_at("%s", spec);
    (void)add_keys(f, 3, 0, 3000);
    OK(eb_clone(&copy, f, NULL, NULL));
    HOLDS(suite_equal(f, copy));
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    OK(eb_load(&loaded, bytes, len, NULL, NULL, NULL));
    for (uint64_t i = 3000; i < 9000; i += 700) { /* all three go on alike */
        (void)add_keys(f, 3, i, i + 700);
        (void)add_keys(copy, 3, i, i + 350);
        (void)add_keys(copy, 3, i + 350, i + 700);
        (void)add_keys(loaded, 3, i, i + 700);
        HOLDS(suite_equal(f, copy) && suite_equal(f, loaded));
    }
    OK(eb_clear(copy, NULL)); /* memory stays, parts go */
    eb_filter *const anew = suite_new(spec);
    HOLDS(suite_equal(copy, anew));
    (void)add_keys(copy, 3, 0, 3000);
    (void)add_keys(anew, 3, 0, 3000);
    HOLDS(suite_equal(copy, anew));
    free(bytes);
    eb_free(f);
    eb_free(copy);
    eb_free(loaded);
    eb_free(anew);
}

static void growth_is_one_filter(void **state) {
    (void)state;
    is_one_filter("bloom:limit=50,fpr=0.01,grow=2");
    is_one_filter("bloom:limit=50,fpr=0.01,grow=2,layout=line");
}

/* Keys one by one meet limits and growth where a batch meets them. */
static void single_keys_grow_as_batches_do(void **state) {
    (void)state;
    static const char *const specs[] = {
        "bloom:limit=50,fpr=0.01,grow=2", "bloom:limit=50,fpr=0.01,grow=2,layout=line",
        "bloom:limit=700,fpr=0.01", "bloom:limit=700,fpr=0.01,layout=line"};
    enum { KEYS = 900 };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        eb_filter *const one = suite_new(specs[i]), *const all = suite_new(specs[i]);
        char text[KEYS][8];
        eb_key key[KEYS];
        uint8_t seen[KEYS];
        for (size_t k = 0; k < KEYS; k++)
            key[k] =
                (eb_key){text[k], (size_t)snprintf(text[k], sizeof *text, "%zu", k * 31 % 823)};
        const eb_keys keys = eb_keys_array(EB_STRING, key);
        eb_batch b = eb_batch_make(NULL, &keys, KEYS);
        b.seen = seen;
        const eb_status status = eb_add_batch(all, &b, NULL);
        eb_status last = EB_OK;
        size_t k = 0;
        for (bool found; k < KEYS; k++) {
            last = eb_add(one, key[k].p, key[k].len, &found, NULL);
            if (last != EB_OK) break;
            HOLDS(found == (seen[k] != 0));
        }
        HOLDS(last == status && suite_equal(one, all));
        eb_free(one);
        eb_free(all);
    }
}

static void growth_without_memory_is_full(void **state) {
    (void)state;
    suite_memory m;
    suite_memory_init(&m, 3, 0xa5); /* the handle, the block, then no more */
    eb_filter *f;
    OK(eb_new(&f, "bloom:limit=50,fpr=1e-6,grow=2", &m.allocator, NULL));
    HOLDS(add_keys(f, 3, 0, 50) == 50);
    uint8_t *const before = suite_bytes(f, NULL);
    eb_error err;
    GIVES(EB_EFULL, eb_add(f, "one more", 8, NULL, &err));
    HOLDS(err.at == 0 && strstr(err.text, "memory"));
    uint8_t *const after = suite_bytes(f, NULL);
    HOLDS(memcmp(before, after, eb_save_size(f)) == 0);
    OK(eb_add(f, "one more", 8, NULL, NULL)); /* now there is */
    free(before);
    free(after);
    eb_free(f);
    HOLDS(m.blocks == 0);
}

static void merges_where_it_may(const char *spec) {
    suite_at("%s", spec);
    eb_filter *const f = suite_new(spec), *const g = suite_new(spec), *const h = suite_new(spec);
    (void)add_keys(f, 1, 0, 5000);
    (void)add_keys(g, 1, 0, 800);  /* the same keys, fewer parts */
    (void)add_keys(h, 2, 0, 5000); /* others: each part would be twice full */
    uint8_t *const before = suite_bytes(g, NULL);
    GIVES(EB_EFULL, eb_merge(f, h, 1, NULL));
    OK(eb_merge(g, f, 1, NULL));
    eb_stats s = {.size = sizeof s};
    calls_stat(g, &s);
    HOLDS(s.parts == 3 && s.fpr <= 0.01 && add_keys(g, 1, 0, 5000) == 0);
    OK(eb_merge(f, g, 1, NULL));
    HOLDS(add_keys(f, 1, 0, 5000) == 0);
    free(before);
    eb_filter *const other = suite_new("bloom:limit=1000,fpr=0.01,grow=3");
    GIVES(EB_EMISMATCH, eb_merge(f, other, 1, NULL));
    eb_free(other);
    eb_free(f);
    eb_free(g);
    eb_free(h);
}

static void growing_filters_merge_where_they_may(void **state) {
    (void)state;
    merges_where_it_may("bloom:limit=1000,fpr=0.01,grow=2");
    merges_where_it_may("bloom:limit=1000,fpr=0.01,grow=2,layout=line");
}

/* Peers that exchange their filters again and again hold the same keys, and stay as large as these
 * need; what is new to one of them counts as often as it is new. */
static void merging_the_same_keys_adds_none(void **state) {
    (void)state;
    static const char *const specs[] = {"bloom:limit=2000,fpr=0.01,grow=2",
                                        "bloom:limit=2000,fpr=0.01,grow=2,layout=line",
                                        "bloom:limit=9000,fpr=0.01"};
    for (size_t i = 0; i < SUITE_COUNT(specs); i++) {
        eb_filter *const f = suite_new(specs[i]), *const g = suite_new(specs[i]);
        eb_stats s = {.size = sizeof s}, before;
        suite_at("%s", specs[i]);
        (void)add_keys(f, 1, 0, 3000);
        OK(eb_merge(g, f, 1, NULL));
        before = s;
        calls_stat(f, &before);
        calls_stat(g, &s);
        HOLDS(s.new_keys == before.new_keys); /* into an empty filter: exactly */
        for (int round = 0; round < 20; round++) {
            OK(eb_merge(f, f, 1, NULL));
            OK(eb_merge(f, g, 1, NULL));
            OK(eb_merge(g, f, 1, NULL));
        }
        calls_stat(f, &s);
        HOLDS(s.new_keys == before.new_keys && s.parts == before.parts);
        (void)add_keys(g, 1, 3000, 4500); /* a third of its keys are new to f */
        calls_stat(g, &before);
        OK(eb_merge(f, g, 1, NULL));
        calls_stat(f, &s);
        HOLDS(fabs((double)s.new_keys - (double)before.new_keys) <= 0.05 * 4500);
        eb_free(f);
        eb_free(g);
    }
}

/* Few keys in much memory: the k that is chosen is one that may be given, or the filter could not
 * be loaded again. */
static void chosen_bits_leave_room_for_growth(void **state) {
    (void)state;
    static const char *const specs[] = {
        "bloom:distinct=20,memory=1M,grow=2", "bloom:distinct=20,memory=1M,grow=2,layout=line",
        "bloom:limit=20,cells=512000,grow=1,layout=line", "bloom:distinct=20,memory=1M",
        "bloom:limit=20,fpr=1e-9,grow=1,layout=line"};
    for (size_t i = 0; i < SUITE_COUNT(specs); i++) {
        eb_filter *const f = suite_new(specs[i]);
        ebi_params p;
        suite_at("%s: %s", specs[i], eb_spec(f));
        HOLDS(suite_parse(eb_spec(f), &p));
        eb_free(f);
    }
}

/* One line a key */

static void lines_keep_the_rate(void **state) {
    (void)state;
    static const double rates[] = {0.05, 0.01, 0.001};
    for (size_t i = 0; i < SUITE_COUNT(rates); i++) {
        enum { KEYS = 100000, ASKED = 300000 };
        char spec[200], plain[200];
        (void)snprintf(spec, sizeof spec, "bloom:layout=line,distinct=%d,fpr=%g", KEYS, rates[i]);
        (void)snprintf(plain, sizeof plain, "bloom:distinct=%d,fpr=%g", KEYS, rates[i]);
        suite_at("%s", spec);
        eb_filter *const f = suite_new(spec);
        (void)add_keys(f, 5, 0, KEYS);
        const double wrong = (double)false_positives(f, 5, ASKED) / ASKED;
        const double error = 4 * sqrt(rates[i] / ASKED);
        eb_stats s = {.size = sizeof s};
        calls_stat(f, &s);
        eb_workload w = {.size = sizeof w, .items = KEYS};
        eb_prediction p = {.size = sizeof p};
        OK(eb_predict(spec, &w, NULL, 1, &p, NULL));
        NEAR(wrong, p.fpr, error + 0.03 * rates[i]);
        NEAR(wrong, s.fpr, error);
        HOLDS(wrong <= rates[i] + error);
        HOLDS(bytes_of(spec) < 1.5 * bytes_of(plain)); /* the price of one line a key */
        eb_free(f);
    }
}

/* No k takes less memory than the one that is chosen. */
static void lines_have_the_best_k(void **state) {
    (void)state;
    static const double rates[] = {0.5, 0.1, 0.01, 1e-4, 1e-6, 1e-9};
    for (size_t i = 0; i < SUITE_COUNT(rates); i++) {
        char spec[100], other[200];
        (void)snprintf(spec, sizeof spec, "bloom:layout=line,distinct=1e6,fpr=%g", rates[i]);
        for (int k = 1; k <= 32; k++) {
            (void)snprintf(other, sizeof other, "%s,k=%d", spec, k);
            suite_at("%s", other);
            HOLDS(bytes_of(spec) <= bytes_of(other));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_filter_names_the_key),
        cmocka_unit_test(the_least_filters_grow),
        cmocka_unit_test(growing_keeps_the_rate),
        cmocka_unit_test(random_limits_keep_the_rate),
        cmocka_unit_test(growth_is_one_filter),
        cmocka_unit_test(single_keys_grow_as_batches_do),
        cmocka_unit_test(growth_without_memory_is_full),
        cmocka_unit_test(growing_filters_merge_where_they_may),
        cmocka_unit_test(merging_the_same_keys_adds_none),
        cmocka_unit_test(chosen_bits_leave_room_for_growth),
        cmocka_unit_test(lines_keep_the_rate),
        cmocka_unit_test(lines_have_the_best_k),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
