/* bf.c - BF.*: the commands that client libraries know, as they are documented, on our filters.
 *
 * BF.RESERVE makes a Bloom filter that grows: the rate that was asked for holds for all parts
 * together. With WINDOW, or the configuration default-window, it makes a filter of the last so many
 * seconds: items expire, one by one, and the same commands work on it. */
#include "module.h"
#include <math.h>
#include <stdio.h>

#define BF_NOT_FOUND "ERR not found"
enum { BF_EXPANSION = 2, BF_MOST_EXPANSION = 16 };
static const double bf_error = 0.01, bf_least_error = 1e-8, bf_most_error = 0.3;
enum { BF_N_EXPANSION = 0, BF_N_CAPACITY = 1, BF_N_WINDOW = 2 }; /* of the face */

typedef struct bf_wish {
    double error;
    uint64_t capacity, expansion, window; /* expansion 0: it does not grow; window in seconds */
} bf_wish;

static bf_wish bf_defaults(void) {
    return (bf_wish){.error = bf_error,
                     .capacity = (uint64_t)ev_settings.default_capacity,
                     .expansion = BF_EXPANSION,
                     .window = (uint64_t)ev_settings.default_window};
}

static eb_status bf_make(ev_value **out, const bf_wish *w, eb_error *err) {
    char spec[256];
    const double error = fmin(fmax(w->error, bf_least_error), bf_most_error);
    if (w->window > 0)
        snprintf(spec, sizeof spec, "window:unit=time,window=%llu,items=%llu,fpr=%.9g",
                 (unsigned long long)w->window * 1000, (unsigned long long)w->capacity, error);
    else if (w->expansion > 0)
        snprintf(spec, sizeof spec, "bloom:limit=%llu,fpr=%.9g,grow=%llu",
                 (unsigned long long)w->capacity, error,
                 (unsigned long long)(w->expansion < BF_MOST_EXPANSION ? w->expansion
                                                                       : BF_MOST_EXPANSION));
    else
        snprintf(spec, sizeof spec, "bloom:limit=%llu,distinct=%llu,fpr=%.9g",
                 (unsigned long long)w->capacity, (unsigned long long)w->capacity, error);
    const eb_status status = ev_make(out, spec, err);
    if (status == EB_OK) {
        (*out)->face.family = EV_BF;
        (*out)->face.n[BF_N_EXPANSION] = w->window > 0 ? 0 : w->expansion;
        (*out)->face.n[BF_N_CAPACITY] = w->capacity;
        (*out)->face.n[BF_N_WINDOW] = w->window;
    }
    return status;
}

static int bf_read_error(server_ctx *ctx, server_string *s, double *error) {
    if (RedisModule_StringToDouble(s, error) != SRV_OK) {
        RedisModule_ReplyWithError(ctx, "ERR bad error rate");
        return SRV_ERR;
    }
    if (*error > 0 && *error < 1) return SRV_OK;
    RedisModule_ReplyWithError(ctx, "ERR (0 < error rate range < 1) ");
    return SRV_ERR;
}

static int bf_read_count(server_ctx *ctx, server_string *s, uint64_t least, const char *bad,
                         const char *small, uint64_t *n) {
    long long number;
    if (RedisModule_StringToLongLong(s, &number) != SRV_OK) {
        RedisModule_ReplyWithError(ctx, bad);
        return SRV_ERR;
    }
    if (number < 0 || (uint64_t)number < least) {
        RedisModule_ReplyWithError(ctx, small);
        return SRV_ERR;
    }
    *n = (uint64_t)number;
    return SRV_OK;
}

static int bf_read_capacity(server_ctx *ctx, server_string *s, uint64_t *n) {
    return bf_read_count(ctx, s, 1, "ERR bad capacity", "ERR (capacity should be larger than 0)",
                         n);
}

