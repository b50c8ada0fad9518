/* weighted.c - the weighted Bloom filter (Bruck, Gao and Jiang, ISIT 2006): a Bloom filter in which
 * the number of bits of a key depends on its class.  Classes that are often asked about without
 * being in the set get more bits, and so fewer false positives.  A key costs k random lines, and
 * one more with a hot list that does not fit in the cache.
 *
 *       | head | classes, 64 bytes | hot list, 4 bytes a slot | m bits |
 *
 * All positions of a key are one sequence.  Class c sets the first insert[c] of them and looks at
 * the first query[c].  The number that may be looked at never exceeds the fewest that any member of
 * the class has set: query[c] <= lowest[c] <= insert[c].  So there are no false negatives, even if
 * the numbers change.  A key whose class is not given is looked up with the fewest bits of all
 * classes.
 *
 * hot=N: a list in the filter gives the classes of up to N keys, as fingerprints of 29 bits (open
 * addressing, at most 3/4 full).  It cannot change after the first add.  A key that only shares the
 * fingerprint of a listed key has that key's class, both when it is added and when it is asked
 * for. */
#include "cells/bitarray.h"
#include "filter/loops.h"
#include "math/probability.h"
#include <everbloom/experimental.h>
#include <math.h>

enum { WEIGHTED_O_K = EBI_O_OWN, WEIGHTED_O_HOT };

static const eb_option weighted_options[] = {
    EBI_COMMON_OPTIONS,
    {"class_bits", "list", "7", "1", "32", "bits for keys of class 1, 2, ...", false},
    {"hot", "count", "0", "0", "1e9", "keys whose class a list in each shard can hold", false},
    {0}};

typedef struct weighted_state {
    uint8_t insert[EB_CLASSES_MAX], query[EB_CLASSES_MAX], lowest[EB_CLASSES_MAX];
    uint64_t listed;      /* slots of the hot list in use */
    uint64_t reserved[4]; /* zero */
} weighted_state;
static_assert(sizeof(weighted_state) == 64, "one cache line");

static uint32_t weighted_classes(const ebi_params *p) {
    return ebi_log2(p->opt[WEIGHTED_O_K]) / 8 + 1;
}

static uint64_t weighted_slots(const ebi_params *p) { /* a multiple of 16, for whole lines */
    return p->opt[WEIGHTED_O_HOT] == 0
               ? 0
               : ebi_round_up(p->opt[WEIGHTED_O_HOT] + p->opt[WEIGHTED_O_HOT] / 3 + 1, 16);
}

static uint64_t weighted_fixed(const ebi_params *p) {
    return sizeof(weighted_state) + weighted_slots(p) * 4;
}

EBI_INLINE const weighted_state *weighted_state_of(const uint8_t *block) {
    return (const weighted_state *)(const void *)(block + sizeof(ebi_block_head));
}

static eb_status weighted_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    p->value_min = 1;
    p->value_max = p->opt[WEIGHTED_O_HOT] > 0 ? 1 : weighted_classes(p);
    return ebi_size_cells(p, a, "weighted", 1, 1, weighted_fixed(p), err);
}

static void weighted_init(const ebi_params *p, uint8_t *block) {
    weighted_state *const s = (weighted_state *)(void *)(block + sizeof(ebi_block_head));
    for (unsigned c = 0; c < weighted_classes(p); c++)
        s->insert[c] = s->query[c] = s->lowest[c] = (uint8_t)(p->opt[WEIGHTED_O_K] >> (8 * c));
}

/* The hot list: a slot is a fingerprint and a class, or 0. */

EBI_INLINE uint32_t weighted_fingerprint(eb_hash h) { /* 29 bits, above the 3 of the class */
    return (uint32_t)ebi_mix(h) & ~UINT32_C(7);
}

/* The slot that holds the key's fingerprint, or the empty one where it would go.  The low bits hold
 * class - 1.  An entry is never 0, because fingerprint 0 becomes 8. */
static uint64_t weighted_find(const uint8_t *list, uint64_t slots, eb_hash h, uint32_t *entry) {
    assert(slots > 0);
    const uint32_t wanted = weighted_fingerprint(h) == 0 ? 8 : weighted_fingerprint(h);
    uint64_t i = eb_scale(h, slots);
    for (uint64_t step = 0; step < slots; step++, i = i + 1 == slots ? 0 : i + 1) {
        memcpy(entry, list + 4 * i, sizeof *entry);
        if (*entry == 0 || (*entry & ~UINT32_C(7)) == wanted) return i;
    }
    *entry = 0;
    return slots;
}

