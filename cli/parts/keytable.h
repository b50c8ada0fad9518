/* keytable.h - the distinct keys of a sample, exactly, in the order in which they first came. */
#ifndef EVERBLOOM_KEYTABLE_H
#define EVERBLOOM_KEYTABLE_H
#include "cli.h"

typedef struct table_key {
    eb_hash hash;
    size_t at, len; /* in bytes */
    uint64_t count; /* how often it came; of queries: those to learn from */
    uint64_t kept;  /* queries to measure with */
    bool member;
} table_key;

typedef struct keytable {
    table_key *keys;
    size_t n, keys_cap;
    char *bytes;
    size_t used, bytes_cap;
    size_t *slots; /* 0: empty, or 1 + the number of a key */
    size_t n_slots;
} keytable;

/* The key, or NULL if it is not there; keytable_get makes it be there.  Valid until the next get.
 */
table_key *keytable_find(const keytable *t, eb_hash hash, eb_key key);
table_key *keytable_get(keytable *t, eb_hash hash, eb_key key);
void keytable_free(keytable *t);
#endif