/* One option that RESERVE and INSERT share, at argv[*i].  *known: it was one. */
typedef struct bf_given {
    int expansion, nonscaling, window;
} bf_given;
static int bf_read_option(server_ctx *ctx, server_string **argv, int argc, int *i, bf_wish *w,
                          bf_given *given, int *known) {
    *known = 1;
    if (ev_is(argv[*i], "NONSCALING")) {
        given->nonscaling = 1;
        return SRV_OK;
    }
    const int expansion = ev_is(argv[*i], "EXPANSION"), window = ev_is(argv[*i], "WINDOW");
    if (!expansion && !window) {
        *known = 0;
        return SRV_OK;
    }
    if (++*i == argc) {
        RedisModule_WrongArity(ctx);
        return SRV_ERR;
    }
    if (window) {
        given->window = 1;
        return bf_read_count(ctx, argv[*i], 1, "ERR bad window",
                             "ERR a window has at least 1 second", &w->window);
    }
    given->expansion = 1;
    return bf_read_count(ctx, argv[*i], 0, "ERR bad expansion",
                         "ERR expansion should be greater or equal to 0", &w->expansion);
}

static int bf_check_options(server_ctx *ctx, bf_wish *w, const bf_given *given) {
    if (given->nonscaling && given->expansion && w->expansion > 0) {
        RedisModule_ReplyWithError(ctx, "Nonscaling filters cannot expand");
        return SRV_ERR;
    }
    if (given->window && (given->nonscaling || given->expansion)) {
        RedisModule_ReplyWithError(ctx, "ERR a filter with a WINDOW neither expands nor fills up");
        return SRV_ERR;
    }
    if (given->nonscaling) w->expansion = 0;
    return SRV_OK;
}

/* BF.RESERVE key error_rate capacity [EXPANSION n] [NONSCALING] [WINDOW seconds] */
static int bf_reserve(server_ctx *ctx, server_string **argv, int argc) {
    bf_wish w = bf_defaults();
    bf_given given = {0};
    ev_slot s;
    ev_value *v;
    eb_error err;
    int known = 1;
    if (argc < 4) return RedisModule_WrongArity(ctx);
    if (bf_read_error(ctx, argv[2], &w.error) != SRV_OK ||
        bf_read_capacity(ctx, argv[3], &w.capacity) != SRV_OK)
        return SRV_OK;
    for (int i = 4; i < argc; i++) {
        if (bf_read_option(ctx, argv, argc, &i, &w, &given, &known) != SRV_OK) return SRV_OK;
        if (!known) return RedisModule_ReplyWithError(ctx, "ERR unknown argument");
    }
    if (bf_check_options(ctx, &w, &given) != SRV_OK ||
        ev_open(ctx, argv[1], SRV_READ | SRV_WRITE, &s) != SRV_OK)
        return SRV_OK;
    if (s.v)
        RedisModule_ReplyWithError(ctx, "ERR item exists");
    else if (bf_make(&v, &w, &err) != EB_OK)
        ev_reply_status(ctx, &err);
    else {
        ev_store(ctx, argv[1], &s, v);
        ev_reply_done(ctx);
    }
    ev_close(&s);
    return SRV_OK;
}

/* The filter under the key, made if it is not there.  w NULL: it must be there. */
static int bf_open_or_make(server_ctx *ctx, server_string *key, const bf_wish *w, ev_slot *s) {
    eb_error err;
    ev_value *v;
    if (!w) return ev_open_family(ctx, key, SRV_READ | SRV_WRITE, EV_BF, BF_NOT_FOUND, s);
    if (ev_open_family(ctx, key, SRV_READ | SRV_WRITE, EV_BF, NULL, s) != SRV_OK) return SRV_ERR;
    if (s->v) return SRV_OK;
    if (bf_make(&v, w, &err) == EB_OK) return ev_store(ctx, key, s, v);
    ev_reply_status(ctx, &err);
    ev_close(s);
    return SRV_ERR;
}

static const char *bf_full(const eb_error *err) {
    return err->status == EB_EFULL ? "ERR non scaling filter is full" : NULL;
}

static int bf_insert_items(server_ctx *ctx, server_string *key, const bf_wish *w,
                           server_string **item, int n, int single) {
    ev_slot s;
    eb_error err;
    if (bf_open_or_make(ctx, key, w, &s) != SRV_OK) return SRV_OK;
    ev_call c = ev_items(item, (size_t)n);
    const eb_status status = ev_add(s.v, &c, &err);
    if (c.done > 0) {
        ev_replicate_add(ctx, key, s.v, &c);
        ev_notify(ctx, "eb.add", key);
    }
    const char *const full = status == EB_OK ? NULL : bf_full(&err);
    if (!single && (status == EB_OK || full)) RedisModule_ReplyWithArray(ctx, n);
    for (size_t i = 0; i < c.done; i++) RedisModule_ReplyWithBool(ctx, !c.seen[i]);
    if (status != EB_OK && !full)
        ev_reply_status(ctx, &err);
    else if (full)
        for (size_t i = c.done; i < c.n; i++) RedisModule_ReplyWithError(ctx, full);
    ev_close(&s);
    return SRV_OK;
}

