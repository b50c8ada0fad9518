/* line.c - the store `line`: counters of variable length in lines of 64 bytes.
 *
 * Each line has the same number of counters, so a counter's line follows from its number, and one
 * select finds it there.  There is no index.  Small counters take few bits: 0 takes one.
 *
 *       | state, 64 bytes | lines | spill table: what is left, at least a 32nd |
 *
 *       line:  1 | lengths upwards ... room, zero ... digits downwards | mark, d - 1 |
 *              bit 0                                           bits 509 .. 511
 *
 * A counter is u digits of d bits.  0 has no digits.  Numbers of u digits begin at base(u) = 1 +
 * 2^d + ... + 2^(d(u-1)), so every number has one code.  Lengths are unary: u zeros and a one.  The
 * digits of counter j begin where the lengths say: d times the zeros before its own below bit 509.
 * Each line has its own d.  The mark means one of two things:
 *
 *     spilled   bit 0 is 1.  At least one counter is in the spill table; here it is 0.
 *     worn      bit 0 is 0.  Neither the line nor the table had room: from now on the line has one
 *               bit for each counter, from bit 1 on, that says 0 or saturated.
 *
 * A counter that needs one more digit moves its neighbours inside the line; with AVX2 without a
 * loop.  If the line is full, it takes the d that makes it shortest.  If that is not enough, its
 * longest counters go to the table until it fits.  A counter in the table that got smaller comes
 * back when the line has twice the room it needs. */
#include "line.h"

enum { LINE_TABLE_SHARE = 32 };

/* Segments */

static void line_open(ebi_counter_array *c) {
    assert(c->bytes >= 4 * LINE_BYTES);
    const uint64_t table = ebi_round_up(c->bytes / LINE_TABLE_SHARE, 64) + 64;
    const uint64_t lines = (c->bytes - sizeof *c->state - table) / LINE_BYTES;
    c->each = ebi_max((c->n + lines - 1) / lines, LINE_EACH_MIN);
    c->reciprocal = UINT64_MAX / c->each + 1;
    c->parts = (c->n + c->each - 1) / c->each;
    c->cells = (uint8_t *)c->state + sizeof *c->state;
    c->table = (ebi_spill_slot *)(void *)(c->cells + c->parts * LINE_BYTES);
    c->slots = (c->bytes - sizeof *c->state - c->parts * LINE_BYTES) / sizeof(ebi_spill_slot);
}

static void line_clear(uint8_t *line, uint64_t each) { /* sets all its counters to 0 */
    memset(line, 0, LINE_BYTES);
    for (unsigned bit = 0; bit < LINE_FIRST + each; bit++) line_set_bit(line, bit);
}

static void line_init(const ebi_counter_array *c) {
    for (uint64_t i = 0; i < c->parts; i++) line_clear(c->cells + LINE_BYTES * i, c->each);
}

static uint64_t line_spill_of(const ebi_counter_array *c, uint64_t i) {
    return ebi_spill_get(c->table, c->slots, i);
}

/* Changing the length of one counter */

typedef struct line_ends { /* the room between lengths and digits is [lengths, digits) */
    unsigned lengths, digits;
} line_ends;

EBI_INLINE line_ends line_room(const ebi_counter_array *c, const uint8_t *line, unsigned d,
                               bool bmi2) {
    const unsigned each = (unsigned)c->each, end = line_select(line, each, line_brief(c), bmi2) + 1;
    return (line_ends){end, LINE_TOP - d * (end - LINE_FIRST - each)};
}

/* Gives the counter of f u digits.  Their values are left undefined. */
static void line_resize(uint8_t *line, line_field f, unsigned u, line_ends ends) {
    assert(u != f.u && ends.lengths <= ends.digits);
    uint64_t *const w = (uint64_t *)(void *)line;
    if (u > f.u) {
        ebi_bits_up(w, f.at, ends.lengths, u - f.u);
        if (f.low > ends.digits) ebi_bits_down(w, ends.digits, f.low, f.d * (u - f.u));
    } else {
        line_put(line, f.low, f.d * f.u, 0);
        ebi_bits_down(w, f.at + f.u - u, ends.lengths, f.u - u);
        if (f.low > ends.digits) ebi_bits_up(w, ends.digits, f.low, f.d * (f.u - u));
    }
}

/* There is no room anywhere: all counters of the line that are not 0 saturate. */
static void line_wear(const ebi_counter_array *c, line_place p, const uint64_t *value) {
    assert(!line_worn(p.line));
    const bool spilled = line_marked(p.line);
    memset(p.line, 0, LINE_BYTES);
    p.line[LINE_TAIL] = LINE_MARKED;
    for (unsigned j = 0; j < c->each; j++) {
        const bool extra = spilled && line_spill_of(c, p.first + j) > 0;
        if (extra) (void)ebi_spill_set(c->table, c->slots, &c->state->spilled, p.first + j, 0);
        if (value[j] == 0 && !extra) continue;
        line_set_bit(p.line, LINE_FIRST + j);
        c->state->saturated++;
    }
}

