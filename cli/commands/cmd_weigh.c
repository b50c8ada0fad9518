/* cmd_weigh.c - weigh: learns from a query log which keys deserve more bits, and, if the members
 * are given, builds the weighted filter and measures it against a plain one of the same size.
 *
 * Then the last quarter of the queries is kept for measuring, and nothing is learnt from it, as it
 * will be with the queries of tomorrow: so a log that drifts shows.  Keys of the sample are held in
 * memory, of members only their hashes, which are those of the filter to be. */
#include "input/bad.h"
#include "io.h"
#include "options/options.h"
#include "parts/filterfile.h"
#include "parts/weigh.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct weigh_own { /* options of its own */
    double hot;
    const char *members; /* NULL: not given */
} weigh_own;

enum { LEARNT_QUARTERS = 3, SPEC_CAP = 1024, BATCH = 512, TRIALS = 100, TRIAL_KEYS = 20000000 };
#define HOT_MAX 1e9
#define BITS_PER_MEMBER 10 /* of a filter to be, whose members nobody has counted */

typedef struct weighing {
    const settings *set;
    const weigh_own *own;
    eb_filter *hasher; /* with the seed of the filter to be */
    keytable sample;
    uint32_t *order; /* numbers of the keys that were asked for, if some are kept */
    size_t order_cap;
    uint64_t queries, lines;
    bad_lines bad;
    char memory[32];
    eb_hash *members; /* sorted, distinct */
    size_t n_members, members_cap;
    weigh_task task;
    weigh_plan plan, plain;
} weighing;

typedef struct measured {
    uint64_t queries;         /* for keys that are no members */
    uint64_t weighted, plain; /* false positives of the filter itself and of its plain twin */
    uint64_t filters, all_weighted, all_plain; /* the same of filters with other hashes, too */
} measured;

/* ---- Reading. */

static eb_hash hash_of(const weighing *w, eb_key key) {
    eb_hash hash;
    hash_keys(w->hasher, &key, 1, &hash);
    return hash;
}

static void take_query(void *ctx, reader *r, const char *line, const char *end) {
    weighing *const w = ctx;
    eb_key key;
    if (reader_is_header(r, line, end)) return;
    w->lines++;
    if (!reader_get(r, READER_KEY, line, end, &key)) {
        reader_explain(r, w->bad.why, sizeof w->bad.why);
        bad_note(&w->bad, r->name, r->records);
        if (w->bad.policy == BAD_FAIL) bad_fail(&w->bad);
        return;
    }
    table_key *const k = keytable_get(&w->sample, hash_of(w, key), key);
    const size_t number = (size_t)(k - w->sample.keys);
    k->count++;
    if (w->own->members) {
        if (number > UINT32_MAX) cli_fail("the sample has more than 2^32 different keys");
        w->order = cli_grow(w->order, &w->order_cap, (w->queries + 1) * sizeof *w->order);
        w->order[w->queries] = (uint32_t)number;
    }
    w->queries++;
}

static void keep_last_quarter(weighing *w) {
    for (uint64_t i = w->queries * LEARNT_QUARTERS / 4; i < w->queries; i++) {
        table_key *const k = &w->sample.keys[w->order[i]];
        k->count--;
        k->kept++;
    }
    free(w->order);
    w->order = NULL;
}

static void take_member(void *ctx, reader *r, const char *line, const char *end) {
    weighing *const w = ctx;
    const eb_key key = {line, (size_t)(end - line)};
    const eb_hash hash = hash_of(w, key);
    table_key *const asked = keytable_find(&w->sample, hash, key);
    (void)r;
    if (asked) asked->member = true;
    w->members = cli_grow(w->members, &w->members_cap, (w->n_members + 1) * sizeof hash);
    w->members[w->n_members++] = hash;
}

static int by_hash(const void *a, const void *b) {
    const eb_hash x = *(const eb_hash *)a, y = *(const eb_hash *)b;
    return (x > y) - (x < y);
}

static void read_members(weighing *w, const char *path) {
    reader r = {.separator = w->set->nul ? '\0' : '\n'};
    size_t distinct = 0;
    reader_open_one(&r, path);
    reader_each(&r, take_member, w);
    if (w->n_members == 0) cli_fail("%s: there is no member in it", r.name);
    reader_close(&r);
    qsort(w->members, w->n_members, sizeof *w->members, by_hash);
    for (size_t i = 0; i < w->n_members; i++)
        if (distinct == 0 || w->members[i] != w->members[distinct - 1])
            w->members[distinct++] = w->members[i];
    w->n_members = distinct;
}

