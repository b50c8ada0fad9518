/* cmd_dedup.c - dedup: each line that was not seen before. */
#include "parts/filterfile.h"
#include "parts/stream.h"
#include "parts/summary.h"
#include "remote/commands.h"
#include <string.h>
#include <unistd.h>

/* ---- The filter. */

static void check_window(const cli_command *c, const settings *set) {
    const bool window = stretch_is_given(set->window);
    if (window && (set->filter || set->items > 0 || set->distinct > 0))
        cli_misuse(c, "--window chooses a filter: not with --filter, --items and --distinct");
    if (window && set->importance_field.n)
        cli_misuse(c, "--window and --importance-field: give one of them");
    if (!window && (set->refresh || set->on_overload))
        cli_misuse(c, "%s needs --window", set->refresh ? "--refresh" : "--on-overload");
}

/* A stream that has begun as a shuffled one may have a little skew that does not show yet; more
 * than that much is left for it: docs/decisions/planning.md. */
static const double seen_margin = 0.9;

static uint32_t order_of(const settings *set) {
    if (!set->order || strcmp(set->order, "any") == 0) return EB_ORDER_UNKNOWN;
    return strcmp(set->order, "recent") == 0 ? EB_ORDER_RECENT : EB_ORDER_SHUFFLED;
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

bool dedup_filter(const cli_command *c, const settings *set, char *spec, size_t cap) {
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
                       "%s is a file, whose lines are all read now: say with --time-field where "
                       "their times are, or watch it with tail -F %s | everbloom dedup ...",
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

int run_dedup(const cli_command *c, const settings *set, char **operands, size_t n) {
    (void)n;
    if (set->mark && set->repeated) cli_misuse(c, "--mark and --repeated: give one of them");
    if (set->output && set->state && strcmp(set->output, set->state) == 0)
        cli_misuse(c, "-o and --state must be two files");
    if (set->redis) return remote_dedup(c, set, operands);
    print_mode print = set->mark ? PRINT_MARKED : set->repeated ? PRINT_SEEN : PRINT_NEW;
    stream s = {.set = set, .print = print, .adds = true, .state = set->state};
    s.passes_bad = true;
    summary told = {0};
    if (set->summary) {
        summary_open(&told, c, set);
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
    echo_window(set);
    if (worth_a_look(set, s.filter) && look_open(&s.look, set->items, set->distinct))
        s.looked = dedup_looked;
    int status = stream_run(&s);
    const int kept = window_verdict(&s.times, s.filter);
    stream_end(&s);
    summary_close(&told);
    return status ? status : kept;
}
