/* lru_loops.c - the loops of lru for every machine. */
#define LRU_TARGET
#define LRU_MY(name) lru_line_##name
#include "lru.h"

EBI_INLINE uint64_t lru_line_if_zero(uint64_t x) { /* all ones, else 0 */
    return 0 - (uint64_t)(x == 0);
}

/* Half a plane, which all machines have registers for. */
typedef uint64_t lru_line_pair __attribute__((vector_size(16), may_alias));

EBI_INLINE bool lru_line_gate(const ebi_lru_plane *equal, ebi_lru_plane *gate) {
    const lru_line_pair *const e = (const lru_line_pair *)equal;
    lru_line_pair *const to = (lru_line_pair *)gate;
    // cppcheck-suppress objectIndex ; a plane is two pairs
    const uint64_t hit1 = e[0][0], hit2 = hit1 | e[0][1], hit3 = hit2 | e[1][0];
    to[0] = (lru_line_pair){~UINT64_C(0), lru_line_if_zero(hit1)};
    // cppcheck-suppress objectIndex ; a plane is two pairs
    to[1] = (lru_line_pair){lru_line_if_zero(hit2), lru_line_if_zero(hit3)};
    // cppcheck-suppress objectIndex ; a plane is two pairs
    return (hit3 | e[1][1]) != 0;
}

EBI_INLINE void lru_line_below(const ebi_lru_plane *x, const ebi_lru_plane *print,
                               ebi_lru_plane *below) {
    const lru_line_pair *const from = (const lru_line_pair *)x;
    lru_line_pair *const to = (lru_line_pair *)below;
    to[0] = __builtin_shufflevector(*(const lru_line_pair *)print, from[0], 0, 2);
    // cppcheck-suppress objectIndex ; a plane is two pairs
    to[1] = __builtin_shufflevector(from[0], from[1], 1, 2);
}
#include "lru_loops.h"

bool ebi_lru_put(const ebi_params *p, uint8_t *line, uint64_t print, const ebi_lru_place place[2]) {
    lru_line_shape s;
    lru_line_shape_of(&s, (unsigned)p->opt[EBI_LRU_W], ebi_lru_b(p));
    const bool full = ebi_lru_last_of(line, s.last_field) != 0;
    return lru_line_put(line, print, &s, place, full);
}

/* Words: the same with one plane. */

EBI_INLINE uint64_t lru_word_equal(uint64_t differ, ebi_lru_fields f) {
    return (differ - f.ones) & ~differ & f.highs;
}

static void lru_word_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen) {
    assert(b->n <= EBI_LONG_BATCH);
    const ebi_lru_fields f = ebi_lru_fields_of(ebi_lru_b(p), (unsigned)p->opt[EBI_LRU_W]);
    const ebi_lru_batch keys = ebi_lru_batch_of(p, block, b->hash, b->n);
    uint8_t *const words = block + ebi_lru_first(p);
    ebi_lru_fetch_first(&keys, EBI_LRU_WORD_BYTES, true);
    for (size_t i = 0; i < keys.n; i++) {
        ebi_lru_fetch(&keys, i + EBI_LRU_AHEAD, EBI_LRU_WORD_BYTES, true);
        uint8_t *const at = words + ebi_lru_bucket(&keys, i) * EBI_LRU_WORD_BYTES;
        const uint64_t word = ebi_load64(at), print = ebi_lru_print(keys.hash[i], f.bits);
        const uint64_t equal = lru_word_equal(word ^ print * f.ones, f);
        const uint64_t moved = (equal ^ (equal - 1)) & f.used, up = word << f.bits | print;
        ebi_store64(at, word ^ ((word ^ up) & moved));
        seen[i] = equal != 0;
    }
}

static void lru_word_test(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                          uint8_t *seen) {
    assert(b->n <= EBI_LONG_BATCH);
    const ebi_lru_fields f = ebi_lru_fields_of(ebi_lru_b(p), (unsigned)p->opt[EBI_LRU_W]);
    const ebi_lru_batch keys = ebi_lru_batch_of(p, block, b->hash, b->n);
    ebi_lru_fetch_first(&keys, EBI_LRU_WORD_BYTES, false);
    for (size_t i = 0; i < keys.n; i++) {
        ebi_lru_fetch(&keys, i + EBI_LRU_AHEAD, EBI_LRU_WORD_BYTES, false);
        const uint64_t at = ebi_lru_bucket(&keys, i) * EBI_LRU_WORD_BYTES;
        const uint64_t word = ebi_load64(keys.first + at);
        seen[i] = lru_word_equal(word ^ ebi_lru_print(keys.hash[i], f.bits) * f.ones, f) != 0;
    }
}

const ebi_ops *ebi_lru_portable(const ebi_params *p) {
    static const ebi_ops word = {.add = lru_word_add, .test = lru_word_test};
    return p->opt[EBI_LRU_BUCKET] == EBI_LRU_LINE ? lru_line_ops(p) : &word;
}
