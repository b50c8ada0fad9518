/* aging.c - how often did a key occur lately, where arrivals count less with age, by a function of
 * age.
 *
 * Time is cut into epochs of `period`.  A key has k records, one in each of k parts of the filter,
 * and a record has a counter for each epoch that is not yet forgotten.  The estimate adds up, over
 * all epochs, the smallest of the k counters times the weight of that age.  It is never too low.
 * It is too high if other keys share all k records within the same epoch, and by the roundings
 * below (eb_stats: excess).
 *
 *       | head | state, 64 bytes | records |
 *       record: | stamp, 4 bytes | youngest, its upper 4 bytes | its lower 2 bytes | 2 bytes each |
 *
 * An arrival counts g(x) after x further epochs have begun, and nothing after `epochs` of them:
 *
 *     by=window     1
 *     by=chordal    a straight line from 1 down to 0
 *     by=polygonal  straight lines through `heights` (relative to the first) at equal distances of
 *                   age, then down to 0
 *     by=poly       (1 + x)^-power
 *     by=polyexp    (1 + x)^power factor^x, relative to its largest value.  May rise first.
 *
 * A bucket is what one counter counts: an epoch.  With by=poly, older epochs share buckets: the
 * epochs i 2^l .. (i+1) 2^l - 1 are one bucket from the time on that the youngest of them is
 * `detail` 2^l epochs old.  So there are about detail log2(epochs / detail) buckets.  A bucket
 * counts with the largest g of its epochs, which is too much by a factor of at most (1 +
 * 1/detail)^power.  Which epochs share a bucket depends on the time alone.  So a record is brought
 * up to date only when it is next used, by any number of epochs at once, and letting time pass
 * costs nothing.
 *
 * Keys are only added to the youngest bucket, which counts exactly, in 48 bits.  When its epoch
 * ends, it becomes a 16-bit float, rounded up: exact below 2048, then too high by less than 2^-10
 * of its value.  Joining buckets and merging filters may round once more.  Larger floats are larger
 * numbers, so the smallest of k counters is found by comparing their bits.  A youngest counter that
 * reaches 2^48 stays there; eb_stats counts such events.
 *
 * Stamps count epochs from state.base.  Once in 2^32 epochs all records are brought up to date.  An
 * idle filter is empty after `epochs` epochs (buckets of several epochs: after the youngest of them
 * is that old). update=conservative raises only what is below the new minimum; such filters cannot
 * be merged. */
#include "aging.h"
#include "base/hash.h"
#include "math/probability.h"
#include <math.h>

enum {
    AGING_O_K = EBI_O_OWN,
    AGING_O_DECAY,
    AGING_O_WINDOW,
    AGING_O_PERIOD,
    AGING_O_POWER,
    AGING_O_FACTOR,
    AGING_O_SHAPE,
    AGING_O_DETAIL,
    AGING_O_UPDATE
};
enum {
    AGING_K_MAX = 16,
    AGING_BUCKETS_MAX = 256,
    AGING_LEVELS_MAX = 20,
    AGING_STAMP = 8,
    AGING_MILLION = 1000000
};
enum {
    AGING_WORD = 8,
    AGING_BYTES = 2,
    AGING_AHEAD = 10
}; /* AGING_BYTES: of a counter that is not the youngest */
enum { AGING_WORDS_MAX = AGING_BUCKETS_MAX * AGING_BYTES / AGING_WORD };

static const eb_option aging_options[] = {
    EBI_COMMON_OPTIONS,
    {"k", "int", "4", "1", "16", "counters for each key", false},
    {"by", "window|chordal|polygonal|poly|polyexp", "window", NULL, NULL,
     "how an arrival counts, by its age", false},
    {"epochs", "int", "28", "1", "1000000", "epochs until an arrival is forgotten", false},
    {"period", "count", "1e6", "1", "1e15", "time units in an epoch", false},
    {"power", "fixed", "1", "0.01", "16", "exponent of by=poly and polyexp", false},
    {"factor", "fixed", "0.9", "0.01", "0.999", "factor of by=polyexp for each epoch", false},
    {"heights", "list", "100:50:20", "1", "255", "by=polygonal: heights at equal distances", false},
    {"detail", "int", "4", "1", "32", "by=poly: epochs at least this old are joined", false},
    {"update", "plain|conservative", "plain", NULL, NULL,
     "conservative: smaller errors, no merging", false},
    {0}};

