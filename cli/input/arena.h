/* arena.h - bytes that are needed for one batch of lines: given out one after the other, taken back
 * all at once.  What was given stays where it is until then. */
#ifndef EVERBLOOM_ARENA_H
#define EVERBLOOM_ARENA_H
#include <stddef.h>

typedef struct arena_chunk arena_chunk;
typedef struct arena {
    arena_chunk *first, *at; /* a list of chunks, and the one that is given out now */
    size_t used;             /* of that one */
} arena;

char *arena_get(arena *a, size_t n); /* room for n bytes, none of it taken yet */
void arena_take(arena *a, size_t n); /* the first n bytes of what was just got */
void arena_reset(arena *a);          /* everything is free again */
void arena_free(arena *a);
#endif
