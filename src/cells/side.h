/* side.h - a small exact table beside counters, from the 64-bit hash of a key to its count.
 * spectral_rm keeps the keys in it that its counters would count wrongly.
 *
 * A key is in its own bucket of eight slots (two cache lines) or nowhere, so the table never moves
 * what it holds.  The caller decides what to do if the bucket is full.  The slots of a bucket are
 * used from the first on. */
#ifndef EBI_SIDE_H
#define EBI_SIDE_H
#include "base/hash.h"

enum { EBI_SIDE_WAYS = 8 };

typedef struct ebi_side_slot {
    eb_hash hash;
    uint64_t count; /* plus 1; 0: empty */
} ebi_side_slot;

typedef struct ebi_side {
    ebi_side_slot *slots; /* buckets x EBI_SIDE_WAYS */
    uint64_t buckets;
} ebi_side;

EBI_INLINE uint64_t ebi_side_home(const ebi_side *t, eb_hash h) {
    assert(t->buckets > 0);
    return eb_scale(ebi_mix(h ^ UINT64_C(0x5DE7AB1E5DE7AB1E)), t->buckets);
}

EBI_INLINE ebi_side_slot *ebi_side_bucket(const ebi_side *t, eb_hash h) {
    return t->slots + ebi_side_home(t, h) * EBI_SIDE_WAYS;
}

/* The key's slot, or NULL. */
EBI_INLINE ebi_side_slot *ebi_side_find(const ebi_side *t, eb_hash h) {
    ebi_side_slot *const bucket = ebi_side_bucket(t, h);
    for (size_t i = 0; i < EBI_SIDE_WAYS && bucket[i].count != 0; i++)
        if (bucket[i].hash == h) return bucket + i;
    return NULL;
}

/* Whether every entry is in its bucket, once, with a count of at most `most`, with no gap before
 * it, and empty slots are zero. */
bool ebi_side_check(const ebi_side *t, uint64_t most);
#endif
