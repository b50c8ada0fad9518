/* handle.c - the life of a filter, and keys in and out of it.
 *
 * Whatever the caller's batch looks like, a kind sees pieces of at most
 * EB_BATCH (some kinds EB_LONG_BATCH) keys of one shard, in order.  With one
 * shard that is a cut; with several, keys are first sorted by shard, CHUNK at a
 * time.  Inside a shard the hash is multiplied by an odd number: the top bits, which chose the
 * shard, are the same for all its keys and would confine them to a corner of the block. */
#include "base/rng.h"
#include "cells/claims.h"
#include "filter.h"
#include <everbloom/weighted.h>

enum { CHUNK = 1024 };

eb_filter *ebi_handle(const eb_kind *kind, const eb_params *p, const eb_allocator *mem) {
    if (!mem) mem = &ebi_malloc;
    eb_filter *const f = mem->alloc(mem->ctx, sizeof *f, 64);
    if (!f) return NULL;
    memset(f, 0, sizeof *f);
    f->kind = kind;
    f->ops = kind->select(p);
    f->p = *p;
    f->mem = *mem;
    f->shard_bits = ebi_log2(p->opt[EB_O_SHARDS]);
    return f;
}

static void handle_init(eb_filter *f) { /* the block is zero */
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        ebi_head(ebi_shard(f, i))->rng = ebi_mix(f->p.opt[EB_O_SEED] + ebi_mix(i + 1));
        if (f->kind->init) f->kind->init(&f->p, ebi_shard(f, i));
    }
}

eb_status ebi_new(eb_filter **out, const eb_kind *kind, const eb_params *p, const eb_allocator *mem,
                  eb_error *err) {
    eb_filter *const f = ebi_handle(kind, p, mem);
    if (f) f->block = ebi_alloc_zeroed(&f->mem, ebi_bytes(f));
    if (!f || !f->block) {
        eb_free(f);
        return ebi_fail(err, EB_ENOMEM, "%s: no memory for a block of %llu bytes", kind->info.name,
                        (unsigned long long)(p->span * p->opt[EB_O_SHARDS]));
    }
    handle_init(f);
    *out = f;
    return EB_OK;
}

eb_status eb_new(eb_filter **out, const char *spec, const eb_allocator *mem, eb_error *err) {
    const eb_kind *kind;
    eb_params p;
    EB_TRY(ebi_spec_parse(spec, &kind, &p, err));
    if (kind->frozen != 0 && p.opt[kind->frozen] != 0)
        return ebi_fail(err, EB_ESPEC, "%s: frozen filters are made of others, with eb_freeze",
                        kind->info.name);
    return ebi_new(out, kind, &p, mem, err);
}

void eb_free(eb_filter *f) {
    if (!f) return;
    const eb_allocator mem = f->mem;
    if (f->block && !(f->flags & EB_FLAG_VIEW)) mem.free(mem.ctx, f->block, ebi_bytes(f));
    mem.free(mem.ctx, f, sizeof *f);
}

eb_status eb_clone(eb_filter **out, const eb_filter *f, const eb_allocator *mem) {
    eb_filter *const copy = ebi_handle(f->kind, &f->p, mem);
    if (!copy) return EB_ENOMEM;
    copy->block = copy->mem.alloc(copy->mem.ctx, ebi_bytes(f), 64);
    if (!copy->block) {
        eb_free(copy);
        return EB_ENOMEM;
    }
    memcpy(copy->block, f->block, ebi_bytes(f));
    *out = copy;
    return EB_OK;
}

void eb_clear(eb_filter *f) {
    if (f->flags & EB_FLAG_VIEW || ebi_is_frozen(f)) return;
    memset(f->block, 0, ebi_bytes(f));
    handle_init(f);
}

size_t eb_spec(const eb_filter *f, char *buf, size_t cap) {
    return ebi_spec_print(f->kind, &f->p, buf, cap);
}

/* Shards */

