/* lines.c - see lines.h. */
#include "lines.h"
#include <stdlib.h>

void lines_open(keyed_lines *l, size_t cap, const lines_wish *w) {
    *l = (keyed_lines){.cap = cap, .values = *w->values};
    l->values.key = NULL;
    l->values.key_cap = 0;
    l->line = cli_alloc((cap + 1) * sizeof *l->line);
    l->key = cli_alloc(cap * sizeof *l->key);
    l->hash = cli_alloc(cap * sizeof *l->hash);
    l->value = cli_alloc(cap * sizeof *l->value);
    l->time = w->times ? cli_alloc(cap * sizeof *l->time) : NULL;
    l->text = w->texts ? cli_alloc(cap * sizeof *l->text) : NULL;
    l->bad = cli_alloc(cap);
}

void lines_close(keyed_lines *l) {
    free(l->line);
    free(l->key);
    free(l->hash);
    free(l->value);
    free(l->time);
    free(l->text);
    free(l->bad);
    free(l->values.key);
    *l = (keyed_lines){0};
}

/* False: line i lacks something, and `why` says what. */
static bool take_rest(keyed_lines *l, const lines_wish *w, reader *r, size_t i, const char *end,
                      char why[LINES_WHY]) {
    const char *const line = l->line[i];
    const bool found = reader_get_key(r, line, end, &l->key[i]) &&
                       (!w->times || reader_get(r, READER_TIME, line, end, &l->time[i])) &&
                       (!w->texts || reader_get(r, READER_VALUE, line, end, &l->text[i]));
    if (!found) {
        reader_explain(r, why, LINES_WHY);
        return false;
    }
    return !l->values.from || value_of_line(&l->values, r, line, end, l->key[i], &l->value[i], why);
}

static void note_bad(keyed_lines *l, size_t i, const char *why) {
    l->bad[i] = 1;
    l->key[i] = (eb_key){"", 0}; /* so that it can be hashed with the others */
    if (l->bads++ == 0) snprintf(l->why, sizeof l->why, "%s", why);
}

/* Lines are their own keys, and none can be bad. */
static void take_whole_lines(keyed_lines *l, reader *r) {
    const char *p = r->buf + r->begin, *from = r->buf + r->scanned, *const stop = r->buf + r->end;
    const char **const line = l->line;
    eb_key *const key = l->key;
    const char separator = r->separator;
    const size_t cap = l->cap;
    size_t n = 0;
    for (; n < cap; n++) {
        const char *const end = memchr(from, separator, (size_t)(stop - from));
        if (!end) {
            from = stop;
            break;
        }
        line[n] = p;
        key[n] = (eb_key){p, (size_t)(end - p)};
        p = from = end + 1;
    }
    memset(l->bad, 0, n);
    r->begin = (size_t)(p - r->buf);
    r->scanned = (size_t)(from - r->buf);
    r->records += n;
    l->n = n;
}

/* Nothing but the key is wanted: a loop without the rest. */
static void take_keys(keyed_lines *l, reader *r) {
    size_t n = 0;
    for (const char *end; n < l->cap; n++) {
        l->line[n] = r->buf + r->begin;
        end = reader_next(r);
        if (!end) break;
        l->bad[n] = 0;
        if (reader_get_key(r, l->line[n], end, &l->key[n])) continue;
        char why[LINES_WHY];
        reader_explain(r, why, sizeof why);
        note_bad(l, n, why);
    }
    l->n = n;
}

static void take_all(keyed_lines *l, const lines_wish *w, reader *r) {
    size_t n = 0;
    for (const char *end; n < l->cap; n++) {
        char why[LINES_WHY];
        l->line[n] = r->buf + r->begin;
        end = reader_next(r);
        if (!end) break;
        l->bad[n] = 0;
        if (!take_rest(l, w, r, n, end, why)) note_bad(l, n, why);
    }
    l->n = n;
}

void lines_take(keyed_lines *l, const lines_wish *w, reader *r) {
    l->bads = 0;
    l->before = r->records;
    if (w->times || w->texts || l->values.from)
        take_all(l, w, r);
    else if (r->whole_lines && r->format != FORMAT_CSV)
        take_whole_lines(l, r);
    else
        take_keys(l, r);
    l->line[l->n] = r->buf + r->begin;
    l->unclosed = r->unclosed;
    r->unclosed = false;
    if (l->n > 0) w->hash_keys(w->ctx, l->key, l->n, l->hash);
}
