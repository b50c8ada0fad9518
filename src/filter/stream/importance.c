/* importance.c - importance-aware Bloom filters (Bhoraskar, Gabale, Kulkarni and Kulkarni, 2013):
 * like stable (countdown.h), but the more important a key is, the longer it is remembered.  Kept as
 * published.
 *
 * A key's cells are raised to f(value), 1..M, where value is its importance in low..high.  False
 * positives do not depend on importance; false negatives are rarer for important keys.
 *
 *     map=linear      f = 1 + floor((value-low) M / (high-low+1))
 *     map=threshold   M from importance `at` on, 1 below
 *     map=table       the n entries of `table`, for n equal slices of low..high
 *
 *     policy=mc       a cell becomes max(cell, f)
 *     policy=2c       two classes: f <= M/2 counts as M/2 (rounded down), else as M
 *     policy=h        like mc, but each arrival takes exactly P units, from cells drawn with weight
 *                     1/value: unimportant cells fade first
 *     policy=hb       like mc; P cells are drawn, and one of value v loses 1 with probability 1/v:
 *                     statistically the same as h, without its search
 *
 * raise= is for 2c, which the paper defines in three ways: max (its Markov chain; the default),
 * printed (Algorithm 1: an unimportant key on a cell >= M/2 promotes it to M) and overwrite (its
 * text: a cell becomes M/2 or M).
 *
 * With delete=sweep, a key of value v is certainly found again while fewer than (v-1) m/P keys came
 * since.  At the same P this filter has fewer false positives and more false negatives than stable,
 * so compare them at equal FPR. If gap= is given, width, k, fade and the map are chosen for the
 * least expected weight of forgotten keys.  The best maps are nearly thresholds.
 *
 * profile=a:b:c says how arrivals spread over equal slices of low..high, for predictions only.  The
 * draws of h and hb are: the rounding of P; then, for each probe, the cell and, if its value is
 * above 1, whether to take. */
#include "countdown.h"
#include <math.h>

enum {
    IMPORTANCE_O_POLICY = COUNTDOWN_O_END,
    IMPORTANCE_O_RULE,
    IMPORTANCE_O_LOW,
    IMPORTANCE_O_HIGH,
    IMPORTANCE_O_MAP,
    IMPORTANCE_O_AT,
    IMPORTANCE_O_TABLE,
    IMPORTANCE_O_PROFILE,
    IMPORTANCE_O_GAP
};
enum { IMPORTANCE_POLICY_MC, IMPORTANCE_POLICY_2C, IMPORTANCE_POLICY_H, IMPORTANCE_POLICY_HB };
enum { IMPORTANCE_RULE_MAX, IMPORTANCE_RULE_PRINTED, IMPORTANCE_RULE_OVERWRITE };
enum { IMPORTANCE_MAP_LINEAR, IMPORTANCE_MAP_THRESHOLD, IMPORTANCE_MAP_TABLE };

static const eb_option importance_options[] = {
    COUNTDOWN_OPTIONS("3", NULL),
    {"policy", "mc|2c|h|hb", "mc", NULL, NULL, "classes, and which cells fade first", false},
    {"raise", "max|printed|overwrite", "max", NULL, NULL, "of 2c: how a cell is raised", false},
    {"low", "int", "1", "0", "4294967295", "smallest importance", false},
    {"high", "int", "100", "0", "4294967295", "largest importance", false},
    {"map", "linear|threshold|table", "linear", NULL, NULL, "from importance to cell value", false},
    {"at", "int", NULL, "0", "4294967295", "map=threshold: important from here on", false},
    {"table", "list", NULL, "1", "255", "map=table: cell values for equal slices", false},
    {"profile", "list", "1", "1", "255", "shares of arrivals in equal slices", false},
    {"gap", "count", NULL, "1", "1e14", "keys between repeats; sets width, k, fade and map", true},
    {0}};

/* From importance to cell value */

static unsigned importance_list_len(uint64_t list) {
    return list == 0 ? 0 : ebi_log2(list) / 8 + 1;
}

