/* tight.c - the frozen store `line`: the lines of line.c with as many counters as possible, for
 * filters that are only read.
 *
 *       | state, 64 bytes | lines | entries, sorted by index; zeros to the end |
 *
 * state->reserved[0] is the number of counters in each line.  It is chosen, by trying on a sample,
 * so that lines and entries together are shortest.  If the counters of a line do not fit, the
 * longest ones become 0 there, the line gets the mark for spilled counters, and their values go to
 * the entries, which a binary search finds.  No line is worn. */
#include "line.h"

enum { TIGHT_EACH }; /* in state->reserved */
enum { TIGHT_SAMPLE = 1 << 17, TIGHT_PAD = 8 };

static void tight_open(ebi_counter_array *c) {
    const uint64_t each = c->state->reserved[TIGHT_EACH];
    c->each =
        ebi_min(ebi_max(each, LINE_EACH_MIN), LINE_EACH_MAX); /* the bytes may come from anyone */
    c->reciprocal = UINT64_MAX / c->each + 1;
    c->parts = (c->n + c->each - 1) / c->each;
    c->cells = (uint8_t *)c->state + sizeof *c->state;
    c->table = (ebi_spill_slot *)(void *)(c->cells + c->parts * LINE_BYTES);
    c->slots = c->state->spilled;
}

/* Reading */

