/* decay_cells.c - counters of time-decaying filters in their lines.
 *
 *   era        codes of 8, 16 or 32 bits.  A small code is the value itself; the
 *              largest code says that the value is in the spill table; between
 *              them, one code for each power of 2 up to 2^44: a counter that found
 *              the table full holds the next power of 2 above its value.  It
 *              stays an upper bound, and fades as others do.
 *              Or, with store=packed, lines of variable-length counters: snug.h; or, with
 *              store=wide, counters that join when they are full: soft.h.
 *   basic      codes are values; the largest one is a saturated counter, for good.
 *   optimised  words of 4-bit digits with links into a pool; a word whose link is
 *              all ones is a saturated counter, for good.
 *
 * Stamps count eras from state.base.  Once in 2^32 eras (store=wide: 2^29) all lines
 * are brought up to date, so that stamps never wrap. */
#include "decay.h"

enum { DECAY_CELLS_TOP_BITS = EBI_SNUG_BITS };
static const uint32_t decay_cells_saturated_word = UINT32_MAX;

static uint32_t decay_cells_largest(const ebi_decay *d) { /* code */
    return (uint32_t)ebi_ones(d->width);
}

static uint32_t decay_cells_plain(const ebi_decay *d) { /* the largest value that is its own code */
    return d->mode == EBI_DECAY_ERA ? decay_cells_largest(d) - 2 - (DECAY_CELLS_TOP_BITS - d->width)
                                    : decay_cells_largest(d) - 1;
}

static ebi_spill_slot *decay_cells_spill(const ebi_decay *d) {
    return (ebi_spill_slot *)(void *)d->rest;
}

static ebi_snug decay_cells_snug(const ebi_decay *d) {
    return (ebi_snug){decay_cells_spill(d), d->room, &d->state->used, &d->state->saturated,
                      EBI_DECAY_SPARE};
}

static uint8_t *decay_cells_line(const ebi_decay *d, uint64_t line) {
    assert(line < d->lines);
    return d->line + line * d->stride;
}

static ebi_pool decay_cells_pool(const ebi_decay *d) {
    return (ebi_pool){(uint64_t *)(void *)d->rest, d->room, &d->state->free, &d->state->used};
}

/* The value of a cell as it stands */

static uint64_t decay_cells_value(const ebi_decay *d, uint64_t place) {
    if (d->packed) {
        const ebi_snug snug = decay_cells_snug(d);
        const uint64_t line = ebi_place_line(place);
        return ebi_snug_get(&snug, decay_cells_line(d, line), line << EBI_SLOT_BITS,
                            ebi_place_slot(place));
    }
    const uint32_t code = ebi_place_get(d->line, d->width, place);
    if (d->mode == EBI_DECAY_OPTIMISED) {
        const ebi_pool pool = decay_cells_pool(d);
        return code == decay_cells_saturated_word ? EBI_DECAY_TOP : ebi_pool_get(&pool, code);
    }
    if (code <= decay_cells_plain(d)) return code;
    if (d->mode == EBI_DECAY_BASIC) return EBI_DECAY_TOP;
    if (code == decay_cells_largest(d)) return ebi_spill_get(decay_cells_spill(d), d->room, place);
    return UINT64_C(1) << (DECAY_CELLS_TOP_BITS - (decay_cells_largest(d) - 1 - code));
}

static bool decay_cells_is_saturated(const ebi_decay *d, uint32_t code) {
    if (d->mode == EBI_DECAY_OPTIMISED) return code == decay_cells_saturated_word;
    return code > decay_cells_plain(d) &&
           (d->mode == EBI_DECAY_BASIC || code < decay_cells_largest(d));
}

static void decay_cells_saturate(const ebi_decay *d, uint64_t place, uint32_t code) {
    if (!decay_cells_is_saturated(d, ebi_place_get(d->line, d->width, place)))
        d->state->saturated++;
    ebi_place_set(d->line, d->width, place, code);
}

