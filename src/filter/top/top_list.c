/* top_list.c - top lists of counts that stay, or that halve once in a half-life.
 *
 * A listed key is counted in its set, exactly from the time on that it was listed.  All other keys
 * are counted in the light part, a small conservative filter with k = 3.  When a key's count there
 * exceeds the least count of its set, it replaces the key with that count.  The light part is then
 * raised to the count of the key that goes, so it is never too low for keys that are not listed.
 *
 *     upper count   listed: the count in the light part, or the set's rest if that is less, plus
 * what came since.  Others: the smaller of light part and rest. lower count   listed: what came
 * since.  Others: 0.
 *
 * With a half-life, the light part is that of decay with mode=era (decay.h, cells/soft.h), and a
 * set's stamp is the era of its counts.  When an era begins, upper counts and rests halve, rounded
 * up, and lower counts halve, rounded down, both when the set is next written.  So any number of
 * eras costs one shift.  A key whose upper count has come down to one unit is dropped; this loses
 * less than two units.  Counts of the list are in units of 2^-10 arrivals, from 2^37 arrivals on in
 * 2^-4, those of the light part in 2^-15. */
#include "top.h"
#include <math.h>

enum { TOP_LIST_DIGITS = 10, TOP_LIST_COARSE = 6, TOP_LIST_FINER = EBI_SOFT_FRACTION - 10 };
static_assert(TOP_LIST_FINER + TOP_LIST_DIGITS == EBI_SOFT_FRACTION, "digits of the light part");
#define TOP_LIST_LARGE (UINT64_C(1) << 47) /* from here on, codes are in 2^6 units */
/* Rounding makes the weight of an arrival, and the unit of a moment, too large by less than this
 * factor. */
static const double top_list_certain = 1 - 0x1p-15;

/* Counts in sets.  Larger codes are larger counts.  UINT64_MAX: it reached its limit, and stays
 * there. */

static uint64_t top_list_value(const ebi_top *t, uint64_t code) {
    if (!t->halves || code < TOP_LIST_LARGE) return code;
    return code == EBI_SET_COUNT_MAX ? UINT64_MAX : (code - TOP_LIST_LARGE) << TOP_LIST_COARSE;
}

static uint64_t top_list_code(const ebi_top *t, uint64_t value, bool up) {
    if (!t->halves || value < TOP_LIST_LARGE) return ebi_min(value, EBI_SET_COUNT_MAX);
    const uint64_t coarse =
        (value >> TOP_LIST_COARSE) + (up && (value & ebi_ones(TOP_LIST_COARSE)) != 0);
    const uint64_t most =
        EBI_SET_COUNT_MAX - !up; /* a lower count at its limit needs no special code */
    return ebi_min(TOP_LIST_LARGE + ebi_min(coarse, TOP_LIST_LARGE), most);
}

static uint64_t top_list_halved(uint64_t value, uint64_t eras) { /* rounding up; 1 becomes 0 */
    if (eras == 0 || value == 0 || value == UINT64_MAX) return value;
    const uint64_t rest = eras > 63 ? 1 : ((value - 1) >> eras) + 1;
    return rest == 1 ? 0 : rest;
}

/* Eras: always 0 if counts stay */

static ebi_moment top_list_moment(const ebi_top *t, uint64_t time) {
    return t->halves ? ebi_decay_moment(&t->fading, time) : (ebi_moment){0, 0};
}

static uint64_t top_list_eras(const ebi_top *t, const uint8_t *set, uint64_t era) {
    assert(!t->halves || era >= t->fading.state->base + ebi_set_stamp(set));
    return t->halves ? era - t->fading.state->base - ebi_set_stamp(set) : 0;
}

static ebi_set_entry top_list_get(const ebi_top *t, const uint8_t *set, int i, uint64_t eras) {
    assert(i >= 0 && i < EBI_SET_ENTRIES);
    ebi_set_entry e = ebi_set_get(set, i);
    if (!t->halves) return e;
    e.upper = top_list_halved(top_list_value(t, e.upper), eras);
    e.lower = eras > 63 ? 0 : top_list_value(t, e.lower) >> eras;
    return e;
}

static uint64_t top_list_rest_of(const ebi_top *t, const uint8_t *set, uint64_t eras) {
    return top_list_halved(top_list_value(t, ebi_set_rest(set)), eras);
}

static void top_list_put_counts(const ebi_top *t, uint8_t *set, int i, uint64_t upper,
                                uint64_t lower) {
    assert(lower <= upper);
    ebi_set_counts(set, i, top_list_code(t, upper, true), top_list_code(t, lower, false));
}

