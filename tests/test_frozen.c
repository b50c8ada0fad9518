/* test_frozen.c - counters that never change again: every code holds what it was given,
 * in the same bytes on every machine, and refuses damage; frozen filters answer as
 * before, and thaw to what they were. */
#include "cells/counters.h"
#include "query/query.h"
#include "suite.h"
#include <math.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Stores */

enum { N_MAX = 5000, SOURCE_BITS = 200 };

typedef struct made { /* counters in a store */
    const ebi_store *store;
    ebi_counter_array c;
    uint8_t *segment;
} made;

static made make(const ebi_store *store, uint64_t n, uint64_t bytes) {
    made m = {.store = store, .segment = aligned_alloc(64, bytes)};
    if (!m.segment) fail_msg("no memory for the test itself");
    memset(m.segment, 0, bytes);
    m.c = ebi_counters(store, m.segment, n, bytes);
    return m;
}

static made make_source(const uint64_t *value, uint64_t n) {
    const ebi_store *const sai = &ebi_store_sai_portable;
    made m = make(sai, n, ebi_counters_bytes(sai, n, SOURCE_BITS * 1000000));
    sai->init(&m.c);
    for (uint64_t i = 0; i < n; i++) (void)m.store->add(&m.c, i, value[i]);
    for (uint64_t i = 0; i < n; i++) HOLDS(m.store->get(&m.c, i) == value[i]);
    return m;
}

static made freeze(const ebi_store *store, const made *source, uint64_t more) {
    const ebi_source from = {source->store, &source->c};
    const uint64_t bytes = store->frozen_bytes(&from) + more;
    HOLDS(bytes % 64 == 0 && store->fits(source->c.n, bytes));
    made m = make(store, source->c.n, bytes);
    store->freeze(&m.c, &from);
    m.c = ebi_counters(store, m.segment, m.c.n, bytes);
    return m;
}

/* How counters are drawn: numbers of up to so many bits, a share of them zeros. */
typedef struct shape {
    const char *name;
    uint64_t n;
    unsigned bits, zeros; /* per cent */
} shape;

static const shape shapes[] = {{"nothing", 3000, 0, 100},     {"few", 3000, 3, 95},
                               {"half", 4999, 2, 50},         {"skewed", 5000, 20, 60},
                               {"long", 1000, 40, 10},        {"the longest", 300, 48, 0},
                               {"one line", 64, 5, 30},       {"a block and one", 65, 6, 0},
                               {"a superblock", 1024, 8, 20}, {"and one more", 1025, 8, 20}};

static void draw(const shape *s, uint64_t seed, uint64_t *value) {
    uint64_t random = ebi_mix(seed);
    for (uint64_t i = 0; i < s->n; i++) {
        const unsigned bits = (unsigned)suite_below(&random, s->bits + 1);
        value[i] =
            suite_below(&random, 100) < s->zeros ? 0 : suite_random(&random) & ebi_ones(bits);
    }
    if (s->bits == 48) value[s->n - 1] = value[0] = EBI_COUNTER_MAX;
}

static size_t frozen_stores(const ebi_store **list) {
    size_t n = 0;
    list[n++] = &ebi_frozen_line_portable;
    if (ebi_has_bmi2()) list[n++] = &ebi_frozen_line_bmi2;
    return n;
}

typedef void store_test(const ebi_store *store, const shape *s, const uint64_t *value);

static void each_store_and_shape(store_test *test, uint64_t rounds) {
    static uint64_t value[N_MAX];
    const ebi_store *list[5];
    const size_t n = frozen_stores(list);
    for (uint64_t seed = 1; seed <= rounds; seed++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < SUITE_COUNT(shapes); j++) {
                suite_at("%s, %s, seed %llu", list[i]->name, shapes[j].name,
                         (unsigned long long)seed);
                draw(&shapes[j], seed * 100 + j, value);
                test(list[i], &shapes[j], value);
            }
}

/* EVERBLOOM_OPERATIONS=1e8 sets how many counters each store gets. */
static uint64_t rounds_wanted(void) {
    const char *const wish = getenv("EVERBLOOM_OPERATIONS");
    uint64_t counters = 0;
    for (size_t i = 0; i < SUITE_COUNT(shapes); i++) counters += shapes[i].n;
    return 1 + (wish ? (uint64_t)(strtod(wish, NULL) / (double)counters) : 0);
}

