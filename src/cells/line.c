/* line.c - the store `line`: variable-length counters, a fixed number of them in
 * each 64-byte line, found with one select and no index at all.
 *
 *     | state, 64 bytes | lines | spill table: what is left, at least a 32nd |
 *
 *     line:  head, 4 bits | lengths upwards ... room, zero ... digits downwards |
 *            bit 0                                                      bit 511
 *
 * A counter is `u` digits of d bits: none for 0, else digits that count on from
 * base(u) = 1 + 2^d + ... + 2^(d(u-1)), the first number of u digits, so every
 * number has one code.  Lengths are unary: u zeros and a one.  The digits of
 * counter j start where the lengths say: d times the zeros before its own below
 * bit 512.  The head holds d - 1 (bits 0 and 1), which each line chooses for
 * itself, and two marks:
 *
 *   SPILLED   some counter lives in the spill table; in the line it is 0
 *   WORN      neither the line nor the table had room: from now on the line is a
 *             bit for each counter, 0 or saturated
 *
 * A counter that grows beyond its digits moves its neighbours inside the line.
 * If the line is full it takes the d that makes it shortest, and if that is not
 * enough its longest counter goes to the table, until it fits.  A counter that
 * was taken away from comes back when the line has twice the room it needs. */
#include "base/hash.h"
#include "counters.h"
#include "words.h"

enum { LINE = 64, LINE_BITS = 8 * LINE, HEAD = 4, D_BITS = 3, SPILLED = 4, WORN = 8 };
enum { D_MAX = 4, EACH_MIN = 8, EACH_MAX = 384, TABLE_SHARE = 32 };

/* Numbers and digits */

static const uint64_t line_bases[D_MAX + 1] = {/* a one every d bits */
                                               0, UINT64_MAX, UINT64_C(0x5555555555555555),
                                               UINT64_C(0x9249249249249249),
                                               UINT64_C(0x1111111111111111)};

EB_INLINE uint64_t line_ones(unsigned bits) { /* below 64, so it takes no test */
    return (UINT64_C(1) << bits) - 1;
}

EB_INLINE uint64_t line_base(unsigned d, unsigned u) {
    return line_bases[d] & line_ones(d * u);
}

EB_INLINE unsigned line_digits(unsigned d, uint64_t value) { /* u with base(u) <= value */
    return ebi_log2(value * line_ones(d) + 1) / d;
}

/* Finding a counter */

/* Word `at` of a line; in the first, the head's last bit is 1 and the others are 0. */
EB_INLINE uint64_t line_word(const uint8_t *line, unsigned at) {
    const uint64_t head = ebi_ones(HEAD) >> (8 * at), last = (head + 1) >> 1;
    return (ebi_load64(line + 8 * at) & ~head) | last;
}

typedef struct line_sums {
    unsigned sum, before, at; /* ones so far; ones before word `at`, where the search stands */
} line_sums;

EB_INLINE line_sums line_sum(line_sums s, const uint8_t *line, unsigned w, unsigned j) {
    const bool passed = s.sum <= j;
    return (line_sums){s.sum + ebi_popcount(ebi_load64(line + 8 * w)), passed ? s.sum : s.before,
                       s.at + passed};
}

/* The place of one number j of the lengths, counted from 1; 0 is the head's last
 * bit.  No branch depends on the counters. */
EB_INLINE unsigned line_select(const uint8_t *line, unsigned j, bool bmi2) {
    line_sums s = {ebi_popcount(line_word(line, 0)), 0, 0};
    s = line_sum(s, line, 1, j);
    s = line_sum(s, line, 2, j);
    s = line_sum(s, line, 3, j);
    s = line_sum(s, line, 4, j);
    s = line_sum(s, line, 5, j);
    s = line_sum(s, line, 6, j);
    s = line_sum(s, line, 7, j);
    return 64 * s.at + ebi_select(line_word(line, s.at), j - s.before, bmi2);
}

EB_INLINE uint64_t line_bits(const uint8_t *line, unsigned bit) { /* 57 or more, from here */
    return ebi_load64(line + (bit >> 3)) >> (bit & 7);
}

