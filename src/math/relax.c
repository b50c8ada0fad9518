/* relax.c - error rates of filters that clear random bits, for streams that are long compared with
 * the filter or that repeat after a fixed gap.
 *
 * Of a bit's history only its present state is kept, which makes this fast: 1e12 records cost no
 * more than 1e9.  For the histories of single bits see renewal.c, which takes over for short
 * streams.
 *
 * Time t counts the hits of a bit: records times k/bits.  A cleared bit waits for a record that
 * hits it and whose key did not occur since.  Here that happens at a constant rate.  This is exact
 * for a fixed gap (inside the gap all keys differ).  It is right on average for a shuffled stream
 * that is long compared with the filter, so that waits are short.  With n/bits = 100 per partition
 * and 15 % distinct records FPR is 2 % too high and FNR up to 7 %; longer streams have smaller
 * errors.  Then
 *
 *       one' = wait (1-one) - clear one,   one(0) = 0              any bit, if that were all
 *       O(w, t) = one(t) + (1-one(w)) exp(-(decay(t)-decay(w)))    a bit that was 1 at w,
 *                                                                  decay' = wait + clear
 *       load' = new (1-load) + E(1-O) - clear load                 E over the ages of repeats
 *
 * Each step integrates a relaxation towards a moving equilibrium.  So steps may be long compared
 * with the relaxation time, and they grow geometrically. */
#include <assert.h>

#include "meanfield.h"

enum { RELAX_NODES = 768, RELAX_AGES = 64, RELAX_ROUGH = 4, RELAX_TRIES = 12 };
#define RELAX_SETTLED 0.05
#define RELAX_ACCURACY 1e-6 /* of clearing, relative */

typedef struct relax {
    const ebi_fade *f;
    double distinct, copies, end, gap; /* gap 0: shuffled */
    double wait;
    int last; /* a node */
    double t[RELAX_NODES], one[RELAX_NODES], decay[RELAX_NODES];
} relax;

typedef struct relax_state { /* at one node */
    double fresh;            /* share of new records */
    double zero, missed;     /* E(1-O) and E(1-O^k), times the share of repeats */
    double clear, load;
} relax_state;

static double relax_fresh(const relax *r, double t) {
    assert(t >= 0);
    if (r->gap > 0) return t < r->gap ? 1 : r->distinct;
    return ebi_shuffled_unseen(r->copies, t / r->end);
}

static double relax_fresh_integral(const relax *r, double t) {
    if (r->gap > 0) return t <= r->gap ? t : r->gap + r->distinct * (t - r->gap);
    return r->end * ebi_shuffled_unseen_integral(r->copies, t / r->end);
}

static double relax_still_cleared(double z, const void *context) {
    const relax *r = context;
    return exp(-relax_fresh_integral(r, z));
}

/* One over the mean wait of a cleared bit. */
static double relax_wait(const relax *r) {
    if (r->gap > 0) return 1;
    const double most = fmin(40, r->end);
    return fmax(1e-3, 1 / (most * ebi_mean(relax_still_cleared, r, 0, most)));
}

