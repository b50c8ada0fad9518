/* rival.c - `bloom` against libbloom: the same bits, the same k, the same 8-byte keys.
 *
 * Three filters are filled to the same load in turns, and then asked in turns
 * with half of the keys present: libbloom, ours with one call a key, ours in
 * batches of 64.  Hashing is inside the measured time everywhere. */
#include "bench.h"
#include <bloom.h>

enum { THEIRS, ONE, MANY, SIDES };
enum { HASHES = 7 };
enum { WARM = 3, TURN = WARM + 1 }; /* chunks of a turn: the caches forget the others, then time */

typedef struct rival {
    struct bloom theirs;
    eb_filter *one, *many;
    uint64_t entries;
} rival;

static void rival_open(rival *r, const char *memory, size_t bytes) {
    char spec[EB_SPEC_MAX];
    eb_error err = {.text = "no memory"};
    const double error = pow(2, -HASHES) * 1.0001; /* a little more, so that k rounds to HASHES */
    r->entries = (uint64_t)((double)bytes * 8 * log(2) / HASHES);
    if (bloom_init(&r->theirs, (int)r->entries, error) || r->theirs.hashes != HASHES)
        bench_die("libbloom", "it does not take this size");
    snprintf(spec, sizeof spec, "bloom:memory=%s,k=%d", memory, HASHES);
    if (eb_new(&r->one, spec, NULL, &err) || eb_new(&r->many, spec, NULL, &err))
        bench_die(spec, err.text);
}

static void rival_close(rival *r) {
    bloom_free(&r->theirs);
    eb_free(r->one);
    eb_free(r->many);
}

/* Each of these adds or tests a chunk of keys and counts how many were known. */

static uint64_t rival_theirs(rival *r, const uint64_t *item, bool add) {
    int (*const call)(struct bloom *, const void *, int) = add ? bloom_add : bloom_check;
    uint64_t hits = 0;
    for (size_t i = 0; i < CHUNK; i++) hits += call(&r->theirs, &item[i], sizeof item[i]) > 0;
    return hits;
}

static uint64_t rival_one(rival *r, const uint64_t *item, bool add) {
    uint64_t hits = 0;
    for (size_t i = 0; i < CHUNK; i++) {
        bool known = false;
        if (add) {
            eb_add(r->one, &item[i], sizeof item[i], &known, NULL);
        } else {
            known = calls_has(r->one, &item[i], sizeof item[i]);
        }
        hits += known;
    }
    return hits;
}

static uint64_t rival_many(rival *r, const uint64_t *item, bool add) {
    uint64_t hits = 0;
    for (size_t at = 0; at < CHUNK; at += BATCH) {
        eb_key key[BATCH];
        eb_hash hash[BATCH];
        uint8_t seen[BATCH];
        for (size_t i = 0; i < BATCH; i++) key[i] = (eb_key){&item[at + i], sizeof *item};
        calls_hash(r->many, key, BATCH, hash);
        if (add) {
            calls_add(r->many, &A_BATCH(BATCH, hash, NULL, NULL), seen);
        } else {
            calls_test(r->many, hash, BATCH, seen);
        }
        for (size_t i = 0; i < BATCH; i++) hits += seen[i];
    }
    return hits;
}

/* One turn of chunks through all three, into one column of ns; their hits add up. */
static void rival_turn(rival *r, const uint64_t *item, bool add, double ns[SIDES][ROUNDS],
                       int column, uint64_t hits[SIDES]) {
    static uint64_t (*const side[SIDES])(rival *, const uint64_t *, bool) = {rival_theirs,
                                                                             rival_one, rival_many};
    for (int s = 0; s < SIDES; s++) {
        for (int c = 0; c < WARM; c++) hits[s] += side[s](r, item + c * CHUNK, add);
        const double start = now_ns();
        hits[s] += side[s](r, item + WARM * CHUNK, add);
        ns[s][column] = (now_ns() - start) / CHUNK;
    }
}

void rival_title(void) {
    printf("\nbloom against libbloom, k=%d, ns per key; tests with half of the keys present\n"
           "%-12s %9s %9s %9s %9s %9s %5s\n",
           HASHES, "", "libbloom", "ours", "batches", "faster", "faster", "+-");
}

static void rival_print(const bench_options *o, const char *memory, const char *work,
                        double ns[SIDES][ROUNDS], int n) {
    double widest = 0, mid[SIDES];
    for (int s = 0; s < SIDES; s++) {
        mid[s] = median(ns[s], n);
        widest = fmax(widest, spread(ns[s], n));
    }
    printf("%-6s %-5s %9.1f %9.1f %9.1f %8.2fx %8.2fx %4.0f%%\n", memory, work, mid[THEIRS],
           mid[ONE], mid[MANY], mid[THEIRS] / mid[ONE], mid[THEIRS] / mid[MANY], 100 * widest);
    fflush(stdout);
    for (int s = 0; o->raw && s < SIDES; s++) {
        fprintf(o->raw, "libbloom/%s/%s\t%d", memory, work, s);
        for (int i = 0; i < n; i++) fprintf(o->raw, "\t%.2f", ns[s][i]);
        fputc('\n', o->raw);
    }
}

int rival_bench(const bench_options *o, const char *memory, size_t bytes) {
    static double ns[SIDES][ROUNDS];
    static uint64_t item[TURN * CHUNK];
    uint64_t ignore[SIDES] = {0}, hits[SIDES] = {0};
    rival r;
    rival_open(&r, memory, bytes);
    const uint64_t turns = r.entries / (TURN * CHUNK);
    for (uint64_t t = 0; t < turns; t++) { /* the last rounds are the ones that count */
        for (size_t i = 0; i < TURN * CHUNK; i++) item[i] = t * TURN * CHUNK + i;
        rival_turn(&r, item, true, ns, (int)(t % (uint64_t)o->rounds), ignore);
    }
    rival_print(o, memory, "add", ns, turns < (uint64_t)o->rounds ? (int)turns : o->rounds);

    workload draw = {.state = 1, .distinct = turns * TURN * CHUNK, .repeats = 1};
    for (int round = 0; round < o->rounds; round++) {
        for (size_t i = 0; i < TURN * CHUNK; i++)
            item[i] = workload_next(&draw) + (i % 2 ? ABSENT : 0);
        rival_turn(&r, item, false, ns, round, hits);
    }
    rival_print(o, memory, "test", ns, o->rounds);
    rival_close(&r);
    const uint64_t present = (uint64_t)o->rounds * TURN * CHUNK / 2;
    const bool missed = hits[ONE] < present || hits[ONE] != hits[MANY];
    if (missed) printf("%-12s FALSE NEGATIVES\n", memory);
    return missed;
}
