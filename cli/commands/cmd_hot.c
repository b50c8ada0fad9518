/* cmd_hot.c - hot: the keys that are hottest now.
 *
 * A filter whose counts fade counts all keys; a small table (hottest.h) keeps the keys that may be
 * among the hottest.  Time is that of the lines (--time-field) or that of the clock.  What is shown
 * on the way is shown by the clock on a terminal or if lines have no time, else by the time of
 * the lines. */
#include "input/numbers.h"
#include "parts/fade.h"
#include "parts/filterfile.h"
#include "parts/health.h"
#include "parts/hottest.h"
#include "parts/stream.h"
#include <everbloom/experimental.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { CANDIDATES_LEAST = 1000, CANDIDATES_EACH = 10, TOP_MAX = 1000000, MILLI = 1000 };

typedef struct hot {
    const settings *set;
    stream s;
    hottest keys;
    eb_hash *hash; /* room for all keys of the table, to ask with */
    double *count;
    size_t *order;
    double halflife, epsilon; /* of the filter, in milliseconds and arrivals */
    uint64_t period;          /* 0: counts fade by half-lives; else an epoch, by age */
    hot_marks marks;
    size_t top;
    bool terminal, by_lines; /* lines have their own time, and nobody watches */
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

static double rate_of(const hot *h, double count) { /* a second, as a mean that fades */
    return count * eb_faded(h->s.filter, MILLI);
}

static void show_json(const hot *h, size_t n) {
    fprintf(stdout, "{\"time\":%.3f,\"lines\":%llu,\"watermark\":", (double)h->now / MILLI,
            (unsigned long long)h->lines);
    json_number(stdout, watermark(h));
    fputs(",\"keys\":[", stdout);
    for (size_t i = 0; i < n; i++) {
        const hot_key *const k = &h->keys.keys[h->order[i]];
        fputs(i ? ",{\"key\":" : "{\"key\":", stdout);
        json_bytes(stdout, k->bytes, k->len);
        fputs(",\"count\":", stdout);
        json_number(stdout, h->count[h->order[i]]);
        fputs(",\"rate\":", stdout);
        json_number(stdout, rate_of(h, h->count[h->order[i]]));
        putchar('}');
    }
    puts("]}");
}

static void show_text(const hot *h, size_t n) {
    const char end = h->set->nul ? '\0' : '\n';
    if (h->shown) putchar(end); /* an empty line between two tables */
    for (size_t i = 0; i < n; i++) {
        const hot_key *const k = &h->keys.keys[h->order[i]];
        printf("%.6g\t%.4g\t", h->count[h->order[i]], rate_of(h, h->count[h->order[i]]));
        fwrite(k->bytes, 1, k->len, stdout);
        putchar(end);
    }
}

/* A key on a terminal: nothing that could move the cursor, and no more than a line. */
static void show_key(const hot_key *k, size_t width) {
    for (size_t i = 0; i < k->len && i < width; i++) {
        const unsigned char byte = (unsigned char)k->bytes[i];
        putchar(byte < 0x20 || byte == 0x7f ? '?' : byte);
    }
}

static void show_screen(const hot *h, size_t n) {
    struct winsize size = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 4 || size.ws_col < 30)
        size = (struct winsize){.ws_row = 24, .ws_col = 80};
    char time[NUMBER_TEXT];
    number_write(NUMBER_TIME, eb_from_signed((int64_t)(h->now / MILLI)), time);
    printf("\033[H\033[2J%s  %llu lines  complete above %.4g\n%12s %12s  KEY\n", time,
           (unsigned long long)h->lines, watermark(h), "COUNT", "A SECOND");
    for (size_t i = 0; i < n && i + 3 < size.ws_row; i++) {
        const double count = h->count[h->order[i]];
        printf("%12.6g %12.4g  ", count, rate_of(h, count));
        show_key(&h->keys.keys[h->order[i]], size.ws_col - 27u);
        putchar('\n');
    }
}

