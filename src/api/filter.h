/* filter.h - the handle of a filter, and the functions that the files of src/api/ share. */
#ifndef EBI_FILTER_H
#define EBI_FILTER_H
#include "base/alloc.h"
#include "filter/kind.h"

enum {
    EBI_FLAG_VIEW = 1,    /* read-only */
    EBI_FLAG_BORROWED = 2 /* the library must not free the block */
};

struct eb_filter {
    const ebi_kind *kind;
    const ebi_ops *ops;
    ebi_params p;
    uint8_t *block; /* shards x p.span bytes; never written in a view; at any address with
                       EBI_ANY_BYTES */
    uint64_t room;  /* bytes allocated for it; after eb_clear, the block may be smaller */
    eb_allocator mem;
    uint16_t handle_bytes; /* of this structure and its text */
    uint8_t flags, shard_bits;
    /* What eb_add and eb_ask would otherwise find out for each key: see single.c. */
    bool quick_ask, quick_add, counts_new;
    char spec[]; /* canonical */
};

/* The size of a handle for a canonical spec of this length.  Filters that grow append
 * ",grown=N". */
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

/* Whether it is the result of an operation on filters, which takes no more keys. */
EBI_INLINE bool ebi_is_sealed(const eb_filter *f) {
    const ebi_counted *const counted = f->kind->counted;
    return counted && counted->sealed && *counted->sealed(f->block) != 0;
}

/* batch.c: whether the filter can be changed at all. */
eb_status ebi_may_change(const eb_filter *f, eb_error *err);
/* The present counts of keys in a filter that counts. */
void ebi_counts(const eb_filter *f, const eb_hash *h, size_t n, double *count);
EBI_INLINE double ebi_count(const eb_filter *f, eb_hash h) {
    double count;
    ebi_counts(f, &h, 1, &count);
    return count;
}

/* single.c: stores in the handle what eb_add and eb_ask would find out for each key. */
void ebi_single_open(eb_filter *f);
/* batch.c: whether it refuses new keys, or grows, when it is full; and the latest clock of all
 * shards. */
bool ebi_is_limited(const eb_filter *f);
uint64_t ebi_now(const eb_filter *f);

/* Whether its counters are frozen, so that it takes no more keys. */
EBI_INLINE bool ebi_is_frozen(const eb_filter *f) {
    return f->kind->counted && f->p.opt[f->kind->counted->frozen] != 0;
}

/* spec.c */
eb_status ebi_spec_parse(const char *spec, const ebi_kind **kind, ebi_params *p, eb_error *err);
/* The same in steps, without text: options are set one by one, then the others are resolved. p and
 * a begin as zeros.  Set returns false if the value is out of the option's range.  Values are
 * rounded to the nearest millionth, or down to a whole number. */
bool ebi_spec_set(const ebi_kind *kind, size_t option, double value, ebi_params *p, ebi_args *a);
/* The same, but a value out of range is replaced by the nearest one in the range. */
bool ebi_spec_set_nearest(const ebi_kind *kind, size_t option, double value, ebi_params *p,
                          ebi_args *a);
/* Reads key=value{,key=value}: what follows the colon of a spec. */
eb_status ebi_spec_pairs(const ebi_kind *kind, const char *text, ebi_params *p, ebi_args *a,
                         eb_error *err);
size_t ebi_spec_option(const ebi_kind *kind, const char *key); /* EBI_OPTIONS_MAX: there is none */
eb_status ebi_spec_settle(const ebi_kind *kind, ebi_params *p, ebi_args *a, eb_error *err);
uint64_t ebi_spec_caps(const ebi_kind *kind, const ebi_params *p); /* what such a filter can do */
size_t ebi_spec_print(const ebi_kind *kind, const ebi_params *p, char *buf, size_t cap);
size_t ebi_spec_thawed(const eb_filter *f, char *buf, size_t cap); /* as if not frozen or grown */

/* merge.c: whether it can be merged with a weight, as far as its counters are concerned. */
bool ebi_merge_scales(const eb_filter *f);

/* predict.c: checks a workload, and predicts for one. */
eb_status ebi_predict_check(const eb_workload *w, eb_error *err);
void ebi_predict(const ebi_kind *kind, const ebi_params *p, const eb_workload *w, size_t ask,
                 eb_prediction *out);

/* handle.c: a handle without a block, or with one that is still to be filled, from a resolved
 * spec. */
eb_status ebi_handle(eb_filter **out, const ebi_kind *kind, const ebi_params *p,
                     const eb_allocator *mem, eb_error *err);
eb_status ebi_handle_with_block(eb_filter **out, const ebi_kind *kind, const ebi_params *p,
                                bool zeroed, const eb_allocator *mem, eb_error *err);
/* Gives it so many parts and keeps what they hold.  EB_EFULL if it cannot have so many, or
 * EB_ENOMEM: then nothing has changed.  Only for filters whose kind is growing, with one shard. */
eb_status ebi_set_parts(eb_filter *f, uint32_t parts, eb_error *err);
/* An empty filter.  If it is frozen, its counters must still be written. */
eb_status ebi_new(eb_filter **out, const ebi_kind *kind, const ebi_params *p,
                  const eb_allocator *mem, eb_error *err);
#endif
