/* choosy_field.c - predicts how a choosy Bloom filter fills over a stream, and its error rates, by
 * following averages instead of single lines (a mean field).
 *
 * Compared with simulations from 0.6 to 7 bits a key, both rates over the stream are within 1.5 %.
 * If false positives are rare (below 0.2 %), they come from the few fullest lines, which this
 * method does not show well, and the prediction is too high.
 *
 * All numbers are per distinct key, and the stream lasts from t = 0 to 1.  A line of load x takes
 * in a key with j zero bits if j <= z + u, where z = k(1-x) + s + 0.2(1/R-1), R is the share of
 * recent records that were called new, and u is uniform in 0..1 and fixed for each key.  Followed
 * are:
 *
 *       mean, var      of the loads of all lines, represented by five typical lines (Gauss-Hermite
 *                      nodes)
 *       n[j][b][u]     the keys seen but not taken in, with j zero bits left, in slices of u; b = 1
 *                      until the second arrival that every key certainly has
 *       R              common to all lines
 *
 * A first arrival has Binomial(k, 1-x) zero bits; if there are none it is a false positive.  A
 * repeat of a key in n is a false negative and tries again, with the same u.  So a key that was
 * refused stays refused until others set its bits, except for a share `retry` of the refused ones,
 * drawn at each arrival.  Bits that are set raise the load and reduce the zero bits of the keys in
 * n.  The variance follows from the linear noise of arrivals: var' = 2 (d drift / d x) var + (bits
 * set at once)^2, where the slope of the drift comes from the five lines (Stein's lemma). */
#include "choosy_field.h"
#include <assert.h>
#include <math.h>
#include <string.h>

static const double choosy_field_node[EBI_CHOOSY_NODES] = {-2.8569700138728, -1.3556261799743, 0,
                                                           1.3556261799743, 2.8569700138728};
static const double choosy_field_weight[EBI_CHOOSY_NODES] = {
    0.0112574113277, 0.2220759220056, 0.5333333333333, 0.2220759220056, 0.0112574113277};

typedef struct choosy_field_line {
    double x;
    double n[EBI_CHOOSY_K_MAX + 1][2 * EBI_CHOOSY_SLICES]; /* slices with b = 0, then with b = 1 */
} choosy_field_line;

typedef struct choosy_field_state {
    choosy_field_line lines[EBI_CHOOSY_NODES];
    double mean, speed, var; /* of the loads; speed is the derivative of the mean */
    double called_new;       /* R */
    ebi_choosy_skew *skew;   /* for draws by Zipf's law, instead of the lines */
} choosy_field_state;

/* With a repeats a key, a share (1-t) exp(-a t) of the keys have not come at t. */
static ebi_choosy_step choosy_field_arrivals(double a, double t, double dt) {
    assert(t >= 0 && dt > 0);
    const double e0 = exp(-a * t), e1 = exp(-a * (t + dt));
    const double sure = (e0 - e1) / a, all = (1 - t) * e0 - (1 - t - dt) * e1;
    const double pending = fmin(dt / (1 - t), 1);
    return (ebi_choosy_step){.dt = dt,
                             .fresh = {sure, all - sure},
                             .repeat = {a * dt, a * dt + pending},
                             .pending = pending,
                             .records = (1 + a) * dt};
}

void ebi_choosy_binomial(unsigned k, double zero, double *p) {
    assert(k >= 1 && zero >= 0 && zero <= 1);
    memset(p, 0, (k + 1) * sizeof *p);
    p[0] = 1;
    for (unsigned i = 1; i <= k; i++) {
        for (unsigned j = i; j > 0; j--) p[j] = p[j] * (1 - zero) + p[j - 1] * zero;
        p[0] *= 1 - zero;
    }
}

void ebi_choosy_taken(const ebi_choosy *c, double x, double z, unsigned j,
                      double taken[EBI_CHOOSY_SLICES]) {
    const double first = (z - (double)j) * EBI_CHOOSY_SLICES + 1;
    const bool full = x + (double)j / EBI_CHOOSY_LINE > c->xmax;
#pragma GCC unroll 12
    for (int u = 0; u < EBI_CHOOSY_SLICES; u++) {
        const double above = first + u > 0 ? first + u : 0, cheap = above < 1 ? above : 1;
        taken[u] = full ? 0 : cheap + (1 - cheap) * c->retry;
    }
}

