/* spectral_rm.c - counting filters that look for the recurring minimum (Cohen and Matias, SIGMOD
 * 2003, section 3.3), in one improved version and three published ones.  Use it where keys are
 * removed.
 *
 * The first counters are those of spectral:update=plain: every add raises all k counters of a key.
 * If only one of them has the minimum, the minimum is suspect, and the key is kept elsewhere, too.
 *
 *       rmx    | head | total, 64 bytes | counters | side table, 16 bytes an entry |
 *       others | head | total, 64 bytes | counters | second counters | marks or traps |
 *
 *     method=rmx     (improved) The key gets an entry in an exact side table, by its whole hash,
 * that begins with the minimum.  From then on only the key's own adds and removals change it. The
 * estimate is the smaller of entry and minimum.  Both are never below the count, and so is the
 * estimate, whatever is added, removed, evicted or lost.  An entry of a full bucket can be replaced
 * if it knows no more than the counters; if there is none, the new key gets no entry.  Merging adds
 * the estimates of entries. method=rm      The key is copied to the second counters, and updated
 * there while its minimum is single.  Adds while the minimum recurs are lost there, so counts may
 * be too low even without removals (6 % of the keys at n k = 0.7 m). method=rm+bf   A Bloom filter
 * with one bit for each counter marks copied keys, and all their adds go to both counters.  A key
 * that is marked by chance gets its answer from what other keys left in the second counters.  So
 * does a key that seemed to be there already when it was about to be copied. method=trm     The
 * text of section 3.3.1: copying a key sets a trap on its single minimum.  The next other key that
 * hits the trap subtracts its own estimate from the copied key's second counters, once.  Copied
 * keys are updated in both.  A key that was never copied springs traps with other keys' counts.
 * (The paper's figure differs from its text: it lowers the first counters when a key is copied, and
 * loses adds.  lab/p004_figure2.c has it.)
 *
 * rm, rm+bf and trm are kept for comparison: their counts may be too low, and they cannot be
 * merged.  For the same memory, spectral has fewer wrong counts than they have.  The errors of rmx
 * are 5 to 15 times smaller than theirs if the repeats of a key are mixed with other keys. */
#include "cells/side.h"
#include "counting.h"
#include "math/probability.h"
#include <math.h>

enum { SPECTRAL_RM_O_SECOND = EBI_C_OWN, SPECTRAL_RM_O_SHARE };
enum {
    SPECTRAL_RM_POLICY_RMX,
    SPECTRAL_RM_POLICY_RM,
    SPECTRAL_RM_POLICY_RM_BF,
    SPECTRAL_RM_POLICY_TRM
};

static const eb_option spectral_rm_options[] = {
    EBI_COUNTING_OPTIONS("2", "method", "rmx|rm|rm+bf|trm", "rmx",
                         "rmx: never too low; others as published", "u32|line|sai", "u32"),
    {"second", "count", NULL, "16", "1e13", "entries of the side table, or second counters", false},
    {"second_share", "fixed", NULL, "0.01", "0.9",
     "share of all counters, or of the memory, for these", true},
    {0}};

/* Sizes of the segments */

static uint64_t spectral_rm_second_bytes(const ebi_params *p) {
    if (p->opt[EBI_C_POLICY] == SPECTRAL_RM_POLICY_RMX)
        return p->opt[SPECTRAL_RM_O_SECOND] * sizeof(ebi_side_slot);
    return ebi_counting_bytes(p, p->opt[SPECTRAL_RM_O_SECOND]);
}

static uint64_t spectral_rm_extra_bytes(const ebi_params *p) {
    if (p->opt[EBI_C_POLICY] == SPECTRAL_RM_POLICY_RM_BF)
        return ebi_round_up((p->opt[EBI_O_CELLS] + p->opt[SPECTRAL_RM_O_SECOND]) / 8 + 1, 64);
    return p->opt[EBI_C_POLICY] == SPECTRAL_RM_POLICY_TRM
               ? ebi_round_up(8 * p->opt[EBI_O_CELLS], 64)
               : 0;
}

/* A shard, opened */

typedef struct spectral_rm {
    ebi_counting first, second;
    ebi_side side;
    uint8_t *marks;
    uint64_t *traps; /* for each counter: the hash of the key that set a trap, or 0 */
    uint64_t policy;
} spectral_rm;