EBI_INLINE unsigned importance_entry(uint64_t list, uint64_t i) {
    assert(i < importance_list_len(list));
    return (unsigned)(list >> (8 * i)) & 0xff;
}

/* The slice of low..high that a value is in, if there are `slices` equal ones.  Divides by the size
 * of the range, by a multiplication where that is exact. */
enum { IMPORTANCE_INVERSE, IMPORTANCE_RANGE_MAX = 1 << 28 };

EBI_INLINE uint64_t importance_slice(const ebi_params *p, uint64_t value, uint64_t slices) {
    assert(slices >= 1);
    const uint64_t range = p->opt[IMPORTANCE_O_HIGH] - p->opt[IMPORTANCE_O_LOW] + 1,
                   x = (value - p->opt[IMPORTANCE_O_LOW]) * slices;
    return range < IMPORTANCE_RANGE_MAX ? eb_scale(x, p->derived[IMPORTANCE_INVERSE]) : x / range;
}

static uint64_t
importance_inverse(const ebi_params *p) { /* ceil(2^64 / range); if there is only one value, 0 */
    const uint64_t range = p->opt[IMPORTANCE_O_HIGH] - p->opt[IMPORTANCE_O_LOW] + 1;
    return range == 1 ? 0 : UINT64_MAX / range + 1;
}

static unsigned importance_map(const ebi_params *p, uint64_t value) {
    assert(value >= p->value_min && value <= p->value_max);
    const unsigned top = (unsigned)ebi_countdown_top(p);
    unsigned f;
    if (p->opt[IMPORTANCE_O_MAP] == IMPORTANCE_MAP_LINEAR)
        f = 1 + (unsigned)importance_slice(p, value, top);
    else if (p->opt[IMPORTANCE_O_MAP] == IMPORTANCE_MAP_THRESHOLD)
        f = value >= p->opt[IMPORTANCE_O_AT] ? top : 1;
    else
        f = importance_entry(
            p->opt[IMPORTANCE_O_TABLE],
            importance_slice(p, value, importance_list_len(p->opt[IMPORTANCE_O_TABLE])));
    if (p->opt[IMPORTANCE_O_POLICY] == IMPORTANCE_POLICY_2C) f = f <= top / 2 ? top / 2 : top;
    return f;
}

/* Formulas */

enum { IMPORTANCE_STEPS = 4096 };

/* Calls `visit` for evenly spread importances, with their shares of the arrivals. */
typedef void importance_visit(void *context, uint64_t value, unsigned f, double share);
static void importance_each(const ebi_params *p, importance_visit *visit, void *context) {
    const uint64_t low = p->opt[IMPORTANCE_O_LOW], range = p->opt[IMPORTANCE_O_HIGH] - low + 1;
    const uint64_t steps = ebi_min(range, IMPORTANCE_STEPS), profile = p->opt[IMPORTANCE_O_PROFILE];
    const unsigned slices = importance_list_len(profile);
    double sum = 0;
    for (uint64_t i = 0; i < steps; i++)
        sum += importance_entry(profile, importance_slice(p, low + i * range / steps, slices));
    for (uint64_t i = 0; i < steps; i++) {
        const uint64_t value = low + i * range / steps;
        const unsigned weight = importance_entry(profile, importance_slice(p, value, slices));
        visit(context, value, importance_map(p, value), weight / sum);
    }
}

static void importance_add_share(void *context, uint64_t value, unsigned f, double share) {
    double *const shares = context;
    (void)value;
    shares[f] += share;
}

static ebi_chain_rule importance_rule(const ebi_params *p) {
    if (p->opt[IMPORTANCE_O_POLICY] == IMPORTANCE_POLICY_H) return EBI_CHAIN_RECIPROCAL;
    if (p->opt[IMPORTANCE_O_POLICY] == IMPORTANCE_POLICY_HB) return EBI_CHAIN_PROBES;
    if (p->opt[IMPORTANCE_O_RULE] == IMPORTANCE_RULE_PRINTED) return EBI_CHAIN_PROMOTE;
    if (p->opt[IMPORTANCE_O_RULE] == IMPORTANCE_RULE_OVERWRITE) return EBI_CHAIN_OVERWRITE;
    return p->opt[COUNTDOWN_O_DELETE] == EBI_FADE_SWEEP ? EBI_CHAIN_SWEEP : EBI_CHAIN_MAX;
}

