/* decide.c - what was seen before, and what becomes of each document: in input order.
 *
 * A document is compared first, then decided, then learned.  So it never matches itself.  Only what
 * stays in the output is learned: a unit of a document that was dropped has no copy left that a
 * later one could be a repeat of. */
#include "corpus.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { DECIDE_BATCH = 256 };

static void decide_ok(const matcher *m, eb_status status, const eb_error *err) {
    if (status != EB_OK) cli_fail("%s: %s", m->name, err->text);
}

static void decide_ask_filter(const matcher *m, const eb_hash *hash, size_t n, uint8_t *seen) {
    eb_batch b = eb_batch_hashes(hash, n);
    eb_error err;
    b.seen = seen;
    decide_ok(m, eb_ask_batch(m->filter, &b, &err), &err);
}

/* What the filter surely has is found in a small table, so that only others cost all of their
 * positions in the filter. */
static void decide_ask(const matcher *m, const eb_hash *hash, size_t n, uint8_t *seen) {
    eb_hash batch[DECIDE_BATCH];
    size_t from[DECIDE_BATCH], used = 0;
    uint8_t answer[DECIDE_BATCH];
    if (!m->known) {
        decide_ask_filter(m, hash, n, seen);
        return;
    }
    for (size_t i = 0; i <= n; i++) {
        if (used == DECIDE_BATCH || (i == n && used > 0)) {
            decide_ask_filter(m, batch, used, answer);
            for (size_t j = 0; j < used; j++) {
                seen[from[j]] = answer[j];
                if (answer[j]) matcher_knows(m, batch[j]);
            }
            used = 0;
        }
        if (i == n) break;
        seen[i] = 1;
        batch[used] = hash[i];
        from[used] = i;
        used += m->known[hash[i] & m->known_mask] != hash[i];
    }
}

/* Tells the filter: all units, or those that it knows, so that it does not forget them.  What it
 * knows and cannot forget is left out. */
static bool decide_learn(corpus_run *run, chunk *c, matcher *m, const eb_hash *hash,
                         const uint8_t *seen, size_t n, bool all) {
    eb_hash batch[DECIDE_BATCH];
    size_t used = 0;
    for (size_t i = 0; i <= n; i++) {
        if (used == DECIDE_BATCH || (i == n && used > 0)) {
            eb_batch b = eb_batch_hashes(batch, used);
            eb_error err;
            if (!filters_take(run, c, m, used)) return false;
            decide_ok(m, eb_add_batch(m->filter, &b, &err), &err);
            for (size_t j = 0; j < used && m->known; j++) matcher_knows(m, batch[j]);
            used = 0;
        }
        if (i < n && (seen[i] ? !m->idempotent : all)) batch[used++] = hash[i];
    }
    return true;
}

/* What is seen before is counted, for the list of what is repeated most. */
static void decide_count(corpus_run *run, const chunk *c, const document *d, size_t m) {
    const size_t rule = run->match[m].rule, first = d->first[rule], n = d->units[rule];
    const char *const bytes = c->form[run->form[rule]].z.bytes;
    eb_key key[DECIDE_BATCH];
    size_t used = 0;
    for (size_t i = first; i <= first + n; i++) {
        if (used == DECIDE_BATCH || (i == first + n && used > 0)) {
            const eb_keys keys = eb_keys_array(EB_STRING, key);
            const eb_batch b = eb_batch_keys(&keys, used);
            eb_error err;
            decide_ok(&run->match[m], eb_add_batch(run->top, &b, &err), &err);
            used = 0;
        }
        if (i == first + n || !c->seen[m][i]) continue;
        const span s = c->list[rule].key[i];
        key[used++] = (eb_key){bytes + s.begin, s.end - s.begin};
    }
}

/* ---- Documents. */

