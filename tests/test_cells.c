/* test_cells.c - packed cells of every width and bit arrays against plain arrays. */
#include "cells/bitarray.h"
#include "cells/fading.h"
#include "suite.h"

enum { CELLS = 301, BYTES = CELLS * 2 + 16, GUARD = 0xb7 };

/* An array of CELLS cells with a guard behind the 8 bytes that must follow it. */
typedef struct pair {
    unsigned width;
    uint64_t plain[CELLS];
    uint8_t packed[BYTES + 8];
} pair;

static size_t used_bytes(const pair *a) {
    return (CELLS * a->width + 7) / 8 + 8;
}

static void pair_init(pair *a, unsigned width) {
    memset(a, 0, sizeof *a);
    a->width = width;
    memset(a->packed + used_bytes(a), GUARD, sizeof a->packed - used_bytes(a));
}

static void pair_agrees(const pair *a) {
    uint64_t used = 0;
    for (uint64_t i = 0; i < CELLS; i++) {
        uint64_t slow = 0;
        for (unsigned b = 0; b < a->width; b++) {
            const uint64_t bit = i * a->width + b;
            slow |= (uint64_t)((a->packed[bit / 8] >> (bit % 8)) & 1) << b;
        }
        HOLDS(slow == a->plain[i] && ebi_cell_get(a->packed, a->width, i) == slow);
        used += slow != 0;
    }
    HOLDS(ebi_cells_used(a->packed, a->width, CELLS) == used);
    HOLDS(ebi_tail_is_zero(a->packed, CELLS * a->width, used_bytes(a)));
    for (size_t i = used_bytes(a); i < sizeof a->packed; i++) HOLDS(a->packed[i] == GUARD);
}

static void pair_set(pair *a, uint64_t i, uint64_t value) {
    a->plain[i] = value;
    ebi_cell_set(a->packed, a->width, i, value);
}

static void pair_fade(pair *a, uint64_t first, uint64_t n) {
    for (uint64_t i = first; i < first + n; i++) a->plain[i] -= a->plain[i] > 0;
    ebi_cells_fade(a->packed, ebi_lanes(a->width), first, n);
}

static void packed_cells_equal_plain_ones(void **state) {
    (void)state;
    uint64_t random = 1;
    for (unsigned width = 1; width <= 16; width++) {
        pair a;
        pair_init(&a, width);
        suite_at("cells of %u bits, seed 1", width);
        for (int i = 0; i < 3000; i++) {
            const uint64_t at = suite_below(&random, CELLS), what = suite_below(&random, 8);
            if (what < 6)
                pair_set(&a, at,
                         suite_random(&random) >> suite_below(&random, 3) & ebi_ones(width));
            else
                pair_fade(&a, at, suite_below(&random, CELLS - at + 1));
            if (i % 50 == 0) pair_agrees(&a);
        }
        pair_agrees(&a);
        for (unsigned i = 0; i < (1u << width) && i < 300; i++) pair_fade(&a, 0, CELLS);
        pair_agrees(&a);
    }
}

static void counting_stops_at_n(void **state) {
    (void)state;
    for (unsigned width = 1; width <= 16; width++) {
        pair a;
        pair_init(&a, width);
        for (uint64_t i = 0; i < CELLS; i++) pair_set(&a, i, ebi_ones(width));
        suite_at("cells of %u bits", width);
        for (uint64_t n = 0; n <= CELLS; n++) HOLDS(ebi_cells_used(a.packed, width, n) == n);
    }
}

static void tails_are_looked_at(void **state) {
    (void)state;
    uint8_t bytes[24] = {0};
    for (unsigned bits = 0; bits <= 8 * sizeof bytes; bits++)
        for (unsigned set = 0; set < 8 * sizeof bytes; set++) {
            bytes[set / 8] = (uint8_t)(1 << set % 8);
            HOLDS(ebi_tail_is_zero(bytes, bits, sizeof bytes) == (set < bits));
            bytes[set / 8] = 0;
        }
}

static void bit_arrays_equal_plain_ones(void **state) {
    (void)state;
    enum { BITS = 777 };
    uint8_t bits[(BITS + 7) / 8 + 8] = {0};
    bool plain[BITS] = {false};
    uint64_t random = 2;
    for (int i = 0; i < 5000; i++) {
        const uint64_t at = suite_below(&random, BITS), from = suite_below(&random, BITS);
        const uint64_t to = from + suite_below(&random, BITS - from + 1);
        plain[at] = suite_below(&random, 2);
        if (plain[at])
            ebi_bit_set(bits, at);
        else
            ebi_bit_clear(bits, at);
        uint64_t count = 0;
        for (uint64_t j = 0; j < BITS; j++) {
            HOLDS(ebi_bit(bits, j) == plain[j]);
            count += plain[j] && j >= from && j < to;
        }
        HOLDS(ebi_bits_count(bits, from, to) == count);
    }
    HOLDS(ebi_tail_is_zero(bits, BITS, sizeof bits));
}

/* Fading takes P cells an arrival in the long run, exactly so for the sweep. */
static void fading_takes_what_it_should(void **state) {
    (void)state;
    enum { N = 1000, ARRIVALS = 4000, WIDTH = 16 };
    static const uint64_t p = 3250000; /* 3.25 cells */
    for (unsigned policy = EBI_FADE_SWEEP; policy <= EBI_FADE_RANDOM; policy++) {
        uint8_t cells[N * WIDTH / 8 + 8] = {0};
        ebi_fading_state fade = {0};
        uint64_t rng = 5, sum = 0;
        for (uint64_t i = 0; i < N; i++) ebi_cell_set(cells, WIDTH, i, 60000);
        const ebi_fading_cells f = ebi_fading(cells, N, WIDTH, policy, p, &fade, &rng);
        for (int i = 0; i < ARRIVALS; i++) ebi_fading_arrival(&f);
        for (uint64_t i = 0; i < N; i++) {
            const uint64_t taken = 60000 - ebi_cell_get(cells, WIDTH, i);
            sum += taken;
            HOLDS(policy != EBI_FADE_SWEEP || taken == ARRIVALS * 13 / 4 / N);
        }
        suite_at("delete policy %u took %llu", policy, (unsigned long long)sum);
        /* the rounding of 0.25 has a deviation of sqrt(4000 x 3/16) = 27 */
        HOLDS(sum + 5 * 28 > 13000 && sum < 13000 + 5 * 28);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_cells_equal_plain_ones),
        cmocka_unit_test(counting_stops_at_n),
        cmocka_unit_test(tails_are_looked_at),
        cmocka_unit_test(bit_arrays_equal_plain_ones),
        cmocka_unit_test(fading_takes_what_it_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
