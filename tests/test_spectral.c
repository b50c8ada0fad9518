/* test_spectral.c - counting filters against known answers: how often and how far
 * they are wrong on Zipf streams, that they are never too low where they promise
 * it, and the streams on which the published recurring minimum is.
 *
 * EVERBLOOM_OPERATIONS=1e9 asks for that many counts in the search for low ones. */
#include "filter/counting/counting.h"
#include "suite.h"
#include <math.h>

/* Streams: n keys, about 100 occurrences each, f = c / rank^theta. */

enum {
    KEYS = 1000,
    OCCURRENCES = 100000,
    K = 5,
    SEEDS = 4,
    PART = 100,
    STREAM_MAX = OCCURRENCES + KEYS
};

typedef enum arrival { MIXED, ROUND_ROBIN, DELETIONS, WINDOW } arrival;

typedef struct stream {
    uint64_t seed;
    uint64_t frequency[KEYS], now[KEYS]; /* now: in the filter */
    size_t n;
    uint16_t key[STREAM_MAX];
} stream;

static eb_hash hash_of(const stream *s, size_t key) {
    return ebi_mix(ebi_mix(s->seed) + key);
}

static void shuffle(stream *s, uint64_t *random) {
    for (size_t i = s->n - 1; i > 0; i--) {
        const size_t j = suite_below(random, i + 1);
        const uint16_t other = s->key[j];
        s->key[j] = s->key[i];
        s->key[i] = other;
    }
}

static void make_stream(stream *s, double theta, arrival order, uint64_t seed) {
    double sum = 0;
    uint64_t random = ebi_mix(seed);
    *s = (stream){.seed = seed};
    for (int i = 1; i <= KEYS; i++) sum += pow(i, -theta);
    for (int i = 0; i < KEYS; i++) {
        const double f = round(OCCURRENCES / sum * pow(i + 1, -theta));
        s->frequency[i] = (uint32_t)fmax(f, 1);
    }
    for (uint32_t round = 0; round < OCCURRENCES; round++)
        for (uint16_t i = 0; i < KEYS; i++)
            if (round < s->frequency[i]) s->key[s->n++] = i;
    if (order != ROUND_ROBIN) shuffle(s, &random);
}

/* Add or remove the keys of a part of the stream. */
static void change(eb_filter *f, stream *s, const uint16_t *key, size_t n, bool add) {
    eb_hash h[PART];
    const eb_batch b = A_BATCH(n, h, NULL, NULL);
    for (size_t i = 0; i < n; i++) {
        h[i] = hash_of(s, key[i]);
        s->now[key[i]] += add ? 1 : UINT64_MAX;
    }
    OK(add ? eb_add_batch(f, &b, NULL) : eb_remove_batch(f, &b, NULL));
}

/* A twentieth of the keys goes, with all their occurrences. */
static void delete_some(eb_filter *f, stream *s, uint64_t random) {
    for (int j = 0; j < KEYS / 20; j++) {
        const size_t key = suite_below(&random, KEYS);
        const eb_hash h = hash_of(s, key);
        const eb_batch one = A_BATCH(1, &h, &s->now[key], NULL);
        if (s->now[key] > 0) OK(eb_remove_batch(f, &one, NULL));
        s->now[key] = 0;
    }
}

static void feed(eb_filter *f, stream *s, arrival order) {
    for (size_t i = 0; i + PART <= s->n; i += PART) {
        change(f, s, s->key + i, PART, true);
        if (order == DELETIONS && i / PART % 100 == 99) delete_some(f, s, ebi_mix(s->seed + i));
        if (order == WINDOW && i >= OCCURRENCES / 5)
            change(f, s, s->key + i - OCCURRENCES / 5, PART, false);
    }
}

/* Errors over all keys: how many are wrong, the root of the mean square, too low. */
typedef struct errors {
    double ratio, size, low;
} errors;