static int bf_add(server_ctx *ctx, server_string **argv, int argc) {
    const bf_wish w = bf_defaults();
    if (argc != 3) return RedisModule_WrongArity(ctx);
    return bf_insert_items(ctx, argv[1], &w, argv + 2, 1, 1);
}

static int bf_madd(server_ctx *ctx, server_string **argv, int argc) {
    const bf_wish w = bf_defaults();
    if (argc < 3) return RedisModule_WrongArity(ctx);
    return bf_insert_items(ctx, argv[1], &w, argv + 2, argc - 2, 0);
}

/* BF.INSERT key [CAPACITY c] [ERROR e] [EXPANSION x] [NOCREATE] [NONSCALING] [WINDOW s] ITEMS item
 * ... */
static int bf_insert(server_ctx *ctx, server_string **argv, int argc) {
    bf_wish w = bf_defaults();
    bf_given given = {0};
    int i = 2, known, nocreate = 0, sized = 0;
    if (argc < 4) return RedisModule_WrongArity(ctx);
    for (; i < argc && !ev_is(argv[i], "ITEMS"); i++) {
        if (ev_is(argv[i], "NOCREATE")) {
            nocreate = 1;
        } else if ((ev_is(argv[i], "CAPACITY") || ev_is(argv[i], "ERROR")) && i + 1 < argc) {
            const int error = ev_is(argv[i++], "ERROR");
            sized = 1;
            if ((error ? bf_read_error(ctx, argv[i], &w.error)
                       : bf_read_capacity(ctx, argv[i], &w.capacity)) != SRV_OK)
                return SRV_OK;
        } else {
            if (bf_read_option(ctx, argv, argc, &i, &w, &given, &known) != SRV_OK) return SRV_OK;
            if (!known) return RedisModule_ReplyWithError(ctx, "ERR Unknown argument received");
        }
    }
    if (i + 1 >= argc) return RedisModule_WrongArity(ctx);
    if (nocreate && sized)
        return RedisModule_ReplyWithError(ctx,
                                          "ERR NOCREATE cannot be used with CAPACITY or ERROR");
    if (bf_check_options(ctx, &w, &given) != SRV_OK) return SRV_OK;
    return bf_insert_items(ctx, argv[1], nocreate ? NULL : &w, argv + i + 1, argc - i - 1, 0);
}

static int bf_ask(server_ctx *ctx, server_string **argv, int argc, int single) {
    ev_slot s;
    eb_error err;
    if (argc < 3 || (single && argc != 3)) return RedisModule_WrongArity(ctx);
    if (ev_open_family(ctx, argv[1], SRV_READ, EV_BF, NULL, &s) != SRV_OK) return SRV_OK;
    ev_call c = ev_items(argv + 2, (size_t)argc - 2);
    if (s.v && ev_ask(s.v, &c, &err) != EB_OK) {
        ev_reply_status(ctx, &err);
    } else {
        if (!single) RedisModule_ReplyWithArray(ctx, argc - 2);
        for (size_t i = 0; i < c.n; i++) RedisModule_ReplyWithBool(ctx, s.v && c.seen[i]);
    }
    ev_close(&s);
    return SRV_OK;
}

static int bf_exists(server_ctx *ctx, server_string **argv, int argc) {
    return bf_ask(ctx, argv, argc, 1);
}

static int bf_mexists(server_ctx *ctx, server_string **argv, int argc) {
    return bf_ask(ctx, argv, argc, 0);
}

