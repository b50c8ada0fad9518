/* pipeline.c - the stages of a run on several threads.
 *
 * Every thread takes the most urgent work there is.  What one thread at a time does, chunk after
 * chunk, comes first: writing, deciding, reading; then what several may do: rendering, parsing, and
 * unpacking files that come next.  A chunk that something is wrong with ends the run when it is its
 * turn to be decided, so the first trouble in input order is what is told, whatever the number of
 * threads. */
#include "corpus.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIPE_LARGE = 16 << 20 };

typedef struct pipeline {
    corpus_run *run;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    chunk *ring;
    size_t slots;
    uint64_t next_read, next_decide, next_write; /* chunks */
    bool reading, deciding, writing, saving, all_read;
    bool stop; /* nothing more is decided; what was is written */
    char error[CORPUS_ERROR];
    reading *in;
    /* As of the last chunk that was read: the reader works without the lock. */
    size_t files_read;
    uint64_t packed_read;
    uint64_t lines; /* of the file, decided */
    /* The file that is written. */
    int out; /* -1: none */
    char *part;
    corpus_place place; /* behind the last chunk that was written */
    /* Checkpoints. */
    bool due;
    double saved, saving_took; /* when, and how long that took */
    uint64_t saved_at;         /* chunk */
} pipeline;

/* ---- Writing. */

static void pipe_make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST) cli_fail("%s: %s", path, strerror(errno));
        *slash = '/';
    }
}

/* An output that was begun before an interruption may have been completed behind the checkpoint:
 * then it becomes a part again. */
