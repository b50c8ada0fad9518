/* values.c - numbers that come with keys: an importance, a weight, or a class of keys.
 *
 * A class must be a pure function of the key: `test` has to find the class that `add` found. */
#include "values.h"
#include "parts/filterfile.h"
#include <fnmatch.h>
#include <stdlib.h>

static bool read_number(eb_key text, uint32_t low, uint32_t high, uint64_t *value) {
    const char *p = text.p;
    uint64_t n = 0;
    if (text.len == 0 || text.len > 10) return false;
    for (size_t i = 0; i < text.len; i++) {
        if (p[i] < '0' || p[i] > '9') return false;
        n = n * 10 + (uint64_t)(p[i] - '0');
    }
    *value = n;
    return n >= low && n <= high;
}

uint32_t value_read(const reader *r, const char *name, eb_key text, uint32_t low, uint32_t high) {
    uint64_t value;
    if (read_number(text, low, high, &value)) return (uint32_t)value;
    cli_fail("%s: line %llu: the %s must be a whole number %u..%u, not \"%.*s\"", r->name,
             (unsigned long long)r->records, name, low, high, text.len > 40 ? 40 : (int)text.len,
             (const char *)text.p);
}

/* The class of the first pattern that matches, else 1. */
static uint32_t class_by_rules(values *v, eb_key key) {
    v->key = cli_grow(v->key, &v->key_cap, key.len + 1);
    memcpy(v->key, key.p, key.len);
    v->key[key.len] = '\0';
    for (size_t i = 0; i < v->rules.n; i++)
        if (fnmatch(v->rules.bytes + v->rules.lines[i].at, v->key, 0) == 0)
            return v->rules.lines[i].class_number;
    return 1;
}

bool value_of_line(values *v, reader *r, const char *line, const char *end, eb_key key,
                   uint64_t *value, char why[VALUES_WHY]) {
    eb_key text;
    if (v->from == VALUES_RULES) {
        *value = class_by_rules(v, key);
        return true;
    }
    if (!reader_get(r, READER_VALUE, line, end, &text)) {
        reader_explain(r, why, VALUES_WHY);
        return false;
    }
    if (read_number(text, v->low, v->high, value)) return true;
    snprintf(why, VALUES_WHY, "the %s must be a whole number %u..%u, not \"%.*s\"", v->name, v->low,
             v->high, text.len > 40 ? 40 : (int)text.len, (const char *)text.p);
    return false;
}

static void open_importance(values *v, const cli_command *c, const settings *set,
                            const eb_filter *f) {
    const bool aware =
        filter_is(f, "importance") || (filter_is(f, "lru") && eb_caps(f) & EB_USES_VALUE);
    if (!set->importance_field.n && (set->importance_range || aware))
        cli_misuse(c, "an importance filter needs --importance-field");
    if (set->importance_field.n && !aware)
        cli_misuse(
            c, "--importance-field needs a filter with importance, such as " DEFAULT_IMPORTANCE);
    if (!aware) return;
    *v = (values){.from = VALUES_FIELD, .name = "importance"};
    v->low = (uint32_t)filter_option(f, "low");
    v->high = (uint32_t)filter_option(f, "high");
}

static void open_classes(values *v, const cli_command *c, const settings *set, const eb_filter *f) {
    const char *option = set->class_field.n ? "--class-field" : "--class-rules";
    if (set->class_field.n && set->class_rules)
        cli_misuse(c, "--class-field and --class-rules: give one of them");
    if (!filter_is(f, "weighted")) cli_misuse(c, "%s needs a filter of kind weighted", option);
    if (filter_option(f, "hot") > 0)
        cli_misuse(c, "%s: this filter has a hot list, which alone decides the class of a key",
                   option);
    *v = (values){.name = "class", .low = 1, .high = filter_classes(f)};
    v->from = set->class_field.n ? VALUES_FIELD : VALUES_RULES;
    if (set->class_rules)
        v->rules = class_file_read(set->class_rules, "a pattern", set->nul, v->high);
}

/* A weight of 0 is no key: see stream.c. */
void values_weights(values *v, const settings *set) {
    if (!set->weight_field.n) return;
    *v = (values){.from = VALUES_FIELD, .name = "weight"};
    v->high = UINT32_MAX;
}

static void open_weights(values *v, const cli_command *c, const settings *set, const eb_filter *f) {
    const unsigned wanted = EB_CAN_COUNT | EB_USES_VALUE;
    if ((eb_caps(f) & wanted) != wanted)
        cli_misuse(c, "--weight-field needs a filter that counts, such as " DEFAULT_COUNT);
    values_weights(v, set);
}

void values_open(values *v, const cli_command *c, const settings *set, const eb_filter *f,
                 bool adds) {
    if (set->weight_field.n) {
        open_weights(v, c, set, f);
        return;
    }
    if (adds) open_importance(v, c, set, f);
    if (set->class_field.n || set->class_rules)
        open_classes(v, c, set, f);
    else if (adds && filter_classes(f) > 1 && filter_option(f, "hot") == 0)
        cli_misuse(c,
                   !cli_has_option(c, "class-field")
                       ? "dedup does not support classes of keys: give a weighted filter a single k"
                       : "a weighted filter with classes needs --class-field, --class-rules or "
                         "--classes");
}

void values_close(values *v) {
    class_file_free(&v->rules);
    free(v->key);
}