/* The last node at or before w. */
static int relax_find(const relax *r, double w) {
    int lo = 0, hi = r->last;
    while (hi - lo > 1) {
        const int mid = (lo + hi) / 2;
        if (r->t[mid] <= w)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* O for a bit that was 1 `age` before the last node: constant rates up to the next node, then the
 * exact rule from node to node. */
static double relax_own(const relax *r, double age) {
    assert(age >= 0);
    const int now = r->last;
    const double w = fmax(0, r->t[now] - age);
    const int i = relax_find(r, w) + 1;
    const double rate = (r->decay[i] - r->decay[i - 1]) / (r->t[i] - r->t[i - 1]);
    const double zero = -expm1(-rate * (r->t[i] - w)) * (1 - r->wait / rate);
    const double kept = exp(r->decay[i] - r->decay[now]);
    return fmin(1, r->one[now] + (1 - r->one[i]) * kept - zero * kept);
}

/* Repeats at the last node of a shuffled stream.  Ages are on a geometric grid, and each interval
 * is weighted with the share of records that repeat after such an age. */
static void relax_shuffled_repeats(const relax *r, relax_state *s) {
    const double t = r->t[r->last], first = 1e-3 * fmin(t, fmin(1, r->end / (1 + r->copies)));
    const int ages = r->f->rough ? RELAX_AGES / 2 : RELAX_AGES;
    const double ratio = pow(t / first, 1. / (ages - 1));
    double age = first, unseen = 1, zero = 0, missed = 0;
    for (int i = 0; i < ages; i++, age *= ratio) {
        const double own = relax_own(r, age);
        const double next = ebi_shuffled_unseen(r->copies, fmin(t, age) / r->end);
        const double next_missed = 1 - ebi_power(own, r->f->k);
        s->zero += (unseen - next) * (zero + 1 - own) / 2;
        s->missed += (unseen - next) * (missed + next_missed) / 2;
        unseen = next;
        zero = 1 - own;
        missed = next_missed;
    }
}

static void relax_repeats(const relax *r, relax_state *s) {
    const double t = r->t[r->last];
    s->zero = s->missed = 0;
    if (r->gap <= 0) {
        relax_shuffled_repeats(r, s);
    } else if (t >= r->gap) {
        const double own = relax_own(r, r->gap);
        s->zero = (1 - r->distinct) * (1 - own);
        s->missed = (1 - r->distinct) * (1 - ebi_power(own, r->f->k));
    }
}

/* Solves x' = -rate (x - target) over a step with x rate*step, while the target moves from a to
 * b. */
static double relax_towards(double x, double a, double b, double rate_step) {
    assert(rate_step >= 0);
    if (rate_step <= 0) return x;
    const double gone = -expm1(-rate_step);
    return x - (x - a) * gone + (b - a) * (1 - gone / rate_step);
}

static double relax_balance(const relax_state *s) {
    const double rate = s->fresh + s->clear;
    return rate > 0 ? (s->fresh + s->zero) / rate : s->load;
}

/* Goes from node last-1 (state a) to node last with the clearing rate b->clear.  Returns the
 * clearing rate that follows from that, minus b->clear. */
static double relax_try(relax *r, const relax_state *a, relax_state *b) {
    const int i = r->last;
    const double step = r->t[i] - r->t[i - 1], wait = r->wait;
    const double rate = wait + (a->clear + b->clear) / 2;
    r->decay[i] = r->decay[i - 1] + rate * step;
    r->one[i] = relax_towards(r->one[i - 1], wait / (wait + a->clear), wait / (wait + b->clear),
                              rate * step);
    relax_repeats(r, b);
    const double load_rate = (a->fresh + a->clear + b->fresh + b->clear) / 2;
    b->load = relax_towards(a->load, relax_balance(a), relax_balance(b), load_rate * step);
    b->load = fmax(0, fmin(1, b->load));
    const double reported = b->fresh * (1 - ebi_power(b->load, r->f->k)) + b->missed;
    return ebi_fade_feedback(r->f, reported, b->load) - b->clear;
}

/* The step whose clearing rate agrees with its outcome, found by secants inside a shrinking
 * bracket.  (Repeating the step with the rate that came out does not converge where bits fill
 * up.) */
static relax_state relax_step(relax *r, const relax_state *a) {
    relax_state b = *a;
    b.fresh = relax_fresh(r, r->t[r->last]);
    double surplus = relax_try(r, a, &b), lo = 0, hi = 1;
    if (r->f->rule <= EBI_FADE_RSBF) return b;
    double last = b.clear, last_surplus = surplus, next = b.clear + surplus;
    for (int i = 0; i < RELAX_TRIES && fabs(surplus) > RELAX_ACCURACY * b.clear; i++) {
        if (!(next > lo && next < hi)) next = (lo + hi) / 2;
        b.clear = next;
        surplus = relax_try(r, a, &b);
        if (surplus > 0)
            lo = b.clear;
        else
            hi = b.clear;
        next = b.clear - surplus * (b.clear - last) / (surplus - last_surplus);
        last = b.clear;
        last_surplus = surplus;
    }
    return b;
}

/* Geometric steps, with a node at the gap and one at the end. */
static double relax_next_time(const relax *r, double t, double first, double ratio) {
    assert(t >= 0);
    const double next = t > 0 ? t * ratio : first;
    if (t < r->gap && next > r->gap) return r->gap;
    return next > r->end / sqrt(ratio) ? r->end : next;
}

/* The last time that the relative error was above RELAX_SETTLED, after a step. */
static double relax_settled(double before, double from, double to, double error, double next) {
    if (next > RELAX_SETTLED) return to;
    if (error <= RELAX_SETTLED) return before;
    return from + (to - from) * (error - RELAX_SETTLED) / (error - next);
}

double ebi_fade_relax(const ebi_fade *f, const ebi_stream *s, double target, ebi_rates *out) {
    const double hit = f->k / f->bits;
    relax r = {.f = f, .distinct = s->distinct, .end = s->items * hit};
    r.gap = isinf(s->gap) ? 0 : s->gap * hit;
    r.copies = ebi_shuffled_copies(s->distinct);
    r.wait = relax_wait(&r);
    const double first = 1e-3 * fmin(1, r.end / (1 + r.copies));
    const double fine = fmax(1.02, pow(r.end / first, 1. / (RELAX_NODES - 8)));
    const double ratio = f->rough ? pow(fine, RELAX_ROUGH) : fine;
    relax_state a = {.fresh = 1, .clear = ebi_fade_feedback(f, 1, 0)};
    double settled = 0, new_wrong = 0, missed = 0, repeats = 0;
    while (r.t[r.last] < r.end && r.last + 1 < RELAX_NODES) {
        const double from = r.t[r.last];
        r.last++;
        const double to = r.t[r.last] = relax_next_time(&r, from, first, ratio);
        const relax_state b = relax_step(&r, &a);
        const double fresh = relax_fresh_integral(&r, to) - relax_fresh_integral(&r, from);
        const double fpr = ebi_power(b.load, f->k);
        new_wrong += fresh * (ebi_power(a.load, f->k) + fpr) / 2;
        missed += (to - from) * (a.missed + b.missed) / 2;
        repeats += (to - from) - fresh;
        settled = relax_settled(settled, from, to, fabs(ebi_power(a.load, f->k) / target - 1),
                                fabs(fpr / target - 1));
        a = b;
    }
    out->load = a.load;
    out->fpr = ebi_power(a.load, f->k);
    out->fnr = a.fresh < 1 ? a.missed / (1 - a.fresh) : 0;
    out->mean_fpr = new_wrong / relax_fresh_integral(&r, r.end);
    out->mean_fnr = repeats > 0 ? fmin(1, missed / repeats) : 0;
    return settled / hit;
}
