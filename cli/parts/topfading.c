/* topfading.c - top with counts that fade: the keys that are hottest now.
 *
 * A filter whose counts fade counts all keys; a small table (hottest.h) keeps the keys that may be
 * among the hottest.  Time is that of the lines (--time-field) or that of the clock.  What is shown
 * on the way is shown by the clock on a screen or if lines have no time, else by the time of
 * the lines. */
#include "fade.h"
#include "filterfile.h"
#include "health.h"
#include "hottest.h"
#include "stream.h"
#include "top.h"
#include <everbloom/experimental.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES_LEAST = 1000, CANDIDATES_EACH = 10, MILLI = 1000 };

typedef struct hot {
    const settings *set;
    stream s;
    screen screen;
    hottest keys;
    eb_hash *hash; /* room for all keys of the table, to ask with */
    double *count;
    size_t *order;
    eb_candidate *rows;
    double halflife, epsilon; /* of the filter, in milliseconds and arrivals */
    uint64_t period;          /* 0: counts fade by half-lives; else an epoch, by age */
    hot_marks marks;
    fading fading;
    threshold at_least;
    bool by_lines; /* lines have their own time, and nobody watches */
    bool shown;
    uint64_t lines;      /* that count by now */
    uint64_t now;        /* the filter's clock; to ask the filter would be a walk over its cells */
    uint64_t every, due; /* milliseconds of lines; due 0: no line yet */
    double clock_due;
} hot;

/* ---- Showing. */

static const hot *sorting; /* for qsort, which passes nothing on */

static int hotter_first(const void *left, const void *right) {
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const hot_key *const x = &sorting->keys.keys[a], *const y = &sorting->keys.keys[b];
    if (sorting->count[a] != sorting->count[b])
        return sorting->count[a] > sorting->count[b] ? -1 : 1;
    const int c = memcmp(x->bytes, y->bytes, x->len < y->len ? x->len : y->len);
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

/* Counts of all keys of the table as of now. */
static void count_all(hot *h) {
    for (size_t i = 0; i < h->keys.n; i++) h->hash[i] = h->keys.keys[i].hash;
    filter_counts(h->s.filter, h->hash, h->keys.n, h->count);
    for (size_t i = 0; i < h->keys.n; i++) h->count[i] = count_or_infinity(h->count[i], h->s.total);
}

/* The same, and their order. */
static void look(hot *h) {
    count_all(h);
    for (size_t i = 0; i < h->keys.n; i++) h->order[i] = i;
    sorting = h;
    qsort(h->order, h->keys.n, sizeof *h->order, hotter_first);
}

/* No key that is not in the table has a larger count. */
static double watermark(const hot *h) {
    if (h->period > 0) return hot_marks_most(&h->marks, h->now);
    return exp2(h->keys.watermark - (double)h->now / h->halflife) + h->epsilon;
}

static top_view view(hot *h) {
    top_view v = {.rows = h->rows,
                  .total = fading_total(&h->fading, h->now),
                  .seconds = fading_seconds(&h->fading, h->now),
                  .watermark = watermark(h),
                  .lines = h->lines,
                  .now = h->now};
    const double least = h->set->at_least.n ? threshold_of(h->at_least, v.total) : 0;
    look(h);
    const size_t asked = h->set->top ? (size_t)h->set->top : h->keys.n;
    const size_t most = h->screen.on && asked < TOP_LIVE_ROWS ? TOP_LIVE_ROWS : asked;
    for (size_t i = 0; i < h->keys.n && v.n < most; i++) {
        const double count = h->count[h->order[i]];
        const hot_key *const k = &h->keys.keys[h->order[i]];
        if (!(count > 0) || count < least) break;
        h->rows[v.n++] = (eb_candidate){{k->bytes, k->len}, count};
    }
    return v;
}

static void show(hot *h) {
    const top_view v = view(h);
    if (h->screen.on) {
        top_draw(&h->screen, &v);
        return;
    }
    if (h->shown && !h->set->json) putchar(h->set->nul ? '\0' : '\n'); /* between two tables */
    top_print(h->set, &v);
    h->shown = true;
}

/* ---- Lines. */

static void offer_by_halflife(hot *h, const eb_batch *b, const eb_key *key, const double *count) {
    const double now = (double)h->now / h->halflife;
    for (size_t i = 0; i < b->n; i++)
        hottest_offer(&h->keys, b->hash[i], key[i], log2(count[i]) + now);
}

static void offer_by_age(hot *h, const eb_batch *b, const eb_key *key, const double *count,
                         uint64_t before) {
    if (h->now / h->period != before / h->period) {
        count_all(h);
        hottest_rank_again(&h->keys, h->count);
    }
    for (size_t i = 0; i < b->n; i++) hottest_offer(&h->keys, b->hash[i], key[i], count[i]);
    if (h->keys.watermark > 0) hot_marks_put(&h->marks, h->now, h->keys.watermark);
    h->keys.watermark = -INFINITY;
}

static void take(hot *h, const eb_batch *b, const eb_key *key) {
    double count[STREAM_BATCH];
    const uint64_t before = h->now;
    if (b->n == 0) return;
    eb_error err;
    if (eb_add_batch(h->s.filter, b, &err) != EB_OK)
        cli_fail("the filter refuses keys: %s", err.text);
    h->lines += b->n;
    fading_add(&h->fading, b);
    filter_counts(h->s.filter, b->hash, b->n, count);
    h->now = b->time[b->n - 1];
    if (h->period > 0)
        offer_by_age(h, b, key, count, before);
    else
        offer_by_halflife(h, b, key, count);
}

static void pass_time(hot *h, uint64_t now) {
    if (eb_advance(h->s.filter, now, NULL) == EB_OK) h->now = now;
}

/* Before the first line of a time at which something is due. */
static void show_if_due(hot *h, uint64_t time) {
    if (h->due == 0) h->due = time + h->every;
    if (time < h->due) return;
    pass_time(h, h->due);
    show(h);
    h->due += ((time - h->due) / h->every + 1) * h->every;
}

static void look_up(stream *s, const eb_batch *b) {
    hot *const h = s->ctx;
    memset(s->hit, 0, b->n);
    for (size_t from = 0, to; from < b->n; from = to) {
        if (h->by_lines && h->every > 0) show_if_due(h, b->time[from]);
        for (to = from; to < b->n; to++)
            if (h->due > 0 && b->time[to] >= h->due) break;
        eb_batch part = eb_batch_hashes(b->hash + from, to - from);
        part.value = b->value ? b->value + from : NULL;
        part.time = b->time + from;
        take(h, &part, s->key + from);
    }
}

/* By the clock. */
static void tick(stream *s) {
    hot *const h = s->ctx;
    const double now = now_seconds();
    const bool steered = h->screen.on && screen_keys(&h->screen);
    s->stop = h->screen.ended;
    if (h->screen.paused && !steered) return;
    if (now < h->clock_due && !steered) return;
    h->clock_due = now + (double)h->every / MILLI;
    if (!s->times.of_lines) pass_time(h, times_now(&s->times));
    show(h);
}

/* ---- The command. */

static void open_table(hot *h) {
    const size_t wanted = CANDIDATES_EACH * (size_t)(h->set->top ? h->set->top : CANDIDATES_LEAST);
    const size_t room = wanted < CANDIDATES_LEAST ? CANDIDATES_LEAST : wanted;
    h->rows = cli_alloc(room * sizeof *h->rows);
    hottest_open(&h->keys, room);
    h->hash = cli_alloc(room * sizeof *h->hash);
    h->count = cli_alloc(room * sizeof *h->count);
    h->order = cli_alloc(room * sizeof *h->order);
}

/* A key that is not kept must not become hotter by itself. */
static bool only_falls(const eb_filter *f) {
    char spec[EB_SPEC_MAX];
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(f));
    if (strstr(spec, ",by=polyexp,")) return false;
    const char *shape = strstr(spec, ",by=polygonal,") ? strstr(spec, ",heights=") : NULL;
    if (!shape) return true;
    char *end;
    for (unsigned long last = 255, height; *shape != '\0'; shape = end, last = height) {
        shape += *shape == ':' ? 1 : strlen(",heights=");
        height = strtoul(shape, &end, 10);
        if (height > last) return false;
        if (*end != ':') break;
    }
    return true;
}

