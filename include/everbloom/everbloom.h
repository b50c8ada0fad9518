/* everbloom.h - small summaries of endless streams: the Bloom filter family.
 *
 * Make a filter from a spec string, feed it keys, ask it about keys:
 *
 *     eb_filter *f;
 *     eb_error err;
 *     bool seen;
 *     if (eb_new(&f, "stable:memory=64M,fpr=0.001,seed=42", NULL, &err)) die(err.text);
 *     eb_add(f, key, len, &seen);         // seen: was it (probably) here before?
 *     eb_free(f);
 *
 * A filter is not locked: any number of readers, or one writer (for filters
 * with shards, one writer for each shard: see eb_shard_of).  Nothing here reads
 * a clock, an environment variable or a global; equal specs, seeds and inputs
 * give equal bytes on every machine. */
#ifndef EVERBLOOM_H
#define EVERBLOOM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined __GNUC__
#define EB_API __attribute__((visibility("default")))
#else
#define EB_API
#endif

#define EB_VERSION_NUMBER 100 /* major*10000 + minor*100 + patch */
#define EB_VERSION "0.1.0"
EB_API unsigned eb_version(void); /* of the library that was linked */

/* Errors: a function that can fail returns one of these and changes nothing. */
typedef enum eb_status {
    EB_OK = 0,
    EB_ENOMEM = -1,    /* the allocator said no */
    EB_EINVAL = -2,    /* an argument breaks a documented rule */
    EB_ESPEC = -3,     /* a spec string does not parse or does not resolve */
    EB_EFORMAT = -4,   /* the bytes are not a snapshot, or are damaged */
    EB_EVERSION = -5,  /* a snapshot from a newer library */
    EB_EMISMATCH = -6, /* two filters that cannot be combined */
    EB_ENOTSUP = -7,   /* this kind of filter cannot do that: see eb_kind_info.caps */
    EB_EREADONLY = -8, /* a view of somebody else's bytes, or a frozen filter */
    EB_EIO = -9        /* reading or writing failed (front ends only) */
} eb_status;
typedef struct eb_error { /* always optional: pass NULL if nobody will read it */
    eb_status status;
    char text[504]; /* one sentence; names the key, the value and the allowed range */
} eb_error;
EB_API const char *eb_status_name(eb_status s);

/* Memory: one allocator per filter, NULL for the library's own, which gives
 * large blocks huge pages.  alloc returns NULL on failure; free gets the size
 * that alloc got.  A filter is one handle and one flat block without pointers:
 * the block is what snapshots hold. */
typedef struct eb_allocator {
    void *(*alloc)(void *ctx, size_t size, size_t align);
    void (*free)(void *ctx, void *p, size_t size);
    void *ctx;
} eb_allocator;

/* Life.  Spec: kind[:key=value{,key=value}]; sizes take K, M, G (powers of
 * 1024), counts take 1e9 or 10M (powers of ten); eb_kinds() lists kinds and
 * options.  The canonical spec holds only what shapes the block (cells, k,
 * seed, ...), never the wishes it was derived from (memory, fpr, ...): equal
 * filters have equal canonical specs, and making a filter from it gives the
 * same filter again.  Without seed= the seed is 0; draw one if keys may be
 * chosen by an adversary, and say hash=sip. */
typedef struct eb_filter eb_filter;
enum { EB_SPEC_MAX = 448 }; /* bytes of a canonical spec, with its final NUL */
EB_API eb_status eb_new(eb_filter **out, const char *spec, const eb_allocator *mem, eb_error *err);
EB_API void eb_free(eb_filter *f); /* NULL is fine */
EB_API eb_status eb_clone(eb_filter **out, const eb_filter *f, const eb_allocator *mem);
EB_API void eb_clear(eb_filter *f); /* as new; views and frozen filters stay as they are */
/* Canonical spec of a filter, or of a spec text without making the filter.
 * eb_spec counts as snprintf does; eb_resolve wants cap >= EB_SPEC_MAX. */
EB_API size_t eb_spec(const eb_filter *f, char *buf, size_t cap);
EB_API eb_status eb_resolve(const char *spec, char *buf, size_t cap, eb_error *err);

/* One key at a time. */
EB_API eb_status eb_add(eb_filter *f, const void *key, size_t len, bool *seen /* or NULL */);
EB_API bool eb_test(const eb_filter *f, const void *key, size_t len);
EB_API double eb_count(const eb_filter *f, const void *key, size_t len); /* 0 or 1 if it cannot */

