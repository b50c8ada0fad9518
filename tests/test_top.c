/* test_top.c - top lists against the truth: never too low, never too high, nobody missing above the
 * watermark; keys of all lengths; merging; who was expelled; 100 of 100 words in 16K. */
#include "cells/sets.h"
#include "query/query.h"
#include "suite.h"
#include <math.h>

enum { WORDS = 30000 };

typedef struct world {
    uint64_t count[WORDS];
    double cumulative[WORDS];
    uint64_t random;
} world;

/* Words of a text: the i-th comes about 1/(i + 2.7) as often as the first (Zipf and Mandelbrot). */
static void world_open(world *w, uint64_t seed) {
    double sum = 0;
    memset(w, 0, sizeof *w);
    for (size_t i = 0; i < WORDS; i++) w->cumulative[i] = sum += 1 / ((double)i + 2.7);
    w->random = seed;
}

static size_t world_draw(world *w) {
    const double x = (double)(suite_random(&w->random) >> 11) * 0x1p-53 * w->cumulative[WORDS - 1];
    size_t low = 0, high = WORDS - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (w->cumulative[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Short words for frequent ones, as in a text; some are longer than any set. */
static eb_key word(size_t i, bool lengthy, char *room) {
    const int len = snprintf(room, 40, "%zx", i * 7919 % 1048573);
    if (!lengthy || i % 50 != 7) return (eb_key){room, (size_t)len};
    memset(room + len, 'x', 300);
    return (eb_key){room, (size_t)len + (i * 3) % 300};
}

static void feed(eb_filter *f, world *w, size_t n, bool lengthy) {
    enum { STEP = 500 };
    static char text[STEP][400];
    static eb_key key[STEP];
    for (size_t done = 0; done < n; done += STEP) {
        for (size_t i = 0; i < STEP; i++) {
            const size_t at = world_draw(w);
            w->count[at]++;
            key[i] = word(at, lengthy, text[i]);
        }
        const eb_keys keys = eb_keys_array(EB_TEXT, key);
        const eb_batch b = eb_batch_keys(&keys, STEP);
        OK(eb_add_batch(f, &b, NULL));
    }
}

static eb_top_list whole_list(const eb_filter *f, eb_top_key *room, size_t cap) {
    eb_top_list list = {.size = sizeof list, .keys = room, .cap = cap};
    OK(eb_top(f, &list, NULL));
    return list;
}

/* Which words are listed, and are their counts between their bounds? */
static size_t check_list(const eb_filter *f, const world *w, bool lengthy) {
    static eb_top_key room[WORDS];
    static bool listed[WORDS];
    const eb_top_list list = whole_list(f, room, WORDS);
    size_t found = 0;
    HOLDS(list.n == list.matching);
    memset(listed, 0, sizeof listed);
    for (size_t i = 0; i < list.n; i++) {
        HOLDS(i == 0 || room[i].count <= room[i - 1].count);
        HOLDS(room[i].lower <= room[i].count);
    }
    for (size_t i = 0; i < WORDS; i++) {
        char text[400];
        const eb_key key = word(i, lengthy, text);
        const eb_keys keys = eb_keys_array(EB_TEXT, &key);
        eb_estimate e = {.size = sizeof e};
        eb_hash h;
        OK(eb_hash_keys(f, &keys, 1, &h, NULL));
        OK(eb_estimate_batch(f, SUITE_ONE(h), &e, NULL));
        HOLDS(e.upper >= (double)w->count[i] && e.lower <= (double)w->count[i]);
        if (e.lower == 0) HOLDS((double)w->count[i] <= list.watermark || w->count[i] == 0);
        found += e.lower > 0;
    }
    HOLDS(found == list.n);
    return found;
}

static void lists_are_right(void **state) {
    (void)state;
    static const char *const specs[] = {"top:memory=2K", "top:memory=16K",
                                        "top:memory=64K,shards=4", "top:memory=1M,key_bytes=16"};
    static world w;
    for (size_t s = 0; s < SUITE_COUNT(specs); s++)
        for (int lengthy = 0; lengthy < 2; lengthy++) {
            eb_filter *const f = suite_new(specs[s]);
            suite_at("%s, %d", specs[s], lengthy);
            world_open(&w, s + 1);
            for (int round = 0; round < 3; round++) {
                feed(f, &w, 40000, lengthy);
                HOLDS(check_list(f, &w, lengthy) > 10);
                for (uint64_t i = 0; i < ebi_shards(f); i++)
                    HOLDS(f->kind->check(&f->p, ebi_shard(f, i), NULL) == EB_OK);
            }
            eb_free(f);
        }
}

static void merged_lists_are_right(void **state) {
    (void)state;
    static const char *const specs[] = {"top:memory=2K", "top:memory=16K"};
    static world w, more;
    for (size_t s = 0; s < SUITE_COUNT(specs); s++) {
        eb_filter *const a = suite_new(specs[s]), *const b = suite_new(specs[s]);
        suite_at("%s", specs[s]);
        world_open(&w, 7);
        world_open(&more, 8);
        feed(a, &w, 60000, s == 0);
        feed(b, &more, 30000, s == 0);
        OK(eb_merge(a, b, 1, NULL));
        for (size_t i = 0; i < WORDS; i++) w.count[i] += more.count[i];
        (void)check_list(a, &w, s == 0);
        HOLDS(a->kind->check(&a->p, a->block, NULL) == EB_OK);
        feed(a, &w, 20000, s == 0);
        (void)check_list(a, &w, s == 0);
        eb_free(a);
        eb_free(b);
    }
}

/* Counts that fade: a stream whose hot words drift, with every arrival remembered. */

enum { MOMENTS = 40000, KEYS = 3000 };

typedef struct past {
    uint64_t time[MOMENTS];
    uint16_t word[MOMENTS];
    size_t n;
} past;

static void live(eb_filter *f, past *p, size_t n, uint64_t seed) {
    uint64_t random = seed, now = p->n ? p->time[p->n - 1] : 1000;
    for (size_t i = 0; i < n; i++) {
        char text[20];
        now += suite_below(&random, 7);
        const double u = (double)(suite_random(&random) >> 11) * 0x1p-53;
        const size_t at = ((size_t)pow(KEYS, u) + now / 400 * 13) % KEYS;
        const eb_key key = {text, (size_t)snprintf(text, sizeof text, "w%zu", at)};
        const eb_keys keys = eb_keys_array(EB_TEXT, &key);
        eb_batch b = eb_batch_keys(&keys, 1);
        b.time = &now;
        OK(eb_add_batch(f, &b, NULL));
        p->time[p->n] = now;
        p->word[p->n++] = (uint16_t)at;
    }
}

static double worth(bool halves, double half, uint64_t epochs, uint64_t period, uint64_t then,
                    uint64_t now) {
    if (halves) return exp2(-(double)(now - then) / half);
    return now / period - then / period < epochs ? 1 : 0;
}

/* Every count is between its bounds, and nobody is missing above the watermark. */
static void check_faded(const eb_filter *f, const past *p, uint64_t now, bool halves, double half,
                        uint64_t epochs, uint64_t period) {
    static double truth[KEYS], upper[KEYS], lower[KEYS];
    static eb_top_key room[KEYS];
    double total = 0;
    eb_stats stats = {.size = sizeof stats};
    OK(eb_stat(f, 0, &stats, NULL));
    memset(truth, 0, sizeof truth);
    memset(upper, 0, sizeof upper);
    memset(lower, 0, sizeof lower);
    for (size_t i = 0; i < p->n; i++) {
        const double count = worth(halves, half, epochs, period, p->time[i], now);
        truth[p->word[i]] += count;
        total += count;
    }
    eb_top_list list = {.size = sizeof list, .keys = room, .cap = KEYS, .time = &now};
    OK(eb_top(f, &list, NULL));
    for (size_t i = 0; i < list.n; i++) {
        const size_t at = (size_t)strtoul((const char *)room[i].key.p + 1, NULL, 10);
        upper[at] = room[i].count;
        lower[at] = room[i].lower;
    }
    for (size_t i = 0; i < KEYS; i++) {
        char text[20];
        const eb_key key = {text, (size_t)snprintf(text, sizeof text, "w%zu", i)};
        const eb_keys keys = eb_keys_array(EB_TEXT, &key);
        double count;
        eb_batch b = eb_batch_keys(&keys, 1);
        b.time = &now;
        b.count = &count;
        OK(eb_ask_batch(f, &b, NULL));
        const double least = truth[i] * (1 - 0x1p-14) - stats.too_low;
        HOLDS(count >= least && lower[i] <= truth[i]);
        HOLDS(upper[i] == 0 || (upper[i] >= least && upper[i] == count));
        HOLDS(upper[i] > 0 || least <= list.watermark);
    }
    HOLDS((list.n > 10 || total < 100) && list.first == p->time[0]);
    HOLDS(list.total >= total * (1 - 0x1p-14) && list.total <= total * 1.01 + 1);
}

static void faded_lists_are_right(void **state) {
    (void)state;
    static past p;
    static const char *const ways[] = {"by=half,period=3000", "by=window,epochs=20,period=200",
                                       "by=window,epochs=1,period=5000",
                                       "by=window,epochs=200,period=30"};
    static const uint64_t epochs[] = {0, 20, 1, 200}, period[] = {1, 200, 5000, 30};
    static const char *const sizes[] = {"memory=16K,key_bytes=8", "memory=64K",
                                        "memory=96K,shards=2"};
    for (size_t w = 0; w < SUITE_COUNT(ways); w++)
        for (size_t s = 0; s < SUITE_COUNT(sizes); s++) {
            if (suite_quick() && (w > 1 || s > 0)) continue;
            char spec[100];
            (void)snprintf(spec, sizeof spec, "top:%s,%s", ways[w], sizes[s]);
            if (w == 3 && s == 0) continue; /* 200 epochs need more room */
            suite_at("%s", spec);
            eb_filter *const f = suite_new(spec), *const g = suite_new(spec);
            p.n = 0;
            for (int round = 0; round < 3; round++) {
                live(f, &p, 4000, 5 + (uint64_t)round);
                const uint64_t now = p.time[p.n - 1];
                check_faded(f, &p, now, w == 0, 3000, epochs[w], period[w]);
                check_faded(f, &p, now + 1777, w == 0, 3000, epochs[w], period[w]);
                for (uint64_t i = 0; i < ebi_shards(f); i++)
                    HOLDS(f->kind->check(&f->p, ebi_shard(f, i), NULL) == EB_OK);
            }
            const size_t first = p.n;
            live(g, &p, 3000, 99); /* which begins where the other ended */
            OK(eb_merge(f, g, 1, NULL));
            check_faded(f, &p, p.time[p.n - 1], w == 0, 3000, epochs[w], period[w]);
            for (uint64_t i = 0; i < ebi_shards(f); i++)
                HOLDS(f->kind->check(&f->p, ebi_shard(f, i), NULL) == EB_OK);
            live(f, &p, 2000, 7);
            check_faded(f, &p, p.time[p.n - 1], w == 0, 3000, epochs[w], period[w]);
            HOLDS(p.n > first);
            eb_free(f);
            eb_free(g);
        }
}

/* The most frequent words are in the list, and the list begins with them. */
static size_t found_of(const eb_filter *f, const world *w, size_t wanted) {
    static eb_top_key room[500];
    const eb_top_list list = whole_list(f, room, wanted);
    size_t found = 0;
    HOLDS(list.n == wanted);
    for (size_t i = 0; i < wanted; i++) {
        uint64_t above = 0, own = 0;
        for (size_t j = 0; j < WORDS; j++) {
            char text[400];
            const eb_key key = word(j, false, text);
            if (key.len == room[i].key.len && memcmp(key.p, room[i].key.p, key.len) == 0)
                own = w->count[j];
        }
        for (size_t j = 0; j < WORDS; j++) above += w->count[j] > own;
        found += above < wanted;
    }
    return found;
}

static void a_hundred_words_fit_in_16k(void **state) {
    (void)state;
    SUITE_LONG();
    static world w;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        char spec[60];
        (void)snprintf(spec, sizeof spec, "top:memory=16K,seed=%llu", (unsigned long long)seed);
        eb_filter *const f = suite_new(spec);
        suite_at("%s", spec);
        world_open(&w, seed);
        feed(f, &w, 5000000, false);
        HOLDS(found_of(f, &w, 100) == 100);
        eb_free(f);
    }
}

typedef struct gone {
    size_t n;
    char last[40];
} gone;

static void note(void *ctx, size_t i, eb_key key) {
    gone *const g = ctx;
    HOLDS(i < 64 && key.len < sizeof g->last);
    memcpy(g->last, key.p, key.len);
    g->last[key.len] = '\0';
    g->n++;
}

/* A full set: who is larger than the least takes its place, and that is told; a list is complete
 * above its watermark. */
static void who_is_expelled_is_told(void **state) {
    (void)state;
    eb_filter *const f = suite_new("top:cells=6400,list=512");
    char text[20][8];
    gone g = {0, ""};
    for (int i = 0; i < 16; i++) {
        const eb_key key = {text[i], (size_t)snprintf(text[i], 8, "k%d", i)};
        const eb_keys keys = eb_keys_array(EB_TEXT, &key);
        const uint64_t value = 5 + (uint64_t)i;
        eb_batch b = eb_batch_keys(&keys, 1);
        b.value = &value;
        b.expelled = note;
        b.ctx = &g;
        OK(eb_add_batch(f, &b, NULL));
    }
    eb_top_key room[20];
    HOLDS(g.n == 0 && whole_list(f, room, 20).n == 16 && whole_list(f, room, 20).watermark == 0);
    HOLDS(room[0].count == 20 && room[0].lower == 20 && memcmp(room[0].key.p, "k15", 3) == 0);
    const eb_key newcomer = {"newcomer", 8};
    const eb_keys keys = eb_keys_array(EB_TEXT, &newcomer);
    for (int i = 0; i < 6; i++) {
        double count;
        uint8_t seen;
        eb_batch b = eb_batch_keys(&keys, 1);
        b.expelled = note;
        b.ctx = &g;
        b.count = &count;
        b.seen = i % 2 ? &seen : NULL;
        OK(eb_add_batch(f, &b, NULL));
        HOLDS(count == i + 1 && g.n == (i == 5));
    }
    HOLDS(strcmp(g.last, "k0") == 0);
    HOLDS(whole_list(f, room, 20).watermark == 5);
    bool seen;
    double count;
    OK(eb_ask(f, "k0", 2, &seen, &count, NULL));
    HOLDS(seen && count == 5);
    eb_top_list few = {.size = sizeof few, .at_least = 7, .keys = room, .cap = 3};
    OK(eb_top(f, &few, NULL));
    HOLDS(few.n == 3 && few.matching == 14 && room[2].count == 18);
    eb_free(f);
}

/* In all ways to count: who was in the list before an add, and is not any more, is told, and nobody
 * else. */

typedef struct told {
    size_t n;
    char key[64][8];
} told;

static void note_all(void *ctx, size_t i, eb_key key) {
    told *const t = ctx;
    HOLDS(i == 0 && key.len < 8 && t->n < 64);
    memcpy(t->key[t->n], key.p, key.len);
    t->key[t->n++][key.len] = '\0';
}

static bool is_listed(const eb_top_list *list, const char *key) {
    for (size_t i = 0; i < list->n; i++)
        if (list->keys[i].key.len == strlen(key) &&
            memcmp(list->keys[i].key.p, key, strlen(key)) == 0)
            return true;
    return false;
}

static void whoever_goes_is_told(void **state) {
    (void)state;
    static const char *const ways[] = {"by=half,period=100000", "by=window,epochs=5,period=100000",
                                       "by=poly,period=100000"};
    for (size_t w = 0; w < SUITE_COUNT(ways); w++) {
        char spec[80];
        (void)snprintf(spec, sizeof spec, "top:memory=8K,list=1K,%s", ways[w]);
        eb_filter *const f = suite_new(spec);
        uint64_t random = 4, expelled = 0;
        suite_at("%s", spec);
        for (int i = 0; i < 600; i++) {
            char text[8];
            const eb_key key = {
                text, (size_t)snprintf(text, sizeof text, "k%d", (int)suite_below(&random, 200))};
            const eb_keys keys = eb_keys_array(EB_TEXT, &key);
            const uint64_t value = 1 + suite_below(&random, 100);
            static eb_top_key before[300], after[300];
            told t = {.n = 0};
            eb_batch b = eb_batch_keys(&keys, 1);
            const eb_top_list old = whole_list(f, before, 300);
            char names[300][8];
            for (size_t j = 0; j < old.n; j++) {
                memcpy(names[j], before[j].key.p, before[j].key.len);
                names[j][before[j].key.len] = '\0';
            }
            b.value = &value;
            b.expelled = note_all;
            b.ctx = &t;
            OK(eb_add_batch(f, &b, NULL));
            const eb_top_list now = whole_list(f, after, 300);
            size_t left = 0;
            for (size_t j = 0; j < old.n; j++) left += !is_listed(&now, names[j]);
            HOLDS(left == t.n);
            for (size_t j = 0; j < t.n; j++) HOLDS(!is_listed(&now, t.key[j]));
            expelled += left;
        }
        HOLDS(expelled > 20);
        eb_free(f);
    }
}

/* Keys that came in both filters are counted together before it is decided who stays: nobody counts
 * less than before, and whoever is missing has no more than the watermark. */
static void merged_counts_decide_who_stays(void **state) {
    (void)state;
    enum { BOTH = 30, ALL = 90 }; /* a third in both, in the first only, in the second only */
    static const char *const ways[] = {"by=no", "by=half,period=100000",
                                       "by=window,epochs=5,period=100000", "by=poly,period=100000"};
    for (size_t w = 0; w < SUITE_COUNT(ways); w++) {
        char spec[80], text[ALL][8];
        (void)snprintf(spec, sizeof spec, "top:memory=32K,list=2K,%s", ways[w]);
        eb_filter *const f = suite_new(spec), *const g = suite_new(spec);
        static eb_top_key room[ALL];
        suite_at("%s", spec);
        for (int i = 0; i < ALL; i++) {
            const eb_key key = {text[i], (size_t)snprintf(text[i], 8, "k%d", i)};
            const eb_keys keys = eb_keys_array(EB_TEXT, &key);
            const uint64_t ten = 10, twelve = 12;
            eb_batch b = eb_batch_keys(&keys, 1);
            b.value = i < BOTH ? &ten : &twelve;
            if (i < 2 * BOTH) OK(eb_add_batch(f, &b, NULL));
            if (i < BOTH || i >= 2 * BOTH) OK(eb_add_batch(g, &b, NULL));
        }
        OK(eb_merge(f, g, 1, NULL));
        const eb_top_list list = whole_list(f, room, ALL);
        HOLDS(list.n > 20 && list.n < ALL && list.watermark > 0);
        for (int i = 0; i < ALL; i++) {
            double count;
            OK(eb_ask(f, text[i], strlen(text[i]), NULL, &count, NULL));
            HOLDS(count >= (i < BOTH ? 20 : 12) * 0.99);
            HOLDS(is_listed(&list, text[i]) || list.watermark >= count);
        }
        eb_free(f);
        eb_free(g);
    }
}

/* Of a key that is longer than half of a set only the beginning is kept: two of them fit. */
static void the_longest_keys_are_cut(void **state) {
    (void)state;
    eb_filter *const f = suite_new("top:memory=4K,list=1K,key_bytes=8");
    char text[2][2000];
    for (int i = 0; i < 2; i++) {
        memset(text[i], 'a' + i, sizeof text[i]);
        const eb_key key = {text[i], sizeof text[i]};
        const eb_keys keys = eb_keys_array(EB_TEXT, &key);
        const eb_batch b = eb_batch_keys(&keys, 1);
        for (int times = 0; times < 5 + i; times++) OK(eb_add_batch(f, &b, NULL));
    }
    eb_top_key room[3];
    const eb_top_list list = whole_list(f, room, 3);
    HOLDS(list.n == 2 && room[0].count == 6 && room[1].count == 5);
    for (int i = 0; i < 2; i++) {
        HOLDS(room[i].key.len > 16 && room[i].key.len < 1000);
        HOLDS(memcmp(room[i].key.p, text[1 - i], room[i].key.len) == 0);
    }
    eb_free(f);
}

/* Stamps of sets cannot say that more than 2^29 half-lives passed.  After such a jump the list is
 * the same as that of the stream from time 0. */
static void stamps_do_not_wrap(void **state) {
    (void)state;
    static past p, q;
    static eb_top_key now[KEYS], then[KEYS];
    eb_filter *const f = suite_new("top:memory=64K,by=half,period=3000");
    eb_filter *const zero = suite_new("top:memory=64K,by=half,period=3000");
    p.n = q.n = 0;
    live(f, &p, 100, 1);
    p.time[p.n - 1] = UINT64_C(1200000) << 22; /* the words that live draws come again */
    q.time[q.n++] = 0;
    live(f, &p, 4000, 3);
    live(zero, &q, 4000, 3);
    const eb_top_list list = whole_list(f, now, KEYS), wanted = whole_list(zero, then, KEYS);
    suite_at("lists of %zu and %zu", list.n, wanted.n);
    HOLDS(list.n == wanted.n && list.n > 100);
    for (size_t i = 0; i < list.n; i++)
        HOLDS(now[i].count == then[i].count && now[i].lower == then[i].lower);
    eb_free(f);
    eb_free(zero);
}

static void misuse_is_explained(void **state) {
    (void)state;
    eb_error err;
    eb_filter *const f = suite_new("spectral:memory=4K"), *const t = suite_new("top:memory=4K");
    eb_top_list list = {.size = sizeof list};
    GIVES(EB_ENOTSUP, eb_top(f, &list, &err));
    list.cap = 3;
    GIVES(EB_EINVAL, eb_top(t, &list, &err));
    list.size = 3;
    GIVES(EB_ESIZE, eb_top(t, &list, &err));
    const eb_hash h = 5;
    GIVES(EB_ENOTSUP, eb_add_batch(t, SUITE_ONE(h), &err));
    eb_filter *none = NULL;
    GIVES(EB_ESPEC, eb_new(&none, "top:memory=4K,keys=i64", NULL, &err));
    GIVES(EB_ESPEC, eb_new(&none, "top:memory=2K,key_bytes=1024", NULL, &err));
    eb_free(f);
    eb_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_right),         cmocka_unit_test(merged_lists_are_right),
        cmocka_unit_test(faded_lists_are_right),   cmocka_unit_test(a_hundred_words_fit_in_16k),
        cmocka_unit_test(who_is_expelled_is_told), cmocka_unit_test(misuse_is_explained),
        cmocka_unit_test(stamps_do_not_wrap),      cmocka_unit_test(the_longest_keys_are_cut),
        cmocka_unit_test(whoever_goes_is_told),    cmocka_unit_test(merged_counts_decide_who_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
