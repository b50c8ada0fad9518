/* stream.c - lines through a filter: the loop of dedup, add and test.
 *
 * One pass: read a block, cut it into batches of lines, find the keys, hash them, ask the filter
 * for all of them at once, and copy the runs of lines that are wanted.  Whenever the state is
 * saved, the lines printed so far have left the program first, so that a crash may repeat lines
 * but never loses one. */
#include "stream.h"
#include "filterfile.h"
#include "late.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Batches. */

/* The names of the columns head the output as well, those of the first file. */
static void pass_header(stream *s, const char *line, const char *end) {
    if (s->print == PRINT_NONE || s->header_passed) return;
    s->header_passed = true;
    if (s->print == PRINT_MARKED) {
        output_put(&s->out, "seen", 4);
        output_put(&s->out, &s->mark[0][1], 1);
    }
    output_put(&s->out, line, (size_t)(end + 1 - line));
}

/* The line with the names of the columns is not for the filter. */
static void take_header(stream *s) {
    if (!s->in.header || s->in.records > 0) return;
    const char *const line = s->in.buf + s->in.begin, *const end = reader_next(&s->in);
    if (!end) return;
    (void)reader_learn_names(&s->in, line, end);
    pass_header(s, line, end);
}

static void see_batch(stream *s, keyed_lines *l, size_t at) {
    s->line = l->line + at;
    s->key = l->key + at;
    s->hash = l->hash + at;
    s->value = l->value + at;
    s->text = l->text ? l->text + at : NULL;
}

static void move_line(stream *s, size_t to, size_t from) {
    if (to == from) return;
    s->line[to] = s->line[from];
    s->key[to] = s->key[from];
    s->hash[to] = s->hash[from];
    s->value[to] = s->value[from];
    if (s->text) s->text[to] = s->text[from];
}

/* The time of the line before was wrong; that line was seen to as if it were right. */
static void note_refuted(stream *s) {
    snprintf(s->bad.why, sizeof s->bad.why, "the time is far ahead of those before and after");
    bad_note(&s->bad, s->name, s->record - 1);
    if (s->bad.policy == BAD_FAIL) bad_fail(&s->bad);
}

/* Line `from` of the batch becomes line `to`, with what depends on the lines before.  False: it is
 * a bad line. */
static bool settle_line(stream *s, const keyed_lines *l, size_t at, size_t to, size_t from) {
    move_line(s, to, from);
    if (l->bad[at + from]) {
        if (s->bad.lines == 0) snprintf(s->bad.why, sizeof s->bad.why, "%s", l->why);
        return false;
    }
    if (s->times.wanted && !s->times.of_lines) s->time[to] = times_now(&s->times);
    if (s->times.wanted && s->times.of_lines &&
        !time_of_text(&s->times, l->time[at + from], &s->time[to], &s->place[to], &s->refuted[to],
                      s->bad.why))
        return false;
    s->now[to] = s->times.last;
    if (s->late && s->refuted[to]) note_refuted(s);
    return !s->accept || s->accept(s, to);
}

/* A look ends with its last line, wherever the input was cut: so answers do not depend on that. */
static size_t batch_most(const stream *s) {
    const size_t left = s->look.most - s->look.n;
    return s->look.most > 0 && left < STREAM_BATCH ? left : STREAM_BATCH;
}

/* Of the lines from `at` on, those that go to the filter together: how many they are is the
 * result, and s->record moves behind them.  A line of weight 0 is left out, a bad one, too; but if
 * lines are printed, or it is an error, a bad one is the last. */
static size_t gather(stream *s, keyed_lines *l, size_t at) {
    const size_t left = l->n - at, room = batch_most(s), most = left < room ? left : room;
    const bool drops_zeros = !s->keeps_zeros && s->set->weight_field.n > 0;
    const uint64_t before = l->before + at;
    see_batch(s, l, at);
    s->bad_line = NULL;
    if (l->bads == 0 && !s->times.wanted && !s->accept && !drops_zeros) {
        for (size_t i = 0; s->removes && i < most; i++) s->number[i] = before + i + 1;
        s->record = before + most;
        return most;
    }
    size_t n = 0;
    for (size_t i = 0; i < most && !s->bad_line; i++) {
        s->number[n] = s->record = before + i + 1;
        if (settle_line(s, l, at, n, i)) {
            n += !drops_zeros || s->value[n] > 0;
            continue;
        }
        bad_note(&s->bad, s->name, s->record);
        if (s->print == PRINT_NONE && s->bad.policy != BAD_FAIL) continue;
        s->bad_line = l->line[at + i];
        s->bad_end = l->line[at + i + 1];
    }
    return n;
}

