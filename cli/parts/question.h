/* question.h - questions about filters and their answers, as plan prints them and as the page in
 * web/ shows them.
 *
 * Of memory, number of keys, gap and rates, the answer finds those that are 0. */
#ifndef EVERBLOOM_QUESTION_H
#define EVERBLOOM_QUESTION_H
#include <everbloom/everbloom.h>
#include <stdbool.h>
#include <stdio.h>

enum { QUESTION_OFFERS = 24 };
/* What max_fpr bounds, and fpr of an offer means; 0: not said. */
enum { QUESTION_MEAN = 1, QUESTION_END, QUESTION_WORST };

typedef struct question { /* 0: not told */
    double items, distinct, gap, window, window_seconds, rate, zipf;
    double memory, max_fpr, max_fnr;
    uint32_t order;  /* eb_order */
    uint32_t fpr_is; /* QUESTION_MEAN, ... */
    uint32_t needs;  /* a bit for each of question_need */
    bool endless, all_kinds;
} question;

typedef struct answer {
    question q;
    eb_workload load;
    eb_goal goal;
    char options[64];
    eb_offer offers[QUESTION_OFFERS];
    size_t n;
    const char *found; /* what was not told: "memory", "distinct", ... */
    bool misused;      /* the question made no sense; else no filter can do it */
    eb_error err;
} answer;

/* The words of `needs`, in the order of their bits; NULL: no more. */
const char *question_need(size_t i);
/* False: misused and err say why. */
bool question_ask(answer *a, const question *q);

/* The spec as people write it: without what is so by default. */
void answer_short(const char *spec, char out[EB_SPEC_MAX]);
/* The best offer as a sentence, and the command for any of them. */
void answer_sentence(const answer *a, char *text, size_t cap);
void answer_command(const answer *a, const eb_offer *o, char *text, size_t cap);
/* Why an offer is not the first. */
const char *answer_why(const answer *a, size_t i, char text[160]);
void answer_json(const answer *a, FILE *to);
#endif
