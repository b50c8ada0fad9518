/* tables.c - functions of everbloom that give rows:
 *
 *     select key, count from evb_top((select f from hits), 10);
 *     select lower, upper from evb_range((select f from times), 1700000000, 1700003600);
 *
 * Each is a virtual table with hidden columns for its arguments.  A table computes all its rows
 * when it is asked; SQLite then walks over them. */
#include "evb.h"
#include <math.h>
#include <string.h>

enum { COLUMNS_MAX = 8, ARGUMENTS_MAX = 5 };

typedef struct tables_cell {
    enum { CELL_NULL, CELL_INTEGER, CELL_REAL, CELL_TEXT } type;
    sqlite3_int64 integer;
    double real;
    char *text; /* of sqlite3_malloc */
    int len;
} tables_cell;

typedef struct tables_cursor {
    sqlite3_vtab_cursor base;
    tables_cell *cells; /* row by row */
    size_t rows, cap, at;
    sqlite3_value *argument[ARGUMENTS_MAX]; /* NULL: not given */
} tables_cursor;

typedef struct tables_function {
    const char *name, *schema;
    int columns;  /* that are visible */
    int min, max; /* arguments */
    eb_status (*fill)(evb_connection *c, tables_cursor *cur, eb_error *err);
} tables_function;

typedef struct tables_module {
    const tables_function *function;
    evb_connection *connection;
} tables_module;

typedef struct tables_vtab {
    sqlite3_vtab base;
    const tables_function *function;
    evb_connection *connection;
} tables_vtab;

/* ---- Rows ------------------------------------------------------------------------------------ */

/* A new row of NULLs; NULL: no memory. */
static tables_cell *tables_row(tables_cursor *cur) {
    const tables_vtab *const t = (const tables_vtab *)(const void *)cur->base.pVtab;
    const size_t columns = (size_t)t->function->columns;
    if (cur->rows == cur->cap) {
        const size_t cap = cur->cap ? 2 * cur->cap : 16;
        tables_cell *const more = sqlite3_realloc64(cur->cells, cap * columns * sizeof *more);
        if (!more) return NULL;
        cur->cells = more;
        cur->cap = cap;
    }
    tables_cell *const row = cur->cells + cur->rows++ * columns;
    memset(row, 0, columns * sizeof *row);
    return row;
}

static void tables_clear(tables_cursor *cur) {
    const tables_vtab *const t = (const tables_vtab *)(const void *)cur->base.pVtab;
    for (size_t i = 0; i < cur->rows * (size_t)t->function->columns; i++)
        sqlite3_free(cur->cells[i].text);
    for (size_t i = 0; i < ARGUMENTS_MAX; i++) {
        sqlite3_value_free(cur->argument[i]);
        cur->argument[i] = NULL;
    }
    cur->rows = cur->at = 0;
}

/* A number that is whole becomes an integer, as SQL users expect of counts. */
static tables_cell tables_number(double x) {
    tables_cell cell = {.type = CELL_REAL, .real = x};
    if (isnan(x)) cell.type = CELL_NULL;
    if (x == floor(x) && fabs(x) < 0x1p53)
        cell = (tables_cell){.type = CELL_INTEGER, .integer = (sqlite3_int64)x};
    return cell;
}

static bool tables_text(tables_cell *cell, const void *bytes, size_t len) {
    char *const copy = sqlite3_malloc64(len + 1);
    if (!copy) return false;
    memcpy(copy, bytes, len);
    copy[len] = '\0';
    *cell = (tables_cell){.type = CELL_TEXT, .text = copy, .len = (int)len};
    return true;
}

static eb_status tables_no_memory(eb_error *err) {
    return evb_error(err, EB_ENOMEM, "out of memory");
}

/* ---- The functions --------------------------------------------------------------------------- */

static evb_loaded *tables_filter(evb_connection *c, const tables_cursor *cur, eb_error *err) {
    return evb_find(c, cur->argument[0], err);
}