uint32_t eb_shards(const eb_filter *f) {
    return (uint32_t)ebi_shards(f);
}

uint32_t eb_shard_of(const eb_filter *f, eb_hash h) {
    return f->shard_bits == 0 ? 0 : (uint32_t)(h >> (64 - f->shard_bits));
}

/* The keys of a chunk, sorted by shard: shard s has places start[s]..start[s+1]-1,
 * and from[place] is the key's index in the chunk. */
typedef struct handle_sorted {
    uint16_t start[257], from[CHUNK];
    eb_hash hash[CHUNK];
} handle_sorted;

static void handle_sort(const eb_filter *f, const eb_hash *h, size_t n, handle_sorted *s) {
    uint16_t next[257] = {0};
    for (size_t i = 0; i < n; i++) next[eb_shard_of(f, h[i]) + 1]++;
    for (size_t i = 1; i <= ebi_shards(f); i++) next[i] = (uint16_t)(next[i] + next[i - 1]);
    memcpy(s->start, next, sizeof next);
    for (size_t i = 0; i < n; i++) {
        const uint16_t place = next[eb_shard_of(f, h[i])]++;
        s->from[place] = (uint16_t)i;
        s->hash[place] = ebi_inner_hash(h[i]);
    }
}

/* Work on batches: add, remove, ask with values, name classes. */

typedef enum handle_work {
    WORK_ADD,
    WORK_REMOVE,
    WORK_CLAIM,
    WORK_TEST,
    WORK_CLASSIFY
} handle_work;

typedef struct handle_job {
    handle_work work;
    const eb_claims *claims; /* of WORK_CLAIM */
} handle_job;

static const uint32_t handle_value_one[EB_BATCH] = {
#define EB_ONES 1, 1, 1, 1, 1, 1, 1, 1
    EB_ONES, EB_ONES, EB_ONES, EB_ONES, EB_ONES,
    EB_ONES, EB_ONES, EB_ONES
#undef EB_ONES
};

static void handle_add(const eb_filter *f, uint8_t *block, eb_batch b, uint8_t *seen) {
    eb_head *const head = ebi_head(block);
    uint64_t time[EB_LONG_BATCH];
    if (f->kind->info.caps & EB_USES_TIME) {
        if (!b.time) {
            for (size_t i = 0; i < b.n; i++) time[i] = head->clock + 1 + i;
            b.time = time;
        }
        f->ops->add(&f->p, block, &b, seen);
        head->clock = b.time[b.n - 1];
    } else {
        f->ops->add(&f->p, block, &b, seen);
        head->clock += b.n;
    }
    head->items += b.n;
}

/* Removals: of keys that came at these times, or now. */
static void handle_fill_times(const eb_filter *f, const uint8_t *block, eb_batch *b,
                              uint64_t *time) {
    if (b->time || !(f->kind->info.caps & EB_USES_TIME)) return;
    for (size_t i = 0; i < b->n; i++) time[i] = ebi_head_of(block)->clock;
    b->time = time;
}

static size_t handle_piece_max(const eb_filter *f) {
    return f->kind->long_batches ? EB_LONG_BATCH : EB_BATCH;
}

/* A piece of at most handle_piece_max keys for one shard; value and time may be NULL. */
static eb_status handle_piece(const eb_filter *f, uint8_t *block, eb_batch b, uint8_t *seen,
                              const handle_job *job) {
    uint64_t time[EB_BATCH];
    if (job->work == WORK_CLAIM || job->work == WORK_REMOVE) handle_fill_times(f, block, &b, time);
    if (!b.value && (f->kind->info.caps & EB_USES_VALUE)) b.value = handle_value_one;
    switch (job->work) {
    case WORK_ADD:
        handle_add(f, block, b, seen);
        break;
    case WORK_REMOVE:
        f->kind->remove(&f->p, block, &b);
        break;
    case WORK_CLAIM:
        EB_TRY(f->kind->claim(&f->p, block, &b, job->claims));
        break;
    case WORK_TEST:
        f->ops->test_values(&f->p, block, &b, seen);
        break;
    case WORK_CLASSIFY:
        f->kind->classify(&f->p, block, &b);
        break;
    }
    return EB_OK;
}

