/* fading.h - forgetting by counting down: each arrival takes 1 from P of m cells.  Used by stable
 * and importance.
 *
 * There are three ways to choose the cells:
 *
 *     sweep    a pointer goes round the array and takes the next P cells.  Every cell loses 1 every
 *              m/P arrivals, so a cell set to v is not zero for at least (v-1) m/P arrivals: a
 *              guarantee that does not depend on chance.
 *     run      P consecutive cells from one random place.  Statistically equal to `random`, with
 *              one cache line instead of P.
 *     random   P cells, each chosen at random, as published.
 *
 * P is in millionths.  Sweep carries the fraction over to the next arrival.  The others round it up
 * with the right probability.  Replays need the same order of draws from the generator: for run,
 * the place, then the rounding; for random, the rounding, then the P places.  Nothing is drawn for
 * rounding if P is a whole number. */
#ifndef EBI_FADING_H
#define EBI_FADING_H
#include "base/rng.h"
#include "packed.h"

enum { EBI_FADE_SWEEP, EBI_FADE_RUN, EBI_FADE_RANDOM };
#define EBI_FADE_CHOICES "sweep|run|random"
enum { EBI_MILLION = 1000000 };

typedef struct ebi_fading_state { /* a segment of the block */
    uint64_t next;                /* sweep: the next cell */
    uint64_t carried;             /* sweep: millionths of a cell */
    uint64_t used;                /* cells that are not zero, if the filter counts them; else 0 */
    uint64_t reserved[5];         /* zero */
} ebi_fading_state;
static_assert(sizeof(ebi_fading_state) == 64, "one cache line");

typedef struct ebi_fading_cells { /* an array and how it fades */
    uint8_t *cells;
    uint64_t n;
    ebi_lane_set lanes;
    unsigned policy;
    uint64_t whole, fraction; /* whole and fractional part of P */
    ebi_fading_state *state;
    uint64_t *rng;
} ebi_fading_cells;

EBI_INLINE ebi_fading_cells ebi_fading(uint8_t *cells, uint64_t n, unsigned width, uint64_t policy,
                                       uint64_t millionths, ebi_fading_state *state,
                                       uint64_t *rng) {
    assert(n > 0 && policy <= EBI_FADE_RANDOM && millionths / EBI_MILLION < n);
    return (ebi_fading_cells){.cells = cells,
                              .n = n,
                              .lanes = ebi_lanes(width),
                              .policy = (unsigned)policy,
                              .whole = millionths / EBI_MILLION,
                              .fraction = millionths % EBI_MILLION,
                              .state = state,
                              .rng = rng};
}

EBI_INLINE uint64_t ebi_fading_rounded(const ebi_fading_cells *f, uint64_t *rng) {
    if (f->fraction == 0) return f->whole;
    return f->whole + (ebi_random_below(rng, EBI_MILLION) < f->fraction);
}

/* n cells from `first`, wrapping around at the end of the array; n is at most f->n. */
EBI_INLINE void ebi_fading_round(const ebi_fading_cells *f, uint64_t first, uint64_t n) {
    assert(first < f->n && n <= f->n);
    const uint64_t to_end = f->n - first;
    ebi_cells_fade(f->cells, f->lanes, first, ebi_min(n, to_end));
    if (n > to_end) ebi_cells_fade(f->cells, f->lanes, 0, n - to_end);
}

EBI_INLINE void ebi_fading_sweep(const ebi_fading_cells *f) {
    assert(f->state->next < f->n && f->state->carried < EBI_MILLION);
    ebi_fading_state *const s = f->state;
    s->carried += f->fraction;
    const uint64_t n = f->whole + (s->carried >= EBI_MILLION);
    if (s->carried >= EBI_MILLION) s->carried -= EBI_MILLION;
    ebi_fading_round(f, s->next, n);
    s->next = s->next + n >= f->n ? s->next + n - f->n : s->next + n;
}

/* One arrival. */
EBI_INLINE void ebi_fading_arrival(const ebi_fading_cells *f) {
    if (f->policy == EBI_FADE_SWEEP) {
        ebi_fading_sweep(f);
    } else if (f->policy == EBI_FADE_RUN) {
        const uint64_t first = ebi_random_below(f->rng, f->n);
        ebi_fading_round(f, first, ebi_fading_rounded(f, f->rng));
    } else {
        for (uint64_t n = ebi_fading_rounded(f, f->rng); n > 0; n--)
            ebi_cells_fade(f->cells, f->lanes, ebi_random_below(f->rng, f->n), 1);
    }
}

/* Prefetches the cells that an arrival will take from. rng is a copy of the generator that runs
 * ahead; the arrival will make the same draws. */
EBI_INLINE void ebi_fading_peek(const ebi_fading_cells *f, uint64_t *rng) {
    if (f->policy == EBI_FADE_SWEEP)
        return; /* it goes on where the last one ended, so the line is in the cache */
    uint64_t n = f->policy == EBI_FADE_RUN ? 1 : ebi_fading_rounded(f, rng);
    for (; n > 0; n--) {
        const uint64_t cell = ebi_random_below(rng, f->n);
        const uint8_t *const p = f->cells + (cell * f->lanes.width >> 3);
        ebi_prefetch_write(p);
        ebi_prefetch_write(p + 7); /* cells are changed eight bytes at a time */
    }
    if (f->policy == EBI_FADE_RUN) (void)ebi_fading_rounded(f, rng);
}

/* Whether this state is possible with n cells. */
EBI_INLINE bool ebi_fading_state_ok(const ebi_fading_state *s, uint64_t n, uint64_t used) {
    return ebi_is_zero(s->reserved, sizeof s->reserved) && s->next < n &&
           s->carried < EBI_MILLION && s->used == used;
}
#endif
