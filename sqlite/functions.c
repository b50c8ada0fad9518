/* functions.c - the SQL functions of everbloom: aggregates that make filters, functions that ask
 * them, and filters that a connection keeps by name.  docs/SQL.md lists them. */
#include "evb.h"
#include <math.h>
#include <string.h>

void evb_fail(sqlite3_context *ctx, const char *function, const eb_error *err) {
    if (err->status == EB_ENOMEM) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    char words[sizeof *err];
    sql_error_text(err, words);
    char *const text = sqlite3_mprintf("%s: %s", function, words);
    sqlite3_result_error(ctx, text ? text : words, -1);
    sqlite3_free(text);
}

static void functions_result_filter(sqlite3_context *ctx, const char *function,
                                    const eb_filter *f) {
    eb_error err;
    const size_t len = eb_save_size(f);
    void *const bytes = sqlite3_malloc64(len);
    if (!bytes) {
        sqlite3_result_error_nomem(ctx);
    } else if (eb_save(f, bytes, len, &err) != EB_OK) {
        sqlite3_free(bytes);
        evb_fail(ctx, function, &err);
    } else
        sqlite3_result_blob64(ctx, bytes, len, sqlite3_free);
}

/* ---- Aggregates ------------------------------------------------------------------------------ */

typedef struct functions_making {
    bool started, failed;
    sql_rows rows;
} functions_making;

/* A whole number that is not negative, for a weight or a time. */
static eb_status functions_number(sqlite3_value *value, const char *what, uint64_t *out,
                                  eb_error *err) {
    const sqlite3_int64 x = sqlite3_value_int64(value);
    if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER || x < 0)
        return evb_error(
            err, EB_EVALUE, "the %s must be a whole number, 0 or more, not %.40s", what,
            sqlite3_value_type(value) == SQLITE_NULL ? "NULL"
                                                     : (const char *)sqlite3_value_text(value));
    *out = (uint64_t)x;
    return EB_OK;
}

static eb_status functions_add(sql_rows *r, sqlite3_value **args, eb_error *err) {
    evb_key key;
    eb_status status = EB_OK;
    if (sqlite3_value_type(args[0]) == SQLITE_NULL) return EB_OK; /* no key */
    if (r->has_value) status = functions_number(args[2], "weight", &r->value[r->n], err);
    if (r->has_time && status == EB_OK)
        status = functions_number(args[3], "time", &r->time[r->n], err);
    if (status != EB_OK) return status;
    if (sqlite3_value_type(args[0]) == SQLITE_INTEGER)
        return sql_rows_number(r, sqlite3_value_int64(args[0]), err);
    (void)evb_key_of(args[0], &key);
    if (key.keys.type == EB_I64) return sql_rows_number(r, key.number, err);
    return sql_rows_bytes(r, (eb_key_type)key.keys.type, key.bytes, err);
}

static void functions_end(functions_making *m) {
    eb_free(m->rows.f);
    m->rows.f = NULL;
    m->failed = true;
}

static void agg_step(sqlite3_context *ctx, int n, sqlite3_value **args) {
    functions_making *const m = sqlite3_aggregate_context(ctx, sizeof *m);
    eb_error err;
    eb_status status = EB_OK;
    if (!m) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    if (m->failed) return;
    if (!m->started) {
        eb_filter *f;
        m->started = true;
        status = evb_make(sqlite3_context_db_handle(ctx), (const char *)sqlite3_value_text(args[1]),
                          &f, &err);
        sql_rows_begin(&m->rows, f, n > 2, n > 3);
    }
    if (status == EB_OK) status = functions_add(&m->rows, args, &err);
    if (status == EB_OK) return;
    functions_end(m);
    evb_fail(ctx, "evb_agg", &err);
}

