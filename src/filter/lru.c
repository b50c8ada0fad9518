/* lru.c - the last keys seen, as move-to-front lists of fingerprints.
 *
 * A key's hash names a bucket and a fingerprint of w bits.  The bucket is a list
 * of b fingerprints, newest first.  A key whose fingerprint is in the list is
 * reported seen and moves to the front; any other is put in front, and the last
 * one falls out.  So a bucket holds the last b distinct keys that met it, for
 * ever, and needs no clock, no randomness and no counters.
 *
 *     bucket=word   one 64-bit word: b <= 64/w fields of w bits, slot 0 lowest
 *
 *     bucket=line   64 bytes, n = floor(128/w) fields in each word, 3n < b <= 4n:
 *                   | word 0: low halves of slots 0..n-1 | ... | word 3: 3n..4n-1 |
 *                   | word 4: their high halves          | ... | word 7           |
 *                   slot i is field i mod n, of w/2 bits, of words i/n and 4 + i/n
 *
 * Invariants, which check() holds loaded bytes to: fingerprints are 1..2^w-1, 0
 * is an empty slot; empty slots are last; no fingerprint is twice in a bucket;
 * bits of no slot are 0.  The cells of a spec are slots: buckets times b.
 *
 * A fresh key is taken for an old one with b/(2^w-1) when the bucket is full.  A
 * repeat after d other distinct keys is missed if b of them met its bucket:
 * Prob(Poisson(d/buckets) >= b).  Lines forget far more sharply than words: at
 * w = 32 they miss 1 % of the repeats at a distance of half their slots, words of
 * 21 bits at a seventh of theirs.  Words win only if the distance is larger than
 * the slots anyway.
 *
 * Cost: one cache line a key, read and written. */
#include "lru.h"
#include "cells/packed.h"
#include "theory/theory.h"
#include <math.h>

static const eb_option lru_options[] = {
    EB_COMMON_OPTIONS,
    {"bucket", "line|word", "line", NULL, NULL, "a list for each cache line or 64-bit word", false},
    {"w", "int", NULL, "5", "32", "bits of a fingerprint; of a line even: 10-20, 24, 32", false},
    {"b", "int", NULL, "1", "48", "fingerprints in a bucket; cells is a multiple of it", false},
    {"fpr", "real", "1e-6", "3.7e-9", "0.5", "wanted false positives: w and b follow", true},
    {"window", "count", NULL, "1", "1e14",
     "distinct keys to remember, 99 % at that distance: cells follow", true},
    {0}};

/* Parameters */

EB_INLINE bool lru_is_line(const eb_params *p) {
    return p->opt[EBI_LRU_BUCKET] == EBI_LRU_LINE;
}

EB_INLINE unsigned lru_w(const eb_params *p) {
    return (unsigned)p->opt[EBI_LRU_W];
}

EB_INLINE unsigned lru_bucket_bytes(const eb_params *p) {
    return lru_is_line(p) ? EBI_LRU_LINE_BYTES : EBI_LRU_WORD_BYTES;
}

EB_INLINE uint64_t lru_buckets(const eb_params *p) {
    return p->opt[EB_O_CELLS] / p->opt[EBI_LRU_B];
}

static unsigned lru_b_max(const eb_params *p, unsigned w) {
    return lru_is_line(p) ? 4 * (128 / w) : 64 / w;
}

static unsigned lru_b_min(const eb_params *p, unsigned w) {
    return lru_is_line(p) ? 3 * (128 / w) + 1 : 1;
}

static double lru_prints(unsigned w) {
    return (double)ebi_ones(w);
}

static bool lru_width_fits(const eb_params *p, unsigned w) {
    static const uint8_t widths[] = {
#define LRU_WIDTH(w) w,
        EBI_LRU_WIDTHS(LRU_WIDTH)
#undef LRU_WIDTH
    };
    return !lru_is_line(p) || memchr(widths, (int)w, sizeof widths) != NULL;
}

/* As many slots of width w as fpr allows; 0 if those are too few. */
static unsigned lru_slots_for(const eb_params *p, unsigned w, double fpr) {
    const unsigned max = lru_b_max(p, w);
    const double b = fmin(floor(fpr * lru_prints(w)), max);
    return b < lru_b_min(p, w) ? 0 : (unsigned)b;
}

