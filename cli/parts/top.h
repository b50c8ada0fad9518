/* top.h - a list of frequent keys: how often is often, and the list as rows, as JSON and on a
 * screen. */
#ifndef EVERBLOOM_TOP_H
#define EVERBLOOM_TOP_H
#include "output/screen.h"
#include "output/table.h"
#include <everbloom/query.h>

typedef struct top_own { /* options of its own; 0: not given */
    uint64_t top;
    texts at_least, rescan;
    double alert, refresh_seconds;
    bool verify, bounds;
} top_own;
static inline const top_own *top_of(const settings *set) {
    return set->own;
}

typedef struct threshold { /* what an --at-least says */
    const char *text;
    double percent; /* 0: a count */
    double count;   /* if it is a share, threshold_count gives it */
} threshold;
/* All of them, in the order in which they were given; from cli_alloc. */
threshold *thresholds_read(const cli_command *c, const settings *set);
/* Shares as counts, 1 or more; then the least comes first. */
void thresholds_settle(threshold *t, size_t n, double total);

/* A list as it is now.  Rows are sorted, the largest count first. */
typedef struct top_view {
    const eb_top_key *rows;
    size_t n;
    double total;     /* of all counts, those of other keys too; 0: not known */
    double seconds;   /* over which counts are spread: a rate is a count over this; 0: no rates */
    double watermark; /* no key that is missing has a larger count */
    uint64_t lines, now; /* now: milliseconds since 1970, or 0 */
} top_view;
/* As a table, or as one JSON object. */
void top_print(const settings *set, const top_view *v);
void top_draw(screen *s, const top_view *v);
/* Is there a terminal to draw on, and input that may take its time? */
enum { TOP_LIVE_ROWS = 200 }; /* at least, to move through */
bool top_is_live(const settings *set, char *const *paths);

/* Rows one by one; with --json an object for each. */
typedef struct top_rows {
    const settings *set;
    table table;
    double total, seconds;
    bool shares;
} top_rows;
/* labelled: rows begin with the --at-least that they answer. */
void top_rows_open(top_rows *r, const settings *set, bool labelled, double total, double seconds);
void top_rows_put(top_rows *r, const char *label, const eb_top_key *row);
void top_rows_flush(top_rows *r);
void top_rows_close(top_rows *r);

void top_sort(eb_top_key *rows, size_t n); /* as eb_top does */
/* The answers to all thresholds (sorted by thresholds_settle), or the first rows. */
void top_print_answers(const settings *set, const eb_top_key *rows, size_t n,
                       const threshold *at_least, double total);
/* Is no key missing that should be in the list?  N rows are certainly the first if each of them
 * certainly came as often as one that is missing may have. */
bool top_is_complete(const settings *set, const eb_top_key *rows, size_t n, double watermark,
                     const threshold *at_least);
/* Says that keys may be missing, and what would help; STATUS_NO. */
int top_incomplete(double watermark, const char *cure);
#endif