static spectral_rm spectral_rm_open(const ebi_params *p, const uint8_t *block) {
    spectral_rm r = {.policy = p->opt[EBI_C_POLICY]};
    r.first = ebi_counting_open(p, block);
    uint8_t *const after = ebi_writable(block) + EBI_COUNTING_FIXED + r.first.bytes;
    if (r.policy == SPECTRAL_RM_POLICY_RMX) {
        r.side.slots = (ebi_side_slot *)(void *)after;
        r.side.buckets = p->opt[SPECTRAL_RM_O_SECOND] / EBI_SIDE_WAYS;
        return r;
    }
    r.second = ebi_counting_shape(p, ebi_counting_store(p), p->opt[SPECTRAL_RM_O_SECOND]);
    r.second.bytes = spectral_rm_second_bytes(p);
    r.second.counters = ebi_counters(r.second.store, after, r.second.n, r.second.bytes);
    r.marks = after + r.second.bytes;
    r.traps = (uint64_t *)(void *)r.marks;
    return r;
}

/* Parameters */

/* Sizes counters and second counters for a budget: `share` of all counters are second ones. */
static void spectral_rm_size_pair(ebi_params *p, uint64_t budget, double share) {
    assert(share > 0);
    const double mark = p->opt[EBI_C_POLICY] == SPECTRAL_RM_POLICY_RM_BF;
    const double trap = p->opt[EBI_C_POLICY] == SPECTRAL_RM_POLICY_TRM ? 64 : 0;
    const double bits = ((double)p->opt[EBI_C_BITS] / 1e6 + mark) / (1 - share) + trap;
    uint64_t cells = (uint64_t)((double)budget * 8 / bits);
    do {
        p->opt[EBI_O_CELLS] = cells;
        p->opt[SPECTRAL_RM_O_SECOND] = (uint64_t)((double)cells * share / (1 - share));
    } while (cells-- > 64 && ebi_counting_first_bytes(p) + spectral_rm_second_bytes(p) +
                                     spectral_rm_extra_bytes(p) >
                                 budget);
}

static void spectral_rm_size(ebi_params *p, const ebi_args *a) {
    const bool table = p->opt[EBI_C_POLICY] == SPECTRAL_RM_POLICY_RMX;
    const double share = a->given[SPECTRAL_RM_O_SHARE] ? a->real[SPECTRAL_RM_O_SHARE]
                         : table                       ? 0.2
                                                       : 1 / 3.0;
    uint64_t budget = ebi_budget(p);
    budget -= ebi_min(budget, sizeof(ebi_counting_words));
    if (!table && !a->given[SPECTRAL_RM_O_SECOND]) {
        spectral_rm_size_pair(p, budget, share);
        return;
    }
    if (!a->given[SPECTRAL_RM_O_SECOND])
        p->opt[SPECTRAL_RM_O_SECOND] = (uint64_t)((double)budget / 16 * share) / 8 * 8;
    budget -= ebi_min(budget, spectral_rm_second_bytes(p));
    p->opt[EBI_O_CELLS] = ebi_counting_cells(ebi_counting_store(p), budget, p->opt[EBI_C_BITS]);
    while (p->opt[EBI_O_CELLS] > 64 &&
           ebi_counting_first_bytes(p) + spectral_rm_extra_bytes(p) > budget)
        p->opt[EBI_O_CELLS] -= 64;
}

static eb_status spectral_rm_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    EBI_TRY(ebi_counting_resolve_bits(p, a, "spectral_rm", err));
    if (!a->given[EBI_O_CELLS])
        spectral_rm_size(p, a);
    else if (!a->given[SPECTRAL_RM_O_SECOND])
        p->opt[SPECTRAL_RM_O_SECOND] =
            p->opt[EBI_O_CELLS] / (p->opt[EBI_C_POLICY] == SPECTRAL_RM_POLICY_RMX ? 64 : 2);
    if (p->opt[EBI_C_POLICY] == SPECTRAL_RM_POLICY_RMX)
        p->opt[SPECTRAL_RM_O_SECOND] = p->opt[SPECTRAL_RM_O_SECOND] / 8 * 8;
    if (!a->given[SPECTRAL_RM_O_SECOND])
        p->opt[SPECTRAL_RM_O_SECOND] = ebi_max(p->opt[SPECTRAL_RM_O_SECOND], 16);
    const uint64_t counters =
        ebi_counting_first_bytes(p) + spectral_rm_second_bytes(p) + spectral_rm_extra_bytes(p);
    p->span = EBI_COUNTING_FIXED + counters;
    if (!a->given[EBI_O_CELLS] &&
        (p->opt[EBI_O_CELLS] < 64 || p->span - sizeof(ebi_block_head) > ebi_budget(p)))
        return ebi_fail(err, EB_ESPEC, "spectral_rm: memory=%llu is too small",
                        (unsigned long long)p->opt[EBI_O_MEMORY]);
    return ebi_counting_resolve(p, a, "spectral_rm", err);
}

