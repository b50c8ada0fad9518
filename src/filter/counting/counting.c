/* counting.c - what all filters that count share: sizes, removing, merging, checking and
 * predictions. counting.h has the layout. */
#include "counting.h"
#include "math/probability.h"
#include <math.h>
#include <string.h>

/* Stores */

const ebi_store *ebi_counting_store(const ebi_params *p) {
    assert(p->opt[EBI_C_STORE] <= 3);
    const uint64_t number = p->opt[EBI_C_STORE]; /* the same order as in the options' lists */
    if (number == 0) return &ebi_store_u32;
    if (number == 1) return ebi_store_line();
    return number == 2 ? ebi_store_sai() : ebi_store_wide();
}

/* Counters in a block */

uint64_t ebi_counting_bytes(const ebi_params *p, uint64_t n) {
    return ebi_counters_bytes(ebi_counting_store(p), n, p->opt[EBI_C_BITS]);
}

uint64_t ebi_counting_first_bytes(const ebi_params *p) {
    return p->opt[EBI_C_FROZEN] ? p->opt[EBI_C_ROOM] : ebi_counting_bytes(p, p->opt[EBI_O_CELLS]);
}

ebi_counting ebi_counting_shape(const ebi_params *p, const ebi_store *store, uint64_t n) {
    assert(p->opt[EBI_C_K] >= 1 && p->opt[EBI_C_K] <= EBI_COUNTING_K_MAX && n > 0);
    ebi_counting c = {.store = store, .n = n, .k = (unsigned)p->opt[EBI_C_K], .linear = true};
    c.window = p->opt[EBI_C_WINDOW] == 0 ? n : ebi_min(p->opt[EBI_C_WINDOW], n);
    c.part = c.window / c.k;
    c.joins = ebi_counting_store(p)->group != NULL;
    return c;
}

ebi_counting ebi_counting_first(const ebi_params *p) {
    return ebi_counting_shape(p, p->opt[EBI_C_FROZEN] ? ebi_frozen_line() : ebi_counting_store(p),
                              p->opt[EBI_O_CELLS]);
}

ebi_counting ebi_counting_open(const ebi_params *p, const uint8_t *block) {
    ebi_counting c = ebi_counting_first(p);
    c.bytes = ebi_counting_first_bytes(p);
    c.counters = ebi_counters(c.store, block + EBI_COUNTING_FIXED, c.n, c.bytes);
    c.total = &ebi_counting_state(block)->total;
    return c;
}

bool ebi_counting_check(const ebi_counting *c, const ebi_counting_words *state) {
    return ebi_is_zero(state->reserved, sizeof state->reserved) && state->sealed <= 1 &&
           state->total <= EBI_COUNTER_MAX && c->store->check(&c->counters) &&
           (state->sealed == 1 || ebi_counting_adds_up(c));
}

bool ebi_counting_is_sums(const ebi_counting *c) {
    return !c->joins || *c->total == EBI_COUNTER_MAX || ebi_counting_saturated(c) > 0 ||
           ebi_counting_sum_of_all(c) == (double)*c->total * c->k;
}

/* Whether the counters match the total: a key adds to k counters, or lifts at most k.  Sums of
 * joined counters may be larger: see ebi_counting_is_sums. */
bool ebi_counting_adds_up(const ebi_counting *c) {
    const double all = (double)*c->total * c->k;
    if (*c->total == EBI_COUNTER_MAX || ebi_counting_saturated(c) > 0) return true;
    const double sum = ebi_counting_sum_of_all(c);
    return !c->linear ? sum <= all : c->joins ? sum >= all : sum == all;
}

uint64_t ebi_counting_cells(const ebi_store *store, uint64_t budget, uint64_t bits) {
    const uint64_t fixed = ebi_counters_bytes(store, 0, bits);
    if (budget < fixed) return 0;
    if (bits == 0) bits = store->bits_usual;
    uint64_t cells = (uint64_t)((double)(budget - fixed + 64) * 8e6 / (double)bits);
    while (ebi_counters_bytes(store, cells, bits) > budget) cells--;
    return cells;
}

/* Parameters */

