/* numbers.c - keys that are numbers: reading and writing whole numbers and times. */
#include "numbers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"unsigned", "signed", "time", "real"};

bool number_kind_named(const char *name, number_kind *kind) {
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(name, names[i]) == 0) {
            *kind = (number_kind)i;
            return true;
        }
    return false;
}

const char *number_wanted(number_kind kind) {
    return kind == NUMBER_REAL     ? "a number"
           : kind == NUMBER_TIME   ? "seconds since 1970 or a time such as 2026-01-31T12:00:00Z"
           : kind == NUMBER_SIGNED ? "a whole number"
                                   : "a whole number, 0 or more";
}

bool number_is_signed(number_kind kind) {
    return kind == NUMBER_SIGNED || kind == NUMBER_TIME;
}

uint64_t number_from_signed(int64_t value) {
    return (uint64_t)value ^ UINT64_C(1) << 63;
}

int64_t number_to_signed(uint64_t value) {
    return (int64_t)(value ^ UINT64_C(1) << 63);
}

uint64_t number_as_key(number_kind kind, uint64_t value) {
    return number_is_signed(kind) ? (uint64_t)number_to_signed(value) : value;
}

uint64_t number_from_key(number_kind kind, uint64_t key) {
    return number_is_signed(kind) ? number_from_signed((int64_t)key) : key;
}

uint64_t number_origin(number_kind kind) {
    return number_is_signed(kind) ? number_from_signed(0) : 0;
}

/* ---- Whole numbers. */

static bool read_digits(const char *p, size_t n, uint64_t *value) {
    *value = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9') return false;
        const uint64_t digit = (uint64_t)(p[i] - '0');
        if (*value > (UINT64_MAX - digit) / 10) return false;
        *value = *value * 10 + digit;
    }
    return n > 0;
}

static bool read_signed(const char *p, size_t n, uint64_t *value) {
    const bool negative = n > 0 && *p == '-', sign = negative || (n > 0 && *p == '+');
    const uint64_t limit = (UINT64_C(1) << 63) - !negative;
    uint64_t size;
    if (!read_digits(p + sign, n - sign, &size) || size > limit) return false;
    *value = negative ? number_from_signed(0) - size : number_from_signed(0) + size;
    return true;
}

/* ---- Times of RFC 3339, 1996-12-19T16:39:57.25-08:00, as ISO 8601 has them with a comma, and as
 * web servers log them, [19/Dec/1996:16:39:57 -0800].  The zone may be missing, as in one field of
 * such a log: UTC. */

static bool read_part(const char **p, const char *end, size_t digits, uint64_t low, uint64_t high,
                      int64_t *part) {
    uint64_t value;
    if ((size_t)(end - *p) < digits || !read_digits(*p, digits, &value)) return false;
    if (value < low || value > high) return false;
    *p += digits;
    *part = (int64_t)value;
    return true;
}

static bool skip(const char **p, const char *end, const char *any_of) {
    if (*p == end || !**p || !strchr(any_of, **p)) return false;
    ++*p;
    return true;
}

static bool leap(int64_t year) {
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days from 1970-01-01, by the lengths of years that begin in March. */
static int64_t days_from_civil(int64_t year, int64_t month, int64_t day) {
    const int64_t y = year - (month <= 2) + 400, march = (month + 9) % 12; /* y > 0 */
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * march + 2) / 5 + day - 1 - 719468 - 146097;
}

static bool day_exists(int64_t year, int64_t month, int64_t day) {
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return day <= lengths[month - 1] + (month == 2 && leap(year));
}

static bool read_date(const char **p, const char *end, int64_t *days) {
    int64_t year, month, day;
    if (!read_part(p, end, 4, 0, 9999, &year) || !skip(p, end, "-") ||
        !read_part(p, end, 2, 1, 12, &month) || !skip(p, end, "-") ||
        !read_part(p, end, 2, 1, 31, &day) || !skip(p, end, "Tt "))
        return false;
    *days = days_from_civil(year, month, day);
    return day_exists(year, month, day);
}

static bool read_month(const char **p, const char *end, int64_t *month) {
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    for (*month = 1; end - *p >= 3 && *month <= 12; ++*month)
        if (memcmp(*p, months[*month - 1], 3) == 0) {
            *p += 3;
            return true;
        }
    return false;
}

static bool read_web_date(const char **p, const char *end, int64_t *days) {
    int64_t year, month, day;
    if (!read_part(p, end, 2, 1, 31, &day) || !skip(p, end, "/") || !read_month(p, end, &month) ||
        !skip(p, end, "/") || !read_part(p, end, 4, 0, 9999, &year) || !skip(p, end, ":"))
        return false;
    *days = days_from_civil(year, month, day);
    return day_exists(year, month, day);
}

