/* snug.c - see snug.h. */
#include "snug.h"
#include "words.h"

enum {
    SNUG_STAMP = 4,
    SNUG_BITMAP = 7,
    SNUG_FIELDS = 8 * (SNUG_BITMAP + EBI_SNUG_CELLS / 8),
    SNUG_END = 8 * EBI_SNUG_LINE
};
enum {
    SNUG_SLOT_BITS = 7,
    SNUG_ENTRIES_MAX = 63,
    SNUG_W_MIN = 2,
    SNUG_HIGH_BITS = EBI_SNUG_CELLS - 64
};
static const uint64_t snug_top = UINT64_C(1) << EBI_SNUG_BITS;

typedef struct snug_head {
    unsigned w, v, n, grain;
} snug_head;

EBI_INLINE snug_head snug_head_of(const uint8_t *line) {
    const uint32_t x = (uint32_t)(ebi_load64(line) >> (8 * SNUG_STAMP)) & 0xffffff;
    return (snug_head){x & 63, x >> 6 & 63, x >> 12 & 63, x >> 18};
}

static void snug_set_head(uint8_t *line, snug_head h) {
    assert(h.w < 64 && h.v < 64 && h.n < 64 && h.grain < 64);
    const uint64_t x = h.w | h.v << 6 | h.n << 12 | h.grain << 18, keep = ~(ebi_ones(24) << 32);
    ebi_store64(line, (ebi_load64(line) & keep) | x << (8 * SNUG_STAMP));
}

/* Up to 57 bits of a line; those at its end are read with the last word. */
EBI_INLINE uint64_t snug_bits(const uint8_t *line, unsigned at, unsigned n) {
    const unsigned byte = (unsigned)ebi_min(at >> 3, EBI_SNUG_LINE - 8);
    return ebi_load64(line + byte) >> (at - 8 * byte) & ebi_ones(n);
}

EBI_INLINE void snug_set_bits(uint8_t *line, unsigned at, unsigned n, uint64_t bits) {
    assert(n <= 57 && bits <= ebi_ones(n));
    const unsigned byte = (unsigned)ebi_min(at >> 3, EBI_SNUG_LINE - 8), shift = at - 8 * byte;
    const uint64_t word = ebi_load64(line + byte) & ~(ebi_ones(n) << shift);
    ebi_store64(line + byte, word | bits << shift);
}

EBI_INLINE uint64_t snug_map(const uint8_t *line, unsigned half) {
    assert(half < 2);
    const uint64_t word = ebi_load64(line + SNUG_BITMAP + 8 * half);
    return half == 0 ? word : word & ebi_ones(SNUG_HIGH_BITS);
}

EBI_INLINE bool snug_is_there(const uint8_t *line, unsigned slot) {
    return snug_map(line, slot >> 6) >> (slot & 63) & 1;
}

EBI_INLINE unsigned snug_rank(const uint8_t *line, unsigned slot) { /* fields before that of slot */
    assert(slot < EBI_SNUG_CELLS);
    const uint64_t below = snug_map(line, slot >> 6) & ebi_ones(slot & 63);
    return ebi_popcount(below) + (slot < 64 ? 0 : ebi_popcount(snug_map(line, 0)));
}

static unsigned snug_population(const uint8_t *line) {
    return ebi_popcount(snug_map(line, 0)) + ebi_popcount(snug_map(line, 1));
}

/* The bit where the entry of a slot begins, or 0: there is none. */
static unsigned snug_entry(const uint8_t *line, snug_head h, unsigned slot) {
    for (unsigned i = 1, at = SNUG_END; i <= h.n; i++) {
        at -= SNUG_SLOT_BITS + h.v;
        if (snug_bits(line, at, SNUG_SLOT_BITS) == slot) return at;
    }
    return 0;
}

static uint64_t snug_large(const ebi_snug *s, const uint8_t *line, uint64_t first, unsigned slot,
                           snug_head h) {
    const unsigned at = snug_entry(line, h, slot);
    if (at == 0) return ebi_spill_get(s->table, s->slots, first + slot);
    return snug_bits(line, at + SNUG_SLOT_BITS, h.v) << h.grain;
}