static eb_status estimate_fill(evb_connection *c, tables_cursor *cur, eb_error *err) {
    const evb_loaded *const l = tables_filter(c, cur, err);
    evb_key key;
    eb_hash hash;
    eb_estimate e;
    EB_INIT(e);
    if (!l) return (eb_status)err->status;
    if (!evb_key_of(cur->argument[1], &key)) return EB_OK; /* no key, no row */
    const eb_batch b = eb_batch_hashes(&hash, 1);
    eb_status status = eb_hash_keys(l->f, &key.keys, 1, &hash, err);
    if (status == EB_OK) status = eb_estimate_batch(l->f, &b, &e, err);
    if (status != EB_OK) return status;
    tables_cell *const row = tables_row(cur);
    if (!row) return tables_no_memory(err);
    row[0] = tables_number(e.count);
    row[1] = tables_number(e.lower);
    row[2] = tables_number(e.upper);
    row[3] = (tables_cell){.type = CELL_REAL, .real = e.confidence};
    return EB_OK;
}

/* The numbers of a filter are signed if it says keys=i64: the cast keeps their bits. */
static eb_status range_fill(evb_connection *c, tables_cursor *cur, eb_error *err) {
    const evb_loaded *const l = tables_filter(c, cur, err);
    eb_range r;
    EB_INIT(r);
    if (!l) return (eb_status)err->status;
    for (int i = 1; i <= 2; i++)
        if (sqlite3_value_type(cur->argument[i]) != SQLITE_INTEGER)
            return evb_error(err, EB_EINVAL, "the ends of a range must be integers");
    const eb_status status =
        eb_range_count(l->f, (uint64_t)sqlite3_value_int64(cur->argument[1]),
                       (uint64_t)sqlite3_value_int64(cur->argument[2]), &r, err);
    if (status != EB_OK) return status;
    tables_cell *const row = tables_row(cur);
    if (!row) return tables_no_memory(err);
    row[0] = tables_number(r.lower);
    row[1] = tables_number(r.upper);
    return EB_OK;
}

static eb_status quantile_fill(evb_connection *c, tables_cursor *cur, eb_error *err) {
    const evb_loaded *const l = tables_filter(c, cur, err);
    eb_quantile q;
    EB_INIT(q);
    if (!l) return (eb_status)err->status;
    const double share = sqlite3_value_double(cur->argument[1]);
    if (!(share >= 0 && share <= 1))
        return evb_error(err, EB_EINVAL, "a quantile lies between 0 and 1, not at %g", share);
    const eb_status status = eb_range_quantile(l->f, share, &q, err);
    if (status != EB_OK) return status;
    tables_cell *const row = tables_row(cur);
    if (!row) return tables_no_memory(err);
    const uint64_t number[] = {q.value, q.lower, q.upper};
    for (int i = 0; i < 3; i++)
        row[i] = (tables_cell){.type = CELL_INTEGER, .integer = (sqlite3_int64)number[i]};
    return EB_OK;
}

static eb_status tables_list(tables_cursor *cur, eb_filter *f, double at_least, size_t most,
                             eb_error *err) {
    eb_top_list list;
    EB_INIT(list);
    list.at_least = at_least;
    eb_status status = eb_top(f, &list, err); /* how many are there? */
    if (status != EB_OK || list.matching == 0) return status;
    list.cap = list.matching < most ? list.matching : most;
    eb_top_key *const keys = sqlite3_malloc64(list.cap * sizeof *keys);
    if (!keys) return tables_no_memory(err);
    list.keys = keys;
    status = eb_top(f, &list, err);
    for (size_t i = 0; status == EB_OK && i < list.n; i++) {
        tables_cell *const row = tables_row(cur);
        if (!row || !tables_text(&row[0], keys[i].key.p, keys[i].key.len))
            status = tables_no_memory(err);
        else {
            row[1] = tables_number(keys[i].count);
            row[2] = tables_number(keys[i].lower);
            row[3] = tables_number(list.watermark);
        }
    }
    sqlite3_free(keys);
    return status;
}

static eb_status top_fill(evb_connection *c, tables_cursor *cur, eb_error *err) {
    evb_loaded *const l = tables_filter(c, cur, err);
    const sqlite3_int64 n = cur->argument[1] ? sqlite3_value_int64(cur->argument[1]) : INT32_MAX;
    if (!l) return (eb_status)err->status;
    if (n < 1) return evb_error(err, EB_EINVAL, "the number of keys must be 1 or more");
    return tables_list(cur, l->f, 0, (size_t)n, err);
}

