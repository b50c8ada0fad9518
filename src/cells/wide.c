/* wide.c - the store wide: 4-bit counters that join.  The layout and the rules are in wide.h. */
#include "wide.h"

/* The table of places, computed by the compiler */

#define WIDE_START(i) (54 * (i) / 16)
#define WIDE_DIGIT(code, cell) ((cell) / 4 % 2 == 0 ? (code) / 5 : (code) % 5)
#define WIDE_IN_FOUR(digit, cell) ((digit) == 4 ? 2 : (digit) >> ((cell) / 2 % 2) & 1)
#define WIDE_LEVEL(code, cell)                                                                     \
    ((code) == 31 ? 4 : (code) >= 25 ? 3 : WIDE_IN_FOUR(WIDE_DIGIT(code, cell), cell))
#define WIDE_FIRST(cell, level) ((cell) >> (level) << (level))
#define WIDE_WIDTH(first, level)                                                                   \
    ((level) == 4 ? 48 : WIDE_START((first) + (1 << (level))) - WIDE_START(first))
#define WIDE_GROUP(first, level) (WIDE_START(first) | WIDE_WIDTH(first, level) << 8)
#define WIDE_PLACE(code, cell)                                                                     \
    WIDE_GROUP(WIDE_FIRST(cell, WIDE_LEVEL(code, cell)), WIDE_LEVEL(code, cell))
#define WIDE_FOUR(code, cell)                                                                      \
    WIDE_PLACE(code, cell), WIDE_PLACE(code, (cell) + 1), WIDE_PLACE(code, (cell) + 2),            \
        WIDE_PLACE(code, (cell) + 3)
#define WIDE_CODE(code)                                                                            \
    { WIDE_FOUR(code, 0), WIDE_FOUR(code, 4), WIDE_FOUR(code, 8), WIDE_FOUR(code, 12) }
#define WIDE_CODES(code)                                                                           \
    WIDE_CODE(code), WIDE_CODE(code + 1), WIDE_CODE(code + 2), WIDE_CODE(code + 3)

const uint16_t ebi_wide_places[32][EBI_WIDE_CELLS] = {
    WIDE_CODES(0),  WIDE_CODES(4),  WIDE_CODES(8),  WIDE_CODES(12),
    WIDE_CODES(16), WIDE_CODES(20), WIDE_CODES(24), WIDE_CODES(28),
};

/* Unpacking and packing words */

enum { WIDE_EIGHT = 25, WIDE_ALL = 31 };

static unsigned wide_first(unsigned cell, unsigned level) {
    assert(cell < EBI_WIDE_CELLS && level <= EBI_WIDE_LEVELS);
    return WIDE_FIRST(cell, level);
}

static unsigned wide_width(unsigned cell, unsigned level) {
    return (unsigned)WIDE_WIDTH(wide_first(cell, level), level);
}

static unsigned wide_code(uint64_t word, unsigned half) {
    assert(half < 2);
    return word >> (EBI_WIDE_LAYOUT + 5 * half) & 31;
}

static void wide_take_apart(uint64_t word, ebi_wide_word *out) {
    for (unsigned cell = 0; cell < EBI_WIDE_CELLS; cell++) {
        const unsigned code = wide_code(word, cell / 8);
        out->level[cell] = (unsigned)WIDE_LEVEL(code, cell);
        out->value[cell] = ebi_wide_field(word, ebi_wide_places[code][cell]);
    }
}

static unsigned wide_digit(const unsigned *level) { /* of four cells */
    return level[0] == 2 ? 4 : (level[0] == 1) + 2u * (level[2] == 1);
}

static unsigned wide_code_of(const unsigned *level) { /* of eight cells */
    if (level[0] > 2) return level[0] == 3 ? WIDE_EIGHT : WIDE_ALL;
    return 5 * wide_digit(level) + wide_digit(level + 4);
}

static uint64_t wide_put_together(const ebi_wide_word *w) {
    uint64_t word = 0;
    for (unsigned cell = 0; cell < EBI_WIDE_CELLS; cell += 1u << w->level[cell])
        word |= w->value[cell] << WIDE_START(cell);
    return word | (uint64_t)wide_code_of(w->level) << EBI_WIDE_LAYOUT |
           (uint64_t)wide_code_of(w->level + 8) << (EBI_WIDE_LAYOUT + 5);
}

/* Joins the cells of a group of that level. */
static void wide_join(ebi_wide_word *w, unsigned cell, unsigned level, bool sums) {
    assert(level <= EBI_WIDE_LEVELS && level >= w->level[cell]);
    const unsigned first = wide_first(cell, level), end = first + (1u << level);
    uint64_t value = 0;
    for (unsigned at = first; at < end; at += 1u << w->level[at])
        value = sums ? value + w->value[at] : ebi_max(value, w->value[at]);
    for (unsigned at = first; at < end; at++) {
        w->value[at] = value;
        w->level[at] = level;
    }
}

