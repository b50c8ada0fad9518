/* window_vbmi.h - compares a fingerprint with all slots of a line of mode=elastic, with AVX-512 and
 * its byte permutations.
 *
 * A line is one register, or two.  Four fingerprints of up to 16 bits, or two wider ones, begin and
 * end within some eight of its bytes.  A permutation brings these to a lane of 64 bits, and shifts
 * put each fingerprint in a quarter or a half of that.  So 32 or 16 slots of any width are compared
 * at once.  Tables by width give the bytes and the shifts. */
#ifndef EBI_WINDOW_VBMI_H
#define EBI_WINDOW_VBMI_H
#define WINDOW_VBMI                                                                                \
    __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt,avx512f,avx512bw,avx512vl,avx512cd,"         \
                          "avx512vpopcntdq,avx512vbmi,avx512vbmi2")))
#include "filter/stream/window/window_narrow.h"

enum {
    WINDOW_VBMI_SHORTS = 32,
    WINDOW_VBMI_LONGS = 16, /* slots of a group */
    WINDOW_VBMI_SHORT_MAX = 16,
    WINDOW_VBMI_LONG_MAX = 30 /* bits of a slot */
};

typedef struct window_vbmi_lanes {
    uint64_t bytes[8], shifts[8]; /* of the first group; the others are whole bytes after it */
} window_vbmi_lanes;

#define WINDOW_VBMI_EACH_BYTE UINT64_C(0x0101010101010101)
#define WINDOW_VBMI_LANE_BIT(w, each, q) ((each) * (q) * (w))
#define WINDOW_VBMI_LANE_BYTES(w, each, q)                                                         \
    ((4 + WINDOW_VBMI_LANE_BIT(w, each, q) / 8) * WINDOW_VBMI_EACH_BYTE + 0x0706050403020100)
#define WINDOW_VBMI_BYTE_SHIFT(w, each, q, i)                                                      \
    (uint64_t)(WINDOW_VBMI_LANE_BIT(w, each, q) % 8 + (i) * (each) / 8 * (w) +                     \
               (i) % (8 / (each)) * 8) %                                                           \
            64                                                                                     \
        << 8 * (i)
#define WINDOW_VBMI_LANE_SHIFTS(w, each, q)                                                        \
    (WINDOW_VBMI_BYTE_SHIFT(w, each, q, 0) | WINDOW_VBMI_BYTE_SHIFT(w, each, q, 1) |               \
     WINDOW_VBMI_BYTE_SHIFT(w, each, q, 2) | WINDOW_VBMI_BYTE_SHIFT(w, each, q, 3) |               \
     WINDOW_VBMI_BYTE_SHIFT(w, each, q, 4) | WINDOW_VBMI_BYTE_SHIFT(w, each, q, 5) |               \
     WINDOW_VBMI_BYTE_SHIFT(w, each, q, 6) | WINDOW_VBMI_BYTE_SHIFT(w, each, q, 7))
#define WINDOW_VBMI_LANES_OF(w, each)                                                              \
    {                                                                                              \
        {WINDOW_EACH_8(WINDOW_VBMI_LANE_BYTES, w, each)}, {                                        \
            WINDOW_EACH_8(WINDOW_VBMI_LANE_SHIFTS, w, each)                                        \
        }                                                                                          \
    }
static const window_vbmi_lanes window_vbmi_shorts_of[WINDOW_VBMI_SHORT_MAX + 1] = {
    WINDOW_FOUR(WINDOW_VBMI_LANES_OF, 0, 4), WINDOW_FOUR(WINDOW_VBMI_LANES_OF, 4, 4),
    WINDOW_FOUR(WINDOW_VBMI_LANES_OF, 8, 4), WINDOW_FOUR(WINDOW_VBMI_LANES_OF, 12, 4),
    WINDOW_VBMI_LANES_OF(16, 4)};
static const window_vbmi_lanes window_vbmi_longs_of[WINDOW_VBMI_LONG_MAX + 2] = {
    WINDOW_FOUR(WINDOW_VBMI_LANES_OF, 0, 2),  WINDOW_FOUR(WINDOW_VBMI_LANES_OF, 4, 2),
    WINDOW_FOUR(WINDOW_VBMI_LANES_OF, 8, 2),  WINDOW_FOUR(WINDOW_VBMI_LANES_OF, 12, 2),
    WINDOW_FOUR(WINDOW_VBMI_LANES_OF, 16, 2), WINDOW_FOUR(WINDOW_VBMI_LANES_OF, 20, 2),
    WINDOW_FOUR(WINDOW_VBMI_LANES_OF, 24, 2), WINDOW_FOUR(WINDOW_VBMI_LANES_OF, 28, 2)};

