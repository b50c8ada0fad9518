/* window_compare.h - a fingerprint against all slots of a line of mode=elastic, with AVX2.
 *
 * Slots have any number of bits and lines any number of slots, and both differ from line to line.
 * So that nothing here is a branch, a filter's lines are all compared as if they had the same
 * number of slots, and tables say for each width where to load from and which bytes go to which
 * lane; loads that would reach beyond the line begin earlier. */
#ifndef EB_WINDOW_COMPARE_H
#define EB_WINDOW_COMPARE_H
#include "window.h"
#include <immintrin.h>

#define WINDOW_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))
enum { WINDOW_SHORT_MAX = 14, WINDOW_LONG_BITS = 25 };

/* Sixteen fingerprints of w <= 14 bits at once: of each half's eight, which are w bytes, 16 are
 * loaded, from one before them on or, near the end of the line, earlier.  A lane takes four of
 * them, as two times two; times a power of 2 brings the fingerprint to the middle of these 32 bits.
 */
typedef struct window_shorts {
    uint16_t bytes[4][16], times[16];
    uint8_t at[8];
} window_shorts;

#define SHORT_AT(w, k) (3 + (k) * (w) < 48 ? 3 + (k) * (w) : 48)
#define SHORT_BYTE(w, k, i) (3 + (k) * (w) + (i) * (w) / 8 - SHORT_AT(w, k))
#define SHORT_LANE(w, k, i) (uint16_t)(SHORT_BYTE(w, k, i) * 0x0101 + 0x0100)
#define EACH_8(M, w, k)                                                                            \
    M(w, k, 0), M(w, k, 1), M(w, k, 2), M(w, k, 3), M(w, k, 4), M(w, k, 5), M(w, k, 6), M(w, k, 7)
#define SHORT_TIMES(w, k, i) (uint16_t)(1 << (8 - (i) * (w) % 8))
#define SHORT_GROUP(w, g)                                                                          \
    { EACH_8(SHORT_LANE, w, 2 * (g)), EACH_8(SHORT_LANE, w, 2 * (g) + 1) }
#define SHORTS(w)                                                                                  \
    {                                                                                              \
        {SHORT_GROUP(w, 0), SHORT_GROUP(w, 1), SHORT_GROUP(w, 2), SHORT_GROUP(w, 3)},              \
            {EACH_8(SHORT_TIMES, w, 0), EACH_8(SHORT_TIMES, w, 0)}, {                              \
            SHORT_AT(w, 0), SHORT_AT(w, 1), SHORT_AT(w, 2), SHORT_AT(w, 3), SHORT_AT(w, 4),        \
                SHORT_AT(w, 5), SHORT_AT(w, 6), SHORT_AT(w, 7)                                     \
        }                                                                                          \
    }
static const window_shorts window_shorts_of[WINDOW_SHORT_MAX + 1] = {
    SHORTS(0), SHORTS(1), SHORTS(2),  SHORTS(3),  SHORTS(4),  SHORTS(5),  SHORTS(6), SHORTS(7),
    SHORTS(8), SHORTS(9), SHORTS(10), SHORTS(11), SHORTS(12), SHORTS(13), SHORTS(14)};

/* Eight fingerprints at once: a shuffle brings four bytes with each of them into its lane, a shift
 * by 0..7 puts it in place: 25 bits of it. */
typedef struct window_longs {
    uint32_t bytes[8][8], shift[8];
    uint8_t at[16];
} window_longs;
#define LONG_AT(w, k, last) (4 + (k) * (w) / 2 < (last) ? 4 + (k) * (w) / 2 : (last))
#define LONG_BYTE(w, k, last, i) (4 + (4 * (k) + (i)) * (w) / 8 - LONG_AT(w, k, last))
#define LONG_LANE(w, k, last, i) (uint32_t) LONG_BYTE(w, k, last, i) * 0x01010101u + 0x03020100u
#define LONG_HALF(w, k, last)                                                                      \
    LONG_LANE(w, k, last, 0), LONG_LANE(w, k, last, 1), LONG_LANE(w, k, last, 2),                  \
        LONG_LANE(w, k, last, 3)
#define LONG_GROUP(w, g, last)                                                                     \
    { LONG_HALF(w, 2 * (g), last), LONG_HALF(w, 2 * (g) + 1, last) }
#define LONG_SHIFT(w, k, i) (i) * (w) % 8
#define LONGS(w, last)                                                                             \
    {                                                                                              \
        {LONG_GROUP(w, 0, last), LONG_GROUP(w, 1, last), LONG_GROUP(w, 2, last),                   \
         LONG_GROUP(w, 3, last), LONG_GROUP(w, 4, last), LONG_GROUP(w, 5, last),                   \
         LONG_GROUP(w, 6, last), LONG_GROUP(w, 7, last)},                                          \
            {EACH_8(LONG_SHIFT, w, 0)}, {                                                          \
            LONG_AT(w, 0, last), LONG_AT(w, 1, last), LONG_AT(w, 2, last), LONG_AT(w, 3, last),    \
                LONG_AT(w, 4, last), LONG_AT(w, 5, last), LONG_AT(w, 6, last),                     \
                LONG_AT(w, 7, last), LONG_AT(w, 8, last), LONG_AT(w, 9, last),                     \
                LONG_AT(w, 10, last), LONG_AT(w, 11, last), LONG_AT(w, 12, last),                  \
                LONG_AT(w, 13, last), LONG_AT(w, 14, last), LONG_AT(w, 15, last)                   \
        }                                                                                          \
    }
