/* cmd_plan.c - plan: a question in, the filter that answers it out.
 *
 * Whatever of memory, number of keys, gap, and rates is not told is what is looked for.  The
 * library makes the offers (eb_plan); here a number of keys or a gap is found by halving, rates
 * become lines, and the offers a sentence, a command and a table. */
#include "cli.h"
#include "parts/filterfile.h"
#include "parts/window.h"
#include <math.h>
#include <string.h>

enum { PLAN_OFFERS = 24 };

typedef struct plan {
    const cli_command *c;
    const settings *set;
    eb_workload load;
    eb_goal goal;
    char options[64];
    eb_offer offers[PLAN_OFFERS];
    size_t n;
    eb_error err;
    const char *found; /* what was not told: "memory", "distinct", ... */
} plan;

/* ---- The question. */

static const struct plan_need {
    const char *word;
    uint64_t caps;
    const char *options;
} plan_needs[] = {
    {"count", EB_CAN_COUNT, NULL}, {"remove", EB_CAN_COUNT | EB_CAN_REMOVE, NULL},
    {"merge", EB_CAN_MERGE, NULL}, {"importance", EB_USES_VALUE, NULL},
    {"time", EB_USES_TIME, NULL},  {"growth", EB_NO_FALSE_NEGATIVES, "grow=2"},
};
#define PLAN_NEEDS "count, remove, merge, importance, time or growth"

static void plan_add_need(plan *p, const char *word) {
    for (size_t i = 0; i < sizeof plan_needs / sizeof *plan_needs; i++) {
        if (strcmp(plan_needs[i].word, word) != 0) continue;
        p->goal.caps |= plan_needs[i].caps;
        if (plan_needs[i].options) p->goal.options = plan_needs[i].options;
        return;
    }
    cli_misuse(p->c, "--need must be " PLAN_NEEDS ", not \"%s\"", word);
}

static void plan_read_needs(plan *p) {
    for (size_t i = 0; i < p->set->needs.n; i++) plan_add_need(p, p->set->needs.text[i]);
    if (p->goal.options && strcmp(p->goal.options, "grow=2") == 0) {
        snprintf(p->options, sizeof p->options, "limit=%.0f,grow=2", fmax(1, p->set->distinct));
        p->goal.options = p->options;
    }
    /* lru weighs importance inside: its caps say nothing of values unless asked to */
    if (p->goal.caps & EB_USES_VALUE && !(p->goal.caps & EB_CAN_COUNT)) {
        p->goal.caps &= ~(uint64_t)EB_USES_VALUE;
        p->goal.options = "keep=important";
    }
}

static void plan_check(const plan *p) {
    const settings *const set = p->set;
    if (set->items > 0 && set->distinct > set->items)
        cli_misuse(p->c, "--distinct must not be more than --items");
    if (set->endless && (set->items > 0 || set->distinct > 0))
        cli_misuse(p->c, "--endless is without --items and --distinct: give --gap or --window");
    if (set->gap > 0 && stretch_is_given(set->window))
        cli_misuse(p->c, "--gap and --window: give one of them");
    if (set->window.seconds > 0 && !(set->rate > 0))
        cli_misuse(p->c, "a --window of time needs --rate, the lines in a second");
    if (set->fpr_is && !(set->max_fpr > 0)) cli_misuse(p->c, "--fpr-is needs --max-fpr");
}

static void plan_open(plan *p, const cli_command *c, const settings *set) {
    *p = (plan){.c = c, .set = set};
    EB_INIT(p->load);
    EB_INIT(p->goal);
    plan_check(p);
    p->load.items = set->items;
    p->load.distinct = set->distinct > 0 ? set->distinct : set->items;
    if (!(set->items > 0)) p->load.items = set->distinct; /* each of them once */
    p->load.zipf = set->zipf;
    p->load.gap = set->gap;
    if (set->order)
        p->load.order = strcmp(set->order, "recent") == 0 ? EB_ORDER_RECENT : EB_ORDER_SHUFFLED;
    if (set->zipf > 0 && !set->order) p->load.order = EB_ORDER_SHUFFLED;
    if (set->fpr_is && strcmp(set->fpr_is, "worst") == 0) p->load.order = EB_ORDER_UNKNOWN;
    p->goal.load = &p->load;
    p->goal.max_fpr = set->max_fpr;
    p->goal.max_fnr = set->max_fnr;
    p->goal.max_bytes = set->memory ? size_in_bytes(c, "-m", set->memory) : 0;
    p->goal.all_kinds = set->all_kinds;
    p->goal.window = set->window.lines > 0 ? set->window.lines : set->window.seconds * 1000;
    if (set->window.seconds > 0) p->load.rate = set->rate / 1000;
    plan_read_needs(p);
}

