/* cmd_count.c - count: lines into a counting filter, and how often keys came.
 *
 * The stream goes through the loop of add.  Questions are answered when it has ended, or, with
 * --snapshot, by a filter in a file. */
#include "options/options.h"
#include "output/table.h"
#include "parts/fade.h"
#include "parts/filterfile.h"
#include "parts/health.h"
#include "parts/late.h"
#include "parts/stream.h"
#include "remote/commands.h"
#include <everbloom/query.h>
#include <math.h>
#include <string.h>

/* ---- Answers. */

/* Bounds look at the whole filter, once for a batch. */
enum { ASK_BATCH = 512, ASK_BYTES = 1 << 20 };

typedef struct asker {
    const settings *set;
    const eb_filter *filter;
    const exact_counts *exact; /* or NULL */
    reader in;                 /* whose keys have the same case; its arena holds those that wait */
    eb_key key[ASK_BATCH];
    size_t n, bytes; /* keys that wait for their answers */
    double total;    /* no key can have come more often */
    bool fades;      /* by time in milliseconds */
    table rows;
} asker;

/* What the kind does not know is NAN. */
static eb_estimate without_bounds(const eb_filter *f, eb_hash h) {
    return (eb_estimate){.size = sizeof(eb_estimate),
                         .count = filter_count(f, h),
                         .lower = NAN,
                         .upper = NAN,
                         .confidence = NAN};
}

static void put_column(table *t, double value) {
    if (isnan(value))
        table_number(t, "-");
    else
        table_count(t, value);
}

/* Of counts that fade: arrivals in a second. */
static double rate_of(const asker *a, const eb_estimate *e) {
    return e->count * eb_faded(a->filter, 1000);
}

static void put_text(asker *a, const eb_estimate *e, const char *hint, eb_key key) {
    put_column(&a->rows, e->count);
    put_column(&a->rows, e->lower);
    put_column(&a->rows, e->upper);
    put_column(&a->rows, e->confidence);
    table_text(&a->rows, hint ? hint : "-");
    if (a->fades) put_column(&a->rows, rate_of(a, e));
    table_bytes(&a->rows, key);
    table_end_row(&a->rows);
}

static void put_json(const asker *a, const eb_estimate *e, const char *hint, eb_key key) {
    report r;
    report_begin(&r, stdout, true);
    report_key(&r, "key", key);
    report_real(&r, "count", "count", e->count);
    report_real(&r, "lower", "lower", e->lower);
    report_real(&r, "upper", "upper", e->upper);
    report_real(&r, "confidence", "confidence", e->confidence);
    if (hint) report_text(&r, "hint", "hint", hint);
    if (a->fades) report_real(&r, "rate", "rate", rate_of(a, e));
    report_end(&r);
}

static void put_answer(asker *a, eb_estimate e, bool bounded, eb_hash h, eb_key key) {
    const char *const hint = !bounded ? NULL : e.single ? "single" : "recurring";
    e.count = count_or_infinity(e.count, a->total);
    e.upper = count_or_infinity(e.upper, a->total);
    if (isinf(e.count)) e.lower = NAN; /* it was taken from the count */
    if (exact_count(a->exact, h, &e.count) && bounded) {
        e.lower = e.upper = e.count;
        e.confidence = 1;
    }
    if (a->set->json)
        put_json(a, &e, hint, key);
    else
        put_text(a, &e, hint, key);
}

static void answer_waiting(asker *a) {
    eb_hash h[ASK_BATCH];
    eb_estimate e[ASK_BATCH] = {{.size = sizeof *e}};
    const eb_batch b = eb_batch_hashes(h, a->n);
    hash_keys(a->filter, a->key, a->n, h);
    const bool bounded = eb_estimate_batch(a->filter, &b, e, NULL) == EB_OK;
    for (size_t i = 0; i < a->n; i++)
        put_answer(a, bounded ? e[i] : without_bounds(a->filter, h[i]), bounded, h[i], a->key[i]);
    if (ferror(stdout)) finish_stdout(); /* nobody listens any more */
    a->n = a->bytes = 0;
    arena_reset(&a->in.arena);
}

static void answer(asker *a, eb_key asked) {
    a->key[a->n++] = reader_query(&a->in, asked);
    a->bytes += asked.len;
    if (a->n == ASK_BATCH || a->bytes >= ASK_BYTES) answer_waiting(a);
}