typedef struct line_field {
    unsigned d, u; /* bits of a digit, digits */
    unsigned at;   /* first bit of its length */
    unsigned low;  /* first bit of its digits */
    uint64_t digits;
} line_field;

EB_INLINE line_field line_find(const uint8_t *line, unsigned j, bool bmi2) {
    line_field f;
    f.d = (line[0] & D_BITS) + 1;
    f.at = line_select(line, j, bmi2) + 1;
    f.u = ebi_ctz(line_bits(line, f.at));
    f.low = LINE_BITS - f.d * (f.at - HEAD - j + f.u);
    f.digits = line_bits(line, f.low) & line_ones(f.d * f.u);
    return f;
}

EB_INLINE uint64_t line_value(line_field f) {
    return line_base(f.d, f.u) + f.digits;
}

static void line_put(uint8_t *line, unsigned low, unsigned bits, uint64_t digits) {
    uint8_t *const p = line + (low >> 3);
    const unsigned shift = low & 7;
    ebi_store64(p, (ebi_load64(p) & ~(line_ones(bits) << shift)) | digits << shift);
}

/* Segments */

static void line_open(eb_counters *c) {
    const uint64_t table = ebi_round_up(c->bytes / TABLE_SHARE, 64) + 64;
    const uint64_t lines = (c->bytes - sizeof *c->state - table) / LINE;
    c->each = ebi_max((c->n + lines - 1) / lines, EACH_MIN);
    c->reciprocal = UINT64_MAX / c->each + 1;
    c->parts = (c->n + c->each - 1) / c->each;
    c->cells = (uint8_t *)c->state + sizeof *c->state;
    c->table = (eb_spill_slot *)(void *)(c->cells + c->parts * LINE);
    c->slots = (c->bytes - sizeof *c->state - c->parts * LINE) / sizeof(eb_spill_slot);
}

static void line_clear(uint8_t *line, uint64_t each) { /* all its counters are 0 */
    memset(line, 0, LINE);
    for (uint64_t bit = HEAD; bit < HEAD + each; bit++) line[bit >> 3] |= (uint8_t)(1 << (bit & 7));
}

static void line_init(const eb_counters *c) {
    for (uint64_t i = 0; i < c->parts; i++) line_clear(c->cells + LINE * i, c->each);
}

typedef struct line_place {
    uint8_t *line;
    uint64_t first; /* counter of the line */
    unsigned j;     /* counter in the line */
} line_place;

EB_INLINE line_place line_of(const eb_counters *c, uint64_t i) {
    const uint64_t number = eb_scale(i, c->reciprocal); /* i / each: exact below 2^55 */
    const uint64_t first = number * c->each;
    return (line_place){c->cells + number * LINE, first, (unsigned)(i - first)};
}

static bool worn_bit(const uint8_t *line, unsigned j) {
    return line[(HEAD + j) >> 3] >> ((HEAD + j) & 7) & 1;
}

static uint64_t spill_of(const eb_counters *c, const line_place *p, unsigned j) {
    return ebi_spill_get(c->table, c->slots, p->first + j);
}

EB_INLINE uint64_t line_get(const eb_counters *c, uint64_t i, bool bmi2) {
    const line_place p = line_of(c, i);
    if (p.line[0] & (SPILLED | WORN)) {
        if (p.line[0] & WORN) return worn_bit(p.line, p.j) ? EB_COUNTER_MAX : 0;
        const uint64_t extra = spill_of(c, &p, p.j);
        if (extra > 0) return extra;
    }
    return line_value(line_find(p.line, p.j, bmi2));
}

/* Changing the length of one counter */

typedef struct line_ends { /* the room between lengths and digits is [lengths, digits) */
    unsigned lengths, digits;
} line_ends;

EB_INLINE line_ends line_room(const eb_counters *c, const uint8_t *line, unsigned d, bool bmi2) {
    const unsigned each = (unsigned)c->each, end = line_select(line, each, bmi2) + 1;
    return (line_ends){end, LINE_BITS - d * (end - HEAD - each)};
}

