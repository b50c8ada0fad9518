/* oldkeys.h - eb_keys for a library whose eb_hash_keys takes only arrays of texts. */
#ifndef OLDKEYS_H
#define OLDKEYS_H
#include <everbloom/everbloom.h>
#include <stdio.h>
enum { EB_TEXT = 1, EB_BYTES, EB_I64, EB_U64, EB_STRING };
typedef int eb_key_type;
enum { EB_ARRAY = 1, EB_COLUMN, EB_OFFSETS32, EB_OFFSETS64 };
enum { EB_KEEPS_KEYS = 1 << 20, EB_GROWS = 1 << 21, EB_ORDER_FREE = 1 << 22 };
typedef struct eb_keys {
    size_t size;
    uint32_t type, layout;
    const void *data;
    size_t width;
    ptrdiff_t stride;
    const void *offsets;
    size_t bytes;
} eb_keys;
static inline eb_keys eb_keys_array(eb_key_type type, const eb_key *keys) {
    return (eb_keys){sizeof(eb_keys), (uint32_t)type, EB_ARRAY, keys, 0, 0, NULL, 0};
}
static inline eb_keys eb_keys_column(eb_key_type type, const void *data, size_t width) {
    return (eb_keys){sizeof(eb_keys), (uint32_t)type,   EB_COLUMN, data,
                     width,           (ptrdiff_t)width, NULL,      0};
}
static inline eb_keys eb_keys_offsets32(eb_key_type type, const void *data, size_t bytes,
                                        const int32_t *offsets) {
    return (eb_keys){sizeof(eb_keys), (uint32_t)type, EB_OFFSETS32, data, 0, 0, offsets, bytes};
}
static inline eb_keys eb_keys_offsets64(eb_key_type type, const void *data, size_t bytes,
                                        const int64_t *offsets) {
    return (eb_keys){sizeof(eb_keys), (uint32_t)type, EB_OFFSETS64, data, 0, 0, offsets, bytes};
}
static inline eb_key oldkeys_at(const eb_keys *k, size_t i, char text[24]) {
    if (k->layout == EB_ARRAY) return ((const eb_key *)k->data)[i];
    if (k->layout == EB_OFFSETS32) {
        const int32_t *const o = (const int32_t *)k->offsets + i;
        return (eb_key){(const char *)k->data + o[0], (size_t)(o[1] - o[0])};
    }
    if (k->layout == EB_OFFSETS64) {
        const int64_t *const o = (const int64_t *)k->offsets + i;
        return (eb_key){(const char *)k->data + o[0], (size_t)(o[1] - o[0])};
    }
    const char *const p = (const char *)k->data + (ptrdiff_t)i * k->stride;
    if (k->type != EB_I64 && k->type != EB_U64) {
        size_t len = k->width;
        while (len && !p[len - 1]) len--;
        return (eb_key){p, len};
    }
    uint64_t x = 0;
    memcpy(&x, p, k->width);
    const unsigned shift = 64 - 8 * (unsigned)k->width;
    const int n = k->type == EB_U64 ? snprintf(text, 24, "%llu", (unsigned long long)x)
                                    : snprintf(text, 24, "%lld", (long long)(x << shift) >> shift);
    return (eb_key){text, (size_t)n};
}
static inline eb_status oldkeys_hash(const eb_filter *f, const eb_keys *k, size_t n, eb_hash *out,
                                     eb_error *err) {
    (void)err;
    for (size_t i = 0; i < n; i++) {
        char text[24];
        const eb_key key = oldkeys_at(k, i, text);
        eb_hash_keys(f, &key, 1, out + i);
    }
    return EB_OK;
}
#define eb_hash_keys oldkeys_hash
static inline eb_batch eb_batch_make(const eb_hash *hash, const eb_keys *keys, size_t n) {
    (void)keys;
    return eb_batch_hashes(hash, n);
}
#endif