static void answer_line(void *ctx, reader *r, const char *line, const char *end) {
    asker *const a = ctx;
    (void)r;
    const size_t n = (size_t)(end - line);
    char *const kept = arena_get(&a->in.arena, n); /* the reader goes on */
    memcpy(kept, line, n);
    arena_take(&a->in.arena, n);
    answer(a, (eb_key){kept, n});
}

static int answer_all(const settings *set, const eb_filter *f, const exact_counts *beside,
                      double total) {
    asker a = {.set = set,
               .filter = f,
               .exact = beside,
               .total = total,
               .in = {.fd = -1, .ignore_case = set->ignore_case, .trim = set->trim},
               .fades = (set->half_life > 0 || set->window.seconds > 0 || set->time_field.n > 0) &&
                        eb_faded(f, 1) > 0};
    const char *names[8] = {"count", "lower", "upper", "confidence", "hint", "rate", "key"};
    if (!a.fades) {
        names[5] = "key";
        names[6] = NULL;
    }
    if (!set->json) table_open(&a.rows, set, names);
    for (size_t i = 0; i < set->keys.n; i++)
        answer(&a, (eb_key){set->keys.text[i], strlen(set->keys.text[i])});
    if (set->queries) {
        reader in = {.separator = set->nul ? '\0' : '\n'};
        reader_open_one(&in, set->queries);
        reader_each(&in, answer_line, &a);
        reader_close(&in);
    }
    answer_waiting(&a);
    if (!set->json) table_close(&a.rows);
    finish_stdout();
    reader_close(&a.in);
    return counters_verdict(f);
}

/* ---- The command. */

static bool is_dash(const char *path) {
    return path && strcmp(path, "-") == 0;
}

static bool reads_stdin(char *const *paths) {
    if (!*paths) return true;
    for (; *paths; paths++)
        if (is_dash(*paths)) return true;
    return false;
}

static void check_usage(const cli_command *c, const settings *set, char *const *paths) {
    const bool asks = set->queries || set->keys.n > 0;
    if (set->save && set->state) cli_misuse(c, "--save and --state: give one of them");
    if (!asks && !set->save && !set->state)
        cli_misuse(c, "nothing to do: ask with --key or --queries, or save with --save or --state");
    if (set->names && set->json) cli_misuse(c, "--names and --json: give one of them");
    if (asks && is_dash(set->save))
        cli_misuse(c, "the snapshot and the answers cannot both go to standard output");
    if (is_dash(set->queries) && !set->snapshot && reads_stdin(paths))
        cli_misuse(c, "the lines and the queries cannot both come from standard input");
    if (is_dash(set->queries) && is_dash(set->snapshot))
        cli_misuse(c, "the snapshot and the queries cannot both come from standard input");
    if (is_dash(set->save)) refuse_terminal(c, set, "a snapshot");
}

static int ask_snapshot(const cli_command *c, const settings *set, char *const *paths) {
    snapshot snap;
    if (*paths) cli_misuse(c, "--snapshot only queries a filter: give no FILE, or use --state");
    if (set->save || set->state || set->filter || set->memory || set->seed || set->removable ||
        fade_is_asked(set) || set->time_field.n)
        cli_misuse(c,
                   "--snapshot only queries a filter: leave out the options that make or save one");
    snapshot_open_to_ask(&snap, set, set->snapshot);
    refuse_numbers(c, snap.view);
    if (!(eb_caps(snap.view) & EB_CAN_COUNT))
        cli_fail("%s: this kind of filter does not count", set->snapshot);
    const int status = answer_all(set, snap.view, NULL, total_of_filter(snap.view));
    snapshot_close(&snap);
    return status;
}

static int run_count(const cli_command *c, const settings *set, char **operands, size_t n) {
    (void)n;
    if (set->redis) return remote_count(c, set, operands);
    check_usage(c, set, operands);
    if (set->queries) reader_check(set->queries);
    if (set->snapshot) return ask_snapshot(c, set, operands);
    stream s = {.set = set, .print = PRINT_NONE, .adds = true, .state = set->state};
    stream_open(&s, c, operands);
    s.filter = filter_open(c, set);
    if (!(eb_caps(s.filter) & EB_CAN_COUNT))
        cli_misuse(c, "count needs a filter that counts, such as " DEFAULT_COUNT);
    values_open(&s.values, c, set, s.filter, true);
    times_open(&s.times, c, set, s.filter);
    if (s.times.wanted && s.times.of_lines) {
        s.times.keeps_place = true;
        s.late = late_lines(false);
    }
    if (!set->filter && !set->state) s.exact = exact_open(s.filter);
    int status = stream_run(&s);
    if (status == STATUS_YES) {
        if (set->save) filter_save_keys(s.filter, set, set->save);
        status = answer_all(set, s.filter, s.exact, s.total);
    }
    if (set->stats) stream_stats(&s);
    stream_close(&s);
    exact_close(s.exact);
    eb_free(s.filter);
    return status;
}

