/* counting.h - filters that count: an array of counters in a store, and k counters for each key.
 *
 * A key's window is the part of the array where its counters are: span= neighbouring counters, or
 * the whole array with span=0.  It is divided into k parts, and the i-th counter of a key is in
 * part i, so a key's counters always differ.  If every add raises all k counters (linear), a
 * counter is the sum of the counts of its keys.
 *
 *       | head | ebi_counting_words | counters: a store of cells/counters.h | the kind's own |
 *
 * frozen= says that the counters are in a frozen store of room= bytes, and that the filter takes no
 * more keys.  The spec still names the store that they were in before, for thawing. */
#ifndef EBI_COUNTING_H
#define EBI_COUNTING_H
#include "cells/claims.h"
#include "cells/counters.h"
#include "cells/wide.h"
#include "filter/loops.h"
#include "math/spectrum.h"

enum { EBI_COUNTING_K_MAX = EBI_TOGETHER_MAX, EBI_COUNTING_WINDOW = 512 };

/* The options that these kinds have after the common ones and before their own. */
enum {
    EBI_C_K = EBI_O_OWN,
    EBI_C_POLICY,
    EBI_C_STORE,
    EBI_C_WINDOW,
    EBI_C_BITS,
    EBI_C_FROZEN, /* room must follow: see ebi_counted */
    EBI_C_ROOM,
    EBI_C_OWN
};
#define EBI_COUNTING_OPTIONS(k_min, name, ways, way, help, stores, store)                            \
    EBI_COMMON_OPTIONS, {"k", "int", "5", k_min, "16", "counters for each key", false},              \
        {name, ways, way, NULL, NULL, help, false},                                                  \
        {"store", stores, store, NULL, NULL, "layout of the counters", false},                       \
        {"span", "int", NULL, "0", "65536", "a key's counters are this close together; 0: anywhere", \
         false},                                                                                     \
        {"counter_bits", "fixed", NULL, "1", "64", "memory for each counter, in bits", false},       \
        {"frozen", "no|line", "no", NULL, NULL, "line: read-only, in fewer bytes", false}, {         \
        "room", "count", NULL, "128", "1e14", "bytes of a shard's frozen counters", false            \
    }

typedef struct ebi_counting_words {
    uint64_t total;  /* of all values added, 0 to EBI_COUNTER_MAX, where it stays */
    uint64_t sealed; /* 1: the result of an operation on filters, which takes no more keys */
    uint64_t reserved[6];
} ebi_counting_words;
static_assert(sizeof(ebi_counting_words) == 64, "one cache line");
enum { EBI_COUNTING_FIXED = sizeof(ebi_block_head) + sizeof(ebi_counting_words) };

EBI_INLINE ebi_counting_words *
ebi_counting_state(const uint8_t *block) { /* writable if the block is */
    return (ebi_counting_words *)(void *)ebi_writable(block + sizeof(ebi_block_head));
}

typedef struct ebi_counting { /* of one shard */
    const ebi_store *store;
    ebi_counter_array counters;
    uint64_t n, bytes, window, part;
    unsigned k;
    bool linear;     /* each counter is the sum of its keys' counts */
    bool joins;      /* store=wide, or a frozen filter that had it */
    uint64_t *total; /* in the state */
} ebi_counting;

/* The store that keys are added to. */
const ebi_store *ebi_counting_store(const ebi_params *p);

uint64_t ebi_counting_bytes(const ebi_params *p, uint64_t n); /* of n counters, not frozen */
uint64_t ebi_counting_first_bytes(const ebi_params *p); /* of the filter's counters, as they are */

/* n counters of the filter's shape, without memory; and the first counters of a block. */
ebi_counting ebi_counting_shape(const ebi_params *p, const ebi_store *store, uint64_t n);
ebi_counting ebi_counting_first(const ebi_params *p);
ebi_counting ebi_counting_open(const ebi_params *p, const uint8_t *block);

/* Resolves what depends on cells= and p->span: the window, and whether the filter is frozen. */
eb_status ebi_counting_resolve(ebi_params *p, const ebi_args *a, const char *kind, eb_error *err);

