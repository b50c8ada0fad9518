/* window_rotate.c - mode=rotate of the window filter: each line has a small Bloom filter for the
 * present era and for each era before it that is kept.
 *
 *       | stamp, 8 bits | the bits of place 0, one for each of g generations | of place 1 | ...
 *
 * A key has w places out of floor(504 / g).  The bits of a place are next to each other, so one
 * load answers for all generations.  When an era ends, the generation that is too old becomes the
 * new one. */
#include "window.h"

enum { WINDOW_ROTATE_STAMP_BITS = 8, WINDOW_ROTATE_LINE_WORDS = 8 };

typedef struct window_rotate { /* the results of divisions, computed once for many keys */
    unsigned g, places;
    unsigned now; /* the generation of the present era */
} window_rotate;

EBI_INLINE window_rotate window_rotate_open(const ebi_window *x) {
    const unsigned g = x->eras + 1;
    return (window_rotate){g, EBI_WINDOW_ROTATE_BITS / g, (unsigned)(x->state->era % g)};
}

/* The bits of a place, with that of the first generation lowest.  More bits follow. */
EBI_INLINE uint64_t window_rotate_place(const uint8_t *line, unsigned bit) {
    const unsigned byte = bit / 8 < 56 ? bit / 8 : 56;
    return ebi_load64(line + byte) >> (bit - 8 * byte);
}

/* Where the places of a key are. */
typedef struct window_rotate_key {
    unsigned bit[EBI_WINDOW_ROTATE_W_MAX];
} window_rotate_key;

EBI_INLINE window_rotate_key window_rotate_places_of(const window_rotate *r, eb_hash h,
                                                     unsigned k) {
    window_rotate_key key = {{0}};
    uint64_t at = ebi_mix(h);
#pragma GCC unroll 8
    for (unsigned i = 0; i < k; i++, at = eb_next(at))
        key.bit[i] = WINDOW_ROTATE_STAMP_BITS + (unsigned)eb_scale(at, r->places) * r->g;
    return key;
}

/* Which generations have all places of the key. */
EBI_INLINE uint64_t window_rotate_find(const window_rotate *r, const uint8_t *line,
                                       const window_rotate_key *key, unsigned k) {
    uint64_t all = ebi_ones(r->g);
#pragma GCC unroll 8
    for (unsigned i = 0; i < k; i++) all &= window_rotate_place(line, key->bit[i]);
    return all;
}

/* Stores the key if `stored` is true.  Half of the keys may be stored, so there is no branch. */
EBI_INLINE void window_rotate_put(const window_rotate *r, uint8_t *line,
                                  const window_rotate_key *key, unsigned k, bool stored) {
#pragma GCC unroll 8
    for (unsigned i = 0; i < k; i++) {
        const unsigned bit = key->bit[i] + r->now;
        line[bit / 8] = (uint8_t)(line[bit / 8] | (unsigned)stored << bit % 8);
    }
}

/* The generations that began in the last `age` eras, including the present one. */
EBI_INLINE uint64_t window_rotate_begun(const window_rotate *r, unsigned age) {
    const unsigned g = r->g;
    if (age >= g) return ebi_ones(g);
    const uint64_t run = ebi_ones(age)
                         << (r->now + g - age + 1); /* those up to the present one, g places up */
    return (run >> g | run) & ebi_ones(g);
}

/* Removes a set of generations from every place of a line. */
EBI_INLINE void window_rotate_clear(const window_rotate *r, uint8_t *line, uint64_t generations) {
    __extension__ typedef unsigned __int128 window_rotate_wide;
    const unsigned g = r->g, step = 64 % g;
    window_rotate_wide all = generations; /* one place after the other */
    for (unsigned bits = g; bits < 128; bits *= 2) all |= all << bits;
    ebi_store64(line, ebi_load64(line) & ~((uint64_t)all << WINDOW_ROTATE_STAMP_BITS));
    for (unsigned k = 1, at = (64 - WINDOW_ROTATE_STAMP_BITS) % g; k < WINDOW_ROTATE_LINE_WORDS;
         k++) {
        ebi_store64(line + 8 * k, ebi_load64(line + 8 * k) & ~(uint64_t)(all >> at));
        at = at + step < g ? at + step : at + step - g;
    }
}

EBI_INLINE unsigned window_rotate_age(uint64_t era, const uint8_t *line) {
    return (unsigned)(era - line[0]) % EBI_WINDOW_STAMPS;
}

