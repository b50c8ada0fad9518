/* window_vbmi.c - the loops of mode=elastic with AVX-512: eight keys of different lines at once.
 *
 * Headers and marks are evaluated for all eight lines, one in each lane, and so is what would be
 * written if a key is new.  Then each line is compared with its key.  Whether a key is new is
 * unpredictable, but little work depends on it by then.  Lines that need more (other widths,
 * refreshed entries) follow one by one. */
#include "filter/stream/window/window.h"
#include <stdalign.h>

#if EBI_X86_64
#include "window_vbmi.h"
#define WINDOW_TARGET WINDOW_VBMI
#define WINDOW_MY(name) window_vbmi_##name
#include "window_vector.h"

enum { WINDOW_VBMI_EIGHT = 8 };

/* The lines of eight keys: as they are after expiry (see window_narrow), the slots of all entries
 * and of the first nn, and what is written if a key is new. */
typedef struct window_vbmi_eight {
    alignas(64) uint64_t w[WINDOW_VBMI_EIGHT];
    uint64_t wn[WINDOW_VBMI_EIGHT], nn[WINDOW_VBMI_EIGHT], head[WINDOW_VBMI_EIGHT],
        n[WINDOW_VBMI_EIGHT], slots[WINDOW_VBMI_EIGHT], low[WINDOW_VBMI_EIGHT],
        high[WINDOW_VBMI_EIGHT];
    uint64_t bits[WINDOW_VBMI_EIGHT], fewer[WINDOW_VBMI_EIGHT]; /* w and wn ones */
    uint64_t all[WINDOW_VBMI_EIGHT], partly[WINDOW_VBMI_EIGHT];
    uint64_t header[WINDOW_VBMI_EIGHT], end[2][WINDOW_VBMI_EIGHT];
    uint64_t byte[WINDOW_VBMI_EIGHT], shift[WINDOW_VBMI_EIGHT]; /* of the new entry */
    __mmask8 odd, rare; /* lines that this loop does not read, and lines that change their width */
} window_vbmi_eight;

/* Lanes of 128 bits, and their shifts by 0..127. */
typedef struct window_vbmi_pairs {
    __m512i low, high;
} window_vbmi_pairs;

WINDOW_VBMI EBI_INLINE __m512i window_vbmi_set(uint64_t x) {
    return _mm512_set1_epi64((int64_t)x);
}

WINDOW_VBMI EBI_INLINE __m512i window_vbmi_minus(__m512i a, __m512i b) {
    return _mm512_sub_epi64(a, b);
}

WINDOW_VBMI EBI_INLINE __m512i window_vbmi_not(__m512i x) {
    return _mm512_xor_si512(x, window_vbmi_set(UINT64_MAX));
}

WINDOW_VBMI EBI_INLINE window_vbmi_pairs window_vbmi_pairs_down(window_vbmi_pairs x, __m512i by) {
    const __m512i word = window_vbmi_set(WINDOW_WORD);
    const __m512i from_high =
        _mm512_or_si512(_mm512_sllv_epi64(x.high, window_vbmi_minus(word, by)),
                        _mm512_srlv_epi64(x.high, window_vbmi_minus(by, word)));
    return (window_vbmi_pairs){_mm512_or_si512(_mm512_srlv_epi64(x.low, by), from_high),
                               _mm512_srlv_epi64(x.high, by)};
}

WINDOW_VBMI EBI_INLINE window_vbmi_pairs window_vbmi_pairs_up(window_vbmi_pairs x, __m512i by) {
    const __m512i word = window_vbmi_set(WINDOW_WORD);
    const __m512i from_low = _mm512_or_si512(_mm512_srlv_epi64(x.low, window_vbmi_minus(word, by)),
                                             _mm512_sllv_epi64(x.low, window_vbmi_minus(by, word)));
    return (window_vbmi_pairs){_mm512_sllv_epi64(x.low, by),
                               _mm512_or_si512(_mm512_sllv_epi64(x.high, by), from_low)};
}

/* One word of each of eight lines. */
WINDOW_VBMI EBI_INLINE __m512i window_vbmi_words(const uint8_t *lines, const uint64_t *at) {
    return _mm512_set_epi64((int64_t)ebi_load64(lines + at[7]), (int64_t)ebi_load64(lines + at[6]),
                            (int64_t)ebi_load64(lines + at[5]), (int64_t)ebi_load64(lines + at[4]),
                            (int64_t)ebi_load64(lines + at[3]), (int64_t)ebi_load64(lines + at[2]),
                            (int64_t)ebi_load64(lines + at[1]), (int64_t)ebi_load64(lines + at[0]));
}

