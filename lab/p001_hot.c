/* p001_hot.c - whose class is it?  Designs in which a member is never missed.
 *
 * N = 2e6 keys, frequencies 1/rank, each a member with probability 1/10, 8 bits a
 * member.  The class of a key is told with it (true frequencies), or comes from a
 * list of the hottest keys in the filter, which costs memory too: hence the plain
 * filters with the same memory beside them.  Always at this size: what a hot list
 * gains depends on N, so there is no smaller copy of it. */
#include "paper_001.h"
#include <math.h>

#define HOT_BITS 8.0
enum { HOT_LISTS = 2 };
static const double hot_lists[HOT_LISTS] = {256, 4096};

typedef struct hot_world {
    const lab_options *o;
    double keys, members, bits;
} hot_world;

static double hot_harmonic(double n) {
    return log(n) + 0.57721566490153286 + 1 / (2 * n);
}

/* Keys of ranks from+1..to */
static eb_class hot_ranks(const hot_world *w, double from, double to) {
    const double share = hot_harmonic(to) - (from > 0 ? hot_harmonic(from) : 0);
    return (eb_class){to - from, (to - from) * w->members / w->keys, share};
}

/* Classes by rank: class c holds ranks end[c+1]+1..end[c], class 0 the coldest.  A rate of false
 * positives is worth its members, so hot classes may be wide. */
typedef struct hot_classes {
    eb_class of[EB_CLASSES_MAX];
    double end[EB_CLASSES_MAX + 1];
    uint8_t k[EB_CLASSES_MAX];
    double fpr; /* expected */
} hot_classes;

static void hot_weigh(const hot_world *w, hot_classes *h) {
    double plain;
    for (int c = 0; c < EB_CLASSES_MAX; c++) h->of[c] = hot_ranks(w, h->end[c + 1], h->end[c]);
    if (eb_weigh(h->of, EB_CLASSES_MAX, w->bits, EB_WEIGH_BEST, h->k, &h->fpr, &plain, NULL))
        lab_die("weighing ranks failed");
}

/* All keys in eight classes, or (hottest > 0) the rest in class 0 and a list in the others. */
static hot_classes hot_divide(const hot_world *w, double hottest) {
    static const double all[] = {1, 0.5, 0.25, 0.125, 1 / 16., 1 / 64., 1 / 512., 1 / 16384., 0};
    static const double list[] = {0, 1, 0.5, 0.25, 0.125, 1 / 16., 1 / 64., 1 / 256., 0};
    hot_classes h = {0};
    for (int c = 0; c <= EB_CLASSES_MAX; c++)
        h.end[c] = hottest > 0 ? floor(hottest * list[c]) : floor(w->keys * all[c]);
    h.end[0] = w->keys;
    hot_weigh(w, &h);
    return h;
}

/* Every key its own bits: many narrow classes of ranks. */
static double hot_finest(const hot_world *w) {
    enum { MAX = 2000 };
    eb_class c[MAX];
    uint8_t k[MAX];
    size_t n = 0;
    double fpr, plain, from = 0;
    while (from < w->keys && n < MAX) {
        const double to = fmin(w->keys, floor(from * 1.01) + 1);
        c[n++] = hot_ranks(w, from, to);
        from = to;
    }
    if (eb_weigh(c, n, w->bits, EB_WEIGH_BEST, k, &fpr, &plain, NULL)) lab_die("weighing failed");
    return fpr;
}

/* A filter with a list */

enum { HOT_BATCH = 256 };

static uint64_t hot_hash(uint64_t rank, uint64_t seed) {
    return lab_mix(rank + lab_mix(seed + 1));
}

static bool hot_is_member(uint64_t hash) {
    lab_rng r = {hash};
    return lab_below(&r, 10) == 0;
}

static void hot_name_list(eb_filter *f, const hot_classes *h, uint64_t seed) {
    for (uint32_t c = 1; c < EB_CLASSES_MAX; c++)
        for (uint64_t rank = (uint64_t)h->end[c + 1] + 1; rank <= (uint64_t)h->end[c]; rank++) {
            const uint64_t hash = hot_hash(rank, seed);
            const uint64_t value = c + 1;
            eb_error err;
            if (eb_classify(f, &A_BATCH(1, &hash, &value, NULL), &err)) lab_die("%s", err.text);
        }
}

/* Adds the members, or asks for them; returns how many were seen. */
static uint64_t hot_members(eb_filter *f, const hot_world *w, uint64_t seed, bool add,
                            uint64_t *members) {
    uint64_t hash[HOT_BATCH], seen_in_all = 0;
    uint8_t seen[HOT_BATCH];
    size_t n = 0;
    *members = 0;
    for (uint64_t rank = 1; rank <= (uint64_t)w->keys; rank++) {
        hash[n] = hot_hash(rank, seed);
        n += hot_is_member(hash[n]);
        if (n < HOT_BATCH && rank < (uint64_t)w->keys) continue;
        if (add && calls_add(f, &A_BATCH(n, hash, NULL, NULL), seen)) lab_die("adding failed");
        if (!add) calls_test(f, hash, n, seen);
        for (size_t i = 0; i < n; i++) seen_in_all += seen[i];
        *members += n;
        n = 0;
    }
    return seen_in_all;
}

