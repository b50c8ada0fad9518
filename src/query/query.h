/* query.h - the counters of a filter, for questions and operations. */
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

/* Can the question be asked?  Each fails with a reason. */
eb_status ebi_query_counts(const eb_filter *f, eb_error *err);  /* it has counters */
eb_status ebi_query_linear(const eb_filter *f, eb_error *err);  /* which are sums */
eb_status ebi_query_sums(const ebi_counting *c, eb_error *err); /* still, though joined */
eb_status ebi_query_uniform(const eb_filter *f, eb_error *err); /* of keys from everywhere */
eb_status ebi_query_same_hashes(const eb_filter *a, const eb_filter *b, eb_error *err);
eb_status ebi_query_equal(const eb_filter *a, const eb_filter *b, eb_error *err);

/* A new, empty filter like this one, thawed, but for the options of `change` that are given (NULL:
 * for none); EBI_OFF: left out. */
eb_status ebi_query_new(eb_filter **out, const eb_filter *f, const ebi_params *change,
                        const ebi_args *given, const eb_allocator *mem, eb_error *err);

/* The sum over counters of the products of two filters' (of a shard), all of them
 * and the least of the k parts. */
double ebi_query_products(const ebi_counting *a, const ebi_counting *b, double *least);
double ebi_query_f2(const ebi_counting *c); /* estimate */
/* Counters of a part, or as many as there would be if keys met as often where counters join. */
double ebi_query_width(const ebi_counting *a, const ebi_counting *b);

/* What eb_convert is made of.  Thawing may change store and counter_bits. */
eb_status ebi_freeze(eb_filter **out, const eb_filter *f, const eb_allocator *mem, eb_error *err);
eb_status ebi_thaw(eb_filter **out, const eb_filter *f, const ebi_params *change,
                   const ebi_args *given, const eb_allocator *mem, eb_error *err);
eb_status ebi_fold(eb_filter **out, const eb_filter *f, const eb_allocator *mem, eb_error *err);
#endif
