/* query.h - access to the counters of a filter, for queries and for operations on filters. */
#ifndef EBI_QUERY_H
#define EBI_QUERY_H
#include "api/filter.h"
#include "filter/counting/counting.h"
#include <everbloom/experimental.h>

EBI_INLINE ebi_counting ebi_query_open(const eb_filter *f, uint64_t shard) {
    ebi_counting c;
    f->kind->counted->counters(&f->p, ebi_shard(f, shard), &c);
    return c;
}

/* Each checks whether a question can be asked, and fails with the reason if not. */
eb_status ebi_query_counts(const eb_filter *f, eb_error *err); /* the filter has counters */
eb_status ebi_query_linear(const eb_filter *f, eb_error *err); /* its counters are sums */
eb_status ebi_query_sums(const ebi_counting *c,
                         eb_error *err); /* they are still sums, though joined */
eb_status ebi_query_uniform(const eb_filter *f,
                            eb_error *err); /* a key's counters may be anywhere */
eb_status ebi_query_same_hashes(const eb_filter *a, const eb_filter *b, eb_error *err);
eb_status ebi_query_equal(const eb_filter *a, const eb_filter *b, eb_error *err);

/* A new, empty filter like this one, but thawed and with the options of `change` that are given
 * (NULL: none).  EBI_OFF: left out. */
eb_status ebi_query_new(eb_filter **out, const eb_filter *f, const ebi_params *change,
                        const ebi_args *given, const eb_allocator *mem, eb_error *err);

/* The sum over all counters of a shard of the products of two filters' counters, over all parts and
 * the least over the k parts. */
double ebi_query_products(const ebi_counting *a, const ebi_counting *b, double *least);
double ebi_query_f2(const ebi_counting *c); /* an estimate */
/* The counters of a part; where counters join, the number with which keys would meet as often. */
double ebi_query_width(const ebi_counting *a, const ebi_counting *b);

/* The steps of eb_convert.  Thawing may change store and counter_bits. */
eb_status ebi_freeze(eb_filter **out, const eb_filter *f, const eb_allocator *mem, eb_error *err);
eb_status ebi_thaw(eb_filter **out, const eb_filter *f, const ebi_params *change,
                   const ebi_args *given, const eb_allocator *mem, eb_error *err);
eb_status ebi_fold(eb_filter **out, const eb_filter *f, const eb_allocator *mem, eb_error *err);
#endif
