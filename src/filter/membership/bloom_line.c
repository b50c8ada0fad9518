/* bloom_line.c - the Bloom filter with layout=line (Putze, Sanders and Singler 2007): all k bits of
 * a key are in one line of 512 bits.  The hash chooses the line, and the top nine bits of each
 * further number of the hash choose a bit in it.
 *
 * A key costs one cache line instead of k.  In return more memory is needed for the same rate,
 * because some lines get more keys than others.  If lines have m keys on average, the keys of a
 * line are Poisson(m).  In a line of j keys, j k throws set X of the 512 bits, and a new key passes
 * with probability E[(X/512)^k]. */
#include "bloom.h"
#include "math/probability.h"
#include <math.h>

enum { BLOOM_LINE_BITS = EBI_BLOOM_LINE_BITS, BLOOM_LINE_AHEAD = 24 };

EBI_INLINE unsigned bloom_line_k(const ebi_params *p) {
    return (unsigned)p->opt[EBI_BLOOM_K];
}

EBI_INLINE uint64_t bloom_line_at(const ebi_params *p, eb_hash h) {
    return sizeof(ebi_block_head) + ebi_bloom_line_at(h, p->opt[EBI_O_CELLS] / BLOOM_LINE_BITS);
}

EBI_INLINE void bloom_line_add(const ebi_params *p, uint8_t *block, const ebi_batch *b,
                               uint8_t *seen, unsigned k, bool far) {
    assert(b->n <= EBI_BATCH);
    for (size_t i = 0; far && i < b->n && i < BLOOM_LINE_AHEAD; i++)
        ebi_prefetch_write(block + bloom_line_at(p, b->hash[i]));
    for (size_t i = 0; i < b->n; i++) {
        if (far && i + BLOOM_LINE_AHEAD < b->n)
            ebi_prefetch_write(block + bloom_line_at(p, b->hash[i + BLOOM_LINE_AHEAD]));
        seen[i] = ebi_bloom_line_put(block + bloom_line_at(p, b->hash[i]), b->hash[i], k);
    }
}

EBI_INLINE void bloom_line_test(const ebi_params *p, const uint8_t *block, const eb_hash *h,
                                size_t n, uint8_t *seen, unsigned k, bool far) {
    assert(n <= EBI_BATCH);
    for (size_t i = 0; far && i < n && i < BLOOM_LINE_AHEAD; i++)
        ebi_prefetch_read(block + bloom_line_at(p, h[i])); /* cppcheck-suppress objectIndex */
    for (size_t i = 0; i < n; i++) {
        if (far && i + BLOOM_LINE_AHEAD < n)
            ebi_prefetch_read(block + bloom_line_at(p, h[i + BLOOM_LINE_AHEAD]));
        seen[i] = ebi_bloom_line_has(block + bloom_line_at(p, h[i]), h[i], k);
    }
}

EBI_LOOPS(bloom_line)

const ebi_ops *ebi_bloom_line_loops(const ebi_params *p) {
    return bloom_line_loops(p);
}

/* E[(X/512)^k], where X is the number of bits that `throws` set, from the mean and the variance of
 * X. */
static double bloom_line_of(double throws, double k) {
    assert(throws >= 0);
    const double n = BLOOM_LINE_BITS;
    const double empty = ebi_pow1m(1 / n, throws), full = ebi_one_minus_pow1m(1 / n, throws);
    const double variance = (1 - 1 / n) * ebi_pow1m(2 / n, throws) + empty / n -
                            empty * empty; /* the variance of X/512 */
    if (throws <= 0) return 0;
    const double more = k * (k - 1) / 2 * pow(full, k - 2) * fmax(variance, 0);
    return fmin(pow(full, k) + more, 1);
}

double ebi_bloom_line_rate(double mean, unsigned k) {
    assert(mean >= 0 && k >= 1);
    if (!(mean < 1e4)) return 1;
    const double width = 9 * sqrt(mean) + 25;
    double sum = 0;
    for (double j = fmax(1, floor(mean - width)); j <= mean + width; j++)
        sum += ebi_poisson_pmf(mean, j) * bloom_line_of(j * k, k);
    return fmin(sum, 1);
}

double ebi_bloom_line_mean(double fpr, unsigned k) {
    assert(fpr > 0 && k >= 1);
    double low = -12, high = log(2000);
    for (int i = 0; i < 40; i++) {
        const double middle = (low + high) / 2;
        if (ebi_bloom_line_rate(exp(middle), k) <= fpr)
            low = middle;
        else
            high = middle;
    }
    return exp(low);
}

static unsigned bloom_line_bits(const uint8_t *line, const uint8_t *other) {
    unsigned bits = 0;
    if (!other) return ebi_bits_count_512(line);
    for (unsigned at = 0; at < BLOOM_LINE_BITS / 8; at += 8)
        bits += ebi_popcount(ebi_load64(line + at) | ebi_load64(other + at));
    return bits;
}

double ebi_bloom_line_fpr(const uint8_t *line, const uint8_t *other, uint64_t lines, unsigned k,
                          uint64_t *used) {
    double sum = 0;
    for (uint64_t at = 0; at < lines * (BLOOM_LINE_BITS / 8); at += BLOOM_LINE_BITS / 8) {
        const unsigned bits = bloom_line_bits(line + at, other ? other + at : NULL);
        *used += bits;
        sum += pow(bits / (double)BLOOM_LINE_BITS, (double)k);
    }
    return sum / (double)lines;
}