/* ---- What is looked for. */

static bool plan_ask(plan *p) {
    EB_INIT(p->offers[0]);
    p->n = 0;
    return eb_plan(&p->goal, p->offers, PLAN_OFFERS, &p->n, &p->err) == EB_OK;
}

/* The most distinct keys, or the longest gap, with which the bounds are kept. */
static bool plan_most(plan *p, double *number, double *with) {
    double low = 16, high = 1e14;
    *number = low;
    if (with) *with = low;
    if (!plan_ask(p)) return false;
    while (high / low > 1.01) {
        *number = high / low > 1e3 ? low * 10 : sqrt(low * high);
        if (with) *with = *number;
        if (plan_ask(p))
            low = *number;
        else
            high = *number;
    }
    *number = low;
    if (with) *with = low;
    return plan_ask(p);
}

/* A bound on the rate at the end: a tighter one on the mean. */
static bool plan_at_end(plan *p) {
    const double wish = p->goal.max_fpr;
    for (int i = 0; i < 8; i++) {
        eb_prediction r = {.size = sizeof r};
        if (!plan_ask(p)) return false;
        if (eb_predict(p->offers[0].spec, &p->load, NULL, 1, &r, &p->err) != EB_OK) return false;
        if (!(r.fpr > wish * 1.001)) return true;
        p->goal.max_fpr *= fmin(0.9, wish / r.fpr);
    }
    return false;
}

static bool plan_solve(plan *p) {
    const bool known = p->load.distinct > 0 || p->load.gap > 0 || p->goal.window > 0;
    const bool remembers = p->load.gap > 0 || p->goal.window > 0 || p->set->endless;
    if (!(p->goal.max_bytes > 0)) {
        p->found = "memory";
        p->goal.prefer = EB_SMALLEST;
        if (!(p->goal.max_fpr > 0)) cli_misuse(p->c, "plan needs -m or --max-fpr");
        if (!known) cli_misuse(p->c, "how many keys? plan needs --distinct, --gap, --window or -m");
        if (!(p->goal.max_fnr > 0) && p->load.gap > 0) p->goal.max_fnr = 0.01;
        if (!(p->goal.max_fnr > 0) && !remembers) p->goal.caps |= EB_NO_FALSE_NEGATIVES;
    } else if (!known) {
        if (!(p->goal.max_fpr > 0)) cli_misuse(p->c, "plan needs --distinct or --max-fpr");
        p->goal.prefer = EB_FEWEST_MISSES;
        if (p->set->endless) {
            p->found = "gap";
            if (!(p->goal.max_fnr > 0)) p->goal.max_fnr = 0.01;
            return plan_most(p, &p->load.gap, NULL);
        }
        p->found = "distinct";
        if (!(p->goal.max_fnr > 0)) p->goal.caps |= EB_NO_FALSE_NEGATIVES;
        return plan_most(p, &p->load.distinct, &p->load.items);
    } else if (p->goal.max_fpr > 0) {
        p->found = p->goal.max_fnr > 0 ? "nothing" : "max_fnr";
        p->goal.prefer = EB_FEWEST_MISSES;
    } else {
        p->found = "max_fpr";
        p->goal.prefer = EB_FEWEST_FALSE;
        if (!(p->goal.max_fnr > 0) && !remembers) p->goal.caps |= EB_NO_FALSE_NEGATIVES;
        if (!(p->goal.max_fnr > 0) && p->load.gap > 0) p->goal.max_fnr = 0.01;
    }
    if (p->set->fpr_is && strcmp(p->set->fpr_is, "end") == 0) return plan_at_end(p);
    return plan_ask(p);
}

/* ---- The answer. */

/* The spec as people write it: without what is so by default. */
static void plan_short(const char *spec, char out[EB_SPEC_MAX]) {
    static const char *const usual[] = {",seed=0", ",shards=1", ",hash=xxh3", ",keys=text"};
    snprintf(out, EB_SPEC_MAX, "%s", spec);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        char *const at = strstr(out, usual[i]);
        const size_t n = strlen(usual[i]);
        if (at && (at[n] == ',' || at[n] == '\0')) memmove(at, at + n, strlen(at + n) + 1);
    }
}

