/* cmd_top.c - top: the keys that occur most often, since the beginning or lately.
 *
 * Everything is in one filter of the kind top: the most frequent keys with their counts, and the
 * watermark, above which no key is missing.  What is below needs the input again, and exact counts
 * (--verify) do, too: again.h.  Lists during the run are printed by the clock or, if lines have a
 * time and there is no screen, by the time of the lines. */
#include "parts/again.h"
#include "parts/fade.h"
#include "parts/filterfile.h"
#include "parts/health.h"
#include "parts/keytable.h"
#include "parts/late.h"
#include "parts/tally.h"
#include "parts/top.h"
#include "remote/commands.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_MAX = 1000000, MILLI = 1000 };

typedef struct top {
    const cli_command *c;
    const settings *set;
    stream s;
    screen screen;
    threshold *at_least;
    eb_top_list list; /* the last answer, with room for keys */
    size_t keys_cap;
    bool fades;
    fading fading;
    bool shown, by_lines; /* by_lines: what is shown on the way is shown by the time of lines */
    uint64_t every, due;  /* milliseconds; due: of lines; 0: no line yet */
    double began, clock_due;
    uint64_t counted;      /* lines whose keys are in the filter */
    uint64_t lines, bytes; /* of the first reading */
    unsigned readings;
} top;

/* ---- The list. */

/* The keys that came so often, but no more than `most`; time: NULL for the filter's clock. */
static void ask(top *t, const uint64_t *time, double least, size_t most) {
    eb_top_list *const l = &t->list;
    eb_error err;
    l->size = sizeof *l;
    l->time = time;
    l->at_least = least;
    for (;;) {
        l->cap = t->keys_cap / sizeof *l->keys;
        if (eb_top(t->s.filter, l, &err) != EB_OK) cli_fail("%s", err.text);
        const size_t wanted = l->matching < most ? l->matching : most;
        if (wanted <= l->n) {
            l->n = wanted;
            return;
        }
        l->keys = cli_grow(l->keys, &t->keys_cap, wanted * sizeof *l->keys);
    }
}

static size_t most_rows(const settings *set) {
    return top_of(set)->top ? (size_t)top_of(set)->top : SIZE_MAX;
}

/* The least count that is asked for, in a list that is as of that time. */
static double least_count(top *t, const uint64_t *time) {
    const size_t n = top_of(t->set)->at_least.n;
    if (n == 0) return 0;
    ask(t, time, 0, 0);
    thresholds_settle(t->at_least, n, t->list.total);
    return t->at_least[0].count;
}

static top_view view_of(const top *t, uint64_t now, double seconds) {
    return (top_view){.rows = t->list.keys,
                      .n = t->list.n,
                      .total = t->list.total,
                      .seconds = seconds,
                      .watermark = t->list.watermark,
                      .lines = t->counted,
                      .now = now};
}

static double seconds_of(const top *t, uint64_t now) {
    if (t->fades) return fading_seconds(&t->fading, t->list.first, now);
    return t->began > 0 ? fmax(now_seconds() - t->began, 1e-3) : 0;
}

/* now: milliseconds since 1970, if counts fade. */
static void show(top *t, uint64_t now) {
    const uint64_t *const time = t->fades ? &now : NULL;
    const size_t asked = most_rows(t->set);
    if (t->s.late) late_give(&t->s);
    const double least = least_count(t, time);
    ask(t, time, least, t->screen.on && asked < TOP_LIVE_ROWS ? TOP_LIVE_ROWS : asked);
    const top_view v = view_of(t, t->fades ? now : 0, seconds_of(t, now));
    if (t->screen.on) {
        top_draw(&t->screen, &v);
        return;
    }
    if (t->shown && !t->set->json) putchar(t->set->nul ? '\0' : '\n'); /* between two tables */
    top_print(t->set, &v);
    t->shown = true;
}

/* ---- On the way. */

/* By the clock. */
static void tick(stream *s) {
    top *const t = s->ctx;
    const double now = now_seconds();
    const bool steered = t->screen.on && screen_keys(&t->screen);
    s->stop = t->screen.ended;
    if (t->began == 0 && s->lines > 0) t->began = now; /* at most a tick late */
    if ((t->screen.paused || now < t->clock_due) && !steered) return;
    t->clock_due = now + (double)t->every / MILLI;
    show(t, s->times.of_lines ? s->times.last : times_now(&s->times));
}

