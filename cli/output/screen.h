/* screen.h - a live table on a terminal, and its keys: q quits, space pauses and resumes, arrows
 * scroll. */
#ifndef EVERBLOOM_SCREEN_H
#define EVERBLOOM_SCREEN_H
#include "cli.h"

typedef struct screen {
    bool on;
    int tty;       /* where keys come from, or -1 */
    bool paused;   /* by space */
    bool ended;    /* by q */
    size_t scroll; /* rows above the first that is shown */
} screen;
typedef struct screen_size {
    size_t rows, columns;
} screen_size;

void screen_open(screen *s);  /* the terminal is put back when the program ends, however it does */
void screen_close(screen *s); /* the same, now */
screen_size screen_size_now(void);
/* Keys that were pressed since; true: what is shown has to change. */
bool screen_keys(screen *s);
/* A share from 0 to 1 as a bar of so many columns, in eighths. */
void put_bar(FILE *to, double share, size_t columns);
#endif
