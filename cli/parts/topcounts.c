/* topcounts.c - top with counts since the beginning: in one pass and in fixed memory.
 *
 * The lines go through the loop of add, into a counting filter with candidates beside it.  Answers
 * below the watermark need the input again; --verify reads it again for exact counts.  --alert
 * names keys while they come. */
#include "filterfile.h"
#include "health.h"
#include "top.h"
#include <everbloom/experimental.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct question {
    const char *text;
    threshold at_least;
    double count;
} question;

typedef struct iceberg {
    const cli_command *c;
    const settings *set;
    settings inner; /* with the filter's part of the memory */
    char filter_memory[24];
    size_t candidates; /* bytes */
    snapshot was;      /* the state at first, if there was one */
    eb_iceberg *ice;
    stream s;
    char **again; /* paths, or NULL */
    uint32_t readings;
    uint64_t lines, bytes; /* of the first reading */
    screen screen;
    double began, due; /* by the clock: the first line, and when the list is shown next */
    bool shown;
} iceberg;

static void expect_ok(eb_status status, const char *what) {
    if (status != EB_OK) cli_fail("%s: %s", what, eb_status_name(status));
}

/* ---- Memory. */

/* A state says how much there is, unless the command line does. */
static bool state_says(const settings *set) {
    struct stat st;
    return set->state && stat(set->state, &st) == 0 && !set->memory && !set->filter &&
           !set->candidate_memory;
}

static void share_memory(iceberg *p) {
    const settings *set = p->set;
    p->inner = *set;
    if (state_says(set)) return;
    const bool whole = !set->filter || set->memory; /* else the spec says the filter's part */
    const double all = size_in_bytes(p->c, "-m", set->memory ? set->memory : DEFAULT_MEMORY);
    const double keys = set->candidate_memory
                            ? size_in_bytes(p->c, "--candidate-memory", set->candidate_memory)
                            : all / 4;
    if (keys < 1024) cli_misuse(p->c, "candidates need at least 1K of memory");
    p->candidates = (size_t)keys;
    if (!whole) return;
    if (keys >= all) cli_misuse(p->c, "--candidate-memory must be less than all of the memory");
    snprintf(p->filter_memory, sizeof p->filter_memory, "%.0f", all - keys);
    p->inner.memory = p->filter_memory;
}

static void open_filter(iceberg *p, char *const *paths) {
    share_memory(p);
    p->s = (stream){.set = &p->inner, .print = PRINT_NONE};
    p->s.state = p->set->state;
    stream_open(&p->s, p->c, paths);
    p->s.filter = filter_open_kept(p->c, &p->inner, &p->was);
    values_open(&p->s.values, p->c, p->set, p->s.filter, true);
}

static void close_all(iceberg *p) {
    stream_close(&p->s);
    eb_free(p->s.filter);
    free(p->again);
}

/* ---- The state: the filter and, behind it, the candidates. */

static void save_state(const stream *s) {
    const iceberg *const p = s->ctx;
    byte_buffer keys = {0};
    eb_error err;
    if (eb_iceberg_save(p->ice, byte_buffer_write, &keys, &err) != EB_OK) cli_fail("%s", err.text);
    filter_save_before(s->filter, s->state, keys.bytes, keys.length);
    free(keys.bytes);
}

static void new_iceberg(iceberg *p) {
    eb_error err;
    if (eb_iceberg_new(&p->ice, p->s.filter, p->candidates, NULL, &err) != EB_OK)
        cli_fail("%s", err.text);
}

/* false: there is nothing to go on from */
static bool resume(iceberg *p) {
    eb_error err;
    if (!p->was.bytes) return false;
    if (p->was.length == p->was.end)
        cli_fail("%s: a filter without candidates: top cannot go on from it", p->s.state);
    if (eb_iceberg_load(&p->ice, p->s.filter, (char *)p->was.bytes + p->was.end,
                        p->was.length - p->was.end, p->candidates, NULL, &err) != EB_OK)
        cli_fail("%s: %s", p->s.state, err.text);
    snapshot_close(&p->was);
    return true;
}

/* ---- Readings. */

static void take_first(stream *s, const eb_batch *batch) {
    const iceberg *const p = s->ctx;
    expect_ok(eb_iceberg_add(p->ice, s->key, batch), "the filter refuses keys");
}

