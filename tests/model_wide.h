/* model_wide.h - the slow twin of the store wide: every rule of cells/wide.h written down as it is
 * said there, with a number for each group and no packed words. */
#ifndef MODEL_WIDE_H
#define MODEL_WIDE_H
#include <stdbool.h>
#include <stdint.h>

typedef struct wide_twin {
    uint64_t n;
    bool sums;
    unsigned *size;  /* cells in the group of a cell: 1, 2, 4, 8 or 16 */
    uint64_t *value; /* of the group; kept at its first cell only */
} wide_twin;

wide_twin *twin_new(uint64_t n, bool sums);
void twin_free(wide_twin *t); /* or NULL */
uint64_t twin_get(const wide_twin *t, uint64_t i);
void twin_add(wide_twin *t, uint64_t i, uint64_t by);
void twin_sub(wide_twin *t, uint64_t i, uint64_t by);
void twin_raise(wide_twin *t, const uint64_t *i, unsigned count, uint64_t by);
void twin_lift(wide_twin *t, const uint64_t *i, unsigned count, uint64_t by);
#endif
