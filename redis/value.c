/* value.c - the type: a filter in one flat block of the server's memory.
 *
 * Memory comes from the server, so that maxmemory, INFO and MEMORY USAGE count it; it never comes
 * from huge pages, which a saving child would copy whole.  An RDB holds the snapshot that EB.SAVE
 * gives, in chunks, so that neither side needs the filter twice.  What is loaded may come from
 * anyone: the library checks it, and a bad one is an error of the command that brought it. */
#define EB_STATIC_ONLY
#include "module.h"
#include <everbloom/experimental.h>
#include <stdio.h>

enum { RDB_VERSION = 1 };
enum { CHUNK = 1 << 20 };
enum { EFFORT_BYTES = 1 << 16 }; /* freeing so much is one step for the server */
enum { ZERO_BY_HAND = 1 << 16 };

RedisModuleType *ev_type;
_Atomic uint64_t ev_total_filters, ev_total_bytes;
uint64_t ev_total_adds, ev_total_asks;
static server_ctx *value_command; /* that runs; NULL: none */

/* Memory */

static void *value_count(void *ctx, void *p, size_t bytes) {
    ev_value *const v = ctx;
    if (!p) return NULL;
    v->bytes += bytes;
    ev_total_bytes += bytes;
    return p;
}

/* A server that overcommits grants everything, and is killed later: the limit is ours to keep. */
static int value_allowed(size_t bytes) {
    return bytes <= ev_limit();
}

static void *value_alloc(void *ctx, size_t bytes) {
    return value_allowed(bytes) ? value_count(ctx, RedisModule_TryAlloc(bytes), bytes) : NULL;
}

/* Large blocks that are new to the process are zero already; only the server's allocator knows.
 * Calloc ends the process if it fails and TryCalloc is not in every server: so try first. */
static void *value_alloc_zeroed(void *ctx, size_t bytes) {
    if (!value_allowed(bytes)) return NULL;
    if (RedisModule_TryCalloc) return value_count(ctx, RedisModule_TryCalloc(1, bytes), bytes);
    void *const p = RedisModule_TryAlloc(bytes);
    if (!p) return NULL;
    if (bytes <= ZERO_BY_HAND) return value_count(ctx, memset(p, 0, bytes), bytes);
    RedisModule_Free(p);
    return value_count(ctx, RedisModule_Calloc(1, bytes), bytes);
}

static void value_free(void *ctx, void *p, size_t bytes) {
    ev_value *const v = ctx;
    if (!p) return;
    v->bytes -= bytes;
    ev_total_bytes -= bytes;
    RedisModule_Free(p);
}

eb_allocator ev_allocator(ev_value *v) {
    eb_allocator a;
    EB_INIT(a);
    a.ctx = v;
    a.alloc = value_alloc;
    a.alloc_zeroed = value_alloc_zeroed;
    a.free = value_free;
    return a;
}

/* Asked only when memory is taken: the server's flags cost more than adding an item. */
uint64_t ev_limit(void) {
    if (!value_command ||
        RedisModule_GetContextFlags(value_command) & (SRV_CTX_REPLICATED | SRV_CTX_LOADING))
        return UINT64_MAX;
    return (uint64_t)ev_settings.max_filter_bytes;
}

void ev_limit_by(server_ctx *ctx) {
    value_command = ctx;
}

/* Life */

ev_value *ev_value_new(void) {
    ev_value *const v = RedisModule_Calloc(1, sizeof *v);
    ev_total_filters++;
    return v;
}

void ev_changed(ev_value *v) {
    if (v->parts) RedisModule_Free(v->parts);
    v->parts = NULL;
}

static void value_drop_arrived(ev_value *v) {
    value_free(v, v->arrived, v->arrived_cap);
    v->arrived = NULL;
    v->arrived_len = v->arrived_cap = 0;
}

void ev_value_free(void *value) {
    ev_value *const v = value;
    if (!v) return;
    ev_changed(v);
    eb_free(v->f);
    value_drop_arrived(v);
    RedisModule_Free(v);
    ev_total_filters--;
}

