/* gzip.h - gzip data, unpacked by ISA-L where the command was built with it, else by zlib.
 *
 * ISA-L takes less than half of zlib's time; it is built for few processors. */
#ifndef EVERBLOOM_GZIP_H
#define EVERBLOOM_GZIP_H
#include <stdbool.h>
#include <stddef.h>
#if defined HAVE_ISAL || defined HAVE_ZLIB
#define HAVE_GZIP
typedef struct gzip_in gzip_in;
typedef enum gzip_result {
    GZIP_MORE,
    GZIP_END,
    GZIP_DAMAGED
} gzip_result;            /* GZIP_END: of a member */
gzip_in *gzip_open(void); /* NULL: no memory */
/* Unpacks from `in` to `out`.  *in_n and *out_n: bytes there are; bytes taken and made.  If all
 * of `out` is filled, there may be more to come without any input.  After
 * GZIP_END the next member may follow. */
gzip_result gzip_next(gzip_in *z, const char *in, size_t *in_n, char *out, size_t *out_n);
void gzip_close(gzip_in *z);
#endif
#endif
