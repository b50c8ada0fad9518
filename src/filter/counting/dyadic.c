/* dyadic.c - counts numbers, and answers how many of them lie in a range (Cohen and Matias,
 * Spectral Bloom filters, 2003, section 5.5).
 *
 *       | head | totals, 64 bytes | sums: 2^(t-3) words | parts: 2^t of 16 bits |
 *       | counters: a store of cells/counters.h |
 *
 * The values low .. low + 2^bits - 1 are the leaves of a binary tree.  A node (level, prefix) holds
 * the values that begin with the same `level` bits.  A value is counted in its node at level t (=
 * top), in the array `parts`; in its node three levels above, in the array `sums`; and in its nodes
 * at each level below t, in a spectral filter.  Nodes above `sums` are added up when needed.  A
 * range is a union of at most two nodes of each level (query/range.c).  Adding a value costs k
 * counters for each of bits - t levels.
 *
 * Sums are exact.  A part is exact below 65535, where it stays.  From then on it has what its sum
 * leaves, which is exact if only one of the sum's eight parts is that large.  So 3 bytes a node
 * count as well as the 4 bytes of a plain histogram.  By default these levels take as much of the
 * memory as they can use.
 *
 * A node in the filter is never counted too low.  It is too high with probability about
 * (1-e^(-nk/m))^k, where n, the number of distinct nodes, is at most the sum over levels of
 * min(distinct values, 2^level).  Nodes just below level t hold many values and need large
 * counters, so counters have 32 bits.
 *
 * The interface's "hash" is here the value itself, in order: with keys=i64 it is the value + 2^63.
 * Values outside of the domain have been refused before. */
#include "dyadic.h"
#include "counting.h"
#include "math/probability.h"
#include <assert.h>
#include <math.h>

enum {
    DYADIC_O_WIDTH = EBI_O_OWN,
    DYADIC_O_LOW,
    DYADIC_O_VALUES,
    DYADIC_O_TOP,
    DYADIC_O_K,
    DYADIC_O_POLICY,
    DYADIC_O_WINDOW
};
enum { DYADIC_POLICY_MS, DYADIC_POLICY_MI };
enum { DYADIC_NUMBERS, DYADIC_TIMES };
#define DYADIC_SIGN (UINT64_C(1) << 63)
enum {
    DYADIC_TOP_USUAL = 10,
    DYADIC_TOP_MAX = 20,
    DYADIC_LEAST_BELOW = 1024,
    DYADIC_SUM_LEVELS = 3,
    DYADIC_PART_FULL = UINT16_MAX
};

static const eb_option dyadic_options[] = {
    EBI_COMMON_OPTIONS_KEYS("u64"),
    {"bits", "int", "32", "1", "64", "values are low .. low + 2^bits - 1", false},
    {"low", "number", NULL, "-9223372036854775808", "18446744073709551615",
     "smallest value (default: 0, or with keys=i64 as many negative values as others)", false},
    {"values", "number|time|real", "number", NULL, NULL, "how values are written", false},
    {"top", "int", NULL, "0", "20", "2^top nodes are counted in an array", false},
    {"k", "int", "5", "1", "16", "counters for each node", false},
    {"update", "plain|conservative", "plain", NULL, NULL,
     "conservative: smaller errors, no removals", false},
    {"span", "int", NULL, "0", "65536", "a node's counters are this close together; 0: anywhere",
     false},
    {0}};

typedef struct dyadic_state {
    uint64_t total; /* of the counts of all nodes below the top; saturates */
    uint64_t reserved[7];
} dyadic_state;
static_assert(sizeof(dyadic_state) == 64, "one cache line");
enum { DYADIC_FIXED = sizeof(ebi_block_head) + sizeof(dyadic_state) };

/* A shard, opened */

typedef struct dyadic {
    const ebi_params *p;
    uint64_t *sums;
    uint16_t *parts;
    unsigned width, top, sum_bits; /* levels of the values, of parts and of sums */
    ebi_counting nodes;
} dyadic;

