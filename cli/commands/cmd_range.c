/* cmd_range.c - range: numbers or times into a dyadic filter, how many lie in a range, quantiles.
 *
 * The stream goes through the loop of add, with numbers for hashes.  Questions are read before it,
 * so that a bad one costs no time, and answered when it has ended. */
#include "input/numbers.h"
#include "input/times.h"
#include "options/options.h"
#include "output/table.h"
#include "parts/filterfile.h"
#include "parts/health.h"
#include "parts/stream.h"
#include <everbloom/experimental.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct range_own {                   /* options of its own */
    const char *values, *min, *max, *ranges; /* NULL: not given */
    uint64_t bits;                           /* 0: not given */
    texts from, to, quantiles;
} range_own;

/* ---- The domain. */

static bool names_domain(const settings *set) {
    const range_own *const own = set->own;
    return own->values || own->min || own->max || own->bits;
}

/* Times in all the ways that logs write them; one without a year is of the last twelve months. */
static bool read_value(number_kind kind, eb_key text, uint64_t *value) {
    static const uint64_t half_year = UINT64_C(182) * 86400;
    uint64_t ms;
    if (kind != NUMBER_TIME ||
        !time_read(text, NULL, ((uint64_t)time(NULL) - half_year) * 1000, &ms))
        return number_read(kind, text, value);
    *value = number_from_signed((int64_t)(ms / 1000));
    return true;
}

static uint64_t read_bound(const cli_command *c, number_kind kind, const char *option,
                           const char *text) {
    uint64_t value;
    if (read_value(kind, (eb_key){text, strlen(text)}, &value)) return value;
    cli_misuse(c, "%s must be %s, not \"%s\"", option, number_wanted(kind), text);
}

static unsigned bits_of(uint64_t n) {
    unsigned bits = 1;
    while (bits < 64 && n >> bits != 0) bits++;
    return bits;
}

static uint64_t ones(unsigned n) {
    return UINT64_MAX >> (64 - n);
}

/* Where a domain of so many bits begins if nobody says: signed numbers on both sides of 0. */
static uint64_t usual_low(number_kind kind, unsigned width) {
    if (width == 64 || kind == NUMBER_UNSIGNED) return 0;
    return number_origin(kind) - (kind == NUMBER_SIGNED ? UINT64_C(1) << (width - 1) : 0);
}

/* The spec of a new filter, from --values, --min, --max and --bits. */
static void domain_spec(const cli_command *c, const settings *set, char *spec, size_t cap) {
    const range_own *const own = set->own;
    number_kind kind = NUMBER_SIGNED;
    unsigned width = own->bits ? (unsigned)own->bits : 32;
    if (own->values) (void)number_kind_named(own->values, &kind);
    if (!own->min != !own->max) cli_misuse(c, "--min and --max: give both of them");
    if (own->min && own->bits) cli_misuse(c, "--bits and --min: give one of them");
    if (kind == NUMBER_REAL && (own->min || own->bits))
        cli_misuse(c, "--values real takes all numbers: no --min, --max or --bits");
    if (own->bits > 64)
        cli_misuse(c, "--bits must be 1..64, not %llu", (unsigned long long)own->bits);
    uint64_t low = usual_low(kind, width);
    if (own->min) {
        const uint64_t high = read_bound(c, kind, "--max", own->max);
        low = read_bound(c, kind, "--min", own->min);
        if (low > high) cli_misuse(c, "--min must be at most --max");
        width = bits_of(high - low);
        if (low > UINT64_MAX - ones(width)) low = UINT64_MAX - ones(width);
    }
    if (number_is_signed(kind))
        snprintf(spec, cap, "dyadic:bits=%u,low=%lld,keys=i64,values=%s", width,
                 (long long)number_to_signed(low), kind == NUMBER_TIME ? "time" : "number");
    else
        snprintf(spec, cap, "dyadic:bits=%u,low=%llu,keys=u64,values=%s", width,
                 (unsigned long long)low, kind == NUMBER_REAL ? "real" : "number");
}

/* ---- Questions. */

typedef struct question {
    uint64_t from, to;
    double quantile;
    bool is_quantile;
} question;

typedef struct asker {
    const cli_command *c;
    const settings *set;
    const eb_filter *filter;
    number_kind kind;
    uint64_t low, high;
    question *list;
    size_t n, cap;
    table rows;
} asker;

