/* window_narrow.h - a line of mode=elastic as the vectorised loops see it: as it is after expiry,
 * with its marks inverted. */
#ifndef EBI_WINDOW_NARROW_H
#define EBI_WINDOW_NARROW_H
#include "window_line.h"
#include <immintrin.h>

enum { WINDOW_WORD = 64, WINDOW_TABLE = 64 }; /* WINDOW_TABLE: one vector */

/* What the loop knows about all lines of a filter. */
typedef struct window_sizes {
    uint8_t slots[EBI_WINDOW_W_MAX + 1]; /* of a line, by w; w = 0: too many for this loop */
    uint8_t widen_below[WINDOW_TABLE];   /* a line with fewer entries becomes wider, by w */
    unsigned eras, most;                 /* the most slots that this loop can handle */
} window_sizes;

/* Tables by width: M for 0..7, and for four widths. */
#define WINDOW_EACH_8(M, ...)                                                                      \
    M(__VA_ARGS__, 0), M(__VA_ARGS__, 1), M(__VA_ARGS__, 2), M(__VA_ARGS__, 3), M(__VA_ARGS__, 4), \
        M(__VA_ARGS__, 5), M(__VA_ARGS__, 6), M(__VA_ARGS__, 7)
#define WINDOW_FOUR(M, w, ...)                                                                     \
    M(w, __VA_ARGS__), M((w) + 1, __VA_ARGS__), M((w) + 2, __VA_ARGS__), M((w) + 3, __VA_ARGS__)

/* What a loop is compiled for: bytes of a line, whether marks may need more than 64 bits, and how
 * many groups of fingerprints there are of up to 16 bits, or of more. */
typedef struct window_shape {
    unsigned bytes;
    bool wide, shorts;
    unsigned groups;
} window_shape;

/* 128 bits, and their shifts by 0..127 places. */
typedef struct window_pair {
    uint64_t low, high;
} window_pair;

EBI_INLINE window_pair window_down(window_pair x, unsigned by) {
    const unsigned within = by % WINDOW_WORD;
    const uint64_t high = x.high >> within, low = x.low >> within | x.high << 1 << (63 - within);
    return by < WINDOW_WORD ? (window_pair){low, high} : (window_pair){high, 0};
}

EBI_INLINE window_pair window_up(window_pair x, unsigned by) {
    const unsigned within = by % WINDOW_WORD;
    const uint64_t low = x.low << within, high = x.high << within | x.low >> 1 >> (63 - within);
    return by < WINDOW_WORD ? (window_pair){low, high} : (window_pair){0, low};
}

/* A line as it is after expiry. */
typedef struct window_narrow {
    unsigned w, wn, nn, head, n, slots;
    window_pair kept; /* marks inverted: 1 an entry, 0 the end of an era, zeros after the last */
} window_narrow;

/* slot < 2 * slots.  No unpredictable branch: as unsigned numbers, negative ones are large. */
EBI_INLINE unsigned window_wrap(unsigned slot, unsigned slots) {
    assert(slots > 0 && slot < 2 * slots);
    return slot - slots < slot ? slot - slots : slot;
}

/* What happened to a key: its line was written, or stays as it is, or the portable loop must handle
 * it. */
typedef enum window_done {
    WINDOW_DONE_STORED,
    WINDOW_DONE_NOTHING,
    WINDOW_DONE_ELSEWHERE
} window_done;
#endif
