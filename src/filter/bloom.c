/* bloom.c - the Bloom filter (Bloom 1970): k bits for each key, never cleared.
 *
 *     layout=parts   | part 0: s bits | part 1: s bits | ... | part k-1 |   cells = k s
 *     layout=one     | one array of all bits, shared by the k positions |
 *
 * No false negatives, ever.  False positives rise with every distinct key: after
 * D of them a share q = 1-(1-1/s)^D of the bits is set and a fresh key passes
 * with q^k.  Parts are the default: q is the same for each position, nothing is
 * lost to a key that hits the same bit twice, and tables stay comparable.
 *
 * Cost: k random cache lines a key. */
#include "cells/bitarray.h"
#include "loops.h"
#include "theory/theory.h"
#include <math.h>

enum { O_K = EB_O_OWN, O_LAYOUT, O_ITEMS, O_FPR };
enum { LAYOUT_PARTS, LAYOUT_ONE };

static const eb_option bloom_options[] = {
    EB_COMMON_OPTIONS,
    {"k", "int", NULL, "1", "32", "bits for each key", false},
    {"layout", "parts|one", "parts", NULL, NULL, "k arrays, or one for all", false},
    {"items", "count", NULL, "1", "1e14", "expected distinct keys: k, or cells, follow", true},
    {"fpr", "real", NULL, "1e-9", "0.5", "wanted false positives: k, or cells, follow", true},
    {0}};

EB_INLINE unsigned bloom_k(const eb_params *p) {
    return (unsigned)p->opt[O_K];
}

EB_INLINE uint64_t bloom_range(const eb_params *p) {
    return p->opt[O_LAYOUT] == LAYOUT_PARTS ? p->opt[EB_O_CELLS] / p->opt[O_K] : p->opt[EB_O_CELLS];
}

EB_INLINE uint64_t bloom_stride(const eb_params *p) {
    return p->opt[O_LAYOUT] == LAYOUT_PARTS ? bloom_range(p) : 0;
}

/* Parameters */

static double bloom_log_empty(double fpr, double k) { /* ln of the wanted share of zero bits */
    return log1p(-pow(fpr, 1 / k));
}

static uint64_t bloom_choose_k(const eb_params *p, const eb_args *a) {
    double k = 7;
    if (a->given[O_FPR])
        k = round(-log2(a->real[O_FPR]));
    else if (a->given[O_ITEMS])
        k = round((a->given[EB_O_CELLS] ? a->real[EB_O_CELLS] * (double)p->opt[EB_O_SHARDS]
                                        : a->real[EB_O_MEMORY] * 8) /
                  a->real[O_ITEMS] * log(2));
    return k < 1 ? 1 : k > 32 ? 32 : (uint64_t)k;
}

/* cells= for items= and fpr=, unless the size is given; then see that it is enough. */
static eb_status bloom_fit_items(eb_params *p, eb_args *a, eb_error *err) {
    const double k = (double)p->opt[O_K], shards = (double)p->opt[EB_O_SHARDS];
    if (!a->given[O_ITEMS] || !a->given[O_FPR]) return EB_OK;
    const double need = ceil(-a->real[O_ITEMS] / shards * k / bloom_log_empty(a->real[O_FPR], k));
    const double have = a->given[EB_O_CELLS] ? a->real[EB_O_CELLS] : (double)ebi_budget(p) * 8 - 64;
    if (a->given[EB_O_CELLS] || a->given[EB_O_MEMORY]) {
        if (have >= need) return EB_OK;
        return ebi_fail(err, EB_ESPEC,
                        "bloom: items=%.10g at fpr=%g need %.0f bytes, and the size given is %.0f",
                        a->real[O_ITEMS], a->real[O_FPR], need * shards / 8, have * shards / 8);
    }
    if (need > 9e14) /* with what rounding adds still below the most cells */
        return ebi_fail(err, EB_ESPEC,
                        "bloom: items=%.10g at fpr=%g need %.3g bytes, and the most is 2^47",
                        a->real[O_ITEMS], a->real[O_FPR], need * shards / 8);
    p->opt[EB_O_CELLS] = ebi_round_up((uint64_t)need, 64 * p->opt[O_K]);
    a->given[EB_O_CELLS] = true;
    return EB_OK;
}

static eb_status bloom_resolve(eb_params *p, const eb_args *given, eb_error *err) {
    eb_args a = *given;
    if (!a.given[O_K]) p->opt[O_K] = bloom_choose_k(p, &a);
    EB_TRY(bloom_fit_items(p, &a, err));
    const uint64_t multiple = p->opt[O_LAYOUT] == LAYOUT_PARTS ? p->opt[O_K] : 1;
    return ebi_size_cells(p, &a, "bloom", 1, multiple, 0, err);
}

/* Loops */

