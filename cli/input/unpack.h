/* unpack.h - compressed input, known by its first bytes and unpacked in a thread of its own.
 *
 * The thread reads the compressed file and writes the plain bytes into a pipe, which takes the
 * place of the file.  Damaged or truncated data ends the pipe; unpack_end then says what is wrong,
 * and at which byte of the file. */
#ifndef EVERBLOOM_UNPACK_H
#define EVERBLOOM_UNPACK_H
#include <stdbool.h>
#include <stddef.h>

typedef struct unpacker unpacker;
enum { UNPACK_MAGIC = 10 }; /* bytes that tell what a file is */

/* The format of a file with these first bytes, or NULL for a plain one.  more: it is too early to
 * say; wait for more bytes. */
const char *unpack_format(const void *first, size_t n, bool *more);
/* Which formats this command was built with, in words. */
const char *unpack_known(void);
bool unpack_can(const char *format);
/* Starts the thread, which begins with the n bytes that were read already.  *out: where to read. */
unpacker *unpack_start(const char *format, int fd, const void *first, size_t n, int *out);
/* Waits for the thread.  False: what is wrong with the file is in `why`. */
bool unpack_end(unpacker *u, char *why, size_t cap);
void unpack_stop(unpacker *u); /* the rest is not wanted: the thread ends with the program */
#endif
