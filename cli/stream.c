/* stream.c - lines through a filter: the loop of dedup, add and test.
 *
 * One pass: read a block, cut it into batches of lines, find the keys, hash them, ask the filter
 * for all of them at once, and copy the runs of lines that are wanted.  Whenever the state is
 * saved, the lines printed so far have left the program first, so that a crash may repeat lines
 * but never loses one. */
#include "stream.h"
#include "filterfile.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Keys. */

static eb_key plain_field(const stream *s, const char *p, const char *end, uint64_t field) {
    for (uint64_t i = 1; i < field; i++) {
        const char *at = memchr(p, s->in.delimiter, (size_t)(end - p));
        if (!at) return (eb_key){end, 0};
        p = at + 1;
    }
    const char *stop = memchr(p, s->in.delimiter, (size_t)(end - p));
    return (eb_key){p, (size_t)((stop ? stop : end) - p)};
}

/* The end of the CSV field at p: its delimiter, or the end of the line. */
static const char *csv_field_end(const stream *s, const char *p, const char *end) {
    if (p < end && *p == '"')
        for (p++; (p = memchr(p, '"', (size_t)(end - p))) != NULL; p += 2)
            if (p + 1 == end || p[1] != '"') break;
    if (!p) return end;
    p = memchr(p, s->in.delimiter, (size_t)(end - p));
    return p ? p : end;
}

/* The field without its quotes, written to the place in unquoted that matches its own, where
 * there is room, since it only gets shorter. */
static eb_key unquote(stream *s, const char *p, const char *end) {
    if (s->unquoted_cap != s->in.cap) {
        free(s->unquoted);
        s->unquoted = cli_alloc(s->in.cap);
        s->unquoted_cap = s->in.cap;
    }
    char *const to = s->unquoted + (p - s->in.buf);
    size_t n = 0;
    bool quoted = true;
    for (p++; p < end; p++) {
        if (!quoted || *p != '"')
            to[n++] = *p;
        else if (p + 1 < end && p[1] == '"')
            to[n++] = *p++;
        else
            quoted = false;
    }
    return (eb_key){to, n};
}

static eb_key csv_field(stream *s, const char *p, const char *end, uint64_t field) {
    if (end > p && end[-1] == '\r') end--;
    const char *stop = csv_field_end(s, p, end);
    for (uint64_t i = 1; i < field; i++) {
        if (stop == end) return (eb_key){end, 0};
        p = stop + 1;
        stop = csv_field_end(s, p, end);
    }
    if (p == stop || *p != '"') return (eb_key){p, (size_t)(stop - p)};
    return unquote(s, p, stop);
}

static eb_key field_of(stream *s, const char *line, const char *end, uint64_t field) {
    if (field == 0) return (eb_key){line, (size_t)(end - line)};
    return s->in.csv ? csv_field(s, line, end, field) : plain_field(s, line, end, field);
}

/* ---- Importance. */

static bool read_importance(const stream *s, eb_key text, uint32_t *value) {
    const char *p = text.p;
    uint64_t n = 0;
    if (text.len == 0 || text.len > 10) return false;
    for (size_t i = 0; i < text.len; i++) {
        if (p[i] < '0' || p[i] > '9') return false;
        n = n * 10 + (uint64_t)(p[i] - '0');
    }
    *value = (uint32_t)n;
    return n >= s->importance_low && n <= s->importance_high;
}

static uint32_t importance_of(stream *s, const char *line, const char *end, size_t in_batch) {
    const eb_key text = field_of(s, line, end, s->set->importance_field);
    uint32_t value;
    if (read_importance(s, text, &value)) return value;
    if (s->set->on_bad_importance && strcmp(s->set->on_bad_importance, "lowest") == 0)
        return s->importance_low;
    cli_fail("line %llu: the importance must be a whole number %u..%u, not \"%.*s\"",
             (unsigned long long)(s->lines + in_batch + 1), s->importance_low, s->importance_high,
             text.len > 40 ? 40 : (int)text.len, (const char *)text.p);
}

void stream_use_importance(stream *s, const cli_command *c) {
    const char *bad = s->set->on_bad_importance;
    const bool aware = filter_is(s->filter, "importance");
    if (bad && strcmp(bad, "fail") != 0 && strcmp(bad, "lowest") != 0)
        cli_misuse(c, "--on-bad-importance must be fail or lowest, not %s", bad);
    if (!s->set->importance_field && (bad || s->set->importance_range || aware))
        cli_misuse(c, "an importance filter needs --importance-field");
    if (s->set->importance_field && !aware)
        cli_misuse(c, "--importance-field needs a filter of kind importance");
    if (!aware) return;
    s->value = cli_alloc(STREAM_BATCH * sizeof *s->value);
    s->importance_low = (uint32_t)filter_option(s->filter, "low");
    s->importance_high = (uint32_t)filter_option(s->filter, "high");
}

/* ---- Batches. */

static size_t collect(stream *s) {
    size_t n = 0;
    for (; n < STREAM_BATCH; n++) {
        const char *line = s->in.buf + s->in.begin;
        const char *end = reader_next(&s->in);
        if (!end) break;
        s->line[n] = line;
        s->key[n] = field_of(s, line, end, s->set->field);
        if (s->value) s->value[n] = importance_of(s, line, end, n);
    }
    s->line[n] = s->in.buf + s->in.begin;
    return n;
}

