/* sets.h - keys with their counts, in sets of 16: the list of a top filter.
 *
 *       set | 16 hashes, 8 bytes each
 *           | 16 x (upper count, 48 bits; bytes of the key that are kept, 15 bits; 1: it was
 * longer) | 16 x (lower count, 48 bits; 16 bits that belong to the set) | keys without gaps, in the
 * order of the entries; zeros to the end
 *
 * The bits that belong to the set are its rest (48 bits), its stamp (48 bits) and ten marks of 16
 * bits, which are zero unless the list uses them.  An entry whose upper count is 0 is free, and all
 * zeros.
 *
 * The rest bounds what the set does not know: a key that is not listed occurred at most `rest`
 * times, because a key that is refused or removed leaves its upper count there.  A set that never
 * refused or removed a key knows all its keys.  All functions take a set at any address. */
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
#define EBI_SET_COUNT_MAX ((UINT64_C(1) << 48) - 1) /* a count that reaches this stays there */

typedef struct ebi_sets {
    uint8_t *first;
    uint64_t n, each; /* the number of sets, and the bytes of one */
} ebi_sets;

typedef struct ebi_set_entry { /* a copy, taken from a set; the key's bytes stay where they are */
    eb_hash hash;
    uint64_t upper, lower;
    eb_key key;
    bool cut;
} ebi_set_entry;

EBI_INLINE uint8_t *ebi_set_at(const ebi_sets *s, uint64_t i) {
    assert(i < s->n && s->each > EBI_SET_FIXED);
    return s->first + i * s->each;
}

/* How many bytes are kept of a key, at most, so that one key cannot fill a set. */
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
/* The entry in use with the least upper count, except those in the mask; or EBI_SET_NONE. */
int ebi_set_least(const uint8_t *set, unsigned but);
void ebi_set_counts(uint8_t *set, int i, uint64_t upper, uint64_t lower);
ebi_set_entry ebi_set_get(const uint8_t *set, int i);

uint64_t ebi_set_rest(const uint8_t *set);
uint64_t ebi_set_stamp(const uint8_t *set);
void ebi_set_raise_rest(uint8_t *set, uint64_t rest); /* raises the rest to at least this */
void ebi_set_put_rest(uint8_t *set, uint64_t rest);
void ebi_set_put_stamp(uint8_t *set, uint64_t stamp);
uint32_t ebi_set_mark(const uint8_t *set, uint64_t i);
void ebi_set_put_mark(uint8_t *set, uint64_t i, uint32_t mark);

/* Which entries must go so that a key of this length and count finds room: those with the least
 * counts, all of them below its own. false: the key is refused. */
bool ebi_set_room(const ebi_sets *s, const uint8_t *set, size_t len, uint64_t count,
                  unsigned *going);
void ebi_set_drop(const ebi_sets *s, uint8_t *set, int i);
/* Adds an entry.  There must be room.  Only ebi_set_longest bytes of the key are kept. */
void ebi_set_put(const ebi_sets *s, uint8_t *set, const ebi_set_entry *e);
/* Whether bytes from outside are a valid set.  The caller checks the stamp. marked: marks may be in
 * use, and lower counts may have any value. */
bool ebi_set_check(const ebi_sets *s, const uint8_t *set, bool marked);
#endif