WINDOW_VBMI EBI_INLINE void window_vbmi_keep(uint64_t *to, __m512i x) {
    _mm512_store_si512(to, x);
}

WINDOW_VBMI EBI_INLINE __m512i window_vbmi_ones(__m512i n) { /* n low ones */
    return window_vbmi_not(_mm512_sllv_epi64(window_vbmi_set(UINT64_MAX), n));
}

WINDOW_VBMI EBI_INLINE __m512i window_vbmi_wrapped(__m512i slot, __m512i slots) {
    return _mm512_min_epu64(slot, window_vbmi_minus(slot, slots));
}

/* Like window_first. */
WINDOW_VBMI EBI_INLINE __m512i window_vbmi_firsts(__m512i n, __m512i head, __m512i slots) {
    const __m512i ones = window_vbmi_ones(n), around = window_vbmi_minus(slots, head);
    const __m512i ring =
        _mm512_or_si512(_mm512_sllv_epi64(ones, head), _mm512_srlv_epi64(ones, around));
    return _mm512_and_si512(ring, window_vbmi_ones(slots));
}

/* The places up to the d-th one, counted from 1; 0 if d is 0. */
WINDOW_VBMI EBI_INLINE __m512i window_vbmi_up_to(__m512i ones, __m512i d, __mmask8 among) {
    __mmask8 further = _mm512_mask_cmpgt_epu64_mask(among, d, window_vbmi_set(1));
    for (unsigned i = 2; further; i++) {
        ones =
            _mm512_mask_and_epi64(ones, further, ones, window_vbmi_minus(ones, window_vbmi_set(1)));
        further = _mm512_mask_cmpgt_epu64_mask(further, d, window_vbmi_set(i));
    }
    const __m512i first = _mm512_and_si512(ones, window_vbmi_minus(_mm512_setzero_si512(), ones));
    return _mm512_maskz_sub_epi64(_mm512_test_epi64_mask(d, d), window_vbmi_set(WINDOW_WORD),
                                  _mm512_lzcnt_epi64(first));
}

/* Eight lines, one in each lane. */
typedef struct window_vbmi_lines {
    __m512i w, wn, nn, head, n, slots;
    window_vbmi_pairs kept, end; /* end: as it is in memory, with marks from bit `above` on */
    __m512i above, age;          /* age: eras since the line was written */
    __mmask8 odd;
} window_vbmi_lines;

WINDOW_VBMI EBI_INLINE __m512i window_vbmi_field(__m512i header, unsigned bit, uint64_t mask) {
    return _mm512_and_si512(_mm512_srli_epi64(header, bit), window_vbmi_set(mask));
}

/* Looks up bytes in a table. */
WINDOW_VBMI EBI_INLINE __m512i window_vbmi_look_up(const uint8_t *table, __m512i i) {
    return _mm512_maskz_permutexvar_epi8(0x0101010101010101, i, window_vbmi_load(table));
}

WINDOW_VBMI EBI_INLINE window_vbmi_lines window_vbmi_open_eight(const uint8_t *lines,
                                                                const window_sizes *t,
                                                                window_shape shape,
                                                                const uint64_t *at, uint64_t era) {
    const __m512i none = _mm512_setzero_si512(), header = window_vbmi_words(lines, at);
    window_vbmi_lines l = {
        .w = window_vbmi_field(header, 8, 31),
        .wn = window_vbmi_field(header, 13, 31),
        .nn = window_vbmi_field(header, 18, 127),
        .head = window_vbmi_field(header, 25, 127),
        .age = window_vbmi_field(window_vbmi_minus(window_vbmi_set(era), header), 0, 255)};
    l.slots = window_vbmi_look_up(t->slots, l.w);
    l.above = window_vbmi_minus(window_vbmi_set((shape.wide ? 128 : 64) - t->eras), l.slots);
    l.end.low = shape.wide ? window_vbmi_words(lines + shape.bytes - 16, at) : none;
    l.end.high = window_vbmi_words(lines + shape.bytes - 8, at);
    const window_vbmi_pairs kept = {window_vbmi_not(l.end.low), window_vbmi_not(l.end.high)};
    if (shape.wide)
        l.kept = window_vbmi_pairs_down(kept, l.above);
    else
        l.kept = (window_vbmi_pairs){_mm512_srlv_epi64(kept.high, l.above), none};
    return l;
}

