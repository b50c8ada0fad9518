/* reading.c - the files of a run, one after the other, cut into chunks.
 *
 * Unpacking a file is work for one thread, and half of all there is to do if the unit is a
 * document.  So threads that have nothing more urgent to do unpack the files that come next, each
 * up to READING_AHEAD bytes: file f is in lane f modulo the number of threads.  What is read, in
 * which pieces, is the same as without that. */
#include "corpus.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    READING_CHUNK = 1 << 20,
    READING_BLOCK = 64 << 10,
    READING_SLICE = 512 << 10,
    READING_AHEAD = 32 << 20,
    READING_PAGE = 2 << 20
};

typedef enum lane_state { LANE_FREE, LANE_BUSY, LANE_DONE } lane_state;
struct reading_lane {
    source *in;
    size_t file;
    lane_state state; /* of unpacking it ahead; belongs to the pipeline's lock, all else to who has
                       * the lane */
    bool enough;      /* no more shall be unpacked ahead */
    char *bytes;      /* unpacked ahead: those from `used` on are not read yet */
    size_t used, n;
    long last; /* what source_read said at last; 0 or less: nothing comes after these bytes */
    char why[200];
};

struct reading {
    const corpus_run *run;
    reading_lane *lane;
    size_t lanes;
    size_t file;
    uint64_t skip;  /* plain bytes of it that are done already */
    uint64_t plain; /* bytes of it that were read */
    char *rest;     /* read already, for the next chunk */
    size_t rest_n, rest_cap;
};

static reading_lane *reading_at(const reading *r, size_t file) {
    return &r->lane[file % r->lanes];
}

/* ---- Ahead. */

reading_lane *reading_choose(reading *r, size_t now) {
    for (size_t file = now + 1; file < now + r->lanes && file < r->run->end; file++) {
        reading_lane *const l = reading_at(r, file);
        if (l->state != LANE_FREE) continue;
        l->state = LANE_BUSY;
        l->file = file;
        return l;
    }
    return NULL;
}

/* A file that cannot be opened is left to whoever reads it. */
static void reading_open_ahead(const reading *r, reading_lane *l) {
    l->in = source_open(r->run->files.file[l->file].path, l->why, sizeof l->why);
    l->enough = !l->in || !source_is_packed(l->in);
    l->last = 1;
    if (l->enough || l->bytes) return;
    l->bytes = aligned_alloc(READING_PAGE, READING_AHEAD);
    if (!l->bytes) cli_fail("out of memory (%d bytes wanted)", READING_AHEAD);
#ifdef MADV_HUGEPAGE
    (void)madvise(l->bytes, READING_AHEAD,
                  MADV_HUGEPAGE); /* page faults cost more than unpacking */
#endif
}

void reading_ahead(const reading *r, reading_lane *l) {
    const size_t slice = l->n + READING_SLICE;
    if (!l->in) reading_open_ahead(r, l);
    while (!l->enough && l->n < slice) {
        l->last = source_read(l->in, l->bytes + l->n, READING_BLOCK, l->why, sizeof l->why);
        l->n += l->last > 0 ? (size_t)l->last : 0;
        l->enough = l->last <= 0 || l->n + READING_BLOCK > READING_AHEAD;
    }
}

void reading_leave(reading_lane *l) {
    l->state = l->enough ? LANE_DONE : LANE_FREE;
}

bool reading_is_ready(const reading *r) {
    return reading_at(r, r->file)->state != LANE_BUSY;
}

/* ---- Bytes of the file that is read. */

/* The pipeline does not look at the lane of the file that is read. */
static void reading_close(reading_lane *l) {
    source_close(l->in);
    l->in = NULL;
    l->state = LANE_FREE;
    l->enough = false;
    l->used = l->n = 0;
}

static long reading_get(reading_lane *l, char *to, char *why, size_t cap) {
    const size_t left = l->n - l->used, n = left < READING_BLOCK ? left : READING_BLOCK;
    if (n > 0) {
        memcpy(to, l->bytes + l->used, n);
        l->used += n;
        return (long)n;
    }
    if (l->last > 0) return source_read(l->in, to, READING_BLOCK, why, cap);
    snprintf(why, cap, "%s", l->why);
    return l->last;
}

