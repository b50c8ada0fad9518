/* cmd_join.c - join: which keys are in both of two files, and in how many pairs of lines; at one
 * site, or at two that send each other little (spectral Bloomjoin: Cohen and Matias, 2003,
 * section 5.3).
 *
 *   site S                                      site R
 *   --ship: filter of its keys       ------->   --with: exact counts of R, times estimates of S
 *   --exact: counts of these keys    <-------   --candidates
 *                                    ------->   --counts: exact counts of both
 *
 * Estimates are never too low, so no answer is missing, and of "less than" none is wrong but for
 * keys that are not in S at all.  R's keys that S's filter does not know are forgotten at once. */
#include "output/table.h"
#include "parts/filterfile.h"
#include "parts/health.h"
#include "parts/join.h"
#include "parts/tally.h"
#include <everbloom/experimental.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHIPPED "update=conservative,k=4,store=u32"
enum { SHIPPED_CELLS = 6, CLASSIC_BITS = 10 };

typedef struct join {
    const cli_command *c;
    const settings *set;
    having having;
    size_t limit; /* bytes for exact counts */
    eb_filter *filter;
    tally of_r;
    keytable candidates; /* count: in R; kept: in S */
    bool collects;       /* candidates, to be verified */
    double candidate_bytes, count_bytes, classic_rows;
    uint64_t answers, found;
    atomic_file file;
    output out;
    table rows; /* in place of both */
    bool exact, answers_as_json;
} join;

/* ---- Lines out. */

/* Answers on standard output, for people or programs; else lines, for the other site or a file. */
static bool has_rows(const join *j) {
    return !j->set->output && !j->set->candidates && !j->set->exact;
}

static void open_output(join *j) {
    static const char *const names[] = {"pairs", "key", NULL};
    if (has_rows(j)) {
        if (!j->answers_as_json) table_open(&j->rows, j->set, names);
        return;
    }
    atomic_open(&j->file, j->set->output ? j->set->output : "-");
    output_open(&j->out, j->file.fd, j->file.path);
}

static void close_output(join *j) {
    if (has_rows(j)) {
        if (!j->answers_as_json) table_close(&j->rows);
        finish_stdout();
        return;
    }
    output_flush(&j->out);
    output_close(&j->out);
    atomic_commit(&j->file);
}

static char line_end(const join *j) {
    return j->set->nul ? '\0' : '\n';
}

static void put_key(join *j, eb_key key) {
    const char end = line_end(j);
    if (key.len > 0 && memchr(key.p, end, key.len))
        cli_fail("a key holds a line end: use -0, here and at the other site");
    output_put(&j->out, key.p, key.len);
    output_put(&j->out, &end, 1);
}

static void put_row(join *j, const char *count, eb_key key) {
    if (j->answers_as_json) {
        report r;
        report_begin(&r, stdout, true);
        report_key(&r, "key", key);
        report_plain(&r, "pairs", count);
        report_end(&r);
        return;
    }
    table_number(&j->rows, count);
    table_bytes(&j->rows, key);
    table_end_row(&j->rows);
}

static void put_count(join *j, uint64_t count, eb_key key) {
    char text[24];
    j->answers++;
    if (has_rows(j)) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)count);
        put_row(j, text, key);
        return;
    }
    const int n = snprintf(text, sizeof text, "%llu\t", (unsigned long long)count);
    output_put(&j->out, text, (size_t)n);
    output_put(&j->out, key.p, key.len);
    output_put(&j->out, &(char){line_end(j)}, 1);
}

/* ---- R's keys. */

static void take_known(void *ctx, const stream *s, size_t n) {
    join *const j = ctx;
    for (size_t i = 0; i < n; i++)
        if (s->hit[i]) tally_add(&j->of_r, s->hash[i], s->key[i], 1);
}

static size_t digits(uint64_t n) {
    size_t d = 1;
    for (; n >= 10; n /= 10) d++;
    return d;
}

static void keep_candidate(join *j, eb_hash hash, eb_key key, uint64_t f_r) {
    if (table_is_full(&j->candidates, j->limit))
        cli_fail("%zu candidates and more do not fit into %zu bytes: give more -m, a --having that "
                 "fewer keys meet, or --estimate",
                 j->candidates.n, j->limit);
    keytable_get(&j->candidates, hash, key)->count = f_r;
}