static void look_up(stream *s, size_t n) {
    eb_hash_keys(s->filter, s->key, n, s->hash);
    if (!s->adds) {
        eb_test_batch(s->filter, s->hash, n, s->hit);
        return;
    }
    const eb_batch batch = {.n = n, .hash = s->hash, .value = s->value};
    eb_status status = eb_add_batch(s->filter, &batch, s->hit);
    if (status != EB_OK) cli_fail("the filter refuses keys: %s", eb_status_name(status));
}

/* Copies neighbouring lines in one go. */
static void print_runs(stream *s, size_t n, uint8_t wanted) {
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && s->hit[j] == wanted; j++) continue;
        if (j > i) output_put(&s->out, s->line[i], (size_t)(s->line[j] - s->line[i]));
        for (; j < n && s->hit[j] != wanted; j++) continue;
    }
}

static void print_marked(stream *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        output_put(&s->out, s->mark[s->hit[i]], sizeof s->mark[0]);
        output_put(&s->out, s->line[i], (size_t)(s->line[i + 1] - s->line[i]));
    }
}

static void take_block(stream *s) {
    for (size_t n = STREAM_BATCH; n == STREAM_BATCH;) {
        n = collect(s);
        look_up(s, n);
        s->lines += n;
        for (size_t i = 0; i < n; i++) s->seen += s->hit[i];
        if (s->print == PRINT_MARKED)
            print_marked(s, n);
        else if (s->print != PRINT_NONE)
            print_runs(s, n, s->print == PRINT_SEEN);
    }
}

/* ---- The loop. */

static void save(stream *s) {
    filter_save(s->filter, s->state);
    s->lines_saved = s->lines;
    s->save_due = now_seconds() + s->set->every_seconds;
}

/* Saving before the output file is in place would lose the lines in it if we were killed. */
static bool saves_on_the_way(const stream *s) {
    return s->state && !s->file.target && s->lines > s->lines_saved;
}

static void between_blocks(stream *s) {
    double now = now_seconds();
    progress_show(&s->progress, now, s->lines, s->seen, s->in.bytes);
    if (!saves_on_the_way(s) || now < s->save_due) return;
    if (s->print != PRINT_NONE) output_sync(&s->out);
    save(s);
}

static int wait_ms(const stream *s) {
    if (!saves_on_the_way(s)) return -1;
    double left = ceil((s->save_due - now_seconds()) * 1000);
    return left < 0 ? 0 : left > 1e9 ? (int)1e9 : (int)left;
}

static fill next_block(stream *s) {
    fill got = reader_fill(&s->in, 0);
    if (got != FILL_WAIT) return got;
    if (s->print != PRINT_NONE) output_flush(&s->out); /* the next program need not wait, too */
    return reader_fill(&s->in, wait_ms(s));
}

static void finish_output(stream *s) {
    if (s->print == PRINT_NONE) return;
    if (s->state)
        output_sync(&s->out);
    else
        output_flush(&s->out);
    output_close(&s->out);
    if (s->set->output) atomic_commit(&s->file);
}

int stream_run(stream *s) {
    fill got = FILL_MORE;
    int trouble = 0;
    while (got != FILL_END && !signals_stop()) {
        got = next_block(s);
        if (got == FILL_ERROR) {
            trouble = errno;
            break;
        }
        if (got == FILL_MORE) take_block(s);
        between_blocks(s);
    }
    progress_clear();
    /* Without a state to match it, part of an output file is of no use. */
    if (s->file.target && !s->state && (trouble || signals_stop()))
        atomic_discard(&s->file);
    else
        finish_output(s);
    if (s->state) save(s);
    if (trouble) cli_warn("%s: %s", s->in.name, strerror(trouble));
    return trouble ? STATUS_TROUBLE : signals_stop() ? 128 + signals_stop() : STATUS_YES;
}

/* ---- Life. */

static void check_options(const cli_command *c, const settings *set) {
    bool fields = set->field || set->importance_field || set->csv || set->mark;
    if (set->delimiter != NO_DELIMITER && !fields)
        cli_misuse(c, "-d has no effect without -f, --csv or --mark");
    if (set->delimiter == (set->nul ? '\0' : '\n'))
        cli_misuse(c, "-d must not be what ends a line");
    if (set->csv && set->delimiter == '"') cli_misuse(c, "-d must not be the quote of --csv");
}

void stream_open(stream *s, const cli_command *c, char *const *paths) {
    const settings *set = s->set;
    check_options(c, set);
    s->in.separator = set->nul ? '\0' : '\n';
    s->in.csv = set->csv;
    s->in.delimiter = set->delimiter != NO_DELIMITER ? (char)set->delimiter : set->csv ? ',' : '\t';
    for (int i = 0; i < 2; i++) {
        s->mark[i][0] = (char)('0' + i);
        s->mark[i][1] = s->in.delimiter;
    }
    reader_open(&s->in, paths);
    s->out.fd = s->file.fd = -1;
    if (s->print != PRINT_NONE) {
        if (set->output) atomic_open(&s->file, set->output);
        output_open(&s->out, set->output ? s->file.fd : STDOUT_FILENO,
                    set->output ? s->file.path : "standard output");
    }
    signals_catch();
    progress_start(&s->progress, set->quiet);
    s->start = now_seconds();
    s->save_due = s->start + set->every_seconds;
}

void stream_close(stream *s) {
    reader_close(&s->in);
    output_close(&s->out);
    free(s->unquoted);
    free(s->value);
}