/* A key's minimum */

typedef struct spectral_rm_minimum {
    uint64_t value;
    unsigned times; /* how many counters have it */
    unsigned where; /* the last of them */
} spectral_rm_minimum;

static spectral_rm_minimum spectral_rm_least(const uint64_t *counter, unsigned k) {
    assert(k >= 1 && k <= EBI_COUNTING_K_MAX);
    spectral_rm_minimum m = {ebi_counting_least(counter, k), 0, 0};
    for (unsigned j = 0; j < k; j++) {
        if (counter[j] != m.value) continue;
        m.times++;
        m.where = j;
    }
    return m;
}

static spectral_rm_minimum spectral_rm_read(const ebi_counting *c, const uint64_t *pos) {
    uint64_t counter[EBI_COUNTING_K_MAX];
    c->store->read(&c->counters, pos, c->k, counter);
    return spectral_rm_least(counter, c->k);
}

static uint64_t spectral_rm_minimum_of(const ebi_counting *c, eb_hash h) {
    uint64_t pos[EBI_COUNTING_K_MAX];
    ebi_counting_positions(c, h, pos);
    return spectral_rm_read(c, pos).value;
}

/* rmx */

static bool spectral_rm_worthless(const spectral_rm *r, const ebi_side_slot *s) {
    return s->count == 1 || spectral_rm_minimum_of(&r->first, s->hash) <= s->count - 1;
}

/* A slot for a new entry: an empty one, or one whose entry is worthless because its key was removed
 * or the counters know as much.  Such an entry may become useful again, so each must get its turn
 * to be replaced: the search begins at a place that changes with the count. */
static ebi_side_slot *spectral_rm_make_room(const spectral_rm *r, eb_hash h, uint64_t count) {
    ebi_side_slot *const bucket = ebi_side_bucket(&r->side, h);
    for (size_t i = 0; i < EBI_SIDE_WAYS; i++)
        if (bucket[i].count == 0) return bucket + i;
    for (uint64_t i = 0; i < EBI_SIDE_WAYS; i++) {
        ebi_side_slot *const s = bucket + (h + count + i) % EBI_SIDE_WAYS;
        if (spectral_rm_worthless(r, s)) return s;
    }
    return NULL;
}

static uint64_t spectral_rmx_estimate(const spectral_rm *r, eb_hash h, uint64_t least) {
    const ebi_side_slot *const s = ebi_side_find(&r->side, h);
    return s ? ebi_min(s->count - 1, least) : least;
}

static void spectral_rmx_insert(const spectral_rm *r, eb_hash h, spectral_rm_minimum after,
                                uint64_t value) {
    ebi_side_slot *s = ebi_side_find(&r->side, h);
    if (s) {
        s->count = ebi_min(ebi_counter_sum(s->count - 1, value), after.value) + 1;
    } else if (after.times == 1 && (s = spectral_rm_make_room(r, h, after.value)) != NULL) {
        *s = (ebi_side_slot){h, after.value + 1};
    }
}

/* The published methods */

static eb_hash
spectral_rm_second_hash(eb_hash h) { /* other positions than those of the first counters */
    return ebi_mix(h + UINT64_C(0xA0761D6478BD642F));
}

