/* test_sliding.c - a window that slides over a stream, by taking out each key when it leaves.  By
 * parts that are subtracted whole: test_query.c. */
#include "suite.h"

enum { KEYS = 300 };

static const char MS[] = "spectral:update=plain,k=4,cells=2000,span=0,store=u32";
static const char SHARDED[] = "spectral:update=plain,k=4,cells=1000,shards=2,store=line";
static const char RMX[] = "spectral_rm:k=4,cells=2000,span=0,second=128";

typedef struct occurrence {
    eb_hash hash;
    uint64_t value;
} occurrence;

static occurrence draw(uint64_t *random) {
    const uint64_t key = suite_below(random, KEYS);
    return (occurrence){ebi_mix(key * key / KEYS), 1 + (uint32_t)suite_below(random, 3)};
}

/* A filter of these alone, to compare with; and the truth. */
static eb_filter *fresh(const char *spec, const occurrence *o, size_t n) {
    eb_filter *const f = suite_new(spec);
    for (size_t i = 0; i < n; i++)
        OK(eb_add_batch(f, &A_BATCH(1, &o[i].hash, &o[i].value, NULL), NULL));
    return f;
}

static double truth(const occurrence *o, size_t n, eb_hash h) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += o[i].hash == h ? (double)o[i].value : 0;
    return sum;
}

static void counts_the_window(const eb_filter *f, const char *spec, const occurrence *o, size_t n) {
    eb_filter *const only = fresh(spec, o, n);
    for (uint64_t key = 0; key < KEYS; key += 7) {
        const eb_hash h = ebi_mix(key);
        double count, wanted;
        calls_count(f, &h, 1, &count);
        calls_count(only, &h, 1, &wanted);
        HOLDS(count >= truth(o, n, h));
        HOLDS(count == wanted || spec == RMX); /* entries know less of what is gone */
    }
    eb_free(only);
}

/* By deletion, as docs/tutorials/windows.md has it: the hashes of the window in a ring. */
static void windows_slide_by_deletion(void **state) {
    (void)state;
    enum { WINDOW = 700, STREAM = 3000 };
    static const char *const specs[] = {MS, SHARDED, RMX};
    for (size_t s = 0; s < SUITE_COUNT(specs); s++) {
        static occurrence all[STREAM];
        eb_filter *const f = suite_new(specs[s]);
        eb_hash ring[WINDOW];
        uint64_t random = 5;
        suite_at("%s", specs[s]);
        for (size_t i = 0; i < STREAM; i++) {
            all[i] = (occurrence){draw(&random).hash, 1};
            eb_hash *const slot = &ring[i % WINDOW];
            if (i >= WINDOW) OK(eb_remove_batch(f, &A_BATCH(1, slot, NULL, NULL), NULL));
            *slot = all[i].hash;
            OK(eb_add_batch(f, &A_BATCH(1, slot, NULL, NULL), NULL));
            if (i % 500 == 499) {
                const size_t n = i + 1 < WINDOW ? i + 1 : WINDOW;
                counts_the_window(f, specs[s], all + i + 1 - n, n);
            }
        }
        eb_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_slide_by_deletion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
