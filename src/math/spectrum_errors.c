/* spectrum_errors.c - how often counts are wrong, and by how much, for each way to update counters
 * (policy): minimum selection, minimal increase, and recurring minimum with and without exact
 * entries. */
#include "probability.h"
#include "spectrum.h"
#include <assert.h>
#include <math.h>

/* Minimum selection */

ebi_count_errors ebi_errors_ms(const ebi_sharing *c, const ebi_spectrum *s) {
    assert(c->k >= 1);
    ebi_sum sum;
    double above = 0, before = 0, squares = 0; /* probability that one, or all, are so large */
    ebi_sum_of(&sum, s, c->load);
    for (size_t i = EBI_SUM_VALUES; i-- > 1;) {
        above += sum.p[i];
        const double all = pow(above, c->k), value = ebi_sum_value(i);
        squares += value * value * (all - before);
        before = all;
    }
    return (ebi_count_errors){pow(-expm1(-c->load), c->k), sqrt(squares), 0};
}

/* Minimal increase.  Without key y, a counter has the count of its most frequent other key so far.
 * The error of y is the largest lead that all its counters ever had over y at the same time.  The
 * lead of another key z is a random walk that ends at f_z - f_y with variance f_z + f_y.  Its
 * maximum is known for Brownian motion, and its tail is exactly a power of f_z / f_y.  Before y
 * occurs for the first time, the lead depends on how long that takes, and is computed separately,
 * by time.  After that the races of the k counters are treated as independent. */

static double spectrum_errors_normal(double x) { /* P(N(0,1) < x) */
    return 0.5 * erfc(-x * M_SQRT1_2);
}

static double spectrum_errors_lead(double z, double y, double e) {
    const double drift = z - y, sigma = sqrt(z + y);
    const double end = spectrum_errors_normal((drift - e) / sigma);
    const double power = drift < 0 ? e * log(z / y) : 2 * drift * e / (z + y);
    if (power < -40 || power > 40) return end;
    return fmin(1, end + exp(power) * spectrum_errors_normal(-(drift + e) / sigma));
}

/* The same after the first occurrence of y.  By then z has occurred g times with probability q p^g,
 * p = z / (y + z).  From there a slower z gets e ahead with probability (z / y)^(e + 1 - g), or is
 * ahead already.  This is the sum over g. */
static double spectrum_errors_lead_later(double z, double y, double e) {
    const double p = z / (y + z), q = 1 - p;
    return spectrum_errors_lead(z, y, e) * (z < y ? 1 - pow(q, e) * (q - p) : 1);
}

/* The probability that a counter of y is ever e ahead.  That takes a key that occurs e + 1
 * times. */
static double spectrum_errors_behind(const ebi_sharing *c, const ebi_spectrum *s, double y,
                                     double e) {
    double leads = 0;
    for (size_t i = 0; i < s->classes && s->count[i] >= e + 0.5; i++) {
        if (s->count[i] < y * 0.1 && e > 10) break; /* the leads of the rest are negligible */
        leads += s->keys[i] / s->distinct * spectrum_errors_lead_later(s->count[i], y, e);
    }
    return -expm1(-c->load * leads);
}

/* Recurring minimum.  The stream runs from time 0 to 1.  A counter has been hit by time t with
 * probability A(t) = 1 - exp(-load mean(1-(1-t)^f)).  A key is safe if it occurs between time s,
 * when its last counter but one is hit, and time t, when its last one is.  A key of count f does
 * not with probability (1-(t-s))^f. */

enum { SPECTRUM_ERRORS_TIMES = 96 };
typedef struct spectrum_errors_clock {
    double time[SPECTRUM_ERRORS_TIMES + 1], hit[SPECTRUM_ERRORS_TIMES + 1]; /* from 0 to 1 */
} spectrum_errors_clock;

static double spectrum_errors_hit(const ebi_sharing *c, const ebi_spectrum *s, double time) {
    assert(time >= 0);
    double sum = 0;
    for (size_t i = 0; i < s->classes; i++)
        sum += s->keys[i] / s->distinct * ebi_one_minus_pow1m(time, s->count[i]);
    return -expm1(-c->load * sum);
}

static void spectrum_errors_start(spectrum_errors_clock *k, const ebi_sharing *c,
                                  const ebi_spectrum *s) {
    const double first = 1e-3 / s->count[0];
    k->time[0] = k->hit[0] = 0;
    for (int i = 1; i <= SPECTRUM_ERRORS_TIMES; i++) {
        k->time[i] = fmin(1, first * pow(1 / first, (i - 1.0) / (SPECTRUM_ERRORS_TIMES - 1)));
        k->hit[i] = spectrum_errors_hit(c, s, k->time[i]);
    }
}

/* The probability that all counters were hit before a key of this count occurs first. */
static double spectrum_errors_before(const spectrum_errors_clock *t, unsigned k, double count) {
    double sum = 0;
    for (int i = 0; i < SPECTRUM_ERRORS_TIMES; i++) {
        const double now = ebi_pow1m(t->time[i], count) - ebi_pow1m(t->time[i + 1], count);
        sum += now * pow((t->hit[i] + t->hit[i + 1]) / 2, k);
    }
    return sum;
}

