/* everbloom.h - small summaries of endless streams: the Bloom filter family.
 *
 * Make a filter from a spec string, feed it keys, ask it about keys:
 *
 *     eb_filter *f;
 *     eb_error err;
 *     bool seen;
 *     if (eb_new(&f, "lru:memory=64M,seed=42", NULL, &err)) die(err.text);
 *     if (eb_add(f, key, len, &seen, &err)) die(err.text); // seen: was it (probably) here before?
 *     eb_free(f);
 *
 * RULES FOR ALL FUNCTIONS
 *
 * 1. A function that can fail returns eb_status.  Its last parameter is an eb_error, which may be
 *    NULL.  When it fails, nothing has changed and outputs are unspecified.
 * 2. Structures that may grow begin with `size`.  Set it to sizeof the structure, with EB_INIT or
 *    one of the makers at the end of this header.  Any size that the library does not know is
 *    EB_ESIZE, and nothing else is read or written: a forgotten size fails, and so does a program
 *    that is newer than its library.
 * 3. The library reads no clock, environment variable, locale or global.  It does not print and
 *    does not end the process.  Equal specs and equal input give equal bytes on every machine.
 * 4. Filters are not locked.  Many threads may read a filter (const), or one may change it.  With
 *    shards, one thread may change each shard: see EB_SHARD_RANGE. */