/* Joins groups until every value fits, in the layout with the fewest joins. */
static void wide_settle(ebi_wide_word *w, bool sums) {
    for (unsigned cell = 0; cell < EBI_WIDE_CELLS;) {
        const unsigned level = w->level[cell];
        if (w->value[cell] >> wide_width(cell, level) == 0) {
            cell = wide_first(cell, level) + (1u << level);
        } else if (level < EBI_WIDE_LEVELS) {
            wide_join(w, cell, level + 1, sums);
        } else {
            for (unsigned at = 0; at < EBI_WIDE_CELLS; at++) w->value[at] = EBI_COUNTER_MAX;
        }
    }
}

void ebi_wide_load(const ebi_counter_array *c, uint64_t word, ebi_wide_word *out) {
    assert(word < (c->n + EBI_WIDE_CELLS - 1) / EBI_WIDE_CELLS);
    wide_take_apart(ebi_load64(c->cells + 8 * word), out);
}

void ebi_wide_save(const ebi_counter_array *c, uint64_t word, ebi_wide_word *w, bool sums) {
    assert(word < (c->n + EBI_WIDE_CELLS - 1) / EBI_WIDE_CELLS);
    wide_settle(w, sums);
    ebi_store64(c->cells + 8 * word, wide_put_together(w));
}

void ebi_wide_coarsen(ebi_wide_word *w, const ebi_wide_word *other, bool sums) {
    for (unsigned cell = 0; cell < EBI_WIDE_CELLS; cell++)
        if (w->level[cell] < other->level[cell]) wide_join(w, cell, other->level[cell], sums);
}

void ebi_wide_guess(ebi_wide_word *w) {
    wide_settle(w, false);
}

/* The most frequent joins, done in place: a cell or a pair becomes a pair or a four in which the
 * value fits. */
static bool wide_widen_little(uint64_t *word, unsigned cell, uint64_t value, bool sums) {
    const unsigned half = EBI_WIDE_LAYOUT + 5 * (cell / 8), unit = cell / 4 % 2 == 0 ? 5 : 1;
    const unsigned code = wide_code(*word, cell / 8), digit = (unsigned)WIDE_DIGIT(code, cell);
    if (code >= WIDE_EIGHT || digit == 4) return false;
    const unsigned level = digit >> (cell / 2 % 2) & 1, first = wide_first(cell, level + 1);
    const unsigned other = first == wide_first(cell, level) ? first + (1u << level) : first;
    for (unsigned at = other; at < other + (1u << level);
         at++) { /* the first cell of a pair is read twice */
        const uint64_t there = ebi_wide_field(*word, ebi_wide_places[code][at]);
        const bool again = at > other && WIDE_LEVEL(code, at) == 1;
        value = !sums ? ebi_max(value, there) : again ? value : value + there;
    }
    const unsigned width = wide_width(first, level + 1), start = WIDE_START(first);
    if (value >> width != 0) return false;
    const uint64_t more = level == 0 ? 1u << (cell / 2 % 2) : 4 - digit;
    *word = ((*word & ~(ebi_ones(width) << start)) | value << start) + (more * unit << half);
    return true;
}

void ebi_wide_widen(const ebi_counter_array *c, uint64_t i, uint64_t value, bool sums) {
    assert(value > ebi_wide_get(c, i));
    ebi_wide_word w;
    const unsigned cell = i % EBI_WIDE_CELLS;
    uint64_t word = ebi_load64(ebi_wide_at(c, i));
    if (wide_widen_little(&word, cell, value, sums)) {
        ebi_store64(ebi_wide_at(c, i), word);
        return;
    }
    ebi_wide_load(c, i / EBI_WIDE_CELLS, &w);
    const unsigned first = wide_first(cell, w.level[cell]);
    for (unsigned at = first; at < first + (1u << w.level[cell]); at++)
        w.value[at] = ebi_min(value, EBI_COUNTER_MAX);
    ebi_wide_save(c, i / EBI_WIDE_CELLS, &w, sums);
}

/* The store */

static void wide_open(ebi_counter_array *c) {
    assert(c->n > 0 && c->bytes >= sizeof *c->state + (c->n + 15) / 16 * 8);
    c->cells = (uint8_t *)c->state + sizeof *c->state;
}

EBI_INLINE uint64_t wide_get(const ebi_counter_array *c, uint64_t i, bool sums) {
    (void)sums;
    return ebi_wide_get(c, i);
}

EBI_INLINE void wide_read(const ebi_counter_array *c, const uint64_t *i, size_t count,
                          uint64_t *value, bool sums) {
    for (size_t j = 0; j < count; j++) value[j] = wide_get(c, i[j], sums);
}