static void read_all(weighing *w, const cli_command *c, char **operands) {
    reader r = {0};
    reader_options(&r, c, w->set);
    bad_open(&w->bad, w->set, BAD_SKIP);
    reader_open(&r, operands);
    reader_each(&r, take_query, w);
    bad_tell(&w->bad, w->lines, true);
    reader_close(&r);
    if (w->queries == 0) cli_fail("the sample is empty");
    if (!w->own->members) return;
    keep_last_quarter(w);
    read_members(w, w->own->members);
}

/* ---- Filters. */

static eb_filter *make(const weighing *w, const char *spec) {
    char text[SPEC_CAP + 32];
    eb_filter *f;
    eb_error err;
    snprintf(text, sizeof text, "%s,seed=%llu", spec,
             (unsigned long long)filter_option(w->hasher, "seed"));
    if (eb_new(&f, text, NULL, &err) != EB_OK) cli_fail("%s", err.text);
    return f;
}

/* Hashes as another seed would have made them; trial 0 is the seed itself. */
static eb_hash hash_in_trial(eb_hash h, uint64_t trial) {
    if (trial == 0) return h;
    h += trial * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

static void add_members(const weighing *w, eb_filter *f, uint64_t trial) {
    for (size_t i = 0; i < w->n_members; i += BATCH) {
        eb_hash hash[BATCH];
        eb_batch batch = eb_batch_hashes(hash, 0);
        eb_error err;
        for (; batch.n < BATCH && i + batch.n < w->n_members; batch.n++)
            hash[batch.n] = hash_in_trial(w->members[i + batch.n], trial);
        if (eb_add_batch(f, &batch, &err) != EB_OK)
            cli_fail("the filter refuses members: %s", err.text);
    }
}

static void classify(const weighing *w, eb_filter *f, uint64_t trial) {
    eb_error err;
    for (size_t i = 0; i < w->sample.n; i++) {
        const uint64_t class_number = weigh_class(&w->plan, &w->task, &w->sample.keys[i]);
        const eb_hash hash = hash_in_trial(w->sample.keys[i].hash, trial);
        eb_batch one = eb_batch_hashes(&hash, 1);
        one.value = &class_number;
        if (class_number > 0 && eb_classify(f, &one, &err) != EB_OK) cli_fail("%s", err.text);
    }
}

static eb_filter *build_weighted(const weighing *w, uint64_t trial) {
    char spec[SPEC_CAP];
    weigh_spec(&w->task, &w->plan, spec, sizeof spec);
    eb_filter *f = make(w, spec);
    classify(w, f, trial);
    add_members(w, f, trial);
    return f;
}

static eb_filter *build_plain(const weighing *w, uint64_t trial) {
    char spec[SPEC_CAP];
    snprintf(spec, sizeof spec, "bloom:memory=%s,k=%u", w->task.memory, w->plain.k[0]);
    eb_filter *f = make(w, spec);
    add_members(w, f, trial);
    return f;
}

/* ---- Measuring. */

static uint64_t false_positives(const weighing *w, const eb_filter *f, uint64_t trial) {
    uint64_t n = 0;
    for (size_t i = 0; i < w->sample.n; i++) {
        const table_key *const k = &w->sample.keys[i];
        const eb_hash hash = hash_in_trial(k->hash, trial);
        uint8_t seen = 0;
        eb_batch one = eb_batch_hashes(&hash, 1);
        one.seen = &seen;
        if (!k->member && k->kept > 0 && eb_ask_batch(f, &one, NULL) != EB_OK)
            cli_fail("the filter refuses queries");
        n += seen ? k->kept : 0;
    }
    return n;
}

/* One hot key that is a false positive by chance outweighs thousands: more filters with other
 * hashes are measured, as many as are made quickly. */
static void measure_more(const weighing *w, measured *m) {
    const uint64_t keys = w->n_members + w->sample.n;
    m->all_weighted = m->weighted;
    m->all_plain = m->plain;
    for (m->filters = 1; m->filters < TRIALS && m->filters * keys < TRIAL_KEYS; m->filters++) {
        eb_filter *const weighted = build_weighted(w, m->filters);
        eb_filter *const plain = build_plain(w, m->filters);
        m->all_weighted += false_positives(w, weighted, m->filters);
        m->all_plain += false_positives(w, plain, m->filters);
        eb_free(weighted);
        eb_free(plain);
    }
}

static measured measure(const weighing *w, const eb_filter *weighted) {
    measured m = {0};
    eb_filter *const plain = build_plain(w, 0);
    for (size_t i = 0; i < w->sample.n; i++)
        m.queries += w->sample.keys[i].member ? 0 : w->sample.keys[i].kept;
    m.weighted = false_positives(w, weighted, 0);
    m.plain = false_positives(w, plain, 0);
    eb_free(plain);
    measure_more(w, &m);
    return m;
}

/* ---- The hot list. */

static int hotter_first(const void *a, const void *b) {
    const table_key *const x = *(const table_key *const *)a, *const y =
                                                                 *(const table_key *const *)b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->at > y->at) - (x->at < y->at);
}

