/* algebra.c - difference, product, maximum, minimum and folding of filters.
 *
 * Where every counter is the sum of its keys' counts, differences of counters are
 * those of the difference.  Product, maximum and minimum need less: each counter
 * of a key is at least its count, so combined counters are at least the combined
 * counts, and so is their minimum.  A position in a part of w counters is
 * floor(x w / 2^64); in one of w/2 it is half of that, rounded down, so folding
 * adds neighbours. */
#include "query.h"
#include <stdio.h>

eb_status eb_subtract(eb_filter *from, const eb_filter *what, eb_error *err) {
    EB_TRY(ebi_query_equal(from, what, err));
    EB_TRY(ebi_query_linear(from, err));
    EB_TRY(ebi_query_linear(what, err));
    if (from->flags & EB_FLAG_VIEW) return ebi_fail(err, EB_EREADONLY, "a view cannot be changed");
    if (ebi_is_frozen(from))
        return ebi_fail(err, EB_EREADONLY, "a frozen filter cannot be changed: thaw it first");
    if (!(eb_caps(from) & EB_CAN_MERGE))
        return ebi_fail(err, EB_ENOTSUP,
                        "second counters cannot be subtracted: use policy=ms or policy=rmx");
    for (uint64_t shard = 0; shard < ebi_shards(from); shard++) {
        const eb_counting a = ebi_query_open(from, shard), b = ebi_query_open(what, shard);
        bool contained = *a.total >= *b.total;
        for (uint64_t i = 0; i < a.n && contained; i++)
            contained = ebi_counting_get(&a, i) >= ebi_counting_get(&b, i);
        if (!contained)
            return ebi_fail(err, EB_EINVAL,
                            "cannot subtract a stream that is not part of the other");
    }
    for (uint64_t shard = 0; shard < ebi_shards(from); shard++) {
        const eb_counting a = ebi_query_open(from, shard), b = ebi_query_open(what, shard);
        for (uint64_t i = 0; i < a.n; i++) {
            const uint64_t less = ebi_counting_get(&b, i);
            if (less > 0) a.store->sub(&a.counters, i, less);
        }
        if (*a.total < EB_COUNTER_MAX) *a.total -= *b.total;
    }
    return EB_OK;
}

static uint64_t algebra_product(uint64_t a, uint64_t b) {
    uint64_t product;
    return ebi_mul(a, b, &product) ? ebi_min(product, EB_COUNTER_MAX) : EB_COUNTER_MAX;
}

static uint64_t algebra_combined(uint64_t a, uint64_t b, eb_combination how) {
    return how == EB_PRODUCT   ? algebra_product(a, b)
           : how == EB_MAXIMUM ? ebi_max(a, b)
                               : ebi_min(a, b);
}

eb_status eb_combine(eb_filter **out, const eb_filter *a, const eb_filter *b, eb_combination how,
                     const eb_allocator *mem, eb_error *err) {
    char spec[EB_SPEC_MAX];
    eb_filter *f;
    EB_TRY(ebi_query_equal(a, b, err));
    if (!a->kind->sealed)
        return ebi_fail(err, EB_ENOTSUP, "%s filters cannot be combined: use spectral",
                        a->kind->info.name);
    (void)ebi_spec_thawed(a, spec, sizeof spec);
    EB_TRY(eb_new(&f, spec, mem, err));
    for (uint64_t shard = 0; shard < ebi_shards(a); shard++) {
        const eb_counting x = ebi_query_open(a, shard), y = ebi_query_open(b, shard);
        const eb_counting z = ebi_query_open(f, shard);
        for (uint64_t i = 0; i < x.n; i++) {
            const uint64_t value =
                algebra_combined(ebi_counting_get(&x, i), ebi_counting_get(&y, i), how);
            if (value > 0) ebi_counting_raise(&z, i, value);
        }
        *z.total = algebra_combined(*x.total, *y.total, how);
        *f->kind->sealed(ebi_shard(f, shard)) = 1;
    }
    *out = f;
    return EB_OK;
}

/* Of a filter whose counters are no sums the larger neighbour is bound enough. */
static void algebra_fold_shard(const eb_counting *from, const eb_counting *into) {
    for (uint64_t i = 0; i < into->n; i++) {
        const uint64_t a = ebi_counting_get(from, 2 * i), b = ebi_counting_get(from, 2 * i + 1);
        const uint64_t value = from->linear ? ebi_counter_sum(a, b) : ebi_max(a, b);
        if (value > 0) ebi_counting_raise(into, i, value);
    }
    *into->total = *from->total;
}

void ebi_query_spec_with(char spec[2 * EB_SPEC_MAX], const char *key, const char *value) {
    char old[2 * EB_SPEC_MAX], start[40], pair[100] = "";
    (void)snprintf(old, sizeof old, "%s", spec);
    (void)snprintf(start, sizeof start, ",%.30s=", key);
    const char *const found = strstr(old, start); /* never the first option */
    const char *const at = found ? found : old + strlen(old);
    if (value) (void)snprintf(pair, sizeof pair, "%s%.50s", start, value);
    (void)snprintf(spec, (size_t)2 * EB_SPEC_MAX, "%.*s%s%s", (int)(at - old), old, pair,
                   found ? at + 1 + strcspn(at + 1, ",") : at);
}

eb_status eb_fold(eb_filter **out, const eb_filter *f, const eb_allocator *mem, eb_error *err) {
    char spec[2 * EB_SPEC_MAX], cells[40];
    eb_filter *half;
    EB_TRY(ebi_query_counts(f, err));
    const eb_counting c = ebi_query_open(f, 0);
    if (!f->kind->sealed || ebi_is_sealed(f) || c.window != c.n)
        return ebi_fail(err, EB_ENOTSUP, "only spectral filters with window=0 can be folded");
    if (c.part % 2 != 0 || c.k * c.part / 2 < 64)
        return ebi_fail(err, EB_EINVAL,
                        "cells=%llu cannot be folded: cells/k must be even and cells at least 128",
                        (unsigned long long)c.n);
    (void)snprintf(cells, sizeof cells, "%llu", (unsigned long long)(c.k * c.part / 2));
    (void)ebi_spec_thawed(f, spec, sizeof spec);
    ebi_query_spec_with(spec, "cells", cells);
    EB_TRY(eb_new(&half, spec, mem, err));
    for (uint64_t shard = 0; shard < ebi_shards(f); shard++) {
        const eb_counting from = ebi_query_open(f, shard), into = ebi_query_open(half, shard);
        algebra_fold_shard(&from, &into);
        const eb_head *const head = ebi_head_of(ebi_shard(f, shard));
        ebi_head(ebi_shard(half, shard))->items = head->items;
        ebi_head(ebi_shard(half, shard))->clock = head->clock;
    }
    *out = half;
    return EB_OK;
}