void ebi_choosy_insert(ebi_choosy_flow *flow, double keys, double x, unsigned j) {
    const double zeros = EBI_CHOOSY_LINE * (1 - x);
    const double bits = j * zeros / (zeros + (j - 1) / 2.); /* some of the j are the same bit */
    flow->bits += keys * bits;
    flow->squares += keys * bits * bits;
}

/* First arrivals with j zero bits, p of all, and repeats of the waiting keys with as many. */
static void choosy_field_arrive(const ebi_choosy_step *s, double p,
                                const double taken[EBI_CHOOSY_SLICES], choosy_field_line *l,
                                unsigned j, ebi_choosy_flow *flow) {
    double *const first = l->n[j], *const second = first + EBI_CHOOSY_SLICES;
    const double each = p / EBI_CHOOSY_SLICES, fresh = (s->fresh[0] + s->fresh[1]) * each;
    double missed = 0, inserted = 0;
#pragma GCC unroll 12
    for (int u = 0; u < EBI_CHOOSY_SLICES; u++) {
        const double left = 1 - taken[u];
        const double a = first[u] + s->fresh[0] * each * left;
        const double b = second[u] + s->fresh[1] * each * left;
        const double again_a = a * s->repeat[0], again_b = b * s->repeat[1];
        const double moved = b * s->pending * left;
        missed += again_a + again_b;
        inserted += (fresh + again_a + again_b) * taken[u];
        first[u] = a + moved - again_a * taken[u];
        second[u] = b - moved - again_b * taken[u];
    }
    flow->false_negatives += missed;
    ebi_choosy_insert(flow, inserted, l->x, j);
}

/* Others set each zero bit of a waiting key with probability q.  Keys without zero bits no longer
 * wait. */
static void choosy_field_thin(const ebi_choosy *c, choosy_field_line *l, double q) {
    assert(q >= 0 && q <= 1);
    for (unsigned j = 1; j <= c->k; j++)
#pragma GCC unroll 24
        for (int i = 0; i < 2 * EBI_CHOOSY_SLICES; i++) {
            const double fewer = l->n[j][i] * j * q;
            l->n[j - 1][i] += fewer;
            l->n[j][i] -= fewer;
        }
}

/* Only full lines refuse keys: no key waits, or the waiting ones do not matter. */
static bool choosy_field_takes_all(const ebi_choosy *c, const choosy_field_state *f) {
    return !f->skew && c->s >= c->k && (c->xmax >= 1 || c->only_fpr);
}

static ebi_choosy_flow choosy_field_take_all(const ebi_choosy *c, const ebi_choosy_step *s,
                                             double x) {
    const double fresh = s->fresh[0] + s->fresh[1];
    double zero_bits[EBI_CHOOSY_K_MAX + 1];
    ebi_choosy_flow flow = {0};
    ebi_choosy_binomial(c->k, 1 - x, zero_bits);
    for (unsigned j = 1; j <= c->k && x + (double)j / EBI_CHOOSY_LINE <= c->xmax; j++)
        ebi_choosy_insert(&flow, fresh * zero_bits[j], x, j);
    flow.false_positives = fresh * zero_bits[0];
    flow.called_new = fresh * (1 - zero_bits[0]);
    return flow;
}

static ebi_choosy_flow choosy_field_line_step(const ebi_choosy *c, choosy_field_state *f, int node,
                                              const ebi_choosy_step *s, double x) {
    if (f->skew) return ebi_choosy_skew_line(c, f->skew, node, s, x);
    if (choosy_field_takes_all(c, f)) return choosy_field_take_all(c, s, x);
    choosy_field_line *const l = &f->lines[node];
    ebi_choosy_flow flow = {0};
    double zero_bits[EBI_CHOOSY_K_MAX + 1], taken[EBI_CHOOSY_SLICES];
    const double z = c->k * (1 - x) + c->s + s->bonus, fresh = s->fresh[0] + s->fresh[1];
    if (x > l->x) choosy_field_thin(c, l, fmin((x - l->x) / (1 - l->x), 1. / c->k));
    l->x = x;
    ebi_choosy_binomial(c->k, 1 - x, zero_bits);
    for (unsigned j = 1; j <= c->k; j++) {
        ebi_choosy_taken(c, x, z, j, taken);
        choosy_field_arrive(s, zero_bits[j], taken, l, j, &flow);
    }
    flow.false_positives = fresh * zero_bits[0];
    flow.called_new = fresh * (1 - zero_bits[0]) + flow.false_negatives;
    return flow;
}

