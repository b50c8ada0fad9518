/* gaps.c - how far apart the repeats of a stream are, in records and in distinct keys.  Filters
 * that forget are wrong about repeats that come too late, so their error rates follow from this
 * distribution.  It takes a few hundred microseconds.
 *
 * Time runs from 0 to 1 over the stream, and a key's records are at uniform places.  A key has 1 +
 * Poisson(a) records (zipf 0), or Poisson(l) records (zipf > 0, l = records times its share).  The
 * number of its repeats with a gap above x is proportional to
 *
 *       (1-x)^2 e^(-a x)    or    [l (1-x) - 1] e^(-l x) + e^(-l)   (of l - 1 + e^(-l) in all)
 *
 * The key occurs in a window of length x with probability 1 - (1-x) e^(-a x), or 1 - e^(-l x).  At
 * the end of the stream, the share of repeats with an age above x is proportional to e^(-l x) -
 * e^(-l), weighted by l, or to unseen(x) - unseen(1) of meanfield.h.  Endless streams have
 * exponential gaps.
 *
 * The ranks of Zipf's law are grouped into bins that grow by a quarter.  The number of keys to draw
 * from is solved for, so that `distinct` of them occur. */
#include "meanfield.h"
#include <assert.h>
#include <string.h>

enum { GAPS_SINGLE = 16 }; /* ranks that have a bin of their own */
static const double gaps_bin = 1.25;

/* Puts the ranks 1..keys into bins, whose shares add up to 1. */
static void gaps_bins(ebi_repeats *r, double keys) {
    assert(keys > 0);
    double sum = 0;
    r->bins = 0;
    for (double from = 1; from <= keys && r->bins < EBI_REPEATS_BINS;) {
        const double next = from < GAPS_SINGLE ? from + 1 : fmin(ceil(from * gaps_bin), keys + 1);
        const double middle = (from + next - 1) / 2, n = next - from;
        /* The mean of i^-zipf is its value in the middle, plus half its second derivative times the
         * variance. */
        const double bend = r->zipf * (r->zipf + 1) / (middle * middle) * (n * n - 1) / 24;
        r->keys[r->bins] = n;
        r->share[r->bins] = pow(middle, -r->zipf) * (1 + bend);
        sum += n * r->share[r->bins];
        r->bins++;
        from = next;
    }
    for (size_t i = 0; i < r->bins; i++) r->share[i] /= sum;
}

static double gaps_there(const ebi_repeats *r, double records) { /* keys that occur */
    assert(records >= 0);
    double sum = 0;
    for (size_t i = 0; i < r->bins; i++) sum -= r->keys[i] * expm1(-records * r->share[i]);
    return sum;
}

static bool gaps_same(const ebi_repeats *a, const ebi_repeats *b) {
    return a->items == b->items && a->distinct == b->distinct && a->zipf == b->zipf;
}

static void gaps_solve(ebi_repeats *r) {
    const double items = r->items, distinct = r->distinct, zipf = r->zipf;
    if (zipf <= 0) {
        r->copies = items > 0 ? fmax(items / distinct - 1, 1e-9) : INFINITY;
        return;
    }
    double low = distinct, high = distinct;
    gaps_bins(r, low);
    if (!(items > 0)) return;
    while (high < 1e18 && gaps_there(r, items) < distinct) gaps_bins(r, high *= 4);
    for (int i = 0; i < 30 && high / low > 1.001; i++) {
        const double middle = sqrt(low * high);
        gaps_bins(r, middle);
        if (gaps_there(r, items) < distinct)
            low = middle;
        else
            high = middle;
    }
}

void ebi_repeats_of(ebi_repeats *r, double items, double distinct, double zipf, ebi_laws *kept) {
    assert(distinct > 0 && items >= 0 && zipf >= 0);
    *r = (ebi_repeats){.items = items, .distinct = distinct, .zipf = zipf, .kept = kept};
    if (kept && gaps_same(r, &kept->repeats)) {
        *r = kept->repeats;
        return;
    }
    gaps_solve(r);
    if (kept) *kept = (ebi_laws){.repeats = *r};
}

