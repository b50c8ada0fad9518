/* cf.c - CF.*: items that can be deleted, as documented, on counting filters.
 *
 * A counting filter with ten counters an item does what a cuckoo filter is used for, and neither
 * runs full nor loses items when one is added often.  Its sizes are not those of a cuckoo filter:
 * INFO repeats what was asked for. */
#include "module.h"
#include <stdio.h>

#define CF_NOT_FOUND "ERR Not found"
enum { CF_N_BUCKET, CF_N_ITERATIONS, CF_N_EXPANSION, CF_N_DELETED }; /* of the face */
enum { CF_CELLS = 10, CF_K = 5, CF_CAPACITY = 1024, CF_LEAST = 64 };

static eb_status cf_make(ev_value **out, uint64_t capacity, const ev_face *face, eb_error *err) {
    char spec[128];
    if (capacity < CF_LEAST) capacity = CF_LEAST;
    if (capacity > UINT64_MAX / 1024) capacity = UINT64_MAX / 1024;
    snprintf(spec, sizeof spec, "spectral:cells=%llu,k=%d,update=plain",
             (unsigned long long)capacity * CF_CELLS, CF_K);
    const eb_status status = ev_make(out, spec, err);
    if (status == EB_OK) (*out)->face = *face;
    return status;
}

static ev_face cf_face(void) {
    return (ev_face){.family = EV_CF, .n = {2, 20, 1, 0}};
}

/* CF.RESERVE key capacity [BUCKETSIZE b] [MAXITERATIONS i] [EXPANSION e] */
static int cf_reserve(server_ctx *ctx, server_string **argv, int argc) {
    static const char *const word[] = {"BUCKETSIZE", "MAXITERATIONS", "EXPANSION"};
    ev_face face = cf_face();
    uint64_t capacity;
    ev_slot s;
    ev_value *v;
    eb_error err;
    if (argc < 3 || argc % 2 == 0) return RedisModule_WrongArity(ctx);
    if (ev_number(argv[2], &capacity) != SRV_OK || capacity < 1)
        return RedisModule_ReplyWithError(ctx, "ERR Bad capacity");
    for (int i = 3; i < argc; i += 2) {
        int w = 0;
        while (w < 3 && !ev_is(argv[i], word[w])) w++;
        if (w == 3) return RedisModule_ReplyWithError(ctx, "ERR unknown argument");
        if (ev_number(argv[i + 1], &face.n[w]) != SRV_OK)
            return ev_reply_error(ctx, "ERR Couldn't parse %s", word[w]);
    }
    if (ev_open(ctx, argv[1], SRV_READ | SRV_WRITE, &s) != SRV_OK) return SRV_OK;
    if (s.v)
        RedisModule_ReplyWithError(ctx, "ERR item exists");
    else if (cf_make(&v, capacity, &face, &err) != EB_OK)
        ev_reply_status(ctx, &err);
    else {
        ev_store(ctx, argv[1], &s, v);
        ev_reply_done(ctx);
    }
    ev_close(&s);
    return SRV_OK;
}

/* Adds items, or those that are not there yet.  What was added is told to replicas item by item. */
static int cf_insert_items(server_ctx *ctx, server_string *key, uint64_t capacity,
                           server_string **item, int n, int create, int only_new, int single) {
    ev_slot s;
    ev_value *v;
    eb_error err;
    const ev_face face = cf_face();
    if (ev_open_family(ctx, key, SRV_READ | SRV_WRITE, EV_CF, create ? NULL : CF_NOT_FOUND, &s) !=
        SRV_OK)
        return SRV_OK;
    if (!s.v) {
        if (cf_make(&v, capacity, &face, &err) != EB_OK) {
            ev_close(&s);
            return ev_reply_status(ctx, &err);
        }
        ev_store(ctx, key, &s, v);
    }
    if (!single) RedisModule_ReplyWithArray(ctx, n);
    for (int i = 0; i < n; i++) {
        ev_call c = ev_items(item + i, 1);
        if (only_new && ev_ask(s.v, &c, &err) == EB_OK && c.seen[0]) {
            if (single) /* INSERTNX has three answers, and so no booleans */
                RedisModule_ReplyWithBool(ctx, 0);
            else
                RedisModule_ReplyWithLongLong(ctx, 0);
            continue;
        }
        c = ev_items(item + i, 1);
        c.part = 1;
        if (ev_add(s.v, &c, &err) != EB_OK) {
            ev_reply_status(ctx, &err);
            continue;
        }
        ev_replicate_add(ctx, key, s.v, &c);
        if (only_new && !single)
            RedisModule_ReplyWithLongLong(ctx, 1);
        else
            RedisModule_ReplyWithBool(ctx, 1);
    }
    ev_notify(ctx, "eb.add", key);
    ev_close(&s);
    return SRV_OK;
}

