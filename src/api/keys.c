/* keys.c - turns the keys that callers have (eb_keys: strings, columns of numbers and others) into
 * what the filter hashes (option keys=), and hashes them.
 *
 * A "way" says how: keys are taken as bytes, as numbers, as numbers written in decimal, or as text
 * that is read as a number.  Keys whose bytes are in the caller's memory are hashed in place.
 * Numbers are written to a small buffer, a few at a time.  All keys are checked before the first is
 * used, so using them cannot fail. */
#include "keys.h"
#include "base/decimal.h"

enum { KEYS_FEW = 64, KEYS_NUMBER = sizeof(uint64_t) };

/* What keys are, in words that users of other languages know, too. */
static const char *const keys_type_names[] = {
    "", "text", "binary data", "signed numbers", "unsigned numbers", "strings"};
static const char *const keys_option_names[] = {"text", "bytes", "i64", "u64"};

/* Reading the caller's keys */

EBI_INLINE const uint8_t *keys_cell(const eb_keys *k, size_t i) {
    assert(k->layout == EB_COLUMN);
    return (const uint8_t *)k->data + (ptrdiff_t)i * k->stride;
}

/* A number of 1, 2, 4 or 8 bytes; signed ones in two's complement. */
EBI_INLINE uint64_t keys_number(const eb_keys *k, size_t i) {
    assert(k->layout == EB_COLUMN);
    const uint8_t *const p = keys_cell(k, i);
    const bool is_signed = k->type == EB_I64;
    uint64_t all;
    uint32_t half;
    uint16_t quarter;
    switch (k->width) {
    case 8:
        memcpy(&all, p, sizeof all);
        return all;
    case 4:
        memcpy(&half, p, sizeof half);
        return is_signed ? (uint64_t)(int64_t)(int32_t)half : half;
    case 2:
        memcpy(&quarter, p, sizeof quarter);
        return is_signed ? (uint64_t)(int64_t)(int16_t)quarter : quarter;
    default:
        return is_signed ? (uint64_t)(int64_t)(int8_t)*p : *p;
    }
}

EBI_INLINE int64_t keys_offset(const eb_keys *k, size_t i) {
    assert(k->layout == EB_OFFSETS32 || k->layout == EB_OFFSETS64);
    int32_t narrow;
    int64_t wide;
    if (k->layout == EB_OFFSETS64) {
        memcpy(&wide, (const uint8_t *)k->offsets + i * sizeof wide, sizeof wide);
        return wide;
    }
    memcpy(&narrow, (const uint8_t *)k->offsets + i * sizeof narrow, sizeof narrow);
    return narrow;
}

/* The length without zeros at the end. */
static size_t keys_text_length(const uint8_t *p, size_t len) {
    while (len >= 8 && ebi_load64(p + len - 8) == 0) len -= 8;
    while (len > 0 && p[len - 1] == 0) len--;
    return len;
}

/* The bytes of a key that is not a number. */
EBI_INLINE eb_key keys_bytes(const eb_keys *k, size_t i, bool padded) {
    if (k->layout == EB_COLUMN) {
        const uint8_t *const p = keys_cell(k, i);
        return (eb_key){p, padded ? keys_text_length(p, k->width) : k->width};
    }
    if (k->layout == EB_ARRAY) {
        eb_key key;
        memcpy(&key, (const uint8_t *)k->data + i * sizeof key, sizeof key);
        return key;
    }
    const size_t from = (size_t)keys_offset(k, i), to = (size_t)keys_offset(k, i + 1);
    return (eb_key){(const uint8_t *)k->data + from, to - from};
}

/* Ways */

typedef enum keys_way {
    KEYS_AS_BYTES,
    KEYS_AS_TEXT,      /* as bytes, without padding */
    KEYS_AS_DECIMAL,   /* a number, written in decimal */
    KEYS_AS_NUMBER,    /* a number */
    KEYS_FROM_DECIMAL, /* text, read as a number */
    KEYS_REFUSED
} keys_way;

static keys_way keys_way_of(const eb_filter *f, uint32_t type) {
    const uint64_t own = f->p.opt[EBI_O_KEYS];
    const bool number = type == EB_I64 || type == EB_U64;
    if (own == EBI_KEYS_BYTES)
        return type == EB_BYTES || type == EB_STRING ? KEYS_AS_BYTES : KEYS_REFUSED;
    if (type == EB_BYTES) return KEYS_REFUSED;
    if (own == EBI_KEYS_TEXT) return number ? KEYS_AS_DECIMAL : KEYS_AS_TEXT;
    return number ? KEYS_AS_NUMBER : KEYS_FROM_DECIMAL;
}

