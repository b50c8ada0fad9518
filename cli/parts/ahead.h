/* ahead.h - --threads: blocks of lines are read ahead, and threads find and hash their keys.
 *
 * One thread reads, takes the blocks back in the order in which they were read, updates the filter
 * and prints: so every number of threads gives the same bytes.  While the block that it needs is
 * not ready, it works on blocks itself. */
#ifndef EVERBLOOM_AHEAD_H
#define EVERBLOOM_AHEAD_H
#include "lines.h"

typedef struct ahead ahead;
typedef struct ahead_block {
    reader in; /* over the bytes of the block: what is behind `lines`, if there is something */
    keyed_lines lines; /* those that are ready */
    uint64_t file;
    struct ahead_block *next;
    int stage;
} ahead_block;

/* Of `threads` in all, 2 or more; the block's reader is made like `in`, which is open. */
ahead *ahead_start(unsigned threads, reader *in, const lines_wish *wish);
bool ahead_has_room(const ahead *a);
/* Takes the whole records of `in` away, if it has some. */
void ahead_give(ahead *a, reader *in);
/* The oldest block, when it is ready; NULL: there is none. */
ahead_block *ahead_take(ahead *a);
void ahead_done(ahead *a, ahead_block *b); /* with the block that was taken */
void ahead_stop(ahead *a);                 /* NULL: nothing to stop */
#endif
