/* snapshot.c - save, load, view: docs/FORMAT.md in code.
 *
 *     | header 64 | canonical spec, NUL-padded to 64 | the block |
 *
 * Loading is checking: nothing of the bytes is believed before its check. */
#include "filter.h"
#include <inttypes.h>

static const uint8_t snapshot_magic[8] = {0x89, 'E', 'V', 'B', '\r', '\n', 0x1a, '\n'};
enum { FORMAT_VERSION = 1 };

typedef struct snapshot_header {
    uint8_t magic[8];
    uint16_t format, kind, kind_version, reserved;
    uint32_t spec_len;       /* without padding */
    uint32_t payload_offset; /* header and padded spec */
    uint64_t payload_len;
    uint64_t payload_sum; /* XXH3 of the payload, seed 0 */
    uint64_t reserved2[2];
    uint64_t header_sum; /* XXH3 of [64, offset), seeded with XXH3 of [0, 56) */
} snapshot_header;
static_assert(sizeof(snapshot_header) == EB_SNAPSHOT_HEAD, "the header is one cache line");
static_assert(64 + EB_SPEC_MAX <= EB_OVERHEAD, "a file is no longer than memory= said");

static uint64_t snapshot_header_sum(const uint8_t *bytes, uint32_t offset) {
    const uint64_t first = ebi_checksum(bytes, offsetof(snapshot_header, header_sum), 0);
    return ebi_checksum(bytes + sizeof(snapshot_header), offset - sizeof(snapshot_header), first);
}

static uint32_t snapshot_offset(size_t spec_len) {
    return (uint32_t)(sizeof(snapshot_header) + ebi_round_up(spec_len, 64));
}

static uint16_t snapshot_number(const eb_kind *kind) {
    for (size_t i = 0; i < ebi_registry_size; i++)
        if (ebi_registry[i].kind == kind) return ebi_registry[i].number;
    assert(false);
    return 0;
}

size_t eb_snapshot_size(const eb_filter *f) {
    return snapshot_offset(eb_spec(f, NULL, 0)) + ebi_bytes(f);
}

eb_status eb_save_parts(const eb_filter *f, void *front, size_t cap, size_t *front_len,
                        const void **block, size_t *block_len) {
    if (cap < snapshot_offset(eb_spec(f, NULL, 0))) return EB_EINVAL;
    char spec[EB_SPEC_MAX] = {0};
    uint8_t *const bytes = front;
    snapshot_header h = {.format = FORMAT_VERSION,
                         .kind = snapshot_number(f->kind),
                         .kind_version = f->kind->version,
                         .spec_len = (uint32_t)eb_spec(f, spec, sizeof spec),
                         .payload_len = ebi_bytes(f),
                         .payload_sum = ebi_checksum(f->block, ebi_bytes(f), 0)};
    memcpy(h.magic, snapshot_magic, sizeof h.magic);
    h.payload_offset = snapshot_offset(h.spec_len);
    memcpy(bytes, &h, sizeof h);
    memcpy(bytes + sizeof h, spec, h.payload_offset - sizeof h);
    h.header_sum = snapshot_header_sum(bytes, h.payload_offset);
    memcpy(bytes, &h, sizeof h);
    *front_len = h.payload_offset;
    *block = f->block;
    *block_len = ebi_bytes(f);
    return EB_OK;
}

eb_status eb_save(const eb_filter *f, void *buf, size_t cap) {
    size_t front_len, block_len;
    const void *block;
    if (cap < eb_snapshot_size(f)) return EB_EINVAL;
    EB_TRY(eb_save_parts(f, buf, cap, &front_len, &block, &block_len));
    memcpy((uint8_t *)buf + front_len, block, block_len);
    return EB_OK;
}

static eb_status snapshot_read_header(const void *buf, size_t len, snapshot_header *h,
                                      eb_error *err) {
    if (len < sizeof *h)
        return ebi_fail(err, EB_EFORMAT, "not a snapshot: %zu bytes are too few", len);
    memcpy(h, buf, sizeof *h);
    if (memcmp(h->magic, snapshot_magic, sizeof h->magic) != 0)
        return ebi_fail(err, EB_EFORMAT,
                        "not a snapshot: its first bytes are those of another kind of file");
    if (h->format != FORMAT_VERSION)
        return ebi_fail(err, h->format > FORMAT_VERSION ? EB_EVERSION : EB_EFORMAT,
                        "snapshot format %u; this library knows format %d", h->format,
                        FORMAT_VERSION);
    if (h->spec_len == 0 || h->spec_len >= EB_SPEC_MAX ||
        h->payload_offset != snapshot_offset(h->spec_len) || h->payload_len > (UINT64_C(1) << 47) ||
        h->reserved || h->reserved2[0] || h->reserved2[1])
        return ebi_fail(err, EB_EFORMAT, "damaged snapshot: its header makes no sense");
    return EB_OK;
}