/* The counter of f gets u digits and the value 0 there. */
static void line_resize(uint8_t *line, line_field f, unsigned u, line_ends ends) {
    uint64_t w[LINE / 8];
    line_put(line, f.low, f.d * f.u, 0);
    memcpy(w, line, sizeof w);
    if (u > f.u) {
        ebi_bits_up(w, f.at, ends.lengths, u - f.u);
        if (f.low > ends.digits) ebi_bits_down(w, ends.digits, f.low, f.d * (u - f.u));
    } else {
        ebi_bits_down(w, f.at + f.u - u, ends.lengths, f.u - u);
        if (f.low > ends.digits) ebi_bits_up(w, ends.digits, f.low, f.d * (f.u - u));
    }
    memcpy(line, w, sizeof w);
}

/* Packing a whole line */

static void line_unpack(const eb_counters *c, const uint8_t *line, uint64_t *value) {
    const unsigned d = (line[0] & D_BITS) + 1;
    unsigned at = HEAD, low = LINE_BITS;
    for (uint64_t j = 0; j < c->each; j++) {
        const unsigned u = ebi_ctz(line_bits(line, at));
        at += u + 1;
        low -= d * u;
        value[j] = line_base(d, u) + (line_bits(line, low) & line_ones(d * u));
    }
}

EB_INLINE unsigned line_need(const uint64_t *value, uint64_t each, unsigned d) { /* bits */
    unsigned digits = 0;
    for (uint64_t j = 0; j < each; j++) digits += line_digits(d, value[j]);
    return HEAD + (unsigned)each + (1 + d) * digits;
}

/* The d with which these values need least bits, and how many. */
static unsigned line_best(const uint64_t *value, uint64_t each, unsigned *bits) {
    const unsigned need[D_MAX] = {line_need(value, each, 1), line_need(value, each, 2),
                                  line_need(value, each, 3), line_need(value, each, 4)};
    unsigned best = 0;
    for (unsigned d = 1; d < D_MAX; d++)
        if (need[d] < need[best]) best = d;
    *bits = need[best];
    return best + 1;
}

static void line_pack(const eb_counters *c, uint8_t *line, unsigned d, const uint64_t *value,
                      unsigned marks) {
    unsigned at = HEAD, low = LINE_BITS;
    memset(line, 0, LINE);
    line[0] = (uint8_t)(marks | (d - 1));
    for (uint64_t j = 0; j < c->each; j++) {
        const unsigned u = line_digits(d, value[j]);
        at += u;
        line[at >> 3] |= (uint8_t)(1 << (at & 7));
        at++;
        low -= d * u;
        line_put(line, low, d * u, value[j] - line_base(d, u));
    }
}

/* No room anywhere: what is not 0 saturates. */
static void line_wear(const eb_counters *c, line_place p, const uint64_t *value) {
    const bool spilled = p.line[0] & SPILLED;
    memset(p.line, 0, LINE);
    p.line[0] = WORN;
    for (unsigned j = 0; j < c->each; j++) {
        const bool extra = spilled && spill_of(c, &p, j) > 0;
        if (extra) (void)ebi_spill_set(c->table, c->slots, &c->state->spilled, p.first + j, 0);
        if (value[j] == 0 && !extra) continue;
        p.line[(HEAD + j) >> 3] |= (uint8_t)(1 << ((HEAD + j) & 7));
        c->state->saturated++;
    }
}

/* Counter j of a full line gets a value that needs more digits. */
static void line_repack(const eb_counters *c, line_place p, uint64_t new_value) {
    uint64_t value[EACH_MAX];
    unsigned bits, marks = p.line[0] & SPILLED;
    line_unpack(c, p.line, value);
    value[p.j] = new_value;
    unsigned d = line_best(value, c->each, &bits);
    while (bits > LINE_BITS) {
        unsigned longest = 0;
        for (unsigned j = 1; j < c->each; j++)
            if (value[j] > value[longest]) longest = j;
        if (!ebi_spill_set(c->table, c->slots, &c->state->spilled, p.first + longest,
                           value[longest])) {
            line_wear(c, p, value);
            return;
        }
        value[longest] = 0;
        p.line[0] |= SPILLED; /* so that wearing finds the entry */
        marks = SPILLED;
        d = line_best(value, c->each, &bits);
    }
    line_pack(c, p.line, d, value, marks);
}