void ev_value_adopt(ev_value *v, eb_filter *f) {
    char spec[EB_SPEC_MAX];
    ev_changed(v);
    eb_free(v->f);
    value_drop_arrived(v);
    v->f = f;
    v->caps = eb_caps(f);
    ev_spec(v, spec);
    v->clocked = (v->caps & EB_USES_TIME) != 0 && !strstr(spec, "unit=records");
}

static eb_status value_too_large(uint64_t bytes, eb_error *err) {
    snprintf(err->text, sizeof err->text,
             "this filter would take %llu bytes, more than max-filter-bytes, %llu",
             (unsigned long long)bytes, (unsigned long long)ev_limit());
    err->status = EB_ELIMIT;
    err->at = EB_NOWHERE;
    return EB_ELIMIT;
}

eb_status ev_make(ev_value **out, const char *wanted, eb_error *err) {
    char spec[2 * EB_SPEC_MAX];
    uint64_t seed;
    eb_spec_info info;
    eb_filter *f;
    EB_INIT(info);
    RedisModule_GetRandomBytes((unsigned char *)&seed, sizeof seed);
    eb_status status = eb_spec_seed(wanted, seed, spec, sizeof spec, err);
    if (status == EB_OK) status = eb_spec_describe(spec, &info, err);
    if (status != EB_OK) return status;
    if (info.bytes > ev_limit()) return value_too_large(info.bytes, err);
    ev_value *const v = ev_value_new();
    const eb_allocator mem = ev_allocator(v);
    status = eb_new(&f, spec, &mem, err);
    if (status == EB_OK) {
        ev_value_adopt(v, f);
        *out = v;
    } else {
        ev_value_free(v);
    }
    return status;
}

eb_status ev_load(ev_value *v, const void *bytes, size_t len, eb_error *err) {
    eb_limits limits;
    eb_snapshot_info info;
    eb_filter *f;
    const eb_allocator mem = ev_allocator(v);
    EB_INIT(limits);
    EB_INIT(info);
    limits.bytes = ev_limit();
    eb_status status = eb_snapshot_describe(bytes, len, &info, err);
    if (status == EB_OK && info.bytes != len) {
        snprintf(err->text, sizeof err->text, "the snapshot has %llu bytes, not %zu",
                 (unsigned long long)info.bytes, len);
        status = EB_EFORMAT;
    }
    if (status == EB_OK) status = eb_load(&f, bytes, len, &limits, &mem, err);
    if (status == EB_OK) ev_value_adopt(v, f);
    return status;
}

size_t ev_value_bytes(const ev_value *v) {
    return sizeof *v + v->bytes + (v->parts ? sizeof *v->parts : 0);
}

/* Saving and loading.  An RDB value: family, its numbers, bytes of the snapshot, bytes that are
 * here, chunks. */

static void value_save_chunks(RedisModuleIO *io, const char *p, size_t len) {
    for (size_t at = 0; at < len; at += CHUNK)
        RedisModule_SaveStringBuffer(io, p + at, len - at < CHUNK ? len - at : CHUNK);
}

static void value_save_face(RedisModuleIO *io, const ev_face *face) {
    RedisModule_SaveUnsigned(io, face->family);
    for (int i = 0; i < EV_FACE_NUMBERS; i++) RedisModule_SaveUnsigned(io, face->n[i]);
}

static void value_rdb_save(RedisModuleIO *io, void *value) {
    ev_value *const v = value;
    eb_parts parts;
    EB_INIT(parts);
    value_save_face(io, &v->face);
    if (!v->f) {
        RedisModule_SaveUnsigned(io, 0); /* not a whole snapshot */
        RedisModule_SaveUnsigned(io, v->arrived_len);
        value_save_chunks(io, v->arrived, v->arrived_len);
        return;
    }
    if (eb_save_parts(v->f, &parts, NULL) != EB_OK) parts.bytes = parts.n = 0;
    RedisModule_SaveUnsigned(io, 1);
    RedisModule_SaveUnsigned(io, parts.bytes);
    for (uint32_t i = 0; i < parts.n; i++)
        value_save_chunks(io, parts.part[i].p, parts.part[i].len);
}

static int value_load_face(RedisModuleIO *io, ev_face *face) {
    face->family = RedisModule_LoadUnsigned(io);
    for (int i = 0; i < EV_FACE_NUMBERS; i++) face->n[i] = RedisModule_LoadUnsigned(io);
    return !RedisModule_IsIOError(io) && face->family < EV_FAMILIES;
}

