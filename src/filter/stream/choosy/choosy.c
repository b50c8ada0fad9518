/* choosy.c - the choosy Bloom filter: for a known number of keys that does not quite fit in memory.
 * It takes in a key only if that is cheap, that is, if few of its k bits are still zero.  Nothing
 * is ever deleted.
 *
 * When memory is short, some keys must be forgotten.  Leaving out the most expensive ones costs the
 * fewest false negatives for the bits saved.  Clearing bits, as other filters do, hurts every key
 * that shares them.  A key costs one cache line; if it is new, the bits of that line are counted.
 *
 *       | ebi_block_head | R, zeros: 64 bytes | line 0: 512 bits | line 1 | ... |
 *       cells = 512 lines
 *
 *       zeros   how many of the key's k places in its line are zero; none: seen
 *       R      += ((zeros > 0) - R) / (4 lines): the recent share of keys called new
 *       x       the share of the line's bits that are set
 *       take the key in if   zeros <= k(1-x) + s + 0.2(1/R - 1) + u,  or by chance (retry),
 *                            and the line stays within xmax
 *
 * The options tolerance= and max_fill= are called s and xmax here. k(1-x) is the cost of an average
 * key. u = 0..255/256 is a fixed number of the key, which makes s continuous.  The term with R
 * makes the filter less choosy when few new keys come.  A refused key is refused again each time,
 * which is bad if it comes often; `retry` is the probability to take it in anyway.  With s >= k and
 * xmax = 1 this is a plain blocked Bloom filter without false negatives.  The false-positive rate
 * of new keys is the mean of x^k over the lines, so xmax^k is a bound for all streams.
 *
 * Places are fields of nine bits of the mixed hash, six to a word.  Two may be the same and then
 * count twice.  R is a fixed-point number of 62 bits and costs are in millionths, so everything is
 * integers.
 *
 * Predictions follow the average filter over the stream (choosy_field.c), for keys that repeat
 * uniformly, are drawn by Zipf's law, or come again when all others have come; gap is ignored
 * otherwise.  On the 24 streams of the de-duplication paper at 1/100 scale, false positives are off
 * by -0.1 to +0.8 % if they are above 0.3 %, and too high by 2 % at 0.15 %, 6 % at 0.02 % and more
 * below; false negatives are off by -0.8 to +1.4 %. */
#include "choosy_field.h"
#include "choosy_zeros.h"
#include <math.h>

enum { CHOOSY_K_MAX = 12 };
static const double CHOOSY_S_MIN = -0.99, CHOOSY_XMAX_MIN = 0.05;

static const eb_option choosy_options[] = {
    EBI_COMMON_OPTIONS,
    {"k", "int", NULL, "1", "12", "bits for each key", false},
    {"tolerance", "fixed", NULL, "-0.99", "12",
     "bits that a key may cost above average; k: no limit", false},
    {"max_fill", "fixed", "1", "0.05", "1",
     "largest share of a line's bits set: fpr stays below max_fill^k", false},
    {"distinct", "count", NULL, "1", "1e14", "expected distinct keys; sets k and tolerance", true},
    {"share", "fixed", "0.5", "0.000001", "1", "expected distinct share of the records", true},
    {"fpr", "real", NULL, "1e-9", "0.9", "wanted mean false-positive rate; sets k and tolerance",
     true},
    {"order", "shuffled|any", "shuffled", NULL, NULL,
     "with distinct and fpr: streams for which fpr must hold", true},
    {"retry", "fixed", NULL, "0.000001", "1", "share of refused keys that are taken in anyway",
     false},
    {0}};

/* Parameters: the fewest false negatives at the wanted false-positive rate */

/* Planning aims below the wanted rate by two standard errors of 2 x 10^4 false positives. */
static const double choosy_aim = 0.985;

static double choosy_share(double share) { /* there must be repeats, or rates are undefined */
    return fmin(share, 1 - 1e-6);
}