static void importance_chain(const ebi_params *p, ebi_chain *c) {
    double shares[EBI_CHAIN_MAX_LEVELS + 1] = {0};
    importance_each(p, importance_add_share, shares);
    ebi_chain_init(c, importance_rule(p), (double)p->opt[EBI_O_CELLS],
                   (double)p->opt[COUNTDOWN_O_K], (double)p->opt[COUNTDOWN_O_P] / EBI_MILLION,
                   (int)ebi_countdown_top(p));
    c->distinct = false;
    ebi_chain_classes(c, shares);
}

typedef struct importance_loss { /* of repeats after gap arrivals, n in all */
    double fnr[EBI_CHAIN_MAX_LEVELS + 1];
    double mean, weighted, weight;
} importance_loss;

static void importance_add_loss(void *context, uint64_t value, unsigned f, double share) {
    importance_loss *const loss = context;
    loss->mean += share * loss->fnr[f];
    loss->weighted += share * (double)value * loss->fnr[f];
    loss->weight += share * (double)value;
}

static void importance_lose(const ebi_params *p, const ebi_chain *c, double gap, double n,
                            importance_loss *loss) {
    assert(gap >= 0);
    *loss = (importance_loss){.mean = 0};
    double zero[EBI_CHAIN_MAX_LEVELS + 1];
    ebi_chain_zeros_of(c, gap, n, zero);
    for (int v = 1; v <= c->levels; v++) {
        const bool used = c->tail[v] > c->tail[v + 1];
        loss->fnr[v] = used ? ebi_one_minus_pow1m(fmin(1, zero[v]), c->hashes) : 0;
    }
    importance_each(p, importance_add_loss, loss);
}

static void importance_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    ebi_chain c;
    importance_loss loss;
    importance_chain(p, &c);
    ebi_countdown_predict(&c, w, out);
    if (!(w->gap > 0)) return;
    const double items = w->items > 0 ? w->items : INFINITY;
    if (w->value > 0) {
        const double value = fmin(fmax(w->value, p->value_min), p->value_max);
        out->fnr = ebi_chain_fnr(&c, (int)importance_map(p, (uint64_t)value), w->gap, items);
    } else {
        importance_lose(p, &c, w->gap, items, &loss);
        out->fnr = loss.mean;
    }
    out->mean_fnr = out->fnr;
}

/* Planning: the least expected weight of forgotten keys at the wanted FPR. */

typedef struct importance_best {
    ebi_params p;
    double loss;
} importance_best;

static void importance_try(importance_best *best, const ebi_params *p, double fpr, double gap) {
    ebi_chain c;
    importance_loss loss;
    importance_chain(p, &c);
    c.deletes = ebi_chain_deletes_for(&c, fpr);
    if (c.deletes > c.cells / 2 || ebi_chain_fpr(&c, INFINITY) > fpr * 1.001) return;
    importance_lose(p, &c, gap, INFINITY, &loss);
    if (loss.weighted / loss.weight < best->loss) {
        best->loss = loss.weighted / loss.weight;
        best->p = *p;
        best->p.opt[COUNTDOWN_O_P] = (uint64_t)ceil(c.deletes * EBI_MILLION);
    }
}

/* Tries tables that give up the lowest slices (1), keep the highest (M), and give one slice between
 * them any value. */
static void importance_try_tables(importance_best *best, ebi_params *p, double fpr, double gap) {
    const unsigned top = (unsigned)ebi_countdown_top(p);
    const unsigned profile = importance_list_len(p->opt[IMPORTANCE_O_PROFILE]),
                   n = profile > 1 ? profile : 8;
    p->opt[IMPORTANCE_O_MAP] = IMPORTANCE_MAP_TABLE;
    for (unsigned kept_from = 0; kept_from <= n; kept_from++) {
        for (unsigned between = 1; between <= (kept_from == 0 ? 1 : top); between++) {
            p->opt[IMPORTANCE_O_TABLE] = 0;
            for (unsigned i = 0; i < n; i++) {
                const unsigned f = i >= kept_from ? top : i + 1 == kept_from ? between : 1;
                p->opt[IMPORTANCE_O_TABLE] |= (uint64_t)f << (8 * i);
            }
            importance_try(best, p, fpr, gap);
        }
    }
}

