/* lru_avx2.c - the loops of bucket=line with AVX2: a line is in two registers.  The bytes are the
 * same as those of lru_loops.c. */
#include "lru.h"

#if EBI_X86_64
#include <immintrin.h>
#define LRU_TARGET __attribute__((target("avx2,bmi,bmi2")))
#define LRU_MY(name) lru_avx2_planes_##name

LRU_TARGET EBI_INLINE bool lru_avx2_planes_gate(const ebi_lru_plane *equal, ebi_lru_plane *gate) {
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

LRU_TARGET EBI_INLINE void lru_avx2_planes_below(const ebi_lru_plane *x, const ebi_lru_plane *print,
                                                 ebi_lru_plane *below) {
    *below = __builtin_shufflevector(*print, *x, 0, 4, 5, 6);
}

#include "lru_planes.h"
#define LRU_WIDTHS EBI_LRU_HALVED_WIDTHS
#include "lru_loops.h"

/* Whole bytes */

#define LRU_MY(name) lru_avx2_bytes_##name
#define LRU_VECTOR 32
typedef uint8_t lru_avx2_bytes_vector __attribute__((vector_size(LRU_VECTOR)));
typedef struct lru_avx2_bytes_line {
    lru_avx2_bytes_vector v[2];
} lru_avx2_bytes_line;

LRU_TARGET EBI_INLINE void lru_avx2_bytes_spread(lru_avx2_bytes_line *to, uint64_t print,
                                                 unsigned size) {
    const __m256i y = _mm256_set1_epi32((int)(uint32_t)(size == 2 ? print * 0x10001 : print));
    to->v[0] = to->v[1] = (lru_avx2_bytes_vector)y;
    if (size != 3) return;
#define LRU_FOUR(i) (i) % 3, ((i) + 1) % 3, ((i) + 2) % 3, (i) % 3
#define LRU_LANE(i) LRU_FOUR(i), LRU_FOUR((i) + 4), LRU_FOUR((i) + 8), LRU_FOUR((i) + 12)
    const __m256i low = _mm256_setr_epi8(LRU_LANE(0), LRU_LANE(16));
    const __m256i high = _mm256_setr_epi8(LRU_LANE(32), LRU_LANE(48));
#undef LRU_LANE
#undef LRU_FOUR
    to->v[0] = (lru_avx2_bytes_vector)_mm256_shuffle_epi8(y, low);
    to->v[1] = (lru_avx2_bytes_vector)_mm256_shuffle_epi8(y, high);
}

LRU_TARGET EBI_INLINE uint64_t lru_avx2_bytes_differ(const lru_avx2_bytes_line *x,
                                                     const lru_avx2_bytes_line *y) {
    const __m256i low = _mm256_cmpeq_epi8((__m256i)x->v[0], (__m256i)y->v[0]);
    const __m256i high = _mm256_cmpeq_epi8((__m256i)x->v[1], (__m256i)y->v[1]);
    return ~((uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32 |
             (uint32_t)_mm256_movemask_epi8(low));
}

/* The last bytes of a print end where a third lane ends, whatever its size. */
LRU_TARGET EBI_INLINE lru_avx2_bytes_vector lru_avx2_bytes_first_up(const lru_avx2_bytes_line *x,
                                                                    const lru_avx2_bytes_line *y,
                                                                    unsigned size) {
    const __m256i a = (__m256i)x->v[0];
    const __m256i below = _mm256_permute2x128_si256((__m256i)y->v[1], a, 0x20);
    return (lru_avx2_bytes_vector)(size == 2   ? _mm256_alignr_epi8(a, below, 14)
                                   : size == 3 ? _mm256_alignr_epi8(a, below, 13)
                                               : _mm256_alignr_epi8(a, below, 12));
}

LRU_TARGET EBI_INLINE lru_avx2_bytes_vector lru_avx2_bytes_blend(lru_avx2_bytes_vector a,
                                                                 lru_avx2_bytes_vector b,
                                                                 lru_avx2_bytes_vector mask) {
    return (lru_avx2_bytes_vector)_mm256_blendv_epi8((__m256i)a, (__m256i)b, (__m256i)mask);
}
#define LRU_REGISTERS(X) X(0) X(1)
#include "lru_bytes.h"
#define LRU_WIDTHS EBI_LRU_BYTE_WIDTHS
#include "lru_loops.h"

const ebi_ops *ebi_lru_avx2(const ebi_params *p) {
    if (!ebi_has_avx2() || !ebi_has_bmi2() || p->opt[EBI_LRU_BUCKET] != EBI_LRU_LINE) return NULL;
    const ebi_ops *const bytes = lru_avx2_bytes_ops(p);
    return bytes ? bytes : lru_avx2_planes_ops(p);
}
#undef LRU_TARGET
#else
const ebi_ops *ebi_lru_avx2(const ebi_params *p) {
    (void)p;
    return NULL;
}
#endif
