/* cmd_stream.c - the commands that read lines: add, test; what dedup shares with them. */
#include "options/options.h"
#include "parts/filterfile.h"
#include "parts/stream.h"
#include "remote/commands.h"
#include "remote/nodes.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

typedef struct stream_own { /* options of its own */
    bool absent, remove;
} stream_own;

/* Chance that the filter misses a repeat of a key that came anywhere in the stream so far: where
 * the kind has no formula for that, the mean over gaps spread evenly. */
static double expected_fnr(const char *spec, eb_workload *load) {
    enum { GAPS = 16 };
    eb_prediction p = {.size = sizeof p};
    double sum = 0;
    if (eb_predict(spec, load, NULL, 1, &p, NULL) != EB_OK) return NAN;
    for (int i = 0; isnan(p.fnr) && i < GAPS; i++) {
        load->gap = load->distinct * (i + 0.5) / GAPS;
        eb_prediction at_gap = {.size = sizeof at_gap};
        if (eb_predict(spec, load, NULL, 1, &at_gap, NULL) != EB_OK) return NAN;
        sum += at_gap.fnr / GAPS;
    }
    return isnan(p.fnr) ? sum : p.fnr;
}

/* A loaded state does not tell how many of its keys were distinct: take this run's share. */
static double fnr_now(const stream *s, const char *spec, uint64_t items) {
    if (items == 0) return 0;
    double share = s->lines ? (double)(s->lines - s->seen) / (double)s->lines : 1;
    eb_workload load = {.size = sizeof load, .items = (double)items};
    load.distinct = fmax(1, load.items * share);
    return expected_fnr(spec, &load);
}

void stream_stats(const stream *s) {
    char spec[EB_SPEC_MAX];
    double seconds = now_seconds() - s->start;
    const eb_stats stats = filter_stats(s->filter);
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(s->filter));
    report r;
    report_begin(&r, stderr, s->set->json);
    report_count(&r, "lines", "lines", s->lines);
    report_count(&r, "unique", "unique", s->lines - s->seen - s->bad.lines);
    report_count(&r, "duplicates", "duplicates", s->seen);
    report_count(&r, "bad_lines", "bad lines", s->bad.lines);
    report_bytes(&r, "bytes", "bytes", (double)s->in.bytes);
    report_real(&r, "seconds", "seconds", seconds);
    report_bytes(&r, "bytes_per_second", "bytes per second",
                 seconds > 0 ? (double)s->in.bytes / seconds : 0);
    report_text(&r, "filter", "filter", spec);
    if (s->order) report_text(&r, "order", "order of lines", s->order);
    report_count(&r, "items", "keys in its life", stats.adds);
    report_real(&r, "fill", "fill", stats.fill);
    report_real(&r, "fpr", "false positive rate", stats.fpr);
    report_real(&r, "fnr", "false negative rate", fnr_now(s, spec, stats.adds));
    health_report(&r, s->filter, &stats);
    window_report(&r, s->filter);
    report_end(&r);
}

/* A value with its type and what it means, as Prometheus reads it. */
static void put_metric(FILE *to, const char *name, const char *type, const char *help,
                       double value) {
    fprintf(to, "# HELP everbloom_%s %s\n# TYPE everbloom_%s %s\neverbloom_%s ", name, help, name,
            type, name);
    if (isnan(value))
        fputs("NaN\n", to);
    else
        fprintf(to, value == floor(value) && value < 1e15 ? "%.0f\n" : "%.9g\n", value);
}

void stream_metrics(const stream *s) {
    char *text = NULL;
    size_t length = 0;
    atomic_file file;
    struct timespec now;
    const eb_stats stats = filter_stats(s->filter);
    FILE *const to = open_memstream(&text, &length);
    if (!to) cli_fail("out of memory");
    clock_gettime(CLOCK_REALTIME, &now);
    put_metric(to, "lines_total", "counter", "Lines read.", (double)s->lines);
    put_metric(to, "repeats_total", "counter", "Lines whose key was seen before.", (double)s->seen);
    put_metric(to, "bad_lines_total", "counter", "Lines that could not be used.",
               (double)s->bad.lines);
    put_metric(to, "bytes_total", "counter", "Bytes read.", (double)s->in.bytes);
    put_metric(to, "filter_keys", "gauge", "Keys added in the life of the filter.",
               (double)stats.adds);
    put_metric(to, "filter_bytes", "gauge", "Memory of the filter.", (double)stats.bytes);
    put_metric(to, "filter_fill", "gauge", "Share of the filter that is in use.", stats.fill);
    put_metric(to, "filter_false_positive_rate", "gauge",
               "Chance that a new key is taken for a known one.", stats.fpr);
    put_metric(to, "updated_seconds", "gauge", "When this file was written, since 1970.",
               (double)now.tv_sec);
    fclose(to);
    atomic_open(&file, s->set->metrics);
    atomic_write(&file, text, length);
    atomic_commit(&file);
    free(text);
}