/* w and b for fpr.  Lines: most slots, and of equally many the widest; the last
 * word may stay part empty.  Words: the narrowest that may be full. */
static void lru_choose(eb_params *p, double fpr) {
    for (unsigned w = 5; w <= 32; w++) {
        const unsigned b = lru_width_fits(p, w) ? lru_slots_for(p, w, fpr) : 0;
        const bool better = lru_is_line(p) ? b > 0 && b >= p->opt[EBI_LRU_B]
                                           : b == lru_b_max(p, w) && p->opt[EBI_LRU_B] == 0;
        if (!better) continue;
        p->opt[EBI_LRU_W] = w;
        p->opt[EBI_LRU_B] = b;
    }
}

static eb_status lru_check_given(eb_params *p, const eb_args *a, eb_error *err) {
    const unsigned w = lru_w(p);
    const double fpr = a->real[EBI_LRU_FPR];
    if (!lru_width_fits(p, w))
        return ebi_fail(err, EB_ESPEC,
                        "lru: w must be 10, 12, 14, 16, 18, 20, 24 or 32 for bucket=line, not %u",
                        w);
    if (!a->given[EBI_LRU_B])
        p->opt[EBI_LRU_B] = a->given[EBI_LRU_FPR] ? lru_slots_for(p, w, fpr) : lru_b_max(p, w);
    else if (ebi_lru_b(p) < lru_b_min(p, w) || ebi_lru_b(p) > lru_b_max(p, w))
        return ebi_fail(err, EB_ESPEC, "lru: b must be %u..%u for this bucket and w=%u, not %u",
                        lru_b_min(p, w), lru_b_max(p, w), w, ebi_lru_b(p));
    const double least = lru_b_min(p, w) / lru_prints(w);
    if (ebi_lru_b(p) == 0)
        return ebi_fail(err, EB_ESPEC, "lru: with w=%u fpr must be at least %.3g, not %g", w, least,
                        fpr);
    if (a->given[EBI_LRU_FPR] && ebi_lru_b(p) / lru_prints(w) > fpr)
        return ebi_fail(err, EB_ESPEC, "lru: w=%u and b=%u make fpr %.3g, more than fpr=%g", w,
                        ebi_lru_b(p), ebi_lru_b(p) / lru_prints(w), fpr);
    return EB_OK;
}

static double lru_missed(double per_bucket, const void *b) {
    return ebi_poisson_ge(per_bucket, *(const double *)b);
}

/* Buckets that remember `window` distinct keys of a shard with 1 % missed at
 * that distance. */
static double lru_buckets_for(const eb_params *p, double window) {
    const double b = ebi_lru_b(p);
    const double reach = ebi_bisect(lru_missed, &b, 1e-3, 3 * b + 10, 0.01);
    return ceil(fmax(window / (double)p->opt[EB_O_SHARDS] / reach, 64 / b));
}

static eb_status lru_size(eb_params *p, const eb_args *a, eb_error *err) {
    const uint64_t b = p->opt[EBI_LRU_B], shards = p->opt[EB_O_SHARDS];
    const uint64_t bytes = lru_bucket_bytes(p);
    const bool sized = a->given[EB_O_CELLS] || a->given[EB_O_MEMORY];
    const double need = a->given[EBI_LRU_WINDOW] ? lru_buckets_for(p, a->real[EBI_LRU_WINDOW]) : 0;
    uint64_t buckets = ebi_budget(p) / bytes;
    if (a->given[EB_O_CELLS])
        buckets = p->opt[EB_O_CELLS] / b;
    else if (a->given[EBI_LRU_WINDOW] && !sized)
        buckets = (uint64_t)need;
    if (a->given[EB_O_CELLS] && p->opt[EB_O_CELLS] % b != 0)
        return ebi_fail(err, EB_ESPEC, "lru: cells must be a multiple of b=%llu, not %llu",
                        (unsigned long long)b, (unsigned long long)p->opt[EB_O_CELLS]);
    if ((double)buckets < need)
        return ebi_fail(err, EB_ESPEC, "lru: window=%.10g needs %.0f bytes, not %.0f",
                        a->real[EBI_LRU_WINDOW], need * (double)(bytes * shards),
                        (double)(buckets * bytes * shards));
    if (buckets * b < 64)
        return ebi_fail(err, EB_ESPEC, "lru: memory=%llu is too small for shards=%llu",
                        (unsigned long long)p->opt[EB_O_MEMORY], (unsigned long long)shards);
    if (buckets > (UINT64_C(1) << (64 - ebi_lru_print_bits(lru_w(p)))) / shards)
        return ebi_fail(err, EB_ESPEC,
                        "lru: buckets and fingerprints of w=%u bits need more than 64 bits of "
                        "hash: take less memory",
                        lru_w(p));
    p->opt[EB_O_CELLS] = buckets * b;
    p->span = sizeof(eb_head) + ebi_round_up(buckets * bytes, 64);
    return EB_OK;
}

