/* cli.h - what the parts of the everbloom command share: messages, settings, commands.
 *
 * The command is thin.  A word on the command line picks a cli_command; its
 * option table fills struct settings and a structure of its own; its run function does the
 * work with the public library and with io.h.  Trouble ends the program where
 * it is found, through cli_fail. */
#ifndef EVERBLOOM_CLI_H
#define EVERBLOOM_CLI_H
#ifndef EB_STATIC_ONLY
#define EB_STATIC_ONLY /* for experimental.h: all of this is linked statically */
#endif
#include "input/fields.h"
#include <everbloom/everbloom.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { STATUS_YES = 0, STATUS_NO = 1, STATUS_TROUBLE = 2 };

/* The filters of dedup and add when the command line names none. */
#define DEFAULT_DEDUP "lru"
#define DEFAULT_ADD "bloom"
#define DEFAULT_IMPORTANCE "lru:keep=important"
#define DEFAULT_COUNT "spectral"
#define DEFAULT_REMOVABLE "spectral_rm"
#define DEFAULT_WEIGHTS "line"
#define DEFAULT_RANGE "dyadic:bits=32,keys=i64" /* signed numbers of 32 bits */
#define DEFAULT_MAX_DROP 1.2e-6
#define DEFAULT_IMPORTANCE_DROP 1e-3
#define DEFAULT_MEMORY "64M"
#define DEFAULT_SUM "spectral:update=plain,span=0,store=u32"
#define DEFAULT_JOIN_MEMORY "1G"
#define DEFAULT_EVERY_SECONDS 30
#define DEFAULT_HALF_LIFE_SECONDS 600
#define DEFAULT_REFRESH_SECONDS 1
#define DEFAULT_TOP 20
#define THREADS_MAX 64

/* What an option that may be given several times was given. */
typedef struct texts {
    const char **text;
    size_t n, cap;
} texts;

/* So many lines, or so much time; both 0: not given. */
typedef struct stretch {
    double lines, seconds;
} stretch;

/* What options set that several commands have; those of one command are in a structure of its own.
 * NULL, 0 or none: not given. */
typedef struct settings {
    /* The key of a line, and what else stands in it. */
    field_list field, s_field; /* s_field: in S, for join */
    unsigned delimiter;        /* NO_DELIMITER: not given */
    bool csv, tsv, jsonl, nul, header, ignore_case, trim, mark;
    const char *regex, *on_bad, *packed;
    uint64_t threads;
    field_list importance_field, class_field, weight_field, by;
    const char *importance_range, *classes, *class_rules;

    /* The filter, and where it is kept. */
    const char *filter, *memory, *seed, *family, *on_full;
    double max_drop;
    bool removable;
    const char *state, *output, *save, *redis;
    double every_seconds;
    bool new_keys, force;

    /* The stream to come. */
    double items, distinct, gap, zipf;
    const char *order; /* of repeats */

    /* Time. */
    stretch window;
    field_list time_field;
    const char *time_format;
    double max_jump, half_life; /* in seconds */
    const char *decay, *heights;
    uint64_t epochs;
    double power;

    /* Questions, answers and reports. */
    texts keys;
    const char *queries, *snapshot, *as, *metrics;
    bool names, stats, json, quiet;
    double stats_every; /* in seconds */

    void *own; /* the command's structure */
} settings;
enum { NO_DELIMITER = 256, DELIMITER_BLANK = 257 };

typedef enum option_type {
    OPT_FLAG,    /* bool */
    OPT_TEXT,    /* const char * */
    OPT_TEXTS,   /* texts: one more of them, perhaps empty */
    OPT_WORD,    /* const char *: letters, digits, dot and sign, to become part of a spec */
    OPT_BYTE,    /* unsigned: one byte, or \t, \\ and \0, or blank */
    OPT_INDEX,   /* uint64_t, from 1 */
    OPT_THREADS, /* uint64_t, 1 to THREADS_MAX */
    OPT_FIELDS,  /* field_list */
    OPT_FIELD,   /* field_list, of one field */
    OPT_COUNT,   /* double: 1e9, 10M */
    OPT_REAL,    /* double */
    OPT_SHARE,   /* double: 1e-6, 0.1% */
    OPT_TIME,    /* double, in seconds: 30s, 500ms, 5m */
    OPT_LENGTH,  /* stretch: lines, or a time */
    OPT_CHOICE   /* const char *: one of the row's choices */
} option_type;

