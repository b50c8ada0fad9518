/* decay_time.c - the arithmetic of fading, in integers, so that all machines agree.
 *
 * mode=era.  An arrival at time t = (e + f) H, with half-life H, era e and 0 <= f < 1, adds
 * 2^fraction 2^f, rounded up.  When an era begins, c becomes c/2, rounded up.  Rounding up after
 * each halving is the same as rounding up once: ceil(ceil(c/2)/2) = ceil(c/4), so d eras are one
 * shift.  A counter that comes down to 1 becomes 0, or it would stay 1 for ever.  This loses less
 * than 2 ulp at any time: at most 1 when it happens, which halves from then on.
 *
 * Modes of the paper.  An arrival adds 2^fraction.  When a period begins, c becomes ceil(lambda c)
 * with lambda in exact millionths.  That does not fall below floor = ceil(1/(1-lambda)) - 1, so
 * counters up to that are read as 0.
 *
 * 2^f is interpolated between 64ths, which is too large by up to (ln 2 / 64)^2 / 8 of it, and f is
 * cut to 20 bits.  Together that is less than 2^-15 of a count. */
#include "decay.h"
#include <math.h>

enum {
    DECAY_TIME_MILLION = 1000000,
    DECAY_TIME_FRACTION_BITS = 20,
    DECAY_TIME_STEP_BITS = DECAY_TIME_FRACTION_BITS - 6,
    DECAY_TIME_CELL_DIGITS = 4 /* of the narrowest counters with mode=era */
};
__extension__ typedef unsigned __int128 decay_wide;

static const uint64_t decay_power[65] = {
    /* 2^(i/64) in 2^-32, rounded up */
    0x100000000, 0x102c9a3e8, 0x1059b0d32, 0x108745188, 0x10b5586d0, 0x10e3ec32e, 0x111301d02,
    0x11429aaeb, 0x1172b83c8, 0x11a35beb7, 0x11d487317, 0x12063b887, 0x12387a6e8, 0x126b4565f,
    0x129e9df52, 0x12d285a6f, 0x1306fe0a4, 0x133c08b27, 0x1371a7374, 0x13a7db34f, 0x13dea64c2,
    0x14160a220, 0x144e08607, 0x1486a2b5d, 0x14bfdad54, 0x14f9b276a, 0x15342b56a, 0x156f4736c,
    0x15ab07dd5, 0x15e76f15b, 0x16247eb04, 0x166238826, 0x16a09e668, 0x16dfb23c7, 0x171f75e8f,
    0x175feb565, 0x17a11473f, 0x17e2f336d, 0x182589995, 0x1868d99b5, 0x18ace5423, 0x18f1ae992,
    0x193737b0d, 0x197d829fe, 0x19c49182b, 0x1a0c667b6, 0x1a5503b24, 0x1a9e6b558, 0x1ae89f996,
    0x1b33a2b85, 0x1b7f76f30, 0x1bcc1e905, 0x1c199bdd9, 0x1c67f12e6, 0x1cb720dcf, 0x1d072d4a1,
    0x1d5818dd0, 0x1da9e603e, 0x1dfc97338, 0x1e502ee79, 0x1ea4afa2b, 0x1efa1bee7, 0x1f50765b7,
    0x1fa7c181a, 0x200000000,
};

static uint64_t decay_power_of(uint32_t fraction) { /* 2^f, in 2^-32; f in 2^-20, up to 1 */
    const uint32_t step = fraction >> DECAY_TIME_STEP_BITS,
                   within = fraction & ((1u << DECAY_TIME_STEP_BITS) - 1);
    if (within == 0) return decay_power[step];
    const uint64_t rise = decay_power[step + 1] - decay_power[step];
    return decay_power[step] + (rise * within >> DECAY_TIME_STEP_BITS) + 1;
}

