/* pipeline.c - the stages of a run on several threads.
 *
 * Every thread takes the most urgent work there is: writing, deciding, rendering, parsing, reading.
 * Reading, deciding and writing go chunk after chunk, one thread at a time; the rest may be done by
 * several.  A chunk that something is wrong with ends the run when it is its turn to be decided, so
 * the first trouble in input order is what is told, whatever the number of threads. */
#include "corpus.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PIPE_CHUNK = 1 << 20, PIPE_BLOCK = 64 << 10, PIPE_LARGE = 16 << 20 };

typedef struct pipeline {
    corpus_run *run;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    chunk *ring;
    size_t slots;
    uint64_t next_read, next_decide, next_write; /* chunks */
    bool reading, deciding, writing, all_read, stop;
    char error[CORPUS_ERROR];
    /* The file that is read. */
    size_t file;
    source *in;
    char *rest; /* read already, for the next chunk */
    size_t rest_n, rest_cap;
    uint64_t lines, packed;
    /* As of the last chunk that was read, for the progress line: the reader works without the lock.
     */
    size_t files_read;
    uint64_t packed_read;
    /* The file that is written. */
    atomic_file out;
    char *out_path;
    bool out_open;
} pipeline;

/* ---- Reading. */

static bool pipe_trouble(const pipeline *p, chunk *c, const char *why) {
    snprintf(c->error, sizeof c->error, "%.200s: %.180s", p->run->files.file[c->file].path, why);
    return false;
}

/* Where the chunk ends: behind the first record that ends at PIPE_CHUNK bytes or later; 0: more has
 * to be read. */
static size_t pipe_cut(const chunk *c, size_t looked) {
    const size_t from = looked > PIPE_CHUNK - 1 ? looked : PIPE_CHUNK - 1;
    const char *const newline = c->n > from ? memchr(c->bytes + from, '\n', c->n - from) : NULL;
    return newline ? (size_t)(newline - c->bytes) + 1 : 0;
}

static void pipe_keep_rest(pipeline *p, chunk *c, size_t cut) {
    p->rest_n = c->n - cut;
    p->rest = cli_grow(p->rest, &p->rest_cap, p->rest_n + 1);
    memcpy(p->rest, c->bytes + cut, p->rest_n);
    c->n = cut;
}

static bool pipe_fill(pipeline *p, chunk *c) {
    char why[200];
    const bool json = p->run->files.file[c->file].json;
    size_t cut = 0;
    c->bytes = cli_grow(c->bytes, &c->cap, p->rest_n + 1);
    if (p->rest_n > 0) memcpy(c->bytes, p->rest, p->rest_n);
    c->n = p->rest_n;
    p->rest_n = 0;
    while (!(json && (cut = pipe_cut(c, c->n > PIPE_BLOCK ? c->n - PIPE_BLOCK : 0)) > 0)) {
        c->bytes = cli_grow(c->bytes, &c->cap, c->n + PIPE_BLOCK);
        const long n = source_read(p->in, c->bytes + c->n, PIPE_BLOCK, why, sizeof why);
        if (n < 0) return pipe_trouble(p, c, why);
        if (n == 0) {
            c->last = true;
            return true;
        }
        c->n += (size_t)n;
    }
    pipe_keep_rest(p, c, cut);
    return true;
}

static uint64_t pipe_lines(const chunk *c) {
    uint64_t lines = 0;
    const char *p = c->bytes, *const end = p + c->n;
    while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) p++, lines++;
    return lines;
}

static void pipe_read(pipeline *p, chunk *c) {
    char why[200];
    c->file = p->file;
    c->first = !p->in;
    c->last = false;
    c->n = c->docs = 0;
    c->error[0] = '\0';
    if (c->first) {
        p->lines = 0;
        p->in = source_open(p->run->files.file[c->file].path, why, sizeof why);
    }
    if (!p->in)
        pipe_trouble(p, c, why);
    else if (pipe_fill(p, c)) {
        c->line = p->lines;
        p->lines += pipe_lines(c);
        p->packed = source_packed_bytes(p->in);
    }
    if (c->last || c->error[0]) {
        source_close(p->in);
        p->in = NULL;
        p->file++;
        p->packed = 0;
    }
}

/* ---- Writing. */

static void pipe_make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST) cli_fail("%s: %s", path, strerror(errno));
        *slash = '/';
    }
}

static void pipe_open_out(pipeline *p, const corpus_file *file) {
    const size_t size = strlen(p->run->out) + strlen(file->out) + 2;
    p->out_path = cli_alloc(size);
    snprintf(p->out_path, size, "%s/%s", p->run->out, file->out);
    pipe_make_folders(p->out_path);
    atomic_open(&p->out, p->out_path);
    p->out_open = true;
}

static void pipe_write(pipeline *p, chunk *c) {
    const corpus_file *const file = &p->run->files.file[c->file];
    corpus_counts *const counts = &p->run->counts[file->folder];
    counts->kept_bytes += c->kept.kept_bytes;
    counts->kept_words += c->kept.kept_words;
    if (c->last) p->run->next = c->file + 1;
    if (!p->run->out) return;
    const bool packed = file->pack != PACK_NONE;
    const size_t n = packed ? c->packed_n : c->out_n;
    /* A plain text that was dropped leaves no file. */
    if (!p->out_open && !file->json && c->out_n == 0 && c->n > 0) return;
    if (!p->out_open) pipe_open_out(p, file);
    if (n > 0) atomic_write(&p->out, packed ? c->packed : c->out, n);
    if (!c->last) return;
    atomic_commit(&p->out);
    free(p->out_path);
    p->out_open = false;
}

/* ---- The work. */

