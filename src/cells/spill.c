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
#include "bytes.h"

/* Spill table */

/* The golden ratio spreads neighbours evenly; counters of keys are random enough otherwise. */
static uint64_t spill_home(uint64_t slots, uint64_t i) {
    return eb_scale((i + 1) * UINT64_C(0x9E3779B97F4A7C15), slots);
}

static uint64_t spill_next(uint64_t slots, uint64_t at) {
    return at + 1 == slots ? 0 : at + 1;
}

/* The slot of counter i, or the empty one that ends its search. */
static uint64_t spill_find(const ebi_spill_slot *table, uint64_t slots, uint64_t i) {
    uint64_t at = spill_home(slots, i);
    while (table[at].index != 0 && table[at].index != i + 1) at = spill_next(slots, at);
    return at;
}

uint64_t ebi_spill_get(const ebi_spill_slot *table, uint64_t slots, uint64_t i) {
    return slots == 0 ? 0 : table[spill_find(table, slots, i)].extra;
}

/* Empty a slot and move later entries of the run back, so that searches still
 * end at the first empty slot. */
static void spill_remove(ebi_spill_slot *table, uint64_t slots, uint64_t hole) {
    assert(table[hole].index != 0);
    for (uint64_t at = spill_next(slots, hole); table[at].index != 0; at = spill_next(slots, at)) {
        const uint64_t home = spill_home(slots, table[at].index - 1);
        const uint64_t from_home = at >= home ? at - home : at + slots - home;
        const uint64_t from_hole = at >= hole ? at - hole : at + slots - hole;
        if (from_home < from_hole) continue;
        table[hole] = table[at];
        hole = at;
    }
    table[hole] = (ebi_spill_slot){0, 0};
}

bool ebi_spill_set(ebi_spill_slot *table, uint64_t slots, uint64_t *used, uint64_t i,
                   uint64_t extra) {
    assert(extra <= EBI_COUNTER_MAX && (slots == 0 || *used < slots));
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
    table[at] = (ebi_spill_slot){i + 1, extra};
    return true;
}

bool ebi_spill_check(const ebi_spill_slot *table, uint64_t slots, uint64_t used, uint64_t n) {
    uint64_t found = 0;
    if (slots > 0 && used >= slots) return false; /* a search would not end */
    for (uint64_t at = 0; at < slots; at++) found += table[at].index != 0;
    if (found != used) return false;
    for (uint64_t at = 0; at < slots; at++) {
        const ebi_spill_slot s = table[at];
        if (s.index == 0 ? s.extra != 0 : s.index > n || s.extra == 0 || s.extra > EBI_COUNTER_MAX)
            return false;
        if (s.index != 0 && spill_find(table, slots, s.index - 1) != at) return false;
    }
    return true;
}

/* All stores */

uint64_t ebi_counters_bytes(const ebi_store *store, uint64_t n, uint64_t bits) {
    if (bits == 0) bits = store->bits_usual;
    const uint64_t whole = n / 1000000 * bits + n % 1000000 * bits / 1000000;
    return sizeof(ebi_store_state) + ebi_round_up(whole / 8 + 1, 64) + store->bytes_more;
}

bool ebi_counters_plain(const ebi_store_state *state, size_t kept) {
    assert(kept <= EBI_COUNT_OF(state->reserved));
    uint64_t any = 0;
    for (size_t i = kept; i < EBI_COUNT_OF(state->reserved); i++) any |= state->reserved[i];
    return any == 0;
}

void ebi_source_read(const ebi_source *from, uint64_t first, uint64_t count, uint64_t *value) {
    assert(first + count <= from->counters->n);
    uint64_t index[64];
    for (uint64_t done = 0; done < count;) {
        const uint64_t n = ebi_min(count - done, EBI_COUNT_OF(index));
        for (uint64_t i = 0; i < n; i++) index[i] = first + done + i;
        from->store->read(from->counters, index, (size_t)n, value + done);
        done += n;
    }
}

/* u8 */

enum { SPILL_LARGE = EBI_U8_LARGE, SPILL_LOW = 32, SPILL_SATURATED = 255 };

static void spill_u8_open(ebi_counter_array *c) {
    assert(c->bytes >= sizeof *c->state + ebi_round_up(c->n, 64));
    c->cells = (uint8_t *)c->state + sizeof *c->state;
    c->table = (ebi_spill_slot *)(void *)(c->cells + ebi_round_up(c->n, 64));
    c->slots = (c->bytes - sizeof *c->state - ebi_round_up(c->n, 64)) / sizeof(ebi_spill_slot);
}

