/* normal.h - what normal.c and normal_avx2.c share. */
#ifndef EVERBLOOM_NORMAL_H
#define EVERBLOOM_NORMAL_H
#include "text.h"

enum { NORMAL_BMP = 0x10000, KIND_LETTER = 1, KIND_SPACE = 2 };
struct normaliser {
    unsigned what;
    bool has_avx2; /* and tables for it */
    uint16_t map[NORMAL_BMP];
    uint8_t class[NORMAL_BMP];
    /* Of ASCII: KIND_LETTER is passed on as low, KIND_SPACE is white space, 0 is left out. */
    uint8_t kind[128];
    char low[128];
    /* Of ASCII again, for AVX2: bit c >> 4 of byte c & 15 says whether c is one. */
    uint8_t spaces[16], left_out[16];
    uint64_t places[256]; /* bytes: which bits of the index are set, the lowest first */
};

/* Where the text stands, and the run under way. */
typedef struct normal_run {
    const normaliser *z;
    normalised *to;
    const char *text;
    uint32_t at, end;   /* in the text */
    uint32_t run_begin; /* in the text */
    size_t run_out;     /* length of the output at its begin */
    size_t run_words, run_counted;
    bool in_word;
} normal_run;

void normal_room(normalised *to, size_t more);
bool normal_can_avx2(void);
/* Takes ASCII up to the end or another character.  A word must be under way if the run has put
 * anything, and only then.  True: there was white space, so the run is another. */
bool normal_blocks_avx2(normal_run *r);
#endif
