/* transfer.c - snapshots out and in, whole or in chunks.
 *
 * A snapshot of a filter here has the bytes that the library, the command and all other hosts read.
 * What has arrived of one lies under the key, so that a server that restarts between two chunks
 * goes on; it becomes a filter with the last chunk, if it passes all checks. */
#include "module.h"
#include <stdio.h>

enum { TRANSFER_CHUNK = 8 << 20, TRANSFER_MOST = 256 << 20 };

/* The parts of the snapshot as it is now.  Their checksum costs a pass over the block: once. */
static const eb_parts *transfer_parts(ev_value *v, eb_error *err) {
    if (v->parts) return v->parts;
    v->parts = RedisModule_Calloc(1, sizeof *v->parts);
    v->parts->size = sizeof *v->parts;
    if (eb_save_parts(v->f, v->parts, err) != EB_OK) ev_changed(v);
    return v->parts;
}

static void transfer_copy(const eb_parts *parts, uint64_t from, size_t n, char *out) {
    for (uint32_t i = 0; i < parts->n && n > 0; i++) {
        const eb_key part = parts->part[i];
        if (from >= part.len) {
            from -= part.len;
            continue;
        }
        const size_t take = part.len - from < n ? part.len - (size_t)from : n;
        memcpy(out, (const char *)part.p + from, take);
        out += take;
        n -= take;
        from = 0;
    }
}

static int transfer_reply(server_ctx *ctx, const eb_parts *parts, uint64_t from, size_t n) {
    char *const buffer = RedisModule_TryAlloc(n + 1);
    if (!buffer) return RedisModule_ReplyWithError(ctx, "ERR not enough memory: ask for chunks");
    transfer_copy(parts, from, n, buffer);
    RedisModule_ReplyWithStringBuffer(ctx, buffer, n);
    RedisModule_Free(buffer);
    return SRV_OK;
}

/* The chunk at `from`, and where the next one begins; 0 and nothing behind the last. */
static void transfer_chunk(server_ctx *ctx, ev_value *v, uint64_t from, uint64_t n) {
    eb_error err;
    const eb_parts *const parts = transfer_parts(v, &err);
    if (!parts) {
        ev_reply_status(ctx, &err);
        return;
    }
    RedisModule_ReplyWithArray(ctx, 2);
    if (from >= parts->bytes) {
        RedisModule_ReplyWithLongLong(ctx, 0);
        RedisModule_ReplyWithStringBuffer(ctx, "", 0);
        ev_changed(v);
        return;
    }
    if (n > parts->bytes - from) n = parts->bytes - from;
    RedisModule_ReplyWithLongLong(ctx, (long long)(from + n));
    transfer_reply(ctx, parts, from, (size_t)n);
}

/* EB.SAVE key [offset [bytes]] */
int ev_run_save(server_ctx *ctx, server_string **argv, int argc) {
    uint64_t from = 0, n = TRANSFER_CHUNK;
    ev_slot s;
    eb_error err;
    if (argc < 2 || argc > 4) return RedisModule_WrongArity(ctx);
    if ((argc > 2 && ev_number(argv[2], &from) != SRV_OK) ||
        (argc > 3 && (ev_number(argv[3], &n) != SRV_OK || n < 1 || n > TRANSFER_MOST)))
        return RedisModule_ReplyWithError(ctx,
                                          "ERR offset and bytes are whole numbers; at most 256 MB");
    if (ev_open_filter(ctx, argv[1], SRV_READ, NULL, &s) != SRV_OK) return SRV_OK;
    if (argc > 2) {
        transfer_chunk(ctx, s.v, from, n);
    } else {
        const eb_parts *const parts = transfer_parts(s.v, &err);
        if (parts)
            transfer_reply(ctx, parts, 0, (size_t)parts->bytes);
        else
            ev_reply_status(ctx, &err);
        ev_changed(s.v);
    }
    ev_close(&s);
    return SRV_OK;
}

/* Is the snapshot that begins so all here?  *whole: its length, or 0 if that is not known yet. */
static eb_status transfer_whole(const ev_value *v, uint64_t *whole, eb_error *err) {
    eb_snapshot_info info;
    EB_INIT(info);
    *whole = 0;
    const eb_status status = eb_snapshot_describe(v->arrived, v->arrived_len, &info, err);
    if (status != EB_OK) return v->arrived_len < EB_SNAPSHOT_FRONT ? EB_OK : status;
    if (info.bytes > ev_limit()) {
        snprintf(err->text, sizeof err->text,
                 "the snapshot has %llu bytes, more than max-filter-bytes, %llu",
                 (unsigned long long)info.bytes, (unsigned long long)ev_limit());
        return EB_ELIMIT;
    }
    if (info.bytes < v->arrived_len) {
        snprintf(err->text, sizeof err->text, "%llu bytes follow the snapshot",
                 (unsigned long long)(v->arrived_len - info.bytes));
        return EB_EFORMAT;
    }
    *whole = info.bytes;
    return EB_OK;
}