static errors measure(const eb_filter *f, const stream *s) {
    errors e = {0, 0, 0};
    for (size_t i = 0; i < KEYS; i++) {
        double count;
        const eb_hash h = hash_of(s, i);
        calls_count(f, &h, 1, &count);
        const double off = count - (double)s->now[i];
        e.ratio += (off != 0) / (double)KEYS;
        e.low += (off < 0) / (double)KEYS;
        e.size += off * off / KEYS;
    }
    e.size = sqrt(e.size);
    return e;
}

/* Known mean and deviation of one run, each from 50 runs with other seeds. */
typedef struct expected {
    const char *policy;
    double gamma, theta;
    arrival order;
    double ratio, ratio_sd, size, size_sd; /* size 0: not known */
    bool never_low;
    unsigned entries; /* of the side table; 0: enough */
} expected;

static void filter_of(const expected *e, char *spec, size_t cap) {
    const bool first = strncmp(e->policy, "update=", 7) == 0;
    const bool rmx = strcmp(e->policy, "method=rmx") == 0;
    const double all = KEYS * K / e->gamma, cells = first || rmx ? all : all * 2 / 3;
    const int at = snprintf(spec, cap, "spectral%s:%s,k=%d,span=0,store=u32,cells=%.0f",
                            first ? "" : "_rm", e->policy, K, round(cells / K) * K);
    if (rmx)
        (void)snprintf(spec + at, cap - (size_t)at, ",second=%u", e->entries ? e->entries : 2048);
}

static void rates_agree(const expected *e) {
    static stream s;
    errors mean = {0, 0, 0};
    char spec[200];
    filter_of(e, spec, sizeof spec);
    suite_at("%s, gamma %g, theta %g, order %d", spec, e->gamma, e->theta, (int)e->order);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        eb_filter *const f = suite_new(spec);
        make_stream(&s, e->theta, e->order, seed);
        feed(f, &s, e->order);
        const errors one = measure(f, &s);
        mean.ratio += one.ratio / SEEDS;
        mean.size += one.size / SEEDS;
        HOLDS(!e->never_low || one.low == 0);
        eb_free(f);
    }
    const double deviations = 4 * sqrt(1.0 / SEEDS + 1.0 / 50);
    print_message("%-6s gamma %-4g theta %-3g order %d: wrong %.4f (%.4f), error %.3f (%.3f)\n",
                  e->policy, e->gamma, e->theta, (int)e->order, mean.ratio, e->ratio, mean.size,
                  e->size);
    NEAR(mean.ratio, e->ratio, deviations * e->ratio_sd);
    if (e->size > 0) NEAR(mean.size, e->size, deviations * e->size_sd);
}

static void errors_are_as_known(void **state) {
    (void)state;
    SUITE_LONG();
    static const expected rows[] = {
        {"update=plain", .7, .5, MIXED, .0321, .0057, 11.26, 1.21, true, 0},
        {"update=plain", 1, .5, MIXED, .1012, .0092, 21.3, 1.2, true, 0},
        {"update=conservative", .7, 0, MIXED, .0283, .0058, .90, .17, true, 0},
        {"update=conservative", .7, .5, MIXED, .0183, .0049, 1.26, .39, true, 0},
        {"method=rm", .7, .5, MIXED, .1225, .0117, 12.8, 1.4, false, 0},
        {"method=rm", 1, .5, MIXED, .4632, .0192, 0, 0, false, 0},
        {"method=rm", .7 / 1.5, .5, MIXED, .0274, .0056, 0, 0, false, 0}, /* m and m/2: table 1 */
        {"method=rm+bf", .7, .5, MIXED, .0884, .0099, 0, 0, false, 0},
        {"method=rm+bf", 1, .5, MIXED, .4371, .0194, 57.6, 2.5, false, 0},
        {"method=rmx", .5, .5, MIXED, .0043, .0020, 0, 0, true, 0},
        {"method=rmx", .7, .5, MIXED, .0165, .0047, .32, .10, true, 0},
        {"method=rmx", 1, .5, MIXED, .0506, .0060, 0, 0, true, 0},
    };
    for (size_t i = 0; i < SUITE_COUNT(rows); i++) rates_agree(&rows[i]);
}

