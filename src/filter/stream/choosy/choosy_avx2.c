/* choosy_avx2.c - the loops of choosy for x86 with AVX2, BMI2 and POPCNT. All places of a key are
 * looked up at once, one in each 32-bit lane.  The bytes are the same as those of the portable
 * loops. */
#include "choosy.h"

#if EBI_X86_64
#include <immintrin.h>

#define CHOOSY_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* Brings field i to lane i.  It begins at bit i of byte i and is followed by other bits. */
CHOOSY_AVX2 EBI_INLINE __m256i choosy_spread(uint64_t fields) {
    const __m256i bytes =
        _mm256_setr_epi8(0, 1, -1, -1, 1, 2, -1, -1, 2, 3, -1, -1, 3, 4, -1, -1, 4, 5, -1, -1, 5, 6,
                         -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i both = _mm256_shuffle_epi8(_mm256_set1_epi64x((long long)fields), bytes);
    return _mm256_srlv_epi32(both, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

CHOOSY_AVX2 EBI_INLINE unsigned choosy_avx2_zeros(const uint8_t *line, uint64_t fields,
                                                  unsigned n) {
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)line);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(line + 32));
    const __m256i at = choosy_spread(fields), word = _mm256_srli_epi32(at, 5); /* mod 16 */
    const __m256 from_low = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, word));
    const __m256 from_high = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, word));
    const __m256 is_high = _mm256_castsi256_ps(_mm256_slli_epi32(at, 31 - 8));
    const __m256i words = _mm256_castps_si256(_mm256_blendv_ps(from_low, from_high, is_high));
    const __m256i up = _mm256_andnot_si256(at, _mm256_set1_epi32(31)); /* 31 - bit */
    const int set = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_sllv_epi32(words, up)));
    return ebi_popcount(~(unsigned)set & (unsigned)ebi_ones(n));
}

CHOOSY_AVX2 EBI_INLINE unsigned choosy_avx2_used(const uint8_t *line) {
    unsigned used = 0;
#pragma GCC unroll 8
    for (unsigned i = 0; i < EBI_CHOOSY_BYTES; i += 8) used += ebi_popcount(ebi_load64(line + i));
    return used;
}

typedef struct choosy_bits { /* the bits of a line */
    __m256i low, high;
} choosy_bits;

CHOOSY_AVX2 EBI_INLINE choosy_bits choosy_load(const uint8_t *line) {
    return (choosy_bits){_mm256_loadu_si256((const __m256i *)(const void *)line),
                         _mm256_loadu_si256((const __m256i *)(const void *)(line + 32))};
}

CHOOSY_AVX2 EBI_INLINE void choosy_store_or(uint8_t *line, choosy_bits a, choosy_bits b) {
    _mm256_storeu_si256((__m256i *)(void *)line, _mm256_or_si256(a.low, b.low));
    _mm256_storeu_si256((__m256i *)(void *)(line + 32), _mm256_or_si256(a.high, b.high));
}

/* One bit of the half line that begins at bit `first`.  Shifts by 32 or more, or by less than 0,
 * leave no bit in a word. */
CHOOSY_AVX2 EBI_INLINE __m256i choosy_bit(__m256i place, int first) {
    const __m256i words = _mm256_add_epi32(_mm256_setr_epi32(0, 32, 64, 96, 128, 160, 192, 224),
                                           _mm256_set1_epi32(first));
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_sub_epi32(place, words));
}

CHOOSY_AVX2 EBI_INLINE choosy_bits choosy_places(uint64_t fields, unsigned n) {
    const __m256i at =
        _mm256_and_si256(choosy_spread(fields), _mm256_set1_epi32(EBI_CHOOSY_BITS - 1));
    choosy_bits bits = {_mm256_setzero_si256(), _mm256_setzero_si256()};
#pragma GCC unroll 6
    for (unsigned i = 0; i < n; i++) {
        const __m256i place = _mm256_permutevar8x32_epi32(at, _mm256_set1_epi32((int)i));
        bits.low = _mm256_or_si256(bits.low, choosy_bit(place, 0));
        bits.high = _mm256_or_si256(bits.high, choosy_bit(place, EBI_CHOOSY_BITS / 2));
    }
    return bits;
}

CHOOSY_AVX2 EBI_INLINE void choosy_avx2_set(uint8_t *line, uint64_t fields, unsigned n,
                                            uint64_t take) {
    const __m256i wanted = _mm256_set1_epi64x(-(long long)take);
    choosy_bits bits = choosy_places(fields, n);
    bits.low = _mm256_and_si256(bits.low, wanted);
    bits.high = _mm256_and_si256(bits.high, wanted);
    choosy_store_or(line, choosy_load(line), bits);
}

CHOOSY_AVX2 EBI_INLINE bool choosy_avx2_put(uint8_t *line, uint64_t fields, unsigned n) {
    const choosy_bits bits = choosy_places(fields, n), before = choosy_load(line);
    choosy_store_or(line, before, bits);
    return _mm256_testc_si256(before.low, bits.low) & _mm256_testc_si256(before.high, bits.high);
}

EBI_INLINE unsigned choosy_avx2_k(const ebi_params *p) {
    return ebi_choosy_k(p);
}

CHOOSY_AVX2 EBI_INLINE void choosy_avx2_add(const ebi_params *p, uint8_t *block, const ebi_batch *b,
                                            uint8_t *seen, unsigned k, bool far) {
    const ebi_choosy_code code = {choosy_avx2_zeros, choosy_avx2_used, choosy_avx2_set,
                                  choosy_avx2_put};
    ebi_choosy_add(p, block, b, seen, k, far, code);
}

CHOOSY_AVX2 EBI_INLINE void choosy_avx2_test(const ebi_params *p, const uint8_t *block,
                                             const eb_hash *h, size_t n, uint8_t *seen, unsigned k,
                                             bool far) {
    const ebi_choosy_code code = {.zeros = choosy_avx2_zeros};
    ebi_choosy_test(p, block, h, n, seen, k, far, code);
}

EBI_LOOPS_FOR(CHOOSY_AVX2, choosy_avx2)

const ebi_ops *ebi_choosy_avx2(const ebi_params *p) {
    return ebi_has_avx2() && ebi_has_bmi2() ? choosy_avx2_loops(p) : NULL;
}
#else
const ebi_ops *ebi_choosy_avx2(const ebi_params *p) {
    (void)p;
    return NULL;
}
#endif
