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
