/* lab.h - the laboratory: streams whose truth is known, filters that run over
 * them, and reports that set what was measured beside what was published.
 *
 *     stream --ids--> truth --first seen?--+
 *        |                                 v
 *        +--hashes--> filters --seen?--> rates --> table, verdict
 *
 * A stream is a sequence of small dense numbers (ids); filters get lab_mix() of
 * id + salt, a permutation of the 64-bit numbers: different ids never collide.
 * Only the public API is used.  What cannot go on (no memory, an unreadable
 * file) ends the program through lab_die. */
#ifndef EVERBLOOM_LAB_H
#define EVERBLOOM_LAB_H
#include "calls.h"
#include <stdio.h>

/* Small things. */
_Noreturn void lab_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *lab_alloc(size_t count, size_t size); /* zeroed; free() it */
void *lab_grow(void *p, size_t count, size_t size);
uint64_t lab_mix(uint64_t x);
typedef struct lab_rng {
    uint64_t state;
} lab_rng;
uint64_t lab_random(lab_rng *r);
uint64_t lab_below(lab_rng *r, uint64_t bound);
double lab_unit(lab_rng *r); /* inside (0, 1) */
/* Calls job(ctx, 0..count-1), each once, on so many threads. */
void lab_parallel(unsigned threads, size_t count, void (*job)(void *ctx, size_t i), void *ctx);

/* Streams (stream.c).  lab_stream_next fills ids and returns how many, 0 at the
 * end; ids are below lab_stream_ids. */
typedef struct lab_stream lab_stream;
typedef enum lab_law { LAB_UNIFORM, LAB_EXPONENTIAL, LAB_PARETO } lab_law;
typedef struct lab_gap { /* how far back a repeat reaches, in records */
    lab_law law;
    double scale; /* the largest gap, the mean, or the smallest gap */
    double shape; /* of Pareto: P(gap > x) = (scale/x)^shape */
} lab_gap;
/* distinct keys once each and uniform copies of them for the rest, shuffled. */
lab_stream *lab_stream_copies(uint64_t records, uint64_t distinct, uint64_t seed);
/* independent uniform draws from a universe. */
lab_stream *lab_stream_uniform(uint64_t records, uint64_t universe, uint64_t seed);
/* new keys with probability fresh, else the key of any earlier record. */
lab_stream *lab_stream_earlier(uint64_t records, double fresh, uint64_t seed);
/* new keys with probability fresh, else the key of the record so many before. */
lab_stream *lab_stream_gaps(uint64_t records, double fresh, lab_gap gap, uint64_t seed);
/* the same, but the repeat is at this exact depth: distinct keys seen since. */
lab_stream *lab_stream_depths(uint64_t records, double fresh, lab_gap depth, uint64_t seed);
/* a list of ids, which the stream takes over and frees. */
lab_stream *lab_stream_list(uint32_t *list, uint64_t records, uint64_t ids, uint64_t seed);
extern const char lab_stream_names[]; /* one on each line, with what they mean */
/* by name, such as loop:1.65, for a filter with so many slots (streams.c lists the names). */
lab_stream *lab_stream_named(const char *name, double slots, uint64_t records, uint64_t seed);
/* the lines or words of a text file, so many at most (text.c). */
lab_stream *lab_stream_text(const char *path, bool words, uint64_t records, uint64_t seed);
/* a named stream, or lines:FILE, words:FILE, or the lines of FILE. */
lab_stream *lab_stream_open(const char *name, double slots, uint64_t records, uint64_t seed);
size_t lab_stream_next(lab_stream *s, uint64_t *ids, size_t cap);
uint64_t lab_stream_ids(const lab_stream *s);
uint64_t lab_stream_salt(const lab_stream *s); /* another for each seed: id -> hash */
uint64_t lab_stream_records(const lab_stream *s);
void lab_stream_free(lab_stream *s);
double lab_gap_draw(const lab_gap *g, lab_rng *r);
double lab_gap_density(const lab_gap *g, double gap);
/* Pages, carts and robots: lines that look like the log of a shop. */
void lab_write_clicks(FILE *out, uint64_t records, uint64_t seed);

/* Truth (truth.c): has this id come before? */
typedef struct lab_truth lab_truth;
lab_truth *lab_truth_new(uint64_t ids);
void lab_truth_first(lab_truth *t, const uint64_t *ids, size_t n, uint8_t *first);
void lab_truth_free(lab_truth *t);

/* Rates (metrics.c).  False positives are a share of the distinct records,
 * false negatives of the repeats; rates and errors are fractions, not percent. */
