/* bench.c - everbloom-bench: speed and accuracy of every kind, checked while measured.
 *
 * The rows follow from eb_kinds(): each kind with its default options, then once
 * more for every other value of each option that is a choice (a|b|c).  A row is
 * loaded to its working point: until eb_stat's fpr reaches the fpr the kind is
 * made for, or, if the kind forgets, until its rates have settled; a kind too
 * slow for that in 20 seconds is marked.
 *
 * Next to every row stands the yardstick: what it costs, in the same rounds, to
 * touch one random cache line per key in a block of the same size.  Both sides
 * start from key numbers and hash them inside the measured time.
 *
 * A round measures the yardstick, the adds and the five tests one after the
 * other; what is printed are medians over the rounds, and as spread the widest
 * half distance between quartiles.  Items held is how many of the keys ever
 * added the filter still knows, chance hits taken off: for a filter without
 * false negatives that is all of them. */
#include "bench.h"
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <sys/mman.h>

enum { SHARES = 5, SERIES = SHARES + 2, TOUCH = SHARES, ADD = SHARES + 1 }; /* test0 .. test100 */
static const char *const series_name[SERIES] = {"test0",   "test25", "test50", "test75",
                                                "test100", "touch",  "add"};

typedef struct bench_row {
    char spec[EB_SPEC_MAX];
    const eb_kind_info *kind;
    eb_filter *f;
    size_t bytes;
    uint64_t added, held;
    bool partly;    /* too slow to reach the working point in time */
    uint64_t state; /* of the draws */
    uint64_t asked_absent, false_positives, asked_present, false_negatives;
    double ns[SERIES][ROUNDS];
    double touch_ratio[ROUNDS];
} bench_row;

static int failures;

/* ---- Small things. */

uint64_t *block_new(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) bench_die("mmap", strerror(errno));
    madvise(p, bytes, MADV_HUGEPAGE);
    memset(p, 0, bytes);
    return p;
}

/* ---- One measurement each: key numbers in, nanoseconds per key out. */

/* Where keys are numbers, those of the usual domain of 32 bits. */
static void hash_items(const eb_filter *f, const uint64_t *item, eb_hash *hash, size_t n) {
    const unsigned shift = eb_caps(f) & EB_KEYS_ARE_NUMBERS ? 32 : 0;
    for (size_t i = 0; i < n; i++) hash[i] = workload_mix(item[i]) >> shift;
}

static double touch_chunk(uint64_t *block, size_t bytes, const uint64_t *item, size_t n) {
    const double start = now_ns();
    for (size_t at = 0; at < n; at += BATCH) {
        uint64_t *line[BATCH];
        for (size_t i = 0; i < BATCH; i++) {
            line[i] = block + 8 * workload_below(workload_mix(item[at + i]), bytes / 64);
            __builtin_prefetch(line[i], 1);
        }
        for (size_t i = 0; i < BATCH; i++) *line[i] += item[at + i];
    }
    return (now_ns() - start) / (double)n;
}

static double add_chunk(eb_filter *f, const uint64_t *item, size_t n, uint8_t *seen) {
    static eb_hash hash[CHUNK];
    const double start = now_ns();
    hash_items(f, item, hash, n);
    const eb_status s = calls_add(f, &A_BATCH(n, hash, NULL, NULL), seen);
    const double ns = now_ns() - start;
    if (s) bench_die("eb_add_batch", eb_status_name(s));
    return ns / (double)n;
}

static double test_chunk(const eb_filter *f, const uint64_t *item, size_t n, uint8_t *seen) {
    static eb_hash hash[CHUNK];
    const double start = now_ns();
    hash_items(f, item, hash, n);
    calls_test(f, hash, n, seen);
    return (now_ns() - start) / (double)n;
}

/* ---- Loading a row to its working point. */

/* The false positive rate that a kind is made for: its own default, else 1 %. */
static double design_fpr(const eb_kind_info *kind) {
    for (const eb_option *o = kind->options; o->key; o++)
        if (strcmp(o->key, "fpr") == 0 && o->dflt) return strtod(o->dflt, NULL);
    return 0.01;
}

/* Keys after which a filter that forgets is in its steady state. */
static uint64_t settled_after(const bench_row *r) {
    const uint64_t most = (uint64_t)r->bytes * 4;
    eb_prediction p = {.size = sizeof p};
    const eb_workload endless = {.size = sizeof endless};
    if (eb_predict(r->spec, &endless, NULL, 1, &p, NULL) != EB_OK || !(p.settles_after > 0))
        return most;
    return p.settles_after < (double)most ? (uint64_t)p.settles_after : most;
}

