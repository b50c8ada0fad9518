/* cms.c - CMS.*: counts of items, as documented, on counting filters of as many counters. */
#include "module.h"
#include <math.h>
#include <stdio.h>

#define CMS_MISSING "CMS: key does not exist"
enum { CMS_N_WIDTH, CMS_N_DEPTH, CMS_N_COUNT }; /* of the face */
enum { CMS_MOST_K = 16, CMS_LEAST_CELLS = 64 };

static int cms_create(server_ctx *ctx, server_string *key, uint64_t width, uint64_t depth) {
    char spec[128];
    ev_slot s;
    ev_value *v;
    eb_error err;
    const uint64_t k = depth < CMS_MOST_K ? depth : CMS_MOST_K;
    if (width > UINT64_MAX / 64 / depth)
        return RedisModule_ReplyWithError(ctx, "CMS: width or depth is too large");
    const uint64_t cells = width * depth;
    snprintf(spec, sizeof spec, "spectral:cells=%llu,k=%llu,update=plain",
             (unsigned long long)(cells > CMS_LEAST_CELLS ? cells : CMS_LEAST_CELLS),
             (unsigned long long)k);
    if (ev_open(ctx, key, SRV_READ | SRV_WRITE, &s) != SRV_OK) return SRV_OK;
    if (s.v)
        RedisModule_ReplyWithError(ctx, "CMS: key already exists");
    else if (ev_make(&v, spec, &err) != EB_OK)
        ev_reply_status(ctx, &err);
    else {
        v->face = (ev_face){.family = EV_CMS, .n = {width, depth, 0}};
        ev_store(ctx, key, &s, v);
        ev_reply_done(ctx);
    }
    ev_close(&s);
    return SRV_OK;
}

static int cms_initbydim(server_ctx *ctx, server_string **argv, int argc) {
    uint64_t width, depth;
    if (argc != 4) return RedisModule_WrongArity(ctx);
    if (ev_number(argv[2], &width) != SRV_OK || width < 1)
        return RedisModule_ReplyWithError(ctx, "CMS: invalid width");
    if (ev_number(argv[3], &depth) != SRV_OK || depth < 1)
        return RedisModule_ReplyWithError(ctx, "CMS: invalid depth");
    return cms_create(ctx, argv[1], width, depth);
}

/* Counts are too high by more than error times all counts with at most this probability. */
static int cms_initbyprob(server_ctx *ctx, server_string **argv, int argc) {
    double error, probability;
    if (argc != 4) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToDouble(argv[2], &error) != SRV_OK || !(error > 1e-15 && error < 1))
        return RedisModule_ReplyWithError(ctx, "CMS: invalid overestimation value");
    if (RedisModule_StringToDouble(argv[3], &probability) != SRV_OK ||
        !(probability > 1e-300 && probability < 1))
        return RedisModule_ReplyWithError(ctx, "CMS: invalid prob value");
    return cms_create(ctx, argv[1], (uint64_t)ceil(2 / error), (uint64_t)ceil(-log2(probability)));
}

static int cms_incrby(server_ctx *ctx, server_string **argv, int argc) {
    ev_slot s;
    eb_error err;
    if (argc < 4 || argc % 2) return RedisModule_WrongArity(ctx);
    if (ev_open_family(ctx, argv[1], SRV_READ | SRV_WRITE, EV_CMS, CMS_MISSING, &s) != SRV_OK)
        return SRV_OK;
    ev_call c = ev_items(argv + 2, (size_t)(argc - 2) / 2);
    uint64_t *const by = ev_weights(c.n), total = s.v->face.n[CMS_N_COUNT], sum = total;
    c.step = 2;
    c.weight = by;
    c.want_count = 1;
    for (size_t i = 0; i < c.n; i++) {
        if (ev_number(argv[3 + 2 * i], &by[i]) != SRV_OK) {
            ev_close(&s);
            return RedisModule_ReplyWithError(ctx, "CMS: Cannot parse number");
        }
        sum = by[i] > INT64_MAX - sum ? INT64_MAX : sum + by[i];
    }
    if (ev_add(s.v, &c, &err) != EB_OK) {
        ev_reply_error(ctx, "CMS: %s", err.text);
    } else {
        if (s.v->face.family == EV_CMS) s.v->face.n[CMS_N_COUNT] = sum;
        ev_replicate_add(ctx, argv[1], s.v, &c);
        ev_notify(ctx, "eb.add", argv[1]);
        RedisModule_ReplyWithArray(ctx, (long)c.n);
        for (size_t i = 0; i < c.n; i++) ev_reply_count(ctx, s.v, c.count[i]);
    }
    ev_close(&s);
    return SRV_OK;
}

