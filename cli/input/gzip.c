/* gzip.c - see gzip.h. */
#include "gzip.h"
#include <stdint.h>
#ifdef HAVE_GZIP
#include <limits.h>
#include <stdlib.h>
#ifdef HAVE_ISAL
#include <isa-l.h>
struct gzip_in {
    struct inflate_state state;
};
#else
#include <zlib.h>
struct gzip_in {
    z_stream state;
};
#endif

gzip_in *gzip_open(void) {
    gzip_in *const z = calloc(1, sizeof *z);
    if (!z) return NULL;
#ifdef HAVE_ISAL
    isal_inflate_init(&z->state);
    z->state.crc_flag = ISAL_GZIP;
#else
    enum { GZIP_ONLY = 16 };
    if (inflateInit2(&z->state, 15 + GZIP_ONLY) != Z_OK) {
        free(z);
        return NULL;
    }
#endif
    return z;
}

void gzip_close(gzip_in *z) {
#ifndef HAVE_ISAL
    if (z) inflateEnd(&z->state);
#endif
    free(z);
}

/* GZIP_END only when nothing is left to be passed on. */
static gzip_result gzip_step(gzip_in *z) {
#ifdef HAVE_ISAL
    if (isal_inflate(&z->state) != ISAL_DECOMP_OK) return GZIP_DAMAGED;
    if (z->state.block_state != ISAL_BLOCK_FINISH) return GZIP_MORE;
    isal_inflate_reset(&z->state);
    return GZIP_END;
#else
    const int status = inflate(&z->state, Z_NO_FLUSH);
    if (status == Z_STREAM_END && inflateReset(&z->state) == Z_OK) return GZIP_END;
    return status == Z_OK || status == Z_BUF_ERROR ? GZIP_MORE : GZIP_DAMAGED;
#endif
}

gzip_result gzip_next(gzip_in *z, const char *in, size_t *in_n, char *out, size_t *out_n) {
    const unsigned most_in = (unsigned)(*in_n < INT_MAX ? *in_n : INT_MAX);
    const unsigned most_out = (unsigned)(*out_n < INT_MAX ? *out_n : INT_MAX);
    z->state.next_in = (unsigned char *)(uintptr_t)in;
    z->state.avail_in = most_in;
    z->state.next_out = (unsigned char *)out;
    z->state.avail_out = most_out;
    const gzip_result result = gzip_step(z);
    *in_n = most_in - z->state.avail_in;
    *out_n = most_out - z->state.avail_out;
    return result;
}
#endif
