/* choosy.h - what the loops in choosy.c and choosy_avx2.c share: the lines, the cost of a key, and
 * the rule for taking it in. choosy.c explains the filter. */
#ifndef EBI_CHOOSY_H
#define EBI_CHOOSY_H
#include "filter/loops.h"

enum {
    EBI_CHOOSY_K = EBI_O_OWN,
    EBI_CHOOSY_S,
    EBI_CHOOSY_XMAX,
    EBI_CHOOSY_DISTINCT,
    EBI_CHOOSY_SHARE,
    EBI_CHOOSY_FPR,
    EBI_CHOOSY_ORDER,
    EBI_CHOOSY_RETRY
};
enum { EBI_CHOOSY_SHUFFLED, EBI_CHOOSY_ANY };
enum { EBI_CHOOSY_BITS = 512, EBI_CHOOSY_BYTES = 64 }; /* of a line */
enum { EBI_CHOOSY_MILLION = 1000000, EBI_CHOOSY_BONUS = 200000 };
#define EBI_CHOOSY_R_ONE (UINT64_C(1) << 62)

typedef struct ebi_choosy_state { /* the first segment */
    uint64_t r;
    uint64_t reserved[7]; /* zero */
} ebi_choosy_state;
static_assert(sizeof(ebi_choosy_state) == 64, "one cache line");

enum { EBI_CHOOSY_LINES_AT = sizeof(ebi_block_head) + sizeof(ebi_choosy_state) };

EBI_INLINE unsigned ebi_choosy_k(const ebi_params *p) {
    return (unsigned)p->opt[EBI_CHOOSY_K];
}

EBI_INLINE uint64_t ebi_choosy_lines(const ebi_params *p) {
    return p->opt[EBI_O_CELLS] / EBI_CHOOSY_BITS;
}

EBI_INLINE unsigned ebi_choosy_line_max(const ebi_params *p) { /* bits that may be set in a line */
    return (unsigned)(p->opt[EBI_CHOOSY_XMAX] * EBI_CHOOSY_BITS / EBI_CHOOSY_MILLION);
}

/* The lines, and the hashes of a batch of keys. */
typedef struct ebi_choosy_batch {
    const uint8_t *block;
    uint64_t lines;
    const eb_hash *hash;
    size_t n;
} ebi_choosy_batch;

/* The offset of key i's line in the block. */
EBI_INLINE uint64_t ebi_choosy_at(const ebi_choosy_batch *b, size_t i) {
    assert(i < b->n);
    return EBI_CHOOSY_LINES_AT + eb_scale(b->hash[i], b->lines) * EBI_CHOOSY_BYTES;
}

/* Lines are prefetched this many keys ahead, so that memory and arithmetic overlap. */
enum { EBI_CHOOSY_AHEAD = 48 };

EBI_INLINE void ebi_choosy_fetch(const ebi_choosy_batch *b, size_t i, bool write) {
    if (i >= b->n) return;
    if (write)
        ebi_prefetch_write(b->block + ebi_choosy_at(b, i));
    else
        ebi_prefetch_read(b->block + ebi_choosy_at(b, i));
}

EBI_INLINE void ebi_choosy_fetch_first(const ebi_choosy_batch *b, bool write) {
    for (size_t i = 0; i < EBI_CHOOSY_AHEAD; i++) ebi_choosy_fetch(b, i, write);
}

/* A key's places are fields of nine bits, lowest first. */
enum { EBI_CHOOSY_FIELD_BITS = 9, EBI_CHOOSY_FIELDS = 6 };

/* Operations on a line, and on n <= EBI_CHOOSY_FIELDS places in it. */
typedef struct ebi_choosy_code {
    unsigned (*zeros)(const uint8_t *line, uint64_t fields, unsigned n); /* places that are zero */
    unsigned (*used)(const uint8_t *line); /* bits that are set in the line */
    /* Sets the places if `take` is 1, and nothing if it is 0.  Whether a key is taken in is hard to
     * predict, and a mispredicted branch costs more than writing back what was there. */
    void (*set)(uint8_t *line, uint64_t fields, unsigned n, uint64_t take);
    /* Sets the places.  Returns whether all of them were set. */
    bool (*put)(uint8_t *line, uint64_t fields, unsigned n);
} ebi_choosy_code;

