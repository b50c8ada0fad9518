/* test_snapshots.c - saving, loading and viewing every kind, and refusing every
 * damaged byte. */
#include "suite.h"

enum { STREAM = 1500 };

/* Whole snapshots */

static void save_load_save(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, STREAM, 1);
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    uint64_t said = 0;
    HOLDS(len == eb_snapshot_size(f));
    OK(eb_snapshot_length(bytes, EB_SNAPSHOT_HEAD, &said, NULL));
    HOLDS(said == len);
    for (size_t extra = 0; extra < 2; extra++) { /* a longer buffer is fine */
        eb_filter *g;
        OK(eb_load(&g, bytes, len + extra, NULL, NULL));
        HOLDS(suite_equal(f, g));
        eb_free(g);
    }
    free(bytes);
    eb_free(f);
}

static void saved_and_loaded_is_the_same(void **state) {
    (void)state;
    suite_each(save_load_save);
}

static void loaded_goes_on(const suite_case *c) {
    enum { N = 1500 };
    eb_filter *const f = suite_new(c->spec);
    suite_stream s = suite_make_stream(f, N, N / 2, 2);
    const eb_batch first = suite_part(&s, 0, 700), rest = suite_part(&s, 700, N);
    uint8_t a[N], b[N];
    OK(eb_add_batch(f, &first, NULL));
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    eb_filter *g;
    OK(eb_load(&g, bytes, len, NULL, NULL));
    OK(eb_add_batch(f, &rest, a));
    OK(eb_add_batch(g, &rest, b));
    HOLDS(memcmp(a, b, rest.n) == 0 && suite_equal(f, g));
    suite_free_stream(&s);
    free(bytes);
    eb_free(f);
    eb_free(g);
}

static void a_loaded_filter_goes_on_as_the_first(void **state) {
    (void)state;
    suite_each(loaded_goes_on);
}

/* A stream that delivers len bytes and then ends. */
typedef struct byte_stream {
    const uint8_t *bytes;
    size_t len;
} byte_stream;

static size_t read_stream(void *ctx, void *buf, size_t n) {
    byte_stream *const s = ctx;
    if (n > s->len) n = s->len;
    memcpy(buf, s->bytes, n);
    s->bytes += n;
    s->len -= n;
    return n;
}

static void load_from_stream(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, STREAM, 4), *g = NULL;
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    OK(eb_load_from(&g, read_stream, &(byte_stream){bytes, len}, NULL, NULL));
    HOLDS(suite_equal(f, g));
    eb_free(g);
    g = NULL;
    const size_t cuts[] = {0, 1, 63, 64, 65, 127, 128, len / 2, len - 1};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        GIVES(EB_EFORMAT,
              eb_load_from(&g, read_stream, &(byte_stream){bytes, cuts[i]}, NULL, NULL));
    bytes[len - 1] ^= 1;
    GIVES(EB_EFORMAT, eb_load_from(&g, read_stream, &(byte_stream){bytes, len}, NULL, NULL));
    HOLDS(g == NULL);
    free(bytes);
    eb_free(f);
}

static void a_stream_loads_as_a_buffer(void **state) {
    (void)state;
    suite_each(load_from_stream);
}

static void saving_in_parts(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, 500, 3);
    size_t len, front_len = 0, block_len = 0;
    uint8_t *const bytes = suite_bytes(f, &len), front[EB_SNAPSHOT_FRONT];
    const void *block = NULL;
    OK(eb_save_parts(f, front, sizeof front, &front_len, &block, &block_len));
    HOLDS(front_len + block_len == len && memcmp(front, bytes, front_len) == 0);
    HOLDS(memcmp(block, bytes + front_len, block_len) == 0);
    GIVES(EB_EINVAL, eb_save_parts(f, front, front_len - 1, &front_len, &block, &block_len));
    memset(bytes, 0x55, len);
    GIVES(EB_EINVAL, eb_save(f, bytes, len - 1));
    for (size_t i = 0; i < len; i++) HOLDS(bytes[i] == 0x55);
    free(bytes);
    eb_free(f);
}

static void saving_in_parts_gives_the_same_bytes(void **state) {
    (void)state;
    suite_each_near(saving_in_parts);
}

