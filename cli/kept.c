/* kept.c - see kept.h.
 *
 *     | magic 8 | bytes in all | candidates | watermark | total | memory | hash | 0 |
 *     | count | length of the key | key | count | ...
 *
 * Numbers have 64 bits, the lowest first.  The hash is that of the filter, of all these bytes with
 * zeros in its place: candidates stay with their filter. */
#include "kept.h"
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1, COUNT, WATERMARK, TOTAL, MEMORY, HASH, ZERO, FIELDS };
enum { HEAD = FIELDS * sizeof(uint64_t), ENTRY = 2 * sizeof(uint64_t) };
static const char magic[KEPT_MAGIC + 1] = "EVBKEYS\1";
static const uint64_t total_end = UINT64_C(1) << 53;

static uint64_t hash_of(const eb_filter *f, uint64_t *head, const char *rest, size_t n) {
    eb_hash both[2], hash;
    head[HASH] = 0;
    const eb_key parts[2] = {{head, HEAD}, {rest, n}};
    eb_hash_keys(f, parts, 2, both);
    eb_hash_keys(f, &(eb_key){both, sizeof both}, 1, &hash);
    return hash;
}

bool kept_begins(const void *bytes, size_t length) {
    return length >= KEPT_MAGIC && memcmp(bytes, magic, KEPT_MAGIC) == 0;
}

/* The candidate at *at, which moves behind it. */
static bool read_candidate(const char *bytes, size_t length, size_t *at, eb_candidate *c) {
    uint64_t entry[2];
    if (length - *at < ENTRY) return false;
    memcpy(entry, bytes + *at, ENTRY);
    *at += ENTRY;
    if (entry[0] == 0 || entry[0] > (uint64_t)EB_COUNT_FULL || entry[1] > length - *at)
        return false;
    *c = (eb_candidate){{bytes + *at, (size_t)entry[1]}, (double)entry[0]};
    *at += (size_t)entry[1];
    return true;
}

static bool read_head(const eb_filter *f, const char *bytes, size_t length, uint64_t *head) {
    if (length < HEAD || !kept_begins(bytes, length)) return false;
    memcpy(head, bytes, HEAD);
    const uint64_t hash = head[HASH];
    return head[BYTES] == length && head[COUNT] <= (length - HEAD) / ENTRY &&
           head[WATERMARK] <= (uint64_t)EB_COUNT_FULL && head[TOTAL] < total_end &&
           head[MEMORY] <= SIZE_MAX && head[ZERO] == 0 &&
           hash == hash_of(f, head, bytes + HEAD, length - HEAD);
}

bool kept_read(kept *k, const eb_filter *f, const void *bytes, size_t length) {
    uint64_t head[FIELDS];
    size_t at = HEAD;
    *k = (kept){0};
    if (!read_head(f, bytes, length, head)) return false;
    *k = (kept){.watermark = (double)head[WATERMARK],
                .total = (double)head[TOTAL],
                .memory = (size_t)head[MEMORY],
                .n = (size_t)head[COUNT]};
    k->list = cli_alloc((k->n + 1) * sizeof *k->list);
    for (size_t i = 0; i < k->n; i++)
        if (!read_candidate(bytes, length, &at, &k->list[i])) return false;
    return at == length;
}

bool kept_is_whole(const eb_filter *f, const void *bytes, size_t length) {
    kept k;
    const bool whole = kept_read(&k, f, bytes, length);
    free(k.list);
    return whole;
}

char *kept_write(const eb_iceberg *ice, const eb_filter *f, size_t memory, size_t *length) {
    eb_iceberg_state now = {.size = sizeof now};
    eb_candidate c;
    uint64_t head[FIELDS] = {0};
    size_t n = HEAD;
    eb_iceberg_state_of(ice, &now);
    for (uint64_t at = 0; eb_iceberg_next(ice, 1, &at, &c); head[COUNT]++) n += ENTRY + c.key.len;
    char *const bytes = cli_alloc(n), *to = bytes + HEAD;
    for (uint64_t at = 0; eb_iceberg_next(ice, 1, &at, &c); to += c.key.len) {
        const uint64_t entry[2] = {(uint64_t)c.count, c.key.len};
        memcpy(to, entry, ENTRY);
        memcpy(to += ENTRY, c.key.p, c.key.len);
    }
    memcpy(head, magic, KEPT_MAGIC);
    head[BYTES] = n;
    head[WATERMARK] = (uint64_t)now.watermark;
    head[TOTAL] = (uint64_t)now.total;
    head[MEMORY] = memory;
    head[HASH] = hash_of(f, head, bytes + HEAD, n - HEAD);
    memcpy(bytes, head, HEAD);
    *length = n;
    return bytes;
}
