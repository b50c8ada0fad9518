/* cmd_sum.c - sum: how often the keys of a list occur together, what their values add up to, and
 * the mean value.
 *
 * The list is known before the lines are, so it is enough to look each key up in it: exactly, and
 * with decimals.  A filter is for lists that come later: the stream then goes through the loop of
 * count; with values, a second filter counts lines beside it. */
#include "options/options.h"
#include "parts/filterfile.h"
#include "parts/health.h"
#include "parts/keytable.h"
#include "parts/stream.h"
#include <everbloom/experimental.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct sum_own { /* options of its own */
    const char *per;
} sum_own;

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
    hash_keys(l->filter, &key, 1, &l->hash[l->n++]);
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

/* ---- Exactly. */

__extension__ typedef __int128 wide; /* billionths: sums of numbers with up to 9 decimals */
enum { DECIMALS = 9, DIGITS_MAX = 18 };

typedef struct exact {
    stream s;
    keytable list; /* count: of its lines */
    wide value[STREAM_BATCH];
    wide sum;
    uint64_t lines;
    bool values;
} exact;

/* 3, -1.5, +19.99; no exponents. */
static bool read_decimal(eb_key text, wide *value) {
    const char *p = text.p, *const end = p + text.len;
    const bool negative = p < end && *p == '-';
    int before = 0, after = 0;
    wide n = 0;
    p += p < end && (*p == '-' || *p == '+');
    for (; p < end && *p >= '0' && *p <= '9'; p++, before++) n = n * 10 + (*p - '0');
    if (p < end && *p == '.')
        for (p++; p < end && *p >= '0' && *p <= '9'; p++, after++) n = n * 10 + (*p - '0');
    if (p != end || before + after == 0 || before > DIGITS_MAX || after > DECIMALS) return false;
    for (; after < DECIMALS; after++) n *= 10;
    *value = negative ? -n : n;
    return true;
}

static bool take_value(stream *s, size_t i) {
    exact *const e = s->ctx;
    const eb_key text = s->text[i];
    if (read_decimal(reader_trimmed(text), &e->value[i])) return true;
    snprintf(s->bad.why, sizeof s->bad.why,
             "the value must be a number with up to 18 digits and 9 decimals, not \"%.*s\"",
             text.len > 40 ? 40 : (int)text.len, (const char *)text.p);
    return false;
}

static void take_lines(stream *s, const eb_batch *batch) {
    exact *const e = s->ctx;
    memset(s->hit, 0, batch->n);
    for (size_t i = 0; i < batch->n; i++) {
        table_key *const k = keytable_find(&e->list, batch->hash[i], s->key[i]);
        if (!k) continue;
        k->count++;
        e->lines++;
        if (e->values) e->sum += e->value[i];
    }
}

/* Without zeros at its end. */
static const char *decimal_text(wide n, char text[64]) {
    char digits[48] = "";
    size_t used = 0, first = 0;
    const bool negative = n < 0;
    if (negative) n = -n;
    for (; n > 0 || used <= DECIMALS; n /= 10) digits[used++] = (char)('0' + (int)(n % 10));
    while (first < DECIMALS && digits[first] == '0') first++;
    char *p = text;
    if (negative) *p++ = '-';
    for (size_t i = used; i-- > DECIMALS;) *p++ = digits[i];
    if (first < DECIMALS) *p++ = '.';
    for (size_t i = DECIMALS; i-- > first;) *p++ = digits[i];
    *p = '\0';
    return text;
}

static void report_decimal(report *r, const char *key, wide n) {
    char text[64];
    decimal_text(n, text);
    if (r->json)
        report_plain(r, key, text);
    else
        report_text(r, key, key, text);
}

static void answer_exactly(const settings *set, const exact *e) {
    uint64_t found = 0;
    report r;
    for (size_t i = 0; i < e->list.n; i++) found += e->list.keys[i].count > 0;
    report_begin(&r, stdout, set->json);
    report_count(&r, "keys", "keys", e->list.n);
    report_count(&r, "found", "of them found", found);
    report_count(&r, "count", "count", e->lines);
    if (e->values) {
        report_decimal(&r, "sum", e->sum);
        report_amount(&r, "average", "average",
                      e->lines ? (double)e->sum / 1e9 / (double)e->lines : NAN);
    }
    report_end(&r);
    finish_stdout();
}

static void list_key(exact *e, reader *in, eb_key asked) {
    eb_hash hash;
    arena_reset(&in->arena);
    const eb_key key = reader_query(in, asked);
    hash_keys(e->s.filter, &key, 1, &hash);
    (void)keytable_get(&e->list, hash, key);
}

typedef struct listing {
    exact *e;
    reader *in;
} listing;

static void list_line(void *ctx, reader *r, const char *line, const char *end) {
    const listing *const l = ctx;
    (void)r;
    list_key(l->e, l->in, (eb_key){line, (size_t)(end - line)});
}

static void read_exact_list(const settings *set, exact *e) {
    reader how = {.fd = -1, .ignore_case = set->ignore_case, .trim = set->trim};
    listing l = {e, &how};
    for (size_t i = 0; i < set->keys.n; i++)
        list_key(e, &how, (eb_key){set->keys.text[i], strlen(set->keys.text[i])});
    if (set->queries) {
        reader in = {.separator = set->nul ? '\0' : '\n'};
        reader_open_one(&in, set->queries);
        reader_each(&in, list_line, &l);
        reader_close(&in);
    }
    reader_close(&how);
}

