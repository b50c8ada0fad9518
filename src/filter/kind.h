/* kind.h - what a filter is, to the rest of the library.
 *
 * A filter is one eb_kind in one file of src/filter/, named in kinds.def.  It
 * works on the block of one shard:
 *
 *     | eb_head, 64 bytes | the kind's segments, each a multiple of 64 bytes |
 *
 * The api has cut the work to size before a kind sees it: batches of at most
 * EB_BATCH keys of one shard (EB_LONG_BATCH if the kind likes them long), value
 * and time present where the kind's caps ask for them, seen never NULL, values
 * in range, time in order. */
#ifndef EB_KIND_H
#define EB_KIND_H
#include "base/hash.h"

enum { EB_BATCH = 64, EB_LONG_BATCH = 512, EB_OPTIONS_MAX = 24 };

/* What a filter costs besides its cells: the handle in memory, or the header
 * and the spec in a file. */
enum { EB_OVERHEAD = 512 };

/* Options that every kind has.  They come first in its table. */
enum { EB_O_MEMORY, EB_O_CELLS, EB_O_SEED, EB_O_SHARDS, EB_O_HASH, EB_O_KEY, EB_O_OWN };
#define EB_COMMON_OPTIONS                                                                          \
    {"memory", "size", "64M", "1K", "64T", "bytes in all, header included", true},                 \
        {"cells", "count", NULL, "64", "1e15", "cells in each shard; instead of memory", false},   \
        {"seed", "int", "0", "0", "18446744073709551615", "of hashing and random choices", false}, \
        {"shards", "int", "1", "1", "256", "independent parts for threads, a power of 2", false},  \
        {"hash", "xxh3|sip", "xxh3", NULL, NULL, "sip resists keys chosen to collide", false}, {   \
        "key", "hex", NULL, NULL, NULL, "128-bit key of hash=sip; else made from the seed", false  \
    }

/* Resolved: integers only.  opt has one number for each option in table order:
 * fixed in millionths, a|b|c as the index of the choice.  Wishes stay as the
 * text gave them and shape nothing after resolve. */
typedef struct eb_params {
    uint64_t opt[EB_OPTIONS_MAX];
    uint64_t key[2];
    uint64_t span;                 /* bytes of one shard's block */
    uint32_t value_min, value_max; /* of a key's value; resolve may narrow them */
    uint64_t derived[3];           /* what the loops want ready; resolve computes it */
} eb_params;

/* What the spec text said: resolve turns it into parameters. */
typedef struct eb_args {
    bool given[EB_OPTIONS_MAX];
    double real[EB_OPTIONS_MAX]; /* the value as a real number; of options with no value 0 */
} eb_args;

typedef struct eb_head { /* the first 64 bytes of every block */
    uint64_t items;      /* keys added */
    uint64_t clock;      /* time of the last one; equal to items where time is not used */
    uint64_t rng;
    uint64_t reserved[5]; /* zero */
} eb_head;
static_assert(sizeof(eb_head) == 64, "the head is one cache line");

typedef struct eb_ops { /* loops for one set of parameters */
    void (*add)(const eb_params *p, uint8_t *block, const eb_batch *b, uint8_t *seen);
    void (*test)(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                 uint8_t *seen);
    void (*count)(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                  double *count); /* or NULL: 0 or 1 from test */
    void (*test_values)(const eb_params *p, const uint8_t *block, const eb_batch *b,
                        uint8_t *seen); /* or NULL: answers do not depend on values */
    /* As add, or NULL: after[i] is a count that is not too low, of the key as it was then, without
     * looking again. */
    void (*add_count)(const eb_params *p, uint8_t *block, const eb_batch *b, double *after);
} eb_ops;

struct eb_counting; /* counting.h */
struct eb_claims;   /* cells/claims.h */

typedef struct eb_faded_counts { /* see eb_stats */
    double halflife, epsilon, excess;
    double weight; /* without a half-life: what all ages count together, in ticks */
} eb_faded_counts;

