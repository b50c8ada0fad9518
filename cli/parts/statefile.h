/* statefile.h - what follows the snapshot in a --state file: how keys were made, and a journal of
 * what has changed since the snapshot was written.
 *
 * A small change is appended, not the whole filter written again: docs/FORMAT.md, "States".  Every
 * section has a checksum.  One that a crash cut off is the last, and is left out; what was saved
 * before it is whole. */
#ifndef EVERBLOOM_STATEFILE_H
#define EVERBLOOM_STATEFILE_H
#include "cli.h"

enum { STATE_NOTE = 1024 };

/* What the bytes behind a snapshot are. */
typedef struct sections {
    char note[STATE_NOTE]; /* "": none */
    bool torn;             /* the last section is cut off */
    size_t journals;       /* of the file */
} sections;
/* Reads them, and brings the snapshot up to date in place: `bytes` are `length` ones, of which the
 * first `end` are the snapshot.  False: they are no sections, or are damaged in the middle. */
bool sections_read(unsigned char *bytes, size_t end, size_t length, sections *s);

struct atomic_file;
/* Writes how keys were made behind a snapshot. */
void section_write_note(struct atomic_file *file, const char *note);

/* A run has one state.  Before the first key: the file that it goes on from, as it was read, and
 * how keys are made. */
void state_begin(const char *path, const eb_filter *f, const sections *found, const char *note);
/* Brings the file up to date: appends what has changed, or replaces the file.  At the end of a run
 * it becomes one snapshot again, unless next to nothing has changed. */
void state_save(const eb_filter *f, bool at_end);
void state_change_filter(void); /* what is saved next is another filter */
void state_end(void);
/* What filters of one name have in common. */
uint64_t family_seed(const char *name);
#endif
