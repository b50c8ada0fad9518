/* line_avx2.c - gives a counter of a line one more digit, with AVX2.  The line is in two registers,
 * and there is no branch or loop that depends on where in the line the counter is. */
#include "line.h"

#if EBI_X86_64
#include <immintrin.h>

#define LINE_AVX2 __attribute__((target("avx2")))

typedef struct line_whole {
    __m256i low, high; /* four words each */
} line_whole;

LINE_AVX2 EBI_INLINE line_whole line_xor(line_whole a, line_whole b) {
    return (line_whole){_mm256_xor_si256(a.low, b.low), _mm256_xor_si256(a.high, b.high)};
}

/* How far a bit is ahead of the first bit of each word. */
LINE_AVX2 EBI_INLINE line_whole line_ahead(unsigned bit) {
    const __m256i all = _mm256_set1_epi64x((int64_t)bit);
    return (line_whole){_mm256_sub_epi64(all, _mm256_setr_epi64x(0, 64, 128, 192)),
                        _mm256_sub_epi64(all, _mm256_setr_epi64x(256, 320, 384, 448))};
}

/* The bits of four words from that far ahead on; less than 2^31 bits. */
LINE_AVX2 EBI_INLINE __m256i line_from(__m256i words, __m256i ahead) {
    const __m256i places = _mm256_max_epi32(ahead, _mm256_setzero_si256());
    return _mm256_and_si256(words, _mm256_sllv_epi64(_mm256_set1_epi64x(-1), places));
}

/* Keeps bits [from, to) and clears the others. */
LINE_AVX2 EBI_INLINE line_whole line_range(line_whole l, unsigned from, unsigned to) {
    const line_whole first = line_ahead(from), end = line_ahead(to);
    const line_whole rest = {line_from(l.low, first.low), line_from(l.high, first.high)};
    return line_xor(rest,
                    (line_whole){line_from(rest.low, end.low), line_from(rest.high, end.high)});
}

/* These bits, beginning at `bit`.  Shifts by 64 or more, or by less than 0, leave nothing. */
LINE_AVX2 EBI_INLINE line_whole line_bits_at(uint64_t bits, unsigned bit) {
    const __m256i all = _mm256_set1_epi64x((int64_t)bits), none = _mm256_setzero_si256();
    const line_whole ahead = line_ahead(bit);
    return (line_whole){
        _mm256_or_si256(_mm256_sllv_epi64(all, ahead.low),
                        _mm256_srlv_epi64(all, _mm256_sub_epi64(none, ahead.low))),
        _mm256_or_si256(_mm256_sllv_epi64(all, ahead.high),
                        _mm256_srlv_epi64(all, _mm256_sub_epi64(none, ahead.high)))};
}

LINE_AVX2 EBI_INLINE line_whole line_up(line_whole l) { /* by one */
    const __m256i none = _mm256_setzero_si256();
    const __m256i low = _mm256_permute4x64_epi64(_mm256_srli_epi64(l.low, 63), 0x93);
    const __m256i high = _mm256_permute4x64_epi64(_mm256_srli_epi64(l.high, 63), 0x93);
    return (line_whole){
        _mm256_or_si256(_mm256_slli_epi64(l.low, 1), _mm256_blend_epi32(low, none, 0x03)),
        _mm256_or_si256(_mm256_slli_epi64(l.high, 1), _mm256_blend_epi32(high, low, 0x03))};
}

LINE_AVX2 EBI_INLINE line_whole line_down(line_whole l, unsigned by) { /* by 1..63 */
    const __m128i within = _mm_cvtsi32_si128((int)by), over = _mm_cvtsi32_si128((int)(64 - by));
    const __m256i none = _mm256_setzero_si256();
    const __m256i low = _mm256_permute4x64_epi64(_mm256_sll_epi64(l.low, over), 0x39);
    const __m256i high = _mm256_permute4x64_epi64(_mm256_sll_epi64(l.high, over), 0x39);
    return (line_whole){
        _mm256_or_si256(_mm256_srl_epi64(l.low, within), _mm256_blend_epi32(low, high, 0xC0)),
        _mm256_or_si256(_mm256_srl_epi64(l.high, within), _mm256_blend_epi32(high, none, 0xC0))};
}

LINE_AVX2 void ebi_line_grow_avx2(uint8_t *line, const line_field *f, unsigned split,
                                  uint64_t digits) {
    assert(f->low >= f->d && f->at <= split && split <= f->low);
    __m256i *const low = (__m256i *)(void *)line, *const high = low + 1;
    const line_whole l = {_mm256_loadu_si256(low), _mm256_loadu_si256(high)};
    const line_whole lengths = line_range(l, f->at, split), others = line_range(l, split, f->low);
    line_whole grown = line_xor(l, line_bits_at(f->digits << f->d ^ digits, f->low - f->d));
    grown = line_xor(grown, line_xor(lengths, line_up(lengths)));
    grown = line_xor(grown, line_xor(others, line_down(others, f->d)));
    _mm256_storeu_si256(low, grown.low);
    _mm256_storeu_si256(high, grown.high);
}
#endif