static double choosy_cap(double fpr, unsigned k) { /* if no line is fuller than this, fpr is kept */
    assert(fpr > 0 && k >= 1);
    return fmax(CHOOSY_XMAX_MIN, floor(pow(fpr, 1. / k) * EBI_CHOOSY_MILLION) / EBI_CHOOSY_MILLION);
}

/* How far the mean false-positive rate with this s is above the wanted one, as a logarithm. */
static double choosy_excess(ebi_choosy *c, double s, double fpr, ebi_choosy_rates *r) {
    c->s = s;
    *r = ebi_choosy_field(c);
    return log(r->mean_fpr / fpr);
}

typedef struct choosy_end { /* one end of an interval for s */
    double s, excess;
} choosy_end;

/* The rate rises with s, from below the wanted one to above it.  Cuts the interval where a line
 * through its ends crosses the wanted rate, or in half, until the rate is less than `accuracy`
 * below. */
static ebi_choosy_rates choosy_cut(ebi_choosy *c, double fpr, choosy_end low, choosy_end high,
                                   double accuracy) {
    ebi_choosy_rates r;
    double now = 1;
    for (int i = 0; (now > 0 || now < -accuracy) && high.s - low.s > 1e-5; i++) {
        const double line = (-accuracy / 2 - low.excess) / (high.excess - low.excess);
        const double cut = i % 3 < 2 ? fmin(fmax(line, 0.02), 0.98) : 0.5;
        now = choosy_excess(c, low.s + (high.s - low.s) * cut, fpr, &r);
        *(now > 0 ? &high : &low) = (choosy_end){c->s, now};
    }
    if (now > 0) (void)choosy_excess(c, low.s, fpr, &r);
    return r;
}

/* Sets s in low..high such that the mean false-positive rate is `fpr`, or up to `accuracy` below.
 * If even the choosiest filter has more, sets xmax such that the rate holds for all streams. */
static ebi_choosy_rates choosy_solve_between(ebi_choosy *c, double fpr, double low, double high,
                                             double accuracy) {
    assert(low <= high && accuracy > 0);
    ebi_choosy_rates r;
    const choosy_end above = {high, choosy_excess(c, high, fpr, &r)};
    if (above.excess <= 0) return r;
    const choosy_end below = {low, choosy_excess(c, low, fpr, &r)};
    if (below.excess <= 1e-3) return choosy_cut(c, fpr, below, above, accuracy);
    c->xmax = fmin(c->xmax, choosy_cap(fpr, c->k));
    return ebi_choosy_field(c);
}

/* With short steps, near the result of long ones. */
static ebi_choosy_rates choosy_solve_near(ebi_choosy *c, double fpr, const ebi_choosy *rough) {
    const double near = 0.03, accuracy = 1e-3;
    ebi_choosy_rates r;
    if (rough->xmax != c->xmax)
        return choosy_solve_between(c, fpr, CHOOSY_S_MIN, fmin(c->k, rough->s + near), accuracy);
    const choosy_end one = {rough->s, choosy_excess(c, rough->s, fpr, &r)};
    const bool high = one.excess > 0;
    const double end = high ? fmax(CHOOSY_S_MIN, one.s - near) : fmin(c->k, one.s + near);
    const choosy_end other = {end, choosy_excess(c, end, fpr, &r)};
    if (high && other.excess <= 0) return choosy_cut(c, fpr, other, one, accuracy);
    if (!high && other.excess > 0) return choosy_cut(c, fpr, one, other, accuracy);
    return choosy_solve_between(c, fpr, high ? CHOOSY_S_MIN : end, high ? end : c->k, accuracy);
}

static ebi_choosy_rates choosy_solve_rough(ebi_choosy *c, double fpr) {
    c->rough = true;
    return choosy_solve_between(c, fpr, CHOOSY_S_MIN, c->k, 0.02);
}