static uint32_t decay_cells_power_code(const ebi_decay *d, uint64_t value) { /* value > plain */
    assert(value > decay_cells_plain(d));
    const unsigned up = value >= EBI_DECAY_TOP ? DECAY_CELLS_TOP_BITS : ebi_log2(value - 1) + 1;
    return decay_cells_largest(d) - 1 - (DECAY_CELLS_TOP_BITS - (uint32_t)ebi_max(up, d->width));
}

/* A saturated counter of era mode that has faded stays one until it fits again. */
static void decay_cells_put_faded(const ebi_decay *d, uint64_t place, uint64_t value) {
    const bool fits = value <= decay_cells_plain(d);
    ebi_place_set(d->line, d->width, place,
                  fits ? (uint32_t)value : decay_cells_power_code(d, value));
}

static void decay_cells_put_spilling(const ebi_decay *d, uint64_t place, uint64_t value) {
    const bool spilled = ebi_place_get(d->line, d->width, place) == decay_cells_largest(d);
    const bool fits = value <= decay_cells_plain(d), over = value >= EBI_DECAY_TOP;
    if (spilled && (fits || over))
        (void)ebi_spill_set(decay_cells_spill(d), d->room, &d->state->used, place, 0);
    if (fits)
        ebi_place_set(d->line, d->width, place, (uint32_t)value);
    else if (!over && ebi_spill_set(decay_cells_spill(d), d->room, &d->state->used, place, value))
        ebi_place_set(d->line, d->width, place, decay_cells_largest(d));
    else
        decay_cells_saturate(d, place, decay_cells_power_code(d, value));
}

static void decay_cells_put_digits(const ebi_decay *d, uint64_t place, uint64_t value) {
    const ebi_pool pool = decay_cells_pool(d);
    uint32_t word = ebi_place_get(d->line, d->width, place);
    if (word == decay_cells_saturated_word) return;
    if (value < EBI_DECAY_TOP && ebi_pool_set(&pool, (uint32_t)place, &word, value)) {
        ebi_place_set(d->line, d->width, place, word);
        return;
    }
    (void)ebi_pool_set(&pool, (uint32_t)place, &word, 0); /* give its digits back */
    decay_cells_saturate(d, place, decay_cells_saturated_word);
}

static void decay_cells_put_snugly(const ebi_decay *d, uint64_t place, uint64_t value) {
    const ebi_snug snug = decay_cells_snug(d);
    const uint64_t line = ebi_place_line(place);
    ebi_snug_put(&snug, decay_cells_line(d, line), line << EBI_SLOT_BITS, ebi_place_slot(place),
                 value);
}

static void decay_cells_put_widely(const ebi_decay *d, uint64_t place, uint64_t value) {
    if (!ebi_soft_put(decay_cells_line(d, ebi_place_line(place)), ebi_place_slot(place), value,
                      !d->conservative))
        d->state->saturated++;
}

void ebi_decay_put(const ebi_decay *d, uint64_t place, uint64_t value) {
    assert(ebi_place_line(place) < d->lines);
    if (d->wide)
        decay_cells_put_widely(d, place, value);
    else if (d->packed)
        decay_cells_put_snugly(d, place, value);
    else if (d->mode == EBI_DECAY_ERA)
        decay_cells_put_spilling(d, place, value);
    else if (d->mode == EBI_DECAY_OPTIMISED)
        decay_cells_put_digits(d, place, value);
    else if (value <= decay_cells_plain(d))
        ebi_place_set(d->line, d->width, place, (uint32_t)value);
    else
        decay_cells_saturate(d, place, decay_cells_largest(d));
}

/* Eras */

static uint64_t decay_cells_era(const ebi_decay *d, uint64_t line) { /* of its stamp */
    const uint8_t *const at = decay_cells_line(d, line);
    return d->state->base + (d->wide ? ebi_soft_stamp(at) : ebi_load32(at));
}

