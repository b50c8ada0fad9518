/* spill.c - the spill table of counter stores, and the store u8 that lives by it.
 *
 *     u8:  | state, 64 bytes | n bytes, padded to 64 | slots of 16 bytes |
 *
 * A byte of 0..223 is the value.  Larger ones have their last five bits in the byte,
 * above 224, and the others in the counter's entry in the table, which so is touched
 * by one add of 32.  When the table is full, a counter that needs a new entry is
 * saturated, and so is one that reaches the largest number: 255 without an entry,
 * for good. */
#include "base/hash.h"
#include "counters.h"

/* Spill table */

/* The golden ratio spreads neighbours evenly; counters of keys are random enough otherwise. */
static uint64_t spill_home(uint64_t slots, uint64_t i) {
    return eb_scale((i + 1) * UINT64_C(0x9E3779B97F4A7C15), slots);
}

static uint64_t spill_next(uint64_t slots, uint64_t at) {
    return at + 1 == slots ? 0 : at + 1;
}

/* The slot of counter i, or the empty one that ends its search. */
static uint64_t spill_find(const eb_spill_slot *table, uint64_t slots, uint64_t i) {
    uint64_t at = spill_home(slots, i);
    while (table[at].index != 0 && table[at].index != i + 1) at = spill_next(slots, at);
    return at;
}

uint64_t ebi_spill_get(const eb_spill_slot *table, uint64_t slots, uint64_t i) {
    return slots == 0 ? 0 : table[spill_find(table, slots, i)].extra;
}

/* Empty a slot and move later entries of the run back, so that searches still
 * end at the first empty slot. */
static void spill_remove(eb_spill_slot *table, uint64_t slots, uint64_t hole) {
    for (uint64_t at = spill_next(slots, hole); table[at].index != 0; at = spill_next(slots, at)) {
        const uint64_t home = spill_home(slots, table[at].index - 1);
        const uint64_t from_home = at >= home ? at - home : at + slots - home;
        const uint64_t from_hole = at >= hole ? at - hole : at + slots - hole;
        if (from_home < from_hole) continue;
        table[hole] = table[at];
        hole = at;
    }
    table[hole] = (eb_spill_slot){0, 0};
}

bool ebi_spill_set(eb_spill_slot *table, uint64_t slots, uint64_t *used, uint64_t i,
                   uint64_t extra) {
    if (slots == 0) return extra == 0;
    const uint64_t at = spill_find(table, slots, i);
    const bool there = table[at].index != 0;
    if (extra == 0) {
        if (there) {
            spill_remove(table, slots, at);
            --*used;
        }
        return true;
    }
    if (!there && *used >= slots - slots / 8 - 1) return false;
    *used += !there;
    table[at] = (eb_spill_slot){i + 1, extra};
    return true;
}

bool ebi_spill_check(const eb_spill_slot *table, uint64_t slots, uint64_t used, uint64_t n) {
    uint64_t found = 0;
    if (slots > 0 && used >= slots) return false; /* a search would not end */
    for (uint64_t at = 0; at < slots; at++) found += table[at].index != 0;
    if (found != used) return false;
    for (uint64_t at = 0; at < slots; at++) {
        const eb_spill_slot s = table[at];
        if (s.index == 0 ? s.extra != 0 : s.index > n || s.extra == 0 || s.extra > EB_COUNTER_MAX)
            return false;
        if (s.index != 0 && spill_find(table, slots, s.index - 1) != at) return false;
    }
    return true;
}

/* All stores */

uint64_t ebi_counters_bytes(const eb_store *store, uint64_t n, uint64_t bits) {
    const uint64_t whole = n / 1000000 * bits + n % 1000000 * bits / 1000000;
    return sizeof(eb_store_state) + ebi_round_up(whole / 8 + 1, 64) + store->bytes_more;
}

bool ebi_counters_plain(const eb_store_state *state, size_t kept) {
    uint64_t any = 0;
    for (size_t i = kept; i < EB_COUNT_OF(state->reserved); i++) any |= state->reserved[i];
    return any == 0;
}

void ebi_source_read(const eb_source *from, uint64_t first, uint64_t count, uint64_t *value) {
    uint64_t index[64];
    for (uint64_t done = 0; done < count;) {
        const uint64_t n = ebi_min(count - done, EB_COUNT_OF(index));
        for (uint64_t i = 0; i < n; i++) index[i] = first + done + i;
        from->store->read(from->counters, index, n, value + done);
        done += n;
    }
}

/* u8 */

enum { LARGE = 224, LOW = 32, SATURATED = 255 };

static void u8_open(eb_counters *c) {
    c->cells = (uint8_t *)c->state + sizeof *c->state;
    c->table = (eb_spill_slot *)(void *)(c->cells + ebi_round_up(c->n, 64));
    c->slots = (c->bytes - sizeof *c->state - ebi_round_up(c->n, 64)) / sizeof(eb_spill_slot);
}

