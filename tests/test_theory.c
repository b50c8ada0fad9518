/* test_theory.c - src/theory against slow sums in long double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "math/probability.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void close_to(double got, double want, double relative, const char *what, int line) {
    if (fabs(got - want) <= relative * fabs(want)) return;
    fail_msg("line %d: %s is %.17g, not %.17g", line, what, got, want);
}
#define CLOSE(got, want, relative) close_to((got), (double)(want), (relative), #got, __LINE__)

/* Point probability by the recurrence from j = 0, in long double. */
static long double slow_binom_pmf(long double n, long double p, int j) {
    long double term = expl(n * log1pl(-p));
    for (int i = 0; i < j; i++) term *= (n - i) / (i + 1) * p / (1 - p);
    return term;
}

static long double slow_binom_lt(long double n, long double p, long double q, int j) {
    long double sum = 0, power = 1;
    for (int i = 0; i < j; i++, power *= q) sum += slow_binom_pmf(n, p, i) * power;
    return sum;
}

static long double slow_binom_ge(long double n, long double p, int j) {
    long double term = slow_binom_pmf(n, p, j), sum = 0;
    for (int i = j; i <= n && i < j + 3000; i++) {
        sum += term;
        term *= (n - i) / (i + 1) * p / (1 - p);
    }
    return sum;
}

static void powers_near_one(void **state) {
    (void)state;
    CLOSE(ebi_pow1m(1e-12, 1e12), expl(1e12L * log1pl(-1e-12L)), 1e-13);
    CLOSE(ebi_one_minus_pow1m(1e-12, 3), 3e-12L - 3e-24L, 1e-14);
    assert_true(ebi_pow1m(1, 5) == 0 && ebi_pow1m(0.5, 0) == 1 && ebi_pow1m(1, 0) == 1);
    assert_true(ebi_one_minus_pow1m(1, 2) == 1 && ebi_one_minus_pow1m(1, 0) == 0);
}

static void binomials_equal_slow_sums(void **state) {
    (void)state;
    static const double n[] = {1, 2, 7, 30, 500, 3000, 1e6, 1e9, 1e12};
    static const double mean[] = {1e-9, 0.01, 0.3, 0.9, 3, 20, 150, 1400};
    static const int j[] = {0, 1, 2, 3, 7, 15, 31, 100, 255, 1500};
    for (size_t a = 0; a < COUNT(n); a++)
        for (size_t b = 0; b < COUNT(mean); b++)
            for (size_t c = 0; c < COUNT(j); c++) {
                const double p = mean[b] / n[a];
                if (p > 0.95 || j[c] > n[a]) continue;
                CLOSE(ebi_binom_pmf(n[a], p, j[c]), slow_binom_pmf(n[a], p, j[c]), 1e-10);
                CLOSE(ebi_binom_ge(n[a], p, j[c]), slow_binom_ge(n[a], p, j[c]), 1e-10);
                CLOSE(ebi_binom_lt(n[a], p, j[c]), slow_binom_lt(n[a], p, 1, j[c]), 1e-10);
                CLOSE(ebi_binom_sum_q(n[a], p, 0.7, j[c]), slow_binom_lt(n[a], p, 0.7L, j[c]),
                      1e-10);
            }
}

static void binomial_edges(void **state) {
    (void)state;
    assert_true(ebi_binom_ge(10, 0.3, 0) == 1 && ebi_binom_lt(10, 0.3, 0) == 0);
    assert_true(ebi_binom_ge(10, 0.3, 11) == 0 && ebi_binom_lt(10, 0.3, 11) == 1);
    assert_true(ebi_binom_ge(10, 0, 1) == 0 && ebi_binom_ge(10, 0, 0) == 1);
    assert_true(ebi_binom_ge(10, 1, 10) == 1 && ebi_binom_ge(10, 1, 11) == 0);
    assert_true(ebi_binom_ge(0, 0.5, 0) == 1 && ebi_binom_ge(0, 0.5, 1) == 0);
    assert_true(ebi_binom_pmf(10, 1, 10) == 1 && ebi_binom_pmf(10, 0, 0) == 1);
    assert_true(ebi_binom_pmf(10, 0.5, 11) == 0 && isinf(ebi_binom_log_pmf(10, 0.5, -1)));
    assert_true(ebi_binom_sum_q(0, 0.5, 0.5, 1) == 1 && ebi_binom_sum_q(5, 1, 0, 3) == 0);
    CLOSE(ebi_binom_sum_q(5, 0.3, 0, 3), powl(0.7L, 5), 1e-13);
    CLOSE(ebi_binom_ge(10, 0.3, 10), powl(0.3L, 10), 1e-13);
    /* Far tails keep their relative accuracy. */
    CLOSE(ebi_binom_log_pmf(1e12, 1e-6, 1e6),
          -0.5L * logl(2e6L * acosl(-1) * (1 - 1e-6L)) - 1 / 12e6L, 1e-12);
    CLOSE(ebi_binom_ge(1e12, 1e-15, 40), slow_binom_ge(1e12L, 1e-15, 40), 1e-10);
    CLOSE(ebi_binom_ge(1e12, 0.5, 5e11), 0.5 + 0.5 * ebi_binom_pmf(1e12, 0.5, 5e11), 1e-9);
    CLOSE(ebi_binom_ge(1e12, 1e-6, 1003000) + ebi_binom_lt(1e12, 1e-6, 1003000), 1, 1e-12);
}

/* For real n the tail is an incomplete beta integral: check against the trapezoid rule after
 * t = p u^2, which makes the integrand smooth at 0 for j >= 1. */
