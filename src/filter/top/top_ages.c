/* top_ages.c - top lists of counts that are a function of age: sliding windows and others.
 *
 * All keys are counted in a conservative aging filter (aging.c), and a second one with a single
 * cell counts all keys together.  The list only names keys.  The upper count in a set is what the
 * aging filter said when the key last came or when the epoch began, whichever is later.  Counts
 * only fall until a key comes again, so it is not too low, and it ranks the keys of an epoch.  When
 * a set is written in a later epoch, its 16 keys are looked up again; the stamp says for which
 * epoch that was done.
 *
 * What a set keeps beside its keys:
 *
 *     rest     When a key is refused or removed, its count goes to the mark of the present span, a
 *              ninth of the time after which arrivals are forgotten.  It only falls from then on,
 *              and when all arrivals of that time are forgotten, so is the mark.  The rest is the
 *              largest of the marks that are left.  Marks are 16-bit floats, rounded up.
 *     lower    The lower count: two numbers of 24 bits that stay at their largest value, for what
 *              came since the key was listed, in this half of a window and in the one before.  Both
 *              halves are younger than the window, and count at least what their oldest epoch
 *              counts.
 */
#include "top.h"
#include <math.h>

enum { TOP_AGES_HALF_BITS = 24 };
#define TOP_AGES_HALF_MAX ebi_ones(TOP_AGES_HALF_BITS)
#define TOP_AGES_STAMP_MAX ebi_ones(48)

static uint64_t top_ages_epoch(const ebi_top *t, uint64_t time) {
    assert(t->p->opt[EBI_TOP_PERIOD] >= EBI_TOP_MILLION);
    return time / (t->p->opt[EBI_TOP_PERIOD] / EBI_TOP_MILLION);
}

static uint64_t top_ages_half(const ebi_top *t) { /* epochs in half a window */
    return ebi_max(t->p->opt[EBI_TOP_EPOCHS] / 2, 1);
}

static uint64_t top_ages_span(const ebi_top *t) { /* epochs for each mark */
    assert(t->p->opt[EBI_TOP_EPOCHS] >= 1);
    const uint64_t older = t->p->opt[EBI_TOP_EPOCHS] - 1;
    return ebi_max((older + EBI_SET_MARKS - 2) / (EBI_SET_MARKS - 1), 1);
}

/* The aging filter */

static ebi_batch top_ages_one(const eb_hash *h, const uint32_t *value, const uint64_t *time) {
    return (ebi_batch){1, h, value, time, NULL, NULL};
}

static double top_ages_ask(const ebi_params *q, const uint8_t *block, eb_hash h, uint64_t time) {
    const ebi_batch one = top_ages_one(&h, NULL, &time);
    double count;
    ebi_kind_aging.ops.count(q, block, &one, &count);
    return count;
}

static double top_ages_count(const ebi_top *t, eb_hash h, uint64_t time) {
    return top_ages_ask(&t->aging, t->counts, h, time);
}

static bool top_ages_tell(const ebi_params *q, uint8_t *block, eb_hash h, uint32_t value,
                          uint64_t time) {
    const ebi_batch one = top_ages_one(&h, &value, &time);
    uint8_t seen;
    ebi_kind_aging.ops.add(q, block, &one, &seen);
    ebi_head(block)->clock = time;
    return seen;
}

static uint64_t top_ages_rank(double count) {
    return (uint64_t)fmin(ceil(count), (double)EBI_SET_COUNT_MAX);
}

/* Sets */

static uint64_t top_ages_stamp(const ebi_top *t, const uint8_t *set) {
    return t->words->base + ebi_set_stamp(set);
}

/* The largest mark that counts in an epoch.  Marks of spans after the set's epoch do not count. */
static uint64_t top_ages_rest_of(const ebi_top *t, const uint8_t *set, uint64_t epoch) {
    const uint64_t span = top_ages_span(t), last = t->p->opt[EBI_TOP_EPOCHS] - 1;
    const uint64_t newest = top_ages_stamp(t, set) / span, first = epoch - ebi_min(epoch, last);
    uint64_t rest = 0;
    for (uint64_t i = first / span; i <= newest; i++)
        rest = ebi_max(rest, ebi_aging_unfloat(ebi_set_mark(set, i % EBI_SET_MARKS)));
    return rest;
}

static void top_ages_raise_rest(const ebi_top *t, uint8_t *set, uint64_t rank, uint64_t epoch) {
    const uint64_t i = epoch / top_ages_span(t) % EBI_SET_MARKS;
    const uint32_t mark = ebi_aging_float(rank);
    if (mark > ebi_set_mark(set, i)) ebi_set_put_mark(set, i, mark);
}