EB_INLINE uint64_t u8_get_large(const eb_counters *c, uint64_t i) {
    const uint64_t extra = ebi_spill_get(c->table, c->slots, i);
    return extra == 0 ? EB_COUNTER_MAX : LOW * extra + c->cells[i] % LOW;
}

EB_INLINE uint64_t u8_get(const eb_counters *c, uint64_t i) {
    return c->cells[i] < LARGE ? c->cells[i] : u8_get_large(c, i);
}

static void u8_read(const eb_counters *c, const uint64_t *i, size_t count, uint64_t *value) {
    for (size_t j = 0; j < count; j++) value[j] = u8_get(c, i[j]);
}

static void u8_set(const eb_counters *c, uint64_t i, uint64_t value) {
    const bool entry = value >= LARGE && value < EB_COUNTER_MAX;
    const bool kept =
        ebi_spill_set(c->table, c->slots, &c->state->spilled, i, entry ? value / LOW : 0);
    const bool full = !kept || value == EB_COUNTER_MAX;
    c->cells[i] = (uint8_t)(full ? SATURATED : entry ? LARGE + value % LOW : value);
    c->state->saturated += full;
}

/* The largest byte that this one can grow to without the table. */
EB_INLINE unsigned u8_end(unsigned cell) {
    return cell < LARGE ? LARGE - 1 : UINT8_MAX;
}

static void u8_carry(const eb_counters *c, uint64_t i, uint64_t by) {
    const uint64_t value = u8_get(c, i);
    if (by > 0 && value < EB_COUNTER_MAX) u8_set(c, i, ebi_counter_sum(value, by));
}

EB_INLINE void u8_grow(const eb_counters *c, uint64_t i, uint64_t by) {
    const unsigned cell = c->cells[i];
    if (cell + by <= u8_end(cell))
        c->cells[i] = (uint8_t)(cell + by);
    else
        u8_carry(c, i, by);
}

static uint64_t u8_add(const eb_counters *c, uint64_t i, uint64_t by) {
    const uint64_t before = u8_get(c, i);
    u8_grow(c, i, by);
    return before;
}

static bool u8_raise(const eb_counters *c, const uint64_t *i, size_t count, uint64_t by) {
    unsigned least = UINT8_MAX;
    bool carry = false;
    for (size_t j = 0; j < count; j++) {
        const unsigned cell = c->cells[i[j]];
        least = cell < least ? cell : least;
        carry |= cell + by > u8_end(cell);
    }
    if (!carry)
        for (size_t j = 0; j < count; j++) c->cells[i[j]] = (uint8_t)(c->cells[i[j]] + by);
    else
        for (size_t j = 0; j < count; j++) u8_grow(c, i[j], by);
    return least > 0;
}

/* A key that came often has all its counters in the table, and the least one must be known.  Which
 * counters are there is a coin's throw, so it is no branch: for others their cell is asked for,
 * which has come already.  A table that the second level of cache can hold needs none of this. */
static void u8_ready(const eb_counters *c, const uint64_t *i, size_t count) {
    enum { CACHED = 1 << 15 }; /* slots */
    if (c->slots <= CACHED) return;
    const uint8_t *const cells = c->cells;
    const uint64_t table = (uint64_t)((const uint8_t *)c->table - cells);
    for (size_t j = 0; j < count; j++) {
        const uint64_t slot = table + sizeof *c->table * spill_home(c->slots, i[j]);
        const uint64_t large = 0 - (uint64_t)(cells[i[j]] >= LARGE);
        ebi_prefetch_read(cells + (i[j] ^ ((i[j] ^ slot) & large)));
    }
}

static uint64_t u8_lift_large(const eb_counters *c, const uint64_t *i, size_t count, uint64_t by) {
    const eb_counters own = *c; /* so no cell that is written can be part of it */
    uint64_t value[EB_TOGETHER_MAX], least = EB_COUNTER_MAX;
    for (size_t j = 0; j < count; j++) least = ebi_min(least, value[j] = u8_get(&own, i[j]));
    const uint64_t goal = ebi_counter_sum(least, by);
    for (size_t j = 0; j < count; j++)
        if (value[j] < goal) u8_grow(&own, i[j], goal - value[j]);
    return least;
}

/* As long as the goal is a byte, larger counters need no look at the table. */
static uint64_t u8_lift(const eb_counters *c, const uint64_t *i, size_t count, uint64_t by) {
    uint64_t least = UINT8_MAX;
    for (size_t j = 0; j < count; j++) least = ebi_min(least, c->cells[i[j]]);
    if (least + by >= LARGE) return u8_lift_large(c, i, count, by);
    for (size_t j = 0; j < count; j++)
        c->cells[i[j]] = (uint8_t)ebi_max(c->cells[i[j]], least + by);
    return least;
}