static void top_list_raise_rest(const ebi_top *t, uint8_t *set, uint64_t rest) {
    ebi_set_raise_rest(set, top_list_code(t, rest, true));
}

/* Brings a set to an era.  Its stamp counts from the base. */
static void top_list_freshen(const ebi_top *t, uint8_t *set, uint64_t era) {
    const uint64_t eras = top_list_eras(t, set, era);
    if (eras == 0) return;
    for (int i = 0; i < EBI_SET_ENTRIES; i++) {
        const ebi_set_entry e = top_list_get(t, set, i, eras);
        if (e.upper > 0)
            top_list_put_counts(t, set, i, e.upper, e.lower);
        else if (ebi_set_upper(set, i) > 0)
            ebi_set_drop(&t->sets, set, i);
    }
    ebi_set_put_rest(set, top_list_code(t, top_list_rest_of(t, set, eras), true));
    ebi_set_put_stamp(set, ebi_min(era - t->fading.state->base, EBI_SET_COUNT_MAX));
}

/* Must be called before anything is written in that era. */
static void top_list_reach(const ebi_top *t, uint64_t era) {
    if (!t->halves || era - t->fading.state->base <= EBI_SOFT_STAMP_MAX) return;
    for (uint64_t i = 0; i < t->sets.n; i++) {
        top_list_freshen(t, ebi_set_at(&t->sets, i), era);
        ebi_set_put_stamp(ebi_set_at(&t->sets, i), 0);
    }
    ebi_decay_reach(&t->fading, era);
}

/* What a new arrival counts, at least and at most. fine: in units of the light part. */

typedef struct top_list_weight {
    uint64_t upper, lower, fine;
} top_list_weight;

static top_list_weight top_list_weigh(const ebi_top *t, ebi_moment now, uint32_t value) {
    if (!t->halves) return (top_list_weight){value, value, value};
    const uint64_t fine = ebi_decay_weight(&t->fading, now, value);
    return (top_list_weight){(fine + ebi_ones(TOP_LIST_FINER)) >> TOP_LIST_FINER,
                             ebi_decay_weight_least(&t->fading, now, value) >> TOP_LIST_FINER,
                             fine};
}

static double top_list_scaled(const ebi_top *t, uint64_t value, ebi_moment now) {
    if (!t->halves) return (double)value;
    return (double)value * ldexp(ebi_decay_unit(&t->fading, now), TOP_LIST_FINER);
}

static double top_list_count(const ebi_top *t, uint64_t value, ebi_moment now) {
    const uint64_t most = t->halves ? UINT64_MAX : EBI_SET_COUNT_MAX;
    return value >= most ? INFINITY : top_list_scaled(t, value, now);
}

static double top_list_count_lower(const ebi_top *t, uint64_t value, ebi_moment now) {
    const double count = top_list_scaled(t, value, now);
    return t->halves ? count * top_list_certain : count;
}

/* The light part, in units of the list */

static uint64_t top_light_up(uint64_t fine) {
    return (fine >> TOP_LIST_FINER) + ((fine & ebi_ones(TOP_LIST_FINER)) != 0);
}

static uint64_t top_light_down(uint64_t value) { /* to fine units, rounding down */
    return value >> (64 - TOP_LIST_FINER) ? UINT64_MAX : value << TOP_LIST_FINER;
}

static uint64_t top_light_get(const ebi_top *t, eb_hash h, uint64_t era) {
    uint64_t pos[EBI_TOP_K], counter[EBI_TOP_K], least = UINT64_MAX;
    if (!t->halves) {
        ebi_counting_positions(&t->light, h, pos);
        return ebi_counting_minimum(&t->light, pos, counter);
    }
    ebi_decay_places(&t->fading, h, pos);
    for (unsigned j = 0; j < EBI_TOP_K; j++)
        least = ebi_min(least, ebi_decay_get(&t->fading, pos[j], era));
    return top_light_up(least);
}

/* Raises all cells of the key to at least so many fine units. */
static void top_light_reach_fading(const ebi_top *t, const uint64_t *pos, uint64_t fine,
                                   uint64_t era) {
    for (unsigned j = 0; j < EBI_TOP_K; j++) {
        ebi_decay_freshen(&t->fading, ebi_place_line(pos[j]), era);
        if (ebi_decay_get(&t->fading, pos[j], era) < fine) ebi_decay_put(&t->fading, pos[j], fine);
    }
}

