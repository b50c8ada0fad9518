/* dedup_bits.h - what rsbf, bsbf, bsbfsd and rlbsbf share (Bera, Dutta, Narang and Bhattacherjee,
 * Advanced Bloom Filter Based Algorithms for Efficient Approximate Data De-Duplication in Streams).
 *
 * A key has one bit in each of k parts and is reported seen if all k are set.  To insert a key, the
 * filter resets some random bits, its victims, and then sets the key's own.  The four kinds differ
 * only in when they insert and how many victims they take.  A key costs k random cache lines, and
 * an inserted key one more for each victim.
 *
 *       | head | load[k]: set bits of each part, 8 bytes each, to 64 | part 0: s bits | part 1 ...
 * |
 *
 * Every record takes exactly one draw from the block's generator, used or not.  So the draws of a
 * batch are known before its first key is tested, and victims can be prefetched together with the
 * key's own bits.  The victim of part j is the j-th position of the draw, taken as a hash.
 * Whatever else is random for a record comes from a generator of its own that begins with the draw.
 *
 * There is one victim for each part.  A part that loses nothing gets the key's own bit as victim,
 * which is then set again.  This avoids a branch and touches no further cache line. */
#ifndef EBI_DEDUP_BITS_H
#define EBI_DEDUP_BITS_H
#include "base/rng.h"
#include "cells/bitarray.h"
#include "filter/loops.h"
#include "math/probability.h"

/* The first options of all four, and what else they have in common. */
enum { EBI_O_PARTS = EBI_O_OWN, EBI_O_PARTS_FPR, EBI_O_PARTS_OWN };
#define EBI_PARTS_OPTIONS(fpr)                                                                     \
    EBI_COMMON_OPTIONS,                                                                            \
        {"k", "int", NULL, "1", "32", "bits for each key; 2 if fpr is not given", false}, {        \
        "fpr", "real", NULL, "1e-6", "0.5", fpr, true                                              \
    }
#define EBI_PARTS_PAPER                                                                            \
    "Bera et al., Advanced Bloom Filter Based Algorithms for De-Duplication, Algorithm "
#define EBI_PARTS_MEMBERS                                                                          \
    .version = 1, .check = ebi_parts_check, .stat = ebi_parts_stat, .view = ebi_parts_view

/* The parts of one block while it processes a batch. */
typedef struct ebi_parts {
    const ebi_params *p;
    uint8_t *bits;
    uint64_t *load; /* of each part: the number of bits set */
    uint64_t s;     /* bits of a part */
    unsigned k;
} ebi_parts;

typedef struct ebi_record { /* a key while it is processed */
    const uint64_t *at;     /* its k bits */
    uint64_t number;        /* its number in the stream, from 1 */
    uint64_t draw;
    bool seen;
} ebi_record;

/* Fills victim[0..k-1], from the loads before the insert. */
typedef void ebi_choose(const ebi_parts *d, const uint64_t *at, uint64_t draw, uint64_t *victim);
/* Changes the bits for a record. */
typedef void ebi_step(const ebi_parts *d, const ebi_record *r);

EBI_INLINE unsigned ebi_parts_k(const ebi_params *p) {
    return (unsigned)p->opt[EBI_O_PARTS];
}

EBI_INLINE uint64_t ebi_parts_size(const ebi_params *p) {
    return p->opt[EBI_O_CELLS] / p->opt[EBI_O_PARTS];
}

EBI_INLINE uint64_t ebi_parts_loads_bytes(const ebi_params *p) {
    return ebi_round_up(8 * p->opt[EBI_O_PARTS], 64);
}

EBI_INLINE const uint64_t *ebi_parts_loads(const uint8_t *block) {
    return (const uint64_t *)(const void *)(block + sizeof(ebi_block_head));
}

EBI_INLINE const uint8_t *ebi_parts_bits(const ebi_params *p, const uint8_t *block) {
    return block + sizeof(ebi_block_head) + ebi_parts_loads_bytes(p);
}

EBI_INLINE void ebi_part_set(const ebi_parts *d, unsigned j, uint64_t at) {
    assert(j < d->k && at / d->s == j);
    d->load[j] += !ebi_bit(d->bits, at);
    ebi_bit_set(d->bits, at);
}

EBI_INLINE void ebi_part_reset(const ebi_parts *d, unsigned j, uint64_t at) {
    assert(j < d->k && at / d->s == j);
    d->load[j] -= ebi_bit(d->bits, at);
    ebi_bit_clear(d->bits, at);
}

/* One random bit of each part. */
EBI_INLINE void ebi_choose_all(const ebi_parts *d, const uint64_t *at, uint64_t draw,
                               uint64_t *victim) {
    (void)at;
    ebi_positions(draw, d->k, d->s, d->s, victim);
}

/* Resets the victims, then sets the record's own bits. */
EBI_INLINE void ebi_parts_insert(const ebi_parts *d, const ebi_record *r, ebi_choose *choose) {
    uint64_t victim[EBI_K_MAX];
    choose(d, r->at, r->draw, victim);
    for (unsigned j = 0; j < d->k; j++) ebi_part_reset(d, j, victim[j]);
    for (unsigned j = 0; j < d->k; j++) ebi_part_set(d, j, r->at[j]);
}