/* One step of all lines, at the loads in the middle of the step. */
static ebi_choosy_flow choosy_field_advance(const ebi_choosy *c, choosy_field_state *f,
                                            ebi_choosy_step *s) {
    ebi_choosy_flow sum = {0};
    assert(s->dt >= 0 && f->called_new >= 0);
    s->bonus = 0.2 * (1 / f->called_new - 1);
    for (int i = 0; i < EBI_CHOOSY_NODES; i++) {
        const double x = f->mean + f->speed * s->dt / 2 + sqrt(f->var) * choosy_field_node[i];
        const ebi_choosy_flow one = choosy_field_line_step(c, f, i, s, fmax(0, fmin(c->xmax, x)));
        const double w = choosy_field_weight[i];
        sum.false_positives += w * one.false_positives;
        sum.false_negatives += w * one.false_negatives;
        sum.called_new += w * one.called_new;
        sum.bits += w * one.bits;
        sum.squares += w * one.squares;
        sum.tilt += w * one.bits * choosy_field_node[i];
    }
    const double memory =
        c->bits_per_key * c->share * 4 / EBI_CHOOSY_LINE; /* of R, in stream time */
    const double now = sum.called_new / s->records, dx = sum.bits / c->bits_per_key;
    f->called_new = now + (f->called_new - now) * exp(-s->dt / memory);
    f->var += (2 * sqrt(f->var) * sum.tilt + sum.squares / EBI_CHOOSY_LINE) / c->bits_per_key;
    f->var = fmax(0, f->var);
    f->mean = fmin(c->xmax, f->mean + dx);
    f->speed = dx / s->dt;
    return sum;
}

/* A stream with more repeats than this continues as it was at the end of one with this many. */
static const double choosy_field_repeats_max = 50;

typedef struct choosy_field_sums { /* since the beginning, per key */
    double first, repeats;         /* arrivals */
    double false_positives, false_negatives;
    double fpr, fnr; /* of the last step */
} choosy_field_sums;

/* Skewed streams miss more repeats than the mean field predicts: 0.99 to 1.18 times as many on 72
 * streams, and more if the filter is less choosy.  The cause is not known. */
static double choosy_field_more_missed(const ebi_choosy *c) {
    return 1 + 0.05 * (1 + fmin(c->s, 1));
}

static ebi_choosy_rates choosy_field_rates(const choosy_field_sums *sum, double load, double more,
                                           double missed_more) {
    const double missed = sum->false_negatives + more * sum->fnr;
    return (ebi_choosy_rates){.load = load,
                              .fpr = sum->fpr,
                              .fnr = fmin(1, missed_more * sum->fnr),
                              .mean_fpr = sum->false_positives / sum->first,
                              .mean_fnr = fmin(1, missed_more * missed / (sum->repeats + more))};
}

static void choosy_field_course(const ebi_choosy *wanted, ebi_choosy_skew *skew,
                                const double *place, ebi_choosy_rates *out, size_t n) {
    ebi_choosy c = *wanted;
    assert(c.k >= 1 && c.k <= EBI_CHOOSY_K_MAX && c.bits_per_key > 0 && c.share > 0 && c.share < 1);
    const double all_repeats = 1 / c.share - 1;
    const double many = fmin(all_repeats, choosy_field_repeats_max), a = skew ? all_repeats : many;
    c.share = 1 / (1 + a);
    choosy_field_sums sum = {0};
    choosy_field_state f = {.called_new = 1, .skew = skew};
    const double stride = c.rough ? 4 : 1, longer = (1 + all_repeats) / (1 + a);
    double dt, usual = stride * fmin(1e-4, 0.002 * c.bits_per_key / (c.k * (1 + a)));
    const double missed_more = skew ? choosy_field_more_missed(&c) : 1;
    size_t done = 0;
    for (double t = 0; t < 1 - 1e-12; t += dt) {
        if (t > 0)
            usual = fmin(fmin(usual * 1.5, stride * 0.2 / (40 + many)),
                         f.speed > 0 ? stride * 0.004 / f.speed : 1);
        dt = t + 1.5 * usual > 1 ? 1 - t : usual;
        if (done < n && place[done] * longer < t + dt) dt = fmax(place[done] * longer - t, dt / 64);
        ebi_choosy_step s = {.dt = dt, .records = (1 + a) * dt};
        if (skew)
            ebi_choosy_skew_arrivals(skew, t, &s);
        else
            s = choosy_field_arrivals(a, t, dt);
        const ebi_choosy_flow flow = choosy_field_advance(&c, &f, &s);
        const double fresh = s.fresh[0] + s.fresh[1];
        sum.first += fresh;
        sum.repeats += s.records - fresh;
        sum.false_positives += flow.false_positives;
        sum.false_negatives += flow.false_negatives;
        if (fresh > 0) sum.fpr = flow.false_positives / fresh;
        sum.fnr = flow.false_negatives / (s.records - fresh);
        for (; done < n && place[done] * longer <= (t + dt) * (1 + 1e-12) && t + dt < 1; done++)
            out[done] = choosy_field_rates(&sum, f.mean, 0, missed_more);
    }
    for (; done < n; done++)
        out[done] = choosy_field_rates(&sum, f.mean, (1 + all_repeats) * place[done] - (1 + a),
                                       missed_more);
}