typedef struct aging_state {
    uint64_t saturated; /* how often a counter became full */
    uint64_t base;      /* the epoch that stamps count from */
    uint64_t reserved[6];
} aging_state;
static_assert(sizeof(ebi_block_head) + sizeof(aging_state) == EBI_AGING_FIXED, "two lines");

typedef struct aging {
    unsigned k, decay;
    unsigned levels; /* the levels that buckets can reach */
    uint64_t window, period, detail;
    uint64_t buckets; /* counters in a record */
    uint64_t stride, cells;
    unsigned words; /* of a record after its stamp; bits outside of counters are zero */
    bool conservative;
    uint64_t part[AGING_K_MAX + 1]; /* first records of the k parts, and the end */
    aging_state *state;
    uint8_t *records;
} aging;

/* Parameters */

static unsigned aging_levels(unsigned decay, uint64_t window, uint64_t detail) {
    unsigned levels = 0;
    if (decay != EBI_AGING_BY_POLY) return 0;
    while (levels < AGING_LEVELS_MAX && detail << (levels + 1) < window) levels++;
    return levels;
}

static aging aging_shape(const ebi_params *p) {
    aging a = {.k = (unsigned)p->opt[AGING_O_K],
               .decay = (unsigned)p->opt[AGING_O_DECAY],
               .window = p->opt[AGING_O_WINDOW],
               .period = p->opt[AGING_O_PERIOD],
               .detail = p->opt[AGING_O_DETAIL],
               .conservative = p->opt[AGING_O_UPDATE] != 0};
    a.levels = aging_levels(a.decay, a.window, a.detail);
    /* On level l the youngest epoch's age is at least detail 2^l and below (2 detail + 1) 2^l. */
    const uint64_t joined = 2 * a.detail + 1 + a.levels * (a.detail + 1);
    a.buckets = a.decay == EBI_AGING_BY_POLY ? ebi_min(joined, a.window) : a.window;
    a.stride = ebi_round_up(AGING_STAMP + a.buckets * AGING_BYTES, AGING_WORD);
    a.words = (unsigned)(a.stride - AGING_STAMP) / AGING_WORD;
    a.cells = p->opt[EBI_O_CELLS];
    return a;
}

static aging aging_open(const ebi_params *p, const uint8_t *block) {
    uint8_t *const fixed = ebi_writable(block) + sizeof(ebi_block_head);
    aging a = aging_shape(p);
    assert(a.words <= AGING_WORDS_MAX);
    a.state = (aging_state *)(void *)fixed;
    a.records = fixed + sizeof(aging_state);
    const uint64_t each = a.cells / a.k, more = a.cells % a.k;
    for (unsigned i = 0; i <= a.k; i++) a.part[i] = each * i + more * i / a.k;
    return a;
}

static eb_status aging_resolve(ebi_params *p, const ebi_args *args, eb_error *err) {
    const aging a = aging_shape(p);
    if (a.decay != EBI_AGING_BY_POLY && a.window > AGING_BUCKETS_MAX)
        return ebi_fail(err, EB_ESPEC, "aging: epochs must be 1..%d unless by=poly, not %llu",
                        AGING_BUCKETS_MAX, (unsigned long long)a.window);
    if (a.buckets > AGING_BUCKETS_MAX)
        return ebi_fail(err, EB_ESPEC, "aging: detail must be less for epochs=%llu, not %llu",
                        (unsigned long long)a.window, (unsigned long long)a.detail);
    uint64_t cells = p->opt[EBI_O_CELLS];
    if (!args->given[EBI_O_CELLS]) {
        const uint64_t budget = ebi_budget(p);
        cells = budget < sizeof(aging_state) ? 0 : (budget - sizeof(aging_state)) / a.stride;
    }
    if (cells < EBI_AGING_CELLS_MIN)
        return ebi_fail(err, EB_ESPEC, "aging: memory=%llu is too small for epochs=%llu",
                        (unsigned long long)p->opt[EBI_O_MEMORY], (unsigned long long)a.window);
    p->opt[EBI_O_CELLS] = cells;
    p->span = EBI_AGING_FIXED + ebi_round_up(cells * a.stride, 64);
    p->value_min = 1;
    return EB_OK;
}