EBI_INLINE bool ebi_parts_seen(const uint8_t *bits, const uint64_t *at, unsigned k) {
    assert(k >= 1);
    bool all = true;
    for (unsigned j = 0; j < k; j++) all &= ebi_bit(bits, at[j]);
    return all;
}

/* Computes a key's bits, and prefetches them and its victims, as far as the present loads tell
 * them.  The result does not depend on this. */
EBI_INLINE void ebi_parts_fetch(const ebi_parts *d, eb_hash h, uint64_t draw, ebi_choose *choose,
                                uint64_t *at) {
    uint64_t victim[EBI_K_MAX];
    ebi_positions(h, d->k, d->s, d->s, at);
    choose(d, at, draw, victim);
    for (unsigned j = 0; j < d->k; j++) ebi_prefetch_write(d->bits + (at[j] >> 3));
    for (unsigned j = 0; j < d->k; j++) ebi_prefetch_write(d->bits + (victim[j] >> 3));
}

/* How many keys ahead far blocks are prefetched.  It is less than a batch, because a key needs up
 * to 2k lines and some computing, which overlap with those of the next keys. */
enum { EBI_PARTS_AHEAD = 8 };

EBI_INLINE void ebi_parts_add(const ebi_params *p, uint8_t *block, const ebi_batch *b,
                              uint8_t *seen, unsigned k, bool far, ebi_step *step,
                              ebi_choose *choose) {
    assert(b->n <= EBI_BATCH);
    ebi_block_head *const head = ebi_head(block);
    uint8_t *const loads = block + sizeof *head;
    const ebi_parts d = {p, loads + ebi_parts_loads_bytes(p), (uint64_t *)(void *)loads,
                         ebi_parts_size(p), k};
    uint64_t pos[EBI_BATCH * EBI_K_MAX], draw[EBI_BATCH];
    for (size_t i = 0; i < b->n; i++) draw[i] = ebi_random(&head->rng);
    for (size_t i = 0; far && i < b->n && i < EBI_PARTS_AHEAD; i++)
        ebi_parts_fetch(&d, b->hash[i], draw[i], choose, pos + i * k);
    for (size_t i = 0; i < b->n; i++) {
        const size_t next = i + EBI_PARTS_AHEAD;
        uint64_t *const at = far ? pos + i * k : pos;
        if (far && next < b->n)
            ebi_parts_fetch(&d, b->hash[next], draw[next], choose, pos + next * k);
        if (!far) ebi_positions(b->hash[i], k, d.s, d.s, at);
        seen[i] = ebi_parts_seen(d.bits, at, k);
        const ebi_record r = {at, head->items + 1 + i, draw[i], seen[i]};
        step(&d, &r);
    }
}

EBI_INLINE void ebi_parts_test(const ebi_params *p, const uint8_t *block, const eb_hash *h,
                               size_t n, uint8_t *seen, unsigned k, bool far) {
    assert(n <= EBI_BATCH);
    const uint8_t *const bits = ebi_parts_bits(p, block);
    const uint64_t s = ebi_parts_size(p);
    ebi_fetch fetch;
    ebi_fetch_open(&fetch, bits, 1, s, s, h, n, false);
    ebi_fetch_begin(&fetch, k, far);
    for (size_t i = 0; i < n; i++)
        seen[i] = ebi_parts_seen(bits, ebi_fetch_key(&fetch, i, k, far), k);
}

/* The loops of a kind that has FILE_step: see loops.h. */
#define EBI_PARTS_LOOPS(file, choose)                                                              \
    EBI_INLINE unsigned file##_k(const ebi_params *p) {                                            \
        return ebi_parts_k(p);                                                                     \
    }                                                                                              \
    EBI_INLINE void file##_add(const ebi_params *p, uint8_t *block, const ebi_batch *b,            \
                               uint8_t *seen, unsigned k, bool far) {                              \
        ebi_parts_add(p, block, b, seen, k, far, file##_step, choose);                             \
    }                                                                                              \
    EBI_INLINE void file##_test(const ebi_params *p, const uint8_t *block, const eb_hash *h,       \
                                size_t n, uint8_t *seen, unsigned k, bool far) {                   \
        ebi_parts_test(p, block, h, n, seen, k, far);                                              \
    }                                                                                              \
    EBI_LOOPS(file)

/* Resolves k: as given, or the smallest for which fpr_of(k) is at most fpr=, or 2.  Then resolves
 * the size.  Keeps the rule for predictions. */
enum { EBI_PARTS_RULE }; /* in ebi_params.derived */
typedef double ebi_fpr_of(const ebi_params *p, double k);
eb_status ebi_parts_resolve(ebi_params *p, const ebi_args *a, const char *kind, ebi_fade_rule rule,
                            ebi_fpr_of *fpr_of, eb_error *err);
eb_status ebi_parts_check(const ebi_params *p, const uint8_t *block, eb_error *err);
void ebi_parts_stat(const ebi_params *p, const uint8_t *block, eb_stats *s);
bool ebi_parts_view(const ebi_params *p, const uint8_t *block, eb_cells_view *v);

/* Predictions by src/math/meanfield.c. */
void ebi_parts_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out);
/* The FPR after endlessly many new keys. */
double ebi_parts_fpr_endless(const ebi_params *p, double k);
/* Equation 6.1: the FPR of k parts that have s keys and never reset anything, (1-1/e)^k. */
double ebi_parts_fpr_full(const ebi_params *p, double k);
#endif
