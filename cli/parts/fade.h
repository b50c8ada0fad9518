/* fade.h - counts that fade: the filter that --decay and the options around it ask for, and rates.
 */
#ifndef EVERBLOOM_FADE_H
#define EVERBLOOM_FADE_H
#include "cli.h"

bool fade_is_asked(const settings *set);
/* Options that do not go together end the program. */
void fade_check(const cli_command *c, const settings *set);
/* Without memory; list: of a filter that keeps keys.  By half-lives of ten minutes if nothing is
 * asked. */
void fade_spec(const cli_command *c, const settings *set, bool list, char *spec, size_t cap);

/* Counts that fade as rates. */
typedef struct fading {
    const settings *set;
    double life;     /* milliseconds that a line counts */
    double halflife; /* milliseconds; 0: it is a function of age */
    double lasting;  /* seconds that counts are spread over in the long run */
    uint64_t unit;   /* all times so far are multiples of this many milliseconds */
} fading;
void fading_open(fading *d, const settings *set, const eb_filter *f);
void fading_note(fading *d, const eb_batch *b); /* times of lines */
/* A rate is a count over this; right from the first line on, whose time is `first`. */
double fading_seconds(const fading *d, uint64_t first, uint64_t now);
#endif
