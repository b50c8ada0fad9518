/* p004_queries.c - section 5: icebergs (Figure 4), joins, sizes of joins, ranges.
 *
 * Published are only the curves of Figure 4; what is expected elsewhere comes from simulations
 * that were made independently of the library. */
#include "paper_004.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of numbers that were measured once for each seed. */
static void query_row(lab_options *o, lab_table *t, const char *what, double expected, double sd,
                      const double *x, int digits) {
    p004_cell c = {.published = NAN, .expected = expected, .sd = sd, .digits = digits};
    p004_spread(x, sizeof *x, o->seeds, &c.got, &c.got_sd);
    c.sd = fmax(c.sd, c.got_sd);
    p004_cell_row(o, t, what, &c);
}

/* Figure 4: the share of keys below a threshold that are reported all the same */

enum { ICE_KEYS = 1000, ICE_K = 5 };

static double iceberg_formula(const uint64_t *count, double gamma, double threshold) {
    double sum = 0;
    for (size_t i = 0; i < ICE_KEYS; i++) {
        double heavy = 0;
        if ((double)count[i] >= threshold) continue;
        for (size_t j = 0; j < ICE_KEYS; j++)
            heavy += (double)count[j] >= threshold - (double)count[i];
        sum += pow(1 - exp(-gamma * heavy / ICE_KEYS), ICE_K);
    }
    return sum / ICE_KEYS;
}

typedef struct iceberg_job {
    const uint64_t *count;
    p004_policy policy;
    double gamma, threshold;
    uint64_t seed;
    double *share; /* of each run */
} iceberg_job;

static void iceberg_run(void *ctx, size_t i) {
    const iceberg_job *const job = ctx;
    const p004_size size = p004_size_of(job->policy, ICE_KEYS, ICE_K, job->gamma);
    p004_world w = p004_world_new(job->count, ICE_KEYS, P004_MIXED, job->seed + i);
    const p004_way way = p004_way_new(job->policy, &size, job->seed + i);
    double got[ICE_KEYS], wrong = 0;
    p004_feed(&w, &way, P004_INSERTS);
    way.count(way.state, w.hash, ICE_KEYS, got);
    for (size_t key = 0; key < ICE_KEYS; key++) {
        if ((double)w.now[key] >= job->threshold && got[key] < job->threshold)
            lab_die("a key is missing");
        wrong += (double)w.now[key] < job->threshold && got[key] >= job->threshold;
    }
    job->share[i] = wrong / ICE_KEYS;
    way.release(way.state);
    p004_world_free(&w);
}

static double *iceberg_shares(const lab_options *o, const uint64_t *count, p004_policy policy,
                              double threshold) {
    double *const share = lab_alloc(o->seeds, sizeof *share);
    iceberg_job job = {count, policy, 1, threshold, o->seed, share};
    lab_parallel(o->threads, o->seeds, iceberg_run, &job);
    return share;
}

void p004_run_figure4(lab_options *o) {
    static const p004_policy policies[] = {P004_MS, P004_MI, P004_RMX};
    static const struct {
        double theta, threshold, formula, share[3], sd;
    } rows[] = {{.6, 100, .0531, {.0561, .0005, .0003}, .0065},
                {1, 50, .0186, {.0228, .0007, .0004}, .0040},
                {1, 100, .0034, {.0038, .0000, .0001}, .0015}};
    lab_table *const t = p004_cells_new("skew, threshold, way");
    lab_say(o,
            "Figure 4: false answers to an iceberg query, a share of all keys (gamma = 1, k = 5).");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t count[ICE_KEYS];
        char what[80];
        p004_zipf(count, ICE_KEYS, 100000, rows[i].theta);
        const double formula = iceberg_formula(count, 1, rows[i].threshold);
        lab_promise(o, fabs(formula - rows[i].formula) <= 2e-4, "the formula gives %.4f", formula);
        lab_table_row(t, "%g, %g, formula|-|%.4f|%.4f|-|%s", rows[i].theta, rows[i].threshold,
                      rows[i].formula, formula, "computed");
        for (int p = 0; p < 3; p++) {
            double *const share = iceberg_shares(o, count, policies[p], rows[i].threshold);
            snprintf(what, sizeof what, "%g, %g, %s", rows[i].theta, rows[i].threshold,
                     p004_names[policies[p]]);
            query_row(o, t, what, rows[i].share[p], p == 0 ? rows[i].sd : .0008, share, 4);
            free(share);
        }
    }
    lab_table_print(t, o);
}

