/* io.h - lines in, bytes out, files that appear whole, the progress line, signals.
 *
 * Every failure here ends the program with a message (cli_fail), but for two:
 * a closed pipe on standard output ends it silently, and a read error is left
 * to the caller, who may have a state to save. */
#ifndef EVERBLOOM_IO_H
#define EVERBLOOM_IO_H
#include "cli.h"
#include "input/arena.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* atomic.c.  A file that gets its name when it is complete: written under no name (or a temporary
 * one where the file system knows no nameless files) in the directory of its path, fsync, rename,
 * fsync of the directory.  What is not a regular file (a pipe, a device) is written directly.
 * Temporary files of killed runs for the same path are removed when it is opened. */
typedef struct atomic_file {
    int fd;
    const char *path; /* as the user wrote it */
    char *target;     /* where it goes, symbolic links resolved; NULL: written directly */
    char *temporary;  /* its name until then; NULL: none yet */
    struct atomic_file *next;
} atomic_file;
void atomic_open(atomic_file *a, const char *path); /* "-": standard output */
void atomic_write(atomic_file *a, const void *bytes, size_t n);
void atomic_write_sparse(atomic_file *a, const void *bytes, size_t n); /* zeros take no room */
void atomic_commit(atomic_file *a);
void atomic_discard(atomic_file *a);
void atomic_discard_all(void); /* on the way out */
void atomic_unlink_all(void);  /* the least of it, for a handler of signals */

/* lock.c.  The state is this run's until it ends; if it is another's, no return.  A run has one,
 * and the option that names it. */
void state_lock(const char *state, const char *option);
void state_unlock(void);      /* on the way out, if exit is not called */
void state_unlink_lock(void); /* the least of it, for a handler of signals */

/* mapped.c.  All bytes of a regular file, as a copy that may be changed; if it becomes shorter
 * meanwhile, the program ends with a message. */
void *mapped_open(int fd, const char *name, size_t length);
void mapped_close(void *bytes, size_t length);

/* output.c.  A buffer in front of a descriptor; runs longer than the buffer pass it by. */
typedef struct output {
    int fd;
    const char *name; /* for messages */
    char *buf;
    size_t used;
} output;
enum { OUTPUT_SIZE = 256 << 10 };
void output_open(output *o, int fd, const char *name);
void output_put(output *o, const char *bytes, size_t n);
void output_flush(output *o);
void output_sync(output *o); /* flush, and to the disk if it is a file */
void output_close(output *o);
/* All n bytes, or no return: EPIPE ends the program as SIGPIPE does. */
void write_all(int fd, const char *name, const void *bytes, size_t n);
_Noreturn void end_by_signal(int signal);

