/* plan.c - the filters of a run, planned from a sample of the input.
 *
 * The sample says how many units there are for each byte on disk.  It cannot say how many of them
 * repeat, so the filter is planned for all of them being new: it is large enough, never too small.
 * If there are more after all, that is said at once, and --on-full says what happens. */
#include "corpus.h"
#include "parts/filterfile.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLAN_FILES = 16, PLAN_BYTES = 1 << 20 };
static const double plan_margin = 1.1, plan_max_drop = 1e-6;

typedef struct plan_sample {
    double packed, plain, documents;
    double keys[CORPUS_RULES];
} plan_sample;

static void plan_look(const corpus_run *run, size_t file, plan_sample *s) {
    char why[200];
    chunk c = {.file = file};
    source *const in = source_open(run->files.file[file].path, why, sizeof why);
    if (!in) cli_fail("%s: %s", run->files.file[file].path, why);
    for (long n = 1; n > 0 && c.n < PLAN_BYTES;) {
        c.bytes = cli_grow(c.bytes, &c.cap, c.n + (64 << 10));
        n = source_read(in, c.bytes + c.n, 64 << 10, why, sizeof why);
        if (n < 0) cli_fail("%s: %s", run->files.file[file].path, why);
        c.n += (size_t)n;
    }
    s->packed += (double)source_packed_bytes(in);
    s->plain += (double)c.n;
    source_close(in);
    corpus_run alone = *run; /* no filters yet */
    alone.matchers = 0;
    chunk_parse(&alone, &c);
    for (size_t i = 0; i < c.docs; i++) s->documents += c.doc[i].state == RECORD_TEXT;
    for (size_t i = 0; i < run->rules; i++) s->keys[i] += (double)c.list[i].n;
    chunk_free(&c);
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
static double plan_room(const eb_filter *f, double most) {
    char spec[EB_SPEC_MAX], number[16];
    double limit = NAN, keys = 0;
    eb_spec_info info;
    EB_INIT(info);
    (void)eb_spec_get(eb_spec(f), "limit", NULL, 0, &limit, NULL);
    for (int grown = 0; grown < 63; grown++) {
        snprintf(number, sizeof number, "%d", grown);
        if (eb_spec_set(eb_spec(f), "grown", grown ? number : NULL, spec, sizeof spec, NULL) !=
                EB_OK ||
            eb_spec_describe(spec, &info, NULL) != EB_OK || (double)info.bytes > most)
            break;
        keys += limit * ldexp(1, grown);
    }
    return keys;
}

/* ---- The filter of a unit. */

/* What it holds, and what it misses of repeats that are so far apart. */
static void plan_tell_forgetting(const matcher *m, const char *spec, double keys) {
    char text[32], all[32], far[32];
    double cells = NAN;
    eb_workload load = {.size = sizeof load};
    eb_prediction p = {.size = sizeof p};
    (void)eb_spec_get(eb_spec(m->filter), "cells", NULL, 0, &cells, NULL);
    load.items = load.distinct = 4 * cells;
    load.gap = cells;
    const double missed = eb_predict(spec, &load, NULL, 1, &p, NULL) == EB_OK ? p.mean_fnr : NAN;
    cli_warn("%s: about %s keys; a %s filter forgets the oldest when it is full: it finds "
             "repeats that are near, and of those %s keys apart about %.0f %% stay",
             m->name, human_number(all, keys), human_bytes(text, (double)plan_bytes(spec)),
             human_number(far, cells), 100 * missed);
}

static void plan_tell(const corpus_run *run, const matcher *m, const char *spec, double keys) {
    char text[32], all[32], promise[32];
    if (run->set->quiet) return;
    if (run->on_full == FULL_FORGET) {
        plan_tell_forgetting(m, spec, keys);
        return;
    }
    cli_warn("%s: about %s keys in %zu files; a %s filter takes at most %s of the new ones for "
             "repeats",
             m->name, human_number(all, keys), run->end - run->first,
             human_bytes(text, (double)plan_bytes(spec)), human_number(promise, m->promise));
}

static void plan_refuse(const matcher *m, double bytes, double most, const char *why) {
    char need[32], there[32], all[32];
    cli_fail("%s: about %s keys need %s, more than %s (%s); give a larger --max-drop, or "
             "--on-full forget, which keeps the latest keys only",
             m->name, human_number(all, m->planned), human_bytes(need, bytes), why,
             human_bytes(there, most));
}

/* most: bytes that it may take. */
static void plan_filter(corpus_run *run, matcher *m, double keys, double most) {
    const settings *const set = run->set;
    const char *const seed = set->seed ? set->seed : "0";
    char spec[EB_SPEC_MAX];
    eb_error err;
    const double bands = run->rule[m->rule].kind == UNIT_NEAR ? run->rule[m->rule].bands : 1;
    m->planned = fmax(1000, ceil(keys * plan_margin));
    m->promise = (set->max_drop > 0 ? set->max_drop : plan_max_drop) / bands;
    snprintf(spec, sizeof spec, "bloom:distinct=%.0f,fpr=%.3g,limit=%.0f%s,seed=%s", m->planned,
             fmax(m->promise, 1e-9), m->planned, run->on_full == FULL_STOP ? "" : ",grow=2", seed);
    const double need = (double)plan_bytes(spec);
    if (need > most && run->on_full != FULL_FORGET) {
        if (set->on_full || !set->memory)
            plan_refuse(m, need, most, set->memory ? "-m" : "nine tenths of the free memory");
        run->on_full = FULL_FORGET;
    }
    if (run->on_full == FULL_FORGET)
        snprintf(spec, sizeof spec, "lru:memory=%.0f,fpr=%.3g,seed=%s",
                 set->memory ? most : fmin(need, most), fmax(m->promise, 3.7e-9), seed);
    if (eb_new(&m->filter, spec, NULL, &err) != EB_OK) cli_fail("%s", err.text);
    plan_tell(run, m, spec, keys);
}

/* The bytes that each filter may take: -m, or its part of the memory that there is. */
static double plan_most(const corpus_run *run) {
    char there[32], each[32];
    double filters = 0;
    for (size_t i = 0; i < run->matchers; i++) filters += run->match[i].own;
    if (filters == 0) return 0;
    const double free_bytes = 0.9 * plan_available();
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

void filters_plan(corpus_run *run) {
    plan_sample s = {0};
    const size_t n = run->end - run->first, step = n > PLAN_FILES ? n / PLAN_FILES : 1;
    double bytes = 0;
    for (size_t i = run->first; i < run->end; i++) bytes += (double)run->files.file[i].bytes;
    for (size_t i = run->first; i < run->end; i += step) plan_look(run, i, &s);
    const double most = plan_most(run);
    for (size_t i = 0; i < run->matchers; i++) {
        matcher *const m = &run->match[i];
        if (m->own)
            plan_filter(run, m, s.packed > 0 ? s.keys[m->rule] * bytes / s.packed : 0, most);
    }
}

void filters_ready(corpus_run *run) {
    const double most = plan_most(run);
    for (size_t i = 0; i < run->matchers; i++) {
        matcher *const m = &run->match[i];
        if (!m->own) continue;
        m->idempotent = (eb_caps(m->filter) & EB_ADD_IS_IDEMPOTENT) != 0;
        m->room = m->idempotent ? plan_room(m->filter, most) : INFINITY;
    }
}

/* ---- While it runs. */

static void plan_full(const corpus_run *run, chunk *c, const matcher *m, const char *where) {
    if (run->on_full == FULL_STOP)
        snprintf(c->error, sizeof c->error,
                 "%s: more than the %.4g keys that were planned for, from %s on, and --on-full "
                 "says stop",
                 m->name, m->planned, where);
    else
        snprintf(c->error, sizeof c->error,
                 "%s: more than %.4g keys, from %s on; to take them the filter would need more "
                 "memory than %s: give a larger -m, or --on-full forget",
                 m->name, m->room, where, run->set->memory ? "-m" : "there is");
}

/* At the first key too many, not when a chunk or a file ends. */
bool filters_take(corpus_run *run, chunk *c, matcher *m, size_t more) {
    m->taken += (double)more; /* at most: some may be there already */
    if (m->taken <= (m->told ? m->room : m->planned)) return true;
    char where[240];
    eb_stats s;
    EB_INIT(s);
    if (eb_stat(m->filter, 0, &s, NULL) != EB_OK) return true;
    m->taken = (double)s.new_keys + (double)more;
    snprintf(where, sizeof where, "%.200s: line %llu", run->files.file[c->file].path,
             (unsigned long long)(c->line + c->now + 1));
    if (m->taken > m->planned && !m->told && run->on_full != FULL_STOP)
        cli_warn("%s: more than the %.4g keys that were planned for, from %s on; %s", m->name,
                 m->planned, where,
                 run->on_full == FULL_GROW
                     ? "the filter grows, and keeps its promise"
                     : "the filter forgets the oldest, and repeats of them stay");
    m->told |= m->taken > m->planned;
    if (m->taken <= m->room) return true;
    plan_full(run, c, m, where);
    return false;
}
