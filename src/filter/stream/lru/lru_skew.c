/* lru_skew.c - what the duel makes of draws by Zipf's law, on average.
 *
 * Keys come independently of each other, each with its own rate.  Those of like rates make a class.
 * For a typical line of each expert, and for one of those that follow the winner, is followed
 *
 *     at[slot][class]    the chance that a key of the class is in the slot of its line
 *     absent[class]      that it is in none
 *
 * A key in slot j is found at its rate, and goes to the front.  It is pushed to j+1 by keys that
 * are found behind it, and by new ones that are inserted before it or in its place.  How often that
 * happens follows from the chances of all classes.  Where keys are found, the experts' scores rise
 * as in lru_duel.c, and the followers change when the winner does.
 *
 * Steps in time are implicit, so that they may be long: they grow with time, and each takes the
 * pushes from the state before it.  Nothing in such a step would bring the keys of a slot back to
 * one, should rounding or a long step have moved them; so each slot is put right after it.
 *
 * What is wanted is a ratio, of the misses of followers to those of plain lists: then coarse
 * classes and steps do no harm.  tests/test_lru_skew.c holds it to measurements. */
#include "lru.h"
#include "math/probability.h"
#include <math.h>

enum { LRU_SKEW_CLASSES = 16, LRU_SKEW_SLOTS = 48, LRU_SKEW_EXPERTS = 3 };
static const double lru_skew_endless = 300; /* records of each key, where a stream never ends */

typedef double lru_skew_classes[LRU_SKEW_CLASSES];

typedef struct lru_skew_list {
    lru_skew_classes at[LRU_SKEW_SLOTS], absent;
    double used[LRU_SKEW_SLOTS], found[LRU_SKEW_SLOTS]; /* keys in a slot, and how often found */
    double filled[LRU_SKEW_SLOTS];                      /* keys there should be: 1 in a full line */
    double lost;                                        /* how often a key is not there; */
    double taken;   /* the share of those that are taken for another key; */
    double entered; /* how often one is inserted, */
    double missed;  /* and is a repeat */
} lru_skew_list;

typedef struct lru_skew {
    unsigned b;
    double prints;
    lru_skew_classes keys, rate; /* of a line; the rate of one key.  The stream takes a time of 1 */
    lru_skew_classes never;      /* not seen yet */
    lru_skew_list expert[LRU_SKEW_EXPERTS], follower;
    double records; /* that a leader meets */
    double score[LRU_SKEW_EXPERTS];
    unsigned winner;
    double plain_missed, missed; /* by the first expert and by followers, so far */
} lru_skew;

/* Sums over the classes. */
static void lru_skew_sum(const lru_skew *s, lru_skew_list *l) {
    double used = 0;
    for (unsigned j = 0; j < s->b; j++) {
        l->used[j] = l->found[j] = 0;
        for (unsigned c = 0; c < LRU_SKEW_CLASSES; c++) {
            const double keys = s->keys[c] * l->at[j][c];
            l->used[j] += keys;
            l->found[j] += keys * s->rate[c];
        }
        used += l->used[j];
    }
    l->taken = fmin(1, used / s->prints);
    l->lost = l->missed = 0;
    for (unsigned c = 0; c < LRU_SKEW_CLASSES; c++) {
        const double often = s->keys[c] * s->rate[c];
        l->lost += often * l->absent[c];
        l->missed += often * fmax(0, l->absent[c] - s->never[c]);
    }
    l->entered = l->lost * (1 - l->taken);
    l->missed *= 1 - l->taken;
}

typedef struct lru_skew_step {
    double dt;
    unsigned slot; /* where new keys go in a full line, */
    double deep;   /* with this chance, and else to the front */
    double push[LRU_SKEW_SLOTS];
    double mistaken; /* how often a key in a slot is taken for another, and goes to the front */
} lru_skew_step;

static void lru_skew_pushes(const lru_skew *s, const lru_skew_list *l, lru_skew_step *t) {
    const double full = fmin(1, l->used[s->b - 1]), chance = t->deep;
    double behind = 0;
    t->mistaken = l->lost / s->prints;
    t->deep *= full;
    for (unsigned j = s->b; j-- > 0;) {
        const double used = fmax(l->used[j], 1e-300);
        const double before = t->slot <= j ? 0 : chance * fmin(1, full / used);
        t->push[j] = l->entered * (1 - before) + fmin(behind / used, 1e9);
        behind += l->found[j] + t->mistaken * l->used[j];
    }
}

