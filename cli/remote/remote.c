/* remote.c - one filter on a server, or spread over a cluster: packed hashes out, bits back.
 *
 * The keys of a batch go to all shards at once: first all commands are sent, then all answers are
 * read.  A shard whose node fails, or has moved, gets its part again until it answers; the others
 * are not asked twice. */
#include "remote.h"
#include "parts/filterfile.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REMOTE_CLUSTER_SHARDS = 16, REMOTE_KEY = 300, HASH_BYTES = 8 };

typedef struct remote_shard {
    char key[REMOTE_KEY];
    char *packed;    /* hashes of this batch */
    uint32_t *index; /* where they stand in it */
    size_t n, cap, index_cap;
    size_t node; /* that was asked */
    size_t to;   /* NODES_MAX: the slot's owner */
    bool ask, sent, done, again;
} remote_shard;

/* ---- Which filters. */

/* Bits that filters do not use alone: a shard must not look to its filter like a part of all
 * hashes. */
static size_t remote_shard_of(const remote *r, eb_hash h) {
    h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 32) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((h >> 32) * r->shards >> 32);
}

static void remote_name_shards(remote *r) {
    r->shard = calloc(r->shards, sizeof *r->shard);
    if (!r->shard) cli_fail("not enough memory");
    for (size_t i = 0; i < r->shards; i++)
        if (r->shards == 1 && !r->nodes.cluster)
            snprintf(r->shard[i].key, REMOTE_KEY, "%s", r->url.name);
        else
            snprintf(r->shard[i].key, REMOTE_KEY, "{%s:%zu}", r->url.name, i);
}

static void remote_agreement_key(const remote *r, char *key) {
    snprintf(key, REMOTE_KEY, "{%s:0}:everbloom", r->url.name);
}

static void remote_make_hasher(remote *r) {
    static const char *const shared[] = {"seed", "hash", "secret", "keys"};
    char spec[EB_SPEC_MAX] = "bloom:memory=1K", value[EB_SPEC_MAX];
    eb_error err;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (eb_spec_get(r->spec, shared[i], value, sizeof value, NULL, NULL) == EB_OK && value[0] &&
            eb_spec_set(spec, shared[i], value, spec, sizeof spec, &err) != EB_OK)
            cli_fail("%s: %s", r->url.name, err.text);
    if (strncmp(r->spec, "dyadic", 6) == 0)
        cli_fail("%s: the keys of this filter are numbers, not text", r->url.name);
    if (eb_new(&r->hasher, spec, NULL, &err) != EB_OK) cli_fail("%s: %s", r->url.name, err.text);
}

/* The spec of each of so many shards: the same wishes, with a part of the memory. */
static void remote_divide(remote *r, const char *whole) {
    eb_spec_info info;
    eb_error err;
    char part[2 * EB_SPEC_MAX];
    EB_INIT(info);
    if (eb_spec_describe(whole, &info, &err) != EB_OK) cli_fail("%s", err.text);
    if (r->shards > 1) {
        if (strstr(info.canonical, "unit=records"))
            cli_fail("a window of lines cannot be spread over a cluster: give --window a time");
        size_t n = strcspn(whole, ":");
        memcpy(part, whole, n);
        n += (size_t)snprintf(part + n, sizeof part - n, ":memory=%llu",
                              (unsigned long long)(info.bytes / r->shards + 1024));
        for (const char *p = strchr(whole, ':'); p; p = strchr(p + 1, ','))
            if (strncmp(p + 1, "memory=", 7) != 0 && strncmp(p + 1, "cells=", 6) != 0 && p[1])
                n += (size_t)snprintf(part + n, sizeof part - n, ",%.*s", (int)strcspn(p + 1, ","),
                                      p + 1);
        if (eb_spec_describe(part, &info, &err) != EB_OK) cli_fail("%s", err.text);
    }
    snprintf(r->spec, sizeof r->spec, "%s", info.canonical);
}

static bool remote_is_missing(const reply *p) {
    return p->type == '-' && strstr(p->text, "no filter under this key");
}

