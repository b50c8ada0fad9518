/* test_snapshots.c - saving, loading and viewing every kind, and refusing every
 * damaged byte. */
#include "query/query.h"
#include "suite.h"

enum { STREAM = 1500 };

/* Whole snapshots */

static void save_load_save(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, STREAM, 1);
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    HOLDS(len == eb_save_size(f));
    for (size_t extra = 0; extra < 2; extra++) { /* a longer buffer is fine */
        eb_filter *g;
        OK(eb_load(&g, bytes, len + extra, NULL, NULL, NULL));
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
    OK(eb_load(&g, bytes, len, NULL, NULL, NULL));
    OK(calls_add(f, &rest, a));
    OK(calls_add(g, &rest, b));
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

/* Feeds all bytes in chunks of 1..most bytes, with `limits`. */
static eb_status load_in_chunks(eb_filter **out, const uint8_t *bytes, size_t len, size_t most,
                                const eb_limits *limits, const eb_allocator *mem) {
    eb_loader *loader;
    uint64_t random = most, missing = 1;
    OK(eb_loader_new(&loader, limits, mem, NULL));
    eb_status status = EB_OK;
    for (size_t at = 0, used; at < len && status == EB_OK; at += used) {
        const size_t n = ebi_min(len - at, 1 + suite_below(&random, most));
        status = eb_loader_feed(loader, bytes + at, n, &used, &missing, NULL);
        if (status != EB_OK) GIVES(EB_EINVAL, eb_loader_feed(loader, bytes, 1, NULL, NULL, NULL));
        HOLDS(status != EB_OK || missing == 0 || used == n);
        if (used == 0) break;
    }
    *out = NULL;
    if (status == EB_OK) status = eb_loader_finish(loader, out, NULL);
    HOLDS(status != EB_OK || missing == 0);
    eb_loader_free(loader);
    return status;
}

static void load_in_all_chunks(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, STREAM, 4), *g = NULL;
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    const eb_limits limited = {
        sizeof limited, ebi_bytes(f) + ebi_handle_bytes(f->kind, strlen(f->spec)), suite_caps(c)};
    static const size_t most[] = {1, 7, 100, 5000, SIZE_MAX / 2};
    for (size_t i = c->far ? 3 : 0; i < SUITE_COUNT(most); i++) {
        OK(load_in_chunks(&g, bytes, len + i % 2, most[i], i % 2 ? &limited : NULL, NULL));
        HOLDS(suite_equal(f, g));
        eb_free(g);
    }
    suite_memory m; /* which checks that it gets back what it gave */
    suite_memory_init(&m, 0, 0xa5);
    OK(load_in_chunks(&g, bytes, len, 5000, NULL, &m.allocator));
    eb_free(g);
    HOLDS(m.blocks == 0);
    const size_t cuts[] = {0, 1, 63, 64, 65, 127, 128, len / 2, len - 1};
    for (size_t i = 0; i < SUITE_COUNT(cuts); i++)
        GIVES(EB_EFORMAT, load_in_chunks(&g, bytes, cuts[i], 5000, NULL, NULL));
    bytes[len - 1] ^= 1;
    GIVES(EB_EFORMAT, load_in_chunks(&g, bytes, len, 5000, NULL, NULL));
    HOLDS(g == NULL);
    free(bytes);
    eb_free(f);
}

static void chunks_load_as_a_buffer(void **state) {
    (void)state;
    suite_each(load_in_all_chunks);
}

