/* stable.c - the Stable Bloom filter (Deng and Rafiei, SIGMOD 2006): duplicates
 * in an endless stream, in fixed memory, at a false positive rate that settles.
 *
 *     | head | fading state, 64 bytes | m cells of `width` bits |
 *
 * Each arrival: look at the key's k cells (seen if none is zero), take 1 from P
 * cells, set the k cells to their largest value M = 2^width - 1.  What is taken
 * balances what is set, so the share of zero cells tends to a limit V0 and the
 * false positive rate to (1-V0)^k, whatever the stream.
 *
 * The published filter takes from random cells.  The default here is a cyclic
 * sweep, which needs no randomness and gives a guarantee: a key is found again
 * for certain while fewer than (M-1) m/P keys came since.  Two bits a cell use
 * memory best.  The formulas are those of theory/markov.c.
 *
 * The k cells lie in one common array and may coincide.  Cost: k random cache
 * lines a key, plus 1 (run) or P (random). */
#include "cells/fading.h"
#include "loops.h"
#include "theory/theory.h"
#include <math.h>

enum { O_K = EB_O_OWN, O_WIDTH, O_P, O_DELETE, O_FPR };

static const eb_option stable_options[] = {
    EB_COMMON_OPTIONS,
    {"k", "int", NULL, "1", "32", "cells for each key", false},
    {"width", "int", "2", "1", "8", "bits of a cell", false},
    {"p", "fixed", NULL, "0.000001", "1000000", "cells that lose 1 at each arrival", false},
    {"delete", EB_FADE_CHOICES, "sweep", NULL, NULL, "which cells: in turn, a run, or random ones",
     false},
    {"fpr", "real", "0.001", "1e-9", "0.9", "wanted false positives: k and p follow", true},
    {0}};

enum { STABLE_FIXED = sizeof(eb_fading_state) };

EB_INLINE unsigned stable_k(const eb_params *p) {
    return (unsigned)p->opt[O_K];
}

EB_INLINE const uint8_t *stable_cells(const uint8_t *block) {
    return block + sizeof(eb_head) + STABLE_FIXED;
}

/* Parameters */

static ebi_chain stable_chain(const eb_params *p) {
    ebi_chain c;
    ebi_chain_init(&c, p->opt[O_DELETE] == EB_FADE_SWEEP ? EBI_CHAIN_SWEEP : EBI_CHAIN_MAX,
                   (double)p->opt[EB_O_CELLS], (double)p->opt[O_K],
                   (double)p->opt[O_P] / EB_MILLION, (1 << p->opt[O_WIDTH]) - 1);
    c.distinct = false;
    return c;
}

static eb_status stable_solve_p(eb_params *p, double fpr, eb_error *err) {
    const ebi_chain c = stable_chain(p);
    const double deletes = ebi_chain_deletes_for(&c, fpr);
    if (deletes > (double)p->opt[EB_O_CELLS] / 2 || deletes > EB_MILLION)
        return ebi_fail(err, EB_ESPEC, "stable: fpr=%g is out of reach with %llu cells and k=%llu",
                        fpr, (unsigned long long)p->opt[EB_O_CELLS],
                        (unsigned long long)p->opt[O_K]);
    p->opt[O_P] = (uint64_t)ceil(deletes * EB_MILLION);
    return EB_OK;
}

static eb_status stable_resolve(eb_params *p, const eb_args *a, eb_error *err) {
    if (a->given[O_P] && a->given[O_FPR])
        return ebi_fail(err, EB_ESPEC, "stable: give p or fpr, not both");
    if (a->given[O_P] && !a->given[O_K])
        return ebi_fail(err, EB_ESPEC, "stable: p needs k; or give fpr instead of both");
    if (!a->given[O_K]) /* half of the cells zero: best use of memory */
        p->opt[O_K] = ebi_max(1, ebi_min(30, (uint64_t)round(-log2(a->real[O_FPR]))));
    EB_TRY(ebi_size_cells(p, a, "stable", (unsigned)p->opt[O_WIDTH], 1, STABLE_FIXED, err));
    if (!a->given[O_P]) EB_TRY(stable_solve_p(p, a->real[O_FPR], err));
    if (p->opt[O_P] / EB_MILLION >= p->opt[EB_O_CELLS])
        return ebi_fail(err, EB_ESPEC, "stable: p must be below cells=%llu, not %llu",
                        (unsigned long long)p->opt[EB_O_CELLS],
                        (unsigned long long)p->opt[O_P] / EB_MILLION);
    return EB_OK;
}

/* Loops */

