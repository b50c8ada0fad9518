/* soft.h - counters of 8 bits that halve with time, 56 in a line of 64 bytes, and join when they
 * are full.  Used by decay with mode=era, and by top lists with a half-life.
 *
 *       line | bits 0..28: stamp | 7 layout codes of 5 bits | 7 words of 8 cells, a byte each |
 *
 * A counter that outgrows its cell joins its neighbours.  Groups are 1, 2, 4 or 8 cells (levels 0
 * to 3), aligned, and have all bits of their cells.  The code of a word has a digit 0..4 for each
 * half: bit 0 says that the first two cells are joined, bit 1 the other two, and 4 that all four
 * are.  The code is 5 times the first digit plus the second; 25 means that all eight are joined.
 * wide.h has the same codes.
 *
 * Values have binary fractions whose length depends on the level: 4 digits in cells (up to 15.9
 * arrivals), 8 in pairs (255), 12 in fours (a million), 15 in eights (2^49).  So large counts have
 * small rounding errors, and small counts short cells.  Functions take and return "fine" values, in
 * units of 2^-15 arrivals.  Only writing rounds, and always up.
 *
 * A group holds the largest of its cells, or their sum (wide.h).  When it has faded so far that
 * half of what the next lower level can hold is enough, it splits, and both halves get its value.
 * So no cell is ever too low, but what was a sum is only an upper bound from then on.
 *
 * Fading halves a value, rounding up, except that 1 becomes 0.  Halving and splitting are both
 * divisions by powers of 2 that round up.  So many eras at once give the same result as one after
 * the other. */
#ifndef EBI_SOFT_H
#define EBI_SOFT_H
#include "base/bits.h"

enum {
    EBI_SOFT_LINE = 64,
    EBI_SOFT_CELLS = 56,
    EBI_SOFT_LEVELS = 3,
    EBI_SOFT_STAMP = 29,   /* bits */
    EBI_SOFT_FRACTION = 15 /* binary digits of fine values */
};
#define EBI_SOFT_STAMP_MAX ((UINT64_C(1) << EBI_SOFT_STAMP) - 1)

extern const uint8_t ebi_soft_levels[32][8]; /* of the cells of a word, by its code */

typedef struct ebi_soft_cell { /* a group: the value of its field, and its level */
    uint64_t field;
    unsigned level;
} ebi_soft_cell;

EBI_INLINE unsigned ebi_soft_shift(unsigned level) { /* from fine values to fields */
    assert(level <= EBI_SOFT_LEVELS);
    return level == 3 ? 0 : EBI_SOFT_FRACTION - 4 * (level + 1);
}

EBI_INLINE uint64_t ebi_soft_grain(unsigned level) { /* the smallest fine value above 0 */
    return UINT64_C(1) << ebi_soft_shift(level);
}

EBI_INLINE unsigned ebi_soft_width(unsigned level) {
    return 8u << level;
}

EBI_INLINE uint64_t ebi_soft_fine(ebi_soft_cell c) {
    return c.field << ebi_soft_shift(c.level);
}

EBI_INLINE uint64_t ebi_soft_field(uint64_t fine, unsigned level) { /* rounded up */
    const unsigned shift = ebi_soft_shift(level);
    return (fine >> shift) + ((fine & ebi_ones(shift)) != 0);
}

EBI_INLINE unsigned ebi_soft_code(uint64_t head, unsigned word) {
    assert(word < EBI_SOFT_CELLS / 8);
    return head >> (EBI_SOFT_STAMP + 5 * word) & 31;
}

EBI_INLINE unsigned ebi_soft_first(unsigned cell, unsigned level) {
    return cell >> level << level;
}

EBI_INLINE ebi_soft_cell ebi_soft_read(const uint8_t *line, unsigned slot) {
    assert(slot < EBI_SOFT_CELLS);
    const unsigned word = slot / 8, cell = slot % 8;
    const unsigned level = ebi_soft_levels[ebi_soft_code(ebi_load64(line), word)][cell];
    const uint64_t bits = ebi_load64(line + 8 + 8 * word) >> (8 * ebi_soft_first(cell, level));
    return (ebi_soft_cell){bits & ebi_ones(ebi_soft_width(level)), level};
}

/* A group after so many eras. */
EBI_INLINE ebi_soft_cell ebi_soft_fade(ebi_soft_cell c, uint64_t eras) {
    if (eras == 0 || c.field == 0) return c;
    c.field = eras > 63 ? 1 : ((c.field - 1) >> eras) + 1;
    while (c.level > 0) {
        const unsigned less = ebi_soft_shift(c.level - 1) - ebi_soft_shift(c.level);
        const uint64_t narrow = ((c.field - 1) >> less) + 1;
        if (narrow >> (ebi_soft_width(c.level - 1) - 1) != 0) break;
        c = (ebi_soft_cell){narrow, c.level - 1};
    }
    if (c.field == 1) c.field = 0;
    return c;
}

/* The fine value of a slot's group, this many eras after the line's stamp. */
EBI_INLINE uint64_t ebi_soft_get(const uint8_t *line, unsigned slot, uint64_t eras) {
    return ebi_soft_fine(ebi_soft_fade(ebi_soft_read(line, slot), eras));
}

/* For cells named by 128 times their line plus their slot (stamped.h): the first cell of the group.
 * Groups are inside words of 8 slots, and lines begin with a word. */
EBI_INLINE uint64_t ebi_soft_group(uint64_t place, unsigned level) {
    return place >> level << level;
}

EBI_INLINE uint64_t ebi_soft_stamp(const uint8_t *line) {
    return ebi_load64(line) & EBI_SOFT_STAMP_MAX;
}

/* Sets the group of a slot to a fine value. false: even eight cells have no room for it. */
bool ebi_soft_put(uint8_t *line, unsigned slot, uint64_t fine, bool sums);
/* Fades the line by so many eras and sets its stamp. */
void ebi_soft_lapse(uint8_t *line, uint64_t eras, uint64_t stamp);
/* Adds the counters of a line of the same era. false: as above. */
bool ebi_soft_merge(uint8_t *into, const uint8_t *from, bool sums);
bool ebi_soft_check(const uint8_t *line); /* all but the stamp */
#endif
