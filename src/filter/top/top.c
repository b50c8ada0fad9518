/* top.c - which keys occur most often?
 *
 *     | head | totals, 64 bytes | list: sets of cells/sets.h | light part: counters, store wide |
 *
 * A key belongs to one set of 16.  Keys that are listed are counted there, exactly from when they
 * were listed; all others in the light part, a small conservative filter with k = 3.  A key whose
 * count there has outgrown the least of its set takes its place.  The light part is then lifted to
 * what the list said of the one that goes, so it is never too low for a key that is not listed.
 *
 *   upper count   listed: what the light part said, or the set's rest if that is less, plus what
 *                 came since; others: the less of the light part and the rest
 *   lower count   listed: what came since; others: 0
 *   rest          of a set: no key that is not listed came more often (sets.h)
 *   watermark     the largest rest: every key that came more often is listed
 *
 * With expect=T only keys that came more than (T-1)/2 times are listed: the rest begins there.  So
 * the many keys that come once or twice cost neither room nor time.
 *
 * Two filters are merged set by set: counts and rests add up, the 16 largest stay. */
#include "cells/sets.h"
#include "filter/counting/counting.h"
#include <math.h>

enum { TOP_LIST = EBI_O_OWN, TOP_KEY_BYTES, TOP_EXPECT };
enum { TOP_K = 3, TOP_LIGHT_SHARE = 4 }; /* a quarter of the memory is for the light part */

static const eb_option top_options[] = {
    EBI_COMMON_OPTIONS,
    {"list", "size", NULL, "512", "64T", "bytes for the keys that are kept, in each shard", false},
    {"key_bytes", "int", NULL, "8", "1024", "of a key on average; 8 times that is the most", false},
    {"expect", "count", "1", "1", "1e14", "nobody will ask for keys that came less often", false},
    {0}};

typedef struct top {
    ebi_sets sets;
    ebi_counting light;
    ebi_counting_words *state;
    uint64_t floor; /* a key that came no more often is not listed */
} top;

/* Parameters */

static uint64_t top_set_bytes(const ebi_params *p) {
    return EBI_SET_FIXED + EBI_SET_ENTRIES * p->opt[TOP_KEY_BYTES];
}

static uint64_t top_window(uint64_t cells) { /* as in spectral */
    return cells > (1u << 20) ? EBI_COUNTING_WINDOW : cells;
}

static top top_open(const ebi_params *p, const uint8_t *block) {
    top t;
    t.state = ebi_counting_state(block);
    t.floor = (p->opt[TOP_EXPECT] - 1) / 2;
    t.sets.first = ebi_writable(block) + EBI_COUNTING_FIXED;
    t.sets.each = top_set_bytes(p);
    t.sets.n = p->opt[TOP_LIST] / t.sets.each;
    t.light = (ebi_counting){.store = ebi_store_wide()->conservative,
                             .n = p->opt[EBI_O_CELLS],
                             .k = TOP_K,
                             .joins = true,
                             .total = &t.state->total};
    t.light.bytes = ebi_counters_bytes(t.light.store, t.light.n, 0);
    t.light.window = top_window(t.light.n);
    t.light.part = t.light.window / TOP_K;
    t.light.counters =
        ebi_counters(t.light.store, t.sets.first + p->opt[TOP_LIST], t.light.n, t.light.bytes);
    return t;
}

/* Words of a text are short; where there is memory, addresses and names of files shall fit. */
static uint64_t top_usual_key_bytes(uint64_t bytes) {
    return bytes < (64 << 10) ? 8 : bytes < (1 << 20) ? 16 : 32;
}

static eb_status top_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    if (p->opt[EBI_O_KEYS] != EBI_KEYS_TEXT && p->opt[EBI_O_KEYS] != EBI_KEYS_BYTES)
        return ebi_fail(
            err, EB_ESPEC,
            "top: keys must be text or bytes; with keys=text integers are listed as text");
    const ebi_store *const store = ebi_store_wide();
    const uint64_t budget = ebi_budget(p), fixed = sizeof(ebi_counting_words);
    const uint64_t memory =
        a->given[EBI_O_CELLS] ? ebi_counters_bytes(store, p->opt[EBI_O_CELLS], 0) * TOP_LIGHT_SHARE
                              : budget - ebi_min(budget, fixed);
    if (!a->given[TOP_LIST]) p->opt[TOP_LIST] = memory / TOP_LIGHT_SHARE * (TOP_LIGHT_SHARE - 1);
    if (!a->given[TOP_KEY_BYTES]) p->opt[TOP_KEY_BYTES] = top_usual_key_bytes(p->opt[TOP_LIST]);
    p->opt[TOP_KEY_BYTES] = ebi_round_up(p->opt[TOP_KEY_BYTES], 4); /* sets are lines of cache */
    p->opt[TOP_LIST] = p->opt[TOP_LIST] / top_set_bytes(p) * top_set_bytes(p);
    const uint64_t keep = p->opt[TOP_LIST];
    if (keep == 0)
        return ebi_fail(err, EB_ESPEC, "top: list must be at least %llu with key_bytes=%llu",
                        (unsigned long long)top_set_bytes(p),
                        (unsigned long long)p->opt[TOP_KEY_BYTES]);
    if (!a->given[EBI_O_CELLS])
        p->opt[EBI_O_CELLS] = memory > keep ? ebi_counting_cells(store, memory - keep, 0) : 0;
    if (p->opt[EBI_O_CELLS] < 64)
        return ebi_fail(err, EB_ESPEC, "top: memory=%llu is too small for list=%llu",
                        (unsigned long long)p->opt[EBI_O_MEMORY], (unsigned long long)keep);
    p->span = EBI_COUNTING_FIXED + keep + ebi_counters_bytes(store, p->opt[EBI_O_CELLS], 0);
    p->value_min = 1;
    return EB_OK;
}

