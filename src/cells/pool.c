/* pool.c - counters that borrow digits from a common pool.  The layout is in pool.h. */
#include "pool.h"

enum { POOL_DIGIT = 15 };
static const uint32_t pool_nobody = UINT32_MAX;

static uint32_t pool_link(uint64_t word_or_entry) {
    return (uint32_t)word_or_entry >> 4;
}

static uint32_t pool_word(uint32_t link, uint64_t digit) {
    assert(link <= EBI_POOL_MAX + 1);
    return link << 4 | (uint32_t)(digit & POOL_DIGIT);
}

static uint64_t pool_entry(uint32_t owner, uint32_t word) {
    return (uint64_t)owner << 32 | word;
}

static uint32_t pool_owner(uint64_t entry) {
    return (uint32_t)(entry >> 32);
}

void ebi_pool_init(const ebi_pool *pool) {
    assert(pool->size <= EBI_POOL_MAX);
    for (uint64_t i = 0; i < pool->size; i++)
        pool->entry[i] =
            pool_entry(pool_nobody, pool_word(i + 1 < pool->size ? (uint32_t)i + 2 : 0, 0));
    *pool->free = pool->size > 0;
    *pool->in_use = 0;
}

uint64_t ebi_pool_get(const ebi_pool *pool, uint32_t word) {
    uint64_t value = word & POOL_DIGIT;
    unsigned shift = 4;
    for (uint32_t link = pool_link(word); link != 0; shift += 4) {
        const uint64_t entry = pool->entry[link - 1];
        value |= (entry & POOL_DIGIT) << shift;
        link = pool_link(entry);
    }
    return value;
}

static unsigned pool_length(const ebi_pool *pool, uint32_t word) {
    unsigned n = 0;
    for (uint32_t link = pool_link(word); link != 0; link = pool_link(pool->entry[link - 1])) n++;
    return n;
}

static uint32_t pool_take(const ebi_pool *pool) {
    assert(*pool->free > 0 && *pool->free <= pool->size);
    const uint32_t link = (uint32_t)*pool->free;
    *pool->free = pool_link(pool->entry[link - 1]);
    ++*pool->in_use;
    return link;
}

static void pool_give(const ebi_pool *pool, uint32_t link) { /* this entry and all after it */
    assert(link <= pool->size);
    while (link != 0) {
        const uint32_t next = pool_link(pool->entry[link - 1]);
        pool->entry[link - 1] = pool_entry(pool_nobody, pool_word((uint32_t)*pool->free, 0));
        *pool->free = link;
        --*pool->in_use;
        link = next;
    }
}

bool ebi_pool_set(const ebi_pool *pool, uint32_t place, uint32_t *word, uint64_t value) {
    assert(value >> (4 * EBI_POOL_DIGITS) == 0 && place != pool_nobody);
    const unsigned want = value == 0 ? 0 : ebi_log2(value) / 4;
    const unsigned have = pool_length(pool, *word);
    if (want > have && want - have > pool->size - *pool->in_use) return false;
    uint32_t link = pool_link(*word), first = 0, before = 0;
    uint64_t rest = value >> 4;
    for (unsigned i = 0; i < want; i++, rest >>= 4) {
        const uint32_t here = link != 0 ? link : pool_take(pool);
        link = link != 0 ? pool_link(pool->entry[here - 1]) : 0;
        pool->entry[here - 1] = pool_entry(place, pool_word(0, rest));
        if (before == 0)
            first = here;
        else
            pool->entry[before - 1] |= (uint64_t)here << 4;
        before = here;
    }
    pool_give(pool, link);
    *word = pool_word(first, value);
    return true;
}

int ebi_pool_chain(const ebi_pool *pool, uint32_t place, uint32_t word) {
    int n = 0;
    uint64_t highest = 1;
    for (uint32_t link = pool_link(word); link != 0; n++) {
        if (n + 1 == EBI_POOL_DIGITS || link > pool->size) return -1;
        const uint64_t entry = pool->entry[link - 1];
        if (pool_owner(entry) != place) return -1;
        highest = entry & POOL_DIGIT;
        link = pool_link(entry);
    }
    return highest == 0 ? -1 : n;
}

bool ebi_pool_check(const ebi_pool *pool, uint64_t used) {
    uint64_t n = 0;
    if (*pool->free > pool->size || used != *pool->in_use || used > pool->size) return false;
    for (uint32_t link = (uint32_t)*pool->free; link != 0; n++) {
        if (link > pool->size || n == pool->size) return false;
        const uint64_t entry = pool->entry[link - 1];
        if (pool_owner(entry) != pool_nobody || (entry & POOL_DIGIT) != 0) return false;
        link = pool_link(entry);
    }
    return n + used == pool->size;
}
