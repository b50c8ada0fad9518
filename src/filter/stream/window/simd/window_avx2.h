/* window_avx2.h - compares a fingerprint with all slots of a line of mode=elastic, with AVX2.
 *
 * Slots can have any number of bits and lines any number of slots, and both differ from line to
 * line.  To avoid branches, all lines of a filter are compared as if they had the same number of
 * slots.  Tables say for each width where to load from and which bytes go to which lane.  Loads
 * that would go beyond the line begin earlier. */
#ifndef EBI_WINDOW_AVX2_H
#define EBI_WINDOW_AVX2_H
#define WINDOW_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))
#include "filter/stream/window/window_narrow.h"

enum {
    WINDOW_AVX2_SHORTS = 16,
    WINDOW_AVX2_LONGS = 8, /* slots of a group */
    WINDOW_AVX2_SHORT_MAX = 14,
    WINDOW_AVX2_LONG_BITS = 25
};

/* Sixteen fingerprints of w <= 14 bits at once.  Each half has eight of them, which are w bytes; 16
 * bytes are loaded, from the byte before them on or, near the end of the line, from an earlier one.
 * A lane takes four bytes, as two times two.  Multiplying by a power of 2 brings the fingerprint to
 * the middle of these 32 bits. */
typedef struct window_avx2_shorts {
    uint16_t bytes[4][16], times[16];
    uint8_t at[8];
} window_avx2_shorts;

#define WINDOW_AVX2_SHORT_AT(w, last, k) (3 + (k) * (w) < (last) ? 3 + (k) * (w) : (last))
#define WINDOW_AVX2_SHORT_LANE(w, last, k, i)                                                      \
    (uint16_t)((3 + (k) * (w) + (i) * (w) / 8 - WINDOW_AVX2_SHORT_AT(w, last, k)) * 0x0101 + 0x0100)
#define WINDOW_AVX2_SHORT_TIMES(w, i) (uint16_t)(1 << (8 - (i) * (w) % 8))
#define WINDOW_AVX2_SHORT_GROUP(w, last, g)                                                        \
    {                                                                                              \
        WINDOW_EACH_8(WINDOW_AVX2_SHORT_LANE, w, last, 2 * (g)),                                   \
            WINDOW_EACH_8(WINDOW_AVX2_SHORT_LANE, w, last, 2 * (g) + 1)                            \
    }
#define WINDOW_AVX2_SHORTS_OF(w, last)                                                             \
    {                                                                                              \
        {WINDOW_AVX2_SHORT_GROUP(w, last, 0), WINDOW_AVX2_SHORT_GROUP(w, last, 1),                 \
         WINDOW_AVX2_SHORT_GROUP(w, last, 2), WINDOW_AVX2_SHORT_GROUP(w, last, 3)},                \
            {WINDOW_EACH_8(WINDOW_AVX2_SHORT_TIMES, w),                                            \
             WINDOW_EACH_8(WINDOW_AVX2_SHORT_TIMES, w)},                                           \
        {                                                                                          \
            WINDOW_EACH_8(WINDOW_AVX2_SHORT_AT, w, last)                                           \
        }                                                                                          \
    }
static const window_avx2_shorts window_avx2_shorts_of[WINDOW_AVX2_SHORT_MAX + 2] = {
    WINDOW_FOUR(WINDOW_AVX2_SHORTS_OF, 0, 48), WINDOW_FOUR(WINDOW_AVX2_SHORTS_OF, 4, 48),
    WINDOW_FOUR(WINDOW_AVX2_SHORTS_OF, 8, 48), WINDOW_FOUR(WINDOW_AVX2_SHORTS_OF, 12, 48)};

/* Eight fingerprints at once.  A shuffle brings the four bytes around each of them to its lane, and
 * a shift by 0..7 puts 25 bits of it in place. */