static ebi_choosy_rates choosy_solve_s(ebi_choosy *c, double fpr, bool only_roughly) {
    ebi_choosy rough = *c;
    const ebi_choosy_rates r = choosy_solve_rough(&rough, fpr);
    if (!only_roughly) return choosy_solve_near(c, fpr, &rough);
    *c = rough;
    return r;
}

static void choosy_store(ebi_params *p, const ebi_args *a, const ebi_choosy *c) {
    if (!a->given[EBI_CHOOSY_K]) p->opt[EBI_CHOOSY_K] = c->k;
    if (!a->given[EBI_CHOOSY_S])
        p->opt[EBI_CHOOSY_S] = (uint64_t)(int64_t)floor(c->s * EBI_CHOOSY_MILLION);
    if (!a->given[EBI_CHOOSY_RETRY] && c->s < c->k)
        p->opt[EBI_CHOOSY_RETRY] = (uint64_t)llround(c->retry * EBI_CHOOSY_MILLION);
    if (!a->given[EBI_CHOOSY_XMAX])
        p->opt[EBI_CHOOSY_XMAX] = (uint64_t)floor(c->xmax * EBI_CHOOSY_MILLION);
}

/* The best k of 1..7 that keeps the wanted rate, with its s.  Misses fall with k and then rise
 * again, so a few steps lead from the usual k to the best. */
static ebi_choosy choosy_solve_k(ebi_choosy c, double fpr, bool only_roughly) {
    enum { CHOOSY_K_TRIED = 7 };
    ebi_choosy rough[CHOOSY_K_TRIED + 2]; /* by k; k 0: not tried */
    double missed[CHOOSY_K_TRIED + 2];
    for (unsigned i = 0; i <= CHOOSY_K_TRIED + 1; i++) missed[i] = INFINITY, rough[i].k = 0;
    unsigned k = (unsigned)fmax(1, fmin(CHOOSY_K_TRIED, round(0.6 * c.bits_per_key)));
    for (unsigned next = k; next >= 1 && next <= CHOOSY_K_TRIED && rough[next].k == 0;) {
        rough[next] = c;
        rough[next].k = next;
        const ebi_choosy_rates r = choosy_solve_rough(&rough[next], fpr);
        missed[next] = r.mean_fpr > fpr * 1.001 ? 2 : r.mean_fnr;
        if (missed[next] <= missed[k]) k = next;
        next = rough[k + 1].k == 0 && k < CHOOSY_K_TRIED ? k + 1 : k - 1;
    }
    if (only_roughly) return rough[k];
    c.k = k;
    const double best = choosy_solve_near(&c, fpr, &rough[k]).mean_fnr;
    /* Long steps favour large k a little, so one bit less may be better after all. */
    if (k == 1 || !(missed[k - 1] < missed[k] * 1.05)) return c;
    ebi_choosy fewer = rough[k - 1];
    fewer.rough = false;
    const ebi_choosy_rates r = choosy_solve_near(&fewer, fpr, &rough[k - 1]);
    return r.mean_fpr <= fpr * 1.001 && r.mean_fnr < best ? fewer : c;
}

/* Streams in any order.  The bits that are set belong to keys that came, and no line is fuller than
 * xmax.  So the n-th distinct key has at most the rate of a filter that took in all n - 1 before
 * it, up to xmax, however often and in what order they came. xmax is planned for the mean of that
 * over all keys.  The first keys have so few false positives that the last ones may exceed the
 * wanted rate. */
static double choosy_worst_fpr(ebi_choosy c, double xmax) {
    assert(xmax > 0 && xmax <= 1);
    c.s = c.k;
    c.share = choosy_share(1);
    c.only_fpr = true;
    c.xmax = xmax;
    return ebi_choosy_field(&c).mean_fpr;
}

