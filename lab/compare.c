/* compare.c - filters and rivals on one stream: what they get wrong, where, and how sure that is.
 *
 * All see the same records.  The truth of an id is its number of records so far, and the place of
 * the last one: exact.  A kind of filter that is new needs no line here: what is measured follows
 * from its caps. */
#include "compare.h"
#include "rivals/rivals.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COMPARE_BATCH = 1024, COMPARE_HOT = 1000 };

typedef struct compare_filter { /* one of ours */
    eb_filter *f;
    uint64_t at; /* records so far */
    bool full;
} compare_filter;

static void compare_filter_add(void *state, const eb_batch *b, uint8_t *seen) {
    compare_filter *const c = state;
    const uint64_t caps = eb_caps(c->f);
    uint64_t time[COMPARE_BATCH];
    eb_batch batch = A_BATCH(b->n, b->hash, caps & EB_USES_VALUE ? b->value : NULL, NULL);
    eb_error err;
    for (size_t i = 0; i < b->n; i++) time[i] = c->at + i;
    if (caps & EB_USES_TIME) batch.time = time;
    c->at += b->n;
    batch.seen = seen;
    const eb_status s =
        c->full ? eb_ask_batch(c->f, &batch, &err) : eb_add_batch(c->f, &batch, &err);
    if (s == EB_EFULL) { /* it is asked only, from here on */
        c->full = true;
        if (eb_ask_batch(c->f, &batch, &err)) lab_die("asking a batch failed: %s", err.text);
    } else if (s) {
        lab_die("adding a batch failed: %s", err.text);
    }
}

static void compare_filter_count(const void *state, const uint64_t *hash, size_t n, double *count) {
    calls_count(((const compare_filter *)state)->f, hash, n, count);
}

static void compare_filter_release(void *state) {
    eb_free(((compare_filter *)state)->f);
    free(state);
}

static lab_subject compare_subject(const char *spec, uint64_t seed, compare_result *r) {
    lab_subject s;
    eb_error err;
    if (lab_rival_new(spec, seed, &s)) {
        r->bytes = s.bytes;
        r->counts = s.count != NULL;
        return s;
    }
    compare_filter *const c = lab_alloc(1, sizeof *c);
    if (eb_new(&c->f, spec, NULL, &err)) lab_die("%s: %s", spec, err.text);
    eb_stats stats = {.size = sizeof stats};
    calls_stat(c->f, &stats);
    r->bytes = stats.bytes;
    r->caps = eb_caps(c->f);
    r->counts = (r->caps & EB_CAN_COUNT) && !(r->caps & EB_USES_TIME);
    return (lab_subject){.state = c,
                         .add = compare_filter_add,
                         .count = r->counts ? compare_filter_count : NULL,
                         .release = compare_filter_release};
}

/* Truth */

typedef struct compare_truth {
    uint32_t *times, *last; /* of each id: records so far, place of the last */
    uint64_t ids, at, salt;
    compare_law law;
} compare_truth;

static uint64_t compare_value(const compare_truth *t, uint64_t id) {
    lab_rng r = {lab_mix(id ^ t->salt) + 1};
    const double u = lab_unit(&r);
    return t->law == COMPARE_EQUAL     ? 1
           : t->law == COMPARE_UNIFORM ? 1 + (uint64_t)(100 * u)
                                       : 1 + (uint64_t)(99 * u * u * u * u);
}

static unsigned compare_fifth(const compare_truth *t, uint64_t id) { /* by rank, not by value */
    lab_rng r = {lab_mix(id ^ t->salt) + 1};
    return (unsigned)(COMPARE_FIFTHS * lab_unit(&r));
}

typedef struct compare_batch {
    size_t n;
    uint64_t id[COMPARE_BATCH], hash[COMPARE_BATCH], value[COMPARE_BATCH];
    uint32_t gap[COMPARE_BATCH]; /* records since the last; 0: it is new */
} compare_batch;

