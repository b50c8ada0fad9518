/* suite.c - see suite.h. */
#include "suite.h"
#include "api/number.h"
#include <math.h>

/* Checks */

static char suite_place[2 * EB_SPEC_MAX];

void suite_at(const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(suite_place, sizeof suite_place, format, args);
    va_end(args);
}

void suite_holds(bool condition, const char *what, const char *file, int line) {
    if (condition) return;
    print_error("at %s\n%s:%d: does not hold: %s\n", suite_place, file, line, what);
    fail();
}

void suite_near(double value, double wanted, double error, const char *what, const char *file,
                int line) {
    char text[200];
    (void)snprintf(text, sizeof text, "%s = %.12g is within %.3g of %.12g", what, value, error,
                   wanted);
    suite_holds(value >= wanted - error && value <= wanted + error, text, file, line);
}

void suite_gives(eb_status got, eb_status want, const char *what, const char *file, int line) {
    if (got == want) return;
    print_error("at %s\n%s:%d: \"%s\", not \"%s\": %s\n", suite_place, file, line,
                eb_status_name(got), eb_status_name(want), what);
    fail();
}

/* Randomness: xorshift64* */

uint64_t suite_random(uint64_t *state) {
    uint64_t x = *state ? *state : 88172645463325252u;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(2685821657736338717);
}

uint64_t suite_below(uint64_t *state, uint64_t range) {
    return suite_random(state) % range; /* the bias is far below what tests can see */
}

/* Cases */

enum { CASES_MAX = 4000, NEAR_KIB = 2, NEAR_KIB_MAX = 64, FAR_KIB = 640, FAR_KIB_MAX = 1280 };
static suite_case suite_list[CASES_MAX];
static size_t suite_list_size;

bool suite_parse(const char *spec, ebi_params *p) {
    const ebi_kind *kind;
    eb_error err;
    const eb_status status = ebi_spec_parse(spec, &kind, p, &err);
    if (status == EB_OK) return true;
    if (status != EB_ESPEC || strlen(err.text) < 10) fail_msg("%s: %s", spec, err.text);
    return false;
}

bool suite_quick(void) {
    return getenv("EVERBLOOM_QUICK") != NULL;
}

/* Whether a quick run leaves this one out: it tries each kind's first specs and an eighth of the
 * others. */
static bool suite_left_out(void) {
    enum { QUICK_STEP = 8 };
    static unsigned asked;
    return suite_quick() && asked++ % QUICK_STEP != 0;
}

static bool suite_has(const char *spec) {
    for (size_t i = 0; i < suite_list_size; i++)
        if (strcmp(suite_list[i].spec, spec) == 0) return true;
    return false;
}

/* Tests add some thousands of keys: a filter must have room for them, or be able to grow. */
static bool suite_fills_up(const ebi_kind *kind, ebi_params p) {
    enum { ENOUGH = 100000, PARTS = 12 };
    if (!kind->growing || kind->growing->capacity(&p) >= ENOUGH) return false;
    return !kind->growing->set_parts(&p, PARTS) || kind->growing->capacity(&p) < ENOUGH;
}

/* kind:memory=M,extra with the smallest M from `kib` on that resolves and makes
 * a block of moderate size. */
static bool suite_try(const ebi_kind *kind, unsigned kib, const char *extra) {
    suite_case c = {.kind = kind, .base = *extra == '\0' && kib < FAR_KIB, .far = kib >= FAR_KIB};
    for (; kib <= (c.far ? FAR_KIB_MAX : NEAR_KIB_MAX); kib *= 2) {
        ebi_params p;
        (void)snprintf(c.text, sizeof c.text, "%s:memory=%uK%s%s", kind->info.name, kib,
                       *extra ? "," : "", extra);
        if (!suite_parse(c.text, &p) || p.span * p.opt[EBI_O_SHARDS] > 4 << 20) continue;
        if (suite_fills_up(kind, p)) return false;
        (void)ebi_spec_print(kind, &p, c.spec, sizeof c.spec);
        if (suite_has(c.spec)) return true;
        if (suite_list_size == CASES_MAX) fail_msg("more than %d cases", CASES_MAX);
        suite_list[suite_list_size++] = c;
        return true;
    }
    return false;
}

