/* question.c - a question about filters in, offers, a sentence and a command out.
 *
 * The library makes the offers (eb_plan); here a number of keys or a gap is found by halving, rates
 * become lines, and the offers a sentence and a command. */
#include "question.h"
#include "cli.h"
#include <math.h>
#include <string.h>

/* ---- The question. */

static const struct question_needs {
    const char *word;
    uint64_t caps;
    const char *options;
} question_needs[] = {
    {"count", EB_CAN_COUNT, NULL}, {"remove", EB_CAN_COUNT | EB_CAN_REMOVE, NULL},
    {"merge", EB_CAN_MERGE, NULL}, {"importance", EB_USES_VALUE, NULL},
    {"time", EB_USES_TIME, NULL},  {"growth", EB_NO_FALSE_NEGATIVES, "grow=2"},
};
enum { QUESTION_NEEDS = sizeof question_needs / sizeof *question_needs };

const char *question_need(size_t i) {
    return i < QUESTION_NEEDS ? question_needs[i].word : NULL;
}

static void question_read_needs(answer *a) {
    const char *options = NULL;
    for (size_t i = 0; i < QUESTION_NEEDS; i++) {
        if (!(a->q.needs >> i & 1)) continue;
        a->goal.caps |= question_needs[i].caps;
        if (question_needs[i].options) options = question_needs[i].options;
    }
    if (options) {
        snprintf(a->options, sizeof a->options, "limit=%.0f,%s", fmax(1, a->load.distinct),
                 options);
        a->goal.options = a->options;
    }
    /* lru weighs importance inside: its caps say nothing of values unless asked to */
    if (a->goal.caps & EB_USES_VALUE && !(a->goal.caps & EB_CAN_COUNT)) {
        a->goal.caps &= ~(uint64_t)EB_USES_VALUE;
        a->goal.options = "keep=important";
    }
}

static bool question_misused(answer *a, const char *why) {
    a->misused = true;
    snprintf(a->err.text, sizeof a->err.text, "%s", why);
    return false;
}

static bool question_needs_word(const question *q, const char *word) {
    for (size_t i = 0; i < QUESTION_NEEDS; i++)
        if (strcmp(question_needs[i].word, word) == 0) return q->needs >> i & 1;
    return false;
}

static const char *question_contradicts(const question *q) {
    const bool window = q->window > 0 || q->window_seconds > 0;
    if (q->items > 0 && q->distinct > q->items) return "--distinct must not be more than --items";
    if (q->endless && (q->items > 0 || q->distinct > 0))
        return "--endless is without --items and --distinct: give --gap or --window";
    if (q->gap > 0 && window) return "--gap and --window: give one of them";
    if (q->window_seconds > 0 && !(q->rate > 0)) return "a --window of time needs --rate";
    if (q->fpr_is && !(q->max_fpr > 0)) return "--fpr-is needs --max-fpr";
    if (question_needs_word(q, "growth") && !(q->items > 0 || q->distinct > 0))
        return "--need growth needs --distinct, the keys to start with: it grows when there are "
               "more";
    return NULL;
}

/* A set: its keys are added once, then others are asked for.  So the rate at the end is what
 * counts. */
static bool question_is_set(const question *q) {
    return !(q->items > 0 || q->gap > 0 || q->window > 0 || q->window_seconds > 0 || q->endless);
}

static void question_open(answer *a) {
    if (question_is_set(&a->q) && !a->q.fpr_is) a->q.fpr_is = QUESTION_END;
    const question *const q = &a->q;
    a->load.items = q->items;
    a->load.distinct = q->distinct > 0 ? q->distinct : q->items;
    if (!(q->items > 0)) a->load.items = q->distinct; /* each of them once */
    a->load.zipf = q->zipf;
    a->load.gap = q->gap;
    a->load.order = q->order;
    if (q->zipf > 0 && !q->order) a->load.order = EB_ORDER_SHUFFLED;
    if (q->fpr_is == QUESTION_WORST) a->load.order = EB_ORDER_UNKNOWN;
    a->goal.load = &a->load;
    a->goal.max_fpr = q->max_fpr;
    a->goal.max_fnr = q->max_fnr;
    a->goal.max_bytes = q->memory;
    a->goal.all_kinds = q->all_kinds;
    a->goal.at_end = q->fpr_is == QUESTION_END;
    a->goal.window = q->window > 0 ? q->window : q->window_seconds * 1000;
    if (q->window_seconds > 0) a->load.rate = q->rate / 1000;
    question_read_needs(a);
}