/* A front that declares 64 TiB must not make anybody ask for 64 TiB. */
static void a_loader_believes_no_length(void **state) {
    (void)state;
    eb_filter *const small = suite_new("bloom:memory=64K"), *g = NULL;
    size_t len;
    uint8_t *const bytes = suite_bytes(small, &len);
    ebi_params p;
    HOLDS(suite_parse("bloom:memory=64T", &p));
    char spec[EB_SPEC_MAX] = {0};
    const uint32_t spec_len = (uint32_t)ebi_spec_print(small->kind, &p, spec, sizeof spec);
    uint8_t front[EB_SNAPSHOT_FRONT] = {0};
    memcpy(front, bytes, 64);
    memcpy(front + 16, &spec_len, sizeof spec_len);
    const uint32_t offset = 64 + (spec_len + 63) / 64 * 64;
    memcpy(front + 20, &offset, sizeof offset);
    ebi_store64(front + 24, p.span);
    memcpy(front + 64, spec, spec_len);
    ebi_store64(front + 56, ebi_checksum(front + 64, offset - 64, ebi_checksum(front, 56, 0)));
    suite_memory m;
    suite_memory_init(&m, 0, 0);
    GIVES(EB_EFORMAT, load_in_chunks(&g, front, offset, 50, NULL, &m.allocator));
    HOLDS(m.largest < 10000); /* the loader itself */
    memset(bytes, 0, len);
    eb_loader *loader;
    OK(eb_loader_new(&loader, NULL, &m.allocator, NULL));
    OK(eb_loader_feed(loader, front, offset, NULL, NULL, NULL));
    uint64_t missing;
    for (size_t fed = 0; fed < 20 * len; fed += len) {
        OK(eb_loader_feed(loader, bytes, len, NULL, &missing, NULL));
        HOLDS(m.largest <= 2 * (fed + len) + 128);
    }
    HOLDS(missing == p.span - 20 * len);
    eb_loader_free(loader);
    const eb_limits limits = {sizeof limits, 1 << 20, 0};
    GIVES(EB_ELIMIT, load_in_chunks(&g, front, offset, 50, &limits, &m.allocator));
    HOLDS(m.blocks == 0);
    free(bytes);
    eb_free(small);
}

static void limits_are_kept(const suite_case *c) {
    eb_filter *const f = suite_new(c->spec), *g = NULL;
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    suite_memory m;
    suite_memory_init(&m, 0, 0);
    const uint64_t enough = ebi_bytes(f) + ebi_handle_bytes(f->kind, strlen(f->spec));
    eb_limits limits = {sizeof limits, enough - 1, 0};
    GIVES(EB_ELIMIT, eb_load(&g, bytes, len, &limits, &m.allocator, NULL));
    limits = (eb_limits){sizeof limits, enough, ~(uint64_t)suite_caps(c)};
    GIVES(EB_ENOTSUP, eb_load(&g, bytes, len, &limits, &m.allocator, NULL));
    HOLDS(m.calls == 0);
    limits.caps = suite_caps(c);
    OK(eb_load(&g, bytes, len, &limits, &m.allocator, NULL));
    eb_free(g);
    limits.size = 0;
    GIVES(EB_ESIZE, eb_load(&g, bytes, len, &limits, &m.allocator, NULL));
    HOLDS(m.blocks == 0);
    free(bytes);
    eb_free(f);
}

static void limits_are_kept_before_memory_is_taken(void **state) {
    (void)state;
    suite_each_near(limits_are_kept);
}

static void saving_in_parts(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, 500, 3);
    size_t len, at = 0;
    uint8_t *const bytes = suite_bytes(f, &len);
    eb_parts parts = {.size = sizeof parts};
    OK(eb_save_parts(f, &parts, NULL));
    HOLDS(parts.bytes == len && parts.n <= EB_PARTS_MAX && parts.part[0].p == parts.front);
    for (uint32_t i = 0; i < parts.n; at += parts.part[i++].len)
        HOLDS(memcmp(parts.part[i].p, bytes + at, parts.part[i].len) == 0);
    HOLDS(at == len);
    parts.size = 0;
    GIVES(EB_ESIZE, eb_save_parts(f, &parts, NULL));
    memset(bytes, 0x55, len);
    GIVES(EB_EINVAL, eb_save(f, bytes, len - 1, NULL));
    for (size_t i = 0; i < len; i++) HOLDS(bytes[i] == 0x55);
    free(bytes);
    eb_free(f);
}

static void saving_in_parts_gives_the_same_bytes(void **state) {
    (void)state;
    suite_each_near(saving_in_parts);
}

/* Descriptions */

static void described(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, 500, 3), *const g = suite_filled(c->spec, 501, 3);
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len), *const other = suite_bytes(g, NULL);
    eb_snapshot_info a = {.size = sizeof a}, b = {.size = sizeof b}, again = {.size = sizeof a};
    OK(eb_snapshot_describe(bytes, ebi_min(len, EB_SNAPSHOT_FRONT), &a, NULL));
    OK(eb_snapshot_describe(other, len, &b, NULL));
    char spec[EB_SPEC_MAX];
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(f));
    HOLDS(a.bytes == len && strcmp(a.spec, spec) == 0);
    HOLDS(a.id[0] != b.id[0] && a.id[1] != b.id[1]);
    bytes[len - 1] ^= 1; /* nobody looked there */
    OK(eb_snapshot_describe(bytes, len, &again, NULL));
    HOLDS(memcmp(a.id, again.id, sizeof a.id) == 0);
    const size_t front = len - (size_t)ebi_bytes(f);
    for (size_t n = 0; n < front; n++)
        GIVES(EB_EFORMAT, eb_snapshot_describe(bytes, n, &again, NULL));
    a.size--;
    GIVES(EB_ESIZE, eb_snapshot_describe(bytes, len, &a, NULL));
    free(bytes);
    free(other);
    eb_free(f);
    eb_free(g);
}

