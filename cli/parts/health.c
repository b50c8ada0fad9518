/* health.c - see health.h.
 *
 * The plan of a Bloom filter with m bits, k a key, is m ln 2 / k distinct keys: half of the bits
 * are set then, and a new key is taken for a known one with a chance of 2^-k.  k is a whole number,
 * so a filter made for a number of keys may reach its plan with a few more bits set: 2^-(1 - 1/2k)
 * of them at most. */
#include "health.h"
#include "filterfile.h"
#include <everbloom/query.h>
#include <math.h>

enum { LOOKS = 256 }; /* a look at the cells after this part of the plan at the earliest */

static bool fills_up(const eb_filter *f) {
    return filter_is(f, "bloom") && filter_option(f, "grow") == 0;
}

static double planned_keys(const eb_filter *f, const eb_stats *s) {
    return floor((double)s->cells * log(2) / (double)filter_option(f, "k"));
}

static double planned_rate(const eb_filter *f) {
    return exp2(-(double)filter_option(f, "k"));
}

static bool beyond_plan(const eb_filter *f, const eb_stats *s) {
    const double fill = (double)s->cells_used / (double)s->cells;
    return fills_up(f) && fill > 1.01 * exp2(-(1 - 0.5 / (double)filter_option(f, "k")));
}

static void tell(health *h, const eb_filter *f, const eb_stats *s) {
    char keys[32], planned[32], now[32];
    h->told = true;
    cli_warn("the filter is beyond its plan: it was made for about %s distinct keys with a "
             "false-positive rate of %s; now the rate is %s, and it rises with every new key: give "
             "more -m, or --on-full grow",
             human_number(keys, planned_keys(f, s)), human_number(planned, planned_rate(f)),
             human_number(now, s->fpr));
}

/* A new key sets at most k bits, so half of them cannot be set any earlier. */
static uint64_t keys_to_half(const eb_filter *f, const eb_stats *s) {
    const uint64_t k = filter_option(f, "k"), half = s->cells / 2, least = s->cells / k / LOOKS + 1;
    const uint64_t keys = s->cells_used < half ? (half - s->cells_used) / k : 0;
    return keys > least ? keys : least;
}

void health_open(health *h, const eb_filter *f) {
    *h = (health){.watched = fills_up(f)};
    if (h->watched) health_watch(h, f, 0);
}

void health_watch(health *h, const eb_filter *f, uint64_t new_keys) {
    if (!h->watched || h->told || new_keys < h->due) return;
    const eb_stats s = filter_stats(f);
    if (beyond_plan(f, &s))
        tell(h, f, &s);
    else
        h->due = new_keys + keys_to_half(f, &s);
}

void health_report(report *r, const eb_filter *f, const eb_stats *stats) {
    if (fills_up(f)) {
        report_amount(r, "planned_keys", "made for keys", planned_keys(f, stats));
        report_real(r, "planned_fpr", "at a rate of", planned_rate(f));
        report_text(r, "beyond_plan", "beyond its plan", beyond_plan(f, stats) ? "yes" : "no");
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
