/* rng.h - the random generator.  Its state is 64 bits in the filter's block: a counter that a
 * mixing function turns into random bits.  Equal states give equal draws on every machine, so
 * replicas and replays make the same decisions. */
#ifndef EBI_RNG_H
#define EBI_RNG_H
#include "hash.h"

EBI_INLINE uint64_t ebi_random(uint64_t *state) {
    return ebi_mix(*state += UINT64_C(0x9E3779B97F4A7C15));
}

EBI_INLINE uint64_t ebi_random_below(uint64_t *state, uint64_t range) {
    return eb_scale(ebi_random(state), range);
}
#endif
