/* algebra.c - the product, maximum and minimum of two counting filters, and folding a filter to
 * half its size.
 *
 * Each counter of a key is at least its count.  So combined counters are at least the combined
 * counts, and so is the smallest of them.  For folding: a position in a part of w counters is
 * floor(x w / 2^64).  In a part of w/2 it is half of that, rounded down, so folding adds
 * neighbours. */
#include "query.h"

static uint64_t algebra_product(uint64_t a, uint64_t b) {
    assert(a <= EBI_COUNTER_MAX && b <= EBI_COUNTER_MAX);
    uint64_t product;
    return ebi_mul(a, b, &product) ? ebi_min(product, EBI_COUNTER_MAX) : EBI_COUNTER_MAX;
}

static uint64_t algebra_combined(uint64_t a, uint64_t b, eb_combination how) {
    assert(a <= EBI_COUNTER_MAX && b <= EBI_COUNTER_MAX);
    return how == EB_PRODUCT   ? algebra_product(a, b)
           : how == EB_MAXIMUM ? ebi_max(a, b)
                               : ebi_min(a, b);
}

/* For joined cells, the combined sums are bounds: at least the cells' own, but no longer sums. */
static void algebra_combine(const ebi_counting *x, const ebi_counting *y, ebi_counting z,
                            eb_combination how) {
    z.linear = false;
    for (uint64_t i = 0; i < ebi_counting_words_of(x); i++) {
        ebi_wide_word a, b;
        ebi_counting_pair(x, y, i, &a, &b);
        for (unsigned cell = 0; cell < EBI_WIDE_CELLS; cell++)
            a.value[cell] = algebra_combined(ebi_min(a.value[cell], EBI_COUNTER_MAX),
                                             ebi_min(b.value[cell], EBI_COUNTER_MAX), how);
        ebi_counting_put(&z, i, NULL, &a);
    }
}

eb_status eb_combine(eb_filter **out, const eb_filter *a, const eb_filter *b, eb_combination how,
                     const eb_allocator *mem, eb_error *err) {
    eb_filter *f;
    EBI_TRY(ebi_query_equal(a, b, err));
    if (!a->kind->counted || !a->kind->counted->sealed)
        return ebi_fail(err, EB_ENOTSUP, "%s filters cannot be combined: use spectral",
                        a->kind->info.name);
    EBI_TRY(ebi_query_new(&f, a, NULL, NULL, mem, err));
    for (uint64_t shard = 0; shard < ebi_shards(a); shard++) {
        const ebi_counting x = ebi_query_open(a, shard), y = ebi_query_open(b, shard);
        const ebi_counting z = ebi_query_open(f, shard);
        algebra_combine(&x, &y, z, how);
        *z.total = algebra_combined(*x.total, *y.total, how);
        *f->kind->counted->sealed(ebi_shard(f, shard)) = 1;
    }
    *out = f;
    return EB_OK;
}

/* If counters are not sums, the larger neighbour is a sufficient bound. */
static void algebra_fold_shard(const ebi_counting *from, const ebi_counting *into) {
    assert(from->n == 2 * into->n);
    enum { ALGEBRA_HALF = EBI_WIDE_CELLS / 2 };
    for (uint64_t i = 0; i < ebi_counting_words_of(into); i++) {
        ebi_wide_word half[2] = {{{0}, {0}}, {{0}, {0}}}, w;
        for (uint64_t j = 0; j < 2 && 2 * i + j < ebi_counting_words_of(from); j++)
            ebi_counting_word(from, 2 * i + j, &half[j]);
        for (unsigned cell = 0; cell < EBI_WIDE_CELLS; cell++) {
            const ebi_wide_word *const h = &half[cell / ALGEBRA_HALF];
            const unsigned at = cell % ALGEBRA_HALF * 2;
            const uint64_t a = h->value[at], b = h->level[at] > 0 ? 0 : h->value[at + 1];
            w.value[cell] = from->linear ? ebi_counter_sum(a, b) : ebi_max(a, b);
            w.level[cell] = h->level[at] > 0 ? h->level[at] - 1 : 0;
        }
        ebi_counting_put(into, i, NULL, &w);
    }
    *into->total = *from->total;
}

eb_status ebi_fold(eb_filter **out, const eb_filter *f, const eb_allocator *mem, eb_error *err) {
    ebi_params change = {.opt = {0}};
    const ebi_args given = {.given = {[EBI_O_CELLS] = true}};
    eb_filter *half;
    EBI_TRY(ebi_query_counts(f, err));
    const ebi_counting c = ebi_query_open(f, 0);
    if (!f->kind->counted || !f->kind->counted->sealed || ebi_is_sealed(f) || c.window != c.n)
        return ebi_fail(err, EB_ENOTSUP, "only spectral filters with span=0 can be folded");
    if (c.part % 2 != 0 || c.k * c.part / 2 < 64)
        return ebi_fail(err, EB_EINVAL,
                        "cells=%llu cannot be folded: cells/k must be even and cells at least 128",
                        (unsigned long long)c.n);
    change.opt[EBI_O_CELLS] = c.k * c.part / 2;
    EBI_TRY(ebi_query_new(&half, f, &change, &given, mem, err));
    for (uint64_t shard = 0; shard < ebi_shards(f); shard++) {
        const ebi_counting from = ebi_query_open(f, shard), into = ebi_query_open(half, shard);
        algebra_fold_shard(&from, &into);
        const ebi_block_head *const head = ebi_head_of(ebi_shard(f, shard));
        ebi_head(ebi_shard(half, shard))->items = head->items;
        ebi_head(ebi_shard(half, shard))->clock = head->clock;
    }
    *out = half;
    return EB_OK;
}