static bool compare_next(compare_truth *t, lab_stream *s, compare_batch *b) {
    b->n = lab_stream_next(s, b->id, COMPARE_BATCH);
    for (size_t i = 0; i < b->n; i++, t->at++) {
        const uint64_t id = b->id[i];
        if (id >= t->ids) lab_die("a stream gave an id that it did not announce");
        b->hash[i] = lab_mix(id + t->salt);
        b->value[i] = compare_value(t, id);
        b->gap[i] = t->times[id]++ ? (uint32_t)(t->at - t->last[id]) : 0;
        t->last[id] = (uint32_t)t->at;
    }
    return b->n > 0;
}

/* Counting what is wrong */

static void compare_add_share(compare_share *s, bool wrong) {
    s->all++;
    s->wrong += wrong;
}

static void compare_tally(const compare_truth *t, const compare_batch *b, const uint8_t *seen,
                          compare_result *r) {
    for (size_t i = 0; i < b->n; i++) {
        if (b->gap[i] == 0) {
            compare_add_share(&r->fpr, seen[i]);
            continue;
        }
        const double value = (double)b->value[i];
        unsigned gap = 0;
        for (double most = 10; gap + 1 < COMPARE_GAPS && b->gap[i] > most; most *= 10) gap++;
        compare_add_share(&r->fnr, !seen[i]);
        compare_add_share(&r->gap[gap], !seen[i]);
        compare_add_share(&r->fifth[compare_fifth(t, b->id[i])], !seen[i]);
        r->weight += value;
        r->weight_missed += seen[i] ? 0 : value;
        r->weight_error += seen[i] ? 0 : value * value;
    }
}