static unsigned dyadic_sum_bits(uint64_t top) {
    return top < DYADIC_SUM_LEVELS ? 0 : (unsigned)top - DYADIC_SUM_LEVELS;
}

static uint64_t dyadic_sum_bytes(uint64_t top) {
    return ebi_round_up(sizeof(uint64_t) << dyadic_sum_bits(top), 64);
}

static uint64_t dyadic_part_bytes(uint64_t top) {
    return ebi_round_up(sizeof(uint16_t) << top, 64);
}

static uint64_t dyadic_top_bytes(uint64_t top) {
    return dyadic_sum_bytes(top) + dyadic_part_bytes(top);
}

static ebi_counting
dyadic_counting(const ebi_params *p) { /* everything except the place of its counters */
    ebi_counting c = {.store = &ebi_store_u32, .n = p->opt[EBI_O_CELLS]};
    c.k = (unsigned)p->opt[DYADIC_O_K];
    c.bytes = p->span - DYADIC_FIXED - dyadic_top_bytes(p->opt[DYADIC_O_TOP]);
    c.window = p->opt[DYADIC_O_WINDOW] == 0 ? c.n : p->opt[DYADIC_O_WINDOW];
    c.part = c.window / c.k;
    c.linear = p->opt[DYADIC_O_POLICY] == DYADIC_POLICY_MS;
    return c;
}

static dyadic dyadic_open(const ebi_params *p, const uint8_t *block) {
    uint8_t *const own = ebi_writable(block);
    const uint64_t top = p->opt[DYADIC_O_TOP];
    dyadic d = {.p = p, .width = (unsigned)p->opt[DYADIC_O_WIDTH], .top = (unsigned)top};
    d.sum_bits = dyadic_sum_bits(top);
    d.sums = (uint64_t *)(void *)(own + DYADIC_FIXED);
    d.parts = (uint16_t *)(void *)(own + DYADIC_FIXED + dyadic_sum_bytes(top));
    d.nodes = dyadic_counting(p);
    d.nodes.counters = ebi_counters(d.nodes.store, block + DYADIC_FIXED + dyadic_top_bytes(top),
                                    d.nodes.n, d.nodes.bytes);
    d.nodes.total = &((dyadic_state *)(void *)(own + sizeof(ebi_block_head)))->total;
    return d;
}

/* The smallest value, in order. */
static uint64_t dyadic_low(const ebi_params *p) {
    return p->opt[EBI_O_KEYS] == EBI_KEYS_I64 ? p->opt[DYADIC_O_LOW] ^ DYADIC_SIGN
                                              : p->opt[DYADIC_O_LOW];
}

ebi_dyadic_form ebi_dyadic_shape(const ebi_params *p) {
    const unsigned width = (unsigned)p->opt[DYADIC_O_WIDTH];
    const uint64_t low = dyadic_low(p);
    const unsigned top = (unsigned)p->opt[DYADIC_O_TOP];
    return (ebi_dyadic_form){low, low + ebi_ones(width), width, top, dyadic_sum_bits(top)};
}

static void dyadic_domain(const ebi_params *p, uint64_t *low, uint64_t *high) {
    const ebi_dyadic_form shape = ebi_dyadic_shape(p);
    *low = shape.low;
    *high = shape.high;
}

/* Parameters */

/* The default of top=: as fine as possible, if a fifth of the memory, and the fewest counters, are
 * left for the nodes below.  If the domain is much finer than that, most values are in few parts of
 * the array, and memory is better spent on counters. */
