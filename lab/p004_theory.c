/* p004_theory.c - the mathematics: Lemma 2 and Figure 1, Lemma 3 and its variance,
 * Claim 5, windows, and what eb_predict makes of it. */
#include "paper_004.h"
#include <math.h>
#include <stdlib.h>

/* Figure 1: the bound on the expected relative error of the i-th key, given an error */

static double lemma_bound(double i, double n, unsigned k, double z) {
    double sum = 0;
    for (double j = 1; j <= n; j++) sum += pow(j, k - z - 1);
    return pow(i, z) * k / pow(n - k, k) * sum;
}

void p004_run_figure1(lab_options *o) {
    static const double skews[] = {.2, .6, 1, 1.4, 1.8, 2};
    (void)o;
    puts("skew,rank,bound");
    for (size_t s = 0; s < sizeof skews / sizeof *skews; s++)
        for (double i = 1; i <= 10000; i = ceil(i * 1.12))
            printf("%g,%.0f,%.8f\n", skews[s], i, lemma_bound(i, 10000, 5, skews[s]));
}

/* Lemma 2: P(relative error > T | error) for keys around a rank, MS, skew 1 */

typedef struct lemma_job {
    uint64_t seed, *wrong, *beyond;
    size_t rank;
    double threshold;
} lemma_job;

static void lemma_run(void *ctx, size_t seed) {
    enum { KEYS = 1000, AROUND = 25 };
    const lemma_job *const job = ctx;
    uint64_t count[KEYS];
    eb_hash h[KEYS];
    double got[KEYS];
    const p004_size size = p004_size_of(P004_MS, KEYS, 5, .7);
    const p004_way way = p004_way_new(P004_MS, &size, job->seed + seed);
    const eb_batch all = A_BATCH(KEYS, h, count, NULL); /* the order does not matter to ms */
    lab_rng random = {lab_mix(job->seed + seed)};
    p004_zipf(count, KEYS, 100000, 1);
    for (int i = 0; i < KEYS; i++) h[i] = lab_random(&random);
    if (eb_add_batch(way.state, &all, NULL)) lab_die("adding failed");
    way.count(way.state, h, KEYS, got);
    for (size_t i = job->rank - AROUND; i < job->rank + AROUND; i++) {
        job->wrong[seed] += got[i] > (double)count[i];
        job->beyond[seed] += got[i] - (double)count[i] > job->threshold * (double)count[i];
    }
    way.release(way.state);
}

static double lemma_measure(const lab_options *o, size_t rank, double threshold, double *error) {
    const unsigned runs = 500 * o->seeds;
    uint64_t *const wrong = lab_alloc(runs, sizeof *wrong);
    uint64_t *const beyond = lab_alloc(runs, sizeof *beyond);
    uint64_t all[2] = {0, 0};
    lemma_job job = {o->seed, wrong, beyond, rank, threshold};
    lab_parallel(o->threads, runs, lemma_run, &job);
    for (unsigned i = 0; i < runs; i++) {
        all[0] += wrong[i];
        all[1] += beyond[i];
    }
    free(wrong);
    free(beyond);
    const double share = (double)all[1] / (double)all[0];
    *error = sqrt(share * (1 - share) / (double)all[0]);
    return share;
}

static void lemma_two(lab_options *o) {
    static const struct {
        size_t rank;
        double expected;
    } rows[] = {{200, .0041}, {300, .0241}};
    lab_table *const t =
        lab_table_new("Lemma 2: rank, T = 1|bound|expected|measured|error|above the bound?");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double error;
        const double bound = 5 * pow((double)rows[i].rank / 995, 5);
        const double got = lemma_measure(o, rows[i].rank, 1, &error);
        lab_table_row(t, "%zu|%.4f|%.4f|%.4f|%.4f|%s", rows[i].rank, bound, rows[i].expected, got,
                      error, got > bound ? "yes" : "no");
        lab_promise(o, fabs(got - rows[i].expected) <= 6 * error + 0.1 * rows[i].expected,
                    "errors above the count at rank %zu: %.4f", rows[i].rank, got);
        lab_promise(o, got > bound + 2 * error, "which is above the bound of Lemma 2");
    }
    lab_table_print(t, o);
}

/* Lemma 3: the sum over q keys is right on average, its deviation sqrt(F2 q / m) */

