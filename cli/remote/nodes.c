/* nodes.c - which server has a key, and what to do if it does not. */
#include "nodes.h"
#include "cli.h"
#include "io.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    NODES_PORT = 6379,
    NODES_GIVE_UP_SECONDS = 60,
    NODES_PAUSE_MS = 50,
    NODES_ALONE_SECONDS = 10 /* until late replicas are waited for again */
};
#define NODES_WAIT_MS "1000" /* that a replica may be late */
nodes_patience nodes_trouble;

/* ---- URLs. */

bool nodes_is_url(const char *text) {
    return strncmp(text, "redis://", 8) == 0 || strncmp(text, "rediss://", 9) == 0;
}

static void nodes_piece(const char *url, char *out, size_t cap, const char *from, size_t n) {
    if (n >= cap) cli_fail("%s: a part of this URL is too long", url);
    memcpy(out, from, n);
    out[n] = 0;
}

nodes_url nodes_parse(const char *text) {
    static const char form[] = "redis://[user:password@]host[:port]/name[?shards=N]";
    nodes_url u = {.port = NODES_PORT};
    if (!nodes_is_url(text)) cli_fail("%s: a server must be written as %s", text, form);
    if (text[5] == 's')
        cli_fail("%s: this command does not speak TLS: give redis:// and a tunnel's address (such "
                 "as stunnel's)",
                 text);
    const char *p = text + 8, *const slash = p + strcspn(p, "/");
    if (!slash[0] || !slash[1] || slash[1] == '?')
        cli_fail("%s: the name is missing: %s", text, form);
    const size_t user = strcspn(p, ":@/"), secret = strcspn(p, "@/");
    if (p[secret] == '@') {
        if (p[user] != ':') cli_fail("%s: the password is missing: %s", text, form);
        nodes_piece(text, u.user, sizeof u.user, p, user);
        nodes_piece(text, u.password, sizeof u.password, p + user + 1, secret - user - 1);
        p += secret + 1;
    }
    const size_t host = strcspn(p, ":/");
    nodes_piece(text, u.host, sizeof u.host, p, host);
    if (!u.host[0]) cli_fail("%s: the host is missing: %s", text, form);
    if (p[host] == ':') {
        char *end;
        const long port = strtol(p + host + 1, &end, 10);
        if (end != slash || port < 1 || port > 65535)
            cli_fail("%s: the port must be 1..65535", text);
        u.port = (int)port;
    }
    const char *const query = strchr(slash, '?');
    nodes_piece(text, u.name, sizeof u.name, slash + 1,
                query ? (size_t)(query - slash - 1) : strlen(slash + 1));
    if (strpbrk(u.name, "{} ")) cli_fail("%s: a name must not contain braces or blanks", text);
    if (query) {
        char *end;
        if (strncmp(query, "?shards=", 8) != 0)
            cli_fail("%s: only shards=N may follow the name", text);
        const long shards = strtol(query + 8, &end, 10);
        if (*end || shards < 1 || shards > 4096) cli_fail("%s: shards must be 1..4096", text);
        u.shards = (uint64_t)shards;
    }
    return u;
}

/* ---- Slots. */

/* CRC-16 with the polynomial 1021h, as clusters use it; of what is in braces, if anything is. */
unsigned nodes_slot(const char *key) {
    size_t n = strlen(key);
    const char *const open = strchr(key, '{'), *const close = open ? strchr(open, '}') : NULL;
    if (close && close > open + 1) {
        key = open + 1;
        n = (size_t)(close - open - 1);
    }
    unsigned crc = 0;
    for (size_t i = 0; i < n; i++) {
        crc ^= (unsigned)(unsigned char)key[i] << 8;
        for (int b = 0; b < 8; b++) crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
    }
    return (crc & 0xffff) % NODES_SLOTS;
}

size_t nodes_find(nodes *c, const char *host, int port) {
    for (size_t i = 0; i < c->n; i++)
        if (c->node[i]->port == port && strcmp(c->node[i]->host, host) == 0) return i;
    if (c->n == NODES_MAX) cli_fail("a cluster of more than %d nodes", NODES_MAX);
    c->node[c->n] = cli_alloc(sizeof **c->node);
    resp_init(c->node[c->n], host, port);
    return c->n++;
}