/* What kind of numbers a filter has, and which is the least. */
static void read_domain(asker *a, const char *name) {
    char spec[EB_SPEC_MAX], keys[EB_SPEC_MAX], written[EB_SPEC_MAX], low[EB_SPEC_MAX];
    double bits;
    eb_error err;
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(a->filter));
    if (!(eb_caps(a->filter) & EB_KEYS_ARE_NUMBERS))
        cli_fail("%s: %.*s filters cannot answer ranges: use dyadic", name, (int)strcspn(spec, ":"),
                 spec);
    if (eb_spec_get(spec, "keys", keys, sizeof keys, NULL, &err) != EB_OK ||
        eb_spec_get(spec, "values", written, sizeof written, NULL, &err) != EB_OK ||
        eb_spec_get(spec, "low", low, sizeof low, NULL, &err) != EB_OK ||
        eb_spec_get(spec, "bits", NULL, 0, &bits, &err) != EB_OK)
        cli_fail("%s: %s", name, err.text);
    a->kind = strcmp(written, "time") == 0   ? NUMBER_TIME
              : strcmp(written, "real") == 0 ? NUMBER_REAL
              : strcmp(keys, "i64") == 0     ? NUMBER_SIGNED
                                             : NUMBER_UNSIGNED;
    (void)number_read(number_is_signed(a->kind) ? NUMBER_SIGNED : NUMBER_UNSIGNED,
                      (eb_key){low, strlen(low)}, &a->low);
    a->high = a->low + ones((unsigned)bits);
}

static void open_asker(asker *a, const cli_command *c, const settings *set, const eb_filter *f,
                       const char *name) {
    *a = (asker){.c = c, .set = set, .filter = f};
    read_domain(a, name);
}

static void push(asker *a, question q) {
    a->list = cli_grow(a->list, &a->cap, (a->n + 1) * sizeof *a->list);
    a->list[a->n++] = q;
}

/* The end of a range, inside of the domain. */
static uint64_t read_end(const asker *a, const char *name, eb_key text) {
    char low[NUMBER_TEXT], high[NUMBER_TEXT];
    uint64_t value;
    if (!read_value(a->kind, text, &value))
        cli_fail("%s must be %s, not \"%.*s\"", name, number_wanted(a->kind), (int)text.len,
                 (const char *)text.p);
    if (value >= a->low && value <= a->high) return value;
    number_write(a->kind, a->low, low);
    number_write(a->kind, a->high, high);
    cli_fail("%s must be %s..%s, not %.*s", name, low, high, (int)text.len, (const char *)text.p);
}

static void push_range(asker *a, const char *from_name, eb_key from, const char *to_name,
                       eb_key to) {
    question q = {.from = a->low, .to = a->high};
    if (from.p) q.from = read_end(a, from_name, from);
    if (to.p) q.to = read_end(a, to_name, to);
    if (q.from > q.to)
        cli_fail("a range must end after its start, not from %.*s to %.*s", (int)from.len,
                 (const char *)from.p, (int)to.len, (const char *)to.p);
    push(a, q);
}

static eb_key key_of(const char *text) {
    return (eb_key){text, text ? strlen(text) : 0};
}

static bool split_at_tab(const char *line, const char *end, eb_key *left, eb_key *right) {
    const char *tab = line;
    while (tab < end && *tab != '\t') tab++;
    if (tab == end) return false;
    *left = (eb_key){line, (size_t)(tab - line)};
    *right = (eb_key){tab + 1, (size_t)(end - tab - 1)};
    return true;
}

static void take_range_line(void *ctx, reader *r, const char *line, const char *end) {
    char from_name[320], to_name[320];
    eb_key from, to;
    const unsigned long long number = r->records;
    if (!split_at_tab(line, end, &from, &to))
        cli_fail("%s: line %llu: a range is two values with a tab between", r->name, number);
    snprintf(from_name, sizeof from_name, "%.200s: line %llu: from", r->name, number);
    snprintf(to_name, sizeof to_name, "%.200s: line %llu: to", r->name, number);
    push_range(ctx, from_name, from, to_name, to);
}

static double read_quantile(const cli_command *c, const char *text) {
    char *end;
    const double q = strtod(text, &end);
    if (end == text || *end || !(q >= 0 && q <= 1))
        cli_misuse(c, "--quantile must be a number from 0 to 1, not \"%s\"", text);
    return q;
}