static bool read_clock(const char **p, const char *end, int64_t *seconds) {
    int64_t hour, minute, second;
    if (!read_part(p, end, 2, 0, 23, &hour) || !skip(p, end, ":") ||
        !read_part(p, end, 2, 0, 59, &minute) || !skip(p, end, ":") ||
        !read_part(p, end, 2, 0, 60, &second))
        return false;
    if (skip(p, end, ".,")) {
        if (*p == end || **p < '0' || **p > '9') return false;
        while (*p < end && **p >= '0' && **p <= '9') ++*p;
    }
    *seconds = hour * 3600 + minute * 60 + second;
    return true;
}

static bool read_zone(const char **p, const char *end, int64_t *seconds) {
    int64_t hour, minute;
    *seconds = 0;
    if (*p == end || skip(p, end, "Zz")) return true;
    const int64_t sign = **p == '-' ? -1 : 1;
    if (!skip(p, end, "+-") || !read_part(p, end, 2, 0, 23, &hour)) return false;
    (void)skip(p, end, ":");
    if (!read_part(p, end, 2, 0, 59, &minute)) return false;
    *seconds = sign * (hour * 3600 + minute * 60);
    return true;
}

static bool read_time(const char *p, size_t n, uint64_t *value) {
    const char *end = p + n;
    const bool bracket = skip(&p, end, "["), web = bracket || (n > 2 && p[2] == '/');
    int64_t days = 0, clock, zone;
    if (bracket && p < end && end[-1] == ']') end--;
    if (!(web ? read_web_date(&p, end, &days) : read_date(&p, end, &days))) return false;
    if (!read_clock(&p, end, &clock)) return false;
    if (web) (void)skip(&p, end, " ");
    if (!read_zone(&p, end, &zone) || p != end) return false;
    *value = number_from_signed(days * 86400 + clock - zone);
    return true;
}

/* ---- Real numbers: the bits of a double, turned so that they sort, without the lower half. */

static bool read_real(const char *p, size_t n, uint64_t *value) {
    char text[64], *end;
    double number;
    uint64_t bits;
    if (n == 0 || n >= sizeof text || memchr(p, 'x', n) || memchr(p, 'X', n)) return false;
    memcpy(text, p, n);
    text[n] = '\0';
    number = strtod(text, &end) + 0.0; /* -0 is 0 */
    if (end != text + n || !isfinite(number) || text[0] == ' ') return false;
    memcpy(&bits, &number, sizeof bits);
    bits = bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
    *value = bits >> 32;
    return true;
}

/* The least number of those that are one value: 5 is 5. */
static double real_of(uint64_t value) {
    const uint64_t turned = value << 32;
    uint64_t bits = turned >> 63 ? turned & ~(UINT64_C(1) << 63) : ~turned;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

bool number_read(number_kind kind, eb_key text, uint64_t *value) {
    const char *const p = text.p;
    if (kind == NUMBER_UNSIGNED) return read_digits(p, text.len, value);
    if (kind == NUMBER_REAL) return read_real(p, text.len, value);
    if (read_signed(p, text.len, value)) return true;
    return kind == NUMBER_TIME && read_time(p, text.len, value);
}

/* ---- Writing. */

static int64_t floor_divide(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

/* Years 0 to 9999 as RFC 3339 has them; else the seconds. */
static bool write_time(int64_t seconds, char text[NUMBER_TEXT]) {
    const int64_t days = floor_divide(seconds, 86400), clock = seconds - days * 86400;
    int64_t year = 1970 + floor_divide(days, 365), month = 12;
    if (days < -719528 || days > 2932896) return false;
    while (days_from_civil(year, 1, 1) > days) year--;
    while (days_from_civil(year + 1, 1, 1) <= days) year++;
    while (days_from_civil(year, month, 1) > days) month--;
    const int64_t day = days - days_from_civil(year, month, 1) + 1;
    snprintf(text, NUMBER_TEXT, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)year, (int)month, (int)day,
             (int)(clock / 3600), (int)(clock / 60 % 60), (int)(clock % 60));
    return true;
}

void number_write(number_kind kind, uint64_t value, char text[NUMBER_TEXT]) {
    if (kind == NUMBER_REAL)
        snprintf(text, NUMBER_TEXT, "%.6g", real_of(value));
    else if (kind == NUMBER_UNSIGNED)
        snprintf(text, NUMBER_TEXT, "%llu", (unsigned long long)value);
    else if (kind == NUMBER_SIGNED || !write_time(number_to_signed(value), text))
        snprintf(text, NUMBER_TEXT, "%lld", (long long)number_to_signed(value));
}
