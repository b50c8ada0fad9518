/* test_window.c - what the window filter promises: no repeat within the window passes, no key is
 * let through twice within it, planned bits and rates, and what gives under overload.
 *
 * EVERBLOOM_OPERATIONS=1e8 makes the streams of a promise so long, together. */
#include "filter/stream/window/window_line.h"
#include "model.h"
#include "suite.h"
#include <math.h>

static eb_stats stats_of(const eb_filter *f) {
    eb_stats s = {.size = sizeof s};
    calls_stat(f, &s);
    return s;
}

/* Streams: half fresh keys, half repeats of any record within the window, at times that pass at
 * rates which vary 30-fold, with idle gaps. */

typedef struct record {
    uint64_t key, time;
} record;

typedef struct source {
    uint64_t random, next_key, time, window;
    bool by_time;
    double per_tick;             /* keys, at the middle rate */
    double rate;                 /* now */
    record *past;                /* a ring */
    uint64_t size, first, count; /* of the records within the window */
} source;

static void source_open(source *s, uint64_t window, bool by_time, double per_tick, uint64_t seed) {
    *s = (source){ebi_mix(seed), 0, 1000, window, by_time, per_tick, 1, NULL, 0, 0, 0};
    s->size = (uint64_t)((double)window * fmax(1, 8 * per_tick)) + 1000;
    s->past = calloc(s->size, sizeof *s->past);
    HOLDS(s->past != NULL);
}

static void source_pass_time(source *s) {
    if (!s->by_time) {
        s->time++;
        return;
    }
    const uint64_t draw = suite_below(&s->random, 100000);
    if (draw < 20) s->rate = exp2((double)suite_below(&s->random, 100) / 20 - 4); /* 1/16..2 */
    if (draw == 99999) s->time += suite_below(&s->random, 20 * s->window);        /* idle */
    const double mean = 1 / (s->per_tick * s->rate);
    const double gap = mean * (double)suite_below(&s->random, 2001) / 1000;
    s->time += (uint64_t)gap;
    s->time += suite_below(&s->random, 1000000) < (uint64_t)((gap - floor(gap)) * 1e6);
}

/* The next record; is it a repeat of one within the window? */
static bool source_next(source *s, record *r) {
    source_pass_time(s);
    while (s->count > 0 && s->time - s->past[s->first % s->size].time > s->window)
        s->first++, s->count--;
    const bool repeat = s->count > 0 && suite_below(&s->random, 2) == 0;
    r->time = s->time;
    r->key = repeat ? s->past[(s->first + suite_below(&s->random, s->count)) % s->size].key
                    : s->next_key++;
    if (s->count == s->size) s->first++, s->count--;
    s->past[(s->first + s->count++) % s->size] = *r;
    return repeat;
}

typedef struct outcome {
    uint64_t missed, twice, fresh, dropped; /* repeats; keys; fresh keys, and those taken for old */
} outcome;

static outcome run_stream(eb_filter *f, source *s, size_t n) {
    enum { BATCH = 500 };
    eb_hash hash[BATCH];
    uint64_t time[BATCH], key[BATCH];
    uint8_t seen[BATCH];
    bool repeat[BATCH];
    outcome o = {0, 0, 0, 0};
    uint64_t *const emitted = calloc(n + BATCH, sizeof *emitted); /* when, by key */
    HOLDS(emitted != NULL);
    for (size_t done = 0; done < n; done += BATCH) {
        for (size_t i = 0; i < BATCH; i++) {
            record r;
            repeat[i] = source_next(s, &r);
            key[i] = r.key;
            time[i] = r.time;
            hash[i] = ebi_mix(r.key * UINT64_C(0x9E3779B97F4A7C15) + 1);
        }
        OK(calls_add(f, &A_BATCH(BATCH, hash, NULL, time), seen));
        for (size_t i = 0; i < BATCH; i++) {
            o.missed += repeat[i] && !seen[i];
            o.fresh += !repeat[i];
            o.dropped += !repeat[i] && seen[i];
            if (seen[i]) continue;
            o.twice += emitted[key[i]] > 0 && time[i] - emitted[key[i]] <= s->window;
            emitted[key[i]] = time[i];
        }
    }
    free(emitted);
    return o;
}

