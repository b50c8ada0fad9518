/* multiscan.c - frequent keys, exactly, by several readings in little memory (Cohen and
 * Matias, SIGMOD 2003, section 5.2; progressive filtering).
 *
 *     memory:  5/8 counters of this reading | 1/8 bits of earlier ones | 1/4 keys
 *
 * A reading counts the keys that are left in m counters.  Of them only one bit each is
 * kept: did it reach T?  In the next reading a key is left if all its bits of all
 * readings are set; which is so for every key that came T times, since counters are
 * never too low.  Each reading has other counters for a key.  At the same time keys
 * that are left are counted exactly; if they all fit, that was the last reading.
 *
 * With M values for m counters, T >= M/m: four counters a key, minimal increase; few
 * others get past.  Else that would fill everything, and one counter a key sorts out
 * more.  Where M/m is above 2 T, nothing helps but more memory; nor where the frequent
 * keys themselves are too many. */
#include "keyset.h"
#include "query.h"
#include <math.h>
#include <stdio.h>

enum { MULTISCAN_STAGES = 6, MULTISCAN_MEMORY_MIN = 4096, MULTISCAN_SPEC_TEXT = 96 };

typedef struct multiscan_stage {
    ebi_counting shape; /* without its counters */
    uint8_t *bits;
    uint64_t bytes;
} multiscan_stage;

struct eb_multiscan {
    eb_allocator mem;
    uint64_t at_least, cells, seed;
    multiscan_stage stage[MULTISCAN_STAGES];
    unsigned stages;
    char spec[MULTISCAN_SPEC_TEXT];
    eb_filter *f; /* of this reading */
    ebi_keyset set;
    bool set_full, done, stuck;
    bool crowded; /* stuck for want of counters, not of room for keys */
    uint32_t readings;
    double items, passed;           /* in this reading */
    double last_items, last_passed; /* in the one before */
};

/* Life */

static void multiscan_choose(const eb_multiscan *m, double items, char *spec) {
    const bool many = (double)m->at_least < items / (double)m->cells;
    (void)snprintf(spec, MULTISCAN_SPEC_TEXT, "spectral:update=%s,store=u32,cells=%llu",
                   many ? "plain,k=1" : "conservative,k=4", (unsigned long long)m->cells);
}

void eb_multiscan_free(eb_multiscan *m) {
    if (!m) return;
    const eb_allocator mem = m->mem;
    for (unsigned i = 0; i < m->stages; i++) ebi_release(&mem, m->stage[i].bits, m->stage[i].bytes);
    eb_free(m->f);
    ebi_keyset_close(&m->set);
    ebi_release(&mem, m, sizeof *m);
}

eb_status eb_multiscan_new(eb_multiscan **out, double at_least, size_t memory, double items,
                           uint64_t seed, const eb_allocator *mem, eb_error *err) {
    if (!(at_least >= 1 && at_least < UINT32_MAX))
        return ebi_fail(err, EB_EINVAL, "multiscan: the least count must be 1..2^32-2, not %g",
                        at_least);
    if (memory < MULTISCAN_MEMORY_MIN || (uint64_t)memory > EBI_KEYSET_MAX)
        return ebi_fail(err, EB_EINVAL, "multiscan: memory must be 4K..32G, not %llu bytes",
                        (unsigned long long)memory);
    eb_allocator from;
    EBI_TRY(ebi_allocator(&from, mem, err));
    eb_multiscan *const m = ebi_alloc(&from, sizeof *m);
    if (!m) return ebi_fail(err, EB_ENOMEM, "no memory for a multiscan");
    *m = (eb_multiscan){.mem = from, .at_least = (uint64_t)ceil(at_least), .seed = seed};
    m->cells = memory / 8 * 5 / sizeof(uint32_t);
    multiscan_choose(m, items, m->spec);
    eb_status status = ebi_keyset_open(&m->set, memory / 4, mem, err);
    if (status == EB_OK) status = eb_new(&m->f, m->spec, mem, err);
    if (status != EB_OK) {
        eb_multiscan_free(m);
        return status;
    }
    *out = m;
    return EB_OK;
}

/* A reading */

static eb_hash multiscan_hash(eb_hash h, unsigned stage) {
    return ebi_mix(h + stage * UINT64_C(0x9E3779B97F4A7C15));
}

static bool multiscan_is_left(const eb_multiscan *m, eb_hash h) {
    for (unsigned i = 0; i < m->stages; i++) {
        const multiscan_stage *const s = &m->stage[i];
        uint64_t pos[EBI_COUNTING_K_MAX];
        ebi_counting_positions(&s->shape, multiscan_hash(h, i), pos);
        for (unsigned j = 0; j < s->shape.k; j++)
            if (!(s->bits[pos[j] / 8] >> pos[j] % 8 & 1)) return false;
    }
    return true;
}

bool ebi_multiscan_is_left(const eb_multiscan *m, eb_key key) {
    eb_hash h;
    ebi_hash_xxh3(m->seed, &key, 1, &h);
    return multiscan_is_left(m, h);
}

static void multiscan_count(eb_multiscan *m, eb_hash h, eb_key key, uint64_t value) {
    if (m->set_full) return;
    ebi_keyset_entry *const e = ebi_keyset_find(&m->set, h, key);
    if (e)
        e->count += value;
    else
        m->set_full = !ebi_keyset_put(&m->set, h, key, value);
}

