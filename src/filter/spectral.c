/* spectral.c - the spectral Bloom filter (Cohen and Matias, SIGMOD 2003): how
 * often did this key come?
 *
 *     | head | totals, 64 bytes | counters: a store of cells/counters.h |
 *
 * A key has k counters, the i-th in part i of its window (window=0: of the whole
 * array), so they are always distinct.  The estimate is their minimum.
 *
 *   policy=mi   minimal increase (conservative update): only counters below the
 *               new estimate are raised.  Smallest errors; nothing can be removed.
 *   policy=ms   minimum selection: all k counters are raised.  Linear: keys can be
 *               removed, and filters of two streams add up to that of both.
 *
 * Never too low: every counter of a key is at least its count.  Too high with
 * probability about (1-e^(-nk/m))^k, n distinct keys in m counters.
 *
 * A window of 512 counters keeps a key's counters in a few neighbouring cache
 * lines at the price of 5 % more errors. */
#include "counting.h"

enum { O_K = EB_O_OWN, O_POLICY, O_STORE, O_WINDOW, O_BITS };
enum { POLICY_MI, POLICY_MS };

static const eb_option spectral_options[] = {
    EB_COMMON_OPTIONS,
    {"k", "int", "5", "1", "16", "counters for each key", false},
    {"policy", "mi|ms", "mi", NULL, NULL, "mi: smallest errors; ms: removals and merging", false},
    {"store", "u8|u32|line|sai", "u8", NULL, NULL, "how counters are laid out", false},
    {"window", "int", NULL, "0", "65536", "counters among which a key's lie; 0: all", false},
    {"bits", "fixed", NULL, "1", "64", "memory for each counter, in bits", false},
    {0}};

typedef struct spectral_state {
    uint64_t total;  /* of all multiplicities; saturates */
    uint64_t sealed; /* 1: the outcome of an operation on filters, which takes no more keys */
    uint64_t reserved[6];
} spectral_state;
static_assert(sizeof(spectral_state) == 64, "one cache line");
enum { FIXED = sizeof(eb_head) + sizeof(spectral_state) };

static const eb_store *spectral_store(const eb_params *p) {
    const eb_store *const stores[] = {&ebi_store_u8, &ebi_store_u32, ebi_store_line(),
                                      ebi_store_sai()};
    return stores[p->opt[O_STORE]];
}

static spectral_state *spectral_state_of(const uint8_t *block) { /* to write if the block is */
    union {
        const uint8_t *in;
        void *out;
    } pun = {.in = block + sizeof(eb_head)};
    return pun.out;
}

static eb_counting spectral_shape(const eb_params *p) { /* all but the place of its counters */
    eb_counting c = {.store = spectral_store(p), .k = (unsigned)p->opt[O_K]};
    c.n = p->opt[EB_O_CELLS];
    c.bytes = p->span - FIXED;
    c.window = p->opt[O_WINDOW] == 0 ? c.n : p->opt[O_WINDOW];
    c.part = c.window / c.k;
    c.linear = p->opt[O_POLICY] == POLICY_MS;
    return c;
}

static eb_counting spectral_open(const eb_params *p, const uint8_t *block) {
    eb_counting c = spectral_shape(p);
    c.counters = ebi_counters(c.store, block + FIXED, c.n, c.bytes);
    c.total = &spectral_state_of(block)->total;
    return c;
}

/* Parameters */

static eb_status spectral_resolve(eb_params *p, const eb_args *a, eb_error *err) {
    const eb_store *const store = spectral_store(p);
    EB_TRY(ebi_counting_resolve_bits(p, a, "spectral", store, O_BITS, err));
    EB_TRY(
        ebi_counting_resolve_cells(p, a, "spectral", store, O_BITS, sizeof(spectral_state), err));
    EB_TRY(ebi_counting_resolve_window(p, a, "spectral", O_WINDOW, O_K, err));
    p->value_min = 1;
    p->span = FIXED + ebi_counters_bytes(store, p->opt[EB_O_CELLS], p->opt[O_BITS]);
    return EB_OK;
}

/* Loops */

/* Add, and tell the estimates before. */
static void spectral_raise(const eb_params *p, uint8_t *block, const eb_batch *b,
                           uint64_t *before) {
    const eb_counting s = spectral_open(p, block);
    uint64_t pos[EB_BATCH * EB_COUNTING_K_MAX];
    ebi_counting_fetch(&s, b->hash, b->n, pos);
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t *const at = pos + i * s.k;
        before[i] = s.linear ? ebi_counting_raise_all(&s, at, b->value[i])
                             : ebi_counting_lift(&s, at, b->value[i]);
        ebi_counting_raise_total(&s, b->value[i]);
    }
}

static void spectral_add(const eb_params *p, uint8_t *block, const eb_batch *b, uint8_t *seen) {
    uint64_t before[EB_BATCH];
    spectral_raise(p, block, b, before);
    for (size_t i = 0; i < b->n; i++) seen[i] = before[i] > 0;
}

