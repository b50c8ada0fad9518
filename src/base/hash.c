/* hash.c - XXH3, of keys and of blocks. */
#include "hash.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

void ebi_hash_xxh3(uint64_t seed, const eb_key *keys, size_t n, eb_hash *out) {
    for (size_t i = 0; i < n; i++) out[i] = XXH3_64bits_withSeed(keys[i].p, keys[i].len, seed);
}

uint64_t ebi_checksum(const void *p, size_t n, uint64_t seed) {
    return XXH3_64bits_withSeed(p, n, seed);
}

void ebi_checksum128(const void *p, size_t n, uint64_t out[2]) {
    const XXH128_hash_t sum = XXH3_128bits(p, n);
    out[0] = sum.low64;
    out[1] = sum.high64;
}
