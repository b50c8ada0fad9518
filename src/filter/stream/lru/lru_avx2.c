/* lru_avx2.c - the loops of bucket=line with AVX2: a line is two registers. */
#include "lru.h"

#if EBI_X86_64
#include <immintrin.h>
#define LRU_TARGET __attribute__((target("avx2")))
#define LRU_MY(name) lru_avx2_##name

LRU_TARGET EBI_INLINE bool lru_avx2_gate(const ebi_lru_plane *equal, ebi_lru_plane *gate) {
    enum { LRU_AVX2_NONE = 15 };
#define LRU_UPTO(n)                                                                                \
    { -1, -(n > 1), -(n > 2), -(n > 3) }
    static const int64_t words[16][4] = {LRU_UPTO(1), LRU_UPTO(2), LRU_UPTO(1), LRU_UPTO(3),
                                         LRU_UPTO(1), LRU_UPTO(2), LRU_UPTO(1), LRU_UPTO(4),
                                         LRU_UPTO(1), LRU_UPTO(2), LRU_UPTO(1), LRU_UPTO(3),
                                         LRU_UPTO(1), LRU_UPTO(2), LRU_UPTO(1), LRU_UPTO(4)};
#undef LRU_UPTO
    const __m256i none = _mm256_cmpeq_epi64((__m256i)*equal, _mm256_setzero_si256());
    const unsigned misses = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(none));
    *gate = *(const ebi_lru_bytes *)(const void *)words[misses];
    return misses != LRU_AVX2_NONE;
}

LRU_TARGET EBI_INLINE void lru_avx2_below(const ebi_lru_plane *x, const ebi_lru_plane *print,
                                          ebi_lru_plane *below) {
    *below = __builtin_shufflevector(*print, *x, 0, 4, 5, 6);
}

#define LRU_LANES

/* What spread() made for these is the print in each lane, too. */
LRU_TARGET EBI_INLINE bool lru_avx2_lanes_upto(const ebi_lru_plane *differ, unsigned lane,
                                               unsigned slots, ebi_lru_plane *moved) {
    assert((lane == 1 || lane == 2) && slots * lane <= 32);
    static const int64_t ones_then_zeros[8] = {-1, -1, -1, -1};
    const __m256i zero = _mm256_setzero_si256();
    const __m256i equal = lane == 1 ? _mm256_cmpeq_epi8((__m256i)*differ, zero)
                                    : _mm256_cmpeq_epi16((__m256i)*differ, zero);
    const uint32_t hits = (uint32_t)_mm256_movemask_epi8(equal);
    const unsigned last = ebi_ctz(hits | UINT32_C(1) << (slots - 1) * lane);
    const uint8_t *const ones = (const uint8_t *)ones_then_zeros + 32 - (last + lane);
    *moved = *(const ebi_lru_bytes *)(const void *)ones;
    return hits != 0;
}

LRU_TARGET EBI_INLINE void lru_avx2_lanes_up(const ebi_lru_plane *x, const ebi_lru_plane *print,
                                             unsigned lane, ebi_lru_plane *up) {
    const __m256i a = (__m256i)*x, below = _mm256_permute2x128_si256((__m256i)*print, a, 0x21);
    *up = (ebi_lru_plane)(lane == 1 ? _mm256_alignr_epi8(a, below, 15)
                                    : _mm256_alignr_epi8(a, below, 14));
}
#include "lru_loops.h"

const ebi_ops *ebi_lru_avx2(const ebi_params *p) {
    if (!ebi_has_avx2() || p->opt[EBI_LRU_BUCKET] != EBI_LRU_LINE) return NULL;
    return lru_avx2_ops(p);
}
#else
const ebi_ops *ebi_lru_avx2(const ebi_params *p) {
    (void)p;
    return NULL;
}
#endif
