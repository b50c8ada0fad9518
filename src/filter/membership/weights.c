/* weights.c - how many bits of a Bloom filter each class of keys should have, so that the
 * false-positive rate over all queries is least.
 *
 * Class c has X members and gets the share r of the queries for non-members.  With k_c bits for its
 * keys, the false-positive rate is sum r_c q^k_c, where q = 1-exp(-sum X_c k_c / m) is the share of
 * set bits.  For real k, the best solution has r_c q^k_c proportional to X_c, and q = 1/2: one bit
 * more for each doubling of r/X. (Theorem 3.1 of the paper lacks the 1/X. If popular keys are
 * likely members, its rule is worse than a plain filter.)
 *
 * For integers, k_c = ceil((ln(r_c/X_c) - mu) / ln 2) for the best of many multipliers mu.  With
 * few classes, this and the best plain filter are then improved by single steps and by exchanges
 * between two classes, until nothing helps.  With many classes, rounding is too fine to matter. */
#include "base/base.h"
#include "math/probability.h"
#include <everbloom/experimental.h>
#include <math.h>
#include <string.h>

enum { WEIGHTS_FEW = 64 };

/* How bits are assigned: given, equal for all, or by a multiplier. */
typedef struct weights_rule {
    const uint8_t *given;
    unsigned equal;
    double mu;
} weights_rule;

static unsigned weights_clamp(double k) {
    assert(!isnan(k));
    return k < 1 ? 1 : k > EBI_WEIGHTS_K_MAX ? EBI_WEIGHTS_K_MAX : (unsigned)k;
}

static double weights_price(const ebi_weights *w, size_t c) { /* log2(r/X), finite */
    assert(c < w->n);
    return log2(fmax(w->classes[c].queries, 1e-300) / fmax(w->classes[c].members, 1e-9));
}

static unsigned weights_k(const ebi_weights *w, const weights_rule *rule, size_t c) {
    assert(c < w->n);
    if (rule->given) return rule->given[c];
    if (rule->equal > 0) return rule->equal;
    return weights_clamp(ceil(weights_price(w, c) - rule->mu));
}

static double weights_rate(const ebi_weights *w, const weights_rule *rule) {
    double sum = 0, fpr = 0, queries = 0;
    for (size_t c = 0; c < w->n; c++) {
        sum += w->classes[c].members * weights_k(w, rule, c);
        queries += w->classes[c].queries;
    }
    const double log_q = log(-expm1(-sum / w->bits));
    for (size_t c = 0; c < w->n; c++)
        fpr += w->classes[c].queries * exp(log_q * weights_k(w, rule, c));
    return fpr / queries;
}

double ebi_weights_fpr(const ebi_weights *w, const uint8_t *k) {
    return weights_rate(w, &(weights_rule){.given = k});
}

static double weights_fill(const ebi_weights *w, const weights_rule *rule, uint8_t *k) {
    for (size_t c = 0; c < w->n; c++) k[c] = (uint8_t)weights_k(w, rule, c);
    return ebi_weights_fpr(w, k);
}

double ebi_weights_plain(const ebi_weights *w, uint8_t *k) {
    weights_rule best = {.equal = 1};
    double best_fpr = INFINITY;
    for (unsigned each = 1; each <= EBI_WEIGHTS_K_MAX; each++) {
        const double fpr = weights_rate(w, &(weights_rule){.equal = each});
        if (fpr < best_fpr) best_fpr = fpr, best.equal = each;
    }
    return weights_fill(w, &best, k);
}

/* Gives class `up` one bit and takes one from `down`.  Either may be n, for no class. */
static bool weights_exchange(const ebi_weights *w, uint8_t *k, size_t up, size_t down,
                             double *fpr) {
    assert(up <= w->n && down <= w->n);
    if (up == down || (up < w->n && k[up] == EBI_WEIGHTS_K_MAX) || (down < w->n && k[down] == 1))
        return false;
    if (up < w->n) k[up]++;
    if (down < w->n) k[down]--;
    const double now = ebi_weights_fpr(w, k);
    if (now < *fpr) {
        *fpr = now;
        return true;
    }
    if (up < w->n) k[up]--;
    if (down < w->n) k[down]++;
    return false;
}

static double weights_improve(const ebi_weights *w, uint8_t *k) {
    double fpr = ebi_weights_fpr(w, k);
    for (bool better = true; better;) {
        better = false;
        for (size_t up = 0; up <= w->n; up++)
            for (size_t down = 0; down <= w->n; down++)
                better |= weights_exchange(w, k, up, down, &fpr);
    }
    return fpr;
}

static weights_rule weights_best_multiplier(const ebi_weights *w) {
    enum { WEIGHTS_MULTIPLIERS = 400 };
    double low = INFINITY, high = -INFINITY, best_fpr = INFINITY;
    for (size_t c = 0; c < w->n; c++) {
        low = fmin(low, weights_price(w, c));
        high = fmax(high, weights_price(w, c));
    }
    low -= EBI_WEIGHTS_K_MAX;
    weights_rule best = {.mu = high};
    for (int i = 0; i < WEIGHTS_MULTIPLIERS; i++) {
        const weights_rule rule = {.mu = low + (high - low) * i / WEIGHTS_MULTIPLIERS};
        const double fpr = weights_rate(w, &rule);
        if (fpr < best_fpr) best_fpr = fpr, best = rule;
    }
    return best;
}

double ebi_weights_best(const ebi_weights *w, uint8_t *k) {
    const weights_rule rule = weights_best_multiplier(w);
    double fpr = weights_fill(w, &rule, k);
    if (w->n > WEIGHTS_FEW) {
        const double with_rule = fpr, plain = ebi_weights_plain(w, k);
        return plain < with_rule ? plain : weights_fill(w, &rule, k);
    }
    uint8_t plain[WEIGHTS_FEW];
    (void)ebi_weights_plain(w, plain);
    const double improved_plain = weights_improve(w, plain);
    fpr = weights_improve(w, k);
    if (improved_plain < fpr) memcpy(k, plain, w->n);
    return fmin(fpr, improved_plain);
}

double ebi_weights_paper(const ebi_weights *w, uint8_t *k) {
    double members = 0, mean = 0;
    for (size_t c = 0; c < w->n; c++) members += w->classes[c].members;
    for (size_t c = 0; c < w->n; c++)
        mean += w->classes[c].members / members *
                log2(fmax(w->classes[c].queries, 1e-300) / w->classes[c].keys);
    for (size_t c = 0; c < w->n; c++)
        k[c] = (uint8_t)weights_clamp(
            round(w->bits / members * log(2) +
                  log2(fmax(w->classes[c].queries, 1e-300) / w->classes[c].keys) - mean));
    return ebi_weights_fpr(w, k);
}