/* Takes the chunk that begins at `at`.  A chunk at 0 begins again. */
static eb_status transfer_take(ev_value *v, uint64_t at, server_string *data, eb_error *err) {
    size_t n;
    uint64_t whole;
    const char *const p = RedisModule_StringPtrLen(data, &n);
    if (at != v->arrived_len) {
        snprintf(err->text, sizeof err->text, "the next chunk begins at byte %zu, not %llu",
                 v->arrived_len, (unsigned long long)at);
        return EB_EINVAL;
    }
    eb_status status = ev_arrive(v, p, n, err);
    if (status == EB_OK) status = transfer_whole(v, &whole, err);
    if (status == EB_OK && whole == v->arrived_len && whole > 0)
        status = ev_load(v, v->arrived, v->arrived_len, err);
    return status;
}

/* A new value for the first chunk, the one that is there for others.  A first chunk that is refused
 * leaves what was there; a later one ends the transfer and takes away what had arrived. */
static int transfer_load(server_ctx *ctx, server_string *key, uint64_t at, server_string *data,
                         int replace, const ev_face *face) {
    ev_slot s;
    eb_error err;
    if (ev_open(ctx, key, SRV_READ | SRV_WRITE, &s) != SRV_OK) return SRV_OK;
    const int first = at == 0;
    if (first && s.v && s.v->f && !replace) {
        RedisModule_ReplyWithError(ctx, "BUSYKEY Target key name already exists.");
    } else if (!first && (!s.v || s.v->f)) {
        RedisModule_ReplyWithError(ctx,
                                   "ERR no snapshot is being loaded here: begin with offset 0");
    } else {
        ev_value *const v = first ? ev_value_new() : s.v;
        if (first) v->face = *face;
        const eb_status status = transfer_take(v, at, data, &err);
        if (status != EB_OK) {
            ev_reply_status(ctx, &err);
            if (first) ev_value_free(v);
        } else {
            if (first) RedisModule_ModuleTypeSetValue(s.key, ev_type, v);
            RedisModule_ReplicateVerbatim(ctx);
            ev_notify(ctx, v->f ? "eb.load" : "eb.loading", key);
            ev_reply_done(ctx);
        }
    }
    ev_close(&s);
    return SRV_OK;
}

/* EB.LOAD key snapshot [REPLACE], or EB.LOAD key offset chunk [REPLACE] [AS family n n n n] */
int ev_run_load(server_ctx *ctx, server_string **argv, int argc) {
    uint64_t at = 0;
    ev_face face = {0};
    if (argc < 3) return RedisModule_WrongArity(ctx);
    const int whole = argc == 3 || (argc == 4 && ev_is(argv[3], "REPLACE"));
    if (!whole && ev_number(argv[2], &at) != SRV_OK)
        return RedisModule_ReplyWithError(ctx, "ERR the offset of a chunk is a whole number");
    int next = whole ? 3 : 4, replace = 0;
    if (next < argc && ev_is(argv[next], "REPLACE")) {
        replace = 1;
        next++;
    }
    if (ev_parse_face(ctx, argv + next, argc - next, &face) != SRV_OK) return SRV_OK;
    return transfer_load(ctx, argv[1], at, argv[whole ? 2 : 3], replace, &face);
}

/* BF.SCANDUMP key iterator: as EB.SAVE, whose offsets are the iterators */
int ev_run_scandump(server_ctx *ctx, server_string **argv, int argc) {
    uint64_t from;
    ev_slot s;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (ev_number(argv[2], &from) != SRV_OK)
        return RedisModule_ReplyWithError(ctx, "Second argument must be numeric");
    if (ev_open_filter(ctx, argv[1], SRV_READ, "ERR not found", &s) != SRV_OK) return SRV_OK;
    transfer_chunk(ctx, s.v, from, TRANSFER_CHUNK);
    ev_close(&s);
    return SRV_OK;
}

/* BF.LOADCHUNK key iterator data: the iterator is where the chunk ends */
int ev_run_loadchunk(server_ctx *ctx, server_string **argv, int argc) {
    uint64_t end;
    size_t n;
    const ev_face face = {0};
    if (argc != 4) return RedisModule_WrongArity(ctx);
    RedisModule_StringPtrLen(argv[3], &n);
    if (ev_number(argv[2], &end) != SRV_OK || end < n)
        return RedisModule_ReplyWithError(ctx, "ERR Second argument must be numeric");
    return transfer_load(ctx, argv[1], end - n, argv[3], 1, &face);
}
