/* renewal.c - error rates of filters that clear random bits, for a finite shuffled stream.
 *
 * Whether a repeated key's bit is still 1 depends on what happened to that bit, so the histories of
 * single bits are followed.  The result is as accurate as a simulation and takes 1 to 12 ms.  Long
 * streams are left to relax.c.
 *
 * Time runs from 0 to 1, R = records/bits of a partition, and unseen(a) is in meanfield.h.  Fix the
 * present u and look at a bit that was 1 at time w:
 *
 *       O(w)  P(1 at u) if the key that set it does not occur again before u  (a repeat's own bit)
 *       B(w)  P(1 at u) if that key may occur again
 *       F(c)  P(1 at u) if it was cleared at c
 *
 * A cleared bit is set by the first key that did not occur since (one that did would have set it):
 * within z with probability 1 - S(z), S(z) = exp(-x(z)), x(z) = R integral of unseen.
 *
 *       -O' = clear(w) (F - O)
 *       B(w) = unseen(u-w) O(w) + integral of -unseen'(t-w) B(t) dt
 *       F(c) = integral of -S'(b-c) [ O(b) + (1-x(b-c)) (B(b) - O(b)) ] db
 *
 * The factor 1-x: the key that ends the wait is one more owner of this bit, but that there was a
 * wait means that x owners, on average, do not exist.  All three run backwards from u.  Then,
 * exactly,
 *
 *       load' = R [ unseen(u) (1-load) + E(1-O) ] - clear load
 *       FPR = load^k,  FNR = E(1 - O^k),  E over ages a of repeats with density -unseen'(a)
 *
 * Integrals use product weights (exact integrals of the kernels over a step), so a coarse grid is
 * enough, and the results of grids N and 2N are extrapolated.  The cost grows with N^3. */
#include <assert.h>

#include "meanfield.h"

enum { RENEWAL_MIN = 48, RENEWAL_MAX = 128, RENEWAL_NODES = 2 * RENEWAL_MAX + 1 };

typedef struct renewal {
    const ebi_fade *f;
    int n;       /* steps */
    double rate; /* R / n: hits of a bit in a step */
    /* Kernels: at node m, and their integrals over the step from node m to m+1. */
    double unseen[RENEWAL_NODES];
    double repeats[RENEWAL_NODES];    /* -unseen': ages of repeats */
    double wait[RENEWAL_NODES];       /* -S' */
    double wait_owner[RENEWAL_NODES]; /* -S' (1-x) */
    /* Unknowns: at the nodes, and means over steps. */
    double clear[RENEWAL_NODES];                             /* clearing rate over hitting rate */
    double own[RENEWAL_NODES];                               /* O */
    double mean_own[RENEWAL_NODES], mean_any[RENEWAL_NODES]; /* O and B */
    double load, repeats_zero; /* load and E(1-O) at the last node that is done */
} renewal;

static void renewal_init(renewal *r, const ebi_fade *f, const ebi_stream *s, int n) {
    assert(n >= 1);
    const double copies = ebi_shuffled_copies(s->distinct), hits = s->items * f->k / f->bits;
    *r = (renewal){.f = f, .n = n, .rate = hits / n};
    double x = 0;
    for (int m = 0; m <= n; m++) r->unseen[m] = ebi_shuffled_unseen(copies, (double)m / n);
    for (int m = 0; m < n; m++) {
        const double next = hits * ebi_shuffled_unseen_integral(copies, (m + 1.) / n);
        r->repeats[m] = r->unseen[m] - r->unseen[m + 1];
        r->wait[m] = -exp(-x) * expm1(x - next);
        r->wait_owner[m] = next * exp(-next) - x * exp(-x);
        x = next;
    }
}

/* Sums over the steps from node j to node i, without the first step, which holds the unknowns. */
typedef struct renewal_sums {
    double wait, repeat;
} renewal_sums;

static renewal_sums renewal_known(const renewal *r, int j, int i) {
    renewal_sums sum = {0, 0};
    for (int m = 1; m < i - j; m++) {
        const double own = r->mean_own[j + m], any = r->mean_any[j + m];
        sum.wait += r->wait[m] * own + r->wait_owner[m] * (any - own);
        sum.repeat += r->repeats[m] * any;
    }
    return sum;
}

