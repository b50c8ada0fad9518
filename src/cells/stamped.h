/* stamped.h - counters of 32 bits in lines of 64 bytes that each remember when they were last
 * brought up to date.  Counters that fade need not be visited every era: what a line missed is made
 * up for when it is next used.  Used by decay with mode=basic and mode=optimised.
 *
 *       | stamp (the number of an era), 4 bytes | 15 words |
 *
 * A cell is named by its place: 128 times its line plus its slot there. */
#ifndef EBI_STAMPED_H
#define EBI_STAMPED_H
#include "base/bits.h"

enum { EBI_LINE = 64, EBI_LINE_STAMP = 4, EBI_LINE_WORDS = 15, EBI_SLOT_BITS = 7 };

EBI_INLINE uint64_t ebi_place_line(uint64_t place) {
    return place >> EBI_SLOT_BITS;
}

EBI_INLINE unsigned ebi_place_slot(uint64_t place) {
    return (unsigned)(place & ebi_ones(EBI_SLOT_BITS));
}

EBI_INLINE uint32_t ebi_load32(const void *p) {
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

EBI_INLINE void ebi_store32(void *p, uint32_t word) {
    memcpy(p, &word, sizeof word);
}

EBI_INLINE uint64_t ebi_place_byte(uint64_t place) {
    assert(ebi_place_slot(place) < EBI_LINE_WORDS);
    return ebi_place_line(place) * EBI_LINE + EBI_LINE_STAMP + ebi_place_slot(place) * 4;
}

EBI_INLINE uint32_t ebi_place_get(const uint8_t *lines, uint64_t place) {
    return ebi_load32(lines + ebi_place_byte(place));
}

EBI_INLINE void ebi_place_set(uint8_t *lines, uint64_t place, uint32_t value) {
    ebi_store32(lines + ebi_place_byte(place), value);
}
#endif
