/* spill.c - the spill table of counter stores, and the store u8 that lives by it.
 *
 *     u8:  | state, 64 bytes | n bytes, padded to 64 | slots of 16 bytes |
 *
 * A byte of 0..254 is the value; with 255 the value is 254 plus the counter's
 * entry in the table.  When the table is full, a counter that needs a new entry
 * is saturated: 255 without an entry, for good. */
#include "base/hash.h"
#include "counters.h"

/* Spill table */

static uint64_t spill_home(uint64_t slots, uint64_t i) {
    return eb_scale(ebi_mix(i + 1), slots);
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

/* u8 */

enum { LARGEST = 254, SPILLED = 255 };

typedef struct u8_parts {
    eb_store_state *state;
    uint8_t *byte;
    eb_spill_slot *table;
    uint64_t slots;
} u8_parts;

static u8_parts u8_open(const uint8_t *segment, uint64_t n, uint64_t bytes) {
    const uint64_t table = sizeof(eb_store_state) + ebi_round_up(n, 64);
    union {
        const uint8_t *in;
        uint8_t *out;
    } pun = {.in = segment}; /* writers come with a segment that is theirs to write */
    return (u8_parts){(eb_store_state *)(void *)pun.out, pun.out + sizeof(eb_store_state),
                      (eb_spill_slot *)(void *)(pun.out + table),
                      (bytes - table) / sizeof(eb_spill_slot)};
}

static uint64_t u8_get(const uint8_t *segment, uint64_t n, uint64_t bytes, uint64_t i) {
    const uint8_t byte = segment[sizeof(eb_store_state) + i];
    if (byte <= LARGEST) return byte;
    const u8_parts s = u8_open(segment, n, bytes);
    const uint64_t extra = ebi_spill_get(s.table, s.slots, i);
    return extra == 0 ? EB_COUNTER_MAX : ebi_counter_sum(LARGEST, extra);
}

static void u8_set(uint8_t *segment, uint64_t n, uint64_t bytes, uint64_t i, uint64_t value) {
    const u8_parts s = u8_open(segment, n, bytes);
    const uint64_t extra = value > LARGEST ? value - LARGEST : 0;
    s.byte[i] = (uint8_t)ebi_min(value, SPILLED);
    if (!ebi_spill_set(s.table, s.slots, &s.state->spilled, i, extra)) s.state->saturated++;
}

static void u8_add(uint8_t *segment, uint64_t n, uint64_t bytes, uint64_t i, uint64_t by) {
    uint8_t *const byte = segment + sizeof(eb_store_state) + i;
    if (*byte + by <= LARGEST) {
        *byte = (uint8_t)(*byte + by);
        return;
    }
    const uint64_t value = u8_get(segment, n, bytes, i);
    if (value < EB_COUNTER_MAX) u8_set(segment, n, bytes, i, ebi_counter_sum(value, by));
}

static void u8_sub(uint8_t *segment, uint64_t n, uint64_t bytes, uint64_t i, uint64_t by) {
    const uint64_t value = u8_get(segment, n, bytes, i);
    assert(by <= value);
    if (value < EB_COUNTER_MAX) u8_set(segment, n, bytes, i, value - by);
}

static const uint8_t *u8_address(const uint8_t *segment, uint64_t n, uint64_t bytes, uint64_t i) {
    (void)n, (void)bytes;
    return segment + sizeof(eb_store_state) + i;
}

static bool u8_check(const uint8_t *segment, uint64_t n, uint64_t bytes) {
    const u8_parts s = u8_open(segment, n, bytes);
    for (size_t i = 0; i < EB_COUNT_OF(s.state->reserved); i++)
        if (s.state->reserved[i] != 0) return false;
    for (uint64_t i = n; i < ebi_round_up(n, 64); i++)
        if (s.byte[i] != 0) return false;
    if (!ebi_spill_check(s.table, s.slots, s.state->spilled, n)) return false;
    uint64_t large = 0, with_entry = 0;
    for (uint64_t i = 0; i < n; i++) large += s.byte[i] == SPILLED;
    for (uint64_t at = 0; at < s.slots; at++)
        with_entry += s.table[at].index != 0 && s.byte[s.table[at].index - 1] == SPILLED;
    return with_entry == s.state->spilled && large == with_entry + s.state->saturated;
}

const eb_store ebi_store_u8 = {.name = "u8",
                               .bits_least = 8100000,
                               .bits_usual = 8250000,
                               .get = u8_get,
                               .add = u8_add,
                               .sub = u8_sub,
                               .address = u8_address,
                               .check = u8_check};

/* u32: | state, 64 bytes | n words |; the largest word is a saturated counter. */

static uint64_t u32_get(const uint8_t *segment, uint64_t n, uint64_t bytes, uint64_t i) {
    (void)n, (void)bytes;
    uint32_t word;
    memcpy(&word, segment + sizeof(eb_store_state) + 4 * i, sizeof word);
    return word == UINT32_MAX ? EB_COUNTER_MAX : word;
}

static void u32_set(uint8_t *segment, uint64_t i, uint64_t value) {
    const uint32_t word = (uint32_t)ebi_min(value, UINT32_MAX);
    memcpy(segment + sizeof(eb_store_state) + 4 * i, &word, sizeof word);
    if (word == UINT32_MAX) ((eb_store_state *)(void *)segment)->saturated++;
}

static void u32_add(uint8_t *segment, uint64_t n, uint64_t bytes, uint64_t i, uint64_t by) {
    const uint64_t value = u32_get(segment, n, bytes, i);
    if (value < EB_COUNTER_MAX) u32_set(segment, i, ebi_counter_sum(value, by));
}

static void u32_sub(uint8_t *segment, uint64_t n, uint64_t bytes, uint64_t i, uint64_t by) {
    const uint64_t value = u32_get(segment, n, bytes, i);
    assert(by <= value);
    if (value < EB_COUNTER_MAX) u32_set(segment, i, value - by);
}

static const uint8_t *u32_address(const uint8_t *segment, uint64_t n, uint64_t bytes, uint64_t i) {
    (void)n, (void)bytes;
    return segment + sizeof(eb_store_state) + 4 * i;
}

static bool u32_check(const uint8_t *segment, uint64_t n, uint64_t bytes) {
    const eb_store_state *const s = (const eb_store_state *)(const void *)segment;
    uint64_t any = s->spilled, saturated = 0;
    for (size_t i = 0; i < EB_COUNT_OF(s->reserved); i++) any |= s->reserved[i];
    for (uint64_t i = 0; i < n; i++) saturated += u32_get(segment, n, bytes, i) == EB_COUNTER_MAX;
    for (uint64_t i = sizeof *s + 4 * n; i < bytes; i++) any |= segment[i];
    return any == 0 && saturated == s->saturated;
}

const eb_store ebi_store_u32 = {.name = "u32",
                                .bits_least = 32000000,
                                .bits_usual = 32000000,
                                .get = u32_get,
                                .add = u32_add,
                                .sub = u32_sub,
                                .address = u32_address,
                                .check = u32_check};
