/* paper_004.h - what the experiments on spectral Bloom filters share.
 *
 *     world: keys with known counts, and the order in which they come
 *       --phases--> a way of counting --estimates--> errors over all keys
 *
 * A run is one world with one seed; a result is the mean and the deviation of
 * the runs.  E_ratio is the share of keys whose estimate is wrong, E_add the
 * root of the mean square error, low the share of estimates below the truth. */
#ifndef EVERBLOOM_LAB_PAPER_004_H
#define EVERBLOOM_LAB_PAPER_004_H
#ifndef EB_STATIC_ONLY
#define EB_STATIC_ONLY /* for experimental.h: all of this is linked statically */
#endif
#include "lab.h"
#include <everbloom/experimental.h>

/* Worlds (p004_worlds.c). */
typedef enum p004_order { P004_MIXED, P004_GROUPED, P004_ROUND_ROBIN, P004_PALINDROME } p004_order;
typedef enum p004_phases {
    P004_INSERTS,
    P004_DELETIONS, /* ten phases; after each a twentieth of the keys goes, with all its counts */
    P004_WINDOW     /* only the last fifth of the records stays */
} p004_phases;
typedef struct p004_world {
    size_t keys, records;
    uint64_t *count; /* of each key, in the whole stream */
    uint64_t *order; /* records: key numbers */
    uint64_t *now;   /* what a way of counting that was fed must answer */
    eb_hash *hash;   /* of each key: another for each seed */
    lab_rng random;
} p004_world;
/* max(1, round(records c / i^theta)) for i = 1..keys, in total about records. */
void p004_zipf(uint64_t *count, size_t keys, double records, double theta);
p004_world p004_world_new(const uint64_t *count, size_t keys, p004_order order, uint64_t seed);
void p004_world_free(p004_world *w);

/* Ways of counting (p004_ways.c): filters of the library, and two that it does not have. */
typedef enum p004_policy {
    P004_MS,
    P004_MI,
    P004_RM,
    P004_RM_BF,
    P004_RM_BF_STAR, /* readers' best: marked when moved, smaller of the two; made of three filters
                      */
    P004_TRM,
    P004_RMX,
    P004_MI_LOWERED, /* minimal increase whose counters are lowered: the library refuses that */
    P004_POLICIES
} p004_policy;
extern const char *const p004_names[P004_POLICIES];
typedef struct p004_way {
    void *state;
    void (*add)(void *state, const eb_hash *h, size_t n);
    void (*remove)(void *state, eb_hash h, uint64_t times);
    void (*count)(const void *state, const eb_hash *h, size_t n, double *count);
    void (*release)(void *state);
} p004_way;
typedef struct p004_size {
    unsigned k;
    double first;  /* counters */
    double second; /* second counters, or entries of the side table */
} p004_size;
p004_way p004_way_new(p004_policy policy, const p004_size *size, uint64_t seed);
p004_way p004_way_of(const char *spec); /* dies if the spec is wrong */
/* Sizes as the figures have them: gamma = keys k / m, the recurring minima share m as 2/3 and 1/3,
 * rmx has a side table that never fills beside its m. */
p004_size p004_size_of(p004_policy policy, size_t keys, unsigned k, double gamma);

/* Runs and results (p004_measure.c). */
typedef struct p004_errors {
    double ratio, size, low;
} p004_errors;
void p004_feed(p004_world *w, const p004_way *way, p004_phases phases);
p004_errors p004_compare(const p004_world *w, const p004_way *way);
typedef struct p004_case {
    p004_policy policy;
    p004_size size;
    size_t keys;
    double records, theta;
    const uint64_t *count; /* instead of Zipf's law */
    p004_order order;
    p004_phases phases;
} p004_case;
typedef struct p004_result {
    p004_errors mean, sd; /* sd: of one run */
} p004_result;
/* Of n numbers that lie so many bytes apart. */
void p004_spread(const double *x, size_t bytes, unsigned n, double *mean, double *sd);
p004_result p004_run(const lab_options *o, const p004_case *c);
/* The usual case: 1000 keys, 100000 records, k = 5, inserts in random order. */
p004_case p004_usual(p004_policy policy, double gamma, double theta);

/* Reports.  Published and expected are NAN where there is none; sd 0: take the measured one. */
typedef struct p004_cell {
    double published, expected, sd;
    double got, got_sd;
    int digits;
} p004_cell;
lab_table *p004_cells_new(const char *what);
/* Agrees if |got - expected| <= 4 sd sqrt(1/seeds + 1/50). */
void p004_cell_row(lab_options *o, lab_table *t, const char *what, const p004_cell *c);

/* The bits for a counter with which a store takes these keys without saturating. */
double p004_least_bits(const char *store, double cells, unsigned k, const eb_batch *all);

/* Experiments. */
void p004_run_tables(lab_options *o);
void p004_run_figure2(lab_options *o);
void p004_run_figure6(lab_options *o);
void p004_run_figure8(lab_options *o);
void p004_run_figure9(lab_options *o);
void p004_run_orders(lab_options *o);
void p004_run_figure7(lab_options *o);
void p004_run_memory(lab_options *o);
void p004_run_examples(lab_options *o);
void p004_run_low(lab_options *o);
void p004_run_theory(lab_options *o);
void p004_run_predictions(lab_options *o);
void p004_run_figure10(lab_options *o);
void p004_run_index(lab_options *o);
void p004_run_curves(lab_options *o);
void p004_run_codes(lab_options *o);
void p004_run_figure1(lab_options *o);
void p004_run_forest(lab_options *o);
void p004_run_figure4(lab_options *o);
void p004_run_icebergs(lab_options *o);
void p004_run_joins(lab_options *o);
void p004_run_sizes(lab_options *o);
void p004_run_ranges(lab_options *o);
#endif
