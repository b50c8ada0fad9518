/* p002_memory.c - Figure 3 and section 4.3: how much memory counters of fixed and of variable
 * length take when keys follow Zipf's law, and how long the filters take to make.
 *
 * The counters that a stream leaves are followed as real numbers; what a layout needs for them
 * is computed.  `extras` are the 4-bit digits above the lowest.  Real filters of the library stand
 * beside it, with all that their blocks hold.  All figures are the largest over the epochs. */
#include "paper_002.h"
#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { REAL = 3 };
static const char *const real_options[REAL] = {"mode=basic,fraction=0", "mode=optimised,fraction=0",
                                               "mode=era"};

typedef struct memory_row {
    double zipf, factor;
    double extras, overflowed; /* digits, and counters that have some, for each counter */
    double above_255;
    double largest;
    double bits[REAL]; /* of real filters */
    uint64_t saturated[REAL];
} memory_row;

typedef struct memory_job {
    const lab_options *o;
    memory_row *rows;
    bool real;     /* with real filters */
    bool as_wants; /* as the expected numbers were made: 25 epochs, whole numbers rounded up */
} memory_job;

enum { WANT_EPOCHS = 25 };

static unsigned digits_above_first(double counter) {
    unsigned digits = 0;
    while ((counter /= 16) >= 1) digits++;
    return digits;
}

static void count_digits(const p002_stream *s, const double *counter, memory_row *r) {
    double extras = 0, overflowed = 0, above = 0;
    for (size_t i = 0; i < s->cells; i++) {
        extras += digits_above_first(counter[i]);
        overflowed += counter[i] >= 16;
        above += counter[i] >= 256;
        r->largest = fmax(r->largest, counter[i]);
    }
    r->extras = fmax(r->extras, extras / (double)s->cells);
    r->overflowed = fmax(r->overflowed, overflowed / (double)s->cells);
    r->above_255 = fmax(r->above_255, above / (double)s->cells);
}

static void add_epoch(const p002_stream *s, double *counter, bool whole) {
    const double factor = whole ? round(s->factor * 65536) / 65536 : s->factor;
    for (size_t i = 0; i < s->cells; i++)
        counter[i] = whole ? ceil(counter[i] * factor) : counter[i] * factor;
    for (size_t i = 0; i < s->arrivals; i++) {
        uint64_t x = p002_hash(s, s->arrived[i]);
        for (int j = 0; j < P002_K; j++, x = lab_mix(x)) counter[x % s->cells]++;
    }
}

static void memory_run(void *ctx, size_t i) {
    const memory_job *const job = ctx;
    memory_row *const r = &job->rows[i];
    p002_stream s = p002_open(job->o, r->zipf, r->factor, P002_K / log(2), job->o->seed + i);
    double *const counter = lab_alloc(s.cells, sizeof *counter);
    eb_filter *f[REAL] = {NULL};
    for (int j = 0; job->real && j < REAL; j++) f[j] = p002_filter(&s, real_options[j]);
    for (size_t e = job->as_wants ? WANT_EPOCHS : p002_epochs(&s); e > 0; e--) {
        p002_epoch(&s);
        add_epoch(&s, counter, job->as_wants);
        count_digits(&s, counter, r);
        for (int j = 0; job->real && j < REAL; j++) p002_feed(&s, f[j]);
    }
    for (int j = 0; job->real && j < REAL; j++) {
        eb_stats st = {.size = sizeof st};
        calls_stat(f[j], &st);
        r->bits[j] = 8 * (double)st.bytes / (double)st.cells;
        r->saturated[j] = st.saturated;
        eb_free(f[j]);
    }
    free(counter);
    p002_close(&s);
}

/* Layouts, in bits a counter.  A link names two counters. */
static double link_bits(const lab_options *o) {
    return 2 * ceil(log2(50000 / o->scale * P002_K / log(2)));
}

static double with_links(const lab_options *o, const memory_row *r) {
    return 5 + r->extras * (4 + link_bits(o));
}

/* Cells of `width` bits; those that are full have an entry in a hash table, three quarters full, of
 * a counter's number and 16 bits more. */
static double with_table(const lab_options *o, double width, double share) {
    return width + share * (link_bits(o) / 2 + 16) / 0.75;
}

