/* snapshot.c - saves a filter as bytes, and describes, loads and views such bytes. docs/FORMAT.md
 * describes the format.
 *
 *       | header 64 | canonical spec, NUL-padded to 64 | the block |
 *
 * The bytes may come from anyone.  Nothing in them is used before it is checked. */
#include "snapshot.h"
#include <inttypes.h>

static const uint8_t snapshot_magic[8] = {0x89, 'E', 'V', 'B', '\r', '\n', 0x1a, '\n'};
enum { SNAPSHOT_FORMAT = 3 };

static_assert(sizeof(ebi_snapshot_header) == EB_SNAPSHOT_HEAD, "the header is one cache line");
static_assert(64 + EB_SPEC_MAX <= EBI_OVERHEAD, "a file is no longer than memory= said");

static uint64_t snapshot_header_sum(const uint8_t *bytes, uint32_t offset) {
    const uint64_t first = ebi_checksum(bytes, offsetof(ebi_snapshot_header, header_sum), 0);
    return ebi_checksum(bytes + sizeof(ebi_snapshot_header), offset - sizeof(ebi_snapshot_header),
                        first);
}

uint32_t ebi_snapshot_offset(size_t spec_len) {
    assert(spec_len < EB_SPEC_MAX);
    return (uint32_t)(sizeof(ebi_snapshot_header) + ebi_round_up(spec_len, 64));
}

static uint16_t snapshot_number(const ebi_kind *kind) {
    for (size_t i = 0; i < ebi_registry_size; i++)
        if (ebi_registry[i].kind == kind) return ebi_registry[i].number;
    assert(false);
    return 0;
}

/* Saving */

size_t eb_save_size(const eb_filter *f) {
    return ebi_snapshot_offset(strlen(eb_spec(f))) + (size_t)ebi_bytes(f);
}

/* Writes everything before the block, into EB_SNAPSHOT_FRONT bytes.  Returns how many it took. */
static uint32_t snapshot_write_front(const eb_filter *f, uint8_t *bytes) {
    const size_t spec_len = strlen(f->spec);
    ebi_snapshot_header h = {.format = SNAPSHOT_FORMAT,
                             .kind = snapshot_number(f->kind),
                             .kind_version = f->kind->version,
                             .spec_len = (uint32_t)spec_len,
                             .payload_len = ebi_bytes(f)};
    memcpy(h.magic, snapshot_magic, sizeof h.magic);
    ebi_checksum128(f->block, (size_t)ebi_bytes(f), h.payload_sum);
    h.payload_offset = ebi_snapshot_offset(h.spec_len);
    memcpy(bytes, &h, sizeof h);
    memset(bytes + sizeof h, 0, h.payload_offset - sizeof h);
    memcpy(bytes + sizeof h, f->spec, spec_len);
    h.header_sum = snapshot_header_sum(bytes, h.payload_offset);
    memcpy(bytes, &h, sizeof h);
    return h.payload_offset;
}

eb_status eb_save_parts(const eb_filter *f, eb_parts *out, eb_error *err) {
    EBI_CHECK_SIZE(out, eb_parts, err);
    const uint32_t front = snapshot_write_front(f, out->front);
    out->part[0] = (eb_key){out->front, front};
    out->part[1] = (eb_key){f->block, (size_t)ebi_bytes(f)};
    out->n = 2;
    out->reserved = 0;
    out->bytes = front + ebi_bytes(f);
    return EB_OK;
}

eb_status eb_save(const eb_filter *f, void *buf, size_t cap, eb_error *err) {
    uint8_t front[EB_SNAPSHOT_FRONT];
    if (cap < eb_save_size(f))
        return ebi_fail(err, EB_EINVAL, "the buffer must have %zu bytes, not %zu", eb_save_size(f),
                        cap);
    const uint32_t len = snapshot_write_front(f, front);
    memcpy(buf, front, len);
    memcpy((uint8_t *)buf + len, f->block, (size_t)ebi_bytes(f));
    return EB_OK;
}

/* The front */

eb_status ebi_snapshot_read_header(const void *bytes, size_t len, ebi_snapshot_header *h,
                                   eb_error *err) {
    if (len < sizeof *h)
        return ebi_fail(err, EB_EFORMAT, "not a snapshot: %zu bytes are too few", len);
    memcpy(h, bytes, sizeof *h);
    if (memcmp(h->magic, snapshot_magic, sizeof h->magic) != 0)
        return ebi_fail(err, EB_EFORMAT,
                        "not a snapshot: its first bytes are those of another kind of file");
    if (h->format != SNAPSHOT_FORMAT)
        return ebi_fail(err, h->format > SNAPSHOT_FORMAT ? EB_EVERSION : EB_EFORMAT,
                        "snapshot format %u; this library knows format %d", h->format,
                        SNAPSHOT_FORMAT);
    if (h->spec_len == 0 || h->spec_len >= EB_SPEC_MAX ||
        h->payload_offset != ebi_snapshot_offset(h->spec_len) ||
        h->payload_len > (UINT64_C(1) << 47) || h->reserved || h->reserved2)
        return ebi_fail(err, EB_EFORMAT, "damaged snapshot: its header is invalid");
    return EB_OK;
}

