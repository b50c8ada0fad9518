/* iceberg.c - all keys that came T times or more, with T chosen afterwards (Cohen and
 * Matias, SIGMOD 2003, section 5.2, which leaves open where the keys come from).
 *
 * A counting filter holds no keys.  So candidates are kept beside it, as many as the
 * memory allows: the keys with the largest counts.  The watermark W is the largest
 * count that a key had when it was turned away or dropped.  A key's count at its last
 * arrival is no less than how often it came in all; so a key that is not among the
 * candidates came W times at most, and every T > W is answered completely.
 *
 * A candidate's count is what the filter said when it was admitted, plus what came
 * since, or what the filter says if that is less.  It is never too low, and exact for
 * a key that was admitted when it first came.  Candidates are never below W, since
 * dropping starts with the least; so a key whose count is W or less after its arrival
 * is none, and the candidates need not be searched for it.
 *
 * When there is no room: a newcomer that is no larger than the least candidate is
 * turned away; else the least candidates are dropped, at least an eighth of the
 * bytes, so that the cost of a look at all of them is shared by many newcomers. */
#include "api/keys.h"
#include "keyset.h"
#include "query.h"
#include <math.h>

typedef enum iceberg_phase {
    ICEBERG_PHASE_ADD,
    ICEBERG_PHASE_KNOWN, /* reading again: candidates are known, and counted */
    ICEBERG_PHASE_FIND /* candidates are all keys to which the filter gives more than the watermark
                        */
} iceberg_phase;

struct eb_iceberg {
    eb_allocator mem;
    eb_filter *f;
    size_t memory; /* for candidates */
    ebi_keyset set;
    iceberg_phase phase;
    uint64_t watermark;
    uint64_t least;      /* no candidate has a smaller count */
    double total, again; /* of all values, when adding and when reading again */
};

eb_status eb_iceberg_new(eb_iceberg **out, eb_filter *f, size_t memory, const eb_allocator *mem,
                         eb_error *err) {
    EBI_TRY(ebi_query_never_low(f, err));
    eb_allocator from;
    EBI_TRY(ebi_allocator(&from, mem, err));
    eb_iceberg *const ice = ebi_alloc(&from, sizeof *ice);
    if (!ice) return ebi_fail(err, EB_ENOMEM, "no memory for a set of candidates");
    *ice = (eb_iceberg){.mem = from, .f = f, .memory = memory};
    const eb_status status = ebi_keyset_open(&ice->set, memory, mem, err);
    if (status != EB_OK) {
        eb_iceberg_free(ice);
        return status;
    }
    *out = ice;
    return EB_OK;
}

const eb_filter *ebi_iceberg_filter(const eb_iceberg *ice) {
    return ice->f;
}

size_t ebi_iceberg_memory(const eb_iceberg *ice) {
    return ice->memory;
}

void eb_iceberg_free(eb_iceberg *ice) {
    if (!ice) return;
    const eb_allocator mem = ice->mem;
    ebi_keyset_close(&ice->set);
    ebi_release(&mem, ice, sizeof *ice);
}

/* From half of the least T on, since counts are exact from when a key is admitted. */
eb_status eb_iceberg_expect(eb_iceberg *ice, double at_least) {
    if (!(at_least >= 1 && at_least <= (double)EBI_COUNTER_MAX) || ice->total > 0) return EB_EINVAL;
    ice->watermark = (uint64_t)((ceil(at_least) - 1) / 2);
    return EB_OK;
}

/* Making room */

enum { ICEBERG_BUCKETS = 1024 }; /* of counts: exact below 32, then 16 for each power of two */

static unsigned iceberg_bucket(uint64_t count) {
    if (count < 32) return (unsigned)count;
    const unsigned e = ebi_log2(count);
    return 16 * (e - 4) + (unsigned)(count >> (e - 4));
}

/* The least rank such that candidates up to it take an eighth of the bytes. */
static uint64_t iceberg_low_end(const ebi_keyset *s, ebi_keyset_rank *rank, const void *ctx) {
    uint64_t bytes[ICEBERG_BUCKETS] = {0}, sum = 0, low = 0;
    const ebi_keyset_entry *e;
    for (uint64_t at = 0, from = 0; (e = ebi_keyset_next(s, &at)); from = at)
        bytes[iceberg_bucket(ebi_keyset_rank_of(e, rank, ctx))] += at - from;
    unsigned last = 0;
    while ((sum += bytes[last]) < s->used / 8 + 1) last++;
    for (uint64_t at = 0; (e = ebi_keyset_next(s, &at));) {
        const uint64_t r = ebi_keyset_rank_of(e, rank, ctx);
        if (iceberg_bucket(r) <= last) low = ebi_max(low, r);
    }
    return low;
}