static long double slow_beta_tail(long double n, long double p, int j) {
    const int steps = 20000;
    long double sum = 0;
    for (int i = 1; i <= steps; i++) {
        const long double u = (long double)i / steps, t = p * u * u;
        const long double f = powl(t, j - 1) * powl(1 - t, n - j) * 2 * p * u;
        sum += (i == steps ? 0.5L : 1) * f;
    }
    return sum / steps * expl(lgammal(n + 1) - lgammal(j) - lgammal(n - j + 1));
}

static void binomial_tail_of_real_trials(void **state) {
    (void)state;
    static const double n[] = {0.25, 0.5, 1.5, 3.7, 20.01, 77.7};
    for (size_t a = 0; a < COUNT(n); a++)
        for (int j = 1; j < 12 && j < n[a] + 1; j++) {
            CLOSE(ebi_binom_ge(n[a], 0.2, j), slow_beta_tail(n[a], 0.2L, j), 1e-6);
            CLOSE(ebi_binom_ge(n[a], 0.6, j) + ebi_binom_lt(n[a], 0.6, j), 1, 1e-12);
        }
    CLOSE(ebi_binom_ge(0.5, 0.2, 1), 1 - sqrtl(0.8L), 1e-12);
    CLOSE(ebi_binom_ge(2.5, 0.2, 1), 1 - powl(0.8L, 2.5L), 1e-12);
}

static long double slow_poisson_ge(long double mean, int j) {
    long double term = expl(-mean), sum = 0;
    for (int i = 0; i < j + 3000; i++) {
        if (i >= j) sum += term;
        term *= mean / (i + 1);
    }
    return sum;
}

static void poissons_equal_slow_sums(void **state) {
    (void)state;
    static const double mean[] = {1e-8, 0.01, 0.5, 1, 5, 26, 40, 300, 1400};
    static const int j[] = {0, 1, 2, 6, 16, 40, 100, 255, 1500};
    for (size_t a = 0; a < COUNT(mean); a++)
        for (size_t b = 0; b < COUNT(j); b++) {
            const long double ge = slow_poisson_ge(mean[a], j[b]);
            long double lt = 0, term = expl(-(long double)mean[a]);
            for (int i = 0; i < j[b]; i++, term *= (long double)mean[a] / i) lt += term;
            CLOSE(ebi_poisson_ge(mean[a], j[b]), ge, 1e-10);
            CLOSE(ebi_poisson_le(mean[a], j[b] - 1), lt, 1e-10);
            CLOSE(ebi_poisson_pmf(mean[a], j[b]), term, 1e-10);
        }
    CLOSE(ebi_gamma_p(0.5, 0.3), erfl(sqrtl(0.3L)), 1e-12);
    CLOSE(ebi_gamma_q(0.5, 9), erfcl(3), 1e-12);
    assert_true(ebi_poisson_ge(0, 1) == 0 && ebi_poisson_ge(0, 0) == 1 &&
                ebi_poisson_le(0, 0) == 1);
}

static void normal_quantiles_invert_the_tail(void **state) {
    (void)state;
    for (double d = 1e-300; d < 0.9; d *= 7)
        CLOSE(0.5 * erfc(ebi_normal_upper_quantile(d) / sqrt(2)), d, 1e-11);
    CLOSE(ebi_normal_upper_quantile(0.001), 3.090232306167813, 1e-13);
    CLOSE(ebi_normal_upper_quantile(0.9), -1.2815515655446004, 1e-13);
    assert_true(fabs(ebi_normal_upper_quantile(0.5)) < 1e-15);
}

static void divergence_is_right(void **state) {
    (void)state;
    CLOSE(ebi_kl_bernoulli_bits(1, 0.25), 2, 1e-15);
    CLOSE(ebi_kl_bernoulli_bits(0, 0.75), 2, 1e-15);
    CLOSE(ebi_kl_bernoulli_bits(0.5, 0.25), 0.5L * log2l(2) + 0.5L * log2l(2.0L / 3), 1e-14);
    const long double e = 1e-7L;
    CLOSE(ebi_kl_bernoulli_bits(0.3, 0.3 + 1e-7), e * e / (2 * 0.3L * 0.7L) / logl(2), 1e-6);
    assert_true(ebi_kl_bernoulli_bits(0.3, 0.3) == 0 && isinf(ebi_kl_bernoulli_bits(0.3, 0)));
    assert_true(ebi_kl_bernoulli_bits(0, 0) == 0 && ebi_kl_bernoulli_bits(1, 1) == 0);
}

static double cube(double x, const void *sign) {
    return x * x * x * *(const double *)sign;
}

static void bisection_finds_monotone_roots(void **state) {
    (void)state;
    const double up = 1, down = -1;
    CLOSE(ebi_bisect(cube, &up, 0, 10, 2), cbrtl(2), 1e-15);
    CLOSE(ebi_bisect(cube, &down, -10, 10, 2), -cbrtl(2), 1e-15);
    CLOSE(ebi_bisect(cube, &up, 1e-100, 1e100, 1e-90), 1e-30, 1e-14);
    assert_true(ebi_bisect(cube, &up, 1, 2, 100) == 2 && ebi_bisect(cube, &up, 1, 2, 0) == 1);
    assert_true(ebi_bisect(cube, &down, 1, 2, -100) == 2 && ebi_bisect(cube, &down, 1, 2, 0) == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_near_one),
        cmocka_unit_test(binomials_equal_slow_sums),
        cmocka_unit_test(binomial_edges),
        cmocka_unit_test(binomial_tail_of_real_trials),
        cmocka_unit_test(poissons_equal_slow_sums),
        cmocka_unit_test(normal_quantiles_invert_the_tail),
        cmocka_unit_test(divergence_is_right),
        cmocka_unit_test(bisection_finds_monotone_roots),
    };
    return cmocka_run_group_tests_name("theory", tests, NULL, NULL);
}
