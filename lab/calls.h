/* calls.h - the library's calls as tests, experiments and benchmarks like to make them: a batch in
 * one expression, questions that cannot fail.  What fails here all the same is a bug in the caller:
 * it says so and ends the program. */
#ifndef EB_CALLS_H
#define EB_CALLS_H
#include <everbloom/everbloom.h>
#include <stdio.h>
#include <stdlib.h>

/* Where keys are kept, the bytes of their hashes will do as keys. */
#define CALLS_KEYS(hashes)                                                                         \
    (&(const eb_keys){.size = sizeof(eb_keys),                                                     \
                      .type = EB_STRING,                                                           \
                      .layout = EB_COLUMN,                                                         \
                      .data = (hashes),                                                            \
                      .width = sizeof(eb_hash),                                                    \
                      .stride = sizeof(eb_hash)})
#define A_BATCH(count, hashes, values, times)                                                      \
    ((eb_batch){.size = sizeof(eb_batch),                                                          \
                .n = (count),                                                                      \
                .hash = (hashes),                                                                  \
                .value = (values),                                                                 \
                .time = (times)})

static inline void calls_must(eb_status status, const eb_error *err) {
    if (status == EB_OK) return;
    fprintf(stderr, "a call failed: %s: %s\n", eb_status_name(status), err->text);
    abort();
}

static inline bool calls_keeps(const eb_filter *f) {
    return (eb_caps(f) & EB_KEEPS_KEYS) != 0;
}

static inline eb_status calls_add(eb_filter *f, const eb_batch *b, uint8_t *seen) {
    eb_batch all = *b;
    all.seen = seen;
    const eb_keys *const keys = CALLS_KEYS(b->hash);
    if (calls_keeps(f) && !b->keys) all.keys = keys;
    return eb_add_batch(f, &all, NULL);
}

static inline eb_status calls_add_count(eb_filter *f, const eb_batch *b, double *after) {
    eb_batch all = *b;
    all.count = after;
    const eb_keys *const keys = CALLS_KEYS(b->hash);
    if (calls_keeps(f) && !b->keys) all.keys = keys;
    return eb_add_batch(f, &all, NULL);
}

static inline eb_status calls_ask(const eb_filter *f, const eb_batch *b, uint8_t *seen) {
    eb_batch all = *b;
    all.seen = seen;
    return eb_ask_batch(f, &all, NULL);
}

static inline void calls_test(const eb_filter *f, const eb_hash *h, size_t n, uint8_t *seen) {
    eb_error err;
    eb_batch b = eb_batch_hashes(h, n);
    b.seen = seen;
    calls_must(eb_ask_batch(f, &b, &err), &err);
}

/* What a filter that cannot count knows of a key is 0 or 1. */
static inline void calls_count(const eb_filter *f, const eb_hash *h, size_t n, double *count) {
    eb_error err;
    for (size_t i = 0; i < n && !(eb_caps(f) & EB_CAN_COUNT); i++) {
        uint8_t seen;
        calls_test(f, h + i, 1, &seen);
        count[i] = seen;
    }
    if (!(eb_caps(f) & EB_CAN_COUNT)) return;
    eb_batch b = eb_batch_hashes(h, n);
    b.count = count;
    calls_must(eb_ask_batch(f, &b, &err), &err);
}

/* The canonical form of a spec, into EB_SPEC_MAX bytes. */
static inline eb_status calls_resolve(const char *spec, char canonical[EB_SPEC_MAX],
                                      eb_error *err) {
    eb_spec_info info;
    EB_INIT(info);
    const eb_status status = eb_spec_describe(spec, &info, err);
    if (status == EB_OK) memcpy(canonical, info.canonical, EB_SPEC_MAX);
    return status;
}

/* Keys that lie in an array, as the lines of a pipe do. */
static inline void calls_hash(const eb_filter *f, const eb_key *keys, size_t n, eb_hash *out) {
    const eb_keys all = eb_keys_array(EB_STRING, keys);
    eb_error err;
    calls_must(eb_hash_keys(f, &all, n, out, &err), &err);
}

/* Numbers, each so often as counts say (NULL: once), into a filter whose keys are numbers.  With
 * keys=i64 they are casts. */
static inline eb_keys calls_numbers(const eb_filter *f, const uint64_t *numbers) {
    eb_error err;
    char keys[EB_SPEC_MAX];
    calls_must(eb_spec_get(eb_spec(f), "keys", keys, sizeof keys, NULL, &err), &err);
    return eb_keys_column(strcmp(keys, "i64") == 0 ? EB_I64 : EB_U64, numbers, sizeof *numbers);
}

static inline eb_status calls_add_numbers(eb_filter *f, const uint64_t *numbers,
                                          const uint64_t *counts, size_t n, eb_error *err) {
    const eb_keys column = calls_numbers(f, numbers);
    eb_batch b = eb_batch_keys(&column, n);
    b.value = counts;
    return eb_add_batch(f, &b, err);
}

static inline eb_status calls_remove_numbers(eb_filter *f, const uint64_t *numbers,
                                             const uint64_t *counts, size_t n, eb_error *err) {
    const eb_keys column = calls_numbers(f, numbers);
    eb_batch b = eb_batch_keys(&column, n);
    b.value = counts;
    return eb_remove_batch(f, &b, err);
}

static inline bool calls_has(const eb_filter *f, const void *key, size_t len) {
    eb_error err;
    bool seen = false;
    calls_must(eb_ask(f, key, len, &seen, NULL, &err), &err);
    return seen;
}

static inline double calls_count_of(const eb_filter *f, const void *key, size_t len) {
    eb_error err;
    double count = 0;
    if (!(eb_caps(f) & EB_CAN_COUNT)) return calls_has(f, key, len);
    calls_must(eb_ask(f, key, len, NULL, &count, &err), &err);
    return count;
}

static inline void calls_stat(const eb_filter *f, eb_stats *out) {
    eb_error err;
    calls_must(eb_stat(f, EB_STAT_CELLS, out, &err), &err);
}
#endif