/* Keys of one shard, any number. */
static eb_status handle_one_shard(const eb_filter *f, uint8_t *block, const eb_batch *b,
                                  uint8_t *seen, const handle_job *job) {
    uint8_t unwanted[EB_LONG_BATCH];
    const size_t most = handle_piece_max(f);
    for (size_t i = 0; i < b->n; i += most) {
        const eb_batch piece = {ebi_min(most, b->n - i), b->hash + i,
                                b->value ? b->value + i : NULL, b->time ? b->time + i : NULL};
        EB_TRY(handle_piece(f, block, piece, seen ? seen + i : unwanted, job));
    }
    return EB_OK;
}

static eb_status handle_chunk(const eb_filter *f, const eb_batch *b, uint8_t *seen,
                              const handle_job *job) {
    handle_sorted s;
    uint32_t value[CHUNK];
    uint64_t time[CHUNK];
    uint8_t sorted_seen[CHUNK];
    handle_sort(f, b->hash, b->n, &s);
    for (size_t i = 0; i < b->n; i++) {
        if (b->value) value[i] = b->value[s.from[i]];
        if (b->time) time[i] = b->time[s.from[i]];
    }
    for (size_t shard = 0; shard < ebi_shards(f); shard++) {
        const size_t at = s.start[shard], n = s.start[shard + 1] - at;
        if (n == 0) continue;
        const eb_batch piece = {n, s.hash + at, b->value ? value + at : NULL,
                                b->time ? time + at : NULL};
        EB_TRY(handle_one_shard(f, ebi_shard(f, shard), &piece, sorted_seen + at, job));
    }
    if (seen)
        for (size_t i = 0; i < b->n; i++) seen[s.from[i]] = sorted_seen[i];
    return EB_OK;
}

static eb_status handle_walk(const eb_filter *f, const eb_batch *b, uint8_t *seen,
                             const handle_job *job) {
    if (f->shard_bits == 0) return handle_one_shard(f, f->block, b, seen, job);
    for (size_t i = 0; i < b->n; i += CHUNK) {
        const eb_batch chunk = {ebi_min(CHUNK, b->n - i), b->hash + i,
                                b->value ? b->value + i : NULL, b->time ? b->time + i : NULL};
        EB_TRY(handle_chunk(f, &chunk, seen ? seen + i : NULL, job));
    }
    return EB_OK;
}

static bool handle_values_within(const eb_batch *b, uint32_t low, uint32_t high) {
    if (!b->value) return low <= 1 && 1 <= high;
    for (size_t i = 0; i < b->n; i++)
        if (b->value[i] < low || b->value[i] > high) return false;
    return true;
}

static bool handle_values_fit(const eb_filter *f, const eb_batch *b) {
    return !(f->kind->info.caps & EB_USES_VALUE) ||
           handle_values_within(b, f->p.value_min, f->p.value_max);
}

static bool handle_times_fit(const eb_filter *f, const eb_batch *b, handle_work work) {
    if (!b->time || !(f->kind->info.caps & EB_USES_TIME)) return true;
    for (size_t i = 0; i < b->n; i++) {
        const uint8_t *const block = ebi_shard(f, eb_shard_of(f, b->hash[i]));
        const uint64_t clock = ebi_head_of(block)->clock;
        if (work == WORK_REMOVE ? b->time[i] > clock : b->time[i] < clock) return false;
        if (work == WORK_ADD && i > 0 && b->time[i] < b->time[i - 1]) return false;
    }
    return true;
}

static eb_status handle_may_write(const eb_filter *f, const eb_batch *b, handle_work work) {
    if (f->flags & EB_FLAG_VIEW || ebi_is_sealed(f) || ebi_is_frozen(f)) return EB_EREADONLY;
    return handle_values_fit(f, b) && handle_times_fit(f, b, work) ? EB_OK : EB_EINVAL;
}

