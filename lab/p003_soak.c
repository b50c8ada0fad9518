/* p003_soak.c - lru 64 MB over a very long stream: do its rates drift?
 *
 * Half of the records are new keys, half repeat the record of 1..GAP_MAX records
 * before, uniformly.  The last GAP_MAX records are kept in a ring, so the truth is
 * known and memory stays bounded however long the stream is: 1e10 records at
 * --scale 1.  Rates are told for each tenth of the stream, after a warm-up in
 * which the lists fill. */
#include "paper_003.h"
#include <math.h>
#include <stdlib.h>

enum { TENTHS = 10, SOAK_BATCH = 4096, RING = 1 << 25, GAP_MAX = RING - SOAK_BATCH };
enum { WARM_UP = 300000000 };

typedef struct soak {
    lab_rng rng;
    uint64_t *ring, at, fresh; /* hashes of the last records, and how many keys there were */
    uint64_t hash[SOAK_BATCH];
    uint8_t first[SOAK_BATCH], seen[SOAK_BATCH];
} soak;

static void soak_batch(soak *s) {
    for (size_t i = 0; i < SOAK_BATCH; i++, s->at++) {
        const uint64_t draw = lab_random(&s->rng), reach = s->at < GAP_MAX ? s->at : GAP_MAX;
        const uint64_t gap = 1 + ((draw >> 32) * reach >> 32);
        s->first[i] = (draw & 1) || reach == 0;
        s->hash[i] = s->first[i] ? lab_mix(s->fresh++) : s->ring[(s->at - gap) % RING];
        s->ring[s->at % RING] = s->hash[i];
    }
}

static lab_rates soak_tenth(soak *s, lab_subject *filter, uint64_t records) {
    lab_rates rates = {0};
    for (uint64_t done = 0; done < records; done += SOAK_BATCH) {
        soak_batch(s);
        filter->add(filter->state, &A_BATCH(SOAK_BATCH, s->hash, NULL, NULL), s->seen);
        lab_rates_count(&rates, s->first, s->seen, SOAK_BATCH);
    }
    return rates;
}

/* Is a tenth where all of them are, within five standard errors of the difference? */
static bool soak_steady(const lab_rates *tenth, const lab_rates *all, lab_rate which) {
    const double a = lab_error_of(tenth, which), b = lab_error_of(all, which);
    return fabs(lab_rate_of(tenth, which) - lab_rate_of(all, which)) <= 5 * sqrt(a * a + b * b);
}

void p003_run_soak(lab_options *o) {
    const uint64_t each = (uint64_t)(1e10 / o->scale / TENTHS);
    soak *s = lab_alloc(1, sizeof *s);
    lab_subject filter = lab_filter("lru", "lru:memory=64M,fpr=1e-3");
    lab_rates tenth[TENTHS], all = {0};
    s->ring = lab_alloc(RING, sizeof *s->ring);
    s->rng.state = o->seed;
    lab_table *t = lab_table_new("records so far|FPR %|error|FNR %|error");
    (void)soak_tenth(s, &filter, WARM_UP);
    for (int i = 0; i < TENTHS; i++) {
        tenth[i] = soak_tenth(s, &filter, each);
        lab_rates_pool(&all, &tenth[i]);
        lab_table_row(t, "%.3g|%.5f|%.5f|%.4f|%.4f", (double)s->at,
                      100 * lab_rate_of(&tenth[i], LAB_FPR), 100 * lab_error_of(&tenth[i], LAB_FPR),
                      100 * lab_rate_of(&tenth[i], LAB_FNR),
                      100 * lab_error_of(&tenth[i], LAB_FNR));
    }
    lab_table_print(t, o);
    for (int i = 0; i < TENTHS; i++)
        lab_promise(o,
                    soak_steady(&tenth[i], &all, LAB_FPR) && soak_steady(&tenth[i], &all, LAB_FNR),
                    "tenth %d has the rates of them all", i + 1);
    filter.release(filter.state);
    free(s->ring);
    free(s);
}
