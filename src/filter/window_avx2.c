/* window_avx2.c - the loops of mode=elastic with AVX2: 16 or 8 fingerprints are compared at once,
 * and all that depends on chance is arithmetic.  The bytes are those of the portable loops.
 *
 * A fresh key in a line of any width is one straight piece of code.  What is rarer (other widths,
 * refreshed entries) is done out of its way, and what hardly ever comes (lines of an overload,
 * lines that nobody came to for a window) by the portable loop. */
#include "window_line.h"

#if defined __x86_64__
#include "window_compare.h"

enum { WORD = 64 };

/* What the loop knows of all lines of a filter. */
typedef struct window_sizes {
    uint8_t slots[EBI_WINDOW_W_MAX + 2]; /* of a line, by w; w = 0: too many for this loop */
    unsigned eras, most;                 /* slots that this loop takes */
} window_sizes;

/* What a loop is made for: lines of so many bytes, marks that may need more than 64 bits, groups of
 * 16 fingerprints of up to 14 bits or of 8 wider ones. */
typedef struct window_shape {
    unsigned bytes;
    bool wide, shorts;
    unsigned groups;
} window_shape;

/* 128 bits, and their shifts by 0..127 places. */
typedef struct window_pair {
    uint64_t low, high;
} window_pair;

EB_INLINE window_pair window_down(window_pair x, unsigned by) {
    const unsigned within = by % WORD;
    const uint64_t high = x.high >> within, low = x.low >> within | x.high << 1 << (63 - within);
    return by < WORD ? (window_pair){low, high} : (window_pair){high, 0};
}

EB_INLINE window_pair window_up(window_pair x, unsigned by) {
    const unsigned within = by % WORD;
    const uint64_t low = x.low << within, high = x.high << within | x.low >> 1 >> (63 - within);
    return by < WORD ? (window_pair){low, high} : (window_pair){0, low};
}

/* A line as it is after expiry. */
typedef struct window_narrow {
    unsigned w, wn, nn, head, n, slots;
    window_pair kept; /* marks turned over: 1 an entry, 0 the end of an era, zeros behind */
} window_narrow;

/* slot < 2 * slots.  What is a coin's throw is no branch here: below 0 is far above. */
EB_INLINE unsigned window_wrap(unsigned slot, unsigned slots) {
    return slot - slots < slot ? slot - slots : slot;
}

/* The slots of the first n entries. */
WINDOW_AVX2 EB_INLINE uint64_t window_first(const window_narrow *l, unsigned n) {
    const uint64_t ones = _bzhi_u64(~UINT64_C(0), n);
    return _bzhi_u64(ones << l->head | ones >> (l->slots - l->head) % WORD, l->slots);
}