/* A single --from or --to goes to the end of the domain. */
static void read_questions(asker *a) {
    const settings *const set = a->set;
    const range_own *const own = set->own;
    const size_t ranges = own->from.n > own->to.n ? own->from.n : own->to.n;
    for (size_t i = 0; i < ranges; i++)
        push_range(a, "--from", key_of(i < own->from.n ? own->from.text[i] : NULL), "--to",
                   key_of(i < own->to.n ? own->to.text[i] : NULL));
    if (own->ranges) {
        reader in = {.separator = set->nul ? '\0' : '\n'};
        reader_open_one(&in, own->ranges);
        reader_each(&in, take_range_line, a);
        reader_close(&in);
    }
    for (size_t i = 0; i < own->quantiles.n; i++)
        push(a, (question){.quantile = read_quantile(a->c, own->quantiles.text[i]),
                           .is_quantile = true});
}

/* ---- Answers. */

/* Numbers as they are, times in quotes. */
static void report_number(report *r, number_kind kind, const char *key, uint64_t value) {
    char text[NUMBER_TEXT];
    number_write(kind, value, text);
    if (kind == NUMBER_TIME)
        report_text(r, key, key, text);
    else
        report_plain(r, key, text);
}

static void put_number(asker *a, uint64_t value) {
    char text[NUMBER_TEXT];
    number_write(a->kind, value, text);
    table_number(&a->rows, text);
}

static void answer_range(asker *a, const question *q) {
    eb_range r = {.size = sizeof r};
    eb_error err;
    if (eb_range_count(a->filter, number_as_key(a->kind, q->from), number_as_key(a->kind, q->to),
                       &r, &err) != EB_OK)
        cli_fail("%s", err.text);
    r.upper = count_or_infinity(r.upper, INFINITY);
    if (!a->set->json) {
        for (int i = 0; i < 3; i++) table_count(&a->rows, i == 1 ? r.lower : r.upper);
        put_number(a, q->from);
        put_number(a, q->to);
        table_end_row(&a->rows);
        return;
    }
    report out;
    report_begin(&out, stdout, true);
    report_number(&out, a->kind, "from", q->from);
    report_number(&out, a->kind, "to", q->to);
    report_real(&out, "count", "count", r.upper);
    report_real(&out, "lower", "lower", r.lower);
    report_real(&out, "upper", "upper", r.upper);
    report_end(&out);
}

static void answer_quantile(asker *a, const question *q) {
    eb_quantile o = {.size = sizeof o};
    char share[40];
    eb_error err;
    if (eb_range_quantile(a->filter, q->quantile, &o, &err) != EB_OK) cli_fail("%s", err.text);
    o.value = number_from_key(a->kind, o.value);
    o.lower = number_from_key(a->kind, o.lower);
    o.upper = number_from_key(a->kind, o.upper);
    snprintf(share, sizeof share, "%g", q->quantile);
    if (!a->set->json) {
        put_number(a, o.value);
        put_number(a, o.lower);
        put_number(a, o.upper);
        table_number(&a->rows, share);
        table_end_row(&a->rows);
        return;
    }
    report out;
    report_begin(&out, stdout, true);
    report_real(&out, "quantile", "quantile", q->quantile);
    report_number(&out, a->kind, "value", o.value);
    report_number(&out, a->kind, "lower", o.lower);
    report_number(&out, a->kind, "upper", o.upper);
    report_end(&out);
}

/* Ranges first, then quantiles, whose rows have other columns. */
static void open_rows(asker *a, bool quantiles) {
    static const char *const ranges[] = {"count", "lower", "upper", "from", "to", NULL};
    static const char *const found[] = {"value", "lower", "upper", "quantile", NULL};
    if (!a->set->json) table_open(&a->rows, a->set, quantiles ? found : ranges);
}

static int answer_all(asker *a) {
    for (size_t i = 0; i < a->n; i++) {
        const bool quantile = a->list[i].is_quantile;
        if (i == 0 || quantile != a->list[i - 1].is_quantile) {
            if (i > 0 && !a->set->json) table_close(&a->rows);
            open_rows(a, quantile);
        }
        (quantile ? answer_quantile : answer_range)(a, &a->list[i]);
        if (ferror(stdout)) break; /* nobody listens any more */
    }
    if (a->n > 0 && !a->set->json) table_close(&a->rows);
    finish_stdout();
    free(a->list);
    return counters_verdict(a->filter);
}

