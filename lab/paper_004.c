/* paper_004.c - "Spectral Bloom Filters": the list of experiments.  What agrees and
 * what does not: docs/papers/004.md. */
#include "paper_004.h"

static const lab_experiment p004_experiments[] = {
    {"tables", "Tables 1 and 2 (or --table N): the recurring minimum, modelled and real",
     p004_run_tables},
    {0}};

const lab_paper lab_paper_004 = {"004", "spectral filters", p004_experiments, "curves", 1, 20};