static int cf_add(server_ctx *ctx, server_string **argv, int argc) {
    if (argc != 3) return RedisModule_WrongArity(ctx);
    return cf_insert_items(ctx, argv[1], CF_CAPACITY, argv + 2, 1, 1, 0, 1);
}

static int cf_addnx(server_ctx *ctx, server_string **argv, int argc) {
    if (argc != 3) return RedisModule_WrongArity(ctx);
    return cf_insert_items(ctx, argv[1], CF_CAPACITY, argv + 2, 1, 1, 1, 1);
}

/* CF.INSERT key [CAPACITY c] [NOCREATE] ITEMS item ... */
static int cf_insert_some(server_ctx *ctx, server_string **argv, int argc, int only_new) {
    uint64_t capacity = CF_CAPACITY;
    int i = 2, create = 1;
    for (; i < argc && !ev_is(argv[i], "ITEMS"); i++) {
        if (ev_is(argv[i], "NOCREATE"))
            create = 0;
        else if (!ev_is(argv[i], "CAPACITY") || i + 1 == argc)
            return RedisModule_ReplyWithError(ctx, "ERR Unknown argument received");
        else if (ev_number(argv[++i], &capacity) != SRV_OK || capacity < 1)
            return RedisModule_ReplyWithError(ctx, "ERR Bad capacity");
    }
    if (i + 1 >= argc) return RedisModule_WrongArity(ctx);
    return cf_insert_items(ctx, argv[1], capacity, argv + i + 1, argc - i - 1, create, only_new, 0);
}

static int cf_insert(server_ctx *ctx, server_string **argv, int argc) {
    return cf_insert_some(ctx, argv, argc, 0);
}

static int cf_insertnx(server_ctx *ctx, server_string **argv, int argc) {
    return cf_insert_some(ctx, argv, argc, 1);
}

typedef enum cf_question { CF_EXISTS, CF_MEXISTS, CF_COUNT } cf_question;
static int cf_ask(server_ctx *ctx, server_string **argv, int argc, cf_question q) {
    ev_slot s;
    eb_error err;
    if (argc < 3 || (q != CF_MEXISTS && argc != 3)) return RedisModule_WrongArity(ctx);
    if (ev_open_family(ctx, argv[1], SRV_READ, EV_CF, NULL, &s) != SRV_OK) return SRV_OK;
    ev_call c = ev_items(argv + 2, (size_t)argc - 2);
    c.want_count = q == CF_COUNT;
    if (s.v && ev_ask(s.v, &c, &err) != EB_OK) {
        ev_reply_status(ctx, &err);
    } else if (q == CF_COUNT && s.v) {
        ev_reply_count(ctx, s.v, c.count[0]);
    } else if (q == CF_COUNT) {
        RedisModule_ReplyWithLongLong(ctx, 0);
    } else {
        if (q == CF_MEXISTS) RedisModule_ReplyWithArray(ctx, argc - 2);
        for (size_t i = 0; i < c.n; i++) RedisModule_ReplyWithBool(ctx, s.v && c.seen[i]);
    }
    ev_close(&s);
    return SRV_OK;
}

static int cf_exists(server_ctx *ctx, server_string **argv, int argc) {
    return cf_ask(ctx, argv, argc, CF_EXISTS);
}

static int cf_mexists(server_ctx *ctx, server_string **argv, int argc) {
    return cf_ask(ctx, argv, argc, CF_MEXISTS);
}

static int cf_count(server_ctx *ctx, server_string **argv, int argc) {
    return cf_ask(ctx, argv, argc, CF_COUNT);
}

