/* sets.c - keys with their counts, in sets of 16.  The layout is in sets.h. */
#include "sets.h"
#include <string.h>

enum { SETS_REST = 0, SETS_STAMP = 3, SETS_MARKS = 6, SETS_LEN = 48 };
static_assert(SETS_MARKS + EBI_SET_MARKS == EBI_SET_ENTRIES, "16 bits of each entry");
enum { SETS_CUT = 1 << 15 };

static uint8_t *sets_upper_at(uint8_t *set, int i) {
    return set + 8 * (EBI_SET_ENTRIES + i);
}

static uint8_t *sets_lower_at(uint8_t *set, int i) {
    return set + 8 * (2 * EBI_SET_ENTRIES + i);
}

static size_t sets_len(const uint8_t *set, int i) {
    const uint64_t word = ebi_load64(set + 8 * (EBI_SET_ENTRIES + i));
    return (size_t)(word >> SETS_LEN & (SETS_CUT - 1));
}

static size_t sets_used(const uint8_t *set, int entries) { /* bytes of keys of the first entries */
    assert(entries >= 0 && entries <= EBI_SET_ENTRIES);
    size_t sum = 0;
    for (int i = 0; i < entries; i++) sum += sets_len(set, i);
    return sum;
}

static const uint8_t *sets_key(const uint8_t *set, int i) {
    return set + EBI_SET_FIXED + sets_used(set, i);
}

int ebi_set_find(const uint8_t *set, eb_hash h) {
    unsigned same = 0;
    for (int i = 0; i < EBI_SET_ENTRIES; i++) same |= (unsigned)(ebi_set_hash(set, i) == h) << i;
    for (; same != 0; same &= same - 1) { /* 0 may be the hash of a key */
        const int i = (int)ebi_ctz(same);
        if (ebi_set_upper(set, i) > 0) return i;
    }
    return EBI_SET_NONE;
}

int ebi_set_least(const uint8_t *set, unsigned but) {
    uint64_t least = EBI_SET_COUNT_MAX + 1;
    int at = EBI_SET_NONE;
    for (int i = 0; i < EBI_SET_ENTRIES; i++) {
        const uint64_t upper = ebi_set_upper(set, i);
        if (upper == 0 || upper >= least || (but >> i & 1)) continue;
        least = upper;
        at = i;
    }
    return at;
}

void ebi_set_counts(uint8_t *set, int i, uint64_t upper, uint64_t lower) {
    assert(i >= 0 && i < EBI_SET_ENTRIES);
    uint8_t *const high = sets_upper_at(set, i), *const low = sets_lower_at(set, i);
    assert(upper > 0 && upper <= EBI_SET_COUNT_MAX && lower <= EBI_SET_COUNT_MAX);
    ebi_store64(high, (ebi_load64(high) & ~EBI_SET_COUNT_MAX) | upper);
    ebi_store64(low, (ebi_load64(low) & ~EBI_SET_COUNT_MAX) | lower);
}

ebi_set_entry ebi_set_get(const uint8_t *set, int i) {
    const uint64_t word = ebi_load64(set + 8 * (EBI_SET_ENTRIES + i));
    return (ebi_set_entry){.hash = ebi_set_hash(set, i),
                           .upper = ebi_set_upper(set, i),
                           .lower = ebi_set_lower(set, i),
                           .key = {sets_key(set, i), sets_len(set, i)},
                           .cut = (word >> SETS_LEN & SETS_CUT) != 0};
}

/* The set's own values: three times 16 bits, from the entry `at` on. */

static uint64_t sets_own(const uint8_t *set, int at) {
    uint64_t x = 0;
    for (int i = 0; i < 3; i++)
        x |= ebi_load64(set + 8 * (2 * EBI_SET_ENTRIES + at + i)) >> SETS_LEN << (16 * i);
    return x;
}

static void sets_put_own(uint8_t *set, int at, uint64_t x) {
    assert(x <= EBI_SET_COUNT_MAX);
    for (int i = 0; i < 3; i++) {
        uint8_t *const word = sets_lower_at(set, at + i);
        ebi_store64(word, (ebi_load64(word) & EBI_SET_COUNT_MAX) | x >> (16 * i) << SETS_LEN);
    }
}

uint64_t ebi_set_rest(const uint8_t *set) {
    return sets_own(set, SETS_REST);
}

uint64_t ebi_set_stamp(const uint8_t *set) {
    return sets_own(set, SETS_STAMP);
}

void ebi_set_raise_rest(uint8_t *set, uint64_t rest) {
    if (rest > ebi_set_rest(set)) ebi_set_put_rest(set, rest);
}

void ebi_set_put_rest(uint8_t *set, uint64_t rest) {
    sets_put_own(set, SETS_REST, rest);
}