/* Like ebi_window_expire.  The end of the d-th era may be too far away for a pair. */
WINDOW_VBMI EBI_INLINE void window_vbmi_expire_eight(const window_sizes *t, window_shape shape,
                                                     window_vbmi_lines *l) {
    const __m512i d = l->age;
    l->odd = _mm512_cmpgt_epu64_mask(l->slots, window_vbmi_set(t->most)) |
             _mm512_cmpgt_epu64_mask(d, window_vbmi_set(t->eras));
    const __m512i passed = window_vbmi_up_to(window_vbmi_not(l->kept.low), d, (__mmask8)~l->odd);
    const __m512i old = window_vbmi_minus(passed, d);
    l->kept.low = _mm512_or_si512(
        _mm512_srlv_epi64(l->kept.low, passed),
        _mm512_sllv_epi64(l->kept.high, window_vbmi_minus(window_vbmi_set(WINDOW_WORD), passed)));
    l->n = _mm512_popcnt_epi64(l->kept.low);
    if (shape.wide) {
        l->odd |= _mm512_cmplt_epu64_mask(passed, d) |
                  _mm512_cmpeq_epi64_mask(passed, window_vbmi_set(WINDOW_WORD));
        l->kept.high = _mm512_srlv_epi64(l->kept.high, passed);
        l->n = _mm512_add_epi64(l->n, _mm512_popcnt_epi64(l->kept.high));
    }
    l->head = window_vbmi_wrapped(_mm512_add_epi64(l->head, old), l->slots);
    l->wn = _mm512_mask_mov_epi64(l->w, _mm512_cmpgt_epu64_mask(l->nn, old), l->wn);
    l->nn = window_vbmi_minus(_mm512_max_epu64(l->nn, old), old);
}

WINDOW_VBMI EBI_INLINE void window_vbmi_keep_lines(const window_vbmi_lines *l,
                                                   window_vbmi_eight *e) {
    window_vbmi_keep(e->w, l->w);
    window_vbmi_keep(e->wn, l->wn);
    window_vbmi_keep(e->nn, l->nn);
    window_vbmi_keep(e->head, l->head);
    window_vbmi_keep(e->n, l->n);
    window_vbmi_keep(e->slots, l->slots);
    window_vbmi_keep(e->low, l->kept.low);
    window_vbmi_keep(e->high, l->kept.high);
    window_vbmi_keep(e->bits, window_vbmi_ones(l->w));
    window_vbmi_keep(e->fewer, window_vbmi_ones(l->wn));
    window_vbmi_keep(e->all, window_vbmi_firsts(l->n, l->head, l->slots));
    window_vbmi_keep(e->partly, window_vbmi_firsts(l->nn, l->head, l->slots));
    e->odd = l->odd;
}

/* The marks with one more entry, and the other bits of the line's end. */
WINDOW_VBMI EBI_INLINE void window_vbmi_keep_end(const window_sizes *t, window_shape shape,
                                                 const window_vbmi_lines *l, window_vbmi_eight *e) {
    const __m512i one = window_vbmi_set(1),
                  place = _mm512_add_epi64(l->n, window_vbmi_set(t->eras));
    const __m512i further = window_vbmi_minus(place, window_vbmi_set(WINDOW_WORD)),
                  full = window_vbmi_set(UINT64_MAX);
    const window_vbmi_pairs kept = {_mm512_or_si512(l->kept.low, _mm512_sllv_epi64(one, place)),
                                    _mm512_or_si512(l->kept.high, _mm512_sllv_epi64(one, further))};
    window_vbmi_pairs marks = {window_vbmi_not(kept.low), window_vbmi_not(kept.high)},
                      ours = {full, full};
    if (shape.wide) {
        marks = window_vbmi_pairs_up(marks, l->above);
        ours = window_vbmi_pairs_up(ours, l->above);
        window_vbmi_keep(e->end[0],
                         _mm512_ternarylogic_epi64(ours.low, marks.low, l->end.low, 0xCA));
    } else {
        marks.high = _mm512_sllv_epi64(marks.low, l->above);
        ours.high = _mm512_sllv_epi64(full, l->above);
    }
    window_vbmi_keep(e->end[1],
                     _mm512_ternarylogic_epi64(ours.high, marks.high, l->end.high, 0xCA));
}