/* Keys */

static uint8_t *top_set_of(const top *t, eb_hash h) {
    return ebi_set_at(&t->sets, eb_scale(h, t->sets.n));
}

static uint64_t top_light(const top *t, eb_hash h) {
    uint64_t pos[TOP_K], counter[TOP_K];
    ebi_counting_positions(&t->light, h, pos);
    return ebi_counting_minimum(&t->light, pos, counter);
}

/* The light part says no less of a key than that. */
static void top_lift_light(const top *t, eb_hash h, uint64_t count) {
    uint64_t pos[TOP_K];
    ebi_counting_positions(&t->light, h, pos);
    for (unsigned j = 0; j < TOP_K; j++) {
        const uint64_t there = ebi_counting_get(&t->light, pos[j]);
        if (there < count) (void)ebi_counting_raise(&t->light, pos[j], count - there);
    }
}

static uint64_t top_upper(const top *t, const uint8_t *set, eb_hash h) {
    const int i = ebi_set_find(set, h);
    if (i != EBI_SET_NONE) return ebi_set_upper(set, i);
    const uint64_t rest = ebi_set_rest(set);
    return rest == 0 ? 0 : ebi_min(rest, top_light(t, h));
}

static void top_expel(const top *t, uint8_t *set, unsigned going, const ebi_batch *b, size_t at) {
    for (; going != 0; going &= going - 1) {
        const int i = (int)ebi_ctz(going);
        const ebi_set_entry e = ebi_set_get(set, i);
        ebi_expel(b, at, e.key);
        top_lift_light(t, e.hash, e.upper);
        ebi_set_raise_rest(set, e.upper);
        ebi_set_drop(&t->sets, set, i);
    }
}

/* The count of key `at` of a batch before it is added, and after. */
static uint64_t top_add_one(const top *t, const ebi_batch *b, size_t at, uint64_t *after) {
    assert(at < b->n && b->key != NULL && b->value[at] >= 1);
    const eb_hash h = b->hash[at];
    const uint64_t by = b->value[at];
    uint8_t *const set = top_set_of(t, h);
    const int i = ebi_set_find(set, h);
    if (i != EBI_SET_NONE) {
        const uint64_t upper = ebi_set_upper(set, i);
        *after = ebi_counter_sum(upper, by);
        ebi_set_counts(set, i, *after, ebi_counter_sum(ebi_set_lower(set, i), by));
        return upper;
    }
    const uint64_t rest = ebi_set_rest(set);
    uint64_t before = 0, pos[TOP_K];
    unsigned going;
    const bool known = rest == 0 && ebi_set_room(&t->sets, set, b->key[at].len, 0, &going);
    if (!known) {
        ebi_counting_positions(&t->light, h, pos);
        before = ebi_min(ebi_counting_lift(&t->light, pos, by), rest);
    }
    *after = ebi_counter_sum(before, by);
    if (*after > t->floor && ebi_set_room(&t->sets, set, b->key[at].len, *after, &going)) {
        top_expel(t, set, going, b, at);
        ebi_set_put(&t->sets, set,
                    &(ebi_set_entry){.hash = h, .upper = *after, .lower = by, .key = b->key[at]});
    } else {
        ebi_set_raise_rest(set, *after);
        *after = ebi_min(top_light(t, h), ebi_set_rest(set)); /* as it will answer */
    }
    return before;
}

/* Loops */

static void top_fetch(const top *t, const ebi_batch *b, bool far) {
    for (size_t i = 0; far && i < b->n; i++) {
        const uint8_t *const set = top_set_of(t, b->hash[i]);
        for (size_t line = 0; line < EBI_SET_FIXED; line += 64) ebi_prefetch_write(set + line);
    }
}

