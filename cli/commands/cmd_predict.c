/* cmd_predict.c - predict: what theory predicts for filters, as numbers or as curves. */
#include "io.h"
#include "options/options.h"
#include "output/plot.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PREDICT_SPECS = 6 };

typedef struct predict_own { /* options of its own */
    bool plot;
    const char *svg, *over; /* NULL: not given */
} predict_own;

static eb_workload predict_load(const settings *set) {
    return (eb_workload){.size = sizeof(eb_workload),
                         .items = set->items,
                         .distinct = set->distinct,
                         .zipf = set->zipf,
                         .gap = set->gap};
}

static void predict_ask(const char *spec, const eb_workload *load, const double *items, size_t n,
                        eb_prediction *out) {
    eb_error err;
    out->size = sizeof *out;
    if (eb_predict(spec, load, items, n, out, &err) != EB_OK) cli_fail("%s", err.text);
}

static void predict_describe(const char *spec, eb_spec_info *info) {
    eb_error err;
    EB_INIT(*info);
    if (eb_spec_describe(spec, info, &err) != EB_OK) cli_fail("%s", err.text);
}

/* ---- Numbers. */

static void predict_rate(report *r, const char *key, const char *label, double rate, double low,
                         double high) {
    char text[64];
    if (r->json || !isnan(rate)) {
        report_real(r, key, label, rate);
        return;
    }
    if (low <= 0 && high >= 1)
        snprintf(text, sizeof text, "unknown");
    else
        snprintf(text, sizeof text, "%.4g to %.4g", low, high);
    report_text(r, key, label, text);
}