typedef struct window_avx2_longs {
    uint32_t bytes[8][8], shift[8];
    uint8_t at[16];
} window_avx2_longs;
#define WINDOW_AVX2_LONG_AT(w, last, k) (4 + (k) * (w) / 2 < (last) ? 4 + (k) * (w) / 2 : (last))
#define WINDOW_AVX2_LONG_FAR(w, last, k) WINDOW_AVX2_LONG_AT(w, last, (k) + 8)
#define WINDOW_AVX2_LONG_LANE(w, last, k, i)                                                       \
    (uint32_t)(4 + (4 * (k) + (i)) * (w) / 8 - WINDOW_AVX2_LONG_AT(w, last, k)) * 0x01010101u +    \
        0x03020100u
#define WINDOW_AVX2_LONG_HALF(w, last, k)                                                          \
    WINDOW_AVX2_LONG_LANE(w, last, k, 0), WINDOW_AVX2_LONG_LANE(w, last, k, 1),                    \
        WINDOW_AVX2_LONG_LANE(w, last, k, 2), WINDOW_AVX2_LONG_LANE(w, last, k, 3)
#define WINDOW_AVX2_LONG_GROUP(w, last, g)                                                         \
    { WINDOW_AVX2_LONG_HALF(w, last, 2 * (g)), WINDOW_AVX2_LONG_HALF(w, last, 2 * (g) + 1) }
#define WINDOW_AVX2_LONG_SHIFT(w, i) (i) * (w) % 8
#define WINDOW_AVX2_LONGS_OF(w, last)                                                              \
    {                                                                                              \
        {WINDOW_EACH_8(WINDOW_AVX2_LONG_GROUP, w, last)},                                          \
            {WINDOW_EACH_8(WINDOW_AVX2_LONG_SHIFT, w)}, {                                          \
            WINDOW_EACH_8(WINDOW_AVX2_LONG_AT, w, last),                                           \
                WINDOW_EACH_8(WINDOW_AVX2_LONG_FAR, w, last)                                       \
        }                                                                                          \
    }
#define WINDOW_AVX2_EACH_WIDTH(last)                                                               \
    {                                                                                              \
        WINDOW_FOUR(WINDOW_AVX2_LONGS_OF, 0, last), WINDOW_FOUR(WINDOW_AVX2_LONGS_OF, 4, last),    \
            WINDOW_FOUR(WINDOW_AVX2_LONGS_OF, 8, last),                                            \
            WINDOW_FOUR(WINDOW_AVX2_LONGS_OF, 12, last),                                           \
            WINDOW_FOUR(WINDOW_AVX2_LONGS_OF, 16, last),                                           \
            WINDOW_FOUR(WINDOW_AVX2_LONGS_OF, 20, last),                                           \
            WINDOW_FOUR(WINDOW_AVX2_LONGS_OF, 24, last),                                           \
            WINDOW_FOUR(WINDOW_AVX2_LONGS_OF, 28, last)                                            \
    }
static const window_avx2_longs window_avx2_longs_of[2][EBI_WINDOW_W_MAX + 1] = {
    WINDOW_AVX2_EACH_WIDTH(48), WINDOW_AVX2_EACH_WIDTH(112)};

WINDOW_AVX2 EBI_INLINE __m256i window_avx2_load_lanes(const void *lanes) {
    return _mm256_loadu_si256((const __m256i *)lanes);
}

WINDOW_AVX2 EBI_INLINE __m256i window_avx2_load_halves(const uint8_t *line, const uint8_t *at) {
    const __m128i low = _mm_loadu_si128((const __m128i *)(const void *)(line + at[0]));
    const __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(line + at[1]));
    return _mm256_set_m128i(high, low);
}

/* The lanes whose fingerprint equals the wanted one, as far as it is known, have all bits set. */
WINDOW_AVX2 EBI_INLINE __m256i window_avx2_shorts_equal(const uint8_t *line,
                                                        const window_avx2_shorts *s, unsigned g,
                                                        __m256i wanted, __m256i known) {
    const __m256i group = window_avx2_load_halves(line, s->at + 2 * g);
    const __m256i low = window_avx2_load_lanes(s->bytes[g]),
                  times = window_avx2_load_lanes(s->times);
    const __m256i high = _mm256_add_epi8(low, _mm256_set1_epi8(2));
    const __m256i first = _mm256_mulhi_epu16(_mm256_shuffle_epi8(group, low), times);
    const __m256i rest = _mm256_mullo_epi16(_mm256_shuffle_epi8(group, high), times);
    return _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_or_si256(first, rest), known), wanted);
}

