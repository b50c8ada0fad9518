/* filter.h - the handle, and what the files of the api share. */
#ifndef EB_FILTER_H
#define EB_FILTER_H
#include "filter/kind.h"

enum { EB_FLAG_VIEW = 1 }; /* the block belongs to somebody else */

struct eb_filter {
    const eb_kind *kind;
    const eb_ops *ops;
    eb_params p;
    uint8_t *block; /* shards x p.span bytes; never written if a view */
    eb_allocator mem;
    unsigned flags;
    unsigned shard_bits;
};
static_assert(sizeof(eb_filter) <= EB_OVERHEAD, "the handle fits into what memory= sets aside");

EB_INLINE uint64_t ebi_shards(const eb_filter *f) {
    return UINT64_C(1) << f->shard_bits;
}

EB_INLINE uint64_t ebi_bytes(const eb_filter *f) {
    return f->p.span << f->shard_bits;
}

EB_INLINE uint8_t *ebi_shard(const eb_filter *f, uint64_t i) {
    return f->block + i * f->p.span;
}

/* Is it the outcome of an operation on filters, which takes no more keys? */
EB_INLINE bool ebi_is_sealed(const eb_filter *f) {
    return f->kind->sealed && *f->kind->sealed(f->block) != 0;
}

/* Whether eb_add_batch takes all keys of b: filters that only read, values and times out of range.
 */
eb_status ebi_may_add(const eb_filter *f, const eb_batch *b);

/* Are its counters frozen, so that it takes no more keys? */
EB_INLINE bool ebi_is_frozen(const eb_filter *f) {
    return f->kind->frozen != 0 && f->p.opt[f->kind->frozen] != 0;
}

/* spec.c */
eb_status ebi_spec_parse(const char *spec, const eb_kind **kind, eb_params *p, eb_error *err);
size_t ebi_spec_print(const eb_kind *kind, const eb_params *p, char *buf, size_t cap);
size_t ebi_spec_thawed(const eb_filter *f, char *buf, size_t cap); /* as if it were not frozen */

/* alloc.c */
extern const eb_allocator ebi_malloc;
uint8_t *ebi_alloc_zeroed(const eb_allocator *mem, size_t size);

/* handle.c: a handle without a block.  Takes a spec that resolved. */
eb_filter *ebi_handle(const eb_kind *kind, const eb_params *p, const eb_allocator *mem);
/* An empty filter, which may be frozen: then its counters are still to be written. */
eb_status ebi_new(eb_filter **out, const eb_kind *kind, const eb_params *p, const eb_allocator *mem,
                  eb_error *err);

/* Copy a structure that begins with its size, as much of it as the caller's size
 * says that the caller knows. */
static inline void ebi_give(void *out, const void *full, size_t full_size) {
    size_t known;
    memcpy(&known, out, sizeof known);
    memcpy((uint8_t *)out + sizeof known, (const uint8_t *)full + sizeof known,
           ebi_max(ebi_min(known, full_size), sizeof known) - sizeof known);
}
#endif
