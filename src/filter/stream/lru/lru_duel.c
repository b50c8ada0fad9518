/* lru_duel.c - decides which keys a full line keeps, by what worked best recently.
 *
 * Keeping the last b keys of a line is best while repeats come soon.  In a loop over more keys than
 * there are slots it finds nothing, and in a stream with a few popular keys it keeps too many that
 * never return.  So there are three experts, which differ in where they insert a new key into a
 * full line.  A key that is found always moves to the front.
 *
 *       0 front     slot 0: the last b keys
 *       1 middle    slot 6/10 (b-1): only keys that come twice are kept long
 *       2 last      the last slot, and one time in 32 the front: old keys stay
 *
 * With keep=important there are five, and the slot depends on the key's rank r, the share of keys
 * that are less important:
 *
 *       0 front     slot 0
 *       1 gentle    slot 3/10 (1-r) (b-1), which wins at first
 *       2 slope     slot 6/10 (1-r) (b-1)
 *       3 steep     slot (1-r) (b-1)
 *       4 upper     slot 0 if r is 3/4 or more, else like `last`
 *
 * The first D lines are leaders.  A leader is stored once for every expert, and all copies get the
 * same keys, so their hits differ only by what the experts do.  The copy of the winner answers, and
 * all other lines insert like the winner.
 *
 *       score[e] += hits in 1/1024, minus a drift except for the first winner; then the best is set
 *       to 0, and none may be below -4D, with one leader -8
 *       the winner changes if another expert's score leads by D/4 hits, at least 1.5, with one
 *       leader 3
 *
 * A hit of a key with importance v counts 2 v/high.  Ranks are computed from 16 equal slices of
 * low..high, over the keys that fell on leaders, again after every 256 of them.
 *
 * The drift lets the first winner win if others are hardly better, and compensates for false hits
 * of fingerprints.  Without importance, the front begins with a lead of one hit for each leader:
 * when lines have just become full, old keys still return to those who kept them, and the first few
 * hits do not show what will work. docs/decisions/lru.md has the measurements. */
#include "cells/packed.h"
#include "lru.h"

typedef enum lru_duel_expert {
    LRU_DUEL_FRONT,
    LRU_DUEL_MIDDLE,
    LRU_DUEL_LAST,
    LRU_DUEL_GENTLE,
    LRU_DUEL_SLOPE,
    LRU_DUEL_STEEP,
    LRU_DUEL_UPPER
} lru_duel_expert;

static lru_duel_expert lru_duel_expert_of(const ebi_params *p, unsigned e) {
    static const lru_duel_expert adaptive[] = {LRU_DUEL_FRONT, LRU_DUEL_MIDDLE, LRU_DUEL_LAST};
    static const lru_duel_expert important[] = {LRU_DUEL_FRONT, LRU_DUEL_GENTLE, LRU_DUEL_SLOPE,
                                                LRU_DUEL_STEEP, LRU_DUEL_UPPER};
    assert(e < ebi_lru_experts(p));
    return ebi_lru_is_ranked(p) ? important[e] : adaptive[e];
}

/* The expert that wins until another is clearly better.  Whoever asks for keep=important wants
 * importance to matter. */
static unsigned lru_duel_home(const ebi_params *p) {
    return ebi_lru_is_ranked(p) ? 1 : 0;
}

/* If one of this many new keys or fewer is a false hit, a few hits prove nothing. */
enum { LRU_DUEL_OFTEN = 100 };

ebi_lru_rules ebi_lru_rules_of(const ebi_params *p) {
    const uint64_t b = ebi_lru_b(p), prints = ebi_ones((unsigned)p->opt[EBI_LRU_W]);
    const uint64_t leaders = ebi_lru_leaders(p);
    const bool often = b * LRU_DUEL_OFTEN >= prints;
    const uint64_t halves = leaders == 1 ? 6 : often ? 4 : 3;
    const uint64_t lead = ebi_max(leaders * EBI_LRU_HIT / 4, halves * EBI_LRU_HIT / 2);
    return (ebi_lru_rules){(int32_t)(4 * ebi_max(leaders, 2) * EBI_LRU_HIT), (int32_t)lead,
                           (int32_t)(ebi_max(leaders, 3) * EBI_LRU_HIT),
                           (int32_t)(1 + (256 * b + prints / 2) / prints)};
}

static ebi_lru_duel *lru_duel_in(uint8_t *block) {
    return (ebi_lru_duel *)(void *)ebi_head(block)->own;
}

/* Ranks */

enum {
    LRU_DUEL_WHOLE = 16,
    LRU_DUEL_UPPER_FROM = 12,
    LRU_DUEL_RERANK = 256,
    LRU_DUEL_COUNTED_MOST = 1 << 15
};

