/* kind.h - what a filter is to the rest of the library: an ebi_kind, a table of functions and
 * facts.
 *
 * Each kind is one ebi_kind in one file of src/filter/, listed in kinds.def.  CONTRIBUTING.md shows
 * how to write one.  A kind works on the block of one shard:
 *
 *       | ebi_block_head, 64 bytes | the kind's segments, each a multiple of 64 bytes |
 *
 * Before a kind is called, the api (src/api/) has checked the caller's input and cut it into
 * batches: at most EBI_BATCH keys of one shard (EBI_LONG_BATCH with the trait EBI_LONG_BATCHES),
 * with values and times if the kind's caps ask for them, `seen` never NULL, values in range, times
 * in order. */
#ifndef EBI_KIND_H
#define EBI_KIND_H
#include "base/hash.h"

enum { EBI_BATCH = 64, EBI_LONG_BATCH = 512, EBI_OPTIONS_MAX = 24 };

/* The bytes that a filter takes besides its blocks: the handle in memory, or the header and the
 * spec in a file. */
enum { EBI_OVERHEAD = 512 };

/* The options that every kind has.  They come first in its table. */
enum {
    EBI_O_MEMORY,
    EBI_O_CELLS,
    EBI_O_SEED,
    EBI_O_SHARDS,
    EBI_O_KEYS,
    EBI_O_HASH,
    EBI_O_SECRET,
    EBI_O_OWN
};
enum { EBI_KEYS_TEXT, EBI_KEYS_BYTES, EBI_KEYS_I64, EBI_KEYS_U64 };
#define EBI_COMMON_OPTIONS EBI_COMMON_OPTIONS_KEYS("text")
#define EBI_COMMON_OPTIONS_KEYS(keys)                                                               \
    {"memory", "size", "64M", "1K", "64T", "total size, header included", true},                    \
        {"cells", "count", NULL, "64", "1e15", "cells in each shard, instead of memory", false},    \
        {"seed", "int", "0", "0", "18446744073709551615", "seed of the hash and of random choices", \
         false},                                                                                    \
        {"shards", "int", "1", "1", "256", "independent parts for threads, a power of 2", false},   \
        {"keys", "text|bytes|i64|u64", keys, NULL, NULL, "type of the keys", false},                \
        {"hash", "xxh3|sip", "xxh3",                                                                \
         NULL,   NULL,       "xxh3 is faster; sip withstands keys chosen to collide",               \
         false},                                                                                    \
    {                                                                                               \
        "secret", "hex", NULL, NULL, NULL,                                                          \
            "128-bit key of hash=sip (default: made from the seed)", false                          \
    }

/* The value of an option that has no default and does not apply.  Specs leave it out. */
#define EBI_OFF UINT64_MAX

/* A resolved spec: integers only. opt has a number for each option, in the order of the table.
 * Options of type fixed are in millionths, and for a|b|c it is the index of the choice.  Wishes
 * such as fpr= keep the text's value and have no influence after resolve. */
typedef struct ebi_params {
    uint64_t opt[EBI_OPTIONS_MAX];
    uint64_t secret[2];
    uint64_t span;                 /* bytes of one shard's block */
    uint32_t value_min, value_max; /* of a key's value; resolve may narrow them */
    uint64_t derived[3];           /* for the kind's loops; computed by resolve */
    struct ebi_laws *laws;         /* for predict, while a plan is made; NULL in filters */
} ebi_params;

/* The options as the spec's text gave them. resolve turns them into parameters. */
typedef struct ebi_args {
    bool given[EBI_OPTIONS_MAX];
    double real[EBI_OPTIONS_MAX]; /* as a real number; 0 for options without a value */
    bool rough;                   /* for quick estimates: parameters may be some percent off */
} ebi_args;

typedef struct ebi_block_head { /* the first 64 bytes of every block */
    uint64_t items;             /* keys added; all numbers here stay at their largest value */
    uint64_t clock;             /* time of the last key; equal to items if time is not used */
    uint64_t rng;
    uint64_t new_keys; /* keys that were not seen before; 0 in kinds that count */
    uint64_t own[4];   /* the kind's, with EBI_OWN_HEAD; else zero */
} ebi_block_head;
static_assert(sizeof(ebi_block_head) == 64, "the head is one cache line");

/* Keys as a kind gets them. value and time are NULL if the kind's caps do not ask for them.  In
 * questions, value is NULL if the caller gave none, and time is the moment asked about. */
typedef struct ebi_batch {
    size_t n;
    const eb_hash *hash;
    const uint32_t *value;
    const uint64_t *time;
    const eb_key *key;                   /* in adds, if the kind has EB_KEEPS_KEYS; else NULL */
    const struct ebi_expelled *expelled; /* NULL: the caller does not ask */
} ebi_batch;

