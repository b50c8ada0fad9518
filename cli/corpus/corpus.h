/* corpus.h - everbloom corpus: the parts of a run.
 *
 *   files     which files, and where each goes           files.c
 *   source    plain bytes of a file                       source.c (and back: pack.c)
 *   reading   files, one after the other, in chunks       reading.c
 *   parse     records to units and their hashes           parse.c
 *   decide    what was seen before; in input order        decide.c
 *   render    the bytes that are passed on                render.c
 *   pipeline  these stages on several threads             pipeline.c
 *   against   filters of other texts                      against.c
 *   plan      which filters, from a sample                plan.c, fresh.c
 *   page      the report in a file                        page.c
 *   resume    what a run that was killed goes on from     resume.c
 *
 * A chunk is some records of one file.  Where chunks end depends on the input alone, and only one
 * thread at a time decides, chunk after chunk: so the output does not depend on threads. */
#ifndef EVERBLOOM_CORPUS_H
#define EVERBLOOM_CORPUS_H
#include "input/bad.h"
#include "io.h"
#include "text.h"

typedef struct corpus_own { /* options of its own; 0, NULL or none: not given */
    texts units, against;
    const char *collect, *report; /* NULL: not given */
    uint64_t context;             /* 0: not given */
    const char *files_from, *text, *normalise, *action, *shard;
    double threshold, similarity;
    uint64_t level, threads;
} corpus_own;
static inline const corpus_own *corpus_of(const settings *set) {
    return set->own;
}

enum {
    CORPUS_RULES = 8,
    CORPUS_MATCHERS = 12,
    CORPUS_FOLDERS = 64,
    CORPUS_ERROR = 600,
    COURSE_MAX = 64
};

/* ---- files.c */

typedef enum packing { PACK_NONE, PACK_GZIP, PACK_ZSTD } packing;
typedef struct corpus_file {
    char *path, *out; /* out: under the folder of -o */
    uint64_t bytes;   /* as it is on disk */
    uint64_t changed; /* when, in nanoseconds */
    bool json;        /* else plain text, one document */
    packing pack;     /* by its name: what the output gets */
    size_t folder;    /* for the report */
} corpus_file;
typedef struct corpus_files {
    corpus_file *file;
    size_t n, cap;
    uint64_t bytes;
    char *folder[CORPUS_FOLDERS];
    size_t folders;
    size_t skipped; /* in folders, with names of other kinds */
} corpus_files;
/* All files of the operands in input order: folders, patterns, and the list in files_from. */
void files_find(corpus_files *f, char **operands, size_t n, const char *files_from,
                const char *out);
void files_free(corpus_files *f);

/* ---- source.c */

typedef struct source source;
source *source_open(const char *path, char *why, size_t cap); /* NULL: why */
/* Appends up to `most` plain bytes; 0 at the end, -1 if something is wrong. */
long source_read(source *s, char *to, size_t most, char *why, size_t cap);
bool source_is_packed(const source *s);
uint64_t source_packed_bytes(const source *s); /* read so far */
void source_close(source *s);
/* pack.c.  The bytes as one member or frame of their own; to: cli_grow. */
void pack_bytes(packing how, int level, const char *bytes, size_t n, char **to, size_t *length,
                size_t *cap);

/* ---- What a run does. */

typedef enum corpus_action {
    ACTION_DROP,
    ACTION_REMOVE,
    ACTION_ANNOTATE,
    ACTION_REPORT
} corpus_action;

typedef enum corpus_full { FULL_GROW, FULL_FORGET, FULL_STOP } corpus_full;