static uint64_t decay_cells_stamp_max(const ebi_decay *d) {
    return d->wide ? EBI_SOFT_STAMP_MAX : UINT32_MAX;
}

static ebi_soft_cell decay_cells_soft(const ebi_decay *d, uint64_t place, uint64_t era) {
    const uint64_t line = ebi_place_line(place);
    return ebi_soft_fade(ebi_soft_read(decay_cells_line(d, line), ebi_place_slot(place)),
                         era - decay_cells_era(d, line));
}

uint64_t ebi_decay_group(const ebi_decay *d, uint64_t place, uint64_t era) {
    return d->wide ? ebi_soft_group(place, decay_cells_soft(d, place, era).level) : place;
}

uint64_t ebi_decay_get(const ebi_decay *d, uint64_t place, uint64_t era) {
    assert(ebi_place_line(place) < d->lines);
    if (d->wide) {
        const uint64_t line = ebi_place_line(place);
        return ebi_soft_get(decay_cells_line(d, line), ebi_place_slot(place),
                            era - decay_cells_era(d, line));
    }
    return ebi_decay_lapse(d, decay_cells_value(d, place),
                           era - decay_cells_era(d, ebi_place_line(place)));
}

unsigned ebi_decay_grain(const ebi_decay *d, uint64_t place, uint64_t era) {
    if (d->wide) return ebi_soft_shift(decay_cells_soft(d, place, era).level);
    if (d->packed) {
        const uint64_t line = ebi_place_line(place);
        const unsigned grain = ebi_snug_grain(decay_cells_line(d, line), ebi_place_slot(place));
        return grain - (unsigned)ebi_min(grain, era - decay_cells_era(d, line));
    }
    if (!decay_cells_is_saturated(d, ebi_place_get(d->line, d->width, place))) return 0;
    return d->mode == EBI_DECAY_ERA && ebi_decay_get(d, place, era) <= decay_cells_plain(d) ? 0
                                                                                            : 64;
}

/* Era mode: counters whose codes are not their values. */
static void decay_cells_halve_large(const ebi_decay *d, uint64_t line, uint64_t eras) {
    assert(eras > 0);
    const uint64_t first = line << EBI_SLOT_BITS;
    const uint32_t plain = decay_cells_plain(d), largest = decay_cells_largest(d);
    for (uint64_t place = first; place < first + d->each; place++) {
        const uint32_t code = ebi_place_get(d->line, d->width, place);
        if (code <= plain) continue;
        const uint64_t value = ebi_decay_lapse(d, decay_cells_value(d, place), eras);
        if (code < largest)
            decay_cells_put_faded(d, place, value);
        else
            decay_cells_put_spilling(d, place, value);
    }
}

/* Era mode: halves all codes of a line that are values, and says whether there are others.  A loop
 * over whole vectors without branches; c / 2^shift, rounded up, is (c - 1) / 2^shift + 1. */
#define DECAY_CELLS_HALVE(width, cell)                                                             \
    static bool cells_halve_##width(uint8_t *cells, unsigned shift, cell plain) {                  \
        enum { N = EBI_LINE / sizeof(cell) };                                                      \
        const cell fades = (cell)(shift < width ? ebi_min(UINT64_C(1) << shift, plain) : plain);   \
        const unsigned by = (unsigned)ebi_min(shift, width - 1);                                   \
        cell code[N] = {0}, large = 0;                                                             \
        memcpy(code, cells, EBI_LINE - EBI_LINE_STAMP);                                            \
        for (unsigned i = 0; i < N; i++) {                                                         \
            const cell rest = (cell)(((cell)(code[i] - 1) >> by) + 1);                             \
            const cell half = code[i] <= fades ? 0 : rest;                                         \
            large |= code[i] > plain;                                                              \
            code[i] = code[i] > plain ? code[i] : half;                                            \
        }                                                                                          \
        memcpy(cells, code, EBI_LINE - EBI_LINE_STAMP);                                            \
        return large;                                                                              \
    }