/* A table with room for a twentieth or a tenth of the keys, where a fifth wants an entry: the
 * numbers are those of a table that evicts from anywhere. */
static void keys_share_a_small_side_table(void **state) {
    (void)state;
    SUITE_LONG();
    static const expected rows[] = {
        {"method=rmx", .7, .5, MIXED, .0228, .0050, 1.79, .65, true, 56},
        {"method=rmx", .7, .5, MIXED, .0187, .0051, .56, .18, true, 104},
    };
    for (size_t i = 0; i < SUITE_COUNT(rows); i++) rates_agree(&rows[i]);
}

/* rmx after deletions: .0119 are wrong if entries go with their keys; here they
 * stay and know that the key is gone (mean and deviation of 50 other seeds). */
static void errors_after_removals_are_as_known(void **state) {
    (void)state;
    SUITE_LONG();
    static const expected rows[] = {
        {"update=plain", .7, .5, DELETIONS, .0268, .0047, 0, 0, true, 0},
        {"method=rm", .7, .5, DELETIONS, .201, .015, 0, 0, false, 0},
        {"method=rmx", .7, .5, DELETIONS, .0067, .0027, 0, 0, true, 0},
        {"update=plain", .7, .5, WINDOW, .0321, .0057, 2.11, .25, true, 0},
        {"method=rm", .7, .5, WINDOW, .127, .013, 0, 0, false, 0},
        {"method=rmx", .7, .5, WINDOW, .0165, .0047, .31, .09, true, 0},
    };
    for (size_t i = 0; i < SUITE_COUNT(rows); i++) rates_agree(&rows[i]);
}

/* Where all keys come in turn, entries of rmx come too late to know better. */
static void the_order_of_arrival_matters(void **state) {
    (void)state;
    SUITE_LONG();
    static const expected rows[] = {
        {"update=plain", .7, .5, ROUND_ROBIN, .0321, .0057, 11.26, 1.21, true, 0},
        {"update=conservative", .7, .5, ROUND_ROBIN, .0071, .0033, 0, 0, true, 0},
        {"method=rmx", .7, .5, ROUND_ROBIN, .0256, .0057, 9.5, 1.4, true, 0},
    };
    for (size_t i = 0; i < SUITE_COUNT(rows); i++) rates_agree(&rows[i]);
}

/* Streams on which the published policies count too low.  A key is known by which
 * counters it shares with which others, so look for hashes that do. */

typedef struct rig { /* a tiny filter, and keys found so far */
    eb_filter *f;
    unsigned k;
    uint64_t cells, second, next;
} rig;

static rig make_rig(const char *policy, unsigned k) {
    char spec[200];
    (void)snprintf(spec, sizeof spec,
                   "spectral_rm:method=%s,k=%u,span=0,cells=%u,second=%u,store=u32", policy, k,
                   32 * k, 16 * k);
    return (rig){suite_new(spec), k, 32, 16, 1};
}

/* The i-th first counter, second counter and mark of a hash, within their parts. */
static uint64_t first_of(const rig *r, eb_hash h, unsigned i) {
    h = ebi_mix(h);
    while (i-- > 0) h = eb_next(h);
    return eb_scale(h, r->cells);
}

static uint64_t second_of(const rig *r, eb_hash h, unsigned i) {
    const rig second = {NULL, r->k, r->second, 0, 0};
    return first_of(&second, ebi_mix(h + UINT64_C(0xA0761D6478BD642F)), i);
}

static uint64_t mark_of(const rig *r, eb_hash h, unsigned i) {
    const rig marks = {NULL, r->k, r->cells + r->second, 0, 0};
    return first_of(&marks, h + UINT64_C(0xE7037ED1A0B428DB), i);
}

typedef uint64_t place_of(const rig *r, eb_hash h, unsigned i);

