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
    size_t node;   /* that was asked */
    size_t to;     /* NODES_MAX: the slot's owner */
    bool ask;      /* it said: ask that one this time */
    bool sent;     /* in this round */
    bool answered; /* in this round */
    bool taken;    /* an answer is in the batch; if it is sent again, only to be sure */
    bool done, again;
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

static void remote_drop(char spec[2 * EB_SPEC_MAX], const char *key) {
    (void)eb_spec_set(spec, key, NULL, spec, 2 * EB_SPEC_MAX, NULL); /* not there: all is well */
}

/* A shard's part of an amount. */
static void remote_share(const remote *r, char spec[2 * EB_SPEC_MAX], const char *key, double whole,
                         double more) {
    char text[32];
    eb_error err;
    snprintf(text, sizeof text, "%.0f", ceil(whole / (double)r->shards + more));
    if (eb_spec_set(spec, key, text, spec, 2 * EB_SPEC_MAX, &err) != EB_OK)
        cli_fail("%s", err.text);
}

/* The spec of each of so many shards: the same wishes, with a part of the memory, and of what else
 * is an amount: of keys, or of bytes for them, which do not spread quite evenly. */
static void remote_divide(remote *r, const char *whole) {
    static const char *const amounts[] = {"list", "limit", "distinct", "items"};
    eb_spec_info info;
    eb_error err;
    EB_INIT(info);
    if (eb_spec_describe(whole, &info, &err) != EB_OK) cli_fail("%s", err.text);
    if (r->shards > 1) {
        if (strstr(info.canonical, "unit=records"))
            cli_fail("a window of lines cannot be spread over a cluster: give --window a time");
        char part[2 * EB_SPEC_MAX];
        snprintf(part, sizeof part, "%s", whole);
        remote_drop(part, "cells");
        remote_share(r, part, "memory", (double)info.bytes, 1024);
        for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
            double amount;
            if (eb_spec_get(whole, amounts[i], NULL, 0, &amount, NULL) == EB_OK && amount > 0)
                remote_share(r, part, amounts[i], amount, 4 * sqrt(amount / (double)r->shards));
        }
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
            cli_fail("%s: this is not an everbloom filter", key);
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
    if (!remote_read_agreement(r)) cli_fail("%s: was written but is not there", key);
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

static void remote_deal(remote *r, const remote_batch *b) {
    for (size_t i = 0; i < r->shards; i++) r->shard[i].n = 0;
    for (size_t i = 0; i < b->n; i++) {
        remote_shard *const s = &r->shard[r->shards == 1 ? 0 : remote_shard_of(r, b->hash[i])];
        s->packed = cli_grow(s->packed, &s->cap, (s->n + 1) * HASH_BYTES);
        s->index = cli_grow(s->index, &s->index_cap, (s->n + 1) * sizeof *s->index);
        for (int byte = 0; byte < HASH_BYTES; byte++)
            s->packed[s->n * HASH_BYTES + (size_t)byte] = (char)(b->hash[i] >> 8 * byte);
        s->index[s->n++] = (uint32_t)i;
    }
    for (size_t i = 0; i < r->shards; i++) {
        remote_shard *const s = &r->shard[i];
        s->done = s->n == 0;
        s->ask = s->again = s->taken = false;
        s->to = NODES_MAX;
    }
}

typedef struct remote_weight {
    char text[24];
} remote_weight;

/* EB.MADD key item ..., or with weights EB.INSERT key WEIGHTS ITEMS item weight ... */
static void remote_command_list(const remote_shard *s, const remote_batch *b, resp *node) {
    enum { WORDS = 4 };
    const size_t each = b->value ? 2 : 1;
    const char **const arg = cli_alloc((WORDS + 2 * s->n) * sizeof *arg);
    size_t *const len = cli_alloc((WORDS + 2 * s->n) * sizeof *len), n = 0;
    remote_weight *const weight = cli_alloc((s->n + 1) * sizeof *weight);
    arg[n++] = b->value ? "EB.INSERT" : "EB.MADD";
    arg[n++] = s->key;
    if (b->value) {
        arg[n++] = "WEIGHTS";
        arg[n++] = "ITEMS";
    }
    for (size_t i = 0; i < n; i++) len[i] = strlen(arg[i]);
    for (size_t i = 0; i < s->n; i++, n += each) {
        const size_t at = s->index[i];
        arg[n] = b->key[at].p;
        len[n] = b->key[at].len;
        if (!b->value) continue;
        arg[n + 1] = weight[i].text;
        len[n + 1] = (size_t)snprintf(weight[i].text, sizeof weight[i].text, "%llu",
                                      (unsigned long long)b->value[at]);
    }
    resp_command(node, n, arg, len);
    free(weight);
    free(len);
    free(arg);
}

static void remote_command(const remote_shard *s, const remote_batch *b, resp *node) {
    static const char *const word[] = {"EB.HADD", "EB.HEXISTS", "EB.HCOUNT"}, *const asking[] = {
                                                                                  "ASKING"};
    if (s->ask) resp_command(node, 1, asking, NULL);
    if (b->verb == REMOTE_LIST) {
        remote_command_list(s, b, node);
        return;
    }
    const char *const arg[] = {word[b->verb], s->key, s->packed};
    const size_t len[] = {strlen(arg[0]), strlen(arg[1]), s->n * HASH_BYTES};
    resp_command(node, 3, arg, len);
}

static bool remote_adds(const remote_batch *b) {
    return b->verb == REMOTE_ADD || b->verb == REMOTE_LIST;
}

static void remote_send(remote *r, const remote_batch *b) {
    for (size_t i = 0; i < r->shards; i++) {
        remote_shard *const s = &r->shard[i];
        s->sent = s->answered = false;
        if (s->done) continue;
        s->node = s->to < NODES_MAX ? s->to : nodes_owner(&r->nodes, s->key);
        if (s->node == NODES_MAX || !nodes_ready(&r->nodes, s->node)) continue;
        remote_command(s, b, r->nodes.node[s->node]);
        s->sent = true;
    }
    for (size_t i = 0; i < r->nodes.n; i++) {
        resp *const node = r->nodes.node[i];
        r->nodes.waits[i] = false;
        if (node->fd < 0 || node->out_len == 0) continue;
        if (remote_adds(b)) nodes_wait_command(&r->nodes, i);
        resp_send(node);
    }
}

static void remote_take_list(const remote_shard *s, const reply *p) {
    if (p->type != '*' || p->n != s->n) cli_fail("%s: unexpected answer: wrong length", s->key);
    for (size_t i = 0; i < p->n; i++)
        if (p->item[i].type == '-') cli_fail("%s: %s", s->key, p->item[i].text);
}

static void remote_take(const remote_shard *s, const remote_batch *b, const reply *p) {
    const size_t wanted = b->verb == REMOTE_COUNT ? s->n * sizeof(double) : (s->n + 7) / 8;
    if (b->verb == REMOTE_LIST) {
        remote_take_list(s, p);
        return;
    }
    if (p->type != '$' || !p->text || p->len != wanted)
        cli_fail("%s: unexpected answer: wrong length", s->key);
    for (size_t i = 0; i < s->n; i++) {
        const size_t at = s->index[i];
        const bool bit = b->verb != REMOTE_COUNT && (p->text[i / 8] >> i % 8 & 1);
        if (b->verb == REMOTE_COUNT)
            memcpy(&b->count[at], p->text + i * sizeof(double), sizeof(double));
        else
            b->seen[at] = b->verb == REMOTE_ADD ? !bit : bit;
        if (b->again) b->again[at] = s->again;
    }
}

/* Reads the answer for a shard.  False: there is trouble, as `why` says. */
static bool remote_read(remote *r, remote_shard *s, const remote_batch *b, char *why, size_t cap) {
    resp *const node = s->node < NODES_MAX ? r->nodes.node[s->node] : NULL;
    reply p = {0};
    bool came = s->sent && node->fd >= 0;
    if (came && s->ask) {
        came = resp_read(node, &p);
        reply_free(&p);
    }
    came = came && resp_read(node, &p);
    s->to = NODES_MAX;
    s->ask = false;
    if (!came) {
        if (s->sent && !s->again) r->again += s->n;
        s->again |= s->sent; /* it may have been added */
        snprintf(why, cap, "%s", node ? node->why : "a slot of the cluster has no node");
        return false;
    }
    const nodes_verdict v = nodes_judge(&r->nodes, &p, &s->to);
    if (v == NODES_REFUSED) cli_fail("%s: %s", s->key, p.text);
    if (v == NODES_LATER) snprintf(why, cap, "%s", p.text);
    s->answered = v == NODES_FINE;
    s->ask = v == NODES_ASK;
    if (s->answered && !s->taken) remote_take(s, b, &p);
    s->taken |= s->answered;
    reply_free(&p);
    return v != NODES_LATER;
}

/* Shards that were answered, and whose node's replica has them too, are done. */
static bool remote_confirm(remote *r, size_t *left, const resp **broken, char *why, size_t cap) {
    bool all = true;
    for (size_t node = 0; node < r->nodes.n; node++) {
        const nodes_confirmed c = nodes_wait_answer(&r->nodes, node);
        if (c == NODES_LOST) {
            all = false;
            *broken = r->nodes.node[node];
            snprintf(why, cap, "%s", r->nodes.node[node]->why);
        }
        for (size_t i = 0; i < r->shards; i++) {
            remote_shard *const s = &r->shard[i];
            if (!s->answered || s->node != node) continue;
            if (c == NODES_LOST) {
                r->again += s->n;
                continue;
            }
            if (c == NODES_ALONE) r->unconfirmed += s->n;
            s->done = true;
            --*left;
        }
    }
    return all;
}

void remote_do(remote *r, const remote_batch *b) {
    size_t left = 0;
    remote_deal(r, b);
    for (size_t i = 0; i < r->shards; i++) left += !r->shard[i].done;
    while (left > 0) {
        const resp *broken = NULL;
        char why[200] = "";
        remote_send(r, b);
        for (size_t i = 0; i < r->shards; i++) {
            remote_shard *const s = &r->shard[i];
            if (!s->done && !remote_read(r, s, b, why, sizeof why))
                broken = s->node < NODES_MAX ? r->nodes.node[s->node] : NULL;
        }
        if (!remote_confirm(r, &left, &broken, why, sizeof why) || why[0]) {
            nodes_wait(&nodes_trouble, broken, why);
            nodes_refresh(&r->nodes);
        }
    }
    nodes_resume(&nodes_trouble);
}

/* ---- Lists. */

void remote_top(remote *r, size_t shard, uint64_t most, double at_least, reply *out) {
    const char *const key = r->shard[shard].key;
    char n[24], least[40];
    snprintf(n, sizeof n, "%llu", (unsigned long long)most);
    snprintf(least, sizeof least, "%.17g", at_least);
    const char *const top[] = {"EB.TOP", key, n, least};
    nodes_do(&r->nodes, key, 4, top, NULL, out);
    if (out->type == '-') cli_fail("%s: %s", key, out->text);
    if (out->type != '*' || out->n % 3 != 1) cli_fail("%s: unexpected answer: not a list", key);
}