eb_status ebi_counting_resolve_bits(ebi_params *p, const ebi_args *a, const char *kind,
                                    eb_error *err) {
    const ebi_store *const store = ebi_counting_store(p);
    const size_t o_bits = EBI_C_BITS;
    if (store->group) { /* the size is fixed, so there is no option */
        p->opt[o_bits] = 0;
        if (!a->given[o_bits]) return EB_OK;
        return ebi_fail(err, EB_ESPEC,
                        "%s: counter_bits is not for store=%s, whose counters have %g each", kind,
                        store->name, (double)store->bits_usual / 1e6);
    }
    if (!a->given[o_bits]) p->opt[o_bits] = store->bits_usual;
    if (p->opt[o_bits] >= store->bits_least) return EB_OK;
    return ebi_fail(err, EB_ESPEC, "%s: counter_bits must be at least %g with store=%s, not %g",
                    kind, (double)store->bits_least / 1e6, store->name,
                    (double)p->opt[o_bits] / 1e6);
}

eb_status ebi_counting_resolve_cells(ebi_params *p, const ebi_args *a, const char *kind,
                                     const ebi_store *store, uint64_t bits, uint64_t fixed,
                                     eb_error *err) {
    const uint64_t budget = ebi_budget(p);
    if (a->given[EBI_O_CELLS]) return EB_OK;
    p->opt[EBI_O_CELLS] = budget > fixed ? ebi_counting_cells(store, budget - fixed, bits) : 0;
    if (p->opt[EBI_O_CELLS] >= 64) return EB_OK;
    return ebi_fail(err, EB_ESPEC, "%s: memory must be at least %.0f here, not %llu", kind,
                    ebi_memory_for(p, (double)(fixed + ebi_counters_bytes(store, 64, bits))),
                    (unsigned long long)p->opt[EBI_O_MEMORY]);
}

eb_status ebi_counting_resolve_window(ebi_params *p, const ebi_args *a, const char *kind,
                                      size_t o_window, size_t o_k, eb_error *err) {
    assert(o_window < EBI_OPTIONS_MAX && o_k < EBI_OPTIONS_MAX);
    const uint64_t cells = p->opt[EBI_O_CELLS];
    if (!a->given[o_window]) p->opt[o_window] = cells > (1u << 20) ? EBI_COUNTING_WINDOW : 0;
    if (p->opt[o_window] == 0 || (p->opt[o_window] >= p->opt[o_k] && p->opt[o_window] <= cells))
        return EB_OK;
    return ebi_fail(err, EB_ESPEC, "%s: span must be 0 or k..cells, not %llu", kind,
                    (unsigned long long)p->opt[o_window]);
}

static eb_status counting_resolve_frozen(const ebi_params *p, const ebi_args *a, const char *kind,
                                         eb_error *err) {
    const ebi_store *const store = p->opt[EBI_C_FROZEN] ? ebi_frozen_line() : NULL;
    if (!store && a->given[EBI_C_ROOM])
        return ebi_fail(err, EB_ESPEC, "%s: room is only for frozen filters", kind);
    if (!store) return EB_OK;
    if (!a->given[EBI_C_ROOM])
        return ebi_fail(err, EB_ESPEC, "%s: frozen=%s needs room; eb_convert makes frozen filters",
                        kind, store->name);
    if (p->opt[EBI_C_ROOM] % 64 == 0 && store->fits(p->opt[EBI_O_CELLS], p->opt[EBI_C_ROOM]))
        return EB_OK;
    return ebi_fail(
        err, EB_ESPEC, "%s: room must be a multiple of 64 and enough for %llu counters, not %llu",
        kind, (unsigned long long)p->opt[EBI_O_CELLS], (unsigned long long)p->opt[EBI_C_ROOM]);
}

eb_status ebi_counting_resolve(ebi_params *p, const ebi_args *a, const char *kind, eb_error *err) {
    p->value_min = 1;
    EBI_TRY(ebi_counting_resolve_window(p, a, kind, EBI_C_WINDOW, EBI_C_K, err));
    return counting_resolve_frozen(p, a, kind, err);
}

/* Removing */

unsigned ebi_counting_claims(const ebi_params *p) {
    return (unsigned)p->opt[EBI_C_K];
}

static bool counting_claim(const ebi_claims *claims, const void *array, uint64_t place, uint64_t by,
                           uint64_t there) {
    return there == EBI_COUNTER_MAX || ebi_claim(claims, array, place, by, there);
}

