/* window.h - what the files of the window filter share: options, the state after the head, and the
 * functions of each file. window.c explains the layout and the rules. */
#ifndef EBI_WINDOW_H
#define EBI_WINDOW_H
#include "filter/kind.h"

enum {
    EBI_WINDOW_MODE = EBI_O_OWN,
    EBI_WINDOW_WINDOW,
    EBI_WINDOW_UNIT,
    EBI_WINDOW_ITEMS,
    EBI_WINDOW_W,
    EBI_WINDOW_ERAS,
    EBI_WINDOW_LINE,
    EBI_WINDOW_REFRESH,
    EBI_WINDOW_OVERLOAD,
    EBI_WINDOW_FPR
};
enum { EBI_WINDOW_ELASTIC, EBI_WINDOW_ROTATE };
enum { EBI_WINDOW_RECORDS, EBI_WINDOW_TIME };
enum { EBI_WINDOW_YES, EBI_WINDOW_NO };
enum { EBI_WINDOW_SHORTEN, EBI_WINDOW_DEGRADE };

enum {
    EBI_WINDOW_W_MAX = 31,
    EBI_WINDOW_ERAS_MAX = 30,
    EBI_WINDOW_STARTS = 32, /* more than eras, a power of 2 */
    EBI_WINDOW_HEADER = 32, /* bits */
    EBI_WINDOW_STAMPS = 256,
    EBI_WINDOW_PAGE = 16,         /* lines that are swept together */
    EBI_WINDOW_SLACK = 4,         /* free slots that a line needs to become wider */
    EBI_WINDOW_AHEAD = 20,        /* keys whose lines are prefetched */
    EBI_WINDOW_ROTATE_BITS = 504, /* of a line, for all generations */
    EBI_WINDOW_ROTATE_W_MAX = 8
};

/* The state after the head.  Times are ticks: of the clock, or records of this shard. */
typedef struct ebi_window_state {
    uint64_t era;                      /* its number; an idle gap counts as at most eras + 1 */
    uint64_t entered;                  /* entries of this era */
    uint64_t held;                     /* pages that hold something */
    uint64_t saturated;                /* entries that found no room */
    uint64_t shortest;                 /* the shortest window that was kept; UINT64_MAX: as asked */
    uint64_t early;                    /* bit e: era e mod 32 ended the one before it early */
    uint64_t swept;                    /* the page to sweep next */
    uint64_t unswept;                  /* pages that must still be swept */
    uint64_t start[EBI_WINDOW_STARTS]; /* of era e at e mod 32 */
} ebi_window_state;
static_assert(sizeof(ebi_window_state) % 64 == 0, "lines begin on cache lines");

typedef struct ebi_window {
    ebi_window_state *state;
    uint8_t *lines;
    uint64_t *held;         /* after the lines: a bit for each page, 1: a line of it is not zero */
    uint64_t count, pages;  /* of lines, and of pages of 16 lines or less */
    uint64_t length, quota; /* of an era, in ticks and in entries */
    uint64_t ticks;         /* the window, as this shard counts */
    unsigned bytes;         /* of a line */
    unsigned eras, w, cap;
    unsigned room; /* bits of a line for marks and fingerprints, without the marks of eras */
    bool rotate, refresh, degrade;
} ebi_window;

ebi_window ebi_window_of(const ebi_params *p); /* without a block: no state, no lines */
ebi_window ebi_window_open(const ebi_params *p, const uint8_t *block);

/* window_plan.c: the bits that a window item takes at a false-positive rate, the rate that a number
 * of bits gives, and the best w for it. */
typedef struct ebi_window_plan {
    unsigned mode, eras, bytes; /* bytes of a line */
    double lost;                /* the share of the keys taken for others that are not stored */
} ebi_window_plan;
double ebi_window_bits(const ebi_window_plan *plan, double fpr);
double ebi_window_fpr(const ebi_window_plan *plan, double bits);
unsigned ebi_window_width(const ebi_window_plan *plan, double fpr);
double ebi_window_rotate_fpr(const ebi_window_plan *plan, unsigned k, double bits);

/* window_era.c */
void ebi_window_close_eras(const ebi_window *x, uint64_t time);
void ebi_window_sweep(const ebi_window *x,
                      uint64_t most); /* at most so many pages that hold something */
void ebi_window_hold(const ebi_window *x, const eb_hash *h,
                     size_t n); /* must be called before these keys come */
void ebi_window_forgot(const ebi_window *x, uint64_t kept);

/* Whether the era is over at this time. */
EBI_INLINE bool ebi_window_is_over(const ebi_window *x, uint64_t time) {
    const uint64_t start = x->state->start[x->state->era % EBI_WINDOW_STARTS];
    return (time >= start && time - start >= x->length) || x->state->entered >= x->quota;
}

EBI_INLINE void ebi_window_reach(const ebi_window *x, uint64_t time) {
    if (ebi_window_is_over(x, time)) ebi_window_close_eras(x, time);
    if (x->state->unswept > 0) ebi_window_sweep(x, 1);
}

