/* snug.h - counters that halve, 120 in each line of 128 bytes, each as long as it
 * must be: about 9 bits with all that belongs to it.
 *
 *     | stamp 32 | w 6 | v 6 | n 6 | grain 6 | a bit for each counter 120 |
 *     | fields of w bits, upwards ... room, zero ... n entries of 7 + v bits, downwards |
 *
 * The bit says that a counter is not 0; then it has a field, and the fields are in
 * order.  A field of ones only is an escape: the counter is longer, and one of the
 * entries, which name it by its slot, has its v bits; if none does, the counter is
 * in the spill table.  All numbers in the line are multiples of 2^grain, which is
 * left out of them: adding to a counter rounds up to that.
 *
 * A line that is full takes the w that makes it shortest.  If that is not enough,
 * its grain grows, up to grain_max.  Then its largest counters go to the spill
 * table, and when that is full the grain grows on: counters stay upper bounds
 * that fade, and the store says how often that happened.  Halving the counters of a
 * line makes its grain smaller; only grain 0 is halved by shifting.  Counters
 * come back from the table when all of the line's fit. */
#ifndef EBI_SNUG_H
#define EBI_SNUG_H
#include "counters.h"

enum { EBI_SNUG_LINE = 128, EBI_SNUG_CELLS = 120, EBI_SNUG_BITS = 44 };

typedef struct ebi_snug {
    ebi_spill_slot *table;
    uint64_t slots, *used; /* of the spill table */
    uint64_t *saturated;   /* times that a line found no room */
    unsigned grain_max;    /* as long as there is room in the table */
} ebi_snug;

/* The counter of a slot; `first` is the line's first place: places name counters in the table.
 * Values are at most 2^EBI_SNUG_BITS; larger ones become that. */
uint64_t ebi_snug_get(const ebi_snug *s, const uint8_t *line, uint64_t first, unsigned slot);
void ebi_snug_put(const ebi_snug *s, uint8_t *line, uint64_t first, unsigned slot, uint64_t value);
void ebi_snug_halve(const ebi_snug *s, uint8_t *line, uint64_t first, uint64_t times);
/* A counter is a multiple of 2^this, and taking from it must be so too. */
unsigned ebi_snug_grain(const uint8_t *line, unsigned slot);
/* For bytes from outside: is it a line?  Adds its counters in the table to *spilled. */
bool ebi_snug_check(const ebi_snug *s, const uint8_t *line, uint64_t first, uint64_t *spilled);

/* c / 2^times, rounded up; a counter that comes down to 1 becomes 0. */
EBI_INLINE uint64_t ebi_halved(uint64_t c, uint64_t times) {
    if (times == 0) return c;
    if (times > EBI_SNUG_BITS) return 0;
    const uint64_t rest = (c + (UINT64_C(1) << times) - 1) >> times;
    return rest <= 1 ? 0 : rest;
}
#endif