WINDOW_AVX2 EBI_INLINE uint64_t window_avx2_shorts_mask(__m256i a, __m256i b) {
    const __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), 0xD8);
    return (uint32_t)_mm256_movemask_epi8(both);
}

/* Which of the first 16 * groups slots hold these bits. */
WINDOW_AVX2 EBI_INLINE uint64_t window_avx2_find_shorts(const uint8_t *line, unsigned w,
                                                        uint32_t print, uint32_t bits,
                                                        unsigned groups) {
    const window_avx2_shorts *const s = &window_avx2_shorts_of[w];
    const __m256i wanted = _mm256_set1_epi16((short)(print & bits));
    const __m256i known = _mm256_set1_epi16((short)bits);
    const __m256i a = window_avx2_shorts_equal(line, s, 0, wanted, known);
    const __m256i b = window_avx2_shorts_equal(line, s, 1, wanted, known);
    const __m256i c = window_avx2_shorts_equal(line, s, 2, wanted, known);
    const __m256i d = groups < 4 ? c : window_avx2_shorts_equal(line, s, 3, wanted, known);
    return window_avx2_shorts_mask(a, b) | window_avx2_shorts_mask(c, d) << 32;
}

WINDOW_AVX2 EBI_INLINE __m256i window_avx2_longs_equal(const uint8_t *line,
                                                       const window_avx2_longs *s, unsigned g,
                                                       __m256i wanted, __m256i known) {
    const __m256i bytes = window_avx2_load_lanes(s->bytes[g]),
                  shift = window_avx2_load_lanes(s->shift);
    const __m256i group = _mm256_shuffle_epi8(window_avx2_load_halves(line, s->at + 2 * g), bytes);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_srlv_epi32(group, shift), known), wanted);
}

WINDOW_AVX2 EBI_INLINE uint64_t window_avx2_32_longs(const uint8_t *line,
                                                     const window_avx2_longs *s, __m256i wanted,
                                                     __m256i known) {
    const __m256i some = _mm256_packs_epi32(window_avx2_longs_equal(line, s, 0, wanted, known),
                                            window_avx2_longs_equal(line, s, 1, wanted, known));
    const __m256i more = _mm256_packs_epi32(window_avx2_longs_equal(line, s, 2, wanted, known),
                                            window_avx2_longs_equal(line, s, 3, wanted, known));
    const __m256i all = _mm256_packs_epi16(some, more);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    return (uint32_t)_mm256_movemask_epi8(_mm256_permutevar8x32_epi32(all, order));
}

/* The same for the first 8 * groups slots, comparing 25 bits. */
WINDOW_AVX2 EBI_INLINE uint64_t window_avx2_find_longs(const uint8_t *line, unsigned bytes,
                                                       unsigned w, uint32_t print, uint32_t bits,
                                                       unsigned groups) {
    const window_avx2_longs *const s = &window_avx2_longs_of[bytes == 128][w];
    bits &= (uint32_t)ebi_ones(WINDOW_AVX2_LONG_BITS);
    const __m256i wanted = _mm256_set1_epi32((int)(print & bits));
    const __m256i known = _mm256_set1_epi32((int)bits);
    uint64_t found = window_avx2_32_longs(line, s, wanted, known);
    for (unsigned g = 4; g < groups; g++) {
        const __m256i equal = window_avx2_longs_equal(line, s, g, wanted, known);
        found |= (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(equal)) << 8 * g;
    }
    return found;
}
/* The slots of the first n entries. */
WINDOW_AVX2 EBI_INLINE uint64_t window_avx2_first(const window_narrow *l, unsigned n) {
    const uint64_t ones = _bzhi_u64(~UINT64_C(0), n);
    return _bzhi_u64(ones << l->head | ones >> (l->slots - l->head) % WINDOW_WORD, l->slots);
}

