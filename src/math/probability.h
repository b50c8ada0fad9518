/* probability.h - the mathematics of predictions: pure functions of numbers that know no filter.
 *
 * Nothing here allocates, prints, fails or keeps state.  Counts are doubles, because streams reach
 * 1e12 keys and times are averages.  Arguments outside of the stated ranges are programming errors
 * and are asserted.
 *
 *     probability.c   probabilities and tails, accurate in relative terms
 *     markov.c, course.c   cells that count down: stable and importance
 *     meanfield.c, renewal.c, relax.c   filters of bits that forget by clearing random bits
 *     gaps.c   how far apart the repeats of a stream are
 *     weights.c (in filter/membership/)   bits for classes of keys
 *     spectrum.c, spectrum_errors.c, spectrum_bits.c   counters that keys share: spectrum.h */
#ifndef EBI_PROBABILITY_H
#define EBI_PROBABILITY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- probability.c: relative error below 1e-10 unless stated otherwise ---------------------- */

double ebi_pow1m(double x, double n);           /* (1-x)^n, 0 <= x <= 1, n >= 0 */
double ebi_one_minus_pow1m(double x, double n); /* 1-(1-x)^n without cancellation */

/* The binomial distribution with n trials (any real n >= 0; n <= 1e12) and probability p; j is a
 * whole number.  For real n the tail is the regularised incomplete beta function I_p(j, n-j+1).
 * The cost grows with min(j, 9 standard deviations). */
double ebi_binom_log_pmf(double n, double p, double j);
double ebi_binom_pmf(double n, double p, double j);
double ebi_binom_ge(double n, double p, double j); /* P(X >= j) */
double ebi_binom_lt(double n, double p, double j); /* P(X < j) */
/* Sum over j < m of P(X = j) q^j, 0 <= q <= 1. */
double ebi_binom_sum_q(double n, double p, double q, double m);

double ebi_gamma_p(double a, double x); /* regularised incomplete gamma, lower: a > 0, x >= 0 */
double ebi_gamma_q(double a, double x); /* upper: 1 - lower, without cancellation */
double ebi_poisson_pmf(double mean, double j);
double ebi_poisson_ge(double mean, double j); /* P(X >= j), j a whole number */
double ebi_poisson_le(double mean, double j); /* P(X <= j) */

double ebi_normal_upper_quantile(double d); /* z with P(N(0,1) > z) = d, 0 < d < 1 */

/* Kullback-Leibler divergence of Bernoulli(a) from Bernoulli(b), in bits. */
double ebi_kl_bernoulli_bits(double a, double b);

/* The x in [lo, hi] with f(x) = target for a monotone f, rising or falling; the nearer end if there
 * is none.  While hi > 2 lo > 0 it halves the ratio, so wide positive ranges cost no more. */
typedef double ebi_function(double x, const void *context);
double ebi_bisect(ebi_function *f, const void *context, double lo, double hi, double target);
/* The mean of f(X), X Poisson, with at most about 500 calls of f however large the mean is.  Up to
 * a mean of 400 all values are used.  Beyond that, evenly spaced ones over 24 standard deviations,
 * which is as accurate if f is smooth on a twentieth of a standard deviation. */
double ebi_poisson_mean(double mean, ebi_function *f, const void *context);
/* The mean of f over [lo, hi]: Simpson's rule on 256 equal pieces. */
double ebi_mean(ebi_function *f, const void *context, double lo, double hi);

/* --- markov.c: one cell with values 0..levels that loses 1 now and then and is set to a class ---
 *
 * An arrival first takes 1 from `deletes` of the cells (P, which may be fractional), then sets its
 * `hashes` cells (K) to its class, 1..levels.  Results are for one cell in the limit of many
 * (relative error about K/cells).  Takes microseconds to a few milliseconds: where following the
 * arrivals would take longer, course.c takes long steps. */
