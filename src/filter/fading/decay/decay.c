/* decay.c - time-decaying Bloom filters: how often did a key occur lately, where arrivals count
 * less and less with time?
 *
 * An arrival counts 1 at first, and half of that after each `halflife`.  A key has k counters, one
 * in each of k parts, and the estimate is the smallest of them.
 *
 *       | head | state, 64 bytes | lines of counters | pool |
 *
 *     mode=era        (default) Counts fade continuously.  Counters are halved once in a half-life,
 *                     each line of them when it is next used, so letting time pass costs nothing.
 *                     They have 9 bits each, and join their neighbours when they need more, so none
 *                     is ever full.
 *     mode=basic      The basic filter of the paper: counters of 32 bits that are multiplied by
 *                     `factor` at the end of each `period`.
 *     mode=optimised  The same with digits of 4 bits; further digits come from a pool and are
 * linked. Digits carry one by one.  (The paper's other rule, "if all counters overflow", counts too
 * low.)
 *
 * Counts may be too low by at most epsilon (eb_stats).  This is because all rounding goes up, and
 * counters could never reach zero without an exception for small ones.  They are too high if others
 * share all k counters; update=conservative, which raises only what is below the new estimate,
 * makes this rarer, but its filters cannot be merged nor keys removed.  Rounding adds a share of
 * the count (eb_stats: excess), or up to 1 / (1 - factor) ulp with the modes of the paper.  There a
 * counter that finds no room becomes an upper bound for good, and eb_stats counts it.
 *
 * eb_count gives the decayed count itself.  The paper's estimate is (1 - lambda) times that, a mean
 * number of arrivals in a period: see eb_faded.  A shard answers as of its own clock; eb_advance
 * brings all shards to the same time.  A merged filter answers like one of both streams, up to
 * rounding.  A removal gives the time of the arrival that it takes back. */
#include "decay.h"
#include "base/hash.h"
#include <math.h>

enum {
    DECAY_O_K = EBI_O_OWN,
    DECAY_O_MODE,
    DECAY_O_HALFLIFE,
    DECAY_O_FACTOR,
    DECAY_O_PERIOD,
    DECAY_O_FRACTION,
    DECAY_O_UPDATE,
    DECAY_O_ROOM
};
enum { DECAY_UPDATE_PLAIN, DECAY_UPDATE_CONSERVATIVE };
enum { DECAY_FRACTION_MAX = 12, DECAY_AHEAD = 10 };
enum { DECAY_FIXED = sizeof(ebi_block_head) + sizeof(ebi_decay_state) };
enum { DECAY_MILLION = 1000000, DECAY_HALF = DECAY_MILLION / 2 };
#define DECAY_PERIOD (UINT64_C(1000000) * DECAY_MILLION)
#define DECAY_PERIOD_MAX (UINT64_C(9000000000000) * DECAY_MILLION)

static const eb_option decay_options[] = {
    EBI_COMMON_OPTIONS,
    {"k", "int", "4", "1", "16", "counters for each key", false},
    {"mode", "era|basic|optimised", "era", NULL, NULL,
     "era: smallest errors; basic, optimised: as published", false},
    {"halflife", "fixed", NULL, "1", "9000000000000", "time in which counts fade to half", true},
    {"factor", "fixed", NULL, "0.000001", "0.999999",
     "share of a count that is left after a period", false},
    {"period", "fixed", NULL, "1", "9000000000000", "time between two fadings by factor", false},
    {"fraction", "int", NULL, "0", "12", "binary digits after the point, not with mode=era", false},
    {"update", "plain|conservative", "plain", NULL, NULL,
     "conservative: smaller errors, no merging", false},
    {"large", "count", NULL, "0", "268435454", "digits in the pool of mode=optimised", false},
    {0}};

/* Opening */

