/* window_avx2.c - the loops of mode=elastic with AVX2: 16 or 8 fingerprints are compared at once,
 * and all that depends on chance is arithmetic.  The bytes are those of the portable loops.
 *
 * A fresh key in a line of any width is one straight piece of code.  What is rarer (other widths,
 * refreshed entries) is done out of its way, and what hardly ever comes (lines of an overload,
 * lines that nobody came to for a window) by the portable loop. */
#include "window_line.h"

#if defined __x86_64__
#include <immintrin.h>

#define WINDOW_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))
enum { WORD = 64, SHORT_MAX = 14, LANE_BITS = 25, SLOTS_MAX = 64 };

/* Sixteen fingerprints of w <= 14 bits at once: of each half's eight, which are w bytes, 16 are
 * loaded, from one before them on or, near the end of the line, earlier.  A lane takes four of
 * them, as two times two; times a power of 2 brings the fingerprint to the middle of these 32 bits.
 */
typedef struct window_shorts {
    uint16_t bytes[4][16], times[16];
    uint8_t at[8];
} window_shorts;

#define SHORT_AT(w, k) (3 + (k) * (w) < 48 ? 3 + (k) * (w) : 48)
#define SHORT_BYTE(w, k, i) (3 + (k) * (w) + (i) * (w) / 8 - SHORT_AT(w, k))
#define SHORT_LANE(w, k, i) (uint16_t)(SHORT_BYTE(w, k, i) * 0x0101 + 0x0100)
#define EACH_8(M, w, k)                                                                            \
    M(w, k, 0), M(w, k, 1), M(w, k, 2), M(w, k, 3), M(w, k, 4), M(w, k, 5), M(w, k, 6), M(w, k, 7)
#define SHORT_TIMES(w, k, i) (uint16_t)(1 << (8 - (i) * (w) % 8))
#define SHORT_GROUP(w, g)                                                                          \
    { EACH_8(SHORT_LANE, w, 2 * (g)), EACH_8(SHORT_LANE, w, 2 * (g) + 1) }
#define SHORTS(w)                                                                                  \
    {                                                                                              \
        {SHORT_GROUP(w, 0), SHORT_GROUP(w, 1), SHORT_GROUP(w, 2), SHORT_GROUP(w, 3)},              \
            {EACH_8(SHORT_TIMES, w, 0), EACH_8(SHORT_TIMES, w, 0)}, {                              \
            SHORT_AT(w, 0), SHORT_AT(w, 1), SHORT_AT(w, 2), SHORT_AT(w, 3), SHORT_AT(w, 4),        \
                SHORT_AT(w, 5), SHORT_AT(w, 6), SHORT_AT(w, 7)                                     \
        }                                                                                          \
    }
static const window_shorts window_shorts_of[SHORT_MAX + 1] = {
    SHORTS(0), SHORTS(1), SHORTS(2),  SHORTS(3),  SHORTS(4),  SHORTS(5),  SHORTS(6), SHORTS(7),
    SHORTS(8), SHORTS(9), SHORTS(10), SHORTS(11), SHORTS(12), SHORTS(13), SHORTS(14)};

/* Eight fingerprints at once: a shuffle brings four bytes with each of them into its lane, a shift
 * by 0..7 puts it in place: 25 bits of it. */
typedef struct window_longs {
    uint32_t bytes[8][8], shift[8];
    uint8_t at[16];
} window_longs;
#define LONG_AT(w, k, last) (4 + (k) * (w) / 2 < (last) ? 4 + (k) * (w) / 2 : (last))
#define LONG_BYTE(w, k, last, i) (4 + (4 * (k) + (i)) * (w) / 8 - LONG_AT(w, k, last))
#define LONG_LANE(w, k, last, i) (uint32_t) LONG_BYTE(w, k, last, i) * 0x01010101u + 0x03020100u
#define LONG_HALF(w, k, last)                                                                      \
    LONG_LANE(w, k, last, 0), LONG_LANE(w, k, last, 1), LONG_LANE(w, k, last, 2),                  \
        LONG_LANE(w, k, last, 3)