/* For use inside another kind; conservative. */
eb_status ebi_aging_inside(ebi_params *q, const ebi_aging_shape *shape, eb_error *err) {
    ebi_args all;
    for (size_t i = 0; i < EBI_OPTIONS_MAX; i++) all.given[i] = true;
    q->opt[EBI_O_CELLS] = shape->cells;
    q->opt[AGING_O_K] = shape->k;
    q->opt[AGING_O_DECAY] = shape->by;
    q->opt[AGING_O_WINDOW] = shape->epochs;
    q->opt[AGING_O_PERIOD] = shape->period;
    q->opt[AGING_O_POWER] = shape->power;
    q->opt[AGING_O_SHAPE] = shape->heights;
    q->opt[AGING_O_DETAIL] = shape->detail;
    q->opt[AGING_O_UPDATE] = 1;
    return aging_resolve(q, &all, err);
}

void ebi_aging_alone(ebi_params *q) {
    q->opt[EBI_O_CELLS] = q->opt[AGING_O_K] = 1;
    q->span = EBI_AGING_FIXED + ebi_round_up(aging_shape(q).stride, 64);
}

uint64_t ebi_aging_stride(const ebi_params *q) {
    return aging_shape(q).stride;
}

/* Buckets */

/* The level of the bucket that holds `epoch`, which is not after now.  `level` is that of a younger
 * bucket, as a lower bound. */
EBI_INLINE unsigned aging_level(const aging *a, uint64_t epoch, uint64_t now, unsigned level) {
    assert(epoch <= now && level <= a->levels);
    for (; level < a->levels; level++) {
        const uint64_t last = epoch | ebi_ones(level + 1);
        if (last > now || now - last < a->detail << (level + 1)) break;
    }
    return level;
}

typedef struct aging_list { /* the buckets of a moment, the youngest first */
    unsigned n;
    uint64_t now, first[AGING_BUCKETS_MAX]; /* epochs */
} aging_list;

static void aging_list_at(const aging *a, uint64_t now, aging_list *list) {
    assert(a->buckets >= 1);
    uint64_t last = now; /* epoch of the next bucket */
    unsigned level = 0;
    list->now = now;
    for (list->n = 0; list->n < a->buckets && now - last < a->window; last--) {
        level = aging_level(a, last, now, level);
        last = list->first[list->n++] = last & ~ebi_ones(level);
        if (last == 0) break; /* there is nothing before time 0 */
    }
}

static uint64_t aging_last(const aging_list *list, unsigned i) { /* last epoch of a bucket */
    assert(i < list->n);
    return i == 0 ? list->now : list->first[i - 1] - 1;
}

/* The counters of a record, after its stamp */

EBI_INLINE uint32_t aging_get(const void *counters, unsigned i) {
    uint16_t value;
    memcpy(&value, (const uint8_t *)counters + AGING_BYTES * i, sizeof value);
    return value;
}

EBI_INLINE void aging_set(void *counters, unsigned i, uint32_t value) {
    const uint16_t low = (uint16_t)value;
    memcpy((uint8_t *)counters + AGING_BYTES * i, &low, sizeof low);
}

/* The sum of two counters that are not the youngest.  A full counter stays full. */
static uint32_t aging_sum(uint32_t x, uint32_t y) {
    if (x == 0 || y == 0) return x | y;
    return ebi_aging_float(ebi_min(ebi_aging_unfloat(x) + ebi_aging_unfloat(y), UINT64_C(1) << 61));
}

static bool aging_is_there(const aging *a, const void *counters) {
    const uint8_t *const bytes = counters;
    uint64_t any = 0;
    for (unsigned i = 0; i < a->words; i++) any |= ebi_load64(bytes + AGING_WORD * i);
    return any != 0;
}

/* The smaller of two counters in each bucket, for all counters of a word at once.  One is at least
 * the other if its top bit says so, or else if subtracting the other's low bits borrows nothing. */
