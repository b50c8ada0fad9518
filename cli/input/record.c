/* record.c - from a record to its key: fields in columns, JSON values, groups of --regex.
 *
 * A key of one field, or of plain fields that stand side by side, stays in the line.  Other keys
 * are built in the reader's arena, with the delimiter between the fields.  Where fields can hold
 * the delimiter (CSV, JSON, --regex), those get quotes that need them, so that "a,b" and c are not
 * taken for a and "b,c". */
#include "cli.h"
#include "io.h"
#include "pattern.h"
#include <stdlib.h>

/* ---- Columns. */

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
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

static const char *field_end(const reader *r, const char *p, const char *end) {
    if (r->format == FORMAT_CSV) return csv_field_end(r, p, end);
    if (r->format == FORMAT_BLANK) {
        while (p < end && !is_blank(*p)) p++;
        return p;
    }
    const char *const stop = memchr(p, r->delimiter, (size_t)(end - p));
    return stop ? stop : end;
}

/* A walk over the columns of a record. */
typedef struct columns {
    const reader *r;
    const char *p, *stop, *end; /* the column stands from p to stop */
} columns;

static columns columns_of(const reader *r, const char *line, const char *end) {
    if (r->format == FORMAT_CSV && end > line && end[-1] == '\r') end--;
    return (columns){r, NULL, line, end};
}

static bool next_column(columns *w) {
    if (w->r->format == FORMAT_BLANK) {
        while (w->stop < w->end && is_blank(*w->stop)) w->stop++;
        if (w->stop == w->end) return false;
        w->p = w->stop;
    } else if (!w->p)
        w->p = w->stop; /* the first: even an empty line has it */
    else if (w->stop == w->end)
        return false;
    else
        w->p = w->stop + 1;
    w->stop = field_end(w->r, w->p, w->end);
    return true;
}

static uint64_t count_columns(const reader *r, const char *line, const char *end) {
    uint64_t n = 0;
    for (columns w = columns_of(r, line, end); next_column(&w);) n++;
    return n;
}

/* A CSV field without its quotes.  What stands behind the closing quote belongs to it. */
static eb_key unquote(reader *r, const char *p, const char *end) {
    char *const to = arena_get(&r->arena, (size_t)(end - p));
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
    arena_take(&r->arena, n);
    return (eb_key){to, n};
}

static eb_key column_value(reader *r, const char *p, const char *stop) {
    if (r->format == FORMAT_CSV && p < stop && *p == '"') return unquote(r, p, stop);
    return (eb_key){p, (size_t)(stop - p)};
}

/* ---- What is missing. */

static bool lacks(reader *r, reader_lack lack, const field_item *item, uint64_t field) {
    r->lack = lack;
    r->lack_item = item;
    r->lack_field = field;
    return false;
}

/* The usual reason why a field is missing is another delimiter. */
static const char *delimiter_name(const reader *r, char name[16]) {
    if (r->format == FORMAT_BLANK) return "blanks";
    if (r->delimiter == '\t') return "a tab";
    if (r->delimiter == ' ') return "a space";
    if (r->delimiter == ',') return "a comma";
    const bool printable = r->delimiter > ' ' && r->delimiter < 0x7f;
    snprintf(name, 16, printable ? "%c" : "byte %d", printable ? r->delimiter : r->delimiter & 255);
    return name;
}

void reader_explain(const reader *r, char *text, size_t cap) {
    const field_item *const item = r->lack_item;
    const int len = !item ? 0 : item->len > 60 ? 60 : (int)item->len;
    char name[16];
    switch (r->lack) {
    case LACK_MATCH:
        snprintf(text, cap, "--regex does not match");
        return;
    case LACK_JSON:
        snprintf(text, cap, "this is not a whole JSON object");
        return;
    case LACK_MEMBER:
        snprintf(text, cap, "there is no %.*s", len, item->text);
        return;
    case LACK_FIELD:
        if (item && (item->is_name || item->from_end))
            snprintf(text, cap, "there is no field %.*s (fields end at %s: see -d)", len,
                     item->text, delimiter_name(r, name));
        else
            snprintf(text, cap, "there is no field %llu (fields end at %s: see -d)",
                     (unsigned long long)r->lack_field, delimiter_name(r, name));
    }
}

/* ---- The fields of a list, one by one. */

static void add_part(reader *r, eb_key part) {
    r->part = cli_grow(r->part, &r->parts_cap, (r->parts + 1) * sizeof *r->part);
    if (r->trim) part = reader_trimmed(part);
    r->part[r->parts++] = part;
}

