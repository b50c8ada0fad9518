/* decay_cells.c - the counters of time-decaying filters, in lines that are brought up to date when
 * they are next used.
 *
 *     era        counters that join when they are full: soft.h
 *     basic      words that are values; the largest word means saturated, for good
 *     optimised  words of 4-bit digits with links to a pool; a word whose link is all ones means
 *                saturated, for good
 *
 * Stamps count eras from state.base.  Once in 2^32 eras (mode=era: 2^29) all lines are brought up
 * to date, so that stamps never wrap. */
#include "decay.h"

static const uint32_t decay_cells_full = UINT32_MAX; /* a saturated counter */

static uint8_t *decay_cells_line(const ebi_decay *d, uint64_t line) {
    assert(line < d->lines);
    return d->line + line * EBI_LINE;
}

static ebi_pool decay_cells_pool(const ebi_decay *d) {
    assert(d->mode == EBI_DECAY_OPTIMISED);
    return (ebi_pool){d->rest, d->room, &d->state->free, &d->state->used};
}

/* Reading and setting a single word */

static uint64_t decay_cells_value(const ebi_decay *d, uint64_t place) {
    const uint32_t word = ebi_place_get(d->line, place);
    if (word == decay_cells_full) return EBI_DECAY_TOP;
    if (d->mode == EBI_DECAY_BASIC) return word;
    const ebi_pool pool = decay_cells_pool(d);
    return ebi_pool_get(&pool, word);
}

static void decay_cells_put_word(const ebi_decay *d, uint64_t place, uint64_t value) {
    uint32_t word = ebi_place_get(d->line, place);
    if (word == decay_cells_full) return;
    bool fits = value < decay_cells_full;
    if (d->mode == EBI_DECAY_OPTIMISED) {
        const ebi_pool pool = decay_cells_pool(d);
        fits = value < EBI_DECAY_TOP && ebi_pool_set(&pool, (uint32_t)place, &word, value);
        if (!fits) (void)ebi_pool_set(&pool, (uint32_t)place, &word, 0); /* gives its digits back */
    } else {
        word = (uint32_t)value;
    }
    d->state->saturated += !fits;
    ebi_place_set(d->line, place, fits ? word : decay_cells_full);
}

void ebi_decay_put(const ebi_decay *d, uint64_t place, uint64_t value) {
    assert(ebi_place_line(place) < d->lines);
    if (d->mode != EBI_DECAY_ERA)
        decay_cells_put_word(d, place, value);
    else if (!ebi_soft_put(decay_cells_line(d, ebi_place_line(place)), ebi_place_slot(place), value,
                           !d->conservative))
        d->state->saturated++;
}

/* Eras */

static uint64_t decay_cells_era(const ebi_decay *d, uint64_t line) { /* that of its stamp */
    const uint8_t *const at = decay_cells_line(d, line);
    return d->state->base + (d->mode == EBI_DECAY_ERA ? ebi_soft_stamp(at) : ebi_load32(at));
}

static uint64_t decay_cells_stamp_max(const ebi_decay *d) {
    return d->mode == EBI_DECAY_ERA ? EBI_SOFT_STAMP_MAX : UINT32_MAX;
}

static ebi_soft_cell decay_cells_soft(const ebi_decay *d, uint64_t place, uint64_t era) {
    const uint64_t line = ebi_place_line(place);
    return ebi_soft_fade(ebi_soft_read(decay_cells_line(d, line), ebi_place_slot(place)),
                         era - decay_cells_era(d, line));
}

uint64_t ebi_decay_group(const ebi_decay *d, uint64_t place, uint64_t era) {
    return d->mode == EBI_DECAY_ERA ? ebi_soft_group(place, decay_cells_soft(d, place, era).level)
                                    : place;
}