static const char *plan_verb(const plan *p, const eb_offer *o) {
    if (o->kind->caps & EB_CAN_COUNT) return "count";
    return (p->goal.caps & EB_NO_FALSE_NEGATIVES) && (o->kind->caps & EB_NO_FALSE_NEGATIVES)
               ? "add -o keys.eb"
               : "dedup";
}

static void plan_command(const plan *p, const eb_offer *o, char *text, size_t cap) {
    char spec[EB_SPEC_MAX];
    plan_short(o->spec, spec);
    const bool time = p->set->window.seconds > 0 && strstr(spec, "unit=time");
    snprintf(text, cap, "everbloom %s --filter %s%s FILE", plan_verb(p, o), spec,
             time                             ? " --time-field 1"
             : strstr(spec, "keep=important") ? " --importance-field 1"
                                              : "");
}

/* Rates as lines of this stream. */
static void plan_sentence(const plan *p, const eb_offer *o, char *text, size_t cap) {
    const bool told = p->load.order == EB_ORDER_SHUFFLED || p->load.gap > 0;
    const double repeats = p->load.items - p->load.distinct;
    char bytes[32], a[32], b[32], d[32];
    int n = snprintf(text, cap, "Use %s with %s: ", o->kind->name, human_bytes(bytes, o->bytes));
    if (strcmp(p->found, "distinct") == 0)
        n += snprintf(text + n, cap - (size_t)n, "it holds %s distinct keys; ",
                      human_number(d, p->load.distinct));
    if (strcmp(p->found, "gap") == 0)
        n += snprintf(text + n, cap - (size_t)n, "it remembers %s distinct lines back; ",
                      human_number(d, p->load.gap));
    if (p->load.distinct > 0)
        n += snprintf(
            text + n, cap - (size_t)n, "of %s new lines %s %s are taken for repeats (%s %%)",
            human_number(a, p->load.distinct), told ? "about" : "at most",
            human_number(b, o->most_fpr * p->load.distinct), human_number(d, 100 * o->most_fpr));
    else
        n += snprintf(text + n, cap - (size_t)n, "%s new lines in a million are taken for repeats",
                      human_number(b, 1e6 * o->most_fpr));
    if (o->most_fnr == 0)
        n += snprintf(text + n, cap - (size_t)n, ", and no repeat%s is missed.",
                      p->goal.window > 0 ? " within the window" : "");
    else if (p->load.distinct > 0 && repeats > 0)
        n += snprintf(text + n, cap - (size_t)n, ", and of %s repeats %s %s pass (%s %%%s).",
                      human_number(a, repeats), told ? "about" : "at worst",
                      human_number(b, o->most_fnr * repeats), human_number(d, 100 * o->most_fnr),
                      told ? "" : "; fewer if they are near");
    else
        n += snprintf(text + n, cap - (size_t)n, ", and %s %% of the repeats pass.",
                      human_number(d, 100 * o->most_fnr));
    eb_prediction end = {.size = sizeof end};
    if (eb_predict(o->spec, &p->load, NULL, 1, &end, NULL) == EB_OK && end.fpr > 1.2 * o->most_fpr)
        snprintf(text + strlen(text), cap - strlen(text),
                 " That is the mean while it fills; at the end the rate is %s %%%s.",
                 human_number(a, 100 * end.fpr),
                 p->set->fpr_is ? "" : " (--fpr-is end plans for that)");
}

static const char *plan_why(const plan *p, size_t i, char text[160]) {
    const eb_offer *const best = &p->offers[0], *const o = &p->offers[i];
    if (i == 0) {
        snprintf(text, 160, "recommended");
    } else if (p->goal.prefer == EB_SMALLEST) {
        snprintf(text, 160, "takes %.2f times the memory", o->bytes / best->bytes);
    } else if (p->goal.prefer == EB_FEWEST_FALSE) {
        snprintf(text, 160, "takes %.3g times as many new lines for repeats",
                 o->most_fpr / best->most_fpr);
    } else if (o->regret > best->regret) {
        snprintf(text, 160,
                 "on one of the streams weighed it misses %.3g times as much as the best",
                 o->regret);
    } else {
        snprintf(text, 160, "misses %.3g %% of the repeats instead of %.3g %%", 100 * o->mean_fnr,
                 100 * best->mean_fnr);
    }
    return text;
}