#ifndef EVERBLOOM_H
#define EVERBLOOM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h> /* memset in EB_INIT */
#ifdef __cplusplus
extern "C" {
#endif
#ifndef EB_API /* define it empty to hide all symbols inside a host's module */
#if defined __GNUC__
#define EB_API __attribute__((visibility("default")))
#else
#define EB_API
#endif
#endif

#define EB_VERSION_NUMBER 100 /* major*10000 + minor*100 + patch */
#define EB_VERSION "0.1.0"
EB_API unsigned eb_version(void); /* of the library that was linked */

/* Zeroes a structure and sets its size: eb_stats s; EB_INIT(s); */
#define EB_INIT(s) (memset(&(s), 0, sizeof(s)), (void)((s).size = sizeof(s)))

/* Errors.  EB_EINVAL and EB_ESIZE are bugs in the calling program.  EB_EKEY, EB_EVALUE and EB_ETIME
 * are bad input: err.at is the index of the first key that was refused, so a host can report the
 * line, or skip it and continue.  Treat unknown codes as failures. */
typedef enum eb_status {
    EB_OK = 0,
    EB_ENOMEM = -1,    /* the allocator returned NULL, or the size does not fit in size_t */
    EB_EINVAL = -2,    /* an argument breaks a documented rule */
    EB_ESIZE = -3,     /* the size of a structure was not set, or is unknown to this library */
    EB_ESPEC = -4,     /* a spec is invalid; err.at: byte of the text, if known */
    EB_EFORMAT = -5,   /* not a snapshot, or damaged; err.at: byte, if known */
    EB_EVERSION = -6,  /* a snapshot written by a newer library */
    EB_EMISMATCH = -7, /* two filters that cannot be combined; the text names the difference */
    EB_ENOTSUP = -8,   /* this kind of filter cannot do that: see eb_caps */
    EB_EREADONLY = -9, /* a view, or a frozen or combined filter */
    EB_EFULL = -10,    /* full: keys before err.at were added and answered, the others not */
    EB_ELIMIT = -11,   /* a limit set by the caller cannot be kept */
    EB_EKEY = -12,     /* key err.at has the wrong type for the filter, or is outside its domain */
    EB_EVALUE = -13,   /* value err.at is outside the filter's range */
    EB_ETIME = -14,    /* time err.at is too early: before the filter's clock or before the time of
                          the previous key; in removals: too late */
    EB_ESTOPPED = -15  /* never made by the library: callbacks return it to stop a call */
} eb_status;

#define EB_NOWHERE UINT64_MAX
typedef struct eb_error { /* always 512 bytes; need not be initialised; pass NULL to ignore */
    int32_t status;       /* what the function returned */
    uint32_t reserved;
    uint64_t at;    /* index of the refused key, or a byte: see eb_status; EB_NOWHERE: none */
    char text[496]; /* one sentence: what is wrong, where, and what is allowed */
} eb_error;
EB_API const char *eb_status_name(eb_status s);

/* Memory.  Each filter has its allocator; NULL is the library's own, which uses huge pages for
 * large blocks.  alloc and alloc_zeroed return memory aligned to 16 bytes, or NULL; the library
 * aligns to cache lines by itself.  alloc_zeroed may be NULL: the library then calls alloc and
 * memset, which touches every page.  free gets the size that was asked for.  The structure is
 * copied; ctx must outlive the filter.  A filter is one handle and one flat block without pointers:
 * the block is what snapshots hold. */
typedef struct eb_allocator {
    size_t size; /* sizeof(eb_allocator) */
    void *ctx;
    void *(*alloc)(void *ctx, size_t bytes);
    void *(*alloc_zeroed)(void *ctx, size_t bytes); /* or NULL */
    void (*free)(void *ctx, void *p, size_t bytes);
} eb_allocator;

/* Life.  Spec: kind[:key=value{,key=value}]; sizes take K, M, G (powers of 1024), counts take 1e9
 * or 10M (powers of ten); eb_kinds() lists kinds and options.  The canonical spec holds only what
 * shapes the block (cells, k, seed, ...), never the wishes that led to it (memory, fpr, ...): equal
 * filters have equal canonical specs, and making a filter from it gives the same filter again.
 * Without seed= the seed is 0.  Anyone who knows the seed can choose keys that all fall into one
 * part of a filter, and fill it: in choosy and window, 100 000 such keys raise the false positives
 * of 1/64 of all keys from 1 % to 70 % and more.  If untrusted parties choose the keys, draw a seed
 * (eb_spec_seed) and use hash=sip.  Filters to be merged need the same seed: draw one for all of
 * them. */
typedef struct eb_filter eb_filter;
enum { EB_SPEC_MAX = 448 }; /* bytes of a canonical spec, with its final NUL */
EB_API eb_status eb_new(eb_filter **out, const char *spec, const eb_allocator *mem, eb_error *err);
EB_API void eb_free(eb_filter *f); /* NULL is fine */
/* An independent copy; the copy of a view can be changed. */
EB_API eb_status eb_clone(eb_filter **out, const eb_filter *f, const eb_allocator *mem,
                          eb_error *err);
EB_API eb_status eb_clear(eb_filter *f, eb_error *err); /* as new; EB_EREADONLY */
EB_API const char *eb_spec(const eb_filter *f); /* canonical; valid until the filter changes */
/* What a filter with this spec will need and can do; nothing is allocated. bytes is the total that
 * eb_new requests from a host's allocator; with the library's own it is up to 128 bytes less.  It
 * may exceed memory= by the length of the spec.  Check it before eb_new: where memory is
 * overcommitted, any size is granted, and the process may be killed later. */
typedef struct eb_spec_info {
    size_t size;
    const char *kind; /* its name; of the library */
    uint64_t caps;    /* with these options; they may differ from those of the kind */
    uint64_t bytes;
    uint64_t snapshot_bytes; /* more after the filter has grown */
    uint32_t shards;
    uint32_t keys; /* EB_TEXT, EB_BYTES, EB_I64 or EB_U64 */
    char canonical[EB_SPEC_MAX];
} eb_spec_info;
EB_API eb_status eb_spec_describe(const char *spec, eb_spec_info *out, eb_error *err);
/* One option as the spec gives it; nothing is derived.  If the spec does not give it, text becomes
 * "" and *number NAN.  *number is also NAN if the value is not a number; 64M gives 67108864.  text
 * or number may be NULL.  EB_ESPEC if the kind has no such option.  EB_EINVAL if cap is too small;
 * EB_SPEC_MAX is always enough for a canonical spec. */
EB_API eb_status eb_spec_get(const char *spec, const char *key, char *text, size_t cap,
                             double *number, eb_error *err);
/* Write the spec with key=value to out, or without that option if value is NULL.  Checks the kind,
 * the option and the value, not whether the options fit together.  out may be the buffer of spec.
 */
EB_API eb_status eb_spec_set(const char *spec, const char *key, const char *value, char *out,
                             size_t cap, eb_error *err);
/* Write the spec with a seed that the caller drew, such as from getrandom, if it says seed=random,
 * or if it gives no seed and filters of its kind can never be merged.  Otherwise write it
 * unchanged.  Other functions refuse seed=random: the library itself draws no random numbers. out
 * may be the buffer of spec. */
EB_API eb_status eb_spec_seed(const char *spec, uint64_t seed, char *out, size_t cap,
                              eb_error *err);

/* Keys.  The option keys= says which type of keys the filter has; eb_keys.type says which type the
 * caller has.
 *
 *   caller has        keys=text (default)     keys=i64, keys=u64            keys=bytes
 *   EB_TEXT           the bytes               read as decimal number        EB_EKEY
 *   EB_I64, EB_U64    decimal text            the number                    EB_EKEY
 *   EB_BYTES          EB_EKEY                 EB_EKEY                       the bytes
 *   EB_STRING         as EB_TEXT              as EB_TEXT                    as EB_BYTES
 *
 * So the integer 42 in a database column and the line "42" in a pipe are the same key in every
 * host.  Decimal text has no plus sign, leading zeros or spaces; other text, and numbers that do
 * not fit, are EB_EKEY. EB_STRING is for hosts that cannot distinguish text from bytes.  Text is
 * UTF-8 by convention; it is neither checked nor normalised. */
typedef enum eb_key_type {
    EB_TEXT = 1,
    EB_BYTES = 2,
    EB_I64 = 3,
    EB_U64 = 4,
    EB_STRING = 5
} eb_key_type;
typedef enum eb_key_layout {
    EB_ARRAY = 1,     /* data: const eb_key[]; not for numbers */
    EB_COLUMN = 2,    /* width bytes each, stride bytes apart.  Numbers have 1, 2, 4 or 8 bytes in
                         native order.  In EB_TEXT columns, trailing zero bytes are padding */
    EB_OFFSETS32 = 3, /* key i: bytes offsets[i] to offsets[i+1] of data; n + 1 offsets (int32_t),
                         never decreasing; not for numbers */
    EB_OFFSETS64 = 4  /* the same with int64_t */
} eb_key_layout;
typedef struct eb_key {
    const void *p;
    size_t len;
} eb_key;
typedef struct eb_keys { /* data and offsets may have any alignment */
    size_t size;
    uint32_t type, layout; /* 0 is refused */
    const void *data;
    size_t width;        /* EB_COLUMN */
    ptrdiff_t stride;    /* EB_COLUMN: from a key to the next; may be negative */
    const void *offsets; /* EB_OFFSETS; the first may be larger than 0 (a slice) */
    size_t bytes;        /* EB_OFFSETS: length of data; an offset beyond it is EB_EINVAL */
} eb_keys;

/* The hashes of keys.  They depend on keys=, hash=, secret= and seed= only: a client can compute
 * them with a small filter of its own.  Other 64-bit numbers can be used as hashes if they are
 * uniformly distributed.  With EB_KEYS_ARE_NUMBERS the hash is the number, in order: of keys=i64
 * (uint64_t)x + 2^63. */
typedef uint64_t eb_hash;
EB_API eb_status eb_hash_keys(const eb_filter *f, const eb_keys *keys, size_t n, eb_hash *out,
                              eb_error *err);

/* One key, an EB_STRING.  An add takes one tick of time; questions and removals use the filter's
 * clock.  count needs EB_CAN_COUNT (else EB_ENOTSUP), and is INFINITY if the counters of the key
 * are full.  For integers, values and times use a batch with one key; it costs a few nanoseconds
 * more.
 */
EB_API eb_status eb_add(eb_filter *f, const void *key, size_t len, bool *seen /* or NULL */,
                        eb_error *err);
EB_API eb_status eb_ask(const eb_filter *f, const void *key, size_t len, bool *seen /* or NULL */,
                        double *count /* or NULL */, eb_error *err);
EB_API eb_status eb_remove(eb_filter *f, const void *key, size_t len, eb_error *err);

/* Many keys at a time: the fast way, and exactly equal to one at a time in order, in answers and
 * in bytes.  n may be 0.  All input is checked before anything changes.
 *
 * Give hash, or keys, or both: then hash must be the hashes of keys, and they are not computed
 * again.  Kinds with EB_KEEPS_KEYS need keys in adds (else EB_ENOTSUP).
 *
 *              value                              time                             count
 *   add        multiplicity, importance, class    of the key; never decreasing     after this add
 *   ask        class (weighted), else NULL        the moment asked about; >= clock at that moment
 *   remove     how many                           when it was added; any order     (NULL)
 *
 * value NULL means 1; in questions to weighted filters: the class is not known.  time NULL means
 * one tick a key in adds, otherwise the filter's clock (the latest of all shards).  Kinds without
 * EB_USES_VALUE ignore values, kinds without EB_USES_TIME ignore times.  The unit of time is that
 * of half-lives and windows in the spec.  Asking never changes the filter, so a read-only view
 * can be asked about the present.
 *
 * seen: 1 if the key is probably there (adds: was there before). count needs EB_CAN_COUNT (else
 * EB_ENOTSUP).  In adds it is the count right after this key was added (less, if a counter found no
 * room just then).  Counts that do not fade are whole numbers, exact in a double.  INFINITY: the
 * counters of the key are full (eb_stats.saturated), and the count is unknown.
 *
 * Removing needs EB_CAN_REMOVE (else EB_ENOTSUP).  EB_EVALUE, with nothing removed, if a key was
 * certainly not added so often.  This is not always known: removing what was never added makes
 * counts of other keys too low.  A call first adds up what all its keys remove, in memory from the
 * filter's allocator (36 bytes a counter): EB_ENOMEM. */
enum {                     /* flags */
       EB_SAME_TIME = 1,   /* time points to one time, for all keys */
       EB_SAME_VALUE = 2,  /* value points to one value, for all keys */
       EB_CLAMP_TIMES = 4, /* replace a time that is too early by the earliest allowed one */
       EB_SHARD_RANGE = 8  /* skip all keys but those of n_shards shards from first_shard on */
};
typedef struct eb_batch {
    size_t size;
    size_t n;
    const eb_hash *hash;   /* n of them, or NULL */
    const eb_keys *keys;   /* n of them, or NULL */
    const uint64_t *value; /* or NULL */
    const uint64_t *time;  /* or NULL */
    uint32_t flags;
    uint32_t first_shard, n_shards; /* with EB_SHARD_RANGE; n_shards may be 0: nothing to do */
    uint32_t reserved;              /* 0 */
    uint8_t *seen;                  /* out, n of them, or NULL */
    double *count; /* out, n of them, or NULL; entries of skipped keys are not written */
    /* EB_KEEPS_KEYS: called when key i replaces another in the list, which is valid during the
     * call; or NULL. */
    void (*expelled)(void *ctx, size_t i, eb_key key);
    void *ctx;
} eb_batch;
EB_API eb_status eb_add_batch(eb_filter *f, const eb_batch *b, eb_error *err);
EB_API eb_status eb_ask_batch(const eb_filter *f, const eb_batch *b, eb_error *err);
EB_API eb_status eb_remove_batch(eb_filter *f, const eb_batch *b, eb_error *err);
/* Let time pass without a key.  EB_ETIME if the clock is later than that; EB_ENOTSUP unless
 * EB_USES_TIME. */
EB_API eb_status eb_advance(eb_filter *f, uint64_t time, eb_error *err);
/* Add the keys of another filter, weight times.  Weight 1 needs EB_CAN_MERGE, others need
 * EB_CAN_SCALE (else EB_ENOTSUP).  A negative weight subtracts a stream that is part of this one;
 * EB_EVALUE if it certainly is not.  The canonical specs must be equal, except for frozen= (else
 * EB_EMISMATCH). */
EB_API eb_status eb_merge(eb_filter *into, const eb_filter *from, int64_t weight, eb_error *err);

/* Threads.  A filter with shards=S (a power of two) is S filters in one block, and a key belongs to
 * shard eb_shard_of(f, hash).  Threads may use one filter at the same time as long as no thread
 * uses a shard that another one is changing.  The simplest way: compute the hashes in slices, then
 * let each thread call eb_add_batch with the same batch and its own EB_SHARD_RANGE. The result does
 * not depend on the number of threads.  A call that fails has changed none of its shards.
 *
 * Clocks.  A question with a time gets the same answer in every shard.  Without times the latest
 * clock of all shards counts, in adds and in questions, so no other thread may be adding then:
 * kinds with EB_USES_TIME and several shards need times with EB_SHARD_RANGE (else EB_EINVAL).  A
 * time is too early if it is before that of the previous key in the batch, or before the clock of
 * the key's shard. */
EB_API uint32_t eb_shards(const eb_filter *f);
EB_API uint32_t eb_shard_of(const eb_filter *f, eb_hash h);

/* Snapshots: docs/FORMAT.md.  eb_save_parts gives a snapshot in parts, without a copy; write them
 * in order.  They point into the filter and into *out: valid until the filter changes or *out is
 * moved.  The call reads the whole block, for the checksum. */
enum { EB_SNAPSHOT_HEAD = 64, EB_SNAPSHOT_FRONT = 512, EB_PARTS_MAX = 64 };
typedef struct eb_parts {
    size_t size;
    uint64_t bytes; /* of all parts */
    uint32_t n;
    uint32_t reserved;
    unsigned char front[EB_SNAPSHOT_FRONT]; /* what part[0] points to */
    eb_key part[EB_PARTS_MAX];
} eb_parts;
EB_API eb_status eb_save_parts(const eb_filter *f, eb_parts *out, eb_error *err);
EB_API size_t eb_save_size(const eb_filter *f); /* quick */
EB_API eb_status eb_save(const eb_filter *f, void *buf, size_t cap /* >= eb_save_size */,
                         eb_error *err);

/* What the start of a snapshot says.  EB_SNAPSHOT_FRONT bytes are always enough; more are ignored.
 * EB_EFORMAT if this is not a snapshot or too short.  Checks the header and the spec, not the
 * block: quick.  Snapshots with equal ids are equal unless someone forged them: hosts use the id to
 * cache loaded filters. */
typedef struct eb_snapshot_info {
    size_t size;
    uint64_t bytes; /* of the whole snapshot; what follows it is not part of it */
    uint64_t id[2];
    char spec[EB_SPEC_MAX]; /* canonical */
} eb_snapshot_info;
EB_API eb_status eb_snapshot_describe(const void *front, size_t len, eb_snapshot_info *out,
                                      eb_error *err);

/* Limits for loading.  NULL or 0: no limit.  They are checked before the block is allocated. */
typedef struct eb_limits {
    size_t size;
    uint64_t bytes; /* of memory for the filter, in total: else EB_ELIMIT */
    uint64_t caps;  /* that the filter must have: else EB_ENOTSUP */
} eb_limits;
/* Load a snapshot, by copying it.  Everything is checked: the bytes may come from anyone.  More
 * bytes may follow the snapshot. */
EB_API eb_status eb_load(eb_filter **out, const void *bytes, size_t len, const eb_limits *limits,
                         const eb_allocator *mem, eb_error *err);
/* The same in chunks.  eb_loader_feed says how many bytes of the chunk it used: fewer than n only
 * when the snapshot is complete; the rest belongs to something else.  *missing is the number of
 * bytes that are known to be missing; 0: complete.  A complete loader may be fed again, and uses 0
 * bytes: so a reader notices trailing garbage.  used, missing: or NULL.
 *
 * With limits.bytes the block is allocated when the front has been checked.  Without, it grows with
 * what arrives and is never twice as large as that (but for the first 64 KiB).  eb_loader_finish
 * checks the block and returns the filter; EB_EFORMAT if bytes are missing: then more may be fed.
 * After another failure, or when the filter was handed out, only eb_loader_free may be called. */
typedef struct eb_loader eb_loader;
EB_API eb_status eb_loader_new(eb_loader **out, const eb_limits *limits, const eb_allocator *mem,
                               eb_error *err);
EB_API eb_status eb_loader_feed(eb_loader *l, const void *chunk, size_t n, size_t *used,
                                uint64_t *missing, eb_error *err);
EB_API eb_status eb_loader_finish(eb_loader *l, eb_filter **out, eb_error *err);
EB_API void eb_loader_free(eb_loader *l); /* NULL is fine; does not free the filter */
/* A read-only filter on the caller's bytes, such as a mapped file or a value in a database.  They
 * must stay in place and unchanged.  Any alignment works; at addresses that are not multiples of 8,
 * kinds other than bloom copy the block. mem is for the handle and for that copy.  EB_TRUST skips
 * the checksum of the block; for bloom the block is then not read at all. */
enum { EB_TRUST = 1 };
EB_API eb_status eb_view(eb_filter **out, const void *bytes, size_t len, uint32_t flags,
                         const eb_allocator *mem, eb_error *err);

/* What a filter holds.  Quick without EB_STAT_CELLS: members that need a pass over all cells are
 * then NAN or EB_UNKNOWN. */
#define EB_UNKNOWN UINT64_MAX
enum { EB_STAT_CELLS = 1 };
typedef struct eb_stats {
    size_t size;
    uint64_t adds;     /* keys added, repeats included; stays at its largest value */
    uint64_t new_keys; /* adds whose key was not seen before; with limit= and after merging about
                          that many, judged by the bits.  EB_UNKNOWN in kinds that count, and after
                          merging without limit=: so the parts of a stream, merged into an empty
                          filter, give the same bytes however it was cut */
    uint64_t bytes;    /* of memory, in total */
    uint64_t clock;    /* the latest of all shards */
    uint64_t capacity; /* full, or grows, when new_keys reaches it; EB_UNKNOWN: never */
    uint64_t parts;    /* of a filter that grows; otherwise 1 */
    double halflife;   /* time in which counts fade to half; 0: they do not */
    double rate_time;  /* count / rate_time is the mean number of arrivals in a unit of time; NAN:
                          counts do not fade */
    double too_low;    /* counts of keys that fade may be too low by this much */
    double too_high;   /* and too high by this share of them, besides what other keys add */
    /* With EB_STAT_CELLS: */
    uint64_t cells, cells_used;
    uint64_t saturated; /* counters that found no room or reached their limit: upper bounds */
    double fill;        /* cells_used / cells */
    double fpr;         /* of a fresh key, from the cells as they are */
    double window; /* no key of so much time, or so many records, was forgotten; 0: no promise */
} eb_stats;
EB_API eb_status eb_stat(const eb_filter *f, uint32_t what, eb_stats *out, eb_error *err);
/* The share of a count that fades in a period: 1 - lambda for a decay factor of
 * lambda in it; 0 if counts do not fade.  A decayed count times this is a mean
 * number of arrivals in a period: the normalised estimate.  Of other functions of
 * age (kind aging): the period over the sum of what all ages count. */
EB_API double eb_faded(const eb_filter *f, double period);

/* All kinds, with everything that help, completion and bindings print. */
enum { /* capabilities; a mask is a uint64_t */
       EB_CAN_COUNT = 1 << 0,
       EB_CAN_REMOVE = 1 << 1,
       EB_CAN_MERGE = 1 << 2,
       EB_CAN_SCALE = 1 << 3, /* merge with a weight other than 1; with a negative one: subtract */
       EB_NO_FALSE_NEGATIVES = 1 << 4,
       EB_ADD_IS_IDEMPOTENT = 1 << 5, /* adding a key that is reported seen changes no cell */
       EB_USES_TIME = 1 << 6,
       EB_USES_VALUE = 1 << 7,
       EB_FORGETS = 1 << 8,          /* made for endless streams: old keys make room for new ones */
       EB_KEYS_ARE_NUMBERS = 1 << 9, /* order matters (dyadic): keys=i64 or u64 */
       EB_KEEPS_KEYS = 1 << 10, /* keeps some keys as bytes: adding needs keys, not only hashes */
       EB_GROWS = 1 << 11,      /* takes more memory when it is full (grow=) */
       EB_ORDER_FREE = 1 << 12  /* cells and answers do not depend on the order of the keys */
};
typedef struct eb_option {
    const char *key;
    const char *type; /* size, count, int, number (one that a key can be), fixed (6 decimals), real,
                         hex, list (1:2:3), a|b|c */
    const char *dflt, *min, *max; /* as text; NULL: none */
    const char *help;
    bool wish; /* not in canonical specs: others are derived from it */
} eb_option;
typedef struct eb_kind_info {
    const char *name, *summary, *paper;
    uint64_t caps;            /* of all options together; for a spec: eb_spec_describe */
    const eb_option *options; /* ends with a NULL key */
    const char *question;     /* that it answers; NULL: kept as published, for comparison */
} eb_kind_info;
EB_API const eb_kind_info *const *eb_kinds(size_t *n); /* those with a question first */
EB_API uint64_t eb_caps(const eb_filter *f);           /* of this filter, with its options */

/* Prediction and planning. */
typedef enum eb_order { /* of the repeats in a stream */
                        EB_ORDER_UNKNOWN = 0,
                        EB_ORDER_SHUFFLED =
                            1, /* anywhere: a key is as likely at one place as at another */
                        EB_ORDER_RECENT = 2, /* soon after the key itself, as in logs */
                        EB_ORDER_PASSES =
                            3 /* after all other keys: the same ones again and again */
} eb_order;
/* A description of a stream. 0 means not given; the default is in brackets. */
typedef struct eb_workload {
    size_t size;
    double items;    /* keys in the stream, repeats included [endless] */
    double distinct; /* distinct keys among them [all] */
    double zipf;     /* exponent of their frequencies [uniform] */
    double gap;      /* distinct keys between a key and its repeat [spread over the stream] */
    double rate;     /* items in a unit of time; for kinds that use time [1] */
    double value;    /* importance of the repeated key [as the filter's profile has it] */
    uint32_t order;  /* eb_order: for plans; formulas without a gap are for shuffled streams, or
                        for passes, which need distinct and no gap */
    uint32_t reserved;
} eb_workload;
enum { /* what the workload gives but the kind's formulas do not use */
       EB_UNUSED_DISTINCT = 1,
       EB_UNUSED_ZIPF = 2,
       EB_UNUSED_GAP = 4,
       EB_UNUSED_VALUE = 8
};
/* Numbers are NAN where no formula is known; mean rates then still have bounds. */
typedef struct eb_prediction {
    size_t size;
    double items;              /* of this point; 0: endless */
    double fpr, fnr, fill;     /* of the next key after that many */
    double settles_after;      /* keys until the rates stop moving; 0: never */
    double mean_fpr, mean_fnr; /* over the whole stream so far */
    double accuracy;           /* relative error of the mean rates, as far as it was measured */
    double fpr_low, fpr_high;  /* mean_fpr and mean_fnr lie in these bounds: the formula with its */
    double fnr_low, fnr_high;  /* accuracy, or what is sure without one */
    /* Kinds that count, of keys that are there, in random order; NAN: no formula. */
    double wrong;       /* share whose count is wrong */
    double error;       /* root of the mean square error of all counts */
    double error_bound; /* except for a share e^-k of the keys, counts are off by less */
    double bits;        /* that a counter needs in its store: the least useful counter_bits= */
    /* mean_fpr is at most this for so many distinct keys, whatever their order and skew; NAN: there
     * is no such bound. */
    double most_fpr;
    uint32_t unused; /* EB_UNUSED_...: the rates are for a stream without these */
    uint32_t reserved;
} eb_prediction;
typedef enum eb_prefer {                       /* the order of offers */
                         EB_SMALLEST = 1,      /* fewest bytes */
                         EB_FEWEST_MISSES = 2, /* lowest mean_fnr, then lowest mean_fpr, then fewest
                                                  bytes; needs max_bytes */
                         EB_FEWEST_FALSE = 3   /* lowest mean_fpr, then lowest mean_fnr, then fewest
                                                  bytes; needs max_bytes */
} eb_prefer;
/* A goal.  Every offer keeps all bounds; 0: no bound.  To exclude false negatives entirely, set
 * EB_NO_FALSE_NEGATIVES in caps. */
typedef struct eb_goal {
    size_t size;
    const eb_workload *load; /* with items and distinct, or gap.  Distinct alone is a set: its keys
                                are added once, then others are asked for, and at_end is meant */
    const char *options;     /* for every offer: "seed=7,shards=4"; NULL: none.  Kinds without one
                                of them make no offer */
    double max_bytes;        /* of memory, in total */
    double max_fpr;     /* bound on mean_fpr, the fraction of new keys that are reported as seen */
    double max_fnr;     /* bound on mean_fnr, the fraction of repeats that are reported as new */
    double window;      /* no key of the last `window` units of time may be forgotten; a unit is 1 /
                           load->rate, and without a rate a record */
    uint64_t caps;      /* that every offer has */
    uint32_t prefer;    /* eb_prefer; must be set */
    uint32_t all_kinds; /* 0: recommended kinds only */
    uint32_t at_end; /* 1: false positives are bounded at the end of the stream, not on average */
    uint32_t reserved;
} eb_goal;
typedef struct eb_offer {
    size_t size;
    const eb_kind_info *kind;
    double bytes;
    double mean_fpr, mean_fnr; /* expected, or with at_end false positives at the end; if the order
                                  is not known: of a shuffled stream */
    double most_fpr, most_fnr; /* if the order is not known: at worst; else the same.  If the filter
                                  grows: however many keys come */
    double regret;             /* if the order is not known: its misses as a multiple of the
                                  best offer's, on the stream that suits it least; else 1 */
    double lines;              /* cache lines that a key touches, about */
    double error;              /* kinds that count: as in eb_prediction */
    char spec[EB_SPEC_MAX];    /* canonical */
} eb_offer;
/* One prediction, after load->items (items NULL, n 1); or a curve: n ascending positions in the
 * same stream, none beyond load->items.  A curve costs little more than its last point: at most
 * about 50 ms, whatever is asked. */
EB_API eb_status eb_predict(const char *spec, const eb_workload *load, const double *items,
                            size_t n, eb_prediction *out, eb_error *err);
/* The best offer of each kind, best first; *n of them, at most cap.
 *
 * If the order of the repeats is given (order, or gap), rates are for that stream.  Otherwise the
 * bound on false positives is kept in any order and with any skew (eb_prediction.most_fpr), and
 * EB_FEWEST_MISSES ranks offers by their worst ratio to the misses of the best offer, over shuffled
 * streams and streams whose repeats are near.
 *
 * EB_ELIMIT if no kind keeps the bounds; the text says what is possible, and how much memory any
 * structure would need.  A filter that is hardly better than tossing a coin (fpr + fnr above 0.99)
 * is never offered.  Usually takes less than 0.5 s, with all_kinds up to 3 s. */
EB_API eb_status eb_plan(const eb_goal *goal, eb_offer *out, size_t cap, size_t *n, eb_error *err);

/* Makers: structures with their sizes set, for C and C++.  They set field after field, because with
 * gcc a memset here is several times as slow.  A structure can be used again: only change the
 * pointers. */
static inline eb_keys eb_keys_make(eb_key_type type, eb_key_layout layout, const void *data) {
    eb_keys k;
    k.size = sizeof k;
    k.type = (uint32_t)type;
    k.layout = (uint32_t)layout;
    k.data = data;
    k.width = 0;
    k.stride = 0;
    k.offsets = NULL;
    k.bytes = 0;
    return k;
}
static inline eb_keys eb_keys_array(eb_key_type type, const eb_key *keys) {
    return eb_keys_make(type, EB_ARRAY, keys);
}
static inline eb_keys eb_keys_column(eb_key_type type, const void *data, size_t width) {
    eb_keys k = eb_keys_make(type, EB_COLUMN, data);
    k.width = width;
    k.stride = (ptrdiff_t)width;
    return k;
}
static inline eb_keys eb_keys_offsets32(eb_key_type type, const void *data, size_t bytes,
                                        const int32_t *offsets) {
    eb_keys k = eb_keys_make(type, EB_OFFSETS32, data);
    k.bytes = bytes;
    k.offsets = offsets;
    return k;
}
static inline eb_keys eb_keys_offsets64(eb_key_type type, const void *data, size_t bytes,
                                        const int64_t *offsets) {
    eb_keys k = eb_keys_make(type, EB_OFFSETS64, data);
    k.bytes = bytes;
    k.offsets = offsets;
    return k;
}
static inline eb_batch eb_batch_make(const eb_hash *hash, const eb_keys *keys, size_t n) {
    eb_batch b;
    b.size = sizeof b;
    b.n = n;
    b.hash = hash;
    b.keys = keys;
    b.value = NULL;
    b.time = NULL;
    b.flags = b.first_shard = b.n_shards = b.reserved = 0;
    b.seen = NULL;
    b.count = NULL;
    b.expelled = NULL;
    b.ctx = NULL;
    return b;
}
static inline eb_batch eb_batch_hashes(const eb_hash *hash, size_t n) {
    return eb_batch_make(hash, NULL, n);
}
static inline eb_batch eb_batch_keys(const eb_keys *keys, size_t n) {
    return eb_batch_make(NULL, keys, n);
}
#ifdef __cplusplus
}
#endif
#endif
