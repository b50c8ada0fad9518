/* p003_tables.c - Tables 1-9 again: 165 cells of two rates.
 *
 * Cells in one row of a table share a stream.  A job is one row with one seed;
 * the seeds are pooled.  Where the paper's filter is one array of 2^32 bits
 * (512 MB, SBF or k = 1), a narrow twin whose resets reach half of the array runs
 * beside the library's filter: it shows what the published number measured. */
#include "paper_003.h"
#include <math.h>
#include <stdlib.h>

typedef struct tables_cell {
    lab_rates right, narrow;
    bool has_narrow;
    eb_prediction predicted;
} tables_cell;

typedef struct tables_group {
    const p003_table *table;
    const p003_row *row;
    unsigned columns;  /* bit set: which to run */
    tables_cell *cell; /* seeds times P003_COLUMNS */
} tables_group;

typedef struct tables_work {
    const lab_options *o;
    tables_group group[P003_TABLES * P003_ROWS];
    size_t groups;
    bool full; /* the published size: little is left to chance */
} tables_work;

typedef struct tables_limit { /* how far off a rate may be: either will do */
    double relative, points;
} tables_limit;

static tables_limit tables_limit_of(const tables_work *w, int kind) {
    if (w->full) return (tables_limit){0.005, 0};
    return (tables_limit){kind == P003_RSBF ? 0.025 : 0.015, 0.03};
}

static bool tables_one_array(const p003_table *t, const p003_row *r, int column) {
    return r->megabytes == 512 && (p003_kind(t, column) == P003_SBF || p003_k(t, column) == 1);
}

static lab_subject tables_narrow(const tables_work *w, const tables_group *g, int column,
                                 uint64_t seed) {
    const int kind = p003_kind(g->table, column);
    const uint64_t cells = (uint64_t)p003_bits(g->row, w->o);
    const lab_rule rule = kind == P003_SBF      ? LAB_SBF
                          : kind == P003_RLBSBF ? LAB_RLBSBF
                                                : LAB_BSBF; /* k = 1: BSBFSD is BSBF */
    return lab_narrow("narrow", rule, cells, cells / 2, seed);
}

static void tables_predict(const tables_work *w, const tables_group *g, int column,
                           eb_prediction *out) {
    char spec[P003_SPEC];
    eb_error err;
    const double records = g->table->records / w->o->scale;
    const eb_workload load = {
        .size = sizeof load, .items = records, .distinct = records * g->table->share};
    out->size = sizeof *out;
    p003_spec(spec, p003_kind(g->table, column), p003_k(g->table, column), p003_bits(g->row, w->o),
              0);
    if (eb_predict(spec, &load, NULL, 1, out, &err)) lab_die("%s: %s", spec, err.text);
}

static void tables_job(void *ctx, size_t i) {
    const tables_work *w = ctx;
    const tables_group *g = &w->group[i / w->o->seeds];
    const size_t seed = i % w->o->seeds;
    tables_cell *cell = g->cell + seed * P003_COLUMNS;
    lab_subject subject[2 * P003_COLUMNS];
    lab_rates *to[2 * P003_COLUMNS];
    size_t n = 0;
    for (int c = 0; c < P003_COLUMNS; c++) {
        if (!(g->columns >> c & 1)) continue;
        char spec[P003_SPEC];
        p003_spec(spec, p003_kind(g->table, c), p003_k(g->table, c), p003_bits(g->row, w->o),
                  w->o->seed + seed);
        to[n] = &cell[c].right;
        subject[n++] = lab_filter("", spec);
        if (seed == 0) tables_predict(w, g, c, &cell[c].predicted);
        if (!(cell[c].has_narrow = tables_one_array(g->table, g->row, c))) continue;
        to[n] = &cell[c].narrow;
        subject[n++] = tables_narrow(w, g, c, w->o->seed + seed);
    }
    lab_run(p003_stream(g->table, w->o, seed), subject, n, NULL);
    for (size_t k = 0; k < n; k++) *to[k] = subject[k].rates;
}

static void tables_add_group(tables_work *w, const p003_table *t, const p003_row *r,
                             unsigned columns) {
    tables_group *g = &w->group[w->groups++];
    g->columns = columns;
    g->table = t;
    g->row = r;
    g->cell = lab_alloc((size_t)w->o->seeds * P003_COLUMNS, sizeof *g->cell);
}

static void tables_measure(tables_work *w) {
    lab_parallel(w->o->threads, w->groups * w->o->seeds, tables_job, w);
    for (size_t i = 0; i < w->groups; i++)
        for (size_t c = P003_COLUMNS; c < (size_t)w->o->seeds * P003_COLUMNS; c++) {
            tables_cell *cell = w->group[i].cell;
            lab_rates_pool(&cell[c % P003_COLUMNS].right, &cell[c].right);
            lab_rates_pool(&cell[c % P003_COLUMNS].narrow, &cell[c].narrow);
        }
}