enum { DYADIC_FAR_BELOW = 8 };
static uint64_t dyadic_usual_top(const ebi_params *p, const ebi_args *a) {
    const uint64_t most = ebi_min(DYADIC_TOP_MAX, p->opt[DYADIC_O_WIDTH]), budget = ebi_budget(p);
    const uint64_t room = budget > DYADIC_LEAST_BELOW ? (budget - DYADIC_LEAST_BELOW) / 5 * 4 : 0;
    uint64_t top = most;
    if (a->given[EBI_O_CELLS] || most <= DYADIC_TOP_USUAL) return ebi_min(DYADIC_TOP_USUAL, most);
    while (top > 0 && dyadic_top_bytes(top) > room) top--;
    return p->opt[DYADIC_O_WIDTH] - top > DYADIC_FAR_BELOW ? ebi_min(DYADIC_TOP_USUAL, top) : top;
}

static eb_status dyadic_resolve_low(ebi_params *p, const ebi_args *a, eb_error *err) {
    const unsigned width = (unsigned)p->opt[DYADIC_O_WIDTH];
    const bool is_signed = p->opt[EBI_O_KEYS] == EBI_KEYS_I64;
    if (!is_signed && p->opt[EBI_O_KEYS] != EBI_KEYS_U64)
        return ebi_fail(err, EB_ESPEC, "dyadic: keys must be i64 or u64: its keys are numbers");
    if (p->opt[DYADIC_O_VALUES] == DYADIC_TIMES && !is_signed)
        return ebi_fail(err, EB_ESPEC, "dyadic: values=time needs keys=i64");
    if (!a->given[DYADIC_O_LOW])
        p->opt[DYADIC_O_LOW] = is_signed ? 0 - (UINT64_C(1) << (width - 1)) : 0;
    const bool negative = a->real[DYADIC_O_LOW] < 0;
    const bool fits = is_signed ? negative || p->opt[DYADIC_O_LOW] <= INT64_MAX : !negative;
    if ((a->given[DYADIC_O_LOW] && !fits) || dyadic_low(p) > UINT64_MAX - ebi_ones(width))
        return ebi_fail(err, EB_ESPEC,
                        "dyadic: low must be so small that low + 2^%u - 1 is a number of keys=%s",
                        width, is_signed ? "i64" : "u64");
    return EB_OK;
}

static eb_status dyadic_resolve_domain(ebi_params *p, const ebi_args *a, eb_error *err) {
    EBI_TRY(dyadic_resolve_low(p, a, err));
    if (!a->given[DYADIC_O_TOP]) p->opt[DYADIC_O_TOP] = dyadic_usual_top(p, a);
    if (p->opt[DYADIC_O_TOP] > p->opt[DYADIC_O_WIDTH])
        return ebi_fail(err, EB_ESPEC, "dyadic: top must be 0..bits (%llu), not %llu",
                        (unsigned long long)p->opt[DYADIC_O_WIDTH],
                        (unsigned long long)p->opt[DYADIC_O_TOP]);
    return EB_OK;
}

static eb_status dyadic_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    EBI_TRY(dyadic_resolve_domain(p, a, err));
    EBI_TRY(ebi_counting_resolve_cells(
        p, a, "dyadic", &ebi_store_u32, 0,
        sizeof(dyadic_state) + dyadic_top_bytes(p->opt[DYADIC_O_TOP]), err));
    EBI_TRY(ebi_counting_resolve_window(p, a, "dyadic", DYADIC_O_WINDOW, DYADIC_O_K, err));
    p->value_min = 1;
    p->span = DYADIC_FIXED + dyadic_top_bytes(p->opt[DYADIC_O_TOP]) +
              ebi_counters_bytes(&ebi_store_u32, p->opt[EBI_O_CELLS], 0);
    return EB_OK;
}

/* From values to nodes */

/* A value's place in the domain.  With shards, batch.c has multiplied the value by a number. */
static uint64_t dyadic_place(const dyadic *d, eb_hash h) {
    const uint64_t value = d->p->opt[EBI_O_SHARDS] == 1 ? h : ebi_outer_hash(h);
    return (value - dyadic_low(d->p)) & ebi_ones(d->width);
}