static double choosy_cap_of_mean(const ebi_choosy *c, double fpr) {
    double low = choosy_cap(fpr, c->k), high = 1;
    double below = log(choosy_worst_fpr(*c, low) / fpr),
           above = log(choosy_worst_fpr(*c, high) / fpr);
    if (above <= 0) return high;
    if (below > 0) return low;
    for (int i = 0; below < -1e-3 && high - low > 1e-4; i++) {
        const double line = below / (below - above), cut = fmin(fmax(line, 0.02), 0.98);
        const double middle = low + (high - low) * (i % 3 < 2 ? cut : 0.5);
        const double now = log(choosy_worst_fpr(*c, middle) / fpr);
        *(now <= 0 ? &low : &high) = middle;
        *(now <= 0 ? &below : &above) = now;
    }
    return low;
}

/* In an unknown order some keys may come far more often than others: docs/decisions/choosy.md. */
static const double choosy_retry = 0.3;

/* The best s for c->k if the stream is shuffled after all.  Returns the share of misses. */
static double choosy_solve_any_s(ebi_choosy *c, double fpr, bool only_roughly) {
    static const double tried[] = {-0.75, -0.5, -0.25, 0, 0.5};
    double best = c->s = c->k, best_fnr;
    c->rough = true; /* accurate enough for xmax, not for small differences between misses */
    c->xmax = choosy_cap_of_mean(c, fpr);
    if (choosy_worst_fpr(*c, c->xmax) > fpr * 1.001) return 2;
    c->rough = only_roughly;
    best_fnr = ebi_choosy_field(c).mean_fnr;
    for (size_t i = 0; i < EBI_COUNT_OF(tried) && best_fnr > 0; i++) {
        c->s = tried[i];
        const double fnr = ebi_choosy_field(c).mean_fnr;
        if (fnr >= best_fnr) continue;
        best = c->s;
        best_fnr = fnr;
    }
    c->s = best;
    return best_fnr;
}

/* The best k as well, from the usual one up and down as long as there are fewer misses. */
static ebi_choosy choosy_solve_any(ebi_choosy c, unsigned k_min, unsigned k_max, double fpr,
                                   bool only_roughly, double *kept) {
    assert(k_min >= 1 && k_min <= k_max);
    if (c.retry == 0) c.retry = choosy_retry;
    ebi_choosy best = c;
    const unsigned usual =
        (unsigned)fmax(k_min, fmin(k_max, fmax(round(0.6 * c.bits_per_key), 1 - log2(fpr) / 3)));
    double best_fnr = INFINITY, last = INFINITY, missed;
    for (c.k = usual; c.k <= k_max; c.k++, last = missed) {
        missed = choosy_solve_any_s(&c, fpr, only_roughly);
        if (missed < best_fnr) best = c, best_fnr = missed;
        if (missed > last) break;
    }
    last = INFINITY;
    for (c.k = usual - 1; c.k >= k_min; c.k--, last = missed) {
        missed = choosy_solve_any_s(&c, fpr, only_roughly);
        if (missed < best_fnr) best = c, best_fnr = missed;
        if (missed > fmin(last, best_fnr)) break;
    }
    best.rough = false;
    best.xmax = choosy_cap_of_mean(&best, fpr);
    *kept = choosy_worst_fpr(best, best.xmax);
    return best;
}

/* Of the two whole numbers near k, the one with fewer false positives while all keys come. */
static double choosy_plain_k(double k, double bits_per_key) {
    const double low = fmax(1, floor(k)), high = fmax(1, ceil(k));
    if (!(high <= CHOOSY_K_MAX)) return CHOOSY_K_MAX;
    const ebi_choosy few = {.k = (unsigned)low, .bits_per_key = bits_per_key};
    const ebi_choosy many = {.k = (unsigned)high, .bits_per_key = bits_per_key};
    return choosy_worst_fpr(few, 1) <= choosy_worst_fpr(many, 1) ? low : high;
}

