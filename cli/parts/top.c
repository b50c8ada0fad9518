/* top.c - see top.h: a list of frequent keys as rows, as JSON, and on a screen. */
#include "top.h"
#include "health.h"
#include "input/numbers.h"
#include "output/table.h"
#include <everbloom/experimental.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static double rate_of(const top_view *v, double count) {
    return v->seconds > 0 ? count / v->seconds : NAN;
}

static double share_of(const top_view *v, double count) {
    return v->total > 0 ? fmin(1, count / v->total) : 0;
}

/* ---- Rows. */

static void print_json(const top_view *v) {
    fprintf(stdout, "{\"time\":%.3f,\"lines\":%llu,\"total\":", (double)v->now / 1000,
            (unsigned long long)v->lines);
    json_number(stdout, v->total);
    fputs(",\"rate\":", stdout);
    json_number(stdout, rate_of(v, v->total));
    fputs(",\"watermark\":", stdout);
    json_number(stdout, v->watermark);
    fputs(",\"keys\":[", stdout);
    for (size_t i = 0; i < v->n; i++) {
        fputs(i ? ",{\"key\":" : "{\"key\":", stdout);
        json_bytes(stdout, v->rows[i].key.p, v->rows[i].key.len);
        fputs(",\"count\":", stdout);
        json_number(stdout, v->rows[i].count);
        fputs(",\"share\":", stdout);
        json_number(stdout, share_of(v, v->rows[i].count));
        fputs(",\"rate\":", stdout);
        json_number(stdout, rate_of(v, v->rows[i].count));
        putchar('}');
    }
    puts("]}");
    finish_stdout();
}

void top_print(const settings *set, const top_view *v) {
    static const char *const names[] = {"count", "rate", "key", NULL};
    static const char *const shown[] = {"count", "share", "rate", "key", NULL};
    const bool aligned = !set->json && table_format_of(set) == TABLE_ALIGNED;
    char text[40];
    table t;
    if (set->json) {
        print_json(v);
        return;
    }
    table_open(&t, set, aligned ? shown : names);
    for (size_t i = 0; i < v->n; i++) {
        table_count(&t, v->rows[i].count);
        if (aligned) {
            snprintf(text, sizeof text, "%.1f%%", 100 * share_of(v, v->rows[i].count));
            table_number(&t, text);
        }
        snprintf(text, sizeof text, "%.4g", rate_of(v, v->rows[i].count));
        table_number(&t, text);
        table_bytes(&t, v->rows[i].key);
        table_end_row(&t);
    }
    table_close(&t);
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
    if (v->seconds > 0) printf(", %s/s", amount(rate_of(v, v->total), rate));
    if (v->watermark > 0) printf(", complete above %s", amount(v->watermark, rate));
    printf("%s\033[K\n\033[7m%10s %6s %10s  %-20s  KEY\033[K\033[0m\n",
           s->paused ? "  (paused: space goes on)" : "", "COUNT", "SHARE", "PER SECOND", "");
}

void top_draw(screen *s, const top_view *v) {
    enum { HEAD = 2, FOOT = 1, BEFORE_KEY = 53, BAR = 20 };
    const screen_size size = screen_size_now();
    const size_t rows = size.rows - HEAD - FOOT;
    const double most = v->n > 0 ? share_of(v, v->rows[0].count) : 1;
    if (s->scroll + rows > v->n) s->scroll = v->n > rows ? v->n - rows : 0;
    draw_head(s, v);
    for (size_t i = s->scroll; i < v->n && i < s->scroll + rows; i++) {
        const double share = share_of(v, v->rows[i].count);
        char count[24], rate[24];
        printf("%10s %5.1f%% %10s  ", amount(v->rows[i].count, count), 100 * share,
               v->seconds > 0 ? amount(rate_of(v, v->rows[i].count), rate) : "");
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
    if (set->json || set->as || set->alert > 0 || !isatty(STDOUT_FILENO)) return false;
    if (waits && fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode)) waits = false;
    for (; *paths; paths++) waits = waits || !reader_can_reread(*paths);
    return waits || set->refresh_seconds > 0;
}
