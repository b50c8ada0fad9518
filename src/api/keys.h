/* keys.h - checking and hashing the keys of callers, for the files of src/api/ that take some. */
#ifndef EBI_KEYS_H
#define EBI_KEYS_H
#include "base/decimal.h"
#include "filter.h"

/* Checks that the filter accepts all n keys.  Otherwise err.at is the first that it refuses. */
eb_status ebi_keys_check(const eb_filter *f, const eb_keys *k, size_t n, eb_error *err);
/* The hashes of n keys from `from` on, which must have been checked. */
void ebi_keys_hash(const eb_filter *f, const eb_keys *k, size_t from, size_t n, eb_hash *out);
/* The same keys as the bytes that are hashed.  Numbers are written into room, which has n
 * elements. */
typedef struct ebi_keys_room {
    char bytes[EBI_DECIMAL_MAX];
} ebi_keys_room;
void ebi_keys_take(const eb_filter *f, const eb_keys *k, size_t from, size_t n, eb_key *out,
                   ebi_keys_room *room);
eb_status ebi_keys_hash_one(const eb_filter *f, const void *key, size_t len, eb_hash *out,
                            eb_error *err);
#endif
