/* eb.c - EB.*: every kind of filter, by its spec. */
#include "module.h"
#include <math.h>
#include <stdio.h>

#define EB_MISSING "ERR there is no filter under this key: make one with EB.RESERVE"
enum { HASH_BYTES = 8 };
/* What a walk over all cells may cost unasked: some 20 ms. */
static const uint64_t eb_walk_bytes = UINT64_C(64) << 20;

static int eb_text(server_ctx *ctx, const server_string *s, char *out, size_t cap,
                   const char *what) {
    size_t n;
    const char *const p = RedisModule_StringPtrLen(s, &n);
    if (n >= cap || memchr(p, 0, n)) {
        ev_reply_error(ctx, "ERR %s is too long or has a zero byte", what);
        return SRV_ERR;
    }
    memcpy(out, p, n);
    out[n] = 0;
    return SRV_OK;
}

/* Options behind the arguments that a command must have. */
typedef struct eb_options {
    uint64_t time, weight;
    int has_weight;
} eb_options;
static int eb_parse_options(server_ctx *ctx, server_string **argv, int from, int argc,
                            eb_options *o) {
    *o = (eb_options){.weight = 1};
    for (int i = from; i < argc; i += 2) {
        const int weight = ev_is(argv[i], "WEIGHT");
        if (!weight && !ev_is(argv[i], "TIME")) {
            RedisModule_ReplyWithError(ctx, "ERR unknown argument: WEIGHT and TIME are possible");
            return SRV_ERR;
        }
        if (i + 1 == argc || ev_number(argv[i + 1], weight ? &o->weight : &o->time) != SRV_OK) {
            RedisModule_ReplyWithError(
                ctx, weight ? "ERR WEIGHT needs a whole number"
                            : "ERR TIME needs milliseconds since 1970, a whole number");
            return SRV_ERR;
        }
        if (weight) o->has_weight = 1;
    }
    return SRV_OK;
}

static void eb_apply_options(ev_call *c, const eb_options *o) {
    c->time = o->time;
    if (!o->has_weight) return;
    c->weight = &o->weight;
    c->same_weight = 1;
}

/* EB.RESERVE key SPEC */
static int eb_reserve(server_ctx *ctx, server_string **argv, int argc) {
    char spec[2 * EB_SPEC_MAX];
    ev_slot s;
    ev_value *v;
    ev_face face;
    eb_error err;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    if (eb_text(ctx, argv[2], spec, sizeof spec, "the spec") != SRV_OK ||
        ev_parse_face(ctx, argv + 3, argc - 3, &face) != SRV_OK ||
        ev_open(ctx, argv[1], SRV_READ | SRV_WRITE, &s) != SRV_OK)
        return SRV_OK;
    if (s.v)
        RedisModule_ReplyWithError(ctx, "ERR item exists");
    else if (ev_make(&v, spec, &err) != EB_OK)
        ev_reply_status(ctx, &err);
    else {
        v->face = face;
        ev_store(ctx, argv[1], &s, v);
        ev_reply_done(ctx);
    }
    ev_close(&s);
    return SRV_OK;
}

/* Adds, replicates, tells.  What could not be added is in err. */
static eb_status eb_add_to(server_ctx *ctx, server_string *key, ev_slot *s, ev_call *c,
                           eb_error *err) {
    const eb_status status = ev_add(s->v, c, err);
    if (c->done > 0) {
        ev_replicate_add(ctx, key, s->v, c);
        ev_notify(ctx, "eb.add", key);
    }
    return status;
}

/* A command about one item, or about packed hashes, and what may follow: key, item, options. */
typedef struct eb_request {
    ev_slot s;
    ev_call c;
    eb_options o; /* the call points to its weight */
    eb_error err;
} eb_request;

