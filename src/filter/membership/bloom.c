/* bloom.c - the Bloom filter (Bloom 1970): an array of bits, of which each key sets k and none is
 * ever cleared.
 *
 * There are no false negatives.  False positives rise with every distinct key: D keys set a share q
 * = 1-(1-1/s)^D of the bits of a part, and a new key passes with probability q^k.  By default each
 * of the k positions has its own part of the array, so a key never hits the same bit twice and q is
 * the same for each position.  A key costs k random cache lines, or one with layout=line.
 *
 *       layout=parts   | part 0: s bits | part 1: s bits | ... | part k-1 |   cells = k s
 *       layout=one     | one array of all bits, shared by the k positions |
 *       layout=line    | lines of 512 bits, one for all bits of a key | (bloom_line.c)
 *       grow=G         | parts that are added when it is full | (bloom_grow.c), of arrays or of
 *                        lines */
#include "bloom.h"
#include "math/probability.h"
#include <math.h>

static const eb_option bloom_options[] = {
    EBI_COMMON_OPTIONS,
    {"k", "int", NULL, "1", "32", "bits for each key", false},
    {"layout", "parts|one|line", "parts", NULL, NULL,
     "an array for each bit of a key, one array, or one cache line a key", false},
    {"limit", "count", NULL, "1", "1e14", "new keys until it is full, or grows", false},
    {"grow", "int", NULL, "1", "16", "when full, add a part for this many times as many keys",
     false},
    {"grown", "int", NULL, "1", "63", "parts that were added", false},
    {"distinct", "count", NULL, "1", "1e14", "expected distinct keys; sets k or cells", true},
    {"fpr", "real", NULL, "1e-9", "0.5", "wanted false-positive rate; sets k or cells", true},
    {0}};

EBI_INLINE unsigned bloom_k(const ebi_params *p) {
    return (unsigned)p->opt[EBI_BLOOM_K];
}

EBI_INLINE uint64_t bloom_range(const ebi_params *p) {
    assert(p->opt[EBI_BLOOM_K] >= 1);
    return p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_PARTS ? p->opt[EBI_O_CELLS] / p->opt[EBI_BLOOM_K]
                                                       : p->opt[EBI_O_CELLS];
}

EBI_INLINE uint64_t bloom_stride(const ebi_params *p) {
    return p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_PARTS ? bloom_range(p) : 0;
}

/* Parameters */

/* The parts of a filter that grows have more bits for each key than the first, whose bits are
 * these; all have at most EBI_K_MAX. */
static uint64_t bloom_k_max(const ebi_params *p) {
    if (p->opt[EBI_BLOOM_GROW] == 0) return EBI_K_MAX;
    return p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_LINE ? EBI_BLOOM_GROW_LINE_K_MAX
                                                      : EBI_BLOOM_GROW_K_MAX;
}

static double bloom_log_empty(double fpr, double k) { /* ln of the wanted share of zero bits */
    assert(fpr > 0 && fpr < 1 && k >= 1);
    return log1p(-pow(fpr, 1 / k));
}

static uint64_t bloom_choose_k(const ebi_params *p, const ebi_args *a) {
    double k = 7;
    if (a->given[EBI_BLOOM_FPR] && p->opt[EBI_BLOOM_GROW] > 0)
        return ebi_bloom_grow_plan(a->real[EBI_BLOOM_FPR],
                                   p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_LINE);
    if (a->given[EBI_BLOOM_FPR])
        k = round(-log2(a->real[EBI_BLOOM_FPR]));
    else if (a->given[EBI_BLOOM_DISTINCT])
        k = round((a->given[EBI_O_CELLS] ? a->real[EBI_O_CELLS] * (double)p->opt[EBI_O_SHARDS]
                                         : a->real[EBI_O_MEMORY] * 8) /
                  a->real[EBI_BLOOM_DISTINCT] * log(2));
    return (uint64_t)fmin(fmax(1, k), (double)bloom_k_max(p));
}

/* The cells for so many keys at that rate.  With grow=: those of the first part, such that all
 * parts together keep to the rate. */
