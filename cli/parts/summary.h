/* summary.h - dedup --summary: how often a line was repeated in its window, printed when that has
 * ended.
 *
 * Only keys that were repeated are kept, and only until their windows end: a window is over, at the
 * latest, when its length has passed since the first repeat (with --refresh: since the last). */
#ifndef EVERBLOOM_SUMMARY_H
#define EVERBLOOM_SUMMARY_H
#include "keytable.h"
#include "stream.h"

typedef struct repeat {
    uint64_t first, last; /* times, in milliseconds */
} repeat;
typedef struct summary {
    keytable keys; /* count: repeats; 0: its window has ended */
    repeat *when;  /* of each key */
    size_t cap;
    uint64_t window, due; /* milliseconds; due: when the first window can end */
    bool refresh, full;
} summary;
void summary_open(summary *m, const cli_command *c, const settings *set, bool refresh);
/* Prints the new lines of a batch, and summaries where their windows end; of 0 lines: the rest. */
void summary_print(stream *s, size_t n);
void summary_tick(stream *s); /* windows by the clock end without a line */
void summary_close(summary *m);
#endif
