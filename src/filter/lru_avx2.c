/* lru_avx2.c - the loops of lru.c for bucket=line with AVX2: a line is two
 * registers, the low and the high halves of its fingerprints, and hit and miss
 * are one shift without a branch.  The bytes are those of the portable loops.
 *
 * Halves of 8 or 16 bits (w = 16, 32) are lanes of the register: the hardware
 * compares and shifts them.  Other widths use arithmetic inside 64-bit words. */
#include "lru.h"

#if defined __x86_64__
#include <immintrin.h>

#define LRU_AVX2 __attribute__((target("avx2")))

typedef struct lru_line {
    __m256i low, high;
} lru_line;

LRU_AVX2 EB_INLINE lru_line lru_load(const uint8_t *line) {
    return (lru_line){_mm256_loadu_si256((const __m256i *)(const void *)line),
                      _mm256_loadu_si256((const __m256i *)(const void *)(line + 32))};
}

LRU_AVX2 EB_INLINE void lru_store(uint8_t *line, __m256i low, __m256i high) {
    _mm256_storeu_si256((__m256i *)(void *)line, low);
    _mm256_storeu_si256((__m256i *)(void *)(line + 32), high);
}

/* Lanes of `lane` bytes, 1 or 2: slot i is lane i of both registers. */

LRU_AVX2 EB_INLINE __m256i lru_lane_fill(uint64_t half, unsigned lane) {
    return lane == 1 ? _mm256_set1_epi8((char)half) : _mm256_set1_epi16((short)half);
}

LRU_AVX2 EB_INLINE __m256i lru_lane_equal(__m256i a, __m256i b, unsigned lane) {
    return lane == 1 ? _mm256_cmpeq_epi8(a, b) : _mm256_cmpeq_epi16(a, b);
}

/* The bytes of the line's slots that hold the fingerprint, one bit for each. */
LRU_AVX2 EB_INLINE uint32_t lru_lane_hits(lru_line x, lru_line f, unsigned lane) {
    return (uint32_t)_mm256_movemask_epi8(
        _mm256_and_si256(lru_lane_equal(x.low, f.low, lane), lru_lane_equal(x.high, f.high, lane)));
}

/* All lanes one place up, the lowest from f. */
LRU_AVX2 EB_INLINE __m256i lru_lane_up(__m256i x, __m256i f, unsigned lane) {
    const __m256i below = _mm256_permute2x128_si256(f, x, 0x21);
    return lane == 1 ? _mm256_alignr_epi8(x, below, 15) : _mm256_alignr_epi8(x, below, 14);
}

/* The first n bytes set, n = 0..32. */
LRU_AVX2 EB_INLINE __m256i lru_first_bytes(unsigned n) {
    static const uint8_t window[64] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                       255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                       255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    return _mm256_loadu_si256((const __m256i *)(const void *)(window + 32 - n));
}

LRU_AVX2 EB_INLINE lru_line lru_lane_print(uint64_t print, unsigned lane) {
    return (lru_line){lru_lane_fill(print, lane), lru_lane_fill(print >> (8 * lane), lane)};
}

LRU_AVX2 EB_INLINE bool lru_lane_observe(uint8_t *line, uint64_t print, unsigned b, unsigned lane) {
    const lru_line x = lru_load(line), f = lru_lane_print(print, lane);
    const uint32_t hits = lru_lane_hits(x, f, lane);
    const unsigned last = ebi_ctz(hits | UINT32_C(1) << (b - 1) * lane); /* hit, or last slot */
    const __m256i moved = lru_first_bytes(last + lane);
    lru_store(line, _mm256_blendv_epi8(x.low, lru_lane_up(x.low, f.low, lane), moved),
              _mm256_blendv_epi8(x.high, lru_lane_up(x.high, f.high, lane), moved));
    return hits != 0;
}

LRU_AVX2 EB_INLINE bool lru_lane_has(const uint8_t *line, uint64_t print, unsigned lane) {
    return lru_lane_hits(lru_load(line), lru_lane_print(print, lane), lane) != 0;
}

