/* window_rotate.c - mode=rotate: small Bloom filters in one line, one for each era that is kept and
 * one for the present one.
 *
 *     | stamp, 8 bits | the bits of place 0, one for each of g generations | of place 1 | ...
 *
 * A key has w places of floor(504 / g).  Since the bits of a place are neighbours, one load answers
 * for all generations.  When an era ends, the generation that is too old becomes the new one. */
#include "window.h"

enum { STAMP_BITS = 8, ALL_BITS = 504, LINE_WORDS = 8 };

typedef struct rotate { /* what divisions give, once for many keys */
    unsigned g, places, k;
    unsigned now; /* the generation of this era */
} rotate;

EB_INLINE rotate rotate_open(const ebi_window *x) {
    const unsigned g = x->eras + 1;
    return (rotate){g, ALL_BITS / g, x->w, (unsigned)(x->state->era % g)};
}

/* The bits of a place, the first generation lowest; more bits follow. */
EB_INLINE uint64_t rotate_place(const uint8_t *line, unsigned bit) {
    const unsigned byte = bit / 8 < 56 ? bit / 8 : 56;
    return ebi_load64(line + byte) >> (bit - 8 * byte);
}

/* Which generations have all places of the key? */
EB_INLINE uint64_t rotate_find(const rotate *r, const uint8_t *line, eb_hash h) {
    uint64_t all = ebi_ones(r->g), at = ebi_mix(h);
    for (unsigned i = 0; i < r->k; i++, at = eb_next(at))
        all &= rotate_place(line, STAMP_BITS + (unsigned)eb_scale(at, r->places) * r->g);
    return all;
}

EB_INLINE void rotate_put(const rotate *r, uint8_t *line, eb_hash h) {
    uint64_t at = ebi_mix(h);
    for (unsigned i = 0; i < r->k; i++, at = eb_next(at)) {
        const unsigned bit = STAMP_BITS + (unsigned)eb_scale(at, r->places) * r->g + r->now;
        line[bit / 8] = (uint8_t)(line[bit / 8] | 1u << bit % 8);
    }
}

/* The generations that began since era `then`, the one of now included, of those that are kept. */
EB_INLINE uint64_t rotate_begun(const rotate *r, unsigned age) {
    const unsigned g = r->g;
    if (age >= g) return ebi_ones(g);
    const uint64_t run = ebi_ones(age) << (r->now + g - age + 1); /* those up to now, g places up */
    return (run >> g | run) & ebi_ones(g);
}

/* Takes a set of generations out of every place of a line. */
EB_INLINE void rotate_clear(const rotate *r, uint8_t *line, uint64_t generations) {
    __extension__ typedef unsigned __int128 rotate_wide;
    const unsigned g = r->g, step = 64 % g;
    rotate_wide all = generations; /* one place after the other */
    for (unsigned bits = g; bits < 128; bits *= 2) all |= all << bits;
    ebi_store64(line, ebi_load64(line) & ~((uint64_t)all << STAMP_BITS));
    for (unsigned k = 1, at = (64 - STAMP_BITS) % g; k < LINE_WORDS; k++) {
        ebi_store64(line + 8 * k, ebi_load64(line + 8 * k) & ~(uint64_t)(all >> at));
        at = at + step < g ? at + step : at + step - g;
    }
}

EB_INLINE unsigned rotate_age(const ebi_window *x, const uint8_t *line) {
    return (unsigned)(x->state->era - line[0]) % EBI_WINDOW_STAMPS;
}

EB_INLINE bool rotate_observe(const ebi_window *x, const rotate *r, uint8_t *line, eb_hash h) {
    const unsigned age = rotate_age(x, line);
    if (age > 0) {
        rotate_clear(r, line, rotate_begun(r, age));
        line[0] = (uint8_t)x->state->era;
    }
    const uint64_t found = rotate_find(r, line, h);
    if (!found || (x->refresh && !(found >> r->now & 1))) {
        rotate_put(r, line, h);
        ebi_window_enter(x, 1);
    }
    return found != 0;
}

static void rotate_add(const eb_params *p, uint8_t *block, const eb_batch *b, uint8_t *seen) {
    const ebi_window x = ebi_window_open(p, block);
    rotate r = rotate_open(&x);
    uint64_t era = x.state->era;
    ebi_window_places to;
    ebi_window_find_places(&x, b->hash, b->n, true, &to);
    for (size_t i = 0; i < b->n; i++) {
        ebi_window_fetch(&x, &to, i + EBI_WINDOW_AHEAD, true);
        ebi_window_reach(&x, ebi_window_time(p, block, b, i));
        if (x.state->era != era) r = rotate_open(&x);
        era = x.state->era;
        seen[i] = rotate_observe(&x, &r, x.lines + to.at[i], b->hash[i]);
    }
}

static void rotate_test(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                        uint8_t *seen) {
    const ebi_window x = ebi_window_open(p, block);
    const rotate r = rotate_open(&x);
    ebi_window_places to;
    ebi_window_find_places(&x, h, n, false, &to);
    for (size_t i = 0; i < n; i++) {
        ebi_window_fetch(&x, &to, i + EBI_WINDOW_AHEAD, false);
        const uint8_t *const line = x.lines + to.at[i];
        const uint64_t dead = rotate_begun(&r, rotate_age(&x, line));
        seen[i] = (rotate_find(&r, line, h[i]) & ~dead) != 0;
    }
}

const eb_ops *ebi_window_rotate(void) {
    static const eb_ops ops = {.add = rotate_add, .test = rotate_test};
    return &ops;
}

/* Bits set in each generation that lives; w of them by chance, in any of them, is a false one. */
void ebi_window_rotate_stat(const ebi_window *x, eb_stats *out) {
    const rotate r = rotate_open(x);
    const unsigned g = r.g, places = r.places;
    double sum = 0;
    for (uint64_t i = 0; i < x->count; i++) {
        const uint8_t *const line = x->lines + i * x->bytes;
        const uint64_t dead = rotate_begun(&r, rotate_age(x, line));
        unsigned set[EBI_WINDOW_ERAS_MAX + 1] = {0};
        double none = 1;
        for (unsigned place = 0; place < places; place++)
            for (unsigned j = 0; j < g; j++)
                set[j] +=
                    (unsigned)(rotate_place(line, STAMP_BITS + place * g) >> j & ~dead >> j & 1);
        for (unsigned j = 0; j < g; j++) {
            double all = 1;
            for (unsigned k = 0; k < x->w; k++) all *= (double)set[j] / places;
            none *= 1 - all;
            out->cells_used += set[j];
        }
        sum += 1 - none;
    }
    out->fpr = sum / (double)x->count;
}
