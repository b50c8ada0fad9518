/* sqlite.c - functions in SQLite: eb_make(spec, x) is an aggregate that makes a filter of a column;
 * eb_has(filter, x) asks it, and loads each filter once; eb_has_at(value, n, x) asks a filter that
 * begins n bytes inside a value, where it lies.  A key is the text of the column. */
#include "host.h"
#include <sqlite3.h>

static void fail(sqlite3_context *ctx, eb_status status) {
    if (status == EB_ENOMEM)
        sqlite3_result_error_nomem(ctx);
    else
        sqlite3_result_error(ctx, why.text, -1);
}

static void make_step(sqlite3_context *ctx, int n, sqlite3_value **arg) {
    eb_filter **const f = sqlite3_aggregate_context(ctx, sizeof *f);
    eb_status status = f ? EB_OK : EB_ENOMEM;
    (void)n;
    if (sqlite3_value_type(arg[1]) == SQLITE_NULL) return; /* as all aggregates do */
    if (f && !*f) status = eb_new(f, (const char *)sqlite3_value_text(arg[0]), NULL, &why);
    if (status == EB_OK) {
        const void *const key = sqlite3_value_text(arg[1]); /* first, for it sets the length */
        status = eb_add(*f, key, (size_t)sqlite3_value_bytes(arg[1]), NULL, &why);
    } else if (f)
        *f = NULL;
    if (status != EB_OK) fail(ctx, status);
}

static void make_final(sqlite3_context *ctx) {
    eb_filter **const f = sqlite3_aggregate_context(ctx, 0);
    if (!f || !*f) return; /* no rows: NULL */
    const size_t len = eb_save_size(*f);
    void *const bytes = sqlite3_malloc64(len);
    const eb_status status = bytes ? eb_save(*f, bytes, len, &why) : EB_ENOMEM;
    eb_free(*f);
    if (status == EB_OK)
        sqlite3_result_blob64(ctx, bytes, len, sqlite3_free);
    else {
        sqlite3_free(bytes);
        fail(ctx, status);
    }
}

/* The answer, or NULL if the key is NULL. */
static void answer(sqlite3_context *ctx, const eb_filter *f, sqlite3_value *arg) {
    bool seen;
    if (sqlite3_value_type(arg) == SQLITE_NULL) return;
    const void *const key = sqlite3_value_text(arg);
    const eb_status status = eb_ask(f, key, (size_t)sqlite3_value_bytes(arg), &seen, NULL, &why);
    if (status == EB_OK)
        sqlite3_result_int(ctx, seen);
    else
        fail(ctx, status);
}

/* The filter that was asked last: SQLite copies the value for each row, so its address says
 * nothing, but its id does. */
typedef struct cache {
    uint64_t id[2];
    eb_filter *f;
    int loads;
} cache;

static void has(sqlite3_context *ctx, int n, sqlite3_value **arg) {
    cache *const c = sqlite3_user_data(ctx);
    const void *const bytes = sqlite3_value_blob(arg[0]);
    const size_t len = (size_t)sqlite3_value_bytes(arg[0]);
    eb_snapshot_info info;
    (void)n;
    EB_INIT(info);
    eb_status status = eb_snapshot_describe(bytes, len, &info, &why);
    if (status == EB_OK && (!c->f || memcmp(c->id, info.id, sizeof c->id) != 0)) {
        eb_filter *f;
        status = eb_load(&f, bytes, len, NULL, NULL, &why);
        if (status == EB_OK) {
            eb_free(c->f);
            c->f = f;
            c->loads++;
            memcpy(c->id, info.id, sizeof c->id);
        }
    }
    if (status == EB_OK)
        answer(ctx, c->f, arg[1]);
    else
        fail(ctx, status);
}

