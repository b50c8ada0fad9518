/* cmd_sum.c - sum: how often the keys of a list came together, what their values add up to, and the
 * mean value, with errors and bounds.
 *
 * The stream goes through the loop of count; with values, a second filter counts lines beside it.
 */
#include "parts/filterfile.h"
#include "parts/health.h"
#include "parts/stream.h"
#include <everbloom/experimental.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The list of keys. */

typedef struct key_list {
    const eb_filter *filter;
    reader in; /* whose keys have the same case */
    eb_hash *hash;
    size_t n, cap;
} key_list;

static void push_key(key_list *l, eb_key asked) {
    arena_reset(&l->in.arena);
    const eb_key key = reader_query(&l->in, asked);
    l->hash = cli_grow(l->hash, &l->cap, (l->n + 1) * sizeof *l->hash);
    eb_hash_keys(l->filter, &key, 1, &l->hash[l->n++]);
}

static void push_line(void *ctx, reader *r, const char *line, const char *end) {
    (void)r;
    push_key(ctx, (eb_key){line, (size_t)(end - line)});
}

static int by_number(const void *a, const void *b) {
    const eb_hash x = *(const eb_hash *)a, y = *(const eb_hash *)b;
    return (x > y) - (x < y);
}

/* A key that is named twice counts once. */
static void keep_different(key_list *l) {
    size_t n = 0;
    if (l->n == 0) return;
    qsort(l->hash, l->n, sizeof *l->hash, by_number);
    for (size_t i = 0; i < l->n; i++)
        if (i == 0 || l->hash[i] != l->hash[i - 1]) l->hash[n++] = l->hash[i];
    l->n = n;
}

static key_list read_list(const settings *set, const eb_filter *f) {
    key_list l = {.filter = f, .in = {.fd = -1}};
    l.in.ignore_case = set->ignore_case;
    l.in.trim = set->trim;
    for (size_t i = 0; i < set->keys.n; i++)
        push_key(&l, (eb_key){set->keys.text[i], strlen(set->keys.text[i])});
    if (set->queries) {
        reader in = {.separator = set->nul ? '\0' : '\n'};
        reader_open_one(&in, set->queries);
        reader_each(&in, push_line, &l);
        reader_close(&in);
    }
    reader_close(&l.in);
    keep_different(&l);
    return l;
}

/* ---- Answers. */

/* Without averages, what a filter can say is that estimates are never too low. */
static eb_sum sum_of(const eb_filter *f, const key_list *l) {
    eb_sum s = {.size = sizeof s};
    eb_error err;
    const eb_batch all = eb_batch_hashes(l->hash, l->n);
    if (eb_sum_batch(f, &all, &s, &err) == EB_OK) return s;
    cli_warn("only an upper bound: %s", err.text);
    s.sum = s.error = NAN;
    for (size_t i = 0; i < l->n; i++) s.upper += filter_count(f, l->hash[i]);
    return s;
}

static void put_sum(report *r, const eb_filter *f, const key_list *l, const char *const names[3],
                    const char *const labels[3]) {
    const eb_sum s = sum_of(f, l);
    report_amount(r, names[0], labels[0], s.sum);
    report_amount(r, names[1], labels[1], s.error);
    report_amount(r, names[2], labels[2], eb_caps(f) & EB_NO_FALSE_NEGATIVES ? s.upper : NAN);
}

static void put_average(report *r, const eb_filter *sums, const eb_filter *counts,
                        const key_list *l) {
    eb_average a = {.size = sizeof a};
    eb_error err;
    const eb_batch all = eb_batch_hashes(l->hash, l->n);
    if (eb_average_batch(sums, counts, &all, &a, &err) != EB_OK) {
        cli_warn("no average: %s", err.text);
        return;
    }
    report_amount(r, "average", "average", a.average);
    report_amount(r, "average_lower", "average from", a.lower);
    report_amount(r, "average_upper", "average to", a.upper);
}

/* counts is NULL if there are no values. */
static int answer(const settings *set, const eb_filter *f, const eb_filter *counts) {
    static const char *const count_names[] = {"count", "count_error", "count_upper"};
    static const char *const count_labels[] = {"count", "standard error", "at most"};
    static const char *const sum_names[] = {"sum", "sum_error", "sum_upper"};
    static const char *const sum_labels[] = {"sum", "standard error", "at most"};
    key_list l = read_list(set, f);
    report r;
    report_begin(&r, stdout, set->json);
    report_count(&r, "keys", "keys", l.n);
    put_sum(&r, counts ? counts : f, &l, count_names, count_labels);
    if (counts) {
        put_sum(&r, f, &l, sum_names, sum_labels);
        put_average(&r, f, counts, &l);
    }
    report_end(&r);
    finish_stdout();
    free(l.hash);
    const int status = counts ? counters_verdict(counts) : STATUS_YES;
    return counters_verdict(f) == STATUS_YES ? status : STATUS_NO;
}

