/* lru.c - remembers the last keys seen, in lists of fingerprints that fit in a cache line.  For
 * endless streams.
 *
 * The hash of a key selects a bucket and a fingerprint of w bits.  A bucket is a list of b
 * fingerprints, newest first.  A key whose fingerprint is in the list is reported seen and moves to
 * the front.  Any other key is inserted, and the last one drops out.  With keep=recent a key is
 * inserted at the front, so a bucket holds the last b distinct keys that fell into it.  With
 * keep=adaptive (the default for lines), the place of insertion is the one that recently worked
 * best: lru_duel.c. keep=important does the same for keys with an importance: less important keys
 * are inserted further back.  A key costs one cache line, read and written.
 *
 *       | ebi_block_head | keep=adaptive: 64 bytes, who wins | buckets | copies of leaders |
 *                        | important: 128 bytes, and who is important |
 *
 *       bucket=word   one 64-bit word: b <= 64/w fields of w bits, slot 0 lowest
 *
 *       bucket=line   64 bytes.  print_bits = 16, 24, 32: slot i is bytes i w/8 to (i+1) w/8 - 1
 *                     other widths: n = floor(128/w) fields in each word,
 *                     | word 0: low halves of slots 0..n-1 | ... | word 3: 3n..4n-1 |
 *                     | word 4: their high halves          | ... | word 7           |
 *                     slot i is field i mod n, of w/2 bits, of words i/n and 4 + i/n
 *                     3 floor(128/w) < b <= 4 floor(128/w), whatever the width
 *
 * The options print_bits= and slots= are called w and b here. cells= counts slots: buckets times b.
 *
 * Invariants, which check() verifies in loaded bytes: fingerprints are 1..2^w-1 and 0 is an empty
 * slot; empty slots come last; no fingerprint is in a bucket twice; bits outside of slots are 0.
 *
 * A new key is taken for an old one with probability b/(2^w-1) if the bucket is full.  A repeat
 * after d other distinct keys is missed if b of them fell into its bucket: Prob(Poisson(d/buckets)
 * >= b).  Lines forget much more sharply than words: with w = 32 they miss 1 % of the repeats at a
 * distance of half their slots, words of 21 bits at a seventh of theirs.  Words are better only if
 * the distance is larger than the number of slots anyway. */
#include "lru.h"
#include "cells/packed.h"
#include "math/probability.h"
#include <math.h>

static const eb_option lru_options[] = {
    EBI_COMMON_OPTIONS,
    {"bucket", "line|word", "line", NULL, NULL, "a list for each cache line or 64-bit word", false},
    {"print_bits", "int", NULL, "5", "32",
     "bits of a fingerprint; bucket=line: 10, 12, ... 20, 24 or 32", false},
    {"slots", "int", NULL, "1", "48", "fingerprints in a bucket; cells is a multiple of it", false},
    {"keep", "adaptive|recent|important", NULL, NULL, NULL,
     "keys that a full line keeps: what works best, the last ones, or also by importance", false},
    {"fpr", "real", "1.2e-6", "3.7e-9", "0.5",
     "wanted false-positive rate; sets print_bits and slots", true},
    {"remember", "count", NULL, "1", "1e14",
     "distinct keys to remember (99 % at that distance); sets cells", true},
    {"low", "int", NULL, "0", "4294967295", "keep=important: smallest importance (default: 1)",
     false},
    {"high", "int", NULL, "1", "4294967295", "keep=important: largest importance (default: 100)",
     false},
    {0}};

/* Parameters */

EBI_INLINE bool lru_is_line(const ebi_params *p) {
    return p->opt[EBI_LRU_BUCKET] == EBI_LRU_LINE;
}

EBI_INLINE unsigned lru_w(const ebi_params *p) {
    return (unsigned)p->opt[EBI_LRU_W];
}

EBI_INLINE unsigned lru_bucket_bytes(const ebi_params *p) {
    return lru_is_line(p) ? EBI_LRU_LINE_BYTES : EBI_LRU_WORD_BYTES;
}