static uint64_t estimate_of(const join *j, eb_hash hash) {
    return (uint64_t)filter_count(j->filter, hash);
}

/* A key of R that S's filter knows. */
static void consider(void *ctx, eb_hash hash, eb_key key, uint64_t f_r) {
    join *const j = ctx;
    const uint64_t f_s = estimate_of(j, hash);
    j->classic_rows += (double)f_r * ((double)key.len + 1);
    if (!having_possible(j->having, f_r, f_s)) return;
    j->found++;
    j->candidate_bytes += (double)key.len + 1;
    j->count_bytes += (double)(key.len + 2 + digits(f_s));
    if (j->collects)
        keep_candidate(j, hash, key, f_r);
    else if (j->set->candidates)
        put_key(j, key);
    else
        put_count(j, multiplied(f_r, f_s), key);
}

/* ---- S's exact counts. */

static void take_candidates(void *ctx, const stream *s, size_t n) {
    join *const j = ctx;
    for (size_t i = 0; i < n; i++) {
        table_key *const k = keytable_find(&j->candidates, s->hash[i], s->key[i]);
        if (k) k->kept++;
    }
}

static eb_key key_in(const keytable *t, const table_key *k) {
    return (eb_key){t->bytes + k->at, k->len};
}

static void put_exact(join *j) {
    for (size_t i = 0; i < j->candidates.n; i++) {
        const table_key *const k = &j->candidates.keys[i];
        const uint64_t count = multiplied(k->count, k->kept);
        if (count > 0 && having_holds(j->having, count))
            put_count(j, count, key_in(&j->candidates, k));
    }
}

/* ---- What was sent, or would have been. */

static double distinct_in(const eb_filter *f) {
    const eb_stats stats = filter_stats(f);
    const double k = (double)filter_option(f, "k"), empty = fmax(1 - stats.fill, 1e-9);
    return -(double)stats.cells / fmax(k, 1) * log(empty);
}

static void print_stats(const join *j, const relation *r, double column, bool exact) {
    if (!j->set->stats) return;
    const double filter = (double)eb_save_size(j->filter), keys = distinct_in(j->filter);
    const double verify = exact ? j->candidate_bytes + j->count_bytes : 0;
    const double classic = keys * CLASSIC_BITS / 8 + j->classic_rows;
    report out;
    report_begin(&out, stderr, j->set->json);
    report_count(&out, "rows", "lines of R", r->rows);
    report_count(&out, "candidates", "candidates", j->found);
    report_count(&out, "answers", "answers", j->answers);
    report_bytes(&out, "filter_bytes", "filter sent", filter);
    report_bytes(&out, "verify_bytes", "keys and counts sent", verify);
    report_bytes(&out, "sent_bytes", "sent in all", filter + verify);
    report_bytes(&out, "bloomjoin_bytes", "classic Bloomjoin", classic);
    report_bytes(&out, "column_bytes", "the column of S", column);
    report_real(&out, "column_ratio", "times fewer bytes", column / (filter + verify));
    report_real(&out, "error_rate", "estimates too high",
                eb_count_error_rate((double)filter_option(j->filter, "cells"),
                                    (unsigned)filter_option(j->filter, "k"), keys));
    report_end(&out);
}

/* ---- The steps. */

/* To be sent, a filter takes as few bytes as it can. */
static eb_filter *frozen(eb_filter *f) {
    eb_filter *tight;
    eb_error err;
    if (eb_convert(&tight, f, "frozen=line", NULL, &err) != EB_OK) cli_fail("%s", err.text);
    eb_free(f);
    return tight;
}

/* *status: 1 if some of its counters are full. */
static eb_filter *filter_of(relation *s, int *status) {
    const double distinct = s->set.filter ? 0 : relation_distinct(s);
    eb_filter *const f = relation_filter(s, SHIPPED, SHIPPED_CELLS, distinct);
    if (!(eb_caps(f) & EB_NO_FALSE_NEGATIVES) || !(eb_caps(f) & EB_CAN_COUNT))
        cli_misuse(s->c, "join needs a filter that never counts too low, such as spectral");
    relation_scan(s, f, true, NULL, NULL);
    *status = counters_verdict(f);
    return frozen(f);
}