static int bf_card(server_ctx *ctx, server_string **argv, int argc) {
    ev_slot s;
    ev_info info = {0};
    eb_error err;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (ev_open_family(ctx, argv[1], SRV_READ, EV_BF, NULL, &s) != SRV_OK) return SRV_OK;
    if (s.v && ev_describe(s.v, 0, &info, &err) != EB_OK)
        ev_reply_status(ctx, &err);
    else
        RedisModule_ReplyWithLongLong(ctx, (long long)info.new_keys);
    ev_close(&s);
    return SRV_OK;
}

/* BF.INFO key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION | WINDOW] */
static int bf_info(server_ctx *ctx, server_string **argv, int argc) {
    enum { FIELDS = 5, WITH_WINDOW = 6 };
    static const char *const word[WITH_WINDOW] = {"CAPACITY", "SIZE",      "FILTERS",
                                                  "ITEMS",    "EXPANSION", "WINDOW"};
    static const char *const name[WITH_WINDOW] = {"Capacity",          "Size",
                                                  "Number of filters", "Number of items inserted",
                                                  "Expansion rate",    "Window"};
    ev_slot s;
    ev_info info;
    eb_error err;
    int one = 0;
    if (argc != 2 && argc != 3) return RedisModule_WrongArity(ctx);
    if (argc == 3) {
        while (one < WITH_WINDOW && !ev_is(argv[2], word[one])) one++;
        if (one == WITH_WINDOW)
            return RedisModule_ReplyWithError(ctx, "ERR Invalid information value");
    }
    if (ev_open_family(ctx, argv[1], SRV_READ, EV_BF, BF_NOT_FOUND, &s) != SRV_OK) return SRV_OK;
    if (ev_describe(s.v, 0, &info, &err) != EB_OK) {
        ev_reply_status(ctx, &err);
    } else {
        const ev_face *const face = &s.v->face;
        const uint64_t capacity =
            info.capacity != EB_UNKNOWN ? info.capacity : face->n[BF_N_CAPACITY];
        const uint64_t value[WITH_WINDOW] = {
            capacity,      ev_value_bytes(s.v),     info.parts,
            info.new_keys, face->n[BF_N_EXPANSION], face->n[BF_N_WINDOW]};
        /* A client that does not know windows gets the fields that it knows. */
        const int fields = face->n[BF_N_WINDOW] > 0 ? WITH_WINDOW : FIELDS;
        const int from = argc == 3 ? one : 0, to = argc == 3 ? one + 1 : fields;
        if (argc == 3)
            RedisModule_ReplyWithArray(ctx, 1);
        else
            RedisModule_ReplyWithMap(ctx, fields);
        for (int i = from; i < to; i++) {
            if (argc == 2) RedisModule_ReplyWithSimpleString(ctx, name[i]);
            if (i == 4 && value[i] == 0)
                RedisModule_ReplyWithNull(ctx);
            else
                RedisModule_ReplyWithLongLong(ctx, (long long)value[i]);
        }
    }
    ev_close(&s);
    return SRV_OK;
}

const ev_entry ev_commands_bf[] = {
    {"RESERVE", bf_reserve, EV_WRITE, -4, 1, "Makes a Bloom filter, or one whose items expire",
     "O(1)"},
    {"ADD", bf_add, EV_WRITE, 3, 1, "Adds an item to a Bloom filter", "O(k)"},
    {"MADD", bf_madd, EV_WRITE, -3, 1, "Adds items to a Bloom filter", "O(k * items)"},
    {"INSERT", bf_insert, EV_WRITE, -4, 1, "Adds items to a Bloom filter, made if it is not there",
     "O(k * items)"},
    {"EXISTS", bf_exists, EV_READ, 3, 1, "Is an item in a Bloom filter?", "O(k)"},
    {"MEXISTS", bf_mexists, EV_READ, -3, 1, "Which items are in a Bloom filter?", "O(k * items)"},
    {"CARD", bf_card, EV_READ, 2, 1, "How many distinct items were added?", "O(1)"},
    {"INFO", bf_info, EV_READ, -2, 1, "What a Bloom filter is and holds", "O(1)"},
    {"SCANDUMP", ev_run_scandump, EV_READ_SLOW, 3, 1, "The next chunk of a filter's snapshot",
     "O(chunk)"},
    {"LOADCHUNK", ev_run_loadchunk, EV_WRITE_SLOW, 4, 1, "Takes the next chunk of a snapshot",
     "O(chunk)"},
    {0}};