static unsigned choosy_start_k(const ebi_args *a, double bits_per_key) {
    double k = 6;
    if (a->given[EBI_CHOOSY_K])
        k = a->real[EBI_CHOOSY_K];
    else if (a->given[EBI_CHOOSY_DISTINCT])
        k = choosy_plain_k(0.8 * bits_per_key, bits_per_key);
    else if (a->given[EBI_CHOOSY_FPR])
        k = round(-log2(a->real[EBI_CHOOSY_FPR]));
    return (unsigned)fmax(1, fmin(CHOOSY_K_MAX, k));
}

static eb_status choosy_solve(ebi_params *p, const ebi_args *a, eb_error *err) {
    const double bits = (double)p->opt[EBI_O_CELLS] * (double)p->opt[EBI_O_SHARDS];
    const double fpr = a->real[EBI_CHOOSY_FPR] * choosy_aim;
    double kept = 0; /* a rate that is guaranteed or predicted */
    ebi_choosy c = {.xmax = a->real[EBI_CHOOSY_XMAX],
                    .bits_per_key =
                        a->given[EBI_CHOOSY_DISTINCT] ? bits / a->real[EBI_CHOOSY_DISTINCT] : 0,
                    .share = choosy_share(a->real[EBI_CHOOSY_SHARE]),
                    .retry = a->real[EBI_CHOOSY_RETRY]};
    c.k = choosy_start_k(a, c.bits_per_key);
    c.s = a->given[EBI_CHOOSY_S] ? a->real[EBI_CHOOSY_S] : c.k;
    if (a->given[EBI_CHOOSY_FPR] && !a->given[EBI_CHOOSY_DISTINCT] && !a->given[EBI_CHOOSY_XMAX]) {
        c.xmax = choosy_cap(a->real[EBI_CHOOSY_FPR], c.k);
        kept = pow(c.xmax, c.k);
    } else if (p->opt[EBI_CHOOSY_ORDER] == EBI_CHOOSY_ANY) {
        if (!a->given[EBI_CHOOSY_FPR] || !a->given[EBI_CHOOSY_DISTINCT])
            return ebi_fail(err, EB_ESPEC, "choosy: order=any needs fpr and distinct");
        if (a->given[EBI_CHOOSY_S] || a->given[EBI_CHOOSY_XMAX])
            return ebi_fail(err, EB_ESPEC, "choosy: order=any chooses tolerance and max_fill");
        kept = INFINITY;
        c = choosy_solve_any(c, a->given[EBI_CHOOSY_K] ? c.k : 1, a->given[EBI_CHOOSY_K] ? c.k : 8,
                             fpr, a->rough, &kept);
    } else if (a->given[EBI_CHOOSY_FPR] && a->given[EBI_CHOOSY_DISTINCT] &&
               !a->given[EBI_CHOOSY_S] && ebi_choosy_field(&c).mean_fpr > fpr) {
        if (a->given[EBI_CHOOSY_K])
            kept = choosy_solve_s(&c, fpr, a->rough).mean_fpr;
        else
            c = choosy_solve_k(c, fpr, a->rough);
    }
    if (kept > a->real[EBI_CHOOSY_FPR])
        return ebi_fail(err, EB_ESPEC, "choosy: k=%u is too small for fpr=%g", c.k,
                        a->real[EBI_CHOOSY_FPR]);
    choosy_store(p, a, &c);
    return EB_OK;
}

static eb_status choosy_size(ebi_params *p, const ebi_args *a, eb_error *err) {
    const uint64_t budget = ebi_budget(p);
    if (!a->given[EBI_O_CELLS] && budget > sizeof(ebi_choosy_state))
        p->opt[EBI_O_CELLS] = (budget - sizeof(ebi_choosy_state)) * 8;
    const uint64_t cells = p->opt[EBI_O_CELLS];
    if (cells % EBI_CHOOSY_BITS != 0)
        return ebi_fail(err, EB_ESPEC, "choosy: cells must be a multiple of %d, not %llu",
                        EBI_CHOOSY_BITS, (unsigned long long)cells);
    if (cells == 0)
        return ebi_fail(err, EB_ESPEC, "choosy: memory=%llu is too small for shards=%llu",
                        (unsigned long long)p->opt[EBI_O_MEMORY],
                        (unsigned long long)p->opt[EBI_O_SHARDS]);
    p->span = EBI_CHOOSY_LINES_AT + cells / 8;
    return EB_OK;
}

