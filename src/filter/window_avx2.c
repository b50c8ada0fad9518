/* window_avx2.c - the loops of mode=elastic with AVX2: eight fingerprints are compared at once. The
 * bytes are those of the portable loops.
 *
 * What is rare (other widths, full lines, refreshed entries) is left to them.
 *
 * Eight slots of w bits are w bytes, so each group of eight begins on a byte.  A shuffle brings
 * four bytes with each fingerprint into its lane, a shift by 0..7 puts it in place: 25 bits of it,
 * which is all of it but for the widest; those are compared again. */
#include "window_line.h"

#if defined __x86_64__
#include <immintrin.h>

#define WINDOW_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))
enum { LANES = 8, LANE_BITS = 25, WORD = 64 };

/* For each width: the bytes of each lane, from the start of its half of the group, and its shift.
 */
typedef struct window_lanes {
    uint32_t bytes[LANES], shift[LANES];
} window_lanes;

#define LANE_BIT(w, i) ((i) * (w) - ((i) >= 4 ? 8 * ((w) / 2) : 0))
#define LANE_BYTES(w, i) (LANE_BIT(w, i) / 8 * 0x01010101u + 0x03020100u)
#define EACH_LANE(M, w)                                                                            \
    { M(w, 0), M(w, 1), M(w, 2), M(w, 3), M(w, 4), M(w, 5), M(w, 6), M(w, 7) }
#define LANE_SHIFT(w, i) (LANE_BIT(w, i) % 8)
#define ROW(w)                                                                                     \
    { EACH_LANE(LANE_BYTES, w), EACH_LANE(LANE_SHIFT, w) }
static const window_lanes window_lanes_of[EBI_WINDOW_W_MAX + 1] = {
    ROW(0u),  ROW(1u),  ROW(2u),  ROW(3u),  ROW(4u),  ROW(5u),  ROW(6u),  ROW(7u),
    ROW(8u),  ROW(9u),  ROW(10u), ROW(11u), ROW(12u), ROW(13u), ROW(14u), ROW(15u),
    ROW(16u), ROW(17u), ROW(18u), ROW(19u), ROW(20u), ROW(21u), ROW(22u), ROW(23u),
    ROW(24u), ROW(25u), ROW(26u), ROW(27u), ROW(28u), ROW(29u), ROW(30u), ROW(31u)};

WINDOW_AVX2 EB_INLINE __m256i window_load_lanes(const uint32_t *lanes) {
    return _mm256_loadu_si256((const __m256i *)(const void *)lanes);
}

