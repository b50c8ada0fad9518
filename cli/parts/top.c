/* top.c - see top.h. */
#include "top.h"
#include "health.h"
#include "input/numbers.h"
#include "io.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- How often is often. */

static threshold threshold_read(const cli_command *c, const char *text) {
    threshold t = {.text = text};
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

threshold *thresholds_read(const cli_command *c, const settings *set) {
    threshold *const t = cli_alloc((top_of(set)->at_least.n + 1) * sizeof *t);
    for (size_t i = 0; i < top_of(set)->at_least.n; i++)
        t[i] = threshold_read(c, top_of(set)->at_least.text[i]);
    return t;
}

static int by_threshold(const void *a, const void *b) {
    const threshold *const x = a, *const y = b;
    return (x->count > y->count) - (x->count < y->count);
}

void thresholds_settle(threshold *t, size_t n, double total) {
    for (size_t i = 0; i < n; i++)
        if (t[i].percent > 0) /* 0.1 % of 1000 is 1, whatever the last bit says */
            t[i].count = fmax(1, ceil(total * t[i].percent / 100 * (1 - 1e-12)));
    if (n > 1) qsort(t, n, sizeof *t, by_threshold);
}

int top_incomplete(double watermark, const char *cure) {
    cli_warn("keys that occur up to %.15g times may be missing: %s", ceil(watermark), cure);
    return STATUS_NO;
}

static int by_count(const void *a, const void *b) {
    const eb_top_key *const x = a, *const y = b;
    const size_t shorter = x->key.len < y->key.len ? x->key.len : y->key.len;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    const int bytes = shorter ? memcmp(x->key.p, y->key.p, shorter) : 0;
    return bytes ? bytes : (x->key.len > y->key.len) - (x->key.len < y->key.len);
}

void top_sort(eb_top_key *rows, size_t n) {
    if (n > 0) qsort(rows, n, sizeof *rows, by_count);
}

/* ---- Rows. */

static double rate_of(double count, double seconds) {
    return seconds > 0 ? count / seconds : NAN;
}

static double share_of(double count, double total) {
    return total > 0 ? fmin(1, count / total) : 0;
}

void top_rows_open(top_rows *r, const settings *set, bool labelled, double total, double seconds) {
    const char *names[TABLE_COLUMNS + 1] = {NULL};
    size_t n = 0;
    *r = (top_rows){.set = set, .total = total, .seconds = seconds};
    if (set->json) return;
    r->shares = total > 0 && table_format_of(set) == TABLE_ALIGNED;
    if (labelled) names[n++] = "at least";
    names[n++] = "count";
    if (top_of(set)->bounds) names[n++] = "lower";
    if (r->shares) names[n++] = "share";
    if (seconds > 0) names[n++] = "rate";
    names[n] = "key";
    table_open(&r->table, set, names);
}

static void put_row_json(const top_rows *r, const char *label, const eb_top_key *row) {
    report to;
    report_begin(&to, stdout, true);
    if (label) report_text(&to, "at_least", "at least", label);
    report_key(&to, "key", row->key);
    report_real(&to, "count", "count", count_or_infinity(row->count, INFINITY));
    report_real(&to, "lower", "lower", row->lower);
    if (r->total > 0) report_real(&to, "share", "share", share_of(row->count, r->total));
    report_plain(&to, "exact", row->lower >= row->count ? "true" : "false");
    if (row->cut) report_plain(&to, "cut", "true");
    report_end(&to);
}

void top_rows_put(top_rows *r, const char *label, const eb_top_key *row) {
    char text[40];
    if (ferror(stdout)) return; /* nobody listens any more */
    if (r->set->json) {
        put_row_json(r, label, row);
        return;
    }
    if (label) table_text(&r->table, label);
    table_count(&r->table, count_or_infinity(row->count, INFINITY));
    if (top_of(r->set)->bounds) table_count(&r->table, row->lower);
    if (r->shares) {
        snprintf(text, sizeof text, "%.1f%%", 100 * share_of(row->count, r->total));
        table_number(&r->table, text);
    }
    if (r->seconds > 0) {
        snprintf(text, sizeof text, "%.4g", rate_of(row->count, r->seconds));
        table_number(&r->table, text);
    }
    table_bytes(&r->table, row->key);
    table_end_row(&r->table);
}

void top_rows_flush(top_rows *r) {
    if (!r->set->json) table_flush(&r->table);
    finish_stdout();
}

void top_rows_close(top_rows *r) {
    if (!r->set->json) table_close(&r->table);
    finish_stdout();
}

void top_print_answers(const settings *set, const eb_top_key *rows, size_t n,
                       const threshold *at_least, double total) {
    const size_t asked = top_of(set)->at_least.n;
    top_rows out;
    top_rows_open(&out, set, asked > 1, total, 0);
    for (size_t i = 0; i == 0 || i < asked; i++)
        for (size_t row = 0; row < n && (!top_of(set)->top || row < top_of(set)->top); row++) {
            if (asked > 0 && rows[row].count < at_least[i].count) break;
            top_rows_put(&out, asked > 1 ? at_least[i].text : NULL, &rows[row]);
        }
    top_rows_close(&out);
}

bool top_is_complete(const settings *set, const eb_top_key *rows, size_t n, double watermark,
                     const threshold *at_least) {
    if (watermark == 0 || (top_of(set)->at_least.n > 0 && at_least[0].count > watermark))
        return true;
    if (!top_of(set)->top || n < top_of(set)->top) return false;
    for (size_t i = 0; i < top_of(set)->top; i++)
        if (rows[i].lower < watermark) return false;
    return true;
}

static void print_json(const top_view *v) {
    fprintf(stdout, "{\"time\":%.3f,\"lines\":%llu,\"total\":", (double)v->now / 1000,
            (unsigned long long)v->lines);
    json_number(stdout, v->total);
    fputs(",\"rate\":", stdout);
    json_number(stdout, rate_of(v->total, v->seconds));
    fputs(",\"watermark\":", stdout);
    json_number(stdout, v->watermark);
    fputs(",\"keys\":[", stdout);
    for (size_t i = 0; i < v->n; i++) {
        fputs(i ? ",{\"key\":" : "{\"key\":", stdout);
        json_bytes(stdout, v->rows[i].key.p, v->rows[i].key.len);
        fputs(",\"count\":", stdout);
        json_number(stdout, v->rows[i].count);
        fputs(",\"lower\":", stdout);
        json_number(stdout, v->rows[i].lower);
        fputs(",\"share\":", stdout);
        json_number(stdout, share_of(v->rows[i].count, v->total));
        fputs(",\"rate\":", stdout);
        json_number(stdout, rate_of(v->rows[i].count, v->seconds));
        putchar('}');
    }
    puts("]}");
    finish_stdout();
}

void top_print(const settings *set, const top_view *v) {
    top_rows r;
    if (set->json) {
        print_json(v);
        return;
    }
    top_rows_open(&r, set, false, v->total, v->seconds);
    for (size_t i = 0; i < v->n; i++) top_rows_put(&r, NULL, &v->rows[i]);
    top_rows_close(&r);
}

/* ---- The screen. */

static const char *amount(double n, char text[24]) {
    static const char units[] = " KMGTP";
    size_t unit = 0;
    for (; n >= 99999.5 && unit + 2 < sizeof units; unit++) n /= 1000;
    snprintf(text, 24,
             unit                       ? "%.4g%c"
             : n < 100 && n != floor(n) ? "%.1f"
                                        : "%.0f",
             n, units[unit]);
    return text;
}

static void draw_head(const screen *s, const top_view *v) {
    char time[NUMBER_TEXT] = "", lines[24], rate[24];
    if (v->now) number_write(NUMBER_TIME, number_from_signed((int64_t)(v->now / 1000)), time);
    printf("\033[H%s  %s lines", time, amount((double)v->lines, lines));
    if (v->seconds > 0) printf(", %s/s", amount(rate_of(v->total, v->seconds), rate));
    if (v->watermark > 0) printf(", complete above %s", amount(v->watermark, rate));
    printf("%s\033[K\n\033[7m%10s %6s %10s  %-20s  KEY\033[K\033[0m\n",
           s->paused ? "  (paused: space goes on)" : "", "COUNT", "SHARE", "PER SECOND", "");
}

void top_draw(screen *s, const top_view *v) {
    enum { HEAD = 2, FOOT = 1, BEFORE_KEY = 53, BAR = 20 };
    const screen_size size = screen_size_now();
    const size_t rows = size.rows - HEAD - FOOT;
    const double most = v->n > 0 ? share_of(v->rows[0].count, v->total) : 1;
    if (s->scroll + rows > v->n) s->scroll = v->n > rows ? v->n - rows : 0;
    draw_head(s, v);
    for (size_t i = s->scroll; i < v->n && i < s->scroll + rows; i++) {
        const double share = share_of(v->rows[i].count, v->total);
        char count[24], rate[24];
        printf("%10s %5.1f%% %10s  ", amount(v->rows[i].count, count), 100 * share,
               v->seconds > 0 ? amount(rate_of(v->rows[i].count, v->seconds), rate) : "");
        put_bar(stdout, share / most, BAR);
        fputs("  ", stdout);
        put_shown(stdout, v->rows[i].key,
                  size.columns > BEFORE_KEY ? size.columns - BEFORE_KEY : 1);
        fputs("\033[K\n", stdout);
    }
    printf("\033[J\033[%zu;1Hq: end, space: stop and go on, arrows: %zu-%zu of %zu\033[K",
           size.rows, v->n ? s->scroll + 1 : 0, s->scroll + rows < v->n ? s->scroll + rows : v->n,
           v->n);
    finish_stdout();
}

bool top_is_live(const settings *set, char *const *paths) {
    struct stat st;
    bool waits = !*paths;
    if (set->json || set->as || top_of(set)->alert > 0 || !isatty(STDOUT_FILENO)) return false;
    if (waits && fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode)) waits = false;
    for (; *paths; paths++) waits = waits || !reader_can_reread(*paths);
    return waits || top_of(set)->refresh_seconds > 0;
}
