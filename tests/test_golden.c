/* test_golden.c - what the formulas say today, in text files under tests/golden: predictions, specs
 * made of wishes, plans, and answers that are computed from cells.
 *
 * A line is a question and its answer.  Numbers may differ in their last digits, since compilers
 * and libraries of mathematics do; words may not.  So a formula that is changed by accident is
 * noticed here, however little.  Whether a formula is right is not: that is for the tests that
 * compare with measurements, test_rates, test_answers and test_plan_grid.
 *
 * After a deliberate change: build/release/tests/test_golden --write, and read the difference. */
#include "suite.h"
#include <everbloom/experimental.h>
#include <math.h>

/* Files of questions and answers */

enum { LINE = 4000 };
typedef struct file {
    FILE *in, *out;   /* one of them */
    double tolerance; /* of numbers, relative */
    char path[100], line[LINE], *end;
    int n, wrong;
} file;
static file now;
static bool writing;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    const size_t room = sizeof now.line - (size_t)(now.end - now.line);
    const int n = vsnprintf(now.end, room, format, args);
    va_end(args);
    HOLDS(n >= 0 && (size_t)n < room);
    now.end += n;
}

static void say_number(const char *name, double x) {
    if (!isnan(x)) say(" %s=%.9g", name, x);
}

static bool alike(const char *a, const char *b, double tolerance) {
    while (*a || *b) {
        char *a_end, *b_end;
        const double x = strtod(a, &a_end), y = strtod(b, &b_end);
        if (a_end > a && b_end > b) { /* a number in both, of which a word may be the end */
            if (x != y && !(fabs(x - y) <= tolerance * fmax(fabs(x), fabs(y)) + 1e-12))
                return false;
            a = a_end;
            b = b_end;
            continue;
        }
        if (*a++ != *b++) return false;
    }
    return true;
}

/* What was said so far is the question; what comes until line_ends is the answer. */
static void line_begins(void) {
    now.end = now.line;
}

static void line_ends(void) {
    char kept[LINE];
    const size_t question = (size_t)(strstr(now.line, ": ") - now.line);
    now.n++;
    if (writing) {
        HOLDS(fprintf(now.out, "%s\n", now.line) > 0);
        return;
    }
    do {
        if (!fgets(kept, sizeof kept, now.in)) {
            print_error("%s has no line for \"%.*s\"\n", now.path, (int)question, now.line);
            rewind(now.in);
            now.wrong++;
            return;
        }
    } while (strncmp(kept, now.line, question + 1) != 0);
    kept[strcspn(kept, "\n")] = '\0';
    if (alike(kept, now.line, now.tolerance)) return;
    print_error("was: %s\nnow: %s\n", kept, now.line);
    now.wrong++;
}

static void file_begins(const char *name, double tolerance) {
    now = (file){.tolerance = tolerance};
    (void)snprintf(now.path, sizeof now.path, "tests/golden/%s.txt", name);
    FILE *const f = fopen(now.path, writing ? "w" : "r");
    suite_at("%s", now.path);
    HOLDS(f != NULL);
    *(writing ? &now.out : &now.in) = f;
}

static void file_ends(void) {
    (void)fclose(writing ? now.out : now.in);
    if (writing) (void)printf("%s: %d lines\n", now.path, now.n);
    if (now.wrong > 0)
        print_error("%d of %d answers differ from %s.  If that is meant: "
                    "build/release/tests/test_golden --write, and read the difference.\n",
                    now.wrong, now.n, now.path);
    HOLDS(now.wrong == 0 && now.n > 0);
}

/* Predictions */

#define STREAM(...)                                                                                \
    { .size = sizeof(eb_workload), __VA_ARGS__ }
static const eb_workload streams[] = {
    STREAM(.items = 20000),
    STREAM(.items = 3e5, .distinct = 5e4),
    STREAM(.items = 3e5, .distinct = 5e4, .zipf = 0.8),
    STREAM(.items = 4e5, .distinct = 3e4, .zipf = 1),
    STREAM(.items = 1e6, .distinct = 8e4, .zipf = 1.3),
    STREAM(.items = 3e5, .distinct = 1e5, .gap = 7000),
    STREAM(.items = 2e5, .distinct = 1e5, .gap = 600, .rate = 10, .value = 70),
    STREAM(.items = 5e4, .gap = 4e4, .value = 3),
    STREAM(.distinct = 6e4),
    STREAM(.gap = 3000),
    STREAM(.rate = 3),
    STREAM(.items = 12, .distinct = 5),
    STREAM(.items = 2e9, .distinct = 3e8),
};

/* With all options that shape a formula, so that nothing is searched for.  Those in
 * front are asked about every stream, the others about every third. */
