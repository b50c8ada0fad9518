/* kept.c - candidates of an iceberg as bytes, to stand behind the snapshot of their filter.
 *
 *     | magic 8 | bytes in all | candidates | watermark | total | memory | checksum | 0 |
 *     | count | length of the key | key | count | ...
 *
 * Numbers have 64 bits, the lowest first.  The checksum, of all these bytes with zeros in its
 * place, begins with the filter's seed: candidates stay with their filter. */
#include "query.h"

enum {
    KEPT_BYTES = 1,
    KEPT_COUNT,
    KEPT_WATERMARK,
    KEPT_TOTAL,
    KEPT_MEMORY,
    KEPT_SUM,
    KEPT_ZERO,
    KEPT_FIELDS
};
enum {
    KEPT_MAGIC = 8,
    KEPT_HEAD = KEPT_FIELDS * sizeof(uint64_t),
    KEPT_ENTRY = 2 * sizeof(uint64_t)
};
static_assert(sizeof EB_ICEBERG_MAGIC == KEPT_MAGIC + 1, "a word");
static const uint64_t kept_total_end = UINT64_C(1) << 53;

static uint64_t kept_seed(const eb_filter *f) {
    return ebi_mix(f->p.opt[EBI_O_SEED]);
}

/* ---- Writing.  Twice over the candidates: the checksum stands before them. */

typedef struct kept_writer {
    eb_write write; /* NULL: only the checksum is wanted */
    void *ctx;
    uint64_t sum, bytes, n;
} kept_writer;

/* The checksum goes from piece to piece. */
static eb_status kept_put(kept_writer *w, const void *bytes, size_t n) {
    w->sum = ebi_checksum(bytes, n, w->sum);
    w->bytes += n;
    return w->write && n > 0 ? w->write(w->ctx, bytes, n) : EB_OK;
}

static eb_status kept_put_candidates(kept_writer *w, const eb_iceberg *ice) {
    eb_candidate c;
    for (uint64_t at = 0; eb_iceberg_next(ice, 1, &at, &c); w->n++) {
        const uint64_t entry[2] = {(uint64_t)c.count, c.key.len};
        EBI_TRY(kept_put(w, entry, KEPT_ENTRY));
        EBI_TRY(kept_put(w, c.key.p, c.key.len));
    }
    return EB_OK;
}

eb_status eb_iceberg_save(const eb_iceberg *ice, eb_write write, void *ctx, eb_error *err) {
    eb_iceberg_state now = {.size = sizeof now};
    uint64_t head[KEPT_FIELDS] = {0};
    kept_writer count = {.sum = kept_seed(ebi_iceberg_filter(ice))};
    (void)eb_iceberg_state_of(ice, &now, NULL);
    (void)kept_put_candidates(&count, ice);
    memcpy(head, EB_ICEBERG_MAGIC, KEPT_MAGIC);
    head[KEPT_BYTES] = KEPT_HEAD + count.bytes;
    head[KEPT_COUNT] = count.n;
    head[KEPT_WATERMARK] = (uint64_t)now.watermark;
    head[KEPT_TOTAL] = (uint64_t)now.total;
    head[KEPT_MEMORY] = ebi_iceberg_memory(ice);
    head[KEPT_SUM] = ebi_checksum(head, KEPT_HEAD, count.sum);
    eb_status status = write(ctx, head, KEPT_HEAD);
    if (status == EB_OK)
        status = kept_put_candidates(&(kept_writer){.write = write, .ctx = ctx}, ice);
    return status == EB_OK ? EB_OK : ebi_fail(err, status, "writing the candidates was stopped");
}

/* ---- Reading bytes from anyone. */

typedef struct kept_reader {
    const uint8_t *bytes;
    size_t length, at;
    uint64_t sum;
    uint64_t head[KEPT_FIELDS];
} kept_reader;

