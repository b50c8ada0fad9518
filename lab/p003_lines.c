/* p003_lines.c - lru with cache lines as buckets, at a false positive rate of 1e-6.
 *
 * Windows: half new keys, half repeats at an exact depth (distinct keys since),
 * uniform up to a share of the slots; the FNR beside its formula
 *     P(b, L) - b/L P(b+1, L),  P(b, L) = Prob(Poisson(L) >= b),  L = depth/lines.
 * And the plain case: a million distinct lines in 64 MiB, each several times. */
#include "paper_003.h"
#include <math.h>

static double lines_poisson_ge(double mean, unsigned least) {
    double term = exp(-mean), below = 0;
    for (unsigned i = 0; i < least; i++) {
        below += term;
        term *= mean / (i + 1);
    }
    return 1 - below;
}

static double lines_uniform_fnr(double per_line, unsigned b) {
    return lines_poisson_ge(per_line, b) - b / per_line * lines_poisson_ge(per_line, b + 1);
}

enum { LINES_SHARES = 7, LINES_COUNT = 8192, LINES_SLOTS = 16 };

typedef struct lines_run {
    const lab_options *o;
    lab_rates rates[LINES_SHARES];
} lines_run;

static double lines_share(size_t i) {
    return 0.3 + 0.1 * (double)i;
}

static void lines_job(void *ctx, size_t i) {
    lines_run *r = ctx;
    const double slots = LINES_COUNT * LINES_SLOTS;
    for (unsigned seed = 0; seed < r->o->seeds; seed++) {
        char spec[P003_SPEC];
        snprintf(spec, sizeof spec, "lru:cells=%.0f,print_bits=32,slots=%d,seed=%u", slots,
                 LINES_SLOTS, seed);
        lab_subject s = lab_filter("lru", spec);
        const lab_gap depth = {LAB_UNIFORM, lines_share(i) * slots, 0};
        const lab_watch watch = {.warm_up = 1000000};
        lab_run(lab_stream_depths(3000000, 0.5, depth, r->o->seed + seed + 1000 * i), &s, 1,
                &watch);
        lab_rates_pool(&r->rates[i], &s.rates);
    }
}

static void lines_windows(lab_options *o) {
    lines_run r = {.o = o};
    lab_parallel(o->threads, LINES_SHARES, lines_job, &r);
    lab_table *t =
        lab_table_new("depths up to, share of slots|FNR % of the formula|measured|error|FPR");
    for (size_t i = 0; i < LINES_SHARES; i++) {
        const double fnr = lab_rate_of(&r.rates[i], LAB_FNR);
        lab_table_row(t, "%.1f|%.4f|%.4f|%.4f|%.2g", lines_share(i),
                      100 * lines_uniform_fnr(lines_share(i) * LINES_SLOTS, LINES_SLOTS), 100 * fnr,
                      100 * lab_error_of(&r.rates[i], LAB_FNR), lab_rate_of(&r.rates[i], LAB_FPR));
        if (i <= 3)
            lab_promise(o, fnr < 0.01, "lru lines, depths up to %.1f of the slots: FNR %.3f %%",
                        lines_share(i), 100 * fnr);
    }
    lab_table_print(t, o);
}

static void lines_exact(lab_options *o) {
    lab_rates sum = {0};
    for (unsigned seed = 0; seed < o->seeds; seed++) {
        lab_subject s = lab_filter("lru", "lru:memory=64M,fpr=1e-6");
        lab_run(lab_stream_copies(4000000, 1000000, o->seed + seed), &s, 1, NULL);
        lab_rates_pool(&sum, &s.rates);
    }
    lab_say(o,
            "A million distinct lines, four million records, 64 MiB, %u seeds: %llu of %llu new "
            "lines lost, %llu of %llu repeats passed.",
            o->seeds, (unsigned long long)sum.false_positives, (unsigned long long)sum.distinct,
            (unsigned long long)sum.false_negatives, (unsigned long long)sum.repeats);
    lab_promise(o, sum.false_positives == 0, "no line is lost");
    lab_promise(o, sum.false_negatives == 0, "no repeat passes");
}

void p003_run_lines(lab_options *o) {
    lines_windows(o);
    lines_exact(o);
}
