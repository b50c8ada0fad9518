/* delta.c - computes the difference between two snapshots, and the newer one from the older one and
 * the difference. docs/FORMAT.md describes the format.
 *
 *       | magic, 8 | header of OLD, 64 | length of NEW, 8 | copy, take, bytes | copy, take, bytes
 * ...
 *
 * Each piece copies `copy` bytes from the same place in OLD, then takes `take` bytes from the
 * delta.  Both numbers are written in groups of 7 bits, low ones first, with the high bit set on
 * all but the last.  The header of OLD has its checksums, so the delta fits no other snapshot, and
 * the result must have the checksums in its own header. */
#include "query.h"

static const uint8_t delta_magic[8] = {0x89, 'E', 'V', 'D', '\r', '\n', 0x1a, '\n'};
enum {
    DELTA_HEAD = 64, /* of a snapshot */
    DELTA_AT_OLD = sizeof delta_magic,
    DELTA_AT_LENGTH = DELTA_AT_OLD + DELTA_HEAD,
    DELTA_AT_PIECES = DELTA_AT_LENGTH + 8,
    DELTA_NUMBER_MAX = 10, /* bytes of a number in groups of 7 bits */
    DELTA_WORTH_COPYING = 4,
    DELTA_BUFFER = 4096
};

/* A snapshot in memory, which may be in several parts. */
typedef struct delta_text {
    const eb_key *part;
    size_t n;
    uint64_t length;
    eb_key bytes;   /* the only part, or */
    eb_parts parts; /* the parts of a filter */
} delta_text;

static eb_status delta_text_of_filter(delta_text *t, const eb_filter *f, eb_error *err) {
    t->parts.size = sizeof t->parts;
    EBI_TRY(eb_save_parts(f, &t->parts, err));
    t->part = t->parts.part;
    t->n = t->parts.n;
    t->length = t->parts.bytes;
    return EB_OK;
}

static void delta_text_of_bytes(delta_text *t, const void *bytes, size_t length) {
    t->bytes = (eb_key){bytes, length};
    t->part = &t->bytes;
    t->n = 1;
    t->length = length;
}

/* The contiguous bytes from `at` on; *n of them, 0 at the end. */
static const uint8_t *delta_bytes_at(const delta_text *t, uint64_t at, size_t *n) {
    for (size_t i = 0; i < t->n; at -= t->part[i++].len)
        if (at < t->part[i].len) {
            *n = t->part[i].len - (size_t)at;
            return (const uint8_t *)t->part[i].p + at;
        }
    *n = 0;
    return NULL;
}

static eb_status delta_copy(const delta_text *t, uint64_t at, uint64_t n, eb_write write,
                            void *ctx) {
    while (n > 0) {
        size_t there;
        const uint8_t *const p = delta_bytes_at(t, at, &there);
        const size_t piece = (size_t)ebi_min(there, n);
        EBI_TRY(write(ctx, p, piece));
        at += piece;
        n -= piece;
    }
    return EB_OK;
}

/* ---- Computing a delta */

typedef struct delta_writer {
    eb_write write;
    void *ctx;
    eb_status status; /* the first failure; nothing is written after it */
    size_t used;
    uint8_t buffer[DELTA_BUFFER];
} delta_writer;

static void delta_flush(delta_writer *w) {
    if (w->used > 0 && w->status == EB_OK) w->status = w->write(w->ctx, w->buffer, w->used);
    w->used = 0;
}

static eb_status delta_put(void *writer, const void *bytes, size_t n) { /* an eb_write */
    delta_writer *const w = writer;
    if (n > DELTA_BUFFER - w->used) delta_flush(w);
    if (n > DELTA_BUFFER) {
        if (w->status == EB_OK) w->status = w->write(w->ctx, bytes, n);
        return w->status;
    }
    memcpy(w->buffer + w->used, bytes, n);
    w->used += n;
    return w->status;
}

static void delta_put_number(delta_writer *w, uint64_t n) {
    uint8_t bytes[DELTA_NUMBER_MAX];
    size_t used = 0;
    for (; n >= 128; n >>= 7) bytes[used++] = (uint8_t)((n & 127) | 128);
    bytes[used++] = (uint8_t)n;
    (void)delta_put(w, bytes, used);
}

