/* base.h - what every file of the library may use: the public types, passing errors on, sizes
 * checked for overflow, and little-endian words. */
#ifndef EBI_BASE_H
#define EBI_BASE_H
#ifndef EB_STATIC_ONLY
#define EB_STATIC_ONLY /* for experimental.h */
#endif
#include <assert.h>
#include <everbloom/everbloom.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error                                                                                             \
    "everbloom's blocks are little endian and used in place: big-endian machines are not supported"
#endif
#ifndef __SIZEOF_INT128__
#error                                                                                             \
    "everbloom needs a compiler with integers of 128 bits: gcc or clang, for a 64-bit machine or WebAssembly"
#endif
static_assert(sizeof(size_t) >= 4 && sizeof(size_t) <= 8,
              "sizes of blocks are 64 bits, in memory or not");
static_assert(sizeof(double) == 8, "everbloom needs IEEE doubles");

/* Returns to the caller with the status if expr fails. */
#define EBI_TRY(expr)                                                                              \
    do {                                                                                           \
        const eb_status ebi_try_status = (expr);                                                   \
        if (ebi_try_status != EB_OK) return ebi_try_status;                                        \
    } while (0)

#define EBI_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Fills err (unless it is NULL) and returns status. */
eb_status ebi_fail(eb_error *err, eb_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, with the index of the key or byte that was refused. */
eb_status ebi_fail_at(eb_error *err, eb_status status, uint64_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Checks that the size in a structure is one that this library knows.  `name` is the name of its
 * type, for the message. */
eb_status ebi_check_size(const void *structure, size_t known, const char *name, eb_error *err);
#define EBI_CHECK_SIZE(structure, type, err)                                                       \
    EBI_TRY(ebi_check_size((structure), sizeof(type), #type, (err)))

/* Returns false on overflow and leaves *out as it was. */
static inline bool ebi_mul(uint64_t a, uint64_t b, uint64_t *out) {
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

static inline uint64_t ebi_plus(uint64_t a, uint64_t b) { /* on overflow: UINT64_MAX */
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t ebi_min(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static inline size_t ebi_min_size(size_t a, size_t b) { /* sizes in memory */
    return a < b ? a : b;
}

static inline uint64_t ebi_max(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static inline uint64_t ebi_round_up(uint64_t n, uint64_t multiple) {
    assert(multiple > 0 && n <= UINT64_MAX - multiple + 1);
    return (n + multiple - 1) / multiple * multiple;
}

/* Removes const.  For functions that serve readers and writers alike: readers still only read. */
static inline uint8_t *ebi_writable(const uint8_t *bytes) {
    union {
        const uint8_t *theirs;
        uint8_t *ours;
    } pun = {.theirs = bytes};
    return pun.ours;
}

static inline uint64_t ebi_load64(const void *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static inline void ebi_store64(void *p, uint64_t word) {
    memcpy(p, &word, sizeof word);
}
#endif
