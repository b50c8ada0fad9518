/* record.c - the text of a JSON record, and a check of all of the record.
 *
 * json_locate looks only at what stands before the value.  Here a record that is cut off, has an
 * unknown escape, a raw control character or half of a surrogate pair is bad as a whole: its text
 * is not what its author meant, and readers downstream would stop at it.
 *
 * Each string is read once: what is checked is copied in the same pass, if it is the text.  Behind
 * a record stands a newline or a zero, so a string that does not end is found without counting. */
#include "text.h"
#include <string.h>

enum { RECORD_DEPTH = 256 };

typedef struct record_walk {
    const char *p, *end, *why;
    const char *wanted; /* the quote before the text; NULL: it was not found */
    record_text *text;
} record_walk;

static bool record_wrong(record_walk *w, const char *why) {
    if (!w->why) w->why = why;
    return false;
}

static void record_blanks(record_walk *w) {
    while (w->p < w->end && (*w->p == ' ' || *w->p == '\t' || *w->p == '\n' || *w->p == '\r'))
        w->p++;
}

static long record_hex4(const char *p) {
    long unit = 0;
    for (int i = 0; i < 4; i++) {
        const char c = p[i];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* p is behind the u; a high surrogate must have its low one behind it. */
static bool record_unicode(record_walk *w, char **out) {
    const char *const p = w->p;
    const long unit = w->end - p < 4 ? -1 : record_hex4(p);
    if (unit < 0) return record_wrong(w, "\\u needs four hexadecimal digits");
    w->p += 4;
    if (unit < 0xd800 || unit > 0xdfff) {
        if (out) *out = json_put_utf8(*out, (unsigned long)unit);
        return true;
    }
    const bool pair = unit < 0xdc00 && w->end - w->p >= 6 && w->p[0] == '\\' && w->p[1] == 'u';
    const long low = pair ? record_hex4(w->p + 2) : -1;
    if (low < 0xdc00 || low > 0xdfff) return record_wrong(w, "half of a surrogate pair");
    w->p += 6;
    const long code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    if (out) *out = json_put_utf8(*out, (unsigned long)code);
    return true;
}

/* Letters of escapes. */
static const char record_meant[256] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                       ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};

/* p is at the backslash. */
static inline bool record_escape(record_walk *w, char **out) {
    const char letter = w->p[1], byte = record_meant[(unsigned char)letter];
    if (byte) {
        w->p += 2;
        if (out) *(*out)++ = byte;
        return true;
    }
    if (++w->p == w->end) return record_wrong(w, "a string does not end");
    if (letter != 'u') return record_wrong(w, "an unknown escape in a string");
    w->p++;
    return record_unicode(w, out);
}

/* Sixteen bytes, compared at once: those for which it is true become 255, the others 0. */
typedef uint8_t record_bytes __attribute__((vector_size(16)));

/* Goes on to the first quote, backslash or control character; what stands before it is copied to
 * out, with up to 15 bytes more, unless that is NULL. */
static inline void record_plain(record_walk *w, char **out) {
    for (const char *p = w->p;; p += sizeof(record_bytes)) {
        record_bytes b;
        uint64_t half[2];
        memcpy(&b, p, sizeof b);
        const record_bytes found = (record_bytes)((b == '"') | (b == '\\') | (b < 0x20));
        memcpy(half, &found, sizeof half);
        if (out) memcpy(*out + (p - w->p), &b, sizeof b);
        if (!(half[0] | half[1])) continue;
        p += (half[0] ? __builtin_ctzll(half[0]) : 64 + __builtin_ctzll(half[1])) / 8;
        if (out) *out += p - w->p;
        w->p = p;
        return;
    }
}

/* p is at the quote; out: where the text goes that it stands for, or NULL. */
static inline __attribute__((always_inline)) bool record_walk_string(record_walk *w, char **out) {
    w->p++;
    for (;;) {
        if (out && record_can_avx512())
            w->p = record_blocks_avx512(w->p, record_meant, out);
        else
            record_plain(w, out);
        if (*w->p == '\\') {
            if (!record_escape(w, out)) return false;
            continue;
        }
        if (w->p == w->end) return record_wrong(w, "a string does not end");
        if (*w->p != '"') return record_wrong(w, "a control character in a string");
        w->p++;
        return true;
    }
}

static bool record_text_string(record_walk *w) {
    char *out = w->text->bytes;
    const char *const from = w->p + 1;
    if (!record_walk_string(w, &out)) return false;
    const size_t raw = (size_t)(w->p - 1 - from), length = (size_t)(out - w->text->bytes);
    w->text->raw = (json_value){from, raw, .string = true, .escaped = raw != length};
    w->text->length = length;
    return true;
}

static bool record_string(record_walk *w) {
    return w->p == w->wanted ? record_text_string(w) : record_walk_string(w, NULL);
}

static bool record_digits(record_walk *w) {
    const char *const from = w->p;
    while (w->p < w->end && *w->p >= '0' && *w->p <= '9') w->p++;
    return w->p > from || record_wrong(w, "not a number");
}

static bool record_number(record_walk *w) {
    w->p += *w->p == '-';
    const bool zero = w->p < w->end && *w->p == '0';
    if (zero)
        w->p++;
    else if (!record_digits(w))
        return false;
    if (w->p < w->end && *w->p == '.') {
        w->p++;
        if (!record_digits(w)) return false;
    }
    if (w->p < w->end && (*w->p == 'e' || *w->p == 'E')) {
        w->p++;
        if (w->p < w->end && (*w->p == '+' || *w->p == '-')) w->p++;
        if (!record_digits(w)) return false;
    }
    return true;
}

static bool record_word(record_walk *w) {
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        const size_t n = strlen(words[i]);
        if ((size_t)(w->end - w->p) >= n && memcmp(w->p, words[i], n) == 0) {
            w->p += n;
            return true;
        }
    }
    return record_wrong(w, "no JSON value");
}

