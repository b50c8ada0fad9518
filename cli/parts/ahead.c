/* ahead.c - see ahead.h.
 *
 * A block goes round: free, waiting (it has bytes), working (a thread has it), ready, and free
 * again when its lines are printed.  Blocks that are not free stand in a queue in the order of the
 * input.  One lock guards stages and queue; a thread that works on a block owns it. */
#include "ahead.h"
#include "input/pattern.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { AHEAD_WAITING, AHEAD_WORKING, AHEAD_READY };
enum {
    AHEAD_BYTES = 256 << 10, /* of a block */
    AHEAD_LINES = 16 << 10,  /* lines of a block that are made ready; more are seen to later */
    AHEAD_SMALL = 16 << 10   /* a block that is not worth waking a thread */
};

struct ahead {
    const lines_wish *wish;
    unsigned workers, n_blocks;
    pthread_t *worker;
    ahead_block *block;
    pthread_mutex_t lock;
    pthread_cond_t has_work, is_ready;
    ahead_block *first, *last; /* of the queue */
    ahead_block *free;         /* a list that only the first thread knows */
    bool end;
};

static ahead_block *waiting_block(ahead *a) {
    for (ahead_block *b = a->first; b; b = b->next)
        if (b->stage == AHEAD_WAITING) return b;
    return NULL;
}

/* With the lock, which is let go meanwhile. */
static void work_on(ahead *a, ahead_block *b) {
    b->stage = AHEAD_WORKING;
    pthread_mutex_unlock(&a->lock);
    arena_reset(&b->in.arena);
    lines_take(&b->lines, a->wish, &b->in);
    pthread_mutex_lock(&a->lock);
    b->stage = AHEAD_READY;
}

static void *ahead_thread(void *of) {
    ahead *const a = of;
    pthread_mutex_lock(&a->lock);
    while (!a->end) {
        ahead_block *const b = waiting_block(a);
        if (!b) {
            pthread_cond_wait(&a->has_work, &a->lock);
            continue;
        }
        work_on(a, b);
        pthread_cond_signal(&a->is_ready);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* Signals are for the first thread. */
static void start_workers(ahead *a) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (unsigned i = 0; i < a->workers; i++) {
        const int error = pthread_create(&a->worker[i], NULL, ahead_thread, a);
        if (error) cli_fail("--threads: %s", strerror(error));
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

ahead *ahead_start(unsigned threads, reader *in, const lines_wish *wish) {
    ahead *const a = cli_alloc(sizeof *a);
    *a = (ahead){.wish = wish, .workers = threads - 1, .n_blocks = 2 * threads};
    a->worker = cli_alloc(a->workers * sizeof *a->worker);
    a->block = cli_alloc(a->n_blocks * sizeof *a->block);
    for (unsigned i = 0; i < a->n_blocks; i++) {
        ahead_block *const b = &a->block[i];
        *b = (ahead_block){.next = a->free};
        a->free = b;
        reader_copy(&b->in, in);
        lines_open(&b->lines, AHEAD_LINES, wish);
    }
    in->block = AHEAD_BYTES;
    if (pthread_mutex_init(&a->lock, NULL) || pthread_cond_init(&a->has_work, NULL) ||
        pthread_cond_init(&a->is_ready, NULL))
        cli_fail("--threads: %s", strerror(ENOMEM));
    start_workers(a);
    return a;
}

/* ---- What the first thread does. */

bool ahead_has_room(const ahead *a) {
    return a->free != NULL;
}

void ahead_give(ahead *a, reader *in) {
    ahead_block *const b = a->free;
    if (!reader_hand_over(in, &b->in)) return;
    const bool small = b->in.end - b->in.begin < AHEAD_SMALL;
    a->free = b->next;
    b->next = NULL;
    b->file = in->file;
    pthread_mutex_lock(&a->lock);
    b->stage = AHEAD_WAITING;
    *(a->first ? &a->last->next : &a->first) = b;
    a->last = b;
    if (!small) pthread_cond_signal(&a->has_work);
    pthread_mutex_unlock(&a->lock);
}

ahead_block *ahead_take(ahead *a) {
    pthread_mutex_lock(&a->lock);
    ahead_block *const b = a->first;
    while (b && b->stage != AHEAD_READY) {
        ahead_block *const other = waiting_block(a);
        if (other)
            work_on(a, other);
        else
            pthread_cond_wait(&a->is_ready, &a->lock);
    }
    if (b) a->first = b->next;
    pthread_mutex_unlock(&a->lock);
    return b;
}

void ahead_done(ahead *a, ahead_block *b) {
    b->next = a->free;
    a->free = b;
}

void ahead_stop(ahead *a) {
    if (!a) return;
    pthread_mutex_lock(&a->lock);
    a->end = true;
    pthread_cond_broadcast(&a->has_work);
    pthread_mutex_unlock(&a->lock);
    for (unsigned i = 0; i < a->workers; i++) pthread_join(a->worker[i], NULL);
    for (unsigned i = 0; i < a->n_blocks; i++) {
        reader_copy_free(&a->block[i].in);
        lines_close(&a->block[i].lines);
    }
    pthread_cond_destroy(&a->has_work);
    pthread_cond_destroy(&a->is_ready);
    pthread_mutex_destroy(&a->lock);
    free(a->block);
    free(a->worker);
    free(a);
}