uint64_t ebi_snug_get(const ebi_snug *s, const uint8_t *line, uint64_t first, unsigned slot) {
    assert(slot < EBI_SNUG_CELLS);
    if (!snug_is_there(line, slot)) return 0;
    const snug_head h = snug_head_of(line);
    const uint64_t field = snug_bits(line, SNUG_FIELDS + snug_rank(line, slot) * h.w, h.w);
    return field < ebi_ones(h.w) ? field << h.grain : snug_large(s, line, first, slot, h);
}

static bool snug_is_spilled(const uint8_t *line, snug_head h, unsigned slot) {
    return snug_is_there(line, slot) &&
           snug_bits(line, SNUG_FIELDS + snug_rank(line, slot) * h.w, h.w) == ebi_ones(h.w) &&
           snug_entry(line, h, slot) == 0;
}

unsigned ebi_snug_grain(const uint8_t *line, unsigned slot) {
    assert(slot < EBI_SNUG_CELLS);
    const snug_head h = snug_head_of(line);
    return snug_is_spilled(line, h, slot) ? 0 : h.grain;
}

/* Packing a whole line */

typedef struct snug_line { /* the counters that have fields, in the order of their slots */
    unsigned n, spills;
    uint8_t slot[EBI_SNUG_CELLS];
    bool spilled[EBI_SNUG_CELLS];
    uint64_t value[EBI_SNUG_CELLS]; /* without its grain; of spilled ones with all their bits */
} snug_line;

/* Counters with an escape: from the entries, all others from the table. */
static void snug_unpack_large(const ebi_snug *s, const uint8_t *line, uint64_t first, snug_line *u,
                              snug_head h) {
    for (unsigned i = 1, at = SNUG_END; i <= h.n; i++) {
        at -= SNUG_SLOT_BITS + h.v;
        const unsigned rank = snug_rank(line, (unsigned)snug_bits(line, at, SNUG_SLOT_BITS));
        u->value[rank] = snug_bits(line, at + SNUG_SLOT_BITS, h.v);
        u->spilled[rank] = false;
    }
    u->spills -= h.n;
    for (unsigned i = 0; u->spills > 0 && i < u->n; i++)
        if (u->spilled[i]) u->value[i] = ebi_spill_get(s->table, s->slots, first + u->slot[i]);
}

/* Loops over counters have no branches where they can: lines are packed again whenever they are
 * halved.  They work on a copy with a word behind its end, so that all fields are read and written
 * alike. */
typedef struct snug_copy {
    uint8_t bytes[EBI_SNUG_LINE + 8];
} snug_copy;

static snug_head snug_unpack(const ebi_snug *s, const uint8_t *line, uint64_t first, snug_line *u) {
    const snug_head h = snug_head_of(line);
    const uint64_t escape = ebi_ones(h.w);
    snug_copy from = {{0}};
    unsigned n = 0, at = SNUG_FIELDS, escapes = 0;
    memcpy(from.bytes, line, EBI_SNUG_LINE);
    for (unsigned half = 0; half < 2; half++)
        for (uint64_t map = snug_map(line, half); map != 0; map &= map - 1, n++, at += h.w) {
            u->slot[n] = (uint8_t)(64 * half + ebi_ctz(map));
            u->value[n] = ebi_load64(from.bytes + (at >> 3)) >> (at & 7) & escape;
            u->spilled[n] = u->value[n] == escape;
            escapes += u->spilled[n];
        }
    u->n = n;
    u->spills = escapes;
    if (escapes > 0) snug_unpack_large(s, line, first, u, h);
    return h;
}

