/* sai.c - the store `sai`: counters of variable length without gaps between them, with an index
 * (the string-array index of Cohen and Matias, section 4 of their report), in a segment of fixed
 * size.  Kept as published, to compare with.
 *
 *       | state | coarse: u64 a superblock | fine: u16 a block | words of 64 bits |
 *
 * 64 counters are a block, 64 blocks a superblock.  Block b begins at word coarse[b / 64] +
 * fine[b]; these two vectors are the first two levels of the report.  In place of its third level,
 * a select finds the counter inside the block, where lengths are unary and digits binary:
 *
 *       block:  lengths upwards ... slack, zero ... digits downwards
 *
 * The value v has u = floor(log2(v + 1)) digits, which are those of v + 1 without its first one;
 * its length is u zeros and a one.  A block that needs a word takes it from the nearest block that
 * has one to spare, and everything between them moves by a word.  If no such block is near, slack
 * is spread evenly again, but only when a 64th of the blocks have taken a word since the last time;
 * until then the search goes on.  So spreading costs a constant for each word taken.
 *
 * A block that finds no word anywhere is worn, which the top bit of its fine entry says.  It then
 * is a word with one bit for each counter: 1 for zero, 0 for saturated. */
#include "counters.h"
#include "words.h"

enum { SAI_BLOCK = 64, SAI_SUPER = 64, SAI_WORN = 0x8000, SAI_NEAR = 128 };
enum {
    SAI_U_MAX = 48,
    SAI_LENGTHS_MAX = SAI_BLOCK * (SAI_U_MAX + 1) / 64,
    SAI_DIGITS_MAX = SAI_BLOCK * SAI_U_MAX / 64
};

/* In state->reserved: the words that blocks need, and the words taken since slack was spread
 * (counting stops at a 64th of the blocks). */
enum { SAI_NEEDED, SAI_TAKEN };

/* Blocks */

typedef struct sai_block {
    uint64_t *w;
    unsigned size; /* in words */
    bool worn;
} sai_block;

EBI_INLINE uint64_t sai_start(const ebi_counter_array *c, uint64_t b) { /* b may be the end */
    assert(b <= c->parts);
    return b == c->parts ? c->words : c->coarse[b / SAI_SUPER] + (c->fine[b] & (SAI_WORN - 1));
}

EBI_INLINE sai_block sai_open_block(const ebi_counter_array *c, uint64_t b) {
    const uint64_t start = sai_start(c, b), end = sai_start(c, b + 1);
    return (sai_block){(uint64_t *)(void *)c->cells + start, (unsigned)(end - start),
                       (c->fine[b] & SAI_WORN) != 0};
}

/* The bit after one number j of the lengths, counted from 1. */
EBI_INLINE unsigned sai_after(const uint64_t *w, unsigned j, bool bmi2) {
    assert(j >= 1 && j <= SAI_BLOCK);
    unsigned k = 0, ones = ebi_popcount(w[0]);
    for (; ones < j; ones = ebi_popcount(w[++k])) j -= ones;
    return 64 * k + ebi_select(w[k], j - 1, bmi2) + 1;
}

EBI_INLINE unsigned sai_lengths(sai_block a, bool bmi2) { /* bits */
    return a.worn ? SAI_BLOCK : sai_after(a.w, SAI_BLOCK, bmi2);
}

EBI_INLINE unsigned
sai_words(unsigned lengths) { /* words that a block needs for lengths and digits */
    assert(lengths >= SAI_BLOCK);
    return (2 * lengths - SAI_BLOCK + 63) / 64;
}

typedef struct sai_field {
    unsigned u;   /* digits */
    unsigned at;  /* first bit of its length */
    unsigned low; /* first bit of its digits */
} sai_field;