static eb_status importance_plan(ebi_params *p, ebi_args *a, eb_error *err) {
    importance_best best = {.loss = INFINITY};
    for (uint64_t width = 1; width <= 4; width++) {
        if (a->given[COUNTDOWN_O_WIDTH] && width != p->opt[COUNTDOWN_O_WIDTH]) continue;
        for (uint64_t k = 1; k <= 10; k++) {
            if (a->given[COUNTDOWN_O_K] && k != p->opt[COUNTDOWN_O_K]) continue;
            ebi_params trial = *p;
            trial.opt[COUNTDOWN_O_WIDTH] = width;
            trial.opt[COUNTDOWN_O_K] = k;
            EBI_TRY(
                ebi_size_cells(&trial, a, "importance", (unsigned)width, 1, COUNTDOWN_FIXED, err));
            importance_try(&best, &trial, a->real[COUNTDOWN_O_FPR], a->real[IMPORTANCE_O_GAP]);
            if (!a->given[IMPORTANCE_O_MAP])
                importance_try_tables(&best, &trial, a->real[COUNTDOWN_O_FPR],
                                      a->real[IMPORTANCE_O_GAP]);
        }
    }
    if (isinf(best.loss))
        return ebi_fail(err, EB_ESPEC, "importance: no filter of this size has fpr=%g",
                        a->real[COUNTDOWN_O_FPR]);
    *p = best.p;
    a->given[COUNTDOWN_O_WIDTH] = a->given[COUNTDOWN_O_K] = a->given[COUNTDOWN_O_P] = true;
    a->given[COUNTDOWN_O_FPR] = false;
    return EB_OK;
}

/* Parameters */

static eb_status importance_refuse(eb_error *err, const char *why) {
    return ebi_fail(err, EB_ESPEC, "importance: %s", why);
}

static eb_status importance_check_policy(ebi_params *p, const ebi_args *a, eb_error *err) {
    const uint64_t policy = p->opt[IMPORTANCE_O_POLICY];
    const bool draws = policy == IMPORTANCE_POLICY_H || policy == IMPORTANCE_POLICY_HB;
    if (!a->given[COUNTDOWN_O_DELETE])
        p->opt[COUNTDOWN_O_DELETE] = draws ? EBI_FADE_RANDOM : EBI_FADE_SWEEP;
    if (draws && p->opt[COUNTDOWN_O_DELETE] != EBI_FADE_RANDOM)
        return importance_refuse(err, "policy=h and hb draw their cells: delete must be random");
    if (p->opt[IMPORTANCE_O_RULE] != IMPORTANCE_RULE_MAX) {
        if (policy != IMPORTANCE_POLICY_2C)
            return importance_refuse(err, "raise=printed and overwrite are for policy=2c only");
        if (!a->given[COUNTDOWN_O_DELETE]) p->opt[COUNTDOWN_O_DELETE] = EBI_FADE_RANDOM;
        if (p->opt[COUNTDOWN_O_DELETE] == EBI_FADE_SWEEP)
            return importance_refuse(err, "raise=printed and overwrite need delete=random or run");
    }
    if (policy == IMPORTANCE_POLICY_2C && p->opt[COUNTDOWN_O_WIDTH] < 2)
        return importance_refuse(err, "policy=2c needs a width of 2..8, not 1");
    return EB_OK;
}