void p004_run_icebergs(lab_options *o) {
    static const double skews[] = {0, .2, .6, 1, 1.4};
    puts("skew,threshold,formula,ms,mi");
    for (size_t s = 0; s < sizeof skews / sizeof *skews; s++) {
        uint64_t count[ICE_KEYS];
        p004_zipf(count, ICE_KEYS, 100000, skews[s]);
        for (double threshold = 5; threshold <= 500; threshold = ceil(threshold * 1.25)) {
            double mean[2], sd;
            for (int p = 0; p < 2; p++) {
                double *const share = iceberg_shares(o, count, p ? P004_MI : P004_MS, threshold);
                p004_spread(share, sizeof *share, o->seeds, &mean[p], &sd);
                free(share);
            }
            printf("%g,%g,%.6f,%.6f,%.6f\n", skews[s], threshold,
                   iceberg_formula(count, 1, threshold), mean[0], mean[1]);
        }
    }
}

/* Joins by key: half of R's keys are in S */

enum { JOIN_KEYS = 1000 };

typedef struct join_job {
    uint64_t seed;
    double *product, *minima, *exact, *above, *above_product;
} join_job;

typedef struct join_relation {
    eb_hash hash[JOIN_KEYS];
    uint64_t count[JOIN_KEYS];
    eb_filter *filter;
} join_relation;

static void join_fill(join_relation *r, uint64_t first, lab_rng *random) {
    if (eb_new(&r->filter, "spectral:update=plain,k=5,cells=7140,span=0,store=u32", NULL, NULL))
        lab_die("no memory for a filter");
    p004_zipf(r->count, JOIN_KEYS, 100000, .5);
    for (size_t i = 0; i < JOIN_KEYS; i++) r->hash[i] = lab_mix(first + i);
    for (size_t i = JOIN_KEYS - 1; i > 0; i--) {
        const size_t j = lab_below(random, i + 1);
        const uint64_t other = r->count[i];
        r->count[i] = r->count[j];
        r->count[j] = other;
    }
    const eb_batch all = A_BATCH(JOIN_KEYS, r->hash, r->count, NULL);
    if (eb_add_batch(r->filter, &all, NULL)) lab_die("adding failed");
}

static void join_run(void *ctx, size_t i) {
    enum { THRESHOLD = 10000 };
    const join_job *const job = ctx;
    lab_rng random = {lab_mix(job->seed + i)};
    const uint64_t first = lab_random(&random);
    join_relation r, s;
    eb_filter *both;
    double f[JOIN_KEYS], g[JOIN_KEYS], fg[JOIN_KEYS], right = 0;
    join_fill(&r, first, &random);
    join_fill(&s, first + JOIN_KEYS / 2, &random);
    if (eb_combine(&both, r.filter, s.filter, EB_PRODUCT, NULL, NULL)) lab_die("no product");
    calls_count(r.filter, r.hash, JOIN_KEYS, f);
    calls_count(s.filter, r.hash, JOIN_KEYS, g);
    calls_count(both, r.hash, JOIN_KEYS, fg);
    for (size_t k = 0; k < JOIN_KEYS; k++) {
        const double mine = (double)r.count[k];
        const double truth = k < JOIN_KEYS / 2 ? 0 : mine * (double)s.count[k - JOIN_KEYS / 2];
        if (mine * g[k] < truth) lab_die("a join is too small");
        job->product[i] += (fg[k] != truth) / (double)JOIN_KEYS;
        job->minima[i] += (f[k] * g[k] != truth) / (double)JOIN_KEYS;
        job->exact[i] += (mine * g[k] != truth) / (double)JOIN_KEYS;
        right += truth > THRESHOLD;
        job->above[i] += truth <= THRESHOLD && mine * g[k] > THRESHOLD;
        job->above_product[i] += truth <= THRESHOLD && fg[k] > THRESHOLD;
    }
    job->above[i] /= right;
    job->above_product[i] /= right;
    eb_free(r.filter);
    eb_free(s.filter);
    eb_free(both);
}

void p004_run_joins(lab_options *o) {
    double *const x = lab_alloc(5 * o->seeds, sizeof *x);
    join_job job = {o->seed, x, x + o->seeds, x + 2 * o->seeds, x + 3 * o->seeds, x + 4 * o->seeds};
    lab_table *const t = p004_cells_new("joins (gamma = 0.7, skew 0.5)");
    lab_parallel(o->threads, o->seeds, join_run, &job);
    query_row(o, t, "wrong: product of the filters", .0748, .006, job.product, 4);
    query_row(o, t, "wrong: product of two counts", .0450, .005, job.minima, 4);
    query_row(o, t, "wrong: R's exact count times S's", .0332, .004, job.exact, 4);
    query_row(o, t, "false answers above 10000 for each right one: exact times S's", NAN, 0,
              job.above, 4);
    query_row(o, t, "the same: product of the filters", NAN, 0, job.above_product, 4);
    lab_table_print(t, o);
    free(x);
}