/* The shortest form of the numbers that are not spilled, and its bits. */
static unsigned snug_best(const snug_line *u, snug_head *h) {
    unsigned lengths[EBI_SNUG_BITS + 3] = {0}, fields = 0, best = UINT32_MAX;
    uint64_t all = 0;
    for (unsigned i = 0; i < u->n; i++) {
        const uint64_t value = u->value[i] & (u->spilled[i] - UINT64_C(1));
        fields += u->value[i] > 0;
        all |= value;
        lengths[ebi_log2(value + 1)]++; /* of w bits if below the escape; [0]: no matter */
    }
    const unsigned v = all == 0 ? 0 : ebi_log2(all) + 1;
    unsigned entries = fields - u->spills - lengths[1];
    for (unsigned w = SNUG_W_MIN; w <= v + 1 || w == SNUG_W_MIN; entries -= lengths[w++]) {
        const unsigned bits = fields * w + entries * (SNUG_SLOT_BITS + v);
        if (entries > SNUG_ENTRIES_MAX || bits >= best) continue;
        best = bits;
        *h = (snug_head){w, entries > 0 ? v : 0, entries, h->grain};
    }
    return best;
}

EBI_INLINE void snug_write(snug_copy *to, unsigned at, uint64_t bits) { /* over zeros */
    ebi_store64(to->bytes + (at >> 3), ebi_load64(to->bytes + (at >> 3)) | bits << (at & 7));
}

static void snug_pack(uint8_t *line, const snug_line *u, snug_head h) {
    assert(h.w >= SNUG_W_MIN && u->n <= EBI_SNUG_CELLS);
    const uint64_t escape = ebi_ones(h.w);
    uint64_t map[2] = {0, 0};
    snug_copy to = {{0}};
    unsigned at = SNUG_FIELDS, entry = SNUG_END;
    for (unsigned i = 0; i < u->n; i++) {
        const uint64_t value = u->value[i];
        const bool there = value > 0, large = (value >= escape) | u->spilled[i];
        map[u->slot[i] >> 6] |= (uint64_t)there << (u->slot[i] & 63);
        snug_write(&to, at, (value | -(uint64_t)large) & escape);
        at += h.w & -(unsigned)there;
        if (!large | u->spilled[i]) continue;
        entry -= SNUG_SLOT_BITS + h.v;
        snug_write(&to, entry, u->slot[i] | value << SNUG_SLOT_BITS);
    }
    snug_write(&to, 8 * SNUG_BITMAP, map[0]);
    snug_write(&to, 8 * SNUG_BITMAP + 64, map[1]);
    memcpy(line + SNUG_BITMAP, to.bytes + SNUG_BITMAP, EBI_SNUG_LINE - SNUG_BITMAP);
    snug_set_head(line, h);
}

static void snug_coarsen(snug_line *u, snug_head *h) {
    for (unsigned i = 0; i < u->n; i++)
        u->value[i] = (u->value[i] + !u->spilled[i]) >> !u->spilled[i];
    h->grain++;
}

static bool snug_spill_largest(const ebi_snug *s, uint64_t first, snug_line *u, snug_head h) {
    assert(u->n <= EBI_SNUG_CELLS);
    unsigned most = EBI_SNUG_CELLS;
    uint64_t largest = 0;
    for (unsigned i = 0; i < u->n; i++) {
        const bool more = !u->spilled[i] && u->value[i] > largest;
        most = more ? i : most;
        largest = more ? u->value[i] : largest;
    }
    if (most == EBI_SNUG_CELLS) return false;
    const uint64_t value = largest << h.grain;
    if (!ebi_spill_set(s->table, s->slots, s->used, first + u->slot[most], value)) return false;
    u->value[most] = value;
    u->spilled[most] = true;
    u->spills++;
    return true;
}

static void snug_repack(const ebi_snug *s, uint8_t *line, uint64_t first, snug_line *u,
                        snug_head h) {
    while (snug_best(u, &h) > SNUG_END - SNUG_FIELDS) {
        if (h.grain < s->grain_max) {
            snug_coarsen(u, &h);
        } else if (!snug_spill_largest(s, first, u, h)) {
            snug_coarsen(u, &h); /* ends with a length of 2 for all */
            ++*s->saturated;
        }
    }
    snug_pack(line, u, h);
}

/* One counter */

