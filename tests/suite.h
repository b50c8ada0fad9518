/* suite.h - what the tests share: the specs to try for every kind in the
 * registry, streams of keys, and checks that say which spec and seed failed. */
#ifndef EB_SUITE_H
#define EB_SUITE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../lab/calls.h"
#include "api/filter.h"
#include "cells/counters.h"
#include <stdio.h>
#include <stdlib.h>

/* Checks.  A failure prints what the test was at: suite_at says it. */
#define HOLDS(condition) suite_holds((condition), #condition, __FILE__, __LINE__)
#define GIVES(status, call) suite_gives((call), (status), #call, __FILE__, __LINE__)
#define OK(call) GIVES(EB_OK, call)
#define NEAR(value, wanted, error)                                                                 \
    suite_near((value), (wanted), (error), #value, __FILE__, __LINE__)
void suite_near(double value, double wanted, double error, const char *what, const char *file,
                int line);
void suite_holds(bool condition, const char *what, const char *file, int line);
void suite_gives(eb_status got, eb_status want, const char *what, const char *file, int line);
void suite_at(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Batches of hashes, written where they are used. */
#define SUITE_KEYS(hashes, count)                                                                  \
    (&(const eb_batch){.size = sizeof(eb_batch), .n = (count), .hash = (hashes)})
#define SUITE_ONE(one) SUITE_KEYS(&(one), 1)

/* Randomness of the tests, independent of the library's. */
uint64_t suite_random(uint64_t *state);
uint64_t suite_below(uint64_t *state, uint64_t range);
/* Nothing that a store skips holds anything. */
bool suite_skips_zeros(const ebi_store *store, const ebi_counter_array *c);

/* `make check` sets EVERBLOOM_QUICK: it leaves tests that begin with SUITE_LONG to `make test`, and
 * tries an eighth of the specs. */
bool suite_quick(void);
#define SUITE_LONG()                                                                               \
    do {                                                                                           \
        if (suite_quick()) skip();                                                                 \
    } while (0)

/* Specs to try, made from the option tables with no line per kind: the smallest
 * memory that will do, each choice of each a|b|c option, the least, a middle and
 * the largest value of each number, one shard and four, near and far blocks. */
typedef struct suite_case {
    const ebi_kind *kind;
    char text[EB_SPEC_MAX]; /* with wishes */
    char spec[EB_SPEC_MAX]; /* canonical: quick to make filters from */
    bool base;              /* all options as they are by default, one shard, near */
    bool far;               /* a block that the loops prefetch */
    bool extreme;           /* an option at the end of its range */
} suite_case;
typedef void suite_test(const suite_case *c);
const suite_case *suite_cases(size_t *n);
void suite_each(suite_test *test);      /* every case */
void suite_each_near(suite_test *test); /* those with small blocks */
void suite_each_base(suite_test *test); /* one for each kind */
bool suite_parse(const char *spec, ebi_params *p);
uint64_t suite_caps(const suite_case *c); /* of filters with this spec */
bool suite_limited(const eb_filter *f);   /* it can be full: then it grows, or refuses keys */

/* Streams: n keys drawn from `universe` different ones, with values and times
 * that the filter accepts. */
typedef struct suite_stream {
    size_t n;
    eb_hash *hash;
    uint64_t *value;
    uint64_t *time;
    bool keeps; /* the filter keeps keys, and needs them */
} suite_stream;
suite_stream suite_make_stream(const eb_filter *f, size_t n, uint64_t universe, uint64_t seed);
void suite_free_stream(suite_stream *s);
/* A hash that the filter takes: where keys are numbers, one of its own. */
eb_hash suite_key(const eb_filter *f, eb_hash h);
/* The hash of some bytes, as a key that the filter takes. */
eb_hash suite_hash(const eb_filter *f, const void *p, size_t len);
eb_batch suite_part(const suite_stream *s, size_t from, size_t to);

eb_filter *suite_new(const char *spec);
eb_filter *suite_filled(const char *spec, size_t n, uint64_t seed); /* repeats included */

/* A filter's snapshot, for comparing: free() it. */
uint8_t *suite_bytes(const eb_filter *f, size_t *len);
bool suite_equal(const eb_filter *a, const eb_filter *b);
bool suite_same_cells(const eb_filter *a, const eb_filter *b); /* all but the heads */
void suite_fix_sums(uint8_t *snapshot, size_t len);            /* after damage */

/* An allocator that counts, fails at the fail_at-th call (0: never), fills what
 * it gives with dirt, and checks what it gets back.  What it gives is aligned to 16 bytes and
 * never to a cache line.  It has alloc_zeroed if dirt is even. */
typedef struct suite_memory {
    size_t calls, fail_at, blocks, largest, bytes; /* bytes: given in all */
    uint8_t dirt;
    eb_allocator allocator;
} suite_memory;
void suite_memory_init(suite_memory *m, size_t fail_at, uint8_t dirt);

#define SUITE_COUNT(array) (sizeof(array) / sizeof(array)[0])
#endif
