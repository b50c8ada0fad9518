/* cmd_freeze.c - the commands freeze and thaw: tight snapshots of filters that count, and the
 * way back. */
#include "filterfile.h"
#include <everbloom/query.h>

typedef eb_status converter(eb_filter **out, const eb_filter *f, const settings *set,
                            eb_error *err);

static eb_status freeze(eb_filter **out, const eb_filter *f, const settings *set, eb_error *err) {
    return eb_freeze(out, f, set->code, NULL, err);
}

static eb_status thaw(eb_filter **out, const eb_filter *f, const settings *set, eb_error *err) {
    return eb_thaw(out, f, set->store, set->counter_bits, NULL, err);
}

static int convert(const cli_command *c, const settings *set, const char *path, converter *how) {
    snapshot snap;
    eb_filter *made;
    eb_error err;
    refuse_terminal(c, set, "a snapshot");
    snapshot_open_or_fail(&snap, path);
    if (how(&made, snap.view, set, &err) != EB_OK) cli_fail("%s: %s", path, err.text);
    snapshot_close(&snap);
    filter_save(made, set->output ? set->output : "-");
    eb_free(made);
    return STATUS_YES;
}

int run_freeze(const cli_command *c, const settings *set, char **operands, size_t n) {
    (void)n;
    return convert(c, set, operands[0], freeze);
}

int run_thaw(const cli_command *c, const settings *set, char **operands, size_t n) {
    (void)n;
    return convert(c, set, operands[0], thaw);
}
