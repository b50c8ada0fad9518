/* cmd_freeze.c - the commands freeze and thaw: tight snapshots of filters that count, and the
 * way back. */
#include "options/options.h"
#include "parts/filterfile.h"
#include <everbloom/query.h>
#include <string.h>

typedef struct freeze_own { /* options of its own */
    const char *store;      /* NULL: not given */
    double counter_bits;    /* 0: not given */
} freeze_own;

typedef eb_status converter(eb_filter **out, const eb_filter *f, const settings *set,
                            eb_error *err);

static eb_status freeze(eb_filter **out, const eb_filter *f, const settings *set, eb_error *err) {
    (void)set;
    return eb_convert(out, f, "frozen=line", NULL, err);
}

static eb_status thaw(eb_filter **out, const eb_filter *f, const settings *set, eb_error *err) {
    const freeze_own *const own = set->own;
    char changes[128] = "frozen=no";
    size_t used = strlen(changes);
    if (own->store) used += (size_t)snprintf(changes + used, 48, ",store=%.40s", own->store);
    if (own->counter_bits > 0)
        snprintf(changes + used, 48, ",counter_bits=%.6f", own->counter_bits);
    return eb_convert(out, f, changes, NULL, err);
}

static int convert(const cli_command *c, const settings *set, const char *path, converter *how) {
    snapshot snap;
    eb_filter *made;
    eb_error err;
    refuse_terminal(c, set, "a snapshot");
    snapshot_open_or_fail(&snap, path);
    if (how(&made, snap.view, set, &err) != EB_OK) cli_fail("%s: %s", path, err.text);
    filter_save_note(made, snap.behind.note, set->output ? set->output : "-");
    snapshot_close(&snap);
    eb_free(made);
    return STATUS_YES;
}

static int run_freeze(const cli_command *c, const settings *set, char **operands, size_t n) {
    (void)n;
    return convert(c, set, operands[0], freeze);
}

static int run_thaw(const cli_command *c, const settings *set, char **operands, size_t n) {
    (void)n;
    return convert(c, set, operands[0], thaw);
}

/* ---- Options and help. */
#define OWN freeze_own

static const cli_option freeze_options[] = {
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write the frozen snapshot to FILE, which may be the input. (default: standard output)"),
    FLAG(0, "force", force, "Write a snapshot even to a terminal."), END};

static const cli_example freeze_examples[] = {
    {"everbloom freeze counts.eb | ssh peer 'cat > counts.eb'",
     "Send counts in as few bytes as possible."},
    {"everbloom freeze -o small.eb counts.eb", "Keep counts in a small file."},
    {NULL, NULL}};

const cli_command command_freeze = {
    .own = sizeof(OWN),
    .name = "freeze",
    .operands = "SNAPSHOT",
    .summary = "make a compact, read-only snapshot of a filter that counts",
    .text = "Writes the same filter (spectral or spectral_rm) in as few bytes as possible. It "
            "gives the same answers but takes no more keys; 'everbloom thaw' turns it back into a "
            "filter that does.",
    .options = freeze_options,
    .examples = freeze_examples,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_freeze};

static const cli_option thaw_options[] = {
    OWN_OPTION(0, "store", "STORE", OPT_WORD, store,
               "Layout of the counters: one of the values of store= ('everbloom kinds spectral'). "
               "(default: as before freezing)"),
    OWN_OPTION(0, "counter-bits", "NUMBER", OPT_REAL, counter_bits,
               "Memory for each counter, in bits. (default: as before freezing, or the default of "
               "--store)"),
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write the snapshot to FILE, which may be the input. (default: standard output)"),
    FLAG(0, "force", force, "Write a snapshot even to a terminal."), END};

static const cli_example thaw_examples[] = {
    {"everbloom thaw -o counts.eb counts.eb", "Add more keys to a frozen filter."},
    {"everbloom thaw --store line -o counts.eb small.eb",
     "The same, with another layout of the counters."},
    {NULL, NULL}};

const cli_command command_thaw = {
    .own = sizeof(OWN),
    .name = "thaw",
    .operands = "SNAPSHOT",
    .summary = "turn a frozen filter back into one that takes keys",
    .text = "Writes the filter that the frozen SNAPSHOT was made from. It gives the same answers.",
    .options = thaw_options,
    .examples = thaw_examples,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_thaw};
