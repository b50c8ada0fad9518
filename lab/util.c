/* util.c - what every part of the laboratory needs: memory, random numbers, threads. */
#include "lab.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>

void lab_die(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("everbloom-lab: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(2);
}

void *lab_alloc(size_t count, size_t size) {
    void *p = calloc(count ? count : 1, size);
    if (!p) lab_die("no memory for %zu times %zu bytes", count, size);
    return p;
}

void *lab_grow(void *p, size_t count, size_t size) {
    void *larger = count > SIZE_MAX / size ? NULL : realloc(p, count * size);
    if (!larger) lab_die("no memory for %zu times %zu bytes", count, size);
    return larger;
}

uint64_t lab_mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0xe9846af9b1a615d9u;
    x ^= x >> 32;
    x *= 0xe9846af9b1a615d9u;
    return x ^ x >> 28;
}

uint64_t lab_random(lab_rng *r) {
    return lab_mix(r->state += 0x9e3779b97f4a7c15u);
}

uint64_t lab_below(lab_rng *r, uint64_t bound) {
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)lab_random(r) * bound >> 64);
}

double lab_unit(lab_rng *r) {
    return ((double)(lab_random(r) >> 12) + 0.5) * 0x1p-52;
}

typedef struct util_queue {
    atomic_size_t next;
    size_t count;
    void (*job)(void *ctx, size_t i);
    void *ctx;
} util_queue;

static void *util_work(void *arg) {
    util_queue *q = arg;
    for (size_t i; (i = atomic_fetch_add(&q->next, 1)) < q->count;) q->job(q->ctx, i);
    return NULL;
}

void lab_parallel(unsigned threads, size_t count, void (*job)(void *ctx, size_t i), void *ctx) {
    enum { MAX = 64 };
    pthread_t thread[MAX];
    util_queue q = {0, count, job, ctx};
    unsigned started = 0;
    while (started + 1 < threads && started < MAX &&
           !pthread_create(&thread[started], NULL, util_work, &q))
        started++;
    util_work(&q);
    while (started) pthread_join(thread[--started], NULL);
}