/* The spec of the filter under a key; false: there is none. */
static bool remote_ask_spec(remote *r, const char *key, char *spec) {
    const char *const info[] = {"EB.INFO", key};
    reply p;
    nodes_do(&r->nodes, key, 2, info, NULL, &p);
    if (remote_is_missing(&p)) {
        reply_free(&p);
        return false;
    }
    if (reply_is_error(&p, "ERR unknown command"))
        cli_fail("%s: this server has not loaded the module everbloom", r->url.host);
    if (p.type == '-') cli_fail("%s: %s", key, p.text);
    spec[0] = 0;
    for (size_t i = 0; i + 1 < p.n; i += 2)
        if (p.item[i].text && strcmp(p.item[i].text, "spec") == 0 && p.item[i + 1].text)
            snprintf(spec, EB_SPEC_MAX, "%s", p.item[i + 1].text);
    reply_free(&p);
    if (!spec[0]) cli_fail("%s: the server does not say what this filter is", key);
    return true;
}

static void remote_reserve(remote *r, const char *key) {
    const char *const reserve[] = {"EB.RESERVE", key, r->spec};
    reply p;
    nodes_do(&r->nodes, key, 3, reserve, NULL, &p);
    if (p.type == '-' && !strstr(p.text, "item exists")) cli_fail("%s: %s", key, p.text);
    reply_free(&p);
}

/* "S spec": what all writers agree on.  False: nobody has said it. */
static bool remote_read_agreement(remote *r) {
    char key[REMOTE_KEY];
    remote_agreement_key(r, key);
    const char *const get[] = {"GET", key};
    reply p;
    nodes_do(&r->nodes, key, 2, get, NULL, &p);
    if (p.type == '-') cli_fail("%s: %s", key, p.text);
    const bool there = p.text != NULL;
    if (there) {
        char *end;
        const unsigned long shards = strtoul(p.text, &end, 10);
        if (*end != ' ' || shards < 1 || shards > 4096)
            cli_fail("%s: this is not a filter of ours", key);
        r->shards = shards;
        snprintf(r->spec, sizeof r->spec, "%s", end + 1);
    }
    reply_free(&p);
    return there;
}

static void remote_write_agreement(remote *r) {
    char key[REMOTE_KEY], text[EB_SPEC_MAX + 16];
    remote_agreement_key(r, key);
    snprintf(text, sizeof text, "%zu %s", r->shards, r->spec);
    const char *const set[] = {"SET", key, text, "NX"};
    reply p;
    nodes_do(&r->nodes, key, 4, set, NULL, &p);
    if (p.type == '-') cli_fail("%s: %s", key, p.text);
    reply_free(&p);
    if (!remote_read_agreement(r)) cli_fail("%s: was written and is not there", key);
}

void remote_open(remote *r, const char *url, const char *spec) {
    *r = (remote){.url = nodes_parse(url)};
    nodes_open(&r->nodes, &r->url);
    const bool spread = r->nodes.cluster || r->url.shards > 1;
    r->shards = r->url.shards ? r->url.shards : r->nodes.cluster ? REMOTE_CLUSTER_SHARDS : 1;
    if (spread) {
        if (!remote_read_agreement(r)) {
            if (!spec) cli_fail("%s: there is no such filter", url);
            remote_divide(r, spec);
            remote_write_agreement(r);
        }
        remote_name_shards(r);
        for (size_t i = 0; spec && i < r->shards; i++) remote_reserve(r, r->shard[i].key);
    } else {
        remote_name_shards(r);
        if (!remote_ask_spec(r, r->url.name, r->spec)) {
            if (!spec) cli_fail("%s: there is no such filter", url);
            remote_divide(r, spec);
            remote_reserve(r, r->url.name);
            remote_ask_spec(r, r->url.name, r->spec); /* another writer may have been first */
        }
    }
    remote_make_hasher(r);
}

void remote_close(remote *r) {
    for (size_t i = 0; i < r->shards && r->shard; i++) {
        free(r->shard[i].packed);
        free(r->shard[i].index);
    }
    free(r->shard);
    eb_free(r->hasher);
    nodes_close(&r->nodes);
}

void remote_hash(const remote *r, const eb_key *key, size_t n, eb_hash *out) {
    hash_keys(r->hasher, key, n, out);
}

/* ---- Batches. */

static void remote_deal(remote *r, const eb_hash *hash, size_t n) {
    for (size_t i = 0; i < r->shards; i++) r->shard[i].n = 0;
    for (size_t i = 0; i < n; i++) {
        remote_shard *const s = &r->shard[r->shards == 1 ? 0 : remote_shard_of(r, hash[i])];
        s->packed = cli_grow(s->packed, &s->cap, (s->n + 1) * HASH_BYTES);
        s->index = cli_grow(s->index, &s->index_cap, (s->n + 1) * sizeof *s->index);
        for (int b = 0; b < HASH_BYTES; b++)
            s->packed[s->n * HASH_BYTES + (size_t)b] = (char)(hash[i] >> 8 * b);
        s->index[s->n++] = (uint32_t)i;
    }
    for (size_t i = 0; i < r->shards; i++) {
        remote_shard *const s = &r->shard[i];
        s->done = s->n == 0;
        s->ask = s->again = false;
        s->to = NODES_MAX;
    }
}

