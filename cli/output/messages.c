/* messages.c - what the command says when something is wrong, and how it ends then. */
#include "cli.h"
#include "io.h"
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_MAX = 3 * PATH_MAX };

/* In one piece, so that messages of several runs to one terminal or log stay apart. */
static void say(const char *format, va_list args) {
    char text[MESSAGE_MAX];
    progress_clear();
    vsnprintf(text, sizeof text, format, args);
    fprintf(stderr, "everbloom: %s\n", text);
}

void cli_warn(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
}

void cli_fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    atomic_discard_all();
    exit(STATUS_TROUBLE);
}

void cli_misuse(const cli_command *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    fprintf(stderr, "Try 'everbloom%s%s --help'.\n", c ? " " : "", c ? c->name : "");
    exit(STATUS_TROUBLE);
}

void *cli_alloc(size_t size) {
    void *p = malloc(size);
    if (!p) cli_fail("out of memory (%zu bytes wanted)", size);
    return p;
}

void *cli_grow(void *old, size_t *cap, size_t wanted) {
    if (wanted <= *cap) return old;
    *cap = wanted < *cap * 2 ? *cap * 2 : wanted + 64;
    void *more = realloc(old, *cap);
    if (!more) cli_fail("out of memory (%zu bytes wanted)", *cap);
    return more;
}

enum { NEAREST_MAX = 32 }; /* longer words are not compared */

/* Edit distance, a swap of neighbours counting one. */
static size_t distance(const char *a, size_t la, const char *b, size_t lb) {
    size_t d[NEAREST_MAX + 1][NEAREST_MAX + 1];
    for (size_t i = 0; i <= la; i++) d[i][0] = i;
    for (size_t j = 0; j <= lb; j++) d[0][j] = j;
    for (size_t i = 1; i <= la; i++)
        for (size_t j = 1; j <= lb; j++) {
            size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            bool swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swap && d[i - 2][j - 2] + 1 < best) best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[la][lb];
}

void nearest_try(nearest *n, const char *typed, const char *word) {
    size_t lt = strlen(typed), lw = strlen(word);
    if (lt > NEAREST_MAX || lw > NEAREST_MAX) return;
    bool begins = lt >= 2 && strncmp(typed, word, lt) == 0;
    size_t d = begins ? 1 : distance(typed, lt, word, lw);
    size_t limit = lw < 5 ? 1 : lw < 8 ? 2 : 3;
    if (d > limit || (n->word && d >= n->best)) return;
    n->word = word;
    n->best = d;
}
