/* model.h - slow, obvious twins of the filters, to compare them with.
 *
 * A twin is written from the rules of a kind alone: plain arrays of integers, no
 * packing, no batches, nothing shared with src/.  It takes the canonical spec
 * that the library made and must answer every add as the library does, forever;
 * if it shows its cells, they must be equal too.
 *
 * To add the twin of a kind: write tests/model_<kind>.c with one
 *
 *     const model_kind model_<kind> = {.name = "<kind>", .make = make, ...};
 *
 * and name it in MODEL_KINDS below.  A twin sees one shard and its hashes as the
 * shard sees them; model.c deals the keys out.  Random numbers come from
 * model_draw and model_below with the shard's generator, in the order that the
 * kind documents.  tests/test_models.c finds the twin by itself. */
#ifndef EB_MODEL_H
#define EB_MODEL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct model_key {
    uint64_t hash;  /* as the shard sees it */
    uint32_t value; /* 1 if the kind does not use it */
    uint64_t time;
} model_key;

typedef struct model_kind {
    const char *name;
    void *(*make)(const char *spec, uint64_t rng); /* rng: the generator's first state */
    bool (*add)(void *twin, model_key key);        /* was it there before? */
    bool (*test)(const void *twin, uint64_t hash);
    uint64_t (*count)(const void *twin, uint64_t hash); /* or NULL: it does not count */
    void (*remove)(void *twin, model_key key);          /* or NULL: what is added stays */
    uint64_t (*cell)(const void *twin, uint64_t i);     /* or NULL: not comparable */
    void (*free)(void *twin);
} model_kind;

#define MODEL_KINDS(M)                                                                             \
    M(bloom)                                                                                       \
    M(stable)                                                                                      \
    M(importance)                                                                                  \
    M(weighted)                                                                                    \
    M(lru)                                                                                         \
    M(rsbf)                                                                                        \
    M(bsbf) M(bsbfsd) M(rlbsbf) M(choosy) M(spectral) M(spectral_rm) M(decay) M(window) M(aging)

#define MODEL_DECLARE(name) extern const model_kind model_##name;
MODEL_KINDS(MODEL_DECLARE)

const model_kind *const *model_list(size_t *n);

/* All shards together. */
typedef struct model model;
model *model_new(const char *canonical_spec); /* NULL: the kind has no twin */
void model_free(model *m);
bool model_add(model *m, uint64_t hash, uint32_t value, uint64_t time);
bool model_test(const model *m, uint64_t hash);
bool model_counts(const model *m);
uint64_t model_count(const model *m, uint64_t hash);
void model_remove(model *m, uint64_t hash, uint32_t value); /* if the filter can */
bool model_has_cells(const model *m);
uint64_t model_cell(const model *m, uint64_t i); /* of the first shard */

/* For twins: options of a canonical spec, and the numbers that filters use. */
uint64_t model_int(const char *spec, const char *key);
uint64_t model_int_or_0(const char *spec, const char *key);   /* what is off is not in the spec */
uint64_t model_millionths(const char *spec, const char *key); /* fixed; two's complement */
uint64_t model_entry(const char *spec, const char *key,
                     uint64_t i); /* of a list; 0 after its end */
bool model_is(const char *spec, const char *key, const char *choice); /* of an a|b|c option */
uint64_t model_scale(uint64_t x, uint64_t range);                     /* floor(x * range / 2^64) */
uint64_t model_position(uint64_t hash, unsigned i, uint64_t range);   /* i-th of a hash */
/* The i-th of the k counters of a key among `cells`, in its window (0: everywhere). */
uint64_t model_counter(uint64_t cells, uint64_t window, unsigned k, uint64_t hash, unsigned i);
uint64_t model_mix(uint64_t x); /* a second hash from the first */
uint64_t model_draw(uint64_t *rng);
uint64_t model_below(uint64_t *rng, uint64_t range);
void *model_zeros(size_t n, size_t size); /* calloc that does not fail */
#endif
