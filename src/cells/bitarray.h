/* bitarray.h - single bits in an array of bytes, least significant first. */
#ifndef EB_BITARRAY_H
#define EB_BITARRAY_H
#include "base/bits.h"

EB_INLINE bool ebi_bit(const uint8_t *bits, uint64_t i) {
    return (bits[i >> 3] >> (i & 7)) & 1;
}

EB_INLINE void ebi_bit_set(uint8_t *bits, uint64_t i) {
    bits[i >> 3] = (uint8_t)(bits[i >> 3] | 1u << (i & 7));
}

EB_INLINE void ebi_bit_clear(uint8_t *bits, uint64_t i) {
    bits[i >> 3] = (uint8_t)(bits[i >> 3] & ~(1u << (i & 7)));
}

/* How many of the bits [from, to) are set; 8 bytes must follow them. */
uint64_t ebi_bits_count(const uint8_t *bits, uint64_t from, uint64_t to);
#endif
