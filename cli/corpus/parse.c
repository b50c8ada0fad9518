/* parse.c - the records of a chunk: their texts, units and hashes.
 *
 * Nothing here depends on other chunks, so any thread may do it.  Filters of --against do not
 * change, so they are asked here, too. */
#include "corpus.h"
#include <stdlib.h>
#include <string.h>

static document *parse_new(chunk *c, size_t begin, size_t end) {
    c->doc = cli_grow(c->doc, &c->doc_cap, (c->docs + 1) * sizeof *c->doc);
    document *const d = &c->doc[c->docs++];
    *d = (document){.begin = begin, .end = end};
    return d;
}

static void parse_units(const corpus_run *run, chunk *c, document *d) {
    for (size_t i = 0; i < run->forms; i++) {
        const size_t before = c->form[i].z.counted;
        unit_text_set(&c->form[i], run->normal[i], d->text, d->length);
        if (i == 0) d->words = (uint32_t)(c->form[i].z.counted - before);
    }
    for (size_t i = 0; i < run->rules; i++) {
        unit_list *const list = &c->list[i];
        d->first[i] = list->n;
        units_append(&run->rule[i], run->hasher[i], &c->form[run->form[i]], run->partly, list);
        d->units[i] = list->n - d->first[i];
    }
}

/* *room: where the next text goes. */
static void parse_record(const corpus_run *run, chunk *c, document *d, char **room) {
    const char *const p = c->bytes + d->begin, *end = c->bytes + d->end;
    record_text text = {.bytes = *room};
    end -= end > p && end[-1] == '\n';
    d->state = record_find(p, end, &run->text, &text);
    d->why = text.why;
    if (d->state != RECORD_TEXT) return;
    d->raw = text.raw;
    d->text = text.bytes;
    d->length = (uint32_t)text.length;
    *room += text.length;
    parse_units(run, c, d);
}

static void parse_lines(const corpus_run *run, chunk *c) {
    c->text = cli_grow(c->text, &c->text_cap, c->n + TEXT_PAD);
    char *room = c->text;
    for (size_t at = 0; at < c->n;) {
        const char *const newline = memchr(c->bytes + at, '\n', c->n - at);
        const size_t end = newline ? (size_t)(newline - c->bytes) + 1 : c->n;
        parse_record(run, c, parse_new(c, at, end), &room);
        at = end;
    }
}

static void parse_plain(const corpus_run *run, chunk *c) {
    document *const d = parse_new(c, 0, c->n);
    d->state = c->n > RECORD_TEXT_MAX ? RECORD_BAD : RECORD_TEXT;
    d->why = "the text is longer than 2 GiB";
    if (d->state == RECORD_BAD) return;
    d->raw = (json_value){.p = c->bytes, .len = c->n};
    d->text = c->bytes;
    d->length = (uint32_t)c->n;
    parse_units(run, c, d);
}

static void parse_ask(const corpus_run *run, chunk *c, size_t m) {
    const unit_list *const list = &c->list[run->match[m].rule];
    c->seen[m] = cli_grow(c->seen[m], &c->seen_cap[m], list->n + 1);
    if (run->match[m].own) return;
    eb_batch b = eb_batch_hashes(list->hash, list->n);
    eb_error err;
    b.seen = c->seen[m];
    if (eb_ask_batch(run->match[m].filter, &b, &err) != EB_OK)
        cli_fail("%s: %s", run->match[m].name, err.text);
}

void chunk_parse(const corpus_run *run, chunk *c) {
    c->docs = 0;
    c->bytes = cli_grow(c->bytes, &c->cap, c->n + TEXT_PAD);
    memset(c->bytes + c->n, 0, TEXT_PAD);
    for (size_t i = 0; i < run->forms; i++) {
        normalised *const z = &c->form[i].z;
        z->n = z->words = z->counted = 0;
        z->want_words = z->want_newlines = false;
        for (size_t r = 0; r < run->rules; r++) {
            const unit_kind kind = run->rule[r].kind;
            if (run->form[r] != i) continue;
            z->want_words |= kind == UNIT_NGRAM || kind == UNIT_NEAR;
            z->want_newlines |= kind == UNIT_PARAGRAPH || kind == UNIT_LINE;
        }
    }
    for (size_t i = 0; i < run->rules; i++) c->list[i].n = 0;
    if (run->files.file[c->file].json)
        parse_lines(run, c);
    else
        parse_plain(run, c);
    for (size_t m = 0; m < run->matchers; m++) parse_ask(run, c, m);
}

void chunk_free(chunk *c) {
    for (size_t i = 0; i < CORPUS_RULES; i++) {
        unit_text_free(&c->form[i]);
        units_free(&c->list[i]);
    }
    for (size_t m = 0; m < CORPUS_MATCHERS; m++) free(c->seen[m]);
    free(c->bytes);
    free(c->text);
    free(c->doc);
    free(c->out);
    free(c->packed);
    free(c->cut);
    *c = (chunk){0};
}