/* Hands each chunk to take until `bytes` have come. */
typedef eb_status (*value_taker)(void *ctx, const char *chunk, size_t n, eb_error *err);
static eb_status value_load_chunks(RedisModuleIO *io, uint64_t bytes, value_taker take, void *ctx,
                                   eb_error *err) {
    eb_status status = EB_OK;
    while (bytes > 0 && status == EB_OK) {
        size_t n = 0;
        char *const chunk = RedisModule_LoadStringBuffer(io, &n);
        if (!chunk || RedisModule_IsIOError(io) || n == 0 || n > bytes) {
            strcpy(err->text, "a chunk of the snapshot is missing or has the wrong length");
            status = EB_EFORMAT;
        } else {
            status = take(ctx, chunk, n, err);
            bytes -= n;
        }
        if (chunk) RedisModule_Free(chunk);
    }
    return status;
}

static eb_status value_feed(void *ctx, const char *chunk, size_t n, eb_error *err) {
    size_t used;
    const eb_status status = eb_loader_feed(ctx, chunk, n, &used, NULL, err);
    if (status == EB_OK && used != n) {
        strcpy(err->text, "bytes follow the snapshot");
        return EB_EFORMAT;
    }
    return status;
}

static eb_status value_load_filter(RedisModuleIO *io, ev_value *v, uint64_t bytes, eb_error *err) {
    const eb_allocator mem = ev_allocator(v);
    eb_loader *l;
    eb_filter *f;
    eb_status status = eb_loader_new(&l, NULL, &mem, err);
    if (status != EB_OK) return status;
    status = value_load_chunks(io, bytes, value_feed, l, err);
    if (status == EB_OK) status = eb_loader_finish(l, &f, err);
    eb_loader_free(l);
    if (status == EB_OK) ev_value_adopt(v, f);
    return status;
}

static eb_status value_arrive(void *ctx, const char *chunk, size_t n, eb_error *err) {
    return ev_arrive(ctx, chunk, n, err);
}

eb_status ev_arrive(ev_value *v, const char *chunk, size_t n, eb_error *err) {
    if (n > v->arrived_cap - v->arrived_len) {
        const size_t cap =
            v->arrived_len + n > 2 * v->arrived_cap ? v->arrived_len + n : 2 * v->arrived_cap;
        char *const p = value_alloc(v, cap);
        if (!p) {
            strcpy(err->text, "there is no memory for the next chunk within max-filter-bytes");
            return EB_ENOMEM;
        }
        if (v->arrived_len > 0) memcpy(p, v->arrived, v->arrived_len);
        value_free(v, v->arrived, v->arrived_cap);
        v->arrived = p;
        v->arrived_cap = cap;
    }
    memcpy(v->arrived + v->arrived_len, chunk, n);
    v->arrived_len += n;
    return EB_OK;
}

static void *value_rdb_load(RedisModuleIO *io, int version) {
    eb_error err = {0};
    if (version != RDB_VERSION) {
        RedisModule_LogIOError(io, "warning",
                               "everbloom: a value of version %d; this module knows %d", version,
                               RDB_VERSION);
        return NULL;
    }
    ev_value *const v = ev_value_new();
    eb_status status = value_load_face(io, &v->face) ? EB_OK : EB_EFORMAT;
    const uint64_t whole = RedisModule_LoadUnsigned(io), bytes = RedisModule_LoadUnsigned(io);
    if (status != EB_OK || RedisModule_IsIOError(io) || whole > 1) {
        strcpy(err.text, "the value's head is damaged");
        status = EB_EFORMAT;
    }
    ev_limit_by(NULL); /* what was accepted once is accepted again */
    if (status == EB_OK)
        status = whole ? value_load_filter(io, v, bytes, &err)
                       : value_load_chunks(io, bytes, value_arrive, v, &err);
    if (status == EB_OK) return v;
    RedisModule_LogIOError(io, "warning", "everbloom: %s", err.text);
    ev_value_free(v);
    return NULL;
}

