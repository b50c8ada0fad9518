/* lru_loops.c - the loops of lru for every machine: lines of whole bytes, lines in planes, and
 * words. */
#define LRU_TARGET
#define LRU_MY(name) lru_planes_##name
#include "lru.h"
#if EBI_X86_64
#include <immintrin.h>
#elif EBI_WASM_SIMD
#include <wasm_simd128.h>
#endif

EBI_INLINE uint64_t lru_planes_if_zero(uint64_t x) { /* all ones, else 0 */
    return 0 - (uint64_t)(x == 0);
}

/* Half a plane.  All machines have registers for that. */
typedef uint64_t lru_planes_pair __attribute__((vector_size(16), may_alias));

EBI_INLINE bool lru_planes_gate(const ebi_lru_plane *equal, ebi_lru_plane *gate) {
    const lru_planes_pair *const e = (const lru_planes_pair *)equal;
    lru_planes_pair *const to = (lru_planes_pair *)gate;
    // cppcheck-suppress objectIndex ; a plane is two pairs
    const uint64_t hit1 = e[0][0], hit2 = hit1 | e[0][1], hit3 = hit2 | e[1][0];
    to[0] = (lru_planes_pair){~UINT64_C(0), lru_planes_if_zero(hit1)};
    // cppcheck-suppress objectIndex ; a plane is two pairs
    to[1] = (lru_planes_pair){lru_planes_if_zero(hit2), lru_planes_if_zero(hit3)};
    // cppcheck-suppress objectIndex ; a plane is two pairs
    return (hit3 | e[1][1]) != 0;
}

EBI_INLINE void lru_planes_below(const ebi_lru_plane *x, const ebi_lru_plane *print,
                                 ebi_lru_plane *below) {
    const lru_planes_pair *const from = (const lru_planes_pair *)x;
    lru_planes_pair *const to = (lru_planes_pair *)below;
    to[0] = __builtin_shufflevector(*(const lru_planes_pair *)print, from[0], 0, 2);
    // cppcheck-suppress objectIndex ; a plane is two pairs
    to[1] = __builtin_shufflevector(from[0], from[1], 1, 2);
}
#include "lru_planes.h"
#define LRU_WIDTHS EBI_LRU_HALVED_WIDTHS
#include "lru_loops.h"

/* Whole bytes */

#define LRU_MY(name) lru_bytes_##name
#define LRU_VECTOR 16
#define LRU_REGISTERS(X) X(0) X(1) X(2) X(3)
typedef uint8_t lru_bytes_vector __attribute__((vector_size(LRU_VECTOR)));
typedef uint64_t lru_bytes_words __attribute__((vector_size(LRU_VECTOR)));
typedef struct lru_bytes_line {
    lru_bytes_vector v[4];
} lru_bytes_line;

EBI_INLINE void lru_bytes_spread(lru_bytes_line *to, uint64_t print, unsigned size) {
    const ebi_lru_fields f = ebi_lru_fields_of(8 / size, 8 * size);
    if (size != 3) {
        const uint64_t y = print * f.ones;
        to->v[0] = to->v[1] = to->v[2] = to->v[3] = (lru_bytes_vector)(lru_bytes_words){y, y};
        return;
    }
    const uint64_t y0 = print | print << 24 | print << 48; /* then words 2 and 1 places further */
    const uint64_t y1 = y0 >> 16 | y0 << 32, y2 = y0 >> 8 | y0 << 40;
    to->v[0] = to->v[3] = (lru_bytes_vector)(lru_bytes_words){y0, y1};
    to->v[1] = (lru_bytes_vector)(lru_bytes_words){y2, y0};
    to->v[2] = (lru_bytes_vector)(lru_bytes_words){y1, y2};
}

/* A bit for each byte of four registers that is all ones. */
#if EBI_X86_64 || EBI_WASM_SIMD
EBI_INLINE uint64_t lru_bytes_bits_of_one(lru_bytes_vector v) {
#if EBI_X86_64
    return (uint64_t)(unsigned)_mm_movemask_epi8((__m128i)v);
#else
    return wasm_i8x16_bitmask((v128_t)v);
#endif
}

EBI_INLINE uint64_t lru_bytes_bits(const lru_bytes_vector *v) {
#define LRU_BITS(k) | lru_bytes_bits_of_one(v[k]) << 16 * (k)
    return UINT64_C(0) LRU_REGISTERS(LRU_BITS);
#undef LRU_BITS
}
#else
EBI_INLINE lru_bytes_vector lru_bytes_join(lru_bytes_vector a, lru_bytes_vector b) {
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28,
                                   30) |
           __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}