static ebi_decay decay_shape(const ebi_params *p) { /* everything except the places of its parts */
    ebi_decay d = {.mode = (unsigned)p->opt[DECAY_O_MODE],
                   .k = (unsigned)p->opt[DECAY_O_K],
                   .conservative = p->opt[DECAY_O_UPDATE] == DECAY_UPDATE_CONSERVATIVE,
                   .factor = p->opt[DECAY_O_FACTOR],
                   .period = p->opt[DECAY_O_PERIOD]};
    const bool era = d.mode == EBI_DECAY_ERA;
    d.room = d.mode == EBI_DECAY_OPTIMISED ? p->opt[DECAY_O_ROOM] : 0;
    d.most = era ? UINT64_MAX : EBI_DECAY_TOP;
    d.fraction = era ? EBI_SOFT_FRACTION : (unsigned)p->opt[DECAY_O_FRACTION];
    d.each = era ? EBI_SOFT_CELLS : EBI_LINE_WORDS;
    d.lines = p->opt[EBI_O_CELLS] / d.each;
    d.part = d.lines / d.k;
    d.floor = ebi_decay_floor(&d);
    return d;
}

ebi_decay ebi_decay_open(const ebi_params *p, const uint8_t *block) {
    uint8_t *const own = ebi_writable(block);
    ebi_decay d = decay_shape(p);
    d.state = (ebi_decay_state *)(void *)(own + sizeof(ebi_block_head));
    d.line = own + DECAY_FIXED;
    d.rest = (uint64_t *)(void *)(d.line + d.lines * EBI_LINE);
    return d;
}

/* Parameters */

static eb_status decay_resolve_time(ebi_params *p, const ebi_args *a, eb_error *err) {
    if (a->given[DECAY_O_HALFLIFE] && (a->given[DECAY_O_FACTOR] || a->given[DECAY_O_PERIOD]))
        return ebi_fail(err, EB_ESPEC, "decay: give halflife, or factor and period, not both");
    if (!a->given[DECAY_O_FACTOR]) p->opt[DECAY_O_FACTOR] = DECAY_HALF;
    if (a->given[DECAY_O_HALFLIFE])
        p->opt[DECAY_O_PERIOD] = p->opt[DECAY_O_HALFLIFE];
    else if (!a->given[DECAY_O_PERIOD])
        p->opt[DECAY_O_PERIOD] = DECAY_PERIOD;
    const uint64_t factor = p->opt[DECAY_O_FACTOR];
    if (p->opt[DECAY_O_MODE] != EBI_DECAY_ERA) {
        if (factor < 10000 || factor > 999000)
            return ebi_fail(err, EB_ESPEC, "decay: factor must be 0.01..0.999 here, not %g",
                            (double)factor / DECAY_MILLION);
        return EB_OK;
    }
    if (factor == DECAY_HALF) return EB_OK;
    const double half =
        ceil((double)p->opt[DECAY_O_PERIOD] * log(0.5) / log((double)factor / DECAY_MILLION));
    if (!(half >= DECAY_MILLION && half <= (double)DECAY_PERIOD_MAX))
        return ebi_fail(err, EB_ESPEC,
                        "decay: factor and period must make a half-life of 1..9e12, not %g",
                        half / DECAY_MILLION);
    p->opt[DECAY_O_FACTOR] = DECAY_HALF;
    p->opt[DECAY_O_PERIOD] = (uint64_t)half;
    return EB_OK;
}

/* For the modes of the paper: the least fraction= that keeps epsilon at a half, if any does. */
static uint64_t decay_fraction_for(const ebi_params *p) {
    const uint64_t floor_ulp = decay_shape(p).floor;
    uint64_t fraction = 1;
    while (fraction < DECAY_FRACTION_MAX && floor_ulp << 1 > UINT64_C(1) << fraction) fraction++;
    return fraction;
}

static eb_status decay_resolve_counters(ebi_params *p, const ebi_args *a, eb_error *err) {
    const bool era = p->opt[DECAY_O_MODE] == EBI_DECAY_ERA;
    if (era && a->given[DECAY_O_FRACTION])
        return ebi_fail(err, EB_ESPEC, "decay: fraction goes with mode=basic and mode=optimised");
    if (p->opt[DECAY_O_MODE] != EBI_DECAY_OPTIMISED && a->given[DECAY_O_ROOM])
        return ebi_fail(err, EB_ESPEC, "decay: large goes with mode=optimised");
    if (era) p->opt[DECAY_O_FRACTION] = EBI_OFF;
    if (p->opt[DECAY_O_MODE] != EBI_DECAY_OPTIMISED) p->opt[DECAY_O_ROOM] = EBI_OFF;
    if (!era && !a->given[DECAY_O_FRACTION]) p->opt[DECAY_O_FRACTION] = decay_fraction_for(p);
    return EB_OK;
}

