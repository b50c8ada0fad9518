/* counters.h - arrays of n counters, 0 to EBI_COUNTER_MAX, behind one interface.
 *
 * A store lays n counters out in a segment of fixed size and never asks for more:
 * memory is spent when the filter is made.  Every store but wide, whose counters
 * share what they hold, is exact as long as its counters fit; a counter that finds no
 * room becomes EBI_COUNTER_MAX for good, so that an upper bound stays an upper bound,
 * and the store says how often that happened.
 *
 *   wide   4 bits each; a counter that outgrows them joins its neighbours: wide.h
 *   u32    four bytes each
 *   line   variable length, a fixed number of them in each 64-byte line
 *   sai    variable length, back to back, with an index: as published
 *
 * A frozen store takes all counters at once and then never changes, in a segment that is
 * as small as it can make it: the lines of the store line, filled to the brim.
 *
 * Stores keep their own state inside the segment, whose first 64 bytes are an
 * ebi_store_state.  Adding and taking away is exact and order does not matter. */
#ifndef EBI_COUNTERS_H
#define EBI_COUNTERS_H
#include "base/bits.h"
#include <math.h>

#define EBI_COUNTER_MAX ((UINT64_C(1) << 48) - 1)

typedef struct ebi_store_state {
    uint64_t saturated;   /* counters that found no room */
    uint64_t spilled;     /* entries of the spill table */
    uint64_t reserved[6]; /* zero unless the store says otherwise */
} ebi_store_state;
static_assert(sizeof(ebi_store_state) == 64, "one cache line");

/* The spill table: what counters have above the part that fits elsewhere.  Open
 * addressing with linear probing over `slots` slots of 16 bytes; at most 7/8 full. */
typedef struct ebi_spill_slot {
    uint64_t index; /* of the counter, plus 1; 0: empty */
    uint64_t extra;
} ebi_spill_slot;

typedef struct ebi_counter_array { /* a segment, opened by its store */
    ebi_store_state *state;        /* where the segment begins */
    uint64_t n, bytes;
    uint8_t *cells;
    ebi_spill_slot *table;
    uint64_t slots;
    uint64_t parts, each; /* line: lines, and counters in each; sai: blocks */
    uint64_t reciprocal;  /* of each: 2^64 / each, rounded up */
    uint64_t *coarse;     /* sai: the index, and how many words it leads to */
    uint16_t *fine;
    uint64_t words;
} ebi_counter_array;

enum { EBI_TOGETHER_MAX = 16 };

struct ebi_store;
typedef struct ebi_source { /* counters to freeze */
    const struct ebi_store *store;
    const ebi_counter_array *counters;
} ebi_source;

typedef struct ebi_store {
    const char *name;
    /* Bits for each counter, in millionths: the least, and what memory= plans with. */
    uint64_t bits_least, bits_usual;
    uint64_t bytes_more;                      /* than those bits, whatever n is: a multiple of 64 */
    void (*open)(ebi_counter_array *c);       /* state, n and bytes are set */
    void (*init)(const ebi_counter_array *c); /* the segment is zero; or NULL */
    uint64_t (*get)(const ebi_counter_array *c, uint64_t i);
    void (*read)(const ebi_counter_array *c, const uint64_t *i, size_t count, uint64_t *value);
    uint64_t (*add)(const ebi_counter_array *c, uint64_t i,
                    uint64_t by); /* says what it was before */
    /* Distinct counters, at most EBI_TOGETHER_MAX: add to all of them, and say something above 0 if
     * none was 0; or, to lift them, add only to those below the least plus `by`, up to that, and
     * say what the least was. */
    uint64_t (*raise)(const ebi_counter_array *c, const uint64_t *i, size_t count, uint64_t by,
                      bool lift);
    /* by <= get(i); a saturated counter stays as it is */
    void (*sub)(const ebi_counter_array *c, uint64_t i, uint64_t by);
    const uint8_t *(*address)(const ebi_counter_array *c, uint64_t i); /* the line to prefetch */
    bool (*check)(const ebi_counter_array *c);
    /* Of the counters from i to end - 1, the first that may not be 0, or end; or NULL. */
    uint64_t (*next_used)(const ebi_counter_array *c, uint64_t i, uint64_t end);
    /* Stores whose counters join, or NULL: the first of those that are one with counter i; and the
     * store of the same layout for counters that are no sums (NULL: this one). */
    uint64_t (*group)(const ebi_counter_array *c, uint64_t i);
    const struct ebi_store *conservative;
    /* The frozen store only, which has no init, add or sub: bytes of the segment that these
     * counters need; writing them into a segment of zeros that is no shorter; and whether n
     * counters can be opened in so many bytes. */
    uint64_t (*frozen_bytes)(const ebi_source *from);
    void (*freeze)(const ebi_counter_array *c, const ebi_source *from);
    bool (*fits)(uint64_t n, uint64_t bytes);
} ebi_store;

