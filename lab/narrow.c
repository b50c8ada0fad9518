/* narrow.c - filters whose random resets reach only a part of their array.
 *
 * The 512 MB cells of the published tables that use one array of 2^32 bits (SBF;
 * BSBF and RLBSBF with k = 1) fit only if the resets reached half of it, as a
 * random number of 31 bits taken modulo 2^32 would.  This makes such filters, to
 * show that it is so.  They are kept out of the library on purpose.
 *
 * SBF: K = 2 one-bit cells anywhere in the array, P = 4 resets before each set.
 * BSBF, RLBSBF: k = 1; a reset and a set when the bit was 0. */
#include "lab.h"
#include <stdlib.h>

typedef struct narrow {
    lab_rule rule;
    uint64_t cells, reach, load;
    lab_rng rng;
    uint64_t bits[];
} narrow;

static bool narrow_get(const narrow *f, uint64_t at) {
    return f->bits[at / 64] >> at % 64 & 1;
}

static void narrow_set(narrow *f, uint64_t at) {
    f->load += !narrow_get(f, at);
    f->bits[at / 64] |= (uint64_t)1 << at % 64;
}

static void narrow_reset(narrow *f) {
    const uint64_t at = lab_below(&f->rng, f->reach);
    f->load -= narrow_get(f, at);
    f->bits[at / 64] &= ~((uint64_t)1 << at % 64);
}

static uint8_t narrow_observe_sbf(narrow *f, uint64_t a, uint64_t b) {
    const bool seen = narrow_get(f, a) && narrow_get(f, b);
    for (int i = 0; i < 4; i++) narrow_reset(f);
    narrow_set(f, a);
    narrow_set(f, b);
    return seen;
}

static uint8_t narrow_observe_one(narrow *f, uint64_t at) {
    if (narrow_get(f, at)) return true;
    if (f->rule == LAB_BSBF || lab_below(&f->rng, f->cells) < f->load) narrow_reset(f);
    narrow_set(f, at);
    return false;
}

static void narrow_add(void *state, const eb_batch *batch, uint8_t *seen) {
    narrow *f = state;
    for (size_t i = 0; i < batch->n; i++) {
        lab_rng r = {batch->hash[i]};
        const uint64_t a = lab_below(&r, f->cells), b = lab_below(&r, f->cells);
        seen[i] = f->rule == LAB_SBF ? narrow_observe_sbf(f, a, b) : narrow_observe_one(f, a);
    }
}

static double narrow_load(const void *state) {
    const narrow *f = state;
    return (double)f->load / (double)f->cells;
}

lab_subject lab_narrow(const char *name, lab_rule rule, uint64_t cells, uint64_t reach,
                       uint64_t seed) {
    narrow *f = lab_alloc(1, sizeof *f + (cells / 64 + 1) * sizeof f->bits[0]);
    f->rule = rule;
    f->cells = cells;
    f->reach = reach;
    f->rng.state = seed;
    lab_subject s = {.state = f, .add = narrow_add, .release = free, .load = narrow_load};
    snprintf(s.name, sizeof s.name, "%s", name);
    return s;
}