static void descriptions_come_from_the_front(void **state) {
    (void)state;
    suite_each_near(described);
}

static void every_state_is_accepted(const suite_case *c) {
    eb_filter *const f = suite_new(c->spec);
    suite_stream s = suite_make_stream(f, 60, 40, 4);
    for (size_t i = 0; i <= s.n; i++) {
        size_t len;
        uint8_t *const bytes = suite_bytes(f, &len);
        eb_filter *g;
        OK(eb_load(&g, bytes, len, NULL, NULL, NULL));
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

/* What a filter that was loaded must survive, whatever its cells are. */
static void use(eb_filter *f, size_t n) {
    suite_stream s = suite_make_stream(f, n, n, 12);
    const uint64_t clock = ebi_head(f->block)->clock;
    for (size_t i = 0; i < n; i++) s.time[i] += ebi_min(clock, UINT64_MAX / 2);
    const eb_batch all = suite_part(&s, 0, n);
    eb_stats stats = {.size = sizeof stats};
    const eb_status status = eb_add_batch(f, &all, NULL);
    HOLDS(status == EB_OK || (status == EB_EINVAL && (eb_caps(f) & EB_USES_TIME)) ||
          (status == EB_EREADONLY && ebi_is_sealed(f)));
    calls_stat(f, &stats);
    HOLDS(stats.cells_used <= stats.cells && stats.fpr >= 0 && stats.fpr <= 1);
    suite_free_stream(&s);
}

/* Views */

static void view_answers(const eb_filter *f, const eb_filter *view) {
    enum { N = 600 };
    suite_stream s = suite_make_stream(f, N, STREAM, 1);
    uint8_t a[N], b[N];
    double counts[N], view_counts[N];
    for (size_t i = 0; i < N; i += 2) s.hash[i] = suite_key(f, ebi_mix(i));
    calls_test(f, s.hash, N, a);
    calls_test(view, s.hash, N, b);
    calls_count(f, s.hash, N, counts);
    calls_count(view, s.hash, N, view_counts);
    HOLDS(memcmp(a, b, N) == 0);
    for (size_t i = 0; i < N; i++) HOLDS(counts[i] == view_counts[i]);
    eb_stats x = {.size = sizeof x}, y = {.size = sizeof y};
    calls_stat(f, &x);
    calls_stat(view, &y);
    HOLDS(x.adds == y.adds && x.cells_used == y.cells_used && x.fpr == y.fpr);
    HOLDS(suite_equal(f, view));
    suite_free_stream(&s);
}

static void view_refuses_writes(const suite_case *c, eb_filter *view, const eb_filter *f) {
    const uint64_t caps = suite_caps(c);
    const eb_hash h = 1;
    const uint64_t value = view->p.value_min;
    const eb_batch one = A_BATCH(1, &h, &value, NULL);
    bool seen = true;
    GIVES(EB_EREADONLY, eb_add_batch(view, &one, NULL));
    GIVES(EB_EREADONLY, eb_add(view, "key", 3, &seen, NULL));
    HOLDS(seen);
    GIVES(caps & EB_CAN_REMOVE ? EB_EREADONLY : EB_ENOTSUP, eb_remove_batch(view, &one, NULL));
    GIVES(caps & EB_USES_TIME ? EB_EREADONLY : EB_ENOTSUP, eb_advance(view, UINT64_MAX, NULL));
    GIVES(EB_EREADONLY, eb_merge(view, f, 1, NULL));
    (void)eb_clear(view, NULL);
}

static void view_is_the_original(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, STREAM, 1);
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len), *const copy = suite_bytes(f, &len);
    for (unsigned flags = 0; flags <= EB_TRUST; flags++) {
        eb_filter *view, *clone;
        OK(eb_view(&view, bytes, len, flags, NULL, NULL));
        view_answers(f, view);
        view_refuses_writes(c, view, f);
        HOLDS(memcmp(bytes, copy, len) == 0);
        OK(eb_clone(&clone, view, NULL, NULL)); /* a clone of a view may be written */
        OK(eb_add_batch(clone, &A_BATCH(0, NULL, NULL, NULL), NULL));
        (void)eb_clear(clone, NULL);
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

static void view_anywhere(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, STREAM, 1);
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len), *const moved = malloc(len + 64);
    HOLDS(moved != NULL);
    for (size_t offset = 0; offset < 64; offset += c->base ? 1 : 13) {
        suite_memory m;
        suite_memory_init(&m, 0, 0);
        memcpy(moved + offset, bytes, len);
        eb_filter *view;
        for (unsigned flags = 0; flags <= EB_TRUST; flags++) {
            OK(eb_view(&view, moved + offset, len, flags, &m.allocator, NULL));
            HOLDS(m.calls <= 2 * (flags + 1) && m.blocks > 0);
            view_answers(f, view);
            view_refuses_writes(c, view, f);
            eb_free(view);
            HOLDS(m.blocks == 0);
        }
    }
    free(moved);
    free(bytes);
    eb_free(f);
}

