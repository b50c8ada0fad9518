/* test_stores.c - every store of counters against a plain array, over random
 * operations; a sequence that fails is cut down to the shortest one that does.
 * EVERBLOOM_OPERATIONS=1e8 sets how many operations each store gets. */
#include "cells/counters.h"
#include "suite.h"

enum { SEQUENCE = 4000, N_MAX = 20000, N_SMALL = 3000 };

typedef enum deed { ADD, SUB, RAISE, LIFT } deed;
static const char *const deed_name[] = {"add", "sub", "raise", "lift"};

typedef struct operation {
    deed what;
    uint64_t i, by;      /* SUB: at most what is there */
    uint64_t step, more; /* RAISE, LIFT: counters i, i + step, ..., so many after the first */
} operation;

/* How operations are drawn. */
typedef struct profile {
    const char *name;
    uint64_t n;
    double bits;      /* for each counter, beyond the store's least */
    uint64_t spread;  /* counters that are touched */
    unsigned by_bits; /* largest step, as a power of 2 */
    unsigned subs;    /* per cent */
    bool tight;       /* counters may saturate */
} profile;

static const profile profiles[] = {
    {"small steps", 700, 12, 700, 1, 0, false},
    {"up and down", 700, 12, 700, 3, 50, false},
    {"large steps", 200, 200, 200, 40, 30, false},
    {"one neighbourhood", 2000, 14, 40, 10, 40, false},
    {"two counters", 2000, 14, 2, 47, 45, false},
    {"beyond the largest", 90, 64, 3, 48, 10, true},
    {"little room", 3000, 0, 3000, 4, 20, true},
    {"no room", 500, 0, 500, 20, 30, true},
    {"no room for large steps", 300, 1, 300, 48, 5, true},
    {"up and down with little room", 1500, 0.5, 300, 6, 50, true},
    {"many with little room", 20000, 0.2, 20000, 3, 20, true},
    {"few of many", 20000, 0.5, 200, 16, 20, true},
};

/* A store, its segment and what it should hold. */
typedef struct pair {
    const ebi_store *store;
    ebi_counter_array c;
    uint8_t *segment;
    bool tight;
    uint64_t plain[N_MAX];
} pair;

static void pair_make(pair *a, const ebi_store *store, const profile *p) {
    const uint64_t bits = store->bits_least + (uint64_t)(p->bits * 1e6);
    const uint64_t bytes = ebi_counters_bytes(store, p->n, bits);
    memset(a, 0, sizeof *a);
    a->store = store;
    a->tight = p->tight;
    a->segment = aligned_alloc(64, bytes);
    if (!a->segment) fail_msg("no memory for the test itself");
    memset(a->segment, 0, bytes);
    a->c = ebi_counters(store, a->segment, p->n, bytes);
    if (store->init) store->init(&a->c);
}

/* A counter is right, or it found no room, where that may be: then for good. */
static bool pair_agrees(pair *a, uint64_t i) {
    const uint64_t got = a->store->get(&a->c, i);
    if (got == EBI_COUNTER_MAX && a->plain[i] > 0 && a->tight) a->plain[i] = EBI_COUNTER_MAX;
    return got == a->plain[i];
}

static bool pair_is_right(pair *a) {
    static uint64_t index[N_MAX], value[N_MAX];
    uint64_t full = 0;
    for (uint64_t i = 0; i < a->c.n; i++) {
        if (!pair_agrees(a, i)) return false;
        index[i] = i;
        full += a->plain[i] == EBI_COUNTER_MAX;
    }
    a->store->read(&a->c, index, a->c.n, value);
    if (memcmp(value, a->plain, a->c.n * sizeof *value) != 0) return false;
    return a->store->check(&a->c) && suite_skips_zeros(a->store, &a->c) &&
           a->c.state->saturated <= full;
}

static bool pair_step_one(pair *a, const operation *o) {
    uint64_t *const plain = &a->plain[o->i];
    if (o->what == SUB) {
        const uint64_t by = ebi_min(o->by, *plain);
        a->store->sub(&a->c, o->i, by);
        if (*plain < EBI_COUNTER_MAX) *plain -= by;
        return true;
    }
    if (a->store->add(&a->c, o->i, o->by) != *plain) return false;
    *plain = ebi_counter_sum(*plain, o->by);
    return true;
}

