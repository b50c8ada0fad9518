/* range.c - how many numbers lie in a range, and which number is at a given rank (quantiles), from
 * a dyadic filter (Cohen and Matias, Spectral Bloom filters, 2003, section 5.5).
 *
 * A range is a union of nodes of the tree in filter/counting/dyadic.c: as large ones as possible,
 * at most two for each level.  Nodes that are counted exactly leave no doubt, except the two where
 * the range begins and ends.  No node is counted too low.  So the upper bound is the sum of the
 * range's nodes, where in every node on the way to an end, the part inside the range counts at most
 * as much as the whole node.  What lies outside of the range is bounded from above in the same way.
 * The rest of the exact count is certainly inside, which is the lower bound.
 *
 * Quantiles use the same bounds on the way from the top to a leaf.  From left to right, all values
 * up to a node's end have too low a rank while an upper bound of their number does.  From right to
 * left, all values after a node have too high a rank by the same argument. */
#include "api/filter.h"
#include "base/decimal.h"
#include "cells/counters.h"
#include "filter/counting/dyadic.h"
#include <assert.h>
#include <everbloom/experimental.h>
#include <math.h>

/* Nodes of all shards together */

typedef struct range_tree {
    const eb_filter *f;
    ebi_dyadic_form shape;
} range_tree;

static eb_status range_known(const eb_filter *f, eb_error *err) {
    if (f->kind == &ebi_kind_dyadic) return EB_OK;
    return ebi_fail(err, EB_ENOTSUP, "%s filters cannot answer ranges: use dyadic",
                    f->kind->info.name);
}

static range_tree range_open(const eb_filter *f) {
    return (range_tree){f, ebi_dyadic_shape(&f->p)};
}

static double range_sum(const range_tree *t, uint64_t first, uint64_t last) {
    assert(first <= last);
    double sum = 0;
    for (uint64_t i = 0; i < ebi_shards(t->f); i++)
        sum += (double)ebi_dyadic_sum(&t->f->p, ebi_shard(t->f, i), first, last);
    return sum;
}

static double range_node(const range_tree *t, unsigned level, uint64_t prefix) {
    double sum = 0;
    if (level <= t->shape.exact) {
        const unsigned below = t->shape.exact - level;
        return range_sum(t, prefix << below, (prefix << below) + ebi_ones(below));
    }
    for (uint64_t i = 0; i < ebi_shards(t->f); i++)
        sum += (double)ebi_dyadic_node(&t->f->p, ebi_shard(t->f, i), level, prefix);
    return sum;
}

static double range_all(const range_tree *t) {
    return range_node(t, 0, 0);
}

/* Values in and out */

/* Numbers of keys=i64 come as casts to unsigned; inside they are in order.  The way back is the
 * same. */
static uint64_t range_in_order(const eb_filter *f, uint64_t value) {
    return f->p.opt[EBI_O_KEYS] == EBI_KEYS_I64 ? value ^ UINT64_C(1) << 63 : value;
}

static eb_status range_check(const range_tree *t, uint64_t value, const char *what, eb_error *err) {
    const ebi_dyadic_form *const s = &t->shape;
    if (value >= s->low && value <= s->high) return EB_OK;
    const bool is_signed = t->f->p.opt[EBI_O_KEYS] == EBI_KEYS_I64;
    ebi_decimal_text low, high, given;
    ebi_decimal_print(range_in_order(t->f, s->low), is_signed, &low);
    ebi_decimal_print(range_in_order(t->f, s->high), is_signed, &high);
    ebi_decimal_print(range_in_order(t->f, value), is_signed, &given);
    return ebi_fail(err, EB_EKEY, "%s must be %s..%s, not %s", what, low.text, high.text,
                    given.text);
}

/* Ranges of places: first..last counted from the start of the domain */

typedef struct range_ask {
    const range_tree *t;
    uint64_t first, last;
    uint64_t probes; /* nodes below the level top in the range */
    bool above;      /* there are also nodes of this level and above in it */
} range_ask;

typedef struct range_part { /* upper bounds on how many values of a node are */
    double in, out;         /* in the range, and out of it */
} range_part;

