/* choosy.c - the choosy Bloom filter (ours): one cache line a key; a key is taken in only if it is
 * cheap, that is, if few of its k bits are still zero; nothing is ever deleted.
 *
 *     | eb_head | R, zeros: 64 bytes | line 0: 512 bits | line 1 | ... |     cells = 512 lines
 *
 * For a bounded number of keys that does not quite fit.  When memory is short some keys must be
 * forgotten; leaving out the dearest costs the fewest false negatives for the bits saved, while
 * clearing bits, as other filters do, hurts every key that shares them.
 *
 *     zeros   how many of the key's k places in its line are zero; none: seen
 *     R      += ((zeros > 0) - R) / (4 lines): the recent share of keys called new
 *     x       share of the line's bits that are set
 *     take the key in if   zeros <= k(1-x) + s + 0.2(1/R - 1) + u   and the line stays within xmax
 *
 * k(1-x) is the price of an average key, u = 0..255/256 a fixed number of the key that makes s
 * continuous, and the term with R stops the filter from being choosy when few new keys come.
 * s >= k with xmax = 1 is the plain blocked Bloom filter, with no false negatives.  The false
 * positives of fresh keys are the mean of x^k over the lines, so xmax^k bounds them whatever comes.
 *
 * Places are nine-bit fields of the mixed hash, six to a word; two may coincide and are then priced
 * twice.  R is a fixed-point number of 62 bits, prices are in millionths: all integers.
 *
 * predict: the mean field of theory/choosy_field.c, for keys that repeat uniformly over the stream
 * (zipf and gap are not looked at).  On the 24 streams of the de-duplication paper at 1/100 scale:
 * false positives -0.1 to +0.8 % where they are above 0.3 %, and too high by 2 % at 0.15 %, 6 % at
 * 0.02 %, more below; false negatives -0.8 to +1.4 %.
 *
 * Cost: one cache line a key, and counting its bits if the key is new and s < k. */
#include "cells/bitarray.h"
#include "loops.h"
#include "theory/choosy_field.h"
#include <math.h>

enum { O_K = EB_O_OWN, O_S, O_XMAX, O_DISTINCT, O_SHARE, O_FPR };
enum { LINE_BITS = 512, LINE_BYTES = 64, K_MAX = 12 };
enum { MILLION = 1000000, BONUS = 200000 };
static const double S_MIN = -0.99, XMAX_MIN = 0.05;
#define R_ONE (UINT64_C(1) << 62)

static const eb_option choosy_options[] = {
    EB_COMMON_OPTIONS,
    {"k", "int", NULL, "1", "12", "bits for each key", false},
    {"s", "fixed", NULL, "-0.99", "12", "bits that a key may cost above average; k: any", false},
    {"xmax", "fixed", "1", "0.05", "1", "no line fills further: fpr stays below xmax^k", false},
    {"distinct", "count", NULL, "1", "1e14", "expected distinct keys: k and s follow", true},
    {"share", "fixed", "0.5", "0.000001", "1", "expected distinct share of the records", true},
    {"fpr", "real", NULL, "1e-9", "0.9", "wanted mean of false positives: k and s follow", true},
    {0}};

typedef struct choosy_state { /* the first segment */
    uint64_t r;
    uint64_t reserved[7]; /* zero */
} choosy_state;
static_assert(sizeof(choosy_state) == 64, "one cache line");

enum { LINES_AT = sizeof(eb_head) + sizeof(choosy_state) };

EB_INLINE unsigned choosy_k(const eb_params *p) {
    return (unsigned)p->opt[O_K];
}

EB_INLINE uint64_t choosy_lines(const eb_params *p) {
    return p->opt[EB_O_CELLS] / LINE_BITS;
}

EB_INLINE unsigned choosy_line_max(const eb_params *p) { /* bits that may be set in a line */
    return (unsigned)(p->opt[O_XMAX] * LINE_BITS / MILLION);
}

