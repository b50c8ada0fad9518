/* cmd_freeze.c - the commands freeze and thaw: tight snapshots of filters that count, and the
 * way back. */
#include "filterfile.h"
#include <everbloom/query.h>

static int write_and_free(eb_filter *f, const settings *set) {
    filter_save(f, set->output ? set->output : "-");
    eb_free(f);
    return STATUS_YES;
}

int run_freeze(const cli_command *c, const settings *set, char **operands, size_t n) {
    snapshot snap;
    eb_filter *frozen;
    eb_error err;
    (void)n;
    refuse_terminal(c, set, "a snapshot");
    snapshot_open_or_fail(&snap, operands[0]);
    if (eb_freeze(&frozen, snap.view, set->code, NULL, &err) != EB_OK)
        cli_fail("%s: %s", operands[0], err.text);
    snapshot_close(&snap);
    return write_and_free(frozen, set);
}

int run_thaw(const cli_command *c, const settings *set, char **operands, size_t n) {
    snapshot snap;
    eb_filter *thawed;
    eb_error err;
    (void)n;
    refuse_terminal(c, set, "a snapshot");
    snapshot_open_or_fail(&snap, operands[0]);
    if (eb_thaw(&thawed, snap.view, set->store, set->counter_bits, NULL, &err) != EB_OK)
        cli_fail("%s: %s", operands[0], err.text);
    snapshot_close(&snap);
    return write_and_free(thawed, set);
}