/* Who to tell that a kept key had to make room for another one. */
typedef struct ebi_expelled {
    void (*call)(void *ctx, size_t i, eb_key key);
    void *ctx;
    size_t at;            /* where the chunk of keys begins in the caller's batch */
    const uint16_t *from; /* place in that chunk of each key of this batch; NULL: the same order */
} ebi_expelled;

/* Reports that key i of the batch expelled `old`. */
EBI_INLINE void ebi_expel(const ebi_batch *b, size_t i, eb_key old) {
    assert(i < b->n);
    const ebi_expelled *const e = b->expelled;
    if (e) e->call(e->ctx, e->at + (e->from ? e->from[i] : i), old);
}

/* The n keys of a batch from `from` on. */
EBI_INLINE ebi_batch ebi_batch_cut(const ebi_batch *b, size_t from, size_t n) {
    assert(from <= b->n && n <= b->n - from);
    return (ebi_batch){n,
                       b->hash + from,
                       b->value ? b->value + from : NULL,
                       b->time ? b->time + from : NULL,
                       b->key ? b->key + from : NULL,
                       b->expelled};
}

/* A batch of one key with value 1. */
EBI_INLINE ebi_batch ebi_batch_of_one(const eb_hash *h) {
    static const uint32_t one = 1;
    return (ebi_batch){1, h, &one, NULL, NULL, NULL};
}

typedef struct ebi_ops { /* the loops for one set of parameters */
    void (*add)(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen);
    void (*test)(const ebi_params *p, const uint8_t *block, const ebi_batch *b, uint8_t *seen);
    void (*count)(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                  double *count); /* EB_CAN_COUNT; else NULL */
    /* Like add, and after[i] is a count of key i right after it was added, not too low.  Saves
     * asking again.  May be NULL. */
    void (*add_count)(const ebi_params *p, uint8_t *block, const ebi_batch *b, double *after);
    /* One key of value 1, for kinds that do not use time.  Must give the same answer and leave the
     * same bytes as a batch of one.  It must not branch on the contents of cells, so that the
     * processor can begin with the next call while it waits for memory.  May be NULL: then a batch
     * of one is used. */
    bool (*add_one)(const ebi_params *p, uint8_t *block, eb_hash h);
    bool (*test_one)(const ebi_params *p, const uint8_t *block, eb_hash h);
} ebi_ops;

/* What a prediction is asked for.  Inside the library, eb_prediction.size holds one of these. */
enum {
    EBI_ASK_MISSES,       /* fnr and mean_fnr */
    EBI_ASK_ROUGH_MISSES, /* within some percent, faster if the kind can */
    EBI_ASK_ROUGH,        /* both rates and their bounds, equally rough */
    EBI_ASK_PLAN,         /* both rates and their bounds */
    EBI_ASK_RATES,        /* everything except the numbers about counts */
    EBI_ASK_ALL = sizeof(eb_prediction)
};

EBI_INLINE bool ebi_asks_misses(const eb_prediction *out) { /* and nothing else */
    return out->size <= EBI_ASK_ROUGH_MISSES;
}

EBI_INLINE bool ebi_asks_roughly(const eb_prediction *out) {
    return out->size == EBI_ASK_ROUGH_MISSES || out->size == EBI_ASK_ROUGH;
}

EBI_INLINE bool ebi_asks_rates(const eb_prediction *out) {
    return out->size >= EBI_ASK_RATES;
}

struct ebi_counting; /* counting.h */
struct ebi_claims;   /* cells/claims.h */

typedef struct ebi_faded_counts { /* see eb_stats */
    double halflife, epsilon, excess;
    double weight; /* without a half-life: the weights of all ages together, in ticks */
} ebi_faded_counts;

/* Facets: abilities that only some kinds have.  A kind without one has NULL in its place. */

/* Keys can be taken out. */
typedef struct ebi_removing {
    unsigned (*claims)(const ebi_params *p); /* the most counters that a key takes from */
    /* Claims the counters for the keys of a batch.  Returns n, or the index of the first key that
     * was added less often. */
    size_t (*claim)(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                    const struct ebi_claims *claims);
    /* Removes a batch, after all keys of the call have made their claims. */
    void (*remove)(const ebi_params *p, uint8_t *block, const ebi_batch *b);
} ebi_removing;

/* The kind's state changes or fades with time. */
typedef struct ebi_timed {
    void (*advance)(const ebi_params *p, uint8_t *block, uint64_t time); /* may be NULL */
    /* How fast counts fade, and how wrong rounding makes them; NULL: they do not fade. */
    void (*fading)(const ebi_params *p, ebi_faded_counts *out);
} ebi_timed;

