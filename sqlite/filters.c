/* filters.c - where the functions of the SQLite extension get their filters from.
 *
 * Loading a snapshot checks and copies all of it, so it must not happen for every row.  Three
 * things prevent that.  A value that a statement does not change (a constant, a bound parameter) is
 * looked at once: SQLite keeps the filter beside it (auxiliary data).  Other values are found by
 * the id in their first bytes among the filters asked last.  And a filter can have a name in the
 * connection. */
#include "evb.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

eb_status evb_error(eb_error *err, eb_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    sqlite3_vsnprintf((int)sizeof err->text, err->text, format, args);
    va_end(args);
    err->status = status;
    err->at = EB_NOWHERE;
    return status;
}

void evb_release(void *loaded) {
    evb_loaded *const l = loaded;
    if (!l || --l->holders > 0) return;
    eb_free(l->f);
    sqlite3_free(l);
}

/* Takes the filter over, also if it fails. */
static evb_loaded *filters_hold(eb_filter *f, eb_error *err) {
    evb_loaded *const l = sqlite3_malloc64(sizeof *l);
    if (!l) {
        eb_free(f);
        (void)evb_error(err, EB_ENOMEM, "out of memory");
        return NULL;
    }
    *l = (evb_loaded){.f = f, .holders = 1, .text = sql_is_text(f)};
    return l;
}

void evb_connection_release(void *connection) {
    evb_connection *const c = connection;
    if (--c->holders > 0) return;
    for (size_t i = 0; i < EVB_CACHED; i++) evb_release(c->cached[i]);
    for (size_t i = 0; i < c->n_named; i++) {
        evb_release(c->named[i].filter);
        sqlite3_free(c->named[i].name);
    }
    sqlite3_free(c->named);
    sqlite3_free(c);
}

static evb_named *filters_named(const evb_connection *c, const char *name) {
    for (size_t i = 0; i < c->n_named; i++)
        if (strcmp(c->named[i].name, name) == 0) return &c->named[i];
    return NULL;
}

eb_status evb_set_name(evb_connection *c, const char *name, eb_filter *f, eb_error *err) {
    evb_named *named = filters_named(c, name);
    evb_loaded *const l = filters_hold(f, err);
    if (!l) return EB_ENOMEM;
    if (!named) {
        evb_named *const more = sqlite3_realloc64(c->named, (c->n_named + 1) * sizeof *c->named);
        char *const copy = sqlite3_mprintf("%s", name);
        if (more) c->named = more;
        if (!more || !copy) {
            sqlite3_free(copy);
            evb_release(l);
            return evb_error(err, EB_ENOMEM, "out of memory");
        }
        named = &c->named[c->n_named++];
        *named = (evb_named){copy, NULL};
    }
    evb_release(named->filter);
    named->filter = l;
    return EB_OK;
}

bool evb_drop_name(evb_connection *c, const char *name) {
    evb_named *const named = filters_named(c, name);
    if (!named) return false;
    evb_release(named->filter);
    sqlite3_free(named->name);
    *named = c->named[--c->n_named];
    return true;
}

eb_status evb_make(sqlite3 *db, const char *spec, eb_filter **out, eb_error *err) {
    char seeded[2 * EB_SPEC_MAX];
    uint64_t drawn;
    eb_spec_info info;
    EB_INIT(info);
    *out = NULL;
    if (!spec)
        return evb_error(err, EB_ESPEC, "the spec is NULL: try 'bloom:distinct=1e6,fpr=0.001'");
    sqlite3_randomness(sizeof drawn, &drawn);
    eb_status status = sql_seeded(spec, drawn, seeded, err);
    if (status == EB_OK) status = eb_spec_describe(seeded, &info, err);
    const int most = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1);
    if (status != EB_OK) return status;
    if (info.snapshot_bytes > (uint64_t)most)
        return evb_error(
            err, EB_ELIMIT,
            "a filter of %llu bytes is too large for SQLite's values, which have at most %d bytes",
            (unsigned long long)info.snapshot_bytes, most);
    return eb_new(out, info.canonical, NULL, err);
}

