/* spectral.c - the spectral Bloom filter (Cohen and Matias, SIGMOD 2003): how often does a key
 * occur?
 *
 * Each key has k counters, and its estimate is the smallest of them.  It is never too low, because
 * each of them is at least the key's count.  With n distinct keys in m counters, it is too high
 * with probability about (1-e^(-nk/m))^k. counting.h says where a key's counters are.
 *
 *       | head | totals, 64 bytes | counters: a store of cells/counters.h |
 *
 *     update=conservative   raises only counters below the new estimate (minimal increase).  Has
 * the smallest errors, but keys cannot be removed.  Merging two filters gives one that is never too
 * low for both streams. update=plain          raises all k counters (minimum selection).  Keys can
 * be removed, and merging two filters gives the filter of both streams.
 *
 * With span=512 a key's counters are in a few neighbouring cache lines, which is faster and makes 5
 * % more errors. */
#include "cells/u32.h"
#include "counting.h"

enum { SPECTRAL_POLICY_MI, SPECTRAL_POLICY_MS };

static const eb_option spectral_options[] = {
    EBI_COUNTING_OPTIONS("1", "update", "conservative|plain", "conservative",
                         "conservative: smallest errors; plain: keys can be removed",
                         "u32|line|sai|wide", "wide"),
    {0}};

static bool spectral_is_linear(const ebi_params *p) {
    return p->opt[EBI_C_POLICY] == SPECTRAL_POLICY_MS;
}

static ebi_counting spectral_open(const ebi_params *p, const uint8_t *block) {
    ebi_counting c = ebi_counting_open(p, block);
    c.linear = spectral_is_linear(p);
    if (!c.linear && c.store->conservative) c.store = c.store->conservative;
    return c;
}

/* Parameters */

static eb_status spectral_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    const ebi_store *const store = ebi_counting_store(p);
    EBI_TRY(ebi_counting_resolve_bits(p, a, "spectral", err));
    EBI_TRY(ebi_counting_resolve_cells(p, a, "spectral", store, p->opt[EBI_C_BITS],
                                       sizeof(ebi_counting_words), err));
    p->span = EBI_COUNTING_FIXED + ebi_counting_first_bytes(p);
    return ebi_counting_resolve(p, a, "spectral", err);
}

/* Loops: written once, and compiled for each store that finds counters without a search (STORE),
 * for update=plain and conservative, for k = 5 and for any k.  All other stores use the loops of
 * SPECTRAL_ANY, which call the functions in the store's table. */

typedef uint64_t spectral_get(const ebi_counter_array *c, uint64_t i);
typedef uint64_t spectral_raise(const ebi_counter_array *c, const uint64_t *i, size_t n,
                                uint64_t by, bool lift);
typedef const uint8_t *spectral_address(const ebi_counter_array *c, uint64_t i);
#define SPECTRAL_STORE                                                                             \
    const ebi_store *store, spectral_get *get, spectral_raise *raise, spectral_address *address
#define SPECTRAL_ANY NULL, NULL, NULL, NULL

EBI_INLINE ebi_counting spectral_at(const ebi_params *p, const uint8_t *block, unsigned k,
                                    const ebi_store *store) {
    assert(k >= 1 && k <= EBI_COUNTING_K_MAX);
    if (!store) return spectral_open(p, block);
    ebi_counting c = {.store = store, .n = p->opt[EBI_O_CELLS], .k = k};
    c.bytes = p->span - EBI_COUNTING_FIXED;
    c.window = p->opt[EBI_C_WINDOW] == 0 ? c.n : p->opt[EBI_C_WINDOW];
    c.part = c.window / k;
    c.linear = spectral_is_linear(p);
    c.counters = ebi_counters(store, block + EBI_COUNTING_FIXED, c.n, c.bytes);
    c.total = &ebi_counting_state(block)->total;
    return c;
}

EBI_INLINE void spectral_fetch(const ebi_counting *s, const eb_hash *h, size_t n, uint64_t *pos,
                               bool far, spectral_address *address) {
    assert(n <= EBI_BATCH);
    for (size_t i = 0; i < n; i++) {
        ebi_counting_positions(s, h[i], pos + i * s->k);
        for (unsigned j = 0; j < s->k && far; j++)
            ebi_prefetch_read(address(&s->counters, pos[i * s->k + j]));
    }
}

EBI_INLINE uint64_t spectral_least(const ebi_counting *s, const uint64_t *pos, spectral_get *get) {
    uint64_t least = EBI_COUNTER_MAX;
    for (unsigned j = 0; j < s->k; j++) /* without a store, this loop is not used */
        least = ebi_min(least, get(&s->counters, pos[j])); /* cppcheck-suppress ctunullpointer */
    return least;
}

