/* trigger.c - keys named the moment their count reaches T, once each.
 *
 * A key is named when its count, asked for right after it was added, is T or more and
 * it is not in the exact set of the keys that were named.  The count is never too
 * low, so no key gets to T unnamed; others may be named too early.  (Comparing the
 * counts before and after would miss keys that other keys lifted over T, and a Bloom
 * filter of named keys would miss those that it takes for named.) */
#include "keyset.h"
#include "query.h"

struct eb_trigger {
    eb_allocator mem;
    eb_filter *f;
    ebi_keyset named;
    double at_least;
};

eb_status eb_trigger_new(eb_trigger **out, eb_filter *f, double at_least, size_t memory,
                         const eb_allocator *mem, eb_error *err) {
    EBI_TRY(ebi_query_never_low(f, err));
    if (!(at_least >= 1 && at_least <= (double)EBI_COUNTER_MAX))
        return ebi_fail(err, EB_EINVAL, "a trigger's count must be 1..2^48-1, not %g", at_least);
    eb_allocator from;
    EBI_TRY(ebi_allocator(&from, mem, err));
    eb_trigger *const t = ebi_alloc(&from, sizeof *t);
    if (!t) return ebi_fail(err, EB_ENOMEM, "no memory for a trigger");
    *t = (eb_trigger){.mem = from, .f = f, .at_least = at_least};
    const eb_status status = ebi_keyset_open(&t->named, memory, mem, err);
    if (status != EB_OK) {
        eb_trigger_free(t);
        return status;
    }
    *out = t;
    return EB_OK;
}

void eb_trigger_free(eb_trigger *t) {
    if (!t) return;
    const eb_allocator mem = t->mem;
    ebi_keyset_close(&t->named);
    ebi_release(&mem, t, sizeof *t);
}

eb_status eb_trigger_add(eb_trigger *t, const eb_key *keys, const eb_batch *b, double *fired) {
    if (!ebi_keyset_has_room(&t->named, keys, b->n)) return EB_ENOMEM;
    eb_batch all = *b;
    all.count = fired;
    EBI_TRY(eb_add_batch(t->f, &all, NULL));
    for (size_t i = 0; i < b->n; i++) {
        const bool known =
            fired[i] < t->at_least || ebi_keyset_find(&t->named, b->hash[i], keys[i]) != NULL;
        if (known)
            fired[i] = 0;
        else
            (void)ebi_keyset_put(&t->named, b->hash[i], keys[i], 0);
    }
    return EB_OK;
}
