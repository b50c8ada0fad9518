/* model_fading.h - one int for each cell, and three ways to take from them: what
 * the twins of the stable and the importance-aware filter share. */
#ifndef EB_MODEL_FADING_H
#define EB_MODEL_FADING_H
#include "model.h"

typedef struct model_fading {
    unsigned k;
    int top; /* the largest value of a cell */
    uint64_t cells, p;
    enum { SWEEP, RUN, RANDOM } policy;
    int *cell;
    uint64_t rng, next, carried;
} model_fading;

model_fading *model_fading_new(const char *spec, uint64_t rng,
                               size_t size);    /* of a larger struct */
uint64_t model_fading_rounded(model_fading *t); /* P, its fraction rounded up as often as it says */
void model_fading_arrival(model_fading *t);
bool model_fading_test(const void *twin, uint64_t hash);
uint64_t model_fading_cell(const void *twin, uint64_t i);
void model_fading_free(void *twin);
#endif
