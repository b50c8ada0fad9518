/* codes.c - the frozen stores `elias` and `steps`: prefix codes back to back, with an
 * index (Cohen and Matias, sections 4.4 and 4.5: coarse vectors, then a scan).
 *
 *     | state | coarse: u64 for 16 blocks | fine: u16 a block | codes; zeros to the end |
 *
 * A block is 64 counters.  The codes of block b begin at bit coarse[b / 16] + fine[b];
 * a counter is found by passing over those before it, as many at a time as the next
 * eight bits hold.  First bits are low bits.
 *
 * Elias's delta code of x = 1, 2, ..., a number of n bits, itself a number of l bits:
 *
 *     l - 1 zeros, a one | the low l - 1 bits of n | the low n - 1 bits of x
 *
 *   elias   a counter v is the code of v + 1
 *   steps   0 is a zero; 1 is a one and a zero; a larger v two ones and the code of v - 1 */
#include "counters.h"

enum {
    CODES_BLOCK = 64,
    CODES_SUPER = 16,
    CODES_PAD = 16,
    CODES_LEVELS_MAX = 5,
    CODES_DIGITS_MAX = 48
};

/* Whole codes in a byte and the bits they take, as 16 * codes + bits. */
static const uint8_t codes_in_byte[2][256] = {
    {0x00, 0x11, 0x14, 0x22, 0x18, 0x25, 0x15, 0x33, 0x00, 0x11, 0x14, 0x36, 0x00, 0x26, 0x15,
     0x44, 0x00, 0x11, 0x25, 0x22, 0x00, 0x25, 0x15, 0x47, 0x00, 0x11, 0x25, 0x37, 0x00, 0x26,
     0x15, 0x55, 0x00, 0x11, 0x28, 0x22, 0x18, 0x36, 0x26, 0x33, 0x00, 0x11, 0x28, 0x36, 0x00,
     0x26, 0x26, 0x58, 0x00, 0x11, 0x36, 0x22, 0x00, 0x36, 0x26, 0x48, 0x00, 0x11, 0x36, 0x37,
     0x00, 0x26, 0x26, 0x66, 0x00, 0x11, 0x14, 0x22, 0x18, 0x25, 0x15, 0x33, 0x00, 0x11, 0x14,
     0x47, 0x00, 0x37, 0x15, 0x44, 0x00, 0x11, 0x25, 0x22, 0x00, 0x25, 0x15, 0x47, 0x00, 0x11,
     0x25, 0x37, 0x00, 0x37, 0x15, 0x55, 0x00, 0x11, 0x14, 0x22, 0x18, 0x47, 0x37, 0x33, 0x00,
     0x11, 0x14, 0x47, 0x00, 0x37, 0x37, 0x44, 0x00, 0x11, 0x47, 0x22, 0x00, 0x47, 0x37, 0x48,
     0x00, 0x11, 0x47, 0x37, 0x00, 0x37, 0x37, 0x77, 0x00, 0x11, 0x14, 0x22, 0x18, 0x25, 0x15,
     0x33, 0x00, 0x11, 0x14, 0x36, 0x00, 0x26, 0x15, 0x44, 0x00, 0x11, 0x25, 0x22, 0x00, 0x25,
     0x15, 0x58, 0x00, 0x11, 0x25, 0x48, 0x00, 0x26, 0x15, 0x55, 0x00, 0x11, 0x28, 0x22, 0x18,
     0x36, 0x26, 0x33, 0x00, 0x11, 0x28, 0x36, 0x00, 0x26, 0x26, 0x58, 0x00, 0x11, 0x36, 0x22,
     0x00, 0x36, 0x26, 0x48, 0x00, 0x11, 0x36, 0x48, 0x00, 0x26, 0x26, 0x66, 0x00, 0x11, 0x14,
     0x22, 0x18, 0x25, 0x15, 0x33, 0x00, 0x11, 0x14, 0x58, 0x00, 0x48, 0x15, 0x44, 0x00, 0x11,
     0x25, 0x22, 0x00, 0x25, 0x15, 0x58, 0x00, 0x11, 0x25, 0x48, 0x00, 0x48, 0x15, 0x55, 0x00,
     0x11, 0x14, 0x22, 0x18, 0x58, 0x48, 0x33, 0x00, 0x11, 0x14, 0x58, 0x00, 0x48, 0x48, 0x44,
     0x00, 0x11, 0x58, 0x22, 0x00, 0x58, 0x48, 0x48, 0x00, 0x11, 0x58, 0x48, 0x00, 0x48, 0x48,
     0x88},
    {0x88, 0x78, 0x78, 0x00, 0x78, 0x68, 0x11, 0x68, 0x78, 0x68, 0x68, 0x38, 0x22, 0x12, 0x68,
     0x58, 0x78, 0x68, 0x68, 0x00, 0x68, 0x58, 0x38, 0x58, 0x33, 0x23, 0x23, 0x28, 0x68, 0x58,
     0x58, 0x13, 0x78, 0x68, 0x68, 0x00, 0x68, 0x58, 0x11, 0x58, 0x68, 0x58, 0x58, 0x38, 0x38,
     0x28, 0x58, 0x48, 0x44, 0x34, 0x34, 0x00, 0x34, 0x24, 0x28, 0x24, 0x68, 0x58, 0x58, 0x28,
     0x58, 0x48, 0x24, 0x48, 0x78, 0x68, 0x68, 0x00, 0x68, 0x58, 0x11, 0x58, 0x68, 0x58, 0x58,
     0x28, 0x22, 0x12, 0x58, 0x48, 0x68, 0x58, 0x58, 0x00, 0x58, 0x48, 0x38, 0x48, 0x33, 0x23,
     0x23, 0x28, 0x58, 0x48, 0x48, 0x13, 0x55, 0x45, 0x45, 0x00, 0x45, 0x35, 0x11, 0x35, 0x45,
     0x35, 0x35, 0x28, 0x22, 0x12, 0x35, 0x25, 0x68, 0x58, 0x58, 0x00, 0x58, 0x48, 0x28, 0x48,
     0x58, 0x48, 0x48, 0x28, 0x35, 0x25, 0x48, 0x38, 0x77, 0x67, 0x67, 0x00, 0x67, 0x57, 0x11,
     0x57, 0x67, 0x57, 0x57, 0x27, 0x22, 0x12, 0x57, 0x47, 0x67, 0x57, 0x57, 0x00, 0x57, 0x47,
     0x27, 0x47, 0x33, 0x23, 0x23, 0x17, 0x57, 0x47, 0x47, 0x13, 0x67, 0x57, 0x57, 0x00, 0x57,
     0x47, 0x11, 0x47, 0x57, 0x47, 0x47, 0x27, 0x38, 0x28, 0x47, 0x37, 0x44, 0x34, 0x34, 0x00,
     0x34, 0x24, 0x28, 0x24, 0x57, 0x47, 0x47, 0x17, 0x47, 0x37, 0x24, 0x37, 0x66, 0x56, 0x56,
     0x00, 0x56, 0x46, 0x11, 0x46, 0x56, 0x46, 0x46, 0x16, 0x22, 0x12, 0x46, 0x36, 0x56, 0x46,
     0x46, 0x00, 0x46, 0x36, 0x27, 0x36, 0x33, 0x23, 0x23, 0x17, 0x46, 0x36, 0x36, 0x13, 0x68,
     0x58, 0x58, 0x00, 0x58, 0x48, 0x11, 0x48, 0x58, 0x48, 0x48, 0x16, 0x22, 0x12, 0x48, 0x38,
     0x57, 0x47, 0x47, 0x00, 0x47, 0x37, 0x28, 0x37, 0x46, 0x36, 0x36, 0x17, 0x48, 0x38, 0x37,
     0x26},
};