static double sum_of_weights(const stream *s, size_t n) {
    double sum = 0;
    if (!s->set->weight_field.n) return (double)n;
    for (size_t i = 0; i < n; i++) sum += (double)s->value[i];
    return sum;
}

/* The good lines before it have been seen to. */
static void settle_bad_line(stream *s) {
    if (s->bad.policy == BAD_FAIL) {
        if (s->print != PRINT_NONE) output_flush(&s->out);
        bad_fail(&s->bad);
    }
    if (s->bad.policy == BAD_SKIP) return;
    if (s->print == PRINT_MARKED) output_put(&s->out, s->mark[2], sizeof s->mark[2]);
    output_put(&s->out, s->bad_line, (size_t)(s->bad_end - s->bad_line));
}

/* Each key for itself: the first that was never there so often is named.  What was removed before
 * it is in no file yet. */
static void remove_singly(stream *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        eb_batch one = eb_batch_hashes(s->hash + i, 1);
        one.value = s->values.from ? s->value + i : NULL;
        if (eb_remove_batch(s->filter, &one, NULL) == EB_OK) continue;
        const eb_key key = s->key[i];
        cli_fail("%s: line %llu: \"%.*s%s\" was never in %s so often; nothing is removed", s->name,
                 (unsigned long long)s->number[i], key.len > 60 ? 60 : (int)key.len,
                 (const char *)key.p, key.len > 60 ? "..." : "", s->state);
    }
}

static eb_status take_out(stream *s, const eb_batch *batch, eb_error *err) {
    memset(s->hit, 1, batch->n);
    const eb_status status = eb_remove_batch(s->filter, batch, err);
    if (status != EB_EVALUE) return status;
    remove_singly(s, batch->n);
    return EB_OK;
}