/* One filter that texts are compared with: our own, or one of --against. */
typedef struct matcher {
    char name[64];
    size_t rule;
    eb_filter *filter;
    struct snapshot *snapshot; /* that the filter is a view of; NULL: it is our own */
    bool own;                  /* it learns */
    bool idempotent;           /* what it knows need not be told again */
    double planned;            /* keys that it was made for */
    double promise;            /* share of its new keys that are taken for repeats, at most */
    double room;    /* keys that it may take in the memory it has; INFINITY: it forgets */
    double taken;   /* new keys so far, at most */
    bool told;      /* that there are more than planned */
    eb_hash *known; /* some of the hashes that the filter has, by their low bits; NULL: no table */
    size_t known_mask;
} matcher;
static inline void matcher_knows(const matcher *m, eb_hash hash) {
    m->known[hash & m->known_mask] = hash;
}

typedef struct corpus_counts {
    uint64_t documents, kept, bad, empty;
    uint64_t text_bytes, kept_bytes, words, kept_words;
    uint64_t units[CORPUS_MATCHERS], seen[CORPUS_MATCHERS];
} corpus_counts;

/* What some documents, one after the other, had. */
typedef struct corpus_stretch {
    uint64_t documents, units[CORPUS_MATCHERS], seen[CORPUS_MATCHERS];
    double keys[CORPUS_MATCHERS]; /* in the filter, at its end */
} corpus_stretch;
typedef struct corpus_course {
    uint64_t each; /* documents of a stretch */
    size_t n;
    corpus_stretch at[COURSE_MAX];
} corpus_course;

/* What was found so far: saved with a checkpoint as it is. */
typedef struct corpus_found {
    corpus_counts counts[CORPUS_FOLDERS];
    char first_bad[400];
    corpus_course course;
} corpus_found;

typedef struct corpus_run {
    const cli_command *command;
    const settings *set;
    corpus_files files;
    size_t first, end; /* of the files: those of this run */
    uint64_t bytes;    /* of these files, on disk */
    const char *out;   /* NULL: nothing is written */
    json_path text;
    corpus_action action;
    bad_policy on_bad;
    corpus_full on_full; /* what happens if there are more keys than planned */
    double threshold, similarity;
    bool partly; /* seen units are taken out; else documents stay or go as a whole */
    int level;   /* of compression; -1: the usual */
    unit_rule rule[CORPUS_RULES];
    size_t form[CORPUS_RULES];             /* which normalisation it uses */
    const eb_filter *hasher[CORPUS_RULES]; /* says how keys are hashed */
    eb_filter *hash;                       /* the one of our own filters */
    size_t rules;
    const normaliser *normal[CORPUS_RULES];
    size_t forms;
    matcher match[CORPUS_MATCHERS];
    size_t matchers;
    corpus_found found;
    eb_filter *top;   /* the units that are repeated most often; NULL: nobody asks */
    size_t top_match; /* whose */
    /* While it runs. */
    progress progress;
} corpus_run;

/* ---- Chunks. */

typedef struct document {
    size_t begin, end; /* of the record in the chunk, with its newline */
    record_state state;
    const char *why;
    json_value raw;
    const char *text;
    uint32_t length, words;
    size_t first[CORPUS_RULES], units[CORPUS_RULES];
    bool drop;
} document;
typedef enum chunk_state {
    CHUNK_FREE,
    CHUNK_BUSY,
    CHUNK_READ,
    CHUNK_PARSED,
    CHUNK_DECIDED,
    CHUNK_RENDERED
} chunk_state;
typedef struct chunk {
    chunk_state state;
    size_t file;
    bool last;        /* of its file */
    uint64_t line;    /* lines of the file before it */
    uint64_t plain;   /* bytes of the file, unpacked, up to its end */
    uint64_t on_disk; /* bytes of the file that were read for that */
    char *bytes;
    size_t n, cap;
    char *text; /* unescaped */
    size_t text_cap;
    document *doc;
    size_t docs, doc_cap;
    size_t now; /* the document that is decided */
    unit_text form[CORPUS_RULES];
    unit_list list[CORPUS_RULES];
    uint8_t *seen[CORPUS_MATCHERS]; /* of the list of the matcher's rule */
    size_t seen_cap[CORPUS_MATCHERS];
    char *out, *packed;
    size_t out_n, out_cap, packed_n, packed_cap;
    span *cut; /* what is taken out of a text */
    size_t cut_cap;
    corpus_counts kept;       /* what render finds: bytes and words */
    char error[CORPUS_ERROR]; /* "": none */
} chunk;

