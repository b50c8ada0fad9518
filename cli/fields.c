/* fields.c - the fields of a line, plain or CSV, and the options that say which is which.
 *
 * A key of one field, or of plain fields that stand side by side, is where the line has it.  Others
 * are put together, with the delimiter between.  In CSV, fields of such a key get quotes if they
 * hold what needs them, so that "a,b" and c are not taken for a and "b,c". */
#include "cli.h"
#include "io.h"
#include <stdlib.h>

/* ---- Lists of fields. */

static const uint64_t to_the_end = UINT64_MAX;

uint64_t fields_read_index(const char **p) {
    uint64_t n = 0;
    for (int digits = 0; **p >= '0' && **p <= '9' && digits < 9; digits++)
        n = n * 10 + (uint64_t)(*(*p)++ - '0');
    return n;
}

/* N, N-M or N-; not -M, which some would take for the last but M. */
static bool read_range(const char **p, field_range *range) {
    range->first = range->last = fields_read_index(p);
    if (**p == '-') {
        ++*p;
        range->last = **p == ',' || **p == '\0' ? to_the_end : fields_read_index(p);
    }
    return range->first > 0 && range->last >= range->first;
}

static bool overlaps(const field_list *list, field_range range) {
    for (size_t i = 0; i < list->n; i++)
        if (range.first <= list->range[i].last && list->range[i].first <= range.last) return true;
    return false;
}

/* Neighbours become one range. */
static bool append_range(field_list *list, field_range range) {
    if (overlaps(list, range)) return false;
    if (list->n > 0 && list->range[list->n - 1].last + 1 == range.first) {
        list->range[list->n - 1].last = range.last;
        return true;
    }
    if (list->n == FIELD_RANGES) return false;
    list->range[list->n++] = range;
    return true;
}

bool fields_read(const char *text, field_list *list) {
    *list = (field_list){0};
    for (const char *p = text;; p++) {
        field_range range;
        if (!read_range(&p, &range) || !append_range(list, range)) return false;
        if (*p == '\0') break;
        if (*p != ',') return false;
    }
    if (list->n == 1 && list->range[0].first == list->range[0].last)
        list->only = list->range[0].first;
    return true;
}

/* ---- One field. */

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

/* ---- Several fields. */

/* Where the next field goes, and what is there already. */
typedef struct key_writer {
    char *start, *end;
    bool any;
} key_writer;

static const char *field_end(const reader *r, const char *p, const char *end) {
    if (r->csv) return csv_field_end(r, p, end);
    const char *const stop = memchr(p, r->delimiter, (size_t)(end - p));
    return stop ? stop : end;
}

static bool needs_quotes(const reader *r, eb_key field) {
    const char special[] = {r->delimiter, r->separator, '"', '\r'};
    for (size_t i = 0; i < sizeof special; i++)
        if (field.len > 0 && memchr(field.p, special[i], field.len)) return true;
    return false;
}

static void put_quoted(key_writer *w, eb_key field) {
    const char *const p = field.p;
    *w->end++ = '"';
    for (size_t i = 0; i < field.len; i++) {
        if (p[i] == '"') *w->end++ = '"';
        *w->end++ = p[i];
    }
    *w->end++ = '"';
}

static void put_field(reader *r, key_writer *w, const char *p, const char *stop) {
    const bool quoted = r->csv && p < stop && *p == '"';
    const eb_key field = quoted ? unquote(r, p, stop) : (eb_key){p, (size_t)(stop - p)};
    if (w->any) *w->end++ = r->delimiter;
    w->any = true;
    if (r->csv && needs_quotes(r, field)) {
        put_quoted(w, field);
        return;
    }
    memcpy(w->end, field.p, field.len);
    w->end += field.len;
}

/* Of a range that a line of n fields ends; 0: none. */
static uint64_t missing_from(field_range range, uint64_t n) {
    if (n < range.first) return range.first;
    return range.last == to_the_end ? 0 : n + 1;
}

/* 0, or the first field of the range that is missing. */
static uint64_t put_range(reader *r, key_writer *w, field_range range, const char *p,
                          const char *end) {
    const char *stop = field_end(r, p, end);
    for (uint64_t at = 1;; at++) {
        if (at >= range.first) put_field(r, w, p, stop);
        if (at == range.last) return 0;
        if (stop == end) return missing_from(range, at);
        p = stop + 1;
        stop = field_end(r, p, end);
    }
}

