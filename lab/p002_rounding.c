/* p002_rounding.c - counters are whole numbers: what becomes of C = factor C when it is rounded,
 * when it is done late, and what the paper's two rules for a full counter lose. */
#include "paper_002.h"
#include <math.h>
#include <stdlib.h>

/* The factor in 65536ths, not below its true value. */
static uint64_t factor_up(double factor) {
    return (uint64_t)ceil(factor * 65536 - 1e-9);
}

typedef enum rounding { FLOOR, CEIL, NEAREST, RANDOM, ERA, ROUNDINGS } rounding;
static const char *const rounding_name[ROUNDINGS] = {"down", "up", "to the nearest", "at random",
                                                     "up, once in a half-life (`mode=era`)"};

static uint64_t fade(uint64_t c, double factor, rounding how, lab_rng *random) {
    const uint64_t product = c * factor_up(factor);
    switch (how) {
    case FLOOR:
        return product >> 16;
    case NEAREST:
        return (product + 32768) >> 16;
    case RANDOM:
        return (product + lab_below(random, 65536)) >> 16;
    default:
        return (product + 65535) >> 16;
    }
}

/* Where in its half-life epoch e is: 1 to 2. */
static double era_scale(double factor, size_t e) {
    const double halflives = (double)e * log2(1 / factor);
    return exp2(halflives - floor(halflives));
}

static bool era_ends(double factor, size_t e) { /* between epochs e-1 and e, at most once here */
    return floor((double)e * log2(1 / factor)) > floor(((double)e - 1) * log2(1 / factor));
}

typedef struct rounding_result {
    double under, worst_under, worst_over, mean_over;
    uint64_t idle; /* what is left of 10^6 in the end */
} rounding_result;

static void round_epoch(const p002_stream *s, size_t e, rounding how, unsigned fraction,
                        uint64_t *counter, lab_rng *random) {
    const double one = ldexp(1, (int)fraction);
    const uint64_t step = (uint64_t)(how == ERA ? ceil(one * era_scale(s->factor, e)) : one);
    for (size_t i = 0; i < s->keys; i++)
        if (how != ERA)
            counter[i] = fade(counter[i], s->factor, how, random);
        else if (e > 0 && era_ends(s->factor, e))
            counter[i] = (counter[i] + 1) / 2;
    for (size_t i = 0; i < s->arrivals; i++) counter[s->arrived[i]] += step;
}

static uint64_t idle_end(double factor, rounding how) {
    lab_rng random = {1};
    uint64_t c = 1000000;
    for (int i = 0; i < 5000; i++) c = how == ERA ? (c + 1) / 2 : fade(c, factor, how, &random);
    return c;
}

/* A counter for each key, so that nothing but rounding makes a difference. */
static rounding_result round_run(const lab_options *o, double factor, rounding how,
                                 unsigned fraction) {
    enum { EPOCHS = 60 };
    p002_stream s = p002_open(o, 1, factor, 1, o->seed);
    uint64_t *const counter = lab_alloc(s.keys, sizeof *counter);
    lab_rng random = {7};
    rounding_result r = {.idle = idle_end(factor, how)};
    for (size_t e = 0; e < EPOCHS; e++) {
        p002_epoch(&s);
        round_epoch(&s, e, how, fraction, counter, &random);
    }
    const double unit = ldexp(how == ERA ? era_scale(factor, EPOCHS - 1) : 1, (int)fraction);
    for (size_t i = 0; i < s.keys; i++) {
        const double error = (double)counter[i] / unit - s.count[i];
        r.under += error < -1e-9;
        r.worst_under = fmax(r.worst_under, -error);
        r.worst_over = fmax(r.worst_over, error);
        r.mean_over += error / (double)s.keys;
    }
    r.under /= (double)s.keys;
    free(counter);
    p002_close(&s);
    return r;
}

