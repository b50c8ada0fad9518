/* top.c - which keys occur most often, since the beginning or lately?  The filter keeps a list of
 * such keys with their bytes, and approximate counts of all others (the light part).
 *
 *       | head | state, 64 bytes | words, 64 bytes, if there is time
 *              | list: sets of cells/sets.h | light part |
 *
 * A key belongs to one set of 16. by= says how counts depend on time:
 *
 *     no      They stay.  A listed key is counted in the list, exactly from the time on that it was
 *             listed; all others in the light part, a small conservative filter: top_list.c
 *     half    The same, but counts halve once in a half-life.
 *     window, chordal, polygonal, poly: functions of age.  The light part, an aging filter, counts
 *             all keys, and the list names those with the largest counts: top_ages.c
 *
 *     upper count   never too low (by=half: by no more than an eighth of an arrival)
 *     lower count   certain; 0 for keys that are not listed
 *     rest          of a set: no key that is not listed occurred more often
 *     watermark     the largest rest: every key that occurred more often is listed
 *
 * Two filters are merged set by set: counts and rests add up, and the 16 largest stay. */
#include "top.h"
#include <math.h>

enum { TOP_FOURTHS = 4, TOP_LIST_FOURTHS = 3, TOP_AGES_FOURTHS = 1 }; /* of the memory */
enum { TOP_EPOCHS = 28, TOP_DETAIL = 4 };
#define TOP_HEIGHTS UINT64_C(0x143264) /* 100:50:20 */

static const eb_option top_options[] = {
    EBI_COMMON_OPTIONS,
    {"list", "size", NULL, "512", "64T", "bytes for the keys that are kept, in each shard", false},
    {"key_bytes", "int", NULL, "8", "1024",
     "room for a key on average; at most 8 times that is kept", false},
    {"by", "no|half|window|chordal|polygonal|poly|polyexp", NULL, NULL, NULL,
     "half: counts halve; window and others: how an arrival counts, by its age", false},
    {"halflife", "fixed", NULL, "1", "9000000000000", "time in which counts fade to half", true},
    {"epochs", "int", NULL, "1", "1000000", "by age: epochs until an arrival is forgotten", false},
    {"period", "fixed", NULL, "1", "9000000000000", "length of an epoch; by=half: the half-life",
     false},
    {"power", "fixed", NULL, "0.01", "16", "exponent of by=poly", false},
    {"heights", "list", NULL, "1", "255", "by=polygonal: heights at equal distances", false},
    {"detail", "int", NULL, "1", "32", "by=poly: epochs at least this old are joined", false},
    {0}};

/* Opening */

static uint64_t top_set_bytes(const ebi_params *p) {
    return EBI_SET_FIXED + EBI_SET_ENTRIES * p->opt[EBI_TOP_KEY_BYTES];
}

static void top_shape_light(const ebi_params *p, ebi_top *t) {
    const uint64_t n = p->opt[EBI_O_CELLS];
    t->light =
        (ebi_counting){.store = ebi_store_wide()->conservative,
                       .n = n,
                       .k = EBI_TOP_K,
                       .window = n > (1u << 20) ? EBI_COUNTING_WINDOW : n, /* like spectral */
                       .joins = true};
    t->light.bytes = ebi_counters_bytes(t->light.store, n, 0);
    t->light.part = t->light.window / EBI_TOP_K;
}

static void top_shape_fading(const ebi_params *p, ebi_top *t) {
    t->fading = (ebi_decay){.mode = EBI_DECAY_ERA,
                            .k = EBI_TOP_K,
                            .fraction = EBI_SOFT_FRACTION,
                            .each = EBI_SOFT_CELLS,
                            .conservative = true,
                            .factor = EBI_TOP_MILLION / 2,
                            .period = p->opt[EBI_TOP_PERIOD],
                            .lines = p->opt[EBI_O_CELLS] / EBI_SOFT_CELLS,
                            .most = UINT64_MAX};
    t->fading.part = t->fading.lines / EBI_TOP_K;
}

