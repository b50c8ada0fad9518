/* keyset.h - distinct keys, exactly, with a count each, in memory of a fixed size.
 *
 *     | slots: 8 bytes each | arena: entries, one behind the other, 8-aligned |
 *
 * A slot holds half of a hash and the place of an entry; slots are probed in
 * order from the one that the hash points at.  There are so many that the arena
 * is full before three quarters of them are, whatever the keys. */
#ifndef EBI_KEYSET_H
#define EBI_KEYSET_H
#include "api/filter.h"

typedef struct ebi_keyset_slot {
    uint32_t tag;
    uint32_t place; /* in the arena, in words of 8 bytes, plus 1; 0: empty */
} ebi_keyset_slot;

typedef struct ebi_keyset_entry { /* its key follows */
    eb_hash hash;
    uint64_t count;
    uint64_t len;
} ebi_keyset_entry;
static_assert(sizeof(ebi_keyset_entry) == 24, "three words");

typedef struct ebi_keyset {
    eb_allocator mem;
    uint64_t bytes; /* of slots and arena together */
    ebi_keyset_slot *slots;
    uint64_t n_slots;
    uint8_t *arena;
    uint64_t room, used; /* bytes of the arena */
    uint64_t n;
} ebi_keyset;

enum { EBI_KEYSET_MIN = 1 << 10 };
#define EBI_KEYSET_MAX (UINT64_C(32) << 30)

eb_status ebi_keyset_open(ebi_keyset *s, uint64_t bytes, const eb_allocator *mem, eb_error *err);
void ebi_keyset_close(ebi_keyset *s);
void ebi_keyset_clear(ebi_keyset *s);

/* Entries stay where they are until the set is cleared or drops some. */
ebi_keyset_entry *ebi_keyset_find(const ebi_keyset *s, eb_hash h, eb_key key);
/* A key that is not there; NULL if there is no room. */
ebi_keyset_entry *ebi_keyset_put(ebi_keyset *s, eb_hash h, eb_key key, uint64_t count);
bool ebi_keyset_fits(const ebi_keyset *s, size_t len); /* a key of this length, if it were empty */
bool ebi_keyset_has_room(const ebi_keyset *s, const eb_key *keys, size_t n); /* for all of them */
/* From *at = 0 on; NULL at the end. */
ebi_keyset_entry *ebi_keyset_next(const ebi_keyset *s, uint64_t *at);
/* Drop the entries with ranks up to `most`; NULL: the rank is the count. */
typedef uint64_t ebi_keyset_rank(const void *ctx, const ebi_keyset_entry *e);
void ebi_keyset_drop(ebi_keyset *s, uint64_t most, ebi_keyset_rank *rank, const void *ctx);

EBI_INLINE uint64_t ebi_keyset_rank_of(const ebi_keyset_entry *e, ebi_keyset_rank *rank,
                                       const void *ctx) {
    return rank ? rank(ctx, e) : e->count;
}

EBI_INLINE uint64_t ebi_keyset_home(const ebi_keyset *s, eb_hash h) {
    return eb_scale(h, s->n_slots);
}

EBI_INLINE void ebi_keyset_prefetch(const ebi_keyset *s, eb_hash h) {
    ebi_prefetch_read(&s->slots[ebi_keyset_home(s, h)]);
}

/* The entry that the first slots point at, when these have come. */
EBI_INLINE void ebi_keyset_prefetch_entry(const ebi_keyset *s, eb_hash h) {
    enum { KEYSET_NEAR = 4 };
    const uint64_t home = ebi_keyset_home(s, h), end = ebi_min(home + KEYSET_NEAR, s->n_slots);
    for (uint64_t i = home; i < end; i++)
        if (s->slots[i].tag == (uint32_t)h && s->slots[i].place != 0) {
            const uint8_t *const entry = s->arena + (s->slots[i].place - UINT64_C(1)) * 8;
            ebi_prefetch_write(entry);
            ebi_prefetch_read(entry + sizeof(ebi_keyset_entry) + 16); /* the end of a short key */
            return;
        }
}

EBI_INLINE eb_key ebi_keyset_key(const ebi_keyset_entry *e) {
    return (eb_key){e + 1, (size_t)e->len};
}
#endif
