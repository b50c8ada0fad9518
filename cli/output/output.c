/* output.c - bytes out through a buffer, with every write error seen. */
#include "cli.h"
#include "io.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void end_by_signal(int number) {
    progress_clear();
    atomic_discard_all();
    state_unlock();
    signal(number, SIG_DFL);
    raise(number);
    _exit(128 + number); /* the signal is blocked: say the same as a status */
}

void write_all(int fd, const char *name, const void *bytes, size_t n) {
    const char *p = bytes;
    while (n > 0) {
        ssize_t done = write(fd, p, n);
        if (done >= 0) {
            p += done;
            n -= (size_t)done;
        } else if (errno == EPIPE)
            end_by_signal(SIGPIPE);
        else if (errno != EINTR)
            cli_fail("%s: %s", name, strerror(errno));
    }
}

void output_open(output *o, int fd, const char *name) {
    *o = (output){.fd = fd, .name = name, .buf = cli_alloc(OUTPUT_SIZE)};
}

void output_flush(output *o) {
    write_all(o->fd, o->name, o->buf, o->used);
    o->used = 0;
}

void output_put(output *o, const char *bytes, size_t n) {
    if (n > OUTPUT_SIZE - o->used) {
        output_flush(o);
        if (n >= OUTPUT_SIZE) {
            write_all(o->fd, o->name, bytes, n);
            return;
        }
    }
    memcpy(o->buf + o->used, bytes, n);
    o->used += n;
}

void output_sync(output *o) {
    output_flush(o);
    /* EINVAL, EROFS: not a file on a disk. */
    if (fdatasync(o->fd) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
        cli_fail("%s: %s", o->name, strerror(errno));
}

void output_close(output *o) {
    free(o->buf);
    *o = (output){.fd = -1};
}

eb_status byte_buffer_write(void *buffer, const void *bytes, size_t n) {
    byte_buffer *const b = buffer;
    b->bytes = cli_grow(b->bytes, &b->cap, b->length + n + 1);
    memcpy(b->bytes + b->length, bytes, n);
    b->length += n;
    return EB_OK;
}

void finish_stdout(void) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return;
    if (errno == EPIPE) end_by_signal(SIGPIPE);
    cli_fail("standard output: %s", strerror(errno));
}
