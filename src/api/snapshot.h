/* snapshot.h - the header of snapshots, and reading and checking what is before the block.  Shared
 * by snapshot.c, loader.c and the deltas in src/query/. */
#ifndef EBI_SNAPSHOT_H
#define EBI_SNAPSHOT_H
#include "filter.h"

typedef struct ebi_snapshot_header {
    uint8_t magic[8];
    uint16_t format, kind, kind_version, reserved;
    uint32_t spec_len;       /* without padding */
    uint32_t payload_offset; /* size of header and padded spec */
    uint64_t payload_len;
    uint64_t payload_sum[2]; /* XXH3 of the payload, 128 bits: low half, high half */
    uint64_t reserved2;
    uint64_t header_sum; /* XXH3 of [64, payload_offset), seeded with XXH3 of [0, 56) */
} ebi_snapshot_header;

/* What the front of a snapshot (header and spec) says, after all of it was checked. */
typedef struct ebi_snapshot_front {
    ebi_snapshot_header h;
    const ebi_kind *kind;
    ebi_params p;
} ebi_snapshot_front;

/* The bytes before the block, for a canonical spec of this length. */
uint32_t ebi_snapshot_offset(size_t spec_len);

/* Reads the header alone, 64 bytes; and everything before the block, payload_offset bytes. */
eb_status ebi_snapshot_read_header(const void *bytes, size_t len, ebi_snapshot_header *h,
                                   eb_error *err);
eb_status ebi_snapshot_read_front(const void *front, ebi_snapshot_front *out, eb_error *err);

eb_status ebi_snapshot_check_limits(const ebi_snapshot_front *front, const eb_limits *limits,
                                    eb_error *err);
/* Checks the block of a filter that was filled in, and returns the filter; on failure frees it. */
eb_status ebi_snapshot_finish(eb_filter **out, eb_filter *f, const ebi_snapshot_header *h,
                              eb_error *err);
eb_status ebi_snapshot_too_short(const ebi_snapshot_header *h, uint64_t len, eb_error *err);
#endif
