/* rlbsbf.c - the randomized load balanced filter (section 5, Algorithm 4).
 *
 *     a key reported new: in each part choose a random bit and reset it with probability
 *                         load/s (the load before the insert); set the key's bits
 *     a key reported seen: nothing
 *
 * (The paper's listing has the two words swapped; its text has not.)  The chosen bit is reset or
 * left without regard to its value.  A part that is nearly empty loses next to nothing, so short
 * streams are remembered almost whole.  On a stream of ever new keys a load q balances at
 * 1 - q = q^2 (1 - q^k): 0.755 for k = 2, so false positives settle at 57 %, and 0.682 or 32 % for
 * k = 3.  With k = 1 nothing holds the load back: such a filter is for finite streams only.  (The
 * paper's recurrence (5.2) makes q rise to 1 for every k; it counts gains of bits that are 1.)
 *
 * The coin of part j is the j-th number of the record's own generator, scaled to 0..s-1: the bit
 * is reset if it is below the load. */
#include "dedup_bits.h"

enum { RLBSBF_O_FPR = EBI_O_PARTS + 1 };

static const eb_option rlbsbf_options[] = {EBI_COMMON_OPTIONS,
                                           EBI_PARTS_OPTION,
                                           {"fpr", "real", NULL, "1e-6", "0.5",
                                            "most false positives on an endless stream: k follows",
                                            true},
                                           {0}};

static double rlbsbf_fpr_of(const ebi_params *p, double k) {
    assert(k >= 1);
    (void)p;
    return ebi_parts_fpr_endless(EBI_FADE_RLBSBF, k);
}

static eb_status rlbsbf_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    return ebi_parts_resolve(p, a, "rlbsbf", RLBSBF_O_FPR, rlbsbf_fpr_of, err);
}

/* Loops */

EBI_INLINE unsigned rlbsbf_k(const ebi_params *p) {
    return ebi_parts_k(p);
}

EBI_INLINE void rlbsbf_choose(const ebi_parts *d, const uint64_t *at, uint64_t draw,
                              uint64_t *victim) {
    uint64_t own = draw;
    ebi_positions(draw, d->k, d->s, d->s, victim);
    for (unsigned j = 0; j < d->k; j++)
        if (ebi_random_below(&own, d->s) >= d->load[j]) victim[j] = at[j];
}

EBI_INLINE void rlbsbf_step(const ebi_parts *d, const ebi_record *r) {
    if (!r->seen) ebi_parts_insert(d, r, rlbsbf_choose);
}

EBI_INLINE void rlbsbf_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen,
                           unsigned k, bool far) {
    ebi_parts_add(p, block, b, seen, k, far, rlbsbf_step, rlbsbf_choose);
}

EBI_INLINE void rlbsbf_test(const ebi_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                            uint8_t *seen, unsigned k, bool far) {
    ebi_parts_test(p, block, h, n, seen, k, far);
}

EBI_LOOPS(rlbsbf)

static void rlbsbf_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    ebi_parts_predict(p, EBI_FADE_RLBSBF, w, out);
}

const ebi_kind ebi_kind_rlbsbf = {
    .info = {"rlbsbf", "load balanced: a new key resets the more bits, the fuller the parts",
             "Bera et al., Advanced Bloom Filter Based Algorithms for De-Duplication, Algorithm 4",
             EB_FORGETS, rlbsbf_options, NULL},
    .version = 1,
    .resolve = rlbsbf_resolve,
    .select = rlbsbf_loops,
    .check = ebi_parts_check,
    .stat = ebi_parts_stat,
    .predict = rlbsbf_predict,
    .view = ebi_parts_view,
};
