/* commands.h - what dedup, test, count and top do when the filter is on a server. */
#ifndef EVERBLOOM_REMOTE_COMMANDS_H
#define EVERBLOOM_REMOTE_COMMANDS_H
#include "parts/stream.h"
#include "remote.h"

int remote_dedup(const cli_command *c, const settings *set, print_mode print, char **paths);
int remote_test(const cli_command *c, const settings *set, print_mode print, const char *url,
                char **paths);
int remote_count(const cli_command *c, const settings *set, char **paths);
int remote_list(const cli_command *c, const settings *set, char **paths); /* top */

/* What these share: ctx of the stream is the remote filter. */
void commands_open(remote *r, const cli_command *c, const settings *set);
void commands_hash(const stream *s, const eb_key *key, size_t n, eb_hash *out);
void commands_stats(const stream *s, const remote *r);
#endif