WINDOW_AVX2 EB_INLINE __m128i window_load(const uint8_t *p) {
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Eight fingerprints from byte `at` on, each in the low bits of a lane.  A load near the end of the
 * line begins earlier, and its lanes take later bytes. */
WINDOW_AVX2 EB_INLINE __m256i window_group(const uint8_t *line, unsigned at, unsigned w,
                                           unsigned last, __m256i bytes, __m256i shift) {
    const unsigned high = at + w / 2;
    __m256i group;
    if (high <= last) {
        group = _mm256_set_m128i(window_load(line + high), window_load(line + at));
    } else {
        const unsigned low_at = at < last ? at : last;
        group = _mm256_set_m128i(window_load(line + last), window_load(line + low_at));
        bytes = _mm256_add_epi8(bytes, _mm256_set_m128i(_mm_set1_epi8((char)(high - last)),
                                                        _mm_set1_epi8((char)(at - low_at))));
    }
    return _mm256_srlv_epi32(_mm256_shuffle_epi8(group, bytes), shift);
}

/* Lanes whose fingerprint is wanted, as far as it is known: all bits are set. */
WINDOW_AVX2 EB_INLINE __m256i window_equal(__m256i group, __m256i wanted, __m256i known) {
    return _mm256_cmpeq_epi32(_mm256_and_si256(group, known), wanted);
}

WINDOW_AVX2 EB_INLINE uint32_t window_known(unsigned bits) {
    return (uint32_t)ebi_ones(bits < LANE_BITS ? bits : LANE_BITS);
}

/* A line whose marks, and so its slots, fit in a word: all but those of an overload. */
typedef struct window_narrow {
    unsigned w, wn, nn, head, n, slots;
    uint64_t marks;
} window_narrow;

/* x if the condition holds, else 0: what is a coin's throw is no branch here. */
EB_INLINE unsigned window_if(bool condition, unsigned x) {
    return x & (0u - (unsigned)condition);
}

EB_INLINE unsigned window_wrap(unsigned slot, unsigned slots) {
    return slot - window_if(slot >= slots, slots);
}

WINDOW_AVX2 EB_INLINE bool window_read(const ebi_window *x, const uint8_t *line, uint64_t era,
                                       window_narrow *l) {
    uint32_t header;
    memcpy(&header, line, sizeof header);
    l->w = header >> 8 & 31;
    l->slots = ebi_window_slots_uncapped(x, l->w);
    const unsigned marks = ebi_window_marks(x, l->slots);
    const unsigned d = ((unsigned)era - header) % EBI_WINDOW_STAMPS;
    if ((l->w == 0) | (marks >= WORD) | (d > x->eras)) return false;
    const uint64_t all = ebi_load64(line + x->bytes - 8) >> (WORD - marks) | ~UINT64_C(0) << marks;
    /* Expiry, as in ebi_window_expire: up to the d-th one. */
    const uint64_t dth = _pdep_u64(UINT64_C(1) << d >> 1, all);
    const unsigned passed = window_if(d > 0, (unsigned)_tzcnt_u64(dth) + 1), old = passed - d;
    const unsigned nn = header >> 18 & 127, wn = header >> 13 & 31;
    l->marks = all >> passed | ~(~UINT64_C(0) >> passed);
    l->n = ebi_popcount(~l->marks);
    l->head = window_wrap((header >> 25) + old, l->slots);
    l->nn = window_if(nn > old, nn - old);
    l->wn = l->w - window_if(l->nn > 0, l->w - wn);
    return true;
}

WINDOW_AVX2 EB_INLINE void window_write(const ebi_window *x, uint8_t *line, uint64_t era,
                                        const window_narrow *l) {
    const uint32_t header =
        ((unsigned)era % EBI_WINDOW_STAMPS) | l->w << 8 | l->wn << 13 | l->nn << 18 | l->head << 25;
    const unsigned above = WORD - ebi_window_marks(x, l->slots);
    uint8_t *const end = line + x->bytes - 8;
    memcpy(line, &header, sizeof header);
    ebi_store64(end, _bzhi_u64(ebi_load64(end), above) | l->marks << above);
}

/* The slots of the first n entries. */
WINDOW_AVX2 EB_INLINE uint64_t window_first(const window_narrow *l, unsigned n) {
    const uint64_t ones = _bzhi_u64(~UINT64_C(0), n);
    return _bzhi_u64(ones << l->head | ones >> (l->slots - l->head), l->slots);
}

/* Of these slots, those that match. */
WINDOW_AVX2 EB_INLINE uint64_t window_verify(const ebi_window *x, const uint8_t *line,
                                             const window_narrow *l, uint32_t print,
                                             uint64_t maybe) {
    const uint64_t partly = window_first(l, l->nn);
    uint64_t found = 0;
    for (; maybe; maybe &= maybe - 1) {
        const unsigned slot = (unsigned)_tzcnt_u64(maybe);
        const uint32_t differ = ebi_window_get(x, line, slot, l->w) ^ print;
        const bool equal = _bzhi_u32(differ, partly >> slot & 1 ? l->wn : l->w) == 0;
        found |= (uint64_t)equal << slot;
    }
    return found;
}

/* Which slots hold the fingerprint?  Of a fresh key none does, nor does any that has expired, but
 * for chance: so first all slots are asked at once. */
WINDOW_AVX2 EB_INLINE uint64_t window_find(const ebi_window *x, const uint8_t *line,
                                           const window_narrow *l, uint32_t print) {
    const window_lanes *const lanes = &window_lanes_of[l->w];
    const __m256i bytes = window_load_lanes(lanes->bytes), shift = window_load_lanes(lanes->shift);
    const uint32_t bits = window_known(l->wn);
    const __m256i wanted = _mm256_set1_epi32((int)(print & bits));
    const __m256i known = _mm256_set1_epi32((int)bits);
    const unsigned last = x->bytes - 16, end = EBI_WINDOW_HEADER / 8 + (l->slots + 7) / 8 * l->w;
    __m256i any = _mm256_setzero_si256();
    for (unsigned at = EBI_WINDOW_HEADER / 8; at < end; at += l->w)
        any = _mm256_or_si256(
            any, window_equal(window_group(line, at, l->w, last, bytes, shift), wanted, known));
    if (_mm256_testz_si256(any, any)) return 0;
    uint64_t maybe = 0;
    for (unsigned at = EBI_WINDOW_HEADER / 8, slot = 0; at < end; at += l->w, slot += LANES) {
        const __m256i equal =
            window_equal(window_group(line, at, l->w, last, bytes, shift), wanted, known);
        maybe |= (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(equal)) << slot;
    }
    return window_verify(x, line, l, print, maybe & window_first(l, l->n));
}

WINDOW_AVX2 EB_INLINE bool window_can_widen(const ebi_window *x, const window_narrow *l) {
    return (l->w < x->w) & (l->nn == 0) & (ebi_window_slots_uncapped(x, l->w + 1) >= l->n + 2);
}

WINDOW_AVX2 EB_INLINE void window_append(const ebi_window *x, uint8_t *line, uint64_t era,
                                         window_narrow *l, uint32_t print) {
    const unsigned slot = window_wrap(l->head + l->n, l->slots);
    l->marks &= ~(UINT64_C(1) << ebi_window_marks(x, l->n));
    window_write(x, line, era, l);
    ebi_window_put(x, line, slot, l->w, print);
}

/* m low bits of each of n fields of w bits. */
WINDOW_AVX2 EB_INLINE uint64_t window_fields(unsigned n, unsigned w, unsigned m) {
    uint64_t all = 0;
    for (unsigned i = 0; i < n; i++) all |= ebi_ones(m) << i * w;
    return all;
}

/* As ebi_window_repack, with several fields at once: their bits are drawn together, and apart. */
WINDOW_AVX2 static window_narrow window_repack(const ebi_window *x, uint8_t *line, window_narrow l,
                                               unsigned w) {
    const unsigned m = l.w < w ? l.w : w, widest = l.w < w ? w : l.w, fit = 57 / widest;
    const unsigned most = fit < 6 ? fit : 6;
    const uint64_t narrow = window_fields(most, l.w, m), wide = window_fields(most, w, m);
    uint64_t to[16], out = ebi_load64(line) & ebi_ones(EBI_WINDOW_HEADER);
    unsigned used = EBI_WINDOW_HEADER, word = 0;
    for (unsigned i = 0, fields; i < l.n; i += fields) {
        const unsigned slot = window_wrap(l.head + i, l.slots);
        fields = l.n - i < most ? l.n - i : most;
        if (fields > l.slots - slot) fields = l.slots - slot;
        const ebi_window_place at = ebi_window_place_of(x, slot, l.w);
        const uint64_t tight = _pext_u64(ebi_load64(line + at.byte) >> at.shift, narrow);
        const uint64_t prints = _pdep_u64(_bzhi_u64(tight, fields * m), wide);
        out |= prints << used;
        used += fields * w;
        if (used < WORD) continue;
        to[word++] = out;
        used -= WORD;
        out = used > 0 ? prints >> (fields * w - used) : 0;
    }
    for (to[word] = out; ++word < x->bytes / 8;) to[word] = 0;
    for (word = 0; word < x->bytes / 8; word++) ebi_store64(line + 8 * word, to[word]);
    l.w = w;
    l.slots = ebi_window_slots_uncapped(x, w);
    l.head = 0;
    return l;
}

/* As ebi_window_widen. */
WINDOW_AVX2 static window_narrow window_widen(const ebi_window *x, uint8_t *line, window_narrow l) {
    unsigned w = x->w;
    while (ebi_window_slots_uncapped(x, w) < l.n + 2) w--;
    l.wn = l.n ? l.w : w;
    l.nn = l.n;
    return window_repack(x, line, l, w);
}

/* As ebi_window_make_room; false: not without marks that are wider than a word, nothing is done. */
WINDOW_AVX2 static bool window_make_room(const ebi_window *x, uint8_t *line, window_narrow *l) {
    unsigned w = l->w - 1;
    while (w > 0 && ebi_window_slots_uncapped(x, w) <= l->n) w--;
    if (w == 0 || ebi_window_marks(x, ebi_window_slots_uncapped(x, w)) >= WORD) return false;
    if (l->wn >= w) {
        l->wn = w;
        l->nn = 0;
    }
    *l = window_repack(x, line, *l, w);
    return true;
}

/* As ebi_window_take_out. */
WINDOW_AVX2 EB_INLINE void window_take_out(const ebi_window *x, uint8_t *line, window_narrow *l,
                                           unsigned i) {
    const unsigned mark = (unsigned)_tzcnt_u64(_pdep_u64(UINT64_C(1) << i, ~l->marks));
    const uint64_t before = _bzhi_u64(~UINT64_C(0), mark);
    const unsigned gap = window_wrap(l->head + i, l->slots);
    const unsigned last = window_wrap(l->head + l->n - 1, l->slots);
    l->marks = (l->marks & before) | ((l->marks >> 1) & ~before) | UINT64_C(1) << 63;
    if (ebi_window_close_gap(x, line, l->w, l->head, gap, last))
        l->head = window_wrap(l->head + 1, l->slots);
    l->n--;
}

/* The youngest of these slots, counted from the oldest entry. */
WINDOW_AVX2 EB_INLINE unsigned window_youngest(const window_narrow *l, uint64_t found) {
    const uint64_t aged = found >> l->head | (l->head ? found << (l->slots - l->head) : 0);
    return 63 - (unsigned)_lzcnt_u64(_bzhi_u64(aged, l->slots));
}

/* A repeat: its entry becomes one of this era.  What is known in part may be another key's: it
 * stays.  false: that needs more room than there is here, nothing is done. */
WINDOW_AVX2 EB_INLINE bool window_refresh(const ebi_window *x, uint8_t *line, uint64_t era,
                                          window_narrow *l, uint32_t print, unsigned i,
                                          uint64_t *entered) {
    const uint64_t rest = l->marks >> ebi_window_marks(x, i);
    if (_bzhi_u64(rest, l->n - i) == 0) { /* of this era, and so are those behind it */
        window_write(x, line, era, l);
        return true;
    }
    if (i >= l->nn)
        window_take_out(x, line, l, i);
    else if (l->n == l->slots && !window_make_room(x, line, l))
        return false;
    window_append(x, line, era, l, print);
    ++*entered;
    return true;
}

/* One key.  x is for what is inlined here, whole for what is called: the first stays in registers.
 * Wider fingerprints match what the narrow ones did, so they need not be made before the search,
 * whose loads would have to wait for them. */
WINDOW_AVX2 EB_INLINE bool window_observe(const ebi_window *x, const ebi_window *whole,
                                          uint8_t *line, uint64_t era, uint32_t print,
                                          uint64_t *entered) {
    window_narrow l;
    if (!window_read(x, line, era, &l)) return ebi_window_add_one(whole, line, print);
    const uint64_t found = window_find(x, line, &l, print);
    const unsigned youngest = found ? window_youngest(&l, found) : 0;
    if (window_can_widen(x, &l)) l = window_widen(whole, line, l);
    if (found) {
        if (!x->refresh)
            window_write(x, line, era, &l);
        else if (!window_refresh(whole, line, era, &l, print, youngest, entered))
            return window_write(x, line, era, &l), ebi_window_add_one(whole, line, print);
        return true;
    }
    if (l.n == l.slots && !window_make_room(whole, line, &l)) {
        window_write(x, line, era, &l);
        return ebi_window_add_one(whole, line, print);
    }
    window_append(x, line, era, &l, print);
    ++*entered;
    return false;
}

WINDOW_AVX2 EB_INLINE void window_add_lines(const eb_params *p, uint8_t *block, const eb_batch *b,
                                            uint8_t *seen, unsigned bytes) {
    const ebi_window whole = ebi_window_open(p, block);
    ebi_window x = whole;
    x.bytes = bytes;
    const bool calm = ebi_window_is_calm(&whole, ebi_window_time(p, block, b, b->n - 1), b->n);
    uint64_t era = x.state->era, entered = 0;
    ebi_window_places to;
    ebi_window_find_places(&x, b->hash, b->n, true, &to);
    for (size_t i = 0; i < b->n; i++) {
        ebi_window_fetch(&x, &to, i + EBI_WINDOW_AHEAD, true);
        if (!calm) {
            ebi_window_enter(&whole, entered);
            ebi_window_reach(&whole, ebi_window_time(p, block, b, i));
            entered = 0;
            era = whole.state->era;
        }
        seen[i] = window_observe(&x, &whole, x.lines + to.at[i], era,
                                 ebi_window_print(&x, b->hash[i]), &entered);
    }
    ebi_window_enter(&whole, entered);
}

WINDOW_AVX2 static void window_avx2_add(const eb_params *p, uint8_t *block, const eb_batch *b,
                                        uint8_t *seen) {
    if (p->opt[EBI_WINDOW_LINE])
        window_add_lines(p, block, b, seen, 128);
    else
        window_add_lines(p, block, b, seen, 64);
}

WINDOW_AVX2 static void window_avx2_test(const eb_params *p, const uint8_t *block, const eb_hash *h,
                                         size_t n, uint8_t *seen) {
    const ebi_window whole = ebi_window_open(p, block), x = whole;
    const uint64_t era = x.state->era;
    ebi_window_places to;
    ebi_window_find_places(&x, h, n, false, &to);
    for (size_t i = 0; i < n; i++) {
        ebi_window_fetch(&x, &to, i + EBI_WINDOW_AHEAD, false);
        const uint8_t *const line = x.lines + to.at[i];
        const uint32_t print = ebi_window_print(&x, h[i]);
        window_narrow l;
        seen[i] = window_read(&x, line, era, &l) ? window_find(&x, line, &l, print) != 0
                                                 : ebi_window_test_one(&whole, line, print);
    }
}

const eb_ops *ebi_window_avx2(void) {
    static const eb_ops ops = {.add = window_avx2_add, .test = window_avx2_test};
    return ebi_has_avx2() && ebi_has_bmi2() ? &ops : NULL;
}
#else
const eb_ops *ebi_window_avx2(void) {
    return NULL;
}
#endif