static void print_key(const weighing *w, output *out, const table_key *k) {
    const char separator = w->set->nul ? '\0' : '\n';
    char number[16];
    if (memchr(w->sample.bytes + k->at, separator, k->len))
        cli_fail("a key contains a newline: use -0");
    const int n = snprintf(number, sizeof number, "%u\t", weigh_class(&w->plan, &w->task, k));
    output_put(out, number, (size_t)n);
    output_put(out, w->sample.bytes + k->at, k->len);
    output_put(out, &separator, 1);
}

static void print_list(const weighing *w) {
    const table_key **const hot = cli_alloc((w->plan.hot + 1) * sizeof *hot);
    size_t n = 0;
    output out;
    for (size_t i = 0; i < w->sample.n; i++)
        if (weigh_class(&w->plan, &w->task, &w->sample.keys[i]) > 0) hot[n++] = &w->sample.keys[i];
    qsort(hot, n, sizeof *hot, hotter_first);
    output_open(&out, STDOUT_FILENO, "standard output");
    for (size_t i = 0; i < n; i++) print_key(w, &out, hot[i]);
    output_flush(&out);
    output_close(&out);
    free(hot);
}

/* ---- The report. */

static double rate(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : NAN;
}

static void report_measured(report *r, const measured *m) {
    report_count(r, "measured_queries", "measured queries", m->queries);
    report_count(r, "false_positives", "  false positives", m->weighted);
    report_count(r, "plain_false_positives", "  of a plain filter", m->plain);
    report_count(r, "measured_filters", "measured filters", m->filters);
    report_real(r, "measured_fpr", "measured rate", rate(m->all_weighted, m->queries * m->filters));
    report_real(r, "plain_measured_fpr", "  of plain filters",
                rate(m->all_plain, m->queries * m->filters));
    report_real(r, "measured_improvement", "  improvement", rate(m->all_plain, m->all_weighted));
}

static void print_report(const weighing *w, const measured *m) {
    char spec[SPEC_CAP];
    double queries[EB_CLASSES_MAX], keys[EB_CLASSES_MAX];
    for (size_t c = 0; c < w->plan.n; c++) {
        queries[c] = w->plan.classes[c].queries;
        keys[c] = w->plan.classes[c].keys;
    }
    weigh_spec(&w->task, &w->plan, spec, sizeof spec);
    report r;
    report_begin(&r, stderr, w->set->json);
    report_count(&r, "queries", "queries", w->queries);
    report_count(&r, "keys", "distinct keys", w->sample.n);
    report_count(&r, "members", "members", (uint64_t)w->task.members);
    report_text(&r, "filter", "filter", spec);
    report_list(&r, "class_keys", "keys of classes", keys, w->plan.n);
    report_list(&r, "class_queries", "queries of classes", queries, w->plan.n);
    report_real(&r, "expected_fpr", "expected rate", w->plan.fpr);
    report_real(&r, "plain_expected_fpr", "  of a plain filter", w->plain.fpr);
    report_real(&r, "expected_improvement", "  improvement", w->plain.fpr / w->plan.fpr);
    if (w->own->members) report_measured(&r, m);
    report_end(&r);
}

static void say_if_useless(const weighing *w, const measured *m) {
    if (w->plan.hot == 0)
        cli_warn("no hot list is worth its memory here: the filter is no better than a plain one");
    else if (w->own->members && m->queries > 0 && m->all_weighted >= m->all_plain)
        cli_warn("measured on the last quarter of the queries, the weighted filter is not better "
                 "than a plain one");
}

/* Chance alone makes some tenths, where a few hot keys are most of the queries. */
static void say_if_it_drifts(const weighing *w, const measured *m) {
    const double drift = 1.25, few = 100;
    const double expected = w->plan.fpr * (double)m->queries * (double)m->filters;
    if (w->plan.hot > 0 && (double)m->all_weighted > drift * expected + few)
        cli_warn("the last quarter of the queries has %.2g times the false positives that those "
                 "before it promise: the queries change over time, so weigh again often, or use a "
                 "plain filter",
                 (double)m->all_weighted / expected);
}

/* ---- The command. */

static void check_options(const cli_command *c, const settings *set, char **operands) {
    const weigh_own *const own = set->own;
    bool from_stdin = !operands[0];
    for (; *operands; operands++) from_stdin |= strcmp(*operands, "-") == 0;
    if (from_stdin && own->members && strcmp(own->members, "-") == 0)
        cli_misuse(c, "the members and the sample cannot both come from standard input");
    if (set->save && !own->members)
        cli_misuse(c, "--save needs --members, the keys that the filter will hold");
    if (own->members && set->distinct > 0)
        cli_misuse(c, "--members and --distinct: give one of them");
    if (set->save) refuse_terminal(c, set, "a snapshot");
}

