/* bloom_grow.c - a Bloom filter that grows: bloom:limit=N,grow=G. For sets whose size is not known
 * in advance.
 *
 *       | head | part 0: N keys, k arrays | part 1: N G keys, k + 1 arrays
 *              | part 2: N G^2 keys, k + 2 arrays | ...
 *
 * Each part is a Bloom filter with layout=parts.  New keys go to the last one.  When it is full, a
 * part that holds G times as many keys is appended.  A new key costs k + e lines to write in the
 * last part, and one or two to read in each of the others.  Everything follows from integers in the
 * spec: k, cells (of part 0), limit, grow, and grown, the number of parts that were appended.  Part
 * i uses the hash times an odd number to the power i.
 *
 * A key has been seen if any part has it, so the rates of the parts add up and must fall from part
 * to part (Almeida, Baquero, Preguica and Hutchison 2007).  But the lower the rate, the more bits a
 * key needs.  When a part is full, each of its arrays has the same share q of bits set, so part i
 * has the rate q^(k+e(i)), where e(i) is the number of binary digits of i: 0, 1, 2, 2, 3, 3, 3, 3,
 * 4... With q = 1/2, the 64 parts that are possible have together 1 + 6/2 = 4 times the rate of the
 * first.  If the rate halved with each part instead, part i would need i more bits for each key:
 * that is worse for large filters. */
#include "bloom.h"
#include "math/probability.h"
#include <math.h>

static unsigned bloom_grow_parts(const ebi_params *p) {
    return (unsigned)p->opt[EBI_BLOOM_GROWN] + 1;
}

static unsigned bloom_grow_extra(unsigned part) {
    return part == 0 ? 0 : ebi_log2(part) + 1;
}

static bool bloom_grow_next(const ebi_params *p, unsigned i, ebi_bloom_part *part) {
    assert(i >= 1 && i <= EBI_BLOOM_GROWN_MAX);
    uint64_t cells;
    if (!ebi_mul(part->range, p->opt[EBI_BLOOM_GROW], &part->range) ||
        !ebi_mul(part->limit, p->opt[EBI_BLOOM_GROW], &part->limit))
        return false;
    part->start += part->bytes;
    part->k = (unsigned)p->opt[EBI_BLOOM_K] + bloom_grow_extra(i);
    if (!ebi_mul(part->range, part->k, &cells) || cells > UINT64_C(1) << 50) return false;
    part->bytes = ebi_round_up(cells / 8 + 9, 64); /* words are read from any byte on */
    return part->k <= EBI_K_MAX;
}

static ebi_bloom_part bloom_grow_first(const ebi_params *p) {
    assert(p->opt[EBI_BLOOM_K] >= 1 && p->opt[EBI_O_CELLS] >= p->opt[EBI_BLOOM_K]);
    const uint64_t cells = p->opt[EBI_O_CELLS];
    return (ebi_bloom_part){cells / p->opt[EBI_BLOOM_K], p->opt[EBI_BLOOM_LIMIT],
                            sizeof(ebi_block_head), ebi_round_up((cells + 71) / 8, 64),
                            (unsigned)p->opt[EBI_BLOOM_K]};
}

bool ebi_bloom_part_of(const ebi_params *p, unsigned i, ebi_bloom_part *out) {
    assert(i <= EBI_BLOOM_GROWN_MAX);
    *out = bloom_grow_first(p);
    for (unsigned j = 1; j <= i; j++)
        if (!bloom_grow_next(p, j, out)) return false;
    return true;
}

/* Loops: part by part, over all keys that no part had so far. */

typedef struct bloom_grow_keys {
    size_t n;
    eb_hash hash[EBI_BATCH];
    uint8_t from[EBI_BATCH]; /* index in the batch */
} bloom_grow_keys;

static void bloom_grow_open(bloom_grow_keys *keys, const ebi_batch *b) {
    assert(b->n <= EBI_BATCH);
    keys->n = b->n;
    for (size_t i = 0; i < b->n; i++) {
        keys->hash[i] = b->hash[i];
        keys->from[i] = (uint8_t)i;
    }
}

/* Removes the keys that the part has from the list, and computes the next part's hashes of the
 * others. */