typedef struct eb_kind {
    eb_kind_info info;
    uint16_t version; /* of what the block means; snapshots store it */
    /* Takes EB_LONG_BATCH keys at once: for loops that fetch some keys ahead of their turn and lose
     * time at each start.  Only for kinds without values. */
    bool long_batches;
    /* Merged filters keep all promises, but have not the bytes of one stream.  So it is, too, where
     * counters are no sums: of all that count but cannot remove. */
    bool merge_bounds;
    /* Check the options together, choose those not given, set p->span.  Given a
     * canonical spec it must use no floating point that shapes the block. */
    eb_status (*resolve)(eb_params *p, const eb_args *a, eb_error *err);
    const eb_ops *(*select)(const eb_params *p);
    unsigned (*caps)(const eb_params *p);             /* or NULL: info.caps, whatever the options */
    void (*init)(const eb_params *p, uint8_t *block); /* or NULL */
    /* Removing, or NULL.  The most counters that a key takes from; claiming them for the keys of
     * a batch, EB_EINVAL if one was never there so often; and, when all keys of a call have their
     * claims, taking a batch out. */
    unsigned (*claims)(const eb_params *p);
    eb_status (*claim)(const eb_params *p, const uint8_t *block, const eb_batch *b,
                       const struct eb_claims *claims);
    void (*remove)(const eb_params *p, uint8_t *block, const eb_batch *b);
    void (*merge)(const eb_params *p, uint8_t *into, const uint8_t *from);         /* or NULL */
    void (*advance)(const eb_params *p, uint8_t *block, uint64_t time);            /* or NULL */
    eb_status (*check)(const eb_params *p, const uint8_t *block, eb_error *err);   /* or NULL */
    void (*stat)(const eb_params *p, const uint8_t *block, eb_stats *s);           /* of a shard */
    void (*predict)(const eb_params *p, const eb_workload *w, eb_prediction *out); /* of a shard */
    /* How fast counts fade, and by how much rounding makes them wrong; or NULL: they do not. */
    void (*fading)(const eb_params *p, eb_faded_counts *out);
    /* Filters with classes, or NULL: their number, keys that can still be named, naming them
     * (at most EB_BATCH), the bits of a class.  set_k fails for the same reasons in all shards. */
    uint32_t (*classes)(const eb_params *p);
    uint64_t (*classify_room)(const eb_params *p, const uint8_t *block);
    void (*classify)(const eb_params *p, uint8_t *block, const eb_batch *b);
    void (*get_k)(const uint8_t *block, uint32_t class_number, uint32_t *insert, uint32_t *query);
    eb_status (*set_k)(const eb_params *p, uint8_t *block, uint32_t class_number, uint32_t insert,
                       uint32_t query, bool renewed, eb_error *err);
    /* Filters that count, or NULL: their counters, and the word that says (1) that the block takes
     * no more keys, since it is the outcome of an operation on filters. */
    void (*counters)(const eb_params *p, const uint8_t *block, struct eb_counting *out);
    uint64_t *(*sealed)(uint8_t *block);
    /* Filters that can be frozen: the option that says so (0: it is not frozen), with room= next in
     * the table; counters beside the first ones, which are not frozen with them, or NULL; and
     * merging a filter whose parameters q differ in that, or not. */
    unsigned frozen;
    bool (*second)(const eb_params *p, const uint8_t *block, struct eb_counting *out);
    void (*merge_from)(const eb_params *p, uint8_t *into, const eb_params *q, const uint8_t *from);
    bool (*view)(const eb_params *p, const uint8_t *block, eb_cells_view *v); /* or NULL */
} eb_kind;

/* The registry, from kinds.def. */
#define EB_KIND(name, number) extern const eb_kind ebi_kind_##name;
#include "kinds.def"
#undef EB_KIND
typedef struct eb_entry {
    const eb_kind *kind;
    uint16_t number;
} eb_entry;
extern const eb_entry ebi_registry[];
extern const size_t ebi_registry_size;

EB_INLINE eb_head *ebi_head(uint8_t *block) {
    return (eb_head *)(void *)block;
}

EB_INLINE const eb_head *ebi_head_of(const uint8_t *block) {
    return (const eb_head *)(const void *)block;
}

/* What a shard of several sees of a hash (see handle.c), and the hash again. */
EB_INLINE eb_hash ebi_inner_hash(eb_hash h) {
    return h * UINT64_C(0x9E3779B97F4A7C15);
}

EB_INLINE eb_hash ebi_outer_hash(eb_hash inner) {
    return inner * UINT64_C(0xF1DE83E19937733D);
}

/* Is a block so large that prefetching pays?  About half of a typical L2. */
EB_INLINE bool ebi_is_far(const eb_params *p) {
    return p->span * p->opt[EB_O_SHARDS] > (UINT64_C(512) << 10);
}

/* Bytes that memory= leaves for the segments of one shard, a multiple of 64. */
uint64_t ebi_budget(const eb_params *p);

/* Size an array of width-bit cells that follows the head and `fixed` bytes of
 * other segments: cells= as given, or as many as memory= allows, a multiple of
 * `multiple`.  Sets opt[EB_O_CELLS] and span. */
eb_status ebi_size_cells(eb_params *p, const eb_args *a, const char *kind, unsigned width,
                         uint64_t multiple, uint64_t fixed, eb_error *err);
#endif