enum { EBI_CHAIN_MAX_LEVELS = 255 };
typedef enum ebi_chain_rule {
    EBI_CHAIN_MAX,     /* random deletion; a cell becomes max(cell, class) */
    EBI_CHAIN_SWEEP,   /* the same, but a pointer deletes from the next P cells in turn */
    EBI_CHAIN_PROMOTE, /* two classes, half and levels; a low class on a cell >= half sets levels */
    EBI_CHAIN_OVERWRITE, /* a cell becomes the class */
    EBI_CHAIN_PROBES,    /* max; P probes, a cell of value j loses 1 with probability 1/j */
    EBI_CHAIN_RECIPROCAL /* max; exactly P units are taken, by cells' weights 1/value */
} ebi_chain_rule;
typedef struct ebi_chain {
    ebi_chain_rule rule;
    double cells, hashes, deletes;         /* m, K, P */
    int levels;                            /* the largest value, 1..EBI_CHAIN_MAX_LEVELS */
    int half;                              /* PROMOTE only: 1 <= half < levels */
    bool distinct;                         /* the K cells of a key differ from each other */
    double tail[EBI_CHAIN_MAX_LEVELS + 2]; /* tail[j]: share of arrivals of class >= j */
} ebi_chain;

/* Sets one class, the highest; half = levels/2; distinct cells. */
void ebi_chain_init(ebi_chain *c, ebi_chain_rule rule, double cells, double hashes, double deletes,
                    int levels);
/* Sets the classes. share[v] is the weight of arrivals of class v, v = 1..levels (share[0] is not
 * read); their sum is > 0. */
void ebi_chain_classes(ebi_chain *c, const double *share);

/* The share of cells that are 0 in the long run.  Fills share[0..levels] unless it is NULL; it must
 * be NULL for SWEEP. */
double ebi_chain_stationary(const ebi_chain *c, double *share);
/* The share of cells that are 0 after n arrivals of fresh keys from empty; n may be INFINITY. */
double ebi_chain_zero(const ebi_chain *c, double n);
/* The same for a cell that a key of class v set, `gap` arrivals ago, n in all. */
double ebi_chain_zero_of(const ebi_chain *c, int v, double gap, double n);
double ebi_chain_fpr(const ebi_chain *c, double n); /* (1-zero)^K */
double ebi_chain_fnr(const ebi_chain *c, int v, double gap, double n);
/* The same for all classes v that arrivals have, into zero[v]. */
void ebi_chain_zeros_of(const ebi_chain *c, double gap, double n, double *zero);
/* The mean over the first n arrivals, n > 0. */
double ebi_chain_mean_fpr(const ebi_chain *c, double n);
/* Arrivals until the share of zeros is within eps of its limit. */
double ebi_chain_settles(const ebi_chain *c, double eps);
/* The deletions per arrival that give an FPR in the long run; c->deletes is not read.  The result
 * is between 1e-6 K and cells, and the nearer end if no P gives that FPR. */
double ebi_chain_deletes_for(const ebi_chain *c, double fpr);

/* The probability that an arrival sets a given cell, and that it takes 1 from one. */
double ebi_chain_set_rate(const ebi_chain *c);
double ebi_chain_clear_rate(const ebi_chain *c);

/* course.c: all rules but SWEEP, within 0.3 % for shares that are not small. n may be INFINITY for
 * zero and lost. */
double ebi_course_zero(const ebi_chain *c, double n);
double ebi_course_mean_fpr(const ebi_chain *c, double n);
double ebi_course_settles(const ebi_chain *c, double limit, double eps);
void ebi_course_lost(const ebi_chain *c, double gap, double n, double *zero); /* of all classes */

/* --- filter/membership/weights.c: bits of a Bloom filter for each of n classes of keys ------ */
enum { EBI_WEIGHTS_K_MAX = 32 };
typedef struct ebi_weights {
    size_t n;
    double bits;
    const struct eb_class *classes; /* of everbloom/experimental.h; queries need not add up to 1 */
} ebi_weights;
double ebi_weights_fpr(const ebi_weights *w, const uint8_t *k);
/* Each fills k (1..EBI_WEIGHTS_K_MAX) and returns its false-positive rate: of the best plain
 * filter, of the best weighted one (never worse), and of the paper's equation (5), rounded. */