static void every_state_is_accepted(const suite_case *c) {
    eb_filter *const f = suite_new(c->spec);
    suite_stream s = suite_make_stream(f, 60, 40, 4);
    for (size_t i = 0; i <= s.n; i++) {
        size_t len;
        uint8_t *const bytes = suite_bytes(f, &len);
        eb_filter *g;
        OK(eb_load(&g, bytes, len, NULL, NULL));
        eb_free(g);
        free(bytes);
        if (i == s.n) break;
        const eb_batch one = suite_part(&s, i, i + 1);
        OK(eb_add_batch(f, &one, NULL));
    }
    suite_free_stream(&s);
    eb_free(f);
}

static void every_state_reached_is_accepted(void **state) {
    (void)state;
    suite_each_near(every_state_is_accepted);
}

/* Views */

static void view_answers(const eb_filter *f, const eb_filter *view) {
    enum { N = 600 };
    suite_stream s = suite_make_stream(f, N, STREAM, 1);
    uint8_t a[N], b[N];
    double counts[N], view_counts[N];
    for (size_t i = 0; i < N; i += 2) s.hash[i] = ebi_mix(i);
    eb_test_batch(f, s.hash, N, a);
    eb_test_batch(view, s.hash, N, b);
    eb_count_batch(f, s.hash, N, counts);
    eb_count_batch(view, s.hash, N, view_counts);
    HOLDS(memcmp(a, b, N) == 0);
    for (size_t i = 0; i < N; i++) HOLDS(counts[i] == view_counts[i]);
    eb_stats x = {.size = sizeof x}, y = {.size = sizeof y};
    eb_stat(f, &x);
    eb_stat(view, &y);
    HOLDS(x.items == y.items && x.cells_used == y.cells_used && x.fpr == y.fpr);
    HOLDS(suite_equal(f, view));
    suite_free_stream(&s);
}

static void view_refuses_writes(const suite_case *c, eb_filter *view, const eb_filter *f) {
    const unsigned caps = suite_caps(c);
    const eb_hash h = 1;
    const uint32_t value = view->p.value_min;
    const eb_batch one = {1, &h, &value, NULL};
    bool seen = true;
    GIVES(EB_EREADONLY, eb_add_batch(view, &one, NULL));
    GIVES(EB_EREADONLY, eb_add(view, "key", 3, &seen));
    HOLDS(seen);
    GIVES(caps & EB_CAN_REMOVE ? EB_EREADONLY : EB_ENOTSUP, eb_remove_batch(view, &one));
    GIVES(caps & EB_USES_TIME ? EB_EREADONLY : EB_ENOTSUP, eb_advance(view, UINT64_MAX));
    GIVES(EB_EREADONLY, eb_merge(view, f, NULL));
    eb_clear(view);
}

static void view_is_the_original(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, STREAM, 1);
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len), *const copy = suite_bytes(f, &len);
    for (unsigned flags = 0; flags <= EB_TRUST; flags++) {
        eb_filter *view, *clone;
        OK(eb_view(&view, bytes, len, flags, NULL));
        view_answers(f, view);
        view_refuses_writes(c, view, f);
        HOLDS(memcmp(bytes, copy, len) == 0);
        OK(eb_clone(&clone, view, NULL)); /* a clone of a view may be written */
        OK(eb_add_batch(clone, &(eb_batch){0}, NULL));
        eb_clear(clone);
        eb_free(clone);
        eb_free(view);
        HOLDS(memcmp(bytes, copy, len) == 0);
    }
    free(bytes);
    free(copy);
    eb_free(f);
}

static void views_answer_as_the_original(void **state) {
    (void)state;
    suite_each(view_is_the_original);
}

static void view_needs_alignment(const suite_case *c) {
    eb_filter *const f = suite_new(c->spec);
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len), *const moved = malloc(len + 8);
    HOLDS(moved != NULL);
    memcpy(moved + 1, bytes, len);
    eb_filter *view;
    GIVES(EB_EINVAL, eb_view(&view, moved + 1, len, 0, NULL));
    OK(eb_load(&view, moved + 1, len, NULL, NULL)); /* loading does not */
    eb_free(view);
    free(moved);
    free(bytes);
    eb_free(f);
}

static void views_need_aligned_bytes(void **state) {
    (void)state;
    suite_each_base(view_needs_alignment);
}

/* Damage */

static bool is_refusal(eb_status s) {
    return s == EB_EFORMAT || s == EB_EVERSION;
}

