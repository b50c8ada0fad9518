/* paper_002.h - what the experiments on time-decaying filters share: a stream of epochs whose keys
 * follow Zipf's law, counters of real numbers that it would leave, and real filters. */
#ifndef EVERBLOOM_LAB_PAPER_002_H
#define EVERBLOOM_LAB_PAPER_002_H
#include "lab.h"

enum { P002_K = 4, P002_SPEC = 200 };

typedef struct p002_stream {
    size_t keys, arrivals; /* distinct keys; arrivals in an epoch */
    double zipf, factor;   /* what is left after an epoch */
    size_t cells;          /* counters of the filters */
    uint64_t seed;
    lab_rng random;
    double *pass; /* alias method: keep the column, or take the other */
    uint32_t *other;
    uint32_t *arrived; /* keys of the last epoch, in order */
    double *count;     /* the true decayed count of each key */
} p002_stream;

/* As published numbers were made: 50000 keys, 200000 arrivals an epoch, both divided by the scale;
 * bits_per_key counters for each key. */
p002_stream p002_open(const lab_options *o, double zipf, double factor, double bits_per_key,
                      uint64_t seed);
void p002_close(p002_stream *s);
void p002_epoch(p002_stream *s);          /* draws one, after letting the counts fade */
size_t p002_epochs(const p002_stream *s); /* after which nothing changes any more */
uint64_t p002_hash(const p002_stream *s, uint32_t key);

/* A real filter with s->cells counters that fade as the stream does. */
eb_filter *p002_filter(const p002_stream *s, const char *options);
void p002_feed(const p002_stream *s, eb_filter *f); /* the last epoch */

int p002_by_size(const void *a, const void *b); /* of doubles, for qsort */

/* Experiments. */
void p002_run_memory(lab_options *o);
void p002_run_memory_curves(lab_options *o);
void p002_run_space(lab_options *o);
void p002_run_creation(lab_options *o);
void p002_run_costs(lab_options *o);
void p002_run_carry(lab_options *o);
void p002_run_rounding(lab_options *o);
void p002_run_lazy(lab_options *o);
void p002_run_errors(lab_options *o);
void p002_run_error_curves(lab_options *o);
void p002_run_windows(lab_options *o);
#endif
