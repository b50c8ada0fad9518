/* values.h - numbers that come with keys: an importance, a weight, or a class of keys. */
#ifndef EVERBLOOM_VALUES_H
#define EVERBLOOM_VALUES_H
#include "cli.h"
#include "io.h"

/* A file of CLASS<TAB>TEXT lines: a hot list or rules.  Its text is a key or a pattern. */
typedef struct class_line {
    uint32_t class_number;
    size_t at, len; /* of the text */
} class_line;
typedef struct class_file {
    class_line *lines;
    size_t n, lines_cap;
    char *bytes; /* texts, each with a final NUL */
    size_t used, bytes_cap;
} class_file;
/* A line of another form, or of a class above `classes`, ends the program. */
class_file class_file_read(const char *path, const char *text_name, bool nul, uint32_t classes);
void class_file_free(class_file *file);

/* Where values come from: nowhere, from a field of the line, or from rules about the key. */
typedef enum value_source { VALUES_NONE = 0, VALUES_FIELD, VALUES_RULES } value_source;
enum { VALUES_WHY = 200 };
typedef struct values {
    value_source from;
    const char *name; /* for messages */
    uint32_t low, high;
    class_file rules;
    char *key; /* the last key asked about, with a final NUL */
    size_t key_cap;
} values;

/* What the options say, as far as the filter allows it. */
void values_open(values *v, const cli_command *c, const settings *set, const eb_filter *f,
                 bool adds);
void values_weights(values *v, const settings *set); /* the weights alone, if there are any */
void values_close(values *v);
/* False: the line has none that can be read, as `why` says. */
bool value_of_line(values *v, reader *r, const char *line, const char *end, eb_key key,
                   uint64_t *value, char why[VALUES_WHY]);
/* The number in a text of the last record taken; if it is none, or out of range, no return. */
uint32_t value_read(const reader *r, const char *name, eb_key text, uint32_t low, uint32_t high);
#endif
