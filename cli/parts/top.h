/* top.h - what the two ways of `top` share: counts since the beginning (topcounts.c) and counts
 * that fade (topfading.c). */
#ifndef EVERBLOOM_TOP_H
#define EVERBLOOM_TOP_H
#include "frequent.h"
#include "output/screen.h"

int top_of_counts(const cli_command *c, const settings *set, char **operands);
int top_of_fading(const cli_command *c, const settings *set, char **operands);

/* A list as it is now.  Rows are sorted, the largest count first. */
typedef struct top_view {
    const eb_candidate *rows;
    size_t n;
    double total;     /* of all counts, those of other keys too */
    double seconds;   /* over which counts are spread: a rate is a count over this; 0: no rates */
    double watermark; /* no key that is missing has a larger count */
    uint64_t lines, now; /* now: milliseconds since 1970, or 0 */
    bool exact;
} top_view;
void top_print(const settings *set, const top_view *v);
void top_draw(screen *s, const top_view *v);
/* Is there a terminal to draw on, and input that may take its time? */
enum { TOP_LIVE_ROWS = 200 }; /* at least, to move through */
bool top_is_live(const settings *set, char *const *paths);
#endif
