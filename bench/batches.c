/* batches.c - what a batch costs in C, for bench/wasm.mjs to compare with.
 *
 *     everbloom-batches KEYS SPEC... <<< any line
 *
 * For each line of input, every filter is emptied, given the keys and asked for them again, in
 * batches; a line of output has for each filter four times, in nanoseconds a key: adding and asking
 * for texts, then for hashes.  Of each batch the least of all lines so far counts, so that other
 * work of the machine does not.  The keys are those of bench/wasm.mjs. */
#include "bench.h"
#include <math.h>

enum { BATCHES_SIZE = 4096, BATCHES_TIMES = 4, BATCHES_FILTERS = 32 };

typedef struct batches_filter {
    eb_filter *f;
    double *least[BATCHES_TIMES]; /* of each batch */
} batches_filter;

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

static double batches_time(batches_filter *to, const batches_keys *k, int which) {
    const bool hashes = which >= 2, adds = which % 2 == 0;
    uint8_t seen[BATCHES_SIZE];
    double sum = 0;
    for (size_t i = 0; i < k->n; i += BATCHES_SIZE) {
        const double start = now_ns();
        const size_t n = k->n - i < BATCHES_SIZE ? k->n - i : BATCHES_SIZE;
        const eb_keys keys = batches_of(k, i);
        eb_batch b = hashes ? eb_batch_hashes(k->hash + i, n) : eb_batch_keys(&keys, n);
        b.seen = seen;
        if ((adds ? eb_add_batch(to->f, &b, NULL) : eb_ask_batch(to->f, &b, NULL)) != EB_OK)
            bench_die(eb_spec(to->f), "refused a batch");
        double *const least = &to->least[which][i / BATCHES_SIZE];
        *least = fmin(*least, now_ns() - start);
        sum += *least;
    }
    return sum / (double)k->n;
}

static void batches_open(batches_filter *to, const char *spec, size_t n) {
    eb_error err;
    if (eb_new(&to->f, spec, NULL, &err) != EB_OK) bench_die(spec, err.text);
    for (int which = 0; which < BATCHES_TIMES; which++) {
        to->least[which] = malloc((n / BATCHES_SIZE + 1) * sizeof(double));
        if (!to->least[which]) bench_die(spec, "no memory");
        for (size_t i = 0; i <= n / BATCHES_SIZE; i++) to->least[which][i] = INFINITY;
    }
}

static void batches_round(batches_filter *to, batches_keys *k) {
    const eb_keys keys = batches_of(k, 0);
    if (eb_hash_keys(to->f, &keys, k->n, k->hash, NULL) != EB_OK) bench_die(eb_spec(to->f), "keys");
    for (int which = 0; which < BATCHES_TIMES; which++) {
        if (which % 2 == 0 && eb_clear(to->f, NULL) != EB_OK)
            bench_die(eb_spec(to->f), "not emptied");
        printf("%.3f ", batches_time(to, k, which));
    }
}

static void batches_close(batches_filter *f) {
    for (int which = 0; which < BATCHES_TIMES; which++) free(f->least[which]);
    eb_free(f->f);
}

int main(int argc, char **argv) {
    static batches_filter filter[BATCHES_FILTERS];
    const long n = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    const int filters = argc - 2;
    batches_keys keys;
    if (n < 1 || filters > BATCHES_FILTERS) bench_die("usage", "everbloom-batches KEYS SPEC...");
    batches_make_keys(&keys, (size_t)n);
    for (int i = 0; i < filters; i++) batches_open(&filter[i], argv[i + 2], (size_t)n);
    for (char line[16]; fgets(line, sizeof line, stdin);) {
        for (int i = 0; i < filters; i++) batches_round(&filter[i], &keys);
        puts("");
        (void)fflush(stdout);
    }
    for (int i = 0; i < filters; i++) batches_close(&filter[i]);
    free(keys.text);
    free(keys.offset);
    free(keys.hash);
    return 0;
}
