/* test_clocks.c - time is one for all shards: what a filter says depends on the moment asked about,
 * not on which shard a key is in or when that shard was last added to. */
#include "suite.h"
#include <math.h>

static eb_hash key_of(uint64_t i) {
    return ebi_mix(i + 77);
}

static double count_at(const eb_filter *f, eb_hash h, const uint64_t *time) {
    double count = -1;
    eb_batch b = A_BATCH(1, &h, NULL, time);
    b.count = &count;
    OK(eb_ask_batch(f, &b, NULL));
    return count;
}

static bool seen_at(const eb_filter *f, eb_hash h, const uint64_t *time) {
    uint8_t seen = 2;
    OK(calls_ask(f, &A_BATCH(1, &h, NULL, time), &seen));
    return seen;
}

/* Two keys of different shards of two. */
static void two_keys(const eb_filter *f, eb_hash *a, eb_hash *b) {
    uint64_t i = 1;
    *a = key_of(0);
    while (eb_shard_of(f, key_of(i)) == eb_shard_of(f, *a)) i++;
    *b = key_of(i);
}

static void counts_fade_while_other_shards_work(void **state) {
    (void)state;
    eb_filter *const f =
        suite_new("decay:memory=64K,mode=basic,factor=0.5,period=10,fraction=12,shards=2");
    const uint64_t early = 100, late = 150, later = 160;
    eb_hash a, b;
    two_keys(f, &a, &b);
    OK(eb_add_batch(f, &A_BATCH(1, &a, NULL, &early), NULL));
    NEAR(count_at(f, a, NULL), 1, 0.01);
    OK(eb_add_batch(f, &A_BATCH(1, &b, NULL, &late), NULL));
    NEAR(count_at(f, a, NULL), exp2(-5), 0.004);
    NEAR(count_at(f, b, NULL), 1, 0.01);
    NEAR(count_at(f, a, &later), exp2(-6), 0.004);
    NEAR(count_at(f, b, &later), 0.5, 0.01);
    NEAR(count_at(f, b, NULL), 1, 0.01); /* asking changes nothing */
    eb_free(f);
}

/* Shards against one filter with the same keys and times, asked at the clock and later. */
static void like_one_clock(const char *options, bool counts) {
    enum { N = 600, KEYS = 200 };
    char spec[200];
    snprintf(spec, sizeof spec, "%s,shards=1", options);
    eb_filter *const one = suite_new(spec);
    snprintf(spec, sizeof spec, "%s,shards=4", options);
    eb_filter *const four = suite_new(spec);
    uint64_t random = 5, time = 1000;
    suite_at("%s", spec);
    for (size_t i = 0; i < N; i++) {
        const eb_hash h = key_of(suite_below(&random, KEYS));
        time += suite_below(&random, 20);
        OK(eb_add_batch(one, &A_BATCH(1, &h, NULL, &time), NULL));
        OK(eb_add_batch(four, &A_BATCH(1, &h, NULL, &time), NULL));
    }
    for (uint64_t ahead = 0; ahead < 2000; ahead += 100) {
        const uint64_t then = time + ahead, *const at = ahead == 0 ? NULL : &then;
        for (uint64_t i = 0; i < KEYS + 100; i++) {
            if (counts) NEAR(count_at(four, key_of(i), at), count_at(one, key_of(i), at), 0.02);
            if (!counts) HOLDS(seen_at(four, key_of(i), at) == seen_at(one, key_of(i), at));
        }
    }
    eb_free(one);
    eb_free(four);
}

static void shards_answer_like_one_clock(void **state) {
    (void)state;
    SUITE_LONG();
    like_one_clock("decay:memory=1M,halflife=300", true);
    like_one_clock("aging:memory=1M,epochs=5,period=100", true);
    like_one_clock("window:memory=1M,window=1000,unit=time,fpr=1e-8", false);
    like_one_clock("window:memory=1M,window=1000,unit=time,mode=rotate", false);
}

/* A question about later is one to a copy to which time has passed. */
static void asking_looks_ahead(const suite_case *c) {
    enum { N = 500 };
    if (!(suite_caps(c) & EB_USES_TIME)) return;
    static double count[2][N];
    static uint8_t seen[2][N];
    eb_filter *const f = suite_filled(c->spec, N, 9), *passed = NULL;
    suite_stream s = suite_make_stream(f, N, 2 * N, 9);
    eb_stats stats = {.size = sizeof stats};
    calls_stat(f, &stats);
    uint64_t ahead = 1;
    for (int i = 0; i < 12; i++, ahead *= 5) {
        const uint64_t then = stats.clock + ahead;
        eb_batch b = A_BATCH(N, s.hash, NULL, &then);
        b.flags = EB_SAME_TIME;
        b.seen = seen[0];
        if (suite_caps(c) & EB_CAN_COUNT) b.count = count[0];
        OK(eb_ask_batch(f, &b, NULL));
        OK(eb_clone(&passed, f, NULL, NULL));
        OK(eb_advance(passed, then, NULL));
        b.seen = seen[1];
        if (b.count) b.count = count[1];
        b.time = NULL;
        b.flags = 0;
        OK(eb_ask_batch(passed, &b, NULL));
        HOLDS(memcmp(seen[0], seen[1], sizeof seen[0]) == 0);
        HOLDS(!b.count || memcmp(count[0], count[1], sizeof count[0]) == 0);
        eb_free(passed);
    }
    const uint64_t before = stats.clock;
    GIVES(EB_OK, eb_ask_batch(f, &A_BATCH(1, s.hash, NULL, &before), NULL));
    suite_free_stream(&s);
    eb_free(f);
}

