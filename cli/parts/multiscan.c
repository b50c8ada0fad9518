/* multiscan.c - top --multiscan: frequent keys, exactly, by several readings. */
#include "filterfile.h"
#include "frequent.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAMPLE = 1 << 16 };

/* About how many lines: the size of the files over the length of the first lines. */
static double guess_lines(char *const *paths, char separator) {
    char *const sample = cli_alloc(SAMPLE);
    double bytes = 0, read_bytes = 0, lines = 0;
    for (; *paths; paths++) {
        struct stat st;
        if (stat(*paths, &st) == 0) bytes += (double)st.st_size;
        if (read_bytes > 0) continue;
        const int fd = open(*paths, O_RDONLY | O_CLOEXEC);
        const ssize_t n = fd < 0 ? 0 : read(fd, sample, SAMPLE);
        if (fd >= 0) close(fd);
        for (ssize_t i = 0; i < n; i++) lines += sample[i] == separator;
        read_bytes += n > 0 ? (double)n : 0;
    }
    free(sample);
    return lines > 0 ? bytes / read_bytes * lines : 0;
}

static uint64_t choose_seed(const cli_command *c, const char *text) {
    uint64_t seed;
    char *end;
    if (!text) {
        if (getrandom(&seed, sizeof seed, 0) != sizeof seed) cli_fail("no random bytes for a seed");
        return seed;
    }
    errno = 0;
    seed = strtoull(text, &end, 10);
    if (*end || errno || strchr(text, '-')) cli_misuse(c, "--seed must be a number, not %s", text);
    return seed;
}

/* A multiscan makes its own. */
static void no_hashes(const stream *s, const eb_key *key, size_t n, eb_hash *out) {
    (void)s, (void)key;
    memset(out, 0, n * sizeof *out);
}

static void take_scan(stream *s, const eb_batch *batch) {
    const eb_status status = eb_multiscan_add(s->ctx, s->key, batch->value, batch->n);
    if (status != EB_OK) cli_fail("multiscan: %s", eb_status_name(status));
}

static void print_found(const settings *set, const eb_multiscan *m, size_t keys) {
    eb_candidate *const list = cli_alloc((keys + 1) * sizeof *list);
    size_t n = 0;
    for (uint64_t at = 0; eb_multiscan_next(m, &at, &list[n]);) n++;
    answers out;
    sort_candidates(list, n);
    answers_open(&out, set, false, 0, true);
    for (size_t i = 0; i < n; i++) answers_put(&out, NULL, &list[i]);
    answers_close(&out);
    free(list);
}

static void report_reading(const settings *set, const eb_multiscan_state *now) {
    report r;
    if (!set->stats) return;
    report_begin(&r, stderr, set->json);
    report_count(&r, "reading", "reading", now->readings);
    report_count(&r, "items", "keys, with repeats", (uint64_t)now->items);
    report_count(&r, "passed", "of them left", (uint64_t)now->passed);
    if (now->done)
        report_count(&r, "keys", "frequent keys", now->keys);
    else
        report_text(&r, "filter", "filter", now->filter);
    report_end(&r);
}

/* Reads until the keys that are left fit into memory. */
static int scan(stream *s, const cli_command *c, eb_multiscan *m, char *const *again) {
    const settings *set = s->set;
    eb_multiscan_state now = {.size = sizeof now};
    double first = 0;
    for (;;) {
        const int status = stream_run(s);
        if (status != STATUS_YES) return status;
        if (eb_multiscan_end(m, &now) != EB_OK) cli_fail("multiscan: no memory");
        report_reading(set, &now);
        if (now.readings > 1) check_same_input(first, now.items);
        first = now.items;
        if (now.done) break;
        if (now.stuck || now.readings == set->scans)
            cli_fail("after %u readings too many keys are left for the memory: give -m %.0fK%s",
                     (unsigned)now.readings, now.wanted / 1024 + 1,
                     now.stuck ? "" : ", or more --scans");
        stream_again(s, c, again);
    }
    print_found(set, m, now.keys);
    return STATUS_YES;
}

int run_multiscan(const cli_command *c, const settings *set, char **operands) {
    if (set->at_least.n != 1) cli_misuse(c, "--multiscan answers one --at-least");
    if (set->filter || set->candidate_memory)
        cli_misuse(c, "--multiscan makes filters of its own: no --filter, no --candidate-memory");
    const threshold t = threshold_read(c, set->at_least.text[0]);
    if (t.percent > 0) cli_misuse(c, "--multiscan needs a count, not a share");
    char **const again = rescan_paths(set, operands);
    if (!again)
        cli_misuse(c, "--multiscan needs files, or --rescan FILE: the input cannot be read again");
    stream s = {.set = set, .print = PRINT_NONE};
    eb_multiscan *m;
    eb_error err;
    const double lines = set->weight_field.n ? 0 : guess_lines(again, set->nul ? '\0' : '\n');
    const size_t memory =
        (size_t)size_in_bytes(c, "-m", set->memory ? set->memory : DEFAULT_MEMORY);
    if (eb_multiscan_new(&m, t.count, memory, lines, choose_seed(c, set->seed), NULL, &err) !=
        EB_OK)
        cli_fail("%s", err.text);
    stream_open(&s, c, operands);
    s.hash_keys = no_hashes;
    s.look_up = take_scan;
    s.ctx = m;
    values_weights(&s.values, set);
    const int status = scan(&s, c, m, again);
    eb_multiscan_free(m);
    stream_close(&s);
    free(again);
    return status;
}