static bool pair_step_several(pair *a, const operation *o) {
    uint64_t i[EBI_TOGETHER_MAX] = {0}, least = EBI_COUNTER_MAX;
    const size_t count = o->more + 1;
    for (size_t t = 0; t < count; t++) {
        i[t] = o->i + t * o->step;
        least = ebi_min(least, a->plain[i[t]]);
    }
    const uint64_t goal = ebi_counter_sum(least, o->by);
    const uint64_t told = a->store->raise(&a->c, i, count, o->by, o->what != RAISE);
    const bool right = o->what == RAISE ? (told > 0) == (least > 0) : told == least;
    for (size_t t = 0; t < count; t++) {
        uint64_t *const plain = &a->plain[i[t]];
        *plain = o->what == RAISE ? ebi_counter_sum(*plain, o->by) : ebi_max(*plain, goal);
    }
    return right;
}

static bool pair_agrees_on(pair *a, const operation *o) {
    bool right = true;
    for (size_t t = 0; t <= o->more; t++) right = right && pair_agrees(a, o->i + t * o->step);
    return right;
}

static bool pair_step(pair *a, const operation *o) {
    if (!pair_agrees_on(a, o)) return false; /* they may have saturated with others */
    const bool one = o->what == ADD || o->what == SUB;
    return (one ? pair_step_one(a, o) : pair_step_several(a, o)) && pair_agrees_on(a, o);
}

static bool pair_drains(pair *a) { /* take everything away again */
    bool right = true;
    for (uint64_t i = 0; i < a->c.n && right; i++)
        right = pair_step(a, &(operation){SUB, i, EBI_COUNTER_MAX, 0, 0});
    return right && pair_is_right(a);
}

static bool run(const ebi_store *store, const profile *p, const operation *o, size_t count) {
    static pair a;
    bool right = true;
    pair_make(&a, store, p);
    for (size_t i = 0; i < count && right; i++) {
        right = pair_step(&a, &o[i]);
        if (right && i % 500 == 0) right = pair_is_right(&a);
    }
    right = right && pair_is_right(&a) && pair_drains(&a);
    free(a.segment);
    return right;
}

/* Leave out whatever can be left out, in ever smaller pieces. */
static size_t shrink(const ebi_store *store, const profile *p, operation *o, size_t count) {
    operation *const less = calloc(count, sizeof *less);
    if (!less) fail_msg("no memory for the test itself");
    for (size_t piece = count / 2 + 1; piece > 0; piece /= 2)
        for (size_t from = 0; from + piece <= count;) {
            memcpy(less, o, from * sizeof *o);
            memcpy(less + from, o + from + piece, (count - from - piece) * sizeof *o);
            if (run(store, p, less, count - piece)) {
                from += piece;
                continue;
            }
            count -= piece;
            memcpy(o, less, count * sizeof *o);
        }
    free(less);
    return count;
}

/* Let some be of several counters below `end`. */
static void draw_several(uint64_t *random, uint64_t end, operation *o) {
    const uint64_t room = end - 1 - o->i;
    o->what = (deed[]){ADD, ADD, RAISE, LIFT}[suite_below(random, 4)];
    if (o->what == ADD || room == 0) return;
    o->more = suite_below(random, ebi_min(room + 1, 5));
    o->step = o->more == 0 ? 0 : 1 + suite_below(random, room / o->more);
}

static void draw(const profile *p, uint64_t seed, operation *o) {
    uint64_t random = ebi_mix(seed);
    const uint64_t first = suite_below(&random, p->n - p->spread + 1);
    for (size_t i = 0; i < SEQUENCE; i++) {
        const uint64_t size = suite_below(&random, p->by_bits + 1);
        o[i].i = first + suite_below(&random, p->spread);
        o[i].by = suite_random(&random) & ebi_ones((unsigned)size);
        if (size == 0) o[i].by = 1;
        o[i].what = suite_below(&random, 100) < p->subs ? SUB : ADD;
        o[i].more = o[i].step = 0;
        if (o[i].what == ADD) draw_several(&random, first + p->spread, &o[i]);
    }
}