/* Packed hashes: 8 bytes each.  The library's hashes of the filter's own keys, or any others. */
static int eb_packed(server_ctx *ctx, server_string *arg, ev_call *c) {
    size_t n;
    const char *const p = RedisModule_StringPtrLen(arg, &n);
    if (n == 0 || n % HASH_BYTES) {
        RedisModule_ReplyWithError(ctx, "ERR packed hashes have 8 bytes each");
        return SRV_ERR;
    }
    *c = ev_hashes(p, n / HASH_BYTES);
    return SRV_OK;
}

/* SRV_ERR: an error was replied. */
static int eb_begin(server_ctx *ctx, server_string **argv, int argc, int mode, int packed,
                    eb_request *r) {
    if (argc < 3) {
        RedisModule_WrongArity(ctx);
        return SRV_ERR;
    }
    r->c = ev_items(argv + 2, 1);
    if ((packed && eb_packed(ctx, argv[2], &r->c) != SRV_OK) ||
        eb_parse_options(ctx, argv, 3, argc, &r->o) != SRV_OK ||
        ev_open_filter(ctx, argv[1], mode, EB_MISSING, &r->s) != SRV_OK)
        return SRV_ERR;
    eb_apply_options(&r->c, &r->o);
    return SRV_OK;
}

/* EB.ADD key item [WEIGHT w] [TIME ms] */
static int eb_add_one(server_ctx *ctx, server_string **argv, int argc) {
    eb_request r;
    if (eb_begin(ctx, argv, argc, SRV_READ | SRV_WRITE, 0, &r) != SRV_OK) return SRV_OK;
    if (eb_add_to(ctx, argv[1], &r.s, &r.c, &r.err) != EB_OK)
        ev_reply_status(ctx, &r.err);
    else
        RedisModule_ReplyWithLongLong(ctx, !r.c.seen[0]);
    ev_close(&r.s);
    return SRV_OK;
}

static void eb_reply_added(server_ctx *ctx, const ev_call *c, eb_status status,
                           const eb_error *err) {
    if (status != EB_OK && c->done == 0) {
        ev_reply_status(ctx, err);
        return;
    }
    RedisModule_ReplyWithArray(ctx, (long)c->done + (status != EB_OK));
    for (size_t i = 0; i < c->done; i++) RedisModule_ReplyWithLongLong(ctx, !c->seen[i]);
    if (status != EB_OK) ev_reply_status(ctx, err);
}

/* EB.MADD key item [item ...] */
static int eb_madd(server_ctx *ctx, server_string **argv, int argc) {
    ev_slot s;
    eb_error err;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    if (ev_open_filter(ctx, argv[1], SRV_READ | SRV_WRITE, EB_MISSING, &s) != SRV_OK) return SRV_OK;
    ev_call c = ev_items(argv + 2, (size_t)argc - 2);
    const eb_status status = eb_add_to(ctx, argv[1], &s, &c, &err);
    eb_reply_added(ctx, &c, status, &err);
    ev_close(&s);
    return SRV_OK;
}

static int eb_read_weights(server_ctx *ctx, ev_call *c) {
    uint64_t *const weight = ev_weights(c->n);
    for (size_t i = 0; i < c->n; i++)
        if (ev_number(c->item[i * 2 + 1], &weight[i]) != SRV_OK) {
            ev_reply_error(ctx, "ERR the weight of item %zu is not a whole number", i + 1);
            return SRV_ERR;
        }
    c->step = 2;
    c->weight = weight;
    return SRV_OK;
}

