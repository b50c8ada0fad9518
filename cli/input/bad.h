/* bad.h - lines whose key cannot be read: one policy for all commands.
 *
 * A line is bad if it lacks a field of its key, its time or its weight, or if one of them cannot be
 * read.  It is skipped, passed on as it is, or ends the command. */
#ifndef EVERBLOOM_BAD_H
#define EVERBLOOM_BAD_H
#include "io.h"

typedef enum bad_policy { BAD_SKIP, BAD_PASS, BAD_FAIL } bad_policy;
enum { BAD_TEXT = 400 };
typedef struct bad_lines {
    bad_policy policy;
    bool silent;          /* the same lines are read again */
    uint64_t lines;       /* so far */
    uint64_t told;        /* as they were when they were told last */
    double due;           /* when they are told next */
    char why[BAD_TEXT];   /* what is wrong with the last one */
    char first[BAD_TEXT]; /* file, line and what is wrong with the first one */
} bad_lines;

/* What --on-bad says, or else the usual for the command. */
void bad_open(bad_lines *b, const settings *set, bad_policy usual);
/* A line of the file is bad, as `why` says. */
void bad_note(bad_lines *b, const char *file, uint64_t line);
_Noreturn void bad_fail(const bad_lines *b); /* with the first one */
/* Of `lines` so far: at the end, once a minute, and at once if all are bad. */
void bad_tell(bad_lines *b, uint64_t lines, bool at_end);
double bad_due(const bad_lines *b); /* when there is something to tell; INFINITY: there is not */
#endif