static void take_again(stream *s, const eb_batch *batch) {
    const iceberg *const p = s->ctx;
    expect_ok(eb_iceberg_read(p->ice, s->key, batch), "the filter refuses keys");
}

static eb_iceberg_state state_of(const iceberg *p) {
    eb_iceberg_state s = {.size = sizeof s};
    (void)eb_iceberg_state_of(p->ice, &s, NULL);
    return s;
}

/* 0, or the status to end with. */
static int read_again(iceberg *p, double at_least) {
    expect_ok(eb_iceberg_recount(p->ice, at_least), "counting again");
    stream_again(&p->s, p->c, p->again);
    p->s.look_up = take_again;
    p->readings++;
    const int status = stream_run(&p->s);
    const eb_iceberg_state now = state_of(p);
    if (status == STATUS_YES) check_same_input(now.total, now.read_again);
    return status;
}

/* ---- Answers. */

/* Those that came so often, sorted. */
static eb_candidate *candidates_from(const iceberg *p, double at_least, size_t *n) {
    eb_candidate *const list = cli_alloc((state_of(p).keys + 1) * sizeof *list);
    *n = 0;
    for (uint64_t at = 0; eb_iceberg_next(p->ice, at_least, &at, &list[*n]);) ++*n;
    sort_candidates(list, *n);
    return list;
}

static void print_answer(const iceberg *p, answers *out, const question *q, bool labels) {
    size_t n;
    eb_candidate *const list = candidates_from(p, q->count, &n);
    out->exact = state_of(p).exact;
    for (size_t i = 0; i < n; i++) answers_put(out, labels ? q->text : NULL, &list[i]);
    free(list);
}

/* Counters without room count anything: how many answers they spoil. */
static uint64_t full_counts(const iceberg *p, double at_least) {
    uint64_t full = 0;
    eb_candidate c;
    if (state_of(p).exact) return 0;
    for (uint64_t at = 0; eb_iceberg_next(p->ice, at_least, &at, &c);)
        full += c.count >= COUNT_MOST;
    return full;
}

static void say_why_again(const iceberg *p, bool below) {
    if (p->set->verify || p->set->quiet) return;
    if (below)
        cli_warn("candidates reach down to %.0f only: reading the input again",
                 state_of(p).watermark + 1);
    else
        cli_warn("the filter has no room for some counts: reading the input again");
}

/* Is the answer complete, with what is known now?  If not, what may be missing is said. */
static int verdict(const iceberg *p, double at_least, uint64_t full) {
    const double watermark = state_of(p).watermark;
    if (full > 0 && watermark < COUNT_MOST)
        cli_warn(
            "%llu count%s not known (inf) since the filter is full: give more -m, --rescan FILE or "
            "--filter " DEFAULT_COUNT ":store=" DEFAULT_WEIGHTS,
            (unsigned long long)full, full == 1 ? " is" : "s are");
    if (at_least > watermark || watermark == 0) return full > 0 ? STATUS_NO : STATUS_YES;
    if (watermark >= COUNT_MOST)
        cli_fail("the filter is full and tells keys no more apart: give more -m");
    cli_warn("keys that came up to %.0f times may be missing: give more -m%s", watermark,
             p->set->top ? ""
             : p->again  ? " or use --multiscan"
                         : ", or --rescan FILE");
    return STATUS_NO;
}

/* Everything that can be done for a complete answer; 0, 1 if that is not enough, or a status to end
 * with. */
static int prepare(iceberg *p, const question *q) {
    const bool below = q->count <= state_of(p).watermark;
    uint64_t full = full_counts(p, q->count);
    if (!below && !full && (!p->set->verify || state_of(p).exact)) return STATUS_YES;
    if (p->again) {
        say_why_again(p, below);
        const int status = read_again(p, q->count);
        if (status != STATUS_YES) return status;
        full = 0;
    }
    return verdict(p, q->count, full);
}

/* ---- The most frequent keys. */

/* The count of the last of the keys that are asked for; 0 if there are not so many. */
static double last_count(const iceberg *p) {
    size_t n;
    eb_candidate *const list = candidates_from(p, 1, &n);
    const double last = n < p->set->top ? 0 : list[p->set->top - 1].count;
    free(list);
    return last;
}

/* If there are fewer candidates than keys are asked for, there is no room for more, so reading
 * again is of no use; unless they are all keys.  Exact counts are smaller, so keys further down may
 * come to be among the most frequent: they are counted when the input is read once more. */
