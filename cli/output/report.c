/* report.c - facts as a table for people or as one JSON object on one line for machines. */
#include "cli.h"
#include <math.h>
#include <string.h>

/* Length of the valid UTF-8 sequence at p, or 0. */
static size_t utf8_length(const unsigned char *p, size_t left) {
    size_t n = p[0] < 0x80   ? 1
               : p[0] < 0xc2 ? 0
               : p[0] < 0xe0 ? 2
               : p[0] < 0xf0 ? 3
               : p[0] < 0xf5 ? 4
                             : 0;
    if (n > left) return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f)) return 0;
    if ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)) return 0;
    return n;
}

void json_bytes(FILE *to, const void *bytes, size_t n) {
    const unsigned char *p = bytes, *const end = p + n;
    fputc('"', to);
    while (p < end) {
        const size_t length = utf8_length(p, (size_t)(end - p));
        if (length == 0)
            fputs("\xef\xbf\xbd", to); /* file names and keys may be any bytes; JSON may not */
        else if (*p == '"' || *p == '\\')
            fprintf(to, "\\%c", *p);
        else if (*p < 0x20 || *p == 0x7f)
            fprintf(to, "\\u%04x", (unsigned)*p);
        else
            fwrite(p, 1, length, to);
        p += length ? length : 1;
    }
    fputc('"', to);
}

void json_string(FILE *to, const char *text) {
    json_bytes(to, text, strlen(text));
}

void json_number(FILE *to, double value) {
    if (isfinite(value)) /* counts with all of their digits */
        fprintf(to, value == floor(value) && fabs(value) < 1e15 ? "%.0f" : "%.12g", value);
    else
        fputs("null", to);
}

const char *human_bytes(char buf[32], double bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        unit++;
    }
    snprintf(buf, 32, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return buf;
}

/* 1e+06 is 1e6, 1e-06 is 1e-6. */
static void human_exponent(char *text) {
    char *const e = strchr(text, 'e');
    if (!e) return;
    char *const digits = e[1] == '-' ? e + 2 : e + 1;
    const size_t skip = strspn(digits, "+0");
    memmove(digits, digits + skip, strlen(digits + skip) + 1);
}

const char *human_number(char buf[32], double x) {
    snprintf(buf, 32, x >= 100 && x < 1e5 ? "%.0f" : "%.3g", x);
    human_exponent(buf);
    return buf;
}

void report_begin(report *r, FILE *to, bool json) {
    *r = (report){.to = to, .json = json};
}

/* The key in JSON, the label in a table; what follows is the value. */
static void put_name(report *r, const char *key, const char *label) {
    if (!r->json) {
        fprintf(r->to, "%-20s ", label);
        return;
    }
    fprintf(r->to, "%s\"%s\":", r->open ? "," : "{", key);
    r->open = true;
}

static void end_value(const report *r) {
    if (!r->json) fputc('\n', r->to);
}

void report_text(report *r, const char *key, const char *label, const char *value) {
    put_name(r, key, label);
    if (r->json)
        json_string(r->to, value);
    else
        fputs(value, r->to);
    end_value(r);
}

void report_key(report *r, const char *key, eb_key value) {
    put_name(r, key, key);
    json_bytes(r->to, value.p, value.len);
}

void report_plain(report *r, const char *key, const char *number) {
    put_name(r, key, key);
    fputs(number, r->to);
    end_value(r);
}

void report_count(report *r, const char *key, const char *label, uint64_t value) {
    put_name(r, key, label);
    fprintf(r->to, "%llu", (unsigned long long)value);
    end_value(r);
}

void report_bytes(report *r, const char *key, const char *label, double value) {
    char human[32];
    put_name(r, key, label);
    if (r->json)
        fprintf(r->to, "%.0f", value);
    else
        fputs(human_bytes(human, value), r->to);
    end_value(r);
}

void report_real(report *r, const char *key, const char *label, double value) {
    put_name(r, key, label);
    if (r->json)
        json_number(r->to, value);
    else if (isnan(value))
        fputs("unknown", r->to);
    else {
        char text[32];
        snprintf(text, sizeof text, "%.4g", value);
        human_exponent(text);
        fputs(text, r->to);
    }
    end_value(r);
}

void report_amount(report *r, const char *key, const char *label, double value) {
    if (r->json || !isfinite(value) || fabs(value) < 1e4) {
        report_real(r, key, label, value);
        return;
    }
    put_name(r, key, label);
    fprintf(r->to, "%.0f", value);
    end_value(r);
}

void report_list(report *r, const char *key, const char *label, const double *values, size_t n) {
    put_name(r, key, label);
    if (r->json) fputc('[', r->to);
    for (size_t i = 0; i < n; i++) {
        if (i > 0) fputc(r->json ? ',' : ' ', r->to);
        fprintf(r->to, "%.12g", values[i]);
    }
    if (r->json) fputc(']', r->to);
    end_value(r);
}

void report_end(report *r) {
    if (r->json) fputs("}\n", r->to);
}