static eb_status lru_resolve(eb_params *p, const eb_args *a, eb_error *err) {
    if (a->given[EBI_LRU_B] && !a->given[EBI_LRU_W])
        return ebi_fail(err, EB_ESPEC, "lru: b=%u needs w", ebi_lru_b(p));
    if (a->given[EBI_LRU_W])
        EB_TRY(lru_check_given(p, a, err));
    else
        lru_choose(p, a->real[EBI_LRU_FPR]);
    return lru_size(p, a, err);
}

/* Lines.  Two words are worked on side by side, which compilers know to do on every machine.  A
 * field that is equal in both planes is 0 in the OR of the differences; the lowest such field is
 * found exactly.  Where a key is found is a coin's throw, so nothing branches on it. */
typedef uint64_t lru_pair __attribute__((vector_size(16)));

EB_INLINE lru_pair lru_load(const uint8_t *at) {
    lru_pair x;
    memcpy(&x, at, sizeof x);
    return x;
}

EB_INLINE lru_pair lru_equal(lru_pair differ, ebi_lru_fields f) {
    return (differ - f.ones) & ~differ & f.highs;
}

/* The fields in `moved` go one place up, the lowest comes from the last of the pair before. */
EB_INLINE void lru_move(uint8_t *at, lru_pair x, lru_pair before, lru_pair moved,
                        ebi_lru_fields f) {
    const lru_pair below = __builtin_shufflevector(before, x, 1, 2);
    const lru_pair up = (x << f.bits) | (below >> (f.n - 1) * f.bits);
    x ^= (x ^ up) & moved;
    memcpy(at, &x, sizeof x);
}

EB_INLINE uint64_t lru_if_zero(uint64_t x) { /* all ones, else 0 */
    return 0 - (uint64_t)(x == 0);
}

EB_INLINE bool lru_line_observe(uint8_t *line, uint64_t print, ebi_lru_fields f, uint64_t last) {
    const uint64_t low = (print & ebi_ones(f.bits)) * f.ones, high = (print >> f.bits) * f.ones;
    const lru_pair lows = {low, low}, highs = {high, high};
    const lru_pair a0 = lru_load(line), a1 = lru_load(line + 16);
    const lru_pair c0 = lru_load(line + 32), c1 = lru_load(line + 48);
    const lru_pair equal0 = lru_equal((a0 ^ lows) | (c0 ^ highs), f);
    const lru_pair equal1 = lru_equal((a1 ^ lows) | (c1 ^ highs), f);
    const uint64_t hit1 = equal0[0], hit2 = hit1 | equal0[1], hit3 = hit2 | equal1[0];
    const lru_pair open0 = {f.used, f.used & lru_if_zero(hit1)};
    const lru_pair open1 = {f.used & lru_if_zero(hit2), last & lru_if_zero(hit3)};
    const lru_pair moved0 = (equal0 ^ (equal0 - 1)) & open0;
    const lru_pair moved1 = (equal1 ^ (equal1 - 1)) & open1;
    lru_move(line, a0, lows, moved0, f);
    lru_move(line + 16, a1, a0, moved1, f);
    lru_move(line + 32, c0, highs, moved0, f);
    lru_move(line + 48, c1, c0, moved1, f);
    return (hit3 | equal1[1]) != 0;
}

EB_INLINE bool lru_line_has(const uint8_t *line, uint64_t print, ebi_lru_fields f) {
    const uint64_t low = (print & ebi_ones(f.bits)) * f.ones, high = (print >> f.bits) * f.ones;
    lru_pair equal = {0, 0};
    for (unsigned k = 0; k < 32; k += 16)
        equal |= lru_equal((lru_load(line + k) ^ low) | (lru_load(line + 32 + k) ^ high), f);
    return (equal[0] | equal[1]) != 0;
}

