/* commands.c - dedup, test and count with --redis, and copy. */
#include "commands.h"
#include "parts/filterfile.h"
#include "parts/stream.h"
#include "remote.h"
#include <everbloom/query.h>
#include <string.h>

/* ---- Lines through a filter on a server: the stream's loop, with hashing and looking up over
 * there. */

static void commands_hash(const stream *s, size_t n, eb_hash *out) {
    remote_hash(s->ctx, s->key, n, out);
}

/* A line that was sent twice may be a repeat of itself: it counts as new, so that none is lost. */
static void commands_add(stream *s, const eb_batch *b) {
    uint8_t again[STREAM_BATCH];
    remote_do(s->ctx, REMOTE_ADD, b->hash, b->n, s->hit, NULL, again);
    for (size_t i = 0; i < b->n; i++) s->hit[i] = (uint8_t)(s->hit[i] && !again[i]);
}

static void commands_ask(stream *s, const eb_batch *b) {
    remote_do(s->ctx, REMOTE_ASK, b->hash, b->n, s->hit, NULL, NULL);
}

static void commands_refuse(const cli_command *c, const settings *set) {
    if (set->state) cli_misuse(c, "--redis and --state: give one of them");
    if (set->importance_field.n || set->weight_field.n || set->time_field.n)
        cli_misuse(
            c, "--redis takes no importance, weights or times of lines: the server's clock counts");
}

static void commands_stats(const stream *s, const remote *r) {
    report out;
    if (!s->set->stats && !s->set->json) return;
    report_begin(&out, stderr, s->set->json);
    report_count(&out, "lines", "lines", s->lines);
    report_count(&out, "unique", "unique", s->lines - s->seen - s->bad.lines);
    report_count(&out, "duplicates", "duplicates", s->seen);
    report_count(&out, "bad_lines", "bad lines", s->bad.lines);
    report_real(&out, "seconds", "seconds", now_seconds() - s->start);
    report_text(&out, "filter", "filter", r->spec);
    report_count(&out, "shards", "shards", r->shards);
    report_count(&out, "failures", "failures of nodes", nodes_trouble.failures);
    report_count(&out, "sent_again", "lines sent again", r->again);
    report_real(&out, "longest_wait", "longest wait in seconds", nodes_trouble.longest);
    report_end(&out);
}

static int commands_stream(stream *s, const cli_command *c, remote *r, char **paths) {
    s->ctx = r;
    s->hash_keys = commands_hash;
    s->look_up = s->adds ? commands_add : commands_ask;
    stream_open(s, c, paths);
    const int status = stream_run(s);
    commands_stats(s, r);
    stream_close(s);
    return status;
}

static void commands_open(remote *r, const cli_command *c, const settings *set) {
    char spec[2 * EB_SPEC_MAX];
    filter_spec(c, set, spec);
    remote_open(r, set->redis, spec);
}

int remote_dedup(const cli_command *c, const settings *set, char **paths) {
    remote r;
    stream s = {.set = set, .adds = true, .passes_bad = true};
    s.print = set->mark ? PRINT_MARKED : set->repeated ? PRINT_SEEN : PRINT_NEW;
    commands_refuse(c, set);
    commands_open(&r, c, set);
    const int status = commands_stream(&s, c, &r, paths);
    remote_close(&r);
    return status;
}

int remote_test(const cli_command *c, const settings *set, const char *url, char **paths) {
    remote r;
    stream s = {.set = set,
                .print = set->mark     ? PRINT_MARKED
                         : set->absent ? PRINT_NEW
                                       : PRINT_SEEN};
    int status = STATUS_YES;
    remote_open(&r, url, NULL);
    if (set->keys.n) {
        s.ctx = &r;
        s.hash_keys = commands_hash;
        s.look_up = commands_ask;
        stream_open(&s, c, paths);
        stream_run_keys(&s, &set->keys);
        stream_close(&s);
    } else {
        status = commands_stream(&s, c, &r, paths);
    }
    remote_close(&r);
    const uint64_t selected = set->absent ? s.lines - s.seen - s.bad.lines : s.seen;
    return status ? status : selected == 0 ? STATUS_NO : STATUS_YES;
}