/* Numbers in the form that the filter uses: two's complement with keys=i64. */

/* Whether the filter can have a caller's number as a key. */
EBI_INLINE bool keys_fits(const eb_filter *f, uint32_t type, uint64_t number) {
    const bool own_signed = f->p.opt[EBI_O_KEYS] == EBI_KEYS_I64;
    return own_signed == (type == EB_I64) || number <= INT64_MAX;
}

EBI_INLINE bool keys_read_decimal(const eb_filter *f, eb_key text, uint64_t *number) {
    return f->p.opt[EBI_O_KEYS] == EBI_KEYS_I64 ? ebi_decimal_read_signed(text.p, text.len, number)
                                                : ebi_decimal_read(text.p, text.len, number);
}

/* If order matters, the hash is the number, ordered such that negative numbers come first. */
EBI_INLINE eb_hash keys_in_order(const eb_filter *f, uint64_t number) {
    assert(f->kind->info.caps & EB_KEYS_ARE_NUMBERS || f->p.opt[EBI_O_KEYS] >= EBI_KEYS_I64);
    return f->p.opt[EBI_O_KEYS] == EBI_KEYS_I64 ? number ^ UINT64_C(1) << 63 : number;
}

/* Checks */

static eb_status keys_check_form(const eb_keys *k, size_t n, eb_error *err) {
    EBI_CHECK_SIZE(k, eb_keys, err);
    const bool number = k->type == EB_I64 || k->type == EB_U64;
    if (k->type < EB_TEXT || k->type > EB_STRING)
        return ebi_fail(err, EB_EINVAL, "eb_keys.type must be EB_TEXT..EB_STRING (1..5), not %u",
                        k->type);
    if (k->layout < EB_ARRAY || k->layout > EB_OFFSETS64)
        return ebi_fail(err, EB_EINVAL,
                        "eb_keys.layout must be EB_ARRAY..EB_OFFSETS64 (1..4), not %u", k->layout);
    if (number && k->layout != EB_COLUMN)
        return ebi_fail(err, EB_EINVAL, "numbers must lie in an EB_COLUMN");
    if (number && k->width != 1 && k->width != 2 && k->width != 4 && k->width != 8)
        return ebi_fail(err, EB_EINVAL,
                        "the width of a column of numbers must be 1, 2, 4 or 8, not %zu", k->width);
    if (n == 0) return EB_OK;
    if (k->layout == EB_COLUMN && k->width == 0)
        return ebi_fail(err, EB_EINVAL, "a column must have a width");
    if (k->layout >= EB_OFFSETS32 && !k->offsets)
        return ebi_fail(err, EB_EINVAL, "%zu keys by offsets have no offsets", n);
    if (!k->data && (k->layout < EB_OFFSETS32 || k->bytes > 0))
        return ebi_fail(err, EB_EINVAL, "%zu keys have no data", n);
    return EB_OK;
}

static eb_status keys_bad_offset(const eb_keys *k, size_t n, eb_error *err) {
    for (size_t i = 0; i < n; i++) {
        const int64_t from = keys_offset(k, i), to = keys_offset(k, i + 1);
        if (from < 0 || to < from)
            return ebi_fail_at(err, EB_EINVAL, i,
                               "the offsets of key %zu are %s%llu and %s%llu: they must not be "
                               "negative and never decrease",
                               i, from < 0 ? "-" : "",
                               (unsigned long long)(from < 0 ? 0 - (uint64_t)from : (uint64_t)from),
                               to < 0 ? "-" : "",
                               (unsigned long long)(to < 0 ? 0 - (uint64_t)to : (uint64_t)to));
        if ((uint64_t)to > k->bytes)
            return ebi_fail_at(err, EB_EINVAL, i,
                               "key %zu ends at byte %llu, but its data has only %zu", i,
                               (unsigned long long)to, k->bytes);
    }
    return EB_OK;
}

/* Written so that compilers can vectorise it. */
static eb_status keys_check_offsets(const eb_keys *k, size_t n, eb_error *err) {
    int64_t wrong = keys_offset(k, 0);
    if (k->layout == EB_OFFSETS32)
        for (size_t i = 0; i < n; i++) {
            int32_t o[2];
            memcpy(o, (const uint8_t *)k->offsets + i * sizeof o[0], sizeof o);
            wrong |= (int64_t)o[1] - o[0];
        }
    else
        for (size_t i = 0; i < n; i++) { /* the first is not negative, so none is, unless one is
                                            less than the one before */
            const int64_t from = keys_offset(k, i), to = keys_offset(k, i + 1);
            wrong |= to < from ? -1 : 0;
        }
    if (wrong >= 0 && (uint64_t)keys_offset(k, n) <= k->bytes) return EB_OK;
    return keys_bad_offset(k, n, err);
}

