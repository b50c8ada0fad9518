/* filter.h - the handle, and what the files of the api share. */
#ifndef EBI_FILTER_H
#define EBI_FILTER_H
#include "base/alloc.h"
#include "filter/kind.h"

enum {
    EBI_FLAG_VIEW = 1,    /* read-only */
    EBI_FLAG_BORROWED = 2 /* the block belongs to somebody else */
};

struct eb_filter {
    const ebi_kind *kind;
    const ebi_ops *ops;
    ebi_params p;
    uint8_t *block; /* shards x p.span bytes; never written if a view; at any address if the kind is
                       plain */
    uint64_t room;  /* bytes that were allocated for it; more than it has after eb_clear */
    eb_allocator mem;
    unsigned flags;
    uint8_t shard_bits;
    /* What eb_add and eb_ask need not look for again: see single.c. */
    bool quick_ask, quick_add, counts_new;
    size_t handle_bytes; /* of this structure and its text */
    char spec[];         /* canonical */
};

/* Bytes of a handle whose canonical spec is so long.  Filters that grow add ",grown=N" to it. */
EBI_INLINE size_t ebi_handle_bytes(const ebi_kind *kind, size_t spec_len) {
    enum { GROWN = 16 };
    return sizeof(eb_filter) + spec_len + 1 + (kind->growing ? GROWN : 0);
}

EBI_INLINE uint64_t ebi_shards(const eb_filter *f) {
    return UINT64_C(1) << f->shard_bits;
}

EBI_INLINE uint64_t ebi_bytes(const eb_filter *f) {
    return f->p.span << f->shard_bits;
}

EBI_INLINE uint8_t *ebi_shard(const eb_filter *f, uint64_t i) {
    return f->block + i * f->p.span;
}

/* Is it the outcome of an operation on filters, which takes no more keys? */
EBI_INLINE bool ebi_is_sealed(const eb_filter *f) {
    const ebi_counted *const counted = f->kind->counted;
    return counted && counted->sealed && *counted->sealed(f->block) != 0;
}

/* batch.c: whether the filter can be changed at all. */
eb_status ebi_may_change(const eb_filter *f, eb_error *err);
/* The counts of keys in a filter that counts, now. */
void ebi_counts(const eb_filter *f, const eb_hash *h, size_t n, double *count);
EBI_INLINE double ebi_count(const eb_filter *f, eb_hash h) {
    double count;
    ebi_counts(f, &h, 1, &count);
    return count;
}

/* single.c: notes in a handle what eb_add and eb_ask would look for with each key. */
void ebi_single_open(eb_filter *f);
/* batch.c: does it refuse new keys, or grow, when it is full?  The latest clock of all shards. */
bool ebi_is_limited(const eb_filter *f);
uint64_t ebi_now(const eb_filter *f);

/* Are its counters frozen, so that it takes no more keys? */
EBI_INLINE bool ebi_is_frozen(const eb_filter *f) {
    return f->kind->counted && f->p.opt[f->kind->counted->frozen] != 0;
}

/* spec.c */
eb_status ebi_spec_parse(const char *spec, const ebi_kind **kind, ebi_params *p, eb_error *err);
/* The same in two steps, for parameters that were never text: options are set, one by one, then the
 * rest is settled.  p and a begin as zeros.  Set says false if the option's range has not the
 * value; of millionths the nearest is taken, of whole numbers the next lower one. */
bool ebi_spec_set(const ebi_kind *kind, size_t option, double value, ebi_params *p, ebi_args *a);
/* The same with the end of the range that is nearer to the value. */
bool ebi_spec_set_nearest(const ebi_kind *kind, size_t option, double value, ebi_params *p,
                          ebi_args *a);
/* key=value{,key=value} of this kind; what follows the colon of a spec. */
eb_status ebi_spec_pairs(const ebi_kind *kind, const char *text, ebi_params *p, ebi_args *a,
                         eb_error *err);
size_t ebi_spec_option(const ebi_kind *kind, const char *key); /* EBI_OPTIONS_MAX: it has none */
eb_status ebi_spec_settle(const ebi_kind *kind, ebi_params *p, ebi_args *a, eb_error *err);
uint64_t ebi_spec_caps(const ebi_kind *kind, const ebi_params *p); /* what its filters can do */
size_t ebi_spec_print(const ebi_kind *kind, const ebi_params *p, char *buf, size_t cap);
size_t ebi_spec_thawed(const eb_filter *f, char *buf, size_t cap); /* as if not frozen or grown */

/* merge.c: can it be merged with a weight, as far as its counters are concerned? */
bool ebi_merge_scales(const eb_filter *f);

/* predict.c: is it a workload?  The prediction for one. */
eb_status ebi_predict_check(const eb_workload *w, eb_error *err);
void ebi_predict(const ebi_kind *kind, const ebi_params *p, const eb_workload *w, size_t ask,
                 eb_prediction *out);

/* handle.c: a handle without a block, or with one that is still to be filled.  They take a spec
 * that resolved. */
eb_status ebi_handle(eb_filter **out, const ebi_kind *kind, const ebi_params *p,
                     const eb_allocator *mem, eb_error *err);
eb_status ebi_handle_with_block(eb_filter **out, const ebi_kind *kind, const ebi_params *p,
                                bool zeroed, const eb_allocator *mem, eb_error *err);
/* Gives it so many parts, and what they hold stays; EB_EFULL if it cannot have so many, or
 * EB_ENOMEM: then nothing has changed.  Only filters whose kind is growing, with one shard. */
eb_status ebi_set_parts(eb_filter *f, uint32_t parts, eb_error *err);
/* An empty filter, which may be frozen: then its counters are still to be written. */
eb_status ebi_new(eb_filter **out, const ebi_kind *kind, const ebi_params *p,
                  const eb_allocator *mem, eb_error *err);
#endif