static ebi_lru_ranks *lru_duel_ranks(uint8_t *block) {
    return (ebi_lru_ranks *)(void *)(block + sizeof(ebi_block_head));
}

static const ebi_lru_ranks *lru_duel_ranks_of(const uint8_t *block) {
    return (const ebi_lru_ranks *)(const void *)(block + sizeof(ebi_block_head));
}

/* The share of the keys below the middle of each class.  Halves all counts when they are large, so
 * that ranks follow the stream. */
static void lru_duel_rerank(ebi_lru_ranks *ranks) {
    uint64_t all = 0, below = 0;
    for (unsigned c = 0; c < EBI_LRU_CLASSES; c++) all += ranks->count[c];
    for (unsigned c = 0; c < EBI_LRU_CLASSES; c++) {
        ranks->rank[c] = (uint8_t)((2 * below + ranks->count[c]) * LRU_DUEL_WHOLE / (2 * all));
        below += ranks->count[c];
        if (all > LRU_DUEL_COUNTED_MOST) ranks->count[c] /= 2;
    }
}

static void lru_duel_learn(uint8_t *block, ebi_lru_duel *duel, unsigned class) {
    ebi_lru_ranks *const ranks = lru_duel_ranks(block);
    ranks->count[class]++;
    if (++duel->counted < LRU_DUEL_RERANK) return;
    duel->counted = 0;
    lru_duel_rerank(ranks);
}

/* Places */

static unsigned lru_duel_slot(const ebi_params *p, lru_duel_expert expert, unsigned rank) {
    assert(rank <= 16);
    const unsigned last = ebi_lru_b(p) - 1;
    switch (expert) {
    case LRU_DUEL_MIDDLE:
        return last * 6 / 10;
    case LRU_DUEL_LAST:
        return last;
    case LRU_DUEL_GENTLE:
        return last * 3 * (LRU_DUEL_WHOLE - rank) / (10 * LRU_DUEL_WHOLE);
    case LRU_DUEL_SLOPE:
        return last * 6 * (LRU_DUEL_WHOLE - rank) / (10 * LRU_DUEL_WHOLE);
    case LRU_DUEL_STEEP:
        return last * (LRU_DUEL_WHOLE - rank) / LRU_DUEL_WHOLE;
    case LRU_DUEL_UPPER:
        return rank >= LRU_DUEL_UPPER_FROM ? 0 : last;
    case LRU_DUEL_FRONT:
        break;
    }
    return 0;
}

/* A key whose random number is below this goes to the front. */
static uint64_t lru_duel_front(lru_duel_expert expert) {
    return expert == LRU_DUEL_LAST || expert == LRU_DUEL_UPPER ? UINT64_C(1) << 59 : 0;
}

unsigned ebi_lru_expert_slot(const ebi_params *p, unsigned e) {
    assert(!ebi_lru_is_ranked(p));
    return lru_duel_slot(p, lru_duel_expert_of(p, e), 0);
}

double ebi_lru_expert_front(const ebi_params *p, unsigned e) {
    return (double)lru_duel_front(lru_duel_expert_of(p, e)) / 0x1p64;
}

static ebi_lru_place lru_duel_place(ebi_lru_fields f, unsigned slot) {
    assert(slot < 64);
    ebi_lru_place place;
    for (unsigned k = 0; k < 4; k++) {
        const unsigned first = k * f.n;
        const unsigned below = slot <= first ? 0 : (unsigned)ebi_min(slot - first, f.n);
        const bool here = slot >= first && slot < first + f.n;
        place.open[k] = ~ebi_ones(below * f.bits);
        place.at[k] = here ? ebi_ones(f.bits) << (slot - first) * f.bits : 0;
    }
    return place;
}

/* A slot as the loops know it: its first byte, or i, whose place becomes that of the slot. */
static uint8_t lru_duel_to(const ebi_params *p, ebi_lru_place *place, unsigned i, unsigned slot) {
    const unsigned w = (unsigned)p->opt[EBI_LRU_W];
    if (ebi_lru_is_bytes(w)) return (uint8_t)(slot * (w / 8));
    place[i] = lru_duel_place(ebi_lru_line_fields(w), slot);
    return (uint8_t)i;
}

/* A random number for a key that comes after so many others.  It needs no generator and no
 * state. */
EBI_INLINE uint64_t lru_duel_coin(eb_hash h, uint64_t before) {
    return (h + before * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd1342543de82ef95);
}

/* Where a full line that is not a leader takes a new key: at to[class], or at the front if the
 * key's random number is below front[class].  Without keep=important all keys have class 0. */
typedef struct lru_duel_rule {
    ebi_lru_place place[1 + EBI_LRU_CLASSES];
    uint64_t front[EBI_LRU_CLASSES];
    uint8_t to[EBI_LRU_CLASSES];
} lru_duel_rule;

