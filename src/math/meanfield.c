/* meanfield.c - load, false positives and false negatives of filters that forget by clearing random
 * bits: algorithms 1-4 of the de-duplication paper (docs/papers/003.md), and the stable filter with
 * one bit per cell.
 *
 * This file computes the limit for endless streams and picks the method for finite ones. renewal.c
 * follows single bits and is as accurate as a simulation: 0.1 % on average against the published
 * tables. relax.c is for streams that are long compared with the filter, or that repeat after a
 * fixed gap.
 *
 * The equations.  The paper's recurrences count a bit's gain twice and give duplicates the bits of
 * fresh keys, so they are wrong by factors for k >= 2.  Correct is: a bit that is 0 is set by the
 * next record that hits it, because that record is reported distinct.  With p = load, new = share
 * of new records, Z = P(bit is 0) for a repeated key, and d = clearing rate over hitting rate,
 *
 *       p' = new (1-p) + (1-new) E(Z) - d p            FPR = p^k,  FNR = E(1-(1-Z)^k)
 *       d = P/k (SBF), 1 (RSBF), I (BSBF), I/k (BSBFSD), I p (RLBSBF)
 *       I = new (1-p^k) + (1-new) FNR */
#include "meanfield.h"

#include <assert.h>

#define MEANFIELD_RENEWAL_MOST                                                                     \
    100 /* hits of a bit plus copies of a key that renewal.c resolves                              \
         */
#define MEANFIELD_LEAST_CLEAR 1e-7

double ebi_fade_feedback(const ebi_fade *f, double reported, double load) {
    assert(reported >= 0 && load >= 0);
    switch (f->rule) {
    case EBI_FADE_SBF:
        return f->deletes / f->k;
    case EBI_FADE_RSBF:
        return 1;
    case EBI_FADE_BSBF:
        return reported;
    case EBI_FADE_BSBFSD:
        return reported / f->k;
    default:
        return reported * load;
    }
}

typedef struct meanfield_limit {
    const ebi_fade *f;
    double fresh, gap; /* gap: in hits of a bit */
} meanfield_limit;

/* P(a repeated key's bit is 0) and the load, if bits are cleared at rate d. */
static double meanfield_zero(const meanfield_limit *l, double d) {
    assert(d >= 0);
    return isinf(l->gap) ? d / (1 + d) : -expm1(-(1 + d) * l->gap) * d / (1 + d);
}

static double meanfield_load(const meanfield_limit *l, double d) {
    assert(d >= 0);
    return (l->fresh + (1 - l->fresh) * meanfield_zero(l, d)) / (l->fresh + d);
}

/* The clearing rate that follows from rate d, minus d.  It falls through 0 at the limit. */
static double meanfield_surplus(double d, const void *context) {
    const meanfield_limit *l = context;
    const double p = meanfield_load(l, d), zero = meanfield_zero(l, d);
    const double reported = l->fresh * (1 - ebi_power(p, l->f->k)) +
                            (1 - l->fresh) * (1 - ebi_power(1 - zero, l->f->k));
    return ebi_fade_feedback(l->f, reported, p) - d;
}

/* Rates in the long run.  If clearing dies out faster than bits fill up, all bits are 1 in the
 * end. */
static ebi_rates meanfield_endless(const ebi_fade *f, const ebi_stream *s) {
    const double gap = s->gap > 0 ? s->gap * f->k / f->bits : INFINITY;
    const meanfield_limit l = {.f = f, .fresh = s->distinct, .gap = gap};
    double d = ebi_fade_feedback(f, 1, 1);
    if (f->rule > EBI_FADE_RSBF) {
        d = 0;
        if (meanfield_surplus(MEANFIELD_LEAST_CLEAR, &l) > 0)
            d = ebi_bisect(meanfield_surplus, &l, MEANFIELD_LEAST_CLEAR, 1, 0);
    }
    const double load = meanfield_load(&l, d), fpr = ebi_power(load, f->k);
    const double fnr = 1 - ebi_power(1 - meanfield_zero(&l, d), f->k);
    return (ebi_rates){load, fpr, fnr, fpr, fnr, 0};
}

/* Records until an endless stream like s is near its limit.  All keys are new up to the gap. */
static double meanfield_settles(const ebi_fade *f, const ebi_stream *s, double limit) {
    if (limit >= 1 - 1e-9) return 0;
    const double records = f->bits / f->k, gap = s->gap > 0 && !isinf(s->gap) ? s->gap : 0;
    const double longest = 1e6 * (records + gap) / s->distinct;
    const ebi_stream whole = {longest, gap > 0 ? s->distinct : 1, gap > 0 ? gap : 2 * longest};
    ebi_rates ignored = {0};
    return ebi_fade_relax(f, &whole, limit, &ignored);
}

ebi_rates ebi_fade_rates(const ebi_fade *f, const ebi_stream *s, bool settles) {
    assert(f->bits >= f->k && f->k >= 1 && f->k <= EBI_FADE_MAX_K);
    assert(f->rule != EBI_FADE_SBF || f->deletes >= 0);
    assert(s->items >= 0 && s->distinct > 0 && s->distinct <= 1 && s->gap >= 0);
    ebi_rates out = meanfield_endless(f, s);
    const double settled = settles ? meanfield_settles(f, s, out.fpr) : NAN;
    if (s->items < 1) {
        out = (ebi_rates){0};
    } else if (!isinf(s->items)) {
        const double size = s->items * f->k / f->bits + ebi_shuffled_copies(s->distinct);
        if ((s->gap <= 0 || isinf(s->gap)) && size <= MEANFIELD_RENEWAL_MOST)
            ebi_fade_renewal(f, s, &out);
        else
            ebi_fade_relax(f, s, out.fpr, &out);
    }
    out.settles = settled;
    return out;
}
