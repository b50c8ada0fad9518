/* batch.c - adding, asking, removing and classifying keys in batches.  Every such call of the
 * library goes through one walk here (single.c has a shorter way for single keys).
 *
 * Whatever the caller's batch looks like, a kind gets pieces of at most EBI_BATCH keys of one shard
 * (some kinds EBI_LONG_BATCH), in order, with the values and times that its caps ask for.  With one
 * shard, a piece is part of the caller's arrays.  With several, keys are first sorted by shard,
 * BATCH_CHUNK at a time.  Inside a shard the hash is multiplied by an odd number: the top bits,
 * which chose the shard, are the same for all its keys, which would otherwise use only a part of
 * the block.
 *
 * All input is checked before the walk begins, so the walk cannot fail.  Removals are the
 * exception.  They walk twice, and in the first walk all keys claim what they will take. */
#include "cells/claims.h"
#include "keys.h"
#include <everbloom/experimental.h>

enum { BATCH_CHUNK = 1024, BATCH_SHARDS_MAX = 256 };

typedef enum batch_work {
    BATCH_ADD,
    BATCH_ASK,
    BATCH_CLAIM,
    BATCH_REMOVE,
    BATCH_CLASSIFY
} batch_work;

typedef struct batch_job {
    const eb_filter *f;
    const eb_batch *b;
    batch_work work;
    const ebi_claims *claims; /* with BATCH_CLAIM */
    size_t refused;      /* the first key whose claim failed or that has no room; or SIZE_MAX */
    uint32_t first, end; /* shards to work on */
    bool uses_time, uses_value;
    bool counts_new;  /* the head counts keys that were new */
    eb_filter *grows; /* f, if it can be full; else NULL */
    eb_error *err;    /* for growing */
    uint64_t now;     /* if the kind uses time: the latest clock of all shards, before the call */
    uint64_t latest;  /* of the times so far, with EB_CLAMP_TIMES */
    struct batch_named *named; /* for adds to kinds that keep keys; else NULL */
} batch_job;

/* Consecutive keys: a chunk of the batch, or those of it that belong to one shard. */
typedef struct batch_run {
    ebi_batch keys;
    uint8_t *seen;        /* may be NULL */
    double *count;        /* may be NULL */
    const uint16_t *from; /* index in the chunk; NULL: the same order */
} batch_run;

typedef struct batch_chunk { /* what the caller's arrays do not have in the form that kinds need */
    eb_hash hash[BATCH_CHUNK];
    uint32_t value[BATCH_CHUNK];
    uint64_t time[BATCH_CHUNK];
} batch_chunk;

typedef struct batch_named { /* for kinds that keep keys: as bytes, and sorted by shard */
    eb_key key[BATCH_CHUNK], sorted[BATCH_CHUNK];
    ebi_keys_room room[BATCH_CHUNK];
    ebi_expelled expelled;
} batch_named;

typedef struct batch_sorted { /* a chunk sorted by shard: shard s has places start[s]..start[s+1]-1
                               */
    uint16_t start[BATCH_SHARDS_MAX + 1], from[BATCH_CHUNK];
    eb_hash hash[BATCH_CHUNK];
    uint32_t value[BATCH_CHUNK];
    uint64_t time[BATCH_CHUNK];
    uint8_t seen[BATCH_CHUNK];
    double count[BATCH_CHUNK];
} batch_sorted;

static const uint32_t batch_ones[EBI_LONG_BATCH] = {
#define BATCH_EIGHT(x) x, x, x, x, x, x, x, x
    BATCH_EIGHT(BATCH_EIGHT(BATCH_EIGHT(1)))
#undef BATCH_EIGHT
};

/* Pieces: what a kind gets. */

/* If the kind has no loop for both answers, it is asked after each key. */
static void batch_add_singly(const eb_filter *f, uint8_t *block, const ebi_batch *b, uint8_t *seen,
                             double *count) {
    assert(f->ops->count != NULL && count != NULL);
    for (size_t i = 0; i < b->n; i++) {
        ebi_batch one = ebi_batch_cut(b, i, 1);
        ebi_expelled whom;
        if (b->expelled) {
            whom = *b->expelled;
            if (whom.from)
                whom.from += i;
            else
                whom.at += i;
            one.expelled = &whom;
        }
        f->ops->add(&f->p, block, &one, seen + i);
        f->ops->count(&f->p, block, &one, count + i);
    }
}