/* What is written with one more entry, and which lines change their width for it. */
WINDOW_VBMI EBI_INLINE void window_vbmi_prepare(const window_sizes *t, window_shape shape,
                                                uint64_t era, const window_vbmi_lines *l,
                                                window_vbmi_eight *e) {
    const __m512i stamp = window_vbmi_set(era % EBI_WINDOW_STAMPS);
    const __m512i widths =
        _mm512_or_si512(_mm512_slli_epi64(l->w, 8), _mm512_slli_epi64(l->wn, 13));
    const __m512i places =
        _mm512_or_si512(_mm512_slli_epi64(l->nn, 18), _mm512_slli_epi64(l->head, 25));
    const __m512i slot = window_vbmi_wrapped(_mm512_add_epi64(l->head, l->n), l->slots);
    const __m512i bit =
        _mm512_add_epi64(_mm512_mul_epu32(slot, l->w), window_vbmi_set(EBI_WINDOW_HEADER));
    const __m512i byte =
        _mm512_min_epu64(_mm512_srli_epi64(bit, 3), window_vbmi_set(shape.bytes - 8));
    window_vbmi_keep(e->header, _mm512_or_si512(_mm512_or_si512(stamp, widths), places));
    window_vbmi_keep(e->byte, byte);
    window_vbmi_keep(e->shift, window_vbmi_minus(bit, _mm512_slli_epi64(byte, 3)));
    window_vbmi_keep_end(t, shape, l, e);
    const __m512i widen_below = window_vbmi_look_up(t->widen_below, l->w);
    e->rare =
        _mm512_mask_cmplt_epu64_mask(_mm512_testn_epi64_mask(l->nn, l->nn), l->n, widen_below) |
        _mm512_cmpeq_epi64_mask(l->n, l->slots);
}

WINDOW_VBMI EBI_INLINE window_vbmi_lines window_vbmi_read_eight(const uint8_t *lines,
                                                                const window_sizes *t,
                                                                window_shape shape,
                                                                const uint64_t *at, uint64_t era,
                                                                window_vbmi_eight *e) {
    window_vbmi_lines l = window_vbmi_open_eight(lines, t, shape, at, era);
    window_vbmi_expire_eight(t, shape, &l);
    window_vbmi_keep_lines(&l, e);
    return l;
}

WINDOW_VBMI EBI_INLINE uint64_t window_vbmi_find(window_shape shape, const uint8_t *line,
                                                 const window_vbmi_eight *e, size_t k,
                                                 uint32_t print) {
    const window_vbmi_match match = window_vbmi_compare(
        shape, line, (unsigned)e->w[k], print, (uint32_t)e->bits[k], (uint32_t)e->fewer[k]);
    return (match.whole & e->all[k]) | (match.partly & e->partly[k]);
}

WINDOW_VBMI EBI_INLINE void window_vbmi_store(window_shape shape, uint8_t *line,
                                              const window_vbmi_eight *e, size_t k,
                                              uint32_t print) {
    const uint32_t header = (uint32_t)e->header[k];
    memcpy(line, &header, sizeof header);
    if (shape.wide) ebi_store64(line + shape.bytes - 16, e->end[0][k]);
    ebi_store64(line + shape.bytes - 8, e->end[1][k]);
    uint8_t *const at = line + e->byte[k];
    const uint64_t word = ebi_load64(at), differ = (word >> e->shift[k] ^ print) & e->bits[k];
    ebi_store64(at, word ^ differ << e->shift[k]);
}

/* What a loop works on. */
typedef struct window_vbmi_job {
    const ebi_window *x;
    const window_sizes *t;
    uint64_t era, entered;
} window_vbmi_job;
typedef bool window_vbmi_one(window_vbmi_job *job, uint8_t *line, const window_vbmi_eight *e,
                             size_t k, uint32_t print, uint64_t found);

