/* commands.h - what dedup, test and count do when the filter is on a server. */
#ifndef EVERBLOOM_REMOTE_COMMANDS_H
#define EVERBLOOM_REMOTE_COMMANDS_H
#include "cli.h"

int remote_dedup(const cli_command *c, const settings *set, char **paths);
int remote_test(const cli_command *c, const settings *set, const char *url, char **paths);
int remote_count(const cli_command *c, const settings *set, char **paths);
#endif
