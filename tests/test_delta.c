/* test_delta.c - deltas between filters: the later one again, byte by byte;
 * everything else is refused. */
#include "query/query.h"
#include "suite.h"

typedef struct bytes {
    uint8_t *p;
    size_t n;
} bytes;

static eb_status collect(void *ctx, const void *p, size_t n) {
    bytes *const b = ctx;
    b->p = realloc(b->p, b->n + n + 1);
    HOLDS(b->p != NULL);
    memcpy(b->p + b->n, p, n);
    b->n += n;
    return EB_OK;
}

static bytes delta_of(const eb_filter *a, const eb_filter *b) {
    bytes d = {0};
    OK(eb_diff(a, b, collect, &d, NULL));
    return d;
}

/* The obvious way: all bytes of both, side by side.  It must give the same delta. */
static void check_bytes(const eb_filter *a, const eb_filter *b, const bytes *delta) {
    bytes again = {0}, made = {0};
    size_t a_len, b_len;
    uint8_t *const x = suite_bytes(a, &a_len), *const y = suite_bytes(b, &b_len);
    OK(eb_diff_bytes(x, a_len, y, b_len, collect, &again, NULL));
    HOLDS(again.n == delta->n && memcmp(again.p, delta->p, again.n) == 0);
    OK(eb_patch_bytes(x, a_len, delta->p, delta->n, collect, &made, NULL));
    HOLDS(made.n == b_len && memcmp(made.p, y, b_len) == 0);
    free(again.p);
    free(made.p);
    free(x);
    free(y);
}

static void there_and_back(const eb_filter *a, const eb_filter *b) {
    bytes d = delta_of(a, b);
    eb_filter *made = NULL;
    OK(eb_patch(&made, a, d.p, d.n, NULL, NULL));
    HOLDS(suite_equal(made, b));
    check_bytes(a, b, &d);
    eb_free(made);
    free(d.p);
}

static void try_kind(const suite_case *c) {
    eb_filter *const a = suite_filled(c->spec, 300, 1), *const b = suite_filled(c->spec, 340, 1);
    eb_filter *const other = suite_filled("bloom:memory=2K,k=3", 50, 2);
    there_and_back(a, b);
    there_and_back(b, a);
    there_and_back(a, a);
    there_and_back(a, other);
    there_and_back(other, a);
    eb_free(a);
    eb_free(b);
    eb_free(other);
}

static void test_kinds(void **state) {
    (void)state;
    suite_each_base(try_kind);
}

static void test_refused(void **state) {
    eb_filter *const a = suite_filled("bloom:memory=2K,k=3", 300, 1), *const b = suite_filled(
                                                                          "bloom:memory=2K,k=3",
                                                                          330, 1);
    eb_filter *made = a;
    uint64_t random = 5;
    eb_error err;
    (void)state;
    bytes d = delta_of(a, b);
    GIVES(EB_EMISMATCH, eb_patch(&made, b, d.p, d.n, NULL, &err));
    HOLDS(made == NULL && err.text[0]);
    for (size_t n = 0; n < d.n; n++) GIVES(EB_EFORMAT, eb_patch(&made, a, d.p, n, NULL, NULL));
    d.p[d.n] = 0;
    GIVES(EB_EFORMAT, eb_patch(&made, a, d.p, d.n + 1, NULL, NULL));
    for (int i = 0; i < 2000; i++) {
        const size_t at = suite_below(&random, d.n), bit = suite_below(&random, 8);
        suite_at("bit %zu of byte %zu", bit, at);
        d.p[at] ^= (uint8_t)(1u << bit);
        const eb_status status = eb_patch(&made, a, d.p, d.n, NULL, &err);
        HOLDS((status == EB_EFORMAT || status == EB_EMISMATCH || status == EB_EVERSION) &&
              made == NULL);
        d.p[at] ^= (uint8_t)(1u << bit);
    }
    /* All of b as new bytes, where ten bytes say that nothing is copied: with a bit more they do
     * not. */
    enum { PIECES = 80, NOTHING = 10 };
    size_t len;
    uint8_t *const whole = suite_bytes(b, &len), *const all = malloc(PIECES + NOTHING + 10 + len);
    size_t at = PIECES + NOTHING;
    HOLDS(all != NULL);
    memcpy(all, d.p, PIECES);
    memset(all + PIECES, 0x80, NOTHING - 1);
    for (size_t left = len; left > 0; left >>= 7)
        all[at++] = (uint8_t)((left & 127) + (left > 127 ? 128 : 0));
    memcpy(all + at, whole, len);
    for (uint8_t last = 0; last <= 4; last++) {
        all[PIECES + NOTHING - 1] = last;
        const eb_status status = eb_patch(&made, a, all, at + len, NULL, &err);
        suite_at("last byte %u: %s", last, err.text);
        HOLDS(last == 0 ? status == EB_OK && suite_equal(made, b) : status == EB_EFORMAT);
        eb_free(made);
    }
    free(whole);
    free(all);
    /* A number that no 64 bits hold, and a length that the delta cannot have. */
    memset(d.p + 80, 0xff, 10);
    GIVES(EB_EFORMAT, eb_patch(&made, a, d.p, d.n, NULL, NULL));
    memset(d.p + 72, 0xff, 8);
    GIVES(EB_EFORMAT, eb_patch(&made, a, d.p, d.n, NULL, NULL));
    free(d.p);
    eb_free(a);
    eb_free(b);
}

static eb_status stop(void *ctx, const void *p, size_t n) {
    int *const left = ctx;
    (void)p, (void)n;
    return --*left < 0 ? EB_ESTOPPED : EB_OK;
}

static void test_stopped(void **state) {
    eb_filter *const a = suite_filled("bloom:memory=64K,k=3", 300, 1), *const b = suite_filled(
                                                                           "lru:memory=64K", 30000,
                                                                           1);
    eb_error err;
    (void)state;
    for (int pieces = 0; pieces < 3; pieces++) {
        int left = pieces;
        GIVES(EB_ESTOPPED, eb_diff(a, b, stop, &left, &err));
        HOLDS(left == -1 && err.status == EB_ESTOPPED && err.text[0]);
    }
    eb_free(a);
    eb_free(b);
}

static void test_memory(void **state) {
    eb_filter *const a = suite_filled("bloom:memory=4K,k=3", 300, 1), *const b = suite_filled(
                                                                          "bloom:memory=4K,k=3",
                                                                          400, 1);
    bytes d = delta_of(a, b);
    eb_status status = EB_ENOMEM;
    (void)state;
    for (size_t at = 1; status == EB_ENOMEM; at++) {
        suite_memory m;
        eb_filter *made = a;
        suite_memory_init(&m, at, (uint8_t)at);
        status = eb_patch(&made, a, d.p, d.n, &m.allocator, NULL);
        HOLDS(status == EB_OK || (status == EB_ENOMEM && made == NULL));
        HOLDS(status != EB_OK || (at > 2 && suite_equal(made, b)));
        HOLDS(m.largest <= 2 * (4096 + d.n));
        eb_free(made);
        HOLDS(m.blocks == 0);
    }
    OK(status);
    free(d.p);
    eb_free(a);
    eb_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