/* The first bits of a place: the node of this level that holds it. */
static uint64_t dyadic_prefix(const dyadic *d, uint64_t place, unsigned level) {
    assert(level <= d->width);
    assert(level <= d->width);
    return level == 0 ? 0 : place >> (d->width - level);
}

static uint64_t *dyadic_sum(const dyadic *d, uint64_t place) {
    return &d->sums[dyadic_prefix(d, place, d->sum_bits)];
}

static uint16_t *dyadic_part(const dyadic *d, uint64_t place) {
    return &d->parts[dyadic_prefix(d, place, d->top)];
}

static uint16_t dyadic_part_plus(uint16_t part, uint64_t by) {
    return (uint16_t)ebi_min(DYADIC_PART_FULL, part + by);
}

/* The count of a node between sums and parts: the sum of its parts.  If one of these is full, it is
 * what the parts outside the node leave of the sum. */
static uint64_t dyadic_above(const dyadic *d, unsigned level, uint64_t prefix) {
    const unsigned below = d->top - level, all = d->top - d->sum_bits;
    const uint64_t first = prefix << below, last = first + ebi_ones(below);
    const uint64_t group = first >> all, sum = d->sums[group];
    uint64_t inside = 0, beside = 0;
    bool full = false;
    assert(level >= d->sum_bits && level <= d->top);
    for (uint64_t i = group << all; i <= (group << all) + ebi_ones(all); i++) {
        const bool in = i >= first && i <= last;
        if (d->parts[i] == DYADIC_PART_FULL)
            full = full || in;
        else if (in)
            inside += d->parts[i];
        else
            beside += d->parts[i];
    }
    if (sum == EBI_COUNTER_MAX || !full) return full ? sum : inside;
    return sum > beside ? sum - beside : 0;
}

typedef struct dyadic_node {
    uint64_t prefix, level;
} dyadic_node;

static void dyadic_hash(const ebi_params *p, const dyadic_node *nodes, size_t n, eb_hash *out) {
    eb_key keys[EBI_BATCH];
    if (p->opt[EBI_O_HASH] != EBI_HASH_SIP) {
        ebi_hash_xxh3_column(p->opt[EBI_O_SEED], nodes, sizeof *nodes, sizeof *nodes, n, out);
        return;
    }
    for (size_t i = 0; i < n; i++) keys[i] = (eb_key){&nodes[i], sizeof nodes[i]};
    ebi_hash_sip(p->secret, keys, n, out);
}

/* The hashes of the nodes below the top that hold a value, the lowest node first. */
static size_t dyadic_path(const dyadic *d, uint64_t place, eb_hash *out) {
    dyadic_node nodes[EBI_BATCH];
    const size_t n = d->width - d->top;
    if (n == 0) return 0;
    for (size_t i = 0; i < n; i++) nodes[i] = (dyadic_node){place >> i, d->width - i};
    dyadic_hash(d->p, nodes, n, out);
    return n;
}

/* Loops */

/* Counts a value in the nodes of its path.  Returns whether it was (probably) there. */
static bool dyadic_raise(const dyadic *d, uint64_t place, uint32_t by) {
    assert(by >= 1);
    const ebi_counting *const c = &d->nodes;
    uint64_t *const sum = dyadic_sum(d, place);
    uint16_t *const part = dyadic_part(d, place);
    uint64_t pos[EBI_BATCH * EBI_COUNTING_K_MAX];
    eb_hash hash[EBI_BATCH];
    bool seen = *part > 0;
    const size_t n = dyadic_path(d, place, hash);
    ebi_counting_fetch(c, hash, n, pos);
    for (size_t i = 0; i < n; i++) {
        const uint64_t *const at = pos + i * c->k;
        const bool there = ebi_counting_raise_all(c, at, by, !c->linear) > 0;
        if (i == 0) seen = there;
        ebi_counting_raise_total(c, by);
    }
    *sum = ebi_counter_sum(*sum, by);
    *part = dyadic_part_plus(*part, by);
    return seen;
}

