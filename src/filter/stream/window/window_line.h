/* window_line.h - a line of mode=elastic: a ring of fingerprints in order of arrival, with marks
 * that say where eras end. window.c shows the layout. */
#ifndef EBI_WINDOW_LINE_H
#define EBI_WINDOW_LINE_H
#include "window.h"

enum { EBI_WINDOW_SLOTS_MAX = 96 };
__extension__ typedef unsigned __int128 ebi_wide;

/* An opened line: its header and its marks. */
typedef struct ebi_window_line {
    unsigned stamp;
    unsigned w, wn, nn; /* the nn oldest entries are known to wn bits only, the others to w */
    unsigned head;      /* the slot of the oldest entry */
    unsigned n, slots;
    ebi_wide marks; /* oldest first: 0 an entry, 1 the end of an era; ones after the last entry */
} ebi_window_line;

EBI_INLINE unsigned ebi_wide_zeros(ebi_wide x) { /* the number of zeros */
    return ebi_popcount(~(uint64_t)x) + ebi_popcount(~(uint64_t)(x >> 64));
}

EBI_INLINE unsigned ebi_wide_ctz(ebi_wide x) { /* x != 0 */
    assert(x != 0);
    return (uint64_t)x ? ebi_ctz((uint64_t)x) : 64 + ebi_ctz((uint64_t)(x >> 64));
}

/* Shifts by 0..127 places, word by word: for shifts by a variable, compilers for 32-bit machines
 * would call a function. */
EBI_INLINE ebi_wide ebi_wide_down(ebi_wide x, unsigned by) {
    assert(by < 128);
    const unsigned within = by % 64;
    const uint64_t high = (uint64_t)(x >> 64) >> within;
    const uint64_t low = (uint64_t)x >> within | (uint64_t)(x >> 64) << 1 << (63 - within);
    return by < 64 ? (ebi_wide)high << 64 | low : high;
}

EBI_INLINE ebi_wide ebi_wide_up(ebi_wide x, unsigned by) {
    assert(by < 128);
    const unsigned within = by % 64;
    const uint64_t low = (uint64_t)x << within;
    const uint64_t high = (uint64_t)(x >> 64) << within | (uint64_t)x >> 1 >> (63 - within);
    return by < 64 ? (ebi_wide)high << 64 | low : (ebi_wide)low << 64;
}

EBI_INLINE ebi_wide ebi_wide_ones(unsigned n) { /* n < 128 */
    return ebi_wide_up(1, n) - 1;
}

/* The slots that a line has for fingerprints of w bits: each takes w bits and a mark. */
EBI_INLINE unsigned ebi_window_slots_uncapped(const ebi_window *x, unsigned w) {
    static const uint16_t inverse[EBI_WINDOW_W_MAX + 3] = {
        /* ceil(2^16 / i): exact, room < 2^10 */
        0,    0,    32768, 21846, 16384, 13108, 10923, 9363, 8192, 7282, 6554, 5958,
        5462, 5042, 4682,  4370,  4096,  3856,  3641,  3450, 3277, 3121, 2979, 2850,
        2731, 2622, 2521,  2428,  2341,  2260,  2185,  2115, 2048, 1986};
    return x->room * inverse[w + 1] >> 16;
}

EBI_INLINE unsigned ebi_window_slots(const ebi_window *x, unsigned w) {
    const unsigned n = ebi_window_slots_uncapped(x, w);
    return n < x->cap ? n : x->cap;
}

EBI_INLINE unsigned ebi_window_marks(const ebi_window *x, unsigned slots) {
    return slots + x->eras;
}

EBI_INLINE ebi_wide ebi_window_load_end(const ebi_window *x, const uint8_t *line) {
    ebi_wide end;
    memcpy(&end, line + x->bytes - sizeof end, sizeof end);
    return end;
}

EBI_INLINE void ebi_window_make_empty(const ebi_window *x, ebi_window_line *l) {
    l->w = l->wn = x->w;
    l->slots = ebi_window_slots(x, x->w);
    l->nn = l->n = l->head = 0;
    l->marks = ~(ebi_wide)0;
}

