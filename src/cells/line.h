/* line.h - the code of counters in 64-byte lines, for the stores that use it: line.c
 * tells how a line is laid out.  Nothing here knows of the spill table. */
#ifndef EB_LINE_H
#define EB_LINE_H
#include "base/hash.h"
#include "counters.h"
#include "words.h"

enum { LINE = 64, LINE_BITS = 8 * LINE, HEAD = 4, D_BITS = 3, SPILLED = 4, WORN = 8 };
enum { D_MAX = 4, EACH_MIN = 8, EACH_MAX = 508 };

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

EB_INLINE bool line_bit(const uint8_t *line, unsigned bit) {
    return line[bit >> 3] >> (bit & 7) & 1;
}

EB_INLINE void line_set_bit(uint8_t *line, unsigned bit) {
    line[bit >> 3] |= (uint8_t)(1 << (bit & 7));
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

EB_INLINE void line_put(uint8_t *line, unsigned low, unsigned bits, uint64_t digits) {
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

EB_INLINE line_place line_of(const eb_counters *c, uint64_t i) {
    const uint64_t number = eb_scale(i, c->reciprocal); /* i / each: exact below 2^55 */
    const uint64_t first = number * c->each;
    return (line_place){c->cells + number * LINE, first, (unsigned)(i - first)};
}

static inline void line_unpack(const eb_counters *c, const uint8_t *line, uint64_t *value) {
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

EB_INLINE void line_needs(const uint64_t *value, uint64_t each, unsigned need[D_MAX]) {
    need[0] = line_need(value, each, 1);
    need[1] = line_need(value, each, 2);
    need[2] = line_need(value, each, 3);
    need[3] = line_need(value, each, 4);
}

EB_INLINE unsigned line_least(const unsigned need[D_MAX], unsigned *bits) { /* the best d */
    unsigned best = 0;
    for (unsigned d = 1; d < D_MAX; d++)
        if (need[d] < need[best]) best = d;
    *bits = need[best];
    return best + 1;
}

static inline void line_pack(const eb_counters *c, uint8_t *line, unsigned d, const uint64_t *value,
                             unsigned marks) {
    unsigned at = HEAD, low = LINE_BITS;
    memset(line, 0, LINE);
    line[0] = (uint8_t)(marks | (d - 1));
    for (uint64_t j = 0; j < c->each; j++) {
        const unsigned u = line_digits(d, value[j]);
        at += u;
        line_set_bit(line, at++);
        low -= d * u;
        line_put(line, low, d * u, value[j] - line_base(d, u));
    }
}

/* Checking */

/* Lengths that fit, zeros in the room, no number above the largest, and nothing
 * after the last counter. */
static inline bool line_check_codes(const eb_counters *c, line_place p) {
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
        if (line_bit(p.line, bit)) return false;
    return true;
}
#endif
