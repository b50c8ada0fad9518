/* reader.c - records from files, block by block.
 *
 * The buffer holds, from begin to end, bytes that were not taken yet:
 *
 *     buf ....... begin ======= scanned ------- end ....... cap
 *                 | no record ends here | not looked at
 *
 * A fill moves the rest of the last block (part of one record) to the front and reads on behind
 * it, so a record is always in one piece.  The buffer grows only for a record that fills half of
 * it and shrinks again afterwards.  One byte is kept free for the separator that the last record
 * of a file may lack. */
#include "cli.h"
#include "io.h"
#include "pattern.h"
#include "unpack.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 20, SNIFFED = 64 << 10 };

/* A missing file shall be known before the first line is printed. */
void reader_check(const char *path) {
    struct stat st;
    if (strcmp(path, "-") == 0) return;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        errno = EISDIR;
    else if (access(path, R_OK) == 0)
        return;
    cli_fail("%s: %s", path, strerror(errno));
}

bool reader_can_reread(const char *path) {
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && !S_ISFIFO(st.st_mode) &&
           !S_ISSOCK(st.st_mode);
}

static bool is_file(const char *path, struct stat *st) {
    const int status = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, st) : stat(path, st);
    return status == 0 && S_ISREG(st->st_mode);
}

static uint64_t known_bytes(char *const *paths) {
    uint64_t sum = 0;
    struct stat st;
    for (; *paths; paths++) {
        if (!is_file(*paths, &st)) return 0;
        sum += (uint64_t)st.st_size;
    }
    return sum;
}

double reader_share(const reader *r) {
    const int fd = r->unpacker ? r->packed_fd : r->fd;
    const off_t here = fd < 0 ? 0 : lseek(fd, 0, SEEK_CUR);
    if (r->known == 0 || here < 0) return 0;
    return (double)(r->behind + (uint64_t)here) / (double)r->known;
}

void reader_open(reader *r, char *const *paths) {
    static char dash[] = "-";
    static char *const standard_input[] = {dash, NULL};
    r->paths = *paths ? paths : standard_input;
    for (char *const *p = r->paths; *p; p++) reader_check(*p);
    r->known = known_bytes(r->paths);
    r->fd = -1;
    r->block = BLOCK;
    r->cap = 2 * BLOCK;
    r->buf = cli_alloc(r->cap);
}

void reader_open_one(reader *r, const char *path) {
    r->one[0] = cli_alloc(strlen(path) + 1);
    strcpy(r->one[0], path);
    reader_open(r, r->one);
}

static void close_file(reader *r);

void reader_close(reader *r) {
    close_file(r);
    free(r->buf);
    free(r->one[0]);
    reader_options_free(r);
    *r = (reader){.fd = -1, .bytes = r->bytes, .name = r->name};
}

static bool open_next(reader *r) {
    bool is_stdin = strcmp(*r->paths, "-") == 0;
    r->name = is_stdin ? "standard input" : *r->paths;
    r->fd = is_stdin ? STDIN_FILENO : open(*r->paths, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0) return false;
    struct stat st;
    r->always_ready = fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode);
    if (r->always_ready) (void)posix_fadvise(r->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    r->paths++;
    r->file++;
    r->at_end = false;
    r->records = 0;
    r->sniffing = !r->packed || strcmp(r->packed, "none") != 0;
    return true;
}

static void close_file(reader *r) {
    struct stat st;
    const int fd = r->unpacker ? r->packed_fd : r->fd;
    if (r->known > 0 && fd >= 0 && fstat(fd, &st) == 0) r->behind += (uint64_t)st.st_size;
    if (r->fd > STDERR_FILENO) close(r->fd);
    if (r->unpacker) unpack_stop(r->unpacker);
    r->unpacker = NULL;
    r->fd = -1;
}

static void resize(reader *r, size_t cap) {
    char *buf = realloc(r->buf, cap);
    if (!buf)
        cli_fail("%s: no memory for a line of more than %zu bytes", r->name, r->end - r->begin);
    r->buf = buf;
    r->cap = cap;
}