/* AOF: the chunks of EB.LOAD. */
static void value_aof_chunks(RedisModuleIO *io, RedisModuleString *key, const ev_face *face,
                             uint64_t *at, const char *p, size_t len) {
    for (size_t from = 0; from < len; from += CHUNK) {
        const size_t n = len - from < CHUNK ? len - from : CHUNK;
        RedisModule_EmitAOF(io, ev_command(EV_LOAD), "slbclllll", key, (long long)*at, p + from, n,
                            "AS", (long long)face->family, (long long)face->n[0],
                            (long long)face->n[1], (long long)face->n[2], (long long)face->n[3]);
        *at += n;
    }
}

static void value_aof_rewrite(RedisModuleIO *io, RedisModuleString *key, void *value) {
    ev_value *const v = value;
    uint64_t at = 0;
    eb_parts parts;
    EB_INIT(parts);
    if (!v->f) {
        value_aof_chunks(io, key, &v->face, &at, v->arrived, v->arrived_len);
        return;
    }
    if (eb_save_parts(v->f, &parts, NULL) != EB_OK) return;
    for (uint32_t i = 0; i < parts.n; i++)
        value_aof_chunks(io, key, &v->face, &at, parts.part[i].p, parts.part[i].len);
}

static size_t value_mem_usage(const void *value) {
    return ev_value_bytes(value);
}

static void value_digest(RedisModuleDigest *d, void *value) {
    ev_value *const v = value;
    eb_parts parts;
    EB_INIT(parts);
    RedisModule_DigestAddStringBuffer(d, (const char *)&v->face, sizeof v->face);
    if (!v->f) {
        RedisModule_DigestAddStringBuffer(d, v->arrived, v->arrived_len);
    } else if (eb_save_parts(v->f, &parts, NULL) == EB_OK) {
        for (uint32_t i = 0; i < parts.n; i++)
            RedisModule_DigestAddStringBuffer(d, parts.part[i].p, parts.part[i].len);
    }
    RedisModule_DigestEndSequence(d);
}

static size_t value_free_effort(RedisModuleString *key, const void *value) {
    (void)key;
    return 1 + ev_value_bytes(value) / EFFORT_BYTES;
}

/* The key is gone, but another thread may free the value later: give up now what is only a help. */
static void value_unlink(RedisModuleString *key, const void *value) {
    (void)key;
    ev_value *v;
    memcpy(&v, &value, sizeof v); /* the server's type says const; the value is ours */
    ev_changed(v);
}

static void *value_copy(RedisModuleString *from, RedisModuleString *to, const void *value) {
    (void)from;
    (void)to;
    const ev_value *const v = value;
    ev_value *const copy = ev_value_new();
    const eb_allocator mem = ev_allocator(copy);
    eb_error err;
    eb_filter *f;
    eb_status status;
    copy->face = v->face;
    ev_limit_by(NULL);
    if (v->f) {
        status = eb_clone(&f, v->f, &mem, &err);
        if (status == EB_OK) ev_value_adopt(copy, f);
    } else {
        status = ev_arrive(copy, v->arrived, v->arrived_len, &err);
    }
    if (status == EB_OK) return copy;
    ev_value_free(copy);
    return NULL;
}

static void *value_move(void *ctx, void *p, size_t bytes) {
    (void)bytes;
    return RedisModule_DefragAlloc(ctx, p);
}

/* The filter moves; the value stays, since the filter's allocator has its address. */
static int value_defrag(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **value) {
    (void)key;
    ev_value *const v = *value;
    ev_changed(v);
    if (v->f) eb_move(&v->f, value_move, ctx);
    char *const arrived = v->arrived ? RedisModule_DefragAlloc(ctx, v->arrived) : NULL;
    if (arrived) v->arrived = arrived;
    return 0; /* done */
}

int ev_type_create(server_ctx *ctx) {
    static RedisModuleTypeMethods methods = {
        .version = 3,
        .rdb_load = value_rdb_load,
        .rdb_save = value_rdb_save,
        .aof_rewrite = value_aof_rewrite,
        .mem_usage = value_mem_usage,
        .digest = value_digest,
        .free = ev_value_free,
        .free_effort = value_free_effort,
        .unlink = value_unlink,
        .copy = value_copy,
        .defrag = value_defrag,
    };
    ev_type = RedisModule_CreateDataType(ctx, "everbloom", RDB_VERSION, &methods);
    return ev_type ? SRV_OK : SRV_ERR;
}