EBI_INLINE sai_field sai_find(sai_block a, unsigned j, bool bmi2) {
    assert(j < SAI_BLOCK && !a.worn);
    const unsigned at = j == 0 ? 0 : sai_after(a.w, j, bmi2);
    unsigned k = at / 64, u = 0;
    uint64_t rest = a.w[k] >> (at % 64);
    if (rest == 0) {
        u = 64 - at % 64;
        rest = a.w[k + 1]; /* SAI_U_MAX < 64, so the one is here */
    }
    u += ebi_ctz(rest);
    return (sai_field){u, at, 64 * a.size - (at - j) - u};
}

EBI_INLINE uint64_t sai_digits(sai_block a, sai_field f) {
    const unsigned k = f.low / 64, shift = f.low % 64;
    if (f.u == 0) return 0;
    uint64_t x = a.w[k] >> shift;
    if (shift + f.u > 64) x |= a.w[k + 1] << (64 - shift);
    return x & ebi_ones(f.u);
}

static void sai_put(sai_block a, sai_field f, uint64_t digits) {
    assert(f.u <= SAI_U_MAX && digits <= ebi_ones(f.u));
    const unsigned k = f.low / 64, shift = f.low % 64;
    if (f.u == 0) return;
    a.w[k] = (a.w[k] & ~(ebi_ones(f.u) << shift)) | digits << shift;
    if (shift + f.u > 64)
        a.w[k + 1] = (a.w[k + 1] & ~(ebi_ones(f.u) >> (64 - shift))) | digits >> (64 - shift);
}

EBI_INLINE uint64_t sai_get(const ebi_counter_array *c, uint64_t i, bool bmi2) {
    assert(i < c->n);
    const sai_block a = sai_open_block(c, i / SAI_BLOCK);
    const unsigned j = (unsigned)(i % SAI_BLOCK);
    if (a.worn) return a.w[0] >> j & 1 ? 0 : EBI_COUNTER_MAX;
    const sai_field f = sai_find(a, j, bmi2);
    return ebi_ones(f.u) + sai_digits(a, f);
}

/* Segments */

static void sai_open(ebi_counter_array *c) {
    uint8_t *const start = (uint8_t *)c->state + sizeof *c->state;
    c->parts = (c->n + SAI_BLOCK - 1) / SAI_BLOCK;
    const uint64_t coarse = (c->parts + SAI_SUPER - 1) / SAI_SUPER * sizeof *c->coarse;
    const uint64_t index = ebi_round_up(coarse + c->parts * sizeof *c->fine, 64);
    c->coarse = (uint64_t *)(void *)start;
    c->fine = (uint16_t *)(void *)(start + coarse);
    c->cells = start + index;
    c->words = (c->bytes - sizeof *c->state - index) / 8;
}

/* Where block b begins if slack is spread evenly over blocks that need `needed` words in all, and
 * `before` of them are needed before b. */
static uint64_t sai_even(const ebi_counter_array *c, uint64_t needed, uint64_t before, uint64_t b) {
    assert(needed <= c->words && b < c->parts);
    const uint64_t slack = c->words - needed, each = slack / c->parts;
    const uint64_t more = slack % c->parts; /* below 2^42, like parts */
    return before + each * b + (uint64_t)((unsigned __int128)more * b / c->parts);
}

static void sai_place(const ebi_counter_array *c, uint64_t b, uint64_t start, bool worn) {
    assert(b < c->parts && start < c->words);
    if (b % SAI_SUPER == 0) c->coarse[b / SAI_SUPER] = start;
    c->fine[b] = (uint16_t)((start - c->coarse[b / SAI_SUPER]) | (worn ? SAI_WORN : 0));
}

static void sai_init(const ebi_counter_array *c) {
    for (uint64_t b = 0; b < c->parts; b++) {
        const uint64_t start = sai_even(c, c->parts, b, b);
        sai_place(c, b, start, false);
        ((uint64_t *)(void *)c->cells)[start] = UINT64_MAX;
    }
    c->state->reserved[SAI_NEEDED] = c->parts;
}

/* Moving blocks */

