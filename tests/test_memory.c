/* test_memory.c - every kind on allocators that fail or give dirty memory, the
 * size that memory= asks for, and the inline view of cells. */
#include "suite.h"

/* Allocators */

typedef eb_status maker(eb_filter **out, const eb_filter *f, const uint8_t *bytes,
                        const eb_allocator *mem);

static eb_status make_new(eb_filter **out, const eb_filter *f, const uint8_t *bytes,
                          const eb_allocator *mem) {
    (void)bytes;
    char spec[EB_SPEC_MAX];
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(f));
    eb_error err = {.text = ""};
    const eb_status status = eb_new(out, spec, mem, &err);
    HOLDS(status == EB_OK || (err.status == status && strstr(err.text, "memory")));
    return status;
}

static eb_status make_clone(eb_filter **out, const eb_filter *f, const uint8_t *bytes,
                            const eb_allocator *mem) {
    (void)bytes;
    return eb_clone(out, f, mem, NULL);
}

static eb_status make_loaded(eb_filter **out, const eb_filter *f, const uint8_t *bytes,
                             const eb_allocator *mem) {
    eb_error err = {.text = ""};
    const eb_status status = eb_load(out, bytes, eb_save_size(f), NULL, mem, &err);
    HOLDS(status == EB_OK || (err.status == status && strstr(err.text, "memory")));
    return status;
}

/* Fail at the 1st, 2nd, 3rd... call until it works. */
static void until_it_works(maker *make, const eb_filter *f, const uint8_t *bytes) {
    suite_memory m;
    eb_filter *const nothing = (eb_filter *)(void *)&m;
    for (size_t fail_at = 1;; fail_at++) {
        eb_filter *g = nothing;
        suite_memory_init(&m, fail_at, 0xa5);
        const eb_status status = make(&g, f, bytes, &m.allocator);
        HOLDS(m.calls >= fail_at || status == EB_OK);
        if (status == EB_OK) {
            HOLDS(fail_at > 1 && m.calls < fail_at && m.blocks > 0);
            HOLDS(make == make_new || suite_equal(f, g)); /* dirt does not show */
            eb_free(g);
            HOLDS(m.blocks == 0);
            return;
        }
        GIVES(EB_ENOMEM, status);
        HOLDS((g == nothing || !g) && m.blocks == 0);
    }
}

static void allocator_fails(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, 500, 1);
    size_t len;
    uint8_t *const before = suite_bytes(f, &len);
    until_it_works(make_new, f, before);
    until_it_works(make_clone, f, before);
    until_it_works(make_loaded, f, before);
    uint8_t *const after = suite_bytes(f, NULL);
    HOLDS(memcmp(before, after, len) == 0);
    free(before);
    free(after);
    eb_free(f);
}

static void a_failing_allocator_changes_nothing(void **state) {
    (void)state;
    suite_each_near(allocator_fails);
}

static void dirty_memory_of(const suite_case *c, uint8_t dirt) {
    suite_memory m;
    suite_memory_init(&m, 0, dirt);
    eb_filter *const f = suite_new(c->spec), *dirty;
    OK(eb_new(&dirty, c->spec, &m.allocator, NULL));
    HOLDS(suite_equal(f, dirty));
    suite_stream s = suite_make_stream(f, 500, 300, 2);
    const eb_batch all = suite_part(&s, 0, s.n);
    OK(eb_add_batch(f, &all, NULL));
    OK(eb_add_batch(dirty, &all, NULL));
    HOLDS(suite_equal(f, dirty));
    HOLDS(suite_limited(f) || m.calls == m.blocks); /* adding allocates nothing, or for growth */
    eb_free(dirty);
    HOLDS(m.blocks == 0);
    suite_free_stream(&s);
    eb_free(f);
}

static void dirty_memory(const suite_case *c) {
    dirty_memory_of(c, 0xff);
    dirty_memory_of(c, 0xfe); /* with alloc_zeroed */
}

static void dirty_memory_does_not_show(void **state) {
    (void)state;
    suite_each_near(dirty_memory);
}