uint64_t ebi_decay_get(const ebi_decay *d, uint64_t place, uint64_t era) {
    assert(ebi_place_line(place) < d->lines);
    const uint64_t line = ebi_place_line(place), eras = era - decay_cells_era(d, line);
    if (d->mode == EBI_DECAY_ERA)
        return ebi_soft_get(decay_cells_line(d, line), ebi_place_slot(place), eras);
    return ebi_decay_lapse(d, decay_cells_value(d, place), eras);
}

unsigned ebi_decay_grain(const ebi_decay *d, uint64_t place, uint64_t era) {
    if (d->mode == EBI_DECAY_ERA) return ebi_soft_shift(decay_cells_soft(d, place, era).level);
    return ebi_place_get(d->line, place) == decay_cells_full ? 64 : 0;
}

/* Ages a line by so many eras.  Its new stamp is `stamp`. */
static void decay_cells_bring(const ebi_decay *d, uint64_t line, uint64_t eras, uint64_t stamp) {
    assert(stamp <= decay_cells_stamp_max(d));
    const uint64_t first = line << EBI_SLOT_BITS;
    if (d->mode == EBI_DECAY_ERA) {
        ebi_soft_lapse(decay_cells_line(d, line), eras, stamp);
        return;
    }
    for (uint64_t place = first; place < first + d->each && eras > 0; place++) {
        const uint64_t value = decay_cells_value(d, place);
        if (value > d->floor) ebi_decay_put(d, place, ebi_decay_lapse(d, value, eras));
    }
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

void ebi_decay_merge_line(const ebi_decay *d, const ebi_decay *from, uint64_t line, uint64_t era) {
    assert(line < d->lines && line < from->lines);
    const uint64_t first = line << EBI_SLOT_BITS;
    if (d->mode == EBI_DECAY_ERA) {
        uint8_t other[EBI_SOFT_LINE];
        memcpy(other, decay_cells_line(from, line), sizeof other);
        ebi_soft_lapse(other, era - decay_cells_era(from, line), 0);
        if (!ebi_soft_merge(decay_cells_line(d, line), other, !d->conservative))
            d->state->saturated++;
        return;
    }
    for (uint64_t place = first; place < first + d->each; place++) {
        const uint64_t more = ebi_decay_get(from, place, era);
        if (more > 0) ebi_decay_put(d, place, ebi_decay_get(d, place, era) + more);
    }
}

/* The whole block */

uint64_t ebi_decay_rest_bytes(uint64_t room) {
    return ebi_round_up(room * sizeof(uint64_t), 64);
}

void ebi_decay_init(const ebi_decay *d) {
    if (d->mode != EBI_DECAY_OPTIMISED) return;
    const ebi_pool pool = decay_cells_pool(d);
    ebi_pool_init(&pool);
}

static bool decay_cells_check_pool(const ebi_decay *d) {
    const ebi_pool pool = decay_cells_pool(d);
    uint64_t used = 0;
    for (uint64_t place = 0; place < d->lines << EBI_SLOT_BITS; place++) {
        if (ebi_place_slot(place) >= d->each) continue;
        const uint32_t word = ebi_place_get(d->line, place);
        if (word == decay_cells_full) continue;
        const int length = ebi_pool_chain(&pool, (uint32_t)place, word);
        if (length < 0) return false;
        used += (uint64_t)length;
    }
    return ebi_pool_check(&pool, used);
}

bool ebi_decay_check(const ebi_decay *d, uint64_t era) {
    const uint64_t digits = d->room * sizeof *d->rest;
    if (!ebi_is_zero(d->state->reserved, sizeof d->state->reserved) || d->state->base > era ||
        !ebi_is_zero(d->rest + d->room, ebi_decay_rest_bytes(d->room) - digits))
        return false;
    for (uint64_t line = 0; line < d->lines; line++) {
        if (decay_cells_era(d, line) > era || decay_cells_era(d, line) < d->state->base)
            return false;
        if (d->mode == EBI_DECAY_ERA && !ebi_soft_check(decay_cells_line(d, line))) return false;
    }
    if (d->mode == EBI_DECAY_OPTIMISED) return decay_cells_check_pool(d);
    return d->state->used == 0 && d->state->free == 0;
}
