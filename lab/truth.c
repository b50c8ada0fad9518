/* truth.c - the exact answer: one bit for each id, set when it first comes. */
#include "lab.h"
#include <stdlib.h>

struct lab_truth {
    uint64_t ids;
    uint64_t seen[];
};

lab_truth *lab_truth_new(uint64_t ids) {
    lab_truth *t = lab_alloc(1, sizeof *t + (ids / 64 + 1) * sizeof t->seen[0]);
    t->ids = ids;
    return t;
}

void lab_truth_first(lab_truth *t, const uint64_t *ids, size_t n, uint8_t *first) {
    for (size_t i = 0; i < n; i++) {
        if (ids[i] >= t->ids) lab_die("a stream gave an id that it did not announce");
        uint64_t *word = &t->seen[ids[i] / 64];
        const uint64_t bit = (uint64_t)1 << ids[i] % 64;
        first[i] = !(*word & bit);
        *word |= bit;
    }
}

void lab_truth_free(lab_truth *t) {
    free(t);
}
