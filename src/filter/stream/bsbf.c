/* bsbf.c - the biased sampling based Bloom filter (section 4, Algorithm 2).
 *
 *     a key reported new: reset one random bit of each part, set the key's bits
 *     a key reported seen: nothing
 *
 * (The paper's listing has the two words swapped; its text has not.)  A random bit may be zero
 * already.  On a stream of ever new keys a bit gains when it is 0 and hit, and loses when it is a
 * victim of a key that is inserted: with load q that balances at 1 - q = q (1 - q^k), so q = 0.618
 * for k = 2 and nears 1/2 as k grows, and false positives settle at q^k.  The paper's recurrence
 * (4.3) adds a gain for bits that are 1 already and so makes q rise to 1; it does not, except with
 * k = 1.  There nothing holds the load back, and such a filter is for finite streams only. */
#include "dedup_bits.h"

enum { BSBF_O_FPR = EBI_O_PARTS + 1 };

static const eb_option bsbf_options[] = {EBI_COMMON_OPTIONS,
                                         EBI_PARTS_OPTION,
                                         {"fpr", "real", NULL, "1e-6", "0.5",
                                          "most false positives on an endless stream: k follows",
                                          true},
                                         {0}};

static double bsbf_fpr_of(const ebi_params *p, double k) {
    assert(k >= 1);
    (void)p;
    return ebi_parts_fpr_endless(EBI_FADE_BSBF, k);
}

static eb_status bsbf_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    return ebi_parts_resolve(p, a, "bsbf", BSBF_O_FPR, bsbf_fpr_of, err);
}

/* Loops */

EBI_INLINE unsigned bsbf_k(const ebi_params *p) {
    return ebi_parts_k(p);
}

EBI_INLINE void bsbf_step(const ebi_parts *d, const ebi_record *r) {
    if (!r->seen) ebi_parts_insert(d, r, ebi_choose_all);
}

EBI_INLINE void bsbf_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen,
                         unsigned k, bool far) {
    ebi_parts_add(p, block, b, seen, k, far, bsbf_step, ebi_choose_all);
}

EBI_INLINE void bsbf_test(const ebi_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                          uint8_t *seen, unsigned k, bool far) {
    ebi_parts_test(p, block, h, n, seen, k, far);
}

EBI_LOOPS(bsbf)

static void bsbf_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    ebi_parts_predict(p, EBI_FADE_BSBF, w, out);
}

const ebi_kind ebi_kind_bsbf = {
    .info = {"bsbf", "biased sampling: a new key resets one random bit of each part",
             "Bera et al., Advanced Bloom Filter Based Algorithms for De-Duplication, Algorithm 2",
             EB_FORGETS, bsbf_options, NULL},
    .version = 1,
    .resolve = bsbf_resolve,
    .select = bsbf_loops,
    .check = ebi_parts_check,
    .stat = ebi_parts_stat,
    .predict = bsbf_predict,
    .view = ebi_parts_view,
};
