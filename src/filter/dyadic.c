/* dyadic.c - how many numbers lie in a range?  (Cohen and Matias, Spectral Bloom
 * filters, 2003, section 5.5.)
 *
 *     | head | totals, 64 bytes | top: 2^t words | counters: a store of cells/counters.h |
 *
 * A tree over the values low .. low + 2^width - 1: a node (level, prefix) holds the
 * values that begin with the same `level` bits.  A value is counted in every node
 * above it: in the array `top` at level t, exactly (levels above it are sums of its
 * words), and in a spectral filter of nodes at each level below.  A range is a union
 * of at most two nodes of each level: query/range.c.
 *
 * Here the 64-bit "hash" of the interface is the value itself, as an unsigned number;
 * values= says how front ends write it.  What lies outside of the domain is folded
 * into it: eb_range_add refuses it first.
 *
 * A node is never counted too low; too high with probability about (1-e^(-nk/m))^k for n
 * distinct nodes, at most the sum over levels of min(distinct values, 2^level).
 * Cost: k counters for each of width - t levels to add a value.
 *
 * Nodes just below the top hold many values, so counters are large: store=u32.  With
 * store=u8 some may find no room; they become upper bounds without a bound. */
#include "dyadic.h"
#include "counting.h"
#include "theory/theory.h"
#include <math.h>

enum { O_WIDTH = EB_O_OWN, O_LOW, O_VALUES, O_TOP, O_K, O_POLICY, O_STORE, O_WINDOW, O_BITS };
enum { POLICY_MS, POLICY_MI };
enum { TOP_USUAL = 10 };

static const eb_option dyadic_options[] = {
    EB_COMMON_OPTIONS,
    {"width", "int", "32", "1", "64", "values are low .. low + 2^width - 1", false},
    {"low", "int", "0", "0", "18446744073709551615", "the least value", false},
    {"values", "unsigned|signed|time", "unsigned", NULL, NULL, "how values are written", false},
    {"top", "int", NULL, "0", "20", "2^top nodes are counted exactly", false},
    {"k", "int", "5", "1", "16", "counters for each node", false},
    {"policy", "ms|mi", "ms", NULL, NULL, "ms: removals; mi: smallest errors", false},
    {"store", "u32|u8", "u32", NULL, NULL, "how counters are laid out", false},
    {"window", "int", NULL, "0", "65536", "counters among which a node's lie; 0: all", false},
    {"bits", "fixed", NULL, "1", "64", "memory for each counter, in bits", false},
    {0}};

typedef struct dyadic_state {
    uint64_t total; /* of the counts of all nodes below the top; saturates */
    uint64_t reserved[7];
} dyadic_state;
static_assert(sizeof(dyadic_state) == 64, "one cache line");
enum { FIXED = sizeof(eb_head) + sizeof(dyadic_state) };

static const eb_store *dyadic_store(const eb_params *p) {
    return p->opt[O_STORE] == 0 ? &ebi_store_u32 : &ebi_store_u8;
}

/* A shard, opened */

typedef struct dyadic {
    const eb_params *p;
    uint64_t *top;
    unsigned width, top_bits;
    eb_counting nodes;
} dyadic;

static uint64_t dyadic_top_bytes(const eb_params *p) {
    return ebi_round_up(sizeof(uint64_t) << p->opt[O_TOP], 64);
}

static eb_counting dyadic_counting(const eb_params *p) { /* all but the place of its counters */
    eb_counting c = {.store = dyadic_store(p), .n = p->opt[EB_O_CELLS]};
    c.k = (unsigned)p->opt[O_K];
    c.bytes = p->span - FIXED - dyadic_top_bytes(p);
    c.window = p->opt[O_WINDOW] == 0 ? c.n : p->opt[O_WINDOW];
    c.part = c.window / c.k;
    c.linear = p->opt[O_POLICY] == POLICY_MS;
    return c;
}

static dyadic dyadic_open(const eb_params *p, const uint8_t *block) {
    uint8_t *const own = ebi_writable(block);
    dyadic d = {.p = p, .width = (unsigned)p->opt[O_WIDTH], .top_bits = (unsigned)p->opt[O_TOP]};
    d.top = (uint64_t *)(void *)(own + FIXED);
    d.nodes = dyadic_counting(p);
    d.nodes.counters =
        ebi_counters(d.nodes.store, block + FIXED + dyadic_top_bytes(p), d.nodes.n, d.nodes.bytes);
    d.nodes.total = &((dyadic_state *)(void *)(own + sizeof(eb_head)))->total;
    return d;
}

eb_dyadic_shape ebi_dyadic_shape(const eb_params *p) {
    const unsigned width = (unsigned)p->opt[O_WIDTH];
    const uint64_t low = p->opt[O_LOW];
    return (eb_dyadic_shape){low, low + ebi_ones(width), width, (unsigned)p->opt[O_TOP]};
}

