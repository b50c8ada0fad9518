/* bitarray.c - counts the bits that are set in part of an array. */
#include "bitarray.h"

uint64_t ebi_bits_count(const uint8_t *bits, uint64_t from, uint64_t to) {
    assert(from <= to);
    uint64_t sum = 0;
    while (from < to) { /* single bits up to a byte boundary, then whole words */
        const unsigned shift = from & 7;
        const uint64_t n = ebi_min(to - from, 64 - shift);
        const uint64_t word = ebi_load64(bits + (from >> 3)) >> shift;
        sum += ebi_popcount(word & ebi_ones((unsigned)n));
        from += n;
    }
    return sum;
}