/* EB.INSERT key [SPEC spec] [TIME ms] [WEIGHT w | WEIGHTS] ITEMS item [weight] ... */
static int eb_insert(server_ctx *ctx, server_string **argv, int argc) {
    char spec[2 * EB_SPEC_MAX] = "";
    eb_options o = {.weight = 1};
    int at = 2, pairs = 0;
    for (; at < argc && !ev_is(argv[at], "ITEMS"); at++) {
        if (ev_is(argv[at], "WEIGHTS")) {
            pairs = 1;
        } else if (ev_is(argv[at], "SPEC") && at + 1 < argc) {
            if (eb_text(ctx, argv[++at], spec, sizeof spec, "the spec") != SRV_OK) return SRV_OK;
        } else if (at + 1 < argc) {
            eb_options one;
            if (eb_parse_options(ctx, argv, at, at + 2, &one) != SRV_OK) return SRV_OK;
            if (one.has_weight) {
                o.weight = one.weight;
                o.has_weight = 1;
            } else {
                o.time = one.time;
            }
            at++;
        }
    }
    const int items = argc - at - 1;
    if (items < 1 || (pairs && items % 2)) return RedisModule_WrongArity(ctx);
    ev_slot s;
    eb_error err;
    if (spec[0]) {
        if (ev_open(ctx, argv[1], SRV_READ | SRV_WRITE, &s) != SRV_OK) return SRV_OK;
        ev_value *v;
        if (!s.v) {
            if (ev_make(&v, spec, &err) == EB_OK)
                ev_store(ctx, argv[1], &s, v);
            else
                ev_reply_status(ctx, &err);
        }
        const int made = s.v != NULL;
        ev_close(&s);
        if (!made) return SRV_OK;
    }
    if (ev_open_filter(ctx, argv[1], SRV_READ | SRV_WRITE, EB_MISSING, &s) != SRV_OK) return SRV_OK;
    ev_call c = ev_items(argv + at + 1, (size_t)(pairs ? items / 2 : items));
    eb_apply_options(&c, &o);
    if (!pairs || eb_read_weights(ctx, &c) == SRV_OK) {
        if (pairs) c.same_weight = 0;
        const eb_status status = eb_add_to(ctx, argv[1], &s, &c, &err);
        eb_reply_added(ctx, &c, status, &err);
    }
    ev_close(&s);
    return SRV_OK;
}

/* EB.INCRBY key item n [item n ...]: counts after each */
static int eb_incrby(server_ctx *ctx, server_string **argv, int argc) {
    ev_slot s;
    eb_error err;
    if (argc < 4 || argc % 2) return RedisModule_WrongArity(ctx);
    if (ev_open_filter(ctx, argv[1], SRV_READ | SRV_WRITE, EB_MISSING, &s) != SRV_OK) return SRV_OK;
    ev_call c = ev_items(argv + 2, (size_t)(argc - 2) / 2);
    c.want_count = 1;
    if (eb_read_weights(ctx, &c) == SRV_OK) {
        if (eb_add_to(ctx, argv[1], &s, &c, &err) != EB_OK) {
            ev_reply_status(ctx, &err);
        } else {
            RedisModule_ReplyWithArray(ctx, (long)c.n);
            for (size_t i = 0; i < c.n; i++) ev_reply_count(ctx, s.v, c.count[i]);
        }
    }
    ev_close(&s);
    return SRV_OK;
}

/* EB.EXISTS key item [TIME ms] */
static int eb_exists(server_ctx *ctx, server_string **argv, int argc) {
    eb_request r;
    if (eb_begin(ctx, argv, argc, SRV_READ, 0, &r) != SRV_OK) return SRV_OK;
    if (ev_ask(r.s.v, &r.c, &r.err) != EB_OK)
        ev_reply_status(ctx, &r.err);
    else
        RedisModule_ReplyWithLongLong(ctx, r.c.seen[0]);
    ev_close(&r.s);
    return SRV_OK;
}