static void top_add_all(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen,
                        double *count) {
    assert(b->n <= EBI_BATCH);
    const top t = top_open(p, block);
    uint64_t sum = 0;
    top_fetch(&t, b, ebi_is_far(p));
    for (size_t i = 0; i < b->n; i++) {
        uint64_t after;
        const uint64_t before = top_add_one(&t, b, i, &after);
        if (seen) seen[i] = before > 0;
        if (count) count[i] = (double)after;
        sum += b->value[i];
    }
    ebi_counting_raise_total(&t.light, sum);
}

static void top_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen) {
    top_add_all(p, block, b, seen, NULL);
}

static void top_add_count(const ebi_params *p, uint8_t *block, const ebi_batch *b, double *after) {
    top_add_all(p, block, b, NULL, after);
}

static void top_estimates(const ebi_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                          uint64_t *estimate) {
    assert(n <= EBI_BATCH);
    const top t = top_open(p, block);
    for (size_t i = 0; i < n; i++) estimate[i] = top_upper(&t, top_set_of(&t, h[i]), h[i]);
}

EBI_COUNTING_LOOPS(top)

static const ebi_ops *top_select(const ebi_params *p) {
    static const ebi_ops ops = {
        .add = top_add, .test = top_test, .count = top_count, .add_count = top_add_count};
    (void)p;
    return &ops;
}

/* The list */

static bool top_next(const ebi_params *p, const uint8_t *block, uint64_t time, uint64_t *at,
                     ebi_kept *out) {
    (void)time;
    const top t = top_open(p, block);
    for (; *at < t.sets.n * EBI_SET_ENTRIES; ++*at) {
        const uint8_t *const set = ebi_set_at(&t.sets, *at / EBI_SET_ENTRIES);
        const ebi_set_entry e = ebi_set_get(set, (int)(*at % EBI_SET_ENTRIES));
        if (e.upper == 0) continue;
        *out = (ebi_kept){e.key, e.hash, e.cut, (double)e.upper, (double)e.lower};
        ++*at;
        return true;
    }
    return false;
}

static double top_watermark(const ebi_params *p, const uint8_t *block, uint64_t time) {
    (void)time;
    const top t = top_open(p, block);
    uint64_t most = 0;
    for (uint64_t i = 0; i < t.sets.n; i++)
        most = ebi_max(most, ebi_set_rest(ebi_set_at(&t.sets, i)));
    return (double)most;
}

static double top_lower(const ebi_params *p, const uint8_t *block, uint64_t time, eb_hash h) {
    (void)time;
    const top t = top_open(p, block);
    const uint8_t *const set = top_set_of(&t, h);
    const int i = ebi_set_find(set, h);
    return i == EBI_SET_NONE ? 0 : (double)ebi_set_lower(set, i);
}

/* Merging */

/* After the light parts are added up, theirs must say no less of a key than that. */
static void top_lift_both(const top *into, const top *from, eb_hash h, uint64_t count) {
    uint64_t pos[TOP_K];
    ebi_counting_positions(&into->light, h, pos);
    for (unsigned j = 0; j < TOP_K; j++) {
        const uint64_t there = ebi_counter_sum(ebi_counting_get(&into->light, pos[j]),
                                               ebi_counting_get(&from->light, pos[j]));
        if (there < count) (void)ebi_counting_raise(&into->light, pos[j], count - there);
    }
}

typedef struct top_union { /* the keys of two sets, the most frequent first */
    unsigned n;
    ebi_set_entry e[2 * EBI_SET_ENTRIES];
} top_union;

static void top_union_put(top_union *u, ebi_set_entry e) {
    assert(u->n < EBI_COUNT_OF(u->e));
    unsigned i = u->n++;
    for (; i > 0 && (u->e[i - 1].upper < e.upper ||
                     (u->e[i - 1].upper == e.upper && u->e[i - 1].hash > e.hash));
         i--)
        u->e[i] = u->e[i - 1];
    u->e[i] = e;
}

static void top_unite(const top *a, const uint8_t *left, const top *b, const uint8_t *right,
                      top_union *u) {
    u->n = 0;
    for (int i = 0; i < EBI_SET_ENTRIES; i++) {
        ebi_set_entry e = ebi_set_get(left, i);
        const int other = ebi_set_find(right, e.hash);
        if (e.upper == 0) continue;
        e.upper = ebi_counter_sum(e.upper, top_upper(b, right, e.hash));
        if (other != EBI_SET_NONE) e.lower = ebi_counter_sum(e.lower, ebi_set_lower(right, other));
        top_union_put(u, e);
    }
    for (int i = 0; i < EBI_SET_ENTRIES; i++) {
        ebi_set_entry e = ebi_set_get(right, i);
        if (e.upper == 0 || ebi_set_find(left, e.hash) != EBI_SET_NONE) continue;
        e.upper = ebi_counter_sum(e.upper, top_upper(a, left, e.hash));
        top_union_put(u, e);
    }
}

