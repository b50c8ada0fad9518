/* test_keys.c - keys as callers have them: types, layouts, what is refused, and that batches of
 * keys are batches of their hashes.
 *
 * tests/keys.tsv is for the tests of every host: lines of options, type, value and hash, or
 * "refused".  Values of type bytes are in hexadecimal.  test_keys --write-fixture writes it, by the
 * slow way that is written here and not by the library's. */
#include "api/keys.h"
#include "base/decimal.h"
#include "suite.h"
#define XXH_INLINE_ALL
#include <inttypes.h>
#include <xxhash.h>

static const char *const keys_names[] = {"text", "bytes", "i64", "u64"};

/* The slow way: a key of some type as the bytes that a filter hashes; false: it is refused. */

typedef struct slow_key {
    uint32_t type;
    uint64_t number; /* of EB_I64 in two's complement */
    char bytes[64];
    size_t len;
} slow_key;

static bool slow_text(const slow_key *k, char *text, size_t *len) {
    if (k->type == EB_I64)
        *len = (size_t)sprintf(text, "%" PRId64, (int64_t)k->number);
    else if (k->type == EB_U64)
        *len = (size_t)sprintf(text, "%" PRIu64, k->number);
    else
        memcpy(text, k->bytes, *len = k->len);
    return true;
}

/* Text is a number if that number's text is the same. */
static bool slow_number(const slow_key *k, bool is_signed, uint64_t *number) {
    char text[80] = "", again[80];
    size_t len;
    (void)slow_text(k, text, &len);
    text[len] = '\0';
    if (strlen(text) != len) return false;
    *number = is_signed ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
    if (is_signed)
        (void)snprintf(again, sizeof again, "%" PRId64, (int64_t)*number);
    else
        (void)snprintf(again, sizeof again, "%" PRIu64, *number);
    return strcmp(text, again) == 0;
}

static bool slow_bytes(const slow_key *k, const char *keys, char *bytes, size_t *len) {
    uint64_t number;
    if (strcmp(keys, "bytes") == 0) {
        memcpy(bytes, k->bytes, *len = k->len);
        return k->type == EB_BYTES || k->type == EB_STRING;
    }
    if (k->type == EB_BYTES) return false;
    if (strcmp(keys, "text") == 0) return slow_text(k, bytes, len);
    if (!slow_number(k, strcmp(keys, "i64") == 0, &number)) return false;
    memcpy(bytes, &number, *len = sizeof number);
    return true;
}

static uint64_t slow_rotl(uint64_t x, int n) {
    return x << n | x >> (64 - n);
}

