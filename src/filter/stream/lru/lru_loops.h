/* lru_loops.h - the loops of bucket=line.  It is a template: before it come LRU_TARGET, the
 * attribute of functions, LRU_MY(name), their names, and what differs from target to target:
 *
 *     bool LRU_MY(gate)(const ebi_lru_plane *equal, ebi_lru_plane *gate)
 *         Is a word of `equal` not 0?  The gate lets pass the words up to the first that is not.
 *     void LRU_MY(below)(const ebi_lru_plane *x, const ebi_lru_plane *print, ebi_lru_plane *below)
 *         For each word of x the one before it; for the first, the print's.
 *
 * A target that compares lanes of 1 or 2 bytes (print_bits 16 and 32) defines LRU_LANES and
 *
 *     bool LRU_MY(lanes_upto)(const ebi_lru_plane *differ, unsigned lane, unsigned slots,
 *                             ebi_lru_plane *moved)
 *         Is a lane of `differ` 0?  Moved are the lanes up to the first, or those of all slots.
 *     void LRU_MY(lanes_up)(const ebi_lru_plane *x, const ebi_lru_plane *print, unsigned lane,
 *                           ebi_lru_plane *up)
 *         All lanes go one place up, the lowest comes from the print.
 *
 * The bytes are the same for all targets.
 *
 * A plane of a line is a vector, on which compilers work with the registers that the target has.  A
 * field that is equal in both planes is 0 in the OR of the differences; the lowest such field is
 * found exactly.  Where a key is found cannot be foreseen, so nothing branches on it. */
#include "lru.h"
#ifndef LRU_MY /* read alone */
#define LRU_TARGET
#define LRU_MY(name) lru_##name
bool lru_gate(const ebi_lru_plane *equal, ebi_lru_plane *gate);
void lru_below(const ebi_lru_plane *x, const ebi_lru_plane *print, ebi_lru_plane *below);
#endif

typedef struct LRU_MY(line) { /* the low and the high halves of its fingerprints */
    ebi_lru_plane low, high;
} LRU_MY(line);

LRU_TARGET EBI_INLINE void LRU_MY(load)(LRU_MY(line) * x, const uint8_t *line) {
    x->low = *(const ebi_lru_bytes *)(const void *)line;
    x->high = *(const ebi_lru_bytes *)(const void *)(line + 32);
}

typedef struct LRU_MY(shape) { /* of all lines of a filter */
    ebi_lru_fields f;
    ebi_lru_plane used;  /* the fields of slots */
    uint64_t last_field; /* of word 3: the last slot's */
    unsigned slots;
} LRU_MY(shape);

LRU_TARGET EBI_INLINE void LRU_MY(shape_of)(LRU_MY(shape) * s, unsigned w, unsigned b) {
    const ebi_lru_fields f = s->f = ebi_lru_line_fields(w);
    s->used = (ebi_lru_plane){f.used, f.used, f.used, ebi_lru_last_used(f, b)};
    s->last_field = ebi_lru_last_field(f, b);
    s->slots = b;
}

LRU_TARGET EBI_INLINE void LRU_MY(spread)(LRU_MY(line) * to, uint64_t print, ebi_lru_fields f) {
    const uint64_t low = (print & ebi_ones(f.bits)) * f.ones, high = (print >> f.bits) * f.ones;
    to->low = (ebi_lru_plane){low, low, low, low};
    to->high = (ebi_lru_plane){high, high, high, high};
}

#ifdef LRU_LANES
#define LRU_LANE(f) ((f).bits == 8 ? 1u : (f).bits == 16 ? 2u : 0)
#endif

/* The top bit of fields that are 0: of each word's lowest such field, and perhaps of fields above
 * it. */
#define LRU_EQUAL(differ, f) (((differ) - (f).ones) & ~(differ) & (f).highs)

/* Does a slot hold the print?  Moved are the fields up to it, or all. */
LRU_TARGET EBI_INLINE bool LRU_MY(upto)(const ebi_lru_plane *differ, const LRU_MY(shape) * s,
                                        ebi_lru_plane *moved) {
#ifdef LRU_LANES
    if (LRU_LANE(s->f)) return LRU_MY(lanes_upto)(differ, LRU_LANE(s->f), s->slots, moved);
#endif
    const ebi_lru_plane equal = LRU_EQUAL(*differ, s->f);
    const bool hit = LRU_MY(gate)(&equal, moved);
    *moved &= (equal ^ (equal - 1)) & s->used;
    return hit;
}

LRU_TARGET EBI_INLINE void LRU_MY(up)(const ebi_lru_plane *x, const ebi_lru_plane *print,
                                      ebi_lru_fields f, ebi_lru_plane *up) {
#ifdef LRU_LANES
    if (LRU_LANE(f)) {
        LRU_MY(lanes_up)(x, print, LRU_LANE(f), up);
        return;
    }
#endif
    ebi_lru_plane below;
    LRU_MY(below)(x, print, &below);
    *up = (*x << f.bits) | (below >> (f.n - 1) * f.bits);
}

/* The fields of `moved` go one place up; the lowest comes from the print, which also takes the
 * place of one that is inserted deeper. */
LRU_TARGET EBI_INLINE void LRU_MY(move)(uint8_t *to, const ebi_lru_plane *x,
                                        const ebi_lru_plane *print, const ebi_lru_plane *moved,
                                        const uint64_t *deeper, ebi_lru_fields f) {
    ebi_lru_plane up, at;
    LRU_MY(up)(x, print, f, &up);
    if (deeper) {
        at = *(const ebi_lru_bytes *)(const void *)deeper;
        up ^= (up ^ *print) & at;
    }
    up = *x ^ ((*x ^ up) & *moved);
    *(ebi_lru_bytes *)(void *)to = up;
}