#define EACH_WIDTH(last)                                                                           \
    {                                                                                              \
        LONGS(0, last), LONGS(1, last), LONGS(2, last), LONGS(3, last), LONGS(4, last),            \
            LONGS(5, last), LONGS(6, last), LONGS(7, last), LONGS(8, last), LONGS(9, last),        \
            LONGS(10, last), LONGS(11, last), LONGS(12, last), LONGS(13, last), LONGS(14, last),   \
            LONGS(15, last), LONGS(16, last), LONGS(17, last), LONGS(18, last), LONGS(19, last),   \
            LONGS(20, last), LONGS(21, last), LONGS(22, last), LONGS(23, last), LONGS(24, last),   \
            LONGS(25, last), LONGS(26, last), LONGS(27, last), LONGS(28, last), LONGS(29, last),   \
            LONGS(30, last), LONGS(31, last)                                                       \
    }
static const window_longs window_longs_of[2][EBI_WINDOW_W_MAX + 1] = {EACH_WIDTH(48),
                                                                      EACH_WIDTH(112)};

WINDOW_AVX2 EB_INLINE __m256i window_load_lanes(const void *lanes) {
    return _mm256_loadu_si256((const __m256i *)lanes);
}

WINDOW_AVX2 EB_INLINE __m256i window_load_halves(const uint8_t *line, const uint8_t *at) {
    const __m128i low = _mm_loadu_si128((const __m128i *)(const void *)(line + at[0]));
    const __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(line + at[1]));
    return _mm256_set_m128i(high, low);
}

/* Lanes whose fingerprint is wanted, as far as it is known: all bits are set. */
WINDOW_AVX2 EB_INLINE __m256i window_shorts_equal(const uint8_t *line, const window_shorts *s,
                                                  unsigned g, __m256i wanted, __m256i known) {
    const __m256i group = window_load_halves(line, s->at + 2 * g);
    const __m256i low = window_load_lanes(s->bytes[g]), times = window_load_lanes(s->times);
    const __m256i high = _mm256_add_epi8(low, _mm256_set1_epi8(2));
    const __m256i first = _mm256_mulhi_epu16(_mm256_shuffle_epi8(group, low), times);
    const __m256i rest = _mm256_mullo_epi16(_mm256_shuffle_epi8(group, high), times);
    return _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_or_si256(first, rest), known), wanted);
}

WINDOW_AVX2 EB_INLINE uint64_t window_shorts_mask(__m256i a, __m256i b) {
    const __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), 0xD8);
    return (uint32_t)_mm256_movemask_epi8(both);
}

/* Which of the first 16 * groups slots hold these bits? */
WINDOW_AVX2 EB_INLINE uint64_t window_find_shorts(const uint8_t *line, unsigned w, uint32_t print,
                                                  uint32_t bits, unsigned groups) {
    const window_shorts *const s = &window_shorts_of[w];
    const __m256i wanted = _mm256_set1_epi16((short)(print & bits));
    const __m256i known = _mm256_set1_epi16((short)bits);
    const __m256i a = window_shorts_equal(line, s, 0, wanted, known);
    const __m256i b = window_shorts_equal(line, s, 1, wanted, known);
    const __m256i c = window_shorts_equal(line, s, 2, wanted, known);
    const __m256i d = groups < 4 ? c : window_shorts_equal(line, s, 3, wanted, known);
    return window_shorts_mask(a, b) | window_shorts_mask(c, d) << 32;
}

WINDOW_AVX2 EB_INLINE __m256i window_longs_equal(const uint8_t *line, const window_longs *s,
                                                 unsigned g, __m256i wanted, __m256i known) {
    const __m256i bytes = window_load_lanes(s->bytes[g]), shift = window_load_lanes(s->shift);
    const __m256i group = _mm256_shuffle_epi8(window_load_halves(line, s->at + 2 * g), bytes);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_srlv_epi32(group, shift), known), wanted);
}

WINDOW_AVX2 EB_INLINE uint64_t window_32_longs(const uint8_t *line, const window_longs *s,
                                               __m256i wanted, __m256i known) {
    const __m256i some = _mm256_packs_epi32(window_longs_equal(line, s, 0, wanted, known),
                                            window_longs_equal(line, s, 1, wanted, known));
    const __m256i more = _mm256_packs_epi32(window_longs_equal(line, s, 2, wanted, known),
                                            window_longs_equal(line, s, 3, wanted, known));
    const __m256i all = _mm256_packs_epi16(some, more);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    return (uint32_t)_mm256_movemask_epi8(_mm256_permutevar8x32_epi32(all, order));
}

/* The same of the first 8 * groups slots, as far as 25 bits go. */
WINDOW_AVX2 EB_INLINE uint64_t window_find_longs(const uint8_t *line, unsigned bytes, unsigned w,
                                                 uint32_t print, uint32_t bits, unsigned groups) {
    const window_longs *const s = &window_longs_of[bytes == 128][w];
    bits &= (uint32_t)ebi_ones(WINDOW_LONG_BITS);
    const __m256i wanted = _mm256_set1_epi32((int)(print & bits));
    const __m256i known = _mm256_set1_epi32((int)bits);
    uint64_t found = window_32_longs(line, s, wanted, known);
    for (unsigned g = 4; g < groups; g++) {
        const __m256i equal = window_longs_equal(line, s, g, wanted, known);
        found |= (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(equal)) << 8 * g;
    }
    return found;
}
#endif
