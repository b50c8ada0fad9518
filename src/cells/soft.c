/* soft.c - 8-bit counters that fade and join.  The layout and the rules are in soft.h. */
#include "soft.h"

enum { SOFT_EIGHT = 25, SOFT_WORDS = EBI_SOFT_CELLS / 8 };

#define SOFT_DIGIT(code, cell) ((cell) / 4 == 0 ? (code) / 5 : (code) % 5)
#define SOFT_IN_FOUR(digit, cell) ((digit) == 4 ? 2 : (digit) >> ((cell) / 2 % 2) & 1)
#define SOFT_LEVEL(code, cell)                                                                     \
    ((code) >= SOFT_EIGHT ? 3 : SOFT_IN_FOUR(SOFT_DIGIT(code, cell), cell))
#define SOFT_CODE(code)                                                                            \
    {                                                                                              \
        SOFT_LEVEL(code, 0), SOFT_LEVEL(code, 1), SOFT_LEVEL(code, 2), SOFT_LEVEL(code, 3),        \
            SOFT_LEVEL(code, 4), SOFT_LEVEL(code, 5), SOFT_LEVEL(code, 6), SOFT_LEVEL(code, 7)     \
    }
#define SOFT_CODES(code)                                                                           \
    SOFT_CODE(code), SOFT_CODE(code + 1), SOFT_CODE(code + 2), SOFT_CODE(code + 3)

const uint8_t ebi_soft_levels[32][8] = {
    SOFT_CODES(0),  SOFT_CODES(4),  SOFT_CODES(8),  SOFT_CODES(12),
    SOFT_CODES(16), SOFT_CODES(20), SOFT_CODES(24), SOFT_CODES(28),
};

/* Words taken apart and put together */

typedef struct soft_word { /* each cell has the level and the fine value of its group */
    uint64_t fine[8];
    unsigned level[8];
} soft_word;

static void soft_take_apart(const uint8_t *line, unsigned word, soft_word *w) {
    assert(word < SOFT_WORDS);
    for (unsigned cell = 0; cell < 8; cell++) {
        const ebi_soft_cell c = ebi_soft_read(line, 8 * word + cell);
        w->fine[cell] = ebi_soft_fine(c);
        w->level[cell] = c.level;
    }
}

static unsigned soft_digit(const unsigned *level) { /* of four cells */
    return level[0] == 2 ? 4 : (level[0] == 1) + 2u * (level[2] == 1);
}

static void soft_put_together(uint8_t *line, unsigned word, const soft_word *w) {
    assert(word < SOFT_WORDS);
    const unsigned at = EBI_SOFT_STAMP + 5 * word;
    const uint64_t code =
        w->level[0] == 3 ? SOFT_EIGHT : 5 * soft_digit(w->level) + soft_digit(w->level + 4);
    uint64_t bits = 0;
    for (unsigned cell = 0; cell < 8; cell += 1u << w->level[cell])
        bits |= ebi_soft_field(w->fine[cell], w->level[cell]) << (8 * cell);
    ebi_store64(line + 8 + 8 * word, bits);
    ebi_store64(line, (ebi_load64(line) & ~(UINT64_C(31) << at)) | code << at);
}

/* Joins the cells of a group of that level. */
static void soft_join(soft_word *w, unsigned cell, unsigned level, bool sums) {
    assert(cell < 8 && level <= EBI_SOFT_LEVELS);
    const unsigned first = ebi_soft_first(cell, level), end = first + (1u << level);
    uint64_t fine = 0;
    for (unsigned at = first; at < end; at += 1u << w->level[at])
        fine = sums ? ebi_plus(fine, w->fine[at]) : ebi_max(fine, w->fine[at]);
    for (unsigned at = first; at < end; at++) {
        w->fine[at] = fine;
        w->level[at] = level;
    }
}

/* Joins groups until every value fits. false: a group of eight has reached its largest value. */
static bool soft_settle(soft_word *w, bool sums) {
    for (unsigned cell = 0; cell < 8;) {
        const unsigned level = w->level[cell];
        if (level == EBI_SOFT_LEVELS) return w->fine[cell] < UINT64_MAX;
        if (ebi_soft_field(w->fine[cell], level) >> ebi_soft_width(level) == 0)
            cell = ebi_soft_first(cell, level) + (1u << level);
        else
            soft_join(w, cell, level + 1, sums);
    }
    return true;
}