static void suite_choices(const ebi_kind *kind, const eb_option *o, bool own) {
    for (const char *p = o->type; *p; p += strcspn(p, "|"), p += *p == '|') {
        char extra[120];
        if (suite_left_out()) continue;
        (void)snprintf(extra, sizeof extra, "%s=%.*s", o->key, (int)strcspn(p, "|"), p);
        (void)suite_try(kind, NEAR_KIB, extra);
        if (!own) continue;
        (void)suite_try(kind, FAR_KIB, extra);
        (void)snprintf(extra, sizeof extra, "shards=4,%s=%.*s", o->key, (int)strcspn(p, "|"), p);
        (void)suite_try(kind, NEAR_KIB, extra);
    }
}

/* A value between the least and the largest, nearer to the least. */
static void suite_middle(const eb_option *o, char *text, size_t cap) {
    uint64_t value;
    double low = 0, high = 0;
    (void)ebi_number_read(o->min, strlen(o->min), o->type, &value, &low);
    (void)ebi_number_read(o->max, strlen(o->max), o->type, &value, &high);
    const double middle = low > 0 ? sqrt(low * high) : (low + high) / 2;
    const bool whole = strcmp(o->type, "fixed") != 0 && strcmp(o->type, "real") != 0;
    (void)snprintf(text, cap, whole ? "%.0f" : "%.6f", middle);
}

static void suite_numbers(const ebi_kind *kind, const eb_option *o) {
    char middle[64], extra[120];
    suite_middle(o, middle, sizeof middle);
    const char *const values[] = {o->min, middle, o->max};
    for (size_t i = 0; i < SUITE_COUNT(values); i++) {
        const size_t before = suite_list_size;
        if (suite_left_out()) continue;
        (void)snprintf(extra, sizeof extra, "%s=%s", o->key, values[i]);
        (void)suite_try(kind, NEAR_KIB, extra);
        if (strcmp(o->type, "int") == 0) (void)suite_try(kind, FAR_KIB, extra);
        for (size_t j = before; j < suite_list_size; j++) suite_list[j].extreme = i != 1;
    }
}

static void suite_cases_of(const ebi_kind *kind) {
    static const char *const common[] = {"", "shards=4", "seed=7", "hash=sip,shards=2"};
    for (size_t i = 0; i < SUITE_COUNT(common); i++)
        if (!suite_try(kind, NEAR_KIB, common[i])) fail_msg("%s: nothing small", kind->info.name);
    if (!suite_try(kind, FAR_KIB, "") || !suite_try(kind, FAR_KIB, "shards=4"))
        fail_msg("%s: nothing far", kind->info.name);
    if (kind->growing) (void)suite_try(kind, NEAR_KIB, "limit=60,grow=2");
    if (kind->growing) (void)suite_try(kind, NEAR_KIB, "limit=200,grow=4,k=3");
    if (kind->growing) (void)suite_try(kind, NEAR_KIB, "limit=50,grow=2,layout=line");
    for (size_t i = EBI_O_HASH; kind->info.options[i].key; i++) {
        const eb_option *const o = &kind->info.options[i];
        if (strchr(o->type, '|'))
            suite_choices(kind, o, i >= EBI_O_OWN);
        else if (i >= EBI_O_OWN && o->min && o->max)
            suite_numbers(kind, o);
    }
}

const suite_case *suite_cases(size_t *n) {
    if (suite_list_size == 0)
        for (size_t i = 0; i < ebi_registry_size; i++) suite_cases_of(ebi_registry[i].kind);
    *n = suite_list_size;
    return suite_list;
}

