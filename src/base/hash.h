/* hash.h - from keys to 64-bit hashes, and from one hash to more numbers.
 *
 * Two key hashes: XXH3 with a seed, for speed, and SipHash-1-3 with a 128-bit
 * key, for keys that an adversary may choose.  Positions come from fast.h, so
 * that inline tests and the library cannot drift apart. */
#ifndef EB_HASH_H
#define EB_HASH_H
#define EB_STATIC_ONLY
#include "bits.h"
#include <everbloom/fast.h>

enum { EB_HASH_XXH3, EB_HASH_SIP };

void ebi_hash_xxh3(uint64_t seed, const eb_key *keys, size_t n, eb_hash *out);
void ebi_hash_sip(const uint64_t key[2], const eb_key *keys, size_t n, eb_hash *out);
uint64_t ebi_checksum(const void *p, size_t n, uint64_t seed); /* XXH3 */

/* A bijection of 64-bit numbers without visible structure: a second, nearly
 * independent hash from the first, and seeds from small numbers (splitmix64's
 * finisher, Steele, Lea and Flood 2014). */
EB_INLINE uint64_t ebi_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}
#endif