/* Worked out beforehand, apart from this program: extras a counter and the largest counter. */
typedef struct memory_want {
    double zipf, factor, extras, largest;
} memory_want;
static const memory_want wants[] = {{0.8, .5, .065, 10114},  {0.8, .9, .396, 47228},
                                    {0.8, .95, .517, 73635}, {1.0, .5, .039, 34971},
                                    {1.0, .8, .120, 87165},  {1.0, .95, .369, 253258},
                                    {1.2, .9, .093, 370007}};
enum { WANTS = sizeof wants / sizeof *wants };

static void memory_layouts(lab_options *o, const memory_row *rows) {
    lab_table *t = lab_table_new("Zipf, factor|basic|links not counted|links of used digits|links "
                                 "of all m/2|4 bits and a table|8 bits and a table");
    for (size_t i = 0; i < WANTS; i++) {
        const memory_row *const r = &rows[i];
        lab_table_row(t, "%.1f, %.2f|16|%s|%.1f|%.0f|%.1f|%.1f", r->zipf, r->factor,
                      r->extras <= 0.5 ? "7" : "more than m/2 digits", with_links(o, r),
                      7 + link_bits(o) / 2, with_table(o, 4, r->overflowed),
                      with_table(o, 8, r->above_255));
        lab_promise(o, with_table(o, 8, r->above_255) <= 9.5,
                    "8 bits and a table take at most 9.5 bits, Zipf %.1f, factor %.2f", r->zipf,
                    r->factor);
    }
    lab_table_print(t, o);
}

static void memory_filters(lab_options *o, const memory_row *rows) {
    lab_table *t = lab_table_new("Zipf, factor|basic, 32 bits|optimised, pool of m/2|era");
    for (size_t i = 0; i < WANTS; i++) {
        char cell[REAL][48];
        for (int j = 0; j < REAL; j++)
            snprintf(cell[j], sizeof cell[j],
                     rows[i].saturated[j] ? "%.2f (%llu found no room)" : "%.2f", rows[i].bits[j],
                     (unsigned long long)rows[i].saturated[j]);
        lab_table_row(t, "%.1f, %.2f|%s|%s|%s", rows[i].zipf, rows[i].factor, cell[0], cell[1],
                      cell[2]);
        lab_promise(o, rows[i].saturated[2] == 0,
                    "every counter of mode=era finds room, Zipf %.1f, factor %.2f", rows[i].zipf,
                    rows[i].factor);
    }
    lab_table_print(t, o);
}

/* Expectations are for the full scale: smaller streams leave other counters. */
static void memory_promise(lab_options *o, const char *what, double want, double got,
                           double limit) {
    if (o->scale > 1) return;
    lab_promise(o, fabs(got / want - 1) <= limit, "%s: %.4g, not %.4g", what, want, got);
}

static void memory_fill(memory_row *rows) {
    for (size_t i = 0; i < WANTS; i++)
        rows[i] = (memory_row){.zipf = wants[i].zipf, .factor = wants[i].factor};
}

static void memory_expected(lab_options *o, const memory_row *rows, const memory_row *settled) {
    lab_table *t = lab_table_new("Zipf, factor|extras a counter|expected|largest counter|expected|"
                                 "extras when settled|largest counter when settled");
    for (size_t i = 0; i < WANTS; i++) {
        const memory_want *const w = &wants[i];
        lab_table_row(t, "%.1f, %.2f|%.3f|%.3f|%.0f|%.0f|%.3f|%.0f", w->zipf, w->factor,
                      rows[i].extras, w->extras, rows[i].largest, w->largest, settled[i].extras,
                      settled[i].largest);
        memory_promise(o, "extras a counter", w->extras, rows[i].extras, 0.03);
        memory_promise(o, "the largest counter", w->largest, rows[i].largest, 0.05);
    }
    lab_table_print(t, o);
}

void p002_run_memory(lab_options *o) {
    memory_row rows[WANTS], settled[WANTS];
    memory_fill(rows);
    memory_fill(settled);
    lab_parallel(o->threads, WANTS, memory_run, &(memory_job){o, rows, false, true});
    lab_parallel(o->threads, WANTS, memory_run, &(memory_job){o, settled, true, false});
    memory_expected(o, rows, settled);
    memory_layouts(o, settled);
    memory_filters(o, settled);
}