/* Which of these slots really match. */
WINDOW_AVX2 static uint64_t window_avx2_verify(const ebi_window *x, const uint8_t *line, unsigned w,
                                               unsigned wn, uint64_t partly, uint32_t print,
                                               uint64_t maybe) {
    uint64_t found = 0;
    for (; maybe; maybe &= maybe - 1) {
        const unsigned slot = (unsigned)_tzcnt_u64(maybe);
        const uint32_t differ = ebi_window_get(x, line, slot, w) ^ print;
        const bool equal = _bzhi_u32(differ, partly >> slot & 1 ? wn : w) == 0;
        found |= (uint64_t)equal << slot;
    }
    return found;
}

/* Which slots hold the fingerprint. */
WINDOW_AVX2 EBI_INLINE uint64_t window_avx2_find(const ebi_window *x, window_shape shape,
                                                 const uint8_t *line, const window_narrow *l,
                                                 uint32_t print) {
    const uint32_t bits = _bzhi_u32(~UINT32_C(0), l->wn);
    uint64_t maybe =
        shape.shorts ? window_avx2_find_shorts(line, l->w, print, bits, shape.groups)
                     : window_avx2_find_longs(line, shape.bytes, l->w, print, bits, shape.groups);
    maybe &= window_avx2_first(l, l->n);
    if (__builtin_expect(maybe != 0, false) && ((l->nn > 0) | (l->w > WINDOW_AVX2_LONG_BITS)))
        return window_avx2_verify(x, line, l->w, l->wn, window_avx2_first(l, l->nn), print, maybe);
    return maybe;
}

/* The bits from a place on, in four words of which the first begins at bit `base`. */
WINDOW_AVX2 EBI_INLINE __m256i window_avx2_bits_from(unsigned bit, unsigned base) {
    const __m256i starts =
        _mm256_add_epi64(_mm256_setr_epi64x(0, 64, 128, 192), _mm256_set1_epi64x((int64_t)base));
    const __m256i ahead = _mm256_sub_epi64(_mm256_set1_epi64x((int64_t)bit), starts);
    const __m256i places = _mm256_max_epi32(ahead, _mm256_setzero_si256()); /* < 2^31 */
    return _mm256_sllv_epi64(_mm256_set1_epi64x(-1), places);
}

/* Moves bits [from, to) of a line w places up, or down.  For each word, the two words that it is
 * made of are selected without a branch. */
WINDOW_AVX2 EBI_INLINE void window_avx2_shift(uint8_t *line, unsigned bytes, unsigned from,
                                              unsigned to, unsigned w, bool up) {
    enum { WINDOW_AVX2_PART = sizeof(__m256i) };
    const unsigned by = up ? w : 0u - w, right = up ? WINDOW_WORD - w : w;
    const __m128i down_by = _mm_cvtsi32_si128((int)right);
    const __m128i up_by = _mm_cvtsi32_si128((int)(WINDOW_WORD - right));
    const __m256i goes_up = _mm256_set1_epi64x(-(int64_t)up);
    __m256i out[4];
    for (unsigned at = 0; at < bytes; at += WINDOW_AVX2_PART) {
        const __m256i here = window_avx2_load_lanes(line + at);
        const __m256i below =
            at > 0 ? window_avx2_load_lanes(line + at - 8) : _mm256_permute4x64_epi64(here, 0x90);
        const __m256i above = at + WINDOW_AVX2_PART < bytes ? window_avx2_load_lanes(line + at + 8)
                                                            : _mm256_permute4x64_epi64(here, 0xF9);
        const __m256i low = _mm256_blendv_epi8(here, below, goes_up);
        const __m256i high = _mm256_blendv_epi8(above, here, goes_up);
        const __m256i moved =
            _mm256_or_si256(_mm256_srl_epi64(low, down_by), _mm256_sll_epi64(high, up_by));
        const __m256i mask = _mm256_andnot_si256(window_avx2_bits_from(to + by, 8 * at),
                                                 window_avx2_bits_from(from + by, 8 * at));
        const __m256i differ = _mm256_and_si256(_mm256_xor_si256(here, moved), mask);
        out[at / WINDOW_AVX2_PART] = _mm256_xor_si256(here, differ);
    }
    for (unsigned at = 0; at < bytes; at += WINDOW_AVX2_PART)
        _mm256_storeu_si256((__m256i *)(void *)(line + at), out[at / WINDOW_AVX2_PART]);
}