WINDOW_VBMI EBI_INLINE bool window_vbmi_do_one(window_vbmi_job *job, window_shape shape,
                                               uint8_t *line, const window_vbmi_eight *e, size_t k,
                                               uint32_t print, uint64_t found) {
    if (e->odd >> k & 1) return ebi_window_add_one(job->x, line, print);
    window_narrow l = {(unsigned)e->w[k],
                       (unsigned)e->wn[k],
                       (unsigned)e->nn[k],
                       (unsigned)e->head[k],
                       (unsigned)e->n[k],
                       (unsigned)e->slots[k],
                       {e->low[k], shape.wide ? e->high[k] : 0}};
    const window_done done =
        found ? window_vbmi_renew(job->x, job->t, shape, line, job->era, &l, print, found)
              : window_vbmi_enter(job->x, job->t, shape, line, job->era, &l, print);
    if (done == WINDOW_DONE_ELSEWHERE) return ebi_window_add_one(job->x, line, print);
    job->entered += done == WINDOW_DONE_STORED;
    return found != 0;
}

/* Keys of different lines, where they go, and what they get. */
typedef struct window_vbmi_keys {
    const uint64_t *at;
    const eb_hash *hash;
    uint8_t *seen;
    size_t n;
} window_vbmi_keys;

/* How many of the next keys go to different lines. */
WINDOW_VBMI EBI_INLINE size_t window_vbmi_apart(const uint64_t *at, size_t left) {
    const __m512i same = _mm512_conflict_epi64(_mm512_loadu_si512(at));
    const size_t n = _tzcnt_u32(_mm512_test_epi64_mask(same, same) | 1u << WINDOW_VBMI_EIGHT);
    return n < left ? n : left;
}

/* Which of the keys are there. */
WINDOW_VBMI EBI_INLINE unsigned window_vbmi_find_eight(const uint8_t *lines, window_shape shape,
                                                       window_vbmi_keys keys,
                                                       const window_vbmi_eight *e,
                                                       uint64_t *found) {
    unsigned all = 0;
    for (size_t k = 0; k < keys.n; k++) {
        found[k] =
            window_vbmi_find(shape, lines + keys.at[k], e, k, ebi_window_print(keys.hash[k]));
        keys.seen[k] = found[k] != 0;
        all |= (unsigned)(found[k] != 0) << k;
    }
    return all;
}

WINDOW_VBMI EBI_INLINE void window_vbmi_add_eight(window_vbmi_job *job, uint8_t *lines,
                                                  window_shape shape, bool refresh,
                                                  window_vbmi_one *one, window_vbmi_keys keys) {
    window_vbmi_eight e;
    uint64_t found[WINDOW_VBMI_EIGHT];
    const window_vbmi_lines l = window_vbmi_read_eight(lines, job->t, shape, keys.at, job->era, &e);
    window_vbmi_prepare(job->t, shape, job->era, &l, &e);
    const unsigned again = window_vbmi_find_eight(lines, shape, keys, &e, found);
    const unsigned these = (1u << keys.n) - 1, fresh = these & ~(again | e.odd | e.rare);
    const unsigned done = refresh ? fresh : fresh | (again & ~e.odd);
    for (unsigned left = fresh; left; left &= left - 1) {
        const size_t k = _tzcnt_u32(left);
        window_vbmi_store(shape, lines + keys.at[k], &e, k, ebi_window_print(keys.hash[k]));
    }
    job->entered += ebi_popcount(fresh);
    for (unsigned left = these & ~done; left; left &= left - 1) {
        const size_t k = _tzcnt_u32(left);
        keys.seen[k] =
            one(job, lines + keys.at[k], &e, k, ebi_window_print(keys.hash[k]), found[k]);
    }
}

WINDOW_VBMI EBI_INLINE void window_vbmi_add_lines(const ebi_params *p, uint8_t *block,
                                                  const ebi_batch *b, uint8_t *seen,
                                                  window_shape shape, bool refresh,
                                                  window_vbmi_one *one) {
    const ebi_window x = ebi_window_open(p, block);
    const window_sizes t = window_vbmi_sizes_of(&x, shape);
    ebi_window_places to;
    ebi_window_find_places(&x, shape.bytes, b->hash, b->n, true, &to);
    for (size_t i = 0; i < b->n;) {
        const size_t until = ebi_window_calm_until(&x, p, block, b, i);
        window_vbmi_job job = {&x, &t, x.state->era, 0};
        while (i < until) {
            const size_t n = window_vbmi_apart(to.at + i, until - i);
            for (size_t k = i; k < i + n; k++)
                ebi_window_fetch(&x, shape.bytes, &to, k + EBI_WINDOW_AHEAD, true);
            window_vbmi_add_eight(&job, x.lines, shape, refresh, one,
                                  (window_vbmi_keys){to.at + i, b->hash + i, seen + i, n});
            i += n;
        }
        ebi_window_enter(&x, job.entered);
    }
}