/* The class of a key, 0..n-1. */
EBI_INLINE unsigned weighted_class(const ebi_params *p, const uint8_t *block, eb_hash h,
                                   uint32_t value) {
    uint32_t entry;
    if (p->opt[WEIGHTED_O_HOT] == 0) return value - 1;
    (void)weighted_find(block + sizeof(ebi_block_head) + sizeof(weighted_state), weighted_slots(p),
                        h, &entry);
    return entry & 7;
}

static uint64_t weighted_room(const ebi_params *p, const uint8_t *block) {
    return p->opt[WEIGHTED_O_HOT] - weighted_state_of(block)->listed;
}

static void weighted_classify(const ebi_params *p, uint8_t *block, const ebi_batch *b) {
    assert(b->n <= EBI_BATCH);
    weighted_state *const s = (weighted_state *)(void *)(block + sizeof(ebi_block_head));
    uint8_t *const list = block + sizeof(ebi_block_head) + sizeof(weighted_state);
    for (size_t i = 0; i < b->n; i++) {
        uint32_t entry;
        const uint64_t slot = weighted_find(list, weighted_slots(p), b->hash[i], &entry);
        const uint32_t fingerprint = weighted_fingerprint(b->hash[i]);
        s->listed += entry == 0;
        entry = (fingerprint == 0 ? 8 : fingerprint) | (b->value[i] - 1);
        memcpy(list + 4 * slot, &entry, sizeof entry);
    }
}

/* Loops */

static uint8_t *weighted_bits(const ebi_params *p, uint8_t *block) {
    return block + sizeof(ebi_block_head) + weighted_fixed(p);
}

/* Computes the k positions of key i, at pos + i * EBI_K_MAX, and prefetches their bits. */
static void weighted_fetch(const ebi_params *p, const uint8_t *bits, const eb_hash *h, size_t i,
                           size_t n, const uint8_t *k, uint64_t *pos) {
    if (i >= n) return;
    ebi_positions(h[i], k[i], p->opt[EBI_O_CELLS], 0, pos + i * EBI_K_MAX);
    for (unsigned j = 0; j < k[i]; j++) ebi_prefetch_write(bits + (pos[i * EBI_K_MAX + j] >> 3));
}

enum { WEIGHTED_AHEAD = 6 }; /* keys; see ebi_fetch in loops.h */

static bool weighted_all_set(const uint8_t *bits, const uint64_t *pos, unsigned k) {
    assert(k <= EBI_K_MAX);
    unsigned j = 0;
    while (j < k && ebi_bit(bits, pos[j])) j++;
    return j == k;
}

static void weighted_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen) {
    assert(b->n <= EBI_BATCH);
    const weighted_state *const s = weighted_state_of(block);
    uint8_t *const bits = weighted_bits(p, block);
    uint64_t pos[EBI_BATCH * EBI_K_MAX];
    uint8_t class[EBI_BATCH], k[EBI_BATCH];
    for (size_t i = 0; i < b->n; i++) {
        class[i] = (uint8_t)weighted_class(p, block, b->hash[i], b->value[i]);
        k[i] = s->insert[class[i]];
    }
    for (size_t i = 0; i < WEIGHTED_AHEAD; i++) weighted_fetch(p, bits, b->hash, i, b->n, k, pos);
    for (size_t i = 0; i < b->n; i++) {
        weighted_fetch(p, bits, b->hash, i + WEIGHTED_AHEAD, b->n, k, pos);
        const uint64_t *const at = pos + i * EBI_K_MAX;
        seen[i] = weighted_all_set(bits, at, s->query[class[i]]);
        for (unsigned j = 0; j < k[i]; j++) ebi_bit_set(bits, at[j]);
    }
}

static void weighted_ask(const ebi_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                         const uint8_t *k, uint8_t *seen) {
    assert(n <= EBI_BATCH);
    const uint8_t *const bits = block + sizeof(ebi_block_head) + weighted_fixed(p);
    uint64_t pos[EBI_BATCH * EBI_K_MAX];
    for (size_t i = 0; i < WEIGHTED_AHEAD; i++) weighted_fetch(p, bits, h, i, n, k, pos);
    for (size_t i = 0; i < n; i++) {
        weighted_fetch(p, bits, h, i + WEIGHTED_AHEAD, n, k, pos);
        seen[i] = weighted_all_set(bits, pos + i * EBI_K_MAX, k[i]);
    }
}