/* The winner's rule, which changes only when a key falls on a leader. false: all keys go to the
 * front. */
static bool lru_duel_rule_of(const ebi_params *p, const uint8_t *block, lru_duel_rule *rule) {
    const unsigned winner = ebi_lru_duel_of(block)->winner;
    if (ebi_lru_leaders(p) == 0 || winner == 0) return false;
    const lru_duel_expert expert = lru_duel_expert_of(p, winner);
    const bool ranked = ebi_lru_is_ranked(p);
    (void)lru_duel_to(p, rule->place, 0, 0);
    for (unsigned c = 0; c < (ranked ? EBI_LRU_CLASSES : 1); c++) {
        const unsigned rank = ranked ? lru_duel_ranks_of(block)->rank[c] : 0;
        rule->to[c] = lru_duel_to(p, rule->place, 1 + c, lru_duel_slot(p, expert, rank));
        rule->front[c] = lru_duel_front(expert);
    }
    return true;
}

/* Computes the places of keys i to end-1. value NULL: all have class 0. */
static void lru_duel_places(const ebi_params *p, const lru_duel_rule *rule, const eb_hash *hash,
                            const uint32_t *value, uint64_t before, size_t i, size_t end,
                            uint8_t *to) {
    assert(i <= end && end <= EBI_LONG_BATCH);
    const uint64_t front = rule->front[0];
    const uint8_t place = rule->to[0];
    for (; value && i < end; i++) {
        const unsigned class = ebi_lru_class(p, value[i]);
        to[i] = lru_duel_coin(hash[i], before + i) < rule->front[class] ? 0 : rule->to[class];
    }
    if (front == 0) memset(to + i, place, end - i);
    for (; front > 0 && i < end; i++)
        to[i] = place & (uint8_t)(0 - (unsigned)(lru_duel_coin(hash[i], before + i) >= front));
}

/* Scores */

static void lru_duel_score(const ebi_params *p, ebi_lru_duel *duel, const bool *hit,
                           int32_t worth) {
    assert(worth >= 0);
    const ebi_lru_rules rules = ebi_lru_rules_of(p);
    const unsigned experts = ebi_lru_experts(p);
    int32_t best = INT32_MIN;
    unsigned leader = 0;
    for (unsigned e = 0; e < experts; e++) {
        duel->score[e] += (hit[e] ? worth : 0) - (e != lru_duel_home(p) ? rules.drift : 0);
        if (duel->score[e] > best) best = duel->score[leader = e];
    }
    for (unsigned e = 0; e < experts; e++) {
        duel->score[e] -= best;
        if (duel->score[e] < -rules.limit) duel->score[e] = -rules.limit;
    }
    if (duel->score[duel->winner] < -rules.lead) duel->winner = leader;
}

/* A key falls on leader i: all copies take it, the winner's answers, and scores are updated.
 * Returns whether it was seen. value is read only with keep=important. */
static bool lru_duel_lead(const ebi_params *p, uint8_t *block, const ebi_lru_adding *adding,
                          const ebi_lru_line_ops *ops, uint64_t i, eb_hash h, uint64_t before,
                          uint64_t value) {
    assert(i < ebi_lru_leaders(p));
    ebi_lru_duel *const duel = lru_duel_in(block);
    const unsigned winner = duel->winner;
    const bool ranked = ebi_lru_is_ranked(p);
    const unsigned class = ranked ? ebi_lru_class(p, value) : 0;
    const unsigned rank = ranked ? lru_duel_ranks_of(block)->rank[class] : 0;
    const uint64_t coin = lru_duel_coin(h, before);
    const uint64_t print = ebi_lru_print(h, (unsigned)p->opt[EBI_LRU_W]);
    bool hit[EBI_LRU_EXPERTS_MAX];
    assert(winner < ebi_lru_experts(p));
    for (unsigned e = 0; e < ebi_lru_experts(p); e++) {
        const lru_duel_expert expert = lru_duel_expert_of(p, e);
        const bool front = coin < lru_duel_front(expert);
        ebi_lru_place place[2];
        ebi_lru_adding copy = *adding;
        copy.place = place;
        (void)lru_duel_to(p, place, 0, 0);
        const uint8_t to = lru_duel_to(p, place, 1, front ? 0 : lru_duel_slot(p, expert, rank));
        hit[e] =
            ops->put(&copy, adding->lines + ebi_lru_copy(p, i, e) * EBI_LRU_LINE_BYTES, print, to);
    }
    lru_duel_score(p, duel, hit,
                   ranked ? (int32_t)(2 * EBI_LRU_HIT * value / p->opt[EBI_LRU_HIGH])
                          : EBI_LRU_HIT);
    if (ranked) lru_duel_learn(block, duel, class);
    return hit[winner];
}

