/* p004_examples.c - streams on which the published policies count too low, and how
 * often that happens by chance.
 *
 * An example is a short stream of keys that share certain counters.  Such keys are
 * looked for: which first counters a key has shows in the block of a filter that
 * holds it alone; what else must coincide (second counters, marks) is tried until
 * the estimate comes out as the argument says.  Then RM-X gets the same keys. */
#include "paper_004.h"
#include <math.h>
#include <string.h>

enum { EXAMPLES_KEYS = 5, EXAMPLES_STEPS = 8, EXAMPLES_K = 3 };
typedef struct examples_step {
    int key, times; /* below 0: removed */
    bool single;    /* one by one */
} examples_step;
typedef struct examples_wish { /* which counters a key shares with an earlier one: a bit each */
    int key, with;
    unsigned shared;
} examples_wish;
typedef struct examples_case {
    const char *name, *story;
    p004_policy policy;
    p004_size size;
    double truth, published; /* of key 0 */
    examples_wish wishes[8];
    examples_step steps[EXAMPLES_STEPS];
} examples_case;

/* clang-format off */
static const examples_case examples[] = {
    {"A, inserts only", "y x z x^10 z: asked for x", P004_RM, {2, 64, 32}, 11, 1,
     {{1, 0, 1}, {2, 0, 2}, {2, 1, 0}},
     {{1, 1, false}, {0, 1, false}, {2, 1, false}, {0, 10, true}, {2, 1, false}}},
    {"B, inserts only", "x^9 w u, u marked like x: asked for x", P004_RM_BF, {2, 64, 16}, 9, 1,
     {{1, 0, 0}, {2, 0, 0}, {2, 1, 1}},
     {{0, 9, false}, {1, 1, false}, {2, 1, false}}},
    {"C, deletions", "w v^5 x^10 t, four x deleted: asked for v", P004_RM_BF, {2, 64, 16}, 5, 1,
     {{1, 0, 1}, {2, 0, 0}, {2, 1, 0}, {3, 2, 1}, {3, 0, 0}, {3, 1, 0}},
     {{1, 1, false}, {0, 5, false}, {2, 10, false}, {3, 1, false}, {2, -4, true}}},
    {"D, deletions", "y x^5 z x^10 z, three x deleted: asked for x", P004_RM, {2, 64, 32}, 12, 2,
     {{1, 0, 1}, {2, 0, 2}, {2, 1, 0}},
     {{1, 1, false}, {0, 5, false}, {2, 1, false}, {0, 10, false}, {2, 1, false}, {0, -3, true}}},
    {"E, inserts only", "a b x^10 u^3 z a b, z never there before: asked for x", P004_TRM,
     {3, 66, 48}, 10, 7,
     {{1, 0, 1}, {2, 0, 2}, {2, 1, 0}, {4, 0, 4}, {4, 1, 0}, {4, 2, 0}, {3, 0, 0}, {3, 4, 3}},
     {{1, 1, false}, {2, 1, false}, {0, 10, true}, {3, 3, false}, {4, 1, false}, {1, 1, false},
      {2, 1, false}}},
};
/* clang-format on */

/* Counters of a key */

typedef struct examples_key {
    eb_hash hash;
    size_t at[EXAMPLES_K];
} examples_key;

/* The words of the block that are 1 when this key is all there is; the head comes first. */
static void examples_look(examples_key *key, eb_filter *f, unsigned k) {
    enum { HEADS = 3 * 64 };
    eb_parts parts = {.size = sizeof parts};
    unsigned found = 0;
    const eb_batch one = A_BATCH(1, &key->hash, NULL, NULL);
    (void)eb_clear(f, NULL);
    if (eb_add_batch(f, &one, NULL) || eb_save_parts(f, &parts, NULL))
        lab_die("an example's filter failed");
    const eb_key block = parts.part[1];
    for (size_t at = HEADS; at + 4 <= block.len && found < k; at += 4) {
        uint32_t word;
        memcpy(&word, (const uint8_t *)block.p + at, sizeof word);
        if (word == 1) key->at[found++] = at;
    }
    if (found != k) lab_die("a key has %u counters, not %u", found, k);
}

