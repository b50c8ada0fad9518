/* test_base.c - bits, hashes, random numbers and the numbers of specs. */
#include "api/number.h"
#include "base/rng.h"
#include "suite.h"
#include <ctype.h>
#include <limits.h>
#include <math.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Bits */

static void bit_tricks_equal_loops(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 10000; i++) {
        const uint64_t x = suite_random(&random) >> suite_below(&random, 64);
        unsigned ones = 0, lowest = 64, highest = 0;
        for (unsigned b = 0; b < 64; b++) {
            if (!((x >> b) & 1)) continue;
            ones++;
            if (lowest == 64) lowest = b;
            highest = b;
        }
        HOLDS(ebi_popcount(x) == ones);
        HOLDS(x == 0 || (ebi_ctz(x) == lowest && ebi_log2(x) == highest));
    }
    HOLDS(ebi_ones(0) == 0 && ebi_ones(1) == 1 && ebi_ones(64) == UINT64_MAX);
    for (unsigned n = 0; n < 64; n++) HOLDS(ebi_ones(n) == (UINT64_C(1) << n) - 1);
}

static void sizes_are_checked(void **state) {
    (void)state;
    uint64_t out = 7;
    HOLDS(!ebi_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &out) && out == 7);
    HOLDS(ebi_mul(UINT64_C(1) << 32, UINT64_C(1) << 31, &out) && out == UINT64_C(1) << 63);
    HOLDS(ebi_round_up(0, 64) == 0 && ebi_round_up(1, 64) == 64 && ebi_round_up(64, 64) == 64);
    HOLDS(ebi_min(3, 4) == 3 && ebi_max(3, 4) == 4);
}

static void statuses_have_names(void **state) {
    (void)state;
    for (int s = EB_ESTOPPED; s <= EB_OK; s++) {
        HOLDS(strcmp(eb_status_name((eb_status)s), "unknown status") != 0);
        for (int other = EB_ESTOPPED; other < s; other++)
            HOLDS(strcmp(eb_status_name((eb_status)s), eb_status_name((eb_status)other)) != 0);
    }
    HOLDS(strcmp(eb_status_name((eb_status)5), "unknown status") == 0);
    HOLDS(eb_version() == EB_VERSION_NUMBER);
}

/* 1e+09 is 1e9 and 1e-09 is 1e-9: takes out, one by one, what stands before the exponent's digits.
 */
static void shorten_exponents(char *text) {
    for (char *e = text; *e; e++) {
        if (!((e[0] == 'e') && (e[1] == '+' || e[1] == '-') && isdigit((unsigned char)e[2])))
            continue;
        if (e[1] == '+') memmove(e + 1, e + 2, strlen(e + 1));
        char *const digits = e[1] == '-' ? e + 2 : e + 1;
        while (*digits == '0') memmove(digits, digits + 1, strlen(digits));
    }
}

/* Conversions of messages are the library's own: they write what printf writes, but 1e9 where that
 * writes 1e+09. */
static void errors_are_written_as_printf_would(void **state) {
    (void)state;
    static const double reals[] = {0,     0.25,     -1.5,   1e-9,      123456789.125, 1e18,
                                   1e300, INFINITY, -1e-99, 281474976, 0.000123456789};
    char want[600];
    eb_error err;
    for (size_t i = 0; i < SUITE_COUNT(reals); i++) {
        const double x = reals[i];
#define SAME(...)                                                                                  \
    do {                                                                                           \
        (void)snprintf(want, sizeof err.text, __VA_ARGS__);                                        \
        shorten_exponents(want);                                                                   \
        GIVES(EB_EINVAL, ebi_fail(&err, EB_EINVAL, __VA_ARGS__));                                  \
        suite_at("%s, not %s", want, err.text);                                                    \
        HOLDS(strcmp(want, err.text) == 0);                                                        \
    } while (0)
        SAME("%g is %.10g, %.3g or %.0f%%", x, x, x, x);
        SAME("%f%f%.0f", x, x, -x);
    }
    GIVES(EB_EINVAL, ebi_fail(&err, EB_EINVAL, "%g, %g and %g", 1e9, -1.5e-7, 1e-10));
    HOLDS(strcmp(err.text, "1e9, -1.5e-7 and 1e-10") == 0);
    SAME("%d %d %u %lu %llu %zu", INT_MIN, INT_MAX, UINT_MAX, ULONG_MAX, ULLONG_MAX,
         (size_t)SIZE_MAX);
    SAME("%d, %d and %d", 0, -1, 1);
    SAME("%s|%.3s|%.*s|%.*s|%.0s|", "", "abcdef", 2, "abc", 5, "abc", "x");
    SAME("plain");
    SAME("%.1s", (const char[]){'x'});
#undef SAME
}

