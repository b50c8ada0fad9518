/* aging.h - counts by age, for kinds that contain such a filter (top with by=window and others).
 * aging.c explains how it works. */
#ifndef EBI_AGING_H
#define EBI_AGING_H
#include "filter/kind.h"

/* 16-bit floats, rounded up: the number itself below 1024, else (1024 + m) 2^e as (e + 1) << 10 |
 * m.  Larger floats are larger numbers. */
enum { EBI_AGING_FLOAT_BITS = 10, EBI_AGING_FLOAT_ONE = 1 << EBI_AGING_FLOAT_BITS };

EBI_INLINE uint32_t ebi_aging_float(uint64_t value) { /* value < 2^62 */
    if (value < EBI_AGING_FLOAT_ONE) return (uint32_t)value;
    const unsigned e = ebi_log2(value) - EBI_AGING_FLOAT_BITS;
    const uint64_t m = (value >> e) + ((value & ebi_ones(e)) != 0); /* 1024..2048: may carry */
    return (uint32_t)(((uint64_t)e << EBI_AGING_FLOAT_BITS) + m);
}

EBI_INLINE uint64_t ebi_aging_unfloat(uint32_t f) {
    enum { AGING_FLOAT_MOST = 52 };
    if (f < EBI_AGING_FLOAT_ONE) return f;
    const unsigned e = (f >> EBI_AGING_FLOAT_BITS) - 1;
    return (uint64_t)(EBI_AGING_FLOAT_ONE + (f & (EBI_AGING_FLOAT_ONE - 1)))
           << ebi_min(e, AGING_FLOAT_MOST);
}

enum { EBI_AGING_FIXED = 128, EBI_AGING_CELLS_MIN = 64 }; /* bytes before the cells */
enum {
    EBI_AGING_BY_WINDOW,
    EBI_AGING_BY_CHORDAL,
    EBI_AGING_BY_POLYGONAL,
    EBI_AGING_BY_POLY,
    EBI_AGING_BY_POLYEXP
};

typedef struct ebi_aging_shape { /* the options of the kind aging */
    uint64_t cells, k, by, epochs, period, power, heights, detail;
} ebi_aging_shape;
/* The parameters of an aging filter inside another filter, conservative. q has the common
 * options. */
eb_status ebi_aging_inside(ebi_params *q, const ebi_aging_shape *shape, eb_error *err);
void ebi_aging_alone(ebi_params *q); /* the same with one cell, which counts all keys together */
uint64_t ebi_aging_stride(const ebi_params *q); /* bytes of a cell */
double ebi_aging_g(const ebi_params *q,
                   uint64_t age); /* the weight of an arrival, by its age in epochs */
#endif