static eb_status top_shape_ages(const ebi_params *p, uint64_t cells, ebi_top *t, eb_error *err) {
    const ebi_aging_shape shape = {
        .cells = cells,
        .k = EBI_TOP_AGING_K,
        .by = p->opt[EBI_TOP_BY] - EBI_TOP_BY_AGE,
        .epochs = p->opt[EBI_TOP_EPOCHS],
        .period = p->opt[EBI_TOP_PERIOD] / EBI_TOP_MILLION,
        .power = p->opt[EBI_TOP_POWER] == EBI_OFF ? EBI_TOP_MILLION : p->opt[EBI_TOP_POWER],
        .heights = p->opt[EBI_TOP_HEIGHTS] == EBI_OFF ? TOP_HEIGHTS : p->opt[EBI_TOP_HEIGHTS],
        .detail = p->opt[EBI_TOP_DETAIL] == EBI_OFF ? TOP_DETAIL : p->opt[EBI_TOP_DETAIL]};
    t->aging = (ebi_params){.opt = {0}};
    t->aging.opt[EBI_O_SHARDS] = p->opt[EBI_O_SHARDS];
    EBI_TRY(ebi_aging_inside(&t->aging, &shape, err));
    t->tally = t->aging;
    ebi_aging_alone(&t->tally);
    return EB_OK;
}

/* Everything except the places of its parts. */
static ebi_top top_shape(const ebi_params *p) {
    ebi_top t = {.p = p};
    t.halves = p->opt[EBI_TOP_BY] == EBI_TOP_BY_HALF;
    t.ages = p->opt[EBI_TOP_BY] >= EBI_TOP_BY_AGE;
    t.sets.each = top_set_bytes(p);
    t.sets.n = p->opt[EBI_TOP_LIST] / t.sets.each;
    if (t.ages)
        (void)top_shape_ages(p, p->opt[EBI_O_CELLS], &t, NULL); /* checked before */
    else if (t.halves)
        top_shape_fading(p, &t);
    else
        top_shape_light(p, &t);
    return t;
}

ebi_top ebi_top_open(const ebi_params *p, const uint8_t *block) {
    ebi_top t = top_shape(p);
    uint8_t *at = ebi_writable(block) + EBI_COUNTING_FIXED;
    t.state = ebi_counting_state(block);
    if (t.halves || t.ages) {
        t.words = (ebi_top_words *)(void *)at;
        at += sizeof(ebi_top_words);
    }
    t.sets.first = at;
    at += p->opt[EBI_TOP_LIST];
    if (t.ages) {
        t.counts = at;
        t.together = at + t.aging.span;
    } else if (t.halves) {
        t.fading.state = (ebi_decay_state *)(void *)t.state;
        t.fading.line = at;
    } else {
        t.light.total = &t.state->total;
        t.light.counters = ebi_counters(t.light.store, at, t.light.n, t.light.bytes);
    }
    return t;
}

/* Parameters */

/* Words of a text are short.  With more memory, addresses and file names should fit, too. */
static uint64_t top_usual_key_bytes(uint64_t bytes) {
    return bytes < (64 << 10) ? 8 : bytes < (1 << 20) ? 16 : bytes < (16 << 20) ? 32 : 64;
}

/* Handles an option that only some values of by= have: with the others it is EBI_OFF. */
static eb_status top_only_for(ebi_params *p, const ebi_args *a, unsigned option, bool applies,
                              uint64_t usual, eb_error *err) {
    if (!applies && a->given[option] && p->opt[option] != EBI_OFF)
        return ebi_fail(err, EB_ESPEC, "top: %s has no meaning %s", top_options[option].key,
                        p->opt[EBI_TOP_BY] == EBI_TOP_BY_NO ? "without by=" : "with this by=");
    if (!applies)
        p->opt[option] = EBI_OFF;
    else if (!a->given[option])
        p->opt[option] = usual;
    return EB_OK;
}