static const struct promise {
    const char *spec;
    bool by_time;
    double per_tick;
} promises[] = {
    {"window:window=30000,fpr=0.01", false, 1},
    {"window:window=30000,fpr=0.1", false, 1},
    {"window:window=20000,fpr=1e-5", false, 1},
    {"window:window=3000,fpr=0.001,eras=3", false, 1},
    {"window:window=30000,fpr=0.05,mode=rotate", false, 1},
    {"window:window=60000,unit=time,items=20000,fpr=0.001", true, 0.3},
    {"window:window=5000,unit=time,items=60000,fpr=1e-6", true, 6},
    {"window:window=30000,unit=time,items=12000,fpr=0.01", true, 0.4}, /* too much at times */
    {"window:window=30000,unit=time,items=12000,fpr=0.1,mode=rotate", true, 0.4},
};

static void keep_promise(const struct promise *p, const char *refresh, size_t n) {
    char spec[EB_SPEC_MAX];
    source s;
    (void)snprintf(spec, sizeof spec, "%s,refresh=%s,seed=5", p->spec, refresh);
    suite_at("%s", spec);
    eb_filter *const f = suite_new(spec);
    source_open(&s, f->p.opt[EBI_WINDOW_WINDOW], p->by_time, p->per_tick, 77);
    const outcome o = run_stream(f, &s, n);
    HOLDS(o.twice == 0);
    if (strcmp(refresh, "yes") == 0) HOLDS(o.missed == 0);
    HOLDS(o.dropped < o.fresh / 3);
    HOLDS(stats_of(f).window == (double)s.window && stats_of(f).saturated == 0);
    free(s.past);
    eb_free(f);
}

static size_t stream_length(void) {
    const char *const text = getenv("EVERBLOOM_OPERATIONS");
    const double all = text ? strtod(text, NULL) : 3600000;
    return (size_t)(all / SUITE_COUNT(promises)) / 500 * 500 + 500;
}

static void no_repeat_within_the_window_passes(void **state) {
    (void)state;
    const size_t n = stream_length();
    for (size_t i = 0; i < SUITE_COUNT(promises); i++) keep_promise(&promises[i], "yes", n);
}

static void no_key_passes_twice_within_the_window(void **state) {
    (void)state;
    SUITE_LONG();
    const size_t n = stream_length();
    for (size_t i = 0; i < SUITE_COUNT(promises); i++) keep_promise(&promises[i], "no", n);
}

/* Bits and rates, with distinct keys */

static void feed_distinct(eb_filter *f, uint64_t *next, double n, double *seen_sum) {
    enum { BATCH = 1000 };
    eb_hash hash[BATCH];
    uint8_t seen[BATCH];
    for (double done = 0; done < n; done += BATCH) {
        for (size_t i = 0; i < BATCH; i++)
            hash[i] = ebi_mix(++*next * UINT64_C(0x9E3779B97F4A7C15));
        OK(calls_add(f, &A_BATCH(BATCH, hash, NULL, NULL), seen));
        for (size_t i = 0; i < BATCH; i++) *seen_sum += seen[i];
    }
}

/* Mean of eb_stat's rate over some windows, at moments spread over an era, and the share of fresh
 * keys that were taken for old ones. */
static void measure(eb_filter *f, double window, double *stat, double *counted, double *keys) {
    enum { LOOKS = 24 };
    uint64_t next = UINT64_C(1) << 50;
    double ignored = 0, seen = 0;
    *stat = *keys = 0;
    feed_distinct(f, &next, 2.5 * window, &ignored);
    for (int i = 0; i < LOOKS; i++) {
        const double more = ceil(window * 0.153 / 1000) * 1000;
        feed_distinct(f, &next, more, &seen);
        *keys += more;
        *stat += stats_of(f).fpr / LOOKS;
    }
    *counted = seen / *keys;
}

