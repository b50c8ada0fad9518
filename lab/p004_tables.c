/* p004_tables.c - Tables 1 and 2: what the recurring minimum gains, by the report's
 * model and really.
 *
 * The report counts keys with a recurring minimum, P(R), and the wrong ones among
 * them, P(E|R); the others it takes to be wrong as often as a Bloom filter of the
 * second array's size that holds only them.  Really keys are moved too late, with a
 * minimum that is wrong already, and adds that come while the minimum recurs are
 * missing there. */
#include "paper_004.h"
#include <math.h>
#include <stdlib.h>

static double tables_bloom(double keys, unsigned k, double m) {
    return pow(1 - exp(-keys * k / m), k);
}

/* Which keys have a recurring minimum, and which of these are wrong */

typedef struct tables_minima {
    double errors, recurring, wrong; /* wrong: of the recurring */
} tables_minima;

typedef struct tables_job {
    const uint64_t *count;
    size_t keys;
    p004_size size;
    uint64_t seed;
    tables_minima *out;
} tables_job;

static void tables_look(void *ctx, size_t i) {
    const tables_job *const job = ctx;
    p004_world w = p004_world_new(job->count, job->keys, P004_GROUPED, job->seed + i);
    const p004_way way = p004_way_new(P004_MS, &job->size, job->seed + i);
    double recurring = 0, wrong = 0, errors = 0;
    p004_feed(&w, &way, P004_INSERTS);
    for (size_t key = 0; key < w.keys; key++) {
        eb_estimate e = {.size = sizeof e};
        const eb_batch one = eb_batch_hashes(&w.hash[key], 1);
        if (eb_estimate_batch(way.state, &one, &e, NULL)) lab_die("estimating failed");
        errors += e.upper != (double)w.now[key];
        recurring += !e.single;
        wrong += !e.single && e.upper != (double)w.now[key];
    }
    job->out[i] = (tables_minima){errors / (double)w.keys, recurring / (double)w.keys,
                                  recurring > 0 ? wrong / recurring : 0};
    way.release(way.state);
    p004_world_free(&w);
}

typedef struct tables_spread {
    tables_minima mean, sd;
} tables_spread;

static tables_spread tables_minima_of(const lab_options *o, const p004_size *size) {
    enum { KEYS = 1000 };
    uint64_t count[KEYS];
    tables_minima *const out = lab_alloc(o->seeds, sizeof *out);
    tables_job job = {count, KEYS, *size, o->seed, out};
    tables_spread s;
    p004_zipf(count, KEYS, 100000, 0.5);
    lab_parallel(o->threads, o->seeds, tables_look, &job);
    p004_spread(&out->errors, sizeof *out, o->seeds, &s.mean.errors, &s.sd.errors);
    p004_spread(&out->recurring, sizeof *out, o->seeds, &s.mean.recurring, &s.sd.recurring);
    p004_spread(&out->wrong, sizeof *out, o->seeds, &s.mean.wrong, &s.sd.wrong);
    free(out);
    return s;
}

static double tables_model(double recurring, double wrong, double keys, unsigned k, double second) {
    return recurring * wrong + (1 - recurring) * tables_bloom(keys * (1 - recurring), k, second);
}

/* Table 1: Zipf 0.5, 1000 keys, k = 5, second counters half as many as the first */

typedef struct tables_known {
    double value, sd;
} tables_known;
typedef struct tables_line {
    double gamma, bloom;                                              /* theory */
    double published[4];                                              /* E_b, P(R), P(E|R), E_RM */
    tables_known errors, recurring, wrong, model, rm, star, rmx, low; /* expected */
} tables_line;

static const tables_line tables_lines[] = {
    {1,
     .1007,
     {.101, .657, .0045, .0132},
     {.1012, .0092},
     {.6055, .0168},
     {.0049, .0032},
     {.0221, 0},
     {.0995, .0099},
     {.0527, .0078},
     {.0503, .0073},
     {.0561, 0}},
    {.83,
     .0569,
     {.057, .697, .0028, .0048},
     {.0571, .0063},
     {.7226, .0123},
     {.0024, .0017},
     {.0036, 0},
     {.0501, .0060},
     {.0281, .0046},
     {.0278, .0047},
     {.0354, 0}},
    {.7,
     .0322,
     {.032, .812, .002, .0017},
     {.0321, .0057},
     {.8088, .0137},
     {.0016, .0015},
     {.0014, 0},
     {.0274, .0056},
     {.0153, .0037},
     {.0153, .0037},
     {.0203, 0}},
    {.625,
     .0216,
     {.021, .799, .0012, .001},
     {.0223, .0053},
     {.8526, .0119},
     {.0009, .0011},
     {.00076, 0},
     {.0194, .0049},
     {.0109, .0037},
     {.0109, .0037},
     {.0149, 0}},
    {.5,
     .0094,
     {.009, .969, 0, 8.21e-10},
     {.0096, .0028},
     {.9163, .0096},
     {.0005, .0008},
     {.00048, 0},
     {.0083, .0025},
     {.0045, .0021},
     {.0045, .0021},
     {.0065, 0}},
};