typedef struct sums_job {
    const uint64_t *count;
    size_t keys, q;
    uint64_t seed;
    double *off, *upper;
} sums_job;

static void sums_run(void *ctx, size_t i) {
    const sums_job *const job = ctx;
    const p004_size size = p004_size_of(P004_MS, job->keys, 5, .7);
    p004_world w = p004_world_new(job->count, job->keys, P004_GROUPED, job->seed + i);
    const p004_way way = p004_way_new(P004_MS, &size, job->seed + i);
    eb_hash *const h = lab_alloc(job->q, sizeof *h);
    eb_sum s = {.size = sizeof s};
    double truth = 0;
    p004_feed(&w, &way, P004_INSERTS);
    for (size_t j = 0; j < job->q; j++) {
        const size_t key = j * (job->keys / job->q) + i % (job->keys / job->q);
        h[j] = w.hash[key];
        truth += (double)job->count[key];
    }
    const eb_batch all = eb_batch_hashes(h, job->q);
    if (eb_sum_batch(way.state, &all, &s, NULL)) lab_die("a sum failed");
    job->off[i] = s.sum - truth;
    job->upper[i] = s.upper - truth;
    free(h);
    way.release(way.state);
    p004_world_free(&w);
}

static void sums_row(lab_options *o, lab_table *t, double theta, size_t q) {
    enum { KEYS = 1000 };
    uint64_t count[KEYS];
    const unsigned runs = 10 * o->seeds;
    double *const off = lab_alloc(runs, sizeof *off), *const upper = lab_alloc(runs, sizeof *upper);
    double mean, sd, high, high_sd, f1 = 0, f2 = 0;
    const double m = p004_size_of(P004_MS, KEYS, 5, .7).first;
    p004_zipf(count, KEYS, 100000, theta);
    for (int i = 0; i < KEYS; i++) {
        f1 += (double)count[i];
        f2 += (double)count[i] * (double)count[i];
    }
    sums_job job = {count, KEYS, q, o->seed, off, upper};
    lab_parallel(o->threads, runs, sums_run, &job);
    p004_spread(off, sizeof *off, runs, &mean, &sd);
    p004_spread(upper, sizeof *upper, runs, &high, &high_sd);
    const double ours = sqrt(f2 * (double)q / m), theirs = sqrt(f1 * (double)q / m);
    lab_table_row(t, "%g|%zu|%.1f|%.1f|%.1f|%.1f|%.1f", theta, q, mean, sd, ours, theirs, high);
    lab_promise(o, fabs(mean) <= 4.5 * sd / sqrt(runs), "skew %g, %zu keys: unbiased", theta, q);
    lab_promise(o, fabs(sd / ours - 1) <= 4.5 / sqrt(2.0 * runs) + 0.12,
                "skew %g, %zu keys: deviation %.1f, by F2 %.1f", theta, q, sd, ours);
    free(off);
    free(upper);
}

static void sums_all(lab_options *o) {
    lab_table *const t = lab_table_new(
        "Lemma 3: skew|keys|mean error|its deviation|by F2|as published|MS sum is high by");
    sums_row(o, t, 0, 10);
    sums_row(o, t, 0, 100);
    sums_row(o, t, .5, 10);
    sums_row(o, t, .5, 100);
    sums_row(o, t, 1, 100);
    lab_table_print(t, o);
}

/* Windows: all counters of a key among so many */