static void long_errors_are_cut(void **state) {
    (void)state;
    char long_text[2000];
    eb_error err;
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    GIVES(EB_ESTOPPED, ebi_fail(&err, EB_ESTOPPED, "%s", long_text));
    HOLDS(err.status == EB_ESTOPPED && strlen(err.text) == sizeof err.text - 1);
    GIVES(EB_ESTOPPED, ebi_fail(NULL, EB_ESTOPPED, "%s", long_text));
}

/* Hashes */

static void xxh3_is_libxxhashs(void **state) {
    (void)state;
    uint8_t bytes[600];
    uint64_t random = 2;
    eb_hash h;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)suite_random(&random);
    for (size_t len = 0; len < sizeof bytes; len += 1 + len / 20) {
        const eb_key key = {bytes, len};
        const uint64_t seed = suite_random(&random);
        ebi_hash_xxh3(seed, &key, 1, &h);
        HOLDS(h == XXH3_64bits_withSeed(bytes, len, seed));
        HOLDS(ebi_checksum(bytes, len, seed) == h);
    }
    ebi_hash_xxh3(0, &(eb_key){"", 0}, 1, &h);
    HOLDS(h == UINT64_C(0x2d06800538d394c2)); /* as published */
}

/* SipHash-c-d, from its definition. */
static uint64_t slow_rotate(uint64_t x, int n) {
    for (; n > 0; n--) x = x * 2 + (x >> 63);
    return x;
}

