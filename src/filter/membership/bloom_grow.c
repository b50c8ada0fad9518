/* bloom_grow.c - a Bloom filter that grows: bloom:limit=N,grow=G. For sets whose size is not known
 * in advance.
 *
 *       | head | part 0: N keys, k arrays | part 1: N G keys, k + 1 arrays
 *              | part 2: N G^2 keys, k + 2 arrays | ...
 *
 * Each part is a Bloom filter with layout=parts, or with layout=line: then read lines for arrays,
 * and k bits of them for k arrays.  New keys go to the last one.  When it is full, a part that
 * holds G times as many keys is appended.  A new key costs k + e lines to write in the last part,
 * and one or two to read in each of the others; with layout=line one in each part.  Everything
 * follows from integers in the spec: k, cells (of part 0), limit, grow, and grown, the number of
 * parts that were appended.  Part i uses the hash times an odd number to the power i.
 *
 * A key has been seen if any part has it, so the rates of the parts add up and must fall from part
 * to part (Almeida, Baquero, Preguica and Hutchison 2007).  But the lower the rate, the more bits a
 * key needs.  When a part is full, each of its arrays has the same share q of bits set, so part i
 * has the rate q^(k+e(i)), where e(i) is the number of binary digits of i: 0, 1, 2, 2, 3, 3, 3, 3,
 * 4... With q = 1/2, the 64 parts that are possible have together 1 + 6/2 = 4 times the rate of the
 * first.  If the rate halved with each part instead, part i would need i more bits for each key:
 * that is worse for large filters.  In a line that has many keys another bit helps less, so parts
 * with layout=line have 2 e(i) more. */
#include "bloom.h"
#include "math/probability.h"
#include <math.h>

static unsigned bloom_grow_parts(const ebi_params *p) {
    return (unsigned)p->opt[EBI_BLOOM_GROWN] + 1;
}

static unsigned bloom_grow_digits(unsigned part) {
    return part == 0 ? 0 : ebi_log2(part) + 1;
}

static unsigned bloom_grow_k(unsigned k, unsigned digits, bool line) {
    return k + (line ? 2 * digits : digits);
}

static bool bloom_grow_next(const ebi_params *p, unsigned i, ebi_bloom_part *part) {
    assert(i >= 1 && i <= EBI_BLOOM_GROWN_MAX);
    if (!ebi_mul(part->range, p->opt[EBI_BLOOM_GROW], &part->range) ||
        !ebi_mul(part->limit, p->opt[EBI_BLOOM_GROW], &part->limit))
        return false;
    part->start += part->bytes;
    part->k = bloom_grow_k((unsigned)p->opt[EBI_BLOOM_K], bloom_grow_digits(i), part->line);
    if (!ebi_mul(part->range, part->k, &part->cells) || part->cells > UINT64_C(1) << 50)
        return false;
    if (part->line) part->cells = ebi_round_up(part->cells, EBI_BLOOM_LINE_BITS);
    part->bytes = ebi_round_up(part->cells / 8 + 9, 64); /* words are read from any byte on */
    return part->k <= EBI_K_MAX;
}

static ebi_bloom_part bloom_grow_first(const ebi_params *p) {
    assert(p->opt[EBI_BLOOM_K] >= 1 && p->opt[EBI_O_CELLS] >= p->opt[EBI_BLOOM_K]);
    const uint64_t cells = p->opt[EBI_O_CELLS];
    return (ebi_bloom_part){.range = cells / p->opt[EBI_BLOOM_K],
                            .limit = p->opt[EBI_BLOOM_LIMIT],
                            .cells = cells,
                            .start = sizeof(ebi_block_head),
                            .bytes = ebi_round_up((cells + 71) / 8, 64),
                            .k = (unsigned)p->opt[EBI_BLOOM_K],
                            .line = p->opt[EBI_BLOOM_LAYOUT] == EBI_BLOOM_LINE};
}

