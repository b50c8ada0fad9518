/* frequent.h - what iceberg and its --multiscan share: thresholds, answers, the input once more. */
#ifndef EVERBLOOM_FREQUENT_H
#define EVERBLOOM_FREQUENT_H
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
/* label: what --at-least said, or NULL. */
void print_header(const settings *set, bool labels);
void print_candidates(const settings *set, const char *label, const eb_candidate *c, size_t n,
                      bool exact);
void print_candidate(const settings *set, const char *label, const eb_candidate *c, bool exact);

/* cmd_multiscan.c */
int run_multiscan(const cli_command *c, const settings *set, char **operands);
#endif