/* Which of its k places does a share with b?  A bit for each. */
static unsigned shared(const rig *r, place_of *of, eb_hash a, eb_hash b) {
    unsigned bits = 0;
    for (unsigned i = 0; i < r->k; i++) bits |= (unsigned)(of(r, a, i) == of(r, b, i)) << i;
    return bits;
}

typedef struct wish {
    eb_hash with;
    unsigned first, second; /* which counters to share with that key */
    bool marks;             /* all of them */
} wish;

static eb_hash find(rig *r, const wish *w, size_t n) {
    for (;;) {
        const eb_hash h = ebi_mix(r->next++);
        bool good = true;
        for (size_t i = 0; i < n && good; i++)
            good = shared(r, first_of, h, w[i].with) == w[i].first &&
                   shared(r, second_of, h, w[i].with) == w[i].second &&
                   (!w[i].marks || shared(r, mark_of, h, w[i].with) == (1u << r->k) - 1);
        if (good) return h;
    }
}

static void give(const rig *r, eb_hash h, uint64_t times) {
    const eb_batch one = A_BATCH(1, &h, &times, NULL);
    OK(eb_add_batch(r->f, &one, NULL));
}

static void take(const rig *r, eb_hash h, uint64_t times) {
    const eb_batch one = A_BATCH(1, &h, &times, NULL);
    OK(eb_remove_batch(r->f, &one, NULL));
}

static double count_of(const rig *r, eb_hash h) {
    double count;
    calls_count(r->f, &h, 1, &count);
    return count;
}

/* Published: exactly so much.  rmx: the truth or more. */
static void comes_out(rig *r, const char *policy, eb_hash h, double truth, double published) {
    const double count = count_of(r, h);
    HOLDS(strcmp(policy, "rmx") == 0 ? count >= truth : count == published);
    eb_free(r->f);
}

/* x shares one counter with y and the other with z. */
static void stale_second(const char *policy) { /* A: ten adds while the minimum recurred */
    rig r = make_rig(policy, 2);
    const eb_hash x = ebi_mix(99), y = find(&r, (wish[]){{x, 1, 0, false}}, 1);
    const eb_hash z = find(&r, (wish[]){{x, 2, 0, false}, {y, 0, 0, false}}, 2);
    give(&r, y, 1);
    give(&r, x, 1);
    give(&r, z, 1);
    for (int i = 0; i < 10; i++) give(&r, x, 1);
    give(&r, z, 1);
    comes_out(&r, policy, x, 11, 1);
}

static void stale_second_and_removal(const char *policy) { /* D */
    rig r = make_rig(policy, 2);
    const eb_hash x = ebi_mix(99), y = find(&r, (wish[]){{x, 1, 0, false}}, 1);
    const eb_hash z = find(&r, (wish[]){{x, 2, 0, false}, {y, 0, 0, false}}, 2);
    give(&r, y, 1);
    give(&r, x, 5);
    give(&r, z, 1);
    give(&r, x, 10);
    give(&r, z, 1);
    for (int i = 0; i < 3; i++) take(&r, x, 1);
    comes_out(&r, policy, x, 12, 2);
}

static void marked_by_others(const char *policy) { /* B: u has all marks and second counters of x */
    rig r = make_rig(policy, 2);
    const eb_hash x = ebi_mix(98), u = find(&r, (wish[]){{x, 0, 3, true}}, 1);
    const eb_hash w = find(&r, (wish[]){{x, 0, 0, false}, {u, 1, 0, false}}, 2);
    give(&r, x, 9);
    give(&r, w, 1);
    give(&r, u, 1);
    comes_out(&r, policy, x, 9, 1);
}