/* Counts a key.  Returns what it counted before. */
static uint64_t top_light_add(const ebi_top *t, eb_hash h, uint64_t fine, uint64_t era) {
    uint64_t pos[EBI_TOP_K], least = UINT64_MAX;
    if (!t->halves) {
        ebi_counting_positions(&t->light, h, pos);
        return ebi_counting_raise_all(&t->light, pos, fine, true);
    }
    ebi_decay_places(&t->fading, h, pos);
    for (unsigned j = 0; j < EBI_TOP_K; j++)
        least = ebi_min(least, ebi_decay_get(&t->fading, pos[j], era));
    top_light_reach_fading(t, pos, ebi_plus(least, fine), era);
    return top_light_up(least);
}

/* Makes sure that the light part, together with the one to be merged (or NULL), gives a key at
 * least this count. */
static void top_light_reach(const ebi_top *t, const ebi_top *from, eb_hash h, uint64_t count,
                            uint64_t era) {
    uint64_t pos[EBI_TOP_K];
    if (t->halves) {
        ebi_decay_places(&t->fading, h, pos);
        uint64_t theirs = UINT64_MAX;
        for (unsigned j = 0; j < EBI_TOP_K && from; j++)
            theirs = ebi_min(theirs, ebi_decay_get(&from->fading, pos[j], era));
        const uint64_t fine = top_light_down(count), less = from ? ebi_min(theirs, fine) : 0;
        top_light_reach_fading(t, pos, fine - less, era);
        return;
    }
    ebi_counting_positions(&t->light, h, pos);
    for (unsigned j = 0; j < EBI_TOP_K; j++) {
        const uint64_t more = from ? ebi_counting_get(&from->light, pos[j]) : 0;
        const uint64_t there = ebi_counter_sum(ebi_counting_get(&t->light, pos[j]), more);
        if (there < count) (void)ebi_counting_raise(&t->light, pos[j], count - there);
    }
}

/* Keys */

static uint64_t top_list_upper_in(const ebi_top *t, const uint8_t *set, eb_hash h, uint64_t era) {
    const int i = ebi_set_find(set, h);
    const uint64_t eras = top_list_eras(t, set, era);
    const uint64_t upper = i == EBI_SET_NONE ? 0 : top_list_get(t, set, i, eras).upper;
    if (upper > 0) return upper;
    const uint64_t rest = top_list_rest_of(t, set, eras);
    return rest == 0 ? 0 : ebi_min(rest, top_light_get(t, h, era));
}

static void top_list_expel(const ebi_top *t, uint8_t *set, unsigned going, const ebi_batch *b,
                           size_t at, uint64_t era) {
    assert(at < b->n);
    for (; going != 0; going &= going - 1) {
        const int i = (int)ebi_ctz(going);
        const ebi_set_entry e = top_list_get(t, set, i, 0);
        ebi_expel(b, at, e.key);
        top_light_reach(t, NULL, e.hash, e.upper, era);
        top_list_raise_rest(t, set, e.upper);
        ebi_set_drop(&t->sets, set, i);
    }
}

static bool top_list_room(const ebi_top *t, const uint8_t *set, size_t len, uint64_t count,
                          unsigned *going) {
    return ebi_set_room(&t->sets, set, len, top_list_code(t, count, true), going);
}

static void top_list_put(const ebi_top *t, uint8_t *set, ebi_set_entry e) {
    assert(e.upper > 0 && e.lower <= e.upper);
    e.upper = top_list_code(t, e.upper, true);
    e.lower = top_list_code(t, e.lower, false);
    ebi_set_put(&t->sets, set, &e);
}

/* Adds a key that is not in its set, which is fresh: returns its count before and after. */
static uint64_t top_list_add_other(const ebi_top *t, const ebi_batch *b, size_t at, uint8_t *set,
                                   const top_list_weight *w, uint64_t era, uint64_t *after) {
    assert(ebi_set_find(set, b->hash[at]) == EBI_SET_NONE);
    const eb_hash h = b->hash[at];
    const size_t len = b->key[at].len;
    const uint64_t rest = top_list_value(t, ebi_set_rest(set));
    unsigned going;
    const bool known = rest == 0 && top_list_room(t, set, len, 0, &going);
    const uint64_t before = known ? 0 : ebi_min(top_light_add(t, h, w->fine, era), rest);
    *after = ebi_plus(before, w->upper);
    if (top_list_room(t, set, len, *after, &going)) {
        top_list_expel(t, set, going, b, at, era);
        top_list_put(
            t, set,
            (ebi_set_entry){.hash = h, .upper = *after, .lower = w->lower, .key = b->key[at]});
    } else {
        top_list_raise_rest(t, set, *after);
        *after = ebi_min(top_light_get(t, h, era),
                         top_list_value(t, ebi_set_rest(set))); /* the same answer as later */
    }
    return before;
}

