/* line.h - reading and writing counters in 64-byte lines, for the stores that consist of them:
 * line.c (which describes the layout) and tight.c.  The two differ in where they keep the counters
 * that do not fit. */
#ifndef EBI_LINE_H
#define EBI_LINE_H
#include "base/hash.h"
#include "counters.h"
#include "words.h"

enum { LINE_BYTES = 64, LINE_BITS = 8 * LINE_BYTES };
enum { LINE_FIRST = 1, LINE_TOP = LINE_BITS - 3 }; /* codes are in bits [LINE_FIRST, TOP) */
enum {
    LINE_TAIL = LINE_BYTES - 1,
    LINE_MARKED = 1 << 5,
    LINE_D_SHIFT = 6
}; /* the last byte of a line */
enum { LINE_D_MAX = 4, LINE_EACH_MIN = 8, LINE_EACH_MAX = LINE_TOP - LINE_FIRST };
enum {
    LINE_BRIEF_MAX = 2 * 64 * 6 - (LINE_TOP - LINE_FIRST) - 2 * LINE_FIRST
}; /* counters: lengths end in word 5 */

/* Numbers and digits */

static const uint64_t line_bases[LINE_D_MAX + 1] = {/* a one every d bits */
                                                    0, UINT64_MAX, UINT64_C(0x5555555555555555),
                                                    UINT64_C(0x9249249249249249),
                                                    UINT64_C(0x1111111111111111)};

EBI_INLINE uint64_t line_ones(unsigned bits) { /* bits < 64, so no test is needed */
    assert(bits < 64);
    return (UINT64_C(1) << bits) - 1;
}

EBI_INLINE uint64_t line_base(unsigned d, unsigned u) {
    assert(d >= 1 && d <= LINE_D_MAX);
    return line_bases[d] & line_ones(d * u);
}

EBI_INLINE unsigned line_digits(unsigned d,
                                uint64_t value) { /* the u with base(u) <= value < base(u + 1) */
    assert(d >= 1 && d <= LINE_D_MAX);
    const unsigned bits = ebi_log2(value * line_ones(d) + 1);
    return d == 1 ? bits : bits / d; /* d = 1, and most others, need no division */
}

/* Finding a counter */

typedef struct line_search { /* looks for one number j of the words from here on */
    const uint8_t *words;
    unsigned j;
} line_search;

EBI_INLINE unsigned line_ones_in(const uint8_t *word) {
    return ebi_popcount(ebi_load64(word));
}

/* Passes so many bytes if the wanted one is not among the `ones` in them.  Written so that
 * compilers do not make a branch of it, which would be mispredicted half of the time. */
EBI_INLINE line_search line_pass(line_search s, unsigned bytes, unsigned ones, bool bmi2) {
    unsigned rest = s.j;
#if EBI_X86_64
    if (bmi2) {
        __asm__("sub %3, %2; cmovnc %2, %0; cmovnc %4, %1"
                : "+&r"(s.j), "+&r"(s.words), "+&r"(rest)
                : "r"(ones), "r"(s.words + bytes)
                : "cc");
        return s;
    }
#endif
    (void)bmi2;
    rest -= ones;
    const unsigned stay = 0 - (rest >> 31);
    return (line_search){s.words + (bytes & ~stay), rest + (ones & stay)};
}

/* The place of one number j of the lengths, counted from 1; 0 is the first bit of the line.
 * `brief`: the lengths end in word 5.  No branch depends on the counters. */
EBI_INLINE unsigned line_select(const uint8_t *line, unsigned j, bool brief, bool bmi2) {
    line_search s = {line, j};
    const unsigned ones = line_ones_in(line) + line_ones_in(line + 8) + line_ones_in(line + 16);
    if (brief) {
        s = line_pass(s, 24, ones, bmi2);
        s = line_pass(s, 8, line_ones_in(s.words), bmi2);
    } else {
        s = line_pass(s, 32, ones + line_ones_in(line + 24), bmi2);
        s = line_pass(s, 16, line_ones_in(s.words) + line_ones_in(s.words + 8), bmi2);
    }
    s = line_pass(s, 8, line_ones_in(s.words), bmi2);
    return 8 * (unsigned)(s.words - line) + ebi_select(ebi_load64(s.words), s.j, bmi2);
}

EBI_INLINE uint64_t line_bits(const uint8_t *line,
                              unsigned bit) { /* at least 57 bits, from here on */
    assert(bit < LINE_BITS);
    return ebi_load64(line + (bit >> 3)) >> (bit & 7);
}

EBI_INLINE bool line_bit(const uint8_t *line, unsigned bit) {
    assert(bit < LINE_BITS);
    return line[bit >> 3] >> (bit & 7) & 1;
}

