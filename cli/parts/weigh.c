/* weigh.c - which keys of a query log deserve more bits, and how many.
 *
 * The best number of bits grows by one with each doubling of a key's queries over its chance of
 * being a member, so classes are powers of two of the frequency.  A key in the hot list costs
 * memory that the filter's bits then lack: every threshold and width of classes is tried, with the
 * bits that are left, and the least expected false positive rate wins.
 *
 * The queries of a class are counted as the class would have been without the query: a key that
 * was asked for c times has c queries of the class of c - 1.  So keys that came often by chance do
 * not look better than they are.
 *
 * If the members are known, only others are listed, for members are no false positives; a few of
 * the listed may become members later.  If not, every key is as likely a member as any other. */
#include "weigh.h"
#include "filterfile.h"
#include <stdlib.h>
#include <string.h>

#define LISTED_MEMBERS 0.01 /* share of the listed keys that may become members */
enum { WIDTH_MAX = 4, SPEC_CAP = 1024 };

typedef struct level { /* keys with as many queries each */
    uint64_t count, keys;
} level;
typedef struct levels {
    level *of;
    size_t n;
    double keys; /* in all levels */
} levels;

static bool may_be_listed(const weigh_task *task, const table_key *key) {
    return key->count > 0 && !(task->members_known && key->member);
}

static int by_count(const void *a, const void *b) {
    const uint64_t x = ((const level *)a)->count, y = ((const level *)b)->count;
    return (x > y) - (x < y);
}

static levels count_levels(const weigh_task *task) {
    levels l = {.of = cli_alloc((task->sample->n + 1) * sizeof *l.of)};
    size_t all = 0;
    for (size_t i = 0; i < task->sample->n; i++)
        if (may_be_listed(task, &task->sample->keys[i]))
            l.of[all++] = (level){task->sample->keys[i].count, 1};
    qsort(l.of, all, sizeof *l.of, by_count);
    for (size_t i = 0; i < all; i++) {
        if (l.n > 0 && l.of[l.n - 1].count == l.of[i].count)
            l.of[l.n - 1].keys++;
        else
            l.of[l.n++] = l.of[i];
    }
    l.keys = (double)all;
    return l;
}

/* From 0. */
static size_t class_of_count(const weigh_plan *p, uint64_t count) {
    size_t doublings = 0;
    if (p->threshold == 0 || count < p->threshold) return 0;
    for (uint64_t times = count / p->threshold; times > 1; times /= 2) doublings++;
    const size_t c = 1 + doublings / p->width;
    return c < EB_CLASSES_MAX ? c : EB_CLASSES_MAX - 1;
}

uint32_t weigh_class(const weigh_plan *plan, const weigh_task *task, const table_key *key) {
    const size_t c = may_be_listed(task, key) ? class_of_count(plan, key->count) : 0;
    return c == 0 ? 0 : (uint32_t)c + 1;
}

/* How many of the keys of a class are members, of all keys there may be. */
static void set_members(const weigh_task *task, weigh_plan *p, double sample_keys) {
    const double universe = sample_keys + task->members;
    double listed = 0;
    for (size_t c = 1; c < p->n; c++) {
        eb_class *const one = &p->classes[c];
        listed += one->keys;
        if (one->keys < 1) one->keys = 1;
        one->members =
            one->keys * (task->members_known ? LISTED_MEMBERS : task->members / universe);
    }
    p->classes[0].keys = universe - listed;
    p->classes[0].members =
        task->members_known ? task->members : task->members * p->classes[0].keys / universe;
    p->hot = (uint64_t)listed;
}

static void fill_classes(const weigh_task *task, const levels *l, weigh_plan *p) {
    p->n = 1;
    for (size_t i = 0; i < l->n; i++) {
        const size_t c = class_of_count(p, l->of[i].count);
        if (c > 0) p->classes[c].keys += (double)l->of[i].keys;
        if (c >= p->n) p->n = c + 1;
        p->classes[class_of_count(p, l->of[i].count - 1)].queries +=
            (double)l->of[i].count * (double)l->of[i].keys;
    }
    p->classes[0].queries += 1; /* for keys that nobody has asked for yet */
    set_members(task, p, l->keys);
}

void weigh_spec(const weigh_task *task, const weigh_plan *plan, char *spec, size_t cap) {
    size_t used =
        (size_t)snprintf(spec, cap, "weighted:memory=%s,hot=%llu,class_bits=", task->memory,
                         (unsigned long long)plan->hot);
    for (size_t c = 0; c < plan->n && used < cap; c++)
        used += (size_t)snprintf(spec + used, cap - used, "%s%u", c ? ":" : "",
                                 plan->k[c] ? (unsigned)plan->k[c] : 1u);
    if (used >= cap) cli_fail("-m is too long: %s", task->memory);
}

/* Bits of a filter, a list in it not counted; 0: it cannot be made. */
static double bits_of(const char *spec, eb_error *err) {
    char resolved[EB_SPEC_MAX];
    if (spec_resolve(spec, resolved, err) != EB_OK) return 0;
    return strtod(strstr(resolved, "cells=") + strlen("cells="), NULL);
}

static bool solve(const weigh_task *task, const levels *l, weigh_plan *p, eb_error *err) {
    char spec[SPEC_CAP];
    double plain;
    fill_classes(task, l, p);
    if ((double)p->hot > task->max_hot) return false;
    weigh_spec(task, p, spec, sizeof spec);
    const double bits = bits_of(spec, err);
    return bits > 0 &&
           eb_weigh(p->classes, p->n, bits, EB_WEIGH_BEST, p->k, &p->fpr, &plain, err) == EB_OK;
}

/* Like the weighted filter without a list, but for some bytes of memory. */
static weigh_plan solve_bloom(const weigh_task *task, const weigh_plan *no_list) {
    weigh_plan p = *no_list;
    char spec[SPEC_CAP];
    double plain;
    eb_error err;
    snprintf(spec, sizeof spec, "bloom:memory=%s,k=1", task->memory);
    if (eb_weigh(p.classes, 1, bits_of(spec, &err), EB_WEIGH_BEST, p.k, &p.fpr, &plain, &err) !=
        EB_OK)
        cli_fail("%s", err.text);
    return p;
}

void weigh_solve(const weigh_task *task, weigh_plan *best, weigh_plan *plain) {
    const levels l = count_levels(task);
    const uint64_t most = l.n ? l.of[l.n - 1].count : 0;
    eb_error err;
    *best = (weigh_plan){0};
    if (!solve(task, &l, best, &err)) cli_fail("%s", err.text);
    *plain = solve_bloom(task, best);
    for (uint64_t threshold = 1; threshold <= most; threshold += 1 + threshold / 4)
        for (uint64_t width = 1; width <= WIDTH_MAX; width++) {
            weigh_plan p = {.threshold = threshold, .width = width};
            if (solve(task, &l, &p, &err) && p.fpr < best->fpr) *best = p;
        }
    free(l.of);
}