/* The d with which these values need the fewest bits, and how many bits. */
static unsigned line_best(const uint64_t *value, uint64_t each, unsigned *bits) {
    unsigned need[LINE_D_MAX];
    line_needs(value, each, need);
    return line_least(need, bits);
}

/* Sets counter j of a full line to a value that needs more digits. */
static void line_repack(const ebi_counter_array *c, line_place p, uint64_t new_value) {
    assert(p.j < c->each && new_value <= EBI_COUNTER_MAX);
    uint64_t value[LINE_EACH_MAX];
    unsigned bits;
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
        p.line[LINE_TAIL] |= LINE_MARKED;
        d = line_best(value, c->each, &bits);
    }
    line_pack(c, p.line, d, value, line_marked(p.line));
}

EBI_INLINE void line_set(const ebi_counter_array *c, line_place p, line_field f, uint64_t value,
                         bool bmi2) {
    assert(value <= EBI_COUNTER_MAX);
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

static void line_unmark(const ebi_counter_array *c,
                        line_place p) { /* if no counter of the line is in the table any more */
    const uint64_t end = ebi_min(p.first + c->each, c->n);
    for (uint64_t i = p.first; i < end; i++)
        if (line_spill_of(c, i) > 0) return;
    p.line[LINE_TAIL] &= (uint8_t)~LINE_MARKED;
}

static void line_spill_take(const ebi_counter_array *c, line_place p, uint64_t left) {
    assert(line_marked(p.line) && left <= EBI_COUNTER_MAX);
    const uint64_t i = p.first + p.j;
    const line_field f = line_find(c, p, false);
    const line_ends ends = line_room(c, p.line, f.d, false);
    const unsigned need = (f.d + 1) * line_digits(f.d, left);
    const bool back = 2 * need <= ends.digits - ends.lengths;
    (void)ebi_spill_set(c->table, c->slots, &c->state->spilled, i, back ? 0 : left);
    if (!back) return;
    line_set(c, p, f, left, false);
    line_unmark(c, p);
}

static uint64_t line_worn_add(const ebi_counter_array *c, line_place p, uint64_t by) {
    assert(line_worn(p.line) && p.j < c->each);
    const uint64_t before = line_worn_get(p.line, p.j);
    if (by == 0 || before > 0) return before;
    line_set_bit(p.line, LINE_FIRST + p.j);
    c->state->saturated++;
    return 0;
}

static void line_spill_add(const ebi_counter_array *c, uint64_t i, uint64_t before, uint64_t by) {
    (void)ebi_spill_set(c->table, c->slots, &c->state->spilled, i, ebi_counter_sum(before, by));
}

/* Whether `by` can be added to these digits without a carry out of them.  Only for numbers far
 * below the largest. */
EBI_INLINE bool line_fits(uint64_t digits, unsigned bits, uint64_t by) {
    return digits + by <= line_ones(bits) && bits < 47;
}

EBI_INLINE uint64_t line_store_add(const ebi_counter_array *c, uint64_t i, uint64_t by, bool bmi2) {
    const line_place p = line_of(c, i);
    if (line_worn(p.line)) return line_worn_add(c, p, by);
    const line_field f = line_find(c, p, bmi2);
    const uint64_t extra = f.u == 0 && line_marked(p.line) ? line_spill_of(c, i) : 0;
    if (extra > 0) {
        line_spill_add(c, i, extra, by);
        return extra;
    }
    const uint64_t before = line_value(f, bmi2);
    if (line_fits(f.digits, f.d * f.u, by))
        line_put(p.line, f.low, f.d * f.u, f.digits + by);
    else
        line_set(c, p, f, ebi_counter_sum(before, by), bmi2);
    return before;
}

/* Several counters at once */

typedef struct line_rise {
    line_group g;
    unsigned low[LINE_TOGETHER], bits[LINE_TOGETHER]; /* of their digits, which are in the line */
    uint64_t digits[LINE_TOGETHER], value[LINE_TOGETHER], by[LINE_TOGETHER];
    size_t left[LINE_TOGETHER], lefts; /* those whose length changes */
} line_rise;

/* Finds the counters and returns the least. */
EBI_INLINE uint64_t line_rise_find(const ebi_counter_array *c, const uint64_t *i, size_t n,
                                   line_rise *r, bool bmi2) {
    uint64_t least = EBI_COUNTER_MAX;
    if (line_brief(c))
        line_group_find(c, i, n, &r->g, true, bmi2);
    else
        line_group_find(c, i, n, &r->g, false, bmi2);
    for (size_t t = 0; t < n; t++) {
        line_field f = {0};
        if (r->g.at[t] > 0) f = line_field_at(r->g.line[t], r->g.j[t], r->g.at[t], bmi2);
        r->low[t] = f.low;
        r->bits[t] = f.d * f.u;
        r->digits[t] = f.digits;
        r->value[t] = line_value(f, bmi2);
        if (line_marked(r->g.line[t]) && r->value[t] == 0)
            r->value[t] = line_get(c, i[t], line_spill_of, bmi2);
        least = ebi_min(least, r->value[t]);
    }
    return least;
}

/* Adds to the counters whose length stays the same.  Which these are is hard to predict, so there
 * is no branch: for the others the store goes to a word that is never read. */
EBI_INLINE void line_rise_put(size_t n, line_rise *r) {
    uint8_t nowhere[sizeof(uint64_t)] = {0};
    r->lefts = 0;
    for (size_t t = 0; t < n; t++) {
        const bool fits = line_fits(r->digits[t], r->bits[t], r->by[t]);
        uint8_t *const word = fits ? r->g.line[t] + r->low[t] / 8 : nowhere;
        line_put(word, r->low[t] % 8, r->bits[t], r->digits[t] + r->by[t]);
        r->left[r->lefts] = t;
        r->lefts += !fits;
    }
}

typedef struct line_growth { /* a counter that grows by one digit */
    line_field f;
    line_ends ends;  /* the room that is left whichever of the others have grown */
    uint64_t digits; /* all digits */
} line_growth;

/* Whether one more digit is enough for counter t, and is free even if all the others in r->left are
 * in its line. */
EBI_INLINE bool line_can_grow(const ebi_counter_array *c, const line_rise *r, size_t t,
                              line_growth *x, bool avx2) {
    const unsigned lefts = (unsigned)r->lefts;
    const uint8_t *const line = r->g.line[t];
    if (line_marked(line)) return false;
    const line_field f = line_field_at(line, r->g.j[t], r->g.at[t], avx2);
    const line_ends room = line_room(c, line, f.d, avx2);
    x->f = f;
    x->ends = (line_ends){room.lengths + lefts, room.digits - f.d * (lefts - 1)};
    x->digits = f.digits + r->by[t] - line_ones(f.d * f.u) - 1;
    return (x->ends.lengths + f.d <= x->ends.digits) & line_fits(x->digits, f.d * f.u + f.d, 0);
}

EBI_INLINE void line_grow(uint8_t *line, const line_growth *x, bool avx2) {
    const line_field *const f = &x->f;
#if EBI_X86_64
    if (avx2) {
        ebi_line_grow_avx2(line, f, x->ends.lengths, x->digits);
        return;
    }
#endif
    (void)avx2;
    line_resize(line, *f, f->u + 1, x->ends);
    line_put(line, f->low - f->d, f->d * f->u + f->d, x->digits);
}

/* Gives all counters that are left one more digit.  Does nothing if one needs more than that, or if
 * there might not be room for all.  A counter that grows moves only those after it, so the last
 * goes first. */
EBI_INLINE bool line_rise_grow(const ebi_counter_array *c, const uint64_t *i, const line_rise *r,
                               bool avx2) {
    line_growth x[LINE_TOGETHER];
    uint64_t before = 0;
    bool can = true;
    for (size_t l = 0; can && l < r->lefts; l++) {
        const size_t t = r->left[l];
        can = line_can_grow(c, r, t, &x[l], avx2) & (before <= i[t]);
        before = i[t];
    }
    for (size_t l = r->lefts; can && l-- > 0;) line_grow(r->g.line[r->left[l]], &x[l], avx2);
    return can;
}

/* Whether the last of these is still where it was found: no counter before it is in the same
 * line. */
EBI_INLINE bool line_holds(const line_group *g, const size_t *left, size_t last) {
    bool same = line_marked(g->line[left[last]]);
    for (size_t t = 0; t < last; t++) same |= g->line[left[t]] == g->line[left[last]];
    return !same;
}

/* Sets those that are left, one after the other. */
EBI_INLINE void line_rise_set(const ebi_counter_array *c, const uint64_t *i, const line_rise *r,
                              bool bmi2) {
    for (size_t l = 0; l < r->lefts; l++) {
        const size_t t = r->left[l];
        const line_place p = {r->g.line[t], i[t] - r->g.j[t], r->g.j[t]};
        if (line_holds(&r->g, r->left, l))
            line_set(c, p, line_field_at(p.line, p.j, r->g.at[t], bmi2),
                     ebi_counter_sum(r->value[t], r->by[t]), bmi2);
        else
            (void)line_store_add(c, i[t], r->by[t], bmi2);
    }
}

/* Adds to all of them, or lifts the lower ones to the least plus `by`.  Returns the least
 * before. */
EBI_INLINE uint64_t line_store_raise(const ebi_counter_array *c, const uint64_t *i, size_t n,
                                     uint64_t by, bool lift, bool bmi2) {
    assert(n > 0 && n <= LINE_TOGETHER);
    line_rise r;
    const uint64_t least = line_rise_find(c, i, n, &r, bmi2), goal = ebi_counter_sum(least, by);
    for (size_t t = 0; t < n; t++) r.by[t] = !lift ? by : r.value[t] < goal ? goal - r.value[t] : 0;
    line_rise_put(n, &r);
    if (r.lefts > 0 && !line_rise_grow(c, i, &r, bmi2)) line_rise_set(c, i, &r, bmi2);
    return least;
}

EBI_INLINE void line_store_sub(const ebi_counter_array *c, uint64_t i, uint64_t by, bool bmi2) {
    const line_place p = line_of(c, i);
    if (line_worn(p.line)) return;
    const line_field f = line_find(c, p, bmi2);
    const uint64_t extra = f.u == 0 && line_marked(p.line) ? line_spill_of(c, i) : 0;
    const uint64_t value = extra > 0 ? extra : line_value(f, bmi2);
    assert(by <= value);
    if (by == 0 || value == EBI_COUNTER_MAX) return;
    if (extra > 0)
        line_spill_take(c, p, value - by);
    else
        line_set(c, p, f, value - by, bmi2);
}

static const uint8_t *line_address(const ebi_counter_array *c, uint64_t i) {
    return line_of(c, i).line;
}

/* Checking */

static bool line_worn_check(const ebi_counter_array *c, line_place p, uint64_t *saturated) {
    const uint64_t counters = ebi_min(c->each, c->n - p.first);
    if (!line_marked(p.line) || line_d(p.line) != 1) return false;
    for (unsigned bit = 0; bit < LINE_TOP - LINE_FIRST; bit++) {
        if (line_bit(p.line, LINE_FIRST + bit) && bit >= counters) return false;
        *saturated += line_bit(p.line, LINE_FIRST + bit);
    }
    return true;
}

/* A marked line has counters in the table, and these are 0 in the line. */
static bool line_check_spilled(const ebi_counter_array *c, line_place p, uint64_t *spilled) {
    const uint64_t before = *spilled;
    for (p.j = 0; p.j < ebi_min(c->each, c->n - p.first); p.j++) {
        if (line_spill_of(c, p.first + p.j) == 0) continue;
        ++*spilled;
        if (line_find(c, p, false).u != 0) return false;
    }
    return *spilled > before;
}

static bool line_check(const ebi_counter_array *c) {
    uint64_t saturated = 0, spilled = 0;
    if (!ebi_counters_plain(c->state, 0) ||
        !ebi_spill_check(c->table, c->slots, c->state->spilled, c->n))
        return false;
    for (uint64_t i = 0; i < c->n; i += c->each) {
        const line_place p = line_of(c, i);
        if (line_worn(p.line)) {
            if (!line_worn_check(c, p, &saturated)) return false;
        } else if (!line_check_codes(c, p)) {
            return false;
        } else if (line_marked(p.line) && !line_check_spilled(c, p, &spilled)) {
            return false;
        }
    }
    return saturated == c->state->saturated && spilled == c->state->spilled;
}

static uint64_t line_next_used(const ebi_counter_array *c, uint64_t i, uint64_t end) {
    assert(i < end && end <= c->n);
    uint8_t clear[LINE_BYTES];
    line_clear(clear, c->each);
    while (i < end && memcmp(line_of(c, i).line, clear, LINE_BYTES) == 0)
        i = (i / c->each + 1) * c->each;
    return ebi_min(i, end);
}

/* The store, for machines with AVX2 and BMI2 and for others.  The bytes are the same. */

EBI_INLINE uint64_t line_store_get(const ebi_counter_array *c, uint64_t i, bool bmi2) {
    return line_get(c, i, line_spill_of, bmi2);
}

EBI_INLINE void line_store_read(const ebi_counter_array *c, const uint64_t *i, size_t count,
                                uint64_t *value, bool bmi2) {
    line_read(c, i, count, value, line_spill_of, bmi2);
}

#define LINE_STORE                                                                                 \
    .name = "line", .bits_least = 1500000, .bits_usual = 6000000, .bytes_more = 256,               \
    .open = line_open, .init = line_init, .address = line_address, .check = line_check,            \
    .next_used = line_next_used
EBI_STORE_LOOPS(EBI_BMI2, line_avx2, line_store, true)
EBI_STORE_LOOPS(, line_portable, line_store, false)
const ebi_store ebi_store_line_avx2 = {LINE_STORE, EBI_STORE_FUNCTIONS(line_avx2)};
const ebi_store ebi_store_line_portable = {LINE_STORE, EBI_STORE_FUNCTIONS(line_portable)};
