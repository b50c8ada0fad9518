/* compare_print.c - the tables of a comparison, and promises that were not kept. */
#include "compare.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct print_view {
    lab_options *o;
    const compare_plan *plan;
    const compare_result *results;
} print_view;

static const compare_result *print_of(const print_view *v, size_t k) {
    return v->results + k * v->o->seeds;
}

static compare_rate print_rate(const print_view *v, size_t k, compare_measure *measure) {
    return compare_of(print_of(v, k), v->o->seeds, measure);
}

static const char *print_order(const print_view *v, size_t k, compare_measure *measure) {
    if (k == 0) return "first";
    const int order = compare_order(print_rate(v, k, measure), print_rate(v, 0, measure));
    return order < 0 ? "lower" : order > 0 ? "higher" : "alike";
}

static void print_rates(const print_view *v) {
    lab_table *const t =
        lab_table_new("filter|bytes|ns a key|FPR %|error|FNR %|error|FPR to first|FNR to first");
    for (size_t k = 0; k < v->plan->filters; k++) {
        const compare_rate fpr = print_rate(v, k, compare_fpr), fnr = print_rate(v, k, compare_fnr);
        double seconds = 0, records = 0;
        for (unsigned i = 0; i < v->o->seeds; i++) {
            seconds += print_of(v, k)[i].seconds;
            records += (double)print_of(v, k)[i].records;
        }
        lab_table_row(t, "%s|%llu|%.1f|%.4g|%.2g|%.4g|%.2g|%s|%s", v->plan->filter[k],
                      (unsigned long long)print_of(v, k)->bytes, 1e9 * seconds / fmax(records, 1),
                      100 * fpr.rate, 100 * fpr.error, 100 * fnr.rate, 100 * fnr.error,
                      print_order(v, k, compare_fpr), print_order(v, k, compare_fnr));
    }
    lab_table_print(t, v->o);
}

static void print_share(char *row, size_t room, compare_share s) {
    const size_t len = strlen(row);
    if (s.all == 0)
        snprintf(row + len, room - len, "|-");
    else
        snprintf(row + len, room - len, "|%.4g", 100 * (double)s.wrong / (double)s.all);
}

static compare_share print_pool(const print_view *v, size_t k, size_t offset, size_t i) {
    compare_share sum = {0, 0};
    for (unsigned seed = 0; seed < v->o->seeds; seed++) {
        const compare_share *const s =
            (const compare_share *)(const void *)((const char *)&print_of(v, k)[seed] + offset);
        sum.all += s[i].all;
        sum.wrong += s[i].wrong;
    }
    return sum;
}

static void print_gaps(const print_view *v) {
    lab_say(v->o, "FNR %% by the records between a key and its repeat:");
    lab_table *const t = lab_table_new("filter|to 10|to 100|to 1000|to 1e4|to 1e5|to 1e6|more");
    for (size_t k = 0; k < v->plan->filters; k++) {
        char row[200] = "";
        for (size_t i = 0; i < COMPARE_GAPS; i++)
            print_share(row, sizeof row, print_pool(v, k, offsetof(compare_result, gap), i));
        lab_table_row(t, "%s%s", v->plan->filter[k], row);
    }
    lab_table_print(t, v->o);
}

static void print_importance(const print_view *v) {
    if (v->plan->law == COMPARE_EQUAL) return;
    lab_say(v->o,
            "FNR %% weighted by importance, and by fifths of the keys, the most important last:");
    lab_table *const t = lab_table_new("filter|weighted|error|to first|1|2|3|4|5|error|to first");
    for (size_t k = 0; k < v->plan->filters; k++) {
        const compare_rate w = print_rate(v, k, compare_weighted);
        const compare_rate top = print_rate(v, k, compare_top_fifth);
        char row[200] = "";
        for (size_t i = 0; i < COMPARE_FIFTHS; i++)
            print_share(row, sizeof row, print_pool(v, k, offsetof(compare_result, fifth), i));
        lab_table_row(t, "%s|%.4g|%.2g|%s%s|%.2g|%s", v->plan->filter[k], 100 * w.rate,
                      100 * w.error, print_order(v, k, compare_weighted), row, 100 * top.error,
                      print_order(v, k, compare_top_fifth));
    }
    lab_table_print(t, v->o);
}

