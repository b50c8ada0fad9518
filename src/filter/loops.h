/* loops.h - compiles a filter's loops for each common k, so that the compiler can unroll them.
 *
 * A kind in FILE.c writes its loops once, as two inline functions and one that returns k:
 *
 *       FILE_add(p, block, b, seen, k, far)      FILE_test(p, block, h, n, seen, k, far)
 *       FILE_k(p)
 *
 * EBI_LOOPS(FILE) compiles them for k = 1..8 and for any k.  Each is compiled with far = false
 * (touch the cells of a key as it comes), with far = true (compute and prefetch positions some keys
 * ahead, for large filters), and for a single key.  FILE_loops(p) picks the right ones when a
 * filter is made.  EBI_LOOPS_FOR(attribute, FILE) does the same for machines with more
 * instructions. */
#ifndef EBI_LOOPS_H
#define EBI_LOOPS_H
#include "cells/packed.h"
#include "kind.h"

#define EBI_LOOP(attribute, file, name, k_of_p, far)                                               \
    attribute static void file##_add_##name(const ebi_params *p, uint8_t *block,                   \
                                            const ebi_batch *b, uint8_t *seen) {                   \
        file##_add(p, block, b, seen, k_of_p, far);                                                \
    }                                                                                              \
    attribute static void file##_test_##name(const ebi_params *p, const uint8_t *block,            \
                                             const ebi_batch *b, uint8_t *seen) {                  \
        file##_test(p, block, b->hash, b->n, seen, k_of_p, far);                                   \
    }
/* The same for one key. */
#define EBI_LOOP_ONE(attribute, file, name, k_of_p)                                                \
    attribute static bool file##_add_one_##name(const ebi_params *p, uint8_t *block, eb_hash h) {  \
        const ebi_batch b = ebi_batch_of_one(&h);                                                  \
        uint8_t seen;                                                                              \
        file##_add(p, block, &b, &seen, k_of_p, false);                                            \
        return seen != 0;                                                                          \
    }                                                                                              \
    attribute static bool file##_test_one_##name(const ebi_params *p, const uint8_t *block,        \
                                                 eb_hash h) {                                      \
        uint8_t seen;                                                                              \
        file##_test(p, block, &h, 1, &seen, k_of_p, false);                                        \
        return seen != 0;                                                                          \
    }
