/* dyadic.h - the nodes of a dyadic filter, for questions about ranges.
 *
 * A node (level, prefix) is the 2^(width-level) values whose first `level` bits,
 * counted from the start of the domain, are `prefix`. */
#ifndef EB_DYADIC_H
#define EB_DYADIC_H
#include "kind.h"

typedef struct eb_dyadic_shape {
    uint64_t low, high; /* the domain */
    unsigned width;     /* levels below the root */
    unsigned top;       /* nodes of this level and above are counted exactly */
} eb_dyadic_shape;

extern const eb_kind ebi_kind_dyadic;
eb_dyadic_shape ebi_dyadic_shape(const eb_params *p);
/* No less than the values in a node below the level top. */
uint64_t ebi_dyadic_node(const eb_params *p, const uint8_t *block, unsigned level, uint64_t prefix);
/* The values in the nodes first..last of the level top, exactly. */
uint64_t ebi_dyadic_top(const eb_params *p, const uint8_t *block, uint64_t first, uint64_t last);
#endif