EBI_INLINE uint64_t lru_buckets(const ebi_params *p) {
    return p->derived[EBI_LRU_BUCKETS];
}

static unsigned lru_b_max(const ebi_params *p, unsigned w) {
    return lru_is_line(p) ? 4 * (128 / w) : 64 / w;
}

static unsigned lru_b_min(const ebi_params *p, unsigned w) {
    return lru_is_line(p) ? 3 * (128 / w) + 1 : 1;
}

static double lru_prints(unsigned w) {
    assert(w >= 1 && w <= 64);
    return (double)ebi_ones(w);
}

static bool lru_width_fits(const ebi_params *p, unsigned w) {
    static const uint8_t widths[] = {
#define LRU_WIDTH(w) w,
        EBI_LRU_WIDTHS(LRU_WIDTH)
#undef LRU_WIDTH
    };
    return !lru_is_line(p) || memchr(widths, (int)w, sizeof widths) != NULL;
}

/* As many slots of width w as fpr allows; 0 if those are too few. */
static unsigned lru_slots_for(const ebi_params *p, unsigned w, double fpr) {
    assert(fpr > 0);
    const unsigned max = lru_b_max(p, w);
    const double b = fmin(floor(fpr * lru_prints(w)), max);
    return b < lru_b_min(p, w) ? 0 : (unsigned)b;
}

/* Chooses w and b for fpr.  Lines: the most slots, and of equally many the widest; the last word
 * may be partly empty.  Words: the narrowest width for which a word may be full. */
static void lru_choose(ebi_params *p, double fpr) {
    assert(fpr > 0);
    for (unsigned w = 5; w <= 32; w++) {
        const unsigned b = lru_width_fits(p, w) ? lru_slots_for(p, w, fpr) : 0;
        const bool better = lru_is_line(p) ? b > 0 && b >= p->opt[EBI_LRU_B]
                                           : b == lru_b_max(p, w) && p->opt[EBI_LRU_B] == 0;
        if (!better) continue;
        p->opt[EBI_LRU_W] = w;
        p->opt[EBI_LRU_B] = b;
    }
}

static eb_status lru_check_given(ebi_params *p, const ebi_args *a, eb_error *err) {
    const unsigned w = lru_w(p);
    const double fpr = a->real[EBI_LRU_FPR];
    if (!lru_width_fits(p, w))
        return ebi_fail(
            err, EB_ESPEC,
            "lru: print_bits must be 10, 12, 14, 16, 18, 20, 24 or 32 for bucket=line, not %u", w);
    if (!a->given[EBI_LRU_B])
        p->opt[EBI_LRU_B] = a->given[EBI_LRU_FPR] ? lru_slots_for(p, w, fpr) : lru_b_max(p, w);
    else if (ebi_lru_b(p) < lru_b_min(p, w) || ebi_lru_b(p) > lru_b_max(p, w))
        return ebi_fail(err, EB_ESPEC,
                        "lru: slots must be %u..%u for this bucket and print_bits=%u, not %u",
                        lru_b_min(p, w), lru_b_max(p, w), w, ebi_lru_b(p));
    const double least = lru_b_min(p, w) / lru_prints(w);
    if (ebi_lru_b(p) == 0)
        return ebi_fail(err, EB_ESPEC, "lru: with print_bits=%u fpr must be at least %.3g, not %g",
                        w, least, fpr);
    if (a->given[EBI_LRU_FPR] && ebi_lru_b(p) / lru_prints(w) > fpr)
        return ebi_fail(err, EB_ESPEC,
                        "lru: print_bits=%u and slots=%u make fpr %.3g, more than fpr=%g", w,
                        ebi_lru_b(p), ebi_lru_b(p) / lru_prints(w), fpr);
    return EB_OK;
}

/* The buckets that remember `window` distinct keys of a shard, with 1 % missed at that distance. */
static double lru_buckets_for(const ebi_params *p, double window) {
    assert(window > 0);
    const double b = ebi_lru_b(p), reach = ebi_lru_reach(b, 0.01);
    return ceil(fmax(window / (double)p->opt[EBI_O_SHARDS] / reach, 64 / b));
}

