/* gen.c - everbloom-gen: writes text lines like those of an access log, some of
 * them delivered twice, and can say how many are really distinct.
 *
 * Every line is made from its item's number alone and opens with a request id
 * that no other item has, so equal lines are equal items and the count of
 * distinct lines is known without keeping any of them. */
#include "workload.h"
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_MIN = 18, LENGTH_MAX = 4096 };

typedef struct gen_options {
    workload w;
    uint64_t lines;
    int length; /* bytes of a line with its newline; 0: as they come */
    bool count;
} gen_options;

static const char help[] =
    "Usage: everbloom-gen [OPTION]...\n"
    "Write lines like those of an access log, some of them repeated.\n\n"
    "  -n, --lines N          how many lines (1000000)\n"
    "  -l, --length BYTES     length of each line with its newline, 18..4096 (as they come)\n"
    "  -r, --repeats SHARE    share of the lines that repeat an earlier line, 0..1 (0.5)\n"
    "  -g, --gap LAW          uniform, recent, or a fixed distance in distinct lines (recent)\n"
    "  -s, --seed N           another stream (1)\n"
    "  -c, --count            say on stderr how many lines and distinct lines were written\n"
    "  -h, --help             this text\n";

static _Noreturn void gen_usage(const char *what, const char *value) {
    fprintf(stderr, "everbloom-gen: %s, not \"%s\"; try --help\n", what, value);
    exit(2);
}

static double gen_number(const char *text, double min, double max, const char *rule) {
    char *end;
    const double x = strtod(text, &end);
    if (*text == '\0' || *end != '\0' || !(x >= min && x <= max)) gen_usage(rule, text);
    return x;
}

static void gen_gap(workload *w, const char *law) {
    if (strcmp(law, "uniform") == 0) {
        w->gap = GAP_UNIFORM;
    } else if (strcmp(law, "recent") == 0) {
        w->gap = GAP_RECENT;
    } else {
        w->gap = GAP_FIXED;
        w->distance = (uint64_t)gen_number(law, 0, 1e15, "gap must be uniform, recent or a number");
    }
}

static gen_options gen_parse(int argc, char **argv) {
    static const struct option longs[] = {
        {"lines", required_argument, NULL, 'n'},   {"length", required_argument, NULL, 'l'},
        {"repeats", required_argument, NULL, 'r'}, {"gap", required_argument, NULL, 'g'},
        {"seed", required_argument, NULL, 's'},    {"count", no_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    gen_options o = {.lines = 1000000, .w = {.state = 1, .repeats = 0.5, .gap = GAP_RECENT}};
    int opt;
    while ((opt = getopt_long(argc, argv, "n:l:r:g:s:ch", longs, NULL)) != -1) {
        switch (opt) {
        case 'n':
            o.lines = (uint64_t)gen_number(optarg, 0, 1e15, "lines must be a number up to 1e15");
            break;
        case 'l':
            o.length =
                (int)gen_number(optarg, LENGTH_MIN, LENGTH_MAX, "length must be 18..4096 bytes");
            break;
        case 'r':
            o.w.repeats = gen_number(optarg, 0, 1, "repeats must be 0..1");
            break;
        case 'g':
            gen_gap(&o.w, optarg);
            break;
        case 's':
            o.w.state = (uint64_t)gen_number(optarg, 0, 1e15, "seed must be a number up to 1e15");
            break;
        case 'c':
            o.count = true;
            break;
        case 'h':
            fputs(help, stdout);
            exit(0);
        default:
            exit(2);
        }
    }
    if (optind < argc) gen_usage("no arguments are expected besides options", argv[optind]);
    o.w.state = workload_mix(o.w.state); /* seeds 1 and 2 shall not be shifted twins */
    return o;
}

/* Writes the line of an item without its newline; returns its length. */
static int gen_line(char *buf, size_t cap, uint64_t item) {
    static const char *const pages[] = {"/",          "/search?q=bloom", "/cart",
                                        "/login",     "/api/v1/items",   "/static/app.css",
                                        "/feed.atom", "/images/logo.png"};
    static const char *const agents[] = {"Mozilla/5.0 (X11; Linux x86_64)", "curl/7.88.1",
                                         "Mozilla/5.0 (Macintosh)", "feedreader/2.4"};
    static const int codes[] = {200, 200, 200, 200, 304, 301, 404, 500};
    const uint64_t id = workload_mix(item);
    const uint64_t r = workload_mix(id);
    const unsigned second = (unsigned)(item / 50 % 86400);
    return snprintf(buf, cap, "%016" PRIx64 " 10.%u.%u.%u [%02u:%02u:%02u] \"GET %s\" %d %u \"%s\"",
                    id, (unsigned)(r & 15), (unsigned)(r >> 4 & 255), (unsigned)(r >> 12 & 255),
                    second / 3600, second / 60 % 60, second % 60, pages[r >> 20 & 7],
                    codes[r >> 23 & 7], (unsigned)(r >> 26 & 0xffff), agents[r >> 42 & 3]);
}

/* Cuts or repeats the tail of the line so that it is length bytes with a newline. */
static int gen_fit(char *buf, int have, int length) {
    for (int i = have; i < length - 1; i++) buf[i] = buf[i - have + LENGTH_MIN - 2];
    return length - 1;
}

int main(int argc, char **argv) {
    gen_options o = gen_parse(argc, argv);
    char buf[LENGTH_MAX + 1];
    for (uint64_t i = 0; i < o.lines; i++) {
        int n = gen_line(buf, sizeof buf, workload_next(&o.w));
        if (o.length) n = gen_fit(buf, n, o.length);
        buf[n] = '\n';
        if (fwrite(buf, 1, (size_t)n + 1, stdout) != (size_t)n + 1) break;
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("everbloom-gen");
        return 2;
    }
    if (o.count) fprintf(stderr, "lines %" PRIu64 " unique %" PRIu64 "\n", o.lines, o.w.distinct);
    return 0;
}