static void slow_round(uint64_t v[4]) {
    v[0] += v[1], v[1] = slow_rotl(v[1], 13) ^ v[0], v[0] = slow_rotl(v[0], 32);
    v[2] += v[3], v[3] = slow_rotl(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = slow_rotl(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = slow_rotl(v[1], 17) ^ v[2], v[2] = slow_rotl(v[2], 32);
}

static uint64_t slow_sip(const uint64_t key[2], const char *p, size_t len) {
    uint64_t v[4] = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                     key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};
    for (size_t at = 0; at <= len; at += 8) {
        uint64_t word = at + 8 > len ? (uint64_t)len << 56 : 0;
        for (size_t i = at; i < at + 8 && i < len; i++)
            word |= (uint64_t)(unsigned char)p[i] << 8 * (i - at);
        v[3] ^= word;
        slow_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++) slow_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static bool slow_hash(const slow_key *k, const char *keys, const eb_filter *f, eb_hash *h) {
    char bytes[80];
    size_t len = 0;
    if (!slow_bytes(k, keys, bytes, &len)) return false;
    *h = f->p.opt[EBI_O_HASH] == EBI_HASH_SIP
             ? slow_sip(f->p.secret, bytes, len)
             : XXH3_64bits_withSeed(bytes, len, f->p.opt[EBI_O_SEED]);
    return true;
}

/* Fixture */

static const char fixture[] = "tests/keys.tsv";
static const char *const type_names[] = {"", "text", "bytes", "i64", "u64", "string"};

static eb_status fast_hash(const eb_filter *f, const slow_key *k, eb_hash *h, eb_error *err) {
    const eb_key one = {k->bytes, k->len};
    const eb_keys keys = k->type == EB_I64 || k->type == EB_U64
                             ? eb_keys_column((eb_key_type)k->type, &k->number, 8)
                             : eb_keys_array((eb_key_type)k->type, &one);
    return eb_hash_keys(f, &keys, 1, h, err);
}

static void read_value(const char *type, const char *value, slow_key *k) {
    memset(k, 0, sizeof *k);
    while (strcmp(type_names[++k->type], type) != 0) HOLDS(k->type < EB_STRING);
    if (k->type == EB_I64) k->number = (uint64_t)strtoll(value, NULL, 10);
    if (k->type == EB_U64) k->number = strtoull(value, NULL, 10);
    if (k->type == EB_BYTES)
        for (unsigned byte; sscanf(value + 2 * k->len, "%2x", &byte) == 1;)
            k->bytes[k->len++] = (char)byte;
    else
        memcpy(k->bytes, value, k->len = strlen(value));
}

static void the_fixture_holds(void **state) {
    (void)state;
    char line[300];
    size_t lines = 0;
    FILE *const in = fopen(fixture, "r");
    HOLDS(in != NULL);
    while (fgets(line, sizeof line, in)) {
        char *part[4], spec[400];
        slow_key k;
        eb_hash h = 0;
        if (line[0] == '#') continue;
        part[0] = line;
        for (int i = 1; i < 4; i++) {
            part[i] = strchr(part[i - 1], '\t');
            HOLDS(part[i] != NULL);
            *part[i]++ = '\0';
        }
        part[3][strcspn(part[3], "\n")] = '\0';
        suite_at("%s %s %s", part[0], part[1], part[2]);
        (void)snprintf(spec, sizeof spec, "bloom:memory=4K,%s", part[0]);
        eb_filter *const f = suite_new(spec);
        read_value(part[1], part[2], &k);
        const eb_status status = fast_hash(f, &k, &h, NULL);
        HOLDS(status == (strcmp(part[3], "refused") == 0 ? EB_EKEY : EB_OK));
        HOLDS(status != EB_OK || h == strtoull(part[3], NULL, 16));
        eb_free(f);
        lines++;
    }
    (void)fclose(in);
    HOLDS(lines >= 100);
}

static const slow_key *fixture_keys(size_t *n) {
    static const char *const texts[] = {"",
                                        "a",
                                        "0",
                                        "42",
                                        "-1",
                                        "everbloom",
                                        "007",
                                        "+7",
                                        "18446744073709551615",
                                        "-9223372036854775808",
                                        "9223372036854775808",
                                        "1e3",
                                        "Gr\xc3\xbc\xc3\x9f Gott",
                                        "a key that is longer than sixteen bytes"};
    static const uint64_t numbers[] = {
        0, 1, 42, 99999999, 100000000, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
    static slow_key list[80];
    *n = 0;
    for (size_t i = 0; i < SUITE_COUNT(texts); i++)
        for (uint32_t type = EB_TEXT; type <= EB_STRING; type++) {
            if (type == EB_I64 || type == EB_U64 || (type == EB_STRING && i > 4)) continue;
            slow_key *const k = &list[(*n)++];
            k->type = type;
            memcpy(k->bytes, texts[i], k->len = strlen(texts[i]));
        }
    for (size_t i = 0; i < SUITE_COUNT(numbers); i++)
        for (uint32_t type = EB_I64; type <= EB_U64; type++)
            list[(*n)++] = (slow_key){.type = type, .number = numbers[i]};
    return list;
}

static void write_fixture(FILE *out) {
    static const char *const hashes[] = {"seed=0", "seed=12345678901234567890",
                                         "seed=0,hash=sip,secret=000102030405060708090a0b0c0d0e0f"};
    size_t n;
    const slow_key *const list = fixture_keys(&n);
    (void)fprintf(out,
                  "# options\ttype\tvalue\thash; bytes in hexadecimal.  See tests/test_keys.c\n");
    for (size_t o = 0; o < SUITE_COUNT(hashes); o++)
        for (size_t keys = 0; keys < 4; keys++)
            for (size_t i = 0; i < n; i++) {
                char spec[200], value[160] = "";
                size_t len = 0;
                eb_hash h;
                (void)snprintf(spec, sizeof spec, "bloom:memory=4K,keys=%s,%s", keys_names[keys],
                               hashes[o]);
                eb_filter *const f = suite_new(spec);
                if (list[i].type == EB_BYTES)
                    for (size_t j = 0; j < list[i].len; j++)
                        (void)sprintf(value + 2 * j, "%02x", (unsigned char)list[i].bytes[j]);
                else
                    (void)slow_text(&list[i], value, &len);
                (void)fprintf(out, "keys=%s,%s\t%s\t%s\t", keys_names[keys], hashes[o],
                              type_names[list[i].type], value);
                if (slow_hash(&list[i], keys_names[keys], f, &h))
                    (void)fprintf(out, "%016" PRIx64 "\n", h);
                else
                    (void)fprintf(out, "refused\n");
                eb_free(f);
            }
}

/* Decimal text */

static void numbers_are_written_and_read(void **state) {
    (void)state;
    uint64_t random = 3, power = 1;
    for (int i = 0; i < 200000; i++) {
        char buf[EBI_DECIMAL_MAX], want[32];
        uint64_t v = suite_random(&random) >> (i % 64), back = 0;
        if (i < 60) v = power + (uint64_t)(i % 3) - 1;
        if (i % 3 == 2 && i < 60) power *= 10;
        eb_key got = ebi_decimal_write(v, buf);
        HOLDS(got.len == (size_t)sprintf(want, "%" PRIu64, v) && !memcmp(got.p, want, got.len));
        HOLDS(ebi_decimal_read(got.p, got.len, &back) && back == v);
        got = ebi_decimal_write_signed(v, buf);
        HOLDS(got.len == (size_t)sprintf(want, "%" PRId64, (int64_t)v));
        HOLDS(!memcmp(got.p, want, got.len));
        HOLDS(ebi_decimal_read_signed(got.p, got.len, &back) && back == v);
    }
}

/* Layouts: n keys of one type, as all layouts that can have them */

enum { MANY = 700 };

typedef struct layouts {
    slow_key key[MANY];
    eb_key array[MANY];
    char bytes[MANY * 64];
    char column[3 + MANY * 40];
    char number[1 + MANY * 11];
    int32_t near[MANY + 1];
    int64_t far[MANY + 1];
} layouts;

static void draw_key(slow_key *k, uint32_t type, bool decimal, unsigned width, uint64_t *random) {
    *k = (slow_key){.type = type, .number = suite_random(random) >> suite_below(random, 64)};
    if (type == EB_I64) { /* that width bytes hold */
        const unsigned shift = 64 - 8 * width;
        k->number = (uint64_t)((int64_t)(k->number << shift) >> shift);
    } else if (type == EB_U64)
        k->number &= UINT64_MAX >> (64 - 8 * width);
    else if (decimal)
        k->len = (size_t)sprintf(k->bytes, "%" PRIu64, k->number >> 1);
    else {
        k->len = suite_below(random, 40);
        for (size_t i = 0; i < k->len; i++) k->bytes[i] = (char)(1 + suite_below(random, 255));
    }
}

static void hashes_are(const eb_filter *f, const char *keys, const eb_keys *all, const layouts *l,
                       size_t from, size_t n) {
    eb_hash got[MANY], later[MANY], want;
    const size_t part = n / 3;
    OK(eb_hash_keys(f, all, n, got, NULL));
    ebi_keys_hash(f, all, part, n - part,
                  later); /* what batches do with the parts behind the first */
    for (size_t i = 0; i < n; i++) {
        HOLDS(slow_hash(&l->key[from + i], keys, f, &want));
        HOLDS(got[i] == want && (i < part || later[i - part] == want));
    }
}

static void texts_agree(const eb_filter *f, const char *keys, uint32_t type, uint64_t *random) {
    static layouts l;
    const bool decimal = keys[1] == '6', bytes = strcmp(keys, "bytes") == 0;
    size_t at = 7; /* a slice begins somewhere */
    memset(&l, 0, sizeof l);
    for (size_t i = 0; i < MANY; i++) {
        draw_key(&l.key[i], type, decimal, 8, random);
        l.array[i] = (eb_key){l.key[i].bytes, l.key[i].len};
        memcpy(l.bytes + at, l.key[i].bytes, l.key[i].len);
        memcpy(l.column + 3 + 40 * i, l.key[i].bytes, l.key[i].len);
        l.far[i] = l.near[i] = (int32_t)at;
        at += l.key[i].len;
    }
    l.far[MANY] = l.near[MANY] = (int32_t)at;
    const eb_keys array = eb_keys_array((eb_key_type)type, l.array);
    const eb_keys near = eb_keys_offsets32((eb_key_type)type, l.bytes, at, l.near);
    const eb_keys far = eb_keys_offsets64((eb_key_type)type, l.bytes, at, l.far);
    const eb_keys slice = eb_keys_offsets32((eb_key_type)type, l.bytes, at, l.near + 5);
    hashes_are(f, keys, &array, &l, 0, MANY);
    hashes_are(f, keys, &near, &l, 0, MANY);
    hashes_are(f, keys, &far, &l, 0, MANY);
    hashes_are(f, keys, &slice, &l, 5, MANY - 5);
    hashes_are(f, keys, &near, &l, 0, 1);
    char odd[sizeof l.near + 1]; /* at any alignment */
    memcpy(odd + 1, l.near, sizeof l.near);
    eb_keys unaligned = near;
    unaligned.offsets = odd + 1;
    hashes_are(f, keys, &unaligned, &l, 0, MANY);
    static char odd_keys[sizeof l.array + 1];
    memcpy(odd_keys + 1, l.array, sizeof l.array);
    eb_keys unaligned_array = array;
    unaligned_array.data = odd_keys + 1;
    hashes_are(f, keys, &unaligned_array, &l, 0, MANY);
    eb_keys column = eb_keys_column((eb_key_type)type, l.column + 3, 40);
    for (size_t i = 0; bytes && i < MANY; i++) { /* nothing is padding */
        memcpy(l.key[i].bytes, l.column + 3 + 40 * i, 40);
        l.key[i].len = 40;
    }
    hashes_are(f, keys, &column, &l, 0, MANY);
    column.data = l.column + 3 + 40 * (size_t)(MANY - 1);
    column.stride = -40;
    for (size_t i = 0; i < MANY / 2; i++) {
        const slow_key other = l.key[i];
        l.key[i] = l.key[MANY - 1 - i];
        l.key[MANY - 1 - i] = other;
    }
    hashes_are(f, keys, &column, &l, 0, MANY);
}

static void numbers_agree(const eb_filter *f, const char *keys, uint32_t type, uint64_t *random) {
    static layouts l;
    for (unsigned width = 1; width <= 8; width *= 2)
        for (ptrdiff_t stride = -11; stride <= 11; stride += 22) {
            char *const first = l.number + 1 + (stride < 0 ? 11 * (MANY - 1) : 0);
            for (size_t i = 0; i < MANY; i++) {
                draw_key(&l.key[i], type, false, width, random);
                const bool negative = type == EB_I64 && l.key[i].number > INT64_MAX;
                if (negative && strcmp(keys, "u64") == 0) l.key[i].number = i % 100;
                if (type == EB_U64 && strcmp(keys, "i64") == 0) l.key[i].number &= INT64_MAX;
                memcpy(first + (ptrdiff_t)i * stride, &l.key[i].number, width);
            }
            eb_keys column = eb_keys_column((eb_key_type)type, first, width);
            column.stride = stride;
            hashes_are(f, keys, &column, &l, 0, MANY);
        }
}

static void all_layouts_have_the_same_keys(void **state) {
    (void)state;
    static const char *const hash[] = {"xxh3", "sip"};
    uint64_t random = 17;
    for (size_t keys = 0; keys < 4; keys++)
        for (size_t i = 0; i < 2; i++) {
            char spec[100];
            (void)snprintf(spec, sizeof spec, "bloom:memory=4K,seed=5,keys=%s,hash=%s",
                           keys_names[keys], hash[i]);
            eb_filter *const f = suite_new(spec);
            for (uint32_t type = EB_TEXT; type <= EB_STRING; type++) {
                suite_at("%s, type %u", spec, type);
                if ((type == EB_BYTES) != (keys == 1) && type != EB_STRING) continue;
                if (type == EB_I64 || type == EB_U64)
                    numbers_agree(f, keys_names[keys], type, &random);
                else
                    texts_agree(f, keys_names[keys], type, &random);
            }
            eb_free(f);
        }
}

/* Refusals: nothing changes, and the first key that is refused is named. */

static void refused(const char *spec, const eb_keys *keys, size_t n, eb_status status, uint64_t at,
                    const char *text) {
    eb_filter *const f = suite_new(spec), *const before = suite_new(spec);
    eb_error err = {.text = ""};
    eb_hash h[8];
    uint8_t seen[8];
    suite_at("%s: %s", spec, text);
    eb_batch b = eb_batch_keys(keys, n);
    b.seen = seen;
    GIVES(status, eb_hash_keys(f, keys, n, h, &err));
    HOLDS(err.at == at && strcmp(err.text, text) == 0);
    GIVES(status, eb_add_batch(f, &b, &err));
    HOLDS(err.at == at && strcmp(err.text, text) == 0);
    GIVES(status, eb_ask_batch(f, &b, &err));
    HOLDS(err.at == at && suite_equal(f, before));
    eb_free(f);
    eb_free(before);
}

static void what_is_wrong_is_refused(void **state) {
    (void)state;
    static const char text[] = "bloom:memory=4K", bytes[] = "bloom:memory=4K,keys=bytes",
                      i64[] = "bloom:memory=4K,keys=i64", u64[] = "bloom:memory=4K,keys=u64";
    static const eb_key words[] = {{"1", 1}, {"-2", 2}, {"x", 1}, {"18446744073709551615", 20}};
    static const int64_t numbers[] = {1, 2, -3, 4};
    static const uint64_t large[] = {1, UINT64_MAX};
    const eb_keys array = eb_keys_array(EB_TEXT, words);
    const eb_keys raw = eb_keys_array(EB_BYTES, words);
    const eb_keys column = eb_keys_column(EB_I64, numbers, 8);
    const eb_keys unsigned_column = eb_keys_column(EB_U64, large, 8);
    refused(bytes, &array, 4, EB_EKEY, 0, "keys are text, but the filter was made with keys=bytes");
    refused(bytes, &column, 4, EB_EKEY, 0,
            "keys are signed numbers, but the filter was made with keys=bytes");
    refused(text, &raw, 4, EB_EKEY, 0,
            "keys are binary data, but the filter was made with keys=text");
    refused(i64, &raw, 4, EB_EKEY, 0,
            "keys are binary data, but the filter was made with keys=i64");
    refused(i64, &array, 4, EB_EKEY, 2,
            "key 2 must be a decimal number of keys=i64 without sign +, leading zeros or spaces, "
            "not \"x\"");
    refused(u64, &array, 4, EB_EKEY, 1,
            "key 1 must be a decimal number of keys=u64 without sign +, leading zeros or spaces, "
            "not \"-2\"");
    refused(u64, &column, 4, EB_EKEY, 2,
            "key 2 is -3: a filter with keys=u64 has no negative numbers");
    refused(i64, &unsigned_column, 2, EB_EKEY, 1,
            "key 1 is 18446744073709551615: a filter with keys=i64 has no number above 2^63 - 1");

    eb_keys k = array;
    k.size = 0;
    char size[160];
    (void)snprintf(size, sizeof size,
                   "the size of an eb_keys is %zu here, not 0: set it with EB_INIT, and build the "
                   "program with the header of this library",
                   sizeof k);
    refused(text, &k, 4, EB_ESIZE, EB_NOWHERE, size);
    k = array;
    k.type = 0;
    refused(text, &k, 4, EB_EINVAL, EB_NOWHERE,
            "eb_keys.type must be EB_TEXT..EB_STRING (1..5), not 0");
    k.type = EB_TEXT, k.layout = 5;
    refused(text, &k, 4, EB_EINVAL, EB_NOWHERE,
            "eb_keys.layout must be EB_ARRAY..EB_OFFSETS64 (1..4), not 5");
    k = array;
    k.type = EB_I64;
    refused(text, &k, 4, EB_EINVAL, EB_NOWHERE, "numbers must lie in an EB_COLUMN");
    k = column;
    k.width = 3;
    refused(text, &k, 4, EB_EINVAL, EB_NOWHERE,
            "the width of a column of numbers must be 1, 2, 4 or 8, not 3");
    k = eb_keys_column(EB_TEXT, words, 0);
    refused(text, &k, 4, EB_EINVAL, EB_NOWHERE, "a column must have a width");
    k = eb_keys_array(EB_TEXT, NULL);
    refused(text, &k, 4, EB_EINVAL, EB_NOWHERE, "4 keys have no data");
    k = eb_keys_offsets32(EB_TEXT, "abc", 3, NULL);
    refused(text, &k, 4, EB_EINVAL, EB_NOWHERE, "4 keys by offsets have no offsets");
}

static void bad_offsets_are_named(void **state) {
    (void)state;
    static const struct {
        int32_t offset[5];
        uint64_t at;
        const char *text;
    } wrong[] = {
        {{0, 2, 1, 3, 4},
         1,
         "the offsets of key 1 are 2 and 1: they must not be negative and never decrease"},
        {{-1, 2, 2, 3, 4},
         0,
         "the offsets of key 0 are -1 and 2: they must not be negative and never decrease"},
        {{0, 1, 2, 3, 11}, 3, "key 3 ends at byte 11, but its data has only 10"},
        {{0, INT32_MIN, 2, 3, 4},
         0,
         "the offsets of key 0 are 0 and -2147483648: they must not be negative and never "
         "decrease"},
        {{0, 1, INT32_MAX, INT32_MAX, INT32_MAX},
         1,
         "key 1 ends at byte 2147483647, but its data has only 10"},
    };
    for (size_t i = 0; i < SUITE_COUNT(wrong); i++) {
        int64_t far[5];
        for (int j = 0; j < 5; j++) far[j] = wrong[i].offset[j];
        const eb_keys near = eb_keys_offsets32(EB_TEXT, "abcdefghij", 10, wrong[i].offset),
                      wide = eb_keys_offsets64(EB_TEXT, "abcdefghij", 10, far);
        refused("bloom:memory=4K", &near, 4, EB_EINVAL, wrong[i].at, wrong[i].text);
        refused("bloom:memory=4K", &wide, 4, EB_EINVAL, wrong[i].at, wrong[i].text);
    }
    static const int64_t huge[] = {0, INT64_MAX, INT64_MIN};
    const eb_keys k = eb_keys_offsets64(EB_TEXT, "abcdefghij", 10, huge);
    refused("bloom:memory=4K", &k, 1, EB_EINVAL, 0,
            "key 0 ends at byte 9223372036854775807, but its data has only 10");
    refused("bloom:memory=4K", &k, 2, EB_EINVAL, 0,
            "key 0 ends at byte 9223372036854775807, but its data has only 10");
}

static void no_keys_are_fine(void **state) {
    (void)state;
    eb_filter *const f = suite_new("bloom:memory=4K");
    eb_error err;
    for (uint32_t type = EB_TEXT; type <= EB_STRING; type++) {
        const eb_keys none = eb_keys_column((eb_key_type)type, NULL, 8);
        const eb_batch b = eb_batch_keys(&none, 0);
        OK(eb_hash_keys(f, &none, 0, NULL, &err));
        OK(eb_add_batch(f, &b, &err));
    }
    const eb_batch neither = eb_batch_make(NULL, NULL, 1);
    GIVES(EB_EINVAL, eb_add_batch(f, &neither, &err));
    HOLDS(strcmp(err.text, "a batch of 1 keys has neither hashes nor keys") == 0);
    eb_free(f);
}

/* Batches of keys are batches of their hashes, in every kind; single keys, too. */

static void keys_are_their_hashes(const suite_case *c) {
    enum { KEYS = 1500 };
    static char text[KEYS][24];
    eb_key array[KEYS];
    eb_filter *const f = suite_new(c->spec), *const g = suite_new(c->spec),
                     *const one = suite_new(c->spec);
    suite_stream s = suite_make_stream(f, KEYS, KEYS / 3, 77);
    for (size_t i = 0; i < KEYS; i++) { /* of a number filter the number is the key */
        const eb_hash sign = f->p.opt[EBI_O_KEYS] == EBI_KEYS_I64 ? UINT64_C(1) << 63 : 0;
        array[i] =
            (eb_key){text[i], (size_t)snprintf(text[i], sizeof text[i],
                                               sign ? "%" PRId64 : "%" PRIu64, s.hash[i] ^ sign)};
    }
    const eb_keys keys = eb_keys_array(EB_STRING, array);
    OK(eb_hash_keys(f, &keys, KEYS, s.hash, NULL));
    eb_batch by_hash = suite_part(&s, 0, KEYS), by_keys = by_hash;
    uint8_t seen[2][KEYS];
    by_keys.hash = NULL;
    by_keys.keys = &keys;
    by_hash.keys = suite_caps(c) & EB_KEEPS_KEYS ? &keys : NULL;
    by_hash.seen = seen[0];
    by_keys.seen = seen[1];
    OK(eb_add_batch(f, &by_hash, NULL));
    OK(eb_add_batch(g, &by_keys, NULL));
    HOLDS(suite_equal(f, g) && memcmp(seen[0], seen[1], KEYS) == 0);
    by_hash.value = by_keys.value = by_hash.time = by_keys.time = NULL;
    OK(eb_ask_batch(f, &by_hash, NULL));
    OK(eb_ask_batch(g, &by_keys, NULL));
    HOLDS(memcmp(seen[0], seen[1], KEYS) == 0);
    if (!(suite_caps(c) & (EB_USES_VALUE | EB_USES_TIME))) {
        for (size_t i = 0; i < KEYS; i++) OK(eb_add(one, array[i].p, array[i].len, NULL, NULL));
        HOLDS(suite_equal(f, one));
    }
    suite_free_stream(&s);
    eb_free(f);
    eb_free(g);
    eb_free(one);
}

static void batches_of_keys_are_batches_of_hashes(void **state) {
    (void)state;
    suite_each_near(keys_are_their_hashes);
}

/* Kinds that keep keys get them as bytes, in the order of their shard, and name the ones that go by
 * their place in the caller's batch.  This one keeps the last key of each shard. */

static void keeper_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen) {
    (void)p;
    char *const own = (char *)block + sizeof(ebi_block_head);
    for (size_t i = 0; i < b->n; i++) {
        if (own[0]) ebi_expel(b, i, (eb_key){own + 1, (size_t)own[0]});
        own[0] = (char)b->key[i].len;
        memcpy(own + 1, b->key[i].p, b->key[i].len);
        seen[i] = 0;
    }
}

typedef struct leaver {
    size_t calls;
    char text[4000][32];
} leaver;

static void leaves(void *ctx, size_t i, eb_key key) {
    leaver *const l = ctx;
    HOLDS(i < 4000 && key.len < 32);
    memcpy(l->text[i], key.p, key.len);
    l->text[i][key.len] = '\0';
    l->calls++;
}

static void keys_are_kept_and_expelled(void **state) {
    (void)state;
    enum { KEYS = 4000 };
    static leaver l;
    static int64_t number[KEYS];
    static eb_hash hash[KEYS];
    static const ebi_ops ops = {.add = keeper_add};
    ebi_kind keeper = ebi_kind_bloom;
    ebi_params p;
    eb_filter *f;
    eb_error err;
    HOLDS(suite_parse("bloom:memory=4K,shards=4,k=3", &p));
    keeper.info.caps = EB_KEEPS_KEYS;
    keeper.growing = NULL;
    keeper.caps = NULL;
    OK(ebi_new(&f, &keeper, &p, NULL, NULL));
    f->ops = &ops;
    for (int i = 0; i < KEYS; i++) number[i] = 1000 - i * 7;
    const eb_keys keys = eb_keys_column(EB_I64, number, sizeof *number);
    eb_batch b = eb_batch_keys(&keys, KEYS);
    b.expelled = leaves;
    b.ctx = &l;
    OK(eb_hash_keys(f, &keys, KEYS, hash, NULL));
    OK(eb_add_batch(f, &b, NULL));
    char last[4][32] = {"", "", "", ""};
    size_t expelled = 0;
    for (int i = 0; i < KEYS; i++) { /* key i made the last one of its shard go */
        char *const before = last[eb_shard_of(f, hash[i])];
        HOLDS(strcmp(l.text[i], before) == 0);
        expelled += *before != '\0';
        (void)sprintf(before, "%" PRId64, number[i]);
    }
    HOLDS(l.calls == expelled && expelled == KEYS - 4);
    bool seen;
    OK(eb_add(f, "one", 3, &seen, NULL));
    const eb_batch hashes = eb_batch_hashes(hash, 1);
    GIVES(EB_ENOTSUP, eb_add_batch(f, &hashes, &err));
    HOLDS(strcmp(err.text, "bloom filters keep keys: give keys, not only hashes") == 0);
    eb_free(f);
}

/* Who knows the seed can fill a small part of a filter; keys that were chosen for one seed are any
 * keys to another seed, and to a secret. */

/* Half of the keys that the filter `known` puts into 1/64 of itself are added to f; the answer is
 * how many of the other half f takes for known. */
static double taken_for_known(const eb_filter *known, const char *spec) {
    enum { TRIED = 400000 };
    eb_filter *const f = suite_new(spec);
    uint64_t fresh = 0, wrong = 0;
    for (uint64_t half = 0; half < 2; half++)
        for (uint64_t i = 0; i < TRIED; i++) {
            char key[24];
            const size_t len = (size_t)sprintf(key, "%" PRIu64, i);
            const eb_key one = {key, len};
            const eb_keys keys = eb_keys_array(EB_STRING, &one);
            eb_hash h;
            bool seen = false;
            OK(eb_hash_keys(known, &keys, 1, &h, NULL));
            if (h >> 58 != 0 || i % 2 != half) continue;
            if (half == 0)
                OK(eb_add(f, key, len, NULL, NULL));
            else
                OK(eb_ask(f, key, len, &seen, NULL, NULL));
            fresh += half;
            wrong += seen;
        }
    eb_free(f);
    return (double)wrong / (double)fresh;
}

static void chosen_keys_need_the_seed(void **state) {
    (void)state;
    static const char *const specs[] = {"window:memory=64K,window=20000", "choosy:memory=64K"};
    for (size_t i = 0; i < SUITE_COUNT(specs); i++) {
        char spec[200];
        (void)sprintf(spec, "%s,seed=1", specs[i]);
        eb_filter *const known = suite_new(spec);
        suite_at("%s", spec);
        NEAR(taken_for_known(known, spec), 0.65, 0.25);
        (void)sprintf(spec, "%s,seed=2", specs[i]);
        NEAR(taken_for_known(known, spec), 0, 0.02);
        (void)sprintf(spec, "%s,seed=1,hash=sip,secret=000102030405060708090a0b0c0d0e0f", specs[i]);
        NEAR(taken_for_known(known, spec), 0, 0.02);
        eb_free(known);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fixture_holds),
        cmocka_unit_test(numbers_are_written_and_read),
        cmocka_unit_test(all_layouts_have_the_same_keys),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(bad_offsets_are_named),
        cmocka_unit_test(no_keys_are_fine),
        cmocka_unit_test(batches_of_keys_are_batches_of_hashes),
        cmocka_unit_test(keys_are_kept_and_expelled),
        cmocka_unit_test(chosen_keys_need_the_seed),
    };
    if (argc == 2 && strcmp(argv[1], "--write-fixture") == 0) {
        FILE *const out = fopen(fixture, "w");
        if (!out) return 2;
        write_fixture(out);
        return fclose(out) != 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
