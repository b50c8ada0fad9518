/* hash.c - key hashing. */
#include "hash.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

void ebi_hash_xxh3(uint64_t seed, const eb_key *keys, size_t n, eb_hash *out) {
    for (size_t i = 0; i < n; i++) out[i] = XXH3_64bits_withSeed(keys[i].p, keys[i].len, seed);
}

uint64_t ebi_checksum(const void *p, size_t n, uint64_t seed) {
    return XXH3_64bits_withSeed(p, n, seed);
}

typedef struct sip_state {
    uint64_t a, b, c, d;
} sip_state;

EB_INLINE uint64_t sip_rotl(uint64_t x, unsigned n) {
    return (x << n) | (x >> (64 - n));
}

EB_INLINE void sip_round(sip_state *s) {
    s->a += s->b;
    s->c += s->d;
    s->b = sip_rotl(s->b, 13) ^ s->a;
    s->d = sip_rotl(s->d, 16) ^ s->c;
    s->a = sip_rotl(s->a, 32);
    s->c += s->b;
    s->a += s->d;
    s->b = sip_rotl(s->b, 17) ^ s->c;
    s->d = sip_rotl(s->d, 21) ^ s->a;
    s->c = sip_rotl(s->c, 32);
}

/* SipHash with one round a word and three at the end. */
static uint64_t sip_hash(const uint64_t key[2], const uint8_t *p, size_t len) {
    sip_state s = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                   key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};
    size_t i = 0;
    for (; i + 8 <= len; i += 8) {
        const uint64_t word = ebi_load64(p + i);
        s.d ^= word;
        sip_round(&s);
        s.a ^= word;
    }
    uint64_t last = (uint64_t)len << 56;
    for (; i < len; i++) last |= (uint64_t)p[i] << (8 * (i & 7));
    s.d ^= last;
    sip_round(&s);
    s.a ^= last;
    s.c ^= 0xff;
    for (int round = 0; round < 3; round++) sip_round(&s);
    return s.a ^ s.b ^ s.c ^ s.d;
}

void ebi_hash_sip(const uint64_t key[2], const eb_key *keys, size_t n, eb_hash *out) {
    for (size_t i = 0; i < n; i++) out[i] = sip_hash(key, keys[i].p, keys[i].len);
}