size_t ebi_counting_claim(const ebi_counting *c, const ebi_batch *b, const ebi_claims *claims) {
    assert(b->n <= EBI_BATCH);
    uint64_t pos[EBI_BATCH * EBI_COUNTING_K_MAX];
    ebi_counting_fetch(c, b->hash, b->n, pos);
    for (size_t i = 0; i < b->n; i++) {
        if (!counting_claim(claims, c->total, 0, b->value[i], *c->total)) return i;
        for (unsigned j = 0; j < c->k; j++) {
            const uint64_t at = pos[i * c->k + j], there = ebi_counting_get(c, at);
            const uint64_t one = c->store->group ? c->store->group(&c->counters, at) : at;
            if (!counting_claim(claims, c->total, one + 1, b->value[i], there)) return i;
        }
    }
    return b->n;
}

void ebi_counting_remove(const ebi_counting *c, const ebi_batch *b) {
    assert(c->linear);
    assert(b->n <= EBI_BATCH);
    uint64_t pos[EBI_BATCH * EBI_COUNTING_K_MAX];
    ebi_counting_fetch(c, b->hash, b->n, pos);
    for (size_t i = 0; i < b->n; i++) {
        ebi_counting_lower_all(c, pos + i * c->k, b->value[i]);
        if (*c->total < EBI_COUNTER_MAX) *c->total -= b->value[i];
    }
}

/* Counters word by word */

uint64_t ebi_counting_words_of(const ebi_counting *c) {
    return (c->n + EBI_WIDE_CELLS - 1) / EBI_WIDE_CELLS;
}

void ebi_counting_word(const ebi_counting *c, uint64_t word, ebi_wide_word *out) {
    assert(word < ebi_counting_words_of(c));
    const uint64_t first = word * EBI_WIDE_CELLS;
    if (c->store->group) {
        ebi_wide_load(&c->counters, word, out);
        return;
    }
    *out = (ebi_wide_word){{0}, {0}};
    ebi_source_read(&(ebi_source){c->store, &c->counters}, first,
                    ebi_min(EBI_WIDE_CELLS, c->n - first), out->value);
    if (c->joins) ebi_wide_guess(out);
}

void ebi_counting_put(const ebi_counting *c, uint64_t word, const ebi_wide_word *was,
                      ebi_wide_word *w) {
    assert(word < ebi_counting_words_of(c));
    if (c->store->group) {
        ebi_wide_save(&c->counters, word, w, c->linear);
        return;
    }
    for (uint64_t i = word * EBI_WIDE_CELLS, cell = 0; cell < EBI_WIDE_CELLS && i < c->n;
         i++, cell++) {
        const uint64_t before = was ? was->value[cell] : 0, after = w->value[cell];
        if (after > before) (void)ebi_counting_raise(c, i, after - before);
        if (after < before) c->store->sub(&c->counters, i, before - after);
    }
}

void ebi_counting_pair(const ebi_counting *a, const ebi_counting *b, uint64_t word,
                       ebi_wide_word *x, ebi_wide_word *y) {
    assert(a->n == b->n && a->k == b->k && a->window == b->window && a->joins == b->joins);
    ebi_counting_word(a, word, x);
    ebi_counting_word(b, word, y);
    ebi_wide_coarsen(x, y, a->linear);
    ebi_wide_coarsen(y, x, a->linear);
}

/* Skips counters that are 0.  In a new filter few are in use. */
EBI_INLINE uint64_t counting_next(const ebi_counting *c, uint64_t i, uint64_t end) {
    if (i % EBI_WIDE_CELLS > 0 || i >= end || !c->store->next_used) return i;
    return c->store->next_used(&c->counters, i, end);
}

/* The first word from this one on that may have a counter in use, or the end. */
static uint64_t counting_next_word(const ebi_counting *c, uint64_t word) {
    const uint64_t next = counting_next(c, word * EBI_WIDE_CELLS, c->n);
    return next >= c->n ? ebi_counting_words_of(c) : next / EBI_WIDE_CELLS;
}

double ebi_counting_sum_of_all(const ebi_counting *c) {
    double sum = 0;
    for (uint64_t i = counting_next_word(c, 0); i < ebi_counting_words_of(c);
         i = counting_next_word(c, i + 1)) {
        ebi_wide_word w;
        ebi_counting_word(c, i, &w);
        for (unsigned cell = 0; cell < EBI_WIDE_CELLS; cell += 1u << w.level[cell])
            sum += (double)w.value[cell];
    }
    return sum;
}

