/* paper_004.c - "Spectral Bloom Filters": the list of experiments.  What agrees and
 * what does not: docs/papers/004.md. */
#include "paper_004.h"

static const lab_experiment p004_experiments[] = {
    {"tables", "Tables 1 and 2 (or --table N): the recurring minimum, modelled and real",
     p004_run_tables},
    {"figure6", "Figure 6: fewer counters, more counters for a key", p004_run_figure6},
    {"figure7", "Figure 7: counts shaped like the forest's elevations", p004_run_figure7},
    {"figure2", "Figure 2: trapping by the prose and by the figure; estimates for single minima",
     p004_run_figure2},
    {"figure8", "Figure 8: skew, without and with deletions", p004_run_figure8},
    {"figure9", "Figure 9: a sliding window", p004_run_figure9},
    {"figure10", "Figure 10: bits for a counter in each code", p004_run_figure10},
    {"index", "Figures 13-15: the string-array index in bits", p004_run_index},
    {"orders", "what the order of arrival does", p004_run_orders},
    {"memory", "the same memory for each way of counting", p004_run_memory},
    {"examples", "streams on which the published policies count too low", p004_run_examples},
    {"low", "how often they do by chance", p004_run_low},
    {"theory", "Lemmas 2 and 3, windows", p004_run_theory},
    {"predictions", "what eb_predict says of counts", p004_run_predictions},
    {"figure4", "Figure 4: false answers to iceberg queries", p004_run_figure4},
    {"joins", "section 5.3: joins by key", p004_run_joins},
    {"sizes", "section 5.4: sizes of joins by samples and by products", p004_run_sizes},
    {"ranges", "section 5.5: ranges", p004_run_ranges},
    {"curves", "Figures 6, 8 and 9 as CSV", p004_run_curves},
    {"codes", "Figure 10 as CSV", p004_run_codes},
    {"figure1", "Figure 1 as CSV", p004_run_figure1},
    {"forest", "Figure 7 as CSV", p004_run_forest},
    {"icebergs", "Figure 4 as CSV", p004_run_icebergs},
    {0}};

const lab_paper lab_paper_004 = {"004", "spectral filters", p004_experiments, "curves", 1, 20};
