/* bits.h - bit tricks and the compiler builtins behind them. */
#ifndef EB_BITS_H
#define EB_BITS_H
#include "base.h"

#define EB_INLINE static inline __attribute__((always_inline))

EB_INLINE unsigned ebi_popcount(uint64_t x) {
    return (unsigned)__builtin_popcountll(x);
}

EB_INLINE unsigned ebi_ctz(uint64_t x) { /* x != 0 */
    return (unsigned)__builtin_ctzll(x);
}

EB_INLINE unsigned ebi_log2(uint64_t x) { /* floor; x != 0 */
    return 63 - (unsigned)__builtin_clzll(x);
}

EB_INLINE uint64_t ebi_ones(unsigned n) { /* n low bits, n = 0..64 */
    return n == 0 ? 0 : ~UINT64_C(0) >> (64 - n);
}

/* Into the second level of cache, from where a load takes a few cycles that other work hides.  The
 * first level has room for fewer lines on their way, and a core that asks it for one more waits. */
EB_INLINE void ebi_prefetch_read(const void *p) {
    __builtin_prefetch(p, 0, 2);
}

EB_INLINE void ebi_prefetch_write(const void *p) {
    __builtin_prefetch(p, 1, 2);
}

EB_INLINE bool ebi_has_avx2(void) { /* this machine, at run time */
#if defined __x86_64__
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

EB_INLINE bool ebi_has_vbmi2(void) { /* AVX-512 with all that comes with its byte permutations */
#if defined __x86_64__
    return __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq");
#else
    return false;
#endif
}

EB_INLINE bool ebi_has_bmi2(void) { /* with what comes with it: BMI and popcnt */
#if defined __x86_64__
    return __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("popcnt");
#else
    return false;
#endif
}
#endif