eb_status eb_snapshot_length(const void *head, size_t len, uint64_t *length, eb_error *err) {
    snapshot_header h;
    EB_TRY(snapshot_read_header(head, len, &h, err));
    *length = h.payload_offset + h.payload_len;
    return EB_OK;
}

static eb_status snapshot_find_kind(const snapshot_header *h, const eb_kind **kind, eb_error *err) {
    for (size_t i = 0; i < ebi_registry_size; i++) {
        if (ebi_registry[i].number != h->kind) continue;
        *kind = ebi_registry[i].kind;
        if (h->kind_version == (*kind)->version) return EB_OK;
        return ebi_fail(err, EB_EVERSION,
                        "snapshot of %s version %u; this library knows version %u",
                        (*kind)->info.name, h->kind_version, (*kind)->version);
    }
    return ebi_fail(err, EB_EVERSION,
                    "snapshot of a kind of filter (number %u) that this library "
                    "does not know",
                    h->kind);
}

static bool snapshot_is_zero(const uint8_t *bytes, size_t n) {
    while (n > 0 && bytes[n - 1] == 0) n--;
    return n == 0;
}

/* The spec text must be canonical and padded with zeros, agree with the kind
 * number and make a block of the stated length. */
static eb_status snapshot_read_spec(const uint8_t *bytes, const snapshot_header *h,
                                    const eb_kind *kind, eb_params *p, eb_error *err) {
    char spec[EB_SPEC_MAX] = {0}, canonical[EB_SPEC_MAX];
    const eb_kind *named;
    memcpy(spec, bytes + sizeof *h, h->spec_len);
    eb_error why;
    if (ebi_spec_parse(spec, &named, p, &why) != EB_OK)
        return ebi_fail(err, EB_EFORMAT, "damaged snapshot: its spec is refused: %.400s", why.text);
    (void)ebi_spec_print(named, p, canonical, sizeof canonical);
    const uint32_t end = (uint32_t)sizeof *h + h->spec_len;
    if (named != kind || strlen(spec) != h->spec_len || strcmp(spec, canonical) != 0 ||
        !snapshot_is_zero(bytes + end, h->payload_offset - end) ||
        p->span * p->opt[EB_O_SHARDS] != h->payload_len)
        return ebi_fail(err, EB_EFORMAT, "damaged snapshot: its spec and its header disagree");
    return EB_OK;
}

static eb_status snapshot_check_head(const eb_kind *kind, const eb_head *head, eb_error *err) {
    if (!snapshot_is_zero((const uint8_t *)head->reserved, sizeof head->reserved))
        return ebi_fail(err, EB_EFORMAT, "damaged snapshot: a reserved field is not zero");
    if (!(kind->info.caps & EB_USES_TIME) && head->clock != head->items)
        return ebi_fail(err, EB_EFORMAT,
                        "damaged snapshot: its clock is %" PRIu64 " after %" PRIu64 " keys",
                        head->clock, head->items);
    return EB_OK;
}

static eb_status snapshot_check_block(const eb_filter *f, eb_error *err) {
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        EB_TRY(snapshot_check_head(f->kind, ebi_head_of(ebi_shard(f, i)), err));
        if (f->kind->check) EB_TRY(f->kind->check(&f->p, ebi_shard(f, i), err));
    }
    return EB_OK;
}

/* Everything but the payload; front holds what stands before it. */
static eb_status snapshot_open_front(const void *front, const snapshot_header *h,
                                     const eb_kind **kind, eb_params *p, eb_error *err) {
    if (snapshot_header_sum(front, h->payload_offset) != h->header_sum)
        return ebi_fail(err, EB_EFORMAT, "damaged snapshot: the header's checksum is wrong");
    EB_TRY(snapshot_find_kind(h, kind, err));
    return snapshot_read_spec(front, h, *kind, p, err);
}

static eb_status snapshot_too_short(const snapshot_header *h, uint64_t len, eb_error *err) {
    return ebi_fail(err, EB_EFORMAT,
                    "damaged snapshot: %" PRIu64 " bytes where the header says %" PRIu64, len,
                    h->payload_offset + h->payload_len);
}

