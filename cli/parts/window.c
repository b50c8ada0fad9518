/* window.c - dedup --window: which filter it uses, the times of lines, and how much of the window
 * was kept.
 *
 * A window is a number of lines, or a time.  Times go to the filter in milliseconds.  Logs are
 * seldom quite in order: late.h. */
#include "window.h"
#include "filterfile.h"
#include "input/times.h"
#include <everbloom/query.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MILLI = 1000 };
enum { JUMP_LEAST = 3600 * 1000, JUMP_LINES = 3 };
static const uint64_t half_year = UINT64_C(182) * 86400 * MILLI;

/* ---- The filter. */

bool stretch_is_given(stretch s) {
    return s.lines > 0 || s.seconds > 0;
}

double stretch_ticks(stretch s) {
    return s.lines > 0 ? s.lines : ceil(s.seconds * MILLI - 1e-6);
}

/* ---- Times of lines. */

static bool counts_time(const eb_filter *f) {
    char spec[EB_SPEC_MAX];
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(f));
    return filter_is(f, "window") && strstr(spec, ",unit=time,");
}

/* Filters whose counts fade take one tick a line, unless there is reason to take milliseconds. */
static bool fades_by_time(const times *t, const settings *set, const eb_filter *f) {
    const bool asked = t->by_time || set->half_life > 0 || set->window.seconds > 0 ||
                       (set->time_field.n && !(set->window.lines > 0));
    return asked && eb_faded(f, 1) > 0;
}

/* A walk over the cells, so not for filters that are new. */
static uint64_t clock_of(const eb_filter *f) {
    const eb_stats stats = filter_stats(f);
    return stats.clock;
}

void times_open(times *t, const cli_command *c, const settings *set, const eb_filter *f) {
    *t = (times){.by_time = t->by_time,
                 .wanted = counts_time(f) || fades_by_time(t, set, f),
                 .of_lines = set->time_field.n > 0};
    if (t->of_lines && !t->wanted)
        cli_misuse(c, !cli_has_option(c, "half-life") || set->window.lines > 0
                          ? "--time-field needs a --window in time"
                          : "--time-field needs --half-life, or a --window in time");
    if (set->time_format && !t->of_lines) cli_misuse(c, "--time-format needs --time-field");
    if (set->time_format && !time_format_is_known(set->time_format))
        cli_misuse(c,
                   "--time-format must have the letters of strptime, such as %%d.%%m.%%Y "
                   "%%H:%%M:%%S, not \"%s\"",
                   set->time_format);
    if (set->max_jump > 0 && !t->of_lines) cli_misuse(c, "--max-jump needs --time-field");
    if (set->state) t->last = t->begun = clock_of(f);
    t->format = set->time_format;
    t->max_jump = (uint64_t)ceil(set->max_jump * MILLI);
    const double window = ceil((set->window.seconds + set->half_life) * MILLI);
    t->ahead = window > JUMP_LEAST ? (uint64_t)window : JUMP_LEAST;
}

static uint64_t arrival(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * MILLI + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t times_now(times *t) {
    const uint64_t now = arrival();
    if (now > t->last) t->last = now;
    return t->last;
}

static __attribute__((format(printf, 2, 0))) bool bad_time(char why[TIMES_WHY], const char *format,
                                                           eb_key text) {
    snprintf(why, TIMES_WHY, format, text.len > 40 ? 40 : (int)text.len, (const char *)text.p);
    return false;
}

/* One wrong time must not become the present, or all lines behind it would be late for ever.
 * Without --max-jump, only the clock of the machine says what is too far ahead.  With it, the line
 * before does; but what several lines in a row agree upon is believed. */
static bool jumps(times *t, uint64_t now) {
    if (t->max_jump == 0 || t->last == 0) {
        if (now <= t->last + t->ahead || now <= t->clock + t->ahead) return false;
        t->clock = arrival();
        return now > t->clock + t->ahead;
    }
    if (now <= t->last + t->max_jump) {
        t->agreed = 0;
        return false;
    }
    const bool agrees = now + t->max_jump >= t->jumped && now <= t->jumped + t->max_jump;
    t->agreed = agrees ? t->agreed + 1 : 1;
    t->jumped = now;
    return t->agreed < JUMP_LINES;
}

/* One wrong time must not become the present, or all lines behind it would be late. */
static time_place find_place(times *t, uint64_t now, bool *refuted) {
    *refuted = t->doubted > 0 && now + t->ahead < t->doubted;
    if (t->doubted > 0 && !*refuted && t->doubted > t->last) t->last = t->doubted;
    t->doubted = 0;
    if (now < t->last) return PLACE_LATE;
    if (t->max_jump == 0 && now > t->last + t->ahead) {
        t->doubted = now;
        return PLACE_AHEAD;
    }
    t->last = now;
    return PLACE_IN_ORDER;
}

bool time_of_text(times *t, eb_key text, uint64_t *time, time_place *place, bool *refuted,
                  char why[TIMES_WHY]) {
    /* A first line without a year is of the last twelve months. */
    const uint64_t before = t->doubted ? t->doubted : t->last;
    const uint64_t about = before ? before : arrival() - half_year;
    uint64_t now;
    if (!time_read(text, t->format, about, &now))
        return bad_time(why,
                        t->format ? "the time must be as --time-format says, not \"%.*s\""
                                  : "the time must be " TIMES_WANTED
                                    ", not \"%.*s\" (for other forms: --time-format)",
                        text);
    if (jumps(t, now))
        return bad_time(why,
                        t->max_jump ? "the time %.*s is too far ahead of the line before"
                                    : "the time %.*s is in the future",
                        text);
    if (t->keeps_place) {
        *place = find_place(t, now, refuted);
        *time = now;
        return true;
    }
    *time = t->last = now > t->last ? now : t->last;
    *place = PLACE_IN_ORDER;
    *refuted = false;
    return true;
}

/* ---- What became of it. */

void window_report(report *r, const eb_filter *f) {
    if (!filter_is(f, "window")) return;
    const eb_stats stats = filter_stats(f);
    if (counts_time(f))
        report_amount(r, "window_seconds", "window in seconds", stats.window / MILLI);
    else
        report_amount(r, "window_lines", "window in lines", stats.window);
    report_count(r, "saturated", "without room", stats.saturated);
}

int window_verdict(const eb_filter *f) {
    if (!filter_is(f, "window")) return STATUS_YES;
    const eb_stats stats = filter_stats(f);
    const double wanted = (double)filter_option(f, "window"), unit = counts_time(f) ? MILLI : 1;
    const char *const name = counts_time(f) ? "seconds" : "lines";
    if (stats.window < wanted)
        cli_warn("more came than there is room for: the window was %.10g %s at its shortest, not "
                 "%.10g",
                 stats.window / unit, name, wanted / unit);
    if (stats.saturated > 0)
        cli_warn("%llu times there was no room for a line: give more -m or a shorter --window",
                 (unsigned long long)stats.saturated);
    return stats.window < wanted || stats.saturated > 0 ? STATUS_NO : STATUS_YES;
}
