/* test_streams.c - threads, values, times and removals, for every kind as far as
 * its caps say that it knows them. */
#include "suite.h"
#include <pthread.h>

enum { STREAM = 3000, UNIVERSE = 2000 };

/* Threads: each owns some shards and feeds their keys in batches of its own. */

typedef struct worker {
    eb_filter *f;
    const suite_stream *s;
    uint8_t *seen;
    unsigned number, of;
    eb_status status;
} worker;

static void *work(void *context) {
    worker *const w = context;
    uint64_t random = w->number + 1;
    size_t index[200], n = 0, want = 1;
    for (size_t i = 0; i <= w->s->n; i++) {
        if (i < w->s->n && eb_shard_of(w->f, w->s->hash[i]) % w->of == w->number) index[n++] = i;
        if (n < want && i < w->s->n) continue;
        eb_hash hash[200];
        uint64_t value[200];
        uint64_t time[200];
        uint8_t seen[200];
        for (size_t j = 0; j < n; j++) {
            hash[j] = w->s->hash[index[j]];
            value[j] = w->s->value[index[j]];
            time[j] = w->s->time[index[j]];
        }
        const eb_batch batch = A_BATCH(n, hash, value, time);
        if (calls_add(w->f, &batch, seen) != EB_OK) w->status = EB_EINVAL;
        for (size_t j = 0; j < n; j++) w->seen[index[j]] = seen[j];
        n = 0;
        want = 1 + suite_below(&random, 200);
    }
    return NULL;
}

static eb_filter *with_threads(const char *spec, const suite_stream *s, unsigned threads,
                               uint8_t *seen) {
    eb_filter *const f = suite_new(spec);
    pthread_t id[4];
    worker w[4];
    for (unsigned i = 0; i < threads; i++) {
        w[i] = (worker){f, s, seen, i, threads, EB_OK};
        HOLDS(pthread_create(&id[i], NULL, work, &w[i]) == 0);
    }
    for (unsigned i = 0; i < threads; i++) {
        HOLDS(pthread_join(id[i], NULL) == 0);
        OK(w[i].status);
    }
    return f;
}

static void threads_agree(const suite_case *c) {
    if (!strstr(c->spec, "shards=4")) return;
    eb_filter *const one = suite_new(c->spec);
    suite_stream s = suite_make_stream(one, STREAM, UNIVERSE, 1);
    uint8_t want[STREAM], seen[STREAM];
    HOLDS(eb_shards(one) == 4);
    for (size_t i = 0; i < s.n; i++) {
        const eb_batch single = suite_part(&s, i, i + 1);
        OK(calls_add(one, &single, want + i));
    }
    for (unsigned threads = 1; threads <= 4; threads *= 2) {
        eb_filter *const f = with_threads(c->spec, &s, threads, seen);
        HOLDS(suite_equal(f, one) && memcmp(seen, want, STREAM) == 0);
        eb_free(f);
    }
    suite_free_stream(&s);
    eb_free(one);
}

static void threads_do_not_change_the_bytes(void **state) {
    (void)state;
    suite_each(threads_agree);
}

/* Shards are filled evenly, and inside a shard keys are not confined to a corner:
 * at one time or another most eighths of the block have a byte that is not zero. */
