/* window_vector.h - the part of the vectorised loops of mode=elastic that AVX2 and AVX-512 share.
 * They leave the same bytes as the portable loops.
 *
 * This is a template, included once for each kind of machine.  The including file defines
 * WINDOW_TARGET (the attribute of functions) and WINDOW_MY(name) (how their names are made), for
 * the functions here and for those of window_avx2.h or window_vbmi.h that it uses.
 *
 * A new key in a line of any width takes one straight piece of code without unpredictable branches.
 * Less frequent cases (other widths, refreshed entries) are handled out of its way, and rare ones
 * (overloaded lines, lines that were not used for a whole window) by the portable loop. */
#ifndef WINDOW_MY /* read alone, not as a template */
#include "window_avx2.h"
#define WINDOW_TARGET WINDOW_AVX2
#define WINDOW_MY(name) window_avx2_##name
#endif

WINDOW_TARGET EBI_INLINE void WINDOW_MY(write)(unsigned bytes, const window_sizes *t, uint8_t *line,
                                               uint64_t era, bool wide, const window_narrow *l) {
    assert(l->n <= l->slots && l->head < l->slots);
    const uint32_t header =
        ((unsigned)era % EBI_WINDOW_STAMPS) | l->w << 8 | l->wn << 13 | l->nn << 18 | l->head << 25;
    const unsigned marks = l->slots + t->eras;
    memcpy(line, &header, sizeof header);
    uint8_t *const end = line + bytes - 8;
    if (wide) {
        const unsigned above = 128 - marks;
        const window_pair ends = window_up((window_pair){~l->kept.low, ~l->kept.high}, above);
        const unsigned last = above > WINDOW_WORD ? above - WINDOW_WORD : 0;
        ebi_store64(end - 8, _bzhi_u64(ebi_load64(end - 8), above) | ends.low);
        ebi_store64(end, _bzhi_u64(ebi_load64(end), last) | ends.high);
    } else {
        const unsigned above = WINDOW_WORD - marks;
        ebi_store64(end, _bzhi_u64(ebi_load64(end), above) | ~l->kept.low << above);
    }
}

EBI_INLINE bool WINDOW_MY(can_widen)(const window_sizes *t, const window_narrow *l) {
    return (l->n | l->nn << 8) < t->widen_below[l->w];
}

WINDOW_TARGET EBI_INLINE void WINDOW_MY(put)(unsigned bytes, uint8_t *line, unsigned slot,
                                             unsigned w, uint32_t print) {
    const ebi_window_place at = ebi_window_place_of(bytes, slot, w);
    const uint64_t word = ebi_load64(line + at.byte);
    const uint64_t differ = _bzhi_u64(word >> at.shift ^ print, w);
    ebi_store64(line + at.byte, word ^ differ << at.shift);
}

WINDOW_TARGET EBI_INLINE void WINDOW_MY(append)(unsigned bytes, const window_sizes *t,
                                                uint8_t *line, uint64_t era, bool wide,
                                                window_narrow *l, uint32_t print) {
    assert(l->n < l->slots && l->slots <= t->most);
    const unsigned slot = window_wrap(l->head + l->n, l->slots), mark = l->n + t->eras;
    l->kept.low |= (uint64_t)(!wide || mark < WINDOW_WORD) << mark % WINDOW_WORD;
    if (wide) l->kept.high |= (uint64_t)(mark >= WINDOW_WORD) << mark % WINDOW_WORD;
    WINDOW_MY(write)(bytes, t, line, era, wide, l);
    WINDOW_MY(put)(bytes, line, slot, l->w, print);
}

/* The same as window_repack. */
WINDOW_TARGET EBI_INLINE void WINDOW_MY(repack)(const window_sizes *t, window_shape shape,
                                                uint8_t *line, window_narrow *l, unsigned w) {
    assert(w >= 1 && l->n <= t->slots[w]);
    WINDOW_MY(repack_prints)(shape, line, l, w);
    l->w = w;
    l->slots = t->slots[w];
    l->head = 0;
}

WINDOW_TARGET EBI_INLINE void WINDOW_MY(widen)(const ebi_window *x, const window_sizes *t,
                                               window_shape shape, uint8_t *line,
                                               window_narrow *l) {
    assert(l->w < x->w && l->nn == 0);
    unsigned w = x->w;
    while (t->slots[w] < l->n + EBI_WINDOW_SLACK) w--;
    l->wn = l->n ? l->w : w;
    l->nn = l->n;
    WINDOW_MY(repack)(t, shape, line, l, w);
}

/* false: this loop cannot handle the line, and nothing was done. */
WINDOW_TARGET EBI_INLINE bool WINDOW_MY(make_room)(const window_sizes *t, window_shape shape,
                                                   uint8_t *line, window_narrow *l) {
    unsigned w = l->w - 1;
    while (w > 0 && t->slots[w] <= l->n) w--;
    if (t->slots[w] > t->most) return false;
    if (l->wn >= w) {
        l->wn = w;
        l->nn = 0;
    }
    WINDOW_MY(repack)(t, shape, line, l, w);
    return true;
}