/* EB.MEXISTS and EB.COUNT */
static int eb_ask_many(server_ctx *ctx, server_string **argv, int argc, int count) {
    ev_slot s;
    eb_error err;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    if (ev_open_filter(ctx, argv[1], SRV_READ, EB_MISSING, &s) != SRV_OK) return SRV_OK;
    ev_call c = ev_items(argv + 2, (size_t)argc - 2);
    c.want_count = count;
    if (ev_ask(s.v, &c, &err) != EB_OK) {
        ev_reply_status(ctx, &err);
    } else {
        RedisModule_ReplyWithArray(ctx, (long)c.n);
        for (size_t i = 0; i < c.n; i++)
            if (count)
                ev_reply_count(ctx, s.v, c.count[i]);
            else
                RedisModule_ReplyWithLongLong(ctx, c.seen[i]);
    }
    ev_close(&s);
    return SRV_OK;
}

static int eb_mexists(server_ctx *ctx, server_string **argv, int argc) {
    return eb_ask_many(ctx, argv, argc, 0);
}

static int eb_count(server_ctx *ctx, server_string **argv, int argc) {
    return eb_ask_many(ctx, argv, argc, 1);
}

/* EB.REMOVE key item [WEIGHT w] [TIME ms]: 0 if it was certainly not there */
static int eb_remove_one(server_ctx *ctx, server_string **argv, int argc) {
    eb_request r;
    if (eb_begin(ctx, argv, argc, SRV_READ | SRV_WRITE, 0, &r) != SRV_OK) return SRV_OK;
    const eb_status status = ev_remove(r.s.v, &r.c, &r.err);
    if (status == EB_OK) {
        RedisModule_ReplicateVerbatim(ctx);
        ev_notify(ctx, "eb.remove", argv[1]);
        RedisModule_ReplyWithLongLong(ctx, 1);
    } else if (status == EB_EVALUE) {
        RedisModule_ReplyWithLongLong(ctx, 0);
    } else {
        ev_reply_status(ctx, &r.err);
    }
    ev_close(&r.s);
    return SRV_OK;
}

/* Bit i of the answer: byte i / 8, from the lowest bit on. */
static void eb_reply_bits(server_ctx *ctx, const ev_call *c, size_t n, int flip) {
    const size_t len = (n + 7) / 8;
    char *const bits = RedisModule_Calloc(1, len + 1);
    for (size_t i = 0; i < n; i++)
        if ((c->seen[i] != 0) != flip) bits[i / 8] = (char)(bits[i / 8] | 1 << i % 8);
    RedisModule_ReplyWithStringBuffer(ctx, bits, len);
    RedisModule_Free(bits);
}

/* EB.HADD key hashes [WEIGHT w] [TIME ms]: a bit for each hash, 1 if it is new */
static int eb_hadd(server_ctx *ctx, server_string **argv, int argc) {
    eb_request r;
    if (eb_begin(ctx, argv, argc, SRV_READ | SRV_WRITE, 1, &r) != SRV_OK) return SRV_OK;
    if (eb_add_to(ctx, argv[1], &r.s, &r.c, &r.err) != EB_OK)
        ev_reply_status(ctx, &r.err);
    else
        eb_reply_bits(ctx, &r.c, r.c.n, 1);
    ev_close(&r.s);
    return SRV_OK;
}

/* EB.HEXISTS key hashes [TIME ms]: bits; EB.HCOUNT key hashes [TIME ms]: doubles, little endian */
static int eb_hask(server_ctx *ctx, server_string **argv, int argc, int count) {
    eb_request r;
    if (eb_begin(ctx, argv, argc, SRV_READ, 1, &r) != SRV_OK) return SRV_OK;
    r.c.want_count = count;
    if (ev_ask(r.s.v, &r.c, &r.err) != EB_OK)
        ev_reply_status(ctx, &r.err);
    else if (count)
        RedisModule_ReplyWithStringBuffer(ctx, (const char *)r.c.count, r.c.n * sizeof *r.c.count);
    else
        eb_reply_bits(ctx, &r.c, r.c.n, 0);
    ev_close(&r.s);
    return SRV_OK;
}

static int eb_hexists(server_ctx *ctx, server_string **argv, int argc) {
    return eb_hask(ctx, argv, argc, 0);
}

