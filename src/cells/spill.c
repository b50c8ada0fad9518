/* spill.c - the spill table: a hash table for counters, or parts of them, that do not fit in their
 * place.
 *
 * Open addressing with linear probing.  Removing an entry moves later ones back, so no marks for
 * removed entries are needed. */
#include "base/hash.h"
#include "counters.h"

/* Multiplying by the golden ratio spreads neighbouring counters evenly.  Otherwise the counters of
 * keys are random enough. */
static uint64_t spill_home(uint64_t slots, uint64_t i) {
    return eb_scale((i + 1) * UINT64_C(0x9E3779B97F4A7C15), slots);
}

static uint64_t spill_next(uint64_t slots, uint64_t at) {
    return at + 1 == slots ? 0 : at + 1;
}

/* The slot of counter i, or the empty slot where the search for it ends. */
static uint64_t spill_find(const ebi_spill_slot *table, uint64_t slots, uint64_t i) {
    uint64_t at = spill_home(slots, i);
    while (table[at].index != 0 && table[at].index != i + 1) at = spill_next(slots, at);
    return at;
}

uint64_t ebi_spill_get(const ebi_spill_slot *table, uint64_t slots, uint64_t i) {
    return slots == 0 ? 0 : table[spill_find(table, slots, i)].extra;
}

/* Empties a slot and moves later entries of the run back, so that searches still end at the first
 * empty slot. */
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
    if (slots > 0 && used >= slots) return false; /* a search would never end */
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