EB_INLINE void lru_line_add(const eb_params *p, uint8_t *block, const eb_batch *b, uint8_t *seen,
                            unsigned w) {
    const ebi_lru_fields f = ebi_lru_line_fields(w);
    const uint64_t last = ebi_lru_last_used(f, ebi_lru_b(p));
    const ebi_lru_batch keys = {block, ebi_lru_lines(p), b->hash, b->n};
    ebi_lru_fetch_first(&keys, EBI_LRU_LINE_BYTES, true);
    for (size_t i = 0; i < keys.n; i++) {
        ebi_lru_fetch(&keys, i + EBI_LRU_AHEAD, EBI_LRU_LINE_BYTES, true);
        uint8_t *const line = block + ebi_lru_at(&keys, i, EBI_LRU_LINE_BYTES);
        seen[i] = lru_line_observe(line, ebi_lru_print(keys.hash[i], w), f, last);
    }
}

EB_INLINE void lru_line_test(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                             uint8_t *seen, unsigned w) {
    const ebi_lru_fields f = ebi_lru_line_fields(w);
    const ebi_lru_batch keys = {block, ebi_lru_lines(p), h, n};
    ebi_lru_fetch_first(&keys, EBI_LRU_LINE_BYTES, false);
    for (size_t i = 0; i < n; i++) {
        ebi_lru_fetch(&keys, i + EBI_LRU_AHEAD, EBI_LRU_LINE_BYTES, false);
        const uint8_t *const line = block + ebi_lru_at(&keys, i, EBI_LRU_LINE_BYTES);
        seen[i] = lru_line_has(line, ebi_lru_print(h[i], w), f);
    }
}

/* Words: the same with one plane. */

EB_INLINE uint64_t lru_word_equal(uint64_t differ, ebi_lru_fields f) {
    return (differ - f.ones) & ~differ & f.highs;
}

static void lru_word_add(const eb_params *p, uint8_t *block, const eb_batch *b, uint8_t *seen) {
    const ebi_lru_fields f = ebi_lru_fields_of(ebi_lru_b(p), lru_w(p));
    const ebi_lru_batch keys = {block, lru_buckets(p), b->hash, b->n};
    ebi_lru_fetch_first(&keys, EBI_LRU_WORD_BYTES, true);
    for (size_t i = 0; i < keys.n; i++) {
        ebi_lru_fetch(&keys, i + EBI_LRU_AHEAD, EBI_LRU_WORD_BYTES, true);
        uint8_t *const at = block + ebi_lru_at(&keys, i, EBI_LRU_WORD_BYTES);
        const uint64_t word = ebi_load64(at), print = ebi_lru_print(keys.hash[i], f.bits);
        const uint64_t equal = lru_word_equal(word ^ print * f.ones, f);
        const uint64_t moved = (equal ^ (equal - 1)) & f.used, up = word << f.bits | print;
        ebi_store64(at, word ^ ((word ^ up) & moved));
        seen[i] = equal != 0;
    }
}

static void lru_word_test(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                          uint8_t *seen) {
    const ebi_lru_fields f = ebi_lru_fields_of(ebi_lru_b(p), lru_w(p));
    const ebi_lru_batch keys = {block, lru_buckets(p), h, n};
    ebi_lru_fetch_first(&keys, EBI_LRU_WORD_BYTES, false);
    for (size_t i = 0; i < n; i++) {
        ebi_lru_fetch(&keys, i + EBI_LRU_AHEAD, EBI_LRU_WORD_BYTES, false);
        const uint64_t word = ebi_load64(block + ebi_lru_at(&keys, i, EBI_LRU_WORD_BYTES));
        seen[i] = lru_word_equal(word ^ ebi_lru_print(h[i], f.bits) * f.ones, f) != 0;
    }
}

#define LRU_LOOP(w)                                                                                \
    static void lru_line_add_##w(const eb_params *p, uint8_t *block, const eb_batch *b,            \
                                 uint8_t *seen) {                                                  \
        lru_line_add(p, block, b, seen, w);                                                        \
    }                                                                                              \
    static void lru_line_test_##w(const eb_params *p, const uint8_t *block, const eb_hash *h,      \
                                  size_t n, uint8_t *seen) {                                       \
        lru_line_test(p, block, h, n, seen, w);                                                    \
    }