DECAY_CELLS_HALVE(8, uint8_t)
DECAY_CELLS_HALVE(16, uint16_t)
DECAY_CELLS_HALVE(32, uint32_t)

static void decay_cells_halve_line(const ebi_decay *d, uint64_t line, uint64_t eras) {
    const uint32_t plain = decay_cells_plain(d);
    const unsigned shift = (unsigned)ebi_min(eras, d->width);
    uint8_t *const cells = decay_cells_line(d, line) + EBI_LINE_STAMP;
    if (d->width == 8    ? cells_halve_8(cells, shift, (uint8_t)plain)
        : d->width == 16 ? cells_halve_16(cells, shift, (uint16_t)plain)
                         : cells_halve_32(cells, shift, plain))
        decay_cells_halve_large(d, line, eras);
}

static void decay_cells_lapse_line(const ebi_decay *d, uint64_t line, uint64_t eras) {
    const uint64_t first = line << EBI_SLOT_BITS;
    if (eras == 0) return;
    if (d->packed) {
        const ebi_snug snug = decay_cells_snug(d);
        ebi_snug_halve(&snug, decay_cells_line(d, line), first, eras);
        return;
    }
    if (d->mode == EBI_DECAY_ERA) {
        decay_cells_halve_line(d, line, eras);
        return;
    }
    for (uint64_t place = first; place < first + d->each; place++) {
        const uint64_t value = decay_cells_value(d, place);
        if (value > d->floor) ebi_decay_put(d, place, ebi_decay_lapse(d, value, eras));
    }
}

/* So many eras later, which are `stamp` after the base. */
static void decay_cells_bring(const ebi_decay *d, uint64_t line, uint64_t eras, uint64_t stamp) {
    assert(stamp <= decay_cells_stamp_max(d));
    if (d->wide) {
        ebi_soft_lapse(decay_cells_line(d, line), eras, stamp);
        return;
    }
    decay_cells_lapse_line(d, line, eras);
    ebi_store32(decay_cells_line(d, line), (uint32_t)stamp);
}

void ebi_decay_freshen(const ebi_decay *d, uint64_t line, uint64_t era) {
    assert(line < d->lines);
    const uint64_t eras = era - decay_cells_era(d, line);
    if (eras > 0) decay_cells_bring(d, line, eras, era - d->state->base);
}

void ebi_decay_reach(const ebi_decay *d, uint64_t era) {
    if (era - d->state->base <= decay_cells_stamp_max(d)) return;
    for (uint64_t line = 0; line < d->lines; line++)
        decay_cells_bring(d, line, era - decay_cells_era(d, line), 0);
    d->state->base = era;
}

static void decay_cells_merge_widely(const ebi_decay *d, const ebi_decay *from, uint64_t line,
                                     uint64_t era) {
    uint8_t other[EBI_SOFT_LINE];
    memcpy(other, decay_cells_line(from, line), sizeof other);
    ebi_soft_lapse(other, era - decay_cells_era(from, line), 0);
    if (!ebi_soft_merge(decay_cells_line(d, line), other, !d->conservative)) d->state->saturated++;
}

void ebi_decay_merge_line(const ebi_decay *d, const ebi_decay *from, uint64_t line, uint64_t era) {
    assert(line < d->lines && line < from->lines);
    const uint64_t first = line << EBI_SLOT_BITS;
    if (d->wide) {
        decay_cells_merge_widely(d, from, line, era);
        return;
    }
    for (uint64_t place = first; place < first + d->each; place++) {
        const uint64_t more = ebi_decay_get(from, place, era);
        if (more > 0) ebi_decay_put(d, place, ebi_decay_get(d, place, era) + more);
    }
}

/* The whole block */

uint64_t ebi_decay_rest_bytes(unsigned mode, uint64_t room) {
    const uint64_t each = mode == EBI_DECAY_OPTIMISED ? sizeof(uint64_t) : sizeof(ebi_spill_slot);
    return ebi_round_up(room * each, 64);
}

