/* sip.c - SipHash-1-3 (Aumasson and Bernstein 2012), the hash for keys that an adversary may
 * choose: one round for each word of the key, and three at the end.
 *
 * In a round every operation waits for the one before it, so hashing one key leaves most of the
 * processor idle.  Keys with the same number of words are therefore hashed side by side: two at a
 * time in ordinary registers, eight at a time with AVX-512, which can rotate 64-bit words. */
#include "hash.h"

EBI_INLINE uint64_t sip_rotl(uint64_t x, unsigned n) {
    assert(n >= 1 && n < 64);
    return (x << n) | (x >> (64 - n));
}

typedef struct sip_state {
    uint64_t a, b, c, d;
} sip_state;

EBI_INLINE sip_state sip_begin(const uint64_t key[2]) {
    return (sip_state){key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                       key[0] ^ UINT64_C(0x6c7967656e657261),
                       key[1] ^ UINT64_C(0x7465646279746573)};
}

EBI_INLINE void sip_round(sip_state *s) {
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

/* 1 to 7 bytes as a number.  Reads no byte outside of them. */
EBI_INLINE uint64_t sip_few(const uint8_t *p, unsigned n) {
    assert(n < 8);
    uint32_t low, high;
    if (n < 4) {
        const unsigned middle = n / 2, last = n - 1;
        return p[0] | (uint64_t)p[middle] << 8 * middle | (uint64_t)p[last] << 8 * last;
    }
    memcpy(&low, p, sizeof low);
    memcpy(&high, p + n - 4, sizeof high);
    return low | (uint64_t)high << 8 * (n - 4);
}

/* Word i of a key.  The last word holds the remaining bytes and the length. */
EBI_INLINE uint64_t sip_word(eb_key key, size_t i) {
    const uint8_t *const p = key.p;
    if (i < key.len / 8) return ebi_load64(p + 8 * i);
    const unsigned rest = key.len % 8;
    const uint64_t top = (uint64_t)key.len << 56;
    if (rest == 0) return top;
    if (key.len >= 8) return top | ebi_load64(p + key.len - 8) >> (64 - 8 * rest);
    return top | sip_few(p, rest);
}

EBI_INLINE void sip_take(sip_state *s, uint64_t word) {
    s->d ^= word;
    sip_round(s);
    s->a ^= word;
}

EBI_INLINE uint64_t sip_end(sip_state *s) {
    s->c ^= 0xff;
    for (int round = 0; round < 3; round++) sip_round(s);
    return s->a ^ s->b ^ s->c ^ s->d;
}

eb_hash ebi_hash_sip_one(const uint64_t key[2], const void *text, size_t len) {
    const eb_key bytes = {text, len};
    sip_state s = sip_begin(key);
    for (size_t i = 0; i <= len / 8; i++) sip_take(&s, sip_word(bytes, i));
    return sip_end(&s);
}

static void sip_two(const uint64_t key[2], const eb_key *keys, eb_hash *out) {
    sip_state s = sip_begin(key), t = s;
    for (size_t i = 0; i <= keys[0].len / 8; i++) {
        const uint64_t word = sip_word(keys[0], i), other = sip_word(keys[1], i);
        s.d ^= word;
        t.d ^= other;
        sip_round(&s);
        sip_round(&t);
        s.a ^= word;
        t.a ^= other;
    }
    out[0] = sip_end(&s);
    out[1] = sip_end(&t);
}

#if EBI_X86_64
#include <immintrin.h>

#define SIP_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw")))

typedef struct sip_lanes {
    __m512i a, b, c, d;
} sip_lanes;

SIP_AVX512 EBI_INLINE void sip_lanes_round(sip_lanes *s) {
    s->a = _mm512_add_epi64(s->a, s->b);
    s->c = _mm512_add_epi64(s->c, s->d);
    s->b = _mm512_xor_si512(_mm512_rol_epi64(s->b, 13), s->a);
    s->d = _mm512_xor_si512(_mm512_rol_epi64(s->d, 16), s->c);
    s->a = _mm512_rol_epi64(s->a, 32);
    s->c = _mm512_add_epi64(s->c, s->b);
    s->a = _mm512_add_epi64(s->a, s->d);
    s->b = _mm512_xor_si512(_mm512_rol_epi64(s->b, 17), s->c);
    s->d = _mm512_xor_si512(_mm512_rol_epi64(s->d, 21), s->a);
    s->c = _mm512_rol_epi64(s->c, 32);
}

SIP_AVX512 EBI_INLINE void sip_lanes_take(sip_lanes *s, __m512i words) {
    s->d = _mm512_xor_si512(s->d, words);
    sip_lanes_round(s);
    s->a = _mm512_xor_si512(s->a, words);
}

SIP_AVX512 EBI_INLINE __m128i sip_pair(eb_key key, size_t i) {
    return _mm_loadu_si128((const __m128i *)(const void *)((const uint8_t *)key.p + 8 * i));
}

/* Words i and i + 1 of four keys.  Each 128-bit lane holds one key's pair. */
SIP_AVX512 EBI_INLINE __m512i sip_four_pairs(const eb_key *k, size_t i) {
    const __m256i low =
        _mm256_inserti128_si256(_mm256_castsi128_si256(sip_pair(k[0], i)), sip_pair(k[1], i), 1);
    const __m256i high =
        _mm256_inserti128_si256(_mm256_castsi128_si256(sip_pair(k[2], i)), sip_pair(k[3], i), 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/* Hashes eight keys with equally many words.  Lanes 0, 2, 4, 6 hold keys 0..3, the odd ones keys
 * 4..7. */
SIP_AVX512 static void sip_eight(const uint64_t key[2], const eb_key *k, bool whole, eb_hash *out) {
    const sip_state begin = sip_begin(key);
    const __m512i order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
    sip_lanes s = {_mm512_set1_epi64((long long)begin.a), _mm512_set1_epi64((long long)begin.b),
                   _mm512_set1_epi64((long long)begin.c), _mm512_set1_epi64((long long)begin.d)};
    const size_t words = k[0].len / 8;
    size_t i = 0;
    for (; i + 2 <= words; i += 2) {
        const __m512i x = sip_four_pairs(k, i), y = sip_four_pairs(k + 4, i);
        sip_lanes_take(&s, _mm512_unpacklo_epi64(x, y));
        sip_lanes_take(&s, _mm512_unpackhi_epi64(x, y));
    }
    for (; i <= words; i++) {
        __m512i w = _mm512_set1_epi64((long long)((uint64_t)k[0].len << 56));
        if (i < words || !whole)
            w = _mm512_set_epi64((long long)sip_word(k[7], i), (long long)sip_word(k[3], i),
                                 (long long)sip_word(k[6], i), (long long)sip_word(k[2], i),
                                 (long long)sip_word(k[5], i), (long long)sip_word(k[1], i),
                                 (long long)sip_word(k[4], i), (long long)sip_word(k[0], i));
        sip_lanes_take(&s, w);
    }
    s.c = _mm512_xor_si512(s.c, _mm512_set1_epi64(0xff));
    for (int round = 0; round < 3; round++) sip_lanes_round(&s);
    const __m512i h = _mm512_xor_si512(_mm512_xor_si512(s.a, s.b), _mm512_xor_si512(s.c, s.d));
    _mm512_storeu_si512(out, _mm512_permutexvar_epi64(order, h));
}

enum { SIP_EIGHT = 8 };
static bool sip_has_eight(void) {
    return ebi_has_vbmi2();
}
#else
enum { SIP_EIGHT = 8 };
static bool sip_has_eight(void) {
    return false;
}
static void sip_eight(const uint64_t key[2], const eb_key *k, bool whole, eb_hash *out) {
    (void)key, (void)k, (void)whole, (void)out;
}
#endif

/* How many of the next keys, up to `most`, have as many words as the first. *whole: their lengths
 * are whole words. */
EBI_INLINE size_t sip_alike(const eb_key *k, size_t most, bool *whole) {
    size_t n = 1;
    size_t differ = 0;
    for (; n < most && k[n].len / 8 == k[0].len / 8; n++) differ |= k[n].len ^ k[0].len;
    *whole = differ == 0 && k[0].len % 8 == 0;
    return n;
}

void ebi_hash_sip(const uint64_t key[2], const eb_key *keys, size_t n, eb_hash *out) {
    const bool eight = n >= SIP_EIGHT && sip_has_eight();
    for (size_t i = 0; i < n;) {
        bool whole;
        const size_t alike = sip_alike(keys + i, (size_t)ebi_min(n - i, SIP_EIGHT), &whole);
        if (eight && alike == SIP_EIGHT) {
            sip_eight(key, keys + i, whole, out + i);
            i += SIP_EIGHT;
            continue;
        }
        size_t done = 0;
        for (; done + 2 <= alike; done += 2) sip_two(key, keys + i + done, out + i + done);
        if (done < alike)
            out[i + done] = ebi_hash_sip_one(key, keys[i + done].p, keys[i + done].len);
        i += alike;
    }
}
