/* threads.c - many threads, one filter, no lock: all give the same batch, and each its own range of
 * shards.  The bytes do not depend on the number of threads.
 *
 *     cc threads.c $(pkg-config --cflags --libs everbloom) -pthread */
#define _DEFAULT_SOURCE /* barriers, getrandom */
#include <everbloom/everbloom.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

enum { KEYS = 200000, THREADS_MOST = 8 };
static uint32_t key[KEYS];
static eb_hash hash[KEYS];
static uint8_t seen[KEYS];

typedef struct worker {
    eb_filter *f;
    unsigned number, of;
    pthread_barrier_t *hashed;
    eb_error err;
    eb_status status;
} worker;

static void *work(void *arg) {
    worker *const w = arg;
    const size_t from = KEYS * (size_t)w->number / w->of,
                 to = KEYS * (size_t)(w->number + 1) / w->of;
    const eb_keys slice = eb_keys_column(EB_U64, key + from, sizeof *key);
    w->status = eb_hash_keys(w->f, &slice, to - from, hash + from, &w->err);
    pthread_barrier_wait(w->hashed); /* all hashes are there */
    if (w->status) return NULL;
    eb_batch b = eb_batch_hashes(hash, KEYS);
    b.seen = seen;
    b.flags = EB_SHARD_RANGE;
    b.first_shard = eb_shards(w->f) * w->number / w->of;
    b.n_shards = eb_shards(w->f) * (w->number + 1) / w->of - b.first_shard;
    w->status = eb_add_batch(w->f, &b, &w->err);
    return NULL;
}

static unsigned char *run(const char *spec, unsigned threads, size_t *len) {
    eb_filter *f;
    eb_error err;
    pthread_t thread[THREADS_MOST];
    worker w[THREADS_MOST];
    pthread_barrier_t hashed;
    if (eb_new(&f, spec, NULL, &err)) return fprintf(stderr, "%s\n", err.text), exit(1), NULL;
    pthread_barrier_init(&hashed, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        w[i] = (worker){.f = f, .number = i, .of = threads, .hashed = &hashed};
        pthread_create(&thread[i], NULL, work, &w[i]);
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        if (w[i].status) return fprintf(stderr, "%s\n", w[i].err.text), exit(1), NULL;
    }
    pthread_barrier_destroy(&hashed);
    *len = eb_save_size(f);
    unsigned char *const bytes = malloc(*len);
    if (!bytes || eb_save(f, bytes, *len, &err)) exit(1);
    eb_free(f);
    return bytes;
}

int main(void) {
    size_t one_len, len, repeats = 0;
    char spec[EB_SPEC_MAX];
    uint64_t seed; /* drawn, so that nobody can prepare keys that collide */
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed ||
        eb_spec_seed("lru:memory=1M,shards=16", seed, spec, sizeof spec, NULL))
        return 1;
    for (uint32_t i = 0; i < KEYS; i++) key[i] = i % 5 ? i : i / 2; /* some come again */
    unsigned char *const one = run(spec, 1, &one_len);
    for (int i = 0; i < KEYS; i++) repeats += seen[i];
    printf("%zu of %d keys were repeats\n", repeats, KEYS);
    for (unsigned threads = 2; threads <= THREADS_MOST; threads *= 2) {
        unsigned char *const bytes = run(spec, threads, &len);
        printf("%u threads: %s\n", threads,
               len == one_len && !memcmp(bytes, one, len) ? "the same bytes" : "OTHER BYTES");
        if (len != one_len || memcmp(bytes, one, len)) return 1;
        free(bytes);
    }
    free(one);
    return 0;
}
