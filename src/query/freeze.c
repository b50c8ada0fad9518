/* freeze.c - freezing makes a counting filter as small as possible, and read-only; thawing makes it
 * take keys again.
 *
 * A shard is | head and state | first counters | second counters, or none | the rest |. Both
 * operations write the first counters again, one by one, into another store.  Everything else is
 * copied. */
#include "query.h"

static uint8_t *freeze_segment(const ebi_counting *c) {
    return (uint8_t *)c->counters.state;
}

static void freeze_counters(const ebi_counting *from, const ebi_counting *into) {
    assert(from->n == into->n);
    const ebi_source source = {from->store, &from->counters};
    if (into->store->freeze) {
        into->store->freeze(&into->counters, &source);
        return;
    }
    for (uint64_t i = 0; i < ebi_counting_words_of(into); i++) {
        ebi_wide_word w;
        ebi_counting_word(from, i, &w);
        ebi_counting_put(into, i, NULL, &w);
    }
}

static void freeze_copy_shard(const eb_filter *from, eb_filter *into, uint64_t shard) {
    const uint8_t *const a = ebi_shard(from, shard);
    uint8_t *const b = ebi_shard(into, shard);
    ebi_counting x = ebi_query_open(from, shard), y = ebi_query_open(into, shard);
    memcpy(b, a, (size_t)(freeze_segment(&x) - a));
    freeze_counters(&x, &y);
    const uint8_t *rest = freeze_segment(&x) + x.bytes;
    uint8_t *to = freeze_segment(&y) + y.bytes;
    if (from->kind->counted->second && from->kind->counted->second(&from->p, a, &x)) {
        (void)into->kind->counted->second(&into->p, b, &y);
        freeze_counters(&x, &y);
        rest += x.bytes;
        to += y.bytes;
    }
    memcpy(to, rest, (size_t)(a + from->p.span - rest));
}

/* Whether all counters are equal.  Counters that found no room are too large. */
static bool freeze_equal(const ebi_counting *a, const ebi_counting *b) {
    assert(a->n == b->n);
    for (uint64_t i = 0; i < a->n; i++)
        if (ebi_counting_get(a, i) != ebi_counting_get(b, i)) return false;
    return true;
}

static bool freeze_same_counters(const eb_filter *f, const eb_filter *g) {
    for (uint64_t shard = 0; shard < ebi_shards(f); shard++) {
        ebi_counting a = ebi_query_open(f, shard), b = ebi_query_open(g, shard);
        if (!freeze_equal(&a, &b)) return false;
        if (!f->kind->counted->second || !f->kind->counted->second(&f->p, ebi_shard(f, shard), &a))
            continue;
        (void)g->kind->counted->second(&g->p, ebi_shard(g, shard), &b);
        if (!freeze_equal(&a, &b)) return false;
    }
    return true;
}

eb_status ebi_freeze(eb_filter **out, const eb_filter *f, const eb_allocator *mem, eb_error *err) {
    ebi_params change = {.opt = {[EBI_C_FROZEN] = 1}};
    const ebi_args given = {.given = {[EBI_C_FROZEN] = true, [EBI_C_ROOM] = true}};
    eb_filter *frozen;
    uint64_t *const room = &change.opt[EBI_C_ROOM];
    EBI_TRY(ebi_query_counts(f, err));
    for (uint64_t shard = 0; shard < ebi_shards(f); shard++) {
        const ebi_counting c = ebi_query_open(f, shard);
        *room =
            ebi_max(*room, ebi_frozen_line()->frozen_bytes(&(ebi_source){c.store, &c.counters}));
    }
    EBI_TRY(ebi_query_new(&frozen, f, &change, &given, mem, err));
    for (uint64_t shard = 0; shard < ebi_shards(f); shard++) freeze_copy_shard(f, frozen, shard);
    *out = frozen;
    return EB_OK;
}

eb_status ebi_thaw(eb_filter **out, const eb_filter *f, const ebi_params *change,
                   const ebi_args *given, const eb_allocator *mem, eb_error *err) {
    eb_filter *thawed;
    EBI_TRY(ebi_query_counts(f, err));
    if (!ebi_is_frozen(f)) return ebi_fail(err, EB_EINVAL, "the filter is not frozen");
    EBI_TRY(ebi_query_new(&thawed, f, change, given, mem, err));
    for (uint64_t shard = 0; shard < ebi_shards(f); shard++) freeze_copy_shard(f, thawed, shard);
    if (freeze_same_counters(f, thawed)) {
        *out = thawed;
        return EB_OK;
    }
    eb_free(thawed);
    return ebi_fail(err, EB_EINVAL, "the counters do not fit: use more counter_bits");
}

eb_status eb_lengths_of(const eb_filter *f, eb_lengths *out, eb_error *err) {
    EBI_CHECK_SIZE(out, eb_lengths, err);
    eb_lengths full = {.size = sizeof full};
    uint64_t bytes = 0, counters = 0;
    EBI_TRY(ebi_query_counts(f, err));
    for (uint64_t shard = 0; shard < ebi_shards(f); shard++) {
        const ebi_counting c = ebi_query_open(f, shard);
        bytes += c.bytes;
        counters += c.n;
        for (uint64_t i = 0; i < c.n; i++) {
            const uint64_t value = ebi_counting_get(&c, i);
            full.counters[value == 0 ? 0 : ebi_log2(value) + 1]++;
        }
    }
    full.bits = 8 * (double)bytes / (double)counters;
    full.frozen = ebi_is_frozen(f);
    *out = full;
    return EB_OK;
}
