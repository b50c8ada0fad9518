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
 *               Filters of two streams add up to one that is never too low for both.
 *   policy=ms   minimum selection: all k counters are raised.  Linear: keys can be
 *               removed, and filters of two streams add up to that of both.
 *
 * Never too low: every counter of a key is at least its count.  Too high with
 * probability about (1-e^(-nk/m))^k, n distinct keys in m counters.
 *
 * A window of 512 counters keeps a key's counters in a few neighbouring cache
 * lines at the price of 5 % more errors. */
#include "counting.h"

enum { POLICY_MI, POLICY_MS };

static const eb_option spectral_options[] = {
    EB_COUNTING_OPTIONS("1", "mi|ms", "mi", "mi: smallest errors; ms: removals"), {0}};

static eb_counting spectral_open(const eb_params *p, const uint8_t *block) {
    eb_counting c = ebi_counting_open(p, block);
    c.linear = p->opt[EB_C_POLICY] == POLICY_MS;
    return c;
}

/* Parameters */

static eb_status spectral_resolve(eb_params *p, const eb_args *a, eb_error *err) {
    const eb_store *const store = ebi_counting_store(p);
    EB_TRY(ebi_counting_resolve_bits(p, a, "spectral", store, EB_C_BITS, err));
    EB_TRY(ebi_counting_resolve_cells(p, a, "spectral", store, EB_C_BITS, sizeof(eb_counting_state),
                                      err));
    p->span = EB_COUNTING_FIXED + ebi_counting_first_bytes(p);
    return ebi_counting_resolve(p, a, "spectral", err);
}

/* Loops */

static void spectral_add(const eb_params *p, uint8_t *block, const eb_batch *b, uint8_t *seen) {
    const eb_counting s = spectral_open(p, block);
    uint64_t pos[EB_BATCH * EB_COUNTING_K_MAX];
    ebi_counting_fetch(&s, b->hash, b->n, pos);
    const size_t ahead = ebi_counting_ahead(&s, pos, b->n);
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t *const at = pos + i * s.k;
        if (i + ahead < b->n) ebi_counting_ready(&s, at + ahead * s.k);
        seen[i] = s.linear ? ebi_counting_raise_all(&s, at, b->value[i])
                           : ebi_counting_lift(&s, at, b->value[i]) > 0;
        ebi_counting_raise_total(&s, b->value[i]);
    }
}

/* Raise all counters of a key; the least of them before. */
static uint64_t spectral_raise(const eb_counting *s, const uint64_t *pos, uint64_t by) {
    uint64_t least = EB_COUNTER_MAX;
    for (unsigned j = 0; j < s->k; j++) least = ebi_min(least, ebi_counting_raise(s, pos[j], by));
    return least;
}

static void spectral_add_count(const eb_params *p, uint8_t *block, const eb_batch *b,
                               double *after) {
    const eb_counting s = spectral_open(p, block);
    uint64_t pos[EB_BATCH * EB_COUNTING_K_MAX];
    ebi_counting_fetch(&s, b->hash, b->n, pos);
    const size_t ahead = ebi_counting_ahead(&s, pos, b->n);
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t *const at = pos + i * s.k;
        if (i + ahead < b->n) ebi_counting_ready(&s, at + ahead * s.k);
        const uint64_t before =
            s.linear ? spectral_raise(&s, at, b->value[i]) : ebi_counting_lift(&s, at, b->value[i]);
        after[i] = (double)ebi_counter_sum(before, b->value[i]);
        ebi_counting_raise_total(&s, b->value[i]);
    }
}

static void spectral_estimates(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                               uint64_t *estimate) {
    const eb_counting s = spectral_open(p, block);
    uint64_t pos[EB_BATCH * EB_COUNTING_K_MAX], counter[EB_BATCH * EB_COUNTING_K_MAX];
    ebi_counting_fetch(&s, h, n, pos);
    s.store->read(&s.counters, pos, n * s.k, counter);
    for (size_t i = 0; i < n; i++) estimate[i] = ebi_counting_least(counter + i * s.k, s.k);
}

EB_COUNTING_LOOPS(spectral)

static const eb_ops *spectral_select(const eb_params *p) {
    static const eb_ops ops = {.add = spectral_add,
                               .test = spectral_test,
                               .count = spectral_count,
                               .add_count = spectral_add_count};
    (void)p;
    return &ops;
}

static eb_status spectral_claim(const eb_params *p, const uint8_t *block, const eb_batch *b,
                                const eb_claims *claims) {
    const eb_counting s = spectral_open(p, block);
    return ebi_counting_claim(&s, b, claims);
}

static void spectral_remove(const eb_params *p, uint8_t *block, const eb_batch *b) {
    const eb_counting s = spectral_open(p, block);
    ebi_counting_remove(&s, b);
}

/* The whole filter */

static unsigned spectral_caps(const eb_params *p) {
    const unsigned linear = p->opt[EB_C_POLICY] == POLICY_MS ? EB_CAN_REMOVE : 0;
    return EB_CAN_COUNT | EB_NO_FALSE_NEGATIVES | EB_USES_VALUE | EB_CAN_MERGE | linear;
}

static void spectral_init(const eb_params *p, uint8_t *block) {
    const eb_counting s = spectral_open(p, block);
    if (s.store->init) s.store->init(&s.counters);
}

static void spectral_merge_from(const eb_params *p, uint8_t *into, const eb_params *q,
                                const uint8_t *from) {
    const eb_counting a = spectral_open(p, into), b = spectral_open(q, from);
    ebi_counting_merge(&a, &b);
}

static void spectral_merge(const eb_params *p, uint8_t *into, const uint8_t *from) {
    spectral_merge_from(p, into, p, from);
}

static void spectral_counters(const eb_params *p, const uint8_t *block, eb_counting *out) {
    *out = spectral_open(p, block);
    out->linear = out->linear && ebi_counting_state(block)->sealed == 0;
}

static uint64_t *spectral_sealed(uint8_t *block) {
    return &ebi_counting_state(block)->sealed;
}

static eb_status spectral_check(const eb_params *p, const uint8_t *block, eb_error *err) {
    const eb_counting s = spectral_open(p, block);
    if (ebi_counting_check(&s, ebi_counting_state(block))) return EB_OK;
    return ebi_fail(err, EB_EFORMAT, "damaged spectral filter: its counters make no sense");
}

static void spectral_stat(const eb_params *p, const uint8_t *block, eb_stats *out) {
    const eb_counting s = spectral_open(p, block);
    ebi_counting_stat(&s, out);
}

static void spectral_predict(const eb_params *p, const eb_workload *w, eb_prediction *out) {
    eb_counting s = ebi_counting_first(p);
    eb_counting_load load;
    s.linear = p->opt[EB_C_POLICY] == POLICY_MS;
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
    .claims = ebi_counting_claims,
    .claim = spectral_claim,
    .remove = spectral_remove,
    .counters = spectral_counters,
    .sealed = spectral_sealed,
    .frozen = EB_C_FROZEN,
    .merge = spectral_merge,
    .merge_from = spectral_merge_from,
    .check = spectral_check,
    .stat = spectral_stat,
    .predict = spectral_predict,
};