static const uint16_t window_vbmi_iota_16[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                               11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                               22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
static const uint32_t window_vbmi_iota_32[] = {0, 1, 2,  3,  4,  5,  6,  7,
                                               8, 9, 10, 11, 12, 13, 14, 15};

EBI_INLINE unsigned window_vbmi_each(window_shape shape) { /* slots of a group */
    return shape.shorts ? WINDOW_VBMI_SHORTS : WINDOW_VBMI_LONGS;
}

EBI_INLINE bool window_vbmi_can_repack(unsigned w) {
    return w <= WINDOW_VBMI_LONG_MAX;
}

EBI_INLINE unsigned window_vbmi_step(window_shape shape, unsigned w) { /* bytes of a group */
    return window_vbmi_each(shape) / 8 * w;
}

WINDOW_VBMI EBI_INLINE __m512i window_vbmi_load(const void *from) {
    return _mm512_loadu_si512(from);
}

/* All fingerprints of a line, those of a group in the lanes of one register, with other bits above
 * them. */
typedef struct window_vbmi_prints {
    __m512i group[4];
} window_vbmi_prints;

WINDOW_VBMI EBI_INLINE window_vbmi_prints window_vbmi_unpack(window_shape shape,
                                                             const uint8_t *line, unsigned w) {
    const window_vbmi_lanes *const s =
        shape.shorts ? &window_vbmi_shorts_of[w] : &window_vbmi_longs_of[w];
    const __m512i low = window_vbmi_load(line), high = window_vbmi_load(line + shape.bytes - 64);
    const __m512i shifts = window_vbmi_load(s->shifts),
                  step = _mm512_set1_epi8((char)window_vbmi_step(shape, w));
    __m512i bytes = window_vbmi_load(s->bytes);
    window_vbmi_prints all;
#pragma GCC unroll 4
    for (unsigned g = 0; g < shape.groups; g++) {
        const __m512i packed = shape.bytes == 64 ? _mm512_permutexvar_epi8(bytes, low)
                                                 : _mm512_permutex2var_epi8(low, bytes, high);
        all.group[g] = _mm512_multishift_epi64_epi8(shifts, packed);
        bytes = _mm512_add_epi8(bytes, step);
    }
    return all;
}

/* The slots of a group whose fingerprints have none of these bits. */
WINDOW_VBMI EBI_INLINE uint64_t window_vbmi_without(__m512i lanes, uint32_t bits, bool shorts) {
    if (shorts) return _mm512_testn_epi16_mask(lanes, _mm512_set1_epi16((short)bits));
    return _mm512_testn_epi32_mask(lanes, _mm512_set1_epi32((int)bits));
}

/* Which slots hold these bits, of w and of fewer. */
typedef struct window_vbmi_match {
    uint64_t whole, partly;
} window_vbmi_match;

WINDOW_VBMI EBI_INLINE window_vbmi_match window_vbmi_compare(window_shape shape,
                                                             const uint8_t *line, unsigned w,
                                                             uint32_t print, uint32_t bits,
                                                             uint32_t fewer) {
    const __m512i wanted =
        shape.shorts ? _mm512_set1_epi16((short)print) : _mm512_set1_epi32((int)print);
    const window_vbmi_prints all = window_vbmi_unpack(shape, line, w);
    window_vbmi_match match = {0, 0};
#pragma GCC unroll 4
    for (unsigned g = 0; g < shape.groups; g++) {
        const __m512i differ = _mm512_xor_si512(all.group[g], wanted);
        match.whole |= window_vbmi_without(differ, bits, shape.shorts)
                       << window_vbmi_each(shape) * g;
        match.partly |= window_vbmi_without(differ, fewer, shape.shorts)
                        << window_vbmi_each(shape) * g;
    }
    return match;
}

/* Changing the width: all fingerprints go to lanes, in the order of age.  Then neighbours are
 * joined until those of a lane are whole bytes, and these are packed. */

/* The fingerprints from the i-th oldest on, and zeros after the last. */
WINDOW_VBMI EBI_INLINE __m512i window_vbmi_in_order(window_shape shape,
                                                    const window_vbmi_prints *all,
                                                    const window_narrow *l, unsigned i) {
    const uint64_t live = _bzhi_u64(~UINT64_C(0), l->n) >> i;
    const unsigned last = shape.groups - 1;
    if (shape.shorts) {
        const __m512i from = _mm512_add_epi16(_mm512_set1_epi16((short)(l->head + i)),
                                              window_vbmi_load(window_vbmi_iota_16));
        const __m512i slot =
            _mm512_min_epu16(from, _mm512_sub_epi16(from, _mm512_set1_epi16((short)l->slots)));
        return _mm512_maskz_permutex2var_epi16((__mmask32)live, all->group[0], slot,
                                               all->group[last]);
    }
    const __m512i from = _mm512_add_epi32(_mm512_set1_epi32((int)(l->head + i)),
                                          window_vbmi_load(window_vbmi_iota_32));
    const __m512i slot =
        _mm512_min_epu32(from, _mm512_sub_epi32(from, _mm512_set1_epi32((int)l->slots)));
    const __m512i first = _mm512_permutex2var_epi32(all->group[0], slot, all->group[1]);
    const __m512i others = _mm512_permutex2var_epi32(all->group[2], slot, all->group[last]);
    const __mmask16 high = _mm512_test_epi32_mask(slot, _mm512_set1_epi32(2 * WINDOW_VBMI_LONGS));
    return _mm512_maskz_mov_epi32((__mmask16)live, _mm512_mask_mov_epi32(first, high, others));
}

/* In each lane of 32, 64, 128 or 256 bits, moves the bits of the upper half down to those of the
 * lower half, which has this many. */
WINDOW_VBMI EBI_INLINE __m512i window_vbmi_join_16(__m512i x, unsigned bits) {
    const __m512i lower = _mm512_and_si512(x, _mm512_set1_epi32(0xFFFF));
    const __m512i upper = _mm512_srli_epi32(x, 16);
    return _mm512_or_si512(lower, _mm512_sll_epi32(upper, _mm_cvtsi32_si128((int)bits)));
}

WINDOW_VBMI EBI_INLINE __m512i window_vbmi_join_32(__m512i x, unsigned bits) {
    const __m512i lower = _mm512_maskz_mov_epi32(0x5555, x), upper = _mm512_srli_epi64(x, 32);
    return _mm512_or_si512(lower, _mm512_sll_epi64(upper, _mm_cvtsi32_si128((int)bits)));
}

WINDOW_VBMI EBI_INLINE __m512i window_vbmi_join_64(__m512i x, unsigned bits) {
    const __m512i upper = _mm512_unpackhi_epi64(x, x);
    const __m512i begun = _mm512_sll_epi64(upper, _mm_cvtsi32_si128((int)bits));
    return _mm512_mask_srl_epi64(_mm512_or_si512(x, begun), 0xAA, upper,
                                 _mm_cvtsi32_si128((int)(WINDOW_WORD - bits)));
}

WINDOW_VBMI EBI_INLINE __m512i window_vbmi_shifted(__m512i x,
                                                   __m512i up) { /* up, or down if below 0 */
    const __m512i down = _mm512_sub_epi64(_mm512_setzero_si512(), up);
    return _mm512_or_si512(_mm512_sllv_epi64(x, up), _mm512_srlv_epi64(x, down));
}

WINDOW_VBMI EBI_INLINE __m512i window_vbmi_join_128(__m512i x, unsigned bits) {
    const __m512i up = _mm512_add_epi64(_mm512_set1_epi64((int64_t)bits),
                                        _mm512_setr_epi64(0, -64, -64, -128, 0, -64, -64, -128));
    const __m512i up_more = _mm512_add_epi64(_mm512_set1_epi64((int64_t)bits),
                                             _mm512_setr_epi64(0, 0, -128, 0, 0, 0, -128, 0));
    const __m512i upper = window_vbmi_shifted(_mm512_permutex_epi64(x, 0xFA), up);
    const __m512i more = window_vbmi_shifted(_mm512_maskz_permutex_epi64(0x66, x, 0x2C), up_more);
    return _mm512_or_si512(_mm512_maskz_mov_epi64(0x33, x), _mm512_or_si512(upper, more));
}

/* Packs the fingerprints of a group without gaps. */
WINDOW_VBMI EBI_INLINE __m512i window_vbmi_pack(__m512i x, unsigned w, bool shorts) {
    const uint64_t bytes = _bzhi_u64(~UINT64_C(0), w);
    if (shorts) {
        x = window_vbmi_join_64(window_vbmi_join_32(window_vbmi_join_16(x, w), 2 * w), 4 * w);
        return _mm512_maskz_compress_epi8(bytes * UINT64_C(0x0001000100010001), x);
    }
    x = window_vbmi_join_128(window_vbmi_join_64(window_vbmi_join_32(x, w), 2 * w), 4 * w);
    return _mm512_maskz_compress_epi8(bytes * UINT64_C(0x0000000100000001), x);
}

WINDOW_VBMI EBI_INLINE void window_vbmi_repack_prints(window_shape shape, uint8_t *line,
                                                      const window_narrow *l, unsigned w) {
    const window_vbmi_prints all = window_vbmi_unpack(shape, line, l->w);
    uint8_t to[4 * sizeof(__m512i)] = {0}, *at = to + EBI_WINDOW_HEADER / 8;
    const uint32_t bits = _bzhi_u32(~UINT32_C(0), l->w < w ? l->w : w);
    const __m512i known =
        shape.shorts ? _mm512_set1_epi16((short)bits) : _mm512_set1_epi32((int)bits);
#pragma GCC unroll 4
    for (unsigned g = 0; g < shape.groups; g++, at += window_vbmi_step(shape, w)) {
        const __m512i prints = window_vbmi_in_order(shape, &all, l, window_vbmi_each(shape) * g);
        _mm512_storeu_si512(at, window_vbmi_pack(_mm512_and_si512(prints, known), w, shape.shorts));
    }
    memcpy(line, to, shape.bytes);
}

/* The bits from a place on, in a register that begins at bit `base`. */
WINDOW_VBMI EBI_INLINE __m512i window_vbmi_bits_from(unsigned bit, unsigned base) {
    const __m512i starts = _mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384, 448);
    const __m512i ahead = _mm512_sub_epi64(_mm512_set1_epi64((int64_t)bit - base), starts);
    const __m512i places = _mm512_max_epi64(ahead, _mm512_setzero_si512());
    return _mm512_sllv_epi64(_mm512_set1_epi64(-1), places);
}

