/* plan.c - the filters of a run, planned from a sample of the input.
 *
 * The sample says how many units there are for each byte on disk.  How many of them repeat can only
 * be guessed from it, so the filter is planned for all of them being new: it is large enough.
 * If there are more after all, that is said at once, and --on-full says what happens. */
#include "corpus.h"
#include "parts/filterfile.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PLAN_FILES = 16, PLAN_BYTES = 1 << 20, PLAN_BLOCK = 64 << 10 };
static const double plan_margin = 1.1, plan_max_drop = 1e-6;

typedef struct plan_sample {
    const corpus_run *run;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t next, turn, end, step; /* files: to look at, to count */
    double packed;
    double keys[CORPUS_RULES];
    fresh_sample fresh[CORPUS_RULES];
} plan_sample;

/* What the sample says of the keys of a filter. */
typedef struct plan_keys {
    double all;
    double fresh, sampled; /* share of new ones, in all and in the sample; NAN: there are none */
} plan_keys;

/* The first part of a file; what is wrong with it is in the chunk's error. */
static void plan_read(const corpus_run *run, chunk *c, double *packed) {
    char why[200];
    const char *const path = run->files.file[c->file].path;
    source *const in = source_open(path, why, sizeof why);
    long n = in ? 1 : -1;
    for (c->n = 0; n > 0 && c->n<PLAN_BYTES; c->n += n> 0 ? (size_t)n : 0) {
        c->bytes = cli_grow(c->bytes, &c->cap, c->n + PLAN_BLOCK);
        n = source_read(in, c->bytes + c->n, PLAN_BLOCK, why, sizeof why);
    }
    *packed = in ? (double)source_packed_bytes(in) : 0;
    source_close(in);
    if (n < 0) snprintf(c->error, sizeof c->error, "%.200s: %.180s", path, why);
}

static void plan_count(const corpus_run *run, const chunk *c, plan_sample *s) {
    for (size_t i = 0; i < run->rules; i++) {
        s->keys[i] += (double)c->list[i].n;
        for (size_t d = 0; d < c->docs && !run->set->quiet; d++)
            if (c->doc[d].state == RECORD_TEXT)
                fresh_add(&s->fresh[i], c->list[i].hash + c->doc[d].first[i], c->doc[d].units[i]);
    }
}

