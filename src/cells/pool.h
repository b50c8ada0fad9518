/* pool.h - counters that borrow digits from a common pool, for decay filters with mode=optimised.
 *
 * A counter has one digit of 4 bits of its own.  Further digits are entries of the pool, in a chain
 * from the second-lowest digit to the highest.  So small counters take little memory, and all
 * counters share what the large ones need.  Published as the free counter pool and lookup table of
 * time-decaying filters.
 *
 *       a counter's word:   | link, 28 bits | lowest digit, 4 bits |
 *       a pool entry:       | owner, 32 bits | link, 28 bits | digit, 4 bits |
 *
 * A link is the number of a pool entry plus 1; 0 ends the chain.  The highest digit is never zero.
 * An entry's owner is the place of its counter, so that a chain can be followed both ways.  Free
 * entries have no owner and form a chain, too. */
#ifndef EBI_POOL_H
#define EBI_POOL_H
#include "base/bits.h"

enum { EBI_POOL_DIGITS = 11 }; /* of the largest counter: 44 bits */
#define EBI_POOL_MAX ((UINT64_C(1) << 28) - 2)

typedef struct ebi_pool {
    uint64_t *entry;
    uint64_t size;
    uint64_t *free;   /* link to the first free entry */
    uint64_t *in_use; /* entries with an owner */
} ebi_pool;

void ebi_pool_init(const ebi_pool *pool); /* all entries become free */
uint64_t ebi_pool_get(const ebi_pool *pool, uint32_t word);
/* Sets the counter at `place` to value < 2^44. false: the pool has not enough free entries, and
 * nothing was written. */
bool ebi_pool_set(const ebi_pool *pool, uint32_t place, uint32_t *word, uint64_t value);

/* For bytes from outside.  The length of the chain of a word, or -1 if it is not a chain of this
 * place; and whether the free entries and `used` others are all entries. */
int ebi_pool_chain(const ebi_pool *pool, uint32_t place, uint32_t word);
bool ebi_pool_check(const ebi_pool *pool, uint64_t used);
#endif