static bool add_columns(reader *r, const field_item *item, const char *line, const char *end) {
    uint64_t first = item->first, last = item->last, at = 0;
    if (item->from_end) {
        const uint64_t n = count_columns(r, line, end);
        if (n < item->from_end) return lacks(r, LACK_FIELD, item, 0);
        first = last = n + 1 - item->from_end;
    }
    for (columns w = columns_of(r, line, end); next_column(&w);) {
        if (++at < first) continue;
        add_part(r, column_value(r, w.p, w.stop));
        if (at == last) return true;
    }
    if (at >= first && last == FIELDS_TO_END) return true;
    return lacks(r, LACK_FIELD, item, at < first ? first : at + 1);
}

static bool json_part(reader *r, const field_item *item, const char *line, const char *end,
                      eb_key *part) {
    json_value v;
    const json_found found = json_find(line, end, &item->path, &v);
    if (found != JSON_FOUND)
        return lacks(r, found == JSON_MISSING ? LACK_MEMBER : LACK_JSON, item, 0);
    *part = (eb_key){v.p, v.len};
    if (!v.escaped) return true;
    char *const text = arena_get(&r->arena, v.len);
    const size_t n = json_unescape(v.p, v.len, text);
    if (n == SIZE_MAX) return lacks(r, LACK_JSON, item, 0);
    arena_take(&r->arena, n);
    *part = (eb_key){text, n};
    return true;
}

static bool add_json(reader *r, const field_item *item, const char *line, const char *end) {
    eb_key part;
    if (!json_part(r, item, line, end, &part)) return false;
    add_part(r, part);
    return true;
}

/* A group that took no part in the match is empty. */
static void add_groups(reader *r, uint64_t first, uint64_t last) {
    const uint64_t n = pattern_groups(r->regex);
    if (last > n) last = n;
    for (uint64_t i = first; i <= last; i++) {
        const eb_key group = pattern_group(r->regex, i);
        add_part(r, group.p ? group : (eb_key){"", 0});
    }
}

/* All groups unless a list says which; the whole match if there is none. */
static bool add_match(reader *r, const field_list *list, const char *line, const char *end) {
    const uint64_t n = pattern_groups(r->regex);
    if (!pattern_match(r->regex, line, end)) return lacks(r, LACK_MATCH, NULL, 0);
    if (list->n == 0) add_groups(r, n > 0, n);
    for (size_t i = 0; i < list->n; i++) {
        const field_item *const item = &list->item[i];
        const uint64_t from_end = item->from_end ? n + 1 - item->from_end : 0;
        add_groups(r, from_end ? from_end : item->first, from_end ? from_end : item->last);
    }
    return true;
}

static bool add_parts(reader *r, const field_list *list, const char *line, const char *end) {
    r->parts = 0;
    if (r->format == FORMAT_REGEX) return add_match(r, list, line, end);
    for (size_t i = 0; i < list->n; i++)
        if (!(r->format == FORMAT_JSON ? add_json : add_columns)(r, &list->item[i], line, end))
            return false;
    return true;
}

/* ---- One key of several parts. */

static bool needs_quotes(const reader *r, eb_key part) {
    const char special[] = {r->delimiter, r->separator, '"', '\r'};
    if (r->format == FORMAT_PLAIN || r->format == FORMAT_BLANK) return false;
    for (size_t i = 0; i < sizeof special; i++)
        if (part.len > 0 && memchr(part.p, special[i], part.len)) return true;
    return false;
}

static char *put_quoted(char *to, eb_key part) {
    const char *const p = part.p;
    *to++ = '"';
    for (size_t i = 0; i < part.len; i++) {
        if (p[i] == '"') *to++ = '"';
        *to++ = p[i];
    }
    *to++ = '"';
    return to;
}

static eb_key join_parts(reader *r) {
    size_t room = 0;
    for (size_t i = 0; i < r->parts; i++) room += 2 * r->part[i].len + 3;
    char *const start = arena_get(&r->arena, room + 1), *to = start;
    for (size_t i = 0; i < r->parts; i++) {
        const eb_key part = r->part[i];
        if (i > 0) *to++ = r->delimiter;
        if (needs_quotes(r, part))
            to = put_quoted(to, part);
        else if (part.len > 0) {
            memcpy(to, part.p, part.len);
            to += part.len;
        }
    }
    arena_take(&r->arena, (size_t)(to - start));
    return (eb_key){start, (size_t)(to - start)};
}

/* ---- Case and blanks. */