EBI_INLINE bool ebi_window_is_zero(const ebi_window *x, const uint8_t *line) {
    uint64_t any = 0;
    for (unsigned i = 0; i < x->bytes && any == 0; i += 8) any = ebi_load64(line + i);
    return any == 0;
}

/* Whether all that a line holds is too old.  Lines know their era modulo EBI_WINDOW_STAMPS. */
EBI_INLINE bool ebi_window_is_dead(const ebi_window *x, const uint8_t *line) {
    return (unsigned)(x->state->era - line[0]) % EBI_WINDOW_STAMPS > x->eras;
}

/* The time of the i-th key of a batch. */
EBI_INLINE uint64_t ebi_window_time(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                                    size_t i) {
    assert(i < b->n);
    return p->opt[EBI_WINDOW_UNIT] == EBI_WINDOW_TIME ? b->time[i] : ebi_head_of(block)->items + i;
}

/* The end of the keys, from the i-th of a batch on, none of which ends the era (even if all are
 * stored) or needs a page to be swept.  At least one key. */
EBI_INLINE size_t ebi_window_calm_end(const ebi_window *x, const ebi_params *p,
                                      const uint8_t *block, const ebi_batch *b, size_t i) {
    assert(i < b->n && x->state->entered < x->quota);
    const uint64_t room = x->quota - x->state->entered;
    const size_t end = b->n - i < room ? b->n : i + (size_t)room;
    if (x->state->unswept > 0) return i + 1;
    if (!ebi_window_is_over(x, ebi_window_time(p, block, b, end - 1))) return end;
    for (i++; !ebi_window_is_over(x, ebi_window_time(p, block, b, i));) i++;
    return i;
}

/* Lets time pass until the i-th key of a batch, and marks the pages of the keys up to the one whose
 * index is returned. */
EBI_INLINE size_t ebi_window_calm_until(const ebi_window *x, const ebi_params *p,
                                        const uint8_t *block, const ebi_batch *b, size_t i) {
    ebi_window_reach(x, ebi_window_time(p, block, b, i));
    const size_t end = ebi_window_calm_end(x, p, block, b, i);
    if (x->state->held < x->pages) ebi_window_hold(x, b->hash + i, end - i);
    return end;
}

EBI_INLINE void ebi_window_enter(const ebi_window *x, uint64_t entries) {
    x->state->entered += entries;
}

/* The lines of the keys of a batch; after the last key, any line.  A line of 128 bytes is two cache
 * lines. */
typedef struct ebi_window_places {
    uint64_t at[EBI_LONG_BATCH + EBI_WINDOW_AHEAD];
} ebi_window_places;

/* bytes: of a line, which the loops know at compile time. */
EBI_INLINE void ebi_window_fetch(const ebi_window *x, unsigned bytes, const ebi_window_places *to,
                                 size_t i, bool write) {
    assert(bytes == x->bytes && i < EBI_COUNT_OF(to->at));
    for (unsigned part = 0; part < bytes; part += 64) {
        if (write)
            ebi_prefetch_write(x->lines + to->at[i] + part);
        else
            ebi_prefetch_read(x->lines + to->at[i] + part);
    }
}

EBI_INLINE void ebi_window_find_places(const ebi_window *x, unsigned bytes, const eb_hash *h,
                                       size_t n, bool write, ebi_window_places *to) {
    assert(n <= EBI_LONG_BATCH);
    for (size_t i = 0; i < n; i++) to->at[i] = eb_scale(h[i], x->count) * bytes;
    for (size_t i = n; i < n + EBI_WINDOW_AHEAD; i++) to->at[i] = 0;
    for (size_t i = 0; i < EBI_WINDOW_AHEAD; i++) ebi_window_fetch(x, bytes, to, i, write);
}

/* The filter as it will be at the time of the i-th key, if no other comes before. *end is the next
 * key with another time.  Only the era may be read: it is in `then`, and nothing is written. */
EBI_INLINE ebi_window ebi_window_as_of(const ebi_params *p, const uint8_t *block,
                                       const ebi_batch *b, size_t i, ebi_window_state *then,
                                       size_t *end) {
    assert(i < b->n);
    ebi_window x = ebi_window_open(p, block);
    *end = b->n;
    if (p->opt[EBI_WINDOW_UNIT] != EBI_WINDOW_TIME) return x;
    const uint64_t time = b->time[i], start = x.state->start[x.state->era % EBI_WINDOW_STARTS];
    for (*end = i + 1; *end < b->n && b->time[*end] == time;) ++*end;
    if (time < start || time - start < x.length) return x;
    then->era = x.state->era + ebi_min((time - start) / x.length, x.eras + 1);
    x.state = then;
    return x;
}

/* The loops: portable ones; with AVX2 and AVX-512, or NULL; and those of mode=rotate. */
extern const ebi_ops ebi_window_portable;
const ebi_ops *ebi_window_vbmi(const ebi_params *p);
const ebi_ops *ebi_window_avx2(const ebi_params *p);
const ebi_ops *ebi_window_rotate(const ebi_params *p);
void ebi_window_rotate_stat(const ebi_window *x, eb_stats *out);
#endif