/* The allocator's blocks begin at one place in a line after the other. */
static void *move_elsewhere(void *ctx, void *p, size_t bytes) {
    suite_memory *const m = ctx;
    void *const other = m->allocator.alloc(m, bytes);
    memcpy(other, p, bytes);
    m->allocator.free(m, p, bytes);
    return other;
}

static void *move_nothing(void *ctx, void *p, size_t bytes) {
    (void)p;
    *(size_t *)ctx += bytes;
    return NULL;
}

static void moved_filter(const suite_case *c) {
    suite_memory m;
    suite_memory_init(&m, 0, 0xa5);
    eb_filter *const still = suite_new(c->spec), *moved;
    OK(eb_new(&moved, c->spec, &m.allocator, NULL));
    suite_stream s = suite_make_stream(still, 500, 300, 2);
    for (size_t from = 0; from < s.n; from += 100) {
        const eb_batch part = suite_part(&s, from, ebi_min_size(from + 100, s.n));
        OK(eb_add_batch(still, &part, NULL));
        OK(eb_add_batch(moved, &part, NULL));
        const size_t blocks = m.blocks;
        const eb_filter *const was = moved;
        eb_move(&moved, move_elsewhere, &m);
        HOLDS(moved != was && m.blocks == blocks && suite_equal(still, moved));
    }
    eb_stats stats = {.size = sizeof stats};
    size_t bytes = 0;
    eb_filter *const here = moved;
    eb_move(&moved, move_nothing, &bytes);
    calls_stat(moved, &stats);
    HOLDS(moved == here && bytes == stats.bytes + 2 * EBI_ALIGN);
    eb_filter *own = still;
    eb_move(&own, move_elsewhere, NULL); /* the library's own memory stays */
    HOLDS(own == still);
    eb_free(moved);
    HOLDS(m.blocks == 0);
    suite_free_stream(&s);
    eb_free(still);
}

static void a_filter_that_is_moved_goes_on(void **state) {
    (void)state;
    suite_each_near(moved_filter);
}

static void failed_load_frees(const suite_case *c) {
    eb_filter *const f = suite_new(c->spec);
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    bytes[len - ebi_bytes(f) + 32] = 1; /* a reserved field: found after allocation */
    suite_fix_sums(bytes, len);
    suite_memory m;
    suite_memory_init(&m, 0, 0);
    eb_filter *g = NULL;
    GIVES(EB_EFORMAT, eb_load(&g, bytes, len, NULL, &m.allocator, NULL));
    HOLDS(m.blocks == 0 && g == NULL);
    free(bytes);
    eb_free(f);
}

static void a_failed_load_leaks_nothing(void **state) {
    (void)state;
    suite_each_base(failed_load_frees);
}

/* Allocators that are none, and sizes that are none. */

static void an_allocator_is_checked(void **state) {
    (void)state;
    suite_memory m;
    suite_memory_init(&m, 0, 0);
    eb_filter *f = NULL;
    eb_allocator bad = m.allocator;
    bad.size = 0;
    GIVES(EB_ESIZE, eb_new(&f, "bloom:memory=1K", &bad, NULL));
    bad.size = sizeof bad + 8;
    GIVES(EB_ESIZE, eb_new(&f, "bloom:memory=1K", &bad, NULL));
    bad = m.allocator;
    bad.alloc = NULL;
    GIVES(EB_EINVAL, eb_new(&f, "bloom:memory=1K", &bad, NULL));
    bad = m.allocator;
    bad.free = NULL;
    GIVES(EB_EINVAL, eb_new(&f, "bloom:memory=1K", &bad, NULL));
    HOLDS(!f && m.calls == 0);
}