/* As many lines as a budget without the head allows, in k equal parts.  The pool has a digit for
 * every two counters. */
static uint64_t decay_lines_for(ebi_params *p, const ebi_args *a, uint64_t budget) {
    const bool pool = p->opt[DECAY_O_MODE] == EBI_DECAY_OPTIMISED;
    const uint64_t k = p->opt[DECAY_O_K];
    const uint64_t pool_bytes = a->given[DECAY_O_ROOM] ? ebi_decay_rest_bytes(p->opt[DECAY_O_ROOM])
                                : pool                 ? 64
                                                       : 0;
    const uint64_t rest = sizeof(ebi_decay_state) + pool_bytes;
    const uint64_t each = EBI_LINE + (pool && !a->given[DECAY_O_ROOM] ? 4 * EBI_LINE_WORDS : 0);
    return (budget - ebi_min(budget, rest)) / each / k * k;
}

static eb_status decay_resolve_size(ebi_params *p, const ebi_args *a, eb_error *err) {
    const uint64_t each = decay_shape(p).each, k = p->opt[DECAY_O_K];
    const bool pool = p->opt[DECAY_O_MODE] == EBI_DECAY_OPTIMISED;
    if (a->given[EBI_O_CELLS] && p->opt[EBI_O_CELLS] % (each * k) != 0)
        return ebi_fail(err, EB_ESPEC, "decay: cells must be a multiple of %llu here, not %llu",
                        (unsigned long long)(each * k), (unsigned long long)p->opt[EBI_O_CELLS]);
    const uint64_t lines =
        a->given[EBI_O_CELLS] ? p->opt[EBI_O_CELLS] / each : decay_lines_for(p, a, ebi_budget(p));
    if (lines * each < 64)
        return ebi_fail(err, EB_ESPEC, "decay: memory=%llu is too small for k=%llu%s",
                        (unsigned long long)p->opt[EBI_O_MEMORY], (unsigned long long)k,
                        a->given[DECAY_O_ROOM] ? " and so large a pool" : "");
    if (pool && !a->given[DECAY_O_ROOM]) p->opt[DECAY_O_ROOM] = ebi_round_up(lines * each / 2, 8);
    if (pool && (lines >> (32 - EBI_SLOT_BITS) != 0 || p->opt[DECAY_O_ROOM] > EBI_POOL_MAX))
        return ebi_fail(err, EB_ESPEC, "decay: mode=optimised has at most 5e8 cells, not %llu",
                        (unsigned long long)(lines * each));
    p->opt[EBI_O_CELLS] = lines * each;
    p->span = DECAY_FIXED + lines * EBI_LINE + ebi_decay_rest_bytes(decay_shape(p).room);
    return EB_OK;
}

static eb_status decay_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    EBI_TRY(decay_resolve_time(p, a, err));
    EBI_TRY(decay_resolve_counters(p, a, err));
    EBI_TRY(decay_resolve_size(p, a, err));
    p->value_min = 1;
    return EB_OK;
}

/* Counters of keys */

void ebi_decay_places(const ebi_decay *d, eb_hash h, uint64_t *place) {
    uint64_t x = h, first = 0;
    for (unsigned i = 0; i < d->k; i++, x = eb_next(x), first += d->part)
        place[i] = (first + eb_scale(x, d->part)) << EBI_SLOT_BITS | eb_scale(x * d->part, d->each);
}

static void decay_fetch(const ebi_decay *d, const uint64_t *place) {
    for (unsigned j = 0; j < d->k; j++)
        ebi_prefetch_write(d->line + ebi_place_line(place[j]) * EBI_LINE);
}

