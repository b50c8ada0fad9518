/* bound.c - what no filter can beat: rates against bits of memory.
 *
 * A filter that answers "seen" for a fraction q of the keys it should know and
 * e of all others needs, for each such key, at least the divergence
 *     KL(q, e) = q log2(q/e) + (1-q) log2((1-q)/(1-e))   bits.
 * With a budget of bits, forgetting is a choice of q.
 *
 * Copies (a finite set of D keys): after a share u of the keys has come, each of
 * them has c/u bits, c = memory/D.  False positives and negatives are averaged
 * over the stream, so the best e at each moment minimises a weighted sum of both.
 *
 * Demand (an endless stream): every key known so far has a weight, the rate at
 * which its repeat is due; q = q(weight) maximises the repeats that are found. */
#include "lab.h"
#include <math.h>
#include <stdlib.h>

static double bound_divergence(double q, double e) {
    double bits = 0;
    if (q > 0) bits += q * log2(q / e);
    if (q < 1) bits += (1 - q) * log2((1 - q) / (1 - e));
    return bits;
}

/* The largest q that `bits` a key pay for. */
static double bound_found(double e, double bits) {
    if (-log2(e) <= bits) return 1;
    double low = e, high = 1;
    for (int i = 0; i < 32; i++) {
        const double mid = (low + high) / 2;
        *(bound_divergence(mid, e) < bits ? &low : &high) = mid;
    }
    return low;
}

/* Copies */

enum { BOUND_MOMENTS = 64, BOUND_CHOICES = 256 };

typedef struct bound_plan {
    double fresh[BOUND_MOMENTS], repeat[BOUND_MOMENTS]; /* shares of the records */
    double e[BOUND_CHOICES];
    double lost[BOUND_MOMENTS][BOUND_CHOICES]; /* 1 - q */
} bound_plan;

/* Shuffled copies: a key has not come at time T (of 1) with probability
 * (1-T) exp(-mT), where m = (1-f)/f copies are made of each on average. */
static void bound_prepare(bound_plan *p, double bits_per_key, double share, double least) {
    const double m = (1 - share) / share;
    for (int i = 0; i < BOUND_CHOICES; i++)
        p->e[i] = pow(least, 1 - (double)i / (BOUND_CHOICES - 1)) * (1 - 1e-9);
    for (int t = 0; t < BOUND_MOMENTS; t++) {
        const double time = (t + 0.5) / BOUND_MOMENTS;
        const double known = 1 - (1 - time) * exp(-m * time);
        p->fresh[t] = share * exp(-m * time) * (1 + m * (1 - time));
        p->repeat[t] = 1 - p->fresh[t];
        for (int i = 0; i < BOUND_CHOICES; i++)
            p->lost[t][i] = 1 - bound_found(p->e[i], bits_per_key / known);
    }
}

/* Average rates when a false positive costs `price` false negatives. */
static void bound_spend(const bound_plan *p, double price, double *fpr, double *fnr) {
    double fresh = 0, repeat = 0, wrong_fresh = 0, wrong_repeat = 0;
    for (int t = 0; t < BOUND_MOMENTS; t++) {
        int best = 0;
        double least = INFINITY;
        for (int i = 0; i < BOUND_CHOICES; i++) {
            const double cost = price * p->fresh[t] * p->e[i] + p->repeat[t] * p->lost[t][i];
            if (cost < least) least = cost, best = i;
        }
        fresh += p->fresh[t];
        repeat += p->repeat[t];
        wrong_fresh += p->fresh[t] * p->e[best];
        wrong_repeat += p->repeat[t] * p->lost[t][best];
    }
    *fpr = wrong_fresh / fresh;
    *fnr = wrong_repeat / repeat;
}

double lab_bound_fpr(double bits_per_key) {
    enum { STEPS = 4096 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++) sum += exp2(-bits_per_key * STEPS / (i + 0.5));
    return sum / STEPS;
}

double lab_bound_copies(double bits_per_key, double share, double fpr) {
    if (fpr >= lab_bound_fpr(bits_per_key)) return 0;
    bound_plan *p = lab_alloc(1, sizeof *p);
    bound_prepare(p, bits_per_key, share, fpr * 1e-4);
    double low = 1e-9, high = 1e9, at = 0, fnr = 0;
    for (int i = 0; i < 60; i++) {
        const double price = sqrt(low * high);
        bound_spend(p, price, &at, &fnr);
        *(at > fpr ? &low : &high) = price;
    }
    bound_spend(p, low, &at, &fnr); /* the cheaper side: the bound stays below */
    free(p);
    return fnr;
}

/* Demand: weights in bins of 1 %, each with its number of keys. */

enum { BOUND_BINS = 8192 };

static double *bound_key_weights(lab_stream *s, uint64_t moment, const lab_gap *gap) {
    double *weight = lab_alloc(lab_stream_ids(s), sizeof *weight);
    uint64_t id;
    for (uint64_t t = 0; t < moment && lab_stream_next(s, &id, 1); t++)
        weight[id] += lab_gap_density(gap, (double)(moment - 1 - t) + 0.5);
    return weight;
}

lab_demand lab_demand_of_gaps(uint64_t records, double fresh, lab_gap gap, uint64_t seed) {
    lab_demand d = {lab_alloc(BOUND_BINS, sizeof(double)), lab_alloc(BOUND_BINS, sizeof(double)),
                    BOUND_BINS};
    lab_stream *s = lab_stream_gaps(records, fresh, gap, seed);
    double *weight = bound_key_weights(s, records, &gap);
    const uint64_t ids = lab_stream_ids(s);
    double top = 0;
    for (uint64_t i = 0; i < ids; i++) top = fmax(top, weight[i]);
    for (uint64_t i = 0; i < ids; i++) {
        if (weight[i] <= 0) continue;
        const double bin = 100 * log(top / weight[i]);
        const size_t at = bin < BOUND_BINS - 1 ? (size_t)bin : BOUND_BINS - 1;
        d.weight[at] += weight[i];
        d.keys[at]++;
    }
    free(weight);
    lab_stream_free(s);
    for (size_t i = 0; i < d.bins; i++)
        if (d.keys[i] > 0) d.weight[i] /= d.keys[i];
    return d;
}

void lab_demand_free(lab_demand *d) {
    free(d->weight);
    free(d->keys);
}

/* With the price of a bit given, q/(1-q) = e/(1-e) exp(weight/price). */
static double bound_buy(const lab_demand *d, double fpr, double price, double *bits) {
    double found = 0, all = 0;
    *bits = 0;
    for (size_t i = 0; i < d->bins; i++) {
        const double odds = fpr / (1 - fpr) * exp(fmin(d->weight[i] / price, 600));
        const double q = odds / (1 + odds);
        *bits += d->keys[i] * bound_divergence(q, fpr);
        found += d->keys[i] * d->weight[i] * q;
        all += d->keys[i] * d->weight[i];
    }
    return found / all;
}

double lab_bound_demand(const lab_demand *d, double bits, double fpr) {
    double low = 1e-30, high = 1e30, spent = 0;
    for (int i = 0; i < 200; i++) {
        const double price = sqrt(low * high);
        bound_buy(d, fpr, price, &spent);
        *(spent > bits ? &low : &high) = price;
    }
    return 1 - bound_buy(d, fpr, low, &spent);
}