/* A row of a table.  Without a name it is a heading; without name and help, the end. */
typedef struct cli_option {
    char letter;            /* 0: none */
    const char *name;       /* without the dashes */
    const char *value_name; /* NULL: a flag */
    option_type type;
    bool own;      /* in the command's structure, else in settings */
    size_t offset; /* there */
    const char *help;
    const char *choices; /* of OPT_CHOICE: a|b|c */
} cli_option;

typedef struct cli_example {
    const char *line, *meaning;
} cli_example;

typedef struct cli_command cli_command;
struct cli_command {
    const char *name;
    const char *operands; /* as in the synopsis */
    const char *summary;  /* one line, no full stop */
    const char *text;     /* paragraphs, parted by an empty line */
    const cli_option *options;
    const cli_example *examples; /* ends with a NULL line */
    const char *status;          /* what status 1 means, or NULL */
    size_t min_operands, max_operands;
    size_t own;                      /* bytes of the structure for its own options */
    void (*defaults)(settings *set); /* that are not 0; NULL: none */
    int (*run)(const cli_command *c, const settings *set, char **operands, size_t n);
    /* The filter that the options ask for when --filter names none, without its memory; true: it
     * says itself how much it needs.  Options that do not go together end the program.  NULL: the
     * command makes no filter. */
    bool (*filter)(const cli_command *c, const settings *set, char *spec, size_t cap);
};
enum { CLI_MANY = 1 << 30 };                    /* operands */
extern const cli_command *const cli_commands[]; /* ends with NULL */
extern const char cli_summary[], cli_text[];
const cli_command *cli_find(const char *name);
bool cli_has_option(const cli_command *c, const char *name);

/* messages.c: "everbloom: ..." on standard error. */
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void cli_misuse(const cli_command *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void *cli_alloc(size_t size); /* never NULL */
/* old, or NULL, with room for `wanted` bytes; more than that, so that it can grow often. */
void *cli_grow(void *old, size_t *cap, size_t wanted);
/* The word of a list nearest to a mistyped one, or NULL if none is near. */
typedef struct nearest {
    const char *word;
    size_t best;
} nearest;
void nearest_try(nearest *n, const char *typed, const char *word);

/* args.c: fills set, moves the operands to the front of argv, returns how many. */
size_t args_parse(const cli_command *c, char **argv, settings *set);
void args_free(const cli_command *c, settings *set);
bool args_count(const char *text, double *count); /* 1e9, 10M: false if it is no such number */
/* Of choices a|b|c: is the word one of them?  "a, b or c". */
bool choice_is_among(const char *choices, const char *word);
enum { CHOICES_TEXT = 160 };
const char *choices_listed(const char *choices, char text[CHOICES_TEXT]);

/* help.c, man.c, complete.c: all made from the tables. */
_Noreturn void help_program(void);
_Noreturn void help_command(const cli_command *c);
void man_page(const char *page);
void man_list_pages(void);
void complete_bash(void);
void complete_zsh(void);
void complete_fish(void);
void complete_spec(const char *spec); /* words that begin with this part of a spec, a line each */

/* report.c: numbers for people and for machines. */
typedef struct report report;
struct report {
    FILE *to;
    bool json, open;
};
void report_begin(report *r, FILE *to, bool json);
void report_text(report *r, const char *key, const char *label, const char *value);
void report_key(report *r, const char *key, eb_key value);         /* any bytes; JSON only */
void report_plain(report *r, const char *key, const char *number); /* a number as it is written */
void report_count(report *r, const char *key, const char *label, uint64_t value);
void report_bytes(report *r, const char *key, const char *label, double value);
void report_real(report *r, const char *key, const char *label, double value);
void report_amount(report *r, const char *key, const char *label, double value); /* no exponents */
void report_list(report *r, const char *key, const char *label, const double *values, size_t n);
void report_end(report *r);
void json_string(FILE *to, const char *text);
void json_bytes(FILE *to, const void *bytes, size_t n);
void json_number(FILE *to, double value);
const char *human_bytes(char buf[32], double bytes);
const char *human_number(char buf[32], double x); /* three digits: 1.5e6 */
void finish_stdout(void);                         /* flush; a write error is trouble */

/* Of commands whose table is in a file of its own. */
int run_top(const cli_command *c, const settings *set, char **operands, size_t n);
int run_corpus(const cli_command *c, const settings *set, char **operands, size_t n);
bool top_filter(const cli_command *c, const settings *set, char *spec, size_t cap);
bool count_filter(const cli_command *c, const settings *set, char *spec, size_t cap);
#endif
