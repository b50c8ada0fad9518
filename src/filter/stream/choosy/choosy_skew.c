/* choosy_skew.c - predicts the error rates of a choosy Bloom filter for keys that are drawn by
 * Zipf's law.
 *
 * This works like choosy_field.c, except that a key comes Poisson(l) times, at any time of the
 * stream, and l differs.  Keys are divided into classes, each twice as frequent as the one before.
 * For each class and typical line it follows
 *
 *       n[class][j][u]     the keys seen but not taken in, with j zero bits left, in slices of u
 *
 * A waiting key that is taken in with probability q at each of its r arrivals in a step is missed
 * (1 - e^(-q r)) / q times.  The most frequent keys are one class.  However often one of them
 * comes, it is missed only until its first successful retry. */
#include "choosy_field.h"
#include <assert.h>
#include <math.h>
#include <string.h>

static const double choosy_skew_rarest = 0.125; /* arrivals of the keys in the first class */

void ebi_choosy_skew_open(ebi_choosy_skew *f, const ebi_repeats *r) {
    assert(r->zipf > 0 && r->items > 0);
    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < r->bins; i++) {
        const double comes = r->items * r->share[i], keys = r->keys[i] / r->distinct;
        const double at = floor(log2(comes / choosy_skew_rarest)) + 1;
        ebi_choosy_class *const c = &f->classes[(size_t)fmax(0, fmin(EBI_CHOOSY_CLASSES - 1, at))];
        c->comes += keys * comes; /* of all its keys, for now */
        c->keys += keys;
    }
    for (size_t i = 0; i < EBI_CHOOSY_CLASSES; i++)
        if (f->classes[i].keys > 0) f->classes[i].comes /= f->classes[i].keys;
}

void ebi_choosy_skew_arrivals(ebi_choosy_skew *f, double t, ebi_choosy_step *s) {
    for (size_t i = 0; i < EBI_CHOOSY_CLASSES; i++) {
        ebi_choosy_class *const c = &f->classes[i];
        c->repeats = c->comes * s->dt;
        const double first = -expm1(-c->repeats);
        c->fresh = c->keys * exp(-c->comes * t) * first;
        c->after = first > 0 ? c->repeats / first - 1 : 0;
        s->fresh[0] += c->fresh;
    }
}

/* (1 - e^-y) / y within 3 %, and exact for small and for large y. */
static inline double choosy_skew_mean(double y) {
    return 1 / (1 + y / 2 + y * y / (12 + 2 * y));
}

/* Adds the keys of a class that have j zero bits, as a share p of its first arrivals has.  Returns
 * how many are taken in. */
static double choosy_skew_arrive(const ebi_choosy_class *c, double p,
                                 const double taken[EBI_CHOOSY_SLICES], float *n,
                                 ebi_choosy_flow *flow) {
    const double each = c->fresh * p / EBI_CHOOSY_SLICES;
    double missed = 0, inserted = 0;
#pragma GCC unroll 12
    for (int u = 0; u < EBI_CHOOSY_SLICES; u++) {
        const double q = taken[u], refused = each * (1 - q);
        const double soon = refused * c->after * choosy_skew_mean(q * c->after);
        const double again = n[u] * c->repeats * choosy_skew_mean(q * c->repeats);
        missed += soon + again;
        inserted += (each + soon + again) * q;
        n[u] += (float)(refused - (soon + again) * q);
    }
    flow->false_negatives += missed;
    return inserted;
}

/* Others set each zero bit of a waiting key with probability q. */
static void choosy_skew_thin(float *n, float *fewer, float q) {
#pragma GCC unroll 12
    for (int u = 0; u < EBI_CHOOSY_SLICES; u++) {
        const float thinned = n[u] * q;
        fewer[u] += thinned;
        n[u] -= thinned;
    }
}

ebi_choosy_flow ebi_choosy_skew_line(const ebi_choosy *c, ebi_choosy_skew *f, int node,
                                     const ebi_choosy_step *s, double x) {
    ebi_choosy_flow flow = {0};
    double zero_bits[EBI_CHOOSY_K_MAX + 1], taken[EBI_CHOOSY_SLICES];
    const double z = c->k * (1 - x) + c->s + s->bonus, before = f->x[node];
    const double q = x > before ? fmin((x - before) / (1 - before), 1. / c->k) : 0;
    f->x[node] = fmax(x, before);
    ebi_choosy_binomial(c->k, 1 - x, zero_bits);
    for (unsigned j = 1; j <= c->k; j++) {
        double inserted = 0;
        ebi_choosy_taken(c, x, z, j, taken);
        for (size_t i = 0; i < EBI_CHOOSY_CLASSES; i++) {
            float *const n = f->n[node][i][j];
            choosy_skew_thin(n, f->n[node][i][j - 1], (float)(j * q));
            inserted += choosy_skew_arrive(&f->classes[i], zero_bits[j], taken, n, &flow);
        }
        ebi_choosy_insert(&flow, inserted, x, j);
    }
    flow.false_positives = s->fresh[0] * zero_bits[0];
    flow.called_new = s->fresh[0] * (1 - zero_bits[0]) + flow.false_negatives;
    return flow;
}