static eb_status keys_check_numbers(const eb_filter *f, const eb_keys *k, size_t n, eb_error *err) {
    if ((f->p.opt[EBI_O_KEYS] == EBI_KEYS_I64) == (k->type == EB_I64)) return EB_OK;
    for (size_t i = 0; i < n; i++) {
        const uint64_t number = keys_number(k, i);
        if (keys_fits(f, k->type, number)) continue;
        if (k->type == EB_I64)
            return ebi_fail_at(err, EB_EKEY, i,
                               "key %zu is -%llu: a filter with keys=u64 has no negative numbers",
                               i, (unsigned long long)(0 - number));
        return ebi_fail_at(err, EB_EKEY, i,
                           "key %zu is %llu: a filter with keys=i64 has no number above 2^63 - 1",
                           i, (unsigned long long)number);
    }
    return EB_OK;
}

static eb_status keys_not_decimal(const eb_filter *f, size_t i, eb_key text, eb_error *err) {
    return ebi_fail_at(err, EB_EKEY, i,
                       "key %zu must be a decimal number of keys=%s without sign +, leading zeros "
                       "or spaces, not \"%.*s\"",
                       i, keys_option_names[f->p.opt[EBI_O_KEYS]],
                       text.len > 40 ? 40 : (int)text.len, (const char *)text.p);
}

static eb_status keys_check_decimals(const eb_filter *f, const eb_keys *k, size_t n,
                                     eb_error *err) {
    for (size_t i = 0; i < n; i++) {
        const eb_key text = keys_bytes(k, i, true);
        uint64_t number;
        if (!keys_read_decimal(f, text, &number)) return keys_not_decimal(f, i, text, err);
    }
    return EB_OK;
}

eb_status ebi_keys_check(const eb_filter *f, const eb_keys *k, size_t n, eb_error *err) {
    EBI_TRY(keys_check_form(k, n, err));
    if (n == 0) return EB_OK;
    const keys_way way = keys_way_of(f, k->type);
    if (way == KEYS_REFUSED)
        return ebi_fail_at(err, EB_EKEY, 0, "keys are %s, but the filter was made with keys=%s",
                           keys_type_names[k->type], keys_option_names[f->p.opt[EBI_O_KEYS]]);
    if (k->layout >= EB_OFFSETS32) EBI_TRY(keys_check_offsets(k, n, err));
    if (way == KEYS_AS_NUMBER) return keys_check_numbers(f, k, n, err);
    return way == KEYS_FROM_DECIMAL ? keys_check_decimals(f, k, n, err) : EB_OK;
}

/* Hashes */

static void keys_hash_array(const ebi_params *p, const eb_key *keys, size_t n, eb_hash *out) {
    if (p->opt[EBI_O_HASH] == EBI_HASH_SIP)
        ebi_hash_sip(p->secret, keys, n, out);
    else
        ebi_hash_xxh3(p->opt[EBI_O_SEED], keys, n, out);
}

static void keys_hash_numbers(const ebi_params *p, const uint64_t *numbers, size_t n,
                              eb_hash *out) {
    eb_key keys[KEYS_FEW];
    if (p->opt[EBI_O_HASH] != EBI_HASH_SIP) {
        ebi_hash_xxh3_column(p->opt[EBI_O_SEED], numbers, KEYS_NUMBER, KEYS_NUMBER, n, out);
        return;
    }
    for (size_t i = 0; i < n; i++) keys[i] = (eb_key){&numbers[i], KEYS_NUMBER};
    ebi_hash_sip(p->secret, keys, n, out);
}

/* Hashes keys where they are, without making eb_keys first. false: this way cannot. */
static bool keys_hash_in_place(const eb_filter *f, const eb_keys *k, keys_way way, size_t from,
                               size_t n, eb_hash *out) {
    const uint64_t seed = f->p.opt[EBI_O_SEED];
    const uint8_t *const offsets = k->offsets, *const data = k->data;
    if (k->layout == EB_ARRAY && (uintptr_t)k->data % _Alignof(eb_key) == 0) {
        keys_hash_array(&f->p, (const eb_key *)k->data + from, n, out);
        return true;
    }
    if (f->p.opt[EBI_O_HASH] == EBI_HASH_SIP) return false;
    if (k->layout == EB_OFFSETS32)
        ebi_hash_xxh3_offsets32(seed, data, offsets + from * sizeof(int32_t), n, out);
    else if (k->layout == EB_OFFSETS64)
        ebi_hash_xxh3_offsets64(seed, data, offsets + from * sizeof(int64_t), n, out);
    else if (k->layout == EB_COLUMN && way == KEYS_AS_BYTES)
        ebi_hash_xxh3_column(seed, keys_cell(k, from), k->width, k->stride, n, out);
    else
        return false;
    return true;
}

