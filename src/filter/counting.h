/* counting.h - filters that count: an array of counters, and which k of them a
 * key has.
 *
 * The i-th counter of a key lies in part i of its window (window = n: of the
 * whole array), so a key's counters are always distinct.  Where every add raises
 * all k counters (linear), each counter is the sum of the counts of its keys.
 *
 *     | head | eb_counting_state | counters: a store of cells/counters.h | the kind's own |
 *
 * frozen= says that the counters are in a frozen store of room= bytes, and that the
 * filter takes no more keys; everything else is as it was before.  The store that
 * they had stays in the spec, for thawing. */
#ifndef EB_COUNTING_H
#define EB_COUNTING_H
#include "cells/claims.h"
#include "cells/counters.h"
#include "loops.h"
#include "theory/spectrum.h"

enum { EB_COUNTING_K_MAX = EB_TOGETHER_MAX, EB_COUNTING_WINDOW = 512 };

/* Options that these kinds have after the common ones, and before their own. */
enum {
    EB_C_K = EB_O_OWN,
    EB_C_POLICY,
    EB_C_STORE,
    EB_C_WINDOW,
    EB_C_BITS,
    EB_C_FROZEN, /* room must follow: see eb_kind */
    EB_C_ROOM,
    EB_C_OWN
};
#define EB_COUNTING_OPTIONS(k_min, policies, policy, policy_help)                                  \
    EB_COMMON_OPTIONS, {"k", "int", "5", k_min, "16", "counters for each key", false},             \
        {"policy", policies, policy, NULL, NULL, policy_help, false},                              \
        {"store", "u8|u32|line|sai", "u8", NULL, NULL, "how counters are laid out", false},        \
        {"window", "int", NULL, "0", "65536", "counters among which a key's lie; 0: all", false},  \
        {"bits", "fixed", NULL, "1", "64", "memory for each counter, in bits", false},             \
        {"frozen", "no|line|elias|steps", "no", NULL, NULL, "code of a frozen filter's counters",  \
         false},                                                                                   \
    {                                                                                              \
        "room", "count", NULL, "128", "1e14", "bytes of a shard's frozen counters", false          \
    }

typedef struct eb_counting_state {
    uint64_t total;  /* of all multiplicities, 0 to EB_COUNTER_MAX; then it stays there */
    uint64_t sealed; /* 1: the outcome of an operation on filters, which takes no more keys */
    uint64_t reserved[6];
} eb_counting_state;
static_assert(sizeof(eb_counting_state) == 64, "one cache line");
enum { EB_COUNTING_FIXED = sizeof(eb_head) + sizeof(eb_counting_state) };

EB_INLINE eb_counting_state *ebi_counting_state(const uint8_t *block) { /* to write if it is */
    return (eb_counting_state *)(void *)ebi_writable(block + sizeof(eb_head));
}

typedef struct eb_counting { /* of one shard */
    const eb_store *store;
    eb_counters counters;
    uint64_t n, bytes, window, part;
    unsigned k;
    bool linear;
    uint64_t *total; /* in the state */
} eb_counting;

/* The store that keys are added to, and the frozen one of that name (NULL: there is none). */
const eb_store *ebi_counting_store(const eb_params *p);
const eb_store *ebi_counting_frozen(const char *code);

uint64_t ebi_counting_bytes(const eb_params *p, uint64_t n); /* of n counters, not frozen */
uint64_t ebi_counting_first_bytes(const eb_params *p);       /* of the filter's, as they are */

/* n counters of the filter's shape, without a place; and the first counters of a block. */
eb_counting ebi_counting_shape(const eb_params *p, const eb_store *store, uint64_t n);
eb_counting ebi_counting_first(const eb_params *p);
eb_counting ebi_counting_open(const eb_params *p, const uint8_t *block);

/* What comes after cells= and p->span: the window, and whether the filter is frozen. */
eb_status ebi_counting_resolve(eb_params *p, const eb_args *a, const char *kind, eb_error *err);

/* Do state and first counters make sense? */
bool ebi_counting_check(const eb_counting *c, const eb_counting_state *state);

/* FILE_test and FILE_count of a kind that has FILE_estimates. */
#define EB_COUNTING_LOOPS(file)                                                                    \
    static void file##_test(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,  \
                            uint8_t *seen) {                                                       \
        uint64_t estimate[EB_BATCH];                                                               \
        file##_estimates(p, block, h, n, estimate);                                                \
        for (size_t i = 0; i < n; i++) seen[i] = estimate[i] > 0;                                  \
    }                                                                                              \
    static void file##_count(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n, \
                             double *count) {                                                      \
        uint64_t estimate[EB_BATCH];                                                               \
        file##_estimates(p, block, h, n, estimate);                                                \
        for (size_t i = 0; i < n; i++) count[i] = (double)estimate[i];                             \
    }

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

/* Raise all k; was none of them 0? */
EB_INLINE bool ebi_counting_raise_all(const eb_counting *c, const uint64_t *pos, uint64_t by) {
    return c->store->raise(&c->counters, pos, c->k, by);
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
    return c->store->lift(&c->counters, pos, c->k, by);
}

EB_INLINE void ebi_counting_ready(const eb_counting *c, const uint64_t *pos) {
    c->store->ready(&c->counters, pos, c->k);
}

/* How many keys before their turn to be lifted do keys get ready?  The first ones of n do it here;
 * n if that is not needed. */
EB_INLINE size_t ebi_counting_ahead(const eb_counting *c, const uint64_t *pos, size_t n) {
    enum { AHEAD = 8 };
    if (c->linear || !c->store->ready) return n;
    for (size_t i = 1; i < AHEAD && i < n; i++) ebi_counting_ready(c, pos + i * c->k);
    return AHEAD;
}

EB_INLINE void ebi_counting_raise_total(const eb_counting *c, uint64_t by) {
    *c->total = ebi_counter_sum(*c->total, by);
}

/* Take a batch of at most EB_BATCH keys out of linear counters, once they have their claims: to k
 * counters each, and to the total.  Counters that are full stay so. */
unsigned ebi_counting_claims(const eb_params *p); /* of a key, the total being one of a shard's */
eb_status ebi_counting_claim(const eb_counting *c, const eb_batch *b, const eb_claims *claims);
void ebi_counting_remove(const eb_counting *c, const eb_batch *b);
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

/* Counters at their largest number.  A store knows only of those that found no room in it, not of
 * those that came full from elsewhere: merged, or thawed. */
uint64_t ebi_counting_saturated(const eb_counting *c);
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
