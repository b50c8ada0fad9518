/* p003_figures.c - Figures 2-11 as CSV: rates and load over the stream.
 *
 * A line is one filter at one point: its FPR and FNR over the stream so far and
 * the share of its cells in use.  choosy and lru get the false positive rate that
 * the paper reports for RLBSBF as their wish.  Figure 11 is the load of the runs
 * of Figures 3 and 4. */
#include "paper_003.h"
#include <math.h>
#include <stdlib.h>

typedef struct figures_part {
    unsigned figure, table, row;
} figures_part;

static const figures_part figures_parts[] = {{2, 7, 1}, {3, 7, 2}, {4, 7, 3}, {5, 8, 1}, {6, 8, 2},
                                             {7, 8, 3}, {8, 4, 3}, {9, 5, 3}, {10, 6, 3}};
enum { FIGURES = sizeof figures_parts / sizeof figures_parts[0], FIGURES_POINTS = 100 };

typedef struct figures_run {
    const lab_options *o;
    const figures_part *part;
    FILE *out;
    char *text;
    size_t size;
} figures_run;

static void figures_point(void *ctx, uint64_t records, const lab_subject *subject, size_t count) {
    const figures_run *f = ctx;
    for (size_t i = 0; i < count; i++)
        fprintf(f->out, "%u,%s,%.0f,%.6f,%.6f,%.6f\n", f->part->figure, subject[i].name,
                (double)records * f->o->scale, 100 * lab_rate_of(&subject[i].rates, LAB_FPR),
                100 * lab_rate_of(&subject[i].rates, LAB_FNR), subject[i].load(subject[i].state));
}

static void figures_job(void *ctx, size_t i) {
    figures_run *f = (figures_run *)ctx + i;
    const p003_table *t = &p003_tables[f->part->table - 1];
    const p003_row *r = &t->row[f->part->row];
    const double records = round(t->records / f->o->scale);
    lab_subject subject[P003_COLUMNS + 2];
    char spec[P003_SPEC];
    for (int c = 0; c < P003_COLUMNS; c++) {
        p003_spec(spec, c, 2, p003_bits(r, f->o), f->o->seed);
        subject[c] = lab_filter(p003_names[c], spec);
    }
    const double wish = r->fpr[P003_RLBSBF] / 100;
    p003_choosy_spec(spec, p003_bits(r, f->o), records * t->share, t->share, wish, f->o->seed);
    subject[P003_COLUMNS] = lab_filter("choosy", spec);
    snprintf(spec, sizeof spec, "lru:memory=%.0f,fpr=%g", p003_bits(r, f->o) / 8, wish);
    subject[P003_COLUMNS + 1] = lab_filter("lru", spec);
    const lab_watch watch = {
        .interval = (uint64_t)ceil(records / FIGURES_POINTS), .point = figures_point, .ctx = f};
    lab_run(p003_stream(t, f->o, 0), subject, P003_COLUMNS + 2, &watch);
}

void p003_run_figures(lab_options *o) {
    figures_run run[FIGURES];
    size_t n = 0;
    for (size_t i = 0; i < FIGURES; i++) {
        if (o->figure && o->figure != figures_parts[i].figure) continue;
        run[n] = (figures_run){.o = o, .part = &figures_parts[i]};
        run[n].out = open_memstream(&run[n].text, &run[n].size);
        if (!run[n].out) lab_die("no memory for a figure");
        n++;
    }
    if (!n) lab_die("figure must be 2..10 (11 is the load of 3 and 4), not %u", o->figure);
    lab_parallel(o->threads, n, figures_job, run);
    puts("figure,filter,records,fpr,fnr,load");
    for (size_t i = 0; i < n; i++) {
        fclose(run[i].out);
        fputs(run[i].text, stdout);
        free(run[i].text);
    }
}