static uint64_t counting_times(uint64_t value, uint64_t times) {
    uint64_t product;
    return ebi_mul(value, times, &product) ? ebi_min(product, EBI_COUNTER_MAX) : EBI_COUNTER_MAX;
}

void ebi_counting_merge(const ebi_counting *into, const ebi_counting *from, uint64_t times) {
    assert(times >= 1);
    for (uint64_t i = counting_next_word(from, 0); i < ebi_counting_words_of(from);
         i = counting_next_word(from, i + 1)) {
        ebi_wide_word a, b;
        ebi_counting_pair(into, from, i, &a, &b);
        const ebi_wide_word was = a;
        for (unsigned cell = 0; cell < EBI_WIDE_CELLS; cell++)
            a.value[cell] = ebi_counter_sum(ebi_min(a.value[cell], EBI_COUNTER_MAX),
                                            counting_times(b.value[cell], times));
        ebi_counting_put(into, i, &was, &a);
    }
    ebi_counting_raise_total(into, counting_times(*from->total, times));
}

bool ebi_counting_contains(const ebi_counting *all, const ebi_counting *part, uint64_t times) {
    assert(times >= 1);
    bool contained = *all->total >= counting_times(*part->total, times);
    for (uint64_t i = 0; contained && i < ebi_counting_words_of(all); i++) {
        ebi_wide_word a, b;
        ebi_counting_pair(all, part, i, &a, &b);
        for (unsigned cell = 0; cell < EBI_WIDE_CELLS; cell++)
            contained = contained && a.value[cell] >= counting_times(b.value[cell], times);
    }
    return contained;
}

void ebi_counting_subtract(const ebi_counting *from, const ebi_counting *part, uint64_t times) {
    assert(from->linear && times >= 1);
    for (uint64_t i = 0; i < ebi_counting_words_of(from); i++) {
        ebi_wide_word a, b;
        ebi_counting_pair(from, part, i, &a, &b);
        const ebi_wide_word was = a;
        for (unsigned cell = 0; cell < EBI_WIDE_CELLS; cell++) {
            if (a.value[cell] >= EBI_COUNTER_MAX) continue; /* stays */
            a.value[cell] -= counting_times(b.value[cell], times);
            if (a.value[cell] == 0) a.level[cell] = 0;
        }
        ebi_counting_put(from, i, &was, &a);
    }
    if (*from->total < EBI_COUNTER_MAX) *from->total -= counting_times(*part->total, times);
}

/* The probability that a new key finds no zero: the product of the shares of counters in use in
 * each part, averaged over windows. */
static double counting_fpr(const ebi_counting *c) {
    enum { COUNTING_WINDOWS = 256 };
    const uint64_t starts = c->n - c->window + 1, windows = ebi_min(starts, COUNTING_WINDOWS);
    double sum = 0;
    for (uint64_t w = 0; w < windows; w++) {
        const uint64_t first = starts / windows * w;
        double all = 1;
        for (unsigned i = 0; i < c->k; i++) {
            const uint64_t begin = first + i * c->part, end = begin + c->part;
            uint64_t used = 0;
            for (uint64_t j = counting_next(c, begin, end); j < end;
                 j = counting_next(c, j + 1, end))
                used += ebi_counting_get(c, j) > 0;
            all *= (double)used / (double)c->part;
        }
        sum += all;
    }
    return sum / (double)windows;
}

uint64_t ebi_counting_saturated(const ebi_counting *c) {
    uint64_t n = 0;
    for (uint64_t i = counting_next(c, 0, c->n); i < c->n; i = counting_next(c, i + 1, c->n))
        n += ebi_counting_get(c, i) == EBI_COUNTER_MAX;
    return n;
}

void ebi_counting_stat(const ebi_counting *c, eb_stats *out) {
    out->cells = c->n;
    for (uint64_t i = counting_next(c, 0, c->n); i < c->n; i = counting_next(c, i + 1, c->n)) {
        const uint64_t value = ebi_counting_get(c, i);
        out->cells_used += value > 0;
        out->saturated += value == EBI_COUNTER_MAX;
    }
    out->fpr = counting_fpr(c);
}

/* The probability that other keys have hit all k counters of a key.  If windows were disjoint, the
 * number of other keys would be Poisson, and this would be a sum over it.  Windows overlap: two
 * counters of a key share only a part of their neighbours, 1 - (k+1)/3k on average.  That is the
 * same as if windows were wider by this factor. */
typedef struct counting_window {
    double each, k;
} counting_window;