EBI_INLINE void line_set_bit(uint8_t *line, unsigned bit) {
    assert(bit < LINE_BITS);
    line[bit >> 3] |= (uint8_t)(1 << (bit & 7));
}

EBI_INLINE unsigned line_d(const uint8_t *line) {
    return (unsigned)(ebi_load64(line + LINE_BYTES - 8) >> 62) + 1;
}

EBI_INLINE bool line_marked(const uint8_t *line) {
    return line[LINE_TAIL] & LINE_MARKED;
}

EBI_INLINE bool line_worn(const uint8_t *line) {
    return !(line[0] & 1);
}

EBI_INLINE uint64_t line_worn_get(const uint8_t *line, unsigned j) {
    return line_bit(line, LINE_FIRST + j) ? EBI_COUNTER_MAX : 0;
}

typedef struct line_field {
    unsigned d, u; /* bits of a digit, number of digits */
    unsigned at;   /* first bit of its length */
    unsigned low;  /* first bit of its digits */
    uint64_t digits;
} line_field;

EBI_INLINE line_field line_field_at(const uint8_t *line, unsigned j, unsigned at, bool bmi2) {
    line_field f = {.d = line_d(line), .at = at};
    f.u = ebi_ctz(line_bits(line, at));
    f.low = LINE_TOP - f.d * (at - LINE_FIRST - j + f.u);
    f.digits = ebi_low_bits(line_bits(line, f.low), f.d * f.u, bmi2);
    return f;
}

EBI_INLINE uint64_t line_value(line_field f, bool bmi2) {
    return ebi_low_bits(line_bases[f.d], f.d * f.u, bmi2) + f.digits;
}

EBI_INLINE void line_put(uint8_t *line, unsigned low, unsigned bits, uint64_t digits) {
    assert(bits < 64);
    uint8_t *const p = line + (low >> 3);
    const unsigned shift = low & 7;
    ebi_store64(p, (ebi_load64(p) & ~(line_ones(bits) << shift)) | digits << shift);
}

/* Lines */

typedef struct line_place {
    uint8_t *line;
    uint64_t first; /* counter of the line */
    unsigned j;     /* counter in the line */
} line_place;

EBI_INLINE line_place line_of(const ebi_counter_array *c, uint64_t i) {
    assert(i < c->n);
    const uint64_t number = eb_scale(i, c->reciprocal); /* i / each: exact below 2^55 */
    const uint64_t first = number * c->each;
    return (line_place){c->cells + number * LINE_BYTES, first, (unsigned)(i - first)};
}

EBI_INLINE bool line_brief(const ebi_counter_array *c) {
    return c->each <= LINE_BRIEF_MAX;
}

EBI_INLINE line_field line_find(const ebi_counter_array *c, line_place p, bool bmi2) {
    const unsigned at = line_select(p.line, p.j, line_brief(c), bmi2) + 1;
    return line_field_at(p.line, p.j, at, bmi2);
}

/* Reading */

typedef uint64_t line_table(const ebi_counter_array *c,
                            uint64_t i); /* the part of a counter that is in the table */

EBI_INLINE uint64_t line_get(const ebi_counter_array *c, uint64_t i, line_table *table, bool bmi2) {
    const line_place p = line_of(c, i);
    if (line_worn(p.line)) return line_worn_get(p.line, p.j);
    const uint64_t value = line_value(line_find(c, p, bmi2), bmi2);
    return value == 0 && line_marked(p.line) ? table(c, i) : value;
}

/* Reads several counters step by step, so that the processor works on more than one at a time. */

enum { LINE_TOGETHER = EBI_TOGETHER_MAX };

typedef struct line_group {
    uint8_t *line[LINE_TOGETHER];
    unsigned j[LINE_TOGETHER], at[LINE_TOGETHER]; /* at: as in line_field; 0 in a worn line */
} line_group;

EBI_INLINE void line_group_find(const ebi_counter_array *c, const uint64_t *i, size_t n,
                                line_group *g, bool brief, bool bmi2) {
    assert(n <= LINE_TOGETHER);
    for (size_t t = 0; t < n; t++) {
        const line_place p = line_of(c, i[t]);
        g->line[t] = p.line;
        g->j[t] = p.j;
        g->at[t] = line_worn(p.line) ? 0 : line_select(p.line, p.j, brief, bmi2) + 1;
    }
}

EBI_INLINE void line_group_read(const ebi_counter_array *c, const uint64_t *i, size_t n,
                                uint64_t *value, line_table *table, bool brief, bool bmi2) {
    line_group g;
    line_group_find(c, i, n, &g, brief, bmi2);
    for (size_t t = 0; t < n; t++) {
        const uint8_t *const line = g.line[t];
        value[t] = g.at[t] == 0 ? line_worn_get(line, g.j[t])
                                : line_value(line_field_at(line, g.j[t], g.at[t], bmi2), bmi2);
        if (line_marked(line) && value[t] == 0) value[t] = table(c, i[t]);
    }
}

