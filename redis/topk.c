/* topk.c - TOPK.*: the items that occur most often, as documented, on the kind `top`; and EB.TOP.
 *
 * The filter keeps more items than the k that were asked for, so that none of these is missed.  An
 * item that ADD reports as expelled has left that longer list. */
#include "module.h"
#include <math.h>
#include <stdio.h>

#define TOPK_MISSING "TopK: key does not exist"
enum { TOPK_N_K, TOPK_N_WIDTH, TOPK_N_DEPTH, TOPK_N_DECAY }; /* of the face; decay in millionths */
enum { TOPK_ITEM_BYTES = 512, TOPK_LEAST_BYTES = 64 << 10, TOPK_MOST = 1 << 20 };

/* TOPK.RESERVE key k [width depth decay] */
static int topk_reserve(server_ctx *ctx, server_string **argv, int argc) {
    char spec[64];
    uint64_t k, width = 8, depth = 7;
    double decay = 0.9;
    ev_slot s;
    ev_value *v;
    eb_error err;
    if (argc != 3 && argc != 6) return RedisModule_WrongArity(ctx);
    if (ev_number(argv[2], &k) != SRV_OK || k < 1 || k > TOPK_MOST)
        return RedisModule_ReplyWithError(ctx, "TopK: invalid k");
    if (argc == 6) {
        if (ev_number(argv[3], &width) != SRV_OK || width < 1)
            return RedisModule_ReplyWithError(ctx, "TopK: invalid width");
        if (ev_number(argv[4], &depth) != SRV_OK || depth < 1)
            return RedisModule_ReplyWithError(ctx, "TopK: invalid depth");
        if (RedisModule_StringToDouble(argv[5], &decay) != SRV_OK || !(decay > 0 && decay <= 1))
            return RedisModule_ReplyWithError(ctx,
                                              "TopK: invalid decay value. must be '<= 1' & '> 0'");
    }
    const uint64_t bytes = k * TOPK_ITEM_BYTES;
    snprintf(spec, sizeof spec, "top:memory=%llu",
             (unsigned long long)(bytes > TOPK_LEAST_BYTES ? bytes : TOPK_LEAST_BYTES));
    if (ev_open(ctx, argv[1], SRV_READ | SRV_WRITE, &s) != SRV_OK) return SRV_OK;
    if (s.v)
        RedisModule_ReplyWithError(ctx, "TopK: key already exists");
    else if (ev_make(&v, spec, &err) != EB_OK)
        ev_reply_error(ctx, "TopK: %s", err.text);
    else {
        v->face = (ev_face){.family = EV_TOPK, .n = {k, width, depth, (uint64_t)(decay * 1e6)}};
        ev_store(ctx, argv[1], &s, v);
        ev_reply_done(ctx);
    }
    ev_close(&s);
    return SRV_OK;
}

/* Replies come in the order of items: what was expelled by the last one that spoke is known then.
 */
typedef struct topk_reply {
    server_ctx *ctx;
    size_t next; /* item that has no reply yet */
} topk_reply;

static void topk_nulls(topk_reply *r, size_t until) {
    for (; r->next < until; r->next++) RedisModule_ReplyWithNull(r->ctx);
}

static void topk_expelled(void *to, size_t i, eb_key key) {
    topk_reply *const r = to;
    if (r->next > i) return; /* one reply an item */
    topk_nulls(r, i);
    RedisModule_ReplyWithStringBuffer(r->ctx, key.p, key.len);
    r->next++;
}