uint64_t ebi_u8_get_large(const ebi_counter_array *c, uint64_t i) {
    assert(c->cells[i] >= SPILL_LARGE);
    const uint64_t extra = ebi_spill_get(c->table, c->slots, i);
    return extra == 0 ? EBI_COUNTER_MAX : SPILL_LOW * extra + c->cells[i] % SPILL_LOW;
}

static uint64_t spill_u8_get(const ebi_counter_array *c, uint64_t i) {
    return ebi_u8_get(c, i);
}

static void spill_u8_read(const ebi_counter_array *c, const uint64_t *i, size_t count,
                          uint64_t *value) {
    for (size_t j = 0; j < count; j++) value[j] = spill_u8_get(c, i[j]);
}

static void spill_u8_set(const ebi_counter_array *c, uint64_t i, uint64_t value) {
    assert(value <= EBI_COUNTER_MAX);
    const bool entry = value >= SPILL_LARGE && value < EBI_COUNTER_MAX;
    const bool kept =
        ebi_spill_set(c->table, c->slots, &c->state->spilled, i, entry ? value / SPILL_LOW : 0);
    const bool full = !kept || value == EBI_COUNTER_MAX;
    c->cells[i] = (uint8_t)(full    ? SPILL_SATURATED
                            : entry ? SPILL_LARGE + value % SPILL_LOW
                                    : value);
    c->state->saturated += full;
}

static void spill_u8_carry(const ebi_counter_array *c, uint64_t i, uint64_t by) {
    const uint64_t value = spill_u8_get(c, i);
    if (by > 0 && value < EBI_COUNTER_MAX) spill_u8_set(c, i, ebi_counter_sum(value, by));
}

EBI_INLINE void spill_u8_grow(const ebi_counter_array *c, uint64_t i, uint64_t by) {
    const unsigned cell = c->cells[i];
    if (cell + by <= ebi_u8_end(cell))
        c->cells[i] = (uint8_t)(cell + by);
    else
        spill_u8_carry(c, i, by);
}

static uint64_t spill_u8_add(const ebi_counter_array *c, uint64_t i, uint64_t by) {
    const uint64_t before = spill_u8_get(c, i);
    spill_u8_grow(c, i, by);
    return before;
}

void ebi_u8_raise_large(const ebi_counter_array *c, const uint64_t *i, size_t count, uint64_t by) {
    for (size_t j = 0; j < count; j++) spill_u8_grow(c, i[j], by);
}

static bool spill_u8_raise(const ebi_counter_array *c, const uint64_t *i, size_t count,
                           uint64_t by) {
    return ebi_u8_raise(c, i, count, by);
}

/* A key that came often has all its counters in the table, and the least one must be known.  Which
 * counters are there is a coin's throw, so it is no branch: for others their cell is asked for,
 * which has come already.  A table that the second level of cache can hold needs none of this. */
static void spill_u8_ready(const ebi_counter_array *c, const uint64_t *i, size_t count) {
    enum { SPILL_CACHED = 1 << 15 }; /* slots */
    if (c->slots <= SPILL_CACHED) return;
    const uint8_t *const cells = c->cells;
    const uint64_t table = (uint64_t)((const uint8_t *)c->table - cells);
    for (size_t j = 0; j < count; j++) {
        const uint64_t slot = table + sizeof *c->table * spill_home(c->slots, i[j]);
        const uint64_t large = 0 - (uint64_t)(cells[i[j]] >= SPILL_LARGE);
        ebi_prefetch_read(cells + (i[j] ^ ((i[j] ^ slot) & large)));
    }
}

uint64_t ebi_u8_lift_large(const ebi_counter_array *c, const uint64_t *i, size_t count,
                           uint64_t by) {
    assert(count > 0 && count <= EBI_TOGETHER_MAX);
    const ebi_counter_array own = *c; /* so no cell that is written can be part of it */
    uint64_t value[EBI_TOGETHER_MAX], least = EBI_COUNTER_MAX;
    for (size_t j = 0; j < count; j++) least = ebi_min(least, value[j] = spill_u8_get(&own, i[j]));
    const uint64_t goal = ebi_counter_sum(least, by);
    for (size_t j = 0; j < count; j++)
        if (value[j] < goal) spill_u8_grow(&own, i[j], goal - value[j]);
    return least;
}

static uint64_t spill_u8_lift(const ebi_counter_array *c, const uint64_t *i, size_t count,
                              uint64_t by) {
    return ebi_u8_lift(c, i, count, by);
}

