/* arena.h - memory for one batch of lines: allocated piece by piece, freed all at once.  Until then
 * no piece moves. */
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