EBI_INLINE ebi_window_line ebi_window_read(const ebi_window *x, const uint8_t *line) {
    uint32_t header;
    memcpy(&header, line, sizeof header);
    ebi_window_line l = {.stamp = header & 255,
                         .w = header >> 8 & 31,
                         .wn = header >> 13 & 31,
                         .nn = header >> 18 & 127,
                         .head = header >> 25};
    l.slots = ebi_window_slots(x, l.w);
    const unsigned marks = ebi_window_marks(x, l.slots);
    l.marks = ~ebi_wide_down(~ebi_window_load_end(x, line), 128 - marks);
    l.n = ebi_wide_zeros(l.marks);
    if (l.w == 0) ebi_window_make_empty(x, &l);
    return l;
}

EBI_INLINE void ebi_window_write(const ebi_window *x, uint8_t *line, const ebi_window_line *l) {
    const uint32_t header = l->stamp | l->w << 8 | l->wn << 13 | l->nn << 18 | l->head << 25;
    const unsigned above = 128 - ebi_window_marks(x, l->slots);
    const ebi_wide end =
        (ebi_window_load_end(x, line) & ebi_wide_ones(above)) | ebi_wide_up(l->marks, above);
    memcpy(line, &header, sizeof header);
    memcpy(line + x->bytes - sizeof end, &end, sizeof end);
}

/* Fields.  Eight bytes hold a field wherever it begins.  Near the end of the line they are its last
 * eight. */

typedef struct ebi_window_place {
    unsigned byte, shift;
} ebi_window_place;

EBI_INLINE ebi_window_place ebi_window_place_of(unsigned bytes, unsigned slot, unsigned w) {
    assert(w >= 1 && w <= 32);
    const unsigned bit = EBI_WINDOW_HEADER + slot * w;
    const unsigned byte = bit / 8 < bytes - 8 ? bit / 8 : bytes - 8;
    return (ebi_window_place){byte, bit - 8 * byte};
}

EBI_INLINE uint32_t ebi_window_get(const ebi_window *x, const uint8_t *line, unsigned slot,
                                   unsigned w) {
    const ebi_window_place at = ebi_window_place_of(x->bytes, slot, w);
    return (uint32_t)(ebi_load64(line + at.byte) >> at.shift & ebi_ones(w));
}

EBI_INLINE void ebi_window_put(const ebi_window *x, uint8_t *line, unsigned slot, unsigned w,
                               uint32_t print) {
    assert(w >= 1 && w <= 32);
    const ebi_window_place at = ebi_window_place_of(x->bytes, slot, w);
    const uint64_t mask = ebi_ones(w), others = ebi_load64(line + at.byte) & ~(mask << at.shift);
    ebi_store64(line + at.byte, others | (print & mask) << at.shift);
}

/* The ring */

EBI_INLINE unsigned ebi_window_slot(const ebi_window_line *l, unsigned i) { /* i-th oldest */
    const unsigned slot = l->head + i;
    return slot < l->slots ? slot : slot - l->slots;
}

/* Expiry: entries before the mark for the end of the d-th era are too old. */
EBI_INLINE void ebi_window_expire(const ebi_window *x, ebi_window_line *l, uint64_t era) {
    const unsigned d = (unsigned)(era - l->stamp) % EBI_WINDOW_STAMPS;
    l->stamp = (unsigned)era % EBI_WINDOW_STAMPS;
    if (d == 0) return;
    if (d > x->eras) {
        ebi_window_make_empty(x, l);
        return;
    }
    ebi_wide m = l->marks;
    for (unsigned i = 1; i < d; i++) m &= m - 1;
    const unsigned passed = ebi_wide_ctz(m) + 1, old = passed - d;
    l->marks = ~ebi_wide_down(~l->marks, passed);
    l->n -= old;
    l->head = ebi_window_slot(l, old);
    l->nn -= l->nn < old ? l->nn : old;
    if (l->nn == 0) l->wn = l->w;
}

/* A key's fingerprint.  A line keeps as many bits of it as it has room for. */
EBI_INLINE uint32_t ebi_window_print(eb_hash h) {
    return (uint32_t)h;
}

/* Adds one key and returns whether it was seen, whatever the state of the line. */
bool ebi_window_add_one(const ebi_window *x, uint8_t *line, uint32_t print);
bool ebi_window_test_one(const ebi_window *x, const uint8_t *line, uint32_t print);
#endif