/* No rows: NULL.  An error was reported by the row that caused it. */
static void agg_final(sqlite3_context *ctx) {
    functions_making *const m = sqlite3_aggregate_context(ctx, 0);
    eb_error err;
    if (!m || !m->rows.f) return;
    if (sql_rows_flush(&m->rows, &err) == EB_OK)
        functions_result_filter(ctx, "evb_agg", m->rows.f);
    else
        evb_fail(ctx, "evb_agg", &err);
    functions_end(m);
}

static eb_status functions_merge_into(eb_filter **sum, const evb_loaded *l, eb_error *err) {
    return *sum ? eb_merge(*sum, l->f, 1, err) : eb_clone(sum, l->f, NULL, err);
}

static void merge_step(sqlite3_context *ctx, int n, sqlite3_value **args) {
    functions_making *const m = sqlite3_aggregate_context(ctx, sizeof *m);
    eb_error err;
    (void)n;
    if (!m) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    if (m->failed || sqlite3_value_type(args[0]) == SQLITE_NULL) return;
    const evb_loaded *const l = evb_find(sqlite3_user_data(ctx), args[0], &err);
    if (l && functions_merge_into(&m->rows.f, l, &err) == EB_OK) return;
    functions_end(m);
    evb_fail(ctx, "evb_merge_agg", &err);
}

static void merge_final(sqlite3_context *ctx) {
    functions_making *const m = sqlite3_aggregate_context(ctx, 0);
    if (!m || !m->rows.f) return;
    functions_result_filter(ctx, "evb_merge_agg", m->rows.f);
    functions_end(m);
}

/* ---- Questions ------------------------------------------------------------------------------- */

/* One key: seen or count, at a time or at the filter's clock.  False: the result is set. */
static bool functions_ask(sqlite3_context *ctx, const char *function, int n, sqlite3_value **args,
                          bool *seen, double *count) {
    eb_error err;
    evb_key key;
    uint64_t time;
    if (sqlite3_value_type(args[0]) == SQLITE_NULL || !evb_key_of(args[1], &key)) return false;
    const evb_loaded *const l = evb_argument(ctx, args, 0, &err);
    eb_status status = l ? EB_OK : EB_EINVAL;
    if (l && n > 2) status = functions_number(args[2], "time", &time, &err);
    if (status == EB_OK)
        status = sql_ask(l->f, l->text, &key.keys, n > 2 ? &time : NULL, seen, count, &err);
    if (status != EB_OK) evb_fail(ctx, function, &err);
    return status == EB_OK;
}

static void has(sqlite3_context *ctx, int n, sqlite3_value **args) {
    bool seen;
    if (functions_ask(ctx, "evb_has", n, args, &seen, NULL)) sqlite3_result_int(ctx, seen);
}

static void count(sqlite3_context *ctx, int n, sqlite3_value **args) {
    double x;
    if (!functions_ask(ctx, "evb_count", n, args, NULL, &x)) return;
    if (x == floor(x) && x < 0x1p53)
        sqlite3_result_int64(ctx, (sqlite3_int64)x);
    else
        sqlite3_result_double(ctx, x);
}

static void merge(sqlite3_context *ctx, int n, sqlite3_value **args) {
    eb_filter *sum = NULL;
    eb_error err;
    (void)n;
    if (sqlite3_value_type(args[0]) == SQLITE_NULL || sqlite3_value_type(args[1]) == SQLITE_NULL)
        return;
    for (int i = 0; i < 2; i++) {
        const evb_loaded *const l = evb_find(sqlite3_user_data(ctx), args[i], &err);
        if (!l || functions_merge_into(&sum, l, &err) != EB_OK) {
            evb_fail(ctx, "evb_merge", &err);
            eb_free(sum);
            return;
        }
    }
    functions_result_filter(ctx, "evb_merge", sum);
    eb_free(sum);
}

