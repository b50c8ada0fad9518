/* main.c - everbloom-lab: makes the papers' experiments again.
 *
 * Results go to stdout, the rest to stderr.  Status 0: every promise was kept;
 * 1: at least one was not; 2: trouble. */
#include "compare.h"
#include "rivals/rivals.h"
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const lab_paper *const main_papers[] = {&lab_paper_000, &lab_paper_001, &lab_paper_002,
                                               &lab_paper_003, &lab_paper_004, &lab_orders,
                                               &lab_grid};
enum { MAIN_PAPERS = sizeof main_papers / sizeof main_papers[0] };

static void main_usage(FILE *out) {
    fputs(
        "Usage: everbloom-lab PAPER [EXPERIMENT...] [OPTION...]\n"
        "       everbloom-lab compare --stream NAME|FILE --filter SPEC [--filter SPEC...]\n"
        "       everbloom-lab stream NAME [OPTION...]\n"
        "       everbloom-lab clicks [--records N] [--seed N]\n"
        "Makes the experiments of a paper again, and says what agrees.\n"
        "compare runs filters over one stream, against the exact truth; stream writes it.\n"
        "clicks writes lines that look like the log of a shop, for replay.\n\n"
        "  everbloom-lab compare --stream zipf1.0:10 --filter lru:memory=64K --filter "
        "fifo:memory=64K\n"
        "  everbloom-lab compare --stream words:book.txt --filter spectral:memory=64K --filter "
        "cms:memory=64K\n\n"
        "  --scale N     streams and filters N times smaller than published (003: 100; others: 1)\n"
        "  --seeds N     runs that are pooled (004: 20; others: 3)\n"
        "  --seed N      the first seed (1)\n"
        "  --threads N   runs at the same time (2)\n"
        "  --table N     only this table\n"
        "  --figure N    only this figure\n"
        "  --file FILE   the lines to replay\n"
        "  --stream S    a stream by name (see below), lines:FILE, words:FILE, or FILE\n"
        "  --filter SPEC a filter of ours, or a rival, to compare; may be given several times\n"
        "  --slots K     streams by name are scaled by this (20 for each 64 bytes of the first "
        "filter)\n"
        "  --importance uniform|skewed   importance of keys, 1..100 (all alike)\n"
        "  --records N   lines that clicks writes, records of a stream (3e6)\n"
        "  --csv, --md   instead of aligned text\n"
        "  --help, --version\n",
        out);
    for (size_t p = 0; p < MAIN_PAPERS; p++) {
        fprintf(out, "\n%s, %s:\n", main_papers[p]->name, main_papers[p]->title);
        bool extra = false;
        for (const lab_experiment *e = main_papers[p]->experiments; e->name; e++) {
            extra |= !strcmp(e->name, main_papers[p]->extra);
            fprintf(out, "%c %-12s  %s\n", extra ? ' ' : '*', e->name, e->help);
        }
    }
    fputs(
        "\nWithout an experiment: those with a star.\n\nRivals, with memory= and these options:\n",
        out);
    for (const lab_rival *r = lab_rivals; r->name; r++)
        fprintf(out, "  %-12s %-8s  %s\n", r->name, r->options, r->help);
    fprintf(out, "\nStreams, for K slots; a plus joins phases:\n%s", lab_stream_names);
}

static _Noreturn void main_wrong(const char *what, const char *value) {
    fprintf(stderr, "everbloom-lab: %s \"%s\"; see everbloom-lab --help\n", what, value);
    exit(2);
}

static double main_number(const char *key, const char *text, double min, double max) {
    char *end;
    errno = 0;
    const double v = strtod(text, &end);
    if (errno || end == text || *end || !(v >= min && v <= max)) {
        fprintf(stderr, "everbloom-lab: --%s must be %g..%g, not %s\n", key, min, max, text);
        exit(2);
    }
    return v;
}

typedef struct main_args {
    lab_options o;
    double records;
    compare_plan plan;
    bool scaled, seeded; /* --scale, --seeds were given */
} main_args;

static const struct option main_options[] = {{"scale", required_argument, NULL, 's'},
                                             {"seeds", required_argument, NULL, 'n'},
                                             {"seed", required_argument, NULL, 'S'},
                                             {"threads", required_argument, NULL, 'j'},
                                             {"table", required_argument, NULL, 't'},
                                             {"figure", required_argument, NULL, 'f'},
                                             {"file", required_argument, NULL, 'i'},
                                             {"records", required_argument, NULL, 'r'},
                                             {"stream", required_argument, NULL, 'a'},
                                             {"filter", required_argument, NULL, 'F'},
                                             {"slots", required_argument, NULL, 'k'},
                                             {"importance", required_argument, NULL, 'w'},
                                             {"csv", no_argument, NULL, 'c'},
                                             {"md", no_argument, NULL, 'm'},
                                             {"help", no_argument, NULL, 'h'},
                                             {"version", no_argument, NULL, 'v'},
                                             {0}};