static void make_room(reader *r) {
    if (r->begin > 0) memmove(r->buf, r->buf + r->begin, r->end - r->begin);
    r->scanned -= r->begin;
    r->end -= r->begin;
    r->begin = 0;
    if (r->end > r->cap / 2) {
        if (r->cap > SIZE_MAX / 2) cli_fail("%s: a line is too long", r->name);
        resize(r, 2 * r->cap);
    } else if (r->cap > 2 * BLOCK && r->end < BLOCK)
        resize(r, 2 * BLOCK);
    else if (r->cap < 2 * r->block)
        resize(r, 2 * r->block);
}

/* Is there something to read, or will be in time? */
static bool wait_input(const reader *r, int timeout_ms) {
    if (r->always_ready) return true;
    struct pollfd fds[2] = {{.fd = r->fd, .events = POLLIN},
                            {.fd = signals_descriptor(), .events = POLLIN}};
    int ready = poll(fds, 2, timeout_ms);
    return ready > 0 && fds[0].revents != 0 && fds[1].revents == 0;
}

static void end_of_file(reader *r) {
    if (r->end > r->begin) r->buf[r->end++] = r->separator;
    r->at_end = true;
    close_file(r);
}

/* ---- Compressed files. */

static void unpack_from_here(reader *r, const char *format) {
    if (strcmp(format, "snapshot") == 0)
        cli_fail(
            "%s: this is a snapshot of a filter, not lines: 'everbloom info' describes it, and "
            "-z none reads it as lines",
            r->name);
    if (!unpack_can(format))
        cli_fail("%s: %s data, but this everbloom was built without it: unpack it with '%s -dc'",
                 r->name, format, format);
    r->packed_fd = r->fd;
    r->unpacker = unpack_start(format, r->fd, r->buf + r->begin, r->end - r->begin, &r->fd);
    r->bytes -= r->end - r->begin;
    r->end = r->scanned = r->begin;
    r->always_ready = false;
}

/* No record ends in bytes that are too few to tell what the file is: more of them are read. */
static void sniff(reader *r) {
    bool more = false;
    const bool named = r->packed && strcmp(r->packed, "auto") != 0;
    const char *const format =
        named ? r->packed : unpack_format(r->buf + r->begin, r->end - r->begin, &more);
    r->sniffing = more;
    if (format) unpack_from_here(r, format);
}

/* The end of the pipe is the end of the file, or damage. */
static bool unpacked_well(reader *r) {
    if (!r->unpacker) return true;
    struct unpacker *const u = r->unpacker;
    r->unpacker = NULL;
    const bool well = unpack_end(u, r->problem, sizeof r->problem);
    if (r->packed_fd > STDERR_FILENO) close(r->packed_fd);
    return well;
}

static fill fill_error(reader *r) {
    snprintf(r->problem, sizeof r->problem, "%s", strerror(errno));
    return FILL_ERROR;
}

fill reader_fill(reader *r, int timeout_ms) {
    if (r->fd < 0 && !*r->paths) return FILL_END;
    if (r->fd < 0 && !open_next(r)) return fill_error(r);
    make_room(r); /* first: a long line's memory is not held while we wait */
    if (!wait_input(r, timeout_ms)) return FILL_WAIT;
    const size_t room = r->cap - r->end - 1, most = r->sniffing ? SNIFFED : r->block;
    const ssize_t n = read(r->fd, r->buf + r->end, room < most ? room : most);
    if (n < 0) return errno == EINTR || errno == EAGAIN ? FILL_WAIT : fill_error(r);
    if (n == 0 && !unpacked_well(r)) return FILL_ERROR;
    if (n == 0) end_of_file(r);
    r->end += (size_t)n;
    r->bytes += (uint64_t)n;
    if (n > 0 && r->sniffing) sniff(r);
    return FILL_MORE;
}

void reader_each(reader *r, reader_take *take, void *ctx) {
    for (fill got; (got = reader_fill(r, -1)) != FILL_END;) {
        if (got == FILL_ERROR) cli_fail("%s: %s", r->name, r->problem);
        for (;;) {
            const char *line = r->buf + r->begin, *end = reader_next(r);
            if (!end) break;
            if (r->unclosed) reader_tell_unclosed(r->name, r->records);
            r->unclosed = false;
            arena_reset(&r->arena);
            take(ctx, r, line, end);
        }
    }
}

/* ---- CSV: where records end.  A separator inside quotes ends nothing. */

