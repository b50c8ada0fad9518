/* join.h - what the parts of the join command share: relations that are scanned, the filter of one,
 * and the condition on counts. */
#ifndef EVERBLOOM_JOIN_H
#define EVERBLOOM_JOIN_H
#include "stream.h"

typedef struct relation { /* a file of lines, and which field of them is the key */
    const cli_command *c;
    settings set;
    char *paths[2];
    bool scanned;    /* at least once */
    uint64_t rows;   /* of the last scan */
    double column;   /* bytes of its keys, each with a line end */
    double distinct; /* keys, about; 0: not known yet */
} relation;

relation relation_open(const cli_command *c, const settings *set, char *path,
                       const field_list *field);
/* Reads all of it through a filter: adds the keys, or only asks.  take gets every batch.  A
 * read error or a signal ends the program. */
typedef void relation_take(void *ctx, const stream *s, size_t n);
void relation_scan(relation *r, eb_filter *f, bool adds, relation_take *take, void *ctx);
/* About how many different keys there are, as --distinct says or by a scan. */
double relation_distinct(relation *r);
/* The filter that the options ask for; if they do not, one with `cells` counters for each of
 * `distinct` keys and the other options of its spec as in `more`. */
eb_filter *relation_filter(const relation *r, const char *more, double cells, double distinct);

typedef enum having_op {
    HAVING_ANY,
    HAVING_MORE,
    HAVING_FROM,
    HAVING_EQUAL,
    HAVING_LESS,
    HAVING_UPTO
} having_op;
typedef struct having {
    having_op op;
    uint64_t count;
} having;
having having_read(const cli_command *c, const char *text); /* NULL: any */
bool having_holds(having h, uint64_t count);
/* Can it hold for r times a number from 1 to s? */
bool having_possible(having h, uint64_t r, uint64_t s);
uint64_t multiplied(uint64_t a, uint64_t b); /* no more than UINT64_MAX */

/* method: product, sample, or NULL: the better one */
int join_size(const settings *set, const char *method, relation *r, relation *s);
int join_size_of_snapshots(const settings *set, char *const *paths);
#endif