static double bloom_need(const ebi_params *p, double keys, double fpr) {
    assert(keys > 0 && fpr > 0);
    const double k = (double)p->opt[EBI_BLOOM_K];
    const bool line = p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_LINE;
    if (p->opt[EBI_BLOOM_GROW] > 0) /* one more, because few keys may set more bits than expected */
        return k * ceil(keys * ebi_bloom_grow_bits(fpr, bloom_k(p), line) + 1);
    if (line) return EBI_BLOOM_LINE_BITS * ceil(keys / ebi_bloom_line_mean(fpr, bloom_k(p)));
    return ceil(-keys * k / bloom_log_empty(fpr, k));
}

/* Sets cells= from distinct= and fpr= if no size is given; otherwise checks that the size is
 * enough. */
static eb_status bloom_fit_items(ebi_params *p, ebi_args *a, eb_error *err) {
    const double shards = (double)p->opt[EBI_O_SHARDS];
    if (!a->given[EBI_BLOOM_DISTINCT] || !a->given[EBI_BLOOM_FPR]) return EB_OK;
    const double need = bloom_need(p, a->real[EBI_BLOOM_DISTINCT] / shards, a->real[EBI_BLOOM_FPR]);
    const double have =
        a->given[EBI_O_CELLS] ? a->real[EBI_O_CELLS] : (double)ebi_budget(p) * 8 - 64;
    if (a->given[EBI_O_CELLS] || a->given[EBI_O_MEMORY]) {
        if (have >= need) return EB_OK;
        const bool cells = a->given[EBI_O_CELLS];
        return ebi_fail(
            err, EB_ESPEC, "bloom: %s must be at least %.0f for distinct=%.10g at fpr=%g, not %.0f",
            cells ? "cells" : "memory", cells ? need : ebi_memory_for(p, ceil((need + 64) / 8)),
            a->real[EBI_BLOOM_DISTINCT], a->real[EBI_BLOOM_FPR],
            cells ? have : (double)p->opt[EBI_O_MEMORY]);
    }
    if (need > 9e14) /* still below the most cells after rounding */
        return ebi_fail(err, EB_ESPEC,
                        "bloom: distinct=%.10g at fpr=%g need %.3g bytes, and the most is 2^47",
                        a->real[EBI_BLOOM_DISTINCT], a->real[EBI_BLOOM_FPR], need * shards / 8);
    p->opt[EBI_O_CELLS] = ebi_round_up(
        (uint64_t)need, p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_LINE ? EBI_BLOOM_LINE_BITS
                        : p->opt[EBI_BLOOM_GROW] > 0               ? p->opt[EBI_BLOOM_K]
                                                                   : 64 * p->opt[EBI_BLOOM_K]);
    while (p->opt[EBI_O_CELLS] < 64) p->opt[EBI_O_CELLS] += p->opt[EBI_BLOOM_K];
    a->given[EBI_O_CELLS] = true;
    return EB_OK;
}

/* With layout=line a smaller k is best, because some lines get more keys than others. */
static void bloom_choose_line_k(ebi_params *p, const ebi_args *a) {
    double best = 0;
    if (p->opt[EBI_BLOOM_LAYOUT] != EBI_BLOOM_LINE || p->opt[EBI_BLOOM_GROW] > 0 ||
        !a->given[EBI_BLOOM_FPR])
        return;
    for (uint64_t k = ebi_min(p->opt[EBI_BLOOM_K] + 1, EBI_K_MAX); k > 0; k--) {
        const double mean = ebi_bloom_line_mean(a->real[EBI_BLOOM_FPR], (unsigned)k);
        if (mean <= best) return;
        best = mean;
        p->opt[EBI_BLOOM_K] = k;
    }
}

