/* dyadic.h - the nodes of a dyadic filter, for questions about ranges.
 *
 * A node (level, prefix) is the 2^(width-level) values whose first `level` bits, counted from the
 * start of the domain, are `prefix`. width is the option bits=. */
#ifndef EBI_DYADIC_H
#define EBI_DYADIC_H
#include "filter/kind.h"

typedef struct ebi_dyadic_form {
    uint64_t low, high; /* the domain */
    unsigned width;     /* levels below the root: the option bits= */
    unsigned top;       /* nodes of this level are counted in an array */
    unsigned exact;     /* nodes of this level and above are always counted exactly */
} ebi_dyadic_form;

extern const ebi_kind ebi_kind_dyadic;
ebi_dyadic_form ebi_dyadic_shape(const ebi_params *p);
/* The count of a node below the level exact.  Never too low. */
uint64_t ebi_dyadic_node(const ebi_params *p, const uint8_t *block, unsigned level,
                         uint64_t prefix);
/* The count of the nodes first..last of the level exact. */
uint64_t ebi_dyadic_sum(const ebi_params *p, const uint8_t *block, uint64_t first, uint64_t last);
#endif