/* Many keys at a time: the fast way, and exactly equal to one at a time in
 * order, in answers and in bytes.  Any 64-bit numbers that are uniformly
 * distributed may serve as hashes; eb_hash_keys makes the ones that the
 * single-key calls use.
 * EB_EINVAL, with nothing added: a value outside the filter's range, a time
 * before the filter's clock or before its predecessor.  A removal's times say
 * when its keys were added (NULL: now), in any order, but not after the clock. */
typedef uint64_t eb_hash;
typedef struct eb_key {
    const void *p;
    size_t len;
} eb_key;
typedef struct eb_batch {
    size_t n;
    const eb_hash *hash;   /* n of them */
    const uint32_t *value; /* multiplicity, importance or weight class; NULL: all 1 */
    const uint64_t *time;  /* never decreasing; NULL: one tick a key */
} eb_batch;
EB_API void eb_hash_keys(const eb_filter *f, const eb_key *keys, size_t n, eb_hash *out);
EB_API eb_status eb_add_batch(eb_filter *f, const eb_batch *b, uint8_t *seen /* n, or NULL */);
/* As eb_add_batch; after[i] is what eb_count would have said of key i right after it
 * was added, before the next one was (less, if a counter found no room just then). */
EB_API eb_status eb_add_count_batch(eb_filter *f, const eb_batch *b, double *after);
/* Take keys out again, value times each; EB_ENOTSUP unless the filter has
 * EB_CAN_REMOVE.  EB_EINVAL, with nothing removed, if a key cannot have been there
 * so often.  That is not always known: taking out what was never added makes
 * counts of other keys too low.  What the keys of a call take is added up before any
 * is taken, in memory from the filter's allocator (36 bytes a counter): EB_ENOMEM. */
EB_API eb_status eb_remove_batch(eb_filter *f, const eb_batch *b);
EB_API void eb_test_batch(const eb_filter *f, const eb_hash *h, size_t n, uint8_t *seen);
/* As eb_test_batch, for kinds whose answer depends on the value (weighted: the class). */
EB_API eb_status eb_test_values(const eb_filter *f, const eb_batch *b, uint8_t *seen);
EB_API void eb_count_batch(const eb_filter *f, const eb_hash *h, size_t n, double *count);
EB_API eb_status eb_advance(eb_filter *f, uint64_t time); /* let time pass without a key */
/* into becomes the filter of both streams.  Both must have the same canonical
 * spec; EB_ENOTSUP unless the kind has EB_CAN_MERGE. */
EB_API eb_status eb_merge(eb_filter *into, const eb_filter *from, eb_error *err);

/* Shards: a filter made with shards=S is S independent filters in one block,
 * and a key belongs to shard eb_shard_of(f, hash).  Threads may add batches to
 * one filter at the same time if no shard is touched by two of them; the result
 * is the same for any number of threads. */
EB_API uint32_t eb_shards(const eb_filter *f);
EB_API uint32_t eb_shard_of(const eb_filter *f, eb_hash h);

/* Snapshots: docs/FORMAT.md.  eb_load copies and checks everything, so its
 * bytes may come from anyone.  eb_view borrows them (8-aligned), read-only, for
 * as long as they stay in place (a mapped file); EB_TRUST skips the checks that
 * read the whole payload.  Both take a buffer that is longer than the snapshot.
 * eb_snapshot_length says from the first 64 bytes how long a whole snapshot is:
 * EB_EFORMAT or EB_EVERSION if they cannot be the start of one. */
enum { EB_TRUST = 1 };
enum { EB_SNAPSHOT_HEAD = 64 };
EB_API size_t eb_snapshot_size(const eb_filter *f);
EB_API eb_status eb_save(const eb_filter *f, void *buf, size_t cap);
/* The same bytes in two parts, for a writer that wants no copy of the block:
 * what stands before the block goes to front (cap >= EB_SNAPSHOT_FRONT), the
 * block stays where it is, until the filter changes. */
enum { EB_SNAPSHOT_FRONT = EB_SNAPSHOT_HEAD + EB_SPEC_MAX };
EB_API eb_status eb_save_parts(const eb_filter *f, void *front, size_t cap, size_t *front_len,
                               const void **block, size_t *block_len);
EB_API eb_status eb_load(eb_filter **out, const void *buf, size_t len, const eb_allocator *mem,
                         eb_error *err);
/* eb_load from a stream, straight into the block.  read fills buf with n bytes
 * and returns n, or fewer if the stream ends or fails. */
EB_API eb_status eb_load_from(eb_filter **out, size_t (*read)(void *ctx, void *buf, size_t n),
                              void *ctx, const eb_allocator *mem, eb_error *err);
