/* loader.c - loads a snapshot that arrives in chunks of any size, for example from a network.
 *
 * First the header and the spec are gathered and checked, then the bytes go directly into the
 * block.  A header of a few bytes must not make the library allocate terabytes.  So, unless the
 * caller has set a limit, the block grows with what arrives, to twice that at most. */
#include "snapshot.h"

enum { LOADER_FIRST = 64 << 10 }; /* bytes of the block at first */

struct eb_loader {
    eb_allocator mem;
    eb_limits limits;
    bool limited; /* the block may be allocated at once */
    bool failed;  /* it takes nothing more */
    uint8_t front[EB_SNAPSHOT_FRONT];
    size_t front_len;          /* bytes of the front that have arrived */
    ebi_snapshot_front opened; /* valid when front_len has reached its payload_offset */
    uint8_t *block;
    uint64_t room, filled; /* bytes allocated for the block, and bytes that have arrived */
};

eb_status eb_loader_new(eb_loader **out, const eb_limits *limits, const eb_allocator *mem,
                        eb_error *err) {
    eb_allocator from;
    *out = NULL;
    if (limits) EBI_CHECK_SIZE(limits, eb_limits, err);
    EBI_TRY(ebi_allocator(&from, mem, err));
    eb_loader *const l = ebi_alloc_zeroed(&from, sizeof *l);
    if (!l) return ebi_fail(err, EB_ENOMEM, "no memory for a loader");
    l->mem = from;
    if (limits) l->limits = *limits;
    l->limited = l->limits.bytes != 0;
    *out = l;
    return EB_OK;
}

void eb_loader_free(eb_loader *l) {
    if (!l) return;
    const eb_allocator mem = l->mem;
    ebi_release(&mem, l->block, l->room);
    ebi_release(&mem, l, sizeof *l);
}

static bool loader_knows_header(const eb_loader *l) {
    return l->front_len >= sizeof l->opened.h;
}

static bool loader_has_front(const eb_loader *l) {
    return loader_knows_header(l) && l->front_len == l->opened.h.payload_offset;
}

/* How many bytes are certainly missing. */
static uint64_t loader_missing(const eb_loader *l) {
    if (!loader_knows_header(l)) return sizeof l->opened.h - l->front_len;
    return l->opened.h.payload_offset - l->front_len + l->opened.h.payload_len - l->filled;
}

/* Makes room for at least one more byte. */
static eb_status loader_grow(eb_loader *l, eb_error *err) {
    const uint64_t whole = l->opened.h.payload_len;
    const uint64_t wanted = l->limited ? whole : ebi_min(whole, ebi_max(LOADER_FIRST, 2 * l->room));
    assert(l->filled == l->room && l->room < whole);
    uint8_t *const larger = ebi_alloc(&l->mem, wanted);
    if (!larger)
        return ebi_fail(err, EB_ENOMEM, "no memory for %llu bytes of a snapshot",
                        (unsigned long long)wanted);
    if (l->filled > 0) memcpy(larger, l->block, (size_t)l->filled);
    ebi_release(&l->mem, l->block, l->room);
    l->block = larger;
    l->room = wanted;
    return EB_OK;
}

/* Takes up to `wanted` bytes of the front.  Returns how many the chunk had. */
static size_t loader_gather(eb_loader *l, const uint8_t *chunk, size_t n, size_t wanted) {
    const size_t take = (size_t)ebi_min(n, wanted - l->front_len);
    if (take > 0) memcpy(l->front + l->front_len, chunk, take);
    l->front_len += take;
    return take;
}

static eb_status loader_front(eb_loader *l, const uint8_t *chunk, size_t n, size_t *used,
                              eb_error *err) {
    ebi_snapshot_header *const h = &l->opened.h;
    if (!loader_knows_header(l)) {
        *used += loader_gather(l, chunk, n, sizeof *h);
        if (!loader_knows_header(l)) return EB_OK;
        EBI_TRY(ebi_snapshot_read_header(l->front, sizeof *h, h, err));
    }
    *used += loader_gather(l, chunk + *used, n - *used, h->payload_offset);
    if (!loader_has_front(l)) return EB_OK;
    EBI_TRY(ebi_snapshot_read_front(l->front, &l->opened, err));
    return ebi_snapshot_check_limits(&l->opened, &l->limits, err);
}

static eb_status loader_block(eb_loader *l, const uint8_t *chunk, size_t n, size_t *used,
                              eb_error *err) {
    while (*used < n && l->filled < l->opened.h.payload_len) {
        if (l->filled == l->room) EBI_TRY(loader_grow(l, err));
        const size_t take = (size_t)ebi_min(n - *used, l->room - l->filled);
        memcpy(l->block + l->filled, chunk + *used, take);
        l->filled += take;
        *used += take;
    }
    return EB_OK;
}

eb_status eb_loader_feed(eb_loader *l, const void *chunk, size_t n, size_t *used, uint64_t *missing,
                         eb_error *err) {
    size_t took = 0;
    if (l->failed) return ebi_fail(err, EB_EINVAL, "a loader that failed takes no more bytes");
    eb_status status = EB_OK;
    if (!loader_has_front(l)) status = loader_front(l, chunk, n, &took, err);
    if (status == EB_OK && loader_has_front(l)) status = loader_block(l, chunk, n, &took, err);
    l->failed = status != EB_OK;
    if (used) *used = took;
    if (missing) *missing = l->failed ? 0 : loader_missing(l);
    return status;
}

eb_status eb_loader_finish(eb_loader *l, eb_filter **out, eb_error *err) {
    eb_filter *f;
    *out = NULL;
    if (l->failed) return ebi_fail(err, EB_EINVAL, "a loader that failed has no filter");
    if (!loader_knows_header(l))
        return ebi_fail(err, EB_EFORMAT, "not a snapshot: %zu bytes are too few", l->front_len);
    if (loader_missing(l) > 0)
        return ebi_snapshot_too_short(&l->opened.h, l->front_len + l->filled, err);
    l->failed = true; /* whatever happens now, it cannot be used again */
    EBI_TRY(ebi_handle(&f, l->opened.kind, &l->opened.p, &l->mem, err));
    assert(l->room == ebi_bytes(f));
    f->block = l->block;
    f->room = l->room;
    l->block = NULL;
    return ebi_snapshot_finish(out, f, &l->opened.h, err);
}
