/* render.c - what is passed on of a chunk.
 *
 * Records that stay are copied as they are.  From the others, bytes of the text are left out, or an
 * annotation is put before the bracket that closes the record: nothing is written anew. */
#include "corpus.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define RENDER_MEMBER "everbloom"

static void render_put(chunk *c, const char *bytes, size_t n) {
    c->out = cli_grow(c->out, &c->out_cap, c->out_n + n + 1);
    memcpy(c->out + c->out_n, bytes, n);
    c->out_n += n;
}

__attribute__((format(printf, 2, 3))) static void render_print(chunk *c, const char *format, ...) {
    char text[200];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    render_put(c, text, (size_t)n);
}

/* ---- Spans. */

static bool render_continues(const char *text, uint32_t at) {
    return (unsigned char)text[at] >> 6 == 2; /* inside a character */
}

static int render_compare(const void *a, const void *b) {
    const span *const x = a, *const y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static size_t render_join(span *s, size_t n) {
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (used > 0 && s[i].begin <= s[used - 1].end) {
            if (s[i].end > s[used - 1].end) s[used - 1].end = s[i].end;
        } else
            s[used++] = s[i];
    }
    return used;
}

/* Appends the spans of what a matcher has seen to the first n of c->cut; repeats inside the
 * document as well if that is asked for. */
static size_t render_spans(const corpus_run *run, chunk *c, const document *d, size_t m, bool cut,
                           size_t n) {
    const size_t from = n;
    const size_t rule = run->match[m].rule, first = d->first[rule];
    const unit_list *const list = &c->list[rule];
    for (size_t i = first; i < first + d->units[rule]; i++) {
        if (!c->seen[m][i] && !(cut && run->match[m].own && list->repeat[i])) continue;
        const span s = list->at[i];
        if (n > from && s.begin >= c->cut[n - 1].begin && s.begin <= c->cut[n - 1].end) {
            if (s.end > c->cut[n - 1].end) c->cut[n - 1].end = s.end; /* the usual, of n-grams */
            continue;
        }
        c->cut = cli_grow(c->cut, &c->cut_cap, (n + 1) * sizeof *c->cut);
        c->cut[n++] = s;
    }
    return n;
}

/* ---- remove. */

static size_t render_words(const char *text, span s) {
    size_t words = 0;
    bool inside = false;
    for (uint32_t i = s.begin; i < s.end; i++) {
        const bool blank = text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r');
        words += !blank && !inside;
        inside = !blank;
    }
    return words;
}

static void render_cut(chunk *c, const document *d, size_t n, bool json) {
    uint32_t *const at = cli_alloc((2 * n + 2) * sizeof *at);
    size_t gone = 0, words = 0;
    at[0] = 0;
    for (size_t i = 0; i < n; i++) {
        at[2 * i + 1] = c->cut[i].begin;
        at[2 * i + 2] = c->cut[i].end;
        gone += c->cut[i].end - c->cut[i].begin;
        words += render_words(d->text, c->cut[i]);
    }
    at[2 * n + 1] = d->length;
    if (json && d->raw.escaped) record_raw_offsets(&d->raw, at, 2 * n + 2);
    render_put(c, c->bytes + d->begin, (size_t)(d->raw.p - (c->bytes + d->begin)));
    for (size_t i = 0; i <= n; i++) render_put(c, d->raw.p + at[2 * i], at[2 * i + 1] - at[2 * i]);
    const char *const behind = d->raw.p + d->raw.len;
    render_put(c, behind, (size_t)(c->bytes + d->end - behind));
    c->kept.kept_bytes += d->length - gone;
    c->kept.kept_words += d->words - (words < d->words ? words : d->words);
    free(at);
}

/* So many characters more on each side. */
static span render_widen(const char *text, uint32_t length, span s, uint64_t by) {
    for (uint64_t i = 0; i < by && s.begin > 0; i++) do
            s.begin--;
        while (s.begin > 0 && render_continues(text, s.begin));
    for (uint64_t i = 0; i < by && s.end < length; i++) do
            s.end++;
        while (s.end < length && render_continues(text, s.end));
    return s;
}