EB_API eb_status eb_view(eb_filter **out, const void *buf, size_t len, unsigned flags,
                         eb_error *err);
EB_API eb_status eb_snapshot_length(const void *head, size_t len, uint64_t *length, eb_error *err);

/* What it holds now, and what mathematics says of it.  In structures that may
 * grow, set size to sizeof the structure before the call; a field that a later
 * library adds is left alone if size says that the caller does not know it. */
typedef struct eb_stats {
    size_t size;
    uint64_t items; /* keys added, repeats included */
    uint64_t bytes; /* of the block and the handle */
    uint64_t cells, cells_used;
    uint64_t clock;
    double fill;        /* cells_used / cells */
    double fpr;         /* of a fresh key, from the cells as they are */
    uint64_t saturated; /* counters that found no room, or reached their end: upper bounds now */
    double halflife;    /* time in which counts fade to half; 0: they do not */
    double epsilon;     /* counts of keys that fade may be too low by this much */
    double excess;      /* and too high by this share of them, besides what other keys add */
    double window; /* every key of so much time, or so many records, was known; 0: no promise */
} eb_stats;
typedef struct eb_workload {
    size_t size;
    double items;    /* keys in the stream so far; 0: endless */
    double distinct; /* distinct keys among them; 0: all */
    double zipf;     /* skew of their frequencies; 0: uniform */
    double gap;      /* distinct keys between a key and its repeat; 0: spread over the stream */
    double value;    /* importance of the repeated key; 0: as the filter's profile has it */
} eb_workload;
typedef struct eb_prediction {
    size_t size;
    double fpr, fnr, fill;     /* of the next key after workload.items; NAN: no formula */
    double settles_after;      /* keys until the rates stop moving; 0: never */
    double mean_fpr, mean_fnr; /* over the whole stream so far */
    /* Kinds that count, of keys that are there, in random order; NAN: no formula. */
    double wrong;       /* share whose count is wrong */
    double error;       /* root of the mean square error of all counts */
    double error_bound; /* but for a share e^-k counts are off by less, whatever the frequencies */
    double bits;        /* that a counter needs in its store: give bits= no less */
} eb_prediction;
typedef struct eb_goal {
    size_t size;
    double fpr, fnr, bytes; /* 0: no wish */
    const eb_workload *load;
    unsigned caps; /* the kind must have all of these */
} eb_goal;
EB_API void eb_stat(const eb_filter *f, eb_stats *out);
/* The share of a count that fades in a period: 1 - lambda for a decay factor of
 * lambda in it; 0 if counts do not fade.  A decayed count times this is a mean
 * number of arrivals in a period: the normalised estimate.  Of other functions of
 * age (kind aging): the period over the sum of what all ages count. */
EB_API double eb_faded(const eb_filter *f, double period);
EB_API eb_status eb_predict(const char *spec, const eb_workload *w, eb_prediction *out,
                            eb_error *err);
EB_API eb_status eb_plan(const eb_goal *goal, char *spec, size_t cap, eb_prediction *out,
                         eb_error *err);

/* The kinds there are, with everything that help, completion and bindings print. */
enum {
    EB_CAN_COUNT = 1,
    EB_CAN_REMOVE = 2,
    EB_CAN_MERGE = 4,
    EB_NO_FALSE_NEGATIVES = 8,
    EB_ADD_IS_IDEMPOTENT = 16, /* adding a key that is reported seen changes no cell */
    EB_USES_TIME = 32,
    EB_USES_VALUE = 64,
    EB_FORGETS = 128, /* made for endless streams: old keys make room for new ones */
    /* The hash of a key is the key: a number whose order matters.  Text keys make no sense
     * then: see eb_range_add in query.h. */
    EB_KEYS_ARE_NUMBERS = 256
};
typedef struct eb_option {
    const char *key;
    const char *type; /* size, count, int, fixed (6 decimals), real, hex, list (1:2:3), a|b|c */
    const char *dflt, *min, *max; /* as text; NULL: none */
    const char *help;
    bool wish; /* not in canonical specs: others are derived from it */
} eb_option;
typedef struct eb_kind_info {
    const char *name, *summary, *paper;
    unsigned caps;
    const eb_option *options; /* ends with a NULL key */
} eb_kind_info;
EB_API const eb_kind_info *const *eb_kinds(size_t *n);
EB_API unsigned eb_caps(const eb_filter *f); /* of this filter: options may take some away */
#ifdef __cplusplus
}
#endif
#endif