/* A hit moves to the front.  What is new goes there, too, or to place[deep]; place NULL: to the
 * front at once. */
LRU_TARGET EBI_INLINE bool LRU_MY(put)(uint8_t *line, uint64_t print, const LRU_MY(shape) * s,
                                       const ebi_lru_place *place, unsigned deep) {
    assert(print != 0 && deep <= EBI_LRU_CLASSES);
    LRU_MY(line) x, y;
    LRU_MY(load)(&x, line);
    LRU_MY(spread)(&y, print, s->f);
    const ebi_lru_plane differ = (x.low ^ y.low) | (x.high ^ y.high);
    ebi_lru_plane moved, open;
    const bool hit = LRU_MY(upto)(&differ, s, &moved);
    if (place) {
        place += deep & ((unsigned)hit - 1);
        open = *(const ebi_lru_bytes *)(const void *)place->open;
        moved &= open;
    }
    LRU_MY(move)(line, &x.low, &y.low, &moved, place ? place->at : NULL, s->f);
    LRU_MY(move)(line + 32, &x.high, &y.high, &moved, place ? place->at : NULL, s->f);
    return hit;
}

LRU_TARGET EBI_INLINE bool LRU_MY(has)(const uint8_t *line, uint64_t print,
                                       const LRU_MY(shape) * s) {
    assert(print != 0);
    LRU_MY(line) x, y;
    LRU_MY(load)(&x, line);
    LRU_MY(spread)(&y, print, s->f);
    const ebi_lru_plane differ = (x.low ^ y.low) | (x.high ^ y.high);
    ebi_lru_plane moved;
    return LRU_MY(upto)(&differ, s, &moved);
}

LRU_TARGET EBI_INLINE void LRU_MY(add)(const ebi_params *p, uint8_t *block, const ebi_batch *b,
                                       uint8_t *seen, unsigned w, bool ranked) {
    assert(b->n <= EBI_LONG_BATCH);
    const ebi_lru_batch keys = ebi_lru_batch_of(p, block, b->hash, b->n);
    const uint64_t leaders = ebi_lru_leaders(p);
    uint8_t *const lines = block + ebi_lru_first(p);
    const uint64_t before = ebi_head_of(block)->items;
    LRU_MY(shape) s;
    LRU_MY(shape_of)(&s, w, ebi_lru_b(p));
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
            continue;
        }
        const unsigned class = ranked ? ebi_lru_class(p, b->value[i]) : 0;
        /* Coins for the front and lines that are not full are rare: a branch costs less. */
        if (deep && ebi_lru_coin(keys.hash[i], before + i) >= rule.front[class] &&
            ebi_lru_last_of(line, s.last_field) != 0)
            seen[i] = LRU_MY(put)(line, print, &s, rule.place, 1 + class);
        else
            seen[i] = LRU_MY(put)(line, print, &s, NULL, 0);
    }
}

LRU_TARGET EBI_INLINE void LRU_MY(test)(const ebi_params *p, const uint8_t *block,
                                        const ebi_batch *b, uint8_t *seen, unsigned w) {
    assert(b->n <= EBI_LONG_BATCH);
    LRU_MY(shape) s;
    LRU_MY(shape_of)(&s, w, ebi_lru_b(p));
    const ebi_lru_batch keys = ebi_lru_batch_of(p, block, b->hash, b->n);
    ebi_lru_fetch_first(&keys, EBI_LRU_LINE_BYTES, false);
    for (size_t i = 0; i < keys.n; i++) {
        ebi_lru_fetch(&keys, i + EBI_LRU_AHEAD, EBI_LRU_LINE_BYTES, false);
        const uint64_t at = ebi_lru_answering(p, block, ebi_lru_bucket(&keys, i));
        seen[i] =
            LRU_MY(has)(keys.first + at * EBI_LRU_LINE_BYTES, ebi_lru_print(keys.hash[i], w), &s);
    }
}

/* A key that goes to the front of its line, whoever was there. */
LRU_TARGET EBI_INLINE bool LRU_MY(put_first)(const ebi_params *p, uint8_t *line, eb_hash h,
                                             unsigned w) {
    LRU_MY(shape) s;
    LRU_MY(shape_of)(&s, w, ebi_lru_b(p));
    return LRU_MY(put)(line, ebi_lru_print(h, w), &s, NULL, 0);
}

#define LRU_LOOP(w)                                                                                \
    LRU_TARGET static void LRU_MY(add_##w)(const ebi_params *p, uint8_t *block,                    \
                                           const ebi_batch *b, uint8_t *seen) {                    \
        LRU_MY(add)(p, block, b, seen, w, false);                                                  \
    }                                                                                              \
    LRU_TARGET static void LRU_MY(ranked_##w)(const ebi_params *p, uint8_t *block,                 \
                                              const ebi_batch *b, uint8_t *seen) {                 \
        LRU_MY(add)(p, block, b, seen, w, true);                                                   \
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
EBI_LRU_WIDTHS(LRU_LOOP)
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
      {.add = LRU_MY(ranked_##w), .test = LRU_MY(test_##w), .test_one = LRU_MY(test_one_##w)}}},
        EBI_LRU_WIDTHS(LRU_LOOP)
#undef LRU_LOOP
    };
    size_t i = 0;
    while (line[i].w != p->opt[EBI_LRU_W]) i++;
    return &line[i].ops[ebi_lru_is_ranked(p)];
}
#undef LRU_TARGET
#undef LRU_MY
#undef LRU_EQUAL
#undef LRU_LANE
#undef LRU_LANES