/* ---- The command. */

static void check_stdin(const cli_command *c, const settings *set, char *const *paths) {
    const range_own *const own = set->own;
    bool lines = !set->snapshot && !*paths;
    for (; *paths; paths++) lines = lines || strcmp(*paths, "-") == 0;
    if (!own->ranges || strcmp(own->ranges, "-") != 0) return;
    if (lines) cli_misuse(c, "the lines and the ranges cannot both come from standard input");
    if (set->snapshot && strcmp(set->snapshot, "-") == 0)
        cli_misuse(c, "the snapshot and the ranges cannot both come from standard input");
}

static void check_usage(const cli_command *c, const settings *set) {
    const range_own *const own = set->own;
    const bool asks = own->from.n + own->to.n + own->quantiles.n > 0 || own->ranges;
    if (set->save && set->state) cli_misuse(c, "--save and --state: give one of them");
    if (own->from.n != own->to.n && own->from.n + own->to.n > 1)
        cli_misuse(c, "--from and --to: give as many of one as of the other");
    if (!asks && !set->save && !set->state)
        cli_misuse(c, "nothing to do: ask with --from and --to, --ranges or --quantile, or save "
                      "with --save or --state");
    if (asks && set->save && strcmp(set->save, "-") == 0)
        cli_misuse(c, "the snapshot and the answers cannot both go to standard output");
    if (set->filter && names_domain(set))
        cli_misuse(c, "--values, --min, --max and --bits choose a filter: not with --filter");
    if (set->names && set->json) cli_misuse(c, "--names and --json: give one of them");
    if (set->save && strcmp(set->save, "-") == 0) refuse_terminal(c, set, "a snapshot");
}

static int ask_snapshot(const cli_command *c, const settings *set, char *const *paths) {
    snapshot snap;
    asker a;
    if (*paths) cli_misuse(c, "--snapshot only queries a filter: give no FILE, or use --state");
    if (set->save || set->state || set->filter || set->memory || set->seed || names_domain(set))
        cli_misuse(c,
                   "--snapshot only queries a filter: leave out the options that make or save one");
    snapshot_open_or_fail(&snap, set->snapshot);
    open_asker(&a, c, set, snap.view, set->snapshot);
    read_questions(&a);
    const int status = answer_all(&a);
    snapshot_close(&snap);
    return status;
}

/* The number that a key is takes the place of its hash. */
static bool accept_number(stream *s, size_t i) {
    const asker *const a = s->ctx;
    const eb_key text = s->key[i];
    const int shown = text.len > 40 ? 40 : (int)text.len;
    char low[NUMBER_TEXT], high[NUMBER_TEXT];
    if (!read_value(a->kind, text, &s->hash[i])) {
        uint64_t real;
        const bool decimal = memchr(text.p, '.', text.len) && number_read(NUMBER_REAL, text, &real);
        snprintf(s->bad.why, sizeof s->bad.why, "the value must be %s, not \"%.*s\"%s",
                 number_wanted(a->kind), shown, (const char *)text.p,
                 decimal ? " (--values real takes decimals)" : "");
        return false;
    }
    if (s->hash[i] >= a->low && s->hash[i] <= a->high) return true;
    number_write(a->kind, a->low, low);
    number_write(a->kind, a->high, high);
    snprintf(s->bad.why, sizeof s->bad.why, "the value must be %s..%s, not %.*s", low, high, shown,
             (const char *)text.p);
    return false;
}

static void keep_numbers(const stream *s, const eb_key *key, size_t n, eb_hash *out) {
    (void)s, (void)key, (void)n, (void)out;
}

static bool range_filter(const cli_command *c, const settings *set, char *spec, size_t cap) {
    (void)c, (void)set;
    snprintf(spec, cap, "%s", DEFAULT_RANGE);
    return false;
}

