/* choosy_field.h - predicts the error rates of a Bloom filter in lines of 512 bits that takes in a
 * key only if few of its bits are still zero. choosy_field.c is for shuffled streams, choosy_skew.c
 * for keys drawn by Zipf's law. */
#ifndef EBI_CHOOSY_FIELD_H
#define EBI_CHOOSY_FIELD_H
#include "math/probability.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct ebi_choosy {
    unsigned k;          /* bits of a key, 1..12 */
    double s;            /* a key may cost this many bits more than an average one */
    double xmax;         /* the largest share of a line's bits that may be set, 0..1 */
    double bits_per_key; /* all bits / all distinct keys, > 0 */
    double share;        /* distinct keys / records, 0 < share < 1 */
    bool rough;          /* steps four times as long: rates within 3 % */
    double retry;  /* the share of more expensive keys that are taken in, drawn at each arrival */
    bool only_fpr; /* with s >= k and hardly any repeats: computes nothing else */
} ebi_choosy;

typedef struct ebi_choosy_rates {
    double load, fpr, fnr;     /* at the end of the stream */
    double mean_fpr, mean_fnr; /* of all first arrivals, of all repeats */
} ebi_choosy_rates;

/* For a stream with every key once and (1-share)/share repeats a key on average, spread uniformly
 * over the keys and over the stream.  About a millisecond. */
ebi_choosy_rates ebi_choosy_field(const ebi_choosy *c);
/* The same for keys drawn by Zipf's law.  A few milliseconds. */
ebi_choosy_rates ebi_choosy_skewed(const ebi_choosy *c, const ebi_repeats *stream);
/* For a stream with every key once, then all again, in whatever order, and so on: so many passes.
 */
ebi_choosy_rates ebi_choosy_passes(const ebi_choosy *c, double passes);
/* The first two at n ascending places of the stream, 0..1, in one pass; `skewed` NULL:
 * shuffled. */
void ebi_choosy_course(const ebi_choosy *c, const ebi_repeats *skewed, const double *place,
                       ebi_choosy_rates *out, size_t n);

/* Shared by choosy_field.c and choosy_skew.c */

enum {
    EBI_CHOOSY_LINE = 512,
    EBI_CHOOSY_NODES = 5,
    EBI_CHOOSY_SLICES = 12,
    EBI_CHOOSY_K_MAX = 12,
    EBI_CHOOSY_CLASSES = 14
};

typedef struct ebi_choosy_step { /* what arrives in [t, t + dt), per key */
    double dt;
    double fresh[2];  /* first arrivals: with the sure one only, and with another one */
    double repeat[2]; /* of a seen key, without and with a pending arrival */
    double pending;   /* the probability that the pending arrival comes */
    double records;
    double bonus;
} ebi_choosy_step;

typedef struct ebi_choosy_flow { /* what happened in a step, per key */
    double false_positives, false_negatives, called_new;
    double bits, squares; /* bits set, and their squares summed over insertions */
    double tilt;          /* bits, weighted by the node: are there more in fuller lines? */
} ebi_choosy_flow;

typedef struct ebi_choosy_class { /* keys that come about equally often */
    double keys;                  /* per distinct key of the stream */
    double comes;                 /* how often in the whole stream, on average */
    double fresh, after;          /* in this step: first arrivals, and repeats for each of them */
    double repeats;               /* in this step, of a key that came before */
} ebi_choosy_class;

typedef struct ebi_choosy_skew {
    ebi_choosy_class classes[EBI_CHOOSY_CLASSES];
    double x[EBI_CHOOSY_NODES];
    float n[EBI_CHOOSY_NODES][EBI_CHOOSY_CLASSES][EBI_CHOOSY_K_MAX + 1][EBI_CHOOSY_SLICES];
} ebi_choosy_skew;

void ebi_choosy_skew_open(ebi_choosy_skew *f, const ebi_repeats *r);
void ebi_choosy_skew_arrivals(ebi_choosy_skew *f, double t, ebi_choosy_step *s);
ebi_choosy_flow ebi_choosy_skew_line(const ebi_choosy *c, ebi_choosy_skew *f, int node,
                                     const ebi_choosy_step *s, double x);

/* p[j]: the probability that j of k bits are zero. */
void ebi_choosy_binomial(unsigned k, double zero, double *p);
/* The shares of the slices of u that are taken in at j zero bits. */
void ebi_choosy_taken(const ebi_choosy *c, double x, double z, unsigned j,
                      double taken[EBI_CHOOSY_SLICES]);
void ebi_choosy_insert(ebi_choosy_flow *flow, double keys, double x, unsigned j);
#endif