static void rounding_table(lab_options *o, double factor, unsigned fraction) {
    lab_table *t = lab_table_new("rounding|too low, % of keys|worst|mean error|too high at worst|"
                                 "1000000 ulp, left alone, end at");
    const double bound = ldexp(1, -(int)fraction) / (1 - factor);
    lab_say(o, "Factor %.2f, %u binary digits after the point: an ulp over (1 - factor) is %.3f.",
            factor, fraction, bound);
    for (rounding how = 0; how < ROUNDINGS; how++) {
        const rounding_result r = round_run(o, factor, how, fraction);
        lab_table_row(t, "%s|%.1f|%.3f|%+.3f|%.3f|%llu", rounding_name[how], 100 * r.under,
                      r.worst_under, r.mean_over, r.worst_over, (unsigned long long)r.idle);
        if (how == CEIL || how == ERA)
            lab_promise(o, r.under == 0, "rounding %s is never too low", rounding_name[how]);
        if (how == FLOOR)
            lab_promise(o, r.worst_under < bound,
                        "rounded down, counts are too low by less than %.3f", bound);
    }
    lab_table_print(t, o);
}

void p002_run_rounding(lab_options *o) {
    static const double factors[] = {.5, .9, .95, .99};
    static const uint64_t stuck[] = {1, 10, 20, 100};
    rounding_table(o, 0.9, 0);
    rounding_table(o, 0.9, 4);
    rounding_table(o, 0.97, 8);
    for (int i = 0; i < 4; i++)
        lab_promise(o, idle_end(factors[i], CEIL) == stuck[i],
                    "rounded up, a counter stops at %llu for factor %.2f, not at %llu",
                    (unsigned long long)stuck[i], factors[i],
                    (unsigned long long)idle_end(factors[i], CEIL));
    lab_say(o,
            "Rounded up, idle counters stop at 1, 10, 20 and 100 ulp for factors .5, .9, .95 and "
            ".99; halved, at 1 ulp for every factor.");
}

/* Fading late */

static size_t jumps_differ(double factor, unsigned epochs, bool era) {
    size_t differ = 0;
    for (uint64_t c = 1; c <= 5000; c++) {
        uint64_t steps = c;
        for (unsigned i = 0; i < epochs; i++)
            steps = era ? (steps + 1) / 2 : fade(steps, factor, CEIL, NULL);
        const uint64_t jump = era ? (c + (UINT64_C(1) << epochs) - 1) >> epochs
                                  : (uint64_t)ceil(pow(factor, epochs) * (double)c - 1e-9);
        differ += steps != jump;
    }
    return differ;
}

static size_t counts_differ(const p002_stream *s, const eb_filter *a, const eb_filter *b) {
    size_t differ = 0;
    for (uint32_t i = 0; i < s->keys; i++) {
        const eb_hash h = p002_hash(s, i);
        double count[2];
        calls_count(a, &h, 1, &count[0]);
        calls_count(b, &h, 1, &count[1]);
        differ += count[0] != count[1];
    }
    return differ;
}

/* Filters of which one is told the time eight times an epoch, the other not. */
static size_t real_differ(lab_options *o, const char *options) {
    p002_stream s = p002_open(o, 1, 0.9, P002_K / log(2), o->seed);
    eb_filter *const often = p002_filter(&s, options), *const once = p002_filter(&s, options);
    for (uint64_t e = 0; e < 30; e++) {
        p002_epoch(&s);
        p002_feed(&s, often);
        p002_feed(&s, once);
        for (uint64_t part = 1; e < 29 && part < 8; part++)
            if (eb_advance(often, (e * 8 + part) * s.arrivals / 8, NULL)) lab_die("no time passes");
    }
    (void)eb_advance(often, 60 * s.arrivals, NULL);
    (void)eb_advance(once, 60 * s.arrivals, NULL);
    const size_t differ = counts_differ(&s, often, once);
    eb_free(often);
    eb_free(once);
    p002_close(&s);
    return differ;
}