static void removal_takes_from_others(const char *policy) { /* C: x was never in v's counters */
    rig r = make_rig(policy, 2);
    const eb_hash v = ebi_mix(97), w = find(&r, (wish[]){{v, 1, 0, false}}, 1);
    const eb_hash x = find(&r, (wish[]){{v, 0, 3, false}, {w, 0, 0, false}}, 2);
    const eb_hash t = find(&r, (wish[]){{x, 1, 0, false}, {v, 0, 0, false}, {w, 0, 0, false}}, 3);
    give(&r, w, 1);
    give(&r, v, 5);
    give(&r, x, 10);
    give(&r, t, 1);
    HOLDS(count_of(&r, v) == 5);
    for (int i = 0; i < 4; i++) take(&r, x, 1);
    comes_out(&r, policy, v, 5, 1);
}

static void sprung_by_a_stranger(const char *policy) { /* E: z, never there, has a minimum of 3 */
    rig r = make_rig(policy, 3);
    const eb_hash x = ebi_mix(96), a = find(&r, (wish[]){{x, 1, 0, false}}, 1);
    const eb_hash b = find(&r, (wish[]){{x, 2, 0, false}, {a, 0, 0, false}}, 2);
    const eb_hash z = find(&r, (wish[]){{x, 4, 0, false}, {a, 0, 0, false}, {b, 0, 0, false}}, 3);
    const eb_hash u = find(&r, (wish[]){{x, 0, 0, false}, {z, 3, 0, false}}, 2);
    give(&r, a, 1);
    give(&r, b, 1);
    for (int i = 0; i < 10; i++) give(&r, x, 1);
    give(&r, u, 3);
    HOLDS(count_of(&r, x) == 10);
    give(&r, z, 1);
    give(&r, a, 1);
    give(&r, b, 1);
    comes_out(&r, policy, x, 10, 7);
}

static void published_policies_count_too_low(void **state) {
    (void)state;
    stale_second("rm");
    stale_second_and_removal("rm");
    marked_by_others("rm+bf");
    removal_takes_from_others("rm+bf");
    sprung_by_a_stranger("trm");
}

static void rmx_does_not(void **state) {
    (void)state;
    stale_second("rmx");
    stale_second_and_removal("rmx");
    marked_by_others("rmx");
    removal_takes_from_others("rmx");
    sprung_by_a_stranger("rmx");
}

/* Never too low, whatever is added, removed and evicted. */

static double checks_wanted = 1e7;

typedef struct mix {
    const char *spec;
    unsigned add_percent;
    bool low; /* is expected to count too low: it shows that the search finds it */
} mix;

static uint64_t count_low(const eb_filter *f, const eb_hash *h, const uint32_t *truth, size_t n) {
    double count[300];
    uint64_t low = 0;
    calls_count(f, h, n, count);
    for (size_t i = 0; i < n; i++) low += count[i] < truth[i];
    return low;
}

static uint64_t search(const mix *m, uint64_t seed, double checks) {
    enum { N = 300, EVERY = 20 };
    eb_hash h[N];
    uint32_t truth[N] = {0};
    uint64_t random = ebi_mix(seed), low = 0;
    eb_filter *const f = suite_new(m->spec);
    for (size_t i = 0; i < N; i++) h[i] = ebi_mix(seed * N + i);
    for (double done = 0; done < checks; done += N) {
        for (int i = 0; i < EVERY; i++) {
            const size_t key =
                suite_below(&random, 2) ? suite_below(&random, N) : suite_below(&random, 20);
            uint64_t times = 1 + (uint32_t)suite_below(&random, 4);
            const bool add = suite_below(&random, 100) < m->add_percent;
            if (!add && times > truth[key]) times = truth[key];
            const eb_batch one = A_BATCH(1, &h[key], &times, NULL);
            if (times > 0) OK(add ? eb_add_batch(f, &one, NULL) : eb_remove_batch(f, &one, NULL));
            truth[key] += (uint32_t)(add ? times : 0 - times);
        }
        low += count_low(f, h, truth, N);
    }
    eb_free(f);
    return low;
}