/* Fields of words: slot i is field i mod n of words i / n of both registers. */

LRU_AVX2 EB_INLINE __m256i lru_word_fill(uint64_t word) {
    return _mm256_set1_epi64x((long long)word);
}

LRU_AVX2 EB_INLINE lru_line lru_word_print(uint64_t print, ebi_lru_fields f) {
    return (lru_line){lru_word_fill((print & ebi_ones(f.bits)) * f.ones),
                      lru_word_fill((print >> f.bits) * f.ones)};
}

/* The top bit of fields that are equal in both registers: of each word's lowest such field, and
 * perhaps of fields above it. */
LRU_AVX2 EB_INLINE __m256i lru_word_equal(lru_line x, lru_line y, ebi_lru_fields f) {
    const __m256i differ =
        _mm256_or_si256(_mm256_xor_si256(x.low, y.low), _mm256_xor_si256(x.high, y.high));
    const __m256i less = _mm256_sub_epi64(differ, lru_word_fill(f.ones));
    return _mm256_and_si256(_mm256_andnot_si256(differ, less), lru_word_fill(f.highs));
}

/* Which of the four words have no hit, one bit for each. */
LRU_AVX2 EB_INLINE unsigned lru_word_misses(__m256i equal) {
    const __m256i none = _mm256_cmpeq_epi64(equal, _mm256_setzero_si256());
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(none));
}

/* The words up to the first with a hit. */
LRU_AVX2 EB_INLINE __m256i lru_word_gate(unsigned misses) {
#define LRU_GATE(n)                                                                                \
    { -1, -(n > 1), -(n > 2), -(n > 3) }
    static const int64_t gate[16][4] = {LRU_GATE(1), LRU_GATE(2), LRU_GATE(1), LRU_GATE(3),
                                        LRU_GATE(1), LRU_GATE(2), LRU_GATE(1), LRU_GATE(4),
                                        LRU_GATE(1), LRU_GATE(2), LRU_GATE(1), LRU_GATE(3),
                                        LRU_GATE(1), LRU_GATE(2), LRU_GATE(1), LRU_GATE(4)};
#undef LRU_GATE
    return _mm256_loadu_si256((const __m256i *)(const void *)gate[misses]);
}

/* The fields in `moved` go one place up, the lowest comes from print. */
LRU_AVX2 EB_INLINE __m256i lru_word_up(__m256i x, __m256i print, __m256i moved, ebi_lru_fields f) {
    const __m256i before = _mm256_blend_epi32(_mm256_permute4x64_epi64(x, 0x90), print, 3);
    const __m256i up = _mm256_or_si256(_mm256_slli_epi64(x, (int)f.bits),
                                       _mm256_srli_epi64(before, (int)((f.n - 1) * f.bits)));
    return _mm256_xor_si256(x, _mm256_and_si256(_mm256_xor_si256(x, up), moved));
}

LRU_AVX2 EB_INLINE bool lru_word_observe(uint8_t *line, uint64_t print, ebi_lru_fields f,
                                         __m256i used) {
    const lru_line x = lru_load(line), y = lru_word_print(print, f);
    const __m256i equal = lru_word_equal(x, y, f);
    const unsigned misses = lru_word_misses(equal);
    /* All of the words before the hit and its word's fields up to it. */
    const __m256i upto = _mm256_xor_si256(equal, _mm256_add_epi64(equal, _mm256_set1_epi64x(-1)));
    const __m256i moved = _mm256_and_si256(_mm256_and_si256(upto, used), lru_word_gate(misses));
    lru_store(line, lru_word_up(x.low, y.low, moved, f), lru_word_up(x.high, y.high, moved, f));
    return misses != 15;
}

LRU_AVX2 EB_INLINE bool lru_word_has(const uint8_t *line, uint64_t print, ebi_lru_fields f) {
    return lru_word_misses(lru_word_equal(lru_load(line), lru_word_print(print, f), f)) != 15;
}