static const char *const common_specs[] = {
    "bloom:memory=40K,k=5",
    "weighted:memory=40K,class_bits=4:9",
    "lru:memory=56K,print_bits=14,keep=adaptive",
    "window:memory=80K,window=30000,mode=elastic,eras=4,print_bits=11,line=64",
    "window:memory=12K,window=20000,mode=rotate,eras=3,print_bits=3",
    "choosy:memory=40K,k=4,tolerance=0.5",
    "stable:memory=20K,k=3,width=3,fade=25",
    "importance:memory=20K,k=3,fade=40,delete=sweep",
    "rsbf:memory=12K,k=3",
    "bsbf:memory=12K,k=3",
    "bsbfsd:memory=12K,k=3",
    "rlbsbf:memory=12K,k=3",
    "spectral:memory=320K,k=4,store=u32",
    "spectral:memory=320K,k=4,store=wide",
    "spectral_rm:memory=320K,k=4",
    "decay:memory=96K,k=3,halflife=10000",
    "aging:memory=800K,k=3,by=window,epochs=10,period=2000",
    "dyadic:memory=320K,bits=20,k=3",
    "top:memory=512K,by=no",
};
static const char *const other_specs[] = {
    "bloom:memory=40K,k=7,layout=one",
    "bloom:memory=40K,k=6,layout=line",
    "bloom:limit=20000,grow=2,fpr=0.01",
    "bloom:memory=8K,k=5,shards=4",
    "weighted:memory=40K,class_bits=12,shards=2",
    "weighted:memory=40K,class_bits=4:9:15,hot=100",
    "lru:memory=56K,print_bits=14,keep=recent",
    "lru:memory=56K,print_bits=20,keep=important",
    "lru:memory=56K,bucket=word,print_bits=11",
    "lru:memory=12K,print_bits=10,shards=4",
    "window:memory=100K,window=30000,mode=elastic,eras=6,print_bits=9,line=128,refresh=yes",
    "window:memory=80K,window=9000,mode=elastic,unit=time,items=20000,overload=shorten",
    "window:memory=80K,window=3000,mode=elastic,unit=time,items=20000,overload=degrade",
    "window:memory=140K,window=30000,mode=rotate,eras=2,print_bits=6,refresh=yes,shards=4",
    "window:memory=12K,window=900,mode=rotate,eras=4,print_bits=5,unit=time,items=9000",
    "choosy:memory=40K,k=6",
    "choosy:memory=40K,k=2,tolerance=-0.2,max_fill=0.7",
    "choosy:memory=12K,k=3,tolerance=1,retry=0.1",
    "choosy:memory=8K,k=5,tolerance=1.5,shards=4",
    "choosy:memory=40K,k=4,tolerance=0.4,distinct=1e5,fpr=0.1,order=any",
    "stable:memory=24K,k=4,width=1,fade=10",
    "stable:memory=20K,k=2,width=2,fade=3.5,delete=run",
    "stable:memory=20K,k=5,width=3,fade=90,delete=random",
    "stable:memory=8K,k=3,width=2,fade=12,shards=4",
    "importance:memory=20K,k=3,fade=40,policy=2c",
    "importance:memory=20K,k=3,fade=40,policy=2c,raise=printed",
    "importance:memory=20K,k=3,fade=40,policy=2c,raise=overwrite,delete=random",
    "importance:memory=20K,k=2,fade=5.5,policy=h,delete=random",
    "importance:memory=20K,k=2,fade=20,policy=hb,delete=random",
    "importance:memory=20K,k=4,fade=50,width=2,map=threshold,at=60,profile=5:3:1",
    "importance:memory=20K,k=3,fade=30,map=table,table=1:4:7,low=10,high=90,delete=run",
    "rsbf:memory=12K,k=3,rule=printed",
    "rsbf:memory=12K,k=2,rule=text,pstar=0.1",
    "rsbf:memory=16K,k=5,shards=4",
    "bsbf:memory=16K,k=1,shards=4",
    "bsbfsd:memory=40K,k=6",
    "rlbsbf:memory=40K,k=6",
    "spectral:memory=320K,k=1,store=u32",
    "spectral:memory=320K,k=5,store=u32,update=plain",
    "spectral:memory=320K,k=4,store=line,counter_bits=8",
    "spectral:memory=320K,k=4,store=sai,counter_bits=8,update=plain",
    "spectral:memory=320K,k=5,store=wide,update=plain",
    "spectral:memory=320K,k=2,store=wide,span=64",
    "spectral:memory=320K,k=4,store=u32,span=64",
    "spectral:memory=320K,k=4,store=line,counter_bits=9,update=plain,shards=4,span=256",
    "spectral_rm:memory=320K,k=4,method=rm,second=20000",
    "spectral_rm:memory=320K,k=3,method=rm+bf,second=30000",
    "spectral_rm:memory=320K,k=4,method=trm,second=20000",
    "spectral_rm:memory=320K,k=4,store=line,counter_bits=9,second=2000",
    "spectral_rm:memory=320K,k=4,store=sai,counter_bits=9,shards=4",
    "decay:memory=96K,k=3,halflife=300",
    "decay:memory=96K,k=4,halflife=1e6,update=plain",
    "decay:memory=96K,k=3,mode=basic,factor=0.5,period=2000,fraction=4",
    "decay:memory=96K,k=3,mode=optimised,factor=0.9,period=500,fraction=3",
    "decay:memory=96K,k=3,mode=optimised,factor=0.9,period=500,fraction=8",
    "decay:memory=96K,k=3,halflife=10000,update=conservative,shards=4",
    "aging:memory=800K,k=3,by=chordal,epochs=20,period=3000",
    "aging:memory=800K,k=3,by=polygonal,epochs=20,period=3000,heights=100:60:10",
    "aging:memory=800K,k=4,by=poly,power=1.5,epochs=64,period=500,detail=3",
    "aging:memory=800K,k=3,by=polyexp,power=1,factor=0.8,epochs=30,period=1000",
    "aging:memory=600K,k=3,by=window,epochs=3,period=40000,shards=4,update=conservative",
    "dyadic:memory=320K,bits=12,k=4,top=6,update=conservative",
    "dyadic:memory=320K,bits=32,k=4,span=64",
    "top:memory=256K,by=half,halflife=9000",
    "top:memory=256K,by=window,epochs=8,period=3000,shards=2",
    "top:memory=256K,by=poly,epochs=40,period=700,power=2",
    "top:memory=256K,by=chordal,epochs=12,period=2000",
    "top:memory=256K,by=polygonal,epochs=12,period=2000,heights=9:2",
};

