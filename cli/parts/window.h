/* window.h - dedup --window: which filter it uses, the times of lines, and how much of the window
 * was kept.  Times are also for filters whose counts fade. */
#ifndef EVERBLOOM_WINDOW_H
#define EVERBLOOM_WINDOW_H
#include "cli.h"
#include "io.h"

/* A window in lines or in milliseconds: the ticks of filters. */
bool stretch_is_given(stretch s);
double stretch_ticks(stretch s);

/* Times of lines, in milliseconds since 1970. */
enum { TIMES_WHY = 200 };
typedef struct times {
    bool by_time; /* set before times_open: counts fade by time, whatever the options say */
    bool wanted;
    bool of_lines;           /* else when a line arrives */
    bool keeps_place;        /* set after times_open: a line has its own time, also if it is late */
    uint64_t last, begun;    /* the present, and what it was at the beginning */
    uint64_t doubted;        /* the time of the line before, if it was far ahead; 0: it was not */
    const char *format;      /* --time-format, or NULL */
    uint64_t ahead;          /* so far a time may be ahead of the clock */
    uint64_t clock;          /* the last look at it */
    uint64_t max_jump;       /* 0: not given */
    uint64_t jumped, agreed; /* the last time that was too far ahead; lines in a row that agree */
} times;
void times_open(times *t, const cli_command *c, const settings *set, const eb_filter *f);
uint64_t times_now(times *t); /* by the clock, but not before the last */
/* Where the time of a line stands: before the present, or so far ahead that it becomes the present
 * only if the next line agrees. */
typedef enum time_place { PLACE_IN_ORDER, PLACE_LATE, PLACE_AHEAD } time_place;
/* False: it cannot be read, as `why` says.  refuted: the line before was ahead, and this one does
 * not agree. */
bool time_of_text(times *t, eb_key text, uint64_t *time, time_place *place, bool *refuted,
                  char why[TIMES_WHY]);

/* At the end: more rows for a report; sentences on what was not as asked.  STATUS_NO if the window
 * was not kept for all lines. */
void window_report(report *r, const eb_filter *f);
int window_verdict(const eb_filter *f);
#endif