static void open_filter(hot *h, const cli_command *c) {
    eb_filter *const f = h->s.filter = filter_open(c, h->set);
    const eb_stats stats = filter_stats(f);
    if (!filter_is(f, "decay") && !filter_is(f, "aging"))
        cli_misuse(c, "top needs a filter whose counts fade: decay:halflife=MILLISECONDS");
    if (!only_falls(f)) cli_misuse(c, "top needs counts that only fall with age");
    h->halflife = stats.halflife;
    h->period = filter_is(f, "aging") ? filter_option(f, "period") : 0;
    if (h->period > 0) hot_marks_open(&h->marks, h->period * filter_option(f, "epochs"));
    h->epsilon = stats.too_low;
    fading_open(&h->fading, h->set, f);
    values_open(&h->s.values, c, h->set, h->s.filter, true);
    times_open(&h->s.times, c, h->set, h->s.filter);
}

/* On a screen always, else if it is asked for. */
static void open_refresh(hot *h) {
    static const double keys_every =
        0.1; /* seconds in which a key that is pressed has its effect */
    const double wanted = h->set->refresh_seconds,
                 usual = h->screen.on ? DEFAULT_REFRESH_SECONDS : 0;
    h->every = (uint64_t)ceil((wanted > 0 ? wanted : usual) * MILLI);
    h->by_lines = h->set->time_field.n && !h->screen.on;
    h->clock_due = now_seconds() + (double)h->every / MILLI;
    if (h->every > 0 && !h->by_lines) {
        h->s.tick = tick;
        h->s.tick_seconds = (double)h->every / MILLI;
        if (h->screen.on) h->s.tick_seconds = fmin(h->s.tick_seconds, keys_every);
    }
}

int top_of_fading(const cli_command *c, const settings *set, char **operands) {
    hot h = {.set = set, .s = {.set = set, .print = PRINT_NONE, .adds = true, .look_up = look_up}};
    h.s.ctx = &h;
    h.s.times.by_time = true;
    if (set->at_least.n) h.at_least = threshold_read(c, set->at_least.text[0]);
    stream_open(&h.s, c, operands);
    open_filter(&h, c);
    open_table(&h);
    if (top_is_live(set, operands)) screen_open(&h.screen);
    open_refresh(&h);
    int status = stream_run(&h.s);
    screen_close(&h.screen);
    show(&h);
    if (counters_verdict(h.s.filter) != STATUS_YES && status == STATUS_YES) status = STATUS_NO;
    if (set->stats) stream_stats(&h.s);
    stream_close(&h.s);
    eb_free(h.s.filter);
    hottest_close(&h.keys);
    free(h.hash);
    free(h.count);
    free(h.order);
    free(h.rows);
    return status;
}