WINDOW_AVX2 EB_INLINE bool window_read(const ebi_window *x, const window_sizes *t,
                                       const uint8_t *line, uint64_t era, bool wide,
                                       window_narrow *l) {
    uint32_t header;
    memcpy(&header, line, sizeof header);
    const unsigned w = header >> 8 & 31, slots = t->slots[w], marks = slots + t->eras;
    const unsigned d = ((unsigned)era - header) % EBI_WINDOW_STAMPS;
    if ((slots > t->most) | (d > t->eras)) return false;
    window_pair kept;
    if (wide) {
        const uint8_t *const end = line + x->bytes - 16;
        kept = window_down((window_pair){~ebi_load64(end), ~ebi_load64(end + 8)}, 128 - marks);
    } else {
        kept = (window_pair){~ebi_load64(line + x->bytes - 8) >> (WORD - marks), 0};
    }
    /* Expiry, as in ebi_window_expire: up to the d-th end.  In a pair it may be too far away. */
    const uint64_t dth = _pdep_u64(UINT64_C(1) << d >> 1, ~kept.low);
    const unsigned passed = WORD - (unsigned)_lzcnt_u64(dth), old = passed - d;
    if (wide && (old >= WORD - d)) return false;
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

WINDOW_AVX2 EB_INLINE void window_write(const ebi_window *x, const window_sizes *t, uint8_t *line,
                                        uint64_t era, bool wide, const window_narrow *l) {
    const uint32_t header =
        ((unsigned)era % EBI_WINDOW_STAMPS) | l->w << 8 | l->wn << 13 | l->nn << 18 | l->head << 25;
    const unsigned marks = l->slots + t->eras;
    memcpy(line, &header, sizeof header);
    uint8_t *const end = line + x->bytes - 8;
    if (wide) {
        const unsigned above = 128 - marks;
        const window_pair ends = window_up((window_pair){~l->kept.low, ~l->kept.high}, above);
        const unsigned last = above > WORD ? above - WORD : 0;
        ebi_store64(end - 8, _bzhi_u64(ebi_load64(end - 8), above) | ends.low);
        ebi_store64(end, _bzhi_u64(ebi_load64(end), last) | ends.high);
    } else {
        const unsigned above = WORD - marks;
        ebi_store64(end, _bzhi_u64(ebi_load64(end), above) | ~l->kept.low << above);
    }
}

/* Of these slots, those that match. */
WINDOW_AVX2 static uint64_t window_verify(const ebi_window *x, const uint8_t *line, unsigned w,
                                          unsigned wn, uint64_t partly, uint32_t print,
                                          uint64_t maybe) {
    uint64_t found = 0;
    for (; maybe; maybe &= maybe - 1) {
        const unsigned slot = (unsigned)_tzcnt_u64(maybe);
        const uint32_t differ = ebi_window_get(x, line, slot, w) ^ print;
        const bool equal = _bzhi_u32(differ, partly >> slot & 1 ? wn : w) == 0;
        found |= (uint64_t)equal << slot;
    }
    return found;
}

/* Which slots hold the fingerprint? */
WINDOW_AVX2 EB_INLINE uint64_t window_find(const ebi_window *whole, window_shape shape,
                                           const uint8_t *line, const window_narrow *l,
                                           uint32_t print) {
    const uint32_t bits = _bzhi_u32(~UINT32_C(0), l->wn);
    uint64_t maybe = shape.shorts
                         ? window_find_shorts(line, l->w, print, bits, shape.groups)
                         : window_find_longs(line, shape.bytes, l->w, print, bits, shape.groups);
    maybe &= window_first(l, l->n);
    if (__builtin_expect(maybe != 0, false) && ((l->nn > 0) | (l->w > WINDOW_LONG_BITS)))
        return window_verify(whole, line, l->w, l->wn, window_first(l, l->nn), print, maybe);
    return maybe;
}

EB_INLINE bool window_can_widen(const ebi_window *x, const window_sizes *t,
                                const window_narrow *l) {
    return (l->w < x->w) & (l->nn == 0) & (t->slots[l->w + 1] >= l->n + EBI_WINDOW_SLACK);
}

WINDOW_AVX2 EB_INLINE void window_put(const ebi_window *x, uint8_t *line, unsigned slot, unsigned w,
                                      uint32_t print) {
    const ebi_window_place at = ebi_window_place_of(x, slot, w);
    const uint64_t word = ebi_load64(line + at.byte);
    const uint64_t differ = _bzhi_u64(word >> at.shift ^ print, w);
    ebi_store64(line + at.byte, word ^ differ << at.shift);
}

WINDOW_AVX2 EB_INLINE void window_append(const ebi_window *x, const window_sizes *t, uint8_t *line,
                                         uint64_t era, bool wide, window_narrow *l,
                                         uint32_t print) {
    const unsigned slot = window_wrap(l->head + l->n, l->slots), mark = l->n + t->eras;
    l->kept.low |= (uint64_t)(!wide || mark < WORD) << mark % WORD;
    if (wide) l->kept.high |= (uint64_t)(mark >= WORD) << mark % WORD;
    window_write(x, t, line, era, wide, l);
    window_put(x, line, slot, l->w, print);
}

/* m low bits of each lane. */
EB_INLINE uint64_t window_in_lanes(unsigned lane, unsigned m) {
    return ebi_ones(m) * (lane == 16 ? UINT64_C(0x0001000100010001) : UINT64_C(0x0000000100000001));
}

/* Fingerprints side by side in lanes of 16 or 32 bits, the oldest first: all slots, then the first
 * ones once more, so that the ring is in one piece behind its head. */
WINDOW_AVX2 EB_INLINE void window_unpack(const ebi_window *x, const uint8_t *line,
                                         const window_narrow *l, unsigned lane, uint8_t *to) {
    const uint64_t mask = window_in_lanes(lane, l->w);
    const unsigned step = 64 / lane * l->w, end = EBI_WINDOW_HEADER + l->slots * l->w;
    uint8_t *at = to;
    for (unsigned bit = EBI_WINDOW_HEADER; bit < end; bit += step, at += 8) {
        const unsigned byte = bit / 8 < x->bytes - 8 ? bit / 8 : x->bytes - 8;
        ebi_store64(at, _pdep_u64(ebi_load64(line + byte) >> (bit - 8 * byte), mask));
    }
    at = to + l->slots * lane / 8;
    for (unsigned i = 0; i < l->head; i += 64 / lane, at += 8)
        ebi_store64(at, ebi_load64(to + i * lane / 8));
    ebi_store64(to + (l->head + l->n) * lane / 8, 0);
}

WINDOW_AVX2 EB_INLINE void window_pack(const uint8_t *from, unsigned n, unsigned lane, unsigned w,
                                       uint8_t *to) {
    const uint64_t mask = window_in_lanes(lane, w);
    const unsigned step = 64 / lane * w, end = EBI_WINDOW_HEADER + n * w;
    uint64_t begun = 0; /* the byte that the next fingerprint goes on with */
    for (unsigned bit = EBI_WINDOW_HEADER; bit < end; bit += step, from += 8) {
        const unsigned byte = bit / 8, next = (bit + step) / 8;
        begun |= _pext_u64(ebi_load64(from), mask) << bit % 8;
        ebi_store64(to + byte, begun);
        begun >>= 8 * (next - byte);
    }
}

enum {
    LANE_16_MAX = 14,
    LANE_32_MAX = 28
}; /* bits, so that what is in 64 of lanes fits in a word */

WINDOW_AVX2 EB_INLINE void window_repack_lanes(const ebi_window *x, uint8_t *line,
                                               const window_narrow *l, unsigned w, unsigned lane) {
    uint8_t lanes[(2 * 64 + 2) * sizeof(uint32_t)], to[128 + 8] = {0};
    window_unpack(x, line, l, lane, lanes);
    window_pack(lanes + l->head * lane / 8, l->n, lane, w, to);
    memcpy(line, to, x->bytes);
}

/* As the window_repack of other machines. */
WINDOW_AVX2 static void window_repack(const ebi_window *x, const window_sizes *t, uint8_t *line,
                                      window_narrow *l, unsigned w) {
    const unsigned widest = l->w < w ? w : l->w;
    if (widest <= LANE_16_MAX)
        window_repack_lanes(x, line, l, w, 16);
    else
        window_repack_lanes(x, line, l, w, 32);
    l->w = w;
    l->slots = t->slots[w];
    l->head = 0;
}

WINDOW_AVX2 EB_INLINE void window_widen(const ebi_window *x, const window_sizes *t, uint8_t *line,
                                        window_narrow *l) {
    unsigned w = x->w;
    while (t->slots[w] < l->n + EBI_WINDOW_SLACK) w--;
    l->wn = l->n ? l->w : w;
    l->nn = l->n;
    window_repack(x, t, line, l, w);
}

/* false: not in this loop, nothing is done */
WINDOW_AVX2 EB_INLINE bool window_make_room(const ebi_window *x, const window_sizes *t,
                                            uint8_t *line, window_narrow *l) {
    unsigned w = l->w - 1;
    while (w > 0 && t->slots[w] <= l->n) w--;
    if (t->slots[w] > t->most) return false;
    if (l->wn >= w) {
        l->wn = w;
        l->nn = 0;
    }
    window_repack(x, t, line, l, w);
    return true;
}

/* The youngest of these slots, counted from the oldest entry. */
WINDOW_AVX2 EB_INLINE unsigned window_youngest(const window_narrow *l, uint64_t found) {
    const uint64_t aged = found >> l->head | found << (l->slots - l->head) % WORD;
    return 63 - (unsigned)_lzcnt_u64(_bzhi_u64(aged, l->slots));
}

/* Entries from the i-th place of the marks on. */
EB_INLINE unsigned window_entries_from(const window_narrow *l, unsigned i) {
    const window_pair rest = window_down(l->kept, i);
    return ebi_popcount(rest.low) + ebi_popcount(rest.high);
}

/* The mark of the i-th entry leaves. */
WINDOW_AVX2 EB_INLINE void window_take_mark(window_narrow *l, unsigned i) {
    const unsigned first = ebi_popcount(l->kept.low);
    if (i < first) {
        const uint64_t before = _pdep_u64(UINT64_C(1) << i, l->kept.low) - 1;
        l->kept.low = (l->kept.low & before) | (l->kept.low >> 1 & ~before) | l->kept.high << 63;
        l->kept.high >>= 1;
    } else {
        const uint64_t before = _pdep_u64(UINT64_C(1) << (i - first), l->kept.high) - 1;
        l->kept.high = (l->kept.high & before) | (l->kept.high >> 1 & ~before);
    }
}

/* Bits from a place on, in four words of which the first begins at bit `base`. */
WINDOW_AVX2 EB_INLINE __m256i window_bits_from(unsigned bit, unsigned base) {
    const __m256i starts =
        _mm256_add_epi64(_mm256_setr_epi64x(0, 64, 128, 192), _mm256_set1_epi64x((int64_t)base));
    const __m256i ahead = _mm256_sub_epi64(_mm256_set1_epi64x((int64_t)bit), starts);
    const __m256i places = _mm256_max_epi32(ahead, _mm256_setzero_si256()); /* < 2^31 */
    return _mm256_sllv_epi64(_mm256_set1_epi64x(-1), places);
}

/* Bits [from, to) of a line go w places up, or down: for each word, the two from which it is made
 * are chosen without a branch. */
WINDOW_AVX2 EB_INLINE void window_shift(uint8_t *line, unsigned bytes, unsigned from, unsigned to,
                                        unsigned w, bool up) {
    enum { PART = sizeof(__m256i) };
    const unsigned by = up ? w : 0u - w, right = up ? WORD - w : w;
    const __m128i down_by = _mm_cvtsi32_si128((int)right);
    const __m128i up_by = _mm_cvtsi32_si128((int)(WORD - right));
    const __m256i goes_up = _mm256_set1_epi64x(-(int64_t)up);
    __m256i out[4];
    for (unsigned at = 0; at < bytes; at += PART) {
        const __m256i here = window_load_lanes(line + at);
        const __m256i below =
            at > 0 ? window_load_lanes(line + at - 8) : _mm256_permute4x64_epi64(here, 0x90);
        const __m256i above = at + PART < bytes ? window_load_lanes(line + at + 8)
                                                : _mm256_permute4x64_epi64(here, 0xF9);
        const __m256i low = _mm256_blendv_epi8(here, below, goes_up);
        const __m256i high = _mm256_blendv_epi8(above, here, goes_up);
        const __m256i moved =
            _mm256_or_si256(_mm256_srl_epi64(low, down_by), _mm256_sll_epi64(high, up_by));
        const __m256i mask = _mm256_andnot_si256(window_bits_from(to + by, 8 * at),
                                                 window_bits_from(from + by, 8 * at));
        const __m256i differ = _mm256_and_si256(_mm256_xor_si256(here, moved), mask);
        out[at / PART] = _mm256_xor_si256(here, differ);
    }
    for (unsigned at = 0; at < bytes; at += PART)
        _mm256_storeu_si256((__m256i *)(void *)(line + at), out[at / PART]);
}

/* The slots on the side of the gap on which they are in one piece move into it. */
WINDOW_AVX2 EB_INLINE void window_take_out(const ebi_window *x, uint8_t *line, window_narrow *l,
                                           unsigned i) {
    const unsigned gap = window_wrap(l->head + i, l->slots);
    const unsigned last = window_wrap(l->head + l->n - 1, l->slots);
    const bool up = gap >= l->head;
    const unsigned first = up ? l->head : gap + 1, end = up ? gap : last + 1;
    window_take_mark(l, i);
    window_shift(line, x->bytes, EBI_WINDOW_HEADER + first * l->w, EBI_WINDOW_HEADER + end * l->w,
                 l->w, up);
    l->head = window_wrap(l->head + up, l->slots);
    l->n--;
}

/* What is rarer than a fresh key in a line that has room for it. */
typedef enum window_done { DONE_STORED, DONE_NOTHING, DONE_ELSEWHERE } window_done;
typedef window_done window_rarity(const ebi_window *x, const window_sizes *t, uint8_t *line,
                                  uint64_t era, uint32_t print, uint64_t found);

/* A new entry in a line that takes another width for it, or a repeat, whose entry becomes one of
 * this era.  What is known in part may be another key's: it stays. */
WINDOW_AVX2 EB_INLINE window_done window_do_rare(const ebi_window *whole, const window_sizes *t,
                                                 window_shape shape, uint8_t *line, uint64_t era,
                                                 uint32_t print, uint64_t found) {
    ebi_window x = *whole;
    x.bytes = shape.bytes;
    window_narrow l;
    if (!window_read(&x, t, line, era, shape.wide, &l)) return DONE_ELSEWHERE;
    const unsigned i = found ? window_youngest(&l, found) : 0;
    if (found && window_entries_from(&l, i + t->eras) == l.n - i) return DONE_NOTHING;
    if (x.w > LANE_32_MAX) return DONE_ELSEWHERE;
    if (window_can_widen(&x, t, &l)) window_widen(&x, t, line, &l);
    if (found && i >= l.nn)
        window_take_out(&x, line, &l, i);
    else if (l.n == l.slots && !window_make_room(&x, t, line, &l))
        return DONE_ELSEWHERE;
    window_append(&x, t, line, era, shape.wide, &l, print);
    return DONE_STORED;
}

WINDOW_AVX2 EB_INLINE bool window_observe(const ebi_window *x, const ebi_window *whole,
                                          const window_sizes *t, window_shape shape,
                                          window_rarity *rarely, uint8_t *line, uint64_t era,
                                          uint32_t print, uint64_t *entered) {
    window_narrow l;
    if (!window_read(x, t, line, era, shape.wide, &l))
        return ebi_window_add_one(whole, line, print);
    const uint64_t found = window_find(whole, shape, line, &l, print);
    if (found && !x->refresh) return true;
    if (found || __builtin_expect(window_can_widen(x, t, &l) | (l.n == l.slots), false)) {
        const window_done done = rarely(whole, t, line, era, print, found);
        if (done == DONE_ELSEWHERE) return ebi_window_add_one(whole, line, print);
        *entered += done == DONE_STORED;
        return found != 0;
    }
    window_append(x, t, line, era, shape.wide, &l, print);
    ++*entered;
    return false;
}

EB_INLINE window_sizes window_sizes_of(const ebi_window *x, window_shape shape) {
    const unsigned compared = (shape.shorts ? 16 : 8) * shape.groups;
    const unsigned marked = (shape.wide ? 127 : 63) - x->eras;
    window_sizes t = {.slots = {255}, .eras = x->eras};
    for (unsigned w = 1; w <= x->w; w++) t.slots[w] = (uint8_t)ebi_window_slots(x, w);
    t.most = compared < marked ? compared : marked;
    return t;
}

WINDOW_AVX2 EB_INLINE void window_add_lines(const eb_params *p, uint8_t *block, const eb_batch *b,
                                            uint8_t *seen, window_shape shape,
                                            window_rarity *rarely) {
    const ebi_window whole = ebi_window_open(p, block);
    const window_sizes t = window_sizes_of(&whole, shape);
    ebi_window x = whole;
    x.bytes = shape.bytes;
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
        seen[i] = window_observe(&x, &whole, &t, shape, rarely, x.lines + to.at[i], era,
                                 ebi_window_print(&x, b->hash[i]), &entered);
    }
    ebi_window_enter(&whole, entered);
}