static eb_status top_only_falls(const ebi_params *p, eb_error *err) {
    uint64_t left = p->opt[EBI_TOP_HEIGHTS];
    bool falls = p->opt[EBI_TOP_BY] != EBI_TOP_BY_AGE + EBI_AGING_BY_POLYEXP;
    for (; p->opt[EBI_TOP_BY] == EBI_TOP_BY_AGE + EBI_AGING_BY_POLYGONAL && left >> 8; left >>= 8)
        falls = falls && (left & 255) >= (left >> 8 & 255);
    return falls ? EB_OK : ebi_fail(err, EB_ESPEC, "top: counts must only fall with age");
}

static eb_status top_resolve_time(ebi_params *p, const ebi_args *a, eb_error *err) {
    const uint64_t million = EBI_TOP_MILLION;
    if (!a->given[EBI_TOP_BY])
        p->opt[EBI_TOP_BY] = a->given[EBI_TOP_HALFLIFE] ? EBI_TOP_BY_HALF
                             : a->given[EBI_TOP_EPOCHS] ? EBI_TOP_BY_AGE
                                                        : EBI_TOP_BY_NO;
    const uint64_t by = p->opt[EBI_TOP_BY];
    const bool ages = by >= EBI_TOP_BY_AGE, poly = by == EBI_TOP_BY_AGE + EBI_AGING_BY_POLY;
    if (a->given[EBI_TOP_HALFLIFE] && by != EBI_TOP_BY_HALF)
        return ebi_fail(err, EB_ESPEC, "top: halflife is for by=half");
    if (a->given[EBI_TOP_HALFLIFE] && a->given[EBI_TOP_PERIOD])
        return ebi_fail(err, EB_ESPEC, "top: give halflife, or period, not both");
    EBI_TRY(top_only_for(p, a, EBI_TOP_PERIOD, by != EBI_TOP_BY_NO, million * million, err));
    EBI_TRY(top_only_for(p, a, EBI_TOP_EPOCHS, ages, TOP_EPOCHS, err));
    EBI_TRY(top_only_for(p, a, EBI_TOP_POWER, poly, million, err));
    EBI_TRY(top_only_for(p, a, EBI_TOP_DETAIL, poly, TOP_DETAIL, err));
    EBI_TRY(top_only_for(p, a, EBI_TOP_HEIGHTS, by == EBI_TOP_BY_AGE + EBI_AGING_BY_POLYGONAL,
                         TOP_HEIGHTS, err));
    EBI_TRY(top_only_falls(p, err));
    if (a->given[EBI_TOP_HALFLIFE]) p->opt[EBI_TOP_PERIOD] = p->opt[EBI_TOP_HALFLIFE];
    if (ages && p->opt[EBI_TOP_PERIOD] % million != 0)
        return ebi_fail(err, EB_ESPEC, "top: period must be a whole number by age");
    return EB_OK;
}

/* How many cells the light part has in so many bytes, and the reverse. */

static uint64_t top_light_cells(const ebi_top *t, uint64_t bytes) {
    if (t->ages) {
        const uint64_t fixed = t->tally.span + EBI_AGING_FIXED;
        return bytes < fixed ? 0 : (bytes - fixed) / ebi_aging_stride(&t->aging);
    }
    if (t->halves) return bytes / EBI_SOFT_LINE / EBI_TOP_K * EBI_TOP_K * EBI_SOFT_CELLS;
    return ebi_counting_cells(ebi_store_wide(), bytes, 0);
}

static uint64_t top_light_bytes(const ebi_top *t, uint64_t cells) {
    if (t->ages)
        return t->tally.span + EBI_AGING_FIXED +
               ebi_round_up(cells * ebi_aging_stride(&t->aging), 64);
    if (t->halves) return cells / EBI_SOFT_CELLS * EBI_SOFT_LINE;
    return ebi_counters_bytes(ebi_store_wide(), cells, 0);
}

