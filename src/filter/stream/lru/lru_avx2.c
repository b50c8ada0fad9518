/* lru_avx2.c - the loops of lru.c for bucket=line with AVX2: a line is two
 * registers, the low and the high halves of its fingerprints, and hit and miss
 * are one shift without a branch.  The bytes are those of the portable loops.
 *
 * Halves of 8 or 16 bits (w = 16, 32) are lanes of the register: the hardware
 * compares and shifts them.  Other widths use arithmetic inside 64-bit words. */
#include "lru.h"

#if EBI_X86_64
#include <immintrin.h>

#define LRU_AVX2 __attribute__((target("avx2")))

typedef struct lru_line {
    __m256i low, high;
} lru_line;

LRU_AVX2 EBI_INLINE lru_line lru_load(const uint8_t *line) {
    return (lru_line){_mm256_loadu_si256((const __m256i *)(const void *)line),
                      _mm256_loadu_si256((const __m256i *)(const void *)(line + 32))};
}

LRU_AVX2 EBI_INLINE void lru_store(uint8_t *line, __m256i low, __m256i high) {
    _mm256_storeu_si256((__m256i *)(void *)line, low);
    _mm256_storeu_si256((__m256i *)(void *)(line + 32), high);
}

LRU_AVX2 EBI_INLINE __m256i lru_load_mask(const uint64_t *mask) {
    return _mm256_loadu_si256((const __m256i *)(const void *)mask);
}

typedef struct lru_place {
    __m256i open, at;
} lru_place;

/* The rule's deeper place if there is no hit, else the front.  A hit is hard to foresee, so nothing
 * branches on it. */
LRU_AVX2 EBI_INLINE lru_place lru_place_of(const ebi_lru_rule *rule, bool hit, unsigned class) {
    const ebi_lru_place *const place = rule->place + ((1 + class) & ((unsigned)hit - 1));
    return (lru_place){lru_load_mask(place->open), lru_load_mask(place->at)};
}

typedef struct lru_avx2_shape { /* of all lines of a filter */
    ebi_lru_fields f;
    __m256i used; /* fields of the slots */
    uint64_t last_field;
    unsigned b;
} lru_avx2_shape;

/* Lanes of `lane` bytes, 1 or 2: slot i is lane i of both registers. */

LRU_AVX2 EBI_INLINE __m256i lru_lane_fill(uint64_t half, unsigned lane) {
    return lane == 1 ? _mm256_set1_epi8((char)half) : _mm256_set1_epi16((short)half);
}

LRU_AVX2 EBI_INLINE __m256i lru_lane_equal(__m256i a, __m256i b, unsigned lane) {
    return lane == 1 ? _mm256_cmpeq_epi8(a, b) : _mm256_cmpeq_epi16(a, b);
}

/* The bytes of the line's slots that hold the fingerprint, one bit for each. */
LRU_AVX2 EBI_INLINE uint32_t lru_lane_hits(lru_line x, lru_line f, unsigned lane) {
    return (uint32_t)_mm256_movemask_epi8(
        _mm256_and_si256(lru_lane_equal(x.low, f.low, lane), lru_lane_equal(x.high, f.high, lane)));
}

/* All lanes one place up, the lowest from f. */
LRU_AVX2 EBI_INLINE __m256i lru_lane_up(__m256i x, __m256i f, unsigned lane) {
    const __m256i below = _mm256_permute2x128_si256(f, x, 0x21);
    return lane == 1 ? _mm256_alignr_epi8(x, below, 15) : _mm256_alignr_epi8(x, below, 14);
}

/* The first n bytes set, n = 0..32. */
LRU_AVX2 EBI_INLINE __m256i lru_first_bytes(unsigned n) {
    static const uint8_t window[64] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                       255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                       255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    return _mm256_loadu_si256((const __m256i *)(const void *)(window + 32 - n));
}

LRU_AVX2 EBI_INLINE lru_line lru_lane_print(uint64_t print, unsigned lane) {
    return (lru_line){lru_lane_fill(print, lane), lru_lane_fill(print >> (8 * lane), lane)};
}