size_t nodes_owner(const nodes *c, const char *key) {
    return c->cluster ? c->owner[nodes_slot(key)] : 0;
}

bool nodes_ready(nodes *c, size_t node) {
    resp *const r = c->node[node];
    if (r->fd >= 0) return true;
    if (!resp_connect(r)) return false;
    if (!c->password[0]) return true;
    const char *const one[] = {"AUTH", c->password}, *const two[] = {"AUTH", c->user, c->password};
    reply p;
    if (c->user[0])
        resp_command(r, 3, two, NULL);
    else
        resp_command(r, 2, one, NULL);
    if (!resp_send(r) || !resp_read(r, &p)) return false;
    if (p.type == '-') cli_fail("%s:%d: %s", r->host, r->port, p.text);
    reply_free(&p);
    return true;
}

/* CLUSTER SLOTS: first slot, last slot, the primary, and replicas that are well; a node is its
 * host, its port, and more. */
static void nodes_learn(nodes *c, size_t from, const reply *p) {
    for (int i = 0; i < NODES_SLOTS; i++) c->owner[i] = NODES_MAX;
    memset(c->has_replica, 0, sizeof c->has_replica);
    for (size_t i = 0; i < p->n; i++) {
        const reply *const range = &p->item[i];
        if (range->n < 3 || range->item[2].n < 2) continue;
        const reply *const host = &range->item[2].item[0], *const port = &range->item[2].item[1];
        /* A node that does not know its own address is the one that we have asked. */
        const char *const name = host->text && host->len ? host->text : c->node[from]->host;
        const size_t node = nodes_find(c, name, (int)port->number);
        c->has_replica[node] = range->n > 3;
        for (long long s = range->item[0].number;
             s <= range->item[1].number && s >= 0 && s < NODES_SLOTS; s++)
            c->owner[s] = (uint16_t)node;
    }
}

bool nodes_refresh(nodes *c) {
    static const char *const slots[] = {"CLUSTER", "SLOTS"};
    const size_t known = c->n;
    if (!c->cluster) return nodes_ready(c, 0);
    for (size_t i = 0; i < known; i++) {
        resp *const r = c->node[i];
        reply p;
        if (!nodes_ready(c, i)) continue;
        resp_command(r, 2, slots, NULL);
        if (!resp_send(r) || !resp_read(r, &p)) continue;
        const bool good = p.type == '*' && p.n > 0;
        if (good) nodes_learn(c, i, &p);
        reply_free(&p);
        if (good) return true;
    }
    return false;
}

void nodes_open(nodes *c, const nodes_url *url) {
    static const char *const info[] = {"INFO", "cluster"};
    reply p;
    memset(c, 0, sizeof *c);
    snprintf(c->user, sizeof c->user, "%s", url->user);
    snprintf(c->password, sizeof c->password, "%s", url->password);
    resp *const r = c->node[nodes_find(c, url->host, url->port)];
    if (!nodes_ready(c, 0)) cli_fail("%s:%d: %s", r->host, r->port, r->why);
    resp_command(r, 2, info, NULL);
    if (!resp_send(r) || !resp_read(r, &p)) cli_fail("%s:%d: %s", r->host, r->port, r->why);
    if (p.type == '-') cli_fail("%s:%d: %s", r->host, r->port, p.text);
    c->cluster = p.text && strstr(p.text, "cluster_enabled:1");
    reply_free(&p);
    if (!nodes_refresh(c))
        cli_fail("%s:%d: the cluster does not say which nodes have its slots", r->host, r->port);
}

void nodes_close(nodes *c) {
    for (size_t i = 0; i < c->n; i++) {
        resp_close(c->node[i]);
        free(c->node[i]);
    }
    c->n = 0;
}

/* ---- Replicas. */

void nodes_wait_command(nodes *c, size_t node) {
    static const char *const wait[] = {"WAIT", "1", NODES_WAIT_MS};
    if (!c->has_replica[node] || c->alone_until[node] > now_seconds()) return;
    resp_command(c->node[node], 3, wait, NULL);
    c->waits[node] = true;
}

