/* p003_choosy.c - the choosy filter against each of the five, at equal memory.
 *
 * In each cell of Tables 4-9 (memory, records, share of distinct keys) each of
 * the five runs first; then choosy is asked for that filter's measured false
 * positive rate and chooses its own parameters from memory, distinct keys, share
 * and that wish.  It must come out with an FPR no higher and an FNR lower.
 * Beside it stands the information bound on the FNR at that FPR. */
#include "paper_003.h"
#include <math.h>
#include <stdlib.h>

typedef struct choosy_cell {
    const p003_table *table;
    const p003_row *row;
    lab_rates *rival, *ours; /* seeds times P003_COLUMNS; the first seed's hold the sum */
} choosy_cell;

typedef struct choosy_work {
    const lab_options *o;
    choosy_cell cell[P003_TABLES * P003_ROWS];
    size_t cells;
    bool second; /* the rivals have run */
} choosy_work;

void p003_choosy_spec(char spec[P003_SPEC], double bits, double distinct, double share, double fpr,
                      uint64_t seed) {
    snprintf(spec, P003_SPEC, "choosy:memory=%.0f,distinct=%.0f,share=%g,fpr=%.9g,seed=%llu",
             floor(bits / 8), distinct, share, fpr, (unsigned long long)seed);
}

static void choosy_job(void *ctx, size_t i) {
    const choosy_work *w = ctx;
    const choosy_cell *c = &w->cell[i / w->o->seeds];
    const size_t seed = i % w->o->seeds;
    const double bits = p003_bits(c->row, w->o), share = c->table->share;
    lab_rates *to = (w->second ? c->ours : c->rival) + seed * P003_COLUMNS;
    lab_subject subject[P003_COLUMNS];
    for (int k = 0; k < P003_COLUMNS; k++) {
        char spec[P003_SPEC];
        if (w->second)
            p003_choosy_spec(spec, bits, c->table->records / w->o->scale * share, share,
                             lab_rate_of(&c->rival[k], LAB_FPR), w->o->seed + seed);
        else
            p003_spec(spec, k, 2, bits, w->o->seed + seed);
        subject[k] = lab_filter(p003_names[k], spec);
    }
    lab_run(p003_stream(c->table, w->o, seed), subject, P003_COLUMNS, NULL);
    for (int k = 0; k < P003_COLUMNS; k++) to[k] = subject[k].rates;
}

static void choosy_pool(lab_rates *rates, unsigned seeds) {
    for (size_t i = P003_COLUMNS; i < (size_t)seeds * P003_COLUMNS; i++)
        lab_rates_pool(&rates[i % P003_COLUMNS], &rates[i]);
}

static void choosy_measure(choosy_work *w) {
    lab_parallel(w->o->threads, w->cells * w->o->seeds, choosy_job, w);
    for (size_t i = 0; i < w->cells; i++) choosy_pool(w->cell[i].rival, w->o->seeds);
    w->second = true;
    lab_parallel(w->o->threads, w->cells * w->o->seeds, choosy_job, w);
    for (size_t i = 0; i < w->cells; i++) choosy_pool(w->cell[i].ours, w->o->seeds);
}

static void choosy_report_cell(lab_options *o, lab_table *t, const choosy_cell *c) {
    const double distinct = c->table->records * c->table->share;
    const double bits_per_key = c->row->megabytes * 0x1p23 / distinct;
    for (int k = 0; k < P003_COLUMNS; k++) {
        const double fpr = lab_rate_of(&c->rival[k], LAB_FPR);
        const double fnr = lab_rate_of(&c->rival[k], LAB_FNR);
        const double our_fpr = lab_rate_of(&c->ours[k], LAB_FPR);
        const double our_fnr = lab_rate_of(&c->ours[k], LAB_FNR);
        const bool wins = our_fpr <= fpr && our_fnr < fnr;
        lab_table_row(t, "%u|%u|%.2f|%s|%.4f|%.4f|%.4f|%.4f|%.4f|%.4f|%s", c->table->number,
                      c->row->megabytes, bits_per_key, p003_names[k], 100 * fpr, 100 * our_fpr,
                      100 * lab_error_of(&c->ours[k], LAB_FPR), 100 * fnr, 100 * our_fnr,
                      100 * lab_bound_copies(bits_per_key, c->table->share, fpr),
                      wins ? "better" : "NOT BETTER");
        lab_promise(o, wins, "Table %u, %u MB: choosy %.4f/%.4f beats %s %.4f/%.4f",
                    c->table->number, c->row->megabytes, 100 * our_fpr, 100 * our_fnr,
                    p003_names[k], 100 * fpr, 100 * fnr);
    }
}