static eb_status snapshot_find_kind(const ebi_snapshot_header *h, const ebi_kind **kind,
                                    eb_error *err) {
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

/* The spec's text must be canonical, padded with zeros, agree with the kind's number, and give a
 * block of the stated length. */
static eb_status snapshot_read_spec(const uint8_t *bytes, const ebi_snapshot_header *h,
                                    const ebi_kind *kind, ebi_params *p, eb_error *err) {
    assert(h->spec_len < EB_SPEC_MAX && h->payload_offset >= sizeof *h + h->spec_len);
    char spec[EB_SPEC_MAX] = {0}, canonical[EB_SPEC_MAX];
    const ebi_kind *named;
    memcpy(spec, bytes + sizeof *h, h->spec_len);
    eb_error why;
    if (ebi_spec_parse(spec, &named, p, &why) != EB_OK)
        return ebi_fail(err, EB_EFORMAT, "damaged snapshot: its spec is refused: %.400s", why.text);
    (void)ebi_spec_print(named, p, canonical, sizeof canonical);
    const uint32_t end = (uint32_t)sizeof *h + h->spec_len;
    if (named != kind || strlen(spec) != h->spec_len || strcmp(spec, canonical) != 0 ||
        !ebi_is_zero(bytes + end, h->payload_offset - end) ||
        p->span * p->opt[EBI_O_SHARDS] != h->payload_len)
        return ebi_fail(err, EB_EFORMAT, "damaged snapshot: its spec and its header disagree");
    return EB_OK;
}

static eb_status snapshot_check_header_sum(const uint8_t *front, const ebi_snapshot_header *h,
                                           eb_error *err) {
    if (snapshot_header_sum(front, h->payload_offset) == h->header_sum) return EB_OK;
    return ebi_fail(err, EB_EFORMAT, "damaged snapshot: the header's checksum is wrong");
}

eb_status ebi_snapshot_read_front(const void *front, ebi_snapshot_front *out, eb_error *err) {
    memcpy(&out->h, front, sizeof out->h);
    EBI_TRY(snapshot_check_header_sum(front, &out->h, err));
    EBI_TRY(snapshot_find_kind(&out->h, &out->kind, err));
    return snapshot_read_spec(front, &out->h, out->kind, &out->p, err);
}

eb_status ebi_snapshot_too_short(const ebi_snapshot_header *h, uint64_t len, eb_error *err) {
    return ebi_fail(err, EB_EFORMAT,
                    "damaged snapshot: %" PRIu64 " bytes where the header says %" PRIu64, len,
                    h->payload_offset + h->payload_len);
}

eb_status eb_snapshot_describe(const void *front, size_t len, eb_snapshot_info *out,
                               eb_error *err) {
    ebi_snapshot_front f;
    EBI_CHECK_SIZE(out, eb_snapshot_info, err);
    EBI_TRY(ebi_snapshot_read_header(front, len, &f.h, err));
    if (len < f.h.payload_offset)
        return ebi_fail(
            err, EB_EFORMAT,
            "not the whole beginning of a snapshot: %zu bytes, and %d are always enough", len,
            EB_SNAPSHOT_FRONT);
    EBI_TRY(ebi_snapshot_read_front(front, &f, err));
    out->bytes = f.h.payload_offset + f.h.payload_len;
    out->id[0] = f.h.header_sum;
    out->id[1] = f.h.payload_sum[1];
    (void)ebi_spec_print(f.kind, &f.p, out->spec, sizeof out->spec);
    return EB_OK;
}

/* The block */

static eb_status snapshot_check_head(const eb_filter *f, const uint8_t *block, eb_error *err) {
    const ebi_kind *const kind = f->kind;
    ebi_block_head head;
    memcpy(&head, block, sizeof head);
    if (!(kind->traits & EBI_OWN_HEAD) && !ebi_is_zero(head.own, sizeof head.own))
        return ebi_fail(err, EB_EFORMAT, "damaged snapshot: a reserved field is not zero");
    const bool unknown = ebi_counts_new(kind) && head.new_keys == EB_UNKNOWN;
    if (!unknown && head.new_keys > (ebi_counts_new(kind) ? head.items : 0))
        return ebi_fail(err, EB_EFORMAT,
                        "damaged snapshot: %" PRIu64 " of %" PRIu64 " keys were new", head.new_keys,
                        head.items);
    if (!ebi_uses_time(kind, &f->p) && head.clock != head.items)
        return ebi_fail(err, EB_EFORMAT,
                        "damaged snapshot: its clock is %" PRIu64 " after %" PRIu64 " keys",
                        head.clock, head.items);
    return EB_OK;
}

static eb_status snapshot_check_block(const eb_filter *f, bool trust, eb_error *err) {
    assert(f->block != NULL);
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        EBI_TRY(snapshot_check_head(f, ebi_shard(f, i), err));
        if (f->kind->check && !(trust && f->kind->traits & EBI_ANY_BYTES))
            EBI_TRY(f->kind->check(&f->p, ebi_shard(f, i), err));
    }
    return EB_OK;
}

