/* number.c - reads and writes the numbers of specs.
 *
 * A number is digits [. digits] [e [+-] digits] [K|M|G|T].  It is kept as an integer mantissa and a
 * power of ten, so integers and millionths are exact.  The process's locale has no influence. */
#include "number.h"
#include <math.h>
#include <stdio.h>

typedef struct number_parts {
    uint64_t mantissa;
    int exponent;    /* power of ten */
    uint64_t factor; /* of the suffix */
} number_parts;

static bool number_digit(number_parts *n, char c) {
    uint64_t ten;
    const uint64_t digit = (uint64_t)(c - '0');
    if (!ebi_mul(n->mantissa, 10, &ten) || ten > UINT64_MAX - digit) return false;
    n->mantissa = ten + digit;
    return true;
}

static bool number_is_digit(const char *p, const char *end) {
    return p < end && *p >= '0' && *p <= '9';
}

static bool number_mantissa(const char **at, const char *end, number_parts *n) {
    const char *p = *at;
    bool any = false;
    for (; number_is_digit(p, end); p++, any = true)
        if (!number_digit(n, *p)) return false;
    if (p < end && *p == '.') {
        for (p++; number_is_digit(p, end); p++, any = true) {
            if (!number_digit(n, *p)) return false;
            n->exponent--;
        }
    }
    *at = p;
    return any;
}

static bool number_exponent(const char **at, const char *end, number_parts *n) {
    const char *p = *at;
    if (p == end || (*p != 'e' && *p != 'E')) return true;
    p++;
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (!number_is_digit(p, end)) return false;
    int e = 0;
    for (; number_is_digit(p, end); p++) {
        e = e * 10 + (*p - '0');
        if (e > 300) return false;
    }
    n->exponent += negative ? -e : e;
    *at = p;
    return true;
}

static bool number_suffix(const char **at, const char *end, uint64_t base, number_parts *n) {
    static const char letters[] = "KMGT";
    n->factor = 1;
    if (*at == end || base == 0) return true;
    const char upper = (char)(**at >= 'a' && **at <= 'z' ? **at - 'a' + 'A' : **at);
    const char *const letter = strchr(letters, upper);
    if (!letter || upper == '\0') return false;
    for (const char *l = letters; l <= letter; l++) n->factor *= base;
    (*at)++;
    return true;
}

/* mantissa * 10^exponent * factor, if that is a 64-bit integer. */
static bool number_integer(const number_parts *n, uint64_t *value) {
    uint64_t v = n->mantissa;
    if (!ebi_mul(v, n->factor, &v)) return false;
    for (int e = n->exponent; v != 0 && e > 0; e--)
        if (!ebi_mul(v, 10, &v)) return false;
    for (int e = n->exponent; v != 0 && e < 0; e++) {
        if (v % 10 != 0) return false;
        v /= 10;
    }
    *value = v;
    return true;
}

bool ebi_number_read(const char *text, size_t len, const char *type, uint64_t *value,
                     double *real) {
    const char *p = text, *const end = text + len;
    const bool fixed = strcmp(type, "fixed") == 0, number = strcmp(type, "number") == 0;
    const bool negative = (fixed || number) && len > 0 && *p == '-';
    if (negative) p++;
    const uint64_t base = strcmp(type, "size") == 0 ? 1024 : strcmp(type, "count") == 0 ? 1000 : 0;
    number_parts n = {0, 0, 1};
    if (!number_mantissa(&p, end, &n) || !number_exponent(&p, end, &n) ||
        !number_suffix(&p, end, base, &n) || p != end)
        return false;
    *real = (double)n.mantissa * pow(10, n.exponent) * (double)n.factor;
    *value = 0;
    if (strcmp(type, "real") == 0) return true;
    if (fixed) n.exponent += 6; /* in millionths */
    if (!number_integer(&n, value)) return false;
    if (fixed && *value > INT64_MAX) return false;
    if (number && negative && *value > UINT64_C(1) << 63) return false;
    if (negative) {
        *value = 0 - *value;
        *real = -*real;
    }
    return true;
}

bool ebi_list_read(const char *text, size_t len, uint64_t low, uint64_t high, uint64_t *value) {
    const char *const end = text + len;
    uint64_t list = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        const char *const colon = memchr(text, ':', (size_t)(end - text));
        const char *const stop = colon ? colon : end;
        uint64_t entry;
        double real;
        if (!ebi_number_read(text, (size_t)(stop - text), "int", &entry, &real)) return false;
        if (entry < low || entry > high) return false;
        list |= entry << shift;
        if (!colon) {
            *value = list;
            return true;
        }
        text = colon + 1;
    }
    return false;
}

void ebi_list_write(uint64_t list, char *buf, size_t cap) {
    assert(cap > 0);
    size_t len = 0;
    for (; list != 0 && len < cap; list >>= 8)
        len += (size_t)snprintf(buf + len, cap - len, "%s%u", len == 0 ? "" : ":",
                                (unsigned)(list & 0xff));
}

void ebi_fixed_write(uint64_t millionths, char *buf, size_t cap) {
    assert(cap > 0);
    const bool negative = millionths > INT64_MAX;
    const unsigned long long size = negative ? 0 - millionths : millionths;
    int len =
        snprintf(buf, cap, "%s%llu.%06llu", negative ? "-" : "", size / 1000000, size % 1000000);
    while (buf[len - 1] == '0') buf[--len] = '\0';
    if (buf[len - 1] == '.') buf[--len] = '\0';
}