EBI_INLINE uint64_t lru_bytes_bits(const lru_bytes_vector *v) {
    const lru_bytes_vector bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const lru_bytes_vector low = lru_bytes_join(v[0] & bit, v[1] & bit);
    const lru_bytes_vector all = lru_bytes_join(low, lru_bytes_join(v[2] & bit, v[3] & bit));
    return ((lru_bytes_words)lru_bytes_join(all, all))[0];
}
#endif

EBI_INLINE uint64_t lru_bytes_differ(const lru_bytes_line *x, const lru_bytes_line *y) {
    lru_bytes_vector equal[4];
#define LRU_EQUAL(k) equal[k] = (lru_bytes_vector)(x->v[k] == y->v[k]);
    LRU_REGISTERS(LRU_EQUAL)
#undef LRU_EQUAL
    return ~lru_bytes_bits(equal);
}

EBI_INLINE lru_bytes_vector lru_bytes_first_up(const lru_bytes_line *x, const lru_bytes_line *y,
                                               unsigned size) {
    const lru_bytes_words word = (lru_bytes_words)x->v[0];
    const uint64_t print = ((lru_bytes_words)y->v[0])[0] & ebi_ones(8 * size);
    const lru_bytes_words below = {print, word[0] >> (64 - 8 * size)};
    return (lru_bytes_vector)(word << 8 * size | below);
}

EBI_INLINE lru_bytes_vector lru_bytes_blend(lru_bytes_vector a, lru_bytes_vector b,
                                            lru_bytes_vector mask) {
    return a ^ ((a ^ b) & mask);
}
#include "lru_bytes.h"
#define LRU_WIDTHS EBI_LRU_BYTE_WIDTHS
#include "lru_loops.h"
#undef LRU_TARGET

/* Words: like lines, with one plane. */

static void lru_word_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen) {
    const ebi_lru_fields f = ebi_lru_fields_of(ebi_lru_b(p), (unsigned)p->opt[EBI_LRU_W]);
    uint8_t *const words = block + ebi_lru_first(p);
    const ebi_lru_batch keys = ebi_lru_batch_of(p, b);
    ebi_lru_fetch_first(words, &keys, EBI_LRU_WORD_BYTES, true);
    for (size_t i = 0; i < keys.n; i++) {
        ebi_lru_fetch(words, &keys, i + EBI_LRU_AHEAD, EBI_LRU_WORD_BYTES, true);
        uint8_t *const at = words + ebi_lru_bucket(&keys, i) * EBI_LRU_WORD_BYTES;
        const uint64_t word = ebi_load64(at), print = ebi_lru_print(keys.hash[i], f.bits);
        const uint64_t differ = word ^ print * f.ones, equal = EBI_LRU_ZERO(differ, f);
        const uint64_t moved = (equal ^ (equal - 1)) & f.used, up = word << f.bits | print;
        ebi_store64(at, word ^ ((word ^ up) & moved));
        seen[i] = equal != 0;
    }
}

static void lru_word_test(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                          uint8_t *seen) {
    const ebi_lru_fields f = ebi_lru_fields_of(ebi_lru_b(p), (unsigned)p->opt[EBI_LRU_W]);
    const uint8_t *const words = block + ebi_lru_first(p);
    const ebi_lru_batch keys = ebi_lru_batch_of(p, b);
    ebi_lru_fetch_first(words, &keys, EBI_LRU_WORD_BYTES, false);
    for (size_t i = 0; i < keys.n; i++) {
        ebi_lru_fetch(words, &keys, i + EBI_LRU_AHEAD, EBI_LRU_WORD_BYTES, false);
        const uint64_t at = ebi_lru_bucket(&keys, i) * EBI_LRU_WORD_BYTES;
        const uint64_t print = ebi_lru_print(keys.hash[i], f.bits);
        const uint64_t differ = ebi_load64(words + at) ^ print * f.ones;
        seen[i] = EBI_LRU_ZERO(differ, f) != 0;
    }
}

const ebi_ops *ebi_lru_portable(const ebi_params *p) {
    static const ebi_ops word = {.add = lru_word_add, .test = lru_word_test};
    if (p->opt[EBI_LRU_BUCKET] != EBI_LRU_LINE) return &word;
    const ebi_ops *const bytes = lru_bytes_ops(p);
    return bytes ? bytes : lru_planes_ops(p);
}