static void shards_are_used(const suite_case *c) {
    if (!strstr(c->spec, "shards=4")) return;
    eb_filter *const f = suite_new(c->spec);
    suite_stream s = suite_make_stream(f, STREAM, UINT64_MAX, 2);
    size_t count[4] = {0}, used[4][8] = {{0}};
    const size_t bytes = f->p.span - sizeof(ebi_block_head);
    for (size_t i = 0; i < s.n; i += 50) {
        const eb_batch part = suite_part(&s, i, i + 50);
        OK(eb_add_batch(f, &part, NULL));
        for (uint64_t shard = 0; shard < 4; shard++)
            for (size_t j = 0; j < bytes; j++)
                used[shard][j * 8 / bytes] += ebi_shard(f, shard)[sizeof(ebi_block_head) + j] != 0;
    }
    for (size_t i = 0; i < s.n; i++) count[eb_shard_of(f, s.hash[i])]++;
    for (uint64_t i = 0; i < 4; i++) {
        HOLDS(ebi_head_of(ebi_shard(f, i))->items == count[i]);
        HOLDS(count[i] > STREAM / 4 - 5 * 24 && count[i] < STREAM / 4 + 5 * 24); /* sd 23.7 */
        int parts = 0;
        for (int j = 0; j < 8; j++) parts += used[i][j] > 0;
        HOLDS(parts >= 4); /* some hold other things; a corner would be two */
    }
    suite_free_stream(&s);
    eb_free(f);
}

static void keys_reach_every_part_of_every_shard(void **state) {
    (void)state;
    suite_each_near(shards_are_used);
}

/* Values */

static void wrong_value(eb_filter *f, const suite_stream *s, uint64_t value) {
    size_t len;
    uint8_t *const before = suite_bytes(f, &len), seen[STREAM] = {0};
    const uint64_t right = s->value[s->n - 1];
    const eb_batch all = suite_part(s, 0, s->n);
    s->value[s->n - 1] = value;
    eb_error err;
    GIVES(EB_EVALUE, calls_add(f, &all, seen));
    GIVES(EB_EVALUE, eb_add_batch(f, &all, &err));
    HOLDS(err.at == s->n - 1);
    s->value[s->n - 1] = right;
    uint8_t *const after = suite_bytes(f, NULL);
    HOLDS(memcmp(before, after, len) == 0);
    free(before);
    free(after);
}

static void value_rules(const suite_case *c) {
    const bool uses = suite_caps(c) & EB_USES_VALUE;
    eb_filter *const f = suite_new(c->spec), *const g = suite_new(c->spec);
    suite_stream s = suite_make_stream(f, 500, 300, 3);
    if (uses && f->p.value_min > 0) wrong_value(f, &s, f->p.value_min - 1);
    if (uses) wrong_value(f, &s, (uint64_t)f->p.value_max + 1);
    if (uses) wrong_value(f, &s, UINT64_MAX);
    const bool one_fits = f->p.value_min <= 1 && 1 <= f->p.value_max;
    eb_batch all = suite_part(&s, 0, s.n), bare = suite_part(&s, 0, s.n);
    bare.value = NULL;
    for (size_t i = 0; uses && i < s.n; i++) s.value[i] = 1;
    GIVES(uses && !one_fits ? EB_EVALUE : EB_OK, eb_add_batch(f, &bare, NULL));
    GIVES(uses && !one_fits ? EB_EVALUE : EB_OK, eb_add_batch(g, &all, NULL));
    HOLDS(suite_equal(f, g)); /* NULL is 1; who does not use values ignores them */
    suite_free_stream(&s);
    eb_free(f);
    eb_free(g);
}

static void values_out_of_range_are_refused(void **state) {
    (void)state;
    suite_each_near(value_rules);
}

/* Times */

static void no_time(const suite_case *c) {
    eb_filter *const f = suite_new(c->spec), *const g = suite_new(c->spec);
    suite_stream s = suite_make_stream(f, 500, 300, 4);
    eb_batch all = suite_part(&s, 0, s.n), bare = suite_part(&s, 0, s.n);
    bare.time = NULL;
    for (size_t i = 0; i < s.n; i++) s.time[i] = s.n - i; /* backwards: nobody looks */
    OK(eb_add_batch(f, &all, NULL));
    OK(eb_add_batch(g, &bare, NULL));
    GIVES(EB_ENOTSUP, eb_advance(f, UINT64_MAX, NULL));
    HOLDS(suite_equal(f, g));
    eb_stats stats = {.size = sizeof stats};
    calls_stat(f, &stats);
    HOLDS(stats.clock == s.n && stats.adds == s.n);
    suite_free_stream(&s);
    eb_free(f);
    eb_free(g);
}