EBI_INLINE uint64_t wide_add(const ebi_counter_array *c, uint64_t i, uint64_t by, bool sums) {
    const uint64_t word = ebi_load64(ebi_wide_at(c, i));
    const unsigned place = ebi_wide_place(word, i);
    ebi_wide_grow(c, i, word, place, by, sums);
    return ebi_wide_field(word, place);
}

/* Takes away from a group.  A group that becomes 0 splits into single cells of 0. */
EBI_INLINE void wide_sub(const ebi_counter_array *c, uint64_t i, uint64_t by, bool sums) {
    ebi_wide_word w;
    const unsigned cell = i % EBI_WIDE_CELLS;
    ebi_wide_load(c, i / EBI_WIDE_CELLS, &w);
    const unsigned level = w.level[cell], first = wide_first(cell, level);
    assert(by <= w.value[cell]);
    if (w.value[cell] == EBI_COUNTER_MAX) return;
    const uint64_t value = w.value[cell] - by;
    for (unsigned at = first; at < first + (1u << level); at++) {
        w.value[at] = value;
        if (value == 0) w.level[at] = 0;
    }
    ebi_wide_save(c, i / EBI_WIDE_CELLS, &w, sums);
}

static uint64_t wide_group(const ebi_counter_array *c, uint64_t i) {
    ebi_wide_word w;
    ebi_wide_load(c, i / EBI_WIDE_CELLS, &w);
    return i - i % EBI_WIDE_CELLS + wide_first(i % EBI_WIDE_CELLS, w.level[i % EBI_WIDE_CELLS]);
}

static bool wide_check_word(uint64_t word, uint64_t cells) {
    assert(cells > 0 && cells <= EBI_WIDE_CELLS);
    const unsigned left = wide_code(word, 0), right = wide_code(word, 1);
    if (left == WIDE_ALL || right == WIDE_ALL)
        return left == right && (word & ebi_ones(EBI_WIDE_LAYOUT)) <= EBI_COUNTER_MAX;
    if (left > WIDE_EIGHT || right > WIDE_EIGHT) return false;
    for (unsigned cell = (unsigned)cells; cell < EBI_WIDE_CELLS; cell++) {
        const unsigned level = (unsigned)WIDE_LEVEL(wide_code(word, cell / 8), cell);
        if (wide_first(cell, level) >= cells &&
            ebi_wide_field(word, ebi_wide_place(word, cell)) > 0)
            return false;
    }
    return true;
}

static bool wide_check(const ebi_counter_array *c) {
    const uint64_t words = (c->n + EBI_WIDE_CELLS - 1) / EBI_WIDE_CELLS;
    for (uint64_t i = 0; i < words; i++)
        if (!wide_check_word(ebi_load64(c->cells + 8 * i),
                             ebi_min(c->n - i * EBI_WIDE_CELLS, EBI_WIDE_CELLS)))
            return false;
    return ebi_is_zero(c->state, sizeof *c->state) &&
           ebi_is_zero(c->cells + 8 * words, c->bytes - sizeof *c->state - 8 * words);
}

static uint64_t wide_next_used(const ebi_counter_array *c, uint64_t i, uint64_t end) {
    assert(i < end && end <= c->n);
    while (i < end && ebi_load64(ebi_wide_at(c, i)) == 0)
        i = (i / EBI_WIDE_CELLS + 1) * EBI_WIDE_CELLS;
    return ebi_min(i, end);
}

/* For machines with BMI2 and for others, and for sums and lifted counters.  The layout is the
 * same. */

#define wide_raise ebi_wide_raise
#define WIDE_STORE                                                                                 \
    .name = "wide", .bits_least = 4000000, .bits_usual = 4000000, .open = wide_open,               \
    .address = ebi_wide_address, .check = wide_check, .next_used = wide_next_used,                 \
    .group = wide_group
EBI_STORE_LOOPS(EBI_BMI2, wide_sums_bmi2, wide, true)
EBI_STORE_LOOPS(EBI_BMI2, wide_most_bmi2, wide, false)
EBI_STORE_LOOPS(, wide_sums_portable, wide, true)
EBI_STORE_LOOPS(, wide_most_portable, wide, false)
const ebi_store ebi_store_wide_most_bmi2 = {WIDE_STORE, EBI_STORE_FUNCTIONS(wide_most_bmi2)};
const ebi_store ebi_store_wide_most_portable = {WIDE_STORE,
                                                EBI_STORE_FUNCTIONS(wide_most_portable)};
const ebi_store ebi_store_wide_sums_bmi2 = {WIDE_STORE, EBI_STORE_FUNCTIONS(wide_sums_bmi2),
                                            .conservative = &ebi_store_wide_most_bmi2};
const ebi_store ebi_store_wide_sums_portable = {WIDE_STORE, EBI_STORE_FUNCTIONS(wide_sums_portable),
                                                .conservative = &ebi_store_wide_most_portable};
