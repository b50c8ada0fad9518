/* frequent.h - what top and its --multiscan share: thresholds, answers, the input once more. */
#ifndef EVERBLOOM_FREQUENT_H
#define EVERBLOOM_FREQUENT_H
#include "output/table.h"
#include "stream.h"
#include <everbloom/experimental.h>

typedef struct threshold {
    double count;   /* if not a share */
    double percent; /* 0: a count */
} threshold;
/* What --at-least says. */
threshold threshold_read(const cli_command *c, const char *text);
double threshold_of(threshold t, double total); /* as a count, 1 or more */

/* What --rescan or the operands name, if it can be read again; else NULL.  From cli_alloc. */
char **rescan_paths(const settings *set, char *const *operands);
void check_same_input(double first, double again); /* of all weights */

void sort_candidates(eb_candidate *c, size_t n); /* the largest counts first */
/* Answers as rows.  label: what --at-least said, or NULL; total: of all counts, or 0. */
typedef struct answers {
    const settings *set;
    table rows;
    double total;
    bool exact, shares;
} answers;
void answers_open(answers *a, const settings *set, bool labels, double total, bool exact);
void answers_put(answers *a, const char *label, const eb_candidate *c);
void answers_flush(answers *a);
void answers_close(answers *a);

/* multiscan.c */
int run_multiscan(const cli_command *c, const settings *set, char **operands);
#endif
