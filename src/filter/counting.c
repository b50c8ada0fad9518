/* counting.c - what filters that count have in common: see counting.h. */
#include "counting.h"
#include "theory/theory.h"
#include <math.h>
#include <string.h>

/* Stores */

const eb_store *ebi_counting_store(const eb_params *p) {
    const eb_store *const stores[] = {&ebi_store_u8, &ebi_store_u32, ebi_store_line(),
                                      ebi_store_sai()};
    return stores[p->opt[EB_C_STORE]];
}

static const eb_store *counting_frozen(uint64_t number) { /* as in the option's list, from 1 */
    const eb_store *const stores[] = {ebi_frozen_line(), &ebi_frozen_elias, &ebi_frozen_steps};
    return number - 1 < EB_COUNT_OF(stores) ? stores[number - 1] : NULL;
}

const eb_store *ebi_counting_frozen(const char *code) {
    for (uint64_t i = 1; counting_frozen(i); i++)
        if (strcmp(counting_frozen(i)->name, code) == 0) return counting_frozen(i);
    return NULL;
}

/* Counters in a block */

uint64_t ebi_counting_bytes(const eb_params *p, uint64_t n) {
    return ebi_counters_bytes(ebi_counting_store(p), n, p->opt[EB_C_BITS]);
}

uint64_t ebi_counting_first_bytes(const eb_params *p) {
    return p->opt[EB_C_FROZEN] ? p->opt[EB_C_ROOM] : ebi_counting_bytes(p, p->opt[EB_O_CELLS]);
}

eb_counting ebi_counting_shape(const eb_params *p, const eb_store *store, uint64_t n) {
    eb_counting c = {.store = store, .n = n, .k = (unsigned)p->opt[EB_C_K], .linear = true};
    c.window = p->opt[EB_C_WINDOW] == 0 ? n : ebi_min(p->opt[EB_C_WINDOW], n);
    c.part = c.window / c.k;
    return c;
}

eb_counting ebi_counting_first(const eb_params *p) {
    const uint64_t frozen = p->opt[EB_C_FROZEN];
    return ebi_counting_shape(p, frozen ? counting_frozen(frozen) : ebi_counting_store(p),
                              p->opt[EB_O_CELLS]);
}

eb_counting ebi_counting_open(const eb_params *p, const uint8_t *block) {
    eb_counting c = ebi_counting_first(p);
    c.bytes = ebi_counting_first_bytes(p);
    c.counters = ebi_counters(c.store, block + EB_COUNTING_FIXED, c.n, c.bytes);
    c.total = &ebi_counting_state(block)->total;
    return c;
}

bool ebi_counting_check(const eb_counting *c, const eb_counting_state *state) {
    uint64_t any = 0;
    for (size_t i = 0; i < EB_COUNT_OF(state->reserved); i++) any |= state->reserved[i];
    return any == 0 && state->sealed <= 1 && state->total <= EB_COUNTER_MAX &&
           c->store->check(&c->counters);
}

uint64_t ebi_counting_cells(const eb_store *store, uint64_t budget, uint64_t bits) {
    const uint64_t fixed = ebi_counters_bytes(store, 0, bits);
    if (budget < fixed) return 0;
    uint64_t cells = (uint64_t)((double)(budget - fixed + 64) * 8e6 / (double)bits);
    while (ebi_counters_bytes(store, cells, bits) > budget) cells--;
    return cells;
}

/* Parameters */

eb_status ebi_counting_resolve_bits(eb_params *p, const eb_args *a, const char *kind,
                                    const eb_store *store, size_t o_bits, eb_error *err) {
    if (!a->given[o_bits]) p->opt[o_bits] = store->bits_usual;
    if (p->opt[o_bits] >= store->bits_least) return EB_OK;
    return ebi_fail(err, EB_ESPEC, "%s: bits must be at least %g with store=%s, not %g", kind,
                    (double)store->bits_least / 1e6, store->name, (double)p->opt[o_bits] / 1e6);
}

eb_status ebi_counting_resolve_cells(eb_params *p, const eb_args *a, const char *kind,
                                     const eb_store *store, size_t o_bits, uint64_t fixed,
                                     eb_error *err) {
    const uint64_t budget = ebi_budget(p);
    if (a->given[EB_O_CELLS]) return EB_OK;
    p->opt[EB_O_CELLS] =
        budget > fixed ? ebi_counting_cells(store, budget - fixed, p->opt[o_bits]) : 0;
    if (p->opt[EB_O_CELLS] >= 64) return EB_OK;
    const uint64_t shard = sizeof(eb_head) + fixed + ebi_counters_bytes(store, 64, p->opt[o_bits]);
    return ebi_fail(
        err, EB_ESPEC, "%s: memory must be at least %llu here, not %llu", kind,
        (unsigned long long)(EB_OVERHEAD + p->opt[EB_O_SHARDS] * ebi_round_up(shard, 64)),
        (unsigned long long)p->opt[EB_O_MEMORY]);
}