static void info(sqlite3_context *ctx, int n, sqlite3_value **args) {
    eb_error err;
    sql_member member[SQL_INFO_MEMBERS];
    (void)n;
    if (sqlite3_value_type(args[0]) == SQLITE_NULL) return;
    const evb_loaded *const l = evb_find(sqlite3_user_data(ctx), args[0], &err);
    if (!l || sql_info(l->f, member, &err) != EB_OK) {
        evb_fail(ctx, "evb_info", &err);
        return;
    }
    sqlite3_str *const s = sqlite3_str_new(sqlite3_context_db_handle(ctx));
    sqlite3_str_appendf(s, "{\"spec\":\"%s\"", eb_spec(l->f));
    for (size_t i = 0; i < SQL_INFO_MEMBERS; i++)
        if (isfinite(member[i].number))
            sqlite3_str_appendf(s, ",\"%s\":%!.17g", member[i].name, member[i].number);
        else
            sqlite3_str_appendf(s, ",\"%s\":null", member[i].name);
    sqlite3_str_appendall(s, "}");
    char *const text = sqlite3_str_finish(s);
    if (!text)
        sqlite3_result_error_nomem(ctx);
    else
        sqlite3_result_text(ctx, text, -1, sqlite3_free);
}

static void version(sqlite3_context *ctx, int n, sqlite3_value **args) {
    (void)n, (void)args;
    sqlite3_result_text(ctx, EB_VERSION, -1, SQLITE_STATIC);
}

/* ---- Filters that a connection keeps --------------------------------------------------------- */

/* Opens a filter under a name: a snapshot, or a new one from a spec. */
static void open_filter(sqlite3_context *ctx, int n, sqlite3_value **args) {
    evb_connection *const c = sqlite3_user_data(ctx);
    const char *const name = (const char *)sqlite3_value_text(args[0]);
    eb_filter *f = NULL;
    eb_error err;
    eb_status status;
    (void)n;
    if (!name)
        status = evb_error(&err, EB_EINVAL, "the name is NULL");
    else if (sqlite3_value_type(args[1]) == SQLITE_BLOB) {
        const evb_loaded *const l = evb_find(c, args[1], &err);
        status = l ? eb_clone(&f, l->f, NULL, &err) : EB_EFORMAT;
    } else
        status = evb_make(c->db, (const char *)sqlite3_value_text(args[1]), &f, &err);
    if (status == EB_OK) status = evb_set_name(c, name, f, &err);
    if (status != EB_OK)
        evb_fail(ctx, "evb_open", &err);
    else
        sqlite3_result_text(ctx, name, -1, SQLITE_TRANSIENT);
}

static evb_loaded *functions_named(sqlite3_context *ctx, const char *function,
                                   sqlite3_value *name) {
    eb_error err;
    evb_loaded *l = NULL;
    if (sqlite3_value_type(name) == SQLITE_TEXT)
        l = evb_find(sqlite3_user_data(ctx), name, &err);
    else
        (void)evb_error(&err, EB_EINVAL, "the first argument must be the name of an open filter");
    if (!l) evb_fail(ctx, function, &err);
    return l;
}

/* Adds a key to a filter; was it there before? */
static bool functions_add_one(eb_filter *f, evb_key *key, int n, sqlite3_value **rest,
                              uint8_t *seen, eb_error *err) {
    uint64_t value = 1, time = 0;
    eb_batch b = eb_batch_keys(&key->keys, 1);
    b.seen = seen;
    if (n > 0) {
        if (functions_number(rest[0], "weight", &value, err) != EB_OK) return false;
        b.value = &value;
    }
    if (n > 1) {
        if (functions_number(rest[1], "time", &time, err) != EB_OK) return false;
        b.time = &time;
    }
    return eb_add_batch(f, &b, err) == EB_OK;
}

static void add(sqlite3_context *ctx, int n, sqlite3_value **args) {
    evb_loaded *const l = functions_named(ctx, "evb_add", args[0]);
    evb_key key;
    uint8_t seen;
    eb_error err;
    if (!l || !evb_key_of(args[1], &key)) return;
    if (functions_add_one(l->f, &key, n - 2, args + 2, &seen, &err))
        sqlite3_result_int(ctx, seen);
    else
        evb_fail(ctx, "evb_add", &err);
}