#define EBI_LOOP_NEAR_FAR(attribute, file, k)                                                      \
    EBI_LOOP(attribute, file, near_##k, k, false)                                                  \
    EBI_LOOP(attribute, file, far_##k, k, EBI_OS_CAN_PREFETCH)                                     \
    EBI_LOOP_ONE(attribute, file, k, k)
#define EBI_LOOP_OPS(file, name, k)                                                                \
    {                                                                                              \
        .add = file##_add_##name, .test = file##_test_##name, .add_one = file##_add_one_##k,       \
        .test_one = file##_test_one_##k                                                            \
    }
#define EBI_LOOP_PAIR(file, k)                                                                     \
    { EBI_LOOP_OPS(file, near_##k, k), EBI_LOOP_OPS(file, far_##k, k) }

#define EBI_LOOPS(file) EBI_LOOPS_FOR(, file)
#define EBI_LOOPS_FOR(attribute, file)                                                             \
    EBI_LOOP_NEAR_FAR(attribute, file, 1)                                                          \
    EBI_LOOP_NEAR_FAR(attribute, file, 2)                                                          \
    EBI_LOOP_NEAR_FAR(attribute, file, 3)                                                          \
    EBI_LOOP_NEAR_FAR(attribute, file, 4)                                                          \
    EBI_LOOP_NEAR_FAR(attribute, file, 5)                                                          \
    EBI_LOOP_NEAR_FAR(attribute, file, 6)                                                          \
    EBI_LOOP_NEAR_FAR(attribute, file, 7)                                                          \
    EBI_LOOP_NEAR_FAR(attribute, file, 8)                                                          \
    EBI_LOOP(attribute, file, near_any, file##_k(p), false)                                        \
    EBI_LOOP(attribute, file, far_any, file##_k(p), EBI_OS_CAN_PREFETCH)                           \
    EBI_LOOP_ONE(attribute, file, any, file##_k(p))                                                \
    static const ebi_ops *file##_loops(const ebi_params *p) {                                      \
        static const ebi_ops ops[9][2] = {                                                         \
            EBI_LOOP_PAIR(file, any), EBI_LOOP_PAIR(file, 1), EBI_LOOP_PAIR(file, 2),              \
            EBI_LOOP_PAIR(file, 3),   EBI_LOOP_PAIR(file, 4), EBI_LOOP_PAIR(file, 5),              \
            EBI_LOOP_PAIR(file, 6),   EBI_LOOP_PAIR(file, 7), EBI_LOOP_PAIR(file, 8)};             \
        const unsigned k = file##_k(p);                                                            \
        return &ops[k <= 8 ? k : 0][ebi_is_far(p)];                                                \
    }

/* The k positions of a hash.  The i-th is in [i * stride, i * stride + range). */
EBI_INLINE void ebi_positions(eb_hash h, unsigned k, uint64_t range, uint64_t stride,
                              uint64_t *pos) {
    assert(k >= 1 && range >= 1);
    uint64_t x = h, first = 0;
    for (unsigned i = 0; i < k; i++, x = eb_next(x), first += stride)
        pos[i] = first + eb_scale(x, range);
}

enum { EBI_K_MAX = 32 };

/* For far blocks, positions are computed and cells prefetched some keys ahead, so that a few dozen
 * lines are under way while one key is worked on.  With many more, the lines would evict each
 * other. */
typedef struct ebi_fetch {
    const uint8_t *cells;
    unsigned width;
    uint64_t range, stride;
    const eb_hash *hash;
    size_t n, next; /* the number of keys, and how many are prefetched */
    bool write;
    uint64_t pos[EBI_BATCH * EBI_K_MAX];
} ebi_fetch;

EBI_INLINE void ebi_fetch_open(ebi_fetch *f, const uint8_t *cells, unsigned width, uint64_t range,
                               uint64_t stride, const eb_hash *hash, size_t n, bool write) {
    assert(width >= 1 && range >= 1 && n <= EBI_BATCH);
    f->cells = cells;
    f->width = width;
    f->range = range;
    f->stride = stride;
    f->hash = hash;
    f->n = n;
    f->write = write;
}

EBI_INLINE size_t ebi_ahead(unsigned k) {
    assert(k >= 1);
    return k >= 8 ? 6 : 48 / k;
}

EBI_INLINE void ebi_fetch_next(ebi_fetch *f, unsigned k) {
    if (f->next == f->n) return;
    uint64_t *const pos = f->pos + f->next * k;
    ebi_positions(f->hash[f->next++], k, f->range, f->stride, pos);
    for (unsigned j = 0; j < k; j++) {
        const uint8_t *const p = f->cells + (pos[j] * f->width >> 3);
        if (f->write)
            ebi_prefetch_write(p);
        else
            ebi_prefetch_read(p);
    }
}

EBI_INLINE void ebi_fetch_begin(ebi_fetch *f, unsigned k, bool far) {
    f->next = 0;
    for (size_t i = 0; far && i < ebi_ahead(k); i++) ebi_fetch_next(f, k);
}

/* The positions of key i.  Call it for i = 0, 1, ... */
EBI_INLINE const uint64_t *ebi_fetch_key(ebi_fetch *f, size_t i, unsigned k, bool far) {
    assert(i < f->n);
    if (far) {
        ebi_fetch_next(f, k);
        return f->pos + i * k;
    }
    ebi_positions(f->hash[i], k, f->range, f->stride, f->pos);
    return f->pos;
}
#endif