static void suite_run(suite_test *test, bool far, bool base_only) {
    size_t n;
    const suite_case *const c = suite_cases(&n);
    for (size_t i = 0; i < n; i++) {
        if ((c[i].far && !far) || (base_only && !c[i].base)) continue;
        suite_at("%s", c[i].text);
        test(&c[i]);
    }
}

uint64_t suite_caps(const suite_case *c) {
    ebi_params p;
    if (!c->kind->caps || !suite_parse(c->spec, &p)) return c->kind->info.caps;
    return c->kind->caps(&p);
}

bool suite_limited(const eb_filter *f) {
    return f->kind->growing && f->kind->growing->capacity(&f->p) != UINT64_MAX;
}

void suite_each(suite_test *test) {
    suite_run(test, true, false);
}

void suite_each_near(suite_test *test) {
    suite_run(test, false, false);
}

void suite_each_base(suite_test *test) {
    suite_run(test, false, true);
}

/* Streams */

static void *suite_get(size_t n, size_t size) {
    void *const p = calloc(n + 1, size);
    if (!p) fail_msg("no memory for the test itself");
    return p;
}

eb_hash suite_key(const eb_filter *f, eb_hash h) {
    uint64_t low, high;
    if (!f->kind->domain) return h;
    f->kind->domain(&f->p, &low, &high);
    return high - low == UINT64_MAX ? h : low + (h - low) % (high - low + 1);
}

suite_stream suite_make_stream(const eb_filter *f, size_t n, uint64_t universe, uint64_t seed) {
    suite_stream s = {n, suite_get(n, sizeof *s.hash), suite_get(n, sizeof *s.value),
                      suite_get(n, sizeof *s.time), calls_keeps(f)};
    const uint64_t values = ebi_min((uint64_t)f->p.value_max - f->p.value_min + 1, 9);
    uint64_t random = ebi_mix(seed), time = 0;
    for (size_t i = 0; i < n; i++) {
        s.hash[i] = suite_key(f, ebi_mix(ebi_mix(seed + 1) + suite_below(&random, universe)));
        s.value[i] = f->p.value_min + (uint32_t)suite_below(&random, values);
        time += suite_below(&random, 50) == 0 ? 100 : suite_below(&random, 3);
        s.time[i] = time;
    }
    return s;
}

void suite_free_stream(suite_stream *s) {
    free(s->hash);
    free(s->value);
    free(s->time);
}

eb_hash suite_hash(const eb_filter *f, const void *p, size_t len) {
    const eb_key key = {p, len};
    eb_hash h;
    if (f->kind->domain)
        ebi_hash_xxh3(f->p.opt[EBI_O_SEED], &key, 1, &h);
    else
        calls_hash(f, &key, 1, &h);
    return suite_key(f, h);
}

/* A batch only points to what its keys are: the last ones stay. */
eb_batch suite_part(const suite_stream *s, size_t from, size_t to) {
    enum { KEPT = 1 << 16 };
    static eb_keys kept[KEPT];
    static size_t next;
    eb_keys *const keys = &kept[next++ % KEPT];
    *keys = *CALLS_KEYS(s->hash + from);
    eb_batch b = A_BATCH(to - from, s->hash + from, s->value + from, s->time + from);
    if (s->keeps) b.keys = keys;
    return b;
}

eb_filter *suite_new(const char *spec) {
    eb_filter *f = NULL;
    eb_error err = {.text = ""};
    if (eb_new(&f, spec, NULL, &err) != EB_OK) fail_msg("%s: %s", spec, err.text);
    return f;
}

eb_filter *suite_filled(const char *spec, size_t n, uint64_t seed) {
    eb_filter *const f = suite_new(spec);
    suite_stream s = suite_make_stream(f, n, n * 2 / 3 + 1, seed);
    const eb_batch all = suite_part(&s, 0, n);
    OK(eb_add_batch(f, &all, NULL));
    suite_free_stream(&s);
    return f;
}

