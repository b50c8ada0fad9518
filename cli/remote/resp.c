/* resp.c - the protocol of Redis and Valkey, version 2, over a socket. */
#include "resp.h"
#include "cli.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { RESP_TIMEOUT_SECONDS = 10, RESP_READ = 1 << 16, RESP_DEPTH = 8, RESP_ITEMS = 1 << 22 };
static const long long resp_most_bytes = 1LL << 32; /* of one reply: more is no reply of ours */

void resp_init(resp *r, const char *host, int port) {
    *r = (resp){.port = port, .fd = -1};
    snprintf(r->host, sizeof r->host, "%s", host);
}

static void resp_drop(resp *r) {
    if (r->fd >= 0) close(r->fd);
    r->fd = -1;
    r->out_len = r->in_begin = r->in_end = 0;
}

static bool resp_fail(resp *r, const char *why) {
    snprintf(r->why, sizeof r->why, "%s", why);
    resp_drop(r);
    return false;
}

void resp_close(resp *r) {
    resp_drop(r);
    free(r->out);
    free(r->in);
    r->out = r->in = NULL;
    r->out_cap = r->in_cap = 0;
}

bool resp_connect(resp *r) {
    char port[16];
    const struct addrinfo hint = {.ai_socktype = SOCK_STREAM};
    const struct timeval limit = {.tv_sec = RESP_TIMEOUT_SECONDS};
    const int yes = 1;
    struct addrinfo *list;
    if (r->fd >= 0) return true;
    snprintf(port, sizeof port, "%d", r->port);
    const int got = getaddrinfo(r->host, port, &hint, &list);
    if (got != 0) return resp_fail(r, gai_strerror(got));
    int error = ECONNREFUSED;
    for (const struct addrinfo *a = list; a && r->fd < 0; a = a->ai_next) {
        r->fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (r->fd < 0) continue;
        setsockopt(r->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        setsockopt(r->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        setsockopt(r->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (connect(r->fd, a->ai_addr, a->ai_addrlen) == 0) break;
        error = errno;
        close(r->fd);
        r->fd = -1;
    }
    freeaddrinfo(list);
    return r->fd >= 0 || resp_fail(r, strerror(error));
}

static void resp_put(resp *r, const char *bytes, size_t n) {
    r->out = cli_grow(r->out, &r->out_cap, r->out_len + n);
    memcpy(r->out + r->out_len, bytes, n);
    r->out_len += n;
}

static void resp_put_length(resp *r, char type, size_t n) {
    char text[32];
    const int len = snprintf(text, sizeof text, "%c%zu\r\n", type, n);
    resp_put(r, text, (size_t)len);
}

void resp_command(resp *r, size_t n, const char *const *arg, const size_t *len) {
    resp_put_length(r, '*', n);
    for (size_t i = 0; i < n; i++) {
        const size_t bytes = len ? len[i] : strlen(arg[i]);
        resp_put_length(r, '$', bytes);
        resp_put(r, arg[i], bytes);
        resp_put(r, "\r\n", 2);
    }
}

/* Reads what is there, so that a server that waits for us to read goes on. */
static bool resp_fill(resp *r, int flags) {
    if (r->in_begin == r->in_end) r->in_begin = r->in_end = 0;
    if (r->in_begin > 0) {
        memmove(r->in, r->in + r->in_begin, r->in_end - r->in_begin);
        r->in_end -= r->in_begin;
        r->in_begin = 0;
    }
    r->in = cli_grow(r->in, &r->in_cap, r->in_end + RESP_READ);
    for (;;) {
        const ssize_t got = recv(r->fd, r->in + r->in_end, r->in_cap - r->in_end, flags);
        if (got > 0) {
            r->in_end += (size_t)got;
            return true;
        }
        if (got == 0) return resp_fail(r, "the server closed the connection");
        if (errno == EINTR) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            return flags & MSG_DONTWAIT ? true : resp_fail(r, "no answer in 10 seconds");
        return resp_fail(r, strerror(errno));
    }
}

bool resp_send(resp *r) {
    size_t at = 0;
    if (r->fd < 0) return false;
    while (at < r->out_len) {
        struct pollfd p = {.fd = r->fd, .events = POLLIN | POLLOUT};
        const int ready = poll(&p, 1, RESP_TIMEOUT_SECONDS * 1000);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return resp_fail(r, "no answer in 10 seconds");
        if (p.revents & POLLIN && !resp_fill(r, MSG_DONTWAIT)) return false;
        if (!(p.revents & POLLOUT)) {
            if (p.revents & (POLLERR | POLLHUP) && !(p.revents & POLLIN))
                return resp_fail(r, "the connection broke");
            continue;
        }
        const ssize_t sent = send(r->fd, r->out + at, r->out_len - at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0)
            at += (size_t)sent;
        else if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
            return resp_fail(r, strerror(errno));
    }
    r->out_len = 0;
    return true;
}

/* The line that begins at in_begin, without its end; NULL: closed. */
static bool resp_line(resp *r, char *text, size_t cap, size_t *len) {
    for (size_t look = 0;;) {
        const size_t have = r->in_end - r->in_begin;
        const char *const begin = r->in + r->in_begin;
        const char *const end = have > look ? memchr(begin + look, '\n', have - look) : NULL;
        if (end) {
            *len = (size_t)(end - begin);
            if (*len == 0 || begin[*len - 1] != '\r' || *len >= cap)
                return resp_fail(r, "this is no answer of a Redis or Valkey server");
            memcpy(text, begin, *len);
            text[--*len] = 0;
            r->in_begin += *len + 2;
            return true;
        }
        if (have >= cap) return resp_fail(r, "this is no answer of a Redis or Valkey server");
        look = have;
        if (!resp_fill(r, 0)) return false;
    }
}

static bool resp_bytes(resp *r, reply *out, size_t n) {
    while (r->in_end - r->in_begin < n + 2)
        if (!resp_fill(r, 0)) return false;
    out->text = cli_alloc(n + 1);
    memcpy(out->text, r->in + r->in_begin, n);
    out->text[n] = 0;
    out->len = n;
    r->in_begin += n + 2;
    return true;
}

static bool resp_parse(resp *r, reply *out, int depth) {
    char line[1024];
    size_t len = 0;
    *out = (reply){0};
    if (!resp_line(r, line, sizeof line, &len) || len == 0) return false;
    out->type = line[0];
    if (line[0] == '+' || line[0] == '-') {
        out->text = cli_alloc(len);
        memcpy(out->text, line + 1, len);
        out->len = len - 1;
        return true;
    }
    char *end;
    out->number = strtoll(line + 1, &end, 10);
    if (*end || end == line + 1 || out->number > resp_most_bytes)
        return resp_fail(r, "this is no answer of a Redis or Valkey server");
    if (line[0] == ':') return true;
    if (line[0] == '$') return out->number < 0 || resp_bytes(r, out, (size_t)out->number);
    if (line[0] != '*' || depth == 0 || out->number > RESP_ITEMS)
        return resp_fail(r, "this is no answer of a Redis or Valkey server");
    if (out->number <= 0) return true;
    out->item = cli_alloc((size_t)out->number * sizeof *out->item);
    while (out->n < (size_t)out->number)
        if (!resp_parse(r, &out->item[out->n++], depth - 1)) return false;
    return true;
}

bool resp_read(resp *r, reply *out) {
    *out = (reply){0};
    if (r->fd >= 0 && resp_parse(r, out, RESP_DEPTH)) return true;
    reply_free(out);
    return false;
}

void reply_free(reply *p) {
    for (size_t i = 0; i < p->n; i++) reply_free(&p->item[i]);
    free(p->item);
    free(p->text);
    *p = (reply){0};
}

bool reply_is_error(const reply *p, const char *code) {
    const size_t n = strlen(code);
    return p->type == '-' && strncmp(p->text, code, n) == 0;
}
