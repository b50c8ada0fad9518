/* orders.c - filters of our own on streams in every order: do defaults hold where nobody tuned? */
#include "lab.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ORDERS_MAX = 6, ORDERS_LINES = 4096, ORDERS_SLOTS = 20 };

typedef struct orders_filter {
    const char *name, *spec; /* without seed */
} orders_filter;

typedef struct orders_grid {
    const lab_options *o;
    const char *const *streams;
    const orders_filter *filters;
    size_t count;
    double slots;
    uint64_t records;
    lab_rates *rates; /* [stream][seed][filter] */
} orders_grid;

static lab_rates *orders_rates(const orders_grid *g, size_t stream, size_t seed) {
    return g->rates + (stream * g->o->seeds + seed) * g->count;
}

static void orders_job(void *ctx, size_t i) {
    const orders_grid *g = ctx;
    const size_t stream = i / g->o->seeds, seed = i % g->o->seeds;
    lab_subject subjects[ORDERS_MAX];
    for (size_t k = 0; k < g->count; k++) subjects[k] = lab_filter("", g->filters[k].spec);
    lab_run(lab_stream_named(g->streams[stream], g->slots, g->records, g->o->seed + seed), subjects,
            g->count, NULL);
    for (size_t k = 0; k < g->count; k++) orders_rates(g, stream, seed)[k] = subjects[k].rates;
}

/* Mean over seeds; the error from their scatter. */
static double orders_mean(const orders_grid *g, size_t stream, size_t filter, double *error) {
    double sum = 0, squares = 0;
    const unsigned n = g->o->seeds;
    for (unsigned i = 0; i < n; i++) {
        const double x = lab_rate_of(&orders_rates(g, stream, i)[filter], LAB_FNR);
        sum += x;
        squares += x * x;
    }
    const double mean = sum / n;
    *error = n > 1 ? sqrt(fmax(0, squares / n - mean * mean) / (n - 1)) : NAN;
    return mean;
}

static double orders_worst(const orders_grid *g, size_t stream, size_t filter) {
    double worst = 0;
    for (unsigned i = 0; i < g->o->seeds; i++) {
        const lab_rates *const r = orders_rates(g, stream, i);
        worst = fmax(worst, lab_rate_of(&r[filter], LAB_FNR) / lab_rate_of(&r[0], LAB_FNR));
    }
    return worst;
}

static orders_grid orders_run(lab_options *o, const char *const *streams,
                              const orders_filter *filters, double slots, uint64_t records) {
    orders_grid g = {o, streams, filters, 0, slots, records, NULL};
    size_t n = 0;
    while (streams[n]) n++;
    while (filters[g.count].name) g.count++;
    g.rates = lab_alloc(n * o->seeds * g.count, sizeof *g.rates);
    lab_parallel(o->threads, n * o->seeds, orders_job, &g);
    return g;
}

/* FNR of each filter, the second over the first, and the geometric mean of that. */
static double orders_print(lab_options *o, const orders_grid *g) {
    double logs = 0, error;
    size_t n = 0;
    lab_table *const t = lab_table_new("stream|FNR % of recent|adaptive|error|ratio|worst seed");
    for (; g->streams[n]; n++) {
        const double first = orders_mean(g, n, 0, &error), second = orders_mean(g, n, 1, &error);
        lab_table_row(t, "%s|%.4g|%.4g|%.2g|%.3f|%.3f", g->streams[n], 100 * first, 100 * second,
                      100 * error, second / first, orders_worst(g, n, 1));
        logs += log(fmax(second, 1e-6) / fmax(first, 1e-6));
    }
    lab_table_print(t, o);
    free(g->rates);
    return exp(logs / (double)n);
}