/* Clears the marks of spans that begin: what they held is forgotten. */
static void top_ages_turn_marks(const ebi_top *t, uint8_t *set, uint64_t then, uint64_t epoch) {
    assert(then <= epoch);
    const uint64_t span = top_ages_span(t), from = then / span, to = epoch / span;
    for (uint64_t i = 0; i < ebi_min(to - from, EBI_SET_MARKS); i++)
        ebi_set_put_mark(set, (to - i) % EBI_SET_MARKS, 0);
}

/* What came in the two halves of a window, after so many more halves have begun. */
static uint64_t top_ages_turned(uint64_t both, uint64_t halves) {
    const uint64_t current = both & TOP_AGES_HALF_MAX;
    return halves == 0 ? both : halves == 1 ? current << TOP_AGES_HALF_BITS : 0;
}

static uint64_t top_ages_added(uint64_t both, uint64_t current, uint64_t before) {
    const uint64_t now = ebi_min((both & TOP_AGES_HALF_MAX) + current, TOP_AGES_HALF_MAX);
    const uint64_t then = ebi_min((both >> TOP_AGES_HALF_BITS) + before, TOP_AGES_HALF_MAX);
    return then << TOP_AGES_HALF_BITS | now;
}

static double top_ages_lower_of(const ebi_top *t, uint64_t both, uint64_t then, uint64_t epoch) {
    assert(then <= epoch);
    const uint64_t half = top_ages_half(t), now = epoch / half;
    const uint64_t left = top_ages_turned(both, now - then / half);
    const uint64_t age = epoch - now * half; /* of the oldest epoch in this half */
    return (double)(left & TOP_AGES_HALF_MAX) * ebi_aging_g(&t->aging, age) +
           (double)(left >> TOP_AGES_HALF_BITS) * ebi_aging_g(&t->aging, age + half);
}

/* Brings a set to the epoch of a time: its upper counts become those of that time. */
static void top_ages_freshen(const ebi_top *t, uint8_t *set, uint64_t time) {
    const uint64_t then = top_ages_stamp(t, set), epoch = top_ages_epoch(t, time);
    const uint64_t half = top_ages_half(t), halves = epoch / half - then / half;
    if (then == epoch) return;
    for (int i = 0; i < EBI_SET_ENTRIES; i++) {
        if (ebi_set_upper(set, i) == 0) continue;
        const uint64_t rank = top_ages_rank(top_ages_count(t, ebi_set_hash(set, i), time));
        if (rank > 0)
            ebi_set_counts(set, i, rank, top_ages_turned(ebi_set_lower(set, i), halves));
        else
            ebi_set_drop(&t->sets, set, i);
    }
    top_ages_turn_marks(t, set, then, epoch);
    ebi_set_put_stamp(set, ebi_min(epoch - t->words->base, EBI_SET_COUNT_MAX));
}

/* Must be called before anything is written in the epoch of a time. */
static void top_ages_reach(const ebi_top *t, uint64_t time) {
    const uint64_t epoch = top_ages_epoch(t, time);
    if (epoch - t->words->base <= TOP_AGES_STAMP_MAX) return;
    for (uint64_t i = 0; i < t->sets.n; i++) {
        uint8_t *const set = ebi_set_at(&t->sets, i);
        top_ages_freshen(t, set, time);
        ebi_set_put_stamp(set, 0);
    }
    t->words->base = epoch;
}

/* Keys */

static void top_ages_list(const ebi_top *t, const ebi_batch *b, size_t at, uint8_t *set,
                          uint64_t rank, uint64_t epoch) {
    const uint64_t lower = ebi_min(b->value[at], TOP_AGES_HALF_MAX);
    unsigned going;
    if (!ebi_set_room(&t->sets, set, b->key[at].len, rank, &going)) {
        top_ages_raise_rest(t, set, rank, epoch);
        return;
    }
    for (; going != 0; going &= going - 1) {
        const int i = (int)ebi_ctz(going);
        const ebi_set_entry e = ebi_set_get(set, i);
        ebi_expel(b, at, e.key);
        top_ages_raise_rest(t, set, e.upper, epoch);
        ebi_set_drop(&t->sets, set, i);
    }
    const ebi_set_entry e = {.hash = b->hash[at], .upper = rank, .lower = lower, .key = b->key[at]};
    ebi_set_put(&t->sets, set, &e);
}

/* The count that the aging filter gives for a key; if the key is not listed, at most the rest of
 * its set. */