/* ---- What is looked for. */

/* How much is wanted of a plan: the best offer is enough to see whether there is one. */
typedef enum { QUESTION_TRIAL = 1, QUESTION_WHOLE = QUESTION_OFFERS } question_cap;

static bool question_plan(answer *a, question_cap cap) {
    EB_INIT(a->offers[0]);
    a->n = 0;
    return eb_plan(&a->goal, a->offers, cap, &a->n, cap == QUESTION_WHOLE ? &a->err : NULL) ==
           EB_OK;
}

static void question_set(double *number, double *with, double value) {
    *number = value;
    if (with) *with = value;
}

/* No misses are allowed, because the question says nothing of them.  false: what is needed comes
 * only with filters that forget. */
static bool question_keep_all(answer *a) {
    if (!(a->goal.caps & EB_CAN_COUNT) && question_needs_word(&a->q, "importance"))
        return question_misused(
            a, "filters that weigh importance forget keys: give --gap or --max-fnr");
    if (question_needs_word(&a->q, "time"))
        return question_misused(
            a, "filters that know the time forget keys: give --window, --gap or --max-fnr");
    a->goal.caps |= EB_NO_FALSE_NEGATIVES;
    return true;
}

/* The most distinct keys, or the longest gap, with which the bounds are kept, to 1 %: around what a
 * Bloom filter holds first, then further away in growing steps. */
static bool question_most(answer *a, double *number, double *with) {
    const double least = 16, most = 1e14, bits = 1.44 * log2(1 / a->goal.max_fpr);
    double low = 0, high = INFINITY, step = 1.25;
    double next = fmax(least, fmin(most, 8 * a->goal.max_bytes / bits));
    while (low < most && high > least && !(high / low <= 1.01)) {
        question_set(number, with, next);
        *(question_plan(a, QUESTION_TRIAL) ? &low : &high) = next;
        next = low > 0 && high < INFINITY ? sqrt(low * high)
               : low > 0                  ? fmin(most, low * step)
                                          : fmax(least, high / step);
        step = fmin(step * step, 1000);
    }
    question_set(number, with, fmax(least, low));
    if (question_plan(a, QUESTION_WHOLE)) return true;
    snprintf(a->err.text, sizeof a->err.text,
             "no kind of filter%s keeps these rates in that memory, not even for %s",
             a->q.needs ? " that can do what is needed" : "",
             number == &a->load.gap ? "repeats that come at once" : "a few keys");
    return false;
}

static bool question_solve(answer *a) {
    const bool known = a->load.distinct > 0 || a->load.gap > 0 || a->goal.window > 0;
    const bool remembers = a->load.gap > 0 || a->goal.window > 0 || a->q.endless;
    if (!(a->goal.max_bytes > 0)) {
        a->found = "memory";
        a->goal.prefer = EB_SMALLEST;
        if (!(a->goal.max_fpr > 0)) return question_misused(a, "plan needs -m or --max-fpr");
        if (!known)
            return question_misused(
                a, a->q.endless ? "how far back? --endless needs --gap, --window or -m"
                                : "how many keys? plan needs --distinct, --gap, --window or -m");
        if (!(a->goal.max_fnr > 0) && a->load.gap > 0) a->goal.max_fnr = 0.01;
        if (!(a->goal.max_fnr > 0) && !remembers && !question_keep_all(a)) return false;
    } else if (!known) {
        if (!(a->goal.max_fpr > 0))
            return question_misused(a, a->q.endless ? "--endless with -m needs --max-fpr"
                                                    : "plan needs --distinct or --max-fpr");
        a->goal.prefer = EB_FEWEST_MISSES;
        if (a->q.endless) {
            a->found = "gap";
            if (!(a->goal.max_fnr > 0)) a->goal.max_fnr = 0.01;
            return question_most(a, &a->load.gap, NULL);
        }
        a->found = "distinct";
        if (!(a->goal.max_fnr > 0) && !question_keep_all(a)) return false;
        return question_most(a, &a->load.distinct, &a->load.items);
    } else if (a->goal.max_fpr > 0) {
        a->found = a->goal.max_fnr > 0 ? "nothing" : "max_fnr";
        a->goal.prefer = EB_FEWEST_MISSES;
    } else {
        a->found = "max_fpr";
        a->goal.prefer = EB_FEWEST_FALSE;
        if (!(a->goal.max_fnr > 0) && !remembers && !question_keep_all(a)) return false;
        if (!(a->goal.max_fnr > 0) && a->load.gap > 0) a->goal.max_fnr = 0.01;
    }
    return question_plan(a, QUESTION_WHOLE);
}

