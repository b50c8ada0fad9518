/* joinsize.c - how many pairs a join has: by products of counters, or by samples, whichever
 * promises the smaller error. */
#include "filterfile.h"
#include "join.h"
#include <everbloom/experimental.h>
#include <stdlib.h>
#include <string.h>

#define COUNTED "update=plain,k=5,span=0,store=u32"
enum { COUNTED_CELLS = 7, SAMPLE = 1 << 18 };

/* A sample of a stream of unknown length, every tuple with the same chance (Vitter's R). */
typedef struct reservoir {
    const eb_filter *filter;
    eb_hash *hash;
    size_t n;
    uint64_t seen, drawn;
} reservoir;

/* The filter hashes with its seed, so hashes of 0, 1, 2... are random numbers as good as any. */
static uint64_t draw(reservoir *r) {
    eb_hash hash;
    hash_keys(r->filter, &(eb_key){&r->drawn, sizeof r->drawn}, 1, &hash);
    r->drawn++;
    return hash;
}

static void take_sample(void *ctx, const stream *s, size_t n) {
    reservoir *const r = ctx;
    for (size_t i = 0; i < n; i++) {
        const uint64_t at = r->n < SAMPLE ? r->n : draw(r) % (r->seen + 1);
        r->seen++;
        if (at >= SAMPLE) continue;
        r->hash[at] = s->hash[i];
        r->n += r->n < SAMPLE;
    }
}

/* While the reservoir fills, tuples stand in their order; the first of them shall be any of them.
 */
static void shuffle(reservoir *r) {
    for (size_t i = r->n; i > 1; i--) {
        const size_t j = (size_t)(draw(r) % i);
        const eb_hash other = r->hash[i - 1];
        r->hash[i - 1] = r->hash[j];
        r->hash[j] = other;
    }
}

static reservoir sampled(relation *r, eb_filter *f) {
    reservoir sample = {.filter = f, .hash = cli_alloc(SAMPLE * sizeof(eb_hash))};
    relation_scan(r, f, true, take_sample, &sample);
    shuffle(&sample);
    return sample;
}

static void print_size(const settings *set, const eb_join *j, const char *method) {
    report out;
    report_begin(&out, stdout, set->json);
    report_text(&out, "method", "method", method);
    report_amount(&out, "pairs", "pairs", j->join);
    report_amount(&out, "error", "standard error", j->error);
    report_amount(&out, "upper", "at most", j->upper);
    report_end(&out);
    finish_stdout();
}

int join_size(const settings *set, const char *method, relation *r, relation *s) {
    eb_join product = {.size = sizeof product}, sample = {.size = sizeof sample};
    eb_filter *f, *g;
    eb_error err;
    char spec[EB_SPEC_MAX];
    const bool by_product = !method || strcmp(method, "product") == 0;
    const bool by_sample = !method || !by_product;
    double distinct = 0;
    if (!set->filter) {
        distinct = relation_distinct(r);
        if (relation_distinct(s) > distinct) distinct = s->distinct;
    }
    f = relation_filter(r, COUNTED, COUNTED_CELLS, distinct);
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(f));
    if (eb_new(&g, spec, NULL, &err) != EB_OK) cli_fail("%s", err.text);
    reservoir a = sampled(r, f), b = sampled(s, g);
    const bool any = a.n > 0 && b.n > 0;
    const eb_join_samples samples = {a.hash, b.hash, a.n, b.n, 0};
    if (by_product && eb_join_size(f, g, &product, &err) != EB_OK) cli_fail("%s", err.text);
    if (by_sample && any && eb_join_sampled(f, g, &samples, &sample, &err) != EB_OK)
        cli_fail("%s", err.text);
    const bool takes_product = by_product && (!by_sample || product.error <= sample.error);
    print_size(set, takes_product ? &product : &sample, takes_product ? "product" : "sample");
    free(a.hash);
    free(b.hash);
    eb_free(f);
    eb_free(g);
    return STATUS_YES;
}

int join_size_of_snapshots(const settings *set, char *const *paths) {
    eb_join j = {.size = sizeof j};
    snapshot a, b;
    eb_error err;
    snapshot_open_or_fail(&a, paths[0]);
    snapshot_open_or_fail(&b, paths[1]);
    if (eb_join_size(a.view, b.view, &j, &err) != EB_OK)
        cli_fail("%s and %s: %s", paths[0], paths[1], err.text);
    print_size(set, &j, "product");
    snapshot_close(&a);
    snapshot_close(&b);
    return STATUS_YES;
}