EBI_INLINE void aging_less(const aging *a, uint64_t *least, const uint8_t *counters) {
    enum { AGING_UP = 8 * AGING_BYTES - 1 };
    const uint64_t top = ~UINT64_C(0) / ebi_ones(AGING_UP + 1) << AGING_UP;
    for (unsigned i = 0; i < a->words; i++) {
        const uint64_t x = least[i], y = ebi_load64(counters + AGING_WORD * i);
        const uint64_t by_low = (x | top) - (y & ~top);
        const uint64_t not_less = ((x & ~y) | (~(x ^ y) & by_low)) & top;
        const uint64_t take = not_less | (not_less - (not_less >> AGING_UP));
        least[i] = x ^ ((x ^ y) & take);
    }
}

/* Records */

/* Makes each bucket `epochs` older, where buckets are single epochs. */
static void aging_shift(const aging *a, const uint8_t *from, uint64_t epochs, uint8_t *to) {
    const size_t all = (size_t)(a->buckets * AGING_BYTES),
                 by = (size_t)(ebi_min(epochs, a->buckets) * AGING_BYTES);
    memmove(to + by, from, all - by);
    memset(to, 0, by);
}

/* Joins old buckets into those of now, each of which contains whole old ones. */
static void aging_join(const aging *a, const uint8_t *from, uint64_t stamp, const aging_list *now,
                       uint8_t *counters) {
    uint32_t value[AGING_BUCKETS_MAX] = {0};
    aging_list then = {.n = 0};
    if (now->now - stamp < 2 * a->window + a->detail && aging_is_there(a, from))
        aging_list_at(a, stamp, &then); /* otherwise all are forgotten */
    for (unsigned i = 0, to = 0; i < then.n; i++) {
        while (to < now->n && now->first[to] > then.first[i]) to++;
        if (to < now->n) value[to] = aging_sum(value[to], aging_get(from, i));
    }
    memset(counters, 0, a->words * AGING_WORD);
    for (unsigned i = 0; i < now->n; i++) aging_set(counters, i, value[i]);
}

static uint64_t aging_stamp(const aging *a, const uint8_t *record) { /* the epoch */
    uint32_t passed;
    memcpy(&passed, record, sizeof passed);
    return a->state->base + passed;
}

/* The youngest counter of a record that is up to date. */
EBI_INLINE uint64_t aging_youngest(const uint8_t *record) {
    return ebi_load64(record) >> 32 << 16 | aging_get(record + AGING_STAMP, 0);
}

static void aging_set_youngest(uint8_t *record, uint64_t value) {
    aging_set(record + AGING_STAMP, 0, (uint32_t)value);
    ebi_store64(record, (ebi_load64(record) & UINT32_MAX) | value >> 16 << 32);
}

/* Brings the counters of a record to the list's moment.  `to` may be the record itself. */
static void aging_age(const aging *a, const uint8_t *record, const aging_list *now, uint8_t *to) {
    const uint64_t stamp = aging_stamp(a, record);
    uint8_t closed[AGING_WORDS_MAX * AGING_WORD];
    memcpy(closed, record + AGING_STAMP, a->words * AGING_WORD);
    aging_set(closed, 0, ebi_aging_float(aging_youngest(record)));
    if (a->levels == 0)
        aging_shift(a, closed, now->now - stamp, to);
    else
        aging_join(a, closed, stamp, now, to);
}

/* The counters of a record as of the list's moment: in place if it is up to date, else in `room`,
 * whose last word must be zero. */
EBI_INLINE const uint8_t *aging_read(const aging *a, const uint8_t *record, const aging_list *now,
                                     uint64_t *room) {
    if (aging_stamp(a, record) == now->now) return record + AGING_STAMP;
    aging_age(a, record, now, (uint8_t *)room);
    return (const uint8_t *)room;
}

EBI_INLINE void aging_freshen(const aging *a, uint8_t *record, const aging_list *now) {
    if (aging_stamp(a, record) == now->now) return;
    aging_age(a, record, now, record + AGING_STAMP);
    ebi_store64(record, now->now - a->state->base);
}

/* Must be called before records are stamped with that epoch. */
static void aging_reach(const aging *a, const aging_list *now) {
    if (now->now - a->state->base <= UINT32_MAX) return;
    for (uint64_t i = 0; i < a->cells; i++) {
        uint8_t *const record = a->records + i * a->stride;
        aging_age(a, record, now, record + AGING_STAMP);
        ebi_store64(record, 0);
    }
    a->state->base = now->now;
}

