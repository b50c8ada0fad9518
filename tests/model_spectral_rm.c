/* model_spectral_rm.c - the recurring minimum with plain arrays: counters, second
 * counters, marks, traps, and a side table that is searched from end to end. */
#include "model.h"
#include <stdlib.h>

typedef struct entry {
    uint64_t hash, count;
    bool used;
} entry;

typedef struct twin {
    unsigned k;
    enum { RMX, RM, RM_BF, TRM } policy;
    uint64_t cells, second_cells, window;
    uint64_t *counter, *second, *trap;
    bool *mark, *trapped;
    entry *side;
} twin;

static void *make(const char *spec, uint64_t rng) {
    twin *const t = model_zeros(1, sizeof *t);
    (void)rng;
    t->k = (unsigned)model_int(spec, "k");
    t->policy = model_is(spec, "method", "rmx")     ? RMX
                : model_is(spec, "method", "rm")    ? RM
                : model_is(spec, "method", "rm+bf") ? RM_BF
                                                    : TRM;
    t->cells = model_int(spec, "cells");
    t->second_cells = model_int(spec, "second");
    t->window = model_int(spec, "span");
    t->counter = model_zeros(t->cells, sizeof *t->counter);
    t->second = model_zeros(t->second_cells, sizeof *t->second);
    t->trap = model_zeros(t->cells, sizeof *t->trap);
    t->mark = model_zeros(t->cells + t->second_cells, sizeof *t->mark);
    t->trapped = model_zeros(t->cells, sizeof *t->trapped);
    t->side = model_zeros(t->second_cells, sizeof *t->side);
    return t;
}

static uint64_t *first_of(const twin *t, uint64_t hash, unsigned i) {
    return &t->counter[model_counter(t->cells, t->window, t->k, hash, i)];
}

static uint64_t *second_of(const twin *t, uint64_t hash, unsigned i) {
    const uint64_t other = model_mix(hash + UINT64_C(0xa0761d6478bd642f));
    return &t->second[model_counter(t->second_cells, t->window, t->k, other, i)];
}

static bool *mark_of(const twin *t, uint64_t hash, unsigned i) {
    const uint64_t part = (t->cells + t->second_cells) / t->k;
    const uint64_t other = model_mix(hash + UINT64_C(0xe7037ed1a0b428db));
    return &t->mark[i * part + model_position(other, i, part)];
}

typedef uint64_t *counter_of(const twin *t, uint64_t hash, unsigned i);

static uint64_t least(const twin *t, counter_of *of, uint64_t hash) {
    uint64_t m = UINT64_MAX;
    for (unsigned i = 0; i < t->k; i++)
        if (*of(t, hash, i) < m) m = *of(t, hash, i);
    return m;
}

static bool recurs(const twin *t, uint64_t hash) {
    unsigned times = 0;
    for (unsigned i = 0; i < t->k; i++) times += *first_of(t, hash, i) == least(t, first_of, hash);
    return times > 1;
}

static bool marked(const twin *t, uint64_t hash) {
    if (t->policy != RM_BF) return false;
    for (unsigned i = 0; i < t->k; i++)
        if (!*mark_of(t, hash, i)) return false;
    return true;
}

static entry *side_of(const twin *t, uint64_t hash) {
    for (uint64_t i = 0; i < t->second_cells; i++)
        if (t->side[i].used && t->side[i].hash == hash) return &t->side[i];
    return NULL;
}

static uint64_t estimate(const twin *t, uint64_t hash) {
    const uint64_t m = least(t, first_of, hash);
    if (t->policy == RMX) {
        const entry *const e = side_of(t, hash);
        return e && e->count < m ? e->count : m;
    }
    if (t->policy == RM_BF ? !marked(t, hash) : recurs(t, hash)) return m;
    const uint64_t s = least(t, second_of, hash);
    return s > 0 ? s : m;
}

static uint64_t count(const void *shard, uint64_t hash) {
    return estimate(shard, hash);
}

static bool test(const void *shard, uint64_t hash) {
    return estimate(shard, hash) > 0;
}