static void u8_sub(const eb_counters *c, uint64_t i, uint64_t by) {
    const uint64_t value = u8_get(c, i);
    assert(by <= value);
    if (value < LARGE)
        c->cells[i] = (uint8_t)(value - by);
    else if (value < EB_COUNTER_MAX)
        u8_set(c, i, value - by);
}

static const uint8_t *u8_address(const eb_counters *c, uint64_t i) {
    return c->cells + i;
}

static bool u8_check(const eb_counters *c) {
    if (!ebi_counters_plain(c->state, 0)) return false;
    for (uint64_t i = c->n; i < ebi_round_up(c->n, 64); i++)
        if (c->cells[i] != 0) return false;
    if (!ebi_spill_check(c->table, c->slots, c->state->spilled, c->n)) return false;
    uint64_t large = 0, full = 0;
    for (uint64_t i = 0; i < c->n; i++) {
        large += c->cells[i] >= LARGE && c->cells[i] < SATURATED;
        full += c->cells[i] == SATURATED;
    }
    for (uint64_t at = 0; at < c->slots; at++) {
        const eb_spill_slot s = c->table[at];
        if (s.index == 0) continue;
        if (s.extra < LARGE / LOW || s.extra > EB_COUNTER_MAX / LOW) return false;
        if (c->cells[s.index - 1] < LARGE) return false;
        *(c->cells[s.index - 1] == SATURATED ? &full : &large) -= 1;
    }
    return large == 0 && full == c->state->saturated;
}

const eb_store ebi_store_u8 = {.name = "u8",
                               .bits_least = 8100000,
                               .bits_usual = 10000000, /* room for one large in about 64 */
                               .open = u8_open,
                               .get = u8_get,
                               .read = u8_read,
                               .add = u8_add,
                               .raise = u8_raise,
                               .lift = u8_lift,
                               .ready = u8_ready,
                               .sub = u8_sub,
                               .address = u8_address,
                               .check = u8_check};

/* u32: | state, 64 bytes | n words |; the largest word is a saturated counter. */

static void u32_open(eb_counters *c) {
    c->cells = (uint8_t *)c->state + sizeof *c->state;
}

static uint64_t u32_get(const eb_counters *c, uint64_t i) {
    uint32_t word;
    memcpy(&word, c->cells + 4 * i, sizeof word);
    return word == UINT32_MAX ? EB_COUNTER_MAX : word;
}

static void u32_read(const eb_counters *c, const uint64_t *i, size_t count, uint64_t *value) {
    for (size_t j = 0; j < count; j++) value[j] = u32_get(c, i[j]);
}

static void u32_set(const eb_counters *c, uint64_t i, uint64_t value) {
    const uint32_t word = (uint32_t)ebi_min(value, UINT32_MAX);
    memcpy(c->cells + 4 * i, &word, sizeof word);
    if (word == UINT32_MAX) c->state->saturated++;
}

static uint64_t u32_add(const eb_counters *c, uint64_t i, uint64_t by) {
    const uint64_t value = u32_get(c, i);
    if (value < EB_COUNTER_MAX) u32_set(c, i, ebi_counter_sum(value, by));
    return value;
}

static bool u32_raise(const eb_counters *c, const uint64_t *i, size_t count, uint64_t by) {
    return ebi_raise_each(c, i, count, by, u32_add);
}

static uint64_t u32_lift(const eb_counters *c, const uint64_t *i, size_t count, uint64_t by) {
    return ebi_lift_each(c, i, count, by, u32_get, u32_add);
}

static void u32_sub(const eb_counters *c, uint64_t i, uint64_t by) {
    const uint64_t value = u32_get(c, i);
    assert(by <= value);
    if (value < EB_COUNTER_MAX) u32_set(c, i, value - by);
}

static const uint8_t *u32_address(const eb_counters *c, uint64_t i) {
    return c->cells + 4 * i;
}

static bool u32_check(const eb_counters *c) {
    uint64_t any = c->state->spilled, saturated = 0;
    for (uint64_t i = 0; i < c->n; i++) saturated += u32_get(c, i) == EB_COUNTER_MAX;
    for (uint64_t i = 4 * c->n; i < c->bytes - sizeof *c->state; i++) any |= c->cells[i];
    return any == 0 && ebi_counters_plain(c->state, 0) && saturated == c->state->saturated;
}

const eb_store ebi_store_u32 = {.name = "u32",
                                .bits_least = 32000000,
                                .bits_usual = 32000000,
                                .open = u32_open,
                                .get = u32_get,
                                .read = u32_read,
                                .add = u32_add,
                                .raise = u32_raise,
                                .lift = u32_lift,
                                .sub = u32_sub,
                                .address = u32_address,
                                .check = u32_check};
