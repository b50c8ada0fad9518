/* spectrum.c - how often the keys of a stream occur (a spectrum), and the sum on a counter that
 * several keys share.  The errors of counting filters follow from these two. */
#include "spectrum.h"
#include "probability.h"
#include <assert.h>
#include <math.h>

/* Spectra */

/* The sum of x^-skew over ranks first..last, by the midpoint rule for integrals. */
static double spectrum_powers(double first, double last, double skew) {
    assert(first <= last);
    const double a = first - 0.5, b = last + 0.5;
    if (last - first < 1) return pow(first, -skew);
    if (fabs(skew - 1) < 1e-9) return log(b / a);
    return (pow(b, 1 - skew) - pow(a, 1 - skew)) / (1 - skew);
}

/* The last rank of class i of `classes` over n ranks: 1, 2, 3 and so on, then wider and wider. */
static double spectrum_last(size_t i, size_t classes, double n) {
    assert(i < classes && n > 0);
    enum { SPECTRUM_SINGLE = 8 };
    if (i + 1 == classes) return n;
    if (i < SPECTRUM_SINGLE || n <= (double)classes) return (double)(i + 1);
    const double share = ((double)i + 1 - SPECTRUM_SINGLE) / (double)(classes - SPECTRUM_SINGLE);
    return fmax((double)(i + 1), floor(SPECTRUM_SINGLE * pow(n / SPECTRUM_SINGLE, share)));
}

void ebi_spectrum_zipf(ebi_spectrum *s, double distinct, double items, double skew) {
    assert(distinct >= 1 && items >= distinct * 0.5 && skew >= 0);
    const double n = floor(distinct);
    double total = 0, first = 1;
    *s = (ebi_spectrum){.distinct = distinct};
    s->classes = skew == 0 ? 1 : (size_t)fmin(n, EBI_SPECTRUM_CLASSES);
    for (size_t i = 0; i < s->classes; i++) {
        const double last = spectrum_last(i, s->classes, n);
        s->keys[i] = last - first + 1;
        s->count[i] = spectrum_powers(first, last, skew) / s->keys[i];
        total += s->keys[i] * s->count[i];
        first = last + 1;
    }
    for (size_t i = 0; i < s->classes; i++) {
        s->count[i] = fmax(1, items / total * s->count[i]);
        s->f1 += s->keys[i] * s->count[i];
    }
}

/* Sums.  Values 0..31 are exact.  A larger value lies between two steps and counts partly for each,
 * so that its mean is kept. */

enum { SPECTRUM_SUM_EXACT = 32, SPECTRUM_SUM_STEPS = 8 };

double ebi_sum_value(size_t i) {
    return i < SPECTRUM_SUM_EXACT
               ? (double)i
               : SPECTRUM_SUM_EXACT * exp2((double)(i - SPECTRUM_SUM_EXACT) / SPECTRUM_SUM_STEPS);
}

static void spectrum_sum_give(ebi_sum *s, size_t i, double up, double p) {
    i = i < EBI_SUM_VALUES - 1 ? i : EBI_SUM_VALUES - 2;
    s->p[i] += p * (1 - up);
    s->p[i + 1] += p * up;
}

void ebi_sum_give(ebi_sum *s, double value, double p) {
    assert(value >= 0 && p >= 0);
    const double step =
        value < SPECTRUM_SUM_EXACT
            ? value
            : SPECTRUM_SUM_EXACT + SPECTRUM_SUM_STEPS * log2(value / SPECTRUM_SUM_EXACT);
    const size_t i = (size_t)fmin(step, EBI_SUM_VALUES - 2);
    const double low = ebi_sum_value(i), high = ebi_sum_value(i + 1);
    spectrum_sum_give(s, i, fmin(fmax((value - low) / (high - low), 0), 1), p);
}

/* Adding a value that is `steps` steps lower moves a sum up by this many steps and a fraction. */
typedef struct spectrum_sum_move {
    size_t steps;
    double up;
} spectrum_sum_move;
typedef struct spectrum_sum_moves {
    spectrum_sum_move of[EBI_SUM_VALUES];
} spectrum_sum_moves;

static void spectrum_sum_prepare(spectrum_sum_moves *m) {
    const double next = exp2(1.0 / SPECTRUM_SUM_STEPS) - 1;
    for (size_t i = 0; i < EBI_SUM_VALUES; i++) {
        const double factor = 1 + exp2(-(double)i / SPECTRUM_SUM_STEPS);
        const size_t steps = (size_t)(SPECTRUM_SUM_STEPS * log2(factor));
        m->of[i] = (spectrum_sum_move){
            steps, (factor / exp2((double)steps / SPECTRUM_SUM_STEPS) - 1) / next};
    }
}

static void spectrum_sum_add_pair(ebi_sum *out, const spectrum_sum_moves *m, size_t i, size_t j,
                                  double p) {
    const size_t high = i > j ? i : j, low = i > j ? j : i;
    if (low < SPECTRUM_SUM_EXACT) {
        if (high + low <= SPECTRUM_SUM_EXACT)
            out->p[high + low] += p;
        else
            ebi_sum_give(out, ebi_sum_value(high) + (double)low, p);
        return;
    }
    const spectrum_sum_move move = m->of[high - low];
    spectrum_sum_give(out, high + move.steps, move.up, p);
}

static void spectrum_sum_convolve(ebi_sum *out, const spectrum_sum_moves *m, const ebi_sum *a,
                                  const ebi_sum *b) {
    static const double nothing = 1e-13;
    ebi_sum sum = {{0}};
    for (size_t i = 0; i < EBI_SUM_VALUES; i++) {
        if (a->p[i] < nothing) continue;
        for (size_t j = 0; j < EBI_SUM_VALUES; j++)
            if (b->p[j] >= nothing) spectrum_sum_add_pair(&sum, m, i, j, a->p[i] * b->p[j]);
    }
    *out = sum;
}

/* Begins with few keys, then doubles them as often as needed. */
void ebi_sum_of_law(ebi_sum *out, const ebi_sum *one, double load) {
    assert(load >= 0);
    enum { SPECTRUM_HITS = 8 };
    spectrum_sum_moves moves;
    ebi_sum several = *one;
    int doublings = 0;
    for (load = fmin(load, 1e6); load > 0.5; load /= 2) doublings++;
    spectrum_sum_prepare(&moves);
    *out = (ebi_sum){{exp(-load)}};
    for (int hits = 1; hits <= SPECTRUM_HITS; hits++) {
        const double p = ebi_poisson_pmf(load, hits);
        for (size_t i = 0; i < EBI_SUM_VALUES; i++) out->p[i] += p * several.p[i];
        spectrum_sum_convolve(&several, &moves, &several, one);
    }
    while (doublings-- > 0) spectrum_sum_convolve(out, &moves, out, out);
}

void ebi_sum_of(ebi_sum *out, const ebi_spectrum *s, double load) {
    assert(load >= 0);
    ebi_sum one = {{0}};
    for (size_t i = 0; i < s->classes; i++)
        ebi_sum_give(&one, s->count[i], s->keys[i] / s->distinct);
    ebi_sum_of_law(out, &one, load);
}

void ebi_max_of(ebi_sum *out, const ebi_spectrum *s, double load) {
    assert(load >= 0);
    double above = 0; /* share of keys that occur more often */
    *out = (ebi_sum){{0}};
    for (size_t i = 0; i < s->classes; i++) {
        const double share = s->keys[i] / s->distinct;
        ebi_sum_give(out, s->count[i], exp(-load * above) * -expm1(-load * share));
        above += share;
    }
    out->p[0] += exp(-load * above);
}
