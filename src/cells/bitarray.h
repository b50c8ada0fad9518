/* bitarray.h - single bits in an array of bytes, least significant first.  Filters of plain bits
 * (bloom, weighted, bsbf and its relatives) are made of this. */
#ifndef EBI_BITARRAY_H
#define EBI_BITARRAY_H
#include "base/bits.h"

EBI_INLINE bool ebi_bit(const uint8_t *bits, uint64_t i) {
    return (bits[i >> 3] >> (i & 7)) & 1;
}

EBI_INLINE void ebi_bit_set(uint8_t *bits, uint64_t i) {
    bits[i >> 3] = (uint8_t)(bits[i >> 3] | 1u << (i & 7));
}

EBI_INLINE void ebi_bit_clear(uint8_t *bits, uint64_t i) {
    bits[i >> 3] = (uint8_t)(bits[i >> 3] & ~(1u << (i & 7)));
}

/* How many of the 512 bits of a cache line are set.  Adds bits in fields of 2, then 4 bits, of two
 * words at once.  About as fast as popcnt, which not all machines have. */
EBI_INLINE unsigned ebi_bits_count_512(const uint8_t *line) {
    typedef uint64_t lanes __attribute__((vector_size(16)));
    const lanes ones = {UINT64_C(0x5555555555555555), UINT64_C(0x5555555555555555)};
    const lanes twos = {UINT64_C(0x3333333333333333), UINT64_C(0x3333333333333333)};
    const lanes fours = {UINT64_C(0x0F0F0F0F0F0F0F0F), UINT64_C(0x0F0F0F0F0F0F0F0F)};
    lanes bytes = {0, 0};
    for (unsigned i = 0; i < 64; i += 32) {
        lanes a, b;
        memcpy(&a, line + i, sizeof a);
        memcpy(&b, line + i + 16, sizeof b);
        a -= (a >> 1) & ones;
        b -= (b >> 1) & ones;
        a = (a & twos) + ((a >> 2) & twos) + (b & twos) + ((b >> 2) & twos);
        bytes += (a & fours) + ((a >> 4) & fours);
    }
    const uint64_t pairs = bytes[0] + bytes[1]; /* up to 64 in each byte */
    return (unsigned)(((pairs & UINT64_C(0x00FF00FF00FF00FF)) +
                       ((pairs >> 8) & UINT64_C(0x00FF00FF00FF00FF))) *
                          UINT64_C(0x0001000100010001) >>
                      48);
}

/* How many of the bits [from, to) are set.  The array must have 8 more bytes after them. */
uint64_t ebi_bits_count(const uint8_t *bits, uint64_t from, uint64_t to);
#endif
