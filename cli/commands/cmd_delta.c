/* cmd_delta.c - diff and patch: what has changed between two snapshots, and the newer one again.
 *
 * The library makes and applies deltas.  They are of whole files, since a state has more than
 * its snapshot. */
#include "io.h"
#include "options/options.h"
#include "parts/filterfile.h"
#include <everbloom/experimental.h>
#include <stdlib.h>
#include <string.h>

static eb_status put(void *out, const void *bytes, size_t n) {
    output_put(out, bytes, n);
    return EB_OK;
}

static int run_diff(const cli_command *c, const settings *set, char **operands, size_t n) {
    snapshot before, after;
    atomic_file file;
    output out;
    eb_error err;
    (void)n;
    refuse_terminal(c, set, "a delta");
    if (strcmp(operands[0], "-") == 0 && strcmp(operands[1], "-") == 0)
        cli_misuse(c, "the snapshots cannot both come from standard input");
    snapshot_open_or_fail(&before, operands[0]);
    snapshot_open_or_fail(&after, operands[1]);
    atomic_open(&file, set->output ? set->output : "-");
    output_open(&out, file.fd, file.path);
    if (eb_diff_bytes(before.bytes, before.length, after.bytes, after.length, put, &out, &err) !=
        EB_OK)
        cli_fail("%s", err.text);
    output_flush(&out);
    output_close(&out);
    atomic_commit(&file);
    snapshot_close(&before);
    snapshot_close(&after);
    return STATUS_YES;
}

/* The newer file, checked. */
static byte_buffer patched(const snapshot *old, const char *old_name, const snapshot *delta,
                           const char *name) {
    byte_buffer b = {0};
    snapshot made;
    eb_error err;
    const eb_status status = eb_patch_bytes(old->bytes, old->length, delta->bytes, delta->length,
                                            byte_buffer_write, &b, &err);
    if (status == EB_EMISMATCH)
        cli_fail("%s: the delta %s was made for another snapshot", old_name, name);
    if (status != EB_OK) cli_fail("%s: %s", name, err.text);
    if (snapshot_of_bytes(&made, b.bytes, b.length, &err) != EB_OK)
        cli_fail("%s: damaged delta: %s", name, err.text);
    eb_free(made.view);
    return b;
}

static int run_patch(const cli_command *c, const settings *set, char **operands, size_t n) {
    const char *const path = n > 1 ? operands[1] : "-";
    snapshot old, changes;
    atomic_file file;
    refuse_terminal(c, set, "a snapshot");
    if (strcmp(operands[0], "-") == 0 && strcmp(path, "-") == 0)
        cli_misuse(c, "the snapshot and the delta cannot both come from standard input");
    snapshot_open_or_fail(&old, operands[0]);
    snapshot_read(&changes, path);
    byte_buffer made =
        patched(&old, operands[0], &changes, strcmp(path, "-") == 0 ? "standard input" : path);
    atomic_open(&file, set->output ? set->output : "-");
    atomic_write(&file, made.bytes, made.length);
    atomic_commit(&file);
    free(made.bytes);
    snapshot_close(&old);
    snapshot_close(&changes);
    return STATUS_YES;
}

/* ---- Options and help. */

static const cli_option diff_options[] = {
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write the delta to FILE. (default: standard output)"),
    FLAG(0, "force", force, "Write a delta even to a terminal."), END};

static const cli_example diff_examples[] = {
    {"everbloom diff sent.eb now.eb | ssh peer everbloom patch -o cache.eb cache.eb",
     "Bring the copy on another machine up to date."},
    {"everbloom diff -o delta monday.eb tuesday.eb", "Keep what a day has changed."},
    {NULL, NULL}};

const cli_command command_diff = {
    .name = "diff",
    .operands = "OLD NEW",
    .summary = "write the difference between two snapshots",
    .text = "Writes a delta: the bytes of the snapshot NEW that are not in the snapshot OLD. "
            "'everbloom patch' makes NEW from OLD and this delta. Each added key changes a few "
            "bytes, each of which takes about four in the delta.",
    .options = diff_options,
    .examples = diff_examples,
    .min_operands = 2,
    .max_operands = 2,
    .run = run_diff};

static const cli_option patch_options[] = {
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write the snapshot to FILE, which may be the old one. (default: standard output)"),
    FLAG(0, "force", force, "Write a snapshot even to a terminal."), END};

static const cli_example patch_examples[] = {
    {"everbloom patch -o cache.eb cache.eb delta", "Bring a copy up to date, in one step."},
    {"ssh peer everbloom diff old.eb new.eb | everbloom patch -o new.eb old.eb",
     "The same over the network."},
    {NULL, NULL}};

const cli_command command_patch = {
    .name = "patch",
    .operands = "OLD [DELTA]",
    .summary = "make the newer snapshot from the older one and a delta",
    .text = "Writes the snapshot that 'everbloom diff' was given as NEW, byte for byte. The DELTA, "
            "or standard input, must have been made for this OLD; checksums of both snapshots are "
            "compared, and nothing is written if anything does not match.",
    .options = patch_options,
    .examples = patch_examples,
    .min_operands = 1,
    .max_operands = 2,
    .run = run_patch};