static double decide_share(corpus_run *run, chunk *c, const document *d, size_t m,
                           corpus_counts *counts) {
    const matcher *const x = &run->match[m];
    const size_t first = d->first[x->rule], n = d->units[x->rule];
    uint8_t *const seen = c->seen[m] + first;
    if (n == 0) return 0;
    if (x->own) decide_ask(x, c->list[x->rule].hash + first, n, seen);
    size_t known = 0;
    for (size_t i = 0; i < n; i++) known += seen[i];
    if (run->top && m == run->top_match && known > 0) decide_count(run, c, d, m);
    if (run->rule[x->rule].kind == UNIT_NEAR) { /* one band is enough */
        counts->units[m]++;
        counts->seen[m] += known > 0;
        return known > 0;
    }
    counts->units[m] += n;
    counts->seen[m] += known;
    return (double)known / (double)n;
}

/* Of the units of a rule, the share that any filter has seen: all of them are taken out. */
static double decide_gone(const corpus_run *run, const chunk *c, const document *d, size_t rule) {
    size_t gone = 0;
    for (size_t i = d->first[rule]; i < d->first[rule] + d->units[rule]; i++) {
        uint8_t seen = 0;
        for (size_t m = 0; m < run->matchers; m++)
            if (run->match[m].rule == rule) seen |= c->seen[m][i];
        gone += seen;
    }
    return d->units[rule] ? (double)gone / (double)d->units[rule] : 0;
}

static bool decide_document(corpus_run *run, chunk *c, document *d, corpus_counts *counts) {
    bool nothing = true;
    uint64_t units[CORPUS_MATCHERS], known[CORPUS_MATCHERS];
    for (size_t m = 0; m < run->matchers; m++)
        units[m] = counts->units[m], known[m] = counts->seen[m];
    for (size_t m = 0; m < run->matchers; m++) {
        const double share = decide_share(run, c, d, m, counts);
        nothing &= d->units[run->match[m].rule] == 0;
        /* One unit in common with a filter of --against is enough, unless the user says more. */
        const double enough = run->match[m].own || run->partly || corpus_of(run->set)->threshold > 0
                                  ? run->threshold
                                  : DBL_MIN;
        d->drop |= share >= enough;
    }
    for (size_t i = 0; i < run->rules && run->partly && !d->drop; i++)
        d->drop = run->rule[i].kind != UNIT_NEAR && decide_gone(run, c, d, i) >= run->threshold;
    d->drop &= run->action != ACTION_ANNOTATE && !corpus_of(run->set)->collect;
    counts->empty += nothing;
    for (size_t m = 0; m < run->matchers; m++) {
        matcher *const x = &run->match[m];
        if (!x->own) continue;
        const size_t first = d->first[x->rule], n = d->units[x->rule];
        if (!decide_learn(run, c, x, c->list[x->rule].hash + first, c->seen[m] + first, n,
                          !d->drop))
            return false;
    }
    for (size_t m = 0; m < run->matchers; m++) {
        units[m] = counts->units[m] - units[m];
        known[m] = counts->seen[m] - known[m];
    }
    if (corpus_of(run->set)->report) course_note(run, units, known);
    return true;
}

static bool decide_bad(corpus_run *run, chunk *c, const document *d, uint64_t line,
                       corpus_counts *counts) {
    char text[400];
    snprintf(text, sizeof text, "%.200s: line %llu: %.100s", run->files.file[c->file].path,
             (unsigned long long)line, d->why);
    if (!run->found.first_bad[0]) memcpy(run->found.first_bad, text, sizeof text);
    counts->bad++;
    if (run->on_bad != BAD_FAIL) return true;
    memcpy(c->error, text, sizeof text);
    return false;
}

void chunk_decide(corpus_run *run, chunk *c) {
    corpus_counts *const counts = &run->found.counts[run->files.file[c->file].folder];
    for (size_t i = 0; i < c->docs; i++) {
        document *const d = &c->doc[i];
        c->now = i;
        if (d->state == RECORD_BLANK) continue;
        if (d->state == RECORD_BAD) {
            if (!decide_bad(run, c, d, c->line + i + 1, counts)) return;
            continue;
        }
        counts->documents++;
        counts->words += d->words;
        counts->text_bytes += d->length;
        if (!decide_document(run, c, d, counts)) return;
        counts->kept += !d->drop;
    }
}