LRU_AVX2 EBI_INLINE bool lru_lane_observe(uint8_t *line, uint64_t print, unsigned b,
                                          unsigned lane) {
    const lru_line x = lru_load(line), f = lru_lane_print(print, lane);
    const uint32_t hits = lru_lane_hits(x, f, lane);
    const unsigned last = ebi_ctz(hits | UINT32_C(1) << (b - 1) * lane); /* hit, or last slot */
    const __m256i moved = lru_first_bytes(last + lane);
    lru_store(line, _mm256_blendv_epi8(x.low, lru_lane_up(x.low, f.low, lane), moved),
              _mm256_blendv_epi8(x.high, lru_lane_up(x.high, f.high, lane), moved));
    return hits != 0;
}

/* Into a full line, not at the front. */
LRU_AVX2 EBI_INLINE bool lru_lane_put(uint8_t *line, uint64_t print, const lru_avx2_shape *s,
                                      const ebi_lru_rule *rule, unsigned class, unsigned lane) {
    const lru_line x = lru_load(line), f = lru_lane_print(print, lane);
    const uint32_t hits = lru_lane_hits(x, f, lane);
    const unsigned last = ebi_ctz(hits | UINT32_C(1) << (s->b - 1) * lane);
    const lru_place place = lru_place_of(rule, hits != 0, class);
    const __m256i at = place.at, moved = _mm256_and_si256(lru_first_bytes(last + lane), place.open);
    const __m256i low = _mm256_blendv_epi8(lru_lane_up(x.low, f.low, lane), f.low, at);
    const __m256i high = _mm256_blendv_epi8(lru_lane_up(x.high, f.high, lane), f.high, at);
    lru_store(line, _mm256_blendv_epi8(x.low, low, moved), _mm256_blendv_epi8(x.high, high, moved));
    return hits != 0;
}

LRU_AVX2 EBI_INLINE bool lru_lane_has(const uint8_t *line, uint64_t print, unsigned lane) {
    return lru_lane_hits(lru_load(line), lru_lane_print(print, lane), lane) != 0;
}

/* Fields of words: slot i is field i mod n of words i / n of both registers. */

LRU_AVX2 EBI_INLINE __m256i lru_word_fill(uint64_t word) {
    return _mm256_set1_epi64x((long long)word);
}

LRU_AVX2 EBI_INLINE lru_line lru_word_print(uint64_t print, ebi_lru_fields f) {
    return (lru_line){lru_word_fill((print & ebi_ones(f.bits)) * f.ones),
                      lru_word_fill((print >> f.bits) * f.ones)};
}

/* The top bit of fields that are equal in both registers: of each word's lowest such field, and
 * perhaps of fields above it. */
LRU_AVX2 EBI_INLINE __m256i lru_avx2_word_equal(lru_line x, lru_line y, ebi_lru_fields f) {
    const __m256i differ =
        _mm256_or_si256(_mm256_xor_si256(x.low, y.low), _mm256_xor_si256(x.high, y.high));
    const __m256i less = _mm256_sub_epi64(differ, lru_word_fill(f.ones));
    return _mm256_and_si256(_mm256_andnot_si256(differ, less), lru_word_fill(f.highs));
}

/* Which of the four words have no hit, one bit for each. */
LRU_AVX2 EBI_INLINE unsigned lru_word_misses(__m256i equal) {
    const __m256i none = _mm256_cmpeq_epi64(equal, _mm256_setzero_si256());
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(none));
}

/* The words up to the first with a hit. */
LRU_AVX2 EBI_INLINE __m256i lru_word_gate(unsigned misses) {
#define LRU_GATE(n)                                                                                \
    { -1, -(n > 1), -(n > 2), -(n > 3) }
    static const int64_t gate[16][4] = {LRU_GATE(1), LRU_GATE(2), LRU_GATE(1), LRU_GATE(3),
                                        LRU_GATE(1), LRU_GATE(2), LRU_GATE(1), LRU_GATE(4),
                                        LRU_GATE(1), LRU_GATE(2), LRU_GATE(1), LRU_GATE(3),
                                        LRU_GATE(1), LRU_GATE(2), LRU_GATE(1), LRU_GATE(4)};
#undef LRU_GATE
    return _mm256_loadu_si256((const __m256i *)(const void *)gate[misses]);
}