EBI_INLINE bool window_rotate_observe(const window_rotate *r, uint8_t *line, uint64_t era,
                                      eb_hash h, unsigned k, bool refresh, uint64_t *entered) {
    const unsigned age = window_rotate_age(era, line);
    if (age > 0) {
        window_rotate_clear(r, line, window_rotate_begun(r, age));
        line[0] = (uint8_t)era;
    }
    const window_rotate_key key = window_rotate_places_of(r, h, k);
    const uint64_t found = window_rotate_find(r, line, &key, k);
    const bool stored = (found == 0) | (refresh & !(found >> r->now & 1));
    window_rotate_put(r, line, &key, k, stored);
    *entered += stored;
    return found != 0;
}

EBI_INLINE void window_rotate_add(const ebi_params *p, uint8_t *block, const ebi_batch *b,
                                  uint8_t *seen, unsigned k) {
    assert(b->n <= EBI_LONG_BATCH && k >= 1);
    const ebi_window x = ebi_window_open(p, block);
    ebi_window_places to;
    ebi_window_find_places(&x, x.bytes, b->hash, b->n, true, &to);
    for (size_t i = 0; i < b->n;) {
        const size_t end = ebi_window_calm_until(&x, p, block, b, i);
        const window_rotate r = window_rotate_open(&x);
        const uint64_t era = x.state->era;
        uint64_t entered = 0;
        for (; i < end; i++) {
            ebi_window_fetch(&x, x.bytes, &to, i + EBI_WINDOW_AHEAD, true);
            seen[i] = window_rotate_observe(&r, x.lines + to.at[i], era, b->hash[i], k, x.refresh,
                                            &entered);
        }
        ebi_window_enter(&x, entered);
    }
}

EBI_INLINE void window_rotate_test(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                                   uint8_t *seen, unsigned k) {
    assert(b->n <= EBI_LONG_BATCH && k >= 1);
    const ebi_window now = ebi_window_open(p, block);
    ebi_window_places to;
    ebi_window_find_places(&now, now.bytes, b->hash, b->n, false, &to);
    for (size_t i = 0, end; i < b->n;) {
        ebi_window_state then;
        const ebi_window x = ebi_window_as_of(p, block, b, i, &then, &end);
        const window_rotate r = window_rotate_open(&x);
        for (; i < end; i++) {
            ebi_window_fetch(&x, x.bytes, &to, i + EBI_WINDOW_AHEAD, false);
            const uint8_t *const line = x.lines + to.at[i];
            const uint64_t dead = window_rotate_begun(&r, window_rotate_age(x.state->era, line));
            const window_rotate_key key = window_rotate_places_of(&r, b->hash[i], k);
            seen[i] = (window_rotate_find(&r, line, &key, k) & ~dead) != 0;
        }
    }
}

#define WINDOW_ROTATE_LOOPS(k)                                                                     \
    static void rotate_add_##k(const ebi_params *p, uint8_t *block, const ebi_batch *b,            \
                               uint8_t *seen) {                                                    \
        window_rotate_add(p, block, b, seen, k);                                                   \
    }                                                                                              \
    static void rotate_test_##k(const ebi_params *p, const uint8_t *block, const ebi_batch *b,     \
                                uint8_t *seen) {                                                   \
        window_rotate_test(p, block, b, seen, k);                                                  \
    }
#define WINDOW_ROTATE_EACH(M) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8)
#define WINDOW_ROTATE_OPS(k) {.add = rotate_add_##k, .test = rotate_test_##k},
WINDOW_ROTATE_EACH(WINDOW_ROTATE_LOOPS)

const ebi_ops *ebi_window_rotate(const ebi_params *p) {
    static const ebi_ops ops[EBI_WINDOW_ROTATE_W_MAX] = {WINDOW_ROTATE_EACH(WINDOW_ROTATE_OPS)};
    return &ops[p->opt[EBI_WINDOW_W] - 1];
}

/* The bits set in each generation that is alive.  A false positive has w of them set by chance, in
 * one generation. */
void ebi_window_rotate_stat(const ebi_window *x, eb_stats *out) {
    const window_rotate r = window_rotate_open(x);
    const unsigned g = r.g, places = r.places;
    double sum = 0;
    for (uint64_t i = 0; i < x->count; i++) {
        const uint8_t *const line = x->lines + i * x->bytes;
        const uint64_t dead = window_rotate_begun(&r, window_rotate_age(x->state->era, line));
        unsigned set[EBI_WINDOW_ERAS_MAX + 1] = {0};
        double none = 1;
        for (unsigned place = 0; place < places; place++)
            for (unsigned j = 0; j < g; j++)
                set[j] +=
                    (unsigned)(window_rotate_place(line, WINDOW_ROTATE_STAMP_BITS + place * g) >>
                                   j &
                               ~dead >> j & 1);
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
