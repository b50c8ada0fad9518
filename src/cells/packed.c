/* packed.c - counts and checks a whole array of packed cells. */
#include "packed.h"

uint64_t ebi_cells_used(const uint8_t *cells, unsigned width, uint64_t n) {
    const ebi_lane_set l = ebi_lanes(width);
    uint64_t used = 0;
    for (uint64_t bit = 0; n > 0; bit += (uint64_t)l.each * width) {
        const unsigned now = n < l.each ? (unsigned)n : l.each;
        const uint64_t mask = ebi_ones(now * width);
        const uint64_t x = (ebi_load64(cells + (bit >> 3)) >> (bit & 7)) & mask;
        used += ebi_popcount(ebi_cells_nonzero(x, l.ones & mask, width));
        n -= now;
    }
    return used;
}

bool ebi_tail_is_zero(const uint8_t *cells, uint64_t bits, uint64_t bytes) {
    if (bits % 8 != 0 && cells[bits / 8] >> (bits % 8) != 0) return false;
    const uint64_t whole = (bits + 7) / 8;
    return whole >= bytes || ebi_is_zero(cells + whole, bytes - whole);
}
