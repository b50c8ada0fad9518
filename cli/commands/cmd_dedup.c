/* cmd_dedup.c - dedup: each line that was not seen before. */
#include "options/options.h"
#include "parts/filterfile.h"
#include "parts/late.h"
#include "parts/stream.h"
#include "parts/summary.h"
#include "remote/commands.h"
#include <string.h>
#include <unistd.h>

typedef struct dedup_own { /* options of its own */
    bool repeated, summary, refresh;
    const char *on_overload; /* NULL: not given */
} dedup_own;

/* ---- The filter. */

static void check_window(const cli_command *c, const settings *set) {
    const dedup_own *const own = set->own;
    const bool window = stretch_is_given(set->window);
    if (window && (set->filter || set->items > 0 || set->distinct > 0))
        cli_misuse(c, "--window chooses a filter: not with --filter, --items and --distinct");
    if (window && set->importance_field.n)
        cli_misuse(c, "--window and --importance-field: give one of them");
    if (!window && (own->refresh || own->on_overload))
        cli_misuse(c, "%s needs --window", own->refresh ? "--refresh" : "--on-overload");
}

static void window_spec(const settings *set, double max_drop, char *spec, size_t cap) {
    const dedup_own *const own = set->own;
    const char *give = own->on_overload    ? own->on_overload
                       : set->max_drop > 0 ? "shorten"
                                           : "degrade";
    snprintf(spec, cap, "window:fpr=%.9g,overload=%s,refresh=%s,unit=%s,window=%.0f", max_drop,
             give, own->refresh ? "yes" : "no", set->window.lines > 0 ? "records" : "time",
             stretch_ticks(set->window));
}

/* A stream that has begun as a shuffled one may have a little skew that does not show yet; more
 * than that much is left for it: docs/decisions/planning.md. */
static const double seen_margin = 0.9;

static uint32_t order_of(const settings *set) {
    if (!set->order || strcmp(set->order, "any") == 0) return EB_ORDER_UNKNOWN;
    return strcmp(set->order, "recent") == 0   ? EB_ORDER_RECENT
           : strcmp(set->order, "passes") == 0 ? EB_ORDER_PASSES
                                               : EB_ORDER_SHUFFLED;
}

/* The kind that promises most for a stream of known length. */
static void plan_spec(const cli_command *c, const settings *set, double max_drop, char *spec,
                      size_t cap) {
    eb_workload load = {.size = sizeof load, .items = set->items, .distinct = set->distinct};
    const bool seen = set->order == order_seen_shuffled;
    load.order = order_of(set);
    eb_goal goal = {.size = sizeof goal,
                    .load = &load,
                    .max_fpr = seen ? max_drop * seen_margin : max_drop,
                    .max_bytes = size_in_bytes(c, "-m", set->memory ? set->memory : DEFAULT_MEMORY),
                    .prefer = EB_FEWEST_MISSES};
    eb_offer best = {.size = sizeof best};
    size_t offers;
    eb_error err;
    if (!(set->items > 0 && set->distinct > 0))
        cli_misuse(c, "--items and --distinct: give both of them");
    if (set->distinct > set->items) cli_misuse(c, "--distinct must not be more than --items");
    eb_status status = eb_plan(&goal, &best, 1, &offers, &err);
    if (status != EB_OK && seen) { /* then the one for any order stays */
        load.order = EB_ORDER_UNKNOWN;
        goal.max_fpr = max_drop;
        status = eb_plan(&goal, &best, 1, &offers, &err);
    }
    if (status != EB_OK) cli_fail("%s; give more -m or a larger --max-drop", err.text);
    snprintf(spec, cap, "%s", best.spec);
    spec_drop(spec, "seed");
}

static bool dedup_filter(const cli_command *c, const settings *set, char *spec, size_t cap) {
    const bool window = stretch_is_given(set->window);
    const double max_drop = set->max_drop > 0             ? set->max_drop
                            : set->importance_field.n > 0 ? DEFAULT_IMPORTANCE_DROP
                                                          : DEFAULT_MAX_DROP;
    check_window(c, set);
    if (window)
        window_spec(set, max_drop, spec, cap);
    else if (set->items > 0 || set->distinct > 0 || set->order)
        plan_spec(c, set, max_drop, spec, cap);
    else
        snprintf(spec, cap, "%sfpr=%.9g",
                 set->importance_field.n ? DEFAULT_IMPORTANCE "," : DEFAULT_DEDUP ":", max_drop);
    return set->window.lines > 0;
}

/* ---- A look at the first lines, if nobody has told their order. */

