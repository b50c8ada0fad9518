/* window_plan.c - how many bits each key of a window takes at a false-positive rate.
 *
 * There is no closed formula for mode=elastic.  A line's width remembers the fullest moment of the
 * last window; taking the present moment instead gives 11-15 % too few bits.  So the bits were
 * measured, at 14 eras, with distinct keys.  A line's statistics do not depend on the window.  The
 * number of eras changes how many of the kept keys are older than the window, and the space for
 * marks.
 *
 * With mode=rotate, the places of a generation are set as in a Bloom filter of a few dozen keys,
 * whose fill varies.  The mean of a power of the fill is computed to the second moment. */
#include "math/probability.h"
#include "window.h"
#include <math.h>

/* With lines of 64 and of 128 bytes, at rates 2^-1, 2^-2, ... The first two rows for wide lines,
 * and the first one for others, are extrapolated. */
typedef struct window_row {
    double bits[2]; /* for each key of a window */
    uint8_t w[2];
} window_row;
static const window_row window_rows[] = {
    {{6.30, 6.40}, {8, 9}},     {{8.92, 9.20}, {10, 10}},   {{11.65, 11.25}, {11, 12}},
    {{13.86, 13.68}, {12, 13}}, {{15.82, 15.38}, {13, 13}}, {{17.66, 16.92}, {14, 16}},
    {{19.51, 18.40}, {14, 16}}, {{21.22, 19.86}, {16, 17}}, {{23.02, 21.32}, {17, 18}},
    {{24.86, 22.79}, {18, 19}}, {{26.78, 24.32}, {19, 20}}, {{28.80, 25.88}, {20, 21}},
    {{30.92, 27.50}, {21, 22}}, {{33.34, 29.17}, {21, 23}}, {{35.70, 30.94}, {22, 23}},
    {{38.10, 32.69}, {23, 24}}, {{40.68, 34.51}, {24, 25}}, {{43.34, 36.33}, {25, 26}},
    {{46.12, 38.22}, {26, 27}}, {{49.05, 40.21}, {27, 28}}, {{52.20, 42.24}, {28, 29}},
    {{55.55, 44.32}, {29, 30}}, {{58.90, 46.49}, {30, 31}}, {{62.65, 49.04}, {31, 31}},
    {{66.35, 52.00}, {31, 31}}, {{71.15, 55.73}, {31, 31}}, {{77.10, 63.15}, {31, 31}},
};
enum { WINDOW_PLAN_ROWS = EBI_COUNT_OF(window_rows) };

/* The keys that are kept, times the room that marks leave, relative to 14 eras. */
static double window_scale(const ebi_window_plan *plan) {
    const double bits = 8.0 * plan->bytes - EBI_WINDOW_HEADER, eras = plan->eras;
    return (1 + 0.5 / eras) / (1 + 0.5 / 14) * (bits - 14) / (bits - eras);
}

/* The table was measured with all keys lost that are taken for others. */
static double window_row_bits(const ebi_window_plan *plan, unsigned row) {
    const double fpr = exp2(-1 - (double)row), stored = (1 - plan->lost * fpr) / (1 - fpr);
    return window_rows[row].bits[plan->bytes == 128] * window_scale(plan) * stored;
}

static double window_elastic_bits(const ebi_window_plan *plan, double fpr) {
    assert(fpr > 0);
    const double at = fmin(fmax(-log2(fpr) - 1, 0), WINDOW_PLAN_ROWS - 1);
    const unsigned row = (unsigned)fmin(at, WINDOW_PLAN_ROWS - 2);
    const double low = window_row_bits(plan, row), high = window_row_bits(plan, row + 1);
    return low + (high - low) * (at - row);
}

/* More bits than the table has count like its last row. */
static double window_elastic_fpr(const ebi_window_plan *plan, double bits) {
    assert(bits > 0);
    unsigned row = 0;
    while (row < WINDOW_PLAN_ROWS - 2 && window_row_bits(plan, row + 1) < bits) row++;
    const double low = window_row_bits(plan, row), high = window_row_bits(plan, row + 1);
    return exp2(-1 - fmin(row + (bits - low) / (high - low), WINDOW_PLAN_ROWS - 1));
}

/* Rotating generations */

enum { WINDOW_PLAN_LINE_BITS = 512 };

/* The mean of fill^k after n keys with k places each, out of b. */
static double window_all_set(double n, double k, double b) {
    assert(n >= 0 && k >= 1 && b >= 1);
    const double throws = n * k, zero = pow(1 - 1 / b, throws), fill = 1 - zero;
    const double both = (1 - 1 / b) * pow(1 - 2 / b, throws) +
                        zero / b; /* the probability that two places are zero */
    if (n == 0) return 0;
    const double variance = fmax(0, both - zero * zero);
    return pow(fill, k) * (1 + k * (k - 1) / 2 * variance / (fill * fill));
}