static void slow_rounds(uint64_t v[4], int n) {
    for (; n > 0; n--) {
        v[0] += v[1];
        v[1] = slow_rotate(v[1], 13) ^ v[0];
        v[0] = slow_rotate(v[0], 32);
        v[2] += v[3];
        v[3] = slow_rotate(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = slow_rotate(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = slow_rotate(v[1], 17) ^ v[2];
        v[2] = slow_rotate(v[2], 32);
    }
}

static uint64_t slow_sip(int c, int d, const uint64_t key[2], const uint8_t *p, size_t len) {
    static const char text[] = "somepseudorandomlygeneratedbytes";
    uint64_t v[4] = {0};
    for (int i = 0; i < 32; i++) v[i / 8] = v[i / 8] << 8 | (uint8_t)text[i];
    for (int i = 0; i < 4; i++) v[i] ^= key[i % 2];
    for (size_t start = 0; start <= len; start += 8) {
        uint64_t word = 0;
        for (size_t i = 0; i < 8; i++)
            if (start + i < len) word |= (uint64_t)p[start + i] << (8 * i);
        if (start + 8 > len) word |= (uint64_t)(len & 0xff) << 56;
        v[3] ^= word;
        slow_rounds(v, c);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    slow_rounds(v, d);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static void siphash_is_siphash(void **state) {
    (void)state;
    const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
    uint8_t bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)i;
    /* The paper's example, of SipHash-2-4, shows that the slow one is right. */
    HOLDS(slow_sip(2, 4, key, bytes, 15) == UINT64_C(0xa129ca6149be45e5));
    for (size_t len = 0; len < sizeof bytes; len++) {
        const eb_key k = {bytes, len};
        eb_hash h;
        ebi_hash_sip(key, &k, 1, &h);
        HOLDS(h == slow_sip(1, 3, key, bytes, len));
    }
    /* Many keys: runs of one length, of several, and all mixed, from every place. */
    enum { KEYS = 100 };
    static uint8_t text[KEYS][64];
    eb_key keys[KEYS];
    eb_hash many[KEYS];
    uint64_t random = 5;
    for (unsigned round = 0; round < 60; round++) {
        for (size_t i = 0; i < KEYS; i++) {
            keys[i] = (eb_key){text[i] + i % 8, round < 40       ? round
                                                : round % 2 == 0 ? 16 + i / 7 % 8
                                                                 : suite_below(&random, 50)};
            for (size_t j = 0; j < sizeof text[i]; j++) text[i][j] = (uint8_t)suite_random(&random);
        }
        for (size_t n = 0; n <= KEYS; n += n < 20 ? 1 : 40) {
            ebi_hash_sip(key, keys, n, many);
            for (size_t i = 0; i < n; i++)
                HOLDS(many[i] == slow_sip(1, 3, key, keys[i].p, keys[i].len));
        }
    }
}

/* Random numbers and positions */

static void random_numbers_are_splitmix64(void **state) {
    (void)state;
    uint64_t s = 0;
    HOLDS(ebi_random(&s) == UINT64_C(0xe220a8397b1dcdaf));
    HOLDS(ebi_random(&s) == UINT64_C(0x6e789e6aa1b965f4));
    HOLDS(ebi_random(&s) == UINT64_C(0x06c45d188009454f));
    HOLDS(eb_scale(UINT64_MAX, 10) == 9 && eb_scale(0, 10) == 0);
    HOLDS(eb_scale(UINT64_C(1) << 63, 7) == 3 && eb_scale(UINT64_MAX, 1) == 0);
}

/* The high half of a product as on paper, in digits of 32 bits. */
static uint64_t slow_scale(uint64_t x, uint64_t range) {
    const uint64_t a[2] = {(uint32_t)x, x >> 32}, b[2] = {(uint32_t)range, range >> 32};
    uint64_t digit[4] = {0};
    for (int i = 0; i < 2; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < 2; j++) {
            const uint64_t sum = a[i] * b[j] + digit[i + j] + carry;
            digit[i + j] = (uint32_t)sum;
            carry = sum >> 32;
        }
        digit[i + 2] = carry;
    }
    return digit[3] << 32 | digit[2];
}

static void positions_are_high_halves_of_products(void **state) {
    (void)state;
    static const uint64_t ends[] = {0, 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX};
    uint64_t s = 3;
    for (int i = 0; i < 100000; i++) {
        const uint64_t x = i % 3 ? ebi_random(&s) : ends[i % 5];
        const uint64_t range = i % 7 ? ebi_random(&s) >> i % 64 : ends[i / 7 % 5];
        HOLDS(eb_scale(x, range) == slow_scale(x, range));
        HOLDS(ebi_high_half(x, range) == slow_scale(x, range));
        const uint64_t low = range >> 32,
                       edge = low ? UINT64_MAX / low : x; /* where a carry counts */
        HOLDS(eb_scale(edge, low) == slow_scale(edge, low));
        HOLDS(eb_scale(edge + 1, low) == slow_scale(edge + 1, low));
        HOLDS(ebi_high_half(edge, ~low) == slow_scale(edge, ~low));
    }
}

/* Chi-square of n draws in `bins` bins is bins - 1 with a standard deviation of
 * sqrt(2 (bins - 1)): five of them, or one wrong alarm in three million. */
static void looks_uniform(const uint32_t *bin, size_t bins, double n, const char *what) {
    const double expected = n / (double)bins, degrees = (double)bins - 1;
    double chi = 0;
    for (size_t i = 0; i < bins; i++)
        chi += ((double)bin[i] - expected) * ((double)bin[i] - expected) / expected;
    if (fabs(chi - degrees) > 5 * sqrt(2 * degrees))
        fail_msg("%s: chi-square is %.1f with %.0f degrees", what, chi, degrees);
}

enum { DRAWS = 100000, KS = 8 };

static void positions_are_uniform(void **state) {
    (void)state;
    static const uint64_t ranges[] = {1000, 997, 4096};
    for (size_t r = 0; r < SUITE_COUNT(ranges); r++)
        for (int sip = 0; sip < 2; sip++) {
            static uint32_t bin[KS][4096];
            memset(bin, 0, sizeof bin);
            for (uint64_t i = 0; i < DRAWS; i++) {
                const eb_key key = {&i, sizeof i};
                const uint64_t sip_key[2] = {1, 2};
                eb_hash h;
                if (sip)
                    ebi_hash_sip(sip_key, &key, 1, &h);
                else
                    ebi_hash_xxh3(3, &key, 1, &h);
                for (int j = 0; j < KS; j++, h = eb_next(h)) bin[j][eb_scale(h, ranges[r])]++;
            }
            for (int j = 0; j < KS; j++)
                looks_uniform(bin[j], ranges[r], DRAWS, "a position of a key");
        }
}

static void positions_are_independent(void **state) {
    (void)state;
    enum { SIDE = 30 };
    static uint32_t bin[KS][KS][SIDE * SIDE];
    memset(bin, 0, sizeof bin);
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint64_t x = ebi_mix(i + 12345), at[KS];
        for (int j = 0; j < KS; j++, x = eb_next(x)) at[j] = eb_scale(x, SIDE);
        for (int a = 0; a < KS; a++)
            for (int b = 0; b < a; b++) bin[a][b][at[a] * SIDE + at[b]]++;
    }
    for (int a = 0; a < KS; a++)
        for (int b = 0; b < a; b++)
            looks_uniform(bin[a][b], SIDE * SIDE, DRAWS, "a pair of positions");
}

static void random_draws_are_uniform_and_independent(void **state) {
    (void)state;
    enum { SIDE = 30 };
    static uint32_t bin[SIDE * SIDE];
    for (uint64_t seed = 0; seed < 4; seed++) { /* small seeds too */
        uint64_t s = seed, last = 0;
        memset(bin, 0, sizeof bin);
        for (int i = 0; i <= DRAWS; i++) {
            const uint64_t now = ebi_random_below(&s, SIDE);
            if (i > 0) bin[last * SIDE + now]++;
            last = now;
        }
        looks_uniform(bin, SIDE * SIDE, DRAWS, "a pair of draws");
    }
}

/* Numbers of specs */

typedef struct number {
    const char *type, *text;
    uint64_t value;
    double real;
} number;

static void numbers_are_read(void **state) {
    (void)state;
    static const number good[] = {
        {"int", "0", 0, 0},
        {"int", "18446744073709551615", UINT64_MAX, 18446744073709551615.0},
        {"int", "1e3", 1000, 1000},
        {"int", "1.5e1", 15, 15},
        {"int", "7.0", 7, 7},
        {"size", "1K", 1024, 1024},
        {"size", "64m", 64 << 20, 64 << 20},
        {"size", "1.5G", UINT64_C(3) << 29, 1610612736.0},
        {"size", "2T", UINT64_C(2) << 40, 2199023255552.0},
        {"size", "123", 123, 123},
        {"count", "1K", 1000, 1000},
        {"count", "10M", 10000000, 1e7},
        {"count", "1e9", 1000000000, 1e9},
        {"count", "0.5G", 500000000, 5e8},
        {"fixed", "8.401", 8401000, 8.401},
        {"fixed", "0.000001", 1, 1e-6},
        {"fixed", "-1.5", 0 - UINT64_C(1500000), -1.5},
        {"fixed", "1e-6", 1, 1e-6},
        {"fixed", ".5", 500000, 0.5},
        {"real", "1e-9", 0, 1e-9},
        {"real", "0.001", 0, 0.001},
        {"real", "5.", 0, 5},
    };
    for (size_t i = 0; i < SUITE_COUNT(good); i++) {
        uint64_t value = 1;
        double real = -1;
        suite_at("%s as %s", good[i].text, good[i].type);
        HOLDS(ebi_number_read(good[i].text, strlen(good[i].text), good[i].type, &value, &real));
        HOLDS(value == good[i].value);
        HOLDS(fabs(real - good[i].real) <= 1e-15 * fabs(good[i].real));
    }
}

static void other_texts_are_no_numbers(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"int", ""},
        {"int", "-1"},
        {"int", "+1"},
        {"int", " 1"},
        {"int", "1 "},
        {"int", "1.5"},
        {"int", "0x10"},
        {"int", "1K"},
        {"int", "1e"},
        {"int", "e1"},
        {"int", "1e+"},
        {"int", "1e-1"},
        {"int", "."},
        {"int", "1..2"},
        {"int", "1e301"},
        {"int", "18446744073709551616"},
        {"int", "2e19"},
        {"size", "1P"},
        {"size", "1KB"},
        {"size", "K"},
        {"size", "1e-3K"},
        {"size", "99999999T"},
        {"count", "1k2"},
        {"count", "-1"},
        {"fixed", "0.0000001"},
        {"fixed", "--1"},
        {"fixed", "1e13"},
        {"fixed", "-"},
        {"real", "nan"},
        {"real", "inf"},
        {"real", "-1"},
        {"real", "1e400"},
    };
    for (size_t i = 0; i < SUITE_COUNT(bad); i++) {
        uint64_t value;
        double real;
        suite_at("\"%s\" as %s", bad[i][1], bad[i][0]);
        HOLDS(!ebi_number_read(bad[i][1], strlen(bad[i][1]), bad[i][0], &value, &real));
    }
}