/* How many bytes at p and q are equal, up to n. */
static size_t delta_equal(const uint8_t *p, const uint8_t *q, size_t n) {
    assert(p != NULL && q != NULL);
    size_t i = 0;
    while (i + 64 <= n && memcmp(p + i, q + i, 64) == 0) i += 64;
    while (i < n && p[i] == q[i]) i++;
    return i;
}

static uint64_t delta_end_of_same(const delta_text *old, const delta_text *now, uint64_t i) {
    for (;;) {
        size_t a, b;
        const uint8_t *const p = delta_bytes_at(old, i, &a), *const q = delta_bytes_at(now, i, &b);
        const size_t n = (size_t)ebi_min(a, b), same = n > 0 ? delta_equal(p, q, n) : 0;
        i += same;
        if (same < n || n == 0) return i;
    }
}

static bool delta_same_at(const delta_text *old, const delta_text *now, uint64_t i) {
    size_t a, b;
    const uint8_t *const p = delta_bytes_at(old, i, &a), *const q = delta_bytes_at(now, i, &b);
    return a > 0 && b > 0 && *p == *q;
}

/* A few equal bytes between changed ones are taken too, because that is shorter than two pieces. */
static uint64_t delta_end_of_changed(const delta_text *old, const delta_text *now, uint64_t i) {
    uint64_t end = i;
    for (; i < now->length && i < end + DELTA_WORTH_COPYING; i++)
        if (!delta_same_at(old, now, i)) end = i + 1;
    return end;
}

static eb_status delta_make(const delta_text *old, const delta_text *now, eb_write write, void *ctx,
                            eb_error *err) {
    delta_writer w = {.write = write, .ctx = ctx};
    uint8_t length[8];
    ebi_store64(length, now->length);
    (void)delta_put(&w, delta_magic, sizeof delta_magic);
    (void)delta_put(&w, old->part[0].p, DELTA_HEAD);
    (void)delta_put(&w, length, sizeof length);
    for (uint64_t at = 0; at < now->length && w.status == EB_OK;) {
        const uint64_t changed = delta_end_of_same(old, now, at);
        const uint64_t end = delta_end_of_changed(old, now, changed);
        delta_put_number(&w, changed - at);
        delta_put_number(&w, end - changed);
        (void)delta_copy(now, changed, end - changed, delta_put, &w);
        at = end;
    }
    delta_flush(&w);
    if (w.status == EB_OK) return EB_OK;
    return ebi_fail(err, w.status, "writing the delta was stopped");
}

eb_status eb_diff(const eb_filter *base, const eb_filter *now, eb_write write, void *ctx,
                  eb_error *err) {
    delta_text a, b;
    EBI_TRY(delta_text_of_filter(&a, base, err));
    EBI_TRY(delta_text_of_filter(&b, now, err));
    return delta_make(&a, &b, write, ctx, err);
}

eb_status eb_diff_bytes(const void *base, size_t base_len, const void *now, size_t now_len,
                        eb_write write, void *ctx, eb_error *err) {
    delta_text a, b;
    if (base_len < DELTA_HEAD || now_len < DELTA_HEAD)
        return ebi_fail(err, EB_EFORMAT, "not a snapshot: it is too short");
    delta_text_of_bytes(&a, base, base_len);
    delta_text_of_bytes(&b, now, now_len);
    return delta_make(&a, &b, write, ctx, err);
}

/* ---- Applying a delta */

typedef struct delta_reader {
    const uint8_t *bytes;
    size_t at, length;
} delta_reader;

static eb_status delta_damaged(const char *why, eb_error *err) {
    return ebi_fail(err, EB_EFORMAT, "damaged delta: %s", why);
}

static eb_status delta_take_number(delta_reader *d, uint64_t *n, eb_error *err) {
    *n = 0;
    for (unsigned shift = 0; shift < 7 * DELTA_NUMBER_MAX; shift += 7) {
        if (d->at == d->length) return delta_damaged("it ends too early", err);
        const uint8_t byte = d->bytes[d->at++];
        if (shift == 63 && byte > 1) break;
        *n |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return EB_OK;
    }
    return delta_damaged("a number is too long", err);
}

/* NEW must not be longer than OLD and what the delta brings, so that no delta can ask for much
 * memory. */