/* Before the first line of a time at which something is due. */
static void show_if_due(top *t, uint64_t time) {
    if (t->due == 0) t->due = time + t->every;
    if (time < t->due) return;
    show(t, t->due);
    t->due += ((time - t->due) / t->every + 1) * t->every;
}

static void add_keys(stream *s, const eb_batch *b) {
    const eb_keys keys = eb_keys_array(EB_STRING, s->key);
    eb_batch with = *b;
    eb_error err;
    with.keys = &keys;
    if (eb_add_batch(s->filter, &with, &err) != EB_OK)
        cli_fail("the filter refuses keys: %s", err.text);
}

/* Cuts a batch where something is due. */
static void take(stream *s, const eb_batch *b) {
    top *const t = s->ctx;
    memset(s->hit, 0, b->n);
    if (t->fades) fading_note(&t->fading, b);
    if (!s->late) {
        add_keys(s, b);
        t->counted += b->n;
        return;
    }
    for (size_t from = 0, to; from < b->n; from = to) {
        if (t->by_lines) show_if_due(t, s->now[from]);
        for (to = from + 1; to < b->n; to++)
            if (t->by_lines && s->now[to] >= t->due) break;
        late_hold(s, from, to - from);
        t->counted += to - from;
    }
}

/* On a screen always, else if it is asked for. */
static void open_refresh(top *t, char *const *paths) {
    static const double keys_every =
        0.1; /* seconds in which a key that is pressed has its effect */
    if (top_is_live(t->set, paths)) screen_open(&t->screen);
    const double wanted = top_of(t->set)->refresh_seconds,
                 usual = t->screen.on ? DEFAULT_REFRESH_SECONDS : 0;
    t->every = (uint64_t)ceil((wanted > 0 ? wanted : usual) * MILLI);
    t->by_lines = t->every > 0 && t->s.times.of_lines && !t->screen.on;
    t->clock_due = now_seconds() + (double)t->every / MILLI;
    if (t->every == 0 || t->by_lines) return;
    t->s.tick = tick;
    t->s.tick_seconds = (double)t->every / MILLI;
    if (t->screen.on) t->s.tick_seconds = fmin(t->s.tick_seconds, keys_every);
}

/* ---- Answers. */

static void print_rows(const top *t, const eb_top_key *rows, size_t n) {
    top_print_answers(t->set, rows, n, t->at_least, t->list.total);
}

static int by_lower(const void *a, const void *b) {
    const eb_top_key *const x = a, *const y = b;
    return (x->lower < y->lower) - (x->lower > y->lower);
}

/* So many keys certainly came as often as that: whoever came less often is not among them. */
static double certain_count(top *t) {
    const size_t n = (size_t)top_of(t->set)->top;
    ask(t, NULL, 0, SIZE_MAX);
    if (t->list.n < n) return 1;
    qsort(t->list.keys, t->list.n, sizeof *t->list.keys, by_lower);
    return fmax(t->list.keys[n - 1].lower, 1);
}

static int answer_exactly(top *t, char *const *paths, double least) {
    const double memory =
        size_in_bytes(t->c, "-m", t->set->memory ? t->set->memory : DEFAULT_MEMORY);
    const double from = fmax(least, top_of(t->set)->top ? certain_count(t) : 1);
    exact_keys exact;
    t->readings++;
    const int status = again_count(&t->s, paths, from, t->list.total, (size_t)memory, &exact);
    if (status == STATUS_YES) print_rows(t, exact.rows, exact.n);
    exact_free(&exact);
    return status;
}

static void say_cut_keys(const top *t) {
    size_t cut = 0;
    for (size_t i = 0; i < t->list.n; i++) cut += t->list.keys[i].cut;
    if (cut > 0)
        cli_warn("%zu key%s too long for the list, which has only the first bytes: give more -m, "
                 "or --filter top:key_bytes=BYTES",
                 cut, cut == 1 ? " is" : "s are");
}