#define LONG_GROUP(w, g, last)                                                                     \
    { LONG_HALF(w, 2 * (g), last), LONG_HALF(w, 2 * (g) + 1, last) }
#define LONG_SHIFT(w, k, i) (i) * (w) % 8
#define LONGS(w, last)                                                                             \
    {                                                                                              \
        {LONG_GROUP(w, 0, last), LONG_GROUP(w, 1, last), LONG_GROUP(w, 2, last),                   \
         LONG_GROUP(w, 3, last), LONG_GROUP(w, 4, last), LONG_GROUP(w, 5, last),                   \
         LONG_GROUP(w, 6, last), LONG_GROUP(w, 7, last)},                                          \
            {EACH_8(LONG_SHIFT, w, 0)}, {                                                          \
            LONG_AT(w, 0, last), LONG_AT(w, 1, last), LONG_AT(w, 2, last), LONG_AT(w, 3, last),    \
                LONG_AT(w, 4, last), LONG_AT(w, 5, last), LONG_AT(w, 6, last),                     \
                LONG_AT(w, 7, last), LONG_AT(w, 8, last), LONG_AT(w, 9, last),                     \
                LONG_AT(w, 10, last), LONG_AT(w, 11, last), LONG_AT(w, 12, last),                  \
                LONG_AT(w, 13, last), LONG_AT(w, 14, last), LONG_AT(w, 15, last)                   \
        }                                                                                          \
    }
#define EACH_WIDTH(last)                                                                           \
    {                                                                                              \
        LONGS(0, last), LONGS(1, last), LONGS(2, last), LONGS(3, last), LONGS(4, last),            \
            LONGS(5, last), LONGS(6, last), LONGS(7, last), LONGS(8, last), LONGS(9, last),        \
            LONGS(10, last), LONGS(11, last), LONGS(12, last), LONGS(13, last), LONGS(14, last),   \
            LONGS(15, last), LONGS(16, last), LONGS(17, last), LONGS(18, last), LONGS(19, last),   \
            LONGS(20, last), LONGS(21, last), LONGS(22, last), LONGS(23, last), LONGS(24, last),   \
            LONGS(25, last), LONGS(26, last), LONGS(27, last), LONGS(28, last), LONGS(29, last),   \
            LONGS(30, last), LONGS(31, last)                                                       \
    }
static const window_longs window_longs_of[2][EBI_WINDOW_W_MAX + 1] = {EACH_WIDTH(48),
                                                                      EACH_WIDTH(112)};

WINDOW_AVX2 EB_INLINE __m256i window_load_lanes(const void *lanes) {
    return _mm256_loadu_si256((const __m256i *)lanes);
}

WINDOW_AVX2 EB_INLINE __m256i window_load_halves(const uint8_t *line, const uint8_t *at) {
    const __m128i low = _mm_loadu_si128((const __m128i *)(const void *)(line + at[0]));
    const __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(line + at[1]));
    return _mm256_set_m128i(high, low);
}

/* Lanes whose fingerprint is wanted, as far as it is known: all bits are set. */
WINDOW_AVX2 EB_INLINE __m256i window_shorts_equal(const uint8_t *line, const window_shorts *s,
                                                  unsigned g, __m256i wanted, __m256i known) {
    const __m256i group = window_load_halves(line, s->at + 2 * g);
    const __m256i low = window_load_lanes(s->bytes[g]), times = window_load_lanes(s->times);
    const __m256i high = _mm256_add_epi8(low, _mm256_set1_epi8(2));
    const __m256i first = _mm256_mulhi_epu16(_mm256_shuffle_epi8(group, low), times);
    const __m256i rest = _mm256_mullo_epi16(_mm256_shuffle_epi8(group, high), times);
    return _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_or_si256(first, rest), known), wanted);
}

WINDOW_AVX2 EB_INLINE uint64_t window_32_shorts(const uint8_t *line, const window_shorts *s,
                                                unsigned g, __m256i wanted, __m256i known) {
    const __m256i both = _mm256_packs_epi16(window_shorts_equal(line, s, g, wanted, known),
                                            window_shorts_equal(line, s, g + 1, wanted, known));
    return (uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(both, 0xD8));
}