static void pipe_shrink(chunk *c) {
    if (c->cap + c->text_cap + c->out_cap < PIPE_LARGE) return;
    const chunk keep = {.state = c->state};
    chunk_free(c);
    *c = keep;
}

static void pipe_progress(pipeline *p) {
    corpus_run *const run = p->run;
    uint64_t units = 0, seen = 0, bytes = 0;
    for (size_t i = 0; i < run->files.folders; i++) {
        units += run->counts[i].units[0];
        seen += run->counts[i].seen[0];
    }
    for (size_t i = run->first; i < p->files_read && i < run->end; i++)
        bytes += run->files.file[i].bytes;
    const double all = (double)run->files.bytes;
    progress_show(&run->progress, now_seconds(), units, seen, bytes + p->packed_read,
                  all > 0 ? (double)(bytes + p->packed_read) / all : 0);
}

static chunk *pipe_find(pipeline *p, chunk_state state) {
    for (uint64_t i = p->next_write; i < p->next_read; i++)
        if (p->ring[i % p->slots].state == state) return &p->ring[i % p->slots];
    return NULL;
}

static chunk *pipe_at(pipeline *p, uint64_t number) {
    return &p->ring[number % p->slots];
}

/* Work with the lock given up meanwhile. */
#define PIPE_UNLOCKED(work)                                                                        \
    do {                                                                                           \
        pthread_mutex_unlock(&p->lock);                                                            \
        work;                                                                                      \
        pthread_mutex_lock(&p->lock);                                                              \
        pthread_cond_broadcast(&p->changed);                                                       \
    } while (0)

static bool pipe_try_write(pipeline *p) {
    chunk *const c = pipe_at(p, p->next_write);
    if (p->writing || p->next_write == p->next_decide || c->state != CHUNK_RENDERED) return false;
    p->writing = true;
    PIPE_UNLOCKED(pipe_write(p, c); pipe_shrink(c));
    p->writing = false;
    c->state = CHUNK_FREE;
    p->next_write++;
    return true;
}

static bool pipe_try_decide(pipeline *p) {
    chunk *const c = pipe_at(p, p->next_decide);
    if (p->deciding || p->next_decide == p->next_read || c->state != CHUNK_PARSED) return false;
    p->deciding = true;
    if (!c->error[0]) PIPE_UNLOCKED(chunk_decide(p->run, c));
    p->deciding = false;
    if (c->error[0]) {
        memcpy(p->error, c->error, sizeof p->error);
        p->stop = true;
        return true;
    }
    c->state = CHUNK_DECIDED;
    p->next_decide++;
    pipe_progress(p);
    return true;
}

static bool pipe_try_chunk(pipeline *p, chunk_state from, chunk_state to) {
    chunk *const c = pipe_find(p, from);
    if (!c) return false;
    c->state = CHUNK_BUSY;
    if (from == CHUNK_DECIDED)
        PIPE_UNLOCKED(chunk_render(p->run, c));
    else if (!c->error[0])
        PIPE_UNLOCKED(chunk_parse(p->run, c));
    c->state = to;
    return true;
}

static bool pipe_try_read(pipeline *p) {
    if (p->reading || p->all_read || p->next_read - p->next_write == p->slots) return false;
    chunk *const c = pipe_at(p, p->next_read);
    p->reading = true;
    PIPE_UNLOCKED(pipe_read(p, c));
    p->reading = false;
    p->files_read = p->file;
    p->packed_read = p->packed;
    c->state = CHUNK_READ;
    p->next_read++;
    p->all_read = p->file == p->run->end || c->error[0];
    return true;
}

static void *pipe_work(void *context) {
    pipeline *const p = context;
    pthread_mutex_lock(&p->lock);
    while (!p->stop && !(p->all_read && p->next_write == p->next_read)) {
        if (signals_stop()) p->stop = true;
        const bool done = pipe_try_write(p) || pipe_try_decide(p) ||
                          pipe_try_chunk(p, CHUNK_DECIDED, CHUNK_RENDERED) ||
                          pipe_try_chunk(p, CHUNK_READ, CHUNK_PARSED) || pipe_try_read(p);
        if (!done && !p->stop) pthread_cond_wait(&p->changed, &p->lock);
    }
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void pipe_threads(pipeline *p, size_t threads) {
    pthread_t *const thread = cli_alloc(threads * sizeof *thread);
    for (size_t i = 1; i < threads; i++)
        if (pthread_create(&thread[i], NULL, pipe_work, p) != 0)
            cli_fail("no thread: %s", strerror(errno));
    pipe_work(p);
    for (size_t i = 1; i < threads; i++) pthread_join(thread[i], NULL);
    free(thread);
}

void pipeline_run(corpus_run *run, size_t threads) {
    pipeline p = {.run = run, .slots = 2 * threads + 2, .file = run->next, .files_read = run->next};
    p.all_read = run->next >= run->end;
    p.ring = cli_alloc(p.slots * sizeof *p.ring);
    memset(p.ring, 0, p.slots * sizeof *p.ring);
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.changed, NULL);
    signals_catch();
    pipe_threads(&p, threads);
    progress_clear();
    if (p.out_open) {
        atomic_discard(&p.out);
        free(p.out_path);
    }
    source_close(p.in);
    for (size_t i = 0; i < p.slots; i++) chunk_free(&p.ring[i]);
    free(p.ring);
    free(p.rest);
    pthread_cond_destroy(&p.changed);
    pthread_mutex_destroy(&p.lock);
    if (p.error[0]) cli_fail("%s", p.error);
    if (signals_stop()) {
        cli_warn("stopped; files that are in the folder of -o are whole");
        end_by_signal(signals_stop());
    }
}
