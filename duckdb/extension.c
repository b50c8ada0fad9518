/* extension.c - everbloom inside DuckDB: where a loadable extension begins.
 *
 *     load 'everbloom.duckdb_extension';     -- with allow_unsigned_extensions
 *     create table seen as select evb_agg(url, 'bloom:distinct=1e6,fpr=0.001') as f from log;
 *     select url from today where not evb_has((select f from seen), url);
 *     select unnest(evb_top(f, 10), recursive := true) from tops;
 *
 * A filter is a BLOB: a snapshot, the same bytes as in files and in other databases. */
#define _GNU_SOURCE
#include "duck.h"
#include <dlfcn.h>

duck_functions duck;

/* The functions of the library that holds this address: of the DuckDB that loads us, whatever other
 * libraries a process has. */
static bool extension_find(const void *inside, const char **missing) {
    Dl_info where;
    *missing = "the library itself";
    if (!dladdr(inside, &where)) return false;
    void *const library = dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    void *const program = library ? library : dlopen(NULL, RTLD_NOW);
    if (!program) return false;
    bool found = true;
#define EXTENSION_FIND(result, name, arguments)                                                    \
    if (found) {                                                                                   \
        *(void **)(void *)&duck.name = dlsym(program, "duckdb_" #name);                            \
        if (!duck.name) {                                                                          \
            *missing = "duckdb_" #name;                                                            \
            found = false;                                                                         \
        }                                                                                          \
    }
    DUCK_FUNCTIONS(EXTENSION_FIND)
#undef EXTENSION_FIND
    (void)dlclose(program); /* DuckDB stays: it is running */
    return found;
}

__attribute__((visibility("default"))) bool everbloom_init_c_api(duck_any info,
                                                                 const duck_access *access);
bool everbloom_init_c_api(duck_any info, const duck_access *access) {
    const void *inside;
    const char *missing;
    duck_any connection;
    memcpy(&inside, &access->get_database, sizeof inside);
    if (!extension_find(inside, &missing)) {
        char words[160];
        (void)snprintf(words, sizeof words,
                       "everbloom: this DuckDB does not export %s, which the extension needs",
                       missing);
        access->set_error(info, words);
        return false;
    }
    if (duck.library_version()[0] != 'v' || atoi(duck.library_version() + 1) < 2) {
        /* Earlier ones give one state for all rows of an aggregate with an ORDER BY, where there
         * should be one for each row: reading them would crash. */
        access->set_error(info, "everbloom: DuckDB 2.0 or later is needed");
        return false;
    }
    duck_any *const database = access->get_database(info);
    if (!database || duck.connect(*database, &connection) != 0) {
        access->set_error(info, "everbloom: cannot connect to the database that loads it");
        return false;
    }
    const bool done = duck_register_aggregates(connection) && duck_register_functions(connection);
    if (!done) access->set_error(info, "everbloom: DuckDB refused to register its functions");
    duck.disconnect(&connection);
    return done;
}
