/* counting.h - filters that count: an array of counters, and which k of them a
 * key has.
 *
 * The i-th counter of a key lies in part i of its window (window = n: of the
 * whole array), so a key's counters are always distinct.  Where every add raises
 * all k counters (linear), each counter is the sum of the counts of its keys. */
#ifndef EB_COUNTING_H
#define EB_COUNTING_H
#include "cells/counters.h"
#include "loops.h"
#include "theory/spectrum.h"

enum { EB_COUNTING_K_MAX = 16, EB_COUNTING_WINDOW = 512 };

typedef struct eb_counting { /* of one shard */
    const eb_store *store;
    eb_counters counters;
    uint64_t n, bytes, window, part;
    unsigned k;
    bool linear;
    uint64_t *total; /* of all multiplicities, 0 to EB_COUNTER_MAX; then it stays there */
} eb_counting;

EB_INLINE void ebi_counting_positions(const eb_counting *c, eb_hash h, uint64_t *pos) {
    const uint64_t first = c->window == c->n ? 0 : eb_scale(h, c->n - c->window + 1);
    ebi_positions(ebi_mix(h), c->k, c->part, c->part, pos);
    for (unsigned i = 0; i < c->k; i++) pos[i] += first;
}

/* Positions of n keys, k each, their counters on the way to the cache. */
EB_INLINE void ebi_counting_fetch(const eb_counting *c, const eb_hash *h, size_t n, uint64_t *pos) {
    for (size_t i = 0; i < n; i++) {
        ebi_counting_positions(c, h[i], pos + i * c->k);
        for (unsigned j = 0; j < c->k; j++)
            ebi_prefetch_write(c->store->address(&c->counters, pos[i * c->k + j]));
    }
}

EB_INLINE uint64_t ebi_counting_get(const eb_counting *c, uint64_t i) {
    return c->store->get(&c->counters, i);
}

EB_INLINE uint64_t ebi_counting_raise(const eb_counting *c, uint64_t i, uint64_t by) {
    return c->store->add(&c->counters, i, by); /* what it was before */
}

/* Raise all k; the least of them before. */
EB_INLINE uint64_t ebi_counting_raise_all(const eb_counting *c, const uint64_t *pos, uint64_t by) {
    uint64_t least = EB_COUNTER_MAX;
    for (unsigned j = 0; j < c->k; j++) least = ebi_min(least, ebi_counting_raise(c, pos[j], by));
    return least;
}

EB_INLINE void ebi_counting_lower_all(const eb_counting *c, const uint64_t *pos, uint64_t by) {
    for (unsigned j = 0; j < c->k; j++) c->store->sub(&c->counters, pos[j], by);
}

EB_INLINE uint64_t ebi_counting_least(const uint64_t *counter, unsigned k) {
    uint64_t least = counter[0];
    for (unsigned j = 1; j < k; j++) least = ebi_min(least, counter[j]);
    return least;
}

EB_INLINE uint64_t ebi_counting_minimum(const eb_counting *c, const uint64_t *pos,
                                        uint64_t *counter) {
    c->store->read(&c->counters, pos, c->k, counter);
    return ebi_counting_least(counter, c->k);
}

/* Raise the counters that are below the new estimate (minimal increase); the estimate before. */
EB_INLINE uint64_t ebi_counting_lift(const eb_counting *c, const uint64_t *pos, uint64_t by) {
    uint64_t counter[EB_COUNTING_K_MAX];
    const uint64_t least = ebi_counting_minimum(c, pos, counter);
    const uint64_t goal = ebi_counter_sum(least, by);
    for (unsigned j = 0; j < c->k; j++)
        if (counter[j] < goal) (void)ebi_counting_raise(c, pos[j], goal - counter[j]);
    return least;
}

EB_INLINE void ebi_counting_raise_total(const eb_counting *c, uint64_t by) {
    *c->total = ebi_counter_sum(*c->total, by);
}

/* Take a batch of at most EB_BATCH keys out of linear counters: all of it, or
 * none if a key was never there so often.  Sums know no order: what is put back
 * leaves everything as it was. */
eb_status ebi_counting_remove(const eb_counting *c, const eb_batch *b);
void ebi_counting_restore(const eb_counting *c, const eb_batch *b);
void ebi_counting_merge(const eb_counting *into, const eb_counting *from);

/* The most counters whose segment fits into a budget of bytes. */
uint64_t ebi_counting_cells(const eb_store *store, uint64_t budget, uint64_t bits);

/* What kinds with counters settle alike: bits for each counter, as many counters as fit behind
 * `fixed` bytes of other segments if cells= is not given; and the window. */
eb_status ebi_counting_resolve_bits(eb_params *p, const eb_args *a, const char *kind,
                                    const eb_store *store, size_t o_bits, eb_error *err);
eb_status ebi_counting_resolve_cells(eb_params *p, const eb_args *a, const char *kind,
                                     const eb_store *store, size_t o_bits, uint64_t fixed,
                                     eb_error *err);
eb_status ebi_counting_resolve_window(eb_params *p, const eb_args *a, const char *kind,
                                      size_t o_window, size_t o_k, eb_error *err);

void ebi_counting_stat(const eb_counting *c, eb_stats *out);
void ebi_counting_predict(const eb_counting *c, const eb_workload *w, eb_prediction *out);

/* How keys share counters under a load; false: an endless stream.  Then, what a policy makes of it
 * (for windows, where some places are fuller than others, scaled as the errors of ms are). */
typedef struct eb_counting_load {
    ebi_spectrum spectrum;
    ebi_sharing sharing;
} eb_counting_load;
bool ebi_counting_load(const eb_counting *c, const eb_workload *w, eb_counting_load *out);
void ebi_counting_predict_errors(const eb_counting *c, const eb_counting_load *l,
                                 ebi_count_errors e, eb_prediction *out);
#endif