static uint64_t bloom_grow_lines(const ebi_bloom_part *part) {
    return part->cells / EBI_BLOOM_LINE_BITS;
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

static bool bloom_grow_has(const ebi_bloom_part *part, const uint8_t *bits, eb_hash h) {
    uint64_t first = 0;
    unsigned j = 0;
    if (part->line)
        return ebi_bloom_line_has(bits + ebi_bloom_line_at(h, bloom_grow_lines(part)), h, part->k);
    for (; j < part->k && ebi_bit(bits, first + eb_scale(h, part->range)); j++) {
        h = eb_next(h);
        first += part->range;
    }
    return j == part->k;
}

/* The byte of a key's first bit, or its line. */
static uint64_t bloom_grow_at(const ebi_bloom_part *part, eb_hash h) {
    return part->line ? ebi_bloom_line_at(h, bloom_grow_lines(part))
                      : eb_scale(h, part->range) >> 3;
}

/* Removes the keys that the part has from the list, and computes the next part's hashes of the
 * others. */
static void bloom_grow_find(const ebi_bloom_part *part, const uint8_t *block, bool far,
                            bloom_grow_keys *keys, uint8_t *seen) {
    assert(keys->n <= EBI_BATCH && part->k >= 1 && part->k <= EBI_K_MAX);
    const uint8_t *const bits = block + part->start;
    size_t left = 0;
    for (size_t i = 0; far && i < keys->n; i++)
        ebi_prefetch_read(bits + bloom_grow_at(part, keys->hash[i]));
    for (size_t i = 0; i < keys->n; i++) {
        const bool has = bloom_grow_has(part, bits, keys->hash[i]);
        seen[keys->from[i]] = has;
        keys->hash[left] = ebi_inner_hash(keys->hash[i]);
        keys->from[left] = keys->from[i];
        left += !has;
    }
    keys->n = left;
}

static void bloom_grow_put_lines(const ebi_bloom_part *part, uint8_t *bits, bool far,
                                 const bloom_grow_keys *keys, uint8_t *seen) {
    for (size_t i = 0; far && i < keys->n; i++)
        ebi_prefetch_write(bits + bloom_grow_at(part, keys->hash[i]));
    for (size_t i = 0; i < keys->n; i++)
        seen[keys->from[i]] =
            ebi_bloom_line_put(bits + bloom_grow_at(part, keys->hash[i]), keys->hash[i], part->k);
}

/* Adds the keys that are left to the last part. */
static void bloom_grow_put(const ebi_bloom_part *part, uint8_t *block, bool far,
                           const bloom_grow_keys *keys, uint8_t *seen) {
    assert(keys->n <= EBI_BATCH && part->k <= EBI_K_MAX);
    uint8_t *const bits = block + part->start;
    ebi_fetch fetch;
    if (part->line) {
        bloom_grow_put_lines(part, bits, far, keys, seen);
        return;
    }
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

/* The rates of all parts together, if each array has so many bits for a key. */
static double bloom_grow_sum(double bits, unsigned k, bool line) {
    assert(bits > 0 && k >= 1);
    const double q = -expm1(-1 / bits); /* share of an array's bits that are set */
    double sum = 0;
    for (unsigned digits = 0; digits <= bloom_grow_digits(EBI_BLOOM_GROWN_MAX); digits++) {
        const unsigned each = bloom_grow_k(k, digits, line);
        const double rate =
            line ? ebi_bloom_line_rate(EBI_BLOOM_LINE_BITS / bits / each, each) : pow(q, each);
        sum += ldexp(rate, digits > 0 ? (int)digits - 1 : 0); /* so many parts are alike */
    }
    return sum;
}

/* The guaranteed rate: that when all parts are full. */
static double bloom_grow_promise(const ebi_params *p) {
    const ebi_bloom_part part = bloom_grow_first(p);
    return bloom_grow_sum((double)part.range / (double)part.limit, part.k, part.line);
}

/* The rate of a part that has the bits of both blocks. other may be NULL. */
static double bloom_grow_part_rate(const ebi_bloom_part *part, const uint8_t *block,
                                   const uint8_t *other, uint64_t *used) {
    double rate = 1;
    if (part->line)
        return ebi_bloom_line_fpr(block + part->start, other ? other + part->start : NULL,
                                  bloom_grow_lines(part), part->k, used);
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
        *cells += part.cells;
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
    const uint64_t strip = part.line ? EBI_BLOOM_LINE_BITS / 8 : BLOOM_GROW_STRIP;
    bloom_grow_tabulate(&table);
    for (unsigned i = 0; i < bloom_grow_parts(q); i++) {
        if (i > 0) (void)bloom_grow_next(q, i, &part);
        const uint64_t end = ebi_min(part.start + part.bytes, q->span);
        for (uint64_t from = part.start; from < end; from += strip) {
            double of_b, new_to_a;
            bloom_grow_strip(&table, a + from, b + from, ebi_min(end - from, strip), &of_b,
                             &new_to_a);
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
        if (!ebi_tail_is_zero(block + part.start, part.cells, part.bytes))
            return ebi_fail(err, EB_EFORMAT,
                            "damaged bloom filter: bits are set after the last cell of part %u", i);
        if (ebi_bits_count(block + part.start, 0, part.cells) / part.k > keys)
            return ebi_fail(err, EB_EFORMAT,
                            "damaged bloom filter: more bits are set than %llu keys can set",
                            (unsigned long long)keys);
    }
    return EB_OK;
}

/* Planning */

/* The fewest bits whose sum keeps to fpr. */
double ebi_bloom_grow_bits(double fpr, unsigned k, bool line) {
    assert(fpr > 0 && k >= 1);
    const int steps = line ? 30 : 60; /* the rate of lines takes long */
    double low = log(0.1), high = log(1e12);
    for (int i = 0; i < steps; i++) {
        const double middle = (low + high) / 2;
        if (bloom_grow_sum(exp(middle), k, line) <= fpr)
            high = middle;
        else
            low = middle;
    }
    return exp(high);
}

unsigned ebi_bloom_grow_plan(double fpr, bool line) {
    enum { BLOOM_GROW_TYPICAL = 3 }; /* additional arrays of a filter of some 10 parts */
    double best = INFINITY;
    unsigned k = 1;
    if (line) /* takes at most 1 % more than the best, from 1e-9 to 0.01 */
        return (unsigned)fmin(fmax(1, round(-0.7 * log2(fpr))), EBI_BLOOM_GROW_LINE_K_MAX);
    for (unsigned i = 1; i <= EBI_BLOOM_GROW_K_MAX; i++) {
        const double bits = (i + BLOOM_GROW_TYPICAL) * ebi_bloom_grow_bits(fpr, i, false);
        if (bits >= best) continue;
        best = bits;
        k = i;
    }
    return k;
}

/* The rate after so many distinct keys, with the parts that the filter then has. */
double ebi_bloom_grow_rate(const ebi_params *p, double distinct, double *fill) {
    assert(distinct >= 0);
    ebi_bloom_part part = bloom_grow_first(p);
    double none = 1, used = 0, cells = 0, left = distinct;
    for (unsigned i = 0;; i++) {
        const double keys = fmin(left, (double)part.limit);
        const double q = ebi_one_minus_pow1m(1 / (double)part.range, keys);
        none *= 1 - (part.line ? ebi_bloom_line_rate(keys / (double)bloom_grow_lines(&part), part.k)
                               : pow(q, part.k));
        used += q * (double)part.cells;
        cells += (double)part.cells;
        left -= keys;
        if (left <= 0 || i == EBI_BLOOM_GROWN_MAX || !bloom_grow_next(p, i + 1, &part)) break;
    }
    *fill = used / cells;
    return 1 - none;
}
