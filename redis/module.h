/* module.h - what the files of the module share.
 *
 *     server.h    the server's functions
 *     value.c     the type: a filter in the server's memory, how it is saved, loaded and copied
 *     calls.c     adding and asking: the only file that makes batches
 *     eb.c        EB.*: every kind of filter
 *     transfer.c  EB.SAVE, EB.LOAD and their likes: snapshots in chunks
 *     bf.c ...    the commands that client libraries know, on our filters
 *     module.c    loading, configuration, the table of commands
 *
 * A command runs on the server's main thread and to its end, so buffers of commands are static. */
#ifndef EVERBLOOM_REDIS_MODULE_H
#define EVERBLOOM_REDIS_MODULE_H
#include "server.h"
#include <everbloom/everbloom.h>
#include <everbloom/query.h>

typedef RedisModuleCtx server_ctx;
typedef RedisModuleString server_string;

/* Configuration: see docs/REDIS.md. */
typedef struct ev_config {
    long long max_filter_bytes;
    long long default_capacity; /* of BF filters that an add makes */
    long long default_window;   /* seconds; 0: items of BF filters do not expire */
    int compat;
    char name[32], prefix[32];
} ev_config;
extern ev_config ev_settings;
extern RedisModuleType *ev_type;

/* Which family of known commands made a filter, and what its INFO must repeat. */
typedef enum ev_family { EV_PLAIN, EV_BF, EV_CMS, EV_CF, EV_TOPK, EV_FAMILIES } ev_family;
enum { EV_FACE_NUMBERS = 4 };
typedef struct ev_face {
    uint64_t family;
    uint64_t n[EV_FACE_NUMBERS];
} ev_face;

/* What a key holds: a filter, or the part of a snapshot that has arrived. */
typedef struct ev_value {
    eb_filter *f; /* NULL while it is being loaded */
    uint64_t caps;
    int clocked; /* times are milliseconds since 1970, not records */
    ev_face face;
    _Atomic size_t bytes; /* taken from the server */
    char *arrived;        /* a snapshot on its way */
    size_t arrived_len, arrived_cap;
    eb_parts *parts; /* of a snapshot that leaves in chunks, until the filter changes */
} ev_value;

/* value.c.  ev_make checks the size before anything is allocated. */
ev_value *ev_value_new(void);
void ev_value_free(void *value);
eb_allocator ev_allocator(ev_value *v);
void ev_value_adopt(ev_value *v, eb_filter *f); /* instead of the one it had */
eb_status ev_make(ev_value **out, const char *spec, eb_error *err);
eb_status ev_load(ev_value *v, const void *bytes, size_t len, eb_error *err);
eb_status ev_arrive(ev_value *v, const char *chunk, size_t n, eb_error *err); /* the next bytes */
void ev_changed(ev_value *v); /* before a change: what was prepared for saving is stale */
size_t ev_value_bytes(const ev_value *v);
/* Bytes of a filter that the running command may make.  What a primary or a file says is not
 * refused: ctx NULL for loading, where there is no command. */
uint64_t ev_limit(void);
void ev_limit_by(server_ctx *ctx);
int ev_type_create(server_ctx *ctx);                      /* registers the type */
extern _Atomic uint64_t ev_total_filters, ev_total_bytes; /* other threads free filters, too */
extern uint64_t ev_total_adds, ev_total_asks;

/* Keys.  Sets *key and *v (NULL: there is none); SRV_ERR if an error was replied. */
typedef struct ev_slot {
    RedisModuleKey *key;
    ev_value *v;
} ev_slot;
int ev_open(server_ctx *ctx, server_string *name, int mode, ev_slot *s);
int ev_open_filter(server_ctx *ctx, server_string *name, int mode, const char *missing, ev_slot *s);
/* The same for a family's commands: filters that another family made have the wrong type.  missing
 * NULL: no filter is no error. */
int ev_open_family(server_ctx *ctx, server_string *name, int mode, ev_family family,
                   const char *missing, ev_slot *s);
void ev_close(ev_slot *s);
/* Puts a new filter under a key that is empty or will be replaced, and tells replicas. */
int ev_store(server_ctx *ctx, server_string *name, ev_slot *s, ev_value *v);
void ev_notify(server_ctx *ctx, const char *event, server_string *key);