void stream_end(stream *s) {
    if (s->set->stats || s->set->json) stream_stats(s);
    stream_close(s);
    eb_free(s->filter);
}

/* Keys are taken out of a filter that is there and can do that. */
static void check_removal(const cli_command *c, const settings *set) {
    const stream_own *const own = set->own;
    struct stat st;
    if (!own->remove) return;
    if (!set->state) cli_misuse(c, "--remove needs --state FILE, the filter to take keys out of");
    if (set->classes) cli_misuse(c, "--classes is for a new filter: not with --remove");
    if (stat(set->state, &st) != 0) cli_fail("%s: %s", set->state, strerror(errno));
}

static void check_removable(const settings *set, const eb_filter *f) {
    const stream_own *const own = set->own;
    if (own->remove && !(eb_caps(f) & EB_CAN_REMOVE))
        cli_fail("%s: keys cannot be taken out of this filter; 'everbloom count --removable' makes "
                 "one that can",
                 set->state);
}

static bool add_filter(const cli_command *c, const settings *set, char *spec, size_t cap) {
    (void)c;
    if (set->importance_field.n)
        snprintf(spec, cap, "%s,fpr=%.9g", DEFAULT_IMPORTANCE, DEFAULT_IMPORTANCE_DROP);
    else
        snprintf(spec, cap, "%s", DEFAULT_ADD);
    return false;
}

static int run_add(const cli_command *c, const settings *set, char **operands, size_t n) {
    const stream_own *const own = set->own;
    (void)n;
    if (set->output && set->state) cli_misuse(c, "-o and --state: give one of them");
    refuse_terminal(c, set, "a snapshot");
    check_removal(c, set);
    stream s = {.set = set, .print = PRINT_NONE, .adds = true, .state = set->state};
    s.removes = own->remove;
    stream_open(&s, c, operands);
    s.filter = filter_open(c, set);
    check_removable(set, s.filter);
    values_open(&s.values, c, set, s.filter, true);
    int status = stream_run(&s);
    if (status == STATUS_YES && !set->state)
        filter_save_keys(s.filter, set, set->output ? set->output : "-");
    stream_end(&s);
    return status;
}

static void check_test(const cli_command *c, const settings *set, char **operands) {
    const stream_own *const own = set->own;
    if (set->mark && own->absent) cli_misuse(c, "--mark and --absent: give one of them");
    if (!set->keys.n && operands[1] == NULL && strcmp(operands[0], "-") == 0)
        cli_misuse(c, "the snapshot and the lines cannot both come from standard input");
    if (set->keys.n && (operands[1] || set->field.n || set->header || set->class_field.n))
        cli_misuse(c, "--key asks about keys, not lines: no FILE, -f, --header or "
                      "--class-field");
}

/* Exit status as grep has it: 0 if a line was selected. */
static int run_test(const cli_command *c, const settings *set, char **operands, size_t n) {
    const stream_own *const own = set->own;
    (void)n;
    check_test(c, set, operands);
    print_mode print = set->mark ? PRINT_MARKED : own->absent ? PRINT_NEW : PRINT_SEEN;
    if (nodes_is_url(operands[0])) return remote_test(c, set, print, operands[0], operands + 1);
    snapshot snap;
    snapshot_open_to_ask(&snap, set, operands[0]);
    refuse_numbers(c, snap.view);
    health_open(&(health){0}, snap.view);
    stream s = {.set = set, .print = print, .filter = snap.view};
    stream_open(&s, c, operands + 1);
    values_open(&s.values, c, set, s.filter, false);
    int status = STATUS_YES;
    if (set->keys.n)
        stream_run_keys(&s, &set->keys);
    else
        status = stream_run(&s);
    stream_close(&s);
    snapshot_close(&snap);
    const uint64_t selected = own->absent ? s.lines - s.seen - s.bad.lines : s.seen;
    return status ? status : selected == 0 ? STATUS_NO : STATUS_YES;
}

