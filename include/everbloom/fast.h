/* fast.h - inline tests against a filter's cells, for one hot read loop of your
 * own.  It knows how cells lie in the block, so it makes no ABI promise. */
#ifndef EVERBLOOM_FAST_H
#define EVERBLOOM_FAST_H
#ifndef EB_STATIC_ONLY
#error "define EB_STATIC_ONLY to say that you link everbloom statically"
#endif
#include "everbloom.h"
#include <string.h>
#ifdef __cplusplus
extern "C" {
#endif

/* High half of a 64 x 64 bit product: maps a uniform x to 0..range-1. */
static inline uint64_t eb_scale(uint64_t x, uint64_t range) {
    __extension__ typedef unsigned __int128 eb_u128;
    return (uint64_t)(((eb_u128)x * range) >> 64);
}

/* The i-th position of hash h is eb_scale(x_i, range) with x_0 = h and
 * x_(i+1) = eb_next(x_i).  The top bits of h * C^i behave as independent draws. */
static inline uint64_t eb_next(uint64_t x) {
    return x * UINT64_C(0xD1342543DE82EF95) + 1;
}

/* Cells of width bits, k of them for a key; the i-th lies in
 * [i * stride, i * stride + range), so stride = 0 is one common array. */
typedef struct eb_cells_view {
    const uint8_t *cells;
    uint64_t range, stride;
    uint32_t k, width;
} eb_cells_view;

/* Valid until the next call that takes the filter as non-const.  False: this
 * kind, or a filter with several shards, has no such view. */
EB_API bool eb_cells_view_of(const eb_filter *f, eb_cells_view *v);

/* Is no cell of h zero?  The same answer as eb_test_batch. */
static inline bool eb_cells_test(const eb_cells_view *v, eb_hash h) {
    const uint64_t mask = (UINT64_C(1) << v->width) - 1;
    uint64_t x = h, first = 0;
    for (uint32_t i = 0; i < v->k; i++, x = eb_next(x), first += v->stride) {
        const uint64_t bit = (first + eb_scale(x, v->range)) * v->width;
        uint64_t word;
        memcpy(&word, v->cells + (bit >> 3), sizeof word);
        if (((word >> (bit & 7)) & mask) == 0) return false;
    }
    return true;
}

#ifdef __cplusplus
}
#endif
#endif
