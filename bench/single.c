/* single.c - one key a call beside the same keys in a batch.
 *
 * A batch asks memory for the lines of keys to come while it works on others.  A single key cannot:
 * whoever calls with one key and waits for the answer waits for memory.  So three ways of calling
 * stand beside each other, for filters and for a bare line of memory:
 *
 *     batch   all keys in one call
 *     calls   a call a key; nobody waits for an answer, so the processor may begin the next call
 *     waits   a call a key, and the next key depends on the answer: memory's latency, every time
 *
 * Keys are 16 bytes and are hashed inside the measured time.  A round measures all ways one after
 * the other, in time of this thread; what is printed are medians of the rounds and of their ratios.
 */
#include "bench.h"
#include <errno.h>
#include <sys/mman.h>

enum { SINGLE_KEY = 16, SINGLE_ROUNDS = 101, SINGLE_WAYS = 3 };
static const size_t single_bytes = (size_t)64 << 20;

typedef struct single_row {
    const char *spec;
    double loaded; /* keys before the measurement */
} single_row;

static const single_row rows[] = {
    {"bloom:memory=64M", 5e7},
    {"bloom:memory=64M,layout=line", 5e7},
    {"lru:memory=64M", 3e7},
    {"choosy:memory=64M", 5e7},
    {"window:memory=64M", 5e7},
    {"spectral:memory=64M", 1e7},
    {"spectral:memory=64M,span=512", 1e7},
};

typedef struct single_samples {
    double add[SINGLE_WAYS][SINGLE_ROUNDS], ask[SINGLE_WAYS][SINGLE_ROUNDS];
} single_samples;

static uint8_t text[CHUNK][SINGLE_KEY];
static eb_key key[CHUNK];
static uint8_t seen[CHUNK];
static volatile size_t single_none; /* 0, which no compiler knows */

static void single_draw(uint64_t from) {
    for (size_t i = 0; i < CHUNK; i++) {
        const uint64_t half[2] = {workload_mix(from + i), from + i};
        memcpy(text[i], half, sizeof half);
        key[i] = (eb_key){text[i], SINGLE_KEY};
    }
}

/* ---- A bare line of memory. */

static __attribute__((noinline)) uint64_t single_touch(uint64_t *block, uint64_t hash) {
    return (block[8 * workload_below(hash, single_bytes / 64)] += hash) & 1;
}

static double single_touch_ns(uint64_t *block, int way, uint64_t from) {
    const size_t none = single_none;
    const double start = thread_ns();
    uint64_t last = 0;
    uint64_t *line[BATCH];
    for (size_t i = 0; way == 0 && i < CHUNK; i += BATCH) {
        for (size_t j = 0; j < BATCH; j++) {
            line[j] = block + 8 * workload_below(workload_mix(from + i + j), single_bytes / 64);
            __builtin_prefetch(line[j], 1, 2);
        }
        for (size_t j = 0; j < BATCH; j++) *line[j] += j;
    }
    for (size_t i = 0; way == 1 && i < CHUNK; i++)
        last ^= single_touch(block, workload_mix(from + i));
    for (size_t i = 0; way == 2 && i < CHUNK; i++)
        last = single_touch(block, workload_mix(from + i + (last & none)));
    seen[0] = last != 0;
    return (thread_ns() - start) / CHUNK;
}

/* ---- A filter. */

static void single_batch(eb_filter *f, bool adds) {
    const eb_keys keys = eb_keys_array(EB_STRING, key);
    eb_batch b = eb_batch_keys(&keys, CHUNK);
    eb_error err;
    b.seen = seen;
    calls_must(adds ? eb_add_batch(f, &b, &err) : eb_ask_batch(f, &b, &err), &err);
}