/* Computes the places of all keys of a batch, and prefetches the first lines. */
static void decay_find(const ebi_decay *d, const eb_hash *h, size_t n, uint64_t *place) {
    assert(n <= EBI_BATCH);
    for (size_t i = 0; i < n; i++) ebi_decay_places(d, h[i], place + i * d->k);
    for (size_t i = 0; i < ebi_min(n, DECAY_AHEAD); i++) decay_fetch(d, place + i * d->k);
}

/* The places of key i.  Call it for i = 0, 1, ... */
static const uint64_t *decay_key(const ebi_decay *d, const uint64_t *place, size_t i, size_t n) {
    assert(i < n);
    if (i + DECAY_AHEAD < n) decay_fetch(d, place + (i + DECAY_AHEAD) * d->k);
    return place + i * d->k;
}

static uint64_t decay_least(const ebi_decay *d, const uint64_t *place, uint64_t era,
                            uint64_t *counter) {
    uint64_t least = UINT64_MAX;
    for (unsigned j = 0; j < d->k; j++) {
        counter[j] = ebi_decay_get(d, place[j], era);
        least = ebi_min(least, counter[j]);
    }
    return least;
}

/* Loops */

static uint64_t decay_add_one(const ebi_decay *d, const uint64_t *place, ebi_moment now,
                              uint32_t value) {
    assert(value >= 1);
    uint64_t counter[EBI_DECAY_K_MAX];
    ebi_decay_reach(d, now.era);
    for (unsigned j = 0; j < d->k; j++) ebi_decay_freshen(d, ebi_place_line(place[j]), now.era);
    const uint64_t least = decay_least(d, place, now.era, counter);
    const uint64_t weight = ebi_decay_weight(d, now, value), goal = ebi_plus(least, weight);
    for (unsigned j = 0; j < d->k; j++) {
        if (!d->conservative)
            ebi_decay_put(d, place[j], ebi_plus(counter[j], weight));
        else if (counter[j] < goal)
            ebi_decay_put(d, place[j], goal);
    }
    return least;
}

static void decay_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen) {
    assert(b->n <= EBI_BATCH);
    const ebi_decay d = ebi_decay_open(p, block);
    uint64_t place[EBI_BATCH * EBI_DECAY_K_MAX];
    ebi_moment now = {0, 0};
    decay_find(&d, b->hash, b->n, place);
    for (size_t i = 0; i < b->n; i++) {
        if (i == 0 || b->time[i] != b->time[i - 1]) now = ebi_decay_moment(&d, b->time[i]);
        seen[i] = decay_add_one(&d, decay_key(&d, place, i, b->n), now, b->value[i]) > d.floor;
        d.state->total += ebi_min(b->value[i], UINT64_MAX - d.state->total);
    }
}

/* The counters of keys, each as of its own moment. */
static void decay_ask(const ebi_decay *d, const ebi_batch *b, uint64_t *least, ebi_moment *now) {
    assert(b->n <= EBI_BATCH);
    uint64_t place[EBI_BATCH * EBI_DECAY_K_MAX], counter[EBI_DECAY_K_MAX];
    decay_find(d, b->hash, b->n, place);
    for (size_t i = 0; i < b->n; i++) {
        now[i] =
            i > 0 && b->time[i] == b->time[i - 1] ? now[i - 1] : ebi_decay_moment(d, b->time[i]);
        least[i] = decay_least(d, decay_key(d, place, i, b->n), now[i].era, counter);
        if (least[i] <= d->floor) least[i] = 0;
    }
}

static void decay_test(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                       uint8_t *seen) {
    assert(b->n <= EBI_BATCH);
    const ebi_decay d = ebi_decay_open(p, block);
    uint64_t least[EBI_BATCH];
    ebi_moment now[EBI_BATCH];
    decay_ask(&d, b, least, now);
    for (size_t i = 0; i < b->n; i++) seen[i] = least[i] > 0;
}

static void decay_count(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                        double *count) {
    assert(b->n <= EBI_BATCH);
    const ebi_decay d = ebi_decay_open(p, block);
    uint64_t least[EBI_BATCH];
    ebi_moment now[EBI_BATCH];
    double unit = 0;
    decay_ask(&d, b, least, now);
    for (size_t i = 0; i < b->n; i++) {
        if (i == 0 || b->time[i] != b->time[i - 1]) unit = ebi_decay_unit(&d, now[i]);
        count[i] = least[i] >= d.most ? INFINITY : (double)least[i] * unit;
    }
}