static eb_status snapshot_open(const void *buf, size_t len, snapshot_header *h,
                               const eb_kind **kind, eb_params *p, eb_error *err) {
    EB_TRY(snapshot_read_header(buf, len, h, err));
    if (len < h->payload_offset || len - h->payload_offset < h->payload_len)
        return snapshot_too_short(h, len, err);
    return snapshot_open_front(buf, h, kind, p, err);
}

static eb_status snapshot_check_payload(const snapshot_header *h, const void *payload,
                                        eb_error *err) {
    if (ebi_checksum(payload, h->payload_len, 0) != h->payload_sum)
        return ebi_fail(err, EB_EFORMAT, "damaged snapshot: the payload's checksum is wrong");
    return EB_OK;
}

static eb_status snapshot_alloc(eb_filter **out, const eb_kind *kind, const eb_params *p,
                                const eb_allocator *mem, eb_error *err) {
    eb_filter *const f = ebi_handle(kind, p, mem);
    if (f) f->block = f->mem.alloc(f->mem.ctx, ebi_bytes(f), 64);
    *out = f;
    if (f && f->block) return EB_OK;
    eb_free(f);
    return ebi_fail(err, EB_ENOMEM, "no memory for a block of %" PRIu64 " bytes",
                    p->span * p->opt[EB_O_SHARDS]);
}

/* Hands out a filter whose block is filled, if all is well with it; else frees it. */
static eb_status snapshot_finish(eb_filter **out, eb_filter *f, const snapshot_header *h,
                                 eb_error *err) {
    eb_status status = snapshot_check_payload(h, f->block, err);
    if (status == EB_OK) status = snapshot_check_block(f, err);
    if (status == EB_OK)
        *out = f;
    else
        eb_free(f);
    return status;
}

eb_status eb_load(eb_filter **out, const void *buf, size_t len, const eb_allocator *mem,
                  eb_error *err) {
    snapshot_header h;
    const eb_kind *kind;
    eb_params p;
    eb_filter *f;
    EB_TRY(snapshot_open(buf, len, &h, &kind, &p, err));
    EB_TRY(snapshot_alloc(&f, kind, &p, mem, err));
    memcpy(f->block, (const uint8_t *)buf + h.payload_offset, ebi_bytes(f));
    return snapshot_finish(out, f, &h, err);
}

eb_status eb_load_from(eb_filter **out, size_t (*read)(void *ctx, void *buf, size_t n), void *ctx,
                       const eb_allocator *mem, eb_error *err) {
    uint8_t front[EB_SNAPSHOT_FRONT] = {0};
    snapshot_header h;
    const eb_kind *kind;
    eb_params p;
    eb_filter *f;
    EB_TRY(snapshot_read_header(front, read(ctx, front, sizeof h), &h, err));
    const size_t rest = h.payload_offset - sizeof h;
    const size_t got = read(ctx, front + sizeof h, rest);
    if (got < rest) return snapshot_too_short(&h, sizeof h + got, err);
    EB_TRY(snapshot_open_front(front, &h, &kind, &p, err));
    EB_TRY(snapshot_alloc(&f, kind, &p, mem, err));
    const size_t filled = read(ctx, f->block, ebi_bytes(f));
    if (filled == ebi_bytes(f)) return snapshot_finish(out, f, &h, err);
    eb_free(f);
    return snapshot_too_short(&h, h.payload_offset + filled, err);
}

eb_status eb_view(eb_filter **out, const void *buf, size_t len, unsigned flags, eb_error *err) {
    snapshot_header h;
    const eb_kind *kind;
    eb_params p;
    if ((uintptr_t)buf % 8 != 0)
        return ebi_fail(err, EB_EINVAL, "a view needs bytes at an address that 8 divides");
    EB_TRY(snapshot_open(buf, len, &h, &kind, &p, err));
    if (!(flags & EB_TRUST))
        EB_TRY(snapshot_check_payload(&h, (const uint8_t *)buf + h.payload_offset, err));
    eb_filter *const f = ebi_handle(kind, &p, NULL);
    if (!f) return ebi_fail(err, EB_ENOMEM, "no memory for a handle");
    f->block = ebi_writable((const uint8_t *)buf + h.payload_offset); /* writers refuse views */
    f->flags = EB_FLAG_VIEW;
    const eb_status status = flags & EB_TRUST ? EB_OK : snapshot_check_block(f, err);
    if (status != EB_OK) {
        eb_free(f);
        return status;
    }
    *out = f;
    return EB_OK;
}