static void windows_all(lab_options *o) {
    enum { KEYS = 20000 };
    static const struct {
        unsigned window;
        double blocks; /* if windows did not overlap, by the formula of the readings */
    } rows[] = {{64, .0453}, {128, .0390}, {256, .0357}, {512, .0340}, {1024, .0332}, {0, .0323}};
    uint64_t *const count = lab_alloc(KEYS, sizeof *count);
    lab_table *const t = lab_table_new(
        "counters in a window|blocks, by formula|predicted|measured|sd of a run|verdict");
    p004_zipf(count, KEYS, KEYS * 2.0, .5);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char spec[120];
        double ratio[1000], mean, sd;
        eb_prediction p = {.size = sizeof p};
        const eb_workload load = {
            .size = sizeof load, .items = KEYS * 2.0, .distinct = KEYS, .zipf = .5};
        snprintf(spec, sizeof spec, "spectral:update=plain,store=u32,k=5,cells=%.0f,span=%u",
                 floor(KEYS / .7) * 5, rows[i].window);
        if (eb_predict(spec, &load, NULL, 1, &p, NULL)) lab_die("predicting %s failed", spec);
        for (unsigned s = 0; s < o->seeds; s++) {
            p004_world w = p004_world_new(count, KEYS, P004_GROUPED, o->seed + s);
            const p004_way way = p004_way_of(spec);
            p004_feed(&w, &way, P004_INSERTS);
            ratio[s] = p004_compare(&w, &way).ratio;
            way.release(way.state);
            p004_world_free(&w);
        }
        p004_spread(ratio, sizeof *ratio, o->seeds, &mean, &sd);
        const bool agrees = fabs(mean - p.wrong) <= 4 * sd / sqrt(o->seeds) + 0.04 * p.wrong;
        lab_table_row(t, "%u|%.4f|%.4f|%.4f|%.4f|%s", rows[i].window, rows[i].blocks, p.wrong, mean,
                      sd, agrees ? "agrees" : "DIFFERS");
        lab_promise(o, agrees, "window %u: %.4f wrong, predicted %.4f", rows[i].window, mean,
                    p.wrong);
    }
    lab_table_print(t, o);
    free(count);
}

/* Predictions beside measurements */

static void predict_row(lab_options *o, lab_table *t, p004_policy policy, double gamma,
                        double theta, double bias, double bias_size) {
    static const char *const option[] = {
        "update=plain", "update=conservative", "method=rm", "method=rm+bf", "",
        "method=trm",   "method=rmx"};
    const p004_case c = p004_usual(policy, gamma, theta);
    const p004_result r = p004_run(o, &c);
    const bool second = policy != P004_MS && policy != P004_MI;
    char spec[160];
    const int at = snprintf(spec, sizeof spec, "spectral%s:%s,store=u32,span=0,cells=%.0f",
                            second ? "_rm" : "", option[policy], c.size.first);
    if (second) snprintf(spec + at, sizeof spec - (size_t)at, ",second=%.0f", c.size.second);
    eb_prediction p = {.size = sizeof p};
    const eb_workload load = {
        .size = sizeof load, .items = c.records, .distinct = (double)c.keys, .zipf = theta};
    if (eb_predict(spec, &load, NULL, 1, &p, NULL)) lab_die("predicting %s failed", spec);
    const double limit = 4 * r.sd.ratio / sqrt(o->seeds) + bias * p.wrong;
    const double limit_size = 4 * r.sd.size / sqrt(o->seeds) + bias_size * p.error;
    const bool agrees = fabs(r.mean.ratio - p.wrong) <= limit &&
                        (isnan(p.error) || fabs(r.mean.size - p.error) <= limit_size);
    char size[32] = "-";
    if (!isnan(p.error)) snprintf(size, sizeof size, "%.2f", p.error);
    lab_table_row(t, "%s|%g|%g|%.4f|%.4f|%s|%.2f|%s", p004_names[policy], gamma, theta, p.wrong,
                  r.mean.ratio, size, r.mean.size, agrees ? "agrees" : "DIFFERS");
    lab_promise(o, agrees, "%s is as predicted at gamma %g, skew %g", p004_names[policy], gamma,
                theta);
}

static void predict_all(lab_options *o) {
    static const double thetas[] = {0, .5, 1, 1.5}, gammas[] = {.5, .7, 1};
    lab_table *const t = lab_table_new(
        "policy|gamma|skew|E_ratio predicted|measured|E_add predicted|measured|verdict");
    for (size_t i = 0; i < sizeof thetas / sizeof *thetas; i++)
        for (size_t j = 0; j < sizeof gammas / sizeof *gammas; j++) {
            predict_row(o, t, P004_MS, gammas[j], thetas[i], .02, .05);
            predict_row(o, t, P004_MI, gammas[j], thetas[i], .1, .15);
            predict_row(o, t, P004_RMX, gammas[j], thetas[i], .08, .3);
            predict_row(o, t, P004_RM, gammas[j], thetas[i], .06, 0);
            predict_row(o, t, P004_RM_BF, gammas[j], thetas[i], .06, 0);
        }
    lab_table_print(t, o);
}

void p004_run_theory(lab_options *o) {
    lemma_two(o);
    sums_all(o);
    windows_all(o);
}

void p004_run_predictions(lab_options *o) {
    predict_all(o);
}