/* Writes a block again at `to`, with another size.  The places may overlap. */
static void sai_move(sai_block a, unsigned lengths, uint64_t *to, unsigned size) {
    assert(lengths >= SAI_BLOCK && sai_words(lengths) <= size);
    uint64_t low[SAI_LENGTHS_MAX], high[SAI_DIGITS_MAX + 1];
    const unsigned lows = (lengths + 63) / 64, digits = lengths - SAI_BLOCK;
    const unsigned highs = (digits + 63) / 64;
    memcpy(low, a.w, lows * sizeof *low);
    memcpy(high, a.w + a.size - highs, highs * sizeof *high);
    low[lows - 1] &= ebi_ones(lengths - 64 * (lows - 1));
    if (digits % 64 != 0) high[0] &= ~ebi_ones(64 - digits % 64);
    memset(to, 0, size * sizeof *to);
    memcpy(to, low, lows * sizeof *low);
    for (unsigned k = 0; k < highs; k++) to[size - highs + k] |= high[k];
}

/* Lets blocks (after, last] begin a word later, or a word earlier if `by` is all ones. */
static void sai_shift_starts(const ebi_counter_array *c, uint64_t after, uint64_t last,
                             uint64_t by) {
    assert(after < last && last < c->parts);
    for (uint64_t b = after + 1; b <= last;) {
        const uint64_t super = b / SAI_SUPER, end = ebi_min((super + 1) * SAI_SUPER, c->parts);
        const uint64_t stop = ebi_min(last + 1, end);
        if (b % SAI_SUPER != 0) {
            for (; b < stop; b++) c->fine[b] = (uint16_t)(c->fine[b] + by);
        } else { /* the whole superblock moves; blocks behind the last one do not */
            c->coarse[super] += by;
            for (b = stop; b < end; b++) c->fine[b] = (uint16_t)(c->fine[b] - by);
        }
        b = stop == end ? end : last + 1;
    }
}

/* Block b gets a word at its end.  It comes from block t behind it, which has one to spare. */
static void sai_take_up(const ebi_counter_array *c, uint64_t b, uint64_t t) {
    assert(b < t && t < c->parts);
    const sai_block a = sai_open_block(c, b), from = sai_open_block(c, t);
    uint64_t *const next = a.w + a.size;
    sai_move(from, sai_lengths(from, false), from.w + 1, from.size - 1);
    memmove(next + 1, next, (size_t)(from.w - next) * sizeof *next);
    sai_move(a, sai_lengths(a, false), a.w, a.size + 1);
    sai_shift_starts(c, b, t, 1);
}

/* Block b gets a word at its start, from block t before it. */
static void sai_take_down(const ebi_counter_array *c, uint64_t b, uint64_t t) {
    assert(t < b && b < c->parts);
    const sai_block a = sai_open_block(c, b), from = sai_open_block(c, t);
    uint64_t *const next = from.w + from.size;
    sai_move(from, sai_lengths(from, false), from.w, from.size - 1);
    memmove(next - 1, next, (size_t)(a.w - next) * sizeof *next);
    sai_move(a, sai_lengths(a, false), a.w - 1, a.size + 1);
    sai_shift_starts(c, t, b, UINT64_MAX);
}

/* Spreading slack evenly */

static void
sai_pack_down(const ebi_counter_array *c) { /* moves all blocks to the bottom, without slack */
    uint64_t *const words = (uint64_t *)(void *)c->cells;
    uint64_t old[SAI_SUPER + 1], free_word = 0;
    for (uint64_t first = 0; first < c->parts; first += SAI_SUPER) {
        const uint64_t count = ebi_min(SAI_SUPER, c->parts - first);
        for (uint64_t k = 0; k <= count; k++) old[k] = sai_start(c, first + k);
        for (uint64_t k = 0; k < count; k++) {
            const bool worn = c->fine[first + k] & SAI_WORN;
            const sai_block a = {words + old[k], (unsigned)(old[k + 1] - old[k]), worn};
            const unsigned lengths = sai_lengths(a, false);
            sai_move(a, lengths, words + free_word, sai_words(lengths));
            sai_place(c, first + k, free_word, worn);
            free_word += sai_words(lengths);
        }
    }
}

