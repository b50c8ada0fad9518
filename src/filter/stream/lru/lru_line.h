/* lru_line.h - one line of bucket=line, without SIMD of a certain machine: find a fingerprint,
 * insert it, move it to the front.
 *
 * Two words are worked on side by side, which compilers know to do on every machine.  A field that
 * is equal in both planes is 0 in the OR of the differences; the lowest such field is found
 * exactly. Where a key is found cannot be foreseen, so nothing branches on it. */
#ifndef EBI_LRU_LINE_H
#define EBI_LRU_LINE_H
#include "lru.h"

typedef uint64_t ebi_lru_pair __attribute__((vector_size(16)));

typedef struct ebi_lru_shape { /* of all lines of a filter */
    ebi_lru_fields f;
    uint64_t last_used, last_field; /* of word 3: fields in use, and the last slot's */
} ebi_lru_shape;

EBI_INLINE ebi_lru_shape ebi_lru_shape_of(unsigned w, unsigned b) {
    const ebi_lru_fields f = ebi_lru_line_fields(w);
    return (ebi_lru_shape){f, ebi_lru_last_used(f, b), ebi_lru_last_field(f, b)};
}

EBI_INLINE ebi_lru_pair ebi_lru_load(const uint8_t *at) {
    ebi_lru_pair x;
    memcpy(&x, at, sizeof x);
    return x;
}

EBI_INLINE ebi_lru_pair ebi_lru_load_mask(const uint64_t *at) {
    ebi_lru_pair x;
    memcpy(&x, at, sizeof x);
    return x;
}

EBI_INLINE ebi_lru_pair ebi_lru_equal(ebi_lru_pair differ, ebi_lru_fields f) {
    return (differ - f.ones) & ~differ & f.highs;
}

typedef struct ebi_lru_found {
    ebi_lru_pair upto[2]; /* fields up to the hit; without one, all in use */
    bool hit;
} ebi_lru_found;

EBI_INLINE uint64_t ebi_lru_if_zero(uint64_t x) { /* all ones, else 0 */
    return 0 - (uint64_t)(x == 0);
}

typedef struct ebi_lru_print2 { /* a fingerprint's halves, in all fields */
    ebi_lru_pair low, high;
} ebi_lru_print2;

EBI_INLINE ebi_lru_print2 ebi_lru_spread(uint64_t print, ebi_lru_fields f) {
    const uint64_t low = (print & ebi_ones(f.bits)) * f.ones, high = (print >> f.bits) * f.ones;
    return (ebi_lru_print2){{low, low}, {high, high}};
}

EBI_INLINE ebi_lru_found ebi_lru_find(const uint8_t *line, ebi_lru_print2 x, ebi_lru_shape s) {
    const ebi_lru_fields f = s.f;
    const ebi_lru_pair equal0 =
        ebi_lru_equal((ebi_lru_load(line) ^ x.low) | (ebi_lru_load(line + 32) ^ x.high), f);
    const ebi_lru_pair equal1 =
        ebi_lru_equal((ebi_lru_load(line + 16) ^ x.low) | (ebi_lru_load(line + 48) ^ x.high), f);
    const uint64_t hit1 = equal0[0], hit2 = hit1 | equal0[1], hit3 = hit2 | equal1[0];
    const ebi_lru_pair open0 = {f.used, f.used & ebi_lru_if_zero(hit1)};
    const ebi_lru_pair open1 = {f.used & ebi_lru_if_zero(hit2),
                                s.last_used & ebi_lru_if_zero(hit3)};
    return (ebi_lru_found){{(equal0 ^ (equal0 - 1)) & open0, (equal1 ^ (equal1 - 1)) & open1},
                           (hit3 | equal1[1]) != 0};
}

/* The fields in `moved` go one place up, the lowest comes from the last of the pair before. */
EBI_INLINE void ebi_lru_move(uint8_t *at, ebi_lru_pair x, ebi_lru_pair before, ebi_lru_pair moved,
                             ebi_lru_fields f) {
    const ebi_lru_pair below = __builtin_shufflevector(before, x, 1, 2);
    const ebi_lru_pair up = (x << f.bits) | (below >> (f.n - 1) * f.bits);
    x ^= (x ^ up) & moved;
    memcpy(at, &x, sizeof x);
}

EBI_INLINE void ebi_lru_move_plane(uint8_t *plane, ebi_lru_pair print, const ebi_lru_found *found,
                                   ebi_lru_fields f) {
    const ebi_lru_pair x0 = ebi_lru_load(plane), x1 = ebi_lru_load(plane + 16);
    ebi_lru_move(plane, x0, print, found->upto[0], f);
    ebi_lru_move(plane + 16, x1, x0, found->upto[1], f);
}

/* To the front, found or not. */
EBI_INLINE bool ebi_lru_line_observe(uint8_t *line, uint64_t print, ebi_lru_shape s) {
    const ebi_lru_print2 x = ebi_lru_spread(print, s.f);
    const ebi_lru_found found = ebi_lru_find(line, x, s);
    ebi_lru_move_plane(line, x.low, &found, s.f);
    ebi_lru_move_plane(line + 32, x.high, &found, s.f);
    return found.hit;
}

/* Fields above `place` go up, the print goes there. */
EBI_INLINE void ebi_lru_open_plane(uint8_t *plane, ebi_lru_pair print, const ebi_lru_found *found,
                                   const ebi_lru_place *place, ebi_lru_fields f) {
    const ebi_lru_pair x0 = ebi_lru_load(plane), x1 = ebi_lru_load(plane + 16);
    for (unsigned k = 0; k < 2; k++) {
        const ebi_lru_pair x = k == 0 ? x0 : x1;
        const ebi_lru_pair below = __builtin_shufflevector(k == 0 ? x : x0, x, 1, 2);
        const ebi_lru_pair moved = found->upto[k] & ebi_lru_load_mask(place->open + 2 * k);
        const ebi_lru_pair at = ebi_lru_load_mask(place->at + 2 * k);
        ebi_lru_pair up = (x << f.bits) | (below >> (f.n - 1) * f.bits);
        up ^= (up ^ print) & at;
        const ebi_lru_pair y = x ^ ((x ^ up) & moved);
        memcpy(plane + 16 * k, &y, sizeof y);
    }
}

/* A hit moves to the front; a key that is new to a full line is inserted at place[deep] unless
 * `front`, else at place[0]. */
EBI_INLINE bool ebi_lru_line_put(uint8_t *line, uint64_t print, ebi_lru_shape s,
                                 const ebi_lru_place *place, unsigned deep, bool front) {
    const ebi_lru_print2 x = ebi_lru_spread(print, s.f);
    const ebi_lru_found found = ebi_lru_find(line, x, s);
    const bool open = !found.hit & !front & (ebi_lru_last_of(line, s.last_field) != 0);
    place += deep & (0u - open);
    ebi_lru_open_plane(line, x.low, &found, place, s.f);
    ebi_lru_open_plane(line + 32, x.high, &found, place, s.f);
    return found.hit;
}

EBI_INLINE bool ebi_lru_line_has(const uint8_t *line, uint64_t print, ebi_lru_fields f) {
    const ebi_lru_print2 x = ebi_lru_spread(print, f);
    ebi_lru_pair equal = {0, 0};
    for (unsigned k = 0; k < 32; k += 16)
        equal |= ebi_lru_equal(
            (ebi_lru_load(line + k) ^ x.low) | (ebi_lru_load(line + 32 + k) ^ x.high), f);
    return (equal[0] | equal[1]) != 0;
}
#endif