void ebi_decay_init(const ebi_decay *d) {
    if (d->mode != EBI_DECAY_OPTIMISED) return;
    const ebi_pool pool = decay_cells_pool(d);
    ebi_pool_init(&pool);
}

/* Every counter that is said to be in the table has an entry there, and all entries are theirs. */
static bool decay_cells_check_snug(const ebi_decay *d) {
    const ebi_snug snug = decay_cells_snug(d);
    uint64_t spilled = 0;
    for (uint64_t line = 0; line < d->lines; line++)
        if (!ebi_snug_check(&snug, decay_cells_line(d, line), line << EBI_SLOT_BITS, &spilled))
            return false;
    return spilled == d->state->used;
}

static bool decay_cells_check_spill(const ebi_decay *d) {
    uint64_t marked = 0, matched = 0;
    if (d->state->free != 0) return false;
    if (!ebi_spill_check(decay_cells_spill(d), d->room, d->state->used, d->lines << EBI_SLOT_BITS))
        return false;
    if (d->packed) return decay_cells_check_snug(d);
    for (uint64_t place = 0; place < d->lines << EBI_SLOT_BITS; place++)
        if (ebi_place_slot(place) < d->each)
            marked += ebi_place_get(d->line, d->width, place) == decay_cells_largest(d);
    for (uint64_t at = 0; at < d->room; at++) {
        const ebi_spill_slot s = decay_cells_spill(d)[at];
        if (s.index == 0) continue;
        if (ebi_place_slot(s.index - 1) >= d->each || s.extra <= decay_cells_plain(d) ||
            s.extra >= EBI_DECAY_TOP)
            return false;
        matched += ebi_place_get(d->line, d->width, s.index - 1) == decay_cells_largest(d);
    }
    return marked == matched && matched == d->state->used;
}

static bool decay_cells_check_pool(const ebi_decay *d) {
    const ebi_pool pool = decay_cells_pool(d);
    uint64_t used = 0;
    for (uint64_t place = 0; place < d->lines << EBI_SLOT_BITS; place++) {
        if (ebi_place_slot(place) >= d->each) continue;
        const uint32_t word = ebi_place_get(d->line, d->width, place);
        if (word == decay_cells_saturated_word) continue;
        const int length = ebi_pool_chain(&pool, (uint32_t)place, word);
        if (length < 0) return false;
        used += (uint64_t)length;
    }
    return ebi_pool_check(&pool, used);
}

static bool decay_cells_check_wide(const ebi_decay *d) {
    for (uint64_t line = 0; line < d->lines; line++)
        if (!ebi_soft_check(decay_cells_line(d, line))) return false;
    return d->state->used == 0 && d->state->free == 0;
}

static bool decay_cells_check_rest(const ebi_decay *d) {
    if (d->wide) return decay_cells_check_wide(d);
    if (d->mode == EBI_DECAY_ERA) return decay_cells_check_spill(d);
    if (d->mode == EBI_DECAY_OPTIMISED) return decay_cells_check_pool(d);
    return d->state->used == 0 && d->state->free == 0;
}

bool ebi_decay_check(const ebi_decay *d, uint64_t era) {
    uint64_t any = 0;
    for (size_t i = 0; i < EBI_COUNT_OF(d->state->reserved); i++) any |= d->state->reserved[i];
    if (any != 0 || d->state->base > era) return false;
    for (uint64_t line = 0; line < d->lines; line++)
        if (decay_cells_era(d, line) > era || decay_cells_era(d, line) < d->state->base)
            return false;
    const uint64_t each =
        d->mode == EBI_DECAY_OPTIMISED ? sizeof(uint64_t) : sizeof(ebi_spill_slot);
    for (uint64_t i = d->room * each; i < ebi_decay_rest_bytes(d->mode, d->room); i++)
        any |= d->rest[i];
    return any == 0 && decay_cells_check_rest(d);
}
