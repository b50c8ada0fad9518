/* test_ends.c - whatever eb_save writes, eb_load takes: also at the ends of all ranges, where
 * counters of keys and clocks must stay at their largest value and not begin again at 0. */
#include "suite.h"

/* Saved, loaded and saved again it is the same; loaded in a view, too. */
static void lives_on(const eb_filter *f) {
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    eb_filter *g = NULL, *view = NULL;
    eb_error err;
    if (eb_load(&g, bytes, len, NULL, NULL, &err) != EB_OK) suite_at("%s", err.text);
    HOLDS(g != NULL);
    OK(eb_view(&view, bytes, len, 0, NULL, NULL));
    HOLDS(suite_equal(f, g) && suite_equal(f, view));
    eb_free(view);
    eb_free(g);
    free(bytes);
}

static void add_some(eb_filter *f, uint64_t seed, uint64_t time) {
    enum { N = 150 };
    suite_stream s = suite_make_stream(f, N, 100, seed);
    for (size_t i = 0; i < N; i++) s.time[i] = time;
    eb_batch all = suite_part(&s, 0, N);
    OK(eb_add_batch(f, &all, NULL));
    all.time = NULL; /* a tick for each */
    OK(eb_add_batch(f, &all, NULL));
    suite_free_stream(&s);
}

static void items_end(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, 300, 1);
    const bool uses_time = (suite_caps(c) & EB_USES_TIME) != 0;
    for (uint64_t shard = 0; shard < eb_shards(f); shard++) {
        ebi_block_head *const head = ebi_head(ebi_shard(f, shard));
        head->items = UINT64_MAX - 10;
        if (ebi_counts_new(c->kind) && !suite_limited(f)) head->new_keys = UINT64_MAX - 10;
        if (!uses_time) head->clock = head->items;
    }
    lives_on(f);
    add_some(f, 2, uses_time ? ebi_head(f->block)->clock + 1000 : 0);
    eb_stats stats = {.size = sizeof stats};
    OK(eb_stat(f, EB_STAT_CELLS, &stats, NULL));
    HOLDS(stats.adds == UINT64_MAX);
    HOLDS(stats.new_keys >= UINT64_MAX - 10 || suite_limited(f));
    lives_on(f);
    eb_free(f);
}

static void keys_are_counted_to_the_end(void **state) {
    (void)state;
    suite_each_near(items_end);
}

static void clock_ends(const suite_case *c) {
    if (!(suite_caps(c) & EB_USES_TIME)) return;
    static const uint64_t late[] = {UINT64_MAX / 2, UINT64_MAX - 100, UINT64_MAX};
    eb_filter *const f = suite_filled(c->spec, 300, 1);
    for (size_t i = 0; i < SUITE_COUNT(late); i++) {
        add_some(f, 2 + i, late[i]);
        lives_on(f);
        OK(eb_advance(f, ebi_plus(late[i], 200), NULL));
        lives_on(f);
    }
    eb_stats stats = {.size = sizeof stats};
    OK(eb_stat(f, EB_STAT_CELLS, &stats, NULL));
    HOLDS(stats.clock == UINT64_MAX);
    add_some(f, 9, UINT64_MAX);
    lives_on(f);
    eb_free(f);
}

static void clocks_run_to_the_end(void **state) {
    (void)state;
    suite_each_near(clock_ends);
}

/* Two peers that merge each other again and again: what they count doubles. */
static void doubles(const suite_case *c) {
    if (!(suite_caps(c) & EB_CAN_MERGE)) return;
    eb_filter *const f = suite_filled(c->spec, 300, 1), *const g = suite_filled(c->spec, 300, 2);
    for (int i = 0; i < 110; i++) {
        const eb_status status = eb_merge(i % 2 ? f : g, i % 2 ? g : f, 1, NULL);
        HOLDS(status == EB_OK || (status == EB_EFULL && suite_limited(f)));
        if (i % 8 == 5 || i > 90) lives_on(i % 2 ? f : g);
    }
    if (!suite_limited(f))
        add_some(f, 3, suite_caps(c) & EB_USES_TIME ? ebi_head(f->block)->clock + 5 : 0);
    lives_on(f);
    eb_stats stats = {.size = sizeof stats};
    OK(eb_stat(f, EB_STAT_CELLS, &stats, NULL));
    HOLDS(stats.adds == UINT64_MAX || suite_limited(f));
    eb_free(f);
    eb_free(g);
}

static void peers_may_merge_for_ever(void **state) {
    (void)state;
    suite_each_near(doubles);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_counted_to_the_end),
        cmocka_unit_test(clocks_run_to_the_end),
        cmocka_unit_test(peers_may_merge_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