/* Counts eight answers at once; each is 0 or 1. */
static size_t batch_count_new(const uint8_t *seen, size_t n) {
    size_t known = 0, i = 0;
    for (; i + 8 <= n; i += 8)
        known += (size_t)(ebi_load64(seen + i) * UINT64_C(0x0101010101010101) >> 56);
    for (; i < n; i++) known += seen[i];
    return n - known;
}

static void batch_add_piece(const batch_job *j, uint8_t *block, const ebi_batch *b, uint8_t *seen,
                            bool wants_seen, double *count) {
    assert(b->n <= EBI_LONG_BATCH);
    const eb_filter *const f = j->f;
    ebi_block_head *const head = ebi_head(block);
    if (!count)
        f->ops->add(&f->p, block, b, seen);
    else if (f->ops->add_count && !wants_seen)
        f->ops->add_count(&f->p, block, b, count);
    else
        batch_add_singly(f, block, b, seen, count);
    if (j->counts_new) head->new_keys = ebi_plus(head->new_keys, batch_count_new(seen, b->n));
    head->items = ebi_plus(head->items, b->n);
    head->clock = j->uses_time ? b->time[b->n - 1] : head->items;
}

/* For a filter with a limit: adds at most as many keys at once as there is room for new ones.  When
 * there is none left, it grows, or refuses the first key that is new. */
static void batch_add_limited(batch_job *j, const ebi_batch *b, uint8_t *seen, bool wants_seen,
                              double *count, size_t *refused) {
    const eb_filter *const f = j->f;
    assert(j->grows == j->f && f->kind->growing != NULL);
    for (size_t i = 0, n; i < b->n; i += n) {
        const uint64_t full = f->kind->growing->capacity(&f->p), now = ebi_head(f->block)->new_keys;
        ebi_batch part = ebi_batch_cut(b, i, 1);
        if (now >= full) {
            f->ops->test(&f->p, f->block, &part, seen + i);
            n = seen[i] ? 1 : 0;
            if (n == 0 && ebi_set_parts(j->grows, f->kind->growing->parts(&f->p) + 1, j->err)) {
                *refused = i;
                return;
            }
        } else {
            n = (size_t)ebi_min(b->n - i, full - now);
        }
        part.n = n;
        if (n > 0)
            batch_add_piece(j, f->block, &part, seen + i, wants_seen, count ? count + i : NULL);
    }
}

static void batch_piece(batch_job *j, uint8_t *block, const ebi_batch *b, uint8_t *seen,
                        bool wants_seen, double *count, size_t *refused) {
    const eb_filter *const f = j->f;
    switch (j->work) {
    case BATCH_ADD:
        if (j->grows)
            batch_add_limited(j, b, seen, wants_seen, count, refused);
        else
            batch_add_piece(j, block, b, seen, wants_seen, count);
        break;
    case BATCH_ASK:
        if (wants_seen || !count) f->ops->test(&f->p, block, b, seen);
        if (count) f->ops->count(&f->p, block, b, count);
        break;
    case BATCH_CLAIM:
        *refused = f->kind->removing->claim(&f->p, block, b, j->claims);
        break;
    case BATCH_REMOVE:
        f->kind->removing->remove(&f->p, block, b);
        break;
    case BATCH_CLASSIFY:
        f->kind->classed->classify(&f->p, block, b);
        break;
    }
}

/* Prepares a piece so that a kind that keeps keys reports those it expels. */
static void batch_set_expelled(const batch_job *j, ebi_batch *piece, size_t at,
                               const uint16_t *from, size_t i) {
    assert(at < j->b->n);
    if (!j->b->expelled) return;
    j->named->expelled = (ebi_expelled){j->b->expelled, j->b->ctx, at, from ? from + i : NULL};
    piece->expelled = &j->named->expelled;
}