static eb_status iceberg_fill(evb_connection *c, tables_cursor *cur, eb_error *err) {
    evb_loaded *const l = tables_filter(c, cur, err);
    const double at_least = sqlite3_value_double(cur->argument[1]);
    if (!l) return (eb_status)err->status;
    if (!(at_least > 0)) return evb_error(err, EB_EINVAL, "the threshold must be above 0");
    return tables_list(cur, l->f, at_least, SIZE_MAX, err);
}

static eb_status kinds_fill(evb_connection *c, tables_cursor *cur, eb_error *err) {
    size_t n;
    (void)c;
    const eb_kind_info *const *const kinds = eb_kinds(&n);
    for (size_t i = 0; i < n; i++) {
        const char *const words[] = {kinds[i]->name, kinds[i]->question, kinds[i]->summary,
                                     kinds[i]->paper};
        tables_cell *const row = tables_row(cur);
        if (!row) return tables_no_memory(err);
        for (int j = 0; j < 4; j++)
            if (words[j] && !tables_text(&row[j], words[j], strlen(words[j])))
                return tables_no_memory(err);
    }
    return EB_OK;
}

static const tables_function tables_functions[] = {
    {"evb_estimate", "create table x(count, lower, upper, confidence, filter hidden, key hidden)",
     4, 2, 2, estimate_fill},
    {"evb_range", "create table x(lower, upper, filter hidden, low hidden, high hidden)", 2, 3, 3,
     range_fill},
    {"evb_quantile", "create table x(value, lower, upper, filter hidden, q hidden)", 3, 2, 2,
     quantile_fill},
    {"evb_top", "create table x(key, count, lower, watermark, filter hidden, n hidden)", 4, 1, 2,
     top_fill},
    {"evb_iceberg", "create table x(key, count, lower, watermark, filter hidden, at_least hidden)",
     4, 2, 2, iceberg_fill},
    {"evb_kinds", "create table x(name, question, summary, paper)", 4, 0, 0, kinds_fill},
};

/* ---- What SQLite calls ----------------------------------------------------------------------- */

static int tables_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
                          sqlite3_vtab **out, char **message) {
    const tables_module *const m = aux;
    (void)argc, (void)argv, (void)message;
    const int status = sqlite3_declare_vtab(db, m->function->schema);
    if (status != SQLITE_OK) return status;
    (void)sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    tables_vtab *const t = sqlite3_malloc64(sizeof *t);
    if (!t) return SQLITE_NOMEM;
    *t = (tables_vtab){.function = m->function, .connection = m->connection};
    *out = &t->base;
    return SQLITE_OK;
}

static int tables_disconnect(sqlite3_vtab *t) {
    sqlite3_free(t);
    return SQLITE_OK;
}

/* Arguments are equality constraints on hidden columns; bit i of idxNum says that argument i is
 * there. */
static int tables_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info) {
    const tables_function *const f = ((const tables_vtab *)(const void *)vtab)->function;
    int at[ARGUMENTS_MAX], given = 0, next = 0;
    for (int i = 0; i < ARGUMENTS_MAX; i++) at[i] = -1;
    for (int i = 0; i < info->nConstraint; i++) {
        const int a = info->aConstraint[i].iColumn - f->columns;
        if (a < 0 || a >= f->max || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (!info->aConstraint[i].usable) return SQLITE_CONSTRAINT;
        at[a] = i;
    }
    for (int a = 0; a < f->max; a++) {
        if (at[a] < 0) continue;
        info->aConstraintUsage[at[a]].argvIndex = ++next;
        info->aConstraintUsage[at[a]].omit = 1;
        given |= 1 << a;
    }
    for (int a = 0; a < f->min; a++)
        if (!(given & 1 << a)) {
            vtab->zErrMsg =
                sqlite3_mprintf("%s needs %d argument%s", f->name, f->min, f->min == 1 ? "" : "s");
            return SQLITE_ERROR;
        }
    info->idxNum = given;
    info->estimatedCost = 1000;
    return SQLITE_OK;
}

static int tables_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out) {
    tables_cursor *const cur = sqlite3_malloc64(sizeof *cur);
    (void)vtab;
    if (!cur) return SQLITE_NOMEM;
    memset(cur, 0, sizeof *cur);
    *out = &cur->base;
    return SQLITE_OK;
}

