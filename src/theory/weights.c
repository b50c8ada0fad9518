/* weights.c - how many bits of a Bloom filter each class of keys should have.
 *
 * Class c has X members and gets the share r of the queries for non-members.
 * With k_c bits for its keys the false positive rate is sum r_c q^k_c, where
 * q = 1-exp(-sum X_c k_c / m) is the share of set bits.  For real k the best has
 * r_c q^k_c proportional to X_c, hence one bit more for each doubling of r/X, and
 * q = 1/2.  (Theorem 3.1 of the weighted Bloom filter paper lacks the 1/X: with
 * popular keys that are likely members its rule is worse than a plain filter.)
 *
 * Integers: for a multiplier mu, k_c = ceil((ln(r_c/X_c) - mu) / -ln q); the best
 * of many mu, and the best plain filter, are improved by single steps and by
 * exchanges between two classes until nothing helps. */
#include "theory.h"
#include <assert.h>
#include <math.h>

static double weights_q(const ebi_weights *w, const int *k) {
    double sum = 0;
    for (int c = 0; c < w->n; c++) sum += w->members[c] * k[c];
    return -expm1(-sum / w->bits);
}

double ebi_weights_fpr(const ebi_weights *w, const int *k) {
    const double q = weights_q(w, k);
    double fpr = 0;
    for (int c = 0; c < w->n; c++) fpr += w->queries[c] * pow(q, k[c]);
    return fpr;
}

static int weights_clamp(double k) {
    return k < 1 ? 1 : k > EBI_WEIGHTS_K_MAX ? EBI_WEIGHTS_K_MAX : (int)k;
}

double ebi_weights_plain(const ebi_weights *w, int *k) {
    double best = INFINITY;
    int best_k = 1;
    for (int each = 1; each <= EBI_WEIGHTS_K_MAX; each++) {
        for (int c = 0; c < w->n; c++) k[c] = each;
        const double fpr = ebi_weights_fpr(w, k);
        if (fpr < best) best = fpr, best_k = each;
    }
    for (int c = 0; c < w->n; c++) k[c] = best_k;
    return best;
}

/* One change, or one exchange; true if it helped. */
static bool weights_step(const ebi_weights *w, int *k, int up, int down, double *fpr) {
    if (k[up] == EBI_WEIGHTS_K_MAX && up != down) return false;
    k[up] += up != down;
    k[down] -= 1;
    const double now = k[down] >= 1 ? ebi_weights_fpr(w, k) : INFINITY;
    if (now < *fpr) {
        *fpr = now;
        return true;
    }
    k[up] -= up != down;
    k[down] += 1;
    return false;
}

static bool weights_raise(const ebi_weights *w, int *k, int c, double *fpr) {
    if (k[c] == EBI_WEIGHTS_K_MAX) return false;
    k[c]++;
    const double now = ebi_weights_fpr(w, k);
    if (now < *fpr) {
        *fpr = now;
        return true;
    }
    k[c]--;
    return false;
}

static double weights_improve(const ebi_weights *w, int *k) {
    double fpr = ebi_weights_fpr(w, k);
    for (bool better = true; better;) {
        better = false;
        for (int a = 0; a < w->n; a++) {
            better |= weights_raise(w, k, a, &fpr);
            for (int b = 0; b < w->n; b++) better |= weights_step(w, k, a, b, &fpr);
        }
    }
    return fpr;
}

static double weights_price(const ebi_weights *w, int c) { /* ln(r/X), finite */
    return log(fmax(w->queries[c], 1e-300) / fmax(w->members[c], 1e-9));
}

double ebi_weights_best(const ebi_weights *w, int *k) {
    enum { MULTIPLIERS = 400 };
    int trial[EBI_WEIGHTS_MAX];
    assert(w->n >= 1 && w->n <= EBI_WEIGHTS_MAX);
    (void)ebi_weights_plain(w, k);
    double best = weights_improve(w, k);
    double low = INFINITY, high = -INFINITY;
    for (int c = 0; c < w->n; c++) {
        low = fmin(low, weights_price(w, c));
        high = fmax(high, weights_price(w, c));
    }
    low -= EBI_WEIGHTS_K_MAX * log(2);
    for (int i = 0; i < MULTIPLIERS; i++) {
        const double mu = low + (high - low) * i / MULTIPLIERS;
        for (int c = 0; c < w->n; c++)
            trial[c] = weights_clamp(ceil((weights_price(w, c) - mu) / log(2)));
        if (ebi_weights_fpr(w, trial) > 1.2 * best) continue;
        const double fpr = weights_improve(w, trial);
        if (fpr >= best) continue;
        best = fpr;
        for (int c = 0; c < w->n; c++) k[c] = trial[c];
    }
    return best;
}

double ebi_weights_paper(const ebi_weights *w, int *k) {
    double members = 0, mean = 0;
    for (int c = 0; c < w->n; c++) members += w->members[c];
    for (int c = 0; c < w->n; c++)
        mean += w->members[c] / members * log2(fmax(w->queries[c], 1e-300) / w->keys[c]);
    for (int c = 0; c < w->n; c++)
        k[c] = weights_clamp(round(w->bits / members * log(2) +
                                   log2(fmax(w->queries[c], 1e-300) / w->keys[c]) - mean));
    return ebi_weights_fpr(w, k);
}