static eb_status importance_check_range(ebi_params *p, eb_error *err) {
    if (p->opt[IMPORTANCE_O_LOW] > p->opt[IMPORTANCE_O_HIGH])
        return ebi_fail(err, EB_ESPEC, "importance: low must be at most high=%llu, not %llu",
                        (unsigned long long)p->opt[IMPORTANCE_O_HIGH],
                        (unsigned long long)p->opt[IMPORTANCE_O_LOW]);
    p->derived[IMPORTANCE_INVERSE] = importance_inverse(p);
    p->value_min = (uint32_t)p->opt[IMPORTANCE_O_LOW];
    p->value_max = (uint32_t)p->opt[IMPORTANCE_O_HIGH];
    return EB_OK;
}

static eb_status importance_check_table(const ebi_params *p, eb_error *err) {
    for (unsigned i = 0; i < importance_list_len(p->opt[IMPORTANCE_O_TABLE]); i++)
        if (importance_entry(p->opt[IMPORTANCE_O_TABLE], i) > ebi_countdown_top(p))
            return ebi_fail(err, EB_ESPEC,
                            "importance: table must hold 1..%llu with width=%llu, not %u",
                            (unsigned long long)ebi_countdown_top(p),
                            (unsigned long long)p->opt[COUNTDOWN_O_WIDTH],
                            importance_entry(p->opt[IMPORTANCE_O_TABLE], i));
    return EB_OK;
}

static eb_status importance_check_map(ebi_params *p, const ebi_args *a, eb_error *err) {
    const uint64_t map = p->opt[IMPORTANCE_O_MAP];
    if (map == IMPORTANCE_MAP_THRESHOLD && !a->given[IMPORTANCE_O_AT])
        return importance_refuse(err, "map=threshold needs at=, the least important importance");
    if (map == IMPORTANCE_MAP_TABLE && !a->given[IMPORTANCE_O_TABLE] && !a->given[IMPORTANCE_O_GAP])
        return importance_refuse(err, "map=table needs table=, as in table=1:6:7:7");
    if (map == IMPORTANCE_MAP_THRESHOLD && (p->opt[IMPORTANCE_O_AT] < p->opt[IMPORTANCE_O_LOW] ||
                                            p->opt[IMPORTANCE_O_AT] > p->opt[IMPORTANCE_O_HIGH]))
        return ebi_fail(err, EB_ESPEC, "importance: at must be %llu..%llu, not %llu",
                        (unsigned long long)p->opt[IMPORTANCE_O_LOW],
                        (unsigned long long)p->opt[IMPORTANCE_O_HIGH],
                        (unsigned long long)p->opt[IMPORTANCE_O_AT]);
    if (map != IMPORTANCE_MAP_THRESHOLD) p->opt[IMPORTANCE_O_AT] = p->opt[IMPORTANCE_O_LOW];
    if (map != IMPORTANCE_MAP_TABLE) p->opt[IMPORTANCE_O_TABLE] = 1;
    return importance_check_table(p, err);
}

/* h takes P units at each arrival, whatever the cells hold.  At most K f come in. */
static eb_status importance_check_balance(const ebi_params *p, eb_error *err) {
    double shares[EBI_CHAIN_MAX_LEVELS + 1] = {0}, mean = 0;
    if (p->opt[IMPORTANCE_O_POLICY] != IMPORTANCE_POLICY_H) return EB_OK;
    importance_each(p, importance_add_share, shares);
    for (int v = 1; v <= EBI_CHAIN_MAX_LEVELS; v++) mean += v * shares[v];
    const double limit = mean * (double)p->opt[COUNTDOWN_O_K],
                 take = (double)p->opt[COUNTDOWN_O_P] / EBI_MILLION;
    if (take < limit) return EB_OK;
    return ebi_fail(err, EB_ESPEC,
                    "importance: policy=h would empty itself: p must be below k times the mean "
                    "cell value of the profile, %g, not %g",
                    limit, take);
}

static eb_status importance_resolve(ebi_params *p, const ebi_args *given, eb_error *err) {
    ebi_args a = *given;
    if (a.given[IMPORTANCE_O_GAP] && a.given[COUNTDOWN_O_P])
        return importance_refuse(err, "give gap or fade, not both");
    EBI_TRY(importance_check_policy(p, &a, err));
    EBI_TRY(importance_check_range(p, err));
    EBI_TRY(importance_check_map(p, &a, err));
    if (a.given[IMPORTANCE_O_GAP]) EBI_TRY(importance_plan(p, &a, err));
    EBI_TRY(ebi_countdown_resolve(p, &a, "importance", importance_chain, err));
    return importance_check_balance(p, err);
}