void ebi_choosy_course(const ebi_choosy *c, const ebi_repeats *skewed, const double *place,
                       ebi_choosy_rates *out, size_t n) {
    if (skewed) {
        ebi_choosy_skew skew;
        ebi_choosy_skew_open(&skew, skewed);
        choosy_field_course(c, &skew, place, out, n);
    } else {
        choosy_field_course(c, NULL, place, out, n);
    }
}

/* What was refused waits for the next pass, in which it comes once. */
static void choosy_field_next_pass(choosy_field_state *f) {
    for (int i = 0; i < EBI_CHOOSY_NODES; i++)
        for (int j = 0; j <= EBI_CHOOSY_K_MAX; j++)
            for (int u = 0; u < EBI_CHOOSY_SLICES; u++) {
                f->lines[i].n[j][EBI_CHOOSY_SLICES + u] += f->lines[i].n[j][u];
                f->lines[i].n[j][u] = 0;
            }
}

static double choosy_field_passed(const ebi_choosy *c, const choosy_field_state *f) {
    double sum = 0;
    assert(!(f->var < 0) && c->xmax > 0);
    for (int i = 0; i < EBI_CHOOSY_NODES; i++) {
        const double x = f->mean + sqrt(f->var) * choosy_field_node[i];
        sum += choosy_field_weight[i] * pow(fmax(0, fmin(c->xmax, x)), c->k);
    }
    return sum;
}

ebi_choosy_rates ebi_choosy_passes(const ebi_choosy *wanted, double passes) {
    enum { CHOOSY_PASSES = 12 }; /* later ones are like the last of these */
    ebi_choosy c = *wanted;
    choosy_field_state f = {.called_new = 1};
    choosy_field_sums sum = {0};
    const double stride = c.rough ? 4 : 1, followed = fmin(passes, CHOOSY_PASSES);
    assert(passes > 0 && c.bits_per_key > 0);
    c.share = 1; /* time is counted in passes */
    for (int pass = 0; pass < followed; pass++) {
        const double end = fmin(1, followed - pass);
        double dt, usual = stride * fmin(1e-4, 0.002 * c.bits_per_key / c.k);
        if (pass > 0) choosy_field_next_pass(&f);
        for (double t = 0; t < end - 1e-12; t += dt) {
            if (t > 0)
                usual = fmin(fmin(usual * 1.5, stride * 0.005),
                             f.speed > 0 ? stride * 0.004 / f.speed : 1);
            dt = t + 1.5 * usual > end ? end - t : usual;
            const double again = pass > 0 ? fmin(dt / (1 - t), 1) : 0;
            ebi_choosy_step s = {.dt = dt,
                                 .fresh = {0, pass > 0 ? 0 : dt},
                                 .repeat = {0, again},
                                 .pending = again,
                                 .records = dt};
            const ebi_choosy_flow flow = choosy_field_advance(&c, &f, &s);
            sum.false_positives += flow.false_positives;
            sum.false_negatives += flow.false_negatives;
            if (pass > 0) sum.fnr = flow.false_negatives / dt;
        }
    }
    sum.first = fmin(passes, 1);
    sum.repeats = fmax(0, followed - 1);
    sum.fpr = choosy_field_passed(&c, &f);
    return choosy_field_rates(&sum, f.mean, passes - followed, 1);
}

ebi_choosy_rates ebi_choosy_field(const ebi_choosy *c) {
    ebi_choosy_rates r;
    ebi_choosy_course(c, NULL, (const double[]){1}, &r, 1);
    return r;
}

ebi_choosy_rates ebi_choosy_skewed(const ebi_choosy *c, const ebi_repeats *stream) {
    ebi_choosy_rates r;
    ebi_choosy_course(c, stream, (const double[]){1}, &r, 1);
    return r;
}
