/* fields.c - the fields of a line, plain or CSV, and the options that say which is which. */
#include "cli.h"
#include "io.h"
#include <stdlib.h>

static const eb_key missing = {NULL, 0};

static eb_key plain_field(const reader *r, const char *p, const char *end, uint64_t field) {
    for (uint64_t i = 1; i < field; i++) {
        const char *at = memchr(p, r->delimiter, (size_t)(end - p));
        if (!at) return missing;
        p = at + 1;
    }
    const char *stop = memchr(p, r->delimiter, (size_t)(end - p));
    return (eb_key){p, (size_t)((stop ? stop : end) - p)};
}

/* The end of the CSV field at p: its delimiter, or the end of the line. */
static const char *csv_field_end(const reader *r, const char *p, const char *end) {
    if (p < end && *p == '"')
        for (p++; (p = memchr(p, '"', (size_t)(end - p))) != NULL; p += 2)
            if (p + 1 == end || p[1] != '"') break;
    if (!p) return end;
    p = memchr(p, r->delimiter, (size_t)(end - p));
    return p ? p : end;
}

/* The field without its quotes, written to the place in unquoted that matches its own, where
 * there is room, since it only gets shorter. */
static eb_key unquote(reader *r, const char *p, const char *end) {
    if (r->unquoted_cap != r->cap) {
        free(r->unquoted);
        r->unquoted = cli_alloc(r->cap);
        r->unquoted_cap = r->cap;
    }
    char *const to = r->unquoted + (p - r->buf);
    size_t n = 0;
    bool quoted = true;
    for (p++; p < end; p++) {
        if (!quoted || *p != '"')
            to[n++] = *p;
        else if (p + 1 < end && p[1] == '"')
            to[n++] = *p++;
        else
            quoted = false;
    }
    return (eb_key){to, n};
}

static eb_key csv_field(reader *r, const char *p, const char *end, uint64_t field) {
    if (end > p && end[-1] == '\r') end--;
    const char *stop = csv_field_end(r, p, end);
    for (uint64_t i = 1; i < field; i++) {
        if (stop == end) return missing;
        p = stop + 1;
        stop = csv_field_end(r, p, end);
    }
    if (p == stop || *p != '"') return (eb_key){p, (size_t)(stop - p)};
    return unquote(r, p, stop);
}

static eb_key find_field(reader *r, const char *line, const char *end, uint64_t field) {
    if (field == 0) return (eb_key){line, (size_t)(end - line)};
    return r->csv ? csv_field(r, line, end, field) : plain_field(r, line, end, field);
}

eb_key reader_field(reader *r, const char *line, const char *end, uint64_t field) {
    const eb_key found = find_field(r, line, end, field);
    return found.p ? found : (eb_key){end, 0};
}

eb_key reader_field_or_fail(reader *r, const char *line, const char *end, uint64_t field) {
    const eb_key found = find_field(r, line, end, field);
    if (found.p) return found;
    cli_fail("%s: line %llu: there is no field %llu", r->name, (unsigned long long)r->records,
             (unsigned long long)field);
}

static void check_options(const cli_command *c, const settings *set) {
    bool fields = set->field || set->importance_field || set->time_field || set->class_field ||
                  set->weight_field || set->fields || set->csv || set->mark;
    if (set->delimiter != NO_DELIMITER && !fields)
        cli_misuse(c, "-d has no effect without -f, --csv or --mark");
    if (set->delimiter == (set->nul ? '\0' : '\n'))
        cli_misuse(c, "-d must not be what ends a line");
    if (set->csv && set->delimiter == '"') cli_misuse(c, "-d must not be the quote of --csv");
}

void reader_options(reader *r, const cli_command *c, const settings *set) {
    check_options(c, set);
    r->separator = set->nul ? '\0' : '\n';
    r->csv = set->csv;
    r->delimiter = set->delimiter != NO_DELIMITER ? (char)set->delimiter : set->csv ? ',' : '\t';
}
