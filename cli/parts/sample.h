/* sample.h - the first lines of a stream, exactly: which are new, how far apart repeats are, how
 * skewed the keys are.  24 bytes for each line and up to 32 for each distinct key. */
#ifndef EVERBLOOM_SAMPLE_H
#define EVERBLOOM_SAMPLE_H
#include "cli.h"

enum { SAMPLE_GAPS = 64 };
typedef struct sample {
    eb_hash *hash;    /* of each line */
    uint32_t *before; /* the line with the same key before it, from 1; 0: the key is new */
    size_t n, cap;    /* lines; at most cap */
    size_t distinct;
    /* What sample_measure finds. */
    double gap[SAMPLE_GAPS], weight[SAMPLE_GAPS]; /* distinct keys between a repeat and the line
                                                    before it, ascending; shares of the repeats */
    double gap_half, gap_90, gap_99; /* so many per cent of the repeats have at most this gap */
    double near, near_expected;      /* repeats within 1 % of the lines, and in random order */
    double zipf;                     /* slope of frequencies by rank; 0: too few repeats to say */
    struct sample_slot *slots;
    size_t n_slots;
} sample;

void sample_open(sample *s, size_t lines);
void sample_add(sample *s, eb_hash hash);
void sample_measure(sample *s);
void sample_close(sample *s);
#endif
