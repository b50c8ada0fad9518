/* countdown.c - parameters, checks and predictions of filters whose cells count down to zero:
 * stable and importance. */
#include "countdown.h"
#include <math.h>

static eb_status countdown_solve_p(ebi_params *p, double fpr, const char *kind,
                                   ebi_countdown_chain *chain, eb_error *err) {
    assert(fpr > 0 && fpr < 1);
    ebi_chain c;
    chain(p, &c);
    const double deletes = ebi_chain_deletes_for(&c, fpr);
    if (deletes > (double)p->opt[EBI_O_CELLS] / 2 || deletes > EBI_MILLION)
        return ebi_fail(err, EB_ESPEC, "%s: fpr=%g is out of reach with %llu cells and k=%llu",
                        kind, fpr, (unsigned long long)p->opt[EBI_O_CELLS],
                        (unsigned long long)p->opt[COUNTDOWN_O_K]);
    p->opt[COUNTDOWN_O_P] = (uint64_t)ceil(deletes * EBI_MILLION);
    return EB_OK;
}

eb_status ebi_countdown_resolve(ebi_params *p, const ebi_args *a, const char *kind,
                                ebi_countdown_chain *chain, eb_error *err) {
    if (a->given[COUNTDOWN_O_P] && a->given[COUNTDOWN_O_FPR])
        return ebi_fail(err, EB_ESPEC, "%s: give fade or fpr, not both", kind);
    if (a->given[COUNTDOWN_O_P] && !a->given[COUNTDOWN_O_K])
        return ebi_fail(err, EB_ESPEC, "%s: fade needs k; or give fpr instead of both", kind);
    if (!a->given[COUNTDOWN_O_K]) /* half of the cells are zero: the best use of memory */
        p->opt[COUNTDOWN_O_K] =
            ebi_max(1, ebi_min(30, (uint64_t)round(-log2(a->real[COUNTDOWN_O_FPR]))));
    EBI_TRY(
        ebi_size_cells(p, a, kind, (unsigned)p->opt[COUNTDOWN_O_WIDTH], 1, COUNTDOWN_FIXED, err));
    if (!a->given[COUNTDOWN_O_P])
        EBI_TRY(countdown_solve_p(p, a->real[COUNTDOWN_O_FPR], kind, chain, err));
    if (p->opt[COUNTDOWN_O_P] / EBI_MILLION >= p->opt[EBI_O_CELLS])
        return ebi_fail(err, EB_ESPEC, "%s: fade must be below cells=%llu, not %llu", kind,
                        (unsigned long long)p->opt[EBI_O_CELLS],
                        (unsigned long long)p->opt[COUNTDOWN_O_P] / EBI_MILLION);
    return EB_OK;
}

static uint64_t countdown_used(const ebi_params *p, const uint8_t *block) {
    return ebi_cells_used(ebi_countdown_cells(block), (unsigned)p->opt[COUNTDOWN_O_WIDTH],
                          p->opt[EBI_O_CELLS]);
}

eb_status ebi_countdown_check(const ebi_params *p, const uint8_t *block, bool counts_used,
                              eb_error *err) {
    const ebi_fading_state *const state =
        (const ebi_fading_state *)(const void *)(block + sizeof(ebi_block_head));
    const uint64_t bits = p->opt[EBI_O_CELLS] * p->opt[COUNTDOWN_O_WIDTH];
    const uint64_t used = counts_used ? countdown_used(p, block) : 0;
    if (!ebi_fading_state_ok(state, p->opt[EBI_O_CELLS], used))
        return ebi_fail(err, EB_EFORMAT, "damaged filter: the state of its sweep is out of range");
    if (!ebi_tail_is_zero(ebi_countdown_cells(block), bits,
                          p->span - sizeof(ebi_block_head) - COUNTDOWN_FIXED))
        return ebi_fail(err, EB_EFORMAT, "damaged filter: bits are set after its last cell");
    return EB_OK;
}

void ebi_countdown_stat(const ebi_params *p, const uint8_t *block, eb_stats *s) {
    s->cells = p->opt[EBI_O_CELLS];
    s->cells_used = countdown_used(p, block);
    s->fpr = pow((double)s->cells_used / (double)s->cells, (double)p->opt[COUNTDOWN_O_K]);
}

/* Every arrival sets its cells, so only the number of arrivals matters.  Repeats near each other
 * make the fill and the rates a little lower. */
void ebi_countdown_predict(const ebi_chain *c, const eb_workload *w, eb_prediction *out) {
    const double items = w->items > 0 ? w->items : INFINITY;
    if (ebi_asks_misses(out)) return;
    out->fill = 1 - ebi_chain_zero(c, items);
    out->fpr = ebi_chain_fpr(c, items);
    out->mean_fpr = isinf(items) ? out->fpr : ebi_chain_mean_fpr(c, items);
    if (ebi_asks_rates(out)) out->settles_after = ebi_chain_settles(c, 0.001);
    if (w->zipf > 0 || w->gap > 0 || w->distinct > 0) { /* repeats set the same cells */
        out->fpr_low = 0;
        out->fpr_high = fmin(1, 1.1 * out->mean_fpr);
    }
    if (w->gap > 0 && w->distinct > 0) out->accuracy = 0.1;
}

bool ebi_countdown_view(const ebi_params *p, const uint8_t *block, eb_cells_view *v) {
    *v = (eb_cells_view){ebi_countdown_cells(block), p->opt[EBI_O_CELLS], 0, ebi_countdown_k(p),
                         (uint32_t)p->opt[COUNTDOWN_O_WIDTH]};
    return true;
}