/* O, B and F at all nodes j < i, seen from node i. */
static void renewal_look_back(renewal *r, int i) {
    assert(i >= 0);
    const double by_own = r->wait[0] - r->wait_owner[0], by_any = r->wait_owner[0];
    const double inverse = 1 / (1 - r->repeats[0] / 2);
    double any = 1, cleared = 0;
    r->own[i] = 1;
    for (int j = i - 1; j >= 0; j--) {
        const renewal_sums known = renewal_known(r, j, i);
        const double next = r->own[j + 1], unseen = r->unseen[i - j];
        const double keep = exp(-r->rate * (r->clear[j] + r->clear[j + 1]) / 2);
        const double q = (1 - keep) / 4;
        const double repeat = (r->repeats[0] * any / 2 + known.repeat) * inverse;
        const double given =
            next * keep + 2 * q * (cleared + known.wait + (by_own * next + by_any * any) / 2);
        r->own[j] = (given + q * by_any * repeat) / (1 - q * (by_own + by_any * inverse * unseen));
        const double any_j = unseen * inverse * r->own[j] + repeat;
        r->mean_own[j] = (r->own[j] + next) / 2;
        r->mean_any[j] = (any_j + any) / 2;
        cleared = known.wait + by_own * r->mean_own[j] + by_any * r->mean_any[j];
        any = any_j;
    }
}

/* E(1 - O^k) over the repeats at node i, times their share of the records. */
static double renewal_repeats(const renewal *r, int i, int k) {
    assert(i >= 0 && k >= 0);
    double sum = 0, last = 0;
    for (int m = 0; m < i; m++) {
        const double lost = 1 - ebi_power(r->own[i - 1 - m], k);
        sum += r->repeats[m] * (lost + last) / 2;
        last = lost;
    }
    return sum;
}

/* The load at node i by the trapezoid rule. */
static double renewal_load(const renewal *r, int i, double zero) {
    assert(i >= 0);
    const double half = r->rate / 2;
    const double slope =
        r->unseen[i - 1] * (1 - r->load) + r->repeats_zero - r->clear[i - 1] * r->load;
    return (r->load + half * (slope + r->unseen[i] + zero)) /
           (1 + half * (r->unseen[i] + r->clear[i]));
}

/* Solves node i.  Clearing, load and answers depend on each other, so it makes three passes.
 * Returns the share of all records that are missed repeats. */
static double renewal_node(renewal *r, int i) {
    assert(i >= 0);
    const int k = r->f->k;
    if (i == 0) {
        r->clear[0] = ebi_fade_feedback(r->f, 1, 0);
        return 0;
    }
    r->clear[i] = i == 1 ? r->clear[0] : 2 * r->clear[i - 1] - r->clear[i - 2];
    double load = 0, zero = 0, missed = 0;
    for (int pass = 0; pass < 3; pass++) {
        renewal_look_back(r, i);
        zero = renewal_repeats(r, i, 1);
        missed = renewal_repeats(r, i, k);
        load = renewal_load(r, i, zero);
        const double reported = r->unseen[i] * (1 - ebi_power(load, k)) + missed;
        r->clear[i] = ebi_fade_feedback(r->f, reported, load);
        if (r->f->rule <= EBI_FADE_RSBF) break;
    }
    r->load = load;
    r->repeats_zero = zero;
    return missed;
}

static ebi_rates renewal_grid(const ebi_fade *f, const ebi_stream *s, int n) {
    renewal r;
    ebi_rates out = {0};
    double new_wrong = 0, repeats_missed = 0, share_new = 0, share_repeats = 0, missed = 0;
    renewal_init(&r, f, s, n);
    for (int i = 0; i <= n; i++) {
        const double weight = i == 0 || i == n ? 0.5 : 1;
        missed = renewal_node(&r, i);
        new_wrong += weight * r.unseen[i] * ebi_power(r.load, f->k);
        share_new += weight * r.unseen[i];
        repeats_missed += weight * missed;
        share_repeats += weight * (1 - r.unseen[i]);
    }
    out.load = r.load;
    out.fpr = ebi_power(r.load, f->k);
    out.fnr = missed / (1 - r.unseen[n]);
    out.mean_fpr = new_wrong / share_new;
    out.mean_fnr = repeats_missed / share_repeats;
    return out;
}

static double renewal_extrapolate(double coarse, double fine) {
    return fmax(0, fmin(1, fine + (fine - coarse) / 3));
}

void ebi_fade_renewal(const ebi_fade *f, const ebi_stream *s, ebi_rates *out) {
    const double scale = 32 + s->items * f->k / f->bits + ebi_shuffled_copies(s->distinct);
    const int n = (int)fmax(RENEWAL_MIN, fmin(RENEWAL_MAX, scale));
    if (f->rough) {
        *out = renewal_grid(f, s, n);
        return;
    }
    const ebi_rates coarse = renewal_grid(f, s, n), fine = renewal_grid(f, s, 2 * n);
    out->load = renewal_extrapolate(coarse.load, fine.load);
    out->fpr = renewal_extrapolate(coarse.fpr, fine.fpr);
    out->fnr = renewal_extrapolate(coarse.fnr, fine.fnr);
    out->mean_fpr = renewal_extrapolate(coarse.mean_fpr, fine.mean_fpr);
    out->mean_fnr = renewal_extrapolate(coarse.mean_fnr, fine.mean_fnr);
}