/* seen or after may be NULL. */
EBI_INLINE void spectral_add_all(const ebi_params *p, uint8_t *block, const ebi_batch *b,
                                 uint8_t *seen, double *after, unsigned k, bool linear,
                                 SPECTRAL_STORE) {
    assert(b->n <= EBI_BATCH);
    const ebi_counting s = spectral_at(p, block, k, store);
    const ebi_store *const table = s.store;
    uint64_t pos[EBI_BATCH * EBI_COUNTING_K_MAX], sum = 0;
    spectral_fetch(&s, b->hash, b->n, pos, ebi_is_far(p), store ? address : table->address);
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t *const at = pos + i * s.k;
        const uint64_t before =
            (store ? raise : table->raise)(&s.counters, at, s.k, b->value[i], !linear);
        if (seen) seen[i] = before > 0;
        if (after) after[i] = ebi_counter_count(spectral_least(&s, at, store ? get : table->get));
        sum += b->value[i];
    }
    ebi_counting_raise_total(&s, sum);
}

EBI_INLINE void spectral_estimates(const ebi_params *p, const uint8_t *block, const eb_hash *h,
                                   size_t n, uint64_t *estimate, unsigned k, SPECTRAL_STORE) {
    assert(n <= EBI_BATCH);
    const ebi_counting s = spectral_at(p, block, k, store);
    uint64_t pos[EBI_BATCH * EBI_COUNTING_K_MAX], counter[EBI_BATCH * EBI_COUNTING_K_MAX];
    (void)raise;
    spectral_fetch(&s, h, n, pos, ebi_is_far(p), store ? address : s.store->address);
    if (!store) s.store->read(&s.counters, pos, n * s.k, counter);
    for (size_t i = 0; i < n; i++)
        estimate[i] = store ? spectral_least(&s, pos + i * s.k, get)
                            : ebi_counting_least(counter + i * s.k, s.k);
}

#define SPECTRAL_LOOP(attribute, name, k, linear, ...)                                             \
    attribute static void name##_add(const ebi_params *p, uint8_t *block, const ebi_batch *b,      \
                                     uint8_t *seen) {                                              \
        spectral_add_all(p, block, b, seen, NULL, k, linear, __VA_ARGS__);                         \
    }                                                                                              \
    attribute static void name##_add_count(const ebi_params *p, uint8_t *block,                    \
                                           const ebi_batch *b, double *after) {                    \
        spectral_add_all(p, block, b, NULL, after, k, linear, __VA_ARGS__);                        \
    }                                                                                              \
    attribute static void name##_estimates(const ebi_params *p, const uint8_t *block,              \
                                           const eb_hash *h, size_t n, uint64_t *estimate) {       \
        spectral_estimates(p, block, h, n, estimate, k, __VA_ARGS__);                              \
    }                                                                                              \
    attribute static bool name##_add_one(const ebi_params *p, uint8_t *block, eb_hash h) {         \
        const ebi_batch b = ebi_batch_of_one(&h);                                                  \
        uint8_t seen;                                                                              \
        spectral_add_all(p, block, &b, &seen, NULL, k, linear, __VA_ARGS__);                       \
        return seen != 0;                                                                          \
    }                                                                                              \
    attribute static bool name##_test_one(const ebi_params *p, const uint8_t *block, eb_hash h) {  \
        uint64_t estimate;                                                                         \
        spectral_estimates(p, block, &h, 1, &estimate, k, __VA_ARGS__);                            \
        return estimate > 0;                                                                       \
    }                                                                                              \
    EBI_COUNTING_LOOPS(name)                                                                       \
    static const ebi_ops name##_ops = {.add = name##_add,                                          \
                                       .add_one = name##_add_one,                                  \
                                       .test_one = name##_test_one,                                \
                                       .test = name##_test,                                        \
                                       .count = name##_count,                                      \
                                       .add_count = name##_add_count};