/* The new chances as a multiple of `absent`, which follows from the last slot, and an addend. */
static void lru_skew_move(const lru_skew *s, lru_skew_list *l, const lru_skew_step *t) {
    lru_skew_classes times[LRU_SKEW_SLOTS];
    const unsigned last = s->b - 1;
    for (unsigned j = 0; j <= last; j++) {
        const double pushed = j > 0 ? t->dt * t->push[j - 1] : 0, dt = t->dt;
        const double lands = (j == 0 ? 1 - t->deep : 0) + (j == t->slot ? t->deep : 0);
        for (unsigned c = 0; c < LRU_SKEW_CLASSES; c++) {
            const double moves = dt * (s->rate[c] + t->mistaken);
            const double scale = 1 / (1 + moves + dt * t->push[j]);
            const double enters = dt * s->rate[c] * (1 - l->taken) * lands;
            const double from = j > 0 ? pushed * l->at[j - 1][c] : moves;
            const double less = j > 0 ? pushed * times[j - 1][c] : -moves;
            l->at[j][c] = (l->at[j][c] + from) * scale;
            times[j][c] = (less + enters) * scale;
        }
    }
    for (unsigned c = 0; c < LRU_SKEW_CLASSES; c++) {
        const double falls = t->dt * t->push[last];
        const double leaves = t->dt * s->rate[c] * (1 - l->taken);
        l->absent[c] =
            (l->absent[c] + falls * l->at[last][c]) / (1 + leaves - falls * times[last][c]);
    }
    for (unsigned j = 0; j <= last; j++) {
        l->used[j] = 0;
        for (unsigned c = 0; c < LRU_SKEW_CLASSES; c++) {
            l->at[j][c] += times[j][c] * l->absent[c];
            l->used[j] += s->keys[c] * l->at[j][c];
        }
    }
}

/* Each slot gets the keys that it should have.  A key that is hardly ever absent stays so. */
static void lru_skew_right(const lru_skew *s, lru_skew_list *l, const lru_skew_step *t) {
    const double come = t->dt * l->entered, most = 1.25;
    lru_skew_classes there = {0};
    double before = 1;
    for (unsigned j = 0; j < s->b; j++) {
        before = l->filled[j] = (l->filled[j] + come * before) / (1 + come);
        const double scale = l->filled[j] / fmax(l->used[j], 1e-300);
        for (unsigned c = 0; c < LRU_SKEW_CLASSES; c++) there[c] += l->at[j][c] *= scale;
    }
    for (unsigned c = 0; c < LRU_SKEW_CLASSES; c++) {
        const double absent = l->absent[c];
        l->absent[c] = fmax(absent / most, fmin(1 - there[c], fmin(1, absent * most)));
        there[c] = there[c] > 0 ? (1 - l->absent[c]) / there[c] : 0;
    }
    for (unsigned j = 0; j < s->b; j++)
        for (unsigned c = 0; c < LRU_SKEW_CLASSES; c++) l->at[j][c] *= there[c];
}

/* Returns how often a key entered meanwhile; adds how often one was missed. */
static double lru_skew_advance(const lru_skew *s, const ebi_params *p, unsigned expert, double dt,
                               lru_skew_list *l, double *missed) {
    assert(dt > 0 && expert < LRU_SKEW_EXPERTS);
    const double entered = l->entered, before = l->missed;
    lru_skew_step t = {.dt = dt, .slot = ebi_lru_expert_slot(p, expert)};
    t.deep = t.slot > 0 ? 1 - ebi_lru_expert_front(p, expert) : 0;
    lru_skew_pushes(s, l, &t);
    lru_skew_move(s, l, &t);
    lru_skew_right(s, l, &t);
    lru_skew_sum(s, l);
    *missed += dt * (before + l->missed) / 2;
    return dt * (entered + l->entered) / 2;
}

/* As lru_duel_score, for all the keys of a step: a key that is found does not enter. */
static void lru_skew_score(lru_skew *s, const ebi_params *p, const double *entered, double dt) {
    const ebi_lru_rules rules = ebi_lru_rules_of(p);
    const double leaders = (double)ebi_lru_leaders(p), hit = EBI_LRU_HIT;
    double best = -INFINITY;
    unsigned leader = 0;
    for (unsigned e = 0; e < LRU_SKEW_EXPERTS; e++) {
        s->score[e] -= leaders * entered[e];
        if (e > 0) s->score[e] -= leaders * dt * s->records * rules.drift / hit;
        if (s->score[e] > best) best = s->score[leader = e];
    }
    for (unsigned e = 0; e < LRU_SKEW_EXPERTS; e++)
        s->score[e] = fmax(s->score[e] - best, -rules.limit / hit);
    if (s->score[s->winner] < -rules.lead / hit) s->winner = leader;
}