static double top_ages_known(const ebi_top *t, const uint8_t *set, eb_hash h, double count,
                             uint64_t epoch) {
    if (ebi_set_find(set, h) != EBI_SET_NONE) return count;
    return fmin(count, (double)top_ages_rest_of(t, set, epoch));
}

static double top_ages_add_one(const ebi_top *t, const ebi_batch *b, size_t at, bool *seen) {
    const eb_hash h = b->hash[at];
    const uint64_t time = b->time[at], epoch = top_ages_epoch(t, time);
    uint8_t *const set = ebi_top_set_of(t, h);
    top_ages_freshen(t, set, time);
    const int i = ebi_set_find(set, h);
    const bool there = i != EBI_SET_NONE || top_ages_rest_of(t, set, epoch) > 0;
    *seen = top_ages_tell(&t->aging, t->counts, h, b->value[at], time) && there;
    (void)top_ages_tell(&t->tally, t->together, 0, b->value[at], time);
    const double count = top_ages_count(t, h, time);
    if (i == EBI_SET_NONE)
        top_ages_list(t, b, at, set, top_ages_rank(count), epoch);
    else
        ebi_set_counts(set, i, top_ages_rank(count),
                       top_ages_added(ebi_set_lower(set, i), b->value[at], 0));
    return top_ages_known(t, set, h, count, epoch);
}

static void top_ages_add(const ebi_top *t, const ebi_batch *b, uint8_t *seen, double *after) {
    for (size_t i = 0; i < b->n; i++) {
        bool known;
        top_ages_reach(t, b->time[i]);
        const double count = top_ages_add_one(t, b, i, &known);
        if (seen) seen[i] = known;
        if (after) after[i] = count;
    }
}

static double top_ages_upper(const ebi_top *t, eb_hash h, uint64_t time) {
    return top_ages_known(t, ebi_top_set_of(t, h), h, top_ages_count(t, h, time),
                          top_ages_epoch(t, time));
}

static double top_ages_lower(const ebi_top *t, eb_hash h, uint64_t time) {
    const uint8_t *const set = ebi_top_set_of(t, h);
    const int i = ebi_set_find(set, h);
    if (i == EBI_SET_NONE) return 0;
    return top_ages_lower_of(t, ebi_set_lower(set, i), top_ages_stamp(t, set),
                             top_ages_epoch(t, time));
}

static bool top_ages_entry(const ebi_top *t, uint64_t at, uint64_t time, ebi_kept *out) {
    assert(at / EBI_SET_ENTRIES < t->sets.n);
    const uint8_t *const set = ebi_set_at(&t->sets, at / EBI_SET_ENTRIES);
    const ebi_set_entry e = ebi_set_get(set, (int)(at % EBI_SET_ENTRIES));
    if (e.upper == 0) return false;
    *out =
        (ebi_kept){e.key, e.hash, e.cut, top_ages_count(t, e.hash, time),
                   top_ages_lower_of(t, e.lower, top_ages_stamp(t, set), top_ages_epoch(t, time))};
    return out->count > 0;
}

static double top_ages_rest(const ebi_top *t, uint64_t i, uint64_t time) {
    assert(i < t->sets.n);
    return (double)top_ages_rest_of(t, ebi_set_at(&t->sets, i), top_ages_epoch(t, time));
}

static double top_ages_total(const ebi_top *t, uint64_t time) {
    return top_ages_ask(&t->tally, t->together, 0, time);
}

/* Merging, after the aging filters have been merged */

static void top_ages_unite(const ebi_top *t, const uint8_t *left, const uint8_t *right,
                           uint64_t time, ebi_top_union *u) {
    for (int i = 0; i < EBI_SET_ENTRIES; i++) {
        ebi_set_entry e = ebi_set_get(left, i);
        const int other = ebi_set_find(right, e.hash);
        if (e.upper == 0) continue;
        if (other != EBI_SET_NONE) {
            const uint64_t more = ebi_set_lower(right, other);
            e.lower = top_ages_added(e.lower, more & TOP_AGES_HALF_MAX, more >> TOP_AGES_HALF_BITS);
        }
        e.upper = ebi_max(top_ages_rank(top_ages_count(t, e.hash, time)), 1);
        ebi_top_union_put(u, e);
    }
    for (int i = 0; i < EBI_SET_ENTRIES; i++) {
        ebi_set_entry e = ebi_set_get(right, i);
        if (e.upper == 0 || ebi_set_find(left, e.hash) != EBI_SET_NONE) continue;
        e.upper = ebi_max(top_ages_rank(top_ages_count(t, e.hash, time)), 1);
        ebi_top_union_put(u, e);
    }
}