static int ship(const cli_command *c, const settings *set, relation *s) {
    refuse_terminal(c, set, "a snapshot");
    int status;
    eb_filter *const f = filter_of(s, &status);
    filter_save(f, set->output ? set->output : "-");
    if (set->stats) {
        report out;
        report_begin(&out, stderr, set->json);
        report_count(&out, "rows", "lines of S", s->rows);
        report_bytes(&out, "filter_bytes", "filter sent", (double)eb_save_size(f));
        report_bytes(&out, "column_bytes", "the column of S", s->column);
        report_real(&out, "column_ratio", "times fewer bytes", s->column / (double)eb_save_size(f));
        report_end(&out);
    }
    eb_free(f);
    return status;
}

static void check_shipped(const eb_filter *f, const char *path) {
    if (!(eb_caps(f) & EB_NO_FALSE_NEGATIVES) || !(eb_caps(f) & EB_CAN_COUNT) ||
        (eb_caps(f) & EB_KEYS_ARE_NUMBERS))
        cli_fail("%s: not a filter that counts keys and never too low, such as spectral", path);
}

/* At site R, with the filter that came from S.  What S's column takes is guessed from R's keys. */
static int answer_with(join *j, relation *r) {
    snapshot snap;
    snapshot_open_or_fail(&snap, j->set->with);
    check_shipped(snap.view, j->set->with);
    j->filter = snap.view;
    relation_scan(r, j->filter, false, take_known, j);
    open_output(j);
    tally_each(&j->of_r, consider, j);
    close_output(j);
    const eb_stats stats = filter_stats(snap.view);
    const double mean = r->rows > 0 ? r->column / (double)r->rows : 0;
    print_stats(j, r, mean * (double)stats.adds, j->set->candidates);
    const int status = counters_verdict(snap.view);
    snapshot_close(&snap);
    return status;
}

static int answer_here(join *j, relation *r, relation *s) {
    int status;
    j->filter = filter_of(s, &status);
    const double column = s->column;
    j->collects = j->exact;
    relation_scan(r, j->filter, false, take_known, j);
    if (!j->exact) open_output(j);
    tally_each(&j->of_r, consider, j);
    if (j->exact) {
        relation_scan(s, j->filter, false, take_candidates, j);
        open_output(j);
        put_exact(j);
    }
    close_output(j);
    print_stats(j, r, column, j->exact);
    eb_free(j->filter);
    return j->exact ? STATUS_YES : status; /* exact, whatever the filter said */
}

/* ---- Keys and counts from the other site. */

static eb_hash hash_of(const join *j, eb_key key) {
    eb_hash h;
    hash_keys(j->filter, &key, 1, &h);
    return h;
}

static void read_key(void *ctx, reader *r, const char *line, const char *end) {
    join *const j = ctx;
    const eb_key key = {line, (size_t)(end - line)};
    (void)r;
    keep_candidate(j, hash_of(j, key), key, 1);
}

static void read_key_with_count(void *ctx, reader *r, const char *line, const char *end) {
    join *const j = ctx;
    uint64_t count = 0;
    const char *p = line;
    while (p < end && *p >= '0' && *p <= '9' && p - line < 18)
        count = count * 10 + (uint64_t)(*p++ - '0');
    if (p == line || p == end || *p != '\t')
        cli_fail("%s: line %llu: a count, a tab and a key must stand there", r->name,
                 (unsigned long long)r->records);
    const eb_key key = {p + 1, (size_t)(end - p - 1)};
    const eb_hash h = hash_of(j, key);
    keep_candidate(j, h, key, 0);
    keytable_find(&j->candidates, h, key)->kept = count;
}

static void read_lines(join *j, const char *path, reader_take *take) {
    reader in = {.separator = line_end(j)};
    reader_open_one(&in, path);
    reader_each(&in, take, j);
    reader_close(&in);
}

static eb_filter *hasher(void) {
    eb_filter *f;
    eb_error err;
    if (eb_new(&f, "bloom:memory=4K", NULL, &err) != EB_OK) cli_fail("%s", err.text);
    return f;
}

