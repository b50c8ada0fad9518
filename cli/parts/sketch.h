/* sketch.h - how many different keys: HyperLogLog (Flajolet and others, 2007) with the estimator of
 * Ertl (2017), which needs no correction for few or many keys.  The first keys are kept as they
 * are, so that small numbers are exact. */
#ifndef EVERBLOOM_SKETCH_H
#define EVERBLOOM_SKETCH_H
#include "cli.h"

enum { SKETCH_EXACT = 128 };
typedef struct sketch {
    unsigned bits; /* 2^bits registers */
    size_t n;      /* hashes that are kept; more than SKETCH_EXACT: registers instead */
    eb_hash *hash;
    uint8_t *registers;
} sketch;
void sketch_add(sketch *s, eb_hash hash); /* of a sketch with its bits set, else zero */
double sketch_estimate(const sketch *s);
double sketch_error(const sketch *s); /* standard error, as a share of the estimate; 0: exact */
void sketch_free(sketch *s);
#endif
