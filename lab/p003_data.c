/* p003_data.c - which way of making "uniform random data with a share f of distinct
 * keys" gives the published numbers?
 *
 * The differences are in the false negatives: the ways differ in how long ago a
 * repeated key was last seen. */
#include "paper_003.h"
#include <math.h>

enum { DATA_WAYS = 3, DATA_CELLS = 4, DATA_KINDS = 2 };
static const char *const data_ways[DATA_WAYS] = {"copies", "draws", "earlier"};
static const int data_kinds[DATA_KINDS] = {P003_BSBF, P003_RLBSBF};
static const struct {
    unsigned table, row;
} data_cells[DATA_CELLS] = {{7, 1}, {8, 1}, {9, 0}, {9, 2}};

typedef struct data_work {
    const lab_options *o;
    lab_rates rates[DATA_CELLS * DATA_WAYS][DATA_KINDS];
} data_work;

/* A universe of U keys shows U (1 - exp(-n/U)) of them in n draws. */
static double data_universe(double records, double distinct) {
    double low = distinct, high = 1e3 * records;
    for (int i = 0; i < 100; i++) {
        const double u = sqrt(low * high);
        *(u * -expm1(-records / u) < distinct ? &low : &high) = u;
    }
    return low;
}

static lab_stream *data_stream(const lab_options *o, const p003_table *t, size_t way,
                               uint64_t seed) {
    const double records = round(t->records / o->scale), distinct = round(records * t->share);
    if (way == 0) return lab_stream_copies((uint64_t)records, (uint64_t)distinct, seed);
    if (way == 1)
        return lab_stream_uniform((uint64_t)records,
                                  (uint64_t)round(data_universe(records, distinct)), seed);
    return lab_stream_earlier((uint64_t)records, t->share, seed);
}

static void data_job(void *ctx, size_t i) {
    data_work *w = ctx;
    const p003_table *t = &p003_tables[data_cells[i / DATA_WAYS].table - 1];
    const p003_row *r = &t->row[data_cells[i / DATA_WAYS].row];
    for (uint64_t seed = w->o->seed; seed < w->o->seed + w->o->seeds; seed++) {
        lab_subject s[DATA_KINDS];
        for (int k = 0; k < DATA_KINDS; k++) {
            char spec[P003_SPEC];
            p003_spec(spec, data_kinds[k], 2, p003_bits(r, w->o), seed);
            s[k] = lab_filter("", spec);
        }
        lab_run(data_stream(w->o, t, i % DATA_WAYS, seed), s, DATA_KINDS, NULL);
        for (int k = 0; k < DATA_KINDS; k++) lab_rates_pool(&w->rates[i][k], &s[k].rates);
    }
}

static void data_row(lab_options *o, lab_table *t, const data_work *w, size_t i, int k) {
    const p003_table *table = &p003_tables[data_cells[i / DATA_WAYS].table - 1];
    const p003_row *r = &table->row[data_cells[i / DATA_WAYS].row];
    const double fpr = 100 * lab_rate_of(&w->rates[i][k], LAB_FPR);
    const double fnr = 100 * lab_rate_of(&w->rates[i][k], LAB_FNR);
    const double off = fnr / r->fnr[data_kinds[k]] - 1;
    lab_table_row(t, "%u|%u|%s|%s|%.4f|%.4f|%+.2f|%.4f|%.4f|%+.2f", table->number, r->megabytes,
                  p003_names[data_kinds[k]], data_ways[i % DATA_WAYS], r->fpr[data_kinds[k]], fpr,
                  100 * (fpr / r->fpr[data_kinds[k]] - 1), r->fnr[data_kinds[k]], fnr, 100 * off);
    if (i % DATA_WAYS == 0)
        lab_promise(o, fabs(off) < 0.015, "Table %u, %u MB, %s: copies give the published FNR",
                    table->number, r->megabytes, p003_names[data_kinds[k]]);
}

void p003_run_data(lab_options *o) {
    data_work w = {.o = o};
    lab_parallel(o->threads, DATA_CELLS * DATA_WAYS, data_job, &w);
    lab_table *t = lab_table_new("table|MB|filter|data|FPR %|measured|off by %|FNR %|measured|"
                                 "off by %");
    for (int k = 0; k < DATA_KINDS; k++)
        for (size_t i = 0; i < DATA_CELLS * DATA_WAYS; i++) data_row(o, t, &w, i, k);
    lab_table_print(t, o);
}