static inline bool is_zero(const void *bytes, size_t n) { /* n > 0 */
    const unsigned char *const p = bytes;
    return p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

/* Bytes that come piece by piece, for functions of the library that write: free(bytes). */
typedef struct byte_buffer {
    char *bytes;
    size_t length, cap;
} byte_buffer;
eb_status byte_buffer_write(void *buffer, const void *bytes, size_t n);

/* reader.c.  The records of several files, one after the other.  The bytes from begin to end are
 * read and not yet taken; every complete record among them ends with a separator, also the last of
 * a file that has none. */
typedef enum reader_format {
    FORMAT_PLAIN, /* fields end at the delimiter */
    FORMAT_BLANK, /* at runs of blanks */
    FORMAT_CSV,
    FORMAT_JSON, /* an object a line */
    FORMAT_REGEX /* fields are the groups of a match */
} reader_format;
typedef enum reader_role { READER_KEY, READER_TIME, READER_VALUE, READER_ROLES } reader_role;
typedef enum reader_lack { LACK_FIELD, LACK_MATCH, LACK_JSON, LACK_MEMBER } reader_lack;
typedef struct reader {
    char *const *paths; /* not yet opened; ends with NULL */
    char *one[2];       /* the path of reader_open_one */
    int fd;             /* -1: none open */
    const char *name;
    bool always_ready;  /* a regular file */
    const char *packed; /* what --compressed says, or NULL */
    bool sniffing;      /* the first bytes may still show that the file is compressed */
    struct unpacker *unpacker;
    int packed_fd;     /* what it reads */
    char problem[200]; /* what FILL_ERROR means */
    bool at_end;       /* of this file */
    char *buf;
    size_t cap, begin, scanned, end;
    char separator;
    unsigned char csv_state; /* at scanned */
    bool unclosed;           /* the last record taken has a quote that is not closed */
    size_t block;            /* bytes that are read at once */
    uint64_t file;           /* how many were opened */
    uint64_t bytes;
    uint64_t known, behind; /* bytes of all files, if that is known, else 0; of those read */
    uint64_t records;       /* taken from this file */

    reader_format format;
    char delimiter;
    bool header, ignore_case, trim;
    bool whole_lines; /* keys are lines, as they are */
    bool as_they_are; /* keys are fields, but for the quotes of CSV */
    struct pattern *regex;
    field_list list[READER_ROLES]; /* which fields are wanted for what */
    arena arena;                   /* of keys that do not stand in buf as they are */
    eb_key *part;                  /* the fields of a key */
    size_t parts, parts_cap;
    reader_lack lack; /* why the last reader_get failed */
    const field_item *lack_item;
    uint64_t lack_field;
} reader;
/* After FILL_ERROR, `problem` says what is wrong. */
typedef enum fill { FILL_MORE, FILL_WAIT, FILL_END, FILL_ERROR } fill;
void reader_open(reader *r, char *const *paths); /* no path: standard input */
void reader_open_one(reader *r, const char *path);
void reader_check(const char *path);         /* a file that cannot be read ends the program */
bool reader_can_reread(const char *path);    /* not standard input, nor a pipe */
fill reader_fill(reader *r, int timeout_ms); /* FILL_WAIT: no input in that time, or a signal */
void reader_close(reader *r);
double reader_share(const reader *r); /* of all input that is read; 0: not known */
/* Every record of every file; a read error ends the program. */
typedef void reader_take(void *ctx, reader *r, const char *line, const char *end);
void reader_each(reader *r, reader_take *take, void *ctx);
const char *reader_find_csv(reader *r);
void reader_tell_unclosed(const char *name, uint64_t record);
/* A reader over memory, with the options of another one, which must outlive it. */
void reader_copy(reader *to, const reader *from);
void reader_copy_free(reader *copy);
/* The whole records that `from` has read become those of the copy.  False: there is none. */
bool reader_hand_over(reader *from, reader *copy);

/* Takes the record at begin and returns where its separator stands; NULL: no whole record there. */
static inline const char *reader_next(reader *r) {
    const char *at = r->format == FORMAT_CSV
                         ? reader_find_csv(r)
                         : memchr(r->buf + r->scanned, r->separator, r->end - r->scanned);
    if (!at) {
        r->scanned = r->end;
        return NULL;
    }
    r->begin = r->scanned = (size_t)(at - r->buf) + 1;
    r->csv_state = 0;
    r->records++;
    return at;
}

/* record.c.  How lines become keys, by the options; freed with the reader. */
void reader_options(reader *r, const cli_command *c, const settings *set);
void reader_options_free(reader *r);
/* The key of the record, its time or its value; valid until the arena is reset.  False: it lacks a
 * field, as reader_explain says. */
bool reader_get(reader *r, reader_role role, const char *line, const char *end, eb_key *key);
void reader_explain(const reader *r, char *text, size_t cap);
bool reader_plain_field(reader *r, const char *p, const char *end, uint64_t field, eb_key *key);
bool reader_csv_field(reader *r, const char *line, const char *end, uint64_t field, eb_key *key);
/* The same for keys: what is asked for every line and is mostly the same costs no call. */
static inline bool reader_get_key(reader *r, const char *line, const char *end, eb_key *key) {
    const uint64_t only = r->list[READER_KEY].only;
    if (r->whole_lines) {
        *key = (eb_key){line, (size_t)(end - line)};
        return true;
    }
    if (only && r->as_they_are)
        return (r->format == FORMAT_CSV ? reader_csv_field : reader_plain_field)(r, line, end, only,
                                                                                 key);
    return reader_get(r, READER_KEY, line, end, key);
}
/* Is the last record taken the line with the names of the columns?  Then they are known now. */
bool reader_learn_names(reader *r, const char *line, const char *end);
static inline bool reader_is_header(reader *r, const char *line, const char *end) {
    return r->header && r->records == 1 && reader_learn_names(r, line, end);
}
eb_key reader_trimmed(eb_key key); /* without blanks around it */
/* The options that make keys, as they would be typed: "--csv -f 3".  None of them: */
#define KEYS_ARE_LINES "whole lines"
void reader_key_note(const settings *set, char *text, size_t cap);
/* Of the options in such a note, one that changes the text of keys and is not given now: else NULL.
 * The same keys may stand in other columns of another file, but not in another case. */
const char *reader_key_differs(const settings *set, const char *note);
/* A key that somebody asks for, with the case and the blanks that keys of records have. */
eb_key reader_query(reader *r, eb_key key);

/* terminal.c.  SIGINT, SIGTERM and SIGHUP end the program at once, leaving no temporary file; but
 * while a stream runs, the first one only asks to stop, and a second one kills. */
void signals_end_at_once(void);
void signals_catch(void);
int signals_stop(void);       /* the signal, or 0 */
bool signals_asked(void);     /* SIGUSR1 has come since the last call */
int signals_descriptor(void); /* readable when one has come */

double now_seconds(void); /* monotonic */
typedef struct progress {
    bool on;
    double start, last;
} progress;
void progress_start(progress *p, bool quiet);
/* share: of all input, or 0 if that is not known. */
void progress_show(progress *p, double now, uint64_t lines, uint64_t seen, uint64_t bytes,
                   double share);
void progress_clear(void);
#endif
