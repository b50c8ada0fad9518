/* probability.c - probabilities and tails of distributions that stay accurate for streams of 1e12
 * keys, probabilities of 1e-9 and tails of 1e-300.  Library functions would lose all digits there.
 *
 * There are two methods:
 *    - Point probabilities come from deviances instead of differences of log-gammas. log n! for
 *      n = 1e12 has an absolute error of 1e-3 in a double; the saddle-point form (Stirling's
 *      formula with the correction kept apart) loses nothing.
 *    - Tails are sums of positive terms that begin with the largest one, so nothing cancels. The
 *      other side is 1 minus that. The tail of n trials takes at most about nine standard
 *      deviations of terms. */
#include "probability.h"

#include <assert.h>
#include <math.h>

#define PROBABILITY_TINY 1e-17 /* a term this small relative to the sum ends it */
#define PROBABILITY_LOG_2PI 1.8378770664093454836
#define PROBABILITY_LN2 0.69314718055994530942
#define PROBABILITY_SQRT_HALF 0.70710678118654752440

enum {
    PROBABILITY_MAX_TERMS = 20000000,
    PROBABILITY_MAX_HALVINGS = 2200,
    PROBABILITY_PIECES = 256
};

double ebi_pow1m(double x, double n) {
    assert(x >= 0 && x <= 1 && n >= 0);
    if (n <= 0) return 1;
    return exp(n * log1p(-x));
}

double ebi_one_minus_pow1m(double x, double n) {
    assert(x >= 0 && x <= 1 && n >= 0);
    if (n <= 0) return 0;
    return -expm1(n * log1p(-x));
}

/* d - log(1+d) >= 0.  For small d it is about d^2/2. */
static double probability_excess(double d) {
    const double v = d / (2 + d); /* log(1+d) = 2 atanh(v) and d - 2v = vd */
    double power = 2 * v, sum = v * d;
    for (int i = 3; i < 40; i += 2) {
        power *= v * v;
        const double term = power / i;
        sum -= term;
        if (fabs(term) < PROBABILITY_TINY * fabs(sum)) break;
    }
    return sum;
}

/* x log(x/mean) + mean - x: how far x > 0 is from its mean.  The caller passes over = mean - x,
 * because it may know it more precisely than the difference of two large numbers. */
static double probability_deviance(double x, double mean, double over) {
    assert(x > 0 && mean >= 0);
    if (fabs(over) < 0.1 * x) return x * probability_excess(over / x);
    return x * log(x / mean) + over;
}

/* log n! minus Stirling's (n+1/2) log n - n + log(2 pi)/2. */
static double probability_stirling_error(double n) {
    if (n < 16) return log(tgamma(n + 1)) - (n + 0.5) * log(n) + n - 0.5 * PROBABILITY_LOG_2PI;
    const double r = 1 / (n * n);
    const double series = 1. / 1260 - r * (1. / 1680 - r * (1. / 1188 - r * (691. / 360360)));
    return (1. / 12 - r * (1. / 360 - r * series)) / n;
}

double ebi_binom_log_pmf(double n, double p, double j) {
    assert(n >= 0 && p >= 0 && p <= 1);
    if (j < 0 || j > n) return -INFINITY;
    if (p <= 0) return j > 0 ? -INFINITY : 0;
    if (p >= 1) return j < n ? -INFINITY : 0;
    if (j <= 0) return n * log1p(-p);
    const double rest = n - j;
    if (rest <= 0) return n * log(p);
    const double over = j - n * p;
    const double deviance =
        probability_deviance(j, n * p, -over) + probability_deviance(rest, n * (1 - p), over);
    const double stirling = probability_stirling_error(n) - probability_stirling_error(j) -
                            probability_stirling_error(rest);
    return stirling - deviance - 0.5 * (PROBABILITY_LOG_2PI + log(j) + log(rest) - log(n));
}

double ebi_binom_pmf(double n, double p, double j) {
    return exp(ebi_binom_log_pmf(n, p, j));
}

/* P(X < j) for j - 1 at or below the mode: terms fall from i = j-1 down. */
static double probability_binom_below(double n, double p, double j) {
    double term = ebi_binom_pmf(n, p, j - 1), sum = term;
    const double odds = (1 - p) / p;
    for (double i = j - 1; i > 0 && term > PROBABILITY_TINY * sum; i--) {
        term *= i * odds / (n - i + 1);
        sum += term;
    }
    return sum;
}