/* Whether state and first counters are consistent; and whether the counters alone add up to the
 * total. */
bool ebi_counting_check(const ebi_counting *c, const ebi_counting_words *state);
bool ebi_counting_adds_up(const ebi_counting *c);

/* Defines FILE_test and FILE_count for a kind that has FILE_estimates. */
#define EBI_COUNTING_LOOPS(file)                                                                   \
    static void file##_test(const ebi_params *p, const uint8_t *block, const ebi_batch *b,         \
                            uint8_t *seen) {                                                       \
        uint64_t estimate[EBI_BATCH];                                                              \
        file##_estimates(p, block, b->hash, b->n, estimate);                                       \
        for (size_t i = 0; i < b->n; i++) seen[i] = estimate[i] > 0;                               \
    }                                                                                              \
    static void file##_count(const ebi_params *p, const uint8_t *block, const ebi_batch *b,        \
                             double *count) {                                                      \
        uint64_t estimate[EBI_BATCH];                                                              \
        file##_estimates(p, block, b->hash, b->n, estimate);                                       \
        for (size_t i = 0; i < b->n; i++) count[i] = ebi_counter_count(estimate[i]);               \
    }

EBI_INLINE void ebi_counting_positions(const ebi_counting *c, eb_hash h, uint64_t *pos) {
    assert(c->k >= 1 && c->part >= 1 && c->window <= c->n);
    const uint64_t first = c->window == c->n ? 0 : eb_scale(h, c->n - c->window + 1);
    ebi_positions(ebi_mix(h), c->k, c->part, c->part, pos);
    for (unsigned i = 0; i < c->k; i++) pos[i] += first;
}

/* The positions of n keys, k each.  Prefetches their counters. */
EBI_INLINE void ebi_counting_fetch(const ebi_counting *c, const eb_hash *h, size_t n,
                                   uint64_t *pos) {
    assert(n <= EBI_BATCH);
    for (size_t i = 0; i < n; i++) {
        ebi_counting_positions(c, h[i], pos + i * c->k);
        for (unsigned j = 0; j < c->k; j++)
            ebi_prefetch_write(c->store->address(&c->counters, pos[i * c->k + j]));
    }
}

EBI_INLINE uint64_t ebi_counting_get(const ebi_counting *c, uint64_t i) {
    assert(i < c->n);
    return c->store->get(&c->counters, i);
}

EBI_INLINE uint64_t ebi_counting_raise(const ebi_counting *c, uint64_t i, uint64_t by) {
    assert(i < c->n);
    return c->store->add(&c->counters, i, by); /* returns the value before */
}

/* Raises all k counters or, with lift, only those below the new estimate (minimal increase).
 * Returns the estimate before. */
EBI_INLINE uint64_t ebi_counting_raise_all(const ebi_counting *c, const uint64_t *pos, uint64_t by,
                                           bool lift) {
    return c->store->raise(&c->counters, pos, c->k, by, lift);
}

EBI_INLINE void ebi_counting_lower_all(const ebi_counting *c, const uint64_t *pos, uint64_t by) {
    assert(c->linear);
    for (unsigned j = 0; j < c->k; j++) c->store->sub(&c->counters, pos[j], by);
}

EBI_INLINE uint64_t ebi_counting_least(const uint64_t *counter, unsigned k) {
    assert(k >= 1);
    uint64_t least = counter[0];
    for (unsigned j = 1; j < k; j++) least = ebi_min(least, counter[j]);
    return least;
}

EBI_INLINE uint64_t ebi_counting_minimum(const ebi_counting *c, const uint64_t *pos,
                                         uint64_t *counter) {
    c->store->read(&c->counters, pos, c->k, counter);
    return ebi_counting_least(counter, c->k);
}

EBI_INLINE void ebi_counting_raise_total(const ebi_counting *c, uint64_t by) {
    assert(*c->total <= EBI_COUNTER_MAX);
    *c->total = ebi_counter_sum(*c->total, by);
}

/* Removes a batch of at most EBI_BATCH keys from linear counters, after their claims: from k
 * counters each, and from the total.  Saturated counters stay saturated. */