/* What was told and is not in the formulas. */
static void predict_unused(uint32_t unused) {
    static const struct {
        uint32_t bit;
        const char *option;
    } options[] = {
        {EB_UNUSED_DISTINCT, "--distinct"}, {EB_UNUSED_ZIPF, "--zipf"}, {EB_UNUSED_GAP, "--gap"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (unused & options[i].bit)
            cli_warn(
                "the formulas of this kind ignore %s: its rates are those without it, or bounds",
                options[i].option);
}

/* The stream to predict for.  Without --items and --distinct, what the spec plans for. */
static eb_workload predict_stream(const settings *set, const char *spec, char text[96]) {
    eb_workload load = predict_load(set);
    char items[32], distinct[32];
    double planned;
    if (load.items <= 0 && load.distinct <= 0 &&
        eb_spec_get(spec, "distinct", NULL, 0, &planned, NULL) == EB_OK && planned > 0)
        load.distinct = planned;
    if (load.items <= 0 && load.distinct <= 0)
        snprintf(text, 96, "endless");
    else if (load.items <= 0 || load.distinct <= 0 || load.items == load.distinct)
        snprintf(text, 96, "%s keys, all distinct",
                 human_number(items, fmax(load.items, load.distinct)));
    else
        snprintf(text, 96, "%s keys, %s distinct", human_number(items, load.items),
                 human_number(distinct, load.distinct));
    return load;
}

static void predict_print(const settings *set, const char *spec) {
    char stream[96];
    const eb_workload load = predict_stream(set, spec, stream);
    eb_prediction p;
    eb_spec_info info;
    predict_describe(spec, &info);
    predict_ask(spec, &load, NULL, 1, &p);
    report r;
    report_begin(&r, stdout, set->json);
    report_text(&r, "filter", "filter", info.canonical);
    report_bytes(&r, "bytes", "memory", (double)info.bytes);
    report_text(&r, "stream", "stream", stream);
    report_real(&r, "fpr", "false positive rate", p.fpr);
    predict_rate(&r, "mean_fpr", "  mean so far", p.mean_fpr, p.fpr_low, p.fpr_high);
    report_real(&r, "fnr", "false negative rate", p.fnr);
    predict_rate(&r, "mean_fnr", "  mean so far", p.mean_fnr, p.fnr_low, p.fnr_high);
    if (set->json) {
        report_real(&r, "fpr_low", "", p.fpr_low);
        report_real(&r, "fpr_high", "", p.fpr_high);
        report_real(&r, "fnr_low", "", p.fnr_low);
        report_real(&r, "fnr_high", "", p.fnr_high);
        report_real(&r, "worst_fpr", "", p.most_fpr);
        report_real(&r, "accuracy", "", p.accuracy);
    }
    report_real(&r, "fill", "fill", p.fill);
    if (p.settles_after > 0 || set->json)
        report_real(&r, "settles_after", "keys until settled", p.settles_after);
    if (p.error_bound >= 0) {
        report_real(&r, "wrong", "wrong counts", p.wrong);
        report_real(&r, "error", "error, root mean sq.", p.error);
        report_real(&r, "error_bound", "  at most, mostly", p.error_bound);
        report_real(&r, "bits", "bits for a counter", p.bits);
    }
    report_end(&r);
    predict_unused(p.unused);
}

/* ---- Curves. */

static void predict_points(plot *p, double from, double to) {
    p->points = PLOT_POINTS;
    for (size_t i = 0; i < PLOT_POINTS; i++)
        p->x[i] = fmin(to, from * pow(to / from, (double)i / (PLOT_POINTS - 1)));
    p->x[PLOT_POINTS - 1] = to;
}

static void predict_put(plot *p, size_t curve, size_t i, double fpr, double fnr) {
    p->y[0][curve][i] = fpr;
    p->y[1][curve][i] = fnr;
}

static void predict_over_stream(plot *p, const eb_workload *load, const char *spec, size_t curve) {
    eb_prediction out[PLOT_POINTS];
    predict_ask(spec, load, p->x, p->points, out);
    for (size_t i = 0; i < p->points; i++)
        predict_put(p, curve, i, isnan(out[i].fpr) ? out[i].mean_fpr : out[i].fpr,
                    isnan(out[i].fnr) ? out[i].mean_fnr : out[i].fnr);
}

static void predict_over_gap(plot *p, const eb_workload *load, const char *spec, size_t curve) {
    for (size_t i = 0; i < p->points; i++) {
        eb_workload at = *load;
        eb_prediction out;
        at.gap = p->x[i];
        predict_ask(spec, &at, NULL, 1, &out);
        predict_put(p, curve, i, out.mean_fpr, out.mean_fnr);
    }
}

/* The spec with another memory; false: it cannot be so small or large. */
static bool predict_resized(const char *spec, double bytes, eb_spec_info *info) {
    char text[EB_SPEC_MAX], kept[EB_SPEC_MAX] = "";
    const size_t kind = strcspn(spec, ":");
    for (const char *at = spec + kind; *at;) {
        const size_t n = strcspn(++at, ",");
        if (strncmp(at, "memory=", 7) != 0 && strlen(kept) + n + 2 < sizeof kept) {
            strcat(kept, ",");
            strncat(kept, at, n);
        }
        at += n;
    }
    EB_INIT(*info);
    if (snprintf(text, sizeof text, "%.*s:memory=%.0f%s", (int)kind, spec, bytes, kept) >=
        (int)sizeof text)
        return false;
    return eb_spec_describe(text, info, NULL) == EB_OK;
}

static void predict_over_memory(plot *p, const eb_workload *load, const char *spec, size_t curve) {
    bool any = false;
    for (size_t i = 0; i < p->points; i++) {
        eb_prediction out = {.size = sizeof out, .mean_fpr = NAN, .mean_fnr = NAN};
        eb_spec_info info;
        if (predict_resized(spec, p->x[i], &info)) {
            predict_ask(info.canonical, load, NULL, 1, &out);
            any = true;
        }
        predict_put(p, curve, i, out.mean_fpr, out.mean_fnr);
    }
    if (!any) cli_fail("%s: no curve over memory, because the spec sets the number of cells", spec);
}

/* Where a curve begins and ends. */
static void predict_range(plot *p, const settings *set, const char *const *specs, size_t n,
                          bool memory, bool gap) {
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < n; i++) {
        eb_spec_info info;
        predict_describe(specs[i], &info);
        least = fmin(least, (double)info.bytes);
        most = fmax(most, (double)info.bytes);
    }
    if (memory)
        predict_points(p, fmax(1024, least / 32), fmin(64 * 0x1p40, most * 32));
    else if (gap)
        predict_points(p, 1, fmax(1e3, set->items > 0 ? set->items : 64 * most));
    else if (set->items > 0)
        predict_points(p, fmax(1, set->items / 1e4), set->items);
    else
        predict_points(p, most / 1e3, most * 64);
}

static void predict_json_curve(const plot *p, const char *over, size_t curve) {
    const struct {
        const char *name;
        const double *values;
    } rows[] = {{"x", p->x}, {"fpr", p->y[0][curve]}, {"fnr", p->y[1][curve]}};
    fputs("{\"filter\":", stdout);
    json_string(stdout, p->curve[curve]);
    printf(",\"over\":\"%s\"", over);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        printf(",\"%s\":[", rows[r].name);
        for (size_t i = 0; i < p->points; i++) {
            if (i > 0) putchar(',');
            json_number(stdout, rows[r].values[i]);
        }
        putchar(']');
    }
    puts("}");
}

