/* replies.c - keys, arguments and replies, as all commands need them. */
#include "module.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

int ev_open(server_ctx *ctx, server_string *name, int mode, ev_slot *s) {
    ev_limit_by(ctx);
    *s = (ev_slot){.key = RedisModule_OpenKey(ctx, name, mode)};
    if (!s->key || RedisModule_KeyType(s->key) == SRV_KEY_EMPTY) return SRV_OK;
    if (RedisModule_KeyType(s->key) == SRV_KEY_MODULE &&
        RedisModule_ModuleTypeGetType(s->key) == ev_type) {
        s->v = RedisModule_ModuleTypeGetValue(s->key);
        return SRV_OK;
    }
    RedisModule_ReplyWithError(ctx, SRV_WRONGTYPE);
    ev_close(s);
    return SRV_ERR;
}

int ev_open_filter(server_ctx *ctx, server_string *name, int mode, const char *missing,
                   ev_slot *s) {
    if (ev_open(ctx, name, mode, s) != SRV_OK) return SRV_ERR;
    if (s->v && s->v->f) return SRV_OK;
    if (s->v)
        ev_reply_error(ctx, "ERR this filter is being loaded: %zu bytes are here so far",
                       s->v->arrived_len);
    else
        RedisModule_ReplyWithError(ctx, missing ? missing : "ERR there is no such key");
    ev_close(s);
    return SRV_ERR;
}

int ev_open_family(server_ctx *ctx, server_string *name, int mode, ev_family family,
                   const char *missing, ev_slot *s) {
    if (ev_open(ctx, name, mode, s) != SRV_OK) return SRV_ERR;
    if (!s->v && !missing) return SRV_OK;
    if (s->v && s->v->f) {
        const uint64_t is = s->v->face.family;
        const int counts = family == EV_CMS || family == EV_CF;
        const int fits = family == EV_TOPK ? 0 : !counts || s->v->caps & EB_CAN_COUNT;
        if (is == family || (is == EV_PLAIN && fits)) return SRV_OK;
        RedisModule_ReplyWithError(ctx, SRV_WRONGTYPE);
    } else if (s->v) {
        ev_reply_error(ctx, "ERR this filter is being loaded: %zu bytes are here so far",
                       s->v->arrived_len);
    } else {
        RedisModule_ReplyWithError(ctx, missing);
    }
    ev_close(s);
    return SRV_ERR;
}

void ev_close(ev_slot *s) {
    if (s->key) RedisModule_CloseKey(s->key);
    s->key = NULL;
}

int ev_store(server_ctx *ctx, server_string *name, ev_slot *s, ev_value *v) {
    char spec[EB_SPEC_MAX];
    ev_spec(v, spec);
    RedisModule_ModuleTypeSetValue(s->key, ev_type, v);
    s->v = v;
    /* The canonical spec: a replica need not round as we do. */
    RedisModule_Replicate(ctx, ev_command(EV_RESERVE), "scclllll", name, spec, "AS",
                          (long long)v->face.family, (long long)v->face.n[0],
                          (long long)v->face.n[1], (long long)v->face.n[2],
                          (long long)v->face.n[3]);
    ev_notify(ctx, "eb.reserve", name);
    return SRV_OK;
}

void ev_notify(server_ctx *ctx, const char *event, server_string *key) {
    RedisModule_NotifyKeyspaceEvent(ctx, SRV_NOTIFY_MODULE, event, key);
}

int ev_reply_error(server_ctx *ctx, const char *form, ...) {
    char text[700];
    va_list args;
    va_start(args, form);
    vsnprintf(text, sizeof text, form, args);
    va_end(args);
    for (char *p = text; *p; p++)
        if (*p == '\r' || *p == '\n') *p = ' ';
    return RedisModule_ReplyWithError(ctx, text);
}

int ev_reply_status(server_ctx *ctx, const eb_error *err) {
    return ev_reply_error(ctx, "ERR %s", err->text);
}

int ev_reply_done(server_ctx *ctx) {
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}

/* Counts that fade have fractions; others are whole.  Full counters say inf. */
void ev_reply_count(server_ctx *ctx, const ev_value *v, double count) {
    if (v->caps & EB_USES_TIME || !(count < 9e18))
        RedisModule_ReplyWithDouble(ctx, count);
    else
        RedisModule_ReplyWithLongLong(ctx, (long long)count);
}

int ev_is(const server_string *s, const char *word) {
    size_t n;
    const char *const p = RedisModule_StringPtrLen(s, &n);
    return n == strlen(word) && !strncasecmp(p, word, n);
}

int ev_number(const server_string *s, uint64_t *n) {
    size_t len;
    const char *const p = RedisModule_StringPtrLen(s, &len);
    *n = 0;
    if (len == 0 || (len > 1 && p[0] == '0')) return SRV_ERR;
    for (size_t i = 0; i < len; i++) {
        const unsigned digit = (unsigned)(p[i] - '0');
        if (digit > 9 || *n > (UINT64_MAX - digit) / 10) return SRV_ERR;
        *n = *n * 10 + digit;
    }
    return SRV_OK;
}

int ev_parse_face(server_ctx *ctx, server_string **argv, int argc, ev_face *face) {
    *face = (ev_face){0};
    if (argc == 0) return SRV_OK;
    if (argc != 2 + EV_FACE_NUMBERS || !ev_is(argv[0], "AS")) {
        RedisModule_WrongArity(ctx);
        return SRV_ERR;
    }
    int ok = ev_number(argv[1], &face->family) == SRV_OK && face->family < EV_FAMILIES;
    for (int i = 0; ok && i < EV_FACE_NUMBERS; i++) {
        long long n;
        ok = RedisModule_StringToLongLong(argv[2 + i], &n) == SRV_OK;
        face->n[i] = (uint64_t)n;
    }
    if (ok) return SRV_OK;
    RedisModule_ReplyWithError(ctx, "ERR AS needs a family and four numbers");
    return SRV_ERR;
}
