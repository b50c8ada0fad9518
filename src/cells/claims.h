/* claims.h - what the keys of one call want to take from counters, added up before anything is
 * taken.
 *
 * A removal must fail as a whole if a counter holds less than all its keys together want to take.
 * So each key first claims its amounts in this table, which maps a counter to the sum of the claims
 * on it.  A call that fails has changed nothing. */
#ifndef EBI_CLAIMS_H
#define EBI_CLAIMS_H
#include "base/bits.h"
#include "base/hash.h"

typedef struct ebi_claim_slot {
    const void *array; /* NULL: empty */
    uint64_t place, amount;
} ebi_claim_slot;

typedef struct ebi_claims {
    ebi_claim_slot *table;
    uint64_t slots; /* more than there will be claims */
} ebi_claims;

/* The size of a table for so many claims. */
EBI_INLINE uint64_t ebi_claims_slots(uint64_t claims) {
    return claims + claims / 2 + 1;
}

/* Claims an amount of a counter that holds `there`. false: all claims together exceed it. */
EBI_INLINE bool ebi_claim(const ebi_claims *c, const void *array, uint64_t place, uint64_t amount,
                          uint64_t there) {
    assert(c->slots > 0 && array != NULL);
    uint64_t at = eb_scale(ebi_mix((uintptr_t)array ^ ebi_mix(place)), c->slots);
    while (c->table[at].array && (c->table[at].array != array || c->table[at].place != place))
        at = at + 1 == c->slots ? 0 : at + 1;
    ebi_claim_slot *const claim = &c->table[at];
    if (amount > there || claim->amount > there - amount) return false;
    *claim = (ebi_claim_slot){array, place, claim->amount + amount};
    return true;
}
#endif