static eb_status bloom_check_limit(const ebi_params *p, const ebi_args *a, eb_error *err) {
    const bool limited = a->given[EBI_BLOOM_LIMIT] || p->opt[EBI_BLOOM_GROW] > 0;
    if (limited && p->opt[EBI_O_SHARDS] > 1)
        return ebi_fail(err, EB_ESPEC, "bloom: limit and grow need shards=1");
    if (p->opt[EBI_BLOOM_GROW] > 0 && p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_ONE)
        return ebi_fail(err, EB_ESPEC, "bloom: grow needs layout=parts or layout=line");
    if (a->given[EBI_BLOOM_K] && p->opt[EBI_BLOOM_K] > bloom_k_max(p))
        return ebi_fail(err, EB_ESPEC, "bloom: k must be 1..%llu with grow%s, not %llu",
                        (unsigned long long)bloom_k_max(p),
                        p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_LINE ? " and layout=line" : "",
                        (unsigned long long)p->opt[EBI_BLOOM_K]);
    if (p->opt[EBI_BLOOM_GROWN] > 0 && (p->opt[EBI_BLOOM_GROW] == 0 || !a->given[EBI_BLOOM_LIMIT]))
        return ebi_fail(err, EB_ESPEC, "bloom: grown needs grow and limit");
    return EB_OK;
}

/* Without limit=, a part is full when half of its bits are set. */
static eb_status bloom_settle_parts(ebi_params *p, eb_error *err) {
    if (p->opt[EBI_BLOOM_GROW] == 0) return EB_OK;
    if (p->opt[EBI_BLOOM_LIMIT] == 0)
        p->opt[EBI_BLOOM_LIMIT] =
            ebi_max(1, p->opt[EBI_O_CELLS] / p->opt[EBI_BLOOM_K] / 1000000 * 693147 +
                           p->opt[EBI_O_CELLS] / p->opt[EBI_BLOOM_K] % 1000000 * 693147 / 1000000);
    if (ebi_bloom_growing.set_parts(p, (uint32_t)p->opt[EBI_BLOOM_GROWN] + 1)) return EB_OK;
    return ebi_fail(err, EB_ESPEC, "bloom: grown=%llu parts take more than 2^47 bytes",
                    (unsigned long long)p->opt[EBI_BLOOM_GROWN]);
}

static eb_status bloom_resolve(ebi_params *p, const ebi_args *given, eb_error *err) {
    ebi_args a = *given;
    const bool grows = p->opt[EBI_BLOOM_GROW] > 0;
    EBI_TRY(bloom_check_limit(p, &a, err));
    if (a.given[EBI_BLOOM_LIMIT] && !a.given[EBI_BLOOM_DISTINCT]) {
        a.given[EBI_BLOOM_DISTINCT] = true;
        a.real[EBI_BLOOM_DISTINCT] = a.real[EBI_BLOOM_LIMIT];
    } else if (grows && a.given[EBI_BLOOM_DISTINCT] && !a.given[EBI_BLOOM_LIMIT]) {
        p->opt[EBI_BLOOM_LIMIT] = (uint64_t)a.real[EBI_BLOOM_DISTINCT];
    }
    if (!a.given[EBI_BLOOM_K]) {
        p->opt[EBI_BLOOM_K] = bloom_choose_k(p, &a);
        bloom_choose_line_k(p, &a);
    }
    EBI_TRY(bloom_fit_items(p, &a, err));
    const uint64_t multiple = p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_PARTS  ? p->opt[EBI_BLOOM_K]
                              : p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_LINE ? EBI_BLOOM_LINE_BITS
                                                                           : 1;
    EBI_TRY(ebi_size_cells(p, &a, "bloom", 1, multiple, 0, err));
    return bloom_settle_parts(p, err);
}

/* Loops */

/* Sets the bits of a key and returns whether all were set.  For near blocks and single keys: bit by
 * bit, without unpredictable branches. */
EBI_INLINE bool bloom_put(const ebi_params *p, uint8_t *bits, eb_hash h, unsigned k) {
    const uint64_t range = bloom_range(p), stride = bloom_stride(p);
    uint64_t x = h, first = 0;
    unsigned all = 1;
    for (unsigned j = 0; j < k; j++, x = eb_next(x), first += stride) {
        const uint64_t at = first + eb_scale(x, range);
        const unsigned byte = bits[at >> 3], bit = at & 7;
        all &= byte >> bit;
        bits[at >> 3] = (uint8_t)(byte | 1u << bit);
    }
    return all != 0;
}

