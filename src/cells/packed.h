/* packed.h - arrays of cells of `width` bits, 1..16, without gaps between them: cell i is the bits
 * [i*width, (i+1)*width) of the array, least significant first.  Cells are read with unaligned
 * loads of up to 8 bytes, so the array must have 8 more bytes after its end. */
#ifndef EBI_PACKED_H
#define EBI_PACKED_H
#include "base/bits.h"

/* Loads the fewest bytes that can hold a cell.  So an access seldom crosses into a line that was
 * not prefetched. */
EBI_INLINE uint32_t ebi_cell_load(const uint8_t *p, unsigned width) {
    uint32_t four;
    uint16_t two;
    if (width <= 8) {
        memcpy(&two, p, sizeof two);
        return two;
    }
    memcpy(&four, p, sizeof four);
    return four;
}

EBI_INLINE void ebi_cell_store(uint8_t *p, unsigned width, uint32_t bits) {
    const uint16_t two = (uint16_t)bits;
    if (width <= 8)
        memcpy(p, &two, sizeof two);
    else
        memcpy(p, &bits, sizeof bits);
}

EBI_INLINE uint64_t ebi_cell_get(const uint8_t *cells, unsigned width, uint64_t i) {
    assert(width >= 1 && width <= 16);
    const uint64_t bit = i * width;
    return (ebi_cell_load(cells + (bit >> 3), width) >> (bit & 7)) & (uint32_t)ebi_ones(width);
}

EBI_INLINE void ebi_cell_set(uint8_t *cells, unsigned width, uint64_t i, uint64_t value) {
    assert(width >= 1 && width <= 16 && value <= ebi_ones(width));
    const uint64_t bit = i * width;
    uint8_t *const p = cells + (bit >> 3);
    const unsigned shift = bit & 7;
    const uint32_t others = ebi_cell_load(p, width) & ~((uint32_t)ebi_ones(width) << shift);
    ebi_cell_store(p, width, others | (uint32_t)value << shift);
}

/* Several cells in one 64-bit word, the first at bit 0: as many as are complete after an unaligned
 * load. */
typedef struct ebi_lane_set {
    unsigned width, each;
    uint64_t ones; /* the lowest bit of each */
} ebi_lane_set;

EBI_INLINE ebi_lane_set ebi_lanes(unsigned width) {
    assert(width >= 1 && width <= 16);
    ebi_lane_set l = {width, 57 / width, 0};
    for (unsigned i = 0; i < l.each; i++) l.ones |= UINT64_C(1) << (i * width);
    return l;
}

/* Marks each cell of x that is not zero with a 1 in its lowest bit. x holds cells whose lowest bits
 * are `ones`, and nothing above them. */
EBI_INLINE uint64_t ebi_cells_nonzero(uint64_t x, uint64_t ones, unsigned width) {
    const uint64_t high = ones << (width - 1);
    const uint64_t low = high - ones; /* all bits of each cell but the top one */
    return ((((x & low) + low) | x) & high) >> (width - 1);
}

/* Subtracts 1 from each of n consecutive cells that is not zero. */
EBI_INLINE void ebi_cells_fade(uint8_t *cells, ebi_lane_set l, uint64_t first, uint64_t n) {
    for (uint64_t bit = first * l.width; n > 0; bit += (uint64_t)l.each * l.width) {
        const unsigned now = n < l.each ? (unsigned)n : l.each;
        const uint64_t mask = ebi_ones(now * l.width);
        uint8_t *const p = cells + (bit >> 3);
        const uint64_t word = ebi_load64(p);
        const uint64_t x = (word >> (bit & 7)) & mask;
        ebi_store64(p, word - (ebi_cells_nonzero(x, l.ones & mask, l.width) << (bit & 7)));
        n -= now;
    }
}

/* How many of the first n cells are not zero. */
uint64_t ebi_cells_used(const uint8_t *cells, unsigned width, uint64_t n);

/* Whether all bits from `bits` to the end of an array of `bytes` are zero. */
bool ebi_tail_is_zero(const uint8_t *cells, uint64_t bits, uint64_t bytes);
#endif