extern const ebi_store ebi_store_u32;
extern const ebi_store ebi_store_wide_sums_portable, ebi_store_wide_sums_bmi2; /* the same bytes */
extern const ebi_store ebi_store_wide_most_portable, ebi_store_wide_most_bmi2;
extern const ebi_store ebi_store_line_portable, ebi_store_line_avx2; /* the same bytes */
extern const ebi_store ebi_store_sai_portable, ebi_store_sai_bmi2;
extern const ebi_store ebi_frozen_line_portable, ebi_frozen_line_bmi2;

EBI_INLINE const ebi_store *ebi_store_line(void) { /* what is best for this machine */
    return ebi_has_avx2() && ebi_has_bmi2() ? &ebi_store_line_avx2 : &ebi_store_line_portable;
}

EBI_INLINE const ebi_store *ebi_store_wide(void) {
    return ebi_has_bmi2() ? &ebi_store_wide_sums_bmi2 : &ebi_store_wide_sums_portable;
}

EBI_INLINE const ebi_store *ebi_store_sai(void) {
    return ebi_has_bmi2() ? &ebi_store_sai_bmi2 : &ebi_store_sai_portable;
}

EBI_INLINE const ebi_store *ebi_frozen_line(void) {
    return ebi_has_bmi2() ? &ebi_frozen_line_bmi2 : &ebi_frozen_line_portable;
}

/* Open a segment.  Of a segment that is not the caller's to write, only get,
 * read and check may be called. */
EBI_INLINE ebi_counter_array ebi_counters(const ebi_store *store, const uint8_t *segment,
                                          uint64_t n, uint64_t bytes) {
    assert(n > 0 && bytes % 64 == 0 && bytes > sizeof(ebi_store_state));
    ebi_counter_array c = {.state = (void *)ebi_writable(segment), .n = n, .bytes = bytes};
    store->open(&c);
    return c;
}

/* Bytes of a segment: n counters of `bits` millionths of a bit (0: the usual), a multiple of 64. */
uint64_t ebi_counters_bytes(const ebi_store *store, uint64_t n, uint64_t bits);

/* The values of counters [first, first + count). */
void ebi_source_read(const ebi_source *from, uint64_t first, uint64_t count, uint64_t *value);

/* What a counter tells: a full one tells nothing. */
EBI_INLINE double ebi_counter_count(uint64_t value) {
    return value >= EBI_COUNTER_MAX ? INFINITY : (double)value;
}

EBI_INLINE uint64_t ebi_counter_sum(uint64_t a, uint64_t b) { /* both at most the maximum */
    return a + b > EBI_COUNTER_MAX ? EBI_COUNTER_MAX : a + b;
}

/* The functions of a store that are compiled for a kind of machine, or for a rule: NAME_get and so
 * on, from the inline FILE_get(c, i, way), FILE_read, FILE_add, FILE_raise and FILE_sub. */
#define EBI_STORE_LOOPS(attribute, name, file, way)                                                \
    attribute static uint64_t name##_get(const ebi_counter_array *c, uint64_t i) {                 \
        return file##_get(c, i, way);                                                              \
    }                                                                                              \
    attribute static void name##_read(const ebi_counter_array *c, const uint64_t *i, size_t count, \
                                      uint64_t *value) {                                           \
        file##_read(c, i, count, value, way);                                                      \
    }                                                                                              \
    attribute static uint64_t name##_add(const ebi_counter_array *c, uint64_t i, uint64_t by) {    \
        return file##_add(c, i, by, way);                                                          \
    }                                                                                              \
    attribute static uint64_t name##_raise(const ebi_counter_array *c, const uint64_t *i,          \
                                           size_t count, uint64_t by, bool lift) {                 \
        return lift ? file##_raise(c, i, count, by, true, way)                                     \
                    : file##_raise(c, i, count, by, false, way);                                   \
    }                                                                                              \
    attribute static void name##_sub(const ebi_counter_array *c, uint64_t i, uint64_t by) {        \
        file##_sub(c, i, by, way);                                                                 \
    }
#define EBI_STORE_FUNCTIONS(name)                                                                  \
    .get = name##_get, .read = name##_read, .add = name##_add, .raise = name##_raise,              \
    .sub = name##_sub

/* Does the state hold no more than the two counts and the first `kept` of what is reserved? */
bool ebi_counters_plain(const ebi_store_state *state, size_t kept);

uint64_t ebi_spill_get(const ebi_spill_slot *table, uint64_t slots, uint64_t i);
/* extra 0 removes the entry; false: no room for a new one.  *used counts entries. */
bool ebi_spill_set(ebi_spill_slot *table, uint64_t slots, uint64_t *used, uint64_t i,
                   uint64_t extra);
bool ebi_spill_check(const ebi_spill_slot *table, uint64_t slots, uint64_t used, uint64_t n);
#endif