static void top_ages_merge_set(const ebi_top *into, const uint8_t *left, const uint8_t *right,
                               uint64_t rest, uint8_t *set, uint64_t time) {
    const uint64_t epoch = top_ages_epoch(into, time);
    ebi_top_union u = {.n = 0};
    assert(epoch >= into->words->base && into->sets.each <= EBI_SET_FIXED + EBI_SET_KEYS_MAX);
    top_ages_unite(into, left, right, time, &u);
    memset(set, 0, (size_t)into->sets.each);
    ebi_set_put_stamp(set, epoch - into->words->base);
    if (rest > 0) top_ages_raise_rest(into, set, rest, epoch);
    for (unsigned j = 0; j < u.n; j++) {
        unsigned going;
        if (ebi_set_room(&into->sets, set, u.e[j].key.len, 0, &going))
            ebi_set_put(&into->sets, set, &u.e[j]);
        else
            top_ages_raise_rest(into, set, u.e[j].upper, epoch);
    }
}

static void top_ages_merge(const ebi_top *into, const ebi_top *from, uint64_t time) {
    uint8_t left[EBI_SET_FIXED + EBI_SET_KEYS_MAX], right[EBI_SET_FIXED + EBI_SET_KEYS_MAX];
    const uint64_t epoch = top_ages_epoch(into, time), half = top_ages_half(into);
    assert(into->sets.n == from->sets.n && into->sets.each == from->sets.each);
    top_ages_reach(into, time);
    ebi_head(into->counts)->clock = ebi_head(into->together)->clock = time;
    ebi_kind_aging.merge(&into->aging, into->counts, &into->aging, from->counts);
    ebi_kind_aging.merge(&into->tally, into->together, &into->tally, from->together);
    for (uint64_t i = 0; i < into->sets.n; i++) {
        uint8_t *const set = ebi_set_at(&into->sets, i);
        const uint64_t rest = top_ages_rest_of(into, set, epoch) +
                              top_ages_rest_of(from, ebi_set_at(&from->sets, i), epoch);
        top_ages_freshen(into, set, time);
        memcpy(left, set, (size_t)into->sets.each);
        memcpy(right, ebi_set_at(&from->sets, i), (size_t)into->sets.each);
        const uint64_t halves = epoch / half - top_ages_stamp(from, right) / half;
        for (int j = 0; j < EBI_SET_ENTRIES; j++)
            if (ebi_set_upper(right, j) > 0)
                ebi_set_counts(right, j, ebi_set_upper(right, j),
                               top_ages_turned(ebi_set_lower(right, j), halves));
        top_ages_merge_set(into, left, right, rest, set, time);
    }
}

/* The whole filter */

static bool top_ages_check_inside(const ebi_params *q, const uint8_t *block, uint64_t time) {
    const ebi_block_head *const head = ebi_head_of(block);
    const uint64_t any = head->items | head->rng | head->new_keys | head->own[0] | head->own[1] |
                         head->own[2] | head->own[3];
    return any == 0 && head->clock <= time && ebi_kind_aging.check(q, block, NULL) == EB_OK;
}

static bool top_ages_check(const ebi_top *t, uint64_t time) {
    const ebi_counting_words none = {0};
    const uint64_t epoch = top_ages_epoch(t, time);
    bool good = memcmp(t->state, &none, sizeof none) == 0 && t->words->total == 0 &&
                t->words->era == 0 && t->words->base <= epoch;
    for (uint64_t i = 0; good && i < t->sets.n; i++) {
        const uint8_t *const set = ebi_set_at(&t->sets, i);
        good = ebi_set_rest(set) == 0 && top_ages_stamp(t, set) <= epoch;
    }
    return good && top_ages_check_inside(&t->aging, t->counts, time) &&
           top_ages_check_inside(&t->tally, t->together, time);
}

static void top_ages_stat(const ebi_top *t, uint64_t time, eb_stats *out) {
    (void)time; /* cells are counted as of the last key */
    ebi_kind_aging.stat(&t->aging, t->counts, out);
}

static void top_ages_predict(const ebi_top *t, const eb_workload *w, eb_prediction *out) {
    ebi_kind_aging.predict(&t->aging, w, out);
}

const ebi_top_way ebi_top_ages_way = {
    .add = top_ages_add,
    .upper = top_ages_upper,
    .lower = top_ages_lower,
    .entry = top_ages_entry,
    .rest = top_ages_rest,
    .total = top_ages_total,
    .merge = top_ages_merge,
    .check = top_ages_check,
    .stat = top_ages_stat,
    .predict = top_ages_predict,
};
