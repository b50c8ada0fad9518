/* lru_planes.h - operations on lines whose fingerprints are stored in two halves, in two planes of
 * four words. lru_loops.h uses them.  Where a key is found is unpredictable, so there is no branch
 * on it.
 *
 * This is a template, included once for each kind of machine.  The including file defines
 * LRU_TARGET (the attribute of functions), LRU_MY(name) (how their names are made) and
 *
 *       bool LRU_MY(gate)(const ebi_lru_plane *equal, ebi_lru_plane *gate)
 *           Whether a word of `equal` is not 0.  The gate is all ones for words up to the first
 * such. void LRU_MY(below)(const ebi_lru_plane *x, const ebi_lru_plane *print, ebi_lru_plane
 * *below) For each word of x the one before it; for the first, the print's.
 *
 * A plane is a vector, for which compilers use the registers that the machine has.  A field that is
 * equal in both planes is 0 in the OR of the differences.  The lowest such field is found
 * exactly. */
#include "lru.h"
#ifndef LRU_MY /* read alone, not as a template */
#define LRU_TARGET
#define LRU_MY(name) lru_##name
bool lru_gate(const ebi_lru_plane *equal, ebi_lru_plane *gate);
void lru_below(const ebi_lru_plane *x, const ebi_lru_plane *print, ebi_lru_plane *below);
#endif

typedef struct LRU_MY(line) { /* the low and the high halves of its fingerprints */
    ebi_lru_plane low, high;
} LRU_MY(line);

LRU_TARGET EBI_INLINE void LRU_MY(load)(LRU_MY(line) * x, const uint8_t *line) {
    x->low = *(const ebi_lru_bytes *)(const void *)line;
    x->high = *(const ebi_lru_bytes *)(const void *)(line + 32);
}

typedef struct LRU_MY(shape) { /* of all lines of a filter */
    ebi_lru_fields f;
    ebi_lru_plane used;  /* the fields of slots */
    uint64_t last_field; /* of words 3 and 7: the field of the last slot */
} LRU_MY(shape);

LRU_TARGET EBI_INLINE void LRU_MY(shape_of)(LRU_MY(shape) * s, unsigned w, unsigned b) {
    const ebi_lru_fields f = s->f = ebi_lru_line_fields(w);
    s->used = (ebi_lru_plane){f.used, f.used, f.used, ebi_lru_last_used(f, b)};
    s->last_field = ebi_ones(f.bits) << (b - 1 - 3 * f.n) * f.bits;
}

LRU_TARGET EBI_INLINE bool LRU_MY(is_full)(const uint8_t *line, const LRU_MY(shape) * s) {
    return ((ebi_load64(line + 24) | ebi_load64(line + 56)) & s->last_field) != 0;
}

LRU_TARGET EBI_INLINE void LRU_MY(spread)(LRU_MY(line) * to, uint64_t print, ebi_lru_fields f) {
    const uint64_t low = (print & ebi_ones(f.bits)) * f.ones, high = (print >> f.bits) * f.ones;
    to->low = (ebi_lru_plane){low, low, low, low};
    to->high = (ebi_lru_plane){high, high, high, high};
}

/* Whether a slot holds the print.  `moved` gets the fields up to that slot, or all. */
LRU_TARGET EBI_INLINE bool LRU_MY(upto)(const LRU_MY(line) * x, const LRU_MY(line) * y,
                                        const LRU_MY(shape) * s, ebi_lru_plane *moved) {
    const ebi_lru_plane differ = (x->low ^ y->low) | (x->high ^ y->high);
    const ebi_lru_plane equal = EBI_LRU_ZERO(differ, s->f);
    const bool hit = LRU_MY(gate)(&equal, moved);
    *moved &= (equal ^ (equal - 1)) & s->used;
    return hit;
}

/* Moves the fields of `moved` up by one.  The print goes to the lowest of them, or to the place
 * where it is inserted further back. */
LRU_TARGET EBI_INLINE void LRU_MY(move)(uint8_t *to, const ebi_lru_plane *x,
                                        const ebi_lru_plane *print, const ebi_lru_plane *moved,
                                        const uint64_t *deeper, ebi_lru_fields f) {
    ebi_lru_plane below, up, at;
    LRU_MY(below)(x, print, &below);
    up = (*x << f.bits) | (below >> (f.n - 1) * f.bits);
    if (deeper) {
        at = *(const ebi_lru_bytes *)(const void *)deeper;
        up ^= (up ^ *print) & at;
    }
    up = *x ^ ((*x ^ up) & *moved);
    *(ebi_lru_bytes *)(void *)to = up;
}

LRU_TARGET EBI_INLINE bool LRU_MY(put)(uint8_t *line, uint64_t print, const LRU_MY(shape) * s,
                                       const ebi_lru_place *place, bool deep, uint8_t to) {
    assert(print != 0);
    LRU_MY(line) x, y;
    ebi_lru_plane moved, open;
    LRU_MY(load)(&x, line);
    LRU_MY(spread)(&y, print, s->f);
    const bool hit = LRU_MY(upto)(&x, &y, s, &moved);
    if (deep) {
        place += to & ((unsigned)hit - 1);
        open = *(const ebi_lru_bytes *)(const void *)place->open;
        moved &= open;
    }
    LRU_MY(move)(line, &x.low, &y.low, &moved, deep ? place->at : NULL, s->f);
    LRU_MY(move)(line + 32, &x.high, &y.high, &moved, deep ? place->at : NULL, s->f);
    return hit;
}

LRU_TARGET EBI_INLINE bool LRU_MY(has)(const uint8_t *line, uint64_t print,
                                       const LRU_MY(shape) * s) {
    assert(print != 0);
    LRU_MY(line) x, y;
    ebi_lru_plane moved;
    LRU_MY(load)(&x, line);
    LRU_MY(spread)(&y, print, s->f);
    return LRU_MY(upto)(&x, &y, s, &moved);
}