static eb_status top_resolve_list(ebi_params *p, const ebi_args *a, const ebi_top *t,
                                  uint64_t memory, eb_error *err) {
    const uint64_t fourths = t->ages ? TOP_AGES_FOURTHS : TOP_LIST_FOURTHS;
    if (!a->given[EBI_TOP_LIST]) p->opt[EBI_TOP_LIST] = memory / TOP_FOURTHS * fourths;
    if (!a->given[EBI_TOP_KEY_BYTES])
        p->opt[EBI_TOP_KEY_BYTES] = top_usual_key_bytes(p->opt[EBI_TOP_LIST]);
    p->opt[EBI_TOP_KEY_BYTES] =
        ebi_round_up(p->opt[EBI_TOP_KEY_BYTES], 4); /* a multiple of 4: whole cache lines */
    p->opt[EBI_TOP_LIST] = p->opt[EBI_TOP_LIST] / top_set_bytes(p) * top_set_bytes(p);
    if (p->opt[EBI_TOP_LIST] > 0) return EB_OK;
    if (!a->given[EBI_TOP_LIST])
        return ebi_fail(err, EB_ESPEC, "top: memory=%llu is too small for 16 keys of %llu bytes",
                        (unsigned long long)p->opt[EBI_O_MEMORY],
                        (unsigned long long)p->opt[EBI_TOP_KEY_BYTES]);
    return ebi_fail(err, EB_ESPEC, "top: list must be at least %llu with key_bytes=%llu",
                    (unsigned long long)top_set_bytes(p),
                    (unsigned long long)p->opt[EBI_TOP_KEY_BYTES]);
}

static eb_status top_resolve_light(ebi_params *p, const ebi_args *a, const ebi_top *t,
                                   uint64_t memory, eb_error *err) {
    const uint64_t keep = p->opt[EBI_TOP_LIST], lines = (uint64_t)EBI_TOP_K * EBI_SOFT_CELLS;
    if (!a->given[EBI_O_CELLS])
        p->opt[EBI_O_CELLS] = memory > keep ? top_light_cells(t, memory - keep) : 0;
    if (t->halves && p->opt[EBI_O_CELLS] % lines != 0)
        return ebi_fail(err, EB_ESPEC, "top: cells must be a multiple of %llu with by=half",
                        (unsigned long long)lines);
    if (p->opt[EBI_O_CELLS] >= 64) return EB_OK;
    return ebi_fail(err, EB_ESPEC, "top: memory=%llu is too small for list=%llu",
                    (unsigned long long)p->opt[EBI_O_MEMORY], (unsigned long long)keep);
}

static eb_status top_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    if (p->opt[EBI_O_KEYS] != EBI_KEYS_TEXT && p->opt[EBI_O_KEYS] != EBI_KEYS_BYTES)
        return ebi_fail(
            err, EB_ESPEC,
            "top: keys must be text or bytes; with keys=text integers are listed as text");
    EBI_TRY(top_resolve_time(p, a, err));
    ebi_top t = {.halves = p->opt[EBI_TOP_BY] == EBI_TOP_BY_HALF,
                 .ages = p->opt[EBI_TOP_BY] >= EBI_TOP_BY_AGE};
    if (t.ages) EBI_TRY(top_shape_ages(p, EBI_AGING_CELLS_MIN, &t, err));
    const uint64_t fixed = EBI_COUNTING_FIXED - sizeof(ebi_block_head) +
                           (t.halves || t.ages ? sizeof(ebi_top_words) : 0);
    const uint64_t budget = ebi_budget(p), fourths = t.ages ? TOP_AGES_FOURTHS : TOP_LIST_FOURTHS;
    const uint64_t memory = a->given[EBI_O_CELLS] ? top_light_bytes(&t, p->opt[EBI_O_CELLS]) *
                                                        TOP_FOURTHS / (TOP_FOURTHS - fourths)
                                                  : budget - ebi_min(budget, fixed);
    EBI_TRY(top_resolve_list(p, a, &t, memory, err));
    EBI_TRY(top_resolve_light(p, a, &t, memory, err));
    if (t.ages) EBI_TRY(top_shape_ages(p, p->opt[EBI_O_CELLS], &t, err));
    p->span = sizeof(ebi_block_head) + fixed + p->opt[EBI_TOP_LIST] +
              top_light_bytes(&t, p->opt[EBI_O_CELLS]);
    p->value_min = 1;
    return EB_OK;
}

/* Loops */

