/* json.c - one value of a JSON document by its path, without reading what is not needed.
 *
 * A walk from the first byte to the value.  Members on the way are skipped: a string ends at the
 * first quote with an even number of backslashes before it, an object or an array at the bracket
 * that closes it, strings inside left out of account. */
#include "json.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- Skipping.  Each returns where the walk goes on, or NULL if the document ends too early. */

static const char *skip_blanks(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) p++;
    return p;
}

/* p is behind the opening quote; the result is at the closing one. */
static const char *string_end(const char *p, const char *end) {
    const char *const start = p;
    while ((p = memchr(p, '"', (size_t)(end - p))) != NULL) {
        const char *back = p;
        while (back > start && back[-1] == '\\') back--;
        if ((p - back) % 2 == 0) return p;
        p++;
    }
    return NULL;
}

static const char *skip_nested(const char *p, const char *end) {
    size_t depth = 0;
    for (; p < end; p++) {
        if (*p == '"') {
            p = string_end(p + 1, end);
            if (!p) return NULL;
        } else if (*p == '{' || *p == '[')
            depth++;
        else if ((*p == '}' || *p == ']') && --depth == 0)
            return p + 1;
    }
    return NULL;
}

/* A number, true, false or null, by the letters that it may have. */
static const char *skip_word(const char *p, const char *end) {
    const char *const start = p;
    while (p < end && ((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || *p == '-' ||
                       *p == '+' || *p == '.' || *p == 'E'))
        p++;
    return p > start ? p : NULL;
}

static const char *skip_value(const char *p, const char *end) {
    if (p == end) return NULL;
    if (*p == '{' || *p == '[') return skip_nested(p, end);
    if (*p != '"') return skip_word(p, end);
    p = string_end(p + 1, end);
    return p ? p + 1 : NULL;
}

/* ---- Names. */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Four hexadecimal digits; -1: they are not there. */
static long read_unit(const char *p, const char *end) {
    long unit = 0;
    if (end - p < 4) return -1;
    for (int i = 0; i < 4; i++) {
        const int digit = hex_digit(p[i]);
        if (digit < 0) return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

char *json_put_utf8(char *out, unsigned long code) {
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    *out++ = (char)(lead[more] | code >> 6 * more);
    for (int i = more - 1; i >= 0; i--) *out++ = (char)(0x80 | (code >> 6 * i & 0x3f));
    return out;
}

/* \uXXXX at p, which is behind the u.  Two surrogates are one character; one alone is U+FFFD. */
static const char *put_unicode(const char *p, const char *end, char **out) {
    long code = read_unit(p, end);
    if (code < 0) return NULL;
    p += 4;
    if (code >= 0xd800 && code < 0xe000) {
        const long low = end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? read_unit(p + 2, end) : -1;
        if (code < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            p += 6;
        } else
            code = 0xfffd;
    }
    *out = json_put_utf8(*out, (unsigned long)code);
    return p;
}

size_t json_unescape(const char *p, size_t len, char *out) {
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *const end = p + len, *const start = out;
    while (p < end) {
        if (*p != '\\') {
            *out++ = *p++;
            continue;
        }
        if (++p == end) return SIZE_MAX;
        if (*p == 'u') {
            p = put_unicode(p + 1, end, &out);
            if (!p) return SIZE_MAX;
            continue;
        }
        const char *const at = memchr(letters, *p, sizeof letters - 1);
        if (!at) return SIZE_MAX;
        *out++ = meant[at - letters];
        p++;
    }
    return (size_t)(out - start);
}

/* Names with escapes are rare, and no longer than the step's name if they are the same. */
static bool name_is(const char *p, const char *stop, const json_step *step) {
    enum { ESCAPE_MAX = 6 }; /* bytes of an escape for each byte of its text */
    const size_t len = (size_t)(stop - p);
    if (len == step->len && memcmp(p, step->name, len) == 0) return !memchr(p, '\\', len);
    if (len <= step->len || len > ESCAPE_MAX * step->len || !memchr(p, '\\', len)) return false;
    char *const text = malloc(len);
    if (!text) return false;
    const size_t n = json_unescape(p, len, text);
    const bool same = n == step->len && memcmp(text, step->name, n) == 0;
    free(text);
    return same;
}

/* ---- The walk.  p becomes the start of the value. */

static json_found find_member(const char **at, const char *end, const json_step *step) {
    const char *p = *at;
    if (*p != '{') return JSON_MISSING;
    p = skip_blanks(p + 1, end);
    while (p < end && *p == '"') {
        const char *const name = p + 1, *const stop = string_end(name, end);
        if (!stop) return JSON_BROKEN;
        p = skip_blanks(stop + 1, end);
        if (p == end || *p != ':') return JSON_BROKEN;
        p = skip_blanks(p + 1, end);
        if (p == end) return JSON_BROKEN;
        if (name_is(name, stop, step)) {
            *at = p;
            return JSON_FOUND;
        }
        p = skip_value(p, end);
        if (!p) return JSON_BROKEN;
        p = skip_blanks(p, end);
        if (p == end || *p != ',') break;
        p = skip_blanks(p + 1, end);
    }
    return p < end && *p == '}' ? JSON_MISSING : JSON_BROKEN;
}

static json_found find_element(const char **at, const char *end, uint64_t index) {
    const char *p = *at;
    if (*p != '[') return JSON_MISSING;
    p = skip_blanks(p + 1, end);
    if (p < end && *p == ']') return JSON_MISSING;
    for (uint64_t i = 0; p < end; i++) {
        if (i == index) {
            *at = p;
            return JSON_FOUND;
        }
        p = skip_value(p, end);
        if (!p) return JSON_BROKEN;
        p = skip_blanks(p, end);
        if (p == end) return JSON_BROKEN;
        if (*p == ']') return JSON_MISSING;
        if (*p != ',') return JSON_BROKEN;
        p = skip_blanks(p + 1, end);
    }
    return JSON_BROKEN;
}

static json_found take_value(const char *p, const char *end, json_value *value) {
    const char *const stop = skip_value(p, end);
    if (!stop) return JSON_BROKEN;
    const bool string = *p == '"';
    *value = (json_value){p + string, (size_t)(stop - p) - 2 * string, string, false};
    value->escaped = string && memchr(value->p, '\\', value->len);
    return JSON_FOUND;
}

json_found json_locate(const char *p, const char *end, const json_path *path, const char **value) {
    *value = NULL;
    if (end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3; /* a byte order mark */
    p = skip_blanks(p, end);
    if (p == end || (*p != '{' && *p != '[')) return JSON_BROKEN;
    for (size_t i = 0; i < path->n; i++) {
        const json_step *const step = &path->step[i];
        const json_found found =
            step->name ? find_member(&p, end, step) : find_element(&p, end, step->index);
        if (found != JSON_FOUND) return found;
        assert(p < end);
    }
    *value = p;
    return JSON_FOUND;
}

json_found json_find(const char *p, const char *end, const json_path *path, json_value *value) {
    const char *from;
    const json_found found = json_locate(p, end, path, &from);
    return found == JSON_FOUND ? take_value(from, end, value) : found;
}

/* ---- Paths. */

/* A name up to a dot or a bracket, or in quotes, a quote inside doubled. */
static bool read_name(const char **at, const char *end, char **names, json_step *step) {
    const char *p = *at;
    char *to = *names;
    const bool quoted = p < end && *p == '"';
    for (p += quoted; p < end && (quoted || (*p != '.' && *p != '[')); p++) {
        if (quoted && *p == '"') {
            if (p + 1 == end || p[1] != '"') break;
            p++;
        }
        *to++ = *p;
    }
    if (quoted && (p == end || *p++ != '"')) return false;
    *step = (json_step){.name = *names, .len = (size_t)(to - *names)};
    *names = to;
    *at = p;
    return quoted || step->len > 0;
}

static bool read_element(const char **at, const char *end, json_step *step) {
    const char *p = *at + 1;
    *step = (json_step){0};
    for (int digits = 0; p < end && *p >= '0' && *p <= '9' && digits < 9; digits++)
        step->index = step->index * 10 + (uint64_t)(*p++ - '0');
    if (p == end || *p != ']' || p == *at + 1) return false;
    *at = p + 1;
    return true;
}

bool json_path_read(const char *text, size_t len, json_path *path) {
    const char *p = text, *const end = text + len;
    *path = (json_path){.step = malloc((len + 1) * sizeof *path->step + len)};
    if (!path->step) return false;
    char *names = (char *)(path->step + len + 1);
    bool good = len > 0;
    while (good && p < end) {
        json_step *const step = &path->step[path->n];
        if (*p == '[')
            good = read_element(&p, end, step);
        else {
            if (path->n > 0) good = *p++ == '.';
            good = good && read_name(&p, end, &names, step);
        }
        path->n += good;
    }
    if (!good) json_path_free(path);
    return good;
}

void json_path_free(json_path *path) {
    free(path->step);
    *path = (json_path){0};
}