/* Parameters */

static eb_status dyadic_resolve_domain(eb_params *p, const eb_args *a, eb_error *err) {
    const uint64_t most = UINT64_MAX - ebi_ones((unsigned)p->opt[O_WIDTH]);
    if (p->opt[O_LOW] > most)
        return ebi_fail(err, EB_ESPEC, "dyadic: low must be 0..%llu with width=%llu, not %llu",
                        (unsigned long long)most, (unsigned long long)p->opt[O_WIDTH],
                        (unsigned long long)p->opt[O_LOW]);
    if (!a->given[O_TOP]) p->opt[O_TOP] = ebi_min(TOP_USUAL, p->opt[O_WIDTH]);
    if (p->opt[O_TOP] > p->opt[O_WIDTH])
        return ebi_fail(err, EB_ESPEC, "dyadic: top must be 0..width (%llu), not %llu",
                        (unsigned long long)p->opt[O_WIDTH], (unsigned long long)p->opt[O_TOP]);
    return EB_OK;
}

static eb_status dyadic_resolve(eb_params *p, const eb_args *a, eb_error *err) {
    EB_TRY(dyadic_resolve_domain(p, a, err));
    EB_TRY(ebi_counting_resolve_bits(p, a, "dyadic", dyadic_store(p), O_BITS, err));
    EB_TRY(ebi_counting_resolve_cells(p, a, "dyadic", dyadic_store(p), O_BITS,
                                      sizeof(dyadic_state) + dyadic_top_bytes(p), err));
    EB_TRY(ebi_counting_resolve_window(p, a, "dyadic", O_WINDOW, O_K, err));
    p->value_min = 1;
    p->span = FIXED + dyadic_top_bytes(p) +
              ebi_counters_bytes(dyadic_store(p), p->opt[EB_O_CELLS], p->opt[O_BITS]);
    return EB_OK;
}

/* From values to nodes */

/* A value's place in the domain.  In shards the api has multiplied it: see handle.c. */
static uint64_t dyadic_place(const dyadic *d, eb_hash h) {
    const uint64_t value = d->p->opt[EB_O_SHARDS] == 1 ? h : ebi_outer_hash(h);
    return (value - d->p->opt[O_LOW]) & ebi_ones(d->width);
}

static uint64_t *dyadic_top_word(const dyadic *d, uint64_t place) {
    return &d->top[d->top_bits == 0 ? 0 : place >> (d->width - d->top_bits)];
}

typedef struct dyadic_node {
    uint64_t prefix, level;
} dyadic_node;

static void dyadic_hash(const eb_params *p, const dyadic_node *nodes, size_t n, eb_hash *out) {
    eb_key keys[EB_BATCH];
    for (size_t i = 0; i < n; i++) keys[i] = (eb_key){&nodes[i], sizeof nodes[i]};
    if (p->opt[EB_O_HASH] == EB_HASH_SIP)
        ebi_hash_sip(p->key, keys, n, out);
    else
        ebi_hash_xxh3(p->opt[EB_O_SEED], keys, n, out);
}

/* The hashes of the nodes below the top that hold a value, its own first. */
static size_t dyadic_path(const dyadic *d, uint64_t place, eb_hash *out) {
    dyadic_node nodes[EB_BATCH];
    const size_t n = d->width - d->top_bits;
    if (n == 0) return 0;
    for (size_t i = 0; i < n; i++) nodes[i] = (dyadic_node){place >> i, d->width - i};
    dyadic_hash(d->p, nodes, n, out);
    return n;
}

/* Loops */

/* Count a value in the nodes of its path; was it (probably) there? */
static bool dyadic_raise(const dyadic *d, uint64_t place, uint32_t by) {
    const eb_counting *const c = &d->nodes;
    uint64_t *const top = dyadic_top_word(d, place);
    uint64_t pos[EB_BATCH * EB_COUNTING_K_MAX];
    eb_hash hash[EB_BATCH];
    bool seen = *top > 0;
    const size_t n = dyadic_path(d, place, hash);
    ebi_counting_fetch(c, hash, n, pos);
    for (size_t i = 0; i < n; i++) {
        const uint64_t *const at = pos + i * c->k;
        const bool there =
            c->linear ? ebi_counting_raise_all(c, at, by) : ebi_counting_lift(c, at, by) > 0;
        if (i == 0) seen = there;
        ebi_counting_raise_total(c, by);
    }
    *top = ebi_counter_sum(*top, by);
    return seen;
}

static void dyadic_add(const eb_params *p, uint8_t *block, const eb_batch *b, uint8_t *seen) {
    const dyadic d = dyadic_open(p, block);
    for (size_t i = 0; i < b->n; i++)
        seen[i] = dyadic_raise(&d, dyadic_place(&d, b->hash[i]), b->value[i]);
}