/* Runs the keys of one shard, at most a chunk of them; the chunk begins at `at` in the batch. */
static void batch_run_shard(batch_job *j, uint8_t *block, const batch_run *r, size_t at) {
    assert(r->keys.n <= BATCH_CHUNK);
    uint8_t unwanted[EBI_LONG_BATCH];
    const size_t most = j->f->kind->traits & EBI_LONG_BATCHES ? EBI_LONG_BATCH : EBI_BATCH;
    for (size_t i = 0; i < r->keys.n; i += most) {
        ebi_batch piece = ebi_batch_cut(&r->keys, i, (size_t)ebi_min(most, r->keys.n - i));
        if (j->named) batch_set_expelled(j, &piece, at + (r->from ? 0 : i), r->from, i);
        if (!piece.value && j->uses_value && j->work != BATCH_ASK) piece.value = batch_ones;
        size_t refused = piece.n;
        batch_piece(j, block, &piece, r->seen ? r->seen + i : unwanted, r->seen != NULL,
                    r->count ? r->count + i : NULL, &refused);
        if (refused < piece.n) {
            j->refused = at + (r->from ? r->from[i + refused] : i + refused);
            return;
        }
    }
}

/* Chunks */

static const eb_hash *batch_hashes(const batch_job *j, size_t at, size_t n, eb_hash *hash) {
    assert(at + n <= j->b->n);
    if (j->b->hash) return j->b->hash + at;
    ebi_keys_hash(j->f, j->b->keys, at, n, hash);
    return hash;
}

/* The times of n keys from `at` on, as the kind wants them. */
static const uint64_t *batch_times(batch_job *j, size_t at, size_t n, uint64_t *time) {
    const eb_batch *const b = j->b;
    assert(at + n <= b->n && n <= BATCH_CHUNK);
    const bool ticks = !b->time && j->work == BATCH_ADD;
    const bool each = b->time && !(b->flags & EB_SAME_TIME);
    if (each && !(b->flags & EB_CLAMP_TIMES)) return b->time + at;
    if (each)
        memcpy(time, b->time + at, n * sizeof *time);
    else if (ticks)
        for (size_t i = 0; i < n; i++) time[i] = ebi_plus(j->now, at + i + 1);
    else if (at == 0) /* the same for all chunks, of which the first is the longest */
        for (size_t i = 0; i < n; i++) time[i] = b->time ? b->time[0] : j->now;
    if (b->time && (b->flags & EB_CLAMP_TIMES) && j->work == BATCH_ADD)
        for (size_t i = 0; i < n; i++) time[i] = j->latest = ebi_max(time[i], j->latest);
    return time;
}

static const uint32_t *batch_values(const batch_job *j, size_t at, size_t n, uint32_t *value) {
    const eb_batch *const b = j->b;
    assert(at + n <= b->n && n <= BATCH_CHUNK);
    if (!b->value) return NULL;
    for (size_t i = 0; i < n; i++)
        value[i] = (uint32_t)b->value[b->flags & EB_SAME_VALUE ? 0 : at + i];
    return value;
}

/* Times that are too early for this shard become its clock; for removals, times that are too late
 * do. */
static void batch_clamp(const batch_job *j, const uint8_t *block, uint64_t *time, size_t n) {
    const uint64_t clock = ebi_head_of(block)->clock;
    for (size_t i = 0; i < n; i++)
        time[i] = j->work == BATCH_REMOVE || j->work == BATCH_CLAIM ? ebi_min(time[i], clock)
                                                                    : ebi_max(time[i], clock);
}

static void batch_sort(const eb_filter *f, const ebi_batch *b, batch_sorted *s, eb_key *key) {
    assert(b->n <= BATCH_CHUNK && ebi_shards(f) <= BATCH_SHARDS_MAX);
    uint16_t next[BATCH_SHARDS_MAX + 1] = {0};
    for (size_t i = 0; i < b->n; i++) next[eb_shard_of(f, b->hash[i]) + 1]++;
    for (size_t i = 1; i <= ebi_shards(f); i++) next[i] = (uint16_t)(next[i] + next[i - 1]);
    memcpy(s->start, next, sizeof next);
    for (size_t i = 0; i < b->n; i++) {
        const uint16_t place = next[eb_shard_of(f, b->hash[i])]++;
        s->from[place] = (uint16_t)i;
        s->hash[place] = ebi_inner_hash(b->hash[i]);
        if (b->value) s->value[place] = b->value[i];
        if (b->time) s->time[place] = b->time[i];
        if (b->key) key[place] = b->key[i];
    }
}

