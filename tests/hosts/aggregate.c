/* aggregate.c - the shape of an aggregate in a database such as PostgreSQL: workers make partial
 * states from their rows, which are combined and become a value.  A kind that cannot be combined is
 * refused at the first row.  Memory comes from a context that may fail at any call. */
#include "host.h"

/* A memory context.  Call number fails_at fails. */
typedef struct context {
    unsigned calls, fails_at;
    size_t blocks;
} context;

static void *context_alloc(void *ctx, size_t bytes) {
    context *const c = ctx;
    void *const p = ++c->calls == c->fails_at ? NULL : malloc(bytes);
    c->blocks += p != NULL;
    return p;
}

static void context_free(void *ctx, void *p, size_t bytes) {
    context *const c = ctx;
    (void)bytes;
    c->blocks--;
    free(p);
}

static eb_allocator memory_of(context *c) {
    eb_allocator mem;
    EB_INIT(mem);
    mem.ctx = c;
    mem.alloc = context_alloc;
    mem.free = context_free;
    return mem;
}

/* The transition state: keys are collected, and added together. */
enum { ROWS = 10000, WORKERS = 3, PENDING = 256 };
typedef struct transition {
    eb_filter *f;
    eb_hash pending[PENDING];
    size_t n;
} transition;

static eb_status flush(transition *t) {
    const eb_batch b = eb_batch_hashes(t->pending, t->n); /* may be empty */
    const eb_status status = eb_add_batch(t->f, &b, &why);
    if (status == EB_OK) t->n = 0;
    return status;
}

static eb_status row(transition *t, const char *spec, const eb_allocator *mem,
                     unsigned long number) {
    const host_key k = host_key_of(number);
    const eb_key key = {k.text, k.len};
    if (!t->f) { /* the first row: say now what would fail after millions of rows */
        const eb_status status = eb_new(&t->f, spec, mem, &why);
        if (status != EB_OK) return t->f = NULL, status;
        if (!(eb_caps(t->f) & EB_CAN_MERGE)) return EB_ENOTSUP;
    }
    const eb_keys keys = eb_keys_array(EB_TEXT, &key);
    const eb_status status = eb_hash_keys(t->f, &keys, 1, &t->pending[t->n], &why);
    if (status != EB_OK) return status;
    return ++t->n == PENDING ? flush(t) : EB_OK;
}

/* All rows in so many workers, combined into an empty filter.  The value is a snapshot, which is
 * loaded again as if it had come from a table; *out is what a query would use. */
static eb_status aggregate(eb_filter **out, const char *spec, unsigned workers, context *c) {
    const eb_allocator mem = memory_of(c);
    transition t[WORKERS];
    eb_filter *whole = NULL;
    eb_status status = EB_OK;
    uint8_t *value = NULL;
    memset(t, 0, sizeof t);
    for (unsigned long i = 0; i < ROWS && status == EB_OK; i++)
        status = row(&t[i * 7 % workers], spec, &mem, i / 2);
    if (status == EB_OK) status = eb_new(&whole, spec, &mem, &why);
    for (unsigned w = 0; w < workers && status == EB_OK; w++) {
        status = flush(&t[w]);
        if (status == EB_OK) status = eb_merge(whole, t[w].f, 1, &why);
    }
    if (status == EB_OK) {
        const size_t len = eb_save_size(whole);
        value = malloc(len);
        CHECK(value, "there is memory for the value");
        MUST(eb_save(whole, value, len, &why)); /* saving allocates nothing */
        status = eb_load(out, value, len, NULL, &mem, &why);
    }
    free(value);
    eb_free(whole);
    for (unsigned w = 0; w < workers; w++) eb_free(t[w].f);
    return status;
}

static void check_equal(const eb_filter *serial, const eb_filter *parallel) {
    eb_stats s, p;
    EB_INIT(s);
    EB_INIT(p);
    MUST(eb_stat(serial, EB_STAT_CELLS, &s, &why));
    MUST(eb_stat(parallel, EB_STAT_CELLS, &p, &why));
    CHECK(s.adds == p.adds && s.cells_used == p.cells_used, "no row is lost or counted twice");
    for (unsigned long i = 0; i < 2 * ROWS; i++)
        CHECK(host_has(serial, i) == host_has(parallel, i), "both have the same answers");
    CHECK(host_same(serial, parallel), "partial aggregates are combined to the bytes of one");
}

static void test_combined(const char *spec) {
    context c = {0};
    eb_filter *serial, *parallel;
    MUST(aggregate(&serial, spec, 1, &c));
    for (unsigned workers = 2; workers <= WORKERS; workers++) {
        MUST(aggregate(&parallel, spec, workers, &c));
        for (unsigned long i = 0; i < ROWS / 2; i++)
            CHECK(host_has(parallel, i), "the combined filter has every row");
        check_equal(serial, parallel);
        eb_free(parallel);
    }
    eb_free(serial);
    CHECK(c.blocks == 0, "the context is empty at the end");
}

static void test_refused(const char *spec) {
    context c = {0};
    eb_filter *f;
    transition t = {.n = 0};
    const eb_allocator mem = memory_of(&c);
    CHECK(row(&t, spec, &mem, 1) == EB_ENOTSUP, "a kind that does not merge is refused at once");
    eb_free(t.f);
    CHECK(aggregate(&f, spec, 1, &c) == EB_ENOTSUP, "the aggregate ends with the first row");
    CHECK(c.blocks == 0, "a refused aggregate leaves nothing behind");
}

/* Whichever call for memory fails: the aggregate ends with EB_ENOMEM and nothing is left. */
static void test_failing_memory(const char *spec) {
    eb_status status = EB_ENOMEM;
    unsigned n = 0;
    while (status == EB_ENOMEM) {
        context c = {.fails_at = ++n};
        eb_filter *f = NULL;
        status = aggregate(&f, spec, WORKERS, &c);
        if (status == EB_OK) {
            CHECK(c.calls < n, "a call that fails is noticed");
            eb_free(f);
        }
        CHECK(c.blocks == 0, "a failed aggregate leaves nothing behind");
    }
    MUST(status);
    CHECK(n > WORKERS, "memory failed at the calls of every worker");
}

int main(void) {
    test_combined("bloom:memory=32K,k=5,seed=11");
    test_combined("spectral:memory=64K,k=5,update=plain,seed=11");
    test_refused("lru:memory=32K,fpr=0.001,seed=11");
    test_refused("window:memory=64K,window=1000,fpr=0.001,seed=11");
    test_failing_memory("bloom:memory=32K,k=5,seed=11");
    test_failing_memory("spectral:memory=64K,k=5,update=plain,seed=11");
    puts("aggregate: workers make the filter of one; what does not merge is refused at once");
    return 0;
}