static uint64_t dyadic_minimum(const dyadic *d, unsigned level, uint64_t prefix) {
    const dyadic_node node = {prefix, level};
    uint64_t pos[EB_COUNTING_K_MAX], counter[EB_COUNTING_K_MAX];
    eb_hash h;
    dyadic_hash(d->p, &node, 1, &h);
    ebi_counting_positions(&d->nodes, h, pos);
    return ebi_counting_minimum(&d->nodes, pos, counter);
}

static uint64_t dyadic_value(const dyadic *d, eb_hash h) {
    const uint64_t place = dyadic_place(d, h);
    return d->width == d->top_bits ? *dyadic_top_word(d, place)
                                   : dyadic_minimum(d, d->width, place);
}

static void dyadic_test(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                        uint8_t *seen) {
    const dyadic d = dyadic_open(p, block);
    for (size_t i = 0; i < n; i++) seen[i] = dyadic_value(&d, h[i]) > 0;
}

static void dyadic_count(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                         double *count) {
    const dyadic d = dyadic_open(p, block);
    for (size_t i = 0; i < n; i++) count[i] = (double)dyadic_value(&d, h[i]);
}

static const eb_ops *dyadic_select(const eb_params *p) {
    static const eb_ops ops = {.add = dyadic_add, .test = dyadic_test, .count = dyadic_count};
    (void)p;
    return &ops;
}

/* For query/range.c */

uint64_t ebi_dyadic_node(const eb_params *p, const uint8_t *block, unsigned level,
                         uint64_t prefix) {
    const dyadic d = dyadic_open(p, block);
    return dyadic_minimum(&d, level, prefix);
}

uint64_t ebi_dyadic_top(const eb_params *p, const uint8_t *block, uint64_t first, uint64_t last) {
    const dyadic d = dyadic_open(p, block);
    uint64_t sum = 0;
    for (uint64_t i = first; i <= last; i++) sum = ebi_counter_sum(sum, d.top[i]);
    return sum;
}

/* Removing: a value's nodes */

static eb_batch dyadic_batch(const dyadic *d, uint64_t place, uint32_t by, eb_hash *hash,
                             uint32_t *value) {
    const eb_batch path = {dyadic_path(d, place, hash), hash, value, NULL};
    for (size_t i = 0; i < path.n; i++) value[i] = by;
    return path;
}

static unsigned dyadic_claims(const eb_params *p) { /* and one of the top */
    return (unsigned)((p->opt[O_WIDTH] - p->opt[O_TOP]) * p->opt[O_K]) + 1;
}

static eb_status dyadic_claim(const eb_params *p, const uint8_t *block, const eb_batch *b,
                              const eb_claims *claims) {
    const dyadic d = dyadic_open(p, block);
    eb_hash hash[EB_BATCH];
    uint32_t value[EB_BATCH];
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t place = dyadic_place(&d, b->hash[i]);
        const uint64_t *const top = dyadic_top_word(&d, place);
        const eb_batch path = dyadic_batch(&d, place, b->value[i], hash, value);
        if (*top < EB_COUNTER_MAX && !ebi_claim(claims, top, 0, b->value[i], *top))
            return EB_EINVAL;
        EB_TRY(ebi_counting_claim(&d.nodes, &path, claims));
    }
    return EB_OK;
}

static void dyadic_remove(const eb_params *p, uint8_t *block, const eb_batch *b) {
    const dyadic d = dyadic_open(p, block);
    eb_hash hash[EB_BATCH];
    uint32_t value[EB_BATCH];
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t place = dyadic_place(&d, b->hash[i]);
        uint64_t *const top = dyadic_top_word(&d, place);
        const eb_batch path = dyadic_batch(&d, place, b->value[i], hash, value);
        ebi_counting_remove(&d.nodes, &path);
        if (*top < EB_COUNTER_MAX) *top -= b->value[i];
    }
}

/* The whole filter */

static unsigned dyadic_caps(const eb_params *p) {
    const unsigned linear = p->opt[O_POLICY] == POLICY_MS ? EB_CAN_REMOVE : 0;
    return EB_CAN_COUNT | EB_NO_FALSE_NEGATIVES | EB_USES_VALUE | EB_KEYS_ARE_NUMBERS |
           EB_CAN_MERGE | linear;
}

static void dyadic_init(const eb_params *p, uint8_t *block) {
    const dyadic d = dyadic_open(p, block);
    if (d.nodes.store->init) d.nodes.store->init(&d.nodes.counters);
}

