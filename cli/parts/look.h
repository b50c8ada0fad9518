/* look.h - a look at the first lines of a stream: do their repeats come as in a shuffled one?
 *
 * Of `items` records in random order, of which `distinct` are different, the first n have a known
 * number of repeats at known distances.  More of them, or nearer ones: some keys are hot, or
 * repeats come soon.  Fewer: they come late.  What is kept is a hash for each line, of at most
 * 262144 lines. */
#ifndef EVERBLOOM_LOOK_H
#define EVERBLOOM_LOOK_H
#include "cli.h"

typedef struct first_look {
    eb_hash *hash;
    size_t n, most; /* hashes that are kept; lines to look at, 0: there is no look */
    double items, distinct;
} first_look;

/* False: so few lines would not tell anything. */
bool look_open(first_look *l, double items, double distinct);
void look_note(first_look *l, const eb_hash *hash, size_t n); /* no more than are left */
bool look_is_shuffled(const first_look *l);                   /* once all lines are noted */
void look_close(first_look *l);
#endif
