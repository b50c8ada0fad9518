/* p000_streams.c - finite streams of keys with importance, and what each filter
 * gets wrong on them, by importance.
 *
 * So many records are new keys, at random places; the others repeat an earlier key.  New keys draw
 * their importance 1..50 with weights; repeats then have the same weights. */
#include "p000_streams.h"
#include <math.h>
#include <stdlib.h>

/* Importance of a new key by the cumulative weights. */
static uint8_t streams_importance(const double *cumulative, lab_rng *r) {
    const double u = lab_unit(r) * cumulative[P000_HIGH];
    uint8_t i = 1;
    while (i < P000_HIGH && cumulative[i] < u) i++;
    return i;
}

static void streams_weights(const p000_stream *s, double cumulative[P000_HIGH + 1]) {
    cumulative[0] = 0;
    for (int i = 1; i <= P000_HIGH; i++) {
        const double share = s->law == P000_EQUAL          ? 1
                             : s->law == P000_PROPORTIONAL ? i
                             : s->law == P000_INVERSE
                                 ? 1.0 / i
                                 : pow(i / 50.0, 1 / s->skew) - pow((i - 1) / 50.0, 1 / s->skew);
        cumulative[i] = cumulative[i - 1] + share;
    }
}

typedef struct streams_record {
    uint64_t hash;
    uint64_t importance;
    bool first;
} streams_record;

/* The record that record t repeats; key: the first record of each of the keys so far. */
static uint64_t streams_earlier(const p000_stream *s, uint64_t t, const uint64_t *key,
                                uint64_t keys, lab_rng *random) {
    if (s->nearness == 0) return key[lab_below(random, keys)];
    const uint64_t gap = (uint64_t)((double)t * pow(lab_unit(random), s->nearness));
    return t - 1 - (gap < t ? gap : t - 1);
}

static streams_record *streams_make(const p000_stream *s, uint64_t records, uint64_t seed) {
    double cumulative[P000_HIGH + 1];
    lab_rng random = {lab_mix(seed ^ 0x70303030u)};
    streams_record *list = lab_alloc(records, sizeof *list);
    const uint64_t distinct = (uint64_t)(s->fresh * (double)records + 0.5);
    uint64_t *key = lab_alloc(distinct, sizeof *key), keys = 0;
    streams_weights(s, cumulative);
    for (uint64_t t = 0; t < records; t++) {
        if (keys == 0 || lab_below(&random, records - t) < distinct - keys) {
            list[t].hash = lab_random(&random);
            list[t].importance = streams_importance(cumulative, &random);
            list[t].first = true;
            key[keys++] = t;
        } else {
            list[t] = list[streams_earlier(s, t, key, keys, &random)];
            list[t].first = false;
        }
    }
    free(key);
    return list;
}

static void streams_feed(const char *spec, const streams_record *list, uint64_t records,
                         p000_tally *tally) {
    eb_filter *f;
    eb_error err;
    if (eb_new(&f, spec, NULL, &err)) lab_die("%s: %s", spec, err.text);
    const bool valued = eb_caps(f) & EB_USES_VALUE;
    for (uint64_t t = 0; t < records; t++) {
        const streams_record *r = &list[t];
        const eb_batch one = A_BATCH(1, &r->hash, valued ? &r->importance : NULL, NULL);
        uint8_t seen;
        const eb_status status = calls_add(f, &one, &seen);
        if (status) lab_die("adding a key failed: %s", eb_status_name(status));
        p000_counts *c = &tally->of[r->importance];
        c->distinct += r->first;
        c->repeats += !r->first;
        c->false_positives += r->first & seen;
        c->false_negatives += !r->first & !seen;
    }
    eb_free(f);
}

typedef struct streams_work {
    const lab_options *o;
    const p000_stream *stream;
    p000_tally *run; /* for each stream, seed and kind */
} streams_work;