/* Replies.  All return SRV_OK, as commands do. */
int ev_reply_error(server_ctx *ctx, const char *form, ...) __attribute__((format(printf, 2, 3)));
int ev_reply_status(server_ctx *ctx, const eb_error *err);
int ev_reply_done(server_ctx *ctx);
void ev_reply_count(server_ctx *ctx, const ev_value *v, double count);

/* Arguments. */
int ev_is(const server_string *s, const char *word); /* upper or lower case */
int ev_number(const server_string *s, uint64_t *n);  /* a whole number from 0 on */

/* AS family n n n n, or nothing. */
int ev_parse_face(server_ctx *ctx, server_string **argv, int argc, ev_face *face);

/* calls.c.  Keys are items or hashes; answers are in seen and count until the next call. */
typedef struct ev_call {
    server_string *const *item; /* one every `step` arguments */
    size_t step;
    const void *hashes; /* or packed: 8 bytes each, little endian */
    size_t n;
    const uint64_t *weight; /* or NULL; n of them unless same_weight */
    int same_weight;
    uint64_t time; /* milliseconds; 0: now */
    int want_count;
    void (*expelled)(void *ctx, size_t i, eb_key key); /* or NULL: keys that leave a top list */
    void *expelled_ctx;
    int part; /* of a command: replicas must not be told the command itself */
    /* out */
    uint8_t *seen;
    double *count;
    size_t done; /* keys that were added: fewer than n if the filter is full */
} ev_call;
ev_call ev_items(server_string *const *item, size_t n);
ev_call ev_hashes(const void *packed, size_t n);
eb_status ev_add(ev_value *v, ev_call *c, eb_error *err);
eb_status ev_ask(const ev_value *v, ev_call *c, eb_error *err);
eb_status ev_remove(ev_value *v, ev_call *c, eb_error *err);
uint64_t *ev_weights(size_t n); /* a buffer */
/* Tells replicas what was added, at the time at which it was. */
void ev_replicate_add(server_ctx *ctx, server_string *key, const ev_value *v, const ev_call *c);
typedef struct ev_info { /* what INFO commands say; NAN and EB_UNKNOWN: not known */
    uint64_t adds, new_keys, capacity, parts, clock, cells, saturated;
    double fill, fpr, fnr, window, halflife;
} ev_info;
eb_status ev_describe(const ev_value *v, int cells, ev_info *out, eb_error *err);
void ev_spec(const ev_value *v, char *out); /* EB_SPEC_MAX bytes */
eb_status ev_range(const ev_value *v, uint64_t from, uint64_t to, double *lower, double *upper,
                   eb_error *err);
eb_status ev_top(const ev_value *v, double at_least, eb_top_key *keys, size_t cap, size_t *n,
                 double *watermark, eb_error *err);
typedef struct ev_goal {
    double items, distinct, bytes, fpr, fnr;
    uint64_t caps;
} ev_goal;
typedef struct ev_offer {
    char spec[EB_SPEC_MAX];
    double bytes, fpr, fnr;
} ev_offer;
eb_status ev_plan(const ev_goal *goal, ev_offer *out, eb_error *err);

/* module.c.  Names with the prefix that was configured. */
typedef enum ev_name { EV_RESERVE, EV_INSERT, EV_HADD, EV_LOAD, EV_NAMES } ev_name;
const char *ev_command(ev_name n);

/* The tables of commands. */
typedef struct ev_entry {
    const char *name; /* without prefix in EB's table */
    RedisModuleCmdFunc run;
    const char *flags;
    int arity;
    int keys; /* 0: none; 1: the first argument; 2: dest numkeys key ... */
    const char *summary, *complexity;
} ev_entry;
extern const ev_entry ev_commands_eb[], ev_commands_bf[], ev_commands_cms[], ev_commands_cf[],
    ev_commands_topk[];
int ev_run_top(server_ctx *ctx, server_string **argv, int argc);
int ev_run_save(server_ctx *ctx, server_string **argv, int argc);
int ev_run_load(server_ctx *ctx, server_string **argv, int argc);
int ev_run_scandump(server_ctx *ctx, server_string **argv, int argc);
int ev_run_loadchunk(server_ctx *ctx, server_string **argv, int argc);
#define EV_WRITE "write deny-oom fast"
#define EV_WRITE_SLOW "write deny-oom"
#define EV_READ "readonly fast"
#define EV_READ_SLOW "readonly"
#endif
