/* theory.h - mathematics with no filter in it: pure functions of numbers.
 *
 * Nothing here allocates, prints, fails or keeps state.  Counts are doubles, since streams reach
 * 1e12 keys and mean-field times are not whole numbers.  Arguments outside the stated ranges are
 * programming errors and are asserted.
 *
 *   prob.c    probabilities and tails, accurate in relative terms */
#ifndef EB_THEORY_H
#define EB_THEORY_H

/* --- prob.c: relative error below 1e-10 unless said otherwise ------------------------------- */

double ebi_pow1m(double x, double n);           /* (1-x)^n, 0 <= x <= 1, n >= 0 */
double ebi_one_minus_pow1m(double x, double n); /* 1-(1-x)^n without cancellation */

/* Binomial with n trials (any real n >= 0; n <= 1e12) and probability p; j is a whole number.
 * For real n the tail is the regularised incomplete beta function I_p(j, n-j+1).  The cost grows
 * with min(j, 9 standard deviations). */
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

double ebi_occupancy(double cells, double throws); /* expected cells hit at least once */
double ebi_erlang_b(double servers, double load);  /* blocked share of a loss system */
/* Kullback-Leibler divergence of Bernoulli(a) from Bernoulli(b), in bits. */
double ebi_kl_bernoulli_bits(double a, double b);

/* x in [lo, hi] with f(x) = target for a monotone f, rising or falling; the nearer end if there is
 * none.  Halves geometrically while hi > 2 lo > 0, so wide positive ranges cost no more. */
typedef double ebi_function(double x, const void *context);
double ebi_bisect(ebi_function *f, const void *context, double lo, double hi, double target);

#endif
