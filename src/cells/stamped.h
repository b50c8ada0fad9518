/* stamped.h - counters in lines of 64 bytes, each line with the number of the era
 * in which it was last brought up to date:
 *
 *     | stamp, 4 bytes | 60 cells of 8 bits, or 30 of 16, or 15 of 32 |
 *
 * A cell is named by its place: 128 times its line plus its slot there. */
#ifndef EBI_STAMPED_H
#define EBI_STAMPED_H
#include "base/bits.h"

enum { EBI_LINE = 64, EBI_LINE_STAMP = 4, EBI_SLOT_BITS = 7 };

EBI_INLINE uint64_t ebi_place_line(uint64_t place) {
    return place >> EBI_SLOT_BITS;
}

EBI_INLINE unsigned ebi_place_slot(uint64_t place) {
    return (unsigned)(place & ebi_ones(EBI_SLOT_BITS));
}

EBI_INLINE unsigned ebi_line_cells(unsigned width) { /* 8, 16 or 32 bits */
    assert(width == 8 || width == 16 || width == 32);
    return (EBI_LINE - EBI_LINE_STAMP) * 8 / width;
}

EBI_INLINE uint32_t ebi_load32(const void *p) {
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

EBI_INLINE void ebi_store32(void *p, uint32_t word) {
    memcpy(p, &word, sizeof word);
}

EBI_INLINE uint64_t ebi_place_byte(unsigned width, uint64_t place) {
    assert(ebi_place_slot(place) < ebi_line_cells(width));
    return ebi_place_line(place) * EBI_LINE + EBI_LINE_STAMP + ebi_place_slot(place) * (width / 8);
}

EBI_INLINE uint32_t ebi_place_get(const uint8_t *lines, unsigned width, uint64_t place) {
    const uint8_t *const p = lines + ebi_place_byte(width, place);
    uint16_t half;
    if (width == 8) return *p;
    if (width == 32) return ebi_load32(p);
    memcpy(&half, p, sizeof half);
    return half;
}

EBI_INLINE void ebi_place_set(uint8_t *lines, unsigned width, uint64_t place, uint32_t value) {
    assert(value <= ebi_ones(width));
    uint8_t *const p = lines + ebi_place_byte(width, place);
    const uint16_t half = (uint16_t)value;
    if (width == 8)
        *p = (uint8_t)value;
    else if (width == 32)
        ebi_store32(p, value);
    else
        memcpy(p, &half, sizeof half);
}
#endif