/* The cache keeps the latest first. */
static evb_loaded *filters_to_front(evb_connection *c, size_t place, evb_loaded *l) {
    memmove(&c->cached[1], &c->cached[0], place * sizeof *c->cached);
    c->cached[0] = l;
    return l;
}

static evb_loaded *filters_load(evb_connection *c, const void *bytes, size_t len, eb_error *err) {
    eb_snapshot_info info;
    eb_filter *f;
    EB_INIT(info);
    if (eb_snapshot_describe(bytes, len, &info, err) != EB_OK) return NULL;
    if (info.bytes != len) {
        (void)evb_error(err, EB_EFORMAT, "the filter has %llu bytes, but the value has %llu",
                        (unsigned long long)info.bytes, (unsigned long long)len);
        return NULL;
    }
    for (size_t i = 0; i < EVB_CACHED && c->cached[i]; i++)
        if (memcmp(c->cached[i]->id, info.id, sizeof info.id) == 0)
            return filters_to_front(c, i, c->cached[i]);
    if (eb_load(&f, bytes, len, NULL, NULL, err) != EB_OK) return NULL;
    evb_loaded *const l = filters_hold(f, err);
    if (!l) return NULL;
    memcpy(l->id, info.id, sizeof l->id);
    evb_release(c->cached[EVB_CACHED - 1]);
    return filters_to_front(c, EVB_CACHED - 1, l);
}

evb_loaded *evb_find(evb_connection *c, sqlite3_value *value, eb_error *err) {
    if (sqlite3_value_type(value) == SQLITE_TEXT) {
        const char *const name = (const char *)sqlite3_value_text(value);
        const evb_named *const named = name ? filters_named(c, name) : NULL;
        if (!named)
            (void)evb_error(err, EB_EINVAL,
                            "there is no filter named '%.100s' in this connection: make it with "
                            "evb_open('%.100s', a filter or a spec)",
                            name, name);
        return named ? named->filter : NULL;
    }
    if (sqlite3_value_type(value) != SQLITE_BLOB) {
        (void)evb_error(err, EB_EINVAL, "the filter must be a BLOB, or the name of an open filter");
        return NULL;
    }
    const void *const bytes = sqlite3_value_blob(value);
    return filters_load(c, bytes, (size_t)sqlite3_value_bytes(value), err);
}

evb_loaded *evb_argument(sqlite3_context *ctx, sqlite3_value **args, int arg, eb_error *err) {
    /* A name may get another filter while the statement runs: only snapshots are remembered. */
    const bool snapshot = sqlite3_value_type(args[arg]) == SQLITE_BLOB;
    evb_loaded *l = snapshot ? sqlite3_get_auxdata(ctx, arg) : NULL;
    if (l) return l;
    l = evb_find(sqlite3_user_data(ctx), args[arg], err);
    if (l && snapshot) {
        l->holders++;
        sqlite3_set_auxdata(ctx, arg, l, evb_release);
    }
    return l;
}

/* Drivers of languages whose numbers are all floating-point bind 7 as 7.0. */
static bool filters_is_whole(sqlite3_value *value) {
    if (sqlite3_value_type(value) != SQLITE_FLOAT) return false;
    const double x = sqlite3_value_double(value);
    return fabs(x) <= 0x1p53 && x == (double)(int64_t)x;
}

bool evb_key_of(sqlite3_value *value, evb_key *key) {
    const int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL) return false;
    if (type == SQLITE_INTEGER || filters_is_whole(value)) {
        key->number = sqlite3_value_int64(value);
        key->keys = eb_keys_column(EB_I64, &key->number, sizeof key->number);
        return true;
    }
    const bool blob = type == SQLITE_BLOB;
    key->bytes.p = blob ? sqlite3_value_blob(value) : (const void *)sqlite3_value_text(value);
    key->bytes.len = (size_t)sqlite3_value_bytes(value);
    if (!key->bytes.p) key->bytes = (eb_key){"", 0};
    key->keys = eb_keys_array(blob ? EB_BYTES : EB_TEXT, &key->bytes);
    return true;
}