static const ebi_top_way *top_way(const ebi_top *t) {
    return t->ages ? &ebi_top_ages_way : &ebi_top_list_way;
}

static void top_fetch(const ebi_top *t, const ebi_batch *b, bool far) {
    for (size_t i = 0; far && i < b->n; i++) {
        const uint8_t *const set = ebi_top_set_of(t, b->hash[i]);
        for (size_t line = 0; line < EBI_SET_FIXED; line += 64) ebi_prefetch_write(set + line);
    }
}

static void top_add_all(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen,
                        double *count) {
    assert(b->n > 0 && b->n <= EBI_BATCH);
    const ebi_top t = ebi_top_open(p, block);
    top_fetch(&t, b, ebi_is_far(p));
    if (t.words && t.words->first == 0) t.words->first = ebi_plus(b->time[0], 1);
    top_way(&t)->add(&t, b, seen, count);
}

static void top_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen) {
    top_add_all(p, block, b, seen, NULL);
}

static void top_add_count(const ebi_params *p, uint8_t *block, const ebi_batch *b, double *after) {
    top_add_all(p, block, b, NULL, after);
}

static void top_count(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                      double *count) {
    const ebi_top t = ebi_top_open(p, block);
    for (size_t i = 0; i < b->n; i++)
        count[i] = top_way(&t)->upper(&t, b->hash[i], b->time ? b->time[i] : 0);
}

static void top_test(const ebi_params *p, const uint8_t *block, const ebi_batch *b, uint8_t *seen) {
    double count[EBI_BATCH];
    top_count(p, block, b, count);
    for (size_t i = 0; i < b->n; i++) seen[i] = count[i] > 0;
}

/* The list */

static bool top_next(const ebi_params *p, const uint8_t *block, uint64_t time, uint64_t *at,
                     ebi_kept *out) {
    const ebi_top t = ebi_top_open(p, block);
    while (*at < t.sets.n * EBI_SET_ENTRIES)
        if (top_way(&t)->entry(&t, (*at)++, time, out)) return true;
    return false;
}

static void top_sums(const ebi_params *p, const uint8_t *block, uint64_t time, ebi_kept_sums *out) {
    const ebi_top t = ebi_top_open(p, block);
    *out = (ebi_kept_sums){.total = top_way(&t)->total(&t, time)};
    out->first = t.words ? t.words->first - 1 : UINT64_MAX;
    for (uint64_t i = 0; i < t.sets.n; i++)
        out->watermark = fmax(out->watermark, top_way(&t)->rest(&t, i, time));
}

static double top_lower(const ebi_params *p, const uint8_t *block, uint64_t time, eb_hash h) {
    const ebi_top t = ebi_top_open(p, block);
    return top_way(&t)->lower(&t, h, time);
}

/* Merging */

void ebi_top_union_put(ebi_top_union *u, ebi_set_entry e) {
    assert(u->n < EBI_COUNT_OF(u->e));
    unsigned i = u->n++;
    for (; i > 0 && (u->e[i - 1].upper < e.upper ||
                     (u->e[i - 1].upper == e.upper && u->e[i - 1].hash > e.hash));
         i--)
        u->e[i] = u->e[i - 1];
    u->e[i] = e;
}

static void top_merge(const ebi_params *p, uint8_t *into, const ebi_params *q,
                      const uint8_t *from) {
    (void)q;
    const ebi_top a = ebi_top_open(p, into), b = ebi_top_open(p, from);
    top_way(&a)->merge(&a, &b, ebi_max(ebi_head_of(into)->clock, ebi_head_of(from)->clock));
    if (a.words) /* none, which is 0, comes after all others */
        a.words->first = ebi_min(a.words->first - 1, b.words->first - 1) + 1;
}

/* The whole filter */

static uint64_t top_caps(const ebi_params *p) {
    return EB_CAN_COUNT | EB_USES_VALUE | EB_CAN_MERGE | EB_KEEPS_KEYS |
           (p->opt[EBI_TOP_BY] == EBI_TOP_BY_NO ? EB_NO_FALSE_NEGATIVES
                                                : EB_USES_TIME | EB_FORGETS);
}

