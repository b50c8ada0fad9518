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
#include "cells/counters.h"
#include "loops.h"
#include "theory/theory.h"
#include <math.h>

enum { O_K = EB_O_OWN, O_POLICY, O_STORE, O_WINDOW, O_BITS };
enum { POLICY_MI, POLICY_MS };
enum { SPECTRAL_K_MAX = 16, WINDOW_DEFAULT = 512 };

static const eb_option spectral_options[] = {
    EB_COMMON_OPTIONS,
    {"k", "int", "5", "1", "16", "counters for each key", false},
    {"policy", "mi|ms", "mi", NULL, NULL, "mi: smallest errors; ms: removals and merging", false},
    {"store", "u8|u32", "u8", NULL, NULL, "how counters are laid out", false},
    {"window", "int", NULL, "0", "65536", "counters among which a key's lie; 0: all", false},
    {"bits", "fixed", NULL, "1", "64", "memory for each counter, in bits", false},
    {0}};

typedef struct spectral_state {
    uint64_t total; /* of all multiplicities; saturates */
    uint64_t reserved[7];
} spectral_state;
static_assert(sizeof(spectral_state) == 64, "one cache line");
enum { FIXED = sizeof(eb_head) + sizeof(spectral_state) };

static const eb_store *spectral_store(const eb_params *p) {
    static const eb_store *const stores[] = {&ebi_store_u8, &ebi_store_u32};
    return stores[p->opt[O_STORE]];
}

typedef struct spectral { /* one shard's block, opened */
    const eb_params *p;
    const eb_store *store;
    eb_counters counters;
    uint64_t n, bytes, window, part;
    unsigned k;
} spectral;

static spectral spectral_shape(const eb_params *p) { /* all but the place of its counters */
    spectral s = {.p = p, .store = spectral_store(p), .k = (unsigned)p->opt[O_K]};
    s.n = p->opt[EB_O_CELLS];
    s.bytes = p->span - FIXED;
    s.window = p->opt[O_WINDOW] == 0 ? s.n : p->opt[O_WINDOW];
    s.part = s.window / s.k;
    return s;
}

static spectral spectral_open(const eb_params *p, const uint8_t *block) {
    spectral s = spectral_shape(p);
    s.counters = ebi_counters(s.store, block + FIXED, s.n, s.bytes);
    return s;
}

/* Parameters */

/* The most counters whose segment fits into a budget that excludes the head. */
static uint64_t spectral_cells(const eb_store *store, uint64_t budget, uint64_t bits) {
    const uint64_t fixed = sizeof(spectral_state) + ebi_counters_bytes(store, 0, bits);
    if (budget <= fixed) return 0;
    uint64_t cells = (uint64_t)((double)(budget - fixed + 64) * 8e6 / (double)bits);
    while (ebi_counters_bytes(store, cells, bits) > budget - sizeof(spectral_state)) cells--;
    return cells;
}

static eb_status spectral_resolve(eb_params *p, const eb_args *a, eb_error *err) {
    const eb_store *const store = spectral_store(p);
    if (!a->given[O_BITS]) p->opt[O_BITS] = store->bits_usual;
    if (p->opt[O_BITS] < store->bits_least)
        return ebi_fail(err, EB_ESPEC, "spectral: bits must be at least %g with store=%s, not %g",
                        (double)store->bits_least / 1e6, store->name, (double)p->opt[O_BITS] / 1e6);
    if (!a->given[EB_O_CELLS]) {
        p->opt[EB_O_CELLS] = spectral_cells(store, ebi_budget(p), p->opt[O_BITS]);
        if (p->opt[EB_O_CELLS] < 64)
            return ebi_fail(err, EB_ESPEC, "spectral: memory=%llu is too small",
                            (unsigned long long)p->opt[EB_O_MEMORY]);
    }
    const uint64_t cells = p->opt[EB_O_CELLS];
    if (!a->given[O_WINDOW]) p->opt[O_WINDOW] = cells > (1u << 20) ? WINDOW_DEFAULT : 0;
    if (p->opt[O_WINDOW] != 0 && (p->opt[O_WINDOW] < p->opt[O_K] || p->opt[O_WINDOW] > cells))
        return ebi_fail(err, EB_ESPEC, "spectral: window must be 0 or k..cells, not %llu",
                        (unsigned long long)p->opt[O_WINDOW]);
    p->value_min = 1;
    p->span = FIXED + ebi_counters_bytes(store, cells, p->opt[O_BITS]);
    return EB_OK;
}