eb_status ebi_counting_resolve_window(eb_params *p, const eb_args *a, const char *kind,
                                      size_t o_window, size_t o_k, eb_error *err) {
    const uint64_t cells = p->opt[EB_O_CELLS];
    if (!a->given[o_window]) p->opt[o_window] = cells > (1u << 20) ? EB_COUNTING_WINDOW : 0;
    if (p->opt[o_window] == 0 || (p->opt[o_window] >= p->opt[o_k] && p->opt[o_window] <= cells))
        return EB_OK;
    return ebi_fail(err, EB_ESPEC, "%s: window must be 0 or k..cells, not %llu", kind,
                    (unsigned long long)p->opt[o_window]);
}

static eb_status counting_resolve_frozen(const eb_params *p, const eb_args *a, const char *kind,
                                         eb_error *err) {
    const eb_store *const store = counting_frozen(p->opt[EB_C_FROZEN]);
    if (!store && a->given[EB_C_ROOM])
        return ebi_fail(err, EB_ESPEC, "%s: room is only for frozen filters", kind);
    if (!store) return EB_OK;
    if (!a->given[EB_C_ROOM])
        return ebi_fail(err, EB_ESPEC, "%s: frozen=%s needs room; eb_freeze makes frozen filters",
                        kind, store->name);
    if (p->opt[EB_C_ROOM] % 64 == 0 && store->fits(p->opt[EB_O_CELLS], p->opt[EB_C_ROOM]))
        return EB_OK;
    return ebi_fail(
        err, EB_ESPEC, "%s: room must be a multiple of 64 and enough for %llu counters, not %llu",
        kind, (unsigned long long)p->opt[EB_O_CELLS], (unsigned long long)p->opt[EB_C_ROOM]);
}

eb_status ebi_counting_resolve(eb_params *p, const eb_args *a, const char *kind, eb_error *err) {
    p->value_min = 1;
    EB_TRY(ebi_counting_resolve_window(p, a, kind, EB_C_WINDOW, EB_C_K, err));
    return counting_resolve_frozen(p, a, kind, err);
}

/* Removing */

unsigned ebi_counting_claims(const eb_params *p) {
    return (unsigned)p->opt[EB_C_K];
}

static bool counting_claim(const eb_claims *claims, const void *array, uint64_t place, uint64_t by,
                           uint64_t there) {
    return there == EB_COUNTER_MAX || ebi_claim(claims, array, place, by, there);
}

eb_status ebi_counting_claim(const eb_counting *c, const eb_batch *b, const eb_claims *claims) {
    uint64_t pos[EB_BATCH * EB_COUNTING_K_MAX];
    ebi_counting_fetch(c, b->hash, b->n, pos);
    for (size_t i = 0; i < b->n; i++) {
        if (!counting_claim(claims, c->total, 0, b->value[i], *c->total)) return EB_EINVAL;
        for (unsigned j = 0; j < c->k; j++) {
            const uint64_t at = pos[i * c->k + j], there = ebi_counting_get(c, at);
            if (!counting_claim(claims, c->total, at + 1, b->value[i], there)) return EB_EINVAL;
        }
    }
    return EB_OK;
}

void ebi_counting_remove(const eb_counting *c, const eb_batch *b) {
    uint64_t pos[EB_BATCH * EB_COUNTING_K_MAX];
    ebi_counting_fetch(c, b->hash, b->n, pos);
    for (size_t i = 0; i < b->n; i++) {
        ebi_counting_lower_all(c, pos + i * c->k, b->value[i]);
        if (*c->total < EB_COUNTER_MAX) *c->total -= b->value[i];
    }
}

void ebi_counting_merge(const eb_counting *into, const eb_counting *from) {
    for (uint64_t i = 0; i < into->n; i++) {
        const uint64_t more = ebi_counting_get(from, i);
        if (more > 0) (void)ebi_counting_raise(into, i, more);
    }
    ebi_counting_raise_total(into, *from->total);
}

/* A fresh key's chance to find no zero: the product of the parts' shares of counters
 * in use, averaged over windows. */
static double counting_fpr(const eb_counting *c) {
    enum { WINDOWS = 256 };
    const uint64_t starts = c->n - c->window + 1, windows = ebi_min(starts, WINDOWS);
    double sum = 0;
    for (uint64_t w = 0; w < windows; w++) {
        const uint64_t first = starts / windows * w;
        double all = 1;
        for (unsigned i = 0; i < c->k; i++) {
            uint64_t used = 0;
            for (uint64_t j = 0; j < c->part; j++)
                used += ebi_counting_get(c, first + i * c->part + j) > 0;
            all *= (double)used / (double)c->part;
        }
        sum += all;
    }
    return sum / (double)windows;
}