static uint64_t tight_entry(const ebi_counter_array *c, uint64_t i) { /* 0: there is no entry */
    assert(i < c->n);
    uint64_t low = 0, high = c->slots;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (c->table[middle].index < i + 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->slots && c->table[low].index == i + 1 ? c->table[low].extra : 0;
}

static const uint8_t *tight_address(const ebi_counter_array *c, uint64_t i) {
    return line_of(c, i).line;
}

/* Filling lines */

/* Sets the longest counters to 0 until the others fit.  Returns how many. */
static unsigned tight_fit(uint64_t *value, uint64_t each, unsigned *d) {
    assert(each >= LINE_EACH_MIN && each <= LINE_EACH_MAX);
    unsigned need[LINE_D_MAX], bits, left_out = 0;
    line_needs(value, each, need);
    for (*d = line_least(need, &bits); bits > LINE_BITS; *d = line_least(need, &bits)) {
        uint64_t longest = 0;
        for (uint64_t j = 1; j < each; j++)
            if (value[j] > value[longest]) longest = j;
        for (unsigned i = 0; i < LINE_D_MAX; i++)
            need[i] -= (i + 2) * line_digits(i + 1, value[longest]);
        value[longest] = 0;
        left_out++;
    }
    return left_out;
}

/* The counters of the line that begins with `first`, and zeros after the last one. */
static void tight_read(const ebi_source *from, uint64_t first, uint64_t each, uint64_t *value) {
    assert(first < from->counters->n);
    const uint64_t count = ebi_min(each, from->counters->n - first);
    ebi_source_read(from, first, count, value);
    memset(value + count, 0, (size_t)(each - count) * sizeof *value);
}

/* The bits for 1024 counters, measured on lines from all over the array. */
static uint64_t tight_cost(const ebi_source *from, uint64_t each) {
    assert(each >= LINE_EACH_MIN && each <= LINE_EACH_MAX);
    const uint64_t all = (from->counters->n + each - 1) / each;
    const uint64_t lines = ebi_min(all, TIGHT_SAMPLE / each);
    uint64_t value[LINE_EACH_MAX], entries = 0;
    unsigned d;
    for (uint64_t i = 0; i < lines; i++) {
        tight_read(from, all * i / lines * each, each, value);
        entries += tight_fit(value, each, &d);
    }
    return (lines * LINE_BITS + entries * 8 * sizeof(ebi_spill_slot)) * 1024 / (lines * each);
}

typedef struct tight_choice {
    uint64_t each, cost;
} tight_choice;

static void tight_try(const ebi_source *from, uint64_t low, uint64_t high, uint64_t step,
                      tight_choice *best) {
    for (uint64_t each = low; each <= high; each += step) {
        const uint64_t cost = tight_cost(from, each);
        if (cost < best->cost) *best = (tight_choice){each, cost};
    }
}

static uint64_t tight_choose(const ebi_source *from) {
    tight_choice best = {LINE_EACH_MIN, UINT64_MAX};
    for (uint64_t each = LINE_EACH_MIN; each <= LINE_EACH_MAX; each += 1 + each / 4)
        tight_try(from, each, each, 1, &best);
    for (uint64_t part = 4; part <= 64; part *= 4) { /* narrows down on the best */
        const uint64_t reach = best.each / part;
        tight_try(from, ebi_max(best.each - reach, LINE_EACH_MIN),
                  ebi_min(best.each + reach, LINE_EACH_MAX), 1 + reach / 4, &best);
    }
    return best.each;
}

/* Freezing */

static uint64_t tight_bytes(uint64_t lines, uint64_t entries) {
    return sizeof(ebi_store_state) + lines * LINE_BYTES +
           ebi_round_up(entries * sizeof(ebi_spill_slot) + TIGHT_PAD, 64);
}

static uint64_t tight_frozen_bytes(const ebi_source *from) {
    const uint64_t each = tight_choose(from), lines = (from->counters->n + each - 1) / each;
    uint64_t value[LINE_EACH_MAX], entries = 0;
    unsigned d;
    for (uint64_t i = 0; i < lines; i++) {
        tight_read(from, i * each, each, value);
        entries += tight_fit(value, each, &d);
    }
    return tight_bytes(lines, entries);
}

static void tight_write(const ebi_counter_array *c, uint64_t first, const uint64_t *all) {
    assert(first < c->n && first % c->each == 0);
    uint64_t value[LINE_EACH_MAX];
    unsigned d;
    memcpy(value, all, (size_t)c->each * sizeof *value);
    const unsigned left_out = tight_fit(value, c->each, &d);
    line_pack(c, line_of(c, first).line, d, value, left_out > 0);
    for (uint64_t j = 0; j < c->each; j++) {
        c->state->saturated += all[j] == EBI_COUNTER_MAX;
        if (value[j] != all[j])
            c->table[c->state->spilled++] = (ebi_spill_slot){first + j + 1, all[j]};
    }
}

static void tight_freeze(const ebi_counter_array *c, const ebi_source *from) {
    uint64_t value[LINE_EACH_MAX];
    c->state->reserved[TIGHT_EACH] = tight_choose(from);
    const ebi_counter_array opened =
        ebi_counters(&ebi_frozen_line_portable, (const uint8_t *)c->state, c->n, c->bytes);
    for (uint64_t first = 0; first < c->n; first += opened.each) {
        tight_read(from, first, opened.each, value);
        tight_write(&opened, first, value);
    }
}

static bool tight_fits(uint64_t n, uint64_t bytes) {
    return bytes >= tight_bytes((n + LINE_EACH_MAX - 1) / LINE_EACH_MAX, 0);
}

/* Checking */

typedef struct tight_sums {
    uint64_t saturated;
    uint64_t marked, marks_used; /* lines with a mark, lines with entries */
} tight_sums;

static bool tight_check_entry(const ebi_counter_array *c, uint64_t k, tight_sums *sums) {
    const ebi_spill_slot s = c->table[k];
    const uint64_t before = k == 0 ? 0 : c->table[k - 1].index;
    if (s.index <= before || s.index > c->n || s.extra == 0 || s.extra > EBI_COUNTER_MAX)
        return false;
    const line_place p = line_of(c, s.index - 1);
    sums->marks_used += before <= p.first;
    sums->saturated += s.extra == EBI_COUNTER_MAX;
    return line_marked(p.line) && line_find(c, p, false).u == 0;
}

static bool tight_check_line(const ebi_counter_array *c, uint64_t first, tight_sums *sums) {
    const line_place p = line_of(c, first);
    uint64_t value[LINE_EACH_MAX];
    if (!line_check_codes(c, p)) return false;
    line_unpack(c, p.line, value);
    for (uint64_t j = 0; j < c->each; j++) sums->saturated += value[j] == EBI_COUNTER_MAX;
    sums->marked += line_marked(p.line);
    return true;
}

static bool tight_check(const ebi_counter_array *c) {
    const uint8_t *const end = (const uint8_t *)c->state + c->bytes;
    tight_sums sums = {0, 0, 0};
    if (c->each != c->state->reserved[TIGHT_EACH] ||
        !ebi_counters_plain(c->state, TIGHT_EACH + 1) || c->slots > c->n ||
        tight_bytes(c->parts, c->slots) > c->bytes)
        return false;
    for (uint64_t first = 0; first < c->n; first += c->each)
        if (!tight_check_line(c, first, &sums)) return false;
    for (uint64_t k = 0; k < c->slots; k++)
        if (!tight_check_entry(c, k, &sums)) return false;
    const uint8_t *const rest = (const uint8_t *)(c->table + c->slots);
    return ebi_is_zero(rest, (uint64_t)(end - rest)) && sums.saturated == c->state->saturated &&
           sums.marked == sums.marks_used;
}

/* The store, for machines with BMI2 and for others.  The bytes are the same. */

#define TIGHT_STORE(machine, attribute, bmi2)                                                      \
    attribute static uint64_t tight_get_##machine(const ebi_counter_array *c, uint64_t i) {        \
        return line_get(c, i, tight_entry, bmi2);                                                  \
    }                                                                                              \
    attribute static void tight_read_##machine(const ebi_counter_array *c, const uint64_t *i,      \
                                               size_t count, uint64_t *value) {                    \
        line_read(c, i, count, value, tight_entry, bmi2);                                          \
    }                                                                                              \
    const ebi_store ebi_frozen_line_##machine = {.name = "line",                                   \
                                                 .open = tight_open,                               \
                                                 .get = tight_get_##machine,                       \
                                                 .read = tight_read_##machine,                     \
                                                 .address = tight_address,                         \
                                                 .check = tight_check,                             \
                                                 .frozen_bytes = tight_frozen_bytes,               \
                                                 .freeze = tight_freeze,                           \
                                                 .fits = tight_fits};
TIGHT_STORE(bmi2, EBI_BMI2, true)
TIGHT_STORE(portable, , false)