/* The same of plain fields, where they stand. */
static eb_key plain_range(const reader *r, const char *line, const char *end, field_range range,
                          uint64_t *lacks) {
    const eb_key first = plain_field(r, line, end, range.first);
    *lacks = first.p ? 0 : range.first;
    if (!first.p) return (eb_key){end, 0};
    const char *const p = first.p, *stop = p + first.len;
    if (range.last == to_the_end) return (eb_key){p, (size_t)(end - p)};
    for (uint64_t at = range.first; at < range.last; at++) {
        if (stop == end) {
            *lacks = at + 1;
            break;
        }
        stop = field_end(r, stop + 1, end);
    }
    return (eb_key){p, (size_t)(stop - p)};
}

/* A key stands at the offset of its line, times what it can grow by: a field of n bytes takes n + 1
 * of the line, and 2 n + 3 with new quotes, all of them doubled. */
static key_writer key_writer_at(reader *r, const char *line) {
    const size_t growth = r->csv ? 3 : 1;
    if (r->joined_cap != r->cap) {
        free(r->joined);
        r->joined = NULL;
        if (r->cap > SIZE_MAX / growth) cli_fail("%s: a line is too long", r->name);
        r->joined = cli_alloc(r->cap * growth);
        r->joined_cap = r->cap;
    }
    char *const start = r->joined + growth * (size_t)(line - r->buf);
    return (key_writer){.start = start, .end = start};
}

static eb_key join_fields(reader *r, const char *line, const char *end, const field_list *list,
                          uint64_t *lacks) {
    if (r->csv && end > line && end[-1] == '\r') end--;
    if (!r->csv && list->n == 1) return plain_range(r, line, end, list->range[0], lacks);
    key_writer w = key_writer_at(r, line);
    *lacks = 0;
    for (size_t i = 0; i < list->n; i++) {
        const uint64_t one = put_range(r, &w, list->range[i], line, end);
        if (!*lacks) *lacks = one;
    }
    return (eb_key){w.start, (size_t)(w.end - w.start)};
}

/* Its key is what there is of it. */
static __attribute__((noinline)) eb_key note_lacking(reader *r, uint64_t field, eb_key key) {
    r->lacking++;
    if (field > r->lacks) r->lacks = field; /* who lacks a field lacks those behind it */
    return key;
}

static __attribute__((noinline)) eb_key several(reader *r, const char *line, const char *end,
                                                const field_list *list) {
    uint64_t lacks;
    const eb_key key = join_fields(r, line, end, list, &lacks);
    return lacks ? note_lacking(r, lacks, key) : key;
}

/* Called for every line: what is rare is out of the way. */
eb_key reader_fields(reader *r, const char *line, const char *end, const field_list *list) {
    if (!list->only) return several(r, line, end, list);
    const eb_key found = find_field(r, line, end, list->only);
    return found.p ? found : note_lacking(r, list->only, (eb_key){end, 0});
}

/* The usual reason why a field is missing is another delimiter. */
static const char *delimiter_name(const reader *r, char name[16]) {
    if (r->delimiter == '\t') return "a tab";
    if (r->delimiter == ' ') return "a space";
    if (r->delimiter == ',') return "a comma";
    const bool printable = r->delimiter > ' ' && r->delimiter < 0x7f;
    snprintf(name, 16, printable ? "%c" : "byte %d", printable ? r->delimiter : r->delimiter & 255);
    return name;
}

eb_key reader_key_or_fail(reader *r, const char *line, const char *end, const field_list *list) {
    char name[16];
    uint64_t lacks = 0;
    const bool one = list->n == 0 || list->only;
    const eb_key key =
        one ? find_field(r, line, end, list->only) : join_fields(r, line, end, list, &lacks);
    if (!key.p) lacks = list->only;
    if (!lacks) return key;
    cli_fail("%s: line %llu: there is no field %llu (fields end at %s: see -d)", r->name,
             (unsigned long long)r->records, (unsigned long long)lacks, delimiter_name(r, name));
}

void reader_warn_lacking(reader *r, uint64_t n) {
    char name[16];
    if (n == 0 || r->lacking != n || r->lacks_told) return;
    r->lacks_told = true;
    cli_warn("every line lacks field %llu (fields end at %s: see -d)", (unsigned long long)r->lacks,
             delimiter_name(r, name));
}

/* ---- Options. */

static void check_options(const cli_command *c, const settings *set) {
    bool fields = set->field.n || set->s_field.n || set->importance_field || set->time_field.n ||
                  set->class_field || set->weight_field || set->csv || set->mark;
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