/* One code */

EBI_INLINE uint64_t codes_bits(const uint8_t *bits, uint64_t at) { /* 57 of them */
    return ebi_load64(bits + (at >> 3)) >> (at & 7);
}

typedef struct codes_shape {
    unsigned prefix; /* bits before those of delta: 0..2 */
    unsigned levels; /* l - 1 */
    unsigned digits; /* n - 1 */
} codes_shape;

EBI_INLINE unsigned codes_length(codes_shape s) {
    return s.prefix + 2 * s.levels + 1 + s.digits;
}

/* What the next bits are the start of.  Of 0 and 1 in steps only the prefix is there:
 * levels and digits of theirs are not read. */
EBI_INLINE codes_shape codes_parse(uint64_t w, bool steps) {
    codes_shape s = {steps ? 2 : 0, 0, 0};
    w >>= s.prefix;
    s.levels = ebi_ctz(w | UINT64_C(1) << (CODES_LEVELS_MAX + 1));
    s.digits = (unsigned)(1u << s.levels | (w >> (s.levels + 1) & ebi_ones(s.levels))) - 1;
    return s;
}

EBI_INLINE bool codes_is_step(uint64_t w, bool steps) { /* 0 or 1 */
    return steps && (w & 3) != 3;
}

EBI_INLINE unsigned codes_pass(uint64_t w, bool steps) { /* bits of the next code */
    return codes_is_step(w, steps) ? 1 + (w & 1) : codes_length(codes_parse(w, steps));
}