static void batch_shards(batch_job *j, const batch_run *r, size_t at) {
    assert(j->first <= j->end && j->end <= ebi_shards(j->f));
    batch_sorted s;
    eb_key *const key = j->named ? j->named->sorted : NULL;
    batch_sort(j->f, &r->keys, &s, key);
    const bool clamp = r->keys.time && (j->b->flags & EB_CLAMP_TIMES || !j->b->time);
    for (uint32_t shard = j->first; shard < j->end && j->refused == SIZE_MAX; shard++) {
        const size_t from = s.start[shard], n = s.start[shard + 1] - from;
        uint8_t *const block = ebi_shard(j->f, shard);
        if (clamp) batch_clamp(j, block, s.time + from, n);
        const batch_run own = {{n, s.hash + from, r->keys.value ? s.value + from : NULL,
                                r->keys.time ? s.time + from : NULL, key ? key + from : NULL, NULL},
                               r->seen ? s.seen + from : NULL,
                               r->count ? s.count + from : NULL,
                               s.from + from};
        batch_run_shard(j, block, &own, at);
    }
    const size_t begin = s.start[j->first], end = s.start[j->end];
    for (size_t i = begin; r->seen && i < end; i++) r->seen[s.from[i]] = s.seen[i];
    for (size_t i = begin; r->count && i < end; i++) r->count[s.from[i]] = s.count[i];
}

static void batch_do_chunk(batch_job *j, size_t at, size_t n, batch_chunk *c) {
    const eb_batch *const b = j->b;
    assert(n > 0 && n <= BATCH_CHUNK && at + n <= b->n);
    const uint64_t *const time = j->uses_time ? batch_times(j, at, n, c->time) : NULL;
    if (j->named) ebi_keys_take(j->f, b->keys, at, n, j->named->key, j->named->room);
    const batch_run run = {{n, batch_hashes(j, at, n, c->hash),
                            j->uses_value ? batch_values(j, at, n, c->value) : NULL, time,
                            j->named ? j->named->key : NULL, NULL},
                           b->seen ? b->seen + at : NULL,
                           b->count ? b->count + at : NULL,
                           NULL};
    if (j->f->shard_bits > 0) {
        batch_shards(j, &run, at);
        return;
    }
    if (time == c->time && b->time)
        batch_clamp(j, j->f->block, c->time, n); /* otherwise times follow the clock */
    batch_run_shard(j, j->f->block, &run, at);
}

static void batch_do_all(batch_job *j) {
    const size_t n = j->b->n;
    batch_chunk c;
    for (size_t at = 0; at < n && j->refused == SIZE_MAX; at += BATCH_CHUNK)
        batch_do_chunk(j, at, (size_t)ebi_min(BATCH_CHUNK, n - at), &c);
}

static void batch_walk(batch_job *j) {
    if (j->first == j->end) return;
    if (j->work == BATCH_ADD && (j->f->kind->info.caps & EB_KEEPS_KEYS)) {
        batch_named named;
        j->named = &named;
        batch_do_all(j);
        j->named = NULL;
        return;
    }
    batch_do_all(j);
}

/* Checks */

static eb_status batch_check_form(const batch_job *j, eb_error *err) {
    const eb_batch *const b = j->b;
    const uint32_t known = EB_SAME_TIME | EB_SAME_VALUE | EB_CLAMP_TIMES | EB_SHARD_RANGE;
    EBI_CHECK_SIZE(b, eb_batch, err);
    if (b->n > 0 && !b->hash && !b->keys)
        return ebi_fail(err, EB_EINVAL, "a batch of %zu keys has neither hashes nor keys", b->n);
    if (b->n > 0 && !b->keys && j->work == BATCH_ADD && (j->f->kind->info.caps & EB_KEEPS_KEYS))
        return ebi_fail(err, EB_ENOTSUP, "%s filters keep keys: give keys, not only hashes",
                        j->f->kind->info.name);
    if (b->keys) EBI_TRY(ebi_keys_check(j->f, b->keys, b->n, err));
    if ((b->flags & ~known) != 0 || b->reserved != 0)
        return ebi_fail(err, EB_EINVAL, "a batch has flags %u: some are unknown here", b->flags);
    if (b->count && !(eb_caps(j->f) & EB_CAN_COUNT))
        return ebi_fail(err, EB_ENOTSUP, "%s filters cannot count", j->f->kind->info.name);
    return EB_OK;
}