static eb_status choosy_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    EBI_TRY(choosy_size(p, a, err));
    return a->given[EBI_CHOOSY_K] && a->given[EBI_CHOOSY_S] ? EB_OK : choosy_solve(p, a, err);
}

static void choosy_init(const ebi_params *p, uint8_t *block) {
    (void)p;
    ebi_store64(block + sizeof(ebi_block_head), EBI_CHOOSY_R_ONE);
}

/* Loops */

EBI_INLINE void choosy_set(uint8_t *line, uint64_t fields, unsigned n, uint64_t take) {
#pragma GCC unroll 6
    for (unsigned i = 0; take && i < n; i++, fields >>= EBI_CHOOSY_FIELD_BITS)
        ebi_bit_set(line, fields % EBI_CHOOSY_BITS);
}

EBI_INLINE bool choosy_put(uint8_t *line, uint64_t fields, unsigned n) {
    const bool all = choosy_zeros(line, fields, n) == 0;
    choosy_set(line, fields, n, !all);
    return all;
}

EBI_INLINE void choosy_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen,
                           unsigned k, bool far) {
    const ebi_choosy_code code = {choosy_zeros, ebi_bits_count_512, choosy_set, choosy_put};
    ebi_choosy_add(p, block, b, seen, k, far, code);
}

EBI_INLINE void choosy_test(const ebi_params *p, const uint8_t *block, const eb_hash *h, size_t n,
                            uint8_t *seen, unsigned k, bool far) {
    const ebi_choosy_code code = {.zeros = choosy_zeros};
    ebi_choosy_test(p, block, h, n, seen, k, far, code);
}

EBI_INLINE unsigned choosy_k(const ebi_params *p) {
    return ebi_choosy_k(p);
}

EBI_LOOPS(choosy)

const ebi_ops *ebi_choosy_portable(const ebi_params *p) {
    return choosy_loops(p);
}

static const ebi_ops *choosy_select(const ebi_params *p) {
    const ebi_ops *const fast = ebi_choosy_avx2(p);
    return fast ? fast : ebi_choosy_portable(p);
}

/* The whole filter */

static eb_status choosy_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    const uint64_t keys = ebi_head_of(block)->items, r = ebi_load64(block + sizeof(ebi_block_head));
    const unsigned line_max = ebi_choosy_line_max(p);
    uint64_t used = 0;
    if (r == 0 || r > EBI_CHOOSY_R_ONE || (keys == 0 && r != EBI_CHOOSY_R_ONE))
        return ebi_fail(err, EB_EFORMAT, "damaged choosy filter: share of new keys out of range");
    if (!ebi_tail_is_zero(block + sizeof(ebi_block_head), 64, sizeof(ebi_choosy_state)))
        return ebi_fail(err, EB_EFORMAT, "damaged choosy filter: reserved bytes are not zero");
    for (uint64_t i = 0; i < ebi_choosy_lines(p); i++) {
        const unsigned one = ebi_bits_count_512(block + EBI_CHOOSY_LINES_AT + i * EBI_CHOOSY_BYTES);
        if (one > line_max)
            return ebi_fail(err, EB_EFORMAT, "damaged choosy filter: line %llu is over max_fill",
                            (unsigned long long)i);
        used += one;
    }
    if ((used + p->opt[EBI_CHOOSY_K] - 1) / p->opt[EBI_CHOOSY_K] > keys)
        return ebi_fail(err, EB_EFORMAT,
                        "damaged choosy filter: more bits are set than %llu keys can set",
                        (unsigned long long)keys);
    return EB_OK;
}