/* Takes files until there is none, and counts them in their order. */
static void *plan_look(void *context) {
    plan_sample *const s = context;
    corpus_run alone = *s->run; /* no filters yet */
    chunk c = {0};
    alone.matchers = 0;
    pthread_mutex_lock(&s->lock);
    while (s->next < s->end) {
        double packed;
        const size_t turn = s->next;
        c.file = turn;
        s->next += s->step;
        pthread_mutex_unlock(&s->lock);
        plan_read(s->run, &c, &packed);
        if (!c.error[0]) chunk_parse(&alone, &c);
        pthread_mutex_lock(&s->lock);
        while (s->turn != turn) pthread_cond_wait(&s->changed, &s->lock);
        if (c.error[0]) cli_fail("%s", c.error);
        s->packed += packed;
        plan_count(s->run, &c, s);
        s->turn += s->step;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    chunk_free(&c);
    return NULL;
}

/* ---- How much memory there is. */

/* Of the machine, what can be had now; 0: not known. */
static double plan_available(void) {
    char line[128];
    double kib = 0;
    FILE *const f = fopen("/proc/meminfo", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %lf kB", &kib) == 1) break;
    if (f) fclose(f);
    return kib * 1024;
}

static uint64_t plan_bytes(const char *spec) {
    eb_spec_info info;
    eb_error err;
    EB_INIT(info);
    if (eb_spec_describe(spec, &info, &err) != EB_OK) cli_fail("%s", err.text);
    return info.bytes;
}

/* New keys that a filter may take before it would need more than `most` bytes: it grows by parts
 * that hold twice the keys of the one before. */
static double plan_room(const char *spec, double most) {
    char grown[EB_SPEC_MAX], number[16];
    double limit = NAN, keys = 0;
    eb_spec_info info;
    EB_INIT(info);
    (void)eb_spec_get(spec, "limit", NULL, 0, &limit, NULL);
    for (int parts = 0; parts < 63; parts++) {
        snprintf(number, sizeof number, "%d", parts);
        if (eb_spec_set(spec, "grown", parts ? number : NULL, grown, sizeof grown, NULL) != EB_OK ||
            eb_spec_describe(grown, &info, NULL) != EB_OK || (double)info.bytes > most)
            break;
        keys += limit * ldexp(1, parts);
    }
    return keys;
}

/* A Bloom filter for the planned keys. */
static void plan_bloom(const corpus_run *run, const matcher *m, const char *layout, char *spec) {
    char wish[EB_SPEC_MAX];
    eb_spec_info info;
    eb_error err;
    EB_INIT(info);
    snprintf(wish, sizeof wish, "bloom:distinct=%.0f,fpr=%.3g,limit=%.0f,layout=%s%s,seed=%s",
             m->planned, fmax(m->promise, 1e-9), m->planned, layout,
             run->on_full == FULL_STOP ? "" : ",grow=2", run->set->seed ? run->set->seed : "0");
    if (eb_spec_describe(wish, &info, &err) != EB_OK) cli_fail("%s", err.text);
    memcpy(spec, info.canonical, sizeof info.canonical);
}

/* One cache line a key takes a third more memory than one for each of its bits, and much less time.
 * It shall not fill the memory earlier than the other would, unless that is far away. */
static void plan_layout(const corpus_run *run, const matcher *m, double most, char *spec) {
    enum { FAR = 8 }; /* times what was planned */
    char parts[EB_SPEC_MAX];
    plan_bloom(run, m, "line", spec);
    /* Parts of an input that were collected apart will be merged: they have the same layout,
     * whatever memory there is. */
    if (corpus_of(run->set)->collect && !run->set->memory) return;
    plan_bloom(run, m, "parts", parts);
    const double room = plan_room(parts, most);
    if (plan_room(spec, most) < fmin(room, FAR * m->planned)) memcpy(spec, parts, sizeof parts);
}

/* ---- The filter of a unit. */

/* Of the repeats, the share that a filter misses which forgets; NAN: not known. */
static double plan_missed(const char *spec, const plan_keys *keys, double gap) {
    eb_workload load = {.size = sizeof load, .gap = gap};
    eb_prediction p = {.size = sizeof p};
    load.items = fmax(1, keys->all);
    load.distinct = fmax(1, keys->all * keys->fresh);
    return eb_predict(spec, &load, NULL, 1, &p, NULL) == EB_OK ? p.mean_fnr : NAN;
}

static void plan_forgetting(const settings *set, const matcher *m, double bytes, char *spec) {
    snprintf(spec, EB_SPEC_MAX, "lru:memory=%.0f,fpr=%.3g,seed=%s", bytes, fmax(m->promise, 3.7e-9),
             set->seed ? set->seed : "0");
}

/* Two digits are enough for a guess. */
static const char *plan_percent(char text[32], double share) {
    const double last = share > 0 ? pow(10, floor(log10(100 * share)) - 1) : 1;
    return human_number(text, round(100 * share / last) * last);
}

/* need: bytes of a filter for all keys. */
static void plan_tell_forgetting(const matcher *m, const char *spec, const plan_keys *keys,
                                 double need, const char *share) {
    char text[32], all[32], far[32], whole[32], most[32], stay[100] = "";
    double cells = NAN;
    (void)eb_spec_get(eb_spec(m->filter), "cells", NULL, 0, &cells, NULL);
    const plan_keys full = {4 * cells, 1, 1};
    const double missed = plan_missed(spec, keys, 0);
    if (keys->fresh < 1 && isfinite(missed))
        snprintf(stay, sizeof stay, "; of all repeats about %s %% stay, if they are spread evenly",
                 plan_percent(most, missed));
    cli_warn("%s: about %s keys%s; all of them need %s; a %s filter forgets the oldest when it is "
             "full: it finds repeats that are near, and of those %s keys apart about %.0f %% "
             "stay%s",
             m->name, human_number(all, keys->all), share, human_bytes(whole, need),
             human_bytes(text, (double)plan_bytes(spec)), human_number(far, cells),
             100 * plan_missed(spec, &full, cells), stay);
}

/* What a quarter of the memory would do. */
static void plan_tell_smaller(const settings *set, const matcher *m, const plan_keys *keys,
                              double need) {
    enum { LEAST = 4 << 20 }; /* less is not worth a sentence */
    char spec[EB_SPEC_MAX], text[32], stay[32];
    if (need < LEAST || !(keys->fresh < 1)) return;
    plan_forgetting(set, m, need / 4, spec);
    const double missed = plan_missed(spec, keys, 0);
    if (isfinite(missed))
        cli_warn("%s: with -m %.0fK (%s) it would forget the oldest keys, and about %s %% of the "
                 "repeats would stay, if they are spread evenly",
                 m->name, ceil(need / 4096), human_bytes(text, need / 4),
                 plan_percent(stay, missed));
}

static void plan_tell(const corpus_run *run, const matcher *m, const char *spec,
                      const plan_keys *keys, double need) {
    char text[32], all[32], promise[32], share[120] = "";
    if (run->set->quiet) return;
    if (isfinite(keys->fresh))
        snprintf(share, sizeof share, ", about %.0f %% of them new (of the sample %.0f %%)",
                 100 * keys->fresh, 100 * keys->sampled);
    if (run->on_full == FULL_FORGET) {
        plan_tell_forgetting(m, spec, keys, need, share);
        return;
    }
    const size_t files = run->end - run->first;
    cli_warn("%s: about %s keys in %zu file%s%s; a %s filter takes at most %s of the new ones for "
             "repeats",
             m->name, human_number(all, keys->all), files, files == 1 ? "" : "s", share,
             human_bytes(text, (double)plan_bytes(spec)), human_number(promise, m->promise));
    if (!run->set->memory) plan_tell_smaller(run->set, m, keys, need);
}

static void plan_refuse(const matcher *m, double bytes, double most, const char *why) {
    char need[32], there[32], all[32];
    cli_fail("%s: about %s keys need %s, more than %s (%s); give a larger --max-drop, or "
             "--on-full forget, which keeps the latest keys only",
             m->name, human_number(all, m->planned), human_bytes(need, bytes), why,
             human_bytes(there, most));
}

/* most: bytes that it may take. */
static void plan_filter(corpus_run *run, matcher *m, const plan_keys *keys, double most) {
    const settings *const set = run->set;
    char spec[EB_SPEC_MAX];
    eb_error err;
    const double bands = run->rule[m->rule].kind == UNIT_NEAR ? run->rule[m->rule].bands : 1;
    m->planned = fmax(1000, ceil(keys->all * plan_margin));
    m->promise = (set->max_drop > 0 ? set->max_drop : plan_max_drop) / bands;
    plan_layout(run, m, most, spec);
    const double need = (double)plan_bytes(spec);
    if (need > most && run->on_full != FULL_FORGET) {
        if (set->on_full || !set->memory)
            plan_refuse(m, need, most, set->memory ? "-m" : "nine tenths of the free memory");
        run->on_full = FULL_FORGET;
    }
    if (run->on_full == FULL_FORGET)
        plan_forgetting(set, m, set->memory ? most : fmin(need, most), spec);
    if (eb_new(&m->filter, spec, NULL, &err) != EB_OK) cli_fail("%s", err.text);
    plan_tell(run, m, spec, keys, need);
}

/* The bytes that each filter may take: -m, or its part of the memory that there is; held: bytes
 * that they take already. */
static double plan_most(const corpus_run *run, double held) {
    char there[32], each[32];
    double filters = 0;
    for (size_t i = 0; i < run->matchers; i++) filters += run->match[i].own;
    if (filters == 0) return 0;
    const double there_is = plan_available(),
                 free_bytes = there_is > 0 ? 0.9 * (there_is + held) : 0;
    const double most = run->set->memory ? size_in_bytes(run->command, "-m", run->set->memory)
                                         : free_bytes / filters;
    if (free_bytes == 0) return run->set->memory ? most : INFINITY;
    if (most * filters > free_bytes)
        cli_fail("-m %s for each of %.0f filters is more than nine tenths of the free memory (%s): "
                 "give -m %.0fK (%s) or less",
                 run->set->memory, filters, human_bytes(there, free_bytes),
                 floor(free_bytes / filters / 1024), human_bytes(each, free_bytes / filters));
    return most;
}

void filters_plan(corpus_run *run, size_t threads) {
    /* What the parts of an input collect has room for all of it, and one spec: it will be merged.
     */
    const bool whole = corpus_of(run->set)->collect != NULL;
    const size_t first = whole ? 0 : run->first, end = whole ? run->files.n : run->end;
    const size_t n = end - first, step = n > PLAN_FILES ? n / PLAN_FILES : 1;
    double bytes = 0;
    for (size_t i = first; i < end; i++) bytes += (double)run->files.file[i].bytes;
    plan_sample s = {.run = run, .next = first, .turn = first, .end = end, .step = step};
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.changed, NULL);
    corpus_threads(threads, plan_look, &s);
    const double most = plan_most(run, 0);
    for (size_t i = 0; i < run->matchers; i++) {
        matcher *const m = &run->match[i];
        if (!m->own) continue;
        const double times = s.packed > 0 ? bytes / s.packed : 0;
        plan_keys keys = {.all = s.keys[m->rule] * times};
        keys.fresh = fresh_share(&s.fresh[m->rule], times, &keys.sampled);
        plan_filter(run, m, &keys, most);
    }
    for (size_t i = 0; i < run->rules; i++) fresh_free(&s.fresh[i]);
    pthread_cond_destroy(&s.changed);
    pthread_mutex_destroy(&s.lock);
}

/* With layout=line a key costs one cache line anyway. */
static bool plan_needs_known(const matcher *m) {
    char layout[16] = "";
    (void)eb_spec_get(eb_spec(m->filter), "layout", layout, sizeof layout, NULL, NULL);
    return m->idempotent && strcmp(layout, "line") != 0;
}

/* A quarter of the filter's size, and not much more than what caches hold. */
static void plan_known(matcher *m) {
    enum { LEAST = 1 << 8, MOST = 1 << 20 };
    size_t n = LEAST;
    while (n < MOST && 2 * n * sizeof *m->known <= plan_bytes(eb_spec(m->filter)) / 4) n *= 2;
    m->known = cli_alloc(n * sizeof *m->known);
    m->known_mask = n - 1;
    memset(m->known, 0, n * sizeof *m->known);
    m->known[0] = 1; /* another place's hash: 0 is not known */
}

static double plan_held(const corpus_run *run) {
    double held = 0;
    for (size_t i = 0; i < run->matchers; i++)
        if (run->match[i].own) held += (double)plan_bytes(eb_spec(run->match[i].filter));
    return held;
}

void filters_ready(corpus_run *run, bool loaded) {
    const double most = plan_most(run, loaded ? plan_held(run) : 0);
    for (size_t i = 0; i < run->matchers; i++) {
        matcher *const m = &run->match[i];
        if (!m->own) continue;
        m->idempotent = (eb_caps(m->filter) & EB_ADD_IS_IDEMPOTENT) != 0;
        if (plan_needs_known(m)) plan_known(m);
        const double bytes = (double)plan_bytes(eb_spec(m->filter));
        char text[32];
        if (loaded && m->idempotent && bytes > most)
            cli_fail("%s: the filter of the run that goes on takes %s: give -m %.0fK or more, or "
                     "--force to begin anew",
                     m->name, human_bytes(text, bytes), ceil(bytes / 1024));
        m->room = m->idempotent ? plan_room(eb_spec(m->filter), most) : INFINITY;
    }
}

/* ---- While it runs. */

static void plan_full(const corpus_run *run, chunk *c, const matcher *m, const char *where) {
    char keys[32];
    if (run->on_full == FULL_STOP)
        snprintf(c->error, sizeof c->error,
                 "%s: more than the %s keys that were planned for, from %s on, and --on-full "
                 "says stop",
                 m->name, human_number(keys, m->planned), where);
    else
        snprintf(c->error, sizeof c->error,
                 "%s: more than %s keys, from %s on; to take them the filter would need more "
                 "memory than %s: give a larger -m, or --on-full forget",
                 m->name, human_number(keys, m->room), where, run->set->memory ? "-m" : "there is");
}

/* At the first key too many, not when a chunk or a file ends. */
bool filters_take(corpus_run *run, chunk *c, matcher *m, size_t more) {
    m->taken += (double)more; /* at most: some may be there already */
    if (m->taken <= (m->told ? m->room : m->planned)) return true;
    char where[240], keys[32];
    eb_stats s;
    EB_INIT(s);
    if (eb_stat(m->filter, 0, &s, NULL) != EB_OK) return true;
    m->taken = (double)s.new_keys + (double)more;
    snprintf(where, sizeof where, "%.200s: line %llu", run->files.file[c->file].path,
             (unsigned long long)(c->line + c->now + 1));
    if (m->taken > m->planned && !m->told && run->on_full != FULL_STOP)
        cli_warn("%s: more than the %s keys that were planned for, from %s on; %s", m->name,
                 human_number(keys, m->planned), where,
                 run->on_full == FULL_GROW
                     ? "the filter grows, and keeps its promise"
                     : "the filter forgets the oldest, and repeats of them stay");
    m->told |= m->taken > m->planned;
    if (m->taken <= m->room) return true;
    plan_full(run, c, m, where);
    return false;
}
