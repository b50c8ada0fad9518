/* server.h - the part of the server's module interface that we use, written from its documentation.
 *
 * Redis and Valkey publish a C interface for modules: names that a module asks for when it is
 * loaded. Debian ships no header for it.  The types and numbers here are those that the
 * documentation gives; both servers keep them, so that one file loads in both.  Functions that
 * older servers lack are marked OPTIONAL and NULL there. */
#ifndef EVERBLOOM_REDIS_SERVER_H
#define EVERBLOOM_REDIS_SERVER_H
#include <stddef.h>
#include <stdint.h>

typedef struct RedisModuleCtx RedisModuleCtx;
typedef struct RedisModuleKey RedisModuleKey;
typedef struct RedisModuleString RedisModuleString;
typedef struct RedisModuleIO RedisModuleIO;
typedef struct RedisModuleType RedisModuleType;
typedef struct RedisModuleDigest RedisModuleDigest;
typedef struct RedisModuleInfoCtx RedisModuleInfoCtx;
typedef struct RedisModuleCommand RedisModuleCommand;
typedef struct RedisModuleDefragCtx RedisModuleDefragCtx;

enum { SRV_OK = 0, SRV_ERR = 1, SRV_API = 1 };
enum { SRV_READ = 1, SRV_WRITE = 2 };
enum { SRV_KEY_EMPTY = 0, SRV_KEY_MODULE = 6 };
enum { SRV_HANDLE_IO_ERRORS = 1, SRV_HANDLE_ASYNC_LOAD = 4 };
enum { SRV_POSTPONED = -1 };
enum { SRV_NOTIFY_GENERIC = 1 << 2, SRV_NOTIFY_MODULE = 1 << 13 };
enum { SRV_CTX_REPLICATED = 1 << 12, SRV_CTX_LOADING = 1 << 13 };
enum { SRV_CONFIG_IMMUTABLE = 1 << 0, SRV_CONFIG_MEMORY = 1 << 7 };
#define SRV_WRONGTYPE "WRONGTYPE Operation against a key holding the wrong kind of value"

typedef struct RedisModuleTypeMethods { /* version 3 */
    uint64_t version;
    void *(*rdb_load)(RedisModuleIO *io, int encver);
    void (*rdb_save)(RedisModuleIO *io, void *value);
    void (*aof_rewrite)(RedisModuleIO *io, RedisModuleString *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(RedisModuleDigest *d, void *value);
    void (*free)(void *value);
    int (*aux_load)(RedisModuleIO *io, int encver, int when);
    void (*aux_save)(RedisModuleIO *io, int when);
    int aux_save_triggers;
    size_t (*free_effort)(RedisModuleString *key, const void *value);
    void (*unlink)(RedisModuleString *key, const void *value);
    void *(*copy)(RedisModuleString *from, RedisModuleString *to, const void *value);
    int (*defrag)(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **value);
} RedisModuleTypeMethods;

/* What COMMAND INFO and COMMAND DOCS say. */
typedef struct RedisModuleCommandInfoVersion {
    int version;
    size_t history_size, key_spec_size, arg_size; /* of the structures that we do not fill: 0 */
} RedisModuleCommandInfoVersion;
enum { SRV_KEYS_RO = 1, SRV_KEYS_RW = 2, SRV_KEYS_ACCESS = 16, SRV_KEYS_UPDATE = 32 };
enum { SRV_BEGIN_INDEX = 2, SRV_FIND_RANGE = 2, SRV_FIND_KEYNUM = 3 };
typedef struct RedisModuleCommandKeySpec {
    const char *notes;
    uint64_t flags;
    int begin;
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int from;
        } keyword;
    } bs;
    int find;
    union {
        struct {
            int last, step, limit;
        } range;
        struct {
            int number, first, step;
        } keynum;
    } fk;
} RedisModuleCommandKeySpec;
typedef struct RedisModuleCommandInfo {
    const RedisModuleCommandInfoVersion *version;
    const char *summary, *complexity, *since;
    void *history;
    const char *tips;
    int arity;
    RedisModuleCommandKeySpec *key_specs; /* ends with zeroes */
    void *args;
} RedisModuleCommandInfo;

