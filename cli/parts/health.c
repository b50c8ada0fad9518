/* health.c - see health.h.
 *
 * The plan of a Bloom filter is the number of distinct keys for which its bits a key are the best.
 * With m bits, k a key, that is m ln 2 / k: half of the bits are set then, and a new key is taken
 * for a known one with a chance of 2^-k.  With one cache line a key it is the number for which
 * k - 1 and k + 1 bits a key would be as good as each other.  k is a whole number, so a filter
 * made for a number of keys may reach its plan with a few more: k / (k - 1/2) times as many at
 * most. */
#include "health.h"
#include "filterfile.h"
#include <everbloom/query.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKS = 256 }; /* a look at the cells after this part of the plan at the earliest */

typedef struct plan {
    double keys, rate;
    double fill; /* share of the bits; with more of them set it is beyond its plan */
} plan;

static bool fills_up(const eb_filter *f) {
    return filter_is(f, "bloom") && filter_option(f, "grow") == 0;
}

/* The false-positive rate after so many keys, if a key had so many bits. */
static double rate_with(const eb_filter *f, uint64_t k, double keys) {
    eb_workload load = {.size = sizeof load, .items = keys, .distinct = keys};
    eb_prediction p = {.size = sizeof p, .fpr = NAN};
    char spec[EB_SPEC_MAX], number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)k);
    if (eb_spec_set(eb_spec(f), "k", number, spec, sizeof spec, NULL) == EB_OK)
        (void)eb_predict(spec, &load, NULL, 1, &p, NULL);
    return p.fpr;
}

static double best_keys_of_lines(const eb_filter *f, double bits, uint64_t k) {
    enum { STEPS = 16, K_MAX = 32 };
    const uint64_t fewer = k > 1 ? k - 1 : k, more = k < K_MAX ? k + 1 : k;
    double low = bits / 1e4, high = 2 * bits;
    for (int i = 0; i < STEPS; i++) {
        const double middle = sqrt(low * high);
        *(rate_with(f, more, middle) < rate_with(f, fewer, middle) ? &low : &high) = middle;
    }
    return sqrt(low * high);
}

static plan plan_of(const eb_filter *f, const eb_stats *s) {
    const uint64_t k = filter_option(f, "k");
    const double bits = (double)s->cells, most = (double)k / ((double)k - 0.5);
    plan p = {.keys = bits * log(2) / (double)k, .rate = exp2(-(double)k)};
    if (strstr(eb_spec(f), ",layout=line")) {
        p.keys = best_keys_of_lines(f, bits, k);
        p.rate = rate_with(f, k, p.keys);
    }
    p.fill = -1.01 * expm1(-most * p.keys * (double)k / bits);
    p.keys = floor(p.keys);
    return p;
}

static void tell(const plan *p, const eb_stats *s) {
    char keys[32], planned[32], now[32];
    cli_warn("the filter is beyond its plan: it was made for about %s distinct keys with a "
             "false-positive rate of %s; now the rate is %s, and it rises with every new key: give "
             "more -m, or --on-full grow",
             human_number(keys, p->keys), human_number(planned, p->rate),
             human_number(now, s->fpr));
}

/* A new key sets at most k bits, so the others cannot be set any earlier. */
static uint64_t keys_until(const eb_filter *f, const eb_stats *s, double fill) {
    const uint64_t k = filter_option(f, "k"), least = s->cells / k / LOOKS + 1;
    const uint64_t bits = (uint64_t)fmin(fill * (double)s->cells, (double)s->cells);
    const uint64_t keys = s->cells_used < bits ? (bits - s->cells_used) / k : 0;
    return keys > least ? keys : least;
}

static void look(health *h, const eb_filter *f, const eb_stats *s, uint64_t new_keys) {
    const double fill = (double)s->cells_used / (double)s->cells;
    if (fill <= h->fill) {
        h->due = new_keys + keys_until(f, s, h->fill);
        return;
    }
    const plan p = plan_of(f, s);
    tell(&p, s);
    h->told = true;
}

void health_open(health *h, const eb_filter *f) {
    *h = (health){.watched = fills_up(f)};
    if (!h->watched) return;
    const eb_stats s = filter_stats(f);
    h->fill = plan_of(f, &s).fill;
    look(h, f, &s, 0);
}

void health_watch(health *h, const eb_filter *f, uint64_t new_keys) {
    if (!h->watched || h->told || new_keys < h->due) return;
    const eb_stats s = filter_stats(f);
    look(h, f, &s, new_keys);
}

void health_report(report *r, const eb_filter *f, const eb_stats *stats) {
    if (fills_up(f)) {
        const plan p = plan_of(f, stats);
        const bool beyond = (double)stats->cells_used > p.fill * (double)stats->cells;
        report_amount(r, "planned_keys", "made for keys", p.keys);
        report_real(r, "planned_fpr", "at a rate of", p.rate);
        report_text(r, "beyond_plan", "beyond its plan", beyond ? "yes" : "no");
    }
    if (eb_caps(f) & EB_CAN_COUNT) report_count(r, "saturated", "full counters", stats->saturated);
}

int counters_verdict(const eb_filter *f) {
    const uint64_t n = (eb_caps(f) & EB_CAN_COUNT) ? filter_saturated(f) : 0;
    if (n == 0) return STATUS_YES;
    cli_warn("%llu counter%s full, so counts may be far too high or unknown (inf): give "
             "more -m, or wider counters",
             (unsigned long long)n, n == 1 ? " is" : "s are");
    return STATUS_NO;
}

double total_of_filter(const eb_filter *f) {
    return eb_faded(f, 1) > 0 ? (double)filter_stats(f).adds : INFINITY;
}

double count_or_infinity(double count, double total) {
    return count >= COUNT_MOST || count > total * (1 + 1e-6) + 1 ? INFINITY : count;
}

void print_count(FILE *to, double count) {
    if (isinf(count))
        fputs("inf", to);
    else
        fprintf(to, count == floor(count) ? "%.0f" : "%.6g", count);
}