static eb_status snapshot_check_payload(const ebi_snapshot_header *h, const void *payload,
                                        eb_error *err) {
    uint64_t sum[2];
    ebi_checksum128(payload, (size_t)h->payload_len, sum);
    if (memcmp(sum, h->payload_sum, sizeof sum) == 0) return EB_OK;
    return ebi_fail(err, EB_EFORMAT, "damaged snapshot: the payload's checksum is wrong");
}

eb_status ebi_snapshot_check_limits(const ebi_snapshot_front *front, const eb_limits *limits,
                                    eb_error *err) {
    const uint64_t bytes = front->h.payload_len + ebi_handle_bytes(front->kind, front->h.spec_len);
    const uint64_t caps = ebi_spec_caps(front->kind, &front->p);
    if (!limits) return EB_OK;
    if (limits->bytes != 0 && bytes > limits->bytes)
        return ebi_fail(err, EB_ELIMIT,
                        "the filter in the snapshot takes %" PRIu64 " bytes, and the limit is "
                        "%" PRIu64,
                        bytes, limits->bytes);
    if (limits->caps & ~caps)
        return ebi_fail(err, EB_ENOTSUP, "a %s filter in the snapshot cannot do what is asked for",
                        front->kind->info.name);
    return EB_OK;
}

eb_status ebi_snapshot_finish(eb_filter **out, eb_filter *f, const ebi_snapshot_header *h,
                              eb_error *err) {
    assert(h->payload_len == ebi_bytes(f));
    eb_status status = snapshot_check_payload(h, f->block, err);
    if (status == EB_OK) status = snapshot_check_block(f, false, err);
    if (status == EB_OK)
        *out = f;
    else
        eb_free(f);
    return status;
}

/* Loading and viewing */

static eb_status snapshot_open(const void *bytes, size_t len, ebi_snapshot_front *front,
                               eb_error *err) {
    EBI_TRY(ebi_snapshot_read_header(bytes, len, &front->h, err));
    const ebi_snapshot_header *const h = &front->h;
    if (len < h->payload_offset || len - h->payload_offset < h->payload_len)
        return ebi_snapshot_too_short(h, len, err);
    return ebi_snapshot_read_front(bytes, front, err);
}

eb_status eb_load(eb_filter **out, const void *bytes, size_t len, const eb_limits *limits,
                  const eb_allocator *mem, eb_error *err) {
    ebi_snapshot_front front;
    eb_filter *f;
    *out = NULL;
    if (limits) EBI_CHECK_SIZE(limits, eb_limits, err);
    EBI_TRY(snapshot_open(bytes, len, &front, err));
    EBI_TRY(ebi_snapshot_check_limits(&front, limits, err));
    EBI_TRY(ebi_handle_with_block(&f, front.kind, &front.p, false, mem, err));
    memcpy(f->block, (const uint8_t *)bytes + front.h.payload_offset, (size_t)ebi_bytes(f));
    return ebi_snapshot_finish(out, f, &front.h, err);
}

/* Kinds that use words of the block in place need it aligned.  If it is not, they get a copy. */
static eb_status snapshot_place(eb_filter *f, const uint8_t *payload, eb_error *err) {
    if (f->kind->traits & EBI_ANY_BYTES || (uintptr_t)payload % sizeof(uint64_t) == 0) {
        f->block = ebi_writable(payload); /* functions that write refuse views */
        f->flags |= EBI_FLAG_BORROWED;
        return EB_OK;
    }
    f->room = ebi_bytes(f);
    f->block = ebi_alloc(&f->mem, f->room);
    if (!f->block)
        return ebi_fail(err, EB_ENOMEM,
                        "no memory for a copy of %" PRIu64 " bytes that are not aligned to 8",
                        ebi_bytes(f));
    memcpy(f->block, payload, (size_t)ebi_bytes(f));
    return EB_OK;
}

eb_status eb_view(eb_filter **out, const void *bytes, size_t len, uint32_t flags,
                  const eb_allocator *mem, eb_error *err) {
    ebi_snapshot_front front;
    eb_filter *f;
    *out = NULL;
    if (flags & ~(uint32_t)EB_TRUST)
        return ebi_fail(err, EB_EINVAL, "flags must be 0 or EB_TRUST, not %u", flags);
    const bool trust = flags & EB_TRUST;
    EBI_TRY(snapshot_open(bytes, len, &front, err));
    const uint8_t *const payload = (const uint8_t *)bytes + front.h.payload_offset;
    if (!trust) EBI_TRY(snapshot_check_payload(&front.h, payload, err));
    EBI_TRY(ebi_handle(&f, front.kind, &front.p, mem, err));
    f->flags = EBI_FLAG_VIEW;
    eb_status status = snapshot_place(f, payload, err);
    if (status == EB_OK) status = snapshot_check_block(f, trust, err);
    if (status != EB_OK) {
        eb_free(f);
        return status;
    }
    *out = f;
    return EB_OK;
}