static void views_work_at_any_address(void **state) {
    (void)state;
    SUITE_LONG();
    suite_each_near(view_anywhere);
}

/* EB_TRUST skips the checksum, never what memory safety needs: whatever the block holds, a view
 * that was opened can be asked, cloned and saved. */
static void trusted_view(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, 500, 1);
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    const size_t start = len - (size_t)ebi_bytes(f);
    uint64_t random = 3;
    for (int round = 0; round < 12; round++) {
        for (uint64_t shard = 0; shard < eb_shards(f); shard++)
            for (size_t i = sizeof(ebi_block_head); i < f->p.span; i++)
                if (round < 6 || suite_below(&random, 50) == 0)
                    bytes[start + shard * f->p.span + i] = (uint8_t)suite_random(&random);
        eb_filter *view, *clone;
        if (eb_view(&view, bytes, len, EB_TRUST, NULL, NULL) != EB_OK) continue;
        view_answers(view, view);
        eb_filter *frozen = NULL; /* it counts how long counters are, and writes them again */
        eb_lengths lengths = {.size = sizeof lengths};
        if (eb_lengths_of(view, &lengths, NULL) == EB_OK)
            (void)ebi_freeze(&frozen, view, NULL, NULL);
        eb_free(frozen);
        OK(eb_clone(&clone, view, NULL, NULL));
        use(clone, 300);
        eb_free(clone);
        eb_free(view);
    }
    free(bytes);
    eb_free(f);
}

static void trusted_views_are_safe(void **state) {
    (void)state;
    suite_each_near(trusted_view);
}

/* Damage */

static bool is_refusal(eb_status s) {
    return s == EB_EFORMAT || s == EB_EVERSION;
}

/* Both doors: the status of loading; a view must say the same. */
static eb_status try_open(const uint8_t *bytes, size_t len) {
    eb_filter *f = NULL, *view = NULL;
    eb_error err = {.text = ""};
    const eb_status status = eb_load(&f, bytes, len, NULL, NULL, &err);
    HOLDS(status == EB_OK || (err.status == status && strlen(err.text) > 10 && !f));
    HOLDS(eb_view(&view, bytes, len, 0, NULL, NULL) == status);
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
    const size_t start = payload_of(bytes), spec_end = 64 + strlen(eb_spec(f));
    for (size_t i = 0; i < start + ebi_bytes(f); i++) {
        const size_t in_block = i >= start ? (i - start) % f->p.span : SIZE_MAX;
        const bool own = in_block >= 32 && in_block < 64;
        const bool reserved = (i >= 14 && i < 16) || (i >= 48 && i < 56) ||
                              (i >= spec_end && i < start) ||
                              (own && !(f->kind->traits & EBI_OWN_HEAD));
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
        const eb_status status = eb_load(&g, bytes, len, NULL, NULL, NULL);
        refused += status == EB_EFORMAT && i >= start + sizeof(ebi_block_head);
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
            const eb_status status = eb_load(&g, forged, len, NULL, NULL, NULL);
            HOLDS(status == EB_OK || is_refusal(status));
            HOLDS(status != EB_OK || i >= 64 || (i >= 32 && i < 48) || i >= 56);
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
        cmocka_unit_test(chunks_load_as_a_buffer),
        cmocka_unit_test(a_loader_believes_no_length),
        cmocka_unit_test(limits_are_kept_before_memory_is_taken),
        cmocka_unit_test(descriptions_come_from_the_front),
        cmocka_unit_test(saving_in_parts_gives_the_same_bytes),
        cmocka_unit_test(every_state_reached_is_accepted),
        cmocka_unit_test(views_answer_as_the_original),
        cmocka_unit_test(views_work_at_any_address),
        cmocka_unit_test(trusted_views_are_safe),
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
