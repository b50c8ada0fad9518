/* lines.c - filters that touch a known number of cache lines a key, next to touching lines alone.
 *
 * The yardstick hashes a key's number, asks for one random line of a 512 MB block some keys before
 * its turn, and adds to a word of it.  There are two: lines are asked for into the first level of
 * cache, as most programs do it, or into the second, as the library does; each with the distance
 * that is best on this machine.  Filters hash key numbers inside the measured time too.
 *
 * Half of the keys are new and half repeat one of the last 2^26, so that no line is in a cache.  A
 * round measures both yardsticks and the filter one after the other, in time of this thread; what
 * is printed are medians of the rounds' ratios, divided by the lines that a key touches. */
#include "bench.h"
#include <errno.h>
#include <sys/mman.h>

enum { LINES_ROUNDS = 201, LEVELS = 2, RECENT = 1 << 26 };
static const size_t block_bytes = (size_t)512 << 20;

typedef struct lines_row {
    const char *spec;
    double loaded;                                           /* keys before the measurement */
    double (*touched)(const eb_filter *f, double share_new); /* lines a key */
} lines_row;

static double one_line(const eb_filter *f, double share_new) {
    (void)f;
    (void)share_new;
    return 1;
}

/* k = 2 bits of a key, and for a new key a victim in each part that is drawn by the load. */
static double two_and_victims(const eb_filter *f, double share_new) {
    eb_stats s = {.size = sizeof s};
    calls_stat(f, &s);
    return 2 + 2 * share_new * (double)s.cells_used / (double)s.cells;
}

static const lines_row rows[] = {
    {"choosy:memory=512M", 3e8, one_line},
    {"choosy:memory=512M,distinct=1e9,share=0.6,fpr=0.02", 5e8, one_line},
    {"lru:memory=512M", 3e8, one_line},
    {"lru:memory=512M,print_bits=24", 3e8, one_line},
    {"lru:memory=512M,print_bits=20", 3e8, one_line},
    {"lru:memory=512M,print_bits=18", 3e8, one_line},
    {"lru:memory=512M,print_bits=16", 4e8, one_line},
    {"lru:memory=512M,print_bits=14", 4e8, one_line},
    {"lru:memory=512M,print_bits=12", 5e8, one_line},
    {"lru:memory=512M,print_bits=10", 5e8, one_line},
    {"lru:bucket=word,memory=512M", 3e8, one_line},
    {"window:memory=512M,fpr=0.1", 8e8, one_line},
    {"window:memory=512M,fpr=0.1,mode=rotate", 9e8, one_line},
    {"window:memory=512M,fpr=0.01", 5.3e8, one_line},
    {"window:memory=512M,fpr=0.01,refresh=yes", 5.3e8, one_line},
    {"window:memory=512M,fpr=0.01,unit=time", 5.3e8, one_line},
    {"window:memory=512M,fpr=0.001", 4e8, one_line},
    {"window:memory=512M,fpr=1e-4", 3.2e8, one_line},
    {"window:memory=512M,fpr=1e-6", 2.5e8, one_line},
    {"rlbsbf:k=2,memory=512M", 1e8, two_and_victims},
    {"rlbsbf:k=2,memory=512M", 1e9, two_and_victims},
};

static uint64_t item[CHUNK];
static eb_hash hash[CHUNK];
static uint8_t seen[CHUNK];

/* ---- The yardsticks. */

static inline __attribute__((always_inline)) void touch(uint64_t *block, size_t ahead,
                                                        const int level) {
    uint64_t *line[128];
    for (size_t i = 0; i < CHUNK + ahead; i++) {
        uint64_t **const place = &line[i % 128];
        if (i >= ahead) *line[(i - ahead) % 128] += i;
        if (i >= CHUNK) continue;
        *place = block + 8 * workload_below(workload_mix(item[i]), block_bytes / 64);
        if (level == 1)
            __builtin_prefetch(*place, 1, 3);
        else
            __builtin_prefetch(*place, 1, 2);
    }
}

static double touch_ns(uint64_t *block, size_t ahead, int level) {
    const double start = thread_ns();
    if (level == 1)
        touch(block, ahead, 1);
    else
        touch(block, ahead, 2);
    return (thread_ns() - start) / CHUNK;
}

/* ---- The stream. */

