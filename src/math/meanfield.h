/* meanfield.h - what meanfield.c, renewal.c and relax.c share: streams of which each key occurs
 * once or more in random order, and how filters forget in them. gaps.c uses the stream only. */
#ifndef EBI_MEANFIELD_H
#define EBI_MEANFIELD_H
#include <math.h>

#include "probability.h"

/* x^k for small whole k. */
static inline double ebi_power(double x, int k) {
    double product = 1;
    for (; k > 0; k--) product *= x;
    return product;
}

/* A shuffled stream of D keys once each and n-D uniform copies.  A key has 1 + Poisson(copies)
 * records, copies = n/D - 1, at uniform places in [0, 1].  G(z) = z e^(copies (z-1)) is the
 * generating function of their number. ebi_shuffled_unseen(a) = distinct G'(1-a) is the probability
 * that a window of length a holds no other record of a given record's key.  This one function is
 *     - the share of new records at place a of the stream,
 *     - the share of records, anywhere, that are not repeats within a window of length a,
 *     - the probability that a key that just occurred does not occur again for a,
 * and its integral is distinct (1 - G(1-a)). */
static inline double ebi_shuffled_unseen(double copies, double a) {
    return (1 + copies * (1 - a)) * exp(-copies * a) / (1 + copies);
}
static inline double ebi_shuffled_unseen_integral(double copies, double a) {
    return (a * exp(-copies * a) - expm1(-copies * a)) / (1 + copies);
}
static inline double ebi_shuffled_copies(double distinct) {
    return fmax(1 / distinct - 1, 1e-6); /* no repeats: the limit of few */
}

/* The clearing rate of a bit, divided by its hitting rate. */
double ebi_fade_feedback(const ebi_fade *f, double reported, double load);

void ebi_fade_renewal(const ebi_fade *f, const ebi_stream *s, ebi_rates *out);
/* The same for any finite stream, but less accurate where renewal.c applies.  Returns the number of
 * records after which FPR stays within 5 % of target. */
double ebi_fade_relax(const ebi_fade *f, const ebi_stream *s, double target, ebi_rates *out);

#endif
