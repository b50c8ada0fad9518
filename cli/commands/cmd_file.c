/* cmd_file.c - the commands that look at snapshots: info, check, merge. */
#include "io.h"
#include "options/options.h"
#include "parts/filterfile.h"
#include "parts/health.h"
#include <everbloom/experimental.h>
#include <stdlib.h>
#include <string.h>

static const eb_kind_info *kind_of(const char *spec) {
    size_t n, length = strcspn(spec, ":");
    const eb_kind_info *const *kinds = eb_kinds(&n);
    for (size_t i = 0; i < n; i++)
        if (strncmp(kinds[i]->name, spec, length) == 0 && !kinds[i]->name[length]) return kinds[i];
    return NULL;
}

enum { LENGTHS = sizeof((eb_lengths *)NULL)->counters / sizeof(uint64_t) };

static void print_lengths(report *r, const eb_lengths *lengths) {
    double list[LENGTHS], all = 0;
    size_t n = 0;
    for (size_t i = 0; i < LENGTHS; i++) {
        list[i] = (double)lengths->counters[i];
        all += list[i];
        if (lengths->counters[i] > 0) n = i + 1;
    }
    report_real(r, "bits_per_counter", "bits per counter", lengths->bits);
    if (r->json) report_list(r, "counter_lengths", NULL, list, n);
    for (size_t i = 0; i < n && !r->json; i++) {
        char label[48], value[64];
        snprintf(label, sizeof label, "  counters of %zu bit%s", i, i == 1 ? "" : "s");
        snprintf(value, sizeof value, "%.0f (%.4g %%)", list[i], 100 * list[i] / all);
        report_text(r, NULL, label, value);
    }
}

static void print_info(const char *path, const snapshot *snap, bool json) {
    char spec[EB_SPEC_MAX];
    eb_lengths lengths = {.size = sizeof lengths};
    const eb_stats stats = filter_stats(snap->view);
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(snap->view));
    const eb_kind_info *kind = kind_of(spec);
    report r;
    report_begin(&r, stdout, json);
    report_text(&r, "file", "file", path);
    report_text(&r, "filter", "filter", spec);
    if (kind) report_text(&r, "summary", "which is", kind->summary);
    report_count(&r, "items", "keys added", stats.adds);
    if (snap->behind.note[0]) report_text(&r, "keys", "keys are from", snap->behind.note);
    if (snap->behind.journals)
        report_count(&r, "journals", "saves in its journal", snap->behind.journals);
    report_bytes(&r, "bytes", "memory", (double)stats.bytes);
    report_count(&r, "cells", "cells", stats.cells);
    report_count(&r, "cells_used", "cells in use", stats.cells_used);
    report_real(&r, "fill", "fill", stats.fill);
    report_real(&r, "fpr", "false positive rate", stats.fpr);
    report_count(&r, "clock", "clock", stats.clock);
    health_report(&r, snap->view, &stats);
    if (eb_lengths_of(snap->view, &lengths, NULL) == EB_OK) print_lengths(&r, &lengths);
    report_end(&r);
}

static int run_info(const cli_command *c, const settings *set, char **operands, size_t n) {
    (void)c;
    for (size_t i = 0; i < n; i++) {
        snapshot snap;
        snapshot_open_or_fail(&snap, operands[i]);
        if (i > 0 && !set->json) putchar('\n');
        print_info(operands[i], &snap, set->json);
        snapshot_close(&snap);
    }
    finish_stdout();
    return STATUS_YES;
}

/* A snapshot of a later library may be whole: nobody here can tell, so that is trouble. */
static int check_one(const char *path, bool quiet) {
    snapshot snap;
    eb_error err;
    eb_status status = snapshot_open(&snap, path, &err);
    if (status == EB_OK) {
        snapshot_close(&snap);
        if (!quiet) printf("%s: ok\n", path);
        return STATUS_YES;
    }
    if (status != EB_EFORMAT) {
        cli_warn("%s: %s", path, err.text);
        return STATUS_TROUBLE;
    }
    printf("%s: %s\n", path, err.text);
    return STATUS_NO;
}

static int run_check(const cli_command *c, const settings *set, char **operands, size_t n) {
    (void)c;
    int worst = STATUS_YES;
    for (size_t i = 0; i < n; i++) {
        int status = check_one(operands[i], set->quiet);
        if (status > worst) worst = status;
    }
    finish_stdout();
    return worst;
}

/* Why two filters cannot be merged: the first option in which their specs differ. */
static _Noreturn void fail_mismatch(const char *first, const char *ours, const char *path,
                                    const char *theirs) {
    size_t at = 0, begin = 0;
    for (; ours[at] && ours[at] == theirs[at]; at++)
        if (ours[at] == ':' || ours[at] == ',') begin = at + 1;
    const char *const a = ours + begin, *const b = theirs + begin;
    const int name = (int)strcspn(a, "=:,"), x = (int)strcspn(a, ","), y = (int)strcspn(b, ",");
    if (begin == 0)
        cli_fail("%s and %s are of different kinds (%.*s and %.*s): make both with the same "
                 "--filter",
                 first, path, (int)strcspn(a, ":"), a, (int)strcspn(b, ":"), b);
    if (strncmp(a, "seed=", 5) == 0)
        cli_fail("%s and %s have different seeds (%.*s and %.*s): make both with the same --seed "
                 "or --family",
                 first, path, x - 5, a + 5, y - 5, b + 5);
    if (strncmp(a, "cells=", 6) == 0)
        cli_fail("%s and %s have different sizes (%.*s and %.*s cells): make both with the same "
                 "-m",
                 first, path, x - 6, a + 6, y - 6, b + 6);
    cli_fail("%s and %s differ in %.*s (%.*s and %.*s): make both with the same options", first,
             path, name, a, x, a, y, b);
}