EBI_INLINE unsigned ebi_choosy_zeros(const uint8_t *line, uint64_t mix, unsigned k,
                                     ebi_choosy_code code) {
    assert(k >= 1);
    enum { CHOOSY_FIELDS = EBI_CHOOSY_FIELDS };
    if (k <= CHOOSY_FIELDS) return code.zeros(line, mix, k);
    return code.zeros(line, mix, CHOOSY_FIELDS) + code.zeros(line, ebi_mix(mix), k - CHOOSY_FIELDS);
}

EBI_INLINE void ebi_choosy_set(uint8_t *line, uint64_t mix, unsigned k, uint64_t take,
                               ebi_choosy_code code) {
    enum { CHOOSY_FIELDS = EBI_CHOOSY_FIELDS };
    code.set(line, mix, k <= CHOOSY_FIELDS ? k : CHOOSY_FIELDS, take);
    if (k > CHOOSY_FIELDS) code.set(line, ebi_mix(mix), k - CHOOSY_FIELDS, take);
}

EBI_INLINE bool ebi_choosy_put(uint8_t *line, uint64_t mix, unsigned k, ebi_choosy_code code) {
    enum { CHOOSY_FIELDS = EBI_CHOOSY_FIELDS };
    if (k <= CHOOSY_FIELDS) return code.put(line, mix, k);
    const bool first = code.put(line, mix, CHOOSY_FIELDS);
    return code.put(line, ebi_mix(mix), k - CHOOSY_FIELDS) && first;
}

/* zeros <= price + u + 0.2(1/R - 1), multiplied by R to avoid a division. */
EBI_INLINE bool ebi_choosy_is_cheap(unsigned zeros, unsigned used, uint64_t mix, uint64_t r,
                                    unsigned k, int64_t s) {
    assert(zeros <= k && used <= 512);
    enum { CHOOSY_PART = EBI_CHOOSY_MILLION / 64, CHOOSY_BONUS = EBI_CHOOSY_BONUS };
    const int64_t average =
        (int64_t)k * (EBI_CHOOSY_BITS - used) * CHOOSY_PART / (EBI_CHOOSY_BITS / 64);
    const int64_t u = (int64_t)(mix >> 56) * CHOOSY_PART / 4;
    const int64_t over = (int64_t)zeros * EBI_CHOOSY_MILLION - average - s - u;
    return (over + CHOOSY_BONUS) * (int64_t)(r >> 30) <= (int64_t)CHOOSY_BONUS << 32;
}

/* A random number for a key that comes after so many others.  It needs no generator and no
 * state. */
EBI_INLINE uint64_t ebi_choosy_coin(eb_hash h, uint64_t before) {
    return (h + before * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd1342543de82ef95);
}

EBI_INLINE uint64_t ebi_choosy_retry(const ebi_params *p) { /* in 2^-64 */
    const uint64_t share = (p->opt[EBI_CHOOSY_RETRY] << 32) / EBI_CHOOSY_MILLION;
    return share >> 32 ? UINT64_MAX : share << 32;
}

typedef struct ebi_choosy_rule { /* which keys are taken in */
    uint64_t r, step;
    int64_t s;
    unsigned line_max;
    bool plain;      /* all of them */
    uint64_t retry;  /* keys that are not cheap are taken in if their random number is below this */
    uint64_t before; /* keys that came before the batch */
} ebi_choosy_rule;