static int cf_del(server_ctx *ctx, server_string **argv, int argc) {
    ev_slot s;
    eb_error err;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (ev_open_family(ctx, argv[1], SRV_READ | SRV_WRITE, EV_CF, CF_NOT_FOUND, &s) != SRV_OK)
        return SRV_OK;
    ev_call c = ev_items(argv + 2, 1);
    const eb_status status = ev_remove(s.v, &c, &err);
    if (status == EB_OK) {
        s.v->face.n[CF_N_DELETED]++;
        RedisModule_ReplicateVerbatim(ctx);
        ev_notify(ctx, "eb.remove", argv[1]);
    }
    if (status == EB_OK || status == EB_EVALUE)
        RedisModule_ReplyWithBool(ctx, status == EB_OK);
    else
        ev_reply_status(ctx, &err);
    ev_close(&s);
    return SRV_OK;
}

static int cf_info(server_ctx *ctx, server_string **argv, int argc) {
    static const char *const name[] = {"Size",
                                       "Number of buckets",
                                       "Number of filters",
                                       "Number of items inserted",
                                       "Number of items deleted",
                                       "Bucket size",
                                       "Expansion rate",
                                       "Max iterations"};
    enum { FIELDS = sizeof name / sizeof *name };
    ev_slot s;
    ev_info info;
    eb_error err;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (ev_open_family(ctx, argv[1], SRV_READ, EV_CF, CF_NOT_FOUND, &s) != SRV_OK) return SRV_OK;
    if (ev_describe(s.v, 0, &info, &err) != EB_OK) {
        ev_reply_status(ctx, &err);
    } else {
        const uint64_t *const n = s.v->face.n;
        double cells;
        eb_spec_get(eb_spec(s.v->f), "cells", NULL, 0, &cells, NULL);
        const uint64_t bucket = n[CF_N_BUCKET] > 0 ? n[CF_N_BUCKET] : 1;
        const uint64_t value[FIELDS] = {ev_value_bytes(s.v),
                                        (uint64_t)cells / CF_CELLS / bucket,
                                        1,
                                        info.adds,
                                        n[CF_N_DELETED],
                                        n[CF_N_BUCKET],
                                        n[CF_N_EXPANSION],
                                        n[CF_N_ITERATIONS]};
        RedisModule_ReplyWithMap(ctx, FIELDS);
        for (int i = 0; i < (int)FIELDS; i++) {
            RedisModule_ReplyWithSimpleString(ctx, name[i]);
            RedisModule_ReplyWithLongLong(ctx, (long long)value[i]);
        }
    }
    ev_close(&s);
    return SRV_OK;
}

const ev_entry ev_commands_cf[] = {
    {"RESERVE", cf_reserve, EV_WRITE, -3, 1, "Makes a filter whose items can be deleted", "O(1)"},
    {"ADD", cf_add, EV_WRITE, 3, 1, "Adds an item", "O(1)"},
    {"ADDNX", cf_addnx, EV_WRITE, 3, 1, "Adds an item if it is not there", "O(1)"},
    {"INSERT", cf_insert, EV_WRITE, -4, 1, "Adds items; the filter is made if it is not there",
     "O(items)"},
    {"INSERTNX", cf_insertnx, EV_WRITE, -4, 1, "Adds those items that are not there", "O(items)"},
    {"EXISTS", cf_exists, EV_READ, 3, 1, "Is an item there?", "O(1)"},
    {"MEXISTS", cf_mexists, EV_READ, -3, 1, "Which items are there?", "O(items)"},
    {"DEL", cf_del, EV_WRITE, 3, 1, "Deletes an item once", "O(1)"},
    {"COUNT", cf_count, EV_READ, 3, 1, "How often was an item added?", "O(1)"},
    {"INFO", cf_info, EV_READ, 2, 1, "What the filter is and holds", "O(1)"},
    {"SCANDUMP", ev_run_scandump, EV_READ_SLOW, 3, 1, "The next chunk of a filter's snapshot",
     "O(chunk)"},
    {"LOADCHUNK", ev_run_loadchunk, EV_WRITE_SLOW, 4, 1, "Takes the next chunk of a snapshot",
     "O(chunk)"},
    {0}};
