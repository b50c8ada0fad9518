/* batches.c - what a batch costs in C, for bench/wasm.mjs to compare with.
 *
 *     everbloom-batches KEYS SPEC... <<< any line
 *
 * For each line of input, every filter is emptied, given the keys and asked for them again, in
 * batches; a line of output has for each filter four times, in nanoseconds a key: adding and asking
 * for texts, then for hashes.  The keys are those of bench/wasm.mjs. */
#include "bench.h"

enum { BATCHES_SIZE = 4096, BATCHES_TIMES = 4, BATCHES_FILTERS = 32 };

typedef struct batches_keys {
    size_t n;
    char *text;
    int32_t *offset;
    eb_hash *hash;
} batches_keys;

static void batches_make_keys(batches_keys *k, size_t n) {
    *k = (batches_keys){n, malloc(32 * n), malloc((n + 1) * sizeof *k->offset),
                        malloc(n * sizeof *k->hash)};
    if (!k->text || !k->offset || !k->hash) bench_die("keys", "no memory");
    k->offset[0] = 0;
    for (size_t i = 0; i < n; i++)
        k->offset[i + 1] = k->offset[i] + sprintf(k->text + k->offset[i], "user-%llu@example.org",
                                                  (unsigned long long)i * 7919 % 10000019);
}

static eb_keys batches_of(const batches_keys *k, size_t first) {
    return eb_keys_offsets32(EB_STRING, k->text, (size_t)k->offset[k->n], k->offset + first);
}

static double batches_time(eb_filter *f, const batches_keys *k, bool hashes, bool adds) {
    uint8_t seen[BATCHES_SIZE];
    const double start = now_ns();
    for (size_t i = 0; i < k->n; i += BATCHES_SIZE) {
        const size_t n = k->n - i < BATCHES_SIZE ? k->n - i : BATCHES_SIZE;
        const eb_keys keys = batches_of(k, i);
        eb_batch b = hashes ? eb_batch_hashes(k->hash + i, n) : eb_batch_keys(&keys, n);
        b.seen = seen;
        if ((adds ? eb_add_batch(f, &b, NULL) : eb_ask_batch(f, &b, NULL)) != EB_OK)
            bench_die(eb_spec(f), "refused a batch");
    }
    return (now_ns() - start) / (double)k->n;
}

static void batches_round(eb_filter *f, batches_keys *k) {
    const eb_keys keys = batches_of(k, 0);
    if (eb_hash_keys(f, &keys, k->n, k->hash, NULL) != EB_OK) bench_die(eb_spec(f), "keys");
    for (int i = 0; i < BATCHES_TIMES; i++) {
        if (i % 2 == 0 && eb_clear(f, NULL) != EB_OK) bench_die(eb_spec(f), "not emptied");
        printf("%.3f ", batches_time(f, k, i >= 2, i % 2 == 0));
    }
}

int main(int argc, char **argv) {
    static eb_filter *filter[BATCHES_FILTERS];
    const long n = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    const int filters = argc - 2;
    batches_keys keys;
    eb_error err;
    if (n < 1 || filters > BATCHES_FILTERS) bench_die("usage", "everbloom-batches KEYS SPEC...");
    batches_make_keys(&keys, (size_t)n);
    for (int i = 0; i < filters; i++)
        if (eb_new(&filter[i], argv[i + 2], NULL, &err) != EB_OK) bench_die(argv[i + 2], err.text);
    for (char line[16]; fgets(line, sizeof line, stdin);) {
        for (int i = 0; i < filters; i++) batches_round(filter[i], &keys);
        puts("");
        (void)fflush(stdout);
    }
    for (int i = 0; i < filters; i++) eb_free(filter[i]);
    free(keys.text);
    free(keys.offset);
    free(keys.hash);
    return 0;
}