static tables_cursor *tables_cursor_of(sqlite3_vtab_cursor *base) {
    return (tables_cursor *)(void *)base;
}

static int tables_close(sqlite3_vtab_cursor *base) {
    tables_cursor *const cur = tables_cursor_of(base);
    tables_clear(cur);
    sqlite3_free(cur->cells);
    sqlite3_free(cur);
    return SQLITE_OK;
}

static int tables_filter_rows(sqlite3_vtab_cursor *base, int given, const char *text, int argc,
                              sqlite3_value **argv) {
    tables_cursor *const cur = tables_cursor_of(base);
    tables_vtab *const t = (tables_vtab *)(void *)base->pVtab;
    eb_error err;
    char words[sizeof err];
    (void)text;
    tables_clear(cur);
    for (int a = 0, next = 0; a < ARGUMENTS_MAX && next < argc; a++)
        if (given & 1 << a) {
            cur->argument[a] = sqlite3_value_dup(argv[next++]);
            if (!cur->argument[a]) return SQLITE_NOMEM;
        }
    if (t->function->fill(t->connection, cur, &err) == EB_OK) return SQLITE_OK;
    if (err.status == EB_ENOMEM) return SQLITE_NOMEM;
    sqlite3_free(t->base.zErrMsg);
    sql_error_text(&err, words);
    t->base.zErrMsg = sqlite3_mprintf("%s: %s", t->function->name, words);
    return SQLITE_ERROR;
}

static int tables_next(sqlite3_vtab_cursor *base) {
    tables_cursor_of(base)->at++;
    return SQLITE_OK;
}

static int tables_eof(sqlite3_vtab_cursor *base) {
    const tables_cursor *const cur = tables_cursor_of(base);
    return cur->at >= cur->rows;
}

static int tables_column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int column) {
    const tables_cursor *const cur = tables_cursor_of(base);
    const int columns = ((const tables_vtab *)(const void *)base->pVtab)->function->columns;
    if (column >= columns) {
        const int a = column - columns;
        if (a < ARGUMENTS_MAX && cur->argument[a]) sqlite3_result_value(ctx, cur->argument[a]);
        return SQLITE_OK;
    }
    const tables_cell *const cell = &cur->cells[cur->at * (size_t)columns + (size_t)column];
    switch (cell->type) {
    case CELL_INTEGER:
        sqlite3_result_int64(ctx, cell->integer);
        break;
    case CELL_REAL:
        sqlite3_result_double(ctx, cell->real);
        break;
    case CELL_TEXT:
        sqlite3_result_text(ctx, cell->text, cell->len, SQLITE_TRANSIENT);
        break;
    case CELL_NULL:
        break;
    }
    return SQLITE_OK;
}

static int tables_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
    *out = (sqlite3_int64)tables_cursor_of(base)->at;
    return SQLITE_OK;
}

static void tables_module_free(void *module) {
    tables_module *const m = module;
    evb_connection_release(m->connection);
    sqlite3_free(m);
}

int evb_register_tables(sqlite3 *db, evb_connection *c) {
    static const sqlite3_module module = {
        .xConnect = tables_connect, /* no xCreate: the table is always there */
        .xBestIndex = tables_best_index,
        .xDisconnect = tables_disconnect,
        .xOpen = tables_open,
        .xClose = tables_close,
        .xFilter = tables_filter_rows,
        .xNext = tables_next,
        .xEof = tables_eof,
        .xColumn = tables_column,
        .xRowid = tables_rowid,
    };
    int status = SQLITE_OK;
    for (size_t i = 0;
         i < sizeof tables_functions / sizeof *tables_functions && status == SQLITE_OK; i++) {
        tables_module *const m = sqlite3_malloc64(sizeof *m);
        if (!m) return SQLITE_NOMEM;
        c->holders++;
        *m = (tables_module){&tables_functions[i], c};
        status =
            sqlite3_create_module_v2(db, tables_functions[i].name, &module, m, tables_module_free);
    }
    return status;
}