static void hold_to_plain(const ebi_store *store, const profile *p, uint64_t seed) {
    static operation o[SEQUENCE];
    draw(p, seed, o);
    if (run(store, p, o, SEQUENCE)) return;
    const size_t count = shrink(store, p, o, SEQUENCE);
    print_error("store %s, %s, seed %llu: these fail\n", store->name, p->name,
                (unsigned long long)seed);
    for (size_t i = 0; i < count && i < 100; i++)
        print_error("  %s %llu of counter %llu and %llu more, each %llu on\n", deed_name[o[i].what],
                    (unsigned long long)o[i].by, (unsigned long long)o[i].i,
                    (unsigned long long)o[i].more, (unsigned long long)o[i].step);
    fail_msg("store %s differs from a plain array", store->name);
}

static size_t stores(const ebi_store **list) {
    size_t n = 0;
    list[n++] = &ebi_store_u32;
    list[n++] = &ebi_store_line_portable;
    list[n++] = &ebi_store_sai_portable;
    if (ebi_store_sai() == &ebi_store_sai_bmi2) list[n++] = &ebi_store_sai_bmi2;
    if (ebi_store_line() != &ebi_store_line_portable) list[n++] = &ebi_store_line_avx2;
    return n;
}

enum { STORES_MAX = 16 };

static void stores_equal_plain_arrays(void **state) {
    (void)state;
    const ebi_store *list[STORES_MAX];
    const size_t n = stores(list);
    const char *const wish = getenv("EVERBLOOM_OPERATIONS");
    const double operations = wish ? strtod(wish, NULL) : suite_quick() ? 5e4 : 4e5;
    const uint64_t rounds = 1 + (uint64_t)(operations / SEQUENCE / SUITE_COUNT(profiles));
    for (size_t s = 0; s < n; s++)
        for (size_t p = 0; p < SUITE_COUNT(profiles); p++) {
            if (!profiles[p].tight && list[s] == &ebi_store_u32 && profiles[p].by_bits > 18)
                continue; /* beyond 32 bits */
            for (uint64_t seed = 1; seed <= rounds; seed++)
                hold_to_plain(list[s], &profiles[p], seed);
        }
}

/* The test itself: a store that loses one in a hundred is caught, and what is
 * left of the sequence is what made it fail. */

static uint64_t lossy_add(const ebi_counter_array *c, uint64_t i, uint64_t by) {
    return ebi_store_u32.add(c, i, i == 77 && ebi_store_u32.get(c, i) >= 3 ? by - 1 : by);
}

static void failing_sequences_become_short(void **state) {
    (void)state;
    static operation o[SEQUENCE];
    ebi_store lossy = ebi_store_u32;
    lossy.add = lossy_add;
    draw(&profiles[0], 1, o);
    for (size_t i = 0; i < SEQUENCE; i++) o[i] = (operation){ADD, o[i].i, o[i].by, 0, 0};
    HOLDS(!run(&lossy, &profiles[0], o, SEQUENCE));
    HOLDS(shrink(&lossy, &profiles[0], o, SEQUENCE) == 4);
    for (size_t i = 0; i < 4; i++) HOLDS(o[i].i == 77 && o[i].what == ADD);
}

/* The same operations give the same bytes with AVX2 and BMI2 and without. */
static void flavours_agree(const ebi_store *one, const ebi_store *other, const profile *p) {
    static pair a, b;
    static operation o[SEQUENCE];
    suite_at("store %s, %s", one->name, p->name);
    pair_make(&a, one, p);
    pair_make(&b, other, p);
    draw(p, 99, o);
    for (size_t i = 0; i < SEQUENCE; i++) HOLDS(pair_step(&a, &o[i]) && pair_step(&b, &o[i]));
    HOLDS(memcmp(a.segment, b.segment, a.c.bytes) == 0);
    free(a.segment);
    free(b.segment);
}

static void machines_agree(void **state) {
    (void)state;
    if (!ebi_has_avx2() || !ebi_has_bmi2()) skip();
    for (size_t p = 0; p < SUITE_COUNT(profiles); p++) {
        flavours_agree(&ebi_store_line_portable, &ebi_store_line_avx2, &profiles[p]);
        flavours_agree(&ebi_store_sai_portable, &ebi_store_sai_bmi2, &profiles[p]);
    }
}

