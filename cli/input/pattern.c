/* pattern.c - --regex, by PCRE2, if the command was built with it. */
#include "pattern.h"

#ifdef HAVE_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

struct pattern {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *context;
    const char *line; /* that was matched last */
    uint32_t groups;
};

/* A pattern that goes back and forth without end must not stop the stream: it does not match. */
enum { PATTERN_STEPS = 1000000 };

bool pattern_is_there(void) {
    return true;
}

/* What a match needs besides the pattern. */
static void open_match(pattern *p) {
    p->match = pcre2_match_data_create_from_pattern(p->code, NULL);
    p->context = pcre2_match_context_create(NULL);
    if (!p->match || !p->context) cli_fail("out of memory");
    pcre2_set_match_limit(p->context, PATTERN_STEPS);
}

pattern *pattern_new(const cli_command *c, const char *text) {
    int error;
    PCRE2_SIZE at;
    pcre2_code *const code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                                           PCRE2_MATCH_INVALID_UTF, &error, &at, NULL);
    if (!code) {
        char why[120];
        pcre2_get_error_message(error, (PCRE2_UCHAR *)why, sizeof why);
        cli_misuse(c, "--regex %s: %s, at byte %zu", text, why, (size_t)at + 1);
    }
    pattern *const p = cli_alloc(sizeof *p);
    *p = (pattern){.code = code};
    (void)pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE);
    (void)pcre2_pattern_info(p->code, PCRE2_INFO_CAPTURECOUNT, &p->groups);
    open_match(p);
    return p;
}

pattern *pattern_copy(const pattern *p) {
    if (!p) return NULL;
    pattern *const copy = cli_alloc(sizeof *copy);
    *copy = *p;
    open_match(copy);
    return copy;
}

void pattern_copy_free(pattern *copy) {
    if (!copy) return;
    pcre2_match_context_free(copy->context);
    pcre2_match_data_free(copy->match);
    free(copy);
}

void pattern_free(pattern *p) {
    if (p) pcre2_code_free(p->code);
    pattern_copy_free(p);
}

uint64_t pattern_groups(const pattern *p) {
    return p->groups;
}

uint64_t pattern_group_named(const pattern *p, const char *name, size_t len) {
    char text[128];
    if (len >= sizeof text) return 0;
    memcpy(text, name, len);
    text[len] = '\0';
    const int group = pcre2_substring_number_from_name(p->code, (PCRE2_SPTR)text);
    return group > 0 ? (uint64_t)group : 0;
}

bool pattern_match(pattern *p, const char *line, const char *end) {
    p->line = line;
    return pcre2_match(p->code, (PCRE2_SPTR)line, (PCRE2_SIZE)(end - line), 0, 0, p->match,
                       p->context) > 0;
}

eb_key pattern_group(const pattern *p, uint64_t n) {
    const PCRE2_SIZE *const at = pcre2_get_ovector_pointer(p->match) + 2 * n;
    if (n >= pcre2_get_ovector_count(p->match) || at[0] == PCRE2_UNSET || at[1] < at[0])
        return (eb_key){NULL, 0};
    return (eb_key){p->line + at[0], at[1] - at[0]};
}

#else

bool pattern_is_there(void) {
    return false;
}

pattern *pattern_new(const cli_command *c, const char *text) {
    (void)text;
    cli_misuse(c, "this everbloom was built without PCRE2, which --regex needs");
}

void pattern_free(pattern *p) {
    (void)p;
}

pattern *pattern_copy(const pattern *p) {
    (void)p;
    return NULL;
}

void pattern_copy_free(pattern *copy) {
    (void)copy;
}

uint64_t pattern_groups(const pattern *p) {
    (void)p;
    return 0;
}

uint64_t pattern_group_named(const pattern *p, const char *name, size_t len) {
    (void)p, (void)name, (void)len;
    return 0;
}

bool pattern_match(pattern *p, const char *line, const char *end) {
    (void)p, (void)line, (void)end;
    return false;
}

eb_key pattern_group(const pattern *p, uint64_t n) {
    (void)p, (void)n;
    return (eb_key){NULL, 0};
}
#endif