eb_key reader_trimmed(eb_key key) {
    const char *p = key.p, *end = p + key.len;
    while (p < end && (is_blank(*p) || *p == '\r' || *p == '\n')) p++;
    while (p < end && (is_blank(end[-1]) || end[-1] == '\r' || end[-1] == '\n')) end--;
    return (eb_key){p, (size_t)(end - p)};
}

static eb_key lower_case(reader *r, eb_key key) {
    const char *const p = key.p;
    char *const to = arena_get(&r->arena, key.len + 1);
    for (size_t i = 0; i < key.len; i++)
        to[i] = p[i] >= 'A' && p[i] <= 'Z' ? (char)(p[i] - 'A' + 'a') : p[i];
    arena_take(&r->arena, key.len);
    return (eb_key){to, key.len};
}

/* ---- Keys. */

bool reader_plain_field(reader *r, const char *p, const char *end, uint64_t field, eb_key *key) {
    for (uint64_t i = 1; i < field; i++) {
        const char *const at = memchr(p, r->delimiter, (size_t)(end - p));
        if (!at) return lacks(r, LACK_FIELD, NULL, field);
        p = at + 1;
    }
    const char *const stop = memchr(p, r->delimiter, (size_t)(end - p));
    *key = (eb_key){p, (size_t)((stop ? stop : end) - p)};
    return true;
}

/* Plain fields side by side, where they stand. */
static bool plain_range(reader *r, const char *line, const char *end, const field_item *item,
                        eb_key *key) {
    if (!reader_plain_field(r, line, end, item->first, key)) return false;
    const char *const p = key->p, *stop = p + key->len;
    if (item->last == FIELDS_TO_END) stop = end;
    for (uint64_t at = item->first; item->last != FIELDS_TO_END && at < item->last; at++) {
        if (stop == end) return lacks(r, LACK_FIELD, NULL, at + 1);
        stop = field_end(r, stop + 1, end);
    }
    *key = (eb_key){p, (size_t)(stop - p)};
    return true;
}

static bool one_column(reader *r, const char *line, const char *end, uint64_t field, eb_key *key) {
    columns w = columns_of(r, line, end);
    for (uint64_t i = 0; i < field; i++)
        if (!next_column(&w)) return lacks(r, LACK_FIELD, NULL, field);
    *key = column_value(r, w.p, w.stop);
    return true;
}

/* Most fields have no quotes: then it is enough to look for delimiters. */
bool reader_csv_field(reader *r, const char *line, const char *end, uint64_t field, eb_key *key) {
    const char *p = line;
    for (uint64_t left = field;; left--) {
        if (p < end && *p == '"') return one_column(r, line, end, field, key);
        const char *const stop = memchr(p, r->delimiter, (size_t)(end - p));
        if (left == 1) {
            const bool cr = !stop && end > p && end[-1] == '\r';
            *key = (eb_key){p, (size_t)((stop ? stop : end - cr) - p)};
            return true;
        }
        if (!stop) return lacks(r, LACK_FIELD, NULL, field);
        p = stop + 1;
    }
}

static __attribute__((noinline)) bool any_key(reader *r, const field_list *list, const char *line,
                                              const char *end, eb_key *key) {
    if (list->n == 1 && r->format == FORMAT_JSON && !r->trim)
        return json_part(r, &list->item[0], line, end, key);
    if (list->n == 1 && r->format == FORMAT_PLAIN && !r->trim && list->item[0].first)
        return plain_range(r, line, end, &list->item[0], key);
    if (!add_parts(r, list, line, end)) return false;
    *key = r->parts == 1 ? r->part[0] : join_parts(r);
    return true;
}

/* Called for every line: what is rare is out of the way. */
bool reader_get(reader *r, reader_role role, const char *line, const char *end, eb_key *key) {
    const field_list *const list = &r->list[role];
    bool found = true;
    if (list->n == 0 && r->format != FORMAT_REGEX) {
        *key = (eb_key){line, (size_t)(end - line)};
        if (r->trim) *key = reader_trimmed(*key);
    } else if (list->only && !r->trim && r->format == FORMAT_PLAIN)
        found = reader_plain_field(r, line, end, list->only, key);
    else if (list->only && !r->trim && r->format == FORMAT_CSV)
        found = reader_csv_field(r, line, end, list->only, key);
    else
        found = any_key(r, list, line, end, key);
    if (found && r->ignore_case && role == READER_KEY) *key = lower_case(r, *key);
    return found;
}

eb_key reader_query(reader *r, eb_key key) {
    if (r->trim) key = reader_trimmed(key);
    return r->ignore_case ? lower_case(r, key) : key;
}

/* ---- Names of columns. */