static void bloom_grow_find(const ebi_bloom_part *part, const uint8_t *block, bool far,
                            bloom_grow_keys *keys, uint8_t *seen) {
    assert(keys->n <= EBI_BATCH && part->k >= 1 && part->k <= EBI_K_MAX);
    const uint8_t *const bits = block + part->start;
    size_t left = 0;
    for (size_t i = 0; far && i < keys->n; i++)
        ebi_prefetch_read(bits + (eb_scale(keys->hash[i], part->range) >> 3));
    for (size_t i = 0; i < keys->n; i++) {
        uint64_t x = keys->hash[i], first = 0;
        unsigned j = 0;
        for (; j < part->k && ebi_bit(bits, first + eb_scale(x, part->range)); j++) {
            x = eb_next(x);
            first += part->range;
        }
        seen[keys->from[i]] = j == part->k;
        keys->hash[left] = ebi_inner_hash(keys->hash[i]);
        keys->from[left] = keys->from[i];
        left += j < part->k;
    }
    keys->n = left;
}

/* Adds the keys that are left to the last part. */
static void bloom_grow_put(const ebi_bloom_part *part, uint8_t *block, bool far,
                           const bloom_grow_keys *keys, uint8_t *seen) {
    assert(keys->n <= EBI_BATCH && part->k <= EBI_K_MAX);
    uint8_t *const bits = block + part->start;
    ebi_fetch fetch;
    ebi_fetch_open(&fetch, bits, 1, part->range, part->range, keys->hash, keys->n, true);
    ebi_fetch_begin(&fetch, part->k, far);
    for (size_t i = 0; i < keys->n; i++) {
        const uint64_t *const at = ebi_fetch_key(&fetch, i, part->k, far);
        bool all = true;
        for (unsigned j = 0; j < part->k; j++) {
            all &= ebi_bit(bits, at[j]);
            ebi_bit_set(bits, at[j]);
        }
        seen[keys->from[i]] = all;
    }
}

static void bloom_grow_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen) {
    bloom_grow_keys keys;
    bloom_grow_open(&keys, b);
    ebi_bloom_part part = bloom_grow_first(p);
    const bool far = ebi_is_far(p);
    for (unsigned i = 1; i < bloom_grow_parts(p); i++) {
        bloom_grow_find(&part, block, far, &keys, seen);
        (void)bloom_grow_next(p, i, &part);
    }
    bloom_grow_put(&part, block, far, &keys, seen);
}

static void bloom_grow_test(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                            uint8_t *seen) {
    bloom_grow_keys keys;
    bloom_grow_open(&keys, b);
    ebi_bloom_part part = bloom_grow_first(p);
    const bool far = ebi_is_far(p);
    for (unsigned i = 1; i <= bloom_grow_parts(p); i++) {
        bloom_grow_find(&part, block, far, &keys, seen);
        if (i < bloom_grow_parts(p)) (void)bloom_grow_next(p, i, &part);
    }
}

const ebi_ops ebi_bloom_grow_ops = {.add = bloom_grow_add, .test = bloom_grow_test};

/* Growing */

static uint64_t bloom_grow_capacity(const ebi_params *p) {
    if (p->opt[EBI_BLOOM_LIMIT] == 0) return UINT64_MAX;
    ebi_bloom_part part = bloom_grow_first(p);
    uint64_t sum = part.limit;
    for (unsigned i = 1; i < bloom_grow_parts(p); i++) {
        (void)bloom_grow_next(p, i, &part);
        sum = ebi_plus(sum, part.limit);
    }
    return sum;
}

static bool bloom_grow_set_parts(ebi_params *p, uint32_t parts) {
    assert(parts >= 1);
    ebi_bloom_part part;
    if (parts > 1 && (p->opt[EBI_BLOOM_GROW] == 0 || parts > EBI_BLOOM_GROWN_MAX + 1)) return false;
    if (!ebi_bloom_part_of(p, parts - 1, &part)) return false;
    if (part.start + part.bytes > UINT64_C(1) << 47) return false;
    p->opt[EBI_BLOOM_GROWN] = parts - 1;
    p->span = part.start + part.bytes;
    return true;
}

/* The rates of all parts together, if a share q of each array's bits is set. */
static double bloom_grow_sum(double q, double k) {
    assert(q >= 0 && q <= 1 && k >= 1);
    double sum = 0;
    for (unsigned i = 0; i <= EBI_BLOOM_GROWN_MAX; i++) sum += pow(q, k + bloom_grow_extra(i));
    return sum;
}

