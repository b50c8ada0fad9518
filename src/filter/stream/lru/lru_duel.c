/* lru_duel.c - which keys a full line keeps, decided by what has paid lately.
 *
 * Keeping the last b keys of a line is best while repeats come soon.  In a loop over more keys than
 * there are slots it finds nothing, and in a stream with a few popular keys it keeps too many that
 * never return.  So there are three experts, who differ in where they insert a new key into a full
 * line; a key that is found always moves to the front:
 *
 *     0 front     slot 0: the last b keys
 *     1 middle    slot 6/10 (b-1): a key must come twice to be kept long
 *     2 last      the last slot, one time in 32 at the front: old keys stay
 *
 * The first D lines are leaders.  Each is kept once for every expert, and all copies get the same
 * keys, so that their hits differ by the experts' merit alone.  The copy of the winner answers, and
 * all other lines insert as the winner does:
 *
 *     score[e] += hits in 1/1024, less a drift for e > 0; the best is set to 0, none is below -4D
 *     the winner changes if another's score leads by D/4 hits, at least 1.5
 *
 * The drift makes the front win where others are hardly better, and pays for the false hits of
 * fingerprints.  The front begins with a lead of a hit for each leader: when lines have just become
 * full, old keys still return to those who kept them, and the first few hits say nothing of what
 * will pay.  docs/decisions/lru.md has the measurements. */
#include "lru_line.h"

enum { LRU_DUEL_HIT = 1024 };
enum { LRU_DUEL_FRONT, LRU_DUEL_MIDDLE, LRU_DUEL_LAST };

/* One of so many fresh keys or fewer is a false hit: then a few hits decide nothing. */
enum { LRU_DUEL_OFTEN = 100 };

typedef struct lru_duel_rules {
    int32_t limit; /* no score is below its negative */
    int32_t lead;  /* by which a winner is replaced */
    int32_t start; /* of the front before all others */
    int32_t drift;
} lru_duel_rules;

static lru_duel_rules lru_duel_rules_of(const ebi_params *p) {
    const uint64_t b = ebi_lru_b(p), prints = ebi_ones((unsigned)p->opt[EBI_LRU_W]);
    const uint64_t leaders = ebi_lru_leaders(p);
    const bool often = b * LRU_DUEL_OFTEN >= prints;
    const uint64_t limit = often ? ebi_max(4 * leaders, 8) : 4 * leaders;
    const uint64_t lead = ebi_max(leaders * LRU_DUEL_HIT / 4, (often ? 4 : 3) * LRU_DUEL_HIT / 2);
    return (lru_duel_rules){(int32_t)(limit * LRU_DUEL_HIT), (int32_t)lead,
                            (int32_t)(ebi_max(leaders, 3) * LRU_DUEL_HIT),
                            (int32_t)(1 + (256 * b + prints / 2) / prints)};
}

static unsigned lru_duel_slot(const ebi_params *p, unsigned expert) {
    const unsigned last = ebi_lru_b(p) - 1;
    return expert == LRU_DUEL_FRONT ? 0 : expert == LRU_DUEL_MIDDLE ? last * 6 / 10 : last;
}

static uint64_t lru_duel_front(unsigned expert) { /* coins below this insert at the front */
    return expert == LRU_DUEL_LAST ? UINT64_C(1) << 59 : 0;
}

static ebi_lru_place lru_duel_place(ebi_lru_fields f, unsigned slot) {
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

static void lru_duel_rule(const ebi_params *p, unsigned expert, ebi_lru_rule *rule) {
    const ebi_lru_fields f = ebi_lru_line_fields((unsigned)p->opt[EBI_LRU_W]);
    rule->place[0] = lru_duel_place(f, 0);
    rule->place[1] = lru_duel_place(f, lru_duel_slot(p, expert));
    rule->front = lru_duel_front(expert);
}

bool ebi_lru_rule_of(const ebi_params *p, const uint8_t *block, ebi_lru_rule *rule) {
    const unsigned winner =
        ebi_lru_leaders(p) > 0 ? ebi_lru_duel_of(block)->winner : LRU_DUEL_FRONT;
    if (winner != LRU_DUEL_FRONT) lru_duel_rule(p, winner, rule);
    return winner != LRU_DUEL_FRONT;
}

static void lru_duel_score(const lru_duel_rules *rules, ebi_lru_duel *duel, const bool *hit) {
    int32_t best = INT32_MIN;
    unsigned leader = 0;
    for (unsigned e = 0; e < EBI_LRU_EXPERTS; e++) {
        duel->score[e] += (hit[e] ? LRU_DUEL_HIT : 0) - (e > 0 ? rules->drift : 0);
        if (duel->score[e] > best) best = duel->score[leader = e];
    }
    for (unsigned e = 0; e < EBI_LRU_EXPERTS; e++) {
        duel->score[e] -= best;
        if (duel->score[e] < -rules->limit) duel->score[e] = -rules->limit;
    }
    if (duel->score[duel->winner] < -rules->lead) duel->winner = leader;
}

bool ebi_lru_lead(const ebi_params *p, uint8_t *block, uint64_t i, eb_hash h, uint64_t before) {
    assert(i < ebi_lru_leaders(p));
    ebi_lru_duel *const duel = (ebi_lru_duel *)(void *)(block + sizeof(ebi_block_head));
    const unsigned w = (unsigned)p->opt[EBI_LRU_W], winner = duel->winner;
    const ebi_lru_shape s = ebi_lru_shape_of(w, ebi_lru_b(p));
    const lru_duel_rules rules = lru_duel_rules_of(p);
    const uint64_t coin = ebi_lru_coin(h, before);
    bool hit[EBI_LRU_EXPERTS];
    assert(winner < EBI_LRU_EXPERTS);
    for (unsigned e = 0; e < EBI_LRU_EXPERTS; e++) {
        ebi_lru_rule rule;
        uint8_t *const line = block + ebi_lru_first(p) + ebi_lru_copy(p, i, e) * EBI_LRU_LINE_BYTES;
        lru_duel_rule(p, e, &rule);
        hit[e] = ebi_lru_line_put(line, ebi_lru_print(h, w), s, rule.place, coin < rule.front);
    }
    lru_duel_score(&rules, duel, hit);
    return hit[winner];
}

void ebi_lru_duel_init(const ebi_params *p, uint8_t *block) {
    if (ebi_lru_leaders(p) == 0) return;
    ebi_lru_duel *const duel = (ebi_lru_duel *)(void *)(block + sizeof(ebi_block_head));
    for (unsigned e = 1; e < EBI_LRU_EXPERTS; e++) duel->score[e] = -lru_duel_rules_of(p).start;
}

eb_status ebi_lru_duel_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    if (ebi_lru_leaders(p) == 0) return EB_OK;
    const ebi_lru_duel *const duel = ebi_lru_duel_of(block);
    const lru_duel_rules rules = lru_duel_rules_of(p);
    bool ok = duel->winner < EBI_LRU_EXPERTS, best = false;
    for (unsigned e = 0; e < EBI_LRU_EXPERTS; e++) {
        ok = ok && duel->score[e] <= 0 && duel->score[e] >= -rules.limit;
        best = best || duel->score[e] == 0;
    }
    ok = ok && best && duel->score[duel->winner] >= -rules.lead;
    for (size_t i = 0; i < EBI_COUNT_OF(duel->reserved); i++) ok = ok && duel->reserved[i] == 0;
    if (!ok)
        return ebi_fail(err, EB_EFORMAT,
                        "damaged lru filter: the scores of its duel are impossible");
    return EB_OK;
}