/* The kind has counters that can be queried, merged and frozen. */
typedef struct ebi_counted {
    void (*counters)(const ebi_params *p, const uint8_t *block, struct ebi_counting *out);
    /* Second counters that are not frozen with the first.  May be NULL. */
    bool (*second)(const ebi_params *p, const uint8_t *block, struct ebi_counting *out);
    /* A word that is 1 if the block takes no more keys because it is the result of an operation on
     * filters.  May be NULL. */
    uint64_t *(*sealed)(uint8_t *block);
    unsigned frozen; /* the option that says whether it is frozen; room= follows in the table */
} ebi_counted;

/* Keys have classes. */
typedef struct ebi_classed {
    uint32_t (*classes)(const ebi_params *p);
    uint64_t (*room)(const ebi_params *p,
                     const uint8_t *block); /* how many more keys can be listed */
    void (*classify)(const ebi_params *p, uint8_t *block, const ebi_batch *b); /* lists them */
    /* Whether both have the same list: the same keys with the same classes. */
    bool (*same_list)(const ebi_params *p, const uint8_t *a, const uint8_t *b);
    void (*get_k)(const uint8_t *block, uint32_t class_number, uint32_t *insert, uint32_t *query);
    /* Fails in all shards or in none. */
    eb_status (*set_k)(const ebi_params *p, uint8_t *block, uint32_t class_number, uint32_t insert,
                       uint32_t query, bool renewed, eb_error *err);
} ebi_classed;

/* The kind can be full, or can grow: its block gets further parts, after those that it has. */
typedef struct ebi_growing {
    uint64_t (*capacity)(const ebi_params *p); /* new keys that fit; UINT64_MAX: no limit */
    uint32_t (*parts)(const ebi_params *p);
    bool (*set_parts)(ebi_params *p, uint32_t parts); /* false: that many parts are too large */
    /* Whether the two, merged, keep the guarantees.  They differ at most in the number of parts. */
    bool (*may_merge)(const ebi_params *p, const uint8_t *a, const ebi_params *q, const uint8_t *b);
    /* About how many of b's `keys` are not in a. a has at least as many parts. */
    uint64_t (*fresh)(const uint8_t *a, const ebi_params *q, const uint8_t *b, uint64_t keys);
} ebi_growing;

/* The kind keeps the bytes of some keys: those that occur most often. */
typedef struct ebi_kept {
    eb_key key; /* inside the block */
    eb_hash hash;
    bool cut; /* the key was longer */
    double count, lower;
} ebi_kept;

typedef struct ebi_kept_sums {
    double watermark; /* no key that is not kept has a larger count */
    double total;     /* of all counts, kept or not */
    uint64_t first;   /* time of the first key; UINT64_MAX: there is none, or time is not used */
} ebi_kept_sums;

typedef struct ebi_keeping {
    /* The next key from *at on, which begins at 0; false: there are no more. time: the moment asked
     * about. */
    bool (*next)(const ebi_params *p, const uint8_t *block, uint64_t time, uint64_t *at,
                 ebi_kept *out);
    void (*sums)(const ebi_params *p, const uint8_t *block, uint64_t time, ebi_kept_sums *out);
    /* A lower bound on the count of the key with this hash. */
    double (*lower)(const ebi_params *p, const uint8_t *block, uint64_t time, eb_hash h);
} ebi_keeping;

/* Traits of a kind. */
enum {
    /* Takes EBI_LONG_BATCH keys at once.  For loops that prefetch for keys ahead and lose time at
     * each start. */
    EBI_LONG_BATCHES = 1,
    /* Its functions accept any bytes at any address: they read single bytes or use ebi_load64, and
     * they stay inside the block whatever it holds.  So a view needs no aligned copy, and with
     * EB_TRUST no check. */
    EBI_ANY_BYTES = 2,
    /* A merged filter keeps its guarantees but is not byte-identical to one built from the whole
     * stream.  The same holds for all kinds that count but cannot remove, because their counters
     * are not sums. */
    EBI_MERGE_BOUNDS = 4,
    /* Uses ebi_block_head.own, and checks it. */
    EBI_OWN_HEAD = 8
};