static void rates_and_bits_are_as_planned(void **state) {
    SUITE_LONG();
    static const struct {
        const char *line;
        double fpr, bits, window;
    } plans[] = {{"64", 0.1, 12.6, 2e5},    {"64", 0.05, 14.8, 2e5},  {"64", 0.02, 17.4, 2e5},
                 {"64", 0.01, 18.9, 3e5},   {"64", 0.004, 21.3, 3e5}, {"64", 0.001, 24.9, 4e5},
                 {"64", 3.5e-4, 28.1, 5e5}, {"64", 1e-4, 32, 5e5},    {"128", 1e-4, 28.1, 6e5},
                 {"128", 1e-5, 34.6, 6e5},  {"128", 1e-6, 41, 1e6},   {"64", 1e-6, 49, 8e5}};
    (void)state;
    for (size_t i = 0; i < SUITE_COUNT(plans); i++) {
        char spec[EB_SPEC_MAX];
        const double fpr = plans[i].fpr;
        (void)snprintf(spec, sizeof spec, "window:window=%.0f,fpr=%g,line=%s", plans[i].window, fpr,
                       plans[i].line);
        suite_at("%s", spec);
        eb_filter *const f = suite_new(spec);
        double stat, counted, keys;
        HOLDS((double)stats_of(f).bytes * 8 / plans[i].window <= plans[i].bits);
        measure(f, plans[i].window, &stat, &counted, &keys);
        NEAR(stat, fpr, 0.05 * fpr);
        NEAR(counted, fpr, 0.05 * fpr + 4 * sqrt(fpr / keys));
        eb_free(f);
    }
}

/* Keys that are taken for others take no room, unless they take the others' places, or eras end
 * when they have got so many entries: at high rates that makes a difference. */
static void plans_know_what_is_stored(void **state) {
    static const double rates[] = {0.1, 0.03, 0.01};
    static const char *const options[] = {
        "window=100000", "window=100000,refresh=yes",
        "window=300000,unit=time,items=100000,overload=shorten",
        "window=300000,unit=time,items=100000,overload=shorten,refresh=yes"};
    (void)state;
    SUITE_LONG();
    for (size_t i = 0; i < SUITE_COUNT(rates) * SUITE_COUNT(options); i++) {
        const double fpr = rates[i % SUITE_COUNT(rates)];
        char spec[EB_SPEC_MAX];
        (void)snprintf(spec, sizeof spec, "window:%s,fpr=%g", options[i / SUITE_COUNT(rates)], fpr);
        suite_at("%s", spec);
        eb_filter *const f = suite_new(spec);
        double stat, counted, keys;
        measure(f, 100000, &stat, &counted, &keys);
        NEAR(counted, fpr, 0.05 * fpr + 4 * sqrt(fpr / keys));
        eb_free(f);
    }
}

/* Overload */

static eb_filter *overloaded(const char *overload, double load, double *fpr) {
    enum { WINDOW = 14000, ITEMS = 140000, BATCH = 500 };
    char spec[EB_SPEC_MAX];
    eb_hash hash[BATCH];
    uint64_t time[BATCH], key = 1;
    uint8_t seen[BATCH];
    double taken = 0, keys = 0;
    (void)snprintf(spec, sizeof spec, "window:window=%d,unit=time,items=%d,fpr=0.01,overload=%s",
                   WINDOW, ITEMS, overload);
    suite_at("%s at %g", spec, load);
    eb_filter *const f = suite_new(spec);
    for (double t = 0; t < 5 * WINDOW;) {
        for (size_t i = 0; i < BATCH; i++, t += WINDOW / (ITEMS * load)) {
            time[i] = (uint64_t)t;
            hash[i] = ebi_mix(key++ * UINT64_C(0x9E3779B97F4A7C15));
        }
        OK(calls_add(f, &A_BATCH(BATCH, hash, NULL, time), seen));
        for (size_t i = 0; i < BATCH && t > 2.2 * WINDOW; i++, keys++) taken += seen[i];
    }
    *fpr = taken / keys;
    return f;
}

