/* io.h - lines in, bytes out, files that appear whole, the progress line, signals.
 *
 * Every failure here ends the program with a message (cli_fail), but for two:
 * a closed pipe on standard output ends it silently, and a read error is left
 * to the caller, who may have a state to save. */
#ifndef EVERBLOOM_IO_H
#define EVERBLOOM_IO_H
#include "cli.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* atomic.c.  A file that gets its name when it is complete: written under no name (or a temporary
 * one where the file system knows no nameless files) in the directory of its path, fsync, rename,
 * fsync of the directory.  What is not a regular file (a pipe, a device) is written directly. */
typedef struct atomic_file {
    int fd;
    const char *path; /* as the user wrote it */
    char *target;     /* where it goes, symbolic links resolved; NULL: written directly */
    char *temporary;  /* its name until then; NULL: none yet */
    struct atomic_file *next;
} atomic_file;
void atomic_open(atomic_file *a, const char *path); /* "-": standard output */
void atomic_write(atomic_file *a, const void *bytes, size_t n);
void atomic_commit(atomic_file *a);
void atomic_discard(atomic_file *a);
void atomic_discard_all(void); /* on the way out */

/* lock.c.  The state is this run's until it ends; if it is another's, no return. */
void state_lock(const char *state);
void state_unlock(void); /* on the way out, if exit is not called */

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

/* reader.c.  The records of several files, one after the other.  The bytes from begin to end are
 * read and not yet taken; every complete record among them ends with a separator, also the last of
 * a file that has none. */
typedef struct reader {
    char *const *paths; /* not yet opened; ends with NULL */
    char *one[2];       /* the path of reader_open_one */
    int fd;             /* -1: none open */
    const char *name;
    bool always_ready; /* a regular file */
    bool at_end;       /* of this file */
    char *buf;
    size_t cap, begin, scanned, end;
    char separator;
    bool csv;
    char delimiter;
    unsigned char csv_state; /* at scanned */
    uint64_t bytes;
    uint64_t records; /* taken from this file */
    uint64_t lacking; /* records that lacked a field of their key */
    uint64_t lacks;   /* a field that all of those lacked */
    bool lacks_told;
    char *unquoted; /* CSV fields without their quotes, at the same offset as in buf */
    size_t unquoted_cap;
    char *joined; /* keys of several fields: see fields.c */
    size_t joined_cap;
} reader;
typedef enum fill { FILL_MORE, FILL_WAIT, FILL_END, FILL_ERROR } fill;
void reader_open(reader *r, char *const *paths); /* no path: standard input */
void reader_open_one(reader *r, const char *path);
void reader_check(const char *path);         /* a file that cannot be read ends the program */
bool reader_can_reread(const char *path);    /* not standard input, nor a pipe */
fill reader_fill(reader *r, int timeout_ms); /* FILL_WAIT: no input in that time, or a signal */
void reader_close(reader *r);
/* Every record of every file; a read error ends the program. */
typedef void reader_take(void *ctx, reader *r, const char *line, const char *end);
void reader_each(reader *r, reader_take *take, void *ctx);
const char *reader_find_csv(reader *r);

/* Takes the record at begin and returns where its separator stands; NULL: no whole record there. */
static inline const char *reader_next(reader *r) {
    const char *at = r->csv ? reader_find_csv(r)
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

/* fields.c.  A list as -f takes it; false: it makes no sense, or names a field twice. */
bool fields_read(const char *text, field_list *list);
uint64_t fields_read_index(const char **p); /* up to nine digits; 0: none there */
/* Which bytes part lines and fields, by the options. */
void reader_options(reader *r, const cli_command *c, const settings *set);
/* A field of the record at line, without its quotes; 0: the whole record. */
eb_key reader_field(reader *r, const char *line, const char *end, uint64_t field);
/* The fields of a list, with the delimiter between; those that the record lacks are left out. */
eb_key reader_fields(reader *r, const char *line, const char *end, const field_list *list);
/* The same, or the whole record if the list is empty. */
static inline eb_key reader_key(reader *r, const char *line, const char *end,
                                const field_list *list) {
    return list->n > 0 ? reader_fields(r, line, end, list) : (eb_key){line, (size_t)(end - line)};
}
/* The same of the last record taken; if it lacks one of them, no return. */
eb_key reader_key_or_fail(reader *r, const char *line, const char *end, const field_list *list);
/* After n records: says so, once, if all of them lacked a field of their key. */
void reader_warn_lacking(reader *r, uint64_t n);

/* terminal.c.  The first SIGINT, SIGTERM or SIGHUP asks to stop; a second one kills. */
void signals_catch(void);
int signals_stop(void);       /* the signal, or 0 */
int signals_descriptor(void); /* readable when one has come */

double now_seconds(void); /* monotonic */
typedef struct progress {
    bool on;
    double start, last;
} progress;
void progress_start(progress *p, bool quiet);
void progress_show(progress *p, double now, uint64_t lines, uint64_t seen, uint64_t bytes);
void progress_clear(void);
#endif