static void dyadic_merge(const eb_params *p, uint8_t *into, const uint8_t *from) {
    const dyadic a = dyadic_open(p, into), b = dyadic_open(p, from);
    for (uint64_t i = 0; i < UINT64_C(1) << a.top_bits; i++)
        a.top[i] = ebi_counter_sum(a.top[i], b.top[i]);
    ebi_counting_merge(&a.nodes, &b.nodes);
}

static eb_status dyadic_check(const eb_params *p, const uint8_t *block, eb_error *err) {
    const dyadic d = dyadic_open(p, block);
    const uint64_t words = UINT64_C(1) << d.top_bits, room = dyadic_top_bytes(p) / 8;
    bool sane = *d.nodes.total <= EB_COUNTER_MAX && d.nodes.store->check(&d.nodes.counters);
    for (size_t i = 1; i < sizeof(dyadic_state) / 8; i++) sane = sane && d.nodes.total[i] == 0;
    for (uint64_t i = 0; i < room; i++) sane = sane && d.top[i] <= (i < words ? EB_COUNTER_MAX : 0);
    if (sane) return EB_OK;
    return ebi_fail(err, EB_EFORMAT, "damaged dyadic filter: its counters make no sense");
}

/* Where all nodes are counted exactly, cells that no node uses are no cells at all. */
static void dyadic_stat(const eb_params *p, const uint8_t *block, eb_stats *out) {
    const dyadic d = dyadic_open(p, block);
    ebi_counting_stat(&d.nodes, out);
    if (d.width > d.top_bits) return;
    uint64_t used = 0;
    for (uint64_t i = 0; i < UINT64_C(1) << d.top_bits; i++) used += d.top[i] > 0;
    out->fpr = (double)used / (double)(UINT64_C(1) << d.top_bits);
}

/* Values that are spread over the domain fall on so many nodes of a level.  With values as
 * wide as their shards' numbers, the values of a shard share their first bits. */
static double dyadic_nodes_at(const eb_params *p, unsigned level, double distinct) {
    const double shared = log2((double)p->opt[EB_O_SHARDS]) + (double)p->opt[O_WIDTH] - 64;
    const double nodes = exp2(fmax(0, level - fmax(0, shared)));
    return nodes * ebi_one_minus_pow1m(1 / nodes, distinct);
}

static double dyadic_nodes(const eb_params *p, double distinct) {
    double sum = 0;
    for (unsigned level = (unsigned)p->opt[O_TOP] + 1; level <= p->opt[O_WIDTH]; level++)
        sum += dyadic_nodes_at(p, level, distinct);
    return sum;
}

/* A fresh value looks known if it is not fresh after all (in a narrow domain), or if its
 * node does. */
static double dyadic_fpr(const eb_params *p, double distinct, double *fill) {
    const eb_counting c = dyadic_counting(p);
    const double there = ebi_one_minus_pow1m(exp2(-(double)p->opt[O_WIDTH]), distinct);
    eb_workload nodes = {.size = sizeof nodes, .items = dyadic_nodes(p, distinct)};
    eb_prediction one = {.size = sizeof one};
    if (!(nodes.items > 0)) {
        *fill = 0;
        return there;
    }
    ebi_counting_predict(&c, &nodes, &one);
    *fill = one.fill;
    return there + (1 - there) * one.fpr;
}

static void dyadic_predict(const eb_params *p, const eb_workload *w, eb_prediction *out) {
    enum { STEPS = 64 };
    const double distinct = w->distinct > 0 ? w->distinct : w->items;
    double fill;
    out->fnr = out->mean_fnr = 0;
    out->settles_after = 0;
    if (!(distinct > 0)) {
        out->fill = out->fpr = out->mean_fpr = 1;
        return;
    }
    out->fpr = dyadic_fpr(p, distinct, &out->fill);
    out->mean_fpr = 0;
    for (int i = 0; i < STEPS; i++)
        out->mean_fpr += dyadic_fpr(p, distinct * (i + 0.5) / STEPS, &fill) / STEPS;
}

const eb_kind ebi_kind_dyadic = {
    .info = {"dyadic", "counts numbers, and how many lie in a range: see 'everbloom range'",
             "Cohen and Matias, Spectral Bloom filters, 2003, section 5.5",
             EB_CAN_COUNT | EB_NO_FALSE_NEGATIVES | EB_USES_VALUE | EB_CAN_REMOVE | EB_CAN_MERGE |
                 EB_KEYS_ARE_NUMBERS,
             dyadic_options},
    .version = 1,
    .merge_bounds = true, /* which counters find no room depends on the order */
    .caps = dyadic_caps,
    .resolve = dyadic_resolve,
    .select = dyadic_select,
    .init = dyadic_init,
    .claims = dyadic_claims,
    .claim = dyadic_claim,
    .remove = dyadic_remove,
    .merge = dyadic_merge,
    .check = dyadic_check,
    .stat = dyadic_stat,
    .predict = dyadic_predict,
};