static void promised_counts_are_never_too_low(void **state) {
    (void)state;
    static const mix mixes[] = {
        {"spectral:update=plain,k=4,cells=1716,span=0", 52, false},
        {"spectral:update=conservative,k=4,cells=1200,span=0", 100, false},
        {"spectral_rm:k=4,cells=1716,span=0,second=512", 52, false},
        {"spectral_rm:k=4,cells=1200,span=0,second=16", 52, false},
        {"spectral_rm:k=4,cells=800,span=64,second=32", 70, false},
        {"spectral_rm:method=rm,k=4,cells=1716,span=0", 70, true},
        {"spectral_rm:method=rm+bf,k=4,cells=1200,span=0", 52, true},
        {"spectral_rm:method=trm,k=4,cells=1200,span=0", 52, true},
    };
    enum { ROUNDS = 8 };
    for (size_t i = 0; i < SUITE_COUNT(mixes); i++) {
        uint64_t low = 0;
        suite_at("%s", mixes[i].spec);
        const double checks = checks_wanted / (mixes[i].low ? 50 : 5) / ROUNDS;
        for (uint64_t seed = 1; seed <= ROUNDS; seed++) low += search(&mixes[i], seed, checks);
        HOLDS(mixes[i].low == (low > 0));
    }
}

/* A span holds all k counters of a key, and fits into the array. */
static void spans_are_from_k_to_all_cells(void **state) {
    (void)state;
    static const struct {
        const char *options;
        eb_status status;
    } spans[] = {{"k=5,cells=1000,span=0", EB_OK},
                 {"k=5,cells=1000,span=5", EB_OK},
                 {"k=5,cells=1000,span=1000", EB_OK},
                 {"k=5,cells=1000,span=4", EB_ESPEC},
                 {"k=5,cells=1000,span=1001", EB_ESPEC}};
    for (size_t i = 0; i < SUITE_COUNT(spans); i++) {
        char spec[EB_SPEC_MAX];
        eb_spec_info info = {.size = sizeof info};
        (void)snprintf(spec, sizeof spec, "spectral:store=u32,%s", spans[i].options);
        suite_at("%s", spec);
        GIVES(spans[i].status, eb_spec_describe(spec, &info, NULL));
    }
}

/* A total that was full tells nothing any more, and removing keys does not change that. */
static void full_totals_stay_full(void **state) {
    (void)state;
    static const char *const specs[] = {"spectral:memory=4K,update=plain",
                                        "spectral:memory=4K,update=plain,store=u32"};
    for (size_t i = 0; i < SUITE_COUNT(specs); i++) {
        eb_filter *const f = suite_new(specs[i]);
        const ebi_counting c = ebi_counting_open(&f->p, f->block);
        const eb_hash h = 77;
        const uint64_t five = 5, two = 2;
        const eb_batch come = A_BATCH(1, &h, &five, NULL), go = A_BATCH(1, &h, &two, NULL);
        suite_at("%s", specs[i]);
        OK(eb_add_batch(f, &come, NULL));
        *c.total = EBI_COUNTER_MAX - 1;
        OK(eb_remove_batch(f, &go, NULL));
        HOLDS(*c.total == EBI_COUNTER_MAX - 3);
        *c.total = EBI_COUNTER_MAX;
        OK(eb_remove_batch(f, &go, NULL));
        HOLDS(*c.total == EBI_COUNTER_MAX);
        eb_free(f);
    }
}

int main(void) {
    const char *const wanted = getenv("EVERBLOOM_OPERATIONS");
    if (wanted) checks_wanted = strtod(wanted, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_from_k_to_all_cells),
        cmocka_unit_test(errors_are_as_known),
        cmocka_unit_test(keys_share_a_small_side_table),
        cmocka_unit_test(errors_after_removals_are_as_known),
        cmocka_unit_test(the_order_of_arrival_matters),
        cmocka_unit_test(published_policies_count_too_low),
        cmocka_unit_test(rmx_does_not),
        cmocka_unit_test(promised_counts_are_never_too_low),
        cmocka_unit_test(full_totals_stay_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