/* Bytes */

uint8_t *suite_bytes(const eb_filter *f, size_t *len) {
    const size_t size = eb_save_size(f);
    uint8_t *const bytes = suite_get(size, 1);
    OK(eb_save(f, bytes, size, NULL));
    if (len) *len = size;
    return bytes;
}

bool suite_equal(const eb_filter *a, const eb_filter *b) {
    size_t a_len, b_len;
    uint8_t *const a_bytes = suite_bytes(a, &a_len), *const b_bytes = suite_bytes(b, &b_len);
    const bool same = a_len == b_len && memcmp(a_bytes, b_bytes, a_len) == 0;
    free(a_bytes);
    free(b_bytes);
    return same;
}

bool suite_same_cells(const eb_filter *a, const eb_filter *b) {
    if (a->p.span != b->p.span || a->shard_bits != b->shard_bits) return false;
    for (uint64_t i = 0; i < ebi_shards(a); i++)
        if (memcmp(ebi_shard(a, i) + sizeof(ebi_block_head),
                   ebi_shard(b, i) + sizeof(ebi_block_head),
                   a->p.span - sizeof(ebi_block_head)) != 0)
            return false;
    return true;
}

/* docs/FORMAT.md: offset of the payload at 20, its 128-bit sum at 32, the header's at 56. */
void suite_fix_sums(uint8_t *snapshot, size_t len) {
    uint32_t offset;
    memcpy(&offset, snapshot + 20, sizeof offset);
    if (offset < 64 || offset > len) return;
    uint64_t sum[2];
    ebi_checksum128(snapshot + offset, len - offset, sum);
    memcpy(snapshot + 32, sum, sizeof sum);
    ebi_store64(snapshot + 56,
                ebi_checksum(snapshot + 64, offset - 64, ebi_checksum(snapshot, 56, 0)));
}

/* Memory: each block is preceded by 64 bytes that remember its size. */

static uint8_t *suite_give(suite_memory *m, size_t size, uint8_t fill) {
    if (++m->calls == m->fail_at) return NULL;
    const size_t front = 64 + 16 * (1 + m->calls % 3); /* 16 bytes, and never more than 32 */
    uint8_t *const p = aligned_alloc(64, ebi_round_up(size + front, 64));
    if (!p) return NULL;
    memset(p, fill, size + front);
    ebi_store64(p + front - 16, size);
    ebi_store64(p + front - 8, front);
    m->blocks++;
    m->largest = ebi_max(m->largest, size);
    m->bytes += size;
    return p + front;
}

static void *suite_alloc(void *context, size_t size) {
    suite_memory *const m = context;
    return suite_give(m, size, m->dirt);
}

static void *suite_alloc_zeroed(void *context, size_t size) {
    return suite_give(context, size, 0);
}

static void suite_release(void *context, void *p, size_t size) {
    suite_memory *const m = context;
    uint8_t *const start = (uint8_t *)p - ebi_load64((uint8_t *)p - 8);
    HOLDS(ebi_load64((uint8_t *)p - 16) == size);
    HOLDS(m->blocks > 0);
    m->blocks--;
    free(start);
}

void suite_memory_init(suite_memory *m, size_t fail_at, uint8_t dirt) {
    *m = (suite_memory){.fail_at = fail_at, .dirt = dirt};
    m->allocator = (eb_allocator){sizeof m->allocator, m, suite_alloc, NULL, suite_release};
    if (dirt % 2 == 0) m->allocator.alloc_zeroed = suite_alloc_zeroed;
}

bool suite_skips_zeros(const ebi_store *store, const ebi_counter_array *c) {
    for (uint64_t i = 0; i < c->n && store->next_used; i++) {
        const uint64_t to = store->next_used(c, i, c->n);
        for (; i < to; i++)
            if (store->get(c, i) != 0) return false;
    }
    return true;
}
