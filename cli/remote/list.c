/* list.c - top with --redis: a list of frequent keys on a server, or spread over a cluster.
 *
 * The filter is of the kind top, which keeps keys: so keys are sent as they are, not as hashes.  A
 * key belongs to one shard, so the lists of all shards together are the list, and a key that is in
 * none of them occurs at most as often as the largest of their watermarks says. */
#include "commands.h"
#include "parts/top.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MOST = 1 << 20 }; /* rows that a server gives */

static void list_refuse(const cli_command *c, const settings *set) {
    const char *const wrong = top_of(set)->verify                ? "--verify"
                              : top_of(set)->rescan.n            ? "--rescan"
                              : top_of(set)->alert > 0           ? "--alert"
                              : set->state                       ? "--state"
                              : top_of(set)->refresh_seconds > 0 ? "--every"
                              : set->time_field.n                ? "--time-field"
                                                                 : NULL;
    if (wrong) cli_misuse(c, "--redis keeps one list, which is read once: no %s", wrong);
    if (set->window.lines > 0) cli_misuse(c, "top needs a --window in time, such as 10m");
    for (size_t i = 0; i < top_of(set)->at_least.n; i++)
        if (strchr(top_of(set)->at_least.text[i], '%'))
            cli_misuse(c, "--redis does not know the sum of all counts: give --at-least a count");
}

static void list_add(stream *s, const eb_batch *b) {
    const remote_batch batch = {
        .verb = REMOTE_LIST, .n = b->n, .hash = b->hash, .key = s->key, .value = b->value};
    remote_do(s->ctx, &batch);
}

/* Counts that fade come as text. */
static double list_number(const reply *p) {
    return p->type == ':' ? (double)p->number : p->text ? strtod(p->text, NULL) : 0;
}

typedef struct list {
    reply *shard; /* what the keys of rows are in */
    size_t shards, n;
    eb_top_key *rows;
    double watermark;
} list;

static void list_ask(list *l, remote *r, uint64_t most, double at_least) {
    size_t n = 0;
    *l = (list){.shard = cli_alloc(r->shards * sizeof *l->shard), .shards = r->shards};
    for (size_t i = 0; i < r->shards; i++) {
        remote_top(r, i, most, at_least, &l->shard[i]);
        l->watermark = fmax(l->watermark, list_number(&l->shard[i].item[0]));
        /* what a server cut off is missing, too */
        if (at_least > 0 && l->shard[i].n / 3 == LIST_MOST) l->watermark = INFINITY;
        n += l->shard[i].n / 3;
    }
    l->rows = cli_alloc((n + 1) * sizeof *l->rows);
    for (size_t i = 0; i < r->shards; i++)
        for (size_t at = 1; at + 2 < l->shard[i].n; at += 3) {
            const reply *const row = &l->shard[i].item[at];
            l->rows[l->n++] = (eb_top_key){.key = {row[0].text, row[0].len},
                                           .count = list_number(&row[1]),
                                           .lower = list_number(&row[2])};
        }
    top_sort(l->rows, l->n);
}

static void list_free(list *l) {
    for (size_t i = 0; i < l->shards; i++) reply_free(&l->shard[i]);
    free(l->shard);
    free(l->rows);
}

static int list_print(const settings *set, remote *r, threshold *at_least) {
    const size_t asked = top_of(set)->at_least.n;
    list l;
    thresholds_settle(at_least, asked, 0);
    list_ask(&l, r, top_of(set)->top ? top_of(set)->top : LIST_MOST, asked ? at_least[0].count : 0);
    if (top_of(set)->top && l.n > top_of(set)->top) l.n = (size_t)top_of(set)->top;
    top_print_answers(set, l.rows, l.n, at_least, 0);
    const bool complete = top_is_complete(set, l.rows, l.n, l.watermark, at_least);
    const double watermark = l.watermark;
    list_free(&l);
    if (complete) return STATUS_YES;
    return top_incomplete(watermark, "a list with more memory (-m) under another name keeps more");
}

int remote_list(const cli_command *c, const settings *set, char **paths) {
    remote r;
    stream s = {.set = set, .print = PRINT_NONE, .adds = true};
    list_refuse(c, set);
    threshold *const at_least = thresholds_read(c, set);
    commands_open(&r, c, set);
    if (strncmp(r.spec, "top:", 4) != 0)
        cli_fail("%s: this filter keeps no keys (%.*s): top needs one of the kind top", set->redis,
                 (int)strcspn(r.spec, ":"), r.spec);
    s.ctx = &r;
    s.hash_keys = commands_hash;
    s.look_up = list_add;
    values_weights(&s.values, set);
    stream_open(&s, c, paths);
    int status = stream_run(&s);
    if (status == STATUS_YES) status = list_print(set, &r, at_least);
    if (set->stats) commands_stats(&s, &r);
    stream_close(&s);
    free(at_least);
    remote_close(&r);
    return status;
}