WINDOW_AVX2 EB_INLINE void window_test_lines(const eb_params *p, const uint8_t *block,
                                             const eb_hash *h, size_t n, uint8_t *seen,
                                             window_shape shape) {
    const ebi_window whole = ebi_window_open(p, block);
    const window_sizes t = window_sizes_of(&whole, shape);
    const uint64_t era = whole.state->era;
    ebi_window x = whole;
    x.bytes = shape.bytes;
    ebi_window_places to;
    ebi_window_find_places(&x, h, n, false, &to);
    for (size_t i = 0; i < n; i++) {
        ebi_window_fetch(&x, &to, i + EBI_WINDOW_AHEAD, false);
        const uint8_t *const line = x.lines + to.at[i];
        const uint32_t print = ebi_window_print(&x, h[i]);
        window_narrow l;
        seen[i] = window_read(&x, &t, line, era, shape.wide, &l)
                      ? window_find(&whole, shape, line, &l, print) != 0
                      : ebi_window_test_one(&whole, line, print);
    }
}

/* Loops for few and many slots.  Lines hardly ever become more than four bits narrower than
 * planned.
 */
#define WINDOW_LOOPS(name, ...)                                                                    \
    WINDOW_AVX2 __attribute__((noinline)) static window_done name##_rare(                          \
        const ebi_window *x, const window_sizes *t, uint8_t *line, uint64_t era, uint32_t print,   \
        uint64_t found) {                                                                          \
        return window_do_rare(x, t, (window_shape){__VA_ARGS__}, line, era, print, found);         \
    }                                                                                              \
    WINDOW_AVX2 static void name##_add(const eb_params *p, uint8_t *block, const eb_batch *b,      \
                                       uint8_t *seen) {                                            \
        window_add_lines(p, block, b, seen, (window_shape){__VA_ARGS__}, name##_rare);             \
    }                                                                                              \
    WINDOW_AVX2 static void name##_test(const eb_params *p, const uint8_t *block,                  \
                                        const eb_hash *h, size_t n, uint8_t *seen) {               \
        window_test_lines(p, block, h, n, seen, (window_shape){__VA_ARGS__});                      \
    }                                                                                              \
    static const eb_ops name = {.add = name##_add, .test = name##_test};
WINDOW_LOOPS(window_shorts_48, 64, false, true, 3)
WINDOW_LOOPS(window_shorts_64, 64, true, true, 4)
WINDOW_LOOPS(window_longs_40, 64, false, false, 5)
WINDOW_LOOPS(window_longs_32, 64, false, false, 4)
WINDOW_LOOPS(window_longs_48, 128, false, false, 6)
WINDOW_LOOPS(window_longs_64, 128, true, false, 8)

const eb_ops *ebi_window_avx2(const eb_params *p) {
    const ebi_window x = ebi_window_of(p);
    if (!ebi_has_avx2() || !ebi_has_bmi2()) return NULL;
    if (x.bytes == 128) return x.w < 24 ? &window_longs_64 : &window_longs_48;
    if (x.w <= WINDOW_SHORT_MAX)
        return x.w < WINDOW_SHORT_MAX ? &window_shorts_64 : &window_shorts_48;
    return x.w < 19 ? &window_longs_40 : &window_longs_32;
}
#else
const eb_ops *ebi_window_avx2(const eb_params *p) {
    (void)p;
    return NULL;
}
#endif