static void dyadic_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen) {
    assert(b->n <= EBI_BATCH);
    const dyadic d = dyadic_open(p, block);
    for (size_t i = 0; i < b->n; i++)
        seen[i] = dyadic_raise(&d, dyadic_place(&d, b->hash[i]), b->value[i]);
}

static uint64_t dyadic_minimum(const dyadic *d, unsigned level, uint64_t prefix) {
    assert(level <= d->width);
    const dyadic_node node = {prefix, level};
    uint64_t pos[EBI_COUNTING_K_MAX], counter[EBI_COUNTING_K_MAX];
    eb_hash h;
    dyadic_hash(d->p, &node, 1, &h);
    ebi_counting_positions(&d->nodes, h, pos);
    return ebi_counting_minimum(&d->nodes, pos, counter);
}

static uint64_t dyadic_value(const dyadic *d, eb_hash h) {
    const uint64_t place = dyadic_place(d, h);
    return d->width == d->top ? dyadic_above(d, d->top, place) : dyadic_minimum(d, d->width, place);
}

static void dyadic_test(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                        uint8_t *seen) {
    assert(b->n <= EBI_BATCH);
    const dyadic d = dyadic_open(p, block);
    for (size_t i = 0; i < b->n; i++) seen[i] = dyadic_value(&d, b->hash[i]) > 0;
}

static void dyadic_count(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                         double *count) {
    assert(b->n <= EBI_BATCH);
    const dyadic d = dyadic_open(p, block);
    for (size_t i = 0; i < b->n; i++) count[i] = ebi_counter_count(dyadic_value(&d, b->hash[i]));
}

/* For query/range.c */

uint64_t ebi_dyadic_node(const ebi_params *p, const uint8_t *block, unsigned level,
                         uint64_t prefix) {
    const dyadic d = dyadic_open(p, block);
    return level <= d.top ? dyadic_above(&d, level, prefix) : dyadic_minimum(&d, level, prefix);
}

uint64_t ebi_dyadic_sum(const ebi_params *p, const uint8_t *block, uint64_t first, uint64_t last) {
    const dyadic d = dyadic_open(p, block);
    uint64_t sum = 0;
    assert(first <= last && last >> d.sum_bits == 0);
    for (uint64_t i = first;
         i <= last;) { /* so few at once that they fit in 64 bits, without branches */
        const uint64_t stop = ebi_min(last, i + 4095);
        uint64_t some = 0;
        for (; i <= stop; i++) some += d.sums[i];
        sum = ebi_counter_sum(sum, ebi_min(some, EBI_COUNTER_MAX));
    }
    return sum;
}

/* Removing: a value's nodes */

static ebi_batch dyadic_batch(const dyadic *d, uint64_t place, uint32_t by, eb_hash *hash,
                              uint32_t *value) {
    const ebi_batch path = {dyadic_path(d, place, hash), hash, value, NULL, NULL, NULL};
    for (size_t i = 0; i < path.n; i++) value[i] = by;
    return path;
}

static unsigned dyadic_claims(const ebi_params *p) { /* plus a sum and a part */
    return (unsigned)((p->opt[DYADIC_O_WIDTH] - p->opt[DYADIC_O_TOP]) * p->opt[DYADIC_O_K]) + 2;
}

static size_t dyadic_claim(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                           const ebi_claims *claims) {
    assert(b->n <= EBI_BATCH);
    const dyadic d = dyadic_open(p, block);
    eb_hash hash[EBI_BATCH];
    uint32_t value[EBI_BATCH];
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t place = dyadic_place(&d, b->hash[i]);
        const uint64_t *const sum = dyadic_sum(&d, place);
        const uint16_t *const part = dyadic_part(&d, place);
        const ebi_batch path = dyadic_batch(&d, place, b->value[i], hash, value);
        if (*sum < EBI_COUNTER_MAX && !ebi_claim(claims, sum, 0, b->value[i], *sum)) return i;
        if (*part < DYADIC_PART_FULL && !ebi_claim(claims, part, 0, b->value[i], *part)) return i;
        if (ebi_counting_claim(&d.nodes, &path, claims) < path.n) return i;
    }
    return b->n;
}

