/* commands.c - dedup, test and count with --redis. */
#include "commands.h"
#include "parts/filterfile.h"
#include <string.h>

/* ---- Lines through a filter on a server: the stream's loop, with hashing and looking up over
 * there. */

void commands_hash(const stream *s, const eb_key *key, size_t n, eb_hash *out) {
    remote_hash(s->ctx, key, n, out);
}

/* A line that was sent twice may be a repeat of itself: it counts as new, so that none is lost. */
static void commands_add(stream *s, const eb_batch *b) {
    uint8_t again[STREAM_BATCH];
    const remote_batch batch = {
        .verb = REMOTE_ADD, .n = b->n, .hash = b->hash, .seen = s->hit, .again = again};
    remote_do(s->ctx, &batch);
    for (size_t i = 0; i < b->n; i++) s->hit[i] = (uint8_t)(s->hit[i] && !again[i]);
}

static void commands_ask(stream *s, const eb_batch *b) {
    const remote_batch batch = {.verb = REMOTE_ASK, .n = b->n, .hash = b->hash, .seen = s->hit};
    remote_do(s->ctx, &batch);
}

static void commands_refuse(const cli_command *c, const settings *set) {
    if (set->state) cli_misuse(c, "--redis and --state: give one of them");
    if (set->importance_field.n || set->weight_field.n || set->time_field.n)
        cli_misuse(
            c, "--redis takes no importance, weights or times of lines: the server's clock counts");
}

void commands_stats(const stream *s, const remote *r) {
    report out;
    report_begin(&out, stderr, s->set->json);
    report_count(&out, "lines", "lines", s->lines);
    if (s->print != PRINT_NONE) {
        report_count(&out, "unique", "unique", s->lines - s->seen - s->bad.lines);
        report_count(&out, "duplicates", "duplicates", s->seen);
    }
    report_count(&out, "bad_lines", "bad lines", s->bad.lines);
    report_real(&out, "seconds", "seconds", now_seconds() - s->start);
    report_text(&out, "filter", "filter", r->spec);
    report_count(&out, "shards", "shards", r->shards);
    report_count(&out, "failures", "failures of nodes", nodes_trouble.failures);
    report_count(&out, "sent_again", "lines sent again", r->again);
    report_count(&out, "unconfirmed", "not on a replica", r->unconfirmed);
    report_real(&out, "longest_wait", "longest wait in seconds", nodes_trouble.longest);
    report_end(&out);
}

static int commands_stream(stream *s, const cli_command *c, remote *r, char **paths) {
    s->ctx = r;
    s->hash_keys = commands_hash;
    s->look_up = s->adds ? commands_add : commands_ask;
    stream_open(s, c, paths);
    const int status = stream_run(s);
    if (s->set->stats || s->set->json) commands_stats(s, r);
    stream_close(s);
    return status;
}

void commands_open(remote *r, const cli_command *c, const settings *set) {
    char spec[2 * EB_SPEC_MAX];
    filter_spec(c, set, spec);
    remote_open(r, set->redis, spec);
}

int remote_dedup(const cli_command *c, const settings *set, print_mode print, char **paths) {
    remote r;
    stream s = {.set = set, .print = print, .adds = true, .passes_bad = true};
    commands_refuse(c, set);
    commands_open(&r, c, set);
    const int status = commands_stream(&s, c, &r, paths);
    remote_close(&r);
    return status;
}

int remote_test(const cli_command *c, const settings *set, print_mode print, const char *url,
                char **paths) {
    remote r;
    stream s = {.set = set, .print = print};
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
    const uint64_t selected = print == PRINT_NEW ? s.lines - s.seen - s.bad.lines : s.seen;
    return status ? status : selected == 0 ? STATUS_NO : STATUS_YES;
}

/* Counts of keys, a line for each: the count, a tab, the key. */
static void commands_count_keys(remote *r, const settings *set) {
    for (size_t i = 0; i < set->keys.n; i++) {
        const eb_key key = {set->keys.text[i], strlen(set->keys.text[i])};
        eb_hash h;
        double count;
        const remote_batch batch = {.verb = REMOTE_COUNT, .n = 1, .hash = &h, .count = &count};
        remote_hash(r, &key, 1, &h);
        remote_do(r, &batch);
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
