/* sample.c - see sample.h.  Keys are told apart by 64 bits of hash: among four million, two are
 * alike with a chance of one in two million. */
#include "parts/sample.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct sample_slot {
    eb_hash hash;
    uint32_t last, count; /* the last line with it, from 1; 0: the slot is empty */
} sample_slot;

void sample_open(sample *s, size_t lines) {
    *s = (sample){.cap = lines, .n_slots = 1024};
    s->hash = cli_alloc(lines * sizeof *s->hash);
    s->before = cli_alloc(lines * sizeof *s->before);
    s->slots = cli_alloc(s->n_slots * sizeof *s->slots);
    memset(s->slots, 0, s->n_slots * sizeof *s->slots);
}

static sample_slot *sample_find(sample_slot *slots, size_t n, eb_hash hash) {
    size_t i = (size_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (n - 1);
    while (slots[i].last && slots[i].hash != hash) i = (i + 1) & (n - 1);
    return &slots[i];
}

static void sample_grow(sample *s) {
    const size_t n = 2 * s->n_slots;
    sample_slot *const slots = cli_alloc(n * sizeof *slots);
    memset(slots, 0, n * sizeof *slots);
    for (size_t i = 0; i < s->n_slots; i++)
        if (s->slots[i].last) *sample_find(slots, n, s->slots[i].hash) = s->slots[i];
    free(s->slots);
    s->slots = slots;
    s->n_slots = n;
}

void sample_add(sample *s, eb_hash hash) {
    sample_slot *const slot = sample_find(s->slots, s->n_slots, hash);
    s->hash[s->n] = hash;
    s->before[s->n++] = slot->last;
    slot->hash = hash;
    slot->last = (uint32_t)s->n;
    if (slot->count++ == 0 && 2 * ++s->distinct > s->n_slots) sample_grow(s);
}

/* Distinct keys between a line and the one before with the same key: the lines between that are, so
 * far, the last of their key.  A tree of sums over lines (Fenwick's). */
static uint32_t sample_sum(const uint32_t *tree, size_t i) {
    uint32_t sum = 0;
    for (; i > 0; i -= i & (0 - i)) sum += tree[i];
    return sum;
}

static void sample_shift(uint32_t *tree, size_t n, size_t i, int by) {
    for (; i <= n; i += i & (0 - i)) tree[i] += (uint32_t)by;
}

static int sample_smaller(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double sample_share(int i) { /* from 0 to 1; the last step is 1e-5 */
    return i < SAMPLE_GAPS ? 1 - pow(1e-5, (double)i / (SAMPLE_GAPS - 1)) : 1;
}

static double sample_quantile(const uint32_t *sorted, size_t n, double share) {
    const size_t at = (size_t)(share * (double)n);
    return sorted[at < n ? at : n - 1];
}

static void sample_gaps(sample *s) {
    const size_t repeats = s->n - s->distinct;
    uint32_t *const tree = cli_alloc((s->n + 1) * sizeof *tree);
    uint32_t *const gaps = cli_alloc((repeats + 1) * sizeof *gaps);
    size_t found = 0, near = 0;
    memset(tree, 0, (s->n + 1) * sizeof *tree);
    for (size_t i = 1; i <= s->n; i++) {
        const size_t before = s->before[i - 1];
        if (before) {
            gaps[found++] = sample_sum(tree, i - 1) - sample_sum(tree, before);
            near += i - before <= s->n / 100;
            sample_shift(tree, s->n, before, -1);
        }
        sample_shift(tree, s->n, i, 1);
    }
    qsort(gaps, found, sizeof *gaps, sample_smaller);
    /* Long gaps are what filters miss: the rarer, the finer. */
    for (int i = 0; i < SAMPLE_GAPS && found > 0; i++) {
        const double from = sample_share(i), to = sample_share(i + 1);
        s->gap[i] = sample_quantile(gaps, found, (from + to) / 2);
        s->weight[i] = to - from;
    }
    if (found > 0) {
        s->gap_half = sample_quantile(gaps, found, 0.5);
        s->gap_90 = sample_quantile(gaps, found, 0.9);
        s->gap_99 = sample_quantile(gaps, found, 0.99);
    }
    s->near = found > 0 ? (double)near / (double)found : 0;
    free(tree);
    free(gaps);
}

/* Slope of log count by log rank, over the ranks whose keys come often enough to be told from
 * chance; and the share of repeats that would be near if the lines were shuffled. */
static void sample_skew(sample *s) {
    enum { OFTEN = 8, FEW = 20 };
    uint32_t *const counts = cli_alloc((s->distinct + 1) * sizeof *counts);
    size_t n = 0, used = 0;
    double x = 0, y = 0, xx = 0, xy = 0, near = 0, weight = 0;
    for (size_t i = 0; i < s->n_slots; i++)
        if (s->slots[i].last) counts[n++] = s->slots[i].count;
    qsort(counts, n, sizeof *counts, sample_smaller);
    for (size_t rank = 1; rank <= n; rank++) {
        const double count = counts[n - rank];
        near += (count - 1) * (1 - pow(0.99, count));
        if (count < OFTEN) continue;
        const double lx = log((double)rank), ly = log(count), w = 1 / (double)rank;
        weight += w, x += w * lx, y += w * ly, xx += w * lx * lx, xy += w * lx * ly;
        used++;
    }
    s->near_expected = s->n > s->distinct ? near / (double)(s->n - s->distinct) : 0;
    const double spread = weight * xx - x * x;
    if (used >= FEW && spread > 0) s->zipf = fmax(0, -(weight * xy - x * y) / spread);
    if (s->zipf < 0.2) s->zipf = 0; /* chance alone makes ranks of equal keys fall a little */
    free(counts);
}

void sample_measure(sample *s) {
    sample_gaps(s);
    sample_skew(s);
}

void sample_close(sample *s) {
    free(s->hash);
    free(s->before);
    free(s->slots);
}