/* A rule by which words have no hit: with one, its gate and the front; with none, at 15 + class,
 * the rule's place. */
typedef struct lru_word_rule {
    lru_place place[15 + EBI_LRU_CLASSES];
} lru_word_rule;

LRU_AVX2 EBI_INLINE void lru_word_rule_of(lru_word_rule *to, const ebi_lru_rule *rule,
                                          unsigned classes) {
    for (unsigned i = 0; i < 15; i++)
        to->place[i] = (lru_place){lru_word_gate(i), lru_load_mask(rule->place[0].at)};
    for (unsigned c = 0; c < classes; c++)
        to->place[15 + c] = (lru_place){lru_load_mask(rule->place[1 + c].open),
                                        lru_load_mask(rule->place[1 + c].at)};
}

/* The fields in `moved` go one place up, the lowest comes from print. */
LRU_AVX2 EBI_INLINE __m256i lru_word_up(__m256i x, __m256i print, __m256i moved, ebi_lru_fields f) {
    const __m256i before = _mm256_blend_epi32(_mm256_permute4x64_epi64(x, 0x90), print, 3);
    const __m256i up = _mm256_or_si256(_mm256_slli_epi64(x, (int)f.bits),
                                       _mm256_srli_epi64(before, (int)((f.n - 1) * f.bits)));
    return _mm256_xor_si256(x, _mm256_and_si256(_mm256_xor_si256(x, up), moved));
}

/* The fields up to the hit in words that have one, all slots of the others. */
LRU_AVX2 EBI_INLINE __m256i lru_word_upto(__m256i equal, __m256i used) {
    const __m256i upto = _mm256_xor_si256(equal, _mm256_add_epi64(equal, _mm256_set1_epi64x(-1)));
    return _mm256_and_si256(upto, used);
}

LRU_AVX2 EBI_INLINE bool lru_word_observe(uint8_t *line, uint64_t print, const lru_avx2_shape *s) {
    const ebi_lru_fields f = s->f;
    const lru_line x = lru_load(line), y = lru_word_print(print, f);
    const __m256i equal = lru_avx2_word_equal(x, y, f);
    const unsigned misses = lru_word_misses(equal);
    const __m256i moved = _mm256_and_si256(lru_word_upto(equal, s->used), lru_word_gate(misses));
    lru_store(line, lru_word_up(x.low, y.low, moved, f), lru_word_up(x.high, y.high, moved, f));
    return misses != 15;
}

/* As lru_word_up, but the print comes in at the field `at`. */
LRU_AVX2 EBI_INLINE __m256i lru_word_open(__m256i x, __m256i print, __m256i at, __m256i moved,
                                          ebi_lru_fields f) {
    const __m256i before = _mm256_permute4x64_epi64(x, 0x90);
    const __m256i up = _mm256_or_si256(_mm256_slli_epi64(x, (int)f.bits),
                                       _mm256_srli_epi64(before, (int)((f.n - 1) * f.bits)));
    const __m256i in = _mm256_xor_si256(up, _mm256_and_si256(_mm256_xor_si256(up, print), at));
    return _mm256_xor_si256(x, _mm256_and_si256(_mm256_xor_si256(x, in), moved));
}

/* Into a full line, not at the front. */
LRU_AVX2 EBI_INLINE bool lru_word_put(uint8_t *line, uint64_t print, const lru_avx2_shape *s,
                                      const lru_word_rule *rule, unsigned class) {
    const lru_line x = lru_load(line), y = lru_word_print(print, s->f);
    const __m256i equal = lru_avx2_word_equal(x, y, s->f);
    const unsigned misses = lru_word_misses(equal);
    const lru_place *const place = rule->place + misses + (class & (0u - (misses == 15)));
    const __m256i at = place->at;
    const __m256i moved = _mm256_and_si256(lru_word_upto(equal, s->used), place->open);
    lru_store(line, lru_word_open(x.low, y.low, at, moved, s->f),
              lru_word_open(x.high, y.high, at, moved, s->f));
    return misses != 15;
}

LRU_AVX2 EBI_INLINE bool lru_word_has(const uint8_t *line, uint64_t print, ebi_lru_fields f) {
    return lru_word_misses(lru_avx2_word_equal(lru_load(line), lru_word_print(print, f), f)) != 15;
}