static uint64_t aging_epoch(const aging *a, const uint8_t *block) {
    return ebi_head_of(block)->clock / a->period;
}

/* Keys */

static void aging_fetch(const aging *a, const uint64_t *at) {
    for (unsigned j = 0; j < a->k; j++) {
        ebi_prefetch_write(a->records + at[j]);
        ebi_prefetch_write(a->records + at[j] + a->stride - 1);
    }
}

/* Computes the places of all records of a batch, and prefetches the first ones. */
static void aging_find(const aging *a, const eb_hash *h, size_t n, uint64_t *at) {
    assert(n <= EBI_BATCH);
    for (size_t i = 0; i < n; i++) {
        eb_hash x = h[i];
        for (unsigned j = 0; j < a->k; j++, x = eb_next(x)) {
            const uint64_t first = a->part[j];
            at[i * a->k + j] = (first + eb_scale(x, a->part[j + 1] - first)) * a->stride;
        }
    }
    for (size_t i = 0; i < ebi_min(n, AGING_AHEAD); i++) aging_fetch(a, at + i * a->k);
}

/* The records of key i.  Call it for i = 0, 1, ... */
EBI_INLINE const uint64_t *aging_key(const aging *a, const uint64_t *at, size_t i, size_t n) {
    assert(i < n);
    if (i + AGING_AHEAD < n) aging_fetch(a, at + (i + AGING_AHEAD) * a->k);
    return at + i * a->k;
}

/* The smallest of the k counters in each bucket; that of the youngest is separate. */
typedef struct aging_minima {
    uint64_t youngest, words[AGING_WORDS_MAX];
} aging_minima;

static void aging_least(const aging *a, const uint64_t *at, const aging_list *now,
                        aging_minima *out) {
    uint64_t room[AGING_WORDS_MAX];
    room[a->words - 1] = 0;
    out->youngest = UINT64_MAX;
    for (unsigned j = 0; j < a->k; j++) {
        const uint8_t *const record = a->records + at[j];
        const uint8_t *const counters = aging_read(a, record, now, room);
        const bool fresh = counters != (const uint8_t *)room;
        out->youngest = ebi_min(out->youngest, fresh ? aging_youngest(record) : 0);
        if (j == 0)
            memcpy(out->words, counters, a->words * AGING_WORD);
        else
            aging_less(a, out->words, counters);
    }
    aging_set(out->words, 0, 0);
}

static bool aging_has(const aging *a, const aging_minima *least) {
    return least->youngest > 0 || aging_is_there(a, least->words);
}

/* Loops */

static void aging_raise(const aging *a, uint8_t *record,
                        uint64_t value) { /* raises the youngest counter */
    const uint64_t most = ebi_ones(48), before = aging_youngest(record);
    if (before >= ebi_min(value, most)) return;
    if (value >= most) a->state->saturated++;
    aging_set_youngest(record, ebi_min(value, most));
}

static bool aging_add_one(const aging *a, const uint64_t *at, const aging_list *now,
                          uint32_t value) {
    aging_minima least;
    for (unsigned j = 0; j < a->k; j++) aging_freshen(a, a->records + at[j], now);
    aging_least(a, at, now, &least);
    for (unsigned j = 0; j < a->k; j++) {
        uint8_t *const record = a->records + at[j];
        aging_raise(a, record, (a->conservative ? least.youngest : aging_youngest(record)) + value);
    }
    return aging_has(a, &least);
}

static void aging_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen) {
    assert(b->n <= EBI_BATCH);
    const aging a = aging_open(p, block);
    uint64_t at[EBI_BATCH * AGING_K_MAX];
    aging_list now = {.n = 0};
    aging_find(&a, b->hash, b->n, at);
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t epoch = b->time[i] / a.period;
        if (i == 0 || epoch != now.now) {
            aging_list_at(&a, epoch, &now);
            aging_reach(&a, &now);
        }
        seen[i] = aging_add_one(&a, aging_key(&a, at, i, b->n), &now, b->value[i]);
    }
}

/* The functions of age */