static void iceberg_make_room(eb_iceberg *ice) {
    const ebi_keyset_entry *e;
    ice->watermark = iceberg_low_end(&ice->set, NULL, NULL);
    ebi_keyset_drop(&ice->set, ice->watermark, NULL, NULL);
    ice->least = UINT64_MAX;
    for (uint64_t at = 0; (e = ebi_keyset_next(&ice->set, &at));)
        ice->least = ebi_min(ice->least, e->count);
}

static void iceberg_admit(eb_iceberg *ice, eb_hash h, eb_key key, uint64_t count) {
    while (count > ice->watermark) {
        if (ebi_keyset_put(&ice->set, h, key, count)) {
            ice->least = ebi_min(ice->least, count);
            return;
        }
        if (count <= ice->least || !ebi_keyset_fits(&ice->set, key.len))
            ice->watermark = count;
        else
            iceberg_make_room(ice);
    }
}

/* Going on */

static bool iceberg_is_count(double x) {
    return x >= 0 && x <= (double)EBI_COUNTER_MAX && x == floor(x);
}

/* Of a key that is named twice, the larger count. */
static void iceberg_keep(eb_iceberg *ice, eb_key key, uint64_t count) {
    eb_hash h;
    if (ebi_keys_hash_one(ice->f, key.p, key.len, &h, NULL) != EB_OK) return;
    ebi_keyset_entry *const e = ebi_keyset_find(&ice->set, h, key);
    if (e)
        e->count = ebi_max(e->count, count);
    else
        iceberg_admit(ice, h, key, count);
}

eb_status eb_iceberg_resume(eb_iceberg *ice, const eb_iceberg_state *was, const eb_candidate *kept,
                            size_t n) {
    if (ice->phase != ICEBERG_PHASE_ADD || ice->total > 0 || ice->set.n > 0) return EB_EINVAL;
    if (!iceberg_is_count(was->watermark) || !(was->total >= 0) || was->total > 0x1p63)
        return EB_EINVAL;
    for (size_t i = 0; i < n; i++)
        if (!iceberg_is_count(kept[i].count)) return EB_EINVAL;
    ice->watermark = (uint64_t)was->watermark;
    ice->total = was->total;
    for (size_t i = 0; i < n; i++) iceberg_keep(ice, kept[i].key, (uint64_t)kept[i].count);
    return EB_OK;
}

/* Adding */

/* What eb_add_batch would refuse, for all pieces at once. */
static eb_status iceberg_may_add(const eb_iceberg *ice, const eb_batch *b) {
    EBI_TRY(ebi_may_add(ice->f, b, NULL));
    return ice->phase == ICEBERG_PHASE_ADD ? EB_OK : EB_EINVAL;
}

static uint64_t iceberg_value(const eb_batch *b, size_t i) {
    return b->value ? b->value[b->flags & EB_SAME_VALUE ? 0 : i] : 1;
}

static uint64_t iceberg_count(double count) { /* INFINITY: the counters are full */
    return (uint64_t)fmin(count, (double)EBI_COUNTER_MAX);
}

static void iceberg_take(eb_iceberg *ice, eb_key key, eb_hash h, uint64_t value, uint64_t after) {
    if (after <= ice->watermark) return;
    ebi_keyset_entry *const e = ebi_keyset_find(&ice->set, h, key);
    if (e)
        e->count = ebi_min(e->count + value, after);
    else
        iceberg_admit(ice, h, key, after);
}

eb_status eb_iceberg_add(eb_iceberg *ice, const eb_key *keys, const eb_batch *b) {
    double after[EBI_BATCH];
    EBI_TRY(iceberg_may_add(ice, b));
    for (size_t i = 0; i < b->n; i += EBI_BATCH) {
        eb_batch piece = ebi_batch_part(b, i, ebi_min_size(EBI_BATCH, b->n - i));
        piece.count = after;
        for (size_t j = 0; j < piece.n; j++) ebi_keyset_prefetch(&ice->set, piece.hash[j]);
        EBI_TRY(eb_add_batch(ice->f, &piece, NULL));
        for (size_t j = 0; j < piece.n; j++)
            if (after[j] > (double)ice->watermark)
                ebi_keyset_prefetch_entry(&ice->set, piece.hash[j]);
        for (size_t j = 0; j < piece.n; j++) {
            iceberg_take(ice, keys[i + j], piece.hash[j], iceberg_value(&piece, j),
                         iceberg_count(after[j]));
            ice->total += (double)iceberg_value(&piece, j);
        }
    }
    return EB_OK;
}