static uint64_t top_list_add_one(const ebi_top *t, const ebi_batch *b, size_t at,
                                 const top_list_weight *w, uint64_t era, uint64_t *after) {
    uint8_t *const set = ebi_top_set_of(t, b->hash[at]);
    top_list_freshen(t, set, era);
    const int i = ebi_set_find(set, b->hash[at]);
    if (i == EBI_SET_NONE) return top_list_add_other(t, b, at, set, w, era, after);
    const ebi_set_entry e = top_list_get(t, set, i, 0);
    *after = ebi_plus(e.upper, w->upper);
    top_list_put_counts(t, set, i, *after, ebi_plus(e.lower, w->lower));
    return e.upper;
}

static void top_list_sum(const ebi_top *t, uint64_t upper, uint64_t era) {
    assert(!t->halves || era >= t->words->era);
    if (!t->halves) {
        ebi_counting_raise_total(&t->light, upper);
        return;
    }
    t->words->total = top_list_halved(t->words->total, era - t->words->era);
    t->words->era = era;
    t->words->total = ebi_plus(t->words->total, upper);
}

static void top_list_add(const ebi_top *t, const ebi_batch *b, uint8_t *seen, double *count) {
    ebi_moment now = {0, 0};
    for (size_t i = 0; i < b->n; i++) {
        uint64_t after;
        if (t->halves && (i == 0 || b->time[i] != b->time[i - 1])) {
            now = top_list_moment(t, b->time[i]);
            top_list_reach(t, now.era);
        }
        const top_list_weight w = top_list_weigh(t, now, b->value[i]);
        const uint64_t before = top_list_add_one(t, b, i, &w, now.era, &after);
        if (seen) seen[i] = before > 0;
        if (count) count[i] = top_list_count(t, after, now);
        top_list_sum(t, w.upper, now.era);
    }
}

static double top_list_upper(const ebi_top *t, eb_hash h, uint64_t time) {
    const ebi_moment now = top_list_moment(t, time);
    return top_list_count(t, top_list_upper_in(t, ebi_top_set_of(t, h), h, now.era), now);
}

static double top_list_lower(const ebi_top *t, eb_hash h, uint64_t time) {
    const ebi_moment now = top_list_moment(t, time);
    const uint8_t *const set = ebi_top_set_of(t, h);
    const int i = ebi_set_find(set, h);
    if (i == EBI_SET_NONE) return 0;
    return top_list_count_lower(t, top_list_get(t, set, i, top_list_eras(t, set, now.era)).lower,
                                now);
}

static bool top_list_entry(const ebi_top *t, uint64_t at, uint64_t time, ebi_kept *out) {
    assert(at / EBI_SET_ENTRIES < t->sets.n);
    const ebi_moment now = top_list_moment(t, time);
    const uint8_t *const set = ebi_set_at(&t->sets, at / EBI_SET_ENTRIES);
    const ebi_set_entry e =
        top_list_get(t, set, (int)(at % EBI_SET_ENTRIES), top_list_eras(t, set, now.era));
    *out = (ebi_kept){e.key, e.hash, e.cut, top_list_count(t, e.upper, now),
                      top_list_count_lower(t, e.lower, now)};
    return e.upper > 0;
}

static double top_list_rest(const ebi_top *t, uint64_t i, uint64_t time) {
    assert(i < t->sets.n);
    const ebi_moment now = top_list_moment(t, time);
    const uint8_t *const set = ebi_set_at(&t->sets, i);
    return top_list_count(t, top_list_rest_of(t, set, top_list_eras(t, set, now.era)), now);
}

static double top_list_total(const ebi_top *t, uint64_t time) {
    if (!t->halves) return ebi_counter_count(t->state->total);
    const ebi_moment now = top_list_moment(t, time);
    return top_list_count(t, top_list_halved(t->words->total, now.era - t->words->era), now);
}

/* Merging */

static void top_list_unite(const ebi_top *a, const uint8_t *left, const ebi_top *b,
                           const uint8_t *right, uint64_t era, ebi_top_union *u) {
    u->n = 0;
    for (int i = 0; i < EBI_SET_ENTRIES; i++) {
        ebi_set_entry e = top_list_get(a, left, i, 0);
        const int other = ebi_set_find(right, e.hash);
        if (e.upper == 0) continue;
        e.upper = ebi_plus(e.upper, top_list_upper_in(b, right, e.hash, era));
        if (other != EBI_SET_NONE)
            e.lower = ebi_plus(e.lower, top_list_get(b, right, other, 0).lower);
        ebi_top_union_put(u, e);
    }
    for (int i = 0; i < EBI_SET_ENTRIES; i++) {
        ebi_set_entry e = top_list_get(b, right, i, 0);
        if (e.upper == 0 || ebi_set_find(left, e.hash) != EBI_SET_NONE) continue;
        e.upper = ebi_plus(e.upper, top_list_upper_in(a, left, e.hash, era));
        ebi_top_union_put(u, e);
    }
}