/* Descends to the ends of the range: two nodes for each level, at most 64 levels. */
static range_part range_split(range_ask *ask, unsigned level, uint64_t prefix) {
    const unsigned below = ask->t->shape.width - level;
    const uint64_t from = below == 64 ? 0 : prefix << below, to = from + ebi_ones(below);
    const double node = range_node(ask->t, level, prefix);
    assert(level >= ask->t->shape.exact);
    if (to < ask->first || from > ask->last) return (range_part){0, node};
    if (from >= ask->first && to <= ask->last) {
        if (level <= ask->t->shape.top)
            ask->above = true;
        else
            ask->probes++;
        return (range_part){node, 0};
    }
    assert(below > 0);
    const range_part left = range_split(ask, level + 1, 2 * prefix);
    const range_part right = range_split(ask, level + 1, 2 * prefix + 1);
    return (range_part){fmin(node, left.in + right.in), fmin(node, left.out + right.out)};
}

/* Adds the share of a node that is counted exactly.  Counters from a damaged or foreign snapshot
 * may contradict it; then the lower bound is lowered. */
static void range_share(range_ask *ask, uint64_t prefix, eb_range *sum) {
    const range_part part = range_split(ask, ask->t->shape.exact, prefix);
    const double all = range_node(ask->t, ask->t->shape.exact, prefix);
    sum->upper += part.in;
    sum->lower += fmin(part.in, all - part.out);
}

static eb_range range_answer(const range_tree *t, uint64_t first, uint64_t last) {
    assert(first <= last);
    const unsigned below = t->shape.width - t->shape.exact;
    const uint64_t start = below == 64 ? 0 : first >> below, end = below == 64 ? 0 : last >> below;
    range_ask ask = {.t = t, .first = first, .last = last};
    eb_range r = {.size = sizeof r};
    if (end - start > 1) {
        r.lower = r.upper = range_sum(t, start + 1, end - 1);
        ask.above = true;
    }
    range_share(&ask, start, &r);
    if (start < end) range_share(&ask, end, &r);
    r.probes = ask.probes + ask.above;
    return r;
}

eb_status eb_range_count(const eb_filter *f, uint64_t from, uint64_t to, eb_range *out,
                         eb_error *err) {
    EBI_CHECK_SIZE(out, eb_range, err);
    EBI_TRY(range_known(f, err));
    const range_tree t = range_open(f);
    from = range_in_order(f, from);
    to = range_in_order(f, to);
    EBI_TRY(range_check(&t, from, "from", err));
    EBI_TRY(range_check(&t, to, "to", err));
    if (from > to) return ebi_fail(err, EB_EINVAL, "from must be at most to");
    eb_range r = range_answer(&t, from - t.shape.low, to - t.shape.low);
    if (r.upper >= (double)EBI_COUNTER_MAX) r.upper = INFINITY;
    *out = r;
    return EB_OK;
}

/* Quantiles */

/* The ends of where the value can be that has `rank` values up to it.  From the left: up to a
 * node's end there are at most `to_near` values, so all places before the first one where that
 * reaches the rank have too few.  From the right: at most `to_near` values are at or after a node's
 * start; while that is no more than the number of values above the rank, all places from there on
 * are too high. */
static uint64_t range_end(const range_tree *t, double rank, double all, bool from_right) {
    assert(rank >= 0);
    uint64_t prefix = 0;
    double passed = 0, most = all;
    for (unsigned level = 1; level <= t->shape.width; level++) {
        const uint64_t near = 2 * prefix + from_right, far = 2 * prefix + !from_right;
        const double there = range_node(t, level, near), to_near = fmin(most, passed + there);
        const bool reached = from_right ? to_near > all - rank : to_near >= rank;
        prefix = reached ? near : far;
        if (!reached) passed += there;
        most = reached ? to_near : fmin(most, passed + range_node(t, level, far));
    }
    return prefix;
}

/* The best guess: the values of a node are divided by the middle of the bounds of its halves. */
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
    EBI_CHECK_SIZE(out, eb_quantile, err);
    eb_quantile o = {.size = sizeof o};
    EBI_TRY(range_known(f, err));
    const range_tree t = range_open(f);
    if (!(q >= 0 && q <= 1)) return ebi_fail(err, EB_EINVAL, "a quantile must be 0..1, not %g", q);
    const double all = range_all(&t), rank = fmin(all, fmax(1, ceil(q * all)));
    if (!(all > 0))
        return ebi_fail(err, EB_EINVAL, "there are no values, so there are no quantiles");
    const uint64_t lower = range_end(&t, rank, all, false);
    const uint64_t upper =
        ebi_max(lower, range_end(&t, rank, all, true)); /* counters may contradict each other */
    const uint64_t guess = ebi_max(lower, ebi_min(upper, range_guess(&t, rank, all)));
    o.lower = range_in_order(f, t.shape.low + lower);
    o.upper = range_in_order(f, t.shape.low + upper);
    o.value = range_in_order(f, t.shape.low + guess);
    *out = o;
    return EB_OK;
}