static int compare_by_count(const void *a, const void *b) { /* the largest first */
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

static uint32_t compare_hot_from(const compare_truth *t) { /* count of the 1000th */
    uint64_t *const all = lab_alloc(t->ids, sizeof *all);
    for (uint64_t id = 0; id < t->ids; id++) all[id] = t->times[id];
    qsort(all, t->ids, sizeof *all, compare_by_count);
    const uint64_t last = t->ids < COMPARE_HOT ? t->ids - 1 : COMPARE_HOT - 1;
    const uint32_t from = (uint32_t)all[last];
    free(all);
    return from > 0 ? from : 1;
}

static void compare_counts(const compare_truth *t, const lab_subject *s, compare_result *r) {
    const uint32_t hot = compare_hot_from(t);
    for (uint64_t id = 0; id < t->ids; id++) {
        if (t->times[id] == 0) continue;
        const uint64_t hash = r->caps & EB_KEYS_ARE_NUMBERS ? id : lab_mix(id + t->salt);
        double count;
        s->count(s->state, &hash, 1, &count);
        const double off = count - t->times[id];
        r->keys++;
        r->counts_wrong += fabs(off) > 0.5;
        r->counts_low += off < -0.5;
        r->squares += off * off;
        if (t->times[id] < hot) continue;
        r->hot_squares += off * off;
        r->hot_keys++;
    }
}

static double compare_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct compare_job {
    const lab_options *o;
    const compare_plan *plan;
    compare_result *results;
} compare_job;

static void compare_run(void *ctx, size_t seed) {
    const compare_job *const j = ctx;
    const compare_plan *const p = j->plan;
    lab_stream *const stream = lab_stream_open(p->stream, p->slots, p->records, j->o->seed + seed);
    const uint64_t ids = lab_stream_ids(stream);
    compare_truth t = {lab_alloc(ids, sizeof *t.times),
                       lab_alloc(ids, sizeof *t.last),
                       ids,
                       0,
                       lab_stream_salt(stream),
                       p->law};
    lab_subject subject[COMPARE_FILTERS];
    compare_result *result[COMPARE_FILTERS];
    compare_batch *const b = lab_alloc(1, sizeof *b);
    for (size_t k = 0; k < p->filters; k++) {
        result[k] = &j->results[k * j->o->seeds + seed];
        subject[k] = compare_subject(p->filter[k], j->o->seed + seed, result[k]);
        result[k]->records = lab_stream_records(stream);
    }
    while (compare_next(&t, stream, b))
        for (size_t k = 0; k < p->filters; k++) {
            uint8_t seen[COMPARE_BATCH];
            const double start = compare_clock();
            const uint64_t *const keys = result[k]->caps & EB_KEYS_ARE_NUMBERS ? b->id : b->hash;
            subject[k].add(subject[k].state, &A_BATCH(b->n, keys, b->value, NULL), seen);
            result[k]->seconds += compare_clock() - start;
            compare_tally(&t, b, seen, result[k]);
        }
    for (size_t k = 0; k < p->filters; k++) {
        if (subject[k].count) compare_counts(&t, &subject[k], result[k]);
        if (subject[k].add == compare_filter_add)
            result[k]->full = ((compare_filter *)subject[k].state)->full;
        subject[k].release(subject[k].state);
    }
    free(b);
    free(t.times);
    free(t.last);
    lab_stream_free(stream);
}

compare_result *lab_compare(const lab_options *o, const compare_plan *plan) {
    compare_job j = {o, plan, lab_alloc(plan->filters * o->seeds, sizeof *j.results)};
    lab_parallel(o->threads, o->seeds, compare_run, &j);
    return j.results;
}

void lab_compare_write(const lab_options *o, const compare_plan *plan, FILE *out) {
    lab_stream *const s = lab_stream_open(plan->stream, plan->slots, plan->records, o->seed);
    const compare_truth t = {.salt = lab_stream_salt(s), .law = plan->law};
    uint64_t id;
    while (lab_stream_next(s, &id, 1))
        if (plan->law == COMPARE_EQUAL)
            fprintf(out, "%llu\n", (unsigned long long)id);
        else
            fprintf(out, "%llu\t%llu\n", (unsigned long long)id,
                    (unsigned long long)compare_value(&t, id));
    lab_stream_free(s);
    if (fflush(out) || ferror(out)) lab_die("writing failed: %s", strerror(errno));
}

/* Rates */

static compare_rate compare_rate_of(compare_share s) {
    const double n = (double)s.all, p = n > 0 ? (double)s.wrong / n : 0;
    return (compare_rate){p, n > 0 ? sqrt(p * (1 - p) / n) : 0};
}

compare_rate compare_fpr(const compare_result *r) {
    return compare_rate_of(r->fpr);
}

compare_rate compare_fnr(const compare_result *r) {
    return compare_rate_of(r->fnr);
}

compare_rate compare_top_fifth(const compare_result *r) {
    return compare_rate_of(r->fifth[COMPARE_FIFTHS - 1]);
}

compare_rate compare_weighted(const compare_result *r) {
    if (!(r->weight > 0)) return (compare_rate){0, 0};
    return (compare_rate){r->weight_missed / r->weight, sqrt(r->weight_error) / r->weight};
}

compare_rate compare_of(const compare_result *r, unsigned seeds, compare_measure *measure) {
    double sum = 0, squares = 0, binomial = 0;
    for (unsigned i = 0; i < seeds; i++) {
        const compare_rate one = measure(r + i);
        sum += one.rate;
        squares += one.rate * one.rate;
        binomial += one.error * one.error;
    }
    const double mean = sum / seeds, spread = fmax(0, squares / seeds - mean * mean);
    const double scatter = seeds > 1 ? sqrt(spread / (seeds - 1)) : 0;
    return (compare_rate){mean, fmax(scatter, sqrt(binomial) / seeds)};
}

int compare_order(compare_rate a, compare_rate b) {
    const double difference = a.rate - b.rate, error = 3 * hypot(a.error, b.error);
    return difference < -error ? -1 : difference > error;
}