static void fixed_numbers_are_written_as_read(void **state) {
    (void)state;
    static const struct {
        int64_t millionths;
        const char *text;
    } known[] = {{0, "0"},           {1, "0.000001"},   {1000000, "1"},
                 {8401000, "8.401"}, {-500000, "-0.5"}, {10000000, "10"}};
    char text[40];
    for (size_t i = 0; i < SUITE_COUNT(known); i++) {
        ebi_fixed_write((uint64_t)known[i].millionths, text, sizeof text);
        HOLDS(strcmp(text, known[i].text) == 0);
    }
    uint64_t random = 4;
    for (int i = 0; i < 10000; i++) {
        const uint64_t x = suite_random(&random) >> suite_below(&random, 63);
        uint64_t value;
        double real;
        const uint64_t sent = x > INT64_MAX ? 0 - (x >> 1) : x;
        ebi_fixed_write(sent, text, sizeof text);
        HOLDS(ebi_number_read(text, strlen(text), "fixed", &value, &real) && value == sent);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bit_tricks_equal_loops),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(statuses_have_names),
        cmocka_unit_test(long_errors_are_cut),
        cmocka_unit_test(errors_are_written_as_printf_would),
        cmocka_unit_test(xxh3_is_libxxhashs),
        cmocka_unit_test(siphash_is_siphash),
        cmocka_unit_test(random_numbers_are_splitmix64),
        cmocka_unit_test(positions_are_high_halves_of_products),
        cmocka_unit_test(positions_are_uniform),
        cmocka_unit_test(positions_are_independent),
        cmocka_unit_test(random_draws_are_uniform_and_independent),
        cmocka_unit_test(numbers_are_read),
        cmocka_unit_test(other_texts_are_no_numbers),
        cmocka_unit_test(fixed_numbers_are_written_as_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