/* The number of leaders among so many lines: few, so that all copies stay in the cache and take
 * little memory.  In a small filter one leader is better than none, and better than several. */
static uint64_t lru_leaders_of(const ebi_params *p, uint64_t lines) {
    enum { LRU_LEAST = 64, LRU_SHARE = 768, LRU_RANKED_SHARE = 384, LRU_MOST = 256 };
    if (p->opt[EBI_LRU_KEEP] == EBI_LRU_RECENT) return 0;
    if (lines < LRU_LEAST && !ebi_lru_is_ranked(p)) return 0;
    return ebi_min(LRU_MOST,
                   ebi_max(1, lines / (ebi_lru_is_ranked(p) ? LRU_RANKED_SHARE : LRU_SHARE)));
}

static uint64_t lru_bytes_of(const ebi_params *p, uint64_t buckets) { /* of a shard's segments */
    const uint64_t leaders = lru_leaders_of(p, buckets);
    const uint64_t copies = leaders * (ebi_lru_experts(p) - 1);
    return ebi_lru_ranks_bytes(p) + ebi_round_up((buckets + copies) * lru_bucket_bytes(p), 64);
}

/* As many buckets as the memory holds, with the copies of their leaders. */
static uint64_t lru_buckets_in(const ebi_params *p, uint64_t budget) {
    const uint64_t all = budget / lru_bucket_bytes(p);
    const uint64_t copies = lru_leaders_of(p, all) * (ebi_lru_experts(p) - 1);
    uint64_t buckets = all - ebi_min(all, copies + 1);
    while (lru_bytes_of(p, buckets + 1) <= budget) buckets++;
    return buckets;
}

static eb_status lru_size(ebi_params *p, const ebi_args *a, eb_error *err) {
    const uint64_t b = p->opt[EBI_LRU_B], shards = p->opt[EBI_O_SHARDS];
    const bool cells = a->given[EBI_O_CELLS], sized = cells || a->given[EBI_O_MEMORY];
    const double need = a->given[EBI_LRU_WINDOW] ? lru_buckets_for(p, a->real[EBI_LRU_WINDOW]) : 0;
    uint64_t buckets = lru_buckets_in(p, ebi_budget(p));
    if (cells)
        buckets = p->opt[EBI_O_CELLS] / b;
    else if (a->given[EBI_LRU_WINDOW] && !sized)
        buckets = (uint64_t)need;
    if (cells && p->opt[EBI_O_CELLS] % b != 0)
        return ebi_fail(err, EB_ESPEC, "lru: cells must be a multiple of slots=%llu, not %llu",
                        (unsigned long long)b, (unsigned long long)p->opt[EBI_O_CELLS]);
    if ((double)buckets < need)
        return ebi_fail(err, EB_ESPEC, "lru: %s must be at least %.0f for remember=%.10g, not %llu",
                        cells ? "cells" : "memory",
                        cells ? need * (double)b
                              : ebi_memory_for(p, (double)lru_bytes_of(p, (uint64_t)need)),
                        a->real[EBI_LRU_WINDOW],
                        (unsigned long long)p->opt[cells ? EBI_O_CELLS : EBI_O_MEMORY]);
    if (buckets * b < 64)
        return ebi_fail(err, EB_ESPEC, "lru: memory=%llu is too small for shards=%llu",
                        (unsigned long long)p->opt[EBI_O_MEMORY], (unsigned long long)shards);
    if (buckets > (UINT64_C(1) << (64 - ebi_lru_print_bits(lru_w(p)))) / shards)
        return ebi_fail(err, EB_ESPEC,
                        "lru: buckets and fingerprints of %u bits need more than 64 bits of "
                        "hash: take less memory",
                        lru_w(p));
    p->opt[EBI_O_CELLS] = buckets * b;
    p->derived[EBI_LRU_BUCKETS] = buckets;
    p->derived[EBI_LRU_LEADERS] = lru_leaders_of(p, buckets);
    p->span = sizeof(ebi_block_head) + lru_bytes_of(p, buckets);
    return EB_OK;
}

