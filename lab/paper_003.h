/* paper_003.h - what the experiments on the de-duplication paper share. */
#ifndef EVERBLOOM_LAB_PAPER_003_H
#define EVERBLOOM_LAB_PAPER_003_H
#include "lab.h"

/* The published numbers, in percent. */
enum { P003_TABLES = 9, P003_COLUMNS = 5, P003_ROWS = 4 };
typedef struct p003_row {
    unsigned megabytes; /* of 2^20 bytes; 0: no such row */
    double fpr[P003_COLUMNS], fnr[P003_COLUMNS];
} p003_row;
typedef struct p003_table {
    unsigned number;
    int kind; /* Tables 1-3: the filter, columns are k = 1..5; -1: columns are the five filters */
    double records, share; /* share: distinct keys / records */
    p003_row row[P003_ROWS];
} p003_table;
extern const p003_table p003_tables[P003_TABLES];

/* The five filters of the paper, in the order of its columns. */
enum { P003_SBF, P003_RSBF, P003_BSBF, P003_BSBFSD, P003_RLBSBF };
extern const char *const p003_names[P003_COLUMNS];

enum { P003_SPEC = 200 };
/* One filter of the paper with so many bits. */
void p003_spec(char spec[P003_SPEC], int kind, unsigned k, double bits, uint64_t seed);
void p003_choosy_spec(char spec[P003_SPEC], double bits, double distinct, double share, double fpr,
                      uint64_t seed);
int p003_kind(const p003_table *t, int column);
unsigned p003_k(const p003_table *t, int column);
static inline double p003_published(const p003_row *r, int column, lab_rate rate) {
    return rate == LAB_FPR ? r->fpr[column] : r->fnr[column];
}
static inline double p003_bits(const p003_row *r, const lab_options *o) {
    return r->megabytes * 0x1p23 / o->scale;
}
/* The paper's stream for a table, scaled; seed: 0, 1, 2... */
lab_stream *p003_stream(const p003_table *t, const lab_options *o, size_t seed);

/* Experiments. */
void p003_run_tables(lab_options *o);
void p003_run_data(lab_options *o);
void p003_run_full(lab_options *o);
void p003_run_figures(lab_options *o);
void p003_run_theory(lab_options *o);
void p003_run_choosy(lab_options *o);
void p003_run_tradeoff(lab_options *o);
void p003_run_gaps(lab_options *o);
void p003_run_gap_curves(lab_options *o);
void p003_run_lines(lab_options *o);
void p003_run_soak(lab_options *o);
void p003_run_replay(lab_options *o);
#endif