/* A generation with k places for each key, out of b.  Powers are asked for again and again: they
 * are kept, 0 if not known yet. */
enum { WINDOW_PLAN_KEYS = 512 };
typedef struct window_kept {
    double all_set[WINDOW_PLAN_KEYS]; /* after so many keys */
} window_kept;

typedef struct window_generation {
    const ebi_window_plan *plan;
    double k, b;
    window_kept *kept;
} window_generation;

static window_generation window_generation_of(const ebi_window_plan *plan, unsigned k,
                                              window_kept *kept) {
    *kept = (window_kept){{0}};
    const unsigned places = EBI_WINDOW_ROTATE_BITS / (plan->eras + 1);
    return (window_generation){plan, k, places, kept};
}

static double window_generation_set(double n, const void *context) {
    const window_generation *const g = context;
    if (!(n < WINDOW_PLAN_KEYS)) return fmin(window_all_set(n, g->k, g->b), 1);
    double *const kept = &g->kept->all_set[(size_t)n];
    if (*kept == 0) *kept = fmin(window_all_set(n, g->k, g->b), 1);
    return *kept;
}

/* `eras` full generations and one that fills: the mean over the era, by Simpson's rule. */
static double window_generations_fpr(const window_generation *g, double per_line) {
    assert(per_line >= 0);
    const double full = ebi_poisson_mean(per_line, window_generation_set, g);
    const double half = ebi_poisson_mean(per_line / 2, window_generation_set, g);
    return 1 - pow(1 - full, g->plan->eras) * (1 - (4 * half + full) / 6);
}

/* Keys that are taken for others are not stored, unless the plan says otherwise. */
static double window_rotating_fpr(double bits, const void *context) {
    enum { WINDOW_PLAN_ROUNDS = 10 };
    const window_generation *const g = context;
    const double per_line = WINDOW_PLAN_LINE_BITS / bits / g->plan->eras, lost = g->plan->lost;
    double fpr = window_generations_fpr(g, per_line);
    for (int i = 0; i < WINDOW_PLAN_ROUNDS && lost > 0; i++)
        fpr = (fpr + window_generations_fpr(g, per_line * (1 - lost * fpr))) / 2;
    return fpr;
}

double ebi_window_rotate_fpr(const ebi_window_plan *plan, unsigned k, double bits) {
    assert(k >= 1 && bits > 0);
    window_kept kept;
    const window_generation g = window_generation_of(plan, k, &kept);
    return window_rotating_fpr(bits, &g);
}

static unsigned window_rotate_width(const ebi_window_plan *plan, double bits, double *fpr) {
    unsigned best = 1;
    *fpr = INFINITY;
    for (unsigned k = 1; k <= EBI_WINDOW_ROTATE_W_MAX; k++) {
        const double one = ebi_window_rotate_fpr(plan, k, bits);
        if (one >= *fpr) continue;
        best = k;
        *fpr = one;
    }
    return best;
}

/* The fewest bits with any width.  The first one tried is near the best, so that most others need a
 * single look. */
static double window_rotate_bits(const ebi_window_plan *plan, double fpr) {
    const double most = 512, likely = fmin(fmax(ceil(-log2(fpr)), 1), EBI_WINDOW_ROTATE_W_MAX);
    double best = INFINITY;
    for (unsigned i = 0; i < EBI_WINDOW_ROTATE_W_MAX; i++) {
        window_kept kept;
        const unsigned k = ((unsigned)likely - 1 + i) % EBI_WINDOW_ROTATE_W_MAX + 1;
        const window_generation g = window_generation_of(plan, k, &kept);
        if (isinf(best) || window_rotating_fpr(best, &g) < fpr)
            best = fmin(best, ebi_bisect(window_rotating_fpr, &g, 2, most, fpr));
    }
    return best;
}

double ebi_window_bits(const ebi_window_plan *plan, double fpr) {
    assert(fpr > 0);
    if (plan->mode == EBI_WINDOW_ELASTIC) return window_elastic_bits(plan, fpr);
    return window_rotate_bits(plan, fpr);
}

double ebi_window_fpr(const ebi_window_plan *plan, double bits) {
    assert(bits > 0);
    if (plan->mode == EBI_WINDOW_ELASTIC) return window_elastic_fpr(plan, bits);
    double fpr;
    (void)window_rotate_width(plan, fmin(fmax(bits, 2), 512), &fpr);
    return fpr;
}

unsigned ebi_window_width(const ebi_window_plan *plan, double fpr) {
    assert(fpr > 0);
    double least;
    if (plan->mode == EBI_WINDOW_ROTATE)
        return window_rotate_width(plan, ebi_window_bits(plan, fpr), &least);
    const double row = fmin(fmax(floor(-log2(fpr) - 0.25), 0),
                            WINDOW_PLAN_ROWS - 1); /* rather too wide than too narrow */
    return window_rows[(unsigned)row].w[plan->bytes == 128];
}
