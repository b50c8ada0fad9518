/* stable.c - the Stable Bloom filter (Deng and Rafiei, SIGMOD 2006): finds duplicates in an endless
 * stream, in fixed memory.  Layout and cells are in countdown.h, formulas in math/markov.c.
 *
 * Each arrival looks at the key's k cells (seen if none is zero), takes 1 from P cells, and sets
 * the key's cells to their largest value M = 2^width - 1.  What is taken balances what is set.  So
 * the share of zero cells tends to a limit V0 and the false-positive rate to (1-V0)^k, whatever the
 * stream.
 *
 * The published filter takes from random cells.  The default here is a cyclic sweep, which needs no
 * random numbers and gives a guarantee: a key is certainly found again while fewer than (M-1) m/P
 * keys came since.  Cells of two bits make the best use of memory.  A key costs k random cache
 * lines, plus 1 with delete=run or P with delete=random. */
#include "countdown.h"
#include <math.h>

static const eb_option stable_options[] = {COUNTDOWN_OPTIONS("2", "sweep"), {0}};

static void stable_chain(const ebi_params *p, ebi_chain *c) {
    ebi_chain_init(c,
                   p->opt[COUNTDOWN_O_DELETE] == EBI_FADE_SWEEP ? EBI_CHAIN_SWEEP : EBI_CHAIN_MAX,
                   (double)p->opt[EBI_O_CELLS], (double)p->opt[COUNTDOWN_O_K],
                   (double)p->opt[COUNTDOWN_O_P] / EBI_MILLION, (int)ebi_countdown_top(p));
    c->distinct = false;
}

static eb_status stable_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    return ebi_countdown_resolve(p, a, "stable", stable_chain, err);
}

EBI_INLINE void stable_forget(const ebi_countdown *c) {
    ebi_fading_arrival(&c->fading);
}

EBI_INLINE void stable_place(const ebi_countdown *c, const ebi_batch *b, size_t i,
                             const uint64_t *at, unsigned k) {
    (void)b, (void)i;
    for (unsigned j = 0; j < k; j++) ebi_cell_set(c->cells, c->width, at[j], ebi_ones(c->width));
}

EBI_INLINE void stable_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen,
                           unsigned k, bool far) {
    ebi_countdown_add(p, block, b, seen, k, far, stable_forget, stable_place);
}

#define stable_test ebi_countdown_test
#define stable_k ebi_countdown_k
EBI_LOOPS(stable)

static eb_status stable_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    return ebi_countdown_check(p, block, false, err);
}

/* Cells of one bit, random deletion, and repeats spread over a finite stream: the case of the
 * de-duplication paper, for which meanfield.c computes what repeats do to the fill. */
static bool stable_is_fading_bits(const ebi_params *p, const eb_workload *w) {
    return p->opt[COUNTDOWN_O_WIDTH] == 1 && p->opt[COUNTDOWN_O_DELETE] == EBI_FADE_RANDOM &&
           w->items > 0 && w->distinct > 0 && !(w->gap > 0) && !(w->zipf > 0);
}

static void stable_predict_bits(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    const ebi_fade bits = {EBI_FADE_SBF, (double)p->opt[EBI_O_CELLS], (int)p->opt[COUNTDOWN_O_K],
                           (double)p->opt[COUNTDOWN_O_P] / EBI_MILLION, ebi_asks_roughly(out)};
    const ebi_stream stream = {w->items, w->distinct / w->items, 0};
    const ebi_rates r = ebi_fade_rates(&bits, &stream, ebi_asks_rates(out));
    out->fill = r.load;
    out->fpr = r.fpr;
    out->fnr = r.fnr;
    out->mean_fpr = r.mean_fpr;
    out->mean_fnr = r.mean_fnr;
    out->settles_after = r.settles;
}

static void stable_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    if (stable_is_fading_bits(p, w)) {
        stable_predict_bits(p, w, out);
        return;
    }
    ebi_chain c;
    stable_chain(p, &c);
    ebi_countdown_predict(&c, w, out);
    if (w->gap > 0)
        out->fnr = out->mean_fnr =
            ebi_chain_fnr(&c, c.levels, w->gap, w->items > 0 ? w->items : INFINITY);
}

const ebi_kind ebi_kind_stable = {
    .info = {"stable", "the Stable Bloom filter: endless streams, recent duplicates",
             "Deng and Rafiei, Approximately detecting duplicates for streaming data, 2006",
             EB_FORGETS, stable_options, NULL},
    .version = 1,
    .resolve = stable_resolve,
    .select = stable_loops,
    .check = stable_check,
    .stat = ebi_countdown_stat,
    .predict = stable_predict,
    .view = ebi_countdown_view,
};