EBI_INLINE bool bloom_has(const ebi_params *p, const uint8_t *bits, eb_hash h, unsigned k) {
    const uint64_t range = bloom_range(p), stride = bloom_stride(p);
    uint64_t x = h, first = 0;
    unsigned all = 1;
    for (unsigned j = 0; j < k; j++, x = eb_next(x), first += stride) {
        const uint64_t at = first + eb_scale(x, range);
        all &= (unsigned)bits[at >> 3] >> (at & 7);
    }
    return all != 0;
}

EBI_INLINE void bloom_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen,
                          unsigned k, bool far) {
    assert(b->n <= EBI_BATCH);
    uint8_t *const bits = block + sizeof(ebi_block_head);
    ebi_fetch fetch;
    for (size_t i = 0; !far && i < b->n; i++) seen[i] = bloom_put(p, bits, b->hash[i], k);
    if (!far) return;
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

EBI_INLINE void bloom_test(const ebi_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                           uint8_t *seen, unsigned k, bool far) {
    assert(n <= EBI_BATCH);
    const uint8_t *const bits = block + sizeof(ebi_block_head);
    ebi_fetch fetch;
    for (size_t i = 0; !far && i < n; i++) seen[i] = bloom_has(p, bits, h[i], k);
    if (!far) return;
    ebi_fetch_open(&fetch, bits, 1, bloom_range(p), bloom_stride(p), h, n, false);
    ebi_fetch_begin(&fetch, k, far);
    for (size_t i = 0; i < n; i++) {
        const uint64_t *const at = ebi_fetch_key(&fetch, i, k, far);
        unsigned j = 0;
        while (j < k && ebi_bit(bits, at[j])) j++;
        seen[i] = j == k;
    }
}

EBI_LOOPS(bloom)

static const ebi_ops *bloom_select(const ebi_params *p) {
    if (p->opt[EBI_BLOOM_GROW] > 0) return &ebi_bloom_grow_ops;
    return p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_LINE ? ebi_bloom_line_loops(p) : bloom_loops(p);
}

/* The whole filter */

static void bloom_merge(const ebi_params *p, uint8_t *into, const ebi_params *q,
                        const uint8_t *from) {
    assert(q->span <= p->span); /* the parts that both have are alike */
    (void)p;
    for (size_t i = sizeof(ebi_block_head); i < q->span; i += 8)
        ebi_store64(into + i, ebi_load64(into + i) | ebi_load64(from + i));
}

static eb_status bloom_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    if (p->opt[EBI_BLOOM_GROW] > 0) return ebi_bloom_grow_check(p, block, err);
    const uint64_t cells = p->opt[EBI_O_CELLS];
    const uint64_t keys = ebi_load64(block + offsetof(ebi_block_head, items));
    const uint8_t *const bits = block + sizeof(ebi_block_head);
    if (!ebi_tail_is_zero(bits, cells, p->span - sizeof(ebi_block_head)))
        return ebi_fail(err, EB_EFORMAT, "damaged bloom filter: bits are set after its last cell");
    if (ebi_bits_count(bits, 0, cells) / p->opt[EBI_BLOOM_K] > keys)
        return ebi_fail(err, EB_EFORMAT,
                        "damaged bloom filter: more bits are set than %llu keys can set",
                        (unsigned long long)keys);
    return EB_OK;
}

