/* server.c - the functions of the server, asked for by name. */
#include "server.h"
#include <string.h>

#define SRV_DEFINE(required, result, name, parameters) result(*RedisModule_##name) parameters;
SRV_FUNCTIONS(SRV_DEFINE)

/* A context begins with the function that finds the others. */
typedef int (*server_get)(const char *name, void *where);

int server_connect(RedisModuleCtx *ctx, const char **name) {
    server_get get;
    memcpy(&get, ctx, sizeof get);
#define SRV_FETCH(required, result, function, parameters)                                          \
    *name = #function;                                                                             \
    if (get("RedisModule_" #function, (void *)&RedisModule_##function) != SRV_OK && (required))    \
        return SRV_ERR;
    SRV_FUNCTIONS(SRV_FETCH)
    return SRV_OK;
}
