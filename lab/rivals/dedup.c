/* dedup.c - rivals that say whether a key was seen.
 *
 * apbf: k + l slices of bits in a ring, the youngest first.  A key sets its bit in the k youngest
 * slices and is known while k slices in a row have its bit.  After g insertions all slices become
 * one older, and the oldest is emptied; g leaves a slice half full when it has been one of the k
 * youngest.  An insertion that sets no bit is not counted: otherwise popular keys alone would age
 * the filter.
 *
 * qht and fifo: buckets of b fingerprints of w bits, 0 for none.  A key that is not in its bucket
 * is put into a free slot; if there is none it replaces any other (qht), or the oldest (fifo). */
#include "rivals.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct apbf {
    uint64_t bits, per_age, inserted; /* of a slice; insertions of an age, so far */
    unsigned k, slices, youngest;
    uint64_t *slice;
} apbf;

static uint64_t *apbf_word(const apbf *f, unsigned age, uint64_t hash, uint64_t *bit) {
    const unsigned s = (f->youngest + age) % f->slices;
    lab_rng r = {hash ^ lab_mix(s + 1)};
    const uint64_t at = lab_below(&r, f->bits);
    *bit = UINT64_C(1) << at % 64;
    return f->slice + s * (f->bits / 64) + at / 64;
}

static bool apbf_has(const apbf *f, uint64_t hash) {
    unsigned run = 0;
    for (unsigned age = 0; age < f->slices && run < f->k; age++) {
        uint64_t bit;
        run = *apbf_word(f, age, hash, &bit) & bit ? run + 1 : 0;
    }
    return run == f->k;
}

static void apbf_age(apbf *f) {
    f->inserted = 0;
    f->youngest = (f->youngest + f->slices - 1) % f->slices;
    memset(f->slice + f->youngest * (f->bits / 64), 0, f->bits / 8);
}

static void apbf_add(void *state, const eb_batch *b, uint8_t *seen) {
    apbf *const f = state;
    for (size_t i = 0; i < b->n; i++) {
        bool changed = false;
        seen[i] = apbf_has(f, b->hash[i]);
        for (unsigned age = 0; age < f->k; age++) {
            uint64_t bit, *const word = apbf_word(f, age, b->hash[i], &bit);
            changed |= !(*word & bit);
            *word |= bit;
        }
        f->inserted += changed;
        if (f->inserted == f->per_age) apbf_age(f);
    }
}

static void apbf_free(void *state) {
    free(((apbf *)state)->slice);
    free(state);
}

lab_subject rival_apbf(const rival_spec *s) {
    apbf *const f = lab_alloc(1, sizeof *f);
    f->k = (unsigned)rival_option(s, "k", 4, 1, 30);
    f->slices = f->k + (unsigned)rival_option(s, "l", 3, 1, 1000);
    f->bits = s->memory * 8 / f->slices / 64 * 64;
    if (f->bits == 0) lab_die("apbf: %llu bytes are too few", (unsigned long long)s->memory);
    f->per_age = (uint64_t)fmax(1, (double)f->bits * log(2) / f->k);
    f->slice = lab_alloc(f->slices * (f->bits / 64), sizeof *f->slice);
    return (lab_subject){
        .state = f, .add = apbf_add, .release = apbf_free, .bytes = f->slices * f->bits / 8};
}

typedef struct buckets {
    uint64_t n;
    unsigned w, b;
    bool queue;
    lab_rng rng;
    uint32_t *slot;
} buckets;

/* True: it was there. */
static bool buckets_put(buckets *f, uint32_t *slot, uint32_t print) {
    unsigned used = 0;
    for (; used < f->b && slot[used]; used++)
        if (slot[used] == print) return true;
    if (f->queue) {
        memmove(slot + 1, slot, (f->b - 1) * sizeof *slot);
        slot[0] = print;
    } else {
        slot[used < f->b ? used : lab_below(&f->rng, f->b)] = print;
    }
    return false;
}

static void buckets_add(void *state, const eb_batch *b, uint8_t *seen) {
    buckets *const f = state;
    for (size_t i = 0; i < b->n; i++) {
        lab_rng r = {b->hash[i]};
        const uint64_t at = lab_below(&r, f->n);
        const uint32_t print = 1 + (uint32_t)lab_below(&r, (UINT64_C(1) << f->w) - 1);
        seen[i] = buckets_put(f, f->slot + at * f->b, print);
    }
}

static void buckets_free(void *state) {
    free(((buckets *)state)->slot);
    free(state);
}

static lab_subject buckets_new(const rival_spec *s, unsigned w, bool queue) {
    buckets *const f = lab_alloc(1, sizeof *f);
    f->w = (unsigned)rival_option(s, "w", w, 2, 32);
    f->b = (unsigned)rival_option(s, "b", 4, 1, 64);
    f->n = s->memory * 8 / (f->w * f->b); /* as if packed */
    f->queue = queue;
    f->rng.state = s->seed;
    f->slot = lab_alloc(f->n * f->b, sizeof *f->slot);
    return (lab_subject){
        .state = f, .add = buckets_add, .release = buckets_free, .bytes = f->n * f->b * f->w / 8};
}

lab_subject rival_qht(const rival_spec *s) {
    return buckets_new(s, 8, false);
}

lab_subject rival_fifo(const rival_spec *s) {
    return buckets_new(s, 16, true);
}
