/* plan.c - the filters of a run, planned from a sample of the input.
 *
 * The sample says how many units there are for each byte on disk.  It cannot say how many of them
 * repeat, so the filter is planned for all of them being new: it is large enough, never too small.
 * If there are more after all, the filter grows, and that is said at once. */
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

static void plan_filter(corpus_run *run, matcher *m, double keys) {
    const settings *const set = run->set;
    char spec[EB_SPEC_MAX], text[32];
    eb_spec_info info;
    eb_error err;
    const double bands = run->rule[m->rule].kind == UNIT_NEAR ? run->rule[m->rule].bands : 1;
    m->planned = fmax(1000, ceil(keys * plan_margin));
    m->promise = (set->max_drop > 0 ? set->max_drop : plan_max_drop) / bands;
    EB_INIT(info);
    snprintf(spec, sizeof spec, "bloom:distinct=%.0f,fpr=%.3g,limit=%.0f,grow=2,seed=%s",
             m->planned, fmax(m->promise, 1e-9), m->planned, set->seed ? set->seed : "0");
    if (eb_spec_describe(spec, &info, &err) != EB_OK) cli_fail("%s", err.text);
    const double most = set->memory ? size_in_bytes(run->command, "-m", set->memory) : INFINITY;
    if ((double)info.bytes > most) {
        cli_warn("%s: all of about %.3g keys would need %s; with -m %s the filter forgets the "
                 "oldest keys, and repeats that are far apart stay",
                 m->name, m->planned, human_bytes(text, (double)info.bytes), set->memory);
        snprintf(spec, sizeof spec, "lru:memory=%.0f,fpr=%.3g,seed=%s", most,
                 fmax(m->promise, 3.7e-9), set->seed ? set->seed : "0");
        m->planned = INFINITY;
    }
    if (eb_new(&m->filter, spec, NULL, &err) != EB_OK) cli_fail("%s", err.text);
    m->own = true;
    m->idempotent = (eb_caps(m->filter) & EB_ADD_IS_IDEMPOTENT) != 0;
    if (set->quiet || isinf(m->planned)) return;
    cli_warn("%s: about %.3g keys in %zu files; a %s filter takes at most %.2g of the new ones for "
             "repeats",
             m->name, keys, run->end - run->first, human_bytes(text, (double)info.bytes),
             m->promise);
}

void filters_plan(corpus_run *run) {
    plan_sample s = {0};
    const size_t n = run->end - run->first, step = n > PLAN_FILES ? n / PLAN_FILES : 1;
    double bytes = 0;
    for (size_t i = run->first; i < run->end; i++) bytes += (double)run->files.file[i].bytes;
    for (size_t i = run->first; i < run->end; i += step) plan_look(run, i, &s);
    for (size_t m = 0; m < run->matchers; m++)
        plan_filter(run, &run->match[m],
                    s.packed > 0 ? s.keys[run->match[m].rule] * bytes / s.packed : 0);
}

void filters_check(corpus_run *run) {
    for (size_t i = 0; i < run->matchers; i++) {
        matcher *const m = &run->match[i];
        if (!m->own || m->told || isinf(m->planned)) continue;
        eb_stats s;
        EB_INIT(s);
        if (eb_stat(m->filter, 0, &s, NULL) != EB_OK || (double)s.new_keys <= m->planned) continue;
        m->told = true;
        cli_warn("%s: more than the %.4g keys that were planned for; the filter grows, and keeps "
                 "its promise",
                 m->name, m->planned);
    }
}
