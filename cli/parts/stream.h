/* stream.h - lines through a filter: the loop of dedup, add and test. */
#ifndef EVERBLOOM_STREAM_H
#define EVERBLOOM_STREAM_H
#include "ahead.h"
#include "cli.h"
#include "exact.h"
#include "health.h"
#include "input/bad.h"
#include "input/values.h"
#include "io.h"
#include "look.h"
#include "window.h"

enum {
    STREAM_BATCH = 512,
    METRICS_SECONDS = 10
}; /* lines that are hashed and looked up together */

typedef enum print_mode { PRINT_NONE, PRINT_NEW, PRINT_SEEN, PRINT_MARKED } print_mode;

typedef struct stream {
    const settings *set;
    const cli_command *command;
    reader in;
    output out;
    atomic_file file; /* behind out, with -o */
    print_mode print;
    bool adds;        /* else it only asks */
    bool removes;     /* takes keys out instead */
    bool keeps_zeros; /* lines of weight 0 come to look_up, too */
    bool passes_bad;  /* lines, unless --on-bad says otherwise */
    eb_filter *filter;
    uint64_t lines, seen; /* lines: bad ones counted */
    double total;         /* of weights, or lines, in the life of the filter */
    health health;
    bad_lines bad;

    /* For commands that want it otherwise: is key i of the batch good (else the reason goes to
     * bad.why); what takes the place of eb_hash_keys, and of the look-up; what is done with each
     * batch; and what these need. */
    bool (*accept)(struct stream *s, size_t i);
    bool wants_text; /* the field of values as it is, in text */
    void (*hash_keys)(const struct stream *s, const eb_key *key, size_t n, eb_hash *out);
    void (*look_up)(struct stream *s, const eb_batch *batch);  /* in place of the filter's */
    void (*take)(void *ctx, const struct stream *s, size_t n); /* n keys that were looked up */
    void (*print_lines)(struct stream *s, size_t n); /* in place of the stream's; 0: the end */
    void *ctx;
    void (*tick)(struct stream *s); /* between blocks, and at least so often, in seconds */
    double tick_seconds;
    bool stop;       /* set by tick: end as if the input had */
    first_look look; /* at the first lines, if it is open; at its end: what to make of it */
    void (*looked)(struct stream *s);
    const char *order; /* what the look has shown, for --stats; NULL: nothing */

    const char *state;                    /* where to save on the way, or NULL */
    void (*save)(const struct stream *s); /* in place of filter_save */
    uint64_t lines_saved;
    double start, save_due, watch_due;
    progress progress;

    bool header_passed;             /* the line with the names of the columns is printed */
    const char *bad_line, *bad_end; /* a bad line behind the batch, or NULL */
    char mark[3][2];

    lines_wish wish;
    eb_filter *hasher;        /* what hashes keys: the filter, or the one it was before a change */
    keyed_lines own;          /* the lines of a batch, with one thread */
    ahead *ahead;             /* with several, else NULL */
    fill ended;               /* FILL_END or FILL_ERROR, when the last block is read */
    uint64_t at_file, before; /* the file that is worked on; its records in blocks that are done */
    const char *name;         /* of that file */
    uint64_t record;          /* the last that was taken of it */

    /* The batch: a part of lines. */
    const char **line;             /* where each line begins, and the last ends */
    uint64_t number[STREAM_BATCH]; /* of each line in its file */
    eb_key *key, *text;
    eb_hash *hash;
    uint64_t *value; /* if values says where they come from */
    values values;
    uint64_t time[STREAM_BATCH]; /* if times are wanted */
    uint64_t now[STREAM_BATCH];  /* the present then, which is later if a line is late */
    time_place place[STREAM_BATCH];
    bool refuted[STREAM_BATCH];
    times times;
    struct late *late;   /* lines that are not in order, or NULL */
    exact_counts *exact; /* of what the filter was given, or NULL */
    uint8_t hit[STREAM_BATCH];
} stream;

/* Fill in set, print, adds or removes, filter and state, in this order; after the filter, open
 * values. */
void stream_open(stream *s, const cli_command *c, char *const *paths);
/* Go on with another filter: what the old one has seen must be in it. */
void stream_change_filter(stream *s, eb_filter *f);
/* Reads to the end, or until a signal or a read error, finishes the output and saves the state.
 * Status: 0, 2 after a read error, 128 + signal. */
int stream_run(stream *s);
/* Keys of the command line take the place of lines. */
void stream_run_keys(stream *s, const texts *keys);
/* The same lines again, or those of other files, through the same loop. */
void stream_again(stream *s, const cli_command *c, char *const *paths);
void stream_close(stream *s);
void stream_end(stream *s); /* with the filter, after its statistics if they are asked for */
void stream_metrics(const stream *s); /* what --metrics writes */
void stream_stats(const stream *s);   /* what --stats prints: cmd_stream.c */
#endif
