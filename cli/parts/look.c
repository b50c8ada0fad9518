/* look.c - see look.h.
 *
 * Both tests allow four standard errors of what chance does, three for the number, and a tenth more
 * for what people do not know about their streams.  docs/decisions/planning.md has what passes. */
#include "look.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_MOST = 1 << 18, LOOK_FIRST = 512 };
static const double look_wanted = 1600, look_least = 400; /* repeats that a shuffled one has */
static const double look_unknown = 0.1; /* items and distinct are what somebody guessed */

/* Every key comes once, and (1 - share) / share times more on average: repeats among the first n.
 */
static double look_expected(const first_look *l, double n) {
    const double share = n / l->items, again = l->items / l->distinct - 1;
    return n - l->distinct * (1 - (1 - share) * exp(-again * share));
}

bool look_open(first_look *l, double items, double distinct) {
    *l = (first_look){.items = items, .distinct = distinct};
    const double most = fmin(LOOK_MOST, floor(items / 4));
    double n = LOOK_FIRST;
    while (n < most && look_expected(l, n) < look_wanted) n = ceil(n * 1.02);
    n = fmin(n, most);
    if (look_expected(l, n) < look_least) return false;
    l->most = (size_t)n;
    l->hash = cli_alloc(l->most * sizeof *l->hash);
    return true;
}

void look_note(first_look *l, const eb_hash *hash, size_t n) {
    memcpy(l->hash + l->n, hash, n * sizeof *hash);
    l->n += n;
}

typedef struct look_line {
    eb_hash hash;
    size_t at;
} look_line;

static int look_compare(const void *a, const void *b) {
    const look_line *const x = a, *const y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Repeats, and how far each is behind the last record of its key, on average. */
static double look_count(const first_look *l, double *gap) {
    look_line *const lines = cli_alloc(l->n * sizeof *lines);
    double repeats = 0, gaps = 0;
    for (size_t i = 0; i < l->n; i++) lines[i] = (look_line){l->hash[i], i};
    qsort(lines, l->n, sizeof *lines, look_compare);
    for (size_t i = 1; i < l->n; i++)
        if (lines[i].hash == lines[i - 1].hash) {
            repeats++;
            gaps += (double)(lines[i].at - lines[i - 1].at);
        }
    free(lines);
    *gap = repeats > 0 ? gaps / repeats : 0;
    return repeats;
}

/* The mean of the gaps of a shuffled stream, with their deviation: a gap of g has n - g places to
 * be, and none of the g - 1 records between is of the key. */
static double look_gap(const first_look *l, double *deviation) {
    const double other = 1 - 1 / l->distinct;
    double weight = 1, all = 0, sum = 0, squares = 0;
    for (size_t g = 1; g < l->n; g++, weight *= other) {
        const double places = weight * (double)(l->n - g), gap = (double)g;
        all += places;
        sum += places * gap;
        squares += places * gap * gap;
    }
    const double mean = sum / all;
    *deviation = sqrt(squares / all - mean * mean);
    return mean;
}

bool look_is_shuffled(const first_look *l) {
    double gap, deviation;
    const double repeats = look_count(l, &gap), expected = look_expected(l, (double)l->n);
    const double mean = look_gap(l, &deviation);
    if (fabs(repeats - expected) > look_unknown * expected + 3 * sqrt(expected)) return false;
    return fabs(gap - mean) <= look_unknown / 2 * mean + 4 * deviation / sqrt(repeats);
}

void look_close(first_look *l) {
    free(l->hash);
    *l = (first_look){0};
}
