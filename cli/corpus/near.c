/* near.c - near duplicates: MinHash in one permutation, and bands of its values as keys.
 *
 * Two texts that share a share s of their shingles agree in a value of their sketches with chance
 * s, in all rows of a band with s^rows, and in some band with 1 - (1 - s^rows)^bands: a steep curve
 * around the wanted similarity.  The keys of the bands go into a filter; a text with a band that
 * the filter knows is near to one that was there.
 *
 * One permutation: a shingle's hash says its bin and its value there, and a bin keeps the least. So
 * a shingle costs one step, not one for each value.  An empty bin borrows from a bin that depends
 * on its number alone (optimal densification: Shrivastava, 2017). */
#include "text.h"
#include <assert.h>
#include <math.h>

enum { NEAR_VALUES = 256 }; /* at most */

double near_chance(double s, uint32_t bands, uint32_t rows) {
    return -expm1(bands * log1p(-pow(s, rows)));
}

/* What is wrong on both sides of the wanted similarity, if all similarities are alike. */
static double near_error(double wanted, uint32_t bands, uint32_t rows) {
    enum { STEPS = 200 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        const double s = (i + 0.5) / STEPS, p = near_chance(s, bands, rows);
        sum += s < wanted ? p : 1 - p;
    }
    return sum;
}

void near_plan(double similarity, uint32_t *bands, uint32_t *rows) {
    double best = INFINITY;
    for (uint32_t r = 1; r <= 64; r++) {
        const uint32_t most = NEAR_VALUES / r;
        for (uint32_t b = 1; b <= most; b++) {
            const double error = near_error(similarity, b, r);
            if (error >= best) continue;
            best = error;
            *bands = b;
            *rows = r;
        }
    }
}

static uint64_t near_high(uint64_t a, uint64_t b, uint64_t *low) {
    const unsigned __int128 product = (unsigned __int128)a * b;
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
}

static void near_fill_empty(uint64_t *least, const bool *full, uint32_t bins) {
    for (uint32_t i = 0; i < bins; i++) {
        if (full[i]) continue;
        uint64_t from, low;
        uint64_t try = (uint64_t)i << 32;
        do from = near_high(text_mix(++try), bins, &low);
        while (!full[from]);
        least[i] = least[from];
    }
}

void near_keys(const uint64_t *shingle, size_t n, uint32_t bands, uint32_t rows, eb_hash *out) {
    uint64_t least[NEAR_VALUES] = {0};
    bool full[NEAR_VALUES] = {false};
    const uint32_t bins = bands * rows;
    assert(bins > 0 && bins <= NEAR_VALUES && n > 0);
    for (size_t i = 0; i < n; i++) {
        uint64_t value;
        const uint64_t bin = near_high(shingle[i], bins, &value);
        if (full[bin] && least[bin] <= value) continue;
        full[bin] = true;
        least[bin] = value;
    }
    near_fill_empty(least, full, bins);
    for (uint32_t b = 0; b < bands; b++) {
        uint64_t key = text_mix(b + 1);
        for (uint32_t r = 0; r < rows; r++) key = text_mix(key ^ least[b * rows + r]) + key;
        out[b] = text_mix(key);
    }
}