EBI_LRU_WIDTHS(LRU_LOOP)
#undef LRU_LOOP

const eb_ops *ebi_lru_portable(const eb_params *p) {
    static const eb_ops word = {.add = lru_word_add, .test = lru_word_test};
    static const struct {
        unsigned w;
        eb_ops ops;
    } line[] = {
#define LRU_LOOP(w) {w, {.add = lru_line_add_##w, .test = lru_line_test_##w}},
        EBI_LRU_WIDTHS(LRU_LOOP)
#undef LRU_LOOP
    };
    if (!lru_is_line(p)) return &word;
    size_t i = 0;
    while (line[i].w != lru_w(p)) i++;
    return &line[i].ops;
}

static const eb_ops *lru_select(const eb_params *p) {
    const eb_ops *const fast = ebi_lru_avx2(p);
    return fast ? fast : ebi_lru_portable(p);
}

/* The whole filter */

typedef struct lru_shape { /* of a bucket: `words` words in each of `planes` planes */
    ebi_lru_fields f;
    unsigned words, planes, b;
} lru_shape;

static lru_shape lru_shape_of(const eb_params *p) {
    const unsigned b = ebi_lru_b(p), w = lru_w(p);
    return lru_is_line(p) ? (lru_shape){ebi_lru_line_fields(w), 4, 2, b}
                          : (lru_shape){ebi_lru_fields_of(b, w), 1, 1, b};
}

/* The k-th word, both planes together: a field is 0 if its slot is empty. */
static uint64_t lru_both(const lru_shape *s, const uint8_t *bucket, unsigned k) {
    const uint64_t low = ebi_load64(bucket + 8 * k);
    return s->planes == 2 ? low | ebi_load64(bucket + 8 * (s->words + k)) : low;
}

static uint64_t lru_slot(const lru_shape *s, const uint8_t *bucket, unsigned i) {
    const unsigned k = i / s->f.n, at = i % s->f.n * s->f.bits;
    const uint64_t mask = ebi_ones(s->f.bits), low = ebi_load64(bucket + 8 * k) >> at & mask;
    if (s->planes == 1) return low;
    return low | (ebi_load64(bucket + 8 * (s->words + k)) >> at & mask) << s->f.bits;
}

static unsigned lru_occupied(const lru_shape *s, const uint8_t *bucket) {
    unsigned n = 0;
    for (unsigned k = 0; k < s->words; k++)
        n += ebi_popcount(ebi_cells_nonzero(lru_both(s, bucket, k), s->f.ones, s->f.bits));
    return n;
}

/* Nothing outside the slots, and the n slots in use come first? */
static bool lru_packed(const lru_shape *s, const uint8_t *bucket, unsigned n) {
    if (n > s->b) return false;
    for (unsigned k = 0; k < s->words; k++, n -= (unsigned)ebi_min(n, s->f.n)) {
        const uint64_t word = lru_both(s, bucket, k);
        const uint64_t first = ebi_ones((unsigned)ebi_min(n, s->f.n) * s->f.bits);
        if ((word & ~first) != 0) return false;
        if (ebi_cells_nonzero(word, s->f.ones, s->f.bits) != (s->f.ones & first)) return false;
    }
    return true;
}

/* Is a fingerprint twice among the first n?  Looks back only where the low bits
 * were met before. */
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

static eb_status lru_check(const eb_params *p, const uint8_t *block, eb_error *err) {
    const lru_shape s = lru_shape_of(p);
    const uint64_t bytes = lru_bucket_bytes(p), buckets = lru_buckets(p);
    const uint8_t *const first = block + sizeof(eb_head);
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
    if (!ebi_tail_is_zero(first, buckets * bytes * 8, p->span - sizeof(eb_head)))
        return ebi_fail(err, EB_EFORMAT, "damaged lru filter: bits are set after its last bucket");
    return EB_OK;
}

static void lru_stat(const eb_params *p, const uint8_t *block, eb_stats *out) {
    const lru_shape s = lru_shape_of(p);
    const uint64_t bytes = lru_bucket_bytes(p), buckets = lru_buckets(p);
    for (uint64_t i = 0; i < buckets; i++)
        out->cells_used += lru_occupied(&s, block + sizeof(eb_head) + i * bytes);
    out->cells = p->opt[EB_O_CELLS];
    out->fpr = (double)out->cells_used / (double)buckets / lru_prints(lru_w(p));
}