/* Which slots hold these bits?  The answer is good for `most` slots. */
WINDOW_AVX2 EB_INLINE uint64_t window_find_shorts(const uint8_t *line, unsigned w, uint32_t print,
                                                  uint32_t bits, unsigned most) {
    const window_shorts *const s = &window_shorts_of[w];
    const __m256i wanted = _mm256_set1_epi16((short)(print & bits));
    const __m256i known = _mm256_set1_epi16((short)bits);
    const uint64_t found = window_32_shorts(line, s, 0, wanted, known);
    if (most <= 32) return found;
    return found | window_32_shorts(line, s, 2, wanted, known) << 32;
}

WINDOW_AVX2 EB_INLINE __m256i window_longs_equal(const uint8_t *line, const window_longs *s,
                                                 unsigned g, __m256i wanted, __m256i known) {
    const __m256i bytes = window_load_lanes(s->bytes[g]), shift = window_load_lanes(s->shift);
    const __m256i group = _mm256_shuffle_epi8(window_load_halves(line, s->at + 2 * g), bytes);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_srlv_epi32(group, shift), known), wanted);
}

WINDOW_AVX2 EB_INLINE uint64_t window_32_longs(const uint8_t *line, const window_longs *s,
                                               unsigned g, __m256i wanted, __m256i known) {
    const __m256i some = _mm256_packs_epi32(window_longs_equal(line, s, g, wanted, known),
                                            window_longs_equal(line, s, g + 1, wanted, known));
    const __m256i more = _mm256_packs_epi32(window_longs_equal(line, s, g + 2, wanted, known),
                                            window_longs_equal(line, s, g + 3, wanted, known));
    const __m256i all = _mm256_packs_epi16(some, more);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    return (uint32_t)_mm256_movemask_epi8(_mm256_permutevar8x32_epi32(all, order));
}

WINDOW_AVX2 EB_INLINE uint64_t window_find_longs(const uint8_t *line, unsigned bytes, unsigned w,
                                                 uint32_t print, uint32_t bits, unsigned most) {
    const window_longs *const s = &window_longs_of[bytes == 128][w];
    bits &= (uint32_t)ebi_ones(LANE_BITS);
    const __m256i wanted = _mm256_set1_epi32((int)(print & bits));
    const __m256i known = _mm256_set1_epi32((int)bits);
    const uint64_t found = window_32_longs(line, s, 0, wanted, known);
    if (most <= 32) return found;
    return found | window_32_longs(line, s, 4, wanted, known) << 32;
}

/* What the loop knows of all lines of a filter. */
typedef struct window_sizes {
    uint8_t slots[EBI_WINDOW_W_MAX + 2]; /* of a line, by w; w = 0: too many for this loop */
    unsigned eras, most;                 /* slots that this loop takes */
    bool shorts;
} window_sizes;

/* A line as it is after expiry. */
typedef struct window_narrow {
    unsigned w, wn, nn, head, n, slots;
    uint64_t kept, more; /* marks turned over: 1 an entry, 0 the end of an era, zeros behind */
} window_narrow;

/* x if the condition holds, else 0: what is a coin's throw is no branch here. */
EB_INLINE unsigned window_if(bool condition, unsigned x) {
    return x & (0u - (unsigned)condition);
}

EB_INLINE unsigned window_wrap(unsigned slot, unsigned slots) {
    return slot - window_if(slot >= slots, slots);
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
    uint64_t kept, more = 0;
    if (wide) {
        const ebi_wide all = ~ebi_window_load_end(x, line) >> (128 - marks);
        kept = (uint64_t)all;
        more = (uint64_t)(all >> 64);
    } else {
        kept = ~ebi_load64(line + x->bytes - 8) >> (WORD - marks);
    }
    /* Expiry, as in ebi_window_expire: up to the d-th end. */
    const uint64_t dth = _pdep_u64(UINT64_C(1) << d >> 1, ~kept);
    if (wide && d > 0 && dth == 0) return false;
    const unsigned passed = WORD - (unsigned)_lzcnt_u64(dth), old = passed - d;
    if (wide) {
        const ebi_wide left = ((ebi_wide)more << 64 | kept) >> passed;
        kept = (uint64_t)left;
        more = (uint64_t)(left >> 64);
    } else {
        kept >>= passed;
    }
    const unsigned nn = header >> 18 & 127, wn = header >> 13 & 31;
    l->w = w;
    l->slots = slots;
    l->kept = kept;
    l->more = more;
    l->n = ebi_popcount(kept) + (wide ? ebi_popcount(more) : 0);
    l->head = window_wrap((header >> 25) + old, slots);
    l->nn = window_if(nn > old, nn - old);
    l->wn = w - window_if(nn > old, w - wn);
    return true;
}