/* Loops, compiled for each width */

LRU_AVX2 EBI_INLINE bool lru_observe(uint8_t *line, uint64_t print, const lru_avx2_shape *s,
                                     unsigned w) {
    return w == 16   ? lru_lane_observe(line, print, s->b, 1)
           : w == 32 ? lru_lane_observe(line, print, s->b, 2)
                     : lru_word_observe(line, print, s);
}

LRU_AVX2 EBI_INLINE bool lru_put(uint8_t *line, uint64_t print, const lru_avx2_shape *s,
                                 const ebi_lru_rule *rule, const lru_word_rule *words,
                                 unsigned class, unsigned w) {
    return w == 16   ? lru_lane_put(line, print, s, rule, class, 1)
           : w == 32 ? lru_lane_put(line, print, s, rule, class, 2)
                     : lru_word_put(line, print, s, words, class);
}

LRU_AVX2 EBI_INLINE lru_avx2_shape lru_avx2_shape_of(unsigned w, unsigned b) {
    const ebi_lru_fields f = ebi_lru_line_fields(w);
    return (lru_avx2_shape){
        f, _mm256_blend_epi32(lru_word_fill(f.used), lru_word_fill(ebi_lru_last_used(f, b)), 0xC0),
        ebi_lru_last_field(f, b), b};
}

LRU_AVX2 EBI_INLINE void lru_avx2_add(const ebi_params *p, uint8_t *block, const ebi_batch *b,
                                      uint8_t *seen, unsigned w, bool ranked) {
    assert(b->n <= EBI_LONG_BATCH);
    const lru_avx2_shape s = lru_avx2_shape_of(w, ebi_lru_b(p));
    const ebi_lru_batch keys = ebi_lru_batch_of(p, block, b->hash, b->n);
    const uint64_t leaders = ebi_lru_leaders(p);
    uint8_t *const lines = block + ebi_lru_first(p);
    const uint64_t before = ebi_head_of(block)->items;
    ebi_lru_rule rule;
    lru_word_rule words;
    bool deep = ebi_lru_rule_of(p, block, &rule);
    if (deep) lru_word_rule_of(&words, &rule, ranked ? EBI_LRU_CLASSES : 1);
    ebi_lru_fetch_first(&keys, EBI_LRU_LINE_BYTES, true);
    for (size_t i = 0; i < keys.n; i++) {
        ebi_lru_fetch(&keys, i + EBI_LRU_AHEAD, EBI_LRU_LINE_BYTES, true);
        const uint64_t at = ebi_lru_bucket(&keys, i), print = ebi_lru_print(keys.hash[i], w);
        uint8_t *const line = lines + at * EBI_LRU_LINE_BYTES;
        if (at < leaders) {
            seen[i] =
                ebi_lru_lead(p, block, at, keys.hash[i], before + i, ranked ? b->value[i] : 0);
            deep = ebi_lru_rule_of(p, block, &rule);
            if (deep) lru_word_rule_of(&words, &rule, ranked ? EBI_LRU_CLASSES : 1);
            continue;
        }
        const unsigned class = ranked ? ebi_lru_class(p, b->value[i]) : 0;
        /* Coins for the front and lines that are not full are rare: a branch costs less. */
        if (deep && ebi_lru_coin(keys.hash[i], before + i) >= rule.front[class] &&
            ebi_lru_last_of(line, s.last_field) != 0)
            seen[i] = lru_put(line, print, &s, &rule, &words, class, w);
        else
            seen[i] = lru_observe(line, print, &s, w);
    }
}

LRU_AVX2 EBI_INLINE void lru_avx2_test(const ebi_params *p, const uint8_t *block,
                                       const ebi_batch *b, uint8_t *seen, unsigned w) {
    assert(b->n <= EBI_LONG_BATCH);
    const ebi_lru_fields f = ebi_lru_line_fields(w);
    const ebi_lru_batch keys = ebi_lru_batch_of(p, block, b->hash, b->n);
    ebi_lru_fetch_first(&keys, EBI_LRU_LINE_BYTES, false);
    for (size_t i = 0; i < keys.n; i++) {
        ebi_lru_fetch(&keys, i + EBI_LRU_AHEAD, EBI_LRU_LINE_BYTES, false);
        const uint64_t at = ebi_lru_answering(p, block, ebi_lru_bucket(&keys, i));
        const uint8_t *const line = keys.first + at * EBI_LRU_LINE_BYTES;
        const uint64_t print = ebi_lru_print(keys.hash[i], w);
        seen[i] = w == 16   ? lru_lane_has(line, print, 1)
                  : w == 32 ? lru_lane_has(line, print, 2)
                            : lru_word_has(line, print, f);
    }
}

