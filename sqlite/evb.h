/* evb.h - what the files of the SQLite extension share. */
#ifndef EVB_H
#define EVB_H
#include <sql.h>
#include <sqlite3ext.h>
#include <stdbool.h>
SQLITE_EXTENSION_INIT3

/* A filter that was loaded.  The cache, a name and running statements may all hold it. */
typedef struct evb_loaded {
    eb_filter *f;
    uint64_t id[2]; /* of the snapshot that it came from */
    unsigned holders;
    bool text; /* see sql_is_text */
} evb_loaded;
void evb_release(void *loaded); /* NULL is fine */

typedef struct evb_named {
    char *name;
    evb_loaded *filter;
} evb_named;

/* What a connection keeps: filters by name, and those that were asked last. */
enum { EVB_CACHED = 8 };
typedef struct evb_connection {
    sqlite3 *db;
    unsigned holders; /* functions and tables that were registered with it */
    evb_named *named;
    size_t n_named;
    evb_loaded *cached[EVB_CACHED]; /* the latest first; NULL: none */
} evb_connection;
void evb_connection_release(void *connection);

/* filters.c.  The filter that a value stands for: a name, or a snapshot.  NULL: *err says why.  It
 * is held by the connection until the next call. */
evb_loaded *evb_find(evb_connection *c, sqlite3_value *value, eb_error *err);
/* The same for argument `arg` of a function, remembered as long as the statement does not change
 * it. */
evb_loaded *evb_argument(sqlite3_context *ctx, sqlite3_value **args, int arg, eb_error *err);
eb_status evb_set_name(evb_connection *c, const char *name, eb_filter *f, eb_error *err);
bool evb_drop_name(evb_connection *c, const char *name);
/* Makes a filter, unless it is too large for a value of this connection. */
eb_status evb_make(sqlite3 *db, const char *spec, eb_filter **out, eb_error *err);

/* A key as the library wants it: one of them.  It points into the value and into itself. */
typedef struct evb_key {
    eb_keys keys;
    eb_key bytes;
    int64_t number;
} evb_key;
bool evb_key_of(sqlite3_value *value, evb_key *key); /* false: NULL is no key */

void evb_fail(sqlite3_context *ctx, const char *function, const eb_error *err);
eb_status evb_error(eb_error *err, eb_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

int evb_register_functions(sqlite3 *db, evb_connection *c);
int evb_register_tables(sqlite3 *db, evb_connection *c);
#endif
