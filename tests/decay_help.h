/* decay_help.h - what the tests of time-decaying filters share. */
#ifndef EB_DECAY_HELP_H
#define EB_DECAY_HELP_H
#include "filter/fading/decay/decay.h"
#include "suite.h"

static inline ebi_decay opened(const eb_filter *f) {
    return ebi_decay_open(&f->p, f->block);
}

static inline uint64_t era_of(const eb_filter *f) {
    const ebi_decay d = opened(f);
    return ebi_decay_moment(&d, ebi_head_of(f->block)->clock).era;
}

static inline eb_stats stats_of(const eb_filter *f) {
    eb_stats s = {.size = sizeof s};
    calls_stat(f, &s);
    return s;
}

static inline double count_of(const eb_filter *f, eb_hash h) {
    double count;
    calls_count(f, &h, 1, &count);
    return count;
}

static inline eb_status add_at(eb_filter *f, eb_hash h, uint64_t value, uint64_t time) {
    const eb_batch one = A_BATCH(1, &h, &value, &time);
    return eb_add_batch(f, &one, NULL);
}

static inline eb_hash key_of(uint64_t i) {
    return ebi_mix(i + UINT64_C(0x5eed));
}

#endif