static bool record_scalar(record_walk *w) {
    if (*w->p == '"') return record_string(w);
    if (*w->p == '-' || (*w->p >= '0' && *w->p <= '9')) return record_number(w);
    return record_word(w);
}

/* Behind a bracket or a comma of an object: the name and its colon. */
static bool record_name(record_walk *w) {
    record_blanks(w);
    if (w->p == w->end || *w->p != '"') return record_wrong(w, "a member without a name");
    if (!record_string(w)) return false;
    record_blanks(w);
    if (w->p == w->end || *w->p != ':') return record_wrong(w, "a name without a colon");
    w->p++;
    return true;
}

/* After a value: goes over closing brackets, up to the next value or the end. */
static bool record_after(record_walk *w, const char *open, size_t *depth) {
    for (;;) {
        record_blanks(w);
        if (*depth == 0) return true;
        if (w->p == w->end) return record_wrong(w, "the record is cut off");
        const bool object = open[*depth - 1] == '{';
        if (*w->p == ',') {
            w->p++;
            return !object || record_name(w);
        }
        if (*w->p != (object ? '}' : ']')) return record_wrong(w, "no comma between two values");
        w->p++;
        --*depth;
    }
}

/* A bracket opens; true in *empty if it closes at once. */
static bool record_open(record_walk *w, char *open, size_t *depth, bool *empty) {
    if (*depth == RECORD_DEPTH) return record_wrong(w, "more than 256 brackets inside each other");
    const char bracket = open[(*depth)++] = *w->p++;
    record_blanks(w);
    *empty = w->p < w->end && *w->p == (bracket == '{' ? '}' : ']');
    if (*empty) {
        w->p++;
        --*depth;
        return true;
    }
    return bracket != '{' || record_name(w);
}

static bool record_valid(record_walk *w) {
    char open[RECORD_DEPTH];
    size_t depth = 0;
    do {
        record_blanks(w);
        if (w->p == w->end) return record_wrong(w, "the record is cut off");
        bool empty = false;
        if (*w->p == '{' || *w->p == '[') {
            if (!record_open(w, open, &depth, &empty)) return false;
            if (!empty) continue;
        } else if (!record_scalar(w))
            return false;
        if (!record_after(w, open, &depth)) return false;
        if (depth == 0) break;
    } while (true);
    return w->p == w->end || record_wrong(w, "something stands behind the record");
}

record_state record_find(const char *p, const char *end, const json_path *path, record_text *text) {
    record_walk w = {.p = p, .end = end, .text = text};
    record_blanks(&w);
    if (w.p == end) return RECORD_BLANK;
    if (end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) w.p = p + 3;
    if (*w.p != '{')
        record_wrong(&w, "no JSON object");
    else {
        text->raw = (json_value){0};
        const json_found found = json_locate(p, end, path, &w.wanted);
        if (record_valid(&w)) {
            if (found != JSON_FOUND)
                record_wrong(&w, "it has no such member");
            else if (!text->raw.string)
                record_wrong(&w, "the member is no string");
            else if (text->raw.len > RECORD_TEXT_MAX)
                record_wrong(&w, "the text is longer than 2 GiB");
            else
                return RECORD_TEXT;
        }
    }
    text->why = w.why;
    return RECORD_BAD;
}

/* Bytes of the escape at p, and of what it stands for. */
static size_t record_escape_length(const char *p, const char *end, size_t *text) {
    char out[12];
    size_t n = 2;
    if (p[1] == 'u') {
        const long unit = record_hex4(p + 2);
        n = unit >= 0xd800 && unit <= 0xdbff && end - p >= 12 ? 12 : 6;
    }
    *text = json_unescape(p, n, out);
    return n;
}

void record_raw_offsets(const json_value *raw, uint32_t *at, size_t n) {
    const char *p = raw->p, *const end = p + raw->len;
    size_t text = 0;
    for (size_t i = 0; i < n; i++) {
        while (text < at[i] && p < end) {
            const char *const slash = memchr(p, '\\', (size_t)(end - p));
            const size_t plain = (size_t)((slash ? slash : end) - p);
            if (plain >= at[i] - text) {
                p += at[i] - text;
                text = at[i];
                break;
            }
            size_t stands;
            p += plain;
            text += plain;
            if (p == end) break;
            p += record_escape_length(p, end, &stands);
            text += stands;
        }
        at[i] = (uint32_t)(p - raw->p);
    }
}