WINDOW_VBMI EBI_INLINE void window_vbmi_test_lines(const ebi_params *p, const uint8_t *block,
                                                   const ebi_batch *b, uint8_t *seen,
                                                   window_shape shape) {
    const ebi_window now = ebi_window_open(p, block);
    const window_sizes t = window_vbmi_sizes_of(&now, shape);
    window_vbmi_eight e;
    ebi_window_places to;
    ebi_window_find_places(&now, shape.bytes, b->hash, b->n, false, &to);
    for (size_t i = 0, end; i < b->n;) {
        ebi_window_state then;
        const ebi_window x = ebi_window_as_of(p, block, b, i, &then, &end);
        while (i < end) {
            (void)window_vbmi_read_eight(x.lines, &t, shape, to.at + i, x.state->era, &e);
            for (size_t k = 0; k < WINDOW_VBMI_EIGHT && i < end; k++, i++) {
                ebi_window_fetch(&x, shape.bytes, &to, i + EBI_WINDOW_AHEAD, false);
                const uint8_t *const line = x.lines + to.at[i];
                const uint32_t print = ebi_window_print(b->hash[i]);
                seen[i] = e.odd >> k & 1 ? ebi_window_test_one(&x, line, print)
                                         : window_vbmi_find(shape, line, &e, k, print) != 0;
            }
        }
    }
}

#define WINDOW_VBMI_LOOPS(name, ...)                                                               \
    WINDOW_VBMI __attribute__((noinline)) static bool name##_one(                                  \
        window_vbmi_job *job, uint8_t *line, const window_vbmi_eight *e, size_t k, uint32_t print, \
        uint64_t found) {                                                                          \
        return window_vbmi_do_one(job, (window_shape){__VA_ARGS__}, line, e, k, print, found);     \
    }                                                                                              \
    WINDOW_VBMI static void name##_add(const ebi_params *p, uint8_t *block, const ebi_batch *b,    \
                                       uint8_t *seen) {                                            \
        window_vbmi_add_lines(p, block, b, seen, (window_shape){__VA_ARGS__}, false, name##_one);  \
    }                                                                                              \
    WINDOW_VBMI static void name##_refresh(const ebi_params *p, uint8_t *block,                    \
                                           const ebi_batch *b, uint8_t *seen) {                    \
        window_vbmi_add_lines(p, block, b, seen, (window_shape){__VA_ARGS__}, true, name##_one);   \
    }                                                                                              \
    WINDOW_VBMI static void name##_test(const ebi_params *p, const uint8_t *block,                 \
                                        const ebi_batch *b, uint8_t *seen) {                       \
        window_vbmi_test_lines(p, block, b, seen, (window_shape){__VA_ARGS__});                    \
    }                                                                                              \
    static const ebi_ops name[2] = {{.add = name##_add, .test = name##_test},                      \
                                    {.add = name##_refresh, .test = name##_test}};
WINDOW_VBMI_LOOPS(window_vbmi_shorts_49, 64, false, true, 2)
WINDOW_VBMI_LOOPS(window_vbmi_shorts_64, 64, true, true, 2)
WINDOW_VBMI_LOOPS(window_vbmi_longs_48, 64, false, false, 3)
WINDOW_VBMI_LOOPS(window_vbmi_pairs_48, 128, false, false, 3)
WINDOW_VBMI_LOOPS(window_vbmi_pairs_64, 128, true, false, 4)

const ebi_ops *ebi_window_vbmi(const ebi_params *p) {
    const ebi_window x = ebi_window_of(p);
    if (!ebi_has_vbmi2() || !ebi_has_bmi2() || x.w > WINDOW_VBMI_LONG_MAX) return NULL;
    if (x.bytes == 128) return (x.w < 24 ? window_vbmi_pairs_64 : window_vbmi_pairs_48) + x.refresh;
    if (x.w > WINDOW_VBMI_SHORT_MAX) return window_vbmi_longs_48 + x.refresh;
    return (x.w < 14 ? window_vbmi_shorts_64 : window_vbmi_shorts_49) + x.refresh;
}
#else
const ebi_ops *ebi_window_vbmi(const ebi_params *p) {
    (void)p;
    return NULL;
}
#endif