void p003_run_choosy(lab_options *o) {
    choosy_work w = {.o = o};
    const size_t rates = (size_t)o->seeds * P003_COLUMNS;
    for (int t = 3; t < P003_TABLES; t++)
        for (int r = 0; r < P003_ROWS; r++)
            if (!o->table || o->table == p003_tables[t].number)
                w.cell[w.cells++] = (choosy_cell){&p003_tables[t], &p003_tables[t].row[r],
                                                  lab_alloc(rates, sizeof(lab_rates)),
                                                  lab_alloc(rates, sizeof(lab_rates))};
    choosy_measure(&w);
    lab_table *t = lab_table_new("table|MB|bits a key|against|its FPR %|choosy FPR %|error|its FNR "
                                 "%|choosy FNR %|bound|verdict");
    for (size_t i = 0; i < w.cells; i++) {
        choosy_report_cell(o, t, &w.cell[i]);
        free(w.cell[i].rival);
        free(w.cell[i].ours);
    }
    lab_table_print(t, o);
}

/* Trade-off curves in a few cells: what each design reaches at other settings. */

static const struct { unsigned table, row; } choosy_views[] = {{4, 0}, {5, 1}, {9, 2}, {9, 0}};
enum {
    CHOOSY_VIEWS = sizeof choosy_views / sizeof choosy_views[0],
    CHOOSY_WISHES = 14,
    CHOOSY_SUBJECTS = 3 * 5 + 2 + CHOOSY_WISHES
};
/* Wishes fall by a quarter from the FPR of a filter that never forgets. */
static double choosy_wish(double bits_per_key, int i) {
    return exp(-0.44 * bits_per_key) * pow(0.75, i);
}

typedef struct choosy_curve {
    const lab_options *o;
    lab_subject subject[CHOOSY_SUBJECTS];
} choosy_curve;

static size_t choosy_view_subjects(const lab_options *o, const p003_table *t, const p003_row *r,
                                   lab_subject *s) {
    const double bits = p003_bits(r, o), distinct = t->records / o->scale * t->share;
    char spec[P003_SPEC];
    size_t n = 0;
    for (int kind = P003_SBF; kind <= P003_RLBSBF; kind++)
        for (unsigned k = 1; k <= 5; k++) {
            if (kind <= P003_RSBF && k != 2) continue;
            p003_spec(spec, kind, k, bits, o->seed);
            s[n++] = lab_filter(p003_names[kind], spec);
        }
    for (int i = 0; i < CHOOSY_WISHES; i++) {
        p003_choosy_spec(spec, bits, distinct, t->share, choosy_wish(bits / distinct, i), o->seed);
        s[n++] = lab_filter("choosy", spec);
    }
    return n;
}

static void choosy_view_job(void *ctx, size_t i) {
    choosy_curve *c = (choosy_curve *)ctx + i;
    const p003_table *t = &p003_tables[choosy_views[i].table - 1];
    const p003_row *r = &t->row[choosy_views[i].row];
    const size_t n = choosy_view_subjects(c->o, t, r, c->subject);
    lab_run(p003_stream(t, c->o, 0), c->subject, n, NULL);
}

static void choosy_print_bound(const p003_table *t, const p003_row *r) {
    const double bits_per_key = r->megabytes * 0x1p23 / (t->records * t->share);
    for (int i = 0; i < 40; i++) {
        const double fpr = lab_bound_fpr(bits_per_key) * pow(0.85, i);
        printf("%u-%u,bound,%.6f,%.6f\n", t->number, r->megabytes, 100 * fpr,
               100 * lab_bound_copies(bits_per_key, t->share, fpr));
    }
}

void p003_run_tradeoff(lab_options *o) {
    choosy_curve *c = lab_alloc(CHOOSY_VIEWS, sizeof *c);
    for (size_t i = 0; i < CHOOSY_VIEWS; i++) c[i].o = o;
    lab_parallel(o->threads, CHOOSY_VIEWS, choosy_view_job, c);
    puts("cell,filter,fpr,fnr");
    for (size_t i = 0; i < CHOOSY_VIEWS; i++) {
        const p003_table *t = &p003_tables[choosy_views[i].table - 1];
        const p003_row *r = &t->row[choosy_views[i].row];
        for (size_t k = 0; k < CHOOSY_SUBJECTS; k++)
            printf("%u-%u,%s,%.6f,%.6f\n", t->number, r->megabytes, c[i].subject[k].name,
                   100 * lab_rate_of(&c[i].subject[k].rates, LAB_FPR),
                   100 * lab_rate_of(&c[i].subject[k].rates, LAB_FNR));
        choosy_print_bound(t, r);
    }
    free(c);
}
