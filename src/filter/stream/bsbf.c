/* bsbf.c - filters by biased sampling (sections 4 and 5, Algorithms 2 to 4): three kinds.
 *
 *     a key reported new: reset some bits, its victims, and set the key's bits
 *     a key reported seen: nothing
 *
 * (The paper's listings have the two words swapped; its text has not.)  Victims are chosen without
 * regard to their value, so a victim may be zero already.
 *
 *   bsbf     one random bit of each part.  On a stream of ever new keys a bit gains when it is 0
 *            and hit, and loses when it is a victim: the load q settles at 1 - q = q (1 - q^k), so
 *            q = 0.618 for k = 2 and nears 1/2 as k grows; false positives settle at q^k.
 *   bsbfsd   (single deletion) one random bit of one random part.  An insert sets up to k bits and
 *            resets at most one, so keys are kept longer.  The price: a load changes by
 *            (1-q) - q (1-q^k)/k, which is above 0 for every q < 1.  The filter fills up and in the
 *            end calls every key seen: it is for finite streams, and not marked as one that
 * forgets. rlbsbf   (load balanced) in each part one random bit with probability load/s, the load
 * before the insert.  A part that is nearly empty loses next to nothing, so short streams are
 *            remembered almost whole.  Loads settle at 1 - q = q^2 (1 - q^k): false positives of
 *            57 % for k = 2 and 32 % for k = 3.
 *
 * With k = 1 nothing holds the load back in bsbf and rlbsbf: such a filter is for finite streams.
 */
#include "dedup_bits.h"

static const eb_option bsbf_options[] = {
    EBI_PARTS_OPTIONS("most false positives on an endless stream: k follows"), {0}};
static const eb_option bsbf_sd_options[] = {
    EBI_PARTS_OPTIONS("most false positives up to cells/k new keys: k follows"), {0}};

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

/* The part is the draw's place in 0..k-1; its bit comes from the next number. */
EBI_INLINE void bsbf_sd_choose(const ebi_parts *d, const uint64_t *at, uint64_t draw,
                               uint64_t *victim) {
    const uint64_t part = eb_scale(draw, d->k);
    const uint64_t bit = part * d->s + eb_scale(eb_next(draw), d->s);
    for (unsigned j = 0; j < d->k; j++) victim[j] = j == part ? bit : at[j];
}

/* The coin of part j is the j-th number of the record's own generator, scaled to 0..s-1: the bit is
 * reset if it is below the load. */
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