/* Loops */

enum {
    IMPORTANCE_H_TRIES = 256
}; /* probes for one unit, before it gives up on an almost empty filter */

EBI_INLINE bool importance_take(const ebi_countdown *c) { /* true: a unit was taken */
    const uint64_t cell = ebi_random_below(c->fading.rng, c->fading.n);
    const uint64_t value = ebi_cell_get(c->cells, c->width, cell);
    if (value == 0 || (value > 1 && ebi_random_below(c->fading.rng, value) != 0)) return false;
    ebi_cell_set(c->cells, c->width, cell, value - 1);
    if (value == 1 && c->p->opt[IMPORTANCE_O_POLICY] == IMPORTANCE_POLICY_H) c->state->used--;
    return true;
}

static void importance_forget_by_value(const ebi_countdown *c) {
    const bool search = c->p->opt[IMPORTANCE_O_POLICY] == IMPORTANCE_POLICY_H;
    for (uint64_t n = ebi_fading_rounded(&c->fading, c->fading.rng); n > 0; n--) {
        if (search && c->state->used == 0) return;
        for (int tries = search ? IMPORTANCE_H_TRIES : 1; tries > 0 && !importance_take(c);
             tries--) {
        }
    }
}

EBI_INLINE void importance_forget(const ebi_countdown *c) {
    if (c->p->opt[IMPORTANCE_O_POLICY] <= IMPORTANCE_POLICY_2C)
        ebi_fading_arrival(&c->fading);
    else
        importance_forget_by_value(c);
}

EBI_INLINE uint64_t importance_raised(const ebi_countdown *c, uint64_t cell, uint64_t f) {
    const uint64_t top = ebi_ones(c->width);
    if (c->p->opt[IMPORTANCE_O_RULE] == IMPORTANCE_RULE_OVERWRITE) return f;
    if (c->p->opt[IMPORTANCE_O_RULE] == IMPORTANCE_RULE_PRINTED && cell >= top / 2) return top;
    return ebi_max(cell, f);
}

EBI_INLINE void importance_place(const ebi_countdown *c, const ebi_batch *b, size_t i,
                                 const uint64_t *at, unsigned k) {
    assert(i < b->n);
    const unsigned f = importance_map(c->p, b->value[i]);
    for (unsigned j = 0; j < k; j++) {
        const uint64_t cell = ebi_cell_get(c->cells, c->width, at[j]);
        if (cell == 0 && c->p->opt[IMPORTANCE_O_POLICY] == IMPORTANCE_POLICY_H) c->state->used++;
        ebi_cell_set(c->cells, c->width, at[j], importance_raised(c, cell, f));
    }
}

EBI_INLINE void importance_add(const ebi_params *p, uint8_t *block, const ebi_batch *b,
                               uint8_t *seen, unsigned k, bool far) {
    assert(b->n <= EBI_BATCH);
    ebi_countdown_add(p, block, b, seen, k, far, importance_forget, importance_place);
}

#define importance_test ebi_countdown_test
#define importance_k ebi_countdown_k
EBI_LOOPS(importance)

static eb_status importance_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    return ebi_countdown_check(p, block, p->opt[IMPORTANCE_O_POLICY] == IMPORTANCE_POLICY_H, err);
}

const ebi_kind ebi_kind_importance = {
    .info = {"importance", "important keys are remembered longer (value = importance)",
             "Bhoraskar et al., Importance-aware Bloom filter for managing set membership queries "
             "on streaming data, 2013",
             EB_FORGETS | EB_USES_VALUE, importance_options, NULL},
    .version = 1,
    .resolve = importance_resolve,
    .select = importance_loops,
    .check = importance_check,
    .stat = ebi_countdown_stat,
    .predict = importance_predict,
    .view = ebi_countdown_view,
};