double ebi_weights_plain(const ebi_weights *w, uint8_t *k);
double ebi_weights_best(const ebi_weights *w, uint8_t *k);
double ebi_weights_paper(const ebi_weights *w, uint8_t *k);

/* --- meanfield.c: filters of k partitions of bits.  Every record reported distinct sets its k
 * bits, and random bits are cleared.  A record hits a given bit with probability k/bits.  In the
 * rates below, which are of one partition, I is the share of records reported distinct and p =
 * load. */
typedef enum ebi_fade_rule {
    EBI_FADE_SBF,    /* one-bit stable filter: every record sets, and clears `deletes` bits */
    EBI_FADE_RSBF,   /* every record sets, and clears one bit in each partition */
    EBI_FADE_BSBF,   /* when a record sets, it clears one bit in each partition: I */
    EBI_FADE_BSBFSD, /* when a record sets, it clears one bit in one partition: I/k */
    EBI_FADE_RLBSBF  /* like BSBF, but in each partition only with probability load: I p */
} ebi_fade_rule;
enum { EBI_FADE_MAX_K = 64 };
typedef struct ebi_fade {
    ebi_fade_rule rule;
    double bits; /* of all partitions together */
    int k;       /* 1..EBI_FADE_MAX_K */
    double deletes;
    bool rough; /* finite streams: within 3 %, ten times as fast */
} ebi_fade;
typedef struct ebi_stream {
    double items;    /* records; INFINITY: endless */
    double distinct; /* share of records whose key is new, 0 < distinct <= 1 */
    double gap; /* records from a key to its repeat; 0 or INFINITY: the copies are uniform over the
                   keys and all records are shuffled (endless: repeats are ancient) */
} ebi_stream;
typedef struct ebi_rates {
    double load;               /* share of bits that are 1, at the end */
    double fpr, fnr;           /* of a new key, of a repeated key, at the end */
    double mean_fpr, mean_fnr; /* over the new, over the repeated records of the stream */
    double settles; /* records of an endless stream until FPR stays within 5 % of its limit; 0: its
                     * limit is 1, all bits fill up */
} ebi_rates;
/* `settles` asks for that member too; else it is NAN. It takes as long as all the others. */
ebi_rates ebi_fade_rates(const ebi_fade *f, const ebi_stream *s, bool settles);

/* --- gaps.c: streams as the gaps between a record and the last one of the same key -----------
 *
 * items records (0: endless) of `distinct` keys. zipf 0: each key once, and the other records are
 * uniform copies, all shuffled. zipf > 0: drawn by Zipf's law from as many keys as it takes for
 * `distinct` of them to occur. */
enum { EBI_REPEATS_BINS = 224, EBI_GAPS = 128 };
struct ebi_laws;
typedef struct ebi_repeats {
    double items, distinct, zipf, copies;
    struct ebi_laws *kept; /* or NULL */
    size_t bins;           /* zipf > 0 */
    double keys[EBI_REPEATS_BINS], share[EBI_REPEATS_BINS];
} ebi_repeats;
typedef struct ebi_gap {
    double weight;            /* of all repeats */
    double records, distinct; /* between a key and its repeat */
} ebi_gap;
/* The last stream that was asked for: a plan asks for the same one hundreds of times.  Zero at
 * first. */
typedef struct ebi_laws {
    ebi_repeats repeats;
    struct {
        bool known;
        size_t n;
        ebi_gap gaps[EBI_GAPS];
    } at[2]; /* over the stream, at its end */
} ebi_laws;
/* `kept` may be NULL. */
void ebi_repeats_of(ebi_repeats *r, double items, double distinct, double zipf, ebi_laws *kept);
/* The distinct keys among the first x records. */
double ebi_repeats_distinct(const ebi_repeats *r, double x);
/* The gaps of all repeats, or of those at the end of the stream, in ascending order.  Returns how
 * many, at most EBI_GAPS; 0 if there are no repeats. */
size_t ebi_repeats_gaps(const ebi_repeats *r, bool at_end, ebi_gap *out);
/* The mean of a function of the gap over them. */
double ebi_repeats_mean(const ebi_repeats *r, bool at_end, bool by_records, ebi_function *missed,
                        const void *context);

#endif