eb_status ebi_may_add(const eb_filter *f, const eb_batch *b) {
    return handle_may_write(f, b, WORK_ADD);
}

eb_status eb_add_batch(eb_filter *f, const eb_batch *b, uint8_t *seen) {
    const handle_job add = {WORK_ADD, NULL};
    EB_TRY(ebi_may_add(f, b));
    return handle_walk(f, b, seen, &add);
}

/* Without a loop of its own a kind is asked after each key. */
static eb_status handle_add_count_singly(eb_filter *f, const eb_batch *b, double *after) {
    for (size_t i = 0; i < b->n; i++) {
        const eb_batch one = {1, b->hash + i, b->value ? b->value + i : NULL,
                              b->time ? b->time + i : NULL};
        EB_TRY(eb_add_batch(f, &one, NULL));
        eb_count_batch(f, b->hash + i, 1, after + i);
    }
    return EB_OK;
}

/* Keys of one shard, of a kind that uses no time. */
static void handle_add_count_shard(const eb_filter *f, uint8_t *block, const eb_batch *b,
                                   double *after) {
    eb_head *const head = ebi_head(block);
    for (size_t i = 0; i < b->n; i += EB_BATCH) {
        const size_t n = ebi_min(EB_BATCH, b->n - i);
        const eb_batch piece = {n, b->hash + i, b->value ? b->value + i : handle_value_one, NULL};
        f->ops->add_count(&f->p, block, &piece, after + i);
        head->items += n;
        head->clock += n;
    }
}

static void handle_add_count_chunk(const eb_filter *f, const eb_batch *b, double *after) {
    handle_sorted s;
    uint32_t value[CHUNK];
    double of_shard[CHUNK];
    handle_sort(f, b->hash, b->n, &s);
    for (size_t i = 0; b->value && i < b->n; i++) value[i] = b->value[s.from[i]];
    for (size_t shard = 0; shard < ebi_shards(f); shard++) {
        const size_t at = s.start[shard], n = s.start[shard + 1] - at;
        const eb_batch piece = {n, s.hash + at, b->value ? value + at : NULL, NULL};
        handle_add_count_shard(f, ebi_shard(f, shard), &piece, of_shard);
        for (size_t i = 0; i < n; i++) after[s.from[at + i]] = of_shard[i];
    }
}

eb_status eb_add_count_batch(eb_filter *f, const eb_batch *b, double *after) {
    EB_TRY(ebi_may_add(f, b));
    if (!f->ops->add_count) return handle_add_count_singly(f, b, after);
    if (f->shard_bits == 0) {
        handle_add_count_shard(f, f->block, b, after);
        return EB_OK;
    }
    for (size_t i = 0; i < b->n; i += CHUNK) {
        const eb_batch chunk = {ebi_min(CHUNK, b->n - i), b->hash + i,
                                b->value ? b->value + i : NULL, NULL};
        handle_add_count_chunk(f, &chunk, after + i);
    }
    return EB_OK;
}

/* All or nothing: first all keys lay claim to what they take. */
eb_status eb_remove_batch(eb_filter *f, const eb_batch *b) {
    enum { SMALL = 64 }; /* slots, for few keys */
    eb_claim small[SMALL] = {{NULL, 0, 0}};
    if (!(eb_caps(f) & EB_CAN_REMOVE)) return EB_ENOTSUP;
    EB_TRY(handle_may_write(f, b, WORK_REMOVE));
    const uint64_t each = f->kind->claims(&f->p), shards = ebi_shards(f);
    if (b->n > SIZE_MAX / sizeof(eb_claim) / (2 * each) - shards) return EB_ENOMEM;
    const uint64_t slots = ebi_claims_slots(b->n * each + shards);
    const eb_claims claims = {
        slots <= SMALL ? small : (void *)ebi_alloc_zeroed(&f->mem, slots * sizeof(eb_claim)),
        slots};
    const handle_job claim = {WORK_CLAIM, &claims}, removal = {WORK_REMOVE, NULL};
    if (!claims.table) return EB_ENOMEM;
    const eb_status status = handle_walk(f, b, NULL, &claim);
    if (claims.table != small) f->mem.free(f->mem.ctx, claims.table, slots * sizeof(eb_claim));
    return status == EB_OK ? handle_walk(f, b, NULL, &removal) : status;
}