/* For real n, what lies beyond the last whole j <= n: I_p(a, b) with a = floor(n)+1, 0 < b < 1, by
 * its series in p. first is the point probability at floor(n), continued analytically. */
static double probability_binom_rest(double n, double p, double last, double first) {
    double a = last + 1;
    double term = first * p * (n - last) / a, sum = term;
    for (int i = 0; i < PROBABILITY_MAX_TERMS && term > PROBABILITY_TINY * sum; i++) {
        a += 1;
        term *= p * (n + 1 + i) / a;
        sum += term;
    }
    return sum;
}

/* P(X >= j) for j above the mean: terms fall from i = j up. */
static double probability_binom_above(double n, double p, double j) {
    double term = ebi_binom_pmf(n, p, j), sum = term, i = j;
    const double odds = p / (1 - p);
    for (; i + 1 <= n && term > PROBABILITY_TINY * sum; i++) {
        term *= (n - i) * odds / (i + 1);
        sum += term;
    }
    if (i < n && term > PROBABILITY_TINY * sum) sum += probability_binom_rest(n, p, i, term);
    return sum;
}

/* The tail on the side away from the mean. *above says which side that is. */
static double probability_binom_small_side(double n, double p, double j, int *above) {
    assert(n >= 0 && p >= 0 && p <= 1);
    *above = 1;
    if (j >= n + 1 || (j > 0 && p <= 0)) return 0;
    *above = 0;
    if (j <= 0 || p >= 1) return 0;
    *above = j > n * p;
    if (j > n) return probability_binom_rest(n, p, j - 1, ebi_binom_pmf(n, p, j - 1));
    return fmin(1, *above ? probability_binom_above(n, p, j) : probability_binom_below(n, p, j));
}

double ebi_binom_ge(double n, double p, double j) {
    int above;
    const double small = probability_binom_small_side(n, p, j, &above);
    return above ? small : 1 - small;
}

double ebi_binom_lt(double n, double p, double j) {
    int above;
    const double small = probability_binom_small_side(n, p, j, &above);
    return above ? 1 - small : small;
}

/* Tilting turns the sum into a tail: C(n,j)(pq)^j(1-p)^(n-j) is (1-p+pq)^n times a binomial
 * probability with success pq/(1-p+pq). */
double ebi_binom_sum_q(double n, double p, double q, double m) {
    assert(q >= 0 && q <= 1);
    const double loss = p * (1 - q);
    if (loss >= 1) return n > 0 || m <= 0 ? 0 : 1;
    return ebi_pow1m(loss, n) * ebi_binom_lt(n, fmin(1, p * q / (1 - loss)), m);
}

double ebi_poisson_pmf(double mean, double j) {
    assert(mean >= 0);
    if (j < 0) return 0;
    if (j <= 0) return exp(-mean);
    if (mean <= 0) return 0;
    const double deviance = probability_deviance(j, mean, mean - j);
    return exp(-probability_stirling_error(j) - deviance - 0.5 * (PROBABILITY_LOG_2PI + log(j)));
}

/* Lower tail for x < a+1: x^a e^-x / Gamma(a+1) (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...). */
static double probability_gamma_series(double a, double x) {
    assert(a > 0 && x >= 0);
    double term = ebi_poisson_pmf(x, a), sum = term;
    for (int i = 1; i < PROBABILITY_MAX_TERMS && term > PROBABILITY_TINY * sum; i++) {
        term *= x / (a + i);
        sum += term;
    }
    return sum;
}