static void bloom_stat(const ebi_params *p, const uint8_t *block, eb_stats *s) {
    const uint64_t range = bloom_range(p), parts = p->opt[EBI_O_CELLS] / range;
    const uint8_t *const bits = block + sizeof(ebi_block_head);
    if (p->opt[EBI_BLOOM_GROW] > 0) {
        s->fpr = ebi_bloom_grow_stat(p, block, &s->cells, &s->cells_used);
        return;
    }
    s->cells = p->opt[EBI_O_CELLS];
    if (p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_LINE) {
        s->fpr = ebi_bloom_line_fpr(bits, NULL, s->cells / EBI_BLOOM_LINE_BITS, bloom_k(p),
                                    &s->cells_used);
        return;
    }
    s->fpr = 1;
    for (uint64_t i = 0; i < parts; i++) {
        const uint64_t used = ebi_bits_count(bits, i * range, (i + 1) * range);
        s->cells_used += used;
        s->fpr *= (double)used / (double)range;
    }
    if (parts == 1) s->fpr = pow(s->fpr, (double)p->opt[EBI_BLOOM_K]);
}

/* The false-positive rate after so many distinct keys. */
static double bloom_rate(const ebi_params *p, double distinct, double *fill) {
    assert(distinct >= 0);
    const double k = (double)p->opt[EBI_BLOOM_K],
                 each = p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_PARTS ? 1 : k;
    if (p->opt[EBI_BLOOM_GROW] > 0) return ebi_bloom_grow_rate(p, distinct, fill);
    *fill = ebi_one_minus_pow1m(1 / (double)bloom_range(p), distinct * each);
    if (p->opt[EBI_BLOOM_LAYOUT] != EBI_BLOOM_LINE) return pow(*fill, k);
    const double lines = (double)p->opt[EBI_O_CELLS] / EBI_BLOOM_LINE_BITS;
    return ebi_bloom_line_rate(distinct / lines, (unsigned)k);
}

static void bloom_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    const int steps = p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_LINE ? 64 : 256;
    const double distinct = w->distinct > 0 ? w->distinct : w->items > 0 ? w->items : INFINITY;
    out->fill = out->fpr = 1;
    if (!isinf(distinct)) out->fpr = bloom_rate(p, distinct, &out->fill);
    out->fnr = out->mean_fnr = 0;
    out->settles_after = 0;
    out->mean_fpr = isinf(distinct) ? 1 : 0;
    double unused;
    for (int i = 0; i < steps && !isinf(distinct); i++)
        out->mean_fpr += bloom_rate(p, distinct * (i + 0.5) / steps, &unused) / steps;
}

static bool bloom_view(const ebi_params *p, const uint8_t *block, eb_cells_view *v) {
    if (p->opt[EBI_BLOOM_GROW] > 0 || p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_LINE) return false;
    *v = (eb_cells_view){block + sizeof(ebi_block_head), bloom_range(p), bloom_stride(p),
                         bloom_k(p), 1};
    return true;
}

/* Which keys go to which part, or are refused by a full filter, depends on their order. */
static uint64_t bloom_caps(const ebi_params *p) {
    return EB_CAN_MERGE | EB_NO_FALSE_NEGATIVES | EB_ADD_IS_IDEMPOTENT |
           (p->opt[EBI_BLOOM_GROW] > 0 ? EB_GROWS : 0) |
           (p->opt[EBI_BLOOM_LIMIT] > 0 ? 0 : EB_ORDER_FREE);
}

static double bloom_touched(const ebi_params *p) {
    return p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_LINE ? 1 : (double)p->opt[EBI_BLOOM_K];
}

const ebi_kind ebi_kind_bloom = {
    .info = {"bloom", "the Bloom filter: never misses a key that it has seen",
             "Bloom, Space/time trade-offs in hash coding with allowable errors, 1970",
             EB_CAN_MERGE | EB_NO_FALSE_NEGATIVES | EB_ADD_IS_IDEMPOTENT | EB_ORDER_FREE,
             bloom_options, "Is the key in a set that I know, or that grows?"},
    .version = 1,
    .traits = EBI_ANY_BYTES,
    .caps = bloom_caps,
    .resolve = bloom_resolve,
    .select = bloom_select,
    .merge = bloom_merge,
    .check = bloom_check,
    .stat = bloom_stat,
    .predict = bloom_predict,
    .lines = bloom_touched,
    .view = bloom_view,
    .growing = &ebi_bloom_growing,
};
