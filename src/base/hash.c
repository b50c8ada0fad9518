/* hash.c - XXH3 from the xxHash library: hashes of keys, and checksums of blocks and snapshots. */
#include "hash.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Most keys are short: loops are compiled with the cases of short keys in them, and call a function
 * for others.  A macro, since clang flattens only what the loop itself calls. */
#define HASH_LOOP __attribute__((flatten))
enum { HASH_SHORT = 32 };

__attribute__((noinline)) static eb_hash hash_long(uint64_t seed, const void *key, size_t len) {
    return XXH3_64bits_withSeed(key, len, seed);
}

#define HASH_KEY(seed, key, len)                                                                   \
    ((len) <= HASH_SHORT ? XXH3_64bits_withSeed(key, len, seed) : hash_long(seed, key, len))

HASH_LOOP void ebi_hash_xxh3(uint64_t seed, const eb_key *keys, size_t n, eb_hash *out) {
    for (size_t i = 0; i < n; i++) out[i] = HASH_KEY(seed, keys[i].p, keys[i].len);
}

eb_hash ebi_hash_xxh3_one(uint64_t seed, const void *key, size_t len) {
    return XXH3_64bits_withSeed(key, len, seed);
}

/* Inlined for each common width.  With the length known at compile time, XXH3 has no branches. */
static inline __attribute__((always_inline)) void hash_column(uint64_t seed, const uint8_t *p,
                                                              size_t width, ptrdiff_t stride,
                                                              size_t n, eb_hash *out) {
    for (size_t i = 0; i < n; i++)
        out[i] = XXH3_64bits_withSeed(p + (ptrdiff_t)i * stride, width, seed);
}

void ebi_hash_xxh3_column(uint64_t seed, const void *data, size_t width, ptrdiff_t stride, size_t n,
                          eb_hash *out) {
    switch (width) {
    case 4:
        hash_column(seed, data, 4, stride, n, out);
        return;
    case 8:
        hash_column(seed, data, 8, stride, n, out);
        return;
    case 16:
        hash_column(seed, data, 16, stride, n, out);
        return;
    default:
        hash_column(seed, data, width, stride, n, out);
    }
}

#define HASH_OFFSETS(type)                                                                         \
    type from, to;                                                                                 \
    const uint8_t *const bytes = data, *next = offsets;                                            \
    if (n == 0) return;                                                                            \
    memcpy(&from, next, sizeof from);                                                              \
    for (size_t i = 0; i < n; i++, from = to) {                                                    \
        memcpy(&to, next += sizeof to, sizeof to);                                                 \
        out[i] = HASH_KEY(seed, bytes + from, (size_t)(to - from));                                \
    }

HASH_LOOP void ebi_hash_xxh3_offsets32(uint64_t seed, const void *data, const void *offsets,
                                       size_t n, eb_hash *out){HASH_OFFSETS(int32_t)}

HASH_LOOP void ebi_hash_xxh3_offsets64(uint64_t seed, const void *data, const void *offsets,
                                       size_t n, eb_hash *out){HASH_OFFSETS(int64_t)}

uint64_t ebi_checksum(const void *p, size_t n, uint64_t seed) {
    return XXH3_64bits_withSeed(p, n, seed);
}

void ebi_checksum128(const void *p, size_t n, uint64_t out[2]) {
    const XXH128_hash_t sum = XXH3_128bits(p, n);
    out[0] = sum.low64;
    out[1] = sum.high64;
}
