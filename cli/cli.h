/* cli.h - what the parts of the everbloom command share: messages, settings, commands.
 *
 * The command is thin.  A word on the command line picks a cli_command; its
 * option table (options.c) fills one struct settings; its run function does the
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
#define HOT_MAX 1e9
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

/* What the options of all commands set; a command reads those in its table. */
typedef struct settings {
    const char *filter, *memory, *seed, *family, *on_full; /* NULL: not given */
    const char *state, *output, *save;
    bool new_keys;
    double every_seconds;
    field_list field, s_field; /* of the key; s_field: in S, for join */
    unsigned delimiter;        /* NO_DELIMITER: not given */
    bool csv, tsv, jsonl, nul;
    const char *regex; /* NULL: not given */
    bool header, ignore_case, trim;
    uint64_t threads;            /* 0: not given */
    const char *on_bad, *packed; /* NULL: not given */
    bool repeated, mark, absent;
    bool stats, json, quiet, force, summary;
    double stats_every; /* in seconds; 0: not given */
    const char *metrics;
    const char *as; /* what answers look like; NULL: not given */
    double items, distinct, gap, zipf;
    double max_drop;               /* 0: not given */
    double max_fpr, max_fnr, rate; /* 0: not given */
    const char *fpr_is;            /* mean, end, worst; NULL: not given */
    texts needs;
    bool endless, explain, all_kinds, plot;
    const char *svg, *over; /* NULL: not given */
    double sample;          /* 0: not given */
    const char *order;      /* of repeats: shuffled, recent; NULL: unknown */
    field_list importance_field;
    const char *importance_range;
    const char *classes, *class_rules;
    field_list class_field;
    stretch window;
    const char *on_overload;
    const char *decay, *shape; /* NULL: not given */
    uint64_t epochs;           /* 0: not given */
    double power;              /* 0: not given */
    field_list time_field;
    const char *time_format;           /* NULL: not given */
    double max_jump;                   /* in seconds; 0: not given */
    double half_life, refresh_seconds; /* in seconds; 0: not given */
    uint64_t top;                      /* 0: not given */
    bool refresh;
    const char *members;
    double hot;
    field_list weight_field, by;
    const char *queries, *snapshot;
    texts keys;
    bool removable, remove, names;
    const char *values, *min, *max, *ranges;
    uint64_t bits; /* 0: not given */
    texts from, to, quantiles;
    const char *code, *store;
    double counter_bits; /* 0: not given */
    const char *having, *with, *exact, *counts, *method;
    const char *per;
    bool ship, candidates, verify, estimate, size, snapshots;
    texts at_least, rescan;
    double alert;                 /* 0: not given */
    const char *candidate_memory; /* NULL: not given */
    bool multiscan;
    uint64_t scans;    /* 0: not given */
    const char *redis; /* NULL: not given */
    struct {           /* everbloom corpus */
        texts units;
        const char *files_from, *text, *normalise, *action; /* NULL: not given */
        double threshold, similarity;                       /* 0: not given */
        uint64_t level, threads;                            /* 0: not given */
    } corpus;
} settings;
enum { NO_DELIMITER = 256, DELIMITER_BLANK = 257 };

typedef enum option_type {
    OPT_FLAG,   /* bool */
    OPT_TEXT,   /* const char * */
    OPT_TEXTS,  /* texts: one more of them, perhaps empty */
    OPT_WORD,   /* const char *: letters, digits, dot and sign, to become part of a spec */
    OPT_BYTE,   /* unsigned: one byte, or \t, \\ and \0, or blank */
    OPT_INDEX,  /* uint64_t, from 1 */
    OPT_FIELDS, /* field_list */
    OPT_FIELD,  /* field_list, of one field */
    OPT_COUNT,  /* double: 1e9, 10M */
    OPT_REAL,   /* double */
    OPT_SHARE,  /* double: 1e-6, 0.1% */
    OPT_TIME,   /* double, in seconds: 30s, 500ms, 5m */
    OPT_LENGTH, /* stretch: lines, or a time */
    OPT_CHOICE  /* const char *: one of the row's choices */
} option_type;

/* A row of a table.  Without a name it is a heading; without name and help, the end. */
typedef struct cli_option {
    char letter;            /* 0: none */
    const char *name;       /* without the dashes */
    const char *value_name; /* NULL: a flag */
    option_type type;
    size_t offset; /* in settings */
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
    int (*run)(const cli_command *c, const settings *set, char **operands, size_t n);
    /* The filter that the options ask for when --filter names none, without its memory; true: it
     * says itself how much it needs.  Options that do not go together end the program.  NULL: the
     * command makes no filter. */
    bool (*filter)(const cli_command *c, const settings *set, char *spec, size_t cap);
};
extern const cli_command cli_commands[]; /* ends with a NULL name */
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

/* The commands. */
int run_dedup(const cli_command *c, const settings *set, char **operands, size_t n);
int run_add(const cli_command *c, const settings *set, char **operands, size_t n);
int run_test(const cli_command *c, const settings *set, char **operands, size_t n);
int run_distinct(const cli_command *c, const settings *set, char **operands, size_t n);
int run_count(const cli_command *c, const settings *set, char **operands, size_t n);
int run_top(const cli_command *c, const settings *set, char **operands, size_t n);
int run_range(const cli_command *c, const settings *set, char **operands, size_t n);
int run_join(const cli_command *c, const settings *set, char **operands, size_t n);
int run_sum(const cli_command *c, const settings *set, char **operands, size_t n);
int run_weigh(const cli_command *c, const settings *set, char **operands, size_t n);
int run_info(const cli_command *c, const settings *set, char **operands, size_t n);
int run_check(const cli_command *c, const settings *set, char **operands, size_t n);
int run_merge(const cli_command *c, const settings *set, char **operands, size_t n);
int run_copy(const cli_command *c, const settings *set, char **operands, size_t n);
int run_freeze(const cli_command *c, const settings *set, char **operands, size_t n);
int run_thaw(const cli_command *c, const settings *set, char **operands, size_t n);
int run_diff(const cli_command *c, const settings *set, char **operands, size_t n);
int run_patch(const cli_command *c, const settings *set, char **operands, size_t n);
int run_plan(const cli_command *c, const settings *set, char **operands, size_t n);
int run_try(const cli_command *c, const settings *set, char **operands, size_t n);
int run_predict(const cli_command *c, const settings *set, char **operands, size_t n);
int run_corpus(const cli_command *c, const settings *set, char **operands, size_t n);
int run_kinds(const cli_command *c, const settings *set, char **operands, size_t n);
bool dedup_filter(const cli_command *c, const settings *set, char *spec, size_t cap);
bool add_filter(const cli_command *c, const settings *set, char *spec, size_t cap);
bool count_filter(const cli_command *c, const settings *set, char *spec, size_t cap);
bool top_filter(const cli_command *c, const settings *set, char *spec, size_t cap);
bool range_filter(const cli_command *c, const settings *set, char *spec, size_t cap);
bool sum_filter(const cli_command *c, const settings *set, char *spec, size_t cap);
#endif
