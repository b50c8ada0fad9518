/* report.c - tables as aligned text, CSV or Markdown, and the count of promises. */
#include "lab.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { REPORT_COLUMNS = 24 };

struct lab_table {
    char **row; /* the first is the head */
    size_t rows, room;
};

static void report_push(lab_table *t, char *row) {
    if (t->rows == t->room) {
        t->room = t->room ? 2 * t->room : 64;
        t->row = lab_grow(t->row, t->room, sizeof *t->row);
    }
    t->row[t->rows++] = row;
}

lab_table *lab_table_new(const char *columns) {
    lab_table *t = lab_alloc(1, sizeof *t);
    lab_table_row(t, "%s", columns);
    return t;
}

void lab_table_row(lab_table *t, const char *format, ...) {
    char *row = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&row, format, args) < 0) lab_die("no memory for a table");
    va_end(args);
    report_push(t, row);
}

/* Cuts a row at its bars, in place. */
static size_t report_split(char *row, char *cell[REPORT_COLUMNS]) {
    size_t n = 0;
    for (char *bar; n < REPORT_COLUMNS; row = bar + 1) {
        cell[n++] = row;
        bar = strchr(row, '|');
        if (!bar) break;
        *bar = 0;
    }
    return n;
}

static bool report_is_number(const char *text) {
    return strspn(text, "+-.0123456789e%[] ") == strlen(text);
}

static void report_line(const lab_options *o, char *cell[], size_t n, const size_t *width) {
    if (o->format == LAB_MD) putchar('|');
    for (size_t i = 0; i < n; i++) {
        const int w = (int)width[i];
        const bool last = i + 1 == n;
        if (o->format == LAB_CSV)
            printf("%s%s", cell[i], last ? "" : ",");
        else if (o->format == LAB_MD)
            printf(" %s |", cell[i]);
        else if (report_is_number(cell[i]))
            printf("%*s%s", w, cell[i], last ? "" : "  ");
        else
            printf("%-*s%s", last ? 0 : w, cell[i], last ? "" : "  ");
    }
    putchar('\n');
}

static void report_rule(const lab_options *o, char *second[], size_t n) {
    if (o->format != LAB_MD) return;
    putchar('|');
    for (size_t i = 0; i < n; i++)
        fputs(report_is_number(second[i]) ? " ---: |" : " --- |", stdout);
    putchar('\n');
}

void lab_table_print(lab_table *t, const lab_options *o) {
    size_t width[REPORT_COLUMNS] = {0}, columns = 0;
    char *(*cell)[REPORT_COLUMNS] = lab_alloc(t->rows, sizeof *cell);
    for (size_t r = 0; r < t->rows; r++) {
        columns = report_split(t->row[r], cell[r]);
        for (size_t i = 0; i < columns; i++)
            if (strlen(cell[r][i]) > width[i]) width[i] = strlen(cell[r][i]);
    }
    for (size_t r = 0; r < t->rows; r++) {
        report_line(o, cell[r], columns, width);
        if (r == 0) report_rule(o, cell[t->rows > 1], columns);
    }
    if (o->format != LAB_CSV) putchar('\n');
    fflush(stdout);
    for (size_t r = 0; r < t->rows; r++) free(t->row[r]);
    free(cell);
    free(t->row);
    free(t);
}

void lab_promise(lab_options *o, bool kept, const char *format, ...) {
    *(kept ? &o->kept : &o->broken) += 1;
    if (kept) return;
    va_list args;
    va_start(args, format);
    fputs("everbloom-lab: not so: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

lab_table *lab_checks_new(const char *what, const char *want) {
    lab_table *t = lab_alloc(1, sizeof *t);
    lab_table_row(t, "%s|%s|measured|difference|error|verdict", what, want);
    return t;
}

void lab_check_row(lab_options *o, lab_table *t, const char *what, lab_check c) {
    const bool kept = fabs(c.got - c.want) <= c.limit;
    char error[40] = "computed";
    if (!isnan(c.error)) snprintf(error, sizeof error, "%.*f", c.digits + 1, c.error);
    lab_table_row(t, "%s|%.*f|%.*f|%+.*f|%s|%s", what, c.digits, c.want, c.digits, c.got, c.digits,
                  c.got - c.want, error, kept ? "agrees" : "DIFFERS");
    lab_promise(o, kept, "%s is %.*f, within %.*f of %.*f", what, c.digits, c.got, c.digits + 1,
                c.limit, c.digits, c.want);
}

void lab_say(const lab_options *o, const char *format, ...) {
    if (o->format == LAB_CSV) return;
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fputs(o->format == LAB_MD ? "\n\n" : "\n", stdout);
}

void lab_details(const lab_options *o, const char *title, bool open) {
    if (o->format != LAB_MD) return;
    if (open)
        printf("<details>\n<summary>%s</summary>\n\n", title);
    else
        printf("</details>\n\n");
}
