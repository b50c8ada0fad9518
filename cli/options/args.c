/* args.c - the command line, read by a command's option table.
 *
 * Short options cluster (-0q, -f3), long ones take =value or the next word,
 * options and operands may be mixed, "--" ends the options, "-" is an operand.
 * Of an option given twice the last counts, but for those that make a list. */
#include "cli.h"
#include "io.h"
#include "options.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIME_WANTED "a time from 1ms to 366d, such as 500ms, 90s, 10m, 2h or 1d"

/* How the option was written, for messages: -m or --memory. */
typedef struct spelling {
    char text[48];
} spelling;

static spelling spell(const cli_option *o, bool as_letter) {
    spelling s;
    if (as_letter)
        snprintf(s.text, sizeof s.text, "-%c", o->letter);
    else
        snprintf(s.text, sizeof s.text, "--%s", o->name);
    return s;
}

static bool is_option(const cli_option *o) {
    return o->name != NULL;
}

static bool is_end(const cli_option *o) {
    return !o->name && !o->help;
}

static const cli_option *find_letter(const cli_command *c, char letter) {
    for (const cli_option *o = c->options; !is_end(o); o++)
        if (is_option(o) && o->letter == letter) return o;
    cli_misuse(c, "%s has no option -%c", c->name, letter);
}

/* What some options are called elsewhere. */
static const char *const other_names[][2] = {{"value", "weight-field"},
                                             {"values", "weight-field"},
                                             {"column", "field"},
                                             {"separator", "delimiter"}};

static const char *nearest_option(const cli_command *c, const char *name) {
    nearest near = {0};
    for (const cli_option *o = c->options; !is_end(o); o++)
        if (is_option(o)) nearest_try(&near, name, o->name);
    return near.word;
}

static const cli_option *find_name(const cli_command *c, const char *name) {
    for (const cli_option *o = c->options; !is_end(o); o++)
        if (is_option(o) && strcmp(o->name, name) == 0) return o;
    const char *meant = nearest_option(c, name);
    for (size_t i = 0; !meant && i < sizeof other_names / sizeof *other_names; i++)
        if (strcmp(other_names[i][0], name) == 0) meant = nearest_option(c, other_names[i][1]);
    if (meant) cli_misuse(c, "%s has no option --%s; did you mean --%s?", c->name, name, meant);
    cli_misuse(c, "%s has no option --%s", c->name, name);
}

/* A number, not negative, and what stands behind it. */
static bool read_number(const char *text, double *value, const char **unit) {
    char *end;
    if (!isdigit((unsigned char)text[0]) && text[0] != '.') return false;
    if (text[0] == '0' && tolower((unsigned char)text[1]) == 'x') return false;
    errno = 0;
    *value = strtod(text, &end);
    *unit = end;
    return end != text && isfinite(*value);
}

typedef struct unit {
    const char *name;
    double factor;
} unit;

static bool scale(double *value, const char *name, const unit *units) {
    for (; units->name; units++)
        if (strcmp(units->name, name) == 0) {
            *value *= units->factor;
            return true;
        }
    return false;
}

static const unit time_units[] = {{"", 1},     {"ms", 1e-3}, {"s", 1}, {"m", 60},
                                  {"h", 3600}, {"d", 86400}, {NULL, 0}};

static bool read_time(const char *text, double *seconds) {
    const char *name;
    return read_number(text, seconds, &name) && scale(seconds, name, time_units) &&
           *seconds >= 0.001 && *seconds <= 366 * 86400.0;
}

bool args_count(const char *text, double *count) {
    static const unit units[] = {{"", 1},    {"K", 1e3},  {"k", 1e3}, {"M", 1e6},
                                 {"G", 1e9}, {"T", 1e12}, {NULL, 0}};
    const char *name;
    return read_number(text, count, &name) && scale(count, name, units) && *count <= 1e18;
}

/* Without a unit of time, lines. */
static bool read_stretch(const char *text, stretch *s) {
    const char *name;
    double number;
    *s = (stretch){0};
    if (!read_number(text, &number, &name)) return false;
    if (scale(&number, name, time_units + 1)) return read_time(text, &s->seconds);
    return args_count(text, &s->lines) && s->lines >= 1 && s->lines == floor(s->lines);
}

static bool read_real(const char *text, double *value) {
    const char *rest;
    return read_number(text, value, &rest) && *rest == '\0';
}

static bool read_share(const char *text, double *share) {
    static const unit units[] = {{"", 1}, {"%", 0.01}, {NULL, 0}};
    const char *name;
    return read_number(text, share, &name) && scale(share, name, units) && *share >= 1e-9 &&
           *share <= 0.5;
}

static bool read_index(const char *text, uint64_t *index) {
    *index = fields_read_index(&text);
    return *index > 0 && *text == '\0';
}

static bool read_byte(const char *text, unsigned *byte) {
    if (text[0] == '\0') return false;
    if (strcmp(text, "blank") == 0) {
        *byte = DELIMITER_BLANK;
        return true;
    }
    if (text[0] == '\\' && text[1] && text[2] == '\0') {
        *byte = text[1] == 't' ? '\t' : text[1] == '0' ? '\0' : '\\';
        return strchr("t0\\", text[1]) != NULL;
    }
    *byte = (unsigned char)text[0];
    return text[1] == '\0';
}

static bool read_word(const char *text) {
    for (const char *p = text; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '.' && *p != '+' && *p != '-') return false;
    return *text != '\0';
}

bool choice_is_among(const char *choices, const char *word) {
    const size_t length = strlen(word);
    for (; *choices; choices += strcspn(choices, "|"), choices += *choices == '|')
        if (strcspn(choices, "|") == length && strncmp(choices, word, length) == 0) return true;
    return false;
}

