/* table.h - rows of answers: TSV, CSV, or aligned for people.
 *
 * TSV: the key is printed unchanged, as the last column because it may contain tabs; a key that
 * contains a newline is quoted, with quotes inside doubled.  CSV: RFC 4180.  Aligned, on a terminal
 * unless --as says otherwise: bytes that could move the cursor are shown as ?. */
#ifndef EVERBLOOM_TABLE_H
#define EVERBLOOM_TABLE_H
#include "cli.h"

typedef enum table_format { TABLE_TSV, TABLE_CSV, TABLE_ALIGNED } table_format;
enum { TABLE_COLUMNS = 8 };
typedef struct table {
    table_format format;
    char end; /* of a row */
    size_t columns, column;
    struct table_cell *cells; /* of rows to be aligned */
    size_t n, cap;
    const char *names[TABLE_COLUMNS];
    bool named; /* the names are printed, or need not be */
} table;

/* What --as, --json and the terminal say; never asked for JSON, which commands write themselves. */
table_format table_format_of(const settings *set);
/* names: NULL at the end.  They are printed with --names, and where people read. */
void table_open(table *t, const settings *set, const char *const *names);
void table_count(table *t, double count);      /* all digits; inf */
void table_number(table *t, const char *text); /* aligned to the right */
void table_bytes(table *t, eb_key key);
void table_text(table *t, const char *text);
void table_end_row(table *t);
void table_flush(table *t); /* rows so far */
void table_close(table *t); /* what is left; a write error is trouble */
/* A key where bytes could move the cursor, at most so many columns of it. */
void put_shown(FILE *to, eb_key key, size_t width);
#endif