bool question_ask(answer *a, const question *q) {
    *a = (answer){.q = *q};
    EB_INIT(a->load);
    EB_INIT(a->goal);
    const char *const why = question_contradicts(q);
    if (why) return question_misused(a, why);
    question_open(a);
    return question_solve(a);
}

/* ---- The answer. */

void answer_short(const char *spec, char out[EB_SPEC_MAX]) {
    static const char *const usual[] = {",seed=0", ",shards=1", ",hash=xxh3", ",keys=text"};
    snprintf(out, EB_SPEC_MAX, "%s", spec);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        char *const at = strstr(out, usual[i]);
        const size_t n = strlen(usual[i]);
        if (at && (at[n] == ',' || at[n] == '\0')) memmove(at, at + n, strlen(at + n) + 1);
    }
}

static bool answer_is_set(const answer *a) {
    return question_is_set(&a->q) && a->q.fpr_is == QUESTION_END;
}

static const char *answer_verb(const answer *a, const eb_offer *o) {
    if (o->kind->caps & EB_CAN_COUNT) return "count";
    return answer_is_set(a) || question_needs_word(&a->q, "merge") ||
                   question_needs_word(&a->q, "growth")
               ? "add -o keys.eb"
               : "dedup";
}

void answer_command(const answer *a, const eb_offer *o, char *text, size_t cap) {
    char spec[EB_SPEC_MAX];
    answer_short(o->spec, spec);
    const bool time = a->q.window_seconds > 0 && strstr(spec, "unit=time");
    snprintf(text, cap, "everbloom %s --filter %s%s FILE", answer_verb(a, o), spec,
             time                             ? " --time-field 1"
             : strstr(spec, "keep=important") ? " --importance-field 1"
                                              : "");
}

/* A set: how many keys it holds, and how it errs about others. */
static void answer_set(const answer *a, char *text, size_t cap) {
    const eb_offer *const o = &a->offers[0];
    const bool many = o->most_fnr >= 0.01; /* else 100 % would be held, and the rest missed */
    char bytes[32], b[32], c[32], d[32];
    int n = snprintf(text, cap, "Use %s with %s: it holds ", o->kind->name,
                     human_bytes(bytes, o->bytes));
    if (many)
        n += snprintf(text + n, cap - (size_t)n, "%s %% of ",
                      human_number(b, 100 * (1 - o->most_fnr)));
    n += snprintf(text + n, cap - (size_t)n, "%s distinct keys and takes ",
                  human_number(b, a->load.distinct));
    if (o->most_fpr < 0.1)
        n += snprintf(text + n, cap - (size_t)n, "1 in %s others for one of them (%s %%)",
                      human_number(c, round(1 / o->most_fpr)), human_number(d, 100 * o->most_fpr));
    else
        n += snprintf(text + n, cap - (size_t)n, "%s %% of all others for one of them",
                      human_number(d, 100 * o->most_fpr));
    if (question_needs_word(&a->q, "growth"))
        snprintf(text + n, cap - (size_t)n,
                 ", even after it has grown; none that was added is missed.");
    else if (o->most_fnr > 0 && !many)
        snprintf(text + n, cap - (size_t)n, "; 1 in %s that were added is missed.",
                 human_number(b, 1 / o->most_fnr));
    else
        snprintf(text + n, cap - (size_t)n,
                 many ? "; the rest is missed." : "; none that was added is missed.");
}

