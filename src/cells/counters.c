/* counters.c - what all stores of counters share, and the simplest store, u32. */
#include "u32.h"

uint64_t ebi_counters_bytes(const ebi_store *store, uint64_t n, uint64_t bits) {
    if (bits == 0) bits = store->bits_usual;
    const uint64_t whole = n / 1000000 * bits + n % 1000000 * bits / 1000000;
    return sizeof(ebi_store_state) + ebi_round_up(whole / 8 + 1, 64) + store->bytes_more;
}

bool ebi_counters_plain(const ebi_store_state *state, size_t kept) {
    assert(kept <= EBI_COUNT_OF(state->reserved));
    return ebi_is_zero(state->reserved + kept, sizeof state->reserved - kept * sizeof(uint64_t));
}

void ebi_source_read(const ebi_source *from, uint64_t first, uint64_t count, uint64_t *value) {
    assert(first + count <= from->counters->n);
    uint64_t index[64];
    for (uint64_t done = 0; done < count;) {
        const uint64_t n = ebi_min(count - done, EBI_COUNT_OF(index));
        for (uint64_t i = 0; i < n; i++) index[i] = first + done + i;
        from->store->read(from->counters, index, (size_t)n, value + done);
        done += n;
    }
}

/* u32: | state, 64 bytes | n words |. The largest value of a word means saturated. */

static void counters_u32_open(ebi_counter_array *c) {
    assert(c->bytes >= sizeof *c->state + 4 * c->n);
    c->cells = (uint8_t *)c->state + sizeof *c->state;
}

static void counters_u32_read(const ebi_counter_array *c, const uint64_t *i, size_t count,
                              uint64_t *value) {
    for (size_t j = 0; j < count; j++) value[j] = ebi_u32_get(c, i[j]);
}

static void counters_u32_sub(const ebi_counter_array *c, uint64_t i, uint64_t by) {
    const uint64_t value = ebi_u32_get(c, i);
    assert(by <= value);
    if (value < EBI_COUNTER_MAX) ebi_u32_set(c, i, value - by);
}

static bool counters_u32_check(const ebi_counter_array *c) {
    uint64_t saturated = 0;
    for (uint64_t i = 0; i < c->n; i++) saturated += ebi_u32_get(c, i) == EBI_COUNTER_MAX;
    return c->state->spilled == 0 && ebi_counters_plain(c->state, 0) &&
           saturated == c->state->saturated &&
           ebi_is_zero(c->cells + 4 * c->n, c->bytes - sizeof *c->state - 4 * c->n);
}

const ebi_store ebi_store_u32 = {.name = "u32",
                                 .bits_least = 32000000,
                                 .bits_usual = 32000000,
                                 .open = counters_u32_open,
                                 .get = ebi_u32_get,
                                 .read = counters_u32_read,
                                 .add = ebi_u32_add,
                                 .raise = ebi_u32_raise,
                                 .sub = counters_u32_sub,
                                 .address = ebi_u32_address,
                                 .check = counters_u32_check};