static void under_overload_the_rate_rises_or_the_window_shrinks(void **state) {
    SUITE_LONG();
    static const struct {
        double load, fpr; /* as designed for 18.9 bits */
    } loads[] = {{1, 0.01}, {1.2, 0.032}, {1.5, 0.095}, {2, 0.22}, {3, 0.43}, {5, 0.63}};
    (void)state;
    for (size_t i = 0; i < SUITE_COUNT(loads); i++) {
        double fpr;
        eb_filter *f = overloaded("degrade", loads[i].load, &fpr);
        NEAR(fpr, loads[i].fpr, 0.15 * loads[i].fpr);
        HOLDS(stats_of(f).window == 14000);
        HOLDS((stats_of(f).saturated > 0) == (loads[i].load > 1.9));
        eb_free(f);
        if (loads[i].load < 1.1) continue;
        f = overloaded("shorten", loads[i].load, &fpr);
        NEAR(fpr, 0.01, 0.0005 + 4 * sqrt(0.01 / 140000));
        NEAR(stats_of(f).window, 14000 / loads[i].load, 0.03 * 14000 / loads[i].load);
        HOLDS(stats_of(f).saturated == 0);
        eb_free(f);
    }
}

/* At any load, degrade lets no key through twice; shorten says what it kept. */
static void saturated_lines_keep_the_promise(void **state) {
    (void)state;
    for (int shorten = 0; shorten < 2; shorten++) {
        char spec[EB_SPEC_MAX];
        source s;
        (void)snprintf(spec, sizeof spec,
                       "window:window=9000,items=9000,print_bits=12,cells=3200,overload=%s",
                       shorten ? "shorten" : "degrade");
        suite_at("%s", spec);
        eb_filter *const f = suite_new(spec);
        source_open(&s, 9000, false, 1, 3);
        const outcome o = run_stream(f, &s, 200000);
        HOLDS(stats_of(f).saturated > 100);
        HOLDS(shorten ? stats_of(f).window < 9000 : o.twice == 0 && stats_of(f).window == 9000);
        free(s.past);
        eb_free(f);
    }
}

/* Time */

/* Lines that nobody touches come alive again after 256 eras, unless they are swept. */
static void what_expired_stays_expired(void **state) {
    SUITE_LONG();
    enum { KEYS = 3000, ERAS = 700 };
    static const char *const modes[] = {"elastic", "rotate"};
    eb_hash hash[KEYS];
    uint64_t time[KEYS];
    uint8_t seen[KEYS];
    (void)state;
    for (size_t m = 0; m < SUITE_COUNT(modes); m++) {
        char spec[EB_SPEC_MAX];
        (void)snprintf(spec, sizeof spec,
                       "window:mode=%s,window=1400,eras=14,unit=time,memory=64K,fpr=0.05",
                       modes[m]);
        suite_at("%s", spec);
        eb_filter *const f = suite_new(spec);
        for (size_t i = 0; i < KEYS; i++) hash[i] = ebi_mix(i + 1), time[i] = 50;
        OK(calls_add(f, &A_BATCH(KEYS, hash, NULL, time), seen));
        for (uint64_t era = 1; era < ERAS; era++) {
            const eb_hash one = ebi_mix(era << 32);
            uint64_t now = 50 + 100 * era, known = 0;
            OK(calls_add(f, &A_BATCH(1, &one, NULL, &now), seen));
            calls_test(f, hash, KEYS, seen);
            for (size_t i = 0; i < KEYS; i++) known += seen[i];
            HOLDS(era <= 14 ? known == KEYS : known < KEYS / 50);
        }
        eb_free(f);
    }
}

static void idle_time_costs_nothing_and_forgets_all(void **state) {
    uint64_t time = 1;
    uint8_t seen;
    (void)state;
    eb_filter *const f = suite_new("window:window=1000,unit=time,memory=1M");
    for (uint64_t i = 0; i < 20000; i++) {
        const eb_hash h = ebi_mix(i / 2 + 1);
        time += i % 2 ? 1000 : 1001 + (i % 64 == 0 ? UINT64_C(1) << 44 : 5000);
        OK(calls_add(f, &A_BATCH(1, &h, NULL, &time), &seen));
        HOLDS(seen == (i % 2));
    }
    HOLDS(stats_of(f).cells_used == 1);
    OK(eb_advance(f, time + 1100, NULL));
    HOLDS(stats_of(f).cells_used == 0 && stats_of(f).fpr == 0);
    eb_free(f);
}