static _Noreturn void no_such_column(reader *r, const field_item *item, const char *line,
                                     const char *end) {
    char known[400] = "";
    size_t used = 0;
    for (columns w = columns_of(r, line, end); next_column(&w) && used < sizeof known - 1;) {
        const eb_key name = column_value(r, w.p, w.stop);
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%.*s", used ? ", " : "",
                                 name.len > 60 ? 60 : (int)name.len, (const char *)name.p);
    }
    cli_fail("%s: there is no column %.*s; the columns are %s", r->name,
             item->len > 100 ? 100 : (int)item->len, item->text, known);
}

/* 0: there is none of this name; of several the first. */
static uint64_t column_named(reader *r, eb_key name, const char *line, const char *end) {
    uint64_t at = 0;
    for (columns w = columns_of(r, line, end); next_column(&w);) {
        const eb_key column = reader_trimmed(column_value(r, w.p, w.stop));
        at++;
        if (column.len == name.len && memcmp(column.p, name.p, name.len) == 0) return at;
    }
    return 0;
}

bool reader_learn_names(reader *r, const char *line, const char *end) {
    if (end - line >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) line += 3; /* byte order mark */
    for (int role = 0; role < READER_ROLES; role++)
        for (size_t i = 0; i < r->list[role].n; i++) {
            field_item *const item = &r->list[role].item[i];
            if (!item->is_name) continue;
            char *const text = arena_get(&r->arena, item->len);
            const size_t len = fields_name(item, text);
            arena_take(&r->arena, len);
            item->first = item->last = column_named(r, (eb_key){text, len}, line, end);
            if (!item->first) no_such_column(r, item, line, end);
            r->list[role].only = r->list[role].n == 1 ? item->first : 0;
        }
    return true;
}

/* ---- Options. */

static void check_options(const cli_command *c, const settings *set) {
    const bool fields = set->field.n || set->s_field.n || set->importance_field.n ||
                        set->time_field.n || set->class_field.n || set->weight_field.n ||
                        set->by.n || set->csv || set->mark;
    if (set->csv + set->tsv + set->jsonl + (set->regex != NULL) > 1)
        cli_misuse(c, "--csv, --tsv, --jsonl and --regex: give one of them");
    if (set->delimiter != NO_DELIMITER && (set->tsv || set->jsonl || set->regex))
        cli_misuse(c, "-d is not for --tsv, --jsonl or --regex, whose fields end by other rules");
    if (set->delimiter != NO_DELIMITER && !fields)
        cli_misuse(c, "-d has no effect without -f, --csv or --mark");
    if (set->delimiter == (set->nul ? '\0' : '\n'))
        cli_misuse(c, "-d must not be what ends a line");
    if (set->csv && (set->delimiter == '"' || set->delimiter == DELIMITER_BLANK))
        cli_misuse(c, set->delimiter == '"' ? "-d must not be the quote of --csv"
                                            : "-d blank is not for --csv");
    if (set->header && (set->jsonl || set->regex))
        cli_misuse(c, "--header is for columns, not for --jsonl or --regex");
    if (set->jsonl && set->field.n == 0 && set->s_field.n == 0 && (set->ignore_case || set->trim))
        cli_misuse(c, "--jsonl with -i or --trim needs -f: which value of the object?");
}

static void resolve_path(const cli_command *c, field_item *item) {
    if (!json_path_read(item->text, item->len, &item->path))
        cli_misuse(c, "a JSON path looks like user.id or items[0].sku, not \"%.*s\"",
                   (int)item->len, item->text);
}

static void resolve_group(const cli_command *c, const reader *r, field_item *item) {
    char text[128];
    const uint64_t n = pattern_groups(r->regex);
    if (item->is_name && item->len < sizeof text) {
        item->first = item->last = pattern_group_named(r->regex, text, fields_name(item, text));
        if (item->first) return;
    }
    if (item->is_name || item->from_end > n || item->first > n ||
        (item->last > n && item->last != FIELDS_TO_END))
        cli_misuse(c, "--regex has no group %.*s; it has %llu", (int)item->len, item->text,
                   (unsigned long long)n);
}

static void resolve_item(const cli_command *c, reader *r, field_item *item) {
    if (r->format == FORMAT_JSON) resolve_path(c, item);
    if (r->format == FORMAT_REGEX) resolve_group(c, r, item);
    if (r->format == FORMAT_JSON || r->format == FORMAT_REGEX || !item->is_name || r->header)
        return;
    cli_misuse(
        c, "%.*s is not the number of a field, and names of columns need --csv, --tsv or --header",
        (int)item->len, item->text);
}