EB_INLINE void line_set(const eb_counters *c, line_place p, line_field f, uint64_t value,
                        bool bmi2) {
    const unsigned u = line_digits(f.d, value);
    if (u != f.u) {
        const line_ends ends = line_room(c, p.line, f.d, bmi2);
        if (u > f.u && (u - f.u) * (f.d + 1) > ends.digits - ends.lengths) {
            line_repack(c, p, value);
            return;
        }
        line_resize(p.line, f, u, ends);
        f.low = f.low + f.d * f.u - f.d * u;
    }
    line_put(p.line, f.low, f.d * u, value - line_base(f.d, u));
}

/* Counters in the spill table */

static void line_unmark(const eb_counters *c, line_place p) { /* if no counter is there now */
    const uint64_t end = ebi_min(p.first + c->each, c->n);
    for (uint64_t i = p.first; i < end; i++)
        if (ebi_spill_get(c->table, c->slots, i) > 0) return;
    p.line[0] &= (uint8_t)~SPILLED;
}

static void spill_take(const eb_counters *c, line_place p, uint64_t left) {
    const uint64_t i = p.first + p.j;
    const line_field f = line_find(p.line, p.j, false);
    const line_ends ends = line_room(c, p.line, f.d, false);
    const unsigned need = (f.d + 1) * line_digits(f.d, left);
    const bool back = 2 * need <= ends.digits - ends.lengths;
    (void)ebi_spill_set(c->table, c->slots, &c->state->spilled, i, back ? 0 : left);
    if (!back) return;
    line_set(c, p, f, left, false);
    line_unmark(c, p);
}

/* Add to a counter of a line with a mark; false if the counter is in the line. */
static bool marked_add(const eb_counters *c, line_place p, uint64_t by, uint64_t *before) {
    if (p.line[0] & WORN) {
        *before = worn_bit(p.line, p.j) ? EB_COUNTER_MAX : 0;
        if (by == 0 || *before > 0) return true;
        p.line[(HEAD + p.j) >> 3] |= (uint8_t)(1 << ((HEAD + p.j) & 7));
        c->state->saturated++;
        return true;
    }
    *before = spill_of(c, &p, p.j);
    if (*before == 0) return false;
    return ebi_spill_set(c->table, c->slots, &c->state->spilled, p.first + p.j,
                         ebi_counter_sum(*before, by));
}

static bool marked_sub(const eb_counters *c, line_place p, uint64_t by) {
    if (p.line[0] & WORN) return true;
    const uint64_t extra = spill_of(c, &p, p.j);
    if (extra == 0) return false;
    assert(by <= extra);
    if (by > 0 && extra < EB_COUNTER_MAX) spill_take(c, p, extra - by);
    return true;
}

EB_INLINE uint64_t line_add(const eb_counters *c, uint64_t i, uint64_t by, bool bmi2) {
    const line_place p = line_of(c, i);
    uint64_t before;
    if ((p.line[0] & (SPILLED | WORN)) && marked_add(c, p, by, &before)) return before;
    const line_field f = line_find(p.line, p.j, bmi2);
    before = line_value(f);
    if (f.digits + by <= line_ones(f.d * f.u) && f.d * f.u < 47) /* far below the largest */
        line_put(p.line, f.low, f.d * f.u, f.digits + by);
    else
        line_set(c, p, f, ebi_counter_sum(before, by), bmi2);
    return before;
}

EB_INLINE void line_sub(const eb_counters *c, uint64_t i, uint64_t by, bool bmi2) {
    const line_place p = line_of(c, i);
    if ((p.line[0] & (SPILLED | WORN)) && marked_sub(c, p, by)) return;
    const line_field f = line_find(p.line, p.j, bmi2);
    const uint64_t value = line_value(f);
    assert(by <= value);
    if (value < EB_COUNTER_MAX) line_set(c, p, f, value - by, bmi2);
}

static const uint8_t *line_address(const eb_counters *c, uint64_t i) {
    return line_of(c, i).line;
}

/* Checking */

