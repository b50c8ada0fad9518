/* lru_bytes.h - operations on lines whose fingerprints are whole bytes, one after the other.
 * lru_loops.h uses them.  Where a key is found is unpredictable, so there is no branch on it.
 *
 * This is a template, included once for each kind of machine.  The including file defines
 * LRU_TARGET (the attribute of functions), LRU_MY(name) (how their names are made), LRU_VECTOR (the
 * bytes of a register), LRU_MY(line) (64 bytes in an array `v` of registers) and
 *
 *       void LRU_MY(spread)(LRU_MY(line) *to, uint64_t print, unsigned size)
 *           The print, repeated as often as there is room for it.
 *       uint64_t LRU_MY(differ)(const LRU_MY(line) *x, const LRU_MY(line) *y)
 *           A bit for each byte.
 *       LRU_MY(vector) LRU_MY(first_up)(const LRU_MY(line) *x, const LRU_MY(line) *y, unsigned
 * size) The first register of x, with its bytes moved up by `size`; below them is the print.
 *       LRU_MY(vector) LRU_MY(blend)(LRU_MY(vector) a, LRU_MY(vector) b, LRU_MY(vector) mask)
 *           b where the mask is set, else a.
 *
 * A slot is equal if none of its bytes' bits says that they differ.  The lowest equal slot is found
 * exactly. */
#include "lru.h"
#ifndef LRU_MY /* read alone, not as a template */
#define LRU_TARGET
#define LRU_MY(name) lru_##name
#define LRU_VECTOR 16
#define LRU_REGISTERS(X) X(0) X(1) X(2) X(3)
typedef uint8_t lru_vector __attribute__((vector_size(16)));
typedef struct lru_line {
    lru_vector v[4];
} lru_line;
void lru_spread(lru_line *to, uint64_t print, unsigned size);
uint64_t lru_differ(const lru_line *x, const lru_line *y);
lru_vector lru_first_up(const lru_line *x, const lru_line *y, unsigned size);
lru_vector lru_blend(lru_vector a, lru_vector b, lru_vector mask);
#endif

typedef uint8_t LRU_MY(unaligned) __attribute__((vector_size(LRU_VECTOR), aligned(1), may_alias));

LRU_TARGET EBI_INLINE LRU_MY(vector) LRU_MY(at)(const uint8_t *bytes) {
    return *(const LRU_MY(unaligned) *)(const void *)bytes;
}

/* Register k of a mask: all bytes of a line except the last n. */
LRU_TARGET EBI_INLINE LRU_MY(vector) LRU_MY(but)(size_t n, unsigned k) {
    assert(n <= EBI_LRU_LINE_BYTES);
    static const uint64_t ones_then_zeros[16] = {
        UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
        UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
    };
    return LRU_MY(at)((const uint8_t *)ones_then_zeros + n + LRU_VECTOR * k);
}

typedef struct LRU_MY(shape) { /* of all lines of a filter */
    ebi_lru_fields f;          /* with one bit for each byte */
    unsigned end;              /* of the slots */
} LRU_MY(shape);

LRU_TARGET EBI_INLINE void LRU_MY(shape_of)(LRU_MY(shape) * s, unsigned w, unsigned b) {
    s->f = ebi_lru_byte_fields(w);
    s->end = b * s->f.bits;
}

LRU_TARGET EBI_INLINE bool LRU_MY(is_full)(const uint8_t *line, const LRU_MY(shape) * s) {
    return ebi_lru_bytes_are_full(line, s->end, 8 * s->f.bits);
}

LRU_TARGET EBI_INLINE void LRU_MY(load)(LRU_MY(line) * x, const uint8_t *line) {
#define LRU_LOAD(k) x->v[k] = LRU_MY(at)(line + LRU_VECTOR * (k));
    LRU_REGISTERS(LRU_LOAD)
#undef LRU_LOAD
}

/* Not 0: a slot holds the print, and the lowest bit is that of its last byte. */
LRU_TARGET EBI_INLINE uint64_t LRU_MY(equal)(const LRU_MY(line) * x, const LRU_MY(line) * y,
                                             const LRU_MY(shape) * s) {
    const uint64_t differ = LRU_MY(differ)(x, y);
    return EBI_LRU_ZERO(differ, s->f);
}

/* Moves each slot up by one, up to byte `last`, from byte `first` on, where the print goes. */
LRU_TARGET EBI_INLINE LRU_MY(vector)
    LRU_MY(insert)(LRU_MY(vector) x, LRU_MY(vector) y, LRU_MY(vector) up, unsigned k,
                   unsigned first, unsigned size) {
    up = LRU_MY(blend)(up, y, LRU_MY(but)(EBI_LRU_LINE_BYTES - size - first, k));
    return LRU_MY(blend)(up, x, LRU_MY(but)(EBI_LRU_LINE_BYTES - first, k));
}

LRU_TARGET EBI_INLINE bool LRU_MY(put)(uint8_t *line, uint64_t print, const LRU_MY(shape) * s,
                                       const ebi_lru_place *place, bool deep, uint8_t to) {
    (void)place;
    assert(print != 0);
    const unsigned size = s->f.bits;
    LRU_MY(line) x, y, up;
    LRU_MY(load)(&x, line);
    LRU_MY(spread)(&y, print, size);
    const uint64_t equal = LRU_MY(equal)(&x, &y, s);
    const unsigned last = ebi_ctz(equal | UINT64_C(1) << (s->end - 1));
    const unsigned first = deep ? to & (0 - (unsigned)(equal < 1)) : 0;
#define LRU_UP(k)                                                                                  \
    up.v[k] = (k) == 0 ? LRU_MY(first_up)(&x, &y, size)                                            \
                       : LRU_MY(at)(line + LRU_VECTOR * (k) - ((k) > 0 ? size : 0));
#define LRU_INSERT(k)                                                                              \
    if (deep) up.v[k] = LRU_MY(insert)(x.v[k], y.v[k], up.v[k], k, first, size);
#define LRU_STORE(k)                                                                               \
    *(LRU_MY(unaligned) *)(void *)(line + LRU_VECTOR * (k)) =                                      \
        LRU_MY(blend)(x.v[k], up.v[k], LRU_MY(but)(last ^ 63, k));
    LRU_REGISTERS(LRU_UP)
    LRU_REGISTERS(LRU_INSERT)
    LRU_REGISTERS(LRU_STORE)
#undef LRU_STORE
#undef LRU_INSERT
#undef LRU_UP
    return equal != 0;
}

LRU_TARGET EBI_INLINE bool LRU_MY(has)(const uint8_t *line, uint64_t print,
                                       const LRU_MY(shape) * s) {
    assert(print != 0);
    LRU_MY(line) x, y;
    LRU_MY(load)(&x, line);
    LRU_MY(spread)(&y, print, s->f.bits);
    return LRU_MY(equal)(&x, &y, s) != 0;
}
#undef LRU_REGISTERS
#undef LRU_VECTOR