static void look_up(stream *s, size_t n) {
    eb_batch batch = eb_batch_hashes(s->hash, n);
    batch.value = s->values.from ? s->value : NULL;
    batch.time = s->times.wanted ? s->time : NULL;
    const eb_keys keys = eb_keys_array(EB_STRING, s->key);
    if (s->adds && s->filter && (eb_caps(s->filter) & EB_KEEPS_KEYS)) batch.keys = &keys;
    eb_status status = EB_OK;
    eb_error err;
    if (s->look_up)
        s->look_up(s, &batch);
    else if (s->late)
        late_add(s, n);
    else if (s->removes)
        status = take_out(s, &batch, &err);
    else {
        batch.seen = s->hit;
        if (!s->adds) batch.time = NULL; /* asks about now */
        status =
            s->adds ? eb_add_batch(s->filter, &batch, &err) : eb_ask_batch(s->filter, &batch, &err);
        exact_add(s->exact, &batch);
    }
    if (status != EB_OK) cli_fail("the filter refuses keys: %s", err.text);
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

static void note_look(stream *s, size_t n) {
    look_note(&s->look, s->hash, n);
    if (s->look.n < s->look.most) return;
    s->looked(s);
    look_close(&s->look);
}

void stream_change_filter(stream *s, eb_filter *f) {
    if (!s->ahead) { /* else threads may be hashing with it; both hash alike */
        eb_free(s->filter);
        s->hasher = f;
    }
    s->filter = f;
    health_open(&s->health, f);
    if (s->state) state_change_filter();
}

static void take_batch(stream *s, size_t n) {
    look_up(s, n);
    if (s->look.most > 0) note_look(s, n);
    if (s->take) s->take(s->ctx, s, n);
    uint64_t seen = 0;
    for (size_t i = 0; i < n; i++) seen += s->hit[i];
    s->seen += seen;
    if (s->adds && s->filter) health_watch(&s->health, s->filter, s->lines - s->seen);
    if (s->print_lines)
        s->print_lines(s, n);
    else if (s->print == PRINT_MARKED)
        print_marked(s, n);
    else if (s->print != PRINT_NONE)
        print_runs(s, n, s->print == PRINT_SEEN);
}

static bool is_over_full(const stream *s) {
    return s->health.told && s->set->on_full && s->set->on_full[0] == 'f';
}

static void take_lines(stream *s, keyed_lines *l) {
    for (size_t at = 0; at < l->n && !is_over_full(s); at = (size_t)(s->record - l->before)) {
        const size_t n = gather(s, l, at);
        s->lines += s->record - l->before - at;
        s->total += sum_of_weights(s, n);
        if (n > 0) take_batch(s, n);
        if (s->bad_line) settle_bad_line(s);
    }
    if (l->unclosed) reader_tell_unclosed(s->name, s->record);
}

/* What was read and, with several threads, is ready up to a number of lines. */
static void take_records(stream *s, keyed_lines *l, reader *in) {
    for (s->name = in->name; l->n > 0 && !is_over_full(s);) {
        take_lines(s, l);
        arena_reset(&in->arena);
        lines_take(l, &s->wish, in);
        l->before += s->before;
    }
}

static void take_block(stream *s) {
    take_header(s);
    arena_reset(&s->in.arena);
    lines_take(&s->own, &s->wish, &s->in);
    take_records(s, &s->own, &s->in);
}

static bool take_ready_block(stream *s) {
    ahead_block *const b = ahead_take(s->ahead);
    if (!b) return false;
    if (b->file != s->at_file) s->before = s->in.header;
    s->at_file = b->file;
    b->lines.before = s->before;
    take_records(s, &b->lines, &b->in);
    s->before += b->in.records;
    ahead_done(s->ahead, b);
    return true;
}

/* ---- The loop. */

static void save(stream *s, bool at_end) {
    if (s->late) late_settle(s);
    if (s->save)
        s->save(s);
    else
        state_save(s->filter, at_end);
    s->lines_saved = s->lines;
    s->save_due = now_seconds() + s->set->every_seconds;
}

/* Saving before the output file is in place would lose the lines in it if we were killed; a removal
 * is done wholly or not at all. */
static bool saves_on_the_way(const stream *s) {
    return s->state && !s->removes && !s->file.target && s->lines > s->lines_saved;
}

/* Statistics and metrics, when they are due or asked for. */
static void watch(stream *s, double now) {
    const double every = s->set->stats_every > 0 ? s->set->stats_every : METRICS_SECONDS;
    const bool due = (s->set->stats_every > 0 || s->set->metrics) && now >= s->watch_due;
    if (!s->filter || s->look_up) return;
    if (due) s->watch_due = now + every;
    if (signals_asked() || (due && s->set->stats_every > 0)) {
        progress_clear();
        stream_stats(s);
    }
    if (due && s->set->metrics) stream_metrics(s);
}

static void between_blocks(stream *s) {
    double now = now_seconds();
    watch(s, now);
    bad_tell(&s->bad, s->lines, false);
    if (s->tick) s->tick(s);
    progress_show(&s->progress, now, s->lines, s->seen, s->in.bytes, reader_share(&s->in));
    if (!saves_on_the_way(s) || now < s->save_due) return;
    if (s->print != PRINT_NONE) output_sync(&s->out);
    save(s, false);
}

/* Until something is due though no line comes; -1: nothing is. */
static int wait_ms(const stream *s) {
    if (s->tick) return (int)ceil(fmin(s->tick_seconds, 1e6) * 1000);
    double due = bad_due(&s->bad);
    if (s->set->stats_every > 0 || s->set->metrics) due = fmin(due, s->watch_due);
    if (saves_on_the_way(s)) due = fmin(due, s->save_due);
    if (isinf(due)) return -1;
    const double left = ceil((due - now_seconds()) * 1000);
    return left < 0 ? 0 : left > 1e9 ? (int)1e9 : (int)left;
}

static fill next_block(stream *s) {
    fill got = reader_fill(&s->in, 0);
    if (got != FILL_WAIT) return got;
    if (s->print != PRINT_NONE) output_flush(&s->out); /* the next program need not wait, too */
    return reader_fill(&s->in, wait_ms(s));
}

static void give_block(stream *s, fill got) {
    if (got == FILL_END || got == FILL_ERROR) s->ended = got;
    if (got != FILL_MORE) return;
    take_header(s);
    ahead_give(s->ahead, &s->in);
}

/* Reads ahead as far as there is input at once, then sees to the oldest block. */
static fill step_ahead(stream *s) {
    while (s->ended == FILL_MORE && ahead_has_room(s->ahead)) {
        const fill got = reader_fill(&s->in, 0);
        if (got == FILL_WAIT) break;
        give_block(s, got);
    }
    if (take_ready_block(s)) return FILL_MORE;
    if (s->ended == FILL_MORE) give_block(s, next_block(s));
    return s->ended;
}

static fill step(stream *s) {
    if (s->ahead) return step_ahead(s);
    const fill got = next_block(s);
    if (got == FILL_MORE) take_block(s);
    return got;
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

static void hash_lines(const void *of, const eb_key *key, size_t n, eb_hash *out) {
    const stream *const s = of;
    if (s->hash_keys)
        s->hash_keys(s, key, n, out);
    else
        hash_keys(s->hasher, key, n, out);
}

static void open_lines(stream *s) {
    s->wish = (lines_wish){.values = &s->values,
                           .times = s->times.wanted && s->times.of_lines,
                           .texts = s->wants_text,
                           .hash_keys = hash_lines,
                           .ctx = s};
    lines_open(&s->own, STREAM_BATCH, &s->wish);
    s->hasher = s->filter;
    s->before = s->at_file = 0;
    s->ended = FILL_MORE;
}

static void close_lines(stream *s) {
    ahead_stop(s->ahead);
    s->ahead = NULL;
    if (s->hasher != s->filter) eb_free(s->hasher);
    s->hasher = NULL;
    lines_close(&s->own);
}

int stream_run(stream *s) {
    fill got = FILL_MORE;
    open_lines(s);
    if (s->set->threads > 1) s->ahead = ahead_start((unsigned)s->set->threads, &s->in, &s->wish);
    if (s->filter && s->state) s->total += total_of_filter(s->filter);
    if (s->adds && s->filter) health_open(&s->health, s->filter);
    signals_catch();
    while (got != FILL_END && got != FILL_ERROR && !signals_stop() && !s->stop &&
           !is_over_full(s)) {
        got = step(s);
        if (got != FILL_ERROR) between_blocks(s);
    }
    /* What was read is worked on, also after a signal. */
    while (s->ahead && signals_stop() && !is_over_full(s) && take_ready_block(s)) continue;
    bool trouble = got == FILL_ERROR;
    close_lines(s);
    progress_clear();
    if (s->late) late_settle(s);
    if (s->print_lines && !trouble) s->print_lines(s, 0);
    /* Without a state to match it, part of an output file is of no use. */
    if (s->file.target && !s->state && (trouble || signals_stop()))
        atomic_discard(&s->file);
    else
        finish_output(s);
    if (s->state && !(s->removes && (trouble || signals_stop()))) save(s, !signals_stop());
    signals_end_at_once();
    if (s->filter && s->set->metrics) stream_metrics(s);
    bad_tell(&s->bad, s->lines, true);
    if (trouble) cli_warn("%s: %s", s->in.name, s->in.problem);
    if (is_over_full(s)) {
        cli_warn("stopped after line %llu of %s, because the filter is full",
                 (unsigned long long)s->record, s->name);
        trouble = true;
    }
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
    open_lines(s);
    see_batch(s, &s->own, 0);
    for (size_t done = 0, n = 0; done < keys->n; done += n) {
        for (n = 0; n < STREAM_BATCH && done + n < keys->n; n++) {
            const eb_key key = {p, strlen(keys->text[done + n])};
            s->line[n] = p;
            s->key[n] = reader_query(&s->in, key);
            p += key.len;
            if (s->values.from &&
                !value_of_line(&s->values, &s->in, key.p, p, key, &s->value[n], s->bad.why))
                cli_fail("%s", s->bad.why);
            p++;
        }
        s->line[n] = p;
        s->lines += n;
        hash_lines(s, s->key, n, s->hash);
        take_batch(s, n);
    }
    close_lines(s);
    finish_output(s);
    free(lines);
}

/* ---- Life. */

/* Whoever cannot write them shall say so before the first line, not ten seconds later. */
static void check_metrics(const char *path) {
    atomic_file probe;
    atomic_open(&probe, path);
    atomic_discard(&probe);
}

void stream_open(stream *s, const cli_command *c, char *const *paths) {
    const settings *set = s->set;
    s->command = c;
    reader_options(&s->in, c, set);
    bad_open(&s->bad, set, s->removes ? BAD_FAIL : s->passes_bad ? BAD_PASS : BAD_SKIP);
    for (int i = 0; i < 3; i++) {
        s->mark[i][0] = "01-"[i];
        s->mark[i][1] = set->jsonl || set->regex ? '\t' : s->in.delimiter;
    }
    reader_open(&s->in, paths);
    if (set->metrics) check_metrics(set->metrics);
    s->out.fd = s->file.fd = -1;
    if (s->print != PRINT_NONE) {
        if (set->output) atomic_open(&s->file, set->output);
        output_open(&s->out, set->output ? s->file.fd : STDOUT_FILENO,
                    set->output ? s->file.path : "standard output");
    }
    progress_start(&s->progress, set->quiet);
    s->start = now_seconds();
    s->save_due = s->start + set->every_seconds;
    s->watch_due = s->start + (set->stats_every > 0 ? set->stats_every : METRICS_SECONDS);
}

void stream_again(stream *s, const cli_command *c, char *const *paths) {
    reader_close(&s->in);
    s->in = (reader){0};
    s->lines = s->seen = s->bad.lines = 0;
    s->bad.silent = true;
    reader_options(&s->in, c, s->set);
    reader_open(&s->in, paths);
}

void stream_close(stream *s) {
    if (s->state) state_end();
    look_close(&s->look);
    late_close(s->late);
    reader_close(&s->in);
    output_close(&s->out);
    values_close(&s->values);
}
