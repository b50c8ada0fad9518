/* cmd_plan.c - plan: a question in, the filter that answers it out. */
#include "options/options.h"
#include "parts/filterfile.h"
#include "parts/question.h"
#include <string.h>

typedef struct plan_own {          /* options of its own */
    double max_fpr, max_fnr, rate; /* 0: not given */
    const char *fpr_is;            /* NULL: not given */
    texts needs;
    bool endless, explain, all_kinds;
} plan_own;

/* One of the words, from 1; 0: none was given. */
static uint32_t plan_choice(const char *word, const char *const *words) {
    uint32_t i = 0;
    while (word && strcmp(words[i++], word) != 0) {
    }
    return i;
}

static uint32_t plan_need(const cli_command *c, const char *word) {
    const char *one;
    for (uint32_t i = 0; (one = question_need(i)); i++)
        if (strcmp(one, word) == 0) return 1U << i;
    cli_misuse(c, "--need must be count, remove, merge, importance, time or growth, not \"%s\"",
               word);
}

static question plan_read(const cli_command *c, const settings *set) {
    const plan_own *const own = set->own;
    question q = {
        .items = set->items,
        .distinct = set->distinct,
        .gap = set->gap,
        .window = set->window.lines,
        .window_seconds = set->window.seconds,
        .rate = own->rate,
        .zipf = set->zipf,
        .memory = set->memory ? size_in_bytes(c, "-m", set->memory) : 0,
        .max_fpr = own->max_fpr,
        .max_fnr = own->max_fnr,
        .order = plan_choice(set->order, (const char *const[]){"shuffled", "recent", "passes"}),
        .fpr_is = plan_choice(own->fpr_is, (const char *const[]){"mean", "end", "worst"}),
        .endless = own->endless,
        .all_kinds = own->all_kinds,
    };
    for (size_t i = 0; i < own->needs.n; i++) q.needs |= plan_need(c, own->needs.text[i]);
    return q;
}

static void plan_table(const plan_own *own, const answer *a) {
    printf("\n%-12s %10s %10s %10s %10s %5s  %s\n", "kind", "bytes", "fpr", "fnr", "worst fnr",
           "lines", own->explain ? "why" : "filter");
    for (size_t i = 0; i < a->n; i++) {
        const eb_offer *const o = &a->offers[i];
        char bytes[32], spec[EB_SPEC_MAX], why[160], fpr[32], fnr[32], worst[32];
        answer_short(o->spec, spec);
        printf("%-12s %10s %10s %10s %10s %5.0f  %s\n", o->kind->name, human_bytes(bytes, o->bytes),
               human_number(fpr, o->mean_fpr), human_number(fnr, o->mean_fnr),
               human_number(worst, o->most_fnr), o->lines,
               own->explain ? answer_why(a, i, why) : spec);
    }
}

/* The first reason why a kind makes no offer. */
static const char *plan_why_not(const plan_own *own, const answer *a, const eb_kind_info *kind) {
    const uint64_t wanted = a->goal.caps, lacks = wanted & ~kind->caps,
                   extra = kind->caps & ~wanted;
    const bool window = strcmp(kind->name, "window") == 0;
    if (lacks & EB_NO_FALSE_NEGATIVES) return "it forgets keys";
    if (lacks) return "it cannot do what --need asks for";
    if (!kind->question && !own->all_kinds) return "kept as published: ask with --all-kinds";
    if (extra & EB_KEYS_ARE_NUMBERS) return "it is for numbers in a range: see 'everbloom range'";
    if (extra & EB_CAN_COUNT) return "it counts, which takes memory: ask with --need count";
    if (a->goal.window > 0 && !window) return "it guarantees no window";
    if ((extra & EB_USES_VALUE) && !(kind->caps & EB_FORGETS) && !own->all_kinds)
        return "it needs a class for each key: see 'everbloom weigh'";
    if (window && !(a->goal.window > 0) && !(a->load.gap > 0))
        return "it needs to know how long the window is: --window or --gap";
    return "it does not keep the bounds on this stream";
}

static void plan_explain(const plan_own *own, const answer *a) {
    const bool stream = a->load.items > a->load.distinct && !(a->goal.window > 0);
    size_t n;
    const eb_kind_info *const *const kinds = eb_kinds(&n);
    puts("\nNo offer:");
    for (size_t i = 0; i < n; i++) {
        bool offers = false;
        for (size_t j = 0; j < a->n; j++) offers |= a->offers[j].kind == kinds[i];
        if (!offers) printf("%-12s %s\n", kinds[i]->name, plan_why_not(own, a, kinds[i]));
    }
    if (stream && a->load.order == EB_ORDER_UNKNOWN && !(a->load.gap > 0))
        puts("\nThe order of the lines is not told: fpr holds in any order, fnr is for a shuffled "
             "stream, and\nrepeats at gaps of 0.1, 1, 10 and 30 % of the distinct keys were "
             "weighed, too. See --order.");
}