static eb_status batch_set_range(batch_job *j, eb_error *err) {
    const uint32_t shards = eb_shards(j->f);
    const eb_batch *const b = j->b;
    j->first = 0;
    j->end = shards;
    if (!(b->flags & EB_SHARD_RANGE)) return EB_OK;
    if (b->first_shard > shards || b->n_shards > shards - b->first_shard)
        return ebi_fail(err, EB_EINVAL, "there are %u shards: there is no range of %u from %u on",
                        shards, b->n_shards, b->first_shard);
    if (j->uses_time && shards > 1 && !b->time && b->n_shards < shards)
        return ebi_fail(err, EB_EINVAL,
                        "%s filters need times when threads work on ranges of shards",
                        j->f->kind->info.name);
    j->first = b->first_shard;
    j->end = b->first_shard + b->n_shards;
    return EB_OK;
}

static eb_status batch_check_values(const batch_job *j, uint64_t low, uint64_t high,
                                    eb_error *err) {
    static const uint64_t one = 1;
    const eb_batch *const b = j->b;
    if (b->n == 0 || (!b->value && j->work == BATCH_ASK)) return EB_OK;
    const uint64_t *const value = b->value ? b->value : &one;
    const size_t n = b->value && !(b->flags & EB_SAME_VALUE) ? b->n : 1;
    for (size_t i = 0; i < n; i++)
        if (value[i] < low || value[i] > high)
            return ebi_fail_at(err, EB_EVALUE, i, "value %llu of key %zu is not in %llu..%llu",
                               (unsigned long long)value[i], i, (unsigned long long)low,
                               (unsigned long long)high);
    return EB_OK;
}

/* Checks that need hashes compute them one chunk at a time. */
typedef struct batch_window {
    eb_hash room[EBI_LONG_BATCH];
    const eb_hash *hash;
    size_t from, end;
} batch_window;

static eb_hash batch_hash_at(const batch_job *j, batch_window *w, size_t i) {
    assert(i < j->b->n);
    if (j->b->hash) return j->b->hash[i];
    if (i >= w->end) {
        w->from = i;
        w->end = i + (size_t)ebi_min(EBI_LONG_BATCH, j->b->n - i);
        w->hash = batch_hashes(j, i, w->end - i, w->room);
    }
    return w->hash[i - w->from];
}

static eb_status batch_check_time(const batch_job *j, batch_window *w, size_t i, uint64_t time,
                                  uint64_t before, eb_error *err) {
    const unsigned long long t = time;
    if (j->work == BATCH_ADD && time < before)
        return ebi_fail_at(err, EB_ETIME, i, "time %llu of key %zu is before %llu, of the last key",
                           t, i, (unsigned long long)before);
    const uint32_t shard = j->f->shard_bits == 0 ? 0 : eb_shard_of(j->f, batch_hash_at(j, w, i));
    if (shard < j->first || shard >= j->end) return EB_OK;
    const uint64_t clock = ebi_head_of(ebi_shard(j->f, shard))->clock;
    if (j->work == BATCH_REMOVE && time > clock)
        return ebi_fail_at(err, EB_ETIME, i, "time %llu of key %zu is after the clock, %llu", t, i,
                           (unsigned long long)clock);
    if (j->work != BATCH_REMOVE && time < clock)
        return ebi_fail_at(err, EB_ETIME, i, "time %llu of key %zu is before the clock, %llu", t, i,
                           (unsigned long long)clock);
    return EB_OK;
}

