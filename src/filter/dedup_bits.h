/* dedup_bits.h - what rsbf, bsbf, bsbfsd and rlbsbf share (Bera, Dutta, Narang and Bhattacherjee,
 * Advanced Bloom Filter Based Algorithms for Efficient Approximate Data De-Duplication in Streams).
 *
 *     | head | load[k]: set bits of each part, 8 bytes each, to 64 | part 0: s bits | ... | part
 * k-1 |
 *
 * A key has one bit in each part and is reported seen if all k are set.  To insert it, the filter
 * resets some bits, its victims, and then sets the key's own.  The four differ only in when they
 * insert and in how many victims they take.
 *
 * Chance.  Every record takes exactly one draw of the block's generator, used or not: so the draws
 * of a batch are known before its first key is tested, and victims can be on their way to the
 * cache together with the key's own bits.  The victim of part j is the j-th position of the draw
 * taken as a hash; whatever else chance decides for a record comes from a generator of its own
 * that starts at the draw.
 *
 * Victims are one for each part.  A part that loses nothing has the key's own bit as its victim,
 * which is set again right after: no branch, and no other cache line.
 *
 * Cost: k random cache lines a key, and one more for each victim of an inserted key. */
#ifndef EB_DEDUP_BITS_H
#define EB_DEDUP_BITS_H
#include "base/rng.h"
#include "cells/bitarray.h"
#include "loops.h"
#include "theory/theory.h"

/* Options: k first, then what the kind adds, then fpr. */
enum { EB_O_PARTS = EB_O_OWN };
#define EB_PARTS_OPTION                                                                            \
    { "k", "int", NULL, "1", "32", "bits for each key; 2 if fpr is not given", false }

/* The parts of one block while a batch is worked on. */
typedef struct ebi_parts {
    const eb_params *p;
    uint8_t *bits;
    uint64_t *load; /* of each part: how many bits are set */
    uint64_t s;     /* bits of a part */
    unsigned k;
} ebi_parts;

typedef struct ebi_record { /* a key on its way through the filter */
    const uint64_t *at;     /* its k bits */
    uint64_t number;        /* in the stream, from 1 */
    uint64_t draw;
    bool seen;
} ebi_record;

/* Fill victim[0..k-1], with the loads as they are before the insert. */
typedef void ebi_choose(const ebi_parts *d, const uint64_t *at, uint64_t draw, uint64_t *victim);
/* Change the bits as the record wants. */
typedef void ebi_step(const ebi_parts *d, const ebi_record *r);

EB_INLINE unsigned ebi_parts_k(const eb_params *p) {
    return (unsigned)p->opt[EB_O_PARTS];
}

EB_INLINE uint64_t ebi_parts_size(const eb_params *p) {
    return p->opt[EB_O_CELLS] / p->opt[EB_O_PARTS];
}

EB_INLINE uint64_t ebi_parts_loads_bytes(const eb_params *p) {
    return ebi_round_up(8 * p->opt[EB_O_PARTS], 64);
}

EB_INLINE const uint64_t *ebi_parts_loads(const uint8_t *block) {
    return (const uint64_t *)(const void *)(block + sizeof(eb_head));
}

EB_INLINE const uint8_t *ebi_parts_bits(const eb_params *p, const uint8_t *block) {
    return block + sizeof(eb_head) + ebi_parts_loads_bytes(p);
}

EB_INLINE void ebi_part_set(const ebi_parts *d, unsigned j, uint64_t at) {
    d->load[j] += !ebi_bit(d->bits, at);
    ebi_bit_set(d->bits, at);
}

EB_INLINE void ebi_part_reset(const ebi_parts *d, unsigned j, uint64_t at) {
    d->load[j] -= ebi_bit(d->bits, at);
    ebi_bit_clear(d->bits, at);
}

/* One random bit of each part. */
EB_INLINE void ebi_choose_all(const ebi_parts *d, const uint64_t *at, uint64_t draw,
                              uint64_t *victim) {
    (void)at;
    ebi_positions(draw, d->k, d->s, d->s, victim);
}

/* Reset the victims, then set the record's own bits. */
EB_INLINE void ebi_parts_insert(const ebi_parts *d, const ebi_record *r, ebi_choose *choose) {
    uint64_t victim[EB_K_MAX];
    choose(d, r->at, r->draw, victim);
    for (unsigned j = 0; j < d->k; j++) ebi_part_reset(d, j, victim[j]);
    for (unsigned j = 0; j < d->k; j++) ebi_part_set(d, j, r->at[j]);
}

