/* exact.c - a table of hashes: open addressing, at most seven eighths full.
 *
 * Counts that fade by half-lives are kept as what they will have been at a moment `since`: an
 * arrival at t weighs 2^((t - since) / halflife), so that none has to be touched when time passes.
 * Counts by age have an entry for each key and epoch. */
#include "exact.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT_SLOTS_LEAST = 1024, EXACT_EPOCHS_MOST = 4096, EXACT_HALVINGS = 500 };

typedef struct slot {
    eb_hash hash;
    double amount; /* 0: nothing is here */
} slot;

struct exact_counts {
    slot *slots; /* NULL: there were too many keys */
    size_t n, n_slots;
    double halflife; /* 0: counts do not fade so, */
    uint64_t period; /* nor so */
    uint64_t since, now;
    bool begun;
    double *weight; /* of an arrival by its age in epochs */
    size_t epochs;
};

/* ---- Making one. */

static double option_of(const eb_filter *f, const char *key) { /* 0: there is none */
    double number = 0;
    return eb_spec_get(eb_spec(f), key, NULL, 0, &number, NULL) == EB_OK && number > 0 ? number : 0;
}

/* What an arrival counts, from a filter of the same kind with one arrival in it. */
static bool learn_weights(exact_counts *e, const eb_filter *f) {
    char spec[EB_SPEC_MAX];
    eb_filter *one = NULL;
    const eb_hash h = 1;
    const uint64_t begin = 0;
    eb_batch b = eb_batch_hashes(&h, 1);
    b.time = &begin;
    const bool made = eb_spec_set(eb_spec(f), "cells", "64", spec, sizeof spec, NULL) == EB_OK &&
                      eb_spec_set(spec, "memory", NULL, spec, sizeof spec, NULL) == EB_OK &&
                      eb_new(&one, spec, NULL, NULL) == EB_OK &&
                      eb_add_batch(one, &b, NULL) == EB_OK;
    bool known = made;
    e->weight = cli_alloc(e->epochs * sizeof *e->weight);
    for (size_t age = 0; known && age < e->epochs; age++) {
        const uint64_t time = e->period * age;
        b.time = &time;
        b.count = &e->weight[age];
        known = eb_ask_batch(one, &b, NULL) == EB_OK;
    }
    eb_free(one);
    return known;
}

exact_counts *exact_open(const eb_filter *f) {
    exact_counts *const e = cli_alloc(sizeof *e);
    const size_t bytes = eb_save_size(f) < EXACT_MOST ? eb_save_size(f) : EXACT_MOST;
    *e = (exact_counts){.period = (uint64_t)option_of(f, "period"),
                        .epochs = (size_t)option_of(f, "epochs")};
    if (e->period > 0 && e->epochs == 0)
        e->halflife = -(double)e->period * M_LN2 / log(option_of(f, "factor"));
    e->n_slots = EXACT_SLOTS_LEAST;
    while (e->n_slots * sizeof *e->slots < bytes) e->n_slots *= 2;
    if (((eb_caps(f) & EB_USES_TIME) && !(e->halflife > 0 || e->epochs > 0)) ||
        e->epochs > EXACT_EPOCHS_MOST || (e->epochs > 0 && !learn_weights(e, f))) {
        exact_close(e);
        return NULL;
    }
    e->slots = cli_alloc(e->n_slots * sizeof *e->slots);
    memset(e->slots, 0, e->n_slots * sizeof *e->slots);
    return e;
}

void exact_close(exact_counts *e) {
    if (!e) return;
    free(e->slots);
    free(e->weight);
    free(e);
}

/* ---- Counting. */

static eb_hash of_epoch(eb_hash h, uint64_t epoch) { /* other keys in other epochs */
    uint64_t x = h ^ (epoch + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

static slot *find(const exact_counts *e, eb_hash h) {
    size_t i = (size_t)(h ^ h >> 32) & (e->n_slots - 1);
    while (e->slots[i].amount > 0 && e->slots[i].hash != h) i = (i + 1) & (e->n_slots - 1);
    return &e->slots[i];
}

static void put(exact_counts *e, eb_hash h, double amount) {
    if (!(amount > 0)) return;
    slot *const s = find(e, h);
    e->n += !(s->amount > 0);
    s->hash = h;
    s->amount += amount;
    if (8 * e->n <= 7 * e->n_slots) return;
    free(e->slots);
    e->slots = NULL;
}

/* Entries would overflow after a thousand half-lives. */
static void move_since(exact_counts *e) {
    const double by = EXACT_HALVINGS * e->halflife;
    while ((double)(e->now - e->since) > by && by >= 1) {
        e->since += (uint64_t)by;
        const double factor = exp2(-(double)(uint64_t)by / e->halflife);
        for (size_t i = 0; i < e->n_slots; i++)
            if (e->slots[i].amount > 0)
                e->slots[i].amount = fmax(e->slots[i].amount * factor, 0x1p-1000);
    }
}

static void add_one(exact_counts *e, eb_hash h, uint64_t time, double value) {
    if (!e->begun) e->since = time;
    e->begun = true;
    e->now = time = time > e->now ? time : e->now; /* the filter's clock does not go back, either */
    if (e->epochs > 0) {
        put(e, of_epoch(h, time / e->period), value);
    } else if (e->halflife > 0) {
        move_since(e);
        put(e, h, value * exp2((double)(time - e->since) / e->halflife));
    } else
        put(e, h, value);
}

void exact_add(exact_counts *e, const eb_batch *b) {
    for (size_t i = 0; e && e->slots && i < b->n; i++) {
        const uint64_t value = b->value ? b->value[i] : 1;
        add_one(e, b->hash[i], b->time ? b->time[i] : e->now + 1, (double)value);
    }
}

bool exact_count(const exact_counts *e, eb_hash h, double *count) {
    if (!e || !e->slots) return false;
    *count = 0;
    if (e->epochs == 0) {
        *count = find(e, h)->amount;
        if (e->halflife > 0) *count *= exp2(-(double)(e->now - e->since) / e->halflife);
        return true;
    }
    const uint64_t last = e->now / e->period;
    for (uint64_t age = 0; age < e->epochs && age <= last; age++)
        *count += find(e, of_epoch(h, last - age))->amount * e->weight[age];
    return true;
}