static void add_new_items(bench_row *r, size_t n) {
    static uint64_t item[CHUNK];
    for (size_t i = 0; i < n; i++) item[i] = r->added + i;
    add_chunk(r->f, item, n, NULL);
    r->added += n;
}

static double stat_fpr(const eb_filter *f) {
    eb_stats s = {.size = sizeof s};
    calls_stat(f, &s);
    return s.fpr;
}

static void load_row(bench_row *r, double seconds) {
    const bool forgets = r->kind->caps & EB_FORGETS;
    const uint64_t most = forgets ? settled_after(r) : (uint64_t)r->bytes * 8;
    const double target = design_fpr(r->kind);
    const double deadline = now_ns() + seconds * 1e9;
    uint64_t look = CHUNK; /* eb_stat reads the whole block: look after every 3 % more */
    while (r->added < most) {
        add_new_items(r, CHUNK / 8);
        r->partly = now_ns() > deadline;
        if (r->partly) break;
        if (forgets || r->added < look) continue;
        if (stat_fpr(r->f) >= target) break;
        look = r->added + r->added / 32;
    }
}

/* ---- Asking with a known share of present keys. */

/* Draws n keys, the given share of them from the newest `recent` ones, and marks those. */
static void draw_items(bench_row *r, uint64_t recent, double share, uint64_t *item, uint8_t *here) {
    for (size_t i = 0; i < CHUNK; i++) {
        const uint64_t x = workload_mix(r->state++), y = workload_mix(r->state++);
        here[i] = (double)(x >> 11) * 0x1p-53 < share;
        item[i] = here[i] ? r->added - 1 - workload_below(y, recent) : ABSENT + (y >> 3);
    }
}

static void tally(bench_row *r, const uint8_t *here, const uint8_t *seen) {
    for (size_t i = 0; i < CHUNK; i++) {
        r->asked_present += here[i];
        r->asked_absent += !here[i];
        r->false_positives += !here[i] && seen[i];
        r->false_negatives += here[i] && !seen[i];
    }
}

static double false_positive_rate(const bench_row *r) {
    return (double)r->false_positives / (double)r->asked_absent;
}

/* How many of the keys ever added are still known. */
static void find_held(bench_row *r) {
    uint64_t item[CHUNK];
    uint8_t here[CHUNK], seen[CHUNK];
    bench_row sample = *r;
    for (int i = 0; i < 16; i++) {
        draw_items(&sample, r->added, 0.5, item, here);
        test_chunk(r->f, item, CHUNK, seen);
        tally(&sample, here, seen);
    }
    const double fpr = false_positive_rate(&sample);
    const double known = 1 - (double)sample.false_negatives / (double)sample.asked_present;
    const double held = (known - fpr) / (1 - fpr) * (double)r->added;
    r->held = held > 1 ? (uint64_t)held : 1;
    r->state = sample.state;
}

/* ---- The rounds. */

/* Adds to a copy, so that every round finds the filter at the same working point. */
static double measure_add(const bench_row *r) {
    uint64_t item[CHUNK];
    uint8_t seen[CHUNK];
    eb_filter *copy;
    if (eb_clone(&copy, r->f, NULL, NULL)) bench_die(r->spec, "no memory for a copy");
    for (size_t i = 0; i < CHUNK; i++) item[i] = r->added + i;
    const double ns = add_chunk(copy, item, CHUNK, seen);
    eb_free(copy);
    return ns;
}

static void measure_round(bench_row *r, int round, uint64_t *block) {
    static uint64_t item[CHUNK];
    static uint8_t here[CHUNK], seen[CHUNK];
    for (int share = 0; share < SHARES; share++) {
        draw_items(r, r->held, share / (SHARES - 1.0), item, here);
        r->ns[share][round] = test_chunk(r->f, item, CHUNK, seen);
        tally(r, here, seen);
    }
    r->ns[TOUCH][round] = touch_chunk(block, r->bytes, item, CHUNK);
    r->ns[ADD][round] = measure_add(r);
    r->touch_ratio[round] = r->ns[ADD][round] / r->ns[TOUCH][round];
}

/* Capitals are a failure.  What must hold: no miss where none is promised, and eb_stat's fpr within
 * five standard errors, plus a tenth for its model. */