/* The place of a slot in the list, which it gets if it has none. */
static unsigned snug_open(snug_line *u, unsigned rank, unsigned slot) {
    assert(rank <= u->n && u->n <= EBI_SNUG_CELLS);
    if (rank < u->n && u->slot[rank] == slot) return rank;
    const size_t behind = u->n++ - rank;
    memmove(u->slot + rank + 1, u->slot + rank, behind);
    memmove(u->spilled + rank + 1, u->spilled + rank, behind * sizeof *u->spilled);
    memmove(u->value + rank + 1, u->value + rank, behind * sizeof *u->value);
    u->slot[rank] = (uint8_t)slot;
    u->spilled[rank] = false;
    return rank;
}

static void snug_put_slowly(const ebi_snug *s, uint8_t *line, uint64_t first, unsigned slot,
                            uint64_t value) {
    snug_line u;
    snug_head h = snug_unpack(s, line, first, &u);
    const unsigned i = snug_open(&u, snug_rank(line, slot), slot);
    if (u.spilled[i]) {
        (void)ebi_spill_set(s->table, s->slots, s->used, first + slot, value);
        if (value > 0) return;
        u.spilled[i] = false;
        u.spills--;
    }
    u.value[i] = (value + ebi_ones(h.grain)) >> h.grain;
    snug_repack(s, line, first, &u, h);
}

/* A counter that was 0 gets a field, if there is room for it. */
static bool snug_insert(uint8_t *line, snug_head h, unsigned slot, uint64_t code) {
    assert(!snug_is_there(line, slot) && code > 0);
    uint64_t words[EBI_SNUG_LINE / 8];
    const unsigned at = SNUG_FIELDS + snug_rank(line, slot) * h.w;
    const unsigned end = SNUG_FIELDS + snug_population(line) * h.w;
    if (h.w < SNUG_W_MIN || end + h.w > SNUG_END - h.n * (SNUG_SLOT_BITS + h.v)) return false;
    if (end > at) {
        memcpy(words, line, sizeof words);
        ebi_bits_up(words, at, end, h.w);
        memcpy(line, words, sizeof words);
    }
    snug_set_bits(line, at, h.w, code);
    line[SNUG_BITMAP + slot / 8] |= (uint8_t)(1 << slot % 8);
    return true;
}

static bool snug_put_quickly(uint8_t *line, unsigned slot, uint64_t value) {
    const snug_head h = snug_head_of(line);
    const uint64_t code = (value + ebi_ones(h.grain)) >> h.grain, escape = ebi_ones(h.w);
    if (code == 0) return false;
    if (!snug_is_there(line, slot)) return code < escape && snug_insert(line, h, slot, code);
    const unsigned at = SNUG_FIELDS + snug_rank(line, slot) * h.w;
    if (snug_bits(line, at, h.w) < escape) {
        if (code >= escape) return false;
        snug_set_bits(line, at, h.w, code);
        return true;
    }
    const unsigned entry = code < escape ? 0 : snug_entry(line, h, slot);
    if (entry == 0 || code > ebi_ones(h.v)) return false;
    snug_set_bits(line, entry + SNUG_SLOT_BITS, h.v, code);
    return true;
}

void ebi_snug_put(const ebi_snug *s, uint8_t *line, uint64_t first, unsigned slot, uint64_t value) {
    assert(slot < EBI_SNUG_CELLS);
    value = ebi_min(value, snug_top);
    if (!snug_put_quickly(line, slot, value)) snug_put_slowly(s, line, first, slot, value);
}

/* Halving */

/* All spilled counters of a line come back, if they fit as it is. */
static bool snug_fetch(const ebi_snug *s, uint64_t first, snug_line *u, snug_head h) {
    snug_line whole = *u;
    whole.spills = 0;
    for (unsigned i = 0; i < u->n; i++)
        if (u->spilled[i]) {
            whole.spilled[i] = false;
            whole.value[i] = (u->value[i] + ebi_ones(h.grain)) >> h.grain;
        }
    if (snug_best(&whole, &h) > SNUG_END - SNUG_FIELDS) return false;
    for (unsigned i = 0; i < u->n; i++)
        if (u->spilled[i]) (void)ebi_spill_set(s->table, s->slots, s->used, first + u->slot[i], 0);
    *u = whole;
    return true;
}