static void dyadic_remove(const ebi_params *p, uint8_t *block, const ebi_batch *b) {
    assert(b->n <= EBI_BATCH);
    const dyadic d = dyadic_open(p, block);
    eb_hash hash[EBI_BATCH];
    uint32_t value[EBI_BATCH];
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t place = dyadic_place(&d, b->hash[i]);
        uint64_t *const sum = dyadic_sum(&d, place);
        uint16_t *const part = dyadic_part(&d, place);
        const ebi_batch path = dyadic_batch(&d, place, b->value[i], hash, value);
        ebi_counting_remove(&d.nodes, &path);
        if (*sum < EBI_COUNTER_MAX) *sum -= b->value[i];
        if (*part < DYADIC_PART_FULL) *part = (uint16_t)(*part - b->value[i]);
    }
}

/* The whole filter */

static uint64_t dyadic_caps(const ebi_params *p) {
    const bool linear = p->opt[DYADIC_O_POLICY] == DYADIC_POLICY_MS;
    return EB_CAN_COUNT | EB_NO_FALSE_NEGATIVES | EB_USES_VALUE | EB_KEYS_ARE_NUMBERS |
           EB_CAN_MERGE | (linear ? EB_CAN_REMOVE | EB_ORDER_FREE : 0);
}

static void dyadic_init(const ebi_params *p, uint8_t *block) {
    const dyadic d = dyadic_open(p, block);
    if (d.nodes.store->init) d.nodes.store->init(&d.nodes.counters);
}

static void dyadic_merge(const ebi_params *p, uint8_t *into, const ebi_params *q,
                         const uint8_t *from) {
    (void)q;
    const dyadic a = dyadic_open(p, into), b = dyadic_open(p, from);
    for (uint64_t i = 0; i < UINT64_C(1) << a.sum_bits; i++)
        a.sums[i] = ebi_counter_sum(a.sums[i], b.sums[i]);
    for (uint64_t i = 0; i < UINT64_C(1) << a.top; i++)
        a.parts[i] = dyadic_part_plus(a.parts[i], b.parts[i]);
    ebi_counting_merge(&a.nodes, &b.nodes, 1);
}

/* A sum equals that of its parts, or is larger if one of them is full. */
static bool dyadic_adds_up(const dyadic *d, uint64_t group) {
    const uint64_t each = UINT64_C(1) << (d->top - d->sum_bits), sum = d->sums[group];
    uint64_t parts = 0;
    bool full = false;
    for (uint64_t i = group * each; i < (group + 1) * each; i++) {
        if (d->parts[i] == DYADIC_PART_FULL)
            full = true;
        else
            parts += d->parts[i];
    }
    if (sum >= EBI_COUNTER_MAX) return sum == EBI_COUNTER_MAX;
    return full ? sum >= parts : sum == parts;
}

static bool dyadic_check_top(const dyadic *d) {
    const uint64_t sums = UINT64_C(1) << d->sum_bits, parts = UINT64_C(1) << d->top;
    for (uint64_t i = 0; i < sums; i++)
        if (!dyadic_adds_up(d, i)) return false;
    return ebi_is_zero(d->sums + sums, dyadic_sum_bytes(d->top) - sums * sizeof *d->sums) &&
           ebi_is_zero(d->parts + parts, dyadic_part_bytes(d->top) - parts * sizeof *d->parts);
}

