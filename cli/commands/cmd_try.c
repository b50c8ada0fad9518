/* cmd_try.c - try: the best filters for the user's own lines, predicted and measured.
 *
 * The first lines are kept as hashes, so that the truth is exact.  What they look like (skew, how
 * near repeats are) chooses the candidates, as 'everbloom plan' would; then each of them sees the
 * lines. */
#include "options/options.h"
#include "parts/filterfile.h"
#include "parts/sample.h"
#include "parts/stream.h"
#include <everbloom/query.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct try_own {             /* options of its own */
    double sample, max_fpr, max_fnr; /* 0: not given */
} try_own;

enum { TRY_CANDIDATES = 5, TRY_OFFERS = 3, TRY_BATCH = 4096, TRY_TIMED_LINES = 10000 };
static const double try_sample = 2e6, try_sample_max = 1e9;
static const double try_nearer = 1.5; /* odds of near repeats, to those in random order */

typedef struct try_result {
    char spec[EB_SPEC_MAX];
    double bytes, fpr, fnr; /* predicted */
    double lost, passed;    /* measured, lines */
    double seconds;
} try_result;

typedef struct trial {
    const settings *set;
    stream s;
    sample lines;
    try_result results[TRY_CANDIDATES];
    size_t n;
} trial;

static void try_take(stream *s, const eb_batch *batch) {
    trial *const t = s->ctx;
    memset(s->hit, 0, batch->n);
    for (size_t i = 0; i < batch->n && t->lines.n < t->lines.cap; i++)
        sample_add(&t->lines, batch->hash[i]);
    if (t->lines.n == t->lines.cap) s->stop = true;
}

/* ---- Candidates. */

static bool try_is_recent(const sample *s) {
    const double by_chance = s->near_expected;
    return s->near * (1 - by_chance) > try_nearer * by_chance * (1 - s->near) && s->near > 0.02;
}

static eb_workload try_load(const sample *s) {
    eb_workload w = {.size = sizeof w, .items = (double)s->n, .distinct = (double)s->distinct};
    if (!try_is_recent(s)) {
        w.order = EB_ORDER_SHUFFLED;
        w.zipf = s->zipf;
    }
    return w;
}

/* What the formulas say for the gaps that these lines have, or for their skew. */
static void try_predict(const sample *s, try_result *r) {
    eb_workload w = try_load(s);
    eb_prediction p = {.size = sizeof p};
    r->fpr = r->fnr = NAN;
    if (eb_predict(r->spec, &w, NULL, 1, &p, NULL) != EB_OK) return;
    r->fpr = p.mean_fpr;
    r->fnr = p.mean_fnr;
    if (!try_is_recent(s)) return;
    r->fnr = 0;
    for (int i = 0; i < SAMPLE_GAPS; i++) {
        w.gap = fmax(s->gap[i], 1e-6);
        if (eb_predict(r->spec, &w, NULL, 1, &p, NULL) != EB_OK) return;
        r->fnr += p.mean_fnr * s->weight[i];
    }
}

static void try_add(trial *t, const eb_offer *o) {
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->results[i].spec, o->spec) == 0) return;
    if (t->n == TRY_CANDIDATES) return;
    try_result *const r = &t->results[t->n++];
    snprintf(r->spec, sizeof r->spec, "%s", o->spec);
    r->bytes = o->bytes;
    try_predict(&t->lines, r);
}

static void try_plan(trial *t, eb_workload *w, double bytes) {
    const try_own *const own = t->set->own;
    const eb_goal goal = {.size = sizeof goal,
                          .load = w,
                          .options = "seed=1",
                          .max_bytes = bytes,
                          .max_fpr = own->max_fpr > 0 ? own->max_fpr : DEFAULT_MAX_DROP,
                          .max_fnr = own->max_fnr,
                          .prefer = EB_FEWEST_MISSES};
    eb_offer offers[TRY_OFFERS] = {{.size = sizeof offers[0]}};
    eb_error err;
    size_t n = 0;
    if (eb_plan(&goal, offers, TRY_OFFERS, &n, &err) != EB_OK) {
        if (err.status != EB_ELIMIT) cli_fail("%s", err.text);
        if (w->order == EB_ORDER_UNKNOWN) cli_warn("%s", err.text);
        return;
    }
    for (size_t i = 0; i < n; i++) try_add(t, &offers[i]);
}

/* ---- Measuring. */