/* The range of importances, and ceil(2^64 / their number): multiplying by it gives less than 16 in
 * ebi_lru_class. */
static eb_status lru_range(ebi_params *p, const ebi_args *a, eb_error *err) {
    if (!ebi_lru_is_ranked(p)) {
        if (a->given[EBI_LRU_LOW] || a->given[EBI_LRU_HIGH])
            return ebi_fail(err, EB_ESPEC, "lru: low and high are for keep=important only");
        p->opt[EBI_LRU_LOW] = p->opt[EBI_LRU_HIGH] = EBI_OFF;
        return EB_OK;
    }
    if (!a->given[EBI_LRU_LOW]) p->opt[EBI_LRU_LOW] = 1;
    if (!a->given[EBI_LRU_HIGH]) p->opt[EBI_LRU_HIGH] = 100;
    const uint64_t low = p->opt[EBI_LRU_LOW], high = p->opt[EBI_LRU_HIGH];
    if (low >= high)
        return ebi_fail(err, EB_ESPEC, "lru: low must be below high=%llu, not %llu",
                        (unsigned long long)high, (unsigned long long)low);
    p->value_min = (uint32_t)low;
    p->value_max = (uint32_t)high;
    p->derived[EBI_LRU_INVERSE] = UINT64_MAX / (high - low + 1) + 1;
    return EB_OK;
}

static eb_status lru_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    if (a->given[EBI_LRU_B] && !a->given[EBI_LRU_W])
        return ebi_fail(err, EB_ESPEC, "lru: slots=%u needs print_bits", ebi_lru_b(p));
    if (a->given[EBI_LRU_W])
        EBI_TRY(lru_check_given(p, a, err));
    else
        lru_choose(p, a->real[EBI_LRU_FPR]);
    if (!a->given[EBI_LRU_KEEP])
        p->opt[EBI_LRU_KEEP] = lru_is_line(p) ? EBI_LRU_ADAPTIVE : EBI_LRU_RECENT;
    else if (!lru_is_line(p) && p->opt[EBI_LRU_KEEP] != EBI_LRU_RECENT)
        return ebi_fail(err, EB_ESPEC, "lru: bucket=word supports only keep=recent");
    EBI_TRY(lru_range(p, a, err));
    return lru_size(p, a, err);
}

static const ebi_ops *lru_select(const ebi_params *p) {
    const ebi_ops *const widest = ebi_lru_avx512(p), *const wide = ebi_lru_avx2(p);
    return widest ? widest : wide ? wide : ebi_lru_portable(p);
}

/* The whole filter */

typedef struct lru_shape { /* of a bucket: `words` words in each of `planes` planes */
    ebi_lru_fields f;
    unsigned words, planes, b;
    unsigned size; /* of fingerprints that are whole bytes of a line; else 0 */
} lru_shape;

static lru_shape lru_shape_of(const ebi_params *p) {
    const unsigned b = ebi_lru_b(p), w = lru_w(p);
    if (!lru_is_line(p)) return (lru_shape){ebi_lru_fields_of(b, w), 1, 1, b, 0};
    return (lru_shape){ebi_lru_line_fields(w), 4, 2, b, ebi_lru_is_bytes(w) ? w / 8 : 0};
}

static uint64_t lru_slot(const lru_shape *s, const uint8_t *bucket, unsigned i) {
    assert(i < s->b);
    uint64_t print = 0;
    for (unsigned j = 0; j < s->size; j++) print |= (uint64_t)bucket[i * s->size + j] << 8 * j;
    if (s->size > 0) return print;
    const unsigned k = i / s->f.n, at = i % s->f.n * s->f.bits;
    for (unsigned j = 0; j < s->planes; j++)
        print |= (ebi_load64(bucket + 8 * (j * s->words + k)) >> at & ebi_ones(s->f.bits))
                 << j * s->f.bits;
    return print;
}

/* How many slots come before the first empty one. */
static unsigned lru_occupied(const lru_shape *s, const uint8_t *bucket) {
    unsigned n = 0;
    while (n < s->b && lru_slot(s, bucket, n) != 0) n++;
    return n;
}