/* Parameters: the fewest false negatives at the wanted rate of false positives */

/* Aim so much lower than wished: two standard errors of 2 x 10^4 false positives. */
static const double choosy_aim = 0.985;

static double choosy_share(double share) { /* repeats must be possible for rates to be defined */
    return fmin(share, 1 - 1e-6);
}

static double choosy_cap(double fpr, unsigned k) { /* no line fuller than this: fpr is kept */
    return fmax(XMAX_MIN, floor(pow(fpr, 1. / k) * MILLION) / MILLION);
}

/* Set s so that the mean of the false positives is `fpr`; if even the choosiest filter has more,
 * set xmax so that nothing can break the wish.  The rate rises with s: halve the interval, or
 * cut it where a line through the errors at its ends crosses zero, in turn. */
static ebi_choosy_rates choosy_solve_s(ebi_choosy *c, double fpr) {
    double low = S_MIN, high = c->k, low_error = -1;
    c->s = high;
    ebi_choosy_rates r = ebi_choosy_field(c);
    double error = r.mean_fpr / fpr - 1, high_error = error;
    for (int i = 0; i < 24 && (error > 0 ? high - low > 1e-5 : i > 0 && error < -1e-3); i++) {
        const double cut = i % 2 == 0 ? 0.5 : -low_error / (high_error - low_error);
        c->s = low + (high - low) * cut;
        r = ebi_choosy_field(c);
        error = r.mean_fpr / fpr - 1;
        if (error > 0)
            high = c->s, high_error = error;
        else
            low = c->s, low_error = error;
    }
    if (error <= 1e-3) return r;
    c->xmax = fmin(c->xmax, choosy_cap(fpr, c->k));
    return ebi_choosy_field(c);
}

static void choosy_store(eb_params *p, const eb_args *a, const ebi_choosy *c) {
    if (!a->given[O_K]) p->opt[O_K] = c->k;
    if (!a->given[O_S]) p->opt[O_S] = (uint64_t)(int64_t)floor(c->s * MILLION);
    if (!a->given[O_XMAX]) p->opt[O_XMAX] = (uint64_t)floor(c->xmax * MILLION);
}

/* The best k of 1..7 that keeps the wish, each with its s. */
static ebi_choosy choosy_solve_k(ebi_choosy c, double fpr) {
    ebi_choosy best = c;
    double best_fnr = INFINITY;
    for (unsigned k = 1; k <= 7; k++) {
        ebi_choosy one = c;
        one.k = k;
        const ebi_choosy_rates r = choosy_solve_s(&one, fpr);
        if (r.mean_fpr > fpr * 1.001 || r.mean_fnr >= best_fnr) continue;
        best = one;
        best_fnr = r.mean_fnr;
    }
    return best;
}

static unsigned choosy_start_k(const eb_args *a, double bits_per_key) {
    double k = 6;
    if (a->given[O_K])
        k = a->real[O_K];
    else if (a->given[O_DISTINCT])
        k = round(0.8 * bits_per_key);
    else if (a->given[O_FPR])
        k = round(-log2(a->real[O_FPR]));
    return (unsigned)fmax(1, fmin(K_MAX, k));
}