double ebi_repeats_distinct(const ebi_repeats *r, double x) {
    assert(x >= 0);
    if (r->zipf > 0) return gaps_there(r, x);
    if (!(r->items > 0)) return -r->distinct * expm1(-x / r->distinct);
    const double t = fmin(1, x / r->items);
    return r->distinct * (1 - (1 - t) * exp(-r->copies * t));
}

/* Repeats with a gap above x, a share of the stream; for endless streams, above x records. */
static double gaps_above(const ebi_repeats *r, double x, bool at_end) {
    assert(x >= 0);
    if (r->zipf <= 0 && !(r->items > 0)) return exp(-x / r->distinct);
    if (r->zipf <= 0 && at_end)
        return ebi_shuffled_unseen(r->copies, x) - ebi_shuffled_unseen(r->copies, 1);
    if (r->zipf <= 0) return (1 - x) * (1 - x) * exp(-r->copies * x);
    double sum = 0;
    for (size_t i = 0; i < r->bins; i++) {
        const double l = (r->items > 0 ? r->items : 1) * r->share[i], far = exp(-l * x);
        if (!(r->items > 0))
            sum += r->keys[i] * l * far;
        else if (at_end)
            sum += r->keys[i] * l * (far - exp(-l));
        else
            sum += r->keys[i] * fmax(0, (l * (1 - x) - 1) * far + exp(-l));
    }
    return sum;
}

static size_t gaps_compute(const ebi_repeats *r, bool at_end, ebi_gap *out) {
    const double end = r->items > 0 ? 1 : 40 * r->distinct;
    const double first = r->items > 0 ? 0.5 / r->items : 0.5;
    const double ratio = pow(end / first, 1.0 / EBI_GAPS), all = gaps_above(r, 0, at_end);
    double above = all, from = 0, to = first;
    size_t n = 0;
    if (!(all > 0) || !(end > first)) return 0;
    for (size_t i = 0; i < EBI_GAPS; i++) {
        to = i + 1 < EBI_GAPS ? to * ratio : end;
        const double left = i + 1 < EBI_GAPS ? fmax(0, gaps_above(r, to, at_end)) : 0;
        const double middle = from > 0 ? sqrt(from * to) : to / 2;
        const double records = middle * (r->items > 0 ? r->items : 1);
        from = to;
        if (!(above > left)) continue;
        out[n++] = (ebi_gap){(above - left) / all, records, ebi_repeats_distinct(r, records)};
        above = left;
    }
    return n;
}

size_t ebi_repeats_gaps(const ebi_repeats *r, bool at_end, ebi_gap *out) {
    ebi_laws *const kept = r->kept;
    if (!kept || !gaps_same(r, &kept->repeats)) return gaps_compute(r, at_end, out);
    if (!kept->at[at_end].known) {
        kept->at[at_end].n = gaps_compute(r, at_end, kept->at[at_end].gaps);
        kept->at[at_end].known = true;
    }
    memcpy(out, kept->at[at_end].gaps, kept->at[at_end].n * sizeof *out);
    return kept->at[at_end].n;
}

double ebi_repeats_mean(const ebi_repeats *r, bool at_end, bool by_records, ebi_function *missed,
                        const void *context) {
    ebi_gap gaps[EBI_GAPS];
    const size_t n = ebi_repeats_gaps(r, at_end, gaps);
    double sum = 0, last = 0, last_gap = -1;
    for (size_t i = 0; i < n; i++) {
        const double gap = by_records ? gaps[i].records : gaps[i].distinct;
        if (gap > last_gap * (1 + 1e-9)) last = missed(gap, context);
        last_gap = gap;
        sum += gaps[i].weight * last;
    }
    return sum;
}
