/* resp.h - a connection to a Redis or Valkey server: commands out, replies in, in order.
 *
 * Commands are collected and sent together; replies are read one by one.  Nothing here ends the
 * program: a connection that fails is closed, and says why. */
#ifndef EVERBLOOM_RESP_H
#define EVERBLOOM_RESP_H
#include <stdbool.h>
#include <stddef.h>

enum { RESP_HOST = 256 };
typedef struct resp {
    char host[RESP_HOST];
    int port;
    int fd; /* -1: closed */
    char *out, *in;
    size_t out_len, out_cap, in_begin, in_end, in_cap;
    char why[200]; /* it was closed */
} resp;

/* '+' and '-' have text, '$' bytes (text NULL: none), ':' a number, '*' items. */
typedef struct reply {
    char type;
    long long number;
    char *text; /* ends with a zero byte */
    size_t len;
    struct reply *item;
    size_t n;
} reply;

void resp_init(resp *r, const char *host, int port);
bool resp_connect(resp *r);
void resp_close(resp *r);
void resp_command(resp *r, size_t n, const char *const *arg, const size_t *len); /* for later */
bool resp_send(resp *r);
bool resp_read(resp *r, reply *out); /* false: closed; *out is empty then */
void reply_free(reply *p);
bool reply_is_error(const reply *p, const char *code); /* begins with that word */
#endif