static void try_measure(trial *t, try_result *r) {
    const sample *const s = &t->lines;
    static uint8_t seen[TRY_BATCH];
    eb_filter *f;
    eb_error err;
    if (eb_new(&f, r->spec, NULL, &err) != EB_OK) cli_fail("%s", err.text);
    if (eb_clear(f, &err) != EB_OK)
        cli_fail("%s", err.text); /* its memory is there before the clock starts */
    const clock_t start = clock();
    for (size_t i = 0; i < s->n; i += TRY_BATCH) {
        eb_batch b = eb_batch_hashes(s->hash + i, s->n - i < TRY_BATCH ? s->n - i : TRY_BATCH);
        b.seen = seen;
        if (eb_add_batch(f, &b, &err) != EB_OK) cli_fail("%s", err.text);
        for (size_t j = 0; j < b.n; j++) {
            r->lost += seen[j] && s->before[i + j] == 0;
            r->passed += !seen[j] && s->before[i + j] != 0;
        }
    }
    r->seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    eb_free(f);
}

/* ---- What is printed. */

static void try_plan_options(const trial *t, char *text, size_t cap) {
    const sample *const s = &t->lines;
    int n = snprintf(text, cap, "--items %zu --distinct %zu", s->n, s->distinct);
    if (try_is_recent(s))
        snprintf(text + n, cap - (size_t)n, " --order recent");
    else if (s->zipf > 0)
        snprintf(text + n, cap - (size_t)n, " --order shuffled --zipf %.2f", s->zipf);
    else
        snprintf(text + n, cap - (size_t)n, " --order shuffled");
}

static void try_describe(const trial *t) {
    const sample *const s = &t->lines;
    char a[32], b[32], d[32], text[160];
    printf("%zu lines, %zu distinct.\n", s->n, s->distinct);
    if (s->n == s->distinct) {
        if (s->n > 0) puts("No line repeats: any filter will do until one does.");
        return;
    }
    if (s->zipf > 0)
        printf("Skew: frequencies fall with the rank as Zipf's law with exponent %.2f.\n", s->zipf);
    else
        puts("Skew: none that could be told from chance.");
    printf("Order: %.3g %% of the repeats come within 1 %% of the lines; %.3g %% would in random "
           "order: %s.\n",
           100 * s->near, 100 * s->near_expected,
           try_is_recent(s) ? "repeats are recent" : "as if shuffled");
    printf("Half of the repeats come within %s distinct keys, 90 %% within %s, 99 %% within %s.\n",
           human_number(a, s->gap_half), human_number(b, s->gap_90), human_number(d, s->gap_99));
    try_plan_options(t, text, sizeof text);
    printf("For 'everbloom plan': %s\n", text);
}

/* A number of lines; a kind may have no formula for this stream. */
static const char *try_predicted(char buf[32], double lines) {
    const double few = 0.01; /* a chance in a hundred that it is one */
    if (lines > 0 && lines < few) return "less than 0.01";
    return isnan(lines) ? "not known" : human_number(buf, lines);
}

static void try_print(const trial *t, const try_result *r) {
    const sample *const s = &t->lines;
    const double repeats = (double)(s->n - s->distinct);
    char bytes[32], a[32], b[32];
    printf("\n%s\n  %s", r->spec, human_bytes(bytes, r->bytes));
    if (s->n >= TRY_TIMED_LINES) printf(", %.1f ns a line", 1e9 * r->seconds / (double)s->n);
    putchar('\n');
    printf("  new lines lost:    %.0f of %zu, predicted: %s\n", r->lost, s->distinct,
           try_predicted(a, r->fpr * (double)s->distinct));
    printf("  repeats that pass: %.0f of %.0f (%s %%), predicted: %s\n", r->passed, repeats,
           human_number(a, repeats > 0 ? 100 * r->passed / repeats : 0),
           try_predicted(b, r->fnr * repeats));
}

static void try_json(const trial *t) {
    const sample *const s = &t->lines;
    char text[160];
    report r;
    report_begin(&r, stdout, true);
    report_count(&r, "lines", "", s->n);
    report_count(&r, "distinct", "", s->distinct);
    report_real(&r, "zipf", "", s->zipf);
    report_real(&r, "near", "", s->near);
    report_real(&r, "near_expected", "", s->near_expected);
    report_text(&r, "order", "", try_is_recent(s) ? "recent" : "shuffled");
    report_real(&r, "gap_50", "", s->gap_half);
    report_real(&r, "gap_99", "", s->gap_99);
    try_plan_options(t, text, sizeof text);
    report_text(&r, "plan", "", text);
    fputs(",\"filters\":[", stdout);
    for (size_t i = 0; i < t->n; i++) {
        const try_result *const f = &t->results[i];
        const double repeats = (double)(s->n - s->distinct);
        report one;
        if (i > 0) putchar(',');
        report_begin(&one, stdout, true);
        report_text(&one, "filter", "", f->spec);
        report_real(&one, "bytes", "", f->bytes);
        report_real(&one, "fpr", "", s->distinct ? f->lost / (double)s->distinct : 0);
        report_real(&one, "predicted_fpr", "", f->fpr);
        report_real(&one, "fnr", "", repeats > 0 ? f->passed / repeats : 0);
        report_real(&one, "predicted_fnr", "", f->fnr);
        report_real(&one, "nanoseconds", "", s->n ? 1e9 * f->seconds / (double)s->n : 0);
        putchar('}');
    }
    putchar(']');
    report_end(&r);
}