EBI_INLINE uint64_t codes_value(const uint8_t *bits, uint64_t at, bool steps) {
    const uint64_t w = codes_bits(bits, at);
    if (codes_is_step(w, steps)) return w & 1;
    const codes_shape s = codes_parse(w, steps);
    const uint64_t digits = codes_bits(bits, at + codes_length(s) - s.digits) & ebi_ones(s.digits);
    return (UINT64_C(1) << s.digits | digits) + (steps ? 1 : -UINT64_C(1));
}

static codes_shape codes_shape_of(uint64_t value, bool steps) { /* not of a step */
    assert(value <= EBI_COUNTER_MAX && (!steps || value >= 2));
    const unsigned digits = ebi_log2(steps ? value - 1 : value + 1);
    return (codes_shape){steps ? 2 : 0, ebi_log2(digits + 1), digits};
}

static unsigned codes_need(uint64_t value, bool steps) {
    return steps && value < 2 ? 1 + (unsigned)value : codes_length(codes_shape_of(value, steps));
}

static void codes_put(uint8_t *bits, uint64_t at, uint64_t what) { /* where zeros are */
    assert(what >> 57 == 0);
    uint8_t *const p = bits + (at >> 3);
    ebi_store64(p, ebi_load64(p) | what << (at & 7));
}

static uint64_t codes_write(uint8_t *bits, uint64_t at, uint64_t value, bool steps) {
    assert(value <= EBI_COUNTER_MAX);
    if (steps && value < 2) {
        codes_put(bits, at, value);
        return at + 1 + value;
    }
    const codes_shape s = codes_shape_of(value, steps);
    const uint64_t one = UINT64_C(1) << s.levels, x = steps ? value - 1 : value + 1;
    const uint64_t length = (s.digits + 1) & (one - 1);
    codes_put(bits, at, ebi_ones(s.prefix));
    codes_put(bits, at + s.prefix, one | length << (s.levels + 1));
    codes_put(bits, at + codes_length(s) - s.digits, x & ebi_ones(s.digits));
    return at + codes_length(s);
}

/* Segments */

static uint64_t codes_index_bytes(uint64_t n) {
    const uint64_t blocks = (n + CODES_BLOCK - 1) / CODES_BLOCK,
                   supers = (blocks + CODES_SUPER - 1) / CODES_SUPER;
    return ebi_round_up(supers * sizeof(uint64_t) + blocks * sizeof(uint16_t), 64);
}