static eb_status choosy_solve(eb_params *p, const eb_args *a, eb_error *err) {
    const double bits = (double)p->opt[EB_O_CELLS] * (double)p->opt[EB_O_SHARDS];
    const double fpr = a->real[O_FPR] * choosy_aim;
    double kept = 0; /* rate that is sure or predicted */
    ebi_choosy c = {.xmax = a->real[O_XMAX],
                    .bits_per_key = a->given[O_DISTINCT] ? bits / a->real[O_DISTINCT] : 0,
                    .share = choosy_share(a->real[O_SHARE])};
    c.k = choosy_start_k(a, c.bits_per_key);
    c.s = a->given[O_S] ? a->real[O_S] : c.k;
    if (a->given[O_FPR] && !a->given[O_DISTINCT] && !a->given[O_XMAX]) {
        c.xmax = choosy_cap(a->real[O_FPR], c.k);
        kept = pow(c.xmax, c.k);
    } else if (a->given[O_FPR] && a->given[O_DISTINCT] && !a->given[O_S] &&
               ebi_choosy_field(&c).mean_fpr > fpr) {
        if (a->given[O_K])
            kept = choosy_solve_s(&c, fpr).mean_fpr;
        else
            c = choosy_solve_k(c, fpr);
    }
    if (kept > a->real[O_FPR])
        return ebi_fail(err, EB_ESPEC, "choosy: k=%u is too small for fpr=%g", c.k, a->real[O_FPR]);
    choosy_store(p, a, &c);
    return EB_OK;
}

static eb_status choosy_size(eb_params *p, const eb_args *a, eb_error *err) {
    const uint64_t budget = ebi_budget(p);
    if (!a->given[EB_O_CELLS] && budget > sizeof(choosy_state))
        p->opt[EB_O_CELLS] = (budget - sizeof(choosy_state)) * 8;
    const uint64_t cells = p->opt[EB_O_CELLS];
    if (cells % LINE_BITS != 0)
        return ebi_fail(err, EB_ESPEC, "choosy: cells must be a multiple of %d, not %llu",
                        LINE_BITS, (unsigned long long)cells);
    if (cells == 0)
        return ebi_fail(err, EB_ESPEC, "choosy: memory=%llu is too small for shards=%llu",
                        (unsigned long long)p->opt[EB_O_MEMORY],
                        (unsigned long long)p->opt[EB_O_SHARDS]);
    p->span = LINES_AT + cells / 8;
    return EB_OK;
}

static eb_status choosy_resolve(eb_params *p, const eb_args *a, eb_error *err) {
    EB_TRY(choosy_size(p, a, err));
    return a->given[O_K] && a->given[O_S] ? EB_OK : choosy_solve(p, a, err);
}

static void choosy_init(const eb_params *p, uint8_t *block) {
    (void)p;
    ebi_store64(block + sizeof(eb_head), R_ONE);
}

/* Loops */

typedef struct choosy_key {
    uint64_t line; /* its first byte */
    uint64_t mix;
} choosy_key;

EB_INLINE choosy_key choosy_locate(eb_hash h, uint64_t lines) {
    return (choosy_key){LINES_AT + eb_scale(h, lines) * LINE_BYTES, ebi_mix(h)};
}

/* Keys are located AHEAD places before their turn and their lines fetched meanwhile, so that memory
 * and arithmetic overlap. */
enum { AHEAD = 20 };

EB_INLINE choosy_key choosy_fetch(const uint8_t *block, eb_hash h, uint64_t lines, bool write) {
    const choosy_key key = choosy_locate(h, lines);
    if (write)
        ebi_prefetch_write(block + key.line);
    else
        ebi_prefetch_read(block + key.line);
    return key;
}

EB_INLINE void choosy_fetch_first(const uint8_t *block, const eb_hash *h, size_t n, uint64_t lines,
                                  bool write, choosy_key *keys) {
    for (size_t i = 0; i < n && i < AHEAD; i++) keys[i] = choosy_fetch(block, h[i], lines, write);
}

/* Key i of the batch; key i + AHEAD is fetched. */
EB_INLINE choosy_key choosy_next(const uint8_t *block, const eb_hash *h, size_t n, size_t i,
                                 uint64_t lines, bool write, choosy_key *keys) {
    const choosy_key key = keys[i % AHEAD];
    if (i + AHEAD < n) keys[i % AHEAD] = choosy_fetch(block, h[i + AHEAD], lines, write);
    return key;
}

enum { FIELD_BITS = 9, FIELDS = 6 };