static void top_list_merge_set(const ebi_top *into, const ebi_top *from, uint64_t i, uint64_t era) {
    assert(i < into->sets.n && into->sets.each == from->sets.each);
    uint8_t left[EBI_SET_FIXED + EBI_SET_KEYS_MAX], right[EBI_SET_FIXED + EBI_SET_KEYS_MAX];
    uint8_t *const set = ebi_set_at(&into->sets, i);
    ebi_top_union u;
    top_list_freshen(into, set, era);
    memcpy(left, set, (size_t)into->sets.each);
    memcpy(right, ebi_set_at(&from->sets, i), (size_t)into->sets.each);
    top_list_freshen(from, right, era);
    top_list_unite(into, left, from, right, era, &u);
    memset(set, 0, (size_t)into->sets.each);
    ebi_set_put_stamp(set, ebi_set_stamp(left));
    top_list_raise_rest(into, set,
                        ebi_plus(top_list_value(into, ebi_set_rest(left)),
                                 top_list_value(into, ebi_set_rest(right))));
    for (unsigned j = 0; j < u.n; j++) {
        unsigned going;
        if (top_list_room(into, set, u.e[j].key.len, 0, &going)) {
            top_list_put(into, set, u.e[j]);
        } else {
            top_light_reach(into, from, u.e[j].hash, u.e[j].upper, era);
            top_list_raise_rest(into, set, u.e[j].upper);
        }
    }
}

static void top_list_merge(const ebi_top *into, const ebi_top *from, uint64_t time) {
    assert(into->sets.n == from->sets.n && into->halves == from->halves);
    const uint64_t era = top_list_moment(into, time).era;
    top_list_reach(into, era);
    for (uint64_t i = 0; i < into->sets.n; i++) top_list_merge_set(into, from, i, era);
    if (!into->halves) {
        ebi_counting_merge(&into->light, &from->light, 1);
        return;
    }
    for (uint64_t line = 0; line < into->fading.lines; line++) {
        ebi_decay_freshen(&into->fading, line, era);
        ebi_decay_merge_line(&into->fading, &from->fading, line, era);
    }
    into->fading.state->saturated += from->fading.state->saturated;
    top_list_sum(into, top_list_halved(from->words->total, era - from->words->era), era);
}

/* The whole filter */

static bool top_list_check_set(const ebi_top *t, const uint8_t *set, uint64_t era) {
    if (t->halves)
        return ebi_set_stamp(set) <= EBI_SOFT_STAMP_MAX &&
               ebi_set_stamp(set) + t->fading.state->base <= era;
    for (int i = 0; i < EBI_SET_ENTRIES; i++)
        if (ebi_set_lower(set, i) > t->state->total) return false;
    return ebi_set_stamp(set) == 0;
}

static bool top_list_check(const ebi_top *t, uint64_t time) {
    const uint64_t era = top_list_moment(t, time).era;
    bool good =
        t->halves ? ebi_decay_check(&t->fading, era) && t->words->era <= era && t->words->base == 0
                  : ebi_counting_check(&t->light, t->state) && t->state->sealed == 0;
    for (uint64_t i = 0; good && i < t->sets.n; i++)
        good = top_list_check_set(t, ebi_set_at(&t->sets, i), era);
    return good;
}

static void top_list_stat(const ebi_top *t, uint64_t time, eb_stats *out) {
    if (t->halves)
        ebi_decay_stat(&t->fading, top_list_moment(t, time).era, out);
    else
        ebi_counting_stat(&t->light, out);
}

static void top_list_predict(const ebi_top *t, const eb_workload *w, eb_prediction *out) {
    ebi_counting_stream load;
    if (t->halves) {
        ebi_decay_predict(&t->fading, w, NULL, out);
        return;
    }
    ebi_counting_predict(&t->light, w, out);
    out->fnr = out->mean_fnr = out->settles_after = 0;
    if (ebi_counting_load(&t->light, w, &load)) ebi_wide_predict(&t->light, &load, out);
}

const ebi_top_way ebi_top_list_way = {
    .add = top_list_add,
    .upper = top_list_upper,
    .lower = top_list_lower,
    .entry = top_list_entry,
    .rest = top_list_rest,
    .total = top_list_total,
    .merge = top_list_merge,
    .check = top_list_check,
    .stat = top_list_stat,
    .predict = top_list_predict,
};