static int run_try(const cli_command *c, const settings *set, char **operands, size_t n) {
    const try_own *const own = set->own;
    const settings hasher = {.filter = "bloom:cells=64,k=1", .seed = set->seed ? set->seed : "1"};
    const double lines = own->sample > 0 ? own->sample : try_sample;
    const double bytes = size_in_bytes(c, "-m", set->memory ? set->memory : DEFAULT_MEMORY);
    trial *const t = cli_alloc(sizeof *t);
    (void)n;
    if (lines < 1 || lines > try_sample_max) cli_misuse(c, "--sample must be from 1 to 1e9 lines");
    memset(t, 0, sizeof *t);
    t->set = set;
    sample_open(&t->lines, (size_t)lines);
    t->s = (stream){.set = set, .print = PRINT_NONE, .look_up = try_take, .ctx = t};
    stream_open(&t->s, c, operands);
    t->s.filter = filter_open(c, &hasher);
    const int status = stream_run(&t->s);
    if (status == STATUS_YES && t->lines.n > 0) {
        sample_measure(&t->lines);
        eb_workload told = try_load(&t->lines), untold = told;
        untold.order = EB_ORDER_UNKNOWN;
        untold.zipf = 0;
        if (told.order == EB_ORDER_UNKNOWN) told.order = EB_ORDER_RECENT;
        try_plan(t, &told, bytes);
        try_plan(t, &untold, bytes);
        for (size_t i = 0; i < t->n; i++) try_measure(t, &t->results[i]);
    }
    if (status == STATUS_YES && set->json) {
        try_json(t);
    } else if (status == STATUS_YES) {
        try_describe(t);
        for (size_t i = 0; i < t->n; i++) try_print(t, &t->results[i]);
    }
    finish_stdout();
    sample_close(&t->lines);
    stream_close(&t->s);
    eb_free(t->s.filter);
    free(t);
    return status;
}

/* ---- Options and help. */
#define OWN try_own

static const cli_option try_options[] = {
    KEY_OPTIONS,
    HEADING("The filters"),
    OPTION('m', "memory", "SIZE", OPT_WORD, memory,
           "Their memory, such as 500K, 64M or 2G. (default: " DEFAULT_MEMORY ")"),
    OWN_OPTION(0, "max-fpr", "SHARE", OPT_SHARE, max_fpr,
               "At most this share of the new lines may be taken for repeats. (default: " TEXT_OF(
                   DEFAULT_MAX_DROP) ")"),
    OWN_OPTION(0, "max-fnr", "SHARE", OPT_SHARE, max_fnr,
               "At most this share of the repeats may be missed. (default: as few as possible)"),
    OWN_OPTION(0, "sample", "COUNT", OPT_COUNT, sample,
               "Read the first COUNT lines, which takes up to 60 bytes each. (default: 2e6)"),
    OPTION(0, "seed", "NUMBER", OPT_WORD, seed, "Seed of the hashes. (default: 1)"),
    HEADING("Reports"),
    FLAG(0, "json", json, "One JSON object."),
    QUIET,
    END};

static const cli_example try_examples[] = {
    {"everbloom try -m 1M --max-fpr 0.1% access.log",
     "Which filter of 1 MiB finds most repeats in this file?"},
    {"everbloom try --csv -f 3 -m 64K orders.csv", "The same for the values of column 3."},
    {NULL, NULL}};

static const char try_text[] =
    "Analyses the first lines of the FILEs, or of standard input, exactly: their skew, and how "
    "close repeats are. Then runs the best few filters over them, and prints how many new lines "
    "are lost and how many repeats pass, measured and predicted, and the time per line.\n\n"
    "Give the numbers to 'everbloom plan' to plan for a stream that is longer than the sample.";

const cli_command command_try = {.own = sizeof(OWN),
                                 .name = "try",
                                 .operands = "[FILE]...",
                                 .summary = "try the best few filters on your own lines",
                                 .text = try_text,
                                 .options = try_options,
                                 .examples = try_examples,
                                 .max_operands = CLI_MANY,
                                 .run = run_try};