static double hot_fresh_rate(const eb_filter *f, uint64_t seed, uint64_t asked) {
    lab_rng random = {lab_mix(seed + 77)};
    uint64_t seen_in_all = 0;
    for (uint64_t i = 0; i < asked; i++) {
        const uint64_t hash = lab_random(&random);
        uint8_t seen;
        calls_test(f, &hash, 1, &seen);
        seen_in_all += seen;
    }
    return (double)seen_in_all / (double)asked;
}

/* Unlisted keys are asked for, the rates of the listed (few) follow from the fill. */
static p001_sample hot_run_list(const hot_world *w, const hot_classes *h, double hot,
                                uint64_t seed) {
    enum { ASKED = 400000 };
    char spec[200];
    eb_filter *f;
    eb_error err;
    p001_sample out = {0};
    double queries = 0;
    int at =
        snprintf(spec, sizeof spec, "weighted:cells=%.0f,hot=%.0f,seed=%llu,class_bits=", w->bits,
                 hot, (unsigned long long)seed);
    for (int c = 0; c < EB_CLASSES_MAX; c++)
        at += snprintf(spec + at, sizeof spec - (size_t)at, "%s%u", c ? ":" : "", h->k[c]);
    if (eb_new(&f, spec, NULL, &err)) lab_die("%s: %s", spec, err.text);
    hot_name_list(f, h, seed);
    (void)hot_members(f, w, seed, true, &out.members);
    out.missed = out.members - hot_members(f, w, seed, false, &out.members);
    eb_stats s = {.size = sizeof s};
    calls_stat(f, &s);
    out.fill = s.fill;
    for (int c = 0; c < EB_CLASSES_MAX; c++) queries += h->of[c].queries;
    const double base = hot_fresh_rate(f, seed, ASKED), share = h->of[0].queries / queries;
    out.fpr = share * base;
    out.error = share * sqrt(base * (1 - base) / ASKED);
    for (int c = 1; c < EB_CLASSES_MAX; c++)
        out.fpr += h->of[c].queries / queries * pow(s.fill, h->k[c]);
    eb_free(f);
    return out;
}

static p001_sample hot_list(const hot_world *w, const hot_classes *h, double hot) {
    p001_sample sum = {0};
    for (unsigned i = 0; i < w->o->seeds; i++) {
        const p001_sample one = hot_run_list(w, h, hot, w->o->seed + i);
        sum.fpr += one.fpr / w->o->seeds;
        sum.error += one.error * one.error;
        sum.members += one.members;
        sum.missed += one.missed;
    }
    sum.error = sqrt(sum.error) / w->o->seeds;
    return sum;
}

/* Report */

static double hot_extra_bits(double hot) { /* 32 for each slot, at most 3/4 of them in use */
    return 32 * 16 * ceil((hot + floor(hot / 3) + 1) / 16);
}

static void hot_row(lab_options *o, lab_table *t, const char *what, double want, double model,
                    p001_sample s, double slack) {
    char text[160];
    snprintf(text, sizeof text, "%s|%.5f", what, model);
    lab_check_row(o, t, text,
                  (lab_check){want, s.fpr, s.error, 4 * s.error + (slack + 0.01) * want, 5});
    lab_promise(o, s.missed == 0, "%s: %llu of %llu members are missed", what,
                (unsigned long long)s.missed, (unsigned long long)s.members);
}

static void hot_plain_row(lab_options *o, lab_table *t, const hot_world *w, const char *what,
                          double want, double bits) {
    unsigned k;
    const double model = p001_plain(bits / w->members, &k);
    const eb_class one = {w->keys, w->members, 1};
    hot_row(o, t, what, want > 0 ? want : model, model,
            p001_simulate(o, &one, 1, &(uint8_t){(uint8_t)k}, bits), 0);
}

void p001_run_hot(lab_options *o) {
    static const double want[HOT_LISTS] = {1.28e-2, 8.97e-3};
    hot_world w = {o, 2e6, 2e5, 0};
    w.bits = HOT_BITS * w.members;
    lab_table *t = lab_checks_new("design|predicted", "expected FPR");
    hot_plain_row(o, t, &w, "plain, k = 6", 2.16e-2, w.bits);
    const double finest = hot_finest(&w);
    lab_check_row(o, t, "true frequencies, every key its own bits|-",
                  (lab_check){3.92e-3, finest, NAN, 0.02 * 3.92e-3, 5});
    const hot_classes all = hot_divide(&w, 0);
    hot_row(o, t, "true frequencies, eight classes", all.fpr, all.fpr,
            p001_simulate(o, all.of, EB_CLASSES_MAX, all.k, w.bits), 0);
    for (int i = 0; i < HOT_LISTS; i++) {
        char what[80];
        const double hot = hot_lists[i];
        const hot_classes h = hot_divide(&w, hot);
        snprintf(what, sizeof what, "hot list of %.0f (%.1f %% more memory)", hot,
                 100 * hot_extra_bits(hot) / w.bits);
        hot_row(o, t, what, want[i], h.fpr, hot_list(&w, &h, hot), 0.03);
        snprintf(what, sizeof what, "plain, with the memory of that list");
        hot_plain_row(o, t, &w, what, 0, w.bits + hot_extra_bits(hot));
    }
    hot_plain_row(o, t, &w, "plain, with 9.2 % more memory", 1.51e-2, 1.092 * w.bits);
    lab_table_print(t, o);
}
