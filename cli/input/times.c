/* times.c - the time of a line, in all the ways that logs write it. */
#include "times.h"
#include "numbers.h"
#include <everbloom/experimental.h>
#include <string.h>
#include <time.h>

enum { TIMES_MILLI = 1000, TIMES_TEXT = 64 };
/* Seconds below 1e11 reach the year 5138; so do milliseconds below 1e14, and so on. */
static const uint64_t times_seconds = UINT64_C(100000000000),
                      times_millis = UINT64_C(100000000000000),
                      times_micros = UINT64_C(100000000000000000);

/* ---- Numbers. */

/* Up to three digits behind a point or a comma at p, as milliseconds; p becomes what is behind all
 * of them.  False: there is a point without a digit. */
static bool read_fraction(const char **p, uint64_t *ms) {
    *ms = 0;
    if (**p != '.' && **p != ',') return true;
    const char *const digits = ++*p;
    for (uint64_t unit = 100; **p >= '0' && **p <= '9'; ++*p, unit /= 10)
        *ms += unit * (uint64_t)(**p - '0');
    return *p > digits;
}

static bool read_number(const char *p, uint64_t *ms) {
    uint64_t n = 0, part;
    int digits = 0;
    for (; *p >= '0' && *p <= '9'; p++, digits++) n = n * 10 + (uint64_t)(*p - '0');
    if (digits == 0 || digits > 19 || !read_fraction(&p, &part) || *p) return false;
    *ms = n < times_seconds  ? n * TIMES_MILLI + part
          : n < times_millis ? n
          : n < times_micros ? n / 1000
                             : n / 1000000;
    return true;
}

/* ---- Dates. */

static bool in_range(int64_t seconds, uint64_t part, uint64_t *ms) {
    if (seconds < 0 || seconds > (int64_t)1 << 53) return false;
    *ms = (uint64_t)seconds * TIMES_MILLI + part;
    return true;
}

/* RFC 3339 and web servers: whole seconds are numbers.c's, the fraction is ours. */
static bool read_date(const char *p, size_t n, uint64_t *ms) {
    const char *const point = strpbrk(p, ".,");
    uint64_t value, part = 0;
    const char *rest = point;
    if (point && !read_fraction(&rest, &part)) return false;
    return number_read(NUMBER_TIME, (eb_key){p, n}, &value) &&
           in_range(number_to_signed(value), part, ms);
}

static bool read_day(const char *p, size_t n, uint64_t *ms) {
    char text[TIMES_TEXT];
    if (n != strlen("2026-01-31") || p[4] != '-') return false;
    snprintf(text, sizeof text, "%.10sT00:00:00Z", p);
    return read_date(text, strlen(text), ms);
}

/* "Jan  2 03:04:05": of the years around `about`, the one that brings it closest to it. */
static bool read_syslog(const char *p, uint64_t about, uint64_t *ms) {
    const time_t now = (time_t)(about / TIMES_MILLI);
    struct tm base, tm;
    uint64_t part, closest = 0;
    bool found = false;
    if (!gmtime_r(&now, &base)) return false;
    for (int year = base.tm_year - 1; year <= base.tm_year + 1; year++) {
        memset(&tm, 0, sizeof tm);
        tm.tm_year = year;
        const char *rest = strptime(p, "%b %e %H:%M:%S", &tm);
        if (!rest || !read_fraction(&rest, &part) || *rest) return false;
        const int day = tm.tm_mday;
        const time_t at = timegm(&tm);
        uint64_t one;
        if (tm.tm_mday != day || !in_range(at, part, &one)) continue; /* no 29th of February */
        const uint64_t distance = one > about ? one - about : about - one;
        if (found && distance >= closest) continue;
        closest = distance;
        *ms = one;
        found = true;
    }
    return found;
}

static bool read_formatted(const char *p, const char *format, uint64_t *ms) {
    struct tm tm = {.tm_mday = 1, .tm_year = 70};
    uint64_t part;
    const char *rest = strptime(p, format, &tm);
    if (!rest || !read_fraction(&rest, &part) || *rest) return false;
    const long offset = tm.tm_gmtoff;
    return in_range(timegm(&tm) - offset, part, ms);
}

bool time_format_is_known(const char *format) {
    const time_t some = 1767225600;
    struct tm tm;
    uint64_t ms;
    char text[TIMES_TEXT];
    if (!strchr(format, '%') || !gmtime_r(&some, &tm)) return false;
    return strftime(text, sizeof text, format, &tm) > 0 && read_formatted(text, format, &ms);
}

bool time_read(eb_key text, const char *format, uint64_t about, uint64_t *ms) {
    char copy[TIMES_TEXT];
    if (text.len == 0 || text.len >= sizeof copy || memchr(text.p, '\0', text.len)) return false;
    memcpy(copy, text.p, text.len);
    copy[text.len] = '\0';
    if (format) return read_formatted(copy, format, ms);
    if (read_number(copy, ms) || read_date(copy, text.len, ms)) return true;
    return read_day(copy, text.len, ms) || read_syslog(copy, about, ms);
}
