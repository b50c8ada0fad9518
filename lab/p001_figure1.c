/* p001_figure1.c - Figure 1: a share alpha of all keys is asked for c times as often
 * as the others; every key is as likely a member; m/n = 14.
 *
 * The paper's rule gives the hot class (m/n) ln 2 + (1-alpha) log2 c bits and the cold
 * one (m/n) ln 2 - alpha log2 c.  Improvement is the false positive rate of a plain
 * filter with real k, 2^-(m/n) ln 2, over that of the weighted one. */
#include "paper_001.h"
#include <math.h>

#define FIG1_BITS 14.0
enum { FIG1_GRID = 100 };

typedef struct fig1_point {
    double alpha, c;
    unsigned hot, cold; /* bits */
    double improvement;
} fig1_point;

static double fig1_real_plain(void) {
    return exp2(-FIG1_BITS * log(2));
}

static double fig1_fpr(double alpha, double c, double hot, double cold) {
    const double q = 1 - exp(-(alpha * hot + (1 - alpha) * cold) / FIG1_BITS);
    const double share = alpha * c / (alpha * c + 1 - alpha);
    return share * pow(q, hot) + (1 - share) * pow(q, cold);
}

static unsigned fig1_round(double k) {
    return k < 0 ? 0 : (unsigned)(k + 0.5);
}

static fig1_point fig1_at(double alpha, double c) {
    fig1_point p = {alpha, c, fig1_round(FIG1_BITS * log(2) + (1 - alpha) * log2(c)),
                    fig1_round(FIG1_BITS * log(2) - alpha * log2(c)), 0};
    p.improvement = fig1_real_plain() / fig1_fpr(alpha, c, p.hot, p.cold);
    return p;
}

static double fig1_alpha(int i) {
    return i / (FIG1_GRID - 1.0);
}

static double fig1_c(int i) {
    return 1 + 9999.0 * i / (FIG1_GRID - 1.0);
}

/* The greatest improvement for alpha = 0, step, 2 step... 1 at c = 10000 */
static fig1_point fig1_best(int steps) {
    fig1_point best = {0};
    for (int i = 0; i <= steps; i++) {
        const fig1_point p = fig1_at((double)i / steps, 10000);
        if (p.improvement > best.improvement) best = p;
    }
    return best;
}

static void fig1_ranges(lab_options *o) {
    unsigned low[2] = {99, 99}, high[2] = {0, 0};
    for (int a = 0; a < FIG1_GRID; a++)
        for (int c = 0; c < FIG1_GRID; c++) {
            const fig1_point p = fig1_at(fig1_alpha(a), fig1_c(c));
            const unsigned k[2] = {p.hot, p.cold};
            for (int i = 0; i < 2; i++) {
                low[i] = k[i] < low[i] ? k[i] : low[i];
                high[i] = k[i] > high[i] ? k[i] : high[i];
            }
        }
    lab_say(o, "Over the grid the hot class has %u to %u bits and the cold one %u to %u.", low[0],
            high[0], low[1], high[1]);
    lab_promise(o, low[0] == 10 && high[0] == 23, "the hot class has 10 to 23 bits");
    lab_promise(o, low[1] == 0 && high[1] == 10, "the cold class has 0 to 10 bits");
}

static lab_check fig1_exact(double want, double got) {
    return (lab_check){want, got, NAN, 0.0006, 3};
}

void p001_run_figure1(lab_options *o) {
    const double c = 10000, alpha = 1 / log(c) - 1 / (c - 1), whole = pow(1 - exp(-10 / 14.0), 10);
    const fig1_point paper = fig1_best(FIG1_GRID - 1), coarse = fig1_best(100),
                     fine = fig1_best(1000);
    const double total = 200593 / o->scale, hot = paper.alpha * total;
    const eb_class classes[2] = {{10 * hot, hot, paper.alpha * c},
                                 {10 * (total - hot), total - hot, 1 - paper.alpha}};
    const uint8_t k[2] = {(uint8_t)paper.hot, (uint8_t)paper.cold};
    const p001_sample s = p001_simulate(o, classes, 2, k, FIG1_BITS * total);
    const double got = fig1_real_plain() / s.fpr, error = got * s.error / s.fpr;
    lab_table *t = lab_checks_new("greatest improvement, c = 10000", "expected");
    lab_check_row(o, t, "100 values of alpha in 0..1 (the paper prints 396.9)",
                  fig1_exact(396.923, paper.improvement));
    lab_check_row(o, t, "any alpha, any real k",
                  fig1_exact(399.748, (alpha * c + 1 - alpha) / pow(c, alpha)));
    lab_check_row(o, t, "alpha in steps of 0.01", fig1_exact(397.378, coarse.improvement));
    lab_check_row(o, t, "alpha in steps of 0.001", fig1_exact(398.908, fine.improvement));
    lab_check_row(o, t, "100 values, against a plain filter with k = 10",
                  fig1_exact(397.670, paper.improvement * whole / fig1_real_plain()));
    lab_check_row(o, t, "a real filter at the paper's point",
                  (lab_check){396.923, got, error, 4 * error + 2 * sqrt(o->scale), 1});
    lab_table_print(t, o);
    lab_say(o, "The paper's point: alpha = %.4f, %u bits for hot keys, %u for cold ones.",
            paper.alpha, paper.hot, paper.cold);
    lab_promise(o, paper.hot == 21 && paper.cold == 8, "21 and 8 bits at the best point");
    lab_promise(o, s.missed == 0, "the real filter misses no member");
    fig1_ranges(o);
}

