/* merge.c - the filter of two streams, or of one with another counted several times, or without it.
 */
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
    if (capacity < UINT64_MAX) /* a part that is more than full is full */
        head->new_keys = ebi_min(ebi_plus(head->new_keys, fresh), capacity);
    else if (ebi_counts_new(into->kind)) /* nobody knows: so parts give the bytes of the whole */
        head->new_keys = EB_UNKNOWN;
}

/* New keys that the other one brings, if somebody counts them. */
static uint64_t merge_fresh(const eb_filter *into, const eb_filter *from, uint64_t i) {
    ebi_block_head head; /* a view may be at any address */
    if (!into->kind->growing || into->kind->growing->capacity(&into->p) == UINT64_MAX) return 0;
    memcpy(&head, ebi_shard(from, i), sizeof head);
    return into->kind->growing->fresh(ebi_shard(into, i), &from->p, ebi_shard(from, i),
                                      head.new_keys);
}

/* As many parts as the other one has, if both together keep what was promised. */
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

/* With a weight: where every counter is the sum of the counts of its keys, counters are merged as
 * counts are. */

bool ebi_merge_scales(const eb_filter *f) {
    ebi_counting c;
    if (!f->kind->counted) return false;
    f->kind->counted->counters(&f->p, f->block, &c);
    return c.linear && !ebi_is_sealed(f);
}

static uint64_t merge_times(uint64_t value, uint64_t times) {
    assert(times >= 1);
    uint64_t product;
    return ebi_mul(value, times, &product) ? ebi_min(product, EBI_COUNTER_MAX) : EBI_COUNTER_MAX;
}

enum { MERGE_WEIGHT_MAX = 1000 }; /* where counters join: each merge is a pass over all of them */

typedef struct merge_pair {
    ebi_counting into, from;
} merge_pair;

static merge_pair merge_open(const eb_filter *into, const eb_filter *from, uint64_t i) {
    assert(i < eb_shards(into));
    merge_pair m;
    into->kind->counted->counters(&into->p, ebi_shard(into, i), &m.into);
    from->kind->counted->counters(&from->p, ebi_shard(from, i), &m.from);
    return m;
}

/* Where counters join (store=wide), a word of them at a time, cut alike in both. */
static bool merge_words(const merge_pair *m, uint64_t i, uint64_t times, ebi_wide_word *x,
                        ebi_wide_word *y) {
    bool contained = true;
    ebi_counting_word(&m->into, i, x);
    ebi_counting_word(&m->from, i, y);
    ebi_counting_match(&m->into, x, y);
    for (unsigned cell = 0; cell < EBI_WIDE_CELLS; cell++) {
        if (times != 1) y->value[cell] = merge_times(y->value[cell], times);
        contained = contained && x->value[cell] >= y->value[cell];
    }
    return contained;
}

static void merge_subtract_words(const merge_pair *m, uint64_t times) {
    ebi_wide_word x, y;
    for (uint64_t i = 0; i < ebi_counting_words_of(&m->into); i++) {
        (void)merge_words(m, i, times, &x, &y);
        for (unsigned cell = 0; cell < EBI_WIDE_CELLS; cell++) {
            if (x.value[cell] >= EBI_COUNTER_MAX) continue;
            x.value[cell] -= y.value[cell];
            if (x.value[cell] == 0) x.level[cell] = 0;
        }
        ebi_wide_save(&m->into.counters, i, &x, true);
    }
}

static bool merge_contains(const merge_pair *m, uint64_t times) {
    if (*m->into.total < merge_times(*m->from.total, times)) return false;
    if (m->into.joins) {
        ebi_wide_word x, y;
        for (uint64_t i = 0; i < ebi_counting_words_of(&m->into); i++)
            if (!merge_words(m, i, times, &x, &y)) return false;
        return true;
    }
    for (uint64_t i = 0; i < m->into.n; i++)
        if (ebi_counting_get(&m->into, i) < merge_times(ebi_counting_get(&m->from, i), times))
            return false;
    return true;
}

static void merge_add(const merge_pair *m, uint64_t times) {
    if (m->into.joins) { /* a word may have to grow with each */
        for (; times > 0; times--) ebi_counting_merge(&m->into, &m->from);
        return;
    }
    for (uint64_t i = 0; i < m->into.n; i++) {
        const uint64_t more = merge_times(ebi_counting_get(&m->from, i), times);
        if (more > 0) (void)ebi_counting_raise(&m->into, i, more);
    }
    ebi_counting_raise_total(&m->into, merge_times(*m->from.total, times));
}

static void merge_subtract(const merge_pair *m, uint64_t times) {
    if (m->into.joins) merge_subtract_words(m, times);
    for (uint64_t i = 0; i < m->into.n && !m->into.joins; i++) {
        const uint64_t less = merge_times(ebi_counting_get(&m->from, i), times);
        if (less > 0) m->into.store->sub(&m->into.counters, i, less);
    }
    if (*m->into.total < EBI_COUNTER_MAX) *m->into.total -= merge_times(*m->from.total, times);
}

static eb_status merge_scaled(eb_filter *into, const eb_filter *from, int64_t weight,
                              eb_error *err) {
    const uint64_t times = weight < 0 ? -(uint64_t)weight : (uint64_t)weight;
    if (!(eb_caps(into) & EB_CAN_SCALE))
        return ebi_fail(err, EB_ENOTSUP,
                        "%s: only counters that are sums can be merged with a weight: use spectral "
                        "with update=plain",
                        into->kind->info.name);
    if (weight > MERGE_WEIGHT_MAX && merge_open(into, from, 0).into.joins)
        return ebi_fail(err, EB_ENOTSUP,
                        "with store=wide a weight must be at most %d: use store=u32",
                        MERGE_WEIGHT_MAX);
    for (uint64_t i = 0; weight < 0 && i < ebi_shards(into); i++) {
        const merge_pair m = merge_open(into, from, i);
        if (!ebi_counting_is_sums(&m.from))
            return ebi_fail(err, EB_ENOTSUP,
                            "keys were removed before the filter was frozen, so its counters are "
                            "only bounds: subtract before freezing");
        if (!merge_contains(&m, times))
            return ebi_fail(err, EB_EVALUE,
                            "cannot subtract a stream that is not part of the other");
    }
    for (uint64_t i = 0; i < ebi_shards(into); i++) {
        const merge_pair m = merge_open(into, from, i);
        if (weight < 0)
            merge_subtract(&m, times);
        else if (weight > 0) {
            merge_add(&m, times);
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