static bool top_check_words(const ebi_top *t, uint64_t time) {
    return !t->words || (ebi_is_zero(t->words->reserved, sizeof t->words->reserved) &&
                         t->words->first <= ebi_plus(time, 1));
}

static bool top_check_set(const ebi_top *t, uint64_t i) {
    const uint8_t *const set = ebi_set_at(&t->sets, i);
    bool good = ebi_set_check(&t->sets, set, t->ages);
    for (int j = 0; good && j < EBI_SET_ENTRIES; j++)
        good = ebi_set_upper(set, j) == 0 || ebi_top_set_of(t, ebi_set_hash(set, j)) == set;
    return good;
}

static eb_status top_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    const ebi_top t = ebi_top_open(p, block);
    const uint64_t clock = ebi_head_of(block)->clock;
    bool good = top_check_words(&t, clock);
    for (uint64_t i = 0; good && i < t.sets.n; i++) good = top_check_set(&t, i);
    if (good && top_way(&t)->check(&t, clock)) return EB_OK;
    return ebi_fail(err, EB_EFORMAT, "damaged top filter: its lists are invalid");
}

static void top_stat(const ebi_params *p, const uint8_t *block, eb_stats *out) {
    const ebi_top t = ebi_top_open(p, block);
    const uint64_t clock = ebi_head_of(block)->clock;
    uint64_t open = 0;
    top_way(&t)->stat(&t, clock, out);
    for (uint64_t i = 0; i < t.sets.n; i++) {
        open += top_way(&t)->rest(&t, i, clock) > 0;
        for (int j = 0; j < EBI_SET_ENTRIES; j++)
            out->saturated += ebi_set_upper(ebi_set_at(&t.sets, i), j) == EBI_SET_COUNT_MAX;
    }
    out->fpr *= (double)open / (double)t.sets.n; /* the other sets know all their keys */
}

/* Predicts as if all keys were in the light part and none were listed.  Listed keys have smaller
 * errors, and sets that never refused a key mistake no key for another one.  There is no formula
 * for the number of such sets, so rates are bounds. */
static void top_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    const ebi_top t = top_shape(p);
    top_way(&t)->predict(&t, w, out);
    if (!isnan(out->fpr)) {
        out->fpr_low = 0;
        out->fpr_high = out->fpr;
    }
    if (!isnan(out->fnr) && out->fnr > 0) {
        out->fnr_low = 0;
        out->fnr_high = out->fnr;
        out->fnr = out->mean_fnr = NAN;
    }
    out->fpr = out->mean_fpr = out->fill = NAN;
}

static void top_fading(const ebi_params *p, ebi_faded_counts *out) {
    const ebi_top t = top_shape(p);
    *out = (ebi_faded_counts){0};
    if (t.ages)
        ebi_kind_aging.timed->fading(&t.aging, out);
    else if (t.halves)
        *out = (ebi_faded_counts){.halflife = (double)p->opt[EBI_TOP_PERIOD] / EBI_TOP_MILLION,
                                  .epsilon = ebi_decay_epsilon(&t.fading),
                                  .excess = ebi_decay_excess(&t.fading)};
}

static const ebi_keeping top_keeping = {top_next, top_sums, top_lower};
static const ebi_timed top_timed = {.fading = top_fading};

const ebi_kind ebi_kind_top = {
    .info = {"top", "counts keys, and keeps those that occur most often", "everbloom's own",
             EB_CAN_COUNT | EB_NO_FALSE_NEGATIVES | EB_USES_VALUE | EB_USES_TIME | EB_FORGETS |
                 EB_CAN_MERGE | EB_KEEPS_KEYS,
             top_options, "Which keys occur most often, since the beginning or lately?"},
    .version = 1,
    .caps = top_caps,
    .resolve = top_resolve,
    .ops = {.add = top_add, .test = top_test, .count = top_count, .add_count = top_add_count},
    .traits = EBI_MERGE_BOUNDS,
    .merge = top_merge,
    .keeping = &top_keeping,
    .timed = &top_timed,
    .check = top_check,
    .stat = top_stat,
    .predict = top_predict,
};
