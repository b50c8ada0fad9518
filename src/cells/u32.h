/* u32.h - the store u32: four bytes for each counter, where the largest value means saturated.
 * Inline, for loops that are compiled for this store. */
#ifndef EBI_U32_H
#define EBI_U32_H
#include "counters.h"

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

EBI_INLINE uint64_t ebi_u32_raise(const ebi_counter_array *c, const uint64_t *i, size_t count,
                                  uint64_t by, bool lift) {
    assert(count > 0 && count <= EBI_TOGETHER_MAX);
    uint64_t value[EBI_TOGETHER_MAX], least = EBI_COUNTER_MAX;
    for (size_t j = 0; j < count; j++)
        least = ebi_min(least, value[j] = lift ? ebi_u32_get(c, i[j]) : ebi_u32_add(c, i[j], by));
    const uint64_t goal = ebi_counter_sum(least, by);
    for (size_t j = 0; lift && j < count; j++)
        if (value[j] < goal) (void)ebi_u32_add(c, i[j], goal - value[j]);
    return least;
}
#endif