static inline __attribute__((always_inline)) void single_calls(eb_filter *f, bool adds,
                                                               const bool waits) {
    const size_t none = single_none;
    bool answer = false;
    for (size_t i = 0; i < CHUNK; i++) {
        const eb_key *const k = &key[waits ? i + ((size_t)answer & none) : i];
        const eb_status s = adds ? eb_add(f, k->p, k->len, &answer, NULL)
                                 : eb_ask(f, k->p, k->len, &answer, NULL, NULL);
        if (s) bench_die("a single key", eb_status_name(s));
        seen[i] = answer;
    }
}

static double single_ns(eb_filter *f, bool adds, int way) {
    const double start = thread_ns();
    if (way == 0)
        single_batch(f, adds);
    else if (way == 1)
        single_calls(f, adds, false);
    else
        single_calls(f, adds, true);
    return (thread_ns() - start) / CHUNK;
}

/* ---- The table. */

static void single_print(const bench_options *o, const char *name, const char *what,
                         double ns[SINGLE_WAYS][SINGLE_ROUNDS], int rounds) {
    double ratio[SINGLE_WAYS][SINGLE_ROUNDS];
    for (int way = 0; way < SINGLE_WAYS; way++)
        for (int i = 0; i < rounds; i++) ratio[way][i] = ns[way][i] / ns[0][i];
    printf("%-32s %-6s %7.1f %7.1f %7.1f %7.2f %7.2f %4.0f%%\n", name, what, median(ns[0], rounds),
           median(ns[1], rounds), median(ns[2], rounds), median(ratio[1], rounds),
           median(ratio[2], rounds), 100 * spread(ratio[1], rounds));
    fflush(stdout);
    for (int way = 0; o->raw && way < SINGLE_WAYS; way++) {
        static const char *const names[SINGLE_WAYS] = {"batch", "calls", "waits"};
        fprintf(o->raw, "%s\t%s %s", name, what, names[way]);
        for (int i = 0; i < rounds; i++) fprintf(o->raw, "\t%.2f", ns[way][i]);
        fputc('\n', o->raw);
    }
}

static void single_measure(const bench_options *o, const single_row *row, int rounds) {
    static single_samples s;
    eb_filter *f;
    eb_error err;
    uint64_t next = 0;
    if (eb_new(&f, row->spec, NULL, &err)) bench_die(row->spec, err.text);
    for (; (double)next < row->loaded; next += CHUNK) {
        single_draw(next);
        single_batch(f, true);
    }
    for (int i = 0; i < rounds; i++)
        for (int way = 0; way < SINGLE_WAYS; way++) {
            single_draw(next); /* each way has new keys, and asks for others that nobody added */
            s.add[way][i] = single_ns(f, true, way);
            single_draw(ABSENT + next);
            s.ask[way][i] = single_ns(f, false, way);
            next += CHUNK;
        }
    single_print(o, row->spec, "add", s.add, rounds);
    single_print(o, row->spec, "ask", s.ask, rounds);
    eb_free(f);
}

void single_bench(const bench_options *o) {
    static double touch[SINGLE_WAYS][SINGLE_ROUNDS];
    const int rounds = o->rounds == QUICK_ROUNDS ? QUICK_ROUNDS : SINGLE_ROUNDS;
    uint64_t *const block = block_new(single_bytes);
    printf("\n%-32s %-6s %23s %23s\n", "", "", "ns per key", "times a batched key");
    printf("%-32s %-6s %7s %7s %7s %7s %7s %5s\n", "filter at 64 MB", "", "batch", "calls", "waits",
           "calls", "waits", "+-");
    for (int i = 0; i < rounds; i++)
        for (int way = 0; way < SINGLE_WAYS; way++)
            touch[way][i] = single_touch_ns(block, way, (uint64_t)(i * SINGLE_WAYS + way) << 20);
    single_print(o, "a line of memory", "touch", touch, rounds);
    munmap(block, single_bytes);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!o->only || strstr(rows[i].spec, o->only)) single_measure(o, &rows[i], rounds);
}