/* The candidate at r->at, which moves behind it. */
static bool kept_next(kept_reader *r, eb_candidate *c) {
    uint64_t entry[2];
    if (r->length - r->at < KEPT_ENTRY) return false;
    memcpy(entry, r->bytes + r->at, KEPT_ENTRY);
    r->sum = ebi_checksum(r->bytes + r->at, KEPT_ENTRY, r->sum);
    r->at += KEPT_ENTRY;
    if (entry[0] == 0 || entry[0] > EBI_COUNTER_MAX || entry[1] > r->length - r->at) return false;
    *c = (eb_candidate){{r->bytes + r->at, (size_t)entry[1]}, (double)entry[0]};
    r->sum = ebi_checksum(c->key.p, c->key.len, r->sum);
    r->at += c->key.len;
    return true;
}

static bool kept_is_whole(kept_reader *r, const eb_filter *f) {
    uint64_t *const head = r->head;
    eb_candidate c;
    if (r->length < KEPT_HEAD || memcmp(r->bytes, EB_ICEBERG_MAGIC, KEPT_MAGIC) != 0) return false;
    memcpy(head, r->bytes, KEPT_HEAD);
    if (head[KEPT_BYTES] != r->length || head[KEPT_COUNT] > (r->length - KEPT_HEAD) / KEPT_ENTRY ||
        head[KEPT_WATERMARK] > EBI_COUNTER_MAX || head[KEPT_TOTAL] >= kept_total_end ||
        head[KEPT_ZERO] != 0)
        return false;
    const uint64_t sum = head[KEPT_SUM];
    r->at = KEPT_HEAD;
    r->sum = kept_seed(f);
    for (uint64_t i = 0; i < head[KEPT_COUNT]; i++)
        if (!kept_next(r, &c)) return false;
    head[KEPT_SUM] = 0;
    return r->at == r->length && sum == ebi_checksum(head, KEPT_HEAD, r->sum);
}

eb_status eb_iceberg_check(const eb_filter *f, const void *bytes, size_t len, eb_error *err) {
    kept_reader r = {.bytes = bytes, .length = len};
    if (kept_is_whole(&r, f)) return EB_OK;
    return ebi_fail(err, EB_EFORMAT, "damaged candidates, or those of another filter");
}

static eb_status kept_resume(eb_iceberg *ice, kept_reader *r, const eb_allocator *mem,
                             eb_error *err) {
    const size_t n = (size_t)r->head[KEPT_COUNT];
    const uint64_t size = (n + UINT64_C(1)) * sizeof(eb_candidate);
    eb_candidate *const list = ebi_alloc(mem, size);
    if (!list) return ebi_fail(err, EB_ENOMEM, "no memory for %zu candidates", n);
    r->at = KEPT_HEAD;
    for (size_t i = 0; i < n; i++) (void)kept_next(r, &list[i]);
    const eb_iceberg_state was = {.size = sizeof was,
                                  .watermark = (double)r->head[KEPT_WATERMARK],
                                  .total = (double)r->head[KEPT_TOTAL]};
    const eb_status status = eb_iceberg_resume(ice, &was, list, n);
    ebi_release(mem, list, size);
    return status == EB_OK ? EB_OK
                           : ebi_fail(err, EB_EFORMAT, "these candidates cannot have been kept");
}

eb_status eb_iceberg_load(eb_iceberg **out, eb_filter *f, const void *bytes, size_t len,
                          size_t memory, const eb_allocator *mem, eb_error *err) {
    kept_reader r = {.bytes = bytes, .length = len};
    eb_allocator from;
    *out = NULL;
    EBI_TRY(ebi_allocator(&from, mem, err));
    if (!kept_is_whole(&r, f))
        return ebi_fail(err, EB_EFORMAT, "damaged candidates, or those of another filter");
    if (memory == 0 && r.head[KEPT_MEMORY] > SIZE_MAX)
        return ebi_fail(err, EB_ENOMEM, "no memory for candidates of a larger machine");
    EBI_TRY(eb_iceberg_new(out, f, memory ? memory : (size_t)r.head[KEPT_MEMORY], mem, err));
    const eb_status status = kept_resume(*out, &r, &from, err);
    if (status == EB_OK) return EB_OK;
    eb_iceberg_free(*out);
    *out = NULL;
    return status;
}
