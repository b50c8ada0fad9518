/* query.h - the counters of a filter, for questions and operations. */
#ifndef EB_QUERY_H
#define EB_QUERY_H
#include "api/filter.h"
#include "filter/counting.h"
#include <everbloom/query.h>

EB_INLINE eb_counting ebi_query_open(const eb_filter *f, uint64_t shard) {
    eb_counting c;
    f->kind->counters(&f->p, ebi_shard(f, shard), &c);
    return c;
}

/* Can the question be asked?  Each fails with a reason. */
eb_status ebi_query_counts(const eb_filter *f, eb_error *err);    /* it has counters */
eb_status ebi_query_linear(const eb_filter *f, eb_error *err);    /* which are sums */
eb_status ebi_query_uniform(const eb_filter *f, eb_error *err);   /* of keys from everywhere */
eb_status ebi_query_never_low(const eb_filter *f, eb_error *err); /* for keys of any age */
eb_status ebi_query_same_hashes(const eb_filter *a, const eb_filter *b, eb_error *err);
eb_status ebi_query_equal(const eb_filter *a, const eb_filter *b, eb_error *err);

/* Put another value for an option into a spec, or (NULL) leave the option out.  The text has
 * room for both, twice EB_SPEC_MAX. */
void ebi_query_spec_with(char spec[2 * EB_SPEC_MAX], const char *key, const char *value);

/* The sum over counters of the products of two filters' (of a shard), all of them
 * and the least of the k parts. */
double ebi_query_products(const eb_counting *a, const eb_counting *b, double *least);
double ebi_query_f2(const eb_counting *c); /* estimate */

/* Would the next reading of a multiscan count this key? */
bool ebi_multiscan_is_left(const eb_multiscan *m, eb_key key);
#endif