/* passed / length in 2^-20, rounded down.  For lengths above 2^43 the low bits are ignored. */
static uint32_t decay_share(uint64_t passed, uint64_t length) {
    assert(length > 0 && passed <= length);
    const unsigned shift = length >> 43 == 0 ? 0 : ebi_log2(length) - 42;
    const uint64_t share =
        ((passed >> shift) << DECAY_TIME_FRACTION_BITS) / ((length >> shift) + (shift > 0));
    return (uint32_t)share;
}

ebi_moment ebi_decay_moment(const ebi_decay *d, uint64_t time) {
    uint64_t era, passed;
    if (d->period % DECAY_TIME_MILLION == 0) {
        const uint64_t ticks = d->period / DECAY_TIME_MILLION;
        era = time / ticks;
        passed = time % ticks * DECAY_TIME_MILLION;
    } else {
        const decay_wide all = (decay_wide)time * DECAY_TIME_MILLION;
        era = (uint64_t)(all / d->period);
        passed = (uint64_t)(all % d->period);
    }
    return (ebi_moment){era, d->mode == EBI_DECAY_ERA ? decay_share(passed, d->period) : 0};
}

/* The weight of one arrival, in 2^-32 ulp.  The moment's fraction has been rounded down. */
static uint64_t decay_one(const ebi_decay *d, ebi_moment at, uint32_t later) {
    const uint64_t power =
        d->mode == EBI_DECAY_ERA ? decay_power_of(at.fraction + later) : decay_power[0];
    return power << d->fraction;
}

uint64_t ebi_decay_weight(const ebi_decay *d, ebi_moment at, uint32_t n) {
    assert(n >= 1);
    const uint64_t one = (decay_one(d, at, at.fraction > 0) + UINT32_MAX) >> 32;
    return ebi_min(one * n, d->most);
}

uint64_t ebi_decay_weight_least(const ebi_decay *d, ebi_moment at, uint32_t n) {
    assert(n >= 1);
    return ebi_min((decay_one(d, at, 0) >> 32) * n, d->most);
}

uint64_t ebi_decay_lapse(const ebi_decay *d, uint64_t c, uint64_t eras) {
    if (d->mode == EBI_DECAY_ERA) return ebi_soft_fade((ebi_soft_cell){c, 0}, eras).field;
    if (c >= EBI_DECAY_TOP) return c;
    for (; eras > 0 && c > d->floor; eras--)
        c = (c * d->factor + DECAY_TIME_MILLION - 1) / DECAY_TIME_MILLION;
    return c;
}

uint64_t ebi_decay_lapse_least(const ebi_decay *d, uint64_t c, uint64_t eras) {
    if (d->mode == EBI_DECAY_ERA) {
        const uint64_t rest = eras > 63 ? 0 : c >> eras;
        return eras > 0 && rest <= ebi_soft_grain(0) ? 0 : rest; /* a counter holds no more */
    }
    const unsigned guard = c >> 28 == 0 ? 16 : 0; /* digits that keep rounding errors small */
    for (c <<= guard; eras > 0 && c > 0; eras--) c = c * d->factor / DECAY_TIME_MILLION;
    return c >> guard;
}

double ebi_decay_unit(const ebi_decay *d, ebi_moment now) {
    return 4294967296.0 / (double)decay_one(d, now, 0);
}

uint64_t ebi_decay_floor(const ebi_decay *d) {
    return d->mode == EBI_DECAY_ERA ? 0
                                    : (DECAY_TIME_MILLION - 1) / (DECAY_TIME_MILLION - d->factor);
}

double ebi_decay_epsilon(const ebi_decay *d) {
    return d->mode == EBI_DECAY_ERA ? ldexp(2, -DECAY_TIME_CELL_DIGITS)
                                    : ldexp((double)d->floor, -(int)d->fraction);
}

double ebi_decay_excess(const ebi_decay *d) {
    if (d->mode != EBI_DECAY_ERA) return 0;
    return ldexp(1, -DECAY_TIME_CELL_DIGITS) + ldexp(1, -EBI_SOFT_FRACTION);
}