static void predict_save(const plot *p, const char *path) {
    char *text = NULL;
    size_t length = 0;
    FILE *const memory = open_memstream(&text, &length);
    if (!memory) cli_fail("out of memory");
    plot_svg(p, memory);
    if (fclose(memory) != 0) cli_fail("out of memory");
    atomic_file file;
    atomic_open(&file, path);
    atomic_write(&file, text, length);
    atomic_commit(&file);
    free(text);
}

static void predict_draw(const settings *set, const char *const *specs, size_t n) {
    const predict_own *const own = set->own;
    const eb_workload load = predict_load(set);
    const char *const over = own->over ? own->over : "stream";
    const bool memory = strcmp(over, "memory") == 0, gap = strcmp(over, "gap") == 0;
    static plot p;
    p.x_name = memory ? "memory" : gap ? "distinct keys between a key and its repeat" : "keys";
    p.panel[0] = "false positives";
    p.panel[1] = "false negatives";
    p.x_bytes = memory;
    p.curves = n;
    predict_range(&p, set, specs, n, memory, gap);
    for (size_t i = 0; i < n; i++) {
        p.curve[i] = specs[i];
        (memory ? predict_over_memory
         : gap  ? predict_over_gap
                : predict_over_stream)(&p, &load, specs[i], i);
    }
    if (own->svg) predict_save(&p, own->svg);
    if (set->json)
        for (size_t i = 0; i < n; i++) predict_json_curve(&p, over, i);
    else if (own->plot || !own->svg)
        plot_terminal(&p, stdout, isatty(STDOUT_FILENO) == 1);
}

static int run_predict(const cli_command *c, const settings *set, char **operands, size_t n) {
    const predict_own *const own = set->own;
    const char *const *const specs = (const char *const *)operands;
    if (set->items > 0 && set->distinct > set->items)
        cli_misuse(c, "--distinct must not be more than --items");
    if (own->plot || own->svg || own->over)
        predict_draw(set, specs, n);
    else
        for (size_t i = 0; i < n; i++) {
            if (i > 0 && !set->json) putchar('\n');
            predict_print(set, specs[i]);
        }
    finish_stdout();
    return STATUS_YES;
}

/* ---- Options and help. */
#define OWN predict_own

static const cli_option predict_options[] = {
    OPTION(0, "items", "COUNT", OPT_COUNT, items,
           "Keys in the stream so far, repeats included, such as 1e9 or 10M. (default: as many as "
           "SPEC is planned for with distinct=, all different; else an endless stream)"),
    OPTION(0, "distinct", "COUNT", OPT_COUNT, distinct,
           "Distinct keys among them. (default: all of them)"),
    OPTION(0, "gap", "COUNT", OPT_COUNT, gap,
           "Distinct keys between a key and its repeat. (default: spread over the stream)"),
    OPTION(0, "zipf", "SKEW", OPT_REAL, zipf, "Skew of the keys' frequencies; 0: uniform."),
    HEADING("Curves"),
    OWN_FLAG(0, "plot", plot, "Draw the rates in the terminal; several SPECs in one plot."),
    OWN_OPTION(0, "svg", "FILE", OPT_TEXT, svg, "Draw them as a picture."),
    OWN_CHOICE("over", "WHAT", "stream|memory|gap", over,
               "The horizontal axis: the keys of the stream, the memory of the filter, or the gap "
               "between a key and its repeat. (default: stream)"),
    HEADING("Reports"),
    FLAG(0, "json", json, "One JSON object for each SPEC; with --over, the points of its curve."),
    END};

static const cli_example predict_examples[] = {
    {"everbloom predict lru:memory=64M --gap 1e7",
     "How often is a repeat missed ten million keys later?"},
    {"everbloom predict --plot --over memory --distinct 1e6 --items 1e7 bloom lru",
     "Both rates, by memory, of two filters."},
    {NULL, NULL}};

const cli_command command_predict = {
    .own = sizeof(OWN),
    .name = "predict",
    .operands = "SPEC...",
    .summary = "predict the error rates of a filter",
    .text = "Prints what theory predicts for a filter after a stream: the memory, the "
            "false-positive and false-negative rates for the next key, their mean over the stream, "
            "and when they settle. With --plot and --svg, draws them.",
    .options = predict_options,
    .examples = predict_examples,
    .min_operands = 1,
    .max_operands = PREDICT_SPECS,
    .run = run_predict};
