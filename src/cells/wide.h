/* wide.h - counters of 4 bits each, everything included, that join when they are full.  The default
 * store of filters that count.
 *
 *       segment | ebi_store_state, 64 bytes, zero | words of 8 bytes, 16 cells each | zeros |
 *       word    | bits 0-53: cells | 54-58: layout of cells 0..7 | 59-63: of cells 8..15 |
 *
 * Cell i begins at bit 54 i / 16, so it has 3 or 4 bits.  A counter that outgrows its field joins
 * its neighbours.  Groups are 1, 2, 4, 8 or 16 neighbouring cells (levels 0 to 4), aligned, and
 * have all bits of their cells.  A group holds
 *
 *       the sum of its cells      if counters are sums: keys can be removed, filters subtracted
 *       the largest of its cells  if a key only lifts its least counters
 *
 * so no cell is ever too low.  All sixteen together have 48 bits; EBI_COUNTER_MAX stays for good.
 *
 * The layout of a half is a code.  Each four of its cells has a digit 0..4: bit 0 says that the
 * first two are joined, bit 1 the other two, and 4 that all four are.  The code is 5 times the
 * first digit plus the second; 25 means that all eight are joined, and 31 in both halves that all
 * sixteen are.
 *
 * Two of a key's cells may be in one group, or writing the first may join it with the group of the
 * second.  So whoever writes several cells reads each one again just before. */
#ifndef EBI_WIDE_H
#define EBI_WIDE_H
#include "counters.h"
#include "words.h"

enum { EBI_WIDE_CELLS = 16, EBI_WIDE_LEVELS = 4, EBI_WIDE_LAYOUT = 54 };

/* The bits of a cell's group, by the layout of the cell's half: shift | width << 8. */
extern const uint16_t ebi_wide_places[32][EBI_WIDE_CELLS];

/* A word, unpacked: each cell has the level and the value of its group. */
typedef struct ebi_wide_word {
    uint64_t value[EBI_WIDE_CELLS];
    unsigned level[EBI_WIDE_CELLS];
} ebi_wide_word;

void ebi_wide_load(const ebi_counter_array *c, uint64_t word, ebi_wide_word *out);
/* Joins what does not fit, and writes.  Values are at most EBI_WIDE_CELLS * EBI_COUNTER_MAX. */
void ebi_wide_save(const ebi_counter_array *c, uint64_t word, ebi_wide_word *w, bool sums);
/* Joins the cells of w that are joined in the other word. */
void ebi_wide_coarsen(ebi_wide_word *w, const ebi_wide_word *other, bool sums);
/* Finds the layout with the fewest joins in which the values fit, with all cells single at first.
 * It is the layout of the word that the values come from, unless keys were removed from it. */
void ebi_wide_guess(ebi_wide_word *w);

/* Sets the group of cell i to a value that does not fit into it. */
void ebi_wide_widen(const ebi_counter_array *c, uint64_t i, uint64_t value, bool sums);

EBI_INLINE uint8_t *ebi_wide_at(const ebi_counter_array *c, uint64_t i) {
    assert(i < c->n);
    return c->cells + i / EBI_WIDE_CELLS * 8;
}

EBI_INLINE unsigned ebi_wide_place(uint64_t word, uint64_t i) {
    const unsigned cell = i % EBI_WIDE_CELLS;
    return ebi_wide_places[word >> (EBI_WIDE_LAYOUT + cell / 8 * 5) & 31][cell];
}

EBI_INLINE uint64_t ebi_wide_field(uint64_t word, unsigned place) {
    return word >> (place & 63) & ((UINT64_C(1) << (place >> 8)) - 1);
}

EBI_INLINE uint64_t ebi_wide_get(const ebi_counter_array *c, uint64_t i) {
    const uint64_t word = ebi_load64(ebi_wide_at(c, i));
    return ebi_wide_field(word, ebi_wide_place(word, i));
}

/* Cells that were read and will be written soon. */
typedef struct ebi_wide_read {
    uint64_t word[EBI_TOGETHER_MAX];
    unsigned place[EBI_TOGETHER_MAX];
} ebi_wide_read;

EBI_INLINE uint64_t ebi_wide_least(const ebi_counter_array *c, const uint64_t *i, size_t count,
                                   ebi_wide_read *r) {
    assert(count > 0 && count <= EBI_TOGETHER_MAX);
    uint64_t least = EBI_COUNTER_MAX;
    for (size_t j = 0; j < count; j++) {
        r->word[j] = ebi_load64(ebi_wide_at(c, i[j]));
        r->place[j] = ebi_wide_place(r->word[j], i[j]);
        least = ebi_min(least, ebi_wide_field(r->word[j], r->place[j]));
    }
    return least;
}

/* Reads a word again, in case it was written since it was read. */
EBI_INLINE uint64_t ebi_wide_again(const uint8_t *at, uint64_t i, uint64_t read, unsigned *place) {
    const uint64_t word = ebi_load64(at);
    if (__builtin_expect(word != read, 0)) *place = ebi_wide_place(word, i);
    return word;
}

/* Adds to a group that was just read, or to what it has become. */
EBI_INLINE void ebi_wide_grow(const ebi_counter_array *c, uint64_t i, uint64_t word, unsigned place,
                              uint64_t by, bool sums) {
    const uint64_t value = ebi_wide_field(word, place) + by;
    if (__builtin_expect(value >> (place >> 8) == 0, 1))
        ebi_store64(ebi_wide_at(c, i), word + (by << (place & 63)));
    else
        ebi_wide_widen(c, i, value, sums);
}

EBI_INLINE const uint8_t *ebi_wide_address(const ebi_counter_array *c, uint64_t i) {
    return ebi_wide_at(c, i);
}

/* Which counters are below the goal of a lift is hard to predict, so there is no branch: to the
 * others 0 is added. */
EBI_INLINE uint64_t ebi_wide_raise(const ebi_counter_array *c, const uint64_t *i, size_t count,
                                   uint64_t by, bool lift, bool sums) {
    ebi_wide_read r;
    const uint64_t least = ebi_wide_least(c, i, count, &r), goal = ebi_counter_sum(least, by);
    for (size_t j = 0; j < count; j++) {
        const uint64_t word = ebi_wide_again(ebi_wide_at(c, i[j]), i[j], r.word[j], &r.place[j]);
        const uint64_t value = ebi_wide_field(word, r.place[j]);
        ebi_wide_grow(c, i[j], word, r.place[j], lift ? ebi_max(value, goal) - value : by, sums);
    }
    return least;
}
#endif