/* What is alive, by the clock: entries live in the era in which they came, and in `eras` more. */
static uint64_t alive_of(const uint64_t *time, size_t n, uint64_t now, uint64_t length,
                         uint64_t eras) {
    uint64_t alive = 0;
    for (size_t i = n; i-- > 0 && now / length - time[i] / length <= eras;) alive++;
    return alive;
}

/* Many keys, then few or none in an era and idle gaps, so that numbers of eras come back again and
 * again: an entry that is dead stays dead. */
static void forget_exactly(const char *spec, uint64_t gap) {
    enum { FIRST = 3000, LATER = 1200, N = FIRST + LATER };
    static uint64_t time[N];
    uint64_t random = 8 + gap;
    uint8_t seen;
    suite_at("%s, gaps of %llu eras", spec, (unsigned long long)gap);
    eb_filter *const f = suite_new(spec);
    const ebi_window x = ebi_window_open(&f->p, f->block);
    for (size_t i = 0; i < N; i++) {
        const eb_hash h = ebi_mix(i + 1);
        time[i] = i == 0 ? 1 : time[i - 1];
        if (i >= FIRST) time[i] += suite_below(&random, 2 * gap * x.length);
        OK(calls_add(f, &A_BATCH(1, &h, NULL, &time[i]), &seen));
        if (i < FIRST || i % 5 > 0) continue;
        const uint64_t alive = alive_of(time, i + 1, time[i], x.length, x.eras);
        const uint64_t used = stats_of(f).cells_used;
        HOLDS(x.rotate ? used <= alive * x.w : used == alive);
        if (i % 100 > 0) continue;
        HOLDS(f->kind->check(&f->p, f->block, NULL) == EB_OK);
        eb_filter *idle;
        OK(eb_clone(&idle, f, NULL, NULL));
        OK(eb_advance(idle, time[i] + (x.eras + 1) * x.length, NULL));
        HOLDS(stats_of(idle).cells_used == 0 && stats_of(idle).fpr == 0);
        eb_free(idle);
    }
    eb_free(f);
}

static void sparse_streams_leave_nothing_behind(void **state) {
    SUITE_LONG();
    /* 191 pages of lines, so that a round of all takes as long as it may; 230, half of that */
    static const char *const specs[] = {
        "window:window=1400,unit=time,print_bits=31,line=64,items=1000,cells=195584",
        "window:window=1400,unit=time,print_bits=31,line=64,items=1000,cells=195584,"
        "eras=30,refresh=yes",
        "window:window=1400,unit=time,print_bits=31,line=64,items=1000,cells=235520,"
        "eras=30",
        "window:window=1400,unit=time,memory=231K,mode=rotate"};
    (void)state;
    for (size_t i = 0; i < SUITE_COUNT(specs); i++)
        for (uint64_t gap = 1; gap <= 64; gap *= 4) forget_exactly(specs[i], gap);
}

/* Keys that all come equally often: how many are not found again?  The rate of false positives, of
 * which one such miss less follows, is known roughly when there are repeats: hence the bias. */
static void repeats_are_missed_as_predicted(const char *options, double distinct, double bias) {
    enum { WINDOW = 20000, BATCH = 1000 };
    char spec[EB_SPEC_MAX];
    eb_hash hash[BATCH];
    uint8_t seen[BATCH];
    uint64_t random = 11, missed = 0, n = 0;
    (void)snprintf(spec, sizeof spec, "window:window=%d,%s", WINDOW, options);
    suite_at("%s, %g keys", spec, distinct);
    const eb_workload load = {.size = sizeof load, .distinct = distinct};
    eb_prediction p = {.size = sizeof p};
    OK(eb_predict(spec, &load, NULL, 1, &p, NULL));
    eb_filter *const f = suite_new(spec);
    const double settled = 10 * distinct + 3 * WINDOW;
    for (double done = 0; done < settled + 1e6; done += BATCH) {
        for (size_t i = 0; i < BATCH; i++)
            hash[i] = ebi_mix(1 + suite_below(&random, (uint64_t)distinct));
        OK(calls_add(f, &A_BATCH(BATCH, hash, NULL, NULL), seen));
        for (size_t i = 0; i < BATCH && done >= settled; i++) missed += !seen[i], n++;
    }
    const double rate = (double)missed / (double)n, error = sqrt(p.fnr * (1 - p.fnr) / (double)n);
    HOLDS(fabs(rate - p.fnr) < 4 * error + bias * p.fnr && p.mean_fnr == p.fnr);
    eb_free(f);
}

