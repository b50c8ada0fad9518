/* cmd_distinct.c - distinct: how many different keys there are, in all or for each group of lines.
 */
#include "options/options.h"
#include "output/table.h"
#include "parts/filterfile.h"
#include "parts/keytable.h"
#include "parts/sketch.h"
#include "parts/stream.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 64 KiB and an error of 0.4 % for all lines; 4 KiB and 1.6 % for each group of more than a few
 * keys. */
enum { BITS_ALL = 16, BITS_GROUP = 12 };

typedef struct distinct {
    const settings *set;
    stream s;
    keytable groups; /* count: the number of its sketch */
    sketch *sketch;
    size_t n, cap; /* of sketches; cap in bytes */
} distinct;

/* ---- Lines. */

static void add_sketch(distinct *d, unsigned bits) {
    d->sketch = cli_grow(d->sketch, &d->cap, (d->n + 1) * sizeof *d->sketch);
    d->sketch[d->n++] = (sketch){.bits = bits};
}

static sketch *sketch_of(distinct *d, eb_key group) {
    eb_hash hash;
    const size_t before = d->groups.n;
    hash_keys(d->s.filter, &group, 1, &hash);
    table_key *const k = keytable_get(&d->groups, hash, group);
    if (d->groups.n > before) {
        k->count = d->n;
        add_sketch(d, BITS_GROUP);
    }
    return &d->sketch[k->count];
}

static void take_keys(stream *s, const eb_batch *batch) {
    distinct *const d = s->ctx;
    memset(s->hit, 0, batch->n);
    for (size_t i = 0; i < batch->n; i++)
        sketch_add(d->set->by.n ? sketch_of(d, s->text[i]) : &d->sketch[0], batch->hash[i]);
}

/* ---- Answers. */

typedef struct answer {
    double estimate;
    const sketch *of;
    eb_key group;
} answer;

static int larger_first(const void *a, const void *b) {
    const answer *const x = a, *const y = b;
    if (x->estimate != y->estimate) return x->estimate > y->estimate ? -1 : 1;
    const size_t shorter = x->group.len < y->group.len ? x->group.len : y->group.len;
    const int bytes = shorter ? memcmp(x->group.p, y->group.p, shorter) : 0;
    return bytes ? bytes : (x->group.len > y->group.len) - (x->group.len < y->group.len);
}

static void print_answer(const distinct *d, table *rows, const answer *a) {
    const double error = a->estimate * sketch_error(a->of);
    if (d->set->json) {
        report r;
        report_begin(&r, stdout, true);
        if (d->set->by.n) report_key(&r, "group", a->group);
        report_real(&r, "distinct", "distinct", round(a->estimate));
        report_real(&r, "error", "error", ceil(error));
        report_end(&r);
        return;
    }
    table_count(rows, round(a->estimate));
    table_count(rows, ceil(error));
    if (d->set->by.n) table_bytes(rows, a->group);
    table_end_row(rows);
}

static void print_all(const distinct *d) {
    answer *const list = cli_alloc((d->n + 1) * sizeof *list);
    for (size_t i = 0; i < d->n; i++)
        list[i] = (answer){sketch_estimate(&d->sketch[i]), &d->sketch[i], {NULL, 0}};
    for (size_t i = 0; i < d->groups.n; i++) {
        const table_key *const k = &d->groups.keys[i];
        list[k->count].group = (eb_key){d->groups.bytes + k->at, k->len};
    }
    qsort(list, d->n, sizeof *list, larger_first);
    const char *const names[] = {"distinct", "error", d->set->by.n ? "group" : NULL, NULL};
    table rows;
    if (!d->set->json) table_open(&rows, d->set, names);
    for (size_t i = 0; i < d->n && !ferror(stdout); i++) print_answer(d, &rows, &list[i]);
    if (!d->set->json) table_close(&rows);
    finish_stdout();
    free(list);
}

/* ---- The command. */

static int run_distinct(const cli_command *c, const settings *set, char **operands, size_t n) {
    const settings hasher = {.filter = "bloom:cells=64,k=1", .seed = set->seed ? set->seed : "1"};
    distinct *const d = cli_alloc(sizeof *d);
    (void)n;
    if (set->names && set->json) cli_misuse(c, "--names and --json: give one of them");
    memset(d, 0, sizeof *d);
    d->set = set;
    d->s = (stream){.set = set, .print = PRINT_NONE, .look_up = take_keys, .ctx = d};
    d->s.wants_text = set->by.n > 0;
    stream_open(&d->s, c, operands);
    d->s.filter = filter_open(c, &hasher);
    if (!set->by.n) add_sketch(d, BITS_ALL);
    const int status = stream_run(&d->s);
    if (status == STATUS_YES) print_all(d);
    for (size_t i = 0; i < d->n; i++) sketch_free(&d->sketch[i]);
    free(d->sketch);
    keytable_free(&d->groups);
    stream_close(&d->s);
    eb_free(d->s.filter);
    free(d);
    return status;
}

/* ---- Options and help. */

static const cli_option distinct_options[] = {
    KEY_OPTIONS,
    HEADING("What is asked"),
    OPTION(0, "by", "FIELD", OPT_FIELD, by,
           "Count separately for each value of this field (each group). The largest number is "
           "printed first."),
    HEADING("What is printed"),
    AS_OPTIONS,
    OPTION(0, "seed", "NUMBER", OPT_WORD, seed,
           "Seed of the hashes. The same seed and input give the same answers. (default: 1)"),
    HEADING("Reports"),
    QUIET,
    END};

static const cli_example distinct_examples[] = {
    {"everbloom distinct -d ' ' -f 1 access.log", "How many different hosts?"},
    {"everbloom distinct --csv -f customer --by country orders.csv",
     "How many customers in each country?"},
    {"everbloom distinct --jsonl -f user.id events.jsonl.gz", "How many users?"},
    {NULL, NULL}};

static const char distinct_text[] =
    "Prints an estimate of the number of different keys, a tab, and the standard error of the "
    "estimate; with --by also the group, the one with the most keys first. Up to 128 keys are "
    "counted exactly. Beyond that the standard error is 0.4 % (1.6 % with --by), and the memory is "
    "64 KiB (4 KiB for each group), however many keys there are.";

const cli_command command_distinct = {.name = "distinct",
                                      .operands = "[FILE]...",
                                      .summary = "estimate how many different keys there are",
                                      .text = distinct_text,
                                      .options = distinct_options,
                                      .examples = distinct_examples,
                                      .max_operands = CLI_MANY,
                                      .run = run_distinct};