typedef struct lab_rates {
    uint64_t distinct, false_positives, repeats, false_negatives;
} lab_rates;
typedef enum lab_rate { LAB_FPR, LAB_FNR } lab_rate;
void lab_rates_count(lab_rates *r, const uint8_t *first, const uint8_t *seen, size_t n);
void lab_rates_pool(lab_rates *into, const lab_rates *from);
double lab_rate_of(const lab_rates *r, lab_rate which);
double lab_error_of(const lab_rates *r, lab_rate which); /* binomial standard error */

/* Runs (run.c): one stream through several subjects. */
typedef struct lab_subject {
    char name[24];
    void *state;
    void (*add)(void *state, const eb_batch *b, uint8_t *seen);
    void (*count)(const void *state, const uint64_t *hash, size_t n, double *count); /* or NULL */
    void (*release)(void *state);
    double (*load)(const void *state);
    uint64_t bytes;
    lab_rates rates;
} lab_subject;
typedef struct lab_watch {
    uint64_t warm_up;  /* records that are not counted */
    uint64_t interval; /* records from one point to the next; 0: no points */
    void (*point)(void *ctx, uint64_t records, const lab_subject *subjects, size_t count);
    void *ctx;
} lab_watch;
lab_subject lab_filter(const char *name, const char *spec); /* dies if the spec is wrong */
/* Feeds the whole stream, fills the rates, and frees stream and subjects' states. */
void lab_run(lab_stream *s, lab_subject *subjects, size_t count, const lab_watch *watch);

/* Filters whose random resets reach only the first part of their one array (narrow.c). */
typedef enum lab_rule { LAB_SBF, LAB_BSBF, LAB_RLBSBF } lab_rule;
lab_subject lab_narrow(const char *name, lab_rule rule, uint64_t cells, uint64_t reach,
                       uint64_t seed);

/* Information bounds (bound.c): the least false negative rate that any filter
 * with so much memory can have at a false positive rate. */
double lab_bound_copies(double bits_per_key, double share, double fpr);
double lab_bound_fpr(double bits_per_key); /* at no false negatives */
typedef struct lab_demand { /* how many keys there are of each weight: how soon they are due */
    double *weight, *keys;
    size_t bins;
} lab_demand;
lab_demand lab_demand_of_gaps(uint64_t records, double fresh, lab_gap gap, uint64_t seed);
void lab_demand_free(lab_demand *d);
double lab_bound_demand(const lab_demand *d, double bits, double fpr);

/* Reports (report.c).  A row is one string, cells separated by '|'. */
typedef enum lab_format { LAB_TEXT, LAB_CSV, LAB_MD } lab_format;
typedef struct lab_options {
    double scale; /* streams and filters are so many times smaller */
    uint64_t seed;
    unsigned seeds, threads, table, figure;
    lab_format format;
    const char *file;
    unsigned kept, broken; /* promises */
} lab_options;
typedef struct lab_table lab_table;
lab_table *lab_table_new(const char *columns);
void lab_table_row(lab_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lab_table_print(lab_table *t, const lab_options *o); /* and free */
/* Counts a promise; the text says what it is, with the numbers. */
void lab_promise(lab_options *o, bool kept, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A number to reach: a row of a table from lab_checks_new, and a promise. */
typedef struct lab_check {
    double want, got;
    double error; /* standard error of got; NAN: it was computed */
    double limit; /* how far off it may be */
    int digits;   /* after the point */
} lab_check;
lab_table *lab_checks_new(const char *what, const char *want); /* names of two columns */
void lab_check_row(lab_options *o, lab_table *t, const char *what, lab_check c);
void lab_say(const lab_options *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Opens (or closes) a part that Markdown readers see folded. */
void lab_details(const lab_options *o, const char *title, bool open);

/* Papers: each has experiments. */
typedef struct lab_experiment {
    const char *name, *help;
    void (*run)(lab_options *o);
} lab_experiment;
typedef struct lab_paper {
    const char *name, *title;
    const lab_experiment *experiments; /* ends with a NULL name */
    const char *extra; /* this experiment and those after it run only when they are named */
    double scale;      /* unless --scale says another */
    unsigned seeds;    /* unless --seeds says another */
} lab_paper;
extern const lab_paper lab_paper_000, lab_paper_001, lab_paper_002, lab_paper_003, lab_paper_004;
extern const lab_paper lab_orders, lab_grid; /* no papers: our own filters */
#endif