static int topk_add_items(server_ctx *ctx, server_string **argv, int argc, int step) {
    ev_slot s;
    eb_error err;
    if (argc < 2 + step || (argc - 2) % step) return RedisModule_WrongArity(ctx);
    if (ev_open_family(ctx, argv[1], SRV_READ | SRV_WRITE, EV_TOPK, TOPK_MISSING, &s) != SRV_OK)
        return SRV_OK;
    ev_call c = ev_items(argv + 2, (size_t)((argc - 2) / step));
    topk_reply reply = {.ctx = ctx};
    c.step = (size_t)step;
    if (step == 2) {
        uint64_t *const by = ev_weights(c.n);
        c.weight = by;
        for (size_t i = 0; i < c.n; i++)
            if (ev_number(argv[3 + 2 * i], &by[i]) != SRV_OK || by[i] < 1 || by[i] > 100000) {
                ev_close(&s);
                return RedisModule_ReplyWithError(
                    ctx, "TopK: increment must be an integer greater or equal to 1 and smaller or "
                         "equal to 100,000");
            }
    }
    /* All input is checked by now: the reply can be written on the way. */
    RedisModule_ReplyWithArray(ctx, (long)c.n);
    c.expelled = topk_expelled;
    c.expelled_ctx = &reply;
    const eb_status status = ev_add(s.v, &c, &err);
    topk_nulls(&reply, c.done);
    for (; reply.next < c.n; reply.next++) ev_reply_error(ctx, "TopK: %s", err.text);
    if (status == EB_OK) {
        ev_replicate_add(ctx, argv[1], s.v, &c);
        ev_notify(ctx, "eb.add", argv[1]);
    }
    ev_close(&s);
    return SRV_OK;
}

static int topk_add(server_ctx *ctx, server_string **argv, int argc) {
    return topk_add_items(ctx, argv, argc, 1);
}

static int topk_incrby(server_ctx *ctx, server_string **argv, int argc) {
    return topk_add_items(ctx, argv, argc, 2);
}

/* The first k of the list; the caller frees it. */
static eb_top_key *topk_first(const ev_value *v, uint64_t k, double at_least, size_t *n,
                              double *watermark, eb_error *err) {
    eb_top_key *const keys = RedisModule_Alloc((size_t)k * sizeof *keys);
    if (ev_top(v, at_least, keys, (size_t)k, n, watermark, err) == EB_OK) return keys;
    RedisModule_Free(keys);
    return NULL;
}

/* TOPK.QUERY: is it one of the k?  TOPK.COUNT: how often did it come? */
static int topk_query(server_ctx *ctx, server_string **argv, int argc) {
    ev_slot s;
    eb_error err;
    size_t n;
    double watermark;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    if (ev_open_family(ctx, argv[1], SRV_READ, EV_TOPK, TOPK_MISSING, &s) != SRV_OK) return SRV_OK;
    eb_top_key *const keys = topk_first(s.v, s.v->face.n[TOPK_N_K], 0, &n, &watermark, &err);
    if (!keys) {
        ev_reply_error(ctx, "TopK: %s", err.text);
    } else {
        RedisModule_ReplyWithArray(ctx, argc - 2);
        for (int i = 2; i < argc; i++) {
            size_t len, at = 0;
            const char *const p = RedisModule_StringPtrLen(argv[i], &len);
            while (at < n && (keys[at].key.len != len || memcmp(keys[at].key.p, p, len) != 0)) at++;
            RedisModule_ReplyWithBool(ctx, at < n);
        }
        RedisModule_Free(keys);
    }
    ev_close(&s);
    return SRV_OK;
}

static int topk_count(server_ctx *ctx, server_string **argv, int argc) {
    ev_slot s;
    eb_error err;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    if (ev_open_family(ctx, argv[1], SRV_READ, EV_TOPK, TOPK_MISSING, &s) != SRV_OK) return SRV_OK;
    ev_call c = ev_items(argv + 2, (size_t)argc - 2);
    c.want_count = 1;
    if (ev_ask(s.v, &c, &err) != EB_OK) {
        ev_reply_error(ctx, "TopK: %s", err.text);
    } else {
        RedisModule_ReplyWithArray(ctx, (long)c.n);
        for (size_t i = 0; i < c.n; i++) ev_reply_count(ctx, s.v, c.count[i]);
    }
    ev_close(&s);
    return SRV_OK;
}

