/* bsbf.c - filters by biased sampling (sections 4 and 5, Algorithms 2 to 4, of the paper named in
 * dedup_bits.h): three kinds.  Kept as published.
 *
 *       a key reported new: reset some bits, its victims, and set the key's bits
 *       a key reported seen: nothing
 *
 * (The paper's listings have the two words swapped; its text has them right.) Victims are chosen
 * whatever their value, so a victim may be zero already.
 *
 *     bsbf     One random bit of each part.  If all keys are new, a bit gains when it is 0 and hit,
 *              and loses when it is a victim.  So the load q settles at 1 - q = q (1 - q^k): 0.618
 *              for k = 2, and nearer to 1/2 as k grows.  False positives settle at q^k.
 *     bsbfsd   (single deletion) One random bit of one random part.  A new key sets up to k bits
 * and resets at most one, so keys are kept longer.  But a load changes by (1-q) - q (1-q^k)/k,
 * which is above 0 for every q < 1: the filter fills up and finally calls every key seen.  It is
 * for finite streams, and not listed as one that forgets. rlbsbf   (load balanced) In each part one
 * random bit with probability load/s, with the load before the insert.  A part that is nearly empty
 * loses almost nothing, so short streams are remembered almost completely.  Loads settle at 1 - q =
 * q^2 (1 - q^k): false positives of 57 % for k = 2 and 32 % for k = 3.
 *
 * With k = 1 bsbf and rlbsbf also fill up: then they are for finite streams. */
#include "dedup_bits.h"

static const eb_option bsbf_options[] = {
    EBI_PARTS_OPTIONS("limit on false positives of an endless stream; sets k"), {0}};
static const eb_option bsbf_sd_options[] = {
    EBI_PARTS_OPTIONS("limit on false positives up to cells/k new keys; sets k"), {0}};

static eb_status bsbf_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    return ebi_parts_resolve(p, a, "bsbf", EBI_FADE_BSBF, ebi_parts_fpr_endless, err);
}

static eb_status bsbf_sd_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    return ebi_parts_resolve(p, a, "bsbfsd", EBI_FADE_BSBFSD, ebi_parts_fpr_full, err);
}

static eb_status bsbf_rl_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    return ebi_parts_resolve(p, a, "rlbsbf", EBI_FADE_RLBSBF, ebi_parts_fpr_endless, err);
}

/* Loops */

/* The draw's place in 0..k-1 is the part.  The next number gives the bit. */
EBI_INLINE void bsbf_sd_choose(const ebi_parts *d, const uint64_t *at, uint64_t draw,
                               uint64_t *victim) {
    const uint64_t part = eb_scale(draw, d->k);
    const uint64_t bit = part * d->s + eb_scale(eb_next(draw), d->s);
    for (unsigned j = 0; j < d->k; j++) victim[j] = j == part ? bit : at[j];
}

/* Part j takes the j-th number of the record's own generator, scaled to 0..s-1: the bit is reset if
 * the number is below the load. */
EBI_INLINE void bsbf_rl_choose(const ebi_parts *d, const uint64_t *at, uint64_t draw,
                               uint64_t *victim) {
    uint64_t own = draw;
    ebi_positions(draw, d->k, d->s, d->s, victim);
    for (unsigned j = 0; j < d->k; j++)
        if (ebi_random_below(&own, d->s) >= d->load[j]) victim[j] = at[j];
}

#define BSBF_LOOPS(name, choose)                                                                   \
    EBI_INLINE void name##_step(const ebi_parts *d, const ebi_record *r) {                         \
        if (!r->seen) ebi_parts_insert(d, r, choose);                                              \
    }                                                                                              \
    EBI_PARTS_LOOPS(name, choose)
BSBF_LOOPS(bsbf, ebi_choose_all)
BSBF_LOOPS(bsbf_sd, bsbf_sd_choose)
BSBF_LOOPS(bsbf_rl, bsbf_rl_choose)

const ebi_kind ebi_kind_bsbf = {
    .info = {"bsbf", "biased sampling: a new key resets one random bit of each part",
             EBI_PARTS_PAPER "2", EB_FORGETS, bsbf_options, NULL},
    .resolve = bsbf_resolve,
    .select = bsbf_loops,
    .predict = ebi_parts_predict,
    EBI_PARTS_MEMBERS,
};
const ebi_kind ebi_kind_bsbfsd = {
    .info = {"bsbfsd", "biased sampling: a new key resets one random bit of one part",
             EBI_PARTS_PAPER "3", 0, bsbf_sd_options, NULL},
    .resolve = bsbf_sd_resolve,
    .select = bsbf_sd_loops,
    .predict = ebi_parts_predict,
    EBI_PARTS_MEMBERS,
};
const ebi_kind ebi_kind_rlbsbf = {
    .info = {"rlbsbf", "load balanced: a new key resets the more bits, the fuller the parts",
             EBI_PARTS_PAPER "4", EB_FORGETS, bsbf_options, NULL},
    .resolve = bsbf_rl_resolve,
    .select = bsbf_rl_loops,
    .predict = ebi_parts_predict,
    EBI_PARTS_MEMBERS,
};