typedef int (*RedisModuleCmdFunc)(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
typedef RedisModuleString *(*RedisModuleGetString)(const char *name, void *data);
typedef int (*RedisModuleSetString)(const char *name, RedisModuleString *value, void *data,
                                    RedisModuleString **err);
typedef long long (*RedisModuleGetNumber)(const char *name, void *data);
typedef int (*RedisModuleSetNumber)(const char *name, long long value, void *data,
                                    RedisModuleString **err);
typedef int (*RedisModuleGetBool)(const char *name, void *data);
typedef int (*RedisModuleSetBool)(const char *name, int value, void *data, RedisModuleString **err);
typedef int (*RedisModuleApply)(RedisModuleCtx *ctx, void *data, RedisModuleString **err);

/* FUNCTION(required, result, name, parameters) */
#define SRV_FUNCTIONS(FUNCTION)                                                                    \
    FUNCTION(1, void, SetModuleAttribs,                                                            \
             (RedisModuleCtx *, const char *name, int version, int api))                           \
    FUNCTION(1, int, IsModuleNameBusy, (const char *name))                                         \
    FUNCTION(1, int, CreateCommand,                                                                \
             (RedisModuleCtx *, const char *name, RedisModuleCmdFunc, const char *flags,           \
              int first, int last, int step))                                                      \
    FUNCTION(0, RedisModuleCommand *, GetCommand, (RedisModuleCtx *, const char *name))            \
    FUNCTION(0, int, SetCommandInfo, (RedisModuleCommand *, const RedisModuleCommandInfo *))       \
    FUNCTION(0, int, AddACLCategory, (RedisModuleCtx *, const char *category))                     \
    FUNCTION(0, int, SetCommandACLCategories, (RedisModuleCommand *, const char *categories))      \
    FUNCTION(1, RedisModuleType *, CreateDataType,                                                 \
             (RedisModuleCtx *, const char *name, int encver, RedisModuleTypeMethods *))           \
    FUNCTION(1, void, SetModuleOptions, (RedisModuleCtx *, int options))                           \
    FUNCTION(1, int, WrongArity, (RedisModuleCtx *))                                               \
    FUNCTION(1, void *, OpenKey, (RedisModuleCtx *, RedisModuleString * name, int mode))           \
    FUNCTION(1, void, CloseKey, (RedisModuleKey *))                                                \
    FUNCTION(1, int, KeyType, (RedisModuleKey *))                                                  \
    FUNCTION(1, RedisModuleType *, ModuleTypeGetType, (RedisModuleKey *))                          \
    FUNCTION(1, void *, ModuleTypeGetValue, (RedisModuleKey *))                                    \
    FUNCTION(1, int, ModuleTypeSetValue, (RedisModuleKey *, RedisModuleType *, void *value))       \
    FUNCTION(1, const char *, StringPtrLen, (const RedisModuleString *, size_t *len))              \
    FUNCTION(1, int, StringToLongLong, (const RedisModuleString *, long long *))                   \
    FUNCTION(1, int, StringToDouble, (const RedisModuleString *, double *))                        \
    FUNCTION(1, RedisModuleString *, CreateString, (RedisModuleCtx *, const char *, size_t))       \
    FUNCTION(1, void, FreeString, (RedisModuleCtx *, RedisModuleString *))                         \
    FUNCTION(1, int, ReplyWithError, (RedisModuleCtx *, const char *text))                         \
    FUNCTION(1, int, ReplyWithSimpleString, (RedisModuleCtx *, const char *text))                  \
    FUNCTION(1, int, ReplyWithLongLong, (RedisModuleCtx *, long long))                             \
    FUNCTION(1, int, ReplyWithDouble, (RedisModuleCtx *, double))                                  \
    FUNCTION(1, int, ReplyWithStringBuffer, (RedisModuleCtx *, const char *, size_t))              \
    FUNCTION(1, int, ReplyWithNull, (RedisModuleCtx *))                                            \
    FUNCTION(1, int, ReplyWithArray, (RedisModuleCtx *, long))                                     \
    FUNCTION(1, int, ReplyWithMap, (RedisModuleCtx *, long))                                       \
    FUNCTION(1, int, ReplyWithBool, (RedisModuleCtx *, int))                                       \
    FUNCTION(1, void, GetRandomBytes, (unsigned char *to, size_t n))                               \
    FUNCTION(1, int, ReplicateVerbatim, (RedisModuleCtx *))                                        \
    FUNCTION(1, int, Replicate, (RedisModuleCtx *, const char *command, const char *form, ...))    \
    FUNCTION(1, int, NotifyKeyspaceEvent,                                                          \
             (RedisModuleCtx *, int type, const char *event, RedisModuleString *key))              \
    FUNCTION(1, int, GetContextFlags, (RedisModuleCtx *))                                          \
    FUNCTION(1, long long, Milliseconds, (void))                                                   \
    FUNCTION(1, void *, Alloc, (size_t))                                                           \
    FUNCTION(1, void *, TryAlloc, (size_t))                                                        \
    FUNCTION(1, void *, Calloc, (size_t, size_t))                                                  \
    FUNCTION(0, void *, TryCalloc, (size_t, size_t))                                               \
    FUNCTION(1, void, Free, (void *))                                                              \
    FUNCTION(1, void *, DefragAlloc, (RedisModuleDefragCtx *, void *))                             \
    FUNCTION(1, void, SaveUnsigned, (RedisModuleIO *, uint64_t))                                   \
    FUNCTION(1, uint64_t, LoadUnsigned, (RedisModuleIO *))                                         \
    FUNCTION(1, void, SaveStringBuffer, (RedisModuleIO *, const char *, size_t))                   \
    FUNCTION(1, char *, LoadStringBuffer, (RedisModuleIO *, size_t *))                             \
    FUNCTION(1, int, IsIOError, (RedisModuleIO *))                                                 \
    FUNCTION(1, void, LogIOError, (RedisModuleIO *, const char *level, const char *form, ...))     \
    FUNCTION(1, void, EmitAOF, (RedisModuleIO *, const char *command, const char *form, ...))      \
    FUNCTION(1, void, DigestAddStringBuffer, (RedisModuleDigest *, const char *, size_t))          \
    FUNCTION(1, void, DigestEndSequence, (RedisModuleDigest *))                                    \
    FUNCTION(1, void, Log, (RedisModuleCtx *, const char *level, const char *form, ...))           \
    FUNCTION(1, int, RegisterInfoFunc, (RedisModuleCtx *, void (*)(RedisModuleInfoCtx *, int)))    \
    FUNCTION(1, int, InfoAddSection, (RedisModuleInfoCtx *, const char *name))                     \
    FUNCTION(1, int, InfoAddFieldULongLong,                                                        \
             (RedisModuleInfoCtx *, const char *field, unsigned long long))                        \
    FUNCTION(1, int, InfoAddFieldCString, (RedisModuleInfoCtx *, const char *field, const char *)) \
    FUNCTION(1, int, RegisterNumericConfig,                                                        \
             (RedisModuleCtx *, const char *name, long long dflt, unsigned flags, long long min,   \
              long long max, RedisModuleGetNumber, RedisModuleSetNumber, RedisModuleApply,         \
              void *))                                                                             \
    FUNCTION(1, int, RegisterBoolConfig,                                                           \
             (RedisModuleCtx *, const char *name, int dflt, unsigned flags, RedisModuleGetBool,    \
              RedisModuleSetBool, RedisModuleApply, void *))                                       \
    FUNCTION(1, int, RegisterStringConfig,                                                         \
             (RedisModuleCtx *, const char *name, const char *dflt, unsigned flags,                \
              RedisModuleGetString, RedisModuleSetString, RedisModuleApply, void *))               \
    FUNCTION(1, int, LoadConfigs, (RedisModuleCtx *))

#define SRV_DECLARE(required, result, name, parameters)                                            \
    extern result(*RedisModule_##name) parameters;
SRV_FUNCTIONS(SRV_DECLARE)
#undef SRV_DECLARE

/* Asks the server for all functions.  SRV_ERR if a required one is missing: *name says which. */
int server_connect(RedisModuleCtx *ctx, const char **name);
#endif