static void codes_open(ebi_counter_array *c) {
    uint8_t *const start = (uint8_t *)c->state + sizeof *c->state;
    c->parts = (c->n + CODES_BLOCK - 1) / CODES_BLOCK;
    c->coarse = (uint64_t *)(void *)start;
    c->fine = (uint16_t *)(void *)(c->coarse + (c->parts + CODES_SUPER - 1) / CODES_SUPER);
    c->cells = start + codes_index_bytes(c->n);
}

static uint64_t codes_bytes(uint64_t n, uint64_t bits) {
    return sizeof(ebi_store_state) + codes_index_bytes(n) +
           ebi_round_up((bits + 7) / 8 + CODES_PAD, 64);
}

static bool codes_fits(uint64_t n, uint64_t bytes) {
    return bytes >= codes_bytes(n, n); /* a bit each */
}

/* Asking */

EBI_INLINE uint64_t codes_start(const ebi_counter_array *c, uint64_t block) {
    assert(block < c->parts);
    return c->coarse[block / CODES_SUPER] + c->fine[block];
}

EBI_INLINE uint64_t codes_skip(const uint8_t *bits, uint64_t at, uint64_t count, bool steps) {
    while (count > 0) {
        const uint64_t w = codes_bits(bits, at);
        const unsigned byte = codes_in_byte[steps][w & 255], whole = byte >> 4;
        const bool all = whole > 0 && whole <= count;
        at += all ? byte & 15 : codes_pass(w, steps);
        count -= all ? whole : 1;
    }
    return at;
}

EBI_INLINE uint64_t codes_get(const ebi_counter_array *c, uint64_t i, bool steps) {
    assert(i < c->n);
    const uint64_t at =
        codes_skip(c->cells, codes_start(c, i / CODES_BLOCK), i % CODES_BLOCK, steps);
    return codes_value(c->cells, at, steps);
}

/* Counters that follow each other in a block are read in one go. */
EBI_INLINE void codes_read(const ebi_counter_array *c, const uint64_t *i, size_t count,
                           uint64_t *value, bool steps) {
    uint64_t next = UINT64_MAX, at = 0; /* the code at `at` is that of counter `next` */
    for (size_t j = 0; j < count; j++) {
        if (i[j] < next || i[j] / CODES_BLOCK != next / CODES_BLOCK) {
            next = i[j] / CODES_BLOCK * CODES_BLOCK;
            at = codes_start(c, i[j] / CODES_BLOCK);
        }
        at = codes_skip(c->cells, at, i[j] - next, steps);
        next = i[j];
        value[j] = codes_value(c->cells, at, steps);
    }
}

static const uint8_t *codes_address(const ebi_counter_array *c, uint64_t i) {
    return c->cells + (codes_start(c, i / CODES_BLOCK) >> 3);
}

/* Freezing */

EBI_INLINE uint64_t codes_frozen_bytes(const ebi_source *from, bool steps) {
    const uint64_t n = from->counters->n;
    uint64_t value[CODES_BLOCK], bits = 0;
    for (uint64_t first = 0; first < n; first += CODES_BLOCK) {
        const uint64_t count = ebi_min(CODES_BLOCK, n - first);
        ebi_source_read(from, first, count, value);
        for (uint64_t j = 0; j < count; j++) bits += codes_need(value[j], steps);
    }
    return codes_bytes(n, bits);
}

EBI_INLINE void codes_freeze(const ebi_counter_array *c, const ebi_source *from, bool steps) {
    uint64_t value[CODES_BLOCK], at = 0;
    for (uint64_t block = 0; block < c->parts; block++) {
        const uint64_t first = block * CODES_BLOCK, count = ebi_min(CODES_BLOCK, c->n - first);
        if (block % CODES_SUPER == 0) c->coarse[block / CODES_SUPER] = at;
        c->fine[block] = (uint16_t)(at - c->coarse[block / CODES_SUPER]);
        ebi_source_read(from, first, count, value);
        for (uint64_t j = 0; j < count; j++) {
            at = codes_write(c->cells, at, value[j], steps);
            c->state->saturated += value[j] == EBI_COUNTER_MAX;
        }
    }
}

