/* side.h - a small exact table beside counters: 64-bit hash of a key to a count.
 *
 * Buckets of eight slots, two cache lines; a key lives in its own bucket or
 * nowhere, so the table never moves what it holds and a full bucket is the
 * caller's to judge.  Slots of a bucket are taken from the first on. */
#ifndef EB_SIDE_H
#define EB_SIDE_H
#include "base/hash.h"

enum { EB_SIDE_WAYS = 8 };

typedef struct eb_side_slot {
    eb_hash hash;
    uint64_t count; /* plus 1; 0: empty */
} eb_side_slot;

typedef struct eb_side {
    eb_side_slot *slots; /* buckets x EB_SIDE_WAYS */
    uint64_t buckets;
} eb_side;

EB_INLINE uint64_t ebi_side_home(const eb_side *t, eb_hash h) {
    return eb_scale(ebi_mix(h ^ UINT64_C(0x5DE7AB1E5DE7AB1E)), t->buckets);
}

EB_INLINE eb_side_slot *ebi_side_bucket(const eb_side *t, eb_hash h) {
    return t->slots + ebi_side_home(t, h) * EB_SIDE_WAYS;
}

/* The key's slot, or NULL. */
EB_INLINE eb_side_slot *ebi_side_find(const eb_side *t, eb_hash h) {
    eb_side_slot *const bucket = ebi_side_bucket(t, h);
    for (size_t i = 0; i < EB_SIDE_WAYS && bucket[i].count != 0; i++)
        if (bucket[i].hash == h) return bucket + i;
    return NULL;
}

/* Is every entry in its bucket, once, with a count up to `most`, no gap before it
 * and nothing in empty slots? */
bool ebi_side_check(const eb_side *t, uint64_t most);
#endif