static unsigned weighted_fewest(const ebi_params *p, const weighted_state *s) {
    unsigned fewest = EBI_K_MAX;
    for (unsigned c = 0; c < weighted_classes(p); c++)
        fewest = s->query[c] < fewest ? s->query[c] : fewest;
    return fewest;
}

/* A key whose class is not given may be of any class. */
static void weighted_test(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                          uint8_t *seen) {
    assert(b->n <= EBI_BATCH);
    const weighted_state *const s = weighted_state_of(block);
    const bool any = !b->value && p->opt[WEIGHTED_O_HOT] == 0;
    uint8_t k[EBI_BATCH];
    for (size_t i = 0; i < b->n; i++)
        k[i] = (uint8_t)(any ? weighted_fewest(p, s)
                             : s->query[weighted_class(p, block, b->hash[i],
                                                       b->value ? b->value[i] : 1)]);
    weighted_ask(p, block, b->hash, b->n, k, seen);
}

/* The bits of each class: see experimental.h. */

static eb_status weighted_set_k(const ebi_params *p, uint8_t *block, uint32_t class_number,
                                uint32_t insert_k, uint32_t query_k, bool renewed, eb_error *err) {
    weighted_state *const s = (weighted_state *)(void *)(block + sizeof(ebi_block_head));
    const uint32_t c = class_number - 1;
    if (class_number < 1 || class_number > weighted_classes(p))
        return ebi_fail(err, EB_EINVAL, "class must be 1..%u, not %u", weighted_classes(p),
                        class_number);
    if (insert_k < 1 || insert_k > EB_CLASS_K_MAX || query_k < 1 || query_k > insert_k)
        return ebi_fail(err, EB_EINVAL,
                        "bits must be 1 <= query <= insert <= %d, not query=%u, insert=%u",
                        EB_CLASS_K_MAX, query_k, insert_k);
    const uint32_t lowest = renewed || ebi_head_of(block)->items == 0
                                ? insert_k
                                : (uint32_t)ebi_min(s->lowest[c], insert_k);
    if (query_k > lowest)
        return ebi_fail(err, EB_EINVAL,
                        "members of class %u may have only %u bits: query bits must be 1..%u until "
                        "they are added again, not %u",
                        class_number, lowest, lowest, query_k);
    s->insert[c] = (uint8_t)insert_k;
    s->query[c] = (uint8_t)query_k;
    s->lowest[c] = (uint8_t)lowest;
    return EB_OK;
}

static void weighted_get_k(const uint8_t *block, uint32_t class_number, uint32_t *insert_k,
                           uint32_t *query_k) {
    *insert_k = weighted_state_of(block)->insert[class_number - 1];
    *query_k = weighted_state_of(block)->query[class_number - 1];
}

/* Merging: only as many bits may be looked at as every member of both filters has set. */

static bool weighted_same_list(const ebi_params *p, const uint8_t *a, const uint8_t *b) {
    const size_t at = sizeof(ebi_block_head) + sizeof(weighted_state);
    return memcmp(a + at, b + at, (size_t)weighted_slots(p) * 4) == 0;
}

static void weighted_merge(const ebi_params *p, uint8_t *into, const ebi_params *q,
                           const uint8_t *from) {
    weighted_state *const s = (weighted_state *)(void *)(into + sizeof(ebi_block_head));
    const weighted_state *const other = weighted_state_of(from);
    assert(p->span == q->span);
    for (unsigned c = 0; c < weighted_classes(q); c++) {
        s->lowest[c] = (uint8_t)ebi_min(s->lowest[c], other->lowest[c]);
        s->query[c] = (uint8_t)ebi_min(s->query[c], s->lowest[c]);
    }
    for (uint64_t i = sizeof(ebi_block_head) + weighted_fixed(p); i < p->span; i += 8)
        ebi_store64(into + i, ebi_load64(into + i) | ebi_load64(from + i));
}

/* The whole filter */