static bool worth_a_look(const settings *set, const eb_filter *f) {
    return set->items > 0 && set->distinct > 0 && !set->order && !set->importance_field.n &&
           !(eb_caps(f) & EB_NO_FALSE_NEGATIVES) && filter_stats(f).adds == 0;
}

static double misses_shuffled(const settings *set, const char *spec) {
    const eb_workload load = {.size = sizeof load,
                              .items = set->items,
                              .distinct = set->distinct,
                              .order = EB_ORDER_SHUFFLED};
    eb_prediction p = {.size = sizeof p};
    eb_error err;
    if (eb_predict(spec, &load, NULL, 1, &p, &err) != EB_OK) cli_fail("%s", err.text);
    return p.fnr_high;
}

/* Another filter that has seen the same lines, if it will miss fewer. */
static void dedup_looked(stream *s) {
    settings seen = *s->set;
    char spec[2 * EB_SPEC_MAX];
    eb_filter *f;
    eb_error err;
    s->order = look_is_shuffled(&s->look) ? order_seen_shuffled : "not shuffled, as seen";
    if (s->order != order_seen_shuffled) return;
    seen.order = order_seen_shuffled;
    filter_spec_like(s->command, &seen, s->filter, spec);
    if (misses_shuffled(&seen, spec) >= misses_shuffled(&seen, eb_spec(s->filter))) return;
    if (eb_new(&f, spec, NULL, &err) != EB_OK) cli_fail("%s", err.text);
    const eb_batch first = eb_batch_hashes(s->look.hash, s->look.n);
    if (eb_add_batch(f, &first, &err) != EB_OK) cli_fail("%s", err.text);
    stream_change_filter(s, f);
}

/* ---- The command. */

/* Lines of a file all arrive at once: a window in time has to know when they were written. */
static void check_times(const cli_command *c, const settings *set, char *const *paths) {
    if (!(set->window.seconds > 0)) return;
    for (; *paths && !set->time_field.n; paths++)
        if (reader_can_reread(*paths))
            cli_misuse(c,
                       "%s is a file: give the times of its lines with --time-field, or follow it "
                       "with tail -F %s | everbloom dedup ...",
                       *paths, *paths);
}

/* 10M is not 10m: people see what was understood. */
static void echo_window(const settings *set) {
    if (set->quiet || !stretch_is_given(set->window) || !isatty(STDERR_FILENO)) return;
    if (set->window.lines > 0)
        cli_warn("the window is %.0f lines", set->window.lines);
    else
        cli_warn("the window is %.10g seconds, by %s", set->window.seconds,
                 set->time_field.n ? "the time of the lines" : "the clock");
}

static int run_dedup(const cli_command *c, const settings *set, char **operands, size_t n) {
    const dedup_own *const own = set->own;
    (void)n;
    if (set->mark && own->repeated) cli_misuse(c, "--mark and --repeated: give one of them");
    if (set->output && set->state && strcmp(set->output, set->state) == 0)
        cli_misuse(c, "-o and --state must be two files");
    print_mode print = set->mark ? PRINT_MARKED : own->repeated ? PRINT_SEEN : PRINT_NEW;
    if (set->redis) return remote_dedup(c, set, print, operands);
    stream s = {.set = set, .print = print, .adds = true, .state = set->state};
    s.passes_bad = true;
    summary told = {0};
    if (own->summary) {
        if (set->mark || own->repeated)
            cli_misuse(c, "--summary and %s: give one of them",
                       set->mark ? "--mark" : "--repeated");
        summary_open(&told, c, set, own->refresh);
        s.ctx = &told;
        s.print_lines = summary_print;
        if (!set->time_field.n) {
            s.tick = summary_tick;
            s.tick_seconds = 0.5;
        }
    }
    check_times(c, set, operands);
    stream_open(&s, c, operands);
    s.filter = filter_open(c, set);
    values_open(&s.values, c, set, s.filter, true);
    times_open(&s.times, c, set, s.filter);
    if (s.times.wanted && s.times.of_lines) {
        s.times.keeps_place = true;
        s.late = late_keys((uint64_t)filter_option(s.filter, "window"),
                           strstr(eb_spec(s.filter), "refresh=yes"));
    }
    echo_window(set);
    if (worth_a_look(set, s.filter) && look_open(&s.look, set->items, set->distinct))
        s.looked = dedup_looked;
    int status = stream_run(&s);
    const int kept = window_verdict(s.filter);
    stream_end(&s);
    summary_close(&told);
    return status ? status : kept;
}

/* ---- Options and help. */
#define OWN dedup_own