/* ---- Options and help. */
#define OWN stream_own

static const cli_option add_options[] = {
    KEY_OPTIONS,
    FILTER_OPTIONS(DEFAULT_ADD),
    ON_FULL_OPTION,
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write the snapshot of a new filter to FILE, with a note of how its keys were made, "
           "such as "
           "-f 2. (default: standard output, without a note)"),
    STATE_OPTIONS,
    FLAG(0, "force", force, "Write a snapshot even to a terminal."),
    IMPORTANCE_OPTIONS,
    HEADING("Filters that count"),
    WEIGHT_OPTION,
    OWN_FLAG(
        0, "remove", remove,
        "Remove the keys from the filter in --state, once for each line. If the filter certainly "
        "does not contain a key that often, the key is named and the file stays as it is."),
    HEADING("Classes of keys"),
    OPTION(0, "classes", "FILE", OPT_TEXT, classes,
           "FILE has lines of a class, a tab and a key, as 'everbloom weigh' prints them. A new "
           "filter keeps them as its hot list. All other keys are of class 1, and test needs no "
           "class options. The default of hot= in --filter is the number of lines in FILE."),
    CLASS_OPTIONS,
    STATS_OPTIONS,
    QUIET,
    END};

static const cli_example add_examples[] = {
    {"everbloom add --filter bloom:distinct=1e6,fpr=1e-4 -o bad.eb bad-hosts.txt",
     "Make a filter of a list of keys."},
    {"everbloom add --state seen.eb today.txt", "Add today's keys to a filter."},
    {"everbloom add --remove --state window.eb yesterday.txt", "Remove yesterday's keys."},
    {"everbloom add --filter weighted:class_bits=5:9 --class-rules rules -o p.eb in",
     "More bits for the keys that a pattern in rules gives class 2."},
    {NULL, NULL}};

const cli_command command_add = {
    .own = sizeof(OWN),
    .name = "add",
    .operands = "[FILE]...",
    .summary = "add the keys of lines to a filter, and save it",
    .text = "Adds the key of each line to a filter and saves the filter as a snapshot: a new one "
            "with -o, or one that grows from day to day with --state.\n\n"
            "A weighted filter gives each class of keys its own number of bits. Classes come from "
            "a hot list in the filter (--classes), from the line (--class-field) or from rules "
            "about keys (--class-rules).\n\n"
            "--remove removes keys, if the kind of filter can do that ('everbloom kinds'). "
            "Removing a key that was never added is not always detected, and can make the counts "
            "of other keys too low.",
    .options = add_options,
    .examples = add_examples,
    .max_operands = CLI_MANY,
    .run = run_add,
    .filter = add_filter};

static const cli_option test_options[] = {
    KEY_OPTIONS_TEST,
    HEADING("What is asked"),
    OPTION(0, "key", "KEY", OPT_TEXTS, keys,
           "Test KEY as if it were a line; no lines are read. May be given several times."),
    HEADING("What is printed"),
    OWN_FLAG(0, "absent", absent, "Print the lines whose keys are not in the snapshot."),
    FLAG(0, "mark", mark,
         "Print every line, with 0 (absent) or 1 (present) and a delimiter in front."),
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write to FILE, which appears complete at the end or not at all."),
    HEADING("Classes of keys"),
    CLASS_OPTIONS,
    HEADING("Reports"),
    QUIET,
    END};

static const cli_example test_examples[] = {
    {"everbloom test bad.eb hosts.txt", "Print the hosts that are (probably) on the list."},
    {"everbloom test bad.eb --key \"$host\" > /dev/null && echo known",
     "Test one key in a script."},
    {NULL, NULL}};

const cli_command command_test = {
    .own = sizeof(OWN),
    .name = "test",
    .operands = "SNAPSHOT [FILE]...",
    .summary = "print the lines whose keys are in a filter",
    .text =
        "Prints each line of the FILEs, or of standard input, whose key is (probably) in the "
        "SNAPSHOT; or, with --key, each KEY that is. The SNAPSHOT is not changed. Keys may be in "
        "other fields than those of the filter, but if they were made with -i or --trim, give "
        "these here, too.\n\n"
        "If the classes of a weighted filter came with its lines, give --class-field or "
        "--class-rules here, too: without them, every key is tested with the fewest bits of "
        "any class.",
    .options = test_options,
    .examples = test_examples,
    .status = "if no line is selected",
    .min_operands = 1,
    .max_operands = CLI_MANY,
    .run = run_test};
