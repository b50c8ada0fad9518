/* lru_loops.c - the loops of lru for every machine. */
#include "lru_line.h"

/* Lines */

EBI_INLINE void lru_line_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen,
                             unsigned w, bool ranked) {
    assert(b->n <= EBI_LONG_BATCH);
    const ebi_lru_shape s = ebi_lru_shape_of(w, ebi_lru_b(p));
    const ebi_lru_batch keys = ebi_lru_batch_of(p, block, b->hash, b->n);
    const uint64_t leaders = ebi_lru_leaders(p);
    uint8_t *const lines = block + ebi_lru_first(p);
    const uint64_t before = ebi_head_of(block)->items;
    ebi_lru_rule rule;
    bool deep = ebi_lru_rule_of(p, block, &rule);
    ebi_lru_fetch_first(&keys, EBI_LRU_LINE_BYTES, true);
    for (size_t i = 0; i < keys.n; i++) {
        ebi_lru_fetch(&keys, i + EBI_LRU_AHEAD, EBI_LRU_LINE_BYTES, true);
        const uint64_t at = ebi_lru_bucket(&keys, i), print = ebi_lru_print(keys.hash[i], w);
        uint8_t *const line = lines + at * EBI_LRU_LINE_BYTES;
        if (at < leaders) {
            seen[i] =
                ebi_lru_lead(p, block, at, keys.hash[i], before + i, ranked ? b->value[i] : 0);
            deep = ebi_lru_rule_of(p, block, &rule);
        } else if (!deep) {
            seen[i] = ebi_lru_line_observe(line, print, s);
        } else {
            const unsigned class = ranked ? ebi_lru_class(p, b->value[i]) : 0;
            const bool front = ebi_lru_coin(keys.hash[i], before + i) < rule.front[class];
            seen[i] = ebi_lru_line_put(line, print, s, rule.place, 1 + class, front);
        }
    }
}

EBI_INLINE void lru_line_test(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                              uint8_t *seen, unsigned w) {
    assert(b->n <= EBI_LONG_BATCH);
    const ebi_lru_fields f = ebi_lru_line_fields(w);
    const ebi_lru_batch keys = ebi_lru_batch_of(p, block, b->hash, b->n);
    ebi_lru_fetch_first(&keys, EBI_LRU_LINE_BYTES, false);
    for (size_t i = 0; i < keys.n; i++) {
        ebi_lru_fetch(&keys, i + EBI_LRU_AHEAD, EBI_LRU_LINE_BYTES, false);
        const uint64_t at = ebi_lru_answering(p, block, ebi_lru_bucket(&keys, i));
        seen[i] = ebi_lru_line_has(keys.first + at * EBI_LRU_LINE_BYTES,
                                   ebi_lru_print(keys.hash[i], w), f);
    }
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

/* A key that goes to the front of its line, whoever was there. */
EBI_INLINE bool lru_line_put_first(const ebi_params *p, uint8_t *line, eb_hash h, unsigned w) {
    return ebi_lru_line_observe(line, ebi_lru_print(h, w), ebi_lru_shape_of(w, ebi_lru_b(p)));
}

#define LRU_LOOP(w)                                                                                \
    static void lru_line_add_##w(const ebi_params *p, uint8_t *block, const ebi_batch *b,          \
                                 uint8_t *seen) {                                                  \
        lru_line_add(p, block, b, seen, w, false);                                                 \
    }                                                                                              \
    static void lru_ranked_add_##w(const ebi_params *p, uint8_t *block, const ebi_batch *b,        \
                                   uint8_t *seen) {                                                \
        lru_line_add(p, block, b, seen, w, true);                                                  \
    }                                                                                              \
    static void lru_line_test_##w(const ebi_params *p, const uint8_t *block, const ebi_batch *b,   \
                                  uint8_t *seen) {                                                 \
        lru_line_test(p, block, b, seen, w);                                                       \
    }                                                                                              \
    static bool lru_line_add_one_##w(const ebi_params *p, uint8_t *block, eb_hash h) {             \
        uint8_t *const line = ebi_lru_plain_line(p, block, h);                                     \
        if (line) return lru_line_put_first(p, line, h, w);                                        \
        const ebi_batch b = ebi_batch_of_one(&h);                                                  \
        uint8_t seen;                                                                              \
        lru_line_add_##w(p, block, &b, &seen);                                                     \
        return seen != 0;                                                                          \
    }                                                                                              \
    static bool lru_line_test_one_##w(const ebi_params *p, const uint8_t *block, eb_hash h) {      \
        const ebi_batch b = ebi_batch_of_one(&h);                                                  \
        uint8_t seen;                                                                              \
        lru_line_test(p, block, &b, &seen, w);                                                     \
        return seen != 0;                                                                          \
    }
EBI_LRU_WIDTHS(LRU_LOOP)
#undef LRU_LOOP

const ebi_ops *ebi_lru_portable(const ebi_params *p) {
    static const ebi_ops word = {.add = lru_word_add, .test = lru_word_test};
    static const struct {
        unsigned w;
        ebi_ops ops[2]; /* without and with importance */
    } line[] = {
#define LRU_LOOP(w)                                                                                \
    {w,                                                                                            \
     {{.add = lru_line_add_##w,                                                                    \
       .test = lru_line_test_##w,                                                                  \
       .add_one = lru_line_add_one_##w,                                                            \
       .test_one = lru_line_test_one_##w},                                                         \
      {.add = lru_ranked_add_##w, .test = lru_line_test_##w, .test_one = lru_line_test_one_##w}}},
        EBI_LRU_WIDTHS(LRU_LOOP)
#undef LRU_LOOP
    };
    if (p->opt[EBI_LRU_BUCKET] != EBI_LRU_LINE) return &word;
    size_t i = 0;
    while (line[i].w != p->opt[EBI_LRU_W]) i++;
    return &line[i].ops[ebi_lru_is_ranked(p)];
}