void ebi_set_put_stamp(uint8_t *set, uint64_t stamp) {
    sets_put_own(set, SETS_STAMP, stamp);
}

uint32_t ebi_set_mark(const uint8_t *set, uint64_t i) {
    return (uint32_t)(ebi_load64(set + 8 * (2 * EBI_SET_ENTRIES + SETS_MARKS + i)) >> SETS_LEN);
}

void ebi_set_put_mark(uint8_t *set, uint64_t i, uint32_t mark) {
    uint8_t *const word = sets_lower_at(set, SETS_MARKS + (int)i);
    ebi_store64(word, (ebi_load64(word) & EBI_SET_COUNT_MAX) | (uint64_t)mark << SETS_LEN);
}

/* Adding and removing keys */

bool ebi_set_room(const ebi_sets *s, const uint8_t *set, size_t len, uint64_t count,
                  unsigned *going) {
    const size_t need = (size_t)ebi_min(len, ebi_set_longest(s));
    size_t left = (size_t)s->each - EBI_SET_FIXED - sets_used(set, EBI_SET_ENTRIES);
    int free_entries = 0;
    for (int i = 0; i < EBI_SET_ENTRIES; i++) free_entries += ebi_set_upper(set, i) == 0;
    *going = 0;
    while (free_entries == 0 || left < need) {
        const int least = ebi_set_least(set, *going);
        if (least == EBI_SET_NONE || ebi_set_upper(set, least) >= count) return false;
        *going |= 1u << least;
        left += sets_len(set, least);
        free_entries++;
    }
    return true;
}

void ebi_set_drop(const ebi_sets *s, uint8_t *set, int i) {
    assert(i >= 0 && i < EBI_SET_ENTRIES && ebi_set_upper(set, i) > 0);
    const size_t len = sets_len(set, i), before = sets_used(set, i);
    const size_t used = sets_used(set, EBI_SET_ENTRIES);
    uint8_t *const keys = set + EBI_SET_FIXED;
    assert(used <= s->each - EBI_SET_FIXED);
    memmove(keys + before, keys + before + len, used - before - len);
    memset(keys + used - len, 0, len);
    ebi_store64(set + 8 * i, 0);
    ebi_store64(sets_upper_at(set, i), 0);
    uint8_t *const low = sets_lower_at(set, i);
    ebi_store64(low, ebi_load64(low) & ~EBI_SET_COUNT_MAX);
    (void)s;
}

void ebi_set_put(const ebi_sets *s, uint8_t *set, const ebi_set_entry *e) {
    assert(ebi_set_find(set, e->hash) == EBI_SET_NONE);
    const size_t len = (size_t)ebi_min(e->key.len, ebi_set_longest(s));
    const uint64_t cut = e->cut || len < e->key.len ? SETS_CUT : 0;
    uint8_t *const keys = set + EBI_SET_FIXED;
    int i = 0;
    while (ebi_set_upper(set, i) > 0) i++;
    assert(i < EBI_SET_ENTRIES);
    const size_t before = sets_used(set, i), used = sets_used(set, EBI_SET_ENTRIES);
    assert(used + len <= s->each - EBI_SET_FIXED);
    memmove(keys + before + len, keys + before, used - before);
    if (len > 0) memcpy(keys + before, e->key.p, len);
    ebi_store64(set + 8 * i, e->hash);
    ebi_store64(sets_upper_at(set, i), (uint64_t)(len | cut) << SETS_LEN);
    ebi_set_counts(set, i, e->upper, e->lower);
}

/* Checking */

static bool sets_check_entry(const ebi_sets *s, const uint8_t *set, int i, bool marked) {
    const ebi_set_entry e = ebi_set_get(set, i);
    if (e.upper == 0) return e.hash == 0 && e.lower == 0 && e.key.len == 0 && !e.cut;
    if ((e.lower > e.upper && !marked) || e.key.len > ebi_set_longest(s)) return false;
    if (e.cut && e.key.len != ebi_set_longest(s)) return false;
    return ebi_set_find(set, e.hash) == i; /* a key is listed once */
}

bool ebi_set_check(const ebi_sets *s, const uint8_t *set, bool marked) {
    const size_t used = sets_used(set, EBI_SET_ENTRIES), room = (size_t)s->each - EBI_SET_FIXED;
    uint64_t any = 0;
    if (used > room) return false;
    for (unsigned i = 0; i < EBI_SET_MARKS && !marked; i++) any |= ebi_set_mark(set, i);
    for (int i = 0; i < EBI_SET_ENTRIES; i++)
        if (!sets_check_entry(s, set, i, marked)) return false;
    return any == 0 && ebi_is_zero(set + EBI_SET_FIXED + used, room - used);
}