static unsigned examples_shared(const examples_key *a, const examples_key *b, unsigned k) {
    unsigned bits = 0;
    for (unsigned i = 0; i < k; i++) bits |= (unsigned)(a->at[i] == b->at[i]) << i;
    return bits;
}

typedef struct examples_search {
    const examples_case *c;
    eb_filter *f; /* to look at keys */
    lab_rng random;
    examples_key key[EXAMPLES_KEYS];
    bool known[EXAMPLES_KEYS];
} examples_search;

static bool examples_fits(const examples_search *s, int key) {
    for (size_t i = 0; i < sizeof s->c->wishes / sizeof *s->c->wishes; i++) {
        const examples_wish *const w = &s->c->wishes[i];
        if (w->key == w->with) continue; /* the list ended */
        if (w->key != key || !s->known[w->with]) continue;
        if (examples_shared(&s->key[key], &s->key[w->with], s->c->size.k) != w->shared)
            return false;
    }
    return true;
}

static void examples_find(examples_search *s, int key) {
    do {
        s->key[key].hash = lab_random(&s->random);
        examples_look(&s->key[key], s->f, s->c->size.k);
    } while (!examples_fits(s, key));
    s->known[key] = true;
}

/* Playing */

static void examples_play_step(eb_filter *f, eb_hash h, const examples_step *s) {
    const uint64_t all = (uint64_t)(s->times < 0 ? -s->times : s->times);
    const uint64_t times = s->single ? 1 : all;
    const eb_batch one = A_BATCH(1, &h, &times, NULL);
    for (uint64_t done = 0; done < all; done += times)
        if (s->times < 0 ? eb_remove_batch(f, &one, NULL) : eb_add_batch(f, &one, NULL))
            lab_die("a step of an example failed");
}

static double examples_play(const examples_search *s, p004_policy policy) {
    const p004_size size = {s->c->size.k, s->c->size.first,
                            policy == P004_RMX ? 32 : s->c->size.second};
    const p004_way way = p004_way_new(policy, &size, 1);
    double count;
    for (int i = 0; i < EXAMPLES_STEPS && s->c->steps[i].times; i++)
        examples_play_step(way.state, s->key[s->c->steps[i].key].hash, &s->c->steps[i]);
    way.count(way.state, &s->key[0].hash, 1, &count);
    way.release(way.state);
    return count;
}

static void examples_one(lab_options *o, lab_table *t, const examples_case *c) {
    static const int order[EXAMPLES_KEYS] = {0, 1, 2, 4, 3}; /* in E u depends on z */
    enum { TRIES = 2000000 };
    char spec[120];
    eb_error err;
    examples_search s = {.c = c, .random = {lab_mix(o->seed)}};
    double published = NAN;
    snprintf(spec, sizeof spec, "spectral:update=plain,store=u32,span=0,k=%u,cells=%.0f,seed=1",
             c->size.k, c->size.first);
    if (eb_new(&s.f, spec, NULL, &err)) lab_die("%s: %s", spec, err.text);
    for (int i = 0; i < TRIES && published != c->published; i++) {
        memset(s.known, 0, sizeof s.known);
        for (int j = 0; j < EXAMPLES_KEYS; j++) examples_find(&s, order[j]);
        published = examples_play(&s, c->policy);
    }
    const double rmx = examples_play(&s, P004_RMX), ms = examples_play(&s, P004_MS);
    lab_table_row(t, "%s|%s|%s|%.0f|%.0f|%.0f|%.0f|%.0f", c->name, c->story, p004_names[c->policy],
                  c->truth, c->published, published, rmx, ms);
    lab_promise(o, published == c->published, "%s: %s says %.0f, not the true %.0f", c->name,
                p004_names[c->policy], c->published, c->truth);
    lab_promise(o, rmx >= c->truth && ms >= c->truth, "%s: RM-X and MS are not too low", c->name);
    eb_free(s.f);
}

void p004_run_examples(lab_options *o) {
    lab_table *const t =
        lab_table_new("example|stream|policy|truth|argued|measured|RM-X says|MS says");
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        examples_one(o, t, &examples[i]);
    lab_table_print(t, o);
}