/* A key that goes to the front of its line, whoever was there. */
LRU_AVX2 EBI_INLINE bool lru_avx2_put_first(const ebi_params *p, uint8_t *line, eb_hash h,
                                            unsigned w) {
    const lru_avx2_shape s = lru_avx2_shape_of(w, ebi_lru_b(p));
    return lru_observe(line, ebi_lru_print(h, w), &s, w);
}

#define LRU_LOOP(w)                                                                                \
    LRU_AVX2 static void lru_avx2_add_##w(const ebi_params *p, uint8_t *block, const ebi_batch *b, \
                                          uint8_t *seen) {                                         \
        lru_avx2_add(p, block, b, seen, w, false);                                                 \
    }                                                                                              \
    LRU_AVX2 static void lru_avx2_ranked_add_##w(const ebi_params *p, uint8_t *block,              \
                                                 const ebi_batch *b, uint8_t *seen) {              \
        lru_avx2_add(p, block, b, seen, w, true);                                                  \
    }                                                                                              \
    LRU_AVX2 static void lru_avx2_test_##w(const ebi_params *p, const uint8_t *block,              \
                                           const ebi_batch *b, uint8_t *seen) {                    \
        lru_avx2_test(p, block, b, seen, w);                                                       \
    }                                                                                              \
    LRU_AVX2 static bool lru_avx2_add_one_##w(const ebi_params *p, uint8_t *block, eb_hash h) {    \
        uint8_t *const line = ebi_lru_plain_line(p, block, h);                                     \
        if (line) return lru_avx2_put_first(p, line, h, w);                                        \
        const ebi_batch b = ebi_batch_of_one(&h);                                                  \
        uint8_t seen;                                                                              \
        lru_avx2_add_##w(p, block, &b, &seen);                                                     \
        return seen != 0;                                                                          \
    }                                                                                              \
    LRU_AVX2 static bool lru_avx2_test_one_##w(const ebi_params *p, const uint8_t *block,          \
                                               eb_hash h) {                                        \
        const ebi_batch b = ebi_batch_of_one(&h);                                                  \
        uint8_t seen;                                                                              \
        lru_avx2_test(p, block, &b, &seen, w);                                                     \
        return seen != 0;                                                                          \
    }
EBI_LRU_WIDTHS(LRU_LOOP)
#undef LRU_LOOP

const ebi_ops *ebi_lru_avx2(const ebi_params *p) {
    static const struct {
        unsigned w;
        ebi_ops ops[2]; /* without and with importance */
    } loops[] = {
#define LRU_LOOP(w)                                                                                \
    {w,                                                                                            \
     {{.add = lru_avx2_add_##w,                                                                    \
       .test = lru_avx2_test_##w,                                                                  \
       .add_one = lru_avx2_add_one_##w,                                                            \
       .test_one = lru_avx2_test_one_##w},                                                         \
      {.add = lru_avx2_ranked_add_##w,                                                             \
       .test = lru_avx2_test_##w,                                                                  \
       .test_one = lru_avx2_test_one_##w}}},
        EBI_LRU_WIDTHS(LRU_LOOP)
#undef LRU_LOOP
    };
    if (!ebi_has_avx2() || p->opt[EBI_LRU_BUCKET] != EBI_LRU_LINE) return NULL;
    for (size_t i = 0; i < EBI_COUNT_OF(loops); i++)
        if (loops[i].w == p->opt[EBI_LRU_W]) return &loops[i].ops[ebi_lru_is_ranked(p)];
    return NULL;
}
#else
const ebi_ops *ebi_lru_avx2(const ebi_params *p) {
    (void)p;
    return NULL;
}
#endif
