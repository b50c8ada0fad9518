/* keys.h - keys as callers have them, for the files of the api that take some. */
#ifndef EBI_KEYS_H
#define EBI_KEYS_H
#include "base/decimal.h"
#include "filter.h"

/* Whether the filter takes all of the n keys; err.at is the first that it refuses. */
eb_status ebi_keys_check(const eb_filter *f, const eb_keys *k, size_t n, eb_error *err);
/* The hashes of keys that were checked, from the one at `from` on. */
void ebi_keys_hash(const eb_filter *f, const eb_keys *k, size_t from, size_t n, eb_hash *out);
/* The same keys as the bytes that are hashed.  Numbers are written into room, n of them. */
typedef struct ebi_keys_room {
    char bytes[EBI_DECIMAL_MAX];
} ebi_keys_room;
void ebi_keys_take(const eb_filter *f, const eb_keys *k, size_t from, size_t n, eb_key *out,
                   ebi_keys_room *room);
eb_status ebi_keys_hash_one(const eb_filter *f, const void *key, size_t len, eb_hash *out,
                            eb_error *err);
#endif