static const cli_option dedup_options[] = {
    KEY_OPTIONS_PASS,
    HEADING("What is printed"),
    OWN_FLAG(0, "repeated", repeated,
             "Print the lines that were seen before, instead of the new ones."),
    FLAG(0, "mark", mark,
         "Print every line, with 0 (new) or 1 (seen before) and a delimiter in front."),
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write to FILE, which appears complete at the end or not at all. With --state, the "
           "state is saved only after FILE is in place, so no line is lost."),
    FILTER_OPTIONS(DEFAULT_DEDUP),
    ON_FULL_OPTION,
    OPTION(0, "max-drop", "SHARE", OPT_SHARE, max_drop,
           "At most this share of the new lines may be taken for repeats and dropped: 1e-6 or "
           "0.1%. (default: " TEXT_OF(DEFAULT_MAX_DROP) ")"),
    OPTION(0, "items", "COUNT", OPT_COUNT, items,
           "The stream will have about COUNT lines, repeats included. With --distinct: choose the "
           "kind of filter that lets the fewest repeats pass."),
    OPTION(0, "distinct", "COUNT", OPT_COUNT, distinct,
           "About COUNT of those lines will be distinct. Needs --items."),
    CHOICE("order", "ORDER", "shuffled|recent|passes|any", order,
           REPEATS_OCCUR
           "any: take a filter that keeps --max-drop in every order. Needs --items and "
           "--distinct. (default: shuffled if the first lines look like it, else any)"),
    HEADING("Kept for later"),
    STATE_OPTIONS,
    REDIS_OPTION,
    HEADING("Repeats in a window"),
    OPTION(0, "window", "LENGTH", OPT_LENGTH, window,
           "Drop all repeats within LENGTH: a number of lines such as 1e6 or 10M (ten million), or "
           "a time such as 90s, 10m (ten minutes), 12h or 7d. A repeat up to 1/14 of LENGTH later "
           "may be dropped, too. A window of lines takes the memory it needs; with a time, -m "
           "decides how many lines there is room for."),
    TIME_FIELD_IN_PLACE,
    OWN_FLAG(0, "summary", summary,
             "When the window of a repeated line has ended, print how often it was repeated: 'KEY: "
             "repeated 412 times until 2026-01-31T12:03:10Z', or a JSON object with --jsonl. Needs "
             "a --window in time."),
    OWN_FLAG(0, "refresh", refresh,
             "Each repeat restarts the window of its line, so a line that keeps repeating is "
             "printed only once. (default: the window begins when the line is printed, so such a "
             "line is printed once per window)"),
    OWN_CHOICE(
        "on-overload", "WHAT", "shorten|degrade", on_overload,
        "What to do when more lines arrive within a window than there is room for: degrade (drop "
        "more new lines than --max-drop allows) or shorten (the window). (default: shorten if "
        "--max-drop is given, else degrade)"),
    IMPORTANCE_OPTIONS,
    STATS_OPTIONS,
    QUIET,
    END};

static const cli_example dedup_examples[] = {
    {"everbloom dedup access.log > unique.log", "Drop repeated lines, in order, in 64 MiB."},
    {"everbloom dedup --csv -f customer --stats orders.csv",
     "The first order of each customer; columns have names or numbers."},
    {"tail -F app.log | everbloom dedup --state seen.eb", "Continue tomorrow where today ended."},
    {"everbloom dedup --window 10m --time-field 1 -f 2 alerts.tsv",
     "Each alert at most once in ten minutes."},
    {"everbloom dedup --redis redis://localhost/seen access.log",
     "Share one filter with other machines."},
    {"find . -print0 | everbloom dedup -0 --mark",
     "Mark repeated file names, whatever bytes they contain."},
    {NULL, NULL}};

const cli_command command_dedup = {
    .own = sizeof(OWN),
    .name = "dedup",
    .operands = "[FILE]...",
    .summary = "print each line that was not seen before",
    .text = "Prints each line of the FILEs, or of standard input, that was not seen before: in "
            "input order, in one pass, in fixed memory.\n\n"
            "Two things can go wrong. At most about one new line in a million is dropped (a false "
            "positive: --max-drop). A repeat slips through if too many other lines came in between "
            "(a false negative: -m). --stats prints both rates; 'everbloom predict' predicts them. "
            "If everything fits in memory and you need exact answers, use awk.\n\n"
            "Lines may be of any length and hold any bytes. On SIGINT or SIGTERM the lines read so "
            "far are finished and the state is saved; the exit status is then 130 or 143.",
    .options = dedup_options,
    .examples = dedup_examples,
    .status = "if the whole --window could not be kept for all lines",
    .max_operands = CLI_MANY,
    .run = run_dedup,
    .filter = dedup_filter};