nodes_confirmed nodes_wait_answer(nodes *c, size_t node) {
    resp *const r = c->node[node];
    reply p;
    if (!c->waits[node]) return c->alone_until[node] > now_seconds() ? NODES_ALONE : NODES_SAFE;
    c->waits[node] = false;
    if (r->fd < 0 || !resp_read(r, &p)) return NODES_LOST;
    const bool safe = p.type == ':' && p.number > 0;
    if (!safe) {
        cli_warn("%s:%d: %s; going on without", r->host, r->port,
                 p.type == '-' ? p.text : "no replica has what was added");
        c->alone_until[node] = now_seconds() + NODES_ALONE_SECONDS;
    }
    reply_free(&p);
    return safe ? NODES_SAFE : NODES_ALONE;
}

/* ---- Trouble. */

nodes_verdict nodes_judge(nodes *c, const reply *p, size_t *to) {
    static const char *const later[] = {"CLUSTERDOWN", "TRYAGAIN",   "LOADING",
                                        "READONLY",    "MASTERDOWN", "BUSY "};
    if (p->type != '-') return NODES_FINE;
    const bool moved = reply_is_error(p, "MOVED ");
    if (moved || reply_is_error(p, "ASK ")) {
        char *const address = strrchr(p->text, ' ') + 1, *const colon = strrchr(address, ':');
        if (!colon) return NODES_REFUSED;
        *colon = 0;
        const long slot = strtol(strchr(p->text, ' '), NULL, 10);
        *to = nodes_find(c, *address ? address : c->node[0]->host, atoi(colon + 1));
        if (moved && slot >= 0 && slot < NODES_SLOTS) c->owner[slot] = (uint16_t)*to;
        return moved ? NODES_MOVED : NODES_ASK;
    }
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        if (reply_is_error(p, later[i])) return NODES_LATER;
    return NODES_REFUSED;
}

void nodes_wait(nodes_patience *p, const resp *who, const char *why) {
    const struct timespec pause = {.tv_nsec = NODES_PAUSE_MS * 1000000L};
    const double now = now_seconds();
    if (p->since == 0) {
        p->since = now;
        p->failures++;
        if (who)
            snprintf(p->who, sizeof p->who, "%s:%d: %s", who->host, who->port, why);
        else
            snprintf(p->who, sizeof p->who, "%s", why);
        cli_warn("%s; trying again", p->who);
    }
    if (now - p->since > NODES_GIVE_UP_SECONDS)
        cli_fail("%s; gave up after %d seconds", p->who, NODES_GIVE_UP_SECONDS);
    nanosleep(&pause, NULL);
}

void nodes_resume(nodes_patience *p) {
    if (p->since == 0) return;
    const double waited = now_seconds() - p->since;
    if (waited > p->longest) p->longest = waited;
    p->since = 0;
    cli_warn("going on after %.1f seconds", waited);
}

void nodes_do(nodes *c, const char *key, size_t n, const char *const *arg, const size_t *len,
              reply *out) {
    static const char *const asking[] = {"ASKING"};
    size_t to = NODES_MAX;
    bool ask = false;
    for (;;) {
        const size_t node = to < NODES_MAX ? to : nodes_owner(c, key);
        resp *const r = node < NODES_MAX ? c->node[node] : NULL;
        bool answered = r && nodes_ready(c, node);
        if (answered) {
            if (ask) resp_command(r, 1, asking, NULL);
            resp_command(r, n, arg, len);
            answered = resp_send(r) && (!ask || resp_read(r, out));
            if (answered && ask) reply_free(out);
            answered = answered && resp_read(r, out);
        }
        to = NODES_MAX;
        ask = false;
        if (answered) {
            const nodes_verdict v = nodes_judge(c, out, &to);
            if (v == NODES_FINE || v == NODES_REFUSED) break;
            ask = v == NODES_ASK;
            if (v == NODES_LATER) nodes_wait(&nodes_trouble, r, out->text);
            reply_free(out);
            if (v != NODES_LATER) continue;
        } else {
            nodes_wait(&nodes_trouble, r, r ? r->why : "a slot of the cluster has no node");
        }
        nodes_refresh(c);
    }
    nodes_resume(&nodes_trouble);
}