static int prepare_top(iceberg *p) {
    for (double asked = INFINITY;;) {
        const eb_iceberg_state now = state_of(p);
        const double last = last_count(p);
        const bool all = now.watermark == 0, complete = all || last > now.watermark;
        const uint64_t full = full_counts(p, 1);
        const bool counted = now.exact || (!p->set->verify && !full);
        const bool no_use = counted && !complete && (last == 0 || now.watermark >= asked);
        if (counted && complete) return STATUS_YES;
        if (!p->again || no_use) return verdict(p, last, full);
        say_why_again(p, false);
        asked = counted ? last : now.watermark + 1;
        const int status = read_again(p, asked);
        if (status != STATUS_YES) return status;
    }
}

static int answer_top(iceberg *p) {
    const int status = prepare_top(p);
    if (status > STATUS_NO) return status;
    size_t n;
    eb_candidate *const list = candidates_from(p, 1, &n);
    answers out;
    answers_open(&out, p->set, false, state_of(p).total, state_of(p).exact);
    for (size_t i = 0; i < n && i < p->set->top; i++) answers_put(&out, NULL, &list[i]);
    answers_close(&out);
    free(list);
    return status;
}

/* ---- All thresholds. */

static int by_threshold(const void *a, const void *b) {
    const question *const x = a, *const y = b;
    return (x->count > y->count) - (x->count < y->count);
}

static int answer_all(iceberg *p, question *questions, size_t n) {
    const double total = state_of(p).total;
    answers out;
    for (size_t i = 0; i < n; i++) questions[i].count = threshold_of(questions[i].at_least, total);
    qsort(questions, n, sizeof *questions, by_threshold);
    int worst = prepare(p, &questions[0]);
    if (worst > STATUS_NO) return worst;
    answers_open(&out, p->set, n > 1, total, false);
    print_answer(p, &out, &questions[0], n > 1);
    for (size_t i = 1; i < n && worst <= STATUS_NO; i++) {
        const int status = prepare(p, &questions[i]);
        if (status <= STATUS_NO) print_answer(p, &out, &questions[i], n > 1);
        if (status > worst) worst = status;
    }
    answers_close(&out);
    return worst;
}

static void print_stats(const iceberg *p) {
    char spec[EB_SPEC_MAX];
    const double seconds = now_seconds() - p->s.start;
    const eb_iceberg_state now = state_of(p);
    report r;
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(p->s.filter));
    report_begin(&r, stderr, p->set->json);
    report_count(&r, "lines", "lines", p->lines);
    report_bytes(&r, "bytes", "bytes", (double)p->bytes);
    report_real(&r, "seconds", "seconds", seconds);
    report_count(&r, "readings", "readings", p->readings);
    report_text(&r, "filter", "filter", spec);
    report_count(&r, "candidates", "candidates", now.keys);
    report_bytes(&r, "candidate_bytes", "memory of candidates", (double)now.bytes);
    report_amount(&r, "watermark", "watermark", now.watermark);
    report_count(&r, "saturated", "full counters", filter_saturated(p->s.filter));
    report_end(&r);
}

/* ---- The commands. */

/* The least count that will be asked for; of percentages nothing is known before the end. */
static double least_asked(const question *questions, size_t n) {
    double least = n > 0 ? COUNT_MOST : 1;
    for (size_t i = 0; i < n; i++) least = fmin(least, threshold_of(questions[i].at_least, 0));
    return least;
}

/* ---- On the way. */

static void show(iceberg *p) {
    const eb_iceberg_state now = state_of(p);
    size_t n;
    const double least =
        p->set->at_least.n ? threshold_of(threshold_read(p->c, p->set->at_least.text[0]), now.total)
                           : 1;
    eb_candidate *const list = candidates_from(p, least, &n);
    const size_t asked = p->set->top ? (size_t)p->set->top : n;
    const size_t most = p->screen.on && asked < TOP_LIVE_ROWS ? TOP_LIVE_ROWS : asked;
    const top_view v = {.rows = list,
                        .n = n < most ? n : most,
                        .total = now.total,
                        .seconds = p->began > 0 ? fmax(now_seconds() - p->began, 1e-3) : 0,
                        .watermark = now.watermark,
                        .lines = p->s.lines};
    if (p->screen.on)
        top_draw(&p->screen, &v);
    else {
        if (p->shown && !p->set->json) putchar(p->set->nul ? '\0' : '\n');
        top_print(p->set, &v);
        p->shown = true;
    }
    free(list);
}

