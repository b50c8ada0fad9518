/* again.h - reads the input of top again, for exact counts.
 *
 * The filter of the first reading is a sieve: its counts are never too low, so a key for which it
 * gives less than `least` occurs less often.  All other keys are counted exactly, in bounded memory
 * and temporary files (tally.h).  So the answer is complete and right, however small the filter is;
 * a larger one leaves less to count. */
#ifndef EVERBLOOM_AGAIN_H
#define EVERBLOOM_AGAIN_H
#include "stream.h"
#include <everbloom/query.h>

/* What --rescan or the operands name, if it can be read again; else NULL.  From cli_alloc. */
char **again_paths(const settings *set, char *const *operands);

/* The keys that came `least` times or more, sorted; they and their bytes are freed with it. */
typedef struct exact_keys {
    eb_top_key *rows;
    size_t n, cap;
    char *bytes;
    size_t used, bytes_cap;
} exact_keys;
/* total: of all weights in the first reading, which must be that of the second.  Memory in bytes.
 * 0, or the status to end with. */
int again_count(stream *s, char *const *paths, double least, double total, size_t memory,
                exact_keys *out);
void exact_free(exact_keys *k);
#endif