/* Damage */

/* A damaged segment is refused, or it is another state: then it works. */
static bool refused(pair *a, uint64_t bit) {
    a->segment[bit / 8] ^= (uint8_t)(1 << bit % 8);
    const bool no = !a->store->check(&a->c);
    for (uint64_t i = 0; i < a->c.n && !no; i++) {
        const uint64_t value = a->store->get(&a->c, i);
        HOLDS(value <= EBI_COUNTER_MAX);
        HOLDS(a->store->address(&a->c, i) >= a->segment);
        HOLDS(a->store->address(&a->c, i) < a->segment + a->c.bytes);
    }
    a->segment[bit / 8] ^= (uint8_t)(1 << bit % 8);
    return no;
}

static void damage(const ebi_store *store, profile p) {
    static pair a;
    static operation o[SEQUENCE];
    uint64_t random = 5, refusals = 0;
    suite_at("store %s, %s", store->name, p.name);
    p.tight = true; /* for u32 */
    pair_make(&a, store, &p);
    draw(&p, 7, o);
    for (size_t i = 0; i < SEQUENCE; i++) HOLDS(pair_step(&a, &o[i]));
    HOLDS(a.store->check(&a.c));
    for (uint64_t bit = 0; bit < 8 * sizeof *a.c.state; bit++) HOLDS(refused(&a, bit));
    for (int i = 0; i < 2000; i++) refusals += refused(&a, suite_below(&random, 8 * a.c.bytes));
    if (store != &ebi_store_u32) HOLDS(refusals > 200);
    free(a.segment);
}

static void damage_is_refused(void **state) {
    (void)state;
    SUITE_LONG();
    const ebi_store *list[STORES_MAX];
    const size_t n = stores(list);
    for (size_t s = 0; s < n; s++)
        for (size_t p = 0; p < SUITE_COUNT(profiles); p++)
            if (profiles[p].n <= N_SMALL) damage(list[s], profiles[p]);
}

/* Any number of counters at the least size: everything is inside the segment. */
static void small_segments_hold_their_counters(void **state) {
    (void)state;
    static const profile one = {"", 1, 0, 1, 1, 0, true};
    const ebi_store *list[STORES_MAX];
    const size_t count = stores(list);
    static pair a;
    for (size_t s = 0; s < count; s++)
        for (uint64_t n = 1; n <= N_SMALL; n += 1 + n / 100) {
            profile p = one;
            p.n = n;
            suite_at("store %s, %llu counters", list[s]->name, (unsigned long long)n);
            pair_make(&a, list[s], &p);
            for (uint64_t i = 0; i < n; i += 1 + n / 50)
                HOLDS(pair_step(&a, &(operation){ADD, i, 1 + i, 0, 0}));
            HOLDS(pair_step(&a, &(operation){ADD, n - 1, 9, 0, 0}));
            HOLDS(pair_is_right(&a));
            free(a.segment);
        }
}

/* Nothing saturates while the index has a word to give, however far away. */
static void every_word_is_used(void **state) {
    (void)state;
    static pair a;
    for (size_t p = 0; p < SUITE_COUNT(profiles); p++) {
        uint64_t random = 3, i = 0;
        if (profiles[p].bits >= 1) continue; /* room for everything */
        suite_at("%s", profiles[p].name);
        pair_make(&a, &ebi_store_sai_portable, &profiles[p]);
        while (a.c.state->saturated == 0) {
            HOLDS(i++ < 64 * a.c.n);
            const uint64_t needed = a.c.state->reserved[0];
            (void)ebi_store_sai_portable.add(&a.c, suite_below(&random, profiles[p].spread), i * i);
            HOLDS(a.c.state->saturated == 0 || needed + 96 >= a.c.words);
        }
        HOLDS(a.store->check(&a.c));
        free(a.segment);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_sequences_become_short),
        cmocka_unit_test(stores_equal_plain_arrays),
        cmocka_unit_test(machines_agree),
        cmocka_unit_test(every_word_is_used),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(small_segments_hold_their_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
