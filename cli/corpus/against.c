/* against.c - filters that keep the units of other texts: --collect makes one, --against asks it.
 *
 * Behind the snapshot the file says how the units were made, so that --against makes them alike. */
#include "corpus.h"
#include "parts/filterfile.h"
#include <stdlib.h>
#include <string.h>

static const char against_format[] = "corpus unit=%23s normalise=%31s similarity=%lg";

void collect_save(const corpus_run *run) {
    char note[STATE_NOTE], normal[32];
    const unit_rule *const rule = &run->rule[0];
    snprintf(note, sizeof note, "corpus unit=%s normalise=%s similarity=%.9g", rule->name,
             normal_print(rule->normal, normal), run->similarity);
    state_begin(corpus_of(run->set)->collect, run->match[0].filter, NULL, note);
    state_save(run->match[0].filter, true);
    state_end();
}

/* The last part of the path, without .eb. */
static void against_name(const char *path, char *name, size_t cap) {
    const char *const slash = strrchr(path, '/'), *const base = slash ? slash + 1 : path;
    size_t n = strlen(base);
    if (n > 3 && strcmp(base + n - 3, ".eb") == 0) n -= 3;
    snprintf(name, cap, "%.*s", (int)(n < cap ? n : cap - 1), base);
}

size_t corpus_form(corpus_run *run, unsigned normal) {
    for (size_t i = 0; i < run->rules; i++)
        if (run->rule[i].normal == normal) return run->form[i];
    run->normal[run->forms] = normaliser_new(normal);
    return run->forms++;
}

static uint64_t against_seed(const eb_filter *f) {
    double seed = 0;
    (void)eb_spec_get(eb_spec(f), "seed", NULL, 0, &seed, NULL);
    return (uint64_t)seed;
}

/* The rule that makes the units of this filter: one that is there, or a new one. */
static size_t against_rule(corpus_run *run, const unit_rule *rule, const eb_filter *f) {
    for (size_t i = 0; i < run->rules; i++)
        if (unit_same(&run->rule[i], rule) && against_seed(run->hasher[i]) == against_seed(f))
            return i;
    if (run->rules == CORPUS_RULES) cli_misuse(run->command, "at most 8 different units and seeds");
    run->form[run->rules] = corpus_form(run, rule->normal);
    run->hasher[run->rules] = f;
    run->rule[run->rules] = *rule;
    return run->rules++;
}

static void against_open_one(corpus_run *run, const char *path) {
    char unit[24], normal[32];
    unsigned what;
    double similarity;
    unit_rule rule;
    if (run->matchers == CORPUS_MATCHERS)
        cli_misuse(run->command, "at most %d filters", (int)CORPUS_MATCHERS);
    matcher *const m = &run->match[run->matchers];
    snapshot *const s = cli_alloc(sizeof *s); /* the filter is a view of it */
    snapshot_open_or_fail(s, path);
    if (sscanf(s->behind.note, against_format, unit, normal, &similarity) != 3 ||
        !normal_read(normal, &what) || !unit_read(unit, similarity, what, &rule))
        cli_fail("%s: not made by 'everbloom corpus --collect'", path);
    m->filter = s->view;
    m->snapshot = s;
    m->rule = against_rule(run, &rule, s->view);
    against_name(path, m->name, sizeof m->name);
    for (size_t i = 0; i < run->matchers; i++)
        if (strcmp(run->match[i].name, m->name) == 0)
            cli_fail("%s: another filter has the name %s, too", path, m->name);
    run->matchers++;
}

void against_open(corpus_run *run) {
    for (size_t i = 0; i < corpus_of(run->set)->against.n; i++)
        against_open_one(run, corpus_of(run->set)->against.text[i]);
}

void against_close(matcher *m) {
    snapshot_close(m->snapshot);
    free(m->snapshot);
}
