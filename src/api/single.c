/* single.c - eb_add and eb_ask: one key in, one answer out.
 *
 * A batch prefetches the lines of later keys.  A single key has to wait for its own lines, about
 * 100 ns in a large filter, which is ten times the time for computing.  The processor can begin
 * with the next call meanwhile, if this one is short and nothing in it branches on the contents of
 * the lines.  So the quick way consists of the hash, one indirect call and updating the head.
 * Whether it can be used is determined once for each handle.
 *
 * All other filters (with shards, time, numbers or limits) use the ordinary loops with a batch of
 * one, without batch.c's walk.  Reasons to refuse such a batch are checked before. */
#include "keys.h"

void ebi_single_open(eb_filter *f) {
    f->counts_new = ebi_counts_new(f->kind);
    f->quick_ask = f->ops->test_one && f->shard_bits == 0 && !f->kind->domain &&
                   !(f->kind->info.caps & EB_USES_TIME) && f->p.opt[EBI_O_KEYS] <= EBI_KEYS_BYTES;
}

EBI_INLINE eb_hash single_hash(const eb_filter *f, const void *key, size_t len) {
    if (f->p.opt[EBI_O_HASH] == EBI_HASH_SIP) return ebi_hash_sip_one(f->p.secret, key, len);
    return ebi_hash_xxh3_one(f->p.opt[EBI_O_SEED], key, len);
}

typedef struct single_key {
    uint8_t *block;
    eb_hash hash;
    uint64_t time;
    ebi_batch keys;
} single_key;

static void single_open(single_key *s, const eb_filter *f, eb_hash h, bool adds) {
    const uint64_t caps = f->kind->info.caps;
    s->block = ebi_shard(f, eb_shard_of(f, h));
    s->hash = f->shard_bits == 0 ? h : ebi_inner_hash(h);
    s->keys = ebi_batch_of_one(&s->hash);
    if (!adds || !(caps & EB_USES_VALUE)) s->keys.value = NULL;
    if (!ebi_uses_time(f->kind, &f->p)) return;
    s->time = adds ? ebi_plus(ebi_now(f), 1) : ebi_now(f);
    s->keys.time = &s->time;
}

/* Whether 1 is a valid value for this filter. */
static bool single_has_value(const eb_filter *f) {
    return !(eb_caps(f) & EB_USES_VALUE) || (f->p.value_min <= 1 && f->p.value_max >= 1);
}

static bool single_is_in_domain(const eb_filter *f, eb_hash h) {
    uint64_t low = 0, high = UINT64_MAX;
    if (f->kind->domain) f->kind->domain(&f->p, &low, &high);
    return h >= low && h <= high;
}

/* A filter with a limit that is reached grows, or refuses what is new. */
static bool single_is_full(const eb_filter *f) {
    return f->kind->growing && ebi_head(f->block)->new_keys >= f->kind->growing->capacity(&f->p);
}

/* Adding */

static eb_status single_add_batch(eb_filter *f, const eb_keys *keys, const eb_hash *h, bool *seen,
                                  eb_error *err) {
    uint8_t answer = 0;
    eb_batch b = eb_batch_make(h, keys, 1);
    b.seen = &answer;
    EBI_TRY(eb_add_batch(f, &b, err));
    if (seen) *seen = answer != 0;
    return EB_OK;
}

static void single_count(const eb_filter *f, ebi_block_head *head, bool there, uint64_t time) {
    head->new_keys = ebi_plus(head->new_keys, f->counts_new & !there);
    head->items = ebi_plus(head->items, 1);
    head->clock = time > 0 ? time : head->items;
}

static __attribute__((noinline)) eb_status single_add(eb_filter *f, const void *key, size_t len,
                                                      bool *seen, eb_error *err) {
    const eb_key bytes = {key, len};
    const eb_keys named = eb_keys_array(EB_STRING, &bytes);
    single_key one;
    uint8_t answer = 0;
    eb_hash h;
    EBI_TRY(ebi_may_change(f, err));
    if (f->kind->info.caps & EB_KEEPS_KEYS) return single_add_batch(f, &named, NULL, seen, err);
    EBI_TRY(ebi_keys_hash_one(f, key, len, &h, err));
    if (single_is_full(f) || !single_has_value(f) || !single_is_in_domain(f, h))
        return single_add_batch(f, NULL, &h, seen,
                                err); /* the walk grows the filter, or says why not */
    /* What is determined here cannot change, unless there is a limit. */
    f->quick_add = f->quick_ask && f->ops->add_one && !ebi_is_limited(f);
    single_open(&one, f, h, true);
    f->ops->add(&f->p, one.block, &one.keys, &answer);
    single_count(f, ebi_head(one.block), answer != 0, one.keys.time ? one.time : 0);
    if (seen) *seen = answer != 0;
    return EB_OK;
}

eb_status eb_add(eb_filter *f, const void *key, size_t len, bool *seen, eb_error *err) {
    if (!f->quick_add) return single_add(f, key, len, seen, err);
    const eb_hash h = single_hash(f, key, len);
    const bool there = f->ops->add_one(&f->p, f->block, h);
    single_count(f, ebi_head(f->block), there, 0);
    if (seen) *seen = there;
    return EB_OK;
}

/* Asking */

static __attribute__((noinline)) eb_status single_ask(const eb_filter *f, const void *key,
                                                      size_t len, bool *seen, double *count,
                                                      eb_error *err) {
    single_key one;
    uint8_t answer = 0;
    eb_hash h;
    EBI_TRY(ebi_keys_hash_one(f, key, len, &h, err));
    if (f->kind->domain || (count && !(eb_caps(f) & EB_CAN_COUNT))) {
        eb_batch b = eb_batch_hashes(&h, 1);
        b.count = count;
        EBI_TRY(eb_ask_batch(f, &b, err));
    }
    single_open(&one, f, h, false);
    if (seen) f->ops->test(&f->p, one.block, &one.keys, &answer);
    if (seen) *seen = answer != 0;
    if (count) f->ops->count(&f->p, one.block, &one.keys, count);
    return EB_OK;
}

eb_status eb_ask(const eb_filter *f, const void *key, size_t len, bool *seen, double *count,
                 eb_error *err) {
    if (!f->quick_ask || count || !seen) return single_ask(f, key, len, seen, count, err);
    const eb_hash h = single_hash(f, key, len);
    *seen = f->ops->test_one(&f->p, f->block, h);
    return EB_OK;
}

eb_status eb_remove(eb_filter *f, const void *key, size_t len, eb_error *err) {
    eb_hash h;
    EBI_TRY(ebi_keys_hash_one(f, key, len, &h, err));
    const eb_batch one = eb_batch_hashes(&h, 1);
    return eb_remove_batch(f, &one, err);
}
