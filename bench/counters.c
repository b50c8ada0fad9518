/* counters.c - counting keys: every store of counters, next to a bare array of
 * 32-bit counters, an exact table of keys and counts (uthash) and the yardstick.
 *
 * Keys come by Zipf's law with skew 1, k = 5 and 0.7 keys' counters for each
 * counter; windows of 512 counters, but none for the bare array.  Half of all
 * records are there when measuring starts, so that counters grow while they are
 * measured; the others come in random order.  Memory is what eb_predict says that
 * the full stream needs, and 4 %.
 *
 * In a round all sides add, and then look up, the same keys one after the other,
 * first as many that are not timed.  Times are of the processor, since a chunk is
 * shorter than the turns of other programs.  Ratios are medians of ratios within
 * rounds.  In the end all filters must give the same counts, none below the truth. */
#define EB_STATIC_ONLY
#include "bench.h"
#include <everbloom/experimental.h>
#include <uthash.h>

enum { K = 5, WINDOW = 512 };
enum { U32, LINE, SAI, FILTERS, FROZEN_LINE = FILTERS, ARRAY, EXACT, TOUCH, SIDES };
static const char *const side_name[SIDES] = {"u32",   "line",   "sai",  "frozen line",
                                             "array", "uthash", "touch"};

typedef struct exact_entry {
    uint64_t key, count;
    UT_hash_handle hh;
} exact_entry;

typedef struct counters {
    size_t cells, keys, chunk; /* chunk: keys timed at once, so many that the stream lasts */
    double mean;
    uint64_t *truth; /* of each key */
    uint64_t *up_to; /* records of keys 0..i that are not there yet */
    eb_filter *f[FROZEN_LINE + 1];
    uint32_t *array;
    exact_entry *exact, *entries;
    uint64_t *block;         /* the yardstick's, as large as the u32 filter */
    uint64_t records, asked; /* that came after the first half; keys looked up */
    double ns[2][SIDES][ROUNDS], ratio[2][SIDES][ROUNDS]; /* adds, look-ups */
} counters;

static double cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- Keys */

static uint64_t key_of(size_t i) {
    return workload_mix(i);
}

/* A permutation of the numbers below n. */
static uint64_t shuffled(uint64_t x, uint64_t n) {
    const unsigned bits = 64 - (unsigned)__builtin_clzll(n | 2);
    do
        for (int round = 0; round < 3; round++) {
            x = x * 0x9E3779B97F4A7C15u & (UINT64_MAX >> (64 - bits));
            x ^= x >> (bits / 2);
        }
    while (x >= n);
    return x;
}