static void say_prediction(const eb_prediction *p) {
    say_number("items", p->items);
    say_number("fpr", p->fpr);
    say_number("fnr", p->fnr);
    say_number("fill", p->fill);
    say_number("settles", p->settles_after);
    say_number("mean_fpr", p->mean_fpr);
    say_number("mean_fnr", p->mean_fnr);
    say_number("accuracy", p->accuracy);
    say_number("fpr_low", p->fpr_low);
    say_number("fpr_high", p->fpr_high);
    say_number("fnr_low", p->fnr_low);
    say_number("fnr_high", p->fnr_high);
    say_number("wrong", p->wrong);
    say_number("error", p->error);
    say_number("bound", p->error_bound);
    say_number("bits", p->bits);
    say_number("most_fpr", p->most_fpr);
    say(" unused=%u", (unsigned)p->unused);
}

static void say_stream(const eb_workload *w) {
    const double numbers[] = {w->items, w->distinct, w->zipf, w->gap, w->rate, w->value};
    static const char *const names[] = {"items", "distinct", "zipf", "gap", "rate", "value"};
    for (size_t i = 0; i < SUITE_COUNT(names); i++)
        if (numbers[i] > 0) say(" %s=%g", names[i], numbers[i]);
}

/* The spec without wishes: what follows from them is searched for once. */
static const char *settled(const char *spec) {
    static eb_spec_info info;
    eb_error err;
    EB_INIT(info);
    if (eb_spec_describe(spec, &info, &err) != EB_OK) fail_msg("%s: %s", spec, err.text);
    return info.canonical;
}

static void ask(const char *spec, const eb_workload *w, const char *canonical) {
    eb_prediction p = {.size = sizeof p};
    line_begins();
    say("%s", spec);
    say_stream(w);
    say(":");
    OK(eb_predict(canonical, w, NULL, 1, &p, NULL));
    say_prediction(&p);
    line_ends();
}

/* Points of a curve: some are asked for, the others put between. */
static void ask_curve(const char *spec, const eb_workload *w, const char *canonical) {
    enum { POINTS = 9 };
    double items[POINTS];
    eb_prediction p[POINTS] = {{.size = sizeof p[0]}};
    for (int i = 0; i < POINTS; i++) items[i] = floor(w->items * pow(0.6, POINTS - 1 - i));
    OK(eb_predict(canonical, w, items, POINTS, p, NULL));
    for (int i = 1; i < POINTS; i += 3) {
        line_begins();
        say("%s", spec);
        say_stream(w);
        say(" at %.0f:", items[i]);
        say_prediction(&p[i]);
        line_ends();
    }
}

/* What the planner asks while it searches. */
static void ask_roughly(const char *spec, const eb_workload *w, const char *canonical) {
    const ebi_kind *kind;
    ebi_params params;
    eb_prediction p;
    line_begins();
    say("roughly, %s", spec);
    say_stream(w);
    say(":");
    OK(ebi_spec_parse(canonical, &kind, &params, NULL));
    ebi_predict(kind, &params, w, EBI_ASK_ROUGH, &p);
    say_prediction(&p);
    line_ends();
}

