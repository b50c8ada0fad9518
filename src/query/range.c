/* range.c - how many numbers lie in a range, and which number has so many below it
 * (Cohen and Matias, Spectral Bloom filters, 2003, section 5.5).
 *
 * A range is cut into nodes of the tree of filter/dyadic.c: from the leaves up, an odd
 * first node and an even last node are taken, and what is left is a range of the level
 * above.  Every node is counted too high at most, so sums of nodes are upper bounds; and
 * what is not in the range is in the two ranges beside it, whose upper bounds give the
 * lower one.  At the level top the rest of the range is one exact sum.
 *
 * Quantiles walk from the top to a leaf by the same bounds.  Going left to right, all values
 * up to a node's end are too few as long as an upper bound of their number says so; from
 * right to left, all values behind a node are few enough as long as theirs does. */
#include "api/filter.h"
#include "filter/dyadic.h"
#include <everbloom/query.h>
#include <math.h>

uint64_t eb_from_signed(int64_t value) {
    return (uint64_t)value ^ UINT64_C(1) << 63;
}

int64_t eb_to_signed(uint64_t value) {
    const uint64_t bits = value ^ UINT64_C(1) << 63;
    int64_t out;
    memcpy(&out, &bits, sizeof out);
    return out;
}

/* Nodes of all shards together */

typedef struct range_tree {
    const eb_filter *f;
    eb_dyadic_shape shape;
} range_tree;

static eb_status range_known(const eb_filter *f, eb_error *err) {
    if (f->kind == &ebi_kind_dyadic) return EB_OK;
    return ebi_fail(err, EB_ENOTSUP, "%s filters know no ranges: use dyadic", f->kind->info.name);
}

static range_tree range_open(const eb_filter *f) {
    return (range_tree){f, ebi_dyadic_shape(&f->p)};
}

static double range_top(const range_tree *t, uint64_t first, uint64_t last) {
    double sum = 0;
    for (uint64_t i = 0; i < ebi_shards(t->f); i++)
        sum += (double)ebi_dyadic_top(&t->f->p, ebi_shard(t->f, i), first, last);
    return sum;
}

static double range_node(const range_tree *t, unsigned level, uint64_t prefix) {
    double sum = 0;
    if (level <= t->shape.top) {
        const unsigned below = t->shape.top - level;
        return range_top(t, prefix << below, (prefix << below) + ebi_ones(below));
    }
    for (uint64_t i = 0; i < ebi_shards(t->f); i++)
        sum += (double)ebi_dyadic_node(&t->f->p, ebi_shard(t->f, i), level, prefix);
    return sum;
}

static double range_all(const range_tree *t) {
    return range_node(t, 0, 0);
}

/* Values in and out */

static eb_status range_check(const range_tree *t, uint64_t value, const char *what, eb_error *err) {
    const eb_dyadic_shape *const s = &t->shape;
    if (value >= s->low && value <= s->high) return EB_OK;
    return ebi_fail(err, EB_EINVAL, "%s must be %llu..%llu, not %llu", what,
                    (unsigned long long)s->low, (unsigned long long)s->high,
                    (unsigned long long)value);
}

static eb_status range_check_all(const range_tree *t, const uint64_t *values, size_t n,
                                 eb_error *err) {
    for (size_t i = 0; i < n; i++) EB_TRY(range_check(t, values[i], "a value", err));
    return EB_OK;
}

eb_status eb_range_domain(const eb_filter *f, uint64_t *low, uint64_t *high, eb_error *err) {
    EB_TRY(range_known(f, err));
    const range_tree t = range_open(f);
    *low = t.shape.low;
    *high = t.shape.high;
    return EB_OK;
}

static eb_status range_refused(eb_status status, eb_error *err) {
    return status == EB_OK
               ? EB_OK
               : ebi_fail(err, status, "the filter refuses values: %s", eb_status_name(status));
}

eb_status eb_range_add(eb_filter *f, const uint64_t *values, const uint32_t *counts, size_t n,
                       eb_error *err) {
    EB_TRY(range_known(f, err));
    const range_tree t = range_open(f);
    EB_TRY(range_check_all(&t, values, n, err));
    return range_refused(eb_add_batch(f, &(eb_batch){n, values, counts, NULL}, NULL), err);
}

