/* summary.c - see summary.h. */
#include "summary.h"
#include "input/numbers.h"
#include <everbloom/experimental.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SUMMARY_KEYS = 1000000 }; /* repeated keys in a window; more are not told */

void summary_open(summary *m, const cli_command *c, const settings *set, bool refresh) {
    *m = (summary){.window = (uint64_t)ceil(set->window.seconds * 1000), .refresh = refresh};
    m->due = UINT64_MAX;
    if (!(set->window.seconds > 0))
        cli_misuse(c, "--summary needs a --window in time, such as 10m");
}

void summary_close(summary *m) {
    keytable_free(&m->keys);
    free(m->when);
}

/* ---- Saying it. */

static void say(stream *s, const summary *m, size_t i) {
    const table_key *const k = &m->keys.keys[i];
    const eb_key key = {m->keys.bytes + k->at, k->len};
    char until[NUMBER_TEXT], *text = NULL;
    size_t length = 0;
    FILE *const to = open_memstream(&text, &length);
    if (!to) cli_fail("out of memory");
    number_write(NUMBER_TIME, number_from_signed((int64_t)(m->when[i].last / 1000)), until);
    if (s->set->jsonl) {
        fputs("{\"key\":", to);
        json_bytes(to, key.p, key.len);
        fprintf(to, ",\"repeated\":%llu,\"until\":\"%s\"}", (unsigned long long)k->count, until);
    } else {
        fwrite(key.p, 1, key.len, to);
        fprintf(to, ": repeated %llu time%s until %s", (unsigned long long)k->count,
                k->count == 1 ? "" : "s", until);
    }
    putc(s->in.separator, to);
    fclose(to);
    output_put(&s->out, text, length);
    free(text);
}

static uint64_t end_of(const summary *m, size_t i) {
    return (m->refresh ? m->when[i].last : m->when[i].first) + m->window;
}

/* Those that have ended by now, in the order of their first repeats; the others stay. */
static void say_ended(stream *s, summary *m, uint64_t now) {
    summary rest = *m;
    rest.keys = (keytable){0};
    rest.when = NULL;
    rest.cap = 0;
    rest.due = UINT64_MAX;
    for (size_t i = 0; i < m->keys.n; i++) {
        const table_key k = m->keys.keys[i];
        if (k.count == 0) continue;
        if (end_of(m, i) <= now) {
            say(s, m, i);
            continue;
        }
        rest.when = cli_grow(rest.when, &rest.cap, (rest.keys.n + 1) * sizeof *rest.when);
        rest.when[rest.keys.n] = m->when[i];
        keytable_get(&rest.keys, k.hash, (eb_key){m->keys.bytes + k.at, k.len})->count = k.count;
        if (end_of(m, i) < rest.due) rest.due = end_of(m, i);
    }
    summary_close(m);
    *m = rest;
}

/* ---- Lines. */

static void note(summary *m, eb_hash hash, eb_key key, uint64_t now) {
    const size_t before = m->keys.n;
    if (before >= SUMMARY_KEYS) {
        if (!m->full)
            cli_warn("more than %d keys are repeated in a window: no more summaries", SUMMARY_KEYS);
        m->full = true;
        return;
    }
    table_key *const k = keytable_get(&m->keys, hash, key);
    const size_t i = (size_t)(k - m->keys.keys);
    if (m->keys.n > before) m->when = cli_grow(m->when, &m->cap, m->keys.n * sizeof *m->when);
    if (k->count++ == 0) m->when[i].first = now;
    m->when[i].last = now;
    if (end_of(m, i) < m->due) m->due = end_of(m, i);
}

/* The key is new again: its last window has ended before. */
static void end_window(stream *s, summary *m, eb_hash hash, eb_key key) {
    table_key *const k = keytable_find(&m->keys, hash, key);
    if (!k || k->count == 0) return;
    say(s, m, (size_t)(k - m->keys.keys));
    k->count = 0;
}

void summary_print(stream *s, size_t n) {
    summary *const m = s->ctx;
    for (size_t i = 0; i < n; i++) {
        if (s->time[i] >= m->due) say_ended(s, m, s->time[i]);
        if (s->hit[i]) {
            note(m, s->hash[i], s->key[i], s->time[i]);
            continue;
        }
        end_window(s, m, s->hash[i], s->key[i]);
        output_put(&s->out, s->line[i], (size_t)(s->line[i + 1] - s->line[i]));
    }
    if (n == 0) say_ended(s, m, UINT64_MAX);
}

void summary_tick(stream *s) {
    summary *const m = s->ctx;
    const uint64_t now = times_now(&s->times);
    if (now < m->due) return;
    say_ended(s, m, now);
    output_flush(&s->out);
}
