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

/* ---- Batches. */

/* The names of the columns head the output as well, those of the first file. */
static void pass_names(stream *s, const char *line, const char *end) {
    if (s->print == PRINT_NONE || s->names_passed) return;
    s->names_passed = true;
    if (s->print == PRINT_MARKED) {
        output_put(&s->out, "seen", 4);
        output_put(&s->out, &s->in.delimiter, 1);
    }
    output_put(&s->out, line, (size_t)(end + 1 - line));
}

/* A line of weight 0 is read and left out.  Its key comes after its time: both may be put together
 * of several fields, in the same place. */
static size_t collect(stream *s) {
    size_t n = 0;
    while (n < STREAM_BATCH) {
        const char *line = s->in.buf + s->in.begin;
        const char *end = reader_next(&s->in);
        if (!end) break;
        if (s->set->skip_first && s->in.records == 1) {
            pass_names(s, line, end);
            continue;
        }
        s->lines++;
        s->line[n] = line;
        s->number[n] = s->in.records;
        if (s->times.wanted) s->time[n] = time_of_line(&s->times, &s->in, line, end);
        s->key[n] = s->needs_field ? reader_key_or_fail(&s->in, line, end, &s->set->field)
                                   : reader_key(&s->in, line, end, &s->set->field);
        if (s->values.from) s->value[n] = value_of_line(&s->values, &s->in, line, end, s->key[n]);
        n += !s->set->weight_field || s->value[n] > 0;
    }
    s->line[n] = s->in.buf + s->in.begin;
    return n;
}

/* Each key for itself: the first that was never there so often is named.  What was removed before
 * it is in no file yet. */
static void remove_singly(stream *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const eb_batch one = {
            .n = 1, .hash = s->hash + i, .value = s->values.from ? s->value + i : NULL};
        if (eb_remove_batch(s->filter, &one) == EB_OK) continue;
        const eb_key key = s->key[i];
        cli_fail("%s: line %llu: \"%.*s%s\" was never in %s so often; nothing is removed",
                 s->in.name, (unsigned long long)s->number[i], key.len > 60 ? 60 : (int)key.len,
                 (const char *)key.p, key.len > 60 ? "..." : "", s->state);
    }
}

static eb_status take_out(stream *s, const eb_batch *batch) {
    memset(s->hit, 1, batch->n);
    const eb_status status = eb_remove_batch(s->filter, batch);
    if (status != EB_EINVAL) return status;
    remove_singly(s, batch->n);
    return EB_OK;
}

static void look_up(stream *s, size_t n) {
    const eb_batch batch = {.n = n,
                            .hash = s->hash,
                            .value = s->values.from ? s->value : NULL,
                            .time = s->times.wanted ? s->time : NULL};
    eb_status status = EB_OK;
    if (s->hash_keys)
        s->hash_keys(s, n, s->hash);
    else
        eb_hash_keys(s->filter, s->key, n, s->hash);
    if (s->look_up)
        s->look_up(s, &batch);
    else if (s->removes)
        status = take_out(s, &batch);
    else if (s->adds)
        status = eb_add_batch(s->filter, &batch, s->hit);
    else if (batch.value)
        status = eb_test_values(s->filter, &batch, s->hit);
    else
        eb_test_batch(s->filter, s->hash, n, s->hit);
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

static void take_batch(stream *s, size_t n) {
    look_up(s, n);
    if (s->take) s->take(s->ctx, s, n);
    for (size_t i = 0; i < n; i++) s->seen += s->hit[i];
    if (s->print == PRINT_MARKED)
        print_marked(s, n);
    else if (s->print != PRINT_NONE)
        print_runs(s, n, s->print == PRINT_SEEN);
}

static void take_block(stream *s) {
    for (size_t n = STREAM_BATCH; n == STREAM_BATCH;) {
        n = collect(s);
        take_batch(s, n);
    }
}

/* ---- The loop. */

static void save(stream *s) {
    if (s->save)
        s->save(s);
    else
        filter_save(s->filter, s->state);
    s->lines_saved = s->lines;
    s->save_due = now_seconds() + s->set->every_seconds;
}

/* Saving before the output file is in place would lose the lines in it if we were killed; a removal
 * is done wholly or not at all. */
static bool saves_on_the_way(const stream *s) {
    return s->state && !s->removes && !s->file.target && s->lines > s->lines_saved;
}

static void between_blocks(stream *s) {
    enum { ENOUGH = 1000 }; /* lines to judge by, if the stream is endless */
    double now = now_seconds();
    if (s->lines >= ENOUGH) reader_warn_lacking(&s->in, s->lines);
    if (s->tick) s->tick(s);
    progress_show(&s->progress, now, s->lines, s->seen, s->in.bytes);
    if (!saves_on_the_way(s) || now < s->save_due) return;
    if (s->print != PRINT_NONE) output_sync(&s->out);
    save(s);
}

static int wait_ms(const stream *s) {
    if (s->tick) return (int)ceil(fmin(s->tick_seconds, 1e6) * 1000);
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
    if (s->state && !(s->removes && (trouble || signals_stop()))) save(s);
    reader_warn_lacking(&s->in, s->lines);
    if (trouble) cli_warn("%s: %s", s->in.name, strerror(trouble));
    return trouble ? STATUS_TROUBLE : signals_stop() ? 128 + signals_stop() : STATUS_YES;
}

/* The keys as lines, each with its end. */
static char *lines_of(const texts *keys, char separator) {
    size_t size = 1;
    for (size_t i = 0; i < keys->n; i++) size += strlen(keys->text[i]) + 1;
    char *const lines = cli_alloc(size), *p = lines;
    for (size_t i = 0; i < keys->n; i++) {
        p = stpcpy(p, keys->text[i]);
        *p++ = separator;
    }
    return lines;
}

void stream_run_keys(stream *s, const texts *keys) {
    char *const lines = lines_of(keys, s->in.separator), *p = lines;
    for (size_t done = 0, n = 0; done < keys->n; done += n) {
        for (n = 0; n < STREAM_BATCH && done + n < keys->n; n++) {
            const eb_key key = {p, strlen(keys->text[done + n])};
            s->line[n] = p;
            s->key[n] = key;
            p += key.len;
            if (s->values.from) s->value[n] = value_of_line(&s->values, &s->in, key.p, p, key);
            p++;
        }
        s->line[n] = p;
        s->lines += n;
        take_batch(s, n);
    }
    finish_output(s);
    free(lines);
}

/* ---- Life. */

void stream_open(stream *s, const cli_command *c, char *const *paths) {
    const settings *set = s->set;
    reader_options(&s->in, c, set);
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

void stream_again(stream *s, const cli_command *c, char *const *paths) {
    reader_close(&s->in);
    s->in = (reader){0};
    s->lines = s->seen = 0;
    reader_options(&s->in, c, s->set);
    reader_open(&s->in, paths);
}

void stream_close(stream *s) {
    reader_close(&s->in);
    output_close(&s->out);
    values_close(&s->values);
}
