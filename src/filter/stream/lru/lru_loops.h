/* lru_loops.h - the loops of bucket=line.  All machines leave the same bytes.
 *
 * This is a template, included once for each kind of machine.  The including file defines
 * LRU_TARGET (the attribute of functions), LRU_MY(name) (how their names are made), LRU_WIDTHS (the
 * fingerprints it is for), and the operations on a line, which come from lru_bytes.h or
 * lru_planes.h:
 *
 *       void LRU_MY(shape_of)(LRU_MY(shape) *s, unsigned w, unsigned b)
 *       bool LRU_MY(is_full)(const uint8_t *line, const LRU_MY(shape) *s)
 *       bool LRU_MY(has)(const uint8_t *line, uint64_t print, const LRU_MY(shape) *s)
 *       bool LRU_MY(put)(uint8_t *line, uint64_t print, const LRU_MY(shape) *s,
 *                        const ebi_lru_place *place, bool deep, uint8_t to)
 *           A key that is found moves to the front.  A new key goes there, too, or with `deep` to
 *           place `to`. */
#include "lru.h"
#ifndef LRU_MY /* read alone, not as a template */
#define LRU_TARGET
#define LRU_MY(name) lru_##name
#define LRU_WIDTHS EBI_LRU_WIDTHS
typedef struct lru_shape {
    unsigned w;
} lru_shape;
void lru_shape_of(lru_shape *s, unsigned w, unsigned b);
bool lru_is_full(const uint8_t *line, const lru_shape *s);
bool lru_has(const uint8_t *line, uint64_t print, const lru_shape *s);
bool lru_put(uint8_t *line, uint64_t print, const lru_shape *s, const ebi_lru_place *place,
             bool deep, uint8_t to);
#endif

/* The loop works on a copy of *adding: stores of answers could change what is in memory. */
LRU_TARGET EBI_INLINE size_t LRU_MY(run)(const ebi_lru_adding *adding, size_t i, size_t end,
                                         unsigned w, bool deep) {
    const ebi_lru_adding a = *adding;
    LRU_MY(shape) s;
    LRU_MY(shape_of)(&s, w, a.slots);
    for (; i < end; i++) {
        const uint64_t at = ebi_lru_bucket(&a.keys, i), print = ebi_lru_print(a.keys.hash[i], w);
        uint8_t *const line = a.lines + at * EBI_LRU_LINE_BYTES;
        ebi_lru_fetch(a.lines, &a.keys, i + EBI_LRU_AHEAD, EBI_LRU_LINE_BYTES, true);
        if (at < a.leaders) break;
        uint8_t to = deep ? a.to[i] : 0;
        /* After a while hardly any lines are not full, so a branch is cheaper. */
        if (deep && __builtin_expect(!LRU_MY(is_full)(line, &s), 0)) to = 0;
        a.seen[i] = LRU_MY(put)(line, print, &s, a.place, deep, to);
    }
    return i;
}

LRU_TARGET EBI_INLINE void LRU_MY(test)(const ebi_params *p, const uint8_t *block,
                                        const ebi_batch *b, uint8_t *seen, unsigned w) {
    LRU_MY(shape) s;
    LRU_MY(shape_of)(&s, w, ebi_lru_b(p));
    const uint8_t *const lines = block + ebi_lru_first(p);
    const ebi_lru_batch keys = ebi_lru_batch_of(p, b);
    ebi_lru_fetch_first(lines, &keys, EBI_LRU_LINE_BYTES, false);
    for (size_t i = 0; i < keys.n; i++) {
        ebi_lru_fetch(lines, &keys, i + EBI_LRU_AHEAD, EBI_LRU_LINE_BYTES, false);
        const uint64_t at = ebi_lru_answering(p, block, ebi_lru_bucket(&keys, i));
        seen[i] = LRU_MY(has)(lines + at * EBI_LRU_LINE_BYTES, ebi_lru_print(keys.hash[i], w), &s);
    }
}

