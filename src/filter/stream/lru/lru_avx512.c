/* lru_avx512.c - the loops of lines whose fingerprints are whole bytes, with AVX-512: a line is in
 * one register, and mask bits say what happens to each byte.  The bytes are the same as those of
 * lru_loops.c. */
#include "lru.h"

#if EBI_X86_64
#include <immintrin.h>
#define LRU_TARGET __attribute__((target("avx2,bmi,bmi2,avx512f,avx512bw,avx512vl,avx512vbmi")))
#define LRU_MY(name) lru_avx512_##name

typedef uint8_t lru_avx512_bytes __attribute__((vector_size(64)));

typedef struct lru_avx512_shape { /* of all lines of a filter */
    ebi_lru_fields f;             /* with one bit for each byte */
    unsigned end;                 /* of the slots */
    __m512i spread, up; /* for each byte, the byte of the print or of the line that it comes from */
} lru_avx512_shape;

LRU_TARGET EBI_INLINE void lru_avx512_shape_of(lru_avx512_shape *s, unsigned w, unsigned b) {
#define LRU_EIGHT(i) i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7
    const lru_avx512_bytes place = {LRU_EIGHT(0),  LRU_EIGHT(8),  LRU_EIGHT(16), LRU_EIGHT(24),
                                    LRU_EIGHT(32), LRU_EIGHT(40), LRU_EIGHT(48), LRU_EIGHT(56)};
#undef LRU_EIGHT
    s->f = ebi_lru_byte_fields(w);
    s->end = b * s->f.bits;
    s->spread = (__m512i)(place % (uint8_t)s->f.bits);
    s->up = (__m512i)(place - (uint8_t)s->f.bits);
}

LRU_TARGET EBI_INLINE bool lru_avx512_is_full(const uint8_t *line, const lru_avx512_shape *s) {
    return ebi_lru_bytes_are_full(line, s->end, 8 * s->f.bits);
}

LRU_TARGET EBI_INLINE __m512i lru_avx512_spread(uint64_t print, const lru_avx512_shape *s) {
    const __m128i bytes = _mm_cvtsi64_si128((long long)print);
    return _mm512_permutexvar_epi8(s->spread, _mm512_castsi128_si512(bytes));
}

/* Moves the slots up to the one that holds the print, or all of them, up by one.  The print goes to
 * the lowest of them. */
LRU_TARGET EBI_INLINE bool lru_avx512_put(uint8_t *line, uint64_t print, const lru_avx512_shape *s,
                                          const ebi_lru_place *place, bool deep, uint8_t to) {
    (void)place;
    assert(print != 0);
    const __m512i x = _mm512_loadu_si512(line), y = lru_avx512_spread(print, s);
    const uint64_t differ = _mm512_cmpneq_epi8_mask(x, y), equal = EBI_LRU_ZERO(differ, s->f);
    uint64_t moved = (equal ^ (equal - 1)) & ebi_ones(s->end), at = ebi_ones(s->f.bits);
    if (deep) {
        const uint64_t fresh = 0 - (uint64_t)(equal < 1);
        moved &= ~(fresh & ~(UINT64_MAX << to));
        at = moved & ~(moved << s->f.bits);
    }
    const __m512i up = _mm512_mask_permutexvar_epi8(x, moved, s->up, x);
    _mm512_storeu_si512(line, _mm512_mask_mov_epi8(up, at, y));
    return equal != 0;
}

LRU_TARGET EBI_INLINE bool lru_avx512_has(const uint8_t *line, uint64_t print,
                                          const lru_avx512_shape *s) {
    assert(print != 0);
    const __m512i x = _mm512_loadu_si512(line), y = lru_avx512_spread(print, s);
    const uint64_t differ = _mm512_cmpneq_epi8_mask(x, y);
    return EBI_LRU_ZERO(differ, s->f) != 0;
}
#define LRU_WIDTHS EBI_LRU_BYTE_WIDTHS
#include "lru_loops.h"

const ebi_ops *ebi_lru_avx512(const ebi_params *p) {
    if (!ebi_has_vbmi2() || p->opt[EBI_LRU_BUCKET] != EBI_LRU_LINE) return NULL;
    return lru_avx512_ops(p);
}
#undef LRU_TARGET
#else
const ebi_ops *ebi_lru_avx512(const ebi_params *p) {
    (void)p;
    return NULL;
}
#endif
