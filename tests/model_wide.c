/* model_wide.c - the slow twin of the store wide: see model_wide.h. */
#include "model_wide.h"
#include "model.h"
#include <stdlib.h>

static const uint64_t twin_most = (UINT64_C(1) << 48) - 1;

static uint64_t twin_first(const wide_twin *t, uint64_t i) {
    return i - i % t->size[i];
}

/* Bits of the group that begins at a cell: 54 for sixteen cells, of which 48 are used. */
static unsigned twin_bits(uint64_t first, unsigned size) {
    const uint64_t cell = first % 16;
    return size == 16 ? 48 : (unsigned)(54 * (cell + size) / 16 - 54 * cell / 16);
}

wide_twin *twin_new(uint64_t n, bool sums) {
    wide_twin *const t = model_zeros(1, sizeof *t);
    const uint64_t whole = (n + 15) / 16 * 16;
    t->n = n;
    t->sums = sums;
    t->size = model_zeros(whole, sizeof *t->size);
    t->value = model_zeros(whole, sizeof *t->value);
    for (uint64_t i = 0; i < whole; i++) t->size[i] = 1;
    return t;
}

void twin_free(wide_twin *t) {
    if (!t) return;
    free(t->size);
    free(t->value);
    free(t);
}

uint64_t twin_get(const wide_twin *t, uint64_t i) {
    return t->value[twin_first(t, i)];
}

/* The group of a cell and its neighbour become one of twice the size. */
static void twin_join(wide_twin *t, uint64_t i) {
    const unsigned size = 2 * t->size[i];
    const uint64_t first = i - i % size;
    uint64_t value = 0;
    for (uint64_t at = first; at < first + size; at++) {
        const uint64_t here = twin_first(t, at) == at ? t->value[at] : 0;
        value = t->sums ? value + here : here > value ? here : value;
    }
    for (uint64_t at = first; at < first + size; at++) t->size[at] = size;
    t->value[first] = value;
}

static void twin_set(wide_twin *t, uint64_t i, uint64_t value) {
    t->value[twin_first(t, i)] = value;
    while (t->value[twin_first(t, i)] >> twin_bits(twin_first(t, i), t->size[i]) > 0) {
        if (t->size[i] == 16) {
            t->value[twin_first(t, i)] = twin_most;
            return;
        }
        twin_join(t, i);
    }
}

void twin_add(wide_twin *t, uint64_t i, uint64_t by) {
    const uint64_t sum = twin_get(t, i) + by;
    twin_set(t, i, sum > twin_most ? twin_most : sum);
}

void twin_sub(wide_twin *t, uint64_t i, uint64_t by) {
    const uint64_t first = twin_first(t, i), value = twin_get(t, i);
    if (value == twin_most) return;
    t->value[first] = value - by;
    if (value > by) return;
    for (uint64_t at = first, end = first + t->size[i]; at < end; at++) {
        t->size[at] = 1;
        t->value[at] = 0;
    }
}

void twin_raise(wide_twin *t, const uint64_t *i, unsigned count, uint64_t by) {
    for (unsigned j = 0; j < count; j++) twin_add(t, i[j], by);
}

void twin_lift(wide_twin *t, const uint64_t *i, unsigned count, uint64_t by) {
    uint64_t least = twin_most;
    for (unsigned j = 0; j < count; j++)
        if (twin_get(t, i[j]) < least) least = twin_get(t, i[j]);
    const uint64_t goal = least + by > twin_most ? twin_most : least + by;
    for (unsigned j = 0; j < count; j++)
        if (twin_get(t, i[j]) < goal) twin_set(t, i[j], goal);
}