/* Both doors: the status of loading; a view must say the same. */
static eb_status try_open(const uint8_t *bytes, size_t len) {
    eb_filter *f = NULL, *view = NULL;
    eb_error err = {EB_OK, ""};
    const eb_status status = eb_load(&f, bytes, len, NULL, &err);
    HOLDS(status == EB_OK || (err.status == status && strlen(err.text) > 10 && !f));
    HOLDS(eb_view(&view, bytes, len, 0, NULL) == status);
    eb_free(f);
    eb_free(view);
    return status;
}

static size_t payload_of(const uint8_t *bytes) {
    uint32_t offset;
    memcpy(&offset, bytes + 20, sizeof offset);
    return offset;
}

static void front_damage(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, 500, 5);
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    OK(try_open(bytes, len));
    for (size_t i = 0; i < payload_of(bytes); i++)
        for (unsigned flip = 1; flip < 256; flip = c->base ? flip + 1 : flip * 2) {
            bytes[i] = (uint8_t)(bytes[i] ^ flip);
            HOLDS(is_refusal(try_open(bytes, len)));
            bytes[i] = (uint8_t)(bytes[i] ^ flip);
        }
    OK(try_open(bytes, len));
    free(bytes);
    eb_free(f);
}

static void every_damaged_byte_of_the_front_is_refused(void **state) {
    (void)state;
    suite_each_near(front_damage);
}

static void payload_damage(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, 500, 6);
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    uint64_t random = 7;
    const size_t start = payload_of(bytes);
    for (int i = 0; i < (c->far ? 10 : 60); i++) {
        const size_t at = start + suite_below(&random, len - start);
        const uint8_t flip = (uint8_t)(1 + suite_below(&random, 255));
        bytes[at] ^= flip;
        GIVES(EB_EFORMAT, try_open(bytes, len));
        bytes[at] ^= flip;
    }
    free(bytes);
    eb_free(f);
}

static void damaged_payloads_are_refused(void **state) {
    (void)state;
    suite_each(payload_damage);
}

static void truncation(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, 500, 8);
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    uint64_t random = 9;
    for (size_t n = 0; n < len; n += n < 200 || len - n < 70 ? 1 : 1 + suite_below(&random, 200)) {
        uint8_t *const shorter =
            malloc(n + !n); /* exact, so that a sanitizer sees a read past it */
        HOLDS(shorter != NULL);
        memcpy(shorter, bytes, n);
        GIVES(EB_EFORMAT, try_open(shorter, n));
        uint64_t said;
        if (n < EB_SNAPSHOT_HEAD) GIVES(EB_EFORMAT, eb_snapshot_length(shorter, n, &said, NULL));
        free(shorter);
    }
    free(bytes);
    eb_free(f);
}

static void truncated_snapshots_are_refused(void **state) {
    (void)state;
    suite_each_base(truncation);
}

/* Damage by somebody who recomputes the checksums */

static void must_be_zero(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, 500, 10);
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    const size_t start = payload_of(bytes), spec_end = 64 + eb_spec(f, NULL, 0);
    for (size_t i = 0; i < start + ebi_bytes(f); i++) {
        const size_t in_block = i >= start ? (i - start) % f->p.span : SIZE_MAX;
        const bool reserved = (i >= 14 && i < 16) || (i >= 40 && i < 56) ||
                              (i >= spec_end && i < start) || (in_block >= 24 && in_block < 64);
        if (!reserved) continue;
        HOLDS(bytes[i] == 0);
        bytes[i] = 0x40;
        suite_fix_sums(bytes, len);
        GIVES(EB_EFORMAT, try_open(bytes, len));
        bytes[i] = 0;
    }
    suite_fix_sums(bytes, len);
    OK(try_open(bytes, len));
    free(bytes);
    eb_free(f);
}

static void reserved_bytes_must_be_zero(void **state) {
    (void)state;
    suite_each_near(must_be_zero);
}

static void clock_is_items(const suite_case *c) {
    if (suite_caps(c) & EB_USES_TIME) return;
    eb_filter *const f = suite_filled(c->spec, 500, 11);
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    bytes[payload_of(bytes) + 8] ^= 1;
    suite_fix_sums(bytes, len);
    GIVES(EB_EFORMAT, try_open(bytes, len));
    free(bytes);
    eb_free(f);
}