static bool spectral_rm_mark(const spectral_rm *r, eb_hash h,
                             bool set) { /* returns whether all were set */
    uint64_t pos[EBI_COUNTING_K_MAX];
    const uint64_t part = (r->first.n + r->second.n) / r->first.k;
    bool all = true;
    ebi_positions(ebi_mix(h + UINT64_C(0xE7037ED1A0B428DB)), r->first.k, part, part, pos);
    for (unsigned j = 0; j < r->first.k; j++) {
        uint8_t *const byte = r->marks + pos[j] / 8;
        const uint8_t bit = (uint8_t)(1u << pos[j] % 8);
        all = all && (*byte & bit);
        if (set) *byte |= bit;
    }
    return all;
}

static void spectral_rm_lower_second(const spectral_rm *r, eb_hash h,
                                     uint64_t by) { /* unless one of them is 0 */
    uint64_t pos[EBI_COUNTING_K_MAX];
    ebi_counting_positions(&r->second, spectral_rm_second_hash(h), pos);
    ebi_counting_lower_all(&r->second, pos, ebi_min(by, spectral_rm_read(&r->second, pos).value));
}

static void spectral_rm_spring_traps(const spectral_rm *r, eb_hash h, const uint64_t *pos,
                                     uint64_t by) {
    for (unsigned j = 0; j < r->first.k; j++) {
        const eb_hash owner = r->traps[pos[j]];
        if (owner == 0 || owner == h) continue;
        spectral_rm_lower_second(r, owner, by);
        r->traps[pos[j]] = 0;
    }
}

static uint64_t spectral_rm_estimate(const spectral_rm *r, eb_hash h, spectral_rm_minimum least) {
    const bool second =
        r->policy == SPECTRAL_RM_POLICY_RM_BF ? spectral_rm_mark(r, h, false) : least.times == 1;
    if (!second) return least.value;
    const uint64_t there = spectral_rm_minimum_of(&r->second, spectral_rm_second_hash(h));
    return there > 0 ? there : least.value;
}

/* What raising a key's counters by its value changes: the minimum before and after. */
typedef struct spectral_rm_change {
    spectral_rm_minimum before, after;
} spectral_rm_change;

static void spectral_rm_insert(const spectral_rm *r, eb_hash h, const uint64_t *pos,
                               const spectral_rm_change *c, uint64_t value) {
    uint64_t second[EBI_COUNTING_K_MAX];
    const bool marked = r->policy == SPECTRAL_RM_POLICY_RM_BF && spectral_rm_mark(r, h, false);
    const bool traps = r->policy == SPECTRAL_RM_POLICY_TRM, single = c->after.times == 1;
    if (traps) spectral_rm_spring_traps(r, h, pos, spectral_rm_estimate(r, h, c->before));
    if (!single && !marked && !traps) return;
    ebi_counting_positions(&r->second, spectral_rm_second_hash(h), second);
    const bool there = marked || spectral_rm_read(&r->second, second).value > 0;
    if (!single && !there) return;
    (void)ebi_counting_raise_all(&r->second, second, there ? value : c->after.value, false);
    if (r->policy == SPECTRAL_RM_POLICY_RM_BF) (void)spectral_rm_mark(r, h, true);
    if (traps && !there) r->traps[pos[c->after.where]] = h;
}

/* Loops */

static void spectral_rm_fetch(const spectral_rm *r, const eb_hash *h, size_t n, uint64_t *pos) {
    ebi_counting_fetch(&r->first, h, n, pos);
    for (size_t i = 0; i < n && r->policy == SPECTRAL_RM_POLICY_RMX; i++) {
        ebi_prefetch_write(ebi_side_bucket(&r->side, h[i]));
        ebi_prefetch_write(ebi_side_bucket(&r->side, h[i]) + EBI_SIDE_WAYS / 2);
    }
}

EBI_INLINE uint64_t spectral_rm_answer(const spectral_rm *r, eb_hash h, spectral_rm_minimum least) {
    return r->policy == SPECTRAL_RM_POLICY_RMX ? spectral_rmx_estimate(r, h, least.value)
                                               : spectral_rm_estimate(r, h, least);
}

EBI_INLINE spectral_rm_change spectral_rm_raise(const spectral_rm *r, const uint64_t *pos,
                                                uint64_t value) {
    uint64_t counter[EBI_COUNTING_K_MAX] = {0};
    for (unsigned j = 0; j < r->first.k; j++)
        counter[j] = ebi_counting_raise(&r->first, pos[j], value);
    ebi_counting_raise_total(&r->first, value);
    return (spectral_rm_change){spectral_rm_least(counter, r->first.k),
                                spectral_rm_read(&r->first, pos)};
}