EBI_INLINE ebi_choosy_rule ebi_choosy_rule_of(const ebi_params *p, const uint8_t *block,
                                              unsigned k) {
    const int64_t s = (int64_t)p->opt[EBI_CHOOSY_S];
    const unsigned most = ebi_choosy_line_max(p);
    return (ebi_choosy_rule){ebi_load64(block + sizeof(ebi_block_head)),
                             EBI_CHOOSY_R_ONE / (4 * ebi_choosy_lines(p)),
                             s,
                             most,
                             s >= (int64_t)k * EBI_CHOOSY_MILLION && most == EBI_CHOOSY_BITS,
                             ebi_choosy_retry(p),
                             ebi_head_of(block)->items};
}

/* Moves R towards 1 for a new key, else towards 0. */
EBI_INLINE void ebi_choosy_note(ebi_choosy_rule *rule, bool seen) {
    rule->r += (rule->step & ((uint64_t)seen - 1)) - ebi_high_half(rule->r, rule->step << 2);
}

EBI_INLINE bool ebi_choosy_observe(uint8_t *line, uint64_t mix, uint64_t coin, unsigned k,
                                   ebi_choosy_rule *rule, ebi_choosy_code code) {
    const unsigned zeros = ebi_choosy_zeros(line, mix, k, code), used = code.used(line);
    ebi_choosy_note(rule, zeros == 0);
    const bool wanted =
        ebi_choosy_is_cheap(zeros, used, mix, rule->r, k, rule->s) | (coin < rule->retry);
    ebi_choosy_set(line, mix, k, (used + zeros <= rule->line_max) & wanted, code);
    return zeros == 0;
}

EBI_INLINE bool ebi_choosy_take(uint8_t *line, uint64_t mix, unsigned k, ebi_choosy_rule *rule,
                                ebi_choosy_code code) {
    const bool seen = ebi_choosy_put(line, mix, k, code);
    ebi_choosy_note(rule, seen);
    return seen;
}

EBI_INLINE void ebi_choosy_add(const ebi_params *p, uint8_t *block, const ebi_batch *b,
                               uint8_t *seen, unsigned k, bool far, ebi_choosy_code code) {
    assert(b->n <= EBI_LONG_BATCH);
    const ebi_choosy_batch keys = {block, ebi_choosy_lines(p), b->hash, b->n};
    ebi_choosy_rule rule = ebi_choosy_rule_of(p, block, k);
    if (far) ebi_choosy_fetch_first(&keys, true);
    for (size_t i = 0; i < keys.n; i++) {
        if (far) ebi_choosy_fetch(&keys, i + EBI_CHOOSY_AHEAD, true);
        uint8_t *const line = block + ebi_choosy_at(&keys, i);
        const uint64_t mix = ebi_mix(keys.hash[i]);
        seen[i] = rule.plain ? ebi_choosy_take(line, mix, k, &rule, code)
                             : ebi_choosy_observe(line, mix,
                                                  ebi_choosy_coin(keys.hash[i], rule.before + i), k,
                                                  &rule, code);
    }
    ebi_store64(block + sizeof(ebi_block_head), rule.r);
}

EBI_INLINE void ebi_choosy_test(const ebi_params *p, const uint8_t *block, const eb_hash *h,
                                size_t n, uint8_t *seen, unsigned k, bool far,
                                ebi_choosy_code code) {
    assert(n <= EBI_LONG_BATCH);
    const ebi_choosy_batch keys = {block, ebi_choosy_lines(p), h, n};
    if (far) ebi_choosy_fetch_first(&keys, false);
    for (size_t i = 0; i < n; i++) {
        if (far) ebi_choosy_fetch(&keys, i + EBI_CHOOSY_AHEAD, false);
        const uint8_t *const line = block + ebi_choosy_at(&keys, i);
        seen[i] = ebi_choosy_zeros(line, ebi_mix(h[i]), k, code) == 0;
    }
}

/* The loops for p: portable ones, and those with AVX2 or NULL if this machine has none. */
const ebi_ops *ebi_choosy_portable(const ebi_params *p);
const ebi_ops *ebi_choosy_avx2(const ebi_params *p);
#endif