static double aging_polygon(uint64_t shape, double age) { /* age: 0..1, as a part of all epochs */
    assert(age >= 0 && age <= 1);
    const unsigned n = ebi_log2(shape) / 8 + 1;
    const unsigned i = (unsigned)(age * n);
    const double first = (double)(shape & 255), within = age * n - i;
    if (i >= n) return 0;
    const double left = (double)(shape >> (8 * i) & 255);
    const double right = i + 1 < n ? (double)(shape >> (8 * (i + 1)) & 255) : 0;
    return (left + (right - left) * within) / first;
}

double ebi_aging_g(const ebi_params *p, uint64_t age) {
    const double x = (double)age, power = (double)p->opt[AGING_O_POWER] / AGING_MILLION;
    const double window = (double)p->opt[AGING_O_WINDOW];
    if (age >= p->opt[AGING_O_WINDOW]) return 0;
    switch (p->opt[AGING_O_DECAY]) {
    case EBI_AGING_BY_CHORDAL:
        return 1 - x / window;
    case EBI_AGING_BY_POLYGONAL:
        return aging_polygon(p->opt[AGING_O_SHAPE], x / window);
    case EBI_AGING_BY_POLY:
        return pow(1 + x, -power);
    case EBI_AGING_BY_POLYEXP: {
        const double rate = -log((double)p->opt[AGING_O_FACTOR] / AGING_MILLION),
                     peak = fmax(power / rate, 1);
        return exp(power * log((1 + x) / peak) - rate * (1 + x - peak));
    }
    default:
        return 1;
    }
}

/* If epochs share a bucket, the function falls, so the youngest of them has the largest weight. */
static void aging_weights(const ebi_params *p, const aging_list *now, double *weight) {
    for (unsigned i = 0; i < now->n; i++) weight[i] = ebi_aging_g(p, now->now - aging_last(now, i));
}

/* A full counter has no upper bound. */
static double aging_part(double weight, uint64_t counter) {
    if (weight == 0) return 0;
    return counter >= ebi_ones(48) ? INFINITY : weight * (double)counter;
}

static double aging_weigh(const aging_minima *least, unsigned n, const double *weight) {
    double count = n > 0 ? aging_part(weight[0], least->youngest) : 0;
    for (unsigned i = 1; i < n; i++)
        count += aging_part(weight[i], ebi_aging_unfloat(aging_get(least->words, i)));
    return count;
}

/* seen or count is NULL. */
EBI_INLINE void aging_ask(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                          uint8_t *seen, double *count) {
    assert(b->n <= EBI_BATCH && (seen == NULL) != (count == NULL));
    const aging a = aging_open(p, block);
    uint64_t at[EBI_BATCH * AGING_K_MAX];
    aging_minima least;
    double weight[AGING_BUCKETS_MAX];
    aging_list now = {.n = 0};
    aging_find(&a, b->hash, b->n, at);
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t epoch = b->time[i] / a.period;
        if (i == 0 || epoch != now.now) {
            aging_list_at(&a, epoch, &now);
            if (count) aging_weights(p, &now, weight);
        }
        aging_least(&a, aging_key(&a, at, i, b->n), &now, &least);
        if (count) count[i] = aging_weigh(&least, now.n, weight);
        if (seen) seen[i] = aging_has(&a, &least);
    }
}

static void aging_test(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                       uint8_t *seen) {
    aging_ask(p, block, b, seen, NULL);
}

static void aging_count(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                        double *count) {
    aging_ask(p, block, b, NULL, count);
}

/* The whole filter */

static uint64_t aging_caps(const ebi_params *p) {
    return EB_CAN_COUNT | EB_USES_TIME | EB_USES_VALUE | EB_FORGETS |
           (p->opt[AGING_O_UPDATE] ? 0 : EB_CAN_MERGE);
}

