/* normal.c - normalisation: what two texts may differ in and still be the same unit.
 *
 * Text is taken run by run; a run ends at white space.  Most characters are plain: normalised they
 * are one character, whatever stands beside them, which a table of the first 65,536 code points
 * knows.  A run with any other character (a combining mark, a ligature, an emoji) goes through
 * utf8proc as a whole.  Bytes that are no UTF-8 stay as they are.
 *
 * ASCII is most of most texts: it is taken a block at a time, if there is AVX2 by normal_avx2.c,
 * which must do what normal_block does. */
#include "normal.h"
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_UTF8PROC
#include <utf8proc.h>
#endif

enum { CLASS_SPACE = 1, CLASS_PUNCT = 2, CLASS_ALONE = 4, CLASS_HARD = 8 };
enum { NORMAL_BLOCK = 4096, NORMAL_FEW = 16 }; /* bytes */
/* ALONE: a word of its own, in scripts without blanks between words.  HARD: not plain. */

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

bool normaliser_joins(const normaliser *z) {
    return (z->what & NORMAL_SPACE) != 0;
}

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
        const bool space = (z->class[c] & CLASS_SPACE) != 0;
        const bool left_out = z->class[c] & CLASS_PUNCT && z->what & NORMAL_PUNCT;
        z->low[c] = (char)(space && normaliser_joins(z) ? ' ' : z->map[c]);
        z->kind[c] = space ? KIND_SPACE : left_out ? 0 : KIND_LETTER;
        z->spaces[c & 15] |= (uint8_t)(space << (c >> 4));
        z->left_out[c & 15] |= (uint8_t)(left_out << (c >> 4));
    }
    for (unsigned m = 0; m < 256; m++)
        for (unsigned bit = 0, n = 0; bit < 8; bit++)
            if (m >> bit & 1) z->places[m] |= (uint64_t)bit << 8 * n++;
    z->has_avx2 = normal_can_avx2();
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

/* ---- Output. */

void normal_room(normalised *to, size_t more) {
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
static uint32_t normal_run_end(const normal_run *r) {
    uint32_t at = r->at;
    while (at < r->end && !normal_is_ascii_space((unsigned char)r->text[at])) at++;
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

static void normal_run_again(normal_run *r) {
    const uint32_t stop = normal_run_end(r);
    r->to->n = r->run_out;
    r->to->words = r->run_words;
    r->to->counted = r->run_counted;
    r->in_word = false;
    r->at = r->run_begin;
    if (!normal_hard(r, stop)) normal_raw(r, stop);
    r->at = stop;
}

/* A character that is not ASCII. */
static void normal_wide(normal_run *r) {
    uint32_t c = 0;
    char out[4];
    const size_t n = normal_decode((const unsigned char *)r->text + r->at, r->end - r->at, &c);
    if (n == 0 || r->z->class[c] & CLASS_HARD) {
        normal_run_again(r);
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

/* ASCII up to `end`; false: the run is still the same.  Where words end cannot be foretold, so
 * nothing branches on it: each byte is written, and counts or not. */
static inline __attribute__((always_inline)) bool normal_block(normal_run *r, uint32_t end,
                                                               bool want_words) {
    const normaliser *const z = r->z;
    normalised *const to = r->to;
    const unsigned char *const text = (const unsigned char *)r->text;
    span *const word = to->word, *const source = to->source;
    char *const bytes = to->bytes;
    const uint32_t all = !normaliser_joins(z);
    uint32_t at = r->at, n = (uint32_t)to->n, any = 0;
    uint32_t empty = to->n == r->run_out, apart = !r->in_word; /* of the run; of words */
    size_t words = to->words, counted = to->counted, newlines = to->newlines;
    uint32_t word_end = words && want_words ? word[words - 1].end : 0;
    uint32_t source_end = words && want_words ? source[words - 1].end : 0;
    for (; at < end && text[at] < 0x80; at++) {
        const uint32_t kind = z->kind[text[at]], letter = kind & KIND_LETTER, space = kind >> 1;
        bytes[n] = z->low[text[at]];
        if (want_words) {
            word[words].begin = n;
            source[words].begin = at;
            words += letter & apart;
            word_end = letter ? n + 1 : word_end;
            source_end = letter ? at + 1 : source_end;
            const size_t last = words - (words > 0);
            word[last].end = word_end;
            source[last].end = source_end;
        }
        if (to->want_newlines) {
            to->newline[newlines] = (text_place){at, n};
            newlines += text[at] == '\n';
        }
        counted += letter & apart;
        n += letter | (space & (all | (empty ^ 1)));
        empty = (empty & (letter ^ 1)) | space;
        apart = (apart & (letter ^ 1)) | space;
        any |= space;
    }
    r->at = at;
    r->in_word = !apart;
    to->n = n;
    to->words = words;
    to->counted = counted;
    to->newlines = newlines;
    return any != 0;
}

/* A little of it: one block. */
static bool normal_some(normal_run *r, uint32_t most) {
    normalised *const to = r->to;
    const uint32_t n = r->end - r->at < most ? r->end - r->at : most;
    normal_room(to, n + 1);
    if (to->want_newlines)
        to->newline =
            cli_grow(to->newline, &to->newline_cap, (to->newlines + n + 1) * sizeof *to->newline);
    if (!to->want_words) return normal_block(r, r->at + n, false);
    const size_t words = to->words + n / 2 + 2;
    to->word = cli_grow(to->word, &to->word_cap, words * sizeof *to->word);
    to->source = cli_grow(to->source, &to->source_cap, words * sizeof *to->source);
    return normal_block(r, r->at + n, true);
}

/* Where the run began that is under way, in ASCII that began at `from`. */
static void normal_find_run(normal_run *r, uint32_t from) {
    normalised *const to = r->to;
    size_t letters = 0;
    r->run_begin = r->at;
    for (; r->run_begin > from; r->run_begin--) {
        const uint8_t kind = r->z->kind[(unsigned char)r->text[r->run_begin - 1]];
        if (kind == KIND_SPACE) break;
        letters += kind;
    }
    r->run_out = to->n - letters;
    r->run_words = to->words - (r->in_word && to->want_words);
    r->run_counted = to->counted - r->in_word;
}

static void normal_ascii(normal_run *r) {
    const uint32_t from = r->at;
    const bool in_step = r->in_word == (r->to->n > r->run_out);
    const bool alone = from + 1 < r->end && (unsigned char)r->text[from + 1] >= 0x80;
    const bool fast = r->z->has_avx2 && in_step && !alone;
    if (fast ? normal_blocks_avx2(r) : normal_some(r, r->z->has_avx2 ? NORMAL_FEW : NORMAL_BLOCK))
        normal_find_run(r, from);
}

void normalise_text(const normaliser *z, const char *text, uint32_t length, normalised *to) {
    normal_run r = {.z = z, .to = to, .text = text, .end = length};
    const size_t from = to->n;
    to->newlines = 0;
    normal_new_run(&r);
    while (r.at < length)
        if ((unsigned char)text[r.at] < 0x80)
            normal_ascii(&r);
        else
            normal_wide(&r);
    if (normaliser_joins(z) && to->n > from && to->bytes[to->n - 1] == ' ') to->n--;
}

void normalised_free(normalised *n) {
    free(n->bytes);
    free(n->word);
    free(n->source);
    free(n->newline);
    *n = (normalised){0};
}
