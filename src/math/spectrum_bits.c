/* spectrum_bits.c - how many bits counters take on average in each store, everything included.  The
 * planner sizes counting filters with this. */
#include "spectrum.h"
#include <assert.h>
#include <math.h>

typedef double spectrum_bits_length(double value);

static double spectrum_bits_mean(const ebi_sum *c, spectrum_bits_length *length) {
    double sum = 0;
    for (size_t i = 0; i < EBI_SUM_VALUES; i++) sum += c->p[i] * length(ebi_sum_value(i));
    return sum;
}

/* line: 508 bits a line.  A counter of u digits of d bits takes 1 + (1+d)u bits, and numbers of u
 * digits begin at (2^(du)-1)/(2^d-1).  Up to 7 % of the lines may be full: their longest counters
 * then go to the table, which takes a 32nd of the memory. */

static double spectrum_bits_digits(double value, int d) {
    assert(value >= 0 && d >= 1);
    return floor(log2(value * (exp2(d) - 1) + 1) / d + 1e-9);
}

static double spectrum_bits_line_of(const ebi_sum *c, int d, double clumping) {
    static const double room = 508, spread = 1.5;
    double mean = 0, squares = 0;
    for (size_t i = 0; i < EBI_SUM_VALUES; i++) {
        const double bits = 1 + (1 + d) * spectrum_bits_digits(ebi_sum_value(i), d);
        mean += c->p[i] * bits;
        squares += c->p[i] * bits * bits;
    }
    const double deviation = spread * sqrt(fmax(0, squares - mean * mean) * clumping);
    /* Solves g mean + deviation sqrt(g) = room. */
    const double root = (sqrt(deviation * deviation + 4 * mean * room) - deviation) / (2 * mean);
    return 512 / floor(fmax(root * root, 1)) * 32 / 31;
}

double ebi_bits_line(const ebi_sum *c, double clumping) {
    assert(clumping >= 0);
    double best = INFINITY;
    for (int d = 1; d <= 4; d++) best = fmin(best, spectrum_bits_line_of(c, d, clumping));
    return best;
}

/* sai: u digits, u + 1 bits for the length, blocks of 64 counters in whole words with one to spare
 * in every fourth block, and the index. */
static double spectrum_bits_sai(double value) {
    assert(value >= 0);
    return 1 + 2 * spectrum_bits_digits(value, 1);
}

double ebi_bits_sai(const ebi_sum *c) {
    return spectrum_bits_mean(c, spectrum_bits_sai) + 0.5 + 0.25 + 16 / 64.0 + 64 / 4096.0;
}