EBI_INLINE void spectral_rm_follow(const spectral_rm *r, eb_hash h, const uint64_t *pos,
                                   const spectral_rm_change *c, uint64_t value) {
    if (r->policy == SPECTRAL_RM_POLICY_RMX)
        spectral_rmx_insert(r, h, c->after, value);
    else
        spectral_rm_insert(r, h, pos, c, value);
}

/* seen or after is NULL. */
EBI_INLINE void spectral_rm_add_all(const ebi_params *p, uint8_t *block, const ebi_batch *b,
                                    uint8_t *seen, double *after) {
    assert(b->n <= EBI_BATCH && (seen == NULL) != (after == NULL));
    const spectral_rm r = spectral_rm_open(p, block);
    uint64_t pos[EBI_BATCH * EBI_COUNTING_K_MAX];
    spectral_rm_fetch(&r, b->hash, b->n, pos);
    for (size_t i = 0; i < b->n; i++) {
        const eb_hash h = b->hash[i];
        const spectral_rm_change c = spectral_rm_raise(&r, pos + i * r.first.k, b->value[i]);
        if (seen) seen[i] = spectral_rm_answer(&r, h, c.before) > 0;
        spectral_rm_follow(&r, h, pos + i * r.first.k, &c, b->value[i]);
        if (after) after[i] = ebi_counter_count(spectral_rm_answer(&r, h, c.after));
    }
}

static void spectral_rm_add(const ebi_params *p, uint8_t *block, const ebi_batch *b,
                            uint8_t *seen) {
    spectral_rm_add_all(p, block, b, seen, NULL);
}

static void spectral_rm_add_count(const ebi_params *p, uint8_t *block, const ebi_batch *b,
                                  double *after) {
    spectral_rm_add_all(p, block, b, NULL, after);
}

static void spectral_rm_estimates(const ebi_params *p, const uint8_t *block, const eb_hash *h,
                                  size_t n, uint64_t *estimate) {
    assert(n <= EBI_BATCH);
    const spectral_rm r = spectral_rm_open(p, block);
    uint64_t pos[EBI_BATCH * EBI_COUNTING_K_MAX];
    spectral_rm_fetch(&r, h, n, pos);
    for (size_t i = 0; i < n; i++)
        estimate[i] = spectral_rm_answer(&r, h[i], spectral_rm_read(&r.first, pos + i * r.first.k));
}

EBI_COUNTING_LOOPS(spectral_rm)

/* Removing. rmx refuses if the entry or the counters show that it would be too much.  An entry that
 * reaches 0 stays: it knows that its key is gone. */

static unsigned spectral_rm_claims(const ebi_params *p) {
    return ebi_counting_claims(p) + 1; /* a counter and an entry */
}

static size_t spectral_rmx_claim_entries(const spectral_rm *r, const ebi_batch *b,
                                         const ebi_claims *claims) {
    for (size_t i = 0; i < b->n; i++) {
        const ebi_side_slot *const s = ebi_side_find(&r->side, b->hash[i]);
        if (s && s->count <= EBI_COUNTER_MAX && !ebi_claim(claims, s, 0, b->value[i], s->count - 1))
            return i;
    }
    return b->n;
}

static size_t spectral_rm_claim(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                                const ebi_claims *claims) {
    assert(b->n <= EBI_BATCH);
    const spectral_rm r = spectral_rm_open(p, block);
    const size_t refused = ebi_counting_claim(&r.first, b, claims);
    return r.policy == SPECTRAL_RM_POLICY_RMX
               ? ebi_min_size(refused, spectral_rmx_claim_entries(&r, b, claims))
               : refused;
}

static void spectral_rmx_lower_entry(const spectral_rm *r, eb_hash h, uint32_t by) {
    ebi_side_slot *const s = ebi_side_find(&r->side, h);
    if (s && s->count <= EBI_COUNTER_MAX) s->count -= by;
}

