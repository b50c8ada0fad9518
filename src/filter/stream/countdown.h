/* countdown.h - what stable and importance share: cells that arrivals set and that count down to
 * zero.  A key is remembered as long as all its cells are above zero.
 *
 *       | head | fading state, 64 bytes | m cells of `width` bits |
 *
 * For each arrival the filter looks at the key's k cells (seen if none is zero), forgets something,
 * and sets the key's cells.  How it forgets and sets differs between the kinds.  The k cells are in
 * one common array, and two of them may be the same. */
#ifndef EBI_COUNTDOWN_H
#define EBI_COUNTDOWN_H
#include "cells/fading.h"
#include "filter/loops.h"
#include "math/probability.h"

/* The first options of both kinds, in this order. */
enum {
    COUNTDOWN_O_K = EBI_O_OWN,
    COUNTDOWN_O_WIDTH,
    COUNTDOWN_O_P,
    COUNTDOWN_O_DELETE,
    COUNTDOWN_O_FPR,
    COUNTDOWN_O_END
};
#define COUNTDOWN_OPTIONS(default_width, default_delete)                                            \
    EBI_COMMON_OPTIONS, {"k", "int", NULL, "1", "32", "cells for each key", false},                 \
        {"width", "int", default_width, "1", "8", "bits of a cell", false},                         \
        {"fade", "fixed", NULL, "0.000001", "1000000", "cells that lose 1 at each arrival", false}, \
        {"delete",       EBI_FADE_CHOICES,                                                          \
         default_delete, NULL,                                                                      \
         NULL,           "which cells: in turn, a run, or random ones",                             \
         false},                                                                                    \
    {                                                                                               \
        "fpr", "real", "0.001", "1e-9", "0.9", "wanted false-positive rate; sets k and fade", true  \
    }

enum { COUNTDOWN_FIXED = sizeof(ebi_fading_state) };

typedef struct ebi_countdown { /* one shard's block, opened */
    const ebi_params *p;
    uint8_t *cells;
    unsigned width;
    ebi_fading_state *state;
    ebi_fading_cells fading;
} ebi_countdown;

typedef void ebi_countdown_forget(const ebi_countdown *c);
typedef void ebi_countdown_place(const ebi_countdown *c, const ebi_batch *b, size_t i,
                                 const uint64_t *at, unsigned k);

EBI_INLINE unsigned ebi_countdown_k(const ebi_params *p) {
    return (unsigned)p->opt[COUNTDOWN_O_K];
}

EBI_INLINE uint64_t ebi_countdown_top(const ebi_params *p) { /* the largest value of a cell */
    return ebi_ones((unsigned)p->opt[COUNTDOWN_O_WIDTH]);
}

EBI_INLINE ebi_countdown ebi_countdown_open(const ebi_params *p, uint8_t *block) {
    ebi_countdown c = {.p = p, .width = (unsigned)p->opt[COUNTDOWN_O_WIDTH]};
    c.state = (ebi_fading_state *)(void *)(block + sizeof(ebi_block_head));
    c.cells = block + sizeof(ebi_block_head) + COUNTDOWN_FIXED;
    c.fading = ebi_fading(c.cells, p->opt[EBI_O_CELLS], c.width, p->opt[COUNTDOWN_O_DELETE],
                          p->opt[COUNTDOWN_O_P], c.state, &ebi_head(block)->rng);
    return c;
}

EBI_INLINE const uint8_t *ebi_countdown_cells(const uint8_t *block) {
    return block + sizeof(ebi_block_head) + COUNTDOWN_FIXED;
}

enum { COUNTDOWN_FORGET_AHEAD = 12 }; /* arrivals */

EBI_INLINE void ebi_countdown_add(const ebi_params *p, uint8_t *block, const ebi_batch *b,
                                  uint8_t *seen, unsigned k, bool far, ebi_countdown_forget *forget,
                                  ebi_countdown_place *place) {
    assert(b->n <= EBI_BATCH);
    const ebi_countdown c = ebi_countdown_open(p, block);
    ebi_fetch fetch;
    ebi_fetch_open(&fetch, c.cells, c.width, p->opt[EBI_O_CELLS], 0, b->hash, b->n, true);
    uint64_t rng_ahead = *c.fading.rng;
    ebi_fetch_begin(&fetch, k, far);
    for (size_t i = 0; far && i < COUNTDOWN_FORGET_AHEAD; i++)
        ebi_fading_peek(&c.fading, &rng_ahead);
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t *const at = ebi_fetch_key(&fetch, i, k, far);
        if (far) ebi_fading_peek(&c.fading, &rng_ahead);
        bool all = true;
        for (unsigned j = 0; j < k; j++) all &= ebi_cell_get(c.cells, c.width, at[j]) != 0;
        forget(&c);
        place(&c, b, i, at, k);
        seen[i] = all;
    }
}

EBI_INLINE void ebi_countdown_test(const ebi_params *p, const uint8_t *block, const eb_hash *h,
                                   size_t n, uint8_t *seen, unsigned k, bool far) {
    assert(n <= EBI_BATCH);
    const uint8_t *const cells = ebi_countdown_cells(block);
    const unsigned width = (unsigned)p->opt[COUNTDOWN_O_WIDTH];
    ebi_fetch fetch;
    ebi_fetch_open(&fetch, cells, width, p->opt[EBI_O_CELLS], 0, h, n, false);
    ebi_fetch_begin(&fetch, k, far);
    for (size_t i = 0; i < n; i++) {
        const uint64_t *const at = ebi_fetch_key(&fetch, i, k, far);
        unsigned j = 0;
        while (j < k && ebi_cell_get(cells, width, at[j]) != 0) j++;
        seen[i] = j == k;
    }
}

/* Checks options against each other, and resolves the number of cells, and fade= for the wanted FPR
 * of the chain that the kind describes (its deletes are not read). */
typedef void ebi_countdown_chain(const ebi_params *p, ebi_chain *c);
eb_status ebi_countdown_resolve(ebi_params *p, const ebi_args *a, const char *kind,
                                ebi_countdown_chain *chain, eb_error *err);

eb_status ebi_countdown_check(const ebi_params *p, const uint8_t *block, bool counts_used,
                              eb_error *err);
void ebi_countdown_stat(const ebi_params *p, const uint8_t *block, eb_stats *s);
/* Everything except the false negatives. */
void ebi_countdown_predict(const ebi_chain *c, const eb_workload *w, eb_prediction *out);
bool ebi_countdown_view(const ebi_params *p, const uint8_t *block, eb_cells_view *v);
#endif
