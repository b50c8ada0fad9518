/* bloom.h - what the files of the Bloom filter share: bloom.c, bloom_line.c (one cache line a key)
 * and bloom_grow.c (parts that are added when the filter is full). */
#ifndef EBI_BLOOM_H
#define EBI_BLOOM_H
#include "cells/bitarray.h"
#include "filter/loops.h"

enum {
    EBI_BLOOM_K = EBI_O_OWN,
    EBI_BLOOM_LAYOUT,
    EBI_BLOOM_LIMIT,
    EBI_BLOOM_GROW,
    EBI_BLOOM_GROWN,
    EBI_BLOOM_DISTINCT,
    EBI_BLOOM_FPR
};
enum { EBI_BLOOM_PARTS, EBI_BLOOM_ONE, EBI_BLOOM_LINE }; /* layouts */
enum { EBI_BLOOM_LINE_BITS = 512 };

/* layout=line */
const ebi_ops *ebi_bloom_line_loops(const ebi_params *p);
double ebi_bloom_line_rate(double mean,
                           unsigned k); /* false-positive rate with `mean` keys in a line */
double ebi_bloom_line_mean(double fpr, unsigned k); /* the most keys in a line for that rate */
double ebi_bloom_line_stat(const ebi_params *p, const uint8_t *block, uint64_t *used);

/* grow=: parts with k + 0, 1, 2, 2, 3, 3, 3, 3, 4... arrays.  Each array is `grow` times as long as
 * those of the part before. */
enum { EBI_BLOOM_GROWN_MAX = 63, EBI_BLOOM_GROW_K_MAX = 26 };
typedef struct ebi_bloom_part {
    uint64_t range, limit; /* bits of an array; new keys that fit */
    uint64_t start, bytes; /* its place in the block */
    unsigned k;
} ebi_bloom_part;
/* Describes part i. false: it would be too large. */
bool ebi_bloom_part_of(const ebi_params *p, unsigned i, ebi_bloom_part *out);
/* The best k, and the bits of an array for each key, such that all parts together keep to fpr; and
 * the bits for a given k. */
void ebi_bloom_grow_plan(double fpr, double *k, double *bits);
void ebi_bloom_grow_bits(double fpr, double k, double *bits);
extern const ebi_ops ebi_bloom_grow_ops;
double ebi_bloom_grow_rate(const ebi_params *p, double distinct, double *fill);
double ebi_bloom_grow_stat(const ebi_params *p, const uint8_t *block, uint64_t *cells,
                           uint64_t *used);
eb_status ebi_bloom_grow_check(const ebi_params *p, const uint8_t *block, eb_error *err);
extern const ebi_growing ebi_bloom_growing;
#endif