/* ---- Options and help. */

static const cli_option count_options[] = {
    KEY_OPTIONS,
    WEIGHT_OPTION,
    HEADING("Counts that fade"),
    DECAY_OPTIONS("|polyexp",
                  "poly: (1 + x) to the power of minus --power; polyexp: (1 + x) to the power of "
                  "--power, halved with each --half-life, relative to its largest value.",
                  "poly and polyexp", ", or a number of lines such as 1e6 or 10M"),
    TIME_FIELD_IN_PLACE,
    HEADING("What is asked"),
    OPTION(0, "key", "KEY", OPT_TEXTS, keys,
           "Print how often KEY occurs. May be given several times."),
    OPTION(0, "queries", "FILE", OPT_TEXT, queries,
           "Print how often each line of FILE occurs as a key. - is standard input."),
    SNAPSHOT_OPTION,
    HEADING("What is printed"),
    AS_OPTIONS,
    FILTER_OPTIONS(COUNT_FILTERS),
    FLAG(
        0, "removable", removable,
        "Use a filter from which keys can be removed ('everbloom add --remove'): " DEFAULT_REMOVABLE
        " instead of " DEFAULT_COUNT ", which has smaller errors."),
    KEEP_OPTIONS,
    RUN_REPORTS,
    REDIS_OPTION,
    END};

static const cli_example count_examples[] = {
    {"everbloom count -f 1 -d ' ' --key 10.0.0.1 access.log", "How many requests of one host?"},
    {"everbloom count -f 1 --weight-field 3 --queries hosts traffic.tsv",
     "Bytes for each host of a list."},
    {"tail -F app.log | everbloom count --state counts.eb", "Count forever, in 64 MiB."},
    {"everbloom count --snapshot counts.eb --key error", "Query the saved counts."},
    {"everbloom count --half-life 1h --time-field 1 -f 2 --key 10.0.0.1 requests.tsv",
     "How often lately?"},
    {"everbloom count --window 1h --time-field 1 -f 2 --queries hosts requests.tsv",
     "How often in the last hour?"},
    {NULL, NULL}};

static const char count_text[] =
    "Counts the keys of the lines of the FILEs, or of standard input if there is none or it is -, "
    "in one pass and in fixed memory. Then prints how often each requested key occurs, in the "
    "order of the requests, --key first. The filter can be saved (--save, --state) and queried "
    "later (--snapshot).\n\n"
    "An answer is a line of columns separated by tabs: the estimate, a lower bound, an upper "
    "bound, the probability that the lower bound holds, 'recurring' or 'single', and the key, "
    "which comes last because it may contain tabs. The upper bound is certain; it equals the "
    "estimate unless the filter may count too low. An estimate that several counters agree on "
    "(recurring) is nearly always right; one from a single counter is wrong about a hundred times "
    "as often. A column that the kind of filter cannot give is -.\n\n"
    "Without --filter and --state, counts are exact while the keys are few: up to 3500 with -m "
    "64K, 57 000 from -m 1M on (in a window: keys times the parts of it in which they occur). They "
    "come from a small table beside the filter.\n\n"
    "With --decay, --half-life or --window counts fade, and are given as of the time of the last "
    "line. They are never too low, except by a small epsilon with --decay exponential ('everbloom "
    "info' prints it). Unless the window is in lines, the column before the key is the rate: the "
    "mean number of arrivals per second, weighted in the same way.";

const cli_command command_count = {.name = "count",
                                   .operands = "[FILE]...",
                                   .summary = "estimate how often each key occurs",
                                   .text = count_text,
                                   .options = count_options,
                                   .examples = count_examples,
                                   .status = "if counters are full",
                                   .max_operands = CLI_MANY,
                                   .run = run_count,
                                   .filter = count_filter};