uint64_t ebi_counting_saturated(const eb_counting *c) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < c->n; i++) n += ebi_counting_get(c, i) == EB_COUNTER_MAX;
    return n;
}

void ebi_counting_stat(const eb_counting *c, eb_stats *out) {
    out->cells = c->n;
    for (uint64_t i = 0; i < c->n; i++) {
        const uint64_t value = ebi_counting_get(c, i);
        out->cells_used += value > 0;
        out->saturated += value == EB_COUNTER_MAX;
    }
    out->fpr = counting_fpr(c);
}

/* All k counters are hit by others.  In disjoint windows the number of other keys
 * would be Poisson: sum over it.  Windows overlap, so that two counters of a key
 * share only a part of their neighbours, 1 - (k+1)/3k on average: as if windows
 * were so much wider. */
static double counting_error(const eb_counting *c, double distinct) {
    if (c->window == c->n) return pow(ebi_one_minus_pow1m(1 / (double)c->part, distinct), c->k);
    const double k = c->k, each = (double)c->part * 3 * k / (2 * k - 1);
    const double mean = distinct * k * each / (double)c->n;
    double sum = 0;
    for (double j = 0; j < mean + 12 * sqrt(mean) + 30; j++)
        sum += ebi_poisson_pmf(mean, j) * pow(ebi_one_minus_pow1m(1 / each, j), c->k);
    return sum;
}

void ebi_counting_predict(const eb_counting *c, const eb_workload *w, eb_prediction *out) {
    enum { STEPS = 64 };
    const double distinct = w->distinct > 0 ? w->distinct : w->items;
    out->fnr = out->mean_fnr = 0;
    out->settles_after = 0;
    if (!(distinct > 0)) {
        out->fill = out->fpr = out->mean_fpr = 1;
        return;
    }
    out->fill = ebi_one_minus_pow1m((double)c->k / (double)c->n, distinct);
    out->fpr = counting_error(c, distinct);
    out->mean_fpr = 0;
    for (int i = 0; i < STEPS; i++)
        out->mean_fpr += counting_error(c, distinct * (i + 0.5) / STEPS) / STEPS;
}

bool ebi_counting_load(const eb_counting *c, const eb_workload *w, eb_counting_load *out) {
    const double distinct = w->distinct > 0 ? w->distinct : w->items;
    if (!(w->items > 0) || distinct < 1) return false;
    ebi_spectrum_zipf(&out->spectrum, distinct, w->items, w->zipf);
    out->sharing = (ebi_sharing){c->k, (distinct - 1) * c->k / (double)c->n};
    return true;
}

/* How many others of a key's counters are in the line of `each` that holds one of them, on average.
 * Two that are t parts apart lie t + x of them apart, where the chance of x falls off to 0 at -1
 * and 1; then both are in the line with the chance that the line is longer than that. */
static double counting_together(const eb_counting *c, double each) {
    enum { STEPS = 64 };
    double sum = 0;
    if (c->window == c->n) return 0;
    for (unsigned t = 1; t < c->k; t++)
        for (int i = 0; i < STEPS; i++) {
            const double x = (2 * i + 1.0) / STEPS - 1, apart = (t + x) * (double)c->part;
            sum += (1 - fabs(x)) * 2 / STEPS * 2 * (c->k - t) / c->k * fmax(0, 1 - apart / each);
        }
    return sum;
}

static double counting_bits(const eb_counting *c, const eb_counting_load *l) {
    ebi_sum law;
    if (c->linear)
        ebi_sum_of(&law, &l->spectrum, l->sharing.load);
    else
        ebi_max_of(&law, &l->spectrum, l->sharing.load);
    if (strcmp(c->store->name, "u8") == 0) return ebi_bits_u8(&law);
    if (strcmp(c->store->name, "sai") == 0) return ebi_bits_sai(&law);
    if (strcmp(c->store->name, "line") != 0) return (double)c->store->bits_least / 1e6;
    return ebi_bits_line(&law, 1 + counting_together(c, 512 / ebi_bits_line(&law, 1)));
}

void ebi_counting_predict_errors(const eb_counting *c, const eb_counting_load *l,
                                 ebi_count_errors e, eb_prediction *out) {
    const double distinct = l->spectrum.distinct - 1;
    eb_counting whole = *c;
    whole.window = c->n;
    whole.part = c->n / c->k;
    const double even = counting_error(&whole, distinct);
    const double ratio = even > 0 ? counting_error(c, distinct) / even : 1;
    out->wrong = e.wrong * ratio;
    out->error = e.size * sqrt(ratio);
    out->error_bound = exp(1) * c->k * l->spectrum.f1 / (double)c->n;
    out->bits = counting_bits(c, l);
}