typedef struct lines_stream {
    uint64_t state, added;
} lines_stream;

static void draw(lines_stream *s) {
    for (size_t i = 0; i < CHUNK; i++) {
        const uint64_t x = workload_mix(s->state++);
        const uint64_t recent = s->added < RECENT ? s->added : RECENT;
        item[i] =
            x % 2 && recent ? s->added - 1 - workload_below(workload_mix(x), recent) : s->added++;
    }
}

static void add_items(eb_filter *f) {
    for (size_t i = 0; i < CHUNK; i++) hash[i] = workload_mix(item[i]);
    const eb_status s = calls_add(f, &A_BATCH(CHUNK, hash, NULL, NULL), seen);
    if (s) bench_die("eb_add_batch", eb_status_name(s));
}

static void load(eb_filter *f, lines_stream *s, double keys) {
    while ((double)s->added < keys) {
        for (size_t i = 0; i < CHUNK; i++) item[i] = s->added++;
        add_items(f);
    }
}

/* ---- The table. */

static size_t best_ahead(uint64_t *block, int level) {
    static const size_t depth[] = {8, 16, 24, 32, 48, 64, 96, 128};
    size_t best = 0;
    double best_ns = INFINITY;
    for (size_t d = 0; d < sizeof depth / sizeof *depth; d++) {
        double ns[ROUNDS];
        lines_stream s = {d, RECENT};
        for (int i = 0; i < ROUNDS; i++) {
            draw(&s);
            ns[i] = touch_ns(block, depth[d], level);
        }
        if (median(ns, ROUNDS) >= best_ns) continue;
        best_ns = median(ns, ROUNDS);
        best = depth[d];
    }
    printf("touching a line, fetched into level %d: %.2f ns, best %zu keys ahead\n", level, best_ns,
           best);
    return best;
}

static void measure(const bench_options *o, const lines_row *row, uint64_t *block,
                    const size_t *ahead) {
    static double ns[LINES_ROUNDS], touched[LEVELS][LINES_ROUNDS], ratio[LEVELS][LINES_ROUNDS];
    lines_stream s = {1, 0};
    eb_filter *f;
    eb_error err;
    uint64_t new_keys = 0;
    if (eb_new(&f, row->spec, NULL, &err)) bench_die(row->spec, err.text);
    load(f, &s, row->loaded);
    for (int i = 0; i < LINES_ROUNDS; i++) {
        draw(&s);
        for (int level = 0; level < LEVELS; level++)
            touched[level][i] = touch_ns(block, ahead[level], level + 1);
        const double start = thread_ns();
        add_items(f);
        ns[i] = (thread_ns() - start) / CHUNK;
        for (size_t j = 0; j < CHUNK; j++) new_keys += !seen[j];
    }
    const double lines = row->touched(f, (double)new_keys / LINES_ROUNDS / CHUNK);
    for (int level = 0; level < LEVELS; level++)
        for (int i = 0; i < LINES_ROUNDS; i++) ratio[level][i] = ns[i] / touched[level][i] / lines;
    printf("%-52s %6.2f %6.2f %7.2f %7.2f %4.0f%%\n", row->spec, median(ns, LINES_ROUNDS), lines,
           median(ratio[0], LINES_ROUNDS), median(ratio[1], LINES_ROUNDS),
           100 * spread(ratio[1], LINES_ROUNDS));
    if (o->raw)
        for (int i = 0; i < LINES_ROUNDS; i++)
            fprintf(o->raw, "%s\t%.2f\t%.3f\t%.2f\t%.2f\n", row->spec, ns[i], lines, touched[0][i],
                    touched[1][i]);
    fflush(stdout);
    eb_free(f);
}

void lines_bench(const bench_options *o) {
    uint64_t *const block = block_new(block_bytes);
    const size_t ahead[LEVELS] = {best_ahead(block, 1), best_ahead(block, 2)};
    printf("\n%-52s %6s %6s %15s %5s\n", "", "ns per", "lines", "times a line", "+-");
    printf("%-52s %6s %6s %7s %7s\n", "filter at 512 MB, half of the keys new", "add", "a key",
           "level 1", "level 2");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!o->only || strstr(rows[i].spec, o->only)) measure(o, &rows[i], block, ahead);
    munmap(block, block_bytes);
}