/* note: how keys were made, if all say the same; else "". */
static void merge_one(eb_filter *into, const char *path, const char *first, char *note) {
    snapshot snap;
    eb_error err;
    char ours[EB_SPEC_MAX], theirs[EB_SPEC_MAX];
    snapshot_open_or_fail(&snap, path);
    (void)snprintf(ours, sizeof ours, "%s", eb_spec(into));
    (void)snprintf(theirs, sizeof theirs, "%s", eb_spec(snap.view));
    const eb_status status = eb_merge(into, snap.view, 1, &err);
    if (status != EB_OK) eb_free(into); /* the program ends */
    if (status == EB_EMISMATCH) fail_mismatch(first, ours, path, theirs);
    if (status != EB_OK) cli_fail("%s: %s", path, err.text);
    if (strcmp(note, snap.behind.note) != 0) note[0] = '\0';
    snapshot_close(&snap);
}

/* What all others are merged into. */
static eb_filter *merge_first(const char *path, char *note) {
    snapshot snap;
    eb_error err;
    snapshot_open_or_fail(&snap, path);
    memcpy(note, snap.behind.note, STATE_NOTE);
    snapshot_close(&snap);
    eb_filter *const f = snapshot_load(path), *thawed;
    if (!filter_is_frozen(f)) return f;
    if (eb_convert(&thawed, f, "frozen=no", NULL, &err) != EB_OK)
        cli_fail("%s: %s", path, err.text);
    eb_free(f);
    return thawed;
}

static int run_merge(const cli_command *c, const settings *set, char **operands, size_t n) {
    refuse_terminal(c, set, "a snapshot");
    char note[STATE_NOTE];
    eb_filter *into = merge_first(operands[0], note);
    for (size_t i = 1; i < n; i++) merge_one(into, operands[i], operands[0], note);
    filter_save_note(into, note, set->output ? set->output : "-");
    eb_free(into);
    return STATUS_YES;
}

/* ---- Options and help. */

static const cli_option info_options[] = {
    FLAG(0, "json", json, "One JSON object on one line for each snapshot."), END};

static const cli_example info_examples[] = {
    {"everbloom info seen.eb", "How full is it, and how often is it wrong?"},
    {"everbloom info --json seen.eb", "The same for a script."},
    {NULL, NULL}};

const cli_command command_info = {
    .name = "info",
    .operands = "SNAPSHOT...",
    .summary = "describe the filter in a snapshot",
    .text = "Prints the filter's spec, the number of keys added, its size, fill and false positive "
            "rate. For filters that count, also prints the memory for each counter and how many "
            "counters hold numbers of how many bits.",
    .options = info_options,
    .examples = info_examples,
    .min_operands = 1,
    .max_operands = CLI_MANY,
    .run = run_info};

static const cli_option check_options[] = {
    FLAG('q', "quiet", quiet, "Print nothing about files that are intact."), END};

static const cli_example check_examples[] = {
    {"everbloom check seen.eb", "Is the file intact?"},
    {"everbloom check -q backup/*.eb", "Name only the damaged ones."},
    {NULL, NULL}};

const cli_command command_check = {.name = "check",
                                   .operands = "SNAPSHOT...",
                                   .summary = "verify that snapshots are intact",
                                   .text =
                                       "Reads every byte of each SNAPSHOT, verifies its checksums "
                                       "and looks for states that a filter cannot be in.",
                                   .options = check_options,
                                   .examples = check_examples,
                                   .status = "if a FILE is damaged or is not a snapshot",
                                   .min_operands = 1,
                                   .max_operands = CLI_MANY,
                                   .run = run_check};

static const cli_option merge_options[] = {
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write the merged snapshot to FILE, which may be one of the inputs. (default: standard "
           "output)"),
    FLAG(0, "force", force, "Write a snapshot even to a terminal."), END};

static const cli_example merge_examples[] = {
    {"everbloom merge -o week.eb mon.eb tue.eb wed.eb", "One filter of three streams."},
    {"everbloom merge -o all.eb all.eb today.eb", "Add one filter to another."},
    {NULL, NULL}};

const cli_command command_merge = {
    .name = "merge",
    .operands = "SNAPSHOT...",
    .summary = "merge several filters into one",
    .text = "Writes a filter that holds the keys of all SNAPSHOTs. They must have been made with "
            "the same options, and be of a kind that can be merged ('everbloom kinds' says which). "
            "A frozen snapshot can be merged like the one it was made from.",
    .options = merge_options,
    .examples = merge_examples,
    .min_operands = 1,
    .max_operands = CLI_MANY,
    .run = run_merge};