/* The youngest of these slots, counted from the oldest entry. */
WINDOW_TARGET EBI_INLINE unsigned WINDOW_MY(youngest)(const window_narrow *l, uint64_t found) {
    assert(found != 0 && l->slots <= WINDOW_WORD);
    const uint64_t aged = found >> l->head | found << (l->slots - l->head) % WINDOW_WORD;
    return 63 - (unsigned)_lzcnt_u64(_bzhi_u64(aged, l->slots));
}

/* The marks before that of the i-th entry, as ones. */
WINDOW_TARGET EBI_INLINE window_pair WINDOW_MY(before)(const window_narrow *l, unsigned i,
                                                       bool wide) {
    assert(i < l->n);
    const unsigned first = wide ? ebi_popcount(l->kept.low) : WINDOW_WORD;
    const bool high = i >= first;
    const uint64_t ith = UINT64_C(1) << (i - (high ? first : 0)) % WINDOW_WORD;
    const uint64_t before = _pdep_u64(ith, high ? l->kept.high : l->kept.low) - 1;
    return high ? (window_pair){~UINT64_C(0), before} : (window_pair){before, 0};
}

/* Whether that entry is of the present era. */
EBI_INLINE bool WINDOW_MY(is_new)(const window_sizes *t, unsigned i, window_pair before,
                                  bool wide) {
    const unsigned marks = ebi_popcount(before.low) + (wide ? ebi_popcount(before.high) : 0);
    return marks == i + t->eras;
}

/* Removes the mark after these. */
EBI_INLINE void WINDOW_MY(take_mark)(window_narrow *l, window_pair before) {
    const window_pair rest = {l->kept.low >> 1 | l->kept.high << 63, l->kept.high >> 1};
    l->kept.low = (l->kept.low & before.low) | (rest.low & ~before.low);
    l->kept.high = (l->kept.high & before.high) | (rest.high & ~before.high);
}

/* Removes the i-th entry: the slots on one side of the gap, the side where they are in one piece,
 * move into it. */
WINDOW_TARGET EBI_INLINE void WINDOW_MY(take_out)(unsigned bytes, uint8_t *line, window_narrow *l,
                                                  unsigned i, window_pair before) {
    assert(i < l->n);
    const unsigned gap = window_wrap(l->head + i, l->slots);
    const unsigned last = window_wrap(l->head + l->n - 1, l->slots);
    const bool up = gap >= l->head;
    const unsigned first = up ? l->head : gap + 1, end = up ? gap : last + 1;
    WINDOW_MY(take_mark)(l, before);
    WINDOW_MY(shift)
    (line, bytes, EBI_WINDOW_HEADER + first * l->w, EBI_WINDOW_HEADER + end * l->w, l->w, up);
    l->head = window_wrap(l->head + up, l->slots);
    l->n--;
}

/* Adds a new entry to a line, which may have to change its width for it. */
WINDOW_TARGET EBI_INLINE window_done WINDOW_MY(enter)(const ebi_window *x, const window_sizes *t,
                                                      window_shape shape, uint8_t *line,
                                                      uint64_t era, window_narrow *l,
                                                      uint32_t print) {
    if (!WINDOW_MY(can_repack)(x->w)) return WINDOW_DONE_ELSEWHERE;
    if (WINDOW_MY(can_widen)(t, l)) WINDOW_MY(widen)(x, t, shape, line, l);
    if (l->n == l->slots && !WINDOW_MY(make_room)(t, shape, line, l)) return WINDOW_DONE_ELSEWHERE;
    WINDOW_MY(append)(shape.bytes, t, line, era, shape.wide, l, print);
    return WINDOW_DONE_STORED;
}

/* A repeat: its entry becomes one of the present era.  If the entry is only partly known, it may be
 * another key's, and stays. */
WINDOW_TARGET EBI_INLINE window_done WINDOW_MY(renew)(const ebi_window *x, const window_sizes *t,
                                                      window_shape shape, uint8_t *line,
                                                      uint64_t era, window_narrow *l,
                                                      uint32_t print, uint64_t found) {
    const unsigned i = WINDOW_MY(youngest)(l, found);
    const window_pair before = WINDOW_MY(before)(l, i, shape.wide);
    if (WINDOW_MY(is_new)(t, i, before, shape.wide)) return WINDOW_DONE_NOTHING;
    if (__builtin_expect(WINDOW_MY(can_widen)(t, l) | (i < l->nn), false))
        return WINDOW_MY(enter)(x, t, shape, line, era, l, print);
    WINDOW_MY(take_out)(shape.bytes, line, l, i, before);
    WINDOW_MY(append)(shape.bytes, t, line, era, shape.wide, l, print);
    return WINDOW_DONE_STORED;
}

EBI_INLINE window_sizes WINDOW_MY(sizes_of)(const ebi_window *x, window_shape shape) {
    const unsigned compared = WINDOW_MY(each)(shape) * shape.groups;
    const unsigned marked = (shape.wide ? 127 : 63) - x->eras;
    window_sizes t = {.slots = {255}, .eras = x->eras};
    for (unsigned w = 1; w <= x->w; w++) {
        t.slots[w] = (uint8_t)ebi_window_slots(x, w);
        t.widen_below[w - 1] = (uint8_t)(t.slots[w] - EBI_WINDOW_SLACK + 1);
    }
    t.most = compared < marked ? compared : marked;
    return t;
}
#undef WINDOW_TARGET
#undef WINDOW_MY