static void pipe_open_out(pipeline *p, const corpus_file *file) {
    char *const path = corpus_path(p->run, file->out);
    p->part = resume_part(p->run, (size_t)(file - p->run->files.file));
    if (p->place.open && access(p->part, F_OK) != 0) (void)rename(path, p->part);
    p->out = open(p->part, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
    struct stat st;
    if (p->out < 0 || fstat(p->out, &st) != 0) cli_fail("%s: %s", p->part, strerror(errno));
    if ((uint64_t)st.st_size < p->place.written)
        cli_fail("%s: the output that was begun is gone: give --force to begin anew", p->part);
    if (ftruncate(p->out, (off_t)p->place.written) != 0 || lseek(p->out, 0, SEEK_END) < 0)
        cli_fail("%s: %s", p->part, strerror(errno));
    p->place.open = true;
    free(path);
}

static void pipe_name_out(pipeline *p, const corpus_file *file) {
    char *const path = corpus_path(p->run, file->out);
    pipe_make_folders(path);
    if (close(p->out) != 0 || rename(p->part, path) != 0) cli_fail("%s: %s", path, strerror(errno));
    p->out = -1;
    free(p->part);
    p->part = NULL;
    free(path);
}

static void pipe_put(pipeline *p, chunk *c) {
    const corpus_file *const file = &p->run->files.file[c->file];
    const bool packed = file->pack != PACK_NONE;
    const size_t n = packed ? c->packed_n : c->out_n;
    /* A plain text that was dropped leaves no file. */
    if (!p->place.open && !file->json && c->out_n == 0 && c->n > 0) return;
    if (p->out < 0) pipe_open_out(p, file);
    if (n > 0) write_all(p->out, p->part, packed ? c->packed : c->out, n);
    p->place.written += n;
    if (c->last) pipe_name_out(p, file);
}

static void pipe_write(pipeline *p, chunk *c) {
    corpus_counts *const counts = &p->run->found.counts[p->run->files.file[c->file].folder];
    counts->kept_bytes += c->kept.kept_bytes;
    counts->kept_words += c->kept.kept_words;
    if (p->run->out) pipe_put(p, c);
    if (c->last)
        p->place = (corpus_place){.file = c->file + 1};
    else {
        p->place.plain = c->plain;
        p->place.lines = c->line + c->docs;
    }
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
        units += run->found.counts[i].units[0];
        seen += run->found.counts[i].seen[0];
    }
    for (size_t i = run->first; i < p->files_read && i < run->end; i++)
        bytes += run->files.file[i].bytes;
    const double all = (double)run->bytes;
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

/* Often enough to lose little, and seldom enough to cost little. */
static bool pipe_is_save_due(const pipeline *p) {
    const double every =
        p->run->set->every_seconds > 0 ? p->run->set->every_seconds : DEFAULT_EVERY_SECONDS;
    const double least = 20 * p->saving_took;
    return p->run->out && p->next_decide > p->saved_at &&
           now_seconds() - p->saved >= (every > least ? every : least);
}

/* The filters as they are when all that was decided is written, and nothing else. */
static bool pipe_try_save(pipeline *p) {
    if (p->saving || p->deciding || p->writing || p->next_write != p->next_decide || !p->due)
        return false;
    const double start = now_seconds();
    p->saving = true;
    PIPE_UNLOCKED(resume_save(p->run, &p->place));
    p->saving = p->due = false;
    p->saved = now_seconds();
    p->saving_took = p->saved - start;
    p->saved_at = p->next_decide;
    return true;
}

static bool pipe_try_decide(pipeline *p) {
    chunk *const c = pipe_at(p, p->next_decide);
    if (p->stop || p->saving || p->due) return false;
    if (p->deciding || p->next_decide == p->next_read || c->state != CHUNK_PARSED) return false;
    p->deciding = true;
    c->line = p->lines;
    p->lines = c->last ? 0 : p->lines + c->docs;
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
    if (!c || (p->stop && from == CHUNK_READ)) return false;
    c->state = CHUNK_BUSY;
    if (from == CHUNK_DECIDED)
        PIPE_UNLOCKED(chunk_render(p->run, c));
    else if (!c->error[0])
        PIPE_UNLOCKED(chunk_parse(p->run, c));
    c->state = to;
    return true;
}

static bool pipe_try_read(pipeline *p) {
    if (p->stop || p->reading || p->all_read || p->next_read - p->next_write == p->slots ||
        !reading_is_ready(p->in))
        return false;
    chunk *const c = pipe_at(p, p->next_read);
    p->reading = true;
    PIPE_UNLOCKED(reading_next(p->in, c));
    p->reading = false;
    p->files_read = reading_file(p->in);
    p->packed_read = c->on_disk;
    c->state = CHUNK_READ;
    p->next_read++;
    p->all_read = p->files_read == p->run->end || c->error[0];
    return true;
}

static bool pipe_try_ahead(pipeline *p) {
    reading_lane *const lane = p->stop || p->all_read ? NULL : reading_choose(p->in, p->files_read);
    if (!lane) return false;
    PIPE_UNLOCKED(reading_ahead(p->in, lane));
    reading_leave(lane);
    return true;
}

static bool pipe_is_done(const pipeline *p) {
    return (p->stop && !p->deciding && p->next_write == p->next_decide) ||
           (p->all_read && p->next_write == p->next_read);
}

static void *pipe_work(void *context) {
    pipeline *const p = context;
    pthread_mutex_lock(&p->lock);
    while (!pipe_is_done(p)) {
        if (signals_stop()) p->stop = true;
        p->due |= pipe_is_save_due(p);
        const bool done = pipe_try_write(p) || pipe_try_save(p) || pipe_try_decide(p) ||
                          pipe_try_read(p) || pipe_try_chunk(p, CHUNK_DECIDED, CHUNK_RENDERED) ||
                          pipe_try_chunk(p, CHUNK_READ, CHUNK_PARSED) || pipe_try_ahead(p);
        if (!done && !pipe_is_done(p)) pthread_cond_wait(&p->changed, &p->lock);
    }
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void corpus_threads(size_t n, void *(*work)(void *), void *context) {
    pthread_t *const thread = cli_alloc(n * sizeof *thread);
    for (size_t i = 1; i < n; i++)
        if (pthread_create(&thread[i], NULL, work, context) != 0)
            cli_fail("no thread: %s", strerror(errno));
    work(context);
    for (size_t i = 1; i < n; i++) pthread_join(thread[i], NULL);
    free(thread);
}

static void pipe_free(pipeline *p) {
    if (p->out >= 0) close(p->out);
    reading_free(p->in);
    for (size_t i = 0; i < p->slots; i++) chunk_free(&p->ring[i]);
    free(p->ring);
    free(p->part);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
}

void pipeline_run(corpus_run *run, size_t threads, const corpus_place *from) {
    pipeline p = {.run = run,
                  .slots = threads > 1 ? threads + 2 : 1,
                  .in = reading_new(run, from, threads),
                  .files_read = from->file,
                  .lines = from->lines,
                  .place = *from,
                  .out = -1,
                  .saved = now_seconds()};
    p.all_read = from->file >= run->end;
    p.ring = cli_alloc(p.slots * sizeof *p.ring);
    memset(p.ring, 0, p.slots * sizeof *p.ring);
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.changed, NULL);
    signals_catch();
    corpus_threads(threads, pipe_work, &p);
    progress_clear();
    /* After an error the filters know documents that were not written. */
    if (signals_stop() && !p.error[0] && run->out) resume_save(run, &p.place);
    char error[CORPUS_ERROR];
    memcpy(error, p.error, sizeof error);
    pipe_free(&p);
    if (error[0]) cli_fail("%s", error);
    if (signals_stop()) {
        cli_warn("stopped%s", run->out ? "; the same command goes on from here" : "");
        end_by_signal(signals_stop());
    }
}
