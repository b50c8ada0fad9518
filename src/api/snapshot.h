/* snapshot.h - the format of snapshots, for the files that read them. */
#ifndef EBI_SNAPSHOT_H
#define EBI_SNAPSHOT_H
#include "filter.h"

typedef struct ebi_snapshot_header {
    uint8_t magic[8];
    uint16_t format, kind, kind_version, reserved;
    uint32_t spec_len;       /* without padding */
    uint32_t payload_offset; /* header and padded spec */
    uint64_t payload_len;
    uint64_t payload_sum[2]; /* 128-bit XXH3 of the payload: low half, high half */
    uint64_t reserved2;
    uint64_t header_sum; /* XXH3 of [64, offset), seeded with XXH3 of [0, 56) */
} ebi_snapshot_header;

/* What the front of a snapshot says, when all of it was checked. */
typedef struct ebi_snapshot_front {
    ebi_snapshot_header h;
    const ebi_kind *kind;
    ebi_params p;
} ebi_snapshot_front;

/* Bytes before the block, if the canonical spec has so many. */
uint32_t ebi_snapshot_offset(size_t spec_len);

/* The header alone: 64 bytes.  Then all that stands before the block: payload_offset bytes. */
eb_status ebi_snapshot_read_header(const void *bytes, size_t len, ebi_snapshot_header *h,
                                   eb_error *err);
eb_status ebi_snapshot_read_front(const void *front, ebi_snapshot_front *out, eb_error *err);

eb_status ebi_snapshot_check_limits(const ebi_snapshot_front *front, const eb_limits *limits,
                                    eb_error *err);
/* Hands out a filter whose block is filled, if all is well with it; else frees it. */
eb_status ebi_snapshot_finish(eb_filter **out, eb_filter *f, const ebi_snapshot_header *h,
                              eb_error *err);
eb_status ebi_snapshot_too_short(const ebi_snapshot_header *h, uint64_t len, eb_error *err);
#endif