/* Removing takes what an arrival counts by now, rounded down, so that other keys keep at least what
 * is theirs.  Bringing lines up to date changes them, so all keys of a call claim their counters
 * before any is removed.  Saturated counters stay as they are. */

static uint64_t decay_left(const ebi_decay *d, uint64_t time, uint32_t value, uint64_t era) {
    const ebi_moment then = ebi_decay_moment(d, time);
    return ebi_decay_lapse_least(d, ebi_decay_weight_least(d, then, value), era - then.era);
}

static uint64_t decay_take(uint64_t left, unsigned grain) { /* what a counter can give of it */
    assert(grain <= 64);
    return left & ~ebi_ones(grain);
}

static unsigned decay_claims(const ebi_params *p) {
    return (unsigned)p->opt[DECAY_O_K];
}

static bool decay_claim_one(const ebi_decay *d, const uint64_t *place, uint64_t left, uint64_t era,
                            const ebi_claims *claims) {
    for (unsigned j = 0; j < d->k; j++) {
        const uint64_t c = ebi_decay_get(d, place[j], era);
        const uint64_t take = decay_take(left, ebi_decay_grain(d, place[j], era));
        const uint64_t kept = left - take; /* must be there too, as if keys came one by one */
        if (left > c ||
            !ebi_claim(claims, d->line, ebi_decay_group(d, place[j], era), take, c - kept))
            return false;
    }
    return true;
}

static size_t decay_claim(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                          const ebi_claims *claims) {
    assert(b->n <= EBI_BATCH);
    const ebi_decay d = ebi_decay_open(p, block);
    const uint64_t era = ebi_decay_moment(&d, ebi_head_of(block)->clock).era;
    uint64_t place[EBI_BATCH * EBI_DECAY_K_MAX];
    decay_find(&d, b->hash, b->n, place);
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t left = decay_left(&d, b->time[i], b->value[i], era);
        if (!ebi_claim(claims, &d.state->total, 0, b->value[i], d.state->total) ||
            !decay_claim_one(&d, decay_key(&d, place, i, b->n), left, era, claims))
            return i;
    }
    return b->n;
}

static void decay_remove(const ebi_params *p, uint8_t *block, const ebi_batch *b) {
    assert(b->n <= EBI_BATCH);
    const ebi_decay d = ebi_decay_open(p, block);
    const uint64_t era = ebi_decay_moment(&d, ebi_head_of(block)->clock).era;
    uint64_t place[EBI_BATCH * EBI_DECAY_K_MAX];
    decay_find(&d, b->hash, b->n, place);
    ebi_decay_reach(&d, era);
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t *const at = decay_key(&d, place, i, b->n);
        const uint64_t left = decay_left(&d, b->time[i], b->value[i], era);
        for (unsigned j = 0; j < d.k; j++) {
            ebi_decay_freshen(&d, ebi_place_line(at[j]), era);
            const uint64_t take = decay_take(left, ebi_decay_grain(&d, at[j], era));
            if (take > 0) ebi_decay_put(&d, at[j], ebi_decay_get(&d, at[j], era) - take);
        }
        d.state->total -= b->value[i];
    }
}

/* The whole filter */

static uint64_t decay_caps(const ebi_params *p) {
    const uint64_t linear =
        p->opt[DECAY_O_UPDATE] == DECAY_UPDATE_PLAIN ? EB_CAN_REMOVE | EB_CAN_MERGE : 0;
    return EB_CAN_COUNT | EB_USES_TIME | EB_USES_VALUE | EB_FORGETS | linear;
}

static void decay_init(const ebi_params *p, uint8_t *block) {
    const ebi_decay d = ebi_decay_open(p, block);
    ebi_decay_init(&d);
}

