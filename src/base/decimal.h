/* decimal.h - 64-bit whole numbers as decimal text, and back.
 *
 * Each number has exactly one text: no plus sign and no leading zeros are written, and texts that
 * have them are refused.  Numbers are written eight digits at a time, in one register and without
 * branches. */
#ifndef EBI_DECIMAL_H
#define EBI_DECIMAL_H
#include "bits.h"

enum { EBI_DECIMAL_MAX = 32, EBI_DECIMAL_DIGITS = 20 };

/* The eight digits of v < 10^8 as bytes, with the first digit in the lowest byte. */
EBI_INLINE uint64_t ebi_decimal_eight(uint32_t v) {
    const uint64_t four = v / 10000 | (uint64_t)(v % 10000) << 32;
    const uint64_t hundreds = (four * 10486) >> 20 & UINT64_C(0x7f0000007f);
    const uint64_t two = hundreds | (four - 100 * hundreds) << 16;
    const uint64_t tens = (two * 103) >> 10 & UINT64_C(0x000f000f000f000f);
    return tens | (two - 10 * tens) << 8;
}

/* Writes the text at the end of buf.  The key points into buf. */
EBI_INLINE eb_key ebi_decimal_write(uint64_t v, char buf[EBI_DECIMAL_MAX]) {
    const uint64_t ascii = UINT64_C(0x3030303030303030), million_hundred = 100000000;
    char *const last = &buf[EBI_DECIMAL_MAX - 8]; /* eight digits at a time, from the end */
    uint64_t first = ebi_decimal_eight((uint32_t)(v % million_hundred));
    size_t len = 8;
    ebi_store64(last, first | ascii);
    if (v >= million_hundred) {
        const uint64_t rest = v / million_hundred;
        first = ebi_decimal_eight((uint32_t)(rest % million_hundred));
        len = 16;
        ebi_store64(last - 8, first | ascii);
        if (rest >= million_hundred) {
            first = ebi_decimal_eight((uint32_t)(rest / million_hundred));
            len = 24;
            ebi_store64(last - 16, first | ascii);
        }
    }
    len -= first == 0 ? 7 : ebi_ctz(first) / 8; /* skips leading zeros but keeps the last digit */
    return (eb_key){last + 8 - len, len};
}

/* The same for a signed number in two's complement. */
EBI_INLINE eb_key ebi_decimal_write_signed(uint64_t v, char buf[EBI_DECIMAL_MAX]) {
    const bool negative = v > INT64_MAX;
    const eb_key size = ebi_decimal_write(negative ? 0 - v : v, buf);
    char *const sign = buf + EBI_DECIMAL_MAX - size.len - 1;
    *sign = '-';
    return negative ? (eb_key){sign, size.len + 1} : size;
}

/* The same as a NUL-terminated string, for messages. */
typedef struct ebi_decimal_text {
    char text[EBI_DECIMAL_MAX];
} ebi_decimal_text;

static inline void ebi_decimal_print(uint64_t v, bool is_signed, ebi_decimal_text *out) {
    char buf[EBI_DECIMAL_MAX];
    const eb_key key = is_signed ? ebi_decimal_write_signed(v, buf) : ebi_decimal_write(v, buf);
    memcpy(out->text, key.p, key.len);
    out->text[key.len] = '\0';
}

EBI_INLINE bool ebi_decimal_read(const char *text, size_t len, uint64_t *out) {
    uint64_t n = 0;
    if (len == 0 || len > EBI_DECIMAL_DIGITS || (len > 1 && text[0] == '0')) return false;
    for (size_t i = 0; i < len; i++) {
        const uint64_t digit = (uint64_t)(unsigned char)text[i] - '0';
        if (digit > 9) return false;
        if (i + 1 == EBI_DECIMAL_DIGITS && n > (UINT64_MAX - digit) / 10) return false;
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}

EBI_INLINE bool ebi_decimal_read_signed(const char *text, size_t len, uint64_t *out) {
    const bool negative = len > 0 && text[0] == '-';
    uint64_t size;
    if (!ebi_decimal_read(text + negative, len - negative, &size)) return false;
    if (size > (uint64_t)INT64_MAX + negative || (negative && size == 0)) return false;
    *out = negative ? 0 - size : size;
    return true;
}
#endif