static weighing begin(const cli_command *c, const settings *set, char **operands) {
    const settings hasher = {.filter = "bloom:cells=64,k=1", .seed = set->seed};
    check_options(c, set, operands);
    return (weighing){.set = set, .own = set->own, .hasher = filter_open(c, &hasher)};
}

static void plan(weighing *w, const cli_command *c) {
    const settings *const set = w->set;
    const weigh_own *const own = w->own;
    const char *const memory =
        size_for_spec(c, "-m", set->memory ? set->memory : DEFAULT_MEMORY, w->memory);
    w->task =
        (weigh_task){&w->sample, memory, (double)w->n_members, own->members != NULL, own->hot};
    if (!own->members)
        w->task.members = set->distinct > 0
                              ? set->distinct
                              : ceil(8 * size_in_bytes(c, "-m", memory) / BITS_PER_MEMBER);
    weigh_solve(&w->task, &w->plan, &w->plain);
}

static void finish(weighing *w) {
    eb_free(w->hasher);
    keytable_free(&w->sample);
    free(w->members);
}

static int run_weigh(const cli_command *c, const settings *set, char **operands, size_t n) {
    const weigh_own *const own = set->own;
    (void)n;
    weighing w = begin(c, set, operands);
    measured m = {0};
    read_all(&w, c, operands);
    plan(&w, c);
    if (own->members) {
        eb_filter *const weighted = build_weighted(&w, 0);
        if (!set->quiet) m = measure(&w, weighted);
        if (set->save) filter_save(weighted, set->save);
        eb_free(weighted);
    }
    if (!set->save) print_list(&w);
    if (!set->quiet) print_report(&w, &m);
    if (!set->quiet) say_if_useless(&w, &m);
    if (!set->quiet) say_if_it_drifts(&w, &m);
    finish(&w);
    return STATUS_YES;
}

/* ---- Options and help. */
#define OWN weigh_own

static const cli_option weigh_options[] = {
    KEY_OPTIONS,
    HEADING("The filter"),
    OPTION('m', "memory", "SIZE", OPT_WORD, memory,
           "Memory of the filter, hot list included, such as 500K, 64M or 2G. "
           "(default: " DEFAULT_MEMORY ")"),
    OWN_OPTION(0, "members", "FILE", OPT_TEXT, members,
               "The keys that the filter will hold, one per line."),
    OPTION(0, "distinct", "COUNT", OPT_COUNT, distinct,
           "Without --members, how many keys there will be. (default: one for 10 bits of memory)"),
    OWN_OPTION(0, "hot", "COUNT", OPT_COUNT, hot,
               "At most COUNT keys in the hot list. (default: as many as pay for their memory)"),
    OPTION(0, "seed", "NUMBER", OPT_WORD, seed,
           "Seed of the filter. The same seed and input give the same answers. (default: random)"),
    OPTION(
        0, "save", "FILE", OPT_TEXT, save,
        "Build the filter from the members and write it to FILE instead of printing the classes."),
    FLAG(0, "force", force, "Write a snapshot even to a terminal."),
    HEADING("Reports"),
    FLAG(0, "json", json, "Print the report as one JSON object, also on standard error."),
    FLAG('q', "quiet", quiet, "No report."),
    END};

static const cli_example weigh_examples[] = {
    {"everbloom weigh -m 1M --members members.txt --save filter.eb queries.log",
     "Build a weighted filter and measure it against a plain one."},
    {"everbloom weigh -m 1M --distinct 1e6 queries.log > classes",
     "A hot list for 'everbloom add --classes', and the --filter to use with it."},
    {NULL, NULL}};

static void weigh_defaults(settings *set) {
    ((weigh_own *)set->own)->hot = HOT_MAX;
}

const cli_command command_weigh = {
    .defaults = weigh_defaults,
    .own = sizeof(OWN),
    .name = "weigh",
    .operands = "[SAMPLE]...",
    .summary = "learn from a query log which keys deserve more bits",
    .text =
        "Reads a sample of a query log, one key a line, counts the queries for each key, and "
        "prints a hot list: a class, a tab and a key on each line, hottest first. Classes are "
        "powers of two of the frequency, at most 8; class 1 is all keys that are not listed. A "
        "listed key takes 43 bits of the filter's memory; the length of the list is the one with "
        "the lowest expected false positive rate. A report on standard error says what filter to "
        "make and what rates to expect.\n\n"
        "With --members, only queried keys that are not members are listed. The weighted filter is "
        "built, and its false positive rate is compared with that of a plain filter of the same "
        "size; this is measured on the last quarter of the sample, from which nothing is learned. "
        "--save writes the filter, and 'everbloom test' then needs no classes. Members are never "
        "missed, whatever the queries are.",
    .options = weigh_options,
    .examples = weigh_examples,
    .max_operands = CLI_MANY,
    .run = run_weigh};
