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
#include "options/options.h"
#include "output/table.h"
#include "parts/filterfile.h"
#include "parts/health.h"
#include "parts/join.h"
#include "parts/tally.h"
#include <everbloom/experimental.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct join_own {                                /* options of its own */
    const char *having, *with, *exact, *counts, *method; /* NULL: not given */
    bool ship, candidates, verify, estimate, size, snapshots;
} join_own;

#define SHIPPED "update=conservative,k=4,store=u32"
enum { SHIPPED_CELLS = 6, CLASSIC_BITS = 10 };

typedef struct join {
    const cli_command *c;
    const settings *set;
    const join_own *own;
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
    return !j->set->output && !j->own->candidates && !j->own->exact;
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
        cli_fail("a key contains a newline: use -0, here and at the other site");
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
    else if (j->own->candidates)
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
    snapshot_open_to_ask(&snap, &r->set, j->own->with);
    check_shipped(snap.view, j->own->with);
    j->filter = snap.view;
    relation_scan(r, j->filter, false, take_known, j);
    open_output(j);
    tally_each(&j->of_r, consider, j);
    close_output(j);
    const eb_stats stats = filter_stats(snap.view);
    const double mean = r->rows > 0 ? r->column / (double)r->rows : 0;
    print_stats(j, r, mean * (double)stats.adds, j->own->candidates);
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
        cli_fail("%s: line %llu: a line must be a count, a tab and a key", r->name,
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
    read_lines(j, j->own->exact, read_key);
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
    read_lines(j, j->own->counts, read_key_with_count);
    relation_scan(r, j->filter, false, take_counted, j);
    open_output(j);
    put_exact(j);
    close_output(j);
    eb_free(j->filter);
    return STATUS_YES;
}

/* ---- The command. */

static void check_usage(const cli_command *c, const settings *set, size_t n) {
    const join_own *const own = set->own;
    const int one = own->ship + !!own->with + !!own->exact + !!own->counts;
    if (one + own->size > 1)
        cli_misuse(c, "--ship, --with, --exact, --counts and --size: give one of them");
    if (n != (one ? 1u : 2u))
        cli_misuse(c, one ? "give one FILE with this option" : "join needs two files, R and S");
    if (own->verify && (one || own->size))
        cli_misuse(c,
                   "--verify is for two files; two sites say --candidates, --exact and --counts");
    if (own->candidates && !own->with) cli_misuse(c, "--candidates needs --with");
    if (set->s_field.n && one) cli_misuse(c, "--s-field is for two files: use -f");
    if (set->filter && (own->with || own->exact || own->counts))
        cli_misuse(c, "--filter makes a filter: not with --with, --exact or --counts");
    if (own->snapshots && !own->size) cli_misuse(c, "--snapshots needs --size");
    if (own->snapshots && own->method && strcmp(own->method, "sample") == 0)
        cli_misuse(c, "--snapshots hold no samples: --method must be product");
    if (own->verify && own->estimate) cli_misuse(c, "--verify and --estimate: give one of them");
    if (set->as && set->output) cli_misuse(c, "--as is for standard output: not with -o");
}

static void check_stdin(const cli_command *c, const settings *set, char *const *paths) {
    const join_own *const own = set->own;
    const char *const other = own->with     ? own->with
                              : own->exact  ? own->exact
                              : own->counts ? own->counts
                                            : paths[1];
    const bool first = strcmp(paths[0], "-") == 0, second = other && strcmp(other, "-") == 0;
    if (first && second) cli_misuse(c, "only one of R and S can come from standard input");
    if (other) reader_check(other);
    if (own->verify && !reader_can_reread(other))
        cli_misuse(c, "--verify reads S twice, so S must be a file, not standard input or a pipe");
}

static int run_join(const cli_command *c, const settings *set, char **operands, size_t n) {
    const join_own *const own = set->own;
    settings plain = *set;
    check_usage(c, set, n);
    check_stdin(c, set, operands);
    if (own->size && own->snapshots) return join_size_of_snapshots(set, operands);
    plain.stats = plain.json = false;
    relation r = relation_open(c, &plain, operands[0], &set->field);
    if (own->ship) return ship(c, set, &r);
    join j = {.c = c, .set = set, .own = own, .having = having_read(c, own->having)};
    j.exact = !own->estimate && operands[1] && reader_can_reread(operands[1]);
    j.answers_as_json = set->json && !set->stats;
    j.limit = (size_t)size_in_bytes(c, "-m", set->memory ? set->memory : DEFAULT_JOIN_MEMORY);
    if (j.limit < TALLY_LEAST) cli_misuse(c, "-m must be 64K or more, not %s", set->memory);
    j.of_r.limit = j.limit;
    int status;
    if (own->with)
        status = answer_with(&j, &r);
    else if (own->exact)
        status = count_exactly(&j, &r);
    else if (own->counts)
        status = answer_exactly(&j, &r);
    else {
        const field_list *const field = set->s_field.n ? &set->s_field : &set->field;
        relation s = relation_open(c, &plain, operands[1], field);
        status = own->size ? join_size(set, own->method, &r, &s) : answer_here(&j, &r, &s);
    }
    tally_free(&j.of_r);
    keytable_free(&j.candidates);
    return status;
}

/* ---- Options and help. */
#define OWN join_own

static const cli_option join_options[] = {
    KEY_OPTIONS,
    OPTION(0, "s-field", "LIST", OPT_FIELDS, s_field,
           "The key of a line of S, if it stands elsewhere than in R."),
    HEADING("What is asked"),
    OWN_OPTION(0, "having", "CONDITION", OPT_TEXT, having,
               "Print only keys whose number of pairs meets this condition: >, >=, =, < or <= and "
               "a whole number, such as '>=100'. (default: all keys that R and S share)"),
    OWN_FLAG(0, "estimate", estimate,
             "Read S only once: a few answers may be too high, or wrong altogether. (default: "
             "exact, if S can be read again)"),
    OWN_FLAG(0, "verify", verify,
             "Fail if the answer cannot be exact because S cannot be read again."),
    OWN_FLAG(0, "size", size,
             "Print only the total number of pairs, with a standard error and, if the filters can "
             "give one, an upper bound."),
    OWN_CHOICE(
        "method", "WHAT", "product|sample", method,
        "With --size: product, from the counters of two filters, or sample, from samples of both "
        "files and the filters' counts. (default: the one with the smaller expected error)"),
    OWN_FLAG(0, "snapshots", snapshots,
             "With --size: R and S are snapshots of spectral filters with equal specs, "
             "update=plain and span=0, not files of lines."),
    HEADING("Two sites"),
    OWN_FLAG(0, "ship", ship, "At S: write a filter of the keys of FILE, to send to R."),
    OWN_OPTION(0, "with", "SNAPSHOT", OPT_TEXT, with,
               "At R: answer from FILE and the filter that came from S."),
    OWN_FLAG(0, "candidates", candidates,
             "With --with: print the keys that may be answers, without counts, to send to S."),
    OWN_OPTION(0, "exact", "KEYS", OPT_TEXT, exact,
               "At S: print how often each line of KEYS occurs in FILE, to send to R."),
    OWN_OPTION(0, "counts", "COUNTS", OPT_TEXT, counts,
               "At R: answer exactly from FILE and the counts that came from S. Give the same "
               "--having as before."),
    HEADING("Memory"),
    OPTION('m', "memory", "SIZE", OPT_WORD, memory,
           "Memory to count keys of R exactly; what does not fit goes to temporary files, in "
           "TMPDIR or /tmp. (default: " DEFAULT_JOIN_MEMORY ")"),
    OPTION(0, "filter", "SPEC", OPT_TEXT, filter,
           "The filter of S: a kind that never counts too low. (default: a spectral filter with 6 "
           "counters for each distinct key of S)"),
    OPTION(0, "distinct", "COUNT", OPT_COUNT, distinct,
           "S has about COUNT distinct keys. (default: S is read one more time to count them)"),
    OPTION(0, "seed", "NUMBER", OPT_WORD, seed,
           "Seed of the filter. The same seed and input give the same answers. (default: random)"),
    HEADING("Output"),
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write to FILE, which appears complete at the end or not at all."),
    FLAG(0, "force", force, "Write a snapshot even to a terminal."),
    FLAG(0, "stats", stats,
         "At the end, print on standard error: candidates, answers, and how many bytes were sent "
         "between the sites (or would have been), compared with a classic Bloomjoin and with "
         "sending the column of S."),
    AS_OPTIONS,
    QUIET,
    END};

static const cli_example join_examples[] = {
    {"everbloom join --csv -f id --s-field customer people.csv orders.csv",
     "How many orders does each person have?"},
    {"everbloom join --csv -f 1 --s-field 2 --having '>=100' people.csv orders.csv",
     "Only those with a hundred or more."},
    {"everbloom join --ship -f 2 orders | ssh r everbloom join --with - people",
     "The same at two sites, with one filter sent."},
    {"everbloom join --size -f 1 a.tsv b.tsv", "How large would the join be?"},
    {NULL, NULL}};

static const char join_text[] =
    "Answers 'select a, count(*) from R, S where R.a = S.a group by a having count(*) ...': which "
    "keys occur in both R and S, and in how many pairs of lines? S is read into a small filter, "
    "which is all that R needs of S.\n\n"
    "An answer is a line with the number of pairs, a tab and the key, in no particular order. "
    "Answers are exact if S can be read a second time. If not, or with --estimate, keys of R are "
    "counted exactly and keys of S by a filter: its counts are never too low, but about 1 in 18 is "
    "too high, which includes keys that are not in S. A larger --filter makes them rarer. So no "
    "answer is missing, none is too small, and a few should not be there. With '=', '<' and '<=' "
    "every key that may be an answer is printed, with the largest number of pairs that it can "
    "have.\n\n"
    "At two sites: 'join --ship' at S writes the filter, 'join --with' at R answers. To be exact, "
    "'join --with --candidates' at R prints keys, 'join --exact' at S counts them, and 'join "
    "--counts' at R answers.";

const cli_command command_join = {
    .own = sizeof(OWN),
    .name = "join",
    .operands = "R [S]",
    .summary = "print the keys that two files share, and in how many pairs of lines",
    .text = join_text,
    .options = join_options,
    .examples = join_examples,
    .status = "if counters are full",
    .min_operands = 1,
    .max_operands = 2,
    .run = run_join};
