/* hashing.c - what it costs to hash keys, by layout; and what hash=sip costs in all.
 *
 * First eb_hash_keys alone, for each way in which callers have keys, with both hashes.  Then
 * 16-byte keys added to filters of 64 MB, hashed inside the measured time, in batches and one by
 * one.  A round measures both hashes one after the other, in time of this thread; what is printed
 * are medians of the rounds and of their ratios. */
#include "bench.h"

enum { HASHING_WIDTH = 16, HASHING_ROUNDS = 101 };

typedef struct hashing_row {
    const char *name, *keys; /* keys=, of the filter */
    eb_keys from;
} hashing_row;

static uint8_t text[CHUNK][HASHING_WIDTH];
static uint64_t number[CHUNK];
static eb_key key[CHUNK];
static int32_t offset32[CHUNK + 1];
static int64_t offset64[CHUNK + 1];
static eb_hash hash[CHUNK];
static uint8_t seen[CHUNK];

static void hashing_draw(uint64_t from) {
    for (size_t i = 0; i < CHUNK; i++) {
        const uint64_t half[2] = {workload_mix(from + i), from + i};
        memcpy(text[i], half, sizeof half);
        number[i] = half[0] >> 34; /* 30 bits */
        key[i] = (eb_key){text[i], HASHING_WIDTH};
        offset32[i + 1] = (int32_t)((i + 1) * HASHING_WIDTH);
        offset64[i + 1] = offset32[i + 1];
    }
}

static eb_keys hashing_offsets(uint32_t layout, const void *offsets) {
    return (eb_keys){.size = sizeof(eb_keys),
                     .type = EB_STRING,
                     .layout = layout,
                     .data = text,
                     .offsets = offsets,
                     .bytes = sizeof text};
}

static eb_filter *hashing_filter(const char *spec, const char *options) {
    char all[EB_SPEC_MAX];
    eb_filter *f;
    eb_error err;
    snprintf(all, sizeof all, "%s,%s", spec, options);
    if (eb_new(&f, all, NULL, &err)) bench_die(all, err.text);
    return f;
}

static void hashing_print(const bench_options *o, const char *name, const char *what,
                          double ns[2][HASHING_ROUNDS], int rounds) {
    static const char *const names[2] = {"xxh3", "sip"};
    double ratio[HASHING_ROUNDS];
    for (int i = 0; i < rounds; i++) ratio[i] = ns[1][i] / ns[0][i];
    printf("%-32s %-8s %7.1f %7.1f %7.2f %4.0f%%\n", name, what, median(ns[0], rounds),
           median(ns[1], rounds), median(ratio, rounds), 100 * spread(ratio, rounds));
    fflush(stdout);
    for (int sip = 0; o->raw && sip < 2; sip++) {
        fprintf(o->raw, "%s\t%s %s", name, what, names[sip]);
        for (int i = 0; i < rounds; i++) fprintf(o->raw, "\t%.2f", ns[sip][i]);
        fputc('\n', o->raw);
    }
}

/* The same keys in every layout have the same hashes. */
static void hashing_layout(const bench_options *o, const hashing_row *row, int rounds) {
    static double ns[2][HASHING_ROUNDS];
    static const char *const hashes[2] = {"xxh3", "sip"};
    eb_filter *f[2];
    eb_error err;
    for (int sip = 0; sip < 2; sip++) {
        char options[64];
        snprintf(options, sizeof options, "keys=%s,hash=%s", row->keys, hashes[sip]);
        f[sip] = hashing_filter("bloom:memory=1K", options);
    }
    for (int i = 0; i < rounds; i++)
        for (int sip = 0; sip < 2; sip++) {
            const double start = thread_ns();
            for (size_t from = 0; from < CHUNK; from += CHUNK / 4) /* beginning anywhere */
                calls_must(eb_hash_keys(f[sip], &row->from, CHUNK / 4, hash + from, &err), &err);
            ns[sip][i] = (thread_ns() - start) / CHUNK;
        }
    hashing_print(o, row->name, "hash", ns, rounds);
    eb_free(f[0]);
    eb_free(f[1]);
}

static double hashing_add(eb_filter *f, bool single) {
    const eb_keys keys = eb_keys_array(EB_STRING, key);
    eb_batch b = eb_batch_keys(&keys, CHUNK);
    eb_error err;
    b.seen = seen;
    const double start = thread_ns();
    if (!single) calls_must(eb_add_batch(f, &b, &err), &err);
    for (size_t i = 0; single && i < CHUNK; i++) {
        bool there;
        calls_must(eb_add(f, key[i].p, key[i].len, &there, &err), &err);
        seen[i] = there;
    }
    return (thread_ns() - start) / CHUNK;
}

static void hashing_filters(const bench_options *o, const char *spec, double loaded, int rounds) {
    static double batch[2][HASHING_ROUNDS], single[2][HASHING_ROUNDS];
    eb_filter *const f[2] = {hashing_filter(spec, "hash=xxh3"), hashing_filter(spec, "hash=sip")};
    uint64_t next = 0;
    for (; (double)next < loaded; next += CHUNK) {
        hashing_draw(next);
        for (int sip = 0; sip < 2; sip++) hashing_add(f[sip], false);
    }
    for (int i = 0; i < rounds; i++, next += 2 * (uint64_t)CHUNK) {
        hashing_draw(next);
        for (int sip = 0; sip < 2; sip++) batch[sip][i] = hashing_add(f[sip], false);
        hashing_draw(next + CHUNK);
        for (int sip = 0; sip < 2; sip++) single[sip][i] = hashing_add(f[sip], true);
    }
    hashing_print(o, spec, "batch", batch, rounds);
    hashing_print(o, spec, "calls", single, rounds);
    eb_free(f[0]);
    eb_free(f[1]);
}

void hashing_bench(const bench_options *o) {
    const int rounds = o->rounds == QUICK_ROUNDS ? QUICK_ROUNDS : HASHING_ROUNDS;
    const hashing_row rows[] = {
        {"array, 16 bytes", "text", eb_keys_array(EB_STRING, key)},
        {"column, 16 bytes", "bytes", eb_keys_column(EB_BYTES, text, HASHING_WIDTH)},
        {"offsets of 32 bits, 16 bytes", "text", hashing_offsets(EB_OFFSETS32, offset32)},
        {"offsets of 64 bits, 16 bytes", "text", hashing_offsets(EB_OFFSETS64, offset64)},
        {"column of int64, keys=i64", "i64", eb_keys_column(EB_I64, number, sizeof *number)},
        {"column of int64, as text", "text", eb_keys_column(EB_I64, number, sizeof *number)},
    };
    static const struct {
        const char *spec;
        double loaded;
    } filters[] = {{"lru:memory=64M", 3e7},
                   {"bloom:memory=64M", 5e7},
                   {"choosy:memory=64M", 5e7},
                   {"spectral:memory=64M", 1e7}};
    printf("\n%-32s %-8s %15s %7s\n", "", "", "ns per key", "times");
    printf("%-32s %-8s %7s %7s %7s %5s\n", "keys", "", "xxh3", "sip", "xxh3", "+-");
    hashing_draw(0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) hashing_layout(o, &rows[i], rounds);
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (rounds != QUICK_ROUNDS) hashing_filters(o, filters[i].spec, filters[i].loaded, rounds);
}