static void spectral_rm_lower_published(const spectral_rm *r, eb_hash h, uint32_t by) {
    uint64_t pos[EBI_COUNTING_K_MAX];
    ebi_counting_positions(&r->first, h, pos);
    if (spectral_rm_read(&r->first, pos).times == 1 || r->policy == SPECTRAL_RM_POLICY_TRM ||
        (r->policy == SPECTRAL_RM_POLICY_RM_BF && spectral_rm_mark(r, h, false)))
        spectral_rm_lower_second(r, h, by);
}

static void spectral_rm_remove(const ebi_params *p, uint8_t *block, const ebi_batch *b) {
    assert(b->n <= EBI_BATCH);
    const spectral_rm r = spectral_rm_open(p, block);
    for (size_t i = 0; i < b->n; i++) {
        const ebi_batch one = ebi_batch_cut(b, i, 1);
        ebi_counting_remove(&r.first, &one);
        (r.policy == SPECTRAL_RM_POLICY_RMX
             ? spectral_rmx_lower_entry
             : spectral_rm_lower_published)(&r, b->hash[i], b->value[i]);
    }
}

/* Merging side tables, before the counters are added up: of all keys with an entry on either side,
 * those are kept whose entries differ most from the counters. */

typedef struct spectral_rm_candidate {
    ebi_side_slot slot;
    uint64_t worth;
} spectral_rm_candidate;

static spectral_rm_candidate spectral_rm_join(const spectral_rm *a, const spectral_rm *b,
                                              eb_hash h) {
    uint64_t pos[EBI_COUNTING_K_MAX], x[EBI_COUNTING_K_MAX], y[EBI_COUNTING_K_MAX];
    ebi_counting_positions(&a->first, h, pos);
    const uint64_t left = spectral_rmx_estimate(a, h, ebi_counting_minimum(&a->first, pos, x));
    const uint64_t right = spectral_rmx_estimate(b, h, ebi_counting_minimum(&b->first, pos, y));
    const uint64_t sum = ebi_counter_sum(left, right);
    for (unsigned j = 0; j < a->first.k; j++) x[j] = ebi_counter_sum(x[j], y[j]);
    return (spectral_rm_candidate){{h, sum + 1}, ebi_counting_least(x, a->first.k) - sum};
}

static void spectral_rm_keep(spectral_rm_candidate *best, size_t *n,
                             spectral_rm_candidate c) { /* sorted by worth */
    assert(*n <= EBI_SIDE_WAYS);
    size_t i = *n < EBI_SIDE_WAYS ? (*n)++ : EBI_SIDE_WAYS;
    for (; i > 0 && best[i - 1].worth < c.worth; i--)
        if (i < EBI_SIDE_WAYS) best[i] = best[i - 1];
    if (i < EBI_SIDE_WAYS) best[i] = c;
}

static void spectral_rm_merge_bucket(const spectral_rm *a, const spectral_rm *b, uint64_t home) {
    assert(home < a->side.buckets);
    ebi_side_slot *const into = a->side.slots + home * EBI_SIDE_WAYS;
    const ebi_side_slot *const from = b->side.slots + home * EBI_SIDE_WAYS;
    spectral_rm_candidate best[EBI_SIDE_WAYS];
    size_t n = 0;
    for (size_t i = 0; i < EBI_SIDE_WAYS; i++) {
        if (into[i].count != 0) spectral_rm_keep(best, &n, spectral_rm_join(a, b, into[i].hash));
        if (from[i].count != 0 && !ebi_side_find(&a->side, from[i].hash))
            spectral_rm_keep(best, &n, spectral_rm_join(a, b, from[i].hash));
    }
    for (size_t i = 0; i < n; i++) into[i] = best[i].slot;
}

static void spectral_rm_merge(const ebi_params *p, uint8_t *into, const ebi_params *q,
                              const uint8_t *from) {
    const spectral_rm a = spectral_rm_open(p, into), b = spectral_rm_open(q, from);
    for (uint64_t home = 0; home < a.side.buckets; home++) spectral_rm_merge_bucket(&a, &b, home);
    ebi_counting_merge(&a.first, &b.first, 1);
}

/* The whole filter */

static uint64_t spectral_rm_caps(const ebi_params *p) {
    const uint64_t kept =
        p->opt[EBI_C_POLICY] == SPECTRAL_RM_POLICY_RMX ? EB_NO_FALSE_NEGATIVES | EB_CAN_MERGE : 0;
    return EB_CAN_COUNT | EB_USES_VALUE | EB_CAN_REMOVE | kept;
}