const char *choices_listed(const char *choices, char text[CHOICES_TEXT]) {
    size_t used = 0;
    text[0] = '\0';
    while (*choices && used < CHOICES_TEXT) {
        const size_t length = strcspn(choices, "|");
        const bool last = choices[length] == '\0';
        const char *const between = used == 0 ? "" : last ? " or " : ", ";
        used += (size_t)snprintf(text + used, CHOICES_TEXT - used, "%s%.*s", between, (int)length,
                                 choices);
        choices += length + !last;
    }
    return text;
}

static void append(texts *list, const char *text) {
    list->text = cli_grow(list->text, &list->cap, (list->n + 1) * sizeof *list->text);
    list->text[list->n++] = text;
}

static void *place(const cli_option *o, settings *set) {
    return (char *)(o->own ? set->own : set) + o->offset;
}

/* Stores the value at its place; NULL, or what would have been right. */
static const char *store(const cli_option *o, const char *value, settings *set) {
    static char listed[CHOICES_TEXT];
    void *at = place(o, set);
    switch (o->type) {
    case OPT_FLAG:
        *(bool *)at = true;
        return NULL;
    case OPT_WORD:
        if (!read_word(value)) return "one number";
        *(const char **)at = value;
        return NULL;
    case OPT_TEXT:
        if (!*value) return "a name";
        *(const char **)at = value;
        return NULL;
    case OPT_TEXTS:
        append(at, value);
        return NULL;
    case OPT_BYTE:
        return read_byte(value, at) ? NULL : "one byte (or \\t, \\\\, \\0) or blank";
    case OPT_INDEX:
        return read_index(value, at) ? NULL : "a whole number from 1 to 999999999";
    case OPT_THREADS:
        return read_index(value, at) && *(uint64_t *)at <= THREADS_MAX
                   ? NULL
                   : "a whole number from 1 to " TEXT_OF(THREADS_MAX);
    case OPT_FIELDS:
        return fields_read(value, at) ? NULL
                                      : "fields, each once, such as 3, 1,3, 2-4, 5-, -1 or name";
    case OPT_FIELD:
        return fields_read_one(value, at) ? NULL : "one field, such as 3, -1 or name";
    case OPT_COUNT:
        return args_count(value, at) ? NULL : "a number from 0 to 1e18, such as 10M";
    case OPT_REAL:
        return read_real(value, at) ? NULL : "a number, 0 or more";
    case OPT_SHARE:
        return read_share(value, at) ? NULL : "a share from 1e-9 to 0.5, such as 1e-6 or 0.1%";
    case OPT_TIME:
        return read_time(value, at) ? NULL : TIME_WANTED;
    case OPT_LENGTH:
        return read_stretch(value, at) ? NULL
                                       : "a number of lines such as 1e6 or 10M, or " TIME_WANTED;
    case OPT_CHOICE:
        if (!choice_is_among(o->choices, value)) return choices_listed(o->choices, listed);
        *(const char **)at = value;
        return NULL;
    }
    return "of a known type";
}

static void set_option(const cli_command *c, const cli_option *o, bool as_letter, const char *value,
                       settings *set) {
    const char *wanted = store(o, value, set);
    if (wanted) cli_misuse(c, "%s must be %s, not \"%s\"", spell(o, as_letter).text, wanted, value);
}

static const char *next_word(const cli_command *c, const cli_option *o, bool as_letter,
                             char ***argv) {
    if (!(*argv)[1]) cli_misuse(c, "%s needs a value: %s", spell(o, as_letter).text, o->value_name);
    return *++*argv;
}

/* One word of short options.  argv points at it, and moves on if it takes the next word. */
static void parse_letters(const cli_command *c, char ***argv, settings *set) {
    for (const char *p = **argv + 1; *p; p++) {
        if (*p == 'h') help_command(c);
        const cli_option *o = find_letter(c, *p);
        if (o->type == OPT_FLAG) {
            set_option(c, o, true, "", set);
            continue;
        }
        set_option(c, o, true, p[1] ? p + 1 : next_word(c, o, true, argv), set);
        return;
    }
}

static void parse_name(const cli_command *c, char ***argv, settings *set) {
    char *name = **argv + 2, *equals = strchr(name, '=');
    if (equals) *equals = '\0';
    const char *value = equals ? equals + 1 : NULL;
    if (strcmp(name, "help") == 0) {
        if (value) cli_misuse(c, "--help takes no value");
        help_command(c);
    }
    const cli_option *o = find_name(c, name);
    if (o->type == OPT_FLAG && value) cli_misuse(c, "--%s takes no value", name);
    if (o->type == OPT_FLAG) value = "";
    set_option(c, o, false, value ? value : next_word(c, o, false, argv), set);
}

size_t args_parse(const cli_command *c, char **argv, settings *set) {
    char **operands = argv;
    size_t n = 0;
    bool options = true;
    for (; *argv; argv++) {
        char *word = *argv;
        if (!options || word[0] != '-' || word[1] == '\0')
            operands[n++] = word;
        else if (strcmp(word, "--") == 0)
            options = false;
        else if (word[1] == '-')
            parse_name(c, &argv, set);
        else
            parse_letters(c, &argv, set);
    }
    if (n < c->min_operands) cli_misuse(c, "%s needs %s", c->name, c->operands);
    if (n > c->max_operands)
        cli_misuse(c, "%s: one operand too many: %s", c->name, operands[n - 1]);
    operands[n] = NULL;
    return n;
}

void args_free(const cli_command *c, settings *set) {
    for (const cli_option *o = c->options; !is_end(o); o++)
        if (is_option(o) && o->type == OPT_TEXTS) free(((texts *)place(o, set))->text);
    free(set->own);
}