/* How many places in full lines are computed at once, in a separate loop, because the loop that
 * works on lines has no registers left for it. */
enum { LRU_DUEL_RUN = 64 };

void ebi_lru_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen,
                 const ebi_lru_line_ops *ops) {
    assert(b->n <= EBI_LONG_BATCH);
    const uint64_t before = ebi_head_of(block)->items, leaders = ebi_lru_leaders(p);
    const uint32_t *const value = ebi_lru_is_ranked(p) ? b->value : NULL;
    lru_duel_rule rule;
    uint8_t to[EBI_LONG_BATCH];
    const ebi_lru_adding a = {ebi_lru_batch_of(p, b),
                              block + ebi_lru_first(p),
                              seen,
                              leaders,
                              ebi_lru_b(p),
                              rule.place,
                              to};
    bool deep = lru_duel_rule_of(p, block, &rule);
    ebi_lru_fetch_first(a.lines, &a.keys, EBI_LRU_LINE_BYTES, true);
    for (size_t i = 0; i < b->n;) {
        if (deep) {
            const size_t end = (size_t)ebi_min(b->n, i + LRU_DUEL_RUN);
            lru_duel_places(p, &rule, b->hash, value, before, i, end, to);
            i = ops->deep(&a, i, end);
        } else {
            i = ops->front(&a, i, b->n);
        }
        if (i == b->n) break;
        const uint64_t line = ebi_lru_bucket(&a.keys, i);
        if (line >= leaders) continue;
        seen[i] =
            lru_duel_lead(p, block, &a, ops, line, b->hash[i], before + i, value ? value[i] : 0);
        deep = lru_duel_rule_of(p, block, &rule);
        i++;
    }
}

void ebi_lru_duel_init(const ebi_params *p, uint8_t *block) {
    if (ebi_lru_leaders(p) == 0) return;
    ebi_lru_duel *const duel = lru_duel_in(block);
    duel->winner = lru_duel_home(p);
    if (!ebi_lru_is_ranked(p)) {
        for (unsigned e = 1; e < ebi_lru_experts(p); e++)
            duel->score[e] = -ebi_lru_rules_of(p).start;
        return;
    }
    for (unsigned c = 0; c < EBI_LRU_CLASSES; c++) lru_duel_ranks(block)->rank[c] = (uint8_t)c;
}

/* Checks that ranks rise with the class, and that no more keys were counted than came. */
static bool lru_duel_ranks_are_possible(const ebi_params *p, const uint8_t *block) {
    const ebi_lru_duel *const duel = ebi_lru_duel_of(block);
    if (!ebi_lru_is_ranked(p)) return duel->counted == 0;
    const ebi_lru_ranks *const ranks = lru_duel_ranks_of(block);
    uint64_t all = 0;
    bool ok = duel->counted < LRU_DUEL_RERANK;
    for (unsigned c = 0; c < EBI_LRU_CLASSES; c++) {
        ok = ok && ranks->rank[c] <= LRU_DUEL_WHOLE &&
             (c == 0 || ranks->rank[c] >= ranks->rank[c - 1]);
        all += ranks->count[c];
    }
    return ok && ebi_tail_is_zero(ranks->reserved, 0, sizeof ranks->reserved) &&
           all >= duel->counted && all <= LRU_DUEL_COUNTED_MOST + LRU_DUEL_RERANK &&
           all <= ebi_head_of(block)->items;
}

eb_status ebi_lru_duel_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    const ebi_lru_duel *const duel = ebi_lru_duel_of(block);
    if (ebi_lru_leaders(p) == 0) {
        if (ebi_tail_is_zero((const uint8_t *)duel, 0, sizeof *duel)) return EB_OK;
        return ebi_fail(err, EB_EFORMAT, "damaged lru filter: it has scores and no duel");
    }
    const ebi_lru_rules rules = ebi_lru_rules_of(p);
    const unsigned experts = ebi_lru_experts(p);
    bool ok = duel->winner < experts, best = false;
    for (unsigned e = 0; e < experts; e++) {
        ok = ok && duel->score[e] <= 0 && duel->score[e] >= -rules.limit;
        best = best || duel->score[e] == 0;
    }
    for (unsigned e = experts; e < EBI_LRU_EXPERTS_MAX; e++) ok = ok && duel->score[e] == 0;
    ok = ok && best && duel->score[duel->winner] >= -rules.lead;
    ok = ok && duel->reserved == 0;
    if (!ok)
        return ebi_fail(err, EB_EFORMAT,
                        "damaged lru filter: the scores of its duel are impossible");
    if (!lru_duel_ranks_are_possible(p, block))
        return ebi_fail(err, EB_EFORMAT, "damaged lru filter: its ranks are impossible");
    return EB_OK;
}