static int eb_hcount(server_ctx *ctx, server_string **argv, int argc) {
    return eb_hask(ctx, argv, argc, 1);
}

/* EB.MERGE dest numkeys key [key ...] [WEIGHTS w ...] */
static int eb_merge_into(server_ctx *ctx, server_string **argv, int argc) {
    uint64_t n;
    eb_error err;
    eb_filter *f = NULL;
    eb_status status = EB_OK;
    if (argc < 4) return RedisModule_WrongArity(ctx);
    if (ev_number(argv[2], &n) != SRV_OK || n < 1 || n > (uint64_t)argc - 3)
        return RedisModule_ReplyWithError(ctx,
                                          "ERR numkeys must be the number of keys that follow");
    const int keys = (int)n, weights = argc - 3 - keys;
    if (weights != 0 && (weights != keys + 1 || !ev_is(argv[3 + keys], "WEIGHTS")))
        return RedisModule_WrongArity(ctx);
    ev_slot dest;
    if (ev_open(ctx, argv[1], SRV_READ | SRV_WRITE, &dest) != SRV_OK) return SRV_OK;
    if (dest.v && !dest.v->f) {
        ev_close(&dest);
        return RedisModule_ReplyWithError(ctx, "ERR the destination is being loaded");
    }
    /* All into a copy, so that a failure changes nothing. */
    ev_value *const into = ev_value_new();
    const eb_allocator mem = ev_allocator(into);
    if (dest.v) {
        into->face = dest.v->face;
        status = eb_clone(&f, dest.v->f, &mem, &err);
        if (status == EB_OK)
            ev_value_adopt(into, f);
        else
            ev_reply_status(ctx, &err);
    }
    for (int i = 0; status == EB_OK && i < keys; i++) {
        long long weight = 1;
        ev_slot from;
        if (weights && RedisModule_StringToLongLong(argv[4 + keys + i], &weight) != SRV_OK) {
            RedisModule_ReplyWithError(ctx, "ERR weights must be whole numbers");
            status = EB_EVALUE;
            break;
        }
        if (ev_open_filter(ctx, argv[3 + i], SRV_READ, EB_MISSING, &from) != SRV_OK) {
            status = EB_EINVAL;
            break;
        }
        if (!into->f) { /* the first one says what the destination is */
            char spec[EB_SPEC_MAX];
            ev_spec(from.v, spec);
            into->face = from.v->face;
            status = eb_new(&f, spec, &mem, &err);
            if (status == EB_OK) ev_value_adopt(into, f);
        }
        if (status == EB_OK) status = eb_merge(into->f, from.v->f, weight, &err);
        if (status != EB_OK) ev_reply_status(ctx, &err);
        ev_close(&from);
    }
    if (status == EB_OK) {
        RedisModule_ModuleTypeSetValue(dest.key, ev_type, into);
        RedisModule_ReplicateVerbatim(ctx);
        ev_notify(ctx, "eb.merge", argv[1]);
        ev_reply_done(ctx);
    } else {
        ev_value_free(into);
    }
    ev_close(&dest);
    return SRV_OK;
}

/* EB.INFO key [CELLS] */
static void eb_info_number(server_ctx *ctx, const char *name, uint64_t n) {
    RedisModule_ReplyWithSimpleString(ctx, name);
    if (n == EB_UNKNOWN)
        RedisModule_ReplyWithNull(ctx);
    else
        RedisModule_ReplyWithLongLong(ctx, n > INT64_MAX ? INT64_MAX : (long long)n);
}

static void eb_info_real(server_ctx *ctx, const char *name, double x) {
    RedisModule_ReplyWithSimpleString(ctx, name);
    if (isnan(x))
        RedisModule_ReplyWithNull(ctx);
    else
        RedisModule_ReplyWithDouble(ctx, x);
}