static const char *const orders_tuned[] = {"loop:0.6",
                                           "loop:0.9",
                                           "loop:1.1",
                                           "loop:1.65",
                                           "loop:2.5",
                                           "two:1.1",
                                           "two:1.65",
                                           "twoshuf:1.65",
                                           "passes:1.2",
                                           "passes:2.5",
                                           "zipf0.7:10",
                                           "zipf1.0:3",
                                           "zipf1.0:10",
                                           "zipf1.2:10",
                                           "unif:0.8",
                                           "unif:1.5",
                                           "exp:0.3",
                                           "exp:1",
                                           "par:0.01",
                                           "logn:0.03",
                                           "burst:0.4",
                                           "drift:0.05",
                                           "drift:0.5",
                                           "scan:3",
                                           "scan:10",
                                           "scanburst:1",
                                           "shuf:2",
                                           "shuf:4",
                                           "oldhot:1.5",
                                           "loop:1.1+exp:0.3+zipf1.0:10+loop:1.65",
                                           "exp:0.3+scan:10+exp:0.3+scan:10",
                                           "unif:0.5+two:1.65",
                                           "loop:1.65+unif:0.8",
                                           NULL};

static const char *const orders_held_out[] = {"loop:1.3",
                                              "loop:0.75",
                                              "two:2",
                                              "twoshuf:1.3",
                                              "passes:1.6",
                                              "zipf0.7:4",
                                              "zipf1.0:5",
                                              "zipf1.2:30",
                                              "zipf0.9:20",
                                              "unif:0.65",
                                              "unif:1.1",
                                              "unif:2.2",
                                              "exp:0.5",
                                              "exp:2",
                                              "par:0.03",
                                              "logn:0.06",
                                              "burst:0.8",
                                              "burst:0.25",
                                              "drift:0.1",
                                              "drift:1",
                                              "scan:5",
                                              "scanburst:2",
                                              "shuf:3",
                                              "oldhot:2.5",
                                              "exp:0.5+loop:1.3",
                                              "zipf1.0:5+unif:1.1+two:1.3",
                                              "scan:5+exp:0.5+scan:5",
                                              "loop:1.3+unif:1.1+loop:2",
                                              NULL};

static const char *const orders_recent[] = {
    "unif:0.8", "unif:1.1",  "unif:1.5",  "unif:2.2",    "exp:0.5", "exp:1", "exp:2",
    "par:0.03", "logn:0.06", "burst:0.8", "scanburst:1", "shuf:3",  NULL};

static orders_grid orders_lru_run(lab_options *o, const char *const *streams, unsigned lines) {
    char adaptive[80], recent[80];
    const unsigned memory = lines * 64 + 576; /* with the head and what a filter costs besides */
    snprintf(adaptive, sizeof adaptive, "lru:print_bits=24,memory=%u", memory);
    snprintf(recent, sizeof recent, "lru:print_bits=24,keep=recent,memory=%u", memory);
    const orders_filter filters[] = {{"recent", recent}, {"adaptive", adaptive}, {0}};
    lab_say(o, "%u lines of %u slots:", lines, ORDERS_SLOTS);
    const uint64_t slots = lines * ORDERS_SLOTS;
    return orders_run(o, streams, filters, (double)slots, slots < 50000 ? 66 * slots : 4000000);
}

static void orders_lru_on(lab_options *o, const char *const *streams, unsigned lines) {
    const orders_grid g = orders_lru_run(o, streams, lines);
    const double mean = orders_print(o, &g);
    lab_say(o, "Geometric mean of the ratios: %.3f", mean);
    lab_promise(o, mean <= 0.85, "geometric mean of adaptive/recent: %.3f, at most 0.85", mean);
}

static void orders_lru(lab_options *o) {
    orders_lru_on(o, orders_tuned, ORDERS_LINES);
}

static void orders_lru_held_out(lab_options *o) {
    orders_lru_on(o, orders_held_out, 3000);
}

static void orders_lru_recent(lab_options *o) {
    static const unsigned lines[] = {256, 1024, 4096};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const orders_grid g = orders_lru_run(o, orders_recent, lines[i]);
        (void)orders_print(o, &g);
    }
}

static const lab_experiment orders_experiments[] = {
    {"lru", "keep=adaptive beside keep=recent, on the streams it was tuned on", orders_lru},
    {"held-out", "the same on streams that nobody tuned for", orders_lru_held_out},
    {"recent", "small filters on streams where the last keys are all that counts",
     orders_lru_recent},
    {0}};

const lab_paper lab_orders = {
    "orders", "our filters on streams in every order", orders_experiments, "", 1, 2};
