/* normal.c - normalisation: what two texts may differ in and still be the same unit.
 *
 * Text is taken run by run; a run ends at white space.  Most characters are plain: normalised they
 * are one character, whatever stands beside them, which a table of the first 65,536 code points
 * knows.  A run with any other character (a combining mark, a ligature, an emoji) goes through
 * utf8proc as a whole.  Bytes that are no UTF-8 stay as they are. */
#include "text.h"
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_UTF8PROC
#include <utf8proc.h>
#endif

enum {
    NORMAL_BMP = 0x10000,
    CLASS_SPACE = 1,
    CLASS_PUNCT = 2,
    CLASS_ALONE = 4, /* a word of its own: scripts without blanks between words */
    CLASS_HARD = 8,  /* not plain */
    KIND_LETTER = 1,
    KIND_SPACE = 2,
    NORMAL_BLOCK = 4096
};
struct normaliser {
    unsigned what;
    uint16_t map[NORMAL_BMP];
    uint8_t class[NORMAL_BMP];
    /* Of ASCII: whether it is passed on, and as what, or white space, or left out. */
    uint8_t kind[128];
    char low[128];
};

static const char *const normal_names[] = {"nfkc", "case", "space", "punct"};
enum { NORMAL_NAMES = 4 };

bool normal_read(const char *list, unsigned *what) {
    *what = 0;
    if (strcmp(list, "none") == 0) return true;
    for (const char *p = list;; p++) {
        const size_t n = strcspn(p, ",");
        int i = 0;
        while (i < NORMAL_NAMES && (strlen(normal_names[i]) != n || strncmp(p, normal_names[i], n)))
            i++;
        if (i == NORMAL_NAMES) return false;
        *what |= 1u << i;
        p += n;
        if (!*p) return true;
    }
}

const char *normal_print(unsigned what, char text[32]) {
    size_t n = 0;
    strcpy(text, "none");
    for (int i = 0; i < NORMAL_NAMES; i++)
        if (what >> i & 1)
            n += (size_t)snprintf(text + n, 32 - n, "%s%s", n ? "," : "", normal_names[i]);
    return text;
}

bool normal_has_unicode(void) {
#ifdef HAVE_UTF8PROC
    return true;
#else
    return false;
#endif
}

/* ---- The table. */

