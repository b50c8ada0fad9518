/* list.c - top with --redis: a list of frequent keys on a server, or spread over a cluster.
 *
 * The filter is of the kind top, which keeps keys: so keys are sent as they are, not as hashes.  A
 * key belongs to one shard, so the lists of all shards together are the list, and a key that is in
 * none of them occurs at most as often as the largest of their watermarks says. */
#include "commands.h"
#include "parts/fade.h"
#include "parts/frequent.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MOST = 1 << 20 }; /* rows that a server gives */

static void list_refuse(const cli_command *c, const settings *set) {
    const char *const wrong = set->verify                ? "--verify"
                              : set->rescan.n            ? "--rescan"
                              : set->multiscan           ? "--multiscan"
                              : set->scans > 0           ? "--scans"
                              : set->alert > 0           ? "--alert"
                              : set->state               ? "--state"
                              : set->candidate_memory    ? "--candidate-memory"
                              : set->refresh_seconds > 0 ? "--every"
                              : set->time_field.n        ? "--time-field"
                              : fade_is_asked(set)       ? "counts that fade"
                                                         : NULL;
    if (wrong) cli_misuse(c, "--redis keeps one list since the beginning, read once: no %s", wrong);
    if (set->top && set->at_least.n) cli_misuse(c, "--at-least and -n: give one of them");
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
    eb_candidate *rows;
    double watermark;
} list;

static void list_ask(list *l, remote *r, uint64_t most, double at_least) {
    size_t n = 0;
    *l = (list){.shard = cli_alloc(r->shards * sizeof *l->shard), .shards = r->shards};
    for (size_t i = 0; i < r->shards; i++) {
        remote_top(r, i, most, at_least, &l->shard[i]);
        const double watermark = list_number(&l->shard[i].item[0]);
        if (watermark > l->watermark) l->watermark = watermark;
        n += l->shard[i].n / 3;
    }
    l->rows = cli_alloc((n + 1) * sizeof *l->rows);
    for (size_t i = 0; i < r->shards; i++)
        for (size_t at = 1; at + 2 < l->shard[i].n; at += 3) {
            const reply *const row = &l->shard[i].item[at];
            l->rows[l->n++] =
                (eb_candidate){.key = {row[0].text, row[0].len}, .count = list_number(&row[1])};
        }
    sort_candidates(l->rows, l->n);
}

static void list_free(list *l) {
    for (size_t i = 0; i < l->shards; i++) reply_free(&l->shard[i]);
    free(l->shard);
    free(l->rows);
}

/* Is the answer complete?  If not, what may be missing is said. */
static int list_verdict(const list *l, double least) {
    if (least > l->watermark || l->watermark == 0) return STATUS_YES;
    cli_warn("keys that came up to %.0f times may be missing: a list with more memory (-m) under "
             "another name keeps more",
             l->watermark);
    return STATUS_NO;
}

static int list_print_top(const settings *set, remote *r) {
    list l;
    answers out;
    list_ask(&l, r, set->top, 0);
    const size_t n = l.n < set->top ? l.n : (size_t)set->top;
    answers_open(&out, set, false, 0, false);
    for (size_t i = 0; i < n; i++) answers_put(&out, NULL, &l.rows[i]);
    answers_close(&out);
    const int status = list_verdict(&l, n < set->top ? 0 : l.rows[n - 1].count);
    list_free(&l);
    return status;
}

typedef struct list_question {
    const char *text;
    double count;
} list_question;

static int list_by_count(const void *a, const void *b) {
    const list_question *const x = a, *const y = b;
    return (x->count > y->count) - (x->count < y->count);
}

static list_question *list_questions(const cli_command *c, const settings *set) {
    list_question *const q = cli_alloc((set->at_least.n + 1) * sizeof *q);
    for (size_t i = 0; i < set->at_least.n; i++) {
        const threshold t = threshold_read(c, set->at_least.text[i]);
        if (t.percent > 0)
            cli_misuse(c, "--redis does not know the sum of all counts: give --at-least a count");
        q[i] = (list_question){set->at_least.text[i], t.count};
    }
    if (set->at_least.n) qsort(q, set->at_least.n, sizeof *q, list_by_count);
    return q;
}

static int list_print_at_least(const settings *set, remote *r, const list_question *q) {
    const bool labels = set->at_least.n > 1;
    list l;
    answers out;
    list_ask(&l, r, LIST_MOST, q[0].count);
    for (size_t i = 0; i < l.shards; i++) /* what a server cut off is missing, too */
        if (l.shard[i].n / 3 == LIST_MOST) l.watermark = INFINITY;
    answers_open(&out, set, labels, 0, false);
    for (size_t i = 0; i < set->at_least.n; i++)
        for (size_t row = 0; row < l.n && l.rows[row].count >= q[i].count; row++)
            answers_put(&out, labels ? q[i].text : NULL, &l.rows[row]);
    answers_close(&out);
    const int status = list_verdict(&l, q[0].count);
    list_free(&l);
    return status;
}

int remote_list(const cli_command *c, const settings *set, char **paths) {
    remote r;
    stream s = {.set = set, .print = PRINT_NONE, .adds = true};
    list_refuse(c, set);
    list_question *const q = list_questions(c, set);
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
    if (status == STATUS_YES)
        status = set->top ? list_print_top(set, &r) : list_print_at_least(set, &r, q);
    if (set->stats) commands_stats(&s, &r);
    stream_close(&s);
    free(q);
    remote_close(&r);
    return status;
}