static int topk_list(server_ctx *ctx, server_string **argv, int argc) {
    ev_slot s;
    eb_error err;
    size_t n;
    double watermark;
    if (argc != 2 && (argc != 3 || !ev_is(argv[2], "WITHCOUNT")))
        return RedisModule_WrongArity(ctx);
    if (ev_open_family(ctx, argv[1], SRV_READ, EV_TOPK, TOPK_MISSING, &s) != SRV_OK) return SRV_OK;
    eb_top_key *const keys = topk_first(s.v, s.v->face.n[TOPK_N_K], 0, &n, &watermark, &err);
    if (!keys) {
        ev_reply_error(ctx, "TopK: %s", err.text);
    } else {
        RedisModule_ReplyWithArray(ctx, (long)n * (argc - 1));
        for (size_t i = 0; i < n; i++) {
            RedisModule_ReplyWithStringBuffer(ctx, keys[i].key.p, keys[i].key.len);
            if (argc == 3) ev_reply_count(ctx, s.v, keys[i].count);
        }
        RedisModule_Free(keys);
    }
    ev_close(&s);
    return SRV_OK;
}

static int topk_info(server_ctx *ctx, server_string **argv, int argc) {
    static const char *const name[] = {"k", "width", "depth"};
    ev_slot s;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (ev_open_family(ctx, argv[1], SRV_READ, EV_TOPK, TOPK_MISSING, &s) != SRV_OK) return SRV_OK;
    RedisModule_ReplyWithMap(ctx, 4);
    for (int i = 0; i < 3; i++) {
        RedisModule_ReplyWithSimpleString(ctx, name[i]);
        RedisModule_ReplyWithLongLong(ctx, (long long)s.v->face.n[i]);
    }
    RedisModule_ReplyWithSimpleString(ctx, "decay");
    RedisModule_ReplyWithDouble(ctx, (double)s.v->face.n[TOPK_N_DECAY] / 1e6);
    ev_close(&s);
    return SRV_OK;
}

/* EB.TOP key [n [at-least]]: item, count at most, count at least; first of all the watermark */
int ev_run_top(server_ctx *ctx, server_string **argv, int argc) {
    uint64_t k = 100;
    double at_least = 0, watermark;
    ev_slot s;
    eb_error err;
    size_t n;
    if (argc < 2 || argc > 4) return RedisModule_WrongArity(ctx);
    if ((argc > 2 && (ev_number(argv[2], &k) != SRV_OK || k < 1 || k > TOPK_MOST)) ||
        (argc > 3 && RedisModule_StringToDouble(argv[3], &at_least) != SRV_OK))
        return RedisModule_ReplyWithError(ctx, "ERR so many items, and at least so often: numbers");
    if (ev_open_filter(ctx, argv[1], SRV_READ, NULL, &s) != SRV_OK) return SRV_OK;
    eb_top_key *const keys = topk_first(s.v, k, at_least, &n, &watermark, &err);
    if (!keys) {
        ev_reply_status(ctx, &err);
    } else {
        RedisModule_ReplyWithArray(ctx, (long)n * 3 + 1);
        ev_reply_count(ctx, s.v, watermark);
        for (size_t i = 0; i < n; i++) {
            RedisModule_ReplyWithStringBuffer(ctx, keys[i].key.p, keys[i].key.len);
            ev_reply_count(ctx, s.v, keys[i].count);
            ev_reply_count(ctx, s.v, keys[i].lower);
        }
        RedisModule_Free(keys);
    }
    ev_close(&s);
    return SRV_OK;
}

const ev_entry ev_commands_topk[] = {
    {"RESERVE", topk_reserve, EV_WRITE, -3, 1, "Makes a list of the items that occur most often",
     "O(1)"},
    {"ADD", topk_add, EV_WRITE, -3, 1, "Adds items; says which left the list", "O(items)"},
    {"INCRBY", topk_incrby, EV_WRITE, -4, 1, "Adds items several times", "O(items)"},
    {"QUERY", topk_query, EV_READ, -3, 1, "Which items are among the top k?", "O(k)"},
    {"COUNT", topk_count, EV_READ, -3, 1, "How often did items occur?", "O(items)"},
    {"LIST", topk_list, EV_READ_SLOW, -2, 1, "The top k, most frequent first", "O(k log k)"},
    {"INFO", topk_info, EV_READ, 2, 1, "k, width, depth and decay, as they were given", "O(1)"},
    {0}};