void p002_run_memory_curves(lab_options *o) {
    static const double zipfs[] = {0.8, 1.0, 1.2};
    enum { POINTS = 13, ROWS = 3 * POINTS };
    memory_row rows[ROWS] = {{0}};
    for (size_t i = 0; i < ROWS; i++) {
        rows[i].zipf = zipfs[i / POINTS];
        rows[i].factor = 1 - 0.6 * pow(0.04 / 0.6, (double)(i % POINTS) / (POINTS - 1));
    }
    lab_parallel(o->threads, ROWS, memory_run, &(memory_job){o, rows, false, false});
    puts("zipf,factor,links,table4,table8,extras");
    for (size_t i = 0; i < ROWS; i++)
        printf("%.1f,%.3f,%.3f,%.3f,%.3f,%.4f\n", rows[i].zipf, rows[i].factor,
               with_links(o, &rows[i]), with_table(o, 4, rows[i].overflowed),
               with_table(o, 8, rows[i].above_255), rows[i].extras);
}

/* Section 4.3 */

typedef struct space {
    double left, right;   /* of the paper's equation, in bits a key */
    double exact, digits; /* bits of counts of exact length; as 4-bit digits */
} space;

static space space_of(double n, double arrivals, double zipf) {
    double h = 0, logs = 0, factorial = 0;
    space s = {0};
    for (double i = 1; i <= n; i++) h += pow(i, -zipf);
    for (double i = 1; i <= n; i++) {
        const double count = arrivals / h * pow(i, -zipf);
        logs += log2(count);
        factorial += log2(i);
        s.exact += floor(log2(fmax(1, count))) + 1;
        s.digits += 4 * (floor(log2(fmax(1, count)) / 4) + 1);
    }
    s.left = log2(arrivals) - logs / n;
    s.right = log2(h) + zipf * factorial / n;
    s.exact /= n;
    s.digits /= n;
    return s;
}

void p002_run_space(lab_options *o) {
    const double n = 50000, arrivals = 1e6;
    lab_table *t = lab_table_new("Zipf|log N|n log N - sum log n_i|n log H + z log n!|left by the "
                                 "formula|counts of exact length|4-bit digits");
    for (int i = 0; i <= 6; i++) {
        const double z = 0.2 * i;
        const space s = space_of(n, arrivals, z);
        lab_table_row(t, "%.1f|%.2f|%.4f|%.4f|%.2f|%.2f|%.2f", z, log2(arrivals), s.left, s.right,
                      log2(arrivals) - s.left, s.exact, s.digits);
        lab_promise(o, fabs(s.left - s.right) < 1e-9, "both sides are equal at z = %.1f", z);
        lab_promise(o, s.digits > log2(arrivals) - s.left,
                    "digits take more than the formula says");
    }
    lab_table_print(t, o);
}

/* Section 5: creation */

static double creation_ns(const p002_stream *s, const char *options) {
    eb_filter *const f = p002_filter(s, options);
    struct timespec a, b;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    for (int i = 0; i < 5; i++) p002_feed(s, f);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    eb_free(f);
    return ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / 5 /
           (double)s->arrivals;
}

int p002_by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void p002_run_creation(lab_options *o) {
    enum { RUNS = 15 };
    double ns[REAL][RUNS], ratio[REAL][RUNS];
    p002_stream s = p002_open(o, 1, 0.9, P002_K / log(2), o->seed);
    p002_epoch(&s);
    for (int i = 0; i < RUNS; i++)
        for (int j = 0; j < REAL; j++) {
            ns[j][i] = creation_ns(&s, real_options[j]);
            ratio[j][i] = ns[j][i] / ns[0][i];
        }
    lab_table *t = lab_table_new("filter|ns an arrival|times basic|quartiles");
    for (int j = 0; j < REAL; j++) {
        qsort(ns[j], RUNS, sizeof **ns, p002_by_size);
        qsort(ratio[j], RUNS, sizeof **ratio, p002_by_size);
        lab_table_row(t, "`%s`|%.1f|%.2f|%.2f to %.2f", real_options[j], ns[j][RUNS / 2],
                      ratio[j][RUNS / 2], ratio[j][RUNS / 4], ratio[j][RUNS * 3 / 4]);
    }
    lab_promise(o, ratio[1][RUNS / 2] > 1.1, "optimised takes over 1.1 times as long as basic");
    lab_table_print(t, o);
    p002_close(&s);
}