static reader_format format_of(const settings *set) {
    if (set->csv) return FORMAT_CSV;
    if (set->jsonl) return FORMAT_JSON;
    if (set->regex) return FORMAT_REGEX;
    return set->delimiter == DELIMITER_BLANK ? FORMAT_BLANK : FORMAT_PLAIN;
}

static char delimiter_of(const settings *set) {
    if (set->delimiter == DELIMITER_BLANK) return ' ';
    if (set->delimiter != NO_DELIMITER) return (char)set->delimiter;
    return set->csv || set->jsonl || set->regex ? ',' : '\t';
}

void reader_options(reader *r, const cli_command *c, const settings *set) {
    check_options(c, set);
    r->separator = set->nul ? '\0' : '\n';
    r->format = format_of(set);
    r->delimiter = delimiter_of(set);
    r->ignore_case = set->ignore_case;
    r->trim = set->trim;
    r->header = set->header;
    r->packed = set->packed;
    r->list[READER_KEY] = set->field;
    r->as_they_are =
        !set->trim && !set->ignore_case && (r->format == FORMAT_PLAIN || r->format == FORMAT_CSV);
    r->whole_lines = !set->field.n && !set->regex && !set->trim && !set->ignore_case;
    r->list[READER_TIME] = set->time_field;
    r->list[READER_VALUE] = set->weight_field.n       ? set->weight_field
                            : set->importance_field.n ? set->importance_field
                            : set->by.n               ? set->by
                                                      : set->class_field;
    if (set->regex) r->regex = pattern_new(c, set->regex);
    for (int role = 0; role < READER_ROLES; role++) {
        field_list *const list = &r->list[role];
        if ((set->csv || set->tsv) && fields_have_names(list)) r->header = true;
        for (size_t i = 0; i < list->n; i++) resolve_item(c, r, &list->item[i]);
    }
}

static void note_fields(const field_list *list, char *text, size_t cap) {
    size_t used = (size_t)snprintf(text, cap, " -f ");
    for (size_t i = 0; i < list->n && used < cap; i++)
        used += (size_t)snprintf(text + used, cap - used, "%s%.*s", i ? "," : "",
                                 (int)list->item[i].len, list->item[i].text);
}

void reader_key_note(const settings *set, char *text, size_t cap) {
    char delimiter[16] = "", fields[512] = "";
    const unsigned d = set->delimiter;
    const bool usual = d == NO_DELIMITER || d == (set->csv ? ',' : '\t') || !set->field.n;
    if (d == DELIMITER_BLANK)
        snprintf(delimiter, sizeof delimiter, " -d blank");
    else if (!usual)
        snprintf(delimiter, sizeof delimiter, d > ' ' && d < 0x7f ? " -d %c" : " -d \\x%02x", d);
    if (set->field.n) note_fields(&set->field, fields, sizeof fields);
    const int n =
        snprintf(text, cap, "%s%s%.300s%s%s%s%s%s",
                 set->csv && set->field.n   ? " --csv"
                 : set->tsv && set->field.n ? " --tsv"
                 : set->jsonl               ? " --jsonl"
                                            : "",
                 set->regex ? " --regex " : "", set->regex ? set->regex : "", delimiter, fields,
                 set->ignore_case ? " -i" : "", set->trim ? " --trim" : "", set->nul ? " -0" : "");
    if (n == 0)
        snprintf(text, cap, KEYS_ARE_LINES);
    else
        memmove(text, text + 1, strlen(text));
}

/* Takes the option from the end of the first n bytes of a note. */
static bool take_last(const char *note, size_t *n, const char *option) {
    const size_t length = strlen(option);
    const size_t from = *n < length ? 0 : *n - length;
    if (strncmp(note + from, option, length) != 0 || (from > 0 && note[from - 1] != ' '))
        return false;
    *n = from > 0 ? from - 1 : 0;
    return true;
}

const char *reader_key_differs(const settings *set, const char *note) {
    size_t n = strlen(note);
    (void)take_last(note, &n, "-0");
    const bool trim = take_last(note, &n, "--trim"), ignore_case = take_last(note, &n, "-i");
    return ignore_case && !set->ignore_case ? "-i" : trim && !set->trim ? "--trim" : NULL;
}

void reader_options_free(reader *r) {
    for (int role = 0; role < READER_ROLES; role++)
        for (size_t i = 0; i < r->list[role].n; i++) json_path_free(&r->list[role].item[i].path);
    pattern_free(r->regex);
    arena_free(&r->arena);
    free(r->part);
}