static void has_at(sqlite3_context *ctx, int n, sqlite3_value **arg) {
    const char *const bytes = sqlite3_value_blob(arg[0]);
    const size_t len = (size_t)sqlite3_value_bytes(arg[0]),
                 at = (size_t)sqlite3_value_int64(arg[1]);
    eb_filter *view;
    (void)n;
    if (at > len) {
        sqlite3_result_error(ctx, "eb_has_at: the value is shorter than that", -1);
        return;
    }
    const eb_status status = eb_view(&view, bytes + at, len - at, 0, NULL, &why);
    if (status != EB_OK) {
        fail(ctx, status);
        return;
    }
    answer(ctx, view, arg[2]);
    eb_free(view);
}

static sqlite3_int64 number(sqlite3 *db, const char *sql) {
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK || sqlite3_step(s) != SQLITE_ROW)
        host_fail(sql, 1, sqlite3_errmsg(db));
    const sqlite3_int64 value = sqlite3_column_int64(s, 0);
    CHECK(sqlite3_finalize(s) == SQLITE_OK, "a statement ends well");
    return value;
}

static void refused(sqlite3 *db, const char *sql, const char *words) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_ERROR ||
        !strstr(sqlite3_errmsg(db), words))
        host_fail(sql, 1, sqlite3_errmsg(db));
}

int main(void) {
    sqlite3 *db;
    cache c = {{0, 0}, NULL, 0};
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK &&
              sqlite3_create_function(db, "eb_make", 2, flags, NULL, NULL, make_step, make_final) ==
                  SQLITE_OK &&
              sqlite3_create_function(db, "eb_has", 2, flags, &c, has, NULL, NULL) == SQLITE_OK &&
              sqlite3_create_function(db, "eb_has_at", 3, flags, NULL, has_at, NULL, NULL) ==
                  SQLITE_OK,
          "SQLite takes the functions");
    if (sqlite3_exec(
            db,
            "create table t(x integer); create table filters(name, f blob);"
            "with recursive c(i) as (select 1 union all select i + 1 from c where i < 5000)"
            "  insert into t select i from c; insert into t values(null);"
            "insert into filters select 'bloom', eb_make('bloom:memory=16K,k=7', x) from t;"
            "insert into filters select 'lru', eb_make('lru:memory=64K', x) from t;"
            "create table packed as select n, cast(substr(x'0102030405060708', 1, n) || f "
            "  as blob) as v from filters, (select x - 1 as n from t where x < 10)",
            NULL, NULL, NULL) != SQLITE_OK)
        host_fail("tables", 1, sqlite3_errmsg(db));
    CHECK(number(db, "select sum(eb_has(f, x)) from filters, t where name = 'bloom'") == 5000,
          "every row of the table is in the filter");
    CHECK(c.loads == 1, "a filter is loaded once for all rows");
    CHECK(number(db, "select sum(eb_has(f, x + 100000)) from filters, t where name = 'bloom'") < 50,
          "few others are");
    CHECK(number(db, "select sum(eb_has(f, '4711')) from filters") == 2 && c.loads == 2,
          "a number and its text are one key; another filter is loaded");
    CHECK(number(db, "select count(*) = 18 and sum(eb_has_at(v, n, 4711)) = 18 from packed") == 1,
          "a filter can be asked at any address");
    CHECK(number(db, "select eb_make('bloom:memory=16K', x) is null from t where x < 0") == 1,
          "a filter of no rows is NULL");
    CHECK(number(db, "select eb_has(f, null) is null from filters") == 1, "NULL is no key");
    refused(db, "select eb_make('blom:memory=16K', x) from t", "blom");
    refused(db, "select eb_has(x'00', 1)", "snapshot");
    refused(db, "select eb_has(null, 1)", "snapshot");
    refused(db, "select eb_has_at(substr(f, 1, length(f) - 1), 0, 1) from filters", "snapshot");
    CHECK(sqlite3_close(db) == SQLITE_OK, "the database closes");
    eb_free(c.f);
    puts("sqlite: an aggregate over a column, one load for all rows, filters at any address");
    return 0;
}