static eb_status dyadic_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    const dyadic d = dyadic_open(p, block);
    bool sane = *d.nodes.total <= EBI_COUNTER_MAX && d.nodes.store->check(&d.nodes.counters);
    for (size_t i = 1; i < sizeof(dyadic_state) / 8; i++) sane = sane && d.nodes.total[i] == 0;
    if (sane && dyadic_check_top(&d)) return EB_OK;
    return ebi_fail(err, EB_EFORMAT, "damaged dyadic filter: its counters are invalid");
}

/* If all nodes are counted exactly, fpr is the share of values that occurred. */
static void dyadic_stat(const ebi_params *p, const uint8_t *block, eb_stats *out) {
    const dyadic d = dyadic_open(p, block);
    ebi_counting_stat(&d.nodes, out);
    if (d.width > d.top) return;
    uint64_t used = 0;
    for (uint64_t i = 0; i < UINT64_C(1) << d.top; i++) used += d.parts[i] > 0;
    out->fpr = (double)used / (double)(UINT64_C(1) << d.top);
}

/* The number of nodes of a level that values spread over the domain occupy.  If the domain is all
 * 64-bit numbers, the values of a shard have their first bits in common. */
static double dyadic_nodes_at(const ebi_params *p, unsigned level, double distinct) {
    assert(distinct >= 0);
    const double shared = log2((double)p->opt[EBI_O_SHARDS]) + (double)p->opt[DYADIC_O_WIDTH] - 64;
    const double nodes = exp2(fmax(0, level - fmax(0, shared)));
    return nodes * ebi_one_minus_pow1m(1 / nodes, distinct);
}

static double dyadic_nodes(const ebi_params *p, double distinct) {
    double sum = 0;
    for (unsigned level = (unsigned)p->opt[DYADIC_O_TOP] + 1; level <= p->opt[DYADIC_O_WIDTH];
         level++)
        sum += dyadic_nodes_at(p, level, distinct);
    return sum;
}

/* A new value looks known if its place is occupied (in a narrow domain) or if its node's counters
 * are. */
static double dyadic_fpr(const ebi_params *p, double distinct, double *fill) {
    const ebi_counting c = dyadic_counting(p);
    const double there = ebi_one_minus_pow1m(exp2(-(double)p->opt[DYADIC_O_WIDTH]), distinct);
    const double nodes = dyadic_nodes(p, distinct);
    *fill = 0;
    if (!(nodes > 0)) return there;
    return there + (1 - there) * ebi_counting_fpr(&c, nodes, fill);
}

static void dyadic_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    enum { DYADIC_STEPS = 64 };
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
    for (int i = 0; i < DYADIC_STEPS; i++)
        out->mean_fpr += dyadic_fpr(p, distinct * (i + 0.5) / DYADIC_STEPS, &fill) / DYADIC_STEPS;
}

static const ebi_removing dyadic_removing = {
    .claims = dyadic_claims, .claim = dyadic_claim, .remove = dyadic_remove};

const ebi_kind ebi_kind_dyadic = {
    .info = {"dyadic", "counts numbers, and how many lie in a range",
             "Cohen and Matias, Spectral Bloom filters, 2003, section 5.5",
             EB_CAN_COUNT | EB_NO_FALSE_NEGATIVES | EB_USES_VALUE | EB_CAN_REMOVE | EB_CAN_MERGE |
                 EB_KEYS_ARE_NUMBERS,
             dyadic_options, "How many numbers or times lie in a range?"},
    .version = 3,
    .traits = EBI_MERGE_BOUNDS, /* which counters find no room depends on the order */
    .caps = dyadic_caps,
    .resolve = dyadic_resolve,
    .ops = {.add = dyadic_add, .test = dyadic_test, .count = dyadic_count},
    .init = dyadic_init,
    .merge = dyadic_merge,
    .check = dyadic_check,
    .stat = dyadic_stat,
    .predict = dyadic_predict,
    .domain = dyadic_domain,
    .removing = &dyadic_removing,
};