static void memory_begins_at_a_cache_line(void **state) {
    (void)state;
    suite_memory m;
    suite_memory_init(&m, 0, 0x5a);
    const eb_allocator *const both[] = {&m.allocator, &ebi_malloc};
    for (size_t i = 0; i < SUITE_COUNT(both); i++)
        for (size_t bytes = 1; bytes < 10000; bytes += 1 + bytes / 3) {
            uint8_t *const p = ebi_alloc(both[i], bytes), *const zero =
                                                              ebi_alloc_zeroed(both[i], bytes);
            HOLDS(p && zero && (uintptr_t)p % 64 == 0 && (uintptr_t)zero % 64 == 0);
            for (size_t j = 0; j < bytes; j++) HOLDS(zero[j] == 0);
            memset(p, 1, bytes);
            ebi_release(both[i], p, bytes);
            ebi_release(both[i], zero, bytes);
        }
    HOLDS(m.blocks == 0);
    const size_t calls = m.calls;
    HOLDS(!ebi_alloc(&m.allocator, UINT64_MAX) && !ebi_alloc_zeroed(&m.allocator, UINT64_MAX));
    HOLDS(!ebi_alloc(&ebi_malloc, UINT64_MAX) && !ebi_alloc_zeroed(&ebi_malloc, UINT64_MAX - 63));
    HOLDS(m.calls == calls);
}

/* memory= is obeyed */

static void memory_is_obeyed(const suite_case *c) {
    static const uint64_t sizes[] = {1024,    2000,    4096,     100000,
                                     1 << 20, 1234567, 16 << 20, (UINT64_C(3) << 30) + 12345};
    for (size_t i = 0; i < SUITE_COUNT(sizes); i++)
        for (unsigned shards = 1; shards <= 16; shards *= 4) {
            char spec[EB_SPEC_MAX];
            ebi_params p;
            (void)snprintf(spec, sizeof spec, "%s:memory=%llu,shards=%u", c->kind->info.name,
                           (unsigned long long)sizes[i], shards);
            suite_at("%s", spec);
            const bool made = suite_parse(spec, &p);
            HOLDS(made || sizes[i] < 1 << 20);
            if (!made) continue;
            const uint64_t bytes = p.span * shards + sizeof(eb_filter);
            HOLDS(bytes <= sizes[i]);
            HOLDS(sizes[i] < 1 << 20 || (double)bytes >= 0.995 * (double)sizes[i]);
        }
}

static void useful_bits(const suite_case *c) {
    char spec[EB_SPEC_MAX];
    (void)snprintf(spec, sizeof spec, "%s:memory=1M", c->kind->info.name);
    eb_filter *const f = suite_new(spec);
    eb_stats s = {.size = sizeof s};
    eb_cells_view v = {.width = 0};
    calls_stat(f, &s);
    HOLDS(s.bytes <= 1 << 20 && s.bytes > ebi_bytes(f) && s.cells > 0);
    if (eb_cells_view_of(f, &v)) HOLDS((double)s.cells * v.width >= 0.999 * 8 * (1 << 20));
    eb_free(f);
}

/* Cells are read with loads of 8 bytes, so that many follow the last one, whatever their number. */
static void cells_have_room_behind_them(void **state) {
    (void)state;
    for (uint64_t cells = 64; cells < 1400; cells++) {
        char spec[60];
        eb_cells_view v;
        (void)snprintf(spec, sizeof spec, "stable:fade=3,k=2,width=1,cells=%llu",
                       (unsigned long long)cells);
        eb_filter *const f = suite_new(spec);
        suite_at("%s", spec);
        HOLDS(eb_cells_view_of(f, &v));
        HOLDS(v.cells + (cells + 7) / 8 + 8 <= f->block + f->p.span);
        eb_free(f);
    }
}

static void memory_is_spent_as_asked(void **state) {
    (void)state;
    suite_each_base(memory_is_obeyed);
    suite_each_base(useful_bits);
}

/* A spec says beforehand what its filter takes and can do. */

static void is_as_described(const suite_case *c) {
    suite_memory m;
    suite_memory_init(&m, 0, 0xfe);
    eb_filter *f = NULL;
    eb_spec_info info;
    eb_error err;
    EB_INIT(info);
    OK(eb_spec_describe(c->text, &info, &err));
    OK(eb_new(&f, c->text, &m.allocator, &err));
    HOLDS(strcmp(info.canonical, c->spec) == 0 && strcmp(info.kind, c->kind->info.name) == 0);
    HOLDS(info.bytes == m.bytes && info.snapshot_bytes == eb_save_size(f));
    HOLDS(info.caps == eb_caps(f) && info.shards == eb_shards(f) && info.size == sizeof info);
    eb_free(f);
}

