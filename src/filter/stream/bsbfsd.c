/* bsbfsd.c - bsbf with single deletion (section 4.2, Algorithm 3).
 *
 *     a key reported new: reset one random bit of one random part, set the key's bits
 *     a key reported seen: nothing
 *
 * (The paper's listing has the two words swapped; its text has not.)  An insert sets up to k bits
 * and resets at most one, so keys are kept longer than by bsbf.  The price: on a stream of ever
 * new keys a load q changes by (1-q) - q (1-q^k)/k, which is above 0 for every q < 1.  The filter
 * fills up (1 - q shrinks as 2 s/((k+1) keys)) and in the end calls every key seen: it is for
 * finite streams, and not marked as one that forgets. */
#include "dedup_bits.h"

enum { BSBFSD_O_FPR = EBI_O_PARTS + 1 };

static const eb_option bsbfsd_options[] = {
    EBI_COMMON_OPTIONS,
    EBI_PARTS_OPTION,
    {"fpr", "real", NULL, "1e-6", "0.5", "most false positives up to cells/k new keys: k follows",
     true},
    {0}};

static eb_status bsbfsd_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    return ebi_parts_resolve(p, a, "bsbfsd", BSBFSD_O_FPR, ebi_parts_fpr_full, err);
}

/* Loops */

EBI_INLINE unsigned bsbfsd_k(const ebi_params *p) {
    return ebi_parts_k(p);
}

/* The part is the draw's place in 0..k-1; its bit comes from the next number. */
EBI_INLINE void bsbfsd_choose(const ebi_parts *d, const uint64_t *at, uint64_t draw,
                              uint64_t *victim) {
    const uint64_t part = eb_scale(draw, d->k);
    const uint64_t bit = part * d->s + eb_scale(eb_next(draw), d->s);
    for (unsigned j = 0; j < d->k; j++) victim[j] = j == part ? bit : at[j];
}

EBI_INLINE void bsbfsd_step(const ebi_parts *d, const ebi_record *r) {
    if (!r->seen) ebi_parts_insert(d, r, bsbfsd_choose);
}

EBI_INLINE void bsbfsd_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen,
                           unsigned k, bool far) {
    ebi_parts_add(p, block, b, seen, k, far, bsbfsd_step, bsbfsd_choose);
}

EBI_INLINE void bsbfsd_test(const ebi_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                            uint8_t *seen, unsigned k, bool far) {
    ebi_parts_test(p, block, h, n, seen, k, far);
}

EBI_LOOPS(bsbfsd)

static void bsbfsd_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    ebi_parts_predict(p, EBI_FADE_BSBFSD, w, out);
}

const ebi_kind ebi_kind_bsbfsd = {
    .info = {"bsbfsd", "biased sampling: a new key resets one random bit of one part",
             "Bera et al., Advanced Bloom Filter Based Algorithms for De-Duplication, Algorithm 3",
             0, bsbfsd_options, NULL},
    .version = 1,
    .resolve = bsbfsd_resolve,
    .select = bsbfsd_loops,
    .check = ebi_parts_check,
    .stat = ebi_parts_stat,
    .predict = bsbfsd_predict,
    .view = ebi_parts_view,
};
