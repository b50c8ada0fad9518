/* test_panes.c - windows that slide over a stream: by panes that are subtracted whole, and by
 * taking out each key when it leaves. */
#include "suite.h"
#include <everbloom/experimental.h>

enum { KEYS = 300, PANES = 4, PANE = 500, TURNS = 11 };

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

static void slides_by_panes(const char *spec) {
    static occurrence all[TURNS * PANE];
    uint64_t random = 11;
    eb_panes *w = NULL;
    suite_at("%s", spec);
    OK(eb_panes_new(&w, spec, PANES, NULL, NULL));
    for (size_t turn = 0; turn < TURNS; turn++) {
        for (size_t i = turn * PANE; i < (turn + 1) * PANE; i++) {
            uint8_t seen = 2;
            all[i] = draw(&random);
            eb_batch one = A_BATCH(1, &all[i].hash, &all[i].value, NULL);
            one.seen = &seen;
            OK(eb_panes_add(w, &one, NULL));
            HOLDS(seen <= 1);
        }
        const size_t panes = turn + 1 < PANES ? turn + 1 : PANES, end = (turn + 1) * PANE;
        counts_the_window(eb_panes_whole(w), spec, all + end - panes * PANE, panes * PANE);
        counts_the_window(eb_panes_pane(w, 0), spec, all + end - PANE, PANE);
        if (panes == PANES)
            counts_the_window(eb_panes_pane(w, PANES - 1), spec, all + end - PANES * PANE, PANE);
        eb_panes_turn(w);
        counts_the_window(eb_panes_whole(w), spec, all + end - (panes - (panes == PANES)) * PANE,
                          (panes - (panes == PANES)) * PANE);
    }
    HOLDS(eb_panes_pane(w, PANES) == NULL);
    eb_panes_free(w);
}

static void windows_slide_by_panes(void **state) {
    (void)state;
    slides_by_panes(MS);
    slides_by_panes(SHARDED);
    slides_by_panes(RMX);
}

/* Counters that find no room are right again when the keys that filled them have left. */
static void saturation_leaves_with_its_pane(void **state) {
    (void)state;
    static const char spec[] = "spectral:update=plain,k=4,cells=200,store=line,counter_bits=3";
    eb_panes *w = NULL;
    const uint64_t large = 100000, one = 1;
    eb_stats s = {.size = sizeof s};
    OK(eb_panes_new(&w, spec, 3, NULL, NULL));
    for (uint64_t i = 0; i < 50; i++) {
        const eb_hash h = ebi_mix(i);
        OK(eb_panes_add(w, &A_BATCH(1, &h, &large, NULL), NULL));
    }
    calls_stat(eb_panes_whole(w), &s);
    HOLDS(s.saturated > 0);
    for (int turn = 0; turn < 3; turn++) {
        const eb_hash h = ebi_mix(1000 + (uint64_t)turn);
        eb_panes_turn(w);
        OK(eb_panes_add(w, &A_BATCH(1, &h, &one, NULL), NULL));
    }
    calls_stat(eb_panes_whole(w), &s);
    HOLDS(s.saturated == 0);
    for (uint64_t i = 0; i < 3; i++) {
        const eb_hash h = ebi_mix(1000 + i);
        double count;
        calls_count(eb_panes_whole(w), &h, 1, &count);
        HOLDS(count >= 1 && count < 4);
    }
    eb_panes_free(w);
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

static void what_cannot_slide_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        size_t panes;
        eb_status status;
        const char *reason;
    } cases[] = {{"spectral", 3, EB_ENOTSUP, "update=conservative"},
                 {"bloom", 3, EB_ENOTSUP, "bloom"},
                 {"spectral_rm:method=rm", 3, EB_ENOTSUP, "second counters"},
                 {MS, 0, EB_EINVAL, "panes must be"},
                 {MS, EB_PANES_MAX + 1, EB_EINVAL, "panes must be"},
                 {"spectral:k=99", 3, EB_ESPEC, "k must be"}};
    for (size_t i = 0; i < SUITE_COUNT(cases); i++) {
        eb_panes *w = NULL;
        eb_error err = {.text = ""};
        GIVES(cases[i].status, eb_panes_new(&w, cases[i].spec, cases[i].panes, NULL, &err));
        HOLDS(w == NULL && strstr(err.text, cases[i].reason));
    }
    for (size_t fail_at = 1; fail_at <= 9; fail_at++) {
        suite_memory m;
        eb_panes *w = NULL;
        suite_memory_init(&m, fail_at, 0xa5);
        const eb_status status = eb_panes_new(&w, MS, 3, &m.allocator, NULL);
        HOLDS(status == EB_ENOMEM && w == NULL && m.blocks == 0);
    }
    eb_panes_free(NULL);
    eb_panes *w = NULL;
    OK(eb_panes_new(&w, MS, 1, NULL, NULL));
    const uint64_t none = 0;
    const eb_hash h = 1;
    GIVES(EB_EVALUE, eb_panes_add(w, &A_BATCH(1, &h, &none, NULL), NULL));
    eb_panes_free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_slide_by_panes),
        cmocka_unit_test(saturation_leaves_with_its_pane),
        cmocka_unit_test(windows_slide_by_deletion),
        cmocka_unit_test(what_cannot_slide_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
