/* hash.h - from keys to 64-bit hashes, and from one hash to further numbers.
 *
 * There are two hashes of keys: XXH3 with a seed, which is fast, and SipHash-1-3 with a 128-bit
 * key, for keys that an adversary may choose.  Positions come from experimental.h, so that programs
 * that test filters inline compute the same ones as the library. */
#ifndef EBI_HASH_H
#define EBI_HASH_H
#include "bits.h"
#include <everbloom/experimental.h>

enum { EBI_HASH_XXH3, EBI_HASH_SIP };

void ebi_hash_xxh3(uint64_t seed, const eb_key *keys, size_t n, eb_hash *out);
eb_hash ebi_hash_xxh3_one(uint64_t seed, const void *key, size_t len);
/* Hashes many keys: of equal width, or between offsets (already checked).  Any alignment will do.
 */
void ebi_hash_xxh3_column(uint64_t seed, const void *data, size_t width, ptrdiff_t stride, size_t n,
                          eb_hash *out);
void ebi_hash_xxh3_offsets32(uint64_t seed, const void *data, const void *offsets, size_t n,
                             eb_hash *out);
void ebi_hash_xxh3_offsets64(uint64_t seed, const void *data, const void *offsets, size_t n,
                             eb_hash *out);
void ebi_hash_sip(const uint64_t key[2], const eb_key *keys, size_t n, eb_hash *out);
eb_hash ebi_hash_sip_one(const uint64_t key[2], const void *text, size_t len);
uint64_t ebi_checksum(const void *p, size_t n, uint64_t seed);  /* XXH3, 64 bits */
void ebi_checksum128(const void *p, size_t n, uint64_t out[2]); /* XXH3, 128 bits, low half first */

/* A bijection of 64-bit numbers whose output looks random: the finisher of splitmix64 (Steele, Lea
 * and Flood 2014).  It makes a second, nearly independent hash from the first, and seeds from small
 * numbers. */
EBI_INLINE uint64_t ebi_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}
#endif