static compare_rate print_rms(const compare_result *r) {
    return (compare_rate){sqrt(r->squares / fmax(1, (double)r->keys)), 0};
}

static compare_rate print_hot_rms(const compare_result *r) {
    return (compare_rate){sqrt(r->hot_squares / fmax(1, r->hot_keys)), 0};
}

static void print_counts(const print_view *v) {
    size_t counting = 0;
    for (size_t k = 0; k < v->plan->filters; k++) counting += print_of(v, k)->counts;
    if (counting == 0) return;
    lab_say(v->o,
            "Errors of counts at the end: root mean square of all keys and of the 1000 hottest:");
    lab_table *const t = lab_table_new("filter|all keys|error|hottest|error|wrong %|too low %");
    for (size_t k = 0; k < v->plan->filters; k++) {
        if (!print_of(v, k)->counts) continue;
        const compare_rate all = print_rate(v, k, print_rms), hot = print_rate(v, k, print_hot_rms);
        double wrong = 0, low = 0, keys = 0;
        for (unsigned i = 0; i < v->o->seeds; i++) {
            const compare_result *const r = &print_of(v, k)[i];
            wrong += (double)r->counts_wrong;
            low += (double)r->counts_low;
            keys += (double)r->keys;
        }
        lab_table_row(t, "%s|%.4g|%.2g|%.4g|%.2g|%.3g|%.3g", v->plan->filter[k], all.rate,
                      all.error, hot.rate, hot.error, 100 * wrong / fmax(keys, 1),
                      100 * low / fmax(keys, 1));
    }
    lab_table_print(t, v->o);
}

/* Promises */

/* The share of new keys lost that the library promises for a stream of this size; NAN: none. */
static double print_most_fpr(const char *spec, const compare_result *r) {
    const eb_workload w = {
        .size = sizeof w, .items = (double)r->records, .distinct = (double)r->fpr.all};
    eb_prediction p = {.size = sizeof p};
    return eb_predict(spec, &w, NULL, 1, &p, NULL) ? NAN : p.most_fpr;
}

static void print_promises(const print_view *v) {
    for (size_t k = 0; k < v->plan->filters; k++) {
        const compare_result *const r = print_of(v, k);
        const char *const spec = v->plan->filter[k];
        if (r->caps == 0) continue; /* a rival */
        const compare_rate fpr = print_rate(v, k, compare_fpr), fnr = print_rate(v, k, compare_fnr);
        const double most = print_most_fpr(spec, r);
        if (!isnan(most))
            lab_promise(v->o, fpr.rate <= most + 3 * fpr.error,
                        "%s: %.3g %% of the new keys are lost (error %.2g), at most %.3g %% are "
                        "promised",
                        spec, 100 * fpr.rate, 100 * fpr.error, 100 * most);
        if ((r->caps & EB_NO_FALSE_NEGATIVES) && !r->full)
            lab_promise(v->o, fnr.rate == 0,
                        "%s: %.3g %% of the repeats are missed, and none may be", spec,
                        100 * fnr.rate);
        if (r->counts && (r->caps & EB_NO_FALSE_NEGATIVES))
            lab_promise(v->o, r->counts_low == 0, "%s: %llu counts are too low, and none may be",
                        spec, (unsigned long long)r->counts_low);
    }
}

void lab_compare_print(lab_options *o, const compare_plan *plan) {
    compare_result *const results = lab_compare(o, plan);
    const print_view v = {o, plan, results};
    lab_say(o, "%s: %llu records, %llu distinct, %u seeds.", plan->stream,
            (unsigned long long)results->records, (unsigned long long)results->fpr.all, o->seeds);
    print_rates(&v);
    print_gaps(&v);
    print_importance(&v);
    print_counts(&v);
    print_promises(&v);
    for (size_t k = 0; k < plan->filters; k++)
        if (results[k * o->seeds].full) lab_say(o, "%s was full before the end.", plan->filter[k]);
    free(results);
}