static void spectral_rm_init(const ebi_params *p, uint8_t *block) {
    const spectral_rm r = spectral_rm_open(p, block);
    if (r.first.store->init) r.first.store->init(&r.first.counters);
    if (r.second.n > 0 && r.second.store->init) r.second.store->init(&r.second.counters);
}

static void spectral_rm_counters(const ebi_params *p, const uint8_t *block, ebi_counting *out) {
    *out = ebi_counting_open(p, block);
}

static bool spectral_rm_second(const ebi_params *p, const uint8_t *block, ebi_counting *out) {
    *out = spectral_rm_open(p, block).second;
    return p->opt[EBI_C_POLICY] != SPECTRAL_RM_POLICY_RMX;
}

static eb_status spectral_rm_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    const spectral_rm r = spectral_rm_open(p, block);
    const ebi_counting_words *const state = ebi_counting_state(block);
    const bool second = r.policy == SPECTRAL_RM_POLICY_RMX
                            ? ebi_side_check(&r.side, EBI_COUNTER_MAX)
                            : r.second.store->check(&r.second.counters);
    if (state->sealed != 0 || !second || !ebi_counting_check(&r.first, state))
        return ebi_fail(err, EB_EFORMAT, "damaged spectral_rm filter: its counters are invalid");
    return EB_OK;
}

static void spectral_rm_stat(const ebi_params *p, const uint8_t *block, eb_stats *out) {
    const spectral_rm r = spectral_rm_open(p, block);
    ebi_counting_stat(&r.first, out);
    if (r.policy != SPECTRAL_RM_POLICY_RMX) out->saturated += ebi_counting_saturated(&r.second);
}

static ebi_count_errors spectral_rm_errors(const ebi_params *p, const ebi_counting_stream *l) {
    const double second = (double)p->opt[SPECTRAL_RM_O_SECOND];
    if (p->opt[EBI_C_POLICY] == SPECTRAL_RM_POLICY_RMX)
        return ebi_errors_rmx(&l->sharing, &l->spectrum, second);
    if (p->opt[EBI_C_POLICY] == SPECTRAL_RM_POLICY_TRM) return (ebi_count_errors){NAN, NAN, NAN};
    return ebi_errors_rm(&l->sharing, &l->spectrum, second / l->sharing.k,
                         p->opt[EBI_C_POLICY] == SPECTRAL_RM_POLICY_RM_BF);
}

static void spectral_rm_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    const ebi_counting c = ebi_counting_first(p);
    ebi_counting_stream load;
    ebi_counting_predict(&c, w, out);
    if (out->size == EBI_ASK_ALL && ebi_counting_load(&c, w, &load))
        ebi_counting_predict_errors(&c, &load, spectral_rm_errors(p, &load), out);
}

static const ebi_removing spectral_rm_removing = {
    .claims = spectral_rm_claims, .claim = spectral_rm_claim, .remove = spectral_rm_remove};

static const ebi_counted spectral_rm_counted = {
    .counters = spectral_rm_counters, .second = spectral_rm_second, .frozen = EBI_C_FROZEN};

const ebi_kind ebi_kind_spectral_rm = {
    .info = {"spectral_rm", "counts keys that can be removed: the recurring minimum",
             "Cohen and Matias, Spectral Bloom filters, 2003",
             EB_CAN_COUNT | EB_NO_FALSE_NEGATIVES | EB_USES_VALUE | EB_CAN_REMOVE | EB_CAN_MERGE,
             spectral_rm_options, "How often does it occur, when keys can be removed?"},
    .version = 1,
    .traits = EBI_MERGE_BOUNDS,
    .caps = spectral_rm_caps,
    .resolve = spectral_rm_resolve,
    .ops = {.add = spectral_rm_add,
            .test = spectral_rm_test,
            .count = spectral_rm_count,
            .add_count = spectral_rm_add_count},
    .init = spectral_rm_init,
    .merge = spectral_rm_merge,
    .check = spectral_rm_check,
    .stat = spectral_rm_stat,
    .predict = spectral_rm_predict,
    .removing = &spectral_rm_removing,
    .counted = &spectral_rm_counted,
};