/* A kind that counts: how far its counts are off. */
static void answer_counts(const answer *a, char *text, size_t cap) {
    const eb_offer *const o = &a->offers[0];
    const size_t n = strlen(text);
    char b[32], c[32];
    if (!(a->goal.caps & o->kind->caps & EB_CAN_COUNT) || isnan(o->error)) return;
    snprintf(text + n, cap - n,
             a->load.items > 0 && a->load.distinct > 0
                 ? " Counts are off by %s (root mean square), for keys that occur %s times on "
                   "average."
                 : " Counts are off by %s (root mean square).",
             human_number(b, o->error), human_number(c, a->load.items / a->load.distinct));
}

/* How many new lines are taken for repeats, if it is not known how many come. */
static int answer_share(double rate, char *text, size_t cap) {
    char number[32];
    if (rate >= 0.01)
        return snprintf(text, cap, "%s %% of the new lines are taken for repeats",
                        human_number(number, 100 * rate));
    if (rate >= 1e-6)
        return snprintf(text, cap, "%s new lines in a million are taken for repeats",
                        human_number(number, 1e6 * rate));
    return snprintf(text, cap, "1 new line in %s is taken for a repeat",
                    human_number(number, 1 / rate));
}

/* Repeats that pass if nothing is known of their order. */
static int answer_any_order(const eb_offer *o, double repeats, char *text, size_t cap) {
    char all[32], some[32], rate[32], worst[32];
    return snprintf(text, cap,
                    ", and of %s repeats about %s pass in random order (%s %%; at worst %s %%, "
                    "fewer if they are near).",
                    human_number(all, repeats), human_number(some, o->mean_fnr * repeats),
                    human_number(rate, 100 * o->mean_fnr), human_number(worst, 100 * o->most_fnr));
}

/* Rates as lines of this stream. */
static void answer_stream(const answer *a, char *text, size_t cap) {
    const eb_offer *const o = &a->offers[0];
    const bool told =
        a->load.order == EB_ORDER_SHUFFLED || a->load.order == EB_ORDER_PASSES || a->load.gap > 0;
    const double repeats = a->load.items - a->load.distinct;
    char bytes[32], c[32], b[32], d[32];
    int n = snprintf(text, cap, "Use %s with %s: ", o->kind->name, human_bytes(bytes, o->bytes));
    if (strcmp(a->found, "distinct") == 0)
        n += snprintf(text + n, cap - (size_t)n, "it holds %s distinct keys; ",
                      human_number(d, a->load.distinct));
    if (strcmp(a->found, "gap") == 0)
        n += snprintf(text + n, cap - (size_t)n, "it remembers %s distinct lines back; ",
                      human_number(d, a->load.gap));
    if (a->load.distinct > 0)
        n += snprintf(
            text + n, cap - (size_t)n, "of %s new lines %s %s are taken for repeats (%s %%)",
            human_number(c, a->load.distinct), told ? "about" : "at most",
            human_number(b, o->most_fpr * a->load.distinct), human_number(d, 100 * o->most_fpr));
    else
        n += answer_share(o->most_fpr, text + n, cap - (size_t)n);
    if (o->most_fnr == 0)
        n += snprintf(text + n, cap - (size_t)n, ", and no repeat%s is missed.",
                      a->goal.window > 0 ? " within the window" : "");
    else if (a->load.distinct > 0 && repeats > 0 && a->load.order == EB_ORDER_UNKNOWN && !told &&
             o->mean_fnr < o->most_fnr)
        n += answer_any_order(o, repeats, text + n, cap - (size_t)n);
    else if (a->load.distinct > 0 && repeats > 0)
        n += snprintf(text + n, cap - (size_t)n, ", and of %s repeats %s %s pass (%s %%%s).",
                      human_number(c, repeats), told ? "about" : "at worst",
                      human_number(b, o->most_fnr * repeats), human_number(d, 100 * o->most_fnr),
                      told ? "" : "; fewer if they are near");
    else
        n += snprintf(text + n, cap - (size_t)n, ", and %s %% of the repeats pass.",
                      human_number(d, 100 * o->most_fnr));
    eb_prediction end = {.size = sizeof end};
    if (eb_predict(o->spec, &a->load, NULL, 1, &end, NULL) == EB_OK && end.fpr > 1.2 * o->most_fpr)
        snprintf(text + strlen(text), cap - strlen(text),
                 " That is the mean while it fills; at the end the rate is %s %%%s.",
                 human_number(c, 100 * end.fpr),
                 a->q.fpr_is ? "" : " (--fpr-is end plans for that)");
}