static void main_option(main_args *a, int option) {
    switch (option) {
    case 's':
        a->o.scale = main_number("scale", optarg, 1, 100000);
        a->scaled = true;
        break;
    case 'n':
        a->o.seeds = (unsigned)main_number("seeds", optarg, 1, 1000);
        a->seeded = true;
        break;
    case 'S':
        a->o.seed = (uint64_t)main_number("seed", optarg, 0, 1e15);
        break;
    case 'j':
        a->o.threads = (unsigned)main_number("threads", optarg, 1, 64);
        break;
    case 't':
        a->o.table = (unsigned)main_number("table", optarg, 1, 99);
        break;
    case 'f':
        a->o.figure = (unsigned)main_number("figure", optarg, 1, 99);
        break;
    case 'r':
        a->records = main_number("records", optarg, 1, 4e9);
        break;
    case 'a':
        a->plan.stream = optarg;
        break;
    case 'F':
        if (a->plan.filters == COMPARE_FILTERS) main_wrong("too many filters:", optarg);
        a->plan.filter[a->plan.filters++] = optarg;
        break;
    case 'k':
        a->plan.slots = main_number("slots", optarg, 64, 4e9);
        break;
    case 'w':
        if (strcmp(optarg, "uniform") != 0 && strcmp(optarg, "skewed") != 0)
            main_wrong("--importance must be uniform or skewed, not", optarg);
        a->plan.law = *optarg == 'u' ? COMPARE_UNIFORM : COMPARE_SKEWED;
        break;
    case 'i':
        a->o.file = optarg;
        break;
    case 'c':
        a->o.format = LAB_CSV;
        break;
    case 'm':
        a->o.format = LAB_MD;
        break;
    case 'h':
        main_usage(stdout);
        exit(0);
    case 'v':
        puts("everbloom-lab " EB_VERSION);
        exit(0);
    default:
        fputs("everbloom-lab: see everbloom-lab --help\n", stderr);
        exit(2);
    }
}

static const lab_paper *main_paper(const char *name) {
    for (size_t p = 0; p < MAIN_PAPERS; p++)
        if (!strcmp(main_papers[p]->name, name)) return main_papers[p];
    main_wrong("no paper", name);
}

static void main_run(main_args *a, const lab_experiment *e) {
    lab_options o = a->o;
    if (!strcmp(e->name, "full")) o.seeds = 1, o.scale = a->scaled ? o.scale : 1;
    o.kept = o.broken = 0;
    e->run(&o);
    if (o.kept + o.broken && o.format != LAB_CSV)
        printf("%s: %u of %u promises kept (scale 1/%g, seeds %llu-%llu).\n\n", e->name, o.kept,
               o.kept + o.broken, o.scale, (unsigned long long)o.seed,
               (unsigned long long)(o.seed + o.seeds - 1));
    a->o.broken += o.broken;
}

static void main_run_named(main_args *a, const lab_paper *p, const char *name) {
    for (const lab_experiment *e = p->experiments; e->name; e++)
        if (!strcmp(e->name, name)) {
            main_run(a, e);
            return;
        }
    main_wrong("no experiment", name);
}

/* Without names: everything that is quick and makes promises. */
static void main_run_default(main_args *a, const lab_paper *p) {
    for (const lab_experiment *e = p->experiments; e->name && strcmp(e->name, p->extra); e++)
        if (!a->o.table || !strcmp(e->name, "tables")) main_run(a, e);
}

/* Slots of an lru as large as the first filter. */
static double main_slots(const compare_plan *plan) {
    eb_filter *f;
    lab_subject s;
    uint64_t bytes = 64 << 10;
    if (plan->slots > 0 || plan->filters == 0) return plan->slots > 0 ? plan->slots : 20480;
    if (lab_rival_new(plan->filter[0], 0, &s)) {
        bytes = s.bytes;
        s.release(s.state);
    } else if (eb_new(&f, plan->filter[0], NULL, NULL) == EB_OK) {
        eb_stats stats = {.size = sizeof stats};
        calls_stat(f, &stats);
        bytes = stats.bytes;
        eb_free(f);
    }
    return (double)(bytes / 64 * 20);
}

static int main_compare(main_args *a) {
    if (!a->plan.stream) main_wrong("compare needs --stream, such as", "--stream zipf1.0:10");
    if (a->plan.filters == 0)
        main_wrong("compare needs --filter, such as", "--filter lru:memory=64K");
    a->plan.slots = main_slots(&a->plan);
    a->plan.records = (uint64_t)a->records;
    lab_compare_print(&a->o, &a->plan);
    return a->o.broken ? 1 : 0;
}

static int main_stream(main_args *a, const char *name) {
    if (!name) main_wrong("stream needs a name, such as", "zipf1.0:10");
    a->plan.stream = name;
    a->plan.slots = main_slots(&a->plan);
    a->plan.records = (uint64_t)a->records;
    lab_compare_write(&a->o, &a->plan, stdout);
    return 0;
}

int main(int argc, char **argv) {
    main_args a = {.o = {.scale = 100, .seeds = 3, .seed = 1, .threads = 2}, .records = 3e6};
    for (int option; (option = getopt_long(argc, argv, "", main_options, NULL)) != -1;)
        main_option(&a, option);
    if (optind == argc) {
        main_usage(stderr);
        return 2;
    }
    const char *what = argv[optind++];
    if (!strcmp(what, "clicks")) {
        lab_write_clicks(stdout, (uint64_t)a.records, a.o.seed);
        return 0;
    }
    if (!strcmp(what, "compare")) return main_compare(&a);
    if (!strcmp(what, "stream")) return main_stream(&a, argv[optind]);
    const lab_paper *p = main_paper(what);
    if (!a.scaled) a.o.scale = p->scale;
    if (!a.seeded) a.o.seeds = p->seeds;
    if (optind == argc) main_run_default(&a, p);
    while (optind < argc) main_run_named(&a, p, argv[optind++]);
    if (fflush(stdout) || ferror(stdout)) lab_die("writing failed");
    return a.o.broken ? 1 : 0;
}