EB_INLINE bool ebi_parts_seen(const uint8_t *bits, const uint64_t *at, unsigned k) {
    bool all = true;
    for (unsigned j = 0; j < k; j++) all &= ebi_bit(bits, at[j]);
    return all;
}

/* Compute a key's bits and bring in what it will change: those and, as far as the loads of now
 * tell, its victims.  A hint: nothing depends on it. */
EB_INLINE void ebi_parts_fetch(const ebi_parts *d, eb_hash h, uint64_t draw, ebi_choose *choose,
                               uint64_t *at) {
    uint64_t victim[EB_K_MAX];
    ebi_positions(h, d->k, d->s, d->s, at);
    choose(d, at, draw, victim);
    for (unsigned j = 0; j < d->k; j++) ebi_prefetch_write(d->bits + (at[j] >> 3));
    for (unsigned j = 0; j < d->k; j++) ebi_prefetch_write(d->bits + (victim[j] >> 3));
}

/* Far blocks are fetched this many keys ahead and not a batch at once: a key needs up to 2k lines
 * and some thought, and so one key's waiting hides another's thinking. */
enum { EB_PARTS_AHEAD = 8 };

EB_INLINE void ebi_parts_add(const eb_params *p, uint8_t *block, const eb_batch *b, uint8_t *seen,
                             unsigned k, bool far, ebi_step *step, ebi_choose *choose) {
    eb_head *const head = ebi_head(block);
    uint8_t *const loads = block + sizeof *head;
    const ebi_parts d = {p, loads + ebi_parts_loads_bytes(p), (uint64_t *)(void *)loads,
                         ebi_parts_size(p), k};
    uint64_t pos[EB_BATCH * EB_K_MAX], draw[EB_BATCH];
    for (size_t i = 0; i < b->n; i++) draw[i] = ebi_random(&head->rng);
    for (size_t i = 0; far && i < b->n && i < EB_PARTS_AHEAD; i++)
        ebi_parts_fetch(&d, b->hash[i], draw[i], choose, pos + i * k);
    for (size_t i = 0; i < b->n; i++) {
        const size_t next = i + EB_PARTS_AHEAD;
        uint64_t *const at = far ? pos + i * k : pos;
        if (far && next < b->n)
            ebi_parts_fetch(&d, b->hash[next], draw[next], choose, pos + next * k);
        if (!far) ebi_positions(b->hash[i], k, d.s, d.s, at);
        seen[i] = ebi_parts_seen(d.bits, at, k);
        const ebi_record r = {at, head->items + 1 + i, draw[i], seen[i]};
        step(&d, &r);
    }
}

EB_INLINE void ebi_parts_test(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                              uint8_t *seen, unsigned k, bool far) {
    const uint8_t *const bits = ebi_parts_bits(p, block);
    const uint64_t s = ebi_parts_size(p);
    eb_fetch fetch;
    ebi_fetch_open(&fetch, bits, 1, s, s, h, n, false);
    ebi_fetch_begin(&fetch, k, far);
    for (size_t i = 0; i < n; i++)
        seen[i] = ebi_parts_seen(bits, ebi_fetch_key(&fetch, i, k, far), k);
}

/* k= as given, or the smallest k for which fpr_of(k) is at most fpr=, or 2; then the size. */
typedef double ebi_fpr_of(const eb_params *p, double k);
eb_status ebi_parts_resolve(eb_params *p, const eb_args *a, const char *kind, size_t fpr_option,
                            ebi_fpr_of *fpr_of, eb_error *err);
eb_status ebi_parts_check(const eb_params *p, const uint8_t *block, eb_error *err);
void ebi_parts_stat(const eb_params *p, const uint8_t *block, eb_stats *s);
bool ebi_parts_view(const eb_params *p, const uint8_t *block, eb_cells_view *v);

/* What the mean field of src/theory says of this filter. */
void ebi_parts_predict(const eb_params *p, ebi_fade_rule rule, const eb_workload *w,
                       eb_prediction *out);
/* FPR after endless new keys. */
double ebi_parts_fpr_endless(ebi_fade_rule rule, double k);
/* Equation 6.1: the FPR of k parts with s keys in them and nothing reset, (1-1/e)^k. */
double ebi_parts_fpr_full(const eb_params *p, double k);
#endif
