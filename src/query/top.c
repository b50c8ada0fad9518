/* top.c - eb_top: the keys that occur most often, from a filter that keeps keys.
 *
 * The caller's array is a heap with the least of the best keys at the top, so nothing is allocated.
 * At the end it is sorted in place. */
#include "query.h"

/* Whether a comes after b in the list. */
static bool top_after(const eb_top_key *a, const eb_top_key *b) {
    if (a->count != b->count) return a->count < b->count;
    const size_t n = a->key.len < b->key.len ? a->key.len : b->key.len;
    const int order = n == 0 ? 0 : memcmp(a->key.p, b->key.p, n);
    return order == 0 ? a->key.len > b->key.len : order > 0;
}

/* keys[0..n) is a heap, except that its first element may have to sink. */
static void top_sink(eb_top_key *keys, size_t n, size_t at) {
    assert(at < n);
    const eb_top_key moved = keys[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && top_after(&keys[child + 1], &keys[child])) child++;
        if (!top_after(&keys[child], &moved)) break;
        keys[at] = keys[child];
    }
    keys[at] = moved;
}

static void top_rise(eb_top_key *keys, size_t at) {
    const eb_top_key moved = keys[at];
    for (; at > 0 && top_after(&moved, &keys[(at - 1) / 2]); at = (at - 1) / 2)
        keys[at] = keys[(at - 1) / 2];
    keys[at] = moved;
}

static void top_take(eb_top_list *list, const ebi_kept *kept) {
    assert(list->n <= list->cap);
    const eb_top_key key = {kept->key, kept->count, kept->lower, kept->cut, 0};
    if (kept->count < list->at_least) return;
    list->matching++;
    if (list->n < list->cap) {
        list->keys[list->n] = key;
        top_rise(list->keys, list->n++);
    } else if (list->cap > 0 && top_after(&list->keys[0], &key)) {
        list->keys[0] = key;
        top_sink(list->keys, list->n, 0);
    }
}

static void top_sort(eb_top_key *keys, size_t n) {
    while (n > 1) {
        const eb_top_key last = keys[0];
        keys[0] = keys[--n];
        keys[n] = last;
        top_sink(keys, n, 0);
    }
}

static eb_status top_moment(const eb_filter *f, const eb_top_list *list, uint64_t *time,
                            eb_error *err) {
    uint64_t now = 0;
    for (uint64_t i = 0; i < ebi_shards(f); i++)
        now = ebi_max(now, ebi_head_of(ebi_shard(f, i))->clock);
    *time = list->time ? *list->time : now;
    if (*time >= now || !(eb_caps(f) & EB_USES_TIME)) return EB_OK;
    return ebi_fail(err, EB_ETIME, "time %llu is before the clock, %llu", (unsigned long long)*time,
                    (unsigned long long)now);
}

eb_status eb_top(const eb_filter *f, eb_top_list *list, eb_error *err) {
    EBI_CHECK_SIZE(list, eb_top_list, err);
    const ebi_keeping *const keeping = f->kind->keeping;
    uint64_t time;
    if (!keeping)
        return ebi_fail(err, EB_ENOTSUP, "%s filters keep no keys: use top", f->kind->info.name);
    if (list->cap > 0 && !list->keys)
        return ebi_fail(err, EB_EINVAL, "a list of up to %zu keys has no room for them", list->cap);
    EBI_TRY(top_moment(f, list, &time, err));
    list->n = list->matching = 0;
    list->watermark = list->total = 0;
    list->first = EB_UNKNOWN;
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        const uint8_t *const block = ebi_shard(f, i);
        ebi_kept_sums sums;
        keeping->sums(&f->p, block, time, &sums);
        ebi_kept kept;
        for (uint64_t at = 0; keeping->next(&f->p, block, time, &at, &kept);) top_take(list, &kept);
        if (sums.watermark > list->watermark) list->watermark = sums.watermark;
        list->total += sums.total;
        list->first = ebi_min(list->first, sums.first);
    }
    top_sort(list->keys, list->n);
    return EB_OK;
}
