/* bits.h - bit operations, and the compiler builtins behind them. */
#ifndef EBI_BITS_H
#define EBI_BITS_H
#include "os.h"

#define EBI_INLINE static inline __attribute__((always_inline))

EBI_INLINE unsigned ebi_popcount(uint64_t x) {
    return (unsigned)__builtin_popcountll(x);
}

EBI_INLINE unsigned ebi_ctz(uint64_t x) { /* x != 0 */
    assert(x != 0);
    return (unsigned)__builtin_ctzll(x);
}

EBI_INLINE unsigned ebi_log2(uint64_t x) { /* floor; x != 0 */
    assert(x != 0);
    return 63 - (unsigned)__builtin_clzll(x);
}

EBI_INLINE uint64_t ebi_ones(unsigned n) { /* the n lowest bits set, n = 0..64 */
    assert(n <= 64);
    return n == 0 ? 0 : ~UINT64_C(0) >> (64 - n);
}

/* High half of a 64 x 64 bit product.  Where sizes have 32 bits, compilers make a call of one, and
 * it is put together from products of halves; eb_scale is faster there if y has 32 bits. */
EBI_INLINE uint64_t ebi_high_half(uint64_t x, uint64_t y) {
    __extension__ typedef unsigned __int128 ebi_u128;
    if (sizeof(size_t) >= sizeof x) return (uint64_t)(((ebi_u128)x * y) >> 64);
    const uint64_t low = x & UINT32_MAX, high = x >> 32, y_low = y & UINT32_MAX, y_high = y >> 32;
    const uint64_t middle = high * y_low + (low * y_low >> 32);
    const uint64_t other = low * y_high + (middle & UINT32_MAX);
    return high * y_high + (middle >> 32) + (other >> 32);
}

/* Whether all n bytes are 0. */
EBI_INLINE bool ebi_is_zero(const void *bytes, uint64_t n) {
    const uint8_t *const p = bytes;
    while (n > 0 && p[n - 1] == 0) n--;
    return n == 0;
}

/* Prefetches into the second level of cache, from where a load takes only a few cycles.  The first
 * level can wait for fewer lines at once, and a core that asks it for one more stalls. */
EBI_INLINE void ebi_prefetch_read(const void *p) {
    __builtin_prefetch(p, 0, 2);
}

/* The same for a line that will be written.  The arguments are not (p, 1, 2), because compilers may
 * turn that into prefetchw, which loads into the first level. */
EBI_INLINE void ebi_prefetch_write(const void *p) {
    __builtin_prefetch(p, 0, 2);
}
#endif
