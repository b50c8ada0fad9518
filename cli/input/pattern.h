/* pattern.h - --regex: a regular expression of Perl's kind, whose groups are the fields of a line.
 */
#ifndef EVERBLOOM_PATTERN_H
#define EVERBLOOM_PATTERN_H
#include "cli.h"

typedef struct pattern pattern;
bool pattern_is_there(void); /* or was the command built without? */
pattern *pattern_new(const cli_command *c, const char *text); /* a wrong one ends the program */
void pattern_free(pattern *p);
/* For another thread: the same pattern, as long as that lives.  Of NULL it is NULL. */
pattern *pattern_copy(const pattern *p);
void pattern_copy_free(pattern *copy);
uint64_t pattern_groups(const pattern *p);
uint64_t pattern_group_named(const pattern *p, const char *name, size_t len); /* 0: none */
/* Does it match?  Then pattern_group is what group n of it matched, 0 for all of it; p is NULL if
 * the group took no part. */
bool pattern_match(pattern *p, const char *line, const char *end);
eb_key pattern_group(const pattern *p, uint64_t n);
#endif