static bool worn_check(const eb_counters *c, line_place p, uint64_t *saturated) {
    const uint64_t counters = ebi_min(c->each, c->n - p.first);
    if (p.line[0] % (1 << HEAD) != WORN) return false;
    for (unsigned bit = 0; bit < LINE_BITS - HEAD; bit++) {
        if (worn_bit(p.line, bit) && bit >= counters) return false;
        *saturated += worn_bit(p.line, bit);
    }
    return true;
}

/* Lengths that fit, zeros in the room, no number above the largest, and nothing
 * after the last counter. */
static bool line_check_codes(const eb_counters *c, line_place p) {
    const unsigned d = (p.line[0] & D_BITS) + 1;
    const uint64_t counters = ebi_min(c->each, c->n - p.first);
    unsigned at = HEAD, low = LINE_BITS;
    for (uint64_t j = 0; j < c->each; j++) {
        const uint64_t rest = at < LINE_BITS ? line_bits(p.line, at) : 0;
        const unsigned u = rest == 0 ? LINE_BITS : ebi_ctz(rest);
        if (d * u > 48 || (u > 0 && j >= counters)) return false;
        at += u + 1;
        if (at + d * u > low) return false;
        low -= d * u;
        const uint64_t digits = line_bits(p.line, low) & line_ones(d * u);
        if (digits > EB_COUNTER_MAX - line_base(d, u)) return false;
    }
    for (unsigned bit = at; bit < low; bit++)
        if (worn_bit(p.line, bit - HEAD)) return false;
    return true;
}

/* A marked line has counters in the table, which are 0 in the line. */
static bool line_check_spilled(const eb_counters *c, line_place p, uint64_t *spilled) {
    const uint64_t before = *spilled;
    for (p.j = 0; p.j < ebi_min(c->each, c->n - p.first); p.j++) {
        if (spill_of(c, &p, p.j) == 0) continue;
        ++*spilled;
        if (line_find(p.line, p.j, false).u != 0) return false;
    }
    return *spilled > before;
}

static bool line_check(const eb_counters *c) {
    uint64_t saturated = 0, spilled = 0;
    if (!ebi_counters_plain(c->state) ||
        !ebi_spill_check(c->table, c->slots, c->state->spilled, c->n))
        return false;
    for (uint64_t i = 0; i < c->n; i += c->each) {
        const line_place p = line_of(c, i);
        if (p.line[0] & WORN) {
            if (!worn_check(c, p, &saturated)) return false;
        } else if (!line_check_codes(c, p)) {
            return false;
        } else if ((p.line[0] & SPILLED) && !line_check_spilled(c, p, &spilled)) {
            return false;
        }
    }
    return saturated == c->state->saturated && spilled == c->state->spilled;
}

/* The store, for machines with BMI2 and for others: the same bytes. */

#define LINE_STORE(flavour, attribute, bmi2)                                                       \
    attribute static uint64_t line_get_##flavour(const eb_counters *c, uint64_t i) {               \
        return line_get(c, i, bmi2);                                                               \
    }                                                                                              \
    attribute static void line_read_##flavour(const eb_counters *c, const uint64_t *i,             \
                                              size_t count, uint64_t *value) {                     \
        for (size_t j = 0; j < count; j++) value[j] = line_get(c, i[j], bmi2);                     \
    }                                                                                              \
    attribute static uint64_t line_add_##flavour(const eb_counters *c, uint64_t i, uint64_t by) {  \
        return line_add(c, i, by, bmi2);                                                           \
    }                                                                                              \
    attribute static void line_sub_##flavour(const eb_counters *c, uint64_t i, uint64_t by) {      \
        line_sub(c, i, by, bmi2);                                                                  \
    }                                                                                              \
    const eb_store ebi_store_line_##flavour = {.name = "line",                                     \
                                               .bits_least = 1500000,                              \
                                               .bits_usual = 6000000,                              \
                                               .bytes_more = 256,                                  \
                                               .open = line_open,                                  \
                                               .init = line_init,                                  \
                                               .get = line_get_##flavour,                          \
                                               .read = line_read_##flavour,                        \
                                               .add = line_add_##flavour,                          \
                                               .sub = line_sub_##flavour,                          \
                                               .address = line_address,                            \
                                               .check = line_check};
LINE_STORE(bmi2, EB_BMI2, true)
LINE_STORE(portable, , false)