/* Bursts make fields narrow; after a silence the same lines begin again. */
static void bursts_and_silences_can_be_loaded(void **state) {
    enum { KEYS = 400, BATCHES = 60, ROUNDS = 4 };
    const size_t seeds = suite_quick() ? 2 : 12;
    static const char *const more[] = {"fpr=0.001", "print_bits=18", "print_bits=12,line=128",
                                       "fpr=0.001,refresh=yes"};
    (void)state;
    for (size_t m = 0; m < SUITE_COUNT(more) * seeds; m++) {
        char spec[EB_SPEC_MAX];
        uint64_t random = 1 + m, now = 1, time[KEYS];
        eb_hash hash[KEYS];
        uint8_t seen[KEYS];
        eb_filter *copy;
        (void)snprintf(spec, sizeof spec, "window:window=5000,unit=time,items=8000,%s,seed=%zu",
                       more[m / seeds], m);
        eb_filter *const f = suite_new(spec);
        for (int round = 0; round < ROUNDS; round++) {
            suite_at("%s, round %d", spec, round);
            for (uint64_t n = 1 + suite_below(&random, BATCHES); n > 0; n--) {
                for (size_t i = 0; i < KEYS; i++) {
                    hash[i] = suite_random(&random);
                    time[i] = now += suite_below(&random, 20) == 0;
                }
                OK(calls_add(f, &A_BATCH(KEYS, hash, NULL, time), seen));
            }
            now += suite_below(&random, 9000);
            const size_t bytes = eb_save_size(f);
            void *const saved = malloc(bytes);
            if (!saved) fail_msg("no memory for the test itself");
            OK(eb_save(f, saved, bytes, NULL));
            OK(eb_load(&copy, saved, bytes, NULL, NULL, NULL));
            eb_free(copy);
            free(saved);
        }
        eb_free(f);
    }
}

static void misses_are_as_predicted(void **state) {
    (void)state;
    SUITE_LONG();
    static const char *const options[] = {"fpr=0.01,refresh=yes", "fpr=0.01,refresh=no",
                                          "fpr=0.05,mode=rotate,refresh=yes",
                                          "fpr=0.05,mode=rotate,refresh=no"};
    for (size_t i = 0; i < SUITE_COUNT(options); i++) {
        repeats_are_missed_as_predicted(options[i], 5000, 0.02);
        repeats_are_missed_as_predicted(options[i], 20000, 0.01);
        repeats_are_missed_as_predicted(options[i], 100000, 0.01);
    }
}

static void a_window_of_time_is_predicted_as_planned(void **state) {
    (void)state;
    const eb_workload load = {.size = sizeof load};
    eb_prediction p = {.size = sizeof p};
    OK(eb_predict("window:window=600,unit=time,items=1e6,fpr=0.01", &load, NULL, 1, &p, NULL));
    HOLDS(fabs(p.fpr - 0.01) < 1e-4);
}

/* Twins and machines */

static const char *const shapes[] = {
    "print_bits=9,eras=14,line=64,refresh=yes,overload=degrade,cells=128",
    "print_bits=9,eras=14,line=64,refresh=no,overload=degrade,cells=128",
    "print_bits=14,eras=14,line=64,refresh=yes,overload=shorten,cells=320",
    "print_bits=17,eras=5,line=64,refresh=yes,overload=degrade,cells=640",
    "print_bits=31,eras=30,line=64,refresh=yes,overload=degrade,cells=1280",
    "print_bits=27,eras=14,line=128,refresh=yes,overload=degrade,cells=960",
    "print_bits=22,eras=14,line=128,refresh=no,overload=shorten,cells=384",
    "print_bits=12,eras=1,line=128,refresh=yes,overload=shorten,cells=192",
    "print_bits=11,eras=14,line=64,refresh=yes,overload=degrade,cells=384",
    "print_bits=18,eras=14,line=128,refresh=yes,overload=degrade,cells=480",
    "print_bits=20,eras=14,line=64,refresh=yes,overload=degrade,cells=960",
    "print_bits=14,eras=14,line=64,refresh=no,overload=degrade,cells=448",
    "print_bits=30,eras=9,line=128,refresh=yes,overload=degrade,cells=1440",
    "print_bits=16,eras=20,line=64,refresh=yes,overload=degrade,cells=640",
};