/* At site S: how often did each of these keys come? */
static int count_exactly(join *j, relation *s) {
    j->filter = hasher();
    read_lines(j, j->set->exact, read_key);
    relation_scan(s, j->filter, false, take_candidates, j);
    open_output(j);
    put_exact(j);
    close_output(j);
    eb_free(j->filter);
    return STATUS_YES;
}

static void take_counted(void *ctx, const stream *s, size_t n) {
    join *const j = ctx;
    for (size_t i = 0; i < n; i++) {
        table_key *const k = keytable_find(&j->candidates, s->hash[i], s->key[i]);
        if (k) k->count++;
    }
}

/* At site R again. */
static int answer_exactly(join *j, relation *r) {
    j->filter = hasher();
    read_lines(j, j->set->counts, read_key_with_count);
    relation_scan(r, j->filter, false, take_counted, j);
    open_output(j);
    put_exact(j);
    close_output(j);
    eb_free(j->filter);
    return STATUS_YES;
}

/* ---- The command. */

static void check_usage(const cli_command *c, const settings *set, size_t n) {
    const int one = set->ship + !!set->with + !!set->exact + !!set->counts;
    if (one + set->size > 1)
        cli_misuse(c, "--ship, --with, --exact, --counts and --size: give one of them");
    if (n != (one ? 1u : 2u))
        cli_misuse(c, one ? "give one FILE with this option" : "give R and S");
    if (set->verify && (one || set->size))
        cli_misuse(c,
                   "--verify is for two files; two sites say --candidates, --exact and --counts");
    if (set->candidates && !set->with) cli_misuse(c, "--candidates needs --with");
    if (set->s_field.n && one) cli_misuse(c, "--s-field is for two files: use -f");
    if (set->filter && (set->with || set->exact || set->counts))
        cli_misuse(c, "--filter makes a filter: not with --with, --exact or --counts");
    if (set->snapshots && !set->size) cli_misuse(c, "--snapshots needs --size");
    if (set->verify && set->estimate) cli_misuse(c, "--verify and --estimate: give one of them");
    if (set->as && set->output) cli_misuse(c, "--as is for standard output: not with -o");
}

static void check_stdin(const cli_command *c, const settings *set, char *const *paths) {
    const char *const other = set->with     ? set->with
                              : set->exact  ? set->exact
                              : set->counts ? set->counts
                                            : paths[1];
    const bool first = strcmp(paths[0], "-") == 0, second = other && strcmp(other, "-") == 0;
    if (first && second) cli_misuse(c, "only one of the two can come from standard input");
    if (other) reader_check(other);
    if (set->verify && !reader_can_reread(other))
        cli_misuse(c, "--verify reads S twice, which standard input or a pipe cannot be");
}

int run_join(const cli_command *c, const settings *set, char **operands, size_t n) {
    settings plain = *set;
    check_usage(c, set, n);
    check_stdin(c, set, operands);
    if (set->size && set->snapshots) return join_size_of_snapshots(c, set, operands);
    plain.stats = plain.json = false;
    relation r = relation_open(c, &plain, operands[0], &set->field);
    if (set->ship) return ship(c, set, &r);
    join j = {.c = c, .set = set, .having = having_read(c, set->having)};
    j.exact = !set->estimate && operands[1] && reader_can_reread(operands[1]);
    j.answers_as_json = set->json && !set->stats;
    j.limit = (size_t)size_in_bytes(c, "-m", set->memory ? set->memory : DEFAULT_JOIN_MEMORY);
    if (j.limit < TALLY_LEAST) cli_misuse(c, "-m must be 64K or more, not %s", set->memory);
    j.of_r.limit = j.limit;
    int status;
    if (set->with)
        status = answer_with(&j, &r);
    else if (set->exact)
        status = count_exactly(&j, &r);
    else if (set->counts)
        status = answer_exactly(&j, &r);
    else {
        const field_list *const field = set->s_field.n ? &set->s_field : &set->field;
        relation s = relation_open(c, &plain, operands[1], field);
        status = set->size ? join_size(set, &r, &s) : answer_here(&j, &r, &s);
    }
    tally_free(&j.of_r);
    keytable_free(&j.candidates);
    return status;
}