void answer_sentence(const answer *a, char *text, size_t cap) {
    (answer_is_set(a) ? answer_set : answer_stream)(a, text, cap);
    if (!question_is_set(&a->q)) answer_counts(a, text, cap);
}

const char *answer_why(const answer *a, size_t i, char text[160]) {
    const eb_offer *const best = &a->offers[0], *const o = &a->offers[i];
    char number[32];
    if (i == 0) {
        snprintf(text, 160, "recommended");
    } else if (a->goal.prefer == EB_SMALLEST) {
        snprintf(text, 160, "takes %.2f times the memory", o->bytes / best->bytes);
    } else if (a->goal.prefer == EB_FEWEST_FALSE) {
        snprintf(text, 160, "takes %s times as many new lines for repeats",
                 human_number(number, o->most_fpr / best->most_fpr));
    } else if (o->regret > best->regret) {
        snprintf(text, 160, "on one of the streams tried it misses %s times as many repeats",
                 o->regret > 1000 ? "over 1000" : human_number(number, o->regret));
    } else if (o->mean_fnr == best->mean_fnr && o->most_fpr > best->most_fpr &&
               best->most_fpr > 0) {
        snprintf(text, 160, "misses as few, but takes %s times as many new lines for repeats",
                 human_number(number, o->most_fpr / best->most_fpr));
    } else if (o->mean_fnr == best->mean_fnr) {
        snprintf(text, 160, "misses as few");
    } else {
        snprintf(text, 160, "misses %.3g %% of the repeats instead of %.3g %%", 100 * o->mean_fnr,
                 100 * best->mean_fnr);
    }
    return text;
}

static void answer_json_offer(const answer *a, size_t i, FILE *to) {
    const eb_offer *const o = &a->offers[i];
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"bytes", o->bytes},        {"fpr", o->mean_fpr},       {"fnr", o->mean_fnr},
                   {"worst_fpr", o->most_fpr}, {"worst_fnr", o->most_fnr}, {"regret", o->regret},
                   {"lines", o->lines},        {"error", o->error}};
    char why[160], command[2 * EB_SPEC_MAX];
    fprintf(to, "%s{\"kind\":\"%s\",\"filter\":", i ? "," : "", o->kind->name);
    json_string(to, o->spec);
    for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) {
        fprintf(to, ",\"%s\":", numbers[j].key);
        json_number(to, numbers[j].value);
    }
    answer_command(a, o, command, sizeof command);
    fputs(",\"command\":", to);
    json_string(to, command);
    fputs(",\"why\":", to);
    json_string(to, answer_why(a, i, why));
    fputc('}', to);
}

void answer_json(const answer *a, FILE *to) {
    char text[2 * EB_SPEC_MAX];
    report r;
    report_begin(&r, to, true);
    report_text(&r, "found", "", a->found);
    report_real(&r, "items", "", a->load.items);
    report_real(&r, "distinct", "", a->load.distinct);
    report_real(&r, "gap", "", a->load.gap);
    answer_sentence(a, text, sizeof text);
    report_text(&r, "sentence", "", text);
    answer_command(a, &a->offers[0], text, sizeof text);
    report_text(&r, "command", "", text);
    fputs(",\"offers\":[", to);
    for (size_t i = 0; i < a->n; i++) answer_json_offer(a, i, to);
    fputc(']', to);
    report_end(&r);
}