unsigned ebi_counting_claims(const ebi_params *p); /* of a key; the total is one, for each shard */
size_t ebi_counting_claim(const ebi_counting *c, const ebi_batch *b, const ebi_claims *claims);
void ebi_counting_remove(const ebi_counting *c, const ebi_batch *b);

/* Operations on whole filters go word by word: 16 counters, in whatever store they are, because
 * counters may join.  They read a word; write a word that was `was` (NULL: zeros); and read the
 * same word of two filters with cells joined alike. */
uint64_t ebi_counting_words_of(const ebi_counting *c);
void ebi_counting_word(const ebi_counting *c, uint64_t word, ebi_wide_word *out);
void ebi_counting_put(const ebi_counting *c, uint64_t word, const ebi_wide_word *was,
                      ebi_wide_word *w);
void ebi_counting_pair(const ebi_counting *a, const ebi_counting *b, uint64_t word,
                       ebi_wide_word *x, ebi_wide_word *y);
/* Operations with another filter's counts, each taken `times` times: add them; check that they are
 * all included; subtract them, if they are. */
void ebi_counting_merge(const ebi_counting *into, const ebi_counting *from, uint64_t times);
bool ebi_counting_contains(const ebi_counting *all, const ebi_counting *part, uint64_t times);
void ebi_counting_subtract(const ebi_counting *from, const ebi_counting *part, uint64_t times);
/* Whether joined counters are still the sums of their cells.  A frozen filter does not store which
 * counters are joined.  Their values tell, unless removals have made them small.  In that case each
 * cell gets what the group had, and the cells add up to more than was counted. */
bool ebi_counting_is_sums(const ebi_counting *c);
/* The sum of all counters, where each group of joined ones counts once. */
double ebi_counting_sum_of_all(const ebi_counting *c);

/* The most counters whose segment fits in a budget of bytes. */
uint64_t ebi_counting_cells(const ebi_store *store, uint64_t budget, uint64_t bits);

/* What kinds with counters resolve alike: counter_bits=; the number of counters of so many
 * millionths of a bit (0: the usual) that fit after `fixed` bytes of other segments, if cells= is
 * not given; and the window. */
eb_status ebi_counting_resolve_bits(ebi_params *p, const ebi_args *a, const char *kind,
                                    eb_error *err);
eb_status ebi_counting_resolve_cells(ebi_params *p, const ebi_args *a, const char *kind,
                                     const ebi_store *store, uint64_t bits, uint64_t fixed,
                                     eb_error *err);
eb_status ebi_counting_resolve_window(ebi_params *p, const ebi_args *a, const char *kind,
                                      size_t o_window, size_t o_k, eb_error *err);

/* The number of saturated counters.  A store counts only those that found no room in it, and not
 * those that were saturated before they were merged or thawed into it. */
uint64_t ebi_counting_saturated(const ebi_counting *c);
void ebi_counting_stat(const ebi_counting *c, eb_stats *out);
/* The false-positive rate and the fill after so many distinct keys. */
double ebi_counting_fpr(const ebi_counting *c, double distinct, double *fill);
void ebi_counting_predict(const ebi_counting *c, const eb_workload *w, eb_prediction *out);

/* How keys share counters on a stream; false: the stream is endless.  Then the errors of a policy
 * (with windows, where some places are fuller than others, scaled like the errors of
 * update=plain). */
typedef struct ebi_counting_stream {
    ebi_spectrum spectrum;
    ebi_sharing sharing;
} ebi_counting_stream;
bool ebi_counting_load(const ebi_counting *c, const eb_workload *w, ebi_counting_stream *out);
/* How many times more errors windows make than the whole array. */
double ebi_counting_unevenness(const ebi_counting *c, double distinct);
/* All predictions for counters that join: wide_model.c. */
void ebi_wide_predict(const ebi_counting *c, const ebi_counting_stream *l, eb_prediction *out);
void ebi_counting_predict_errors(const ebi_counting *c, const ebi_counting_stream *l,
                                 ebi_count_errors e, eb_prediction *out);
#endif
