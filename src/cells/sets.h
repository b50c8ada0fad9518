/* sets.h - keys with their counts, in sets of 16: the list of a top filter.
 *
 *     set | 16 hashes, 8 bytes each
 *         | 16 x (upper count, 48 bits; bytes of the key that are kept, 15 bits; 1: it was longer)
 *         | 16 x (lower count, 48 bits; 16 bits of the set's own)
 *         | keys, back to back, in the order of the entries; zeros to the end
 *
 * The set's own bits are its rest (48 bits), its stamp (48 bits) and ten marks of 16 bits, which
 * are zero unless the list has a use for them.  An entry whose upper count is 0 is free, and all
 * zeros.
 *
 * A key that is not listed came at most `rest` times: whoever is refused or has to go leaves the
 * upper count there.  So a set from which nobody was ever turned away knows all its keys.  All
 * functions take a set at any address. */
#ifndef EBI_SETS_H
#define EBI_SETS_H
#include "base/base.h"
#include "cells/words.h"
#include <everbloom/everbloom.h>

enum {
    EBI_SET_ENTRIES = 16,
    EBI_SET_FIXED = 3 * 8 * EBI_SET_ENTRIES, /* bytes before the keys */
    EBI_SET_KEYS_MAX = 16384,                /* bytes of keys in a set */
    EBI_SET_MARKS = 10,
    EBI_SET_NONE = -1
};
#define EBI_SET_COUNT_MAX ((UINT64_C(1) << 48) - 1) /* stays */

typedef struct ebi_sets {
    uint8_t *first;
    uint64_t n, each; /* sets, and bytes of one */
} ebi_sets;

typedef struct ebi_set_entry { /* taken out of a set; its key stays where it was */
    eb_hash hash;
    uint64_t upper, lower;
    eb_key key;
    bool cut;
} ebi_set_entry;

EBI_INLINE uint8_t *ebi_set_at(const ebi_sets *s, uint64_t i) {
    assert(i < s->n && s->each > EBI_SET_FIXED);
    return s->first + i * s->each;
}

/* The most bytes that are kept of a key: so no key takes a whole set. */
EBI_INLINE size_t ebi_set_longest(const ebi_sets *s) {
    return (size_t)(s->each - EBI_SET_FIXED) / 2;
}

EBI_INLINE eb_hash ebi_set_hash(const uint8_t *set, int i) {
    assert(i >= 0 && i < EBI_SET_ENTRIES);
    return ebi_load64(set + 8 * i);
}

EBI_INLINE uint64_t ebi_set_upper(const uint8_t *set, int i) {
    assert(i >= 0 && i < EBI_SET_ENTRIES);
    return ebi_load64(set + 8 * (EBI_SET_ENTRIES + i)) & EBI_SET_COUNT_MAX;
}

EBI_INLINE uint64_t ebi_set_lower(const uint8_t *set, int i) {
    assert(i >= 0 && i < EBI_SET_ENTRIES);
    return ebi_load64(set + 8 * (2 * EBI_SET_ENTRIES + i)) & EBI_SET_COUNT_MAX;
}

/* The entry of a key, or EBI_SET_NONE. */
int ebi_set_find(const uint8_t *set, eb_hash h);
/* The used entry with the least upper count that is not among those of the mask; or none. */
int ebi_set_least(const uint8_t *set, unsigned but);
void ebi_set_counts(uint8_t *set, int i, uint64_t upper, uint64_t lower);
ebi_set_entry ebi_set_get(const uint8_t *set, int i);

uint64_t ebi_set_rest(const uint8_t *set);
uint64_t ebi_set_stamp(const uint8_t *set);
void ebi_set_raise_rest(uint8_t *set, uint64_t rest); /* to no less */
void ebi_set_put_rest(uint8_t *set, uint64_t rest);
void ebi_set_put_stamp(uint8_t *set, uint64_t stamp);
uint32_t ebi_set_mark(const uint8_t *set, uint64_t i);
void ebi_set_put_mark(uint8_t *set, uint64_t i, uint32_t mark);

/* Which entries must go so that a key of so many bytes with that count finds room: those with the
 * least counts, all of them less than its own.  false: the key is refused. */
bool ebi_set_room(const ebi_sets *s, const uint8_t *set, size_t len, uint64_t count,
                  unsigned *going);
void ebi_set_drop(const ebi_sets *s, uint8_t *set, int i);
/* There is room.  Only ebi_set_longest bytes of the key are kept. */
void ebi_set_put(const ebi_sets *s, uint8_t *set, const ebi_set_entry *e);
/* Can whatever lies there be worked with?  Stamps are the caller's to check.  marked: there may be
 * marks, and the bits of lower counts may mean anything. */
bool ebi_set_check(const ebi_sets *s, const uint8_t *set, bool marked);
#endif