/* Spreads blocks from the top down, so that nothing is overwritten.  The places in a superblock are
 * relative to its first block, which moves last, so they are kept until then. */
static void sai_spread_up(const ebi_counter_array *c) {
    uint64_t *const words = (uint64_t *)(void *)c->cells;
    const uint64_t needed = c->state->reserved[SAI_NEEDED];
    uint64_t packed_end = needed, end = c->words, start[SAI_SUPER];
    for (uint64_t super = (c->parts + SAI_SUPER - 1) / SAI_SUPER; super-- > 0;) {
        const uint64_t first = super * SAI_SUPER, count = ebi_min(SAI_SUPER, c->parts - first);
        for (uint64_t k = count; k-- > 0;) {
            const uint64_t packed = sai_start(c, first + k);
            const sai_block a = {words + packed, (unsigned)(packed_end - packed),
                                 (c->fine[first + k] & SAI_WORN) != 0};
            start[k] = sai_even(c, needed, packed, first + k);
            sai_move(a, sai_lengths(a, false), words + start[k], (unsigned)(end - start[k]));
            packed_end = packed;
            end = start[k];
        }
        for (uint64_t k = 0; k < count; k++)
            sai_place(c, first + k, start[k], (c->fine[first + k] & SAI_WORN) != 0);
    }
}

static void sai_spread(const ebi_counter_array *c) {
    sai_pack_down(c);
    sai_spread_up(c);
    c->state->reserved[SAI_TAKEN] = 0;
}

/* Room for a block */

static bool sai_has_slack(const ebi_counter_array *c, uint64_t b) {
    const sai_block a = sai_open_block(c, b);
    return a.size > 1 && sai_words(sai_lengths(a, false)) < a.size;
}

static bool sai_take_near(const ebi_counter_array *c, uint64_t b, uint64_t reach) {
    for (uint64_t away = 1; away <= reach; away++) {
        if (away < c->parts - b && sai_has_slack(c, b + away)) {
            sai_take_up(c, b, b + away);
            return true;
        }
        if (away <= b && sai_has_slack(c, b - away)) {
            sai_take_down(c, b, b - away);
            return true;
        }
    }
    return false;
}

/* Gives block b a word.  There must be one somewhere. */
static void sai_take(const ebi_counter_array *c, uint64_t b) {
    uint64_t *const reserved = c->state->reserved;
    const bool soon = reserved[SAI_TAKEN] < c->parts / 64;
    reserved[SAI_TAKEN] += soon;
    if (sai_take_near(c, b, soon ? c->parts : SAI_NEAR)) return;
    sai_spread(c);
    if (!sai_has_slack(c, b)) (void)sai_take_near(c, b, c->parts);
}

/* Setting a counter */

static void sai_wear(const ebi_counter_array *c, uint64_t b, unsigned grown) {
    assert(grown < SAI_BLOCK);
    const sai_block a = sai_open_block(c, b);
    uint64_t zeros = 0;
    for (unsigned j = 0; j < SAI_BLOCK; j++)
        if (j != grown && sai_find(a, j, false).u == 0) zeros |= UINT64_C(1) << j;
    c->state->reserved[SAI_NEEDED] -= sai_words(sai_lengths(a, false)) - 1;
    c->state->saturated += SAI_BLOCK - ebi_popcount(zeros);
    memset(a.w, 0, a.size * sizeof *a.w);
    a.w[0] = zeros;
    c->fine[b] |= SAI_WORN;
}