/* Moves bits [from, to) of a line w places up, or down.  For each word, the two words that it is
 * made of are selected without a branch. */
WINDOW_VBMI EBI_INLINE void window_vbmi_shift(uint8_t *line, unsigned bytes, unsigned from,
                                              unsigned to, unsigned w, bool up) {
    enum { WINDOW_VBMI_PART = sizeof(__m512i) };
    const unsigned by = up ? w : 0u - w;
    const __m512i right = _mm512_set1_epi64(up ? WINDOW_WORD - w : w),
                  none = _mm512_setzero_si512();
    const __mmask8 goes_up = (__mmask8)(0u - up);
    __m512i out[2];
    for (unsigned at = 0; at < bytes; at += WINDOW_VBMI_PART) {
        const __m512i here = window_vbmi_load(line + at);
        const __m512i below =
            at > 0 ? window_vbmi_load(line + at - 8) : _mm512_alignr_epi64(here, none, 7);
        const __m512i above = at + WINDOW_VBMI_PART < bytes ? window_vbmi_load(line + at + 8)
                                                            : _mm512_alignr_epi64(none, here, 1);
        const __m512i low = _mm512_mask_mov_epi64(here, goes_up, below);
        const __m512i high = _mm512_mask_mov_epi64(above, goes_up, here);
        const __m512i moved = _mm512_shrdv_epi64(low, high, right);
        const __m512i mask = _mm512_andnot_si512(window_vbmi_bits_from(to + by, 8 * at),
                                                 window_vbmi_bits_from(from + by, 8 * at));
        out[at / WINDOW_VBMI_PART] = _mm512_ternarylogic_epi64(mask, moved, here, 0xCA);
    }
    for (unsigned at = 0; at < bytes; at += WINDOW_VBMI_PART)
        _mm512_storeu_si512(line + at, out[at / WINDOW_VBMI_PART]);
}
#endif