static int eb_info(server_ctx *ctx, server_string **argv, int argc) {
    char spec[EB_SPEC_MAX];
    ev_slot s;
    ev_info i;
    eb_error err;
    if (argc != 2 && (argc != 3 || !ev_is(argv[2], "CELLS"))) return RedisModule_WrongArity(ctx);
    if (ev_open_filter(ctx, argv[1], SRV_READ, EB_MISSING, &s) != SRV_OK) return SRV_OK;
    if (ev_describe(s.v, argc == 3 || s.v->bytes <= eb_walk_bytes, &i, &err) != EB_OK) {
        ev_reply_status(ctx, &err);
    } else {
        ev_spec(s.v, spec);
        RedisModule_ReplyWithMap(ctx, 15);
        RedisModule_ReplyWithSimpleString(ctx, "spec");
        RedisModule_ReplyWithStringBuffer(ctx, spec, strlen(spec));
        eb_info_number(ctx, "bytes", ev_value_bytes(s.v));
        eb_info_number(ctx, "snapshot_bytes", eb_save_size(s.v->f));
        eb_info_number(ctx, "adds", i.adds);
        eb_info_number(ctx, "new_keys", i.new_keys);
        eb_info_number(ctx, "capacity", i.capacity);
        eb_info_number(ctx, "parts", i.parts);
        eb_info_number(ctx, "cells", i.cells);
        eb_info_number(ctx, "saturated", i.saturated);
        eb_info_number(ctx, "clock", i.clock);
        eb_info_real(ctx, "fill", i.fill);
        eb_info_real(ctx, "expected_fpr", i.fpr);
        eb_info_real(ctx, "expected_fnr", i.fnr);
        eb_info_real(ctx, "window", i.window);
        eb_info_real(ctx, "halflife", i.halflife);
    }
    ev_close(&s);
    return SRV_OK;
}

/* EB.PLAN [ITEMS n] [DISTINCT n] [BYTES b] [FPR p] [FNR p] [COUNTS] [REMOVES] [MERGES] */
static int eb_plan_spec(server_ctx *ctx, server_string **argv, int argc) {
    ev_goal goal = {0};
    ev_offer offer;
    eb_error err;
    const struct {
        const char *word;
        double *number;
        uint64_t cap;
    } word[] = {{"ITEMS", &goal.items, 0},
                {"DISTINCT", &goal.distinct, 0},
                {"BYTES", &goal.bytes, 0},
                {"FPR", &goal.fpr, 0},
                {"FNR", &goal.fnr, 0},
                {"COUNTS", NULL, EB_CAN_COUNT},
                {"REMOVES", NULL, EB_CAN_REMOVE},
                {"MERGES", NULL, EB_CAN_MERGE}};
    const size_t words = sizeof word / sizeof *word;
    for (int i = 1; i < argc; i++) {
        size_t w = 0;
        while (w < words && !ev_is(argv[i], word[w].word)) w++;
        if (w == words)
            return RedisModule_ReplyWithError(ctx,
                                              "ERR unknown argument: ITEMS, DISTINCT, BYTES, FPR, "
                                              "FNR, COUNTS, REMOVES and MERGES are possible");
        if (!word[w].number)
            goal.caps |= word[w].cap;
        else if (++i == argc || RedisModule_StringToDouble(argv[i], word[w].number) != SRV_OK ||
                 !(*word[w].number > 0))
            return ev_reply_error(ctx, "ERR %s needs a number greater than 0", word[w].word);
    }
    if (ev_plan(&goal, &offer, &err) != EB_OK) return ev_reply_status(ctx, &err);
    RedisModule_ReplyWithMap(ctx, 4);
    RedisModule_ReplyWithSimpleString(ctx, "spec");
    RedisModule_ReplyWithStringBuffer(ctx, offer.spec, strlen(offer.spec));
    eb_info_number(ctx, "bytes", (uint64_t)offer.bytes);
    eb_info_real(ctx, "mean_fpr", offer.fpr);
    eb_info_real(ctx, "mean_fnr", offer.fnr);
    return SRV_OK;
}