static bool weighted_state_ok(const ebi_params *p, const weighted_state *s) {
    uint64_t any = 0;
    for (unsigned c = 0; c < EB_CLASSES_MAX; c++) {
        const unsigned insert = s->insert[c], query = s->query[c], lowest = s->lowest[c];
        if (c >= weighted_classes(p))
            any |= insert | query | lowest;
        else if (query < 1 || query > lowest || lowest > insert || insert > EB_CLASS_K_MAX)
            return false;
    }
    return any == 0 && ebi_is_zero(s->reserved, sizeof s->reserved) &&
           s->listed <= p->opt[WEIGHTED_O_HOT];
}

static eb_status weighted_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    const weighted_state *const s = weighted_state_of(block);
    const uint8_t *const list = block + sizeof(ebi_block_head) + sizeof(weighted_state);
    const uint64_t fixed = sizeof(ebi_block_head) + weighted_fixed(p);
    uint64_t listed = 0;
    if (!weighted_state_ok(p, s))
        return ebi_fail(err, EB_EFORMAT, "damaged weighted filter: its classes are invalid");
    for (uint64_t i = 0; i < weighted_slots(p); i++) {
        uint32_t entry;
        memcpy(&entry, list + 4 * i, sizeof entry);
        listed += entry != 0;
        if ((entry & 7) >= weighted_classes(p))
            return ebi_fail(err, EB_EFORMAT, "damaged weighted filter: a class is out of range");
    }
    if (listed != s->listed ||
        !ebi_tail_is_zero(block + fixed, p->opt[EBI_O_CELLS], p->span - fixed))
        return ebi_fail(err, EB_EFORMAT, "damaged weighted filter: its parts disagree");
    return EB_OK;
}

static void weighted_stat(const ebi_params *p, const uint8_t *block, eb_stats *s) {
    const uint8_t *const bits = block + sizeof(ebi_block_head) + weighted_fixed(p);
    const weighted_state *const state = weighted_state_of(block);
    s->cells = p->opt[EBI_O_CELLS];
    s->cells_used = ebi_bits_count(bits, 0, s->cells);
    const unsigned k = p->opt[WEIGHTED_O_HOT] > 0 ? state->query[0] : weighted_fewest(p, state);
    s->fpr = pow((double)s->cells_used / (double)s->cells, k);
}

/* Predicts for keys that were added as class 1 and are asked for without a class. */
static void weighted_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    enum { WEIGHTED_STEPS = 64 };
    const double distinct = w->distinct > 0 ? w->distinct : w->items > 0 ? w->items : INFINITY;
    weighted_state s = {0};
    for (unsigned c = 0; c < weighted_classes(p); c++)
        s.query[c] = (uint8_t)(p->opt[WEIGHTED_O_K] >> 8 * c);
    const double set = (double)(p->opt[WEIGHTED_O_K] & 0xff);
    const double asked = p->opt[WEIGHTED_O_HOT] > 0 ? set : weighted_fewest(p, &s);
    out->fill =
        isinf(distinct) ? 1 : ebi_one_minus_pow1m(1 / (double)p->opt[EBI_O_CELLS], distinct * set);
    out->fpr = pow(out->fill, asked);
    out->mean_fpr = isinf(distinct) ? 1 : 0;
    for (int i = 0; i < WEIGHTED_STEPS && !isinf(distinct); i++)
        out->mean_fpr += pow(ebi_one_minus_pow1m(1 / (double)p->opt[EBI_O_CELLS],
                                                 distinct * set * (i + 0.5) / WEIGHTED_STEPS),
                             asked) /
                         WEIGHTED_STEPS;
    out->fnr = out->mean_fnr = 0;
    out->settles_after = 0;
}

static const ebi_classed weighted_classed = {.classes = weighted_classes,
                                             .room = weighted_room,
                                             .classify = weighted_classify,
                                             .same_list = weighted_same_list,
                                             .get_k = weighted_get_k,
                                             .set_k = weighted_set_k};

const ebi_kind ebi_kind_weighted = {
    .info = {"weighted", "classes of keys with more or fewer bits (value = class)",
             "Bruck, Gao and Jiang, Weighted Bloom filter, 2006",
             EB_NO_FALSE_NEGATIVES | EB_USES_VALUE | EB_CAN_MERGE | EB_ORDER_FREE, weighted_options,
             "Is it in the set, when some classes of keys deserve more bits?"},
    .version = 1,
    .resolve = weighted_resolve,
    .ops = {.add = weighted_add, .test = weighted_test},
    .init = weighted_init,
    .merge = weighted_merge,
    .check = weighted_check,
    .stat = weighted_stat,
    .predict = weighted_predict,
    .classed = &weighted_classed,
};