/* Gives the counter of f u digits, all 0.  There must be room for them. */
static void sai_resize(sai_block a, sai_field f, unsigned u, unsigned lengths) {
    assert(u != f.u && u <= SAI_U_MAX);
    const unsigned bottom = 64 * a.size - (lengths - SAI_BLOCK);
    sai_put(a, f, 0);
    if (u > f.u) {
        ebi_bits_up(a.w, f.at, lengths, u - f.u);
        if (f.low > bottom) ebi_bits_down(a.w, bottom, f.low, u - f.u);
    } else {
        ebi_bits_down(a.w, f.at + f.u - u, lengths, f.u - u);
        if (f.low > bottom) ebi_bits_up(a.w, bottom, f.low, f.u - u);
    }
}

EBI_INLINE void sai_set(const ebi_counter_array *c, uint64_t i, uint64_t value, bool bmi2) {
    assert(i < c->n && value <= EBI_COUNTER_MAX);
    const uint64_t b = i / SAI_BLOCK;
    const unsigned j = (unsigned)(i % SAI_BLOCK), u = ebi_log2(value + 1);
    sai_block a = sai_open_block(c, b);
    sai_field f = sai_find(a, j, bmi2);
    if (u != f.u) {
        const unsigned lengths = sai_lengths(a, bmi2), needs = sai_words(lengths + u - f.u);
        const uint64_t needed = c->state->reserved[SAI_NEEDED] + needs - sai_words(lengths);
        if (needed > c->words) { /* taking all that there is would not be enough */
            sai_wear(c, b, j);
            return;
        }
        while (needs > a.size) {
            sai_take(c, b);
            a = sai_open_block(c, b);
            f = sai_find(a, j, bmi2);
        }
        sai_resize(a, f, u, lengths);
        c->state->reserved[SAI_NEEDED] = needed;
        f = (sai_field){u, f.at, f.low + f.u - u};
    }
    sai_put(a, f, value - ebi_ones(u));
}

static uint64_t sai_worn_add(const ebi_counter_array *c, sai_block a, unsigned j, uint64_t by) {
    assert(a.worn && j < SAI_BLOCK);
    const uint64_t bit = UINT64_C(1) << j;
    if (!(a.w[0] & bit)) return EBI_COUNTER_MAX;
    if (by > 0) {
        a.w[0] &= ~bit;
        c->state->saturated++;
    }
    return 0;
}

EBI_INLINE uint64_t sai_add(const ebi_counter_array *c, uint64_t i, uint64_t by, bool bmi2) {
    const sai_block a = sai_open_block(c, i / SAI_BLOCK);
    const unsigned j = (unsigned)(i % SAI_BLOCK);
    if (a.worn) return sai_worn_add(c, a, j, by);
    const sai_field f = sai_find(a, j, bmi2);
    const uint64_t digits = sai_digits(a, f), before = ebi_ones(f.u) + digits;
    if (digits + by <= ebi_ones(f.u) && f.u < SAI_U_MAX)
        sai_put(a, f, digits + by);
    else
        sai_set(c, i, ebi_counter_sum(before, by), bmi2);
    return before;
}

EBI_INLINE void sai_sub(const ebi_counter_array *c, uint64_t i, uint64_t by, bool bmi2) {
    const uint64_t value = sai_get(c, i, bmi2);
    assert(by <= value);
    if (by > 0 && value < EBI_COUNTER_MAX) sai_set(c, i, value - by, bmi2);
}

static const uint8_t *sai_address(const ebi_counter_array *c, uint64_t i) {
    return (const uint8_t *)sai_open_block(c, i / SAI_BLOCK).w;
}

/* Checking */

static bool sai_check_index(const ebi_counter_array *c) {
    const uint8_t *const end = (const uint8_t *)(c->fine + c->parts);
    uint64_t before = 0;
    if (!ebi_is_zero(end, (uint64_t)(c->cells - end))) return false;
    for (uint64_t b = 0; b < c->parts; b++) {
        const uint64_t coarse = c->coarse[b / SAI_SUPER], start = sai_start(c, b);
        if (coarse > c->words || start >= c->words) return false;
        if (b % SAI_SUPER == 0 && start != coarse) return false;
        if (b == 0 ? start != 0 : start <= before) return false;
        before = start;
    }
    return true;
}