static eb_status multiscan_piece(eb_multiscan *m, const eb_key *keys, const uint64_t *value,
                                 size_t n) {
    eb_hash hash[EBI_BATCH], left[EBI_BATCH];
    uint64_t values[EBI_BATCH];
    eb_batch b = eb_batch_hashes(left, 0);
    b.value = values;
    ebi_hash_xxh3(m->seed, keys, n, hash);
    for (size_t i = 0; i < n; i++) {
        const uint64_t v = value ? value[i] : 1;
        m->items += (double)v;
        if (!multiscan_is_left(m, hash[i])) continue;
        m->passed += (double)v;
        multiscan_count(m, hash[i], keys[i], v);
        left[b.n] = multiscan_hash(hash[i], m->stages);
        values[b.n++] = v;
    }
    return eb_add_batch(m->f, &b, NULL);
}

eb_status eb_multiscan_add(eb_multiscan *m, const eb_key *keys, const uint64_t *value, size_t n) {
    if (m->done || m->stuck) return EB_EINVAL;
    for (size_t i = 0; value && i < n; i++)
        if (value[i] == 0 || value[i] > UINT32_MAX) return EB_EVALUE;
    for (size_t i = 0; i < n; i += EBI_BATCH)
        EBI_TRY(
            multiscan_piece(m, keys + i, value ? value + i : NULL, ebi_min_size(EBI_BATCH, n - i)));
    return EB_OK;
}

/* Between readings */

/* One bit for each counter; the shares of counters that reached T, and of their sum. */
static void multiscan_sort_out(const eb_multiscan *m, multiscan_stage *s, double *cells,
                               double *sum) {
    const ebi_counting c = ebi_query_open(m->f, 0);
    double reached = 0, heavy = 0, all = 0;
    for (uint64_t i = 0; i < c.n; i++) {
        const uint64_t count = ebi_counting_get(&c, i);
        all += (double)count;
        if (count < m->at_least) continue;
        s->bits[i / 8] |= (uint8_t)(1u << i % 8);
        heavy += (double)count;
        reached++;
    }
    s->shape = c;
    *cells = reached / (double)c.n;
    *sum = heavy / all;
}

static eb_status multiscan_next_stage(eb_multiscan *m) {
    double cells, sum;
    char spec[MULTISCAN_SPEC_TEXT];
    multiscan_stage s = {.bytes = m->cells / 8 + 1};
    eb_filter *next;
    s.bits = ebi_alloc_zeroed(&m->mem, s.bytes);
    if (!s.bits) return EB_ENOMEM;
    multiscan_sort_out(m, &s, &cells, &sum);
    multiscan_choose(m, m->passed * sum, spec);
    if (eb_new(&next, spec, &m->mem, NULL) != EB_OK) {
        ebi_release(&m->mem, s.bits, s.bytes);
        return EB_ENOMEM;
    }
    eb_free(m->f);
    m->f = next;
    memcpy(m->spec, spec, sizeof spec);
    m->crowded = pow(cells, s.shape.k) > 0.95;
    m->stuck = m->crowded || m->stages + 1 == MULTISCAN_STAGES ||
               (m->stages > 0 && m->passed > 0.98 * m->last_passed);
    m->stage[m->stages++] = s;
    ebi_keyset_clear(&m->set);
    m->set_full = false;
    return EB_OK;
}

/* A counter for each key that can be frequent; or room for these keys, of usual length. */
static double multiscan_wanted(const eb_multiscan *m) {
    const double most = m->last_passed / (double)m->at_least;
    return fmax(2 * (double)m->cells * 32 / 5, most * (m->crowded ? 32. / 5 : 4 * 56));
}

static void multiscan_say(const eb_multiscan *m, const char *spec, eb_multiscan_state *out) {
    eb_multiscan_state s = {.size = sizeof s, .done = m->done, .stuck = m->stuck};
    s.readings = m->readings;
    s.items = m->last_items;
    s.passed = m->last_passed;
    s.wanted = multiscan_wanted(m);
    s.keys = m->done ? m->set.n : 0;
    memcpy(s.filter, spec, MULTISCAN_SPEC_TEXT);
    *out = s;
}

eb_status eb_multiscan_end(eb_multiscan *m, eb_multiscan_state *out) {
    char spec[MULTISCAN_SPEC_TEXT];
    EBI_CHECK_SIZE(out, eb_multiscan_state, NULL);
    memcpy(spec, m->spec, sizeof spec);
    if (m->done || m->stuck) return EB_EINVAL;
    if (m->set_full)
        EBI_TRY(multiscan_next_stage(m));
    else {
        m->done = true;
        ebi_keyset_drop(&m->set, m->at_least - 1, NULL, NULL);
    }
    m->readings++;
    m->last_items = m->items;
    m->last_passed = m->passed;
    m->items = m->passed = 0;
    multiscan_say(m, spec, out);
    return EB_OK;
}

bool eb_multiscan_next(const eb_multiscan *m, uint64_t *at, eb_candidate *out) {
    const ebi_keyset_entry *const e = m->done ? ebi_keyset_next(&m->set, at) : NULL;
    if (e) *out = (eb_candidate){ebi_keyset_key(e), (double)e->count};
    return e != NULL;
}