static void save(sqlite3_context *ctx, int n, sqlite3_value **args) {
    const evb_loaded *const l = functions_named(ctx, "evb_save", args[0]);
    (void)n;
    if (l) functions_result_filter(ctx, "evb_save", l->f);
}

static void close_filter(sqlite3_context *ctx, int n, sqlite3_value **args) {
    const char *const name = (const char *)sqlite3_value_text(args[0]);
    (void)n;
    sqlite3_result_int(ctx, name && evb_drop_name(sqlite3_user_data(ctx), name));
}

/* Is the key new?  Each place in a statement where evb_new stands has a filter of its own, which
 * SQLite keeps beside the constant spec while the statement runs. */
static void new_key(sqlite3_context *ctx, int n, sqlite3_value **args) {
    evb_loaded *l = sqlite3_get_auxdata(ctx, 1);
    evb_key key;
    uint8_t seen;
    eb_error err;
    eb_status status = EB_OK;
    if (!l) {
        l = sqlite3_malloc64(sizeof *l);
        if (!l) {
            sqlite3_result_error_nomem(ctx);
            return;
        }
        *l = (evb_loaded){.holders = 1};
        status = evb_make(sqlite3_context_db_handle(ctx), (const char *)sqlite3_value_text(args[1]),
                          &l->f, &err);
        if (status != EB_OK) {
            evb_release(l);
            evb_fail(ctx, "evb_new", &err);
            return;
        }
        sqlite3_set_auxdata(ctx, 1, l, evb_release);
        l = sqlite3_get_auxdata(ctx, 1);
        if (!l) {
            sqlite3_result_error_nomem(ctx);
            return;
        }
    }
    if (!evb_key_of(args[0], &key)) return;
    if (functions_add_one(l->f, &key, n - 2, args + 2, &seen, &err))
        sqlite3_result_int(ctx, !seen);
    else
        evb_fail(ctx, "evb_new", &err);
}

/* ---- The table ------------------------------------------------------------------------------- */

typedef struct functions_row {
    const char *name;
    int min, max; /* arguments */
    int flags;
    void (*call)(sqlite3_context *, int, sqlite3_value **);
    void (*step)(sqlite3_context *, int, sqlite3_value **);
    void (*final)(sqlite3_context *);
} functions_row;

int evb_register_functions(sqlite3 *db, evb_connection *c) {
    enum {
        PURE = SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC,
        NAMES = SQLITE_UTF8 | SQLITE_INNOCUOUS, /* a name may mean another filter next time */
        KEEPS = SQLITE_UTF8 | SQLITE_DIRECTONLY
    };
    static const functions_row rows[] = {
        {"evb_agg", 2, 4, PURE, NULL, agg_step, agg_final},
        {"evb_merge_agg", 1, 1, NAMES, NULL, merge_step, merge_final},
        {"evb_has", 2, 3, NAMES, has, NULL, NULL},
        {"evb_count", 2, 3, NAMES, count, NULL, NULL},
        {"evb_merge", 2, 2, NAMES, merge, NULL, NULL},
        {"evb_info", 1, 1, NAMES, info, NULL, NULL},
        {"evb_version", 0, 0, PURE, version, NULL, NULL},
        {"evb_new", 2, 4, SQLITE_UTF8 | SQLITE_INNOCUOUS, new_key, NULL, NULL},
        {"evb_open", 2, 2, KEEPS, open_filter, NULL, NULL},
        {"evb_add", 2, 4, KEEPS, add, NULL, NULL},
        {"evb_save", 1, 1, KEEPS, save, NULL, NULL},
        {"evb_close", 1, 1, KEEPS, close_filter, NULL, NULL},
    };
    int status = SQLITE_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int n = rows[i].min; n <= rows[i].max && status == SQLITE_OK; n++) {
            c->holders++; /* SQLite calls the destructor also if this fails */
            status =
                sqlite3_create_function_v2(db, rows[i].name, n, rows[i].flags, c, rows[i].call,
                                           rows[i].step, rows[i].final, evb_connection_release);
        }
    return status;
}
