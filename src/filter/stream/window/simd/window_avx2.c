/* window_avx2.c - the loops of mode=elastic with AVX2: 16 or 8 fingerprints are compared at once.
 *
 * A new key in a line of any width takes one straight piece of code without unpredictable branches.
 * Less frequent cases (other widths, refreshed entries) are handled out of its way, and rare ones
 * (overloaded lines, lines that were not used for a whole window) by the portable loop. */
#include "filter/stream/window/window.h"

#if EBI_X86_64
#include "window_avx2.h"
#define WINDOW_TARGET WINDOW_AVX2
#define WINDOW_MY(name) window_avx2_##name
#include "window_vector.h"

/* false: this loop cannot handle the line */
WINDOW_AVX2 EBI_INLINE bool window_avx2_read(unsigned bytes, const window_sizes *t,
                                             const uint8_t *line, uint64_t era, bool wide,
                                             window_narrow *l) {
    uint32_t header;
    memcpy(&header, line, sizeof header);
    const unsigned w = header >> 8 & 31, slots = t->slots[w], marks = slots + t->eras;
    const unsigned d = ((unsigned)era - header) % EBI_WINDOW_STAMPS;
    if ((slots > t->most) | (d > t->eras)) return false;
    window_pair kept;
    if (wide) {
        const uint8_t *const end = line + bytes - 16;
        kept = window_down((window_pair){~ebi_load64(end), ~ebi_load64(end + 8)}, 128 - marks);
    } else {
        kept = (window_pair){~ebi_load64(line + bytes - 8) >> (WINDOW_WORD - marks), 0};
    }
    /* Expiry, as in ebi_window_expire: up to the end of the d-th era.  It may be too far away for a
     * pair. */
    const uint64_t dth = _pdep_u64(UINT64_C(1) << d >> 1, ~kept.low);
    const unsigned passed = WINDOW_WORD - (unsigned)_lzcnt_u64(dth), old = passed - d;
    if (wide && (old >= WINDOW_WORD - d)) return false;
    kept = wide ? window_down(kept, passed) : (window_pair){kept.low >> passed, 0};
    const unsigned nn = header >> 18 & 127, wn = header >> 13 & 31;
    l->w = w;
    l->slots = slots;
    l->kept = kept;
    l->n = ebi_popcount(kept.low) + (wide ? ebi_popcount(kept.high) : 0);
    l->head = window_wrap((header >> 25) + old, slots);
    l->nn = (nn > old ? nn : old) - old;
    l->wn = nn > old ? wn : w;
    return true;
}

/* Handles what is less frequent than a new key in a line that has room for it. */
typedef window_done window_avx2_rarity(const ebi_window *x, const window_sizes *t, uint8_t *line,
                                       uint64_t era, uint32_t print, uint64_t found);

WINDOW_AVX2 EBI_INLINE window_done window_avx2_do_rare(const ebi_window *x, const window_sizes *t,
                                                       window_shape shape, uint8_t *line,
                                                       uint64_t era, uint32_t print,
                                                       uint64_t found) {
    window_narrow l;
    if (!window_avx2_read(shape.bytes, t, line, era, shape.wide, &l)) return WINDOW_DONE_ELSEWHERE;
    if (found) return window_avx2_renew(x, t, shape, line, era, &l, print, found);
    return window_avx2_enter(x, t, shape, line, era, &l, print);
}

WINDOW_AVX2 EBI_INLINE bool window_avx2_observe(const ebi_window *x, const window_sizes *t,
                                                window_shape shape, window_avx2_rarity *rarely,
                                                uint8_t *line, uint64_t era, uint32_t print,
                                                uint64_t *entered) {
    window_narrow l;
    if (!window_avx2_read(shape.bytes, t, line, era, shape.wide, &l))
        return ebi_window_add_one(x, line, print);
    const uint64_t found = window_avx2_find(x, shape, line, &l, print);
    if (found && !x->refresh) return true;
    if (found || __builtin_expect(window_avx2_can_widen(t, &l) | (l.n == l.slots), false)) {
        const window_done done = rarely(x, t, line, era, print, found);
        if (done == WINDOW_DONE_ELSEWHERE) return ebi_window_add_one(x, line, print);
        *entered += done == WINDOW_DONE_STORED;
        return found != 0;
    }
    window_avx2_append(shape.bytes, t, line, era, shape.wide, &l, print);
    ++*entered;
    return false;
}