void p002_run_lazy(lab_options *o) {
    static const char *const modes[] = {"mode=basic,fraction=4", "mode=optimised,fraction=4",
                                        "mode=era"};
    const size_t jump = jumps_differ(.9, 10, false), era = jumps_differ(.5, 10, true);
    lab_table *t = lab_table_new("ten fadings at once instead of one by one|differ");
    lab_table_row(t, "`ceil(0.9^10 c)`, c = 1..5000|%zu of 5000", jump);
    lab_table_row(t, "`ceil(c / 2^10)`, c = 1..5000|%zu of 5000", era);
    lab_promise(o, jump > 4900, "a jump differs for nearly all values");
    lab_promise(o, era == 0, "shifts by half-lives never differ");
    for (int i = 0; i < 3; i++) {
        const size_t differ = real_differ(o, modes[i]);
        lab_table_row(t, "filters `%s`: time told eight times an epoch, or not|%zu keys", modes[i],
                      differ);
        lab_promise(o, differ == 0, "it does not matter how time passes, %s", modes[i]);
    }
    lab_table_print(t, o);
}

/* The two rules for a full counter */

typedef struct carry_filter { /* counters of 4-bit digits, as whole numbers */
    uint64_t *counter;
    bool all; /* the text: carry only "if ALL these counters get overflowed" */
} carry_filter;

static void carry_add(const p002_stream *s, carry_filter *f, uint32_t key) {
    uint64_t x = p002_hash(s, key);
    uint64_t *at[P002_K];
    unsigned full = 0;
    for (int j = 0; j < P002_K; j++, x = lab_mix(x)) {
        at[j] = &f->counter[x % s->cells];
        full += *at[j] % 16 == 15;
    }
    for (int j = 0; j < P002_K; j++)
        if (!f->all || full == P002_K || *at[j] % 16 != 15) ++*at[j];
}

static uint64_t carry_count(const p002_stream *s, const carry_filter *f, uint32_t key) {
    uint64_t x = p002_hash(s, key), least = UINT64_MAX;
    for (int j = 0; j < P002_K; j++, x = lab_mix(x)) {
        const uint64_t c = f->counter[x % s->cells];
        least = c < least ? c : least;
    }
    return least;
}

static void carry_run(lab_options *o, lab_table *t, bool all) {
    p002_stream s = p002_open(o, 1, 0.9, P002_K / log(2), o->seed);
    carry_filter f = {lab_alloc(s.cells, sizeof *f.counter), all};
    size_t under = 0;
    double worst = 0;
    for (int e = 0; e < 30; e++) {
        p002_epoch(&s);
        for (size_t i = 0; i < s.cells; i++) f.counter[i] = fade(f.counter[i], .9, CEIL, NULL);
        for (size_t i = 0; i < s.arrivals; i++) carry_add(&s, &f, s.arrived[i]);
    }
    for (uint32_t i = 0; i < s.keys; i++) {
        const double less = s.count[i] - (double)carry_count(&s, &f, i);
        under += less > 1e-6;
        worst = fmax(worst, less);
    }
    lab_table_row(t, "%s|%zu of %zu|%.1f",
                  all ? "the text: carry if all k counters are full"
                      : "the listing: each counter carries by itself",
                  under, s.keys, worst);
    lab_promise(o, all ? under > 0 : under == 0, "%s",
                all ? "the text's rule undercounts" : "the listing's rule does not");
    free(f.counter);
    p002_close(&s);
}

/* The library's optimised filter against its basic one with counters that never fill up. */
static size_t modes_differ(lab_options *o) {
    p002_stream s = p002_open(o, 1, 0.9, P002_K / log(2), o->seed);
    eb_filter *const basic = p002_filter(&s, "mode=basic,fraction=0");
    eb_filter *const optimised = p002_filter(&s, "mode=optimised,fraction=0");
    for (int e = 0; e < 30; e++) {
        p002_epoch(&s);
        p002_feed(&s, basic);
        p002_feed(&s, optimised);
    }
    const size_t differ = counts_differ(&s, basic, optimised);
    eb_free(basic);
    eb_free(optimised);
    p002_close(&s);
    return differ;
}

void p002_run_carry(lab_options *o) {
    lab_table *t = lab_table_new("rule|keys counted too low|by at most");
    carry_run(o, t, true);
    carry_run(o, t, false);
    lab_table_print(t, o);
    const size_t differ = modes_differ(o);
    lab_say(o,
            "Estimates of `mode=optimised` and `mode=basic` differ for %zu keys after 30 "
            "epochs.",
            differ);
    lab_promise(o, differ == 0, "optimised and basic answer the same");
}