static void streams_job(void *ctx, size_t i) {
    const streams_work *w = ctx;
    const p000_stream *s = &w->stream[i / w->o->seeds];
    const uint64_t seed = w->o->seed + i % w->o->seeds, records = p000_scaled(w->o, s->records);
    streams_record *list = streams_make(s, records, seed);
    for (int k = 0; k < P000_KINDS; k++) {
        char spec[P000_SPEC], seeded[P000_SPEC + 40];
        p000_spec(spec, (p000_kind)k, P000_HIGH, w->o);
        snprintf(seeded, sizeof seeded, "%s,seed=%llu", spec, (unsigned long long)seed);
        streams_feed(seeded, list, records, &w->run[i * P000_KINDS + (size_t)k]);
    }
    free(list);
}

static void streams_pool(p000_tally *into, const p000_tally *from) {
    for (int i = 1; i <= P000_HIGH; i++) {
        into->of[i].distinct += from->of[i].distinct;
        into->of[i].repeats += from->of[i].repeats;
        into->of[i].false_positives += from->of[i].false_positives;
        into->of[i].false_negatives += from->of[i].false_negatives;
    }
}

p000_tally *p000_measure(const lab_options *o, const p000_stream *streams, size_t count) {
    p000_tally *sum = lab_alloc(count * P000_KINDS, sizeof *sum);
    streams_work w = {o, streams, lab_alloc(count * o->seeds * P000_KINDS, sizeof *w.run)};
    lab_parallel(o->threads, count * o->seeds, streams_job, &w);
    for (size_t i = 0; i < count * o->seeds * P000_KINDS; i++)
        streams_pool(&sum[i / P000_KINDS / o->seeds * P000_KINDS + i % P000_KINDS], &w.run[i]);
    free(w.run);
    return sum;
}

/* Rates */

double p000_rate(const p000_tally *t, lab_rate which, p000_share share, bool weighted, int from,
                 int to) {
    double wrong = 0, all = 0;
    for (int i = from; i <= to; i++) {
        const p000_counts *c = &t->of[i];
        const double weight = weighted ? i : 1;
        wrong += weight * (double)(which == LAB_FPR ? c->false_positives : c->false_negatives);
        if (share == P000_OF_ALL || which == LAB_FPR) all += weight * (double)c->distinct;
        if (share == P000_OF_ALL || which == LAB_FNR) all += weight * (double)c->repeats;
    }
    return all > 0 ? wrong / all : 0;
}

double p000_rate_error(const p000_tally *t, lab_rate which, p000_share share, bool weighted,
                       int from, int to) {
    double variance = 0, all = 0;
    for (int i = from; i <= to; i++) {
        const p000_counts *c = &t->of[i];
        const double weight = weighted ? i : 1;
        const double n = (double)(which == LAB_FPR ? c->distinct : c->repeats);
        const double wrong = (double)(which == LAB_FPR ? c->false_positives : c->false_negatives);
        if (n > 0) variance += weight * weight * wrong * (1 - wrong / n);
        all += weight * (share == P000_OF_ALL ? (double)(c->distinct + c->repeats) : n);
    }
    return all > 0 ? sqrt(variance) / all : 0;
}

void p000_put_arrays(const char *name, const p000_tally *of_kinds) {
    enum { STREAMS_STEP = P000_HIGH / 10 };
    for (int k = 0; k < P000_KINDS; k++)
        for (int from = 1; from <= P000_HIGH; from += STREAMS_STEP) {
            const p000_tally *const t = &of_kinds[k];
            double share = 0, all = 0;
            for (int v = 1; v <= P000_HIGH; v++) {
                const double n = (double)(t->of[v].distinct + t->of[v].repeats);
                all += n;
                share += v >= from && v < from + STREAMS_STEP ? n : 0;
            }
            printf("%s,%s,%d,%.5f", name, k == P000_BF_THIRD ? "BF/3" : p000_names[k], from + 2,
                   100 * share / all);
            for (p000_share s = P000_OF_ALL; s <= P000_OF_OWN; s++)
                for (lab_rate r = LAB_FPR; r <= LAB_FNR; r++)
                    printf(",%.4f", 100 * p000_rate(t, r, s, false, from, from + STREAMS_STEP - 1));
            putchar('\n');
        }
}