/* Counters of a key */

static void spectral_positions(const spectral *s, eb_hash h, uint64_t *pos) {
    const uint64_t first = s->window == s->n ? 0 : eb_scale(h, s->n - s->window + 1);
    ebi_positions(ebi_mix(h), s->k, s->part, s->part, pos);
    for (unsigned i = 0; i < s->k; i++) pos[i] += first;
}

static void spectral_fetch(const spectral *s, const eb_hash *h, size_t n, uint64_t *pos) {
    for (size_t i = 0; i < n; i++) {
        spectral_positions(s, h[i], pos + i * s->k);
        for (unsigned j = 0; j < s->k; j++)
            ebi_prefetch_write(s->store->address(&s->counters, pos[i * s->k + j]));
    }
}

static uint64_t spectral_get(const spectral *s, uint64_t i) {
    return s->store->get(&s->counters, i);
}

static void spectral_raise(const spectral *s, uint64_t i, uint64_t by) {
    s->store->add(&s->counters, i, by);
}

static uint64_t spectral_least(const uint64_t *counter, unsigned k) {
    uint64_t least = counter[0];
    for (unsigned j = 1; j < k; j++) least = ebi_min(least, counter[j]);
    return least;
}

static uint64_t spectral_minimum(const spectral *s, const uint64_t *pos, uint64_t *counter) {
    s->store->read(&s->counters, pos, s->k, counter);
    return spectral_least(counter, s->k);
}

/* Loops */

static void spectral_add(const eb_params *p, uint8_t *block, const eb_batch *b, uint8_t *seen) {
    const spectral s = spectral_open(p, block);
    spectral_state *const state = (spectral_state *)(void *)(block + sizeof(eb_head));
    uint64_t pos[EB_BATCH * SPECTRAL_K_MAX], counter[SPECTRAL_K_MAX];
    spectral_fetch(&s, b->hash, b->n, pos);
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t *const at = pos + i * s.k;
        const uint64_t least = spectral_minimum(&s, at, counter);
        const uint64_t goal = ebi_counter_sum(least, b->value[i]);
        for (unsigned j = 0; j < s.k; j++) {
            if (p->opt[O_POLICY] == POLICY_MS)
                spectral_raise(&s, at[j], b->value[i]);
            else if (counter[j] < goal)
                spectral_raise(&s, at[j], goal - counter[j]);
        }
        state->total = ebi_counter_sum(state->total, b->value[i]);
        seen[i] = least > 0;
    }
}

static void spectral_estimate(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                              uint64_t *estimate) {
    const spectral s = spectral_open(p, block);
    uint64_t pos[EB_BATCH * SPECTRAL_K_MAX], counter[EB_BATCH * SPECTRAL_K_MAX];
    spectral_fetch(&s, h, n, pos);
    s.store->read(&s.counters, pos, n * s.k, counter);
    for (size_t i = 0; i < n; i++) estimate[i] = spectral_least(counter + i * s.k, s.k);
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
    static const eb_ops ops = {.add = spectral_add, .test = spectral_test, .count = spectral_count};
    (void)p;
    return &ops;
}

/* Removing: a key whose estimate is below what shall go was never there so often.
 * All or nothing: what was taken before that is given back. */
static eb_status spectral_remove(const eb_params *p, uint8_t *block, const eb_batch *b) {
    const spectral s = spectral_open(p, block);
    spectral_state *const state = (spectral_state *)(void *)(block + sizeof(eb_head));
    uint64_t pos[EB_BATCH * SPECTRAL_K_MAX], counter[SPECTRAL_K_MAX];
    if (p->opt[O_POLICY] != POLICY_MS) return EB_ENOTSUP;
    spectral_fetch(&s, b->hash, b->n, pos);
    size_t done = 0;
    while (done < b->n && spectral_minimum(&s, pos + done * s.k, counter) >= b->value[done]) {
        for (unsigned j = 0; j < s.k; j++)
            s.store->sub(&s.counters, pos[done * s.k + j], b->value[done]);
        done++;
    }
    for (size_t i = 0; i < done && done < b->n; i++)
        for (unsigned j = 0; j < s.k; j++) spectral_raise(&s, pos[i * s.k + j], b->value[i]);
    if (done < b->n) return EB_EINVAL;
    for (size_t i = 0; i < b->n; i++) state->total -= ebi_min(state->total, b->value[i]);
    return EB_OK;
}