void chunk_parse(const corpus_run *run, chunk *c);
void chunk_decide(corpus_run *run, chunk *c);
void chunk_render(const corpus_run *run, chunk *c);
void chunk_free(chunk *c);

/* ---- resume.c */

/* A place between two chunks. */
typedef struct corpus_place {
    size_t file;
    uint64_t plain, lines; /* of the file, done */
    uint64_t written;      /* bytes of its output */
    bool open;             /* the output has begun */
} corpus_place;
#define RESUME_FOLDER ".everbloom"
#define RESUME_RUN RESUME_FOLDER "/run"
#define RESUME_CHECKPOINT RESUME_FOLDER "/checkpoint"
char *corpus_path(const corpus_run *run, const char *name); /* in the folder of -o; free() */
char *resume_part(const corpus_run *run,
                  size_t file);             /* the output of a file, while it is written */
bool resume_begin(corpus_run *run);         /* false: it is complete, there is nothing to do */
void resume_planned(const corpus_run *run); /* its filters are there; before anything is saved */
/* Filters, counts and place of the last checkpoint; false: there is none, and the place is the
 * start. */
bool resume_load(corpus_run *run, corpus_place *place);
void resume_save(const corpus_run *run, const corpus_place *place);
void resume_end(const corpus_run *run);

/* reading.c: one thread at a time reads; others may meanwhile unpack the files that come next, each
 * in a lane of its own.  With no more lanes than one nobody does. */
typedef struct reading reading;
typedef struct reading_lane reading_lane;
reading *reading_new(const corpus_run *run, const corpus_place *from, size_t lanes);
void reading_free(reading *r);
bool reading_is_ready(const reading *r); /* nobody unpacks the file that is read next */
void reading_next(reading *r, chunk *c); /* a chunk; its error says what is wrong */
size_t reading_file(const reading *r);   /* that the next chunk is of */
/* A lane to unpack a part of, while file `now` is read, or NULL; then it is left. */
reading_lane *reading_choose(reading *r, size_t now);
void reading_ahead(const reading *r, reading_lane *l);
void reading_leave(reading_lane *l);

/* pipeline.c */
void corpus_threads(size_t n, void *(*work)(void *), void *context); /* n times; n >= 1 */
/* From a place to the end. */
void pipeline_run(corpus_run *run, size_t threads, const corpus_place *from);

/* ---- page.c */
corpus_counts corpus_total(const corpus_run *run);
void course_note(corpus_run *run, const uint64_t *units, const uint64_t *seen); /* of a document */
void page_write(const corpus_run *run);

/* ---- against.c */
void against_open(corpus_run *run); /* the filters of --against become matchers */
void against_close(matcher *m);
void collect_save(const corpus_run *run);
size_t corpus_form(corpus_run *run, unsigned normal); /* the normalisation, made if it is new */

/* ---- fresh.c */
typedef struct fresh_key {
    eb_hash hash;
    uint64_t document;
} fresh_key;
typedef struct fresh_sample {
    fresh_key *key;
    size_t n, cap;
    uint64_t documents;
    int thin; /* one hash in 2^thin counts */
} fresh_sample;
void fresh_add(fresh_sample *s, const eb_hash *hash, size_t n); /* of a document */
/* Of all keys, if there are so many times those of the sample; *here: of the sample.  NAN: no
 * sample. */
double fresh_share(fresh_sample *s, double times, double *here);
void fresh_free(fresh_sample *s);

/* ---- plan.c */
void filters_plan(corpus_run *run, size_t threads);
/* What follows from filters that are there; loaded: from a checkpoint. */
void filters_ready(corpus_run *run, bool loaded);
/* Before keys are added: says if they are more than planned.  False: they are not to be, as the
 * chunk's error says. */
bool filters_take(corpus_run *run, chunk *c, matcher *m, size_t more);
#endif