/* Upper tail for x >= a+1: Legendre's continued fraction, evaluated from the front. */
static double probability_gamma_fraction(double a, double x) {
    assert(a > 0 && x > 0);
    double b = x + 1 - a, c = INFINITY, d = 1 / b, h = d;
    for (int i = 1; i < PROBABILITY_MAX_TERMS; i++) {
        const double an = -i * (i - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        h *= c * d;
        if (fabs(c * d - 1) < 1e-15) break;
    }
    return a * ebi_poisson_pmf(x, a) * h;
}

double ebi_gamma_p(double a, double x) {
    assert(a > 0 && x >= 0);
    return fmin(1,
                x < a + 1 ? probability_gamma_series(a, x) : 1 - probability_gamma_fraction(a, x));
}

double ebi_gamma_q(double a, double x) {
    assert(a > 0 && x >= 0);
    return fmax(0,
                x < a + 1 ? 1 - probability_gamma_series(a, x) : probability_gamma_fraction(a, x));
}

double ebi_poisson_ge(double mean, double j) {
    assert(mean >= 0);
    return j <= 0 ? 1 : ebi_gamma_p(j, mean);
}

double ebi_poisson_le(double mean, double j) {
    assert(mean >= 0);
    return j < 0 ? 0 : ebi_gamma_q(j + 1, mean);
}

/* A rational first guess (error 5e-4), then Halley's steps on the complementary error function. */
double ebi_normal_upper_quantile(double d) {
    assert(d > 0 && d < 1);
    const double tail = fmin(d, 1 - d);
    const double t = sqrt(-2 * log(tail));
    double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int i = 0; i < 3; i++) {
        const double density = exp(-0.5 * (z * z + PROBABILITY_LOG_2PI));
        const double step = (0.5 * erfc(z * PROBABILITY_SQRT_HALF) - tail) / density;
        z += step / (1 - 0.5 * z * step);
    }
    return d <= 0.5 ? z : -z;
}

double ebi_kl_bernoulli_bits(double a, double b) {
    assert(a >= 0 && a <= 1 && b >= 0 && b <= 1);
    const double yes = a > 0 ? probability_deviance(a, b, b - a) : b;
    const double no = a < 1 ? probability_deviance(1 - a, 1 - b, a - b) : 1 - b;
    return (yes + no) / PROBABILITY_LN2;
}

static double probability_middle(double lo, double hi) {
    return lo > 0 && hi > 2 * lo ? sqrt(lo) * sqrt(hi) : lo + (hi - lo) / 2;
}

double ebi_bisect(ebi_function *f, const void *context, double lo, double hi, double target) {
    assert(lo <= hi);
    const double f_lo = f(lo, context), f_hi = f(hi, context);
    const int rising = f_hi >= f_lo;
    if (rising ? target <= f_lo : target >= f_lo) return lo;
    if (rising ? target >= f_hi : target <= f_hi) return hi;
    for (int i = 0; i < PROBABILITY_MAX_HALVINGS; i++) {
        const double mid = probability_middle(lo, hi);
        if (mid <= lo || mid >= hi) break;
        if ((f(mid, context) < target) == rising)
            lo = mid;
        else
            hi = mid;
    }
    return probability_middle(lo, hi);
}

/* All values, from the likeliest to both sides.  What is left out weighs less than rounding. */
static double probability_poisson_each(double mean, ebi_function *f, const void *context) {
    const double likeliest = floor(mean), least = 1e-18;
    double sum = f(likeliest, context), weights = 1;
    for (double n = likeliest + 1, w = mean / n; w > least; w *= mean / ++n) {
        sum += w * f(n, context);
        weights += w;
    }
    for (double n = likeliest, w = n / mean; n > 0 && w > least; w *= --n / mean) {
        sum += w * f(n - 1, context);
        weights += w;
    }
    return sum / weights;
}

double ebi_poisson_mean(double mean, ebi_function *f, const void *context) {
    assert(mean >= 0);
    enum { PROBABILITY_VALUES = 512, PROBABILITY_ALL = 400 };
    if (mean <= PROBABILITY_ALL) return probability_poisson_each(mean, f, context);
    const double spread = 12 * sqrt(mean), first = fmax(0, floor(mean - spread - 30));
    const double last = ceil(mean + spread + 30);
    const double step = fmax(1, (last - first) / PROBABILITY_VALUES);
    double sum = 0, weights = 0;
    for (int i = 0; first + i * step <= last; i++) {
        const double weight = ebi_poisson_pmf(mean, first + i * step);
        sum += weight * f(first + i * step, context);
        weights += weight;
    }
    return sum / weights;
}

double ebi_mean(ebi_function *f, const void *context, double lo, double hi) {
    assert(lo <= hi);
    const double step = (hi - lo) / PROBABILITY_PIECES;
    double sum = f(lo, context) + f(hi, context);
    for (int i = 1; i < PROBABILITY_PIECES; i++) sum += (i % 2 ? 4 : 2) * f(lo + i * step, context);
    return sum / (3 * PROBABILITY_PIECES);
}