WINDOW_AVX2 EB_INLINE void window_write(const ebi_window *x, const window_sizes *t, uint8_t *line,
                                        uint64_t era, bool wide, const window_narrow *l) {
    const uint32_t header =
        ((unsigned)era % EBI_WINDOW_STAMPS) | l->w << 8 | l->wn << 13 | l->nn << 18 | l->head << 25;
    const unsigned marks = l->slots + t->eras;
    memcpy(line, &header, sizeof header);
    if (wide) {
        const ebi_wide all = ~((ebi_wide)l->more << 64 | l->kept),
                       end = ebi_window_load_end(x, line);
        const ebi_wide to = (end & ebi_wide_ones(128 - marks)) | all << (128 - marks);
        memcpy(line + x->bytes - sizeof to, &to, sizeof to);
    } else {
        uint8_t *const end = line + x->bytes - 8;
        ebi_store64(end, _bzhi_u64(ebi_load64(end), WORD - marks) | ~l->kept << (WORD - marks));
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
WINDOW_AVX2 EB_INLINE uint64_t window_find(const ebi_window *x, const ebi_window *whole,
                                           const window_sizes *t, const uint8_t *line,
                                           const window_narrow *l, uint32_t print) {
    const uint32_t bits = _bzhi_u32(~UINT32_C(0), l->wn);
    uint64_t maybe = t->shorts ? window_find_shorts(line, l->w, print, bits, t->most)
                               : window_find_longs(line, x->bytes, l->w, print, bits, t->most);
    maybe &= window_first(l, l->n);
    if (__builtin_expect(maybe != 0, false) && ((l->nn > 0) | (l->w > LANE_BITS)))
        return window_verify(whole, line, l->w, l->wn, window_first(l, l->nn), print, maybe);
    return maybe;
}

EB_INLINE bool window_can_widen(const ebi_window *x, const window_sizes *t,
                                const window_narrow *l) {
    return (l->w < x->w) & (l->nn == 0) & (t->slots[l->w + 1] >= l->n + 2);
}

WINDOW_AVX2 EB_INLINE void window_append(const ebi_window *x, const window_sizes *t, uint8_t *line,
                                         uint64_t era, bool wide, window_narrow *l,
                                         uint32_t print) {
    const unsigned slot = window_wrap(l->head + l->n, l->slots), mark = l->n + t->eras;
    if (!wide)
        l->kept |= UINT64_C(1) << mark;
    else if (mark < WORD)
        l->kept |= UINT64_C(1) << mark;
    else
        l->more |= UINT64_C(1) << (mark - WORD);
    window_write(x, t, line, era, wide, l);
    ebi_window_put(x, line, slot, l->w, print);
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

/* As ebi_window_repack. */
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

/* As ebi_window_widen. */
WINDOW_AVX2 EB_INLINE void window_widen(const ebi_window *x, const window_sizes *t, uint8_t *line,
                                        window_narrow *l) {
    unsigned w = x->w;
    while (t->slots[w] < l->n + 2) w--;
    l->wn = l->n ? l->w : w;
    l->nn = l->n;
    window_repack(x, t, line, l, w);
}

/* As ebi_window_make_room; false: not in this loop, nothing is done. */
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

/* What is rarer than a fresh key in a line as it is reads the line again, out of the way. */
typedef enum window_done { DONE_STORED, DONE_NOTHING, DONE_ELSEWHERE } window_done;

/* A new entry in a line that takes another width for it. */
WINDOW_AVX2 EB_INLINE window_done window_resize(const ebi_window *x, const window_sizes *t,
                                                uint8_t *line, uint64_t era, bool wide,
                                                uint32_t print) {
    window_narrow l;
    if (x->w > LANE_32_MAX || !window_read(x, t, line, era, wide, &l)) return DONE_ELSEWHERE;
    if (window_can_widen(x, t, &l))
        window_widen(x, t, line, &l);
    else if (!window_make_room(x, t, line, &l))
        return DONE_ELSEWHERE;
    window_append(x, t, line, era, wide, &l, print);
    return DONE_STORED;
}

/* The youngest of these slots, counted from the oldest entry. */
WINDOW_AVX2 EB_INLINE unsigned window_youngest(const window_narrow *l, uint64_t found) {
    const uint64_t aged = found >> l->head | found << (l->slots - l->head) % WORD;
    return 63 - (unsigned)_lzcnt_u64(_bzhi_u64(aged, l->slots));
}

/* Entries from the i-th place of the marks on. */
EB_INLINE unsigned window_entries_from(const window_narrow *l, unsigned i, bool wide) {
    if (!wide) return ebi_popcount(l->kept >> i);
    return i < WORD ? ebi_popcount(l->kept >> i) + ebi_popcount(l->more)
                    : ebi_popcount(l->more >> (i - WORD));
}

/* The mark of the i-th entry leaves. */
WINDOW_AVX2 EB_INLINE void window_take_mark(window_narrow *l, unsigned i) {
    const uint64_t mark = _pdep_u64(UINT64_C(1) << i, l->kept), before = mark - 1;
    if (mark == 0) {
        const uint64_t last = _pdep_u64(UINT64_C(1) << (i - ebi_popcount(l->kept)), l->more);
        l->more = (l->more & (last - 1)) | (l->more >> 1 & ~(last - 1));
        return;
    }
    l->kept = (l->kept & before) | (l->kept >> 1 & ~before) | l->more << 63;
    l->more >>= 1;
}

/* As the window_take_out of other machines. */
WINDOW_AVX2 EB_INLINE void window_take_out(const ebi_window *x, uint8_t *line, window_narrow *l,
                                           unsigned i) {
    const unsigned gap = window_wrap(l->head + i, l->slots);
    const unsigned last = window_wrap(l->head + l->n - 1, l->slots);
    window_take_mark(l, i);
    if (ebi_window_close_gap(x, line, l->w, l->head, gap, last))
        l->head = window_wrap(l->head + 1, l->slots);
    l->n--;
}

/* A repeat: its entry becomes one of this era.  What is known in part may be another key's: it
 * stays. */
WINDOW_AVX2 EB_INLINE window_done window_refresh(const ebi_window *x, const window_sizes *t,
                                                 uint8_t *line, uint64_t era, bool wide,
                                                 uint32_t print, uint64_t found) {
    window_narrow l;
    if (x->w > LANE_32_MAX || !window_read(x, t, line, era, wide, &l)) return DONE_ELSEWHERE;
    const unsigned i = window_youngest(&l, found);
    if (window_entries_from(&l, i + t->eras, wide) == l.n - i) return DONE_NOTHING;
    if (window_can_widen(x, t, &l)) window_widen(x, t, line, &l);
    if (i >= l.nn)
        window_take_out(x, line, &l, i);
    else if (l.n == l.slots && !window_make_room(x, t, line, &l))
        return DONE_ELSEWHERE;
    window_append(x, t, line, era, wide, &l, print);
    return DONE_STORED;
}

#define EB_RARE WINDOW_AVX2 __attribute__((noinline)) static window_done
EB_RARE window_resize_narrow(const ebi_window *x, const window_sizes *t, uint8_t *line,
                             uint64_t era, uint32_t print) {
    return window_resize(x, t, line, era, false, print);
}
EB_RARE window_resize_wide(const ebi_window *x, const window_sizes *t, uint8_t *line, uint64_t era,
                           uint32_t print) {
    return window_resize(x, t, line, era, true, print);
}
EB_RARE window_refresh_narrow(const ebi_window *x, const window_sizes *t, uint8_t *line,
                              uint64_t era, uint32_t print, uint64_t found) {
    return window_refresh(x, t, line, era, false, print, found);
}
EB_RARE window_refresh_wide(const ebi_window *x, const window_sizes *t, uint8_t *line, uint64_t era,
                            uint32_t print, uint64_t found) {
    return window_refresh(x, t, line, era, true, print, found);
}

WINDOW_AVX2 EB_INLINE bool window_observe(const ebi_window *x, const ebi_window *whole,
                                          const window_sizes *t, uint8_t *line, uint64_t era,
                                          bool wide, uint32_t print, uint64_t *entered) {
    window_narrow l;
    if (!window_read(x, t, line, era, wide, &l)) return ebi_window_add_one(whole, line, print);
    const uint64_t found = window_find(x, whole, t, line, &l, print);
    window_done done = DONE_STORED;
    if (found) {
        if (!x->refresh) return true;
        done =
            (wide ? window_refresh_wide : window_refresh_narrow)(whole, t, line, era, print, found);
    } else if (__builtin_expect(window_can_widen(x, t, &l) | (l.n == l.slots), false)) {
        done = (wide ? window_resize_wide : window_resize_narrow)(whole, t, line, era, print);
    } else {
        window_append(x, t, line, era, wide, &l, print);
    }
    if (done == DONE_ELSEWHERE) return ebi_window_add_one(whole, line, print);
    *entered += done == DONE_STORED;
    return found != 0;
}

EB_INLINE window_sizes window_sizes_of(const ebi_window *x, bool wide) {
    window_sizes t = {.slots = {255}, .eras = x->eras};
    for (unsigned w = 1; w <= x->w; w++) t.slots[w] = (uint8_t)ebi_window_slots(x, w);
    t.most = t.slots[x->w > 5 ? x->w - 4 : 1] <= 32 ? 32 : 64;
    if (!wide && t.most > 63 - x->eras) t.most = 63 - x->eras;
    t.shorts = x->bytes == 64 && x->w <= SHORT_MAX;
    return t;
}

WINDOW_AVX2 EB_INLINE void window_add_lines(const eb_params *p, uint8_t *block, const eb_batch *b,
                                            uint8_t *seen, unsigned bytes, bool wide) {
    const ebi_window whole = ebi_window_open(p, block);
    const window_sizes t = window_sizes_of(&whole, wide);
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
        seen[i] = window_observe(&x, &whole, &t, x.lines + to.at[i], era, wide,
                                 ebi_window_print(&x, b->hash[i]), &entered);
    }
    ebi_window_enter(&whole, entered);
}

WINDOW_AVX2 static void window_avx2_add(const eb_params *p, uint8_t *block, const eb_batch *b,
                                        uint8_t *seen) {
    const ebi_window x = ebi_window_open(p, block);
    const bool wide = ebi_window_slots(&x, x.w > 4 ? x.w - 3 : 1) + x.eras > 63;
    if (p->opt[EBI_WINDOW_LINE] && wide)
        window_add_lines(p, block, b, seen, 128, true);
    else if (p->opt[EBI_WINDOW_LINE])
        window_add_lines(p, block, b, seen, 128, false);
    else if (wide)
        window_add_lines(p, block, b, seen, 64, true);
    else
        window_add_lines(p, block, b, seen, 64, false);
}

WINDOW_AVX2 static void window_avx2_test(const eb_params *p, const uint8_t *block, const eb_hash *h,
                                         size_t n, uint8_t *seen) {
    const ebi_window x = ebi_window_open(p, block);
    const window_sizes t = window_sizes_of(&x, true);
    const uint64_t era = x.state->era;
    ebi_window_places to;
    ebi_window_find_places(&x, h, n, false, &to);
    for (size_t i = 0; i < n; i++) {
        ebi_window_fetch(&x, &to, i + EBI_WINDOW_AHEAD, false);
        const uint8_t *const line = x.lines + to.at[i];
        const uint32_t print = ebi_window_print(&x, h[i]);
        window_narrow l;
        seen[i] = window_read(&x, &t, line, era, true, &l)
                      ? window_find(&x, &x, &t, line, &l, print) != 0
                      : ebi_window_test_one(&x, line, print);
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