static void choosy_stat(const ebi_params *p, const uint8_t *block, eb_stats *s) {
    const uint64_t lines = ebi_choosy_lines(p);
    double passed[EBI_CHOOSY_BITS +
                  1]; /* the probability that a new key passes in a line with so many bits */
    for (unsigned i = 0; i <= EBI_CHOOSY_BITS; i++)
        passed[i] = pow(i / 512., (double)p->opt[EBI_CHOOSY_K]);
    s->cells = p->opt[EBI_O_CELLS];
    for (uint64_t i = 0; i < lines; i++) {
        const unsigned used =
            ebi_bits_count_512(block + EBI_CHOOSY_LINES_AT + i * EBI_CHOOSY_BYTES);
        s->cells_used += used;
        s->fpr += passed[used];
    }
    s->fpr /= (double)lines;
}

/* The load of a line that takes in no more new keys, while almost all keys are called new. */
static double choosy_full(const ebi_params *p) {
    const double s = (double)(int64_t)p->opt[EBI_CHOOSY_S] / EBI_CHOOSY_MILLION,
                 k = (double)p->opt[EBI_CHOOSY_K];
    const double stops = s < 0 && p->opt[EBI_CHOOSY_RETRY] == 0 ? 1 + s / k : 1;
    return fmin((double)p->opt[EBI_CHOOSY_XMAX] / EBI_CHOOSY_MILLION, stops);
}

static ebi_choosy choosy_of(const ebi_params *p, double distinct, double share, bool rough) {
    return (ebi_choosy){
        .k = choosy_k(p),
        .s = (double)(int64_t)p->opt[EBI_CHOOSY_S] / EBI_CHOOSY_MILLION,
        .xmax = (double)p->opt[EBI_CHOOSY_XMAX] / EBI_CHOOSY_MILLION,
        .bits_per_key = (double)p->opt[EBI_O_CELLS] / distinct,
        .share = choosy_share(share),
        .rough = rough,
        .retry = (double)p->opt[EBI_CHOOSY_RETRY] / EBI_CHOOSY_MILLION,
    };
}

static void choosy_tell(const ebi_choosy *c, const ebi_choosy_rates *r, double worst,
                        eb_prediction *out) {
    out->settles_after = 0;
    out->fill = r->load;
    out->fpr = r->fpr;
    out->fnr = r->fnr;
    out->mean_fpr = r->mean_fpr;
    out->mean_fnr = r->mean_fnr;
    out->most_fpr = fmin(worst, pow(c->xmax, c->k));
}

static bool choosy_curve(const ebi_params *p, const eb_workload *w, eb_prediction *out, size_t n) {
    enum { CHOOSY_PLACES = 128 };
    if (!(w->distinct > 0) || w->gap > 0) return false;
    ebi_repeats stream;
    ebi_repeats_of(&stream, w->items, w->distinct, w->zipf, NULL);
    ebi_choosy c = choosy_of(p, w->distinct, w->distinct / w->items, false), all = c;
    all.s = all.k; /* like choosy_worst_fpr, at the same numbers of distinct keys */
    all.share = choosy_share(1);
    all.only_fpr = true;
    for (size_t done = 0; done < n; done += CHOOSY_PLACES) {
        double place[CHOOSY_PLACES], distinct[CHOOSY_PLACES];
        ebi_choosy_rates r[CHOOSY_PLACES], worst[CHOOSY_PLACES];
        const size_t some = ebi_min_size(n - done, CHOOSY_PLACES);
        for (size_t i = 0; i < some; i++) {
            place[i] = out[done + i].items / w->items;
            distinct[i] = fmin(1, ebi_repeats_distinct(&stream, out[done + i].items) / w->distinct);
        }
        ebi_choosy_course(&c, w->zipf > 0 ? &stream : NULL, place, r, some);
        ebi_choosy_course(&all, NULL, distinct, worst, some);
        for (size_t i = 0; i < some; i++)
            choosy_tell(&c, &r[i], c.s >= c.k ? r[i].mean_fpr : worst[i].mean_fpr, &out[done + i]);
    }
    return true;
}