static void top_merge_set(const top *into, const top *from, uint64_t i) {
    assert(i < into->sets.n && into->sets.each == from->sets.each);
    uint8_t left[EBI_SET_FIXED + EBI_SET_KEYS_MAX];
    uint8_t *const set = ebi_set_at(&into->sets, i);
    const uint8_t *const right = ebi_set_at(&from->sets, i);
    const uint64_t rest = ebi_counter_sum(ebi_set_rest(set), ebi_set_rest(right));
    top_union u;
    memcpy(left, set, (size_t)into->sets.each);
    top_unite(into, left, from, right, &u);
    memset(set, 0, (size_t)into->sets.each);
    ebi_set_put_rest(set, rest);
    for (unsigned j = 0; j < u.n; j++) {
        unsigned going;
        if (ebi_set_room(&into->sets, set, u.e[j].key.len, 0, &going)) {
            ebi_set_put(&into->sets, set, &u.e[j]);
        } else {
            top_lift_both(into, from, u.e[j].hash, u.e[j].upper);
            ebi_set_raise_rest(set, u.e[j].upper);
        }
    }
}

static void top_merge(const ebi_params *p, uint8_t *into, const ebi_params *q,
                      const uint8_t *from) {
    (void)q;
    const top a = top_open(p, into), b = top_open(p, from);
    for (uint64_t i = 0; i < a.sets.n; i++) top_merge_set(&a, &b, i);
    ebi_counting_merge(&a.light, &b.light);
}

/* The whole filter */

static void top_init(const ebi_params *p, uint8_t *block) {
    const top t = top_open(p, block);
    for (uint64_t i = 0; i < t.sets.n; i++) ebi_set_put_rest(ebi_set_at(&t.sets, i), t.floor);
}

static bool top_check_set(const top *t, uint64_t i) {
    assert(i < t->sets.n);
    const uint8_t *const set = ebi_set_at(&t->sets, i);
    if (!ebi_set_check(&t->sets, set) || ebi_set_stamp(set) != 0) return false;
    for (int j = 0; j < EBI_SET_ENTRIES; j++) {
        if (ebi_set_upper(set, j) == 0) continue;
        if (top_set_of(t, ebi_set_hash(set, j)) != set) return false;
        if (ebi_set_lower(set, j) > t->state->total) return false;
    }
    return true;
}

static eb_status top_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    const top t = top_open(p, block);
    bool good = ebi_counting_check(&t.light, t.state) && t.state->sealed == 0;
    for (uint64_t i = 0; good && i < t.sets.n; i++) good = top_check_set(&t, i);
    if (good) return EB_OK;
    return ebi_fail(err, EB_EFORMAT, "damaged top filter: its lists make no sense");
}

static void top_stat(const ebi_params *p, const uint8_t *block, eb_stats *out) {
    const top t = top_open(p, block);
    uint64_t open = 0;
    ebi_counting_stat(&t.light, out);
    for (uint64_t i = 0; i < t.sets.n; i++) {
        const uint8_t *const set = ebi_set_at(&t.sets, i);
        open += ebi_set_rest(set) > 0;
        for (int j = 0; j < EBI_SET_ENTRIES; j++)
            out->saturated += ebi_set_upper(set, j) == EBI_SET_COUNT_MAX;
    }
    out->fpr *= (double)open / (double)t.sets.n; /* other sets know all their keys */
}

/* Errors as if no key were listed: those that are have smaller ones.  How many keys each set has
 * turned away, which decides on false positives, has no formula. */
static void top_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    ebi_counting_stream load;
    ebi_counting light = {.store = ebi_store_wide()->conservative,
                          .n = p->opt[EBI_O_CELLS],
                          .k = TOP_K,
                          .joins = true};
    light.window = top_window(light.n);
    light.part = light.window / TOP_K;
    out->fnr = out->mean_fnr = out->settles_after = 0;
    if (ebi_counting_load(&light, w, &load)) ebi_wide_predict(&light, &load, out);
    out->fpr = out->mean_fpr = out->fill = NAN;
}

static const ebi_keeping top_keeping = {top_next, top_watermark, top_lower};

const ebi_kind ebi_kind_top = {
    .info = {"top", "counts keys, and keeps those that occur most often", "everbloom's own",
             EB_CAN_COUNT | EB_NO_FALSE_NEGATIVES | EB_USES_VALUE | EB_CAN_MERGE | EB_KEEPS_KEYS,
             top_options, "Which keys occur most often?"},
    .version = 1,
    .resolve = top_resolve,
    .select = top_select,
    .init = top_init,
    .traits = EBI_MERGE_BOUNDS,
    .merge = top_merge,
    .keeping = &top_keeping,
    .check = top_check,
    .stat = top_stat,
    .predict = top_predict,
};
