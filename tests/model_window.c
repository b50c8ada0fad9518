/* model_window.c - the window filter with plain lists: a line is a list of entries, each with its
 * era and the bits of its fingerprint that are still known. */
#include "model.h"
#include <stdlib.h>

enum { SLACK = 4, SLOTS_MAX = 96, ERAS_MAX = 30, SEGMENT_BITS = 504 };

typedef struct entry {
    uint64_t print, era;
    unsigned known; /* its low bits are */
} entry;

typedef struct line {
    entry list[SLOTS_MAX]; /* oldest first */
    unsigned n, w;
    uint64_t era;                         /* when it was last touched */
    bool bit[ERAS_MAX + 1][SEGMENT_BITS]; /* mode=rotate: of each generation */
} line;

typedef struct window {
    uint64_t lines, length, quota; /* of an era, in ticks and in entries */
    unsigned w, eras, bits, slots;
    bool rotate, by_time, refresh, shorten;
    uint64_t era, start, entered, records;
    line *line;
} window;

static uint64_t root_up(uint64_t x) { /* ceil(sqrt(x)) */
    uint64_t r = 0;
    while (r * r < x) r++;
    return r;
}

static uint64_t share(uint64_t x, uint64_t parts) {
    return x / parts + (x % parts > 0);
}

static void *make(const char *spec, uint64_t rng) {
    window *const t = model_zeros(1, sizeof *t);
    (void)rng;
    const uint64_t shards = model_int(spec, "shards");
    t->rotate = model_is(spec, "mode", "rotate");
    t->by_time = model_is(spec, "unit", "time");
    t->refresh = model_is(spec, "refresh", "yes");
    t->shorten = model_is(spec, "overload", "shorten");
    t->w = (unsigned)model_int(spec, "print_bits");
    t->eras = (unsigned)model_int(spec, "eras");
    t->bits = 8 * (unsigned)model_int(spec, "line");
    t->slots = t->bits == 512 ? 64 : 96;
    const unsigned generations = t->eras + 1;
    t->lines = model_int(spec, "cells") /
               (t->rotate ? SEGMENT_BITS / generations * generations : t->slots);
    uint64_t ticks = model_int(spec, "window");
    if (!t->by_time && shards > 1) ticks = share(ticks, shards) + 6 * root_up(share(ticks, shards));
    t->length = share(ticks, t->eras);
    t->quota = share(model_int(spec, "items"), shards * t->eras);
    t->line = model_zeros(t->lines, sizeof *t->line);
    return t;
}

/* Time */

static void reach(window *t, uint64_t time) {
    if (time >= t->start + t->length) {
        t->era += (time - t->start) / t->length;
        t->start += (time - t->start) / t->length * t->length;
        t->entered = 0;
    } else if (t->by_time && t->shorten && t->entered >= t->quota) {
        t->era++;
        t->start = time;
        t->entered = 0;
    }
}

/* Lines of entries */

static unsigned slots_of(const window *t, unsigned w) {
    const unsigned n = (t->bits - 32 - t->eras) / (w + 1);
    return n < t->slots ? n : t->slots;
}

static void take_out(line *l, unsigned i) {
    for (l->n--; i < l->n; i++) l->list[i] = l->list[i + 1];
}

static bool all_known(const line *l) {
    for (unsigned i = 0; i < l->n; i++)
        if (l->list[i].known < l->w) return false;
    return true;
}

static void expire(const window *t, line *l) {
    if (l->w == 0 || t->era - l->era > t->eras) *l = (line){.w = t->w};
    while (l->n > 0 && t->era - l->list[0].era > t->eras) take_out(l, 0);
    l->era = t->era;
}

static void widen(const window *t, line *l) {
    if (!all_known(l)) return;
    unsigned w = t->w;
    while (w > l->w && slots_of(t, w) < l->n + SLACK) w--;
    l->w = w;
}