static void snug_keep_spilled(const ebi_snug *s, uint64_t first, snug_line *u) {
    for (unsigned i = 0; i < u->n; i++) {
        if (!u->spilled[i]) continue;
        (void)ebi_spill_set(s->table, s->slots, s->used, first + u->slot[i], u->value[i]);
        if (u->value[i] > 0) continue;
        u->spilled[i] = false;
        u->spills--;
    }
}

/* Numbers that are multiples of 2^grain only lose grain, until there is none left; as in
 * ebi_halved, 1 becomes 0 then. */
static void snug_halve_all(snug_line *u, snug_head h, uint64_t times) {
    const unsigned by = (unsigned)ebi_min(times - ebi_min(times, h.grain), 63);
    const uint64_t round = ebi_ones(by);
    const unsigned shifted = times < h.grain ? 0 : u->n;
    for (unsigned i = 0; i < shifted; i++) {
        const uint64_t rest = (u->value[i] + round) >> by, half = rest & -(uint64_t)(rest > 1);
        const uint64_t spilled = -(uint64_t)u->spilled[i];
        u->value[i] = (u->value[i] & spilled) | (half & ~spilled);
    }
    for (unsigned i = 0; u->spills > 0 && i < u->n; i++)
        if (u->spilled[i]) u->value[i] = ebi_halved(u->value[i], times);
}

void ebi_snug_halve(const ebi_snug *s, uint8_t *line, uint64_t first, uint64_t times) {
    snug_line u;
    if (times == 0 || snug_population(line) == 0) return;
    snug_head h = snug_unpack(s, line, first, &u);
    snug_halve_all(&u, h, times);
    h.grain -= (unsigned)ebi_min(h.grain, times);
    if (u.spills > 0 && !snug_fetch(s, first, &u, h)) snug_keep_spilled(s, first, &u);
    snug_repack(s, line, first, &u, h);
}

/* Checking */

static bool snug_check_entries(const uint8_t *line, snug_head h) {
    unsigned last = EBI_SNUG_CELLS;
    for (unsigned i = 1, at = SNUG_END; i <= h.n; i++) {
        at -= SNUG_SLOT_BITS + h.v;
        const unsigned slot = (unsigned)snug_bits(line, at, SNUG_SLOT_BITS);
        const uint64_t value = snug_bits(line, at + SNUG_SLOT_BITS, h.v);
        if (slot >= EBI_SNUG_CELLS || (i > 1 && slot == last) || !snug_is_there(line, slot))
            return false;
        if (snug_entry(line, h, slot) != at || value < ebi_ones(h.w)) return false;
        if (snug_bits(line, SNUG_FIELDS + snug_rank(line, slot) * h.w, h.w) != ebi_ones(h.w))
            return false;
        last = slot;
    }
    return true;
}

bool ebi_snug_check(const ebi_snug *s, const uint8_t *line, uint64_t first, uint64_t *spilled) {
    const snug_head h = snug_head_of(line);
    const unsigned fields = snug_population(line);
    const unsigned low = SNUG_FIELDS + fields * h.w, high = SNUG_END - h.n * (SNUG_SLOT_BITS + h.v);
    if (h.w > EBI_SNUG_BITS + 2 || h.v > EBI_SNUG_BITS + 1 || h.grain > EBI_SNUG_BITS) return false;
    if ((fields > 0 && h.w < SNUG_W_MIN) || (h.n > 0 && h.v == 0)) return false;
    if (h.n > fields || low > high || !snug_check_entries(line, h)) return false;
    for (unsigned at = low; at < high; at++)
        if (snug_bits(line, at, 1) != 0) return false;
    for (unsigned slot = 0; slot < EBI_SNUG_CELLS; slot++) {
        const uint64_t value = ebi_snug_get(s, line, first, slot);
        if (value > snug_top || (value == 0) != !snug_is_there(line, slot)) return false;
        *spilled += snug_is_spilled(line, h, slot);
    }
    return true;
}