/* ---- The command. */

static void check_usage(const cli_command *c, const settings *set, char *const *paths) {
    const bool dash = set->queries && strcmp(set->queries, "-") == 0;
    if (!set->queries && set->keys.n == 0)
        cli_misuse(c, "nothing to do: name keys with --key or --queries");
    if (set->per && !set->snapshot) cli_misuse(c, "--per needs --snapshot");
    if (dash && !set->snapshot && (!*paths || strcmp(*paths, "-") == 0))
        cli_misuse(c, "the lines and the queries cannot both come from standard input");
    if (set->snapshot && *paths) cli_misuse(c, "--snapshot asks a filter as it is: give no FILE");
    if (set->snapshot && (set->filter || set->memory || set->seed || set->weight_field.n))
        cli_misuse(c, "--snapshot asks a filter as it is: no options that make one");
    if (set->queries) reader_check(set->queries);
}

static void open_counting(const cli_command *c, snapshot *s, const char *path) {
    snapshot_open_or_fail(s, path);
    refuse_numbers(c, s->view);
    if (!(eb_caps(s->view) & EB_CAN_COUNT))
        cli_fail("%s: this kind of filter does not count", path);
}

static int ask_snapshots(const cli_command *c, const settings *set) {
    snapshot sums, counts = {0};
    open_counting(c, &sums, set->snapshot);
    if (set->per) open_counting(c, &counts, set->per);
    const int status = answer(set, sums.view, counts.view);
    snapshot_close(&sums);
    if (set->per) snapshot_close(&counts);
    return status;
}

static void add(eb_filter *f, const eb_batch *batch) {
    eb_error err;
    if (eb_add_batch(f, batch, &err) != EB_OK) cli_fail("the filter refuses keys: %s", err.text);
}

/* Every line counts; a value of 0 adds nothing to the sum, and is no multiplicity for a filter. */
static void add_values(stream *s, const eb_batch *batch) {
    eb_hash hash[STREAM_BATCH];
    uint64_t value[STREAM_BATCH];
    size_t n = 0;
    memset(s->hit, 0, batch->n);
    eb_batch all = eb_batch_hashes(batch->hash, batch->n);
    add(s->ctx, &all);
    for (size_t i = 0; i < batch->n; i++) {
        hash[n] = batch->hash[i];
        value[n] = batch->value[i];
        n += value[n] > 0;
    }
    eb_batch valued = eb_batch_hashes(hash, n);
    valued.value = value;
    add(s->filter, &valued);
}

static eb_filter *another(const eb_filter *f) {
    char spec[EB_SPEC_MAX];
    eb_filter *g;
    eb_error err;
    (void)eb_spec(f, spec, sizeof spec);
    if (eb_new(&g, spec, NULL, &err) != EB_OK) cli_fail("%s", err.text);
    return g;
}

bool sum_filter(const cli_command *c, const settings *set, char *spec, size_t cap) {
    (void)c, (void)set;
    snprintf(spec, cap, "%s", DEFAULT_SUM);
    return false;
}

int run_sum(const cli_command *c, const settings *set, char **operands, size_t n) {
    (void)n;
    check_usage(c, set, operands);
    if (set->snapshot) return ask_snapshots(c, set);
    stream s = {.set = set, .print = PRINT_NONE, .adds = true};
    stream_open(&s, c, operands);
    s.filter = filter_open(c, set);
    if (!(eb_caps(s.filter) & EB_CAN_COUNT))
        cli_misuse(c, "sum needs a filter that counts, such as " DEFAULT_SUM);
    values_open(&s.values, c, set, s.filter, true);
    eb_filter *const counts = set->weight_field.n ? another(s.filter) : NULL;
    if (counts) {
        s.keeps_zeros = true;
        s.look_up = add_values;
        s.ctx = counts;
    }
    int status = stream_run(&s);
    if (status == STATUS_YES) status = answer(set, s.filter, counts);
    stream_close(&s);
    eb_free(s.filter);
    eb_free(counts);
    return status;
}