static bool normal_is_ascii_space(uint32_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Of ASCII, what Unicode calls punctuation; $+<=>^`|~ are symbols. */
static bool normal_is_ascii_punct(uint32_t c) {
    return c != 0 && c < 0x80 && strchr("!\"#%&'()*,-./:;?@[\\]_{}", (int)c) != NULL;
}

#ifdef HAVE_UTF8PROC
static utf8proc_option_t normal_options(unsigned what) {
    int options = 0;
    if (what & NORMAL_NFKC) options |= UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
    if (what & NORMAL_CASE) options |= UTF8PROC_CASEFOLD;
    return (utf8proc_option_t)options;
}

static uint8_t normal_class_of(int32_t c) {
    const utf8proc_category_t k = utf8proc_category(c);
    if (k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_PO) return CLASS_PUNCT;
    if (k == UTF8PROC_CATEGORY_ZS || k == UTF8PROC_CATEGORY_ZL || k == UTF8PROC_CATEGORY_ZP ||
        c == 0x85)
        return CLASS_SPACE;
    const bool alone = (c >= 0x0e00 && c < 0x0f00) || (c >= 0x1780 && c < 0x1800) ||
                       (c >= 0x3040 && c < 0x3100) || (c >= 0x3400 && c < 0xa000) ||
                       (c >= 0xf900 && c < 0xfb00) || (c >= 0x20000 && c < 0x40000);
    return alone ? CLASS_ALONE : 0;
}

/* Can a neighbour change it?  Marks join what stands before them, and so do Hangul letters. */
static bool normal_stands_alone(int32_t c) {
    const utf8proc_category_t k = utf8proc_category(c);
    const bool mark = k >= UTF8PROC_CATEGORY_MN && k <= UTF8PROC_CATEGORY_ME;
    return !mark && !(c >= 0x1100 && c < 0x1200) && k != UTF8PROC_CATEGORY_CN;
}

static void normal_set_wide(normaliser *z, int32_t c) {
    const utf8proc_option_t options = normal_options(z->what);
    int32_t out[4];
    z->class[c] = normal_class_of(c);
    z->map[c] = (uint16_t)c;
    if (z->class[c] & CLASS_SPACE && (z->what & (NORMAL_NFKC | NORMAL_SPACE)) == NORMAL_NFKC)
        z->class[c] = CLASS_HARD; /* it becomes a blank */
    if (!(z->what & (NORMAL_NFKC | NORMAL_CASE)) || z->class[c] & (CLASS_SPACE | CLASS_HARD))
        return;
    int last = 0;
    const utf8proc_ssize_t n = utf8proc_decompose_char(c, out, 4, options, &last);
    if (n == 1 && out[0] < NORMAL_BMP && normal_stands_alone(c) && normal_stands_alone(out[0]) &&
        normal_class_of(out[0]) == z->class[c])
        z->map[c] = (uint16_t)out[0];
    else if (n != 1 && normal_stands_alone(c) && z->what & NORMAL_NFKC && c >= 0xc0 && c < 0x2000) {
        /* Letters with marks: é comes apart, is folded, and is put together again. */
        utf8proc_uint8_t in[4], *whole = NULL;
        const utf8proc_ssize_t length = utf8proc_encode_char(c, in);
        const utf8proc_ssize_t got = utf8proc_map(in, length, &whole, options);
        int32_t one = -1;
        if (got > 0 && utf8proc_iterate(whole, got, &one) == got && one < NORMAL_BMP &&
            normal_stands_alone(one))
            z->map[c] = (uint16_t)one;
        else
            z->class[c] |= CLASS_HARD;
        free(whole);
    } else
        z->class[c] |= CLASS_HARD;
}
#else
static void normal_set_wide(normaliser *z, int32_t c) {
    z->map[c] = (uint16_t)c;
}
#endif

static void normal_fill(normaliser *z) {
    for (int32_t c = 0; c < NORMAL_BMP; c++) {
        if (c >= 0x80) {
            normal_set_wide(z, c);
            continue;
        }
        z->map[c] = (uint16_t)(z->what & NORMAL_CASE && c >= 'A' && c <= 'Z' ? c + 32 : c);
        z->class[c] = normal_is_ascii_space((uint32_t)c)   ? CLASS_SPACE
                      : normal_is_ascii_punct((uint32_t)c) ? CLASS_PUNCT
                                                           : 0;
        z->low[c] = (char)(z->class[c] & CLASS_SPACE ? ' ' : z->map[c]);
        z->kind[c] = z->class[c] & CLASS_SPACE                             ? KIND_SPACE
                     : z->class[c] & CLASS_PUNCT && z->what & NORMAL_PUNCT ? 0
                                                                           : KIND_LETTER;
    }
}

const normaliser *normaliser_new(unsigned what) {
    static normaliser *made[16];
    if (!made[what]) {
        made[what] = cli_alloc(sizeof **made);
        memset(made[what], 0, sizeof **made);
        made[what]->what = what;
        normal_fill(made[what]);
    }
    return made[what];
}

bool normaliser_joins(const normaliser *z) {
    return (z->what & NORMAL_SPACE) != 0;
}

/* ---- Output. */

/* Where the line stands, and the words of the run under way. */
typedef struct normal_run {
    const normaliser *z;
    normalised *to;
    const char *text;
    uint32_t at;        /* in the text */
    uint32_t run_begin; /* in the text */
    size_t run_out;     /* length of the output at its begin */
    size_t run_words, run_counted;
    bool in_word;
} normal_run;

static void normal_room(normalised *to, size_t more) {
    if (more > UINT32_MAX - to->n) cli_fail("a normalised text is longer than 4 GiB");
    if (to->n + more > to->cap) to->bytes = cli_grow(to->bytes, &to->cap, to->n + more);
}

static void normal_word_begin(normal_run *r, uint32_t source) {
    normalised *const to = r->to;
    r->in_word = true;
    to->counted++;
    if (!to->want_words) return;
    to->word = cli_grow(to->word, &to->word_cap, (to->words + 1) * sizeof *to->word);
    to->source = cli_grow(to->source, &to->source_cap, (to->words + 1) * sizeof *to->source);
    to->word[to->words] = (span){(uint32_t)to->n, (uint32_t)to->n};
    to->source[to->words++] = (span){source, source};
}

/* The character that was just put ends at `source`. */
static inline void normal_word_reaches(normal_run *r, uint32_t source) {
    normalised *const to = r->to;
    if (!to->want_words) return;
    to->word[to->words - 1].end = (uint32_t)to->n;
    to->source[to->words - 1].end = source;
}

static void normal_put(normal_run *r, const char *bytes, size_t n, uint8_t class, uint32_t begin,
                       uint32_t end) {
    if (class & CLASS_ALONE) r->in_word = false;
    if (!r->in_word) normal_word_begin(r, begin);
    normal_room(r->to, n);
    memcpy(r->to->bytes + r->to->n, bytes, n);
    r->to->n += n;
    normal_word_reaches(r, end);
    if (class & CLASS_ALONE) r->in_word = false;
}

static size_t normal_encode(uint32_t c, char out[4]) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 0x3f));
    out[2] = (char)(0x80 | (c & 0x3f));
    return 3;
}

/* A code point of two or three bytes, and how many; 0: something else. */
static size_t normal_decode(const unsigned char *p, size_t n, uint32_t *c) {
    if (n >= 2 && p[0] >= 0xc2 && p[0] < 0xe0 && p[1] >> 6 == 2) {
        *c = (uint32_t)(p[0] & 0x1f) << 6 | (p[1] & 0x3f);
        return 2;
    }
    if (n >= 3 && p[0] >> 4 == 14 && p[1] >> 6 == 2 && p[2] >> 6 == 2) {
        *c = (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
        return *c >= 0x800 && (*c < 0xd800 || *c > 0xdfff) ? 3 : 0;
    }
    return 0;
}

/* ---- Runs. */

static void normal_new_run(normal_run *r) {
    r->run_begin = r->at;
    r->run_out = r->to->n;
    r->run_words = r->to->words;
    r->run_counted = r->to->counted;
    r->in_word = false;
}

static void normal_space(normal_run *r, uint32_t length) {
    normalised *const to = r->to;
    if (!(r->z->what & NORMAL_SPACE)) {
        normal_room(to, length);
        memcpy(to->bytes + to->n, r->text + r->at, length);
        to->n += length;
    } else if (to->n > r->run_out) {
        normal_room(to, 1);
        to->bytes[to->n++] = ' ';
    }
    r->at += length;
    normal_new_run(r);
}

/* White space that is not ASCII ends no hard run: one that holds it is rare, and the same text is
 * always cut in the same way. */
static uint32_t normal_run_end(const normal_run *r, uint32_t end) {
    uint32_t at = r->at;
    while (at < end && !normal_is_ascii_space((unsigned char)r->text[at])) at++;
    return at;
}

/* Bytes of a run that has a character that is not plain. */
static void normal_raw(normal_run *r, uint32_t end) {
    for (; r->at < end; r->at++) {
        const unsigned char c = (unsigned char)r->text[r->at];
        const uint8_t class = c < 0x80 ? r->z->class[c] : 0;
        const char low = (char)(c < 0x80 ? r->z->map[c] : c);
        if (class & CLASS_PUNCT && r->z->what & NORMAL_PUNCT) continue;
        normal_put(r, &low, 1, class, r->run_begin, end);
    }
}

#ifdef HAVE_UTF8PROC
static bool normal_hard(normal_run *r, uint32_t end) {
    utf8proc_uint8_t *whole = NULL;
    const utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)r->text + r->run_begin,
                                            end - r->run_begin, &whole, normal_options(r->z->what));
    if (n < 0) return false;
    for (utf8proc_ssize_t i = 0, step; i < n; i += step) {
        int32_t c;
        step = utf8proc_iterate(whole + i, n - i, &c);
        if (step <= 0) break; /* never: it was just made */
        const uint8_t class = c < 0x80 ? r->z->class[c] : normal_class_of(c);
        if (class & CLASS_PUNCT && r->z->what & NORMAL_PUNCT) continue;
        if (class & CLASS_SPACE && r->z->what & NORMAL_SPACE) {
            r->in_word = false;
            continue;
        }
        normal_put(r, (const char *)whole + i, (size_t)step, class, r->run_begin, end);
    }
    free(whole);
    return true;
}
#else
static bool normal_hard(normal_run *r, uint32_t end) {
    (void)r, (void)end;
    return false;
}
#endif

static void normal_run_again(normal_run *r, uint32_t end) {
    const uint32_t stop = normal_run_end(r, end);
    r->to->n = r->run_out;
    r->to->words = r->run_words;
    r->to->counted = r->run_counted;
    r->in_word = false;
    r->at = r->run_begin;
    if (!normal_hard(r, stop)) normal_raw(r, stop);
    r->at = stop;
}

/* A character that is not ASCII. */
static void normal_wide(normal_run *r, uint32_t end) {
    uint32_t c = 0;
    char out[4];
    const size_t n = normal_decode((const unsigned char *)r->text + r->at, end - r->at, &c);
    if (n == 0 || r->z->class[c] & CLASS_HARD) {
        normal_run_again(r, end);
        return;
    }
    const uint8_t class = r->z->class[c];
    if (class & CLASS_SPACE) {
        normal_space(r, (uint32_t)n);
        return;
    }
    if (!(class & CLASS_PUNCT && r->z->what & NORMAL_PUNCT))
        normal_put(r, out, normal_encode(r->z->map[c], out), class, r->at, r->at + (uint32_t)n);
    r->at += (uint32_t)n;
}

/* Letters of ASCII, one after the other, of one word. */
static void normal_ascii(normal_run *r, uint32_t end) {
    const normaliser *const z = r->z;
    const unsigned char *const text = (const unsigned char *)r->text;
    const uint8_t skip = z->what & NORMAL_PUNCT ? CLASS_PUNCT : 0;
    uint32_t at = r->at, reached = at;
    normal_room(r->to, end - at);
    char *const start = r->to->bytes + r->to->n, *out = start;
    for (; at < end && text[at] < 0x80; at++) {
        const uint8_t class = z->class[text[at]];
        if (class & CLASS_SPACE) break;
        if (class & skip) continue;
        if (out == start && !r->in_word) normal_word_begin(r, at);
        *out++ = (char)z->map[text[at]];
        reached = at + 1;
    }
    r->at = at;
    if (out == start) return;
    r->to->n += (size_t)(out - start);
    normal_word_reaches(r, reached);
}

/* Text of ASCII, words and white space, if white space becomes one blank.  Where words end cannot
 * be foretold, so nothing branches on it: each byte is written, and counts or not.  Ends at a byte
 * that is not ASCII; *spaces: white space was met. */
static inline __attribute__((always_inline)) void normal_block(normal_run *r, uint32_t end,
                                                               bool want_words, bool *spaces) {
    const normaliser *const z = r->z;
    normalised *const to = r->to;
    const unsigned char *const text = (const unsigned char *)r->text;
    span *const word = to->word, *const source = to->source;
    char *const bytes = to->bytes;
    uint32_t at = r->at, n = (uint32_t)to->n, any = 0;
    uint32_t empty = !r->in_word; /* of the run */
    size_t words = to->words, counted = to->counted;
    uint32_t word_end = words && want_words ? word[words - 1].end : 0;
    uint32_t source_end = words && want_words ? source[words - 1].end : 0;
    for (; at < end && text[at] < 0x80; at++) {
        const uint32_t kind = z->kind[text[at]], letter = kind & KIND_LETTER, space = kind >> 1;
        bytes[n] = z->low[text[at]];
        if (want_words) {
            word[words].begin = n;
            source[words].begin = at;
            words += letter & empty;
            word_end = letter ? n + 1 : word_end;
            source_end = letter ? at + 1 : source_end;
            const size_t last = words - (words > 0);
            word[last].end = word_end;
            source[last].end = source_end;
        }
        counted += letter & empty;
        n += letter | (space & (empty ^ 1));
        empty = (empty & (letter ^ 1)) | space;
        any |= space;
    }
    r->at = at;
    r->in_word = !empty;
    to->n = n;
    to->words = words;
    to->counted = counted;
    *spaces |= any != 0;
}

static void normal_blocks(normal_run *r, uint32_t end, size_t from) {
    normalised *const to = r->to;
    bool spaces = false;
    const uint32_t start = r->at;
    while (r->at < end && (unsigned char)r->text[r->at] < 0x80) {
        const uint32_t stop = end - r->at > NORMAL_BLOCK ? r->at + NORMAL_BLOCK : end;
        normal_room(to, stop - r->at + 1);
        if (to->want_words) {
            const size_t most = to->words + (stop - r->at) / 2 + 2;
            to->word = cli_grow(to->word, &to->word_cap, most * sizeof *to->word);
            to->source = cli_grow(to->source, &to->source_cap, most * sizeof *to->source);
            normal_block(r, stop, true, &spaces);
        } else
            normal_block(r, stop, false, &spaces);
    }
    if (!spaces || r->at == end) return;
    /* Where the run began that goes on with another character. */
    r->run_begin = r->at;
    while (r->run_begin > start &&
           r->z->kind[(unsigned char)r->text[r->run_begin - 1]] != KIND_SPACE)
        r->run_begin--;
    r->run_out = to->n;
    while (r->run_out > from && to->bytes[r->run_out - 1] != ' ') r->run_out--;
    r->run_words = to->words - (r->in_word && to->want_words);
    r->run_counted = to->counted - r->in_word;
}

/* A line of ASCII that stays as it is; only its words are counted. */
static bool normal_copy(const char *line, size_t n, normalised *to) {
    unsigned all = 0, space = 1;
    size_t words = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned c = (unsigned char)line[i], before = space;
        all |= c;
        space = (unsigned)(c == ' ') | (unsigned)(c - '\t' <= '\r' - '\t');
        words += before & (space ^ 1);
    }
    if (all >= 0x80) return false;
    normal_room(to, n);
    if (n > 0) memcpy(to->bytes + to->n, line, n);
    to->n += n;
    to->counted += words;
    return true;
}

void normalise_line(const normaliser *z, const char *text, uint32_t begin, uint32_t end,
                    normalised *to) {
    if (z->what == 0 && !to->want_words && normal_copy(text + begin, end - begin, to)) return;
    normal_run r = {.z = z, .to = to, .text = text, .at = begin};
    const size_t from = to->n;
    normal_new_run(&r);
    while (r.at < end) {
        const unsigned char c = (unsigned char)text[r.at];
        if (c >= 0x80)
            normal_wide(&r, end);
        else if (z->what & NORMAL_SPACE && r.in_word == (to->n > r.run_out))
            normal_blocks(&r, end, from);
        else if (normal_is_ascii_space(c))
            normal_space(&r, 1);
        else
            normal_ascii(&r, end);
    }
    if (z->what & NORMAL_SPACE && to->n > from && to->bytes[to->n - 1] == ' ') to->n--;
}

void normalised_free(normalised *n) {
    free(n->bytes);
    free(n->word);
    free(n->source);
    *n = (normalised){0};
}