eb_status eb_test_values(const eb_filter *f, const eb_batch *b, uint8_t *seen) {
    if (!handle_values_fit(f, b)) return EB_EINVAL;
    const handle_job test = {WORK_TEST, NULL};
    if (f->ops->test_values) return handle_walk(f, b, seen, &test);
    eb_test_batch(f, b->hash, b->n, seen);
    return EB_OK;
}

eb_status eb_advance(eb_filter *f, uint64_t time) {
    if (!(f->kind->info.caps & EB_USES_TIME)) return EB_ENOTSUP;
    if (f->flags & EB_FLAG_VIEW) return EB_EREADONLY;
    for (uint64_t i = 0; i < ebi_shards(f); i++)
        if (time < ebi_head_of(ebi_shard(f, i))->clock) return EB_EINVAL;
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        if (f->kind->advance) f->kind->advance(&f->p, ebi_shard(f, i), time);
        ebi_head(ebi_shard(f, i))->clock = time;
    }
    return EB_OK;
}

/* Classes of weighted filters: include/everbloom/weighted.h. */

eb_status eb_classify(eb_filter *f, const eb_batch *b, eb_error *err) {
    uint64_t room[256];
    if (!f->kind->classify)
        return ebi_fail(err, EB_ENOTSUP, "%s filters have no classes", f->kind->info.name);
    if (f->flags & EB_FLAG_VIEW) return ebi_fail(err, EB_EREADONLY, "a view cannot be changed");
    if (!handle_values_within(b, 1, f->kind->classes(&f->p)))
        return ebi_fail(err, EB_EINVAL, "a class must be 1..%u", f->kind->classes(&f->p));
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        room[i] = f->kind->classify_room(&f->p, ebi_shard(f, i));
        if (ebi_head_of(ebi_shard(f, i))->items > 0)
            return ebi_fail(err, EB_EINVAL, "the hot list is frozen since the first key was added");
    }
    for (size_t i = 0; i < b->n; i++)
        if (room[eb_shard_of(f, b->hash[i])]-- == 0)
            return ebi_fail(err, EB_EINVAL,
                            "the hot list is full: make the filter with a larger hot=");
    const handle_job classify = {WORK_CLASSIFY, NULL};
    return handle_walk(f, b, NULL, &classify);
}

eb_status eb_class_k(const eb_filter *f, uint32_t class_number, uint32_t *insert_k,
                     uint32_t *query_k) {
    if (!f->kind->get_k) return EB_ENOTSUP;
    if (class_number < 1 || class_number > f->kind->classes(&f->p)) return EB_EINVAL;
    f->kind->get_k(f->block, class_number, insert_k, query_k);
    return EB_OK;
}

eb_status eb_set_class_k(eb_filter *f, uint32_t class_number, uint32_t insert_k, uint32_t query_k,
                         bool renewed, eb_error *err) {
    if (!f->kind->set_k)
        return ebi_fail(err, EB_ENOTSUP, "%s filters have no classes", f->kind->info.name);
    if (f->flags & EB_FLAG_VIEW) return ebi_fail(err, EB_EREADONLY, "a view cannot be changed");
    for (uint64_t i = 0; i < ebi_shards(f); i++)
        EB_TRY(
            f->kind->set_k(&f->p, ebi_shard(f, i), class_number, insert_k, query_k, renewed, err));
    return EB_OK;
}