static bool reading_trouble(const reading *r, chunk *c, const char *why) {
    snprintf(c->error, sizeof c->error, "%.200s: %.180s", r->run->files.file[c->file].path, why);
    return false;
}

/* What was done before the run was interrupted is read again, and dropped. */
static bool reading_skip(reading *r, reading_lane *l, chunk *c) {
    char why[200];
    while (r->skip > 0) {
        c->bytes = cli_grow(c->bytes, &c->cap, READING_BLOCK);
        const size_t most = r->skip < READING_BLOCK ? (size_t)r->skip : READING_BLOCK;
        const long n = source_read(l->in, c->bytes, most, why, sizeof why);
        if (n <= 0) return reading_trouble(r, c, n < 0 ? why : "the file is shorter than it was");
        r->skip -= (uint64_t)n;
    }
    return true;
}

static bool reading_open(reading *r, reading_lane *l, chunk *c) {
    char why[200];
    l->in = source_open(r->run->files.file[c->file].path, why, sizeof why);
    l->last = 1;
    return l->in ? reading_skip(r, l, c) : reading_trouble(r, c, why);
}

/* ---- Chunks. */

/* Where the chunk ends: behind the first record that ends at READING_CHUNK bytes or later; 0: more
 * has to be read. */
static size_t reading_cut(const chunk *c, size_t looked) {
    const size_t from = looked > READING_CHUNK - 1 ? looked : READING_CHUNK - 1;
    const char *const newline = c->n > from ? memchr(c->bytes + from, '\n', c->n - from) : NULL;
    return newline ? (size_t)(newline - c->bytes) + 1 : 0;
}

static void reading_keep_rest(reading *r, chunk *c, size_t cut) {
    r->rest_n = c->n - cut;
    r->rest = cli_grow(r->rest, &r->rest_cap, r->rest_n + 1);
    memcpy(r->rest, c->bytes + cut, r->rest_n);
    c->n = cut;
}

static bool reading_fill(reading *r, reading_lane *l, chunk *c) {
    char why[200];
    const bool json = r->run->files.file[c->file].json;
    size_t cut = 0;
    c->bytes = cli_grow(c->bytes, &c->cap, r->rest_n + 1);
    if (r->rest_n > 0) memcpy(c->bytes, r->rest, r->rest_n);
    c->n = r->rest_n;
    r->rest_n = 0;
    while (!(json && (cut = reading_cut(c, c->n > READING_BLOCK ? c->n - READING_BLOCK : 0)) > 0)) {
        c->bytes = cli_grow(c->bytes, &c->cap, c->n + READING_BLOCK);
        const long n = reading_get(l, c->bytes + c->n, why, sizeof why);
        if (n < 0) return reading_trouble(r, c, why);
        if (n == 0) {
            c->last = true;
            return true;
        }
        c->n += (size_t)n;
    }
    reading_keep_rest(r, c, cut);
    return true;
}

void reading_next(reading *r, chunk *c) {
    reading_lane *const l = reading_at(r, r->file);
    c->file = r->file;
    c->last = false;
    c->n = c->docs = 0;
    c->error[0] = '\0';
    if ((l->in || reading_open(r, l, c)) && reading_fill(r, l, c)) {
        r->plain += c->n;
        c->plain = r->plain;
        c->on_disk = source_packed_bytes(l->in);
    }
    if (c->last || c->error[0]) {
        reading_close(l);
        r->file++;
        r->plain = 0;
        c->on_disk = 0;
    }
}

size_t reading_file(const reading *r) {
    return r->file;
}

reading *reading_new(const corpus_run *run, const corpus_place *from, size_t lanes) {
    reading *const r = cli_alloc(sizeof *r);
    *r = (reading){
        .run = run, .lanes = lanes, .file = from->file, .skip = from->plain, .plain = from->plain};
    r->lane = cli_alloc(lanes * sizeof *r->lane);
    memset(r->lane, 0, lanes * sizeof *r->lane);
    return r;
}

void reading_free(reading *r) {
    for (size_t i = 0; i < r->lanes; i++) {
        source_close(r->lane[i].in);
        free(r->lane[i].bytes);
    }
    free(r->lane);
    free(r->rest);
    free(r);
}