static const ebi_ops *portable(const ebi_params *p) {
    (void)p;
    return &ebi_window_portable;
}

static const ebi_ops *(*const machines[])(const ebi_params *p) = {portable, ebi_window_avx2,
                                                                  ebi_window_vbmi};
enum { MACHINES = SUITE_COUNT(machines) };

/* A window that is so many times as large, in so many times as many lines: those of neighbouring
 * keys are mostly the same with few lines, and mostly different with many. */
static void same_as(const char *unit, const char *shape, unsigned times) {
    enum { N = 30000, PART = 300 };
    char spec[EB_SPEC_MAX];
    uint8_t seen[N], other[N];
    eb_filter *f[MACHINES];
    const int cells = (int)(strstr(shape, "cells=") - shape);
    (void)snprintf(spec, sizeof spec, "window:window=%u,items=%u,unit=%s,%.*scells=%lu",
                   250 * times, 250 * times, unit, cells, shape,
                   times * strtoul(shape + cells + strlen("cells="), NULL, 10));
    suite_at("%s", spec);
    size_t n = 0;
    for (size_t i = 0; i < MACHINES; i++) {
        f[n] = suite_new(spec);
        f[n]->ops = machines[i](&f[n]->p);
        if (f[n]->ops)
            n++;
        else
            eb_free(f[n]);
    }
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(f[0]));
    model *const m = model_new(spec);
    suite_stream s = suite_make_stream(f[0], N, 900 * times, 5);
    for (size_t i = 0; i < N; i += PART) {
        const eb_batch part = suite_part(&s, i, i + PART);
        OK(calls_add(f[0], &part, seen + i));
        for (size_t j = 1; j < n; j++) {
            OK(calls_add(f[j], &part, other + i));
            HOLDS(memcmp(seen + i, other + i, PART) == 0);
            HOLDS(suite_equal(f[0], f[j]));
        }
    }
    for (size_t i = 0; i < N; i++) HOLDS(model_add(m, s.hash[i], 1, s.time[i]) == (seen[i] != 0));
    calls_test(f[0], s.hash, N, seen);
    for (size_t j = 1; j < n; j++) {
        calls_test(f[j], s.hash, N, other);
        HOLDS(memcmp(seen, other, N) == 0);
    }
    suite_free_stream(&s);
    model_free(m);
    for (size_t j = 0; j < n; j++) eb_free(f[j]);
}

static void all_machines_agree_with_the_twin(void **state) {
    (void)state;
    for (size_t i = 0; i < SUITE_COUNT(shapes); i++) {
        same_as("records", shapes[i], 1);
        same_as("time", shapes[i], 1);
        same_as("records", shapes[i], 20);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_machines_agree_with_the_twin),
        cmocka_unit_test(no_repeat_within_the_window_passes),
        cmocka_unit_test(no_key_passes_twice_within_the_window),
        cmocka_unit_test(rates_and_bits_are_as_planned),
        cmocka_unit_test(plans_know_what_is_stored),
        cmocka_unit_test(under_overload_the_rate_rises_or_the_window_shrinks),
        cmocka_unit_test(saturated_lines_keep_the_promise),
        cmocka_unit_test(what_expired_stays_expired),
        cmocka_unit_test(bursts_and_silences_can_be_loaded),
        cmocka_unit_test(misses_are_as_predicted),
        cmocka_unit_test(a_window_of_time_is_predicted_as_planned),
        cmocka_unit_test(idle_time_costs_nothing_and_forgets_all),
        cmocka_unit_test(sparse_streams_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
