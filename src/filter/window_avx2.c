/* window_avx2.c - the loops of mode=elastic with AVX2: eight fingerprints are compared at once. The
 * bytes are those of the portable loops.
 *
 * Eight slots of w bits are w bytes, so each group of eight begins on a byte.  A shuffle brings
 * four bytes with each fingerprint into its lane, a shift by 0..7 puts it in place: 25 bits of it,
 * which is all of it but for the widest; those are compared again. */
#include "window_line.h"

#if defined __x86_64__
#include <immintrin.h>

#define WINDOW_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))
enum { LANES = 8, LANE_BITS = 25 };

/* For one width: the bytes of each lane, from the start of its half of the group, and its shift. */
typedef struct window_lanes {
    __m256i bytes, shift;
} window_lanes;

WINDOW_AVX2 EB_INLINE window_lanes window_lanes_of(unsigned w) {
    const __m256i slot = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i half = _mm256_setr_epi32(0, 0, 0, 0, 8, 8, 8, 8);
    const __m256i bit = _mm256_sub_epi32(_mm256_mullo_epi32(slot, _mm256_set1_epi32((int)w)),
                                         _mm256_mullo_epi32(half, _mm256_set1_epi32((int)(w / 2))));
    const __m256i byte =
        _mm256_mullo_epi32(_mm256_srli_epi32(bit, 3), _mm256_set1_epi32(0x01010101));
    return (window_lanes){_mm256_add_epi32(byte, _mm256_set1_epi32(0x03020100)),
                          _mm256_and_si256(bit, _mm256_set1_epi32(7))};
}

/* A load near the end of the line begins earlier, and its lanes take later bytes. */
WINDOW_AVX2 EB_INLINE __m128i window_load(const uint8_t *line, unsigned at, unsigned last,
                                          unsigned *late) {
    *late = at > last ? at - last : 0;
    return _mm_loadu_si128((const __m128i *)(const void *)(line + at - *late));
}

/* Eight fingerprints from byte `at` on, each in the low bits of a lane. */
WINDOW_AVX2 EB_INLINE __m256i window_group(const ebi_window *x, const uint8_t *line, unsigned at,
                                           unsigned w, window_lanes lanes) {
    const unsigned last = x->bytes - 16;
    unsigned low_late, high_late;
    const __m128i low = window_load(line, at, last, &low_late);
    const __m128i high = window_load(line, at + w / 2, last, &high_late);
    if (high_late > 0)
        lanes.bytes = _mm256_add_epi8(lanes.bytes, _mm256_set_m128i(_mm_set1_epi8((char)high_late),
                                                                    _mm_set1_epi8((char)low_late)));
    return _mm256_srlv_epi32(_mm256_shuffle_epi8(_mm256_set_m128i(high, low), lanes.bytes),
                             lanes.shift);
}

WINDOW_AVX2 EB_INLINE unsigned window_zeros(__m256i lanes, __m256i mask) {
    const __m256i zero = _mm256_cmpeq_epi32(_mm256_and_si256(lanes, mask), _mm256_setzero_si256());
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(zero));
}

WINDOW_AVX2 EB_INLINE __m256i window_mask(unsigned bits) {
    return _mm256_set1_epi32((int)ebi_ones(bits < LANE_BITS ? bits : LANE_BITS));
}

/* Of fingerprints that are equal in 25 bits, those that are equal in all. */
WINDOW_AVX2 static ebi_wide window_verify(const ebi_window *x, const uint8_t *line,
                                          const ebi_window_line *l, uint32_t print,
                                          ebi_wide found) {
    const ebi_wide partly = ebi_window_first(l, l->nn);
    for (unsigned slot = 0; slot < l->slots; slot++) {
        if (!(found >> slot & 1)) continue;
        const uint32_t differ = ebi_window_get(x, line, slot, l->w) ^ print;
        if (differ & ebi_ones(partly >> slot & 1 ? l->wn : l->w)) found &= ~((ebi_wide)1 << slot);
    }
    return found;
}

WINDOW_AVX2 EB_INLINE ebi_wide window_find(const ebi_window *x, const uint8_t *line,
                                           const ebi_window_line *l, uint32_t print) {
    const window_lanes lanes = window_lanes_of(l->w);
    const __m256i wanted = _mm256_set1_epi32((int)print);
    const __m256i all = window_mask(l->w), known = window_mask(l->wn);
    ebi_wide equal = 0, partly = 0;
    for (unsigned slot = 0, at = EBI_WINDOW_HEADER / 8; slot < l->slots;
         slot += LANES, at += l->w) {
        const __m256i differ = _mm256_xor_si256(window_group(x, line, at, l->w, lanes), wanted);
        equal |= (ebi_wide)window_zeros(differ, all) << slot;
        partly |= (ebi_wide)window_zeros(differ, known) << slot;
    }
    const ebi_wide found =
        (equal | (partly & ebi_window_first(l, l->nn))) & ebi_window_first(l, l->n);
    return found && l->w > LANE_BITS ? window_verify(x, line, l, print, found) : found;
}

WINDOW_AVX2 static void window_avx2_add(const eb_params *p, uint8_t *block, const eb_batch *b,
                                        uint8_t *seen) {
    ebi_window_add(p, block, b, seen, window_find);
}

WINDOW_AVX2 static void window_avx2_test(const eb_params *p, const uint8_t *block, const eb_hash *h,
                                         size_t n, uint8_t *seen) {
    ebi_window_test(p, block, h, n, seen, window_find);
}

const eb_ops *ebi_window_avx2(void) {
    static const eb_ops ops = {.add = window_avx2_add, .test = window_avx2_test};
    return ebi_has_avx2() && ebi_has_bmi2() ? &ops : NULL;
}
#else
const eb_ops *ebi_window_avx2(void) {
    return NULL;
}
#endif
