/* arena.c - bytes that are needed for one batch of lines. */
#include "arena.h"
#include "cli.h"
#include <assert.h>
#include <stdlib.h>

enum { ARENA_CHUNK = 256 << 10 };

struct arena_chunk {
    arena_chunk *next;
    size_t size;
    char bytes[];
};

static arena_chunk *new_chunk(size_t n) {
    const size_t size = n > ARENA_CHUNK ? n : ARENA_CHUNK;
    arena_chunk *const c = cli_alloc(sizeof *c + size);
    *c = (arena_chunk){.size = size};
    return c;
}

/* The chunk after this one with room for n bytes; those that are too small are let go. */
static arena_chunk *next_with_room(arena *a, size_t n) {
    arena_chunk **const link = a->at ? &a->at->next : &a->first;
    while (*link && (*link)->size < n) {
        arena_chunk *const small = *link;
        *link = small->next;
        free(small);
    }
    if (!*link) *link = new_chunk(n);
    return *link;
}

char *arena_get(arena *a, size_t n) {
    if (!a->at || a->at->size - a->used < n) {
        a->at = next_with_room(a, n);
        a->used = 0;
    }
    return a->at->bytes + a->used;
}

void arena_take(arena *a, size_t n) {
    assert(a->at && n <= a->at->size - a->used);
    a->used += n;
}

void arena_reset(arena *a) {
    a->at = a->first;
    a->used = 0;
}

void arena_free(arena *a) {
    while (a->first) {
        arena_chunk *const c = a->first;
        a->first = c->next;
        free(c);
    }
    *a = (arena){0};
}