static void holds_what_it_got(const ebi_store *store, const shape *s, const uint64_t *value) {
    static uint64_t index[N_MAX], read[N_MAX];
    const made source = make_source(value, s->n);
    for (uint64_t more = 0; more <= 128; more += 64) { /* room may be larger than it must be */
        const made m = freeze(store, &source, more);
        uint64_t random = 3, saturated = 0;
        HOLDS(store->check(&m.c));
        for (uint64_t i = 0; i < s->n; i++) {
            HOLDS(store->get(&m.c, i) == value[i]);
            index[i] = more == 0 ? i : suite_below(&random, s->n);
            saturated += value[i] == EBI_COUNTER_MAX;
        }
        store->read(&m.c, index, s->n, read);
        for (uint64_t i = 0; i < s->n; i++) HOLDS(read[i] == value[index[i]]);
        HOLDS(m.c.state->saturated == saturated);
        free(m.segment);
    }
    free(source.segment);
}

static void frozen_counters_are_what_they_were(void **state) {
    (void)state;
    each_store_and_shape(holds_what_it_got, rounds_wanted());
}

static bool refused(const made *m, uint64_t bit) {
    m->segment[bit / 8] ^= (uint8_t)(1 << bit % 8);
    const ebi_counter_array c = ebi_counters(m->store, m->segment, m->c.n, m->c.bytes);
    const bool no = !m->store->check(&c);
    for (uint64_t i = 0; i < c.n && !no; i++) {
        HOLDS(m->store->get(&c, i) <= EBI_COUNTER_MAX);
        HOLDS(m->store->address(&c, i) < m->segment + c.bytes);
    }
    m->segment[bit / 8] ^= (uint8_t)(1 << bit % 8);
    return no;
}

static void refuses_damage(const ebi_store *store, const shape *s, const uint64_t *value) {
    const made source = make_source(value, s->n), m = freeze(store, &source, 64);
    uint64_t random = 5;
    for (uint64_t bit = 0; bit < 8 * sizeof *m.c.state; bit++) HOLDS(refused(&m, bit));
    for (uint64_t bit = 8 * (m.c.bytes - 72); bit < 8 * m.c.bytes; bit++) HOLDS(refused(&m, bit));
    for (int i = 0; i < 500; i++) (void)refused(&m, suite_below(&random, 8 * m.c.bytes));
    free(m.segment);
    free(source.segment);
}

static void damaged_counters_are_refused(void **state) {
    (void)state;
    SUITE_LONG();
    each_store_and_shape(refuses_damage, 1);
}

/* A segment at the end of a page that nothing may read beyond: its last words become numbers that
 * say of any code that it goes on. */