static void aging_merge(const ebi_params *p, uint8_t *into, const ebi_params *q,
                        const uint8_t *from) {
    (void)q;
    const aging a = aging_open(p, into), b = aging_open(p, from);
    uint64_t room[AGING_WORDS_MAX];
    aging_list now;
    aging_list_at(&a, ebi_max(aging_epoch(&a, into), aging_epoch(&b, from)), &now);
    room[a.words - 1] = 0;
    aging_reach(&a, &now);
    for (uint64_t i = 0; i < p->opt[EBI_O_CELLS]; i++) {
        uint8_t *const record = a.records + i * a.stride, *const counters = record + AGING_STAMP;
        const uint8_t *const other = b.records + i * b.stride;
        aging_freshen(&a, record, &now);
        const uint8_t *const theirs = aging_read(&b, other, &now, room);
        if (aging_stamp(&b, other) == now.now)
            aging_raise(&a, record, aging_youngest(record) + aging_youngest(other));
        for (unsigned j = 1; j < now.n; j++)
            aging_set(counters, j, aging_sum(aging_get(counters, j), aging_get(theirs, j)));
    }
    a.state->saturated += b.state->saturated;
}

static bool aging_record_ok(const aging *a, const uint8_t *record, uint64_t epoch) {
    const uint64_t stamp = aging_stamp(a, record);
    aging_list then;
    if (stamp > epoch || stamp < a->state->base) return false;
    aging_list_at(a, stamp, &then);
    const uint64_t used = AGING_STAMP + then.n * AGING_BYTES;
    return ebi_is_zero(record + used, a->stride - used);
}

static eb_status aging_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    const aging a = aging_open(p, block);
    const uint64_t bytes = p->opt[EBI_O_CELLS] * a.stride;
    bool good = ebi_is_zero(a.state->reserved, sizeof a.state->reserved) &&
                ebi_is_zero(a.records + bytes, ebi_round_up(bytes, 64) - bytes) &&
                a.state->base <= aging_epoch(&a, block);
    for (uint64_t i = 0; good && i < p->opt[EBI_O_CELLS]; i++)
        good = aging_record_ok(&a, a.records + i * a.stride, aging_epoch(&a, block));
    return good ? EB_OK
                : ebi_fail(err, EB_EFORMAT, "damaged aging filter: its counters are invalid");
}

static void aging_stat(const ebi_params *p, const uint8_t *block, eb_stats *out) {
    const aging a = aging_open(p, block);
    uint64_t room[AGING_WORDS_MAX];
    double chance[AGING_BUCKETS_MAX],
        none = 1; /* the probability that a new key meets only counters in use */
    aging_list now;
    room[a.words - 1] = 0;
    aging_list_at(&a, aging_epoch(&a, block), &now);
    for (unsigned b = 0; b < now.n; b++) chance[b] = 1;
    for (unsigned j = 0; j < a.k; j++) {
        uint64_t used[AGING_BUCKETS_MAX] = {0};
        const uint64_t first = a.part[j], end = a.part[j + 1];
        for (uint64_t i = first; i < end; i++) {
            const uint8_t *const record = a.records + i * a.stride;
            const uint8_t *const counters = aging_read(&a, record, &now, room);
            const bool fresh = aging_stamp(&a, record) == now.now;
            const bool young = fresh && aging_youngest(record) > 0;
            out->cells_used += young || aging_is_there(&a, counters);
            used[0] += young;
            for (unsigned b = 1; b < now.n; b++) used[b] += aging_get(counters, b) > 0;
        }
        for (unsigned b = 0; b < now.n; b++) chance[b] *= (double)used[b] / (double)(end - first);
    }
    for (unsigned b = 0; b < now.n; b++) none *= 1 - chance[b];
    out->cells = p->opt[EBI_O_CELLS];
    out->fpr = 1 - none;
    out->saturated = a.state->saturated;
}

/* How many of n consecutive records have different keys. r = NULL: all. */
static double aging_distinct(const ebi_repeats *r, double n) {
    return r ? fmin(ebi_repeats_distinct(r, n), n) : n;
}

/* The probability that a new key meets k counters in use in some bucket, after n keys with one tick
 * between keys. */
static double aging_chance(const aging *a, double n, const ebi_repeats *r, double *fill) {
    assert(n >= 0);
    const double each = (double)a->k / (double)a->cells, period = (double)a->period;
    double none = 1, end = n;
    aging_list now;
    aging_list_at(a, (uint64_t)(n / period), &now);
    for (unsigned i = 0; i < now.n; i++) {
        const double start = (double)now.first[i] * period;
        none *= 1 - pow(ebi_one_minus_pow1m(each, aging_distinct(r, end - start)), a->k);
        end = start;
    }
    *fill = ebi_one_minus_pow1m(each, aging_distinct(r, n - end));
    return 1 - none;
}

