/* fade.h - counts that fade: the filter that --decay and the options around it ask for, and the sum
 * of all counts. */
#ifndef EVERBLOOM_FADE_H
#define EVERBLOOM_FADE_H
#include "cli.h"

bool fade_is_asked(const settings *set);
/* Options that do not go together end the program. */
void fade_check(const cli_command *c, const settings *set);
/* Without memory.  By half-lives of ten minutes if nothing is asked. */
void fade_spec(const cli_command *c, const settings *set, char *spec, size_t cap);

/* All lines together, faded as the filter fades each key.  Ages are told apart by the 500th of the
 * time that a line counts. */
enum { FADING_SPANS = 512 };
typedef struct fading {
    const settings *set;
    double life;                /* milliseconds that a line counts */
    double halflife;            /* milliseconds; 0: it is a function of age */
    double lasting;             /* seconds that counts are spread over in the long run */
    uint64_t span;              /* milliseconds each */
    uint64_t first, last;       /* times of lines; first 0: none yet */
    uint64_t unit;              /* all times so far are multiples of this many milliseconds */
    double count[FADING_SPANS]; /* a ring */
} fading;
void fading_open(fading *d, const settings *set, const eb_filter *f);
void fading_add(fading *d, const eb_batch *b);
double fading_total(const fading *d, uint64_t now);
/* A rate is a count over this; right from the first line on. */
double fading_seconds(const fading *d, uint64_t now);
#endif
