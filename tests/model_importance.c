/* model_importance.c - importance-aware filters with one int for each cell. */
#include "model_fading.h"
#include <string.h>

typedef struct importance {
    model_fading fading;
    bool two_classes, exact, probes, printed, overwrite;
    char map;
    uint64_t low, high, at;
    int table[8];
    uint64_t entries;
} importance;

static void *make(const char *spec, uint64_t rng) {
    importance *const t = (importance *)(void *)model_fading_new(spec, rng, sizeof *t);
    t->two_classes = model_is(spec, "policy", "2c");
    t->exact = model_is(spec, "policy", "h");
    t->probes = model_is(spec, "policy", "hb");
    t->printed = model_is(spec, "raise", "printed");
    t->overwrite = model_is(spec, "raise", "overwrite");
    t->map = model_is(spec, "map", "linear") ? 'l' : model_is(spec, "map", "threshold") ? 't' : 'e';
    t->low = model_int(spec, "low");
    t->high = model_int(spec, "high");
    t->at = model_int(spec, "at");
    for (uint64_t i = 0; i < 8; i++) t->table[i] = (int)model_entry(spec, "table", i);
    while (t->entries < 8 && t->table[t->entries] != 0) t->entries++;
    return t;
}

static int value_of(const importance *t, uint64_t imp) {
    const uint64_t top = (uint64_t)t->fading.top, range = t->high - t->low + 1;
    int f = t->table[(imp - t->low) * t->entries / range];
    if (t->map == 'l') f = 1 + (int)((imp - t->low) * top / range);
    if (t->map == 't') f = imp >= t->at ? t->fading.top : 1;
    if (!t->two_classes) return f;
    return f <= t->fading.top / 2 ? t->fading.top / 2 : t->fading.top;
}

static bool any_left(const model_fading *t) {
    for (uint64_t i = 0; i < t->cells; i++)
        if (t->cell[i] != 0) return true;
    return false;
}

static bool probe(model_fading *t) {
    int *const cell = &t->cell[model_below(&t->rng, t->cells)];
    if (*cell == 0) return false;
    if (*cell > 1 && model_below(&t->rng, (uint64_t)*cell) != 0) return false;
    (*cell)--;
    return true;
}

static void forget(importance *t) {
    if (!t->exact && !t->probes) {
        model_fading_arrival(&t->fading);
        return;
    }
    for (uint64_t n = model_fading_rounded(&t->fading); n > 0; n--) {
        if (t->exact && !any_left(&t->fading)) return;
        for (int tries = 0; tries < (t->exact ? 256 : 1); tries++)
            if (probe(&t->fading)) break;
    }
}

static bool add(void *twin, model_key key) {
    importance *const t = twin;
    const bool seen = model_fading_test(twin, key.hash);
    const int f = value_of(t, key.value);
    forget(t);
    for (unsigned i = 0; i < t->fading.k; i++) {
        int *const cell = &t->fading.cell[model_position(key.hash, i, t->fading.cells)];
        if (t->overwrite)
            *cell = f;
        else if (t->printed && *cell >= t->fading.top / 2)
            *cell = t->fading.top;
        else if (*cell < f)
            *cell = f;
    }
    return seen;
}

const model_kind model_importance = {.name = "importance",
                                     .make = make,
                                     .add = add,
                                     .test = model_fading_test,
                                     .cell = model_fading_cell,
                                     .free = model_fading_free};