static void aging_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    enum { AGING_STEPS = 64, AGING_ROUGH_STEPS = 16 };
    const aging a = aging_shape(p);
    const int steps = ebi_asks_roughly(out) ? AGING_ROUGH_STEPS : AGING_STEPS;
    const double period = (double)a.period, window = (double)a.window * period;
    const double n = w->items > 0 ? w->items : 2 * window + period / 2;
    const double distinct = w->distinct > 0 ? w->distinct : w->zipf > 0 ? w->items : 0;
    const bool again = distinct > 0 && (w->zipf > 0 || !(w->items > 0 && distinct >= w->items));
    ebi_repeats repeats = {0}, *const r = again ? &repeats : NULL;
    double fill, before = 0;
    if (again) ebi_repeats_of(r, w->items, distinct, w->zipf, p->laws);
    if (w->zipf > 0 && !again) out->unused |= EB_UNUSED_ZIPF;
    out->fpr = aging_chance(&a, n, r, &out->fill);
    out->mean_fpr = 0;
    for (int i = 0; i < steps && w->items > 0 && !ebi_asks_misses(out);
         i++) { /* the mean over new keys, as they come */
        const double to = n * (i + 1) / steps;
        const double so_far = r && !(w->gap > 0) ? aging_distinct(r, to) / distinct : to / n;
        out->mean_fpr += (so_far - before) * aging_chance(&a, n * (i + 0.5) / steps, r, &fill);
        before = so_far;
    }
    if (!(w->items > 0)) out->mean_fpr = out->fpr;
    if (again) out->accuracy = w->gap > 0 ? 1 : 0.2; /* repeats that are near share buckets */
    if (w->gap > 0) {                                /* shared buckets live a little longer */
        const double forgotten = fmin(fmax(w->gap / period - (double)a.window + 1, 0), 1);
        out->fnr = out->mean_fnr = forgotten * (1 - out->fpr);
    }
    out->settles_after = window;
    out->wrong = out->fpr;
}

/* The sum of g over all ages.  For many epochs, the rest of by=poly is approximated by an
 * integral. */
static double aging_weight(const ebi_params *p) {
    const uint64_t window = p->opt[AGING_O_WINDOW], ages = ebi_min(window, AGING_BUCKETS_MAX);
    const double power = (double)p->opt[AGING_O_POWER] / AGING_MILLION, a = (double)ages + 0.5,
                 b = (double)window + 0.5;
    double sum = 0;
    for (uint64_t age = 0; age < ages; age++) sum += ebi_aging_g(p, age);
    if (window == ages) return sum;
    return sum + (fabs(power - 1) < 1e-9 ? log(b / a)
                                         : (pow(b, 1 - power) - pow(a, 1 - power)) / (1 - power));
}

static void aging_fading(const ebi_params *p, ebi_faded_counts *out) {
    const double power = (double)p->opt[AGING_O_POWER] / AGING_MILLION,
                 detail = (double)p->opt[AGING_O_DETAIL];
    const aging a = aging_shape(p);
    const double joined = a.levels > 0 ? pow(1 + 1 / detail, power) : 1;
    const double rounded = pow(1 + 1.0 / EBI_AGING_FLOAT_ONE, a.levels + 1);
    *out = (ebi_faded_counts){.excess = joined * rounded - 1,
                              .weight = aging_weight(p) * (double)p->opt[AGING_O_PERIOD]};
}

static const ebi_timed aging_timed = {.fading = aging_fading};

const ebi_kind ebi_kind_aging = {
    .info = {"aging", "counts keys by age: sliding windows and other functions",
             "Cheng et al., Time-decaying Bloom filters for data streams with skew, 2005",
             EB_CAN_COUNT | EB_USES_TIME | EB_USES_VALUE | EB_FORGETS | EB_CAN_MERGE, aging_options,
             "How often lately: in the last hour, or by another function of age?"},
    .version = 1,
    .caps = aging_caps,
    .resolve = aging_resolve,
    .ops = {.add = aging_add, .test = aging_test, .count = aging_count},
    .merge = aging_merge,
    .check = aging_check,
    .stat = aging_stat,
    .predict = aging_predict,
    .timed = &aging_timed,
};