static double
spectrum_errors_ahead(const ebi_sharing *c, const ebi_spectrum *s, const spectrum_errors_clock *t,
                      double e) { /* the probability that a key is too high by e or more */
    const double hit = pow(-expm1(-c->load), c->k);
    double all = 0;
    for (size_t i = 0; i < s->classes; i++) {
        const double later = pow(spectrum_errors_behind(c, s, s->count[i], e), c->k);
        const double before = e > 1 ? 0 : spectrum_errors_before(t, c->k, s->count[i]);
        all += s->keys[i] / s->distinct * (later + before - later * before / hit);
    }
    return all;
}

/* In an overfull table, counters without a key that is ahead of them rise together, to a level.  An
 * add of a key that is not ahead raises 0.65 + 0.25 j of the j such counters that it has (waves of
 * equal counters raise a tenth more; fitted).  The size of the errors of keys below that level. */
static double spectrum_errors_level_size(const ebi_sharing *c, const ebi_spectrum *s) {
    enum { SPECTRUM_ERRORS_STEPS = 128 };
    double level = 0, squares = 0;
    for (int step = 0; step < SPECTRUM_ERRORS_STEPS; step++) {
        const double time = (double)step / SPECTRUM_ERRORS_STEPS;
        double ahead = 0, adds = 0; /* shares of keys; adds of the others, for each key */
        for (size_t i = 0; i < s->classes; i++)
            if (s->count[i] * time > level)
                ahead += s->keys[i] / s->distinct;
            else
                adds += s->keys[i] / s->distinct * s->count[i];
        const double open = fmax(exp(-c->load * ahead), 1e-12), any = -expm1(c->k * log1p(-open));
        const double raised = 0.65 * any + 0.25 * c->k * open;
        level += adds * c->load / c->k * raised / open / SPECTRUM_ERRORS_STEPS;
    }
    for (size_t i = 0; i < s->classes; i++)
        squares += s->keys[i] / s->distinct * pow(fmax(0, level - s->count[i]), 2);
    return sqrt(squares);
}

ebi_count_errors ebi_errors_mi(const ebi_sharing *c, const ebi_spectrum *s) {
    assert(c->k >= 1);
    spectrum_errors_clock t;
    double squares = 0, wrong = 0, last = 0, last_all = 0;
    if (c->k == 1 || !(c->load > 0)) return ebi_errors_ms(c, s); /* one counter: the same */
    spectrum_errors_start(&t, c, s);
    for (double e = 1; e <= s->count[0]; e = fmax(e + 1, floor(e * 1.3))) {
        const double all = spectrum_errors_ahead(c, s, &t, e);
        if (e == 1) wrong = all;
        /* (2e-1) P(error >= e); those since the last e are interpolated */
        squares += (2 * e - 1) * all + (all + last_all) / 2 * ((e - 1) * (e - 1) - last * last);
        if (all < 1e-6 * wrong / (e * e)) break;
        last = e;
        last_all = all;
    }
    return (ebi_count_errors){wrong, fmax(sqrt(squares), spectrum_errors_level_size(c, s)), 0};
}

/* The probability that a key of this count is wrong. */
static double spectrum_errors_late(const spectrum_errors_clock *t, unsigned k, double count) {
    double sum = 0;
    for (int i = 0; i < SPECTRUM_ERRORS_TIMES; i++) {
        const double others = pow(t->hit[i + 1], k - 1) - pow(t->hit[i], k - 1);
        double last =
            (t->hit[i + 1] - t->hit[i]) / 2 * ebi_pow1m((t->time[i + 1] - t->time[i]) / 3, count);
        for (int j = i + 1; j < SPECTRUM_ERRORS_TIMES; j++) {
            const double gap = (t->time[j + 1] + t->time[j] - t->time[i + 1] - t->time[i]) / 2;
            if (gap * count > 40) break;
            last += (t->hit[j + 1] - t->hit[j]) * ebi_pow1m(gap, count);
        }
        sum += others * last;
    }
    return k * sum;
}

/* If a key is late by one with some probability, it is late by e or more with that probability to
 * the power e.  It is never worse than without entries. */
static ebi_count_errors spectrum_errors_exact(const ebi_sharing *c, const ebi_spectrum *s,
                                              ebi_count_errors without) {
    ebi_count_errors out = {0, 0, 0};
    spectrum_errors_clock t;
    double squares = 0;
    if (!(without.wrong > 0)) return out;
    const double most = without.size * without.size / without.wrong;
    spectrum_errors_start(&t, c, s);
    for (size_t i = 0; i < s->classes; i++) {
        const double late = s->keys[i] / s->distinct * spectrum_errors_late(&t, c->k, s->count[i]);
        const double again = fmin(late * s->distinct / s->keys[i] / without.wrong, 0.999);
        out.wrong += late;
        squares += late * fmin(most, (1 + again) / ((1 - again) * (1 - again)));
    }
    out.size = sqrt(squares);
    return out;
}