/* For counters that are sums, and for others; for k = 5, and for any k. */
#define SPECTRAL_LOOPS(attribute, name, sums, most)                                                \
    SPECTRAL_LOOP(attribute, name##_ms_5, 5, true, sums)                                           \
    SPECTRAL_LOOP(attribute, name##_mi_5, 5, false, most)                                          \
    SPECTRAL_LOOP(attribute, name##_ms, (unsigned)p->opt[EBI_C_K], true, sums)                     \
    SPECTRAL_LOOP(attribute, name##_mi, (unsigned)p->opt[EBI_C_K], false, most)                    \
    static const ebi_ops *const name##_loops[2][2] = {{&name##_mi_ops, &name##_mi_5_ops},          \
                                                      {&name##_ms_ops, &name##_ms_5_ops}};

EBI_INLINE uint64_t spectral_wide_raise(const ebi_counter_array *c, const uint64_t *i, size_t n,
                                        uint64_t by, bool lift) {
    return ebi_wide_raise(c, i, n, by, lift,
                          !lift); /* counters that are only lifted are not sums */
}

#define SPECTRAL_WIDE(store) store, ebi_wide_get, spectral_wide_raise, ebi_wide_address
#define SPECTRAL_U32 &ebi_store_u32, ebi_u32_get, ebi_u32_raise, ebi_u32_address

SPECTRAL_LOOPS(, wide, SPECTRAL_WIDE(&ebi_store_wide_sums_portable),
               SPECTRAL_WIDE(&ebi_store_wide_most_portable))
SPECTRAL_LOOPS(EBI_BMI2, bmi2, SPECTRAL_WIDE(&ebi_store_wide_sums_bmi2),
               SPECTRAL_WIDE(&ebi_store_wide_most_bmi2))
SPECTRAL_LOOPS(, u32, SPECTRAL_U32, SPECTRAL_U32)
SPECTRAL_LOOPS(, any, SPECTRAL_ANY, SPECTRAL_ANY)

static const ebi_ops *spectral_select(const ebi_params *p) {
    const ebi_store *const store = ebi_counting_first(p).store;
    const bool ms = spectral_is_linear(p), five = p->opt[EBI_C_K] == 5;
    if (store == &ebi_store_wide_sums_bmi2) return bmi2_loops[ms][five];
    if (store == &ebi_store_wide_sums_portable) return wide_loops[ms][five];
    return (store == &ebi_store_u32 ? u32_loops : any_loops)[ms][five];
}

static size_t spectral_claim(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                             const ebi_claims *claims) {
    assert(b->n <= EBI_BATCH);
    const ebi_counting s = spectral_open(p, block);
    return ebi_counting_claim(&s, b, claims);
}

static void spectral_remove(const ebi_params *p, uint8_t *block, const ebi_batch *b) {
    assert(b->n <= EBI_BATCH);
    const ebi_counting s = spectral_open(p, block);
    ebi_counting_remove(&s, b);
}

/* The whole filter */

static uint64_t spectral_caps(const ebi_params *p) {
    const ebi_store *const store = ebi_counting_store(p);
    const bool linear = p->opt[EBI_C_POLICY] == SPECTRAL_POLICY_MS;
    /* In other stores, which counters find no room depends on the order. */
    const bool roomy = store == &ebi_store_u32 || store == ebi_store_wide();
    return EB_CAN_COUNT | EB_NO_FALSE_NEGATIVES | EB_USES_VALUE | EB_CAN_MERGE |
           (linear ? EB_CAN_REMOVE : 0) | (linear && roomy ? EB_ORDER_FREE : 0);
}

static void spectral_init(const ebi_params *p, uint8_t *block) {
    const ebi_counting s = spectral_open(p, block);
    if (s.store->init) s.store->init(&s.counters);
}

static void spectral_merge(const ebi_params *p, uint8_t *into, const ebi_params *q,
                           const uint8_t *from) {
    const ebi_counting a = spectral_open(p, into), b = spectral_open(q, from);
    ebi_counting_merge(&a, &b, 1);
}

static void spectral_counters(const ebi_params *p, const uint8_t *block, ebi_counting *out) {
    *out = spectral_open(p, block);
    out->linear = out->linear && ebi_counting_state(block)->sealed == 0;
}

static uint64_t *spectral_sealed(uint8_t *block) {
    return &ebi_counting_state(block)->sealed;
}

static eb_status spectral_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    const ebi_counting s = spectral_open(p, block);
    if (ebi_counting_check(&s, ebi_counting_state(block))) return EB_OK;
    return ebi_fail(err, EB_EFORMAT, "damaged spectral filter: its counters are invalid");
}

static void spectral_stat(const ebi_params *p, const uint8_t *block, eb_stats *out) {
    const ebi_counting s = spectral_open(p, block);
    ebi_counting_stat(&s, out);
}

static void spectral_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    ebi_counting s = ebi_counting_first(p);
    ebi_counting_stream load;
    s.linear = spectral_is_linear(p);
    ebi_counting_predict(&s, w, out);
    if (!ebi_counting_load(&s, w, &load)) return;
    if (s.joins) { /* frozen filters too: they have the same counters */
        s.store = s.linear ? ebi_store_wide() : ebi_store_wide()->conservative;
        ebi_wide_predict(&s, &load, out);
        if (isnan(out->accuracy))
            out->accuracy = 0.1; /* joined cells make predictions for full filters less accurate */
        return;
    }
    if (out->size != EBI_ASK_ALL) return;
    ebi_counting_predict_errors(
        &s, &load, (s.linear ? ebi_errors_ms : ebi_errors_mi)(&load.sharing, &load.spectrum), out);
}

static const ebi_removing spectral_removing = {
    .claims = ebi_counting_claims, .claim = spectral_claim, .remove = spectral_remove};

static const ebi_counted spectral_counted = {
    .counters = spectral_counters, .sealed = spectral_sealed, .frozen = EBI_C_FROZEN};

const ebi_kind ebi_kind_spectral = {
    .info = {"spectral", "counts keys: never too low, rarely too high",
             "Cohen and Matias, Spectral Bloom filters, 2003",
             EB_CAN_COUNT | EB_NO_FALSE_NEGATIVES | EB_USES_VALUE | EB_CAN_REMOVE | EB_CAN_MERGE,
             spectral_options, "How often does it occur?"},
    .version = 1,
    .caps = spectral_caps,
    .resolve = spectral_resolve,
    .select = spectral_select,
    .init = spectral_init,
    .merge = spectral_merge,
    .check = spectral_check,
    .stat = spectral_stat,
    .predict = spectral_predict,
    .removing = &spectral_removing,
    .counted = &spectral_counted,
};