/* Loops, compiled for each width */

LRU_AVX2 EB_INLINE void lru_avx2_add(const eb_params *p, uint8_t *block, const eb_batch *b,
                                     uint8_t *seen, unsigned w) {
    const ebi_lru_fields f = ebi_lru_line_fields(w);
    const unsigned slots = ebi_lru_b(p);
    const __m256i used =
        _mm256_blend_epi32(lru_word_fill(f.used), lru_word_fill(ebi_lru_last_used(f, slots)), 0xC0);
    const ebi_lru_batch keys = {block, ebi_lru_lines(p), b->hash, b->n};
    ebi_lru_fetch_first(&keys, EBI_LRU_LINE_BYTES, true);
    for (size_t i = 0; i < keys.n; i++) {
        ebi_lru_fetch(&keys, i + EBI_LRU_AHEAD, EBI_LRU_LINE_BYTES, true);
        uint8_t *const line = block + ebi_lru_at(&keys, i, EBI_LRU_LINE_BYTES);
        const uint64_t print = ebi_lru_print(keys.hash[i], w);
        seen[i] = w == 16   ? lru_lane_observe(line, print, slots, 1)
                  : w == 32 ? lru_lane_observe(line, print, slots, 2)
                            : lru_word_observe(line, print, f, used);
    }
}

LRU_AVX2 EB_INLINE void lru_avx2_test(const eb_params *p, const uint8_t *block, const eb_hash *h,
                                      size_t n, uint8_t *seen, unsigned w) {
    const ebi_lru_fields f = ebi_lru_line_fields(w);
    const ebi_lru_batch keys = {block, ebi_lru_lines(p), h, n};
    ebi_lru_fetch_first(&keys, EBI_LRU_LINE_BYTES, false);
    for (size_t i = 0; i < n; i++) {
        ebi_lru_fetch(&keys, i + EBI_LRU_AHEAD, EBI_LRU_LINE_BYTES, false);
        const uint8_t *const line = block + ebi_lru_at(&keys, i, EBI_LRU_LINE_BYTES);
        const uint64_t print = ebi_lru_print(h[i], w);
        seen[i] = w == 16   ? lru_lane_has(line, print, 1)
                  : w == 32 ? lru_lane_has(line, print, 2)
                            : lru_word_has(line, print, f);
    }
}

#define LRU_LOOP(w)                                                                                \
    LRU_AVX2 static void lru_avx2_add_##w(const eb_params *p, uint8_t *block, const eb_batch *b,   \
                                          uint8_t *seen) {                                         \
        lru_avx2_add(p, block, b, seen, w);                                                        \
    }                                                                                              \
    LRU_AVX2 static void lru_avx2_test_##w(const eb_params *p, const uint8_t *block,               \
                                           const eb_hash *h, size_t n, uint8_t *seen) {            \
        lru_avx2_test(p, block, h, n, seen, w);                                                    \
    }
EBI_LRU_WIDTHS(LRU_LOOP)
#undef LRU_LOOP

const eb_ops *ebi_lru_avx2(const eb_params *p) {
    static const struct {
        unsigned w;
        eb_ops ops;
    } loops[] = {
#define LRU_LOOP(w) {w, {.add = lru_avx2_add_##w, .test = lru_avx2_test_##w}},
        EBI_LRU_WIDTHS(LRU_LOOP)
#undef LRU_LOOP
    };
    if (!ebi_has_avx2() || p->opt[EBI_LRU_BUCKET] != EBI_LRU_LINE) return NULL;
    for (size_t i = 0; i < EB_COUNT_OF(loops); i++)
        if (loops[i].w == p->opt[EBI_LRU_W]) return &loops[i].ops;
    return NULL;
}
#else
const eb_ops *ebi_lru_avx2(const eb_params *p) {
    (void)p;
    return NULL;
}
#endif
