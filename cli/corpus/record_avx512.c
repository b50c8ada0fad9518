/* record_avx512.c - strings of JSON, 64 bytes at a time, without a branch on where escapes are.
 *
 * Text has an escape every 40 bytes or so, at places that cannot be predicted.  Here they are bits
 * of masks: what an escape stands for takes the place of its letter, and the bytes that stay are
 * moved together by one instruction. */
#include "text.h"

#if defined __x86_64__
#include <immintrin.h>
#define RECORD_AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi,popcnt")))

bool record_can_avx512(void) {
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("popcnt");
}

/* Backslashes that begin an escape; others are the letter of one. */
static inline uint64_t record_begins(uint64_t backslash) {
    if (!(backslash & backslash << 1)) return backslash;
    uint64_t begins = 0;
    while (backslash) {
        const uint64_t first = backslash & (0 - backslash);
        begins |= first;
        backslash &= ~(first | first << 1);
    }
    return begins;
}

RECORD_AVX512 const char *record_blocks_avx512(const char *p, const char meant[128], char **to) {
    const __m512i low = _mm512_loadu_si512(meant), high = _mm512_loadu_si512(meant + 64);
    char *out = *to;
    for (;;) {
        const __m512i bytes = _mm512_loadu_si512(p);
        const __m512i means = _mm512_permutex2var_epi8(low, bytes, high);
        const uint64_t begins =
            record_begins(_mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\')));
        const uint64_t letters = begins << 1;
        const uint64_t wrong =
            letters & (_mm512_testn_epi8_mask(means, means) | _mm512_movepi8_mask(bytes));
        const uint64_t ends = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')) |
                              _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(' '));
        const uint64_t stops = (ends & ~letters) | wrong >> 1;
        const uint64_t before = stops ? (stops & (0 - stops)) - 1 : UINT64_MAX;
        const uint64_t keep = ~begins & before;
        const __m512i text = _mm512_mask_mov_epi8(bytes, letters, means);
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(keep, text));
        out += __builtin_popcountll(keep);
        if (stops) {
            *to = out;
            return p + __builtin_ctzll(stops);
        }
        p += TEXT_PAD - (begins >> (TEXT_PAD - 1)); /* an escape that is cut comes with the next */
    }
}
#else
bool record_can_avx512(void) {
    return false;
}

const char *record_blocks_avx512(const char *p, const char meant[128], char **to) {
    (void)meant, (void)to;
    return p;
}
#endif