static int sum_exactly(const cli_command *c, const settings *set, char **operands) {
    const settings hasher = {.filter = "bloom:cells=64,k=1", .seed = "random"};
    exact *const e = cli_alloc(sizeof *e);
    *e = (exact){.s = {.set = set, .print = PRINT_NONE}, .values = set->weight_field.n > 0};
    e->s.look_up = take_lines;
    e->s.ctx = e;
    if (e->values) e->s.accept = take_value;
    e->s.wants_text = e->values;
    e->s.keeps_zeros = true;
    stream_open(&e->s, c, operands);
    e->s.filter = filter_open(c, &hasher);
    read_exact_list(set, e);
    const int status = stream_run(&e->s);
    if (status == STATUS_YES) answer_exactly(set, e);
    stream_close(&e->s);
    eb_free(e->s.filter);
    keytable_free(&e->list);
    free(e);
    return status;
}

/* ---- The command. */

static void check_usage(const cli_command *c, const settings *set, char *const *paths) {
    const sum_own *const own = set->own;
    const bool dash = set->queries && strcmp(set->queries, "-") == 0;
    if (!set->queries && set->keys.n == 0)
        cli_misuse(c, "nothing to do: name keys with --key or --queries");
    if (own->per && !set->snapshot) cli_misuse(c, "--per needs --snapshot");
    if (dash && !set->snapshot && (!*paths || strcmp(*paths, "-") == 0))
        cli_misuse(c, "the lines and the queries cannot both come from standard input");
    if (set->snapshot && *paths) cli_misuse(c, "--snapshot only queries a filter: give no FILE");
    if (set->snapshot && (set->filter || set->memory || set->seed || set->weight_field.n))
        cli_misuse(c, "--snapshot only queries a filter: leave out the options that make one");
    if (set->queries) reader_check(set->queries);
}

static void open_counting(const cli_command *c, const settings *set, snapshot *s,
                          const char *path) {
    snapshot_open_to_ask(s, set, path);
    refuse_numbers(c, s->view);
    if (!(eb_caps(s->view) & EB_CAN_COUNT))
        cli_fail("%s: this kind of filter does not count", path);
}

static int ask_snapshots(const cli_command *c, const settings *set) {
    const sum_own *const own = set->own;
    snapshot sums, counts = {0};
    open_counting(c, set, &sums, set->snapshot);
    if (own->per) open_counting(c, set, &counts, own->per);
    const int status = answer(set, sums.view, counts.view);
    snapshot_close(&sums);
    if (own->per) snapshot_close(&counts);
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
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(f));
    if (eb_new(&g, spec, NULL, &err) != EB_OK) cli_fail("%s", err.text);
    return g;
}

static bool sum_filter(const cli_command *c, const settings *set, char *spec, size_t cap) {
    (void)c, (void)set;
    snprintf(spec, cap, "%s", DEFAULT_SUM);
    return false;
}

static int run_sum(const cli_command *c, const settings *set, char **operands, size_t n) {
    (void)n;
    check_usage(c, set, operands);
    if (set->snapshot) return ask_snapshots(c, set);
    if (!set->filter && !set->memory) return sum_exactly(c, set, operands);
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

/* ---- Options and help. */
#define OWN sum_own

static const cli_option sum_options[] = {
    KEY_OPTIONS,
    OPTION(0, "weight-field", "FIELD", OPT_FIELD, weight_field,
           "This field of a line is its value, such as 3, -1.5 or 19.99. Sums and averages of the "
           "values are then printed, too. A line of value 0 counts as a line."),
    HEADING("What is asked"),
    OPTION(0, "key", "KEY", OPT_TEXTS, keys, "Add KEY to the list. May be given several times."),
    OPTION(0, "queries", "FILE", OPT_TEXT, queries,
           "Add each line of FILE to the list. Duplicates count once. - is standard input."),
    SNAPSHOT_OPTION,
    OWN_OPTION(0, "per", "FILE", OPT_TEXT, per,
               "Print averages, too: the filter in --snapshot holds sums of values, and the one in "
               "FILE counts of lines. Both need the same seed."),
    HEADING("What is printed"),
    FLAG(0, "json", json, "One JSON object."),
    FILTER_OPTIONS("spectral:update=plain,span=0"),
    HEADING("Reports"),
    QUIET,
    END};

static const cli_example sum_examples[] = {
    {"everbloom sum --csv -f 2 --queries vip.txt orders.csv",
     "How many orders do the customers of a list have?"},
    {"everbloom sum --csv -f 2 --weight-field 4 --queries vip.txt orders.csv",
     "What they spent, in total and on average."},
    {"everbloom sum --snapshot euros.eb --per orders.eb --queries vip.txt",
     "The same from saved filters."},
    {NULL, NULL}};

static const char sum_text[] =
    "Reads the lines of the FILEs, or of standard input if there is none or it is -, once, and "
    "prints how often the keys of a list occur in total, the sum of their values (--weight-field), "
    "and the mean value. Only the list is held in memory, and all numbers are exact.\n\n"
    "With -m, --filter or --snapshot the answers come from a filter that counts all keys, so the "
    "list can be made later; values must be whole numbers. Two numbers are then printed: an "
    "estimate that is right on average, with its standard error, and 'at most', which is certain. "
    "With many small counts the estimate is closer to the truth, with a few large ones 'at most'; "
    "the estimate may then even be larger than that, or below 0. The average lies between the two "
    "numbers printed, unless the count or the sum is off by more than two standard errors. Filters "
    "to be asked with "
    "--snapshot should have update=plain and span=0; others can only say 'at most'.";

const cli_command command_sum = {.own = sizeof(OWN),
                                 .name = "sum",
                                 .operands = "[FILE]...",
                                 .summary = "add up the counts or values of a list of keys",
                                 .text = sum_text,
                                 .options = sum_options,
                                 .examples = sum_examples,
                                 .status = "if counters are full",
                                 .max_operands = CLI_MANY,
                                 .run = run_sum,
                                 .filter = sum_filter};