static int run_range(const cli_command *c, const settings *set, char **operands, size_t n) {
    const range_own *const own = set->own;
    char spec[200];
    settings with_domain = *set;
    asker a;
    (void)n;
    check_usage(c, set);
    check_stdin(c, set, operands);
    if (own->ranges) reader_check(own->ranges);
    if (set->snapshot) return ask_snapshot(c, set, operands);
    if (names_domain(set)) {
        domain_spec(c, set, spec, sizeof spec);
        with_domain.filter = spec;
    }
    stream s = {.set = set, .print = PRINT_NONE, .adds = true, .state = set->state};
    stream_open(&s, c, operands);
    s.filter = filter_open_numbers(c, &with_domain);
    open_asker(&a, c, set, s.filter, "range");
    read_questions(&a);
    s.ctx = &a;
    s.accept = accept_number;
    s.hash_keys = keep_numbers;
    values_open(&s.values, c, set, s.filter, true);
    int status = stream_run(&s);
    if (status == STATUS_YES) {
        if (set->save) filter_save_keys(s.filter, set, set->save);
        status = answer_all(&a);
    }
    if (set->stats) stream_stats(&s);
    stream_close(&s);
    eb_free(s.filter);
    return status;
}

/* ---- Options and help. */
#define OWN range_own

static const cli_option range_options[] = {
    KEY_OPTIONS,
    WEIGHT_OPTION,
    HEADING("What values there are"),
    OWN_CHOICE("values", "WHAT", "signed|unsigned|time|real", values,
               "signed or unsigned: whole numbers. time: seconds since 1970, or times such as "
               "2026-01-31T12:00:00+01:00; fractions of a second are ignored. real: any number, "
               "such as -0.25 or 1e9, to six digits. (default: signed)"),
    OWN_OPTION(0, "min", "A", OPT_TEXT, min, "The smallest possible value. Needs --max."),
    OWN_OPTION(0, "max", "B", OPT_TEXT, max,
               "The largest possible value. The domain is rounded up to a power of two. Smaller "
               "domains give faster and better answers."),
    OWN_OPTION(
        0, "bits", "N", OPT_INDEX, bits,
        "Instead of --min and --max: values of N bits, 1 to 64; times from 1970 on. (default: 32)"),
    HEADING("What is asked"),
    OWN_OPTION(0, "from", "A", OPT_TEXTS, from,
               "Estimate how many values lie between A and the --to that follows, both included; "
               "without a --to, how many are at least A. May be given several times."),
    OWN_OPTION(0, "to", "B", OPT_TEXTS, to, "The end of a range."),
    OWN_OPTION(0, "ranges", "FILE", OPT_TEXT, ranges,
               "The same for each line of FILE: two values separated by a tab."),
    OWN_OPTION(0, "quantile", "Q", OPT_TEXTS, quantiles,
               "Print the smallest value such that a share Q (0 to 1) of all values is no larger. "
               "May be given several times."),
    SNAPSHOT_OPTION,
    HEADING("What is printed"),
    AS_OPTIONS,
    FILTER_OPTIONS("dyadic"),
    KEEP_OPTIONS,
    RUN_REPORTS,
    END};

static const cli_example range_examples[] = {
    {"everbloom range --csv -f 3 --min -50 --max 60 --from 0 --to 9 weather.csv",
     "How many readings are from 0 to 9?"},
    {"everbloom range --values time -f 1 --save times.eb events.tsv", "Keep the times of events."},
    {"everbloom range --snapshot times.eb --from 2026-01-01T00:00:00Z",
     "How many happened this year?"},
    {"everbloom range --values real --quantile 0.5 --quantile 0.99 seconds.txt",
     "Median and tail."},
    {NULL, NULL}};

static const char range_text[] =
    "Counts the numbers or times in the lines of the FILEs, or of standard input if there is none "
    "or it is -, in one pass and in fixed memory, and then prints how many of them lie in a range, "
    "or which value is a quantile. The filter can be saved (--save, --state), merged, and queried "
    "later (--snapshot).\n\n"
    "An answer is a line of columns separated by tabs: for a range the estimate, a lower and an "
    "upper bound, and its two ends; for a quantile the estimate, the smallest and the largest "
    "value that it can be, and the share. Both bounds are certain. The estimate of a range is its "
    "upper bound, which is nearly always exact if the filter is large enough.\n\n"
    "A line whose value is not a number or outside the domain is a bad line (--on-bad). Adding a "
    "value takes time in proportion to the bits of the domain.";

const cli_command command_range = {
    .own = sizeof(OWN),
    .name = "range",
    .operands = "[FILE]...",
    .summary = "estimate how many numbers or times lie in a range, and quantiles",
    .text = range_text,
    .options = range_options,
    .examples = range_examples,
    .status = "if counters are full",
    .max_operands = CLI_MANY,
    .run = run_range,
    .filter = range_filter};