static void the_clock_counts_items_where_time_is_not_used(void **state) {
    (void)state;
    suite_each_near(clock_is_items);
}

/* What a filter that was loaded must survive, whatever its cells are. */
static void use(eb_filter *f, size_t n) {
    suite_stream s = suite_make_stream(f, n, n, 12);
    const uint64_t clock = ebi_head(f->block)->clock;
    for (size_t i = 0; i < n; i++) s.time[i] += ebi_min(clock, UINT64_MAX / 2);
    const eb_batch all = suite_part(&s, 0, n);
    eb_stats stats = {.size = sizeof stats};
    const eb_status status = eb_add_batch(f, &all, NULL);
    HOLDS(status == EB_OK || (status == EB_EINVAL && (f->kind->info.caps & EB_USES_TIME)) ||
          (status == EB_EREADONLY && ebi_is_sealed(f)));
    eb_stat(f, &stats);
    HOLDS(stats.cells_used <= stats.cells && stats.fpr >= 0 && stats.fpr <= 1);
    suite_free_stream(&s);
}

/* Every bit of a new filter, flipped: what is accepted must be a filter, saved
 * again as it was, and something must be refused: a kind's own check works. */
static void forged_bits(const suite_case *c) {
    eb_filter *const f = suite_new(c->spec);
    size_t len, refused = 0;
    uint8_t *const bytes = suite_bytes(f, &len);
    const size_t start = payload_of(bytes);
    for (size_t i = start; i < len; i++) {
        bytes[i] ^= (uint8_t)(1 << i % 8);
        suite_fix_sums(bytes, len);
        eb_filter *g = NULL;
        const eb_status status = eb_load(&g, bytes, len, NULL, NULL);
        refused += status == EB_EFORMAT && i >= start + sizeof(eb_head);
        if (status == EB_OK) {
            uint8_t *const again = suite_bytes(g, NULL);
            HOLDS(memcmp(bytes, again, len) == 0);
            use(g, 5);
            free(again);
        } else {
            GIVES(EB_EFORMAT, status);
        }
        eb_free(g);
        bytes[i] ^= (uint8_t)(1 << i % 8);
    }
    HOLDS(refused > 0);
    free(bytes);
    eb_free(f);
}

static void forged_snapshots_are_filters_or_refused(void **state) {
    (void)state;
    suite_each_base(forged_bits);
}

/* The same for the front: another spec may be right, but only if it fits. */
static void forged_front(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, 100, 13);
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    for (size_t i = 0; i < payload_of(bytes); i++)
        for (unsigned flip = 1; flip < 256; flip *= 2) {
            if (i >= 20 && i < 24) continue; /* the payload's place: no sums without it */
            uint8_t *const forged = malloc(len);
            HOLDS(forged != NULL);
            memcpy(forged, bytes, len);
            forged[i] = (uint8_t)(forged[i] ^ flip);
            suite_fix_sums(forged, len);
            eb_filter *g = NULL;
            const eb_status status = eb_load(&g, forged, len, NULL, NULL);
            HOLDS(status == EB_OK || is_refusal(status));
            HOLDS(status != EB_OK || i >= 64 || (i >= 32 && i < 40) || i >= 56);
            if (status == EB_OK) use(g, 100);
            eb_free(g);
            free(forged);
        }
    free(bytes);
    eb_free(f);
}

static void forged_fronts_are_filters_or_refused(void **state) {
    (void)state;
    suite_each_base(forged_front);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_and_loaded_is_the_same),
        cmocka_unit_test(a_loaded_filter_goes_on_as_the_first),
        cmocka_unit_test(a_stream_loads_as_a_buffer),
        cmocka_unit_test(saving_in_parts_gives_the_same_bytes),
        cmocka_unit_test(every_state_reached_is_accepted),
        cmocka_unit_test(views_answer_as_the_original),
        cmocka_unit_test(views_need_aligned_bytes),
        cmocka_unit_test(every_damaged_byte_of_the_front_is_refused),
        cmocka_unit_test(damaged_payloads_are_refused),
        cmocka_unit_test(truncated_snapshots_are_refused),
        cmocka_unit_test(reserved_bytes_must_be_zero),
        cmocka_unit_test(the_clock_counts_items_where_time_is_not_used),
        cmocka_unit_test(forged_snapshots_are_filters_or_refused),
        cmocka_unit_test(forged_fronts_are_filters_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