/* The whole filter */

static unsigned spectral_caps(const eb_params *p) {
    const unsigned linear = p->opt[O_POLICY] == POLICY_MS ? EB_CAN_REMOVE | EB_CAN_MERGE : 0;
    return EB_CAN_COUNT | EB_NO_FALSE_NEGATIVES | EB_USES_VALUE | linear;
}

static void spectral_init(const eb_params *p, uint8_t *block) {
    const spectral s = spectral_open(p, block);
    if (s.store->init) s.store->init(&s.counters);
}

static void spectral_merge(const eb_params *p, uint8_t *into, const uint8_t *from) {
    const spectral a = spectral_open(p, into), b = spectral_open(p, from);
    spectral_state *const state = (spectral_state *)(void *)(into + sizeof(eb_head));
    const spectral_state *const other =
        (const spectral_state *)(const void *)(from + sizeof(eb_head));
    for (uint64_t i = 0; i < a.n; i++) {
        const uint64_t more = spectral_get(&b, i);
        if (more > 0) spectral_raise(&a, i, more);
    }
    state->total = ebi_counter_sum(state->total, other->total);
}

static eb_status spectral_check(const eb_params *p, const uint8_t *block, eb_error *err) {
    const spectral s = spectral_open(p, block);
    const spectral_state *const state =
        (const spectral_state *)(const void *)(block + sizeof(eb_head));
    uint64_t any = 0;
    for (size_t i = 0; i < EB_COUNT_OF(state->reserved); i++) any |= state->reserved[i];
    if (any != 0 || state->total > EB_COUNTER_MAX || !s.store->check(&s.counters))
        return ebi_fail(err, EB_EFORMAT, "damaged spectral filter: its counters make no sense");
    return EB_OK;
}

/* A fresh key's chance to find no zero: the product of its parts' shares of
 * counters in use, averaged over windows. */
static double spectral_fpr(const spectral *s) {
    enum { WINDOWS = 256 };
    const uint64_t starts = s->n - s->window + 1, windows = ebi_min(starts, WINDOWS);
    double sum = 0;
    for (uint64_t w = 0; w < windows; w++) {
        const uint64_t first = starts / windows * w;
        double all = 1;
        for (unsigned i = 0; i < s->k; i++) {
            uint64_t used = 0;
            for (uint64_t j = 0; j < s->part; j++)
                used += spectral_get(s, first + i * s->part + j) > 0;
            all *= (double)used / (double)s->part;
        }
        sum += all;
    }
    return sum / (double)windows;
}

static void spectral_stat(const eb_params *p, const uint8_t *block, eb_stats *out) {
    const spectral s = spectral_open(p, block);
    out->cells = s.n;
    for (uint64_t i = 0; i < s.n; i++) out->cells_used += spectral_get(&s, i) > 0;
    out->fpr = spectral_fpr(&s);
}

/* A fresh key's k counters are all hit by others.  In a window of w counters the
 * number of other keys is Poisson: sum over it. */
static double spectral_error(const spectral *s, double distinct) {
    const double each = (double)s->part;
    if (s->window == s->n) return pow(ebi_one_minus_pow1m(1 / each, distinct), s->k);
    const double mean = distinct * (double)s->window / (double)s->n;
    double sum = 0;
    for (double j = 0; j < mean + 12 * sqrt(mean) + 30; j++)
        sum += ebi_poisson_pmf(mean, j) * pow(ebi_one_minus_pow1m(1 / each, j), s->k);
    return sum;
}

static void spectral_predict(const eb_params *p, const eb_workload *w, eb_prediction *out) {
    enum { STEPS = 64 };
    const spectral s = spectral_shape(p);
    const double distinct = w->distinct > 0 ? w->distinct : w->items;
    out->fnr = out->mean_fnr = 0;
    out->settles_after = 0;
    if (!(distinct > 0)) {
        out->fill = out->fpr = out->mean_fpr = 1;
        return;
    }
    out->fill = ebi_one_minus_pow1m((double)s.k / (double)s.n, distinct);
    out->fpr = spectral_error(&s, distinct);
    out->mean_fpr = 0;
    for (int i = 0; i < STEPS; i++)
        out->mean_fpr += spectral_error(&s, distinct * (i + 0.5) / STEPS) / STEPS;
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
    .merge = spectral_merge,
    .check = spectral_check,
    .stat = spectral_stat,
    .predict = spectral_predict,
};