enum { CSV_OUTSIDE, CSV_INSIDE, CSV_CLOSED }; /* the last: behind a quote that may be doubled */

void reader_tell_unclosed(const char *name, uint64_t record) {
    cli_warn("%s: record %llu has a quote that is not closed", name, (unsigned long long)record);
}

static const char *csv_end_of_file(reader *r, const char *end) {
    if (!r->at_end || r->end == r->begin) return NULL;
    r->unclosed = true;
    return end - 1; /* the separator that was put there */
}

/* From quote to quote.  Outside, a quote opens at the start of a field, or if it follows at once
 * upon one that closed, which makes the two one quote inside; any other is just a byte. */
static const char *csv_scan(reader *r) {
    const char *const record = r->buf + r->begin, *const end = r->buf + r->end;
    const char *p = r->buf + r->scanned, *separator = NULL;
    const char *closed = r->csv_state == CSV_CLOSED ? p : NULL;
    bool inside = r->csv_state == CSV_INSIDE;
    for (;;) {
        const char *stop = end;
        if (!inside) {
            if (!separator || separator < p) separator = memchr(p, r->separator, (size_t)(end - p));
            if (separator) stop = separator;
        }
        const char *const quote = memchr(p, '"', (size_t)(stop - p));
        if (!quote && separator && !inside) return separator;
        if (!quote) break;
        p = quote + 1;
        if (inside)
            closed = p;
        else if (quote != record && quote[-1] != r->delimiter && quote != closed)
            continue;
        inside = !inside;
    }
    r->csv_state = inside ? CSV_INSIDE : closed == end ? CSV_CLOSED : CSV_OUTSIDE;
    return csv_end_of_file(r, end);
}

/* Most records hold no quote at all, and need no second look. */
const char *reader_find_csv(reader *r) {
    const char *from = r->buf + r->scanned;
    if (r->scanned != r->begin) return csv_scan(r);
    const char *at = memchr(from, r->separator, r->end - r->scanned);
    return at && !memchr(from, '"', (size_t)(at - from)) ? at : csv_scan(r);
}

/* ---- Blocks for others. */

void reader_copy(reader *to, const reader *from) {
    *to = *from;
    to->buf = NULL;
    to->cap = 0;
    to->fd = -1;
    to->part = NULL;
    to->parts_cap = 0;
    to->arena = (arena){0};
    to->regex = pattern_copy(from->regex);
}

void reader_copy_free(reader *copy) {
    free(copy->buf);
    free(copy->part);
    arena_free(&copy->arena);
    pattern_copy_free(copy->regex);
}

/* Where the last whole record ends, if one does. */
static size_t last_record_end(reader *r) {
    size_t end = r->begin;
    if (r->format == FORMAT_CSV && memchr(r->buf + r->begin, '"', r->end - r->begin)) {
        const size_t begin = r->begin;
        const uint64_t records = r->records;
        while (reader_next(r)) end = r->begin;
        r->begin = begin;
        r->records = records;
        return end;
    }
    const char *const at = memrchr(r->buf + r->scanned, r->separator, r->end - r->scanned);
    r->scanned = r->end;
    r->csv_state = CSV_OUTSIDE;
    return at ? (size_t)(at - r->buf) + 1 : end;
}

/* The copy gets the buffer, and the reader that of the copy, with what is left. */
bool reader_hand_over(reader *r, reader *copy) {
    const size_t cut = last_record_end(r), rest = r->end - cut;
    if (cut == r->begin) return false;
    char *const buf = r->buf;
    const size_t cap = r->cap;
    r->unclosed = false; /* the copy will see that, too */
    r->cap = copy->cap;
    r->buf = copy->buf;
    if (rest >= r->cap) resize(r, rest + 2 * r->block);
    memcpy(r->buf, buf + cut, rest);
    memcpy(copy->list, r->list, sizeof copy->list); /* the names of columns are of this file */
    copy->buf = buf;
    copy->cap = cap;
    copy->begin = copy->scanned = r->begin;
    copy->end = cut;
    copy->csv_state = CSV_OUTSIDE;
    copy->records = 0;
    copy->name = r->name;
    copy->at_end = r->at_end;
    r->begin = 0;
    r->scanned = r->end = rest;
    return true;
}