/* EB.RANGE key from to: at least and at most so many keys in from..to */
static int eb_range_of(server_ctx *ctx, server_string **argv, int argc) {
    ev_slot s;
    uint64_t from, to;
    double lower, upper;
    eb_error err;
    if (argc != 4) return RedisModule_WrongArity(ctx);
    if (ev_number(argv[2], &from) != SRV_OK || ev_number(argv[3], &to) != SRV_OK)
        return RedisModule_ReplyWithError(ctx, "ERR the ends of a range are whole numbers");
    if (ev_open_filter(ctx, argv[1], SRV_READ, EB_MISSING, &s) != SRV_OK) return SRV_OK;
    if (ev_range(s.v, from, to, &lower, &upper, &err) != EB_OK) {
        ev_reply_status(ctx, &err);
    } else {
        RedisModule_ReplyWithArray(ctx, 2);
        ev_reply_count(ctx, s.v, lower);
        ev_reply_count(ctx, s.v, upper);
    }
    ev_close(&s);
    return SRV_OK;
}

const ev_entry ev_commands_eb[] = {
    {"RESERVE", eb_reserve, EV_WRITE, -3, 1, "Makes an empty filter from a spec", "O(bytes)"},
    {"ADD", eb_add_one, EV_WRITE, -3, 1, "Adds an item: 1 if it is new", "O(1)"},
    {"MADD", eb_madd, EV_WRITE, -3, 1, "Adds items: 1 for each that is new", "O(items)"},
    {"INSERT", eb_insert, EV_WRITE, -4, 1,
     "Adds items, with a time, weights, and a spec if the filter is not there", "O(items)"},
    {"INCRBY", eb_incrby, EV_WRITE, -4, 1, "Adds items several times, and counts them", "O(items)"},
    {"EXISTS", eb_exists, EV_READ, -3, 1, "Is the item there?", "O(1)"},
    {"MEXISTS", eb_mexists, EV_READ, -3, 1, "Which of the items are there?", "O(items)"},
    {"COUNT", eb_count, EV_READ, -3, 1, "How often did the items occur?", "O(items)"},
    {"REMOVE", eb_remove_one, EV_WRITE, -3, 1, "Takes an item out: 0 if it was not there", "O(1)"},
    {"HADD", eb_hadd, EV_WRITE, -3, 1, "Adds packed 64-bit hashes: a bit for each, 1 if it is new",
     "O(hashes)"},
    {"HEXISTS", eb_hexists, EV_READ, -3, 1, "Which of the packed hashes are there? A bit for each",
     "O(hashes)"},
    {"HCOUNT", eb_hcount, EV_READ, -3, 1,
     "How often did the packed hashes occur? A double for each", "O(hashes)"},
    {"MERGE", eb_merge_into, EV_WRITE_SLOW, -4, 2, "Adds the items of other filters to a filter",
     "O(bytes)"},
    {"INFO", eb_info, EV_READ_SLOW, -2, 1, "What a filter is, holds and promises", "O(bytes)"},
    {"RANGE", eb_range_of, EV_READ, 4, 1, "How many numbers lie in a range? At least, at most",
     "O(log length)"},
    {"TOP", ev_run_top, EV_READ_SLOW, -2, 1, "The items that occur most often", "O(list)"},
    {"PLAN", eb_plan_spec, EV_READ_SLOW, -1, 0, "The filter that keeps given bounds", "O(1)"},
    {"SAVE", ev_run_save, EV_READ_SLOW, -2, 1, "The snapshot of a filter, whole or in chunks",
     "O(bytes)"},
    {"LOAD", ev_run_load, EV_WRITE_SLOW, -3, 1, "Makes a filter of a snapshot, whole or in chunks",
     "O(bytes)"},
    {0}};