static int youngest_match(const line *l, uint64_t print) {
    for (int i = (int)l->n - 1; i >= 0; i--) {
        const uint64_t mask = (UINT64_C(1) << l->list[i].known) - 1;
        if (((l->list[i].print ^ print) & mask) == 0) return i;
    }
    return -1;
}

static bool append(window *t, line *l, uint64_t print) { /* false: it is not stored */
    if (l->n == slots_of(t, l->w)) {
        unsigned w = l->w - 1;
        while (w >= 1 && slots_of(t, w) <= l->n) w--;
        if (w == 0 && !t->shorten) return false;
        if (w == 0) take_out(l, 0);
        if (w > 0) l->w = w;
        for (unsigned i = 0; i < l->n; i++)
            if (l->list[i].known > l->w) l->list[i].known = l->w;
    }
    l->list[l->n++] = (entry){print, t->era, l->w};
    t->entered++;
    return true;
}

static bool observe_list(window *t, line *l, uint64_t print) {
    expire(t, l);
    const int i = youngest_match(l, print);
    if (i >= 0 && (!t->refresh || l->list[i].era == t->era)) return true;
    widen(t, l);
    if (i >= 0 && l->list[i].known == l->w) take_out(l, (unsigned)i);
    return !append(t, l, print) || i >= 0;
}

/* Lines of generations */

static bool is_in(const window *t, const bool *bits, uint64_t hash) {
    const unsigned each = SEGMENT_BITS / (t->eras + 1);
    uint64_t x = model_mix(hash);
    for (unsigned i = 0; i < t->w; i++, x = x * UINT64_C(0xd1342543de82ef95) + 1)
        if (!bits[model_scale(x, each)]) return false;
    return true;
}

static void put_in(const window *t, bool *bits, uint64_t hash) {
    const unsigned each = SEGMENT_BITS / (t->eras + 1);
    uint64_t x = model_mix(hash);
    for (unsigned i = 0; i < t->w; i++, x = x * UINT64_C(0xd1342543de82ef95) + 1)
        bits[model_scale(x, each)] = true;
}

static bool lives(const window *t, const line *l, uint64_t generation) {
    const uint64_t since = (t->era + t->eras + 1 - generation) % (t->eras + 1);
    return t->era - since <= l->era; /* nobody came to this line since it ended */
}

static bool is_in_any(const window *t, const line *l, uint64_t hash) {
    for (unsigned g = 0; g <= t->eras; g++)
        if (lives(t, l, g) && is_in(t, l->bit[g], hash)) return true;
    return false;
}

static bool observe_bits(window *t, line *l, uint64_t hash) {
    const unsigned now = (unsigned)(t->era % (t->eras + 1));
    for (unsigned g = 0; g <= t->eras; g++)
        for (unsigned i = 0; i < SEGMENT_BITS && !lives(t, l, g); i++) l->bit[g][i] = false;
    l->era = t->era;
    const bool seen = is_in_any(t, l, hash);
    if (!seen || (t->refresh && !is_in(t, l->bit[now], hash))) {
        put_in(t, l->bit[now], hash);
        t->entered++;
    }
    return seen;
}

/* Both */

static bool add(void *twin, model_key key) {
    window *const t = twin;
    reach(t, t->by_time ? key.time : t->records);
    t->records++;
    line *const l = &t->line[model_scale(key.hash, t->lines)];
    return t->rotate ? observe_bits(t, l, key.hash)
                     : observe_list(t, l, key.hash & ((UINT64_C(1) << t->w) - 1));
}

static bool test(const void *twin, uint64_t hash) {
    const window *const t = twin;
    const line *const from = &t->line[model_scale(hash, t->lines)];
    if (t->rotate) return is_in_any(t, from, hash);
    line l = *from;
    expire(t, &l);
    return youngest_match(&l, hash & ((UINT64_C(1) << t->w) - 1)) >= 0;
}

static void drop(void *twin) {
    free(((window *)twin)->line);
    free(twin);
}

const model_kind model_window = {
    .name = "window", .make = make, .add = add, .test = test, .free = drop};