/* Asking: seen or count is wanted, the other NULL. */

static void handle_ask_piece(const eb_filter *f, const uint8_t *block, const eb_hash *h, size_t n,
                             uint8_t *seen, double *count) {
    if (count && f->ops->count) {
        f->ops->count(&f->p, block, h, n, count);
        return;
    }
    uint8_t found[EB_LONG_BATCH];
    f->ops->test(&f->p, block, h, n, seen ? seen : found);
    for (size_t i = 0; count && i < n; i++) count[i] = found[i];
}

static void handle_ask_shard(const eb_filter *f, const uint8_t *block, const eb_hash *h, size_t n,
                             uint8_t *seen, double *count) {
    const size_t most = handle_piece_max(f);
    for (size_t i = 0; i < n; i += most)
        handle_ask_piece(f, block, h + i, ebi_min(most, n - i), seen ? seen + i : NULL,
                         count ? count + i : NULL);
}

static void handle_ask_chunk(const eb_filter *f, const eb_hash *h, size_t n, uint8_t *seen,
                             double *count) {
    handle_sorted s;
    uint8_t sorted_seen[CHUNK];
    double sorted_count[CHUNK];
    handle_sort(f, h, n, &s);
    for (size_t shard = 0; shard < ebi_shards(f); shard++) {
        const size_t at = s.start[shard];
        handle_ask_shard(f, ebi_shard(f, shard), s.hash + at, s.start[shard + 1] - at,
                         seen ? sorted_seen + at : NULL, count ? sorted_count + at : NULL);
    }
    for (size_t i = 0; i < n; i++) {
        if (seen) seen[s.from[i]] = sorted_seen[i];
        if (count) count[s.from[i]] = sorted_count[i];
    }
}

static void handle_ask(const eb_filter *f, const eb_hash *h, size_t n, uint8_t *seen,
                       double *count) {
    if (f->shard_bits == 0) {
        handle_ask_shard(f, f->block, h, n, seen, count);
        return;
    }
    for (size_t i = 0; i < n; i += CHUNK)
        handle_ask_chunk(f, h + i, ebi_min(CHUNK, n - i), seen ? seen + i : NULL,
                         count ? count + i : NULL);
}

void eb_test_batch(const eb_filter *f, const eb_hash *h, size_t n, uint8_t *seen) {
    handle_ask(f, h, n, seen, NULL);
}

void eb_count_batch(const eb_filter *f, const eb_hash *h, size_t n, double *count) {
    handle_ask(f, h, n, NULL, count);
}

/* Single keys: batches of one. */

void eb_hash_keys(const eb_filter *f, const eb_key *keys, size_t n, eb_hash *out) {
    if (f->p.opt[EB_O_HASH] == EB_HASH_SIP)
        ebi_hash_sip(f->p.key, keys, n, out);
    else
        ebi_hash_xxh3(f->p.opt[EB_O_SEED], keys, n, out);
}

static eb_hash handle_hash(const eb_filter *f, const void *key, size_t len) {
    const eb_key one = {key, len};
    eb_hash h;
    eb_hash_keys(f, &one, 1, &h);
    return h;
}

eb_status eb_add(eb_filter *f, const void *key, size_t len, bool *seen) {
    const eb_hash h = handle_hash(f, key, len);
    const eb_batch one = {1, &h, NULL, NULL};
    uint8_t answer = 0;
    EB_TRY(eb_add_batch(f, &one, &answer));
    if (seen) *seen = answer != 0;
    return EB_OK;
}

bool eb_test(const eb_filter *f, const void *key, size_t len) {
    const eb_hash h = handle_hash(f, key, len);
    uint8_t answer;
    eb_test_batch(f, &h, 1, &answer);
    return answer != 0;
}

double eb_count(const eb_filter *f, const void *key, size_t len) {
    const eb_hash h = handle_hash(f, key, len);
    double answer;
    eb_count_batch(f, &h, 1, &answer);
    return answer;
}
