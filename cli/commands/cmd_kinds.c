/* cmd_kinds.c - the kinds of filters, their properties and options. */
#include "cli.h"
#include "options/options.h"
#include <stdlib.h>
#include <string.h>

static const struct {
    unsigned bit;
    const char *key, *words;
} cap_names[] = {
    {EB_CAN_COUNT, "count", "counts keys"},
    {EB_CAN_REMOVE, "remove", "removes keys"},
    {EB_CAN_MERGE, "merge", "merges"},
    {EB_NO_FALSE_NEGATIVES, "no_false_negatives", "no false negatives"},
    {EB_ADD_IS_IDEMPOTENT, "idempotent", "adding a key again changes nothing"},
    {EB_USES_TIME, "time", "uses time"},
    {EB_USES_VALUE, "value", "uses values"},
    {EB_FORGETS, "forgets", "forgets old keys"},
    {EB_KEYS_ARE_NUMBERS, "numbers", "keys are numbers"},
};
enum { CAPS = sizeof cap_names / sizeof *cap_names };

static void print_caps(uint64_t caps) {
    const char *comma = "";
    if (!caps) fputs("none", stdout);
    for (size_t i = 0; i < CAPS; i++) {
        if (!(caps & cap_names[i].bit)) continue;
        printf("%s%s", comma, cap_names[i].words);
        comma = ", ";
    }
}

static void print_kind_line(const eb_kind_info *k) {
    printf("  %-12s %s\n", k->name, k->summary);
}

/* The question comes first: nobody looks for a kind by its name. */
static void print_kinds(const eb_kind_info *const *kinds, size_t n) {
    size_t i = 0;
    for (; i < n && kinds[i]->question; i++) {
        puts(kinds[i]->question);
        print_kind_line(kinds[i]);
    }
    if (i < n) puts("\nKept as published, for comparison:");
    for (; i < n; i++) print_kind_line(kinds[i]);
    puts("\n'everbloom kinds KIND' lists the options of one.");
}

static void print_range(const eb_option *o) {
    if (o->dflt) printf(", default %s", o->dflt);
    if (o->min && o->max)
        printf(", %s to %s", o->min, o->max);
    else if (o->min)
        printf(", at least %s", o->min);
    else if (o->max)
        printf(", at most %s", o->max);
}

static void print_kind(const eb_kind_info *k) {
    printf("%s: %s\n", k->name, k->summary);
    if (k->question) printf("question:   %s\n", k->question);
    if (k->paper) printf("paper:      %s\n", k->paper);
    fputs("properties: ", stdout);
    print_caps(k->caps);
    puts("\n\nOptions of its spec:");
    for (const eb_option *o = k->options; o->key; o++) {
        printf("  %-12s %s (%s", o->key, o->help, o->type);
        print_range(o);
        puts(")");
    }
}

static void json_member(const char *comma, const char *key, const char *text) {
    printf("%s\"%s\":", comma, key);
    if (text)
        json_string(stdout, text);
    else
        fputs("null", stdout);
}

static void json_option(const eb_option *o) {
    json_member("{", "key", o->key);
    json_member(",", "type", o->type);
    json_member(",", "default", o->dflt);
    json_member(",", "min", o->min);
    json_member(",", "max", o->max);
    json_member(",", "help", o->help);
    printf(",\"wish\":%s}", o->wish ? "true" : "false");
}

static void json_kind(const eb_kind_info *k) {
    const char *comma = "";
    json_member("{", "name", k->name);
    json_member(",", "question", k->question);
    json_member(",", "summary", k->summary);
    json_member(",", "paper", k->paper);
    fputs(",\"caps\":[", stdout);
    for (size_t i = 0; i < CAPS; i++) {
        if (!(k->caps & cap_names[i].bit)) continue;
        printf("%s\"%s\"", comma, cap_names[i].key);
        comma = ",";
    }
    fputs("],\"options\":[", stdout);
    for (const eb_option *o = k->options; o->key; o++) {
        if (o != k->options) putchar(',');
        json_option(o);
    }
    fputs("]}", stdout);
}

static const eb_kind_info *find_kind(const cli_command *c, const eb_kind_info *const *kinds,
                                     size_t n, const char *name) {
    nearest near = {0};
    for (size_t i = 0; i < n; i++) {
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
        nearest_try(&near, name, kinds[i]->name);
    }
    if (near.word) cli_misuse(c, "there is no kind \"%s\"; did you mean \"%s\"?", name, near.word);
    cli_misuse(c, "there is no kind \"%s\"; 'everbloom kinds' lists them", name);
}

static void json_kinds(const eb_kind_info *const *kinds, size_t n) {
    for (size_t i = 0; i < n; i++) {
        fputs(i == 0 ? "[" : ",\n", stdout);
        json_kind(kinds[i]);
    }
    puts("]");
}

static int run_kinds(const cli_command *c, const settings *set, char **operands, size_t n) {
    size_t count;
    const eb_kind_info *const *kinds = eb_kinds(&count);
    const eb_kind_info *one = n ? find_kind(c, kinds, count, operands[0]) : NULL;
    if (set->json)
        json_kinds(one ? &one : kinds, one ? 1 : count);
    else if (one)
        print_kind(one);
    else
        print_kinds(kinds, count);
    finish_stdout();
    return STATUS_YES;
}

/* ---- Options and help. */

static const cli_option kinds_options[] = {
    FLAG(0, "json", json, "One JSON array, with the options of each kind."), END};

static const cli_example kinds_examples[] = {
    {"everbloom kinds", "Which kind answers which question?"},
    {"everbloom kinds lru", "The options of a kind."},
    {NULL, NULL}};

const cli_command command_kinds = {.name = "kinds",
                                   .operands = "[KIND]",
                                   .summary = "list the kinds of filters and their options",
                                   .text = "Without KIND, prints a table of all kinds; with KIND, "
                                           "describes it and the options of its spec.",
                                   .options = kinds_options,
                                   .examples = kinds_examples,
                                   .max_operands = 1,
                                   .run = run_kinds};