static int answer(top *t, char *const *paths) {
    const double least = least_count(t, NULL);
    ask(t, NULL, least, most_rows(t->set));
    const bool complete =
        top_is_complete(t->set, t->list.keys, t->list.n, t->list.watermark, t->at_least);
    if (paths && (top_of(t->set)->verify || !complete)) {
        if (!complete && !t->set->quiet)
            cli_warn("the list is complete above %.15g only: reading the input again",
                     ceil(t->list.watermark));
        return answer_exactly(t, paths, least);
    }
    if (t->fades)
        show(t, t->s.times.last);
    else
        print_rows(t, t->list.keys, t->list.n);
    say_cut_keys(t);
    const int status = counters_verdict(t->s.filter);
    if (complete) return status;
    return top_incomplete(t->list.watermark,
                          t->fades ? "give more -m" : "give more -m, or --rescan FILE");
}

static void print_stats(const top *t) {
    report r;
    report_begin(&r, stderr, t->set->json);
    report_count(&r, "lines", "lines", t->lines);
    report_count(&r, "bad_lines", "bad lines", t->s.bad.lines);
    report_bytes(&r, "bytes", "bytes", (double)t->bytes);
    report_real(&r, "seconds", "seconds", now_seconds() - t->s.start);
    report_count(&r, "readings", "readings", t->readings);
    report_text(&r, "filter", "filter", eb_spec(t->s.filter));
    report_count(&r, "keys", "keys that are kept", t->list.matching);
    report_amount(&r, "watermark", "watermark", t->list.watermark);
    report_count(&r, "saturated", "full counters", filter_saturated(t->s.filter));
    report_end(&r);
}

/* ---- The command. */

static void open_filter(top *t, char *const *paths) {
    stream_open(&t->s, t->c, paths);
    t->s.filter = filter_open(t->c, t->set);
    if (!(eb_caps(t->s.filter) & EB_KEEPS_KEYS))
        cli_misuse(t->c, "top needs a filter of the kind top, which keeps keys");
    t->fades = eb_faded(t->s.filter, 1) > 0;
    values_open(&t->s.values, t->c, t->set, t->s.filter, true);
    t->s.times.by_time = true;
    times_open(&t->s.times, t->c, t->set, t->s.filter);
    if (t->fades) fading_open(&t->fading, t->set, t->s.filter);
    if (t->s.times.wanted && t->s.times.of_lines) {
        t->s.times.keeps_place = true;
        t->s.late = late_lines(true);
    }
}

static int list_keys(const cli_command *c, const settings *set, char **operands) {
    static char *const none[] = {NULL};
    top t = {.c = c, .set = set, .readings = 1};
    /* with a state, the operands are not all that was counted */
    char **const again = fade_is_asked(set) ? NULL : again_paths(set, set->state ? none : operands);
    if (top_of(set)->verify && !again)
        cli_misuse(c, "--verify needs files, or --rescan FILE: the input cannot be read again");
    t.at_least = thresholds_read(c, set);
    t.s = (stream){.set = set, .print = PRINT_NONE, .adds = true, .look_up = take, .ctx = &t};
    t.s.state = set->state;
    open_filter(&t, operands);
    open_refresh(&t, operands);
    int status = stream_run(&t.s);
    screen_close(&t.screen);
    t.lines = t.s.lines;
    t.bytes = t.s.in.bytes;
    t.s.tick = NULL;
    t.s.state = NULL; /* reading again changes nothing */
    if (status == STATUS_YES) status = answer(&t, t.fades ? NULL : again);
    if (status <= STATUS_NO && set->stats) {
        ask(&t, NULL, 0, 0);
        print_stats(&t);
    }
    t.s.state = set->state;
    stream_close(&t.s);
    eb_free(t.s.filter);
    free(t.list.keys);
    free(t.at_least);
    free(again);
    return status;
}

/* ---- Alerts: a key is named when its count is reached, and remembered so that it is named once.
 * Counts are never too low, so none is missed. */

typedef struct alerts {
    double at;
    size_t memory;
    keytable named;
    top_rows out;
} alerts;