static int run_plan(const cli_command *c, const settings *set, char **operands, size_t n) {
    const plan_own *const own = set->own;
    static answer a;
    char text[2 * EB_SPEC_MAX];
    (void)operands, (void)n;
    const question q = plan_read(c, set);
    if (!question_ask(&a, &q)) {
        if (a.misused) cli_misuse(c, "%s", a.err.text);
        cli_fail("%s", a.err.text);
    }
    if (set->json) {
        answer_json(&a, stdout);
    } else {
        answer_sentence(&a, text, sizeof text);
        puts(text);
        answer_command(&a, &a.offers[0], text, sizeof text);
        printf("\n  %s\n", text);
        plan_table(own, &a);
        if (own->explain) plan_explain(own, &a);
    }
    finish_stdout();
    return STATUS_YES;
}

/* ---- Options and help. */
#define OWN plan_own

static const cli_option plan_options[] = {
    HEADING("The stream"),
    OPTION(0, "items", "COUNT", OPT_COUNT, items,
           "Lines in the stream, repeats included, such as 1e9 or 10M. (default: each key once)"),
    OPTION(0, "distinct", "COUNT", OPT_COUNT, distinct,
           "Distinct keys among them. (default: the answer says how many fit)"),
    OWN_FLAG(0, "endless", endless,
             "The stream never ends; the answer says how far back the filter can remember."),
    OPTION(0, "gap", "COUNT", OPT_COUNT, gap,
           "A repeat comes at most COUNT distinct keys after the key itself."),
    OPTION(0, "window", "LENGTH", OPT_LENGTH, window,
           "Every repeat within LENGTH must be found: a number of lines such as 1e6, or a time "
           "such as 10m, with --rate."),
    OWN_OPTION(0, "rate", "COUNT", OPT_COUNT, rate, "Lines per second."),
    OPTION(0, "zipf", "SKEW", OPT_REAL, zipf,
           "Skew of the keys' frequencies; 0: uniform. 'everbloom try' measures it."),
    CHOICE("order", "ORDER", "shuffled|recent|passes", order,
           REPEATS_OCCUR "(default: unknown; the figures are for the worst of several orders)"),
    HEADING("What is wanted"),
    OPTION('m', "memory", "SIZE", OPT_WORD, memory,
           "The most memory to use, such as 500K, 64M or 2G. (default: the least that suffices)"),
    OWN_OPTION(0, "max-fpr", "SHARE", OPT_SHARE, max_fpr,
               "At most this share of the new lines, or of the keys that were not added, may be "
               "taken for known ones, such as 1e-6 or 0.1%. (default: as few as possible)"),
    OWN_CHOICE(
        "fpr-is", "WHICH", "mean|end|worst", fpr_is,
        "What --max-fpr limits: the mean over the stream, the rate at its end, or the mean over "
        "the stream in the worst order. (default: end without --items, that is, for a set that is "
        "filled first and queried later; mean with --order or --gap; else worst)"),
    OWN_OPTION(0, "max-fnr", "SHARE", OPT_SHARE, max_fnr,
               "At most this share of the repeats may be missed. (default: none with --distinct "
               "and no -m; 1% with --gap and no -m; else as few as possible)"),
    OWN_OPTION(0, "need", "WHAT", OPT_TEXTS, needs,
               "What the filter must be able to do: count, remove, merge, importance, time or "
               "growth. May be given several times."),
    OWN_FLAG(0, "all-kinds", all_kinds, "Also consider the kinds that are kept as published."),
    HEADING("What is printed"),
    OWN_FLAG(0, "explain", explain,
             "Explain why the other kinds lost, and which kinds make no offer."),
    FLAG(0, "json", json, "One JSON object."),
    END};

static const cli_example plan_examples[] = {
    {"everbloom plan --distinct 1e9 --max-fpr 0.1%",
     "How much memory do a billion keys need at 0.1 %?"},
    {"everbloom plan -m 64M --items 1e9 --distinct 3e8 --max-fpr 1e-4",
     "Drop repeats in 64 MiB: what is lost, and what passes?"},
    {"everbloom plan -m 64M --max-fpr 1e-6 --endless", "How far back can 64 MiB remember?"},
    {"everbloom plan --window 10m --rate 5000 --max-fpr 1e-5",
     "Memory for the lines of the last ten minutes."},
    {NULL, NULL}};

static const char plan_text[] =
    "Say what you know about the stream and what you want. What you leave out is the answer: the "
    "memory, the rates, the number of keys, or how far back repeats are found. Prints one sentence "
    "with the filter to use and what to expect, in lines; the command to run; and a table of all "
    "kinds that can do it.\n\n"
    "Without --order or --gap, the figures are for the worst of several orders. If no filter can "
    "do it, the message says what is possible, and how much memory any structure would need.";

const cli_command command_plan = {.own = sizeof(OWN),
                                  .name = "plan",
                                  .operands = "",
                                  .summary = "choose a filter, and say what to expect from it",
                                  .text = plan_text,
                                  .options = plan_options,
                                  .examples = plan_examples,
                                  .max_operands = 0,
                                  .run = run_plan};