static void spectral_add_count(const eb_params *p, uint8_t *block, const eb_batch *b,
                               double *after) {
    uint64_t before[EB_BATCH];
    spectral_raise(p, block, b, before);
    for (size_t i = 0; i < b->n; i++) after[i] = (double)ebi_counter_sum(before[i], b->value[i]);
}

static void spectral_estimate(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                              uint64_t *estimate) {
    const eb_counting s = spectral_open(p, block);
    uint64_t pos[EB_BATCH * EB_COUNTING_K_MAX], counter[EB_BATCH * EB_COUNTING_K_MAX];
    ebi_counting_fetch(&s, h, n, pos);
    s.store->read(&s.counters, pos, n * s.k, counter);
    for (size_t i = 0; i < n; i++) estimate[i] = ebi_counting_least(counter + i * s.k, s.k);
}

static void spectral_test(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                          uint8_t *seen) {
    uint64_t estimate[EB_BATCH];
    spectral_estimate(p, block, h, n, estimate);
    for (size_t i = 0; i < n; i++) seen[i] = estimate[i] > 0;
}

static void spectral_count(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                           double *count) {
    uint64_t estimate[EB_BATCH];
    spectral_estimate(p, block, h, n, estimate);
    for (size_t i = 0; i < n; i++) count[i] = (double)estimate[i];
}

static const eb_ops *spectral_select(const eb_params *p) {
    static const eb_ops ops = {.add = spectral_add,
                               .test = spectral_test,
                               .count = spectral_count,
                               .add_count = spectral_add_count};
    (void)p;
    return &ops;
}

static eb_status spectral_remove(const eb_params *p, uint8_t *block, const eb_batch *b) {
    const eb_counting s = spectral_open(p, block);
    return s.linear ? ebi_counting_remove(&s, b) : EB_ENOTSUP;
}

static void spectral_restore(const eb_params *p, uint8_t *block, const eb_batch *b) {
    const eb_counting s = spectral_open(p, block);
    ebi_counting_restore(&s, b);
}

/* The whole filter */

static unsigned spectral_caps(const eb_params *p) {
    const unsigned linear = p->opt[O_POLICY] == POLICY_MS ? EB_CAN_REMOVE | EB_CAN_MERGE : 0;
    return EB_CAN_COUNT | EB_NO_FALSE_NEGATIVES | EB_USES_VALUE | linear;
}

static void spectral_init(const eb_params *p, uint8_t *block) {
    const eb_counting s = spectral_open(p, block);
    if (s.store->init) s.store->init(&s.counters);
}

static void spectral_merge(const eb_params *p, uint8_t *into, const uint8_t *from) {
    const eb_counting a = spectral_open(p, into), b = spectral_open(p, from);
    ebi_counting_merge(&a, &b);
}

static void spectral_counters(const eb_params *p, const uint8_t *block, eb_counting *out) {
    *out = spectral_open(p, block);
    out->linear = out->linear && spectral_state_of(block)->sealed == 0;
}

static uint64_t *spectral_sealed(uint8_t *block) {
    return &spectral_state_of(block)->sealed;
}

static eb_status spectral_check(const eb_params *p, const uint8_t *block, eb_error *err) {
    const eb_counting s = spectral_open(p, block);
    const spectral_state *const state = spectral_state_of(block);
    uint64_t any = 0;
    for (size_t i = 0; i < EB_COUNT_OF(state->reserved); i++) any |= state->reserved[i];
    if (any != 0 || state->sealed > 1 || state->total > EB_COUNTER_MAX ||
        !s.store->check(&s.counters))
        return ebi_fail(err, EB_EFORMAT, "damaged spectral filter: its counters make no sense");
    return EB_OK;
}

static void spectral_stat(const eb_params *p, const uint8_t *block, eb_stats *out) {
    const eb_counting s = spectral_open(p, block);
    ebi_counting_stat(&s, out);
}

static void spectral_predict(const eb_params *p, const eb_workload *w, eb_prediction *out) {
    const eb_counting s = spectral_shape(p);
    eb_counting_load load;
    ebi_counting_predict(&s, w, out);
    if (!ebi_counting_load(&s, w, &load)) return;
    ebi_counting_predict_errors(
        &s, &load, (s.linear ? ebi_errors_ms : ebi_errors_mi)(&load.sharing, &load.spectrum), out);
}

const eb_kind ebi_kind_spectral = {
    .info = {"spectral", "counts keys: never too low, seldom too high",
             "Cohen and Matias, Spectral Bloom filters, 2003",
             EB_CAN_COUNT | EB_NO_FALSE_NEGATIVES | EB_USES_VALUE | EB_CAN_REMOVE | EB_CAN_MERGE,
             spectral_options},
    .version = 1,
    .caps = spectral_caps,
    .resolve = spectral_resolve,
    .select = spectral_select,
    .init = spectral_init,
    .remove = spectral_remove,
    .restore = spectral_restore,
    .counters = spectral_counters,
    .sealed = spectral_sealed,
    .merge = spectral_merge,
    .check = spectral_check,
    .stat = spectral_stat,
    .predict = spectral_predict,
};
