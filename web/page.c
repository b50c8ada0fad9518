/* page.c - what the page asks beyond the package: the questions of `everbloom plan`, answered with
 * its sentences, and rates over memory. */
#include "cli.h"
#include "parts/question.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAGE(name) __attribute__((export_name(#name)))

static answer page_answer;
static char *page_text;

typedef struct page_question { /* as page.mjs writes it: doubles */
    double items, distinct, gap, window, window_seconds, rate, zipf, memory, max_fpr, max_fnr;
    double order, fpr_is, needs, endless, all_kinds;
} page_question;

/* JSON: the answer as `plan --json` prints it, or {"error": a sentence}. */
PAGE(page_ask) const char *page_ask(const page_question *p) {
    const question q = {.items = p->items,
                        .distinct = p->distinct,
                        .gap = p->gap,
                        .window = p->window,
                        .window_seconds = p->window_seconds,
                        .rate = p->rate,
                        .zipf = p->zipf,
                        .memory = p->memory,
                        .max_fpr = p->max_fpr,
                        .max_fnr = p->max_fnr,
                        .order = (uint32_t)p->order,
                        .fpr_is = (uint32_t)p->fpr_is,
                        .needs = (uint32_t)p->needs,
                        .endless = p->endless > 0,
                        .all_kinds = p->all_kinds > 0};
    size_t length;
    free(page_text);
    page_text = NULL;
    FILE *const to = open_memstream(&page_text, &length);
    if (!to) return NULL;
    if (question_ask(&page_answer, &q)) {
        answer_json(&page_answer, to);
    } else {
        fputs("{\"error\":", to);
        json_string(to, page_answer.err.text);
        fputs("}", to);
    }
    return fclose(to) == 0 ? page_text : NULL;
}

/* The goal with another memory: what is bounded stays so, what is not is as low as can be. */
static eb_goal page_goal(double bytes) {
    eb_goal g = page_answer.goal;
    const bool remembers = (g.caps & EB_NO_FALSE_NEGATIVES) || g.window > 0;
    g.max_bytes = bytes;
    g.prefer = remembers || !(g.max_fpr > 0) ? EB_FEWEST_FALSE : EB_FEWEST_MISSES;
    *(g.prefer == EB_FEWEST_FALSE ? &g.max_fpr : &g.max_fnr) = 0;
    return g;
}

/* Rates, as the answer means them, of the best filter of that kind in so many bytes; NAN: there is
 * none. */
PAGE(page_at_memory) void page_at_memory(const char *kind, double bytes, double out[2]) {
    static eb_offer offers[QUESTION_OFFERS];
    const eb_goal g = page_goal(bytes);
    size_t n = 0;
    out[0] = out[1] = NAN;
    EB_INIT(offers[0]);
    if (eb_plan(&g, offers, QUESTION_OFFERS, &n, NULL) != EB_OK) return;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(offers[i].kind->name, kind) != 0) continue;
        out[0] = offers[i].most_fpr;
        out[1] = offers[i].most_fnr;
    }
}

/* The stream that the answer is about, as the package's predict() takes it. */
PAGE(page_load) void page_load(double out[7]) {
    const eb_workload *const w = &page_answer.load;
    const double all[] = {w->items, w->distinct, w->zipf,         w->gap,
                          w->rate,  w->value,    (double)w->order};
    memcpy(out, all, sizeof all);
}