static void some_time(const suite_case *c) {
    eb_filter *const f = suite_new(c->spec), *g, *before;
    suite_stream s = suite_make_stream(f, 500, 300, 5);
    eb_batch all = suite_part(&s, 0, s.n);
    OK(eb_clone(&g, f, NULL, NULL));
    if (eb_shards(f) == 1) { /* NULL: one tick a key */
        eb_batch bare = all;
        bare.time = NULL;
        for (size_t i = 0; i < s.n; i++) s.time[i] = i + 1;
        OK(eb_add_batch(f, &all, NULL));
        OK(eb_add_batch(g, &bare, NULL));
        HOLDS(suite_equal(f, g));
    } else {
        OK(eb_add_batch(f, &all, NULL));
    }
    OK(eb_clone(&before, f, NULL, NULL));
    eb_error err;
    GIVES(EB_ETIME, eb_add_batch(f, &all, &err)); /* before the clock */
    HOLDS(err.at == 0);
    for (size_t i = 0; i < s.n; i++) s.time[i] += 10000;
    s.time[s.n - 1] = s.time[s.n - 2] - 1; /* before its predecessor */
    GIVES(EB_ETIME, eb_add_batch(f, &all, &err));
    HOLDS(err.at == s.n - 1);
    GIVES(EB_ETIME, eb_advance(f, 0, NULL));
    HOLDS(suite_equal(f, before));
    OK(eb_advance(f, 30000, NULL));
    eb_stats stats = {.size = sizeof stats};
    calls_stat(f, &stats);
    HOLDS(stats.clock == 30000 && stats.adds == s.n);
    OK(eb_advance(before, 30000, NULL));
    OK(eb_advance(f, 30000, NULL)); /* no time passes twice */
    HOLDS(suite_equal(f, before));
    suite_free_stream(&s);
    eb_free(f);
    eb_free(g);
    eb_free(before);
}

static void time_rules(const suite_case *c) {
    if (suite_caps(c) & EB_USES_TIME)
        some_time(c);
    else
        no_time(c);
}

static void time_never_goes_back(void **state) {
    (void)state;
    suite_each_near(time_rules);
}

/* Removing */

static void removal(const suite_case *c) {
    eb_filter *const f = suite_new(c->spec), *before;
    suite_stream s = suite_make_stream(f, 400, UINT64_MAX, 6);
    uint8_t seen[400];
    const eb_batch all = suite_part(&s, 0, s.n), gone = suite_part(&s, 0, s.n / 2);
    OK(eb_add_batch(f, &all, NULL));
    OK(eb_clone(&before, f, NULL, NULL));
    if (suite_caps(c) & EB_CAN_REMOVE) {
        OK(eb_remove_batch(f, &gone, NULL));
        HOLDS(!suite_same_cells(f, before));
        calls_test(f, s.hash + gone.n, s.n - gone.n, seen);
        for (size_t i = 0; i < s.n - gone.n; i++)
            HOLDS(seen[i] || !(suite_caps(c) & EB_NO_FALSE_NEGATIVES));
        for (size_t i = 0; i < gone.n; i++) { /* one by one: the same bytes */
            const eb_batch one = suite_part(&s, i, i + 1);
            OK(eb_remove_batch(before, &one, NULL));
        }
    } else {
        GIVES(EB_ENOTSUP, eb_remove_batch(f, &gone, NULL));
    }
    HOLDS(suite_equal(f, before));
    suite_free_stream(&s);
    eb_free(f);
    eb_free(before);
}

static void removing_works_or_is_refused(void **state) {
    (void)state;
    suite_each_near(removal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_change_the_bytes),
        cmocka_unit_test(keys_reach_every_part_of_every_shard),
        cmocka_unit_test(values_out_of_range_are_refused),
        cmocka_unit_test(time_never_goes_back),
        cmocka_unit_test(removing_works_or_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