static size_t render_cuts(const corpus_run *run, chunk *c, const document *d) {
    size_t n = 0;
    for (size_t m = 0; m < run->matchers; m++) {
        const unit_kind kind = run->rule[run->match[m].rule].kind;
        const size_t from = n;
        if (kind == UNIT_DOCUMENT || kind == UNIT_NEAR) continue; /* these drop it whole */
        n = render_spans(run, c, d, m, true, n);
        for (size_t i = from; i < n; i++) {
            const uint64_t more = run->match[m].own ? 0 : corpus_of(run->set)->context;
            c->cut[i] = more ? render_widen(d->text, d->length, c->cut[i], more)
                             : units_removal(kind, c->cut[i], d->text, d->length);
        }
    }
    if (n == 0) return 0;
    qsort(c->cut, n, sizeof *c->cut, render_compare);
    n = render_join(c->cut, n);
    /* What is left does not end with the blanks before something that was taken out. */
    span *const last = &c->cut[n - 1];
    if (last->end == d->length) *last = units_removal(UNIT_PARAGRAPH, *last, d->text, d->length);
    return render_join(c->cut, n);
}

/* ---- annotate. */

/* Bytes of the text to characters, as Python counts them; ascending. */
static void render_characters(const document *d, span *s, size_t n) {
    uint32_t at = 0, characters = 0;
    for (size_t i = 0; i < n; i++)
        for (int side = 0; side < 2; side++) {
            uint32_t *const offset = side ? &s[i].end : &s[i].begin;
            for (; at < *offset; at++) characters += !render_continues(d->text, at);
            *offset = characters;
        }
}

static void render_name(chunk *c, const char *name) { /* of a file: any bytes */
    render_put(c, "\"", 1);
    for (; *name; name++)
        if ((unsigned char)*name < 0x20 || *name == '"' || *name == '\\')
            render_print(c, "\\u%04x", (unsigned)*name);
        else
            render_put(c, name, 1);
    render_put(c, "\":", 2);
}

static void render_finding(const corpus_run *run, chunk *c, const document *d, size_t m) {
    const size_t rule = run->match[m].rule, first = d->first[rule];
    size_t units = d->units[rule], seen = 0;
    for (size_t i = first; i < first + units; i++) seen += c->seen[m][i];
    size_t n = render_spans(run, c, d, m, false, 0);
    n = render_join(c->cut, n);
    render_characters(d, c->cut, n);
    render_name(c, run->match[m].name);
    if (run->rule[rule].kind == UNIT_NEAR)
        render_print(c, "{\"bands\":%zu,\"seen\":%zu,\"share\":%d", units, seen, seen > 0);
    else
        render_print(c, "{\"units\":%zu,\"seen\":%zu,\"share\":%.6g", units, seen,
                     units ? (double)seen / (double)units : 0);
    render_put(c, ",\"spans\":[", 10);
    for (size_t i = 0; i < n; i++)
        render_print(c, "%s[%u,%u]", i ? "," : "", c->cut[i].begin, c->cut[i].end);
    render_put(c, "]}", 2);
}

static void render_annotated(const corpus_run *run, chunk *c, const document *d) {
    size_t close = d->end;
    while (c->bytes[--close] != '}') continue; /* the record was found to be whole */
    render_put(c, c->bytes + d->begin, close - d->begin);
    render_print(c, ",\"" RENDER_MEMBER "\":{");
    for (size_t m = 0; m < run->matchers; m++) {
        if (m > 0) render_put(c, ",", 1);
        render_finding(run, c, d, m);
    }
    render_put(c, "}", 1);
    render_put(c, c->bytes + close, d->end - close);
}

/* ---- Chunks. */

static void render_document(const corpus_run *run, chunk *c, const document *d, bool json) {
    if (d->drop) return;
    const size_t cuts = run->partly ? render_cuts(run, c, d) : 0;
    if (cuts > 0) {
        render_cut(c, d, cuts, json);
        return;
    }
    c->kept.kept_bytes += d->length;
    c->kept.kept_words += d->words;
    if (!run->out) return;
    if (run->action == ACTION_ANNOTATE)
        render_annotated(run, c, d);
    else
        render_put(c, c->bytes + d->begin, d->end - d->begin);
}

void chunk_render(const corpus_run *run, chunk *c) {
    const corpus_file *const file = &run->files.file[c->file];
    c->out_n = c->packed_n = 0;
    c->kept = (corpus_counts){0};
    for (size_t i = 0; i < c->docs; i++) {
        const document *const d = &c->doc[i];
        if (d->state == RECORD_TEXT)
            render_document(run, c, d, file->json);
        else if (run->out && (d->state == RECORD_BLANK || run->on_bad == BAD_PASS))
            render_put(c, c->bytes + d->begin, d->end - d->begin);
    }
    const bool wanted = run->out && (c->out_n > 0 || c->last);
    if (wanted && file->pack != PACK_NONE)
        pack_bytes(file->pack, run->level, c->out, c->out_n, &c->packed, &c->packed_n,
                   &c->packed_cap);
}
