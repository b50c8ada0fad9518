/* extension.c - everbloom inside SQLite: where a loadable extension begins.
 *
 *     .load ./everbloom
 *     create table seen as select evb_agg(url, 'bloom:distinct=1e6,fpr=0.001') as f from log;
 *     select url from today where not evb_has((select f from seen), url);
 *     select * from log where evb_new(url, 'lru:memory=64M');        -- each URL once, in one pass
 *
 * A filter is a BLOB: a snapshot, the same bytes as in files, in Redis and in PostgreSQL.  Every
 * function that asks a filter also takes the name of one that the connection keeps (evb_open).
 *
 * Databases may come from anyone.  Blobs are checked when they are loaded, and functions that keep
 * something in the connection cannot be called from views and triggers. */
#include "evb.h"
#include <string.h>
SQLITE_EXTENSION_INIT1

__attribute__((visibility("default"))) int sqlite3_everbloom_init(sqlite3 *db, char **message,
                                                                  const sqlite3_api_routines *api);
int sqlite3_everbloom_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
    (void)message;
    SQLITE_EXTENSION_INIT2(api);
    evb_connection *const c = sqlite3_malloc64(sizeof *c);
    if (!c) return SQLITE_NOMEM;
    memset(c, 0, sizeof *c);
    c->db = db;
    c->holders = 1; /* until everything is registered */
    int status = evb_register_functions(db, c);
    if (status == SQLITE_OK) status = evb_register_tables(db, c);
    evb_connection_release(c);
    return status;
}