/* The guaranteed rate: that when all parts are full. */
static double bloom_grow_promise(const ebi_params *p) {
    const ebi_bloom_part part = bloom_grow_first(p);
    const double q = ebi_one_minus_pow1m(1 / (double)part.range, (double)part.limit);
    return bloom_grow_sum(q, part.k);
}

/* The rate of a part that has the bits of both blocks. other may be NULL. */
static double bloom_grow_part_rate(const ebi_bloom_part *part, const uint8_t *block,
                                   const uint8_t *other, uint64_t *used) {
    double rate = 1;
    for (unsigned i = 0; i < part->k; i++) {
        const uint64_t from = i * part->range, to = from + part->range;
        uint64_t bits = ebi_bits_count(block + part->start, from, to);
        if (other) {
            bits = 0;
            for (uint64_t at = from; at < to;) {
                const unsigned shift = at & 7;
                const uint64_t n = ebi_min(to - at, 64 - shift), byte = part->start + (at >> 3);
                const uint64_t word = ebi_load64(block + byte) | ebi_load64(other + byte);
                bits += ebi_popcount(word >> shift & ebi_ones((unsigned)n));
                at += n;
            }
        }
        *used += bits;
        rate *= (double)bits / (double)part->range;
    }
    return rate;
}

static double bloom_grow_union_rate(const ebi_params *p, const uint8_t *block, unsigned common,
                                    const uint8_t *other, uint64_t *cells, uint64_t *used) {
    ebi_bloom_part part = bloom_grow_first(p);
    double none = 1;
    for (unsigned i = 0; i < bloom_grow_parts(p); i++) {
        if (i > 0) (void)bloom_grow_next(p, i, &part);
        none *= 1 - bloom_grow_part_rate(&part, block, i < common ? other : NULL, used);
        *cells += part.k * part.range;
    }
    return 1 - none;
}

double ebi_bloom_grow_stat(const ebi_params *p, const uint8_t *block, uint64_t *cells,
                           uint64_t *used) {
    return bloom_grow_union_rate(p, block, 0, NULL, cells, used);
}

/* Whether the two, merged, keep the guaranteed rate.  They do not if their parts are full of
 * different keys. */
static bool bloom_grow_may_merge(const ebi_params *p, const uint8_t *a, const ebi_params *q,
                                 const uint8_t *b) {
    uint64_t cells = 0, used = 0;
    if (p->opt[EBI_BLOOM_GROW] == 0) return true;
    const bool less = bloom_grow_parts(p) < bloom_grow_parts(q);
    const unsigned common = less ? bloom_grow_parts(p) : bloom_grow_parts(q);
    const double rate = less ? bloom_grow_union_rate(q, b, common, a, &cells, &used)
                             : bloom_grow_union_rate(p, a, common, b, &cells, &used);
    return rate <= bloom_grow_promise(p);
}

/* The number of keys that set so many bits of a strip, where each key hits one bit.  A sum of
 * integers is the same on every machine; a logarithm need not be. */
enum { BLOOM_GROW_STRIP = 512, BLOOM_GROW_STRIP_BITS = 8 * BLOOM_GROW_STRIP };
typedef struct bloom_grow_table {
    uint64_t keys[BLOOM_GROW_STRIP_BITS + 1];
} bloom_grow_table;

static void bloom_grow_tabulate(bloom_grow_table *t) {
    t->keys[0] = 0;
    for (uint64_t i = 0; i < BLOOM_GROW_STRIP_BITS; i++)
        t->keys[i + 1] = t->keys[i] + (UINT64_C(1) << 32) / (BLOOM_GROW_STRIP_BITS - i);
}

/* The keys of b in a strip of so many bytes, and how many of them are not in a. */
static void bloom_grow_strip(const bloom_grow_table *t, const uint8_t *a, const uint8_t *b,
                             uint64_t bytes, double *all, double *fresh) {
    uint64_t in_a = 0, in_b = 0, in_both = 0;
    for (uint64_t at = 0; at < bytes; at += 8) {
        const uint64_t x = ebi_load64(a + at), y = ebi_load64(b + at);
        in_a += ebi_popcount(x);
        in_b += ebi_popcount(y);
        in_both += ebi_popcount(x | y);
    }
    const uint64_t scale = BLOOM_GROW_STRIP / bytes; /* the last strip may be short */
    *all = (double)(t->keys[in_b * scale] / scale);
    *fresh = (double)((t->keys[in_both * scale] - t->keys[in_a * scale]) / scale);
}

