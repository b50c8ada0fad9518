/* base.c - error messages: formatting them, and filling in eb_error. */
#include "base.h"
#include <float.h>
#include <stdarg.h>
#include <stdio.h>

static_assert(sizeof(eb_error) == 512, "part of the interface");

/* Formatting. printf writes doubles with the decimal point of the process's locale, and messages
 * must not depend on it.  So the format is cut into single conversions, each is printed with
 * snprintf, and whatever is not part of a C number is replaced by a point.
 *
 * Conversions may have a precision, also as *, and be d, u, lu, llu, zu, s, f or g. */

typedef struct base_out {
    char *text;
    size_t cap, len; /* len < cap */
} base_out;

static void base_put(base_out *out, const char *s, size_t len) {
    const size_t n = ebi_min_size(len, out->cap - 1 - out->len);
    memcpy(out->text + out->len, s, n);
    out->len += n;
    out->text[out->len] = '\0';
}

/* 1e+09 becomes 1e9, as people write it. */
static void base_short_exponent(char *text) {
    char *to = strchr(text, 'e');
    if (!to) return;
    const char *from = ++to;
    if (*from == '-') to++;
    from += strspn(from, "+-0");
    memmove(to, from, strlen(from) + 1);
}

static void base_put_real(base_out *out, char conversion, int precision, double value) {
    enum { BASE_POINT_MAX = 8 }; /* bytes: a locale's point may be any character */
    char text[DBL_MAX_10_EXP + 32 + BASE_POINT_MAX];
    static const char letters[] = "0123456789+-einfa";
    const int digits = precision < 0 ? 6 : precision > 20 ? 20 : precision;
    if (conversion == 'f')
        (void)snprintf(text, sizeof text, "%.*f", digits, value);
    else
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
    base_short_exponent(text);
    const size_t whole = strspn(text, letters), point = strcspn(text + whole, letters);
    base_put(out, text, whole);
    if (point > 0) base_put(out, ".", 1);
    base_put(out, text + whole + point, strlen(text + whole + point));
}

static void base_put_text(base_out *out, int precision, const char *s) {
    base_put(out, s, precision < 0 ? strlen(s) : strnlen(s, (size_t)precision));
}

static void base_put_whole(base_out *out, bool negative, unsigned long long size) {
    char text[32];
    (void)snprintf(text, sizeof text, "%s%llu", negative ? "-" : "", size);
    base_put_text(out, -1, text);
}

static int base_precision(const char **format, va_list *args) {
    int precision = 0;
    if (**format != '.') return -1;
    if (*++*format == '*') {
        ++*format;
        return va_arg(*args, int);
    }
    for (; **format >= '0' && **format <= '9'; ++*format)
        precision = 10 * precision + (**format - '0');
    return precision;
}

static bool base_is(const char **format, const char *conversion) {
    const size_t n = strlen(conversion);
    if (strncmp(*format, conversion, n) != 0) return false;
    *format += n;
    return true;
}

/* Prints what follows a %. false: the conversion is unknown, and so are the arguments after it. */
static bool base_convert(base_out *out, const char **format, va_list *args) {
    const int precision = base_precision(format, args);
    const char letter = **format;
    if (base_is(format, "s")) {
        base_put_text(out, precision, va_arg(*args, const char *));
    } else if (base_is(format, "f") || base_is(format, "g")) {
        base_put_real(out, letter, precision, va_arg(*args, double));
    } else if (base_is(format, "d")) {
        const long long value = va_arg(*args, int);
        base_put_whole(out, value < 0, (unsigned long long)(value < 0 ? -value : value));
    } else if (base_is(format, "u")) {
        base_put_whole(out, false, va_arg(*args, unsigned));
    } else if (base_is(format, "lu")) {
        base_put_whole(out, false, va_arg(*args, unsigned long));
    } else if (base_is(format, "llu")) {
        base_put_whole(out, false, va_arg(*args, unsigned long long));
    } else if (base_is(format, "zu")) {
        base_put_whole(out, false, va_arg(*args, size_t));
    } else {
        base_put(out, "%", 1);
        return base_is(format, "%");
    }
    return true;
}

static void base_fill(eb_error *err, eb_status status, uint64_t at, const char *format,
                      va_list *args) {
    if (!err) return;
    base_out out = {err->text, sizeof err->text, 0};
    err->status = (int32_t)status;
    err->reserved = 0;
    err->at = at;
    err->text[0] = '\0';
    while (*format) {
        const size_t plain = strcspn(format, "%");
        base_put(&out, format, plain);
        format += plain;
        if (!base_is(&format, "%")) return;
        const bool known = base_convert(&out, &format, args);
        assert(known);
        if (!known) return;
    }
}

eb_status ebi_fail(eb_error *err, eb_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    base_fill(err, status, EB_NOWHERE, format, &args);
    va_end(args);
    return status;
}

eb_status ebi_fail_at(eb_error *err, eb_status status, uint64_t at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    base_fill(err, status, at, format, &args);
    va_end(args);
    return status;
}

eb_status ebi_check_size(const void *structure, size_t known, const char *name, eb_error *err) {
    assert(known >= sizeof(size_t));
    size_t size;
    memcpy(&size, structure, sizeof size);
    if (size == known) return EB_OK;
    return ebi_fail(err, EB_ESIZE,
                    "the size of an %s is %zu here, not %zu: set it with EB_INIT, and build the "
                    "program with the header of this library",
                    name, known, size);
}

const char *eb_status_name(eb_status s) {
    static const char *const names[] = {
        "ok",
        "out of memory",
        "invalid argument",
        "unknown size of a structure",
        "bad spec",
        "not a snapshot, or damaged",
        "from a newer version",
        "filters do not match",
        "not supported by this kind",
        "read-only filter",
        "full",
        "limit exceeded",
        "bad key",
        "bad value",
        "bad time",
        "stopped",
    };
    static_assert(sizeof names / sizeof names[0] == 1 - EB_ESTOPPED, "a name for each status");
    if (s > 0 || s < EB_ESTOPPED) return "unknown status";
    return names[-s];
}

unsigned eb_version(void) {
    return EB_VERSION_NUMBER;
}
