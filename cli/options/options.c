/* options.c - the list of commands.  Each command's table of options, at the end of its file, is
 * what parsing, --help, the man pages and the shell completions are made from. */
#include "options.h"
#include <string.h>

extern const cli_command command_dedup, command_add, command_test, command_count, command_distinct,
    command_top, command_range, command_sum, command_join, command_corpus, command_weigh,
    command_info, command_check, command_merge, command_copy, command_freeze, command_thaw,
    command_diff, command_patch, command_plan, command_try, command_predict, command_kinds;
const cli_command *const cli_commands[] = {
    &command_dedup,    &command_add,     &command_test,  &command_count,
    &command_distinct, &command_top,     &command_range, &command_sum,
    &command_join,     &command_corpus,  &command_weigh, &command_info,
    &command_check,    &command_merge,   &command_copy,  &command_freeze,
    &command_thaw,     &command_diff,    &command_patch, &command_plan,
    &command_try,      &command_predict, &command_kinds, NULL};

const char cli_summary[] = "small summaries of endless streams";
const char cli_text[] =
    "everbloom keeps filters of the Bloom family: small summaries that answer whether a key was "
    "seen before, or how often. Some of them forget old keys, so they can run forever in fixed "
    "memory.\n\n"
    "A filter is named by a spec: kind:key=value,... such as lru:memory=64M or "
    "bloom:distinct=1e6,fpr=1e-4. Sizes "
    "take K, M and G (powers of 1024), counts take 1e9 or 10M (powers of ten). A snapshot is a "
    "filter in a file.\n\n"
    "Results go to standard output, everything else to standard error.";

const cli_command *cli_find(const char *name) {
    for (const cli_command *const *c = cli_commands; *c; c++)
        if (strcmp((*c)->name, name) == 0) return *c;
    return NULL;
}

bool cli_has_option(const cli_command *c, const char *name) {
    for (const cli_option *o = c->options; o->name || o->help; o++)
        if (o->name && strcmp(o->name, name) == 0) return true;
    return false;
}
