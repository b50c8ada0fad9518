/* experimental.h - no promises: what is declared here may change or disappear in any release.  Only
 * the static library has it: define EB_STATIC_ONLY to say that you link everbloom statically. */
#ifndef EVERBLOOM_EXPERIMENTAL_H
#define EVERBLOOM_EXPERIMENTAL_H
#ifndef EB_STATIC_ONLY
#error "define EB_STATIC_ONLY to say that you link everbloom statically"
#endif
#include "query.h"
#include <string.h>
#ifdef __cplusplus
extern "C" {
#endif

/* ---- Defragmentation ------------------------------------------------------------------------- */

/* For a host whose allocator moves memory: move gets what alloc returned, copies it elsewhere,
 * frees it, and returns the new address, aligned to 16 bytes; or NULL to leave it in place.  *f is
 * the filter afterwards.  With the library's own allocator nothing moves.  Parts of snapshots and
 * lists of keys that point into the filter are no longer valid. */
typedef void *eb_mover(void *ctx, void *p, size_t bytes);
EB_API void eb_move(eb_filter **f, eb_mover *move, void *ctx);

/* ---- Cells, for an inline test -------------------------------------------------------------- */

/* High half of a 64 x 64 bit product: maps a uniform x to 0..range-1.  Where sizes have 32 bits,
 * this product would be a function call, and two halves of it are enough for most ranges. */
static inline uint64_t eb_scale(uint64_t x, uint64_t range) {
    if (sizeof(size_t) < sizeof x && range <= UINT32_MAX)
        return ((x >> 32) * range + ((x & UINT32_MAX) * range >> 32)) >> 32;
    __extension__ typedef unsigned __int128 eb_u128;
    return (uint64_t)(((eb_u128)x * range) >> 64);
}

/* The i-th position of hash h is eb_scale(x_i, range) with x_0 = h and
 * x_(i+1) = eb_next(x_i).  The top bits of h * C^i behave as independent draws. */
static inline uint64_t eb_next(uint64_t x) {
    return x * UINT64_C(0xD1342543DE82EF95) + 1;
}

/* Cells of width bits, k of them for a key; the i-th lies in
 * [i * stride, i * stride + range), so stride = 0 is one common array. */
typedef struct eb_cells_view {
    const uint8_t *cells;
    uint64_t range, stride;
    uint32_t k, width;
} eb_cells_view;

/* Valid until the next call that takes the filter as non-const.  False: this
 * kind, or a filter with several shards, has no such view. */
EB_API bool eb_cells_view_of(const eb_filter *f, eb_cells_view *v);

/* Whether no cell of h is zero.  The same answer as eb_ask_batch. */
static inline bool eb_cells_test(const eb_cells_view *v, eb_hash h) {
    const uint64_t mask = (UINT64_C(1) << v->width) - 1;
    uint64_t x = h, first = 0;
    for (uint32_t i = 0; i < v->k; i++, x = eb_next(x), first += v->stride) {
        const uint64_t bit = (first + eb_scale(x, v->range)) * v->width;
        uint64_t word;
        memcpy(&word, v->cells + (bit >> 3), sizeof word);
        if (((word >> (bit & 7)) & mask) == 0) return false;
    }
    return true;
}

/* ---- Classes of keys for weighted filters ---------------------------------------------------- */

/* Classes of keys for `weighted` filters: more bits for keys that are queried often and are rarely
 * members, fewer for the others.
 *
 *   1. eb_weigh computes the number of bits for each class.  Make the filter with
 *      them: weighted:memory=64M,class_bits=4:9:12.
 *   2. A key's class comes with the key (value 1..n, in questions too).  Or, with
 *      hot=N, it comes from a list in the filter: eb_classify lists up to N keys per
 *      shard before the first add, all others have class 1, and eb_add and eb_ask
 *      need no values.
 *   3. Bits may change later, class by class (eb_set_class_k).  A member is never
 *      missed: the library refuses to check more bits than every member of the
 *      class has set. */

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

/* List keys with their classes (value), before the first add.  All or none. */
EB_API eb_status eb_classify(eb_filter *f, const eb_batch *b, eb_error *err);

/* The bits that adds of a class set, and those that queries look at.
 *
 * You may lower the query bits at any time.  To raise them: raise the insert bits, add every member
 * of the class again, then raise the query bits with `renewed` true, which confirms that you did.
 * Refused: query bits above the insert bits, or, without `renewed`, above the lowest insert bits
 * that the class ever had. */
EB_API eb_status eb_class_k(const eb_filter *f, uint32_t class_number, uint32_t *insert_k,
                            uint32_t *query_k);
EB_API eb_status eb_set_class_k(eb_filter *f, uint32_t class_number, uint32_t insert_k,
                                uint32_t query_k, bool renewed, eb_error *err);

/* ---- Whole streams --------------------------------------------------------------------------- */

/* The whole stream: F1, and F2 with its standard error (at most F2 sqrt(2/m)). */
typedef struct eb_moments {
    size_t size;
    double f1, f2, f2_error;
} eb_moments;
EB_API eb_status eb_moments_of(const eb_filter *f, eb_moments *out, eb_error *err);

/* Sizes of the counters: counters[b] of them hold a number of b bits; 0 has no bits. */
typedef struct eb_lengths {
    size_t size;
    double bits; /* of memory for each counter */
    bool frozen;
    uint64_t counters[49];
} eb_lengths;
EB_API eb_status eb_lengths_of(const eb_filter *f, eb_lengths *out, eb_error *err);

/* The mean value of all occurrences of n different keys: sums holds the keys with their values for
 * multiplicity, counts holds them with 1 each.  It lies in lower..upper unless the sum or the count
 * is more than two of its standard errors off; upper is INFINITY if the count may be 0. */
typedef struct eb_average {
    size_t size;
    double average, lower, upper;
} eb_average;
EB_API eb_status eb_average_batch(const eb_filter *sums, const eb_filter *counts, const eb_batch *b,
                                  eb_average *out, eb_error *err);

/* The same as eb_join_size, by bifocal sampling: a and b are hashes of keys of tuples that were
 * drawn at random, without replacement, from each stream, in random order, repeats of a key as they
 * came. eb_join_sample_size says how many tuples the paper recommends; more is better.  Sparse keys
 * are looked up for the first sparse_n tuples of each (0: all).  The filters need the same seed.
 * join is slightly too high where their counts are; error includes that, so the smaller error can
 * be chosen.
 */
typedef struct eb_join_samples {
    const eb_hash *a, *b;
    size_t a_n, b_n, sparse_n;
} eb_join_samples;
EB_API eb_status eb_join_sampled(const eb_filter *a, const eb_filter *b, const eb_join_samples *s,
                                 eb_join *out, eb_error *err);
EB_API size_t eb_join_sample_size(double tuples);

/* A new filter from two with equal specs.  The count of each key is at least the product, maximum
 * or minimum of its counts in the two.  The result is read-only (EB_EREADONLY).  The product of two
 * counts is a better bound than the count in the product. */
typedef enum eb_combination { EB_PRODUCT, EB_MAXIMUM, EB_MINIMUM } eb_combination;
EB_API eb_status eb_combine(eb_filter **out, const eb_filter *a, const eb_filter *b,
                            eb_combination how, const eb_allocator *mem, eb_error *err);

/* ---- Numbers --------------------------------------------------------------------------------- */

/* The share of keys whose smallest counter is too high with so many distinct keys. */
EB_API double eb_count_error_rate(double counters, unsigned k, double distinct);

/* ---- Deltas of bytes --------------------------------------------------------------------------
 */

/* Deltas of files that hold more than a snapshot, such as --state files of the command.
 * eb_patch_bytes does not check that the result is a snapshot.  After a failure, part of it may
 * have been written. */
EB_API eb_status eb_diff_bytes(const void *base, size_t base_len, const void *now, size_t now_len,
                               eb_write write, void *ctx, eb_error *err);
EB_API eb_status eb_patch_bytes(const void *base, size_t base_len, const void *delta, size_t len,
                                eb_write write, void *ctx, eb_error *err);
#ifdef __cplusplus
}
#endif
#endif
