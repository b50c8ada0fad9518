/* choosy_zeros.h - how many places of a key are zero: one by one, or with the vectors of
 * WebAssembly all at once, each in a lane of 16 bits. */
#ifndef EBI_CHOOSY_ZEROS_H
#define EBI_CHOOSY_ZEROS_H
#include "cells/bitarray.h"
#include "choosy.h"

#if EBI_WASM_SIMD
#include <wasm_simd128.h>

/* The bytes of a line that lie in its 16 bytes from `first` on; a lane with another index has 0. */
EBI_INLINE v128_t choosy_bytes_from(const uint8_t *line, int first, v128_t index) {
    const v128_t own = wasm_i8x16_sub(index, wasm_i8x16_splat((int8_t)first));
    return wasm_i8x16_swizzle(wasm_v128_load(line + first), own);
}

EBI_INLINE unsigned choosy_zeros(const uint8_t *line, uint64_t fields, unsigned n) {
    assert(n <= EBI_CHOOSY_FIELDS);
    /* Field i starts at bit i of byte i: shifted to the top of lane i, nothing else is left there.
     */
    const v128_t pairs =
        wasm_i8x16_swizzle(wasm_i64x2_splat((int64_t)fields),
                           wasm_i8x16_const(0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, -1, -1, -1, -1));
    const v128_t top = wasm_i16x8_mul(pairs, wasm_i16x8_const(128, 64, 32, 16, 8, 4, 0, 0));
    /* A field is the index of a byte, 6 bits, and then of a bit in it, 3 bits. */
    const v128_t byte = wasm_u16x8_shr(top, 10);
    const v128_t bit = wasm_v128_and(wasm_u16x8_shr(top, 7), wasm_i16x8_splat(7));
    const v128_t only_low = wasm_i16x8_splat(-256); /* no mask for the upper byte of a lane */
    const v128_t mask =
        wasm_i8x16_swizzle(wasm_i8x16_const(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0),
                           wasm_v128_or(bit, only_low));
    const v128_t low =
        wasm_v128_or(choosy_bytes_from(line, 0, byte), choosy_bytes_from(line, 16, byte));
    const v128_t high =
        wasm_v128_or(choosy_bytes_from(line, 32, byte), choosy_bytes_from(line, 48, byte));
    const v128_t found = wasm_v128_and(wasm_v128_or(low, high), mask);
    const unsigned zero = wasm_i16x8_bitmask(wasm_i16x8_eq(found, wasm_i16x8_splat(0)));
    return ebi_popcount(zero & (unsigned)ebi_ones(n));
}
#else
EBI_INLINE unsigned choosy_zeros(const uint8_t *line, uint64_t fields, unsigned n) {
    assert(n <= EBI_CHOOSY_FIELDS);
    unsigned zeros = 0;
#pragma GCC unroll 6
    for (unsigned i = 0; i < n; i++, fields >>= EBI_CHOOSY_FIELD_BITS)
        zeros += !ebi_bit(line, fields % EBI_CHOOSY_BITS);
    return zeros;
}
#endif
#endif
