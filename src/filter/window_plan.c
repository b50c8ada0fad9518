/* window_plan.c - how many bits a window item takes at a false positive rate.
 *
 * mode=elastic has no closed formula: a line remembers the fullest moment of the last window, and
 * taking its widths as those of the moment makes the bits 11-15 % too few.  So the bits are
 * measured, at 14 eras, with distinct keys; a line's statistics do not depend on the window.  With
 * other numbers of eras more of the keys that are kept are older than the window, and the marks
 * take other space.
 *
 * mode=rotate: places of a generation are set as in a Bloom filter of a few dozen keys, whose fill
 * varies; the mean of a power of it is taken to the second moment. */
#include "theory/theory.h"
#include "window.h"
#include <math.h>

typedef struct window_row {
    double bits[2]; /* a window item, with lines of 64 and of 128 bytes */
} window_row;

/* At rates 2^-1, 2^-2, ... */
static const window_row window_rows[] = {
    {{6.3, 6.1}},   {{9.0, 8.7}},   {{11.5, 11.1}}, {{13.9, 13.3}}, {{15.7, 15.0}}, {{17.3, 16.5}},
    {{19.4, 18.4}}, {{21.2, 20.0}}, {{23.0, 21.5}}, {{24.9, 23.2}}, {{27.0, 24.7}}, {{29.0, 26.3}},
    {{31.4, 27.8}}, {{33.9, 29.4}}, {{36.3, 31.3}}, {{38.8, 33.3}}, {{41.2, 35.2}}, {{43.7, 37.1}},
    {{46.1, 39.1}}, {{49.0, 41.0}}, {{52.0, 43.0}}, {{55.0, 45.0}}, {{58.0, 47.0}}, {{61.0, 49.0}},
    {{64.0, 51.0}}, {{67.0, 53.0}}, {{71.0, 55.0}},
};
enum { ROWS = EB_COUNT_OF(window_rows) };

/* What is kept, times what the marks leave: relative to 14 eras. */
static double window_scale(const ebi_window_plan *plan) {
    const double bits = 8.0 * plan->bytes - EBI_WINDOW_HEADER, eras = plan->eras;
    return (1 + 0.5 / eras) / (1 + 0.5 / 14) * (bits - 14) / (bits - eras);
}

static double window_row_bits(const ebi_window_plan *plan, unsigned row) {
    return window_rows[row].bits[plan->bytes == 128] * window_scale(plan);
}

static double window_elastic_bits(const ebi_window_plan *plan, double fpr) {
    const double at = fmin(fmax(-log2(fpr) - 1, 0), ROWS - 1);
    const unsigned row = (unsigned)fmin(at, ROWS - 2);
    const double low = window_row_bits(plan, row), high = window_row_bits(plan, row + 1);
    return low + (high - low) * (at - row);
}

/* More bits than the table has are as good as its last. */
static double window_elastic_fpr(const ebi_window_plan *plan, double bits) {
    unsigned row = 0;
    while (row < ROWS - 2 && window_row_bits(plan, row + 1) < bits) row++;
    const double low = window_row_bits(plan, row), high = window_row_bits(plan, row + 1);
    return exp2(-1 - fmin(row + (bits - low) / (high - low), ROWS - 1));
}

/* Rotating generations */

enum { ROTATE_BITS = 504, LINE_BITS = 512, ROTATE_K_MAX = 8 };

/* Mean of fill^k after n keys with k places each of b. */
static double window_all_set(double n, double k, double b) {
    const double throws = n * k, zero = pow(1 - 1 / b, throws), fill = 1 - zero;
    const double both = (1 - 1 / b) * pow(1 - 2 / b, throws) + zero / b; /* two are zero */
    if (n == 0) return 0;
    const double variance = fmax(0, both - zero * zero);
    return pow(fill, k) * (1 + k * (k - 1) / 2 * variance / (fill * fill));
}

static double window_generation_fpr(double per_line, double k, double b) {
    double sum = 0;
    for (double n = 1; n < per_line + 12 * sqrt(per_line) + 12; n++)
        sum += ebi_poisson_pmf(per_line, n) * fmin(window_all_set(n, k, b), 1);
    return sum;
}

/* `eras` full generations and one that fills: its mean over the era, by Simpson's rule. */
double ebi_window_rotate_fpr(unsigned eras, unsigned k, double bits) {
    const double per_line = LINE_BITS / bits / eras, b = ROTATE_BITS / (eras + 1);
    const double full = window_generation_fpr(per_line, k, b);
    const double half = window_generation_fpr(per_line / 2, k, b);
    return 1 - pow(1 - full, eras) * (1 - (4 * half + full) / 6);
}

static unsigned window_rotate_width(unsigned eras, double bits) {
    unsigned best = 1;
    for (unsigned k = 2; k <= ROTATE_K_MAX; k++)
        if (ebi_window_rotate_fpr(eras, k, bits) < ebi_window_rotate_fpr(eras, best, bits))
            best = k;
    return best;
}

static double window_rotate_best(double bits, const void *eras) {
    const unsigned g = *(const unsigned *)eras;
    return ebi_window_rotate_fpr(g, window_rotate_width(g, bits), bits);
}

double ebi_window_bits(const ebi_window_plan *plan, double fpr) {
    if (plan->mode == EBI_WINDOW_ELASTIC) return window_elastic_bits(plan, fpr);
    return ebi_bisect(window_rotate_best, &plan->eras, 2, 512, fpr);
}

double ebi_window_fpr(const ebi_window_plan *plan, double bits) {
    if (plan->mode == EBI_WINDOW_ELASTIC) return window_elastic_fpr(plan, bits);
    return window_rotate_best(fmin(fmax(bits, 2), 512), &plan->eras);
}

unsigned ebi_window_width(const ebi_window_plan *plan, double fpr) {
    const double bits = ebi_window_bits(plan, fpr), live = 8 * plan->bytes / bits;
    if (plan->mode == EBI_WINDOW_ROTATE) return window_rotate_width(plan->eras, bits);
    return (unsigned)fmin(ceil(log2(live / fpr)) + 2, EBI_WINDOW_W_MAX);
}