EBI_INLINE void line_read_all(const ebi_counter_array *c, const uint64_t *i, size_t count,
                              uint64_t *value, line_table *table, bool brief, bool bmi2) {
    for (size_t done = 0; done < count; done += LINE_TOGETHER)
        line_group_read(c, i + done, ebi_min_size(count - done, LINE_TOGETHER), value + done, table,
                        brief, bmi2);
}

EBI_INLINE void line_read(const ebi_counter_array *c, const uint64_t *i, size_t count,
                          uint64_t *value, line_table *table, bool bmi2) {
    if (line_brief(c))
        line_read_all(c, i, count, value, table, true, bmi2);
    else
        line_read_all(c, i, count, value, table, false, bmi2);
}

/* With AVX2: the counter of f gets one more digit, and its digits become these.  What is below
 * `split`, a bit of the room, moves up by one; what is above moves down. */
void ebi_line_grow_avx2(uint8_t *line, const line_field *f, unsigned split, uint64_t digits);

/* Whole lines */

static inline void line_unpack(const ebi_counter_array *c, const uint8_t *line, uint64_t *value) {
    const unsigned d = line_d(line);
    unsigned at = LINE_FIRST, low = LINE_TOP;
    for (uint64_t j = 0; j < c->each; j++) {
        const unsigned u = ebi_ctz(line_bits(line, at));
        at += u + 1;
        low -= d * u;
        value[j] = line_base(d, u) + (line_bits(line, low) & line_ones(d * u));
    }
}

EBI_INLINE unsigned line_need(const uint64_t *value, uint64_t each, unsigned d) { /* bits */
    unsigned digits = 0;
    for (uint64_t j = 0; j < each; j++) digits += line_digits(d, value[j]);
    return LINE_BITS - LINE_TOP + LINE_FIRST + (unsigned)each + (1 + d) * digits;
}

EBI_INLINE void line_needs(const uint64_t *value, uint64_t each, unsigned need[LINE_D_MAX]) {
    need[0] = line_need(value, each, 1);
    need[1] = line_need(value, each, 2);
    need[2] = line_need(value, each, 3);
    need[3] = line_need(value, each, 4);
}

EBI_INLINE unsigned line_least(const unsigned need[LINE_D_MAX], unsigned *bits) { /* the best d */
    unsigned best = 0;
    for (unsigned d = 1; d < LINE_D_MAX; d++)
        if (need[d] < need[best]) best = d;
    *bits = need[best];
    return best + 1;
}

static inline void line_pack(const ebi_counter_array *c, uint8_t *line, unsigned d,
                             const uint64_t *value, bool spilled) {
    assert(d >= 1 && d <= LINE_D_MAX && c->each <= LINE_EACH_MAX);
    unsigned at = LINE_FIRST, low = LINE_TOP;
    memset(line, 0, LINE_BYTES);
    line[0] = 1;
    line[LINE_TAIL] = (uint8_t)((d - 1) << LINE_D_SHIFT | (spilled ? LINE_MARKED : 0));
    for (uint64_t j = 0; j < c->each; j++) {
        const unsigned u = line_digits(d, value[j]);
        at += u;
        line_set_bit(line, at++);
        low -= d * u;
        line_put(line, low, d * u, value[j] - line_base(d, u));
    }
}

/* Checking */

/* Checks that the lengths fit, the room is zero, no number exceeds the largest, and nothing follows
 * the last counter. */
static inline bool line_check_codes(const ebi_counter_array *c, line_place p) {
    const unsigned d = line_d(p.line);
    const uint64_t counters = ebi_min(c->each, c->n - p.first);
    unsigned at = LINE_FIRST, low = LINE_TOP;
    if (!line_bit(p.line, 0)) return false;
    for (uint64_t j = 0; j < c->each; j++) {
        const uint64_t rest = at < LINE_BITS ? line_bits(p.line, at) : 0;
        const unsigned u = rest == 0 ? LINE_BITS : ebi_ctz(rest);
        if (d * u > 48 || (u > 0 && j >= counters)) return false;
        at += u + 1;
        if (at + d * u > low) return false;
        low -= d * u;
        const uint64_t digits = line_bits(p.line, low) & line_ones(d * u);
        if (digits > EBI_COUNTER_MAX - line_base(d, u)) return false;
    }
    for (unsigned bit = at; bit < low; bit++)
        if (line_bit(p.line, bit)) return false;
    return true;
}
#endif
