/* counters.h - arrays of counters, and the stores that lay them out.
 *
 * A store keeps n counters, 0 to EBI_COUNTER_MAX, in a segment of fixed size: memory is spent when
 * the filter is made.  All stores have the same interface, so filters work with any of them.
 *
 *     wide   4 bits each; a counter that outgrows them joins its neighbours: wide.h
 *     u32    four bytes each
 *     line   variable length, a fixed number of them in each 64-byte line
 *     sai    variable length, back to back, with an index: as published
 *
 * Every store except wide is exact as long as its counters fit.  A counter that finds no room
 * saturates: it becomes EBI_COUNTER_MAX for good, so that an upper bound stays an upper bound, and
 * the store counts such counters.  In wide, neighbours share what they hold.
 *
 * A frozen store takes all counters at once and then never changes.  Its segment is as small as it
 * can make it.
 *
 * Stores keep their own state in the first 64 bytes of the segment, an ebi_store_state.  The order
 * in which amounts are added and taken away makes no difference. */
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

/* The spill table: counters, or parts of them, that do not fit in their place.  Open addressing
 * with linear probing over `slots` slots of 16 bytes, at most 7/8 full. */
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
    uint64_t *coarse;     /* sai: the index, and the number of words that it covers */
    uint16_t *fine;
    uint64_t words;
} ebi_counter_array;

enum { EBI_TOGETHER_MAX = 16 };

struct ebi_store;
typedef struct ebi_source { /* counters that will be frozen */
    const struct ebi_store *store;
    const ebi_counter_array *counters;
} ebi_source;

typedef struct ebi_store {
    const char *name;
    /* Bits for each counter, in millionths: the least, and what memory= plans with. */
    uint64_t bits_least, bits_usual;
    uint64_t bytes_more; /* in addition to those bits, whatever n is: a multiple of 64 */
    void (*open)(ebi_counter_array *c);       /* called with state, n and bytes set */
    void (*init)(const ebi_counter_array *c); /* the segment is zero; may be NULL */
    uint64_t (*get)(const ebi_counter_array *c, uint64_t i);
    void (*read)(const ebi_counter_array *c, const uint64_t *i, size_t count, uint64_t *value);
    uint64_t (*add)(const ebi_counter_array *c, uint64_t i,
                    uint64_t by); /* returns the value before */
    /* For distinct counters, at most EBI_TOGETHER_MAX. Without lift: adds to all of them, and
     * returns a value above 0 if none was 0.  With lift: raises those below the least plus `by` to
     * that value, and returns what the least was. */
    uint64_t (*raise)(const ebi_counter_array *c, const uint64_t *i, size_t count, uint64_t by,
                      bool lift);
    /* by <= get(i); a saturated counter stays as it is */
    void (*sub)(const ebi_counter_array *c, uint64_t i, uint64_t by);
    const uint8_t *(*address)(const ebi_counter_array *c, uint64_t i); /* the line to prefetch */
    bool (*check)(const ebi_counter_array *c);
    /* The first of the counters from i to end - 1 that may not be 0, or end.  May be NULL. */
    uint64_t (*next_used)(const ebi_counter_array *c, uint64_t i, uint64_t end);
    /* For stores whose counters join, else NULL. group: the first counter of the group of counter
     * i.  The other: the store of the same layout for counters that are not sums (NULL: this
     * one). */
    uint64_t (*group)(const ebi_counter_array *c, uint64_t i);
    const struct ebi_store *conservative;
    /* For frozen stores only, which have no init, add or sub: how many bytes of a segment these
     * counters need; writing them into a zeroed segment of at least that size; and whether n
     * counters can be opened in so many bytes. */
    uint64_t (*frozen_bytes)(const ebi_source *from);
    void (*freeze)(const ebi_counter_array *c, const ebi_source *from);
    bool (*fits)(uint64_t n, uint64_t bytes);
} ebi_store;

extern const ebi_store ebi_store_u32;
extern const ebi_store ebi_store_wide_sums_portable,
    ebi_store_wide_sums_bmi2; /* byte-identical results */
extern const ebi_store ebi_store_wide_most_portable, ebi_store_wide_most_bmi2;
extern const ebi_store ebi_store_line_portable, ebi_store_line_avx2; /* byte-identical results */
extern const ebi_store ebi_store_sai_portable, ebi_store_sai_bmi2;
extern const ebi_store ebi_frozen_line_portable, ebi_frozen_line_bmi2;

EBI_INLINE const ebi_store *ebi_store_line(void) { /* the faster one on this machine */
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

/* Opens a segment.  If it may not be written, only get, read and check may be called. */
EBI_INLINE ebi_counter_array ebi_counters(const ebi_store *store, const uint8_t *segment,
                                          uint64_t n, uint64_t bytes) {
    assert(n > 0 && bytes % 64 == 0 && bytes > sizeof(ebi_store_state));
    ebi_counter_array c = {.state = (void *)ebi_writable(segment), .n = n, .bytes = bytes};
    store->open(&c);
    return c;
}

/* The bytes of a segment: n counters of `bits` millionths of a bit (0: the usual), a multiple of
 * 64. */
uint64_t ebi_counters_bytes(const ebi_store *store, uint64_t n, uint64_t bits);

/* The values of counters [first, first + count). */
void ebi_source_read(const ebi_source *from, uint64_t first, uint64_t count, uint64_t *value);

/* The count that a counter stands for.  Saturated counters have no upper bound. */
EBI_INLINE double ebi_counter_count(uint64_t value) {
    return value >= EBI_COUNTER_MAX ? INFINITY : (double)value;
}

EBI_INLINE uint64_t ebi_counter_sum(uint64_t a, uint64_t b) { /* each at most the maximum */
    return a + b > EBI_COUNTER_MAX ? EBI_COUNTER_MAX : a + b;
}

/* Defines the functions of a store for a kind of machine or a rule: NAME_get and so on, from the
 * inline functions FILE_get(c, i, way), FILE_read, FILE_add, FILE_raise and FILE_sub. */
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

/* Whether the state is zero except for the two counts and the first `kept` reserved words. */
bool ebi_counters_plain(const ebi_store_state *state, size_t kept);

uint64_t ebi_spill_get(const ebi_spill_slot *table, uint64_t slots, uint64_t i);
/* Sets an entry, or removes it if extra is 0. false: there is no room for a new one. *used counts
 * the entries. */
bool ebi_spill_set(ebi_spill_slot *table, uint64_t slots, uint64_t *used, uint64_t i,
                   uint64_t extra);
bool ebi_spill_check(const ebi_spill_slot *table, uint64_t slots, uint64_t used, uint64_t n);
#endif