EB_INLINE void bloom_add(const eb_params *p, uint8_t *block, const eb_batch *b, uint8_t *seen,
                         unsigned k, bool far) {
    uint8_t *const bits = block + sizeof(eb_head);
    eb_fetch fetch;
    ebi_fetch_open(&fetch, bits, 1, bloom_range(p), bloom_stride(p), b->hash, b->n, true);
    ebi_fetch_begin(&fetch, k, far);
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t *const at = ebi_fetch_key(&fetch, i, k, far);
        bool all = true;
        for (unsigned j = 0; j < k; j++) {
            all &= ebi_bit(bits, at[j]);
            ebi_bit_set(bits, at[j]);
        }
        seen[i] = all;
    }
}

EB_INLINE void bloom_test(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                          uint8_t *seen, unsigned k, bool far) {
    const uint8_t *const bits = block + sizeof(eb_head);
    eb_fetch fetch;
    ebi_fetch_open(&fetch, bits, 1, bloom_range(p), bloom_stride(p), h, n, false);
    ebi_fetch_begin(&fetch, k, far);
    for (size_t i = 0; i < n; i++) {
        const uint64_t *const at = ebi_fetch_key(&fetch, i, k, far);
        unsigned j = 0;
        while (j < k && ebi_bit(bits, at[j])) j++;
        seen[i] = j == k;
    }
}

EB_LOOPS(bloom)

/* The whole filter */

static void bloom_merge(const eb_params *p, uint8_t *into, const uint8_t *from) {
    for (size_t i = sizeof(eb_head); i < p->span; i += 8)
        ebi_store64(into + i, ebi_load64(into + i) | ebi_load64(from + i));
}

static eb_status bloom_check(const eb_params *p, const uint8_t *block, eb_error *err) {
    const uint64_t cells = p->opt[EB_O_CELLS], keys = ebi_head_of(block)->items;
    const uint8_t *const bits = block + sizeof(eb_head);
    if (!ebi_tail_is_zero(bits, cells, p->span - sizeof(eb_head)))
        return ebi_fail(err, EB_EFORMAT, "damaged bloom filter: bits are set after its last cell");
    if (ebi_bits_count(bits, 0, cells) / p->opt[O_K] > keys)
        return ebi_fail(err, EB_EFORMAT,
                        "damaged bloom filter: more bits are set than %llu keys can set",
                        (unsigned long long)keys);
    return EB_OK;
}

static void bloom_stat(const eb_params *p, const uint8_t *block, eb_stats *s) {
    const uint64_t range = bloom_range(p), parts = p->opt[EB_O_CELLS] / range;
    const uint8_t *const bits = block + sizeof(eb_head);
    s->cells = p->opt[EB_O_CELLS];
    s->fpr = 1;
    for (uint64_t i = 0; i < parts; i++) {
        const uint64_t used = ebi_bits_count(bits, i * range, (i + 1) * range);
        s->cells_used += used;
        s->fpr *= (double)used / (double)range;
    }
    if (parts == 1) s->fpr = pow(s->fpr, (double)p->opt[O_K]);
}

static double bloom_fill(const eb_params *p, double distinct) {
    const double each = p->opt[O_LAYOUT] == LAYOUT_PARTS ? 1 : (double)p->opt[O_K];
    return ebi_one_minus_pow1m(1 / (double)bloom_range(p), distinct * each);
}

static void bloom_predict(const eb_params *p, const eb_workload *w, eb_prediction *out) {
    enum { STEPS = 256 };
    const double k = (double)p->opt[O_K];
    const double distinct = w->distinct > 0 ? w->distinct : w->items > 0 ? w->items : INFINITY;
    out->fill = isinf(distinct) ? 1 : bloom_fill(p, distinct);
    out->fpr = pow(out->fill, k);
    out->fnr = out->mean_fnr = 0;
    out->settles_after = 0;
    out->mean_fpr = isinf(distinct) ? 1 : 0;
    for (int i = 0; i < STEPS && !isinf(distinct); i++)
        out->mean_fpr += pow(bloom_fill(p, distinct * (i + 0.5) / STEPS), k) / STEPS;
}

static bool bloom_view(const eb_params *p, const uint8_t *block, eb_cells_view *v) {
    *v = (eb_cells_view){block + sizeof(eb_head), bloom_range(p), bloom_stride(p), bloom_k(p), 1};
    return true;
}

const eb_kind ebi_kind_bloom = {
    .info = {"bloom", "the Bloom filter: never misses a key that it has seen",
             "Bloom, Space/time trade-offs in hash coding with allowable errors, 1970",
             EB_CAN_MERGE | EB_NO_FALSE_NEGATIVES | EB_ADD_IS_IDEMPOTENT, bloom_options},
    .version = 1,
    .resolve = bloom_resolve,
    .select = bloom_loops,
    .merge = bloom_merge,
    .check = bloom_check,
    .stat = bloom_stat,
    .predict = bloom_predict,
    .view = bloom_view,
};