EB_INLINE void stable_add(const eb_params *p, uint8_t *block, const eb_batch *b, uint8_t *seen,
                          unsigned k, bool far) {
    uint8_t *const cells = block + sizeof(eb_head) + STABLE_FIXED;
    const unsigned width = (unsigned)p->opt[O_WIDTH];
    const uint64_t m = p->opt[EB_O_CELLS], full = ebi_ones(width);
    eb_fading_state *const state = (eb_fading_state *)(void *)(block + sizeof(eb_head));
    const eb_fading fading =
        ebi_fading(cells, m, width, p->opt[O_DELETE], p->opt[O_P], state, &ebi_head(block)->rng);
    uint64_t pos[EB_BATCH * EB_K_MAX];
    if (far) {
        ebi_positions_far(cells, width, b->hash, b->n, k, m, 0, true, pos);
        ebi_fading_prefetch(&fading, b->n);
    }
    for (size_t i = 0; i < b->n; i++) {
        uint64_t *const at = far ? pos + i * k : pos;
        if (!far) ebi_positions(b->hash[i], k, m, 0, at);
        bool all = true;
        for (unsigned j = 0; j < k; j++) all &= ebi_cell_get(cells, width, at[j]) != 0;
        ebi_fading_arrival(&fading);
        for (unsigned j = 0; j < k; j++) ebi_cell_set(cells, width, at[j], full);
        seen[i] = all;
    }
}

EB_INLINE void stable_test(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                           uint8_t *seen, unsigned k, bool far) {
    const uint8_t *const cells = stable_cells(block);
    const unsigned width = (unsigned)p->opt[O_WIDTH];
    const uint64_t m = p->opt[EB_O_CELLS];
    uint64_t pos[EB_BATCH * EB_K_MAX];
    if (far) ebi_positions_far(cells, width, h, n, k, m, 0, false, pos);
    for (size_t i = 0; i < n; i++) {
        uint64_t *const at = far ? pos + i * k : pos;
        if (!far) ebi_positions(h[i], k, m, 0, at);
        unsigned j = 0;
        while (j < k && ebi_cell_get(cells, width, at[j]) != 0) j++;
        seen[i] = j == k;
    }
}

EB_LOOPS(stable)

/* The whole filter */

static eb_status stable_check(const eb_params *p, const uint8_t *block, eb_error *err) {
    const eb_fading_state *const state =
        (const eb_fading_state *)(const void *)(block + sizeof(eb_head));
    const uint64_t bits = p->opt[EB_O_CELLS] * p->opt[O_WIDTH];
    if (!ebi_fading_state_ok(state, p->opt[EB_O_CELLS]))
        return ebi_fail(err, EB_EFORMAT, "damaged stable filter: its sweep is out of range");
    if (!ebi_tail_is_zero(stable_cells(block), bits, p->span - sizeof(eb_head) - STABLE_FIXED))
        return ebi_fail(err, EB_EFORMAT, "damaged stable filter: bits are set after its last cell");
    return EB_OK;
}

static void stable_stat(const eb_params *p, const uint8_t *block, eb_stats *s) {
    s->cells = p->opt[EB_O_CELLS];
    s->cells_used = ebi_cells_used(stable_cells(block), (unsigned)p->opt[O_WIDTH], s->cells);
    s->fpr = pow((double)s->cells_used / (double)s->cells, (double)p->opt[O_K]);
}

static double stable_fpr_after(double items, const void *chain) {
    return ebi_chain_fpr(chain, items);
}

/* Every arrival sets its cells, so only the number of arrivals matters; repeats
 * that are near each other make the fill, and the rates, a little lower. */
static void stable_predict(const eb_params *p, const eb_workload *w, eb_prediction *out) {
    const ebi_chain c = stable_chain(p);
    const double items = w->items > 0 ? w->items : INFINITY;
    out->fill = 1 - ebi_chain_zero(&c, items);
    out->fpr = ebi_chain_fpr(&c, items);
    out->mean_fpr = isinf(items) ? out->fpr : ebi_mean(stable_fpr_after, &c, 0, items);
    if (w->gap > 0) out->fnr = out->mean_fnr = ebi_chain_fnr(&c, c.levels, w->gap, items);
    out->settles_after = ebi_chain_settles(&c, 0.001);
}

static bool stable_view(const eb_params *p, const uint8_t *block, eb_cells_view *v) {
    *v = (eb_cells_view){stable_cells(block), p->opt[EB_O_CELLS], 0, stable_k(p),
                         (uint32_t)p->opt[O_WIDTH]};
    return true;
}

const eb_kind ebi_kind_stable = {
    .info = {"stable", "the Stable Bloom filter: endless streams, recent duplicates",
             "Deng and Rafiei, Approximately detecting duplicates for streaming data, 2006",
             EB_FORGETS, stable_options},
    .version = 1,
    .resolve = stable_resolve,
    .select = stable_loops,
    .check = stable_check,
    .stat = stable_stat,
    .predict = stable_predict,
    .view = stable_view,
};