static void tables_row(lab_options *o, lab_table *t, double gamma, const char *what,
                       double published, tables_known expected, double got, double got_sd) {
    char name[80];
    snprintf(name, sizeof name, "%g: %s", gamma, what);
    p004_cell_row(o, t, name, &(p004_cell){published, expected.value, expected.sd, got, got_sd, 4});
}

static p004_result tables_real(const lab_options *o, p004_policy policy, const p004_size *size) {
    p004_case c = p004_usual(policy, 1, 0.5);
    c.size = *size;
    if (policy == P004_RMX) c.size.second = 2048;
    return p004_run(o, &c);
}

static void tables_gamma(lab_options *o, lab_table *t, const tables_line *l) {
    const double m = round(1000 / l->gamma) * 5;
    const p004_size size = {5, m, round(m / 10) * 5};
    const tables_spread s = tables_minima_of(o, &size);
    const p004_result rm = tables_real(o, P004_RM, &size);
    const p004_result star = tables_real(o, P004_RM_BF_STAR, &size);
    const p004_result rmx = tables_real(o, P004_RMX, &size);
    const double model = tables_model(s.mean.recurring, s.mean.wrong, 1000, 5, m / 2);
    const double model_sd = s.mean.recurring * s.sd.wrong; /* what moves it most */
    tables_row(o, t, l->gamma, "E_b", l->published[0], l->errors, s.mean.errors, s.sd.errors);
    tables_row(o, t, l->gamma, "P(R)", l->published[1], l->recurring, s.mean.recurring,
               s.sd.recurring);
    tables_row(o, t, l->gamma, "P(E given R)", l->published[2], l->wrong, s.mean.wrong, s.sd.wrong);
    tables_row(o, t, l->gamma, "E_RM, the model", l->published[3], l->model, model, model_sd);
    tables_row(o, t, l->gamma, "E_RM, real", l->published[3], l->rm, rm.mean.ratio, rm.sd.ratio);
    tables_row(o, t, l->gamma, "too low, real RM", 0, l->low, rm.mean.low, rm.sd.low);
    tables_row(o, t, l->gamma, "E of RM+Bf*", NAN, l->star, star.mean.ratio, star.sd.ratio);
    tables_row(o, t, l->gamma, "E of RM-X", NAN, l->rmx, rmx.mean.ratio, rmx.sd.ratio);
    lab_promise(o, rmx.mean.low == 0, "RM-X is never too low");
    lab_promise(o, fabs(l->bloom - eb_count_error_rate(m, 5, 1000)) < 0.0003,
                "E_b by the formula is %.4f", l->bloom);
}

static void tables_first(lab_options *o) {
    lab_table *const t = p004_cells_new("Table 1: gamma");
    for (size_t i = 0; i < sizeof tables_lines / sizeof *tables_lines; i++)
        tables_gamma(o, t, &tables_lines[i]);
    lab_table_print(t, o);
}

/* Table 2: more memory for a larger plain filter, or for second counters */

typedef struct tables_choice {
    double more;
    unsigned k; /* of the larger plain filter */
    double published, formula, real;
} tables_choice;

static void tables_second(lab_options *o) {
    static const tables_choice choices[] = {
        {1, 10, .641, .641, .034},    {.5, 7, 3.341, 3.342, .204}, {1 / 3.0, 6, 4.546, 4.498, .399},
        {.25, 6, 3.628, 3.628, .450}, {.2, 6, 2.496, 2.496, .508}, {.1, 5, .562, .563, .360}};
    lab_table *const t = p004_cells_new("Table 2: errors of MS over those of RM, more memory");
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const tables_choice *const c = &choices[i];
        const double m = 5000 / 0.7, all = m * (1 + c->more);
        const p004_size plain = {c->k, round(all / c->k) * c->k, 0};
        const p004_size pair = {5, round(m / 5) * 5, round(m * c->more / 5) * 5};
        const p004_result ms = tables_real(o, P004_MS, &plain), rm = tables_real(o, P004_RM, &pair);
        const double formula =
            tables_bloom(1000, c->k, all) / tables_model(.812, .002, 1000, 5, m * c->more);
        const double real = ms.mean.ratio / rm.mean.ratio;
        const double real_sd =
            real * hypot(ms.sd.ratio / ms.mean.ratio, rm.sd.ratio / rm.mean.ratio);
        char what[80];
        snprintf(what, sizeof what, "%.2f: by the report's formula", c->more);
        p004_cell_row(o, t, what, &(p004_cell){c->published, c->formula, 0, formula, 0, 3});
        snprintf(what, sizeof what, "%.2f: real", c->more);
        p004_cell_row(o, t, what, &(p004_cell){c->published, c->real, 0, real, real_sd, 3});
    }
    lab_table_print(t, o);
}

void p004_run_tables(lab_options *o) {
    if (o->table != 2) tables_first(o);
    if (o->table != 1) tables_second(o);
}