/* A key that goes to the front of its line in any case. */
LRU_TARGET EBI_INLINE bool LRU_MY(put_first)(const ebi_params *p, uint8_t *line, eb_hash h,
                                             unsigned w) {
    LRU_MY(shape) s;
    LRU_MY(shape_of)(&s, w, ebi_lru_b(p));
    return LRU_MY(put)(line, ebi_lru_print(h, w), &s, NULL, false, 0);
}

#define LRU_LOOP(w)                                                                                \
    LRU_TARGET static size_t LRU_MY(front_##w)(const ebi_lru_adding *a, size_t i, size_t end) {    \
        return LRU_MY(run)(a, i, end, w, false);                                                   \
    }                                                                                              \
    LRU_TARGET static size_t LRU_MY(deep_##w)(const ebi_lru_adding *a, size_t i, size_t end) {     \
        return LRU_MY(run)(a, i, end, w, true);                                                    \
    }                                                                                              \
    LRU_TARGET static bool LRU_MY(put_##w)(const ebi_lru_adding *a, uint8_t *line, uint64_t print, \
                                           uint8_t to) {                                           \
        LRU_MY(shape) s;                                                                           \
        LRU_MY(shape_of)(&s, w, a->slots);                                                         \
        return LRU_MY(put)(line, print, &s, a->place, true, LRU_MY(is_full)(line, &s) ? to : 0);   \
    }                                                                                              \
    static void LRU_MY(add_##w)(const ebi_params *p, uint8_t *block, const ebi_batch *b,           \
                                uint8_t *seen) {                                                   \
        static const ebi_lru_line_ops ops = {LRU_MY(front_##w), LRU_MY(deep_##w),                  \
                                             LRU_MY(put_##w)};                                     \
        ebi_lru_add(p, block, b, seen, &ops);                                                      \
    }                                                                                              \
    LRU_TARGET static void LRU_MY(test_##w)(const ebi_params *p, const uint8_t *block,             \
                                            const ebi_batch *b, uint8_t *seen) {                   \
        LRU_MY(test)(p, block, b, seen, w);                                                        \
    }                                                                                              \
    LRU_TARGET static bool LRU_MY(add_one_##w)(const ebi_params *p, uint8_t *block, eb_hash h) {   \
        uint8_t *const line = ebi_lru_plain_line(p, block, h);                                     \
        if (line) return LRU_MY(put_first)(p, line, h, w);                                         \
        const ebi_batch b = ebi_batch_of_one(&h);                                                  \
        uint8_t seen;                                                                              \
        LRU_MY(add_##w)(p, block, &b, &seen);                                                      \
        return seen != 0;                                                                          \
    }                                                                                              \
    LRU_TARGET static bool LRU_MY(test_one_##w)(const ebi_params *p, const uint8_t *block,         \
                                                eb_hash h) {                                       \
        const ebi_batch b = ebi_batch_of_one(&h);                                                  \
        uint8_t seen;                                                                              \
        LRU_MY(test)(p, block, &b, &seen, w);                                                      \
        return seen != 0;                                                                          \
    }
LRU_WIDTHS(LRU_LOOP)
#undef LRU_LOOP

static const ebi_ops *LRU_MY(ops)(const ebi_params *p) {
    static const struct {
        unsigned w;
        ebi_ops ops[2]; /* without and with importance */
    } line[] = {
#define LRU_LOOP(w)                                                                                \
    {w,                                                                                            \
     {{.add = LRU_MY(add_##w),                                                                     \
       .test = LRU_MY(test_##w),                                                                   \
       .add_one = LRU_MY(add_one_##w),                                                             \
       .test_one = LRU_MY(test_one_##w)},                                                          \
      {.add = LRU_MY(add_##w), .test = LRU_MY(test_##w), .test_one = LRU_MY(test_one_##w)}}},
        LRU_WIDTHS(LRU_LOOP)
#undef LRU_LOOP
    };
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        if (line[i].w == p->opt[EBI_LRU_W]) return &line[i].ops[ebi_lru_is_ranked(p)];
    return NULL;
}
#undef LRU_MY
#undef LRU_WIDTHS
