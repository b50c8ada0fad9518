/* decay.h - what the files of the time-decaying filter share: decay.c (the filter), decay_time.c
 * (arithmetic), decay_cells.c (counters in lines) and decay_predict.c (predictions).
 *
 * Counters count in units of 2^-fraction of an arrival ("ulp").  Time is cut into eras: half-lives
 * with mode=era, periods with the other modes.  When an era begins, every counter c becomes T(c).
 * This is done to a line of counters when it is next written, as often as its stamp says, and on
 * the fly when it is read. */
#ifndef EBI_DECAY_H
#define EBI_DECAY_H
#include "cells/claims.h"
#include "cells/pool.h"
#include "cells/soft.h"
#include "cells/stamped.h"
#include "filter/kind.h"

enum { EBI_DECAY_ERA, EBI_DECAY_BASIC, EBI_DECAY_OPTIMISED };
enum { EBI_DECAY_K_MAX = 16 };

/* More than any counter holds.  With the modes of the paper it means saturated, for good. */
#define EBI_DECAY_TOP (UINT64_C(1) << 44)

typedef struct ebi_decay_state {
    uint64_t base;       /* the era that stamps count from */
    uint64_t saturated;  /* how often a counter found no room */
    uint64_t used, free; /* of the pool */
    uint64_t total;      /* of all arrivals */
    uint64_t reserved[3];
} ebi_decay_state;
static_assert(sizeof(ebi_decay_state) == 64, "one cache line");

typedef struct ebi_decay {
    unsigned mode, k, fraction;
    unsigned each; /* cells in a line: of soft.h in mode=era, else of stamped.h */
    bool conservative;
    uint64_t factor, period; /* factor: in millionths */
    uint64_t lines, part;    /* lines in all, and in each of the k parts */
    uint64_t room;           /* digits in the pool */
    uint64_t floor;          /* counters up to this never fall: they are read as 0 */
    uint64_t most;           /* the largest total weight */
    ebi_decay_state *state;
    uint8_t *line;
    uint64_t *rest; /* the pool */
} ebi_decay;

/* decay_time.c: the arithmetic of fading */

typedef struct ebi_moment {
    uint64_t era;
    uint32_t fraction; /* of the era that has passed, in 2^-20; 0 in the modes of the paper */
} ebi_moment;

ebi_moment ebi_decay_moment(const ebi_decay *d, uint64_t time);
/* What n arrivals at a moment count, in ulp: at least the truth, and at most. */
uint64_t ebi_decay_weight(const ebi_decay *d, ebi_moment at, uint32_t n);
uint64_t ebi_decay_weight_least(const ebi_decay *d, ebi_moment at, uint32_t n);
/* T applied once for each era; and the same, rounded down. */
uint64_t ebi_decay_lapse(const ebi_decay *d, uint64_t c, uint64_t eras);
uint64_t ebi_decay_lapse_least(const ebi_decay *d, uint64_t c, uint64_t eras);
double ebi_decay_unit(const ebi_decay *d, ebi_moment now); /* arrivals in an ulp */
uint64_t ebi_decay_floor(const ebi_decay *d);
/* Counts are at least (1-2^-15) times the truth, minus this many arrivals. */
double ebi_decay_epsilon(const ebi_decay *d);
double ebi_decay_excess(const ebi_decay *d); /* the share that rounding adds to a count */

/* decay_cells.c: counters in their lines */

uint64_t ebi_decay_get(const ebi_decay *d, uint64_t place, uint64_t era); /* as of that era */
/* The place that represents all places that share a counter. */
uint64_t ebi_decay_group(const ebi_decay *d, uint64_t place, uint64_t era);
/* What can be taken from a counter: multiples of 2^this.  64: nothing, because it is saturated. */
unsigned ebi_decay_grain(const ebi_decay *d, uint64_t place, uint64_t era);
void ebi_decay_put(const ebi_decay *d, uint64_t place, uint64_t value); /* its line must be fresh */
void ebi_decay_reach(const ebi_decay *d,
                     uint64_t era); /* must be called before lines become fresh in that era */
void ebi_decay_freshen(const ebi_decay *d, uint64_t line, uint64_t era);
void ebi_decay_init(const ebi_decay *d);
/* Adds the counters of another filter's line to this one, which must be fresh. */
void ebi_decay_merge_line(const ebi_decay *d, const ebi_decay *from, uint64_t line, uint64_t era);
bool ebi_decay_check(const ebi_decay *d, uint64_t era);
uint64_t ebi_decay_rest_bytes(uint64_t room);

/* decay_predict.c */
struct ebi_laws; /* probability.h */
void ebi_decay_predict(const ebi_decay *d, const eb_workload *w, struct ebi_laws *laws,
                       eb_prediction *out);

/* decay.c */
ebi_decay ebi_decay_open(const ebi_params *p, const uint8_t *block);
void ebi_decay_stat(const ebi_decay *d, uint64_t era, eb_stats *out);
void ebi_decay_places(const ebi_decay *d, eb_hash h, uint64_t *place); /* fills in k places */
#endif