static void decay_merge(const ebi_params *p, uint8_t *into, const ebi_params *q,
                        const uint8_t *from) {
    (void)q;
    const ebi_decay a = ebi_decay_open(p, into), b = ebi_decay_open(p, from);
    const uint64_t clock = ebi_max(ebi_head_of(into)->clock, ebi_head_of(from)->clock);
    const uint64_t era = ebi_decay_moment(&a, clock).era;
    ebi_decay_reach(&a, era);
    for (uint64_t line = 0; line < a.lines; line++) {
        ebi_decay_freshen(&a, line, era);
        ebi_decay_merge_line(&a, &b, line, era);
    }
    a.state->saturated += b.state->saturated;
    a.state->total += ebi_min(b.state->total, UINT64_MAX - a.state->total);
}

static eb_status decay_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    const ebi_decay d = ebi_decay_open(p, block);
    if (!ebi_decay_check(&d, ebi_decay_moment(&d, ebi_head_of(block)->clock).era))
        return ebi_fail(err, EB_EFORMAT, "damaged decay filter: its counters are invalid");
    return EB_OK;
}

static bool decay_is_empty(const ebi_decay *d, uint64_t line) {
    assert(line < d->lines);
    const uint8_t *const bytes = d->line + line * EBI_LINE;
    uint64_t any = ebi_load64(bytes) >>
                   (d->mode == EBI_DECAY_ERA ? (unsigned)EBI_SOFT_STAMP : 8 * EBI_LINE_STAMP);
    for (uint64_t i = 8; i < EBI_LINE; i += 8) any |= ebi_load64(bytes + i);
    return any == 0;
}

static uint64_t decay_used(const ebi_decay *d, uint64_t first, uint64_t lines, uint64_t era) {
    assert(first + lines <= d->lines);
    uint64_t used = 0;
    for (uint64_t line = first; line < first + lines; line++) {
        if (decay_is_empty(d, line)) continue;
        for (uint64_t slot = 0; slot < d->each; slot++)
            used += ebi_decay_get(d, line << EBI_SLOT_BITS | slot, era) > d->floor;
    }
    return used;
}

void ebi_decay_stat(const ebi_decay *d, uint64_t era, eb_stats *out) {
    out->cells = d->lines * d->each;
    out->fpr = 1;
    for (unsigned i = 0; i < d->k; i++) {
        const uint64_t used = decay_used(d, i * d->part, d->part, era);
        out->cells_used += used;
        out->fpr *= (double)used / (double)(d->part * d->each);
    }
    out->saturated = d->state->saturated;
}

static void decay_stat(const ebi_params *p, const uint8_t *block, eb_stats *out) {
    const ebi_decay d = ebi_decay_open(p, block);
    ebi_decay_stat(&d, ebi_decay_moment(&d, ebi_head_of(block)->clock).era, out);
}

static void decay_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    const ebi_decay d = decay_shape(p);
    ebi_decay_predict(&d, w, p->laws, out);
}

static void decay_fading(const ebi_params *p, ebi_faded_counts *out) {
    const ebi_decay d = decay_shape(p);
    const double half = log(0.5) / log((double)d.factor / DECAY_MILLION);
    *out = (ebi_faded_counts){.halflife = (double)d.period / DECAY_MILLION * half,
                              .epsilon = ebi_decay_epsilon(&d),
                              .excess = ebi_decay_excess(&d)};
}

static const ebi_removing decay_removing = {
    .claims = decay_claims, .claim = decay_claim, .remove = decay_remove};

static const ebi_timed decay_timed = {.fading = decay_fading};

const ebi_kind ebi_kind_decay = {
    .info = {"decay", "counts keys, with counts that halve with time",
             "Cheng et al., Time-decaying Bloom filters for data streams with skew, 2005",
             EB_CAN_COUNT | EB_USES_TIME | EB_USES_VALUE | EB_FORGETS | EB_CAN_REMOVE |
                 EB_CAN_MERGE,
             decay_options, "How often lately, with counts that halve with time?"},
    .version = 1,
    .traits = EBI_MERGE_BOUNDS,
    .caps = decay_caps,
    .resolve = decay_resolve,
    .ops = {.add = decay_add, .test = decay_test, .count = decay_count},
    .init = decay_init,
    .merge = decay_merge,
    .check = decay_check,
    .stat = decay_stat,
    .predict = decay_predict,
    .removing = &decay_removing,
    .timed = &decay_timed,
};