/* The m low bits of each lane. */
EBI_INLINE uint64_t window_avx2_in_lanes(unsigned lane, unsigned m) {
    return ebi_ones(m) * (lane == 16 ? UINT64_C(0x0001000100010001) : UINT64_C(0x0000000100000001));
}

/* Unpacks fingerprints to lanes of 16 or 32 bits, the oldest first: all slots, then the first ones
 * again, so that the ring is in one piece after its head. */
WINDOW_AVX2 EBI_INLINE void window_avx2_unpack(unsigned bytes, const uint8_t *line,
                                               const window_narrow *l, unsigned lane, uint8_t *to) {
    const uint64_t mask = window_avx2_in_lanes(lane, l->w);
    const unsigned step = 64 / lane * l->w, end = EBI_WINDOW_HEADER + l->slots * l->w;
    uint8_t *at = to;
    for (unsigned bit = EBI_WINDOW_HEADER; bit < end; bit += step, at += 8) {
        const unsigned byte = bit / 8 < bytes - 8 ? bit / 8 : bytes - 8;
        ebi_store64(at, _pdep_u64(ebi_load64(line + byte) >> (bit - 8 * byte), mask));
    }
    at = to + l->slots * lane / 8;
    for (unsigned i = 0; i < l->head; i += 64 / lane, at += 8)
        ebi_store64(at, ebi_load64(to + i * lane / 8));
    ebi_store64(to + (l->head + l->n) * lane / 8, 0);
}

WINDOW_AVX2 EBI_INLINE void window_avx2_pack(const uint8_t *from, unsigned n, unsigned lane,
                                             unsigned w, uint8_t *to) {
    const uint64_t mask = window_avx2_in_lanes(lane, w);
    const unsigned step = 64 / lane * w, end = EBI_WINDOW_HEADER + n * w;
    uint64_t begun = 0; /* the byte in which the next fingerprint continues */
    for (unsigned bit = EBI_WINDOW_HEADER; bit < end; bit += step, from += 8) {
        const unsigned byte = bit / 8, next = (bit + step) / 8;
        begun |= _pext_u64(ebi_load64(from), mask) << bit % 8;
        ebi_store64(to + byte, begun);
        begun >>= 8 * (next - byte);
    }
}

enum {
    WINDOW_AVX2_LANE_16_MAX = 14,
    WINDOW_AVX2_REPACK_MAX = 28
}; /* bits, so that 64 of them, from lanes, fit in a word */

WINDOW_AVX2 EBI_INLINE void window_avx2_repack_lanes(unsigned bytes, uint8_t *line,
                                                     const window_narrow *l, unsigned w,
                                                     unsigned lane) {
    uint8_t lanes[(2 * 64 + 2) * sizeof(uint32_t)], to[128 + 8] = {0};
    window_avx2_unpack(bytes, line, l, lane, lanes);
    window_avx2_pack(lanes + l->head * lane / 8, l->n, lane, w, to);
    memcpy(line, to, bytes);
}

/* Packs all fingerprints with another width, the oldest into slot 0. */
WINDOW_AVX2 EBI_INLINE void window_avx2_repack_prints(window_shape shape, uint8_t *line,
                                                      const window_narrow *l, unsigned w) {
    if ((l->w < w ? w : l->w) <= WINDOW_AVX2_LANE_16_MAX)
        window_avx2_repack_lanes(shape.bytes, line, l, w, 16);
    else
        window_avx2_repack_lanes(shape.bytes, line, l, w, 32);
}

EBI_INLINE bool window_avx2_can_repack(unsigned w) {
    return w <= WINDOW_AVX2_REPACK_MAX;
}

EBI_INLINE unsigned window_avx2_each(window_shape shape) { /* slots of a group */
    return shape.shorts ? WINDOW_AVX2_SHORTS : WINDOW_AVX2_LONGS;
}
#endif
