/* window.c - dedup --window: what filter it takes, the times of lines, and what became of it.
 *
 * A window is a number of lines, or a time.  Times go to the filter in milliseconds.  Logs are
 * seldom quite in order: a line whose time is before that of the line before it is taken as of the
 * same time, which can only keep keys longer, and counted. */
#include "window.h"
#include "filterfile.h"
#include "numbers.h"
#include <everbloom/query.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MILLI = 1000 };
static const uint64_t seconds_end = UINT64_C(100000000000); /* larger epochs are milliseconds */

/* ---- The filter. */

bool stretch_is_given(stretch s) {
    return s.lines > 0 || s.seconds > 0;
}

double stretch_ticks(stretch s) {
    return s.lines > 0 ? s.lines : ceil(s.seconds * MILLI - 1e-6);
}

void window_spec(const settings *set, double max_drop, char *spec, size_t cap) {
    const char *give = set->on_overload    ? set->on_overload
                       : set->max_drop > 0 ? "shorten"
                                           : "degrade";
    snprintf(spec, cap, "window:fpr=%.9g,overload=%s,refresh=%s,unit=%s,window=%.0f", max_drop,
             give, set->refresh ? "yes" : "no", set->window.lines > 0 ? "records" : "time",
             stretch_ticks(set->window));
}

/* ---- Times of lines. */

static bool counts_time(const eb_filter *f) {
    char spec[EB_SPEC_MAX];
    eb_spec(f, spec, sizeof spec);
    return filter_is(f, "window") && strstr(spec, ",unit=time,");
}

/* Filters whose counts fade take one tick a line, unless there is reason to take milliseconds. */
static bool fades_by_time(const cli_command *c, const settings *set, const eb_filter *f) {
    const bool asked = c->run == run_hot || set->half_life > 0 || set->window.seconds > 0 ||
                       (set->time_field.n && !(set->window.lines > 0));
    return asked && (filter_is(f, "decay") || filter_is(f, "aging"));
}

/* A walk over the cells, so not for filters that are new. */
static uint64_t clock_of(const eb_filter *f) {
    eb_stats stats = {.size = sizeof stats};
    eb_stat(f, &stats);
    return stats.clock;
}

void times_open(times *t, const cli_command *c, const settings *set, const eb_filter *f) {
    *t = (times){.wanted = counts_time(f) || fades_by_time(c, set, f), .field = set->time_field};
    if (t->field.n && !t->wanted)
        cli_misuse(c, c->run == run_dedup || set->window.lines > 0
                          ? "--time-field needs a --window in time"
                          : "--time-field needs --half-life, or a --window in time");
    if (set->state) t->last = clock_of(f);
}

/* Up to three digits after a point, or after a comma; the rest is left out.  What is before
 * it gets a new length. */
static uint64_t take_fraction(const char *p, size_t *length) {
    const char *const point = memchr(p, memchr(p, ',', *length) ? ',' : '.', *length);
    uint64_t ms = 0;
    if (!point) return 0;
    for (size_t i = 1, digit = 100; i <= 3 && point + i < p + *length; i++, digit /= 10) {
        if (point[i] < '0' || point[i] > '9') break;
        ms += (uint64_t)(point[i] - '0') * digit;
    }
    if (strspn(p, "0123456789") >= (size_t)(point - p)) *length = (size_t)(point - p);
    return ms;
}

static bool digits_only(const char *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (p[i] < '0' || p[i] > '9') return false;
    return n > 0;
}

/* Seconds since 1970, with or without parts; milliseconds, if they are that many; RFC 3339. */
static bool read_time(eb_key text, uint64_t *ms) {
    char copy[64];
    size_t length = text.len;
    uint64_t value;
    if (length == 0 || length >= sizeof copy) return false;
    memcpy(copy, text.p, length);
    copy[length] = '\0';
    if (strspn(copy, "0123456789.") == length && copy[length - 1] == '.') return false;
    const uint64_t part = take_fraction(copy, &length);
    const char *const rest = copy + length;
    if (*rest && !digits_only(rest + 1, text.len - length - 1)) return false;
    if (!number_read(NUMBER_TIME, (eb_key){copy, length}, &value)) return false;
    const int64_t seconds = eb_to_signed(value);
    if (seconds < 0 || (uint64_t)seconds > UINT64_C(1) << 53) return false;
    const bool is_ms = (uint64_t)seconds >= seconds_end && !*rest;
    *ms = is_ms ? (uint64_t)seconds : (uint64_t)seconds * MILLI + part;
    return true;
}

static uint64_t arrival(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * MILLI + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t read_field(const times *t, reader *r, const char *line, const char *end) {
    const eb_key text = reader_key(r, line, end, &t->field);
    uint64_t ms;
    if (read_time(text, &ms)) return ms;
    cli_fail("%s: line %llu: the time must be seconds since 1970 or a time such as "
             "2026-01-31T12:00:00Z, not \"%.*s\"",
             r->name, (unsigned long long)r->records, text.len > 40 ? 40 : (int)text.len,
             (const char *)text.p);
}

uint64_t times_now(times *t) {
    const uint64_t now = arrival();
    if (now > t->last) t->last = now;
    return t->last;
}

uint64_t time_of_line(times *t, reader *r, const char *line, const char *end) {
    if (!t->field.n) return times_now(t);
    const uint64_t now = read_field(t, r, line, end);
    if (now >= t->last)
        t->last = now;
    else
        t->late++;
    return t->last;
}

/* ---- What became of it. */

void window_report(report *r, const eb_filter *f) {
    eb_stats stats = {.size = sizeof stats};
    if (!filter_is(f, "window")) return;
    eb_stat(f, &stats);
    if (counts_time(f))
        report_amount(r, "window_seconds", "window in seconds", stats.window / MILLI);
    else
        report_amount(r, "window_lines", "window in lines", stats.window);
    report_count(r, "saturated", "without room", stats.saturated);
}

int window_verdict(const times *t, const eb_filter *f) {
    eb_stats stats = {.size = sizeof stats};
    if (!filter_is(f, "window")) return STATUS_YES;
    eb_stat(f, &stats);
    const double wanted = (double)filter_option(f, "window"), unit = counts_time(f) ? MILLI : 1;
    const char *const name = counts_time(f) ? "seconds" : "lines";
    if (t->late > 0)
        cli_warn("%llu %s older than the line before, and taken as of its time",
                 (unsigned long long)t->late, t->late == 1 ? "line was" : "lines were");
    if (stats.window < wanted)
        cli_warn("more came than there is room for: the window was %.10g %s at its shortest, not "
                 "%.10g",
                 stats.window / unit, name, wanted / unit);
    if (stats.saturated > 0)
        cli_warn("%llu times there was no room for a line: give more -m or a shorter --window",
                 (unsigned long long)stats.saturated);
    return stats.window < wanted || stats.saturated > 0 ? STATUS_NO : STATUS_YES;
}