/* Reading the stream again */

eb_status eb_iceberg_recount(eb_iceberg *ice, double at_least) {
    if (!(at_least >= 1 && at_least <= (double)EBI_COUNTER_MAX)) return EB_EINVAL;
    const uint64_t below = (uint64_t)ceil(at_least) - 1;
    ebi_keyset_entry *e;
    ice->phase = below >= ice->watermark ? ICEBERG_PHASE_KNOWN : ICEBERG_PHASE_FIND;
    if (ice->phase == ICEBERG_PHASE_KNOWN)
        ebi_keyset_drop(&ice->set, below, NULL, NULL);
    else
        ebi_keyset_clear(&ice->set);
    for (uint64_t at = 0; (e = ebi_keyset_next(&ice->set, &at));) e->count = 0;
    ice->watermark = below;
    ice->again = 0;
    return EB_OK;
}

static uint64_t iceberg_filter_rank(const void *f, const ebi_keyset_entry *e) {
    return iceberg_count(ebi_count(f, e->hash));
}

/* A key to which the filter gives `count`.  That is the same whenever it comes, so who is above
 * the watermark in the end was counted from the start. */
static void iceberg_find(eb_iceberg *ice, eb_key key, eb_hash h, uint64_t value, uint64_t count) {
    ebi_keyset_entry *const e = ebi_keyset_find(&ice->set, h, key);
    if (e) {
        e->count += value;
        return;
    }
    while (count > ice->watermark && !ebi_keyset_put(&ice->set, h, key, value)) {
        ice->watermark = ebi_keyset_fits(&ice->set, key.len)
                             ? iceberg_low_end(&ice->set, iceberg_filter_rank, ice->f)
                             : count;
        ebi_keyset_drop(&ice->set, ice->watermark, iceberg_filter_rank, ice->f);
    }
}

static void iceberg_read_piece(eb_iceberg *ice, const eb_key *keys, const eb_batch *b) {
    double count[EBI_BATCH];
    const bool known = ice->phase == ICEBERG_PHASE_KNOWN;
    if (!known) ebi_counts(ice->f, b->hash, b->n, count);
    for (size_t i = 0; i < b->n; i++) ebi_keyset_prefetch(&ice->set, b->hash[i]);
    for (size_t i = 0; i < b->n; i++) ebi_keyset_prefetch_entry(&ice->set, b->hash[i]);
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t value = iceberg_value(b, i);
        ice->again += (double)value;
        if (known) {
            ebi_keyset_entry *const e = ebi_keyset_find(&ice->set, b->hash[i], keys[i]);
            if (e) e->count += value;
        } else if (count[i] > (double)ice->watermark)
            iceberg_find(ice, keys[i], b->hash[i], value, iceberg_count(count[i]));
    }
}

eb_status eb_iceberg_read(eb_iceberg *ice, const eb_key *keys, const eb_batch *b) {
    EBI_CHECK_SIZE(b, eb_batch, NULL);
    if (ice->phase == ICEBERG_PHASE_ADD) return EB_EINVAL;
    for (size_t i = 0; i < b->n; i += EBI_BATCH) {
        const eb_batch piece = ebi_batch_part(b, i, ebi_min_size(EBI_BATCH, b->n - i));
        iceberg_read_piece(ice, keys + i, &piece);
    }
    return EB_OK;
}

/* Answers */

eb_status eb_iceberg_state_of(const eb_iceberg *ice, eb_iceberg_state *out, eb_error *err) {
    EBI_CHECK_SIZE(out, eb_iceberg_state, err);
    eb_iceberg_state s = {.size = sizeof s};
    s.watermark = (double)ice->watermark;
    s.total = ice->total;
    s.read_again = ice->again;
    s.keys = ice->set.n;
    s.bytes = sizeof *ice + ice->set.bytes;
    s.exact = ice->phase != ICEBERG_PHASE_ADD;
    *out = s;
    return EB_OK;
}

bool eb_iceberg_next(const eb_iceberg *ice, double at_least, uint64_t *at, eb_candidate *out) {
    const ebi_keyset_entry *e;
    while ((e = ebi_keyset_next(&ice->set, at))) {
        if ((double)e->count < at_least) continue;
        *out = (eb_candidate){ebi_keyset_key(e), (double)e->count};
        return true;
    }
    return false;
}
