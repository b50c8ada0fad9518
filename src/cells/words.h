/* words.h - operations on arrays of 64-bit words, where bit i is bit i % 64 of word i / 64: finding
 * the n-th one (select), taking low bits, and moving ranges of bits. */
#ifndef EBI_WORDS_H
#define EBI_WORDS_H
#include "base/bits.h"

/* Functions with this attribute may be called only where ebi_has_bmi2(). */
#if EBI_X86_64
#define EBI_BMI2 __attribute__((target("popcnt,bmi,bmi2")))
#else
#define EBI_BMI2
#endif

EBI_INLINE unsigned ebi_select_portable(uint64_t word, unsigned r) {
    const uint64_t low = UINT64_C(0x0101010101010101), high = low << 7;
    uint64_t sums = word - ((word >> 1) & UINT64_C(0x5555555555555555));
    sums = (sums & UINT64_C(0x3333333333333333)) + ((sums >> 2) & UINT64_C(0x3333333333333333));
    sums =
        ((sums + (sums >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f)) * low; /* of the bytes up to here */
    const uint64_t passed = (((r * low) | high) - sums) & high;
    const unsigned byte = (unsigned)(((passed >> 7) * low) >> 56);
    r -= (unsigned)((sums << 8 >> (8 * byte)) & 255);
    uint64_t bits = word >> (8 * byte);
    for (; r > 0; r--) bits &= bits - 1;
    return 8 * byte + ebi_ctz(bits);
}

/* The place of one number r, counted from 0, of a word that has more than r ones. */
EBI_INLINE unsigned ebi_select(uint64_t word, unsigned r, bool bmi2) {
    assert(r < ebi_popcount(word));
#if EBI_X86_64
    if (bmi2) { /* an intrinsic would need a compiler option that the portable functions do not have
                 */
        uint64_t bit;
        __asm__("pdep %2, %1, %0" : "=r"(bit) : "r"(UINT64_C(1) << r), "r"(word));
        return ebi_ctz(bit);
    }
#endif
    (void)bmi2;
    return ebi_select_portable(word, r);
}

EBI_INLINE uint64_t ebi_low_bits(uint64_t word, unsigned bits, bool bmi2) { /* bits < 64 */
    assert(bits < 64);
#if EBI_X86_64
    if (bmi2) {
        uint64_t low;
        __asm__("bzhi %2, %1, %0" : "=r"(low) : "rm"(word), "r"((uint64_t)bits) : "cc");
        return low;
    }
#endif
    (void)bmi2;
    return word & ((UINT64_C(1) << bits) - 1);
}

/* Moves bits [from, to), at least one, up by 1..63.  Zeros take their place. */
EBI_INLINE void ebi_bits_up(uint64_t *w, unsigned from, unsigned to, unsigned by) {
    assert(from < to && by >= 1 && by < 64);
    const unsigned first = from / 64, last = (to - 1 + by) / 64;
    const uint64_t below = ebi_ones(from % 64), upto = ebi_ones(to + by - 64 * last);
    const uint64_t low = w[first] & below, high = w[last] & ~upto;
    w[first] ^= low;
    for (unsigned k = last; k > first; k--) w[k] = w[k] << by | w[k - 1] >> (64 - by);
    w[first] = w[first] << by | low;
    w[last] = (w[last] & upto) | high;
}

/* The same, downwards. */
EBI_INLINE void ebi_bits_down(uint64_t *w, unsigned from, unsigned to, unsigned by) {
    assert(from < to && by >= 1 && by < 64 && by <= from);
    const unsigned first = (from - by) / 64, last = (to - 1) / 64;
    const uint64_t below = ebi_ones((from - by) % 64), upto = ebi_ones(to - 64 * last);
    const uint64_t low = w[first] & below, high = w[last] & ~upto;
    w[last] ^= high;
    for (unsigned k = first; k < last; k++) w[k] = w[k] >> by | w[k + 1] << (64 - by);
    w[last] = w[last] >> by | high;
    w[first] = (w[first] & ~below) | low;
}
#endif