static int cms_query(server_ctx *ctx, server_string **argv, int argc) {
    ev_slot s;
    eb_error err;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    if (ev_open_family(ctx, argv[1], SRV_READ, EV_CMS, CMS_MISSING, &s) != SRV_OK) return SRV_OK;
    ev_call c = ev_items(argv + 2, (size_t)argc - 2);
    c.want_count = 1;
    if (ev_ask(s.v, &c, &err) != EB_OK) {
        ev_reply_error(ctx, "CMS: %s", err.text);
    } else {
        RedisModule_ReplyWithArray(ctx, (long)c.n);
        for (size_t i = 0; i < c.n; i++) ev_reply_count(ctx, s.v, c.count[i]);
    }
    ev_close(&s);
    return SRV_OK;
}

/* CMS.MERGE dest numkeys key [key ...] [WEIGHTS w ...]: what dest held is gone */
static int cms_merge(server_ctx *ctx, server_string **argv, int argc) {
    uint64_t n;
    ev_slot dest, from;
    ev_value *sum;
    char spec[EB_SPEC_MAX];
    eb_error err;
    if (argc < 4) return RedisModule_WrongArity(ctx);
    if (ev_number(argv[2], &n) != SRV_OK)
        return RedisModule_ReplyWithError(ctx, "CMS: invalid numkeys");
    if (n < 1) return RedisModule_ReplyWithError(ctx, "CMS: Number of keys must be positive");
    if (n > (uint64_t)argc - 3) return RedisModule_ReplyWithError(ctx, "CMS: wrong number of keys");
    const int keys = (int)n, weights = argc - 3 - keys;
    if (weights != 0 && (weights != keys + 1 || !ev_is(argv[3 + keys], "WEIGHTS")))
        return RedisModule_ReplyWithError(ctx, "CMS: wrong number of keys/weights");
    if (ev_open_family(ctx, argv[1], SRV_READ | SRV_WRITE, EV_CMS, CMS_MISSING, &dest) != SRV_OK)
        return SRV_OK;
    ev_spec(dest.v, spec);
    if (ev_make(&sum, spec, &err) != EB_OK) {
        ev_close(&dest);
        return ev_reply_status(ctx, &err);
    }
    sum->face = dest.v->face;
    sum->face.n[CMS_N_COUNT] = 0;
    int ok = 1;
    for (int i = 0; ok && i < keys; i++) {
        long long weight = 1;
        if (weights && RedisModule_StringToLongLong(argv[4 + keys + i], &weight) != SRV_OK) {
            RedisModule_ReplyWithError(ctx, "CMS: invalid weight value");
            ok = 0;
            break;
        }
        if (ev_open_family(ctx, argv[3 + i], SRV_READ, EV_CMS, CMS_MISSING, &from) != SRV_OK) {
            ok = 0;
            break;
        }
        const eb_status status = eb_merge(sum->f, from.v->f, weight, &err);
        if (status == EB_EMISMATCH)
            RedisModule_ReplyWithError(ctx, "CMS: width/depth is not equal");
        else if (status != EB_OK)
            ev_reply_error(ctx, "CMS: %s", err.text);
        else
            sum->face.n[CMS_N_COUNT] += (uint64_t)weight * from.v->face.n[CMS_N_COUNT];
        ok = status == EB_OK;
        ev_close(&from);
    }
    if (ok) {
        RedisModule_ModuleTypeSetValue(dest.key, ev_type, sum);
        RedisModule_ReplicateVerbatim(ctx);
        ev_notify(ctx, "eb.merge", argv[1]);
        ev_reply_done(ctx);
    } else {
        ev_value_free(sum);
    }
    ev_close(&dest);
    return SRV_OK;
}

static int cms_info(server_ctx *ctx, server_string **argv, int argc) {
    static const char *const name[] = {"width", "depth", "count"};
    ev_slot s;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (ev_open_family(ctx, argv[1], SRV_READ, EV_CMS, CMS_MISSING, &s) != SRV_OK) return SRV_OK;
    RedisModule_ReplyWithMap(ctx, 3);
    for (int i = 0; i < 3; i++) {
        RedisModule_ReplyWithSimpleString(ctx, name[i]);
        RedisModule_ReplyWithLongLong(ctx, (long long)s.v->face.n[i]);
    }
    ev_close(&s);
    return SRV_OK;
}

const ev_entry ev_commands_cms[] = {
    {"INITBYDIM", cms_initbydim, EV_WRITE, 4, 1,
     "Makes a counting filter of width times depth counters", "O(1)"},
    {"INITBYPROB", cms_initbyprob, EV_WRITE, 4, 1, "Makes a counting filter that keeps an error",
     "O(1)"},
    {"INCRBY", cms_incrby, EV_WRITE, -4, 1, "Adds to the counts of items", "O(items)"},
    {"QUERY", cms_query, EV_READ, -3, 1, "Counts of items", "O(items)"},
    {"MERGE", cms_merge, EV_WRITE_SLOW, -4, 2, "Adds up counting filters", "O(bytes)"},
    {"INFO", cms_info, EV_READ, 2, 1, "Width, depth and the sum of all counts", "O(1)"},
    {0}};