/* Checking: every code is whole and of a number that is not too large, the index says
 * where blocks begin, and nothing follows. */

EBI_INLINE bool codes_check_one(const ebi_counter_array *c, uint64_t *at, uint64_t end, bool steps,
                                uint64_t *saturated) {
    if (*at > end) return false;
    const uint64_t w = codes_bits(c->cells, *at);
    if (!codes_is_step(w, steps)) {
        const codes_shape s = codes_parse(w, steps);
        if (s.levels > CODES_LEVELS_MAX || s.digits > CODES_DIGITS_MAX) return false;
        const uint64_t value = codes_value(c->cells, *at, steps);
        if (value > EBI_COUNTER_MAX) return false;
        *saturated += value == EBI_COUNTER_MAX;
    }
    *at += codes_pass(w, steps);
    return true;
}

static bool codes_check_tail(const ebi_counter_array *c, uint64_t at) {
    const uint8_t *const index_end = (const uint8_t *)(c->fine + c->parts);
    const uint64_t bytes = c->bytes - (uint64_t)(c->cells - (const uint8_t *)c->state);
    for (const uint8_t *p = index_end; p < c->cells; p++)
        if (*p != 0) return false;
    if (at > 8 * (bytes - CODES_PAD) || (at % 8 != 0 && c->cells[at / 8] >> (at % 8) != 0))
        return false;
    for (uint64_t i = (at + 7) / 8; i < bytes; i++)
        if (c->cells[i] != 0) return false;
    return true;
}

EBI_INLINE bool codes_check(const ebi_counter_array *c, bool steps) {
    const uint64_t bytes = c->bytes - (uint64_t)(c->cells - (const uint8_t *)c->state);
    const uint64_t end = 8 * (bytes - CODES_PAD);
    uint64_t at = 0, saturated = 0;
    if (c->state->spilled != 0 || !ebi_counters_plain(c->state, 0)) return false;
    for (uint64_t i = 0; i < c->n; i++) {
        const uint64_t block = i / CODES_BLOCK;
        if (i % (CODES_BLOCK * CODES_SUPER) == 0 && c->coarse[block / CODES_SUPER] != at)
            return false;
        if (i % CODES_BLOCK == 0 && codes_start(c, block) != at) return false;
        if (!codes_check_one(c, &at, end, steps, &saturated)) return false;
    }
    return saturated == c->state->saturated && codes_check_tail(c, at);
}

#define CODES_STORE(code, steps)                                                                   \
    static uint64_t code##_get(const ebi_counter_array *c, uint64_t i) {                           \
        return codes_get(c, i, steps);                                                             \
    }                                                                                              \
    static void code##_read(const ebi_counter_array *c, const uint64_t *i, size_t count,           \
                            uint64_t *value) {                                                     \
        codes_read(c, i, count, value, steps);                                                     \
    }                                                                                              \
    static uint64_t code##_frozen_bytes(const ebi_source *from) {                                  \
        return codes_frozen_bytes(from, steps);                                                    \
    }                                                                                              \
    static void code##_freeze(const ebi_counter_array *c, const ebi_source *from) {                \
        codes_freeze(c, from, steps);                                                              \
    }                                                                                              \
    static bool code##_check(const ebi_counter_array *c) {                                         \
        return codes_check(c, steps);                                                              \
    }                                                                                              \
    const ebi_store ebi_frozen_##code = {.name = #code,                                            \
                                         .open = codes_open,                                       \
                                         .get = code##_get,                                        \
                                         .read = code##_read,                                      \
                                         .address = codes_address,                                 \
                                         .check = code##_check,                                    \
                                         .frozen_bytes = code##_frozen_bytes,                      \
                                         .freeze = code##_freeze,                                  \
                                         .fits = codes_fits};
CODES_STORE(elias, false)
CODES_STORE(steps, true)
