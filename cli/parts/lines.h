/* lines.h - from bytes to lines with keys, hashes and values: all of the work on a line that does
 * not depend on the lines before it, so that several threads can do it (ahead.h). */
#ifndef EVERBLOOM_LINES_H
#define EVERBLOOM_LINES_H
#include "cli.h"
#include "input/values.h"
#include "io.h"

/* What is wanted of a line besides its key. */
typedef struct lines_wish {
    const values *values; /* from is VALUES_NONE: none */
    bool times, texts;    /* the text of its time; of the field of values, as it is */
    /* Of n keys; calls may run side by side. */
    void (*hash_keys)(const void *ctx, const eb_key *key, size_t n, eb_hash *out);
    const void *ctx;
} lines_wish;

enum { LINES_WHY = 200 };
/* Lines side by side, bad ones among them. */
typedef struct keyed_lines {
    size_t n, cap;
    const char **line; /* where each begins, and behind the last one, where that ends */
    eb_key *key;
    eb_hash *hash;
    uint64_t *value;
    eb_key *time, *text;
    uint8_t *bad; /* it lacks something */
    size_t bads;
    char why[LINES_WHY]; /* what the first of the bad ones lacks */
    uint64_t before;     /* records of the file before the first line */
    bool unclosed;       /* the last one has a quote that is not closed */
    values values;       /* a copy, with room of its own for keys */
} keyed_lines;

void lines_open(keyed_lines *l, size_t cap, const lines_wish *w);
/* The next whole records of r, at most cap.  Keys are valid until the reader's arena is reset. */
void lines_take(keyed_lines *l, const lines_wish *w, reader *r);
void lines_close(keyed_lines *l);
#endif