static const char *verdict(const bench_row *r, double fpr_stat) {
    const double n = (double)r->asked_absent;
    const double error = 5 * sqrt(fpr_stat * (1 - fpr_stat) / n) + 0.1 * fpr_stat + 5 / n;
    if ((r->kind->caps & EB_NO_FALSE_NEGATIVES) && r->false_negatives) return "FALSE NEGATIVES";
    if (fabs(false_positive_rate(r) - fpr_stat) > error) return "FPR DIFFERS FROM eb_stat";
    return r->partly ? "loaded in part" : "";
}

static void write_raw(const bench_options *o, const bench_row *r) {
    if (!o->raw) return;
    for (int s = 0; s < SERIES; s++) {
        fprintf(o->raw, "%s\t%s", r->spec, series_name[s]);
        for (int i = 0; i < o->rounds; i++) fprintf(o->raw, "\t%.2f", r->ns[s][i]);
        fputc('\n', o->raw);
    }
}

/* Bits an item, the fewest that would do, and their ratio; the last two only for filters that still
 * tell keys apart. */
static void print_bits(double bits, double fpr) {
    const double bound = -log2(fpr);
    if (fpr <= 0.5)
        printf(" %7.2f %6.2f %6.2f", bits, bound, bits / bound);
    else
        printf(" %7.2f %6s %6s", bits, "-", "-");
}

static void print_row(const bench_options *o, const bench_row *r) {
    const double fpr_stat = stat_fpr(r->f);
    const char *remark = verdict(r, fpr_stat);
    double widest = 0;
    printf("%-34s %6.1f %6.2f", r->spec, median(r->ns[ADD], o->rounds),
           median(r->touch_ratio, o->rounds));
    for (int s = 0; s < SHARES; s++) printf(" %6.1f", median(r->ns[s], o->rounds));
    for (int s = 0; s < SERIES; s++) widest = fmax(widest, spread(r->ns[s], o->rounds));
    printf(" %6.1f %4.0f%% %9.6f %9.6f %9.6f", median(r->ns[TOUCH], o->rounds), 100 * widest,
           false_positive_rate(r), fpr_stat, (double)r->false_negatives / (double)r->asked_present);
    print_bits(8 * (double)r->bytes / (double)r->held, fpr_stat);
    printf(" %s\n", remark);
    failures += isupper((unsigned char)remark[0]) != 0;
    fflush(stdout);
}

static void bench_row_run(const bench_options *o, const eb_kind_info *kind, const char *extra,
                          const char *memory, size_t bytes) {
    static bench_row r;
    eb_error err;
    r = (bench_row){.kind = kind, .bytes = bytes};
    snprintf(r.spec, sizeof r.spec, "%s:%s%smemory=%s", kind->name, extra, *extra ? "," : "",
             memory);
    if (o->only && !strstr(r.spec, o->only)) return;
    if (kind->caps & EB_KEEPS_KEYS) {
        printf("%-34s skipped: it is fed keys, and all rows are fed hashes\n", r.spec);
        return;
    }
    if (eb_new(&r.f, r.spec, NULL, &err)) {
        printf("%-34s skipped: %s\n", r.spec, err.text);
        return;
    }
    uint64_t *block = block_new(bytes);
    load_row(&r, o->rounds == QUICK_ROUNDS ? 2 : 20);
    find_held(&r);
    for (int i = 0; i < o->rounds; i++) measure_round(&r, i, block);
    print_row(o, &r);
    write_raw(o, &r);
    munmap(block, bytes);
    eb_free(r.f);
}

/* ---- All rows of one size. */

/* Each value of a choice option other than the default becomes one more row. */
static void bench_choices(const bench_options *o, const eb_kind_info *kind, const eb_option *opt,
                          const char *memory, size_t bytes) {
    char values[EB_SPEC_MAX], extra[EB_SPEC_MAX];
    snprintf(values, sizeof values, "%s", opt->type);
    char *rest = NULL;
    for (char *v = strtok_r(values, "|", &rest); v; v = strtok_r(NULL, "|", &rest)) {
        if (opt->dflt && strcmp(v, opt->dflt) == 0) continue;
        if ((size_t)snprintf(extra, sizeof extra, "%s=%s", opt->key, v) >= sizeof extra) continue;
        bench_row_run(o, kind, extra, memory, bytes);
    }
}