static void spill_u8_sub(const ebi_counter_array *c, uint64_t i, uint64_t by) {
    const uint64_t value = spill_u8_get(c, i);
    assert(by <= value);
    if (value < SPILL_LARGE)
        c->cells[i] = (uint8_t)(value - by);
    else if (value < EBI_COUNTER_MAX)
        spill_u8_set(c, i, value - by);
}

static const uint8_t *spill_u8_address(const ebi_counter_array *c, uint64_t i) {
    return c->cells + i;
}

static bool spill_u8_check(const ebi_counter_array *c) {
    if (!ebi_counters_plain(c->state, 0)) return false;
    for (uint64_t i = c->n; i < ebi_round_up(c->n, 64); i++)
        if (c->cells[i] != 0) return false;
    if (!ebi_spill_check(c->table, c->slots, c->state->spilled, c->n)) return false;
    uint64_t large = 0, full = 0;
    for (uint64_t i = 0; i < c->n; i++) {
        large += c->cells[i] >= SPILL_LARGE && c->cells[i] < SPILL_SATURATED;
        full += c->cells[i] == SPILL_SATURATED;
    }
    for (uint64_t at = 0; at < c->slots; at++) {
        const ebi_spill_slot s = c->table[at];
        if (s.index == 0) continue;
        if (s.extra < SPILL_LARGE / SPILL_LOW || s.extra > EBI_COUNTER_MAX / SPILL_LOW)
            return false;
        if (c->cells[s.index - 1] < SPILL_LARGE) return false;
        *(c->cells[s.index - 1] == SPILL_SATURATED ? &full : &large) -= 1;
    }
    return large == 0 && full == c->state->saturated;
}

const ebi_store ebi_store_u8 = {.name = "u8",
                                .bits_least = 8100000,
                                .bits_usual = 10000000, /* room for one large in about 64 */
                                .open = spill_u8_open,
                                .get = spill_u8_get,
                                .read = spill_u8_read,
                                .add = spill_u8_add,
                                .raise = spill_u8_raise,
                                .lift = spill_u8_lift,
                                .ready = spill_u8_ready,
                                .sub = spill_u8_sub,
                                .address = spill_u8_address,
                                .check = spill_u8_check};

/* u32: | state, 64 bytes | n words |; the largest word is a saturated counter. */

static void spill_u32_open(ebi_counter_array *c) {
    assert(c->bytes >= sizeof *c->state + 4 * c->n);
    c->cells = (uint8_t *)c->state + sizeof *c->state;
}

static uint64_t spill_u32_get(const ebi_counter_array *c, uint64_t i) {
    return ebi_u32_get(c, i);
}

static void spill_u32_read(const ebi_counter_array *c, const uint64_t *i, size_t count,
                           uint64_t *value) {
    for (size_t j = 0; j < count; j++) value[j] = spill_u32_get(c, i[j]);
}

static uint64_t spill_u32_add(const ebi_counter_array *c, uint64_t i, uint64_t by) {
    return ebi_u32_add(c, i, by);
}

static bool spill_u32_raise(const ebi_counter_array *c, const uint64_t *i, size_t count,
                            uint64_t by) {
    return ebi_u32_raise(c, i, count, by);
}

static uint64_t spill_u32_lift(const ebi_counter_array *c, const uint64_t *i, size_t count,
                               uint64_t by) {
    return ebi_u32_lift(c, i, count, by);
}

static void spill_u32_sub(const ebi_counter_array *c, uint64_t i, uint64_t by) {
    const uint64_t value = spill_u32_get(c, i);
    assert(by <= value);
    if (value < EBI_COUNTER_MAX) ebi_u32_set(c, i, value - by);
}

static const uint8_t *spill_u32_address(const ebi_counter_array *c, uint64_t i) {
    return c->cells + 4 * i;
}

static bool spill_u32_check(const ebi_counter_array *c) {
    uint64_t any = c->state->spilled, saturated = 0;
    for (uint64_t i = 0; i < c->n; i++) saturated += spill_u32_get(c, i) == EBI_COUNTER_MAX;
    for (uint64_t i = 4 * c->n; i < c->bytes - sizeof *c->state; i++) any |= c->cells[i];
    return any == 0 && ebi_counters_plain(c->state, 0) && saturated == c->state->saturated;
}

const ebi_store ebi_store_u32 = {.name = "u32",
                                 .bits_least = 32000000,
                                 .bits_usual = 32000000,
                                 .open = spill_u32_open,
                                 .get = spill_u32_get,
                                 .read = spill_u32_read,
                                 .add = spill_u32_add,
                                 .raise = spill_u32_raise,
                                 .lift = spill_u32_lift,
                                 .sub = spill_u32_sub,
                                 .address = spill_u32_address,
                                 .check = spill_u32_check};
