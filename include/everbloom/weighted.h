/* weighted.h - classes of keys for `weighted` filters: more bits for keys that
 * are asked for often and are rarely members, fewer for the others.
 *
 *   1. eb_weigh solves the number of bits for each class; make the filter with
 *      them: weighted:memory=64M,k=4:9:12.
 *   2. A key's class comes with the key (value 1..n; eb_test_values to ask), or,
 *      with hot=N, from a list in the filter: eb_classify names up to N keys per
 *      shard before the first add, all others are of class 1, and plain eb_add and
 *      eb_test do the rest.
 *   3. Bits may change later, class by class (eb_set_class_k); a member is never
 *      missed, since the library refuses to ask for more bits than every member
 *      of the class has set. */
#ifndef EVERBLOOM_WEIGHTED_H
#define EVERBLOOM_WEIGHTED_H
#include "everbloom.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { EB_CLASSES_MAX = 8, EB_CLASS_K_MAX = 32 };

typedef struct eb_class {
    double keys;    /* how many keys there are in the class, members or not */
    double members; /* how many of them will be added */
    double queries; /* how many queries for non-members go to this class */
} eb_class;
enum { EB_WEIGH_BEST = 0, EB_WEIGH_PAPER = 1 }; /* eq. (5) of the paper, for comparison */

/* Bits for each class (1..32) in a filter of `bits` bits, and the false positive
 * rates, averaged over the queries, of that filter and of the best plain one.
 * Filters take up to EB_CLASSES_MAX classes; n may be larger. */
EB_API eb_status eb_weigh(const eb_class *classes, size_t n, double bits, unsigned rule, uint8_t *k,
                          double *fpr, double *plain_fpr, eb_error *err);

/* Name the class (value) of keys, before the first add.  All or none. */
EB_API eb_status eb_classify(eb_filter *f, const eb_batch *b, eb_error *err);

/* Bits that adds of a class set and that queries look at.
 *
 * Lower the query bits whenever you like.  To raise them: raise the insert bits,
 * add every member of the class again, then raise the query bits with `renewed`
 * true, which says that you did.  Refused: query bits above the insert bits, or,
 * without `renewed`, above the lowest insert bits that the class ever had. */
EB_API eb_status eb_class_k(const eb_filter *f, uint32_t class_number, uint32_t *insert_k,
                            uint32_t *query_k);
EB_API eb_status eb_set_class_k(eb_filter *f, uint32_t class_number, uint32_t insert_k,
                                uint32_t query_k, bool renewed, eb_error *err);
#ifdef __cplusplus
}
#endif
#endif