static void no_check_reads_behind_the_segment(void **state) {
    (void)state;
    enum { GUARD_N = 640, PAGES = 1 << 16 };
    static const ebi_store *const list[] = {&ebi_store_u32,
                                            &ebi_store_line_portable,
                                            &ebi_store_sai_portable,
                                            &ebi_store_wide_sums_portable,
                                            &ebi_store_wide_most_portable,
                                            &ebi_frozen_line_portable};
    uint8_t *const map =
        mmap(NULL, 2 * PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t random = 1;
    HOLDS(map != MAP_FAILED && mprotect(map + PAGES, PAGES, PROT_NONE) == 0);
    for (size_t i = 0; i < SUITE_COUNT(list); i++) {
        const uint64_t bytes = ebi_counters_bytes(list[i], GUARD_N, 0);
        uint8_t *const segment = map + PAGES - bytes;
        suite_at("%s", list[i]->name);
        memset(map, 0, PAGES);
        ebi_counter_array c = ebi_counters(list[i], segment, GUARD_N, bytes);
        if (list[i]->init) list[i]->init(&c);
        for (int round = 0; round < 400; round++) {
            const uint64_t tail = 8 * (1 + suite_below(&random, 12));
            uint64_t old[12], word = UINT64_C(0x9249249249249249) >> suite_below(&random, 3);
            if (round % 4 == 1) word = suite_random(&random);
            if (round % 4 == 2) word = suite_random(&random) & suite_random(&random) & word;
            if (round % 4 == 3) word = UINT64_MAX << suite_below(&random, 64);
            memcpy(old, map + PAGES - tail, tail);
            for (uint64_t at = 0; at < tail; at += 8) ebi_store64(map + PAGES - tail + at, word);
            c = ebi_counters(list[i], segment, GUARD_N, bytes);
            (void)list[i]->check(&c);
            memcpy(map + PAGES - tail, old, tail);
        }
    }
    (void)munmap(map, 2 * PAGES);
}

static void machines_agree(void **state) {
    (void)state;
    static uint64_t value[N_MAX];
    for (size_t i = 0; i < SUITE_COUNT(shapes) && ebi_has_bmi2(); i++) {
        draw(&shapes[i], i + 50, value);
        const made source = make_source(value, shapes[i].n);
        const made a = freeze(&ebi_frozen_line_portable, &source, 0);
        const made b = freeze(&ebi_frozen_line_bmi2, &source, 0);
        HOLDS(a.c.bytes == b.c.bytes && memcmp(a.segment, b.segment, a.c.bytes) == 0);
        free(a.segment);
        free(b.segment);
        free(source.segment);
    }
}

/* Bits for each counter, m = 1e6, k = 5, n k = 0.7 m, frequencies as 1/rank with means
 * of 2, 10 and 100: what the lines were known to need. */
static void counters_of(double mean, uint64_t m, uint64_t *value) {
    const uint64_t n = 7 * m / 50;
    double sum = 0;
    memset(value, 0, m * sizeof *value);
    for (uint64_t i = 1; i <= n; i++) sum += 1.0 / (double)i;
    for (uint64_t i = 1; i <= n; i++) {
        const double count = round(mean * (double)n / sum / (double)i);
        uint64_t x = ebi_mix(i);
        for (uint64_t j = 0; j < 5; j++, x = eb_next(x))
            value[j * (m / 5) + eb_scale(x, m / 5)] += (uint64_t)fmax(1, count);
    }
}

static void frozen_counters_are_short(void **state) {
    (void)state;
    enum { M = 1000000 };
    static const struct { double mean, line; } most[] = {{2, 2.53}, {10, 3.38}, {100, 6.50}};
    uint64_t *const value = calloc(M, sizeof *value);
    HOLDS(value != NULL);
    for (size_t i = 0; i < SUITE_COUNT(most); i++) {
        counters_of(most[i].mean, M, value);
        made source = make(&ebi_store_u32, M, ebi_counters_bytes(&ebi_store_u32, M, 32000000));
        for (uint64_t j = 0; j < M; j++) (void)source.store->add(&source.c, j, value[j]);
        const ebi_source from = {source.store, &source.c};
        suite_at("mean %g", most[i].mean);
        HOLDS(8.0 * (double)ebi_frozen_line()->frozen_bytes(&from) / M <= most[i].line);
        free(source.segment);
    }
    free(value);
}

/* Filters */

static const char *const specs[] = {
    "spectral:update=plain,cells=3000,span=0,store=u32",
    "spectral:update=conservative,cells=3000,store=u32",
    "spectral:update=plain,cells=3000,store=line,span=200",
    "spectral:update=plain,cells=1000,store=sai,shards=4",
    "spectral_rm:cells=3000,second=64",
    "spectral_rm:cells=1500,second=64,shards=2,store=u32",
    "spectral_rm:method=rm,cells=3000",
    "spectral_rm:method=rm+bf,cells=3000",
    "spectral_rm:method=trm,cells=3000",
};

static eb_filter *frozen_of(const eb_filter *f) {
    eb_filter *frozen = NULL;
    eb_error err = {.text = ""};
    if (ebi_freeze(&frozen, f, NULL, &err) != EB_OK) fail_msg("%s", err.text);
    return frozen;
}

static void same_answers(const eb_filter *f, const eb_filter *g) {
    enum { N = 400 };
    suite_stream s = suite_make_stream(f, N, N, 7); /* some were added */
    double a[N], b[N];
    uint8_t x[N], y[N];
    calls_count(f, s.hash, N, a);
    calls_count(g, s.hash, N, b);
    calls_test(f, s.hash, N, x);
    calls_test(g, s.hash, N, y);
    HOLDS(memcmp(a, b, sizeof a) == 0 && memcmp(x, y, sizeof x) == 0);
    for (size_t i = 0; i < 50; i++) {
        eb_estimate e = {.size = sizeof e}, other = {.size = sizeof other};
        OK(eb_estimate_batch(f, SUITE_ONE(s.hash[i]), &e, NULL));
        OK(eb_estimate_batch(g, SUITE_ONE(s.hash[i]), &other, NULL));
        HOLDS(e.count == other.count && e.lower == other.lower && e.upper == other.upper);
        HOLDS(e.single == other.single);
    }
    eb_moments m = {.size = sizeof m}, n = {.size = sizeof n};
    HOLDS(eb_moments_of(f, &m, NULL) == eb_moments_of(g, &n, NULL) && m.f2 == n.f2);
    eb_stats p = {.size = sizeof p}, q = {.size = sizeof q};
    calls_stat(f, &p);
    calls_stat(g, &q);
    HOLDS(p.adds == q.adds && p.cells_used == q.cells_used && p.fpr == q.fpr);
    suite_free_stream(&s);
}

static void takes_no_keys(eb_filter *frozen, const eb_filter *f) {
    const eb_hash h = 1;
    const eb_batch one = A_BATCH(1, &h, NULL, NULL);
    eb_filter *copy;
    eb_error err = {.text = ""};
    OK(eb_clone(&copy, frozen, NULL, NULL));
    GIVES(EB_EREADONLY, eb_add_batch(frozen, &one, NULL));
    GIVES(eb_caps(f) & EB_CAN_REMOVE ? EB_EREADONLY : EB_ENOTSUP,
          eb_remove_batch(frozen, &one, NULL));
    GIVES(EB_EREADONLY, eb_merge(frozen, f, 1, &err));
    HOLDS(strstr(err.text, "thaw"));
    (void)eb_clear(frozen, NULL);
    HOLDS(suite_equal(frozen, copy));
    eb_free(copy);
}

static void saves_and_loads(const eb_filter *frozen) {
    size_t len;
    uint8_t *const bytes = suite_bytes(frozen, &len);
    eb_filter *loaded, *view;
    OK(eb_load(&loaded, bytes, len, NULL, NULL, NULL));
    OK(eb_view(&view, bytes, len, 0, NULL, NULL));
    HOLDS(suite_equal(loaded, frozen) && suite_equal(view, frozen));
    same_answers(frozen, view);
    eb_free(view);
    eb_free(loaded);
    free(bytes);
}

typedef void filter_test(const eb_filter *f, eb_filter *frozen);

static void each_spec(filter_test *test) {
    for (size_t i = 0; i < SUITE_COUNT(specs); i++) {
        eb_filter *const f = suite_filled(specs[i], 400, 7);
        eb_filter *const frozen = frozen_of(f);
        suite_at("%s", specs[i]);
        test(f, frozen);
        eb_free(frozen);
        eb_free(f);
    }
}

static void answers_and_refuses(const eb_filter *f, eb_filter *frozen) {
    HOLDS(eb_save_size(frozen) < eb_save_size(f));
    same_answers(f, frozen);
    takes_no_keys(frozen, f);
    saves_and_loads(frozen);
}

static void frozen_filters_answer_as_before(void **state) {
    (void)state;
    each_spec(answers_and_refuses);
}

static void thaws(const eb_filter *f, eb_filter *frozen) {
    static const char *const stores[] = {NULL, "u32", "line", "sai"};
    const bool plain = strcmp(f->kind->info.name, "spectral") == 0; /* knows all stores */
    for (size_t i = 0; i < (plain ? SUITE_COUNT(stores) : 3); i++) {
        char was[EB_SPEC_MAX], is[EB_SPEC_MAX];
        eb_filter *thawed, *again, *goes_on;
        eb_error err = {.text = ""};
        char changes[40];
        (void)snprintf(changes, sizeof changes, "frozen=no%s%s", stores[i] ? ",store=" : "",
                       stores[i] ? stores[i] : "");
        if (eb_convert(&thawed, frozen, changes, NULL, &err) != EB_OK) fail_msg("%s", err.text);
        same_answers(f, thawed);
        (void)snprintf(was, sizeof was, "%s", eb_spec(f));
        (void)snprintf(is, sizeof is, "%s", eb_spec(thawed));
        HOLDS(stores[i] || strcmp(was, is) == 0);
        again = frozen_of(thawed);
        OK(eb_clone(&goes_on, f, NULL, NULL));
        suite_stream s = suite_make_stream(f, 500, UINT64_MAX, 8);
        const eb_batch all = suite_part(&s, 0, s.n);
        OK(eb_add_batch(goes_on, &all, NULL));
        OK(eb_add_batch(thawed, &all, NULL));
        same_answers(goes_on, thawed);
        suite_free_stream(&s);
        eb_free(again);
        eb_free(goes_on);
        eb_free(thawed);
    }
}

static void thawed_filters_go_on(void **state) {
    (void)state;
    SUITE_LONG();
    each_spec(thaws);
}

static void bytes_depend_on_counters_alone(void **state) {
    (void)state;
    eb_filter *const f = suite_filled(specs[0], 2000, 7), *thawed, *other;
    eb_filter *const a = frozen_of(f), *const b = frozen_of(a);
    OK(ebi_thaw(&thawed, b, NULL, NULL, NULL, NULL));
    other = frozen_of(thawed);
    HOLDS(suite_equal(a, b) && suite_equal(a, other));
    eb_filter *const filters[] = {f, a, b, thawed, other};
    for (size_t j = 0; j < SUITE_COUNT(filters); j++) eb_free(filters[j]);
}

/* Frozen filters in operations with the others: as if they were not. */
static void operates(const eb_filter *f, eb_filter *frozen) {
    eb_filter *a, *b, *x = NULL, *y = NULL;
    OK(eb_clone(&a, f, NULL, NULL));
    OK(eb_clone(&b, f, NULL, NULL));
    const eb_status merged = eb_merge(a, f, 1, NULL);
    GIVES(merged, eb_merge(b, frozen, 1, NULL));
    HOLDS(suite_equal(a, b));
    GIVES(eb_merge(a, f, -1, NULL), eb_merge(b, frozen, -1, NULL));
    HOLDS(suite_equal(a, b));
    if (!(eb_caps(f) & EB_CAN_MERGE)) HOLDS(merged == EB_ENOTSUP);
    GIVES(eb_combine(&x, f, f, EB_PRODUCT, NULL, NULL),
          eb_combine(&y, frozen, f, EB_PRODUCT, NULL, NULL));
    HOLDS(!x || suite_equal(x, y));
    if (x) { /* what is sealed stays so */
        eb_filter *const z = frozen_of(x), *thawed;
        const eb_batch none = A_BATCH(0, NULL, NULL, NULL);
        OK(ebi_thaw(&thawed, z, NULL, NULL, NULL, NULL));
        GIVES(EB_EREADONLY, eb_add_batch(thawed, &none, NULL));
        eb_free(z);
        eb_free(thawed);
    }
    eb_free(x);
    eb_free(y);
    x = y = NULL;
    GIVES(ebi_fold(&x, f, NULL, NULL), ebi_fold(&y, frozen, NULL, NULL));
    HOLDS(!x || suite_equal(x, y));
    eb_filter *const rest[] = {a, b, x, y};
    for (size_t i = 0; i < SUITE_COUNT(rest); i++) eb_free(rest[i]);
}

static void frozen_filters_take_part_in_operations(void **state) {
    (void)state;
    each_spec(operates);
}

static void damage_to_filters_is_refused(void **state) {
    (void)state;
    eb_filter *const f = suite_filled(specs[4], 400, 7), *const frozen = frozen_of(f);
    size_t len;
    uint8_t *const bytes = suite_bytes(frozen, &len);
    uint64_t random = 9;
    for (int j = 0; j < 500; j++) { /* behind right checksums */
        eb_filter *loaded = NULL;
        const uint64_t bit = suite_below(&random, 8 * len);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        suite_fix_sums(bytes, len);
        if (eb_load(&loaded, bytes, len, NULL, NULL, NULL) == EB_OK) same_answers(loaded, loaded);
        eb_free(loaded);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(bytes);
    eb_free(f);
    eb_free(frozen);
}

/* Another process: what comes through a pipe goes to a file, which is mapped and asked in
 * place; the answers come back through a pipe. */

enum { ASKED = 300 };

static void write_all(int fd, const void *bytes, size_t n) {
    for (size_t done = 0; done < n;) {
        const ssize_t put = write(fd, (const char *)bytes + done, n - done);
        HOLDS(put > 0);
        done += (size_t)put;
    }
}

static size_t copy_to_file(int from, int file) {
    char piece[1000];
    size_t length = 0;
    for (ssize_t got; (got = read(from, piece, sizeof piece)) > 0; length += (size_t)got)
        if (write(file, piece, (size_t)got) != got) return 0;
    return length;
}

/* The counts of hashes 0, 1, ... (mixed), from a mapped file; no test macros here. */
static int answer_from_file(int from, int to) {
    FILE *const file = tmpfile();
    const size_t length = file ? copy_to_file(from, fileno(file)) : 0;
    void *const map = length ? mmap(NULL, length, PROT_READ, MAP_SHARED, fileno(file), 0) : NULL;
    eb_filter *view = NULL;
    double count[ASKED];
    eb_hash h[ASKED];
    if (!map || map == MAP_FAILED || eb_view(&view, map, length, 0, NULL, NULL) != EB_OK) return 1;
    if (view->block <= (uint8_t *)map || view->block + ebi_bytes(view) > (uint8_t *)map + length)
        return 2; /* a copy */
    for (uint64_t i = 0; i < ASKED; i++) h[i] = ebi_mix(i);
    calls_count(view, h, ASKED, count);
    const bool sent = write(to, count, sizeof count) == (ssize_t)sizeof count;
    eb_free(view);
    (void)munmap(map, length);
    (void)fclose(file);
    return sent ? 0 : 3;
}

static void answers_elsewhere(const eb_filter *frozen, double *count) {
    int there[2], back[2], status = 0;
    size_t len;
    HOLDS(pipe(there) == 0 && pipe(back) == 0);
    const pid_t child = fork();
    HOLDS(child >= 0);
    if (child == 0) {
        (void)close(there[1]);
        _exit(answer_from_file(there[0], back[1]));
    }
    uint8_t *const bytes = suite_bytes(frozen, &len);
    (void)close(there[0]);
    (void)close(back[1]);
    write_all(there[1], bytes, len);
    (void)close(there[1]);
    HOLDS(read(back[0], count, ASKED * sizeof *count) == (ssize_t)(ASKED * sizeof *count));
    HOLDS(waitpid(child, &status, 0) == child && status == 0);
    (void)close(back[0]);
    free(bytes);
}

static void frozen_filters_can_be_mapped_elsewhere(void **state) {
    (void)state;
    eb_filter *const f = suite_new("spectral:update=plain,cells=20000,shards=2");
    eb_hash h[ASKED];
    double want[ASKED], got[ASKED];
    for (uint32_t j = 0; j < ASKED; j++) {
        const uint64_t value = j % 7 * j + 1;
        h[j] = ebi_mix(j);
        if (j % 3 > 0) OK(eb_add_batch(f, &A_BATCH(1, h + j, &value, NULL), NULL));
    }
    eb_filter *const frozen = frozen_of(f);
    calls_count(f, h, ASKED, want);
    answers_elsewhere(frozen, got);
    HOLDS(memcmp(want, got, sizeof want) == 0 && want[1] == 2);
    eb_free(frozen);
    eb_free(f);
}

static void refused_with(eb_status status, eb_status want, const eb_error *err,
                         const char *reason) {
    GIVES(want, status);
    if (!strstr(err->text, reason)) fail_msg("%s", err->text);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    eb_filter *const f = suite_filled(specs[0], 5000, 7), *const bloom = suite_new("bloom");
    eb_filter *const frozen = frozen_of(f), *out = NULL;
    char spec[EB_SPEC_MAX];
    eb_error err = {.text = ""};
    eb_lengths lengths = {.size = sizeof lengths};
    refused_with(ebi_freeze(&out, bloom, NULL, &err), EB_ENOTSUP, &err, "bloom");
    refused_with(eb_lengths_of(bloom, &lengths, &err), EB_ENOTSUP, &err, "bloom");
    refused_with(eb_convert(&out, f, "frozen=gamma", NULL, &err), EB_ENOTSUP, &err, "frozen=gamma");
    refused_with(ebi_thaw(&out, f, NULL, NULL, NULL, &err), EB_EINVAL, &err, "not frozen");
    refused_with(eb_convert(&out, frozen, "frozen=no,store=u9", NULL, &err), EB_ENOTSUP, &err,
                 "store must be one of u32|line|sai|wide, not u9");
    refused_with(eb_convert(&out, frozen, "frozen=no,store=line,counter_bits=1.5", NULL, &err),
                 EB_EINVAL, &err, "more counter_bits");
    refused_with(eb_convert(&out, frozen, "frozen=no,store=line,counter_bits=1.2", NULL, &err),
                 EB_ESPEC, &err, "counter_bits must be at least 1.5");
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(frozen));
    refused_with(eb_new(&out, spec, NULL, &err), EB_ESPEC, &err, "eb_convert");
    refused_with(eb_new(&out, "spectral:frozen=line", NULL, &err), EB_ESPEC, &err, "room");
    refused_with(eb_new(&out, "spectral:room=640", NULL, &err), EB_ESPEC, &err, "room");
    refused_with(calls_resolve("spectral:cells=6400,frozen=line,room=640", spec, &err), EB_ESPEC,
                 &err, "enough for 6400");
    HOLDS(out == NULL);
    for (size_t fail_at = 1; fail_at <= 2; fail_at++) {
        suite_memory m;
        suite_memory_init(&m, fail_at, 0xa5);
        GIVES(EB_ENOMEM, ebi_freeze(&out, f, &m.allocator, NULL));
        suite_memory_init(&m, fail_at, 0xa5);
        GIVES(EB_ENOMEM, ebi_thaw(&out, frozen, NULL, NULL, &m.allocator, NULL));
        HOLDS(out == NULL && m.blocks == 0);
    }
    eb_free(f);
    eb_free(frozen);
    eb_free(bloom);
}

static void lengths_are_those_of_the_counters(void **state) {
    (void)state;
    eb_filter *const f = suite_new("spectral:update=plain,k=2,cells=1000,store=u32,shards=2");
    const eb_hash h[] = {1, UINT64_MAX};
    const uint64_t value[] = {5, 1u << 20};
    const eb_batch two = A_BATCH(2, h, value, NULL);
    eb_lengths lengths = {.size = sizeof lengths};
    OK(eb_add_batch(f, &two, NULL));
    OK(eb_lengths_of(f, &lengths, NULL));
    HOLDS(lengths.counters[0] == 1996 && lengths.counters[3] == 2 && lengths.counters[21] == 2);
    HOLDS(!lengths.frozen);
    NEAR(lengths.bits, 32, 2);
    eb_filter *const frozen = frozen_of(f);
    OK(eb_lengths_of(frozen, &lengths, NULL));
    HOLDS(lengths.counters[0] == 1996 && lengths.frozen && lengths.bits < 3);
    eb_free(f);
    eb_free(frozen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frozen_counters_are_what_they_were),
        cmocka_unit_test(damaged_counters_are_refused),
        cmocka_unit_test(no_check_reads_behind_the_segment),
        cmocka_unit_test(machines_agree),
        cmocka_unit_test(frozen_counters_are_short),
        cmocka_unit_test(frozen_filters_answer_as_before),
        cmocka_unit_test(thawed_filters_go_on),
        cmocka_unit_test(bytes_depend_on_counters_alone),
        cmocka_unit_test(frozen_filters_take_part_in_operations),
        cmocka_unit_test(damage_to_filters_is_refused),
        cmocka_unit_test(frozen_filters_can_be_mapped_elsewhere),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(lengths_are_those_of_the_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