static void predictions_are_as_they_were(void **state) {
    enum { STEP = 3 };
    (void)state;
    file_begins("predictions", 1e-6);
    for (size_t i = 0; i < SUITE_COUNT(common_specs); i++) {
        const char *const spec = common_specs[i], *const canonical = settled(spec);
        for (size_t j = 0; j < SUITE_COUNT(streams); j++) ask(spec, &streams[j], canonical);
        ask_curve(spec, &streams[2], canonical);
        ask_curve(spec, &streams[5], canonical);
        ask_roughly(spec, &streams[i % 2 ? 1 : 5], canonical);
    }
    for (size_t i = 0; i < SUITE_COUNT(other_specs); i++) {
        const char *const spec = other_specs[i], *const canonical = settled(spec);
        for (size_t j = i % STEP; j < SUITE_COUNT(streams); j += STEP)
            ask(spec, &streams[j], canonical);
    }
    file_ends();
}

/* Specs */

static void ask_spec(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void ask_spec(const char *format, ...) {
    char spec[EB_SPEC_MAX];
    eb_spec_info info;
    eb_error err = {.text = ""};
    va_list args;
    va_start(args, format);
    (void)vsnprintf(spec, sizeof spec, format, args);
    va_end(args);
    EB_INIT(info);
    const eb_status status = eb_spec_describe(spec, &info, &err);
    line_begins();
    say("%s: ", spec);
    if (status == EB_OK)
        say("%s snapshot=%.0f", info.canonical, (double)info.snapshot_bytes);
    else
        say("%s", err.text);
    line_ends();
}

static const char *const wishes[] = {
    "bloom:distinct=1e6,fpr=0.01",
    "bloom:distinct=30000,fpr=1e-6,layout=line",
    "bloom:distinct=30000,fpr=0.001,layout=one,shards=4",
    "bloom:memory=64K,distinct=30000",
    "bloom:memory=64K,distinct=90000,layout=line",
    "bloom:limit=1e5,fpr=0.001,grow=4",
    "bloom:limit=1e5,fpr=0.02,grow=2,layout=line,grown=3",
    "lru:remember=1e6",
    "lru:remember=5000,fpr=0.01,shards=2",
    "lru:remember=1e5,fpr=0.2,bucket=word",
    "lru:remember=3e4,keep=recent,print_bits=12",
    "window:window=1e6",
    "window:window=1e5,fpr=1e-6",
    "window:window=1e5,fpr=0.1,mode=rotate",
    "window:memory=1M,fpr=0.02",
    "window:memory=1M,fpr=0.02,refresh=yes",
    "window:memory=100K,fpr=0.2,mode=rotate,refresh=yes",
    "window:memory=1M,window=600,unit=time,fpr=0.003",
    "window:window=600,unit=time,items=70000,fpr=0.003,overload=shorten",
    "choosy:memory=100K,distinct=1e5",
    "choosy:memory=100K,distinct=1e5,fpr=0.02",
    "choosy:memory=100K,distinct=2e5,fpr=0.02,share=0.1",
    "choosy:memory=100K,distinct=1.5e5,fpr=0.05,order=any",
    "choosy:memory=100K,distinct=1.5e5,fpr=0.002,share=0.01,order=any,shards=2",
    "importance:memory=100K,gap=10000",
    "importance:memory=100K,gap=10000,fpr=0.05",
    "importance:memory=100K,fpr=0.02,policy=h,delete=random",
    "importance:memory=100K,fpr=0.02,policy=hb,delete=random,width=2",
    "importance:memory=100K,fpr=0.02,policy=2c,low=5,high=9",
    "importance:memory=100K,fpr=0.1,profile=9:3:1,map=threshold,at=80",
    "rsbf:memory=100K,fpr_balanced=0.01",
    "stable:memory=100K,fade=30,fpr=0.01",
    "stable:memory=100K,k=3,fpr=0.2,delete=random",
    "weighted:memory=100K,class_bits=3:9,hot=2000",
    "spectral:memory=1M,counter_bits=7.5,store=line",
    "spectral:memory=1M,counter_bits=12,store=sai,k=3",
    "spectral:memory=1M,store=line,span=128,shards=4",
    "spectral_rm:memory=1M,second_share=0.2",
    "spectral_rm:memory=1M,method=rm,second_share=0.3",
    "spectral_rm:memory=1M,method=trm",
    "decay:memory=1M,halflife=100,update=conservative",
    "decay:memory=1M,mode=optimised,factor=0.99,period=10,large=3000",
    "aging:memory=1M,by=poly,power=0.5,epochs=100",
    "aging:memory=1M,by=polygonal,heights=9:3,epochs=7",
    "dyadic:memory=1M,bits=64,span=32,shards=2",
    "dyadic:memory=1M,bits=24,top=9,k=3",
    "top:memory=1M,list=100K,key_bytes=40",
    "top:memory=1M,by=half,period=60,shards=4",
    "top:memory=1M,by=polyexp",
    "top:memory=4M,by=window,epochs=60,period=60",
};

static void specs_are_as_they_were(void **state) {
    static const char *const sizes[] = {"2K", "30K", "1M", "3G"};
    static const double rates[] = {0.3, 0.02, 1e-4, 1e-7};
    (void)state;
    file_begins("specs", 1e-6);
    for (size_t i = 0; i < ebi_registry_size; i++) {
        const ebi_kind *const kind = ebi_registry[i].kind;
        for (size_t j = 0; j < SUITE_COUNT(sizes); j++) {
            ask_spec("%s:memory=%s", kind->info.name, sizes[j]);
            if (ebi_spec_option(kind, "fpr") < EBI_OPTIONS_MAX)
                ask_spec("%s:memory=%s,fpr=%g", kind->info.name, sizes[j], rates[(i + j) % 4]);
        }
    }
    for (size_t i = 0; i < SUITE_COUNT(wishes); i++) ask_spec("%s", wishes[i]);
    for (int i = 2; i <= 26; i++) /* the rows of a window's table */
        for (int line = 64; line <= 128; line *= 2)
            ask_spec("window:window=50000,line=%d,fpr=%g", line, exp2(-i));
    file_ends();
}

/* Plans */

typedef struct goal {
    bool quick;
    eb_workload load;
    eb_goal want;
} goal;
#define GOAL(...)                                                                                  \
    { .size = sizeof(eb_goal), __VA_ARGS__ }
static const goal goals[] = {
    {true, STREAM(.distinct = 1e5), GOAL(.max_fpr = 0.01, .caps = EB_NO_FALSE_NEGATIVES)},
    {true, STREAM(.items = 1e6, .distinct = 1e5), GOAL(.max_fpr = 0.01, .max_fnr = 0.1)},
    {true, STREAM(.gap = 1e5), GOAL(.max_fpr = 0.001, .max_fnr = 0.01)},
    {true, STREAM(.gap = 3e4, .rate = 10), GOAL(.max_fpr = 0.07, .max_fnr = 0.05)},
    {true, STREAM(.rate = 100), GOAL(.max_fpr = 0.001, .window = 600)},
    {true, STREAM(.items = 1e6, .distinct = 2e5), GOAL(.max_fpr = 0.1, .window = 20000)},
    {true, STREAM(.items = 1e6, .distinct = 3e5),
     GOAL(.max_fpr = 0.05, .max_bytes = 1e5, .prefer = EB_FEWEST_MISSES)},
    {true, STREAM(.items = 1e6, .distinct = 3e5, .order = EB_ORDER_RECENT),
     GOAL(.max_fpr = 0.05, .max_bytes = 1e5, .prefer = EB_FEWEST_MISSES)},
    {true, STREAM(.gap = 1e5), GOAL(.max_fnr = 0.2, .max_bytes = 1e5, .prefer = EB_FEWEST_FALSE)},
    {false, STREAM(.items = 1e6, .distinct = 3e5, .order = EB_ORDER_SHUFFLED),
     GOAL(.max_fpr = 0.05, .max_bytes = 1e5, .prefer = EB_FEWEST_MISSES)},
    {false, STREAM(.items = 1e6, .distinct = 3e5, .zipf = 0.7, .order = EB_ORDER_SHUFFLED),
     GOAL(.max_fpr = 0.02, .max_bytes = 2e5, .prefer = EB_FEWEST_MISSES)},
    {false, STREAM(.items = 1e6, .distinct = 3e5, .order = EB_ORDER_SHUFFLED),
     GOAL(.max_fpr = 0.02, .max_fnr = 0.3)},
    {false, STREAM(.items = 1e6, .distinct = 3e5, .order = EB_ORDER_SHUFFLED),
     GOAL(.max_fnr = 0.3, .max_bytes = 2e5, .prefer = EB_FEWEST_FALSE)},
    {false, STREAM(.items = 1e6, .distinct = 3e5),
     GOAL(.max_fnr = 0.6, .max_bytes = 2e5, .prefer = EB_FEWEST_FALSE)},
    {false, STREAM(.items = 1e7, .distinct = 3e6, .zipf = 1.1),
     GOAL(.max_fpr = 0.01, .max_bytes = 1e6, .prefer = EB_FEWEST_MISSES)},
    {false, STREAM(.items = 3e6, .distinct = 552820, .order = EB_ORDER_SHUFFLED),
     GOAL(.max_fpr = 0.1, .max_bytes = 141312, .prefer = EB_FEWEST_MISSES, .all_kinds = 1)},
    {false, STREAM(.items = 1e6, .distinct = 3e5, .order = EB_ORDER_PASSES),
     GOAL(.max_fpr = 0.001, .max_bytes = 2e5, .prefer = EB_FEWEST_MISSES)},
    {false, STREAM(.gap = 20000), GOAL(.max_fpr = 0.01, .max_fnr = 0.1, .all_kinds = 1)},
    {false, STREAM(.items = 1e5, .distinct = 4e4),
     GOAL(.max_fpr = 0.01, .caps = EB_CAN_COUNT | EB_CAN_REMOVE | EB_NO_FALSE_NEGATIVES)},
    {false, STREAM(.distinct = 1e5), GOAL(.max_fpr = 0.01, .max_fnr = 0.01, .options = "shards=4")},
    {false, STREAM(.distinct = 1e6, .gap = 1e4),
     GOAL(.max_fpr = 0.001, .max_bytes = 1e5, .prefer = EB_FEWEST_MISSES, .options = "hash=sip")},
    {true, STREAM(.distinct = 1e6), GOAL(.max_fpr = 0.01, .max_fnr = 0.01, .max_bytes = 1e5)},
    {false, STREAM(.gap = 1e6), GOAL(.max_fpr = 1e-4, .max_fnr = 0.01, .max_bytes = 3e5)},
};

static void say_goal(const eb_goal *g) {
    const double numbers[] = {g->max_bytes, g->max_fpr, g->max_fnr, g->window, (double)g->caps};
    static const char *const names[] = {"bytes", "fpr", "fnr", "window", "caps"};
    for (size_t i = 0; i < SUITE_COUNT(names); i++)
        if (numbers[i] > 0) say(" %s=%g", names[i], numbers[i]);
    say(" order=%u prefer=%u%s%s", (unsigned)g->load->order, (unsigned)g->prefer,
        g->all_kinds ? " all_kinds " : " ", g->options ? g->options : "");
}

static void ask_plan(const goal *asked) {
    enum { OFFERS = 20 };
    eb_offer offers[OFFERS] = {{.size = sizeof offers[0]}};
    eb_error err;
    size_t n = 0;
    eb_goal want = asked->want;
    want.load = &asked->load;
    if (want.prefer == 0) want.prefer = EB_SMALLEST;
    const eb_status status = eb_plan(&want, offers, OFFERS, &n, &err);
    for (size_t i = 0; i == 0 || i < n; i++) {
        line_begins();
        say("plan");
        say_stream(&asked->load);
        say_goal(&want);
        say(", offer %zu: ", i + 1);
        if (status != EB_OK) {
            say("%s", err.text);
        } else {
            say("%s", offers[i].spec);
            say_number("bytes", offers[i].bytes);
            say_number("mean_fpr", offers[i].mean_fpr);
            say_number("mean_fnr", offers[i].mean_fnr);
            say_number("most_fpr", offers[i].most_fpr);
            say_number("most_fnr", offers[i].most_fnr);
            say_number("regret", offers[i].regret);
            say_number("lines", offers[i].lines);
            say_number("error", offers[i].error);
        }
        line_ends();
    }
}

/* Sizes are found to 1 % by steps that depend on all digits. */
static void plans_are_as_they_were(void **state) {
    (void)state;
    file_begins("plans", 1e-3);
    for (size_t i = 0; i < SUITE_COUNT(goals); i++)
        if (writing || goals[i].quick || !suite_quick()) ask_plan(&goals[i]);
    file_ends();
}

/* Answers from cells */

static void say_stats(const eb_filter *f) {
    eb_stats s;
    EB_INIT(s);
    OK(eb_stat(f, EB_STAT_CELLS, &s, NULL));
    say_number("adds", (double)s.adds);
    say_number("new_keys", (double)s.new_keys);
    say_number("clock", (double)s.clock);
    say_number("capacity", (double)s.capacity);
    say_number("parts", (double)s.parts);
    say_number("halflife", s.halflife);
    say_number("rate_time", s.rate_time);
    say_number("too_low", s.too_low);
    say_number("too_high", s.too_high);
    say_number("cells", (double)s.cells);
    say_number("cells_used", (double)s.cells_used);
    say_number("saturated", (double)s.saturated);
    say_number("fill", s.fill);
    say_number("fpr", s.fpr);
    say_number("window", s.window);
    say_number("faded", eb_faded(f, 1000));
}

static void ask_stats(const char *spec) {
    enum { KEYS = 8000 };
    eb_filter *const f = suite_filled(spec, KEYS, 1);
    line_begins();
    say("stat of %s:", spec);
    say_stats(f);
    line_ends();
    eb_free(f);
}

/* Filters of two skewed streams, with some keys in common. */
enum { ANSWER_KEYS = 6000, ANSWER_ASKED = 40 };
static eb_filter *skewed(const char *spec, uint64_t first) {
    eb_filter *const f = suite_new(spec);
    for (uint64_t i = 0; i < ANSWER_KEYS; i++) {
        const eb_hash h = suite_key(f, ebi_mix(first + i));
        const uint64_t count = 1 + ANSWER_KEYS / (i + 1) / 4;
        const eb_batch one = A_BATCH(1, &h, &count, NULL);
        OK(eb_add_batch(f, &one, NULL));
    }
    return f;
}

static void ask_estimates(const char *spec, const eb_filter *f, const eb_batch *keys) {
    eb_estimate e[ANSWER_ASKED] = {{.size = sizeof e[0]}};
    if (eb_estimate_batch(f, keys, e, NULL) != EB_OK) return;
    for (size_t i = 0; i < ANSWER_ASKED; i += 8) {
        line_begins();
        say("key %zu in %s:", i, spec);
        say_number("count", e[i].count);
        say_number("lower", e[i].lower);
        say_number("upper", e[i].upper);
        say_number("confidence", e[i].confidence);
        say_number("single", e[i].single);
        line_ends();
    }
}

static void ask_sums(const char *spec, const eb_filter *f, const eb_filter *g,
                     const eb_batch *keys) {
    eb_sum sum;
    eb_join join;
    eb_moments moments;
    eb_average average;
    eb_hash drawn[2][ANSWER_ASKED * ANSWER_ASKED];
    const size_t n = SUITE_COUNT(drawn[0]);
    EB_INIT(sum), EB_INIT(join), EB_INIT(moments), EB_INIT(average);
    if (eb_sum_batch(f, keys, &sum, NULL) != EB_OK) return;
    for (size_t i = 0; i < n; i++) { /* some keys often */
        drawn[0][i] = suite_key(f, ebi_mix(i % 7 ? i : i % 100));
        drawn[1][i] = suite_key(g, ebi_mix(300 + (i % 3 ? i * 3 : i % 50)));
    }
    const eb_join_samples samples = {drawn[0], drawn[1], n, n, n / 4};
    line_begins();
    say("sums of %s:", spec);
    say_number("sum", sum.sum);
    say_number("error", sum.error);
    say_number("median", sum.median);
    say_number("upper", sum.upper);
    if (eb_join_size(f, g, &join, NULL) == EB_OK) {
        say_number("join", join.join);
        say_number("join_error", join.error);
        say_number("join_upper", join.upper);
    }
    if (eb_join_sampled(f, g, &samples, &join, NULL) == EB_OK) {
        say_number("sampled", join.join);
        say_number("sampled_error", join.error);
    }
    if (eb_moments_of(f, &moments, NULL) == EB_OK) {
        say_number("f1", moments.f1);
        say_number("f2", moments.f2);
        say_number("f2_error", moments.f2_error);
    }
    if (eb_average_batch(f, g, keys, &average, NULL) == EB_OK) {
        say_number("average", average.average);
        say_number("average_lower", average.lower);
        say_number("average_upper", average.upper);
    }
    line_ends();
}

static void ask_lengths(const char *spec, const eb_filter *f) {
    eb_lengths l;
    EB_INIT(l);
    if (eb_lengths_of(f, &l, NULL) != EB_OK) return;
    line_begins();
    say("lengths in %s: bits=%.9g", spec, l.bits);
    for (size_t i = 0; i < SUITE_COUNT(l.counters); i++) say(" %.0f", (double)l.counters[i]);
    line_ends();
}

static const char *const crowded[] = {
    "spectral:memory=48K,store=u32,update=plain,k=3",
    "spectral:memory=48K,store=u32,k=3,span=64",
    "spectral:memory=24K,store=line,update=plain,k=4,counter_bits=9",
    "spectral:memory=24K,store=sai,update=plain,k=5,counter_bits=9,shards=2",
    "spectral:memory=12K,store=wide,update=plain,k=4",
    "spectral:memory=24K,store=wide,update=plain,k=5,shards=2",
    "spectral:memory=12K,store=wide,k=5",
    "spectral_rm:memory=90K,k=4",
    "spectral_rm:memory=64K,k=4,method=rm",
    "spectral_rm:memory=64K,k=4,method=trm",
};
static void ask_counts(const char *spec) {
    eb_filter *const f = skewed(spec, 0), *const g = skewed(spec, ANSWER_KEYS / 20);
    eb_hash hash[ANSWER_ASKED];
    for (uint64_t i = 0; i < ANSWER_ASKED; i++) hash[i] = suite_key(f, ebi_mix(i * i * 4));
    ask_estimates(spec, f, SUITE_KEYS(hash, ANSWER_ASKED));
    ask_sums(spec, f, g, SUITE_KEYS(hash, ANSWER_ASKED));
    ask_lengths(spec, f);
    eb_free(f);
    eb_free(g);
}

static void ask_ranges(const char *spec) {
    eb_filter *const f = skewed(spec, 0);
    static const uint64_t to[] = {0, 77, 5000, 900000, (1 << 20) - 1};
    for (size_t i = 0; i < SUITE_COUNT(to); i++) {
        eb_range r;
        eb_quantile q;
        EB_INIT(r), EB_INIT(q);
        OK(eb_range_count(f, to[i] / 3, to[i], &r, NULL));
        OK(eb_range_quantile(f, (double)i / 4, &q, NULL));
        line_begins();
        say("range %.0f to %.0f in %s: lower=%.0f upper=%.0f probes=%.0f quantile=%.0f %.0f %.0f",
            (double)(to[i] / 3), (double)to[i], spec, r.lower, r.upper, (double)r.probes,
            (double)q.value, (double)q.lower, (double)q.upper);
        line_ends();
    }
    eb_free(f);
}

static void ask_weigh(double bits, unsigned rule) {
    static const eb_class classes[] = {{1e6, 1000, 5e5}, {1e5, 20000, 1e4}, {3e4, 9000, 10}};
    uint8_t k[SUITE_COUNT(classes)];
    double fpr, plain;
    OK(eb_weigh(classes, SUITE_COUNT(classes), bits, rule, k, &fpr, &plain, NULL));
    line_begins();
    say("classes in %.0f bits by rule %u: %u %u %u", bits, rule, k[0], k[1], k[2]);
    say_number("fpr", fpr);
    say_number("plain", plain);
    line_ends();
}

static void answers_are_as_they_were(void **state) {
    (void)state;
    file_begins("answers", 1e-6);
    for (size_t i = 0; i < SUITE_COUNT(common_specs); i++) ask_stats(common_specs[i]);
    for (size_t i = 0; i < SUITE_COUNT(other_specs); i++) ask_stats(other_specs[i]);
    for (size_t i = 0; i < SUITE_COUNT(crowded); i++) ask_counts(crowded[i]);
    ask_ranges("dyadic:memory=64K,bits=20,top=3");
    ask_ranges("dyadic:memory=300K,bits=20,k=3,span=64,update=conservative");
    for (unsigned i = 0; i < 8; i++) ask_weigh(3e4 * pow(3, i / 2), i % 2);
    for (unsigned k = 1; k <= 8; k++) {
        line_begins();
        say("wrong counts with k=%u:", k);
        for (double keys = 100; keys < 1e6; keys *= 7)
            say(" %.9g", eb_count_error_rate(50000, k, keys));
        line_ends();
    }
    file_ends();
}

/* Every kind is asked about, with each choice that its options have. */
static bool is_among(const char *const *specs, size_t n, const char *kind, const char *option) {
    const size_t len = strlen(kind);
    for (size_t i = 0; i < n; i++)
        if (strncmp(specs[i], kind, len) == 0 && specs[i][len] == ':' && strstr(specs[i], option))
            return true;
    return false;
}

static bool is_asked(const char *kind, const char *option) {
    return is_among(common_specs, SUITE_COUNT(common_specs), kind, option) ||
           is_among(other_specs, SUITE_COUNT(other_specs), kind, option) ||
           is_among(wishes, SUITE_COUNT(wishes), kind, option);
}

static void each_choice_is_asked_about(void **state) {
    (void)state;
    for (size_t i = 0; i < ebi_registry_size; i++) {
        const eb_kind_info *const info = &ebi_registry[i].kind->info;
        for (const eb_option *o = info->options; o->key; o++) {
            const char *choice = strchr(o->type, '|') ? o->type : "";
            for (; *choice; choice += strcspn(choice, "|"), choice += *choice == '|') {
                char option[100];
                const bool dflt = o->dflt && strncmp(choice, o->dflt, strlen(o->dflt)) == 0;
                (void)snprintf(option, sizeof option, "%s=%.*s", o->key, (int)strcspn(choice, "|"),
                               choice);
                suite_at("%s: no line with %s", info->name, option);
                const bool plain = o - info->options < EBI_O_OWN || strcmp(o->key, "values") == 0 ||
                                   strcmp(o->key, "frozen") == 0;
                HOLDS(dflt || plain || is_asked(info->name, option));
            }
        }
        HOLDS(is_asked(info->name, ""));
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_as_they_were), cmocka_unit_test(specs_are_as_they_were),
        cmocka_unit_test(plans_are_as_they_were),       cmocka_unit_test(answers_are_as_they_were),
        cmocka_unit_test(each_choice_is_asked_about),
    };
    writing = argc == 2 && strcmp(argv[1], "--write") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