/* Counts of keys, a line for each: the count, a tab, the key. */
static void commands_count_keys(remote *r, const settings *set) {
    for (size_t i = 0; i < set->keys.n; i++) {
        const eb_key key = {set->keys.text[i], strlen(set->keys.text[i])};
        eb_hash h;
        double count;
        remote_hash(r, &key, 1, &h);
        remote_do(r, REMOTE_COUNT, &h, 1, NULL, &count, NULL);
        printf("%.15g\t%s\n", count, set->keys.text[i]);
    }
    finish_stdout();
}

int remote_count(const cli_command *c, const settings *set, char **paths) {
    remote r;
    stream s = {.set = set, .adds = true, .print = PRINT_NONE};
    int status = STATUS_YES;
    commands_refuse(c, set);
    if (set->queries || set->save || set->snapshot)
        cli_misuse(c, "--redis goes with --key, not with --queries, --save and --snapshot");
    commands_open(&r, c, set);
    if (*paths || !set->keys.n) status = commands_stream(&s, c, &r, paths);
    commands_count_keys(&r, set);
    remote_close(&r);
    return status;
}

/* ---- copy: the same snapshot on both sides, in chunks. */

enum { COPY_CHUNK = 4 << 20 };

static void copy_command(nodes *n, const char *key, size_t count, const char *const *arg,
                         const size_t *len, reply *out) {
    nodes_do(n, key, count, arg, len, out);
    if (out->type == '-') cli_fail("%s: %s", key, out->text);
}

static void copy_up(const char *path, const char *url, bool force) {
    const nodes_url u = nodes_parse(url);
    nodes n;
    snapshot snap;
    if (u.shards > 1) cli_fail("%s: a snapshot is one filter: no shards", url);
    snapshot_open_or_fail(&snap, path);
    nodes_open(&n, &u);
    for (size_t at = 0; at < snap.end; at += COPY_CHUNK) {
        char offset[32];
        reply p;
        snprintf(offset, sizeof offset, "%zu", at);
        const char *const arg[] = {"EB.LOAD", u.name, offset, (const char *)snap.bytes + at,
                                   "REPLACE"};
        const size_t len[] = {7, strlen(u.name), strlen(offset),
                              snap.end - at < COPY_CHUNK ? snap.end - at : COPY_CHUNK, 7};
        nodes_do(&n, u.name, force && at == 0 ? 5 : 4, arg, len, &p);
        if (reply_is_error(&p, "BUSYKEY"))
            cli_fail("%s: there is a filter of that name; --force replaces it", url);
        if (p.type == '-') cli_fail("%s: %s", url, p.text);
        reply_free(&p);
    }
    nodes_close(&n);
    snapshot_close(&snap);
}

static void copy_down(const char *url, const char *path, bool force) {
    const nodes_url u = nodes_parse(url);
    nodes n;
    eb_loader *loader;
    eb_filter *f;
    eb_error err;
    FILE *const there = force || strcmp(path, "-") == 0 ? NULL : fopen(path, "r");
    if (there) cli_fail("%s: this file exists; --force replaces it", path);
    nodes_open(&n, &u);
    if (eb_loader_new(&loader, NULL, NULL, &err) != EB_OK) cli_fail("%s", err.text);
    for (long long at = 0;;) {
        char offset[32];
        reply p;
        snprintf(offset, sizeof offset, "%lld", at);
        const char *const arg[] = {"EB.SAVE", u.name, offset};
        copy_command(&n, u.name, 3, arg, NULL, &p);
        if (p.n != 2 || p.item[0].type != ':' || !p.item[1].text)
            cli_fail("%s: an answer that is no chunk", url);
        at = p.item[0].number;
        if (at > 0 &&
            eb_loader_feed(loader, p.item[1].text, p.item[1].len, NULL, NULL, &err) != EB_OK)
            cli_fail("%s: %s", url, err.text);
        reply_free(&p);
        if (at == 0) break;
    }
    if (eb_loader_finish(loader, &f, &err) != EB_OK)
        cli_fail("%s: %s (if keys were added meanwhile: try again)", url, err.text);
    eb_loader_free(loader);
    filter_save(f, path);
    eb_free(f);
    nodes_close(&n);
}

int run_copy(const cli_command *c, const settings *set, char **operands, size_t n) {
    (void)n;
    const bool up = nodes_is_url(operands[1]), down = nodes_is_url(operands[0]);
    if (up == down)
        cli_misuse(c, "one of the two must be a file, the other redis://host:port/name");
    if (up)
        copy_up(operands[0], operands[1], set->force);
    else
        copy_down(operands[0], operands[1], set->force);
    return STATUS_YES;
}