void p001_run_surface(lab_options *o) {
    (void)o;
    puts("alpha,c,improvement,hot,cold");
    for (int a = 0; a < FIG1_GRID; a++) {
        for (int c = 0; c < FIG1_GRID; c++) {
            const fig1_point p = fig1_at(fig1_alpha(a), fig1_c(c));
            printf("%.6f,%.0f,%.4f,%u,%u\n", p.alpha, p.c, p.improvement, p.hot, p.cold);
        }
        putchar('\n');
    }
}

/* Rounding */

static fig1_point fig1_best_integers(double alpha, double c) {
    fig1_point best = {alpha, c, 0, 0, 0};
    for (unsigned hot = 1; hot <= 26; hot++)
        for (unsigned cold = 0; cold <= 12; cold++) {
            const double improvement = fig1_real_plain() / fig1_fpr(alpha, c, hot, cold);
            if (improvement > best.improvement)
                best = (fig1_point){alpha, c, hot, cold, improvement};
        }
    return best;
}

/* False positives of the library's integers over those of the real optimum; 1 where that would give
 * the cold class less than one bit. */
static double fig1_cost_of_weigh(double alpha, double c) {
    const double members = 1e6, hot = members * alpha, cold = members - hot;
    const eb_class classes[2] = {{10 * hot, hot, alpha * c}, {10 * cold, cold, 1 - alpha}};
    const double real = fig1_real_plain() * pow(c, alpha) / (alpha * c + 1 - alpha);
    uint8_t k[2];
    double fpr, plain;
    if (FIG1_BITS * log(2) - alpha * log2(c) < 1) return 1;
    if (eb_weigh(classes, 2, FIG1_BITS * members, EB_WEIGH_BEST, k, &fpr, &plain, NULL))
        lab_die("weighing two classes failed");
    return fpr / real;
}

typedef struct fig1_costs { /* the worst on the grid */
    double nearest, weigh;
    fig1_point at, best; /* of nearest */
} fig1_costs;

static fig1_costs fig1_worst(void) {
    fig1_costs worst = {0};
    for (int a = 1; a < FIG1_GRID - 1; a++)
        for (int i = 1; i < FIG1_GRID; i++) {
            const fig1_point p = fig1_at(fig1_alpha(a), fig1_c(i));
            const fig1_point best = fig1_best_integers(p.alpha, p.c);
            worst.weigh = fmax(worst.weigh, fig1_cost_of_weigh(p.alpha, p.c));
            if (best.improvement / p.improvement <= worst.nearest) continue;
            worst.nearest = best.improvement / p.improvement;
            worst.at = p;
            worst.best = best;
        }
    return worst;
}

void p001_run_rounding(lab_options *o) {
    const fig1_costs w = fig1_worst();
    double by_hash = 0;
    char what[120];
    for (double t = 0; t <= 1; t += 0.0001) by_hash = fmax(by_hash, exp2(t) * (1 - t / 2));
    lab_table *t = lab_checks_new("false positives, times those of the better", "expected");
    snprintf(what, sizeof what,
             "nearest (%u,%u) for the best integers (%u,%u), at worst: alpha %.3f, c %.0f",
             w.at.hot, w.at.cold, w.best.hot, w.best.cold, w.at.alpha, w.at.c);
    lab_check_row(o, t, what, (lab_check){1.069, w.nearest, NAN, 0.0006, 4});
    lab_check_row(o, t, "rounding by a hash for real bits, worst fraction",
                  (lab_check){1.0615, by_hash, NAN, 0.0001, 4});
    lab_table_row(t, "`eb_weigh` for real bits, worst on the grid|at most 1.032|%.4f|-|computed|%s",
                  w.weigh, w.weigh <= 1.0325 ? "agrees" : "DIFFERS");
    lab_promise(o, w.weigh <= 1.0325, "eb_weigh costs at most 3.2 %%, not %.4f", w.weigh);
    lab_table_print(t, o);
}
