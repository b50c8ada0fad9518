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
EBI_INLINE uint64_t ebi_bloom_line_at(eb_hash h, uint64_t lines) { /* in bytes */
    return EBI_BLOOM_LINE_BITS / 8 * eb_scale(h, lines);
}

EBI_INLINE bool ebi_bloom_line_has(const uint8_t *line, eb_hash h, unsigned k) {
    bool all = true;
    for (unsigned j = 0; j < k; j++) {
        h = eb_next(h);
        all &= ebi_bit(line, h >> 55);
    }
    return all;
}

/* Was it there? */
EBI_INLINE bool ebi_bloom_line_put(uint8_t *line, eb_hash h, unsigned k) {
    bool all = true;
    for (unsigned j = 0; j < k; j++) {
        h = eb_next(h);
        all &= ebi_bit(line, h >> 55);
        ebi_bit_set(line, h >> 55);
    }
    return all;
}

const ebi_ops *ebi_bloom_line_loops(const ebi_params *p);
double ebi_bloom_line_rate(double mean,
                           unsigned k); /* false-positive rate with `mean` keys in a line */
double ebi_bloom_line_mean(double fpr, unsigned k); /* the most keys in a line for that rate */
/* The rate of these lines, or with the bits of two filters; other: NULL, or the same lines of
 * another filter. */
double ebi_bloom_line_fpr(const uint8_t *line, const uint8_t *other, uint64_t lines, unsigned k,
                          uint64_t *used);

/* grow=: parts with k + 0, 1, 2, 2, 3, 3, 3, 3, 4... arrays.  Each array is `grow` times as long as
 * those of the part before.  With layout=line, lines with as many bits as k + 0, 2, 4, 4, 6... such
 * arrays. */
enum { EBI_BLOOM_GROWN_MAX = 63, EBI_BLOOM_GROW_K_MAX = 26, EBI_BLOOM_GROW_LINE_K_MAX = 20 };
typedef struct ebi_bloom_part {
    uint64_t range, limit; /* bits of an array; new keys that fit */
    uint64_t cells;        /* bits of the part */
    uint64_t start, bytes; /* its place in the block */
    unsigned k;
    bool line; /* layout=line: no arrays */
} ebi_bloom_part;
/* Describes part i. false: it would be too large. */
bool ebi_bloom_part_of(const ebi_params *p, unsigned i, ebi_bloom_part *out);
/* The best k such that all parts together keep to fpr, and the bits of an array for each key. */
unsigned ebi_bloom_grow_plan(double fpr, bool line);
double ebi_bloom_grow_bits(double fpr, unsigned k, bool line);
extern const ebi_ops ebi_bloom_grow_ops;
double ebi_bloom_grow_rate(const ebi_params *p, double distinct, double *fill);
double ebi_bloom_grow_stat(const ebi_params *p, const uint8_t *block, uint64_t *cells,
                           uint64_t *used);
eb_status ebi_bloom_grow_check(const ebi_params *p, const uint8_t *block, eb_error *err);
extern const ebi_growing ebi_bloom_growing;
#endif