/* The key of a record, the records of each key being in a row. */
static size_t counters_key(const counters *c, uint64_t record) {
    size_t low = 0, high = c->keys - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (c->up_to[middle] <= record)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void counters_draw(counters *c, size_t *key, size_t n, bool uniform) {
    for (size_t j = 0; j < n; j++)
        key[j] = uniform ? workload_below(workload_mix(c->asked++), c->keys)
                         : counters_key(c, shuffled(c->records++, c->up_to[c->keys - 1]));
}

/* ---- One chunk through one side; look-ups return a sum that nobody may leave out */

static double filter_chunk(eb_filter *f, const size_t *key, size_t n, bool add) {
    static eb_hash h[CHUNK];
    static double count[CHUNK];
    for (size_t i = 0; i < n; i++) h[i] = key_of(key[i]);
    if (add) {
        const eb_status s = eb_add_batch(f, &A_BATCH(n, h, NULL, NULL), NULL);
        if (s) bench_die("eb_add_batch", eb_status_name(s));
        return 0;
    }
    calls_count(f, h, n, count);
    return count[0] + count[n - 1];
}

static double array_chunk(counters *c, const size_t *key, bool add) {
    const size_t part = c->cells / K;
    double sum = 0;
    for (size_t at = 0; at < c->chunk; at += BATCH) {
        size_t place[BATCH][K];
        for (size_t i = 0; i < BATCH; i++) {
            uint64_t x = key_of(key[at + i]);
            for (size_t j = 0; j < K; j++, x = x * 0xD1342543DE82EF95u + 1) {
                place[i][j] = j * part + workload_below(x, part);
                __builtin_prefetch(c->array + place[i][j], 1);
            }
        }
        for (size_t i = 0; i < BATCH; i++) {
            uint32_t least = UINT32_MAX;
            for (size_t j = 0; j < K; j++) {
                c->array[place[i][j]] += add;
                least = c->array[place[i][j]] < least ? c->array[place[i][j]] : least;
            }
            sum += least;
        }
    }
    return sum;
}

static double exact_chunk(counters *c, const size_t *key, bool add) {
    double sum = 0;
    for (size_t i = 0; i < c->chunk; i++) {
        const uint64_t k = key_of(key[i]);
        exact_entry *e;
        HASH_FIND(hh, c->exact, &k, sizeof k, e);
        if (!e) bench_die("uthash", "a key is missing");
        e->count += add;
        sum += (double)e->count;
    }
    return sum;
}

static double touch_lines(counters *c, const size_t *key) {
    const size_t lines = c->cells * 4 / 64;
    for (size_t at = 0; at < c->chunk; at += BATCH) {
        uint64_t *line[BATCH];
        for (size_t i = 0; i < BATCH; i++) {
            line[i] = c->block + 8 * workload_below(key_of(key[at + i]), lines);
            __builtin_prefetch(line[i], 1);
        }
        for (size_t i = 0; i < BATCH; i++) ++*line[i];
    }
    return 0;
}

static double side_chunk(counters *c, int side, const size_t *key, bool add) {
    if (side == ARRAY) return array_chunk(c, key, add);
    if (side == EXACT) return exact_chunk(c, key, add);
    if (side == TOUCH) return touch_lines(c, key);
    return filter_chunk(c->f[side], key, c->chunk, add);
}

/* ---- Making and filling */

static void counters_filter(counters *c, int side, double records) {
    char spec[EB_SPEC_MAX];
    eb_error err = {.text = "no memory"};
    eb_prediction p = {.size = sizeof p};
    const eb_workload load = {
        .size = sizeof load, .items = records, .distinct = (double)c->keys, .zipf = 1};
    const int at =
        snprintf(spec, sizeof spec, "spectral:update=plain,k=%d,span=%d,store=%s,cells=%zu", K,
                 WINDOW, side_name[side], c->cells);
    if (eb_predict(spec, &load, NULL, 1, &p, &err)) bench_die(spec, err.text);
    snprintf(spec + at, sizeof spec - (size_t)at, ",counter_bits=%.6f",
             side == U32 ? 32 : p.bits * 1.04);
    if (eb_new(&c->f[side], spec, NULL, &err)) bench_die(spec, err.text);
}

static double counters_keys(counters *c) { /* returns how many records there will be */
    double sum = 0;
    uint64_t records = 0, left = 0;
    for (size_t i = 0; i < c->keys; i++) sum += 1.0 / (double)(i + 1);
    for (size_t i = 0; i < c->keys; i++) {
        const uint64_t count =
            (uint64_t)fmax(1, round((double)c->keys * c->mean / sum / (double)(i + 1)));
        c->truth[i] = (uint32_t)((count + i % 2) / 2);
        c->up_to[i] = left += count - c->truth[i];
        records += count;
    }
    return (double)records;
}

static void counters_fill(counters *c) {
    for (size_t i = 0; i < c->keys; i++) {
        const eb_hash h = key_of(i);
        uint64_t x = h;
        for (int side = 0; side < FILTERS && c->truth[i] > 0; side++)
            if (eb_add_batch(c->f[side], &A_BATCH(1, &h, &c->truth[i], NULL), NULL))
                bench_die("filling", side_name[side]);
        for (size_t j = 0; j < K; j++, x = x * 0xD1342543DE82EF95u + 1)
            c->array[j * (c->cells / K) + workload_below(x, c->cells / K)] += (uint32_t)c->truth[i];
        c->entries[i] = (exact_entry){.key = h, .count = c->truth[i]};
        HASH_ADD(hh, c->exact, key, sizeof h, &c->entries[i]);
    }
}

static void *counters_alloc(size_t n, size_t size) {
    void *p = calloc(n, size);
    if (!p) bench_die("counters", "no memory");
    return p;
}

static void counters_open(counters *c, size_t cells, double mean, int rounds) {
    memset(c, 0, sizeof *c);
    c->cells = cells;
    c->keys = (size_t)((double)cells * 0.7 / K);
    c->mean = mean;
    c->truth = counters_alloc(c->keys, sizeof *c->truth);
    c->up_to = counters_alloc(c->keys, sizeof *c->up_to);
    c->entries = counters_alloc(c->keys, sizeof *c->entries);
    c->array = counters_alloc(cells, sizeof *c->array);
    c->block = counters_alloc(cells / 2 + 8, sizeof *c->block);
    const double records = counters_keys(c);
    const size_t most = c->up_to[c->keys - 1] / 2 / (size_t)rounds;
    c->chunk = (most < CHUNK ? most : CHUNK) / BATCH * BATCH;
    for (int side = 0; side < FILTERS; side++) counters_filter(c, side, records);
    counters_fill(c);
}

static void counters_freeze(counters *c) {
    eb_error err = {.text = "no memory"};
    if (eb_convert(&c->f[FROZEN_LINE], c->f[U32], "frozen=line", NULL, &err))
        bench_die("eb_convert", err.text);
}

static void counters_close(counters *c) {
    for (int side = 0; side <= FROZEN_LINE; side++) eb_free(c->f[side]);
    HASH_CLEAR(hh, c->exact);
    free(c->truth);
    free(c->up_to);
    free(c->entries);
    free(c->array);
    free(c->block);
}

/* ---- Rounds */

static bool side_adds(int side) {
    return side < FILTERS || side >= ARRAY;
}

static void counters_round(counters *c, int round, bool add) {
    static size_t key[2 * CHUNK]; /* the first half is not timed */
    static volatile double kept;
    counters_draw(c, key, 2 * c->chunk, !add);
    for (size_t i = 0; add && i < 2 * c->chunk; i++) c->truth[key[i]]++;
    for (int side = 0; side < SIDES; side++) {
        if (add && !side_adds(side)) continue;
        kept = side_chunk(c, side, key, add);
        const double start = cpu_ns();
        kept = side_chunk(c, side, key + c->chunk, add);
        c->ns[!add][side][round] = (cpu_ns() - start) / (double)c->chunk;
        c->ratio[!add][side][round] = c->ns[!add][side][round] / c->ns[!add][U32][round];
    }
    (void)kept;
}

/* Bits for each counter. */
static double side_bits(const counters *c, int side) {
    eb_lengths l = {.size = sizeof l};
    if (side == ARRAY) return 32;
    if (side == EXACT)
        return 8.0 *
               ((double)c->keys * sizeof(exact_entry) + (double)HASH_OVERHEAD(hh, c->exact) -
                (double)c->keys * sizeof(UT_hash_handle)) /
               (double)c->cells;
    if (side == TOUCH || eb_lengths_of(c->f[side], &l, NULL)) return 0;
    return l.bits;
}

static int counters_check(const counters *c) {
    int wrong = 0;
    for (size_t i = 0; i < c->keys; i += 1 + c->keys / 100000) {
        const eb_hash h = key_of(i);
        double first, count;
        calls_count(c->f[U32], &h, 1, &first);
        wrong += first < (double)c->truth[i];
        for (int side = 1; side <= FROZEN_LINE; side++) {
            calls_count(c->f[side], &h, 1, &count);
            wrong += count != first;
        }
    }
    for (int side = 0; side < FILTERS; side++) {
        eb_stats s = {.size = sizeof s};
        calls_stat(c->f[side], &s);
        wrong += s.saturated > 0;
    }
    return wrong;
}

static void counters_print(const bench_options *o, const counters *c) {
    for (int side = 0; side < SIDES; side++) {
        const double wide = fmax(side_adds(side) ? spread(c->ratio[0][side], o->rounds) : 0,
                                 spread(c->ratio[1][side], o->rounds));
        printf("%-9zu %5g  %-13s", c->cells, c->mean, side_name[side]);
        if (side_adds(side))
            printf(" %7.1f %6.2f", median(c->ns[0][side], o->rounds),
                   median(c->ratio[0][side], o->rounds));
        else
            printf(" %7s %6s", "-", "-");
        printf(" %7.1f %6.2f %8.2f %4.0f%%\n", median(c->ns[1][side], o->rounds),
               median(c->ratio[1][side], o->rounds), side_bits(c, side), 100 * wide);
        for (int work = 0; o->raw && work < 2; work++) {
            fprintf(o->raw, "counters/%zu/%g/%s\t%s", c->cells, c->mean, side_name[side],
                    work ? "look up" : "add");
            for (int i = 0; i < o->rounds; i++) fprintf(o->raw, "\t%.2f", c->ns[work][side][i]);
            fputc('\n', o->raw);
        }
    }
    fflush(stdout);
}

int counters_bench(const bench_options *o) {
    static counters c;
    static const size_t cells[] = {200000, 1000000, 10000000};
    static const double means[] = {2, 10, 100};
    const bool quick = o->rounds == QUICK_ROUNDS;
    int failed = 0;
    printf("\nCounting keys, k=%d, Zipf 1, windows of %d; ns per key, and times u32's\n"
           "%-9s %5s  %-13s %7s %6s %7s %6s %8s %5s\n",
           K, WINDOW, "counters", "mean", "store", "add", "x", "look up", "x", "bits", "+-");
    for (size_t i = 0; i < (quick ? 1 : 3); i++)
        for (size_t j = 0; j < 3; j++) {
            counters_open(&c, cells[i], means[j], o->rounds);
            for (int round = 0; round < o->rounds; round++) counters_round(&c, round, true);
            counters_freeze(&c);
            for (int round = 0; round < o->rounds; round++) counters_round(&c, round, false);
            counters_print(o, &c);
            const int wrong = counters_check(&c);
            if (wrong)
                printf("%zu counters, mean %g: %d ANSWERS ARE WRONG\n", cells[i], means[j], wrong);
            failed += wrong > 0;
            counters_close(&c);
        }
    return failed;
}