static eb_status batch_check_times(const batch_job *j, eb_error *err) {
    const eb_batch *const b = j->b;
    if (!j->uses_time || !b->time || b->flags & EB_CLAMP_TIMES) return EB_OK;
    const bool same = (b->flags & EB_SAME_TIME) != 0;
    batch_window w;
    w.end = 0;
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t time = b->time[same ? 0 : i];
        EBI_TRY(batch_check_time(j, &w, i, time, i == 0 ? 0 : b->time[same ? 0 : i - 1], err));
    }
    return EB_OK;
}

uint64_t ebi_now(const eb_filter *f) {
    uint64_t now = 0;
    for (uint64_t i = 0; i < ebi_shards(f); i++)
        now = ebi_max(now, ebi_head_of(ebi_shard(f, i))->clock);
    return now;
}

/* If keys are numbers, each must be in the filter's domain. */
static eb_status batch_check_domain(const batch_job *j, eb_error *err) {
    const eb_filter *const f = j->f;
    const eb_hash offset = f->p.opt[EBI_O_KEYS] == EBI_KEYS_I64 ? UINT64_C(1) << 63 : 0;
    uint64_t low, high;
    batch_window w;
    if (!f->kind->domain) return EB_OK;
    f->kind->domain(&f->p, &low, &high);
    w.end = 0;
    for (size_t i = 0; i < j->b->n; i++) {
        const eb_hash h = batch_hash_at(j, &w, i);
        if (h >= low && h <= high) continue;
        ebi_decimal_text key, least, most;
        ebi_decimal_print(h - offset, offset != 0, &key);
        ebi_decimal_print(low - offset, offset != 0, &least);
        ebi_decimal_print(high - offset, offset != 0, &most);
        return ebi_fail_at(err, EB_EKEY, i, "key %zu is %s: this filter is for %s..%s", i, key.text,
                           least.text, most.text);
    }
    return EB_OK;
}

/* Checks a batch and makes a job of it. */
static eb_status batch_open(batch_job *j, const eb_filter *f, const eb_batch *b, batch_work work,
                            eb_error *err) {
    *j = (batch_job){.f = f, .b = b, .work = work, .refused = SIZE_MAX};
    j->uses_time = ebi_uses_time(f->kind, &f->p);
    j->uses_value = (eb_caps(f) & EB_USES_VALUE) != 0;
    j->counts_new = ebi_counts_new(f->kind);
    EBI_TRY(batch_check_form(j, err));
    EBI_TRY(batch_set_range(j, err));
    EBI_TRY(batch_check_domain(j, err));
    if (j->uses_value) EBI_TRY(batch_check_values(j, f->p.value_min, f->p.value_max, err));
    EBI_TRY(batch_check_times(j, err));
    if (j->uses_time && !b->time) j->now = ebi_now(f);
    return EB_OK;
}

eb_status ebi_may_change(const eb_filter *f, eb_error *err) {
    if (f->flags & EBI_FLAG_VIEW) return ebi_fail(err, EB_EREADONLY, "a view cannot be changed");
    if (ebi_is_frozen(f))
        return ebi_fail(err, EB_EREADONLY, "a frozen filter cannot be changed: thaw it first");
    if (ebi_is_sealed(f))
        return ebi_fail(err, EB_EREADONLY,
                        "the result of an operation on filters cannot be changed");
    return EB_OK;
}

bool ebi_is_limited(const eb_filter *f) {
    return f->kind->growing && f->kind->growing->capacity(&f->p) != UINT64_MAX;
}

/* The public functions */

eb_status eb_add_batch(eb_filter *f, const eb_batch *b, eb_error *err) {
    batch_job add;
    eb_error why;
    EBI_TRY(ebi_may_change(f, err));
    EBI_TRY(batch_open(&add, f, b, BATCH_ADD, err));
    if (ebi_is_limited(f)) {
        add.grows = f;
        add.err = &why;
    }
    batch_walk(&add);
    if (add.refused == SIZE_MAX) return EB_OK;
    return ebi_fail_at(err, EB_EFULL, add.refused, "key %zu is one too many: %.400s", add.refused,
                       why.text);
}