static void asking_looks_ahead_everywhere(void **state) {
    (void)state;
    suite_each_near(asking_looks_ahead);
}

static void early_times_are_named_or_clamped(void **state) {
    (void)state;
    eb_filter *const f = suite_new("decay:memory=64K,halflife=10");
    const eb_hash h[4] = {key_of(1), key_of(2), key_of(3), key_of(4)};
    const uint64_t times[4] = {50, 60, 55, 70}, same = 40;
    eb_error err;
    eb_batch b = A_BATCH(4, h, NULL, times);
    GIVES(EB_ETIME, eb_add_batch(f, &b, &err));
    HOLDS(err.at == 2 && err.status == EB_ETIME);
    b.flags = EB_CLAMP_TIMES;
    OK(eb_add_batch(f, &b, &err));
    NEAR(count_at(f, h[2], NULL), 0.5, 0.01); /* it came at 60 */
    b.flags = EB_SAME_TIME;
    b.time = &same;
    GIVES(EB_ETIME, eb_add_batch(f, &b, &err));
    HOLDS(err.at == 0);
    GIVES(EB_ETIME, eb_ask_batch(f, &b, &err));
    b.flags = EB_SAME_TIME | EB_CLAMP_TIMES;
    OK(eb_add_batch(f, &b, &err));
    NEAR(count_at(f, h[3], NULL), 2, 0.01);
    eb_free(f);
}

/* Each thread gives the same batch and its own range. */
static void ranges_of_shards_make_the_whole(const suite_case *c) {
    enum { N = 3000 };
    eb_filter *const whole = suite_new(c->spec), *const parts = suite_new(c->spec);
    suite_stream s = suite_make_stream(whole, N, N / 2, 21);
    static uint8_t want[N], got[N];
    eb_batch all = suite_part(&s, 0, N);
    all.seen = want;
    OK(eb_add_batch(whole, &all, NULL));
    memset(got, 7, sizeof got);
    all.seen = got;
    all.flags = EB_SHARD_RANGE;
    const uint32_t shards = eb_shards(parts);
    for (uint32_t i = 0; i < shards; i++) {
        all.first_shard = shards - 1 - i;
        all.n_shards = 1;
        OK(eb_add_batch(parts, &all, NULL));
    }
    HOLDS(memcmp(want, got, sizeof got) == 0 && suite_equal(whole, parts));
    all.n_shards = 0;
    OK(eb_add_batch(parts, &all, NULL));
    HOLDS(suite_equal(whole, parts));
    all.first_shard = shards;
    all.n_shards = 1;
    GIVES(EB_EINVAL, eb_add_batch(parts, &all, NULL));
    suite_free_stream(&s);
    eb_free(whole);
    eb_free(parts);
}

static void ranges_of_shards(void **state) {
    (void)state;
    suite_each_near(ranges_of_shards_make_the_whole);
}

static void one_value_serves_all(void **state) {
    (void)state;
    eb_filter *const a = suite_new("spectral:cells=1000"), *const b =
                                                               suite_new("spectral:cells=1000");
    const eb_hash h[3] = {key_of(1), key_of(2), key_of(3)};
    const uint64_t three[3] = {3, 3, 3};
    eb_batch all = A_BATCH(3, h, three, NULL);
    OK(eb_add_batch(a, &all, NULL));
    all.flags = EB_SAME_VALUE;
    OK(eb_add_batch(b, &all, NULL));
    HOLDS(suite_equal(a, b));
    all.flags = 64;
    GIVES(EB_EINVAL, eb_add_batch(b, &all, NULL));
    eb_free(a);
    eb_free(b);
}

/* What is saved is loaded, also at the ends of all ranges. */
static void ends_of_time_are_saved(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, 50, 3);
    suite_stream s = suite_make_stream(f, 3, 3, 4);
    const bool timed = suite_caps(c) & EB_USES_TIME;
    if (timed) OK(eb_advance(f, UINT64_MAX - 1, NULL));
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        ebi_block_head *const head = ebi_head(ebi_shard(f, i));
        head->items = UINT64_MAX - 2;
        if (!timed) head->clock = head->items;
    }
    for (int round = 0; round < 3; round++) {
        eb_filter *loaded = NULL;
        eb_batch b = suite_part(&s, 0, s.n);
        b.time = NULL;
        OK(eb_add_batch(f, &b, NULL));
        size_t len;
        uint8_t *const bytes = suite_bytes(f, &len);
        OK(eb_load(&loaded, bytes, len, NULL, NULL, NULL));
        HOLDS(suite_equal(f, loaded));
        if (suite_caps(c) & EB_CAN_MERGE) OK(eb_merge(f, loaded, 1, NULL));
        free(bytes);
        eb_free(loaded);
    }
    eb_stats stats = {.size = sizeof stats};
    calls_stat(f, &stats);
    HOLDS(stats.adds == UINT64_MAX);
    suite_free_stream(&s);
    eb_free(f);
}

static void ends_of_ranges_are_saved(void **state) {
    (void)state;
    suite_each_base(ends_of_time_are_saved);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_fade_while_other_shards_work),
        cmocka_unit_test(shards_answer_like_one_clock),
        cmocka_unit_test(asking_looks_ahead_everywhere),
        cmocka_unit_test(early_times_are_named_or_clamped),
        cmocka_unit_test(ranges_of_shards),
        cmocka_unit_test(one_value_serves_all),
        cmocka_unit_test(ends_of_ranges_are_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