static void show(hot *h) {
    size_t n = 0;
    look(h);
    while (n < h->keys.n && n < h->top && h->count[h->order[n]] > 0) n++;
    if (h->set->json)
        show_json(h, n);
    else if (h->terminal)
        show_screen(h, n);
    else
        show_text(h, n);
    h->shown = true;
    finish_stdout();
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
    if (now < h->clock_due) return;
    h->clock_due = now + (double)h->every / MILLI;
    if (!s->times.of_lines) pass_time(h, times_now(&s->times));
    show(h);
}

/* ---- The command. */

static size_t read_top(const cli_command *c, const settings *set) {
    if (set->top > TOP_MAX)
        cli_misuse(c, "--top must be 1..%d, not %llu", TOP_MAX, (unsigned long long)set->top);
    return set->top ? (size_t)set->top : DEFAULT_TOP;
}

static void open_table(hot *h, const cli_command *c) {
    h->top = read_top(c, h->set);
    const size_t room =
        CANDIDATES_EACH * h->top < CANDIDATES_LEAST ? CANDIDATES_LEAST : CANDIDATES_EACH * h->top;
    hottest_open(&h->keys, room);
    h->hash = cli_alloc(room * sizeof *h->hash);
    h->count = cli_alloc(room * sizeof *h->count);
    h->order = cli_alloc(room * sizeof *h->order);
}

/* A key that is not kept must not become hotter by itself. */
static bool only_falls(const eb_filter *f) {
    char spec[EB_SPEC_MAX];
    eb_spec(f, spec, sizeof spec);
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
        cli_misuse(c, "hot needs a filter whose counts fade: decay:halflife=MILLISECONDS");
    if (!only_falls(f)) cli_misuse(c, "hot needs counts that only fall with age");
    h->halflife = stats.halflife;
    h->period = filter_is(f, "aging") ? filter_option(f, "period") : 0;
    if (h->period > 0) hot_marks_open(&h->marks, h->period * filter_option(f, "epochs"));
    h->epsilon = stats.epsilon;
    values_open(&h->s.values, c, h->set, h->s.filter, true);
    times_open(&h->s.times, c, h->set, h->s.filter);
}

/* On a terminal always, else if it is asked for. */
static void open_refresh(hot *h) {
    const double wanted = h->set->refresh_seconds,
                 usual = h->terminal ? DEFAULT_REFRESH_SECONDS : 0;
    h->every = (uint64_t)ceil((wanted > 0 ? wanted : usual) * MILLI);
    h->by_lines = h->set->time_field.n && !h->terminal;
    h->clock_due = now_seconds() + (double)h->every / MILLI;
    if (h->every > 0 && !h->by_lines) {
        h->s.tick = tick;
        h->s.tick_seconds = (double)h->every / MILLI;
    }
}

bool hot_filter(const cli_command *c, const settings *set, char *spec, size_t cap) {
    if (set->window.lines > 0) cli_misuse(c, "hot needs a --window in time, such as 10m");
    fade_check(c, set);
    fade_spec(c, set, spec, cap);
    return false;
}

int run_hot(const cli_command *c, const settings *set, char **operands, size_t n) {
    (void)n;
    hot h = {.set = set,
             .terminal = !set->json && isatty(STDOUT_FILENO),
             .s = {.set = set, .print = PRINT_NONE, .adds = true, .look_up = look_up}};
    h.s.ctx = &h;
    h.s.times.by_time = true;
    stream_open(&h.s, c, operands);
    open_filter(&h, c);
    open_table(&h, c);
    open_refresh(&h);
    int status = stream_run(&h.s);
    show(&h);
    if (counters_verdict(h.s.filter) != STATUS_YES && status == STATUS_YES) status = STATUS_NO;
    if (set->stats) stream_stats(&h.s);
    stream_close(&h.s);
    eb_free(h.s.filter);
    hottest_close(&h.keys);
    free(h.hash);
    free(h.count);
    free(h.order);
    return status;
}