WINDOW_AVX2 EBI_INLINE void window_avx2_add_lines(const ebi_params *p, uint8_t *block,
                                                  const ebi_batch *b, uint8_t *seen,
                                                  window_shape shape, window_avx2_rarity *rarely) {
    const ebi_window x = ebi_window_open(p, block);
    const window_sizes t = window_avx2_sizes_of(&x, shape);
    ebi_window_places to;
    ebi_window_find_places(&x, shape.bytes, b->hash, b->n, true, &to);
    for (size_t i = 0; i < b->n;) {
        const size_t end = ebi_window_calm_until(&x, p, block, b, i);
        const uint64_t era = x.state->era;
        uint64_t entered = 0;
        for (; i < end; i++) {
            ebi_window_fetch(&x, shape.bytes, &to, i + EBI_WINDOW_AHEAD, true);
            seen[i] = window_avx2_observe(&x, &t, shape, rarely, x.lines + to.at[i], era,
                                          ebi_window_print(b->hash[i]), &entered);
        }
        ebi_window_enter(&x, entered);
    }
}

WINDOW_AVX2 EBI_INLINE void window_avx2_test_lines(const ebi_params *p, const uint8_t *block,
                                                   const ebi_batch *b, uint8_t *seen,
                                                   window_shape shape) {
    const ebi_window now = ebi_window_open(p, block);
    const window_sizes t = window_avx2_sizes_of(&now, shape);
    ebi_window_places to;
    ebi_window_find_places(&now, shape.bytes, b->hash, b->n, false, &to);
    for (size_t i = 0, end; i < b->n;) {
        ebi_window_state then;
        const ebi_window x = ebi_window_as_of(p, block, b, i, &then, &end);
        const uint64_t era = x.state->era;
        for (; i < end; i++) {
            ebi_window_fetch(&x, shape.bytes, &to, i + EBI_WINDOW_AHEAD, false);
            const uint8_t *const line = x.lines + to.at[i];
            const uint32_t print = ebi_window_print(b->hash[i]);
            window_narrow l;
            seen[i] = window_avx2_read(shape.bytes, &t, line, era, shape.wide, &l)
                          ? window_avx2_find(&x, shape, line, &l, print) != 0
                          : ebi_window_test_one(&x, line, print);
        }
    }
}

/* Loops for few and many slots.  Lines hardly ever become more than four bits narrower than
 * planned. */
#define WINDOW_AVX2_LOOPS(name, ...)                                                               \
    WINDOW_AVX2 __attribute__((noinline)) static window_done name##_rare(                          \
        const ebi_window *x, const window_sizes *t, uint8_t *line, uint64_t era, uint32_t print,   \
        uint64_t found) {                                                                          \
        return window_avx2_do_rare(x, t, (window_shape){__VA_ARGS__}, line, era, print, found);    \
    }                                                                                              \
    WINDOW_AVX2 static void name##_add(const ebi_params *p, uint8_t *block, const ebi_batch *b,    \
                                       uint8_t *seen) {                                            \
        window_avx2_add_lines(p, block, b, seen, (window_shape){__VA_ARGS__}, name##_rare);        \
    }                                                                                              \
    WINDOW_AVX2 static void name##_test(const ebi_params *p, const uint8_t *block,                 \
                                        const ebi_batch *b, uint8_t *seen) {                       \
        window_avx2_test_lines(p, block, b, seen, (window_shape){__VA_ARGS__});                    \
    }                                                                                              \
    static const ebi_ops name = {.add = name##_add, .test = name##_test};
WINDOW_AVX2_LOOPS(window_avx2_shorts_48, 64, false, true, 3)
WINDOW_AVX2_LOOPS(window_avx2_shorts_64, 64, true, true, 4)
WINDOW_AVX2_LOOPS(window_avx2_longs_40, 64, false, false, 5)
WINDOW_AVX2_LOOPS(window_avx2_longs_32, 64, false, false, 4)
WINDOW_AVX2_LOOPS(window_avx2_longs_48, 128, false, false, 6)
WINDOW_AVX2_LOOPS(window_avx2_longs_64, 128, true, false, 8)

const ebi_ops *ebi_window_avx2(const ebi_params *p) {
    const ebi_window x = ebi_window_of(p);
    if (!ebi_has_avx2() || !ebi_has_bmi2()) return NULL;
    if (x.bytes == 128) return x.w < 24 ? &window_avx2_longs_64 : &window_avx2_longs_48;
    if (x.w <= WINDOW_AVX2_SHORT_MAX)
        return x.w < WINDOW_AVX2_SHORT_MAX ? &window_avx2_shorts_64 : &window_avx2_shorts_48;
    return x.w < 19 ? &window_avx2_longs_40 : &window_avx2_longs_32;
}
#else
const ebi_ops *ebi_window_avx2(const ebi_params *p) {
    (void)p;
    return NULL;
}
#endif