static double counting_all_hit(double others, const void *context) {
    assert(others >= 0);
    const counting_window *const w = context;
    return pow(ebi_one_minus_pow1m(1 / w->each, others), w->k);
}

static double counting_error(const ebi_counting *c, double distinct) {
    assert(distinct >= 0);
    if (c->window == c->n) return pow(ebi_one_minus_pow1m(1 / (double)c->part, distinct), c->k);
    const double k = c->k, each = (double)c->part * 3 * k / (2 * k - 1);
    return ebi_poisson_mean(distinct * k * each / (double)c->n, counting_all_hit,
                            &(counting_window){each, k});
}

double ebi_counting_fpr(const ebi_counting *c, double distinct, double *fill) {
    assert(distinct >= 0);
    *fill = ebi_one_minus_pow1m((double)c->k / (double)c->n, distinct);
    return counting_error(c, distinct);
}

void ebi_counting_predict(const ebi_counting *c, const eb_workload *w, eb_prediction *out) {
    enum { COUNTING_STEPS = 64 };
    const double distinct = w->distinct > 0 ? w->distinct : w->items;
    out->fnr = out->mean_fnr = 0;
    out->settles_after = 0;
    if (!(distinct > 0)) {
        out->fill = out->fpr = out->mean_fpr = 1;
        return;
    }
    out->fpr = ebi_counting_fpr(c, distinct, &out->fill);
    out->mean_fpr = 0;
    for (int i = 0; i < COUNTING_STEPS; i++)
        out->mean_fpr += counting_error(c, distinct * (i + 0.5) / COUNTING_STEPS) / COUNTING_STEPS;
}

bool ebi_counting_load(const ebi_counting *c, const eb_workload *w, ebi_counting_stream *out) {
    const double distinct = w->distinct > 0 ? w->distinct : w->items;
    if (!(w->items > 0) || distinct < 1) return false;
    ebi_spectrum_zipf(&out->spectrum, distinct, w->items, w->zipf);
    out->sharing = (ebi_sharing){c->k, (distinct - 1) * c->k / (double)c->n};
    return true;
}

/* How many of a key's other counters are, on average, in the line of `each` counters that holds one
 * of them.  Counters that are t parts apart have a distance of t + x parts, where the density of x
 * falls to 0 at -1 and 1.  Both are in one line if that distance fits in what is left of it. */
static double counting_together(const ebi_counting *c, double each) {
    enum { COUNTING_STEPS = 64 };
    double sum = 0;
    if (c->window == c->n) return 0;
    for (unsigned t = 1; t < c->k; t++)
        for (int i = 0; i < COUNTING_STEPS; i++) {
            const double x = (2 * i + 1.0) / COUNTING_STEPS - 1, apart = (t + x) * (double)c->part;
            sum += (1 - fabs(x)) * 2 / COUNTING_STEPS * 2 * (c->k - t) / c->k *
                   fmax(0, 1 - apart / each);
        }
    return sum;
}

static double counting_bits(const ebi_counting *c, const ebi_counting_stream *l) {
    ebi_sum law;
    if (c->linear)
        ebi_sum_of(&law, &l->spectrum, l->sharing.load);
    else
        ebi_max_of(&law, &l->spectrum, l->sharing.load);
    assert(!c->joins);
    if (strcmp(c->store->name, "sai") == 0) return ebi_bits_sai(&law);
    if (strcmp(c->store->name, "line") != 0) return (double)c->store->bits_least / 1e6;
    return ebi_bits_line(&law, 1 + counting_together(c, 512 / ebi_bits_line(&law, 1)));
}

double ebi_counting_unevenness(const ebi_counting *c, double distinct) {
    assert(distinct >= 0);
    ebi_counting whole = *c;
    whole.window = c->n;
    whole.part = c->n / c->k;
    const double even = counting_error(&whole, distinct - 1);
    return even > 0 ? counting_error(c, distinct - 1) / even : 1;
}

void ebi_counting_predict_errors(const ebi_counting *c, const ebi_counting_stream *l,
                                 ebi_count_errors e, eb_prediction *out) {
    const double ratio = ebi_counting_unevenness(c, l->spectrum.distinct);
    out->wrong = e.wrong * ratio;
    out->error = e.size * sqrt(ratio);
    out->error_bound = exp(1) * c->k * l->spectrum.f1 / (double)c->n;
    out->bits = counting_bits(c, l);
}
