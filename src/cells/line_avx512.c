/* line_avx512.c - reading many counters of lines, with AVX-512, step by step for all of them, so
 * that a step waits for nothing.
 *
 * A register counts the ones in each word of a line.  As bytes, these counts of eight lines are a
 * register, and sums of bytes say in which words the counters begin. */
#include "line.h"

#if EBI_X86_64
#include <immintrin.h>

#define LINE_AVX512                                                                                \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512vpopcntdq,bmi,bmi2,popcnt")))

enum { LINE_AVX512_LANES = 8, LINE_AVX512_MANY = 64 };

typedef struct line_many {
    const uint8_t *line[LINE_AVX512_MANY];
    uint64_t ones[LINE_AVX512_MANY]; /* in the words of the line, a byte each */
    uint64_t byte[LINE_AVX512_MANY]; /* of the line, where the word begins that has one number j */
    uint64_t bit[LINE_AVX512_MANY];  /* the number of that one in the word, as pdep takes it */
    uint8_t j[LINE_AVX512_MANY];
} line_many;

/* Whole registers are read, so what is behind the last counter is 0. */
LINE_AVX512 EBI_INLINE void line_many_ones(const ebi_counter_array *c, const uint64_t *i, size_t n,
                                           line_many *m) {
    for (size_t t = 0; t < n; t++) {
        const line_place p = line_of(c, i[t]);
        const __m512i ones = _mm512_popcnt_epi64(_mm512_loadu_si512(p.line));
        m->line[t] = p.line;
        m->j[t] = (uint8_t)p.j;
        _mm_storeu_si64(&m->ones[t], _mm512_cvtepi64_epi8(ones));
    }
    for (size_t t = n; t % LINE_AVX512_LANES != 0; t++) m->ones[t] = m->j[t] = 0;
}

/* Sums of the bytes of a word up to each; 255 is that or more. */
LINE_AVX512 EBI_INLINE __m512i line_sums(__m512i bytes) {
    __m512i sums = _mm512_adds_epu8(bytes, _mm512_slli_epi64(bytes, 8));
    sums = _mm512_adds_epu8(sums, _mm512_slli_epi64(sums, 16));
    return _mm512_adds_epu8(sums, _mm512_slli_epi64(sums, 32));
}

LINE_AVX512 EBI_INLINE void line_many_words(line_many *m, size_t at) { /* of eight */
    const __m512i low_byte = _mm512_broadcast_i32x4(_mm_set_epi64x(0x0808080808080808, 0));
    const __m512i j = _mm512_cvtepu8_epi64(_mm_loadu_si64(m->j + at));
    const __m512i sums = line_sums(_mm512_loadu_si512(m->ones + at));
    const __mmask64 passed = _mm512_cmple_epu8_mask(sums, _mm512_shuffle_epi8(j, low_byte));
    const __m512i bytes = _mm512_popcnt_epi64(_mm512_movm_epi8(passed));
    const __m512i byte =
        _mm512_min_epu64(bytes, _mm512_set1_epi64(LINE_BYTES - 8)); /* if it is worn */
    const __m512i before = _mm512_srlv_epi64(_mm512_slli_epi64(sums, 8), byte);
    const __m512i rest = _mm512_sub_epi64(j, _mm512_and_si512(before, _mm512_set1_epi64(255)));
    _mm512_storeu_si512(m->byte + at, byte);
    _mm512_storeu_si512(m->bit + at, _mm512_sllv_epi64(_mm512_set1_epi64(1), rest));
}

LINE_AVX512 EBI_INLINE uint64_t line_many_value(const line_many *m, size_t t) {
    const uint8_t *const line = m->line[t];
    const uint64_t one = _pdep_u64(m->bit[t], ebi_load64(line + m->byte[t]));
    const unsigned at = 8 * (unsigned)m->byte[t] + (unsigned)_tzcnt_u64(one) + 1;
    if (line_worn(line)) return line_worn_get(line, m->j[t]);
    return line_value(line_field_at(line, m->j[t], at, true), true);
}

LINE_AVX512 void ebi_line_read_avx512(const ebi_counter_array *c, const uint64_t *i, size_t count,
                                      uint64_t *value, line_table *table) {
    assert(c->each <= UINT8_MAX);
    line_many m;
    for (size_t done = 0; done < count; done += LINE_AVX512_MANY) {
        const size_t n = ebi_min(count - done, LINE_AVX512_MANY);
        line_many_ones(c, i + done, n, &m);
        for (size_t t = 0; t < n; t += LINE_AVX512_LANES) line_many_words(&m, t);
        for (size_t t = 0; t < n; t++) {
            uint64_t *const v = &value[done + t];
            *v = line_many_value(&m, t);
            if (line_marked(m.line[t]) && *v == 0) *v = table(c, i[done + t]);
        }
    }
}
#endif