eb_status eb_range_remove(eb_filter *f, const uint64_t *values, const uint32_t *counts, size_t n,
                          eb_error *err) {
    EB_TRY(range_known(f, err));
    const range_tree t = range_open(f);
    EB_TRY(range_check_all(&t, values, n, err));
    return range_refused(eb_remove_batch(f, &(eb_batch){n, values, counts, NULL}), err);
}

/* Ranges of places: first..last counted from the start of the domain */

static double range_cover(const range_tree *t, uint64_t first, uint64_t last, unsigned *probes) {
    double sum = 0;
    unsigned level = t->shape.width;
    for (; level > t->shape.top; level--, first >>= 1, last >>= 1) {
        if (first % 2 == 1) {
            sum += range_node(t, level, first);
            ++*probes;
            if (first == last) return sum;
            first++;
        }
        if (last % 2 == 0) {
            sum += range_node(t, level, last);
            ++*probes;
            if (first == last) return sum;
            last--;
        }
    }
    ++*probes;
    return sum + range_top(t, first, last);
}

eb_status eb_range_count(const eb_filter *f, uint64_t from, uint64_t to, eb_range *out,
                         eb_error *err) {
    eb_range r = {.size = sizeof r};
    unsigned others = 0;
    EB_TRY(range_known(f, err));
    const range_tree t = range_open(f);
    EB_TRY(range_check(&t, from, "from", err));
    EB_TRY(range_check(&t, to, "to", err));
    if (from > to)
        return ebi_fail(err, EB_EINVAL, "from must be at most to (%llu), not %llu",
                        (unsigned long long)to, (unsigned long long)from);
    const uint64_t first = from - t.shape.low, last = to - t.shape.low;
    const double all = range_all(&t);
    r.upper = fmin(all, range_cover(&t, first, last, &r.probes));
    r.lower = all;
    if (first > 0) r.lower -= range_cover(&t, 0, first - 1, &others);
    if (to < t.shape.high) r.lower -= range_cover(&t, last + 1, ebi_ones(t.shape.width), &others);
    r.lower = fmax(0, r.lower);
    ebi_give(out, &r, sizeof r);
    return EB_OK;
}

/* Quantiles */

/* The first place that may have `rank` values up to it: all places before it have fewer. */
static uint64_t range_first(const range_tree *t, double rank) {
    uint64_t prefix = 0;
    double before = 0;
    for (unsigned level = 1; level <= t->shape.width; level++) {
        const double left = range_node(t, level, prefix *= 2);
        if (before + left >= rank) continue;
        before += left;
        prefix++;
    }
    return prefix;
}

/* The last place that may be the first with `rank` values up to it: up to it there are so many,
 * since at most `all` - rank lie behind it. */
static uint64_t range_last(const range_tree *t, double rank, double all) {
    uint64_t prefix = 0;
    double behind = 0;
    for (unsigned level = 1; level <= t->shape.width; level++) {
        const double right = range_node(t, level, (prefix *= 2) + 1);
        if (behind + right > all - rank)
            prefix++;
        else
            behind += right;
    }
    return prefix;
}

/* The best guess: a node's values are shared out by the middle of what its halves allow. */
static uint64_t range_guess(const range_tree *t, double rank, double all) {
    uint64_t prefix = 0;
    double here = all;
    for (unsigned level = 1; level <= t->shape.width; level++) {
        const double left = range_node(t, level, prefix *= 2);
        const double right = range_node(t, level, prefix + 1);
        const double share = (fmin(here, left) + fmax(0, here - right)) / 2;
        if (share >= rank) {
            here = share;
            continue;
        }
        prefix++;
        rank -= share;
        here -= share;
    }
    return prefix;
}

eb_status eb_range_quantile(const eb_filter *f, double q, eb_quantile *out, eb_error *err) {
    eb_quantile o = {.size = sizeof o};
    EB_TRY(range_known(f, err));
    const range_tree t = range_open(f);
    if (!(q >= 0 && q <= 1)) return ebi_fail(err, EB_EINVAL, "a quantile must be 0..1, not %g", q);
    const double all = range_all(&t), rank = fmin(all, fmax(1, ceil(q * all)));
    if (!(all > 0)) return ebi_fail(err, EB_EINVAL, "no values, so no quantiles");
    const uint64_t lower = range_first(&t, rank), upper = range_last(&t, rank, all);
    o.lower = t.shape.low + lower;
    o.upper = t.shape.low + upper;
    o.value = t.shape.low + ebi_max(lower, ebi_min(upper, range_guess(&t, rank, all)));
    ebi_give(out, &o, sizeof o);
    return EB_OK;
}