static void remote_send(remote *r, remote_verb verb) {
    static const char *const word[] = {"EB.HADD", "EB.HEXISTS", "EB.HCOUNT"}, *const asking[] = {
                                                                                  "ASKING"};
    for (size_t i = 0; i < r->shards; i++) {
        remote_shard *const s = &r->shard[i];
        s->sent = false;
        if (s->done) continue;
        s->node = s->to < NODES_MAX ? s->to : nodes_owner(&r->nodes, s->key);
        if (s->node == NODES_MAX || !nodes_ready(&r->nodes, s->node)) continue;
        const char *const arg[] = {word[verb], s->key, s->packed};
        const size_t len[] = {strlen(arg[0]), strlen(arg[1]), s->n * HASH_BYTES};
        if (s->ask) resp_command(r->nodes.node[s->node], 1, asking, NULL);
        resp_command(r->nodes.node[s->node], 3, arg, len);
        s->sent = true;
    }
    for (size_t i = 0; i < r->nodes.n; i++)
        if (r->nodes.node[i]->fd >= 0 && r->nodes.node[i]->out_len > 0) resp_send(r->nodes.node[i]);
}

static void remote_take(const remote_shard *s, remote_verb verb, const reply *p, uint8_t *seen,
                        double *count, uint8_t *again) {
    const size_t wanted = verb == REMOTE_COUNT ? s->n * sizeof(double) : (s->n + 7) / 8;
    if (p->type != '$' || !p->text || p->len != wanted)
        cli_fail("%s: an answer of the wrong length", s->key);
    for (size_t i = 0; i < s->n; i++) {
        const size_t at = s->index[i];
        const bool bit = verb != REMOTE_COUNT && (p->text[i / 8] >> i % 8 & 1);
        if (verb == REMOTE_COUNT)
            memcpy(&count[at], p->text + i * sizeof(double), sizeof(double));
        else
            seen[at] = verb == REMOTE_ADD ? !bit : bit;
        if (again) again[at] = s->again;
    }
}

void remote_do(remote *r, remote_verb verb, const eb_hash *hash, size_t n, uint8_t *seen,
               double *count, uint8_t *again) {
    size_t left = 0;
    remote_deal(r, hash, n);
    for (size_t i = 0; i < r->shards; i++) left += !r->shard[i].done;
    r->keys += n;
    while (left > 0) {
        const resp *broken = NULL;
        char why[200] = "";
        remote_send(r, verb);
        for (size_t i = 0; i < r->shards; i++) {
            remote_shard *const s = &r->shard[i];
            if (s->done) continue;
            resp *const node = s->node < NODES_MAX ? r->nodes.node[s->node] : NULL;
            const bool asked = s->ask;
            reply p = {0};
            bool answered = s->sent && node->fd >= 0;
            if (answered && asked) {
                answered = resp_read(node, &p);
                reply_free(&p);
            }
            answered = answered && resp_read(node, &p);
            s->to = NODES_MAX;
            s->ask = false;
            if (!answered) {
                if (s->sent && !s->again) r->again += s->n;
                s->again |= s->sent; /* it may have been added */
                broken = node;
                snprintf(why, sizeof why, "%s",
                         node ? node->why : "a slot of the cluster has no node");
                continue;
            }
            const nodes_verdict v = nodes_judge(&r->nodes, &p, &s->to);
            if (v == NODES_FINE) {
                remote_take(s, verb, &p, seen, count, again);
                s->done = true;
                left--;
            } else if (v == NODES_REFUSED) {
                cli_fail("%s: %s", s->key, p.text);
            } else if (v == NODES_LATER) {
                broken = node;
                snprintf(why, sizeof why, "%s", p.text);
            }
            s->ask = v == NODES_ASK;
            reply_free(&p);
        }
        if (why[0]) {
            nodes_wait(&nodes_trouble, broken, why);
            nodes_refresh(&r->nodes);
        }
    }
    nodes_resume(&nodes_trouble);
}