/* Whether no bits are set except those of the first n slots. */
static bool lru_packed(const lru_shape *s, const uint8_t *bucket, unsigned n) {
    if (s->size > 0) return ebi_tail_is_zero(bucket, 8 * n * s->size, EBI_LRU_LINE_BYTES);
    for (unsigned k = 0; k < s->words; k++, n -= (unsigned)ebi_min(n, s->f.n))
        for (unsigned j = 0; j < s->planes; j++)
            if ((ebi_load64(bucket + 8 * (j * s->words + k)) &
                 ~ebi_ones((unsigned)ebi_min(n, s->f.n) * s->f.bits)) != 0)
                return false;
    return true;
}

/* Whether a fingerprint is among the first n twice.  Compares only with fingerprints that have the
 * same low bits. */
static bool lru_repeats(const lru_shape *s, const uint8_t *bucket, unsigned n) {
    uint64_t met[16] = {0}, print[48];
    for (unsigned i = 0; i < n; i++) {
        print[i] = lru_slot(s, bucket, i);
        uint64_t *const word = &met[print[i] / 64 % 16];
        const uint64_t bit = UINT64_C(1) << print[i] % 64;
        for (unsigned j = 0; (*word & bit) && j < i; j++)
            if (print[j] == print[i]) return true;
        *word |= bit;
    }
    return false;
}

static eb_status lru_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    const lru_shape s = lru_shape_of(p);
    const uint64_t bytes = lru_bucket_bytes(p);
    const uint64_t buckets = lru_buckets(p) + ebi_lru_leaders(p) * (ebi_lru_experts(p) - 1);
    const uint8_t *const first = block + ebi_lru_first(p);
    EBI_TRY(ebi_lru_duel_check(p, block, err));
    for (uint64_t i = 0; i < buckets; i++) {
        const uint8_t *const bucket = first + i * bytes;
        const unsigned n = lru_occupied(&s, bucket);
        if (!lru_packed(&s, bucket, n))
            return ebi_fail(err, EB_EFORMAT, "damaged lru filter: bucket %llu has a gap",
                            (unsigned long long)i);
        if (lru_repeats(&s, bucket, n))
            return ebi_fail(err, EB_EFORMAT, "damaged lru filter: bucket %llu repeats itself",
                            (unsigned long long)i);
    }
    if (!ebi_tail_is_zero(first, buckets * bytes * 8, p->span - ebi_lru_first(p)))
        return ebi_fail(err, EB_EFORMAT, "damaged lru filter: bits are set after its last bucket");
    return EB_OK;
}

static void lru_stat(const ebi_params *p, const uint8_t *block, eb_stats *out) {
    const lru_shape s = lru_shape_of(p);
    const uint64_t bytes = lru_bucket_bytes(p), buckets = lru_buckets(p);
    for (uint64_t i = 0; i < buckets; i++) {
        const uint64_t at = ebi_lru_answering(p, block, i) * bytes;
        out->cells_used += lru_occupied(&s, block + ebi_lru_first(p) + at);
    }
    out->cells = p->opt[EBI_O_CELLS];
    out->fpr = (double)out->cells_used / (double)buckets / lru_prints(lru_w(p));
}

static uint64_t lru_caps(const ebi_params *p) {
    return EB_FORGETS | (ebi_lru_is_ranked(p) ? EB_USES_VALUE : 0);
}

const ebi_kind ebi_kind_lru = {
    .info = {"lru", "remembers the last keys of an endless stream", "everbloom's own",
             EB_FORGETS | EB_USES_VALUE, lru_options,
             "Was it there before, in a stream that never ends?"},
    .version = 4,
    .traits = EBI_LONG_BATCHES | EBI_OWN_HEAD,
    .resolve = lru_resolve,
    .select = lru_select,
    .caps = lru_caps,
    .init = ebi_lru_duel_init,
    .check = lru_check,
    .stat = lru_stat,
    .predict = ebi_lru_predict,
};