/* The share of keys that are moved: they occur when all their counters but one have been hit. */
static double spectrum_errors_moved(const ebi_sharing *c, const ebi_spectrum *s) {
    spectrum_errors_clock t;
    double moved = 0;
    spectrum_errors_start(&t, c, s);
    for (int i = 0; i < SPECTRUM_ERRORS_TIMES; i++) {
        const double clean = 1 - (t.hit[i] + t.hit[i + 1]) / 2;
        const double others = pow(t.hit[i + 1], c->k - 1) - pow(t.hit[i], c->k - 1);
        const double before = (t.time[i] + t.time[i + 1]) / 2;
        double comes = 0; /* the probability to occur after that */
        for (size_t j = 0; j < s->classes; j++)
            comes += s->keys[j] / s->distinct * (1 - pow(before, s->count[j]));
        moved += c->k * others * clean * comes;
    }
    return moved;
}

ebi_count_errors ebi_errors_rmx(const ebi_sharing *c, const ebi_spectrum *s, double entries) {
    assert(entries >= 0);
    const ebi_count_errors without = ebi_errors_ms(c, s),
                           with = spectrum_errors_exact(c, s, without);
    const double need = spectrum_errors_moved(c, s) * s->distinct;
    const double out = pow(1 - fmin(1, 0.9 * entries / fmax(need, 1e-9)), 3);
    return (ebi_count_errors){with.wrong + out * (without.wrong - with.wrong),
                              hypot(with.size, out * without.size), 0};
}

/* The probability that a moved key's two least counters are equal when it occurs or is asked for.
 * Then adds are lost, or the wrong counters are read.  Other keys add a <= b to the two, and the
 * key occurs f times.  It is moved when it first finds the two different, by a difference that is
 * geometric on either side.  They become equal again for certain if the faster one is behind, else
 * with probability a / b for each step between them: together, twice the first probability.  The
 * key notices unless the two part before it occurs; then they may meet once more. */
static double spectrum_errors_level(double a, double b, double f) {
    const double sum = a + b + f, root = sqrt((b - a) * (b - a) + f * (sum + a + b));
    const double slow = 2 * a / (sum + root),
                 fast = 2 * b / (sum + root); /* ratios of the geometric law */
    const double slow_ahead = slow / (1 - slow), fast_ahead = fast / (1 - fast);
    const double seen = f / sum, again = 2 * a / (a + b);
    return 2 * slow_ahead / (slow_ahead + fast_ahead) * seen / (1 - (1 - seen) * again);
}

static double spectrum_errors_level_mean(const ebi_spectrum *s, double a,
                                         double b) { /* over keys */
    double sum = 0;
    for (size_t i = 0; i < s->classes; i++)
        sum += s->keys[i] / s->distinct * spectrum_errors_level(a, b, s->count[i]);
    return sum;
}

/* The same for all keys that have no counter of their own, by the two least of their k sums. */
static double spectrum_errors_lost(const ebi_sharing *c, const ebi_spectrum *s) {
    ebi_sum law;
    double least[EBI_SUM_VALUES + 1], others[EBI_SUM_VALUES + 1]; /* k, k - 1 sums are no less */
    double above = 0, all = 0, lost = 0;
    ebi_sum_of(&law, s, c->load);
    least[EBI_SUM_VALUES] = others[EBI_SUM_VALUES] = 0;
    for (size_t i = EBI_SUM_VALUES; i-- > 1;) {
        above += law.p[i];
        least[i] = pow(above, c->k);
        others[i] = pow(above, c->k - 1);
    }
    for (size_t i = 1; i < EBI_SUM_VALUES; i++) {
        const double once = c->k * law.p[i], both = least[i] - least[i + 1] - once * others[i + 1];
        all += both;
        lost += both;
        for (size_t j = i + 1; j < EBI_SUM_VALUES; j++) {
            const double pair = once * (others[j] - others[j + 1]);
            if (pair < 1e-5 * least[1]) continue;
            all += pair;
            lost += pair * spectrum_errors_level_mean(s, ebi_sum_value(i), ebi_sum_value(j));
        }
    }
    return all > 0 ? lost / all : 0;
}

/* Of the keys without a counter of their own, those are wrong that were moved late, and of the
 * others those whose minimum recurred when they occurred again. */
ebi_count_errors ebi_errors_rm(const ebi_sharing *c, const ebi_spectrum *s, double second_part,
                               bool marks) {
    assert(second_part > 0);
    const ebi_count_errors without = ebi_errors_ms(c, s),
                           late = spectrum_errors_exact(c, s, without);
    const double lost = marks ? 0 : spectrum_errors_lost(c, s);
    const double first = late.wrong + lost * (without.wrong - late.wrong);
    const double moved = spectrum_errors_moved(c, s);
    const double mistaken = pow(-expm1(-moved * s->distinct / second_part), c->k);
    return (ebi_count_errors){first + (moved - first) * mistaken, NAN, NAN};
}