/* Alerts leave the program with the batch that raised them. */
static void take_alert(stream *s, const eb_batch *batch) {
    alerts *const a = s->ctx;
    double after[STREAM_BATCH];
    eb_batch b = *batch;
    eb_error err;
    bool any = false;
    b.count = after;
    if (eb_add_batch(s->filter, &b, &err) != EB_OK)
        cli_fail("the filter refuses keys: %s", err.text);
    for (size_t i = 0; i < b.n; i++) {
        if (after[i] < a->at || keytable_find(&a->named, b.hash[i], s->key[i])) continue;
        if (table_is_full(&a->named, a->memory))
            cli_fail("no memory to remember more printed keys: give more -m, or a larger --alert");
        (void)keytable_get(&a->named, b.hash[i], s->key[i]);
        top_rows_put(&a->out, NULL, &(eb_top_key){.key = s->key[i], .count = after[i]});
        any = true;
    }
    if (any) top_rows_flush(&a->out);
}

static int raise_alerts(const cli_command *c, const settings *set, char **operands) {
    const double memory = size_in_bytes(c, "-m", set->memory ? set->memory : DEFAULT_MEMORY);
    alerts a = {.at = top_of(set)->alert, .memory = (size_t)memory};
    stream s = {.set = set, .print = PRINT_NONE, .adds = true, .look_up = take_alert, .ctx = &a};
    stream_open(&s, c, operands);
    s.filter = filter_open(c, set);
    if (~eb_caps(s.filter) & (EB_CAN_COUNT | EB_NO_FALSE_NEGATIVES))
        cli_misuse(c,
                   "--alert needs counts that are never too low, such as those of " DEFAULT_COUNT);
    values_open(&s.values, c, set, s.filter, true);
    top_rows_open(&a.out, set, false, 0, 0);
    int status = stream_run(&s);
    top_rows_close(&a.out);
    if (counters_verdict(s.filter) != STATUS_YES && status == STATUS_YES) status = STATUS_NO;
    keytable_free(&a.named);
    stream_close(&s);
    eb_free(s.filter);
    return status;
}

/* ---- What is asked. */

static void check_fading(const cli_command *c, const settings *set) {
    const char *const wrong = top_of(set)->verify      ? "--verify"
                              : top_of(set)->rescan.n  ? "--rescan"
                              : top_of(set)->alert > 0 ? "--alert"
                                                       : NULL;
    if (wrong) cli_misuse(c, "%s cannot be combined with counts that fade", wrong);
    if (top_of(set)->at_least.n > 1)
        cli_misuse(c, "with counts that fade, give only one --at-least");
    if (set->window.lines > 0) cli_misuse(c, "top needs a --window in time, such as 10m");
}

static void check_alert(const cli_command *c, const settings *set) {
    if (top_of(set)->at_least.n > 0 || top_of(set)->top)
        cli_misuse(c, "--alert prints keys as they come: leave out --at-least and -n");
    if (top_of(set)->verify || top_of(set)->rescan.n)
        cli_misuse(c, "--alert reads its input once: leave out --verify and --rescan");
    if (set->state) cli_misuse(c, "--state is for --at-least and -n");
    if (set->stats) cli_misuse(c, "--stats is for --at-least and -n");
    if (!(top_of(set)->alert >= 1 && top_of(set)->alert <= COUNT_MOST))
        cli_misuse(c, "--alert must be a count from 1 to 2.8e14, not %g", top_of(set)->alert);
}

bool top_filter(const cli_command *c, const settings *set, char *spec, size_t cap) {
    if (top_of(set)->alert > 0) return count_filter(c, set, spec, cap);
    fade_check(c, set);
    if (fade_is_asked(set))
        fade_spec(c, set, true, spec, cap);
    else
        snprintf(spec, cap, "top");
    return false;
}

int run_top(const cli_command *c, const settings *set, char **operands, size_t n) {
    settings with = *set;
    top_own own = *top_of(set);
    with.own = &own;
    (void)n;
    if (set->names && set->json) cli_misuse(c, "--names and --json: give one of them");
    if (top_of(set)->top > TOP_MAX)
        cli_misuse(c, "-n must be 1..%d, not %llu", TOP_MAX, (unsigned long long)top_of(set)->top);
    if (!top_of(set)->top && top_of(set)->at_least.n == 0 && !(top_of(set)->alert > 0))
        own.top = DEFAULT_TOP;
    if (set->redis) return remote_list(c, &with, operands);
    if (fade_is_asked(set)) check_fading(c, set);
    if (top_of(set)->alert > 0) {
        check_alert(c, set);
        return raise_alerts(c, set, operands);
    }
    return list_keys(c, &with, operands);
}