eb_status eb_ask_batch(const eb_filter *f, const eb_batch *b, eb_error *err) {
    batch_job ask;
    EBI_TRY(batch_open(&ask, f, b, BATCH_ASK, err));
    if (b->seen || b->count) batch_walk(&ask);
    return EB_OK;
}

void ebi_counts(const eb_filter *f, const eb_hash *h, size_t n, double *count) {
    eb_batch b = eb_batch_hashes(h, n);
    b.count = count;
    const eb_status status = eb_ask_batch(f, &b, NULL);
    assert(status == EB_OK);
    (void)status;
}

static eb_status batch_claim(batch_job *j, eb_error *err) {
    enum { BATCH_SMALL = 64 }; /* slots, for few keys */
    const eb_filter *const f = j->f;
    assert(f->kind->removing != NULL);
    const size_t n = j->b->n;
    ebi_claim_slot small[BATCH_SMALL] = {{NULL, 0, 0}};
    const uint64_t each = f->kind->removing->claims(&f->p), shards = ebi_shards(f);
    if (n > SIZE_MAX / sizeof(ebi_claim_slot) / (2 * each) - shards)
        return ebi_fail(err, EB_ENOMEM, "no memory to remove %zu keys at once", n);
    const uint64_t slots = ebi_claims_slots(n * each + shards);
    const ebi_claims claims = {
        slots <= BATCH_SMALL ? small : ebi_alloc_zeroed(&f->mem, slots * sizeof(ebi_claim_slot)),
        slots};
    if (!claims.table) return ebi_fail(err, EB_ENOMEM, "no memory to remove %zu keys at once", n);
    j->work = BATCH_CLAIM;
    j->claims = &claims;
    batch_walk(j);
    j->work = BATCH_REMOVE;
    j->claims = NULL;
    if (claims.table != small) ebi_release(&f->mem, claims.table, slots * sizeof(ebi_claim_slot));
    if (j->refused == SIZE_MAX) return EB_OK;
    return ebi_fail_at(err, EB_EVALUE, j->refused, "key %zu cannot have been added so often",
                       j->refused);
}

/* Removes all keys or none: first all keys claim what they take. */
eb_status eb_remove_batch(eb_filter *f, const eb_batch *b, eb_error *err) {
    batch_job removal;
    if (!(eb_caps(f) & EB_CAN_REMOVE))
        return ebi_fail(err, EB_ENOTSUP, "%s filters%s cannot remove keys", f->kind->info.name,
                        f->kind->info.caps & EB_CAN_REMOVE ? " with these options" : "");
    EBI_TRY(ebi_may_change(f, err));
    EBI_TRY(batch_open(&removal, f, b, BATCH_REMOVE, err));
    EBI_TRY(batch_claim(&removal, err));
    batch_walk(&removal);
    return EB_OK;
}

/* Classes of weighted filters: include/everbloom/experimental.h. */
eb_status eb_classify(eb_filter *f, const eb_batch *b, eb_error *err) {
    uint64_t room[BATCH_SHARDS_MAX];
    batch_job classify;
    batch_window w;
    if (!f->kind->classed)
        return ebi_fail(err, EB_ENOTSUP, "%s filters have no classes", f->kind->info.name);
    EBI_TRY(ebi_may_change(f, err));
    classify = (batch_job){.f = f, .b = b, .work = BATCH_CLASSIFY, .refused = SIZE_MAX};
    classify.uses_value = true;
    EBI_TRY(batch_check_form(&classify, err));
    EBI_TRY(batch_set_range(&classify, err));
    EBI_TRY(batch_check_values(&classify, 1, f->kind->classed->classes(&f->p), err));
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        room[i] = f->kind->classed->room(&f->p, ebi_shard(f, i));
        if (ebi_head_of(ebi_shard(f, i))->items > 0)
            return ebi_fail(err, EB_EINVAL, "the hot list is frozen since the first key was added");
    }
    w.end = 0;
    for (size_t i = 0; i < b->n; i++)
        if (room[eb_shard_of(f, batch_hash_at(&classify, &w, i))]-- == 0)
            return ebi_fail_at(err, EB_EINVAL, i,
                               "the hot list is full: make the filter with a larger hot=");
    batch_walk(&classify);
    return EB_OK;
}
