/* panes.c - a window that slides over a stream: a ring of filters, one for each pane,
 * and one for all of them.
 *
 * A key goes to the newest pane and to the whole.  When the window moves on, the oldest
 * pane is subtracted from the whole, which is exact where counters are sums, and becomes
 * the newest, empty.  Where a counter found no room, in a pane or in the whole, that is
 * not so: then the whole is added up again from the panes. */
#include "query.h"

struct eb_panes {
    eb_filter *whole;
    eb_allocator mem;
    size_t n, newest;
    eb_filter *pane[];
};

static size_t panes_size(size_t n) {
    return sizeof(eb_panes) + n * sizeof(eb_filter *);
}

/* Sums, which can be merged and subtracted. */
static eb_status panes_can(const eb_filter *f, eb_error *err) {
    EBI_TRY(ebi_query_linear(f, err));
    if (eb_caps(f) & EB_CAN_MERGE) return EB_OK;
    return ebi_fail(err, EB_ENOTSUP,
                    "second counters cannot be subtracted: use update=plain or method=rmx");
}

static eb_status panes_fill(eb_panes *w, const char *spec, size_t panes, eb_error *err) {
    EBI_TRY(eb_new(&w->whole, spec, &w->mem, err));
    EBI_TRY(panes_can(w->whole, err));
    for (; w->n < panes; w->n++) EBI_TRY(eb_new(&w->pane[w->n], spec, &w->mem, err));
    return EB_OK;
}

eb_status eb_panes_new(eb_panes **out, const char *spec, size_t panes, const eb_allocator *mem,
                       eb_error *err) {
    if (panes < 1 || panes > EB_PANES_MAX)
        return ebi_fail(err, EB_EINVAL, "panes must be 1..%d, not %zu", EB_PANES_MAX, panes);
    eb_allocator from;
    EBI_TRY(ebi_allocator(&from, mem, err));
    eb_panes *const w = ebi_alloc(&from, panes_size(panes));
    if (!w) return ebi_fail(err, EB_ENOMEM, "no memory for a handle");
    *w = (eb_panes){.mem = from};
    const eb_status status = panes_fill(w, spec, panes, err);
    if (status == EB_OK) {
        *out = w;
        return EB_OK;
    }
    for (size_t i = 0; i < w->n; i++) eb_free(w->pane[i]);
    eb_free(w->whole);
    ebi_release(&from, w, panes_size(panes));
    return status;
}

void eb_panes_free(eb_panes *w) {
    if (!w) return;
    const eb_allocator mem = w->mem;
    for (size_t i = 0; i < w->n; i++) eb_free(w->pane[i]);
    eb_free(w->whole);
    ebi_release(&mem, w, panes_size(w->n));
}

eb_status eb_panes_add(eb_panes *w, const eb_batch *b, eb_error *err) {
    EBI_CHECK_SIZE(b, eb_batch, err);
    const eb_batch pane = ebi_batch_part(b, 0, b->n);
    EBI_TRY(ebi_may_add(w->whole, b, err));
    EBI_TRY(eb_add_batch(w->pane[w->newest], &pane, err));
    return eb_add_batch(w->whole, b, err); /* the same spec: it takes what the pane took */
}

static bool panes_saturated(const eb_filter *f) {
    uint64_t saturated = 0;
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        const ebi_counting c = ebi_query_open(f, i);
        saturated += ebi_counting_saturated(&c);
    }
    return saturated > 0;
}

void eb_panes_turn(eb_panes *w) {
    const size_t oldest = (w->newest + 1) % w->n;
    const bool exact =
        !panes_saturated(w->whole) && eb_merge(w->whole, w->pane[oldest], -1, NULL) == EB_OK;
    (void)eb_clear(w->pane[oldest], NULL);
    w->newest = oldest;
    if (exact) return;
    (void)eb_clear(w->whole, NULL);
    for (size_t i = 0; i < w->n; i++) (void)eb_merge(w->whole, w->pane[i], 1, NULL);
}

const eb_filter *eb_panes_whole(const eb_panes *w) {
    return w->whole;
}

const eb_filter *eb_panes_pane(const eb_panes *w, size_t age) {
    assert(w != NULL);
    return age < w->n ? w->pane[(w->newest + w->n - age) % w->n] : NULL;
}