/* Eight places belong to a key's bucket: a free one, or one of a key that is gone or
 * whose counters say no more, looked for from a place on that changes with the count. */
static entry *room_for(const twin *t, uint64_t hash) {
    const uint64_t bucket =
        model_scale(model_mix(hash ^ UINT64_C(0x5de7ab1e5de7ab1e)), t->second_cells / 8);
    const uint64_t from = hash % 8 + least(t, first_of, hash) % 8;
    entry *const e = &t->side[8 * bucket];
    for (int i = 0; i < 8; i++)
        if (!e[i].used) return e + i;
    for (uint64_t i = from; i < from + 8; i++)
        if (e[i % 8].count == 0 || least(t, first_of, e[i % 8].hash) <= e[i % 8].count)
            return e + i % 8;
    return NULL;
}

static void add_rmx(twin *t, model_key key) {
    const uint64_t m = least(t, first_of, key.hash);
    entry *e = side_of(t, key.hash);
    if (e) {
        e->count = e->count + key.value < m ? e->count + key.value : m;
    } else if (!recurs(t, key.hash) && (e = room_for(t, key.hash)) != NULL) {
        *e = (entry){key.hash, m, true};
    }
}

/* Whoever steps on a trap takes what it was estimated to be off the key that set it, once. */
static void spring(twin *t, uint64_t hash, uint64_t by_estimate) {
    for (unsigned i = 0; i < t->k; i++) {
        const uint64_t at = model_counter(t->cells, t->window, t->k, hash, i), owner = t->trap[at];
        if (!t->trapped[at] || owner == hash) continue;
        const uint64_t there = least(t, second_of, owner),
                       by = by_estimate < there ? by_estimate : there;
        for (unsigned j = 0; j < t->k; j++) *second_of(t, owner, j) -= by;
        t->trapped[at] = false;
    }
}

static void add_published(twin *t, model_key key, uint64_t estimate_before) {
    const bool mark = marked(t, key.hash), single = !recurs(t, key.hash);
    const uint64_t m = least(t, first_of, key.hash);
    if (t->policy == TRM) spring(t, key.hash, estimate_before);
    const bool there = mark || least(t, second_of, key.hash) > 0;
    if (!single && !mark && !(t->policy == TRM && there)) return;
    for (unsigned i = 0; i < t->k; i++) {
        *second_of(t, key.hash, i) += there ? key.value : m;
        *mark_of(t, key.hash, i) = true;
    }
    for (unsigned i = 0; i < t->k && !there; i++) {
        if (*first_of(t, key.hash, i) != m) continue;
        t->trap[model_counter(t->cells, t->window, t->k, key.hash, i)] = key.hash;
        t->trapped[model_counter(t->cells, t->window, t->k, key.hash, i)] = true;
    }
}

static bool add(void *shard, model_key key) {
    twin *const t = shard;
    const uint64_t before = estimate(t, key.hash);
    for (unsigned i = 0; i < t->k; i++) *first_of(t, key.hash, i) += key.value;
    if (t->policy == RMX)
        add_rmx(t, key);
    else
        add_published(t, key, before);
    return before > 0;
}

static void take(void *shard, model_key key) {
    twin *const t = shard;
    for (unsigned i = 0; i < t->k; i++) *first_of(t, key.hash, i) -= key.value;
    entry *const e = t->policy == RMX ? side_of(t, key.hash) : NULL;
    if (e) e->count -= key.value;
    if (t->policy == RMX) return;
    if (recurs(t, key.hash) && !marked(t, key.hash) && t->policy != TRM) return;
    const uint64_t there = least(t, second_of, key.hash);
    for (unsigned i = 0; i < t->k; i++)
        *second_of(t, key.hash, i) -= key.value < there ? key.value : there;
}

static void drop(void *shard) {
    twin *const t = shard;
    free(t->counter);
    free(t->second);
    free(t->trap);
    free(t->mark);
    free(t->trapped);
    free(t->side);
    free(t);
}

const model_kind model_spectral_rm = {.name = "spectral_rm",
                                      .make = make,
                                      .add = add,
                                      .test = test,
                                      .free = drop,
                                      .count = count,
                                      .remove = take};
