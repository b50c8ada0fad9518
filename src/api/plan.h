/* plan.h - shared by plan.c, which searches, and plan_offer.c, which asks one kind. */
#ifndef EBI_PLAN_H
#define EBI_PLAN_H
#include "filter.h"

enum { EBI_PLAN_STREAMS = 5 }; /* that an unknown stream may be */

typedef struct ebi_plan_offer { /* what one kind can do */
    const ebi_kind *kind;
    ebi_params p;
    double bytes, fpr, fnr; /* fpr, fnr: of the stream as given, or shuffled */
    double most_fpr, most_fnr;
    double missed[EBI_PLAN_STREAMS];
    bool rough;
    double regret; /* the worst ratio of its misses to the fewest of all offers */
} ebi_plan_offer;

typedef struct ebi_plan_spec { /* the options that are set, of one kind */
    const ebi_kind *kind;
    ebi_params p;
    ebi_args a;
} ebi_plan_spec;

bool ebi_plan_is_told(const eb_workload *w);
/* Whether misses on this stream count. */
bool ebi_plan_counts(const eb_goal *g, size_t stream);
/* The accuracy to which kinds solve their own formulas. */
double ebi_plan_rounding(const ebi_plan_offer *o);
/* The bytes without which no data structure keeps the rates; 0: no bound is known. */
double ebi_plan_least_bytes(const eb_goal *g, double fpr, double fnr);

/* False: the kind cannot do it, or is of no use. */
bool ebi_plan_ask(const ebi_plan_spec *given, const eb_goal *g, double bytes, double fpr,
                  ebi_plan_offer *o);
bool ebi_plan_keeps(const eb_goal *g, const ebi_plan_offer *o);
bool ebi_plan_keeps_fnr(const eb_goal *g, const ebi_plan_offer *o);
#endif