static void plan_json_offer(const plan *p, size_t i) {
    const eb_offer *const o = &p->offers[i];
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"bytes", o->bytes},        {"fpr", o->mean_fpr},       {"fnr", o->mean_fnr},
                   {"worst_fpr", o->most_fpr}, {"worst_fnr", o->most_fnr}, {"regret", o->regret},
                   {"lines", o->lines},        {"error", o->error}};
    char why[160];
    printf("%s{\"kind\":\"%s\",\"filter\":", i ? "," : "", o->kind->name);
    json_string(stdout, o->spec);
    for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) {
        printf(",\"%s\":", numbers[j].key);
        json_number(stdout, numbers[j].value);
    }
    fputs(",\"why\":", stdout);
    json_string(stdout, plan_why(p, i, why));
    putchar('}');
}

static void plan_json(const plan *p) {
    char text[2 * EB_SPEC_MAX];
    report r;
    report_begin(&r, stdout, true);
    report_text(&r, "found", "", p->found);
    report_real(&r, "items", "", p->load.items);
    report_real(&r, "distinct", "", p->load.distinct);
    report_real(&r, "gap", "", p->load.gap);
    plan_sentence(p, &p->offers[0], text, sizeof text);
    report_text(&r, "sentence", "", text);
    plan_command(p, &p->offers[0], text, sizeof text);
    report_text(&r, "command", "", text);
    fputs(",\"offers\":[", stdout);
    for (size_t i = 0; i < p->n; i++) plan_json_offer(p, i);
    putchar(']');
    report_end(&r);
}

static void plan_table(const plan *p) {
    printf("\n%-12s %10s %10s %10s %10s %5s  %s\n", "kind", "bytes", "fpr", "fnr", "worst fnr",
           "lines", p->set->explain ? "why" : "filter");
    for (size_t i = 0; i < p->n; i++) {
        const eb_offer *const o = &p->offers[i];
        char bytes[32], spec[EB_SPEC_MAX], why[160], fpr[32], fnr[32], worst[32];
        plan_short(o->spec, spec);
        printf("%-12s %10s %10s %10s %10s %5.0f  %s\n", o->kind->name, human_bytes(bytes, o->bytes),
               human_number(fpr, o->mean_fpr), human_number(fnr, o->mean_fnr),
               human_number(worst, o->most_fnr), o->lines,
               p->set->explain ? plan_why(p, i, why) : spec);
    }
}

/* Kinds that make no offer, and the first reason. */
static void plan_explain(const plan *p) {
    size_t n;
    const eb_kind_info *const *const kinds = eb_kinds(&n);
    puts("\nNo offer:");
    for (size_t i = 0; i < n; i++) {
        bool offers = false;
        for (size_t j = 0; j < p->n; j++) offers |= p->offers[j].kind == kinds[i];
        if (offers) continue;
        const uint64_t caps = kinds[i]->caps, lacks = p->goal.caps & ~caps;
        const char *why = "it does not keep the bounds on this stream";
        if (lacks & EB_NO_FALSE_NEGATIVES)
            why = "it forgets keys";
        else if (lacks)
            why = "it cannot do what --need asks for";
        else if (!kinds[i]->question && !p->set->all_kinds)
            why = "kept as published: ask with --all-kinds";
        else if ((caps & EB_CAN_COUNT) && !(p->goal.caps & EB_CAN_COUNT))
            why = "it counts, which takes memory: ask with --need count";
        printf("%-12s %s\n", kinds[i]->name, why);
    }
    if (p->load.order != EB_ORDER_SHUFFLED && !(p->load.gap > 0))
        puts("\nThe order of the lines is not told: fpr holds in any order, fnr is for a shuffled "
             "stream, and\nrepeats at gaps of 0.1, 1, 10 and 30 % of the distinct keys were "
             "weighed, "
             "too. See --order.");
}

int run_plan(const cli_command *c, const settings *set, char **operands, size_t n) {
    static plan p;
    char text[2 * EB_SPEC_MAX];
    (void)operands, (void)n;
    plan_open(&p, c, set);
    if (!plan_solve(&p)) cli_fail("%s", p.err.text);
    if (set->json) {
        plan_json(&p);
    } else {
        plan_sentence(&p, &p.offers[0], text, sizeof text);
        puts(text);
        plan_command(&p, &p.offers[0], text, sizeof text);
        printf("\n  %s\n", text);
        plan_table(&p);
        if (set->explain) plan_explain(&p);
    }
    finish_stdout();
    return STATUS_YES;
}