/* Checks 64 lengths that fit with their digits, with zeros between lengths and digits. */
static bool sai_check_codes(sai_block a, unsigned counters) {
    unsigned at = 0, u = 0, digits = 0;
    for (unsigned j = 0; j < SAI_BLOCK; at++) {
        if (at + digits >= 64 * a.size) return false;
        if (a.w[at / 64] >> (at % 64) & 1) {
            if (u > 0 && j >= counters) return false;
            j++;
            u = 0;
        } else {
            digits++;
            if (++u > SAI_U_MAX) return false;
        }
    }
    if (at + digits > 64 * a.size) return false;
    for (unsigned bit = at; bit < 64 * a.size - digits; bit++)
        if (a.w[bit / 64] >> (bit % 64) & 1) return false;
    for (unsigned j = 0; j < SAI_BLOCK; j++) {
        const sai_field f = sai_find(a, j, false);
        if (f.u == SAI_U_MAX && sai_digits(a, f) > 0) return false;
    }
    return true;
}

static bool sai_check_worn(sai_block a, unsigned counters) {
    return ebi_is_zero(a.w + 1, (a.size - 1) * sizeof *a.w) &&
           (a.w[0] | ebi_ones(counters)) == UINT64_MAX;
}

static bool sai_check(const ebi_counter_array *c) {
    uint64_t saturated = 0, needed = 0;
    if (c->state->spilled != 0 || !ebi_counters_plain(c->state, SAI_TAKEN + 1) ||
        !sai_check_index(c))
        return false;
    for (uint64_t b = 0; b < c->parts; b++) {
        const sai_block a = sai_open_block(c, b);
        const unsigned counters = (unsigned)ebi_min(SAI_BLOCK, c->n - b * SAI_BLOCK);
        if (a.worn ? !sai_check_worn(a, counters) : !sai_check_codes(a, counters)) return false;
        needed += sai_words(sai_lengths(a, false));
        saturated += a.worn ? SAI_BLOCK - ebi_popcount(a.w[0]) : 0;
    }
    return saturated == c->state->saturated && needed == c->state->reserved[SAI_NEEDED] &&
           c->state->reserved[SAI_TAKEN] <= c->parts / 64;
}

EBI_INLINE void sai_read(const ebi_counter_array *c, const uint64_t *i, size_t count,
                         uint64_t *value, bool bmi2) {
    for (size_t j = 0; j < count; j++) value[j] = sai_get(c, i[j], bmi2);
}

EBI_INLINE uint64_t sai_raise(const ebi_counter_array *c, const uint64_t *i, size_t count,
                              uint64_t by, bool lift, bool bmi2) {
    assert(count > 0 && count <= EBI_TOGETHER_MAX);
    uint64_t value[EBI_TOGETHER_MAX], least = EBI_COUNTER_MAX;
    for (size_t j = 0; j < count; j++)
        least =
            ebi_min(least, value[j] = lift ? sai_get(c, i[j], bmi2) : sai_add(c, i[j], by, bmi2));
    const uint64_t goal = ebi_counter_sum(least, by);
    for (size_t j = 0; lift && j < count; j++)
        if (value[j] < goal) (void)sai_add(c, i[j], goal - value[j], bmi2);
    return least;
}

/* The store, for machines with BMI2 and for others.  The bytes are the same. */

#define SAI_STORE                                                                                  \
    .name = "sai", .bits_least = 1500000, .bits_usual = 8000000, .bytes_more = 128,                \
    .open = sai_open, .init = sai_init, .address = sai_address, .check = sai_check
EBI_STORE_LOOPS(EBI_BMI2, sai_bmi2, sai, true)
EBI_STORE_LOOPS(, sai_portable, sai, false)
const ebi_store ebi_store_sai_bmi2 = {SAI_STORE, EBI_STORE_FUNCTIONS(sai_bmi2)};
const ebi_store ebi_store_sai_portable = {SAI_STORE, EBI_STORE_FUNCTIONS(sai_portable)};