/* Of n places of a key, n <= FIELDS. */
EB_INLINE unsigned choosy_zeros_of(const uint8_t *line, uint64_t fields, unsigned n) {
    unsigned zeros = 0;
#pragma GCC unroll 6
    for (unsigned i = 0; i < n; i++, fields >>= FIELD_BITS)
        zeros += !ebi_bit(line, fields % LINE_BITS);
    return zeros;
}

EB_INLINE void choosy_set(uint8_t *line, uint64_t fields, unsigned n) {
#pragma GCC unroll 6
    for (unsigned i = 0; i < n; i++, fields >>= FIELD_BITS) ebi_bit_set(line, fields % LINE_BITS);
}

EB_INLINE unsigned choosy_zeros(const uint8_t *line, uint64_t mix, unsigned k) {
    if (k <= FIELDS) return choosy_zeros_of(line, mix, k);
    return choosy_zeros_of(line, mix, FIELDS) + choosy_zeros_of(line, ebi_mix(mix), k - FIELDS);
}

EB_INLINE void choosy_insert(uint8_t *line, uint64_t mix, unsigned k) {
    choosy_set(line, mix, k <= FIELDS ? k : FIELDS);
    if (k > FIELDS) choosy_set(line, ebi_mix(mix), k - FIELDS);
}

/* zeros <= price + u + 0.2(1/R - 1), multiplied by R: no division. */
EB_INLINE bool choosy_is_cheap(unsigned zeros, unsigned used, uint64_t mix, uint64_t r, unsigned k,
                               int64_t s) {
    const int64_t average = (int64_t)k * (LINE_BITS - used) * (MILLION / 64) / (LINE_BITS / 64);
    const int64_t u = (int64_t)(mix >> 56) * (MILLION / 64) / 4;
    const int64_t over = (int64_t)zeros * MILLION - average - s - u;
    return (over + BONUS) * (int64_t)(r >> 30) <= (int64_t)BONUS << 32;
}

EB_INLINE void choosy_add(const eb_params *p, uint8_t *block, const eb_batch *b, uint8_t *seen,
                          unsigned k, bool far) {
    const uint64_t lines = choosy_lines(p), step = R_ONE / (4 * lines);
    const unsigned line_max = choosy_line_max(p);
    const int64_t s = (int64_t)p->opt[O_S];
    const bool plain = s >= (int64_t)k * MILLION && line_max == LINE_BITS; /* every key is taken */
    uint64_t r = ebi_load64(block + sizeof(eb_head));
    choosy_key keys[AHEAD];
    if (far) choosy_fetch_first(block, b->hash, b->n, lines, true, keys);
    for (size_t i = 0; i < b->n; i++) {
        const choosy_key key = far ? choosy_next(block, b->hash, b->n, i, lines, true, keys)
                                   : choosy_locate(b->hash[i], lines);
        uint8_t *const line = block + key.line;
        const unsigned zeros = choosy_zeros(line, key.mix, k);
        r = r - eb_scale(r, step << 2) + (zeros > 0 ? step : 0);
        seen[i] = zeros == 0;
        if (zeros == 0) continue;
        const unsigned used = plain ? 0 : ebi_bits_count_512(line);
        if (plain || (used + zeros <= line_max && choosy_is_cheap(zeros, used, key.mix, r, k, s)))
            choosy_insert(line, key.mix, k);
    }
    ebi_store64(block + sizeof(eb_head), r);
}

EB_INLINE void choosy_test(const eb_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                           uint8_t *seen, unsigned k, bool far) {
    const uint64_t lines = choosy_lines(p);
    choosy_key keys[AHEAD];
    if (far) choosy_fetch_first(block, h, n, lines, false, keys);
    for (size_t i = 0; i < n; i++) {
        const choosy_key key =
            far ? choosy_next(block, h, n, i, lines, false, keys) : choosy_locate(h[i], lines);
        seen[i] = choosy_zeros(block + key.line, key.mix, k) == 0;
    }
}

EB_LOOPS(choosy)

/* The whole filter */