static void specs_are_described(void **state) {
    (void)state;
    eb_spec_info info, before;
    eb_error err;
    suite_each_near(is_as_described);
    memset(&info, 0x5a, sizeof info);
    info.size = sizeof info;
    before = info;
    GIVES(EB_ESPEC, eb_spec_describe("bloom:fpr=2", &info, &err));
    HOLDS(memcmp(&info, &before, sizeof info) == 0 && strstr(err.text, "fpr"));
    OK(eb_spec_describe("bloom:memory=1T", &info, &err)); /* more than there is */
    HOLDS(info.bytes > UINT64_C(1000000000000) &&
          info.bytes <= (UINT64_C(1) << 40) + strlen(info.canonical) + 32);
}

/* A size that does not fit in size_t is refused, and never cut to what fits.  This allocator has no
 * block of a gigabyte, and remembers who asked for one. */

static void *small_only(void *ctx, size_t bytes) {
    uint64_t *const most = ctx;
    *most = ebi_max(*most, bytes);
    return bytes < (size_t)1 << 30 ? malloc(bytes) : NULL;
}

static void small_free(void *ctx, void *p, size_t bytes) {
    (void)ctx, (void)bytes;
    free(p);
}

static void sizes_are_never_cut(void **state) {
    (void)state;
    static const char *const sizes[] = {"2G", "3G", "4100M", "6G", "16G", "64G"};
    uint64_t most;
    const eb_allocator mem = {sizeof mem, &most, small_only, NULL, small_free};
    size_t n, tried = 0;
    const eb_kind_info *const *const kinds = eb_kinds(&n);
    for (size_t i = 0; i < n * SUITE_COUNT(sizes); i++) {
        char spec[EB_SPEC_MAX];
        eb_spec_info info = {.size = sizeof info};
        eb_filter *f = NULL;
        eb_error err;
        (void)snprintf(spec, sizeof spec, "%s:memory=%s", kinds[i / SUITE_COUNT(sizes)]->name,
                       sizes[i % SUITE_COUNT(sizes)]);
        suite_at("%s", spec);
        if (eb_spec_describe(spec, &info, NULL) != EB_OK || info.bytes < UINT64_C(1) << 30)
            continue;
        most = 0;
        GIVES(EB_ENOMEM, eb_new(&f, spec, &mem, &err));
        HOLDS(!f && strstr(err.text, "memory"));
        HOLDS(most < (1 << 20) || most >= info.bytes - (1 << 20));
        HOLDS(sizeof(size_t) == 4 || most >= info.bytes - (1 << 20));
        tried++;
    }
    HOLDS(tried >= 5 * n);
}

/* experimental.h: cells */

static void inline_view(const suite_case *c) {
    enum { N = 2000 };
    eb_filter *const f = suite_filled(c->spec, N, 3);
    eb_cells_view v;
    const bool has = eb_cells_view_of(f, &v);
    HOLDS(!has || eb_shards(f) == 1);
    suite_stream s = suite_make_stream(f, N, N, 3);
    uint8_t seen[N];
    for (size_t i = 0; i < N; i += 2) s.hash[i] = suite_key(f, ebi_mix(i));
    calls_test(f, s.hash, N, seen);
    for (size_t i = 0; has && i < N; i++) HOLDS(eb_cells_test(&v, s.hash[i]) == (seen[i] != 0));
    suite_free_stream(&s);
    eb_free(f);
}

static void inline_tests_agree_with_batches(void **state) {
    (void)state;
    suite_each(inline_view);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failing_allocator_changes_nothing),
        cmocka_unit_test(dirty_memory_does_not_show),
        cmocka_unit_test(a_filter_that_is_moved_goes_on),
        cmocka_unit_test(a_failed_load_leaks_nothing),
        cmocka_unit_test(an_allocator_is_checked),
        cmocka_unit_test(memory_begins_at_a_cache_line),
        cmocka_unit_test(cells_have_room_behind_them),
        cmocka_unit_test(memory_is_spent_as_asked),
        cmocka_unit_test(specs_are_described),
        cmocka_unit_test(sizes_are_never_cut),
        cmocka_unit_test(inline_tests_agree_with_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