static bool soft_widen(uint8_t *line, unsigned slot, uint64_t fine, bool sums) {
    soft_word w;
    soft_take_apart(line, slot / 8, &w);
    const unsigned level = w.level[slot % 8], first = ebi_soft_first(slot % 8, level);
    for (unsigned at = first; at < first + (1u << level); at++) w.fine[at] = fine;
    const bool fits = soft_settle(&w, sums);
    soft_put_together(line, slot / 8, &w);
    return fits;
}

bool ebi_soft_put(uint8_t *line, unsigned slot, uint64_t fine, bool sums) {
    assert(slot < EBI_SOFT_CELLS);
    const ebi_soft_cell c = ebi_soft_read(line, slot);
    const uint64_t field = ebi_soft_field(fine, c.level);
    const unsigned at = 8 * ebi_soft_first(slot % 8, c.level);
    if (c.level == EBI_SOFT_LEVELS || field >> ebi_soft_width(c.level) != 0)
        return soft_widen(line, slot, fine, sums);
    uint8_t *const word = line + 8 + slot / 8 * 8;
    ebi_store64(word, ebi_load64(word) - (c.field << at) + (field << at));
    return true;
}

/* Fading */

/* Fades eight cells that are not joined. */
static uint64_t soft_lapse_cells(uint64_t word, uint64_t eras) {
    const unsigned by = (unsigned)ebi_min(eras, 8);
    uint64_t left = 0;
    if (word == 0 || by == 8) return 0;
    for (unsigned at = 0; at < 64; at += 8) {
        const uint64_t c = word >> at & 255;
        left |= (c <= UINT64_C(1) << by ? 0 : ((c - 1) >> by) + 1) << at;
    }
    return left;
}

static void soft_lapse_word(uint8_t *line, unsigned word, uint64_t eras) {
    assert(word < SOFT_WORDS && eras > 0);
    soft_word w;
    for (unsigned cell = 0; cell < 8; cell++) {
        const ebi_soft_cell c = ebi_soft_fade(ebi_soft_read(line, 8 * word + cell), eras);
        w.fine[cell] = ebi_soft_fine(c);
        w.level[cell] = c.level;
    }
    soft_put_together(line, word, &w);
}

void ebi_soft_lapse(uint8_t *line, uint64_t eras, uint64_t stamp) {
    const uint64_t head = ebi_load64(line);
    assert(stamp <= EBI_SOFT_STAMP_MAX);
    ebi_store64(line, (head & ~EBI_SOFT_STAMP_MAX) | stamp);
    for (unsigned word = 0; word < SOFT_WORDS && eras > 0; word++) {
        uint8_t *const at = line + 8 + 8 * word;
        if (ebi_soft_code(head, word) == 0)
            ebi_store64(at, soft_lapse_cells(ebi_load64(at), eras));
        else
            soft_lapse_word(line, word, eras);
    }
}

/* Merging: groups are joined until they are alike in both lines, then values are added. */

static void soft_coarsen(soft_word *w, const soft_word *other, bool sums) {
    for (unsigned cell = 0; cell < 8; cell++)
        if (w->level[cell] < other->level[cell]) soft_join(w, cell, other->level[cell], sums);
}

bool ebi_soft_merge(uint8_t *into, const uint8_t *from, bool sums) {
    bool fits = true;
    for (unsigned word = 0; word < SOFT_WORDS; word++) {
        soft_word a, b;
        if (ebi_load64(from + 8 + 8 * word) == 0) continue; /* nothing to add, joined or not */
        soft_take_apart(into, word, &a);
        soft_take_apart(from, word, &b);
        soft_coarsen(&a, &b, sums);
        soft_coarsen(&b, &a, sums);
        for (unsigned cell = 0; cell < 8; cell++)
            a.fine[cell] = ebi_plus(a.fine[cell], b.fine[cell]);
        if (!soft_settle(&a, sums)) fits = false;
        soft_put_together(into, word, &a);
    }
    return fits;
}

bool ebi_soft_check(const uint8_t *line) {
    for (unsigned word = 0; word < SOFT_WORDS; word++)
        if (ebi_soft_code(ebi_load64(line), word) > SOFT_EIGHT) return false;
    return true;
}
