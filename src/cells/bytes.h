/* bytes.h - the inline parts of the stores u8 and u32, for loops that are compiled for a store. */
#ifndef EBI_BYTES_H
#define EBI_BYTES_H
#include "counters.h"

/* u8: a byte of 0..223 is the value.  Larger ones have their last five bits in the byte, above
 * 224, and the others in the spill table. */
enum { EBI_U8_LARGE = 224 };

/* With the table, or where counters may need it. */
uint64_t ebi_u8_get_large(const ebi_counter_array *c, uint64_t i);
void ebi_u8_raise_large(const ebi_counter_array *c, const uint64_t *i, size_t count, uint64_t by);
uint64_t ebi_u8_lift_large(const ebi_counter_array *c, const uint64_t *i, size_t count,
                           uint64_t by);

EBI_INLINE uint64_t ebi_u8_get(const ebi_counter_array *c, uint64_t i) {
    assert(i < c->n);
    return c->cells[i] < EBI_U8_LARGE ? c->cells[i] : ebi_u8_get_large(c, i);
}

/* The largest byte that this one can grow to without the table. */
EBI_INLINE unsigned ebi_u8_end(unsigned cell) {
    assert(cell <= UINT8_MAX);
    return cell < EBI_U8_LARGE ? EBI_U8_LARGE - 1 : UINT8_MAX;
}

EBI_INLINE bool ebi_u8_raise(const ebi_counter_array *c, const uint64_t *i, size_t count,
                             uint64_t by) {
    assert(count > 0 && count <= EBI_TOGETHER_MAX);
    unsigned least = UINT8_MAX;
    bool carry = false;
    for (size_t j = 0; j < count; j++) {
        const unsigned cell = c->cells[i[j]];
        least = cell < least ? cell : least;
        carry |= cell + by > ebi_u8_end(cell);
    }
    if (carry)
        ebi_u8_raise_large(c, i, count, by);
    else
        for (size_t j = 0; j < count; j++) c->cells[i[j]] = (uint8_t)(c->cells[i[j]] + by);
    return least > 0;
}

/* As long as the goal is a byte, larger counters need no look at the table. */
EBI_INLINE uint64_t ebi_u8_lift(const ebi_counter_array *c, const uint64_t *i, size_t count,
                                uint64_t by) {
    assert(count > 0 && count <= EBI_TOGETHER_MAX);
    uint64_t least = UINT8_MAX;
    for (size_t j = 0; j < count; j++) least = ebi_min(least, c->cells[i[j]]);
    if (least + by >= EBI_U8_LARGE) return ebi_u8_lift_large(c, i, count, by);
    for (size_t j = 0; j < count; j++)
        c->cells[i[j]] = (uint8_t)ebi_max(c->cells[i[j]], least + by);
    return least;
}

EBI_INLINE const uint8_t *ebi_u8_address(const ebi_counter_array *c, uint64_t i) {
    return c->cells + i;
}

/* u32: four bytes each; the largest word is a saturated counter. */

EBI_INLINE const uint8_t *ebi_u32_address(const ebi_counter_array *c, uint64_t i) {
    return c->cells + 4 * i;
}

EBI_INLINE uint64_t ebi_u32_get(const ebi_counter_array *c, uint64_t i) {
    assert(i < c->n);
    uint32_t word;
    memcpy(&word, c->cells + 4 * i, sizeof word);
    return word == UINT32_MAX ? EBI_COUNTER_MAX : word;
}

EBI_INLINE void ebi_u32_set(const ebi_counter_array *c, uint64_t i, uint64_t value) {
    assert(i < c->n);
    const uint32_t word = (uint32_t)ebi_min(value, UINT32_MAX);
    memcpy(c->cells + 4 * i, &word, sizeof word);
    if (word == UINT32_MAX) c->state->saturated++;
}

EBI_INLINE uint64_t ebi_u32_add(const ebi_counter_array *c, uint64_t i, uint64_t by) {
    const uint64_t value = ebi_u32_get(c, i);
    if (value < EBI_COUNTER_MAX) ebi_u32_set(c, i, ebi_counter_sum(value, by));
    return value;
}

EBI_INLINE bool ebi_u32_raise(const ebi_counter_array *c, const uint64_t *i, size_t count,
                              uint64_t by) {
    return ebi_raise_each(c, i, count, by, ebi_u32_add);
}

EBI_INLINE uint64_t ebi_u32_lift(const ebi_counter_array *c, const uint64_t *i, size_t count,
                                 uint64_t by) {
    return ebi_lift_each(c, i, count, by, ebi_u32_get, ebi_u32_add);
}
#endif