static eb_status choosy_check(const eb_params *p, const uint8_t *block, eb_error *err) {
    const uint64_t keys = ebi_head_of(block)->items, r = ebi_load64(block + sizeof(eb_head));
    const unsigned line_max = choosy_line_max(p);
    uint64_t used = 0;
    if (r == 0 || r > R_ONE || (keys == 0 && r != R_ONE))
        return ebi_fail(err, EB_EFORMAT, "damaged choosy filter: share of new keys out of range");
    if (!ebi_tail_is_zero(block + sizeof(eb_head), 64, sizeof(choosy_state)))
        return ebi_fail(err, EB_EFORMAT, "damaged choosy filter: reserved bytes are not zero");
    for (uint64_t i = 0; i < choosy_lines(p); i++) {
        const unsigned one = ebi_bits_count_512(block + LINES_AT + i * LINE_BYTES);
        if (one > line_max)
            return ebi_fail(err, EB_EFORMAT, "damaged choosy filter: line %llu is over xmax",
                            (unsigned long long)i);
        used += one;
    }
    if ((used + p->opt[O_K] - 1) / p->opt[O_K] > keys)
        return ebi_fail(err, EB_EFORMAT,
                        "damaged choosy filter: more bits are set than %llu keys can set",
                        (unsigned long long)keys);
    return EB_OK;
}

static void choosy_stat(const eb_params *p, const uint8_t *block, eb_stats *s) {
    const uint64_t lines = choosy_lines(p);
    double passed[LINE_BITS + 1]; /* chance of a fresh key in a line with so many bits */
    for (unsigned i = 0; i <= LINE_BITS; i++) passed[i] = pow(i / 512., (double)p->opt[O_K]);
    s->cells = p->opt[EB_O_CELLS];
    for (uint64_t i = 0; i < lines; i++) {
        const unsigned used = ebi_bits_count_512(block + LINES_AT + i * LINE_BYTES);
        s->cells_used += used;
        s->fpr += passed[used];
    }
    s->fpr /= (double)lines;
}

/* Load of a line that takes in no fresh key any more, while nearly all keys are called new. */
static double choosy_full(const eb_params *p) {
    const double s = (double)(int64_t)p->opt[O_S] / MILLION, k = (double)p->opt[O_K];
    return fmin((double)p->opt[O_XMAX] / MILLION, s < 0 ? 1 + s / k : 1);
}

static void choosy_predict(const eb_params *p, const eb_workload *w, eb_prediction *out) {
    out->settles_after = 0;
    if (w->items == 0 && w->distinct == 0) { /* fresh keys for ever */
        out->fill = choosy_full(p);
        out->fpr = out->mean_fpr = pow(out->fill, (double)p->opt[O_K]);
        return;
    }
    const double distinct = w->distinct > 0 ? w->distinct : w->items;
    const double share = w->items > 0 ? distinct / w->items : 1e-6;
    const ebi_choosy c = {choosy_k(p), (double)(int64_t)p->opt[O_S] / MILLION,
                          (double)p->opt[O_XMAX] / MILLION, (double)p->opt[EB_O_CELLS] / distinct,
                          choosy_share(share)};
    const ebi_choosy_rates r = ebi_choosy_field(&c);
    out->fill = r.load;
    out->fpr = r.fpr;
    out->fnr = r.fnr;
    out->mean_fpr = r.mean_fpr;
    out->mean_fnr = r.mean_fnr;
}

const eb_kind ebi_kind_choosy = {
    .info = {"choosy", "a blocked Bloom filter that leaves out dear keys when memory is short",
             "made here, against the filters of Bera, Dutta, Narang and Bhattacherjee, 2012", 0,
             choosy_options},
    .version = 1,
    .long_batches = true,
    .resolve = choosy_resolve,
    .select = choosy_loops,
    .init = choosy_init,
    .check = choosy_check,
    .stat = choosy_stat,
    .predict = choosy_predict,
};
