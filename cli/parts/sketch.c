/* sketch.c - how many different keys: HyperLogLog, exact for few. */
#include "sketch.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first bits of a hash choose a register, which keeps the longest run of zeros behind them. */
static void add_to_registers(sketch *s, eb_hash hash) {
    const size_t at = (size_t)(hash >> (64 - s->bits));
    const uint64_t rest = hash << s->bits | UINT64_C(1) << (s->bits - 1);
    const uint8_t rank = (uint8_t)(__builtin_clzll(rest) + 1);
    if (rank > s->registers[at]) s->registers[at] = rank;
}

static void spread(sketch *s) {
    const size_t m = (size_t)1 << s->bits;
    s->registers = cli_alloc(m);
    memset(s->registers, 0, m);
    for (size_t i = 0; i < s->n; i++) add_to_registers(s, s->hash[i]);
    free(s->hash);
    s->hash = NULL;
}

void sketch_add(sketch *s, eb_hash hash) {
    assert(s->bits >= 4 && s->bits <= 20);
    if (s->registers) {
        add_to_registers(s, hash);
        return;
    }
    for (size_t i = 0; i < s->n; i++)
        if (s->hash[i] == hash) return;
    if (!s->hash) s->hash = cli_alloc((SKETCH_EXACT + 1) * sizeof *s->hash);
    s->hash[s->n++] = hash;
    if (s->n > SKETCH_EXACT) spread(s);
}

static double sigma(double x) {
    double y = 1, z = x, old;
    if (x == 1) return INFINITY;
    do {
        old = z;
        x *= x;
        z += x * y;
        y += y;
    } while (z != old);
    return z;
}

static double tau(double x) {
    double y = 1, z = 1 - x, old;
    if (x == 0 || x == 1) return 0;
    do {
        old = z;
        x = sqrt(x);
        y /= 2;
        z -= (1 - x) * (1 - x) * y;
    } while (z != old);
    return z / 3;
}

double sketch_estimate(const sketch *s) {
    if (!s->registers) return (double)s->n;
    const size_t m = (size_t)1 << s->bits;
    const unsigned most = 64 - s->bits; /* ranks are 0 to most + 1 */
    uint32_t with[66] = {0};
    for (size_t i = 0; i < m; i++) with[s->registers[i]]++;
    double z = (double)m * tau(1 - with[most + 1] / (double)m);
    for (unsigned rank = most; rank >= 1; rank--) z = (z + with[rank]) / 2;
    z += (double)m * sigma(with[0] / (double)m);
    return (double)m / (2 * log(2)) * ((double)m / z);
}

double sketch_error(const sketch *s) {
    return s->registers ? 1.04 / sqrt((double)((size_t)1 << s->bits)) : 0;
}

void sketch_free(sketch *s) {
    free(s->hash);
    free(s->registers);
    *s = (sketch){.bits = s->bits};
}
