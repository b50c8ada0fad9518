/* merge.c - merging: makes a filter answer as if it had also seen the keys of another one, adds
 * another filter's counts several times, or subtracts them. */
#include "filter.h"
#include "filter/counting/counting.h"

static void merge_shard(eb_filter *into, const eb_filter *from, uint64_t i) {
    assert(i < eb_shards(into));
    uint8_t *const a = ebi_shard(into, i), *const b = ebi_shard(from, i);
    into->kind->merge(&into->p, a, &from->p, b);
}

static void merge_head(eb_filter *into, const eb_filter *from, uint64_t i, uint64_t times,
                       uint64_t fresh) {
    assert(i < eb_shards(into));
    ebi_block_head *const head = ebi_head(ebi_shard(into, i));
    ebi_block_head other; /* a view may be at any address */
    uint64_t more;
    memcpy(&other, ebi_shard(from, i), sizeof other);
    if (!ebi_mul(other.items, times, &more)) more = UINT64_MAX;
    head->items = ebi_plus(head->items, more);
    if (ebi_uses_time(into->kind, &into->p))
        head->clock = ebi_max(head->clock, other.clock);
    else
        head->clock = head->items;
    const uint64_t capacity =
        into->kind->growing ? into->kind->growing->capacity(&into->p) : UINT64_MAX;
    if (capacity < UINT64_MAX) /* a part with too many keys is full */
        head->new_keys = ebi_min(ebi_plus(head->new_keys, fresh), capacity);
    else if (ebi_counts_new(into->kind)) /* unknown; so parts give the bytes of the whole */
        head->new_keys = EB_UNKNOWN;
}

/* How many new keys the other filter brings, if keys are counted. */
static uint64_t merge_fresh(const eb_filter *into, const eb_filter *from, uint64_t i) {
    ebi_block_head head; /* a view may be at any address */
    if (!into->kind->growing || into->kind->growing->capacity(&into->p) == UINT64_MAX) return 0;
    memcpy(&head, ebi_shard(from, i), sizeof head);
    return into->kind->growing->fresh(ebi_shard(into, i), &from->p, ebi_shard(from, i),
                                      head.new_keys);
}

/* Adds as many parts as the other filter has, if the two together keep the guarantees. */
static eb_status merge_make_room(eb_filter *into, const eb_filter *from, eb_error *err) {
    const ebi_growing *const g = into->kind->growing;
    const uint32_t parts = g->parts(&from->p);
    if (!g->may_merge(&into->p, into->block, &from->p, from->block))
        return ebi_fail(err, EB_EFULL,
                        "the union would have more false positives than promised: full parts can "
                        "only be merged if they hold mostly the same keys");
    return parts > g->parts(&into->p) ? ebi_set_parts(into, parts, err) : EB_OK;
}

static eb_status merge_can(const eb_filter *into, const eb_filter *from, eb_error *err) {
    char a[EB_SPEC_MAX], b[EB_SPEC_MAX];
    (void)ebi_spec_thawed(into, a, sizeof a);
    (void)ebi_spec_thawed(from, b, sizeof b);
    if (into->flags & EBI_FLAG_VIEW)
        return ebi_fail(err, EB_EREADONLY, "cannot merge into a read-only view");
    if (ebi_is_frozen(into))
        return ebi_fail(err, EB_EREADONLY, "cannot merge into a frozen filter: thaw it first");
    if (ebi_is_sealed(into) || ebi_is_sealed(from))
        return ebi_fail(err, EB_EREADONLY,
                        "cannot merge the result of an operation: its counters are not sums");
    if (strcmp(a, b) != 0)
        return ebi_fail(err, EB_EMISMATCH, "filters differ: %.220s and %.220s", a, b);
    for (uint64_t i = 0; into->kind->classed && i < ebi_shards(into); i++)
        if (!into->kind->classed->same_list(&into->p, ebi_shard(into, i), ebi_shard(from, i)))
            return ebi_fail(err, EB_EMISMATCH, "filters with different classes of hot keys");
    if (eb_caps(into) & EB_CAN_MERGE) return EB_OK;
    return ebi_fail(err, EB_ENOTSUP, "%s filters%s cannot be merged", into->kind->info.name,
                    into->kind->info.caps & EB_CAN_MERGE ? " with these options" : "");
}

/* Merging with a weight: if every counter is the sum of its keys' counts, counters are merged like
 * counts. */

static ebi_counting merge_open(const eb_filter *f, uint64_t shard) {
    ebi_counting c;
    f->kind->counted->counters(&f->p, ebi_shard(f, shard), &c);
    return c;
}

bool ebi_merge_scales(const eb_filter *f) {
    return f->kind->counted && merge_open(f, 0).linear && !ebi_is_sealed(f);
}

static eb_status merge_scaled(eb_filter *into, const eb_filter *from, int64_t weight,
                              eb_error *err) {
    const uint64_t times = weight < 0 ? -(uint64_t)weight : (uint64_t)weight;
    if (!(eb_caps(into) & EB_CAN_SCALE))
        return ebi_fail(err, EB_ENOTSUP,
                        "%s: only counters that are sums can be merged with a weight: use spectral "
                        "with update=plain",
                        into->kind->info.name);
    for (uint64_t i = 0; weight < 0 && i < ebi_shards(into); i++) {
        const ebi_counting all = merge_open(into, i), part = merge_open(from, i);
        if (!ebi_counting_is_sums(&part))
            return ebi_fail(err, EB_ENOTSUP,
                            "keys were removed before the filter was frozen, so its counters are "
                            "only bounds: subtract before freezing");
        if (!ebi_counting_contains(&all, &part, times))
            return ebi_fail(err, EB_EVALUE,
                            "cannot subtract a stream that is not part of the other");
    }
    for (uint64_t i = 0; weight != 0 && i < ebi_shards(into); i++) {
        const ebi_counting all = merge_open(into, i), part = merge_open(from, i);
        if (weight < 0) {
            ebi_counting_subtract(&all, &part, times);
        } else {
            ebi_counting_merge(&all, &part, times);
            merge_head(into, from, i, times, 0);
        }
    }
    return EB_OK;
}

eb_status eb_merge(eb_filter *into, const eb_filter *from, int64_t weight, eb_error *err) {
    EBI_TRY(merge_can(into, from, err));
    if (weight != 1) return merge_scaled(into, from, weight, err);
    if (into->kind->growing) EBI_TRY(merge_make_room(into, from, err));
    for (uint64_t i = 0; i < ebi_shards(into); i++) {
        const uint64_t fresh = merge_fresh(into, from, i);
        merge_shard(into, from, i);
        merge_head(into, from, i, 1, fresh);
    }
    return EB_OK;
}
