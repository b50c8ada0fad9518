/* fade.h - counts that fade: the filter that --decay and the options around it ask for. */
#ifndef EVERBLOOM_FADE_H
#define EVERBLOOM_FADE_H
#include "cli.h"

bool fade_is_asked(const settings *set);
/* Options that do not go together end the program. */
void fade_check(const cli_command *c, const settings *set);
/* Without memory.  By half-lives of ten minutes if nothing is asked. */
void fade_spec(const cli_command *c, const settings *set, char *spec, size_t cap);
#endif