static void tick(stream *s) {
    iceberg *const p = s->ctx;
    const double now = now_seconds(), every = p->set->refresh_seconds > 0 ? p->set->refresh_seconds
                                                                          : DEFAULT_REFRESH_SECONDS;
    const bool steered = p->screen.on && screen_keys(&p->screen);
    s->stop = p->screen.ended;
    if (p->began == 0 && s->lines > 0) p->began = now; /* at most a tick late */
    if ((p->screen.paused || now < p->due) && !steered) return;
    p->due = now + every;
    show(p);
}

static void open_refresh(iceberg *p, char *const *paths) {
    static const double keys_every = 0.1;
    if (top_is_live(p->set, paths)) screen_open(&p->screen);
    if (!p->screen.on && !(p->set->refresh_seconds > 0)) return;
    p->s.tick = tick;
    p->s.tick_seconds = p->screen.on ? keys_every : p->set->refresh_seconds;
    p->due = now_seconds() + p->s.tick_seconds;
}

static int find_icebergs(iceberg *p, char *const *paths, question *questions, size_t n) {
    static char *const none[] = {NULL};
    /* with a state, the operands are not all that was counted */
    p->again = rescan_paths(p->set, p->set->state ? none : paths);
    if (p->set->verify && !p->again)
        cli_misuse(p->c, "--verify needs files, or --rescan FILE: the input cannot be read again");
    open_filter(p, paths);
    if (!resume(p)) {
        new_iceberg(p);
        expect_ok(eb_iceberg_expect(p->ice, least_asked(questions, n)), "no such count");
    }
    p->s.look_up = take_first;
    p->s.save = save_state;
    p->s.ctx = p;
    p->readings = 1;
    open_refresh(p, paths);
    int status = stream_run(&p->s);
    screen_close(&p->screen);
    p->s.tick = NULL;
    p->s.state = NULL; /* reading again changes the candidates */
    p->lines = p->s.lines;
    p->bytes = p->s.in.bytes;
    if (status == STATUS_YES) status = p->set->top ? answer_top(p) : answer_all(p, questions, n);
    if (status <= STATUS_NO && p->set->stats) print_stats(p);
    eb_iceberg_free(p->ice);
    close_all(p);
    return status;
}

typedef struct alerts {
    eb_trigger *trigger;
    answers out;
} alerts;

/* Alerts leave the program with the batch that raised them. */
static void take_alert(stream *s, const eb_batch *batch) {
    alerts *const a = s->ctx;
    double fired[STREAM_BATCH];
    bool any = false;
    const eb_status status = eb_trigger_add(a->trigger, s->key, batch, fired);
    if (status == EB_ENOMEM)
        cli_fail("no room for more keys that were printed: give more -m, or a larger --alert");
    expect_ok(status, "the filter refuses keys");
    for (size_t i = 0; i < batch->n; i++) {
        if (fired[i] == 0) continue;
        const eb_candidate c = {s->key[i], fired[i]};
        answers_put(&a->out, NULL, &c);
        any = true;
    }
    if (any) answers_flush(&a->out);
}

static int raise_alerts(iceberg *p, char *const *paths) {
    eb_error err;
    alerts a;
    open_filter(p, paths);
    if (eb_trigger_new(&a.trigger, p->s.filter, p->set->alert, p->candidates, NULL, &err) != EB_OK)
        cli_fail("%s", err.text);
    p->s.look_up = take_alert;
    p->s.ctx = &a;
    answers_open(&a.out, p->set, false, 0, false);
    int status = stream_run(&p->s);
    answers_close(&a.out);
    if (counters_verdict(p->s.filter) != STATUS_YES && status == STATUS_YES) status = STATUS_NO;
    eb_trigger_free(a.trigger);
    close_all(p);
    return status;
}

int top_of_counts(const cli_command *c, const settings *set, char **operands) {
    iceberg p = {.c = c, .set = set};
    if (set->alert > 0) return raise_alerts(&p, operands);
    question *const questions = cli_alloc((set->at_least.n + 1) * sizeof *questions);
    for (size_t i = 0; i < set->at_least.n; i++)
        questions[i] =
            (question){set->at_least.text[i], threshold_read(c, set->at_least.text[i]), 0};
    const int status = find_icebergs(&p, operands, questions, set->at_least.n);
    free(questions);
    return status;
}