static void tables_free(tables_work *w) {
    for (size_t i = 0; i < w->groups; i++) free(w->group[i].cell);
}

/* Judging */

static bool tables_near(double measured, double published, tables_limit limit) {
    const double off = fabs(measured - published);
    return off <= limit.relative * published || off <= limit.points;
}

static bool tables_agrees(const lab_rates *r, const tables_group *g, int column,
                          tables_limit limit) {
    return tables_near(100 * lab_rate_of(r, LAB_FPR), g->row->fpr[column], limit) &&
           tables_near(100 * lab_rate_of(r, LAB_FNR), g->row->fnr[column], limit);
}

static bool tables_predicted(const tables_cell *c, lab_rate rate, double relative) {
    const double predicted = rate == LAB_FPR ? c->predicted.mean_fpr : c->predicted.mean_fnr;
    return tables_near(100 * predicted, 100 * lab_rate_of(&c->right, rate),
                       (tables_limit){relative, 0.03});
}

static void tables_format(char out[100], const lab_rates *r, const tables_group *g, int column,
                          lab_rate rate) {
    const double m = 100 * lab_rate_of(r, rate), p = p003_published(g->row, column, rate);
    snprintf(out, 100, "%.4f|%.4f|%+.2f|%.2f", p, m, 100 * (m - p) / p,
             100 * 100 * lab_error_of(r, rate) / p);
}

static void tables_row(lab_table *t, const tables_group *g, int column, const lab_rates *r,
                       const eb_prediction *predicted, const char *verdict) {
    char fpr[100], fnr[100], model[60] = "|";
    tables_format(fpr, r, g, column, LAB_FPR);
    tables_format(fnr, r, g, column, LAB_FNR);
    if (predicted)
        snprintf(model, sizeof model, "%.4f|%.4f", 100 * predicted->mean_fpr,
                 100 * predicted->mean_fnr);
    lab_table_row(t, "%u|%u|%s|%u|%s|%s|%s|%s", g->table->number, g->row->megabytes,
                  p003_names[p003_kind(g->table, column)], p003_k(g->table, column), fpr, fnr,
                  model, verdict);
}

static const char *tables_verdict(const tables_cell *c, const tables_group *g, int column,
                                  tables_limit limit) {
    if (tables_agrees(&c->right, g, column, limit)) return "agrees";
    if (c->has_narrow && tables_agrees(&c->narrow, g, column, limit)) return "explained";
    return "DIFFERS";
}

static void tables_judge(lab_options *o, const tables_group *g, int column, tables_limit limit) {
    const tables_cell *c = &g->cell[column];
    char where[80];
    snprintf(where, sizeof where, "Table %u, %u MB, %s, k=%u", g->table->number, g->row->megabytes,
             p003_names[p003_kind(g->table, column)], p003_k(g->table, column));
    lab_promise(o, *tables_verdict(c, g, column, limit) != 'D', "%s agrees with the paper", where);
    lab_promise(o, tables_predicted(c, LAB_FPR, 0.03), "%s: FPR predicted within 3 %%", where);
    lab_promise(o, tables_predicted(c, LAB_FNR, 0.05), "%s: FNR predicted within 5 %%", where);
}

/* Summary: by filter, how far measured is from published and from predicted. */

typedef struct tables_spread {
    unsigned cells;
    double sum, worst;
} tables_spread;

static void tables_note(tables_spread *s, double a, double b) {
    const double off = b > 0 ? fabs(a - b) / b : 0;
    s->cells++;
    s->sum += off;
    s->worst = fmax(s->worst, off);
}

typedef struct tables_summary {
    tables_spread published[2], predicted[2];
    unsigned cells, agree, explained;
} tables_summary;

static void tables_summarise(tables_summary *s, const tables_group *g, int column,
                             tables_limit limit) {
    const tables_cell *c = &g->cell[column];
    const char verdict = *tables_verdict(c, g, column, limit);
    s->cells++;
    s->agree += verdict == 'a';
    s->explained += verdict == 'e';
    for (lab_rate r = LAB_FPR; r <= LAB_FNR; r++) {
        const double measured = 100 * lab_rate_of(&c->right, r);
        const double predicted = r == LAB_FPR ? c->predicted.mean_fpr : c->predicted.mean_fnr;
        if (verdict != 'e')
            tables_note(&s->published[r], measured, p003_published(g->row, column, r));
        tables_note(&s->predicted[r], 100 * predicted, measured);
    }
}

