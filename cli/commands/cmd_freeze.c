/* cmd_freeze.c - the commands freeze and thaw: tight snapshots of filters that count, and the
 * way back. */
#include "parts/filterfile.h"
#include <everbloom/query.h>
#include <string.h>

typedef eb_status converter(eb_filter **out, const eb_filter *f, const settings *set,
                            eb_error *err);

static eb_status freeze(eb_filter **out, const eb_filter *f, const settings *set, eb_error *err) {
    char changes[64];
    snprintf(changes, sizeof changes, "frozen=%.40s", set->code ? set->code : "line");
    return eb_convert(out, f, changes, NULL, err);
}

static eb_status thaw(eb_filter **out, const eb_filter *f, const settings *set, eb_error *err) {
    char changes[128] = "frozen=no";
    size_t used = strlen(changes);
    if (set->store) used += (size_t)snprintf(changes + used, 48, ",store=%.40s", set->store);
    if (set->counter_bits > 0)
        snprintf(changes + used, 48, ",counter_bits=%.6f", set->counter_bits);
    return eb_convert(out, f, changes, NULL, err);
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
