/* cmd_plan.c - plan: a question in, the filter that answers it out. */
#include "cli.h"
#include "parts/filterfile.h"
#include "parts/question.h"
#include <string.h>

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
    question q = {
        .items = set->items,
        .distinct = set->distinct,
        .gap = set->gap,
        .window = set->window.lines,
        .window_seconds = set->window.seconds,
        .rate = set->rate,
        .zipf = set->zipf,
        .memory = set->memory ? size_in_bytes(c, "-m", set->memory) : 0,
        .max_fpr = set->max_fpr,
        .max_fnr = set->max_fnr,
        .order = plan_choice(set->order, (const char *const[]){"shuffled", "recent"}),
        .fpr_is = plan_choice(set->fpr_is, (const char *const[]){"mean", "end", "worst"}),
        .endless = set->endless,
        .all_kinds = set->all_kinds,
    };
    for (size_t i = 0; i < set->needs.n; i++) q.needs |= plan_need(c, set->needs.text[i]);
    return q;
}

static void plan_table(const settings *set, const answer *a) {
    printf("\n%-12s %10s %10s %10s %10s %5s  %s\n", "kind", "bytes", "fpr", "fnr", "worst fnr",
           "lines", set->explain ? "why" : "filter");
    for (size_t i = 0; i < a->n; i++) {
        const eb_offer *const o = &a->offers[i];
        char bytes[32], spec[EB_SPEC_MAX], why[160], fpr[32], fnr[32], worst[32];
        answer_short(o->spec, spec);
        printf("%-12s %10s %10s %10s %10s %5.0f  %s\n", o->kind->name, human_bytes(bytes, o->bytes),
               human_number(fpr, o->mean_fpr), human_number(fnr, o->mean_fnr),
               human_number(worst, o->most_fnr), o->lines,
               set->explain ? answer_why(a, i, why) : spec);
    }
}

/* Kinds that make no offer, and the first reason. */
static void plan_explain(const settings *set, const answer *a) {
    size_t n;
    const eb_kind_info *const *const kinds = eb_kinds(&n);
    puts("\nNo offer:");
    for (size_t i = 0; i < n; i++) {
        bool offers = false;
        for (size_t j = 0; j < a->n; j++) offers |= a->offers[j].kind == kinds[i];
        if (offers) continue;
        const uint64_t caps = kinds[i]->caps, lacks = a->goal.caps & ~caps;
        const char *why = "it does not keep the bounds on this stream";
        if (lacks & EB_NO_FALSE_NEGATIVES)
            why = "it forgets keys";
        else if (lacks)
            why = "it cannot do what --need asks for";
        else if (!kinds[i]->question && !set->all_kinds)
            why = "kept as published: ask with --all-kinds";
        else if ((caps & EB_CAN_COUNT) && !(a->goal.caps & EB_CAN_COUNT))
            why = "it counts, which takes memory: ask with --need count";
        printf("%-12s %s\n", kinds[i]->name, why);
    }
    if (a->load.order != EB_ORDER_SHUFFLED && !(a->load.gap > 0))
        puts("\nThe order of the lines is not told: fpr holds in any order, fnr is for a shuffled "
             "stream, and\nrepeats at gaps of 0.1, 1, 10 and 30 % of the distinct keys were "
             "weighed, "
             "too. See --order.");
}

int run_plan(const cli_command *c, const settings *set, char **operands, size_t n) {
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
        plan_table(set, &a);
        if (set->explain) plan_explain(set, &a);
    }
    finish_stdout();
    return STATUS_YES;
}