static eb_status delta_open(delta_reader *d, const delta_text *old, uint64_t *length,
                            eb_error *err) {
    if (d->length < DELTA_AT_PIECES || memcmp(d->bytes, delta_magic, sizeof delta_magic) != 0)
        return ebi_fail(err, EB_EFORMAT, "not a delta");
    if (memcmp(d->bytes + DELTA_AT_OLD, old->part[0].p, DELTA_HEAD) != 0)
        return ebi_fail(err, EB_EMISMATCH, "the delta was made for another snapshot");
    *length = ebi_load64(d->bytes + DELTA_AT_LENGTH);
    if (*length > old->length + d->length) return delta_damaged("it brings too few bytes", err);
    d->at = DELTA_AT_PIECES;
    return EB_OK;
}

static eb_status delta_apply(delta_reader *d, const delta_text *old, uint64_t length,
                             eb_write write, void *ctx, eb_error *err) {
    for (uint64_t done = 0; done < length;) {
        uint64_t copy, take;
        EBI_TRY(delta_take_number(d, &copy, err));
        EBI_TRY(delta_take_number(d, &take, err));
        const uint64_t there = done < old->length ? old->length - done : 0;
        if (copy > there || copy > length - done)
            return delta_damaged("it copies what is not there", err);
        if (take > length - done - copy || take > d->length - d->at || copy + take == 0)
            return delta_damaged("its pieces do not fit", err);
        EBI_TRY(delta_copy(old, done, copy, write, ctx));
        if (take > 0) EBI_TRY(write(ctx, d->bytes + d->at, (size_t)take));
        d->at += (size_t)take;
        done += copy + take;
    }
    return d->at == d->length ? EB_OK : delta_damaged("there are bytes behind it", err);
}

/* Collects bytes that come one after the other. */
typedef struct delta_buffer {
    uint8_t *bytes;
    size_t used, size;
} delta_buffer;

static eb_status delta_collect(void *ctx, const void *bytes, size_t n) {
    delta_buffer *const b = ctx;
    assert(n <= b->size - b->used);
    memcpy(b->bytes + b->used, bytes, n);
    b->used += n;
    return EB_OK;
}

static eb_status delta_load(eb_filter **out, const delta_buffer *b, const eb_allocator *mem,
                            eb_error *err) {
    eb_snapshot_info info = {.size = sizeof info};
    eb_error why;
    eb_status status = eb_snapshot_describe(b->bytes, b->size, &info, &why);
    if (status == EB_OK && info.bytes != b->size)
        return ebi_fail(err, EB_EFORMAT, "damaged delta: the snapshot has another length");
    if (status == EB_OK) status = eb_load(out, b->bytes, b->size, NULL, mem, &why);
    return status == EB_OK ? EB_OK : ebi_fail(err, status, "damaged delta: %.400s", why.text);
}

eb_status eb_patch(eb_filter **out, const eb_filter *base, const void *delta, size_t len,
                   const eb_allocator *mem, eb_error *err) {
    delta_text old;
    delta_reader d = {.bytes = delta, .length = len};
    uint64_t length;
    *out = NULL;
    EBI_TRY(delta_text_of_filter(&old, base, err));
    EBI_TRY(delta_open(&d, &old, &length, err));
    eb_allocator from;
    EBI_TRY(ebi_allocator(&from, mem, err));
    delta_buffer b = {.size = (size_t)length};
    if (length == 0) return delta_damaged("it makes nothing", err);
    b.bytes = ebi_alloc(&from, length);
    if (!b.bytes)
        return ebi_fail(err, EB_ENOMEM, "no memory for %llu bytes of a snapshot",
                        (unsigned long long)length);
    eb_status status = delta_apply(&d, &old, length, delta_collect, &b, err);
    if (status == EB_OK) status = delta_load(out, &b, mem, err);
    ebi_release(&from, b.bytes, b.size);
    return status;
}

eb_status eb_patch_bytes(const void *base, size_t base_len, const void *delta, size_t len,
                         eb_write write, void *ctx, eb_error *err) {
    delta_text old;
    delta_reader d = {.bytes = delta, .length = len};
    uint64_t length;
    if (base_len < DELTA_HEAD) return ebi_fail(err, EB_EFORMAT, "not a snapshot: it is too short");
    delta_text_of_bytes(&old, base, base_len);
    EBI_TRY(delta_open(&d, &old, &length, err));
    return delta_apply(&d, &old, length, write, ctx, err);
}
