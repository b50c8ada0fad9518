/* table.c - see table.h. */
#include "table.h"
#include "parts/health.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TABLE_ALIGNED_ROWS = 1000 }; /* aligned together; more come in several pieces */

typedef struct table_cell {
    char *text;
    size_t len;
    bool is_number;
} table_cell;

table_format table_format_of(const settings *set) {
    if (!set->as) return isatty(STDOUT_FILENO) && !set->nul ? TABLE_ALIGNED : TABLE_TSV;
    return set->as[0] == 'c'               ? TABLE_CSV
           : strcmp(set->as, "table") == 0 ? TABLE_ALIGNED
                                           : TABLE_TSV;
}

static void put_names(table *t) {
    if (t->named) return;
    t->named = true;
    for (size_t i = 0; i < t->columns; i++) table_text(t, t->names[i]);
    table_end_row(t);
}

void table_open(table *t, const settings *set, const char *const *names) {
    *t = (table){.format = table_format_of(set), .end = set->nul ? '\0' : '\n'};
    while (names[t->columns]) {
        t->names[t->columns] = names[t->columns];
        t->columns++;
    }
    t->named = t->format == TABLE_TSV && !set->names;
    if (t->format != TABLE_ALIGNED) put_names(t);
}

/* ---- Cells. */

static void put_quoted(eb_key text) {
    const char *const p = text.p;
    putchar('"');
    for (size_t i = 0; i < text.len; i++) {
        if (p[i] == '"') putchar('"');
        putchar(p[i]);
    }
    putchar('"');
}

static bool has_any(eb_key text, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (text.len > 0 && memchr(text.p, bytes[i], text.len)) return true;
    return false;
}

static void keep(table *t, eb_key text, bool is_number) {
    table_cell cell = {cli_alloc(text.len + 1), text.len, is_number};
    if (text.len > 0) memcpy(cell.text, text.p, text.len);
    t->cells = cli_grow(t->cells, &t->cap, (t->n + 1) * sizeof *t->cells);
    t->cells[t->n++] = cell;
}

static void put_cell(table *t, eb_key text, bool is_number) {
    if (t->format == TABLE_ALIGNED) {
        if (t->n == 0 && !t->named) put_names(t);
        keep(t, text, is_number);
        return;
    }
    if (t->column++ > 0) putchar(t->format == TABLE_CSV ? ',' : '\t');
    const bool quoted = t->format == TABLE_CSV ? has_any(text, ",\"\r\n", 4)
                                               : t->end == '\n' && has_any(text, "\n", 1);
    if (quoted)
        put_quoted(text);
    else if (text.len > 0)
        fwrite(text.p, 1, text.len, stdout);
}

void table_bytes(table *t, eb_key key) {
    put_cell(t, key, false);
}

void table_text(table *t, const char *text) {
    put_cell(t, (eb_key){text, strlen(text)}, false);
}

void table_number(table *t, const char *text) {
    put_cell(t, (eb_key){text, strlen(text)}, true);
}

void table_count(table *t, double count) {
    char text[40];
    if (isinf(count))
        snprintf(text, sizeof text, "inf");
    else
        snprintf(text, sizeof text, count == floor(count) ? "%.0f" : "%.6g", count);
    table_number(t, text);
}

/* ---- Rows. */

void put_shown(FILE *to, eb_key key, size_t width) {
    const unsigned char *const p = key.p;
    size_t columns = 0;
    for (size_t i = 0; i < key.len; i++) {
        if ((p[i] & 0xc0) != 0x80 && columns++ == width) return; /* not inside a character */
        putc(p[i] < 0x20 || p[i] == 0x7f ? '?' : p[i], to);
    }
}

static size_t width_of(eb_key text) {
    const unsigned char *const p = text.p;
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) n += (p[i] & 0xc0) != 0x80;
    return n;
}

void table_flush(table *t) {
    if (t->format != TABLE_ALIGNED) return;
    size_t width[TABLE_COLUMNS] = {0};
    for (size_t i = 0; i < t->n; i++) {
        const size_t w = width_of((eb_key){t->cells[i].text, t->cells[i].len});
        if (w > width[i % t->columns]) width[i % t->columns] = w;
    }
    for (size_t i = 0; i < t->n; i++) {
        const table_cell *const c = &t->cells[i];
        const size_t column = i % t->columns;
        const bool last = column + 1 == t->columns;
        /* a name stands over its column as the numbers do */
        const bool right = c->is_number || (i < t->columns && t->n > t->columns &&
                                            t->cells[i + t->columns].is_number);
        const size_t w = width_of((eb_key){c->text, c->len});
        const int blanks = (int)(width[column] - w);
        if (column > 0) fputs("  ", stdout);
        if (right) printf("%*s", blanks, "");
        put_shown(stdout, (eb_key){c->text, c->len}, SIZE_MAX);
        if (!right && !last) printf("%*s", blanks, "");
        if (last) putchar('\n');
        free(c->text);
    }
    t->n = 0;
}

void table_end_row(table *t) {
    if (t->format != TABLE_ALIGNED) {
        putchar(t->end);
        t->column = 0;
    } else if (t->n >= TABLE_ALIGNED_ROWS * t->columns)
        table_flush(t);
}

void table_close(table *t) {
    table_flush(t);
    free(t->cells);
    *t = (table){0};
    finish_stdout();
}