static void lru_skew_all(lru_skew *s, const ebi_params *p, double dt) {
    double entered[LRU_SKEW_EXPERTS], ignored = 0;
    for (unsigned c = 0; c < LRU_SKEW_CLASSES; c++) s->never[c] /= 1 + dt * s->rate[c];
    for (unsigned e = 0; e < LRU_SKEW_EXPERTS; e++)
        entered[e] =
            lru_skew_advance(s, p, e, dt, &s->expert[e], e == 0 ? &s->plain_missed : &ignored);
    (void)lru_skew_advance(s, p, s->winner, dt, &s->follower, &s->missed);
    lru_skew_score(s, p, entered, dt);
}

/* Bins of ranks become classes, each so many times as large as the one before. */
static void lru_skew_class(lru_skew *s, const ebi_repeats *r, double items, double lines) {
    double ranks = 0, last = 0;
    assert(r->bins > 0 && items > 0 && lines > 0);
    for (size_t i = 0; i < r->bins; i++) ranks += r->keys[i];
    const double wide = log(ranks + 1) / LRU_SKEW_CLASSES;
    for (size_t i = 0; i < r->bins; i++) {
        const double at = log(last + r->keys[i] / 2 + 1) / wide;
        const size_t c = (size_t)fmin(at, LRU_SKEW_CLASSES - 1);
        s->keys[c] += r->keys[i] / lines;
        s->rate[c] += r->keys[i] * r->share[i] / lines * items;
        last += r->keys[i];
    }
    for (unsigned c = 0; c < LRU_SKEW_CLASSES; c++)
        if (s->keys[c] > 0) s->rate[c] /= s->keys[c];
}

/* Records of a line that has none of the `first` most frequent keys. */
static double lru_skew_records(const ebi_repeats *r, double items, double lines, double first) {
    double last = 0, records = 0;
    for (size_t i = 0; i < r->bins; i++) {
        last += r->keys[i];
        if (last > first) records += fmin(r->keys[i], last - first) * r->share[i] / lines * items;
    }
    return records;
}

static void lru_skew_open(lru_skew *s, const ebi_params *p, const ebi_repeats *r) {
    const double lines = (double)p->derived[EBI_LRU_BUCKETS];
    const double items = r->items > 0 ? r->items : lru_skew_endless * r->distinct;
    assert(lines > 0 && ebi_lru_leaders(p) > 0);
    /* As likely as not, no leader meets one of so many keys. */
    const double first = log(2) * lines / (double)ebi_lru_leaders(p);
    memset(s, 0, sizeof *s);
    s->b = ebi_lru_b(p);
    s->prints = (double)ebi_ones((unsigned)p->opt[EBI_LRU_W]);
    s->records = lru_skew_records(r, items, lines, first);
    lru_skew_class(s, r, items, lines);
    for (unsigned c = 0; c < LRU_SKEW_CLASSES; c++) s->never[c] = s->follower.absent[c] = 1;
    lru_skew_sum(s, &s->follower);
    for (unsigned e = 0; e < LRU_SKEW_EXPERTS; e++) {
        s->expert[e] = s->follower;
        if (e > 0) s->score[e] = -ebi_lru_rules_of(p).start / (double)EBI_LRU_HIT;
    }
}

ebi_lru_gain ebi_lru_skewed(const ebi_params *p, const ebi_repeats *r, bool rough) {
    assert(ebi_lru_b(p) <= LRU_SKEW_SLOTS && !ebi_lru_is_ranked(p) && r->zipf > 0);
    const double push = rough ? 2 : 1, grow = rough ? 0.06 : 0.03;
    lru_skew s;
    lru_skew_open(&s, p, r);
    for (double x = 0, dt; x < 1; x += dt) {
        dt = fmax(push / fmax(s.expert[0].lost, push), grow * x);
        if (x + dt > 1) dt = 1 - x;
        lru_skew_all(&s, p, dt);
    }
    if (!(s.plain_missed > 0 && s.expert[0].missed > 0)) return (ebi_lru_gain){1, 1};
    const double at_end = s.follower.missed / s.expert[0].missed;
    return (ebi_lru_gain){r->items > 0 ? s.missed / s.plain_missed : at_end, at_end};
}