static void bench_size(const bench_options *o, const char *memory, size_t bytes) {
    size_t n;
    const eb_kind_info *const *kinds = eb_kinds(&n);
    printf("\n%-34s %6s %6s %34s %6s %5s %9s %9s %9s %7s %6s %6s\n", "", "ns per", "times",
           "ns per test, % of keys present", "touch", "+-", "false", "eb_stat", "false", "bits",
           "bound", "excess");
    printf("%-34s %6s %6s %6s %6s %6s %6s %6s %6s %5s %9s %9s %9s %7s %6s %6s\n", "filter", "add",
           "touch", "0", "25", "50", "75", "100", "ns", "", "positives", "fpr", "negatives",
           "an item", "", "");
    for (size_t i = 0; i < n; i++) {
        bench_row_run(o, kinds[i], "", memory, bytes);
        for (const eb_option *opt = kinds[i]->options; opt->key; opt++)
            if (strchr(opt->type, '|') && strcmp(opt->key, "hash") != 0 &&
                strcmp(opt->key, "keys") != 0) /* rows bring hashes */
                bench_choices(o, kinds[i], opt, memory, bytes);
    }
}

/* ---- The command line. */

static const char help[] =
    "Usage: everbloom-bench [OPTION]...\n"
    "Measure every kind of filter, next to touching one cache line per key and to libbloom;\nand "
    "stores of counters next to a bare array and to uthash.\n\n"
    "  -f, --filter TEXT   only rows whose spec contains TEXT, and no libbloom\n"
    "      --large         also at 512M\n"
    "      --kinds         only the kinds\n"
    "      --counters      only the stores of counters\n"
    "      --lines         only filters of few lines a key, at 512M, next to touching lines\n"
    "      --hashing       only hashing keys, by layout, and what hash=sip costs\n"
    "      --growth        only the table of docs/decisions/growth.md\n"
    "      --single        only one key a call, at 64M, next to the same keys in a batch\n"
    "      --quick         only at 256K, few rounds: checks the answers, not the speed\n"
    "      --raw FILE      write every sample there: spec, series, nanoseconds a key\n"
    "  -h, --help          this text\n";

static bench_options bench_parse(int argc, char **argv) {
    static const struct option longs[] = {
        {"filter", required_argument, NULL, 'f'}, {"large", no_argument, NULL, 'l'},
        {"counters", no_argument, NULL, 'c'},     {"lines", no_argument, NULL, 'n'},
        {"single", no_argument, NULL, 's'},       {"kinds", no_argument, NULL, 'k'},
        {"hashing", no_argument, NULL, 'a'},      {"growth", no_argument, NULL, 'g'},
        {"quick", no_argument, NULL, 'q'},        {"raw", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    bench_options o = {.rounds = ROUNDS};
    int opt;
    while ((opt = getopt_long(argc, argv, "f:h", longs, NULL)) != -1) {
        if (opt == 'h') {
            fputs(help, stdout);
            exit(0);
        }
        if (opt == '?') exit(2);
        if (opt == 'f') o.only = optarg;
        if (opt == 'l') o.large = true;
        if (opt == 'k') o.kinds = true;
        if (opt == 'c') o.counters = true;
        if (opt == 'n') o.lines = true;
        if (opt == 's') o.single = true;
        if (opt == 'a') o.hashing = true;
        if (opt == 'g') o.growth = true;
        if (opt == 'q') o.rounds = QUICK_ROUNDS;
        if (opt == 'r' && !(o.raw = fopen(optarg, "w"))) bench_die(optarg, strerror(errno));
    }
    if (optind < argc) bench_die(argv[optind], "no arguments are expected besides options");
    return o;
}

int main(int argc, char **argv) {
    static const struct {
        const char *memory;
        size_t bytes;
    } sizes[] = {{"256K", 256 << 10}, {"8M", 8 << 20}, {"64M", 64 << 20}, {"512M", 512 << 20}};
    const bench_options o = bench_parse(argc, argv);
    if (o.growth) return growth_bench() > 0;
    const size_t n = o.rounds == QUICK_ROUNDS ? 1 : o.large ? 4 : 3;
    const bool all = !o.counters && !o.lines && !o.single && !o.hashing;
    for (size_t i = 0; i < n && all; i++) bench_size(&o, sizes[i].memory, sizes[i].bytes);
    if (!o.only && !o.kinds && !o.lines && !o.single && !o.hashing) failures += counters_bench(&o);
    if (o.lines) lines_bench(&o);
    if (o.single) single_bench(&o);
    if (o.hashing) hashing_bench(&o);
    if (!o.only && all) {
        rival_title();
        for (size_t i = 0; i < n && i < 3; i++) /* libbloom counts bits in an int */
            failures += rival_bench(&o, sizes[i].memory, sizes[i].bytes);
    }
    if (o.raw && fclose(o.raw)) bench_die("the raw data", strerror(errno));
    if (failures) printf("%d rows failed their checks\n", failures);
    return failures ? 1 : 0;
}
