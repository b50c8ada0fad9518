/* frequent.c - thresholds, answers and second readings of iceberg. */
#include "frequent.h"
#include "health.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

threshold threshold_read(const cli_command *c, const char *text) {
    threshold t = {0};
    char *end;
    const size_t length = strlen(text);
    if (length > 1 && text[length - 1] == '%') {
        t.percent = strtod(text, &end);
        if (end == text + length - 1 && t.percent > 0 && t.percent <= 100) return t;
    } else if (args_count(text, &t.count) && t.count >= 1 && t.count <= COUNT_MOST)
        return t;
    cli_misuse(c, "--at-least must be a count from 1 to 2.8e14 or a share up to 100%%, not \"%s\"",
               text);
}

double threshold_of(threshold t, double total) {
    /* 0.1 % of 1000 is 1, whatever the last bit says. */
    return t.percent == 0 ? t.count : fmax(1, ceil(total * t.percent / 100 * (1 - 1e-12)));
}

static bool all_again(char *const *paths) {
    if (!*paths) return false;
    for (; *paths; paths++)
        if (!reader_can_reread(*paths)) return false;
    return true;
}

char **rescan_paths(const settings *set, char *const *operands) {
    size_t n = 0;
    if (set->rescan.n == 0 && !all_again(operands)) return NULL;
    while (set->rescan.n == 0 && operands[n]) n++;
    char **const paths = cli_alloc((set->rescan.n + n + 1) * sizeof *paths);
    for (size_t i = 0; i < n; i++) paths[i] = operands[i];
    for (size_t i = 0; i < set->rescan.n; i++) {
        reader_check(set->rescan.text[i]);
        union {
            const char *in;
            char *out;
        } pun = {.in = set->rescan.text[i]}; /* a reader takes the words of a command line */
        paths[n++] = pun.out;
    }
    paths[n] = NULL;
    return paths;
}

void check_same_input(double first, double again) {
    if (first != again)
        cli_fail("the input is not the same when read again: %.15g keys at first, now %.15g", first,
                 again);
}

void answers_open(answers *a, const settings *set, bool labels, double total, bool exact) {
    const char *names[5] = {"at least", "count", "key"};
    *a = (answers){.set = set, .total = total, .exact = exact};
    if (set->json) return;
    a->shares = total > 0 && table_format_of(set) == TABLE_ALIGNED;
    if (a->shares) {
        names[2] = "share";
        names[3] = "key";
    }
    table_open(&a->rows, set, names + !labels);
}

void answers_put(answers *a, const char *label, const eb_candidate *c) {
    const double count = count_or_infinity(c->count, INFINITY);
    char share[24];
    if (ferror(stdout)) return; /* nobody listens any more */
    if (a->set->json) {
        report r;
        report_begin(&r, stdout, true);
        if (label) report_text(&r, "at_least", "at least", label);
        report_key(&r, "key", c->key);
        report_real(&r, "count", "count", count);
        report_plain(&r, "exact", a->exact ? "true" : "false");
        report_end(&r);
        return;
    }
    if (label) table_text(&a->rows, label);
    table_count(&a->rows, count);
    if (a->shares) {
        snprintf(share, sizeof share, "%.1f%%", fmin(100, 100 * count / a->total));
        table_number(&a->rows, share);
    }
    table_bytes(&a->rows, c->key);
    table_end_row(&a->rows);
}

void answers_flush(answers *a) {
    if (!a->set->json) table_flush(&a->rows);
    finish_stdout();
}

void answers_close(answers *a) {
    if (!a->set->json) table_close(&a->rows);
    finish_stdout();
}

static int by_count(const void *a, const void *b) {
    const eb_candidate *const x = a, *const y = b;
    const size_t shorter = x->key.len < y->key.len ? x->key.len : y->key.len;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    const int bytes = shorter ? memcmp(x->key.p, y->key.p, shorter) : 0;
    return bytes ? bytes : (x->key.len > y->key.len) - (x->key.len < y->key.len);
}

void sort_candidates(eb_candidate *c, size_t n) {
    if (n > 0) qsort(c, n, sizeof *c, by_count);
}
