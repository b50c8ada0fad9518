/* again.c - see again.h. */
#include "again.h"
#include "filterfile.h"
#include "tally.h"
#include "top.h"
#include <stdlib.h>
#include <string.h>

static bool all_again(char *const *paths) {
    if (!*paths) return false;
    for (; *paths; paths++)
        if (!reader_can_reread(*paths)) return false;
    return true;
}

char **again_paths(const settings *set, char *const *operands) {
    size_t n = 0;
    if (top_of(set)->rescan.n == 0 && !all_again(operands)) return NULL;
    while (top_of(set)->rescan.n == 0 && operands[n]) n++;
    char **const paths = cli_alloc((top_of(set)->rescan.n + n + 1) * sizeof *paths);
    for (size_t i = 0; i < n; i++) paths[i] = operands[i];
    for (size_t i = 0; i < top_of(set)->rescan.n; i++) {
        reader_check(top_of(set)->rescan.text[i]);
        union {
            const char *in;
            char *out;
        } pun = {.in =
                     top_of(set)->rescan.text[i]}; /* a reader takes the words of a command line */
        paths[n++] = pun.out;
    }
    paths[n] = NULL;
    return paths;
}

typedef struct again {
    tally counts;
    double least, total;
    exact_keys *out;
} again;

static void take_again(stream *s, const eb_batch *b) {
    again *const a = s->ctx;
    double count[STREAM_BATCH];
    filter_counts(s->filter, b->hash, b->n, count);
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t value = b->value ? b->value[i] : 1;
        a->total += (double)value;
        if (count[i] >= a->least) tally_add(&a->counts, b->hash[i], s->key[i], value);
    }
}

/* Bytes may move while there are more: a key is where it begins in them, until all are there. */
static void keep(void *ctx, eb_hash hash, eb_key key, uint64_t count) {
    const again *const a = ctx;
    exact_keys *const k = a->out;
    (void)hash;
    if ((double)count < a->least) return;
    k->rows = cli_grow(k->rows, &k->cap, (k->n + 1) * sizeof *k->rows);
    k->bytes = cli_grow(k->bytes, &k->bytes_cap, k->used + key.len + 1);
    if (key.len > 0) memcpy(k->bytes + k->used, key.p, key.len);
    k->rows[k->n++] =
        (eb_top_key){.key = {NULL, key.len}, .count = (double)count, .lower = (double)count};
    k->used += key.len;
}

int again_count(stream *s, char *const *paths, double least, double total, size_t memory,
                exact_keys *out) {
    again a = {.least = least, .out = out};
    a.counts.limit = memory < TALLY_LEAST ? TALLY_LEAST : memory;
    *out = (exact_keys){0};
    stream_again(s, s->command, paths);
    s->look_up = take_again;
    s->ctx = &a;
    const int status = stream_run(s);
    s->ctx = NULL;
    if (status == STATUS_YES && a.total != total)
        cli_fail("the input is not the same when read again: %.15g keys at first, now %.15g", total,
                 a.total);
    if (status == STATUS_YES) tally_each(&a.counts, keep, &a);
    tally_free(&a.counts);
    const char *at = out->bytes;
    for (size_t i = 0; i < out->n; at += out->rows[i++].key.len) out->rows[i].key.p = at;
    top_sort(out->rows, out->n);
    return status;
}

void exact_free(exact_keys *k) {
    free(k->rows);
    free(k->bytes);
    *k = (exact_keys){0};
}