static uint64_t bloom_grow_fresh(const uint8_t *a, const ebi_params *q, const uint8_t *b,
                                 uint64_t keys) {
    bloom_grow_table table;
    ebi_bloom_part part = bloom_grow_first(q);
    double all = 0, fresh = 0;
    bloom_grow_tabulate(&table);
    for (unsigned i = 0; i < bloom_grow_parts(q); i++) {
        if (i > 0) (void)bloom_grow_next(q, i, &part);
        const uint64_t end = ebi_min(part.start + part.bytes, q->span);
        for (uint64_t from = part.start; from < end; from += BLOOM_GROW_STRIP) {
            double of_b, new_to_a;
            bloom_grow_strip(&table, a + from, b + from, ebi_min(end - from, BLOOM_GROW_STRIP),
                             &of_b, &new_to_a);
            all += of_b / part.k;
            fresh += new_to_a / part.k;
        }
    }
    return fresh >= all ? keys : (uint64_t)ceil((double)keys * (fresh / all));
}

static uint32_t bloom_grow_parts_of(const ebi_params *p) {
    return bloom_grow_parts(p);
}

const ebi_growing ebi_bloom_growing = {
    .capacity = bloom_grow_capacity,
    .parts = bloom_grow_parts_of,
    .set_parts = bloom_grow_set_parts,
    .may_merge = bloom_grow_may_merge,
    .fresh = bloom_grow_fresh,
};

eb_status ebi_bloom_grow_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    ebi_bloom_part part = bloom_grow_first(p);
    const uint64_t keys = ebi_load64(block + offsetof(ebi_block_head, items));
    for (unsigned i = 0; i < bloom_grow_parts(p); i++) {
        if (i > 0) (void)bloom_grow_next(p, i, &part);
        const uint64_t cells = part.k * part.range;
        if (!ebi_tail_is_zero(block + part.start, cells, part.bytes))
            return ebi_fail(err, EB_EFORMAT,
                            "damaged bloom filter: bits are set after the last cell of part %u", i);
        if (ebi_bits_count(block + part.start, 0, cells) / part.k > keys)
            return ebi_fail(err, EB_EFORMAT,
                            "damaged bloom filter: more bits are set than %llu keys can set",
                            (unsigned long long)keys);
    }
    return EB_OK;
}

/* Planning */

static double bloom_grow_share(double fpr, double k) { /* the largest q whose sum keeps to fpr */
    assert(fpr > 0 && k >= 1);
    double low = 0, high = 0.9;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (bloom_grow_sum(middle, k) <= fpr)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void ebi_bloom_grow_bits(double fpr, double k, double *bits) {
    *bits = -1 / log1p(-bloom_grow_share(fpr, k));
}

void ebi_bloom_grow_plan(double fpr, double *k, double *bits) {
    enum { BLOOM_GROW_TYPICAL = 3 }; /* additional arrays of a filter of some 10 parts */
    double best = INFINITY;
    for (unsigned i = 1; i <= EBI_BLOOM_GROW_K_MAX; i++) {
        double each;
        ebi_bloom_grow_bits(fpr, i, &each);
        if ((i + BLOOM_GROW_TYPICAL) * each >= best) continue;
        best = (i + BLOOM_GROW_TYPICAL) * each;
        *k = i;
        *bits = each;
    }
}

/* The rate after so many distinct keys, with the parts that the filter then has. */
double ebi_bloom_grow_rate(const ebi_params *p, double distinct, double *fill) {
    assert(distinct >= 0);
    ebi_bloom_part part = bloom_grow_first(p);
    double none = 1, used = 0, cells = 0, left = distinct;
    for (unsigned i = 0;; i++) {
        const double keys = fmin(left, (double)part.limit);
        const double q = ebi_one_minus_pow1m(1 / (double)part.range, keys);
        none *= 1 - pow(q, part.k);
        used += q * part.k * (double)part.range;
        cells += part.k * (double)part.range;
        left -= keys;
        if (left <= 0 || i == EBI_BLOOM_GROWN_MAX || !bloom_grow_next(p, i + 1, &part)) break;
    }
    *fill = used / cells;
    return 1 - none;
}