static void tables_print_spread(char out[40], const tables_spread *s) {
    snprintf(out, 40, "%.2f|%.2f", s->cells ? 100 * s->sum / s->cells : 0, 100 * s->worst);
}

static void tables_print_summary(const lab_options *o, const tables_summary *s) {
    lab_table *t =
        lab_table_new("filter|cells|agree|explained|FPR off by % (mean)|worst|FNR off by %"
                      " (mean)|worst|FPR predicted off by % (mean)|worst|FNR predicted off"
                      " by % (mean)|worst");
    for (int k = 0; k < P003_COLUMNS; k++) {
        char text[4][40];
        for (int r = 0; r < 2; r++) {
            tables_print_spread(text[r], &s[k].published[r]);
            tables_print_spread(text[2 + r], &s[k].predicted[r]);
        }
        if (s[k].cells)
            lab_table_row(t, "%s|%u|%u|%u|%s|%s|%s|%s", p003_names[k], s[k].cells, s[k].agree,
                          s[k].explained, text[0], text[1], text[2], text[3]);
    }
    lab_table_print(t, o);
}

/* Printing */

static void tables_print_group(lab_table *t, const tables_work *w, const tables_group *g) {
    for (int c = 0; c < P003_COLUMNS; c++) {
        const tables_cell *cell = &g->cell[c];
        if (!(g->columns >> c & 1)) continue;
        tables_row(t, g, c, &cell->right, &cell->predicted,
                   tables_verdict(cell, g, c, tables_limit_of(w, p003_kind(g->table, c))));
        if (cell->has_narrow)
            tables_row(t, g, c, &cell->narrow, NULL, "resets in half of the array");
    }
}

static void tables_print_all(const lab_options *o, const tables_work *w) {
    static const char head[] = "table|MB|filter|k|FPR %|measured|off by %|error %|FNR %|measured|"
                               "off by %|error %|FPR predicted|FNR predicted|verdict";
    lab_table *t = lab_table_new(head);
    for (size_t i = 0; i < w->groups; i++) {
        const tables_group *g = &w->group[i];
        tables_print_group(t, w, g);
        const bool last = i + 1 == w->groups;
        if (!last && (o->format == LAB_CSV || w->group[i + 1].table == g->table)) continue;
        lab_say(o, "Table %u: %.0fM records, %.0f %% distinct", g->table->number,
                g->table->records / 1e6, 100 * g->table->share);
        lab_table_print(t, o);
        t = last ? NULL : lab_table_new(head);
    }
}

static void tables_report(lab_options *o, const tables_work *w) {
    tables_summary summary[P003_COLUMNS] = {0};
    for (size_t i = 0; i < w->groups; i++)
        for (int c = 0; c < P003_COLUMNS; c++) {
            const tables_group *g = &w->group[i];
            if (!(g->columns >> c & 1)) continue;
            const int kind = p003_kind(g->table, c);
            tables_judge(o, g, c, tables_limit_of(w, kind));
            tables_summarise(&summary[kind], g, c, tables_limit_of(w, kind));
        }
    if (o->format != LAB_CSV) tables_print_summary(o, summary);
    lab_details(o, "All cells", true);
    tables_print_all(o, w);
    lab_details(o, NULL, false);
}

void p003_run_tables(lab_options *o) {
    tables_work w = {.o = o};
    for (int t = 0; t < P003_TABLES; t++)
        for (int r = 0; r < P003_ROWS && p003_tables[t].row[r].megabytes; r++)
            if (!o->table || o->table == p003_tables[t].number)
                tables_add_group(&w, &p003_tables[t], &p003_tables[t].row[r], 31);
    if (!w.groups) lab_die("table must be 1..%d, not %u", P003_TABLES, o->table);
    tables_measure(&w);
    tables_report(o, &w);
    tables_free(&w);
}

/* At the published size the chance is gone from the numbers: they agree within
 * half a percent.  One row after the other, to keep the memory small. */
void p003_run_full(lab_options *o) {
    static const struct {
        unsigned table, row, columns;
    } part[] = {{9, 0, 1 << P003_SBF | 1 << P003_BSBF | 1 << P003_BSBFSD | 1 << P003_RLBSBF},
                {7, 2, 1 << P003_RSBF | 1 << P003_RLBSBF},
                {8, 3, 1 << P003_SBF | 1 << P003_BSBF}};
    lab_options full = *o;
    full.threads = 1;
    tables_work w = {.o = &full, .full = true};
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        const p003_table *t = &p003_tables[part[i].table - 1];
        tables_add_group(&w, t, &t->row[part[i].row], part[i].columns);
    }
    tables_measure(&w);
    tables_report(o, &w);
    tables_free(&w);
}
