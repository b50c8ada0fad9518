/* text.c - lines or words of a text as a stream, and lines that look like the log of a shop.
 *
 * Equal lines get equal ids: a table of all different ones, kept whole, so that
 * the truth is exact. */
#include "lab.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct text_line {
    char *bytes; /* NULL: free */
    size_t size;
    uint64_t hash;
    uint32_t id;
} text_line;

typedef struct text_table {
    text_line *slot;
    size_t slots, used; /* slots: a power of two, at least half free */
} text_table;

static uint64_t text_hash(const char *bytes, size_t size) {
    uint64_t h = size;
    for (size_t i = 0; i < size; i++) h = (h ^ (uint8_t)bytes[i]) * 0x100000001b3u;
    return lab_mix(h);
}

static text_line *text_find(const text_table *t, const char *bytes, size_t size, uint64_t hash) {
    for (size_t i = hash;; i++) {
        text_line *l = &t->slot[i & (t->slots - 1)];
        if (!l->bytes) return l;
        if (l->hash == hash && l->size == size && !memcmp(l->bytes, bytes, size)) return l;
    }
}

static void text_grow(text_table *t) {
    text_table larger = {lab_alloc(2 * t->slots, sizeof *t->slot), 2 * t->slots, t->used};
    for (size_t i = 0; i < t->slots; i++)
        if (t->slot[i].bytes)
            *text_find(&larger, t->slot[i].bytes, t->slot[i].size, t->slot[i].hash) = t->slot[i];
    free(t->slot);
    *t = larger;
}

static uint32_t text_id(text_table *t, const char *bytes, size_t size) {
    const uint64_t hash = text_hash(bytes, size);
    text_line *l = text_find(t, bytes, size, hash);
    if (l->bytes) return l->id;
    char *copy = lab_alloc(size + 1, 1);
    memcpy(copy, bytes, size);
    const uint32_t id = (uint32_t)t->used++;
    *l = (text_line){copy, size, hash, id};
    if (2 * t->used > t->slots) text_grow(t);
    return id;
}

static void text_free(text_table *t) {
    for (size_t i = 0; i < t->slots; i++) free(t->slot[i].bytes);
    free(t->slot);
}

typedef struct text_ids {
    text_table table;
    uint32_t *ids;
    uint64_t n, cap, most;
} text_ids;

static void text_take(text_ids *t, const char *bytes, size_t size) {
    if (t->n == t->most) return;
    if (t->n == t->cap) t->ids = lab_grow(t->ids, t->cap *= 2, sizeof *t->ids);
    t->ids[t->n++] = text_id(&t->table, bytes, size);
}

static bool text_is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c < 0;
}

static void text_take_words(text_ids *t, const char *line, size_t size) {
    for (size_t from = 0, to = 0; from < size; from = to + 1) {
        for (to = from; to < size && text_is_letter(line[to]);) to++;
        if (to > from) text_take(t, line + from, to - from);
    }
}

lab_stream *lab_stream_text(const char *path, bool words, uint64_t records, uint64_t seed) {
    FILE *in = fopen(path, "r");
    if (!in) lab_die("%s: %s", path, strerror(errno));
    text_ids t = {
        .table = {lab_alloc(1024, sizeof *t.table.slot), 1024, 0}, .cap = 1024, .most = records};
    t.ids = lab_alloc(t.cap, sizeof *t.ids);
    char *line = NULL;
    size_t room = 0;
    for (ssize_t size; t.n < records && (size = getline(&line, &room, in)) > 0;) {
        const size_t len = (size_t)size - (line[size - 1] == '\n');
        if (words)
            text_take_words(&t, line, len);
        else
            text_take(&t, line, len);
    }
    if (ferror(in)) lab_die("%s: %s", path, strerror(errno));
    fclose(in);
    free(line);
    const size_t distinct = t.table.used;
    text_free(&t.table);
    return lab_stream_list(t.ids, t.n, distinct, seed);
}

/* Clicks */

enum { TEXT_SESSIONS = 4096, TEXT_PAGES = 20000, TEXT_ROBOTS = 4 };

/* Popular pages have small numbers: P(page < x) = log(x)/log(pages), about. */
static unsigned text_page(lab_rng *r) {
    return (unsigned)pow(TEXT_PAGES, lab_unit(r));
}

void lab_write_clicks(FILE *out, uint64_t records, uint64_t seed) {
    static unsigned session[TEXT_SESSIONS], page[TEXT_SESSIONS], robot[TEXT_ROBOTS];
    lab_rng r = {lab_mix(seed ^ 0x636c69636b73u)};
    unsigned sessions = 0;
    for (int i = 0; i < TEXT_SESSIONS; i++) session[i] = sessions++;
    for (uint64_t t = 0; t < records; t++) {
        const double what = lab_unit(&r);
        const size_t s = lab_below(&r, TEXT_SESSIONS), b = lab_below(&r, TEXT_ROBOTS);
        if (what < 0.05) { /* a robot goes round the shop */
            fprintf(out, "robot%zu GET /product/%u\n", b, robot[b] = robot[b] % TEXT_PAGES + 1);
            continue;
        }
        if (what < 0.11) session[s] = sessions++; /* somebody leaves, somebody comes */
        if (what < 0.80) page[s] = text_page(&r); /* else the same page again */
        fprintf(out, "session%u GET /product/%u\n", session[s], page[s]);
    }
    if (fflush(out) || ferror(out)) lab_die("writing failed: %s", strerror(errno));
}