/* Hashes a few keys that ebi_keys_take converts. */
static void keys_hash_few(const eb_filter *f, const eb_keys *k, keys_way way, size_t from, size_t n,
                          eb_hash *out) {
    eb_key keys[KEYS_FEW];
    ebi_keys_room room[KEYS_FEW];
    uint64_t numbers[KEYS_FEW] = {0};
    if (way != KEYS_AS_NUMBER && way != KEYS_FROM_DECIMAL) {
        ebi_keys_take(f, k, from, n, keys, room);
        keys_hash_array(&f->p, keys, n, out);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (way == KEYS_AS_NUMBER)
            numbers[i] = keys_number(k, from + i);
        else
            (void)keys_read_decimal(f, keys_bytes(k, from + i, true), &numbers[i]);
    }
    if (!f->kind->domain) {
        keys_hash_numbers(&f->p, numbers, n, out);
        return;
    }
    for (size_t i = 0; i < n; i++) out[i] = keys_in_order(f, numbers[i]);
}

void ebi_keys_hash(const eb_filter *f, const eb_keys *k, size_t from, size_t n, eb_hash *out) {
    const keys_way way = keys_way_of(f, k->type);
    if (n == 0) return; /* their type does not matter, and was not checked */
    assert(way != KEYS_REFUSED);
    if ((way == KEYS_AS_BYTES || way == KEYS_AS_TEXT) &&
        keys_hash_in_place(f, k, way, from, n, out))
        return;
    if (way == KEYS_AS_NUMBER && k->width == KEYS_NUMBER && !f->kind->domain &&
        f->p.opt[EBI_O_HASH] != EBI_HASH_SIP) {
        ebi_hash_xxh3_column(f->p.opt[EBI_O_SEED], keys_cell(k, from), KEYS_NUMBER, k->stride, n,
                             out);
        return;
    }
    for (size_t i = 0; i < n; i += KEYS_FEW)
        keys_hash_few(f, k, way, from + i, (size_t)ebi_min(KEYS_FEW, n - i), out + i);
}

void ebi_keys_take(const eb_filter *f, const eb_keys *k, size_t from, size_t n, eb_key *out,
                   ebi_keys_room *room) {
    const keys_way way = keys_way_of(f, k->type);
    for (size_t i = 0; i < n; i++) {
        uint64_t number = 0;
        switch (way) {
        case KEYS_AS_DECIMAL:
            number = keys_number(k, from + i);
            out[i] = k->type == EB_I64 ? ebi_decimal_write_signed(number, room[i].bytes)
                                       : ebi_decimal_write(number, room[i].bytes);
            continue;
        case KEYS_AS_NUMBER:
            ebi_store64(room[i].bytes, keys_number(k, from + i));
            out[i] = (eb_key){room[i].bytes, KEYS_NUMBER};
            continue;
        case KEYS_FROM_DECIMAL:
            (void)keys_read_decimal(f, keys_bytes(k, from + i, true), &number);
            ebi_store64(room[i].bytes, number);
            out[i] = (eb_key){room[i].bytes, KEYS_NUMBER};
            continue;
        default:
            out[i] = keys_bytes(k, from + i, way == KEYS_AS_TEXT);
        }
    }
}

/* Hashes one key, an EB_STRING. */
eb_status ebi_keys_hash_one(const eb_filter *f, const void *key, size_t len, eb_hash *out,
                            eb_error *err) {
    const eb_key one = {key, len};
    uint64_t number;
    if (f->p.opt[EBI_O_KEYS] <= EBI_KEYS_BYTES) {
        keys_hash_array(&f->p, &one, 1, out);
        return EB_OK;
    }
    if (!keys_read_decimal(f, one, &number)) return keys_not_decimal(f, 0, one, err);
    if (f->kind->domain)
        *out = keys_in_order(f, number);
    else
        keys_hash_numbers(&f->p, &number, 1, out);
    return EB_OK;
}

eb_status eb_hash_keys(const eb_filter *f, const eb_keys *keys, size_t n, eb_hash *out,
                       eb_error *err) {
    EBI_TRY(ebi_keys_check(f, keys, n, err));
    ebi_keys_hash(f, keys, 0, n, out);
    return EB_OK;
}