typedef struct ebi_kind {
    eb_kind_info info;
    uint16_t version; /* the version of the block's layout; snapshots store it */
    unsigned traits;
    /* Checks the options together, chooses those that were not given, and sets p->span.  For a
     * canonical spec, nothing that shapes the block may be computed in floating point. */
    eb_status (*resolve)(ebi_params *p, const ebi_args *a, eb_error *err);
    ebi_ops ops;                                   /* for all parameters; or */
    const ebi_ops *(*select)(const ebi_params *p); /* the loops for these parameters; may be NULL */
    void (*init)(const ebi_params *p, uint8_t *block);                            /* may be NULL */
    eb_status (*check)(const ebi_params *p, const uint8_t *block, eb_error *err); /* may be NULL */
    void (*stat)(const ebi_params *p, const uint8_t *block, eb_stats *s);         /* of one shard */
    /* Predicts for one shard, in bounded time.  All members of out begin as NAN, and out->size says
     * what is asked for (EBI_ASK_...).  Must fill mean_fpr and mean_fnr, or bounds on them, for
     * every workload. */
    void (*predict)(const ebi_params *p, const eb_workload *w, eb_prediction *out);
    /* The rates at the places out[].items of one finite stream, computed in one pass.  NULL, or
     * false: predict is called for each place. */
    bool (*curve)(const ebi_params *p, const eb_workload *w, eb_prediction *out, size_t n);
    /* About how many cache lines a key touches.  NULL: the option k if the kind has it, else 1. */
    double (*lines)(const ebi_params *p);
    bool (*view)(const ebi_params *p, const uint8_t *block, eb_cells_view *v); /* may be NULL */
    /* May be NULL. q equals p, except for what differs between frozen and other filters, or between
     * filters that have grown. */
    void (*merge)(const ebi_params *p, uint8_t *into, const ebi_params *q, const uint8_t *from);
    uint64_t (*caps)(const ebi_params *p); /* NULL: info.caps, whatever the options */
    /* For EB_KEYS_ARE_NUMBERS: the smallest and the largest number that can be a key.  Else
     * NULL. */
    void (*domain)(const ebi_params *p, uint64_t *low, uint64_t *high);
    const ebi_removing *removing;
    const ebi_timed *timed;
    const ebi_counted *counted;
    const ebi_classed *classed;
    const ebi_growing *growing;
    const ebi_keeping *keeping;
} ebi_kind;

/* The registry, from kinds.def. */
#define EBI_KIND(name, number) extern const ebi_kind ebi_kind_##name;
#include "kinds.def"
#undef EBI_KIND
typedef struct ebi_entry {
    const ebi_kind *kind;
    uint16_t number;
} ebi_entry;
extern const ebi_entry ebi_registry[];
extern const size_t ebi_registry_size;

/* What a filter of this kind can do with these options. */
EBI_INLINE uint64_t ebi_caps_of(const ebi_kind *kind, const ebi_params *p) {
    return kind->caps ? kind->caps(p) : kind->info.caps;
}

EBI_INLINE bool ebi_uses_time(const ebi_kind *kind, const ebi_params *p) {
    return (kind->info.caps & EB_USES_TIME) && (ebi_caps_of(kind, p) & EB_USES_TIME);
}

/* Kinds that count do not report whether each key is new. */
EBI_INLINE bool ebi_counts_new(const ebi_kind *kind) {
    return !(kind->info.caps & EB_CAN_COUNT);
}

EBI_INLINE ebi_block_head *ebi_head(uint8_t *block) {
    return (ebi_block_head *)(void *)block;
}

EBI_INLINE const ebi_block_head *ebi_head_of(const uint8_t *block) {
    return (const ebi_block_head *)(const void *)block;
}

/* The hash that a shard gets if there are several (batch.c says why), and the way back. */
EBI_INLINE eb_hash ebi_inner_hash(eb_hash h) {
    return h * UINT64_C(0x9E3779B97F4A7C15);
}

EBI_INLINE eb_hash ebi_outer_hash(eb_hash inner) {
    return inner * UINT64_C(0xF1DE83E19937733D);
}

/* Whether a block is so large that prefetching pays off.  The limit is about half of a typical
 * L2. */
EBI_INLINE bool ebi_is_far(const ebi_params *p) {
    return EBI_OS_CAN_PREFETCH && p->span * p->opt[EBI_O_SHARDS] > (UINT64_C(512) << 10);
}

/* The bytes that memory= leaves for the segments of one shard, a multiple of 64. */
uint64_t ebi_budget(const ebi_params *p);

/* The inverse: the least memory= that leaves so many bytes. */
double ebi_memory_for(const ebi_params *p, double bytes);

/* Sizes an array of cells of `width` bits that follows the head and `fixed` bytes of other
 * segments: cells= if given, else as many as memory= allows; a multiple of `multiple`.  Sets
 * opt[EBI_O_CELLS] and span. */
eb_status ebi_size_cells(ebi_params *p, const ebi_args *a, const char *kind, unsigned width,
                         uint64_t multiple, uint64_t fixed, eb_error *err);
#endif