/* By chance: adds and removals of single keys, all keys that are there asked again and again */

enum { FUZZ_KEYS = 300, FUZZ_CHECKS = 100, FUZZ_STEPS = 30 * FUZZ_KEYS };
typedef struct fuzz_job {
    p004_policy policy;
    unsigned percent; /* of adds */
    double gamma;
    uint64_t seed, *low, *asked;
} fuzz_job;

static void fuzz_step(const fuzz_job *j, const p004_way *way, lab_rng *r, const eb_hash *h,
                      uint64_t *now) {
    /* a fifth of the keys gets half of the records */
    const size_t key = lab_below(r, 2) ? lab_below(r, FUZZ_KEYS / 5) : lab_below(r, FUZZ_KEYS);
    if (lab_below(r, 100) < j->percent) {
        way->add(way->state, &h[key], 1);
        now[key]++;
    } else if (now[key] > 0) {
        way->remove(way->state, h[key], 1);
        now[key]--;
    }
}

static void fuzz_run(void *ctx, size_t i) {
    const fuzz_job *const j = ctx;
    const double m = round(FUZZ_KEYS / j->gamma) * 4; /* and half as many second counters */
    const p004_size size = {4, m, j->policy == P004_RMX ? 1024 : round(m / 8) * 4};
    const p004_way way = p004_way_new(j->policy, &size, j->seed + i);
    lab_rng r = {lab_mix(j->seed + i)};
    eb_hash h[FUZZ_KEYS];
    uint64_t now[FUZZ_KEYS] = {0};
    for (int key = 0; key < FUZZ_KEYS; key++) h[key] = lab_random(&r);
    for (int step = 1; step <= FUZZ_STEPS; step++) {
        fuzz_step(j, &way, &r, h, now);
        if (step % (FUZZ_STEPS / FUZZ_CHECKS)) continue;
        double count[FUZZ_KEYS];
        way.count(way.state, h, FUZZ_KEYS, count);
        for (int key = 0; key < FUZZ_KEYS; key++) {
            j->asked[i] += now[key] > 0;
            j->low[i] += count[key] < (double)now[key];
        }
    }
    way.release(way.state);
}

static double fuzz_share(const lab_options *o, p004_policy policy, unsigned percent, double gamma) {
    uint64_t low[1000] = {0}, asked[1000] = {0}, all[2] = {0, 0};
    fuzz_job j = {policy, percent, gamma, o->seed, low, asked};
    lab_parallel(o->threads, o->seeds, fuzz_run, &j);
    for (unsigned i = 0; i < o->seeds; i++) {
        all[0] += low[i];
        all[1] += asked[i];
    }
    return 100 * (double)all[0] / (double)all[1];
}

void p004_run_low(lab_options *o) {
    static const p004_policy policies[] = {P004_MS,         P004_MI_LOWERED, P004_RM, P004_RM_BF,
                                           P004_RM_BF_STAR, P004_TRM,        P004_RMX};
    static const struct {
        unsigned percent;
        double gamma;
    } mixes[] = {{100, .7}, {70, .7}, {52, .7}, {52, 1}};
    lab_table *const t = lab_table_new("adds, gamma|MS|MI|RM|RM+Bf|RM+Bf*|TRM|RM-X");
    for (size_t m = 0; m < sizeof mixes / sizeof *mixes; m++) {
        double share[7];
        for (int i = 0; i < 7; i++)
            share[i] = fuzz_share(o, policies[i], mixes[m].percent, mixes[m].gamma);
        lab_table_row(t, "%u %%, %g|%.3f|%.3f|%.3f|%.4f|%.4f|%.3f|%.3f", mixes[m].percent,
                      mixes[m].gamma, share[0], share[1], share[2], share[3], share[4], share[5],
                      share[6]);
        lab_promise(o, share[0] == 0 && share[6] == 0, "MS and RM-X are never too low");
        lab_promise(o, mixes[m].percent < 100 || share[1] == 0, "nor MI without removals");
        lab_promise(o, share[2] > 1 && share[5] > 0.1, "RM and TRM are");
    }
    lab_table_print(t, o);
}
