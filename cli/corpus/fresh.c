/* fresh.c - how many keys of all will be new, guessed from a sample of documents.
 *
 * The number of distinct keys grows as a power of the number of keys (Heaps' law).  The exponent is
 * read off the sample: half of its documents, taken at random, are expected to hold a key that is
 * in j documents with a chance of 1 - 2^-j, so both points of the curve are known without drawing.
 * A key is looked at or not by its hash; if there are too many, fewer hashes count. */
#include "corpus.h"
#include <math.h>
#include <stdlib.h>

enum { FRESH_MOST = 1 << 17 };

static bool fresh_counts(const fresh_sample *s, eb_hash hash) {
    return (text_mix(hash) & ((UINT64_C(1) << s->thin) - 1)) == 0;
}

static void fresh_thin(fresh_sample *s) {
    size_t kept = 0;
    s->thin++;
    for (size_t i = 0; i < s->n; i++)
        if (fresh_counts(s, s->key[i].hash)) s->key[kept++] = s->key[i];
    s->n = kept;
}

void fresh_add(fresh_sample *s, const eb_hash *hash, size_t n) {
    s->documents++;
    for (size_t i = 0; i < n; i++) {
        if (!fresh_counts(s, hash[i])) continue;
        if (s->n == FRESH_MOST) fresh_thin(s);
        if (!fresh_counts(s, hash[i]) || s->n == FRESH_MOST) continue;
        s->key = cli_grow(s->key, &s->cap, (s->n + 1) * sizeof *s->key);
        s->key[s->n].hash = hash[i];
        s->key[s->n++].document = s->documents;
    }
}

static int fresh_compare(const void *a, const void *b) {
    const fresh_key *const x = a, *const y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->document < y->document ? -1 : x->document > y->document;
}

double fresh_share(fresh_sample *s, double times, double *here) {
    double distinct = 0, half = 0;
    if (s->n == 0) return *here = NAN;
    qsort(s->key, s->n, sizeof *s->key, fresh_compare);
    for (size_t i = 0; i < s->n;) {
        const eb_hash hash = s->key[i].hash;
        int documents = 1;
        for (i++; i < s->n && s->key[i].hash == hash; i++)
            documents += s->key[i].document != s->key[i - 1].document;
        distinct += 1;
        half += 1 - ldexp(1, -documents);
    }
    const double exponent = fmin(log2(distinct / half), 1);
    *here = distinct / (double)s->n;
    return *here * pow(fmax(times, 1), exponent - 1);
}

void fresh_free(fresh_sample *s) {
    free(s->key);
    *s = (fresh_sample){0};
}