/* Prediction.  The keys between a key and its repeat fall on its bucket as a
 * Poisson number, whatever their order. */

/* Mean of the slots in use in a bucket that has met `per_bucket` distinct keys. */
static double lru_mean_used(double per_bucket, double b) {
    const double before = b >= 2 ? per_bucket * ebi_poisson_le(per_bucket, b - 2) : 0;
    return before + b * ebi_poisson_ge(per_bucket, b);
}

static double lru_fill(double per_bucket, const void *b) {
    return lru_mean_used(per_bucket, *(const double *)b) / *(const double *)b;
}

/* Share missed of repeats whose distance is uniform on 0..reach keys a bucket. */
static double lru_missed_uniform(double reach, double b) {
    if (reach <= 0) return 0;
    const double missed = ebi_poisson_ge(reach, b) - b / reach * ebi_poisson_ge(reach, b + 1);
    return fmax(missed, 0);
}

/* D keys once each and `copies` uniform copies of each on average, shuffled.  A
 * repeat and its predecessor have a share x of the stream between them with
 * probability (1-x)^2 e^(-copies x) or more; they then have D times this many
 * distinct keys between them: */
static double lru_distance(double x, const void *copies) {
    return 1 - (1 - x) * exp(-*(const double *)copies * x);
}

static double lru_missed_shuffled(double reach, double copies, double b) {
    enum { STEPS = 512 };
    const double sure = b + 10 * sqrt(b) + 20; /* keys a bucket that no list survives */
    const double end = reach <= sure ? 1 : ebi_bisect(lru_distance, &copies, 0, 1, sure / reach);
    double missed = 0, before = 1;
    for (int i = 0; i < STEPS; i++) {
        const double x = end * (i + 1) / STEPS, middle = end * (i + 0.5) / STEPS;
        const double after = (1 - x) * (1 - x) * exp(-copies * x);
        missed += (before - after) * ebi_poisson_ge(reach * lru_distance(middle, &copies), b);
        before = after;
    }
    return missed + before;
}

static double lru_mean_fill(double reach, double b) { /* while the stream's keys arrive */
    enum { STEPS = 256 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++) sum += lru_fill(reach * (i + 0.5) / STEPS, &b) / STEPS;
    return sum;
}

static void lru_predict_misses(const eb_workload *w, double buckets, double b, double distinct,
                               eb_prediction *out) {
    const double reach = distinct / buckets;
    if (w->gap > 0) {
        out->fnr = out->mean_fnr = ebi_poisson_ge(fmin(w->gap, distinct) / buckets, b);
    } else if (isinf(distinct)) {
        out->fnr = out->mean_fnr = 1;
    } else if (w->zipf <= 0) {
        out->fnr = lru_missed_uniform(reach, b);
        out->mean_fnr =
            w->items > 0 ? lru_missed_shuffled(reach, w->items / distinct - 1, b) : out->fnr;
    }
}

static void lru_predict(const eb_params *p, const eb_workload *w, eb_prediction *out) {
    const double b = ebi_lru_b(p), buckets = (double)lru_buckets(p);
    const double distinct = w->distinct > 0 ? w->distinct : w->items > 0 ? w->items : INFINITY;
    const double full = b / lru_prints(lru_w(p));
    const double records = w->items > 0 ? w->items / distinct : 1; /* for each distinct key */
    out->fill = isinf(distinct) ? 1 : lru_fill(distinct / buckets, &b);
    out->fpr = full * out->fill;
    out->mean_fpr = full * (w->items > 0 ? lru_mean_fill(distinct / buckets, b) : out->fill);
    out->settles_after = records * buckets * ebi_bisect(lru_fill, &b, 1e-3, 10 * b + 10, 0.999);
    lru_predict_misses(w, buckets, b, distinct, out);
}

const eb_kind ebi_kind_lru = {
    .info = {"lru", "the last keys seen, in lists that move to front: for endless streams",
             "everbloom's own", EB_FORGETS, lru_options},
    .version = 1,
    .long_batches = true,
    .resolve = lru_resolve,
    .select = lru_select,
    .check = lru_check,
    .stat = lru_stat,
    .predict = lru_predict,
};