static void choosy_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    out->settles_after = 0;
    if (w->items == 0 && w->distinct == 0) { /* endlessly many new keys */
        out->fill = choosy_full(p);
        out->fpr = out->mean_fpr = pow(out->fill, (double)p->opt[EBI_CHOOSY_K]);
        out->fnr = out->mean_fnr = 1 - out->fpr; /* hardly any of them was taken in */
        if (w->gap > 0) out->unused |= EB_UNUSED_GAP;
        return;
    }
    const double distinct = w->distinct > 0 ? w->distinct : w->items;
    const ebi_choosy c =
        choosy_of(p, distinct, w->items > 0 ? distinct / w->items : 1e-6, ebi_asks_roughly(out));
    if (w->order == EB_ORDER_PASSES) {
        const ebi_choosy_rates r =
            ebi_choosy_passes(&c, w->items > 0 ? 1 / c.share : EBI_CHOOSY_MILLION);
        choosy_tell(&c, &r, c.s >= c.k ? r.mean_fpr : choosy_worst_fpr(c, c.xmax), out);
        out->accuracy = 0.1;
        if (c.xmax < 1) /* some lines are full before the average one is */
            out->fnr_high = fmin(1, 1.1 * fmax(r.fnr, r.mean_fnr) + 0.04);
        return;
    }
    if (w->gap > 0) out->unused |= EB_UNUSED_GAP;
    if (w->gap > 0 && c.s < c.k) { /* meanwhile other keys may set a refused key's bits */
        out->fpr_high = out->most_fpr = fmin(choosy_worst_fpr(c, c.xmax), pow(c.xmax, c.k));
        if (w->zipf > 0) out->unused |= EB_UNUSED_ZIPF;
        return;
    }
    ebi_repeats stream;
    /* If all keys are taken in, only distinct ones matter. */
    const bool skewed = w->zipf > 0 && (c.s < c.k || c.xmax < 1);
    if (skewed) ebi_repeats_of(&stream, distinct / c.share, distinct, w->zipf, NULL);
    const ebi_choosy_rates r = skewed ? ebi_choosy_skewed(&c, &stream) : ebi_choosy_field(&c);
    choosy_tell(&c, &r, c.s >= c.k ? r.mean_fpr : choosy_worst_fpr(c, c.xmax), out);
    if (skewed) { /* predicts too few misses where there are few */
        out->accuracy = 0.1;
        out->fnr_high = fmin(1, 1.2 * r.mean_fnr);
        out->fpr_high = out->most_fpr;
        out->mean_fpr = fmin(out->mean_fpr, out->most_fpr);
    }
    if (c.xmax < 1 && isnan(out->accuracy))
        out->accuracy = 0.2; /* when lines are full depends on chance */
    if (w->gap > 0) {        /* new keys may come later than in a shuffled stream */
        out->fnr_low = 0;
        out->fnr_high = fmin(1, 1.2 * fmax(r.fnr, r.mean_fnr));
    }
}

static double choosy_touched(const ebi_params *p) {
    (void)p;
    return 1;
}

const ebi_kind ebi_kind_choosy = {
    .info = {"choosy", "a blocked Bloom filter that leaves out expensive keys when memory is short",
             "everbloom's own; compare Bera, Dutta, Narang and Bhattacherjee, 2012", 0,
             choosy_options, "Was it there before, when not all keys quite fit?"},
    .version = 1,
    .traits = EBI_LONG_BATCHES,
    .resolve = choosy_resolve,
    .select = choosy_select,
    .init = choosy_init,
    .check = choosy_check,
    .stat = choosy_stat,
    .predict = choosy_predict,
    .curve = choosy_curve,
    .lines = choosy_touched,
};
